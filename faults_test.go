package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a Decoder says, and what an Encoder writes, must not depend on how the
// Reader or Writer cuts the bytes, nor on errors after which it is asked again.
// So every call is made at every place of every sample, with a Reader or Writer
// that fails at every byte, and must do what it does when nothing fails.

var errTemporary = errors.New("temporary")

// insist makes a call again as long as only the Reader or Writer is at fault.
func insist(call func() error) error {
	for range 1 << 16 {
		err := call()
		if err != errTemporary && err != io.ErrShortWrite {
			return err
		}
	}
	panic("a call that never ends")
}

// A faultyReader fails once, where at bytes have been read; or, if every is set,
// gives one byte at a time and fails before each.
type faultyReader struct {
	b      []byte
	pos    int
	at     int
	every  bool
	joined bool // errors come with the bytes in front of them
	failed bool
}

func (r *faultyReader) Read(p []byte) (int, error) {
	b := r.b[r.pos:]
	switch {
	case r.every && !r.failed:
		r.failed = true
		return 0, errTemporary
	case r.every:
		b, r.failed = b[:min(1, len(b))], false
	case !r.failed:
		b = b[:r.at-r.pos]
		if len(p) >= len(b) && (len(b) == 0 || r.joined) {
			r.failed = true
			r.pos += len(b)
			return copy(p, b), errTemporary
		}
	}
	n := copy(p, b)
	r.pos += n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// eachFaultyReader gives readers that all read b.
func eachFaultyReader(b []byte, f func(name string, r io.Reader)) {
	f("byte by byte", &slowReader{b})
	f("failing before every byte", &faultyReader{b: b, every: true})
	for at := range len(b) + 1 {
		f("failing at "+strconv.Itoa(at), &faultyReader{b: b, at: at})
		f("failing with what comes before "+strconv.Itoa(at), &faultyReader{b: b, at: at, joined: true})
	}
}

// A slowReader gives a byte at a time, and the last one with io.EOF.
type slowReader struct{ b []byte }

func (r *slowReader) Read(p []byte) (int, error) {
	n := copy(p, r.b[:min(1, len(r.b))])
	if r.b = r.b[n:]; len(r.b) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// A transcript is all that a Decoder says.
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

// A call is something that can be asked of a Decoder behind a token.
type call struct {
	name string
	can  func(t Token, d *Decoder) bool
	make func(d *Decoder, tr *transcript, t Token)
}

func anywhere(Token, *Decoder) bool            { return true }
func insideSomething(_ Token, d *Decoder) bool { return d.Depth() > 0 }
func behindText(t Token, _ *Decoder) bool {
	return t.Kind() == KindStringChunk || t.Kind() == KindNodePathStart
}
func behindData(t Token, _ *Decoder) bool {
	return t.Kind() == KindStringChunk || t.Kind() == KindImageStart || behindPacked(t, nil)
}
func behindPacked(t Token, _ *Decoder) bool {
	return (t.Kind() == KindPackedStart || t.Kind() == KindChunk) && packedReaders[t.Type()][0] != nil
}

var calls = []call{
	{"ReadToken", func(t Token, _ *Decoder) bool { return t.Kind() == 0 }, func(*Decoder, *transcript, Token) {}},
	{"PeekKind", anywhere, func(d *Decoder, tr *transcript, _ Token) {
		var k Kind
		err := insist(func() error {
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
		tr.add(d, "skipped", nil, insist(d.SkipValue))
	}},
	{"SkipTo(0)", insideSomething, func(d *Decoder, tr *transcript, _ Token) {
		tr.add(d, "skipped", nil, insist(func() error { return d.SkipTo(0) }))
	}},
	{"SkipTo(depth-1)", insideSomething, func(d *Decoder, tr *transcript, _ Token) {
		depth := d.Depth() - 1
		tr.add(d, "skipped", nil, insist(func() error { return d.SkipTo(depth) }))
	}},
	{"AppendString", behindText, func(d *Decoder, tr *transcript, _ Token) {
		var dst []byte
		err := insist(func() (err error) {
			dst, err = d.AppendString(dst)
			return err
		})
		tr.add(d, "text", dst, err)
	}},
	{"Payload by 1", behindData, readPayload(1)},
	{"Payload by 20", behindData, readPayload(20)},
	{"Payload by 100", behindData, readPayload(100)},
	{"Payload.WriteTo", behindData, func(d *Decoder, tr *transcript, _ Token) {
		var dst bytes.Buffer
		p := d.Payload()
		err := insist(func() error {
			_, err := io.Copy(&dst, p)
			return err
		})
		tr.add(d, "payload", dst.Bytes(), err)
	}},
	{"ReadPacked by 1", behindPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][0](d, tr, 1) }},
	{"ReadPacked by 5", behindPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][0](d, tr, 5) }},
	{"ReadPacked by 99", behindPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][0](d, tr, 99) }},
	{"ReadPacked as another", behindPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][1](d, tr, 3) }},
	{"AppendPacked", behindPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][0](d, tr, 0) }},
	{"AppendPacked as another", behindPacked, func(d *Decoder, tr *transcript, t Token) { packedReaders[t.Type()][1](d, tr, 0) }},
}

func readPayload(size int) func(*Decoder, *transcript, Token) {
	return func(d *Decoder, tr *transcript, _ Token) {
		var all []byte
		p, buf := d.Payload(), make([]byte, size)
		err := insist(func() error {
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

// packedReaders read packed arrays as the types they can be read as, by so many
// elements at a time, or 0 for AppendPacked.
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
	err := insist(func() (err error) {
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

// listen reads n tokens, makes the call if it can be made there, and reads what
// is left.
func (c call) listen(d *Decoder, n int) (tr transcript, made bool) {
	var t Token
	for i := 0; ; i++ {
		if i == n && c.can(t, d) {
			made = true
			c.make(d, &tr, t)
		}
		err := insist(func() (err error) {
			t, err = d.ReadToken()
			return err
		})
		tr.addToken(d, t, err)
		if err != nil {
			return tr, made
		}
	}
}

// stride leaves most of a sweep out where it would take long.
func stride() int {
	if testing.Short() || raceEnabled {
		return 7
	}
	return 1
}

func TestReaderFaults(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		for _, window := range []int{minWindow, DefaultWindowSize} {
			d := NewDecoder(nil, s.options(window))
			defer d.Release()
			d.Reset(plain(s.packet))
			count := len(tokens(t, d))
			for _, c := range calls {
				for n := range count + 1 {
					d.Reset(plain(s.packet))
					want, made := c.listen(d, n)
					if !made {
						continue
					}
					i := 0
					eachFaultyReader(s.packet, func(name string, r io.Reader) {
						if i++; i > 2 && i%stride() != 0 {
							return
						}
						d.Reset(r)
						if got, _ := c.listen(d, n); !bytes.Equal(got, want) {
							t.Fatalf("%s after %d tokens, window %d, %s:\ngot\n%s\nwant\n%s", c.name, n, window, name, got, want)
						}
					})
				}
			}
		}
	})
}

// An end of the input is found in the same place however the bytes come.
func TestTruncated(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(nil, s.options(minWindow))
		defer d.Release()
		for end := range len(s.packet) {
			b := s.packet[:end]
			d.Reset(plain(b))
			want, _ := calls[0].listen(d, 0)
			for name, r := range map[string]io.Reader{
				"byte by byte": &slowReader{b}, "failing before every byte": &faultyReader{b: b, every: true},
			} {
				d.Reset(r)
				got, _ := calls[0].listen(d, 0)
				require.Equal(t, string(want), string(got), "%d bytes, %s", end, name)
			}
		}
	})
}

// CopyValue goes on whichever side it was that failed.
func TestCopyValueFaults(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(nil, s.options(minWindow))
		defer d.Release()
		d.Reset(plain(s.packet))
		count := len(tokens(t, d))
		// Copies n tokens one by one and everything behind them by CopyValue.
		check := func(name string, n int, r io.Reader, w *faultyWriter) {
			d.Reset(r)
			e := smallEncoder(w, s.format, 16)
			defer e.Release()
			for i := 0; ; i++ {
				copyNext := func() error { return CopyValue(e, d) }
				if i < n || d.top.want == wantEnd {
					copyNext = func() error { return copyToken(e, d) }
				}
				err := insist(copyNext)
				if err == io.EOF {
					break
				}
				require.NoError(t, err, "%s, CopyValue after %d", name, n)
			}
			require.NoError(t, insist(e.Close))
			require.Equal(t, s.packet, w.b, "%s, CopyValue after %d", name, n)
		}
		for n := range count {
			eachFaultyReader(s.packet, func(name string, r io.Reader) {
				check("reader "+name, n, r, &faultyWriter{at: -1})
			})
			eachFaultyWriter(len(s.packet), func(name string, w *faultyWriter) {
				check("writer "+name, n, plain(s.packet), w)
			})
			check("both failing always", n, &faultyReader{b: s.packet, every: true}, &faultyWriter{every: true})
		}
	})
}

// So it does where tokens become others on the way.
func TestCopyValueFaultsBetweenFormats(t *testing.T) {
	for _, s := range samples {
		for _, f := range formats {
			d := NewDecoder(nil, s.options(minWindow))
			d.Reset(plain(s.packet))
			var want bytes.Buffer
			e := NewEncoder(&want, &EncoderOptions{Format: f})
			var err error
			for err == nil {
				err = CopyValue(e, d)
			}
			e.Release()
			if err != io.EOF {
				continue // not everything goes
			}
			eachFaultyWriter(want.Len(), func(name string, w *faultyWriter) {
				d.Reset(plain(s.packet))
				e := smallEncoder(w, f, 12)
				defer e.Release()
				for err = nil; err == nil; {
					err = insist(func() error { return CopyValue(e, d) })
				}
				require.Equal(t, io.EOF, err)
				require.Equal(t, want.Bytes(), w.b, "%s as %v, %s", s.name, f, name)
			})
			d.Release()
		}
	}
}

// io.Copy from a Payload goes on behind what a Writer took.
func TestPayloadWriterFaults(t *testing.T) {
	for _, packet := range [][]byte{str(longText), wire(idFloats, 9, reals(9))} {
		d := NewDecoder(nil, &DecoderOptions{WindowSize: minWindow})
		defer d.Release()
		eachFaultyWriter(len(packet)-8, func(name string, w *faultyWriter) {
			d.Reset(plain(packet))
			readTo(t, d, 1)
			p, total := d.Payload(), int64(0)
			require.NoError(t, insist(func() error {
				n, err := io.Copy(w, p)
				total += n
				return err
			}))
			require.EqualValues(t, len(w.b), total)
			require.Equal(t, packet[8:], append(w.b, zeros[:len(packet)-8-len(w.b)]...), name)
		})
	}
}

// copyToken copies one token, and insists on writing it.
func copyToken(e *Encoder, d *Decoder) error {
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	return insist(func() error { return e.WriteToken(t) })
}

// A faultyWriter fails once, where at bytes have been written; or, if every is
// set, takes one byte and fails at every call.
type faultyWriter struct {
	b      []byte
	at     int // -1: never
	every  bool
	short  bool // it takes less and does not say so
	failed bool
}

func (w *faultyWriter) Write(p []byte) (int, error) {
	n := len(p)
	switch {
	case w.every:
		n = min(1, n)
	case w.at >= 0 && !w.failed && len(w.b)+n > w.at:
		n = w.at - len(w.b)
		w.failed = true
	default:
		w.b = append(w.b, p...)
		return n, nil
	}
	w.b = append(w.b, p[:n]...)
	if w.short && n < len(p) {
		return n, nil
	}
	return n, errTemporary
}

// eachFaultyWriter gives writers for n bytes.
func eachFaultyWriter(n int, f func(name string, w *faultyWriter)) {
	f("failing at every byte", &faultyWriter{every: true})
	f("short at every byte", &faultyWriter{every: true, short: true})
	for at := range n {
		f("failing at "+strconv.Itoa(at), &faultyWriter{at: at})
		f("short at "+strconv.Itoa(at), &faultyWriter{at: at, short: true})
	}
}

// smallEncoder returns an Encoder that writes after every few bytes.
func smallEncoder(w io.Writer, f *Format, size int) *Encoder {
	e := NewEncoder(w, &EncoderOptions{Format: f})
	e.buf = e.buf[:size:size]
	e.limitBuffer()
	return e
}

// A step is a call on an Encoder, to be made again if the Writer fails.
type step func(e *Encoder) error

// writeAll is Write, which says how far it came.
func writeAll(p []byte) step {
	done := 0
	return func(e *Encoder) error {
		n, err := e.Write(p[done:])
		if done += n; err == nil {
			done = 0
		}
		return err
	}
}

// waysToWrite are the ways to write the tokens of a sample.
func waysToWrite(all []Token) map[string][]step {
	ways := map[string][]step{}
	for _, t := range all {
		whole := func(e *Encoder) error { return e.WriteToken(t) }
		unknown, pieces, one := []step{whole}, []step{whole}, []step{whole}
		switch t.Kind() {
		case KindArrayStart, KindDictStart, KindObjectStart, KindPackedStart, KindImageStart:
			if t.has(flagShared) {
				break // only Decoders make such a token, and none of Unknown count
			}
			t := t
			t.head |= uint64(flagUnknown) << 16
			unknown = []step{func(e *Encoder) error { return e.WriteToken(t) }}
		case KindStringChunk:
			if t.Type() == TypeNodePath || int64(len(t.Bytes())) < t.Len() {
				break
			}
			fallthrough
		case KindChunk:
			b := t.Bytes()
			begin := func(n int64, fill ...step) []step {
				if t.Kind() == KindChunk {
					return fill
				}
				s := []step{func(e *Encoder) error { return e.BeginString(t.Type(), n) }}
				return append(append(s, fill...), (*Encoder).End)
			}
			fill := []step{}
			for p := range slices.Chunk(b, 5) {
				fill = append(fill, writeAll(p))
			}
			unknown, pieces = begin(Unknown, fill...), begin(int64(len(b)), fill...)
			one = begin(int64(len(b)), writeAll(b))
		}
		ways["tokens"] = append(ways["tokens"], whole)
		ways["tokens and flushes"] = append(ways["tokens and flushes"], whole, (*Encoder).Flush)
		ways["unknown counts"] = append(ways["unknown counts"], unknown...)
		ways["unknown counts and flushes"] = append(append(ways["unknown counts and flushes"], unknown...), (*Encoder).Flush)
		ways["small Writes"] = append(ways["small Writes"], pieces...)
		ways["one Write"] = append(ways["one Write"], one...)
	}
	return ways
}

func TestWriterFaults(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		for _, window := range []int{minWindow, DefaultWindowSize} {
			d := NewDecoder(plain(s.packet), s.options(window))
			ways := waysToWrite(tokens(t, d))
			d.Release()
			d.ResetBytes(s.packet)
			for i := 0; i < len(s.packet); i = int(d.InputOffset()) {
				require.NoError(t, d.SkipValue())
				value := s.packet[i:d.InputOffset()]
				ways["raw"] = append(ways["raw"], func(e *Encoder) error { return e.WriteRaw(value) })
			}
			for way, steps := range ways {
				for _, size := range []int{12, 16, 64, 4096} {
					i := 0
					eachFaultyWriter(len(s.packet), func(name string, w *faultyWriter) {
						if i++; i > 2 && i%stride() != 0 {
							return
						}
						e := smallEncoder(w, s.format, size)
						defer e.Release()
						for i, step := range steps {
							err := insist(func() error { return step(e) })
							if err != nil {
								t.Fatalf("%s, buffer of %d, %s, step %d: %v", way, size, name, i, err)
							}
						}
						if err := insist(e.Close); err != nil || !bytes.Equal(w.b, s.packet) {
							t.Fatalf("%s, buffer of %d, %s: %v\ngot\n%q\nwant\n%q", way, size, name, err, w.b, s.packet)
						}
					})
				}
			}
		}
	})
}

// typedCalls write what no token does: elements from slices, names that an
// Encoder parts, components to be rounded.
func typedCalls() []step {
	floats := []float64{0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5}
	return []step{
		func(e *Encoder) error { return e.BeginArray(9) },
		func(e *Encoder) error { return e.WriteReals(TypeBasis, floats...) },
		func(e *Encoder) error { return e.WriteInts(TypeRect2i, 1, 2, 3, 4) },
		func(e *Encoder) error { return e.BeginPacked(TypePackedFloat32Array, 19) },
		func(e *Encoder) error { return WritePacked(e, floats) },
		func(e *Encoder) error { return WritePacked(e, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}) },
		func(e *Encoder) error { return WritePacked(e, []float32{}) },
		func(e *Encoder) error { return WritePacked(e, floats[:1]) },
		(*Encoder).End,
		func(e *Encoder) error { return e.BeginPacked(TypePackedVector3Array, Unknown) },
		func(e *Encoder) error { return WritePacked(e, [][3]float64{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}) },
		func(e *Encoder) error { return WritePacked(e, [][3]float32{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}) },
		(*Encoder).End,
		func(e *Encoder) error { return e.BeginPacked(TypePackedInt64Array, 4) },
		func(e *Encoder) error { return WritePacked(e, []byte{1, 2, 3, 4}) },
		(*Encoder).End,
		func(e *Encoder) error { return e.WriteNodePath("/root/" + text32 + ":position:x") },
		func(e *Encoder) error { return e.WriteString(longText) },
		func(e *Encoder) error { return e.WriteSignal(text32, 7) },
		func(e *Encoder) error {
			return e.BeginTypedDict(1, Elem{Type: TypeStringName}, Elem{Script: "res://a/script.gd"})
		},
		func(e *Encoder) error { return e.WriteStringName("key") },
		func(e *Encoder) error { return e.BeginObject("Node", 1) },
		func(e *Encoder) error { return e.WriteProperty(text16) },
		func(e *Encoder) error { return e.BeginNodePath(1, 1, true) },
		func(e *Encoder) error { return e.WriteString(text16) },
		func(e *Encoder) error { return e.WriteString("x") },
		(*Encoder).End, (*Encoder).End, (*Encoder).End, (*Encoder).End,
	}
}

func TestWriterFaultsInTypedCalls(t *testing.T) {
	want := encoded(t, nil, func(e *Encoder) {
		for _, step := range typedCalls() {
			require.NoError(t, step(e))
		}
	})
	for _, size := range []int{12, 16, 40, 64, 4096} {
		eachFaultyWriter(len(want), func(name string, w *faultyWriter) {
			e := smallEncoder(w, Godot4, size)
			defer e.Release()
			for i, step := range typedCalls() {
				require.NoError(t, insist(func() error { return step(e) }), "buffer of %d, %s, step %d", size, name, i)
			}
			require.NoError(t, e.Close())
			require.Equal(t, want, w.b, "buffer of %d, %s", size, name)
		})
	}
}

// While a call is interrupted nothing else can be written, and it can be made
// again whatever was tried meanwhile.
func TestOtherCallsWhileInterrupted(t *testing.T) {
	long := string(bytes.Repeat([]byte{'x'}, 100))
	var w faultyWriter
	w.at = 50
	e := smallEncoder(&w, Godot4, 16)
	defer e.Release()
	require.NoError(t, e.BeginDict(1))
	require.NoError(t, e.WriteToken(DictKey()))
	require.Equal(t, errTemporary, e.WriteString(long))
	for name, other := range map[string]step{
		"WriteNil":          (*Encoder).WriteNil,
		"another string":    func(e *Encoder) error { return e.WriteString(long[1:]) },
		"Close":             (*Encoder).Close,
		"End":               (*Encoder).End,
		"BeginArray":        func(e *Encoder) error { return e.BeginArray(1) },
		"WriteRaw":          func(e *Encoder) error { return e.WriteRaw(integer(7)) },
		"WriteToken":        func(e *Encoder) error { return e.WriteToken(Int32(7)) },
		"WriteToken of key": func(e *Encoder) error { return e.WriteToken(DictKey()) },
		"Write":             func(e *Encoder) error { _, err := e.Write([]byte("x")); return err },
	} {
		require.Error(t, other(e), name)
	}
	require.NoError(t, e.Flush())
	require.NoError(t, e.WriteString(long))
	require.NoError(t, e.WriteNil())
	require.NoError(t, e.End())
	require.NoError(t, e.Close())
	require.Equal(t, wire(idDict, 1, str(long), idNil), w.b)
}

// A conversion that is interrupted goes on with the same elements only.
func TestOtherElementsWhileInterrupted(t *testing.T) {
	w := &faultyWriter{at: 20}
	e := smallEncoder(w, Godot4, 16)
	defer e.Release()
	require.NoError(t, e.BeginPacked(TypePackedFloat32Array, 20))
	src := make([]float64, 10)
	require.Equal(t, errTemporary, WritePacked(e, src))
	require.ErrorIs(t, WritePacked(e, src[1:]), ErrOpen)
	require.ErrorIs(t, WritePacked(e, append([]float64{1}, src[1:]...)), ErrOpen, "as many, but others")
	require.NoError(t, WritePacked(e, src))
	require.NoError(t, WritePacked(e, src))
	require.NoError(t, e.End())
	require.Equal(t, wire(idFloats, 20, make([]byte, 80)), w.b)
}

// A key that the Writer interrupted comes again, no marker before it.
func TestMarkerBehindInterruptedKey(t *testing.T) {
	w := &faultyWriter{at: 20}
	e := smallEncoder(w, Godot4, 16)
	defer e.Release()
	require.NoError(t, e.BeginDict(1))
	require.Equal(t, errTemporary, e.WriteString(longText))
	misuse{"a marker", dictKey, ErrOpen}.refuses(t, e)
	require.NoError(t, e.WriteString(longText))
	require.NoError(t, e.WriteNil())
	require.NoError(t, e.End())
	require.Equal(t, wire(idDict, 1, str(longText), idNil), w.b)
}

// Elements that are converted in pieces are those of the chunk.
func TestConvertedChunksInPieces(t *testing.T) {
	wide, narrow := wire(idVectors2|bit16, 9), wire(24, 9)
	for i := range 18 {
		wide = append(wide, wire(float64(i)+0.5)...)
	}
	narrow = append(narrow, reals(18)...)
	for size := 8; size < 80; size += 4 {
		var b bytes.Buffer
		e := smallEncoder(&b, Godot3, size)
		d := NewDecoder(plain(wide), nil)
		require.NoError(t, CopyValue(e, d))
		require.Equal(t, narrow, b.Bytes(), "buffer of %d", size)
		d.Release()
		e.Release()
	}
}

// A long string and its padding come once, wherever the Writer stops, also where
// they are the whole value.
func TestWriterFaultsInLongText(t *testing.T) {
	for n := range 4 {
		text := longText + "xyz"[:n]
		want := str(text)
		eachFaultyWriter(len(want), func(name string, w *faultyWriter) {
			for _, size := range []int{12, 16, 64} {
				w := *w
				e := smallEncoder(&w, Godot4, size)
				require.NoError(t, insist(func() error { return e.WriteString(text) }))
				require.NoError(t, insist(e.Close))
				require.Equal(t, want, w.b, "%d bytes, %s, buffer of %d", len(text), name, size)
				e.Release()
			}
		})
	}
}

// An interrupted CopyValue that is given up leaves nothing behind.
func TestInterruptedCopyGivenUp(t *testing.T) {
	packet := wire(idArray, 3, str("one"), str("two"), idArray, 1, str("three"))
	for name, giveUp := range map[string]func(d *Decoder){
		"ReadToken": func(d *Decoder) { readTo(t, d, 1) },
		"SkipTo":    func(d *Decoder) { require.NoError(t, d.SkipTo(1)) },
		"SkipValue": func(d *Decoder) { require.NoError(t, d.SkipValue()) }, // goes on to the same end
	} {
		d := NewDecoder(plain(packet), nil)
		readTo(t, d, 1)
		require.Equal(t, errTemporary, CopyValue(smallEncoder(&faultyWriter{every: true}, Godot4, 12), d))
		require.Greater(t, d.skip, 0)
		giveUp(d)
		if name == "ReadToken" {
			require.Equal(t, "$[1]", string(d.AppendPath(nil)))
		} else {
			require.Equal(t, "$[0]", string(d.AppendPath(nil)))
			readTo(t, d, 1)
		}
		got := encoded(t, nil, func(e *Encoder) { require.NoError(t, CopyValue(e, d)) })
		require.Equal(t, wire(idArray, 1, str("three")), got, name)
		d.Release()
	}
}

// CopyValue stands where SkipValue could: it copies a marker with its key, ends
// where it has to, and says so at an End.
func TestCopyValueInPlaceOfSkipValue(t *testing.T) {
	d := NewDecoder(plain(wire(idDict, 1, str("a"), idArray, 3, idArray, 1, idNil, integer(7), integer(8))), nil)
	defer d.Release()
	var b bytes.Buffer
	e := NewEncoder(&b, nil)
	defer e.Release()
	copies := func() { require.NoError(t, CopyValue(e, d)) }
	writes := func() { require.NoError(t, e.WriteToken(readTo(t, d, 1))) }
	writes()
	copies()
	require.Equal(t, KindArrayStart, d.PeekKind(), "behind the key")
	writes()
	copies()
	require.NoError(t, d.SkipValue())
	require.EqualValues(t, 48, d.InputOffset(), "behind 7")
	copies()
	require.ErrorIs(t, CopyValue(e, d), ErrCount)
	require.Equal(t, 2, d.Depth(), "the End is still to come")
	require.Equal(t, KindEnd, readTo(t, d, 1).Kind())
	require.Equal(t, wire(idDict, 1, str("a"), idArray, 3, idArray, 1, idNil, integer(8)), append(b.Bytes(), e.buf[:e.n]...))
}

// A copy that the Reader interrupted may go on into another Encoder, which counts
// for itself.
func TestInterruptedCopyIntoAnother(t *testing.T) {
	ints := wire(integer(1), integer(2), integer(3), integer(4))
	abc := wire("a", "b", "c")
	for _, c := range []struct {
		name       string
		head, rest []byte // before and behind the error
		begin      step
		err        error
		want       []byte
	}{
		{"the same", wire(idArray, 4), ints, array(4), nil, wire(idArray, 4, ints)},
		{"more elements", wire(idArray, 4), ints, array(5), ErrCount, wire(idArray, 5, ints)},
		{"fewer elements", wire(idArray, 4), ints, array(3), ErrCount, wire(idArray, 3, ints[:24])},
		{"an unknown count", wire(idArray, 4), ints, array(Unknown), nil, wire(idArray, 4, ints)},
		{"as many pairs", wire(idArray, 4), ints, dict(4), ErrCount, wire(idDict, 4, ints)},
		{"half as many pairs", wire(idArray, 4), ints, dict(2), nil, wire(idDict, 2, ints)},
		{"behind a key", wire(idDict, 2, integer(0)), ints[:24], dict(2), ErrKey, wire(idDict, 2, integer(1))},
		{"another type", wire(idArray, 4), ints, typedArray(4, Elem{Type: TypeString}), ErrType, wire(idArray|typedBy, idString, 4)},
		{"names of a path", wire(idPath, newPath(3), 0, 0), abc, path(2, 1), nil, wire(idPath, newPath(2), 1, 0, abc)},
		{"packed strings", wire(idPath, newPath(3), 0, 0), abc, packedOf(TypePackedStringArray, 3), nil, wire(idStrings, 3, "a\x00", "b\x00", "c\x00")},
	} {
		t.Run(c.name, func(t *testing.T) {
			later := errors.New("later")
			d := NewDecoder(io.MultiReader(bytes.NewReader(c.head), &onceReader{later}, bytes.NewReader(c.rest)), nil)
			defer d.Release()
			require.Equal(t, later, CopyValue(NewEncoder(io.Discard, nil), d))

			var b bytes.Buffer
			e := NewEncoder(&b, nil)
			defer e.Release()
			require.NoError(t, c.begin(e))
			if err := CopyValue(e, d); c.err != nil {
				require.ErrorIs(t, err, c.err)
				require.Equal(t, 1, e.Depth(), "it is not complete")
				require.NoError(t, e.Flush())
			} else {
				require.NoError(t, err)
				require.Zero(t, e.Depth())
			}
			require.Equal(t, c.want, b.Bytes())
		})
	}
}

// onceReader fails once.
type onceReader struct{ err error }

func (r *onceReader) Read([]byte) (int, error) {
	err := r.err
	r.err = io.EOF
	return 0, err
}

// A copy that the Writer interrupted goes on after other looks at the Decoder.
func TestCopyValueAfterPeek(t *testing.T) {
	packet := wire(idArray, 2, str("one"), str("two"))
	w := new(faultyWriter) // fails before the first byte
	e, d := NewEncoder(w, nil), NewDecoder(bytes.NewReader(packet), nil)
	e.buf = e.buf[:24] // full before the last token
	e.limitBuffer()
	require.ErrorIs(t, CopyValue(e, d), errTemporary)
	d.PeekKind()
	require.NoError(t, CopyValue(e, d))
	require.Equal(t, packet, w.b)
}

// At a Property, as at a DictKey, what stands in a value's place is the name.
func TestProperties(t *testing.T) {
	packet := wire(idObject, "Node", 1, "name", str("x"))
	o := &DecoderOptions{AllowObjects: true}
	for name, skip := range map[string]func(*Decoder) error{
		"SkipValue": (*Decoder).SkipValue,
		"CopyValue": func(d *Decoder) error {
			e := NewEncoder(io.Discard, nil)
			require.NoError(t, e.BeginObject("Node", 1))
			return CopyValue(e, d)
		},
		"Tokens": func(d *Decoder) error {
			for tok, err := range d.Tokens() {
				require.Equal(t, KindProperty, tok.Kind())
				require.NoError(t, err)
			}
			return nil
		},
	} {
		d := NewDecoder(bytes.NewReader(packet), o)
		_, err := d.ReadToken()
		require.NoError(t, err, name)
		require.NoError(t, skip(d), name)
		require.Equal(t, KindStringChunk, d.PeekKind(), name)
	}
}
