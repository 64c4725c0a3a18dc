package gdwire_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// The kind of every math type is its type, and its components are read as written.
func TestMathTypes(t *testing.T) {
	for _, c := range []struct {
		typ  gdwire.Type
		kind gdwire.Kind
		name string
		n    int
		ints bool
	}{
		{gdwire.TypeVector2, gdwire.KindVector2, "Vector2", 2, false},
		{gdwire.TypeVector2i, gdwire.KindVector2i, "Vector2i", 2, true},
		{gdwire.TypeRect2, gdwire.KindRect2, "Rect2", 4, false},
		{gdwire.TypeRect2i, gdwire.KindRect2i, "Rect2i", 4, true},
		{gdwire.TypeVector3, gdwire.KindVector3, "Vector3", 3, false},
		{gdwire.TypeVector3i, gdwire.KindVector3i, "Vector3i", 3, true},
		{gdwire.TypeTransform2D, gdwire.KindTransform2D, "Transform2D", 6, false},
		{gdwire.TypeVector4, gdwire.KindVector4, "Vector4", 4, false},
		{gdwire.TypeVector4i, gdwire.KindVector4i, "Vector4i", 4, true},
		{gdwire.TypePlane, gdwire.KindPlane, "Plane", 4, false},
		{gdwire.TypeQuaternion, gdwire.KindQuaternion, "Quaternion", 4, false},
		{gdwire.TypeAABB, gdwire.KindAABB, "AABB", 6, false},
		{gdwire.TypeBasis, gdwire.KindBasis, "Basis", 9, false},
		{gdwire.TypeTransform3D, gdwire.KindTransform3D, "Transform3D", 12, false},
		{gdwire.TypeProjection, gdwire.KindProjection, "Projection", 16, false},
		{gdwire.TypeColor, gdwire.KindColor, "Color", 4, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, ints := c.typ.Components()
			require.Equal(t, c.n, n)
			require.Equal(t, c.ints, ints)
			for _, double := range []bool{false, true} {
				var b bytes.Buffer
				e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{DoubleReals: double})
				var want []float64
				var ints []int32
				for i := range c.n {
					want = append(want, float64(i)-1)
					ints = append(ints, int32(i)-1)
				}
				width, size := 32, 4+4*c.n
				if c.ints {
					require.NoError(t, e.WriteInts(c.typ, ints...))
					require.ErrorIs(t, e.WriteReals(c.typ, want...), gdwire.ErrType)
					require.Error(t, e.ClearError())
					require.ErrorIs(t, e.WriteInts(c.typ, ints[1:]...), gdwire.ErrCount)
					require.Error(t, e.ClearError())
				} else {
					require.NoError(t, e.WriteReals(c.typ, want...))
					require.ErrorIs(t, e.WriteInts(c.typ, ints...), gdwire.ErrType)
					require.Error(t, e.ClearError())
					require.ErrorIs(t, e.WriteReals(c.typ, want[1:]...), gdwire.ErrCount)
					require.Error(t, e.ClearError())
					if double && c.typ != gdwire.TypeColor {
						width, size = 64, 4+8*c.n
					}
				}
				require.Equal(t, size, b.Len())

				d := gdwire.NewDecoder(&b, nil)
				tok, err := d.ReadToken()
				require.NoError(t, err)
				require.Equal(t, c.kind, tok.Kind())
				require.Equal(t, c.typ, tok.Type())
				require.Equal(t, c.name, tok.Kind().String())
				require.Equal(t, c.name, tok.Type().String())
				require.Equal(t, c.n, tok.Components())
				require.Equal(t, width, tok.Width())
				require.Equal(t, want, tok.AppendReals(nil))
				require.Equal(t, want[c.n-1], tok.Real(c.n-1))
				require.Zero(t, tok.Real(c.n))
				require.Zero(t, tok.Real(-1))
				v2, v3, v4 := tok.Vector2(), tok.Vector3(), tok.Vector4()
				for n, v := range map[int][]float64{2: v2[:], 3: v3[:], 4: v4[:]} {
					if n == c.n {
						require.Equal(t, want, v)
					} else {
						require.Equal(t, make([]float64, n), v)
					}
				}
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		token gdwire.Token
		i     int64
		f     float64
	}{
		{gdwire.Int32(-7), -7, -7},
		{gdwire.Int64(math.MaxInt64), math.MaxInt64, 1 << 63},
		{gdwire.Float32(2.75), 2, 2.75},
		{gdwire.Float64(-2.75), -2, -2.75},
		{gdwire.Float64(1e300), math.MaxInt64, 1e300},
		{gdwire.Float64(-1e300), math.MinInt64, -1e300},
		{gdwire.Float64(1 << 63), math.MaxInt64, 1 << 63},
		{gdwire.Float64(-1 << 63), math.MinInt64, -1 << 63},
		{gdwire.String("7"), 0, 0},
		{gdwire.Bool(true), 0, 0},
	} {
		t.Run(c.token.String(), func(t *testing.T) {
			assert.Equal(t, c.i, c.token.Int())
			assert.Equal(t, c.f, c.token.Float())
		})
	}
	nan := gdwire.Float64(math.NaN())
	assert.Zero(t, nan.Int())
	assert.True(t, math.IsNaN(nan.Float()))
}

// Methods return zero for tokens of other kinds.
func TestWrongKind(t *testing.T) {
	for _, tok := range []gdwire.Token{{}, gdwire.Nil(), gdwire.End(), gdwire.String("x"), gdwire.Int32(1), gdwire.ArrayStart(3, gdwire.Elem{})} {
		t.Run(tok.String(), func(t *testing.T) {
			names, subnames, absolute := tok.NodePath()
			format, mipmaps, width, height := tok.Image()
			event, device := tok.Event()
			assert.Zero(t, names+subnames, tok)
			assert.Zero(t, format+mipmaps+width+height+event+device, tok)
			assert.False(t, absolute || tok.Bool(), tok)
			assert.Zero(t, tok.ID(), tok)
			assert.Zero(t, tok.Components(), tok)
			assert.Zero(t, tok.Real(0), tok)
			assert.Empty(t, tok.AppendReals(nil), tok)
			assert.Zero(t, tok.Vector2(), tok)
			assert.Zero(t, tok.Vector3(), tok)
			assert.Zero(t, tok.Vector4(), tok)
			assert.Zero(t, tok.Elem(), tok)
			assert.Zero(t, tok.KeyElem(), tok)
			assert.Equal(t, tok.Kind() == gdwire.KindStringChunk, tok.Last(), tok)
		})
	}
	assert.Zero(t, gdwire.Token{}.Len())
	assert.Equal(t, "Kind(0)", gdwire.Token{}.Kind().String())
	assert.Equal(t, "Type(0)", gdwire.Token{}.Type().String())
	assert.Equal(t, "Kind(200)", gdwire.Kind(200).String())
	assert.Equal(t, "Type(200)", gdwire.Type(200).String())
}

// The types and the formats that have them: 4, 3 and 2 for the engines, m for the
// manual of 4.x. The other manuals have those of Godot 3.
func TestTypes(t *testing.T) {
	formats := map[rune]*gdwire.Format{'4': gdwire.Godot4, '3': gdwire.Godot3, '2': gdwire.Godot2, 'm': gdwire.Manual4}
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
			assert.Equal(t, c.name, c.typ.String())
			for letter, format := range formats {
				assert.Equal(t, strings.ContainsRune(c.in, letter), format.Has(c.typ), "%v %v", format, c.typ)
			}
			for _, manual := range []*gdwire.Format{gdwire.Manual3, gdwire.Manual30} {
				assert.Equal(t, gdwire.Godot3.Has(c.typ), manual.Has(c.typ), "%v %v", manual, c.typ)
			}
		})
	}
	assert.False(t, gdwire.Godot4.Has(0))
	assert.False(t, gdwire.Godot4.Has(200))
}

// Every type has a name, belongs to a format, and its elements or components are those of
// its tokens.
func TestTypeTable(t *testing.T) {
	names := map[string]bool{}
	for _, typ := range gdwire.Types() {
		names[typ.String()] = true
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
			require.ErrorIs(t, err, gdwire.ErrType)
			require.Zero(t, elem, "%v", typ)
			require.Zero(t, bits, "%v", typ)
			continue
		}
		require.NoError(t, errors.Join(e.End(), e.Close()))
		tok, err := gdwire.NewDecoder(&b, nil).ReadToken()
		require.NoError(t, err)
		require.Equal(t, tok.Width(), bits, "%v", typ)
		if n, _ := elem.Components(); n > 0 {
			require.Equal(t, "Packed"+elem.String()+"Array", typ.String())
		}
	}
	require.Len(t, names, 41)
	for _, none := range []gdwire.Type{0, 42, 64 + gdwire.TypeVector3, 255} {
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
