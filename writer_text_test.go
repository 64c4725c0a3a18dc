package gdwire

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/wire"
)

// Text can be written in any pieces.
func TestTextInPieces(t *testing.T) {
	const text = longText + "\uFFFD, which is no error"
	for size := range 20 {
		for _, n := range []int64{int64(len(text)), Unknown} {
			got := encoded(t, nil, func(e *Encoder) {
				require.NoError(t, e.BeginString(TypeString, n))
				written, err := io.CopyBuffer(e, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, size+1))
				require.NoError(t, err)
				require.EqualValues(t, len(text), written)
				require.NoError(t, e.End())
			})
			require.Equal(t, str(text), got)
		}
	}
}

// Invalid text that two Writes split in any way is found as early as possible.
func TestInvalidTextInPieces(t *testing.T) {
	for _, bad := range []string{"\xff", "\x80", "\xc0\x80", "\xe2\x28\xa1", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xf0\x9f\x98"} {
		text := "é" + bad + "xy"
		for i := range len(text) + 1 {
			for j := i; j <= len(text); j++ {
				e := NewEncoder(io.Discard, nil)
				require.NoError(t, e.BeginString(TypeString, Unknown))
				var err error
				for _, p := range []string{text[:i], text[i:j], text[j:]} {
					if err == nil {
						_, err = e.Write([]byte(p))
					}
				}
				if err == nil {
					err = e.End()
				}
				require.ErrorIs(t, err, ErrUTF8, "%q split at %d and %d", text, i, j)
				e.Release()
			}
		}
	}
}

// One invalid byte is found at every position.
func TestInvalidTextAtEveryByte(t *testing.T) {
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
	for n := range 40 {
		for i := range n {
			text := []byte(strings.Repeat("x", n))
			text[i] = 0x80
			require.ErrorIs(t, e.WriteString(string(text)), ErrUTF8, "%q", text)
			require.ErrorIs(t, e.WriteToken(chunkOf(TypeString, n, string(text), true)), ErrUTF8, "%q", text)
			require.ErrorIs(t, e.WriteRaw(str(string(text))), ErrUTF8, "%q", text)
		}
	}
}

// Texts of every size have the same encoding as values, as names, and as packed strings.
func TestTextOfEverySize(t *testing.T) {
	for size := range 40 {
		text := strings.Repeat("0123456789", 4)[:size]
		for nul := range 2 {
			content := text + strings.Repeat("\x00", nul)
			content = string(le.AppendUint32(nil, uint32(len(content)))) + content + string(wire.Zeros(wire.Padding(uint32(len(content)))))
			head := []uint32{22, 2 | 1<<31, 0, 0}
			if nul == 1 {
				head = []uint32{34, 2}
			}
			var want []byte
			for _, x := range head {
				want = le.AppendUint32(want, x)
			}
			want = append(want, content+content...)
			want = append(append([]byte{28, 0, 0, 0, 3, 0, 0, 0}, want...), want...)
			want = append(want, str(text)...)
			got := encoded(t, nil, func(e *Encoder) {
				require.NoError(t, e.BeginArray(3))
				for range 2 {
					if nul == 0 {
						require.NoError(t, e.BeginNodePath(2, 0, false))
					} else {
						require.NoError(t, e.BeginPacked(TypePackedStringArray, 2))
					}
					require.NoError(t, e.WriteString(text))
					require.NoError(t, e.WriteString(text))
					require.NoError(t, e.End())
				}
				require.NoError(t, e.WriteString(text))
				require.NoError(t, e.End())
			})
			require.Equal(t, want, got, "%q", text)
		}
	}
}

func TestTextCallErrors(t *testing.T) {
	testCallErrors(t, []callError{
		{name: "no string", call: text(TypeInt, 1), is: ErrType, text: "offset 0, $: int is not a string type"},
	})
	if strconv.IntSize == 32 || raceEnabled {
		t.Skip("skipped: needs 64 bits, and the race detector checks the pointer")
	}
	var b byte
	long := unsafe.String(&b, 1<<31-1) // its bytes are never read
	testCallErrors(t, []callError{
		{name: "long String", call: func(e *Encoder) error { return e.WriteString(long) }, is: ErrRange, text: "offset 0, $: string of 2147483647 bytes is too long"},
		{name: "long name", call: func(e *Encoder) error { return e.WriteSignal(long, 0) }, is: ErrRange, text: "offset 0, $: name of 2147483647 bytes is too long"},
		{name: "long class of elements", call: typedArray(0, Elem{Class: long}), is: ErrRange, text: "offset 0, $: name of 2147483647 bytes is too long"},
	})
}

// A String of 2 GiB or more is ErrRange on the fast path, too. Untouched memory costs nothing.
func TestLongStringInContainer(t *testing.T) {
	if strconv.IntSize == 32 || raceEnabled {
		t.Skip("skipped: needs 64 bits, and the race detector's memory")
	}
	sizes := []int64{maxText + 1, maxText + 2, 1<<32 + 20}
	huge := sparse(t, sizes[2])
	e := new(Encoder)
	defer e.Release()
	e.ResetBytes(huge[:0])
	require.NoError(t, e.BeginArray(1))
	for _, size := range sizes {
		err := e.WriteString(unsafe.String(&huge[0], size))
		requireText(t, err, ErrRange, fmt.Sprintf("offset 8, $[0]: string of %d bytes is too long", size))
		require.Error(t, e.ClearError())
	}
}
