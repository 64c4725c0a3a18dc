package gdjson_test

import (
	"math"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/variant"
)

// nativeCases contains the references to which native JSON adds members.
var nativeCases = []toCase{
	{"RID", func(e *gdwire.Encoder) { e.WriteRID(math.MaxUint64) }, `{"type":"RID","id":"-1"}`, `-1`},
	{"Callable", func(e *gdwire.Encoder) { e.WriteCallable() }, `{"type":"Callable"}`, `null`},
	{"Signal", func(e *gdwire.Encoder) { e.WriteSignal("<hit>", 7) }, `{"type":"Signal","name":"<hit>","object":"7"}`, `{"name":"<hit>","object":7}`},
	{"object id", func(e *gdwire.Encoder) { e.WriteObjectID(5) }, `{"type":"ObjectID","id":"5"}`, `5`},
	{"object id 0", func(e *gdwire.Encoder) { e.WriteObjectID(0) }, `{"type":"ObjectID","id":"0"}`, `0`},
	{"serialized object", node("Resource", "next", &variant.Object{}), `{"type":"Resource","props":["next",{"type":"","props":[]}]}`, `{"class":"Resource","next":{"class":""}}`},
}

func TestToJSONReferences(t *testing.T) { testToJSON(t, nativeCases) }

// TestToJSONGodot2 tests the types of Godot 2 and its forms of other types.
func TestToJSONGodot2(t *testing.T) {
	from := &gdwire.DecoderOptions{Format: gdwire.Godot2}
	to := &gdwire.EncoderOptions{Format: gdwire.Godot2}
	oldPath := []byte{16, 0, 0, 0, 7, 0, 0, 0, '/', 'a', '/', 'b', ':', 'c', 'd', 0}
	for _, c := range []toCase{
		{"Image", value(variant.Image{Format: 3, Mipmaps: 1, Width: 2, Height: 1, Data: []byte{1, 2, 3, 4}}), `{"type":"Image","format":3,"mipmaps":1,"width":2,"height":1,"data":[1,2,3,4]}`,
			`{"format":3,"mipmaps":1,"width":2,"height":1,"data":"AQIDBA=="}`},
		{"InputEvent", func(e *gdwire.Encoder) { e.WriteInputEvent(1, 2, []byte{0, 0, 0, 2, 65, 0, 0, 0}) },
			`{"type":"InputEvent","event":1,"device":2,"data":[0,0,0,2,65,0,0,0]}`, `{"event":1,"device":2,"data":"AAAAAkEAAAA="}`},
		{"RID", func(e *gdwire.Encoder) { e.WriteRID(0) }, `{"type":"RID"}`, `0`},
		{"old NodePath", func(e *gdwire.Encoder) { e.WriteRaw(oldPath) }, `"np:/a/b:cd"`, `"/a/b:cd"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire := encode(t, to, c.write)
			got, err := toJSON(wire, from, nil)
			require.NoError(t, err)
			require.Equal(t, c.native, got)
			got, err = toJSON(wire, from, &gdjson.Options{Plain: true})
			require.NoError(t, err)
			require.Equal(t, c.plain, got)
		})
	}
}

// numberCases contains numbers at the boundaries between the forms in which they are written.
var numberCases = []toCase{
	{"int", func(e *gdwire.Encoder) { e.WriteInt(-5) }, `"i:-5"`, `-5`},
	{"smallest int", func(e *gdwire.Encoder) { e.WriteInt(math.MinInt64) }, `"i:-9223372036854775808"`, `-9223372036854775808`},
	{"float", func(e *gdwire.Encoder) { e.WriteFloat(0.1) }, `"f:0.1"`, `0.1`},
	{"float of 32 bits", func(e *gdwire.Encoder) { e.WriteToken(gdwire.Float32(0.1)) }, `"f:0.10000000149011612"`, `0.10000000149011612`},
	{"component of 32 bits", func(e *gdwire.Encoder) { gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{0.1, 0}) },
		`{"type":"Vector2","args":[0.10000000149011612,0.0]}`, `[0.1,0.0]`},
	{"float without a fraction", func(e *gdwire.Encoder) { e.WriteFloat(-3) }, `"f:-3.0"`, `-3.0`},
	{"negative zero", func(e *gdwire.Encoder) { e.WriteFloat(math.Copysign(0, -1)) }, `"f:-0.0"`, `-0.0`},
	{"1e20", func(e *gdwire.Encoder) { e.WriteFloat(1e20) }, `"f:100000000000000000000.0"`, `100000000000000000000.0`},
	{"1e21", func(e *gdwire.Encoder) { e.WriteFloat(1e21) }, `"f:1e+21"`, `1e+21`},
	{"-1e21", func(e *gdwire.Encoder) { e.WriteFloat(-1e21) }, `"f:-1e+21"`, `-1e+21`},
	{"largest that is written as an integer", func(e *gdwire.Encoder) { e.WriteFloat(1<<53 - 1) }, `"f:9007199254740991.0"`, `9007199254740991.0`},
	{"smallest that is written as an integer", func(e *gdwire.Encoder) { e.WriteFloat(1 - 1<<53) }, `"f:-9007199254740991.0"`, `-9007199254740991.0`},
	{"2^53", func(e *gdwire.Encoder) { e.WriteFloat(1 << 53) }, `"f:9007199254740992.0"`, `9007199254740992.0`},
	{"1e-6", func(e *gdwire.Encoder) { e.WriteFloat(1e-6) }, `"f:0.000001"`, `0.000001`},
	{"9e-7", func(e *gdwire.Encoder) { e.WriteFloat(-9e-7) }, `"f:-9e-07"`, `-9e-07`},
	{"smallest float", func(e *gdwire.Encoder) { e.WriteFloat(5e-324) }, `"f:5e-324"`, `5e-324`},
	{"infinity", func(e *gdwire.Encoder) { e.WriteFloat(infinity) }, `"f:inf"`, `1e99999`},
	{"negative infinity", func(e *gdwire.Encoder) { e.WriteFloat(-infinity) }, `"f:-inf"`, `-1e99999`},
	{"NaN", func(e *gdwire.Encoder) { e.WriteFloat(nan(0x7FF8 << 48)) }, `"f:nan"`, `null`},
	{"negative NaN", func(e *gdwire.Encoder) { e.WriteFloat(nan(0xFFF8 << 48)) }, `"f:-nan"`, `null`},
	{"NaN with payload", func(e *gdwire.Encoder) { e.WriteFloat(nan(0x7FF8<<48 | 1)) }, `"f:nan:0x8000000000001"`, `null`},
	{"odd reals", func(e *gdwire.Encoder) {
		gdwire.WriteComponents(e, gdwire.TypeColor, []float64{infinity, -infinity, nan(0x7FF8 << 48), nan(0xFFFC << 48)})
	}, `{"type":"Color","args":[1e99999,-1e99999,null,"-nan:0xc000000000000"]}`, `[1e99999,-1e99999,null,null]`},
	{"int32", packed(gdwire.TypePackedInt32Array, []int32{1, math.MinInt32}), `{"type":"PackedInt32Array","args":[1,-2147483648]}`, `[1,-2147483648]`},
	{"int64", packed(gdwire.TypePackedInt64Array, []int64{1 << 53, 1<<53 + 1, -1 << 53, math.MinInt64}),
		`{"type":"PackedInt64Array","args":[9007199254740992,"9007199254740993",-9007199254740992,"-9223372036854775808"]}`,
		`[9007199254740992,9007199254740993,-9007199254740992,-9223372036854775808]`},
	{"float32", packed(gdwire.TypePackedFloat32Array, []float32{0.1, float32(infinity)}),
		`{"type":"PackedFloat32Array","args":[0.10000000149011612,1e99999]}`, `[0.1,1e99999]`},
	{"float64", packed(gdwire.TypePackedFloat64Array, []float64{0.1, -infinity, nan(0x7FF8 << 48)}),
		`{"type":"PackedFloat64Array","args":[0.1,-1e99999,null]}`, `[0.1,-1e99999,null]`},
	{"float32 that is a NaN", packed(gdwire.TypePackedFloat32Array, []float32{math.Float32frombits(0x7FC00000)}),
		`{"type":"PackedFloat32Array","args":[null]}`, `[null]`},
}

func TestToJSONNumbers(t *testing.T) { testToJSON(t, numberCases) }

// FromJSON makes a signaling NaN quiet, so it is not among numberCases.
func TestToJSONSignalingNaN(t *testing.T) {
	testToJSON(t, []toCase{
		{"float32 that is a signaling NaN", packed(gdwire.TypePackedFloat32Array, []float32{math.Float32frombits(0xFF800001)}),
			`{"type":"PackedFloat32Array","args":["-nan:0x20000000"]}`, `[null]`},
	})
}

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
		{"Basis, by rows", counted(gdwire.TypeBasis, 9), `Basis(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)`},
		{"Array", array(1, `a"b`, variant.StringName("c")), `[1, "a\"b", &"c"]`},
		{"Dictionary", value(dict(1, dict(), "k", nil)), `{1: {}, "k": null}`},
		{"bytes", packed(gdwire.TypePackedByteArray, []byte{1, 2}), `PackedByteArray(1, 2)`},
		{"vectors", packed(gdwire.TypePackedVector2Array, [][2]float32{{1, 2}, {3, 4}}), `PackedVector2Array(1.0, 2.0, 3.0, 4.0)`},
		{"strings", value([]string{"s"}), `PackedStringArray("s")`},
		{"RID", func(e *gdwire.Encoder) { e.WriteRID(3) }, `RID(3)`},
		{"Callable", func(e *gdwire.Encoder) { e.WriteCallable() }, `Callable()`},
		{"Signal", func(e *gdwire.Encoder) { e.WriteSignal("hit", 3) }, `Signal("hit", 3)`},
		{"object id", func(e *gdwire.Encoder) { e.WriteObjectID(3) }, `Object(3)`},
		{"serialized object", node("Node", "name", "n"), `Object("Node", "name": "n")`},
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
				key := must(jsontext.AppendQuote(nil, c.want))(t)
				require.Equal(t, `{`+string(key)+`:{`+string(key)+`:1},"z":[]}`, got)
			}
		})
	}
}
