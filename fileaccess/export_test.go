package fileaccess

import "io"

// Skip counts n bytes as written.
func (c *CompressedWriter) Skip(n int64) { c.total += n }

// Functions for tests of FastLZ.
var (
	FastLZDecode = fastlzDecode
	FastLZEncode = func(src []byte) []byte { return new(fastlzEncoder).encode(nil, src) }
)

// FastLZRatio is the maximum number of bytes that one byte is decoded to.
const FastLZRatio = fastlzRatio

// SetFile makes a Writer of a compressed or encrypted file write to f as it does to an *os.File.
func SetFile(w io.Writer, f file) {
	switch w := w.(type) {
	case *CompressedWriter:
		w.file = f
	case *EncryptedWriter:
		w.file = f
	}
}

// NewSeekReader is NewReader of s, which is read twice.
func NewSeekReader(s io.ReadSeeker, o *Options) (*Reader, error) {
	return newReader(&source{r: s, seeker: s}, o)
}

// SetIV replaces the random IV.
func (e *EncryptedWriter) SetIV(key *Key, iv []byte) {
	e.iv, e.crypt = iv, e.layout.cipher(key, iv, true)
}
