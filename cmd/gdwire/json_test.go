package main

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJSON(t *testing.T) {
	nan := float32(math.NaN())
	inf := float32(math.Inf(1))
	runCases(t, []testCase{
		{name: "scalars", args: "json",
			in:  wire(0, 1, 0, 1, 1, 2, -5, 0x10002, int64(math.MinInt64)),
			out: "null\nfalse\ntrue\n\"i:-5\"\n\"i:-9223372036854775808\"\n"},
		{name: "floats", args: "json",
			in: wire(3, float32(0.1), 0x10003, 0.1, 3, float32(0), 3, float32(math.Copysign(0, -1)), 0x10003, 1e20, 0x10003, 1e21,
				0x10003, 1e-6, 0x10003, 5e-324, 0x10003, -math.MaxFloat64, 3, nan, 3, inf, 3, -inf),
			out: `"f:0.10000000149011612"
"f:0.1"
"f:0.0"
"f:-0.0"
"f:100000000000000000000.0"
"f:1e+21"
"f:0.000001"
"f:5e-324"
"f:-1.7976931348623157e+308"
"f:nan"
"f:inf"
"f:-inf"
`},
		{name: "text", args: "json",
			in:  wire(4, "", 4, "a\"\\\n\x00\x1f<é😀", 21, "sn", 21, ""),
			out: "\"s:\"\n\"s:a\\\"\\\\\\n\\u0000\\u001f<é😀\"\n\"sn:sn\"\n\"sn:\"\n"},
		{name: "paths", args: "json",
			in: wire(22, uint32(0x80000002), 1, 1, "a", "b", "c", 22, uint32(0x80000000), 0, 0, 22, uint32(0x80000000), 0, 1, 22, uint32(0x80000000), 2, 0, "x", "y",
				22, uint32(0x80000001), 0, 2, "a", "p"),
			out: "\"np:/a/b:c\"\n\"np:\"\n\"np:/\"\n\"np::x:y\"\n\"np:a:p\"\n"},
		{name: "maths", args: "json",
			in: wire(5, float32(1), float32(-2.5), 6, 1, -2, 8, 1, 2, 3, 4, 20, nan, inf, -inf, float32(1), 0x10005, 0.1, 1e300),
			out: `{"type":"Vector2","args":[1.0,-2.5]}
{"type":"Vector2i","args":[1,-2]}
{"type":"Rect2i","args":[1,2,3,4]}
{"type":"Color","args":["nan","inf","-inf",1.0]}
{"type":"Vector2","args":[0.1,1e+300]}
`},
		{name: "columns", args: "json",
			in: wire(17, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 18, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
				19, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}),
			out: `{"type":"Basis","args":[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0]}
{"type":"Transform3D","args":[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0,10.0,11.0,12.0]}
{"type":"Projection","args":[1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0,11.0,12.0,13.0,14.0,15.0,16.0]}
`},
		{name: "containers", args: "json",
			in: wire(28, 0, 28, 3, 2, 1, 28, 1, 0, 4, "x", 27, 0, 27, 2, 4, "a", 2, 1, 5, float32(1), float32(2), 28, 0),
			out: `[]
["i:1",[null],"s:x"]
{"type":"Dictionary","args":[]}
{"type":"Dictionary","args":["s:a","i:1",{"type":"Vector2","args":[1.0,2.0]},[]]}
`},
		{name: "typed containers", args: "json",
			in: wire(0x1001c, 2, 1, 2, 7, 0x2001c, "Node", 0, 0x3001c, "res://a\".gd", 0, 0x1001c, 24, 0, 0x1001c, 0, 0,
				0x5001b, 4, 2, 0, 0x1001b, 4, 0, 0xc001b, "res://b.gd", 0),
			out: `{"type":"Array","elem_type":"int","args":["i:7"]}
{"type":"Array","elem_type":"Node","args":[]}
{"type":"Array","elem_type":"res://a\".gd","args":[]}
{"type":"Array","elem_type":"Object","args":[]}
[]
{"type":"Dictionary","key_type":"String","value_type":"int","args":[]}
{"type":"Dictionary","key_type":"String","args":[]}
{"type":"Dictionary","value_type":"res://b.gd","args":[]}
`},
		{name: "packed arrays", args: "json",
			in: wire(29, 3, []byte{0, 7, 255, 0}, 30, 2, 1, -1, 31, 5, []int64{1, 1 << 53, 1<<53 + 1, -1 << 53, math.MinInt64},
				32, 2, float32(0.1), nan, 33, 2, 0.1, -math.Inf(1), 34, 4, "a\x00", "", "é\"\x00", "b",
				35, 1, float32(1), float32(2), 0x10024, 1, 1.0, 2.0, 3.5, 37, 1, []float32{1, 0, 0, 1}, 38, 0),
			out: `{"type":"PackedByteArray","args":[0,7,255]}
{"type":"PackedInt32Array","args":[1,-1]}
{"type":"PackedInt64Array","args":[1,9007199254740992,"9007199254740993",-9007199254740992,"-9223372036854775808"]}
{"type":"PackedFloat32Array","args":[0.10000000149011612,"nan"]}
{"type":"PackedFloat64Array","args":[0.1,"-inf"]}
{"type":"PackedStringArray","args":["a","","é\"","b"]}
{"type":"PackedVector2Array","args":[1.0,2.0]}
{"type":"PackedVector3Array","args":[1.0,2.0,3.5]}
{"type":"PackedColorArray","args":[1.0,0.0,0.0,1.0]}
{"type":"PackedVector4Array","args":[]}
`},
		{name: "objects", args: "json -objects",
			in: wire(0x10018, uint64(5), 0x10018, int64(-5), 0x10018, uint64(0), 28, 1, 24, "",
				24, "Resource", 2, "name", 4, "x", "next", 28, 1, 24, "", 28, 2, 24, "", 24, ""),
			out: `{"type":"ObjectID","id":"5"}
{"type":"ObjectID","id":"-5"}
null
[null]
{"type":"Resource","props":["name","s:x","next",[null]]}
[null,null]
`},
		{name: "what has no value of its own", args: "json",
			in: wire(23, uint64(math.MaxUint64), 25, 26, "<hit>", uint64(7), 26, "", uint64(0)),
			out: `{"type":"RID","id":"-1"}
{"type":"Callable"}
{"type":"Signal","name":"<hit>","object":"7"}
{"type":"Signal","name":"","object":"0"}
`},
		{name: "godot3", args: "json -format godot3",
			in:  wire(16, 18, 1, 4, "k", 0x10011, uint64(9), 15, uint32(0x80000001), 0, 1, "a", 0x10002, int64(1)<<40),
			out: "{\"type\":\"RID\"}\n{\"type\":\"Dictionary\",\"args\":[\"s:k\",{\"type\":\"ObjectID\",\"id\":\"9\"}]}\n\"np:/a\"\n\"i:1099511627776\"\n"},
		{name: "godot2", args: "json -format godot2",
			in: wire(15, 3, 1, 2, 1, 5, []byte{1, 2, 3, 4, 5, 0, 0, 0}, 15, 0, 0, 0, 0, 0,
				19, 1, 2, 20, 1<<25, 65, 19, 2, 0, 12, 17, 18, 16, "a/b:c", 16, uint32(0x80000001), 0, 3, "a", "p", 21, uint32(0x80000001), 0, 11, []float32{1, 2, 3, 4, 5, 6}),
			out: `{"type":"Image","format":3,"mipmaps":1,"width":2,"height":1,"data":[1,2,3,4,5]}
{"type":"Image","format":0,"mipmaps":0,"width":0,"height":0,"data":[]}
{"type":"InputEvent","event":1,"device":2,"data":[0,0,0,2,65,0,0,0]}
{"type":"InputEvent","event":2,"device":0,"data":[]}
{"type":"RID"}
null
"np:a/b:c"
"np:/a:p"
[null]
{"type":"AABB","args":[1.0,2.0,3.0,4.0,5.0,6.0]}
`},
		{name: "manual4", args: "json -format manual4",
			in: wire(16, 15, "/x:y", 17, "", 0x10011, uint64(1), 25, 2, "a", "b\x00", 22, 1, int64(3), 0x10002, int64(4)),
			out: `{"type":"RID"}
"np:/x:y"
null
{"type":"ObjectID","id":"1"}
{"type":"PackedStringArray","args":["a","b\u0000"]}
{"type":"PackedInt64Array","args":[3]}
"i:4"
`},
		{name: "manual3", args: "json -format manual3",
			in:  wire(2, int64(7), 3, float32(1.5), 16, 23, 1, "a"),
			out: "\"i:7\"\n\"f:1.5\"\n{\"type\":\"RID\"}\n{\"type\":\"PackedStringArray\",\"args\":[\"a\"]}\n"},
		{name: "manual30", args: "json -format manual30",
			in:  wire(2, 7, 3, float32(1.5), 19, 1, 0),
			out: "\"i:7\"\n\"f:1.5\"\n[null]\n"},
		{name: "double", args: "json -format manual3 -double", in: wire(5, 0.1, 2.0), out: "{\"type\":\"Vector2\",\"args\":[0.1,2.0]}\n"},
		{name: "bad text", args: "json -any-utf8", in: wire(4, "a\xff\xc3b", 26, "\xfe", uint64(0)),
			out: "\"s:a��b\"\n{\"type\":\"Signal\",\"name\":\"�\",\"object\":\"0\"}\n"},
	})
}

// TestJSONLong: what comes in several tokens reads as what comes in one.
func TestJSONLong(t *testing.T) {
	text := strings.Repeat("0123456789é\"\n", 5000)
	bad := strings.Repeat("a\xc3", 30_001)
	path := wire(22, uint32(0x80000001), 1, 1, text, text)
	for _, c := range []struct {
		in   []byte
		want string
	}{
		{wire(4, text), "s:" + text},
		{wire(21, text), "sn:" + text},
		{path, "np:/" + text + ":" + text},
		{wire(4, bad), "s:" + strings.Repeat("a\ufffd", 30_001)},
	} {
		r := runWith(c.in, "json", "-any-utf8")
		require.Zero(t, r.status, r.err)
		var got string
		require.NoError(t, json.Unmarshal([]byte(r.out), &got))
		require.Equal(t, c.want, got)
	}

	r := runWith(wire(34, 3, text+"\x00", text, "x\x00"), "json")
	var got struct{ Args []string }
	require.NoError(t, json.Unmarshal([]byte(r.out), &got))
	require.Equal(t, []string{text, text, "x"}, got.Args)

	floats := make([]float32, 50_000)
	for i := range floats {
		floats[i] = float32(i)
	}
	r = runWith(wire(35, len(floats)/2, floats), "json")
	var list struct{ Args []float32 }
	require.NoError(t, json.Unmarshal([]byte(r.out), &list))
	require.Equal(t, floats, list.Args)
}

// TestJSONCutOff: there is a line for each value and packet, good or not.
func TestJSONCutOff(t *testing.T) {
	five, bad := wire(2, 5), wire(28, 2, 2, 1, 99)
	runCases(t, []testCase{
		{name: "value", args: "json", in: bad, out: "[\"i:1\"\n", status: statusBad, err: "gdwire: offset 16, $[1]: wrong type"},
		{name: "second value", args: "json", in: append(wire(2, 5), bad...), out: "\"i:5\"\n[\"i:1\"\n", status: statusBad, err: "offset 24, $[1]"},
		{name: "header", args: "json", in: wire(99), out: "\n", status: statusBad, err: "offset 0, $: wrong type"},
		{name: "left over", args: "json", in: append(wire(2, 5), 1, 2), out: "\"i:5\"\n\n", status: statusBad, err: "offset 10, $: unexpected EOF"},
		{name: "frames", args: "json -frame u32", in: framed(five, bad, nil, five),
			out: "\"i:5\"\n[\"i:1\"\n\n\"i:5\"\n", status: statusBad,
			err: "gdwire: offset 32, $[1]: wrong type: id 99 is none of godot4's\ngdwire: offset 40, $: empty packet: unexpected EOF\n"},
		{name: "frame too long", args: "json -frame u32 -max-packet 10", in: framed(five, bad, five), out: "\"i:5\"\n\n\"i:5\"\n",
			status: statusBad, err: "offset 16: packet of 20 bytes exceeds"},
		{name: "frame too long and cut", args: "json -frame u32 -max-packet 10", in: framed(five, bad)[:20], out: "\"i:5\"\n\n",
			status: statusBad, err: "offset 16: packet of 20 bytes exceeds"},
		{name: "frame cut", args: "json -frame u32", in: framed(five, five)[:20], out: "\"i:5\"\n\n", status: statusBad, err: "gdwire: offset 20, $: unexpected EOF\n"},
		{name: "length cut", args: "json -frame u32", in: framed(five, five)[:14], out: "\"i:5\"\n\n", status: statusBad, err: "gdwire: offset 14, $: unexpected EOF\n"},
		{name: "big-endian", args: "json -frame u32be", in: framedBig(five, nil, five), out: "\"i:5\"\n\n\"i:5\"\n", status: statusBad, err: "offset 16, $"},
		{name: "behind the value", args: "json -frame u32", in: framed(wire(2, 5, 0), five), out: "\"i:5\"\n\"i:5\"\n"},
		{name: "behind the value, strict", args: "json -frame u32 -strict", in: framed(wire(2, 5, 0), five), out: "\"i:5\"\n\"i:5\"\n",
			status: statusBad, err: "gdwire: offset 12, $: not canonical"},
	})
}

// TestNativeJSON: the shape is the engine's own.
func TestNativeJSON(t *testing.T) {
	for _, folder := range []string{"godot4.7-dev", "godot4.7-dev-double"} {
		compared := 0
		for _, v := range vectors(t, folder) {
			if *v.NativeJSON == "null" && v.Value.T != "Nil" && v.Value.T != "Object" {
				continue // it has no text for the ids of objects
			}
			r := runWith(v.bytes(t), "json", "-objects", "-strict")
			require.Zero(t, r.status, "%s: %s", v.Name, r.err)
			require.Equal(t, 1, strings.Count(r.out, "\n"))
			alike(t, v.Name, parse(t, *v.NativeJSON), parse(t, r.out))
			compared++
		}
		require.Greater(t, compared, 120)
	}
}

func parse(t *testing.T, text string) (v any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
}

// alike compares what the engine wrote with what we did, which is more exact.
func alike(t *testing.T, at string, engine, ours any) {
	switch e := engine.(type) {
	case map[string]any:
		require.IsType(t, e, ours, at)
		o := ours.(map[string]any)
		for k := range o {
			require.True(t, e[k] != nil || e["type"] == "RID" || e["type"] == "Signal", "%s has no %s", at, k)
		}
		for k := range e {
			alike(t, at+"."+k, e[k], o[k])
		}
	case []any:
		require.IsType(t, e, ours, at)
		require.Len(t, ours, len(e), at)
		for i := range e {
			alike(t, at+"["+strconv.Itoa(i)+"]", e[i], ours.([]any)[i])
		}
	case json.Number:
		if o, ok := ours.(string); ok {
			infinite := strings.NewReplacer("inf", "1e99999") // no number in ours, and so are large ints
			require.Equal(t, e.String(), infinite.Replace(o), at)
			return
		}
		require.IsType(t, e, ours, at)
		o := ours.(json.Number)
		require.Equal(t, strings.ContainsAny(e.String(), ".e"), strings.ContainsAny(o.String(), ".e"), "%s: int or float", at)
		closeTo(t, at, e.String(), o.String())
	case string:
		if o, ok := ours.(string); ok && strings.HasPrefix(e, "f:") && strings.HasPrefix(o, "f:") {
			closeTo(t, at, e[2:], o[2:])
			return
		}
		require.Equal(t, engine, ours, at)
	case nil:
		if o, ok := ours.(string); ok && o == "nan" {
			return
		}
		require.Nil(t, ours, at)
	default:
		require.Equal(t, engine, ours, at)
	}
}

// closeTo compares numbers as far as the engine prints them: to 15 digits, and
// none behind the 15th place.
func closeTo(t *testing.T, at, engine, ours string) {
	e, err := strconv.ParseFloat(engine, 64)
	require.NoError(t, err, at)
	o, err := strconv.ParseFloat(ours, 64)
	require.NoError(t, err, at)
	if e == o || e != e && o != o {
		return
	}
	require.LessOrEqual(t, math.Abs(e-o), 1e-14*math.Abs(o)+1e-14, "%s: %s, %s", at, engine, ours)
}
