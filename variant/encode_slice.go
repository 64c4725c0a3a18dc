package variant

import (
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// A packedType describes the elements of a packed array.
type packedType struct {
	typ  gdwire.Type
	elem gdwire.Type
	n    int          // components of an element
	leaf reflect.Kind // of a component, or String
}

// packedTypes contains all packed arrays. Floats can have either width in Go.
var packedTypes = func() map[gdwire.Type]packedType {
	all := map[gdwire.Type]packedType{}
	for _, t := range gdwire.Types() {
		elem := t.Element()
		if n, _ := elem.Components(); n > 0 {
			all[t] = packedType{t, elem, n, reflect.Float64}
		} else if elem != 0 {
			all[t] = packedType{t, elem, 1, leafKinds[elem][t.ElementWidth()]}
		}
	}
	return all
}()

// leafKinds contains the Go kinds of elements other than vectors, by their type and width in bits.
var leafKinds = map[gdwire.Type]map[int]reflect.Kind{
	gdwire.TypeInt:    {8: reflect.Uint8, 32: reflect.Int32, 64: reflect.Int64},
	gdwire.TypeFloat:  {32: reflect.Float32, 64: reflect.Float64},
	gdwire.TypeString: {0: reflect.String},
}

// packedOf returns the packed array for a slice of t without type= in its tag, and false
// if there is none.
func packedOf(t reflect.Type) (p packedType, ok bool) {
	if own := ownTypes[t]; own != nil {
		for _, p := range packedTypes {
			if p.elem == own.typ {
				return p, true
			}
		}
		return p, false
	}
	n, leaf := 1, t.Kind()
	if hasMethods(t) || leaf == reflect.Array && hasMethods(t.Elem()) {
		return p, false
	}
	if leaf == reflect.Array {
		n, leaf = t.Len(), t.Elem().Kind()
		if n < 2 || n > 4 || leaf != reflect.Float32 && leaf != reflect.Float64 {
			return p, false
		}
		leaf = reflect.Float64
	}
	for _, p := range packedTypes {
		if p.n == n && p.leaf == leaf && p.typ != gdwire.TypePackedColorArray {
			return p, true
		}
	}
	return p, false
}

// makeArrayEncoder returns the function encoding the type of key, a Go array, as the math type with these
// components. Without such a type, or with type=Array in key, the array is encoded like a slice.
func (b encodePlanner) makeArrayEncoder(key planKey) (encodeFunc, error) {
	t := key.typ
	if m, ok := componentsOf(t); ok && key.wire == 0 {
		switch all := mathTypesOf(m); {
		case len(all) == 1:
			return makeMathEncoder(m, all[0]), nil
		case len(all) > 1:
			return nil, fmt.Errorf("%v can be %v: it needs a tag such as type=%v", t, all, all[0])
		}
	}
	return b.makeSliceEncoder(key)
}

// makeSliceEncoder returns the function encoding the type of key, a slice or array, as the packed array for the
// elements. Without one, in Go or in the format, or with type=Array in key, the elements are encoded as an Array.
func (b encodePlanner) makeSliceEncoder(key planKey) (encodeFunc, error) {
	t := key.typ
	if p, ok := packedOf(t.Elem()); ok && key.wire == 0 {
		packed, err := b.makePackedEncoder(t, p)
		if err != nil {
			return nil, err
		}
		plain, plainErr := b.try(func() (encodeFunc, error) { return b.makeElementsEncoder(key) })
		return func(s *encoder, x variable) error {
			switch {
			case s.format.Has(p.typ):
				return packed(s, x)
			case plainErr != nil:
				return s.fail(t, plainErr)
			}
			return plain(s, x)
		}, nil
	}
	return b.makeElementsEncoder(key)
}

// makeElementsEncoder returns the function encoding the type of key, a slice or array, as an Array.
func (b encodePlanner) makeElementsEncoder(key planKey) (encodeFunc, error) {
	t := key.typ
	elem, err := b.plan(t.Elem(), 0)
	size := t.Elem().Size()
	b.pending[key].parts = elem
	return func(s *encoder, x variable) error {
		all, n := elementsOf(x, t)
		if err := s.e.BeginArray(n); err != nil {
			return err
		}
		if err := s.enter(t); err != nil {
			return err
		}
		for i := range n {
			if err := elem.do(s, elemAt(all, i, size)); err != nil {
				return err
			}
		}
		return s.leave()
	}, err
}

// makePackedEncoder returns the function encoding a t, a slice or array, as the packed array p.
func (b encodePlanner) makePackedEncoder(t reflect.Type, p packedType) (encodeFunc, error) {
	if hasMethods(t.Elem()) {
		return nil, tagError(t, p.typ)
	}
	if p.leaf == reflect.String {
		if t.Elem().Kind() != reflect.String {
			return nil, tagError(t, p.typ)
		}
		size := t.Elem().Size()
		return func(s *encoder, x variable) error {
			all, n := elementsOf(x, t)
			if err := s.e.BeginPacked(p.typ, int64(n)); err != nil {
				return err
			}
			for i := range n {
				if err := s.e.WriteString(textIn(elemAt(all, i, size))); err != nil {
					return err
				}
			}
			return s.e.End()
		}, nil
	}
	write := bulkWriter(t.Elem(), p)
	if write == nil {
		return nil, tagError(t, p.typ)
	}
	return reflected(t, func(s *encoder, v reflect.Value) error { return write(s, p.typ, v) }), nil
}

// elementsOf returns the elements of x, a slice or array of type t, for elemAt, and their
// number.
func elementsOf(x variable, t reflect.Type) (all variable, n int) {
	if t.Kind() == reflect.Array {
		return x, t.Len()
	}
	n, _ = lenCap(x)
	return sliceData(x), n
}

// bulkWriter returns a function writing a slice or array of elem as the packed array p, or nil if the elements
// do not fit.
func bulkWriter(elem reflect.Type, p packedType) func(*encoder, gdwire.Type, reflect.Value) error {
	m, ok := packedComponents(elem)
	switch {
	case p.leaf == reflect.Uint8 && elem.Kind() == reflect.Uint8:
		return writeBulk[byte]
	case (p.leaf == reflect.Int32 || p.leaf == reflect.Int64) && elem.Kind() == reflect.Int32:
		return writeBulk[int32]
	case p.leaf == reflect.Int64 && elem.Kind() == reflect.Int64:
		return writeBulk[int64]
	case p.leaf == reflect.Int64 || p.leaf == reflect.Int32 || p.leaf == reflect.Uint8:
		return integerWriter(elem, p)
	case !ok || m.n != p.n:
		return nil
	}
	single := m.leaf == reflect.Float32
	switch {
	case p.n == 1 && single:
		return writeBulk[float32]
	case p.n == 1:
		return writeBulk[float64]
	case p.n == 2 && single:
		return writeBulk[[2]float32]
	case p.n == 2:
		return writeBulk[[2]float64]
	case p.n == 3 && single:
		return writeBulk[[3]float32]
	case p.n == 3:
		return writeBulk[[3]float64]
	case single:
		return writeBulk[[4]float32]
	}
	return writeBulk[[4]float64]
}

// writeBulk writes v, in the memory layout of a []T, as a packed array of type t. Without package unsafe, the
// elements are copied by reflection, in batches.
func writeBulk[T gdwire.Packable](s *encoder, t gdwire.Type, v reflect.Value) error {
	all, ok := viewOf[T](v)
	if ok {
		u, _ := wire.UnitOf[T]()
		if data, ok := wire.AsBytes(all, true); ok && export.WritePacked(s.e, t, u, len(all), data) {
			return nil
		}
	}
	if err := s.e.BeginPacked(t, int64(v.Len())); err != nil {
		return err
	}
	if ok {
		if err := gdwire.WritePacked(s.e, all); err != nil {
			return err
		}
		return s.e.End()
	}
	m, _ := componentsOf(v.Type().Elem())
	var some [64]T
	for i, n := 0, v.Len(); i < n; {
		k := 0
		for ; k < len(some) && i < n; k, i = k+1, i+1 {
			setPackable(reflect.ValueOf(&some[k]).Elem(), v.Index(i), &m)
		}
		if err := gdwire.WritePacked(s.e, some[:k]); err != nil {
			return err
		}
	}
	return s.e.End()
}

// integerWriter returns a function writing integers of another kind than those of the packed
// array, or nil if elem is no integer. An integer out of range is an error.
func integerWriter(elem reflect.Type, p packedType) func(*encoder, gdwire.Type, reflect.Value) error {
	zero := reflect.Zero(elem)
	if !zero.CanInt() && !zero.CanUint() {
		return nil
	}
	bits := map[reflect.Kind]int{reflect.Uint8: 8, reflect.Int32: 32, reflect.Int64: 64}[p.leaf]
	return func(s *encoder, t gdwire.Type, v reflect.Value) error {
		if err := s.e.BeginPacked(t, int64(v.Len())); err != nil {
			return err
		}
		for i := range v.Len() {
			x, ok := int64Of(v.Index(i))
			if !ok || p.leaf != reflect.Uint8 && x<<(64-bits)>>(64-bits) != x || p.leaf == reflect.Uint8 && x != int64(byte(x)) {
				return s.fail(elem, gdwire.ErrRange)
			}
			var err error
			switch p.leaf {
			case reflect.Uint8:
				err = gdwire.WritePacked(s.e, []byte{byte(x)})
			case reflect.Int32:
				err = gdwire.WritePacked(s.e, []int32{int32(x)})
			default:
				err = gdwire.WritePacked(s.e, []int64{x})
			}
			if err != nil {
				return err
			}
		}
		return s.e.End()
	}
}

// int64Of returns an integer of any kind as int64 and reports whether the value fits.
func int64Of(v reflect.Value) (int64, bool) {
	if v.CanInt() {
		return v.Int(), true
	}
	return int64(v.Uint()), v.Uint() <= 1<<63-1
}

// makeMathEncoder returns the function encoding a Go type with components m as the math type typ.
func makeMathEncoder(m components, typ gdwire.Type) encodeFunc {
	encode := makeComponentsEncoder(m, typ)
	switch {
	case m.order != nil:
	case m.leaf == reflect.Float32:
		return makeFloatsEncoder[float32](m.n, typ, encode)
	case m.leaf == reflect.Float64:
		return makeFloatsEncoder[float64](m.n, typ, encode)
	}
	return encode
}

// makeFloatsEncoder returns the function of makeMathEncoder for n floats in encoded order, written
// without a copy, or by other in the portable build: -4 % of Marshal of structs. See
// makeScalarDecoder for noinline.
//
//go:noinline
func makeFloatsEncoder[T float32 | float64](n int, typ gdwire.Type, other encodeFunc) encodeFunc {
	return func(s *encoder, x variable) error {
		if numbers, ok := numbersIn[T](x, n); ok {
			return gdwire.WriteComponents(s.e, typ, numbers)
		}
		return other(s, x)
	}
}

// makeComponentsEncoder returns the function of makeMathEncoder for any components, by a copy.
func makeComponentsEncoder(m components, typ gdwire.Type) encodeFunc {
	return func(s *encoder, x variable) error {
		m.load(x, s.reals[:])
		if m.leaf != reflect.Int32 {
			return gdwire.WriteComponents(s.e, typ, s.reals[:m.n])
		}
		for i := range m.n {
			s.ints[i] = int32(s.reals[i])
		}
		return gdwire.WriteComponents(s.e, typ, s.ints[:m.n])
	}
}
