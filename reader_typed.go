package gdwire

import (
	"math"

	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/wire"
)

// Each typed read begins with a fast path, for values completely in the buffer and with exactly the
// header of their form. The slow path checks the header without consuming it and then reads the
// value as a token. A value of another type, or a number out of range, must consume nothing, not
// even a DictKey: the caller can then read the value in another way. So expect and number find the
// type and the number first, and only then is anything consumed.

// PeekType returns the type of the next value without consuming it, also for a key if its
// DictKey is next. The names of a NodePath and the strings of a PackedStringArray count as
// Strings. Where no value is next, PeekType returns the error of typed reads, such as
// [ErrCount] at an End. It waits for at most 4 bytes.
func (d *Decoder) PeekType() (Type, error) {
	if form, _ := d.fastForm(); form != nil {
		d.drop()
		return form.typ, nil
	}
	l, err := d.look()
	if err != nil {
		return 0, err
	}
	if d.want() == wantName {
		return TypeString, nil
	}
	if l.expect(nil, nil); l.failed() {
		return 0, d.failure()
	}
	return l.form.typ, nil
}

// Integer is the set of Go's integer types, for [ReadInteger].
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// ReadNil reads a nil.
func (d *Decoder) ReadNil() error {
	if form, _ := d.fastForm(); form != nil && form.kind == KindNil {
		return d.consumeValue(4)
	}
	_, err := d.readType(TypeNil)
	return err
}

// ReadBool reads a bool.
func (d *Decoder) ReadBool() (bool, error) {
	if d.hasFast(d.remaining) {
		if b := d.peekFast(); uint64(le.Uint32(b[:])) == d.forms.headers[KindBool] {
			return le.Uint32(b[4:]) != 0, d.consumeValue(8)
		}
	}
	t, err := d.readType(TypeBool)
	return t.Bool(), err
}

// ReadInt reads an int, or a float without a fraction, and returns [ErrRange] for
// other floats and for floats beyond int64.
func (d *Decoder) ReadInt() (int64, error) {
	if d.hasFast(d.remaining) {
		switch b := d.peekFast(); {
		case uint64(le.Uint32(b[:])) == d.forms.headers[KindInt32]:
			return int64(int32(le.Uint32(b[4:]))), d.consumeValue(8)
		case uint64(le.Uint32(b[:])) == d.forms.headers[KindInt64]:
			return int64(le.Uint64(b[4:])), d.consumeValue(12)
		}
	}
	return ReadInteger[int64](d)
}

// ReadInteger reads an int, or a float without a fraction, as a T, and returns
// [ErrRange] for a number that a T cannot hold.
func ReadInteger[T Integer](d *Decoder) (T, error) {
	if form, b := d.fastForm(); form != nil && form.typ == TypeInt {
		x := int64(int32(le.Uint32(b[4:])))
		if form.kind == KindInt64 {
			x = int64(le.Uint64(b[4:]))
		}
		// Converted back to int64, v equals x even if x is negative and v a uint64; only the signs differ.
		if v := T(x); int64(v) == x && (v < 0) == (x < 0) {
			return v, d.consumeValue(4 + int(form.size))
		}
	}
	t, size, err := d.number(TypeInt)
	if err != nil {
		return 0, err
	}
	x, f := t.Int(), t.Float()
	isInt := t.Type() == TypeInt || f == math.Trunc(f) && f >= -1<<63 && f < 1<<63 // whether x is the number
	v := T(x)
	ok := isInt && int64(v) == x && (v < 0) == (x < 0)
	if !isInt && f >= 1<<63 && f < 1<<64 { // fits only unsigned integers of 64 bits
		v = T(uint64(f))
		ok = v > 0 && uint64(v) == uint64(f)
	}
	if !ok {
		if !isInt && f != math.Trunc(f) {
			return 0, d.errorAt(0, wrapf(ErrRange, "float %v is not an integer", f))
		}
		return 0, d.errorAt(0, wrapf(ErrRange, "%v %v does not fit %T", t.Type(), t.numberValue(), v))
	}
	return v, d.consumeValue(size)
}

// ReadFloat reads a float, or an int that a float64 represents exactly, and
// returns [ErrRange] for other ints.
func (d *Decoder) ReadFloat() (float64, error) {
	if d.hasFast(d.remaining) {
		switch b := d.peekFast(); {
		case uint64(le.Uint32(b[:])) == d.forms.headers[KindFloat32]:
			return float64(math.Float32frombits(le.Uint32(b[4:]))), d.consumeValue(8)
		case uint64(le.Uint32(b[:])) == d.forms.headers[KindFloat64]:
			return math.Float64frombits(le.Uint64(b[4:])), d.consumeValue(12)
		}
	}
	return readFloat[float64](d)
}

// number returns the next value, an int or float, and its encoded size. The caller consumes the
// value if the number fits.
func (d *Decoder) number(want Type) (t Token, size int, err error) {
	var last [fastSize]byte
	form, b := d.fastForm()
	if form == nil {
		form, b = d.lastForm(&last), &last
	}
	if form == nil || !isNumber(form) {
		return d.slowNumber(want)
	}
	return Token{head: form.head, bits: le.Uint64(b[4:]) & form.mask}, 4 + int(form.size), nil
}

// slowNumber does the same on the slow path. With Strict, a number in a form that engines never write
// is ErrStrict, whether or not it fits the caller's type.
func (d *Decoder) slowNumber(want Type) (t Token, size int, err error) {
	l, err := d.look()
	if err != nil {
		return Token{}, 0, err
	}
	if l.expect(want, isNumber); !l.failed() {
		l.checkHeader()
	}
	if !l.failed() {
		t = Token{head: l.form.head, bits: l.word(int(l.form.size))}
		l.checkNumber(t.bits)
	}
	return t, l.at, d.failure()
}

// ReadString reads a String, a StringName, or the next string of a PackedStringArray or
// NodePath.
//
// After an error of the Reader, if Depth is as before the call, nothing was consumed, and
// ReadString can be repeated. If Depth is larger, the text read so far is lost, and SkipTo leaves
// the rest. AppendString loses no text.
func (d *Decoder) ReadString() (string, error) {
	if text := d.fastText(); text != nil {
		return string(text), nil
	}
	return bulk{d}.wholeText(d.readPart(TypeString, isText))
}

// ReadNodePath reads a NodePath and returns it as text, such as "/root/Player:position". After
// an error of the Reader, the rules of [Decoder.ReadString] apply.
func (d *Decoder) ReadNodePath() (string, error) {
	var buf internal.NodePathText
	if text := d.readShortNodePath(&buf); text != nil {
		return string(text), nil
	}
	return bulk{d}.wholeText(d.readType(TypeNodePath))
}

// ReadComponents reads a value of math type t into c, in encoded order: a Basis is encoded by rows.
// len(c) must be the number of its components. An integer vector can be read into floats, but no
// floats into integers. A float32 rounds components of 64 bits; [ErrRange] is returned for a finite
// component beyond the range of float32, and for an integer that a float32 cannot represent
// exactly.
func ReadComponents[T Component](d *Decoder, t Type, c []T) error {
	if !isInt[T]() {
		if b := d.fastFloats(t, len(c)); b != nil {
			for i := range c {
				c[i] = T(math.Float32frombits(le.Uint32(wire.Nth(b, i, 4))))
			}
			return nil
		}
	}
	b, unit, err := d.math(t, len(c), isInt[T]())
	if err != nil {
		return err
	}
	for i := range c { // all of them before the first is stored or the value consumed
		x := wire.Float(b[i*unit.Size():], unit)
		if y := float64(T(x)); y != x && (unit == wire.Int32 || math.IsInf(y, 0) && !math.IsInf(x, 0)) {
			return d.errorAt(0, wrapf(ErrRange, "component %v does not fit %T", x, c[i]))
		}
	}
	for i := range c {
		c[i] = T(wire.Float(b[i*unit.Size():], unit))
	}
	return d.consumeValue(4 + len(b))
}

// math returns the components of the next value, of math type t with n components, and their unit. The
// caller consumes them, after their header. If ints is set, they must be integers.
func (d *Decoder) math(t Type, n int, ints bool) ([]byte, wire.Unit, error) {
	l, err := d.look()
	if err != nil {
		return nil, 0, err
	}
	switch m := &layouts[t]; {
	case !m.isMath():
		return nil, 0, d.errorAt(0, wrapf(ErrCall, "%v is not a math type", t))
	case ints && m.units[0] != wire.Int32:
		return nil, 0, d.errorAt(0, wrapf(ErrCall, "%v has components of %v, not %v", t, m.units[0], wire.Int32))
	case n != int(m.n):
		return nil, 0, d.errorAt(0, wrapf(ErrCall, "%v has %d components, not %d", t, m.n, n))
	}
	if b, form := d.fastMath(t); form != nil {
		return b, form.unit, nil
	}
	if l.expect(t, func(f *form) bool { return f.typ == t }); !l.failed() {
		l.checkHeader()
	}
	if l.failed() {
		return nil, 0, d.failure()
	}
	b := l.bytes(int(l.form.size))
	return b, l.form.unit, d.failure()
}

// ReadRID reads an RID and returns its id, always 0 in formats other than Godot4.
func (d *Decoder) ReadRID() (uint64, error) {
	t, err := d.readType(TypeRID)
	return t.ID(), err
}

// ReadObjectID reads an object encoded as its instance id, and returns the id; 0 is null.
// For a serialized object, ReadObjectID returns [ErrType].
func (d *Decoder) ReadObjectID() (uint64, error) {
	// By the kind, because serialized objects have the same type. An error names the kind, because "got
	// Object, want Object" would not help.
	t, err := d.readForm("an object's id", func(f *form) bool { return f.kind == KindObjectID })
	return t.ID(), err
}

// ReadSignal reads a Signal and returns its name and the id of its object.
func (d *Decoder) ReadSignal() (name string, object uint64, err error) {
	t, err := d.readType(TypeSignal)
	return t.Text(), t.ID(), err
}

// ReadCallable reads a Callable, encoded without content.
func (d *Decoder) ReadCallable() error {
	_, err := d.readType(TypeCallable)
	return err
}

// ReadArray reads the start of an Array, typed or not, and returns the number of its
// elements. The caller must read or skip them and then call ReadEnd.
func (d *Decoder) ReadArray() (n int, err error) {
	if d.hasFast(d.remaining) {
		b, form := d.peekFast(), &d.forms.byType[TypeArray][0]
		if n := le.Uint32(b[4:]); le.Uint32(b[:]) == form.header && d.openFast(form, n) {
			return int(n), nil
		}
	}
	t, err := d.readType(TypeArray)
	return int(t.Len()), err
}

// ReadDict reads the start of a Dictionary, typed or not, and returns the number of its
// pairs. The caller must read or skip the key and the value of each and then call ReadEnd.
func (d *Decoder) ReadDict() (n int, err error) {
	if d.hasFast(d.remaining) {
		b, form := d.peekFast(), &d.forms.byType[TypeDictionary][0]
		if n := le.Uint32(b[4:]); le.Uint32(b[:]) == form.header && d.openFast(form, n) {
			return int(n), nil
		}
	}
	t, err := d.readType(TypeDictionary)
	return int(t.Len()), err
}

// ReadEnd reads the End of the innermost open container, and returns [ErrCount] if there
// are more elements.
func (d *Decoder) ReadEnd() error {
	if d.remaining > 0 || d.fastValues == nil && d.fastNames == nil {
		if err := d.checkEnd(); err != nil {
			return err
		}
	}
	d.markEmpty(d.pos()) // as readEnd, without a call and a token: -2.1 to -2.5 % of typed reads
	switch k := d.pop().kind; {
	case k != KindArrayStart && k != KindDictStart:
		d.startFast()
	case d.fastValues != nil:
	case d.fastNames != nil: // the End of names or packed strings
		d.readValuesFast()
	default:
		d.startFast()
	}
	return nil
}

// checkEnd checks that an End is next.
func (d *Decoder) checkEnd() error {
	if _, err := d.look(); err != nil {
		return err
	}
	switch f := d.top(); {
	case d.remaining == 0:
		return nil
	case d.depth == 0:
		return d.errorAt(0, wrapf(ErrCall, "End without a matching Start"))
	default:
		return d.errorAt(0, wrapf(ErrCount, "End after %d of %d %s", d.done(), f.count, f.holds()))
	}
}

// ReadFloat32 reads a float, rounded to a float32, or an int that a float32 represents
// exactly. It returns [ErrRange] for other ints and for a finite float beyond the range of
// float32.
func (d *Decoder) ReadFloat32() (float32, error) {
	if d.hasFast(d.remaining) {
		if b := d.peekFast(); uint64(le.Uint32(b[:])) == d.forms.headers[KindFloat32] {
			return math.Float32frombits(le.Uint32(b[4:])), d.consumeValue(8)
		}
	}
	return readFloat[float32](d)
}

// readFloat reads the number for ReadFloat and ReadFloat32 after their fast paths.
func readFloat[T float32 | float64](d *Decoder) (T, error) {
	t, size, err := d.number(TypeFloat)
	if err != nil {
		return 0, err
	}
	x := T(t.Float())
	// An int is exact if it is the same after the conversion there and back. The bound comes first,
	// because int64(1<<63) depends on the processor.
	exact := x < 1<<63 && int64(x) == t.Int()
	if t.Type() == TypeInt && !exact || math.IsInf(float64(x), 0) && !math.IsInf(t.Float(), 0) {
		return 0, d.errorAt(0, wrapf(ErrRange, "%v %v does not fit %T", t.Type(), t.numberValue(), x))
	}
	return x, d.consumeValue(size)
}

// readType reads the first token of the next value, if it is of type t.
func (d *Decoder) readType(t Type) (Token, error) {
	// Typed reads looked for their value in the buffer, but not in its last bytes. For values with
	// a token without a payload, this is done here.
	var last [fastSize]byte
	if form := d.lastForm(&last); form != nil && form.typ == t && form.shape == shapeWord {
		return d.takeLast(form, &last), nil
	}
	return d.readForm(t, func(f *form) bool { return f.typ == t })
}

// readFloats is [export.ReadFloats].
func (d *Decoder) readFloats(t Type, c []float32) bool {
	b := d.fastFloats(t, len(c))
	if b == nil {
		return false
	}
	if to, ok := wire.AsBytes(c, true); ok { // Decode also does this, with more calls
		copy(to, b)
	} else {
		wire.Decode(c, b, wire.Float32)
	}
	return true
}

// startStrings is [export.StartStrings].
func (d *Decoder) startStrings() (n int, ok bool) {
	if d.hasFast(d.remaining) {
		b, form := d.peekFast(), &d.forms.byType[TypePackedStringArray][0]
		if n := le.Uint32(b[4:]); le.Uint32(b[:]) == form.header && form.shape == shapePackedStrings && d.openFast(form, n) {
			return int(n), true
		}
	}
	return 0, false
}
