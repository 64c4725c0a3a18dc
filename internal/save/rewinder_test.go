package save

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A rewinder reads any part, and opens the source again only for a large step back.
func TestRewinder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 3*keptBytes+5)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	opened := 0
	open := func() (io.Reader, error) {
		opened++
		return bytes.NewReader(data), nil
	}
	first := must(open())(t)
	w := &rewinder{in: first, open: open}
	read := func(at int64, n int) {
		p := make([]byte, n)
		got, err := w.ReadAt(p, at)
		want := data[min(at, int64(len(data))):min(int(at)+n, len(data))]
		require.True(t, bytes.Equal(want, p[:got]))
		if got < n {
			require.Equal(t, io.EOF, err)
		} else {
			require.NoError(t, err)
		}
	}
	const back = 64 << 10
	for at := int64(back); at < int64(len(data)); at += 10_000 {
		read(at, 20_000)
		read(at-back, 100)
	}
	require.Equal(t, 1, opened)
	for range 300 {
		read(int64(r.IntN(len(data)+10)), r.IntN(2*keptBytes))
	}
	require.Less(t, opened, 300)
	require.Greater(t, opened, 10)
}
