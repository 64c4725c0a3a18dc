package tagged

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/gdwire/gdwire"
)

// A Reader builds values.
type Reader struct {
	*gdwire.Decoder
	Bulk      bool  // by the calls for whole strings and arrays
	Temporary error // calls are repeated after this error
}

// Value reads the next value, token by token unless Bulk is set.
func (r *Reader) Value() (v Value, err error) {
	err = try(func() { v = r.value() })
	return v, err
}

// A failure is a panic recovered by try.
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func checked[T any](v T, err error) T {
	check(err)
	return v
}

// try runs f, and returns the error of check, if any.
func try(f func()) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case failure:
			err = x.error
		default:
			panic(x)
		}
	}()
	f()
	return nil
}

func (r *Reader) token() (t gdwire.Token) {
	r.repeat(func() (err error) {
		t, err = r.ReadToken()
		return err
	})
	return t
}

// repeat calls f again after temporary errors.
func (r *Reader) repeat(f func() error) {
	err := f()
	for err != nil && err == r.Temporary {
		err = f()
	}
	check(err)
}

func (r *Reader) value() Value {
	t := r.token()
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
		v.Text = r.joined(t)
	case gdwire.KindNodePathStart:
		r.path(&v, t)
	case gdwire.KindObjectStart:
		v.Text = t.Text()
		for range t.Len() {
			v.Names = append(v.Names, r.expect(gdwire.KindProperty).Text())
			v.Items = append(v.Items, r.value())
		}
		r.expect(gdwire.KindEnd)
	case gdwire.KindDictStart:
		v.Key, v.Elem = declaredBy(t.KeyElem()), declaredBy(t.Elem())
		for range t.Len() {
			r.expect(gdwire.KindDictKey)
			key := r.value()
			v.Items = append(v.Items, key, r.value())
		}
		r.expect(gdwire.KindEnd)
	case gdwire.KindArrayStart:
		v.Elem = declaredBy(t.Elem())
		for range t.Len() {
			v.Items = append(v.Items, r.value())
		}
		r.expect(gdwire.KindEnd)
	case gdwire.KindPackedStart:
		r.packed(&v, t)
	case gdwire.KindImageStart:
		format, mipmaps, width, height := t.Image()
		v.Numbers = []uint64{uint64(format), uint64(mipmaps), uint64(width), uint64(height)}
		v.Data = r.chunks(t.Len())
	default:
		if t.Components() == 0 {
			check(fmt.Errorf("%v where a value starts", t))
		}
		v.Wide = t.Width() == 64
		v.Numbers = Numbers(v.Type, t.Bytes(), v.Wide)
	}
	return v
}

func (r *Reader) path(v *Value, t gdwire.Token) {
	names, subnames, absolute := t.NodePath()
	if t.Len() != names+subnames {
		check(fmt.Errorf("%v has %d names", t, t.Len()))
	}
	v.Absolute = absolute
	all := r.strings(names + subnames)
	v.Names, v.Subnames = append([]string(nil), all[:names]...), append([]string(nil), all[names:]...)
}

func (r *Reader) packed(v *Value, t gdwire.Token) {
	n := t.Len()
	v.Wide = t.Width() == 64
	switch {
	case v.Type == "PackedStringArray":
		v.Names = r.strings(n)
	case v.Type == "PackedByteArray":
		v.Data = r.chunks(n)
	case r.Bulk && isInts(v.Type):
		v.Numbers = appendBits(r, func(x int64) uint64 { return uint64(x) })
	case r.Bulk && v.Type == "PackedFloat64Array":
		v.Numbers = appendBits(r, math.Float64bits)
	default:
		v.Numbers = Numbers(v.Type, r.chunks(n), v.Wide)
	}
}

// strings reads n strings and the End after them.
func (r *Reader) strings(n int64) (all []string) {
	for range n {
		all = append(all, r.joined(r.expect(gdwire.KindStringChunk)))
	}
	r.expect(gdwire.KindEnd)
	return all
}

// Joined reads the rest of the string starting with t.
func (r *Reader) Joined(t gdwire.Token) (s string, err error) {
	err = try(func() { s = r.joined(t) })
	return s, err
}

func (r *Reader) joined(t gdwire.Token) string {
	var text []byte
	if r.Bulk {
		r.repeat(func() (err error) {
			text, err = r.AppendString(text)
			return err
		})
		return string(text)
	}
	text = bytes.Clone(t.Bytes())
	for !t.Last() {
		t = r.expect(gdwire.KindStringChunk)
		text = append(text, t.Bytes()...)
	}
	return string(text)
}

// chunks reads n elements and the End after them.
func (r *Reader) chunks(n int64) (data []byte) {
	if r.Bulk {
		p := r.Payload()
		var b [30]byte
		for {
			m, err := p.Read(b[:1+len(data)%len(b)])
			data = append(data, b[:m]...)
			if err == io.EOF {
				return data
			}
			if err != r.Temporary {
				check(err)
			}
		}
	}
	for n > 0 {
		t := r.expect(gdwire.KindChunk)
		data = append(data, t.Bytes()...)
		n -= t.Len()
	}
	r.expect(gdwire.KindEnd)
	return data
}

func (r *Reader) expect(k gdwire.Kind) gdwire.Token {
	t := r.token()
	if t.Kind() != k {
		check(fmt.Errorf("%v where %v should be", t, k))
	}
	return t
}

// appendBits reads all elements of a packed array.
func appendBits[T gdwire.Packable](r *Reader, bits func(T) uint64) []uint64 {
	var elements []T
	r.repeat(func() (err error) {
		elements, err = gdwire.AppendPacked(r.Decoder, elements)
		return err
	})
	if len(elements) == 0 {
		return nil
	}
	return AsNumbers(elements, bits)
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
