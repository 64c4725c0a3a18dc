package stream

import (
	"context"
	"time"

	"github.com/gdwire/gdwire"
)

// Next returns a Decoder of the next packet, as [Reader.Next] does. After Close, Next returns
// [net.ErrClosed], and after the context is done the cause of the context, even if packets arrived
// before. After [Server.Shutdown], Next returns at most one packet, if the first byte of the packet
// arrived before, then [ErrServerClosed].
func (c *Conn) Next() (*gdwire.Decoder, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if err := c.ready(); err != nil {
		return nil, err
	}
	d, err := c.reader.Next()
	if err = c.packetRead(err); err == ErrPacketRate {
		c.reader.dec.Release()
		return nil, err
	}
	return d, err
}

// NextRaw appends the bytes of the next packet to dst, as [Reader.NextRaw] does, and returns the
// errors of [Conn.Next].
func (c *Conn) NextRaw(dst []byte) ([]byte, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if err := c.ready(); err != nil {
		return dst, err
	}
	dst, err := c.reader.NextRaw(dst)
	return dst, c.packetRead(err)
}

// packetRead takes a token for a packet just read, valid or with an error of its own, and notes the
// time for PacketHandled. It returns err, or ErrPacketRate without a token.
func (c *Conn) packetRead(err error) error {
	c.last = c.draining.Load()
	if err != nil && !Skippable(err) {
		return err
	}
	if c.tooFast = c.rate != nil && !c.rate.take(); c.tooFast {
		return ErrPacketRate
	}
	if c.handled != nil {
		c.readAt = time.Now()
	}
	return err
}

// ready returns an error if there is no next packet.
func (c *Conn) ready() error {
	c.packetHandled()
	err := c.ended()
	if err == nil && c.draining.Load() && (c.last || !c.reader.begun()) {
		err = ErrServerClosed
	}
	if err == nil && c.tooFast {
		err = ErrPacketRate
	}
	if err != nil {
		c.reader.countInvalid()
		c.reader.state = stateDone // an error of the handler does not count the packet again
		c.reader.dec.Release()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.count() // also after finish, for a goroutine that outlives the handler
		return err
	}
	c.armed = 0
	return nil
}

// CloseRead discards all packets from now on, in a goroutine of its own, for handlers that only
// write. The returned context is done when the other side closes the connection, with the cause
// io.EOF, after [Server.Shutdown], with the cause [ErrServerClosed], or when Next fails for any
// other reason. IdleTimeout no longer applies. Nothing else may read then, and CloseRead must not
// be called again.
func (c *Conn) CloseRead(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	c.endless = true
	c.mu.Unlock()
	c.discarded = make(chan struct{})
	go func() {
		defer close(c.discarded)
		defer func() {
			if !c.served.Load() {
				return
			}
			if c.panicked = panicked(recover(), nil); c.panicked != nil { // PacketHandled, for example
				c.cause.Store(&c.panicked)
				cancel(c.panicked)
			}
		}()
		for {
			if _, err := c.Next(); err != nil && !Skippable(err) {
				end := err // allocated here, not for each packet
				c.cause.Store(&end)
				cancel(err)
				return
			}
		}
	}()
	return ctx
}

// WritePacket writes a packet with the value written by write, as [Writer.WritePacket] does.
func (c *Conn) WritePacket(write func(*gdwire.Encoder) error) error {
	return c.writer.WritePacket(write)
}

// WriteRaw writes a packet with these bytes, an encoded value, as [Writer.WriteRaw] does, without
// checking them. An empty packet is an error.
func (c *Conn) WriteRaw(packet []byte) error { return c.writer.WriteRaw(packet) }

// Flush writes the packets held back because of Options.BufferWrites. If a timeout occurs before
// any of their bytes is written, Flush can be called again. After Close, Flush returns
// [net.ErrClosed], and after the context is done the cause of the context.
func (c *Conn) Flush() error { return c.writer.Flush() }
