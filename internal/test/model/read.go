package model

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
)

// Read reads the next value of d, token by token.
func Read(d *gdwire.Decoder) (Value, error) { return (&Reader{D: d}).value() }

// ReadBulk reads the next value of d by the calls that read whole strings and
// arrays.
func ReadBulk(d *gdwire.Decoder) (Value, error) { return (&Reader{d, true}).value() }

// A Reader builds values. It repeats calls after temporary errors.
type Reader struct {
	D    *gdwire.Decoder
	bulk bool
}

func (r *Reader) token() (t gdwire.Token, err error) {
	err = Again(func() error {
		t, err = r.D.ReadToken()
		return err
	})
	return t, err
}

// Again repeats f after temporary errors.
func Again(f func() error) error {
	for {
		if err := f(); err != fuzz.ErrTemporary {
			return err
		}
	}
}

func (r *Reader) value() (Value, error) {
	t, err := r.token()
	if err != nil {
		return Value{}, err
	}
	v := Value{Type: t.Type().String()}
	switch k := t.Kind(); k {
	case gdwire.KindNil, gdwire.KindCallable:
	case gdwire.KindBool:
		if t.Bool() {
			v.Bits = 1
		}
	case gdwire.KindInt32, gdwire.KindInt64:
		v.Bits, v.Wide = uint64(t.Int()), k == gdwire.KindInt64
	case gdwire.KindFloat32:
		v.Bits = FloatBits(t)
	case gdwire.KindFloat64:
		v.Bits, v.Wide = math.Float64bits(t.Float()), true
	case gdwire.KindRID:
		v.Bits = t.ID()
	case gdwire.KindObjectID:
		v.Type, v.Bits = "ObjectID", t.ID()
	case gdwire.KindSignal:
		v.Text, v.Bits = t.Text(), t.ID()
	case gdwire.KindInputEvent:
		event, device := t.Event()
		v.Numbers, v.Data = []uint64{uint64(event), uint64(device)}, bytes.Clone(t.Bytes())
	case gdwire.KindStringChunk:
		v.Text, err = r.Joined(t)
	case gdwire.KindNodePathStart:
		err = r.path(&v, t)
	case gdwire.KindObjectStart:
		v.Text = t.Text()
		for range t.Len() {
			if t, err = r.expect(gdwire.KindProperty); err != nil {
				return v, err
			}
			v.Names = append(v.Names, t.Text())
			if err = r.item(&v); err != nil {
				return v, err
			}
		}
		_, err = r.expect(gdwire.KindEnd)
	case gdwire.KindDictStart:
		v.Key, v.Elem = declaredBy(t.KeyElem()), declaredBy(t.Elem())
		for range t.Len() {
			if _, err = r.expect(gdwire.KindDictKey); err != nil {
				return v, err
			}
			for range 2 {
				if err = r.item(&v); err != nil {
					return v, err
				}
			}
		}
		_, err = r.expect(gdwire.KindEnd)
	case gdwire.KindArrayStart:
		v.Elem = declaredBy(t.Elem())
		for range t.Len() {
			if err = r.item(&v); err != nil {
				return v, err
			}
		}
		_, err = r.expect(gdwire.KindEnd)
	case gdwire.KindPackedStart:
		err = r.packed(&v, t)
	case gdwire.KindImageStart:
		format, mipmaps, width, height := t.Image()
		v.Numbers = []uint64{uint64(format), uint64(mipmaps), uint64(width), uint64(height)}
		v.Data, err = r.chunks(t.Len())
	default:
		if t.Components() == 0 {
			return v, fmt.Errorf("%v where a value starts", t)
		}
		v.Wide = t.Width() == 64
		v.Numbers = Numbers(v.Type, t.Bytes(), v.Wide)
	}
	return v, err
}

func (r *Reader) item(v *Value) error {
	item, err := r.value()
	v.Items = append(v.Items, item)
	return err
}

func (r *Reader) path(v *Value, t gdwire.Token) error {
	names, subnames, absolute := t.NodePath()
	if t.Len() != names+subnames {
		return fmt.Errorf("%v has %d names", t, t.Len())
	}
	v.Absolute = absolute
	all, err := r.strings(names + subnames)
	if err != nil {
		return err
	}
	v.Names, v.Subnames = append([]string(nil), all[:names]...), append([]string(nil), all[names:]...)
	return nil
}

func (r *Reader) packed(v *Value, t gdwire.Token) (err error) {
	n := t.Len()
	v.Wide = t.Width() == 64
	switch {
	case v.Type == "PackedStringArray":
		v.Names, err = r.strings(n)
	case v.Type == "PackedByteArray":
		v.Data, err = r.chunks(n)
	case r.bulk && isInts(v.Type):
		v.Numbers, err = appendBits(r.D, func(x int64) uint64 { return uint64(x) })
	case r.bulk && v.Type == "PackedFloat64Array":
		v.Numbers, err = appendBits(r.D, math.Float64bits)
	default:
		var data []byte
		data, err = r.chunks(n)
		v.Numbers = Numbers(v.Type, data, v.Wide)
	}
	return err
}

// strings reads n strings and the End after them.
func (r *Reader) strings(n int64) (all []string, err error) {
	for range n {
		t, err := r.expect(gdwire.KindStringChunk)
		if err != nil {
			return all, err
		}
		s, err := r.Joined(t)
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	_, err = r.expect(gdwire.KindEnd)
	return all, err
}

// Joined reads the rest of the string that starts with t.
func (r *Reader) Joined(t gdwire.Token) (s string, err error) {
	if r.bulk {
		var text []byte
		err = Again(func() error {
			text, err = r.D.AppendString(text)
			return err
		})
		return string(text), err
	}
	text := bytes.Clone(t.Bytes())
	for !t.Last() {
		if t, err = r.expect(gdwire.KindStringChunk); err != nil {
			return "", err
		}
		text = append(text, t.Bytes()...)
	}
	return string(text), nil
}

// chunks reads n elements and the End after them.
func (r *Reader) chunks(n int64) (data []byte, err error) {
	if r.bulk {
		p := r.D.Payload()
		var b [30]byte
		for err != io.EOF {
			var m int
			m, err = p.Read(b[:1+len(data)%len(b)])
			data = append(data, b[:m]...)
			if err != nil && err != fuzz.ErrTemporary && err != io.EOF {
				return data, err
			}
		}
		return data, nil
	}
	for n > 0 {
		t, err := r.expect(gdwire.KindChunk)
		if err != nil {
			return data, err
		}
		data = append(data, t.Bytes()...)
		n -= t.Len()
	}
	_, err = r.expect(gdwire.KindEnd)
	return data, err
}

func (r *Reader) expect(k gdwire.Kind) (gdwire.Token, error) {
	t, err := r.token()
	if err == nil && t.Kind() != k {
		err = fmt.Errorf("%v where %v should be", t, k)
	}
	return t, err
}

// appendBits reads all elements of a packed array.
func appendBits[T gdwire.Packable](d *gdwire.Decoder, bits func(T) uint64) (all []uint64, err error) {
	var elements []T
	err = Again(func() error {
		elements, err = gdwire.AppendPacked(d, elements)
		return err
	})
	for _, x := range elements {
		all = append(all, bits(x))
	}
	return all, err
}

func declaredBy(e gdwire.Elem) Declared {
	switch {
	case e.Script != "":
		return Declared{3, e.Script}
	case e.Class != "":
		return Declared{2, e.Class}
	case e.Type != 0:
		return Declared{1, e.Type.String()}
	}
	return Declared{}
}

func (d Declared) elem() gdwire.Elem {
	switch d.Kind {
	case 3:
		return gdwire.Elem{Type: gdwire.TypeObject, Script: d.Name}
	case 2:
		return gdwire.Elem{Type: gdwire.TypeObject, Class: d.Name}
	case 1:
		return gdwire.Elem{Type: TypeByName[d.Name]}
	}
	return gdwire.Elem{}
}
