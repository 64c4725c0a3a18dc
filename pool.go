package gdwire

import "github.com/valyala/bytebufferpool"

// Windows and encoders' buffers come from here, and go back at Release.
var pool bytebufferpool.Pool

// maxPooled is the largest buffer that goes back. A larger one was needed once,
// for a long name or a container of Unknown size, and would be kept for ever.
const maxPooled = 64 << 10

// getBuffer returns a buffer of which len(B) is at least n.
func getBuffer(n int) *bytebufferpool.ByteBuffer {
	b := pool.Get()
	if cap(b.B) < n {
		b.B = make([]byte, n)
	}
	b.B = b.B[:cap(b.B)]
	return b
}

// putBuffer gives b back, whose B may have been replaced by a larger one. The
// pool learns from len(B) what sizes are in use, so all of it is shown.
func putBuffer(b *bytebufferpool.ByteBuffer) {
	if cap(b.B) > maxPooled {
		return
	}
	b.B = b.B[:cap(b.B)]
	pool.Put(b)
}
