package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
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
	dst := make([]int32, 1<<16)
	require.Equal(t, len(dst), must(ReadPacked(d, dst))(t))
	if _, direct := wire.AsBytes(dst, true); direct { // not with the tag purego
		require.Less(t, reads, 10)
	}
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
