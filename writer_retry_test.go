package gdwire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// While a call is interrupted nothing else can be written. It can be repeated
// after other calls failed.
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
		t.Run(name, func(t *testing.T) {
			err := other(e)
			require.ErrorIs(t, err, ErrIncomplete)
			require.ErrorIs(t, err, errTemporary)
			require.Equal(t, err, e.ClearError())
		})
	}
	requireText(t, e.WriteNil(), ErrIncomplete, "offset 64, $.key(0): another call before the interrupted one was repeated: temporary")
	require.Error(t, e.ClearError())
	require.Equal(t, errTemporary, e.Flush(), "although it writes all")
	require.NoError(t, e.WriteString(long))
	require.NoError(t, e.WriteNil())
	require.NoError(t, e.End())
	require.NoError(t, e.Close())
	require.Equal(t, wire(idDict, 1, str(long), idNil), w.b)
}

// An interrupted conversion continues with the same elements only.
func TestOtherElementsWhileInterrupted(t *testing.T) {
	w := &faultyWriter{at: 20}
	e := smallEncoder(w, Godot4, 16)
	defer e.Release()
	require.NoError(t, e.BeginPacked(TypePackedFloat32Array, 20))
	src := make([]float64, 10)
	require.Equal(t, errTemporary, WritePacked(e, src))
	require.ErrorIs(t, WritePacked(e, src[1:]), ErrIncomplete)
	require.ErrorIs(t, e.ClearError(), ErrIncomplete)
	require.ErrorIs(t, WritePacked(e, append([]float64{1}, src[1:]...)), ErrIncomplete, "as many, but others")
	require.ErrorIs(t, e.ClearError(), ErrIncomplete)
	require.NoError(t, WritePacked(e, src))
	require.NoError(t, WritePacked(e, src))
	require.NoError(t, e.End())
	require.Equal(t, wire(idFloats, 20, make([]byte, 80)), w.b)
}

// A key that the Writer interrupted is repeated without another DictKey.
func TestDictKeyAfterInterruptedKey(t *testing.T) {
	w := &faultyWriter{at: 20}
	e := smallEncoder(w, Godot4, 16)
	defer e.Release()
	require.NoError(t, e.BeginDict(1))
	require.Equal(t, errTemporary, e.WriteString(longText))
	misuse{"a marker", dictKey, ErrIncomplete}.rejects(t, e)
	require.NoError(t, e.WriteString(longText))
	require.NoError(t, e.WriteNil())
	require.NoError(t, e.End())
	require.Equal(t, wire(idDict, 1, str(longText), idNil), w.b)
}

// The rest of an interrupted Write comes next, and nothing else.
func TestInterruptedWrite(t *testing.T) {
	w := &faultyWriter{at: 30}
	e := smallEncoder(w, Godot4, 16)
	defer e.Release()
	const text = "a text that is longer than the buffer of sixteen bytes"
	require.NoError(t, e.BeginString(TypeString, int64(len(text))))
	n, err := e.Write([]byte(text))
	require.Equal(t, errTemporary, err)
	require.Less(t, n, len(text))
	for _, other := range []string{text, text[n:] + "!", text[n : len(text)-1], strings.ToUpper(text[n:]), ""} {
		m, err := e.Write([]byte(other))
		require.ErrorIs(t, err, ErrIncomplete, other)
		require.Zero(t, m)
		require.ErrorIs(t, e.ClearError(), errTemporary)
	}
	require.Equal(t, errTemporary, e.Flush(), "Flush does not complete it")
	m, err := e.Write([]byte(text[n:]))
	require.NoError(t, err)
	require.Equal(t, len(text), n+m)
	require.NoError(t, e.End())
	require.Equal(t, str(text), w.b)
}

// Calls of the same length, with the same first bytes, or with the same bytes and
// another effect, are not taken for an interrupted one.
func TestOtherCallsOfTheSameLook(t *testing.T) {
	long := longText + longText
	strings := func(s ...string) (all []step) {
		for _, s := range s {
			all = append(all, func(e *Encoder) error { return e.WriteString(s) })
		}
		return all
	}
	raw := func(p ...any) step {
		b := wire(p...)
		return func(e *Encoder) error { return e.WriteRaw(b) }
	}
	for _, c := range []struct {
		name   string
		before step
		calls  []step
	}{
		{"short strings", array(1), strings("aaaa", "bbbb", "aaab")},
		{"long strings", array(1), strings(long, longText+longText[:len(longText)-1]+"!", "x"+long[1:])},
		{"strings at the top level", nil, strings("aaaa", "bbbb", long, "x"+long[1:])},
		{"empty strings", array(1), append(strings(""), text(TypeString, 0), text(TypeString, Unknown), raw(str("")))},
		{"empty arrays", array(1), []step{array(0), array(Unknown), raw(idArray, 0)}},
		{"null", array(1), []step{func(e *Encoder) error { return e.BeginObject("", 0) }, raw(idObject, "")}},
		{"numbers", array(1), []step{intSeven, func(e *Encoder) error { return e.WriteInt(8) }, writeNil}},
		{"bytes", packedOf(TypePackedByteArray, 200), []step{
			func(e *Encoder) error { return WritePacked(e, make([]byte, 100)) },
			func(e *Encoder) error { return WritePacked(e, append(make([]byte, 99), 1)) },
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, first := range c.calls {
				for at := range 120 {
					w := &faultyWriter{at: at}
					e := smallEncoder(w, Godot4, 16)
					if c.before != nil && c.before(e) != nil {
						continue
					}
					if first(e) != errTemporary || e.retry.err == nil {
						continue
					}
					for j, other := range c.calls {
						if i == j {
							continue
						}
						depth := e.Depth()
						require.ErrorIs(t, other(e), ErrIncomplete, "%d in place of %d, at %d", j, i, at)
						require.ErrorIs(t, e.ClearError(), errTemporary, "the error of the Writer is in it")
						require.Equal(t, depth, e.Depth())
					}
					require.ErrorIs(t, write(string(make([]byte, 100)))(e), ErrIncomplete)
					require.ErrorIs(t, e.ClearError(), ErrIncomplete)
					require.NoError(t, first(e))
					e.Release()
				}
			}
		})
	}
}

// A program that does not check each call finds the Writer's error at Close, also
// if the Writer has recovered.
func TestCloseAfterWriterError(t *testing.T) {
	for at := range 40 {
		w := &faultyWriter{at: at}
		e := smallEncoder(w, Godot4, 16)
		e.BeginArray(Unknown)
		e.WriteString("aaaa")
		e.End()
		e.BeginArray(2)
		e.WriteString("bbbb")
		e.WriteString("cccc")
		e.End()
		require.ErrorIs(t, e.Close(), errTemporary, "failing at %d", at)
		e.Release()
	}
}
