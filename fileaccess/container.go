package fileaccess

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"encoding/hex"
	"strings"
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

// A Key is the key of an encrypted file, the 32 bytes for FileAccess.open_encrypted.
type Key [32]byte

// PasswordKey returns the key derived from a password by FileAccess.open_encrypted_with_pass:
// the lower-case hexadecimal digits of its MD5.
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

// A Container is a way in which FileAccess stores bytes in a file.
type Container uint8

const (
	// Plain files contain the bytes unchanged.
	Plain Container = iota
	// Compressed files begin with "GCPF": FileAccess.open_compressed.
	Compressed
	// Encrypted files begin with "GDEC": FileAccess.open_encrypted and
	// open_encrypted_with_pass.
	Encrypted
	// Raw streams have no header of the engine: PackedByteArray.compress. They do not contain
	// their mode, so Options.Raw and Options.Mode open them.
	Raw
)

// String returns "plain", "compressed", "encrypted" or "raw".
func (c Container) String() string {
	if c > Raw {
		c = Plain
	}
	return [...]string{"plain", "compressed", "encrypted", "raw"}[c]
}

const (
	magicCompressed = "GCPF"
	magicEncrypted  = "GDEC"
	magicBytes      = 4
)

// An Info describes a file, so that [NewWriter] can write another of the same kind.
type Info struct {
	Container Container
	// Mode is the compression mode of a Compressed file or Raw stream.
	Mode Mode
	// BlockSize is the number of bytes before compression in each block of a
	// Compressed file, except for the last. For a writer, 0 means 4096.
	BlockSize int
	// Layout is the layout of an Encrypted file.
	Layout Layout
	// Size is the declared size in bytes of the content of a Compressed or
	// Encrypted file, and -1 for a Plain file or Raw stream. Writers ignore it.
	Size int64
	// Base64 describes the text around the file, if there is any. Sizes and offsets are those of the file inside.
	Base64 Base64
	// Verified reports whether NewReader verified the MD5 of the content of an
	// Encrypted file. Writers ignore it.
	Verified bool
}

// String returns "plain", "encrypted", the mode of a Compressed file, such as "zstd", or the mode of a Raw stream,
// such as "raw-zstd". For a file in base64 text, it returns "base64" or, for example, "base64-raw-zstd".
func (i Info) String() string {
	text := i.Container.String()
	switch i.Container {
	case Compressed:
		text = i.Mode.String()
	case Raw:
		text = "raw-" + i.Mode.String()
	}
	if i.Base64.Text {
		text = strings.TrimSuffix("base64-"+text, "-"+Plain.String())
	}
	return text
}

// IsPlain reports whether the file is the content alone: no container, and no text around it.
func (i Info) IsPlain() bool { return i.Container == Plain && !i.Base64.Text }

// Options configures [NewReader]. The zero value, like nil, is for plain and compressed
// files, with the default Limits.
type Options struct {
	// Raw opens a Raw stream of Mode, and nothing else.
	Raw  bool
	Mode Mode
	// Base64 opens a file in base64 text, such as that of Marshalls.variant_to_base64. NewReader reads
	// all of the text into memory.
	Base64 bool
	// Key opens an encrypted file. See [PasswordKey].
	Key *Key
	// AskKey, if set, is called for the key of an encrypted file if Key is nil. NewReader
	// returns its error.
	AskKey func(Info) (*Key, error)
	// Limits bounds the file's declared sizes.
	Limits Limits
	// MaxBuffered is the maximum size in bytes of encrypted content kept in memory by NewReader
	// for verification. Longer content of a file or of memory is read twice, see NewReader, and
	// otherwise returned before verification. 0 selects 8 MiB. -1 disables the limit, so that
	// all content is verified first.
	MaxBuffered int64
}

const defaultBuffered = 8 << 20
