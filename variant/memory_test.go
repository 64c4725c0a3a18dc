package variant

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// liveHeap returns the size of the objects that the latest garbage collection found.
func liveHeap() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// A heapWatch records the largest live heap. Its finalizer runs after each collection.
type heapWatch struct{ largest, done atomic.Int64 }

type cycle struct{ w *heapWatch }

func (w *heapWatch) next() {
	runtime.SetFinalizer(&cycle{w}, func(c *cycle) {
		for {
			live, largest := liveHeap(), c.w.largest.Load()
			if live <= largest || c.w.largest.CompareAndSwap(largest, live) {
				break
			}
		}
		if c.w.done.Load() == 0 {
			c.w.next()
		}
	})
}

// peakHeap returns by how many bytes the live heap grows at most while f runs.
func peakHeap(f func()) int64 {
	runtime.GC()
	runtime.GC() // also what pools hold
	before := liveHeap()
	w := &heapWatch{}
	w.next()
	f()
	w.done.Store(1)
	return w.largest.Load() - before
}

// hostile returns packets of about size bytes that need much memory.
func hostile(t testing.TB, size int) map[string][]byte {
	repeat := func(head gdwire.Type, v any) []byte {
		b := encoded(t, v, &Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}})
		n := size / len(b)
		all := binary.LittleEndian.AppendUint32(nil, uint32(headerOf(head)))
		all = binary.LittleEndian.AppendUint32(all, uint32(n))
		for range n {
			all = append(all, b...)
		}
		return all
	}
	pairs := func(n int, key func(i int) any, value any) []byte {
		all := binary.LittleEndian.AppendUint32(nil, uint32(headerOf(gdwire.TypeDictionary)))
		all = binary.LittleEndian.AppendUint32(all, uint32(n))
		for i := range n {
			all = append(append(all, encoded(t, key(i), nil)...), encoded(t, value, nil)...)
		}
		return all
	}
	// nested returns containers inside each other that declare as many values as can follow.
	nested := func(levels int, id gdwire.Type, before ...any) (all []byte) {
		for i := range levels {
			left := size - i*size/levels
			all = binary.LittleEndian.AppendUint32(all, uint32(headerOf(id)))
			all = binary.LittleEndian.AppendUint32(all, uint32(left/9))
			for _, v := range before {
				all = append(all, encoded(t, v, nil)...)
			}
		}
		return append(all, make([]byte, size)...)
	}
	intKey := func(i int) any { return i }
	textKey := func(i int) any { return fmt.Sprint("k", i) }
	packets := map[string][]byte{
		"nils":              repeat(gdwire.TypeArray, nil),
		"ints":              repeat(gdwire.TypeArray, 1000),
		"short texts":       repeat(gdwire.TypeArray, "a"),
		"texts":             repeat(gdwire.TypeArray, strings.Repeat("x", 33)),
		"empty arrays":      repeat(gdwire.TypeArray, array()),
		"arrays of one":     repeat(gdwire.TypeArray, array(nil)),
		"arrays of nine":    repeat(gdwire.TypeArray, array(1, 2, 3, 4, 5, 6, 7, 8, 9)),
		"empty dicts":       repeat(gdwire.TypeArray, dict()),
		"dicts of one":      repeat(gdwire.TypeArray, dict(1, nil)),
		"dicts of a name":   repeat(gdwire.TypeArray, dict("name", "x")),
		"dicts of nine":     repeat(gdwire.TypeArray, dict(1, nil, 2, nil, 3, nil, 4, nil, 5, nil, 6, nil, 7, nil, 8, nil, 9, nil)),
		"notes":             repeat(gdwire.TypeArray, dict("note", nil)),
		"paths":             repeat(gdwire.TypeArray, NodePath("a")),
		"signals":           repeat(gdwire.TypeArray, Signal{"s", 1}),
		"vectors":           repeat(gdwire.TypeArray, Vector2{1, 2}),
		"objects":           repeat(gdwire.TypeArray, &Object{Class: "A", Properties: []Property{{"p", nil}}}),
		"packed of one":     repeat(gdwire.TypeArray, []byte{1}),
		"packed texts":      repeat(gdwire.TypeArray, []string{""}),
		"packed vectors":    encoded(t, make([]Vector3, size/12), nil),
		"bytes":             encoded(t, make([]byte, size), nil),
		"int32":             encoded(t, make([]int32, size/4), nil),
		"text":              encoded(t, strings.Repeat("x", size), nil),
		"int keys":          pairs(size/12, intKey, nil),
		"text keys":         pairs(size/20, textKey, nil),
		"unknown keys":      pairs(size/40, textKey, dict("note", nil)),
		"dicts in a dict":   pairs(size/36, intKey, dict(1, 2)),
		"texts to dicts":    pairs(size/40, textKey, dict("x", dict())),
		"nested arrays":     nested(140, gdwire.TypeArray),
		"nested dicts":      nested(140, gdwire.TypeDictionary, "children"),
		"nested children":   nested(70, gdwire.TypeDictionary, "name", "x", "children"),
		"nested int keys":   nested(140, gdwire.TypeDictionary, 1),
		"nested dict keys":  nested(140, gdwire.TypeDictionary),
		"nested many texts": nested(140, gdwire.TypeArray, "text", nil),
	}
	var lines []string
	for range size / 8 {
		lines = append(lines, "")
	}
	packets["packed empty texts"] = encoded(t, lines, nil)
	return packets
}

// headerOf returns the id of t in Godot 4.
func headerOf(t gdwire.Type) int {
	return map[gdwire.Type]int{gdwire.TypeArray: 28, gdwire.TypeDictionary: 27}[t]
}

type (
	treeNode struct {
		Name     string
		Pos      Vector3
		Rot      Quaternion
		Children map[string]treeNode
	}
	lists []lists
	dicts map[string]dicts
	marks map[int]marks
)

// hostileTypes are Go types that need much memory for what a sender writes.
var hostileTypes = []reflect.Type{
	reflect.TypeFor[any](), reflect.TypeFor[Dictionary](), reflect.TypeFor[Array](), reflect.TypeFor[Raw](), reflect.TypeFor[Object](),
	reflect.TypeFor[string](), reflect.TypeFor[[]byte](), reflect.TypeFor[[]int8](), reflect.TypeFor[[]int64](), reflect.TypeFor[[]string](), reflect.TypeFor[[]StringName](), reflect.TypeFor[[]Vector3](),
	reflect.TypeFor[[]any](), reflect.TypeFor[[]*any](), reflect.TypeFor[[]**int](), reflect.TypeFor[[]Raw](), reflect.TypeFor[[]NodePath](), reflect.TypeFor[[]Signal](), reflect.TypeFor[[]*Object](),
	reflect.TypeFor[[][]string](), reflect.TypeFor[[][]byte](), reflect.TypeFor[[][]int](), reflect.TypeFor[[][][]any](), reflect.TypeFor[[][64]int](), reflect.TypeFor[[][1]any](), reflect.TypeFor[[]*[100]string](),
	reflect.TypeFor[map[string]any](), reflect.TypeFor[map[any]any](), reflect.TypeFor[map[int]int](), reflect.TypeFor[map[int]struct{}](), reflect.TypeFor[map[int8]bool](), reflect.TypeFor[map[string]string](),
	reflect.TypeFor[map[int][16]float64](), reflect.TypeFor[map[int][200]byte](), reflect.TypeFor[map[[2]any][]int](), reflect.TypeFor[map[int]*[50]int](), reflect.TypeFor[map[int]map[int]int](),
	reflect.TypeFor[map[string]Dictionary](), reflect.TypeFor[map[any]map[any]any](),
	reflect.TypeFor[[]map[int][16]float64](), reflect.TypeFor[[]map[string]string](), reflect.TypeFor[[]map[int][300]byte](), reflect.TypeFor[[]map[any]any](),
	reflect.TypeFor[treeNode](), reflect.TypeFor[map[string]treeNode](), reflect.TypeFor[[]treeNode](), reflect.TypeFor[lists](), reflect.TypeFor[dicts](), reflect.TypeFor[marks](),
	reflect.TypeFor[node](), reflect.TypeFor[player](), reflect.TypeFor[[]extra](), reflect.TypeFor[[]extraMap](), reflect.TypeFor[extra](), reflect.TypeFor[extraMap](), reflect.TypeFor[map[string]extra](),
	reflect.TypeFor[[]struct{ *Shared }](), reflect.TypeFor[map[string]*Shared](), reflect.TypeFor[[]simple](), reflect.TypeFor[[]zoo](), reflect.TypeFor[map[int]zoo](),
	reflect.TypeFor[struct {
		Rest map[string][20]any `gd:",embed"`
	}](),
}

// The least MaxMemory is the capacity of a slice, and of an embedded map its size, a variable for each value, and the keys.
func TestLeastMemory(t *testing.T) {
	type large struct {
		Rest map[string][20]int64 `gd:",embed"`
	}
	least := func(v any) (int, reflect.Value) {
		b, into := encoded(t, v, nil), reflect.New(reflect.TypeOf(v))
		require.NoError(t, Unmarshal(b, into.Interface()))
		return sort.Search(1<<20, func(n int) bool {
			return Unmarshal(b, reflect.New(reflect.TypeOf(v)).Interface(), Options{MaxMemory: int64(max(n, 1))}) == nil
		}), into.Elem()
	}
	for n := 1; n < 60; n++ {
		got, v := least(make([][5]bool, n))
		require.Equal(t, 5*v.Cap(), got, "a slice of %d", n)
		all := large{map[string][20]int64{}}
		for i := range n {
			all.Rest[fmt.Sprintf("key %02d", i)] = [20]int64{}
		}
		got, _ = least(all)
		sizes := mapSizesOf(reflect.TypeOf(all.Rest))
		require.Equal(t, int(sizes.bytes(n))+n*(len("key 00")+20*8), got, "a map of %d", n)
	}
}

// The heap grows by at most twice Options.MaxMemory and 1 MiB while hostile packets are decoded
// into any Go type.
func TestPeakMemory(t *testing.T) {
	const most = 2 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	random := rand.New(rand.NewPCG(1, 2))
	packets := hostile(t, most)
	var names []string
	for name := range packets {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, typ := range hostileTypes {
		t.Run(typ.String(), func(t *testing.T) {
			for _, name := range names {
				packet := packets[name]
				if !testenv.Full() && random.IntN(96) > 0 {
					continue
				}
				var err error
				v := reflect.New(typ)
				peak := peakHeap(func() {
					err = Unmarshal(packet, v.Interface(), Options{
						MaxMemory: most, Decoder: gdwire.DecoderOptions{AllowObjects: true, Limits: gdwire.Limits{Elements: -1, Values: -1}},
					})
				})
				if peak > 2*most+1<<20 {
					t.Errorf("%s: %.1f MiB, %v", name, float64(peak)/(1<<20), err)
				}
				runtime.KeepAlive(v)
			}
		})
	}
	require.NotEmpty(t, packets)
}
