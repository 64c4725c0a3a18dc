package stream

import (
	"sync"
	"time"
)

// A deadlineTimer calls expire when a deadline passes. After set returns, expire is not called
// for an earlier deadline, which a time.Timer alone cannot promise. Deadlines are set for
// every message and hardly ever pass, so a later deadline leaves the timer as it is: when
// the timer fires, it is set to the deadline of that moment.
type deadlineTimer struct {
	expire func()

	mu    sync.Mutex
	at    time.Time // the deadline, or zero
	fires time.Time // when the timer does, or zero
	timer *time.Timer
}

// set sets the deadline. The zero time means none.
func (a *deadlineTimer) set(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = at
	if at.IsZero() || !a.fires.IsZero() && !a.fires.After(at) {
		return
	}
	a.start(time.Until(at))
}

// shorten sets the deadline unless there is none, or an earlier one.
func (a *deadlineTimer) shorten(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.at.IsZero() && at.Before(a.at) {
		a.at = at
		a.start(time.Until(at))
	}
}

// start sets the timer to the deadline, which is d from now.
func (a *deadlineTimer) start(d time.Duration) {
	a.fires = a.at
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.fire)
	} else {
		a.timer.Reset(d)
	}
}

func (a *deadlineTimer) fire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fires = time.Time{}
	if a.at.IsZero() {
		return
	}
	if d := time.Until(a.at); d > 0 {
		a.start(d)
		return
	}
	a.at = time.Time{}
	a.expire()
}

// stop ends the timer.
func (a *deadlineTimer) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = time.Time{}
	if a.timer != nil {
		a.timer.Stop()
	}
}
