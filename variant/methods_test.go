package variant

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// Types of each kind with one method each: mv with MarshalVariant, mt with MarshalText, uv with
// UnmarshalVariant, and ut with UnmarshalText. The methods write a text, or set a variable to 7.
type (
	mvByte    byte
	mvInt32   int32
	mvInt64   int64
	mvInt     int
	mvFloat32 float32
	mvFloat64 float64
	mvText    string
	mvArray   [3]float32
	mvInts    [2]int32
	mvStruct  struct{ X, Y float64 }
	mtByte    byte
	mtInt32   int32
	mtInt64   int64
	mtInt     int
	mtFloat32 float32
	mtFloat64 float64
	mtText    string
	mtArray   [3]float32
	mtInts    [2]int32
	mtStruct  struct{ X, Y float64 }
	uvByte    byte
	uvInt32   int32
	uvInt64   int64
	uvInt     int
	uvFloat32 float32
	uvFloat64 float64
	uvText    string
	uvArray   [3]float32
	uvInts    [2]int32
	uvStruct  struct{ X, Y float64 }
	utByte    byte
	utInt32   int32
	utInt64   int64
	utInt     int
	utFloat32 float32
	utFloat64 float64
	utText    string
	utArray   [3]float32
	utInts    [2]int32
	utStruct  struct{ X, Y float64 }
)

func (mvByte) MarshalVariant(e *gdwire.Encoder) error    { return e.WriteString("method") }
func (mvInt32) MarshalVariant(e *gdwire.Encoder) error   { return e.WriteString("method") }
func (mvInt64) MarshalVariant(e *gdwire.Encoder) error   { return e.WriteString("method") }
func (mvInt) MarshalVariant(e *gdwire.Encoder) error     { return e.WriteString("method") }
func (mvFloat32) MarshalVariant(e *gdwire.Encoder) error { return e.WriteString("method") }
func (mvFloat64) MarshalVariant(e *gdwire.Encoder) error { return e.WriteString("method") }
func (mvText) MarshalVariant(e *gdwire.Encoder) error    { return e.WriteString("method") }
func (mvArray) MarshalVariant(e *gdwire.Encoder) error   { return e.WriteString("method") }
func (mvInts) MarshalVariant(e *gdwire.Encoder) error    { return e.WriteString("method") }
func (mvStruct) MarshalVariant(e *gdwire.Encoder) error  { return e.WriteString("method") }

func (*mtByte) MarshalText() ([]byte, error)    { return []byte("method"), nil }
func (*mtInt32) MarshalText() ([]byte, error)   { return []byte("method"), nil }
func (*mtInt64) MarshalText() ([]byte, error)   { return []byte("method"), nil }
func (*mtInt) MarshalText() ([]byte, error)     { return []byte("method"), nil }
func (*mtFloat32) MarshalText() ([]byte, error) { return []byte("method"), nil }
func (*mtFloat64) MarshalText() ([]byte, error) { return []byte("method"), nil }
func (*mtText) MarshalText() ([]byte, error)    { return []byte("method"), nil }
func (*mtArray) MarshalText() ([]byte, error)   { return []byte("method"), nil }
func (*mtInts) MarshalText() ([]byte, error)    { return []byte("method"), nil }
func (*mtStruct) MarshalText() ([]byte, error)  { return []byte("method"), nil }

func (v *uvByte) UnmarshalVariant(d *gdwire.Decoder) error    { *v = 7; return d.SkipValue() }
func (v *uvInt32) UnmarshalVariant(d *gdwire.Decoder) error   { *v = 7; return d.SkipValue() }
func (v *uvInt64) UnmarshalVariant(d *gdwire.Decoder) error   { *v = 7; return d.SkipValue() }
func (v *uvInt) UnmarshalVariant(d *gdwire.Decoder) error     { *v = 7; return d.SkipValue() }
func (v *uvFloat32) UnmarshalVariant(d *gdwire.Decoder) error { *v = 7; return d.SkipValue() }
func (v *uvFloat64) UnmarshalVariant(d *gdwire.Decoder) error { *v = 7; return d.SkipValue() }
func (v *uvText) UnmarshalVariant(d *gdwire.Decoder) error    { *v = "marked"; return d.SkipValue() }
func (v *uvArray) UnmarshalVariant(d *gdwire.Decoder) error {
	*v = uvArray{7, 7, 7}
	return d.SkipValue()
}
func (v *uvInts) UnmarshalVariant(d *gdwire.Decoder) error { *v = uvInts{7, 7}; return d.SkipValue() }
func (v *uvStruct) UnmarshalVariant(d *gdwire.Decoder) error {
	*v = uvStruct{7, 7}
	return d.SkipValue()
}

func (v *utByte) UnmarshalText([]byte) error    { *v = 7; return nil }
func (v *utInt32) UnmarshalText([]byte) error   { *v = 7; return nil }
func (v *utInt64) UnmarshalText([]byte) error   { *v = 7; return nil }
func (v *utInt) UnmarshalText([]byte) error     { *v = 7; return nil }
func (v *utFloat32) UnmarshalText([]byte) error { *v = 7; return nil }
func (v *utFloat64) UnmarshalText([]byte) error { *v = 7; return nil }
func (v *utText) UnmarshalText([]byte) error    { *v = "marked"; return nil }
func (v *utArray) UnmarshalText([]byte) error   { *v = utArray{7, 7, 7}; return nil }
func (v *utInts) UnmarshalText([]byte) error    { *v = utInts{7, 7}; return nil }
func (v *utStruct) UnmarshalText([]byte) error  { *v = utStruct{7, 7}; return nil }

var (
	marshalers       = []any{new(mvByte), new(mvInt32), new(mvInt64), new(mvInt), new(mvFloat32), new(mvFloat64), new(mvText), new(mvArray), new(mvInts), new(mvStruct)}
	textMarshalers   = []any{new(mtByte), new(mtInt32), new(mtInt64), new(mtInt), new(mtFloat32), new(mtFloat64), new(mtText), new(mtArray), new(mtInts), new(mtStruct)}
	unmarshalers     = []any{new(uvByte), new(uvInt32), new(uvInt64), new(uvInt), new(uvFloat32), new(uvFloat64), new(uvText), new(uvArray), new(uvInts), new(uvStruct)}
	textUnmarshalers = []any{new(utByte), new(utInt32), new(utInt64), new(utInt), new(utFloat32), new(utFloat64), new(utText), new(utArray), new(utInts), new(utStruct)}
)

// placesOf returns types that contain a t in each of the ways in which it can be contained.
func placesOf(t reflect.Type) []reflect.Type {
	fields := func(tag reflect.StructTag, types ...reflect.Type) reflect.Type {
		var all []reflect.StructField
		for i, t := range types {
			all = append(all, reflect.StructField{Name: string(rune('A' + i)), Type: t, Tag: tag})
		}
		return reflect.StructOf(all)
	}
	positional := reflect.StructOf([]reflect.StructField{
		{Name: "_", PkgPath: "variant", Type: reflect.TypeFor[struct{}](), Tag: `gd:",array"`}, {Name: "A", Type: t}, {Name: "B", Type: t},
	})
	all := []reflect.Type{
		t, reflect.PointerTo(t), reflect.SliceOf(t), reflect.SliceOf(reflect.PointerTo(t)), reflect.SliceOf(reflect.SliceOf(t)),
		fields("", t), fields("", t, t), fields("", t, t, t), fields("", reflect.PointerTo(t)), fields("", reflect.SliceOf(t)), positional,
		reflect.SliceOf(fields("", t)), reflect.SliceOf(fields("", t, t)), reflect.ArrayOf(2, fields("", t, t)),
		reflect.MapOf(reflect.TypeFor[string](), t), reflect.MapOf(reflect.TypeFor[string](), reflect.SliceOf(t)),
		fields(`gd:",embed"`, reflect.MapOf(reflect.TypeFor[string](), t)),
	}
	for _, n := range []int{1, 2, 3, 4, 9} {
		all = append(all, reflect.ArrayOf(n, t), reflect.SliceOf(reflect.ArrayOf(n, t)), reflect.ArrayOf(2, reflect.ArrayOf(n, t)), fields("", reflect.ArrayOf(n, t)))
	}
	return all
}

// variablesOf returns the variables of type t in v.
func variablesOf(v reflect.Value, t reflect.Type) (all []reflect.Value) {
	if v.Type() == t {
		return []reflect.Value{v}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return variablesOf(v.Elem(), t)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			all = append(all, variablesOf(v.Index(i), t)...)
		}
	case reflect.Map:
		for pairs := v.MapRange(); pairs.Next(); {
			all = append(all, variablesOf(pairs.Key(), t)...)
			all = append(all, variablesOf(pairs.Value(), t)...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, variablesOf(v.Field(i), t)...)
		}
	}
	return all
}

// Marshal calls the methods of a type wherever a value of it is.
func TestMarshalCallsMethods(t *testing.T) {
	for i, p := range append(marshalers, textMarshalers...) {
		typ := reflect.TypeOf(p).Elem()
		places := append(placesOf(typ), reflect.TypeFor[any]())
		if i >= len(marshalers) && typ.Comparable() { // keys do not use Marshaler
			places = append(places, reflect.MapOf(typ, reflect.TypeFor[int]()), reflect.MapOf(typ, typ))
		}
		for _, place := range places {
			v := reflect.New(place)
			if fillOne(v.Elem(), 9); place.Kind() == reflect.Interface {
				v.Elem().Set(reflect.ValueOf(p).Elem())
			}
			want := len(variablesOf(v.Elem(), typ))
			require.NotZero(t, want, "%v", place)
			for _, o := range []*Options{{}, godot3} {
				var got any
				require.NoError(t, Unmarshal(must(requireMarshals(t, v.Interface(), o))(t), &got, *o))
				require.Equal(t, want, countTexts(got, "method"), "%v: %v", place, got)
			}
		}
	}
}

// A resetter writes a value after it has reset the Encoder.
type resetter struct{ reset func(e *gdwire.Encoder) }

func (r resetter) MarshalVariant(e *gdwire.Encoder) error {
	r.reset(e)
	return e.WriteInt(5)
}

// A method that resets or closes the Encoder is an error, wherever the encoding begins.
func TestMarshalVariantResets(t *testing.T) {
	for text, r := range map[string]resetter{
		"MarshalVariant must not reset": {func(e *gdwire.Encoder) { e.Reset(new(bytes.Buffer)) }},
		"MarshalVariant must":           {func(e *gdwire.Encoder) { e.ResetBytes([]byte("12345678")) }},
		"used after Close or Release":   {func(e *gdwire.Encoder) { e.Close() }},
	} {
		for _, v := range []any{r, []resetter{r}, map[string]any{"a": r}} {
			for _, dst := range []string{"", "1234", "a long text before the value"} {
				got, err := MarshalAppend([]byte(dst), v)
				require.ErrorContains(t, err, text, "%T after %q", v, dst)
				require.Equal(t, dst, string(got))
			}
		}
	}
}

// An ignorer writes a value and ignores that another one is invalid.
type ignorer struct{ N int }

func (i ignorer) MarshalVariant(e *gdwire.Encoder) error {
	_ = e.WriteInt(int64(i.N))
	_ = e.WriteString("\xff")
	return nil
}

// An error of the Encoder that a method ignores is the result.
func TestMarshalVariantIgnoresError(t *testing.T) {
	for _, v := range []any{ignorer{1}, &ignorer{1}, []ignorer{{1}, {2}}, map[string]any{"a": ignorer{1}, "b": 2}} {
		require.ErrorIs(t, errOf(requireMarshals(t, v, nil)), gdwire.ErrUTF8, "%T", v)
	}
}

// countTexts returns how often a text is in v, a decoded value.
func countTexts(v any, text string) (n int) {
	switch v := v.(type) {
	case string:
		if v == text {
			return 1
		}
	case *Array:
		for _, x := range v.Values {
			n += countTexts(x, text)
		}
	case *Dictionary:
		for k, x := range v.All() {
			n += countTexts(k, text) + countTexts(x, text)
		}
	case []string:
		for _, x := range v {
			n += countTexts(x, text)
		}
	}
	return n
}

// methodInputs returns values of each type that a sender can choose, without zeros: packed
// numbers and vectors, texts, and other values.
func methodInputs() (numbers, texts, others []any) {
	for t, own := range ownTypes().types {
		if own.math != nil {
			v := reflect.New(t).Elem()
			setComponents(v, []float64{1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17})
			numbers = append(numbers, v.Interface())
		}
	}
	for _, n := range []int{1, 2, 3, 4, 9} {
		for _, list := range []any{[]byte{}, []int32{}, []int64{}, []float32{}, []float64{}, []Vector2{}, []Vector3{}, []Vector4{}, []Color{}} {
			v := reflect.ValueOf(list)
			for range n {
				x := reflect.New(v.Type().Elem()).Elem()
				if x.CanUint() {
					x.SetUint(3)
				} else if x.CanInt() {
					x.SetInt(3)
				} else {
					setComponents(x, []float64{1, 2, 3, 4})
				}
				v = reflect.Append(v, x)
			}
			numbers = append(numbers, v.Interface())
		}
		some := slices.Repeat([]string{"a"}, n)
		texts = append(texts, some, array(anys(some)...))
	}
	texts = append(texts, "a", StringName("a"), NodePath("a"), array("a", "b"), dict("a", "b"), dict("a", "x", "b", "y", "c", "z"), dict("x", []string{"a"}))
	for _, x := range append(numbers, 1, 1.5, true) {
		others = append(others, x, array(x, x), dict("a", x, "b", x, "c", x))
	}
	return numbers, texts, append(others, array(1, 2), array(1.5, 2, 3))
}

func anys[T any](all []T) (out []any) {
	for _, x := range all {
		out = append(out, x)
	}
	return out
}

// Unmarshal calls the methods of a type wherever a variable of it is, or returns a TypeError.
// UnmarshalText is for text: other values are decoded by the kind of the type, but no numbers
// without a type of their own.
func TestUnmarshalCallsMethods(t *testing.T) {
	numbers, texts, others := methodInputs()
	for _, p := range unmarshalers {
		typ := reflect.TypeOf(p).Elem()
		requireMethod(t, typ, placesOf(typ), append(texts, others...))
	}
	for _, p := range textUnmarshalers {
		typ := reflect.TypeOf(p).Elem()
		places := placesOf(typ)
		requireMethod(t, typ, places[2:], numbers) // in more than a typ and *typ
		if typ.Comparable() {
			places = append(places, reflect.MapOf(typ, reflect.TypeFor[any]()), reflect.MapOf(typ, typ))
		}
		requireMethod(t, typ, places, texts)
	}
}

// Elements and Entries follow the same rules.
func TestElementsCallMethods(t *testing.T) {
	numbers, texts, others := methodInputs()
	requireElements[uvByte](t, append(texts, others...))
	requireElements[uvInt32](t, append(texts, others...))
	requireElements[uvFloat64](t, append(texts, others...))
	requireElements[uvArray](t, append(texts, others...))
	requireElements[uvStruct](t, append(texts, others...))
	requireElements[[2]uvFloat32](t, others)
	requireElements[[3]utFloat32](t, numbers)
	requireElements[utInt64](t, append(texts, numbers...))
	requireElements[utStruct](t, append(texts, numbers...))
}

func requireElements[T any](t *testing.T, inputs []any) {
	t.Helper()
	for _, input := range inputs {
		d := gdwire.NewDecoder(nil, nil)
		d.ResetBytes(encoded(t, input, nil))
		for x, err := range Elements[T](d) {
			requireMarked(t, x, err, input)
		}
		d.ResetBytes(encoded(t, input, nil))
		for x, err := range Entries[string, T](d) {
			requireMarked(t, x.Value, err, input)
		}
		d.Release()
	}
}

// requireMarked checks that there is an error of the type, or that methods have set the numbers in
// x to 7.
func requireMarked(t *testing.T, x any, err error, input any) {
	t.Helper()
	if err == nil {
		require.Regexp(t, `^[\[{]*7([ \]}]+7)*[\]}]*$`, fmt.Sprint(x), "%v into %T", input, x)
		return
	}
	require.True(t, isTypeError(err) || errors.Is(err, gdwire.ErrType), "%v into %T: %v", input, x, err)
}

// requireMethod decodes inputs into places and checks that the method of typ was called for each
// typ in them, which is then 7, or that there is a TypeError.
func requireMethod(t *testing.T, typ reflect.Type, places []reflect.Type, inputs []any) {
	t.Helper()
	called := 0
	for _, input := range inputs {
		b := encoded(t, input, nil)
		for _, place := range places {
			v := reflect.New(place)
			if err := Unmarshal(b, v.Interface()); err != nil {
				require.True(t, isTypeError(err) || errors.Is(err, ErrDuplicateKey), "%v into %v: %v", input, place, err)
				continue
			}
			for _, x := range variablesOf(v.Elem(), typ) {
				if !x.IsZero() { // of a nil or a missing key: no input contains zeros
					require.Contains(t, []string{"7", "marked", "[7 7 7]", "[7 7]", "{7 7}"}, fmt.Sprint(x), "%v into %v", input, place)
					called++
				}
			}
		}
	}
	if len(inputs) > 0 && reflect.PointerTo(typ).Implements(unmarshalerType) {
		require.NotZero(t, called)
	}
}
