package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/valyala/bytebufferpool"

	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

var bufferSizes = []int{1, 16, 17, 18, 19, 20, 23, 31, 32, 33, 64, 100, 1 << 10, 64 << 10}

func TestBufferSizesAgree(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		for _, strict := range []bool{false, true} {
			read := func(packet []byte, maxChunk int) ([]string, error) {
				o := s.options(maxChunk)
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
			for _, maxChunk := range bufferSizes {
				got, err := read(s.packet, maxChunk)
				require.Equal(t, fault, err)
				require.Equal(t, want, got, "maxChunk %d", maxChunk)
			}
			for end := 0; end < len(s.packet); end += testenv.Cases(3, 1) {
				_, want := read(s.packet[:end], 0)
				for _, maxChunk := range bufferSizes {
					require.Equal(t, want, errOf(read(s.packet[:end], maxChunk)), "%d bytes, maxChunk %d", end, maxChunk)
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
		d := NewDecoder(nil, &DecoderOptions{MaxChunk: smallestChunk})
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

// Other calls need no byte after what they return or skip.
func TestCallsDoNotWait(t *testing.T) {
	list := bytesOf(idArray, 3, integer(1), str("text"), bytesOf(idArray, 1, idNil))
	dict := bytesOf(idDict, 2, str("a"), integer(1), str("b"), integer(2))
	text := str(longText)
	bytes4 := bytesOf(idBytes, 4, []byte{1, 2, 3, 4})
	peek := func(want Kind) func(d *Decoder) error {
		return func(d *Decoder) error {
			if k := d.PeekKind(); k != want {
				return errors.New(k.String())
			}
			return nil
		}
	}
	for _, c := range []struct {
		name   string
		sent   []byte
		tokens int // read before
		call   func(d *Decoder) error
	}{
		{"ReadToken of a Start", list[:8], 0, func(d *Decoder) error { _, err := d.ReadToken(); return err }},
		{"ReadToken of an End", list[:8+8], 1, func(d *Decoder) error { return readTokens(d, 1) }},
		{"ReadToken of a DictKey", dict[:8], 1, func(d *Decoder) error { return readTokens(d, 1) }},
		{"ReadToken of all", list, 0, func(d *Decoder) error { return readTokens(d, 7) }},
		{"PeekKind", list[:4], 0, peek(KindArrayStart)},
		{"PeekKind of a DictKey", dict[:8], 1, peek(KindDictKey)},
		{"PeekKind of an End", list, 6, peek(KindEnd)},
		{"PeekType", list[:4], 0, func(d *Decoder) error { _, err := d.PeekType(); return err }},
		{"PeekType of a key", dict[:12], 1, func(d *Decoder) error { _, err := d.PeekType(); return err }},
		{"PeekType at an End", list, 6, func(d *Decoder) error { _, err := d.PeekType(); return is(err, ErrCount) }},
		{"ReadEnd", list, 6, func(d *Decoder) error { return d.ReadEnd() }},
		{"SkipValue", list, 0, (*Decoder).SkipValue},
		{"SkipValue of an element", list[:16], 1, (*Decoder).SkipValue},
		{"SkipValue at an End", list, 6, func(d *Decoder) error { return is(d.SkipValue(), ErrCount) }},
		{"SkipTo", list, 5, func(d *Decoder) error { return d.SkipTo(1) }},
		{"SkipTo, nothing", list[:8], 1, func(d *Decoder) error { return d.SkipTo(1) }},
		{"CopyValue", list, 0, func(d *Decoder) error { return CopyValue(NewEncoder(io.Discard, nil), d) }},
		{"Tokens", list[:16], 1, func(d *Decoder) error { return last(d.Tokens(), -1) }},
		{"Elements, the first", list[:16], 0, func(d *Decoder) error {
			for _, err := range d.Elements() {
				if err == nil {
					_, err = d.ReadInt()
				}
				return err
			}
			return nil
		}},
		{"Elements, all", list, 0, func(d *Decoder) error { return last(d.Elements(), -1) }},
		{"Elements, left", list[:8], 0, func(d *Decoder) error { return last(d.Elements(), 1) }},
		{"Fields, the first key", dict[:20], 0, func(d *Decoder) error { return last(d.Fields(), 1) }},
		{"Fields, all", dict, 0, func(d *Decoder) error { return last(d.Fields(), -1) }},
		{"Pairs, left", dict[:8], 0, func(d *Decoder) error { return last(d.Pairs(), 1) }},
		{"Pairs, all", dict, 0, func(d *Decoder) error { return last(d.Pairs(), -1) }},
		{"WrapError after a loop is left", list[:8], 0, func(d *Decoder) error {
			err := last(d.Elements(), 1)
			d.WrapError(err)
			d.AppendPath(nil)
			d.Err()
			d.lastError()
			d.StackIndex(1)
			d.UnreadBuffer()
			return err
		}},
		{"AppendString of a chunk", text, 1, func(d *Decoder) error { _, err := d.AppendString(nil); return err }},
		{"ReadPacked", bytes4, 1, func(d *Decoder) error { _, err := ReadPacked(d, make([]byte, 4)); return err }},
		{"ReadPacked of a part", bytesOf(idInts, 3, 1, 2), 1, func(d *Decoder) error { _, err := ReadPacked(d, make([]int32, 2)); return err }},
		{"AppendPacked after PackedStart", bytes4, 1, func(d *Decoder) error { _, err := AppendPacked[byte](d, nil); return err }},
		{"Payload", bytes4, 1, func(d *Decoder) error { _, err := io.Copy(io.Discard, d.Payload()); return err }},
		{"Payload of what was sent", bytesOf(idInts, 3, 1, 2), 1, func(d *Decoder) error { _, err := d.Payload().Read(make([]byte, 100)); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []int{1, 1 << 20} {
				p := testenv.NewPeer(bytes.Clone(c.sent), step)
				d := newDecoder(t, p, &DecoderOptions{MaxChunk: 16})
				readTo(t, d, c.tokens)
				require.NoError(t, c.call(d))
				require.False(t, p.Waits())
			}
		})
	}
}

// is returns nil if err is want.
func is(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return errors.Join(errors.New("another error"), err)
}

func readTokens(d *Decoder, n int) (err error) {
	for range n {
		if err == nil {
			_, err = d.ReadToken()
		}
	}
	return err
}

// last leaves the loop after n iterations and returns the last error.
func last[T any](loop iter.Seq2[T, error], n int) (err error) {
	for _, err = range loop {
		if n--; n == 0 {
			return err
		}
	}
	return err
}

// A transcript contains all results of a Decoder.
type transcript []byte

func (tr *transcript) add(d *Decoder, what string, payload []byte, err error) {
	b := append(*tr, what...)
	b = append(b, ' ')
	b = append(b, payload...)
	if err != nil {
		b = append(b, " error: "...)
		b = append(b, err.Error()...)
	}
	b = append(b, " at "...)
	b = strconv.AppendInt(b, d.InputOffset(), 10)
	b = append(b, ' ')
	b = d.AppendPath(b)
	kind, index, count := d.StackIndex(d.Depth())
	for _, n := range []int64{int64(d.Depth()), int64(kind), index, count} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	*tr = append(b, '\n')
}

func (tr *transcript) addToken(d *Decoder, t Token, err error) {
	var b [64]byte
	p := strconv.AppendUint(b[:0], t.head, 16)
	p = strconv.AppendUint(append(p, ' '), t.bits, 16)
	p = append(append(p, ' '), t.Bytes()...)
	tr.add(d, t.Kind().String(), p, err)
}

// A call is a call on a Decoder after a token.
type call struct {
	name string
	can  func(t Token, d *Decoder) bool
	make func(d *Decoder, tr *transcript, t Token)
}

func anywhere(Token, *Decoder) bool { return true }

func insideContainer(_ Token, d *Decoder) bool { return d.Depth() > 0 }

var calls = []call{
	{"ReadToken", func(t Token, _ *Decoder) bool { return t.Kind() == 0 }, func(*Decoder, *transcript, Token) {}},
	{"PeekKind", anywhere, func(d *Decoder, tr *transcript, _ Token) {
		var k Kind
		err := withRetries(func() error {
			if k = d.PeekKind(); k != 0 {
				return nil
			}
			_, err := d.ReadToken()
			if err == nil {
				panic("PeekKind saw nothing before a token")
			}
			return err
		})
		tr.add(d, k.String(), nil, err)
	}},
	{"SkipValue", anywhere, func(d *Decoder, tr *transcript, _ Token) {
		tr.add(d, "skipped", nil, skipWithRetries(d))
	}},
	{"SkipTo(0)", insideContainer, func(d *Decoder, tr *transcript, _ Token) {
		tr.add(d, "skipped", nil, withRetries(func() error { return d.SkipTo(0) }))
	}},
	{"SkipTo(depth-1)", insideContainer, func(d *Decoder, tr *transcript, _ Token) {
		depth := d.Depth() - 1
		tr.add(d, "skipped", nil, withRetries(func() error { return d.SkipTo(depth) }))
	}},
	{"AppendString", afterText, func(d *Decoder, tr *transcript, _ Token) {
		var dst []byte
		err := withRetries(func() (err error) {
			dst, err = d.AppendString(dst)
			return err
		})
		tr.add(d, "text", dst, err)
	}},
	{"Payload by 1", afterData, readPayload(1)},
	{"Payload by 20", afterData, readPayload(20)},
	{"Payload by 100", afterData, readPayload(100)},
	{"Payload.WriteTo", afterData, func(d *Decoder, tr *transcript, _ Token) {
		var dst bytes.Buffer
		p := d.Payload()
		err := withRetries(func() error {
			_, err := io.Copy(&dst, p)
			return err
		})
		tr.add(d, "payload", dst.Bytes(), err)
	}},
	{"ReadPacked by 1", afterPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][0](d, tr, 1) }},
	{"ReadPacked by 5", afterPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][0](d, tr, 5) }},
	{"ReadPacked by 99", afterPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][0](d, tr, 99) }},
	{"ReadPacked as another", afterPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][1](d, tr, 3) }},
	{"AppendPacked", afterPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][0](d, tr, 0) }},
	{"AppendPacked as another", afterPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][1](d, tr, 0) }},
}

func readPayload(size int) func(*Decoder, *transcript, Token) {
	return func(d *Decoder, tr *transcript, _ Token) {
		var all []byte
		p, buf := d.Payload(), make([]byte, size)
		err := withRetries(func() error {
			for range 1 << 10 {
				n, err := p.Read(buf)
				all = append(all, buf[:n]...)
				if err != nil {
					return err
				}
			}
			panic("Payload never ends")
		})
		tr.add(d, "payload", all, err)
	}
}

// packedReaders read packed arrays into two element types each, by so many
// elements at a time, or by AppendPacked if that is 0.
var packedReaders = map[Type][2]func(d *Decoder, tr *transcript, by int){
	TypePackedByteArray:    {readElements[byte], readElements[int64]},
	TypePackedInt32Array:   {readElements[int32], readElements[int64]},
	TypePackedInt64Array:   {readElements[int64], readElements[int64]},
	TypePackedFloat32Array: {readElements[float32], readElements[float64]},
	TypePackedFloat64Array: {readElements[float64], readElements[float32]},
	TypePackedVector2Array: {readElements[[2]float32], readElements[[2]float64]},
	TypePackedVector3Array: {readElements[[3]float64], readElements[[3]float32]},
	TypePackedVector4Array: {readElements[[4]float64], readElements[[4]float32]},
	TypePackedColorArray:   {readElements[[4]float32], readElements[[4]float64]},
}

func readElements[T Packable](d *Decoder, tr *transcript, by int) {
	var all []T
	dst := make([]T, by)
	err := withRetries(func() (err error) {
		if by == 0 {
			all, err = AppendPacked(d, all)
			return err
		}
		for n := by; err == nil; {
			if n < by {
				panic("ReadPacked did not fill its slice")
			}
			n, err = ReadPacked(d, dst)
			all = append(all, dst[:n]...)
		}
		return err
	})
	tr.add(d, "elements", fmt.Append(nil, all), err)
}

// record reads n tokens, makes the call if it is possible there, and reads the
// rest.
func (c call) record(d *Decoder, n int) (tr transcript, made bool) {
	var t Token
	for i := 0; ; i++ {
		if i == n && c.can(t, d) {
			made = true
			c.make(d, &tr, t)
		}
		err := withRetries(func() (err error) {
			t, err = d.ReadToken()
			return err
		})
		tr.addToken(d, t, err)
		if err != nil {
			return tr, made
		}
	}
}

func TestReaderFaults(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		for _, maxChunk := range []int{smallestChunk, DefaultMaxChunk} {
			d := newDecoder(t, nil, s.options(maxChunk))
			d.Reset(plain(s.packet))
			count := len(tokens(t, d))
			for _, c := range calls {
				for n := range count + 1 {
					d.Reset(plain(s.packet))
					want, made := c.record(d, n)
					if !made {
						continue
					}
					i := 0
					eachFaultyReader(s.packet, func(name string, r io.Reader) {
						if i++; i > 2 && i%stride() != 0 {
							return
						}
						d.Reset(r)
						if got, _ := c.record(d, n); !bytes.Equal(got, want) {
							t.Fatalf("%s after %d tokens, maxChunk %d, %s:\ngot\n%s\nwant\n%s", c.name, n, maxChunk, name, got, want)
						}
					})
				}
			}
		}
	})
}

// io.Copy from a Payload continues after the bytes that a Writer took.
func TestPayloadWriterFaults(t *testing.T) {
	for _, packet := range [][]byte{str(longText), bytesOf(idFloats, 9, reals(9))} {
		d := newDecoder(t, nil, &DecoderOptions{MaxChunk: smallestChunk})
		eachFaultyWriter(len(packet)-8, func(name string, w *faultyWriter) {
			d.Reset(plain(packet))
			readTo(t, d, 1)
			p, total := d.Payload(), int64(0)
			require.NoError(t, withRetries(func() error {
				n, err := io.Copy(w, p)
				total += n
				return err
			}))
			require.EqualValues(t, len(w.b), total)
			require.Equal(t, packet[8:], append(w.b, wire.Zeros(len(packet)-8-len(w.b))...), name)
		})
	}
}
