package gdwire

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/valyala/bytebufferpool"

	"github.com/gdwire/gdwire/internal/attacks"
	"github.com/gdwire/gdwire/internal/checked"
	"github.com/gdwire/gdwire/internal/testsize"
)

// These tests are in this package because they replace the pool of buffers: a pooled buffer
// would hide what a call allocates. They read the table of internal/attacks in every way. The
// checks do not depend on time: the text of the error, the memory allocated, the number of
// calls of the Reader and of tokens.

// A metered Reader counts its calls and the bytes it returns.
type metered struct {
	r           io.Reader
	reads, read int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.reads++
	m.read += int64(n)
	return n, err
}

// A reading reads until an error and returns the number of tokens.
type reading func(d *Decoder) (tokens int64, err error)

// until repeats a call until it fails.
func until(call func(d *Decoder) error) reading {
	return func(d *Decoder) (int64, error) {
		for {
			if err := call(d); err != nil {
				return 0, err
			}
		}
	}
}

// afterTokens reads tokens and makes a call after each.
func afterTokens(call func(d *Decoder, t Token) error) reading {
	return func(d *Decoder) (n int64, err error) {
		for {
			t, err := d.ReadToken()
			if err == nil {
				n++
				err = call(d, t)
			}
			if err != nil {
				return n, err
			}
		}
	}
}

// everyReading is every way to read a stream of values to its end.
var everyReading = []struct {
	name string
	read reading
	// keeps reports whether it keeps the input, so that its memory grows with it.
	keeps bool
}{
	{name: "ReadToken", read: afterTokens(func(*Decoder, Token) error { return nil })},
	{name: "PeekKind", read: afterTokens(func(d *Decoder, _ Token) error { d.PeekKind(); return nil })},
	{name: "SkipValue", read: until((*Decoder).SkipValue)},
	{name: "SkipTo", read: afterTokens(func(d *Decoder, _ Token) error { return d.SkipTo(0) })},
	{name: "Tokens", read: until(func(d *Decoder) (err error) {
		for _, err = range d.Tokens() {
		}
		return err
	})},
	{name: "CopyValue", read: func(d *Decoder) (int64, error) {
		e := NewEncoder(io.Discard, &EncoderOptions{Format: d.options.Format, Depth: -1})
		defer e.Release()
		return until(func(d *Decoder) error { return CopyValue(e, d) })(d)
	}},
	{name: "Payload", read: afterTokens(func(d *Decoder, t Token) error {
		if !afterData(t, d) {
			return nil
		}
		_, err := d.Payload().(io.WriterTo).WriteTo(io.Discard)
		return err
	})},
	{name: "Payload.Read", read: afterTokens(func(d *Decoder, t Token) error {
		if !afterData(t, d) {
			return nil
		}
		for p := d.Payload(); ; {
			if _, err := p.Read(some[:]); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})},
	{name: "ReadPacked", read: afterTokens(func(d *Decoder, t Token) error {
		if !afterPacked(t, d) {
			return nil
		}
		return packedInto[t.Type()][0](d)
	})},
	{name: "AppendPacked", keeps: true, read: afterTokens(func(d *Decoder, t Token) error {
		if !afterPacked(t, d) {
			return nil
		}
		return packedInto[t.Type()][1](d)
	})},
	{name: "AppendString", keeps: true, read: afterTokens(func(d *Decoder, t Token) error {
		if !afterText(t, d) {
			return nil
		}
		_, err := d.AppendString(nil)
		return err
	})},
}

// packedInto reads a packed array to its end: into a slice of a few elements, and
// into one that grows.
var packedInto = map[Type][2]func(d *Decoder) error{
	TypePackedByteArray:    packedAs[byte](),
	TypePackedInt32Array:   packedAs[int32](),
	TypePackedInt64Array:   packedAs[int64](),
	TypePackedFloat32Array: packedAs[float32](),
	TypePackedFloat64Array: packedAs[float64](),
	TypePackedVector2Array: packedAs[[2]float32](),
	TypePackedVector3Array: packedAs[[3]float64](),
	TypePackedVector4Array: packedAs[[4]float64](),
	TypePackedColorArray:   packedAs[[4]float32](),
}

func packedAs[T Packable]() [2]func(d *Decoder) error {
	few := make([]T, 16)
	return [2]func(d *Decoder) error{
		func(d *Decoder) error {
			for {
				if _, err := ReadPacked(d, few); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
			}
		},
		func(d *Decoder) error {
			_, err := AppendPacked[T](d, nil)
			return err
		},
	}
}

// some is the destination of Payload.Read.
var some [64]byte

// The memory of one more open container: frames of a Decoder and of an Encoder
// while their stacks grow, and the start of a key.
const (
	levelSize = 2 * 5 * 32
	keySize   = 256
)

// hurried reports whether to run only every fourth reading.
func hurried() bool { return !testsize.Full() || testsize.Race }

// runAttack reads an attack in every way, with the default limits or without
// limits.
func runAttack(t *testing.T, a *attacks.Attack, limited bool) {
	o := &DecoderOptions{AllowObjects: a.Objects}
	want, depth := a.Limited, min(a.Depth, 1024)
	if a.Format != "" {
		var err error
		o.Format, err = FormatByName(a.Format)
		require.NoError(t, err)
	}
	if !limited {
		o.Limits = limitsOf("", 0)
		want, depth = a.Unlimited, a.Depth
	}
	size := a.Size()
	inputs := []string{"Reset", "ResetN", "ResetBytes"}
	ways := everyReading
	var packet []byte
	if size > maxPacket {
		inputs = inputs[:2]
	} else {
		packet = a.Bytes()
	}
	for i, way := range ways {
		for j, input := range inputs {
			if size > 64<<10 && (i%len(inputs) != j || hurried() && i%4 != 2) {
				continue // one of them is enough where it takes long
			}
			name := way.name + " of " + input
			r := &metered{r: a.Reader()}
			var (
				d      *Decoder
				tokens int64
				err    error
			)
			pool = bytebufferpool.Pool{} // no buffer is reused
			got := allocated(func() {
				d = NewDecoder(nil, o)
				switch input {
				case "Reset":
					d.Reset(r)
				case "ResetN":
					d.ResetN(r, size)
				case "ResetBytes":
					d.ResetBytes(packet)
				}
				tokens, err = way.read(d)
			})
			offset := d.InputOffset()

			var fault *Error
			switch {
			case want == "":
				require.Equal(t, io.EOF, err, name)
				require.Equal(t, size, offset, name)
			case input != "Reset" && errors.Is(err, io.ErrUnexpectedEOF):
				// The count is too large for the length of the input.
			case way.name == "CopyValue" && !limited && (errors.Is(err, ErrRange) || errors.Is(err, ErrType)):
				// The Encoder returns the error: it writes nothing that no engine
				// reads.
			default:
				require.ErrorContains(t, err, want, name)
				require.ErrorAs(t, err, &fault, name)
				require.LessOrEqual(t, fault.Offset, size, name)
				require.LessOrEqual(t, len(fault.Path), maxPath, name)
				_, again := way.read(d)
				require.Equal(t, err, again, "%s: the error stays", name)
			}

			// Memory follows the nesting and, where input is kept, the bytes
			// received.
			sent, most := r.read, maxMemory()+levelSize*uint64(depth)
			if a.Keys {
				most += keySize * uint64(depth)
			}
			if input == "ResetBytes" {
				sent = size
			}
			if way.keeps || !limited {
				most += 6 * uint64(sent)
			}
			require.Less(t, got, most, "%s: bytes allocated", name)

			// No more is read than needed, and not in smaller pieces than needed.
			// An invalid name is read as well.
			if input != "ResetBytes" {
				if limited {
					require.LessOrEqual(t, r.read, offset+windowBuffer, "%s: bytes read", name)
				}
				calls := 4 + r.read/(windowBuffer/4)
				if a.ByteByByte {
					calls = 4 + r.read
				}
				require.LessOrEqual(t, r.reads, calls, "%s: calls of Read", name)
			}
			require.LessOrEqual(t, tokens, offset/2+1, "%s: tokens, each of which takes bytes", name)
			d.Release()
		}
	}
}

const (
	// maxPacket is the size up to which an attack is held in memory.
	maxPacket = 4 << 20
	// million is the depth limit of this test.
	million = 1_000_000
)

func TestAttacks(t *testing.T) {
	defer func() { pool = bytebufferpool.Pool{} }()
	for _, a := range attacks.All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Run("default limits", func(t *testing.T) { runAttack(t, &a, true) })
			t.Run("no limits", func(t *testing.T) {
				if a.Depth > million {
					t.Skip("its frames take a gigabyte; bench/attacks reads it")
				}
				runAttack(t, &a, false)
			})
		})
	}
}

// A hostileReader returns some bytes and misbehaves from then on.
type hostileReader struct {
	b     []byte
	then  func(p []byte) (int, error)
	reads int
}

func (r *hostileReader) Read(p []byte) (int, error) {
	r.reads++
	if n := copy(p, r.b); n > 0 {
		r.b = r.b[n:]
		return n, nil
	}
	return r.then(p)
}

// The Reader starts to misbehave at every byte of every sample.
func TestHostileReaders(t *testing.T) {
	for name, c := range map[string]struct {
		then func(p []byte) (int, error)
		want error
	}{
		"nothing":                {func([]byte) (int, error) { return 0, nil }, io.ErrNoProgress},
		"less than nothing":      {func([]byte) (int, error) { return -1, nil }, checked.ErrRead},
		"more than requested":    {func(p []byte) (int, error) { return len(p) + 1, nil }, checked.ErrRead},
		"more, and the end":      {func(p []byte) (int, error) { return len(p) + 1, io.EOF }, checked.ErrRead},
		"far more":               {func([]byte) (int, error) { return math.MaxInt, nil }, checked.ErrRead},
		"a timeout":              {func([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }, os.ErrDeadlineExceeded},
		"a negative number, too": {func([]byte) (int, error) { return math.MinInt, os.ErrDeadlineExceeded }, checked.ErrRead},
	} {
		t.Run(name, func(t *testing.T) {
			eachSample(t, func(t *testing.T, s sample) {
				for at := 0; at <= len(s.packet); at += stride() {
					for i, way := range everyReading {
						for _, window := range []int{minWindow, DefaultMaxChunk} {
							r := &hostileReader{b: s.packet[:at], then: c.then}
							d := NewDecoder(nil, s.options(window))
							if i%2 == 0 {
								d.Reset(r)
							} else {
								d.ResetN(r, int64(len(s.packet))+1)
							}
							for range 2 {
								_, err := way.read(d)
								if err != c.want {
									t.Fatalf("%s at %d, window %d: %v", way.name, at, window, err)
								}
							}
							require.LessOrEqual(t, r.reads, at+2*100+2, way.name)
							d.Release()
						}
					}
				}
			})
		})
	}
}

// Calls that wait for an end that never comes can be repeated without allocating.
func TestWaitingAllocatesNothing(t *testing.T) {
	for name, head := range map[string][]byte{
		"string": bytesOf(idString, 16<<20), "name": bytesOf(idSignal, 1<<10), "byte array": bytesOf(idBytes, 256<<20),
		"arrays": bytesOf(idArray, 1<<20, idArray, 1<<20, idNil), "string array": bytesOf(idStrings, 1<<20, 16<<20),
	} {
		t.Run(name, func(t *testing.T) {
			b := append(head, make([]byte, 7)...)
			d := NewDecoder(&hostileReader{b: b, then: func([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }}, nil)
			defer d.Release()
			for range 1000 {
				require.Equal(t, os.ErrDeadlineExceeded, d.SkipValue())
			}
			requireNoAllocs(t, func() {
				if d.SkipValue() != os.ErrDeadlineExceeded {
					panic(name)
				}
			})
		})
	}
}

// Invalid UTF-8 across every chunk border, in every kind of string, is reported at
// its first byte by every way of reading.
func TestHostileText(t *testing.T) {
	heads := map[string]struct {
		head []byte
		path string
	}{
		"String":        {bytesOf(idString), "$"},
		"StringName":    {bytesOf(idName), "$"},
		"packed string": {bytesOf(idStrings, 1), "$[0]"},
		"name":          {bytesOf(idPath, newPath(1), 0, 0), "$[0]"},
		"key":           {bytesOf(idDict, 1, idString), "$.key(0)"},
	}
	for _, bad := range []string{
		"\x80", "\xbf\xbf", "\xfe", "\xff", // not the start of a rune
		"\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", // overlong
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xed\xa0\xbd\xed\xb8\x80", // surrogates
		"\xf4\x90\x80\x80", "\xf7\xbf\xbf\xbf", "\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80", // too high
		"\xc3", "\xe2\x82", "\xf0\x9f", "\xf0\x9f\x98", // truncated
	} {
		for kind, h := range heads {
			t.Run(fmt.Sprintf("%s/%q", kind, bad), func(t *testing.T) {
				for lead := range 2*minWindow + utf8.UTFMax {
					for _, tail := range []string{"", "y", strings.Repeat("y", minWindow)} {
						text := strings.Repeat("x", lead) + bad + tail
						if len(text) > lead+len(bad) && !testsize.Full() && lead%3 != 0 {
							continue
						}
						packet := append(append([]byte(nil), h.head...), bytesOf(text)...)
						for i, way := range everyReading {
							d := NewDecoder(nil, &DecoderOptions{MaxChunk: minWindow})
							switch (i + lead) % 3 {
							case 0:
								d.ResetBytes(packet)
							case 1:
								d.Reset(plain(packet))
							case 2:
								d.Reset(&slowReader{packet})
							}
							_, err := way.read(d)
							var e *Error
							if !errors.As(err, &e) || e.Err != ErrUTF8 || e.Offset != int64(len(h.head)+4+lead) || e.Path != h.path {
								t.Fatalf("%q in a %s, %s: %v", text, kind, way.name, err)
							}
							d.Release()
						}
					}
				}
			})
		}
	}
}
