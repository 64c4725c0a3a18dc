package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// A chunk that fills the read buffer is returned at once. A partial element waits
// for its remaining bytes only.
func TestChunksArriveWithTheirBytes(t *testing.T) {
	o := &DecoderOptions{MaxChunk: 16}
	text := strings.Repeat("0123456789abcdef", 3)
	r, give := pipe(t)
	d := NewDecoder(r, o)
	defer d.Release()
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

func TestStringThatFitsIsOneChunk(t *testing.T) {
	for _, size := range []int{16, 17, 50, 1000, DefaultMaxChunk} {
		for _, n := range []int{0, 1, size - 1, size, size + 1, 2 * size, 2*size + 1} {
			text := strings.Repeat("x", n)
			for name, packet := range map[string][]byte{
				"String":            str(text),
				"PackedStringArray": bytesOf(idStrings, 1, text+"\x00"),
				"NodePath":          bytesOf(idPath, newPath(1), 0, 0, text),
			} {
				t.Run(fmt.Sprintf("%s of %d bytes, buffer of %d", name, n, size), func(t *testing.T) {
					d := NewDecoder(iotest.OneByteReader(bytes.NewReader(packet)), &DecoderOptions{MaxChunk: size})
					if name != "String" {
						readTo(t, d, 1)
					}
					var chunks []int
					for last := false; !last; {
						tok := readTo(t, d, 1)
						require.Equal(t, KindStringChunk, tok.Kind())
						last = tok.Last()
						chunks = append(chunks, len(tok.Bytes()))
						if n <= size {
							require.EqualValues(t, n, tok.Len())
						}
					}
					want := []int{n}
					switch {
					case n == 2*size+1:
						want = []int{size, size, 1}
					case n > size:
						want = []int{size, n - size}
					}
					require.Equal(t, want, chunks, "%s of %d in a window of %d", name, n, size)
					d.Release()
				})
			}
		}
	}
}

// Runes of two, three and four bytes cross every possible chunk border.
func TestChunksNeverSplitARune(t *testing.T) {
	const size = 16
	for _, r := range []string{"é", "€", "😀"} {
		for lead := range 2 * size {
			text := strings.Repeat("x", lead) + strings.Repeat(r, 12)
			for _, packet := range [][]byte{str(text), bytesOf(idStrings, 1, text+"\x00"), bytesOf(idPath, newPath(0), 1, 0, text)} {
				d := NewDecoder(plain(packet), &DecoderOptions{MaxChunk: size})
				var got []byte
				for tok, err := range d.Tokens() {
					require.NoError(t, err)
					if tok.Kind() != KindStringChunk {
						continue
					}
					require.True(t, utf8.Valid(tok.Bytes()), "%q", tok.Bytes())
					if !tok.Last() {
						require.Greater(t, len(tok.Bytes()), size-utf8.UTFMax, "chunks are as long as the window lets them")
					}
					got = append(got, tok.Bytes()...)
				}
				require.Equal(t, text, string(got))
				d.Release()
			}
		}
	}
}

// Invalid UTF-8 is reported at its byte wherever chunks end. With AllowInvalidUTF8 chunks
// may end anywhere.
func TestInvalidTextAtEveryBorder(t *testing.T) {
	for _, bad := range []string{"\xff", "\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80"} {
		for lead := range 40 {
			text := strings.Repeat("x", lead) + bad + strings.Repeat("y", 10)
			for _, size := range []int{16, 64} {
				d := NewDecoder(plain(str(text)), &DecoderOptions{MaxChunk: size})
				var err error
				for err == nil {
					_, err = d.ReadToken()
				}
				requireError(t, err, 8+lead, "$", ErrUTF8)
				d.Release()

				d = NewDecoder(plain(str(text)), &DecoderOptions{MaxChunk: size, AllowInvalidUTF8: true})
				readTo(t, d, 1)
				got, err := d.AppendString(nil)
				require.NoError(t, err)
				require.Equal(t, text, string(got))
				d.Release()
			}
		}
	}
}

// An invalid byte is found at every position of a short text.
func TestInvalidShortText(t *testing.T) {
	for where, p := range shortTexts {
		for n := 1; n <= 12; n++ {
			for bad := range n {
				for _, c := range []byte{'a', 0} {
					text := bytes.Repeat([]byte{c}, n)
					text[bad] = 0xFF
					packet := append(bytes.Clone(p.head), bytesOf(string(text)+p.nul, make([]byte, 32))...)
					d := NewDecoder(nil, nil)
					eachReader(d, packet, func(name string) {
						readTo(t, d, p.before)
						_, err := d.ReadToken()
						require.ErrorIs(t, err, ErrUTF8, "%s, %q, %s", where, text, name)
						var e *Error
						require.ErrorAs(t, err, &e)
						require.EqualValues(t, len(p.head)+4+bad, e.Offset)
					})
					eachReader(d, packet, func(name string) {
						readTo(t, d, p.before)
						require.ErrorIs(t, d.SkipTo(0), ErrUTF8, "%s, %q, %s", where, text, name)
					})
					d.Release()
				}
			}
		}
	}
}

// A NUL inside a packed string is text, also at the end of a chunk.
func TestNULsAtTheEndOfChunks(t *testing.T) {
	for at := range 40 {
		text := []byte(strings.Repeat("x", 40))
		text[at] = 0
		d := NewDecoder(plain(bytesOf(idStrings, 1, string(text)+"\x00")), &DecoderOptions{MaxChunk: 16})
		readTo(t, d, 1)
		var got []byte
		for last := false; !last; {
			tok := readTo(t, d, 1)
			got, last = append(got, tok.Bytes()...), tok.Last()
		}
		require.Equal(t, text, got)
		require.Equal(t, KindEnd, readTo(t, d, 1).Kind())
		d.Release()
	}
}

// Truncated text with invalid UTF-8 is the same error for every size of the read
// buffer.
func TestTruncatedInvalidText(t *testing.T) {
	i := 0
	for where, p := range shortTexts {
		for n := 14; n < 22; n++ {
			for bad := range n + 1 { // n: all are valid
				for _, c := range []byte{0, 0xFF} {
					text := []byte(strings.Repeat("x", n))
					if bad < n {
						text[bad] = c
					}
					packet := append(bytes.Clone(p.head), bytesOf(string(text)+p.nul)...)
					for cut := len(p.head) + 4; cut <= len(packet); cut++ {
						if i++; i%stride() > 0 {
							continue
						}
						for _, o := range []DecoderOptions{{}, {Strict: true}, {AllowInvalidUTF8: true}} {
							for _, o.MaxChunk = range []int{16, 64} {
								d := NewDecoder(plain(packet[:cut]), &o)
								err := readAll(d)
								at, want := cut, io.ErrUnexpectedEOF
								switch fault := len(p.head) + 4 + bad; {
								case cut <= fault || bad == n:
								case c == 0 && o.Strict:
									at, want = fault, ErrStrict
								case c != 0 && !o.AllowInvalidUTF8:
									at, want = fault, ErrUTF8
								}
								var e *Error
								require.ErrorAs(t, err, &e)
								require.ErrorIs(t, err, want, "%s, %q, cut at %d, %v", where, text, cut, o)
								require.EqualValues(t, at, e.Offset, "%s, %q, cut at %d, %v", where, text, cut, o)
								d.Release()
							}
						}
					}
				}
			}
		}
	}
}

func TestOffsetsOfInvalidText(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string
		offset int
	}{
		{"second byte", "a\xff", 9},
		{"after a replacement character", "\uFFFD\xff", 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := NewDecoder(plain(str(c.text)), nil)
			defer d.Release()
			requireError(t, readAll(d), c.offset, "$", ErrUTF8)
		})
	}
}
