package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that does not check each call does not send a complete value that
// lacks the invalid call.
func TestErrorsStay(t *testing.T) {
	var b bytes.Buffer
	e := NewEncoder(&b, nil)
	defer e.Release()
	e.BeginDict(Unknown)
	e.WriteString("name")
	e.WriteString("\xff")
	e.WriteString("pos")
	e.WriteReals(TypeVector3, 1e300, 0, 0)
	e.End()
	err := e.Close()
	requireError(t, err, 20, "$.value(0)", ErrUTF8)
	require.Equal(t, err, e.Close())
	require.Equal(t, err, e.Flush())
	require.Equal(t, err, e.Err())
	require.Empty(t, b.Bytes())

	// Every call returns it and writes nothing.
	for name, call := range everyWrite {
		require.Equal(t, err, call(e), name)
		require.EqualValues(t, 20, e.OutputOffset(), name)
		require.Equal(t, 1, e.Depth(), name)
	}

	e.Reset(&b)
	require.NoError(t, e.Err())
	require.NoError(t, e.WriteNil())
	require.NoError(t, e.Close())
	require.Equal(t, bytesOf(idNil), b.Bytes())
}

// After ClearError the call can be made differently.
func TestRecover(t *testing.T) {
	var b bytes.Buffer
	e := NewEncoder(&b, nil)
	defer e.Release()
	require.NoError(t, e.ClearError())
	require.NoError(t, e.BeginArray(2))
	err := e.WriteString("\xff")
	require.ErrorIs(t, err, ErrUTF8)
	require.Equal(t, err, e.ClearError())
	require.NoError(t, e.ClearError())
	require.NoError(t, e.WriteNil())
	require.ErrorIs(t, e.WriteInts(TypeVector3, 1), ErrType)
	require.ErrorIs(t, e.ClearError(), ErrType)
	require.NoError(t, e.WriteNil())
	require.ErrorIs(t, e.Close(), ErrIncomplete)
	require.ErrorIs(t, e.End(), ErrIncomplete, "that of Close stays, too")
	require.ErrorIs(t, e.ClearError(), ErrIncomplete)
	require.NoError(t, e.End())
	require.NoError(t, e.Close())
	require.Equal(t, bytesOf(idArray, 2, idNil, idNil), b.Bytes())
}

// A value cannot be completed after Fail.
func TestFail(t *testing.T) {
	mine := errors.New("no such player")
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
	begin := func() {
		e.Reset(io.Discard)
		require.NoError(t, e.Fail(nil))
		require.NoError(t, e.BeginArray(2))
		require.NoError(t, e.WriteNil())
	}
	stays := func(err error) {
		t.Helper()
		require.Equal(t, err, e.ClearError())
		require.Equal(t, err, e.ClearError())
		require.Equal(t, err, e.WriteNil())
		require.Equal(t, err, e.Close())
		require.Equal(t, err, e.Err())
		require.Equal(t, err, e.Fail(io.EOF), "the first one counts")
		require.Equal(t, err, e.Fail(nil))
		require.Equal(t, err, e.Err())
	}

	begin()
	err := e.Fail(mine)
	requireError(t, err, 12, "$[1]", mine)
	stays(err)

	// An error that has an offset and path keeps them.
	begin()
	inner := e.WriteString("\xff")
	require.Equal(t, inner, e.Fail(inner))
	stays(inner)
	begin()
	inner = fmt.Errorf("player 7: %w", e.WriteString("\xff"))
	require.Equal(t, inner, e.Fail(inner))
	stays(inner)

	// One that the program gives in place of the Encoder's counts.
	begin()
	require.Error(t, e.WriteString("\xff"))
	err = e.Fail(mine)
	requireError(t, err, 12, "$[1]", mine)
	stays(err)

	begin()
	require.NoError(t, e.WriteNil())
	require.NoError(t, e.End())
	require.NoError(t, e.Close(), "Reset clears it")
}

// An error of the Writer stays, although the Writer has recovered: every call returns it, and
// no invalid call replaces it.
func TestWriterErrorStays(t *testing.T) {
	for at := range 20 {
		w := &faultyWriter{at: at}
		e := smallEncoder(w, Godot4, 16)
		require.NoError(t, e.BeginDict(1))
		err := e.WriteString(longText)
		require.Equal(t, errTemporary, err)
		offset, depth := e.OutputOffset(), e.Depth()
		for name, call := range everyWrite {
			require.Equal(t, err, call(e), name)
			require.Equal(t, err, e.ClearError(), name)
			require.Equal(t, offset, e.OutputOffset(), name)
			require.Equal(t, depth, e.Depth(), name)
		}
		require.Equal(t, bytesOf(idDict, 1, str(longText))[:at], append([]byte{}, w.b...))
		e.Release()
	}
}

// A program that does not check each call finds the Writer's error at Close.
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
		require.Equal(t, errTemporary, e.Close(), "failing at %d", at)
		e.Release()
	}
}
