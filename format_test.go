package gdwire_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// The types and the formats that have them: 4, 3 and 2 for the engines, m for the
// manual of 4.x. The other manuals have those of Godot 3.
func TestTypes(t *testing.T) {
	listed := map[gdwire.Type]bool{}
	formats := map[rune]gdwire.Format{'4': gdwire.Godot4, '3': gdwire.Godot3, '2': gdwire.Godot2, 'm': gdwire.Manual4}
	for _, c := range []struct {
		typ      gdwire.Type
		name, in string
	}{
		{gdwire.TypeNil, "Nil", "432m"},
		{gdwire.TypeBool, "bool", "432m"},
		{gdwire.TypeInt, "int", "432m"},
		{gdwire.TypeFloat, "float", "432m"},
		{gdwire.TypeString, "String", "432m"},
		{gdwire.TypeVector2, "Vector2", "432m"},
		{gdwire.TypeVector2i, "Vector2i", "4"},
		{gdwire.TypeRect2, "Rect2", "432m"},
		{gdwire.TypeRect2i, "Rect2i", "4"},
		{gdwire.TypeVector3, "Vector3", "432m"},
		{gdwire.TypeVector3i, "Vector3i", "4"},
		{gdwire.TypeTransform2D, "Transform2D", "432m"},
		{gdwire.TypeVector4, "Vector4", "4"},
		{gdwire.TypeVector4i, "Vector4i", "4"},
		{gdwire.TypePlane, "Plane", "432m"},
		{gdwire.TypeQuaternion, "Quaternion", "432m"},
		{gdwire.TypeAABB, "AABB", "432m"},
		{gdwire.TypeBasis, "Basis", "432m"},
		{gdwire.TypeTransform3D, "Transform3D", "432m"},
		{gdwire.TypeProjection, "Projection", "4"},
		{gdwire.TypeColor, "Color", "432m"},
		{gdwire.TypeStringName, "StringName", "4"},
		{gdwire.TypeNodePath, "NodePath", "432m"},
		{gdwire.TypeRID, "RID", "432m"},
		{gdwire.TypeObject, "Object", "432m"},
		{gdwire.TypeCallable, "Callable", "4"},
		{gdwire.TypeSignal, "Signal", "4"},
		{gdwire.TypeDictionary, "Dictionary", "432m"},
		{gdwire.TypeArray, "Array", "432m"},
		{gdwire.TypePackedByteArray, "PackedByteArray", "432m"},
		{gdwire.TypePackedInt32Array, "PackedInt32Array", "432m"},
		{gdwire.TypePackedInt64Array, "PackedInt64Array", "4m"},
		{gdwire.TypePackedFloat32Array, "PackedFloat32Array", "432m"},
		{gdwire.TypePackedFloat64Array, "PackedFloat64Array", "4m"},
		{gdwire.TypePackedStringArray, "PackedStringArray", "432m"},
		{gdwire.TypePackedVector2Array, "PackedVector2Array", "432m"},
		{gdwire.TypePackedVector3Array, "PackedVector3Array", "432m"},
		{gdwire.TypePackedColorArray, "PackedColorArray", "432m"},
		{gdwire.TypePackedVector4Array, "PackedVector4Array", "4"},
		{gdwire.TypeImage, "Image", "2"},
		{gdwire.TypeInputEvent, "InputEvent", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			listed[c.typ] = true
			assert.Equal(t, c.name, c.typ.String())
			for letter, format := range formats {
				assert.Equal(t, strings.ContainsRune(c.in, letter), format.Has(c.typ), "%v %v", format, c.typ)
			}
			for _, manual := range []gdwire.Format{gdwire.Manual3, gdwire.Manual30} {
				assert.Equal(t, gdwire.Godot3.Has(c.typ), manual.Has(c.typ), "%v %v", manual, c.typ)
			}
		})
	}
	for _, typ := range gdwire.Types() {
		assert.True(t, listed[typ], "%v needs a line in this table: see \"To add a type\" in CONTRIBUTING.md", typ)
	}
	assert.False(t, gdwire.Godot4.Has(0))
	assert.False(t, gdwire.Godot4.Has(200))
}

// Numbers of types never change, because programs store them: new types of engines are appended to
// those of Godot 4, and the kinds that are no types begin at 64.
func TestTypeNumbers(t *testing.T) {
	require.Equal(t, [...]gdwire.Type{1, 25, 39, 62, 63},
		[...]gdwire.Type{gdwire.TypeNil, gdwire.TypeObject, gdwire.TypePackedVector4Array, gdwire.TypeImage, gdwire.TypeInputEvent})
	require.Equal(t, [...]gdwire.Kind{63, 64, 79}, [...]gdwire.Kind{gdwire.KindInputEvent, gdwire.KindInt32, gdwire.KindEnd})
	require.True(t, slices.IsSorted(gdwire.Types()))
}

// Every type has a name of its own and belongs to a format, and its elements or components are those
// of its tokens. Numbers of no type have no elements and components.
func TestTypeTable(t *testing.T) {
	names := map[string]gdwire.Type{}
	for _, typ := range gdwire.Types() {
		require.Zero(t, names[typ.String()], "%v", typ)
		names[typ.String()] = typ
		format := gdwire.Godot4
		if !format.Has(typ) {
			format = gdwire.Godot2
		}
		require.True(t, format.Has(typ), "%v is in no format", typ)
		n, _ := typ.Components()
		require.Equal(t, n, gdwire.Vector(typ, make([]float64, n)...).Components(), "%v", typ)
		elem, bits := typ.Element(), typ.ElementWidth()
		var b bytes.Buffer
		e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: format})
		if err := e.BeginPacked(typ, 0); err != nil {
			require.ErrorIs(t, err, gdwire.ErrCall)
			require.Zero(t, elem, "%v", typ)
			require.Zero(t, bits, "%v", typ)
			continue
		}
		require.NoError(t, errors.Join(e.End(), e.Close()))
		require.Equal(t, testenv.Must(gdwire.NewDecoder(&b, nil).ReadToken())(t).Width(), bits, "%v", typ)
		if n, _ := elem.Components(); n > 0 {
			require.Equal(t, "Packed"+elem.String()+"Array", typ.String())
		}
	}
	for none := range gdwire.Type(255) {
		if slices.Contains(gdwire.Types(), none) {
			continue
		}
		n, ints := none.Components()
		require.Zero(t, n)
		require.False(t, ints)
		elem, bits := none.Element(), none.ElementWidth()
		require.Zero(t, elem)
		require.Zero(t, bits)
	}
}

func TestElement(t *testing.T) {
	for packed, want := range map[gdwire.Type]string{
		gdwire.TypePackedByteArray:    "int 8",
		gdwire.TypePackedInt32Array:   "int 32",
		gdwire.TypePackedInt64Array:   "int 64",
		gdwire.TypePackedFloat32Array: "float 32",
		gdwire.TypePackedFloat64Array: "float 64",
		gdwire.TypePackedStringArray:  "String 0",
		gdwire.TypePackedVector2Array: "Vector2 32",
		gdwire.TypePackedVector3Array: "Vector3 32",
		gdwire.TypePackedColorArray:   "Color 32",
		gdwire.TypePackedVector4Array: "Vector4 32",
		gdwire.TypeImage:              "Type(0) 0",
		gdwire.TypeInt:                "Type(0) 0",
	} {
		require.Equal(t, want, fmt.Sprint(packed.Element(), " ", packed.ElementWidth()), "%v", packed)
	}
}

// An unknown number of a format is an error of the first call, which stays, and of no value or input.
func TestUnknownFormat(t *testing.T) {
	for _, f := range []gdwire.Format{gdwire.Manual30 + 1, 200, 255} {
		text := fmt.Sprintf("gdwire: offset 0, $: unknown format %d", f)
		packet := []byte{2, 0, 0, 0, 1, 0, 0, 0}
		for _, b := range [][]byte{nil, packet, {4, 0, 0, 0, 1, 0, 0, 0, 'a', 0, 0, 0}} {
			d := gdwire.NewDecoder(bytes.NewReader(b), &gdwire.DecoderOptions{Format: f})
			for range 2 {
				_, err := d.ReadToken()
				require.EqualError(t, err, text)
				require.ErrorIs(t, err, gdwire.ErrRange)
				d.ResetBytes(b)
				require.EqualError(t, d.SkipValue(), text)
				_, err = d.ReadString()
				require.EqualError(t, err, text)
				require.EqualError(t, d.Err(), text)
				require.Equal(t, f, d.Options().Format)
				d.Reset(bytes.NewReader(b))
			}
		}
		e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{Format: f})
		for range 2 {
			require.EqualError(t, e.WriteString("a"), text)
			require.EqualError(t, e.ClearError(), text)
			require.EqualError(t, e.BeginArray(0), text)
			require.EqualError(t, e.Close(), text)
			e.ResetBytes(nil)
			require.EqualError(t, e.WriteRaw(packet), text)
			require.Empty(t, e.Bytes())
			e.Reset(io.Discard)
		}
		require.Equal(t, fmt.Sprintf("Format(%d)", uint8(f)), f.String())
		_, err := f.MarshalText()
		require.EqualError(t, err, fmt.Sprintf("gdwire: unknown format %d", f))
		for _, typ := range gdwire.Types() {
			require.False(t, f.Has(typ))
		}
		require.False(t, f.Has(0))
	}
}

// The number 0 selects gdwire.Godot4, and each name is read again as the same number.
func TestFormatText(t *testing.T) {
	require.Equal(t, gdwire.Godot4, gdwire.NewDecoder(nil, nil).Options().Format)
	require.Equal(t, gdwire.Godot4, gdwire.NewEncoder(nil, nil).Options().Format)
	var f gdwire.Format
	require.True(t, f.Has(gdwire.TypeSignal))
	require.Equal(t, "godot4", f.String())
	for _, f := range append(gdwire.Formats(), 0) {
		text := testenv.Must(f.MarshalText())(t)
		var again gdwire.Format
		require.NoError(t, again.UnmarshalText(text))
		require.Equal(t, cmp.Or(f, gdwire.Godot4), again)
	}
	// The numbers never change.
	require.Equal(t, []gdwire.Format{1, 2, 3, 4, 5, 6}, []gdwire.Format{gdwire.Godot4, gdwire.Godot3, gdwire.Godot2, gdwire.Manual4, gdwire.Manual3, gdwire.Manual30})
}
