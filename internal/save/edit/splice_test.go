package edit

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// TestTable applies random splices one after the other, and compares the table with the same edits of
// bytes in memory.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		want := make([]byte, r.IntN(40))
		for i := range want {
			want[i] = byte(r.Uint32())
		}
		table := newTable(bytes.NewReader(bytes.Clone(want)), int64(len(want)))
		for range 1 + r.IntN(5) {
			all, next := randomSplices(r, want)
			before, old := table, want
			table, want = table.splice(all), next
			require.NoError(t, iotest.TestReader(io.NewSectionReader(table, 0, table.size), want))
			require.NoError(t, iotest.TestReader(io.NewSectionReader(before, 0, before.size), old))
		}
	}
}

// randomSplices returns splices of the bytes in old, in order, and the bytes after them.
func randomSplices(r *rand.Rand, old []byte) (all []splice, edited []byte) {
	at := 0
	for range r.IntN(4) {
		start := at + r.IntN(len(old)+1-at)
		s := splice{start: int64(start), end: int64(start + r.IntN(len(old)+1-start))}
		if r.IntN(3) > 0 {
			s.bytes = bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(5))
		}
		if from := r.IntN(len(old) + 1); r.IntN(3) == 0 {
			s.from, s.size = int64(from), int64(r.IntN(len(old)+1-from))
		}
		edited = append(edited, old[at:start]...)
		edited = append(append(edited, s.bytes...), old[s.from:s.from+s.size]...)
		all, at = append(all, s), int(s.end)
	}
	return all, append(edited, old[at:]...)
}
