package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
)

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

// An error that the Reader returns with any byte is returned once.
func TestErrorsWithBytesAreDeliveredOnce(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := newDecoder(t, nil, s.options(0))
		for at := range s.packet {
			i := 0
			d.Reset(readerFunc(func(p []byte) (int, error) {
				if i++; i > len(s.packet) {
					return 0, io.EOF
				}
				if p[0] = s.packet[i-1]; i-1 == at {
					return 1, errTemporary
				}
				return 1, nil
			}))
			failed := 0
			for err := error(nil); err != io.EOF; {
				if _, err = d.ReadToken(); err == errTemporary {
					failed++
				} else if err != io.EOF {
					require.NoError(t, err)
				}
			}
			require.Equal(t, 1, failed, "with byte %d", at)
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
