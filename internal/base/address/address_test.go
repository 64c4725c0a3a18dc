package address

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

func TestSplit(t *testing.T) {
	for addr, want := range map[string][2]string{
		"127.0.0.1:7":       {"tcp", "127.0.0.1:7"},
		"unix:game.sock":    {"unix", "game.sock"},
		"unix:/tmp/a:b":     {"unix", "/tmp/a:b"},
		"unix:///tmp/a":     {"unix", "/tmp/a"},
		"unix://game.sock":  {"unix", "game.sock"},
		"unix.example.de:7": {"tcp", "unix.example.de:7"},
	} {
		network, address := Split(addr)
		require.Equal(t, want, [2]string{network, address}, addr)
	}
}

// folder returns a folder whose path is short enough for sockets.
func folder(t *testing.T) string {
	dir := testenv.Must(os.MkdirTemp("", "s"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestListen: the file of a socket at which nobody listens is replaced, and no other file. It is removed at the end.
func TestListen(t *testing.T) {
	path := filepath.Join(folder(t), "game.sock")
	addr := "unix:" + path
	killed, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("skipped: this system has no Unix sockets: ", err)
	}
	killed.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, killed.Close())
	require.FileExists(t, path)

	ln := testenv.Must(Listen(addr))(t)
	require.Equal(t, addr, Text(ln.Addr()))
	client := testenv.Must(Dial(t.Context(), addr))(t)
	accepted := testenv.Must(ln.Accept())(t)
	require.Equal(t, addr, Text(client.RemoteAddr()))
	require.Equal(t, "a Unix socket", Text(accepted.RemoteAddr()))

	_, err = Listen(addr)
	require.ErrorContains(t, err, "by another program")
	second, err := Dial(t.Context(), addr) // it is still there
	require.NoError(t, err)
	for _, one := range []net.Conn{client, accepted, second} {
		require.NoError(t, one.Close())
	}
	require.NoError(t, ln.Close())
	require.NoFileExists(t, path)

	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	_, err = Listen(addr)
	require.ErrorContains(t, err, "the file is no socket")
	require.Equal(t, "mine", string(testenv.Must(os.ReadFile(path))(t)))

	_, err = Listen(addr + strings.Repeat("x", 200))
	require.ErrorContains(t, err, "every system permits 103")
	_, err = Listen(filepath.Join(addr, "none"))
	require.Error(t, err)
}

func TestDialTCP(t *testing.T) {
	ln := testenv.Must(Listen("127.0.0.1:0"))(t)
	client := testenv.Must(Dial(t.Context(), Text(ln.Addr())))(t)
	require.NoError(t, client.Close())
	require.NoError(t, ln.Close())
}
