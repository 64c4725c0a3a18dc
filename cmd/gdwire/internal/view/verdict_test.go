package view

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/variant"
)

// A row tells what engines refuse or drop, what older ones cannot read, and what none writes.
func TestVerdict(t *testing.T) {
	decode := func(text string) []byte {
		b := must(hex.DecodeString(text))(t)
		return b
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
			v := must(s.detail(t.Context().Done(), 0, 0, 0))(t)
			require.Equal(t, c.typ, v.Type)
		})
	}
	s := source(save.Bare, gdwiretest.Encode(t, &variant.Object{Class: "Node", Properties: []variant.Property{{Name: "script", Value: "extends Node"}}},
		variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}))
	s.Format = gdwire.Godot3
	row := list(t, s, nil)[0]
	require.Empty(t, list(t, s, &row)[0].Refused, "engines before 4.3 set it")
}
