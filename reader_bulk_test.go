package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// Bulk reads return the bytes that have arrived.
func TestPayloadArrivesWithItsBytes(t *testing.T) {
	r, give := pipe(t)
	d := newDecoder(t, r, &DecoderOptions{MaxChunk: 16})
	give(bytesOf(idInts, 100))
	readTo(t, d, 1)
	p := d.Payload()
	buf := make([]byte, 1000)
	for i := range 100 {
		give(bytesOf(i))
		require.Equal(t, bytesOf(i), buf[:must(p.Read(buf))(t)])
	}
	require.Equal(t, io.EOF, errOf(p.Read(buf)), "the end of an array needs no more bytes")
}

// WriteTo returns io.ErrShortWrite for a Writer that takes less without an error.
func TestPayloadIntoShortWriters(t *testing.T) {
	for _, c := range []struct {
		name        string
		gives, want error
	}{
		{"no error", nil, io.ErrShortWrite},
		{"temporary error", errTemporary, errTemporary},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := NewDecoder(plain(str("text")), nil)
			readTo(t, d, 1)
			n, err := io.Copy(writerFunc(func(p []byte) (int, error) { return 1, c.gives }), d.Payload())
			require.Equal(t, c.want, err)
			require.EqualValues(t, 1, n)
			d.Release()
		})
	}
}

// Payload returns the bytes that have arrived before it reads more.
func TestPayloadWaitsOnlyIfNothingIsThere(t *testing.T) {
	packet := bytesOf(idBytes, 400, make([]byte, 400))
	r := io.MultiReader(bytes.NewReader(packet[:100]), readerFunc(func([]byte) (int, error) {
		t.Error("read before all buffered bytes were returned")
		return 0, io.EOF
	}))
	d := newDecoder(t, r, &DecoderOptions{MaxChunk: smallestChunk})
	readTo(t, d, 1)
	p := d.Payload()
	for got := 0; got < 92; {
		got += must(p.Read(make([]byte, 300)))(t)
	}
}

func TestPayloadAfterRelease(t *testing.T) {
	d := NewDecoder(plain(str("text")), nil)
	readTo(t, d, 1)
	p := d.Payload()
	d.Release()
	require.Equal(t, ErrClosed, errOf(p.Read(make([]byte, 4))))
}

// A Read into no bytes does not wait for the Reader.
func TestReadOfNoBytes(t *testing.T) {
	d := newDecoder(t, io.MultiReader(bytes.NewReader(bytesOf(idInts, 2)), iotest.ErrReader(errors.New("asked for more"))), nil)
	readTo(t, d, 1)
	n, err := d.Payload().Read(nil)
	require.Zero(t, n)
	require.NoError(t, err)
}

// The bytes that bulk reads return before an error, and the error's offset, do not depend on
// the pieces in which the Reader returns bytes.
func TestBulkReadsHoweverCut(t *testing.T) {
	bulk := map[string]func(d *Decoder) (int, error){
		"Payload": func(d *Decoder) (int, error) {
			b, err := io.ReadAll(struct{ io.Reader }{d.Payload()})
			return len(b), err
		},
		"WriteTo":       func(d *Decoder) (int, error) { n, err := io.Copy(io.Discard, d.Payload()); return int(n), err },
		"AppendPacked":  func(d *Decoder) (int, error) { b, err := AppendPacked[byte](d, nil); return len(b), err },
		"widened":       func(d *Decoder) (int, error) { b, err := AppendPacked[int64](d, nil); return len(b), err },
		"ReadPacked":    func(d *Decoder) (int, error) { return ReadPacked(d, make([]byte, 60)) },
		"ReadPacked 53": func(d *Decoder) (int, error) { return ReadPacked(d, make([]byte, 53)) },
	}
	for _, c := range []struct {
		name   string
		packet []byte
		o      DecoderOptions
		n      int
		offset int64
		err    error
	}{
		{"Limits.Bytes in the padding", bytesOf(idBytes, 53, make([]byte, 56)), DecoderOptions{Limits: Limits{Bytes: 63}}, 52, 63, ErrLimit},
		{"bad padding", bytesOf(idBytes, 53, append(make([]byte, 55), 1)), DecoderOptions{Strict: true}, 52, 61, ErrStrict},
		{"missing padding", bytesOf(idBytes, 53, make([]byte, 54)), DecoderOptions{Strict: true}, 52, 62, io.ErrUnexpectedEOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, read := range bulk {
				t.Run(name, func(t *testing.T) {
					for cut := range len(c.packet) {
						o := c.o
						d := NewDecoder(io.MultiReader(plain(c.packet[:cut]), plain(c.packet[cut:])), &o)
						readTo(t, d, 1)
						n, err := read(d)
						var e *Error
						require.ErrorAs(t, err, &e, "%s, %s, cut at %d", c.name, name, cut)
						require.ErrorIs(t, err, c.err)
						require.Equal(t, c.offset, e.Offset, "%s, %s, cut at %d", c.name, name, cut)
						require.Equal(t, c.n, n, "%s, %s, cut at %d", c.name, name, cut)
						d.Release()
					}
				})
			}
		})
	}
}

func TestPayloadErrors(t *testing.T) {
	noPayload := "offset 0, $: %s: the latest token has no such payload"
	packet := bytesOf(idArray, 1, integer(7))
	testInputErrors(t, []inputError{
		{name: "Payload of an Array", packet: packet, tokens: 1, is: ErrType, text: fmt.Sprintf(noPayload, "Payload"),
			read: func(d *Decoder) error { _, err := d.Payload().Read(make([]byte, 1)); return err }},
		{name: "ReadPacked of an Array", packet: packet, tokens: 1, is: ErrType, text: fmt.Sprintf(noPayload, "ReadPacked"),
			read: func(d *Decoder) error { _, err := ReadPacked(d, make([]int32, 1)); return err }},
		{name: "ReadPacked of a String", packet: str("text"), tokens: 1, is: ErrType, text: fmt.Sprintf(noPayload, "ReadPacked"),
			read: func(d *Decoder) error { _, err := ReadPacked(d, make([]int32, 1)); return err }},
		{name: "other elements", packet: bytesOf(idFloats, 1, reals(1)), tokens: 1, is: ErrType, text: "offset 0, $: got elements of 1 × float32, want 2 × float32",
			read: func(d *Decoder) error { _, err := ReadPacked(d, make([][2]float32, 1)); return err }},
		{name: "part of an element", packet: bytesOf(idFloats, 1, reals(1)), tokens: 1, is: ErrCall, text: "offset 0, $: Payload has read a part of the next element",
			read: func(d *Decoder) error {
				if _, err := io.ReadFull(d.Payload(), make([]byte, 2)); err != nil {
					return err
				}
				_, err := AppendPacked[float32](d, nil)
				return err
			}},
	})
}

func TestMisbehavingReadersOfPackedData(t *testing.T) {
	head := bytesOf(idInts, 1000)
	for name, bad := range map[string]struct {
		r    io.Reader
		want error
	}{
		"nothing, for ever": {readerFunc(func([]byte) (int, error) { return 0, nil }), io.ErrNoProgress},
		"less than nothing": {readerFunc(func([]byte) (int, error) { return -1, nil }), checked.ErrRead},
		"more than all":     {readerFunc(func(p []byte) (int, error) { return len(p) + 1, nil }), checked.ErrRead},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDecoder(t, io.MultiReader(bytes.NewReader(head), bad.r), &DecoderOptions{MaxChunk: 64})
			readTo(t, d, 1)
			n, err := ReadPacked(d, make([]int32, 100))
			require.Zero(t, n)
			require.Equal(t, bad.want, err)
			require.Equal(t, bad.want, errOf(d.Payload().Read(make([]byte, 100))))
		})
	}
}

// Only the padding may be missing at the end of the input.
func TestTruncatedData(t *testing.T) {
	packet := bytesOf(idBytes, 39, make([]byte, 40))
	for cut := 1; cut <= len(packet); cut++ {
		for _, size := range []int{16, 64} {
			d := NewDecoder(nil, &DecoderOptions{MaxChunk: size})
			d.Reset(plain(packet[:cut]))
			if err := readAll(d); cut >= 8+39 {
				require.Equal(t, io.EOF, err)
			} else {
				requireError(t, err, cut, "$", io.ErrUnexpectedEOF)
			}
			d.Release()
		}
	}
}

// A bulk read cannot start inside an element.
func TestReadPackedInsideAnElement(t *testing.T) {
	for array, packet := range map[string][]byte{"one element": bytesOf(idFloats, 1, float32(1)), "many": bytesOf(idFloats, 100, reals(100))} {
		for name, read := range map[string]func(d *Decoder) error{
			"ReadPacked":          func(d *Decoder) error { _, err := ReadPacked(d, make([]float32, 200)); return err },
			"ReadPacked widening": func(d *Decoder) error { _, err := ReadPacked(d, make([]float64, 200)); return err },
			"AppendPacked":        func(d *Decoder) error { _, err := AppendPacked[float32](d, nil); return err },
		} {
			t.Run(array+"/"+name, func(t *testing.T) {
				d := NewDecoder(plain(packet), nil)
				readTo(t, d, 1)
				must(io.ReadFull(d.Payload(), make([]byte, 2)))(t)
				require.ErrorIs(t, read(d), ErrCall, name)
				require.NoError(t, d.SkipTo(0))
				d.Release()
			})
		}
	}
	d := NewDecoder(plain(bytesOf(idFloats, 1, float32(1))), nil)
	readTo(t, d, 1)
	require.ErrorIs(t, errOf(ReadPacked(d, make([]int32, 1))), ErrType)
	require.ErrorIs(t, errOf(ReadPacked(d, make([][2]float32, 1))), ErrType)
	got := must(AppendPacked[float32](d, nil))(t)
	require.Equal(t, []float32{1}, got)
	require.Equal(t, io.EOF, errOf(AppendPacked(d, got)), "there is no other array")
}

// AppendPacked uses the capacity of the slice before it grows.
func TestAppendPackedUsesCapacity(t *testing.T) {
	d := newDecoder(t, plain(bytesOf(idFloats, 9, reals(9))), nil)
	readTo(t, d, 1)
	dst := make([]float32, 1, 10)
	got := must(AppendPacked(d, dst))(t)
	require.Len(t, got, 10)
	require.Same(t, &dst[0], &got[0])
}

// A bulk read of all leaves the fast path on, and elements beyond the read buffer are read into the slice, by few Reads.
func TestBulkReadsAreFast(t *testing.T) {
	for name, c := range map[string]struct {
		value []byte
		read  func(d *Decoder) error
	}{
		"AppendString": {str(longText), func(d *Decoder) error { _, err := d.AppendString(nil); return err }},
		"AppendPacked": {bytesOf(idFloats, 3, reals(3)), func(d *Decoder) error { _, err := AppendPacked[float32](d, nil); return err }},
	} {
		d := newDecoder(t, nil, nil)
		d.ResetBytes(bytesOf(idArray, 2, c.value, integer(7), make([]byte, fastSize)))
		readTo(t, d, 2)
		require.NoError(t, c.read(d), name)
		require.NotEmpty(t, d.fastValues, name)
	}
	reads, packet := 0, bytes.NewReader(bytesOf(idInts, 1<<16, make([]byte, 4<<16)))
	d := newDecoder(t, readerFunc(func(p []byte) (int, error) { reads++; return packet.Read(p) }), &DecoderOptions{MaxChunk: 64})
	readTo(t, d, 1)
	require.Equal(t, 1<<16, must(ReadPacked(d, make([]int32, 1<<16)))(t))
	require.Less(t, reads, 10)
}

// A string that is in memory as a whole is allocated once. From a Reader, its memory grows with the bytes
// received, and at most doubles.
func TestLongStringAllocations(t *testing.T) {
	const size = 1 << 20
	packet := bytesOf(idString, size, strings.Repeat("x", size))
	for name, reset := range readers(packet) {
		d := NewDecoder(nil, nil)
		read := func() {
			reset(d)
			text, err := d.ReadString()
			require.True(t, err == nil && len(text) == size)
		}
		read()
		most := uint64(5 * size) // without package unsafe, the string is a copy
		if name == "ResetBytes" {
			most = 2*size + size/4
		}
		if !testenv.Race {
			require.Less(t, testenv.Allocated(read), most, name)
		}
		d.Release()
	}
}
