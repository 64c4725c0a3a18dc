package gdwire

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// PeekType returns the type that typed reads find, also of keys, or their error, and consumes
// nothing.
func TestPeekType(t *testing.T) {
	for _, c := range []struct {
		name   string
		packet []byte
		tokens int // read before
		want   Type
		err    error
	}{
		{"top level", bytesOf(idVector2|bit16, 1.0, 1.0), 0, TypeVector2, nil},
		{"element", bytesOf(idArray, 1, integer(1)), 1, TypeInt, nil},
		{"DictKey", bytesOf(idDict, 1, str("a"), idNil), 1, TypeString, nil},
		{"key", bytesOf(idDict, 1, str("a"), idNil), 2, TypeString, nil},
		{"value", bytesOf(idDict, 1, str("a"), idNil), 3, TypeNil, nil},
		{"property", bytesOf(idObject, "Node", 1, "name", idNil), 1, 0, ErrType},
		{"value of a property", bytesOf(idObject, "Node", 1, "name", idNil), 2, TypeNil, nil},
		{"packed string", bytesOf(idStrings, 1, "n\x00"), 1, TypeString, nil},
		{"name", bytesOf(idPath, newPath(1), 0, 0, "n"), 1, TypeString, nil},
		{"packed data", bytesOf(idFloats, 1, reals(1)), 1, 0, ErrType},
		{"inside a String", str(longText), 1, 0, ErrType},
		{"End", bytesOf(idArray, 0), 1, 0, ErrCount},
		{"unknown id", bytesOf(idArray, 1, 99), 1, 0, ErrType},
		{"end of the input", nil, 0, 0, io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, memory := range []bool{false, true} {
				d := NewDecoder(&slowReader{c.packet}, &DecoderOptions{AllowObjects: true, MaxChunk: 16})
				defer d.Release()
				if memory && len(c.packet) > 0 { // with enough bytes for the fast path
					d.ResetBytes(append(c.packet[:len(c.packet):len(c.packet)], make([]byte, fastSize)...))
				}
				readTo(t, d, c.tokens)
				offset, kind := d.InputOffset(), d.PeekKind()
				typ, err := d.PeekType()
				require.Equal(t, c.want, typ)
				require.ErrorIs(t, err, c.err)
				require.Equal(t, offset, d.InputOffset())
				if d.Err() == nil {
					require.Equal(t, kind, d.PeekKind())
				}
			}
		})
	}
}
