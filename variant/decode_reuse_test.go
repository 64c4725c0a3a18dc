package variant

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// partial sets A only, in both formats.
type partial struct{ A, B int }

func (p *partial) UnmarshalVariant(d *gdwire.Decoder) error {
	for key, err := range d.Fields() {
		if err != nil {
			return err
		}
		if string(key) == "a" {
			if p.A, err = gdwire.ReadInteger[int](d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *partial) UnmarshalJSON(b []byte) error {
	var v struct {
		A int `json:"a"`
	}
	err := json.Unmarshal(b, &v)
	p.A = v.A
	return err
}

// partialText keeps what UnmarshalText does not set.
type partialText struct{ A, B string }

func (p *partialText) UnmarshalText(b []byte) error { p.A = string(b); return nil }

type (
	shape  interface{ area() int }
	square struct {
		Side int `json:"side"`
	}
	// Linked is exported, since a pointer to it is embedded.
	Linked struct {
		Note string `json:"note"`
		N    int    `json:"n"`
	}
	deepLinked struct{ *Linked }
	rowOfTwo   struct {
		_    struct{} `gd:",array"`
		A, B int
		kept int
	}
	reusedShape struct {
		*Linked
		Name    string         `json:"name"`
		Shape   shape          `json:"shape"`
		Partial partial        `json:"partial"`
		Text    partialText    `json:"text"`
		Next    *partial       `json:"next"`
		Tags    []string       `json:"tags"`
		Counts  map[string]int `json:"counts"`
		Pair    [2]partial     `json:"pair"`
		Any     any            `json:"any"`
		Ignored int            `json:"-" gd:"-"`
		private int
	}
)

func (s *square) area() int { return s.Side * s.Side }

// toDict returns a value of JSON as Go values for Marshal.
func toDict(v any) any {
	switch v := v.(type) {
	case map[string]any:
		d := &Dictionary{}
		for key, x := range v {
			d.Set(key, toDict(x))
		}
		return d
	case []any:
		a := &Array{}
		for _, x := range v {
			a.Values = append(a.Values, toDict(x))
		}
		return a
	case float64:
		return int64(v)
	}
	return v
}

// Decoding into used variables gives what json/v2 gives, and changes nothing that a copy of
// an element points to.
func TestReusedAsJSON(t *testing.T) {
	full := func() reusedShape {
		return reusedShape{&Linked{"old", 1}, "old", &square{1}, partial{7, 8}, partialText{"a", "b"}, &partial{5, 6},
			[]string{"x", "y"}, map[string]int{"a": 1}, [2]partial{{1, 2}, {3, 4}}, &square{2}, 5, 6}
	}
	for _, c := range []struct {
		text string
		into func() any
	}{
		{`[{"side": 5}]`, func() any { return &[]shape{&square{1}} }},
		{`[null]`, func() any { return &[]shape{&square{1}} }},
		{`{"side": 5}`, func() any { s := shape(&square{1}); return &s }},
		{`{"shape": {"side": 5}}`, func() any { v := full(); return &v }},
		{`[{"shape": {"side": 5}}]`, func() any { return &[]reusedShape{full()} }},
		{`[{"note": "new"}]`, func() any { return &[]reusedShape{full(), full()} }},
		{`[{"note": "new"}, {"n": 2, "note": "newer"}, {"n": 5}]`, func() any { return &[]reusedShape{full(), full()} }},
		{`[{}]`, func() any { return &[]reusedShape{full()} }},
		{`[{"n": 3}]`, func() any { return &[]deepLinked{{&Linked{"old", 1}}} }},
		{`{"n": 3}`, func() any { return &deepLinked{&Linked{"old", 1}} }},
		{`[{"a": 3}]`, func() any { return &[]partial{{7, 8}} }},
		{`{"a": 3}`, func() any { return &partial{7, 8} }},
		{`["t"]`, func() any { return &[]partialText{{"a", "b"}} }},
		{`"t"`, func() any { return &partialText{"a", "b"} }},
		{`[{"a": 3}, {}]`, func() any { return &[2]partial{{7, 8}, {9, 10}} }},
		{`[{"side": 3}, {}]`, func() any { return &[2]square{{7}, {8}} }},
		{`[{"a": 3}]`, func() any { return &[]*partial{{7, 8}} }},
		{`{"x": {"a": 3}}`, func() any { return &map[string]partial{"x": {7, 8}} }},
		{`[[{"a": 3}]]`, func() any { return &[][]partial{{{7, 8}, {9, 10}}} }},
		{`[{"partial": {"a": 1}, "next": {"a": 2}, "pair": [{"a": 3}, {}], "text": "t", "tags": ["z"], "counts": {"b": 2}, "any": 5}]`, func() any { return &[]reusedShape{full(), full()} }},
		{`{"partial": {"a": 1}, "next": {"a": 2}, "pair": [{"a": 3}, {}], "text": "t", "tags": ["z"], "counts": {"b": 2}, "note": "n"}`, func() any { v := full(); return &v }},
	} {
		t.Run(fmt.Sprintf("%s into %T", c.text, c.into()), func(t *testing.T) {
			want := c.into()
			wantErr := jsonv2.Unmarshal([]byte(c.text), want)
			var value any
			require.NoError(t, json.Unmarshal([]byte(c.text), &value))
			got := c.into()
			kept := reflect.New(reflect.TypeOf(got).Elem()).Elem()
			before := must(json.Marshal(got))(t)
			if list := reflect.ValueOf(got).Elem(); list.Kind() == reflect.Slice {
				kept.Set(reflect.AppendSlice(reflect.Zero(list.Type()), list)) // copies of the elements
			}
			err := Unmarshal(encoded(t, toDict(value), nil), got)
			require.Equal(t, wantErr == nil, err == nil, "%v; json/v2: %v", err, wantErr)
			if err != nil {
				return
			}
			if a, ok := reflect.ValueOf(got).Elem().Interface().([]reusedShape); ok {
				for i, w := range *want.(*[]reusedShape) {
					if n, ok := a[i].Any.(int64); ok { // json/v2: float64
						require.EqualValues(t, w.Any, n)
						a[i].Any = w.Any
					}
				}
			}
			require.Equal(t, want, got)
			if kept.Kind() == reflect.Slice && kept.Type().Elem().Kind() != reflect.Slice {
				require.Equal(t, string(before), string(must(json.Marshal(kept.Interface()))(t)), "what copies of the elements point to")
			}
		})
	}
}

// Nothing that a target shares is read into twice: elements that a program moved, fields that are
// parts of one slice, and values of maps.
func TestSharedMemory(t *testing.T) {
	type tagged struct{ Tags []int }
	moved := []tagged{{[]int{7}}, {[]int{8}}, {[]int{9}}}
	moved[0] = moved[2]
	moved = moved[:2]
	require.NoError(t, Unmarshal(encoded(t, array(dict("tags", []int64{1}), dict("tags", []int64{2}), dict("tags", []int64{3})), nil), &moved))
	require.Equal(t, []tagged{{[]int{1}}, {[]int{2}}, {[]int{3}}}, moved)

	all := []int{1, 2, 3, 4}
	parts := struct{ A, B, C []int }{all[:1], all[1:2], all[3:]}
	require.NoError(t, Unmarshal(encoded(t, dict("a", array(5, 6), "b", array(7), "c", array()), nil), &parts))
	require.Equal(t, []int{5, 6}, parts.A)
	require.Equal(t, []int{7}, parts.B)
	require.Equal(t, []int{}, parts.C)
	require.Same(t, &all[0], &parts.A[0])

	for _, wire := range []any{dict("a", []int64{5}, "b", []int64{6}), dict("a", array(5), "b", array(6))} {
		one := make([]int64, 1) // with room for no more
		same := struct{ A, B []int64 }{one, one}
		require.NoError(t, Unmarshal(encoded(t, wire, nil), &same))
		require.Equal(t, []int64{5}, same.A)
		require.Equal(t, []int64{6}, same.B)
	}

	var array4 struct {
		A [4]int
		S []int
	}
	array4.S = array4.A[1:]
	require.NoError(t, Unmarshal(encoded(t, dict("a", array(1, 2, 3, 4), "s", array(5, 6)), nil), &array4))
	require.Equal(t, [4]int{1, 2, 3, 4}, array4.A)
	require.Equal(t, []int{5, 6}, array4.S)

	type pointed struct {
		P *[2]int
		S []int
		Q *int
	}
	pair := &[2]int{7, 8}
	for _, p := range []pointed{{P: pair, S: pair[1:]}, {P: pair, S: pair[:], Q: &pair[0]}, {S: pair[:], Q: &pair[1]}} {
		for _, wire := range []any{
			dict("p", array(1, 2), "s", array(5, 6), "q", 9),
			dict("s", []int64{5, 6}, "p", array(1, 2), "q", 9),
		} {
			before := p
			require.NoError(t, Unmarshal(encoded(t, wire, nil), &before))
			if p.Q == nil || p.P == nil { // otherwise two pointers lead to one variable
				require.Equal(t, pointed{&[2]int{1, 2}, []int{5, 6}, ptr(9)}, before)
			}
			require.Equal(t, []int{5, 6}, before.S)
		}
	}

	many := map[string][]int{}
	values := &Dictionary{}
	want := map[string][]int{}
	for i := range 2 * maxReused {
		key := string(rune('a' + i))
		many[key] = make([]int, 1)
		values.Set(key, array(i))
		want[key] = []int{i}
	}
	require.NoError(t, Unmarshal(encoded(t, values, nil), &many))
	require.Equal(t, want, many)

	old := ptr("old")
	pointers := [2]*string{old, old}
	require.NoError(t, Unmarshal(encoded(t, []string{"a", "b"}, nil), &pointers))
	require.Equal(t, [2]*string{ptr("a"), ptr("b")}, pointers)
	require.Equal(t, "old", *old)
}

// After an error in a slice, it contains the elements before that element.
func TestListsAfterErrors(t *testing.T) {
	for _, c := range []struct{ wire, into, want any }{
		{array(5, 300, 7), &[]int8{1, 2, 3}, &[]int8{5}},
		{[]int32{5, 300, 7}, &[]int8{1, 2, 3}, &[]int8{5}},
		{[]int32{5, 300, 7}, new([]int8), &[]int8{5}},
		{[]float64{5, 1e300, 7}, &[]float32{1, 2, 3}, &[]float32{5}},
		{array("a", 5), &[]string{"b", "c", "d"}, &[]string{"a"}},
		{array(dict("name", "a"), 5), &[]simple{{"b", 1}, {"c", 2}}, &[]simple{{"a", 0}}},
	} {
		require.Error(t, Unmarshal(encoded(t, c.wire, nil), c.into))
		require.Equal(t, c.want, c.into)
	}
}

// Elements of positional structs are made zero first, too.
func TestReusedPositional(t *testing.T) {
	v := []rowOfTwo{{A: 1, B: 2, kept: 3}}
	require.NoError(t, Unmarshal(encoded(t, array(array(5)), nil), &v))
	require.Equal(t, []rowOfTwo{{A: 5}}, v)
}
