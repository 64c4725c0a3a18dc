// Package quota bounds the bytes of packets that several connections are reading at the same time.
package quota

import (
	"cmp"
	"slices"
	"sync"
)

// A Quota bounds the bytes of the unfinished packets of several connections together: the bytes that arrived, not the
// declared lengths. Where they would exceed the bound, one connection at a time goes on, so that all packets are
// finished, and the others wait. A nil Quota bounds nothing.
type Quota struct {
	max int64

	mu      sync.Mutex
	used    int64          // by all shares but alone
	alone   *share         // goes on beyond max, and is not counted in used; or nil
	shares  map[any]*share // by connection
	waiting []*share
}

// A share is the part of a Quota that a connection holds.
type share struct {
	held    int64
	more    int64         // bytes it waits for
	missing int64         // bytes of its packet that did not arrive
	granted chan struct{} // closed when it holds more; nil unless it waits
}

// New returns a Quota of n bytes, besides one packet of any length.
func New(n int64) *Quota { return &Quota{max: n, shares: map[any]*share{}} }

// Hold counts the bytes of the packet that conn is reading: held arrived, and missing did not. If they exceed the
// bound, Hold returns a channel: conn waits until the channel is closed, calls Hold again, or Release. Each packet
// ends with Release. Less than before is ignored.
func (q *Quota) Hold(conn any, held, missing int64) (granted <-chan struct{}) {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.shares[conn]
	if s == nil {
		s = new(share)
		q.shares[conn] = s
	}
	s.more, s.missing = max(held-s.held, 0), missing
	if s.granted != nil || q.grant(s) {
		return s.granted
	}
	s.granted = make(chan struct{})
	q.waiting = append(q.waiting, s)
	return s.granted
}

// Release ends the packet of conn, if there is one.
func (q *Quota) Release(conn any) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.shares[conn]
	if s == nil {
		return
	}
	delete(q.shares, conn)
	if s == q.alone {
		q.alone = nil
	} else {
		q.used -= s.held
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(w *share) bool { return w == s })
	// The shortest rest first: short packets do not wait for long ones.
	slices.SortStableFunc(q.waiting, func(a, b *share) int { return cmp.Compare(a.missing, b.missing) })
	q.waiting = slices.DeleteFunc(q.waiting, func(w *share) bool {
		ok := q.grant(w)
		if ok {
			close(w.granted)
			w.granted = nil
		}
		return ok
	})
}

// grant counts the bytes that s waits for, if the bound permits. q is locked.
func (q *Quota) grant(s *share) bool {
	if s != q.alone && q.used+s.more > q.max {
		if q.alone != nil {
			return false
		}
		q.alone = s
		q.used -= s.held
	}
	if s != q.alone {
		q.used += s.more
	}
	s.held, s.more = s.held+s.more, 0
	return true
}
