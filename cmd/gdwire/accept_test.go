package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

type temporaryError struct{ error }

func (temporaryError) Temporary() bool { return true }

// TestRetry waits as long as errors are temporary, and tells the first of them.
func TestRetry(t *testing.T) {
	busy, broken := temporaryError{errors.New("busy")}, errors.New("broken")
	for _, want := range []error{nil, broken} {
		var told []error
		tries := 0
		n, err := retry(t.Context(), func(err error) { told = append(told, err) }, func() (int, error) {
			if tries++; tries < 4 {
				return 0, busy
			}
			return 7, want
		})
		require.Equal(t, want, err)
		require.Equal(t, 7, n)
		require.Equal(t, []error{busy}, told)
	}
	ctx, end := context.WithCancel(t.Context())
	_, err := retry(ctx, func(error) { end() }, func() (int, error) { return 0, busy })
	require.Equal(t, busy, err)
}
