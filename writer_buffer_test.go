package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gdwire/gdwire/internal/checked"
	"github.com/stretchr/testify/require"
)

// Bytes that follow an Unknown count are buffered until its End, all others are
// flushed.
func TestUnknownCountsAreBuffered(t *testing.T) {
	var b bytes.Buffer
	e := NewEncoder(&b, nil)
	defer e.Release()
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
			e.Release()
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
		e.Release()
	}
}

// Values longer than the buffer do not make it grow.
func TestLongValuesDoNotGrowTheBuffer(t *testing.T) {
	long := make([]byte, 4*bufferSize)
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
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
	e := NewEncoder(&b, nil)
	defer e.Release()
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
		e.Release()

		d := NewDecoder(plain(str("text")), nil)
		readTo(t, d, 1)
		_, err := io.Copy(writerFunc(func([]byte) (int, error) { return n, nil }), d.Payload())
		require.Equal(t, checked.ErrWrite, err)
		d.Release()
	}
	e := NewEncoder(writerFunc(func([]byte) (int, error) { return 0, nil }), nil)
	require.Equal(t, io.ErrShortWrite, e.WriteNil())
}

// A top-level value is written when it ends.
func TestValuesAreWrittenWhenTheyEnd(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(plain(s.packet), s.options(minWindow))
		defer d.Release()
		var b bytes.Buffer
		e := NewEncoder(&b, &EncoderOptions{Format: s.format})
		defer e.Release()
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
		require.NoError(t, e.Close(), "it can be closed and go on")
	})
}

func TestBufferedErrors(t *testing.T) {
	testCallErrors(t, []callError{
		{name: "MaxBuffered", before: []step{array(Unknown), func(e *Encoder) error { return e.WriteString(strings.Repeat("x", 8<<20-12)) }},
			call: writeNil, is: ErrLimit, text: "offset 8388612, $[1]: container of unknown size with 8388612 bytes so far exceeds limit MaxBuffered (8388608)"},
	})
}
