package gdwire

import (
	"iter"
	"math"

	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/wire"
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
	x, above, ok := t.integer()
	v := T(x)
	if !ok || int64(v) != x || (v < 0) != (x < 0 && !above) {
		return 0, d.noInteger(t, v)
	}
	return v, d.consumeValue(size)
}

// integer returns the number of t as 64 bits, which are unsigned if it is above those of an int64, and reports whether it is an
// integer of 64 bits.
func (t Token) integer() (x int64, above, ok bool) {
	f := t.Float()
	switch {
	case t.Type() == TypeInt:
		return t.Int(), false, true
	case f >= 1<<63 && f < 1<<64:
		return int64(uint64(f)), true, true
	}
	return int64(f), false, f == math.Trunc(f) && f >= -1<<63 && f < 1<<63
}

// noInteger returns the error for the number of t, which is no integer of the type of v.
func (d *Decoder) noInteger(t Token, v any) error {
	if f := t.Float(); t.Type() != TypeInt && f != math.Trunc(f) {
		return d.errorAt(0, wrapf(ErrRange, "float %v is not an integer", f))
	}
	return d.errorAt(0, wrapf(ErrRange, "%v %v does not fit %T", t.Type(), t.numberValue(), v))
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

// A loop reads one key or index, calls its body, and then checks how much the body read. The body can
// call any method of the Decoder: nothing, half of its value, another loop, skips, even Reset.
// Therefore the loop trusts no state from before the body, except positions, because they never
// repeat. finished is the usual case, a body that read its value; skipUnread handles the others.

// Fields reads the next value, a Dictionary, and iterates over its keys that are Strings
// or StringNames. The loop's body reads the value. Fields skips any part of the value
// that the body did not read, and skips pairs with a key of another type or longer than
// Limits.NameBytes.
//
//	for key, err := range d.Fields() {
//		if err != nil {
//			return err
//		}
//		switch string(key) {
//		case "name":
//			p.Name, err = d.ReadString()
//		case "hp":
//			p.HP, err = gdwire.ReadInteger[int](d)
//		}
//		if err != nil {
//			return err
//		}
//	}
//
// The key is a copy and valid until the next iteration. An error ends the loop:
// [ErrType] if the next value is of another type, without consuming anything, and
// [ErrCount] if the body read more than the value.
//
// Leaving the loop reads nothing. The next call on the Decoder first skips the rest of the
// Dictionary and returns any error there.
func (d *Decoder) Fields() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		l := loop{d: d}
		l.fields(yield)
	}
}

// Elements reads the next value, an Array or packed array, and iterates over the indices
// of its elements. The loop's body reads the element: a number, vector or color of a packed
// array with [ReadPacked], into a slice of length 1. The rules of [Decoder.Fields] apply. A packed
// array of more elements than an int of 32 bits can count is [ErrRange] on machines with such ints.
func (d *Decoder) Elements() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		l := loop{d: d}
		l.elements(yield)
	}
}

// Pairs reads the next value, a Dictionary, and iterates over the indices of its pairs.
// The loop's body reads the key, of any type, and the value. The rules of
// [Decoder.Fields] apply; Pairs skips any part of the key and the value that the body did
// not read.
func (d *Decoder) Pairs() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		l := loop{d: d}
		l.pairs(yield)
	}
}

// A loop is the state of an active Fields, Elements or Pairs loop.
type loop struct {
	d      *Decoder
	origin uint64 // d.origin at its start, to detect a Reset
	depth  int    // of the container
	keys   int    // the number of bytes in cold.keys used by outer loops; after them, Fields copies its keys
	done   bool   // the rest is not to be skipped: its End was read, or an error ended the loop

	// remaining and keyPos of the frame around the container. They identify the container:
	// keyPos is the position of a container or key, and never repeats; remaining tells its
	// values apart.
	remaining, keyPos uint64

	short *[8]byte // of Fields: the bytes of cold.keys for a short key; a longer one follows them
}

// start begins the loop over the container opened by the latest call on the Decoder.
func (l *loop) start() {
	d := l.d
	around := &d.stack[d.depth-1]
	l.origin, l.depth, l.keys, l.remaining, l.keyPos = d.origin, d.depth, len(d.getCold().keys), around.remaining, around.keyPos
}

// isOpen reports whether the container is still open. The body can have closed it and opened
// another of the same depth, but with another keyPos or remaining in the frame around.
func (l *loop) isOpen() bool {
	if l.d.depth < l.depth {
		return false
	}
	around := &l.d.stack[l.depth-1] // never the innermost frame
	return around.remaining == l.remaining && around.keyPos == l.keyPos
}

// exit makes the next call on the Decoder skip the rest of the container, but reads nothing
// itself: a program leaving a loop because of a bad field must not wait for a slow sender.
func (l *loop) exit() {
	d := l.d
	if d.origin != l.origin { // Reset or Release have discarded the container, and the keys
		return
	}
	d.cold.keys = d.cold.keys[:l.keys]
	if !l.done && l.isOpen() && (d.abandoned == 0 || int(d.abandoned) > l.depth) { // iter.Pull can end the outer loop first
		d.abandon(l.depth)
		d.stopFast() // so that the next call comes to look
	}
}

// finished reports whether the body read exactly its values, so that this number of values
// remain. keyPos is d.keyPos before the body, different in every other container, so the depth
// need not be compared. A DictKey is not counted, so only marked shows whether the body read the
// next one.
func (l *loop) finished(remaining, keyPos uint64) bool {
	d := l.d
	return d.remaining == remaining && d.keyPos == keyPos && d.marked != d.remaining && d.err == nil && d.abandoned == 0
}

// skipUnread skips those of its values that the body did not read, until this number of values
// remain.
func (l *loop) skipUnread(remaining uint64) error {
	d := l.d
	if d.err != nil { // ignored by the body
		return d.earlier()
	}
	if !l.isOpen() || d.abandoned > 0 && int(d.abandoned) <= l.depth { // or iter.Pull ended the loop around
		return l.readPast()
	}
	// The body left a part of its own value open. A container opened after the value is not closed:
	// the body has read too much.
	if d.depth > l.depth && d.stack[l.depth].remaining >= remaining {
		if err := d.SkipTo(l.depth); err != nil {
			return err
		}
	}
	// The body did not read the value, or neither the key nor the value of Pairs.
	for d.depth == l.depth && d.remaining > remaining {
		if err := l.skip(); err != nil {
			return err
		}
	}
	if d.depth > l.depth || d.remaining != remaining || d.atKey() && d.marked == remaining {
		return l.readPast()
	}
	return nil
}

// skip skips a value or an element of packed data. SkipValue would skip all of the packed data.
func (l *loop) skip() error {
	if l.d.want() != wantChunk {
		return l.d.SkipValue()
	}
	ahead, err := l.d.look()
	if err == nil {
		ahead.takeChunk(1)
		err = l.d.failure()
	}
	return err
}

func (l *loop) readPast() error {
	return l.d.errorAt(0, wrapf(ErrCount, "the loop's body has read past its value"))
}

// end returns err, or reads the End of the container. After an error the loop skips nothing, so
// that the caller can repeat the interrupted step, or leave the container with SkipTo.
func (l *loop) end(err error) error {
	l.done = true
	if err == nil {
		err = l.d.ReadEnd()
	}
	return err
}

// fields is the iterator of Fields, apart so that Fields is inlined.
func (l *loop) fields(yield func([]byte, error) bool) {
	d := l.d
	n, err := d.ReadDict()
	if err != nil {
		yield(nil, err)
		return
	}
	l.start()
	d.cold.keys = le.AppendUint64(d.cold.keys, 0) // after the keys of outer loops
	l.short = (*[8]byte)(d.cold.keys[l.keys:])
	defer l.exit()
	for remaining := 2*uint64(n) - 2; n > 0 && err == nil; n, remaining = n-1, remaining-2 {
		var key []byte
		var ok bool
		if key, ok, err = l.nextKey(); ok {
			keyPos := d.keyPos
			if !yield(key, nil) || d.origin != l.origin { // left, or the body called Reset
				return
			}
			if !l.finished(remaining, keyPos) {
				err = l.skipUnread(remaining)
			}
		}
	}
	if err := l.end(err); err != nil {
		yield(nil, err)
	}
}

// elements is the iterator of Elements.
func (l *loop) elements(yield func(int, error) bool) {
	d := l.d
	if form, b := d.fastForm(); form != nil && (form.shape == shapeArray || form.shape == shapePackedStrings) {
		if n := le.Uint32(b[4:]); d.openFast(form, n) {
			l.each(int(n), nil, 1, yield)
			return
		}
	}
	t, err := d.readElements()
	l.each(int(t.Len()), err, 1, yield)
}

// readElements reads the start of an Array or packed array.
func (d *Decoder) readElements() (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	l.expect(TypeArray, func(f *form) bool { return f.typ == TypeArray || f.kind == KindPackedStart })
	l.checkIndices()
	return d.result(l.value())
}

// checkIndices checks, after expect, that an int can count the numbers of a packed array. An int of
// 32 bits cannot count more than 2^31 - 1. The checks of value come first, and so do its errors.
func (l *lookahead) checkIndices() {
	if math.MaxInt >= math.MaxUint32 || l.failed() || l.form.shape != shapePacked {
		return
	}
	l.checkHeader()
	length := *l // a copy, so that value finds the count unread
	n := uint64(length.uint32())
	if length.checkBytes(limitPacked, l.at, n*uint64(l.form.size)); n > math.MaxInt && !l.failed() {
		l.misfit(l.at, wrapf(ErrRange, "%d elements do not fit int", n))
	}
}

// pairs is the iterator of Pairs.
func (l *loop) pairs(yield func(int, error) bool) {
	n, err := l.d.ReadDict()
	l.each(n, err, 2, yield)
}

// each iterates over n elements, or pairs, of the container opened by the latest call, unless
// this call returned err. values is the number of values for the loop's body.
func (l *loop) each(n int, err error, values uint64, yield func(int, error) bool) {
	if err != nil {
		yield(0, err)
		return
	}
	d := l.d
	l.start()
	defer l.exit()
	keyPos, packed := d.keyPos, d.want() == wantChunk
	for i := 0; i < n && err == nil; i++ {
		if packed {
			d.payload.setElements(d.mark, d.top().units())
			d.drop()
		}
		if !yield(i, nil) || d.origin != l.origin {
			return
		}
		if remaining := values * uint64(n-i-1); !l.finished(remaining, keyPos) {
			err = l.skipUnread(remaining)
		}
	}
	if err := l.end(err); err != nil {
		yield(0, err)
	}
}

// nextKey reads the next key and returns a copy, because the body may read more into the buffer
// while using the key. If the key is not a string or is too long, nextKey skips the pair and
// returns false. The switch, as in ReadText, is -34 % of Fields.
func (l *loop) nextKey() (key []byte, ok bool, err error) {
	d, short := l.d, l.short
	if d.hasFast(d.remaining) && d.bounds[limitName] >= 8 {
		b := d.peekFast()
		switch m := le.Uint32(b[4:]) - 1; {
		case le.Uint32(b[:]) != stringHeader:
		case m < 4 && le.Uint32(b[8:])&(wire.NotASCII>>32) == 0:
			*short = [8]byte(b[8:]) // with the bytes after the text, cut off again
			return short[: m+1 : m+1], true, d.consumeValue(12)
		case m < 8 && le.Uint64(b[8:])&wire.NotASCII == 0:
			*short = [8]byte(b[8:])
			return short[: m+1 : m+1], true, d.consumeValue(16)
		}
	}
	text := d.fastText()
	if text == nil {
		return l.slowKey()
	}
	if int64(len(text)) > d.bounds[limitName] {
		return nil, false, d.SkipValue() // the value; fastText consumed the key
	}
	return l.keepKey(append(d.cold.keys[:l.keys+len(short)], text...)), true, nil
}

// keepKey sets cold.keys and returns the longer key at its end.
func (l *loop) keepKey(keys []byte) []byte {
	l.d.cold.keys = keys
	return keys[l.keys+len(l.short) : len(keys) : len(keys)] // an append to the key must not write to cold.keys
}

// slowKey reads the next key for nextKey, on the slow path, without its unencoded DictKey. The
// first token holds the length of the whole text, so the text of a key that is too long is
// skipped and not kept.
func (l *loop) slowKey() (key []byte, ok bool, err error) {
	d := l.d
	ahead, err := d.look()
	if err != nil {
		return nil, false, err
	}
	t, err := d.result(ahead.value())
	if err != nil {
		return nil, false, err
	}
	if ahead.form.shape != shapeText || t.Len() > d.bounds[limitName] {
		if err := d.SkipTo(l.depth); err != nil {
			return nil, false, err
		}
		return nil, false, d.SkipValue()
	}
	keys := d.cold.keys[:l.keys+len(l.short)]
	if d.want() != wantText { // all of the text is in the token
		keys = append(keys, t.Bytes()...)
		d.drop() // no bulk read of the loop's body may continue the key
	} else { // MaxChunk is less than Limits.NameBytes
		b := bulk{d}
		b.start()
		if keys, err = b.appendText(keys); err == nil {
			b.end()
		}
	}
	return l.keepKey(keys), err == nil, err
}
