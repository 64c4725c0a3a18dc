package fileaccess

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"encoding/hex"
)

// An encrypted file, all integers little-endian:
//
//	Godot 4                             Godot 3
//	 0  "GDEC"                           0  "GDEC"
//	 4  MD5 of the content               4  u32 1
//	20  u64 length of the content        8  MD5 of the content
//	28  IV                              24  u64 length of the content
//	44  AES-256-CFB                     32  AES-256-ECB
//
// AES encrypts the content, padded with zeros to a multiple of 16 bytes. Readers
// ignore the values of the padding.

// A Layout is the layout of an encrypted file.
type Layout uint8

const (
	// LayoutGodot4 files are encrypted in CFB mode.
	LayoutGodot4 Layout = iota
	// LayoutGodot3 files are encrypted in ECB mode: equal blocks of 16 bytes are equal
	// in the file.
	LayoutGodot3
)

// String returns "godot4" or "godot3".
func (l Layout) String() string {
	if l == LayoutGodot3 {
		return "godot3"
	}
	return "godot4"
}

// layouts contains the offsets of the fields of each Layout.
var layouts = [...]struct {
	md5Offset, lengthOffset, ivOffset, dataOffset int
}{
	LayoutGodot4: {4, 20, 28, 44},
	LayoutGodot3: {8, 24, 0, 32}, // no IV
}

const (
	versionOffset  = 4 // of LayoutGodot3
	version        = 1
	encryptedBlock = aes.BlockSize
	maxHeader      = 44
)

// A Key is the key of an encrypted file, the 32 bytes that FileAccess.open_encrypted takes.
type Key [32]byte

// PasswordKey returns the key that FileAccess.open_encrypted_with_pass derives from a
// password: the lower-case hexadecimal digits of its MD5.
func PasswordKey(password string) *Key {
	sum := md5.Sum([]byte(password))
	k := new(Key)
	hex.Encode(k[:], sum[:])
	return k
}

// cipher returns a function that decrypts or encrypts whole blocks. Each call continues where
// the previous call ended. Source and destination may be the same.
func (l Layout) cipher(key *Key, iv []byte, encrypt bool) func(dst, src []byte) {
	b, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	switch {
	case l == LayoutGodot3 && encrypt:
		return ecb(b.Encrypt)
	case l == LayoutGodot3:
		return ecb(b.Decrypt)
	case encrypt:
		//lint:ignore SA1019 the format is CFB
		return cipher.NewCFBEncrypter(b, iv).XORKeyStream //nolint:staticcheck // the same
	default:
		//lint:ignore SA1019 the format is CFB
		return cipher.NewCFBDecrypter(b, iv).XORKeyStream //nolint:staticcheck // the same
	}
}

// ecb returns a function that applies crypt to each block.
func ecb(crypt func(dst, src []byte)) func(dst, src []byte) {
	return func(dst, src []byte) {
		for i := 0; i < len(src); i += encryptedBlock {
			crypt(dst[i:], src[i:])
		}
	}
}

// padded returns the encrypted size of n bytes.
func padded(n int64) int64 { return (n + encryptedBlock - 1) &^ (encryptedBlock - 1) }
