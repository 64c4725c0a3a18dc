package record

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/gdwire/gdwire/internal/address"
)

// Listen listens at an address, HOST:PORT or unix:PATH. With a prefix, it returns a Recorder of a new recording.
func Listen(addr, prefix string) (net.Listener, *Recorder, error) {
	ln, err := address.Listen(addr)
	if err != nil || prefix == "" {
		return ln, nil, err
	}
	r, err := New(prefix)
	if err != nil {
		return nil, nil, errors.Join(err, ln.Close())
	}
	return ln, r, nil
}

// A Listener returns connections to record: each is a [*Conn].
type Listener struct {
	net.Listener
	Recorder *Recorder
	Order    binary.ByteOrder // of the lengths before the packets
}

// Accept returns the next connection, a [*Conn].
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: c, l: l}, nil
}

// A Conn is a connection recorded from Start on: the other side is the client.
type Conn struct {
	net.Conn
	l      *Listener
	number int64
	ways   [2]way
}

// Start begins the recording of the connection with this number, before its first byte.
func (c *Conn) Start(number int64) { c.number = number }

func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.record(FromClient, b[:n])
	return n, err
}

func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.record(FromServer, b[:n])
	return n, err
}

// CloseWrite closes the writing side, as those of TCP and Unix sockets do.
func (c *Conn) CloseWrite() error { return c.Conn.(interface{ CloseWrite() error }).CloseWrite() }

// Close closes the connection and its files.
func (c *Conn) Close() error {
	err := c.Conn.Close()
	for i := range c.ways {
		err = errors.Join(err, c.ways[i].close())
	}
	return err
}

// record writes bytes, and the packets completed by them.
func (c *Conn) record(d Direction, b []byte) {
	if len(b) == 0 || c.number == 0 {
		return
	}
	c.l.Recorder.Fail(c.ways[d].add(c, d, b))
}

// A way is one direction of a Conn, of packets after their lengths.
type way struct {
	mu       sync.Mutex // Close can run beside a Read
	file     *os.File   // is created for the first byte
	closed   bool
	offset   int64 // after all bytes
	start    int64 // of the packet
	head     [4]byte
	received int   // bytes of head
	missing  int64 // bytes of the packet after head
}

func (w *way) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}

func (w *way) add(c *Conn, d Direction, b []byte) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	if w.file == nil {
		if w.file, err = c.l.Recorder.File(c.number, d); err != nil {
			w.closed = true
			return err
		}
	}
	c.l.Recorder.Write(w.file, b)
	for now := time.Now(); len(b) > 0; {
		if w.received < len(w.head) {
			n := copy(w.head[w.received:], b)
			b, w.received, w.offset = b[n:], w.received+n, w.offset+int64(n)
			w.missing = int64(c.l.Order.Uint32(w.head[:]))
		}
		if w.received == len(w.head) {
			n := min(w.missing, int64(len(b)))
			b, w.missing, w.offset = b[n:], w.missing-n, w.offset+n
			if w.missing > 0 {
				return nil
			}
			c.l.Recorder.Add(now, Packet{Connection: c.number, Direction: d, Offset: w.start, Length: w.offset - w.start})
			w.start, w.received = w.offset, 0
		}
	}
	return nil
}
