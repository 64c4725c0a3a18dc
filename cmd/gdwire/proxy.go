package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/stream"
)

// proxyOptions holds the flags of proxy.
type proxyOptions struct {
	webSocket   bool   // -frame ws
	dropInvalid bool   // -drop-invalid
	record      string // -record
	packets     int64  // -n
	view        bool   // -view
}

func proxyFlags(fs *flag.FlagSet, o *options) {
	p := &o.proxy
	o.Decoder.AllowObjects = true
	frame := fs.Lookup("frame").Value
	fs.Lookup("frame").Value = frameOrWebSocket{frame, &p.webSocket}
	fs.Lookup("frame").Usage += ", ws"
	fs.BoolVar(&o.lines, "json", false, "a line of JSON for each packet")
	fs.BoolVar(&p.dropInvalid, "drop-invalid", false, "forward a packet when it is whole, and only if it is valid; without -objects serialized objects are not")
	recordFlag(fs, &p.record)
	fs.BoolVar(&p.view, "view", false, "show the packets in a page of the browser, too")
	viewFlags(fs, o)
	fs.Int64Var(&p.packets, "n", 0, "exit after `N` packets [never]")
}

// frameOrWebSocket defines the flag -frame with the additional value ws.
type frameOrWebSocket struct {
	flag.Value
	webSocket *bool
}

func (f frameOrWebSocket) Set(s string) error {
	if *f.webSocket = s == "ws"; *f.webSocket {
		return nil
	}
	return f.Value.Set(s)
}

func proxyCheck(o *options) error {
	p := &o.proxy
	switch {
	case p.packets < 0:
		return errors.New("-n is less than 0")
	case o.given["frame"] && !o.Framed() && !p.webSocket:
		return errors.New("proxy needs length-prefixed packets or WebSocket: -frame u32, u32be or ws")
	}
	if p.dropInvalid && !o.given["objects"] {
		o.Decoder.AllowObjects = false
	} else if !o.given["objects"] {
		o.Decoder.AllowObjects = true
	}
	for i := range o.operands {
		if err := completeAddress(&o.operands[i]); err != nil {
			return err
		}
	}
	return nil
}

// A proxyServer forwards connections to a server and shows their packets.
type proxyServer struct {
	*stdio
	options *options
	live    *view.Live       // of -view, or nil
	record  *record.Recorder // of -record, or nil
	end     context.CancelFunc
	lines   lines // of output and errors

	mu        sync.Mutex
	remaining int64 // number of packets until the end, or negative for no end
	err       error
	packets   [2]int64 // from clients and from servers
	invalid   int64
	bytes     [2]atomic.Int64
}

const (
	// maxWaiting is the number of bytes that can wait to be shown.
	maxWaiting = 16 << 20
	// maxDial is the maximum time for which dialing the server is tried again.
	maxDial = 2 * time.Second
	// grace is the time after a signal in which waiting lines are still written.
	grace = time.Second
)

// proxy accepts connections and forwards them.
func proxy(s *stdio, o *options) error {
	signals, stop := untilEnded()
	defer stop()
	ctx, end := context.WithCancel(signals)
	defer end()
	ln, err := net.Listen("tcp", o.operands[0])
	if err != nil {
		return err
	}
	recorder, err := newRecorder(o.proxy.record)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	p := &proxyServer{stdio: s, options: o, end: end, remaining: cmp.Or(o.proxy.packets, -1), record: recorder}
	p.lines.maxBytes, p.lines.flush, p.lines.fail = maxWaiting, s.out.Flush, p.stop
	p.lines.missedLine = func(missed string) line { return line{s.errs, "gdwire: … " + missed + " packets not shown\n"} }
	p.lines.start()
	p.logf("listening on %v for %s", ln.Addr(), o.operands[1])
	if o.proxy.view {
		p.live = newLive(o)
		serve, err := openPage(&view.Server{Live: p.live}, o, p.logf)
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		page := make(chan struct{})
		go func() {
			defer close(page)
			_ = serve(ctx)
		}()
		defer func() { // it removes a file
			end()
			<-page
		}()
	}
	a := &acceptor{handle: p.serve, logf: p.logf}
	if err := a.run(ctx, ln); err != nil {
		p.stop(err)
	}
	if recorder != nil {
		if err := recorder.Close(); err != nil {
			p.stop(err)
		}
	}
	p.summary(a.count.Load())
	p.lines.close()
	waitOutput(signals, p.lines.done)
	return p.err
}

// waitOutput waits until everything is shown. After a signal it ends the program if that
// does not happen soon: the output is blocked.
func waitOutput(signals context.Context, shown <-chan struct{}) {
	select {
	case <-shown:
		return
	case <-signals.Done():
	}
	select {
	case <-shown:
	case <-time.After(grace):
		os.Exit(statusBad)
	}
}

// logWaiting writes a message that says why the proxy waits.
func (p *proxyServer) logWaiting(err error) { p.logf("%v; waiting", err) }

// logf adds a message for errs to the lines.
func (p *proxyServer) logf(format string, args ...any) {
	p.lines.add(p.errs, "gdwire: "+printable(fmt.Sprintf(format, args...))+"\n")
}

// summary adds a message with the totals.
func (p *proxyServer) summary(connections int64) {
	p.logf("%d connections; from clients %d packets, %d bytes; from the server %d packets, %d bytes; %d invalid",
		connections, p.packets[0], p.bytes[0].Load(), p.packets[1], p.bytes[1].Load(), p.invalid)
}

// logConn adds a message about a connection.
func (p *proxyServer) logConn(number int64, format string, args ...any) {
	p.logf("#%d: %s", number, fmt.Sprintf(format, args...))
}

// serve forwards a connection until both directions are closed.
func (p *proxyServer) serve(ctx context.Context, c *stream.Conn, number int64) {
	client := c.NetConn() // forward all bytes, also those that are not packets
	var dialer net.Dialer
	trying, cancel := context.WithTimeout(ctx, maxDial) // then give the client's descriptor back
	server, err := retry(trying, p.logWaiting, func() (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", p.options.operands[1])
	})
	cancel()
	if err != nil {
		p.logConn(number, "%v", err)
		return
	}
	defer func() { _ = server.Close() }()
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	p.logConn(number, "from %v", client.RemoteAddr())
	var both sync.WaitGroup
	for i, ends := range [2][2]net.Conn{{client, server}, {server, client}} {
		d := &direction{proxyServer: p, number: number, way: i, from: ends[0], input: ends[0], to: ends[1]}
		both.Go(func() { d.forward(ctx) })
	}
	both.Wait()
	p.logConn(number, "closed")
}

// A direction is one direction of a connection.
type direction struct {
	*proxyServer
	number   int64
	way      int // 0 from client to server, 1 from server to client
	from, to net.Conn
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
		d.input = &handshakeReader{r: d.from, removed: func() {
			d.logConn(d.number, "%s the extensions were taken out of the WebSocket handshake, because compressed messages cannot be shown", arrows[d.way])
		}}
	}
	if d.options.proxy.dropInvalid {
		d.filter()
	} else {
		d.copy()
	}
	if c, ok := d.to.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}

// recordFlag defines the flag -record.
func recordFlag(fs *flag.FlagSet, prefix *string) {
	fs.StringVar(prefix, "record", "", "keep what is sent in `PREFIX`-1-client.bin, PREFIX-1-server.bin and so on, and when in PREFIX.index.jsonl, for replay")
}

// newRecorder returns the Recorder of -record, or nil.
func newRecorder(prefix string) (*record.Recorder, error) {
	if prefix == "" {
		return nil, nil
	}
	return record.New(prefix)
}

// maxPieces is the maximum number of pieces that wait to be shown. If half as many wait, packets
// are counted instead of shown.
const maxPieces = 1024

// maxViewed is the maximum number of waiting pieces with which packets are still added to the
// page of -view.
const maxViewed = 64

// copy forwards bytes as they arrive. Another goroutine shows the packets in them, so that the
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
	buf := make([]byte, outBuffer)
	for {
		n, err := d.input.Read(buf)
		if n > 0 {
			d.recordBytes(buf[:n])
			if _, err := d.to.Write(buf[:n]); err != nil {
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
	o := *d.options
	err := d.each(r, &o, func(m message) error {
		d.index(m, r.at, true)
		return nil
	})
	if err != io.EOF && err != errBehind {
		d.logConn(d.number, "%s %v; what follows is only forwarded", arrows[d.way], err)
	}
}

// filter forwards each valid packet after receiving all of it.
func (d *direction) filter() {
	o := *d.options
	err := d.each(d.input, &o, func(m message) error {
		d.recordBytes(m.raw)
		d.index(m, time.Now(), m.valid)
		if !m.valid {
			return nil
		}
		_, err := d.to.Write(m.raw)
		return err
	})
	if err != io.EOF && !errors.Is(err, net.ErrClosed) {
		d.logConn(d.number, "%s %v; the connection is closed", arrows[d.way], err)
		_ = d.from.Close()
	}
}

// each shows each message in a stream and then calls do.
func (d *direction) each(r io.Reader, o *options, do func(message) error) error {
	messages, err := newMessages(r, o, func(note string) { d.logConn(d.number, "%s %s", arrows[d.way], note) })
	if err != nil {
		return err
	}
	for {
		m, err := messages.next()
		if err != nil {
			return err
		}
		m.valid = m.packet == nil || d.show(m.packet, o)
		if err := do(m); err != nil {
			return err
		}
	}
}

const (
	clock       = "15:04:05.000"
	viewColumns = 160 // of a packet in the page of -view
)

// show shows a packet and reports whether it is valid.
func (d *direction) show(packet []byte, o *options) bool {
	if len(d.pieces) > maxPieces/2 {
		d.lines.miss()
		d.countPacket(nil)
		return true
	}
	if o.Candidates != nil {
		o.DecideFormat(packet)
	}
	invalid := validate(packet, o)
	now := time.Now()
	switch {
	case d.live == nil:
	case len(d.pieces) > maxViewed:
		d.live.Miss()
	default:
		d.live.Add(now, d.number, d.way == 0, packet, o.Decoder, invalid)
	}
	if !d.countPacket(invalid) {
		return invalid == nil
	}
	if o.lines {
		d.lines.add(d.out, d.jsonLine(now, packet, o, invalid))
	} else {
		d.lines.add(d.out, d.packetLine(now, packet, o, invalid))
	}
	return invalid == nil
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

// validate returns nil if a packet is valid.
func validate(packet []byte, o *options) error {
	if len(packet) == 0 {
		return errors.New("empty packet")
	}
	d := o.NewDecoder()
	defer d.Release()
	d.ResetBytes(packet)
	err := d.SkipValue()
	if err == nil {
		if _, err = d.ReadToken(); err == io.EOF { // with -strict, bytes after the value are an error
			err = nil
		}
	}
	return err
}

// packetLine returns a packet as a line of text.
func (d *direction) packetLine(now time.Time, packet []byte, o *options, invalid error) string {
	head := fmt.Sprintf("%s #%d %s %d ", now.Format(clock), d.number, arrows[d.way], len(packet))
	width := max(d.width-len(head), 20)
	var text string
	if invalid != nil {
		text = d.colors.bad.Sprint(cut(printable("invalid: "+strings.TrimPrefix(invalid.Error(), "gdwire: ")), width))
	} else {
		text = cut(plainText(packet, o, width), width)
	}
	return d.colors.dim.Sprint(head) + text + "\n"
}

// plainText returns the first width columns, or more, of a valid packet as plain JSON.
func plainText(packet []byte, o *options, width int) string {
	const column = 4 // maximum number of bytes in a column
	short := &shortWriter{remaining: column * width}
	d := o.NewDecoder()
	defer d.Release()
	d.ResetBytes(packet)
	_ = gdjson.ToJSON(short, d, gdjson.Options{Plain: true, EscapeForTerminal: true}) // the only error is that it was cut
	return short.String()
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

// jsonLine returns a packet as a line of JSON.
func (d *direction) jsonLine(now time.Time, packet []byte, o *options, invalid error) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"time":%q,"connection":%d,"direction":%q,"size":%d,`, now.Format(time.RFC3339Nano), d.number, arrows[d.way], len(packet))
	if invalid != nil {
		text, _ := jsontext.AppendQuote(nil, printable(invalid.Error()))
		fmt.Fprintf(&b, "\"error\":%s}\n", text)
		return b.String()
	}
	b.WriteString(`"value":`)
	w := o.NewDecoder()
	defer w.Release()
	w.ResetBytes(packet)
	if err := gdjson.ToJSON(&b, w, gdjson.Options{EscapeForTerminal: true}); err != nil { // a valid value that JSON cannot represent
		d.logConn(d.number, "%v", err)
	}
	b.WriteString("}\n")
	return b.String()
}
