package gdwire

import (
	"io"
	"math"
	"slices"
)

// Integer is the set of Go's integer types, for [ReadInteger].
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// ReadNil reads a nil.
func (d *Decoder) ReadNil() error {
	_, err := d.readType(TypeNil)
	return err
}

// ReadBool reads a bool.
func (d *Decoder) ReadBool() (bool, error) {
	t, err := d.readType(TypeBool)
	return t.Bool(), err
}

// ReadInt reads an int, or a float without a fraction. A float that int64 does
// not hold exactly is [ErrRange].
func (d *Decoder) ReadInt() (int64, error) {
	t, err := d.readNumber("int", func(t Token) bool {
		if t.Type() == TypeInt {
			return true
		}
		x := t.Float()
		return x == math.Trunc(x) && x >= -1<<63 && x < 1<<63
	})
	return t.Int(), err
}

// ReadInteger reads an int, or a float without a fraction, as a T. A number that
// T does not hold is [ErrRange].
func ReadInteger[T Integer](d *Decoder) (T, error) {
	t, err := d.readNumber("integer", func(t Token) bool {
		if t.Type() == TypeFloat {
			x := t.Float()
			if x != math.Trunc(x) || x < -1<<63 || x >= 1<<63 {
				return false
			}
		}
		x := t.Int()
		return int64(T(x)) == x && (T(x) < 0) == (x < 0)
	})
	return T(t.Int()), err
}

// ReadFloat reads a float, or an int that float64 holds exactly. Another int is
// [ErrRange].
func (d *Decoder) ReadFloat() (float64, error) {
	t, err := d.readNumber("float", func(t Token) bool {
		x := t.Float()
		return t.Type() == TypeFloat || x < 1<<63 && int64(x) == t.Int()
	})
	return t.Float(), err
}

// ReadString reads a String, a StringName, or the next string of a
// PackedStringArray or NodePath. Called again after a temporary error, it goes
// on with the text that has arrived.
func (d *Decoder) ReadString() (string, error) {
	if !d.resumes(KindStringChunk) {
		if err := d.beginString(TypeString, TypeStringName); err != nil {
			return "", err
		}
	}
	return d.finishString()
}

// ReadNodePath reads a NodePath and returns it as engines write it, such as
// "/root/Player:position". Called again after a temporary error, it goes on.
func (d *Decoder) ReadNodePath() (string, error) {
	if !d.resumes(KindNodePathStart) {
		if _, err := d.readType(TypeNodePath); err != nil {
			return "", err
		}
	}
	return d.finishString()
}

// resumes reports whether the latest call was a ReadString or ReadNodePath that
// a read error interrupted after it had read a token of that kind.
func (d *Decoder) resumes(k Kind) bool {
	return d.leave == 0 && d.live == 0 && d.bulk.kind == k && !d.bulk.done && d.bulk.mark == d.partialAt
}

// finishString returns the text of the token just read and of all that belong to
// it.
func (d *Decoder) finishString() (string, error) {
	d.beginBulk()
	var err error
	if d.partialAt != d.bulk.mark {
		d.partial, d.partialAt = nil, d.bulk.mark
	}
	if d.partial, err = d.appendText(d.partial); err != nil {
		return "", err
	}
	s := string(d.partial)
	d.partial, d.partialAt = nil, 0
	return s, nil
}

// beginString reads the first token of a value of one of these types, or a string
// where only strings come.
func (d *Decoder) beginString(types ...Type) error {
	if err := d.startRead(); err != nil {
		return err
	}
	if d.top.want == wantName {
		_, err := d.next()
		return err
	}
	_, err := d.readType(types...)
	return err
}

// ReadReals reads a math type of floats into c, which has as many elements as the
// type has components, in wire order: a Basis by rows.
func (d *Decoder) ReadReals(t Type, c []float64) error {
	if err := d.checkMath(t, len(c), unitFloat32); err != nil {
		return err
	}
	tok, err := d.readType(t)
	if err == nil {
		tok.AppendReals(c[:0])
	}
	return err
}

// ReadInts reads a Vector2i, Vector3i, Vector4i or Rect2i into c, which has as
// many elements as the type has components.
func (d *Decoder) ReadInts(t Type, c []int32) error {
	if err := d.checkMath(t, len(c), unitInt32); err != nil {
		return err
	}
	tok, err := d.readType(t)
	if err == nil {
		b := tok.Bytes()
		for i := range c {
			c[i] = int32(le.Uint32(b[4*i:]))
		}
	}
	return err
}

// checkMath checks that t is a math type of n components whose unit is u or
// wider.
func (d *Decoder) checkMath(t Type, n int, u unit) error {
	if err := d.startRead(); err != nil {
		return err
	}
	if t == 0 || t >= numTypes || !layouts[t].maths() || layouts[t].units[0] != u {
		return d.reject(because(ErrType, "%v has no such components", t))
	}
	if n != int(layouts[t].n) {
		return d.reject(because(ErrCount, "%d components, %v has %d", n, t, layouts[t].n))
	}
	return nil
}

// ReadRID reads an RID and returns its id, 0 in formats that have none.
func (d *Decoder) ReadRID() (uint64, error) {
	t, err := d.readType(TypeRID)
	return t.ID(), err
}

// ReadObjectID reads an object that is written as its instance id, and returns
// that; 0 is null. A serialized object is [ErrType].
func (d *Decoder) ReadObjectID() (uint64, error) {
	form, err := d.peekForm()
	if err != nil {
		return 0, err
	}
	if form.kind != KindObjectID {
		return 0, d.mismatch(form, "object id")
	}
	t, err := d.nextValue()
	return t.ID(), err
}

// ReadSignal reads a Signal and returns its name and the id of its object.
func (d *Decoder) ReadSignal() (name string, object uint64, err error) {
	t, err := d.readType(TypeSignal)
	return t.Text(), t.ID(), err
}

// ReadCallable reads a Callable, which is always empty.
func (d *Decoder) ReadCallable() error {
	_, err := d.readType(TypeCallable)
	return err
}

// ReadArray reads the start of an Array, typed or not, and returns the number of
// its elements. They follow, then ReadEnd.
func (d *Decoder) ReadArray() (n int, err error) {
	t, err := d.readType(TypeArray)
	return int(t.Len()), err
}

// ReadDict reads the start of a Dictionary, typed or not, and returns the number
// of its pairs. For each follow the key and the value, then ReadEnd.
func (d *Decoder) ReadDict() (n int, err error) {
	t, err := d.readType(TypeDictionary)
	return int(t.Len()), err
}

// ReadEnd reads the End of the innermost open container. Before its last element
// it is [ErrCount].
func (d *Decoder) ReadEnd() error {
	if err := d.startRead(); err != nil {
		return err
	}
	switch f := d.top; {
	case f.want == wantEnd:
		_, err := d.next()
		return err
	case f.kind == 0:
		return d.reject(because(ErrOpen, "ReadEnd and nothing is open"))
	default:
		return d.reject(because(ErrCount, "ReadEnd after %d of %d", f.count-f.left, f.count))
	}
}

// startRead starts a typed read: it skips what a loop has left and returns an error
// that was kept.
func (d *Decoder) startRead() error {
	d.skip = 0
	if err := d.leaveLoop(); err != nil {
		return err
	}
	return d.ready()
}

// peekForm returns the form of the next value, of which it reads the header and
// consumes nothing.
func (d *Decoder) peekForm() (*form, error) {
	if err := d.startRead(); err != nil {
		return nil, err
	}
	d.live, d.bulk.kind = 0, 0
	switch f := d.top; f.want {
	case wantTop, wantElem, wantKey, wantValue, wantField, wantDictKey:
	case wantEnd:
		return nil, d.reject(because(ErrCount, "more values than the %d of the %v", f.count, f.typ))
	case wantProperty:
		return nil, d.reject(because(ErrType, "the next token is a property's name"))
	default:
		return nil, d.reject(because(ErrType, "the next token is part of a %v", f.typ))
	}
	if err := d.beginValue(); err != nil {
		return nil, err
	}
	b, err := d.need(4)
	if err != nil {
		return nil, err
	}
	h := le.Uint32(b)
	row, err := d.row(h)
	if err != nil {
		return nil, err
	}
	return &row[h>>16&1], nil
}

// readType reads the first token of the next value, which must be of one of these
// types.
func (d *Decoder) readType(types ...Type) (Token, error) {
	form, err := d.peekForm()
	if err != nil {
		return Token{}, err
	}
	for _, t := range types {
		if form.typ == t {
			return d.nextValue()
		}
	}
	return Token{}, d.mismatch(form, types[0])
}

// readNumber reads an int or float that fits.
func (d *Decoder) readNumber(want string, fits func(Token) bool) (Token, error) {
	form, err := d.peekForm()
	if err != nil {
		return Token{}, err
	}
	if form.typ != TypeInt && form.typ != TypeFloat {
		return Token{}, d.mismatch(form, want)
	}
	b, err := d.need(4 + int(form.size))
	if err != nil {
		return Token{}, err
	}
	var word [8]byte
	copy(word[:], b[4:4+form.size])
	t := Token{head: form.head, bits: le.Uint64(word[:])}
	if !fits(t) {
		return Token{}, d.reject(because(ErrRange, "%v as %s", t, want))
	}
	return d.nextValue()
}

// nextValue is next for a value whose DictKey was not read.
func (d *Decoder) nextValue() (Token, error) {
	f := d.top
	if f.want != wantDictKey {
		return d.next()
	}
	mark, at := f.mark, d.at
	f.want, f.mark = wantKey, d.pos()
	t, err := d.next()
	if err != nil && d.err == nil { // nothing has been read
		f = d.top
		f.want, f.mark, d.at = wantDictKey, mark, at
	}
	return t, err
}

// mismatch is the error of a typed read of want where form is next.
func (d *Decoder) mismatch(form *form, want any) error {
	return d.reject(because(ErrType, "%v, want %v", form.typ, want))
}

// reject returns an Error about the next token. It does not stay, and nothing has
// been consumed.
func (d *Decoder) reject(err error) error {
	return &Error{
		Offset: int64(d.pos() - d.origin),
		Path:   string(d.appendPath(nil, true, d.keyText)),
		Err:    err,
	}
}

// startPayload reads the token that an AppendString or AppendPacked begins with,
// unless the latest token is one: a value of a form that fits.
func (d *Decoder) startPayload(call string, fits func(*form) error, kinds ...Kind) error {
	if err := d.leaveLoop(); err != nil {
		return err
	}
	d.beginBulk()
	if slices.Contains(kinds, d.bulk.kind) && !d.bulk.done {
		return nil
	}
	if err := d.startRead(); err != nil {
		return err
	}
	switch d.top.want {
	case wantText, wantChunk:
		return d.noPayload(call)
	case wantName:
		if err := fits(&stringForm); err != nil {
			return err
		}
	default:
		form, err := d.peekForm()
		if err != nil {
			return err
		}
		if err := fits(form); err != nil {
			return err
		}
	}
	if _, err := d.nextValue(); err != nil {
		return err
	}
	d.beginBulk()
	return nil
}

// stringForm stands for the strings of a path or packed array, which have no header.
var stringForm = form{typ: TypeString}

// noMore is io.EOF as the bulk reads return it where a payload ends.
func noMore(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
