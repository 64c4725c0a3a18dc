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

	"github.com/gdwire/gdwire/internal/checked"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/wire"
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

// The bytes of a Payload do not depend on the sizes of reads, and no read returns
// 0 bytes without an error.
func TestPayloadInPiecesOfAnySize(t *testing.T) {
	data := make([]byte, 480)
	for i := range data {
		data[i] = byte(i)
	}
	for _, c := range []struct{ id, count, size int }{
		{idBytes, 1, 1}, {idBytes, 2, 1}, {idBytes, 3, 1}, {idBytes, 7, 1}, {idBytes, 101, 1}, {idBytes, 400, 1},
		{idInts, 3, 4}, {idInts, 100, 4}, {idLongs, 50, 8}, {idVectors3, 40, 12},
	} {
		t.Run(fmt.Sprintf("%d elements of type id %d", c.count, c.id), func(t *testing.T) {
			n := c.count * c.size
			packet := bytesOf(c.id, c.count, data[:n], wire.Zeros(wire.Padding(uint32(n))))
			for piece := 1; piece < 310; piece += 1 + piece/8 {
				for name, reset := range map[string]func(d *Decoder){
					"ResetBytes":   func(d *Decoder) { d.ResetBytes(packet) },
					"Reset":        func(d *Decoder) { d.Reset(plain(packet)) },
					"byte by byte": func(d *Decoder) { d.Reset(iotest.OneByteReader(bytes.NewReader(packet))) },
				} {
					d := NewDecoder(nil, &DecoderOptions{MaxChunk: 32})
					reset(d)
					readTo(t, d, 1)
					p := d.Payload()
					var got []byte
					for {
						b := make([]byte, piece)
						k, err := p.Read(b)
						got = append(got, b[:k]...)
						if err == io.EOF {
							break
						}
						require.NoError(t, err)
						require.NotZero(t, k, "%s of %d by %d", name, n, piece)
					}
					require.Equal(t, data[:n], got, "%s of %d by %d", name, n, piece)
					d.Release()
				}
			}
		})
	}
}

// The bytes that bulk reads return before an error do not depend on how the Reader cuts
// its bytes.
func TestBytesBeforeAnError(t *testing.T) {
	reads := map[string]func(d *Decoder) ([]byte, error){
		"AppendPacked": func(d *Decoder) ([]byte, error) { return AppendPacked[byte](d, nil) },
		"ReadPacked": func(d *Decoder) ([]byte, error) {
			b := make([]byte, 9)
			n, err := ReadPacked(d, b)
			return b[:n], err
		},
		"Payload": func(d *Decoder) ([]byte, error) { return io.ReadAll(d.Payload()) },
		"WriteTo": func(d *Decoder) ([]byte, error) {
			var out bytes.Buffer
			_, err := io.Copy(&out, d.Payload())
			return out.Bytes(), err
		},
	}
	for count := range 9 {
		packet := bytesOf(idBytes, count, []byte("ABCDEFGH")[:count], []byte("xyz")[:wire.Padding(uint32(count))])
		for size := 8; size <= len(packet); size++ {
			for name, read := range reads {
				d := NewDecoder(plain(packet[:size]), &DecoderOptions{Strict: true})
				readTo(t, d, 1)
				want, fault := read(d)
				d.Reset(iotest.OneByteReader(bytes.NewReader(packet[:size])))
				readTo(t, d, 1)
				got, err := read(d)
				require.Equal(t, string(want), string(got), "%s of %d, %d bytes received", name, count, size-8)
				require.Equal(t, fault, err)
				d.Release()
			}
		}
	}
}

// Bulk reads after tokens without a payload, and into the wrong type, are an error
// that leaves the value readable.
func TestMisplacedBulkReads(t *testing.T) {
	bulk := map[string]func(d *Decoder) error{
		"AppendString": func(d *Decoder) error { _, err := d.AppendString(nil); return err },
		"Payload":      func(d *Decoder) error { _, err := d.Payload().Read(make([]byte, 1)); return err },
		"WriteTo":      func(d *Decoder) error { _, err := io.Copy(io.Discard, d.Payload()); return err },
		"ReadPacked":   func(d *Decoder) error { _, err := ReadPacked(d, make([]byte, 1)); return err },
		"AppendPacked": func(d *Decoder) error { _, err := AppendPacked[byte](d, nil); return err },
	}
	fits := map[string][]Kind{
		"AppendString": {KindStringChunk, KindNodePathStart},
		"Payload":      {KindStringChunk, KindChunk, KindPackedStart},
		"WriteTo":      {KindStringChunk, KindChunk, KindPackedStart},
	}
	for name, call := range bulk {
		t.Run(name, func(t *testing.T) {
			for i := range documentPaths {
				d := NewDecoder(plain(document), &DecoderOptions{AllowObjects: true})
				tok := readTo(t, d, i)
				if k := tok.Kind(); k == KindPackedStart && tok.Type() != TypePackedStringArray || k == KindStringChunk || k == KindChunk || k == KindNodePathStart {
					var ok bool
					for _, f := range fits[name] {
						ok = ok || f == k
					}
					if ok {
						d.Release()
						continue
					}
				}
				err := call(d)
				if name == "AppendString" && err == nil { // it read the next value
					d.Release()
					continue
				}
				require.True(t, errors.Is(err, ErrType) || errors.Is(err, ErrCount), "%s after %v: %v", name, tok, err)
				readTo(t, d, len(documentPaths)-i)
				require.Equal(t, io.EOF, errOf(d.ReadToken()))
				d.Release()
			}
		})
	}
}

// A Payload ends with the next call on its Decoder.
func TestStalePayload(t *testing.T) {
	d := newDecoder(t, plain(bytesOf(idArray, 2, str("abc"), str("def"))), nil)
	readTo(t, d, 2)
	p := d.Payload()
	n, err := p.Read(nil)
	require.Zero(t, n)
	require.NoError(t, err)
	readTo(t, d, 1)
	require.ErrorIs(t, errOf(p.Read(make([]byte, 3))), ErrType)
	require.Equal(t, "def", string(must(io.ReadAll(d.Payload()))(t)))
	require.Equal(t, io.EOF, errOf(p.Read(make([]byte, 3))), "it is the same Reader")
}

// A Payload after a token without a payload, or after another call, reads nothing.
func TestPayloadTakenTooEarly(t *testing.T) {
	packet := bytesOf(idDict, 2, str("key"), idArray, 1, str("text"), str("other"), str(longText))
	for name, c := range map[string]struct {
		tokens int
		after  func(d *Decoder)
	}{
		"before the first token": {0, func(d *Decoder) { readTo(t, d, 3) }},
		"at a DictStart":         {1, func(d *Decoder) { readTo(t, d, 2) }},
		"at a DictKey":           {2, func(d *Decoder) { readTo(t, d, 1) }},
		"at an End":              {6, func(d *Decoder) { readTo(t, d, 2) }},
		"before PeekKind":        {3, func(d *Decoder) { d.PeekKind() }},
		"before AppendString":    {3, func(d *Decoder) { d.AppendString(nil); d.SkipValue(); d.AppendString(nil) }},
		"before a typed read":    {3, func(d *Decoder) { d.ReadArray() }},
		"before Reset":           {3, func(d *Decoder) { d.ResetBytes(str("text")) }},
		"before SkipTo":          {3, func(d *Decoder) { d.SkipTo(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDecoder(t, nil, &DecoderOptions{MaxChunk: 16})
			eachReader(d, packet, func(name string) {
				readTo(t, d, c.tokens)
				p := d.Payload()
				c.after(d)
				require.ErrorIs(t, errOf(p.Read(make([]byte, 100))), ErrType, name)
				require.ErrorIs(t, errOf(io.Copy(io.Discard, p)), ErrType, name)
			})
		})
	}
}

// After a loop was left, the latest token is without a payload.
func TestNoPayloadAfterALoop(t *testing.T) {
	packet := bytesOf(idArray, 2, idArray, 2, str("in the loop"), str("skipped"), str("after it"))
	d := newDecoder(t, nil, nil)
	eachReader(d, packet, func(name string) {
		readTo(t, d, 1)
		for range d.Elements() {
			readTo(t, d, 1)
			break
		}
		text, err := d.AppendString(nil)
		require.NoError(t, err, name)
		require.Equal(t, "after it", string(text), name)
	})
	eachReader(d, packet, func(name string) {
		readTo(t, d, 1)
		var p io.Reader
		for range d.Elements() {
			readTo(t, d, 1)
			p = d.Payload()
			break
		}
		require.ErrorIs(t, errOf(p.Read(make([]byte, 4))), ErrType, name)
		require.Equal(t, "after it", readTo(t, d, 1).Text(), name)
	})
}

// A Payload of a name or packed string ends with the next token, too.
func TestStalePayloadOfNames(t *testing.T) {
	d := newDecoder(t, nil, nil)
	for name, packet := range map[string][]byte{
		"names":   bytesOf(idPath, newPath(3), 0, 0, "first", "second", "and a third"),
		"strings": bytesOf(idStrings, 3, "first", "second", "and a third"),
	} {
		t.Run(name, func(t *testing.T) {
			eachReader(d, packet, func(name string) {
				readTo(t, d, 2)
				p := d.Payload()
				readTo(t, d, 1)
				require.ErrorIs(t, errOf(p.Read(make([]byte, 4))), ErrType, name)
			})
		})
	}
}

// A Payload ends with a bulk read of another value that is not complete.
func TestStalePayloadDuringABulkRead(t *testing.T) {
	packet := bytesOf(idArray, 2, idInts, 2, 1, 2, idInts, 2, 3, 4)
	d := newDecoder(t, nil, nil)
	eachReader(d, packet, func(name string) {
		readTo(t, d, 2)
		p := d.Payload()
		require.NoError(t, errOf(io.ReadFull(p, make([]byte, 4))), name)
		require.NoError(t, d.SkipTo(1))
		readTo(t, d, 1)
		one := make([]int32, 1)
		require.NoError(t, errOf(ReadPacked(d, one)), name)
		require.ErrorIs(t, errOf(p.Read(make([]byte, 4))), ErrType, name)
		require.NoError(t, errOf(ReadPacked(d, one)), name)
		require.Equal(t, []int32{4}, one, name)
	})
}

// A Payload ends with AppendPacked of its array.
func TestStalePayloadAfterAppendPacked(t *testing.T) {
	d := newDecoder(t, nil, nil)
	eachReader(d, bytesOf(idArray, 2, idInts, 2, 1, 2, idNil), func(name string) {
		readTo(t, d, 2)
		p := d.Payload()
		all, err := AppendPacked[int32](d, nil)
		require.NoError(t, err, name)
		require.Equal(t, []int32{1, 2}, all, name)
		require.ErrorIs(t, errOf(p.Read(make([]byte, 4))), ErrType, name)
	})
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

// After all elements have been read, AppendPacked reads the next value.
func TestAppendPackedAfterAnother(t *testing.T) {
	d := newDecoder(t, nil, nil)
	eachReader(d, bytesOf(idArray, 2, idInts, 2, 1, 2, idInts, 2, 3, 4), func(name string) {
		readTo(t, d, 2)
		n, err := ReadPacked(d, make([]int32, 3))
		require.Equal(t, 2, n, name)
		require.Equal(t, io.EOF, err, name)
		all, err := AppendPacked[int32](d, nil)
		require.NoError(t, err, name)
		require.Equal(t, []int32{3, 4}, all, name)
	})
}

// A bulk read that is repeated after an error returns the same error.
func TestErrorsOfBulkReadsStay(t *testing.T) {
	d := newDecoder(t, plain(bytesOf(idInts, 100, make([]byte, 200))), &DecoderOptions{MaxChunk: 16})
	readTo(t, d, 1)
	n, fault := ReadPacked(d, make([]int32, 100))
	require.Equal(t, 50, n)
	requireError(t, fault, 208, "$", io.ErrUnexpectedEOF)
	n, err := ReadPacked(d, make([]int32, 40))
	require.Zero(t, n)
	require.Same(t, fault, err)
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

// Elements are returned in order from a chunk that was read, from the read buffer
// and directly from the Reader. Truncated input is an error.
func TestElementsFromEverywhere(t *testing.T) {
	want := make([]int32, 100)
	packet := bytesOf(idInts, len(want))
	for i := range want {
		want[i] = int32(i)
		packet = append(packet, bytesOf(i)...)
	}
	for cut := 24; cut <= len(packet); cut++ {
		b := packet[:cut]
		for chunks := range 2 {
			for name, r := range map[string]io.Reader{
				"at once": plain(b), "byte by byte": &slowReader{b},
				"failing": &faultyReader{b: b, at: cut / 2}, "failing with bytes": &faultyReader{b: b, at: cut / 2, joined: true},
			} {
				faults := 0
				d := NewDecoder(r, &DecoderOptions{MaxChunk: 16})
				var err error
				for range 1 + chunks {
					for _, err = d.ReadToken(); err == errTemporary; _, err = d.ReadToken() {
						faults++
					}
					require.NoError(t, err)
				}
				got := make([]int32, len(want))
				n := 0
				for n < len(got) {
					var m int
					m, err = ReadPacked(d, got[n:])
					if n += m; err == errTemporary {
						faults++
						continue
					}
					if err != nil {
						break
					}
				}
				require.Equal(t, want[:n], got[:n], "%s, cut at %d", name, cut)
				if cut == len(packet) {
					require.NoError(t, err, name)
				} else {
					require.Equal(t, (cut-8)/4, n, "%s, cut at %d", name, cut)
					requireError(t, err, cut, "$", io.ErrUnexpectedEOF)
				}
				require.Equal(t, strings.HasPrefix(name, "failing"), faults == 1, "%s, cut at %d: %d faults", name, cut, faults)
				d.Release()
			}
		}
	}
}

// A bulk read cannot start inside an element of several components.
func TestReadPackedInsideAVector(t *testing.T) {
	for taken := range 25 {
		d := NewDecoder(plain(bytesOf(idVectors3, 2, reals(6))), nil)
		readTo(t, d, 2)
		_, err := io.ReadFull(d.Payload(), make([]byte, taken))
		require.NoError(t, err)
		if _, err = ReadPacked(d, make([][3]float32, 2-(taken+11)/12)); taken%12 == 0 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrCall, "%d bytes taken", taken)
		}
		d.Release()
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

// The Reader of Payload, ReadPacked and AppendPacked read parts of one payload, and so do the
// Reader and AppendString.
func TestPayloadInParts(t *testing.T) {
	packed, text := bytesOf(idBytes, 6, []byte{1, 2, 3, 4, 5, 6, 0, 0}), bytesOf(idString, "abcdef")
	for name, source := range map[string]func(b []byte) io.Reader{
		"whole": plain, "one byte at a time": func(b []byte) io.Reader { return iotest.OneByteReader(plain(b)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDecoder(t, source(packed), nil)
			readTo(t, d, 1)
			p, part := d.Payload(), make([]byte, 2)
			must(ReadPacked(d, part))(t)
			require.Equal(t, []byte{1, 2}, part)
			must(io.ReadFull(p, part))(t)
			require.Equal(t, []byte{3, 4}, part)
			rest := must(AppendPacked[byte](d, nil))(t)
			require.Equal(t, []byte{5, 6}, rest)

			d.Reset(source(text))
			readTo(t, d, 1)
			must(io.ReadFull(d.Payload(), part))(t)
			rest = must(d.AppendString(nil))(t)
			require.Equal(t, "abcdef", string(part)+string(rest))
		})
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
