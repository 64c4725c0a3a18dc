package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/valyala/bytebufferpool"
)

// joined is what a packet says when chunks are put together, whatever the
// window: each line a token, or a string or packed array, with its path and the
// offset behind it.
func joined(d *Decoder) (lines []string, err error) {
	var data []byte
	for {
		t, err := d.ReadToken()
		if err != nil {
			return lines, err
		}
		data = append(data, t.Bytes()...)
		if d.top.want == wantChunk && t.Kind() == KindChunk || t.Kind() == KindStringChunk && !t.Last() {
			continue
		}
		text := t.String()
		if t.Kind() == KindChunk || t.Kind() == KindStringChunk {
			text = fmt.Sprintf("%v %v %q", t.Kind(), t.Type(), data)
		}
		lines = append(lines, fmt.Sprintf("%d %s %s", d.InputOffset(), d.AppendPath(nil), text))
		data = data[:0]
	}
}

var windows = []int{1, 16, 17, 18, 19, 20, 23, 31, 32, 33, 64, 100, 1 << 10, 64 << 10}

func TestWindowSizesAgree(t *testing.T) {
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
			for _, window := range windows {
				got, err := read(s.packet, window)
				require.Equal(t, fault, err)
				require.Equal(t, want, got, "window %d", window)
			}
			for end := range len(s.packet) {
				_, want := read(s.packet[:end], 0)
				for _, window := range windows {
					_, err := read(s.packet[:end], window)
					require.Equal(t, want, err, "%d bytes, window %d", end, window)
				}
			}
		}
	})
}

// In memory, from a Reader of known length and from any Reader tokens are the
// same; only what they say of counts that cannot be true is not.
func TestResets(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(nil, s.options(minWindow))
		defer d.Release()
		read := calls[0]
		d.Reset(plain(s.packet))
		want, _ := read.listen(d, 0)
		n := int64(len(s.packet))
		for name, reset := range map[string]func(){
			"ResetBytes":                  func() { d.ResetBytes(s.packet) },
			"ResetN":                      func() { d.ResetN(plain(s.packet), n) },
			"ResetN by byte":              func() { d.ResetN(&slowReader{s.packet}, n) },
			"ResetN with more behind it":  func() { d.ResetN(io.MultiReader(plain(s.packet), iotest.ErrReader(errors.New("asked for more"))), n) },
			"Reset after half of another": func() { d.ResetBytes(s.packet); d.SkipValue(); d.Reset(plain(s.packet)) },
			"Reset after Release":         func() { d.Release(); d.Reset(plain(s.packet)) },
			"ResetBytes after Release":    func() { d.Release(); d.ResetBytes(s.packet) },
		} {
			reset()
			got, _ := read.listen(d, 0)
			require.Equal(t, string(want), string(got), name)
		}
	})
}

func TestZeroDecoderCanBeReset(t *testing.T) {
	var d Decoder
	d.ResetBytes(integer(7))
	require.EqualValues(t, 7, readTo(t, &d, 1).Int())
	d = Decoder{}
	d.Reset(plain(integer(8)))
	require.EqualValues(t, 8, readTo(t, &d, 1).Int())
	d.Release()
}

func TestResetNReadsNoMore(t *testing.T) {
	for _, window := range []int{minWindow, DefaultWindowSize} {
		for _, call := range calls {
			eachSample(t, func(t *testing.T, s sample) {
				r := bytes.NewReader(append(s.packet[:len(s.packet):len(s.packet)], "the next packet"...))
				d := NewDecoder(nil, s.options(window))
				defer d.Release()
				d.ResetN(r, int64(len(s.packet)))
				call.listen(d, 1)
				require.Equal(t, len("the next packet"), r.Len())
			})
		}
	}
}

func TestResetNOfTooFew(t *testing.T) {
	d := NewDecoder(nil, nil)
	defer d.Release()
	for _, n := range []int64{-1, 0} {
		d.ResetN(iotest.ErrReader(errors.New("asked")), n)
		_, err := d.ReadToken()
		require.Equal(t, io.EOF, err)
	}
	// A Reader that ends before its length is a cut packet, even between values.
	d.ResetN(plain(integer(7)), 12)
	readTo(t, d, 1)
	_, err := d.ReadToken()
	requireError(t, err, 8, "$", io.ErrUnexpectedEOF)
}

func TestResetBytesCopiesNothing(t *testing.T) {
	b := wire(idArray, 2, str("text"), idBytes, 4, []byte("data"))
	d := new(Decoder)
	d.ResetBytes(b)
	require.Nil(t, d.buffer, "a window was taken from the pool")
	text := readTo(t, d, 2).Bytes()
	require.Same(t, &b[16], &text[0])
	require.Equal(t, len(text), cap(text), "appending to a payload would overwrite the packet")
	data := readTo(t, d, 2).Bytes()
	require.Same(t, &b[28], &data[0])
	require.Equal(t, len(data), cap(data))
}

func TestValuesStandBackToBack(t *testing.T) {
	b := wire(integer(1), str("two"), idArray, 1, integer(3), idNil)
	d := NewDecoder(plain(b), nil)
	defer d.Release()
	for _, end := range []int64{8, 20, 36, 40} {
		require.NoError(t, d.SkipValue())
		require.Zero(t, d.Depth())
		require.Equal(t, end, d.InputOffset())
		require.Equal(t, b[end:], append([]byte{}, d.Buffered()...))
	}
	for range 3 {
		_, err := d.ReadToken()
		require.Equal(t, io.EOF, err)
		require.Zero(t, d.PeekKind())
		require.Equal(t, io.EOF, d.SkipValue())
		require.Equal(t, io.EOF, CopyValue(NewEncoder(io.Discard, nil), d))
	}
}

// io.EOF is for between values alone, however far the next one got.
func TestEOFInsideValue(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
		path string
	}{
		{"inside a header", []byte{2, 0}, "$"},
		{"behind a header", wire(idInt), "$"},
		{"inside an array", wire(idArray, 2, idNil), "$[1]"},
		{"inside a key", wire(idDict, 1, idString, 5, []byte("abc")), "$.key(0)"},
		{"behind a key", wire(idDict, 1, str("abc")), `$["abc"]`},
		{"inside a string", wire(idString, 5, []byte("abc")), "$"},
		{"inside padding", wire(idString, 3, []byte("abc")), "$"},
		{"inside packed numbers", wire(idInts, 2, 1, []byte{1}), "$"},
		{"inside packed strings", wire(idStrings, 2, "a\x00", 3), "$[1]"},
		{"inside a path", wire(idPath, newPath(2), 0, 0, "a"), "$[1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, read := range map[string]func(d *Decoder) error{
				"ReadToken": func(d *Decoder) (err error) {
					for err == nil {
						_, err = d.ReadToken()
					}
					return err
				},
				"SkipValue": (*Decoder).SkipValue,
				"CopyValue": func(d *Decoder) error { return CopyValue(NewEncoder(io.Discard, nil), d) },
			} {
				d := NewDecoder(plain(c.b), nil)
				err := read(d)
				requireError(t, err, len(c.b), c.path, io.ErrUnexpectedEOF)
				_, again := d.ReadToken()
				require.Equal(t, err, again, "%s: it stays until Reset", name)
				require.Equal(t, err, d.SkipTo(-1))
				require.Zero(t, d.PeekKind())
				d.Reset(plain(integer(1)))
				readTo(t, d, 1)
				d.Release()
			}
		})
	}
}

// pipe is a net.Pipe that has only what was given so far. A Decoder that waits
// for more would wait for ever: the deadline is there to say so.
func pipe(t *testing.T) (r net.Conn, give func(b []byte)) {
	t.Helper()
	r, w := net.Pipe()
	t.Cleanup(func() { r.Close(); w.Close() })
	require.NoError(t, r.SetDeadline(time.Now().Add(20*time.Second)))
	pieces := make(chan []byte)
	t.Cleanup(func() { close(pieces) })
	go func() {
		for b := range pieces {
			w.Write(b)
		}
	}()
	return r, func(b []byte) { pieces <- b }
}

// A token is there as soon as its bytes are, and DictKey and End need none.
func TestTokensArriveWithTheirBytes(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(plain(s.packet), s.options(0))
		defer d.Release()
		var ends []int64
		for {
			tok, err := d.ReadToken()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			if tok.has(flagOldPath) { // is told from others by its length, the next token's
				ends = append(ends, d.InputOffset()+4)
				continue
			}
			if ends = append(ends, d.InputOffset()); tok.Kind() == KindDictKey || tok.Kind() == KindEnd {
				require.Equal(t, ends[len(ends)-2], d.InputOffset())
			}
		}
		r, give := pipe(t)
		d.Reset(r)
		at := int64(0)
		for i, end := range ends {
			if end > at {
				give(s.packet[at:end])
			}
			at = end
			tok, err := d.ReadToken()
			require.NoError(t, err, "token %d: it waits for more than its bytes", i)
			require.Len(t, d.Buffered(), int(end-d.InputOffset()), "after %v", tok)
		}
	})
}

// PeekKind knows a value by its header, and a token that is none by nothing.
func TestPeekKindWaitsForTheHeaderOnly(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(plain(s.packet), s.options(0))
		defer d.Release()
		r, give := pipe(t)
		peeking := NewDecoder(r, s.options(0))
		defer peeking.Release()
		at := int64(0)
		for {
			isValue := d.top.want <= lastValue
			start := d.InputOffset()
			want, err := d.ReadToken()
			if err == io.EOF {
				return
			}
			require.NoError(t, err)
			if isValue {
				give(s.packet[start : start+4])
				at = start + 4
			}
			require.Equal(t, want.Kind(), peeking.PeekKind())
			require.Equal(t, want.Kind(), peeking.PeekKind(), "asked again")
			require.Equal(t, start, peeking.InputOffset(), "it consumes nothing")
			end := d.InputOffset()
			if want.has(flagOldPath) {
				end += 4
			}
			if end > at {
				give(s.packet[at:end])
				at = end
			}
			got, err := peeking.ReadToken()
			require.NoError(t, err)
			require.Equal(t, want.head, got.head)
		}
	})
}

// A chunk that a window ends is there with the window, a partial element waits
// for what completes it and for nothing else.
func TestChunksArriveWithTheirBytes(t *testing.T) {
	o := &DecoderOptions{WindowSize: 16}
	text := strings.Repeat("0123456789abcdef", 3)
	r, give := pipe(t)
	d := NewDecoder(r, o)
	defer d.Release()
	give(wire(idString, len(text), []byte(text[:16])))
	require.Equal(t, text[:16], readTo(t, d, 1).Text())
	give([]byte(text[16:32]))
	require.Equal(t, text[16:32], readTo(t, d, 1).Text())
	give([]byte(text[32:]))
	require.Equal(t, text[32:], readTo(t, d, 1).Text())

	give(wire(idVectors3, 3))
	require.Equal(t, KindPackedStart, readTo(t, d, 1).Kind())
	for range 3 {
		give(reals(3))
		require.Equal(t, reals(3), readTo(t, d, 1).Bytes())
	}
	require.Equal(t, KindEnd, readTo(t, d, 1).Kind())
}

// Bulk reads hand out what is there.
func TestPayloadArrivesWithItsBytes(t *testing.T) {
	r, give := pipe(t)
	d := NewDecoder(r, &DecoderOptions{WindowSize: 16})
	defer d.Release()
	give(wire(idInts, 100))
	readTo(t, d, 1)
	p := d.Payload()
	buf := make([]byte, 1000)
	for i := range 100 {
		give(wire(i))
		n, err := p.Read(buf)
		require.NoError(t, err)
		require.Equal(t, wire(i), buf[:n])
	}
	_, err := p.Read(buf)
	require.Equal(t, io.EOF, err, "the end of an array needs no more bytes")
}

func TestStringThatFitsIsOneChunk(t *testing.T) {
	for _, size := range []int{16, 17, 50, 1000, DefaultWindowSize} {
		for _, n := range []int{0, 1, size - 1, size, size + 1, 2 * size, 2*size + 1} {
			text := strings.Repeat("x", n)
			for name, packet := range map[string][]byte{
				"String":            str(text),
				"PackedStringArray": wire(idStrings, 1, text+"\x00"),
				"NodePath":          wire(idPath, newPath(1), 0, 0, text),
			} {
				d := NewDecoder(iotest.OneByteReader(bytes.NewReader(packet)), &DecoderOptions{WindowSize: size})
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
			}
		}
	}
}

// Runes of two, three and four bytes lie across every border there can be.
func TestChunksNeverSplitARune(t *testing.T) {
	const size = 16
	for _, r := range []string{"é", "€", "😀"} {
		for lead := range 2 * size {
			text := strings.Repeat("x", lead) + strings.Repeat(r, 12)
			for _, packet := range [][]byte{str(text), wire(idStrings, 1, text+"\x00"), wire(idPath, newPath(0), 1, 0, text)} {
				d := NewDecoder(plain(packet), &DecoderOptions{WindowSize: size})
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

// Bad UTF-8 is found at its byte wherever chunks end, and bytes that are none
// can be cut anywhere when nobody asks.
func TestBadTextAtEveryBorder(t *testing.T) {
	for _, bad := range []string{"\xff", "\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80"} {
		for lead := range 40 {
			text := strings.Repeat("x", lead) + bad + strings.Repeat("y", 10)
			for _, size := range []int{16, 64} {
				d := NewDecoder(plain(str(text)), &DecoderOptions{WindowSize: size})
				var err error
				for err == nil {
					_, err = d.ReadToken()
				}
				requireError(t, err, 8+lead, "$", ErrUTF8)
				d.Release()

				d = NewDecoder(plain(str(text)), &DecoderOptions{WindowSize: size, AnyUTF8: true})
				readTo(t, d, 1)
				got, err := d.AppendString(nil)
				require.NoError(t, err)
				require.Equal(t, text, string(got))
				d.Release()
			}
		}
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Readers that do what a Reader must not.
func TestOddReaders(t *testing.T) {
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
				require.Equal(t, errBadRead, read(d))
			}

			// An error with the bytes is held back until they are used up.
			due := errors.New("due")
			d.Reset(iotest.DataErrReader(io.MultiReader(plain(long), iotest.ErrReader(due))))
			require.NoError(t, d.SkipValue())
			require.Equal(t, due, read(d))
			d.Release()
		})
	}
}

func TestOddReadersOfPackedData(t *testing.T) {
	head := wire(idInts, 1000)
	for name, bad := range map[string]struct {
		r    io.Reader
		want error
	}{
		"nothing, for ever": {readerFunc(func([]byte) (int, error) { return 0, nil }), io.ErrNoProgress},
		"less than nothing": {readerFunc(func([]byte) (int, error) { return -1, nil }), errBadRead},
		"more than all":     {readerFunc(func(p []byte) (int, error) { return len(p) + 1, nil }), errBadRead},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(io.MultiReader(bytes.NewReader(head), bad.r), &DecoderOptions{WindowSize: 64})
			defer d.Release()
			readTo(t, d, 1)
			n, err := ReadPacked(d, make([]int32, 100))
			require.Zero(t, n)
			require.Equal(t, bad.want, err)
			_, err = d.Payload().Read(make([]byte, 100))
			require.Equal(t, bad.want, err)
		})
	}
}

// An error that came with bytes is delivered once; the next call asks the
// Reader again.
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

// PeekKind's error is the next call's, whichever that is, and is then gone.
func TestPeekedErrorIsDeliveredOnce(t *testing.T) {
	for name, next := range map[string]func(d *Decoder) error{
		"ReadToken":    func(d *Decoder) error { _, err := d.ReadToken(); return err },
		"SkipValue":    (*Decoder).SkipValue,
		"SkipTo":       func(d *Decoder) error { return d.SkipTo(0) },
		"AppendString": func(d *Decoder) error { _, err := d.AppendString(nil); return err },
		"ReadPacked":   func(d *Decoder) error { _, err := ReadPacked(d, make([]byte, 1)); return err },
		"AppendPacked": func(d *Decoder) error { _, err := AppendPacked[byte](d, nil); return err },
		"Payload":      func(d *Decoder) error { _, err := d.Payload().Read(make([]byte, 1)); return err },
		"CopyValue":    func(d *Decoder) error { return CopyValue(NewEncoder(io.Discard, nil), d) },
	} {
		packet := wire(idArray, 1, integer(7))
		d := NewDecoder(&faultyReader{b: packet, at: 8}, nil)
		readTo(t, d, 1)
		require.Zero(t, d.PeekKind(), name)
		require.Zero(t, d.PeekKind(), name)
		require.Equal(t, errTemporary, next(d), name)
		require.EqualValues(t, 7, readTo(t, d, 1).Int(), name)
		d.Release()
	}
}

// Where skips end is where reading would have been.
func TestSkipsEndWhereReadingDoes(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		type state struct {
			depth  int
			offset int64
			path   string
			err    string
		}
		var after []state
		var kinds []Kind
		d := NewDecoder(nil, s.options(minWindow))
		defer d.Release()
		here := func() state {
			return state{d.Depth(), d.InputOffset(), string(d.AppendPath(nil)), d.WrapError(io.EOF).Error()}
		}
		d.Reset(plain(s.packet))
		after, kinds = append(after, here()), append(kinds, 0)
		for {
			tok, err := d.ReadToken()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			after, kinds = append(after, here()), append(kinds, tok.Kind())
		}
		for n := range after {
			d.Reset(plain(s.packet))
			readTo(t, d, n)
			for depth := range d.Depth() + 1 {
				d.Reset(plain(s.packet))
				readTo(t, d, n)
				require.NoError(t, d.SkipTo(depth))
				want := n
				for after[want].depth > depth {
					want++
				}
				require.Equal(t, after[want], here(), "SkipTo(%d) after %d", depth, n)
				require.NoError(t, d.SkipTo(depth), "again")
				require.Equal(t, after[want], here())
			}
			d.Reset(plain(s.packet))
			readTo(t, d, n)
			inText := d.top.want == wantText
			err := d.SkipValue()
			if n == len(after)-1 {
				require.Equal(t, io.EOF, err)
				continue
			}
			want, depth := n+1, after[n].depth
			switch next := kinds[want]; {
			case next == KindEnd:
				require.ErrorIs(t, err, ErrCount)
				require.Equal(t, after[n], here())
				continue
			case next == KindDictKey:
				want++
			case inText:
				depth--
			case next == KindChunk:
				for kinds[want+1] == KindChunk {
					want++
				}
			}
			for after[want].depth > depth {
				want++
			}
			require.NoError(t, err)
			require.Equal(t, after[want], here(), "SkipValue after %d", n)
		}
	})
}

func TestTokensAreOneValue(t *testing.T) {
	b := wire(idDict, 1, str("k"), idArray, 1, idNil, integer(7))
	d := NewDecoder(plain(b), nil)
	defer d.Release()
	kinds := func() (all []Kind) {
		for tok, err := range d.Tokens() {
			require.NoError(t, err)
			all = append(all, tok.Kind())
		}
		return all
	}
	require.Equal(t, []Kind{KindDictStart, KindDictKey, KindStringChunk, KindArrayStart, KindNil, KindEnd, KindEnd}, kinds())
	require.Equal(t, []Kind{KindInt32}, kinds())

	d.Reset(plain(b))
	readTo(t, d, 1)
	require.Equal(t, []Kind{KindDictKey, KindStringChunk}, kinds())
	require.Equal(t, []Kind{KindArrayStart, KindNil, KindEnd}, kinds())

	d.Reset(plain(b))
	for tok := range d.Tokens() {
		if tok.Kind() == KindArrayStart {
			require.NoError(t, d.SkipTo(1)) // what the body skips does not come
		}
		require.NotEqual(t, KindNil, tok.Kind())
	}
	require.EqualValues(t, 32, d.InputOffset())

	d.Reset(plain(b[:20]))
	var errs []error
	for _, err := range d.Tokens() {
		if err != nil {
			errs = append(errs, err)
		}
	}
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], io.ErrUnexpectedEOF)
	for range d.Tokens() {
		break
	}
}

// Behind a skip there is no payload to go on with, whatever was skipped last.
func TestNothingGoesOnBehindASkip(t *testing.T) {
	packet := wire(idArray, 3, idArray, 2, str("more than eight bytes"), integer(1), integer(2), str("end"))
	for name, skip := range map[string]func(d *Decoder) error{
		"SkipValue": (*Decoder).SkipValue,
		"SkipTo":    func(d *Decoder) error { _, err := d.ReadToken(); return errors.Join(err, d.SkipTo(1)) },
		"CopyValue": func(d *Decoder) error { return CopyValue(NewEncoder(io.Discard, nil), d) },
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(bytes.NewReader(packet), nil)
			readTo(t, d, 1)
			require.NoError(t, skip(d))
			text, err := d.AppendString(nil)
			require.ErrorIs(t, err, ErrType)
			require.Empty(t, text)
			require.EqualValues(t, 2, readTo(t, d, 1).Int())
		})
	}
}

// A byte that is no UTF-8 is found wherever it stands in a short text, whatever
// is around it.
func TestBadShortText(t *testing.T) {
	for where, p := range shortTexts {
		for n := 1; n <= 12; n++ {
			for bad := range n {
				for _, c := range []byte{'a', 0} {
					text := bytes.Repeat([]byte{c}, n)
					text[bad] = 0xFF
					packet := append(bytes.Clone(p.head), wire(string(text)+p.nul, make([]byte, 32))...)
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

// Ids that no type has are refused inside of containers, too.
func TestUnknownIDs(t *testing.T) {
	d := NewDecoder(nil, nil)
	defer d.Release()
	for id := idVectors4 + 1; id < 256; id++ {
		packet := wire(idArray, 4, idNil, id, make([]byte, 32))
		eachReader(d, packet, func(name string) {
			readTo(t, d, 2)
			_, err := d.ReadToken()
			requireError(t, err, 12, "$[1]", ErrType)
		})
		eachReader(d, packet, func(name string) { requireError(t, d.SkipValue(), 12, "$[1]", ErrType) })
	}
}

// An objection is at the byte where its token starts.
func TestTokensKnowWhereTheyStart(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		for _, window := range []int{minWindow, 0} {
			d := NewDecoder(nil, s.options(window))
			eachReader(d, s.packet, func(name string) {
				for {
					start := d.InputOffset()
					tok, err := d.ReadToken()
					if err == io.EOF {
						return
					}
					require.NoError(t, err)
					var e *Error
					require.ErrorAs(t, d.WrapError(ErrType), &e)
					require.Equal(t, start, e.Offset, "%v, %s", tok, name)
				}
			})
			d.Release()
		}
	})
}

// An input that has ended stays so, though its Reader may give more then.
func TestErrorsStayBehindPeekKind(t *testing.T) {
	for there, kind := range map[int]Kind{2: 0, 6: KindInt32} {
		gives := [][]byte{integer(1)[:there], nil, integer(1)[there:]}
		d := NewDecoder(readerFunc(func(p []byte) (int, error) {
			if len(gives) == 0 || gives[0] == nil {
				gives = gives[min(len(gives), 1):]
				return 0, io.EOF
			}
			n := copy(p, gives[0])
			gives = gives[1:]
			return n, nil
		}), nil)
		require.Equal(t, kind, d.PeekKind())
		for range 3 {
			_, err := d.ReadToken()
			requireError(t, err, there, "$", io.ErrUnexpectedEOF)
		}
		d.Release()
	}
}

// Nothing goes on with a string once the Decoder was asked for something else,
// even if that had nothing to read.
func TestNothingGoesOnBehindAnotherCall(t *testing.T) {
	packet := wire(idArray, 1, str("text"))
	for name, call := range map[string]func(d *Decoder) error{
		"PeekKind": func(d *Decoder) error { d.PeekKind(); return nil },
		"SkipTo":   func(d *Decoder) error { return d.SkipTo(1) },
		"a refused SkipValue": func(d *Decoder) error {
			if err := d.SkipValue(); !errors.Is(err, ErrCount) {
				return fmt.Errorf("SkipValue at an End: %w", err)
			}
			return nil
		},
		"Reset":      func(d *Decoder) error { d.Reset(plain(packet)); return nil },
		"ResetBytes": func(d *Decoder) error { d.ResetBytes(packet); return nil },
	} {
		for _, started := range []bool{false, true} {
			d := NewDecoder(plain(packet), nil)
			readTo(t, d, 2)
			if started {
				_, err := d.Payload().Read(make([]byte, 1))
				require.NoError(t, err)
			}
			require.NoError(t, call(d), name)
			text, err := d.AppendString(nil)
			require.ErrorIs(t, err, ErrType, name)
			require.Empty(t, text, name)
			d.Release()
		}
	}
}

// What stands whole in the window is copied as token by token, and skipped with
// the same errors: values that engines read but do not write are told from others.
func TestOddValuesAmongOthers(t *testing.T) {
	for name, v := range map[string][]byte{
		"a bool of 2":            wire(idBool, 2),
		"a bool of much":         wire(idBool, uint32(1<<31)),
		"a small int in 64 bits": wire(idInt|bit16, uint64(1)),
		"a float in 64 bits":     wire(idFloat|bit16, 0.5),
		"wide maths":             wire(idVector2|bit16, 1.5, 2.5),
		"unknown flags":          wire(idInt|1<<17, 5),
		"bits 8 to 15":           wire(idInt|1<<8, 5),
		"unknown flags of text":  wire(idString|1<<16, "abc"),
		"padding":                wire(idString, 1, []byte("abcd")),
		"padding of five bytes":  wire(idString, 5, []byte("abcdefgh")),
		"a NUL":                  wire(idString, "a\x00b"),
		"no text":                wire(idString, ""),
		"eight bytes":            wire(idString, "abcdefgh"),
		"nine bytes":             wire(idString, "abcdefghi"),
		"nine bytes with NULs":   wire(idString, "a\x00\x00\x00efghi"),
		"two bytes to a rune":    wire(idString, "äöü"),
		"a StringName":           wire(idName, "abc"),
		"an array":               wire(idArray, 1, idNil),
		"an empty array":         wire(idArray, 0),
		"a shared array":         wire(idArray, shared(1), idNil),
		"a dictionary":           wire(idDict, 1, integer(1), integer(2)),
		"a path":                 wire(idPath, newPath(2), 0, 0, "a", []byte("\x01\x00\x00\x00abcd")),
		"packed strings":         wire(idStrings, 2, "a\x00", "b"),
		"maths as large as any":  wire(idProjection, reals(16)),
		"an object's id":         wire(idObject|bit16, uint64(5)),
	} {
		for place, packet := range map[string][]byte{
			"an array":   wire(idArray, 4, integer(1), v, integer(2), v, make([]byte, 32)),
			"keys":       wire(idDict, 2, v, integer(1), v, integer(2), make([]byte, 32)),
			"values":     wire(idDict, 2, integer(1), v, integer(2), v, make([]byte, 32)),
			"properties": wire(idObject, "A", 2, "a", v, "b", v, make([]byte, 32)),
		} {
			d := NewDecoder(nil, &DecoderOptions{AllowObjects: true})
			d.Reset(plain(packet))
			want := encoded(t, nil, func(e *Encoder) {
				for tok, err := range d.Tokens() {
					require.NoError(t, err)
					require.NoError(t, e.WriteToken(tok))
				}
			})
			ends := d.InputOffset()
			require.EqualValues(t, len(packet)-32, ends)
			eachReader(d, packet, func(reset string) {
				got := encoded(t, nil, func(e *Encoder) { require.NoError(t, CopyValue(e, d)) })
				require.Equal(t, want, got, "%s in %s, %s", name, place, reset)
				require.Equal(t, ends, d.InputOffset())
			})
			eachReader(d, packet, func(reset string) {
				require.NoError(t, d.SkipValue())
				require.Equal(t, ends, d.InputOffset(), "%s in %s, %s", name, place, reset)
			})
			for cut := range ends {
				for reset, start := range readers(packet[:cut]) {
					start(d)
					want := readAll(d)
					start(d)
					require.Equal(t, want, d.SkipValue(), "%s in %s, %s, cut at %d", name, place, reset, cut)
				}
			}
			d.Release()
		}
	}
}

// PeekKind finds what ReadToken would: no kind where there is no token.
func TestPeekKindOfNothing(t *testing.T) {
	for name, c := range map[string]struct {
		packet  []byte
		options DecoderOptions
		before  int
		want    error
	}{
		"an id of no type":        {wire(99), DecoderOptions{}, 0, ErrType},
		"an element of no type":   {wire(idArray, 1, 99), DecoderOptions{}, 1, ErrType},
		"behind the only value":   {wire(idNil, idNil), DecoderOptions{OneValue: true}, 1, io.EOF},
		"behind a packet's value": {wire(idNil, idNil), DecoderOptions{Strict: true}, 1, ErrStrict},
		"at the end":              {wire(idNil), DecoderOptions{}, 1, io.EOF},
	} {
		d := NewDecoder(nil, &c.options)
		d.ResetBytes(c.packet)
		readTo(t, d, c.before)
		require.Zero(t, d.PeekKind(), name)
		_, err := d.ReadToken()
		require.ErrorIs(t, err, c.want, name)
		d.Release()
	}
}

// A skip over chunks hands on the reader's error and goes on with the next call.
func TestSkipOfChunksIsInterrupted(t *testing.T) {
	packet := wire(idArray, 2, idBytes, 40, make([]byte, 40), integer(7))
	for at := 17; at < 56; at++ {
		d := NewDecoder(&faultyReader{b: packet, at: at}, &DecoderOptions{WindowSize: 16})
		readTo(t, d, 2)
		require.Equal(t, errTemporary, d.SkipValue(), "at %d", at)
		require.NoError(t, d.SkipValue())
		require.Equal(t, KindEnd, readTo(t, d, 1).Kind())
		require.EqualValues(t, 7, readTo(t, d, 1).Int())
		d.Release()
	}
}

// A NUL inside of a packed string is text, also where a chunk ends.
func TestNULsAtTheEndOfChunks(t *testing.T) {
	for at := range 40 {
		text := []byte(strings.Repeat("x", 40))
		text[at] = 0
		d := NewDecoder(plain(wire(idStrings, 1, string(text)+"\x00")), &DecoderOptions{WindowSize: 16})
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

// What is wrong with text in which the input ends is told however large the
// window is.
func TestCutBadText(t *testing.T) {
	for where, p := range shortTexts {
		for n := 14; n < 22; n++ {
			for bad := range n + 1 { // n: nothing is
				for _, c := range []byte{0, 0xFF} {
					text := []byte(strings.Repeat("x", n))
					if bad < n {
						text[bad] = c
					}
					packet := append(bytes.Clone(p.head), wire(string(text)+p.nul)...)
					for cut := len(p.head) + 4; cut <= len(packet); cut++ {
						for _, o := range []DecoderOptions{{}, {Strict: true}, {AnyUTF8: true}} {
							for _, o.WindowSize = range []int{16, 64} {
								d := NewDecoder(plain(packet[:cut]), &o)
								err := readAll(d)
								at, want := cut, io.ErrUnexpectedEOF
								switch fault := len(p.head) + 4 + bad; {
								case cut <= fault || bad == n:
								case c == 0 && o.Strict:
									at, want = fault, ErrStrict
								case c != 0 && !o.AnyUTF8:
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

// Data may lack its padding at the end of the input, and nothing else.
func TestDataThatIsCut(t *testing.T) {
	packet := wire(idBytes, 39, make([]byte, 40))
	for cut := 1; cut <= len(packet); cut++ {
		for _, size := range []int{16, 64} {
			d := NewDecoder(nil, &DecoderOptions{WindowSize: size})
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

// An io.ErrUnexpectedEOF of the Reader's own is handed on as any other error.
func TestUnexpectedEOFOfTheReader(t *testing.T) {
	for name, packet := range map[string][]byte{
		"bytes": wire(idBytes, 1, []byte("a\x00\x00\x00")), "bad text": wire(idString, 5, []byte("a\xffxyz\x00\x00\x00")),
	} {
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
	}
}

// A Reader may give nothing now and then, as long as it is not for ever.
func TestReaderThatHesitates(t *testing.T) {
	text := strings.Repeat("x", 10)
	packet := wire(idArray, 2, str(text), idInts, 40, make([]byte, 160))
	calls, at := 0, 0
	d := NewDecoder(readerFunc(func(p []byte) (int, error) {
		if calls++; calls%60 != 0 {
			return 0, nil
		}
		n := copy(p, packet[at:min(at+1, len(packet))])
		at += n
		return n, nil
	}), &DecoderOptions{WindowSize: 16})
	defer d.Release()
	require.Equal(t, text, readTo(t, d, 2).Text())
	readTo(t, d, 1)
	n, err := ReadPacked(d, make([]int32, 40))
	require.NoError(t, err)
	require.Equal(t, 40, n)
}

// The window does not grow for what fits it.
func TestWindowKeepsItsSize(t *testing.T) {
	for _, size := range []int{16, 100, 1000, DefaultWindowSize} {
		packet := wire(idArray, 200)
		for i := range 200 {
			packet = append(packet, str(strings.Repeat("x", i*size/199))...)
		}
		for _, r := range []io.Reader{plain(packet), &slowReader{packet}} {
			d := NewDecoder(r, &DecoderOptions{WindowSize: size})
			d.buf = make([]byte, size+history+headroom)
			d.buffer = &bytebufferpool.ByteBuffer{B: d.buf}
			tokens(t, d)
			require.Len(t, d.buf, size+history+headroom)
			d.buffer = nil
			d.Release()
		}
	}
}

// AppendString joins a path as engines write it, wherever its reader fails.
func TestPathsAppended(t *testing.T) {
	long := strings.Repeat("long", 20)
	for want, packet := range map[string][]byte{
		"":                  wire(idPath, newPath(0), 0, 0),
		"/":                 wire(idPath, newPath(0), 0, pathAbsolute),
		"a":                 wire(idPath, newPath(1), 0, 0, "a"),
		"/a":                wire(idPath, newPath(1), 0, pathAbsolute, "a"),
		"a/b/c":             wire(idPath, newPath(3), 0, 0, "a", "b", "c"),
		"/root/a:b:c":       wire(idPath, newPath(2), 2, pathAbsolute, "root", "a", "b", "c"),
		":b":                wire(idPath, newPath(0), 1, 0, "b"),
		"/:b":               wire(idPath, newPath(0), 1, pathAbsolute, "b"),
		long + "/a:" + long: wire(idPath, newPath(2), 1, 0, long, "a", long),
	} {
		for at := 16; at < len(packet); at++ {
			d := NewDecoder(&faultyReader{b: append(bytes.Clone(packet), integer(7)...), at: at}, &DecoderOptions{WindowSize: 16})
			readTo(t, d, 1)
			var got []byte
			var err error
			if at > 16 || len(packet) > 16 {
				got, err = d.AppendString(got)
				require.Equal(t, errTemporary, err, "%s at %d", want, at)
			}
			got, err = d.AppendString(got)
			require.NoError(t, err)
			require.Equal(t, want, string(got), "at %d", at)
			require.ErrorContains(t, d.WrapError(io.EOF), "offset 0, $:")
			require.EqualValues(t, 7, readTo(t, d, 1).Int())
			d.Release()
		}
		d := NewDecoder(plain(packet), nil)
		readTo(t, d, 1)
		got, err := d.AppendString(nil)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		d.Release()
	}
}

// Elements from a chunk that was read, from the window and straight from the
// Reader come in order, and an input that ends among them says so.
func TestElementsFromEverywhere(t *testing.T) {
	want := make([]int32, 100)
	packet := wire(idInts, len(want))
	for i := range want {
		want[i] = int32(i)
		packet = append(packet, wire(i)...)
	}
	for cut := 24; cut <= len(packet); cut++ {
		b := packet[:cut]
		for chunks := range 2 {
			for name, r := range map[string]io.Reader{
				"at once": plain(b), "byte by byte": &slowReader{b},
				"failing": &faultyReader{b: b, at: cut / 2}, "failing with bytes": &faultyReader{b: b, at: cut / 2, joined: true},
			} {
				faults := 0
				d := NewDecoder(r, &DecoderOptions{WindowSize: 16})
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

// A Writer that takes less than all must say why; if it does not, WriteTo does.
func TestPayloadIntoShortWriters(t *testing.T) {
	for _, c := range []struct{ gives, want error }{{nil, io.ErrShortWrite}, {errTemporary, errTemporary}} {
		d := NewDecoder(plain(str("text")), nil)
		readTo(t, d, 1)
		n, err := io.Copy(writerFunc(func(p []byte) (int, error) { return 1, c.gives }), d.Payload())
		require.Equal(t, c.want, err)
		require.EqualValues(t, 1, n)
		d.Release()
	}
}

// Elements of several components are not read from the middle of one.
func TestReadPackedInsideAVector(t *testing.T) {
	for taken := range 25 {
		d := NewDecoder(plain(wire(idVectors3, 2, reals(6))), nil)
		readTo(t, d, 2)
		_, err := io.ReadFull(d.Payload(), make([]byte, taken))
		require.NoError(t, err)
		if _, err = ReadPacked(d, make([][3]float32, 2-(taken+11)/12)); taken%12 == 0 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrType, "%d bytes taken", taken)
		}
		d.Release()
	}
}

// A skip that was interrupted goes on to the same end, also if an error that
// PeekKind met came between.
func TestInterruptedSkipOutlivesAPeek(t *testing.T) {
	packet := wire(idArray, 2, idArray, 2, idArray, 1, integer(1), integer(2), integer(3))
	for at := 12; at < len(packet)-8; at++ {
		r := &faultyReader{b: packet, at: at}
		d := NewDecoder(r, nil)
		readTo(t, d, 1)
		err := d.SkipValue()
		if err == nil {
			continue // all of it came before
		}
		require.Equal(t, errTemporary, err)
		d.err, d.once = errTemporary, true // as PeekKind leaves it
		require.Equal(t, errTemporary, d.SkipValue())
		require.NoError(t, d.SkipValue())
		require.EqualValues(t, 3, readTo(t, d, 1).Int(), "interrupted at %d", at)
		d.Release()
	}
}

// Payload hands out what has come before it asks for more, however much is wanted.
func TestPayloadWaitsOnlyIfNothingIsThere(t *testing.T) {
	packet := wire(idBytes, 400, make([]byte, 400))
	r := io.MultiReader(bytes.NewReader(packet[:100]), readerFunc(func([]byte) (int, error) {
		t.Error("read before what was there had been handed out")
		return 0, io.EOF
	}))
	d := NewDecoder(r, &DecoderOptions{WindowSize: minWindow})
	defer d.Release()
	readTo(t, d, 1)
	p := d.Payload()
	for got := 0; got < 92; {
		n, err := p.Read(make([]byte, 300))
		require.NoError(t, err)
		got += n
	}
}

// A Payload's bytes are the same however many are asked for at a time, wherever
// they stand, and it never gives none without an error.
func TestPayloadInPiecesOfAnySize(t *testing.T) {
	data := make([]byte, 480)
	for i := range data {
		data[i] = byte(i)
	}
	for _, c := range []struct{ id, count, size int }{
		{idBytes, 1, 1}, {idBytes, 2, 1}, {idBytes, 3, 1}, {idBytes, 7, 1}, {idBytes, 101, 1}, {idBytes, 400, 1},
		{idInts, 3, 4}, {idInts, 100, 4}, {idLongs, 50, 8}, {idVectors3, 40, 12},
	} {
		n := c.count * c.size
		packet := wire(c.id, c.count, data[:n], zeros[:padding(uint32(n))])
		for piece := 1; piece < 310; piece += 1 + piece/8 {
			for name, reset := range map[string]func(d *Decoder){
				"ResetBytes":   func(d *Decoder) { d.ResetBytes(packet) },
				"Reset":        func(d *Decoder) { d.Reset(plain(packet)) },
				"byte by byte": func(d *Decoder) { d.Reset(iotest.OneByteReader(bytes.NewReader(packet))) },
			} {
				d := NewDecoder(nil, &DecoderOptions{WindowSize: 32})
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
	}
}
