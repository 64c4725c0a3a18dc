package stream_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
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
	return must(net.Listen(network, addr))(t)
}

// requireEcho dials and receives what it sends, also after the context is done.
func requireEcho(t *testing.T, addr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := must(stream.Dial(ctx, addr, &stream.Options{IdleTimeout: long}))(t)
	cancel()
	for n := range int64(3) {
		require.NoError(t, c.WritePacket(number(n)))
		requireInts(t, c, n)
	}
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
		require.ErrorContains(t, errOf(stream.Dial(t.Context(), addr, nil)), "not tcp://HOST:PORT, tls://HOST:PORT or unix://PATH", addr)
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
		require.ErrorIs(t, errOf(stream.Dial(ctx, addr, nil)), own, when)
	}

	// The deadline of a context also ends dialing by a timer of its own, which can be earlier.
	parent, cancel := context.WithCancelCause(t.Context())
	require.ErrorIs(t, errOf(stream.Dial(&lateContext{Context: parent, end: func() { cancel(own) }}, "tcp://"+silent.Addr().String(), nil)), own)
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

// tlsConfigs returns the configurations of a TLS server and its clients.
func tlsConfigs(t *testing.T) (server, client *tls.Config) {
	certFile, keyFile, client := certificate(t)
	cert := must(tls.LoadX509KeyPair(certFile, keyFile))(t)
	client.InsecureSkipVerify = true // the time of the test is not that of the certificate
	return &tls.Config{Certificates: []tls.Certificate{cert}}, client
}

// tlsPipe returns a Conn over TLS, after its handshake, and the client.
func tlsPipe(ctx context.Context, t *testing.T, o *stream.Options) (*stream.Conn, net.Conn) {
	server, trust := tlsConfigs(t)
	ours, theirs := net.Pipe()
	c := stream.NewConn(ctx, tls.Server(ours, server), o)
	client := tls.Client(theirs, trust)
	shaken := make(chan error)
	go func() { shaken <- client.Handshake() }()
	go func() { _, _ = c.Next() }()
	require.NoError(t, <-shaken)
	return c, client
}

// TestTLSWriteTimeout lets a client not read. A tls.Conn cannot write after a timeout, so the first
// one is final, also if no byte was written.
func TestTLSWriteTimeout(t *testing.T) {
	for name, buffer := range map[string]bool{"at once": false, "held": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, client := tlsPipe(t.Context(), t, &stream.Options{WriteTimeout: time.Second, BufferWrites: buffer})
				synctest.Wait()
				require.ErrorIs(t, c.WritePacket(number(1)), os.ErrDeadlineExceeded)
				for range 3 {
					for _, err := range []error{c.WritePacket(number(1)), c.WriteRaw([]byte{0, 0, 0, 0}), c.Flush()} {
						require.ErrorIs(t, err, stream.ErrBroken)
						require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
					}
				}
				_ = client.(*tls.Conn).NetConn().Close()
				_ = c.Close()
			})
		})
	}
}

// TestTLSClientDoesNotRead ends connections to clients that do not read. No close_notify can be written,
// which holds nothing up for longer than 100 ms.
func TestTLSClientDoesNotRead(t *testing.T) {
	const soon = 100 * time.Millisecond
	for name, end := range map[string]func(c *stream.Conn, cancel context.CancelFunc){
		"Close":   func(c *stream.Conn, _ context.CancelFunc) { _ = c.Close() },
		"context": func(_ *stream.Conn, cancel context.CancelFunc) { cancel() },
	} {
		for _, writes := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					c, client := tlsPipe(ctx, t, nil)
					ended := make(chan error, 1)
					if writes {
						go func() { ended <- talk(c) }()
					} else {
						ended <- net.ErrClosed
					}
					synctest.Wait()
					begin := time.Now()
					end(c, cancel)
					require.Error(t, <-ended)
					require.LessOrEqual(t, time.Since(begin), soon)
					time.Sleep(soon)
					synctest.Wait()
					require.Equal(t, io.EOF, errOf(client.(*tls.Conn).NetConn().Read(make([]byte, 1))))
					require.Error(t, next(c)) // after the call of tlsPipe
				})
			})
		}
	}
}

// TestTLSClientsDoNotRead ends a Server with such clients, and others that read. These receive their
// last packets and the end of the stream.
func TestTLSClientsDoNotRead(t *testing.T) {
	const soon = 100 * time.Millisecond
	one := framed(binary.LittleEndian, encoded(t, number(1)))
	server, trust := tlsConfigs(t)
	for name, c := range map[string]struct {
		handler func(c *stream.Conn) error
		end     func(s *stream.Server) error
		reads   bool // whether other clients read, in a tenth of the connections
		want    time.Duration
	}{
		"Server.Close":              {drained, (*stream.Server).Close, true, soon},
		"Server.Close, Conn.Close":  {drainedAndClosed, (*stream.Server).Close, true, soon},
		"Server.Close of a writer":  {talk, (*stream.Server).Close, false, soon},
		"Shutdown":                  {drained, nothing, true, soon},
		"Shutdown, then Conn.Close": {drainedAndClosed, nothing, true, soon},
		"Shutdown of a writer":      {talk, nothing, false, time.Second + soon},
	} {
		for _, half := range []bool{false, true} { // whether the connection can be closed for writing alone
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &stream.Server{Logger: quiet(), Handler: func(_ context.Context, conn *stream.Conn) error {
						if err := conn.WritePacket(number(1)); err != nil {
							return err
						}
						return c.handler(conn)
					}}
					ln := newFakeListener(nil)
					result := start(s, tls.NewListener(ln, server))
					var read []chan []byte
					clients := 20
					if !half {
						clients = testenv.Cases(40, 200)
					}
					for i := range clients {
						ours, theirs := net.Pipe()
						if half {
							ours = newHalfConn(ours)
						}
						ln.conns <- ours
						client := tls.Client(theirs, trust)
						must(io.ReadFull(client, make([]byte, len(one))))(t)
						if i%10 == 0 && c.reads {
							got := make(chan []byte, 1)
							read = append(read, got)
							go func() {
								b, err := io.ReadAll(client)
								assert.NoError(t, err)
								got <- b
								client.Close()
							}()
						}
					}
					synctest.Wait()
					begin := time.Now()
					require.NoError(t, c.end(s))
					require.NoError(t, s.Shutdown(t.Context()))
					require.LessOrEqual(t, time.Since(begin), c.want)
					require.Equal(t, stream.ErrServerClosed, result())
					for _, got := range read {
						require.Empty(t, <-got)
					}
				})
			})
		}
	}
}

func nothing(*stream.Server) error { return nil }

func drainedAndClosed(c *stream.Conn) error {
	_ = drained(c)
	return c.Close()
}

// A secureSocket is a fakeSocket over TLS to a client that does not read: closing it takes five seconds.
type secureSocket struct {
	*fakeSocket
	under net.Conn // under TLS
}

// A secureConn is its connection.
type secureConn struct {
	fakeConn
	under net.Conn
}

func (c secureConn) NetConn() net.Conn { return c.under }

func (s secureSocket) Close(code closeCode, reason string) error {
	s.closed <- code
	return s.end()
}

func (s secureSocket) CloseNow() error { return s.Close(-1, "") }

func (s secureSocket) end() error {
	_ = s.under.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, _ = s.under.Read(make([]byte, 1))
	return s.fakeSocket.end()
}

// TestSecureMessages closes WebSockets over TLS whose clients do not read.
func TestSecureMessages(t *testing.T) {
	for want, end := range map[time.Duration]func(c *stream.Conn, cancel context.CancelFunc){
		time.Second:            func(c *stream.Conn, _ context.CancelFunc) { _ = c.Close() },
		100 * time.Millisecond: func(_ *stream.Conn, cancel context.CancelFunc) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			ours, _ := net.Pipe()
			s := secureSocket{newSocket(), ours}
			ctx, cancel := context.WithCancel(t.Context())
			c := stream.NewMessageConn(stream.WithNetConn(ctx, secureConn{fakeConn{s: s.fakeSocket}, ours}), stream.WebSocket(s, closeStatus), nil)
			begin := time.Now()
			end(c, cancel)
			require.Error(t, next(c))
			<-s.broken
			require.LessOrEqual(t, time.Since(begin), want)
		})
	}
}
