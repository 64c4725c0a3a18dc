package gdjson_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/variant"
)

func TestFromJSON(t *testing.T) {
	for _, c := range slices.Concat(toCases, nativeCases, numberCases, plainCases, shapeCases) {
		t.Run(c.name, func(t *testing.T) {
			want := encode(t, nil, c.write)
			got, err := fromJSON(c.native, nil, allow)
			require.NoError(t, err)
			require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got))
			got, err = fromJSON(nest(c.native), nil, allow)
			require.NoError(t, err)
			require.True(t, bytes.HasSuffix(got, want))
		})
	}
}

// A readCase is JSON, the value that FromJSON reads from it, and the error without
// Lenient.
type readCase struct {
	name  string
	text  string
	write func(e *gdwire.Encoder)
	cause error  // nil: none
	at    string // pointer of it
}

var ints32 = packed[int32]

func vector2i(x, y int32) func(*gdwire.Encoder) {
	return func(e *gdwire.Encoder) { gdwire.WriteComponents(e, gdwire.TypeVector2i, []int32{x, y}) }
}

// TestFromJSONEncoder tests the state of the Encoder after an error.
func TestFromJSONEncoder(t *testing.T) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	for _, text := range []string{`[`, `5`, `{"type":"Vector2","args":[1]}`, `{"type":"Image","format":1,"mipmaps":1,"width":1,"height":1,"data":[]}`} {
		t.Run(text, func(t *testing.T) {
			require.Error(t, gdjson.FromJSON(e, strings.NewReader(text)))
			require.NoError(t, e.Err(), "nothing was written")
		})
	}
	require.NoError(t, gdjson.FromJSON(e, strings.NewReader(`"i:1"`)))
	require.NoError(t, e.Flush())
	require.Equal(t, 8, b.Len())

	e.BeginDict(1)
	require.NoError(t, gdjson.FromJSON(e, strings.NewReader(`"s:key"`)))
	require.NoError(t, gdjson.FromJSON(e, strings.NewReader(`[]`)))
	e.End()
	require.NoError(t, e.Flush())

	err := gdjson.FromJSON(e, strings.NewReader(`["i:1",5]`))
	require.ErrorIs(t, err, gdwire.ErrType)
	require.ErrorIs(t, e.ClearError(), err, "cannot be cleared")
	require.ErrorIs(t, gdjson.FromJSON(e, strings.NewReader(`null`)), err)
	require.ErrorIs(t, e.Close(), err)
}

// TestFromJSONWriter: an error of the Writer is returned unchanged, and the value
// cannot be completed afterwards.
func TestFromJSONWriter(t *testing.T) {
	text := must(toJSON(encode(t, nil, array(make([]int32, 50_000), strings.Repeat("x", 100_000))), nil, nil))(t)
	for _, n := range []int{0, 10_000, 250_000} {
		e := gdwire.NewEncoder(&fullWriter{n: n, err: errTest}, nil)
		require.Equal(t, errTest, gdjson.FromJSON(e, strings.NewReader(text)))
		require.ErrorIs(t, e.Close(), errTest)
	}
}

func TestFromJSONBuffered(t *testing.T) {
	for _, c := range []struct {
		name     string
		buffered int64
		size     int
		ok       bool
	}{
		{"limit", 100, 100, true},
		{"beyond the limit", 100, 101, false},
		{"default", 0, 8 << 20, true},
		{"beyond the default", 0, 8<<20 + 1, false},
		{"no limit", -1, 8<<20 + 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := &endless{prefix: `"s:`, n: int64(c.size - 1), suffix: `"`}
			e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{MaxBuffered: c.buffered})
			err := gdjson.FromJSON(e, src)
			if c.ok {
				require.NoError(t, err)
				return
			}
			var limit *gdwire.LimitError
			require.ErrorAs(t, err, &limit)
			require.Equal(t, "MaxBuffered", limit.Name)
			var fault *gdjson.Error
			require.ErrorAs(t, err, &fault)
		})
	}
}

// endless returns a Reader of prefix, then x up to n bytes in all, then suffix.
type endless struct {
	prefix string
	n, at  int64
	suffix string
}

func (r *endless) Read(p []byte) (int, error) {
	i := 0
	for ; i < len(p) && r.at < r.n; i++ {
		p[i] = 'x'
		if r.at < int64(len(r.prefix)) {
			p[i] = r.prefix[r.at]
		}
		r.at++
	}
	if i == 0 && r.at >= r.n {
		i = copy(p, r.suffix)
		r.suffix = r.suffix[i:]
		if i == 0 {
			return 0, io.EOF
		}
	}
	return i, nil
}

// TestFromJSONManyErrors: a lenient reader does not look for the pointers of errors
// that it ignores, which would take minutes here.
func TestFromJSONManyErrors(t *testing.T) {
	const n = 200_000
	require.Len(t, must(fromJSON("["+strings.Repeat("5,", n-1)+"5]", nil, &gdjson.Options{Lenient: true}))(t), 8+4*n)
}

// TestFromJSONDepth: time is proportional to the text even if every "type" follows
// deeply nested "args".
func TestFromJSONDepth(t *testing.T) {
	const levels = 1000
	deep := strings.Repeat(`{"args":["s:k",`, levels) + `{"args":[` + strings.Repeat("1,", 500_000) + `1],"type":"PackedByteArray"}` +
		strings.Repeat(`],"type":"Dictionary"}`, levels)
	require.Len(t, must(fromJSON(deep, nil, nil))(t), levels*20+8+500_004)
}

// FromJSON reads a bytes.Buffer to its end in place, does not change its bytes, and does not keep
// them as memory for later texts.
func TestFromJSONBuffer(t *testing.T) {
	for _, o := range []gdjson.Options{{}, {Plain: true}, {Lenient: true}} {
		for _, text := range []string{`["s:a\u0061\n", "i:5"]`, ` {"a":1, "b":[1.5]}`, `[1,`, `"s:` + strings.Repeat("x", 2000) + `"`, ``} {
			want, wantErr := fromJSON(text, nil, &o)
			b := bytes.NewBuffer([]byte(text))
			bytesBefore := b.Bytes()
			var out bytes.Buffer
			e := gdwire.NewEncoder(&out, &gdwire.EncoderOptions{MaxBuffered: 4000})
			err := gdjson.FromJSON(e, b, o)
			if err == nil {
				require.NoError(t, e.Close())
			}
			e.Close()
			require.Equal(t, wantErr, err)
			require.Equal(t, want, out.Bytes())
			require.Zero(t, b.Len())
			_, _ = fromJSON(strings.Repeat(" ", 100)+`"s:other"`, nil, &o)
			require.Equal(t, text, string(bytesBefore))
		}
	}
	e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{MaxBuffered: 5})
	defer e.Close()
	want := gdjson.FromJSON(e, strings.NewReader(`"s:xyz"`))
	require.ErrorIs(t, want, gdwire.ErrLimit)
	require.Equal(t, want, gdjson.FromJSON(e, bytes.NewBufferString(`"s:xyz"`)))
}

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
	{"Array", array(1, []any{}, "x"), `["i:1",[],"s:x"]`, `[1,[],"x"]`},
	{"Dictionary", value(dict("a", 1, variant.StringName("b"), dict())), `{"type":"Dictionary","args":["s:a","i:1","sn:b",{"type":"Dictionary","args":[]}]}`, `{"a":1,"b":{}}`},
}

func TestToJSON(t *testing.T) { testToJSON(t, toCases) }

func TestToJSONIndent(t *testing.T) {
	wire := encode(t, nil, value(dict("pos", variant.Vector2{X: 1, Y: 2}, "tags", []any{1, []any{}}, variant.Vector2i{X: 1, Y: 2}, []string{"s"})))
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
			require.Equal(t, c.want, must(toJSON(wire, nil, &c.o))(t))
		})
	}
}

func TestToJSONEscapeForTerminal(t *testing.T) {
	const controls = "\x7f\u0080\u009b\u009f\u061c\u200e\u200f\u202a\u202e\u2066\u2069"
	const text = controls + "a\u00a0\u200d\u2027\u202f\u2065\u206aé😀"
	wire := encode(t, nil, func(e *gdwire.Encoder) { e.WriteString(text) })
	for _, escape := range []bool{false, true} {
		got := must(toJSON(wire, nil, &gdjson.Options{EscapeForTerminal: escape}))(t)
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

			got = must(toJSON(wire, from, &gdjson.Options{Plain: true}))(t)
			require.True(t, json.Valid([]byte(got)), got)
		})
	}
}

func TestToJSONPosition(t *testing.T) {
	wire := slices.Concat(encode(t, nil, value(dict("k", []string{"x"}, "a long string in two chunks", 1))), encode(t, nil, node("Node", "p", 2)))
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
		require.Equal(t, want, must(d.ReadToken())(t).Kind())
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
	wire := encode(t, nil, value(dict(&variant.Array{Values: []any{1, "abc"}}, 2)))
	for n := range wire {
		for _, o := range []*gdjson.Options{nil, {Plain: true}} {
			got, err := toJSON(wire[:n], nil, o)
			if n == 0 {
				require.Equal(t, io.EOF, err)
				continue
			}
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.True(t, strings.HasPrefix(must(toJSON(wire, nil, o))(t), got), got)
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
