package gdjson_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
)

func TestFromJSONPlain(t *testing.T) {
	plain := &gdjson.Options{Plain: true}
	const text = ` {"a": [null, true, false, "s:x", -5, 9223372036854775807, 1.0, 1e3, -0, -1E+99999], "b": {}, "\u0063": []} `
	numbers := []any{nil, true, false, "s:x", -5, int64(math.MaxInt64), 1.0, 1000.0, math.Copysign(0, -1), -infinity}
	want := encode(t, nil, value(dict("a", numbers, "b", dict(), "c", []any{})))
	got := must(fromJSON(text, nil, plain))(t)
	require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got))
	must(fromJSON("{\"\x01\":1,\"\x02\":2,\" \":3}", nil, plain))(t)
	_, err := fromJSON("{\"\x01\":1,\"\\u0001\":2}", nil, plain)
	require.ErrorIs(t, err, jsontext.ErrDuplicateName)
	back := must(toJSON(got, nil, plain))(t)
	require.Equal(t, `{"a":[null,true,false,"s:x",-5,9223372036854775807,1.0,1000.0,-0.0,-1e99999],"b":{},"c":[]}`, back)

	for _, c := range []struct {
		name    string
		text    string
		cause   error
		pointer string
		lenient func(e *gdwire.Encoder) // nil: an error
	}{
		{"large int", `[1,9223372036854775808]`, gdwire.ErrRange, "/1", array(1, float64(1<<63))},
		{"large float", `[1,1e400]`, gdwire.ErrRange, "/1", array(1, infinity)},
		{"equal keys", `{"a":1,"a":2}`, jsontext.ErrDuplicateName, "/a", func(e *gdwire.Encoder) {
			e.BeginDict(2)
			for i := range 2 {
				e.WriteString("a")
				e.WriteInt(int64(i + 1))
			}
			e.End()
		}},
		{"nesting", strings.Repeat(`{"a":[`, 600) + strings.Repeat(`]}`, 600), gdwire.ErrLimit, strings.Repeat("/a/0", 512) + "/a", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := fromJSON(c.text, nil, plain)
			require.ErrorIs(t, err, c.cause)
			var fault *gdjson.Error
			require.ErrorAs(t, err, &fault)
			require.Equal(t, c.pointer, fault.Pointer)
			got, err := fromJSON(c.text, nil, &gdjson.Options{Plain: true, Lenient: true})
			if c.lenient == nil {
				require.ErrorIs(t, err, c.cause)
				return
			}
			require.NoError(t, err)
			require.Equal(t, encode(t, nil, c.lenient), got)
		})
	}
}

// The first of all duplicate members is found, in objects inside and after others.
func TestFromPlainDuplicates(t *testing.T) {
	for _, c := range []struct{ text, pointer string }{
		{`{"a":1,"b":2,"a":3}`, "/a"},
		{`{"a":{"b":1},"b":{"a":1,"a":2}}`, "/b/a"},
		{`{"a":{"b":1,"c":{"b":1},"b":2},"a":3}`, "/a/b"},
		{`{"a":{"b":1},"c":[{"b":1},{"b":1},{"a":1}],"a":{"b":1,"b":2}}`, "/a"},
		{`[{"a":1},{"a":1},{"b":[{"a":1,"c":2}],"a":1,"b":1}]`, "/2/b"},
		{`{"a":1,"\u0061":2}`, "/a"},
		{`{"x":{"a":{"a":{"a":1}}},"a":{"x":[{},[{"a":{}}]]},"y":[{"a":1},{"a":1}]}`, ""},
	} {
		_, err := fromJSON(c.text, nil, &gdjson.Options{Plain: true})
		if c.pointer == "" {
			require.NoError(t, err, c.text)
			continue
		}
		require.ErrorIs(t, err, jsontext.ErrDuplicateName, c.text)
		fault := err.(*gdjson.Error)
		require.Equal(t, c.pointer, fault.Pointer, c.text)
		require.Positive(t, strings.LastIndex(c.text[:fault.Offset+1], `"`))
	}
}

var plainCases = []toCase{
	{"bytes", packed(gdwire.TypePackedByteArray, []byte{0, 7, 255, 1}), `{"type":"PackedByteArray","args":[0,7,255,1]}`, `"AAf/AQ=="`},
	{"no bytes", packed(gdwire.TypePackedByteArray, []byte{}), `{"type":"PackedByteArray","args":[]}`, `""`},
}

func TestToJSONPlain(t *testing.T) { testToJSON(t, plainCases) }

// A group of base64 is three bytes long, which chunks divide anywhere.
func TestToJSONBase64(t *testing.T) {
	for _, window := range []int{16, 17, 18, 0} {
		for n := range 60 {
			t.Run(fmt.Sprintf("%d bytes in chunks of %d", n, window), func(t *testing.T) {
				data := make([]byte, n)
				for i := range data {
					data[i] = byte(37 * i)
				}
				want := base64.StdEncoding.EncodeToString(data)
				got := must(toJSON(encode(t, nil, packed(gdwire.TypePackedByteArray, data)), &gdwire.DecoderOptions{MaxChunk: window}, &gdjson.Options{Plain: true}))(t)
				require.Equal(t, `"`+want+`"`, got)

				image := encode(t, &gdwire.EncoderOptions{Format: gdwire.Godot2}, func(e *gdwire.Encoder) {
					e.BeginImage(0, 0, 0, 0, int64(n))
					e.Write(data)
					e.End()
				})
				got = must(toJSON(image, &gdwire.DecoderOptions{Format: gdwire.Godot2, MaxChunk: window}, &gdjson.Options{Plain: true}))(t)
				require.Equal(t, `{"format":0,"mipmaps":0,"width":0,"height":0,"data":"`+want+`"}`, got)
			})
		}
	}
}

// shapeCases contains math types, packed arrays and declared types.
var shapeCases = []toCase{
	{"Vector2", func(e *gdwire.Encoder) { gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, -2.5}) }, `{"type":"Vector2","args":[1.0,-2.5]}`, `[1.0,-2.5]`},
	{"Rect2i", func(e *gdwire.Encoder) { gdwire.WriteComponents(e, gdwire.TypeRect2i, []int32{1, -2, 3, 4}) }, `{"type":"Rect2i","args":[1,-2,3,4]}`, `[1,-2,3,4]`},
	{"Basis", counted(gdwire.TypeBasis, 9), `{"type":"Basis","args":[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0]}`, `[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0]`},
	{"Transform3D", counted(gdwire.TypeTransform3D, 12), `{"type":"Transform3D","args":[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0,10.0,11.0,12.0]}`, `[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0,10.0,11.0,12.0]`},
	{"typed Array", typedArray(gdwire.Elem{Type: gdwire.TypeInt}, 7), `{"type":"Array","elem_type":"int","args":["i:7"]}`, `[7]`},
	{"Array of a class", typedArray(gdwire.Elem{Class: "Node"}), `{"type":"Array","elem_type":"Node","args":[]}`, `[]`},
	{"Array of a script", typedArray(gdwire.Elem{Script: `res://a".gd`}), `{"type":"Array","elem_type":"res://a\".gd","args":[]}`, `[]`},
	{"Array of the class Object", typedArray(gdwire.Elem{Class: "Object"}), `{"type":"Array","elem_type":"Object","args":[]}`, `[]`},
	{"Array of the type Object", typedArray(gdwire.Elem{Type: gdwire.TypeObject}), `{"type":"Array","elem_type":{"builtin":"Object"},"args":[]}`, `[]`},
	{"Array of a class int", typedArray(gdwire.Elem{Class: "int"}), `{"type":"Array","elem_type":{"class":"int"},"args":[]}`, `[]`},
	{"Array of a class res://", typedArray(gdwire.Elem{Class: "res://x"}), `{"type":"Array","elem_type":{"class":"res://x"},"args":[]}`, `[]`},
	{"Array of a script elsewhere", typedArray(gdwire.Elem{Script: "user://x.gd"}), `{"type":"Array","elem_type":{"script":"user://x.gd"},"args":[]}`, `[]`},
	{"Array of a script without a name", typedArray(gdwire.Elem{Script: "res://"}), `{"type":"Array","elem_type":"res://","args":[]}`, `[]`},
	{"Array of a class like a script", typedArray(gdwire.Elem{Class: "res:/x"}), `{"type":"Array","elem_type":"res:/x","args":[]}`, `[]`},
	{"typed Dictionary", value(&variant.Dictionary{Key: gdwire.Elem{Type: gdwire.TypeString}, Value: gdwire.Elem{Class: "Node"}}), `{"type":"Dictionary","key_type":"String","value_type":"Node","args":[]}`, `{}`},
	{"strings", value([]string{"i:1", ""}), `{"type":"PackedStringArray","args":["i:1",""]}`, `["i:1",""]`},
	{"vectors", packed(gdwire.TypePackedVector2Array, [][2]float32{{1, 2}, {3, 4.5}}),
		`{"type":"PackedVector2Array","args":[1.0,2.0,3.0,4.5]}`, `[[1.0,2.0],[3.0,4.5]]`},
	{"no vectors", packed(gdwire.TypePackedVector2Array, [][2]float32{}), `{"type":"PackedVector2Array","args":[]}`, `[]`},
}

func typedArray(elem gdwire.Elem, values ...any) func(*gdwire.Encoder) {
	return value(&variant.Array{Elem: elem, Values: values})
}

// counted returns a function that writes a math type with the components 1 to n.
func counted(typ gdwire.Type, n int) func(*gdwire.Encoder) {
	return func(e *gdwire.Encoder) {
		gdwire.WriteComponents(e, typ, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}[:n])
	}
}

func TestToJSONShapes(t *testing.T) { testToJSON(t, shapeCases) }

// Every type goes through both kinds of JSON. TestGdwiretestPackets asks for a packet of a new one.
func TestJSONEveryType(t *testing.T) {
	for _, f := range []gdwire.Format{gdwire.Godot4, gdwire.Godot2} {
		from, to := &gdwire.DecoderOptions{Format: f, AllowObjects: true}, &gdwire.EncoderOptions{Format: f}
		packets := slices.AppendSeq(slices.Collect(gdwiretest.Packets(f)), gdwiretest.Objects(f))
		for _, packet := range packets {
			for _, o := range []*gdjson.Options{{AllowObjects: true}, {AllowObjects: true, Plain: true}} {
				text, err := toJSON(packet, from, o)
				require.NoError(t, err, "%x", packet)
				got, err := fromJSON(text, to, o)
				require.NoError(t, err, "%x", packet)
				if !o.Plain {
					require.Equal(t, packet, got, "%s", text)
				}
			}
		}
	}
}

// TestFromJSONBatches tests packed arrays that are longer than one batch, also with
// an error in a later batch.
func TestFromJSONBatches(t *testing.T) {
	const n = 1000
	reals, vectors := make([]float32, n), make([][3]float32, n)
	for i := range n {
		reals[i], vectors[i] = float32(i), [3]float32{float32(i), 0.5, -1}
	}
	for name, write := range map[string]func(*gdwire.Encoder){
		"numbers": packed(gdwire.TypePackedFloat32Array, reals), "vectors": packed(gdwire.TypePackedVector3Array, vectors),
	} {
		t.Run(name, func(t *testing.T) {
			want := encode(t, nil, write)
			text := must(toJSON(want, nil, nil))(t)
			require.True(t, bytes.Equal(want, must(fromJSON(text, nil, nil))(t)))

			_, err := fromJSON(strings.Replace(text, "900.0", "1e39", 1), nil, nil)
			require.ErrorIs(t, err, gdwire.ErrRange)
			var fault *gdjson.Error
			require.ErrorAs(t, err, &fault)
			require.Equal(t, "1e39", strings.Replace(text, "900.0", "1e39", 1)[fault.Offset:][:4])
			_, err = fromJSON(strings.Replace(text, "900.0", "{}", 1), nil, nil)
			require.ErrorIs(t, err, gdwire.ErrType)
		})
	}
}
