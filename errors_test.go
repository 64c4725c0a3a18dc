package gdwire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// requireError asks for an Error with that offset, path and reason.
func requireError(t testing.TB, err error, offset int, path string, reason error) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, e.Err, reason)
	require.EqualValues(t, offset, e.Offset, e)
	require.Equal(t, path, e.Path, e)
}
