package fileaccess

import (
	"bytes"
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/gdwire/gdwire/internal/base/checked"
)

// The kinds of files and the options to open them, and base64 text around a file.

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

// A Base64 describes base64 text around a file, such as a result of Marshalls.variant_to_base64. The zero
// value is no text.
type Base64 struct {
	// Text reports whether the file is base64 text.
	Text bool
	// Line is the number of characters in each line, except for the last. 0 is a single line.
	Line int
	// Break is the line break after each line but the last. For a writer, "" means "\n".
	Break string
	// End is the text after the last line: "", or line breaks and spaces.
	End string
}

// maxEnd is the maximum number of bytes in Base64.End.
const maxEnd = 64

var (
	errNoBase64 = errors.New("no base64 text")
	errLines    = errors.New("lines of different lengths")
)

// decodeBase64 reads base64 text up to its end, and returns the content. With an error, content is the part
// before the error.
func decodeBase64(src *source, limits *bounds) (content []byte, form Base64, err error) {
	most := limits[limitSize]
	readable := int64(math.MaxInt64)
	if most < math.MaxInt32 {
		readable = 4*most + maxEnd // each character can be a line
	}
	text, err := io.ReadAll(io.LimitReader(src, readable))
	if err != nil {
		return nil, form, err
	}
	body := bytes.TrimRight(text, "\r\n \t")
	form = Base64{Text: true, End: string(text[len(body):min(len(text), len(body)+maxEnd+1)])}
	if len(form.End) > maxEnd {
		return nil, form, errorf(int64(len(body)), ErrDamaged, "%v", errNoBase64)
	}
	if i := bytes.IndexByte(body, '\n'); i >= 0 {
		form.Line, form.Break = i, "\n"
		if i > 0 && body[i-1] == '\r' {
			form.Line, form.Break = i-1, "\r\n"
		}
	}
	joined, err := joinLines(body, &form)
	if err != nil {
		return nil, form, err
	}
	n, err := base64.StdEncoding.Strict().Decode(joined, joined) // it reads ahead of its writes
	if at, ok := err.(base64.CorruptInputError); ok {
		offset := int64(at)
		if form.Line > 0 {
			offset += offset / int64(form.Line) * int64(len(form.Break))
		}
		err = errorf(offset, ErrDamaged, "%v", errNoBase64)
	}
	if err == nil {
		err = limits.check(limitSize, uint64(n), 0)
	}
	return joined[:n], form, err
}

// joinLines removes the line breaks in body, in place.
func joinLines(body []byte, form *Base64) ([]byte, error) {
	joined := body[:0]
	for at := 0; at < len(body); {
		line := body[at:]
		if form.Line > 0 && len(line) > form.Line {
			line = line[:form.Line]
		}
		if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
			return nil, errorf(int64(at+i), ErrDamaged, "%v", errLines)
		}
		at += len(line)
		if at < len(body) {
			if !bytes.HasPrefix(body[at:], []byte(form.Break)) || form.Break == "" {
				return nil, errorf(int64(at), ErrDamaged, "%v", errLines)
			}
			at += len(form.Break)
		}
		joined = append(joined, line...)
	}
	return joined, nil
}

// A textWriter writes a file in base64 text.
type textWriter struct {
	file    io.WriteCloser // writes to encoder
	encoder io.WriteCloser // writes lines to w
	w       io.Writer
	end     string
	sticky
}

// newTextWriter returns a textWriter without a file.
func newTextWriter(w io.Writer, form Base64) *textWriter {
	lines := &lineWriter{w: w, length: form.Line, lineBreak: cmp.Or(form.Break, "\n")}
	return &textWriter{encoder: base64.NewEncoder(base64.StdEncoding, lines), w: w, end: form.End}
}

func (t *textWriter) Write(p []byte) (int, error) { return t.write(t.file, p) }

// Close writes the end of the text.
func (t *textWriter) Close() error {
	return t.close(func() error {
		for _, w := range []io.Closer{t.file, t.encoder} {
			if err := w.Close(); err != nil {
				return err
			}
		}
		return writeAll(t.w, []byte(t.end))
	})
}

// A lineWriter writes lines.
type lineWriter struct {
	w         io.Writer
	length    int // of a line, or 0 if there is only one
	lineBreak string
	used      int // characters in the last line
}

func (l *lineWriter) Write(p []byte) (int, error) {
	if l.length <= 0 {
		return checked.Write(l.w, p)
	}
	var out []byte
	for rest := p; len(rest) > 0; {
		if l.used == l.length {
			out, l.used = append(out, l.lineBreak...), 0
		}
		n := min(len(rest), l.length-l.used)
		out, rest = append(out, rest[:n]...), rest[n:]
		l.used += n
	}
	if _, err := checked.Write(l.w, out); err != nil {
		return 0, err
	}
	return len(p), nil
}
