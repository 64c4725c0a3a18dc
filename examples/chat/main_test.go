package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/gdscript"
	"github.com/gdwire/gdwire/stream"
)

// The script is that of the types.
func TestChatMessages(t *testing.T) {
	var script bytes.Buffer
	require.NoError(t, gdscript.Write(&script, Packet{}, gdscript.Options{Source: "."}))
	b, err := os.ReadFile("game/messages.gd")
	require.NoError(t, err)
	require.Equal(t, script.String(), string(b), "run: go generate")
}

// TestEngineChat plays two games, which see the same players and what both say.
func TestEngineChat(t *testing.T) {
	engine := os.Getenv("GDWIRE_GODOT4")
	if engine == "" {
		t.Skip("skipped: no GDWIRE_GODOT4, so no engine was asked")
	}
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS("game")))
	bot, err := os.ReadFile("testdata/main.gd")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "main.gd"), bot, 0o600))

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &stream.Server{Handler: handle}
	served := make(chan error)
	go func() { served <- s.Serve(ln) }()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	seen := make(chan string)
	for range 2 {
		go func() {
			c := exec.CommandContext(ctx, engine, folder, port)
			c.Env = append(os.Environ(), "LIMIT=180")
			out, err := c.CombinedOutput()
			if players := regexp.MustCompile(`PLAYERS .*`).Find(out); err == nil && players != nil && !bytes.Contains(out, []byte("SCRIPT ERROR")) {
				out = players
			}
			seen <- string(out)
		}()
	}
	first, second := <-seen, <-seen
	require.Regexp(t, `^PLAYERS \(\d+\.0, \d+\.0\)\(\d+\.0, \d+\.0\)$`, first)
	require.Equal(t, first, second)
	require.NoError(t, s.Close())
	require.Equal(t, stream.ErrServerClosed, <-served)
}
