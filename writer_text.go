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
	var b [8]byte
	n := uint32(len(s)) + nul
	if err := emit(e, opValue, head.append(b[:0], n), s, zeros[:int(nul)+padding(n)]); err != nil {
		return err
	}
	e.step()
	return nil
}

// A textHead is what precedes the text of a string: a header, except in a NodePath
// or PackedStringArray, and the length.
type textHead struct {
	typ    Type // of the value that the text is part of
	header uint32
	bare   bool // no header
}

// append appends the head of a string of n bytes.
func (h textHead) append(b []byte, n uint32) []byte {
	if !h.bare {
		b = le.AppendUint32(b, h.header)
	}
	return le.AppendUint32(b, n)
}

// beginText asks whether a string may come next and returns its head, and how
// many NULs it ends in.
func (e *Encoder) beginText(t Type) (head textHead, nul uint32, err error) {
	if err := e.ready(); err != nil {
		return head, 0, err
	}
	if e.top.want == wantName {
		return textHead{typ: e.top.typ, bare: true}, e.nul(), nil
	}
	row, err := e.begin(t)
	if err != nil {
		return head, 0, err
	}
	if row[0].shape != shapeText {
		return head, 0, e.fail(because(ErrType, "%v is no string", t))
	}
	return textHead{typ: t, header: row[0].header}, 0, nil
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
	if err := checkName(e, name); err != nil {
		return err
	}
	var head [8]byte
	le.PutUint32(head[:], row[0].header)
	le.PutUint32(head[4:], uint32(len(name)))
	var b [12]byte
	tail := le.AppendUint64(b[:padding(uint32(len(name)))], object)
	if err := emit(e, opValue, head[:], name, tail); err != nil {
		return err
	}
	e.step()
	return nil
}

// checkName returns an error if name is too long for a name or is not UTF-8.
func checkName[S string | []byte](e *Encoder, name S) error {
	if len(name) > maxName {
		return e.fail(because(ErrRange, "name of %d bytes", len(name)))
	}
	if !e.options.AnyUTF8 && !valid(name) {
		return e.fail(ErrUTF8)
	}
	return nil
}

// WriteNodePath writes the NodePath that engines make of a text, such as
// "/root/Player:position:x". Like them it leaves out empty names and a colon at the
// end. Two colons in a row, which make a path invalid, are [ErrRange].
func (e *Encoder) WriteNodePath(nodePath string) error {
	row, err := e.begin(TypeNodePath)
	if err != nil {
		return err
	}
	if err := checkName(e, nodePath); err != nil {
		return err
	}
	if strings.Contains(nodePath, "::") {
		return e.fail(because(ErrRange, "NodePath with two colons in a row"))
	}
	names, subnames, _ := strings.Cut(nodePath, ":")
	parts := [...]struct{ text, separator string }{{names, "/"}, {subnames, ":"}}
	size, counts := int64(16), [2]uint32{}
	for i, part := range parts {
		for name := range strings.SplitSeq(part.text, part.separator) {
			if name != "" {
				size += 4 + int64(padded(uint32(len(name))))
				counts[i]++
			}
		}
	}
	if size > maxName {
		return e.fail(because(ErrRange, "NodePath of %d bytes", size))
	}
	b, err := e.room(int(size))
	if err != nil {
		return err
	}
	bits := uint32(0)
	if strings.HasPrefix(names, "/") {
		bits = pathAbsolute
	}
	le.PutUint32(b, row[0].header)
	le.PutUint32(b[4:], counts[0]|newPathBit)
	le.PutUint32(b[8:], counts[1])
	le.PutUint32(b[12:], bits)
	end := b[:16]
	for _, part := range parts {
		for name := range strings.SplitSeq(part.text, part.separator) {
			if name != "" {
				end = appendName(end, name)
			}
		}
	}
	return e.value(end)
}

// BeginString begins a String or StringName, or the next string of what is open,
// of n bytes or [Unknown]. Write gives its text, in any pieces, then End.
func (e *Encoder) BeginString(t Type, n int64) error {
	head, nul, err := e.beginText(t)
	if err != nil {
		return err
	}
	f := frame{kind: KindStringChunk, typ: head.typ, names: nul}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	var b [8]byte
	return e.start(head.append(b[:0], f.count+nul), &f)
}
