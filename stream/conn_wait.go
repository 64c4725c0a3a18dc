package stream

import (
	"cmp"
	"os"
	"time"
)

// aLongTimeAgo is a deadline for interrupting a call.
var aLongTimeAgo = time.Unix(1, 0)

// wait prepares for waiting for bytes: of the current packet, or if idle is true, of the next
// packet.
func (c *Conn) wait(idle bool) error {
	if c.writer.holds() {
		if err := c.writer.startWait(); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count()
	if err := c.ended(); err != nil { // here, because a deadline would replace the deadline of Close
		return err
	}
	if err := c.takeFlushError(); err != nil {
		return err
	}
	if idle && c.draining.Load() {
		return ErrServerClosed
	}
	now := c.now()
	c.idle, c.waiting = idle, now
	return c.setReadDeadline(now)
}

// setReadDeadline sets the read deadline, once for each packet: a sender cannot extend the deadline
// byte by byte. c is locked. While Next waits for a packet, setReadDeadline uses no field of the
// reading goroutine: see active.
func (c *Conn) setReadDeadline(now time.Time) error {
	timeout, packet := c.config.IdleTimeout, int64(0)
	if c.endless {
		timeout = 0
	}
	if !c.idle {
		timeout, packet = c.config.ReadTimeout, c.reader.lengthOffset+1
		if c.armed == packet {
			return nil
		}
	}
	if !c.drainBy.IsZero() {
		timeout = shorter(timeout, max(c.drainBy.Sub(now), 1))
	}
	if timeout > 0 || c.limited {
		if err := c.setDeadline(c.link.SetReadDeadline, now, timeout); err != nil {
			return err
		}
	}
	c.limited, c.readBy = timeout > 0, now.Add(timeout)
	c.setAnswerDeadline()
	if packet > 0 {
		c.armed = packet
	}
	return nil
}

// active makes the IdleTimeout begin again, if Next waits for a packet.
func (c *Conn) active() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle && c.limited && !c.draining.Load() && c.ended() == nil {
		_ = c.setReadDeadline(c.now())
	}
}

// arrived counts the bytes that arrived of a long packet, see Server.MaxReading, and waits until they can be read.
func (c *Conn) arrived(held, missing int64) error {
	if missing == 0 {
		c.quota.Release(c)
		return nil
	}
	granted := c.quota.Hold(c, held, missing)
	if c.ended() != nil { // finish may have released before
		c.quota.Release(c)
		return c.ended()
	}
	if granted == nil {
		return nil
	}
	if c.writer.holds() {
		_ = c.writer.startWait() // the error comes from the next Read
		defer c.writer.endWait()
	}
	for {
		if again, err := c.waitFor(granted); !again {
			return cmp.Or(c.readError(err), c.ended())
		}
	}
}

// waitFor waits for granted until the read deadline. It returns true if Shutdown changed the deadline.
func (c *Conn) waitFor(granted <-chan struct{}) (again bool, err error) {
	c.mu.Lock()
	now, drained := c.now(), make(chan struct{})
	_ = c.setReadDeadline(now) // unless the packet has one
	c.drained = drained
	limited, left := c.limited, c.readBy.Sub(now)
	c.mu.Unlock()
	var timeout <-chan time.Time
	if limited {
		timeout = time.After(left)
	}
	select {
	case <-granted:
	case <-drained:
		return true, nil
	case <-c.ctx.Done():
		return false, c.ended()
	case <-timeout:
		return false, os.ErrDeadlineExceeded
	}
	return false, nil
}

// received notes that n bytes arrived.
func (c *Conn) received(n int) {
	if n > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.idle = false
		c.bytesIn += int64(n)
	}
}

// readError returns the error of a read after wait.
func (c *Conn) readError(err error) error {
	if err == nil {
		return nil
	}
	c.armed = 0 // the next call gets the same time again
	c.mu.Lock()
	drained := c.draining.Load() && (c.idle || isTimeout(err))
	flushError := c.takeFlushError()
	timeout := readTimeout
	if c.idle {
		timeout = idleTimeout
	}
	c.mu.Unlock()
	if drained {
		return ErrServerClosed
	}
	if first := cmp.Or(c.ended(), flushError); first != nil {
		return first
	}
	return c.faults.note(&c.faults.read, err, timeout)
}

// flushFailed makes Next return err, the error of packets held back.
func (c *Conn) flushFailed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended() != nil { // Next returns this error, and the deadline may be one of Close
		return
	}
	c.flushError, c.limited = err, true
	_ = c.link.SetReadDeadline(aLongTimeAgo)
}

// takeFlushError returns the error of flushFailed, once. c is locked.
func (c *Conn) takeFlushError() error {
	err := c.flushError
	if err != nil {
		c.flushError, c.armed = nil, 0 // its deadline replaced the deadline of the packet
	}
	return err
}

// setWriteDeadline sets the deadline of the next Write, and afterwards checks whether the connection
// is drained, because the deadline of Shutdown must not be replaced; connWriter does the same for
// Close.
func (c *Conn) setWriteDeadline() error {
	if err := c.unusable(); err != nil { // the deadline of a closed connection is another error
		return err
	}
	if c.answers() {
		c.mu.Lock()
		c.writing = true
		c.mu.Unlock()
	}
	timeout, now := c.writeTimeout(), c.now()
	c.writeBy.Store(int64(now.Add(timeout).Sub(c.opened)))
	if err := c.setDeadline(c.conn.SetWriteDeadline, now, timeout); err != nil {
		return err
	}
	if c.writeTimeout() != timeout {
		return c.setWriteDeadline()
	}
	return nil
}

// answers reports whether a Read can write, as that of TLS answers a KeyUpdate, and write deadlines are set.
func (c *Conn) answers() bool { return c.handshake != nil && c.config.WriteTimeout > 0 }

// setAnswerDeadline sets the write deadline to the read deadline while no packet is written: after the deadline of the
// latest packet, the answer of a Read would fail, and break TLS. c is locked.
func (c *Conn) setAnswerDeadline() {
	if !c.answers() || c.writing || c.ended() != nil {
		return
	}
	var by time.Time
	if c.limited {
		by = c.readBy
	}
	_ = c.conn.SetWriteDeadline(by)
}

// written notes that a packet was written.
func (c *Conn) written() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	c.setAnswerDeadline()
}

// writeTimeout returns the time for a Write.
func (c *Conn) writeTimeout() time.Duration {
	if c.config.WriteTimeout > 0 && c.draining.Load() {
		return shorter(c.config.WriteTimeout, c.config.DrainTimeout)
	}
	return c.config.WriteTimeout
}

// shorter returns the shorter timeout. 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// unusable returns why no packet can be written, or nil: the connection was closed, or its handshake
// failed.
func (c *Conn) unusable() error {
	if err := c.ended(); err != nil {
		return err
	}
	return c.handshake.failed()
}

// writeError returns the error of a write.
func (c *Conn) writeError(err error) error {
	if err == nil {
		return nil
	}
	if cause := c.ended(); cause != nil {
		return cause
	}
	return c.faults.note(&c.faults.write, err, writeTimeout)
}

// drain makes Next return ErrServerClosed instead of waiting for another packet.
func (c *Conn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining.Store(true)
	if c.handshake.isPending() {
		c.cancel(ErrServerClosed)
		return
	}
	if d := c.config.DrainTimeout; d > 0 {
		c.drainBy = time.Now().Add(d)
		c.link.endWrite(c.drainBy)
	}
	if c.drained != nil {
		close(c.drained)
		c.drained = nil
	}
	if c.idle {
		c.interrupt()
	} else if !c.drainBy.IsZero() && (!c.limited || c.drainBy.Before(c.readBy)) {
		c.limited, c.readBy = true, c.drainBy
		_ = c.link.SetReadDeadline(c.drainBy)
	}
}
