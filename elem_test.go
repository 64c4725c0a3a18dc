package gdwire

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestElem(t *testing.T) {
	for _, c := range []struct {
		name    string
		elem    Elem
		text    string
		typ     Type
		encoded []byte
		decoded Elem
	}{
		{"untyped", Elem{}, "", 0, nil, Elem{}},
		{"built-in", Elem{Type: TypeInt}, "int", TypeInt, bytesOf(idInt), Elem{Type: TypeInt}},
		{"Object", Elem{Type: TypeObject}, "Object", TypeObject, bytesOf(idObject), Elem{Type: TypeObject}},
		{"class", Elem{Class: "Node3D"}, "Node3D", TypeObject, bytesOf("Node3D"), Elem{Type: TypeObject, Class: "Node3D"}},
		{"script", Elem{Script: "res://a.gd"}, "res://a.gd", TypeObject, bytesOf("res://a.gd"), Elem{Type: TypeObject, Script: "res://a.gd"}},
		{"script of a class", Elem{Class: "Node", Script: "res://a"}, "res://a", TypeObject, bytesOf("res://a"), Elem{Type: TypeObject, Script: "res://a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.text, c.elem.String())
			require.Equal(t, c.typ, c.elem.typ())
			require.Equal(t, c.encoded, appendElem(nil, c.elem))
			got, size := readElem(append(c.encoded, "more"...), c.elem.kind())
			require.Equal(t, c.decoded, got)
			require.Equal(t, len(c.encoded), size)
		})
	}
}

// A declared type that Godot 4 does not have is an error.
func TestElemOfNoType(t *testing.T) {
	for _, c := range []struct {
		name string
		elem Elem
		want error
	}{
		{"Nil", Elem{Type: TypeNil}, ErrType},
		{"Image", Elem{Type: TypeImage}, ErrType},
		{"InputEvent", Elem{Type: TypeInputEvent}, ErrType},
		{"unknown", Elem{Type: 99}, ErrType},
		{"class that is not UTF-8", Elem{Class: "\xff"}, ErrUTF8},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := NewEncoder(io.Discard, nil)
			defer e.Release()
			for _, m := range []misuse{
				{"ArrayStart", token(ArrayStart(0, c.elem)), c.want},
				{"BeginTypedArray", typedArray(0, c.elem), c.want},
				{"DictStart", token(DictStart(0, Elem{}, c.elem)), c.want},
			} {
				m.rejects(t, e)
			}
			require.NoError(t, e.Close())
		})
	}
}
