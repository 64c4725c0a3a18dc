package gdwire_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// The kind of every math type is its type, and its components are read as written.
func TestMathTypes(t *testing.T) {
	kinds := []gdwire.Kind{
		gdwire.KindVector2, gdwire.KindVector2i, gdwire.KindRect2, gdwire.KindRect2i, gdwire.KindVector3, gdwire.KindVector3i, gdwire.KindTransform2D, gdwire.KindVector4,
		gdwire.KindVector4i, gdwire.KindPlane, gdwire.KindQuaternion, gdwire.KindAABB, gdwire.KindBasis, gdwire.KindTransform3D, gdwire.KindProjection, gdwire.KindColor,
	}
	for _, typ := range gdwire.Types() {
		n, integers := typ.Components()
		if n == 0 {
			continue
		}
		t.Run(typ.String(), func(t *testing.T) {
			for _, double := range []bool{false, true} {
				var b bytes.Buffer
				e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{DoubleReals: double})
				var want []float64
				var ints []int32
				for i := range n {
					want = append(want, float64(i)-1)
					ints = append(ints, int32(i)-1)
				}
				width, size := 32, 4+4*n
				if integers {
					require.NoError(t, gdwire.WriteComponents(e, typ, ints))
				} else {
					require.NoError(t, gdwire.WriteComponents(e, typ, want))
					if double && typ != gdwire.TypeColor {
						width, size = 64, 4+8*n
					}
				}
				require.Equal(t, size, b.Len())

				d := gdwire.NewDecoder(&b, nil)
				tok := testenv.Must(d.ReadToken())(t)
				require.Equal(t, typ, tok.Type())
				require.Contains(t, kinds, tok.Kind())
				require.Equal(t, typ.String(), tok.Kind().String())
				require.Equal(t, n, tok.Components())
				require.Equal(t, width, tok.Width())
				require.Equal(t, want, tok.AppendComponents(nil))
				require.Equal(t, append([]float64{7}, want...), tok.AppendComponents([]float64{7}))
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
			assert.Empty(t, tok.AppendComponents(nil), tok)
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

// Tokens made by functions are written by an Encoder and read by a Decoder.
func TestMadeTokens(t *testing.T) {
	stringInt := [2]gdwire.Elem{{Type: gdwire.TypeString}, {Type: gdwire.TypeInt}}
	for _, c := range []struct {
		tokens []gdwire.Token
		hex    string
		text   string
	}{
		{[]gdwire.Token{gdwire.Nil()}, "00000000", "Nil"},
		{[]gdwire.Token{gdwire.Bool(true)}, "0100000001000000", "Bool true"},
		{[]gdwire.Token{gdwire.Bool(false)}, "0100000000000000", "Bool false"},
		{[]gdwire.Token{gdwire.Int32(-5)}, "02000000fbffffff", "Int32 -5"},
		{[]gdwire.Token{gdwire.Int64(-5)}, "02000100fbffffffffffffff", "Int64 -5"},
		{[]gdwire.Token{gdwire.Float32(0.5)}, "030000000000003f", "Float32 0.5"},
		{[]gdwire.Token{gdwire.Float64(0.5)}, "03000100000000000000e03f", "Float64 0.5"},
		{[]gdwire.Token{gdwire.Vector(gdwire.TypeVector2, 0.1, -1)}, "05000000cdcccc3d000080bf", "Vector2 [0.10000000149011612 -1]"},
		{[]gdwire.Token{gdwire.Vector(gdwire.TypeVector2i, math.MinInt32, math.MaxInt32)}, "0600000000000080ffffff7f", "Vector2i [-2.147483648e+09 2.147483647e+09]"},
		{[]gdwire.Token{gdwire.Vector(gdwire.TypePlane, math.Inf(1), 0, 0, math.NaN())}, "0e0000000000807f00000000000000000000c07f", "Plane [+Inf 0 0 NaN]"},
		{[]gdwire.Token{gdwire.String("hé")}, "040000000300000068c3a900", `StringChunk String "hé"`},
		{[]gdwire.Token{gdwire.StringName("")}, "1500000000000000", `StringChunk StringName ""`},
		{[]gdwire.Token{gdwire.ObjectID(1 << 63)}, "180001000000000000000080", "ObjectID -9223372036854775808"},
		{[]gdwire.Token{gdwire.ArrayStart(0, gdwire.Elem{}), gdwire.End()}, "1c00000000000000", "ArrayStart 0"},
		{
			[]gdwire.Token{gdwire.ArrayStart(gdwire.Unknown, gdwire.Elem{Class: "Node"}), gdwire.Nil(), gdwire.End()},
			"1c000200040000004e6f64650100000000000000", "ArrayStart 1 [Node]",
		},
		{
			[]gdwire.Token{gdwire.DictStart(1, stringInt[0], stringInt[1]), gdwire.DictKey(), gdwire.String("a"), gdwire.Int32(1), gdwire.End()},
			"1b000500040000000200000001000000040000000100000061000000" + "0200000001000000", "DictStart 1 [String, int]",
		},
		{
			[]gdwire.Token{gdwire.DictStart(0, gdwire.Elem{}, gdwire.Elem{Script: "res://a.gd"}), gdwire.End()},
			"1b000c000a0000007265733a2f2f612e6764000000000000", "DictStart 0 [Variant, res://a.gd]",
		},
	} {
		t.Run(c.text, func(t *testing.T) {
			var b bytes.Buffer
			e := gdwire.NewEncoder(&b, nil)
			for _, tok := range c.tokens {
				require.NoError(t, e.WriteToken(tok))
			}
			require.NoError(t, e.Close())
			require.Equal(t, c.hex, hex.EncodeToString(b.Bytes()))
			d := gdwire.NewDecoder(&b, nil)
			first := testenv.Must(d.ReadToken())(t)
			require.Equal(t, c.text, first.String())
			require.Equal(t, c.tokens[0].Kind(), first.Kind())
			require.Equal(t, c.tokens[0].Elem(), first.Elem())
			require.Equal(t, c.tokens[0].KeyElem(), first.KeyElem())
			require.Equal(t, c.tokens[0].Text(), first.Text())
			require.Equal(t, c.tokens[0].ID(), first.ID())
			require.Equal(t, c.tokens[0].Bool(), first.Bool())
			require.Equal(t, c.tokens[0].Width(), first.Width())
			require.Equal(t, fmt.Sprint(c.tokens[0].AppendComponents(nil)), fmt.Sprint(first.AppendComponents(nil)))
		})
	}
	require.Equal(t, int64(gdwire.Unknown), gdwire.ArrayStart(gdwire.Unknown, gdwire.Elem{}).Len())
}

// Vector makes a token of each math type, and the zero Token of anything else.
func TestVector(t *testing.T) {
	want, made := map[gdwire.Type]int{}, map[gdwire.Type]int{}
	for _, typ := range gdwire.Types() {
		if n, _ := typ.Components(); n > 0 {
			want[typ] = n
		}
	}
	for typ := range gdwire.Type(255) {
		for n := range 20 {
			tok := gdwire.Vector(typ, make([]float64, n)...)
			if tok == (gdwire.Token{}) {
				continue
			}
			require.Equal(t, typ, tok.Type())
			require.Equal(t, n, tok.Components())
			made[typ] = n
		}
	}
	require.Equal(t, want, made, "types and their numbers of components")
	require.Equal(t, 9, made[gdwire.TypeBasis])
	for _, tok := range []gdwire.Token{
		gdwire.Vector(gdwire.TypeVector2, 1e300, 0),
		gdwire.Vector(gdwire.TypeVector2i, 0.5, 0),
		gdwire.Vector(gdwire.TypeVector2i, 1<<31, 0),
		gdwire.Vector(gdwire.TypeVector2i, math.NaN(), 0),
	} {
		require.Zero(t, tok)
	}
}

func TestTokensMadeForEncoders(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(20, func() {
		for _, tok := range [...]gdwire.Token{
			gdwire.Nil(), gdwire.Bool(true), gdwire.Int32(1), gdwire.Int64(2), gdwire.Float32(3), gdwire.Float64(4),
			gdwire.ObjectID(5), gdwire.DictKey(), gdwire.End(),
		} {
			discard = tok
		}
	}))
	for name, make := range map[string]func() gdwire.Token{
		"String":     func() gdwire.Token { return gdwire.String("text") },
		"StringName": func() gdwire.Token { return gdwire.StringName("text") },
		"ArrayStart": func() gdwire.Token { return gdwire.ArrayStart(1, gdwire.Elem{Class: "Node"}) },
		"DictStart": func() gdwire.Token {
			return gdwire.DictStart(1, gdwire.Elem{Type: gdwire.TypeInt}, gdwire.Elem{Script: "res://x"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.LessOrEqual(t, testing.AllocsPerRun(20, func() { discard = make() }), 4.0)
		})
	}
}

var discard gdwire.Token
