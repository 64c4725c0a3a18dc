package gdwire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// CopyValue can be retried after errors of the Reader and of the Writer.
func TestCopyValueFaults(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(nil, s.options(minWindow))
		defer d.Release()
		d.Reset(plain(s.packet))
		count := len(tokens(t, d))
		// Copies n tokens one by one and the rest by CopyValue.
		check := func(name string, n int, r io.Reader, w *faultyWriter) {
			d.Reset(r)
			e := smallEncoder(w, s.format, 16)
			defer e.Release()
			for i := 0; ; i++ {
				copyNext := func() error { return CopyValue(e, d) }
				if i < n || d.want() == wantEnd {
					copyNext = func() error { return copyToken(e, d) }
				}
				err := withRetries(copyNext)
				if err == io.EOF {
					break
				}
				require.NoError(t, err, "%s, CopyValue after %d", name, n)
			}
			require.NoError(t, withRetries(e.Close))
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

// The same holds between formats.
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
				continue // not every value can be converted
			}
			eachFaultyWriter(want.Len(), func(name string, w *faultyWriter) {
				d.Reset(plain(s.packet))
				e := smallEncoder(w, f, 12)
				defer e.Release()
				for err = nil; err == nil; {
					err = withRetries(func() error { return CopyValue(e, d) })
				}
				require.Equal(t, io.EOF, err)
				require.Equal(t, want.Bytes(), w.b, "%s as %v, %s", s.name, f, name)
			})
			d.Release()
		}
	}
}

// copyToken copies one token and retries writing it.
func copyToken(e *Encoder, d *Decoder) error {
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	return withRetries(func() error { return e.WriteToken(t) })
}

// An interrupted CopyValue can be abandoned: other calls take over.
func TestAbandonedCopy(t *testing.T) {
	packet := wire(idArray, 3, str("one"), str("two"), idArray, 1, str("three"))
	for name, giveUp := range map[string]func(d *Decoder){
		"ReadToken": func(d *Decoder) { readTo(t, d, 1) },
		"SkipTo":    func(d *Decoder) { require.NoError(t, d.SkipTo(1)) },
		"SkipValue": func(d *Decoder) { require.NoError(t, d.SkipValue()) }, // ends at the same place
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(plain(packet), nil)
			readTo(t, d, 1)
			require.Equal(t, errTemporary, CopyValue(smallEncoder(&faultyWriter{every: true}, Godot4, 12), d))
			require.Positive(t, d.skip.open)
			giveUp(d)
			if name == "ReadToken" {
				require.Equal(t, "$[1]", string(d.AppendPath(nil)))
			} else {
				require.Equal(t, "$[0]", string(d.AppendPath(nil)))
				readTo(t, d, 1)
			}
			got := encoded(t, nil, func(e *Encoder) { require.NoError(t, CopyValue(e, d)) })
			require.Equal(t, wire(idArray, 1, str("three")), got)
			d.Release()
		})
	}
}

// A SkipValue that takes over a copy, and is interrupted itself, also abandons the token that
// the copy had not written.
func TestAbandonedCopyIsForgotten(t *testing.T) {
	d := NewDecoder(io.MultiReader(plain(wire(idArray, 3, str("one"), str("two"))), &onceReader{errTemporary}, plain(integer(7))), nil)
	defer d.Release()
	require.Equal(t, errTemporary, CopyValue(smallEncoder(&faultyWriter{every: true}, Godot4, 12), d))
	require.Equal(t, errTemporary, d.SkipValue())
	got := encoded(t, nil, func(e *Encoder) {
		require.NoError(t, e.BeginArray(1))
		require.NoError(t, CopyValue(e, d))
	})
	require.Equal(t, wire(idArray, 1, integer(7)), got)
}

// A copy that the Writer interrupted before an End is abandoned by reading that End.
func TestCopyAbandonedAtAnEnd(t *testing.T) {
	d := NewDecoder(plain(wire(idArray, 3, idArray, 1, str("one"), integer(7), integer(8))), nil)
	defer d.Release()
	readTo(t, d, 1)
	require.Equal(t, errTemporary, CopyValue(smallEncoder(&faultyWriter{every: true}, Godot4, 12), d))
	require.Equal(t, KindEnd, readTo(t, d, 1).Kind())
	require.NoError(t, d.SkipValue())
	require.EqualValues(t, 8, readTo(t, d, 1).Int())
}

// A copy that the Reader interrupted before its first token is forgotten: SkipValue skips a
// whole value.
func TestCopyInterruptedBeforeItsFirstToken(t *testing.T) {
	d := NewDecoder(io.MultiReader(plain(wire(idArray, 2)), &onceReader{errTemporary}, plain(wire(integer(1), integer(2)))), nil)
	defer d.Release()
	readTo(t, d, 1)
	require.Equal(t, errTemporary, copyToNowhere(d))
	require.NoError(t, d.SkipValue())
	require.EqualValues(t, 2, readTo(t, d, 1).Int())
}

// CopyValue copies the tokens that SkipValue would skip: a DictKey with its key.
// At an End it is an error.
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
	require.Equal(t, KindArrayStart, d.PeekKind(), "after the key")
	writes()
	copies()
	require.NoError(t, d.SkipValue())
	require.EqualValues(t, 48, d.InputOffset(), "after 7")
	copies()
	require.ErrorIs(t, CopyValue(e, d), ErrCount)
	require.Equal(t, 2, d.Depth(), "the End is still to come")
	require.Equal(t, KindEnd, readTo(t, d, 1).Kind())
	require.Equal(t, wire(idDict, 1, str("a"), idArray, 3, idArray, 1, idNil, integer(8)), append(b.Bytes(), e.buf[:e.n]...))
}

// A copy that the Reader interrupted can continue into another Encoder, which has
// its own counts.
func TestInterruptedCopyIntoAnother(t *testing.T) {
	ints := wire(integer(1), integer(2), integer(3), integer(4))
	abc := wire("a", "b", "c")
	for _, c := range []struct {
		name       string
		head, rest []byte // before and after the error
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
		{"a Dictionary", wire(idDict, 2), ints, array(4), ErrMisplacedKey, wire(idArray, 4, ints[:16])},
		{"after a key", wire(idDict, 2, integer(0)), ints[:24], dict(2), ErrMisplacedKey, wire(idDict, 2, integer(1))},
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
				require.Equal(t, err, e.ClearError())
				require.NoError(t, e.Flush())
			} else {
				require.NoError(t, err)
				require.Zero(t, e.Depth())
			}
			require.Equal(t, c.want, b.Bytes())
		})
	}
}

// A onceReader fails once.
type onceReader struct{ err error }

func (r *onceReader) Read([]byte) (int, error) {
	err := r.err
	r.err = io.EOF
	return 0, err
}

// A copy that the Writer interrupted can be retried after PeekKind, also if PeekKind has
// found an error in what follows the interrupted token.
func TestCopyValueAfterPeek(t *testing.T) {
	tests := []struct {
		name   string
		packet []byte
		free   int // of the buffer, so that writing the last token fails
	}{
		{"inside a container", wire(idArray, 2, str("one"), str("two")), 24},
		{"a top-level value", integer(7), 8},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := new(faultyWriter) // fails before the first byte
			e, d := NewEncoder(w, nil), NewDecoder(bytes.NewReader(test.packet), nil)
			e.buf = e.buf[:test.free]
			e.setLim()
			require.ErrorIs(t, CopyValue(e, d), errTemporary)
			d.PeekKind()
			require.NoError(t, CopyValue(e, d))
			require.Equal(t, test.packet, w.b)
			require.Equal(t, io.EOF, CopyValue(e, d))
		})
	}
}

// CopyValue copies what SkipValue would skip, also in the middle of a string or
// of packed data.
func TestCopyValueInTheMiddle(t *testing.T) {
	text := longText + longText[:len(longText)&^3]
	packet := wire(idArray, 3, str(text), idBytes, 53, make([]byte, 56), idVectors2, 9, reals(18))
	for name, w := range map[string]*faultyWriter{"no failure": {at: -1}, "failing at every byte": {every: true}} {
		t.Run(name, func(t *testing.T) {
			for n := range 12 {
				o := &DecoderOptions{MaxChunk: 16}
				d, skipping := NewDecoder(plain(packet), o), NewDecoder(plain(packet), o)
				w.b = nil
				e := smallEncoder(w, Godot4, 16)
				for range n + 1 {
					require.NoError(t, withRetries(func() error { return copyToken(e, d) }))
					readTo(t, skipping, 1)
				}
				if d.PeekKind() != KindEnd {
					require.NoError(t, withRetries(func() error { return CopyValue(e, d) }), "after %d, %s", n)
					require.NoError(t, skipping.SkipValue())
				}
				require.Equal(t, skipping.InputOffset(), d.InputOffset(), "after %d, %s", n)
				require.Equal(t, skipping.Depth(), d.Depth(), "after %d, %s", n)
				require.Equal(t, d.Depth(), e.Depth(), "after %d, %s", n)
				for d.Depth() > 0 {
					require.NoError(t, withRetries(func() error { return copyToken(e, d) }))
				}
				require.Equal(t, packet, w.b, "after %d, %s", n)
			}
		})
	}
}

// Elements of another type than declared are copied where both containers declare
// the same, as a lenient Decoder accepts them, and written by no other call.
func TestCopyValueOfWrongElements(t *testing.T) {
	packet := wire(idArray|typedBy, idInt, 2, str("text"), idArray, 1, integer(7))
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
			e.Release()
			d.Release()
		})
	}

	// From a container that does not declare it, it was not accepted as such.
	d := NewDecoder(plain(wire(idArray, 1, str("text"))), nil)
	readTo(t, d, 1)
	e := NewEncoder(io.Discard, nil)
	require.NoError(t, e.BeginTypedArray(1, Elem{Type: TypeInt}))
	require.ErrorIs(t, CopyValue(e, d), ErrType)
	require.Error(t, e.ClearError())
	misuse{"a string", stringX, ErrType}.rejects(t, e)

	// The Writer may fail in it.
	for at := range packet {
		w := &faultyWriter{at: at}
		e, d := smallEncoder(w, Godot4, 12), NewDecoder(plain(packet), nil)
		require.NoError(t, withRetries(func() error { return CopyValue(e, d) }), "failing at %d", at)
		require.Equal(t, packet, w.b, "failing at %d", at)
	}
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
		{name: "CopyValue at an End", packet: wire(idArray, 1, idNil), tokens: 2, read: copyToNowhere, is: ErrCount, text: "offset 8, $[0]: CopyValue at an End"},
	})
}

// The types that the containers on both sides declare, for elements, keys and values.
func TestCopyValueDeclaredTypes(t *testing.T) {
	text := Elem{Type: TypeString}
	elements := func(packet []byte, n int) *Decoder {
		d := NewDecoder(plain(packet), nil)
		readTo(t, d, n)
		return d
	}
	typedStrings := idDict | typedBy
	for _, c := range []struct {
		name  string
		d     *Decoder // before the value
		begin step
		want  error
	}{
		{"an element into an Array", elements(wire(idArray|typedBy, idString, 1, integer(7)), 1), typedArray(1, text), nil},
		{"an element into a key", elements(wire(idArray|typedBy, idString, 1, integer(7)), 1), typedDict(1, text, Elem{}), nil},
		{"a key into an Array", elements(wire(typedStrings, idString, 1, integer(7), integer(8)), 2), typedArray(1, text), nil},
		{"a value into an Array", elements(wire(typedStrings, idString, 1, str("a"), integer(7)), 3), typedArray(1, text), ErrType},
		{"a value into a key", elements(wire(typedStrings, idString, 1, str("a"), integer(7)), 3), typedDict(1, text, Elem{}), ErrType},
		{"a String value into an Array", elements(wire(typedStrings, idString, 1, str("a"), str("b")), 3), typedArray(1, text), nil},
		{"a value into a value", elements(wire(typedStrings, idString, 1, str("a"), integer(7)), 3), func(e *Encoder) error {
			e.BeginTypedDict(1, text, text)
			return e.WriteString("key")
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := NewEncoder(io.Discard, nil)
			defer e.Release()
			defer c.d.Release()
			require.NoError(t, c.begin(e))
			require.ErrorIs(t, CopyValue(e, c.d), c.want)
		})
	}
}
