package variant

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// A required is a struct with fields that must not be missing.
type required struct {
	A int
	requiredBase
	C int    `gd:"two words,required"`
	D string `gd:",required"`
}

type requiredBase struct {
	B int `gd:",required"`
}

// A key that a required field needs is looked for in any order of the keys, and the path of the error is
// that of the key. What follows the value can be read.
func TestRequired(t *testing.T) {
	all := func(without ...string) *Dictionary {
		d := dict("a", 1, "b", 2, "two words", 3, "d", "x")
		for _, key := range without {
			d.Delete(key)
		}
		return d
	}
	testTypeErrors(t, []typeError{
		{name: "all", wire: all(), into: new(required)},
		{name: "all and an unknown key", wire: dict("x", 1, "d", "x", "b", 2, "two words", 3), into: new(required)},
		{name: "one that is not required", wire: all("a"), into: new(required)},
		{name: "a nil is there", wire: dict("b", nil, "two words", nil, "d", nil), into: new(required)},
		{name: "the last", wire: all("d"), into: new(required), err: `offset 76, $.d: Dictionary into Go variant.required (required.D): missing key "d"`, is: ErrMissingKey},
		{name: "two words", wire: all("two words"), into: new(required), err: `offset 72, $["two words"]: Dictionary into Go variant.required (required.C): missing key "two words"`, is: ErrMissingKey},
		{name: "embedded", wire: dict("d", "x", "two words", 1), into: new(required), err: `offset 60, $.b: Dictionary into Go variant.required (requiredBase.B): missing key "b"`, is: ErrMissingKey},
		{name: "several", wire: dict("other", dict("b", 1)), into: new(required), err: `offset 52, $.b: Dictionary into Go variant.required (requiredBase.B): missing key "b"`, is: ErrMissingKey},
		{name: "empty", wire: dict(), into: new(required), err: `offset 8, $.b: Dictionary into Go variant.required (requiredBase.B): missing key "b"`, is: ErrMissingKey},
		{name: "nil", wire: nil, into: new(required), err: `offset 0, $.b: Nil into Go variant.required (requiredBase.B): missing key "b"`, is: ErrMissingKey},
		{name: "nil pointer", wire: nil, into: new(*required)},
		{name: "inside", wire: array(all(), all("b")), into: new([]required), err: `offset 188, $[1].b: Dictionary into Go variant.required (requiredBase.B): missing key "b"`, is: ErrMissingKey},
		{name: "in a map", wire: dict("k", dict("m", all("d"))), into: new(map[string]map[string]*required), err: `offset 116, $.k.m.d: Dictionary into Go variant.required (required.D): missing key "d"`, is: ErrMissingKey},
		{name: "positional", wire: array(1), into: new(struct {
			_    struct{} `gd:",array"`
			A, B int
			C    int `gd:",required"`
		}), err: `offset 16, $[2]: Array into Go struct (struct.C): missing key "c"`, is: ErrMissingKey},
	})

	b := encoded(t, array(all(), all("d"), nil, all()), nil)
	d := gdwire.NewDecoder(bytes.NewReader(b), nil)
	var got []bool
	for _, err := range Elements[required](d) {
		got = append(got, err == nil)
		require.Equal(t, err != nil, errors.Is(err, ErrMissingKey))
	}
	require.Equal(t, []bool{true, false, false, true}, got)
	require.Equal(t, io.EOF, errOf(d.ReadToken()))
}

// Old names are read and never written, lengths are limited, and of a union at least one key is known.
func TestChangedMessages(t *testing.T) {
	type limited struct {
		Text string         `gd:",max=3"`
		List []int          `gd:",max=2"`
		Map  map[string]int `gd:",max=1"`
		Path NodePath       `gd:",max=3"`
		Data []byte         `gd:",max=2"`
		Tags []string       `gd:",max=2"`
	}
	type renamed struct {
		ID       int
		Nickname string      `gd:",was=name,was=nick,required"`
		Rest     *Dictionary `gd:",embed"`
	}
	type union struct {
		Old *inner         `gd:",omitzero"`
		Way *map[int]inner `gd:"-"`
	}
	testTypeErrors(t, []typeError{
		{name: "renamed", wire: dict("nick", "a", "id", 1), into: new(renamed)},
		{name: "both", wire: dict("nickname", "a", "name", "b"), into: new(renamed), err: `offset 36, $.key(1): Dictionary into Go variant.renamed: duplicate key "nickname"`, is: ErrDuplicateKey},
		{name: "both old", wire: dict("nick", "a", "name", "b"), into: new(renamed), err: `offset 32, $.key(1): Dictionary into Go variant.renamed: duplicate key "nickname"`, is: ErrDuplicateKey},
		{name: "short", wire: dict("text", "é!", "list", array(1, 2), "map", dict("a", 1)), into: new(limited)},
		{name: "long text", wire: dict("text", "é!!"), into: new(limited), err: `offset 20, $.text: String into Go string (limited.Text): out of range: length 4, more than max=3`, is: gdwire.ErrRange},
		{name: "long list", wire: dict("list", []int64{1, 2, 3}), into: new(limited), err: `offset 20, $.list: PackedInt64Array into Go []int (limited.List): out of range: length 3, more than max=2`, is: gdwire.ErrRange},
		{name: "long map", wire: dict("map", dict("a", 1, "b", 2)), into: new(limited), err: `offset 20, $.map: Dictionary into Go map[string]int (limited.Map): out of range: length 2, more than max=1`, is: gdwire.ErrRange},
		{name: "long path", wire: dict("path", NodePath("a/bc")), into: new(limited), err: `offset 52, $.path: NodePath into Go variant.NodePath (limited.Path): out of range: length 4, more than max=3`, is: gdwire.ErrRange},
		{name: "known kind", wire: dict("new", nil, "old", dict("a", 1)), into: new(union)},
		{name: "no kind", wire: dict(), into: new(union)},
		{name: "unknown kind", wire: dict("new", dict("a", 1), "x", 1), into: new(union), err: `offset 68, $: Dictionary into Go variant.union: unknown key "new"`, is: ErrUnknownKey},
	})
	require.Equal(t, encoded(t, dict("id", 0, "nickname", "a"), nil), encoded(t, renamed{Nickname: "a"}, nil))
	// Nothing after the length is read, and of a text a chunk.
	for key, v := range map[string]any{"text": strings.Repeat("a", 1<<20), "list": make([]int64, 3), "map": dict("a", 1, "b", 2), "data": array(1, 2, 3), "tags": make([]string, 3)} {
		b := encoded(t, dict(key, v), nil)[:len(encoded(t, dict(key, ""), nil))]
		if key == "text" {
			b = encoded(t, dict(key, v), nil)[:len(b)+gdwire.DefaultMaxChunk]
		}
		r := io.MultiReader(bytes.NewReader(b), iotest.ErrReader(io.ErrClosedPipe))
		require.ErrorIs(t, UnmarshalRead(r, new(limited)), gdwire.ErrRange, key)
	}
}

// RejectUnknown names the field that was meant, and only when the error is printed.
func TestUnknownKeySimilar(t *testing.T) {
	type player struct{ Health, MaxHealth, X int }
	for key, similar := range map[string]string{
		"helth": "health", "max_helath": "max_health", "HEALTH": "health", "maxhealth": "max_health",
		"": "", "y": "", "speed": "", "health of the player": "",
		strings.Repeat("x", 41): "", strings.Repeat("x", 1000): "",
	} {
		err := Unmarshal(encoded(t, dict(key, 1), nil), new(player), Options{RejectUnknown: true})
		require.ErrorIs(t, err, ErrUnknownKey)
		want := "unknown key " + quoted(key)
		if similar != "" {
			want += fmt.Sprintf("; did you mean %q?", similar)
		}
		require.True(t, strings.HasSuffix(err.Error(), want), "%v", err)
	}
}

// Fields are found for keys in any order, with unknown keys between them, a second value for
// a field is found after any keys, and fields of a used element without a key become zero. The guesses learned from
// other orders, also by other goroutines, do not change the result.
func TestKeyOrders(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			testKeyOrders(t, rand.New(rand.NewPCG(1, seed)))
		})
	}
}

func testKeyOrders(t *testing.T, random *rand.Rand) {
	for range 150 {
		n := []int{1, 3, 63, 64, 65, 130}[random.IntN(6)]
		fields := make([]reflect.StructField, n)
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprint("F", i), Type: reflect.TypeFor[int](), Tag: reflect.StructTag(fmt.Sprintf(`gd:"f%d"`, i))}
		}
		list := reflect.New(reflect.SliceOf(reflect.StructOf(fields)))
		list.Elem().Grow(1)
		list.Elem().SetLen(1)
		for i := range n {
			list.Elem().Index(0).Field(i).SetInt(-1)
		}
		keys := random.Perm(n + 2)[:random.IntN(n+3)] // n and n+1 are unknown
		if random.IntN(2) == 0 {
			keys = keysInOrder(random, n)
		}
		repeated := len(keys) > 0 && keys[0] < n && random.IntN(4) == 0
		if repeated {
			keys = append(keys, keys[0])
		}
		want := reflect.New(list.Type().Elem().Elem()).Elem()
		e := gdwire.NewEncoder(nil, nil)
		e.ResetBytes(nil)
		require.NoError(t, errors.Join(e.BeginArray(1), e.BeginDict(len(keys))))
		for i, k := range keys {
			require.NoError(t, errors.Join(e.WriteString(fmt.Sprint("f", k)), e.WriteInt(int64(i))))
			if k < n {
				want.Field(k).SetInt(int64(i))
			}
		}
		require.NoError(t, errors.Join(e.End(), e.End()))
		err := Unmarshal(e.Bytes(), list.Interface())
		if repeated {
			require.ErrorIs(t, err, ErrDuplicateKey, "%v", keys)
			continue
		}
		require.NoError(t, err, "%v", keys)
		require.Equal(t, want.Interface(), list.Elem().Index(0).Interface(), "%v", keys)
	}
}

// keysInOrder returns most of the numbers below n+1, in order.
func keysInOrder(random *rand.Rand, n int) (keys []int) {
	missing := random.IntN(n + 1)
	for i := range n + 1 {
		if i < missing || random.IntN(3) > 0 {
			keys = append(keys, i)
		}
	}
	return keys
}

// Unknown keys are merged into a map with entries, as keys of other maps are.
func TestCollectInUsedMap(t *testing.T) {
	type pair struct{ A, B int }
	v := struct {
		Rest map[string]pair `gd:",embed"`
	}{map[string]pair{"x": {1, 2}, "y": {3, 4}}}
	require.NoError(t, Unmarshal(encoded(t, dict("x", dict("b", 5), "z", dict("a", 6)), nil), &v))
	require.Equal(t, map[string]pair{"x": {1, 5}, "y": {3, 4}, "z": {A: 6}}, v.Rest)
}

// Keys that a struct collects keep their type.
func TestCollectedKeys(t *testing.T) {
	want := dict("rest", 1, StringName("name"), 2, StringName("other"), 3, NodePath("a/b"), 4)
	b := encoded(t, want, nil)
	var v struct {
		Rest *Dictionary `gd:",embed"`
	}
	require.NoError(t, Unmarshal(b, &v))
	require.Equal(t, b, encoded(t, v.Rest, nil))
	require.Equal(t, b, encoded(t, v, nil))
	testGoTypes(t, []goType{
		{name: "map of strings", value: keyed[myString]{1, map[myString]int{"a": 2}}, wire: dict("known", int64(1), "a", int64(2))},
		{name: "map of StringNames", value: keyed[StringName]{1, map[StringName]int{"a": 2}}, wire: dict("known", int64(1), StringName("a"), int64(2))},
		{name: "map of NodePaths", value: keyed[NodePath]{1, map[NodePath]int{"a/b": 2, "known": 3}}, wire: dict("known", int64(1), NodePath("a/b"), int64(2), NodePath("known"), int64(3))},
	})
}

type keyed[K comparable] struct {
	Known int
	Rest  map[K]int `gd:",embed"`
}
