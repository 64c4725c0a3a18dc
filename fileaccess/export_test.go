package fileaccess

// Skip counts n bytes as written.
func (c *CompressedWriter) Skip(n int64) { c.total += n }

// Functions for tests of FastLZ.
var (
	FastLZDecode = fastlzDecode
	FastLZEncode = func(src []byte) []byte { return new(fastlzEncoder).encode(nil, src) }
)

// FastLZRatio is the maximum number of bytes that one byte is decoded to.
const FastLZRatio = fastlzRatio

// SetIV replaces the random IV.
func (e *EncryptedWriter) SetIV(key *Key, iv []byte) {
	e.iv, e.crypt = iv, e.layout.cipher(key, iv, true)
}
