package gdwire

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// At a Property, as at a DictKey, SkipValue skips the name.
func TestProperties(t *testing.T) {
	packet := wire(idObject, "Node", 1, "name", str("x"))
	o := &DecoderOptions{AllowObjects: true}
	for name, skip := range map[string]func(*Decoder) error{
		"SkipValue": (*Decoder).SkipValue,
		"CopyValue": func(d *Decoder) error {
			e := NewEncoder(io.Discard, nil)
			require.NoError(t, e.BeginObject("Node", 1))
			return CopyValue(e, d)
		},
		"Tokens": func(d *Decoder) error {
			for tok, err := range d.Tokens() {
				require.Equal(t, KindProperty, tok.Kind())
				require.NoError(t, err)
			}
			return nil
		},
	} {
		d := NewDecoder(bytes.NewReader(packet), o)
		_, err := d.ReadToken()
		require.NoError(t, err, name)
		require.NoError(t, skip(d), name)
		require.Equal(t, KindStringChunk, d.PeekKind(), name)
	}
}

// Unknown counts give the bytes of known ones, at any nesting and after anything.
func TestUnknownCounts(t *testing.T) {
	write := func(e *Encoder, n func(known int) int) {
		require.NoError(t, e.BeginArray(n(6)))
		require.NoError(t, e.BeginDict(n(2)))
		require.NoError(t, e.WriteString("key"))
		require.NoError(t, e.BeginString(TypeString, int64(n(len(longText)))))
		_, err := io.Copy(e, strings.NewReader(longText))
		require.NoError(t, err)
		require.NoError(t, e.End())
		require.NoError(t, e.BeginArray(n(0)))
		require.NoError(t, e.End())
		require.NoError(t, e.WriteNil())
		require.NoError(t, e.End())
		require.NoError(t, e.BeginTypedArray(n(2), Elem{Type: TypeInt}))
		require.NoError(t, e.WriteInt(1))
		require.NoError(t, e.WriteInt(2))
		require.NoError(t, e.End())
		require.NoError(t, e.BeginPacked(TypePackedVector3Array, int64(n(2))))
		require.NoError(t, WritePacked(e, [][3]float32{{1, 2, 3}, {4, 5, 6}}))
		require.NoError(t, e.End())
		require.NoError(t, e.BeginPacked(TypePackedByteArray, int64(n(5))))
		require.NoError(t, WritePacked(e, []byte("abcde")))
		require.NoError(t, e.End())
		require.NoError(t, e.BeginPacked(TypePackedStringArray, int64(n(3))))
		require.NoError(t, e.WriteString("a"))
		require.NoError(t, e.BeginString(TypeString, int64(n(3))))
		_, err = e.Write([]byte("abc"))
		require.NoError(t, err)
		require.NoError(t, e.End())
		require.NoError(t, e.BeginString(TypeString, int64(n(0))))
		require.NoError(t, e.End())
		require.NoError(t, e.End())
		require.NoError(t, e.BeginObject("Node", n(1)))
		require.NoError(t, e.WriteProperty("p"))
		require.NoError(t, e.BeginNodePath(1, 1, true))
		require.NoError(t, e.BeginString(TypeString, int64(n(3))))
		_, err = e.Write([]byte("€"))
		require.NoError(t, err)
		require.NoError(t, e.End())
		require.NoError(t, e.WriteString("y"))
		require.NoError(t, e.End())
		require.NoError(t, e.End())
		require.NoError(t, e.End())
	}
	known := func(n int) int { return n }
	unknown := func(int) int { return Unknown }
	want := encoded(t, nil, func(e *Encoder) { write(e, known) })
	for i := range 4 { // at 3 none is known
		calls := 0
		some := func(n int) int {
			if calls++; calls%3 == i {
				return n
			}
			return Unknown
		}
		got := encoded(t, nil, func(e *Encoder) { write(e, some) })
		require.Equal(t, want, got)
	}
	// After and before other values, in the same buffer and flushed in between.
	for _, flush := range []bool{false, true} {
		got := encoded(t, nil, func(e *Encoder) {
			require.NoError(t, e.BeginArray(5))
			for i := range 5 {
				if flush {
					require.NoError(t, e.Flush())
				}
				write(e, [](func(int) int){known, unknown}[i%2])
			}
			require.NoError(t, e.End())
		})
		require.Equal(t, wire(idArray, 5, bytes.Repeat(want, 5)), got)
	}
}

// A container of Unknown count that no engine could read is not written.
func TestUnknownCountsAreLimited(t *testing.T) {
	for _, begin := range []func(e *Encoder) error{
		func(e *Encoder) error { return e.BeginArray(Unknown) },
		func(e *Encoder) error { return e.BeginDict(Unknown) },
		func(e *Encoder) error { return e.BeginString(TypeString, Unknown) },
		func(e *Encoder) error { return e.BeginPacked(TypePackedInt32Array, Unknown) },
	} {
		e := NewEncoder(io.Discard, nil)
		require.NoError(t, begin(e))
		e.left -= (math.MaxInt32 + 1) << e.pairs // as after so many values
		require.ErrorIs(t, e.End(), ErrRange)
		require.ErrorIs(t, e.Recover(), ErrRange)
		e.left += 1 << e.pairs
		require.NoError(t, e.End())
	}
}
