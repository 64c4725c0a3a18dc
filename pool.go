package gdwire

import "github.com/valyala/bytebufferpool"

// DefaultMaxChunk is the default of [DecoderOptions].MaxChunk. With it, the read buffer is 16 KiB
// long.
const DefaultMaxChunk = 16<<10 - 128

const (
	// smallestChunk and largestChunk bound DecoderOptions.MaxChunk; the sum of its maximum, history
	// and headroom fits an int on all machines.
	smallestChunk = 16
	largestChunk  = 1 << 30
	// history is the number of consumed bytes that the read buffer keeps, so that
	// a path can quote the latest key.
	history = 64
	// headroom is the space in the read buffer for the headers, padding and NUL
	// of a token, in addition to MaxChunk.
	headroom = 64
)

// pool holds the buffers of released Decoders and closed Encoders. Nothing refers to a buffer in it:
// Decoders return copies, or slices that are valid only until Release.
var pool bytebufferpool.Pool

// bufferSize is the usual size of the buffers of Decoders and Encoders, a power of two as in the
// pool. Both have the same, because the pool learns which sizes are in use and drops rare ones.
const bufferSize = DefaultMaxChunk + history + headroom

// maxPooled is the capacity of the largest buffer that is returned to the pool. Larger
// ones, which long names and containers of Unknown count need, would stay in memory.
const maxPooled = 64 << 10

// getBuffer returns a buffer from the pool, with a len(B) of at least n. It still contains the
// bytes of its last user.
func getBuffer(n int) *bytebufferpool.ByteBuffer {
	b := pool.Get()
	if cap(b.B) < n { // a new one, or from a Decoder with a smaller MaxChunk
		b.B = make([]byte, n)
	}
	b.B = b.B[:cap(b.B)]
	return b
}

// putBuffer returns b to the pool. It sets len(B) to the capacity, because the pool
// derives the size of new buffers from it.
func putBuffer(b *bytebufferpool.ByteBuffer) {
	if cap(b.B) > maxPooled {
		return
	}
	b.B = b.B[:cap(b.B)]
	pool.Put(b)
}
