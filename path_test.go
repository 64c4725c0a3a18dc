package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
)

func TestPaths(t *testing.T) {
	d := newDecoder(t, plain(document), &DecoderOptions{AllowObjects: true})
	require.Equal(t, "$", string(d.AppendPath(nil)), "before any token")
	var got []string
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		got = append(got, fmt.Sprintf("%v %s", tok.Kind(), d.AppendPath(nil)))
		// WrapError returns the same path.
		var e *Error
		require.ErrorAs(t, d.WrapError(io.ErrNoProgress), &e)
		require.Equal(t, string(d.AppendPath(nil)), e.Path)
	}
	require.Equal(t, documentPaths, got)
	require.Equal(t, "prefix$", string(d.AppendPath([]byte("prefix"))))
}

// A later value of a file has its number in the path, which is cut after as many bytes as any other, at a
// whole character.
func TestLongPathsOfLaterValues(t *testing.T) {
	for _, letter := range []string{"a", "é", "語"} {
		for size := range 40 { // of the innermost key, so that the path ends at each place around the limit
			packet, keys := []byte(nil), 0
			for ; keys < 7; keys++ {
				packet = append(packet, bytesOf(idDict, 1, str(strings.Repeat("k", 24)))...)
			}
			packet = append(packet, bytesOf(idDict, 1, str("k"+strings.Repeat(letter, size)), integer(7))...)
			path := func(value int64) string {
				d := NewDecoder(plain(packet), nil)
				defer d.Release()
				d.place(0, value)
				readTo(t, d, 3*keys+4)
				require.Equal(t, "prefix"+string(d.AppendPath(nil)), string(d.AppendPath([]byte("prefix"))))
				var e *Error
				require.ErrorAs(t, d.WrapError(io.ErrNoProgress), &e)
				require.Equal(t, string(d.AppendPath(nil)), e.Path)
				return e.Path
			}
			first := path(0)
			for _, value := range []int64{1, 23, 1<<63 - 1} {
				want := []byte(fmt.Sprint("$", value, first[1:]))
				if len(want) > maxPath {
					want = want[:wire.WholeRunes(want, maxPath)]
				}
				require.Equal(t, string(want), path(value))
			}
		}
	}
}

func TestLongPathsAreCut(t *testing.T) {
	const depth = 500
	d := newDecoder(t, plain(append(bytes.Repeat(bytesOf(idArray, 1), depth), bytesOf(idNil)...)), nil)
	readTo(t, d, depth+1)
	require.Equal(t, "$"+strings.Repeat("[0]", depth)[:maxPath-1], string(d.AppendPath(nil)))
	require.Len(t, d.AppendPath([]byte("prefix")), len("prefix")+maxPath)
	dst := make([]byte, 1, 2*maxPath)
	require.Same(t, &dst[0], &d.AppendPath(dst)[0], "dst has room")

	// A key that 32 bytes would cut inside a rune is cut before it.
	key := strings.Repeat("x", 31) + "€"
	d.Reset(plain(bytesOf(idDict, 1, str(key), idNil)))
	readTo(t, d, 4)
	require.Equal(t, `$["`+key[:31]+`…"]`, string(d.AppendPath(nil)))

	key = strings.Repeat("x", 29) + "€"
	d.Reset(plain(bytesOf(idDict, 1, str(key), idNil)))
	readTo(t, d, 4)
	require.Equal(t, `$["`+key+`"]`, string(d.AppendPath(nil)))

	// A key of 32 bytes is not cut.
	d = NewDecoder(plain(bytesOf(idDict, 1, str(key[:29]+"xx\xc3"), idNil)), &DecoderOptions{AllowInvalidUTF8: true})
	defer d.Release()
	readTo(t, d, 4)
	require.Equal(t, `$["`+key[:29]+`xx\xc3"]`, string(d.AppendPath(nil)))
}

// A path is UTF-8 wherever it is cut.
func TestPathsAreUTF8(t *testing.T) {
	for n := range 20 {
		key := strings.Repeat("x", n) + "éé"
		var b []byte
		for range 20 {
			b = append(b, bytesOf(idDict, 1, str(key))...)
		}
		d := NewDecoder(plain(append(b, bytesOf(99)...)), nil)
		_, err := d.ReadToken()
		for err == nil {
			_, err = d.ReadToken()
		}
		var e *Error
		require.ErrorAs(t, err, &e)
		require.True(t, utf8.ValidString(e.Path), e.Path)
		require.LessOrEqual(t, len(e.Path), maxPath)
		d.Release()
	}
}
