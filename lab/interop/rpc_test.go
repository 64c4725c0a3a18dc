package interop

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/examples/rpc/calls"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

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
