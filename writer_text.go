package gdwire

import (
	"math"
	"strings"
)

// WriteString writes a String, or the next name of a NodePath or string of a
// PackedStringArray if such is open. A leading U+FEFF and everything from a NUL
// on does not survive in the engines.
func (e *Encoder) WriteString(s string) error { return writeText(e, TypeString, s) }

// WriteStringName writes a StringName.
func (e *Encoder) WriteStringName(s string) error { return writeText(e, TypeStringName, s) }

// writeText writes a whole string. A short one is a word behind its head, padding
// included.
func writeText[S string | []byte](e *Encoder, t Type, s S) error {
	const size = 8 + 8 + 4 // header, length, text, and padding behind a NUL
	if len(s) <= 8 && e.inside(size) {
		f, form, text, n := e.top, &e.rows[t][0], short(s), uint32(len(s))
		b := (*[size]byte)(e.buf[e.n : e.n+size : e.n+size])
		switch {
		case text&notASCII != 0 && !e.options.AnyUTF8 && !valid(s):
		case f.want-wantElem <= wantDictKey-wantElem && f.elem == 0 && form.shape == shapeText:
			le.PutUint32(b[:], form.header)
			le.PutUint32(b[4:], n)
			le.PutUint64(b[8:], text)
			e.n += 8 + int(padded(n))
			e.step()
			return nil
		case f.want == wantName:
			n += e.nul()
			le.PutUint32(b[:], n)
			le.PutUint64(b[4:], text)
			le.PutUint32(b[12:], 0)
			e.n += 4 + int(padded(n))
			e.step()
			return nil
		}
	}
	head, nul, err := e.beginText(t)
	if err != nil {
		return err
	}
	if int64(len(s)) > math.MaxInt32-1 {
		return e.fail(because(ErrRange, "string of %d bytes", len(s)))
	}
	if !e.options.AnyUTF8 && !valid(s) {
		return e.fail(ErrUTF8)
	}
	n := uint32(len(s)) + nul
	tail := int(nul) + padding(n)
	total := head.size() + len(s) + tail
	if total > len(e.buf) && e.held == 0 {
		if err := emitLong(e, e.textHead(head, n), s, tail, e.final()); err != nil {
			return err
		}
		e.step()
		return nil
	}
	b, err := e.room(total)
	if err != nil {
		return err
	}
	le.PutUint32(b[total-4:], 0) // the padding, if there is some
	copy(b[head.put(b, n):], s)
	return e.value(total)
}

// A textHead is what stands in front of a string: a header, but for names and
// packed strings, and the length.
type textHead struct {
	header uint32
	bare   bool // no header
}

func (h textHead) size() int {
	if h.bare {
		return 4
	}
	return 8
}

// put puts the head of a string of n bytes into b.
func (h textHead) put(b []byte, n uint32) int {
	if h.bare {
		le.PutUint32(b, n)
		return 4
	}
	le.PutUint64(b, uint64(h.header)|uint64(n)<<32)
	return 8
}

// textHead returns the head of a string of n bytes, in memory of e's own.
func (e *Encoder) textHead(h textHead, n uint32) []byte {
	return e.scratch[:h.put(e.scratch[:], n)]
}

// beginText asks whether a string may come next and returns its head, and how
// many NULs it ends in.
func (e *Encoder) beginText(t Type) (head textHead, nul uint32, err error) {
	if err := e.ready(); err != nil {
		return head, 0, err
	}
	if e.top.want == wantName {
		return textHead{bare: true}, e.nul(), nil
	}
	row, err := e.begin(t)
	if err != nil {
		return head, 0, err
	}
	if row[0].shape != shapeText {
		return head, 0, e.fail(because(ErrType, "%v is no string", t))
	}
	return textHead{header: row[0].header}, 0, nil
}

// nul is 1 where names are strings that end in NUL.
func (e *Encoder) nul() uint32 {
	if e.top.typ == TypePackedStringArray && e.options.Format.engine {
		return 1
	}
	return 0
}

// WriteSignal writes a Signal: its name and the id of the object it belongs to.
func (e *Encoder) WriteSignal(name string, object uint64) error {
	return writeSignal(e, name, object)
}

func writeSignal[S string | []byte](e *Encoder, name S, object uint64) error {
	row, err := e.begin(TypeSignal)
	if err != nil {
		return err
	}
	b, n, err := putName(e, row[0].header, name, 8)
	if err != nil {
		return err
	}
	le.PutUint64(b[n:], object)
	return e.value(n + 8)
}

// putName makes room for header, a name and rest more bytes, and puts the first
// two there, n bytes.
func putName[S string | []byte](e *Encoder, header uint32, name S, rest int) (b []byte, n int, err error) {
	b, err = checkName(e, name, 8+rest)
	if err != nil {
		return nil, 0, err
	}
	le.PutUint32(b, header)
	return b, 4 + nameInto(b[4:], name), nil
}

// checkName makes room for a name and rest more bytes.
func checkName[S string | []byte](e *Encoder, name S, rest int) ([]byte, error) {
	if len(name) > maxName {
		return nil, e.fail(because(ErrRange, "name of %d bytes", len(name)))
	}
	if !e.options.AnyUTF8 && !valid(name) {
		return nil, e.fail(ErrUTF8)
	}
	return e.room(rest + len(name) + padding(uint32(len(name))))
}

// nameInto puts length, text and padding into b and returns how many bytes.
func nameInto[S string | []byte](b []byte, name S) int {
	le.PutUint32(b, uint32(len(name)))
	n := 4 + copy(b[4:], name)
	return n + copy(b[n:], zeros[:padding(uint32(len(name)))])
}

// WriteNodePath writes a path as engines write it, "/root/Player:position:x".
// Empty names between slashes and colons are left out, as engines do.
func (e *Encoder) WriteNodePath(path string) error {
	row, err := e.begin(TypeNodePath)
	if err != nil {
		return err
	}
	names, subnames, _ := strings.Cut(path, ":")
	bits := uint32(0)
	if strings.HasPrefix(names, "/") {
		bits = pathAbsolute
	}
	b, err := checkName(e, path, 16+8*len(path)) // at worst one name a byte
	if err != nil {
		return err
	}
	n, counts := 16, [2]uint32{}
	for i, part := range [...]string{names, subnames} {
		for name := range strings.SplitSeq(part, "/:"[i:i+1]) {
			if name != "" {
				n += nameInto(b[n:], name)
				counts[i]++
			}
		}
	}
	le.PutUint32(b, row[0].header)
	le.PutUint32(b[4:], counts[0]|newPathBit)
	le.PutUint32(b[8:], counts[1])
	le.PutUint32(b[12:], bits)
	return e.value(n)
}

// BeginString begins a String or StringName, or the next string of what is open,
// of n bytes or [Unknown]. Write gives its text, in any pieces, then End.
func (e *Encoder) BeginString(t Type, n int64) error {
	head, nul, err := e.beginText(t)
	if err != nil {
		return err
	}
	f := frame{kind: KindStringChunk, typ: t, names: nul}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	b, err := e.room(8)
	if err != nil {
		return err
	}
	return e.start(head.put(b, f.count+nul), &f)
}
