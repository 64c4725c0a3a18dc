package gdwire

import (
	"bytes"
	"math"
)

// strictSeen is what Strict remembers of a top-level value: things a writer does
// either everywhere or nowhere.
type strictSeen uint8

const (
	seenNarrow strictSeen = 1 << iota // maths of 32 bits
	seenWide                          // maths of 64 bits
	seenID                            // an object as its id
	seenFull                          // an object in full
)

// both notes that one of two was seen and reports whether the other was, too.
func (s *strictSeen) both(this, other strictSeen) bool {
	*s |= this
	return *s&other != 0
}

func (d *Decoder) strict(at int, format string, args ...any) error {
	return d.fail(at, because(ErrStrict, format, args...))
}

// canonicalHeader refuses headers that no engine writes where this one stands.
func (d *Decoder) canonicalHeader(h uint32, form *form) error {
	f := d.options.Format
	if f.idMask != math.MaxUint32 && (h&0xFF00 != 0 || h>>16&^uint32(form.flags) != 0) {
		return d.strict(0, "header %#x", h)
	}
	if !d.admits(form.typ) {
		return d.strict(0, "%v in a container of %v", form.typ, d.top().elem)
	}
	wide := h>>16&1 != 0
	switch c := layouts[form.typ].class; {
	case c == classReal && f.width[c] == flagged:
		if !wide && d.strictSeen.both(seenNarrow, seenWide) || wide && d.strictSeen.both(seenWide, seenNarrow) {
			return d.strict(0, "maths types of both widths")
		}
	case form.typ == TypeObject && f.ids:
		if wide && d.strictSeen.both(seenID, seenFull) || !wide && d.strictSeen.both(seenFull, seenID) {
			return d.strict(0, "objects as ids and in full")
		}
	}
	return nil
}

// canonicalNumber refuses what stands in more bytes than it needs, and what no
// engine writes for a bool or an object's id.
func (d *Decoder) canonicalNumber(form *form, b []byte) error {
	flagged := d.options.Format.width[layouts[form.typ].class] == flagged
	switch form.kind {
	case KindBool:
		if x := le.Uint32(b); x > 1 {
			return d.strict(0, "bool of %d", x)
		}
	case KindInt64:
		if x := int64(le.Uint64(b)); flagged && x == int64(int32(x)) {
			return d.strict(0, "int %d in 64 bits", x)
		}
	case KindFloat32:
		if x := math.Float32frombits(le.Uint32(b)); flagged && x != x && d.options.Format.engine {
			return d.strict(0, "NaN in 32 bits")
		}
	case KindFloat64:
		if x := math.Float64frombits(le.Uint64(b)); flagged && x == float64(float32(x)) {
			return d.strict(0, "float %v in 64 bits", x)
		}
	case KindObjectID:
		if len(b) == 8 && le.Uint64(b) == 0 {
			return d.strict(0, "null as an object's id")
		}
	}
	return nil
}

// canonicalText refuses a NUL in text, at bytes behind pos, but for the one that
// engines write behind packed strings, and asks for zeros as padding.
func (d *Decoder) canonicalText(typ Type, at int, text []byte, last bool, pad []byte, total uint32) error {
	ended, end := true, at+len(text)
	if last && d.nul(typ) == 1 {
		if ended = total > 0 && text[len(text)-1] == 0; ended {
			text = text[:len(text)-1]
		}
	}
	if err := d.canonicalNUL(at, text); err != nil {
		return err
	}
	if !ended {
		return d.strict(at+len(text), "packed string without a NUL")
	}
	if typ == TypeNodePath && d.options.Format.engine {
		return nil // all engines but the newest leave memory content there
	}
	return d.canonicalPadding(end, pad)
}

// canonicalNUL refuses a NUL in text.
func (d *Decoder) canonicalNUL(at int, text []byte) error {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return d.strict(at+i, "NUL in a string")
	}
	return nil
}

// canonicalPadding asks for zeros where engines write them.
func (d *Decoder) canonicalPadding(at int, pad []byte) error {
	for _, c := range pad {
		if c != 0 && !d.options.Format.dirty {
			return d.strict(at, "padding other than zero")
		}
	}
	return nil
}

// canonicalPath refuses flags that are not written.
func (d *Decoder) canonicalPath(bits uint32) error {
	known := uint32(pathAbsolute)
	if d.options.Format.keepProperty {
		known |= pathProperty
	}
	if bits&^known != 0 {
		return d.strict(12, "NodePath flags %#x", bits)
	}
	return nil
}
