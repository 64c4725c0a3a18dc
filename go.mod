module github.com/gdwire/gdwire

go 1.25.0

require github.com/valyala/bytebufferpool v1.0.0
