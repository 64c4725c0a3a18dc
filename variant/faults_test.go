package variant

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
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
		if t.Elem().Kind() == reflect.Struct && ownTypes[t.Elem()] == nil {
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

// Every kind of Go value increments the depth and decrements it afterwards.
func TestDepthOfSiblings(t *testing.T) {
	wide := make([]any, 3*maxDepth)
	for i := range wide {
		wide[i] = []any{dict("a", array()), simple{}, []int{1}, map[int]int{1: 2}, ptr(ptr(1)), &Object{Class: "A"}, row{}, [2]string{}}
	}
	o := &Options{Decoder: gdwire.DecoderOptions{AllowObjects: true}}
	b := encoded(t, wide, o)
	var all []struct {
		_    struct{} `gd:",array"`
		Any  any
		S    simple
		Ints []int
		Map  map[int]int
		Ptr  **int
		Obj  *Object
		Row  row
		Pair [2]string
	}
	require.NoError(t, Unmarshal(b, &all, *o))
	var v any
	require.NoError(t, Unmarshal(b, &v, *o))
	require.Len(t, all, len(wide))
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
			const n = 4 * maxDepth
			require.ErrorIs(t, errOf(Marshal(append(slices.Repeat([]any{sibling}, n), nested), unlimited)), gdwire.ErrLimit)

			b := binary.LittleEndian.AppendUint32(nil, uint32(headerOf(gdwire.TypeArray)))
			b = binary.LittleEndian.AppendUint32(b, n+1)
			b = append(append(b, bytes.Repeat(encoded(t, sibling, nil), n)...), deep...)
			var v []any
			require.ErrorIs(t, Unmarshal(b, &v, unlimited), gdwire.ErrLimit)
		})
	}
}
