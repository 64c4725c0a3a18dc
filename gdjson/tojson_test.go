package gdjson_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

// A toCase is a value in native and in plain JSON.
type toCase struct {
	name          string
	write         func(e *gdwire.Encoder)
	native, plain string
}

var toCases = []toCase{
	{"nil", func(e *gdwire.Encoder) { e.WriteNil() }, `null`, `null`},
	{"bool", func(e *gdwire.Encoder) { e.WriteBool(true) }, `true`, `true`},
	{"int", func(e *gdwire.Encoder) { e.WriteInt(-5) }, `"i:-5"`, `-5`},
	{"smallest int", func(e *gdwire.Encoder) { e.WriteInt(math.MinInt64) }, `"i:-9223372036854775808"`, `-9223372036854775808`},
	{"float", func(e *gdwire.Encoder) { e.WriteFloat(0.1) }, `"f:0.1"`, `0.1`},
	{"float of 32 bits", func(e *gdwire.Encoder) { e.WriteFloat32(0.1) }, `"f:0.10000000149011612"`, `0.10000000149011612`},
	{"component of 32 bits", func(e *gdwire.Encoder) { e.WriteReals(gdwire.TypeVector2, 0.1, 0) },
		`{"type":"Vector2","args":[0.10000000149011612,0.0]}`, `[0.1,0.0]`},
	{"float without a fraction", func(e *gdwire.Encoder) { e.WriteFloat(-3) }, `"f:-3.0"`, `-3.0`},
	{"negative zero", func(e *gdwire.Encoder) { e.WriteFloat(math.Copysign(0, -1)) }, `"f:-0.0"`, `-0.0`},
	{"1e20", func(e *gdwire.Encoder) { e.WriteFloat(1e20) }, `"f:100000000000000000000.0"`, `100000000000000000000.0`},
	{"1e21", func(e *gdwire.Encoder) { e.WriteFloat(1e21) }, `"f:1e+21"`, `1e+21`},
	{"smallest float", func(e *gdwire.Encoder) { e.WriteFloat(5e-324) }, `"f:5e-324"`, `5e-324`},
	{"infinity", func(e *gdwire.Encoder) { e.WriteFloat(infinity) }, `"f:inf"`, `1e99999`},
	{"negative infinity", func(e *gdwire.Encoder) { e.WriteFloat(-infinity) }, `"f:-inf"`, `-1e99999`},
	{"NaN", func(e *gdwire.Encoder) { e.WriteFloat(nan(0x7FF8 << 48)) }, `"f:nan"`, `null`},
	{"negative NaN", func(e *gdwire.Encoder) { e.WriteFloat(nan(0xFFF8 << 48)) }, `"f:-nan"`, `null`},
	{"NaN with payload", func(e *gdwire.Encoder) { e.WriteFloat(nan(0x7FF8<<48 | 1)) }, `"f:nan:0x8000000000001"`, `null`},
	{"String", func(e *gdwire.Encoder) { e.WriteString("a\"\\\n\r\t\b\f\x00\x1f\x7f<é😀") },
		`"s:a\"\\\n\r\t\b\f\u0000\u001f` + "\x7f" + `<é😀"`, `"a\"\\\n\r\t\b\f\u0000\u001f` + "\x7f" + `<é😀"`},
	{"empty StringName", func(e *gdwire.Encoder) { e.WriteStringName("") }, `"sn:"`, `""`},
	{"NodePath", func(e *gdwire.Encoder) { e.WriteNodePath("/a/b:c:d") }, `"np:/a/b:c:d"`, `"/a/b:c:d"`},
	{"empty NodePath", func(e *gdwire.Encoder) { e.WriteNodePath("") }, `"np:"`, `""`},
	{"root", func(e *gdwire.Encoder) { e.WriteNodePath("/") }, `"np:/"`, `"/"`},
	{"sub-name with a slash", func(e *gdwire.Encoder) { e.WriteNodePath(":b/c") }, `"np::b/c"`, `":b/c"`},
	{"Vector2", func(e *gdwire.Encoder) { e.WriteReals(gdwire.TypeVector2, 1, -2.5) }, `{"type":"Vector2","args":[1.0,-2.5]}`, `[1.0,-2.5]`},
	{"Rect2i", func(e *gdwire.Encoder) { e.WriteInts(gdwire.TypeRect2i, 1, -2, 3, 4) }, `{"type":"Rect2i","args":[1,-2,3,4]}`, `[1,-2,3,4]`},
	{"odd reals", func(e *gdwire.Encoder) {
		e.WriteReals(gdwire.TypeColor, infinity, -infinity, nan(0x7FF8<<48), nan(0xFFFC<<48))
	}, `{"type":"Color","args":[1e99999,-1e99999,null,"-nan:0xc000000000000"]}`, `[1e99999,-1e99999,null,null]`},
	{"Basis", func(e *gdwire.Encoder) { e.WriteReals(gdwire.TypeBasis, 1, 2, 3, 4, 5, 6, 7, 8, 9) },
		`{"type":"Basis","args":[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0]}`, `[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0]`},
	{"Transform3D", func(e *gdwire.Encoder) { e.WriteReals(gdwire.TypeTransform3D, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) },
		`{"type":"Transform3D","args":[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0,10.0,11.0,12.0]}`, `[1.0,4.0,7.0,2.0,5.0,8.0,3.0,6.0,9.0,10.0,11.0,12.0]`},
	{"Array", func(e *gdwire.Encoder) {
		e.BeginArray(3)
		e.WriteInt(1)
		e.BeginArray(0)
		e.End()
		e.WriteString("x")
		e.End()
	}, `["i:1",[],"s:x"]`, `[1,[],"x"]`},
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
	{"Dictionary", func(e *gdwire.Encoder) {
		e.BeginDict(2)
		e.WriteString("a")
		e.WriteInt(1)
		e.WriteStringName("b")
		e.BeginDict(0)
		e.End()
		e.End()
	}, `{"type":"Dictionary","args":["s:a","i:1","sn:b",{"type":"Dictionary","args":[]}]}`, `{"a":1,"b":{}}`},
	{"typed Dictionary", func(e *gdwire.Encoder) {
		e.BeginTypedDict(0, gdwire.Elem{Type: gdwire.TypeString}, gdwire.Elem{Class: "Node"})
		e.End()
	}, `{"type":"Dictionary","key_type":"String","value_type":"Node","args":[]}`, `{}`},
	{"bytes", packed(gdwire.TypePackedByteArray, []byte{0, 7, 255, 1}), `{"type":"PackedByteArray","args":[0,7,255,1]}`, `"AAf/AQ=="`},
	{"int32", packed(gdwire.TypePackedInt32Array, []int32{1, math.MinInt32}), `{"type":"PackedInt32Array","args":[1,-2147483648]}`, `[1,-2147483648]`},
	{"int64", packed(gdwire.TypePackedInt64Array, []int64{1 << 53, 1<<53 + 1, -1 << 53, math.MinInt64}),
		`{"type":"PackedInt64Array","args":[9007199254740992,"9007199254740993",-9007199254740992,"-9223372036854775808"]}`,
		`[9007199254740992,9007199254740993,-9007199254740992,-9223372036854775808]`},
	{"float32", packed(gdwire.TypePackedFloat32Array, []float32{0.1, float32(infinity)}),
		`{"type":"PackedFloat32Array","args":[0.10000000149011612,1e99999]}`, `[0.1,1e99999]`},
	{"float64", packed(gdwire.TypePackedFloat64Array, []float64{0.1, -infinity, nan(0x7FF8 << 48)}),
		`{"type":"PackedFloat64Array","args":[0.1,-1e99999,null]}`, `[0.1,-1e99999,null]`},
	{"strings", func(e *gdwire.Encoder) {
		e.BeginPacked(gdwire.TypePackedStringArray, 2)
		e.WriteString("i:1")
		e.WriteString("")
		e.End()
	}, `{"type":"PackedStringArray","args":["i:1",""]}`, `["i:1",""]`},
	{"vectors", packed(gdwire.TypePackedVector2Array, [][2]float32{{1, 2}, {3, 4.5}}),
		`{"type":"PackedVector2Array","args":[1.0,2.0,3.0,4.5]}`, `[[1.0,2.0],[3.0,4.5]]`},
	{"no vectors", packed(gdwire.TypePackedVector2Array, [][2]float32{}), `{"type":"PackedVector2Array","args":[]}`, `[]`},
	{"RID", func(e *gdwire.Encoder) { e.WriteRID(math.MaxUint64) }, `{"type":"RID","id":"-1"}`, `-1`},
	{"Callable", func(e *gdwire.Encoder) { e.WriteCallable() }, `{"type":"Callable"}`, `null`},
	{"Signal", func(e *gdwire.Encoder) { e.WriteSignal("<hit>", 7) }, `{"type":"Signal","name":"<hit>","object":"7"}`, `{"name":"<hit>","object":7}`},
	{"object id", func(e *gdwire.Encoder) { e.WriteObjectID(5) }, `{"type":"ObjectID","id":"5"}`, `5`},
	{"object id 0", func(e *gdwire.Encoder) { e.WriteObjectID(0) }, `{"type":"ObjectID","id":"0"}`, `0`},
	{"serialized object", func(e *gdwire.Encoder) {
		e.BeginObject("Resource", 2)
		e.WriteProperty("name")
		e.WriteString("x")
		e.WriteProperty("next")
		e.BeginObject("", 0)
		e.End()
		e.End()
	}, `{"type":"Resource","props":["name","s:x","next",{"type":"","props":[]}]}`, `{"class":"Resource","name":"x","next":{"class":""}}`},
}

func typedArray(elem gdwire.Elem) func(*gdwire.Encoder) {
	return func(e *gdwire.Encoder) {
		e.BeginTypedArray(0, elem)
		e.End()
	}
}

func TestToJSON(t *testing.T) {
	for _, c := range toCases {
		t.Run(c.name, func(t *testing.T) {
			wire := encode(t, nil, c.write)
			for _, window := range []int{0, 16} {
				from := &gdwire.DecoderOptions{AllowObjects: true, WindowSize: window}
				got, err := toJSON(wire, from, nil)
				require.NoError(t, err)
				require.Equal(t, c.native, got)
				require.True(t, json.Valid([]byte(got)))
				got, err = toJSON(wire, from, &gdjson.Options{Plain: true})
				require.NoError(t, err)
				require.Equal(t, c.plain, got)
				require.True(t, json.Valid([]byte(got)))
			}
		})
	}
}

// TestToJSONGodot2 tests the types of Godot 2 and its forms of other types.
func TestToJSONGodot2(t *testing.T) {
	from := &gdwire.DecoderOptions{Format: gdwire.Godot2}
	to := &gdwire.EncoderOptions{Format: gdwire.Godot2}
	oldPath := []byte{16, 0, 0, 0, 7, 0, 0, 0, '/', 'a', '/', 'b', ':', 'c', 'd', 0}
	for _, c := range []toCase{
		{"Image", func(e *gdwire.Encoder) {
			e.BeginImage(3, 1, 2, 1, 4)
			e.Write([]byte{1, 2, 3, 4})
			e.End()
		}, `{"type":"Image","format":3,"mipmaps":1,"width":2,"height":1,"data":[1,2,3,4]}`,
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

func TestToJSONIndent(t *testing.T) {
	wire := encode(t, nil, func(e *gdwire.Encoder) {
		e.BeginDict(3)
		e.WriteString("pos")
		e.WriteReals(gdwire.TypeVector2, 1, 2)
		e.WriteString("tags")
		e.BeginArray(2)
		e.WriteInt(1)
		e.BeginArray(0)
		e.End()
		e.End()
		e.WriteInts(gdwire.TypeVector2i, 1, 2)
		e.BeginPacked(gdwire.TypePackedStringArray, 1)
		e.WriteString("s")
		e.End()
		e.End()
	})
	for name, c := range map[string]struct {
		o    gdjson.Options
		want string
	}{
		"native": {gdjson.Options{Indent: "  "}, `{"type": "Dictionary", "args": [
  "s:pos", {"type": "Vector2", "args": [1.0, 2.0]},
  "s:tags", [
    "i:1",
    []
  ],
  {"type": "Vector2i", "args": [1, 2]}, {"type": "PackedStringArray", "args": [
    "s"
  ]}
]}`},
		"plain": {gdjson.Options{Plain: true, Indent: "\t"}, `{
	"pos": [1.0, 2.0],
	"tags": [
		1,
		[]
	],
	"Vector2i(1, 2)": [
		"s"
	]
}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := toJSON(wire, nil, &c.o)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestToJSONEscapeForTerminal(t *testing.T) {
	const controls = "\x7f\u0080\u009b\u009f\u061c\u200e\u200f\u202a\u202e\u2066\u2069"
	const text = controls + "a\u00a0\u200d\u2027\u202f\u2065\u206aé😀"
	wire := encode(t, nil, func(e *gdwire.Encoder) { e.WriteString(text) })
	for _, escape := range []bool{false, true} {
		got, err := toJSON(wire, nil, &gdjson.Options{EscapeForTerminal: escape})
		require.NoError(t, err)
		for _, c := range controls {
			require.Equal(t, !escape, strings.ContainsRune(got, c), "%U", c)
		}
		var back string
		require.NoError(t, json.Unmarshal([]byte(got), &back))
		require.Equal(t, "s:"+text, back)
	}
}

// TestToJSONErrors tests values that JSON cannot represent, and calls where no value
// is next.
func TestToJSONErrors(t *testing.T) {
	name := func(names, subnames int, text string) func(*gdwire.Encoder) {
		return func(e *gdwire.Encoder) {
			e.BeginNodePath(names, subnames, false)
			e.WriteString(text)
			e.End()
		}
	}
	for _, c := range []struct {
		name  string
		write func(e *gdwire.Encoder)
		cause error
	}{
		{"slash in a name", name(1, 0, "a/b"), gdwire.ErrRange},
		{"colon in a name", name(1, 0, "a:b"), gdwire.ErrRange},
		{"colon in a sub-name", name(0, 1, "a:b"), gdwire.ErrRange},
		{"empty name", name(1, 0, ""), gdwire.ErrRange},
		{"empty sub-name", name(0, 1, ""), gdwire.ErrRange},
		{"bad text", func(e *gdwire.Encoder) { e.WriteString("a\xffb") }, gdwire.ErrUTF8},
		{"bad class", typedArray(gdwire.Elem{Class: "\xff"}), gdwire.ErrUTF8},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire := encode(t, &gdwire.EncoderOptions{AnyUTF8: true}, func(e *gdwire.Encoder) {
				e.BeginArray(1)
				c.write(e)
				e.End()
			})
			from := &gdwire.DecoderOptions{AnyUTF8: true}
			got, err := toJSON(wire, from, nil)
			require.ErrorIs(t, err, c.cause)
			var fault *gdwire.Error
			require.ErrorAs(t, err, &fault)
			require.Positive(t, fault.Offset)
			require.True(t, strings.HasPrefix(fault.Path, "$[0]"), fault.Path)
			require.True(t, strings.HasPrefix(got, "["))

			got, err = toJSON(wire, from, &gdjson.Options{Plain: true})
			require.NoError(t, err)
			require.True(t, json.Valid([]byte(got)), got)
		})
	}
}

func TestToJSONPosition(t *testing.T) {
	wire := encode(t, nil, func(e *gdwire.Encoder) {
		e.BeginDict(2)
		e.WriteString("k")
		e.BeginPacked(gdwire.TypePackedStringArray, 1)
		e.WriteString("x")
		e.End()
		e.WriteString("a long string in two chunks")
		e.WriteInt(1)
		e.End()
		e.BeginObject("Node", 1)
		e.WriteProperty("p")
		e.WriteInt(2)
		e.End()
	})
	d := gdwire.NewDecoder(bytes.NewReader(wire), &gdwire.DecoderOptions{AllowObjects: true, WindowSize: 16})
	defer d.Release()
	var b strings.Builder
	next := func(want string, cause error) {
		t.Helper()
		b.Reset()
		err := gdjson.ToJSON(&b, d, nil)
		require.ErrorIs(t, err, cause)
		require.Equal(t, want, b.String())
	}
	read := func(want gdwire.Kind) {
		t.Helper()
		tok, err := d.ReadToken()
		require.NoError(t, err)
		require.Equal(t, want, tok.Kind())
	}
	read(gdwire.KindDictStart)
	next(`"s:k"`, nil) // a key
	read(gdwire.KindPackedStart)
	next("", gdwire.ErrType)
	read(gdwire.KindStringChunk)
	read(gdwire.KindEnd)
	read(gdwire.KindDictKey)
	read(gdwire.KindStringChunk)
	next("", gdwire.ErrType)
	read(gdwire.KindStringChunk)
	next(`"i:1"`, nil) // a value
	next("", gdwire.ErrCount)
	read(gdwire.KindEnd)
	read(gdwire.KindObjectStart)
	next("", gdwire.ErrType)
	read(gdwire.KindProperty)
	next(`"i:2"`, nil)
	read(gdwire.KindEnd)
	next("", io.EOF)
}

// TestToJSONInput tests errors of the Decoder: the values before them are written.
func TestToJSONInput(t *testing.T) {
	wire := encode(t, nil, func(e *gdwire.Encoder) {
		e.BeginDict(1)
		e.BeginArray(2)
		e.WriteInt(1)
		e.WriteString("abc")
		e.End()
		e.WriteInt(2)
		e.End()
	})
	for n := range wire {
		for _, o := range []*gdjson.Options{nil, {Plain: true}} {
			got, err := toJSON(wire[:n], nil, o)
			if n == 0 {
				require.Equal(t, io.EOF, err)
				continue
			}
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			whole, err := toJSON(wire, nil, o)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(whole, got), got)
		}
	}
	d := gdwire.NewDecoder(iotest.ErrReader(errTest), nil)
	require.ErrorIs(t, gdjson.ToJSON(io.Discard, d, nil), errTest)
}

func TestToJSONOutput(t *testing.T) {
	wire := encode(t, nil, packed(gdwire.TypePackedInt32Array, make([]int32, 50_000)))
	for _, c := range []struct {
		name      string
		err, want error
	}{
		{"error", errTest, errTest},
		{"short write", nil, io.ErrShortWrite},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{0, 1, 10_000, 99_999} {
				d := gdwire.NewDecoder(bytes.NewReader(wire), nil)
				require.ErrorIs(t, gdjson.ToJSON(&fullWriter{n: n, err: c.err}, d, nil), c.want)
				d.Release()
			}
		})
	}
}
