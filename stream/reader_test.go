package stream_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
)

func TestNext(t *testing.T) {
	packets := mixed(t)
	for _, big := range []bool{false, true} {
		var order binary.AppendByteOrder = binary.LittleEndian
		if big {
			order = binary.BigEndian
		}
		b := framed(order, packets...)
		got := everyToken(stream.NewReader(bytes.NewReader(b), mixedOptions(big)))

		wantErr := []string{
			1:  "gdwire: offset 0, $: empty packet: unexpected EOF",
			3:  "gdwire: offset 0, $: unknown godot4 type id",
			4:  "gdwire: offset 6, $: unexpected EOF",
			7:  "unexpected EOF",
			9:  ": packet of 60000 bytes exceeds MaxPacket (50000)",
			10: "gdwire: offset 0, $: unknown godot4 type id",
			13: "EOF",
		}
		require.Len(t, got, len(packets)+1)
		offset := int64(0)
		for i, o := range got[:len(packets)] {
			offset += 4
			assert.Equal(t, offset, o.offset, i)
			assert.EqualValues(t, len(packets[i]), o.size, i)
			if want := wantErr[i]; want != "" {
				assert.Contains(t, o.err, want, i)
			} else {
				assert.Empty(t, o.err, i)
				assert.NotEmpty(t, o.tokens)
				assert.Equal(t, offset-4, o.whole, i)
			}
			offset += o.size
		}
		assert.Equal(t, outcome{offset: offset, whole: offset, err: "EOF"}, got[len(packets)])
		assert.EqualValues(t, 2, got[5].trailing)
		assert.EqualValues(t, 1, got[8].trailing)
		assert.Equal(t, got[0].tokens, got[5].tokens)
		assert.Equal(t, got[6].tokens, got[8].tokens)
	}
}

// TestStreamCut ends the stream after each byte.
func TestStreamCut(t *testing.T) {
	packets := mixed(t)
	whole := framed(binary.LittleEndian, packets...)
	want := everyToken(stream.NewReader(bytes.NewReader(whole), mixedOptions(false)))
	ends := map[int]bool{0: true}
	for _, o := range want {
		ends[int(o.offset+o.size)] = true
	}
	last := 0
	for n := range len(whole) + 1 {
		if ends[n] {
			last = n
		} else if n-last > 100 && n%997 != 0 {
			continue
		}
		r := stream.NewReader(bytes.NewReader(whole[:n]), mixedOptions(false))
		got := everyToken(r)
		end := got[len(got)-1]
		wantErr := io.ErrUnexpectedEOF
		if ends[n] {
			wantErr = io.EOF
		}
		require.Equal(t, wantErr.Error(), end.err, n)
		require.EqualValues(t, last, end.whole, n)
		require.EqualValues(t, n, r.InputOffset())
		for i, o := range got[:len(got)-1] {
			if o.err == "" {
				require.Equal(t, want[i], o, n)
			}
		}
		require.Equal(t, wantErr, errOf(r.Next()), "again, at %d", n)
	}
}

// TestNextRawAbandoned calls Next after an interrupted NextRaw.
func TestNextRawAbandoned(t *testing.T) {
	b := framed(binary.LittleEndian, make([]byte, 40_000), encoded(t, number(5)))
	r := stream.NewReader(&stutter{r: bytes.NewReader(b), err: errTemporary, most: 30_000}, nil)
	var got []byte
	for len(got) == 0 {
		var err error
		got, err = r.NextRaw(nil)
		require.Equal(t, errTemporary, err)
	}
	require.EqualValues(t, 5, must(must(again(r.Next))(t).ReadToken())(t).Int())
}

// TestFalseLengths declares lengths without sending the bytes.
func TestFalseLengths(t *testing.T) {
	lie := []byte{0xFE, 0xFF, 0xFF, 0xFF, 4, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F, 'a'}
	o := &stream.Options{MaxPacket: -1, Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{StringBytes: -1}}}
	raw, err := stream.NewReader(bytes.NewReader(lie), o).NextRaw(nil)
	require.Equal(t, io.ErrUnexpectedEOF, err)
	require.Equal(t, lie[4:], raw)
	require.Less(t, cap(raw), 64<<10)

	require.Equal(t, io.ErrUnexpectedEOF, must(stream.NewReader(bytes.NewReader(lie), o).Next())(t).SkipValue())

	// The length of an unfinished WriteThrough is never valid.
	_, err = stream.NewReader(bytes.NewReader([]byte{255, 255, 255, 255, 0, 0, 0, 0}), o).Next()
	require.Equal(t, &stream.PacketTooLongError{Size: math.MaxUint32, Max: math.MaxUint32 - 1, Offset: 4}, err)
}

// TestSkipMemory skips 256 MiB.
func TestSkipMemory(t *testing.T) {
	const size = 256 << 20
	b := io.MultiReader(bytes.NewReader([]byte{0, 0, 0, 0x10}), io.LimitReader(zeros{}, size),
		bytes.NewReader(framed(binary.LittleEndian, encoded(t, number(5)))))
	r := stream.NewReader(b, nil)
	allocated := testenv.Allocated(func() {
		require.Equal(t, &stream.PacketTooLongError{Size: size, Max: stream.DefaultMaxPacket, Offset: 4}, errOf(r.Next()))
		must(r.Next())(t)
	})
	require.Less(t, allocated, testenv.MaxMemory())
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestAllocs reads packets of both sizes without an allocation.
func TestAllocs(t *testing.T) {
	b := framed(binary.LittleEndian, mixed(t)[0], mixed(t)[2], mixed(t)[6])
	src := bytes.NewReader(nil)
	r := stream.NewReader(src, nil)
	allocs := testing.AllocsPerRun(200, func() {
		src.Reset(b)
		for range 3 {
			d, err := r.Next()
			if err != nil || d.SkipValue() != nil {
				t.Fatal(err)
			}
		}
	})
	require.Less(t, allocs, 1.0)
}

// TestInvalidated uses a packet's Decoder and tokens after the next Next, and Resets and
// Releases Decoders that the Reader owns.
func TestInvalidated(t *testing.T) {
	packets := mixed(t)
	b := framed(binary.LittleEndian, packets[2], packets[6], packets[6], packets[0], packets[2], packets[0])
	r := stream.NewReader(bytes.NewReader(b), nil)
	d := must(r.Next())(t)
	two := must(d.ReadToken())(t)
	require.Equal(t, "two", two.Text())

	d = must(r.Next())(t)
	require.Panics(t, func() { two.Bytes() })
	d.Release()
	require.Zero(t, r.Trailing())

	d = must(r.Next())(t)
	d.ResetBytes(packets[2])

	d = must(r.Next())(t)
	require.EqualValues(t, 1, must(d.ReadToken())(t).Int())
	require.Equal(t, packets[2], must(r.NextRaw(nil))(t))
	require.ErrorIs(t, errOf(d.ReadToken()), gdwire.ErrClosed)
	d = must(r.Next())(t)
	require.Equal(t, io.EOF, errOf(r.Next()))
	require.ErrorIs(t, errOf(d.ReadToken()), gdwire.ErrClosed)
}

// TestStrict sends bytes after a value, which Strict refuses.
func TestStrict(t *testing.T) {
	b := framed(binary.LittleEndian, mixed(t)[5], mixed(t)[0])
	got := everyToken(stream.NewReader(bytes.NewReader(b), &stream.Options{Decoder: gdwire.DecoderOptions{Strict: true}}))
	require.Len(t, got, 3)
	require.Contains(t, got[0].err, "the value")
	require.EqualValues(t, 2, got[0].trailing)
	require.Empty(t, got[1].err)
}

// FuzzReader reads the same bytes whole, in pieces, up to some tokens of each packet, and as raw packets.
func FuzzReader(f *testing.F) {
	packets := mixed(f)
	f.Add(framed(binary.LittleEndian, packets...), false)
	f.Add(framed(binary.BigEndian, packets[:6]...), true)
	f.Add(framed(binary.LittleEndian, packets[0], encoded(f, str(strings.Repeat("é", 8_200))), packets[0]), false)
	f.Add([]byte{1, 0, 0}, false)
	for _, name := range []string{"godot3.2.3/store_var.bin", "godot4.7-dev/put_var.bin"} {
		f.Add(must(os.ReadFile("../testdata/"+name))(f), false)
	}
	f.Fuzz(func(t *testing.T, b []byte, big bool) {
		o := mixedOptions(big)
		want := everyToken(stream.NewReader(bytes.NewReader(b), o))
		for name, r := range map[string]io.Reader{
			"one byte": iotest.OneByteReader(bytes.NewReader(b)), "data error": iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(b))),
			"an error before bytes": &stutter{r: bytes.NewReader(b), err: errTemporary, most: 3}, "with bytes": &stutter{r: bytes.NewReader(b), err: errTemporary, most: 1000, with: true},
			"nothing before bytes": &stutter{r: bytes.NewReader(b), most: 7},
		} {
			require.Equal(t, want, everyToken(stream.NewReader(r, o)), name)
		}
		for most := range 3 {
			got := outcomes(stream.NewReader(bytes.NewReader(b), o), most)
			for i := range min(len(got), len(want)) { // a stream that ends in a value ends later
				require.Equal(t, want[i].offset, got[i].offset)
				require.True(t, strings.HasPrefix(want[i].tokens, got[i].tokens))
			}
		}

		r := stream.NewReader(iotest.HalfReader(bytes.NewReader(b)), o)
		d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{OneValue: true})
		for _, w := range want {
			raw, err := r.NextRaw([]byte{1, 2, 3})
			raw = raw[3:]
			require.Equal(t, w.offset, r.PacketOffset())
			require.Zero(t, r.Trailing())
			if err == io.ErrUnexpectedEOF { // Next may return an error of the packet first
				require.Equal(t, err.Error(), want[len(want)-1].err)
				break
			}
			if err != nil {
				require.Equal(t, w.err, err.Error())
				continue
			}
			require.Equal(t, b[w.offset:w.offset+w.size], raw)
			d.ResetBytes(raw)
			var text strings.Builder
			for {
				tok, err := d.ReadToken()
				if err != nil {
					if w.err != "" || err != io.EOF {
						require.Equal(t, w.err, err.Error())
					}
					break
				}
				line(&text, d, tok)
			}
			require.Equal(t, w.tokens, text.String())
		}
	})
}

// TestPeekedError calls PeekKind where it finds an error or the end of the packet: the next
// packet does not return that.
func TestPeekedError(t *testing.T) {
	bad := []byte{200, 0, 0, 0}
	for name, peeked := range map[string][]byte{
		"bad element":  {28, 0, 0, 0, 1, 0, 0, 0, 200, 0, 0, 0},
		"no such type": bad,
		"whole":        {0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := stream.NewReader(bytes.NewReader(framed(binary.LittleEndian, peeked, bad, encoded(t, number(5)))), nil)
			d := must(r.Next())(t)
			if name != "no such type" {
				must(d.ReadToken())(t)
			}
			require.Zero(t, d.PeekKind())
			d = must(r.Next())(t)
			for range 3 { // its own error stays
				require.ErrorIs(t, errOf(d.ReadToken()), gdwire.ErrType)
			}
			d = must(r.Next())(t)
			require.EqualValues(t, 5, must(d.ReadToken())(t).Int())
		})
	}
}

// A readCounter counts the calls of Read.
type readCounter struct {
	r     io.Reader
	calls int
}

func (c *readCounter) Read(p []byte) (int, error) {
	c.calls++
	return c.r.Read(p)
}

// TestReadAhead reads small packets with few Reads: two for each buffer.
func TestReadAhead(t *testing.T) {
	const packets = 1000
	b := bytes.Repeat(framed(binary.LittleEndian, encoded(t, str(strings.Repeat("x", 192)))), packets)
	for name, next := range map[string]func(r *stream.Reader) error{
		"Next":    func(r *stream.Reader) error { _, err := r.Next(); return err },
		"NextRaw": func(r *stream.Reader) error { _, err := r.NextRaw(nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			c := &readCounter{r: bytes.NewReader(b)}
			r := stream.NewReader(c, nil)
			for range packets {
				require.NoError(t, next(r))
			}
			require.LessOrEqual(t, c.calls, 2*(len(b)/(16<<10)+1))
		})
	}
}
