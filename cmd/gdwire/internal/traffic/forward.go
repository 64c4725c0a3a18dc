package traffic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/netem"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
)

// The proxyFlags are the flags of proxy.
type proxyFlags struct {
	open        open.Flags
	webSocket   bool   // -frame ws
	lines       bool   // -json
	dropInvalid bool   // -drop-invalid
	record      string // -record
	packets     int64  // -n
	view        bool   // -view
	noOpen      *bool
	network     networkFlags
	changes     changeFlags
	target      target
}

// A proxyServer forwards connections to a server and shows their packets.
type proxyServer struct {
	*shell.Stdio
	options *proxyFlags
	framing framing          // before anything is recognized
	live    *view.Live       // of -view, or nil
	record  *record.Recorder // of -record, or nil
	network *netem.Network   // or nil
	end     context.CancelFunc
	lines   lines // of output and errors

	mu        sync.Mutex
	remaining int64 // number of packets until the end, or negative for no end
	err       error
	packets   [2]int64 // from clients and from servers
	invalid   int64
	changed   int64           // by -set
	dropped   int64           // by -drop-if
	failed    map[string]bool // lines of -set of which an error was told
	bytes     [2]atomic.Int64
}

// maxWaiting is the number of bytes that can wait to be shown.
const maxWaiting = 16 << 20

// logWaiting writes a message that says why the proxy waits.
func (p *proxyServer) logWaiting(err error) { p.logf("%v; waiting", err) }

// logf adds a message for errs to the lines.
func (p *proxyServer) logf(format string, args ...any) {
	p.lines.add(p.Errs, "gdwire: "+shell.Printable(fmt.Sprintf(format, args...))+"\n")
}

// summary adds a message with the totals.
func (p *proxyServer) summary(connections int64) {
	p.logf("%d connections; from clients %d packets, %d bytes; from the server %d packets, %d bytes; %d invalid",
		connections, p.packets[0], p.bytes[0].Load(), p.packets[1], p.bytes[1].Load(), p.invalid)
	if p.options.changes.any() {
		p.logf("%d packets were changed by -set, and %d dropped by -drop-if", p.changed, p.dropped)
	}
	if p.network != nil {
		p.logf("%s", p.network.Report())
	}
}

// logConn adds a message about a connection.
func (p *proxyServer) logConn(number int64, format string, args ...any) {
	p.logf("#%d: %s", number, fmt.Sprintf(format, args...))
}

// A direction is one direction of a connection.
type direction struct {
	*proxyServer
	number   int64
	way      int // 0 from client to server, 1 from server to client
	from, to net.Conn
	out      sender     // of to
	input    io.Reader  // of from
	file     *os.File   // of -record, or nil
	pieces   chan piece // forwarded and not shown yet
	offset   int64      // after the latest message
}

// A piece is bytes that arrived at a time.
type piece struct {
	bytes []byte
	at    time.Time
}

var arrows = [2]string{"->", "<-"}

// deliver writes bytes to the other side.
func (d *direction) deliver(b []byte) error {
	_, err := d.to.Write(b)
	return err
}

// forward forwards all bytes and the end of the stream.
func (d *direction) forward(ctx context.Context) {
	if d.record != nil {
		f, err := retry(ctx, d.logWaiting, func() (*os.File, error) {
			return d.record.File(d.number, record.Direction(d.way))
		})
		if err != nil {
			d.stop(err)
			return
		}
		defer func() { _ = f.Close() }()
		d.file = f
	}
	if d.way == 0 {
		d.input = &handshakeReader{r: d.from, url: d.options.target.url, removed: func() {
			d.logConn(d.number, "%s the extensions were taken out of the WebSocket handshake, because compressed messages cannot be shown", arrows[d.way])
		}}
	}
	if d.options.filters() {
		d.filter(ctx)
	} else {
		d.copy()
	}
	_ = d.out.Close()
	if c, ok := d.to.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}

// maxPieces is the maximum number of pieces that wait to be shown. If half as many wait, packets
// are counted instead of shown.
const maxPieces = 1024

// maxViewed is the maximum number of waiting pieces with which packets are still added to the
// page of -view.
const maxViewed = 64

// copy forwards bytes as they arrive. Another goroutine shows the packets in them: the
// output does not delay them.
func (d *direction) copy() {
	d.pieces = make(chan piece, maxPieces)
	r := &pieceReader{pieces: d.pieces, end: io.EOF}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		d.showFile(r)
		for range d.pieces { // forward without showing
		}
	}()
	buf := make([]byte, shell.BufferSize)
	for {
		n, err := d.input.Read(buf)
		if n > 0 {
			d.recordBytes(buf[:n])
			if _, err := d.out.Send(buf[:n]); err != nil {
				break
			}
			if r.end != errBehind {
				select {
				case d.pieces <- piece{append([]byte(nil), buf[:n]...), time.Now()}:
				default:
					r.end = errBehind
					d.logConn(d.number, "%s packets arrive faster than they can be counted; the rest is only forwarded", arrows[d.way])
				}
			}
		}
		if err != nil {
			break
		}
	}
	close(d.pieces)
	<-shown
}

// recordBytes counts bytes and appends them to the file of -record.
func (d *direction) recordBytes(b []byte) {
	d.bytes[d.way].Add(int64(len(b)))
	if d.file != nil {
		if _, err := d.file.Write(b); err != nil {
			d.stop(err)
		}
	}
}

// index adds a message that arrived at a time to the index of -record if it is a packet that was
// forwarded.
func (d *direction) index(m message, at time.Time, forwarded bool) {
	from, n := d.offset, int64(len(m.raw))
	d.offset += n
	if d.record == nil || m.packet == nil || !forwarded {
		return
	}
	if err := d.record.Add(at, record.Packet{Connection: d.number, Direction: record.Direction(d.way), Offset: from, Length: n}); err != nil {
		d.stop(err)
	}
}

// stop ends the proxy with an error.
func (p *proxyServer) stop(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	p.end()
}

// A pieceReader reads pieces of a stream.
type pieceReader struct {
	pieces <-chan piece
	rest   []byte
	at     time.Time // at which the latest piece arrived
	end    error     // after the last piece: EOF, or errBehind; read only after pieces is closed
}

// errBehind ends the pieces after which bytes were only forwarded, as a message has said.
var errBehind = errors.New("behind")

func (r *pieceReader) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		piece, ok := <-r.pieces
		if !ok {
			return 0, r.end
		}
		r.rest, r.at = piece.bytes, piece.at
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// showFile shows the packets in a stream, up to the first error in their framing.
func (d *direction) showFile(r *pieceReader) {
	o := d.framing
	err := d.each(r, &o, func(m message) error {
		d.index(m, r.at, true)
		return nil
	})
	if err != io.EOF && err != errBehind {
		d.logConn(d.number, "%s %v; what follows is only forwarded", arrows[d.way], err)
	}
}

// filter forwards packets after receiving all of each, but those that -drop-invalid and -drop-if drop. What was received is
// recorded.
func (d *direction) filter(ctx context.Context) {
	o := d.framing
	err := d.each(d.input, &o, func(m message) error {
		d.recordBytes(m.raw)
		sent, err := !m.dropped && (m.valid || !d.options.dropInvalid), error(nil)
		switch {
		case m.packet == nil:
			err = d.out.SendAll(m.raw)
		case sent:
			sent, err = d.out.Send(m.forwarded)
		}
		d.index(m, time.Now(), sent)
		return err
	})
	if err != io.EOF && ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
		d.logConn(d.number, "%s %v; the connection is closed", arrows[d.way], err)
		_ = d.from.Close()
	}
}

// each shows each message in a stream and then calls do.
func (d *direction) each(r io.Reader, o *framing, do func(message) error) error {
	messages, err := newMessages(r, o, func(note string) { d.logConn(d.number, "%s %s", arrows[d.way], note) })
	if err != nil {
		return err
	}
	for {
		m, err := messages.next()
		if err != nil {
			return err
		}
		m.valid, m.forwarded = true, m.raw
		if m.packet != nil {
			s := d.show(m.packet, o)
			m.valid, m.dropped = s.Err == nil, s.dropped
			if s.changed {
				m.forwarded = messages.encode(&m, s.packet, d.way == 0)
			}
		}
		if err := do(m); err != nil {
			return err
		}
	}
}

// clock is the form of the time of a packet.
const clock = "15:04:05.000"

// A shown packet is one as it is forwarded, unless it is dropped, and the value in it.
type shown struct {
	save.Unpacked
	packet           []byte
	changed, dropped bool // by -set and -drop-if
}

// show shows a packet as it is forwarded.
func (d *direction) show(packet []byte, o *framing) shown {
	if len(d.pieces) > maxPieces/2 {
		d.lines.miss()
		d.countPacket(nil)
		return shown{packet: packet}
	}
	s := shown{packet: packet, Unpacked: o.Unpack(packet)}
	if s.Err == nil && d.options.changes.any() {
		d.change(&s, &o.Reading)
	}
	now := time.Now()
	switch {
	case d.live == nil:
	case len(d.pieces) > maxViewed:
		d.live.Miss()
	default:
		d.live.Add(now, d.number, d.way == 0, &s.Unpacked, o.Decoder)
	}
	if !d.countPacket(s.Err) {
		return s
	}
	if d.options.lines {
		d.lines.add(d.Out, d.jsonLine(now, &s, &o.Reading))
	} else {
		d.lines.add(d.Out, d.packetLine(now, &s, &o.Reading))
	}
	return s
}

// change does what -drop-if and -set say with a valid packet.
func (d *direction) change(s *shown, o *save.Reading) {
	changes := &d.options.changes
	if s.dropped = changes.drops(s.Value, o); !s.dropped {
		if s.Value, s.changed = changes.change(s.Value, o, d.failChange); s.changed {
			s.packet = s.Pack(s.Value)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.dropped {
		d.dropped++
	}
	if s.changed {
		d.changed++
	}
}

// failChange says once that a packet cannot take a value of -set.
func (d *direction) failChange(line string, err error) {
	d.mu.Lock()
	told := d.failed[line]
	if d.failed == nil {
		d.failed = map[string]bool{}
	}
	d.failed[line] = true
	d.mu.Unlock()
	if !told {
		d.logConn(d.number, "%s -set %q: %v; such packets are forwarded without it", arrows[d.way], line, err)
	}
}

// countPacket counts a packet, and reports whether to show it: -n packets have not been shown
// yet.
func (d *direction) countPacket(invalid error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.remaining == 0 || d.err != nil {
		return false
	}
	d.packets[d.way]++
	if invalid != nil {
		d.invalid++
	}
	if d.remaining--; d.remaining == 0 {
		d.end()
	}
	return true
}

// packetLine returns a packet as a line of text.
func (d *direction) packetLine(now time.Time, s *shown, o *save.Reading) string {
	head := fmt.Sprintf("%s #%d %s %d ", now.Format(clock), d.number, arrows[d.way], len(s.packet))
	if s.Compressed && s.Err == nil { // an error says so
		head += s.ModeName() + " "
	}
	width := max(d.Width-len(head), 20)
	var text string
	switch {
	case s.Err != nil:
		text = d.Colors.Bad.Sprint(shell.Cut(shell.Printable("invalid: "+strings.TrimPrefix(s.Err.Error(), "gdwire: ")), width))
	case s.dropped:
		text = d.Colors.Bad.Sprint(shell.Cut("dropped: "+plainText(s.Value, o, width), width))
	default:
		text = shell.Cut(plainText(s.Value, o, width), width)
	}
	return d.Colors.Dim.Sprint(head) + text + "\n"
}

// jsonLine returns a packet as a line of JSON.
func (d *direction) jsonLine(now time.Time, s *shown, o *save.Reading) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"time":%q,"connection":%d,"direction":%q,"size":%d,`, now.Format(time.RFC3339Nano), d.number, arrows[d.way], len(s.packet))
	if s.Err != nil {
		text, _ := jsontext.AppendQuote(nil, shell.Printable(s.Err.Error()))
		fmt.Fprintf(&b, "\"error\":%s}\n", text)
		return b.String()
	}
	if s.dropped {
		b.WriteString(`"dropped":true,`)
	}
	if s.Compressed {
		fmt.Fprintf(&b, `"compressed":%q,`, s.ModeName())
	}
	b.WriteString(`"value":`)
	w := o.NewDecoder()
	defer w.Release()
	w.ResetBytes(s.Value)
	if err := gdjson.ToJSON(&b, w, gdjson.Options{EscapeForTerminal: true}); err != nil { // a valid value that JSON cannot represent
		d.logConn(d.number, "%v", err)
	}
	b.WriteString("}\n")
	return b.String()
}

// sender returns what forwards one direction of a connection, by deliver.
func (p *proxyServer) sender(ctx context.Context, number int64, way int, deliver func([]byte) error) sender {
	if p.network == nil {
		return directSender(deliver)
	}
	return p.network.Link(ctx, uint64(2*number)+uint64(way), deliver)
}

// errCut ends a connection because of -cut.
var errCut = errors.New("cut")

// limitLife returns a context for a connection, which -cut ends.
func (p *proxyServer) limitLife(ctx context.Context, number int64) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	if p.options.network.cut <= 0 {
		return ctx, func() { end(net.ErrClosed) }
	}
	timer := time.AfterFunc(p.options.network.cut, func() {
		p.network.Cut()
		p.logConn(number, "%v after %v", errCut, p.options.network.cut)
		end(errCut)
	})
	return ctx, func() {
		timer.Stop()
		end(net.ErrClosed)
	}
}

// newNetwork returns the network of the flags, or nil if it is good.
func (o *proxyFlags) newNetwork() *netem.Network {
	if !o.network.bad() {
		return nil
	}
	n := &netem.Network{Conditions: o.network.Conditions}
	switch {
	case o.target.udp:
		n.Kind = netem.Datagrams
	case o.filters():
		n.Kind = netem.Messages
	}
	return n
}

// filters reports whether packets are forwarded when they are whole.
func (o *proxyFlags) filters() bool { return o.dropInvalid || o.network.Drop > 0 || o.changes.any() }
