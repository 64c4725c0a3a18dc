package gdwire

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	misuse{"$[0]: container of unknown size with 21 bytes so far exceeds limit MaxBuffered (20)", write("123456789"), ErrLimit}.fails(t, e)
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
