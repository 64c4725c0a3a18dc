package variant

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// everything returns packets with values of all kinds, and the Go types to decode them.
func everything(t testing.TB) (all []fault) {
	zooInfo := must(fieldsOf(reflect.TypeFor[zoo]()))(t)
	full := &Dictionary{}
	for _, f := range zooInfo.all {
		full.Set(f.name, sampleOf(f.typ, 2))
	}
	full.Set("unknown", &Object{Class: "Node", Properties: []Property{{"a", dict("x", 1)}, {"b", "text"}}})
	full.Set(array(1), "key")
	full.Set(strings.Repeat("long", 20), StringName(strings.Repeat("long", 10_000)))
	full.Set(NodePath(strings.Repeat("n/", 10_000)), 1)
	for _, format := range []gdwire.Format{gdwire.Godot4, gdwire.Godot3, gdwire.Godot2} {
		o := fuzzOptions(format)
		o.MaxMemory = 0
		v := any(full)
		switch format {
		case gdwire.Godot3:
			v = dict("name", "Ada", "zoos", array(dict("name", "Bo")), "rid", RID(0), "any", array(1, 2.5))
		case gdwire.Godot2:
			v = dict("any", array(Image{1, 2, 3, 4, make([]byte, 100)}, InputEvent{1, 2, make([]byte, 8)}), "raw", Image{Data: make([]byte, 5)})
		}
		b := encoded(t, v, o)
		for _, variable := range []func() any{into[0], into[1], into[3], into[8]} {
			if fmt.Sprintf("%T", variable()) != "*map[string]*variant.zoo" {
				all = append(all, fault{b, variable, o})
			}
		}
		b = encoded(t, array(v, v), o)
		all = append(all, fault{b, into[0], o}, fault{b, into[2], o})
	}
	o := fuzzOptions(gdwire.Godot4)
	o.MaxMemory = 0
	for _, variable := range []any{map[level]string{1: "a"}, map[ivec2][]int{{1, 2}: {3}}, map[any]any{"a": 1, 2: "b"}, row{X: 1, Name: "a"}, extraMap{1, map[string]int{"x": 1}},
		[2][2]string{{"a", "b"}, {"c", "d"}}, [][]uint16{{1, 2}}, []celsius{{1}}, []level{1, 2}, [][3]float64{{1, 2, 3}}, [3]*int{ptr(1)}, Object{"A", []Property{{"b", 1}}}, []*Shared{{"a"}},
		player{Shared: &Shared{"x"}, Friends: []player{{Name: "f"}}}} {
		all = append(all, fault{encoded(t, variable, o), func() any { return reflect.New(reflect.TypeOf(variable)).Interface() }, o})
	}
	return all
}

type fault struct {
	packet []byte
	into   func() any
	o      *Options
}

// sampleOf returns a value of a Go type other than zero.
func sampleOf(t reflect.Type, depth int) any {
	v := reflect.New(t).Elem()
	switch {
	case t == reflect.TypeFor[Raw]():
		return dict("raw", []byte{1, 2, 3})
	case t == reflect.TypeFor[*Object]():
		return &Object{Class: "Node", Properties: []Property{{"p", 1}}}
	case t == reflect.TypeFor[*Dictionary]():
		return dict("a", 1, 2, "b")
	case t == reflect.TypeFor[Array]():
		return array(1, "a")
	case t == reflect.TypeFor[level]():
		return "level 7"
	case t == reflect.TypeFor[[4]float64]():
		return Color{1, 2, 3, 4}
	case t == reflect.TypeFor[celsius]():
		return dict("celsius", 1.5)
	case t == reflect.TypeFor[row]():
		return array(1, 2, "row")
	case reflect.PointerTo(t).Implements(textUnmarshalerType):
		return "::1"
	case t.Kind() == reflect.Interface:
		return array(Vector2{1, 2}, Projection{}, Signal{"s", 1}, []string{"a"}, []Color{{1, 2, 3, 4}})
	case t.Kind() == reflect.Slice && depth > 0:
		v.Set(reflect.MakeSlice(t, 2, 2))
		if t.Elem().Kind() == reflect.Struct && ownTypeOf(t.Elem()) == nil {
			return array(dict("text", "in"), dict("note", "in", "path", NodePath("/a")))
		}
	case t.Kind() == reflect.Map && depth > 0:
		key, _ := keyOf(t.Key())
		value := sampleOf(t.Elem(), depth-1)
		if t.Elem().Kind() == reflect.Struct {
			value = dict("text", "in map")
		}
		return dict(key, value)
	case t.Kind() == reflect.Pointer:
		return sampleOf(t.Elem(), depth)
	case t.Kind() == reflect.String:
		v.SetString("a")
	}
	return v.Interface()
}

func keyOf(t reflect.Type) (any, bool) {
	switch {
	case t == reflect.TypeFor[level]():
		return "level 2", true
	case t.Kind() == reflect.Interface:
		return "any", true
	}
	return reflect.Zero(t).Interface(), true
}

// A packet truncated at any byte is io.ErrUnexpectedEOF, and an error of the Reader is
// returned unchanged.
func TestCutAnywhere(t *testing.T) {
	for _, f := range everything(t) {
		v := f.into()
		require.NoError(t, Unmarshal(f.packet, v, *f.o), "%T", v)
		step := 1 + len(f.packet)/500
		if !testenv.Full() {
			step *= 7
		}
		for cut := 0; cut < len(f.packet); cut += step {
			err := Unmarshal(f.packet[:cut], f.into(), *f.o)
			if err == nil {
				require.Less(t, len(f.packet)-cut, 4, "the padding of the last bytes")
				continue
			}
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%T cut at %d", v, cut)

			d := gdwire.NewDecoder(&cutReader{f.packet[:cut]}, &f.o.Decoder)
			err = UnmarshalDecode(d, f.into(), *f.o)
			require.ErrorIs(t, err, errDisk, "%T cut at %d", v, cut)
			d.Release()

			d = gdwire.NewDecoder(&onceReader{f.packet[:cut], f.packet[cut:]}, &f.o.Decoder)
			again := f.into()
			if err = UnmarshalDecode(d, again, *f.o); err == nil { // it was met in looking ahead, and gone in reading
				require.Equal(t, v, again, "%T cut at %d for a moment", v, cut)
			} else {
				require.ErrorIs(t, err, errDisk, "%T cut at %d for a moment", v, cut)
			}
			d.Release()
		}
	}
}

// A cutReader fails with errDisk after its bytes.
type cutReader struct{ b []byte }

func (r *cutReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, errDisk
	}
	n := copy(p, r.b)
	r.b = r.b[n:]
	return n, nil
}

// A onceReader fails with errDisk once, before its rest.
type onceReader struct{ first, rest []byte }

func (r *onceReader) Read(p []byte) (int, error) {
	if len(r.first) == 0 && len(r.rest) > 0 {
		r.first, r.rest = r.rest, nil
		return 0, errDisk
	}
	n := copy(p, r.first)
	if r.first = r.first[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// With any Options.MaxMemory, the result is a LimitError or the value.
func TestMemoryOfAnySize(t *testing.T) {
	for _, f := range everything(t) {
		enough := false
		for memory := int64(1); !enough; memory += 1 + memory/8 {
			o := *f.o
			o.MaxMemory = memory
			v := f.into()
			err := Unmarshal(f.packet, v, o)
			if err == nil {
				enough = true
				continue
			}
			var limit *gdwire.LimitError
			require.ErrorAs(t, err, &limit, "%T", v)
			require.Equal(t, "MaxMemory", limit.Name)
			require.Equal(t, memory, limit.Max)
			require.Greater(t, limit.Got, memory)
		}
	}
}

// After an error of any limit or cut, the variable holds the parts decoded before, and no others.
func TestPartsBeforeLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	all := everything(t)
	for _, v := range []any{
		slices.Repeat([]struct{ X, Y, Z, W, V int }{{1, 2, 3, 4, 5}}, 50), slices.Repeat([]StringName{"a"}, 70), slices.Repeat([]string{"text"}, 70),
		slices.Repeat([][3]any{{1, 2, 3}}, 50), slices.Repeat([]uint16{7}, 90), slices.Repeat([]map[int]int{{1: 2}}, 30),
	} {
		all = append(all, fault{encoded(t, v, nil), func() any { return reflect.New(reflect.TypeOf(v)).Interface() }, &Options{}})
	}
	for _, f := range all {
		for i, limit := range []func(o *Options, n int64){
			func(o *Options, n int64) { o.MaxMemory = n },
			func(o *Options, n int64) { o.Decoder.Limits.Bytes = n },
			func(o *Options, n int64) { o.Decoder.Limits.Values = n },
			func(o *Options, n int64) { o.Decoder.Limits.Elements = n },
			func(o *Options, n int64) { o.Decoder.Limits.StringBytes = n },
			func(o *Options, n int64) { o.Decoder.Limits.PackedBytes = n },
		} {
			if r.IntN(testenv.Cases(3, 1)) > 0 && i > 0 {
				continue
			}
			before := f.into()                                                     // of the limit before
			for n := int64(1); ; n += 1 + r.Int64N(1+n*int64(len(f.packet))/1e5) { // small steps for few bytes
				o, v := *f.o, f.into()
				limit(&o, n)
				err := Unmarshal(f.packet, v, o)
				require.True(t, isPart(reflect.ValueOf(v), reflect.ValueOf(before)), "%T, %d, %v:\n%+v\n%+v", v, n, err, before, v)
				if before = v; err == nil {
					break
				}
			}
		}
		whole := f.into()
		require.NoError(t, Unmarshal(f.packet, whole, *f.o))
		for cut, before := 0, f.into(); cut < len(f.packet); cut += 1 + r.IntN(1+len(f.packet)/8) {
			v, slow := f.into(), f.into()
			_ = Unmarshal(f.packet[:cut], v, *f.o)
			d := gdwire.NewDecoder(&oneByteReader{f.packet[:cut]}, &f.o.Decoder)
			_ = UnmarshalDecode(d, slow, *f.o) // up to the last byte: knows no count that cannot fit
			d.Release()
			for _, parts := range [][2]any{{v, before}, {slow, v}, {whole, slow}} {
				require.True(t, isPart(reflect.ValueOf(parts[0]), reflect.ValueOf(parts[1])), "%T cut at %d", v, cut)
			}
			before = v
		}
	}
}

// isPart reports whether a variable with the value v could have the value part after an error. Elements of slices
// and entries of maps are whole, except the last in an any.
func isPart(v, part reflect.Value) bool {
	last := func(n int, at func(v reflect.Value, i int) reflect.Value) bool {
		for i := range n - 1 {
			if !reflect.DeepEqual(at(v, i).Interface(), at(part, i).Interface()) {
				return false
			}
		}
		return n == 0 || isPart(at(v, n-1), at(part, n-1))
	}
	switch x := part.Interface().(type) {
	case Array:
		all := v.Interface().(Array).Values
		return len(x.Values) <= len(all) && last(len(x.Values), func(v reflect.Value, i int) reflect.Value { return v.Field(1).Index(i) })
	case Object:
		all := v.Interface().(Object).Properties
		return len(x.Properties) <= len(all) && last(len(x.Properties), func(v reflect.Value, i int) reflect.Value { return v.Field(1).Index(i) })
	case Dictionary:
		d := v.Interface().(Dictionary)
		return x.Len() <= d.Len() && last(x.Len(), func(v reflect.Value, i int) reflect.Value {
			d := v.Interface().(Dictionary)
			return reflect.ValueOf(&d.entries[i]).Elem()
		})
	}
	switch {
	case part.IsZero():
		return true
	case part.Kind() == reflect.Interface && v.Elem().Type() != part.Elem().Type():
		return false
	case part.Kind() == reflect.Pointer || part.Kind() == reflect.Interface:
		return isPart(v.Elem(), part.Elem())
	case part.Kind() == reflect.Slice:
		return part.Len() <= v.Len() && reflect.DeepEqual(v.Slice(0, part.Len()).Interface(), part.Interface()) || part.Len() == 0
	case part.Kind() == reflect.Map:
		for _, key := range part.MapKeys() {
			if x := v.MapIndex(key); !x.IsValid() || !reflect.DeepEqual(x.Interface(), part.MapIndex(key).Interface()) {
				return false
			}
		}
		return true
	case part.Kind() == reflect.Struct && !reflect.DeepEqual(v.Interface(), part.Interface()):
		for i := range part.NumField() {
			if v.Type().Field(i).IsExported() && !isPart(v.Field(i), part.Field(i)) {
				return false
			}
		}
		return true
	case part.Kind() == reflect.Array:
		for i := range part.Len() {
			if !isPart(v.Index(i), part.Index(i)) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(v.Interface(), part.Interface())
}

// A Writer that fails at any byte ends the encoding.
func TestFailingWriter(t *testing.T) {
	for _, f := range everything(t) {
		v := f.into()
		require.NoError(t, Unmarshal(f.packet, v, *f.o))
		if _, err := Marshal(v, *f.o); err != nil {
			require.ErrorIs(t, err, gdwire.ErrType, "of a type that the format lacks")
			continue
		}
		large := []any{v, v}
		for len(large) < 1<<16/len(f.packet) {
			large = append(large, v)
		}
		large = append(large, make([]byte, 1<<16))
		whole := encoded(t, large, f.o)
		for after := 0; after < len(whole)-4; after += 10_000 {
			e := gdwire.NewEncoder(&cutWriter{after}, &f.o.Encoder)
			require.ErrorIs(t, MarshalEncode(e, large), errDisk, "%T", v)
			require.ErrorIs(t, e.Close(), errDisk)
			e.Close()
		}
	}
}

// A cutWriter fails after n bytes.
type cutWriter struct{ n int }

func (w *cutWriter) Write(p []byte) (int, error) {
	if len(p) <= w.n {
		w.n -= len(p)
		return len(p), nil
	}
	n := w.n
	w.n = 0
	return n, errDisk
}

// Siblings do not make room for deeper nesting either.
func TestDepthAfterSiblings(t *testing.T) {
	unlimited := Options{Encoder: gdwire.EncoderOptions{Depth: -1}, Decoder: gdwire.DecoderOptions{AllowObjects: true, Limits: gdwire.Limits{Depth: -1}}}
	var nested []any
	for range maxDepth {
		nested = []any{nested}
	}
	var deep []byte // as nested, encoded
	for range maxDepth + 1 {
		deep = binary.LittleEndian.AppendUint32(deep, uint32(headerOf(gdwire.TypeArray)))
		deep = binary.LittleEndian.AppendUint32(deep, 1)
	}
	deep = binary.LittleEndian.AppendUint32(deep, 0)
	for _, sibling := range []any{
		dict("a", nil), array(1), []any{1}, map[string]any{"a": 1}, map[string]string{"a": "b"}, map[int]int{1: 2}, map[any]any{1: 2}, []int{1}, [][]int{{1}}, [2]string{},
		simple{}, row{}, ptr(ptr(1)), &Object{Class: "A", Properties: []Property{{"a", 1}}}, Raw{}, level(1),
	} {
		t.Run(fmt.Sprintf("%T", sibling), func(t *testing.T) {
			const n = 2 * maxDepth
			require.ErrorIs(t, errOf(Marshal(append(slices.Repeat([]any{sibling}, n), nested), unlimited)), gdwire.ErrLimit)

			b := binary.LittleEndian.AppendUint32(nil, uint32(headerOf(gdwire.TypeArray)))
			b = binary.LittleEndian.AppendUint32(b, n+1)
			b = append(append(b, bytes.Repeat(encoded(t, sibling, nil), n)...), deep...)
			var v []any
			require.ErrorIs(t, Unmarshal(b, &v, unlimited), gdwire.ErrLimit)
		})
	}
}
