package gdwire

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/valyala/bytebufferpool"

	"github.com/gdwire/gdwire/internal/checked"
)

var bufferSizes = []int{1, 16, 17, 18, 19, 20, 23, 31, 32, 33, 64, 100, 1 << 10, 64 << 10}

func TestBufferSizesAgree(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		for _, strict := range []bool{false, true} {
			read := func(packet []byte, window int) ([]string, error) {
				o := s.options(window)
				o.Strict = strict
				d := NewDecoder(plain(packet), o)
				defer d.Release()
				return joined(d)
			}
			want, fault := read(s.packet, 0)
			if strict && s.name == "old path" {
				require.ErrorIs(t, fault, ErrStrict)
			} else {
				require.Equal(t, io.EOF, fault)
			}
			for _, window := range bufferSizes {
				got, err := read(s.packet, window)
				require.Equal(t, fault, err)
				require.Equal(t, want, got, "window %d", window)
			}
			for end := range len(s.packet) {
				_, want := read(s.packet[:end], 0)
				for _, window := range bufferSizes {
					_, err := read(s.packet[:end], window)
					require.Equal(t, want, err, "%d bytes, window %d", end, window)
				}
			}
		}
	})
}

// Readers that break the contract of io.Reader.
func TestMisbehavingReaders(t *testing.T) {
	long := str(strings.Repeat("x", 100))
	reads := map[string]func(d *Decoder) error{
		"ReadToken": func(d *Decoder) error { _, err := d.ReadToken(); return err },
		"SkipValue": (*Decoder).SkipValue,
		"PeekKind": func(d *Decoder) error {
			if d.PeekKind() != 0 {
				return nil
			}
			_, err := d.ReadToken()
			return err
		},
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			calls := 0
			d := NewDecoder(readerFunc(func([]byte) (int, error) { calls++; return 0, nil }), nil)
			require.Equal(t, io.ErrNoProgress, read(d))
			require.Less(t, calls, 1000)

			for _, n := range []int{-1, 1 << 30} {
				d.Reset(readerFunc(func(p []byte) (int, error) { return n, nil }))
				require.Equal(t, checked.ErrRead, read(d))
			}

			// An error returned with bytes is delivered after them.
			due := errors.New("due")
			d.Reset(iotest.DataErrReader(io.MultiReader(plain(long), iotest.ErrReader(due))))
			require.NoError(t, d.SkipValue())
			require.Equal(t, due, read(d))
			d.Release()
		})
	}
}

// An error returned with bytes is delivered once; the next call reads again.
func TestErrorWithBytesComesOnce(t *testing.T) {
	gives := []struct {
		b   []byte
		err error
	}{
		{integer(1)[:6], errTemporary}, {nil, nil}, {append(integer(1)[6:], integer(2)...), errTemporary}, {integer(3), io.EOF},
	}
	d := NewDecoder(readerFunc(func(p []byte) (int, error) {
		if len(gives) == 0 {
			return 0, io.EOF
		}
		g := gives[0]
		gives = gives[1:]
		return copy(p, g.b), g.err
	}), nil)
	defer d.Release()
	var got []any
	for range 6 {
		tok, err := d.ReadToken()
		if err != nil {
			got = append(got, err)
		} else {
			got = append(got, tok.Int())
		}
	}
	require.Equal(t, []any{errTemporary, int64(1), int64(2), errTemporary, int64(3), io.EOF}, got)
}

// io.ErrUnexpectedEOF from the Reader is returned like any other error.
func TestUnexpectedEOFOfTheReader(t *testing.T) {
	for name, packet := range map[string][]byte{
		"bytes": bytesOf(idBytes, 1, []byte("a\x00\x00\x00")), "bad text": bytesOf(idString, 5, []byte("a\xffxyz\x00\x00\x00")),
	} {
		t.Run(name, func(t *testing.T) {
			for at := 9; at < len(packet); at++ {
				rest := [][]byte{packet[:at], nil, packet[at:]}
				d := NewDecoder(readerFunc(func(p []byte) (int, error) {
					if len(rest) == 0 {
						return 0, io.EOF
					}
					n := copy(p, rest[0])
					if rest = rest[1:]; n == 0 {
						return 0, io.ErrUnexpectedEOF
					}
					return n, nil
				}), nil)
				require.Equal(t, io.ErrUnexpectedEOF, readAll(d), "%s at %d", name, at)
				if err := readAll(d); name == "bytes" {
					require.Equal(t, io.EOF, err)
				} else {
					requireError(t, err, 9, "$", ErrUTF8)
				}
				d.Release()
			}
		})
	}
}

// A Reader may return no bytes and no error a few times in a row.
func TestReaderReturnsNothing(t *testing.T) {
	text := strings.Repeat("x", 10)
	packet := bytesOf(idArray, 2, str(text), idInts, 40, make([]byte, 160))
	calls, at := 0, 0
	d := NewDecoder(readerFunc(func(p []byte) (int, error) {
		if calls++; calls%60 != 0 {
			return 0, nil
		}
		n := copy(p, packet[at:min(at+1, len(packet))])
		at += n
		return n, nil
	}), &DecoderOptions{MaxChunk: 16})
	defer d.Release()
	require.Equal(t, text, readTo(t, d, 2).Text())
	readTo(t, d, 1)
	n, err := ReadPacked(d, make([]int32, 40))
	require.NoError(t, err)
	require.Equal(t, 40, n)
}

// The read buffer does not grow for tokens that fit it.
func TestBufferKeepsItsSize(t *testing.T) {
	for _, size := range []int{16, 100, 1000, DefaultMaxChunk} {
		packet := bytesOf(idArray, 200)
		for i := range 200 {
			packet = append(packet, str(strings.Repeat("x", i*size/199))...)
		}
		for _, r := range []io.Reader{plain(packet), &slowReader{packet}} {
			d := NewDecoder(r, &DecoderOptions{MaxChunk: size})
			d.buf = make([]byte, size+history+headroom)
			d.buffer = &bytebufferpool.ByteBuffer{B: d.buf}
			tokens(t, d)
			require.Len(t, d.buf, size+history+headroom)
			d.buffer = nil
			d.Release()
		}
	}
}

// The two names in the header of a typed Dictionary stay intact when the read
// buffer grows for the second.
func TestNamesGrowTheBuffer(t *testing.T) {
	names := [2]string{longText + longText + longText, "res://" + longText + longText}
	packet := bytesOf(idDict|typedBy*2|valuesBy*3, names[0], names[1], 1, idNil, integer(7))
	for reset, start := range readers(packet) {
		d := NewDecoder(nil, &DecoderOptions{MaxChunk: minWindow})
		start(d)
		tok := readTo(t, d, 1)
		require.Equal(t, Elem{Type: TypeObject, Class: names[0]}, tok.KeyElem(), reset)
		require.Equal(t, Elem{Type: TypeObject, Script: names[1]}, tok.Elem(), reset)
		require.Equal(t, names[0], tok.KeyElem().String())
		require.Equal(t, names[1], tok.Elem().String())
		require.EqualValues(t, 7, readTo(t, d, 3).Int())
		d.Release()
	}
}

// Names and packed strings are read from the bytes that have arrived, after any refill.
func TestNamesAfterRefills(t *testing.T) {
	const n = 20_000 // more than a read buffer from the pool
	all := make([]any, n)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	for name, packet := range map[string][]byte{
		"names":   append(bytesOf(idPath, newPath(n), 0, 0), bytesOf(all...)...),
		"strings": append(bytesOf(idStrings, n), bytesOf(all...)...),
	} {
		for _, sizes := range [][]int{{len(packet), 1}, {len(packet), 1, 2, 3, 4, 5, 6, 7}, {170, 1}} {
			t.Run(fmt.Sprintf("%s in pieces %v", name, sizes[1:]), func(t *testing.T) {
				b, i := packet, 0
				d := NewDecoder(readerFunc(func(p []byte) (int, error) {
					n := copy(p, b[:min(sizes[i%len(sizes)], len(b))])
					b, i = b[n:], i+1
					if n == 0 {
						return 0, io.EOF
					}
					return n, nil
				}), &DecoderOptions{MaxChunk: 16})
				defer d.Release()
				readTo(t, d, 1)
				for _, want := range all {
					require.Equal(t, want, readTo(t, d, 1).Text())
				}
				require.Equal(t, KindEnd, readTo(t, d, 1).Kind())
			})
		}
	}
}
