package main

import (
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDebugConsole types commands while a game runs. The console ends with the game, and leaves the
// terminal as it was.
func TestDebugConsole(t *testing.T) {
	user, terminal := openPTY(t)
	command := exec.CommandContext(t.Context(), "gdwire", "debug", "127.0.0.1:0")
	command.Stdin, command.Stdout, command.Stderr = terminal, terminal, terminal
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, command.Start())
	var shown strings.Builder
	until := func(text string) {
		part := make([]byte, 100)
		for !strings.Contains(shown.String(), text) {
			n := must(user.Read(part))(t)
			shown.Write(part[:n])
		}
	}
	write := func(text string) {
		must(user.WriteString(text))(t)
	}
	until(" for a game")
	_, addr, _ := strings.Cut(shown.String(), "listening on ")
	addr, _, _ = strings.Cut(addr, " ")
	game := must(net.Dial("tcp", addr))(t)
	defer game.Close()
	_, err := game.Write(framed(wire(28, 3, 4, "mine:hello", 2, 1, 28, 1, 4, "you")))
	require.NoError(t, err)
	until("Ctrl-D ends")
	until(`mine:hello`)
	write("hel\t\r")
	until("NODE:PROPERTY = VALUE")
	write("nosuch\r")
	until(`no command "nosuch" of the debugger`)
	require.NoError(t, game.Close())
	require.NoError(t, command.Wait())
	write("zq")
	until("zq")
}
