package interop

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// A message is the type of the messages that clients.gd sends and receives.
type message struct {
	Name  string
	Value any
}

// greet is the Handler of examples/server.
func greet(_ context.Context, c *stream.Conn) error {
	for {
		var m message
		err := variant.Receive(c, &m)
		if err == nil {
			m.Name = "hello, " + m.Name
			err = variant.Send(c, m)
		}
		if err != nil && !stream.Skippable(err) {
			return err
		}
	}
}

// serveWeb serves WebSockets with s and returns the URL.
func serveWeb(t *testing.T, s *stream.Server) (url string) {
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: []string{"*"}})
		if err == nil {
			s.ServeMessages(r.Context(), stream.WebSocket(ws, websocket.CloseStatus))
		}
	}))
	web.Config.ConnContext = stream.WithNetConn
	web.Start()
	t.Cleanup(web.Close)
	return "ws" + strings.TrimPrefix(web.URL, "http")
}

// A syncBuffer is a log to which several goroutines can write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *syncBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *syncBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestWebSocket runs one Handler for the engine's valid and hostile clients, for a
// client that never reads and for one over TCP, and shuts the server down.
func TestWebSocket(t *testing.T) {
	count := 1000
	if testing.Short() {
		count = 200
	}
	var logged syncBuffer
	s := &stream.Server{Handler: greet, Logger: slog.New(slog.NewTextHandler(&logged, nil)), Options: stream.Options{
		MaxPacket: 64 << 10, Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Depth: 100}},
		ReadTimeout: time.Minute, WriteTimeout: time.Second,
	}}
	goroutines := runtime.NumGoroutine()
	url := serveWeb(t, s)
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	tcp := make(chan error, 1)
	go func() { tcp <- s.Serve(ln) }()

	must(browser.Run(t.Context(), Program{
		Files: withRandom(t, "clients.gd"),
		Args:  []string{url, strconv.FormatUint(*seed, 10), strconv.Itoa(count)},
		Socket: func(ctx context.Context, ws *websocket.Conn) error {
			if err := slowClient(ctx, url); err != nil {
				return err
			}
			if err := exchangeTCP(ctx, ln.Addr().String()); err != nil {
				return err
			}
			if _, b, err := ws.Read(ctx); err != nil || string(b) != "exchanged" {
				return fmt.Errorf("%q: %w", b, err)
			}
			return s.Shutdown(ctx)
		},
	}))(t)
	require.Equal(t, stream.ErrServerClosed, <-tcp)
	require.Contains(t, logged.String(), "i/o timeout", "the slow client")
	require.Contains(t, logged.String(), "text, not binary")
	t.Logf("logged:\n%s", logged.String())
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+5 }, time.Minute, 10*time.Millisecond)
}

// slowClient sends without reading until the server closes the connection.
func slowClient(ctx context.Context, url string) error {
	ws, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return err
	}
	defer func() { _ = ws.CloseNow() }()
	b, err := variant.Marshal(message{"slow", make([]byte, 60_000)})
	if err != nil {
		return err
	}
	for {
		if err := ws.Write(ctx, websocket.MessageBinary, b); err != nil {
			return ctx.Err() // nil if the server closed the connection
		}
	}
}

// exchangeTCP sends a value over TCP and checks the answer.
func exchangeTCP(ctx context.Context, addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	c := stream.NewConn(ctx, conn, nil)
	defer c.Close()
	if err := variant.Send(c, message{"TCP", int64(5)}); err != nil {
		return err
	}
	var m message
	if err := variant.Receive(c, &m); err != nil {
		return err
	}
	if want := (message{"hello, TCP", int64(5)}); m != want {
		return fmt.Errorf("%v, not %v", m, want)
	}
	return nil
}

// TestWebSocketIdle: the server closes the connection of a client that sends nothing.
func TestWebSocketIdle(t *testing.T) {
	s := &stream.Server{Handler: greet, Logger: slog.New(slog.NewTextHandler(&syncBuffer{}, nil)), Options: stream.Options{IdleTimeout: 10 * time.Millisecond}}
	ws, _ := must2(websocket.Dial(t.Context(), serveWeb(t, s), nil))(t)
	_, _, err := ws.Read(t.Context())
	require.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err))
	require.NoError(t, s.Shutdown(t.Context()))
}

// TestExampleServer runs examples/server and its client on free ports.
func TestExampleServer(t *testing.T) {
	tcp, web := freeAddr(t), freeAddr(t)
	binary := filepath.Join(t.TempDir(), "server")
	build := exec.Command("go", "build", "-ldflags", fmt.Sprintf("-X main.tcp=%s -X main.web=%s", tcp, web), "-o", binary, ".")
	build.Dir = "../../examples/server"
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	server := exec.CommandContext(t.Context(), binary)
	require.NoError(t, server.Start())
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	require.Eventually(t, func() bool { return exchangeTCP(t.Context(), tcp) == nil }, time.Minute, 10*time.Millisecond)

	script := must(os.ReadFile("../../examples/server/client.gd"))(t)
	require.Contains(t, string(script), "ws://127.0.0.1:7778")
	client := strings.Replace(string(script), "127.0.0.1:7778", web, 1)
	client = strings.Replace(client, "print(socket.get_var())", "print(socket.get_var())\n\t\t\t\tsocket.close()", 1)
	client = strings.Replace(client, "set_process(false)", "get_tree().quit()", 1)
	printed := must(browser.Run(t.Context(), Program{Files: map[string]string{"main.gd": client}}))(t)
	require.Contains(t, strings.Join(printed.Lines, "\n"), `{ "name": "hello, Ada", "value": (1.0, 2.5) }`)
}

func freeAddr(t *testing.T) string {
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	require.NoError(t, ln.Close())
	return ln.Addr().String()
}

// TestIdleWebSocket measures the memory of a WebSocket that waits for a message, served by
// coder/websocket alone and by a Server.
func TestIdleWebSocket(t *testing.T) {
	server := &stream.Server{Handler: greet}
	measure := func(serve func(ctx context.Context, ws *websocket.Conn)) int {
		web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(w, r, nil)
			if err == nil {
				serve(r.Context(), ws)
			}
		}))
		web.Config.ConnContext = stream.WithNetConn
		web.Start()
		defer web.Close()
		hello := gdwiretest.Encode(t, message{"idle", int64(1)})
		frame := append([]byte{0x82, 0x80 | byte(len(hello)), 0, 0, 0, 0}, hello...)
		const conns = 200
		var all []net.Conn
		connect := func() {
			conn := must(net.Dial("tcp", web.Listener.Addr().String()))(t)
			all = append(all, conn)
			must(io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
				"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"))(t)
			must(conn.Write(frame))(t)
			var end bool
			for b := make([]byte, 500); !end; { // until the answer, which contains the text of the request
				end = bytes.Contains(b[:must(conn.Read(b))(t)], []byte("idle"))
			}
		}
		connect()
		before := inUse()
		for range conns {
			connect()
		}
		used := (inUse() - before) / conns
		for _, conn := range all {
			conn.Close()
		}
		return used
	}
	plain := measure(func(ctx context.Context, ws *websocket.Conn) {
		for {
			_, b, err := ws.Read(ctx)
			if err != nil || ws.Write(ctx, websocket.MessageBinary, b) != nil {
				return
			}
		}
	})
	ours := measure(func(ctx context.Context, ws *websocket.Conn) {
		server.ServeMessages(ctx, stream.WebSocket(ws, websocket.CloseStatus))
	})
	t.Logf("%d bytes, %d with coder/websocket alone", ours, plain)
	require.LessOrEqual(t, ours, 25<<10)
	require.NoError(t, server.Shutdown(t.Context()))
}

// inUse returns the number of bytes of heap and stacks in use.
func inUse() int {
	for range 3 { // stacks shrink, pools are emptied
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}

// runExample builds and runs the example in dir on a free port, the value of flag, and returns
// its address once it accepts connections.
func runExample(t *testing.T, dir, flag string) (addr string) {
	addr = freeAddr(t)
	binary := filepath.Join(t.TempDir(), "example")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = dir
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	server := exec.CommandContext(t.Context(), binary, flag, addr)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	return addr
}

// upgrade returns a connection after the handshake of a WebSocket. It answers no close frame.
func upgrade(t *testing.T, url string) (net.Conn, *bufio.Reader) {
	conn := must(net.Dial("tcp", strings.TrimPrefix(url, "ws://")))(t)
	t.Cleanup(func() { conn.Close() })
	must(io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"))(t)
	r := bufio.NewReader(conn)
	for line := ""; line != "\r\n"; {
		line = must(r.ReadString('\n'))(t)
	}
	return conn, r
}

// closeFrame returns the rest of a connection: the frame of a server that closes it.
func closeFrame(code uint16, reason string) []byte {
	return append([]byte{0x88, byte(2 + len(reason)), byte(code >> 8), byte(code)}, reason...)
}

// TestRefusedWebSockets upgrades more WebSockets than MaxConns. They are closed at once with
// status 1013, though they do not answer, and no goroutine stays.
func TestRefusedWebSockets(t *testing.T) {
	s := &stream.Server{Handler: greet, MaxConns: 1}
	url := serveWeb(t, s)
	first, _ := upgrade(t, url)
	require.Eventually(t, s.Full, time.Minute, time.Millisecond)
	goroutines := runtime.NumGoroutine()
	begin := time.Now()
	for range 100 {
		_, r := upgrade(t, url)
		require.Equal(t, closeFrame(stream.CloseTryAgainLater, "server is full"), must(io.ReadAll(r))(t))
	}
	require.Less(t, time.Since(begin), time.Minute, "not 5 seconds each")
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+5 }, time.Minute, time.Millisecond)
	require.EqualValues(t, 100, s.Stats().Refused)
	require.NoError(t, first.Close())
	require.NoError(t, s.Shutdown(t.Context()))
}

// TestWebSocketShutdown shuts down while a WebSocket is idle: the handler knows its address
// and says goodbye, and a client that does not answer the close frame is not waited for.
func TestWebSocketShutdown(t *testing.T) {
	begin := time.Now()
	for range 20 {
		addr := make(chan string, 1)
		s := &stream.Server{Handler: func(_ context.Context, c *stream.Conn) error {
			addr <- c.RemoteAddr().String()
			_, err := c.Next()
			if err == stream.ErrServerClosed {
				return c.WriteRaw([]byte{0, 0, 0, 0})
			}
			return err
		}}
		conn, r := upgrade(t, serveWeb(t, s))
		require.Equal(t, conn.LocalAddr().String(), <-addr)
		require.NoError(t, s.Shutdown(t.Context()))
		rest := must(io.ReadAll(r))(t)
		goodbye := []byte{0x82, 4, 0, 0, 0, 0}
		require.Equal(t, append(goodbye, closeFrame(stream.CloseGoingAway, "server is shutting down")...), rest)
	}
	require.Less(t, time.Since(begin), time.Minute, "not 5 seconds each")
}
