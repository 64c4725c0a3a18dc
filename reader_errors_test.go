package gdwire

import (
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// Err returns errors that stay, and LastError the latest one. Neither reads.
func TestErrAndLastError(t *testing.T) {
	packet := bytesOf(idArray, 3, integer(1), integer(2), 99)
	d := NewDecoder(plain(packet), nil)
	defer d.Release()
	require.NoError(t, d.Err())
	require.NoError(t, d.LastError())
	readTo(t, d, 1)
	_, wrongType := d.ReadString()
	require.ErrorIs(t, wrongType, ErrType)
	require.NoError(t, d.Err())
	require.Same(t, wrongType, d.LastError())
	own := d.WrapError(errors.New("own"))
	require.NoError(t, d.Err())
	require.Same(t, own, d.LastError())
	readTo(t, d, 2)
	require.Same(t, own, d.LastError(), "reading does not change it")
	unknown := d.SkipValue()
	require.ErrorIs(t, unknown, ErrType)
	require.Same(t, unknown, d.Err())
	require.Same(t, unknown, d.LastError())

	d.Reset(io.MultiReader(plain(packet[:10]), iotest.ErrReader(io.ErrClosedPipe)))
	require.NoError(t, d.Err())
	require.NoError(t, d.LastError())
	readTo(t, d, 1)
	_, err := d.ReadInt()
	require.Equal(t, io.ErrClosedPipe, err)
	require.NoError(t, d.Err())
	require.Equal(t, io.ErrClosedPipe, d.LastError())
	require.Zero(t, d.PeekKind())
	require.NoError(t, d.Err(), "PeekKind keeps an error of the Reader for one call only")

	d.Reset(plain(packet[:10]))
	require.ErrorIs(t, d.SkipValue(), io.ErrUnexpectedEOF)
	require.ErrorIs(t, d.Err(), io.ErrUnexpectedEOF)
	d.Release()
	require.Equal(t, ErrReleased, d.Err())
	require.Equal(t, ErrReleased, d.LastError())
}
