package stream_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
)

// patience is more than any call of a play can take.
const patience = time.Minute

const modelMax = 80_000 // MaxPacket

// The layers of a play. Messages have a known net.Conn or none.
const (
	plain = iota
	secure
	knownMessages
	unknownMessages
	layers
)

// A play is one connection of TestConnModel: random calls from several goroutines over a transport that
// fails at random, with a peer that misbehaves.
type play struct {
	stream.Options
	layer       int
	tcp, served bool
	end         string // how the connection ends, unless it fails before
	endsAfter   time.Duration
	damage      [2]damage // of Read and Write
	closeRead   bool

	seed   [2]uint64
	rngs   atomic.Uint64
	report func(format string, args ...any)
	conn   *faultyConn
	peer   *modelPeer
	server *stream.Server
	cancel context.CancelFunc
	ending atomic.Bool // the connection may end with packets that are held back
	failed atomic.Bool // a call returned an error that concerns the stream
	closed atomic.Bool // Close returned nil before any of that

	mu    sync.Mutex
	calls []writeCall
}

// A writeCall is a call that wrote a packet.
type writeCall struct {
	packet []byte
	number int // in its goroutine
	writer int
	err    error
	before bool // it returned before the connection was closed
}

// rng returns random numbers for one goroutine.
func (p *play) rng() *rand.Rand {
	return rand.New(rand.NewPCG(p.seed[0], p.seed[1]<<8|p.rngs.Add(1)))
}

// newPlay returns a random play.
func newPlay(seed, n uint64) *play {
	p := &play{seed: [2]uint64{seed, n}}
	r := p.rng()
	timeout := func(off bool) time.Duration {
		if off && r.IntN(3) == 0 {
			return 0
		}
		return time.Duration(2+r.IntN(15)) * time.Millisecond
	}
	p.layer, p.tcp, p.served = r.IntN(layers), r.IntN(4) == 0, r.IntN(2) == 0
	ends := []string{"", "Close", "CloseWithCode", "context"}
	if p.served {
		ends = append(ends, "Shutdown", "Server.Close")
	}
	p.end, p.endsAfter = ends[r.IntN(len(ends))], time.Duration(r.IntN(6000))*time.Microsecond
	interrupts := p.end != "" && p.end != "Shutdown"
	p.Options = stream.Options{
		MaxPacket: modelMax, BufferWrites: r.IntN(2) == 0, DrainTimeout: timeout(false), HandshakeTimeout: 200 * time.Millisecond,
		WriteTimeout: timeout(interrupts), ReadTimeout: timeout(p.end != ""), IdleTimeout: timeout(p.end != ""),
	}
	p.closeRead = r.IntN(6) == 0
	peer := &modelPeer{messages: p.layer >= knownMessages, stopsAt: -1, ends: 1 << 30, closes: r.IntN(3) == 0, rng: p.rng(), over: make(chan struct{})}
	for range r.IntN(12) {
		peer.sends = append(peer.sends, p.randomPacket(r))
	}
	if r.IntN(3) == 0 {
		peer.stopsAt = r.IntN(1 << r.IntN(18))
	}
	if r.IntN(4) == 0 {
		peer.ends = r.IntN(1 << r.IntN(18))
	}
	p.peer = peer
	if r.IntN(3) == 0 {
		p.damage = [2]damage{damage(r.IntN(int(damages))), damage(r.IntN(int(damages)))}
	}
	return p
}

func (p *play) String() string {
	return fmt.Sprintf("play %d of seed %d: layer %d, TCP %v, served %v, ends by %q, damage %v, peer stops at %d, ends at %d, closes %v, %+v",
		p.seed[1], p.seed[0], p.layer, p.tcp, p.served, p.end, p.damage, p.peer.stopsAt, p.peer.ends, p.peer.closes, p.Options)
}

// modelPacket returns a packet with a PackedByteArray that tells who wrote it and the number of the call.
func modelPacket(writer, number, size int) []byte {
	b := []byte{29, 0, 0, 0}
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	b = append(b, byte(writer))
	b = binary.LittleEndian.AppendUint32(b, uint32(number))
	for i := 5; i < size || i%4 > 0; i++ {
		b = append(b, byte((number+i)*(i/256+1)))
		if i >= size {
			b[len(b)-1] = 0
		}
	}
	return b
}

// randomSize returns the size of a PackedByteArray: most are small, and some are around the size of a buffer.
func randomSize(r *rand.Rand) int {
	switch r.IntN(12) {
	case 0:
		return 16<<10 - 40 + 4*r.IntN(20)
	case 1:
		return 5 + r.IntN(modelMax-20)
	}
	return 5 + r.IntN(300)
}

// randomPacket returns a packet for the peer to send, valid or not.
func (p *play) randomPacket(r *rand.Rand) []byte {
	b := modelPacket(9, r.IntN(1000), randomSize(r))
	switch r.IntN(12) {
	case 0:
		return nil
	case 1:
		return []byte{200, 0, 0, 0}
	case 2:
		return b[:len(b)-1-r.IntN(5)]
	case 3:
		if p.layer < knownMessages { // the end of a WebSocket
			return make([]byte, modelMax+1)
		}
	}
	return b
}

// final reports whether err is an error after which a call is not repeated.
func final(err error) bool {
	return err != nil && !stream.Skippable(err) && !errors.Is(err, os.ErrDeadlineExceeded)
}

// call calls f, which must return in time.
func (p *play) call(name string, f func() error) error {
	late := time.AfterFunc(patience, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("%s does not return: %v", name, p))
	})
	defer late.Stop()
	err := f()
	if err != nil && !stream.Skippable(err) {
		p.failed.Store(true)
	}
	if p.layer == plain && errors.Is(err, stream.ErrBroken) && name != "Next" {
		p.conn.ended.Store(true)
	}
	stream.Scribble()
	return err
}

// write makes random calls that write.
func (p *play) write(c *stream.Conn, writer int) {
	r := p.rng()
	for number := range 1 + r.IntN(8) {
		packet := modelPacket(writer, number, randomSize(r))
		var err error
		switch r.IntN(10) {
		case 0:
			if err = p.call("Flush", c.Flush); final(err) {
				return
			}
			continue
		case 1:
			err = p.call("WritePacket", func() error {
				return c.WritePacket(func(e *gdwire.Encoder) error { return errors.Join(e.WriteRaw(packet), errOwn) })
			})
			if err == nil {
				p.report("an error of a function was lost")
			}
		case 2, 3, 4:
			err = p.call("WriteRaw", func() error { return c.WriteRaw(packet) })
		default:
			err = p.call("WritePacket", func() error {
				return c.WritePacket(func(e *gdwire.Encoder) error {
					content := packet[8:][:binary.LittleEndian.Uint32(packet[4:])]
					err, werr := e.BeginPacked(gdwire.TypePackedByteArray, int64(len(content))), error(nil)
					for len(content) > 0 && err == nil && werr == nil {
						n := min(len(content), 1+r.IntN(5000))
						_, werr = e.Write(content[:n])
						content = content[n:]
					}
					return errors.Join(err, werr, e.End())
				})
			})
		}
		p.mu.Lock()
		p.calls = append(p.calls, writeCall{packet, number, writer, err, !p.ending.Load()})
		p.mu.Unlock()
		if final(err) && !errors.Is(err, errOwn) {
			return
		}
	}
}

// read makes random calls that read, and compares with the packets that the peer sends.
func (p *play) read(c *stream.Conn) {
	r := p.rng()
	var err error
	var n int
	var part []byte
	continues := false // with part, by NextRaw
	timeouts := 0
	for n = 0; ; {
		raw := r.IntN(3) == 0 || continues
		var got []byte
		var d *gdwire.Decoder
		err = p.call("Next", func() (err error) {
			if !raw {
				d, err = c.Next()
				return err
			}
			got, err = c.NextRaw(part)
			return err
		})
		part, continues = nil, false
		if errors.Is(err, os.ErrDeadlineExceeded) {
			part, continues = got, raw
			if timeouts++; timeouts > 2 {
				break
			}
			continue
		}
		if final(err) {
			break
		}
		if n++; n > len(p.peer.sends) {
			p.report("Next returned %d packets, but the peer sent %d", n, len(p.peer.sends))
			return
		}
		sent := p.peer.sends[n-1]
		switch {
		case (err != nil) != (len(sent) == 0 || len(sent) > modelMax):
			p.report("packet %d of %d bytes: %v", n, len(sent), err)
		case err != nil:
		case raw && !bytes.Equal(got, sent):
			p.report("packet %d of %d bytes is another one of %d", n, len(sent), len(got))
		case !raw && c.PacketSize() != int64(len(sent)):
			p.report("packet %d of %d bytes has %d", n, len(sent), c.PacketSize())
		case !raw && r.IntN(4) > 0:
			p.decode(d, sent)
		}
	}
	// A TCP connection that is closed with unread bytes is reset, and loses the bytes that it has not sent yet.
	if (err == io.EOF || err == io.ErrUnexpectedEOF) && !p.conn.fired.Load() && !(p.tcp && p.peer.closes) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls = append(p.calls, writeCall{number: n, writer: -1, err: err}) // see check
	}
}

// decode reads the first token, and compares the bytes that it contains of a PackedByteArray.
func (p *play) decode(d *gdwire.Decoder, sent []byte) {
	tok, err := d.ReadToken()
	for err == nil && tok.Type() != gdwire.TypePackedByteArray {
		tok, err = d.ReadToken() // an invalid packet, or an error of the stream that Next repeats
	}
	if b := tok.Bytes(); err == nil && !bytes.HasPrefix(sent[8:], b) {
		p.report("other bytes of a PackedByteArray: %v, not %v", b, sent[8:])
	}
}

// handle makes all calls of a play.
func (p *play) handle(ctx context.Context, c *stream.Conn) {
	var writers, others sync.WaitGroup
	for i := range 2 {
		writers.Go(func() { p.write(c, i) })
	}
	others.Go(func() {
		for range 5 {
			_ = p.call("Stats", func() error { c.Stats(); return nil })
		}
	})
	var ends *time.Timer
	ended := make(chan struct{})
	if p.end != "" {
		ends = time.AfterFunc(p.endsAfter, func() {
			defer close(ended)
			p.finish(c)
		})
	}
	others.Go(func() {
		if p.closeRead {
			<-c.CloseRead(ctx).Done()
		} else {
			p.read(c)
		}
	})
	_ = p.call("a Write", func() error { writers.Wait(); return nil })
	if ends != nil {
		<-ended
	} else if p.closeRead {
		p.finish(c) // CloseRead waits without a timeout
	}
	_ = p.call("a read", func() error { others.Wait(); return nil })
}

// finish ends the connection.
func (p *play) finish(c *stream.Conn) {
	failed := p.failed.Load()
	p.ending.Store(true)
	switch p.end {
	case "CloseWithCode":
		p.close(c, failed, func() error { return c.CloseWithCode(4000, "of a play") })
	case "context":
		p.cancel()
	case "Shutdown":
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		defer cancel()
		err := p.call("Shutdown", func() error {
			if err := p.server.Shutdown(ctx); err != ctx.Err() {
				return err
			}
			return nil
		})
		if err != nil {
			p.report("Shutdown: %v", err)
		}
	case "Server.Close":
		_ = p.call("Server.Close", p.server.Close)
	default:
		p.close(c, failed, c.Close)
	}
}

// close calls f, which closes c.
func (p *play) close(c *stream.Conn, failed bool, f func() error) {
	if p.call("Close", f) == nil && !failed {
		p.closed.Store(true)
	}
	if p.layer == plain {
		p.conn.ended.Store(true)
	}
	if c.WriteRaw([]byte{0, 0, 0, 0}) == nil {
		p.report("WriteRaw returned no error after Close")
	}
}

// run plays p over a pair of connections.
func (p *play) run(ours, theirs net.Conn, serverTLS, clientTLS *tls.Config) {
	r := p.rng()
	at := func() int { return r.IntN(1 << r.IntN(18)) }
	p.conn = &faultyConn{
		Conn: ours, in: direction{damage: p.damage[0], at: at(), rng: p.rng()},
		out: direction{damage: p.damage[1], at: at(), rng: p.rng(), silent: p.layer != secure && r.IntN(2) == 0},
	}
	if p.conn.in.damage == cutShort {
		p.conn.in.damage = noDamage
	}
	var conn net.Conn = p.conn
	if p.tcp {
		conn = faultyTCP{p.conn}
	}
	p.peer.under, p.peer.conn = theirs, theirs
	if p.layer == secure {
		conn, p.peer.conn = tls.Server(conn, serverTLS), tls.Client(theirs, clientTLS)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.cancel = cancel
	if p.layer == knownMessages {
		ctx = stream.WithNetConn(ctx, conn)
	}
	p.peer.start()
	p.server = &stream.Server{Options: p.Options, Logger: quiet(), Handler: func(ctx context.Context, c *stream.Conn) error {
		p.handle(ctx, c)
		return nil
	}}
	var c *stream.Conn
	if p.layer >= knownMessages {
		wait := 1100 * time.Millisecond // longer than Close of a Conn, and shorter than that of the real ones
		if p.layer == knownMessages {
			wait = 0
		}
		c = stream.NewMessageConn(ctx, newLineSocket(conn, wait), &p.Options)
	} else {
		c = stream.NewConn(ctx, conn, &p.Options)
	}
	if p.served {
		_ = p.call("ServeConn", func() error { p.server.ServeConn(c); return nil })
		if n := p.server.Stats().Conns; n != 0 {
			p.report("%d connections are left", n)
		}
	} else {
		p.handle(ctx, c)
		_ = p.call("Close", c.Close)
	}
	if next(c) == nil || c.WriteRaw([]byte{0, 0, 0, 0}) == nil {
		p.report("a call returned no error after the end")
	}
	close(p.peer.over)
	_ = p.call("the peer", func() error { p.peer.all.Wait(); return nil })
	if stream.HoldsBuffer(c) {
		p.report("a buffer is left")
	}
	if p.conn.late.Load() {
		p.report("something was written after the end")
	}
	p.check()
}

// check compares the packets that the peer received with the calls that wrote.
func (p *play) check() {
	got, rest := p.peer.packets()
	delivered := map[string]int{}
	for i, packet := range got {
		delivered[string(packet)] = i
	}
	if len(delivered) < len(got) {
		p.report("a packet was delivered twice")
	}
	latest := map[int]int{0: -1, 1: -1}
	partial := len(rest) < 4
	for _, c := range p.calls {
		if c.writer < 0 {
			more := c.number - p.peer.whole
			if more == 1 && (p.layer == secure || c.err == io.ErrUnexpectedEOF) {
				more = 0 // a Write over TLS can fail after the last byte, and Next returns before a large packet ends
			}
			if more != 0 {
				p.report("Next returned %d packets, then io.EOF, but %d were sent", c.number, p.peer.whole)
			}
			continue
		}
		at, ok := delivered[string(c.packet)]
		delete(delivered, string(c.packet))
		switch {
		case ok && errors.Is(c.err, errOwn):
			p.report("packet %d of %d was delivered, but its function failed", c.number, c.writer)
		case ok && at < latest[c.writer]:
			p.report("packet %d of %d was delivered before an earlier one", c.number, c.writer)
		case ok:
			latest[c.writer] = at
		case c.err == nil && p.mustDeliver(c):
			p.report("packet %d of %d was not delivered, but its call returned no error", c.number, c.writer)
		}
		partial = partial || bytes.HasPrefix(framed(binary.LittleEndian, c.packet), rest)
	}
	if len(delivered) > 0 {
		p.report("%d packets were delivered that nobody wrote", len(delivered))
	}
	if !partial {
		p.report("%d bytes are of no packet", len(rest))
	}
}

// mustDeliver reports whether the peer must have received the packet of a call without an error.
func (p *play) mustDeliver(c writeCall) bool {
	undisturbed := !p.peer.stopped && !p.conn.fired.Load() && !p.peer.closes
	switch {
	case p.tcp && p.layer == unknownMessages: // its Close, which waits for a second at most, resets a connection whose peer is slower
		return false
	case p.tcp: // bytes in the kernel are lost if the connection is reset
		return undisturbed && p.served && !p.failed.Load() && p.end != "context" && p.end != "Server.Close"
	case p.layer == secure && !undisturbed: // its peer reads ahead
		return false
	case p.BufferWrites && p.layer < knownMessages:
		return p.closed.Load() && c.before && !p.failed.Load()
	}
	return true // a Write to a pipe returns when the peer has read
}

// TestConnModel plays many connections. GDWIRE_CONNS is their number, and GDWIRE_SEED repeats a run.
func TestConnModel(t *testing.T) {
	conns, seed := 300, rand.Uint64N(1<<32)
	if testenv.Full() {
		conns = 5000
	}
	for name, n := range map[string]func(n int){"GDWIRE_CONNS": func(n int) { conns = n }, "GDWIRE_SEED": func(n int) { seed = uint64(n) }} {
		if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
			n(v)
		}
	}
	serverTLS, clientTLS := tlsConfigs(t)
	check, files := testenv.NoGoroutines(t), openFiles()
	ln := listen(t)
	var dialing sync.Mutex
	pair := func(tcp bool) (ours, theirs net.Conn) {
		if !tcp {
			return net.Pipe()
		}
		dialing.Lock()
		defer dialing.Unlock()
		theirs, err := net.Dial("tcp", ln.Addr().String())
		require.NoError(t, err)
		ours, err = ln.Accept()
		require.NoError(t, err)
		return ours, theirs
	}
	var all sync.WaitGroup
	limit := make(chan struct{}, 64)
	for n := range conns {
		limit <- struct{}{}
		all.Go(func() {
			defer func() { <-limit }()
			p := newPlay(seed, uint64(n))
			p.report = func(format string, args ...any) { t.Errorf("%s\n%v", fmt.Sprintf(format, args...), p) }
			ours, theirs := pair(p.tcp)
			p.run(ours, theirs, serverTLS, clientTLS)
		})
	}
	all.Wait()
	require.NoError(t, ln.Close())
	for range 10_000 { // a connection that was closed may still be at its last instruction
		if openFiles() <= files {
			break
		}
		runtime.Gosched()
	}
	require.LessOrEqual(t, openFiles(), files, "descriptors are left")
	check()
}

// openFiles returns the number of open descriptors, or 0 if the system does not tell.
func openFiles() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}
