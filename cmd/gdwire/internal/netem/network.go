// Package netem makes a good network bad, as netem of Linux does: bytes sent over a Link arrive late, slowly,
// in another order, twice or not at all.
package netem

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
)

// Conditions are those of a network, in each direction. Zero Conditions change nothing.
type Conditions struct {
	// Delay is the time from the end of sending to the arrival. With a Jitter, the time differs for each
	// packet, from Delay-Jitter, but not less than 0, to Delay+Jitter.
	Delay, Jitter time.Duration
	// Rate is the number of bits sent in a second, one packet after the other; 0 is no limit.
	Rate float64
	// Drop, Duplicate and Reorder are shares of the packets, from 0 to 1: of packets dropped, arriving twice,
	// and arriving late by LateTime, so that others overtake them.
	Drop, Duplicate, Reorder float64
	// Seed chooses the fate of each packet.
	Seed uint64
}

// LateTime is the time by which packets of Reorder are late.
const LateTime = 100 * time.Millisecond

// A fate is how a packet arrives.
type fate struct {
	delay             time.Duration
	lost, twice, late bool
}

// fate returns the fate of a packet, which depends on the seed, the link and the key, and on nothing before.
// One condition does not change the effects of the others.
func (c *Conditions) fate(link, key uint64) fate {
	const distant = 0x9e3779b97f4a7c15 // the links of neighboring seeds differ
	r := rand.New(rand.NewPCG(c.Seed+link*distant, key))
	least := max(c.Delay-c.Jitter, 0)
	return fate{
		delay: least + time.Duration(r.Float64()*float64(c.Delay+c.Jitter-least)),
		lost:  r.Float64() < c.Drop,
		twice: r.Float64() < c.Duplicate,
		late:  r.Float64() < c.Reorder,
	}
}

// A schedule says when the packets of a link arrive.
type schedule struct {
	free time.Time // when the packets before are sent
	last time.Time // when the latest packet arrives, except late ones
}

// arrival returns the time of arrival of a packet of a size in bytes given to the link now. Packets that are
// not late arrive in order.
func (s *schedule) arrival(now time.Time, size int, rate float64, f fate) time.Time {
	if s.free.Before(now) {
		s.free = now
	}
	if rate > 0 {
		s.free = s.free.Add(time.Duration(float64(size) * 8 / rate * float64(time.Second)))
	}
	at := s.free.Add(f.delay)
	if at.Before(s.last) {
		at = s.last
	}
	if f.late {
		return at.Add(LateTime)
	}
	s.last = at
	return at
}

// A Kind is the kind of bytes sent over a Link.
type Kind int

const (
	// Bytes are pieces of a stream, all arriving in order.
	Bytes Kind = iota
	// Messages arrive in order, except for dropped ones.
	Messages
	// Datagrams can also arrive twice and in another order, and are lost while too many are on their way.
	Datagrams
)

// A Network makes Links with the same Conditions, and counts the fates of their packets.
type Network struct {
	Conditions
	Kind Kind

	counts counts
	queued atomic.Int64 // bytes of the queues of all links
}

// counts are the numbers of packets by fate.
type counts struct {
	mu                                    sync.Mutex
	sent                                  int64
	dropped, full, twice, overtaken, cuts int64
	total, most                           time.Duration // of the delays
}

// add adds one to a number.
func (c *counts) add(n *int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

// delayed counts a packet arriving after a time.
func (c *counts) delayed(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	c.total += d
	c.most = max(c.most, d)
}

// Cut counts an ended connection.
func (n *Network) Cut() { n.counts.add(&n.counts.cuts) }

// Report returns a line with the numbers of packets by fate.
func (n *Network) Report() string {
	c := &n.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	what, average := "packets", time.Duration(0)
	if n.Kind == Bytes {
		what = "pieces"
	}
	if c.sent > 0 {
		average = (c.total / time.Duration(c.sent)).Round(100 * time.Microsecond)
	}
	text := fmt.Sprintf("network with -seed %d: %s %s took %v on average, %v at most", n.Seed, humanize.Comma(c.sent), what, average, c.most.Round(100*time.Microsecond))
	for _, one := range []struct {
		number int64
		text   string
	}{
		{c.dropped, "%s were dropped"},
		{c.full, "%s were lost because too many were on their way"},
		{c.twice, "%s arrived twice"},
		{c.overtaken, "%s were overtaken"},
		{c.cuts, "%s connections were cut"},
	} {
		if one.number > 0 {
			text += "; " + fmt.Sprintf(one.text, humanize.Comma(one.number))
		}
	}
	return text
}
