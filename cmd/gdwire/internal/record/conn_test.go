package record

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The packets of both directions are in the index, however their bytes arrive.
func TestConn(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "game")
	r, err := New(prefix)
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &Listener{Listener: ln, Recorder: r, Order: binary.BigEndian, Fail: func(err error) { require.NoError(t, err) }}
	defer func() { _ = l.Close() }()
	client, err := net.Dial("tcp", ln.Addr().String())
	require.NoError(t, err)
	accepted, err := l.Accept()
	require.NoError(t, err)
	c := accepted.(*Conn)
	c.Start(3)
	sent := []byte{0, 0, 0, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 9, 1}
	_, err = client.Write(sent)
	require.NoError(t, err)
	require.NoError(t, client.(*net.TCPConn).CloseWrite())
	for {
		if _, err = c.Read(make([]byte, 3)); err != nil {
			break
		}
	}
	require.Equal(t, io.EOF, err)
	_, err = c.Write([]byte{0, 0, 0, 1, 7})
	require.NoError(t, err)
	require.NoError(t, c.CloseWrite())
	require.NoError(t, c.Close())
	require.NoError(t, r.Close())
	b, err := os.ReadFile(FileName(prefix, 3, FromClient))
	require.NoError(t, err)
	require.Equal(t, sent, b)
	all, _, err := Connections(prefix)
	require.NoError(t, err)
	require.Len(t, all, 1)
	var got [][2]int64
	for _, p := range append(all[0].Packets[FromClient], all[0].Packets[FromServer]...) {
		got = append(got, [2]int64{p.Offset, p.Length})
	}
	require.Equal(t, [][2]int64{{0, 6}, {6, 4}, {10, 9}, {0, 5}}, got)
}
