package gdjson_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// FuzzFromJSON: any text is an error, or a value that ToJSON and FromJSON convert
// back to the same bytes.
func FuzzFromJSON(f *testing.F) {
	for i, e := range engines {
		for _, v := range e.vectors(f) {
			if len(v.Hex) > 400 || i > 0 && i != 3 {
				continue
			}
			text := must(toJSON(v.wire(f, e.format), e.decoder(), &gdjson.Options{Plain: i == 0}))(f)
			f.Add([]byte(text), 2*seeds[e.format], false, i == 0)
			if v.NativeJSON != nil {
				f.Add([]byte(*v.NativeJSON), byte(0), true, false)
			}
		}
	}
	for _, c := range append(strictCases, lenientCases...) {
		f.Add([]byte(c.text), byte(0), true, false)
	}
	f.Fuzz(func(t *testing.T, text []byte, format byte, lenient, plain bool) {
		formats := gdwire.Formats()
		to := &gdwire.EncoderOptions{Format: formats[int(format/2)%len(formats)], DoubleReals: format%2 == 1}
		o := &gdjson.Options{Lenient: lenient, Plain: plain, AllowObjects: true}
		wire, err := fromJSON(string(text), to, o)
		if err != nil {
			var fault *gdjson.Error
			require.ErrorAs(t, err, &fault)
			require.LessOrEqual(t, fault.Offset, int64(len(text)))
			require.True(t, jsontext.Pointer(fault.Pointer).IsValid())
			return
		}
		from := &gdwire.DecoderOptions{Format: to.Format, DoubleReals: to.DoubleReals, AllowObjects: true}
		again := must(toJSON(wire, from, nil))(t)
		back, err := fromJSON(again, to, allow)
		require.NoError(t, err, again)
		require.Equal(t, wire, back, again)
		if plain {
			again := must(toJSON(wire, from, o))(t)
			require.Equal(t, wire, must(fromJSON(again, to, o))(t), again)
		}
	})
}

// signaling matches a NaN that arithmetic makes quiet.
var signaling = regexp.MustCompile(`nan:0x([0-9a-f]{1,12}|[0-7][0-9a-f]{12})"`)

// seeds contains formats by their index in gdwire.Formats.
var seeds = map[gdwire.Format]byte{gdwire.Godot4: 0, gdwire.Godot3: 1}

// FuzzToJSON: FromJSON reads everything that ToJSON writes. For values as engines
// write them, the result is the same bytes, and for others the same JSON.
func FuzzToJSON(f *testing.F) {
	for i, e := range engines {
		for _, v := range e.vectors(f) {
			if len(v.Hex) < 400 && (i == 0 || i == 3) {
				f.Add(v.wire(f, e.format), seeds[e.format])
			}
		}
	}
	f.Fuzz(func(t *testing.T, wire []byte, format byte) {
		formats := gdwire.Formats()
		from := gdwire.DecoderOptions{Format: formats[int(format)%len(formats)], AllowObjects: true}
		var plain bytes.Buffer
		d := gdwire.NewDecoder(bytes.NewReader(wire), &from)
		defer d.Release()
		plainErr := gdjson.ToJSON(&plain, d, gdjson.Options{Plain: true, Indent: " "})

		text, err := toJSON(wire, &from, nil)
		if err != nil {
			if !errors.Is(err, gdwire.ErrRange) { // a NodePath, which plain JSON can represent
				require.Equal(t, err, plainErr)
			}
			return
		}
		require.NoError(t, plainErr)
		to := gdwire.EncoderOptions{Format: from.Format, DoubleReals: true, AllowInvalidUTF8: true} // a NUL
		back, err := fromJSON(text, &to, allow)
		if err != nil { // an element of another type than declared, or an old NodePath with two colons in a row
			require.True(t, errors.Is(err, gdwire.ErrType) || bytes.Contains([]byte(text), []byte("::")), err)
			return
		}
		again := must(toJSON(back, &gdwire.DecoderOptions{Format: from.Format, AllowObjects: true, DoubleReals: true}, nil))(t)
		if signaling.MatchString(text) {
			return
		}
		require.Equal(t, text, again)

		from.Strict = true
		if _, err := toJSON(wire, &from, nil); err != nil || from.Format != gdwire.Godot4 && from.Format != gdwire.Godot3 {
			return
		}
		checkExact(t, wire, from.Format)
	})
}

// checkExact checks that converting a canonical value to JSON and back gives the same result as
// CopyValue.
func checkExact(t testing.TB, wire []byte, format gdwire.Format) {
	from := &gdwire.DecoderOptions{Format: format, AllowObjects: true, Strict: true}
	d := gdwire.NewDecoder(bytes.NewReader(wire), from)
	defer d.Release()
	var want bytes.Buffer
	e := gdwire.NewEncoder(&want, &gdwire.EncoderOptions{Format: format})
	defer e.Close()
	require.NoError(t, gdwire.CopyValue(e, d))

	wide := false
	d.Reset(bytes.NewReader(wire))
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		packed := tok.Kind() == gdwire.KindPackedStart && tok.Type() != gdwire.TypePackedFloat64Array
		wide = wide || tok.Width() == 64 && (packed && tok.Type() != gdwire.TypePackedInt64Array || tok.Components() > 0)
	}
	text := must(toJSON(wire, from, nil))(t)
	got, err := fromJSON(text, &gdwire.EncoderOptions{Format: format, DoubleReals: wide}, allow)
	require.NoError(t, err, text)
	require.Equal(t, want.Bytes(), got, text)
}

// TestJSONRandomValues: random values are unchanged after conversion to JSON and back.
func TestJSONRandomValues(t *testing.T) {
	n := testenv.Cases(2_000, 20_000)
	for _, double := range []bool{false, true} {
		r := randomValues{rand.New(rand.NewPCG(1, 2))}
		for range n {
			wire := encode(t, &gdwire.EncoderOptions{DoubleReals: double}, func(e *gdwire.Encoder) { r.value(e, 5) })
			checkExact(t, wire, gdwire.Godot4)
		}
	}
}

// randomValues writes random values that engines could write.
type randomValues struct{ *rand.Rand }

func (r randomValues) real() float64 {
	switch r.IntN(8) {
	case 0:
		return []float64{0, math.Copysign(0, -1), infinity, -infinity, nan(0x7FF8 << 48), nan(0xFFF8 << 48), 1e-45, math.MaxFloat32}[r.IntN(8)]
	case 1:
		return float64(math.Float32frombits(r.Uint32()))
	case 2:
		return r.NormFloat64()
	default:
		return float64(r.IntN(2000)-1000) / 8
	}
}

func (r randomValues) int() int64 { return r.Int64() >> r.IntN(64) * int64(1-2*r.IntN(2)) }

func (r randomValues) text() string {
	runes := []rune("aZ0 _\"\\/\n\x7f\u0080é\u2028ж日😀\U0010FFFF:i")
	s := make([]rune, r.IntN(12))
	for i := range s {
		s[i] = runes[r.IntN(len(runes))]
	}
	return string(s)
}

func (r randomValues) value(e *gdwire.Encoder, depth int) {
	typ := gdwire.TypeNil + gdwire.Type(r.IntN(int(gdwire.TypePackedVector4Array)))
	r.ofType(e, typ, depth)
}

func (r randomValues) ofType(e *gdwire.Encoder, typ gdwire.Type, depth int) {
	n := r.IntN(5)
	if depth == 0 {
		n = 0
	}
	switch typ {
	case gdwire.TypeNil:
		e.WriteNil()
	case gdwire.TypeBool:
		e.WriteBool(r.IntN(2) == 0)
	case gdwire.TypeInt:
		e.WriteInt(r.int())
	case gdwire.TypeFloat:
		if r.IntN(4) == 0 {
			e.WriteFloat(math.Float64frombits(r.Uint64()))
		} else {
			e.WriteFloat(r.real())
		}
	case gdwire.TypeString:
		e.WriteString(r.text())
	case gdwire.TypeStringName:
		e.WriteStringName(r.text())
	case gdwire.TypeNodePath:
		e.WriteNodePath([]string{"", "/", "a", "/a/b", "a/b:c:d", ":x", "/é\"/😀:\\"}[r.IntN(7)])
	case gdwire.TypeRID:
		e.WriteRID(r.Uint64())
	case gdwire.TypeCallable:
		e.WriteCallable()
	case gdwire.TypeSignal:
		e.WriteSignal(r.text(), r.Uint64())
	case gdwire.TypeObject:
		e.WriteObjectID(r.Uint64() | 1)
	case gdwire.TypeArray:
		r.array(e, n, depth)
	case gdwire.TypeDictionary:
		r.dict(e, n, depth)
	default:
		r.numbers(e, typ, n)
	}
}

// elem returns a random declared type, and its built-in type.
func (r randomValues) elem() (gdwire.Elem, gdwire.Type) {
	switch r.IntN(6) {
	case 0:
		typ := gdwire.TypeBool + gdwire.Type(r.IntN(int(gdwire.TypePackedVector4Array-gdwire.TypeBool)))
		return gdwire.Elem{Type: typ}, typ
	case 1:
		return gdwire.Elem{Type: gdwire.TypeObject, Class: []string{"Node", "Object", "int", "res://"}[r.IntN(4)]}, gdwire.TypeNil
	case 2:
		return gdwire.Elem{Type: gdwire.TypeObject, Script: []string{"res://a.gd", "user://a.gd", "é"}[r.IntN(3)]}, gdwire.TypeNil
	}
	return gdwire.Elem{}, 0
}

func (r randomValues) array(e *gdwire.Encoder, n, depth int) {
	elem, typ := r.elem()
	e.BeginTypedArray(n, elem)
	for range n {
		if typ == 0 {
			r.value(e, depth-1)
		} else {
			r.ofType(e, typ, depth-1)
		}
	}
	e.End()
}

func (r randomValues) dict(e *gdwire.Encoder, n, depth int) {
	key, typ := r.elem()
	value, _ := r.elem()
	e.BeginTypedDict(n, key, value)
	for range n {
		if typ == 0 {
			r.value(e, depth-1)
		} else {
			r.ofType(e, typ, depth-1)
		}
		r.value(e, depth-1)
	}
	e.End()
}

// components contains the number of components of each type that numbers writes.
var components = map[gdwire.Type]int{
	gdwire.TypeVector2: 2, gdwire.TypeRect2: 4, gdwire.TypeVector3: 3, gdwire.TypeTransform2D: 6, gdwire.TypeVector4: 4, gdwire.TypePlane: 4,
	gdwire.TypeQuaternion: 4, gdwire.TypeAABB: 6, gdwire.TypeBasis: 9, gdwire.TypeTransform3D: 12, gdwire.TypeProjection: 16, gdwire.TypeColor: 4,
}

func (r randomValues) numbers(e *gdwire.Encoder, typ gdwire.Type, n int) {
	switch typ {
	case gdwire.TypeVector2i:
		gdwire.WriteComponents(e, typ, []int32{int32(r.int()), int32(r.int())})
	case gdwire.TypeVector3i:
		gdwire.WriteComponents(e, typ, []int32{1, -2, int32(r.int())})
	case gdwire.TypeVector4i, gdwire.TypeRect2i:
		gdwire.WriteComponents(e, typ, []int32{1, -2, math.MinInt32, int32(r.int())})
	case gdwire.TypePackedByteArray:
		packed(typ, []byte(r.text()))(e)
	case gdwire.TypePackedInt32Array:
		packed(typ, []int32{1, int32(r.int()), math.MinInt32}[:n%4])(e)
	case gdwire.TypePackedInt64Array:
		packed(typ, []int64{r.int(), r.int(), r.int(), math.MinInt64}[:n])(e)
	case gdwire.TypePackedFloat32Array, gdwire.TypePackedFloat64Array:
		packed(typ, []float64{r.real(), r.real(), r.real(), r.real()}[:n])(e)
	case gdwire.TypePackedStringArray:
		e.BeginPacked(typ, int64(n))
		for range n {
			e.WriteString(r.text())
		}
		e.End()
	case gdwire.TypePackedVector2Array:
		packed(typ, [][2]float64{{r.real(), r.real()}, {r.real(), r.real()}}[:n%3])(e)
	case gdwire.TypePackedVector3Array:
		packed(typ, [][3]float64{{r.real(), r.real(), r.real()}}[:n%2])(e)
	case gdwire.TypePackedColorArray, gdwire.TypePackedVector4Array:
		packed(typ, [][4]float64{{r.real(), r.real(), r.real(), r.real()}, {1, 2, 3, 4}}[:n%3])(e)
	default:
		var c [16]float64
		for i := range c {
			c[i] = r.real()
		}
		if n, ok := components[typ]; ok {
			gdwire.WriteComponents(e, typ, c[:n])
			return
		}
		panic(typ)
	}
}
