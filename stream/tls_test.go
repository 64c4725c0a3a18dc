package stream_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
)

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
					_, err := client.(*tls.Conn).NetConn().Read(make([]byte, 1))
					require.Equal(t, io.EOF, err)
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
						clients = 200
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
