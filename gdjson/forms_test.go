package gdjson_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/gdwiretest"
)

// shapeCases contains math types, packed arrays and declared types.
var shapeCases = []toCase{
	{"Vector2", func(e *gdwire.Encoder) { gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, -2.5}) }, `{"type":"Vector2","args":[1.0,-2.5]}`, `[1.0,-2.5]`},
	{"Rect2i", func(e *gdwire.Encoder) { gdwire.WriteComponents(e, gdwire.TypeRect2i, []int32{1, -2, 3, 4}) }, `{"type":"Rect2i","args":[1,-2,3,4]}`, `[1,-2,3,4]`},
	{"Basis", func(e *gdwire.Encoder) {
		gdwire.WriteComponents(e, gdwire.TypeBasis, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	},
		`{"type":"Basis","args":[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0]}`, `[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0]`},
	{"Transform3D", func(e *gdwire.Encoder) {
		gdwire.WriteComponents(e, gdwire.TypeTransform3D, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	},
		`{"type":"Transform3D","args":[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0,10.0,11.0,12.0]}`, `[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0,10.0,11.0,12.0]`},
	{"typed Array", func(e *gdwire.Encoder) {
		e.BeginTypedArray(1, gdwire.Elem{Type: gdwire.TypeInt})
		e.WriteInt(7)
		e.End()
	}, `{"type":"Array","elem_type":"int","args":["i:7"]}`, `[7]`},
	{"Array of a class", typedArray(gdwire.Elem{Class: "Node"}), `{"type":"Array","elem_type":"Node","args":[]}`, `[]`},
	{"Array of a script", typedArray(gdwire.Elem{Script: `res://a".gd`}), `{"type":"Array","elem_type":"res://a\".gd","args":[]}`, `[]`},
	{"Array of the class Object", typedArray(gdwire.Elem{Class: "Object"}), `{"type":"Array","elem_type":"Object","args":[]}`, `[]`},
	{"Array of the type Object", typedArray(gdwire.Elem{Type: gdwire.TypeObject}), `{"type":"Array","elem_type":{"builtin":"Object"},"args":[]}`, `[]`},
	{"Array of a class int", typedArray(gdwire.Elem{Class: "int"}), `{"type":"Array","elem_type":{"class":"int"},"args":[]}`, `[]`},
	{"Array of a class res://", typedArray(gdwire.Elem{Class: "res://x"}), `{"type":"Array","elem_type":{"class":"res://x"},"args":[]}`, `[]`},
	{"Array of a script elsewhere", typedArray(gdwire.Elem{Script: "user://x.gd"}), `{"type":"Array","elem_type":{"script":"user://x.gd"},"args":[]}`, `[]`},
	{"Array of a script without a name", typedArray(gdwire.Elem{Script: "res://"}), `{"type":"Array","elem_type":"res://","args":[]}`, `[]`},
	{"Array of a class like a script", typedArray(gdwire.Elem{Class: "res:/x"}), `{"type":"Array","elem_type":"res:/x","args":[]}`, `[]`},
	{"typed Dictionary", func(e *gdwire.Encoder) {
		e.BeginTypedDict(0, gdwire.Elem{Type: gdwire.TypeString}, gdwire.Elem{Class: "Node"})
		e.End()
	}, `{"type":"Dictionary","key_type":"String","value_type":"Node","args":[]}`, `{}`},
	{"strings", func(e *gdwire.Encoder) {
		e.BeginPacked(gdwire.TypePackedStringArray, 2)
		e.WriteString("i:1")
		e.WriteString("")
		e.End()
	}, `{"type":"PackedStringArray","args":["i:1",""]}`, `["i:1",""]`},
	{"vectors", packed(gdwire.TypePackedVector2Array, [][2]float32{{1, 2}, {3, 4.5}}),
		`{"type":"PackedVector2Array","args":[1.0,2.0,3.0,4.5]}`, `[[1.0,2.0],[3.0,4.5]]`},
	{"no vectors", packed(gdwire.TypePackedVector2Array, [][2]float32{}), `{"type":"PackedVector2Array","args":[]}`, `[]`},
}

func typedArray(elem gdwire.Elem) func(*gdwire.Encoder) {
	return func(e *gdwire.Encoder) {
		e.BeginTypedArray(0, elem)
		e.End()
	}
}

func TestToJSONShapes(t *testing.T) { testToJSON(t, shapeCases) }

// Every type goes through both kinds of JSON. A new one needs a packet in gdwiretest.
func TestJSONEveryType(t *testing.T) {
	types := map[gdwire.Type]bool{}
	for _, f := range []gdwire.Format{gdwire.Godot4, gdwire.Godot2} {
		from, to := &gdwire.DecoderOptions{Format: f, AllowObjects: true}, &gdwire.EncoderOptions{Format: f}
		packets := slices.AppendSeq(slices.Collect(gdwiretest.Packets(f)), gdwiretest.Objects(f))
		for _, packet := range packets {
			first := must(gdwire.NewDecoder(bytes.NewReader(packet), from).ReadToken())(t)
			types[first.Type()] = true
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
	for _, typ := range gdwire.Types() {
		require.True(t, types[typ], "no packet of %v", typ)
	}
}
