package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// Tokens are the same in memory, from a Reader of known length and from any
// Reader. Only errors about impossible counts differ.
func TestResets(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := newDecoder(t, nil, s.options(smallestChunk))
		read := calls[0]
		d.Reset(plain(s.packet))
		want, _ := read.record(d, 0)
		n := int64(len(s.packet))
		for name, reset := range map[string]func(){
			"ResetBytes":                  func() { d.ResetBytes(s.packet) },
			"ResetN":                      func() { d.ResetN(plain(s.packet), n) },
			"ResetN by byte":              func() { d.ResetN(&slowReader{s.packet}, n) },
			"ResetN with more after it":   func() { d.ResetN(io.MultiReader(plain(s.packet), iotest.ErrReader(errors.New("asked for more"))), n) },
			"Reset after half of another": func() { d.ResetBytes(s.packet); d.SkipValue(); d.Reset(plain(s.packet)) },
			"Reset after Release":         func() { d.Release(); d.Reset(plain(s.packet)) },
			"ResetBytes after Release":    func() { d.Release(); d.ResetBytes(s.packet) },
		} {
			t.Run(name, func(t *testing.T) {
				reset()
				got, _ := read.record(d, 0)
				require.Equal(t, string(want), string(got))
			})
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
	for _, maxChunk := range []int{smallestChunk, DefaultMaxChunk} {
		for _, call := range calls {
			eachSample(t, func(t *testing.T, s sample) {
				r := bytes.NewReader(append(s.packet[:len(s.packet):len(s.packet)], "the next packet"...))
				d := newDecoder(t, nil, s.options(maxChunk))
				d.ResetN(r, int64(len(s.packet)))
				call.record(d, 1)
				require.Equal(t, len("the next packet"), r.Len())
			})
		}
	}
}

func TestResetNOfTooFew(t *testing.T) {
	d := newDecoder(t, nil, nil)
	for _, n := range []int64{-1, 0} {
		d.ResetN(iotest.ErrReader(errors.New("asked")), n)
		require.Equal(t, io.EOF, errOf(d.ReadToken()))
	}
	// A Reader that ends before its length is a truncated packet, even between
	// values.
	d.ResetN(plain(integer(7)), 12)
	readTo(t, d, 1)
	_, err := d.ReadToken()
	requireError(t, err, 8, "$", io.ErrUnexpectedEOF)
}

func TestResetBytesCopiesNothing(t *testing.T) {
	b := bytesOf(idArray, 2, str("text"), idBytes, 4, []byte("data"))
	d := new(Decoder)
	d.ResetBytes(b)
	require.Nil(t, d.buffer, "a buffer was taken from the pool")
	text := readTo(t, d, 2).Bytes()
	require.Same(t, &b[16], &text[0])
	require.Equal(t, len(text), cap(text), "appending to a payload would overwrite the packet")
	data := readTo(t, d, 2).Bytes()
	require.Same(t, &b[28], &data[0])
	require.Equal(t, len(data), cap(data))
}

func TestConsecutiveValues(t *testing.T) {
	b := bytesOf(integer(1), str("two"), idArray, 1, integer(3), idNil)
	d := newDecoder(t, plain(b), nil)
	for _, end := range []int64{8, 20, 36, 40} {
		require.NoError(t, d.SkipValue())
		require.Zero(t, d.Depth())
		require.Equal(t, end, d.InputOffset())
		require.Equal(t, b[end:], append([]byte{}, d.UnreadBuffer()...))
	}
	for range 3 {
		require.Equal(t, io.EOF, errOf(d.ReadToken()))
		require.Zero(t, d.PeekKind())
		require.Equal(t, io.EOF, d.SkipValue())
		require.Equal(t, io.EOF, CopyValue(NewEncoder(io.Discard, nil), d))
	}
}

// io.EOF is returned only between values.
func TestEOFInsideValue(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
		path string
	}{
		{"inside a header", []byte{2, 0}, "$"},
		{"after a header", bytesOf(idInt), "$"},
		{"inside an array", bytesOf(idArray, 2, idNil), "$[1]"},
		{"inside a key", bytesOf(idDict, 1, idString, 5, []byte("abc")), "$.key(0)"},
		{"after a key", bytesOf(idDict, 1, str("abc")), `$.abc`},
		{"inside a string", bytesOf(idString, 5, []byte("abc")), "$"},
		{"inside padding", bytesOf(idString, 3, []byte("abc")), "$"},
		{"inside packed numbers", bytesOf(idInts, 2, 1, []byte{1}), "$"},
		{"inside packed strings", bytesOf(idStrings, 2, "a\x00", 3), "$[1]"},
		{"inside a path", bytesOf(idPath, newPath(2), 0, 0, "a"), "$[1]"},
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
				t.Run(name, func(t *testing.T) {
					d := NewDecoder(plain(c.b), nil)
					err := read(d)
					requireError(t, err, len(c.b), c.path, io.ErrUnexpectedEOF)
					_, again := d.ReadToken()
					require.Equal(t, err, again, "%s: it stays until Reset")
					require.Equal(t, err, d.SkipTo(-1))
					require.Zero(t, d.PeekKind())
					d.Reset(plain(integer(1)))
					readTo(t, d, 1)
					d.Release()
				})
			}
		})
	}
}

// A token is returned as soon as its bytes have arrived. DictKey and End need
// none.
func TestTokensArriveWithTheirBytes(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := newDecoder(t, plain(s.packet), s.options(0))
		var ends []int64
		for {
			tok, err := d.ReadToken()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			if tok.has(flagOldNodePath) { // is recognized by its length, which is in the next token
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
			require.Len(t, d.UnreadBuffer(), int(end-d.InputOffset()), "after %v", tok)
		}
	})
}

// PeekKind needs the header of a value and no bytes for other tokens.
func TestPeekKindWaitsForTheHeaderOnly(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := newDecoder(t, plain(s.packet), s.options(0))
		r, give := pipe(t)
		peeking := newDecoder(t, r, s.options(0))
		at := int64(0)
		for {
			isValue := d.want() <= lastValue
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
			require.Equal(t, want.Kind(), peeking.PeekKind(), "a second time")
			require.Equal(t, start, peeking.InputOffset(), "it consumes nothing")
			end := d.InputOffset()
			if want.has(flagOldNodePath) {
				end += 4
			}
			if end > at {
				give(s.packet[at:end])
				at = end
			}
			require.Equal(t, want.head, must(peeking.ReadToken())(t).head)
		}
	})
}

// An error that PeekKind met is returned once, by the next call.
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
		t.Run(name, func(t *testing.T) {
			packet := bytesOf(idArray, 1, integer(7))
			d := NewDecoder(&faultyReader{b: packet, at: 8}, nil)
			readTo(t, d, 1)
			require.Zero(t, d.PeekKind())
			require.Zero(t, d.PeekKind())
			require.Equal(t, errTemporary, next(d))
			require.EqualValues(t, 7, readTo(t, d, 1).Int())
			d.Release()
		})
	}
}

func TestTokensAreOneValue(t *testing.T) {
	b := bytesOf(idDict, 1, str("k"), idArray, 1, idNil, integer(7))
	d := newDecoder(t, plain(b), nil)
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
			require.NoError(t, d.SkipTo(1)) // the loop does not yield tokens that the body skips
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

// The offset of WrapError is that of the token's first byte.
func TestWrapErrorOffset(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		for _, maxChunk := range []int{smallestChunk, 0} {
			d := NewDecoder(nil, s.options(maxChunk))
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

// The end of the input stays, even if the Reader returns more bytes later.
func TestErrorsStayAfterPeekKind(t *testing.T) {
	for there, kind := range map[int]Kind{2: 0, 6: KindInt32} {
		t.Run(fmt.Sprintf("%d bytes", there), func(t *testing.T) {
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
		})
	}
}

// A string cannot be continued after another call, even if that read nothing.
func TestNoPayloadAfterOtherCalls(t *testing.T) {
	packet := bytesOf(idArray, 1, str("text"))
	for name, call := range map[string]func(d *Decoder) error{
		"PeekKind": func(d *Decoder) error { d.PeekKind(); return nil },
		"SkipTo":   func(d *Decoder) error { return d.SkipTo(1) },
		"a misplaced SkipValue": func(d *Decoder) error {
			if err := d.SkipValue(); !errors.Is(err, ErrCount) {
				return fmt.Errorf("SkipValue at an End: %w", err)
			}
			return nil
		},
		"Reset":      func(d *Decoder) error { d.Reset(plain(packet)); return nil },
		"ResetBytes": func(d *Decoder) error { d.ResetBytes(packet); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			for _, started := range []bool{false, true} {
				d := NewDecoder(plain(packet), nil)
				readTo(t, d, 2)
				if started {
					must(d.Payload().Read(make([]byte, 1)))(t)
				}
				require.NoError(t, call(d))
				text, err := d.AppendString(nil)
				require.True(t, errors.Is(err, ErrType) || errors.Is(err, ErrCount), "%s: %v", name, err)
				require.Empty(t, text)
				d.Release()
			}
		})
	}
}

// PeekKind returns 0 where ReadToken returns an error.
func TestPeekKindWithoutToken(t *testing.T) {
	for name, c := range map[string]struct {
		packet  []byte
		options DecoderOptions
		before  int
		want    error
	}{
		"an id of no type":       {bytesOf(99), DecoderOptions{}, 0, ErrType},
		"an element of no type":  {bytesOf(idArray, 1, 99), DecoderOptions{}, 1, ErrType},
		"after the only value":   {bytesOf(idNil, idNil), DecoderOptions{OneValue: true}, 1, io.EOF},
		"after a packet's value": {bytesOf(idNil, idNil), DecoderOptions{Strict: true}, 1, ErrStrict},
		"at the end":             {bytesOf(idNil), DecoderOptions{}, 1, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(nil, &c.options)
			d.ResetBytes(c.packet)
			readTo(t, d, c.before)
			require.Zero(t, d.PeekKind())
			require.ErrorIs(t, errOf(d.ReadToken()), c.want)
			d.Release()
		})
	}
}

const staleMessage = "gdwire: token used after the next call on its Decoder; Clone it to keep it"

// A token's payload is valid until the next call on its Decoder, a clone's for
// ever.
func TestStaleTokens(t *testing.T) {
	packet := bytesOf(idArray, 3, str("text"), idFloats, 2, float32(1), float32(2), str("more"))
	other := bytesOf(idArray, 3, str("TEXT"), idFloats, 2, float32(3), float32(4), str("MORE"))
	for name, next := range map[string]func(d *Decoder){
		"ReadToken": func(d *Decoder) { d.ReadToken() },
		"PeekKind":  func(d *Decoder) { d.PeekKind() },
		"SkipValue": func(d *Decoder) { d.SkipValue() },
		"SkipTo":    func(d *Decoder) { d.SkipTo(1) },
		"CopyValue": func(d *Decoder) {
			e := NewEncoder(io.Discard, nil)
			CopyValue(e, d)
			e.Close()
		},
		"AppendString": func(d *Decoder) { d.AppendString(nil) },
		"Payload":      func(d *Decoder) { d.Payload() },
		"ReadPacked":   func(d *Decoder) { ReadPacked(d, make([]float32, 1)) },
		"AppendPacked": func(d *Decoder) { AppendPacked(d, []float32(nil)) },
		"ReadNil":      func(d *Decoder) { d.ReadNil() },
		"ReadString":   func(d *Decoder) { d.ReadString() },
		"ReadInt":      func(d *Decoder) { d.ReadInt() },
		"ReadEnd":      func(d *Decoder) { d.ReadEnd() },
		"Fields": func(d *Decoder) {
			for range d.Fields() {
			}
		},
		"Reset":      func(d *Decoder) { d.Reset(plain(other)) },
		"ResetN":     func(d *Decoder) { d.ResetN(plain(other), 40) },
		"ResetBytes": func(d *Decoder) { d.ResetBytes(other) },
		"Release":    func(d *Decoder) { d.Release() },
		"Reset to the same place": func(d *Decoder) {
			d.ResetBytes(other)
			d.ReadToken()
			d.ReadToken()
		},
		"Release, Reset to the same place": func(d *Decoder) {
			d.Release()
			d.Reset(plain(other))
			d.ReadToken()
			d.ReadToken()
		},
		"Reset back and forth": func(d *Decoder) {
			d.ResetBytes(nil)
			d.ResetBytes(packet)
			d.ReadToken()
			d.ReadToken()
		},
	} {
		t.Run(name, func(t *testing.T) {
			for reset, start := range readers(packet) {
				for _, n := range []int{2, 4} {
					d := NewDecoder(nil, nil)
					start(d)
					tok := readTo(t, d, n)
					text := tok.Text()
					clone := tok.Clone()
					require.Equal(t, text, tok.Text())
					next(d)
					for use, f := range map[string]func(){
						"Bytes": func() { tok.Bytes() }, "Text": func() { tok.Text() },
						"Clone": func() { tok.Clone() }, "WriteToken": func() { NewEncoder(io.Discard, nil).WriteToken(tok) },
					} {
						require.PanicsWithValue(t, staleMessage, f, "%s after %s, %s", use, name, reset)
					}
					require.Equal(t, text, clone.Text())
					require.Equal(t, tok.Kind(), clone.Kind())
					require.Equal(t, tok.Len(), clone.Len())
					require.Equal(t, tok.Last(), clone.Last())
					d.Release()
				}
			}
		})
	}
}

// Calls that report the Decoder's position do not make tokens stale.
func TestInspectionKeepsTokensValid(t *testing.T) {
	d := newDecoder(t, plain(str("text")), nil)
	tok := readTo(t, d, 1)
	d.Depth()
	d.InputOffset()
	d.UnreadBuffer()
	d.StackIndex(0)
	d.AppendPath(nil)
	d.WrapError(io.EOF)
	require.Equal(t, "text", tok.Text())
}

// Tokens without a payload never become stale.
func TestTokensWithoutPayload(t *testing.T) {
	d := NewDecoder(plain(bytesOf(idArray, 9, idNil, idBool, 1, integer(7), idFloat|bit16, 0.5, idRID, uint64(3),
		idObject|bit16, uint64(4), str(""), idDict, 0, idPath, newPath(0), 0, 0)), nil)
	defer d.Release()
	all := []Token{}
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		all = append(all, tok)
	}
	d.Release()
	for _, tok := range all {
		require.Equal(t, tok.String(), tok.Clone().String())
		require.Empty(t, tok.Bytes())
		require.NotEmpty(t, tok.String())
	}
	require.EqualValues(t, 9, all[0].Len())
	require.True(t, all[2].Bool())
	require.EqualValues(t, 7, all[3].Int())
	require.Equal(t, 0.5, all[4].Float())
	require.EqualValues(t, 3, all[5].ID())
}

// The capacity of a payload is its length, so that appending to it copies.
func TestPayloadsAreClipped(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		b := bytes.Clone(s.packet)
		d := newDecoder(t, nil, s.options(smallestChunk))
		d.ResetBytes(b)
		for {
			tok, err := d.ReadToken()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			p := tok.Bytes()
			require.Equal(t, len(p), cap(p))
			p = d.UnreadBuffer()
			require.Equal(t, len(p), cap(p))
		}
		require.Equal(t, s.packet, b)
	})
}

// Positions never repeat, so that no stale token is taken for a later one.
func TestTokensStayStale(t *testing.T) {
	texts := bytesOf(idStrings, 40, bytes.Repeat(bytesOf("a\x00"), 40))
	for resets := range 4 {
		for releases := range 9 {
			d := NewDecoder(plain(texts), nil)
			for range resets {
				readTo(t, d, 41)
				d.Reset(plain(texts))
			}
			tok := readTo(t, d, 20)
			d.Release()
			for range releases {
				d.Reset(plain(nil))
				d.Release()
			}
			d.Reset(plain(texts))
			for range 41 {
				readTo(t, d, 1)
				require.PanicsWithValue(t, staleMessage, func() { tok.Bytes() }, "%d Resets, %d Releases", resets, releases)
			}
			d.Release()
		}
	}
}

// Tokens ends where its value does, also if the body skips more.
func TestTokensWithSkips(t *testing.T) {
	d := newDecoder(t, plain(bytesOf(idDict, 1, str("k"), integer(1), integer(42))), nil)
	var kinds []Kind
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		kinds = append(kinds, tok.Kind())
		if tok.Kind() == KindDictKey {
			require.NoError(t, d.SkipTo(0))
		}
	}
	require.Equal(t, []Kind{KindDictStart, KindDictKey}, kinds)
	n, err := d.ReadInt()
	require.NoError(t, err)
	require.EqualValues(t, 42, n)

	// At a DictKey it covers the marker and the key.
	d.Reset(plain(bytesOf(idDict, 1, str("k"), integer(1))))
	readTo(t, d, 1)
	kinds = nil
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		kinds = append(kinds, tok.Kind())
	}
	require.Equal(t, []Kind{KindDictKey, KindStringChunk}, kinds)

	// It ends if the body leaves it there, or reads the key.
	d.Reset(plain(bytesOf(idDict, 1, str("k"), integer(1))))
	readTo(t, d, 1)
	for tok := range d.Tokens() {
		require.Equal(t, KindDictKey, tok.Kind())
		break
	}
	d.Reset(plain(bytesOf(idDict, 1, str("k"), integer(1))))
	readTo(t, d, 1)
	for tok := range d.Tokens() {
		require.Equal(t, KindDictKey, tok.Kind())
		must(d.ReadString())(t)
	}
	n, err = d.ReadInt()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

// Reset forgets the error that PeekKind kept: the next Error stays.
func TestResetAfterPeekedError(t *testing.T) {
	d := newDecoder(t, plain(nil), nil)
	for name, reset := range map[string]func(b []byte){
		"Reset":      func(b []byte) { d.Reset(plain(b)) },
		"ResetN":     func(b []byte) { d.ResetN(plain(b), int64(len(b))) },
		"ResetBytes": d.ResetBytes,
	} {
		t.Run(name, func(t *testing.T) {
			reset(nil)
			require.Zero(t, d.PeekKind())
			reset(bytesOf(99))
			for range 3 {
				_, err := d.ReadToken()
				requireError(t, err, 0, "$", ErrType)
			}
		})
	}
}

// Reset in the body of a loop frees the loop's key.
func TestResetInLoops(t *testing.T) {
	packet := bytesOf(idDict, 1, str("key"), integer(1))
	d := newDecoder(t, nil, nil)
	for range 3 {
		d.ResetBytes(packet)
		for range d.Fields() {
			d.ResetBytes(packet)
		}
		require.Empty(t, d.cold.keys)
	}
}

// An error that the Reader returns with the last bytes of a known length follows them.
func TestErrorWithTheLastBytes(t *testing.T) {
	for _, c := range []struct {
		name      string
		err, want error
	}{
		{"io.EOF", io.EOF, io.EOF},
		{"other error", errTemporary, errTemporary},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDecoder(t, nil, nil)
			packet := integer(7)
			d.ResetN(readerFunc(func(p []byte) (int, error) { return copy(p, packet), c.err }), int64(len(packet)))
			require.EqualValues(t, 7, readTo(t, d, 1).Int())
			require.Equal(t, c.want, errOf(d.ReadToken()))
			require.Equal(t, io.EOF, errOf(d.ReadToken()))
		})
	}
}

// A stale token can be printed; Bytes panics.
func TestStaleTokensPrint(t *testing.T) {
	d := NewDecoder(plain(bytesOf(idArray, 2, str("text"), idVector2, reals(2))), nil)
	readTo(t, d, 1)
	text, vector := readTo(t, d, 1), readTo(t, d, 1)
	require.Equal(t, "StringChunk (stale)", text.String())
	require.Equal(t, "Vector2 [0.5 1.5]", vector.String())
	d.Release()
	require.Equal(t, "Vector2 (stale)", vector.String())
	require.Panics(t, func() { text.Bytes() })
}

// WrapError returns errors in the shape of the package's own.
func TestWrapError(t *testing.T) {
	d := newDecoder(t, plain(bytesOf(idArray, 2, idDict, 1, str("script"), str("x"), idNil)), nil)
	mine := errors.New("no scripts here")
	readTo(t, d, 3)
	requireError(t, d.WrapError(mine), 16, "$[0].key(0)", mine) // at a marker: where the key starts
	readTo(t, d, 1)
	requireError(t, d.WrapError(mine), 16, "$[0].key(0)", mine)
	readTo(t, d, 1)
	err := d.WrapError(mine)
	require.EqualError(t, err, `gdwire: offset 32, $[0].script: no scripts here`)
	require.ErrorIs(t, err, mine)
	readTo(t, d, 1) // the error does not stay
	requireError(t, d.WrapError(mine), 44, "$[0]", mine)

	// After a bulk read the offset is still that of the token.
	d.Reset(plain(bytesOf(idArray, 1, str(longText))))
	d.options.MaxChunk = 16
	d.Reset(plain(bytesOf(idArray, 1, str(longText))))
	readTo(t, d, 2)
	must(d.AppendString(nil))(t)
	requireError(t, d.WrapError(mine), 8, "$[0]", mine)
}

func TestDecoderOptions(t *testing.T) {
	require.Equal(t, Godot4, new(Decoder).Options().Format)
	o := DecoderOptions{Format: Godot3, MaxChunk: 5, Limits: Limits{Depth: 3}}
	d := NewDecoder(nil, &o)
	require.Equal(t, o, d.Options())
	d.Release()
	require.Equal(t, o, d.Options())
}

// Every call gives the same results whether all bytes are buffered, so that the fast path reads
// what it can, or arrive one by one, so that the slow path reads all. These values are in a
// container, and the fast path must leave them to the slow path.
func TestFastPathAgreesWithSlowPath(t *testing.T) {
	all := NoLimits
	element := func(value ...any) []byte { return bytesOf(idArray, 2, bytesOf(value...), integer(7)) }
	pair := func(key, value []byte) []byte { return bytesOf(idDict, 2, str("first"), integer(1), key, value) }
	path := bytesOf(idPath, newPath(1), 0, 0, "node")
	for _, c := range []struct {
		name   string
		packet []byte
		o      DecoderOptions
	}{
		{"shared count of an Array", element(idArray, shared(1), integer(1)), DecoderOptions{Limits: all}},
		{"shared count of zero", element(idArray, shared(0)), DecoderOptions{Limits: all}},
		{"shared count of a Dictionary", element(idDict, shared(1), integer(1), integer(2)), DecoderOptions{Limits: all}},
		{"shared count in Godot 2", bytesOf(21, 2, 21, shared(1), 2, 1, 2, 7), DecoderOptions{Format: Godot2, Limits: all}},
		{"count beyond Limits.Elements", element(idArray, 3, idNil, idNil, idNil), DecoderOptions{Limits: Limits{Elements: 2}}},
		{"count beyond Limits.Values", element(idArray, 3, idNil, idNil, idNil), DecoderOptions{Limits: Limits{Values: 5}}},
		{"pairs beyond Limits.Values", element(idDict, 2, idNil, idNil, idNil, idNil), DecoderOptions{Limits: Limits{Values: 6}}},
		{"count beyond the input", element(idArray, 9, idNil), DecoderOptions{}},
		{"strings beyond Limits.Elements", element(idStrings, 3, "a", "b", "c"), DecoderOptions{Limits: Limits{Elements: 2}}},
		{"strings beyond Limits.Values", element(idStrings, 3, "a", "b", "c"), DecoderOptions{Limits: Limits{Values: 5}}},
		{"strings of two arrays beyond Limits.Values", bytesOf(idArray, 2, idStrings, 2, "a", "b", idStrings, 2, "a", "b"), DecoderOptions{Limits: Limits{Values: 6}}},
		{"names of two NodePaths beyond Limits.Values", bytesOf(idArray, 2, path, path), DecoderOptions{Limits: Limits{Values: 4}}},
		{"strings beyond the input", element(idStrings, 99, "a", "b", "c"), DecoderOptions{}},
		{"strings beyond Limits.StringBytes", element(idStrings, 2, "short", "long enough"), DecoderOptions{Limits: Limits{StringBytes: 10}}},
		{"string beyond Limits.StringBytes", element(idString, "long enough"), DecoderOptions{Limits: Limits{StringBytes: 10}}},
		{"string beyond Limits.StringBytes of 7", element(idString, "8 bytes."), DecoderOptions{Limits: Limits{StringBytes: 7}}},
		{"invalid text", element(idString, "a\xffb"), DecoderOptions{}},
		{"invalid long text", element(idString, "more than eight\xff"), DecoderOptions{}},
		{"invalid packed text", element(idStrings, 2, "a", "more than eight\xff"), DecoderOptions{}},
		{"padding of long text", bytesOf(idArray, 2, idString, 9, []byte("nine byte\x01\x02\x03"), integer(7)), DecoderOptions{}},
		{"packed data beyond Limits.PackedBytes", element(idBytes, 8, make([]byte, 8)), DecoderOptions{Limits: Limits{PackedBytes: 7}}},
		{"packed data that is cut", bytesOf(idArray, 1, idBytes, 16, make([]byte, 12)), DecoderOptions{}},
		{"packed data of 4 GiB", element(idColors, 1<<28), DecoderOptions{Limits: all}},
		{"depth of elements", element(idArray, 1, idArray, 1, idNil), DecoderOptions{Limits: Limits{Depth: 2}}},
		{"depth of names and strings", element(idArray, 2, path, idStrings, 1, "a"), DecoderOptions{Limits: Limits{Depth: 2}}},
		{"unknown type", element(99, 1), DecoderOptions{}},
		{"unknown type like another's index", element(64+idInt, 1), DecoderOptions{}},
		{"flags of a number", element(idInt|0x80<<16, 1), DecoderOptions{}},
		{"flags in Godot 2", bytesOf(21, 2, 2|bit16, 1, 2, 7), DecoderOptions{Format: Godot2}},
		{"bool other than 0 and 1", element(idBool, 2), DecoderOptions{}},
		{"typed Array", element(idArray|typedBy, idInt, 1, integer(1)), DecoderOptions{}},
		{"NodePath of one string in Godot 2", bytesOf(21, 2, 16, "a/b", 2, 7), DecoderOptions{Format: Godot2}},
		{"NodePath of one string of NULs", bytesOf(21, 2, 16, "\x00\x00\x00\x00\x00\x00\x00\x00", 2, 7), DecoderOptions{Format: Godot2}},
		{"NodePath with a property", element(idPath, newPath(1), 1, nodePathProperty, "a", "b", "c"), DecoderOptions{}},
		{"NodePath with unknown flags", element(idPath, newPath(1), 0, 4|nodePathAbsolute, "a"), DecoderOptions{}},
		{"NodePath whose counts overflow", element(idPath, newPath(1), uint32(1<<32-1), 0), DecoderOptions{Limits: all}},
		{"names beyond Limits.Elements", element(idPath, newPath(2), 1, 0, "a", "b", "c"), DecoderOptions{Limits: Limits{Elements: 2}}},
		{"names beyond Limits.Values", element(idPath, newPath(2), 1, 0, "a", "b", "c"), DecoderOptions{Limits: Limits{Values: 5}}},
		{"names beyond the input", element(idPath, newPath(9), 9, 0, "a"), DecoderOptions{}},
		{"invalid name", element(idPath, newPath(1), 0, 0, "more than eight\xff"), DecoderOptions{}},
		{"NodePath as a key", pair(path, bytesOf(99)), DecoderOptions{}},
		{"Array as a key", pair(bytesOf(idArray, 0), bytesOf(99)), DecoderOptions{}},
		{"PackedStringArray as a key", pair(bytesOf(idStrings, 1, "a"), bytesOf(99)), DecoderOptions{}},
		{"PackedByteArray as a key", pair(bytesOf(idBytes, 4, wire.Zeros(4)), bytesOf(99)), DecoderOptions{}},
		{"vector as a key", pair(bytesOf(idVector2, reals(2)), bytesOf(99)), DecoderOptions{}},
		{"long key", pair(str("longer than eight bytes"), bytesOf(99)), DecoderOptions{}},
		{"key after a container", bytesOf(idDict, 3, str("a"), idArray, 0, str("b"), idStrings, 1, "s", str("c"), 99), DecoderOptions{}},
		{"key after a NodePath", bytesOf(idDict, 2, str("a"), path, str("b"), 99), DecoderOptions{}},
		{"key after packed data", bytesOf(idDict, 2, str("a"), idBytes, 4, wire.Zeros(4), str("b"), 99), DecoderOptions{}},
		{"padding missing at the end", bytesOf(idArray, 1, idString, 9, []byte("nine byte")), DecoderOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := int64(len(c.packet))
			for name, reset := range map[string][2]func(d *Decoder){
				"any length": {
					func(d *Decoder) { d.Reset(plain(c.packet)) },
					func(d *Decoder) { d.Reset(&slowReader{c.packet}) },
				},
				"known length": {
					func(d *Decoder) { d.ResetBytes(c.packet) },
					func(d *Decoder) { d.ResetN(&slowReader{c.packet}, n) },
				},
			} {
				fast, slow := NewDecoder(nil, &c.o), NewDecoder(nil, &c.o)
				defer fast.Release()
				defer slow.Release()
				for call, read := range everyWalk {
					for tokens := 0; ; tokens++ {
						reset[0](fast)
						reset[1](slow)
						want, more := read(slow, tokens)
						got, _ := read(fast, tokens)
						require.Equal(t, want, got, "%s after %d tokens, %s", call, tokens, name)
						if !more {
							break
						}
					}
				}
			}
		})
	}
}

// everyWalk contains calls that read the values after the given number of tokens. They return their
// results and the positions after them, and whether there were as many tokens.
var everyWalk = map[string]func(d *Decoder, tokens int) (log []string, more bool){
	"ReadToken": func(d *Decoder, tokens int) ([]string, bool) {
		log, err := walk(d, math.MaxInt, nil)
		return append(log, fmt.Sprint(err)), false
	},
	"PeekKind": func(d *Decoder, tokens int) ([]string, bool) {
		log, err := walk(d, math.MaxInt, (*Decoder).PeekKind)
		return append(log, fmt.Sprint(err)), false
	},
	"SkipValue":    walkBy((*Decoder).SkipValue),
	"SkipTo":       walkBy(func(d *Decoder) error { return d.SkipTo(d.Depth() - 1) }),
	"ReadString":   walkBy(func(d *Decoder) error { _, err := d.ReadString(); return err }),
	"AppendString": walkBy(func(d *Decoder) error { _, err := d.AppendString(nil); return err }),
	"CopyValue":    walkBy(copyToNowhere),
	"AppendPacked": walkBy(func(d *Decoder) error { _, err := AppendPacked[byte](d, nil); return err }),
	"Fields": walkBy(func(d *Decoder) error {
		for _, err := range d.Fields() {
			if err != nil {
				return err
			}
		}
		return nil
	}),
}

// walk reads up to n tokens and describes each with the position after it.
func walk(d *Decoder, n int, peek func(d *Decoder) Kind) (log []string, err error) {
	for range n {
		kind := Kind(0)
		if peek != nil {
			kind = peek(d)
		}
		t, err := d.ReadToken()
		if err != nil {
			return append(log, kind.String()), err
		}
		log = append(log, fmt.Sprintf("%v %v %q %s", kind, t, t.Bytes(), position(d)))
	}
	return log, nil
}

// walkBy repeats call until it returns an error, or does nothing at the top level.
func walkBy(call func(d *Decoder) error) func(*Decoder, int) ([]string, bool) {
	return func(d *Decoder, tokens int) (log []string, more bool) {
		if _, err := walk(d, tokens, nil); err != nil {
			return nil, false
		}
		for before := ""; ; {
			err := call(d)
			log = append(log, fmt.Sprintf("%v %s", err, position(d)))
			if err != nil || log[len(log)-1] == before {
				return log, true
			}
			before = log[len(log)-1]
		}
	}
}

// position describes where d is.
func position(d *Decoder) string {
	kind, index, count := d.StackIndex(d.Depth())
	return fmt.Sprintf("at %d: %v, %v %d of %d", d.InputOffset(), d.WrapError(io.EOF), kind, index, count)
}

func TestReaderErrors(t *testing.T) {
	testInputErrors(t, []inputError{
		{name: "bytes after the value", packet: nil, is: ErrStrict, options: DecoderOptions{Strict: true}, text: "offset 4, $: not canonical: bytes after the value",
			read: func(d *Decoder) error { d.ResetBytes(bytesOf(idNil, idNil)); return readAll(d) }},
	})
}

// PeekKind makes the latest token stale wherever it is called.
func TestPeekKindMakesTokensStale(t *testing.T) {
	text := strings.Repeat("a text beyond the last bytes ", 3)
	b := encoded(t, nil, func(e *Encoder) {
		require.NoError(t, errors.Join(e.BeginArray(3),
			e.BeginArray(1), e.WriteString(text), e.End(),
			e.BeginDict(2), e.WriteString(text), e.WriteString(text), e.WriteNil(), e.WriteNil(), e.End(),
			e.BeginPacked(TypePackedStringArray, 2), e.WriteString(text), e.WriteString(text), e.End(),
			e.End(), e.WriteString(text), e.WriteNil()))
	})
	d := newDecoder(t, nil, nil)
	d.ResetBytes(b)
	var before []Kind
	for {
		tok, err := d.ReadToken()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if tok.Kind() == KindStringChunk {
			require.Equal(t, text, tok.Text())
			before = append(before, d.PeekKind())
			require.PanicsWithValue(t, staleMessage, func() { tok.Bytes() }, "before %v", before[len(before)-1])
		}
	}
	require.Equal(t, []Kind{KindEnd, KindStringChunk, KindDictKey, KindStringChunk, KindEnd, KindNil}, before)
}

func TestDecodingAllocatesNothing(t *testing.T) {
	var (
		buf     = make([]byte, 0, 4<<10)
		numbers = make([]float64, 0, 64)
		path    = make([]byte, 0, 2*maxPath)
		floats  = make([]float32, 0, 64)
		some    = make([]float32, 4)
		vectors = make([][2]float64, 0, 64)
		bytes   = make([]byte, 0, 64)
		three   = make([]byte, 3)
		out     counter
		sum     float64
	)
	for name, use := range map[string]func(d *Decoder, tok Token){
		"ReadToken": func(*Decoder, Token) {},
		"PeekKind":  func(d *Decoder, _ Token) { d.PeekKind() },
		"the content of a token": func(d *Decoder, tok Token) {
			buf = append(buf[:0], tok.Bytes()...)
			numbers = tok.AppendComponents(numbers[:0])
			_, _, _, _ = tok.Kind(), tok.Type(), tok.Last(), tok.Bool()
			sum += tok.Float()
			sum += float64(tok.Int()) + float64(tok.Len()) + float64(tok.ID()) + float64(tok.Width()) + float64(tok.Components())
			tok.NodePath()
			tok.Event()
			tok.Image()
		},
		"where it is": func(d *Decoder, tok Token) {
			path = d.AppendPath(path[:0])
			d.StackIndex(d.Depth())
			d.InputOffset()
			d.UnreadBuffer()
		},
		"SkipValue": func(d *Decoder, _ Token) {
			if d.want() != wantEnd {
				check(d.SkipValue())
			}
		},
		"SkipTo": func(d *Decoder, _ Token) { check(d.SkipTo(d.Depth() - 1)) },
		"AppendString": func(d *Decoder, tok Token) {
			if afterText(tok, d) {
				var err error
				buf, err = d.AppendString(buf[:0])
				check(err)
			}
		},
		"Payload": func(d *Decoder, tok Token) {
			if afterData(tok, d) {
				_, err := d.Payload().Read(three)
				check(err)
				_, err = io.Copy(&out, d.Payload())
				check(err)
			}
		},
		"ReadPacked": func(d *Decoder, tok Token) {
			if tok.Kind() == KindPackedStart && tok.Type() == TypePackedFloat32Array {
				_, err := ReadPacked(d, some)
				check(err)
			}
		},
		"AppendPacked": func(d *Decoder, tok Token) {
			if tok.Kind() != KindPackedStart {
				return
			}
			var err error
			switch tok.Type() {
			case TypePackedFloat32Array:
				floats, err = AppendPacked(d, floats[:0])
			case TypePackedFloat64Array:
				numbers, err = AppendPacked(d, numbers[:0])
			case TypePackedVector2Array:
				vectors, err = AppendPacked(d, vectors[:0])
			case TypePackedByteArray:
				bytes, err = AppendPacked(d, bytes[:0])
			}
			check(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachSample(t, func(t *testing.T, s sample) {
				for _, maxChunk := range []int{smallestChunk, DefaultMaxChunk} {
					d := newDecoder(t, nil, s.options(maxChunk))
					for name, reset := range readers(s.packet) {
						requireNoAllocs(t, func() {
							reset(d)
							for {
								tok, err := d.ReadToken()
								if err != nil {
									if err != io.EOF {
										panic(name + err.Error())
									}
									return
								}
								use(d, tok)
							}
						})
					}
				}
			})
		})
	}
}

// At a DictKey, Tokens covers the key. A body that reads the key itself ends the loop.
func TestTokensWhoseKeyIsRead(t *testing.T) {
	d := newDecoder(t, nil, nil)
	eachSlowReader(d, bytesOf(idDict, 1, str("a"), integer(7)), func(reader string) {
		readTo(t, d, 1)
		n := 0
		for token, err := range d.Tokens() {
			require.NoError(t, err)
			require.Equal(t, KindDictKey, token.Kind())
			require.Equal(t, "a", must(d.ReadString())(t))
			n++
		}
		require.Equal(t, 1, n, reader)
		require.EqualValues(t, 7, must(d.ReadInt())(t), reader)
	})
}
