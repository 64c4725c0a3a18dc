package gdwire

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

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
		for _, window := range []int{minWindow, DefaultMaxChunk} {
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
						requireFinal(t, e, w, s.packet, steps, fmt.Sprintf("%s, buffer of %d, %s", way, size, name))
						e.Release()
					})
					w := &faultyWriter{at: -1}
					e := smallEncoder(w, s.format, size)
					for _, step := range append(slices.Clip(steps), closing) {
						require.NoError(t, step(e), "%s, buffer of %d", way, size)
					}
					require.Equal(t, string(s.packet), string(w.b), "%s, buffer of %d", way, size)
					e.Release()
				}
			}
		}
	})
}

// typedCalls have no equivalent token: elements from slices, NodePaths to be
// split, components to be rounded.
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
			requireFinal(t, e, w, want, typedCalls(), fmt.Sprintf("buffer of %d, %s", size, name))
			e.Release()
		})
		w := &faultyWriter{at: -1}
		e := smallEncoder(w, Godot4, size)
		for _, step := range append(typedCalls(), closing) {
			require.NoError(t, step(e))
		}
		require.Equal(t, want, w.b, "buffer of %d", size)
		e.Release()
	}
}

// A long string is also a top-level value that is longer than the buffer.
func TestWriterFaultsInLongText(t *testing.T) {
	for n := range 4 {
		text := longText + "xyz"[:n]
		want := str(text)
		calls := []step{func(e *Encoder) error { return e.WriteString(text) }}
		eachFaultyWriter(len(want), func(name string, w *faultyWriter) {
			for _, size := range []int{12, 16, 64} {
				w := *w
				e := smallEncoder(&w, Godot4, size)
				requireFinal(t, e, &w, want, calls, fmt.Sprintf("%d bytes, %s, buffer of %d", len(text), name, size))
				e.Release()
			}
		})
	}
}

// Permanently broken Readers are in attacks_test.go. These are Writers.

var errBroken = errors.New("broken")

// A brokenWriter takes some bytes and fails from then on.
type brokenWriter struct {
	b    []byte
	room int
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	w.b = append(w.b, p[:n]...)
	if w.room -= n; n < len(p) {
		return n, errBroken
	}
	return n, nil
}

// A Writer that breaks at any byte gets no byte twice and no wrong byte. Its error
// is returned unchanged by every call.
func TestBrokenWriters(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(plain(s.packet), s.options(minWindow))
		defer d.Release()
		ways := waysToWrite(tokens(t, d))
		for _, way := range []string{"tokens", "unknown counts", "small Writes", "one Write"} {
			for _, size := range []int{16, 64, 4096} {
				for room := 0; room < len(s.packet); room += stride() {
					w := &brokenWriter{room: room}
					e := smallEncoder(w, s.format, size)
					failed := false
					for _, step := range append(slices.Clip(ways[way]), (*Encoder).Close) {
						err := step(e)
						if err == nil {
							continue
						}
						require.Equal(t, errBroken, err, "%s, %d bytes", way, room)
						failed = true
						require.Equal(t, errBroken, step(e), "%s, %d bytes", way, room)
						break
					}
					require.True(t, failed, "%s, %d bytes", way, room)
					require.Equal(t, errBroken, e.Close(), "%s, %d bytes", way, room)
					require.Equal(t, string(s.packet[:room]), string(w.b), "%s, %d bytes", way, room)
					e.Release()
				}
			}
		}
	})
}
