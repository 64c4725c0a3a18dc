package debugger

import (
	"context"
	"encoding/hex"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// These tests talk to running games: of Godot 3.2.3, if Debian's godot3-server is installed, and of
// a debug build of Godot 4, if GDWIRE_GODOT4 names a program that runs a script as the main scene,
// with the arguments for the engine in GODOT_ARGS.

const (
	project3 = "config_version=4\n[application]\nrun/main_scene=\"res://main.tscn\"\n"
	scene3   = "[gd_scene load_steps=2 format=2]\n[ext_resource path=\"res://main.gd\" type=\"Script\" id=1]\n" +
		"[node name=\"Main\" type=\"Node\"]\nscript = ExtResource( 1 )\n"
)

// gameCommand returns the command that runs a script in an engine, which connects to addr. The test
// is skipped without the engine.
func gameCommand(ctx context.Context, t *testing.T, engine, script, addr string) *exec.Cmd {
	if engine == "Godot 4" {
		path := os.Getenv("GDWIRE_GODOT4")
		if path == "" {
			t.Skip("skipped: no GDWIRE_GODOT4, so no engine was asked")
		}
		c := exec.CommandContext(ctx, path, script)
		c.Env = append(os.Environ(), "GODOT_ARGS=--remote-debug tcp://"+addr)
		return c
	}
	path, err := exec.LookPath("godot3-server")
	if err != nil {
		t.Skip("skipped: godot3-server is not installed, so no engine was asked")
	}
	home := t.TempDir()
	text := must(os.ReadFile(script))(t)
	for name, content := range map[string]string{"main.gd": string(text), "project.godot": project3, "main.tscn": scene3} {
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(content), 0o600))
	}
	c := exec.CommandContext(ctx, path, "--no-window", "--path", home, "--remote-debug", addr)
	c.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	return c
}

// playLive starts a script in an engine and returns the session with it. Afterwards it waits for the
// end of the game.
func playLive(ctx context.Context, t *testing.T, engine, script string) *Session {
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer ln.Close()
	life, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // t.Context ends before the game
	t.Cleanup(cancel)
	c := gameCommand(life, t, engine, script, ln.Addr().String())
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		if err := c.Wait(); err != nil {
			t.Errorf("%v\n%s", err, &out)
		}
	})
	s := must(Accept(ctx, ln, nil))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// lineOf returns the number of the line that contains text.
func lineOf(t *testing.T, script, text string) int {
	before, _, found := strings.Cut(string(must(os.ReadFile(script))(t)), text)
	require.True(t, found)
	return strings.Count(before, "\n") + 1
}

// Local variables of all types are the bytes of var_to_bytes, and objects are their ids.
func TestLiveTypes(t *testing.T) {
	for engine, c := range map[string]struct {
		script   string
		protocol Protocol
		types    int
		object   string // the variable that is an object
	}{
		"Godot 3": {"testdata/types3.gd", Godot3, 27, "v17"},
		"Godot 4": {"testdata/types4.gd", Godot42, 39, "v24"},
	} {
		t.Run(engine, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			s := playLive(ctx, t, engine, c.script)
			require.Equal(t, c.protocol, must(s.Protocol(ctx))(t))
			line := lineOf(t, c.script, "# STOP")
			require.NoError(t, s.Breakpoint(ctx, "res://main.gd", line, true))
			require.NoError(t, s.SetProperty(ctx, must(s.Scene(ctx))(t).Find("Main").ID, "started", true))
			require.Equal(t, "Breakpoint", must(s.WaitStop(ctx))(t).Reason)
			require.Equal(t, Frame{"res://main.gd", "types", line}, must(s.Stack(ctx))(t)[0])
			variables := must(s.Variables(ctx, 0))(t)
			got := map[string]variant.Raw{}
			for _, v := range variables {
				if v.Scope == Local {
					got[v.Name] = v.Value
				}
			}
			require.NoError(t, s.Continue(ctx))

			printed := map[string]string{}
			for m, err := range s.Events(ctx) {
				require.NoError(t, err)
				o, ok := m.Event().(*Output)
				if !ok {
					continue
				}
				for _, l := range o.Lines {
					for text := range strings.Lines(l.Text) {
						if name, value, ok := strings.Cut(strings.TrimSpace(text), " "); ok {
							printed[name] = value
						}
					}
				}
			}
			require.NoError(t, s.Err(), "the game ends by itself")
			types := map[gdwire.Type]bool{}
			for i := range c.types {
				name := "v" + strconv.Itoa(i)
				require.Equal(t, printed[name], hex.EncodeToString(got[name].Data), name)
				types[typeOf(t, got[name])] = true
			}
			require.Len(t, types, c.types)
			var id variant.ObjectID
			require.NoError(t, got[c.object].Unmarshal(&id))
			if engine == "Godot 3" {
				require.Equal(t, printed["self"], strconv.FormatUint(uint64(id), 10))
			} else {
				require.Greater(t, id, variant.ObjectID(1<<63))
			}
		})
	}
}

// typeOf returns the type of a value.
func typeOf(t *testing.T, r variant.Raw) gdwire.Type {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: r.Format})
	defer d.Release()
	d.ResetBytes(r.Data)
	return must(d.PeekType())(t)
}
