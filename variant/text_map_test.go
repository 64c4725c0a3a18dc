package variant

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
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

// randomMap returns a map of type t with up to n entries.
func randomMap(r *rand.Rand, t reflect.Type, n int) reflect.Value {
	m := reflect.MakeMap(t)
	for range n {
		m.SetMapIndex(randomOf(r, t.Key()), randomOf(r, t.Elem()))
	}
	return m
}

func randomOf(r *rand.Rand, t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
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
		if x := reflect.ValueOf(trees[r.IntN(len(trees))]); x.IsValid() && x.Type().Implements(t) {
			v.Set(x)
		}
	case reflect.Slice:
		for range r.IntN(3) {
			v.Set(reflect.Append(v, randomOf(r, t.Elem())))
		}
	case reflect.Map:
		v.Set(randomMap(r, t, r.IntN(3)))
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(randomOf(r, t.Elem()).Addr())
		}
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(randomOf(r, t.Elem()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if _, ok := componentsOf(t); ok {
				v.Field(i).Set(randomOf(r, t.Field(i).Type))
			}
		}
	default:
		if v.CanUint() {
			v.SetUint(r.Uint64() >> (1 + r.IntN(63)))
			break
		}
		v.SetInt(r.Int64() >> r.IntN(64))
	}
	return v
}

// Frequent maps are encoded as those of other types are, which include named types and values with methods.
func TestFrequentMapsAsReflected(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type namedInt int
	keys := []any{"", myString(""), StringName(""), NodePath(""), 0, int32(0), int64(0), uint32(0), uint64(0), namedInt(0), myInt(0), myBool(false), 0.5}
	elems := []any{
		[1]any{}, myBool(false), "", myString(""), mvText(""), NodePath(""), 0, int8(0), int32(0), uint64(0), mvInt64(0), float32(0), 0.0,
		[]byte{}, []int64{}, []string{}, []any{}, []myFloat{}, [1]map[string]any{}, [1]map[string]int{}, [1]map[int][]any{}, new(string), new([]int64), Vector3{}, [1]fmt.Stringer{}, struct{}{}, array(),
	}
	for _, k := range keys {
		for _, v := range elems {
			elem := reflect.TypeOf(v)
			if elem.Kind() == reflect.Array && elem.Len() == 1 {
				elem = elem.Elem() // an interface or a map
			}
			typ := reflect.MapOf(reflect.TypeOf(k), elem)
			b := encodePlanner{&planner[encodeFunc]{&encodePlans, map[planKey]*plan[encodeFunc]{}}}
			c := newMapEncoder(typ, must(b.keysOf(typ.Key(), gdwire.Elem{}))(t), must(b.plan(elem, 0))(t))
			c.mapAccess = mapAccess{}
			for i := range 20 {
				m := randomMap(r, typ, i*i%220)
				s := getEncoder()
				s.resetBytes(&Options{}, nil)
				wantErr := c.encode(s, variableOf(addressable(m)))
				want := slices.Clone(s.e.Bytes())
				s.release()
				for _, x := range []any{m.Interface(), addressable(m).Addr().Interface(), []any{m.Interface()}} {
					got, err := Marshal(x)
					require.Equal(t, wantErr == nil, err == nil, "%v: %v, %v", typ, wantErr, err)
					require.True(t, err != nil || bytes.HasSuffix(got, want), "%v", typ)
				}
			}
		}
	}
}

// Frequent maps are read as MapRange reads them, of any size and after keys are deleted.
func TestFrequentMapsAsRanged(t *testing.T) {
	r, frequent := rand.New(rand.NewPCG(5, 6)), 0
	for _, k := range []any{"", myString(""), StringName(""), 0, int32(0), int64(0), uint64(0)} {
		for _, v := range []any{
			false, myBool(false), 0, int64(0), uint64(0), 0.5, "", myString(""), [1]any{}, [1]fmt.Stringer{}, new(string), [1]map[string]any{}, [1]map[string]int{},
			[]byte{}, []int64{}, []string{}, []any{},
		} {
			elem := reflect.TypeOf(v)
			if elem.Kind() == reflect.Array {
				elem = elem.Elem()
			}
			typ := reflect.MapOf(reflect.TypeOf(k), elem)
			c := newMapEncoder(typ, mapKeys{}, nil)
			if elem == reflect.TypeFor[fmt.Stringer]() {
				require.Nil(t, c.pairs, "an interface with methods is no any")
			}
			if c.pairs == nil {
				continue
			}
			frequent++
			reflected := *c
			reflected.mapAccess = mapAccess{}
			pairs := func(p *mapPairs, n int) map[any]any {
				all := make(map[any]any, n)
				for i := range n {
					all[valueOf(c.keyAt(p, i), typ.Key()).Interface()] = valueOf(elemAt(p.values, i, c.valueSize), elem).Interface()
				}
				require.Len(t, all, n)
				return all
			}
			for _, n := range []int{0, 1, 8, 9, 1000} {
				m := addressable(reflect.MakeMapWithSize(typ, r.IntN(1+n)))
				for i := range n {
					key := reflect.New(typ.Key()).Elem()
					if key.Kind() == reflect.String {
						key.SetString(fmt.Sprint(i))
					} else {
						key.Set(reflect.ValueOf(i).Convert(typ.Key()))
					}
					m.SetMapIndex(key, randomOf(r, elem))
				}
				for range 2 {
					got := pairs(c.take(new(encoder), variableOf(m)))
					require.Len(t, got, m.Len())
					require.True(t, reflect.DeepEqual(pairs(reflected.take(new(encoder), variableOf(m))), got), "%v of %d", typ, m.Len())
					for i, key := range m.MapKeys() { // and once more
						if i%3 > 0 {
							m.SetMapIndex(key, reflect.Value{})
						}
					}
				}
			}
		}
	}
	require.Equal(t, 5*6+2*5, frequent)
}

// Frequent maps are decoded as others are, with the same errors after the same memory.
func TestFrequentMapsReadAsReflected(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	elems := []reflect.Type{
		anyType, stringType, reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[[]byte](), reflect.TypeFor[[]int64](), reflect.TypeFor[[]string](),
		reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](),
	}
	var packets [][]byte
	for _, elem := range elems {
		for n := range 20 {
			packets = append(packets, encoded(t, randomMap(r, reflect.MapOf(stringType, elem), n).Interface(), nil))
		}
	}
	for _, key := range []any{"a", StringName("a"), NodePath("a"), 1, nil} {
		packets = append(packets, encoded(t, &Dictionary{entries: []Entry[any, any]{{"a", nil}, {"b", 1}, {key, 2}}}, nil))
	}
	packets = append(packets, encoded(t, nil, nil), encoded(t, 1, nil))
	for _, elem := range elems {
		typ := reflect.MapOf(stringType, elem)
		t.Run(typ.String(), func(t *testing.T) {
			m := must(decodePlanner{&planner[decodeFunc]{&decodePlans, map[planKey]*plan[decodeFunc]{}}}.newMapDecoder(typ, 0))(t)
			m.mapAccess = mapAccess{}
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
					err := m.decode(s, variableOf(want))
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

// An encoder keeps neither the pairs nor the memory of large maps.
func TestPairsAreEmptied(t *testing.T) {
	const most = maxSorted / (4 * strconv.IntSize / 8)
	for _, n := range []int{0, 1, 100, most, most + 1, 3 * most} {
		m := map[string]any{}
		for i := range n {
			m[fmt.Sprint(i)] = fmt.Sprint("value ", i)
		}
		s := new(encoder)
		s.resetBytes(&Options{}, nil)
		require.NoError(t, s.any(m))
		var got Dictionary
		require.NoError(t, Unmarshal(s.e.Bytes(), &got))
		var keys []string
		for k := range got.All() {
			keys = append(keys, k.(string))
		}
		require.Equal(t, slices.Sorted(maps.Keys(m)), keys)
		p := s.pairs[anyMaps.slot]
		texts, values := p.keyList.Interface().([]string), p.valueList.Interface().([]any)
		require.Equal(t, n <= most, min(cap(p.order), cap(texts), cap(values)) >= n, "%d", n)
		require.Zero(t, slices.IndexFunc(texts[:cap(texts)], func(k string) bool { return k != "" })+1)
		require.Zero(t, slices.IndexFunc(values[:cap(values)], func(v any) bool { return v != nil })+1)
	}
}

// Trees and maps of frequent types are written without allocations.
func TestTreeAllocations(t *testing.T) {
	if testenv.Race {
		t.Skip("pools drop objects")
	}
	tree := map[string]any{"a": 1, "b": map[string]any{"c": "d", "e": []any{1.5, true, nil}}}
	e := gdwire.NewEncoder(io.Discard, nil)
	defer e.Close()
	for _, v := range []any{tree, &struct {
		A map[int64]string
		B map[int32]bool
	}{map[int64]string{1: "a", 2: "b"}, map[int32]bool{3: true}}} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			e.Reset(io.Discard)
			require.NoError(t, MarshalEncode(e, v))
			require.NoError(t, e.Flush())
		}))
	}
}
