package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The texts of errors about input.
func TestReadErrors(t *testing.T) {
	player := func(last ...any) []byte {
		return wire(idDict, 1, str("player"), idDict, 1, str("inventory"), idArray, 4, idNil, idNil, idNil, wire(last...))
	}
	at := len(player())
	strict := func(o *DecoderOptions) { o.Strict = true }
	format := func(f *Format) func(o *DecoderOptions) { return func(o *DecoderOptions) { o.Format = f } }
	for _, c := range []struct {
		packet []byte
		is     error
		text   string
		change func(o *DecoderOptions)
	}{
		{player(idString, uint32(math.MaxUint32)), ErrLimit,
			`gdwire: offset %d, $.player.inventory[3]: string of 4294967295 bytes exceeds limit StringBytes (16777216)`, nil},
		{player(idArray, 1<<21), ErrLimit,
			`gdwire: offset %d, $.player.inventory[3]: container of 2097152 elements exceeds limit Elements (1048576)`, nil},
		{player(idBytes, 1<<29), ErrLimit,
			`gdwire: offset %d, $.player.inventory[3]: packed data of 536870912 bytes exceeds limit PackedBytes (268435456)`, nil},
		{player(idSignal, 2000), ErrLimit,
			`gdwire: offset %d, $.player.inventory[3]: name of 2000 bytes exceeds limit NameBytes (1024)`, nil},
		{player(idArray, 50), ErrLimit,
			`gdwire: offset %d, $.player.inventory[3]: container that adds up to 59 values exceeds limit Values (20)`,
			func(o *DecoderOptions) { o.Limits.Values = 20 }},
		{player(idBytes, 50), ErrLimit,
			`gdwire: offset %d, $.player.inventory[3]: value of at least 130 bytes exceeds limit Bytes (100)`,
			func(o *DecoderOptions) { o.Limits.Bytes = 100 }},
		{wire(99), ErrType, "gdwire: offset 0, $: unknown godot4 type id 99", nil},
		{wire(30), ErrType, "gdwire: offset 0, $: unknown godot3 type id 30", format(Godot3)},
		{wire(2 | bit16), ErrFlags, "gdwire: offset 0, $: header has flags: 0x10002, godot2 has none", format(Godot2)},
		{wire(idPath, 5), ErrType, "gdwire: offset 4, $: NodePath in one string, which godot4 does not have", nil},
		{wire(idObject, "Node", 0), ErrObject, "gdwire: offset 0, $: serialized objects are not allowed", nil},
		{str("a\xff"), ErrUTF8, "gdwire: offset 9, $: invalid UTF-8", nil},
		{str("\uFFFD\xff"), ErrUTF8, "gdwire: offset 11, $: invalid UTF-8", nil},
		{wire(idArray|typedBy, 77, 0), ErrType, "gdwire: offset 4, $: elements of unknown godot4 type id 77", nil},
		{wire(19, 1, 0, 5), ErrRange, "gdwire: offset 12, $: InputEvent of type 1 needs more than 5 bytes", format(Godot2)},
		{wire(idBool, 2), ErrStrict, "gdwire: offset 0, $: not canonical: bool of 2", strict},
		{wire(idStrings, 2, "a\x00", "bc"), ErrStrict, "gdwire: offset 22, $[1]: not canonical: packed string without a NUL", strict},
		{wire(idInt), io.ErrUnexpectedEOF, "gdwire: offset 4, $: unexpected EOF", nil},
	} {
		o := &DecoderOptions{}
		if c.change != nil {
			c.change(o)
		}
		d := NewDecoder(plain(c.packet), o)
		err := readAll(d)
		want := c.text
		if bytes.Contains([]byte(want), []byte("%d")) {
			want = fmt.Sprintf(want, at+4)
		}
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, c.is)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, e.Err, errors.Unwrap(err))
		for _, other := range []error{ErrLimit, ErrType, ErrFlags, ErrObject, ErrUTF8, ErrRange, ErrStrict, ErrCount, ErrKey, ErrOpen, ErrReleased} {
			if other != c.is {
				require.NotErrorIs(t, err, other)
			}
		}
		d.Release()
	}
}

// The texts of errors about calls.
func TestWriteErrors(t *testing.T) {
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
	fails := func(err error, text string) {
		t.Helper()
		require.EqualError(t, err, text)
		require.Equal(t, err, e.Recover())
	}
	fails(e.End(), "gdwire: offset 0, $: End without a matching Begin")
	require.NoError(t, e.BeginDict(1))
	require.NoError(t, e.WriteString("k"))
	fails(e.End(), "gdwire: offset 20, $.value(0): End after a key without a value")
	fails(e.Close(), "gdwire: offset 20, $.value(0): DictStart without its End")
	require.NoError(t, e.BeginArray(1))
	fails(e.WriteString("\xff"), "gdwire: offset 28, $.value(0)[0]: invalid UTF-8")
	fails(e.BeginPacked(TypeImage, 0), "gdwire: offset 28, $.value(0)[0]: godot4 has no Image")
	fails(e.End(), "gdwire: offset 28, $.value(0)[0]: End after 0 of the declared 1")
	require.NoError(t, e.BeginTypedArray(1, Elem{Type: TypeInt}))
	fails(e.WriteNil(), "gdwire: offset 40, $.value(0)[0][0]: Nil in a container of int")
	require.NoError(t, e.WriteInt(7))
	fails(e.WriteInt(8), "gdwire: offset 48, $.value(0)[0]: int after the declared 1 elements")

	e.Reset(io.Discard)
	require.NoError(t, e.BeginString(TypeString, 3))
	require.NoError(t, write("a")(e))
	fails(write("bcd")(e), "gdwire: offset 9, $: 3 bytes after 1 of the declared 3")
	require.NoError(t, write("bc")(e))
	fails(write("d")(e), "gdwire: offset 11, $: 1 bytes after the declared 3 × 1")

	e.Reset(io.Discard)
	require.NoError(t, e.BeginPacked(TypePackedFloat32Array, 2))
	require.NoError(t, WritePacked(e, []float32{1}))
	fails(write("12345")(e), "gdwire: offset 12, $: 5 bytes after 1 of the declared 2 elements")
	fails(WritePacked(e, []float32{2, 3}), "gdwire: offset 12, $: 2 elements after 1 of the declared 2")
	fails(e.WriteToken(elements(TypePackedFloat32Array, unitFloat32, 2, make([]byte, 8))), "gdwire: offset 12, $: 2 elements after 1 of the declared 2")
	require.NoError(t, WritePacked(e, []float32{2}))
	fails(write("1")(e), "gdwire: offset 16, $: 1 bytes after the declared 2 × 4")
}
