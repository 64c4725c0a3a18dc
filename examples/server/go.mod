module github.com/gdwire/gdwire/examples/server

go 1.26.0

replace github.com/gdwire/gdwire => ../../

require (
	github.com/coder/websocket v1.8.15
	github.com/gdwire/gdwire v0.0.0-00010101000000-000000000000
)

require github.com/valyala/bytebufferpool v1.0.0 // indirect
