module github.com/gdwire/gdwire/bench/attacks

go 1.26.0

replace github.com/gdwire/gdwire => ../../

require github.com/gdwire/gdwire v0.0.0-00010101000000-000000000000

require github.com/valyala/bytebufferpool v1.0.0 // indirect
