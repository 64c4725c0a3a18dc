package stream

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/gdwire/gdwire"
)

// DefaultMaxQueue is the largest size in bytes of a member's queue if MaxQueue of the [Room] is 0.
const DefaultMaxQueue = 1 << 20

// queuedCost is added to the length of a packet in a queue, in bytes: for its slice header, in a queue
// with a capacity of up to twice its length, and for the allocation.
const queuedCost = 64

// shortQueue is the maximum number of packets in a queue without an allocated slice.
const shortQueue = 16

// A Room sends packets to many connections, its members, and waits for none of them: a goroutine
// writes each member's queue to the member's connection. A zero Room is ready for use:
//
//	var room stream.Room
//	s.Handler = func(_ context.Context, c *stream.Conn) (err error) {
//		m := room.Join(c)
//		defer m.Leave()
//		for err == nil || stream.Skippable(err) {
//			var text string
//			if err = variant.Receive(c, &text); err == nil {
//				err = variant.Send(&room, text) // to all, or to m, or to m.Others()
//			}
//		}
//		return err
//	}
//
// All members receive packets in the same order. A member receives each packet sent to the Room after
// Join and before Leave, or its connection is closed: nothing between two packets is lost. No method
// waits for a member, except [Member.Flush]. A program can therefore hold a lock of its own while
// joining or leaving, changing its own data about members, and sending packets about the change: then
// all members learn of joins and leaves in the same order.
//
// # Slow members
//
// A member is dropped if the packets in its queue and one more would exceed MaxQueue: the member
// leaves the Room, its connection is closed, a WebSocket with [CloseTryAgainLater], and the calls of
// its handler return [ErrSlow]. After an error of writing a packet, the member is dropped likewise,
// with the error of the connection, after a WriteTimeout an [ErrBroken].
//
// # Latest packets
//
// A packet written through [Room.Latest], such as the position of a player, replaces the packet of the same key that still
// waits in a member's queue, and takes its place. A slow member then lags instead of being dropped: of each player
// it receives the newest position, and fewer of them. All other packets keep their order.
//
// # Memory
//
// A packet in a queue counts its length and 64 bytes, and a key 64 bytes more, so a member's queue takes at most MaxQueue bytes, or one
// packet of any length. A packet sent to all is held once: if nothing is sent to single members, the packets in all
// queues together take MaxQueue bytes, besides 64 bytes for each packet in each queue. A member with an empty queue
// uses no goroutine. Packets waiting in a queue are written with one Write, to WebSockets if [WebSocketListener] accepted them;
// meanwhile they still count, and a copy takes up to 16 KiB, or an eighth of MaxQueue.
type Room struct {
	// MaxQueue is the largest size of a member's queue in bytes. 0 selects DefaultMaxQueue.
	MaxQueue int64

	mu        sync.Mutex
	config    *config   // of the first member's Conn, for encoding packets; nil before
	maxPacket int64     // the smallest of all Conns joined so far; 0 before
	members   []*Member // in the order in which they joined

	// Members with packets wait for a goroutine. A goroutine that takes a member starts another goroutine if more
	// members are waiting, because writing to the member can block. Usually writing does not block, and the goroutine
	// takes the next member itself.
	writing     sync.Mutex
	first, last *Member // waiting, or nil
	started     bool    // a goroutine was started and did not take a member yet
}

// A Member is a connection in a [Room]. Several goroutines can call its methods at the same time, and
// after Leave: then they still send packets to this connection.
type Member struct {
	room *Room
	conn *Conn

	mu      sync.Mutex
	changed *sync.Cond // when a packet was written, and when err is set
	packets [][]byte   // waiting, without the packets being written
	size    int64      // of packets and of the packets being written, as they count
	writing bool       // a goroutine is writing, or m waits for one
	queued  int64      // the number of packets ever queued
	written int64      // of them
	err     error      // why no packet can be queued any more
	after   *Member    // next in room to wait for a goroutine

	// latest contains, for each key of packets in the queue, the number of packets queued before the latest. Some may be
	// written already.
	latest map[any]int64

	short [shortQueue][]byte // the array of packets
}

// Join makes c a member, which receives all packets sent to r from now on. The handler still reads from
// c and closes c. A packet written to c and not to the Member is not in the order of the others.
//
// A handler defers [Member.Leave]: a member that does not leave stays in the Room until a packet to it fails.
//
// r encodes packets with the Options of the first Conn to join, and sends no packet longer than the
// smallest MaxPacket of all Conns joined so far.
func (r *Room) Join(c *Conn) *Member {
	m := &Member{room: r, conn: c}
	m.changed, m.packets = sync.NewCond(&m.mu), m.short[:0]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.config = cmp.Or(r.config, c.config.Load())
	r.maxPacket = min(cmp.Or(r.maxPacket, math.MaxInt64), c.config.Load().MaxPacket)
	r.members = append(r.members, m)
	return m
}

// Len returns the number of members.
func (r *Room) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.members)
}

// Members iterates over the members in the order of joining. A member can leave meanwhile.
func (r *Room) Members() iter.Seq[*Member] {
	return func(yield func(*Member) bool) {
		r.mu.Lock()
		members := slices.Clone(r.members) // the body can call methods of r
		r.mu.Unlock()
		slices.Values(members)(yield)
	}
}

// WritePacket sends a packet to all members, with the value written by write, encoded once. WritePacket
// returns the errors of [Writer.WritePacket] about the value; no member receives the packet then.
func (r *Room) WritePacket(write func(*gdwire.Encoder) error) error {
	return r.encode(write, r.WriteRaw)
}

// WriteRaw sends a packet with these bytes, an encoded value, to all members, without checking or
// keeping the bytes. An error is about the length of the packet.
func (r *Room) WriteRaw(packet []byte) error { return r.send(packet, nil, nil) }

// Latest returns a writer to all members whose packets replace waiting ones of the same key: see "Latest packets". The key,
// such as the number of a player, is compared with ==.
func (r *Room) Latest(key any) Latest { return Latest{room: r, key: key} }

// encode calls send with the packet written by write.
func (r *Room) encode(write func(*gdwire.Encoder) error, send func([]byte) error) error {
	r.mu.Lock()
	config := r.config
	r.mu.Unlock()
	if config == nil {
		config = newConfig(nil)
	}
	p, err := config.encode(write)
	if err != nil {
		return err
	}
	defer p.release()
	return send(p.content())
}

// send puts a copy of packet into the queues of all members except one, or of all if except is nil. A key that is not nil is
// that of Latest.
func (r *Room) send(packet []byte, except *Member, key any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.check(packet); err != nil || len(r.members) == 0 {
		return err
	}
	packet = bytes.Clone(packet)
	r.members = slices.DeleteFunc(r.members, func(m *Member) bool { return m != except && m.queue(packet, key) != nil })
	return nil
}

// check returns an error if packet has a wrong length. r is locked.
func (r *Room) check(packet []byte) error {
	return checkPacket(packet, cmp.Or(r.maxPacket, math.MaxInt64))
}

// remove removes a member, if still present.
func (r *Room) remove(m *Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members = slices.DeleteFunc(r.members, func(one *Member) bool { return one == m })
}

// Conn returns the connection of m.
func (m *Member) Conn() *Conn { return m.conn }

// Leave ends the membership. Packets in the queue are still written until the connection is closed: a
// handler that returns after its last packet calls Flush before. Leaving again does nothing.
func (m *Member) Leave() { m.room.remove(m) }

// WritePacket sends a packet to m alone, as [Room.WritePacket] does to all, and returns the error
// of [Member.Flush] if m was dropped.
func (m *Member) WritePacket(write func(*gdwire.Encoder) error) error {
	return m.room.encode(write, m.WriteRaw)
}

// WriteRaw sends a packet to m alone, as [Room.WriteRaw] does to all, and returns the error of
// [Member.Flush] if m was dropped.
func (m *Member) WriteRaw(packet []byte) error { return m.send(packet, nil) }

// Latest is [Room.Latest] for m alone.
func (m *Member) Latest(key any) Latest { return Latest{room: m.room, only: m, key: key} }

// send puts a copy of packet into the queue. A key that is not nil is that of Latest.
func (m *Member) send(packet []byte, key any) error {
	m.room.mu.Lock()
	err := m.room.check(packet)
	m.room.mu.Unlock()
	if err == nil {
		err = m.queue(bytes.Clone(packet), key)
	}
	if err == ErrSlow {
		m.room.remove(m)
	}
	return err
}

// Flush waits until all packets sent to m are written to its connection, or returns [ErrSlow] or the
// error of the connection if they cannot be written. A handler that sends more than MaxQueue calls
// Flush from time to time.
func (m *Member) Flush() error { return m.FlushContext(context.Background()) }

// FlushContext is Flush until ctx is done, and then returns the cause of ctx.
func (m *Member) FlushContext(ctx context.Context) error {
	if ctx.Done() != nil {
		defer context.AfterFunc(ctx, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.changed.Broadcast()
		})()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for end := m.queued; m.written < end; m.changed.Wait() {
		if err := cmp.Or(m.err, context.Cause(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// Others returns all members of the Room except m, for sending to them.
func (m *Member) Others() Others { return Others{m} }

// Others are the other members of a member's [Room].
type Others struct{ member *Member }

// WritePacket sends a packet to the other members, as [Room.WritePacket] does to all.
func (o Others) WritePacket(write func(*gdwire.Encoder) error) error {
	return o.member.room.encode(write, o.WriteRaw)
}

// WriteRaw sends a packet to the other members, as [Room.WriteRaw] does to all.
func (o Others) WriteRaw(packet []byte) error { return o.member.room.send(packet, o.member, nil) }

// Latest is [Room.Latest] for the other members.
func (o Others) Latest(key any) Latest {
	return Latest{room: o.member.room, except: o.member, key: key}
}

// A Latest writes packets of which the newest counts: see [Room.Latest].
type Latest struct {
	room         *Room
	only, except *Member // or nil
	key          any
}

// WritePacket sends a packet, as [Room.WritePacket] does to all.
func (l Latest) WritePacket(write func(*gdwire.Encoder) error) error {
	return l.room.encode(write, l.WriteRaw)
}

// WriteRaw sends a packet, as [Room.WriteRaw] does to all.
func (l Latest) WriteRaw(packet []byte) error {
	if l.only != nil {
		return l.only.send(packet, l.key)
	}
	return l.room.send(packet, l.except, l.key)
}

// queue appends a packet to the queue without copying, or puts it in the place of the waiting packet of a key that is not nil.
// It returns why m is dropped.
func (m *Member) queue(packet []byte, key any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, cost := -1, int64(len(packet))+queuedCost
	if n, ok := m.latest[key]; ok {
		at = len(m.packets) - int(m.queued-n)
	}
	if at >= 0 {
		cost -= int64(len(m.packets[at])) + queuedCost
	}
	switch {
	case m.err != nil:
		return m.err
	case m.size > 0 && m.size+cost+queuedCost*int64(len(m.latest)) > m.room.maxQueue():
		m.fail(ErrSlow)
		return m.err
	}
	m.size += cost
	if at >= 0 {
		m.packets[at] = packet
		return nil
	}
	if key != nil {
		m.remember(key)
	}
	m.packets = append(m.packets, packet)
	m.queued++
	if !m.writing {
		m.writing = true
		m.room.wait(m)
	}
	return nil
}

// remember notes the key of the packet to be queued, and forgets those of written packets where they are many. m is locked.
func (m *Member) remember(key any) {
	if m.latest == nil || len(m.latest) > 2*len(m.packets)+shortQueue {
		waiting := map[any]int64{}
		for k, n := range m.latest {
			if m.queued-n <= int64(len(m.packets)) {
				waiting[k] = n
			}
		}
		m.latest = waiting
	}
	m.latest[key] = m.queued
}

// maxQueue returns MaxQueue or its default.
func (r *Room) maxQueue() int64 {
	return cmp.Or(max(r.MaxQueue, 0), DefaultMaxQueue)
}

// fail closes the connection, and makes err the error of its calls. m is locked.
func (m *Member) fail(err error) {
	if m.err != nil {
		return
	}
	clear(m.packets)
	m.err, m.packets, m.latest = err, nil, nil
	m.changed.Broadcast()
	go m.conn.closeFor(err) // can wait for a second, for the packet being written
}

// wait makes a member wait for a goroutine, and starts one.
func (r *Room) wait(m *Member) {
	r.writing.Lock()
	defer r.writing.Unlock()
	if r.last == nil {
		r.first = m
	} else {
		r.last.after = m
	}
	r.last = m
	r.start()
}

// start starts a goroutine, unless an earlier one did not take a member yet. writing is locked.
func (r *Room) start() {
	if !r.started {
		r.started = true
		go r.write()
	}
}

// write writes packets of the waiting members. Handlers that are ready go first: what they send is written at once.
func (r *Room) write() {
	runtime.Gosched()
	for m := r.take(true); m != nil; m = r.take(false) {
		m.write()
	}
}

// take returns the next waiting member, or nil.
func (r *Room) take(isFirst bool) *Member {
	r.writing.Lock()
	defer r.writing.Unlock()
	if isFirst {
		r.started = false
	}
	m := r.first
	if m == nil {
		return nil
	}
	if r.first, m.after = m.after, nil; r.first == nil {
		r.last = nil
	} else {
		r.start()
	}
	return m
}

// write writes packets until the queue is empty or one cannot be written.
func (m *Member) write() {
	var packets [][]byte
	var err error
	defer func() {
		if err = panicked(recover(), err); err != nil { // of a MessageConn
			clear(packets)
			m.mu.Lock()
			m.fail(stickyError(err))
			m.mu.Unlock()
			m.room.remove(m)
		}
	}()
	for packets = m.next(nil); packets != nil; packets = m.next(packets) {
		if err = m.conn.writer.writeAll(packets); err != nil {
			return
		}
	}
}

// next counts packets as written, and removes the packets to write next from the queue: as many as fit in one Write, or
// one if messages are written alone. After the last packet, the writing goroutine goes on with another member.
func (m *Member) next(packets [][]byte) [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range packets {
		m.size -= int64(len(p)) + queuedCost
	}
	m.written += int64(len(packets))
	m.changed.Broadcast()
	clear(packets)
	if len(m.packets) == 0 {
		m.packets, m.writing = m.short[:0], false
		if len(m.latest) > shortQueue {
			m.latest = nil
		}
		clear(m.latest)
		return nil
	}
	n := m.fits()
	packets, m.packets = m.packets[:n], m.packets[n:]
	return packets
}

// fits returns how many packets of the queue are written next. They count until all are written, so they are few
// compared to MaxQueue. m is locked.
func (m *Member) fits() int {
	most := min(bufferSize, m.room.maxQueue()/8)
	n, cost := 1, int64(len(m.packets[0]))+queuedCost
	for ; n < len(m.packets) && !m.conn.writer.alone; n++ {
		if cost += int64(len(m.packets[n])) + queuedCost; cost > most {
			break
		}
	}
	return n
}
