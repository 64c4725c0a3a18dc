package page

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/variant"
)

// everyRow calls f with each row of a source, and the way and path to it.
func everyRow(t *testing.T, s *Source, parent *row, to way, path string, f func(w way, path string, r row)) {
	for _, r := range list(t, s, parent) {
		w := append(append(way{}, to...), r.Index)
		f(w, path+r.Step, r)
		if r.Count > 0 {
			everyRow(t, s, &r, w, path+r.Step, f)
		}
	}
}

// The path and the bytes of each row lead to it.
func TestWays(t *testing.T) {
	value := gdwiretest.Encode(t, sample())
	for _, frame := range []save.Frame{save.Bare, save.U32, save.U32BE} {
		memory := source(frame, value, gdwiretest.Encode(t, []any{1, map[string]any{"a": 2}}))
		for _, s := range []*Source{memory, onDisk(t, memory)} {
			rows := s.tracer(t.Context().Done())
			defer rows.release()
			n := 0
			everyRow(t, s, nil, nil, "", func(w way, path string, r row) {
				n++
				got, found := must2(rows.row(w))(t)
				require.Equal(t, path, got)
				require.Equal(t, []any{r.At, r.Text, r.Count}, []any{found.At, found.Text, found.Count}, path)
				if !strings.Contains(path, ".value(") { // a key that no path can name
					back, missing, err := s.wayTo(t.Context().Done(), path)
					require.NoError(t, err, path)
					require.Empty(t, missing, path)
					require.Equal(t, w, back, path)
				}
				require.Greater(t, r.To, r.At, path)
				for _, at := range []int64{r.At, r.To - 1} {
					back := must(s.wayAt(t.Context().Done(), at))(t)
					require.Equal(t, fmt.Sprint(w), fmt.Sprint(back[:min(len(back), len(w))]), "%s, offset %d", path, at)
				}
			})
			require.Greater(t, n, 30)
		}
	}
}

func TestWayErrors(t *testing.T) {
	s := source(save.Bare, gdwiretest.Encode(t, map[string]any{"pos": variant.Vector2{X: 1}, "list": []any{1}}))
	for _, c := range []struct{ path, missing string }{
		{"pos.x", "$.x"}, {"nothing.at.all", "$.nothing.at.all"}, {"list[7]", "$[7]"}, {"list[0].a", "$.a"}, {"list[+]", "$[+]"},
	} {
		_, missing, err := s.wayTo(t.Context().Done(), c.path)
		require.NoError(t, err, c.path)
		require.Equal(t, c.missing, missing)
	}
	_, _, err := s.wayTo(t.Context().Done(), "a..b")
	require.ErrorContains(t, err, "a..b")
	_, _, err = s.wayTo(t.Context().Done(), "$3.a")
	require.ErrorIs(t, err, errNoValue)
}

func TestPageSizes(t *testing.T) {
	values := make([]any, 5000)
	for i := range values {
		values[i] = strings.Repeat("x", i%100)
	}
	values[4321] = []any{strings.Repeat("y", 10_000)}
	memory := source(save.Bare, gdwiretest.Encode(t, values))
	for _, s := range []*Source{memory, onDisk(t, memory)} {
		var last sizes
		require.NoError(t, s.sizes(t.Context(), 0, 0, func(x sizes) error { last = x; return nil }))
		require.True(t, last.Done)
		require.EqualValues(t, 5000, last.Count)
		require.EqualValues(t, s.Size-8, last.Bytes)
		require.Len(t, last.Largest, maxSizes)
		first := last.Largest[0]
		require.Equal(t, []any{int64(4321), "[4321]", "Array", int64(1), int64(8 + 8 + 10_000)}, []any{first.Index, first.Step, first.Type, first.Count, first.Bytes})
		for i := 1; i < maxSizes; i++ {
			require.LessOrEqual(t, last.Largest[i].Bytes, last.Largest[i-1].Bytes)
		}
		require.EqualValues(t, 8+100, last.Largest[1].Bytes)
	}
}

// A large file that is written in place is not compared with itself.
func TestOverwritten(t *testing.T) {
	before, after := onDisk(t, source(save.Bare, gdwiretest.Encode(t, 1))), source(save.Bare, gdwiretest.Encode(t, 2))
	s := &Page{Before: before, File: after}
	get := start(t, s)
	_, body := get("changes")
	require.Contains(t, body, `"new":"2"`)
	require.NoError(t, os.WriteFile(before.Path, gdwiretest.Encode(t, "longer"), 0o600))
	_, body = get("changes")
	require.Contains(t, body, `"text":"what has changed is unknown: `)
}

// A condition compares with the type of the packet's value.
func TestCondition(t *testing.T) {
	s := source(save.Bare, gdwiretest.Encode(t, []any{"move", map[string]any{"hp": 0.0, "name": "Ada", "list": []any{1}}}))
	for line, holds := range map[string]bool{
		"[1].hp = 0": true, "[1].hp = 1": false, "[0] = \"move\"": true, "[1].name = \"Bob\"": false, "[1].mp = 0": false, "[1].hp.x = 0": false, "[1] = 0": false,
	} {
		where := must(edit.ParsePlace(line))(t)
		require.Equal(t, holds, where.IsIn(s.content()), line)
	}
	_, err := edit.ParsePlace("hp =")
	require.Error(t, err)
}

// A row tells what engines refuse or drop, what older ones cannot read, and what none writes.
func TestVerdict(t *testing.T) {
	decode := func(text string) []byte {
		return must(hex.DecodeString(text))(t)
	}
	node := func(script any) []byte {
		return gdwiretest.Encode(t, &variant.Object{Class: "Node", Properties: []variant.Property{{Name: "script", Value: script}}})
	}
	const refused, noPath = "engines refuse a serialized object unless they are told to allow objects, as by get_var(true)",
		"engines since 4.3 refuse a script that is not the path of an existing one"
	for name, c := range map[string]struct {
		packet []byte
		typ    string
		verdict
		inside verdict // of the first child
	}{
		"int":                 {gdwiretest.Encode(t, 5), "int", verdict{}, verdict{}},
		"array":               {gdwiretest.Encode(t, []any{1}), "Array", verdict{}, verdict{}},
		"int in 64 bits":      {decode("020001000500000000000000"), "int", verdict{Odd: "int 5 in 64 bits"}, verdict{}},
		"object":              {node(nil), "Object", verdict{Refused: refused}, verdict{}},
		"object with path":    {node("res://a.gd"), "Object", verdict{Refused: refused}, verdict{}},
		"object with text":    {node("extends Node"), "Object", verdict{Refused: refused}, verdict{Refused: noPath}},
		"object with number":  {node(5), "Object", verdict{Refused: refused}, verdict{Refused: noPath}},
		"element of its type": {decode("1c00010002000000010000000200000005000000"), "Array[int]", verdict{Since: "4.3"}, verdict{}},
		"null for a class":    {decode("1c00010018000000010000000000000000000000"), "Array[Object]", verdict{Since: "4.3"}, verdict{}},
		"element of another type": {decode("1c0001000c00000001000000050000000000803f00000040"), "Array[Vector4]",
			verdict{Since: "4.3", Odd: "Vector2 in a container of Vector4, at offset 12"},
			verdict{Refused: "the type of the element is not Vector4, as declared: engines convert or drop it"}},
		"key of another type": {decode("1b00010004000000010000000200000001000000" + "0200000005000000"), "Dictionary[String, Variant]",
			verdict{Since: "4.4", Odd: "int in a container of String, at offset 12"},
			verdict{Refused: "the type of the key is not String, as declared: engines convert or drop it"}},
		"value of another type": {decode("1b000400040000000100000002000000010000000200000005000000"), "Dictionary[Variant, String]", verdict{Since: "4.4"}, verdict{}},
		"PackedVector4Array":    {gdwiretest.Encode(t, []variant.Vector4{{}}), "PackedVector4Array", verdict{Since: "4.3"}, verdict{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := source(save.Bare, c.packet)
			rows := list(t, s, nil)
			require.Equal(t, c.typ, rows[0].Type)
			require.Equal(t, c.verdict, rows[0].verdict)
			if rows[0].Count > 0 {
				require.Equal(t, c.inside, list(t, s, &rows[0])[0].verdict)
			}
			require.Equal(t, c.typ, must(s.detail(t.Context().Done(), 0, 0, 0))(t).Type)
		})
	}
	s := source(save.Bare, gdwiretest.Encode(t, &variant.Object{Class: "Node", Properties: []variant.Property{{Name: "script", Value: "extends Node"}}},
		variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}))
	s.Format = gdwire.Godot3
	row := list(t, s, nil)[0]
	require.Empty(t, list(t, s, &row)[0].Refused, "engines before 4.3 set it")
}
