package record

import (
	"bytes"
	"encoding/json"
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
