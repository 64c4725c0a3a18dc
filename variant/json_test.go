package variant

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestMarshalJSON(t *testing.T) {
	for _, row := range []struct {
		value any
		want  string
	}{
		{dict("b", 1, "a", dict(), StringName("sn"), array(), NodePath("/a"), nil, 5, 1.5, nil, true, Vector2i{1, 2}, Vector2{1, 2.5}),
			`{"b":1,"a":{},"sn":[],"/a":null,"5":1.5,"null":true,"Vector2i(1, 2)":{"X":1,"Y":2.5}}`},
		{array(int64(1<<62), "<a>\"\n", []byte{0, 255}, []int32{1}, []any{2}, []any(nil), map[string]any{"b": 1, "a": array(3)}, map[string]any(nil), simple{Name: "s"}),
			`[4611686018427387904,"\u003ca\u003e\"\n","AP8=",[1],[2],null,{"a":[3],"b":1},null,{"Name":"s","MaxHP":0}]`},
		{&Object{Class: "Node", Properties: []Property{{"name", "a"}, {"list", array(1)}}}, `{"class":"Node","name":"a","list":[1]}`},
		{[]any{(*Dictionary)(nil), (*Array)(nil), (*Object)(nil)}, `[null,null,null]`},
		{array((*Dictionary)(nil), (*Array)(nil), (*Object)(nil), Raw{}), `[null,null,null,null]`},
		{array(*dict(1, 2), *array(3), Object{Class: "A"}, Raw{Data: encoded(t, dict("r", Vector2{1, 2}), nil)}), `[{"1":2},[3],{"class":"A"},{"r":{"X":1,"Y":2}}]`},
		{array(RID(5), ObjectID(6), Signal{"s", 7}, Callable{}), `[5,6,{"Name":"s","Object":7},{}]`},
	} {
		got, err := json.Marshal(row.value)
		require.NoError(t, err)
		require.Equal(t, row.want, string(got))
		if m, ok := row.value.(json.Marshaler); ok {
			got, err = m.MarshalJSON()
			require.NoError(t, err)
			require.JSONEq(t, row.want, string(got))
		}
	}
	for r := range rune(0x2100) { // any character
		text := "a" + string(r) + "b" + string([]byte{byte(r)})
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(map[string]any{text: []any{text, -int64(r)}}))
		got := must(dict(text, array(text, -int64(r))).MarshalJSON())(t)
		require.Equal(t, want.String(), string(got)+"\n")
		if r > 0 { // the text of a tree is that of its encoding
			d := dict("a"+string(r)+"b", array(string(r), int64(-r)))
			require.Equal(t, Raw{Data: encoded(t, d, nil)}.String(), d.String())
		}
	}
	self := array(1)
	self.Values = append(self.Values, self, self)
	for _, bad := range []any{array(math.NaN()), dict("a", []any{math.Inf(1)}), array(make(chan int)), self, array(Raw{Data: []byte{2}}), &Object{Properties: []Property{{"a", self}}},
		&Object{Properties: []Property{{"a", math.NaN()}, {"b", 1}}}, dict("m", map[string]any{"self": self}), array(Vector2{X: math.NaN()})} {
		_, err := json.Marshal(bad)
		require.Error(t, err)
		_, err = bad.(json.Marshaler).MarshalJSON()
		require.Error(t, err)
	}
	_, err := json.Marshal(self)
	require.ErrorIs(t, err, gdwire.ErrLimit)
}

// Every value of an engine is valid JSON with the pairs in order, or contains a NaN or infinity.
func TestVectorsAsJSON(t *testing.T) {
	nonFinite := regexp.MustCompile(`\b(nan|inf)\b`)
	forVectors(t, func(t *testing.T, e *engine, packet []byte) {
		var v any
		require.NoError(t, Unmarshal(packet, &v, *e.options()))
		got, err := json.Marshal(v)
		var unsupported *json.UnsupportedValueError
		if errors.As(err, &unsupported) {
			require.Regexp(t, nonFinite, array(v).String())
			return
		}
		require.NoError(t, err)
		d, ok := v.(*Dictionary)
		if !ok {
			require.True(t, json.Valid(got))
			return
		}
		var names, want []string
		for key := range d.All() {
			want = append(want, jsonName(key))
		}
		tokens := json.NewDecoder(bytes.NewReader(got))
		must(tokens.Token())(t)
		for tokens.More() {
			name := must(tokens.Token())(t)
			names = append(names, name.(string))
			var value json.RawMessage
			require.NoError(t, tokens.Decode(&value))
		}
		require.Equal(t, want, names)
	})
}

func TestLogged(t *testing.T) {
	var out bytes.Buffer
	l := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	l.Info("joined", "save", dict("name", "<Ada>", "pos", Vector2{1, 2}))
	require.Equal(t, `{"level":"INFO","msg":"joined","save":{"name":"<Ada>","pos":{"X":1,"Y":2}}}`+"\n", out.String())
}
