package debug

import (
	"net"
	"path/filepath"
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
