package stream_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
)

// socketPath returns a path that is short enough for a Unix socket.
func socketPath(t *testing.T) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" {
		t.Skip("skipped: Unix sockets are tested on Unix")
	}
	dir := must(os.MkdirTemp("", "s"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "game")
}

// dialUnix connects as soon as somebody listens.
func dialUnix(t *testing.T, path string) *stream.Conn {
	for {
		conn, err := net.Dial("unix", path)
		if err == nil {
			c := stream.NewConn(t.Context(), conn, nil)
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		require.NoError(t, t.Context().Err())
		time.Sleep(time.Millisecond)
	}
}

// echoRaw sends packets back, and adds them to a channel.
func echoRaw(packets chan<- []byte) func(context.Context, *stream.Conn) error {
	return func(_ context.Context, c *stream.Conn) error {
		for {
			p, err := c.NextRaw(nil)
			if err == nil {
				packets <- p
				err = c.WriteRaw(p)
			}
			if err != nil {
				return err
			}
		}
	}
}

// ListenAndServe listens on a Unix socket, in place of a program that was killed, and removes it in the end. Its
// clients have no address, so MaxConnsPerAddr does not count them.
func TestServerUnix(t *testing.T) {
	path := socketPath(t)
	killed := must(net.Listen("unix", path))(t)
	killed.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, killed.Close())
	s := &stream.Server{Handler: echoRaw(make(chan []byte, 10)), MaxConnsPerAddr: 1}
	served := make(chan error)
	go func() { served <- s.ListenAndServe("unix:" + path) }()
	first, second := dialUnix(t, path), dialUnix(t, path)
	for _, c := range []*stream.Conn{first, second, first} {
		packet := []byte{2, 0, 0, 0, 5, 0, 0, 0}
		require.NoError(t, c.WriteRaw(packet))
		require.Equal(t, packet, must(c.NextRaw(nil))(t))
	}
	require.Error(t, new(stream.Server).ListenAndServe("unix:"+path))
	other := &stream.Server{Handler: s.Handler}
	require.ErrorContains(t, other.ListenAndServe("unix:"+path), "by another program")
	require.NoError(t, s.Close())
	require.Equal(t, stream.ErrServerClosed, <-served)
	require.NoFileExists(t, path)
}

// TestEngineUnix talks to a StreamPeerUDS and a UDSServer of Godot 4.
func TestEngineUnix(t *testing.T) {
	engine := os.Getenv("GDWIRE_GODOT4")
	if engine == "" {
		t.Skip("skipped: no GDWIRE_GODOT4, so no engine was asked")
	}
	path, script := socketPath(t), filepath.Join("testdata", "godot4", "uds.gd")
	packets := make(chan []byte, 10)
	s := &stream.Server{Handler: echoRaw(packets)}
	served := make(chan error)
	go func() { served <- s.ListenAndServe("unix:" + path) }()
	_ = dialUnix(t, path) // it listens
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var out []byte
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		out, err = exec.CommandContext(ctx, engine, script, path, path+".server").CombinedOutput()
	}()
	var all [][]byte
	for len(all) < 3 {
		select {
		case p := <-packets:
			all = append(all, p)
		case <-ended:
			require.Fail(t, "the engine ended", "%v\n%s", err, out)
		}
	}
	client := dialUnix(t, path+".server")
	for _, packet := range all {
		require.NoError(t, client.WriteRaw(packet))
	}
	for _, packet := range all {
		require.Equal(t, packet, must(client.NextRaw(nil))(t))
	}
	<-ended
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "same: 6\n")
	require.NoError(t, s.Close())
	require.Equal(t, stream.ErrServerClosed, <-served)
}
