package variant

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/stretchr/testify/require"
)

func TestOwnTypes(t *testing.T) {
	testGoTypes(t, []goType{
		{name: "StringName", value: StringName("n"), wire: StringName("n")},
		{name: "NodePath", value: NodePath("/root/A:b:c"), wire: NodePath("/root/A:b:c")},
		{name: "RID", value: RID(77), wire: RID(77)},
		{name: "ObjectID", value: ObjectID(1 << 63), wire: ObjectID(1 << 63)},
		{name: "Signal", value: Signal{Name: "hit", Object: 3}, wire: Signal{Name: "hit", Object: 3}},
		{name: "Callable", value: Callable{}, wire: Callable{}},
		{name: "Object", value: &Object{Class: "Node", Properties: []Property{{"a", int64(1)}, {"b", nil}}},
			wire: &Object{Class: "Node", Properties: []Property{{"a", int64(1)}, {"b", nil}}}},
		{name: "Object without properties", value: Object{Class: "Node"}, wire: &Object{Class: "Node"}},
		{name: "Vector2", value: Vector2{1, 2}, wire: Vector2{1, 2}},
		{name: "Vector2i", value: Vector2i{-1, 2}, wire: Vector2i{-1, 2}},
		{name: "Vector3", value: Vector3{1, 2, 3}, wire: Vector3{1, 2, 3}},
		{name: "Vector3i", value: Vector3i{1, 2, 3}, wire: Vector3i{1, 2, 3}},
		{name: "Vector4", value: Vector4{1, 2, 3, 4}, wire: Vector4{1, 2, 3, 4}},
		{name: "Vector4i", value: Vector4i{1, 2, 3, 4}, wire: Vector4i{1, 2, 3, 4}},
		{name: "Rect2", value: Rect2{Size: Vector2{3, 4}}, wire: Rect2{Size: Vector2{3, 4}}},
		{name: "Rect2i", value: Rect2i{Size: Vector2i{3, 4}}, wire: Rect2i{Size: Vector2i{3, 4}}},
		{name: "Plane", value: Plane{Normal: Vector3{0, 1, 0}, D: 5}, wire: Plane{Vector3{0, 1, 0}, 5}},
		{name: "Quaternion", value: Quaternion{1, 2, 3, 4}, wire: Quaternion{1, 2, 3, 4}},
		{name: "AABB", value: AABB{Size: Vector3{1, 2, 3}}, wire: AABB{Size: Vector3{1, 2, 3}}},
		{name: "Transform2D", value: Transform2D{Origin: Vector2{1, 2}}, wire: Transform2D{Origin: Vector2{1, 2}}},
		{name: "Basis", value: Basis{X: Vector3{1, 2, 3}, Y: Vector3{4, 5, 6}, Z: Vector3{7, 8, 9}},
			wire: Basis{X: Vector3{1, 2, 3}, Y: Vector3{4, 5, 6}, Z: Vector3{7, 8, 9}}},
		{name: "Transform3D", value: Transform3D{Basis: Basis{X: Vector3{1, 2, 3}}, Origin: Vector3{4, 5, 6}},
			wire: Transform3D{Basis: Basis{X: Vector3{1, 2, 3}}, Origin: Vector3{4, 5, 6}}},
		{name: "Projection", value: Projection{W: Vector4{1, 2, 3, 4}}, wire: Projection{W: Vector4{1, 2, 3, 4}}},
		{name: "Color", value: Color{1, 0.5, 0.25, 1}, wire: Color{1, 0.5, 0.25, 1}},
		{name: "Raw", value: Raw{Format: gdwire.Godot4, Data: []byte{2, 0, 0, 0, 5, 0, 0, 0}}, wire: int64(5)},
		{name: "StringName in Godot 3", value: StringName("a"), wire: "a", options: godot3},
		{name: "RID in Godot 3", value: RID(0), wire: RID(0), options: godot3},
		{name: "Image", value: Image{Format: 1, Mipmaps: 2, Width: 3, Height: 4, Data: []byte{5, 6}}, wire: Image{1, 2, 3, 4, []byte{5, 6}}, options: godot2},
		{name: "InputEvent", value: InputEvent{Type: 1, Device: 2, Data: []byte{1, 0, 0, 0, 2, 0, 0, 0}},
			wire: InputEvent{1, 2, []byte{1, 0, 0, 0, 2, 0, 0, 0}}, options: godot2},
	})
}

// Each math type has a Go type.
func TestVariantMathTypes(t *testing.T) {
	for _, typ := range gdwire.Types() {
		if n, _ := typ.Components(); n > 0 {
			require.NotNil(t, mathByType[typ], "declare a type for %v in types.go and add it in coders.go", typ)
		}
	}
}

// For every math type and packed array there is a Go type that any becomes and that is encoded as
// it.
func TestVariantEveryType(t *testing.T) {
	for _, typ := range gdwire.Types() {
		var b bytes.Buffer
		e := gdwire.NewEncoder(&b, nil)
		n, _ := typ.Components()
		elem, bits := typ.Element(), typ.ElementWidth()
		switch {
		case n > 0:
			require.NoError(t, e.WriteToken(gdwire.Vector(typ, make([]float64, n)...)))
		case elem == gdwire.TypeString:
			require.NoError(t, errors.Join(e.BeginPacked(typ, 1), e.WriteString("a"), e.End()))
		case elem != 0:
			require.NoError(t, e.BeginPacked(typ, 1))
			n, _ := elem.Components()
			_, err := e.Write(make([]byte, max(n, 1)*bits/8))
			require.NoError(t, errors.Join(err, e.End()))
		default:
			continue // not built of numbers, and known to tests one by one
		}
		require.NoError(t, e.Close())
		var v any
		require.NoError(t, Unmarshal(b.Bytes(), &v), "%v", typ)
		got, err := Marshal(v)
		require.NoError(t, err, "%v", typ)
		require.Equal(t, b.Bytes(), got, "%v is %T", typ, v)
	}
}
