package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/bits"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/base/quota"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/stream"
)

// Lines about packets, and the connections that are accepted.

// plainText returns the first width columns, or more, of a valid packet as plain JSON.
func plainText(packet []byte, o *save.Reading, width int) string {
	const column = 4 // maximum number of bytes in a column
	short := &shortWriter{remaining: column * width}
	d := o.NewDecoder()
	defer d.Release()
	d.ResetBytes(packet)
	_ = gdjson.ToJSON(short, d, gdjson.Options{Plain: true, EscapeForTerminal: true}) // the only error is the cut
	return short.String()
}

// following returns text about any bytes after the value in a packet, with the value at their start, of width
// columns or more.
func following(u *save.Unpacked, o *save.Reading, width int) string {
	if u.Err != nil || u.Trailing == 0 {
		return ""
	}
	text := fmt.Sprintf("%d bytes follow", u.Trailing)
	if next := o.Second(u); next != nil {
		text += ": " + plainText(next, o, width)
	}
	return text
}

// A headReader keeps the first bytes that it reads.
type headReader struct {
	io.Reader
	head []byte
	done bool // no more are kept
}

// maxHead is the maximum number of bytes kept.
const maxHead = 4 << 10

func (h *headReader) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if !h.done {
		h.head = append(h.head, b[:min(n, maxHead-len(h.head))]...)
	}
	return n, err
}

// forget frees the bytes.
func (h *headReader) forget() { h.head, h.done = nil, true }

// unprefixed returns an error that names the first value if the bytes are values without lengths, of which the last can be cut
// only if not all bytes were kept.
func (h *headReader) unprefixed(o *save.Reading) error {
	formats := []gdwire.Format{o.Decoder.Format}
	if o.Decoder.Format == 0 {
		formats = []gdwire.Format{gdwire.Godot4, gdwire.Godot3}
	}
	for _, format := range formats {
		as := save.Reading{Decoder: o.Decoder}
		as.Decoder.Format, as.Decoder.Strict = format, true
		d := gdwire.NewDecoder(nil, &as.Decoder)
		defer d.Release()
		d.ResetBytes(h.head)
		first, err := d.ReadToken()
		for rest := h.head; err == nil && len(rest) > 0; rest = rest[d.InputOffset():] {
			d.ResetBytes(rest) // for each value, or a strict Decoder would refuse the bytes after it
			if err = d.SkipValue(); err != nil && len(rest) < len(h.head) && len(h.head) == maxHead && errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
				break
			}
		}
		if err == nil && first.Kind() != gdwire.KindNil {
			return fmt.Errorf("a whole value (%v %s) without the length that put_var writes", first.Type(), shell.Cut(plainText(h.head, &as, viewColumns/2), viewColumns/2))
		}
	}
	return nil
}

// A skipFinder finds the -skip that makes values of otherwise invalid packets.
type skipFinder struct {
	row int    // packets one after the other, and
	fit uint64 // bit N: all of them are values from byte N
}

// find adds a packet and returns a -skip for several packets, or 0.
func (f *skipFinder) find(packet []byte, u *save.Unpacked, o *save.Reading) int {
	const enough = 3
	switch {
	case o.Skip > 0, len(packet) == 0, u.Trailing > 0 && o.AreValues(packet): // these tell nothing
		return 0
	case u.Err == nil && u.Trailing == 0:
		*f = skipFinder{}
		return 0
	}
	fit := uint64(0)
	for _, n := range save.Skips {
		if o.BeginsAt(packet, n) && packet[n] != 0 { // null is no evidence
			fit |= 1 << n
		}
	}
	if f.row == 0 || f.fit&fit == 0 {
		*f = skipFinder{fit: ^uint64(0)}
	}
	f.fit &= fit
	if f.row++; f.fit == 0 {
		f.row = 0
	}
	if f.row < enough {
		return 0
	}
	return bits.TrailingZeros64(f.fit)
}

// proposeSkip proposes a -skip other than 0.
func proposeSkip(once *sync.Once, n int, logf func(format string, args ...any)) {
	if n > 0 {
		once.Do(func() { logf("the values of several packets begin at byte %d: -skip %[1]d shows them", n) })
	}
}

// A shortWriter accepts a limited number of bytes.
type shortWriter struct {
	strings.Builder
	remaining int
}

func (w *shortWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.remaining)
	w.remaining -= n
	_, _ = w.Builder.Write(p[:n])
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// viewColumns is the number of columns of a packet in a page.
const viewColumns = 160

// newLive returns the list of packets for a page.
func newLive(o save.Reading) *page.Live {
	return page.NewLive(func(packet []byte, decoder gdwire.DecoderOptions) string {
		one := o
		one.Decoder = decoder
		return shell.Cut(plainText(packet, &one, viewColumns), viewColumns)
	})
}

// A line is a piece of output.
type line struct {
	w    io.Writer
	text string
}

// lines writes lines in a goroutine, so that add does not wait for a slow output, and counts
// packets that cannot be shown in time.
type lines struct {
	maxBytes   int // maximum of waiting bytes
	flush      func() error
	fail       func(error)                     // called with the first error of the output
	missedLine func(missed, bytes string) line // returns the line about the packets missed
	done       chan struct{}                   // closed after the last line
	wake       chan struct{}

	mu      sync.Mutex
	waiting []line
	size    int    // of waiting
	missed  int64  // packets since the last note
	bytes   uint64 // of them
	closed  bool
}

// start starts the goroutine.
func (l *lines) start() {
	l.done, l.wake = make(chan struct{}), make(chan struct{}, 1)
	go l.run()
}

// add adds a line about a packet of size bytes, or counts the packet if there is no room.
func (l *lines) add(w io.Writer, text string, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.maxBytes
	if l.missed > 0 {
		most /= 2 // wait for more room, or every second line would say that lines were missed
	}
	if l.size > 0 && l.size+len(text) > most {
		l.missed++
		l.bytes += uint64(size)
		return
	}
	l.noteMissed()
	l.push(line{w, text})
}

// miss counts a packet that cannot wait to be shown.
func (l *lines) miss(size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed++
	l.bytes += uint64(size)
}

// noteMissed adds a line about the packets missed. l is locked.
func (l *lines) noteMissed() {
	if l.missed > 0 {
		l.push(l.missedLine(humanize.Comma(l.missed), humanize.Bytes(l.bytes)))
		l.missed, l.bytes = 0, 0
	}
}

// push adds a line. l is locked.
func (l *lines) push(one line) {
	l.waiting = append(l.waiting, one)
	l.size += len(one.text)
	l.signal()
}

// signal wakes run.
func (l *lines) signal() {
	select {
	case l.wake <- struct{}{}:
	default: // the previous signal is still pending
	}
}

// close ends the output after all lines.
func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteMissed()
	l.closed = true
	l.signal()
}

// run writes lines until close.
func (l *lines) run() {
	defer close(l.done)
	failed := false
	for range l.wake {
		l.mu.Lock()
		all, closed := l.waiting, l.closed
		l.waiting = nil
		l.mu.Unlock()
		if err := l.write(all); err != nil && !failed {
			failed = true
			l.fail(err)
		}
		if closed {
			return
		}
	}
}

// write writes lines. A line counts as waiting until it is written.
func (l *lines) write(all []line) (err error) {
	for _, one := range all {
		_, failed := io.WriteString(one.w, one.text)
		err = cmp.Or(err, failed)
		l.mu.Lock()
		l.size -= len(one.text)
		l.mu.Unlock()
	}
	return cmp.Or(err, l.flush())
}

// An acceptor calls handle for each connection of a listener, and then closes the connection.
type acceptor struct {
	options stream.Options // a timeout of 0 is off
	handle  func(ctx context.Context, c *stream.Conn, number int64)
	logf    func(format string, args ...any)
	count   atomic.Int64 // connections
}

// run accepts connections until ctx is done, and returns after all handlers, with the error if
// one ended ln before. The number of connections is not limited: handle itself can wait.
func (a *acceptor) run(ctx context.Context, ln net.Listener) error {
	log := &serverLog{logf: a.logf}
	s := &stream.Server{
		Handler: func(ctx context.Context, c *stream.Conn) error {
			log.reset()
			a.handle(ctx, c, a.count.Add(1))
			return nil
		},
		Options: a.options, MaxConns: -1, MaxReading: -1, Logger: slog.New(log),
	}
	for _, timeout := range []*time.Duration{&s.Options.ReadTimeout, &s.Options.WriteTimeout, &s.Options.IdleTimeout} {
		if *timeout <= 0 {
			*timeout = -1
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	err := s.Serve(ln)
	_ = s.Close()
	_ = s.Shutdown(context.Background()) // waits for the handlers
	if err == stream.ErrServerClosed {
		return nil
	}
	return err
}

// A serverLog, the slog.Handler of a stream.Server, shows an error repeated again and again
// only once, until a connection is accepted.
type serverLog struct {
	logf func(format string, args ...any)

	mu   sync.Mutex
	last string
}

func (l *serverLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *serverLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *serverLog) WithGroup(string) slog.Handler            { return l }

func (l *serverLog) Handle(_ context.Context, r slog.Record) error {
	text := strings.TrimPrefix(r.Message, "gdwire/stream: ")
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "error":
			text += ": " + a.Value.String()
		case "retry":
			text += "; waiting"
		default:
			text += fmt.Sprintf(", %s %v", a.Key, a.Value)
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if text != l.last {
		l.logf("%s", text)
	}
	l.last = text
	return nil
}

// reset lets the latest message be shown again.
func (l *serverLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = ""
}

const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = time.Second
)

// retry calls try until ctx is done or a call succeeds or fails with an error other than a
// temporary one. It calls logErr with the first temporary error, such as too many open files.
func retry[T any](ctx context.Context, logErr func(error), try func() (T, error)) (T, error) {
	told := false
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		v, err := try()
		var temporary interface{ Temporary() bool }
		if err == nil || ctx.Err() != nil || !errors.As(err, &temporary) || !temporary.Temporary() {
			return v, err
		}
		if !told {
			logErr(err)
			told = true
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// maxPacket returns the largest length of a packet.
func maxPacket(o *save.Reading) int64 {
	if o.MaxPacket < 0 {
		return math.MaxUint32
	}
	return cmp.Or(o.MaxPacket, stream.DefaultMaxPacket)
}

// maxHeldTurns is the maximum number of bytes of packets that all connections together read, or wait to be shown, besides one packet of
// any size. Packets of up to maxKept bytes, which is also the size of the largest packet memory kept for the next packet, do not count.
const (
	maxHeldTurns = 256 << 20
	maxKept      = 16 << 10
)

// A turnListener accepts connections taking turns.
type turnListener struct {
	net.Listener
	held *quota.Quota
}

// Accept returns the next connection, a *turnConn.
func (l *turnListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newTurnConn(conn, l.held), nil
}

// A turnConn is a connection that waits while the packets of all connections take too much memory. Bytes count that arrived, so a
// connection that sends nothing, or only declares a length, keeps no other from being read.
type turnConn struct {
	net.Conn
	held   *quota.Quota
	head   headReader // of Conn
	ctx    context.Context
	packet *stream.Conn // reads from this connection; nil without turns
	in     int64        // the number of bytes read

	recorder *record.Recorder // of -record, or nil
	number   int64
	file     *os.File // of the recording; is created for the first byte
}

func newTurnConn(conn net.Conn, held *quota.Quota) *turnConn {
	return &turnConn{Conn: conn, held: held, head: headReader{Reader: conn}}
}

// start begins the turns of the connection, read by c, and returns the packets.
func (t *turnConn) start(ctx context.Context, c *stream.Conn) turnPackets {
	t.ctx, t.packet = ctx, c
	return turnPackets{c, t}
}

// Read reads bytes, and returns them when they fit.
func (t *turnConn) Read(p []byte) (int, error) {
	if t.packet == nil {
		return t.head.Read(p)
	}
	start := t.packet.PacketOffset()
	end := start + t.packet.PacketSize()
	if t.in >= end { // all packets were read whole, and shown
		t.held.Release(t)
		start = end
	}
	n, err := t.head.Read(p)
	t.in += int64(n)
	if t.recorder != nil && n > 0 {
		t.record(p[:n])
	}
	if held := t.in - start; held > maxKept {
		if granted := t.held.Hold(t, held, max(end-t.in, 0)); granted != nil {
			select {
			case <-granted:
			case <-t.ctx.Done():
			}
		}
	}
	return n, err
}

// record appends bytes to the file of the recording.
func (t *turnConn) record(b []byte) {
	if t.file == nil {
		var err error
		t.file, err = t.recorder.File(t.number, record.FromClient)
		t.recorder.Fail(err)
	}
	t.recorder.Write(t.file, b)
}

// stop ends the turns and the recording. Bytes read afterwards are discarded.
func (t *turnConn) stop() {
	t.held.Release(t)
	t.packet = nil
	if t.file != nil {
		t.recorder.Fail(t.file.Close())
	}
}

// CloseWrite closes the writing side, as those of TCP and Unix sockets do.
func (t *turnConn) CloseWrite() error { return t.Conn.(interface{ CloseWrite() error }).CloseWrite() }

// turnPackets are the packets of a turnConn. Those of silent connections hold little memory.
type turnPackets struct {
	*stream.Conn
	from *turnConn
}

// NextRaw returns the next packet, in dst if dst is small, and adds it to the index of the recording.
func (t turnPackets) NextRaw(dst []byte) ([]byte, error) {
	if cap(dst) > maxKept {
		dst = nil
	}
	b, err := t.Conn.NextRaw(dst)
	if r := t.from.recorder; r != nil && err == nil {
		const length = 4 // before the packet
		r.Add(time.Now(), record.Packet{Connection: t.from.number, Offset: t.PacketOffset() - length, Length: length + int64(len(b))})
	}
	return b, err
}
