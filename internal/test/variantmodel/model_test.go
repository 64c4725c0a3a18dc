package variantmodel

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
	"github.com/stretchr/testify/require"
)

// TestModel encodes and decodes values of random types with variant and with the model: the
// same bytes, values, errors and paths. The environment variable GDWIRE_TYPES is the number of
// types.
func TestModel(t *testing.T) {
	types := testenv.Cases(500, 2000)
	if n, err := strconv.Atoi(os.Getenv("GDWIRE_TYPES")); err == nil {
		types = n
	}
	var c counts
	for seed := range uint64(types) {
		r := random{rand.New(rand.NewPCG(seed, 0))}
		checkType(t, r, r.typ(3), fmt.Sprint("seed ", seed), &c)
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", c)
	// Each outcome must be common, so that the comparison means something.
	for name, n := range map[string]int{"encoded": c.encoded, "declared types": c.declared, "invalid types": 20 * c.invalid, "decoded": c.decoded, "errors": c.failed} {
		require.Greater(t, n, types/20, name)
	}
}

type counts struct{ encoded, declared, invalid, decoded, failed int }

func checkType(t *testing.T, r random, typ reflect.Type, seed string, c *counts) {
	v := reflect.New(typ).Elem()
	r.fill(v, 3)
	b, err := variant.Marshal(v.Addr().Interface())
	if Check(typ, declared{}) != nil {
		c.invalid++
		require.Error(t, err, "%s: %v", seed, typ)
		return
	}
	appended, appendErr := variant.MarshalAppend([]byte("before"), v.Addr().Interface())
	require.Equal(t, err, appendErr, seed)
	require.Equal(t, "before"+string(b), string(appended), seed)
	e := gdwire.NewEncoder(nil, nil)
	e.ResetBytes(nil)
	modelErr := Encode(e, v, declared{})
	if err != nil { // with keys in its path: the model's contains numbers, as that of MarshalEncode
		numbered := gdwire.NewEncoder(nil, nil)
		numbered.ResetBytes(nil)
		var named, at *gdwire.Error
		require.ErrorAs(t, err, &named, seed)
		err = variant.MarshalEncode(numbered, v.Addr().Interface())
		require.ErrorAs(t, err, &at, seed)
		require.Equal(t, []any{at.Offset, at.Err.Error()}, []any{named.Offset, named.Err.Error()}, seed)
	}
	requireSameError(t, modelErr, err, "%s: Marshal of %v: %+v", seed, typ, v)
	if err != nil {
		return
	}
	c.encoded++
	if strings.Contains(typ.String(), "type=Array[") || strings.Contains(typ.String(), "type=Dictionary[") {
		c.declared++
	}
	require.Equal(t, hex.EncodeToString(e.Bytes()), hex.EncodeToString(b), "%s: Marshal of %v: %+v", seed, typ, v)

	// Decoded again, and after changes that it may not survive, into variables that are zero or
	// have other values.
	for range 8 {
		fresh, want := reflect.New(typ), reflect.New(typ)
		checkDecode(t, b, fresh, want, seed, c)
		old := r.Uint64()
		used, wantUsed := reflect.New(typ), reflect.New(typ)
		random{rand.New(rand.NewPCG(old, 1))}.fill(used.Elem(), 3)
		random{rand.New(rand.NewPCG(old, 1))}.fill(wantUsed.Elem(), 3)
		checkDecode(t, b, used, wantUsed, seed+", reused", c)
		b = r.change(t, b)
	}
}

func checkDecode(t *testing.T, b []byte, got, want reflect.Value, seed string, c *counts) {
	before := fmt.Sprintf("%+v", got.Elem())
	// With short chunks, every other time, names and texts are longer than a chunk.
	var o gdwire.DecoderOptions
	if c.decoded%2 == 1 {
		o.MaxChunk = 16
	}
	err := variant.Unmarshal(b, got.Interface(), variant.Options{Decoder: o})
	d := gdwire.NewDecoder(nil, nil)
	defer d.Release()
	d.ResetBytes(b)
	modelErr := Decode(d, want.Elem())
	var text any
	_ = variant.Unmarshal(b, &text)
	requireSameError(t, modelErr, err, "%s: %s into %v", seed, show(text), got.Type())
	if err != nil {
		c.failed++
		return
	}
	c.decoded++
	require.True(t, reflect.DeepEqual(want.Elem().Interface(), got.Elem().Interface()), "%s: %s into %v %s:\n%s, not\n%s",
		seed, show(text), got.Type(), before, show(got.Elem().Interface()), show(want.Elem().Interface()))
}

// requireSameError compares the model's error with that of variant.
func requireSameError(t *testing.T, want, got error, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	if want == nil || got == nil {
		require.True(t, want == got, "%s: %v, not %v", text, got, want)
		return
	}
	var at *gdwire.Error
	require.ErrorAs(t, got, &at, text)
	path := ""
	var model *Error
	var encoder *gdwire.Error
	switch {
	case errors.As(want, &model):
		path = model.Path
	case errors.As(want, &encoder):
		path = encoder.Path
	}
	require.Equal(t, path, at.Path, "%s: %v, not %v", text, got, want)
	for _, cause := range []error{gdwire.ErrType, gdwire.ErrRange, gdwire.ErrCount, variant.ErrDuplicateKey} {
		require.Equal(t, errors.Is(want, cause), errors.Is(got, cause), "%s: %v, not %v", text, got, want)
	}
}

// show returns a value as text.
func show(v any) string {
	switch v := v.(type) {
	case *variant.Array:
		s := "["
		for _, x := range v.Values {
			s += show(x) + " "
		}
		return s + "]"
	case *variant.Dictionary:
		s := "{"
		for k, x := range v.All() {
			s += show(k) + ": " + show(x) + " "
		}
		return s + "}"
	}
	return fmt.Sprintf("%T(%+v)", v, v)
}

// random makes random types and values.
type random struct{ *rand.Rand }

var scalars = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint64](),
	reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](),
	reflect.TypeFor[variant.StringName](), reflect.TypeFor[variant.NodePath](), reflect.TypeFor[variant.RID](), reflect.TypeFor[variant.Vector2](),
	reflect.TypeFor[variant.Vector3](), reflect.TypeFor[variant.Vector3i](), reflect.TypeFor[variant.Vector4](), reflect.TypeFor[variant.Color](), reflect.TypeFor[variant.Basis](),
	reflect.TypeFor[variant.Transform3D](), reflect.TypeFor[parts](),
	reflect.TypeFor[any](), reflect.TypeFor[any](), reflect.TypeFor[named](), reflect.TypeFor[text](), reflect.TypeFor[real](),
}

// Types with names of their own.
type (
	named int16
	text  string
	real  float32
	Base  struct {
		Note  string `gd:"note"`
		Count int8   `gd:"count,omitzero"`
	}
	parts struct { // of a Transform3D, which an array of one encodes if its tag says so
		Basis  variant.Basis   `gd:"basis,omitzero"`
		Origin variant.Vector3 `gd:"origin"`
	}
)

var keys = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[uint8](), reflect.TypeFor[bool](), reflect.TypeFor[float64](),
	reflect.TypeFor[variant.StringName](), reflect.TypeFor[variant.Vector3i](), reflect.TypeFor[[2]int32](), reflect.TypeFor[any](), reflect.TypeFor[text](),
}

func (r random) typ(depth int) reflect.Type {
	kind := r.IntN(10)
	if depth == 0 {
		kind = 0
	}
	switch kind {
	case 0, 1:
		return scalars[r.IntN(len(scalars))]
	case 2, 3:
		return reflect.SliceOf(r.typ(depth - 1))
	case 4:
		return reflect.ArrayOf(r.IntN(5), r.typ(depth-1))
	case 5:
		return reflect.MapOf(keys[r.IntN(len(keys))], r.typ(depth-1))
	case 6:
		return reflect.PointerTo(r.typ(depth - 1))
	}
	return r.structure(depth)
}

func (r random) structure(depth int) reflect.Type {
	var fields []reflect.StructField
	if r.IntN(6) == 0 {
		fields = append(fields, reflect.StructField{Name: "_", PkgPath: "variantmodel", Type: reflect.TypeFor[struct{}](), Tag: `gd:",array"`})
	} else if r.IntN(6) == 0 {
		fields = append(fields, reflect.StructField{Name: "Base", Type: reflect.TypeFor[Base](), Anonymous: true})
	}
	for i := range r.IntN(6) {
		name := string(rune('A' + i))
		f := reflect.StructField{Name: name, Type: r.typ(depth - 1)}
		options := ""
		switch r.IntN(8) {
		case 0, 1:
			options = ",omitzero"
		case 2:
			options = ",required"
		}
		if r.IntN(2) == 0 {
			options += r.tag(f.Type)
		}
		key := string(rune('a' + i))
		if r.IntN(5) == 0 {
			key = "a rather long name " + key
		}
		if f.Tag = reflect.StructTag(fmt.Sprintf("gd:%q", key+options)); r.IntN(16) == 0 {
			f.Tag = `gd:"-"`
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// tag returns a type= that fits a type, or "".
func (r random) tag(t reflect.Type) string {
	if name := r.typeOf(t); name != "" {
		return ",type=" + name
	}
	return ""
}

// typeOf returns the name of a type that values of a Go type can be encoded as, or "".
func (r random) typeOf(t reflect.Type) string {
	zero := reflect.Zero(t)
	switch k := t.Kind(); {
	case ownTypes[t] != 0:
		return ""
	case k == reflect.String:
		return []string{"String", "StringName", "NodePath"}[r.IntN(3)]
	case zero.CanInt() || zero.CanUint() || zero.CanFloat():
		return []string{"int", "float"}[r.IntN(2)]
	case k == reflect.Array || k == reflect.Slice:
		if all := shapeOf(t).mathTypes(); k == reflect.Array && len(all) > 0 {
			return all[r.IntN(len(all))].String()
		}
		if elem := r.declaredOf(t.Elem()); elem != "" {
			return "Array[" + elem + "]"
		}
		return "Array"
	case k == reflect.Map:
		key, elem := r.declaredOf(t.Key()), r.declaredOf(t.Elem())
		if key == "" || elem == "" {
			return ""
		}
		return "Dictionary[" + key + ", " + elem + "]"
	}
	return ""
}

// declaredOf returns the name of a type that a container of a Go type can declare, or "".
func (r random) declaredOf(t reflect.Type) string {
	switch own := ownTypes[t]; {
	case r.IntN(4) == 0:
		return ""
	case own != 0:
		return own.String()
	case t.Kind() == reflect.Interface:
		return []string{"", "int", "String", "float"}[r.IntN(4)]
	case t.Kind() == reflect.Bool:
		return "bool"
	case t.Kind() == reflect.Pointer:
		return r.declaredOf(t.Elem())
	}
	name, _, _ := strings.Cut(r.typeOf(t), "[") // a declared type declares none
	return name
}

func (r random) int() int64 {
	switch r.IntN(4) {
	case 0:
		return []int64{0, 1, -1, 127, 128, 255, 256, 1 << 24, 1<<24 + 1, 1<<31 - 1, 1 << 31, 1 << 53, 1<<53 + 1, 1<<63 - 1, -1 << 63}[r.IntN(15)]
	case 1:
		return r.Int64() >> r.IntN(64)
	}
	return int64(r.IntN(100)) - 20
}

func (r random) real() float64 {
	switch r.IntN(6) {
	case 0:
		return []float64{0, 0.1, 1e300, -1e300, 1e-300, 16777217, 1 << 62, 1 << 63, 1 << 64, 3.5}[r.IntN(10)]
	case 1:
		return float64(r.int())
	}
	return float64(r.IntN(400)-100) / 4
}

var texts = []string{"", "a", "b", "c", "note", "a rather long name a", "a text of more than thirty-two bytes, which is not shared", "é", "b"}

// fill sets v to a random value.
func (r random) fill(v reflect.Value, depth int) {
	t := v.Type()
	switch k := t.Kind(); {
	case t == reflect.TypeFor[variant.NodePath]():
		v.SetString([]string{"", "a/b", "/root/x:y", "a:b:c"}[r.IntN(4)])
	case k == reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case k == reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case v.CanInt():
		v.SetInt(r.int() >> (64 - t.Bits()))
		if x := r.int(); !v.OverflowInt(x) {
			v.SetInt(x)
		}
	case v.CanUint():
		v.SetUint(r.Uint64() >> (64 - t.Bits()) >> r.IntN(t.Bits()))
	case k == reflect.Float32:
		v.SetFloat(float64(float32(r.IntN(400)-100) / 8))
	case k == reflect.Float64:
		v.SetFloat(r.real())
		if ownTypes[t] != 0 || overflows32(v.Float()) && r.IntN(20) > 0 {
			v.SetFloat(0.5)
		}
	case k == reflect.Pointer:
		if r.IntN(4) > 0 {
			v.Set(reflect.New(t.Elem()))
			r.fill(v.Elem(), depth)
		}
	case k == reflect.Interface:
		if x := r.any(depth); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	case k == reflect.Slice:
		if n := r.IntN(5); n > 0 {
			v.Set(reflect.MakeSlice(t, n-1, n))
		}
		r.fillAll(v, depth)
	case k == reflect.Array:
		r.fillAll(v, depth)
	case k == reflect.Map:
		if n := r.IntN(5); n > 0 {
			v.Set(reflect.MakeMap(t))
			for range n - 1 {
				key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
				if r.fill(key, 0); key.Kind() == reflect.Interface {
					key.Set(reflect.ValueOf([]any{"a", int64(3), true, variant.StringName("n"), variant.Vector2i{X: 1}}[r.IntN(5)]))
				}
				r.fill(value, depth-1)
				v.SetMapIndex(key, value)
			}
		}
	case k == reflect.Struct:
		for i := range v.NumField() {
			if t.Field(i).IsExported() {
				r.fill(v.Field(i), depth)
			}
		}
	}
}

func (r random) fillAll(v reflect.Value, depth int) {
	for i := range v.Len() {
		r.fill(v.Index(i), depth-1)
	}
}

// any returns a value as Unmarshal stores it in an any.
func (r random) any(depth int) any {
	n := r.IntN(20)
	if depth <= 0 {
		n = r.IntN(16)
	}
	f := func() float64 { return float64(r.IntN(100)) / 4 }
	switch n {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2, 3:
		return r.int()
	case 4, 5:
		return r.real()
	case 6:
		return texts[r.IntN(len(texts))]
	case 7:
		return variant.StringName(texts[r.IntN(len(texts))])
	case 8:
		return variant.Vector2{X: f(), Y: f()}
	case 9:
		return variant.Vector3i{X: int32(r.int()), Z: 7}
	case 10:
		return variant.Color{R: float32(f())}
	case 11:
		return []byte{1, 255}
	case 12:
		return []int64{r.int(), r.int(), 3}[:r.IntN(4)]
	case 13:
		return []float64{f(), r.real()}
	case 14:
		return []string{"a", "x"}
	case 15:
		return []variant.Vector2{{X: f(), Y: 2}}
	case 16, 17:
		a := &variant.Array{}
		for range r.IntN(4) {
			a.Values = append(a.Values, r.any(depth-1))
		}
		return a
	}
	d := &variant.Dictionary{}
	for range r.IntN(5) {
		d.Set([]any{"a", "b", variant.StringName("c"), "note", int64(1), nil, 2.5, variant.Vector3i{X: 1}}[r.IntN(8)], r.any(depth-1))
	}
	return d
}

// change returns an encoded value with a random change.
func (r random) change(t *testing.T, b []byte) []byte {
	var v any
	require.NoError(t, variant.Unmarshal(b, &v))
	changed, err := variant.Marshal(r.changed(v))
	if err != nil { // a float64 that math types cannot hold
		return b
	}
	return changed
}

func (r random) changed(v any) any {
	if r.IntN(3) > 0 {
		switch v := v.(type) {
		case *variant.Array:
			switch n := len(v.Values); {
			case n > 0 && r.IntN(4) > 0:
				i := r.IntN(n)
				v.Values[i] = r.changed(v.Values[i])
			case n > 0 && r.IntN(2) > 0:
				v.Values = v.Values[:n-1]
			default:
				v.Values = append(v.Values, r.any(2))
			}
			return v
		case *variant.Dictionary:
			var all []any
			for k := range v.All() {
				all = append(all, k)
			}
			changed := &variant.Dictionary{}
			pick := r.IntN(len(all) + 1)
			for i, k := range all {
				x, _ := v.Get(k)
				switch {
				case i != pick:
					changed.Set(k, x)
				case r.IntN(8) == 0: // the key is gone
				case r.IntN(8) == 0:
					changed.Set(r.any(0), x)
				default:
					changed.Set(k, r.changed(x))
				}
			}
			if pick == len(all) {
				changed.Set(texts[r.IntN(len(texts))], r.any(2))
			}
			return changed
		}
	}
	if r.IntN(4) == 0 {
		return nil
	}
	return r.any(3)
}

// TestSharing decodes values into targets whose slices, and in elements also pointers and maps,
// share memory. Slices can be parts of arrays of the target, and pointers lead to elements of
// slices. The results are those of new targets. Outside elements, Unmarshal follows pointers and
// maps, so two that are equal lead to one variable.
func TestSharing(t *testing.T) {
	types, compared := 500, 0
	if testenv.Full() {
		types = 10_000
	}
	for seed := range uint64(types) {
		r := random{rand.New(rand.NewPCG(seed, 2))}
		typ := r.typ(4)
		if seed%2 == 1 {
			typ = listsOf(r.typ(2))
		}
		name := typ.String()
		if strings.Contains(name, "omitzero") || strings.Contains(name, "Base") || strings.Contains(name, `gd:\"-\"`) {
			continue // old values of fields that are omitted, or are no fields of the encoding, remain
		}
		source := reflect.New(typ)
		r.fill(source.Elem(), 4)
		b, err := variant.Marshal(source.Interface())
		if err != nil {
			continue
		}
		want := reflect.New(typ)
		if variant.Unmarshal(b, want.Interface()) != nil {
			continue
		}
		for range 10 {
			s := sharer{r, map[reflect.Type][]reflect.Value{}, map[reflect.Type][]reflect.Value{}}
			got := reflect.New(typ)
			s.shape(got.Elem(), want.Elem())
			before := fmt.Sprintf("%+v", got.Elem())
			require.NoError(t, variant.Unmarshal(b, got.Interface()))
			require.True(t, reflect.DeepEqual(want.Elem().Interface(), got.Elem().Interface()), "seed %d: into %v %s:\n%s, not\n%s",
				seed, typ, before, show(got.Elem().Interface()), show(want.Elem().Interface()))
			compared++
		}
	}
	require.Greater(t, compared, types)
}

// listsOf returns a struct whose fields can refer to the same elements of type t.
func listsOf(t reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for i, of := range []reflect.Type{reflect.PointerTo(t), reflect.ArrayOf(3, t), reflect.SliceOf(t), reflect.PointerTo(t), reflect.SliceOf(t)} {
		fields = append(fields, reflect.StructField{Name: string(rune('A' + i)), Type: of})
	}
	return reflect.StructOf(fields)
}

// A sharer makes values that share memory.
type sharer struct {
	random
	made   map[reflect.Type][]reflect.Value // slices, pointers and maps
	arrays map[reflect.Type][]reflect.Value // slices of arrays outside elements, by their types
}

// shape makes v a value of the shape of like: it consists of the variables that a decoder of like
// uses again. Elements of lists have any values.
func (s *sharer) shape(v, like reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if all := s.arrays[v.Type()]; len(all) > 0 && s.IntN(3) == 0 {
			v.Set(all[s.IntN(len(all))])
			return
		}
		s.share(v, 3)
	case reflect.Array:
		s.shareAll(v, 3)
		t := reflect.SliceOf(v.Type().Elem())
		s.arrays[t] = append(s.arrays[t], v.Slice(0, v.Len()))
	case reflect.Pointer:
		if like.IsNil() {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		if all := s.made[reflect.SliceOf(v.Type().Elem())]; len(all) > 0 && s.IntN(2) == 0 {
			if of := all[s.IntN(len(all))]; of.Cap() > 0 {
				v.Set(of.Slice(0, of.Cap()).Index(s.IntN(of.Cap())).Addr())
			}
		}
		s.shape(v.Elem(), like.Elem())
	case reflect.Map:
		if !like.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
			for _, key := range like.MapKeys() {
				x := reflect.New(v.Type().Elem()).Elem()
				s.shape(x, like.MapIndex(key))
				v.SetMapIndex(key, x)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				s.shape(v.Field(i), like.Field(i))
			}
		}
	}
}

// share sets v to a random value, which often shares memory with earlier values.
func (s *sharer) share(v reflect.Value, depth int) {
	t := v.Type()
	switch k := t.Kind(); k {
	case reflect.Slice, reflect.Pointer, reflect.Map:
		if all := s.made[t]; len(all) > 0 && s.IntN(3) > 0 {
			v.Set(all[s.IntN(len(all))])
			if k == reflect.Slice {
				from := s.IntN(v.Cap() + 1)
				v.Set(v.Slice(from, from+s.IntN(v.Cap()-from+1)))
			}
			return
		}
		switch {
		case depth == 0:
			return
		case k == reflect.Map:
			s.fill(v, depth)
		case k == reflect.Pointer:
			v.Set(reflect.New(t.Elem()))
			s.share(v.Elem(), depth-1)
		default:
			v.Set(reflect.MakeSlice(t, s.IntN(6), 6))
			s.shareAll(v.Slice(0, 6), depth)
		}
		made := reflect.New(t).Elem() // v can change
		made.Set(v)
		s.made[t] = append(s.made[t], made)
	case reflect.Array:
		s.shareAll(v, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if t.Field(i).IsExported() {
				s.share(v.Field(i), depth)
			}
		}
	default:
		s.fill(v, depth)
	}
}

func (s *sharer) shareAll(v reflect.Value, depth int) {
	for i := range v.Len() {
		s.share(v.Index(i), depth-1)
	}
}
