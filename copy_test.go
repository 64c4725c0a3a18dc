package gdwire

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// After an error of the Reader before the first token, CopyValue is repeated. After a later
// one, the Encoder says that the value is incomplete. An error of the Writer stays. SkipTo
// leaves the value in the Decoder.
func TestCopyValueFaults(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := newDecoder(t, nil, s.options(smallestChunk))
		d.Reset(plain(s.packet))
		count := len(tokens(t, d))
		check := func(name string, n int, r io.Reader, w *faultyWriter) {
			d.Reset(r)
			for range n {
				require.NoError(t, withRetries(func() error { _, err := d.ReadToken(); return err }), name)
			}
			if w := d.want(); w == wantEnd || w == wantText || w == wantChunk {
				return
			}
			depth, e := d.Depth(), smallEncoder(w, s.format, 16)
			defer e.Close()
			openLike(t, e, d)
			before := e.Depth()
			err := CopyValue(e, d)
			for err == errTemporary && e.Err() == nil {
				require.Equal(t, depth, d.Depth(), "%s, CopyValue after %d", name, n)
				err = CopyValue(e, d)
			}
			if err == nil {
				require.Equal(t, before, e.Depth())
			} else if kept := e.Err(); errors.Is(kept, errTemporary) || errors.Is(kept, io.ErrShortWrite) {
				require.True(t, kept == err || errors.Is(kept, ErrIncomplete), "%v", kept) // of the Writer or Reader
				require.Equal(t, kept, CopyValue(e, d), "it reads nothing")
				require.Equal(t, kept, e.Flush())
			} else {
				return // the format does not have it
			}
			require.NoError(t, withRetries(func() error { return d.SkipTo(depth) }), "%s, CopyValue after %d", name, n)
			end := d.InputOffset()
			d.Reset(plain(s.packet))
			readTo(t, d, n)
			require.NoError(t, d.SkipValue())
			require.Equal(t, d.InputOffset(), end, "%s, CopyValue after %d", name, n)
		}
		for n := range count {
			eachFaultyReader(s.packet, func(name string, r io.Reader) {
				check("reader "+name, n, r, &faultyWriter{at: -1})
			})
			eachFaultyWriter(len(s.packet), func(name string, w *faultyWriter) {
				check("writer "+name, n, plain(s.packet), w)
			})
		}
	})
}

// openLike opens containers in e so that what is next in d may be written.
func openLike(t *testing.T, e *Encoder, d *Decoder) {
	switch d.want() {
	case wantDictKey, wantKey:
		require.NoError(t, e.BeginDict(Unknown))
	case wantProperty:
		require.NoError(t, e.BeginObject("Node", Unknown))
	case wantName:
		require.NoError(t, e.BeginPacked(TypePackedStringArray, Unknown))
	}
}

// A copy that the Reader interrupted before its first token consumed nothing: SkipValue skips a
// whole value.
func TestCopyInterruptedBeforeItsFirstToken(t *testing.T) {
	d := newDecoder(t, io.MultiReader(plain(bytesOf(idArray, 2)), &onceReader{errTemporary}, plain(bytesOf(integer(1), integer(2)))), nil)
	readTo(t, d, 1)
	require.Equal(t, errTemporary, copyToNowhere(d))
	require.NoError(t, d.SkipValue())
	require.EqualValues(t, 2, readTo(t, d, 1).Int())
}

// A onceReader fails once.
type onceReader struct{ err error }

func (r *onceReader) Read([]byte) (int, error) {
	err := r.err
	r.err = io.EOF
	return 0, err
}

// Elements of another type than declared are copied where both containers declare
// the same, as a lenient Decoder accepts them, and written by no other call.
func TestCopyValueOfWrongElements(t *testing.T) {
	packet := bytesOf(idArray|typedBy, idInt, 2, str("text"), idArray, 1, integer(7))
	copied := encoded(t, nil, func(e *Encoder) {
		require.NoError(t, CopyValue(e, NewDecoder(plain(packet), nil)))
	})
	require.Equal(t, packet, copied)

	for _, c := range []struct {
		name  string
		begin step
		want  error
	}{
		{"the same type", typedArray(2, Elem{Type: TypeInt}), nil},
		{"another type", typedArray(2, Elem{Type: TypeFloat}), ErrType},
		{"no type", array(2), nil},
		{"a key", typedDict(1, Elem{Type: TypeInt}, Elem{}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := NewDecoder(plain(packet), nil)
			readTo(t, d, 1)
			e := NewEncoder(io.Discard, nil)
			require.NoError(t, c.begin(e))
			require.ErrorIs(t, CopyValue(e, d), c.want)
			if c.want == nil {
				require.NoError(t, CopyValue(e, d))
				require.NoError(t, e.End())
			}
			e.Close()
			d.Release()
		})
	}

	// From a container that does not declare it, it was not accepted as such.
	d := NewDecoder(plain(bytesOf(idArray, 1, str("text"))), nil)
	readTo(t, d, 1)
	e := NewEncoder(io.Discard, nil)
	require.NoError(t, e.BeginTypedArray(1, Elem{Type: TypeInt}))
	require.ErrorIs(t, CopyValue(e, d), ErrType)
	require.Error(t, e.ClearError())
	misuse{"a string", stringX, ErrType}.rejects(t, e)
}

// A CopyValue that finds an error of the Encoder reads nothing.
func TestCopyValueAfterError(t *testing.T) {
	e, d := NewEncoder(io.Discard, nil), NewDecoder(plain(integer(7)), nil)
	err := e.End()
	require.Error(t, err)
	require.Equal(t, err, CopyValue(e, d))
	require.Zero(t, d.InputOffset())
	require.Equal(t, err, e.ClearError())
	require.NoError(t, CopyValue(e, d))
}

func TestCopyErrors(t *testing.T) {
	testInputErrors(t, []inputError{
		{name: "CopyValue at an End", packet: bytesOf(idArray, 1, idNil), tokens: 2, read: copyToNowhere, is: ErrCount, text: "offset 8, $[0]: CopyValue at an End"},
	})
}

func TestCopyingAllocatesNothing(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		for _, maxChunk := range []int{smallestChunk, DefaultMaxChunk} {
			d := newDecoder(t, nil, s.options(maxChunk))
			e := newEncoder(t, io.Discard, &EncoderOptions{Format: s.format})
			for _, reset := range readers(s.packet) {
				requireNoAllocs(t, func() {
					reset(d)
					e.Reset(io.Discard)
					for {
						err := CopyValue(e, d)
						if check(err); err == io.EOF {
							return
						}
					}
				})
				requireNoAllocs(t, func() {
					reset(d)
					e.Reset(io.Discard)
					for {
						tok, err := d.ReadToken()
						if check(err); err == io.EOF {
							return
						}
						check(e.WriteToken(tok))
					}
				})
			}
		}
	})
}

// A saved game contains keys, paths and every kind of container.
func TestSavedGameAllocatesNothing(t *testing.T) {
	packet := must(os.ReadFile("testdata/godot4.7-dev/save_game_large.bin"))(t)
	d := newDecoder(t, nil, nil)
	e := newEncoder(t, io.Discard, nil)
	for name, reset := range readers(packet) {
		reset(d)
		check(d.SkipValue()) // the stack reaches its final depth
		require.Zero(t, testing.AllocsPerRun(5, func() {
			reset(d)
			e.Reset(io.Discard)
			check(CopyValue(e, d))
			reset(d)
			check(d.SkipValue())
		}), name)
	}
}
