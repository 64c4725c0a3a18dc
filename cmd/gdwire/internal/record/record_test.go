package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

func TestRecording(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "game")
	_, _, err := Connections(prefix)
	require.ErrorIs(t, err, os.ErrNotExist)
	r := testenv.Must(New(prefix))(t)
	require.NoError(t, testenv.Must(r.File(1, FromClient))(t).Close())
	start := time.Unix(100, 0)
	r.Add(start, Packet{Connection: 1, Direction: FromClient, Length: 36})
	r.Add(start.Add(time.Millisecond), Packet{Connection: 2, Direction: FromServer, Offset: 5, Length: 7})
	r.Add(start.Add(-time.Second), Packet{Connection: 1, Direction: FromClient, Offset: 36, Length: 1})
	_, _, err = Connections(prefix)
	require.ErrorContains(t, err, "game.index.jsonl contains no packets")
	require.NoError(t, r.Close())
	require.Equal(t, `{"time":0,"connection":1,"direction":"->","offset":0,"length":36}
{"time":1000000,"connection":2,"direction":"<-","offset":5,"length":7}
{"time":0,"connection":1,"direction":"->","offset":36,"length":1}
`, string(testenv.Must(os.ReadFile(IndexName(prefix)))(t)))
	all, timed := testenv.Must2(Connections(prefix))(t)
	require.True(t, timed)
	require.Len(t, all, 2)
	require.Len(t, all[0].Packets[FromClient], 2)
	require.Equal(t, []Packet{{Time: time.Millisecond, Connection: 2, Direction: FromServer, Offset: 5, Length: 7}}, all[1].Packets[FromServer])

	_, err = New(prefix)
	require.ErrorContains(t, err, "choose another PREFIX")
	require.NoError(t, os.Remove(IndexName(prefix)))
	all, timed = testenv.Must2(Connections(prefix))(t)
	require.False(t, timed)
	require.Equal(t, []*Connection{{Number: 1}}, all)
}

func TestBadIndex(t *testing.T) {
	good := `{"time":0,"connection":1,"direction":"->","offset":0,"length":1}` + "\n"
	for _, c := range []struct{ index, err string }{
		{good + "{}\n", "line 2 of the index: a number is out of range"},
		{strings.Replace(good, "->", "up", 1), `line 1 of the index: direction "up", not -> or <-`},
		{strings.Replace(good, "0,", "-1,", 1), "out of range"},
		{strings.Repeat("x", 5000) + "\n", "line 1 of the index: bufio: buffer full"},
		{"[1]\n", "line 1"},
	} {
		var err error
		for _, err = range ReadIndex(strings.NewReader(c.index)) {
		}
		require.ErrorContains(t, err, c.err)
	}
	n := 0
	for _, err := range ReadIndex(strings.NewReader(good + good[:20])) { // of a program that was killed
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 1, n)
}

// What is read can be written again, and a bad index is an error.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"time":5,"connection":1,"direction":"<-","offset":0,"length":1}` + "\n"))
	f.Fuzz(func(t *testing.T, index []byte) {
		lines := bytes.Count(index, []byte("\n"))
		n := 0
		for p, err := range ReadIndex(bytes.NewReader(index)) {
			if err != nil {
				require.ErrorContains(t, err, "of the index")
				return
			}
			for back, err := range ReadIndex(bytes.NewReader(append(testenv.Must(json.Marshal(p))(t), '\n'))) {
				require.NoError(t, err)
				require.Equal(t, p, back)
			}
			n++
		}
		require.Equal(t, lines, n)
	})
}

// The packets are in the index, however their bytes arrive.
func TestConn(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "game")
	r, err := New(prefix)
	require.NoError(t, err)
	ln := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	l := &Listener{Listener: ln, Recorder: r, Order: binary.BigEndian}
	defer func() { _ = l.Close() }()
	client := testenv.Must(net.Dial("tcp", ln.Addr().String()))(t)
	c := testenv.Must(l.Accept())(t).(*Conn)
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
	require.NoError(t, c.CloseWrite())
	require.NoError(t, c.Close())
	require.NoError(t, r.Close())
	require.Equal(t, sent, testenv.Must(os.ReadFile(FileName(prefix, 3, FromClient)))(t))
	all, _ := testenv.Must2(Connections(prefix))(t)
	require.Len(t, all, 1)
	var got [][2]int64
	for _, p := range all[0].Packets[FromClient] {
		got = append(got, [2]int64{p.Offset, p.Length})
	}
	require.Equal(t, [][2]int64{{0, 6}, {6, 4}, {10, 9}}, got)
}
