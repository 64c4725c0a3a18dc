package gdwire

import (
	"bytes"
	"math"
)

// strictSeen is the set of alternatives that Strict has seen in a top-level value. An
// engine uses only one of two alternatives in a value.
type strictSeen uint8

const (
	seenNarrow strictSeen = 1 << iota // math type of 32 bits
	seenWide                          // math type of 64 bits
	seenID                            // object as its id
	seenFull                          // serialized object
)

// both adds this to the set and reports whether the set contains other, too.
func (s *strictSeen) both(this, other strictSeen) bool {
	*s |= this
	return *s&other != 0
}

func (d *Decoder) strict(at int, format string, args ...any) error {
	return d.fail(at, wrapf(ErrStrict, "not canonical: "+format, args...))
}

// The functions below return an ErrStrict for input that engines accept but never
// write. Offsets are relative to the start of the token.

// canonicalHeader checks the flags of header h, the declared type of its container, and
// the alternatives in strictSeen.
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
			return d.strict(0, "math types of both widths")
		}
	case form.typ == TypeObject && f.ids:
		if wide && d.strictSeen.both(seenID, seenFull) || !wide && d.strictSeen.both(seenFull, seenID) {
			return d.strict(0, "both ids of objects and serialized objects")
		}
	}
	return nil
}

// canonicalNumber checks that the number in b has the fewest bits, that a bool is 0 or
// 1, and that an object's id is not 0.
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
			return d.strict(0, "object id 0")
		}
	}
	return nil
}

// canonicalText checks that text, at offset at, contains no NUL, apart from the one at
// the end of a packed string of an engine, and that its padding is zero.
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
		return nil // most engine versions leave memory content in this padding
	}
	return d.canonicalPadding(end, pad)
}

// canonicalNUL checks that text contains no NUL.
func (d *Decoder) canonicalNUL(at int, text []byte) error {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return d.strict(at+i, "NUL in a string")
	}
	return nil
}

// canonicalPadding checks that padding is zero, if engines write zeros.
func (d *Decoder) canonicalPadding(at int, pad []byte) error {
	for _, c := range pad {
		if c != 0 && !d.options.Format.garbagePadding {
			return d.strict(at, "padding other than zero")
		}
	}
	return nil
}

// canonicalNodePath checks that the flags of a NodePath are among those that engines write.
func (d *Decoder) canonicalNodePath(bits uint32) error {
	known := uint32(nodePathAbsolute)
	if d.options.Format.keepProperty {
		known |= nodePathProperty
	}
	if bits&^known != 0 {
		return d.strict(12, "NodePath flags %#x", bits)
	}
	return nil
}
