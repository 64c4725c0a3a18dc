package variant_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// A comparison is a row of the table in doc.go and the test of both packages.
type comparison struct {
	name, json, variant string
	test                func(t *testing.T)
}

func TestComparison(t *testing.T) {
	var rows []string
	for _, c := range comparisons {
		rows = append(rows, strings.Join([]string{c.name, c.json, c.variant}, " | "))
		t.Run(c.name, c.test)
	}
	// The table consists of these rows.
	_, table, ok := strings.Cut(string(testenv.Must(os.ReadFile("doc.go"))(t)), "# Comparison with encoding/json/v2\n")
	require.True(t, ok)
	var documented []string
	const first, second = len("//	                         "), len("//	                         json/v2                      ")
	for line := range strings.Lines(table) {
		if r := []rune(line); strings.HasPrefix(line, "//\t") && !strings.Contains(line, " json/v2 ") {
			name := strings.TrimRight(string(r[len("//	"):first]), " ")
			cells := []string{strings.TrimSpace(name), strings.TrimSpace(string(r[first:second])), strings.TrimSpace(string(r[second:]))}
			if strings.HasPrefix(name, "  ") { // continues the row before
				cells[0] = strings.Split(documented[len(documented)-1], " |")[0] + ", " + cells[0]
			}
			documented = append(documented, strings.Join(cells, " | "))
		}
	}
	require.Equal(t, documented, rows)
}

// An object is a JSON object or Dictionary with its keys in order.
type object = *variant.Dictionary

func pairs(all ...any) object {
	d := &variant.Dictionary{}
	for i := 0; i < len(all); i += 2 {
		d.Set(all[i], all[i+1])
	}
	return d
}

// writes checks what both packages encode v as, or that they refuse it.
func writes(t *testing.T, v any, text string, want any) {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true))
	if text == "" {
		require.Error(t, err)
	} else {
		require.NoError(t, err)
		require.Equal(t, text, string(b))
	}
	got, err := variant.Marshal(v)
	if want == refused {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, gdwiretest.Encode(t, want), got)
}

// refused is in place of a value that variant neither writes nor reads.
var refused any = new(int)

// reads checks what both packages decode into the variables that v returns: from text,
// and from the encoding of from.
func reads(t *testing.T, v func() any, text string, wantJSON any, from, want any) {
	t.Helper()
	p := v()
	err := json.Unmarshal([]byte(text), p)
	if wantJSON == refused {
		require.Error(t, err)
	} else {
		require.NoError(t, err)
		require.Equal(t, wantJSON, reflect.ValueOf(p).Elem().Interface())
	}
	wire := gdwiretest.Encode(t, from)
	p = v()
	err = variant.Unmarshal(wire, p)
	if want == refused {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, reflect.ValueOf(p).Elem().Interface())
}

func newOf[T any](v T) func() any {
	return func() any { p := v; return &p }
}

type (
	cmpNames struct{ MaxHP, Slot1 int }
	cmpTags  struct {
		A int `json:"name" gd:"name"`
		B int `json:"-" gd:"-"`
	}
	cmpQuoted struct {
		A int `json:"'a,b'" gd:"'a,b'"`
		B int `json:"'\\t\\'\"'" gd:"'\\t\\'\"'"`
		C int `json:"'-'" gd:"'-'"`
	}
	cmpIsZero struct{ N int }
	cmpZeroer interface{ IsZero() bool }
	cmpMinus  struct {
		A float64    `json:",omitzero" gd:",omitzero"`
		B float32    `json:",omitzero" gd:",omitzero"`
		C [2]float64 `json:",omitzero" gd:",omitzero"`
		*CmpMinus
	}
	// CmpMinus is exported, since a pointer to it is embedded.
	CmpMinus struct {
		D float64 `json:",omitzero" gd:",omitzero"`
	}
	cmpZero struct {
		A int        `json:",omitzero" gd:",omitzero"`
		B cmpIsZero  `json:",omitzero" gd:",omitzero"`
		C *cmpIsZero `json:",omitzero" gd:",omitzero"`
		D cmpZeroer  `json:",omitzero" gd:",omitzero"`
		E cmpZeroer  `json:",omitzero" gd:",omitzero"`
		F cmpZeroer  `json:",omitzero" gd:",omitzero"`
	}
	cmpRest struct {
		B    int            `json:"b" gd:"b"`
		Rest map[string]any `json:",embed" gd:",embed"`
		A    int            `json:"a" gd:"a"`
	}
	cmpValue struct {
		B    int            `json:"b" gd:"b"`
		Rest jsontext.Value `json:",embed" gd:"-"`
		Dict object         `json:"-" gd:",embed"`
	}
	cmpKnown struct {
		A int `json:"a" gd:"a"`
	}
	cmpTwice struct {
		A int `json:"B" gd:"b"`
		B int
	}
	CmpLeft   struct{ Same int }
	CmpRight  struct{ Same int }
	CmpTagged struct {
		Other int `json:"Same" gd:"same"`
	}
	cmpBoth struct {
		CmpLeft
		CmpRight
	}
	cmpOne struct {
		CmpLeft
		CmpTagged
	}
	cmpText   int
	CmpNumber int
	cmpNumber int
	cmpTwo    struct{}
)

func (z cmpIsZero) IsZero() bool { return z.N == 1 }

func (cmpText) MarshalText() ([]byte, error) { return []byte("same"), nil }

func (cmpTwo) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.Null); err != nil {
		return err
	}
	return e.WriteToken(jsontext.Null)
}

func (cmpTwo) MarshalVariant(e *gdwire.Encoder) error {
	if err := e.WriteNil(); err != nil {
		return err
	}
	return e.WriteNil()
}

var comparisons = []comparison{
	{"field names", "as in Go", "snake_case, as in GDScript", func(t *testing.T) {
		writes(t, cmpNames{1, 2}, `{"MaxHP":1,"Slot1":2}`, pairs("max_hp", 1, "slot_1", 2))
		reads(t, newOf(cmpNames{}), `{"MaxHP":1}`, cmpNames{MaxHP: 1}, pairs("max_hp", 1), cmpNames{MaxHP: 1})
	}},
	{"case of names", "must match", "must match", func(t *testing.T) {
		reads(t, newOf(cmpNames{}), `{"maxhp":1}`, cmpNames{}, pairs("MAX_HP", 1), cmpNames{})
	}},
	{"names in tags", "name", `name, 'a,b', '\t', '-'`, func(t *testing.T) {
		writes(t, cmpTags{1, 2}, `{"name":1}`, pairs("name", 1))
		writes(t, cmpQuoted{1, 2, 3}, "", pairs("a,b", 1, "\t'\"", 2, "-", 3))
		for _, bad := range []string{`'a`, `'\q'`} {
			tag := reflect.StructTag(fmt.Sprintf("json:%q gd:%q", bad, bad))
			field := reflect.StructField{Name: "A", Type: reflect.TypeFor[int](), Tag: tag}
			writes(t, reflect.Zero(reflect.StructOf([]reflect.StructField{field})).Interface(), "", refused)
		}
	}},
	{"omitzero", "zero or IsZero", "the same", func(t *testing.T) {
		writes(t, cmpZero{}, `{"B":{"N":0}}`, pairs("b", pairs("n", 0)))
		writes(t, cmpZero{A: 2, B: cmpIsZero{1}, C: &cmpIsZero{1}, D: cmpIsZero{1}, E: (*cmpIsZero)(nil), F: &cmpIsZero{2}},
			`{"A":2,"F":{"N":2}}`, pairs("a", 2, "f", pairs("n", 2)))
		minus := math.Copysign(0, -1)
		writes(t, cmpMinus{minus, float32(minus), [2]float64{0, minus}, &CmpMinus{minus}}, `{}`, pairs())
	}},
	{"omitempty, string, …", "options", "none; type= chooses the Variant type", func(t *testing.T) {
		writes(t, struct {
			A string `json:",omitempty" gd:",type=StringName"`
			B int    `json:",string" gd:",type=float"`
		}{}, `{"B":"0"}`, pairs("a", variant.StringName(""), "b", 0.0))
		_, err := variant.Marshal(struct {
			A string `gd:",omitempty"`
		}{})
		require.Error(t, err)
	}},
	{"unknown keys", ",embed of map or Value", ",embed of *Dictionary or map", func(t *testing.T) {
		want := cmpRest{B: 1, A: 2, Rest: map[string]any{"x": "y"}}
		reads(t, newOf(cmpRest{}), `{"x":"y","a":2,"b":1}`, want, pairs("x", "y", "a", 2, "b", 1), want)
		reads(t, newOf(cmpValue{}), `{"x":"y","b":1}`, cmpValue{B: 1, Rest: jsontext.Value(`{"x":"y"}`)}, pairs("x", "y", "b", 1), cmpValue{B: 1, Dict: pairs("x", "y")})
	}},
	{"unknown keys, encoded", "after the fields", "after the fields", func(t *testing.T) {
		writes(t, cmpRest{B: 1, A: 2, Rest: map[string]any{"c": "d"}}, `{"b":1,"a":2,"c":"d"}`, pairs("b", 1, "a", 2, "c", "d"))
		writes(t, cmpRest{Rest: map[string]any{"a": 1}}, "", refused)
	}},
	{"missing keys", "no error", "no error, or required", func(t *testing.T) {
		reads(t, newOf(cmpKnown{5}), `{}`, cmpKnown{5}, pairs(), cmpKnown{5})
		wire := gdwiretest.Encode(t, pairs())
		require.ErrorIs(t, variant.Unmarshal(wire, new(struct {
			A int `gd:",required"`
		})), variant.ErrMissingKey)
	}},
	{"unknown keys rejected", "RejectUnknownMembers", "Options.RejectUnknown", func(t *testing.T) {
		reads(t, newOf(cmpKnown{}), `{"a":1,"x":2}`, cmpKnown{1}, pairs("a", 1, "x", 2), cmpKnown{1})
		require.Error(t, json.Unmarshal([]byte(`{"x":2}`), new(cmpKnown), json.RejectUnknownMembers(true)))
		wire := gdwiretest.Encode(t, pairs("x", 2))
		require.ErrorIs(t, variant.Unmarshal(wire, new(cmpKnown), variant.Options{RejectUnknown: true}), variant.ErrUnknownKey)
	}},
	{"duplicate keys", "error", "error; *Dictionary keeps the last value", func(t *testing.T) {
		var b []byte
		e := gdwire.NewEncoder(nil, nil)
		e.ResetBytes(nil)
		for _, err := range []error{e.BeginDict(2), e.WriteString("a"), e.WriteInt(1), e.WriteString("a"), e.WriteInt(2), e.End()} {
			require.NoError(t, err)
		}
		b = e.Bytes()
		for _, v := range []func() any{newOf(cmpKnown{}), newOf(map[string]int{}), newOf(any(nil))} {
			require.Error(t, json.Unmarshal([]byte(`{"a":1,"a":2}`), v()))
			if _, ok := v().(*any); !ok {
				require.ErrorIs(t, variant.Unmarshal(b, v()), variant.ErrDuplicateKey)
			}
		}
		var v any
		require.NoError(t, variant.Unmarshal(b, &v))
		require.Equal(t, pairs("a", int64(2)), v)
	}},
	{"equal keys of a map", "error", "error", func(t *testing.T) {
		writes(t, map[cmpText]int{1: 1, 2: 2}, "", refused)
		writes(t, map[any]int{"1": 1, variant.StringName("1"): 2}, "", refused)
		writes(t, map[any]int{int32(1): 1, int64(1): 2}, "", refused)
	}},
	{"equal names of fields", "error", "error", func(t *testing.T) {
		writes(t, cmpTwice{}, "", refused)
		reads(t, newOf(cmpTwice{}), `{"B":1}`, refused, pairs("b", 1), refused)
	}},
	{"equal names of fields, in embedded structs", "only a single tagged one", "error", func(t *testing.T) {
		writes(t, cmpBoth{}, `{}`, refused)
		writes(t, cmpOne{CmpTagged: CmpTagged{1}}, `{"Same":1}`, refused)
	}},
	{"names at two depths", "the outer hides the inner", "the same", func(t *testing.T) {
		v := struct {
			Same int `json:"Same" gd:"same"`
			CmpLeft
		}{1, CmpLeft{2}}
		writes(t, v, `{"Same":1}`, pairs("same", 1))
	}},
	{"name of an ignored field", "hides none", "the same", func(t *testing.T) {
		v := struct {
			Same int `json:"-" gd:"-"`
			CmpLeft
		}{1, CmpLeft{2}}
		writes(t, v, `{"Same":2}`, pairs("same", 2))
	}},
	{"embedded non-structs", "need a name", "need a name, or are not exported", func(t *testing.T) {
		writes(t, struct{ CmpNumber }{1}, "", refused)
		writes(t, struct {
			CmpNumber `json:"N" gd:"n"`
		}{1}, `{"N":1}`, pairs("n", 1))
		writes(t, struct {
			cmpText
			A int
		}{1, 2}, `"same"`, refused)
		writes(t, struct {
			cmpNumber
			A int
		}{1, 2}, "", pairs("a", 2))
	}},
	{"no exported fields", "error", "error", func(t *testing.T) {
		writes(t, errors.New("x"), "", refused)
		writes(t, struct {
			*sync.Mutex
			A int
		}{}, "", refused)
		writes(t, struct{}{}, `{}`, pairs())
		writes(t, struct {
			a int `json:"-" gd:"-"`
		}{}, `{}`, pairs())
	}},
	{"methods of embedded", "encode the whole struct", "error if they leave out fields", func(t *testing.T) {
		writes(t, struct{ time.Time }{}, `"0001-01-01T00:00:00Z"`, "0001-01-01T00:00:00Z")
		writes(t, struct {
			time.Time
			A int
		}{}, `"0001-01-01T00:00:00Z"`, refused)
	}},
	{"nil slice, nil map", "[], {}", "empty Array or packed array, empty Dictionary", func(t *testing.T) {
		writes(t, []any(nil), `[]`, &variant.Array{})
		writes(t, []int32(nil), `[]`, []int32{})
		writes(t, map[string]int(nil), `{}`, pairs())
	}},
	{"nil pointer", "null", "nil", func(t *testing.T) {
		writes(t, []*int{nil}, `[null]`, &variant.Array{Values: []any{nil}})
	}},
	{"null into a variable", "zero", "zero", func(t *testing.T) {
		one := 1
		for _, v := range []func() any{
			newOf(1), newOf("a"), newOf(true), newOf(1.5), newOf([]int{1}), newOf([2]int{1}), newOf(map[string]int{"a": 1}),
			newOf(cmpKnown{1}), newOf(&one), newOf(any(1)),
		} {
			zero := reflect.Zero(reflect.TypeOf(v()).Elem()).Interface()
			reads(t, v, `null`, zero, nil, zero)
		}
	}},
	{"names from before", "none", "was=", func(t *testing.T) {
		type renamed struct {
			A int `gd:"a,was=b"`
		}
		reads(t, newOf(renamed{}), `{"b":1}`, renamed{}, pairs("b", 1), renamed{1})
		writes(t, renamed{1}, `{"A":1}`, pairs("a", 1))
	}},
	{"maximum lengths", "none", "max=", func(t *testing.T) {
		type short struct {
			A string `gd:"A,max=1"`
		}
		reads(t, newOf(short{}), `{"A":"ab"}`, short{"ab"}, pairs("A", "ab"), refused)
	}},
	{"map order", "random, or Deterministic", "sorted", func(t *testing.T) {
		m := map[string]int{"b": 1, "a": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8}
		writes(t, m, `{"a":2,"b":1,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}`, pairs("a", 2, "b", 1, "c", 3, "d", 4, "e", 5, "f", 6, "g", 7, "h", 8))
		first := testenv.Must(json.Marshal(m))(t)
		require.Eventually(t, func() bool {
			return string(first) != string(testenv.Must(json.Marshal(m))(t))
		}, 60e9, 1)
	}},
	{"keys of maps", "text, numbers, any", "text, numbers, bool, math types, any", func(t *testing.T) {
		writes(t, map[string]int{"a": 1}, `{"a":1}`, pairs("a", 1))
		writes(t, map[cmpText]int{1: 1}, `{"same":1}`, pairs("same", 1))
		writes(t, map[int16]int{2: 1}, `{"2":1}`, pairs(2, 1))
		writes(t, map[uint64]int{2: 1}, `{"2":1}`, pairs(2, 1))
		writes(t, map[float64]int{1.5: 1}, `{"1.5":1}`, pairs(1.5, 1))
		writes(t, map[any]int{"a": 1}, `{"a":1}`, pairs("a", 1))
		writes(t, map[bool]int{true: 1}, "", pairs(true, 1))
		writes(t, map[[2]float32]int{{1, 2}: 1}, "", pairs(variant.Vector2{X: 1, Y: 2}, 1))
		writes(t, map[variant.Vector2i]int{{X: 1, Y: 2}: 1}, "", pairs(variant.Vector2i{X: 1, Y: 2}, 1))
		writes(t, map[struct{ X, Y int }]int{{1, 2}: 1}, "", refused)
		writes(t, map[[2]int]int{{1, 2}: 1}, "", refused)
		writes(t, map[*int]int{new(int): 1}, `{"0":1}`, refused)
		writes(t, map[float64]int{math.NaN(): 1}, "", refused)
	}},
	{"[]byte", "base64", "PackedByteArray", func(t *testing.T) {
		writes(t, struct{ A []byte }{[]byte{0, 1, 2}}, `{"A":"AAEC"}`, pairs("a", []byte{0, 1, 2}))
	}},
	{"number into any", "float64", "int64 or float64, as encoded", func(t *testing.T) {
		reads(t, newOf(any(nil)), `5`, 5.0, 5, int64(5))
		reads(t, newOf(any(nil)), `1.5`, 1.5, 1.5, 1.5)
	}},
	{"pointer in an any", "decoded into", "replaced", func(t *testing.T) {
		one := 1
		reads(t, newOf(any(&one)), `2`, any(&one), 3, int64(3))
		require.Equal(t, 2, one)
	}},
	{"object into any", "map[string]any", "*Dictionary, ordered", func(t *testing.T) {
		reads(t, newOf(any(nil)), `{"b":"x","a":"y"}`, map[string]any{"a": "y", "b": "x"}, pairs("b", "x", "a", "y"), pairs("b", "x", "a", "y"))
	}},
	{"array too long, short", "error", "error", func(t *testing.T) {
		reads(t, newOf([2]string{}), `["a","b","c"]`, refused, []string{"a", "b", "c"}, refused)
		reads(t, newOf([2]string{}), `["a"]`, refused, []string{"a"}, refused)
	}},
	{"elements of slices", "zeroed first", "the same", func(t *testing.T) {
		type element struct{ A, B int }
		v := func() any { return &[]element{{1, 2}, {3, 4}} }
		reads(t, v, `[{"A":5}]`, []element{{5, 0}}, []any{pairs("a", 5)}, []element{{5, 0}})
		lists := [][]int64{{1, 2, 3}}
		inner := &lists[0][0]
		wire := gdwiretest.Encode(t, []any{[]int64{7}})
		require.NoError(t, variant.Unmarshal(wire, &lists))
		require.Equal(t, [][]int64{{7}}, lists)
		require.NotSame(t, inner, &lists[0][0])
		inner = &lists[0][0]
		require.NoError(t, json.Unmarshal([]byte(`[[8]]`), &lists))
		require.NotSame(t, inner, &lists[0][0])
	}},
	{"entries of maps", "merged", "merged", func(t *testing.T) {
		v := func() any { return &map[string]cmpNames{"a": {1, 2}, "b": {3, 4}} }
		want := map[string]cmpNames{"a": {5, 2}, "b": {3, 4}}
		reads(t, v, `{"a":{"MaxHP":5}}`, want, pairs("a", pairs("max_hp", 5)), want)
	}},
	{"MarshalJSONTo", "must write one value", "MarshalVariant must write one value", func(t *testing.T) {
		writes(t, []cmpTwo{{}}, "", refused)
	}},
}
