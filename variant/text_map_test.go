package variant

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// randomText returns a key that often begins or ends as others do.
func randomText(r *rand.Rand) string {
	var b []byte
	for range r.IntN(4) {
		b = append(b, []string{"", "a", "\x01", "player_", "é", "z", "\U0001f600"}[r.IntN(7)]...)
	}
	return string(b)
}

// randomTextMap returns a map of type t with up to n entries.
func randomTextMap(r *rand.Rand, t reflect.Type, n int) reflect.Value {
	m := reflect.MakeMap(t)
	for range n {
		v := reflect.New(t.Elem()).Elem()
		switch v.Kind() {
		case reflect.Bool:
			v.SetBool(r.IntN(2) > 0)
		case reflect.String:
			v.SetString(randomText(r))
		case reflect.Float32, reflect.Float64:
			v.SetFloat(float64(r.IntN(100)) / 4)
		case reflect.Interface:
			trees := []any{
				nil, true, r.IntN(100), int64(-1), 1.5, "text", []any{}, []any{nil, "a"}, map[string]any{}, map[string]any{randomText(r): 1},
				map[string]int{"b": 1, "a": 2}, dict("a", 1), array(), (*Dictionary)(nil), Vector2{1, 2}, mvText("a"), []any(nil), map[string]any(nil),
			}
			if x := trees[r.IntN(len(trees))]; x != nil {
				v.Set(reflect.ValueOf(x))
			}
		default:
			v.SetInt(int64(r.IntN(100)) - 50)
		}
		m.SetMapIndex(reflect.ValueOf(randomText(r)), v)
	}
	return m
}

// A textMap encodes as makeReflectedMapEncoder does.
func TestTextMapsAsReflected(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for elem := range textMaps {
		typ := reflect.MapOf(stringType, elem)
		t.Run(typ.String(), func(t *testing.T) {
			planner := planner[encodeFunc]{&encodePlans, map[planKey]*plan[encodeFunc]{}}
			reflected := must(encodePlanner{&planner}.makeReflectedMapEncoder(typ))(t)
			for i := range 300 {
				m := randomTextMap(r, typ, i%40)
				s := getEncoder()
				s.resetBytes(&Options{}, nil)
				require.NoError(t, reflected(s, variableOf(addressable(m))))
				want := slices.Clone(s.e.Bytes())
				s.release()
				require.Equal(t, want, encoded(t, m.Interface(), nil))
				require.Equal(t, want, encoded(t, addressable(m).Addr().Interface(), nil))
				in := encoded(t, []any{m.Interface()}, nil)
				require.Equal(t, want, in[8:])
			}
		})
	}
}

// A textMap decodes as mapDecoder.decode does, with the same errors after the same memory.
func TestTextMapsReadAsReflected(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var packets [][]byte
	for elem := range textMaps {
		for n := range 20 {
			packets = append(packets, encoded(t, randomTextMap(r, reflect.MapOf(stringType, elem), n).Interface(), nil))
		}
	}
	for _, key := range []any{"a", StringName("a"), NodePath("a"), 1, nil} {
		packets = append(packets, encoded(t, &Dictionary{entries: []Entry[any, any]{{"a", nil}, {"b", 1}, {key, 2}}}, nil))
	}
	packets = append(packets, encoded(t, nil, nil), encoded(t, 1, nil))
	for elem := range textMaps {
		typ := reflect.MapOf(stringType, elem)
		t.Run(typ.String(), func(t *testing.T) {
			m := must(decodePlanner{&planner[decodeFunc]{&decodePlans, map[planKey]*plan[decodeFunc]{}}}.newMapDecoder(typ))(t)
			for _, packet := range packets {
				for range 4 {
					b := packet
					o := &Options{}
					switch r.IntN(4) {
					case 0:
						b = b[:r.IntN(len(b)+1)]
					case 1:
						o.MaxMemory = 1 + r.Int64N(2000)
					}
					want, got := reflect.New(typ).Elem(), reflect.New(typ)
					if r.IntN(3) == 0 {
						want.Set(reflect.MakeMap(typ))
						want.SetMapIndex(reflect.ValueOf("a"), reflect.Zero(elem))
						got.Elem().Set(reflect.MakeMap(typ))
						got.Elem().SetMapIndex(reflect.ValueOf("a"), reflect.Zero(elem))
					}
					s := getDecoder()
					s.resetBytes(b, o)
					err := m.reading(m.decode)(s, variableOf(want))
					if err != nil {
						err = explain(err, b)
					}
					s.release()
					also := Unmarshal(b, got.Interface(), *o)
					require.Equal(t, fmt.Sprint(err), fmt.Sprint(also), "%x", b)
					require.Equal(t, want.Interface(), got.Elem().Interface(), "%x", b)
				}
			}
		})
	}
}

type (
	namedTree  map[string]any
	marshalMap map[string]any
)

func (marshalMap) MarshalVariant(e *gdwire.Encoder) error { return e.WriteString("method") }

// Methods and names of types are those of the map that is encoded.
func TestTextMapTypes(t *testing.T) {
	tree := map[string]any{"b": 1, "a": nil}
	require.Equal(t, encoded(t, dict("a", nil, "b", 1), nil), encoded(t, namedTree(tree), nil))
	require.Equal(t, encoded(t, "method", nil), encoded(t, marshalMap(tree), nil))
	require.Equal(t, encoded(t, array("method"), nil), encoded(t, []any{marshalMap(tree)}, nil))
	require.Equal(t, encoded(t, dict("a", "method"), nil), encoded(t, map[string]mvInt64{"a": 1}, nil))
	require.Nil(t, textMapFor(reflect.TypeFor[map[mtText]any]()))

	_, err := Marshal(map[string]any{"a": namedTree{"b": []any{1, make(chan int)}}})
	require.EqualError(t, err, `gdwire: offset 56, $.a.b[1]: variant: chan int has no Variant type`)
	require.ErrorIs(t, errOf(Marshal(map[string]string{"a": "\xff"})), gdwire.ErrUTF8)
}

// A map or list that contains itself is an error.
func TestTextMapCycles(t *testing.T) {
	tree, named, list := map[string]any{}, namedTree{}, make([]any, 1)
	tree["a"], named["a"], list[0] = tree, named, list
	for _, v := range []any{tree, &tree, named, list, &list} {
		_, err := Marshal(v, Options{Encoder: gdwire.EncoderOptions{Depth: -1}})
		var at *TypeError
		require.ErrorAs(t, err, &at, "%T", v)
		require.ErrorContains(t, err, fmt.Sprint(maxDepth), "%T", v)
	}
}

// The pool keeps neither the pairs nor the memory of large maps.
func TestSortedPairsAreEmptied(t *testing.T) {
	for _, n := range []int{0, 1, 100, maxSorted, 3 * maxSorted} {
		m := map[string]any{}
		for i := range n {
			m[fmt.Sprint(i)] = fmt.Sprint("value ", i)
		}
		var p sortedPairs[any]
		p.fill(m, n)
		var keys []string
		for _, next := range p.order {
			keys = append(keys, p.pairs[next.at].Key)
		}
		require.Equal(t, slices.Sorted(maps.Keys(m)), keys)
		require.Equal(t, n <= maxSorted, p.empty(), "%d", n)
		for _, pair := range p.pairs[:cap(p.pairs)] {
			require.Zero(t, pair)
		}
	}
}

// Trees are written without allocations.
func TestTreeAllocations(t *testing.T) {
	if testenv.Race {
		t.Skip("pools drop objects")
	}
	tree := map[string]any{"a": 1, "b": map[string]any{"c": "d", "e": []any{1.5, true, nil}}}
	e := gdwire.NewEncoder(io.Discard, nil)
	defer e.Close()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		e.Reset(io.Discard)
		require.NoError(t, MarshalEncode(e, tree))
		require.NoError(t, e.Flush())
	}))
}

// The words of texts of all lengths are in the order of the texts.
func TestWordOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		b := make([]byte, r.IntN(11))
		for i := range b {
			b[i] = "\x00\x01az\xff"[r.IntN(5)]
		}
		text := string(b)
		require.Equal(t, binary.BigEndian.Uint64(append(b, make([]byte, 8)...)), wordOf(text), "%q", text)
	}
}

// Any number of keys is sorted by words, and by texts where these are equal.
func TestSortKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 2000 {
		text := func(i int) string { return string(rune(0x400 - i)) }
		if n%5 == 0 {
			text = func(int) string { return "" }
		}
		order := make([]sortedKey, r.IntN([]int{fewSorted + 1, manySorted, 3 * manySorted}[r.IntN(3)]))
		bits, shift := 1+r.IntN(20), r.IntN(40)
		for i := range order {
			order[i] = sortedKey{r.Uint64N(1<<bits) << shift, i}
		}
		want := slices.Clone(order)
		slices.SortFunc(want, func(a, b sortedKey) int {
			return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(text(a.at), text(b.at)))
		})
		twice := sortKeys(order, text)
		if n%5 > 0 {
			require.Equal(t, want, order)
			require.Equal(t, -1, twice)
			continue
		}
		words := map[uint64]int{}
		for i := range want {
			require.Equal(t, want[i].word, order[i].word)
			words[want[i].word]++
		}
		require.Equal(t, len(words) < len(want), twice >= 0)
		if i := slices.IndexFunc(order, func(k sortedKey) bool { return k.at == twice }); i >= 0 {
			require.Greater(t, words[order[i].word], 1)
		}
	}
}
