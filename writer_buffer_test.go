package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/checked"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// Bytes that follow an Unknown count are buffered until its End, all others are
// flushed.
func TestUnknownCountsAreBuffered(t *testing.T) {
	var b bytes.Buffer
	e := newEncoder(t, &b, nil)
	require.NoError(t, e.BeginArray(2))
	require.NoError(t, e.WriteInt(7))
	require.NoError(t, e.BeginArray(Unknown))
	require.NoError(t, e.Flush())
	require.Equal(t, bytesOf(idArray, 2, integer(7), idArray), b.Bytes())
	require.NoError(t, e.WriteNil())
	require.NoError(t, e.Flush())
	require.Equal(t, 20, b.Len())
	require.EqualValues(t, 28, e.OutputOffset())
	require.NoError(t, e.End())
	require.NoError(t, e.Flush())
	require.Equal(t, bytesOf(idArray, 2, integer(7), idArray, 1, idNil), b.Bytes())
}

// MaxBuffered limits the bytes after the outermost Unknown count, for any size of the pooled
// buffer.
func TestBuffered(t *testing.T) {
	outermost := func(e *Encoder) {
		require.NoError(t, e.BeginArray(2))
		require.NoError(t, e.WriteInt(7))
		require.NoError(t, e.BeginArray(Unknown))
	}
	for _, most := range []int64{16, 100, 20 << 10, 200 << 10} {
		t.Run(fmt.Sprintf("%d bytes", most), func(t *testing.T) {
			e := NewEncoder(io.Discard, &EncoderOptions{MaxBuffered: most})
			outermost(e)
			// A string takes header, length, text and padding, the count 4 bytes.
			long := strings.Repeat("x", int(most)-12)
			misuse{"one beyond", func(e *Encoder) error { return e.WriteString(long + "x") }, ErrLimit}.rejects(t, e)
			require.NoError(t, e.WriteString(long))
			for name, call := range map[string]step{
				"nil":                        writeNil,
				"a string":                   stringX,
				"an array":                   emptyArray,
				"an array of unknown count":  array(Unknown),
				"a string of unknown length": text(TypeString, Unknown),
				"packed numbers":             packedOf(TypePackedFloat32Array, 1),
				"a path":                     func(e *Encoder) error { return e.WriteNodePath("a/b") },
				"a raw value":                raw,
				"an object":                  func(e *Encoder) error { return e.BeginObject("A", 0) },
				"a signal":                   func(e *Encoder) error { return e.WriteSignal("A", 0) },
				"a chunk":                    token(chunkOf(TypeString, 9, "abc", false)),
			} {
				misuse{name, call, ErrLimit}.rejects(t, e)
			}
			var l *LimitError
			require.ErrorAs(t, e.WriteNil(), &l)
			require.Equal(t, LimitError{Name: "MaxBuffered", Got: most + 4, Max: most}, *l)
			require.Error(t, e.ClearError())
			require.NoError(t, e.End())
			require.NoError(t, e.End())

			outermost(e) // and once more from the start
			require.NoError(t, e.WriteString(long))
			misuse{"nil", writeNil, ErrLimit}.rejects(t, e)
			e.Close()
		})
	}

	// The end of a string or array counts as well, and a smaller call can follow
	// one that did not fit.
	e := NewEncoder(io.Discard, &EncoderOptions{MaxBuffered: 20})
	require.NoError(t, e.BeginArray(Unknown))
	require.NoError(t, e.BeginPacked(TypePackedByteArray, Unknown))
	misuse{"too much", write("123456789"), ErrLimit}.rejects(t, e)
	misuse{"too many", func(e *Encoder) error { return WritePacked(e, make([]byte, 9)) }, ErrLimit}.rejects(t, e)
	require.NoError(t, write("1234567")(e))
	require.NoError(t, e.End())
	misuse{"nothing more", writeNil, ErrLimit}.rejects(t, e)
	require.NoError(t, e.End())

	e = NewEncoder(io.Discard, &EncoderOptions{MaxBuffered: 18})
	require.NoError(t, e.BeginArray(Unknown))
	require.NoError(t, e.BeginPacked(TypePackedByteArray, Unknown))
	require.NoError(t, write("12345")(e))
	misuse{"padding", end, ErrLimit}.rejects(t, e)

	e = NewEncoder(io.Discard, &EncoderOptions{MaxBuffered: 11})
	require.NoError(t, e.BeginPacked(TypePackedByteArray, Unknown))
	require.NoError(t, write("12345")(e))
	misuse{"padding of the outermost", end, ErrLimit}.rejects(t, e)

	// The limit does not apply to values of known counts.
	e = NewEncoder(io.Discard, &EncoderOptions{MaxBuffered: 1})
	require.NoError(t, e.BeginTypedArray(2, Elem{Type: TypeString}))
	require.NoError(t, e.WriteString(longText))
	require.NoError(t, stringX(e))
	require.NoError(t, e.End())

	e = NewEncoder(io.Discard, &EncoderOptions{MaxBuffered: 24})
	require.NoError(t, e.BeginArray(Unknown))
	require.NoError(t, e.BeginObject("Node", 1))
	misuse{"a property", func(e *Encoder) error { return e.WriteProperty("x") }, ErrLimit}.rejects(t, e)
	require.NoError(t, e.WriteProperty(""))

	// Converted elements count with their size after conversion.
	e = NewEncoder(io.Discard, &EncoderOptions{MaxBuffered: 20})
	require.NoError(t, e.BeginPacked(TypePackedFloat32Array, Unknown))
	misuse{"too many", func(e *Encoder) error { return WritePacked(e, make([]float64, 5)) }, ErrLimit}.rejects(t, e)
	require.NoError(t, WritePacked(e, make([]float64, 4)))
	require.NoError(t, e.End())

	e = NewEncoder(io.Discard, &EncoderOptions{MaxBuffered: -1})
	require.NoError(t, e.BeginArray(Unknown))
	for range 1000 {
		require.NoError(t, e.WriteString(strings.Repeat("x", 10<<10)))
	}
	require.NoError(t, e.End())
	e = NewEncoder(io.Discard, nil)
	require.NoError(t, e.BeginArray(Unknown))
	require.NoError(t, e.WriteString(strings.Repeat("x", 8<<20-12)))
	require.ErrorIs(t, e.WriteNil(), ErrLimit)
}

// The padding of a name has room at every position of the buffer.
func TestNamesWhereBuffersEnd(t *testing.T) {
	write := func(e *Encoder) {
		require.NoError(t, e.BeginObject("Nod", 4))
		for _, name := range []string{"a", "ab", "abc", "abcd"} {
			require.NoError(t, e.WriteProperty(name))
			require.NoError(t, e.WriteSignal(name, 7))
		}
		require.NoError(t, e.End())
	}
	want := encoded(t, nil, write)
	for size := range 40 {
		var b bytes.Buffer
		e := smallEncoder(&b, Godot4, 12+size)
		write(e)
		require.Equal(t, want, b.Bytes(), "buffer of %d", 12+size)
		e.Close()
	}
}

// Values longer than the buffer do not make it grow.
func TestLongValuesDoNotGrowTheBuffer(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 4*bufferSize)
	e := newEncoder(t, io.Discard, nil)
	size := len(e.buf)
	for name, call := range map[string]step{
		"WriteString": func(e *Encoder) error { return e.WriteString(string(long)) },
		"WriteRaw":    func(e *Encoder) error { return e.WriteRaw(bytesOf(idBytes, len(long), long)) },
		"Write": func(e *Encoder) error {
			return errors.Join(e.BeginString(TypeString, int64(len(long))), write(string(long))(e), e.End())
		},
		"WritePacked": func(e *Encoder) error {
			return errors.Join(e.BeginPacked(TypePackedByteArray, int64(len(long))), WritePacked(e, long), e.End())
		},
		"WritePacked of others": func(e *Encoder) error {
			return errors.Join(e.BeginPacked(TypePackedInt32Array, int64(len(long))), WritePacked(e, long), e.End())
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, call(e))
			require.Len(t, e.buf, size)
		})
	}
}

// The previous content of a buffer does not show in the output.
func TestUsedBuffers(t *testing.T) {
	want := bytesOf(idArray, 30)
	var b bytes.Buffer
	e := newEncoder(t, &b, nil)
	for i := range e.buf {
		e.buf[i] = 0xFF
	}
	require.NoError(t, e.BeginArray(30))
	for n := range 10 {
		text := strings.Repeat("x", n)
		want = append(want, bytesOf(str(text), idStrings, 1, text+"\x00", idPath, newPath(1), 0, 0, text)...)
		require.NoError(t, e.WriteString(text))
		require.NoError(t, e.BeginPacked(TypePackedStringArray, 1))
		require.NoError(t, e.WriteString(text))
		require.NoError(t, e.End())
		require.NoError(t, e.BeginNodePath(1, 0, false))
		require.NoError(t, e.WriteString(text))
		require.NoError(t, e.End())
	}
	require.NoError(t, e.End())
	require.Equal(t, want, b.Bytes())
}

// Writers that break the contract of io.Writer.
func TestMisbehavingWriters(t *testing.T) {
	for _, n := range []int{-1, 1 << 20} {
		e := NewEncoder(writerFunc(func([]byte) (int, error) { return n, nil }), nil)
		require.Equal(t, checked.ErrWrite, e.WriteNil())
		e.Close()

		d := NewDecoder(plain(str("text")), nil)
		readTo(t, d, 1)
		require.Equal(t, checked.ErrWrite, errOf(io.Copy(writerFunc(func([]byte) (int, error) { return n, nil }), d.Payload())))
		d.Release()
	}
	e := NewEncoder(writerFunc(func([]byte) (int, error) { return 0, nil }), nil)
	require.Equal(t, io.ErrShortWrite, e.WriteNil())
}

// A top-level value is written when it ends.
func TestValuesAreWrittenWhenTheyEnd(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := newDecoder(t, plain(s.packet), s.options(smallestChunk))
		var b bytes.Buffer
		e := NewEncoder(&b, &EncoderOptions{Format: s.format})
		for _, tok := range tokens(t, d) {
			before := b.Len()
			require.NoError(t, e.WriteToken(tok))
			if e.Depth() == 0 {
				require.EqualValues(t, e.OutputOffset(), b.Len())
			} else {
				require.Equal(t, before, b.Len(), "a small value comes in one piece")
			}
		}
		require.NoError(t, e.Close())
	})
}

func TestBufferedErrors(t *testing.T) {
	testCallErrors(t, []callError{
		{name: "MaxBuffered", before: []step{array(Unknown), func(e *Encoder) error { return e.WriteString(strings.Repeat("x", 8<<20-12)) }},
			call: writeNil, is: ErrLimit, text: "offset 8388612, $[1]: container of unknown size with 8388612 bytes so far exceeds limit MaxBuffered (8388608)"},
	})
}

// waysToWrite returns the ways to write the tokens of a sample.
func waysToWrite(all []Token) map[string][]step {
	ways := map[string][]step{}
	for _, t := range all {
		whole := func(e *Encoder) error { return e.WriteToken(t) }
		unknown, pieces, one := []step{whole}, []step{whole}, []step{whole}
		switch t.Kind() {
		case KindArrayStart, KindDictStart, KindObjectStart, KindPackedStart, KindImageStart:
			if t.has(flagShared) {
				break // only Decoders make such a token, always with a known count
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
		for _, maxChunk := range []int{smallestChunk, DefaultMaxChunk} {
			d := NewDecoder(plain(s.packet), s.options(maxChunk))
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
						requireFinal(t, e, w, s.packet, steps, fmt.Sprintf("%s, buffer of %d, %s", way, size, name))
						e.Close()
					})
					w := &faultyWriter{at: -1}
					e := smallEncoder(w, s.format, size)
					for _, step := range append(slices.Clip(steps), (*Encoder).Flush) {
						require.NoError(t, step(e), "%s, buffer of %d", way, size)
					}
					require.Equal(t, string(s.packet), string(w.b), "%s, buffer of %d", way, size)
					e.Close()
				}
			}
		}
	})
}

// Random calls are made on an Encoder with a large buffer, where most take the fast path,
// and then on one with a small buffer. Both return the same and write the same. Then the
// Writer fails at a random byte: the calls before return the same, and those after it the
// Writer's error. The calls are not those of internal/test/calls, whose package cannot be
// imported here and cannot make the buffer small: with the usual one it misses defects of
// reserve, appendElements and appendLong.

// A randomCall makes a call that is determined by its seed.
type randomCall struct {
	kind int // of randomCalls
	seed uint64
}

func (c randomCall) step() step { return randomCalls[c.kind](rand.New(rand.NewPCG(c.seed, 0))) }

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

var randomTexts = []string{"", "a", "aaaa", "bbbb", "aaaaa", "é", "x\x00", "\xff", longText, longText[:50], strings.Repeat("xy", 60), strings.Repeat("yx", 60)}

func randomText(r *rand.Rand) string { return one(r, randomTexts...) }

func randomCount(r *rand.Rand) int { return one(r, 0, 0, 1, 1, 2, 3, 7, Unknown) }

var randomElems = []Elem{{}, {}, {Type: TypeInt}, {Type: TypeString}, {Class: "Node"}, {Script: "res://a.gd"}}

// randomPackets are what copyTokens copies: mid-string and mid-array starts,
// padding that is not zero, elements that are not of the declared type.
var randomPackets = [][]byte{
	integer(7), integer(8), str("aaaa"), str("bbbb"), str(longText), bytesOf(idNil),
	bytesOf(idArray, 2, integer(1), str("two")), bytesOf(idDict, 1, str("k"), idArray, 1, idNil),
	bytesOf(idArray|typedBy*2, 1, []byte("A\xde\xad\xbe"), 0), bytesOf(idArray|typedBy, idInt, 2, str("x"), integer(1)),
	bytesOf(idStrings, 2, "a\x00", "bb\x00"), bytesOf(idBytes, 5, []byte("abcde\x00\x00\x00")), bytesOf(idFloats, 3, reals(3)),
	bytesOf(idVectors2|bit16, 2, 1.0, 2.0, 3.0, 4.0), bytesOf(idPath, newPath(1), 1, 0, "a", "b"),
	bytesOf(idObject, "Node", 1, "name", str("x")), bytesOf(idObject|bit16, uint64(7)), bytesOf(idSignal, "s", uint64(9)),
}

var randomCalls = []func(r *rand.Rand) step{
	func(r *rand.Rand) step {
		d := NewDecoder(plain(one(r, randomPackets...)), &DecoderOptions{MaxChunk: 16, AllowObjects: true})
		for range r.IntN(3) {
			if _, err := d.ReadToken(); err != nil {
				break
			}
		}
		return copyTokens(d)
	},
	func(*rand.Rand) step { return (*Encoder).WriteNil },
	func(r *rand.Rand) step {
		v := one[int64](r, 7, 8, math.MaxInt64)
		return func(e *Encoder) error { return e.WriteInt(v) }
	},
	func(r *rand.Rand) step {
		v := one(r, 0.5, 0.1)
		return func(e *Encoder) error { return e.WriteFloat(v) }
	},
	func(r *rand.Rand) step {
		v := one(r, 1, 1e300)
		return func(e *Encoder) error { return WriteComponents(e, TypeVector3, []float64{1, v, 3}) }
	},
	func(r *rand.Rand) step {
		v := one(r, 1.5, 2.5)
		return func(e *Encoder) error { return WriteComponents(e, TypeBasis, []float64{1, 2, 3, 4, 5, 6, 7, 8, v}) }
	},
	func(r *rand.Rand) step {
		v := one[int32](r, 1, 2)
		return func(e *Encoder) error { return WriteComponents(e, TypeRect2i, []int32{1, 2, 3, v}) }
	},
	func(r *rand.Rand) step { s := randomText(r); return func(e *Encoder) error { return e.WriteString(s) } },
	func(r *rand.Rand) step { s := randomText(r); return func(e *Encoder) error { return e.WriteString(s) } },
	func(r *rand.Rand) step {
		s := randomText(r)
		return func(e *Encoder) error { return e.WriteStringName(s) }
	},
	func(r *rand.Rand) step {
		s := randomText(r)
		return func(e *Encoder) error { return e.WriteProperty(s) }
	},
	func(r *rand.Rand) step {
		s := randomText(r)
		return func(e *Encoder) error { return e.WriteSignal(s, 7) }
	},
	func(r *rand.Rand) step {
		s := one(r, "a/b:c", "", "/", "a::b", "/root/"+text32)
		return func(e *Encoder) error { return e.WriteNodePath(s) }
	},
	func(r *rand.Rand) step { n := randomCount(r); return array(n) },
	func(r *rand.Rand) step { n := randomCount(r); return dict(n) },
	func(r *rand.Rand) step { n, elem := randomCount(r), one(r, randomElems...); return typedArray(n, elem) },
	func(r *rand.Rand) step {
		n, k, v := randomCount(r), one(r, randomElems...), one(r, randomElems...)
		return typedDict(n, k, v)
	},
	func(r *rand.Rand) step {
		n, s := randomCount(r), one(r, "", "A", text32)
		return func(e *Encoder) error { return e.BeginObject(s, n) }
	},
	func(r *rand.Rand) step { n, m := r.IntN(3), r.IntN(3); return path(n, m) },
	func(r *rand.Rand) step {
		n, typ := randomCount(r), one(r, TypeString, TypeStringName)
		return text(typ, int64(n))
	},
	func(r *rand.Rand) step {
		n, typ := randomCount(r), one(r, TypePackedByteArray, TypePackedStringArray, TypePackedFloat32Array, TypePackedVector2Array, TypePackedInt64Array)
		return packedOf(typ, int64(n))
	},
	func(r *rand.Rand) step {
		return writeAll([]byte(one(r, "", "a", "aa", "ab", "\xe2\x82", "\xac", "abcdefgh", longText)))
	},
	func(r *rand.Rand) step {
		v := make([]float32, one(r, 0, 1, 3))
		return func(e *Encoder) error { return WritePacked(e, v) }
	},
	func(r *rand.Rand) step {
		v := []float64{one(r, 1.0, 2, 1e300), 2, 3}
		return func(e *Encoder) error { return WritePacked(e, v) }
	},
	func(r *rand.Rand) step {
		v := make([][2]float64, one(r, 1, 7))
		return func(e *Encoder) error { return WritePacked(e, v) }
	},
	func(r *rand.Rand) step {
		v := []byte("abcdefg")[:one(r, 1, 2, 7)]
		return func(e *Encoder) error { return WritePacked(e, v) }
	},
	func(*rand.Rand) step { return end }, func(*rand.Rand) step { return end }, func(*rand.Rand) step { return end },
	func(*rand.Rand) step { return dictKey },
	func(r *rand.Rand) step {
		t := one(r, Int32(7), Float64(0.5), String("aaaa"), String(longText), ArrayStart(1, Elem{}), End())
		return token(t)
	},
	func(r *rand.Rand) step {
		p := one(r, randomPackets...)
		return func(e *Encoder) error { return e.WriteRaw(p) }
	},
	func(*rand.Rand) step { return (*Encoder).Flush },
}

// randomCopy is the place of copyTokens in randomCalls.
const randomCopy = 0

// randomSequence returns calls, most of which succeed, what they return, and the
// bytes that they write.
func randomSequence(t *testing.T, r *rand.Rand, n int) (calls []randomCall, errs []string, want []byte) {
	var b bytes.Buffer
	e := newEncoder(t, &b, &EncoderOptions{Depth: 5, MaxBuffered: 500})
	for range n {
		for range 12 {
			c := randomCall{r.IntN(len(randomCalls)), r.Uint64()}
			before := e.OutputOffset()
			err := c.step()(e)
			if err != nil && r.IntN(8) > 0 && e.OutputOffset() == before && c.kind != randomCopy {
				e.ClearError()
				continue // as if it had not been made
			}
			calls, errs = append(calls, c), append(errs, errorKind(err))
			e.ClearError()
			break
		}
	}
	require.NoError(t, e.Flush())
	return calls, errs, b.Bytes()
}

// errorKind describes an error without its offset.
func errorKind(err error) string {
	var located *Error
	if errors.As(err, &located) {
		return located.Err.Error()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestRandomCalls(t *testing.T) {
	sequences := 20_000
	if !testenv.Full() || testenv.Race {
		sequences = 1500
	}
	for s := range uint64(sequences) {
		r := rand.New(rand.NewPCG(s, 1))
		calls, errs, want := randomSequence(t, r, 30)
		size := one(r, 12, 16, 40, 100)
		for _, at := range []int{-1, r.IntN(len(want) + 1)} {
			w := &faultyWriter{at: at, short: r.IntN(2) == 0}
			e := smallEncoder(w, Godot4, size)
			e.options.Depth, e.maxDepth, e.maxKept = 5, 5, 500
			var final error
			for i, c := range calls {
				err := c.step()(e)
				if err == errTemporary || err == io.ErrShortWrite {
					final = err
				}
				if final == nil {
					require.Equal(t, errs[i], errorKind(err), "sequence %d, call %d", s, i)
					e.ClearError()
					continue
				}
				if c.kind != randomCopy { // whose Decoder may have an error, too
					require.Equal(t, final, err, "sequence %d, call %d", s, i)
				}
				require.Equal(t, final, e.ClearError(), "sequence %d, call %d", s, i)
			}
			if final == nil {
				final = e.Flush()
			}
			if at < 0 || at == len(want) {
				require.NoError(t, final, "sequence %d", s)
				require.Equal(t, string(want), string(w.b), "sequence %d", s)
			} else {
				require.Error(t, final, "sequence %d", s)
				require.Equal(t, string(want[:at]), string(w.b), "sequence %d", s)
			}
			e.Close()
		}
	}
}

// A number or vector that does not fit the rest of the buffer is written in one piece, so that a
// Writer that fails has got none of it.
func TestValuesAreNotSplit(t *testing.T) {
	for name, write := range map[string]func(e *Encoder) error{
		"int":     func(e *Encoder) error { return e.WriteInt(1 << 40) },
		"vector":  func(e *Encoder) error { return WriteComponents(e, TypeVector2, []float64{1, 2}) },
		"ints":    func(e *Encoder) error { return WriteComponents(e, TypeVector2i, []int32{1, 2}) },
		"a token": token(Vector(TypeVector2, 1, 2)),
	} {
		var sizes []int
		e := NewEncoder(writerFunc(func(p []byte) (int, error) {
			sizes = append(sizes, len(p))
			return len(p), nil
		}), nil)
		require.NoError(t, e.BeginArray(2))
		require.NoError(t, e.WriteString(strings.Repeat("x", bufferSize-24)))
		require.NoError(t, write(e), name)
		require.NoError(t, e.End())
		require.Equal(t, []int{bufferSize - 8, 12}, sizes, name)
		e.Close()
	}
}
