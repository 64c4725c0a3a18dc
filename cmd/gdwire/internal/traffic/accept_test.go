package traffic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
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

// Packets that are read at the same time fit in maxBusyBytes, but for one of any size.
func TestMaxBusy(t *testing.T) {
	for size, want := range map[int64]int64{1: MaxBusy, 1 << 20: MaxBusy, 1<<20 + 1: MaxBusy - 1, 8 << 20: 32, maxBusyBytes: 1, 1 << 32: 1} {
		require.Equal(t, want, maxBusy(size), size)
	}
}

// TestTurns reads a packet of one connection after MaxBusy others have sent something: only those that
// are in the middle of a packet make it wait, until one of them ends.
func TestTurns(t *testing.T) {
	packet := cmdtest.Framed(cmdtest.Wire(2, 5))
	for name, c := range map[string]struct {
		sent  []byte
		waits bool
	}{
		"silent":              {sent: nil},
		"silent after packet": {sent: packet},
		"silent after large":  {sent: cmdtest.Framed(make([]byte, 20_000))},
		"silent after empty":  {sent: cmdtest.Framed(nil)},
		"inside a length":     {sent: packet[:2], waits: true},
		"inside a packet":     {sent: packet[:6], waits: true},
		"inside the second":   {sent: append(packet[:len(packet):len(packet)], packet[:6]...), waits: true},
		"inside a long one":   {sent: cmdtest.Wire(1 << 20), waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				busy := make(chan struct{}, MaxBusy)
				dial := func(got *atomic.Int64, timeout time.Duration) net.Conn {
					ours, theirs := net.Pipe()
					go func() {
						conn := &turnConn{Conn: ours, busy: busy}
						c := stream.NewConn(t.Context(), conn, &stream.Options{MaxPacket: 1 << 16, ReadTimeout: timeout})
						packets := conn.start(t.Context(), c)
						defer func() { _ = c.Close() }()
						defer conn.stop()
						for {
							b, err := packets.NextRaw(nil)
							if err != nil && !stream.Skippable(err) {
								return
							}
							got.Add(int64(len(b)))
						}
					}()
					return theirs
				}
				var others, last atomic.Int64
				var first net.Conn
				for range MaxBusy {
					first = dial(&others, 0)
					defer first.Close()
					testenv.Must(first.Write(c.sent))(t)
				}
				synctest.Wait()
				conn := dial(&last, time.Second)
				defer conn.Close()
				go func() {
					for _, part := range [][]byte{packet[:6], packet[6:]} {
						_, _ = conn.Write(part)
					}
				}()
				time.Sleep(time.Minute) // its ReadTimeout begins with its turn
				if c.waits {
					require.Zero(t, last.Load())
					require.NoError(t, first.Close())
					synctest.Wait()
				}
				require.EqualValues(t, 8, last.Load())
			})
		})
	}
}
