package gdjson_test

import (
	"math"
	"testing"

	"github.com/gdwire/gdwire"
)

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
