package gdjson_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

var toCases = []toCase{
	{"nil", func(e *gdwire.Encoder) { e.WriteNil() }, `null`, `null`},
	{"bool", func(e *gdwire.Encoder) { e.WriteBool(true) }, `true`, `true`},
	{"String", func(e *gdwire.Encoder) { e.WriteString("a\"\\\n\r\t\b\f\x01\x1f\x7f<é😀") },
		`"s:a\"\\\n\r\t\b\f\u0001\u001f` + "\x7f" + `<é😀"`, `"a\"\\\n\r\t\b\f\u0001\u001f` + "\x7f" + `<é😀"`},
	{"empty StringName", func(e *gdwire.Encoder) { e.WriteStringName("") }, `"sn:"`, `""`},
	{"NodePath", func(e *gdwire.Encoder) { e.WriteNodePath("/a/b:c:d") }, `"np:/a/b:c:d"`, `"/a/b:c:d"`},
	{"empty NodePath", func(e *gdwire.Encoder) { e.WriteNodePath("") }, `"np:"`, `""`},
	{"root", func(e *gdwire.Encoder) { e.WriteNodePath("/") }, `"np:/"`, `"/"`},
	{"sub-name with a slash", func(e *gdwire.Encoder) { e.WriteNodePath(":b/c") }, `"np::b/c"`, `":b/c"`},
	{"Array", func(e *gdwire.Encoder) {
		e.BeginArray(3)
		e.WriteInt(1)
		e.BeginArray(0)
		e.End()
		e.WriteString("x")
		e.End()
	}, `["i:1",[],"s:x"]`, `[1,[],"x"]`},
	{"Dictionary", func(e *gdwire.Encoder) {
		e.BeginDict(2)
		e.WriteString("a")
		e.WriteInt(1)
		e.WriteStringName("b")
		e.BeginDict(0)
		e.End()
		e.End()
	}, `{"type":"Dictionary","args":["s:a","i:1","sn:b",{"type":"Dictionary","args":[]}]}`, `{"a":1,"b":{}}`},
}

func TestToJSON(t *testing.T) { testToJSON(t, toCases) }

func TestToJSONIndent(t *testing.T) {
	wire := encode(t, nil, func(e *gdwire.Encoder) {
		e.BeginDict(3)
		e.WriteString("pos")
		gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, 2})
		e.WriteString("tags")
		e.BeginArray(2)
		e.WriteInt(1)
		e.BeginArray(0)
		e.End()
		e.End()
		gdwire.WriteComponents(e, gdwire.TypeVector2i, []int32{1, 2})
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
			wire := encode(t, &gdwire.EncoderOptions{AllowInvalidUTF8: true}, func(e *gdwire.Encoder) {
				e.BeginArray(1)
				c.write(e)
				e.End()
			})
			from := &gdwire.DecoderOptions{AllowInvalidUTF8: true}
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
	d := gdwire.NewDecoder(bytes.NewReader(wire), &gdwire.DecoderOptions{AllowObjects: true, MaxChunk: 16})
	defer d.Release()
	var b strings.Builder
	next := func(want string, cause error) {
		t.Helper()
		b.Reset()
		err := gdjson.ToJSON(&b, d)
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
	require.ErrorIs(t, gdjson.ToJSON(io.Discard, d), errTest)
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
				require.ErrorIs(t, gdjson.ToJSON(&fullWriter{n: n, err: c.err}, d), c.want)
				d.Release()
			}
		})
	}
}
