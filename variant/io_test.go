package variant_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

func TestUnmarshalFirst(t *testing.T) {
	values := []any{int64(5), "text", nil, 0.5}
	var data []byte
	for _, v := range values {
		data = testenv.Must(variant.MarshalAppend(data, v))(t)
	}
	rest := data
	for _, want := range values {
		var got any
		rest = testenv.Must(variant.UnmarshalFirst(rest, &got))(t)
		require.Equal(t, want, got)
	}
	require.Empty(t, rest)

	rest, err := variant.UnmarshalFirst(nil, new(any))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Empty(t, rest)
	rest, err = variant.UnmarshalFirst(data, new(string))
	require.ErrorIs(t, err, gdwire.ErrType)
	require.Equal(t, data, rest, "after an error")
}

func TestUnmarshalRead(t *testing.T) {
	strict := variant.Options{Decoder: gdwire.DecoderOptions{Strict: true}}
	packet := gdwiretest.Encode(t, []any{int64(1), "two"})
	long := append(bytes.Clone(packet), make([]byte, 12)...)
	errTape := errors.New("tape")
	for _, c := range []struct {
		name  string
		input io.Reader
		opts  []variant.Options
		is    error
		text  string
	}{
		{name: "one value", input: bytes.NewReader(packet)},
		{name: "byte by byte", input: iotest.OneByteReader(bytes.NewReader(packet))},
		{name: "an end with the last bytes", input: iotest.DataErrReader(bytes.NewReader(packet))},
		{name: "an error after the value", input: io.MultiReader(iotest.OneByteReader(bytes.NewReader(packet)), iotest.ErrReader(errTape)), is: errTape},
		{name: "bytes after it", input: bytes.NewReader(long), text: "gdwire: offset 28, $: bytes after the value"},
		{name: "a byte after it", input: iotest.OneByteReader(bytes.NewReader(long[:len(packet)+1])), text: "gdwire: offset 28, $: bytes after the value"},
		{name: "unknown bytes after it", input: bytes.NewReader(append(bytes.Clone(packet), "JUNKJUNK"...)), text: "gdwire: offset 28, $: bytes after the value"},
		{name: "bytes after it and OneValue", input: bytes.NewReader(long), opts: []variant.Options{{Decoder: gdwire.DecoderOptions{OneValue: true}}}, text: "gdwire: offset 28, $: bytes after the value"},
		{name: "strict", input: bytes.NewReader(packet), opts: []variant.Options{strict}},
		{name: "bytes after it, strict", input: iotest.OneByteReader(bytes.NewReader(long)), opts: []variant.Options{strict}, is: gdwire.ErrStrict},
		{name: "empty", input: strings.NewReader(""), is: io.EOF},
		{name: "cut", input: bytes.NewReader(packet[:10]), is: io.ErrUnexpectedEOF},
		{name: "an error inside the value", input: io.MultiReader(bytes.NewReader(packet[:10]), iotest.ErrReader(errTape)), is: errTape},
	} {
		t.Run(c.name, func(t *testing.T) {
			var v []any
			err := variant.UnmarshalRead(c.input, &v, c.opts...)
			switch {
			case c.text != "":
				require.EqualError(t, err, c.text)
			case c.is != nil:
				require.ErrorIs(t, err, c.is)
			default:
				require.NoError(t, err)
			}
			if c.is == nil {
				require.Equal(t, []any{int64(1), "two"}, v)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	packet := gdwiretest.Encode(t, []any{1, map[string]any{"a": "text"}})
	require.NoError(t, variant.Validate(packet))
	for i := range packet {
		require.Error(t, variant.Validate(packet[:i]), i)
	}
	require.EqualError(t, variant.Validate(append(packet, 1, 2, 3)), "gdwire: offset 48, $: 3 bytes after the value")

	invalid := bytes.Clone(packet)
	invalid[bytes.Index(packet, []byte("text"))] = 0xff
	require.ErrorIs(t, variant.Validate(invalid), gdwire.ErrUTF8)
	require.NoError(t, variant.Validate(invalid, variant.Options{Decoder: gdwire.DecoderOptions{AllowInvalidUTF8: true}}))

	old := variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}, Decoder: gdwire.DecoderOptions{Format: gdwire.Godot3}}
	require.NoError(t, variant.Validate(gdwiretest.Encode(t, []int32{1, 2}, old), old))

	requireNoAllocs(t, func() { _ = variant.Validate(packet) })
}

func TestMarshalAppend(t *testing.T) {
	for _, v := range []any{nil, "text", make([]byte, 100_000)} {
		want := gdwiretest.Encode(t, v)
		for _, dst := range [][]byte{nil, {}, []byte("prefix"), make([]byte, 3, 200_000)} {
			prefix := bytes.Clone(dst)
			got := testenv.Must(variant.MarshalAppend(dst, v))(t)
			require.True(t, bytes.Equal(append(prefix, want...), got))
			if cap(dst) > len(got) {
				require.Same(t, &dst[0], &got[0], "the memory of dst")
			}
		}
	}
	dst := []byte("prefix")
	got, err := variant.MarshalAppend(dst, []any{1, make(chan int)})
	require.ErrorContains(t, err, "no Variant type")
	require.Equal(t, dst, got)
	got, err = variant.MarshalAppend(dst, make(chan int))
	require.ErrorContains(t, err, "no Variant type")
	require.Equal(t, dst, got)
}

func TestMarshalWrite(t *testing.T) {
	for _, v := range []any{nil, "text", make([]byte, 100_000), []any{1, "two"}} {
		var b bytes.Buffer
		require.NoError(t, variant.MarshalWrite(&b, v))
		require.True(t, bytes.Equal(gdwiretest.Encode(t, v), b.Bytes()))
	}
	var b bytes.Buffer
	require.ErrorContains(t, variant.MarshalWrite(&b, make(chan int)), "no Variant type")
	require.Empty(t, b.Bytes())
	errDisk := errors.New("disk")
	require.ErrorIs(t, variant.MarshalWrite(brokenWriter{errDisk}, "text"), errDisk)
	require.ErrorIs(t, variant.MarshalWrite(brokenWriter{errDisk}, make([]byte, 100_000)), errDisk)
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// A Raw is decoded in its own format, whatever the Options say.
func TestRawUnmarshal(t *testing.T) {
	for _, f := range gdwire.Formats() {
		in := variant.Options{Encoder: gdwire.EncoderOptions{Format: f}}
		raw := variant.Raw{Format: f, Data: gdwiretest.Encode(t, map[string]any{"to": variant.Vector2{X: 1, Y: 2}}, in)}
		var m struct{ To variant.Vector2 }
		require.NoError(t, raw.Unmarshal(&m))
		require.Equal(t, variant.Vector2{X: 1, Y: 2}, m.To)
		require.ErrorIs(t, raw.Unmarshal(&struct{ A int }{}, variant.Options{RejectUnknown: true}), variant.ErrUnknownKey)
	}
	v := any("changed")
	require.NoError(t, variant.Raw{}.Unmarshal(&v))
	require.Nil(t, v)
	require.ErrorIs(t, variant.Raw{Format: gdwire.Godot3}.Unmarshal(&v), io.ErrUnexpectedEOF)
}

// Values follow each other in memory.
func ExampleUnmarshalFirst() {
	var log []byte
	for _, line := range []string{"start", "stop"} {
		var err error
		if log, err = variant.MarshalAppend(log, line); err != nil {
			fmt.Println(err)
			return
		}
	}
	for len(log) > 0 {
		var line string
		var err error
		if log, err = variant.UnmarshalFirst(log, &line); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(line)
	}
	// Output:
	// start
	// stop
}

// A value is written to a file or connection and read from it in one call each.
func ExampleUnmarshalRead() {
	type Score struct{ Points int }
	var file bytes.Buffer
	if err := variant.MarshalWrite(&file, Score{12}); err != nil {
		fmt.Println(err)
		return
	}
	var s Score
	if err := variant.UnmarshalRead(&file, &s); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Points)
	// Output: 12
}

// Bytes from a client are checked before they are stored.
func ExampleValidate() {
	fmt.Println(variant.Validate([]byte{2, 0, 0, 0, 5, 0, 0, 0}))
	fmt.Println(variant.Validate([]byte("hello, world")))
	// Output:
	// <nil>
	// gdwire: offset 0, $: unknown godot4 type id 104; the input is text: for JSON, see package gdjson
}

// Validate accepts what Unmarshal accepts into an any: NodePaths whose names can be found again in
// their text.
func TestValidateNodePaths(t *testing.T) {
	long := strings.Repeat("n", 50)
	names := func(absolute bool, names []string, subnames ...string) func(e *gdwire.Encoder) error {
		return func(e *gdwire.Encoder) error {
			err := e.BeginNodePath(len(names), len(subnames), absolute)
			for _, name := range append(names, subnames...) {
				err = errors.Join(err, e.WriteString(name))
			}
			return errors.Join(err, e.End())
		}
	}
	for _, c := range []struct {
		name  string
		write func(e *gdwire.Encoder) error
		bad   string // the name that is refused
		at    int64  // its offset, with MaxChunk 64 and more
	}{
		{"names", names(true, []string{"root", "Player"}, "position", "x"), "", 0},
		{"no names", names(false, nil), "", 0},
		{"only the root", names(true, nil), "", 0},
		{"slash", names(true, []string{"root", "a/b"}), "a/b", 24},
		{"colon", names(true, []string{"a:b"}), "a:b", 16},
		{"slash in a single name", names(false, []string{"a/b"}), "a/b", 16},
		{"slash in a sub-name", names(false, []string{"a"}, "b/c"), "", 0},
		{"colon in a sub-name", names(false, []string{"a"}, "b", "c:"), "c:", 32},
		{"empty name", names(false, []string{"a", ""}), "", 24},
		{"empty sub-name", names(false, nil, ""), "", 16},
		{"long names", names(false, []string{long, long}, long), "", 0},
		{"slash in a long name", names(true, []string{long + "/" + long}), long + "/" + long[:13], 16},
	} {
		for _, f := range gdwire.Formats() {
			for _, maxChunk := range []int{0, 16} {
				e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{Format: f})
				e.ResetBytes(nil)
				require.NoError(t, e.BeginArray(3))
				require.NoError(t, e.WriteString("before"))
				require.NoError(t, c.write(e), c.name)
				require.NoError(t, variant.MarshalEncode(e, []byte{1, 2, 3}))
				require.NoError(t, e.End())
				o := variant.Options{Decoder: gdwire.DecoderOptions{Format: f, MaxChunk: maxChunk}}
				got, want := variant.Validate(e.Bytes(), o), variant.Unmarshal(e.Bytes(), new(any), o)
				if c.at == 0 {
					require.NoError(t, got, c.name)
					require.NoError(t, want, c.name)
					continue
				}
				var wantAt, gotAt *gdwire.Error
				require.ErrorAs(t, want, &wantAt, c.name)
				require.ErrorAs(t, got, &gotAt, c.name)
				require.Equal(t, wantAt.Offset, gotAt.Offset, c.name)
				require.Equal(t, wantAt.Path, gotAt.Path, c.name)
				require.ErrorIs(t, got, gdwire.ErrRange)
				require.ErrorContains(t, got, fmt.Sprintf("name %q", c.bad))
				if maxChunk == 0 {
					require.Equal(t, 24+c.at, gotAt.Offset, c.name)
				}
			}
		}
	}
}

// A NodePath in one string, which older formats have, contains its separators.
func TestNodePathInOneString(t *testing.T) {
	for _, f := range []gdwire.Format{gdwire.Godot2, gdwire.Manual4, gdwire.Manual3, gdwire.Manual30} {
		o := variant.Options{Decoder: gdwire.DecoderOptions{Format: f}, Encoder: gdwire.EncoderOptions{Format: f}}
		header := gdwiretest.Encode(t, variant.NodePath(""), o)
		b := append(header[:4:4], 5, 0, 0, 0, 'a', '/', 'b', ':', 'c', 0, 0, 0)
		for _, maxChunk := range []int{0, 16} {
			o.Decoder.MaxChunk = maxChunk
			for _, v := range []any{new(any), new(variant.NodePath), new(string)} {
				require.NoError(t, variant.Unmarshal(b, v, o))
				require.EqualValues(t, "a/b:c", fmt.Sprint(reflect.ValueOf(v).Elem()))
			}
			require.NoError(t, variant.Validate(b, o))
		}
	}
}

// requireNoAllocs expects that calls of f allocate nothing, without the race detector: with
// it, pools drop some of what they are given.
func requireNoAllocs(t *testing.T, f func()) {
	t.Helper()
	if !testenv.Race {
		require.Zero(t, testing.AllocsPerRun(100, f))
	}
}

// The first fault is reported, also after a NodePath. Nothing is allocated.
func TestValidateAfterNodePath(t *testing.T) {
	good := gdwiretest.Encode(t, []any{variant.NodePath("/root/Player:position"), []float32{1, 2}, []string{"a"}})
	require.NoError(t, variant.Validate(good))
	require.ErrorIs(t, variant.Validate(good[:len(good)-1]), io.ErrUnexpectedEOF)
	require.EqualError(t, variant.Validate(append(good, 0)), "gdwire: offset 88, $: 1 bytes after the value")
	requireNoAllocs(t, func() { _ = variant.Validate(good) })
	bad := bytes.Replace(good, []byte("Player"), []byte("Pla/er"), 1)
	require.ErrorIs(t, variant.Validate(bad), gdwire.ErrRange)
	require.ErrorIs(t, variant.Validate(bad[:len(bad)-1]), gdwire.ErrRange)
	require.NoError(t, variant.Validate(gdwiretest.Encode(t, "no NodePath")))
}

// TestVariantLargestCounts decodes values that declare up to 2^32-1 elements, which an int of 32 bits
// cannot hold, and end early. No limit applies.
func TestVariantLargestCounts(t *testing.T) {
	none := gdwire.DecoderOptions{Limits: gdwire.NoLimits}
	for typ := range gdwire.TypePackedVector4Array {
		for _, n := range []uint32{math.MaxInt32, math.MaxInt32 + 2, math.MaxUint32} {
			b := binary.LittleEndian.AppendUint32(nil, uint32(typ))
			b = append(binary.LittleEndian.AppendUint32(b, n), make([]byte, 4096)...)
			for _, v := range []any{
				new(any), new(variant.Raw), new(string), new([]byte), &[]int8{1}, new([]int16), &[]int64{1},
				new([][3]float32), &[]string{"a"}, &[]variant.StringName{"a"}, &[]any{1}, new(map[int8]any),
			} {
				// A Reader, because the Decoder compares counts with the length of bytes.
				d := gdwire.NewDecoder(struct{ io.Reader }{bytes.NewReader(b)}, &none)
				err := variant.UnmarshalDecode(d, v, variant.Options{MaxMemory: -1})
				d.Release()
				assert.NotErrorIs(t, err, gdwire.ErrCount, fmt.Sprintf("%v of %d into %T", typ, n, v))
			}
		}
	}
}
