package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
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
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/examples/rpc/calls"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
	"github.com/stretchr/testify/require"
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

// The file in which an exported game lists its global classes. The tests load scripts by path.
const classCache, noClasses = ".godot/global_script_class_cache.cfg", "list=[]\n"

// rpcFiles returns the files of a game that uses gdwire_multiplayer.gd.
func rpcFiles(t *testing.T, name string) map[string]string {
	files := withRandom(t, name)
	b := must(os.ReadFile(filepath.Join("..", "..", "examples", "rpc", "godot", "gdwire_multiplayer.gd")))(t)
	files["gdwire_multiplayer.gd"] = string(b)
	files[classCache] = noClasses
	return files
}

// TestRPC lets a game call functions of package calls, and the package methods of the game,
// with random values of all types. The game refuses what its @rpc annotations do not allow.
func TestRPC(t *testing.T) {
	count := 2000
	if testing.Short() {
		count = 400
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()

	var values []variant.Raw // of echo; functions of one client are called one after another
	answers, wrong := 0, 0
	done := make(chan error, 1)
	url := ""
	c := &calls.Calls{}
	s := &stream.Server{Handler: c.Handle, Options: stream.Options{MaxPacket: 1 << 20}}
	c.Func("Main", "echo", func(p *calls.Peer, i int, v variant.Raw) error {
		values = append(values, v)
		return p.Call("Main", "echoed_back", i, v)
	})
	c.Func("Main", "ready_for_calls", func(p *calls.Peer) error {
		// What a game must refuse, whoever calls it.
		for _, call := range [][2]string{
			{"Main", "private"}, {"Main", "queue_free"}, {"Main", "missing"}, {"Missing", "anyone"}, {"../..", "anyone"}, {"", "propagate_call"},
		} {
			if err := p.Call(call[0], call[1]); err != nil {
				return err
			}
		}
		if err := p.Call("Main", "anyone"); err != nil { // a wrong number of arguments
			return err
		}
		go func() { done <- otherClient(ctx, url, p.ID) }()
		for i, v := range values[:min(len(values), 500)] {
			if err := p.Call("Main", "ask", i, v); err != nil {
				return err
			}
		}
		return nil
	})
	c.Func("Main", "answer", func(p *calls.Peer, i int, v variant.Raw) error {
		if i < 0 || i >= len(values) || !bytes.Equal(values[i].Data, v.Data) {
			wrong++
			t.Logf("answer %d: %x", i, v.Data)
		}
		if answers++; answers == min(len(values), 500) {
			go func() {
				err := <-done
				shutdown, cancel := context.WithTimeout(ctx, 10*time.Second)
				defer cancel()
				done <- err
				_ = s.Shutdown(shutdown)
			}()
		}
		return nil
	})
	c.Relay("Main", "anyone")
	c.Relay("Main", "authority_only")
	url = serveWeb(t, s)

	out, err := browser.Run(ctx, Program{
		Files: rpcFiles(t, "rpc.gd"),
		Args:  []string{url, strconv.FormatUint(*seed, 10), strconv.Itoa(count)},
	})
	if err != nil {
		t.Logf("%q\n%q", out.Lines, out.Errors)
	}
	require.NoError(t, err)
	require.NoError(t, <-done)
	require.Equal(t, min(count, 500), answers)
	require.Zero(t, wrong)
	printed := strings.Join(out.Lines, "\n")
	require.Contains(t, printed, "connected\nlocal\npeer 1\nechoed\n")
	require.Contains(t, printed, "peer joined\n")
	require.Contains(t, printed, "anyone hello\n")
	require.Contains(t, printed, "left\n")
	require.Contains(t, printed, "disconnected\nfailures 0")
	refused := strings.Join(out.Errors, "\n")
	for _, text := range []string{
		"may not call private of Main", "may not call queue_free of Main", "may not call missing of Main",
		"there is no node Missing", "there is no node ../..", "there is no node \n",
		"may not call authority_only of Main", "private of /root/Main does not carry @rpc",
		"can't be called on oneself without call_local", "expected 1 argument",
	} {
		require.Contains(t, refused, text)
	}
}

// otherClient joins, calls methods of the game with this id through the server, and leaves.
func otherClient(ctx context.Context, url string, game int) error {
	ws, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return err
	}
	c := stream.NewMessageConn(ctx, stream.WebSocket(ws, websocket.CloseStatus), nil)
	for _, call := range []any{
		[]any{"Main", "authority_only", []any{}, game},
		[]any{"Main", "anyone", []any{"hello"}, game},
	} {
		if err := variant.Send(c, call); err != nil {
			return err
		}
	}
	return c.Close()
}

// A link carries connections to a server, until it is lost.
type link struct {
	server string
	mu     sync.Mutex
	lost   bool
	conns  []net.Conn
}

// serve accepts connections until ln is closed.
func (l *link) serve(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", l.server)
		if err != nil {
			_ = conn.Close()
			continue
		}
		l.mu.Lock()
		l.conns, l.lost = append(l.conns, conn, server), false
		l.mu.Unlock()
		go l.carry(conn, server)
		go l.carry(server, conn)
	}
}

// carry writes to a connection what another receives, or nothing when the link is lost.
func (l *link) carry(to, from net.Conn) {
	b := make([]byte, 1<<10)
	for {
		got, err := from.Read(b)
		l.mu.Lock()
		lost := l.lost
		l.mu.Unlock()
		if err != nil {
			return
		}
		if !lost {
			_, _ = to.Write(b[:got])
		}
	}
}

// lose loses what the connections send from now on, with or without closing them. New ones are not
// affected.
func (l *link) lose(closing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = true
	for _, c := range l.conns {
		if closing {
			_ = c.Close()
		}
	}
	l.conns = nil
}

// TestRPCReconnect loses the connections of a game, and the game's heartbeat or its system notices.
// It connects again, with another id, and calls the server again.
func TestRPCReconnect(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var l link
	var ids []int
	c := &calls.Calls{}
	c.Func("Main", "here", func(p *calls.Peer) error {
		ids = append(ids, p.ID)
		l.lose(len(ids) == 1)
		return nil
	})
	url := serveWeb(t, &stream.Server{Handler: c.Handle})
	l.server = strings.TrimPrefix(url, "ws://")
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = ln.Close() }()
	go l.serve(ln)

	files := gameFiles(t)
	files["main.gd"] = `extends Node2D
const Multiplayer := preload("res://gdwire_multiplayer.gd")

func _ready() -> void:
	var api := Multiplayer.new(get_tree().root, OS.get_cmdline_user_args()[0])
	api.heartbeat = 2
	get_tree().set_multiplayer(api)
	for i in 3:
		await multiplayer.connected_to_server
		print("connected")
		here.rpc_id(1)
		if i < 2:
			await multiplayer.server_disconnected
			print("disconnected, id ", multiplayer.get_unique_id(), ", peers ", multiplayer.get_peers())
	print("done")
	get_tree().quit()

@rpc("any_peer") func here() -> void: pass
`
	out, err := browser.Run(ctx, Program{Files: files, Args: []string{"ws://" + ln.Addr().String()}})
	require.NoError(t, err, "%q", out.Lines)
	require.Contains(t, strings.Join(out.Lines, "\n"),
		"connected\ndisconnected, id 0, peers []\nconnected\ndisconnected, id 0, peers []\nconnected\ndone")
	require.Len(t, ids, 3)
	require.NotEqual(t, ids[0], ids[1])
	require.NotEqual(t, ids[1], ids[2])
}

// gameFiles returns the files of the game of examples/rpc.
func gameFiles(t *testing.T) map[string]string {
	files := map[string]string{classCache: noClasses}
	for _, name := range []string{"main.gd", "main.tscn", "project.godot", "gdwire_multiplayer.gd"} {
		files[name] = string(must(os.ReadFile(filepath.Join("..", "..", "examples", "rpc", "godot", name)))(t))
	}
	return files
}

// TestRPCGame runs the game of examples/rpc twice: both show both squares at the same places.
func TestRPCGame(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	addr := runExample(t, "../../examples/rpc", "-addr")
	files := gameFiles(t)
	// Each game prints where the squares are once there are two, and ends when the other saw them,
	// too.
	files["main.gd"] += `
var shown := false
func _physics_process(_delta: float) -> void:
	if players.size() == 2 and not shown:
		shown = true
		var ids := players.keys()
		ids.sort()
		print("squares ", ids.map(func(id: int) -> String: return "%d %s" % [id, players[id]]))
		_say("seen")
	if shown and (players.size() < 2 or $Log.text.count(": seen") == 2):
		get_tree().quit()
`
	outs := make([]string, 2)
	errs := make(chan error, 2)
	for i := range outs {
		go func() {
			out, err := browser.Run(ctx, Program{Files: files, Args: []string{"ws://" + addr}})
			if err == nil {
				for _, line := range out.Lines {
					if strings.HasPrefix(line, "squares ") {
						outs[i] = line
					}
				}
				if len(out.Errors) > 0 {
					err = fmt.Errorf("errors: %q", out.Errors)
				}
			}
			errs <- err
		}()
	}
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
	require.NotEmpty(t, outs[0])
	require.Equal(t, outs[0], outs[1])
}

// TestRPCPicture draws the game with two squares, one of which a Go client moves. It needs
// GDWIRE_SCREENSHOTS, the folder for the picture.
func TestRPCPicture(t *testing.T) {
	dir := os.Getenv("GDWIRE_SCREENSHOTS")
	if dir == "" {
		t.Skip("no GDWIRE_SCREENSHOTS")
	}
	url := "ws://" + runExample(t, "../../examples/rpc", "-addr")
	ws, _ := must2(websocket.Dial(t.Context(), url, nil))(t)
	defer func() { _ = ws.CloseNow() }()
	call := gdwiretest.Encode(t, []any{"Main", "move", []any{variant.Vector2{X: 560, Y: 260}}, 1})
	require.NoError(t, ws.Write(t.Context(), websocket.MessageBinary, call))
	files := gameFiles(t)
	files["main.gd"] += `
var drawing := false
func _physics_process(_delta: float) -> void:
	if players.size() == 2 and not drawing:
		drawing = true
		_go(Vector2(430, 330))
		_say("hello from Godot")
		await get_tree().create_timer(1).timeout
		await RenderingServer.frame_post_draw
		print("picture ", Marshalls.raw_to_base64(get_viewport().get_texture().get_image().save_png_to_buffer()))
		get_tree().quit()
`
	out := must(browser.Run(t.Context(), Program{Files: files, Args: []string{url}, Render: true}))(t)
	_, text, found := strings.Cut(strings.Join(out.Lines, "\n"), "picture ")
	require.True(t, found, out.Lines)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "game.png"), must(base64.StdEncoding.DecodeString(text))(t), 0o644))
}
