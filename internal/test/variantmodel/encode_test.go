package variantmodel

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/variant"
)

// An Error is the path of a value that does not fit, and why.
type Error struct {
	Path  string
	Cause error
}

func (e *Error) Error() string { return e.Path + ": " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// errTypes is the error for a Go type without an encoding.
var errTypes = errors.New("invalid Go type")

// A field is a field of a struct or of a struct embedded in it.
type field struct {
	name     string
	index    []int
	typ      reflect.Type
	omitZero bool
	required bool
	as       declared
}

// A declared is the type= of a tag: a type, with declared types of its keys and elements.
type declared struct {
	wire      gdwire.Type
	key, elem gdwire.Type
}

// fieldsOf returns the fields of a struct, and whether it is positional.
func fieldsOf(t reflect.Type) (all []field, positional bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("gd"), ",")
		if f.Name == "_" || isIgnored(f) {
			positional = positional || f.Name == "_"
			continue
		}
		if f.Anonymous {
			inner, _ := fieldsOf(f.Type)
			for _, x := range inner {
				x.index = slices.Concat([]int{i}, x.index)
				all = append(all, x)
			}
			continue
		}
		x := field{name: name, index: []int{i}, typ: f.Type}
		options, as, _ := strings.Cut(options, "type=")
		x.omitZero = strings.Contains(options, "omitzero")
		x.required = strings.Contains(options, "required")
		x.as = parseDeclared(as)
		all = append(all, x)
	}
	return all, positional
}

// parseDeclared returns the type= that a text names: int, Array[int] or Dictionary[String, int].
func parseDeclared(text string) declared {
	typed := func(name string) gdwire.Type {
		for _, t := range gdwire.Types() {
			if t.String() == name {
				return t
			}
		}
		return 0
	}
	container, inner, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	key, elem, isDict := strings.Cut(inner, ", ")
	if !isDict {
		key, elem = "", inner
	}
	return declared{typed(container), typed(key), typed(elem)}
}

func isIgnored(f reflect.StructField) bool { return f.Tag.Get("gd") == "-" }

// A shape describes a Go type that can be a math type: numbers of one kind.
type shape struct {
	n    int
	leaf reflect.Kind
}

func shapeOf(t reflect.Type) shape {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Int32:
		return shape{1, t.Kind()}
	case reflect.Array:
		s := shapeOf(t.Elem())
		if s.n *= t.Len(); ownTypes[t.Elem()] != 0 {
			return shape{} // a list of vectors is no larger vector
		}
		return s
	case reflect.Struct:
		var s shape
		for i := range t.NumField() {
			f := shapeOf(t.Field(i).Type)
			if f.n == 0 || !t.Field(i).IsExported() || isIgnored(t.Field(i)) || i > 0 && f.leaf != s.leaf {
				return shape{}
			}
			s = shape{s.n + f.n, f.leaf}
		}
		return s
	}
	return shape{}
}

// components contains the number of components of the math types, negative for integers.
var components = map[gdwire.Type]int{
	gdwire.TypeVector2: 2, gdwire.TypeVector2i: -2, gdwire.TypeRect2: 4, gdwire.TypeRect2i: -4, gdwire.TypeVector3: 3, gdwire.TypeVector3i: -3,
	gdwire.TypeTransform2D: 6, gdwire.TypeVector4: 4, gdwire.TypeVector4i: -4, gdwire.TypePlane: 4, gdwire.TypeQuaternion: 4, gdwire.TypeAABB: 6,
	gdwire.TypeBasis: 9, gdwire.TypeTransform3D: 12, gdwire.TypeProjection: 16, gdwire.TypeColor: 4,
}

// fits reports whether a shape contains the components of a math type.
func (s shape) fits(t gdwire.Type) bool {
	n := components[t]
	return n != 0 && (s.leaf == reflect.Int32 && n == -s.n || s.leaf != reflect.Int32 && n == s.n)
}

// mathTypes returns the math types that a shape fits.
func (s shape) mathTypes() (all []gdwire.Type) {
	for _, t := range gdwire.Types() {
		if s.fits(t) {
			all = append(all, t)
		}
	}
	return all
}

// ownTypes contains the types of package variant that the model knows.
var ownTypes = func() map[reflect.Type]gdwire.Type {
	m := map[reflect.Type]gdwire.Type{
		reflect.TypeFor[variant.StringName](): gdwire.TypeStringName, reflect.TypeFor[variant.NodePath](): gdwire.TypeNodePath,
		reflect.TypeFor[variant.RID](): gdwire.TypeRID,
	}
	for typ, t := range mathTypes {
		m[t] = typ
	}
	return m
}()

// flatten returns the numbers in v, in the order of the encoding.
func flatten(v reflect.Value) (c []float64) {
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			c = append(c, flatten(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c = append(c, flatten(v.Field(i))...)
		}
	case reflect.Int32:
		return []float64{float64(v.Int())}
	default:
		return []float64{v.Float()}
	}
	if v.Type() == reflect.TypeFor[variant.Basis]() { // by rows
		return []float64{c[0], c[3], c[6], c[1], c[4], c[7], c[2], c[5], c[8]}
	}
	return c
}

// unflatten sets the numbers in v from the start of c, in the order of the encoding, and returns
// the rest of c.
func unflatten(v reflect.Value, c []float64) []float64 {
	if v.Type() == reflect.TypeFor[variant.Basis]() { // by rows
		c = append([]float64{c[0], c[3], c[6], c[1], c[4], c[7], c[2], c[5], c[8]}, c[9:]...)
	}
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			c = unflatten(v.Index(i), c)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c = unflatten(v.Field(i), c)
		}
	case reflect.Int32:
		v.SetInt(int64(c[0]))
		return c[1:]
	default:
		v.SetFloat(c[0])
		return c[1:]
	}
	return c
}

func overflows32(x float64) bool { return math.IsInf(float64(float32(x)), 0) && !math.IsInf(x, 0) }

// Encode writes v, a variable with an optional type= in its tag, to e. Check returns
// whether v's type can be encoded.
func Encode(e *gdwire.Encoder, v reflect.Value, as declared) error {
	return checked.Try(func() { checked.Check(encode(e, v, as)) })
}

// encode is Encode, but for the errors of values in v, at which it ends.
func encode(e *gdwire.Encoder, v reflect.Value, as declared) error {
	t, wire := v.Type(), as.wire
	if k := t.Kind(); k == reflect.Pointer || k == reflect.Interface {
		if v.IsNil() {
			return e.WriteNil()
		}
		if k == reflect.Interface {
			as = declared{} // the value's own type
		}
		return encode(e, v.Elem(), as)
	}
	switch x := v.Interface().(type) {
	case variant.Array:
		checked.Check(e.BeginTypedArray(len(x.Values), x.Elem))
		for i := range x.Values {
			checked.Check(encode(e, reflect.ValueOf(&x.Values[i]).Elem(), declared{}))
		}
		return e.End()
	case variant.Dictionary:
		checked.Check(e.BeginTypedDict(x.Len(), x.Key, x.Value))
		for k, value := range x.All() {
			checked.Check(encode(e, reflect.ValueOf(&k).Elem(), declared{}))
			checked.Check(encode(e, reflect.ValueOf(&value).Elem(), declared{}))
		}
		return e.End()
	}
	if typ, ok := ownTypes[t]; ok && wire == 0 {
		wire = typ
	}
	switch wire {
	case gdwire.TypeString:
		return e.WriteString(v.String())
	case gdwire.TypeStringName:
		return e.WriteStringName(v.String())
	case gdwire.TypeNodePath:
		return e.WriteNodePath(v.String())
	case gdwire.TypeRID:
		return e.WriteRID(v.Uint())
	case gdwire.TypeInt, gdwire.TypeFloat:
		return encodeNumber(e, v, wire)
	}
	if components[wire] != 0 {
		return encodeMath(e, v, wire)
	}
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return e.WriteBool(v.Bool())
	case k == reflect.String:
		return e.WriteString(v.String())
	case v.CanInt() || v.CanUint():
		return encodeNumber(e, v, gdwire.TypeInt)
	case v.CanFloat():
		return e.WriteFloat(v.Float())
	case k == reflect.Slice || k == reflect.Array:
		return encodeList(e, v, as)
	case k == reflect.Map:
		return encodeMap(e, v, as)
	}
	return encodeStruct(e, v)
}

func encodeNumber(e *gdwire.Encoder, v reflect.Value, wire gdwire.Type) error {
	outOfRange := func() error { return e.Fail(gdwire.ErrRange) }
	switch {
	case v.CanFloat() && wire == gdwire.TypeFloat:
		return e.WriteFloat(v.Float())
	case v.CanFloat():
		if x, ok := exactInt(v.Float()); ok {
			return e.WriteInt(x)
		}
		return outOfRange()
	case v.CanInt() && wire == gdwire.TypeInt:
		return e.WriteInt(v.Int())
	case v.CanInt():
		if x, ok := exactInt(float64(v.Int())); ok && x == v.Int() {
			return e.WriteFloat(float64(v.Int()))
		}
		return outOfRange()
	case v.Uint() > 1<<63-1 && wire == gdwire.TypeInt:
		return outOfRange()
	case wire == gdwire.TypeInt:
		return e.WriteInt(int64(v.Uint()))
	}
	if x := float64(v.Uint()); x < 1<<64 && uint64(x) == v.Uint() {
		return e.WriteFloat(x)
	}
	return outOfRange()
}

// exactInt returns x as an int64 and reports whether they are equal.
func exactInt(x float64) (int64, bool) {
	if x >= -1<<63 && x < 1<<63 && float64(int64(x)) == x {
		return int64(x), true
	}
	return 0, false
}

func encodeMath(e *gdwire.Encoder, v reflect.Value, wire gdwire.Type) error {
	c := flatten(v)
	if components[wire] > 0 {
		return gdwire.WriteComponents(e, wire, c)
	}
	var ints []int32
	for _, x := range c {
		ints = append(ints, int32(x))
	}
	return gdwire.WriteComponents(e, wire, ints)
}

// packedOf returns the packed array for elements of type t, or 0.
func packedOf(t reflect.Type) gdwire.Type {
	if own := ownTypes[t]; own != 0 {
		for packed, vector := range vectorsOf {
			if vector == own {
				return packed
			}
		}
		return 0
	}
	switch t.Kind() {
	case reflect.Uint8:
		return gdwire.TypePackedByteArray
	case reflect.Int32:
		return gdwire.TypePackedInt32Array
	case reflect.Int64:
		return gdwire.TypePackedInt64Array
	case reflect.Float32:
		return gdwire.TypePackedFloat32Array
	case reflect.Float64:
		return gdwire.TypePackedFloat64Array
	case reflect.String:
		return gdwire.TypePackedStringArray
	case reflect.Array:
		if k := t.Elem().Kind(); k == reflect.Float32 || k == reflect.Float64 {
			return map[int]gdwire.Type{2: gdwire.TypePackedVector2Array, 3: gdwire.TypePackedVector3Array, 4: gdwire.TypePackedVector4Array}[t.Len()]
		}
	}
	return 0
}

func encodeList(e *gdwire.Encoder, v reflect.Value, as declared) error {
	t, wire := v.Type(), as.wire
	if t.Kind() == reflect.Array && wire == 0 {
		if all := shapeOf(t).mathTypes(); len(all) == 1 {
			return encodeMath(e, v, all[0])
		}
	}
	packed := packedOf(t.Elem())
	if packed == 0 || wire == gdwire.TypeArray {
		checked.Check(e.BeginTypedArray(v.Len(), gdwire.Elem{Type: as.elem}))
		for i := range v.Len() {
			checked.Check(encode(e, v.Index(i), declared{wire: as.elem}))
		}
		return e.End()
	}
	checked.Check(e.BeginPacked(packed, int64(v.Len())))
	for i := range v.Len() {
		checked.Check(encodeElement(e, v.Index(i), packed))
	}
	return e.End()
}

func encodeElement(e *gdwire.Encoder, v reflect.Value, packed gdwire.Type) error {
	switch packed {
	case gdwire.TypePackedStringArray:
		return e.WriteString(v.String())
	case gdwire.TypePackedByteArray:
		return gdwire.WritePacked(e, []byte{byte(v.Uint())})
	case gdwire.TypePackedInt32Array:
		return gdwire.WritePacked(e, []int32{int32(v.Int())})
	case gdwire.TypePackedInt64Array:
		return gdwire.WritePacked(e, []int64{v.Int()})
	}
	switch c := flatten(v); len(c) {
	case 1:
		return gdwire.WritePacked(e, c)
	case 2:
		return gdwire.WritePacked(e, [][2]float64{[2]float64(c)})
	case 3:
		return gdwire.WritePacked(e, [][3]float64{[3]float64(c)})
	default:
		return gdwire.WritePacked(e, [][4]float64{[4]float64(c)})
	}
}

func encodeMap(e *gdwire.Encoder, v reflect.Value, as declared) error {
	checked.Check(e.BeginTypedDict(v.Len(), gdwire.Elem{Type: as.key}, gdwire.Elem{Type: as.elem}))
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch {
		case a.Kind() == reflect.String:
			return cmp.Compare(a.String(), b.String())
		case ownTypes[a.Type()] == 0 && a.CanInt():
			return cmp.Compare(a.Int(), b.Int())
		case ownTypes[a.Type()] == 0 && a.CanUint():
			return cmp.Compare(a.Uint(), b.Uint())
		case a.CanFloat():
			return cmp.Compare(a.Float(), b.Float())
		}
		return bytes.Compare(encoded(a), encoded(b))
	})
	for _, k := range keys {
		checked.Check(encode(e, k, declared{wire: as.key}))
		checked.Check(encode(e, v.MapIndex(k), declared{wire: as.elem}))
	}
	return e.End()
}

func encoded(v reflect.Value) []byte {
	e := gdwire.NewEncoder(nil, nil)
	e.ResetBytes(nil)
	if err := Encode(e, v, declared{}); err != nil {
		return nil
	}
	return e.Bytes()
}

func encodeStruct(e *gdwire.Encoder, v reflect.Value) error {
	all, positional := fieldsOf(v.Type())
	all = slices.DeleteFunc(all, func(f field) bool { return !positional && f.omitZero && v.FieldByIndex(f.index).IsZero() })
	begin := e.BeginDict
	if positional {
		begin = e.BeginArray
	}
	checked.Check(begin(len(all)))
	for _, f := range all {
		if !positional {
			checked.Check(e.WriteString(f.name))
		}
		checked.Check(encode(e, v.FieldByIndex(f.index), f.as))
	}
	return e.End()
}

// Check returns an error if a type cannot be encoded: an array of numbers with several
// math types and no type= in its tag.
func Check(t reflect.Type, as declared) error {
	wire := as.wire
	if ownTypes[t] != 0 || t == reflect.TypeFor[variant.Dictionary]() {
		return nil
	}
	switch t.Kind() {
	case reflect.Array:
		if all := shapeOf(t).mathTypes(); wire == 0 && len(all) > 0 {
			if len(all) > 1 {
				return errTypes
			}
			return nil
		}
		if components[wire] != 0 {
			return nil
		}
		fallthrough
	case reflect.Slice:
		if packedOf(t.Elem()) != 0 && wire == 0 { // not encoded as an Array in this format
			return nil
		}
		return Check(t.Elem(), declared{wire: as.elem})
	case reflect.Pointer:
		return Check(t.Elem(), as)
	case reflect.Map:
		return cmp.Or(Check(t.Key(), declared{wire: as.key}), Check(t.Elem(), declared{wire: as.elem}))
	case reflect.Struct:
		all, _ := fieldsOf(t)
		for _, f := range all {
			if err := Check(f.typ, f.as); err != nil {
				return err
			}
		}
	}
	return nil
}
