package gdwire

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An error inside a NodePath stays for all calls.
func TestInvalidNodePath(t *testing.T) {
	d := newDecoder(t, plain(bytesOf(idPath, newPath(2), 0, 0, "ok", "\xff")), nil)
	readTo(t, d, 1)
	got, err := d.AppendString(nil)
	requireError(t, err, 28, "$[1]", ErrUTF8)
	require.Equal(t, "ok", string(got))
	_, again := d.AppendString(nil)
	require.Equal(t, err, again)
	_, again = d.ReadToken()
	require.Equal(t, err, again)
}

// The two counts of a NodePath can overflow their sum: engines add them in 32
// bits, the manuals do not say.
func TestNodePathCountOverflow(t *testing.T) {
	packet := bytesOf(15, newPath(1<<31-1), uint32(math.MaxUint32), 0)
	d := newDecoder(t, plain(packet), &DecoderOptions{Format: Manual4, Limits: NoLimits})
	requireError(t, readAll(d), 4, "$", ErrRange)

	d.Reset(plain(bytesOf(15, newPath(1<<31-1), uint32(1<<31), 0)))
	require.Equal(t, int64(math.MaxUint32), readTo(t, d, 1).Len(), "just counted")
}

func TestNodePathErrors(t *testing.T) {
	huge := bytesOf(idPath, newPath(1<<31-1), uint32(math.MaxUint32), 0)
	godot3 := bytesOf(15, newPath(1<<31-1), uint32(math.MaxUint32), 0)
	testInputErrors(t, []inputError{
		{name: "one string in Godot 4", packet: bytesOf(idPath, 5), is: ErrType,
			text: "offset 4, $: NodePath in one string, which godot4 does not have"},
		{name: "one string", packet: bytesOf(16, "a"), options: DecoderOptions{Format: Godot2, Strict: true}, is: ErrStrict,
			text: "offset 4, $: not canonical: NodePath as one string"},
		{name: "sum of the counts in an engine", packet: huge, options: DecoderOptions{Strict: true}, is: ErrStrict,
			text: "offset 4, $: not canonical: NodePath of 6442450942 names"},
		{name: "sum of the counts", packet: godot3, options: DecoderOptions{Format: Manual4, Limits: NoLimits}, is: ErrRange,
			text: "offset 4, $: NodePath of 6442450942 names"},
	})
}

func TestContainerErrors(t *testing.T) {
	strict := DecoderOptions{Strict: true, AllowObjects: true}
	testInputErrors(t, []inputError{
		{name: "unknown type of elements", packet: bytesOf(idArray|typedBy, 77, 0), is: ErrType,
			text: "offset 4, $: elements of unknown godot4 type id 77"},
		{name: "no padding", packet: bytesOf(idString, 5, []byte("hello")), is: io.ErrUnexpectedEOF,
			text: "offset 13, $: String of 5 bytes: 3 of 3 bytes of padding are missing"},
		{name: "cut padding", packet: bytesOf(idArray, 1, idString, 5, []byte("hello\x00")), is: io.ErrUnexpectedEOF,
			text: "offset 22, $[0]: String of 5 bytes: 2 of 3 bytes of padding are missing"},
		{name: "shared bit", packet: bytesOf(idArray, shared(1), idNil), options: strict, is: ErrStrict,
			text: "offset 4, $: not canonical: shared bit of a count"},
		{name: "type id 0", packet: bytesOf(idArray|typedBy, 0, 0), options: strict, is: ErrStrict,
			text: "offset 4, $: not canonical: elements of type id 0"},
		{name: "no name of a class", packet: bytesOf(idArray|typedBy*2, "", 0), options: strict, is: ErrStrict,
			text: "offset 4, $: not canonical: elements of a class without a name"},
		{name: "no class", packet: bytesOf(idObject, ""), options: strict, is: ErrStrict,
			text: "offset 0, $: not canonical: object without a class"},
		{name: "negative count", packet: bytesOf(idObject, "A", shared(0)), options: strict, is: ErrStrict,
			text: "offset 12, $: not canonical: negative count"},
	})
}

// Names of classes and scripts are returned as strings, which allocates.
func TestNamesAllocate(t *testing.T) {
	packet := bytesOf(idArray|typedBy*2, "Node", 1, idObject, "Sprite2D", 1, "name", idSignal, "pressed", uint64(1))
	d := newDecoder(t, nil, &DecoderOptions{AllowObjects: true})
	for _, reset := range readers(packet) {
		requireNoAllocs(t, func() {
			reset(d)
			for range 7 {
				_, err := d.ReadToken()
				check(err)
			}
		})
	}
	reset := readers(packet)["ResetBytes"]
	require.EqualValues(t, 1, testing.AllocsPerRun(20, func() {
		reset(d)
		tok, _ := d.ReadToken()
		tok.Elem()
	}))
	builtin := bytesOf(idDict|typedBy|valuesBy, idInt, idString, 0)
	requireNoAllocs(t, func() {
		d.ResetBytes(builtin)
		tok, _ := d.ReadToken()
		if tok.Elem() != (Elem{Type: TypeString}) || tok.KeyElem() != (Elem{Type: TypeInt}) {
			panic("wrong types")
		}
	})
}

// A chunk that fills the read buffer is returned at once. A partial element waits
// for its remaining bytes only.
func TestChunksArriveWithTheirBytes(t *testing.T) {
	o := &DecoderOptions{MaxChunk: 16}
	text := strings.Repeat("0123456789abcdef", 3)
	r, give := pipe(t)
	d := newDecoder(t, r, o)
	give(bytesOf(idString, len(text), []byte(text[:16])))
	require.Equal(t, text[:16], readTo(t, d, 1).Text())
	give([]byte(text[16:32]))
	require.Equal(t, text[16:32], readTo(t, d, 1).Text())
	give([]byte(text[32:]))
	require.Equal(t, text[32:], readTo(t, d, 1).Text())

	give(bytesOf(idVectors3, 3))
	require.Equal(t, KindPackedStart, readTo(t, d, 1).Kind())
	for range 3 {
		give(reals(3))
		require.Equal(t, reals(3), readTo(t, d, 1).Bytes())
	}
	require.Equal(t, KindEnd, readTo(t, d, 1).Kind())
}
