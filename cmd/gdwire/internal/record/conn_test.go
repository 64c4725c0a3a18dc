package record

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// The packets of both directions are in the index, however their bytes arrive.
func TestConn(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "game")
	r, err := New(prefix)
	require.NoError(t, err)
	ln := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	l := &Listener{Listener: ln, Recorder: r, Order: binary.BigEndian, Fail: func(err error) { require.NoError(t, err) }}
	defer func() { _ = l.Close() }()
	client := testenv.Must(net.Dial("tcp", ln.Addr().String()))(t)
	accepted := testenv.Must(l.Accept())(t)
	c := accepted.(*Conn)
	c.Start(3)
	sent := []byte{0, 0, 0, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 9, 1}
	testenv.Must(client.Write(sent))(t)
	require.NoError(t, client.(*net.TCPConn).CloseWrite())
	for {
		if _, err = c.Read(make([]byte, 3)); err != nil {
			break
		}
	}
	require.Equal(t, io.EOF, err)
	testenv.Must(c.Write([]byte{0, 0, 0, 1, 7}))(t)
	require.NoError(t, c.CloseWrite())
	require.NoError(t, c.Close())
	require.NoError(t, r.Close())
	b := testenv.Must(os.ReadFile(FileName(prefix, 3, FromClient)))(t)
	require.Equal(t, sent, b)
	all, _ := testenv.Must2(Connections(prefix))(t)
	require.Len(t, all, 1)
	var got [][2]int64
	for _, p := range append(all[0].Packets[FromClient], all[0].Packets[FromServer]...) {
		got = append(got, [2]int64{p.Offset, p.Length})
	}
	require.Equal(t, [][2]int64{{0, 6}, {6, 4}, {10, 9}, {0, 5}}, got)
}
