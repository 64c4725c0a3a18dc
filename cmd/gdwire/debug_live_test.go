//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
	text := must(os.ReadFile("testdata/debug/main3.gd"))(t)
	for name, content := range map[string]string{
		"main.gd":       string(text),
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
			text := must(os.ReadFile(script))(t)
			before, _, _ := strings.Cut(string(text), "# STOP")
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
