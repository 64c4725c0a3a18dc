package gdjson_test

import (
	"encoding/hex"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/variant"
)

func TestFromJSONStrict(t *testing.T) {
	for _, c := range strictCases {
		t.Run(c.name, func(t *testing.T) {
			want := encode(t, nil, c.write)
			for _, o := range []*gdjson.Options{nil, {Lenient: true}} {
				require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(must(fromJSON(c.text, nil, o))(t)))
			}
		})
	}
}

func TestFromJSONLenient(t *testing.T) {
	for _, c := range lenientCases {
		t.Run(c.name, func(t *testing.T) {
			_, err := fromJSON(nest(c.text), nil, allow)
			require.ErrorIs(t, err, c.cause)
			var fault *gdjson.Error
			require.ErrorAs(t, err, &fault)
			require.Equal(t, nestAt+c.at, fault.Pointer)
			require.Contains(t, err.Error(), fault.Pointer)
			value := jsontext.Value(nest(c.text)[fault.Offset:])
			require.Contains(t, "{[\"-0123456789ntf", value[:1].String())
			if c.at == "" {
				require.EqualValues(t, strings.Index(nest(c.text), c.text), fault.Offset)
			}
			if c.write == nil {
				return
			}
			require.Equal(t, hex.EncodeToString(encode(t, nil, func(e *gdwire.Encoder) {
				e.BeginDict(1)
				e.WriteString("k")
				e.BeginArray(2)
				e.WriteInt(1)
				c.write(e)
				e.End()
				e.End()
			})), hex.EncodeToString(must(fromJSON(nest(c.text), nil, &gdjson.Options{Lenient: true, AllowObjects: true}))(t)))
		})
	}
}

// TestFromJSONRefused tests errors that remain with Lenient: text that is not JSON,
// and values that the Encoder refuses.
func TestFromJSONRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		text    string
		cause   error // nil: any
		offset  int64
		pointer string
	}{
		{"nothing", ``, io.ErrUnexpectedEOF, 0, ""},
		{"white space", " \n", io.ErrUnexpectedEOF, 2, ""},
		{"cut", `["i:1",`, io.ErrUnexpectedEOF, 7, ""},
		{"second value", `null 5`, gdwire.ErrCount, 4, ""},
		{"second bracket", `[]]`, nil, 2, ""},
		{"no JSON", `[abc]`, nil, 1, "/0"},
		{"two commas", `["i:1",,]`, nil, 7, "/1"},
		{"bad UTF-8", "[\"s:a\xff\"]", gdwire.ErrUTF8, 5, "/0"},
		{"after control characters", "[\"s:\x01\\v\x02\",x]", nil, 10, "/1"},
		{"in a name with control characters", "{\"a\\v\x01/\":[1,x]}", nil, 12, "/a\v\x01~1/1"},
		{"half a surrogate pair", `["s:\ud800"]`, nil, 4, "/0"},
		{"declared elements", `{"args":["i:1","s:x"],"elem_type":"int","type":"Array"}`, gdwire.ErrType, 15, "/args/1"},
		{"declared keys", `{"args":["i:1","s:x"],"key_type":"String","type":"Dictionary"}`, gdwire.ErrType, 9, "/args/0"},
		{"property's name", `{"type":"Node","props":[5,null]}`, gdwire.ErrType, 24, "/props/0"},
		{"empty class", `[{"type":"","props":["a",null]}]`, gdwire.ErrCount, 1, "/0"},
		{"type of another format", `["i:1",{"type":"Image","format":1,"mipmaps":1,"width":1,"height":1,"data":[]}]`, gdwire.ErrType, 7, "/1"},
		{"event of another format", `{"type":"InputEvent","event":1,"device":1,"data":[]}`, gdwire.ErrType, 0, ""},
		{"deep", strings.Repeat("[", 1026) + strings.Repeat("]", 1026), gdwire.ErrLimit, 1025, strings.Repeat("/0", 1025)},
		{"deeper", strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), nil, 10_000, strings.Repeat("/0", 10_000)},
		{"deepest", strings.Repeat("[", 1_000_000), nil, 10_000, strings.Repeat("/0", 10_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, lenient := range []bool{false, true} {
				_, err := fromJSON(c.text, nil, &gdjson.Options{Lenient: lenient, AllowObjects: true})
				require.Error(t, err)
				if c.cause != nil {
					require.ErrorIs(t, err, c.cause)
				}
				var fault *gdjson.Error
				require.ErrorAs(t, err, &fault)
				require.Equal(t, c.offset, fault.Offset, err)
				require.Equal(t, c.pointer, fault.Pointer, err)
				require.Less(t, len(err.Error()), 600)
			}
		})
	}
}

func TestFromJSONObjects(t *testing.T) {
	const text = `{"type":"Array","props":["args",null]}`
	got := must(fromJSON(text, nil, allow))(t)
	require.Equal(t, encode(t, nil, node("Array", "args", nil)), got)

	_, err := fromJSON(text, nil, nil)
	require.ErrorIs(t, err, gdwire.ErrObject)
	got = must(fromJSON(text, nil, &gdjson.Options{Lenient: true}))(t)
	require.Equal(t, encode(t, nil, nothing), got)
}

// TestFromJSONFormats tests the types that other formats than Godot 4 have and lack.
func TestFromJSONFormats(t *testing.T) {
	for _, c := range []struct {
		format gdwire.Format
		text   string
		cause  error
	}{
		{gdwire.Godot2, `{"type":"Image","format":3,"mipmaps":1,"width":2,"height":1,"data":[1,2,3,4,5]}`, nil},
		{gdwire.Godot2, `{"type":"Image","format":4294967295,"mipmaps":1,"width":2,"height":1,"data":[]}`, nil},
		{gdwire.Godot2, `{"type":"InputEvent","event":1,"device":2,"data":[0,0,0,2,65,0,0,0]}`, nil},
		{gdwire.Godot2, `{"type":"RID"}`, nil},
		{gdwire.Godot2, `"f:0.5"`, nil},
		{gdwire.Godot2, `"f:0.1"`, gdwire.ErrRange},
		{gdwire.Godot2, `{"type":"Image","format":3,"mipmaps":1,"width":2,"height":1,"data":[1,2,256]}`, gdwire.ErrRange},
		{gdwire.Godot2, `{"type":"Image","format":4294967296,"mipmaps":1,"width":2,"height":1,"data":[]}`, gdwire.ErrRange},
		{gdwire.Godot2, `{"type":"InputEvent","event":1,"device":2,"data":[0,0]}`, gdwire.ErrRange},
		{gdwire.Godot2, `{"type":"InputEvent","event":1,"device":2,"data":["x"]}`, gdwire.ErrType},
		{gdwire.Godot3, `"sn:a"`, gdwire.ErrType},
		{gdwire.Godot3, `{"type":"Vector4","args":[1,2,3,4]}`, gdwire.ErrType},
		{gdwire.Godot3, `{"type":"Array","elem_type":"int","args":[]}`, gdwire.ErrType},
		{gdwire.Godot3, `{"type":"PackedInt64Array","args":[]}`, gdwire.ErrType},
		{gdwire.Manual3, `{"type":"ObjectID","id":"1"}`, gdwire.ErrRange},
	} {
		t.Run(c.format.String()+c.text, func(t *testing.T) {
			for _, text := range []string{c.text, nest(c.text)} {
				got, err := fromJSON(text, &gdwire.EncoderOptions{Format: c.format}, nil)
				if c.cause != nil {
					require.ErrorIs(t, err, c.cause)
					continue
				}
				require.NoError(t, err)
				if text == c.text {
					require.Equal(t, c.text, must(toJSON(got, &gdwire.DecoderOptions{Format: c.format}, nil))(t))
				}
			}
		})
	}
}

// nest returns the JSON of a Dictionary with an Array that contains text, at offset
// 36.
func nest(text string) string {
	return `{"args":["s:k",["i:1", ` + "\n        " + text + `]], "type": "Dictionary"}`
}

const nestAt = "/args/1/1"

func nothing(e *gdwire.Encoder) { e.WriteNil() }

// strictCases contains JSON that is accepted although ToJSON writes it in another way.
var strictCases = []readCase{
	{name: "white space", text: " \t\r\n{ \"args\" :\n[ 1 ,\r2 ] ,\t\"type\" : \"Vector2i\" }\n", write: vector2i(1, 2)},
	{name: "escapes", text: `{"\u0074ype":"Vector\u0032i","ar\u0067s":[1,2]}`, write: vector2i(1, 2)},
	{name: "control characters", text: "\"s:\x01\t\x1f\"", write: func(e *gdwire.Encoder) { e.WriteString("\x01\t\x1f") }},
	{name: "control characters and escapes", text: "\"s:\x01\\v\\n\n\\\\v\"", write: func(e *gdwire.Encoder) { e.WriteString("\x01\v\n\n\\v") }},
	{name: "escaped prefix", text: `"\u0069:\u0035"`, write: func(e *gdwire.Encoder) { e.WriteInt(5) }},
	{name: "zeros after the point", text: `{"type":"Vector2i","args":[1.0,-2.00]}`, write: vector2i(1, -2)},
	{name: "ints as strings", text: `{"type":"Vector2i","args":["1","-2"]}`, write: vector2i(1, -2)},
	{name: "leading zeros", text: `"i:-007"`, write: func(e *gdwire.Encoder) { e.WriteInt(-7) }},
	{name: "ints as reals", text: `{"type":"Vector2","args":[1,-2]}`,
		write: func(e *gdwire.Encoder) { gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, -2}) }},
	{name: "digits", text: `{"type":"PackedFloat64Array","args":[0.1000000000000000055511151231257827,1E3,-0]}`,
		write: packed(gdwire.TypePackedFloat64Array, []float64{0.1, 1000, math.Copysign(0, -1)})},
	{name: "infinity of jq", text: `{"type":"PackedFloat32Array","args":[1E+99999,-1E+99999]}`,
		write: packed(gdwire.TypePackedFloat32Array, []float32{float32(infinity), float32(-infinity)})},
	{name: "infinity of others", text: `{"type":"PackedFloat32Array","args":[1e+99999,1E99999]}`,
		write: packed(gdwire.TypePackedFloat32Array, []float32{float32(infinity), float32(infinity)})},
	{name: "float of engines", text: `"f:` + "1" + strings.Repeat("0", 300) + `.0"`, write: func(e *gdwire.Encoder) { e.WriteFloat(1e300) }},
	{name: "RID without id", text: `{"type":"RID"}`, write: func(e *gdwire.Encoder) { e.WriteRID(0) }},
	{name: "Signal without name", text: `{"type":"Signal"}`, write: func(e *gdwire.Encoder) { e.WriteSignal("", 0) }},
	{name: "id as number", text: `{"id":5,"type":"RID"}`, write: func(e *gdwire.Encoder) { e.WriteRID(5) }},
	{name: "untyped Array", text: `{"type":"Array","args":["i:1"]}`, write: array(1)},
	{name: "type last", text: `{"args":[{"args":["i:1"],"elem_type":"int","type":"Array"}],"elem_type":{"builtin":"Array"},"type":"Array"}`,
		write: typedArray(gdwire.Elem{Type: gdwire.TypeArray}, &variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}, Values: []any{1}})},
	{name: "declared after args", text: `{"type":"Dictionary","args":["s:a",null],"value_type":"Node","key_type":"String"}`,
		write: func(e *gdwire.Encoder) {
			e.BeginTypedDict(1, gdwire.Elem{Type: gdwire.TypeString}, gdwire.Elem{Class: "Node"})
			e.WriteString("a")
			e.WriteNil()
			e.End()
		}},
}

// lenientCases contains JSON that the engine and Lenient accept, with their result, and that is an
// error without Lenient.
var lenientCases = []readCase{
	{"plain number", `5`, nothing, gdwire.ErrType, ""},
	{"string without a prefix", `"abc"`, nothing, gdwire.ErrType, ""},
	{"unknown prefix", `"x:1"`, nothing, gdwire.ErrType, ""},
	{"prefix without a colon", `"s"`, nothing, gdwire.ErrType, ""},
	{"long prefix without a colon", `"np"`, nothing, gdwire.ErrType, ""},
	{"empty string", `""`, nothing, gdwire.ErrType, ""},
	{"after control characters", "[\"s:\x01\\v\x02\",\"x\"]", array("\x01\v\x02", nil), gdwire.ErrType, "/1"},
	{"colon alone", `":"`, nothing, gdwire.ErrType, ""},
	{"minus before no number", `"f:--5"`, func(e *gdwire.Encoder) { e.WriteFloat(math.Copysign(0, -1)) }, gdwire.ErrType, ""},
	{"plus before no number", `"f:+.e5"`, func(e *gdwire.Encoder) { e.WriteFloat(0) }, gdwire.ErrType, ""},
	{"exponent with a sign", `"f:1e+2,5"`, func(e *gdwire.Encoder) { e.WriteFloat(100) }, gdwire.ErrType, ""},
	{"hexadecimal", `"i:0x10"`, func(e *gdwire.Encoder) { e.WriteInt(10) }, gdwire.ErrType, ""},
	{"fraction of an int", `"i:5.7"`, func(e *gdwire.Encoder) { e.WriteInt(5) }, gdwire.ErrType, ""},
	{"no digits", `"i:"`, func(e *gdwire.Encoder) { e.WriteInt(0) }, gdwire.ErrType, ""},
	{"minus alone", `"i:-"`, func(e *gdwire.Encoder) { e.WriteInt(0) }, gdwire.ErrType, ""},
	{"int beyond 64 bits", `"i:9223372036854775808"`, func(e *gdwire.Encoder) { e.WriteInt(math.MinInt64) }, gdwire.ErrRange, ""},
	{"int below 64 bits", `"i:-9223372036854775809x"`, func(e *gdwire.Encoder) { e.WriteInt(math.MaxInt64) }, gdwire.ErrType, ""},
	{"tiny int", `"i:-99999999999999999999"`, func(e *gdwire.Encoder) { e.WriteInt(math.MinInt64) }, gdwire.ErrRange, ""},
	{"two colons", `"np:a::b"`, func(e *gdwire.Encoder) { e.WriteNodePath("") }, gdwire.ErrRange, ""},
	{"huge int", `"i:99999999999999999999x"`, func(e *gdwire.Encoder) { e.WriteInt(math.MaxInt64) }, gdwire.ErrType, ""},
	{"float with a unit", `"f: 1.5e1px"`, func(e *gdwire.Encoder) { e.WriteFloat(15) }, gdwire.ErrType, ""},
	{"two points", `"f:-1.5.5"`, func(e *gdwire.Encoder) { e.WriteFloat(-1.5) }, gdwire.ErrType, ""},
	{"exponent without digits", `"f:1.5e+"`, func(e *gdwire.Encoder) { e.WriteFloat(1.5) }, gdwire.ErrType, ""},
	{"no float", `"f:Infinity"`, func(e *gdwire.Encoder) { e.WriteFloat(0) }, gdwire.ErrType, ""},
	{"float too large", `"f:1e400"`, func(e *gdwire.Encoder) { e.WriteFloat(infinity) }, gdwire.ErrRange, ""},
	{"payload of zero", `"f:nan:0x0"`, func(e *gdwire.Encoder) { e.WriteFloat(0) }, gdwire.ErrType, ""},
	{"byte wraps", `{"type":"PackedByteArray","args":[1,256,-1]}`, packed(gdwire.TypePackedByteArray, []byte{1, 0, 255}), gdwire.ErrRange, "/args/1"},
	{"int32 wraps", `{"type":"Vector2i","args":[1,4294967297]}`, vector2i(1, 1), gdwire.ErrRange, "/args/1"},
	{"int with a fraction", `{"type":"Vector2i","args":[1.7,-2.5]}`, vector2i(1, -2), gdwire.ErrType, "/args/0"},
	{"int with an exponent", `{"type":"Vector2i","args":[1,1e1]}`, vector2i(1, 10), gdwire.ErrType, "/args/1"},
	{"int of another kind", `{"args":[1,2,true,false,null,[5],{"a":6},"7x"],"type":"PackedInt32Array"}`,
		ints32(gdwire.TypePackedInt32Array, []int32{1, 2, 1, 0, 0, 0, 0, 7}), gdwire.ErrType, "/args/2"},
	{"too long an int", `{"type":"PackedInt64Array","args":[9223372036854775808,1e400,-1e400]}`,
		packed(gdwire.TypePackedInt64Array, []int64{math.MaxInt64, math.MaxInt64, math.MinInt64}), gdwire.ErrRange, "/args/0"},
	{"real of another kind", `{"type":"PackedFloat64Array","args":["inf","1.5x",true,[],{}]}`,
		packed(gdwire.TypePackedFloat64Array, []float64{0, 1.5, 1, 0, 0}), gdwire.ErrType, "/args/0"},
	{"real too large", `{"type":"PackedFloat64Array","args":[1,1e400]}`, packed(gdwire.TypePackedFloat64Array, []float64{1, infinity}), gdwire.ErrRange, "/args/1"},
	{"component too large", `{"args":[1,2,3,-4e38,5,6,7,8,9],"type":"Basis"}`,
		func(e *gdwire.Encoder) {
			gdwire.WriteComponents(e, gdwire.TypeBasis, []float64{1, -infinity, 7, 2, 5, 8, 3, 6, 9})
		}, gdwire.ErrRange, "/args/3"},
	{"element too large", `{"args":[1,1e39,null],"type":"PackedFloat32Array"}`,
		packed(gdwire.TypePackedFloat32Array, []float32{1, float32(infinity), float32(nan(0x7FF8 << 48))}), gdwire.ErrRange, "/args/1"},
	{"vector too large", `{"args":[1,2,3,-1e39],"type":"PackedVector2Array"}`,
		packed(gdwire.TypePackedVector2Array, [][2]float32{{1, 2}, {3, float32(-infinity)}}), gdwire.ErrRange, "/args/3"},
	{"number as a packed string", `{"type":"PackedStringArray","args":["a",1,true,null]}`, value([]string{"a", "1.0", "true", "<null>"}), gdwire.ErrType, "/args/1"},
	{"too few args", `{"type":"Vector2","args":[1]}`, nothing, gdwire.ErrCount, "/args"},
	{"too many args", `{"args":[1,2,3],"type":"Vector2i"}`, nothing, gdwire.ErrCount, "/args"},
	{"half a vector", `{"type":"PackedVector3Array","args":[1,2,3,4]}`, nothing, gdwire.ErrCount, "/args"},
	{"key without a value", `{"type":"Dictionary","args":["s:a"]}`, nothing, gdwire.ErrCount, "/args"},
	{"property without a value", `{"type":"Node","props":["a"]}`, nothing, gdwire.ErrCount, "/props"},
	{"args of an Array", `{"type":"Array","args":{}}`, array(), gdwire.ErrType, "/args"},
	{"args of a Dictionary", `{"type":"Dictionary","args":null}`, value(dict()), gdwire.ErrType, "/args"},
	{"args of a vector", `{"type":"Vector2","args":"1,2"}`, nothing, gdwire.ErrType, "/args"},
	{"args of a packed array", `{"type":"PackedInt32Array","args":5}`, ints32(gdwire.TypePackedInt32Array, nil), gdwire.ErrType, "/args"},
	{"data of an Image", `{"type":"Image","format":1,"mipmaps":1,"width":1,"height":1,"data":5}`, nil, gdwire.ErrType, "/data"},
	{"data of an InputEvent", `{"type":"InputEvent","event":1,"device":1,"data":5}`, nil, gdwire.ErrType, "/data"},
	{"width of an Image", `{"type":"Image","format":1,"mipmaps":1,"width":"x","height":1,"data":[]}`, nil, gdwire.ErrType, "/width"},
	{"device of an InputEvent", `{"type":"InputEvent","event":1,"device":-1,"data":[]}`, nil, gdwire.ErrRange, "/device"},
	{"no type", `{"args":[1,2]}`, nothing, gdwire.ErrType, ""},
	{"no members", `{}`, nothing, gdwire.ErrType, ""},
	{"type is no string", `{"type":5}`, nothing, gdwire.ErrType, "/type"},
	{"unknown type", `{"type":"Vector5","args":[]}`, nothing, gdwire.ErrType, ""},
	{"empty type", `{"type":""}`, nothing, gdwire.ErrType, ""},
	{"type int", `{"type":"int","args":[5]}`, nothing, gdwire.ErrType, ""},
	{"no args", `{"type":"Vector2"}`, nothing, gdwire.ErrMisplacedKey, ""},
	{"no id", `{"type":"ObjectID"}`, nothing, gdwire.ErrMisplacedKey, ""},
	{"id of another kind", `{"type":"ObjectID","id":"x"}`, func(e *gdwire.Encoder) { e.WriteObjectID(0) }, gdwire.ErrType, "/id"},
	{"object of another kind", `{"type":"Signal","name":"a","object":[]}`, func(e *gdwire.Encoder) { e.WriteSignal("a", 0) }, gdwire.ErrType, "/object"},
	{"name of another kind", `{"type":"Signal","name":5}`, func(e *gdwire.Encoder) { e.WriteSignal("", 0) }, gdwire.ErrType, "/name"},
	{"RID of another kind", `{"type":"RID","id":{}}`, func(e *gdwire.Encoder) { e.WriteRID(0) }, gdwire.ErrType, "/id"},
	{"props of another kind", `{"type":"Node","props":{}}`, value(&variant.Object{Class: "Node"}), gdwire.ErrType, "/props"},
	{"class of another kind", `{"type":null,"props":[]}`, nothing, gdwire.ErrType, "/type"},
	{"unknown member", `{"type":"Vector2i","args":[1,2],"x":[{}]}`, vector2i(1, 2), gdwire.ErrMisplacedKey, "/x"},
	{"member of another type", `{"type":"Vector2i","args":[1,2],"elem_type":"int"}`, vector2i(1, 2), gdwire.ErrMisplacedKey, ""},
	{"two types", `{"type":"Vector2","args":[1,2],"type":"Vector2i"}`, vector2i(1, 2), gdwire.ErrMisplacedKey, "/type"},
	{"two args", `{"type":"Vector2i","args":[[]],"args":[1,2]}`, vector2i(1, 2), gdwire.ErrMisplacedKey, "/args"},
	{"declared by a number", `{"type":"Array","elem_type":5,"args":[]}`, nothing, gdwire.ErrType, "/elem_type"},
	{"declared as nothing", `{"type":"Array","elem_type":"","args":[]}`, nothing, gdwire.ErrType, "/elem_type"},
	{"declared in two ways", `{"type":"Array","elem_type":{"class":"a","script":"b"},"args":[]}`, nothing, gdwire.ErrType, "/elem_type"},
	{"declared in another way", `{"type":"Dictionary","key_type":{"x":"int"},"args":[]}`, nothing, gdwire.ErrType, "/key_type/x"},
	{"declared as no type", `{"type":"Dictionary","value_type":{"builtin":"Node"},"args":[]}`, nothing, gdwire.ErrType, "/value_type/builtin"},
}
