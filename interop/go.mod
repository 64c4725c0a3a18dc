module github.com/gdwire/gdwire/interop

go 1.26.0

replace github.com/gdwire/gdwire => ../

require (
	github.com/chromedp/chromedp v0.23.0
	github.com/coder/websocket v1.8.15
	github.com/gdwire/gdwire v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/chromedp/cdproto v0.159.2
	github.com/gdwire/gdwire/examples/rpc v0.0.0-00010101000000-000000000000
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/gdwire/gdwire/examples/rpc => ../examples/rpc
