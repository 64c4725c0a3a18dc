// Package gdwiretest helps to test programs that read and write Variants: with packets, with a client of
// a Handler, and with the differences between values by their paths.
//
//	func TestMover(t *testing.T) {
//		c := gdwiretest.Pipe(t, mover) // a client of the handler, in memory
//		err := c.WriteRaw(gdwiretest.Encode(t, map[string]any{"name": "Ada", "pos": variant.Vector2{X: 1}}))
//		if err != nil {
//			t.Fatal(err)
//		}
//		var got any
//		if err := variant.Receive(c, &got); err != nil {
//			t.Fatal(err)
//		}
//		gdwiretest.Equal(t, got, map[string]any{"name": "Ada", "pos": variant.Vector2{X: 2}})
//	}
package gdwiretest

import (
	"iter"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// Seeds adds packets to the seed corpus of f, for a function of one []byte: those of [Packets]
// and [Objects] in the formats, or in Godot4 if there are none. A handler is fuzzed by:
//
//	func FuzzMover(f *testing.F) {
//		gdwiretest.Seeds(f)
//		f.Fuzz(func(t *testing.T, packet []byte) {
//			_ = gdwiretest.Pipe(t, mover).WriteRaw(packet) // which refuses an empty packet
//		})
//	}
func Seeds(f *testing.F, formats ...gdwire.Format) {
	if len(formats) == 0 {
		formats = []gdwire.Format{gdwire.Godot4}
	}
	for _, format := range formats {
		for packet := range Packets(format) {
			f.Add(packet)
		}
		for packet := range Objects(format) {
			f.Add(packet)
		}
	}
}

// Packets iterates over packets in one format: a value of every type, and nested containers. A
// Decoder reads each without further options. Each packet is the caller's.
func Packets(format gdwire.Format) iter.Seq[[]byte] { return packets(format, values...) }

// Objects iterates over packets in one format refused by a Decoder unless AllowObjects is set: a
// serialized object, alone and in an Array. Each packet is the caller's.
func Objects(format gdwire.Format) iter.Seq[[]byte] { return packets(format, object, []any{object}) }

func packets(format gdwire.Format, values ...any) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		o := variant.Options{Encoder: gdwire.EncoderOptions{Format: format}}
		for _, v := range values {
			packet, err := variant.Marshal(v, o)
			if err != nil {
				continue // the format does not have the type
			}
			if !yield(packet) {
				return
			}
		}
	}
}

// object is a serialized object.
var object = &variant.Object{Class: "Node", Properties: []variant.Property{{Name: "name", Value: "a"}, {Name: "items", Value: []any{1}}}}

var values = []any{
	nil, false, true, 0, -1, int64(1 << 40), 0.0, 0.5, 0.1,
	"", "text", "ü 漢 🎮",
	variant.Vector2{X: 1, Y: -2}, variant.Vector2i{X: 1, Y: -2},
	variant.Rect2{Size: variant.Vector2{X: 3, Y: 4}}, variant.Rect2i{Size: variant.Vector2i{X: 3, Y: 4}},
	variant.Vector3{X: 1, Y: 2, Z: 3}, variant.Vector3i{X: 1, Y: 2, Z: 3},
	variant.Transform2D{X: variant.Vector2{X: 1}, Y: variant.Vector2{Y: 1}},
	variant.Vector4{W: 1}, variant.Vector4i{W: 1},
	variant.Plane{Normal: variant.Vector3{Y: 1}, D: 2}, variant.Quaternion{W: 1},
	variant.AABB{Size: variant.Vector3{X: 1, Y: 1, Z: 1}}, identity,
	variant.Transform3D{Basis: identity}, variant.Projection{X: variant.Vector4{X: 1}},
	variant.Color{R: 1, A: 1},
	variant.StringName("name"), variant.NodePath("/root/Player:position:x"), variant.NodePath(""),
	variant.RID(7), variant.ObjectID(8), variant.Callable{}, variant.Signal{Name: "hit", Object: 9},
	map[string]any{}, map[string]any{"a": 1, "b": []any{"c"}}, map[variant.Vector2]int{{}: 1},
	[]any{}, []any{nil, 1, "two", []any{[]any{}}},
	&variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}, Values: []any{1, 2}},
	[]byte{}, []byte{1, 2, 3}, []int32{1, -2}, []int64{1 << 40}, []float32{0.5}, []float64{0.1},
	[]string{"a", ""}, []variant.Vector2{{X: 1}}, []variant.Vector3{{Y: 1}}, []variant.Color{{G: 1}}, []variant.Vector4{{Z: 1}},
	variant.Image{Format: 3, Width: 1, Height: 1, Data: []byte{1, 2, 3}},
	variant.InputEvent{Type: 1, Data: make([]byte, 8)},
}

var identity = variant.Basis{X: variant.Vector3{X: 1}, Y: variant.Vector3{Y: 1}, Z: variant.Vector3{Z: 1}}
