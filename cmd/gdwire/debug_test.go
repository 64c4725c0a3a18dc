//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
)

// A debugging is a run of debug.
type debugging struct{ listening }

// startDebug starts debug with a free port.
func startDebug(t *testing.T, args ...string) *debugging {
	return startDebugAt(t, "127.0.0.1:0", args...)
}

// startDebugAt starts debug at an address.
func startDebugAt(t *testing.T, addr string, args ...string) *debugging {
	r, w := io.Pipe()
	d := &debugging{listening{errs: bufio.NewReader(r), done: make(chan struct{})}}
	var out bytes.Buffer
	go func() {
		defer close(d.done)
		d.result.status = run(append([]string{"debug", addr}, args...), nil, &out, w)
		d.result.out = out.String()
		w.Close()
	}()
	_, rest, ok := strings.Cut(d.line(t), "listening on ")
	require.True(t, ok)
	d.addr, _, _ = strings.Cut(rest, " ")
	return d
}

func recordedGame(t *testing.T, version string) []byte {
	return must(os.ReadFile(filepath.Join("..", "..", "internal", "debugger", "testdata", version, "game.bin")))(t)
}

// Games that were recorded: what they print, errors with their stack, a stop, and the game's own
// message. Nobody gives commands, so a game that stops is continued.
func TestDebugRecorded(t *testing.T) {
	for version, want := range map[string][]string{
		"3.2.3": {
			"hello from the game", "çabeça 260[1.5, 2.5]",
			"warning: careful (modules/gdscript/gdscript_functions.cpp:817 in call)\n  0  res://main.gd:6 in _ready\n",
		},
		"4.7-dev": {
			"hello from the game true", "çabeça 260[1.5, 2.5]", "hp 6001", "warning: careful (",
			"  0  res://main.gd:10 in _ready\n", `mine:hello 1 "two" Vector2(3.0, 4.0) Dictionary[String, int]({"a": 5000000000})`,
		},
	} {
		t.Run(version, func(t *testing.T) {
			prefix := filepath.Join(t.TempDir(), "game")
			d := startDebug(t, "-record", prefix)
			conn := d.dial(t)
			must(conn.Write(recordedGame(t, version)))(t)
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			r := d.wait(t)
			require.Zero(t, r.status, r.err)
			for _, text := range want {
				require.Contains(t, r.out, text)
			}
			require.NotContains(t, r.out, "scene:")
			require.Equal(t, recordedGame(t, version), must(os.ReadFile(prefix+"-1-client.bin"))(t))
		})
	}
}

// -json shows each message as a line, also invalid ones.
func TestDebugJSON(t *testing.T) {
	d := startDebug(t, "-json")
	conn := d.dial(t)
	must(conn.Write(append(framed(wire(99)), recordedGame(t, "4.7-dev")...)))(t)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	r := d.wait(t)
	require.Zero(t, r.status, r.err)
	names := map[string]int{}
	for line := range strings.Lines(r.out) {
		var v struct {
			Name, Error string
			Thread      int
			Data        []any
		}
		require.NoError(t, json.Unmarshal([]byte(line), &v), line)
		names[v.Name]++
		if v.Name == "" {
			require.Contains(t, v.Error, "unknown godot4 type id 99")
		} else {
			require.Equal(t, 1, v.Thread)
			require.NotNil(t, v.Data)
		}
	}
	require.Equal(t, 9, names["stack_frame_var"])
	require.Equal(t, 1, names["evaluation_return"])
	require.Equal(t, 1, names["mine:hello"])
	require.Equal(t, 1, names[""])
}

// What is no game is said once for each connection, and a game can still connect.
func TestDebugNoGame(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "game")
	d := startDebug(t, "-record", prefix)
	for bytes, why := range map[string]string{
		"":                                  "EOF",
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n": "EOF",
		string(framed(wire(4, "x"), wire(4, "y"))): "not messages of a debugger",
	} {
		conn := d.dial(t)
		must(io.WriteString(conn, bytes))(t)
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		line := d.line(t)
		require.Contains(t, line, "that is no game: ")
		require.Contains(t, line, why)
	}
	silent := d.dial(t)
	defer silent.Close()
	conn := d.dial(t)
	game := recordedGame(t, "4.7-dev")
	must(conn.Write(game))(t)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	r := d.wait(t)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "hello from the game true")
	require.NotContains(t, r.err, "no game")
	all, _ := must2(record.Connections(prefix))(t)
	last := all[len(all)-1]
	require.Equal(t, game, must(os.ReadFile(record.FileName(prefix, last.Number, record.FromClient)))(t))
}

// A program after -- gets the address before its arguments, in the form that its version wants.
func TestDebugStarts(t *testing.T) {
	for version, want := range map[string]string{
		"3.6.1.stable.official": "<--remote-debug><127.0.0.1:PORT><--path><a b><--><x>",
		"4.4.stable.official":   "<--remote-debug><tcp://127.0.0.1:PORT><--path><a b><--><x>",
	} {
		program := filepath.Join(t.TempDir(), "game")
		script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo " + version + "; exit; fi\nprintf '<%s>' \"$@\"; exit 3\n"
		require.NoError(t, os.WriteFile(program, []byte(script), 0o700))
		r := runWith(nil, "debug", "127.0.0.1:0", "--", program, "--path", "a b", "--", "x")
		require.Equal(t, statusBad, r.status)
		require.Contains(t, r.err, "the game ended before it connected")
		require.Contains(t, r.err, "exit status 3")
		before, after, ok := strings.Cut(want, "PORT")
		require.True(t, ok)
		require.Contains(t, r.err, before)
		require.Contains(t, r.err, after)
	}
	r := runWith(nil, "debug", "--", filepath.Join(t.TempDir(), "missing"))
	require.Equal(t, statusBad, r.status)
	require.Contains(t, r.err, "no such file")
}

// TestDebugBlocked: a signal ends debug while its output is blocked.
func TestDebugBlocked(t *testing.T) {
	p := startCommand(t, exec.Command("gdwire", "debug", "-json", "127.0.0.1:0"))
	conn := p.dial(t)
	must(conn.Write(bytes.Repeat(framed(wire(28, 3, 4, "mine:text", 2, 1, 28, 1, 4, string(make([]byte, 100<<10)))), 100)))(t)
	require.NoError(t, p.command.Process.Signal(os.Interrupt))
	require.NoError(t, p.stop())
}

func TestDebugCommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"debug stak":        `no command "stak" of the debugger; did you mean stack?`,
		"debug 6007 nosuch": `no command "nosuch" of the debugger; help lists them`,
		"debug get":         "want get NODE:PROPERTY",
		"debug 1:2:3":       "too many colons",
	} {
		r := runWith(nil, strings.Fields(line)...)
		require.Equal(t, statusUsage, r.status, line)
		require.Contains(t, r.err, want, line)
	}
	require.Contains(t, runWith(nil, "debug", "-h").out, "NODE:PROPERTY = VALUE")
}

// gameOf returns the command that runs the game of testdata/debug in an engine, with addr as the operand of
// --remote-debug, and the file of its script. The test is skipped without the engine: godot3-server, or the program that GDWIRE_GODOT4 names.
func gameOf(t *testing.T, engine string) (start func(ctx context.Context, addr string) *exec.Cmd, script string) {
	if engine == "Godot 4" {
		path := os.Getenv("GDWIRE_GODOT4")
		if path == "" {
			t.Skip("skipped: no GDWIRE_GODOT4, so no engine was asked")
		}
		script := must(filepath.Abs("testdata/debug/main4.gd"))(t)
		return func(ctx context.Context, addr string) *exec.Cmd {
			c := exec.CommandContext(ctx, path, script)
			c.Env = append(os.Environ(), "GODOT_ARGS=--remote-debug "+addr)
			return c
		}, script
	}
	path, err := exec.LookPath("godot3-server")
	if err != nil {
		t.Skip("skipped: godot3-server is not installed, so no engine was asked")
	}
	home := t.TempDir()
	for name, content := range map[string]string{
		"main.gd":       string(must(os.ReadFile("testdata/debug/main3.gd"))(t)),
		"project.godot": "config_version=4\n[application]\nrun/main_scene=\"res://main.tscn\"\n",
		"main.tscn": "[gd_scene load_steps=2 format=2]\n[ext_resource path=\"res://main.gd\" type=\"Script\" id=1]\n" +
			"[node name=\"Main\" type=\"Node\"]\nscript = ExtResource( 1 )\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(content), 0o600))
	}
	return func(ctx context.Context, addr string) *exec.Cmd {
		c := exec.CommandContext(ctx, path, "--no-window", "--path", home, "--remote-debug", addr)
		c.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
		return c
	}, filepath.Join(home, "main.gd")
}

// A session with a running game: tree, breakpoint, stack with local variables, expression, property,
// what the game prints, its own message, an error with its stack, and the end of the game.
func TestDebugLive(t *testing.T) {
	for engine, c := range map[string]struct {
		unix             bool // over a Unix socket
		steps, out, errs []string
	}{
		"Godot 3": {
			false,
			[]string{"next"},
			[]string{"root  Viewport\n  Main  Node\n", "member self = ObjectID("},
			[]string{"error: careful (modules/gdscript/gdscript_functions.cpp", "  0  res://main.gd:7 in _ready\n"},
		},
		"Godot 4": {
			true,
			[]string{"eval", "twice + n", "out"},
			[]string{"root  Window\n  Main  res://main.gd res://main.tscn\n", "\n300\n", "member self = ObjectID("},
			[]string{`mine:hello 1 "two" Vector2(3.0, 4.0)`, "error: careful (", "  0  res://main.gd:8 in _ready\n"},
		},
	} {
		t.Run(engine, func(t *testing.T) {
			start, script := gameOf(t, engine)
			before, _, _ := strings.Cut(string(must(os.ReadFile(script))(t)), "# STOP")
			place := fmt.Sprint("main.gd:", strings.Count(before, "\n")+1)
			prefix := filepath.Join(t.TempDir(), "session")
			at, path := "127.0.0.1:0", socketPath(t)
			if c.unix {
				at = "unix:" + path
			}
			args := []string{"-record", prefix, "tree", "get", "Main:hp", "get", "Main:place:y", "break", place, "stack"}
			args = append(append(args, c.steps...), "clear", place, "set", "Main:hp = 6000", "continue", "watch", "Main:hp")
			d := startDebugAt(t, at, args...)
			if c.unix {
				d.addr = "unix://" + path
			}

			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			game := start(ctx, d.addr)
			var printed bytes.Buffer
			game.Stdout, game.Stderr = &printed, &printed
			require.NoError(t, game.Start())
			r := d.wait(t)
			require.NoError(t, game.Wait(), "%s", &printed)
			require.Zero(t, r.status, r.err)
			for _, want := range append(c.out, "\n100\n2.5\n", "0  res://"+place+" in tick\n   local  n = 100\n   local  twice = 200\n",
				"Main:hp: 6000, was 100\n", "Main:hp = 6001\n") {
				require.Contains(t, r.out, want)
			}
			for _, want := range append(c.errs, "hello from the game\n", "stopped: Breakpoint\n", "hp was set\n") {
				require.Contains(t, r.err, want)
			}
			for _, name := range []string{"client", "server"} {
				var checked bytes.Buffer
				require.Zero(t, run([]string{"check", prefix + "-1-" + name + ".bin"}, nil, &checked, &checked), &checked)
			}
		})
	}
}
