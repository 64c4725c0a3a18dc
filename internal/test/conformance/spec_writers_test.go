package conformance

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/internal/values/tagged"
	"github.com/stretchr/testify/require"
)

// A writerCase makes lines of writers.jsonl, one for each group of formats that agree on the bytes. A
// value without a packet must be refused. If refused is set, a packet is what a writer may write instead.
type writerCase struct {
	rule, kind, formats string
	value               string
	packet              string // as in a packet of validPackets
	refused             bool
}

const (
	notGodot4 = "godot3 godot2 manual4 manual3 manual30"
	narrow    = "godot2 manual3 manual30" // floats of 32 bits only
)

// writerCases contains the rows of writers.jsonl. The ids follow from the order: new rows are the last ones.
var writerCases = []writerCase{
	{rule: "T6", kind: "NUL in a String", formats: all, value: `{"t":"String","v":"a\u0000b"}`, packet: "<String> 05000000 61efbfbd 62000000", refused: true},
	{rule: "T6", kind: "NUL at the end of a String", formats: all, value: `{"t":"String","v":"a\u0000"}`, packet: "<String> 04000000 61efbfbd", refused: true},
	{rule: "T6", kind: "NUL in a StringName", formats: "godot4", value: `{"t":"StringName","v":"\u0000"}`, packet: "<StringName> 03000000 efbfbd00", refused: true},
	{rule: "T6", kind: "NUL in a name", formats: all, value: `{"t":"NodePath","absolute":false,"names":["a\u0000"],"subnames":[]}`, packet: "<NodePath> 01000080 00000000 00000000 04000000 61efbfbd", refused: true},
	{rule: "T6", kind: "NUL in a sub-name", formats: all, value: `{"t":"NodePath","absolute":false,"names":[],"subnames":["a\u0000b"]}`, packet: "<NodePath> 00000080 01000000 00000000 05000000 61efbfbd 62000000", refused: true},
	{rule: "T6", kind: "NUL in a packed string", formats: engined, value: `{"t":"PackedStringArray","v":["a\u0000"]}`, packet: "<PackedStringArray> 01000000 05000000 61efbfbd 00000000", refused: true},
	{rule: "T6", kind: "NUL in a packed string", formats: manuals, value: `{"t":"PackedStringArray","v":["a\u0000"]}`, packet: "<PackedStringArray> 01000000 04000000 61efbfbd", refused: true},
	{rule: "T6", kind: "NUL in the name of a Signal", formats: "godot4", value: `{"t":"Signal","name":"a\u0000b","object":"1"}`},
	{rule: "T6", kind: "NUL in a class", formats: flagged, value: `{"t":"Object","class":"A\u0000","properties":[]}`},
	{rule: "T6", kind: "NUL in the name of a property", formats: flagged, value: `{"t":"Object","class":"A","properties":[["\u0000",{"t":"Nil"}]]}`},
	{rule: "T6", kind: "NUL in a declared class", formats: "godot4", value: `{"t":"Array","type":{"class":"A\u0000"},"v":[]}`},
	{rule: "T5", kind: "high surrogate", formats: all, value: `{"t":"String","v":"a\ud800b"}`, packet: "<String> 05000000 61efbfbd 62000000", refused: true},
	{rule: "T5", kind: "low surrogate", formats: all, value: `{"t":"String","v":"\udc00"}`, packet: "<String> 03000000 efbfbd00", refused: true},
	{rule: "T5", kind: "surrogates in the wrong order", formats: all, value: `{"t":"String","v":"\udc00\ud800"}`, packet: "<String> 06000000 efbfbdef bfbd0000", refused: true},
	{rule: "T5", kind: "pair of surrogates", formats: all, value: `{"t":"String","v":"\ud83d\ude00"}`, packet: "<String> 04000000 f09f9880"},
	{rule: "T5", kind: "surrogate in a name", formats: all, value: `{"t":"NodePath","absolute":false,"names":["\udfff"],"subnames":[]}`, packet: "<NodePath> 01000080 00000000 00000000 03000000 efbfbd00", refused: true},
	{rule: "T5", kind: "surrogate in a packed string", formats: engined, value: `{"t":"PackedStringArray","v":["\ud800"]}`, packet: "<PackedStringArray> 01000000 04000000 efbfbd00", refused: true},
	{rule: "T8", kind: "byte order mark", formats: all, value: `{"t":"String","v":"\ufeffa"}`, packet: "<String> 04000000 efbbbf61"},
	{rule: "C10", kind: "element of another type", formats: "godot4", value: `{"t":"Array","type":{"builtin":"int"},"v":[{"t":"int","v":"1"},{"t":"String","v":"a"}]}`},
	{rule: "C10", kind: "null of a built-in type", formats: "godot4", value: `{"t":"Array","type":{"builtin":"int"},"v":[{"t":"Nil"}]}`},
	{rule: "C10", kind: "int in an Array of floats", formats: "godot4", value: `{"t":"Array","type":{"builtin":"float"},"v":[{"t":"int","v":"1"}]}`},
	{rule: "C10", kind: "String for StringName", formats: "godot4", value: `{"t":"Array","type":{"builtin":"StringName"},"v":[{"t":"String","v":"a"}]}`},
	{rule: "C10", kind: "int in an Array of a class", formats: "godot4", value: `{"t":"Array","type":{"class":"Node"},"v":[{"t":"int","v":"1"}]}`},
	{rule: "C10", kind: "key of another type", formats: "godot4", value: `{"t":"Dictionary","key_type":{"builtin":"String"},"v":[[{"t":"int","v":"1"},{"t":"Nil"}]]}`},
	{rule: "C10", kind: "null of a class", formats: "godot4", value: `{"t":"Array","type":{"class":"Node"},"v":[{"t":"Nil"}]}`, packet: "<Array+2> 04000000 4e6f6465 01000000 <Nil>"},
	{rule: "C10", kind: "id in an Array of a class", formats: "godot4", value: `{"t":"Array","type":{"class":"Node"},"v":[{"t":"ObjectID","v":"5"}]}`,
		packet: "<Array+2> 04000000 4e6f6465 01000000 <Object+1> 05000000 00000000"},
	{rule: "C10", kind: "value of a Dictionary of another type", formats: "godot4", value: `{"t":"Dictionary","value_type":{"builtin":"int"},"v":[[{"t":"int","v":"1"},{"t":"String","v":"a"}]]}`,
		packet: "<Dictionary+4> <int> 01000000 <int> 01000000 <String> 01000000 61000000"},
	{rule: "M1", kind: "too few components", formats: all, value: `{"t":"Vector2","v":[1.0]}`},
	{rule: "M1", kind: "too many components", formats: all, value: `{"t":"Vector3","v":[1.0,2.0,3.0,4.0]}`},
	{rule: "M4", kind: "too few integers", formats: "godot4", value: `{"t":"Vector3i","v":[1,2]}`},
	{rule: "M4", kind: "too many integers", formats: "godot4", value: `{"t":"Rect2i","v":[1,2,3,4,5]}`},
	{rule: "M3", kind: "color of three components", formats: all, value: `{"t":"Color","v":[1.0,1.0,1.0]}`},
	{rule: "P3", kind: "half an element", formats: all, value: `{"t":"PackedVector2Array","v":[1.0,2.0,3.0]}`},
	{rule: "P3", kind: "two thirds of an element", formats: all, value: `{"t":"PackedVector3Array","v":[1.0,2.0]}`},
	{rule: "P3", kind: "three quarters of an element", formats: all, value: `{"t":"PackedColorArray","v":[1.0,2.0,3.0]}`},
	{rule: "S4", kind: "2^63", formats: all, value: `{"t":"int","v":"9223372036854775808"}`},
	{rule: "S4", kind: "below -2^63", formats: all, value: `{"t":"int","v":"-9223372036854775809"}`},
	{rule: "S4", kind: "int with junk", formats: all, value: `{"t":"int","v":"5x"}`},
	{rule: "S4", kind: "int in hexadecimal", formats: all, value: `{"t":"int","v":"0x10"}`},
	{rule: "S4", kind: "int with a fraction", formats: all, value: `{"t":"int","v":"5.0"}`},
	{rule: "S4", kind: "int without digits", formats: all, value: `{"t":"int","v":""}`},
	{rule: "S4", kind: "int beyond 32 bits in a format without a flag", formats: "godot2 manual30", value: `{"t":"int","v":"2147483648"}`},
	{rule: "R1", kind: "RID with junk", formats: "godot4", value: `{"t":"RID","v":"1-"}`},
	{rule: "R1", kind: "RID of 2^63", formats: "godot4", value: `{"t":"RID","v":"9223372036854775808"}`},
	{rule: "R1", kind: "negative RID", formats: "godot4", value: `{"t":"RID","v":"-1"}`, packet: "<RID> ffffffff ffffffff"},
	{rule: "O1", kind: "negative id", formats: flagged, value: `{"t":"ObjectID","v":"-9223372036854775808"}`, packet: "<Object+1> 00000000 00000080"},
	{rule: "P3", kind: "2^31 in a PackedInt32Array", formats: all, value: `{"t":"PackedInt32Array","v":[2147483648]}`},
	{rule: "P3", kind: "below -2^31 in a PackedInt32Array", formats: all, value: `{"t":"PackedInt32Array","v":[-2147483649]}`},
	{rule: "P3", kind: "fraction in a PackedInt32Array", formats: all, value: `{"t":"PackedInt32Array","v":[1.5]}`},
	{rule: "P3", kind: "2^63 in a PackedInt64Array", formats: "godot4 manual4", value: `{"t":"PackedInt64Array","v":["9223372036854775808"]}`},
	{rule: "P3", kind: "junk in a PackedInt64Array", formats: "godot4 manual4", value: `{"t":"PackedInt64Array","v":["1 2"]}`},
	{rule: "M4", kind: "2^31 in a Vector2i", formats: "godot4", value: `{"t":"Vector2i","v":[0,2147483648]}`},
	{rule: "M4", kind: "below -2^31 in a Vector4i", formats: "godot4", value: `{"t":"Vector4i","v":[0,0,0,-2147483649]}`},
	{rule: "P1", kind: "half a byte", formats: all, value: `{"t":"PackedByteArray","v":"0"}`},
	{rule: "P1", kind: "no hexadecimal digits", formats: all, value: `{"t":"PackedByteArray","v":"0g"}`},
	{rule: "B2", kind: "unknown type", formats: all, value: `{"t":"Vector5","v":[1.0]}`},
	{rule: "B2", kind: "no type", formats: all, value: `{"v":"1"}`},
	{rule: "B2", kind: "Vector2i, which the format lacks", formats: notGodot4, value: `{"t":"Vector2i","v":[1,2]}`},
	{rule: "B2", kind: "Projection, which the format lacks", formats: notGodot4, value: `{"t":"Projection","v":[1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0,1.0]}`},
	{rule: "B2", kind: "StringName, which the format lacks", formats: notGodot4, value: `{"t":"StringName","v":"a"}`},
	{rule: "B2", kind: "Callable, which the format lacks", formats: notGodot4, value: `{"t":"Callable"}`},
	{rule: "B2", kind: "Signal, which the format lacks", formats: notGodot4, value: `{"t":"Signal","name":"a","object":"1"}`},
	{rule: "B2", kind: "PackedVector4Array, which the format lacks", formats: notGodot4, value: `{"t":"PackedVector4Array","v":[]}`},
	{rule: "B2", kind: "PackedInt64Array, which the format lacks", formats: "godot3 godot2 manual3 manual30", value: `{"t":"PackedInt64Array","v":["1"]}`},
	{rule: "B2", kind: "PackedFloat64Array, which the format lacks", formats: "godot3 godot2 manual3 manual30", value: `{"t":"PackedFloat64Array","v":[1.5]}`},
	{rule: "B2", kind: "Image, which the format lacks", formats: "godot4 godot3 manual4 manual3 manual30", value: `{"t":"Image","format":1,"mipmaps":0,"width":1,"height":1,"v":"00"}`},
	{rule: "B2", kind: "InputEvent, which the format lacks", formats: "godot4 godot3 manual4 manual3 manual30", value: `{"t":"InputEvent","event":0,"device":0,"v":""}`},
	{rule: "O1", kind: "id, which the format lacks", formats: narrow, value: `{"t":"ObjectID","v":"5"}`},
	{rule: "O2", kind: "serialized object, which the format lacks", formats: narrow, value: `{"t":"Object","class":"A","properties":[]}`},
	{rule: "C6", kind: "typed Array, which the format lacks", formats: notGodot4, value: `{"t":"Array","type":{"builtin":"int"},"v":[]}`},
	{rule: "C7", kind: "typed Dictionary, which the format lacks", formats: notGodot4, value: `{"t":"Dictionary","value_type":{"builtin":"int"},"v":[]}`},
	{rule: "C8", kind: "unknown declared type", formats: "godot4", value: `{"t":"Array","type":{"builtin":"Vector5"},"v":[]}`},
	{rule: "C8", kind: "declared type that the format lacks", formats: "godot4", value: `{"t":"Array","type":{"builtin":"Image"},"v":[]}`},
	{rule: "C9", kind: "empty declared class", formats: "godot4", value: `{"t":"Array","type":{"class":""},"v":[]}`, packet: "<Array+1> <Object> 00000000"},
	{rule: "C9", kind: "empty declared script", formats: "godot4", value: `{"t":"Dictionary","value_type":{"script":""},"v":[]}`, packet: "<Dictionary+4> <Object> 00000000"},
	{rule: "O6", kind: "id 0", formats: "godot4 godot3 manual4", value: `{"t":"ObjectID","v":"0"}`, packet: "<Nil>"},
	{rule: "O4", kind: "object without a class", formats: "godot4 godot3 manual4", value: `{"t":"Object","class":"","properties":[]}`, packet: "<Nil>"},
	{rule: "O7", kind: "null object", formats: narrow, value: `{"t":"Nil"}`, packet: "<Nil>"},
	{rule: "M1", kind: "number beyond f32", formats: all, value: `{"t":"Vector2","v":[1e39,0.0]}`},
	{rule: "M1", kind: "number that rounds to infinity", formats: all, value: `{"t":"Vector2","v":[0.0,3.4028235677973366e+38]}`},
	{rule: "M1", kind: "number that rounds to the largest f32", formats: all, value: `{"t":"Vector2","v":[0.0,3.4028235677973362e+38]}`, packet: "<Vector2> 00000000 ffff7f7f"},
	{rule: "M3", kind: "color beyond f32", formats: all, value: `{"t":"Color","v":[1e39,0.0,0.0,1.0]}`},
	{rule: "P3", kind: "element beyond f32", formats: all, value: `{"t":"PackedFloat32Array","v":[-1e39]}`},
	{rule: "P3", kind: "component beyond f32", formats: all, value: `{"t":"PackedVector3Array","v":[0.0,0.0,1e39]}`},
	{rule: "M1", kind: "infinite component", formats: all, value: `{"t":"Vector2","v":["Infinity","-Infinity"]}`, packet: "<Vector2> 0000807f 000080ff"},
	{rule: "M1", kind: "component that is rounded", formats: all, value: `{"t":"Vector2","v":[0.1,1e-50]}`, packet: "<Vector2> cdcccc3d 00000000"},
	{rule: "S8", kind: "float beyond f32", formats: "godot4 godot3 manual4", value: `{"t":"float","v":1e39}`, packet: "<float+1> 1d4a9cf4 87820748"},
	{rule: "S7", kind: "float that has no f32", formats: narrow, value: `{"t":"float","v":0.1}`},
	{rule: "S7", kind: "float beyond f32", formats: narrow, value: `{"t":"float","v":1e39}`},
	{rule: "S8", kind: "-0.0", formats: all, value: `{"t":"float","v":-0.0}`, packet: "<float> 00000080"},
	{rule: "S8", kind: "-0.0 as a string", formats: all, value: `{"t":"float","v":"-0.0"}`, packet: "<float> 00000080"},
	{rule: "S8", kind: "float written as an integer", formats: all, value: `{"t":"float","v":1}`, packet: "<float> 0000803f"},
	{rule: "S8", kind: "smallest f32", formats: all, value: `{"t":"float","v":1.401298464324817e-45}`, packet: "<float> 01000000"},
	{rule: "S8", kind: "half of the smallest f32", formats: "godot4 godot3 manual4", value: `{"t":"float","v":7.006492321624085e-46}`, packet: "<float+1> 00000000 00009036"},
	{rule: "M1", kind: "component -0.0", formats: all, value: `{"t":"Vector2","v":[-0.0,"-0.0"]}`, packet: "<Vector2> 00000080 00000080"},
	{rule: "S5", kind: "2^31", formats: "godot4 godot3 manual4", value: `{"t":"int","v":"2147483648"}`, packet: "<int+1> 00000080 00000000"},
	{rule: "S5", kind: "-2^31", formats: "godot4 godot3 godot2 manual4 manual30", value: `{"t":"int","v":"-2147483648"}`, packet: "<int> 00000080"},
	{rule: "S5", kind: "below -2^31", formats: "godot4 godot3 manual4", value: `{"t":"int","v":"-2147483649"}`, packet: "<int+1> ffffff7f ffffffff"},
	{rule: "P4", kind: "empty packed string", formats: engined, value: `{"t":"PackedStringArray","v":["","abc"]}`, packet: "<PackedStringArray> 02000000 01000000 00000000 04000000 61626300"},
	{rule: "C2", kind: "key without a value", formats: all, value: `{"t":"Dictionary","v":[[{"t":"Nil"}]]}`},
	{rule: "C2", kind: "pairs that are not sorted", formats: all, value: `{"t":"Dictionary","v":[[{"t":"String","v":"b"},{"t":"Nil"}],[{"t":"String","v":"a"},{"t":"Nil"}]]}`,
		packet: "<Dictionary> 02000000 <String> 01000000 62000000 <Nil> <String> 01000000 61000000 <Nil>"},
	{rule: "G7", kind: "event without its data", formats: "godot2", value: `{"t":"InputEvent","event":1,"device":0,"v":"0000"}`},
	{rule: "S10", kind: "NaN", formats: "godot4 godot3 manual4", value: `{"t":"float","v":"NaN"}`, packet: "<float+1> 00000000 0000f87f"},
}

// TestSuiteWriters: writers.jsonl contains what writerCases says, and the codec writes it so.
func TestSuiteWriters(t *testing.T) {
	var lines []suite.Written
	last := map[string]int{}
	for _, c := range writerCases {
		var group []suite.Written
		for _, format := range strings.Fields(c.formats) {
			f := formatNamed(t, format)
			line := suite.Written{Kind: c.kind, Formats: []string{format}, Rules: []string{c.rule}, Value: json.RawMessage(c.value), Encode: suite.Refused}
			line.Objects = strings.Contains(c.value, `"Object"`) && strings.Contains(c.value, `"properties"`)
			switch {
			case c.rule == "S10":
				line.Encode = suite.ByValue
			case c.packet != "" && !c.refused:
				line.Encode = suite.Exact
			}
			if c.packet != "" {
				line.Hex = model.Build(t, f, c.packet)
			}
			requireWritten(t, f, &line)
			same := slices.IndexFunc(group, func(l suite.Written) bool { return slices.Equal(l.Hex, line.Hex) })
			if same >= 0 {
				group[same].Formats = append(group[same].Formats, format)
			} else {
				group = append(group, line)
			}
		}
		for _, line := range group {
			line.ID = nextID(last, "w", line.Formats[0])
			lines = append(lines, line)
		}
	}
	requireLines(t, "writers", lines)
}

// requireWritten expects the codec to write a line as it says.
func requireWritten(t *testing.T, f gdwire.Format, line *suite.Written) {
	p, err := tagged.Encode(line.Value, &gdwire.EncoderOptions{Format: f})
	switch line.Encode {
	case suite.Refused:
		require.Error(t, err, "%v: %s: %x", f, line.Kind, p)
	case suite.Exact:
		require.NoError(t, err, "%v: %s", f, line.Kind)
		require.Equal(t, []byte(line.Hex), p, "%v: %s", f, line.Kind)
	default:
		require.NoError(t, err, line.Kind)
	}
}
