package quota_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/quota"
)

// granted reports whether a call of Hold did not make its connection wait, or no longer does.
func granted(c <-chan struct{}) bool {
	if c == nil {
		return true
	}
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestQuota holds and releases bytes, in turn.
func TestQuota(t *testing.T) {
	q := quota.New(100)
	require.Nil(t, q.Hold("a", 60, 1000))
	require.Nil(t, q.Hold("b", 40, 1000))
	require.Nil(t, q.Hold("b", 30, 1000), "less is ignored")
	require.Nil(t, q.Hold("a", 70, 990), "one goes on, and leaves 60 bytes to the others")
	require.Nil(t, q.Hold("a", 1000, 60), "to its end")
	require.Nil(t, q.Hold("c", 60, 1000))
	long := q.Hold("c", 61, 999)
	require.False(t, granted(long))
	require.Equal(t, long, q.Hold("c", 70, 990), "again, while it waits")
	short := q.Hold("b", 41, 5)
	require.False(t, granted(short))
	none := q.Hold("d", 0, 5)
	require.Nil(t, none, "no bytes need no room")
	q.Release("d")
	q.Release("d")
	require.False(t, granted(long) || granted(short))
	q.Release("a")
	require.True(t, granted(short), "the shortest rest goes on")
	require.True(t, granted(long), "in the room of the first")
	full := q.Hold("e", 31, 1)
	require.False(t, granted(full), "30 are left")
	q.Release("e")
	require.False(t, granted(full), "released while it waited")
	require.Nil(t, q.Hold("e", 30, 1))
	q.Release("c")
	require.Nil(t, q.Hold("f", 70, 1))
	require.False(t, granted(q.Hold("g", 1, 1)), "70 and 30")
	var nothing *quota.Quota
	require.Nil(t, nothing.Hold("a", 1<<60, 1))
	nothing.Release("a")
}

// TestQuotaRandom reads packets on many connections: never more than the bound, besides one packet, and all are
// read to their end.
func TestQuotaRandom(t *testing.T) {
	const bound, longest = 1000, 2000
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		q := quota.New(bound)
		type packet struct {
			before, held, size int64
			waits              <-chan struct{}
		}
		conns, unread := make([]packet, 10), 200
		for steps := 0; unread > 0; steps++ {
			i := r.IntN(len(conns))
			c := &conns[i]
			switch {
			case !granted(c.waits):
			case c.size == 0:
				c.size = 1 + r.Int64N(longest)
			case c.held == c.size || r.IntN(50) == 0:
				q.Release(i)
				*c = packet{}
				unread--
			default:
				c.before, c.held = c.held, min(c.size, c.held+r.Int64N(300))
				c.waits = q.Hold(i, c.held, c.size-c.held)
			}
			sum := int64(0)
			for _, c := range conns {
				if granted(c.waits) {
					sum += c.held
				} else {
					sum += c.before
				}
			}
			if sum > bound+longest || steps > 1_000_000 {
				t.Fatalf("seed %d: %d bytes after %d steps", seed, sum, steps)
			}
		}
	}
}
