package netem

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
)

// A Kind says what is sent over a Link.
type Kind int

const (
	// Bytes are pieces of a stream, which arrive all and in order.
	Bytes Kind = iota
	// Messages arrive in order, but for those that are dropped.
	Messages
	// Datagrams can also arrive twice and in another order, and are lost while too many are on their way.
	Datagrams
)

// A Network has Links with the same Conditions, and counts what happens on them.
type Network struct {
	Conditions
	Kind Kind

	counts counts
	queued atomic.Int64 // bytes of the queues of all links
}

// counts are what happened to packets.
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

// delayed counts a packet that arrives after a time.
func (c *counts) delayed(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	c.total += d
	c.most = max(c.most, d)
}

// Cut counts a connection that was ended.
func (n *Network) Cut() { n.counts.add(&n.counts.cuts) }

// Report returns a line that says what was done to how many packets.
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
