package fileaccess

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
)

// String returns "plain", "compressed" or "encrypted".
func (c Container) String() string {
	switch c {
	case Compressed:
		return "compressed"
	case Encrypted:
		return "encrypted"
	default:
		return "plain"
	}
}

const (
	magicCompressed = "GCPF"
	magicEncrypted  = "GDEC"
	magicBytes      = 4
)

// An Info describes a file, so that [NewWriter] can write another of the same kind.
type Info struct {
	Container Container
	// Mode is the compression mode of a Compressed file.
	Mode Mode
	// BlockSize is the number of bytes before compression in each block of a
	// Compressed file, except for the last. For a writer, 0 means 4096.
	BlockSize int
	// Layout is the layout of an Encrypted file.
	Layout Layout
	// Size is the declared size in bytes of the content of a Compressed or
	// Encrypted file, and -1 for a Plain file. Writers ignore it.
	Size int64
	// Verified reports whether NewReader verified the MD5 of the content of an
	// Encrypted file. Writers ignore it.
	Verified bool
}

// Options configures [NewReader]. The zero value, like nil, is for plain and compressed
// files, with the default Limits.
type Options struct {
	// Key opens an encrypted file. See [PasswordKey].
	Key *Key
	// AskKey, if set, returns the key. It is called if the file is encrypted and
	// Key is nil. NewReader returns its error.
	AskKey func(Info) (*Key, error)
	// Limits bounds the file's declared sizes.
	Limits Limits
	// MaxBuffered is the maximum size in bytes of encrypted content that NewReader
	// keeps in memory to verify it. Longer content is read twice if the Reader is
	// an io.Seeker, and otherwise returned before it is verified. 0 selects 8 MiB.
	// -1 disables the limit, so that all content is verified first.
	MaxBuffered int64
}

const defaultBuffered = 8 << 20
