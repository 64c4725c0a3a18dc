package stream_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// quiet is a log that is not read.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestServerDefaults tests a Server without Options, and with each limit disabled: how long
// it takes until a client is disconnected.
func TestServerDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		client  func(conn net.Conn) // the client, which then stays silent
		handler func(c *stream.Conn) error
		want    time.Duration
		off     stream.Options
	}{
		"IdleTimeout": {func(net.Conn) {}, next, 5 * time.Minute, stream.Options{IdleTimeout: -1}},
		"ReadTimeout": {func(conn net.Conn) { _, _ = conn.Write([]byte{8, 0}) }, next, 10 * time.Second,
			stream.Options{ReadTimeout: -1}},
		"WriteTimeout": {func(net.Conn) {}, func(c *stream.Conn) error { return c.WritePacket(number(1)) }, 10 * time.Second,
			stream.Options{WriteTimeout: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []stream.Options{{}, c.off} {
				synctest.Test(t, func(t *testing.T) {
					closed := make(chan error, 1)
					s := &stream.Server{
						Options: o, Logger: quiet(),
						Handler:    func(_ context.Context, conn *stream.Conn) error { return c.handler(conn) },
						ConnClosed: func(_ context.Context, _ *stream.Conn, err error) { closed <- err },
					}
					ours, theirs := net.Pipe()
					begin := time.Now()
					end := serveOne(t, s, ours)
					c.client(theirs)
					if o == (stream.Options{}) {
						require.ErrorIs(t, <-closed, os.ErrDeadlineExceeded)
						require.Equal(t, c.want, time.Since(begin))
						n := s.Stats()
						require.EqualValues(t, 1, map[string]int64{
							"IdleTimeout": n.IdleTimeouts, "ReadTimeout": n.ReadTimeouts, "WriteTimeout": n.WriteTimeouts,
						}[name])
						require.EqualValues(t, 1, n.IdleTimeouts+n.ReadTimeouts+n.WriteTimeouts)
						require.EqualValues(t, 1, n.Failed)
					} else {
						time.Sleep(time.Hour)
						require.EqualValues(t, 1, s.Stats().Conns)
					}
					require.NoError(t, s.Close())
					end()
				})
			}
		})
	}
}

func next(c *stream.Conn) error {
	_, err := c.Next()
	return err
}

// TestDefaultsTable compares the values in the documentation of Server with those in SECURITY.md.
func TestDefaultsTable(t *testing.T) {
	source, _, _ := strings.Cut(string(must(os.ReadFile("server.go"))(t)), "type Server struct")
	security := must(os.ReadFile("../SECURITY.md"))(t)
	rows := 0
	for line := range strings.Lines(source) {
		field := strings.Fields(line)
		if len(field) < 4 || !strings.HasPrefix(line, "//\t") {
			continue
		}
		rows++
		value, about, ok := strings.Cut(strings.Join(field[2:], " "), " ") // "10 s …" or "10,000 …"
		require.True(t, ok)
		if unit, _, _ := strings.Cut(about, " "); unit == "s" || unit == "min" || unit == "MiB" {
			value += " " + unit
		}
		require.Contains(t, string(security), fmt.Sprintf("| `stream.Server` %s | %s |", field[1], value))
	}
	require.Equal(t, 9, rows)
	require.Equal(t, 10_000, stream.DefaultMaxConns)
	require.Equal(t, 8<<20, stream.DefaultMaxPacket)
	require.Equal(t, 1<<20, stream.DefaultMaxReading)
}

// TestDripShutdown shuts a server down while each Write of a client ends one byte into the next packet, which
// has therefore always begun to arrive, and while another client floods the server.
func TestDripShutdown(t *testing.T) {
	one := framed(binary.LittleEndian, encoded(t, number(1)))
	for name, interval := range map[string]time.Duration{"drip": 800 * time.Millisecond, "flood": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stream.Server{Handler: func(_ context.Context, c *stream.Conn) error {
					for {
						if _, err := c.Next(); err != nil {
							return err
						}
					}
				}}
				ours, theirs := net.Pipe()
				end := serveOne(t, s, ours)
				busy, left := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(left)
					defer theirs.Close()
					_, err := theirs.Write(one[:1])
					for i := 0; err == nil && i < 1_000_000; i++ {
						if i == 10 {
							close(busy)
						}
						time.Sleep(interval)
						_, err = theirs.Write(append(one[1:len(one):len(one)], one[0]))
					}
				}()
				<-busy
				begin := time.Now()
				end()
				require.LessOrEqual(t, time.Since(begin), time.Second)
				<-left
			})
		})
	}
}

// TestServerMistakes uses a Server in ways that cannot work.
func TestServerMistakes(t *testing.T) {
	none := new(stream.Server)
	defer func() { require.NoError(t, errors.Join(none.Shutdown(t.Context()), none.Close())) }()
	ln := newFakeListener(nil)
	require.ErrorContains(t, none.Serve(ln), "no Handler")
	<-ln.closed
	require.ErrorContains(t, none.ListenAndServe("127.0.0.1:0"), "no Handler")
	require.Panics(t, func() { none.ServeConn(nil) })

	s := &stream.Server{Handler: func(context.Context, *stream.Conn) error { return nil }}
	fake := newFakeListener(nil)
	result := start(s, incomparable{fake, nil})
	conn, _ := net.Pipe()
	fake.conns <- conn // Serve accepts, so it kept the listener
	other := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer other.Close()
	require.NoError(t, s.Shutdown(t.Context()))
	require.Equal(t, stream.ErrServerClosed, result())
	// The address is in use: after Shutdown that does not matter.
	require.Equal(t, stream.ErrServerClosed, s.ListenAndServe(other.Addr().String()))
	require.Equal(t, stream.ErrServerClosed, s.ListenAndServeTLS(other.Addr().String(), "", ""))
}

// incomparable is a listener that cannot be a key of a map.
type incomparable struct {
	*fakeListener
	_ []int
}

// certificate writes a certificate and its key to files, and returns a configuration
// that trusts it.
func certificate(t *testing.T) (certFile, keyFile string, client *tls.Config) {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	private := must(x509.MarshalPKCS8PrivateKey(key))(t)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	pool := x509.NewCertPool()
	pool.AddCert(must(x509.ParseCertificate(der))(t))
	return certFile, keyFile, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
}

// TestServeTLS exchanges packets over TLS, and disconnects a client that begins a handshake
// and does not finish it.
func TestServeTLS(t *testing.T) {
	certFile, keyFile, trust := certificate(t)
	cert := must(tls.LoadX509KeyPair(certFile, keyFile))(t)
	otherCert, otherKey, _ := certificate(t)
	other := must(tls.LoadX509KeyPair(otherCert, otherKey))(t)
	for name, c := range map[string]struct {
		config    *tls.Config
		cert, key string
	}{
		"files":     {nil, certFile, keyFile},
		"TLSConfig": {&tls.Config{Certificates: []tls.Certificate{cert}}, "", ""},
		"both":      {&tls.Config{Certificates: []tls.Certificate{other}}, certFile, keyFile},
	} {
		t.Run(name, func(t *testing.T) {
			var logged logBuffer
			serve := func(timeout time.Duration) (*stream.Server, net.Addr, chan error) {
				s := &stream.Server{
					TLSConfig: c.config, Options: stream.Options{HandshakeTimeout: timeout},
					Logger:  slog.New(slog.NewTextHandler(&logged, nil)),
					Handler: func(_ context.Context, c *stream.Conn) error { return echo(c, true) },
				}
				ln, result := listen(t), make(chan error)
				go func() { result <- s.ServeTLS(ln, c.cert, c.key) }()
				return s, ln.Addr(), result
			}
			s, addr, result := serve(long)
			conn := must(net.Dial("tcp", addr.String()))(t)
			client := stream.NewConn(t.Context(), tls.Client(conn, trust), &stream.Options{HandshakeTimeout: long})
			defer client.Close()
			require.EqualValues(t, 7, ask(t, client, 7))
			require.NoError(t, s.Shutdown(t.Context()))
			require.Equal(t, stream.ErrServerClosed, <-result)
			require.Empty(t, logged.String())

			s, addr, result = serve(short)
			silent := must(net.Dial("tcp", addr.String()))(t)
			defer silent.Close()
			must(silent.Write([]byte{22, 3, 1}))(t)
			_, err := io.Copy(io.Discard, silent) // until the server closes it
			require.NoError(t, err)
			require.NoError(t, s.Shutdown(t.Context()))
			require.Equal(t, stream.ErrServerClosed, <-result)
			require.Contains(t, logged.String(), "TLS handshake: i/o timeout")
			require.EqualValues(t, 1, s.Stats().HandshakeTimeouts)
		})
	}
	s := &stream.Server{Handler: func(context.Context, *stream.Conn) error { return nil }}
	known := &tls.Config{Certificates: []tls.Certificate{cert}}
	for _, c := range []struct {
		config    *tls.Config
		cert, key string
	}{
		{nil, "", ""},
		{&tls.Config{MinVersion: tls.VersionTLS13}, "", ""},
		{nil, "none", "none"},
		{known, certFile, ""},
		{known, "", keyFile},
	} {
		s.TLSConfig = c.config
		ln := newFakeListener(errors.New("accepting"))
		close(ln.conns)
		require.ErrorIs(t, s.ServeTLS(ln, c.cert, c.key), os.ErrNotExist, "%q, %q", c.cert, c.key)
		<-ln.closed
	}
}

// TestHandshake interrupts handshakes of Conns: by their timeout, which later calls do not
// repeat, and by Shutdown.
func TestHandshake(t *testing.T) {
	for _, o := range []stream.Options{{}, {WriteTimeout: long}, {BufferWrites: true}, {BufferWrites: true, WriteTimeout: long}} {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		o.HandshakeTimeout = short
		c := stream.NewConn(t.Context(), tls.Client(ours, &tls.Config{ServerName: "none"}), &o)
		defer c.Close()
		go func() { _, _ = theirs.Read(make([]byte, 1000)) }()
		require.ErrorIs(t, errOf(c.Next()), os.ErrDeadlineExceeded)
		for _, err := range []error{next(c), c.WritePacket(number(1)), c.WriteRaw(make([]byte, 100_000))} {
			require.ErrorIs(t, err, stream.ErrBroken, "%+v", o)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		}
	}

	s := &stream.Server{Handler: func(context.Context, *stream.Conn) error { panic("not called") }, Options: stream.Options{HandshakeTimeout: -1}}
	ln := newFakeListener(nil)
	result := start(s, tls.NewListener(ln, new(tls.Config)))
	pipe, other := net.Pipe()
	ln.conns <- pipe
	must(other.Write([]byte{22, 3, 1}))(t)
	require.NoError(t, s.Shutdown(t.Context()))
	require.Equal(t, stream.ErrServerClosed, result())
}

// TestHooks looks at the hooks of a connection: in which order they are called, and with
// which contexts and errors.
func TestHooks(t *testing.T) {
	type key struct{}
	own := errors.New("own")
	for name, want := range map[string]error{"nil": nil, "own": own} {
		t.Run(name, func(t *testing.T) {
			var calls []string
			s := &stream.Server{
				Logger: quiet(),
				ConnContext: func(ctx context.Context, c *stream.Conn) context.Context {
					calls = append(calls, "begin "+c.RemoteAddr().String())
					return context.WithValue(ctx, key{}, "value")
				},
				Handler: func(ctx context.Context, _ *stream.Conn) error {
					calls = append(calls, fmt.Sprint("handler ", ctx.Value(key{}), ctx.Err()))
					return want
				},
				ConnClosed: func(ctx context.Context, _ *stream.Conn, err error) {
					calls = append(calls, fmt.Sprint("end ", ctx.Value(key{}), ctx.Err(), err))
					panic("logged")
				},
			}
			ours, _ := net.Pipe()
			s.ServeConn(stream.NewConn(t.Context(), ours, nil))
			require.Equal(t, []string{"begin pipe", "handler value<nil>", fmt.Sprint("end value", context.Canceled, want)}, calls)
			require.NoError(t, s.Shutdown(t.Context()))
		})
	}
}

// TestCloseRead tests handlers that only write. They learn that the client left, and of Shutdown. A
// client that sends nothing is not idle, and its packets are discarded.
func TestCloseRead(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(s *stream.Server, client net.Conn)
		want error
	}{
		"left":     {func(_ *stream.Server, client net.Conn) { client.Close() }, io.EOF},
		"Shutdown": {func(s *stream.Server, _ net.Conn) { go func() { _ = s.Shutdown(context.Background()) }() }, stream.ErrServerClosed},
		"Close":    {func(s *stream.Server, _ net.Conn) { s.Close() }, stream.ErrServerClosed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				s := &stream.Server{Handler: func(ctx context.Context, c *stream.Conn) error {
					ctx = c.CloseRead(ctx)
					assert.NoError(t, c.WritePacket(number(1)))
					<-ctx.Done()
					ended <- context.Cause(ctx)
					return nil
				}}
				ours, theirs := net.Pipe()
				end := serveOne(t, s, ours)
				must(io.ReadFull(theirs, make([]byte, 12)))(t)
				must(theirs.Write(framed(binary.LittleEndian, encoded(t, number(1)), nil, []byte("garbage"))))(t)
				time.Sleep(24 * time.Hour)
				require.EqualValues(t, 1, s.Stats().Conns)
				c.end(s, theirs)
				require.Equal(t, c.want, <-ended)
				end()
				require.EqualValues(t, 3, s.Stats().PacketsIn)
			})
		})
	}
}

// TestStats counts valid and invalid packets of several connections.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stream.Server{
			MaxConns: 1, Options: stream.Options{MaxPacket: 100}, Logger: quiet(),
			Handler: func(_ context.Context, c *stream.Conn) error { return echo(c, false) },
		}
		ln := newFakeListener(nil)
		result := start(s, ln)
		ours, theirs := net.Pipe()
		ln.conns <- ours
		one := framed(binary.LittleEndian, encoded(t, number(1)))
		wire := framed(binary.LittleEndian, encoded(t, number(1)), nil, make([]byte, 101), []byte{200, 0, 0, 0}, encoded(t, number(2)))
		go func() { _, _ = theirs.Write(wire) }()
		must(io.ReadFull(theirs, make([]byte, 2*len(one))))(t)
		refused, other := net.Pipe()
		ln.conns <- refused
		require.Equal(t, io.EOF, errOf(other.Read(make([]byte, 1))))
		synctest.Wait() // the handler waits for another packet
		size := int64(2 * len(one))
		want := stream.Stats{Conns: 1, Accepted: 1, Refused: 1, PacketsIn: 5, PacketsOut: 2, BytesIn: int64(len(wire)), BytesOut: size, Invalid: 3}
		require.Equal(t, want, s.Stats())
		must(theirs.Write(one[:3]))(t)
		time.Sleep(time.Minute)
		want.Conns, want.ReadTimeouts, want.Failed, want.BytesIn = 0, 1, 1, want.BytesIn+3
		require.Equal(t, want, s.Stats())
		require.NoError(t, s.Shutdown(t.Context()))
		require.Equal(t, stream.ErrServerClosed, result())
	})
}

// TestLogLimit lets many connections fail within seconds: few are logged.
func TestLogLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged logBuffer
		s := &stream.Server{
			Logger:  slog.New(slog.NewTextHandler(&logged, nil)),
			Handler: func(context.Context, *stream.Conn) error { return io.ErrUnexpectedEOF },
		}
		for range 3 {
			for range 1000 {
				ours, _ := net.Pipe()
				s.ServeConn(stream.NewConn(t.Context(), ours, nil))
			}
			time.Sleep(time.Second)
		}
		require.Equal(t, 30, strings.Count(logged.String(), "\n"))
		require.Equal(t, 2, strings.Count(logged.String(), "suppressed=990\n"))
		require.EqualValues(t, 3000, s.Stats().Failed)
	})
}

// TestMaxReading reads long packets on many connections: 64 KiB together, and one more packet. Others wait, within their
// deadlines; short packets do not, nor does anyone wait for a connection that only declares a length.
func TestMaxReading(t *testing.T) {
	type endKey struct{}
	const most = 64 << 10
	fill := func(n int) []byte { return encoded(t, str(strings.Repeat("s", n))) }
	declared := fill(4 << 20)
	nothing := func(*stream.Server, io.WriteCloser) {}
	for name, c := range map[string]struct {
		then func(s *stream.Server, first io.WriteCloser) // while the third packet waits
		want error                                        // of its handler; nil if the packet is read
		time time.Duration
		most int64
	}{
		"the first arrives":       {func(_ *stream.Server, first io.WriteCloser) { _, _ = first.Write([]byte{0}); _ = first.Close() }, nil, 0, most},
		"the first is closed":     {func(_ *stream.Server, first io.WriteCloser) { _ = first.Close() }, nil, 0, most},
		"the first sends nothing": {nothing, os.ErrDeadlineExceeded, 10 * time.Second, most},
		"Shutdown": {func(s *stream.Server, _ io.WriteCloser) { go func() { _ = s.Shutdown(context.Background()) }() },
			stream.ErrServerClosed, time.Second, most},
		"Close":     {func(s *stream.Server, _ io.WriteCloser) { _ = s.Close() }, stream.ErrServerClosed, 0, most},
		"unlimited": {nothing, nil, 0, -1},
		"default":   {nothing, nil, 0, 0},
	} {
		for _, read := range []string{"Next", "NextRaw", "message"} {
			t.Run(name+"/"+read, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &stream.Server{Logger: quiet(), MaxReading: c.most, Handler: func(_ context.Context, c *stream.Conn) error {
						if read == "NextRaw" {
							return errOf(c.NextRaw(nil))
						}
						return skipOne(c)
					}, ConnClosed: func(ctx context.Context, _ *stream.Conn, err error) { ctx.Value(endKey{}).(chan error) <- err }}
					open := func(packet []byte, n int) (w io.WriteCloser, ended chan error) {
						ended = make(chan error, 1)
						ctx := context.WithValue(t.Context(), endKey{}, ended)
						if read == "message" {
							r, w := io.Pipe()
							f := newSocket()
							f.in <- frame{typ: 2, r: r}
							go s.ServeMessages(f.conn(ctx), stream.WebSocket(f, closeStatus))
							go func() {
								if _, _ = w.Write(packet[:n]); n == len(packet) {
									_ = w.Close()
								}
							}()
							return w, ended
						}
						ours, theirs := net.Pipe()
						timeout := 10 * time.Second
						if n < len(packet) { // later than the end of the third
							timeout = time.Minute
						}
						go s.ServeConn(stream.NewConn(ctx, ours, &stream.Options{ReadTimeout: timeout}))
						header := binary.LittleEndian.AppendUint32(nil, uint32(len(packet)))
						go func() { _, _ = theirs.Write(append(header, packet[:n]...)) }()
						return theirs, ended
					}
					var opened []io.Closer
					for range 32 {
						silent, _ := open(declared, 1)
						opened = append(opened, silent)
					}
					synctest.Wait()
					long := fill(100_000)
					first, _ := open(long, len(long)-1)
					synctest.Wait()
					second, _ := open(long, 50_000)
					synctest.Wait()
					begin := time.Now()
					third, ended := open(long, len(long))
					opened = append(opened, first, second, third)
					short := fill(10_000)
					_, endedShort := open(short, len(short))
					require.NoError(t, <-endedShort)
					synctest.Wait()
					require.Equal(t, c.most != most, len(ended) == 1, "the third packet waits")
					c.then(s, first)
					err := <-ended
					if err != nil || c.want != stream.ErrServerClosed { // the first can end before
						require.ErrorIs(t, err, c.want)
						require.Equal(t, c.time, time.Since(begin))
					}
					for _, c := range opened {
						_ = c.Close()
					}
					require.NoError(t, s.Shutdown(t.Context()))
				})
			})
		}
	}
}

// TestMemoryOfAll decodes a packet of 8 MiB, Dictionaries without pairs, on one connection and on four: four take
// little more than one.
func TestMemoryOfAll(t *testing.T) {
	if testenv.Race {
		t.Skip("skipped: the race detector makes values larger")
	}
	const count = 1 << 20
	sent := framed(binary.LittleEndian, encoded(t, func(e *gdwire.Encoder) error {
		err := e.BeginArray(count - 1)
		for range count - 1 {
			err = cmp.Or(err, e.BeginDict(0), e.End())
		}
		return cmp.Or(err, e.End())
	}))
	taken := func(conns int) (n int64) {
		synctest.Test(t, func(t *testing.T) {
			s := &stream.Server{Logger: quiet(), Handler: func(_ context.Context, c *stream.Conn) error {
				return variant.Receive(c, new([]map[string]int))
			}}
			before := heapInUse()
			var clients []net.Conn
			for range conns {
				ours, theirs := net.Pipe()
				clients = append(clients, theirs)
				go s.ServeConn(stream.NewConn(t.Context(), ours, nil))
				go func() { _, _ = theirs.Write(sent[:len(sent)-4]) }()
			}
			synctest.Wait()
			n = int64(heapInUse() - before)
			for _, c := range clients {
				_ = c.Close()
			}
			require.NoError(t, s.Shutdown(t.Context()))
		})
		return n
	}
	one, four := taken(1), taken(4)
	t.Logf("%d MiB, and %d MiB for four", one>>20, four>>20)
	require.Less(t, four, one+one/4)
	require.Less(t, four, int64(128<<20))
}
