package variant

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

type (
	nestedSlice  []nestedSlice
	nestedMap    map[string]nestedMap
	nestedStruct struct{ Next *nestedStruct }
	nestedAny    struct{ Next any }
	nestedList   struct{ Next []nestedList }
	nestedTyped  struct {
		Next []any `gd:",type=Array"`
	}
)

// nestings contains each kind of container: a value inside one of them, a type of variable for it, and
// how many of them are accepted around a value.
var nestings = []struct {
	name             string
	make             func(inner any) any
	to               reflect.Type
	encoded, decoded int
}{
	{"*Array", func(inner any) any { return &Array{Values: []any{inner}} }, reflect.TypeFor[any](), maxDepth, maxDepth},
	{"Array", func(inner any) any { return Array{Values: []any{inner}} }, reflect.TypeFor[Array](), maxDepth, maxDepth},
	{"[]any", func(inner any) any { return []any{inner} }, reflect.TypeFor[[]any](), maxDepth, maxDepth},
	{"[1]any", func(inner any) any { return [1]any{inner} }, reflect.TypeFor[[1]any](), maxDepth, maxDepth},
	{"*Dictionary", func(inner any) any { d := &Dictionary{}; d.Set("a", inner); return d }, reflect.TypeFor[*Dictionary](), maxDepth, maxDepth},
	{"Dictionary", func(inner any) any { var d Dictionary; d.Set("a", inner); return d }, reflect.TypeFor[Dictionary](), maxDepth, maxDepth},
	{"map[string]any", func(inner any) any { return map[string]any{"a": inner} }, reflect.TypeFor[map[string]any](), maxDepth, maxDepth},
	{"map[any]any", func(inner any) any { return map[any]any{"a": inner} }, reflect.TypeFor[map[any]any](), maxDepth, maxDepth},
	{"*Object", func(inner any) any { return &Object{Class: "A", Properties: []Property{{"a", inner}}} }, reflect.TypeFor[*Object](), maxDepth, maxDepth},
	{"Object", func(inner any) any { return Object{Class: "A", Properties: []Property{{"a", inner}}} }, reflect.TypeFor[Object](), maxDepth, maxDepth},
	{"struct", func(inner any) any { return nestedAny{inner} }, reflect.TypeFor[nestedAny](), maxDepth, maxDepth},
	{"typed slice", func(inner any) any { return nestedTyped{[]any{inner}} }, reflect.TypeFor[nestedTyped](), maxDepth / 2, maxDepth / 2},
	{"slice", func(inner any) any {
		if inner == nil {
			return nestedSlice{}
		}
		return nestedSlice{inner.(nestedSlice)}
	}, reflect.TypeFor[nestedSlice](), maxDepth, maxDepth},
	{"slice and struct", func(inner any) any {
		if inner == nil {
			return nestedList{[]nestedList{}}
		}
		return nestedList{[]nestedList{inner.(nestedList)}}
	}, reflect.TypeFor[nestedList](), maxDepth / 2, maxDepth / 2},
	{"map", func(inner any) any {
		if inner == nil {
			return nestedMap{}
		}
		return nestedMap{"a": inner.(nestedMap)}
	}, reflect.TypeFor[nestedMap](), maxDepth, maxDepth},
	{"pointer and struct", func(inner any) any {
		next, _ := inner.(*nestedStruct)
		return &nestedStruct{next}
	}, reflect.TypeFor[*nestedStruct](), maxDepth / 2, maxDepth / 2},
	{"pointer and struct in any", func(inner any) any { return &nestedAny{inner} }, reflect.TypeFor[*nestedAny](), maxDepth / 2, maxDepth - 1},
}

// Each container counts once, and each pointer that does not lead to an Array, Dictionary or Object.
func TestDepthOfContainers(t *testing.T) {
	o := Options{MaxMemory: -1, Encoder: gdwire.EncoderOptions{Depth: -1}, Decoder: gdwire.DecoderOptions{AllowObjects: true, Limits: gdwire.NoLimits}}
	for _, c := range nestings {
		for n, good := range map[int]bool{c.encoded: true, c.encoded + 1: false} {
			var v any
			for range n {
				v = c.make(v)
			}
			_, err := Marshal(v, o)
			requireDepth(t, good, err, "encode %d of %s", n, c.name)
		}
		for n, good := range map[int]bool{c.decoded: true, c.decoded + 1: false} {
			err := Unmarshal(nestedPacket(t, c.make, n), reflect.New(c.to).Interface(), o)
			requireDepth(t, good, err, "decode %d of %s", n, c.name)
		}
	}
}

// JSON has the same limit.
func TestDepthOfJSON(t *testing.T) {
	for n, good := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		v := new(Array)
		for range n - 1 {
			v = &Array{Values: []any{v}}
		}
		_, err := v.MarshalJSON()
		requireDepth(t, good, err, "%d Arrays as JSON", n)
	}
}

func requireDepth(t *testing.T, good bool, err error, format string, args ...any) {
	t.Helper()
	if good {
		require.NoError(t, err, fmt.Sprintf(format, args...))
		return
	}
	var limit *gdwire.LimitError
	require.ErrorAs(t, err, &limit, fmt.Sprintf(format, args...))
	require.EqualValues(t, maxDepth, limit.Max)
}

// nestedPacket returns the encoding of a value inside n containers, which can be too many for Marshal.
func nestedPacket(t *testing.T, make func(inner any) any, n int) (b []byte) {
	inner := encoded(t, make(nil), nil)
	start, isSuffix := bytes.CutSuffix(encoded(t, make(make(nil)), nil), inner)
	require.True(t, isSuffix)
	return append(bytes.Repeat(start, n-1), inner...)
}
