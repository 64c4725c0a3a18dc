package envelope

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"slices"
)

// A Mark is a location in an Envelope, relative to a body, and so stays valid when bodies change
// their size.
type Mark struct {
	Body   int
	End    bool // relative to the end of the body
	Offset int
}

// A Field is a part of a gap that is derived from other bytes. For a field in each record, the marks are those of the
// first body.
type Field struct {
	At       Mark
	Width    int // in bytes
	Big      bool
	Sum      Sum
	Form     Form
	Of       Span
	Each     bool // each record contains it
	Doubtful bool // perhaps something else, such as a version

	bits  float64
	wrong []int // records with a wrong field
}

// A Span is the source of a Field.
type Span struct {
	From, To Mark
	Content  bool // the content of the body of From, in place of the bytes between the marks
	Count    bool // the number of bodies
	Zeroed   bool // the field itself counts as zeros
}

// A Sum is the kind of number in a Field.
type Sum uint8

// The sums.
const (
	Size Sum = iota
	CRC32
	Adler32
	MD5
	SHA1
	SHA256
)

// sums contains the name and hash of each Sum.
var sums = [...]struct {
	name string
	size int
	new  func() hash.Hash
}{
	Size:    {"size", 0, nil},
	CRC32:   {"CRC-32", 4, func() hash.Hash { return crc32.NewIEEE() }},
	Adler32: {"Adler-32", 4, func() hash.Hash { return adler32.New() }},
	MD5:     {"MD5", md5.Size, md5.New},
	SHA1:    {"SHA-1", sha1.Size, sha1.New},
	SHA256:  {"SHA-256", sha256.Size, sha256.New},
}

// String returns the name, such as CRC-32.
func (s Sum) String() string { return sums[s].name }

// A Form is how a checksum is written.
type Form uint8

// The forms: bytes, and hexadecimal digits.
const (
	Raw Form = iota
	Lower
	Upper
)

// write returns a digest in the form. A short digest is a number with a byte order.
func (f Form) write(digest []byte, big bool) []byte {
	d := bytes.Clone(digest)
	if len(d) == 4 && !big {
		slices.Reverse(d)
	}
	switch f {
	case Lower:
		return hex.AppendEncode(nil, d)
	case Upper:
		return bytes.ToUpper(hex.AppendEncode(nil, d))
	}
	return d
}

// Name returns the name of the field's content, such as "CRC-32".
func (f *Field) Name() string {
	switch {
	case f.Of.Count:
		return "number of records"
	case f.Of.Content && f.Sum == Size:
		return "size of the content"
	}
	return f.Sum.String()
}

// of returns the mark for a record.
func (m Mark) of(record int) Mark {
	m.Body += record
	return m
}

// pos returns the offset of a mark.
func (e *Envelope) pos(m Mark) int {
	at := e.starts[m.Body] + m.Offset
	if m.End {
		at += len(e.Bodies[m.Body].Packed)
	}
	return at
}

// size returns the number in a field of sizes for a record.
func (e *Envelope) size(f *Field, record int) int {
	switch {
	case f.Of.Count:
		return len(e.Bodies)
	case f.Of.Content:
		return len(e.Bodies[f.Of.From.Body+record].Content)
	}
	return e.pos(f.Of.To.of(record)) - e.pos(f.Of.From.of(record))
}

// digest returns the checksum in a field for a record, or nil if there is no such span.
func (e *Envelope) digest(f *Field, record int) []byte {
	h := sums[f.Sum].new()
	if f.Of.Content {
		h.Write(e.Bodies[f.Of.From.Body+record].Content)
		return h.Sum(nil)
	}
	from, to := e.pos(f.Of.From.of(record)), e.pos(f.Of.To.of(record))
	if from < 0 || from >= to || to > len(e.whole) {
		return nil
	}
	if f.Of.Zeroed {
		at := e.pos(f.At.of(record))
		h.Write(e.whole[from:at])
		h.Write(make([]byte, f.Width))
		from = at + f.Width
	}
	h.Write(e.whole[from:to])
	return h.Sum(nil)
}

// A DoubtError reports a number equal to a fact of the values, such as their size, that can also be something else. To
// write the values, the caller chooses.
type DoubtError struct {
	Offset int // in the bytes around the values
	Number uint64
	Fact   string // such as "a size"
}

func (e *DoubtError) Error() string {
	return fmt.Sprintf("the number %d at offset %d is %s, or something else such as a version", e.Number, e.Offset, e.Fact)
}

// put writes a field of a record into the bytes of the envelope. A wrong field stays unchanged with the same values.
func (e *Envelope) put(f *Field, record int) error {
	if slices.Contains(f.wrong, record) && bytes.Equal(e.Bodies[record].Packed, e.was[record].Packed) {
		return nil
	}
	at := e.pos(f.At.of(record))
	b := e.whole[at:][:f.Width]
	if f.Sum != Size {
		copy(b, f.Form.write(e.digest(f, record), f.Big))
		return nil
	}
	n, was := uint64(e.size(f, record)), number(b, f.Big)
	switch {
	case n == was:
	case f.Doubtful && f.Of.Count:
		return &DoubtError{at, was, "the number of records"}
	case f.Doubtful:
		return &DoubtError{at, was, "a size"}
	case f.Width < 8 && n>>(8*f.Width) > 0:
		return fmt.Errorf("the size %d does not fit in the %d bits at offset %d", n, 8*f.Width, at)
	}
	copy(b, binary.LittleEndian.AppendUint64(nil, n))
	if f.Big {
		slices.Reverse(b)
	}
	return nil
}

// number returns the number in up to 8 bytes.
func number(b []byte, big bool) (n uint64) {
	for i := range b {
		k := len(b) - 1 - i
		if big {
			k = i
		}
		n = n<<8 | uint64(b[k])
	}
	return n
}

// covers reports whether the first of fields like f is a checksum over the first of fields like g.
func (e *Envelope) covers(f, g *Field) bool {
	if f.Of.Content {
		return false
	}
	at := e.pos(g.At)
	return at < e.pos(f.Of.To) && at+g.Width > e.pos(f.Of.From)
}
