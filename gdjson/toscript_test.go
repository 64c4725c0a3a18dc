package gdjson_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

// TestToJSONKeys tests how plain JSON writes keys as the names of members.
func TestToJSONKeys(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(e *gdwire.Encoder)
		want  string
	}{
		{"String", func(e *gdwire.Encoder) { e.WriteString(`a"b`) }, `a"b`},
		{"StringName", func(e *gdwire.Encoder) { e.WriteStringName("a") }, `a`},
		{"nil", func(e *gdwire.Encoder) { e.WriteNil() }, `null`},
		{"bool", func(e *gdwire.Encoder) { e.WriteBool(false) }, `false`},
		{"int", func(e *gdwire.Encoder) { e.WriteInt(1) }, `1`},
		{"float", func(e *gdwire.Encoder) { e.WriteFloat(1) }, `1.0`},
		{"infinity", func(e *gdwire.Encoder) { e.WriteFloat(-infinity) }, `-inf`},
		{"NodePath", func(e *gdwire.Encoder) { e.WriteNodePath("/a:b") }, `^"/a:b"`},
		{"Vector2i", func(e *gdwire.Encoder) { gdwire.WriteComponents(e, gdwire.TypeVector2i, []int32{1, -2}) }, `Vector2i(1, -2)`},
		{"Basis, by rows", func(e *gdwire.Encoder) {
			gdwire.WriteComponents(e, gdwire.TypeBasis, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
		},
			`Basis(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)`},
		{"Array", func(e *gdwire.Encoder) {
			e.BeginArray(3)
			e.WriteInt(1)
			e.WriteString(`a"b`)
			e.WriteStringName("c")
			e.End()
		}, `[1, "a\"b", &"c"]`},
		{"Dictionary", func(e *gdwire.Encoder) {
			e.BeginDict(2)
			e.WriteInt(1)
			e.BeginDict(0)
			e.End()
			e.WriteString("k")
			e.WriteNil()
			e.End()
		}, `{1: {}, "k": null}`},
		{"bytes", packed(gdwire.TypePackedByteArray, []byte{1, 2}), `PackedByteArray(1, 2)`},
		{"vectors", packed(gdwire.TypePackedVector2Array, [][2]float32{{1, 2}, {3, 4}}), `PackedVector2Array(1.0, 2.0, 3.0, 4.0)`},
		{"strings", func(e *gdwire.Encoder) {
			e.BeginPacked(gdwire.TypePackedStringArray, 1)
			e.WriteString("s")
			e.End()
		}, `PackedStringArray("s")`},
		{"RID", func(e *gdwire.Encoder) { e.WriteRID(3) }, `RID(3)`},
		{"Callable", func(e *gdwire.Encoder) { e.WriteCallable() }, `Callable()`},
		{"Signal", func(e *gdwire.Encoder) { e.WriteSignal("hit", 3) }, `Signal("hit", 3)`},
		{"object id", func(e *gdwire.Encoder) { e.WriteObjectID(3) }, `Object(3)`},
		{"serialized object", func(e *gdwire.Encoder) {
			e.BeginObject("Node", 1)
			e.WriteProperty("name")
			e.WriteString("n")
			e.End()
		}, `Object("Node", "name": "n")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire := encode(t, nil, func(e *gdwire.Encoder) {
				e.BeginDict(2)
				c.write(e)
				e.BeginDict(1)
				c.write(e)
				e.WriteInt(1)
				e.End()
				e.WriteString("z")
				e.BeginArray(0)
				e.End()
				e.End()
			})
			for _, window := range []int{0, 16} {
				got := must(toJSON(wire, &gdwire.DecoderOptions{AllowObjects: true, MaxChunk: window}, &gdjson.Options{Plain: true}))(t)
				key, err := jsontext.AppendQuote(nil, c.want)
				require.NoError(t, err)
				require.Equal(t, `{`+string(key)+`:{`+string(key)+`:1},"z":[]}`, got)
			}
		})
	}
}
