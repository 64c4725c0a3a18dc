package netem

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// An arrived packet, and how long after the start of the test it came.
type arrived struct {
	bytes []byte
	at    time.Duration
}

// sendAll sends packets over a link, one each interval, and returns what arrives.
func sendAll(t *testing.T, n *Network, link uint64, interval time.Duration, packets [][]byte) (all []arrived) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		l := n.Link(t.Context(), link, func(b []byte) error {
			all = append(all, arrived{b, time.Since(start)})
			return nil
		})
		for i, p := range packets {
			time.Sleep(time.Until(start.Add(time.Duration(i) * interval)))
			testenv.Must(l.Send(p))(t)
			clear(p) // the link has a copy
		}
		require.NoError(t, l.Close())
	})
	return all
}

// numbered returns packets of a size that contain their numbers.
func numbered(count, size int) (all [][]byte) {
	for i := range count {
		p := make([]byte, size)
		binary.LittleEndian.PutUint32(p, uint32(i+1))
		all = append(all, p)
	}
	return all
}

// numbers returns the numbers of packets.
func numbers(all []arrived) (n []int) {
	for _, a := range all {
		n = append(n, int(binary.LittleEndian.Uint32(a.bytes))-1)
	}
	return n
}

// TestDelay: each packet takes the delay and the jitter, and others than its neighbors.
func TestDelay(t *testing.T) {
	for _, c := range []struct{ delay, jitter, least time.Duration }{
		{80 * time.Millisecond, 0, 80 * time.Millisecond},
		{80 * time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond},
		{0, 20 * time.Millisecond, 0},
		{0, 0, 0},
	} {
		all := sendAll(t, &Network{Conditions: Conditions{Delay: c.delay, Jitter: c.jitter}}, 1, time.Second, numbered(200, 10))
		require.Len(t, all, 200)
		different := map[time.Duration]bool{}
		for i, a := range all {
			took := a.at - time.Duration(i)*time.Second
			require.GreaterOrEqual(t, took, c.least)
			require.LessOrEqual(t, took, c.delay+c.jitter)
			different[took] = true
		}
		require.Equal(t, c.jitter > 0, len(different) > 190, "%d times", len(different))
	}
}

// TestRate: bits are sent one after the other, so that a packet waits for those before it.
func TestRate(t *testing.T) {
	n := &Network{Conditions: Conditions{Rate: 1e6, Delay: 10 * time.Millisecond}} // 1,250 bytes take 10 ms
	all := sendAll(t, n, 1, 0, numbered(500, 1250))
	require.Len(t, all, 500)
	for i, a := range all {
		require.Equal(t, time.Duration(i+2)*10*time.Millisecond, a.at)
	}
	// No more than a second waits to be sent: the sender waits, too.
	require.LessOrEqual(t, n.counts.most, maxWait+20*time.Millisecond)
	all = sendAll(t, n, 1, time.Minute, numbered(3, 1250))
	require.Equal(t, 2*time.Minute+20*time.Millisecond, all[2].at)
}

// TestShares: about the shares of datagrams are dropped, arrive twice and are overtaken, and all others arrive once
// and in order. A second run with the same seed is the same, on another link or with another seed it is not.
func TestShares(t *testing.T) {
	const count = 10_000
	conditions := Conditions{Delay: 50 * time.Millisecond, Jitter: 50 * time.Millisecond, Drop: 0.1, Duplicate: 0.05, Reorder: 0.02, Seed: 7}
	run := func(kind Kind, seed, link uint64) (*Network, []int) {
		n := &Network{Conditions: conditions, Kind: kind}
		n.Seed = seed
		return n, numbers(sendAll(t, n, link, 10*time.Millisecond, numbered(count, 20)))
	}
	n, got := run(Datagrams, 7, 1)
	times := make([]int, count)
	newest, late := 0, int64(0)
	for _, number := range got {
		times[number]++
		if number < newest {
			late++
		}
		newest = max(newest, number)
	}
	var shares [3]float64
	for _, n := range times {
		shares[n] += 1. / count
	}
	require.InDelta(t, 0.1, shares[0], 0.02)
	require.InDelta(t, 0.9*0.05, shares[2], 0.01)
	require.InDelta(t, 0.9*0.02*1.05, float64(late)/count, 0.007)
	require.Equal(t, late, n.counts.overtaken)
	require.EqualValues(t, len(got), n.counts.sent+n.counts.twice)
	require.EqualValues(t, count, n.counts.sent+n.counts.dropped)

	_, again := run(Datagrams, 7, 1)
	require.Equal(t, got, again)
	for _, other := range [][2]uint64{{8, 1}, {7, 2}} {
		_, different := run(Datagrams, other[0], other[1])
		require.NotEqual(t, got, different)
	}

	// Messages of a WebSocket are only dropped, the same ones, and a stream loses nothing.
	_, messages := run(Messages, 7, 1)
	require.IsIncreasing(t, messages)
	var kept []int
	for number, n := range times {
		if n > 0 {
			kept = append(kept, number)
		}
	}
	require.Equal(t, kept, messages)
	_, stream := run(Bytes, 7, 1)
	require.Len(t, stream, count)
	require.IsIncreasing(t, stream)
}

// TestBytes: a stream stays the same in all conditions, and what happens at an offset does not depend on the pieces before.
func TestBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		n := &Network{Conditions: Conditions{
			Delay: time.Duration(random.IntN(1e8)), Jitter: time.Duration(random.IntN(1e8)), Rate: math.Pow(10, 3+6*random.Float64()),
			Drop: random.Float64(), Duplicate: random.Float64(), Reorder: random.Float64(), Seed: random.Uint64(),
		}}
		var sent, got []byte
		var pieces [][]byte
		for range random.IntN(100) {
			p := make([]byte, random.IntN(1000))
			for i := range p {
				p[i] = byte(random.Uint32())
			}
			sent = append(sent, p...)
			pieces = append(pieces, p)
		}
		for _, a := range sendAll(t, n, 1, time.Duration(random.IntN(1e7)), pieces) {
			got = append(got, a.bytes...)
		}
		require.True(t, bytes.Equal(sent, got))
	}
	c := Conditions{Jitter: time.Hour}
	one := sendAll(t, &Network{Conditions: c}, 1, 2*time.Hour, [][]byte{make([]byte, 8), make([]byte, 8)})
	two := sendAll(t, &Network{Conditions: c}, 1, 2*time.Hour, [][]byte{make([]byte, 5), make([]byte, 3), make([]byte, 8)})
	require.Equal(t, one[1].at, two[2].at-2*time.Hour)
}

// TestFull: a sender waits until there is room, or loses datagrams. A packet that is larger than the queue is sent alone.
func TestFull(t *testing.T) {
	large := func() [][]byte { return [][]byte{make([]byte, 2*maxQueue), make([]byte, 1), make([]byte, 1)} }
	c := Conditions{Delay: time.Minute}
	all := sendAll(t, &Network{Conditions: c}, 1, 0, large())
	require.Len(t, all, 3)
	require.Equal(t, time.Minute, all[0].at)
	require.Equal(t, 2*time.Minute, all[2].at)

	n := &Network{Conditions: c, Kind: Datagrams}
	require.Len(t, sendAll(t, n, 1, 0, large()), 1)
	require.Contains(t, n.Report(), "; 2 were lost because too many were on their way")

	n = &Network{Conditions: Conditions{Rate: 8000}, Kind: Datagrams} // 1,000 bytes a second
	require.Len(t, sendAll(t, n, 1, 0, numbered(100, 100)), 11)
}

// TestQueueEdges: a sender waits for the first byte that does not fit, until there is room, and for the time that is
// above maxWait, not longer.
func TestQueueEdges(t *testing.T) {
	for _, c := range []struct {
		conditions Conditions
		sent       []int // sizes, of which all but the last fit
		want       time.Duration
	}{
		{Conditions{Delay: time.Minute}, []int{maxQueue/2 - overhead, maxQueue/2 - overhead, 0}, time.Minute},
		{Conditions{Delay: time.Minute}, []int{maxQueue/2 - overhead, maxQueue/2 - overhead, maxQueue/2 - overhead}, time.Minute},
		{Conditions{Rate: 8000}, []int{10_000, 1}, 10*time.Second - maxWait}, // 1,000 bytes a second
	} {
		synctest.Test(t, func(t *testing.T) {
			l := (&Network{Conditions: c.conditions}).Link(t.Context(), 1, func([]byte) error { return nil })
			start := time.Now()
			for i, size := range c.sent {
				testenv.Must(l.Send(make([]byte, size)))(t)
				want := time.Duration(0)
				if i == len(c.sent)-1 {
					want = c.want
				}
				require.Equal(t, want, time.Since(start), "%v %d", c.sent, i)
			}
			require.NoError(t, l.Close())
		})
	}
}

// All links of a network hold no more than its queue, but for one packet of each.
func TestNetworkBound(t *testing.T) {
	const links, size = 40, 1 << 20
	synctest.Test(t, func(t *testing.T) {
		n := &Network{Conditions: Conditions{Delay: time.Hour}}
		var delivered atomic.Int64
		var running sync.WaitGroup
		for i := range uint64(links) {
			running.Go(func() {
				l := n.Link(t.Context(), i, func([]byte) error { return nil })
				for range 4 {
					testenv.Must(l.Send(make([]byte, size)))(t)
					delivered.Add(1)
				}
				require.NoError(t, l.Close())
			})
		}
		synctest.Wait()
		require.LessOrEqual(t, n.queued.Load(), int64(maxQueues+links*(size+overhead)))
		require.Less(t, delivered.Load(), int64(4*links))
		running.Wait()
		require.Zero(t, n.queued.Load())
	})
}

// TestLinkEnd: when its context is done, or a packet cannot be delivered, the link ends at once, and what is on its way
// is lost.
func TestLinkEnd(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		cut     bool
		deliver error
	}{{cut: true}, {deliver: broken}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cut := context.WithCancelCause(t.Context())
			defer cut(nil)
			n := &Network{Conditions: Conditions{Delay: time.Hour}}
			l := n.Link(ctx, 1, func([]byte) error { return c.deliver })
			for range 2 {
				testenv.Must(l.Send(make([]byte, maxQueue/2-overhead)))(t)
			}
			start := time.Now()
			if c.cut {
				time.AfterFunc(time.Second, func() { cut(broken) })
			}
			_, err := l.Send([]byte("waits for room"))
			require.Equal(t, broken, err)
			require.Equal(t, broken, l.SendAll(nil))
			require.Equal(t, broken, l.Close())
			require.Equal(t, c.cut, time.Since(start) == time.Second)
		})
	}
}

// TestSendAll: what is no packet is neither dropped nor counted among the packets.
func TestSendAll(t *testing.T) {
	c := Conditions{Drop: 0.5, Delay: time.Second, Jitter: time.Second}
	want := numbers(sendAll(t, &Network{Conditions: c, Kind: Messages}, 1, 0, numbered(100, 4)))
	synctest.Test(t, func(t *testing.T) {
		var got []arrived
		pings := 0
		n := &Network{Conditions: c, Kind: Messages}
		l := n.Link(t.Context(), 1, func(b []byte) error {
			if string(b) == "ping" {
				pings++
			} else {
				got = append(got, arrived{bytes: b})
			}
			return nil
		})
		dropped := int64(0)
		for _, p := range numbered(100, 4) {
			require.NoError(t, l.SendAll([]byte("ping")))
			sent := testenv.Must(l.Send(p))(t)
			if !sent {
				dropped++
			}
		}
		require.NoError(t, l.Close())
		require.Equal(t, 100, pings)
		require.Equal(t, want, numbers(got))
		require.Equal(t, dropped, n.counts.dropped)
	})
}

func TestNetworkReport(t *testing.T) {
	n := &Network{Conditions: Conditions{Seed: 3}}
	require.Equal(t, "network with -seed 3: 0 pieces took 0s on average, 0s at most", n.Report())
	n.Kind = Datagrams
	n.counts.delayed(time.Second)
	n.counts.delayed(2 * time.Second)
	n.Cut()
	for i, c := range []*int64{&n.counts.dropped, &n.counts.full, &n.counts.twice, &n.counts.overtaken} {
		*c = 1000 * int64(i+1)
	}
	require.Equal(t, "network with -seed 3: 2 packets took 1.5s on average, 2s at most; 1,000 were dropped; "+
		"2,000 were lost because too many were on their way; 3,000 arrived twice; 4,000 were overtaken; 1 connections were cut", n.Report())
}
