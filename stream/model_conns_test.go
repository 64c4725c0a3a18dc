package stream_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire/stream"
)

// A damage happens to one direction of a transport at a byte.
type damage int

const (
	noDamage damage = iota
	cutShort        // a Write returns fewer bytes, once with an error and once without
	reset           // the connection ends
	delay           // the next bytes take a millisecond
	damages
)

// A faultyConn reads and writes in pieces, with a damage in each direction.
type faultyConn struct {
	net.Conn
	in, out direction
	ended   atomic.Bool // nothing may be written
	late    atomic.Bool // something was
	fired   atomic.Bool // packets may have been lost
}

// A direction of a faultyConn is used by one goroutine at a time.
type direction struct {
	damage
	at, done int
	rng      *rand.Rand
	silent   bool // cutShort without an error
}

// next returns how many of n bytes come next, and whether the damage is before them.
func (d *direction) next(n int) (int, bool) {
	n = min(n, 1+d.rng.IntN(1<<d.rng.IntN(16)))
	if d.damage != noDamage && d.done <= d.at {
		if d.done == d.at {
			return n, true
		}
		n = min(n, d.at-d.done)
	}
	return n, false
}

// add counts n bytes, and the damage as done.
func (d *direction) add(n int, damaged bool) {
	d.done += n
	if damaged {
		d.damage = noDamage
	}
}

var errReset = &net.OpError{Op: "write", Err: os.NewSyscallError("write", errors.New("reset by the test"))}

func (f *faultyConn) Read(p []byte) (int, error) {
	n, damaged := f.in.next(len(p))
	switch {
	case damaged && f.in.damage == reset:
		f.fired.Store(true)
		_ = f.Conn.Close()
		return 0, errReset
	case damaged:
		time.Sleep(time.Millisecond)
	}
	n, err := f.Conn.Read(p[:n])
	f.in.add(n, damaged)
	return n, err
}

func (f *faultyConn) Write(p []byte) (written int, err error) {
	ended := f.ended.Load()
	for written < len(p) && err == nil {
		n, damaged := f.out.next(len(p) - written)
		switch {
		case damaged && f.out.damage == delay:
			time.Sleep(time.Millisecond)
		case damaged:
			f.fired.Store(true)
			if f.out.damage == reset {
				_ = f.Conn.Close()
				return written, errReset
			}
			f.out.add(0, true)
			if f.out.silent {
				return written, nil
			}
			return written, io.ErrShortWrite
		}
		n, err = f.Conn.Write(p[written:][:n])
		if ended && n > 0 {
			f.late.Store(true)
		}
		f.out.add(n, damaged)
		written += n
	}
	return written, err
}

// A faultyTCP can be closed for writing alone.
type faultyTCP struct{ *faultyConn }

func (f faultyTCP) CloseWrite() error { return f.Conn.(*net.TCPConn).CloseWrite() }

// closeFrame is the length of a close frame of a lineSocket.
const closeFrame = 1<<32 - 1

// A lineSocket is a MessageConn over a connection: messages after their lengths. As with
// github.com/coder/websocket, a context that is done closes the connection.
type lineSocket struct {
	conn    net.Conn
	limit   int64
	timeout time.Duration // of Close; 0 if conn gets deadlines from a Conn

	reading chan struct{}   // contains a value unless a call reads
	ctx     context.Context // of NextMessage
	rest    int64           // of the message

	writing sync.Mutex
}

func newLineSocket(conn net.Conn, timeout time.Duration) *lineSocket {
	s := &lineSocket{conn: conn, timeout: timeout, reading: make(chan struct{}, 1)}
	s.reading <- struct{}{}
	return s
}

// read calls f, which reads, when no other call does.
func (s *lineSocket) read(ctx context.Context, f func() (int, error)) (int, error) {
	select {
	case <-s.reading:
		defer func() { s.reading <- struct{}{} }()
		return s.during(ctx, f)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// during calls f, and closes the connection if ctx is done.
func (s *lineSocket) during(ctx context.Context, f func() (int, error)) (int, error) {
	stop := context.AfterFunc(ctx, func() { _ = s.conn.Close() })
	n, err := f()
	stop()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return n, err
}

func (s *lineSocket) NextMessage(ctx context.Context) (io.Reader, error) {
	var header [4]byte
	_, err := s.read(ctx, func() (int, error) { return io.ReadFull(s.conn, header[:]) })
	if err != nil {
		return nil, errors.Join(errors.New("no close frame"), err)
	}
	s.ctx, s.rest = ctx, int64(binary.LittleEndian.Uint32(header[:]))
	if s.rest == closeFrame {
		return nil, io.EOF
	}
	if s.rest > s.limit {
		return nil, errors.New("message is too long")
	}
	return messageReader{s}, nil
}

type messageReader struct{ *lineSocket }

func (s messageReader) Read(p []byte) (int, error) {
	if s.rest == 0 {
		return 0, io.EOF
	}
	n, err := s.read(s.ctx, func() (int, error) { return s.conn.Read(p[:min(int64(len(p)), s.rest)]) })
	s.rest -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (s *lineSocket) WriteMessage(ctx context.Context, message []byte) error {
	_, err := s.during(ctx, func() (int, error) { return s.write(uint32(len(message)), message) })
	return err
}

func (s *lineSocket) write(length uint32, message []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	b := append(binary.LittleEndian.AppendUint32(nil, length), message...)
	n, err := s.conn.Write(b)
	if n < len(b) && err == nil {
		err = io.ErrShortWrite
	}
	if err != nil {
		_ = s.conn.Close() // as every error of a WebSocket
	}
	return n, err
}

func (s *lineSocket) SetReadLimit(n int64) { s.limit = n }

func (s *lineSocket) Close(int, string) error {
	defer s.conn.Close()
	if s.timeout > 0 {
		_ = s.conn.SetDeadline(time.Now().Add(s.timeout))
	}
	if _, err := s.write(closeFrame, nil); err != nil {
		return err
	}
	<-s.reading
	defer func() { s.reading <- struct{}{} }()
	_, err := io.Copy(io.Discard, s.conn)
	return err
}

func (s *lineSocket) CloseNow() error { return s.conn.Close() }

var _ stream.MessageConn = new(lineSocket)

// A modelPeer is the other side of a connection. It sends packets and records the bytes that it receives.
type modelPeer struct {
	under    net.Conn // conn, or the connection under its TLS
	conn     net.Conn
	messages bool
	sends    [][]byte
	stopsAt  int  // the byte before which it stops reading, or -1
	ends     int  // the number of bytes that it sends
	closes   bool // then
	rng      *rand.Rand
	over     chan struct{} // closed when the Conn has ended

	all     sync.WaitGroup
	got     []byte // received
	whole   int    // packets that it has sent
	stopped bool   // at stopsAt
}

var errStopped = errors.New("stopped")

// start starts the goroutines of p.
func (p *modelPeer) start() {
	p.all.Go(func() {
		if err := p.receive(); err == errStopped {
			p.stopped = true
			<-p.over
		}
		_ = p.under.Close()
	})
	p.all.Go(func() {
		if p.send() == nil && p.closes {
			_ = p.conn.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)) // for close_notify
			_ = p.conn.Close()
		}
	})
	p.all.Go(func() {
		<-p.over
		if !p.isDraining() {
			_ = p.under.Close()
		}
	})
}

// isDraining reports whether p reads everything that the Conn has written before it was closed.
func (p *modelPeer) isDraining() bool { return p.stopsAt < 0 }

// receive reads to the end or to stopsAt.
func (p *modelPeer) receive() error {
	if !p.messages {
		_, err := io.Copy(io.Discard, p)
		return err
	}
	for {
		var header [4]byte
		if _, err := io.ReadFull(p, header[:]); err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(header[:]))
		if n == closeFrame {
			p.got = p.got[:len(p.got)-4]
			return nil
		}
		if _, err := io.CopyN(io.Discard, p, n); err != nil {
			return err
		}
	}
}

// Read reads and records a piece.
func (p *modelPeer) Read(b []byte) (int, error) {
	if p.stopsAt >= 0 {
		if len(p.got) >= p.stopsAt {
			return 0, errStopped
		}
		b = b[:min(len(b), p.stopsAt-len(p.got))]
	}
	n, err := p.conn.Read(b)
	p.got = append(p.got, b[:n]...)
	return n, err
}

// send sends its packets, up to the byte at which it ends.
func (p *modelPeer) send() error {
	b := framed(binary.LittleEndian, p.sends...)
	ends := 0
	for sent := 0; sent < min(len(b), p.ends); {
		n := min(len(b), p.ends) - sent
		n = min(n, 1+p.rng.IntN(1<<p.rng.IntN(17)))
		m, err := p.conn.Write(b[sent:][:n])
		sent += m
		for p.whole < len(p.sends) && sent >= ends+4+len(p.sends[p.whole]) {
			ends += 4 + len(p.sends[p.whole])
			p.whole++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// packets returns the packets that p received whole, and the bytes after them.
func (p *modelPeer) packets() (whole [][]byte, rest []byte) {
	rest = p.got
	for len(rest) >= 4 {
		n := int(binary.LittleEndian.Uint32(rest))
		if n > len(rest)-4 {
			break
		}
		whole, rest = append(whole, rest[4:4+n]), rest[4+n:]
	}
	return whole, bytes.Clone(rest)
}
