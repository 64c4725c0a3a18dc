package debug

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// The operands of --remote-debug of Godot 4 and 3. A game that runs in another folder finds the socket.
func TestRemoteDebug(t *testing.T) {
	require.Equal(t, []string{"tcp://127.0.0.1:6007", "127.0.0.1:6007"}, remoteDebug(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6007}))
	whole := testenv.Must(filepath.Abs("game.sock"))(t)
	require.Equal(t, []string{"unix://" + whole}, remoteDebug(&net.UnixAddr{Net: "unix", Name: "game.sock"}))
}

func TestDebugSteps(t *testing.T) {
	steps := testenv.Must(stepsOf([]string{"break", "main.gd:19", "stack", "set", "Main:hp", "=", "5", "set", "a:b = 5", "eval", "hp * 2"}))(t)
	var got []string
	for _, s := range steps {
		got = append(got, strings.TrimSpace(s.name+" "+s.operand))
	}
	require.Equal(t, []string{"break main.gd:19", "stack", "set Main:hp = 5", "set a:b = 5", "eval hp * 2"}, got)
}

func TestDebugCompletion(t *testing.T) {
	c := &console{}
	for before, want := range map[string]string{"t": "tree", "s": "s", "st": "st", "sta": "stack", "wa": "watch ", "x": "x", "eval h": "eval h"} {
		line, pos, ok := c.complete(before+"!", len(before), '\t')
		require.True(t, ok)
		require.Equal(t, want+"!", line)
		require.Equal(t, len(want), pos)
	}
	require.Equal(t, "get Main/Pla", completed("get Ma", []string{"get Main/Player", "get Main/Plan\x1b", "get Main/Plane", "get root"}))
	require.Equal(t, "get ñ", completed("get ", []string{"get ña", "get ñb"}))
	require.Equal(t, "get ", completed("get ", []string{"get ñ", "get ò"}))
}
