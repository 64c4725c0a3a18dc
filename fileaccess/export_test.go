package fileaccess

// Skip pretends that n bytes have been written.
func (c *CompressedWriter) Skip(n int64) { c.total += n }

// What tests of FastLZ itself need.
var (
	FastLZDecode = fastlzDecode
	FastLZEncode = func(src []byte) []byte { return new(fastlzEncoder).encode(nil, src) }
)

// FastLZRatio is the most that a byte can become.
const FastLZRatio = fastlzRatio

// SetIV takes the place of a random one.
func (e *EncryptedWriter) SetIV(key *Key, iv []byte) {
	e.iv, e.crypt = iv, e.layout.cipher(key, iv, true)
}
