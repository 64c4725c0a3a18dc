package variant

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// Encoders of texts, slices, and types with methods of their own.

// encodeBool, encodeInt, encodeUint, encodeFloat and encodeString write a bool, number or string
// kind.
func encodeBool(s *encoder, x variable) error { return s.e.WriteBool(boolIn(x)) }

// integers contains functions for signed integers, by kind: the encoder, and the word of a key.
var integers = map[reflect.Kind]struct {
	encode encodeFunc
	word   func(variable) uint64
}{
	reflect.Int:   {encodeInt[int], intWord[int]},
	reflect.Int8:  {encodeInt[int8], intWord[int8]},
	reflect.Int16: {encodeInt[int16], intWord[int16]},
	reflect.Int32: {encodeInt[int32], intWord[int32]},
	reflect.Int64: {encodeInt[int64], intWord[int64]},
}

func intWord[T int | int8 | int16 | int32 | int64](x variable) uint64 {
	return uint64(intIn[T](x)) ^ 1<<63
}

// makeIntegerEncoder returns the function encoding a t, an integer of any kind, as an int.
func makeIntegerEncoder(t reflect.Type) encodeFunc {
	if kind, ok := integers[t.Kind()]; ok {
		return kind.encode
	}
	return reflected(t, encodeUint)
}

func encodeInt[T int | int8 | int16 | int32 | int64](s *encoder, x variable) error {
	return s.e.WriteInt(intIn[T](x))
}

func encodeUint(s *encoder, v reflect.Value) error {
	x := v.Uint()
	if x > 1<<63-1 {
		return s.fail(v.Type(), gdwire.ErrRange)
	}
	return s.e.WriteInt(int64(x))
}

func encodeFloat[T float32 | float64](s *encoder, x variable) error {
	return s.e.WriteFloat(floatIn[T](x))
}

// makeNumberEncoder returns the function encoding a t, a number, as the type wire, an int or
// float. A number changed by the conversion is an error.
func makeNumberEncoder(t reflect.Type, wire gdwire.Type) (encodeFunc, error) {
	isFloat := wire == gdwire.TypeFloat
	switch zero := reflect.Zero(t); {
	case isFloat && t.Kind() == reflect.Float32:
		return encodeFloat[float32], nil
	case isFloat && t.Kind() == reflect.Float64:
		return encodeFloat[float64], nil
	case !isFloat && (zero.CanInt() || zero.CanUint()):
		return makeIntegerEncoder(t), nil
	case isFloat && zero.CanInt():
		return reflected(t, func(s *encoder, v reflect.Value) error {
			x := float64(v.Int())
			if x >= 1<<63 || int64(x) != v.Int() {
				return s.fail(t, gdwire.ErrRange)
			}
			return s.e.WriteFloat(x)
		}), nil
	case isFloat && zero.CanUint():
		return reflected(t, func(s *encoder, v reflect.Value) error {
			x := float64(v.Uint())
			if x >= 1<<64 || uint64(x) != v.Uint() {
				return s.fail(t, gdwire.ErrRange)
			}
			return s.e.WriteFloat(x)
		}), nil
	case zero.CanFloat():
		return reflected(t, func(s *encoder, v reflect.Value) error {
			x := v.Float()
			if !(x >= -1<<63 && x < 1<<63) || float64(int64(x)) != x {
				return s.fail(t, gdwire.ErrRange)
			}
			return s.e.WriteInt(int64(x))
		}), nil
	}
	return nil, tagError(t, wire)
}

func encodeString(s *encoder, x variable) error { return s.e.WriteString(textIn(x)) }

// makeStringEncoder returns the function encoding a string kind as the type wire, a String,
// StringName or NodePath.
func makeStringEncoder(wire gdwire.Type) encodeFunc {
	return func(s *encoder, x variable) error { return s.textAs(wire, textIn(x)) }
}

// textAs writes text as the type wire. A StringName becomes a String in a format without it.
func (s *encoder) textAs(wire gdwire.Type, text string) error {
	switch {
	case wire == gdwire.TypeNodePath:
		return s.e.WriteNodePath(text)
	case wire == gdwire.TypeStringName && (s.format == gdwire.Godot4 || s.format.Has(wire)):
		return s.e.WriteStringName(text)
	}
	return s.e.WriteString(text)
}

// isText reports whether text can be encoded as the given type= of a tag. 0 means no type=.
func isText(wire gdwire.Type) bool {
	switch wire {
	case 0, gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath:
		return true
	}
	return false
}

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
	if own := ownTypeOf(t); own != nil {
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
			case s.format == gdwire.Godot4 || s.format.Has(p.typ): // mostly without a call
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
	if !isPortable || ok {
		if err := gdwire.WritePacked(s.e, all); err != nil {
			return err
		}
		return s.e.End()
	}
	m, _ := componentsOf(v.Type().Elem())
	var some [batch]T
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
		return makeNumbersEncoder[float32](m.n, typ, encode)
	case m.leaf == reflect.Float64:
		return makeNumbersEncoder[float64](m.n, typ, encode)
	default:
		return makeNumbersEncoder[int32](m.n, typ, encode)
	}
	return encode
}

// makeNumbersEncoder returns the function of makeMathEncoder for n numbers in encoded order, written
// without a copy, or by other in the portable build: -4 % of Marshal of structs. See
// makeScalarDecoder for noinline.
//
//go:noinline
func makeNumbersEncoder[T float32 | float64 | int32](n int, typ gdwire.Type, other encodeFunc) encodeFunc {
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

// The methods below encode the types of this package. The Encoder returns an error for a type
// missing from the format.

func (s *encoder) stringName(v *StringName) error {
	return s.textAs(gdwire.TypeStringName, string(*v))
}

func (s *encoder) nodePath(v *NodePath) error { return s.e.WriteNodePath(string(*v)) }

func (s *encoder) rid(v *RID) error { return s.e.WriteRID(uint64(*v)) }

func (s *encoder) objectID(v *ObjectID) error {
	if *v == 0 {
		return s.e.WriteNil() // as engines encode null
	}
	return s.e.WriteObjectID(uint64(*v))
}

func (s *encoder) signal(v *Signal) error { return s.e.WriteSignal(v.Name, uint64(v.Object)) }

func (s *encoder) callable(*Callable) error { return s.e.WriteCallable() }

func (s *encoder) image(v *Image) error {
	if err := s.e.BeginImage(v.Format, v.Mipmaps, v.Width, v.Height, int64(len(v.Data))); err != nil {
		return err
	}
	if _, err := s.e.Write(v.Data); err != nil {
		return err
	}
	return s.e.End()
}

func (s *encoder) inputEvent(v *InputEvent) error {
	return s.e.WriteInputEvent(v.Type, v.Device, v.Data)
}

// raw writes the value in v, converted from any other format.
func (s *encoder) raw(v *Raw) error {
	from := cmp.Or(v.Format, gdwire.Godot4)
	switch {
	case len(v.Data) == 0 && v.Format == 0:
		return s.e.WriteNil()
	case from == s.format:
		return s.e.WriteRaw(v.Data)
	}
	d := v.decoder(s.e.Options())
	defer d.Release()
	if err := gdwire.CopyValue(s.e, d); err != nil {
		return s.fail(reflect.TypeFor[Raw](), err)
	}
	if n := int64(len(v.Data)) - d.InputOffset(); n > 0 {
		return s.fail(reflect.TypeFor[Raw](), fmt.Errorf("%d bytes after the value", n))
	}
	return nil
}

// makeTypedListEncoder returns the function encoding a t, a slice or array, as an Array with a declared type.
func (b encodePlanner) makeTypedListEncoder(t reflect.Type, declared gdwire.Elem) (encodeFunc, error) {
	elem, err := b.declaredPlan(t.Elem(), declared, false)
	return reflected(t, func(s *encoder, v reflect.Value) error {
		var err error
		if s.declaresTypes() {
			err = s.e.BeginTypedArray(v.Len(), declared)
		} else {
			err = s.e.BeginArray(v.Len())
		}
		if err != nil {
			return err
		}
		if err := s.enter(t); err != nil {
			return err
		}
		for i := range v.Len() {
			if err := elem.do(s, variableOf(v.Index(i))); err != nil {
				return err
			}
		}
		return s.leave()
	}), err
}

// declaredPlan returns the plan of t, the type of elements, keys or values, for their declared type, if any. If the
// values of a t have a type of their own, checked by the Encoder, the plan is the one without a type.
func (b encodePlanner) declaredPlan(t reflect.Type, declared gdwire.Elem, isKey bool) (*plan[encodeFunc], error) {
	key := planKey{typ: t, wire: declared.Type, isKey: isKey}
	value := t // without pointers
	if t.Kind() == reflect.Pointer {
		if err := checkPointer(t); err != nil {
			return nil, err
		}
		for value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
	}
	if value.Kind() == reflect.Interface || value == reflect.TypeFor[Raw]() || reflect.PointerTo(value).Implements(marshalerType) {
		key.wire = 0
	}
	return b.planOf(key)
}

// declaresTypes reports whether containers have declared types in the format. In other formats, a
// container declared by a tag is written without types.
func (s *encoder) declaresTypes() bool { return s.format == gdwire.Godot4 }
