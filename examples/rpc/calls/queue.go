package calls

import "sync"

// A queue contains the packets that wait to be written to a peer, up to maxQueued bytes. Its memory
// follows what waits.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	packets [][]byte
	size    int // in bytes, with the packet that is being written
	writing int // the size of that packet
	closed  bool
}

// locked locks q and returns its condition.
func (q *queue) locked() *sync.Cond {
	q.mu.Lock()
	if q.changed == nil {
		q.changed = sync.NewCond(&q.mu)
	}
	return q.changed
}

// put appends a packet and returns true, or returns false if there is no room for it. A closed queue
// takes all packets, and drops them.
func (q *queue) put(packet []byte) bool {
	changed := q.locked()
	defer q.mu.Unlock()
	if q.closed {
		return true
	}
	if q.size+len(packet) > maxQueued {
		return false
	}
	q.packets = append(q.packets, packet)
	q.size += len(packet)
	changed.Broadcast()
	return true
}

// take waits for a packet and removes it. It returns false when q is closed.
func (q *queue) take() ([]byte, bool) {
	changed := q.locked()
	defer q.mu.Unlock()
	q.size -= q.writing
	q.writing = 0
	changed.Broadcast()
	for len(q.packets) == 0 && !q.closed {
		changed.Wait()
	}
	if q.closed {
		return nil, false
	}
	packet := q.packets[0]
	q.packets[0] = nil
	if q.packets = q.packets[1:]; len(q.packets) == 0 {
		q.packets = nil
	}
	q.writing = len(packet)
	return packet, true
}

// waitForRoom waits until half of the queue is free, so that others can still put packets.
func (q *queue) waitForRoom() {
	changed := q.locked()
	defer q.mu.Unlock()
	for q.size > maxQueued/2 && !q.closed {
		changed.Wait()
	}
}

// close drops the packets and ends waiting.
func (q *queue) close() {
	changed := q.locked()
	defer q.mu.Unlock()
	q.closed, q.packets = true, nil
	changed.Broadcast()
}
