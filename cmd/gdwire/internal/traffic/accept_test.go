package traffic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type temporaryError struct{ error }

func (temporaryError) Temporary() bool { return true }

// TestCommandServerLog shows an error once, until a connection is accepted.
func TestCommandServerLog(t *testing.T) {
	var got []string
	log := &serverLog{logf: func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }}
	l := slog.New(log)
	for range 3 {
		l.Error("gdwire/stream: accept failed", "error", errors.New("too many open files"), "retry", time.Second)
	}
	log.reset()
	l.Error("gdwire/stream: accept failed", "error", errors.New("too many open files"), "retry", time.Second)
	l.Error("gdwire/stream: connection failed", "remote", "1.2.3.4:5", "error", errors.New("panic: nil"))
	busy := "accept failed: too many open files; waiting"
	require.Equal(t, []string{busy, busy, "connection failed, remote 1.2.3.4:5: panic: nil"}, got)
}

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
