package traffic

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/base/address"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/text"
)

// One direction of a connection: its target, its changes, and what is forwarded and shown.

// A target is the server of a proxy.
type target struct {
	text   string // as named by the user
	addr   string // for package address, or HOST:PORT of UDP
	udp    bool
	secure bool     // over TLS
	url    *url.URL // of a WebSocket, or nil if clients name it
}

// The schemes of targets besides those of package address.
const (
	udpScheme = "udp:"
	tlsScheme = "tls:"
)

// parseTarget returns the target HOST:PORT, unix:PATH, tls:HOST:PORT, udp:HOST:PORT, ws://HOST/PATH or
// wss://HOST/PATH.
func parseTarget(text string) (t target, err error) {
	t.text = text
	if scheme, _, ok := strings.Cut(text, "://"); ok && scheme != "unix" {
		if t.url, err = url.Parse(text); err != nil {
			return t, err
		}
		port := map[string]string{"ws": "80", "wss": "443"}[t.url.Scheme]
		if port == "" || t.url.Hostname() == "" || t.url.User != nil {
			return t, fmt.Errorf("%q is no target: want HOST:PORT, unix:PATH, tls:HOST:PORT, udp:HOST:PORT, ws://HOST/PATH or wss://HOST/PATH", text)
		}
		t.secure = t.url.Scheme == "wss"
		t.addr = net.JoinHostPort(t.url.Hostname(), cmp.Or(t.url.Port(), port))
		return t, nil
	}
	t.addr = text
	if rest, ok := strings.CutPrefix(text, udpScheme); ok {
		t.addr, t.udp = rest, true
	} else if rest, ok := strings.CutPrefix(text, tlsScheme); ok {
		t.addr, t.secure = rest, true
		if strings.HasPrefix(rest, "unix:") {
			return t, errors.New("tls: needs HOST:PORT, whose certificate is verified")
		}
	}
	return t, shell.CompleteAddress(&t.addr)
}

// handshakeTime is the time to connect over TLS.
const handshakeTime = 10 * time.Second

// dial connects to the target. Over TLS, the server's certificate must be one for the host.
func (t *target) dial(ctx context.Context) (net.Conn, error) {
	if !t.secure {
		return address.Dial(ctx, t.addr)
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	d := &tls.Dialer{Config: &tls.Config{}}
	if t.url != nil {
		d.Config.NextProtos = []string{"http/1.1"} // for the start of a WebSocket
	}
	return d.DialContext(ctx, "tcp", t.addr)
}

// listenAddress returns the address at which a proxy for the target listens, completed.
func (t *target) listenAddress(addr string) (string, error) {
	addr, udp := strings.CutPrefix(addr, udpScheme)
	switch network, _ := address.Split(addr); {
	case udp && !t.udp:
		return "", errors.New("only a target udp:HOST:PORT can be reached over UDP")
	case t.udp && network == "unix":
		return "", errors.New("a target of UDP is reached over UDP: LISTEN is a port or HOST:PORT")
	case strings.HasPrefix(addr, tlsScheme) || strings.Contains(addr, "://") && network != "unix":
		return "", errors.New("the proxy listens without TLS, for WebSockets too: LISTEN is a port, HOST:PORT or unix:PATH")
	}
	err := shell.CompleteAddress(&addr)
	return addr, err
}

// The changeFlags are the flags of proxy to change or drop packets.
type changeFlags struct {
	set    []edit.Place // -set, in order
	dropIf []edit.Place // -drop-if
}

// any reports whether there are such flags.
func (c *changeFlags) any() bool { return len(c.set)+len(c.dropIf) > 0 }

// addPlace adds a place. A place that is not to be set can be a path alone.
func addPlace(all *[]edit.Place, line string, set bool) error {
	var p edit.Place
	var err error
	if p.Path, err = text.Parse(line); err != nil || set {
		p, err = edit.ParsePlace(line)
	}
	switch _, err = edit.WholePath(p.Path, err); {
	case err != nil:
		return err
	case p.Path.Packet != 0:
		return fmt.Errorf("%v is in another packet, and each is looked at alone", p.Path)
	case p.Path.IsSeveral() && p.Value != "" && !set:
		return fmt.Errorf("%v leads to several values", p.Path)
	}
	if !set && p.Value != "" {
		if v, err := text.ParseValue(p.Value); err == nil && (v.Items != nil || v.Type == gdwire.TypeArray || v.Type == gdwire.TypeDictionary) {
			return errors.New("only values that contain no others are compared")
		}
	}
	*all = append(*all, p)
	return nil
}

// drops reports whether a valid packet is dropped.
func (c *changeFlags) drops(packet []byte, o *save.Reading) bool {
	for i := range c.dropIf {
		if c.dropIf[i].IsIn(save.NewPacket(packet, o.Decoder)) {
			return true
		}
	}
	return false
}

// change returns a valid packet with the values of -set, and reports whether it differs. fail is called for a
// value that the packet cannot take.
func (c *changeFlags) change(packet []byte, o *save.Reading, fail func(line string, err error)) (changed []byte, differs bool) {
	for i := range c.set {
		p := &c.set[i]
		plan, err := p.Set(save.NewPacket(packet, o.Decoder))
		if errors.As(err, new(*text.NotFoundError)) {
			continue
		}
		var b bytes.Buffer
		if err == nil && len(plan.Changes) > 0 {
			err = plan.Content().CopyTo(&b)
		}
		switch {
		case err != nil:
			fail(p.Line, err)
		case b.Len() > 0:
			packet, differs = b.Bytes(), true
		}
	}
	return packet, differs
}

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
	changes     changeFlags
	target      target
}

// A proxyServer forwards connections to a server and shows their packets.
type proxyServer struct {
	*shell.Stdio
	options *proxyFlags
	framing framing          // before anything is recognized
	live    *page.Live       // of -view, or nil
	record  *record.Recorder // of -record, or nil
	end     context.CancelFunc
	held    bound // of packets received or forwarded, until they are shown
	lines   lines // of output and errors

	mu        sync.Mutex
	remaining int64 // number of packets until the end, or negative for no end
	err       error
	packets   [2]int64 // from clients and from servers
	invalid   int64
	changed   int64           // by -set
	dropped   int64           // by -drop-if
	failed    map[string]bool // lines of -set with an error already told
	proposal  sync.Once       // of a -skip
	bytes     [2]atomic.Int64
}

// maxHeld is the maximum number of bytes of packets waiting to be shown, unless -max-packet is more, and
// maxWaiting of lines about them.
const (
	maxHeld    = 9 << 20
	maxWaiting = 4 << 20
)

// logWaiting writes a message on why the proxy waits.
func (p *proxyServer) logWaiting(err error) { p.logf("%v; waiting", err) }

// logf adds a message for errs to the lines.
func (p *proxyServer) logf(format string, args ...any) {
	p.lines.add(p.Errs, "gdwire: "+shell.Printable(fmt.Sprintf(format, args...))+"\n", 0)
}

// summary adds a message with the totals.
func (p *proxyServer) summary(connections int64) {
	p.logf("%d connections; from clients %d packets, %d bytes; from the server %d packets, %d bytes; %d invalid",
		connections, p.packets[0], p.bytes[0].Load(), p.packets[1], p.bytes[1].Load(), p.invalid)
	if p.options.changes.any() {
		p.logf("%d packets were changed by -set, and %d dropped by -drop-if", p.changed, p.dropped)
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
	way      record.Direction
	from, to net.Conn
	input    io.Reader    // of from
	file     *os.File     // of -record, or nil
	parts    chan packets // forwarded and not shown yet
	next     packets      // of the bytes read last
	offset   int64        // after the latest message
	skips    skipFinder
}

// packets are some packets received at one time.
type packets struct {
	at    time.Time
	bytes []byte
	ends  []int // of the packets in bytes
	held  int64 // bytes of the bound
}

// forward forwards all bytes and the end of the stream.
func (d *direction) forward(ctx context.Context) {
	if d.record != nil {
		f, err := retry(ctx, d.logWaiting, func() (*os.File, error) {
			return d.record.File(d.number, d.way)
		})
		d.record.Fail(err)
		defer func() { _ = f.Close() }()
		d.file = f
	}
	if d.way == record.FromClient {
		d.input = &handshakeReader{r: d.from, url: d.options.target.url, removed: func() {
			d.logConn(d.number, "%s the extensions were taken out of the WebSocket handshake, because compressed messages cannot be shown", d.way)
		}}
	}
	if d.options.filters() {
		d.finish(d.filter(ctx))
	} else {
		d.copy()
	}
}

// finish forwards the end of the stream, as a reset if err is one.
func (d *direction) finish(err error) {
	if c, ok := d.to.(interface{ SetLinger(seconds int) error }); ok && address.IsReset(err) {
		_ = errors.Join(c.SetLinger(0), d.to.Close())
	} else if c, ok := d.to.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}

// maxParts is the maximum number of reads with packets waiting to be shown.
const maxParts = 512

// maxViewed is the maximum number of waiting reads with which packets are still added to the
// page of -view.
const maxViewed = 64

// copy forwards bytes as they arrive, and the end of the stream. Another goroutine shows the packets: output
// delays neither.
func (d *direction) copy() {
	d.parts = make(chan packets, maxParts)
	o := d.framing
	var showing sync.WaitGroup
	showing.Go(func() { d.showParts(&o) })
	r := bufio.NewReaderSize(forwarded{d}, shell.BufferSize)
	err := d.each(r, &o, func(m message, _ *messages) error {
		d.index(m, d.next.at, true)
		d.wait(&m)
		return nil
	})
	if framing := (*forwardError)(nil); err != io.EOF && !errors.As(err, &framing) {
		d.logEnd(err, "what follows is only forwarded")
		_, err = io.Copy(io.Discard, r)
	}
	d.showNext()
	close(d.parts)
	d.finish(err)
	showing.Wait()
}

// forwarded reads the bytes of a direction, and forwards them before Read returns.
type forwarded struct{ *direction }

// A forwardError is an error of one of the connections.
type forwardError struct{ error }

func (e *forwardError) Unwrap() error { return e.error }

func (d forwarded) Read(b []byte) (n int, err error) {
	d.showNext()
	n, err = d.input.Read(b)
	d.next.at = time.Now()
	if n > 0 {
		d.recordBytes(b[:n])
		if _, failed := d.to.Write(b[:n]); failed != nil {
			err = failed
		}
	}
	if err != nil && err != io.EOF {
		err = &forwardError{err}
	}
	return n, err
}

// wait adds the packet of a message to those shown next, unless it was left out.
func (d *direction) wait(m *message) {
	switch {
	case m.left:
		d.miss(int(m.length))
	case m.packet != nil:
		d.next.bytes = append(d.next.bytes, m.packet...)
		d.next.ends = append(d.next.ends, len(d.next.bytes))
		d.next.held += m.held
		return
	}
	d.held.add(-m.held)
}

// miss counts a packet not shown.
func (d *direction) miss(size int) {
	d.lines.miss(size)
	d.countPacket(nil)
}

// showNext passes the received packets to showParts, or counts them as missed.
func (d *direction) showNext() {
	if len(d.next.ends) == 0 {
		return
	}
	select {
	case d.parts <- d.next:
	default:
		from := 0
		for _, end := range d.next.ends {
			d.miss(end - from)
			from = end
		}
		d.held.add(-d.next.held)
	}
	d.next = packets{}
}

// showParts shows the forwarded packets.
func (d *direction) showParts(o *framing) {
	for part := range d.parts {
		from := 0
		for _, end := range part.ends {
			d.show(part.bytes[from:end:end], part.at, o)
			from = end
		}
		d.held.add(-part.held)
	}
}

// recordBytes counts bytes and appends them to the file of -record.
func (d *direction) recordBytes(b []byte) {
	d.bytes[d.way].Add(int64(len(b)))
	if d.record != nil {
		d.record.Write(d.file, b)
	}
}

// index adds a message received at a time to the index of -record if it is a forwarded packet.
func (d *direction) index(m message, at time.Time, forwarded bool) {
	from, n := d.offset, m.size
	d.offset += n
	if d.record == nil || m.packet == nil && !m.left || !forwarded {
		return
	}
	d.record.Add(at, record.Packet{Connection: d.number, Direction: d.way, Offset: from, Length: n})
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

// filter forwards packets after receiving all of each, except those dropped by -drop-invalid and -drop-if. All
// received bytes are recorded.
func (d *direction) filter(ctx context.Context) error {
	o := d.framing
	err := d.each(d.input, &o, func(m message, all *messages) error {
		defer d.held.add(-m.held)
		d.recordBytes(m.raw)
		if m.packet == nil {
			d.index(m, time.Now(), true)
			_, err := d.to.Write(m.raw)
			return err
		}
		s := d.show(m.packet, time.Now(), &o)
		sent, err := !s.dropped && (s.Err == nil || !d.options.dropInvalid), error(nil)
		if s.changed {
			m.raw = all.encode(s.packet, d.way == record.FromClient)
		}
		if sent {
			_, err = d.to.Write(m.raw)
		}
		d.index(m, time.Now(), sent)
		return err
	})
	if err != io.EOF && ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
		d.logEnd(err, "the connection is closed")
		_ = d.from.Close()
	}
	return err
}

// logEnd adds a message about the error that ends the packets of the direction.
func (d *direction) logEnd(err error, then string) {
	d.logConn(d.number, "%s %s; %s", d.way, strings.TrimPrefix(open.ErrorText(err), "gdwire: "), then)
}

// each calls do with each message in a stream.
func (d *direction) each(r io.Reader, o *framing, do func(message, *messages) error) error {
	all, err := newMessages(r, o, func(note string) { d.logConn(d.number, "%s %s", d.way, note) })
	if err != nil {
		return err
	}
	all.bound, all.whole = &d.held, d.options.filters()
	defer func() { all.hold(0) }()
	for {
		m, err := all.next()
		if err == nil {
			err = do(m, all)
		}
		if err != nil {
			return err
		}
	}
}

// clock is the form of the time of a packet.
const clock = "15:04:05.000"

// A shown packet is a packet as forwarded, unless dropped, and the value inside.
type shown struct {
	save.Unpacked
	packet           []byte
	changed, dropped bool // by -set and -drop-if
}

// show shows a packet received at a time, as forwarded.
func (d *direction) show(packet []byte, at time.Time, o *framing) shown {
	s := shown{packet: packet, Unpacked: o.Unpack(packet)}
	d.proposeSkip(&s, &o.Reading)
	if s.Err == nil && d.options.changes.any() {
		d.change(&s, &o.Reading)
	}
	switch {
	case d.live == nil:
	case len(d.parts) > maxViewed:
		d.live.Miss()
	default:
		d.live.Add(at, d.number, d.way == record.FromClient, &s.Unpacked, o.Decoder)
	}
	if !d.countPacket(s.Err) {
		return s
	}
	line := d.packetLine
	if d.options.lines {
		line = d.jsonLine
	}
	d.lines.add(d.Out, line(at, &s, &o.Reading), len(packet))
	return s
}

// proposeSkip proposes a -skip with which several packets are values.
func (d *direction) proposeSkip(s *shown, o *save.Reading) {
	proposeSkip(&d.proposal, d.skips.find(s.packet, &s.Unpacked, o), d.logf)
}

// change applies -drop-if and -set to a valid packet.
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
		d.logConn(d.number, "%s -set %q: %v; such packets are forwarded without it", d.way, line, err)
	}
}

// countPacket counts a packet, and reports whether to show it, until -n packets are shown.
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
func (d *direction) packetLine(at time.Time, s *shown, o *save.Reading) string {
	head := fmt.Sprintf("%s #%d %s %d ", at.Format(clock), d.number, d.way, len(s.packet))
	if s.Compressed && s.Err == nil { // an error says so
		head += s.ModeName() + " "
	}
	if len(s.Skipped) > 0 {
		head += fmt.Sprintf("%#x ", s.Skipped)
	}
	width := max(d.Width-len(head), 20)
	var text string
	switch {
	case s.Err != nil:
		text = d.Colors.Bad.Sprint(shell.Cut(shell.Printable("invalid: "+strings.TrimPrefix(s.Err.Error(), "gdwire: ")), width))
	case s.dropped:
		text = d.Colors.Bad.Sprint(shell.Cut("dropped: "+plainText(s.Value, o, width), width))
	default:
		more := following(&s.Unpacked, o, width)
		if more != "" {
			more = ", " + more
		}
		text = shell.Cut(shell.Cut(plainText(s.Value, o, width), width-min(len(more), width/2))+more, width)
	}
	return d.Colors.Dim.Sprint(head) + text + "\n"
}

// jsonLine returns a packet as a line of JSON.
func (d *direction) jsonLine(at time.Time, s *shown, o *save.Reading) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"time":%q,"connection":%d,"direction":%q,"size":%d,`, at.Format(time.RFC3339Nano), d.number, d.way, len(s.packet))
	if s.Skipped != nil {
		fmt.Fprintf(&b, `"skipped":"%x",`, s.Skipped)
	}
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
	if s.Trailing > 0 {
		fmt.Fprintf(&b, `"trailing":%d,`, s.Trailing)
	}
	w := o.NewDecoder()
	defer w.Release()
	write := func(key string, value []byte) {
		b.WriteString(key)
		w.ResetBytes(value)
		if err := gdjson.ToJSON(&b, w, gdjson.Options{EscapeForTerminal: true}); err != nil { // a valid value that JSON cannot represent
			d.logConn(d.number, "%v", err)
		}
	}
	write(`"value":`, s.Value)
	if next := o.Second(&s.Unpacked); next != nil {
		write(`,"next":`, next)
	}
	b.WriteString("}\n")
	return b.String()
}

// filters reports whether packets are forwarded when they are whole.
func (o *proxyFlags) filters() bool { return o.dropInvalid || o.changes.any() }
