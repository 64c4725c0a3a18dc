package variant_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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
