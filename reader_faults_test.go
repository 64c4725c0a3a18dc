package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/wire"
)

// A transcript has all results of a Decoder.
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
		for _, window := range []int{minWindow, DefaultMaxChunk} {
			d := NewDecoder(nil, s.options(window))
			defer d.Release()
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
							t.Fatalf("%s after %d tokens, window %d, %s:\ngot\n%s\nwant\n%s", c.name, n, window, name, got, want)
						}
					})
				}
			}
		}
	})
}

// The end of the input is reported at the same offset however the Reader cuts it.
func TestTruncated(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(nil, s.options(minWindow))
		defer d.Release()
		for end := range len(s.packet) {
			b := s.packet[:end]
			d.Reset(plain(b))
			want, _ := calls[0].record(d, 0)
			for name, r := range map[string]io.Reader{
				"byte by byte": &slowReader{b}, "failing before every byte": &faultyReader{b: b, every: true},
			} {
				d.Reset(r)
				got, _ := calls[0].record(d, 0)
				require.Equal(t, string(want), string(got), "%d bytes, %s", end, name)
			}
		}
	})
}

// io.Copy from a Payload continues after the bytes that a Writer took.
func TestPayloadWriterFaults(t *testing.T) {
	for _, packet := range [][]byte{str(longText), bytesOf(idFloats, 9, reals(9))} {
		d := NewDecoder(nil, &DecoderOptions{MaxChunk: minWindow})
		defer d.Release()
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
