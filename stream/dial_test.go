package stream_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
)

// served serves with forward on ln until the test ends.
func served(t *testing.T, serve func(s *stream.Server) error) {
	s := echoServer()
	s.Logger = quiet()
	done := make(chan error)
	go func() { done <- serve(s) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.Equal(t, stream.ErrServerClosed, <-done)
	})
}

func listenOn(t *testing.T, network, addr string) net.Listener {
	ln := must(net.Listen(network, addr))(t)
	return ln
}

// requireEcho dials and receives what it sends, until the context is done.
func requireEcho(t *testing.T, addr string) {
	t.Helper()
	own := errors.New("own")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := must(stream.Dial(ctx, addr, &stream.Options{IdleTimeout: long}))(t)
	for n := range int64(3) {
		require.NoError(t, c.WritePacket(number(n)))
		requireInts(t, c, n)
	}
	cancel(own)
	_, err := c.Next()
	require.Equal(t, own, err)
	require.NoError(t, c.Close())
}

func TestDial(t *testing.T) {
	tcp := listenOn(t, "tcp", "127.0.0.1:0")
	served(t, func(s *stream.Server) error { return s.Serve(tcp) })
	requireEcho(t, "tcp://"+tcp.Addr().String())
	if runtime.GOOS == "windows" {
		return
	}
	dir, err := os.MkdirTemp("", "") // short: a path of a socket has about 100 bytes
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	unix := listenOn(t, "unix", filepath.Join(dir, "a b%20?c#d"))
	served(t, func(s *stream.Server) error { return s.Serve(unix) })
	requireEcho(t, "unix://"+unix.Addr().String())
}

// The certificate of the server is one of the system, and then none.
func TestDialTLS(t *testing.T) {
	if addr := os.Getenv("GDWIRE_TEST_DIAL"); addr != "" {
		requireEcho(t, addr)
		return
	}
	certFile, keyFile, _ := certificate(t)
	ln := listenOn(t, "tcp", "127.0.0.1:0")
	served(t, func(s *stream.Server) error { return s.ServeTLS(ln, certFile, keyFile) })
	addr := "tls://" + ln.Addr().String()
	if runtime.GOOS == "linux" { // where this variable replaces the authorities of the system
		dial := exec.Command(os.Args[0], "-test.run=^TestDialTLS$", "-test.v")
		dial.Env = append(os.Environ(), "GDWIRE_TEST_DIAL="+addr, "SSL_CERT_FILE="+certFile)
		out, err := dial.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestDialTLS")
	}
	_, err := stream.Dial(t.Context(), addr, nil)
	require.ErrorContains(t, err, "gdwire/stream: dial "+addr+": TLS handshake: ")
	require.ErrorContains(t, err, "certificate")
}

func TestDialErrors(t *testing.T) {
	for _, addr := range []string{"", "127.0.0.1:1", "ws://127.0.0.1:1", "udp://127.0.0.1:1", "TCP://127.0.0.1:1", "://", "unixgram:///tmp/a"} {
		_, err := stream.Dial(t.Context(), addr, nil)
		require.ErrorContains(t, err, "not tcp://HOST:PORT, tls://HOST:PORT or unix://PATH", addr)
	}
	for _, addr := range []string{"tcp://", "tcp://127.0.0.1", "tls://127.0.0.1:port", "tcp://127.0.0.1:1/path", "unix:///gdwire/nothing"} {
		_, err := stream.Dial(t.Context(), addr, nil)
		require.ErrorContains(t, err, "gdwire/stream: dial "+addr+": ")
		var op *net.OpError
		require.ErrorAs(t, err, &op, addr)
	}

	silent := listenOn(t, "tcp", "127.0.0.1:0") // accepts, and never does the handshake
	defer silent.Close()
	addr := "tls://" + silent.Addr().String()
	_, err := stream.Dial(t.Context(), addr, &stream.Options{HandshakeTimeout: time.Nanosecond})
	require.ErrorContains(t, err, "timeout")
	own := errors.New("own")
	for _, when := range []string{"before", "after"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if when == "before" {
			cancel(own)
		} else {
			go func() {
				if conn, err := silent.Accept(); err == nil {
					defer conn.Close()
					_, _ = conn.Read(make([]byte, 1)) // of the handshake
					cancel(own)
				}
			}()
		}
		_, err = stream.Dial(ctx, addr, nil)
		require.ErrorIs(t, err, own, when)
	}

	// The deadline of a context also ends dialing by a timer of its own, which can be earlier.
	parent, cancel := context.WithCancelCause(t.Context())
	_, err = stream.Dial(&lateContext{Context: parent, end: func() { cancel(own) }}, "tcp://"+silent.Addr().String(), nil)
	require.ErrorIs(t, err, own)
}

// A lateContext is done after its deadline, a little after it was first used.
type lateContext struct {
	context.Context
	end  func()
	once sync.Once
}

func (c *lateContext) Deadline() (time.Time, bool) { return time.Unix(1, 0), true }

func (c *lateContext) Done() <-chan struct{} {
	c.once.Do(func() { time.AfterFunc(time.Millisecond, c.end) })
	return c.Context.Done()
}
