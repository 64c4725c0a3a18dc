package netem

import (
	"container/heap"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// The limits of the queue of a link, except for one packet of any size: maxQueue in bytes, and maxWait
// until all of them are sent at Rate.
const (
	maxQueue = 4 << 20
	maxWait  = time.Second
)

// maxQueues is the maximum number of bytes on their way over all links of a network, except for one packet of each.
const maxQueues = 32 << 20

// untilRoom is longer than any wait for room; delivered ends the wait.
const untilRoom = math.MaxInt64

// overhead is the number of bytes counted for a packet in the queue, besides its own.
const overhead = 64

// A Link is one direction of a connection. One goroutine sends.
type Link struct {
	network *Network
	number  uint64
	deliver func([]byte) error
	ctx     context.Context
	key     uint64 // of the next packet: the number of packets, or of bytes, before it
	done    chan struct{}
	wake    chan struct{} // something was added or closed
	room    chan struct{} // something was delivered

	mu       sync.Mutex
	schedule schedule
	queue    queue
	size     int   // of the queue
	sent     int64 // packets
	newest   int64 // the latest packet delivered
	closed   bool
	err      error
}

// Link returns a link calling deliver for arriving bytes, from a goroutine of its own. The number of the link
// and the Seed decide the fates of packets. When ctx is done, the link loses all packets on their way.
func (n *Network) Link(ctx context.Context, number uint64, deliver func([]byte) error) *Link {
	l := &Link{network: n, number: number, deliver: deliver, ctx: ctx, done: make(chan struct{}), wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	go l.run()
	return l
}

// Send sends a copy of b, and reports whether the copy is on its way, and not dropped. If too much is on its
// way, Send waits, or loses a datagram. The error is the first error of deliver, or the cause of the end of the
// link's context.
func (l *Link) Send(b []byte) (sent bool, err error) {
	n := l.network
	f := n.fate(l.number, l.key)
	if n.Kind == Bytes {
		l.key += uint64(len(b))
		f.lost = false
	} else {
		l.key++
	}
	if n.Kind != Datagrams {
		f.twice, f.late = false, false
	}
	if f.lost {
		n.counts.add(&n.counts.dropped)
		return false, l.failure()
	}
	return l.send(b, f)
}

// SendAll sends bytes other than a packet, such as the head of a WebSocket: they are delayed, but not dropped,
// and not numbered as packets are.
func (l *Link) SendAll(b []byte) error {
	_, err := l.send(b, fate{delay: l.network.fate(l.number, l.key).delay})
	return err
}

// send puts a packet into the queue, when there is room.
func (l *Link) send(b []byte, f fate) (sent bool, err error) {
	n := l.network
	for {
		wait := l.push(b, f)
		if wait == 0 {
			return true, l.failure()
		}
		if n.Kind == Datagrams {
			n.counts.add(&n.counts.full)
			return false, l.failure()
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-l.room:
		case <-l.done:
		}
		timer.Stop()
	}
}

// push puts a packet into the queue, or returns when there may be room. After the end of the link it does nothing.
func (l *Link) push(b []byte, f fate) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch full := now.Add(maxWait); {
	case l.err != nil:
		return 0
	case l.schedule.free.After(full):
		return l.schedule.free.Sub(full)
	case l.size > 0 && (l.size+len(b)+overhead > maxQueue || l.network.queued.Load() > maxQueues):
		return untilRoom
	}
	due := l.schedule.arrival(now, len(b), l.network.Rate, f)
	l.network.counts.delayed(due.Sub(now))
	copies := 1
	if f.twice {
		l.network.counts.add(&l.network.counts.twice)
		copies = 2
	}
	for range copies {
		heap.Push(&l.queue, packet{slices.Clone(b), due, l.sent})
		l.grow(len(b) + overhead)
	}
	l.sent++
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return 0
}

// grow adds to the size of the queue. l is locked.
func (l *Link) grow(n int) {
	l.size += n
	l.network.queued.Add(int64(n))
}

// failure returns the error of the link.
func (l *Link) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close waits until everything arrived, and returns the error of the link.
func (l *Link) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	<-l.done
	return l.failure()
}

// errEnded ends run.
var errEnded = errors.New("ended")

// run delivers packets when they arrive, until the link ends.
func (l *Link) run() {
	defer close(l.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		p, wait, err := l.next()
		if err == nil && wait == 0 {
			if err = l.deliver(p.bytes); err == nil {
				l.delivered(p)
				continue
			}
		}
		if err != nil {
			l.end(err)
			return
		}
		if wait > 0 {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
		select {
		case <-timer.C:
		case <-l.wake:
		case <-l.ctx.Done():
			l.end(context.Cause(l.ctx))
			return
		}
	}
}

// next returns the next packet if it arrived, or the time until then: less than 0 if there is none. The packet
// counts in the size of the queue until delivered.
func (l *Link) next() (p packet, wait time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ctx.Err() != nil:
		return p, 0, context.Cause(l.ctx)
	case len(l.queue) == 0 && l.closed:
		return p, 0, errEnded
	case len(l.queue) == 0:
		return p, -1, nil
	}
	if wait = time.Until(l.queue[0].due); wait > 0 {
		return p, wait, nil
	}
	return heap.Pop(&l.queue).(packet), 0, nil
}

// delivered makes room.
func (l *Link) delivered(p packet) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grow(-len(p.bytes) - overhead)
	if p.number < l.newest {
		l.network.counts.add(&l.network.counts.overtaken)
	}
	l.newest = max(l.newest, p.number)
	select {
	case l.room <- struct{}{}:
	default:
	}
}

// end drops the packets on their way.
func (l *Link) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != errEnded {
		l.err = err
	}
	l.queue = nil
	l.grow(-l.size)
}

// A packet is on its way.
type packet struct {
	bytes  []byte
	due    time.Time
	number int64
}

// A queue is a heap of packets, the first to arrive at the front.
type queue []packet

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(p any)   { *q = append(*q, p.(packet)) }

func (q queue) Less(i, j int) bool {
	if !q[i].due.Equal(q[j].due) {
		return q[i].due.Before(q[j].due)
	}
	return q[i].number < q[j].number
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	(*q)[last] = packet{}
	*q = (*q)[:last]
	return p
}
