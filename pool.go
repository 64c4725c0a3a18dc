package gdwire

import "github.com/valyala/bytebufferpool"

// DefaultMaxChunk is the default of [DecoderOptions].MaxChunk, for a read buffer of 16 KiB.
const DefaultMaxChunk = 16<<10 - 128

const (
	// smallestChunk and largestChunk bound DecoderOptions.MaxChunk; the sum of its maximum, history
	// and headroom fits an int on all machines.
	smallestChunk = 16
	largestChunk  = 1 << 30
	// history is the number of consumed bytes kept in the read buffer, so that a
	// path can quote the latest key.
	history = 64
	// headroom is the space in the read buffer for the headers, padding and NUL
	// of a token, in addition to MaxChunk.
	headroom = 64
)

// pool holds the buffers of released Decoders and closed Encoders. Nothing refers to a pooled
// buffer: Decoders return copies, or slices valid only until Release.
var pool bytebufferpool.Pool

// bufferSize is the usual size of the buffers of Decoders and Encoders, a power of two as in the
// pool. Both use the same size, because the pool learns the sizes in use and drops rare ones.
const bufferSize = DefaultMaxChunk + history + headroom

// maxPooled is the capacity of the largest buffer returned to the pool. Larger ones,
// for long names and containers of Unknown count, would stay in memory.
const maxPooled = 64 << 10

// getBuffer returns a buffer from the pool, with a len(B) of at least n and still the bytes of
// its last user.
func getBuffer(n int) *bytebufferpool.ByteBuffer {
	b := pool.Get()
	if cap(b.B) < n { // a new one, or from a Decoder with a smaller MaxChunk
		b.B = make([]byte, n)
	}
	b.B = b.B[:cap(b.B)]
	return b
}

// putBuffer returns b to the pool, with len(B) set to the capacity, because the
// pool derives the size of new buffers from the length.
func putBuffer(b *bytebufferpool.ByteBuffer) {
	if cap(b.B) > maxPooled {
		return
	}
	b.B = b.B[:cap(b.B)]
	pool.Put(b)
}
