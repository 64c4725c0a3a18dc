package traffic

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/values/save"
)

// The messages in a stream, and the packets in them.

// A handshakeReader reads the stream of a client. If the stream starts with an HTTP request for
// a WebSocket, the reader removes the header Sec-WebSocket-Extensions: messages are then not
// compressed. With the URL of the server, the reader makes the request one for this URL.
type handshakeReader struct {
	r       io.Reader
	url     *url.URL // or nil
	removed func()   // called if there were extensions
	done    bool     // the request was read, or the stream starts with something else
}

const httpGet = "GET "

// maxHTTP is the maximum length of the head of an HTTP request or response.
const maxHTTP = 64 << 10

// endOfHead returns the offset of the line feed before the empty line ending the head of an HTTP
// request or response, or -1. A carriage return before a line feed may be missing.
func endOfHead(b []byte) int {
	for i := 0; ; i++ {
		next := bytes.IndexByte(b[i:], '\n')
		if next < 0 {
			return -1
		}
		i += next
		if rest := b[i+1:]; bytes.HasPrefix(rest, []byte("\n")) || bytes.HasPrefix(rest, []byte("\r\n")) {
			return i
		}
	}
}

func (h *handshakeReader) Read(p []byte) (int, error) {
	if !h.done {
		h.done = true
		head, err := h.readHead()
		if err != nil {
			h.r = checked.Failed{Err: err}
		}
		h.r = io.MultiReader(bytes.NewReader(head), h.r)
	}
	return h.r.Read(p)
}

// readHead reads the request, or enough bytes to show that there is none.
func (h *handshakeReader) readHead() (head []byte, err error) {
	part := make([]byte, 4<<10)
	for len(head) < maxHTTP {
		if n := min(len(head), len(httpGet)); string(head[:n]) != httpGet[:n] {
			break
		}
		if end := endOfHead(head); end >= 0 {
			return h.edited(head, end), err
		}
		if err != nil {
			break
		}
		var n int
		n, err = h.r.Read(part)
		head = append(head, part[:n]...)
	}
	return head, err
}

// edited returns the request, with a head ending at end, as one for the server's URL, without extensions.
func (h *handshakeReader) edited(head []byte, end int) []byte {
	var kept []string
	lines := strings.Split(string(head[:end]), "\n")
	continued := false // a removed line is continued on the next
	for i, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		folded := line != "" && (line[0] == ' ' || line[0] == '\t')
		continued = folded && continued || strings.EqualFold(name, "Sec-WebSocket-Extensions")
		if !continued {
			kept = append(kept, h.addressed(line, name, i == 0))
		}
	}
	if len(kept) < len(lines) {
		h.removed()
	}
	return append([]byte(strings.Join(kept, "\n")), head[end:]...)
}

// addressed returns a line of the request for the server's URL: clients name the proxy. A path of the URL takes
// the place of the client's.
func (h *handshakeReader) addressed(line, name string, first bool) string {
	if h.url == nil {
		return line
	}
	text := strings.TrimSuffix(line, "\r")
	ending := line[len(text):]
	words := strings.Fields(text)
	switch {
	case first && len(words) == 3 && h.url.RequestURI() != "/":
		text = words[0] + " " + h.url.RequestURI() + " " + words[2]
	case !first && strings.EqualFold(name, "Host"):
		text = "Host: " + h.url.Host
	case !first && strings.EqualFold(name, "Origin"): // of a browser, compared by servers with the host
		text = "Origin: http" + strings.TrimPrefix(h.url.Scheme, "ws") + "://" + h.url.Host
	}
	return text + ending
}

// A message is the unit forwarded by proxy, or dropped with -drop-invalid.
type message struct {
	raw    []byte // all bytes, if messages are read whole; valid until the next message is read
	packet []byte // the encoded value, or nil if the message contains none
	size   int64  // of all bytes
	left   bool   // the packet inside did not fit and was left out
	length int64  // of the packet
	held   int64  // bytes of the bound owned by the message
}

// messages reads the messages of one direction of a connection.
type messages struct {
	r     io.Reader
	max   int64
	order binary.ByteOrder // of the lengths, or nil
	next  func() (message, error)
	raw   bytes.Buffer
	size  int64 // of raw and of bytes left out
	left  bool  // the packet did not fit

	bound *bound // of the bytes of packets, or nil
	whole bool   // messages are forwarded whole: none is left out, and control frames inside one are forwarded before it
	held  int64  // bytes of bound

	packet []byte // of the latest WebSocket message
	length int64  // of packet and of bytes left out
	binary bool   // the message is a packet
	begun  bool   // more of the message follows

	values *gdwire.Decoder // of values without lengths, or nil
}

// A bound is the number of bytes for the packets of all connections at the same time.
type bound struct {
	max  int64
	used atomic.Int64
}

// add adds n bytes, or reports that they do not fit. Less than 0 always fit.
func (b *bound) add(n int64) bool {
	if b != nil && b.used.Add(n) > b.max && n > 0 {
		b.used.Add(-n)
		return false
	}
	return true
}

// errFull is the error of a packet that does not fit, and cannot be left out.
var errFull = errors.New("the packets of all connections take too much memory")

// again returns a reader of messages of the same kind.
func (m *messages) again(r io.Reader) *messages {
	n := &messages{r: r, max: m.max, order: m.order}
	switch {
	case m.values != nil:
		n.readValues(m.values.Options())
	case m.isWebSocket():
		n.next = n.webSocketHead
	default:
		n.next = n.lengthPrefixed
	}
	return n
}

// isWebSocket reports whether the messages are those of a WebSocket.
func (m *messages) isWebSocket() bool { return m.order == nil && m.values == nil }

// A framing says how the messages of one direction of a connection are found, and how their packets are read.
type framing struct {
	save.Reading
	known     save.Known // chosen by flags
	webSocket bool       // -frame ws
}

// newFraming returns the framing chosen by flags.
func newFraming(o *open.Flags) framing { return framing{Reading: o.Reading(-1), known: o.Known()} }

// newMessages returns a reader of the messages in r. It recognizes the frame and the format
// unless flags choose them, and calls note for others than those of most connections.
func newMessages(r io.Reader, o *framing, note func(string)) (*messages, error) {
	m := &messages{r: r, max: maxPacket(&o.Reading)}
	if o.known.Format && o.known.Frame && o.Framed() && !o.webSocket {
		m.order, m.next = o.Frame.Order(), m.lengthPrefixed
		return m, nil
	}
	if o.known.Frame && !o.Framed() && !o.webSocket {
		o.Decoder.Format = cmp.Or(o.Decoder.Format, gdwire.Godot4)
		m.readValues(o.Decoder)
		return m, nil
	}
	start := make([]byte, 4)
	n, err := io.ReadFull(r, start)
	if n == 0 || err != nil && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	m.r = io.MultiReader(bytes.NewReader(start[:n]), r)
	if text := string(start); o.webSocket || text == "GET " || text == "HTTP" {
		if !o.webSocket {
			note("this is HTTP, so packets are taken to be WebSocket messages")
		}
		if !o.known.Format {
			o.Decoder.Format, o.Candidates = gdwire.Godot4, []gdwire.Format{gdwire.Godot4, gdwire.Godot3}
		}
		m.next = m.webSocketHead
		return m, nil
	}
	return m, m.recognize(o)
}

// recognize recognizes length-prefixed packets.
func (m *messages) recognize(o *framing) error {
	head := &headReader{Reader: m.r}
	r, ok, err := o.RecognizePackets(head, o.known)
	if err == nil && !ok {
		if err = head.unprefixed(&o.Reading); err != nil {
			err = fmt.Errorf("%w; -frame none shows such values", err)
		} else {
			err = errors.New("no packets of Godot were recognized; -format and -frame say how they are written (ENet and other protocols over UDP are not supported)")
		}
	}
	head.forget()
	if err == nil {
		m.r, m.order, m.next = r, o.Frame.Order(), m.lengthPrefixed
	}
	return err
}

// nextPacket returns the next packet, without the messages between packets.
func (m *messages) nextPacket() ([]byte, error) {
	for {
		next, err := m.next()
		if err != nil || next.packet != nil {
			return next.packet, err
		}
	}
}

// checkSize returns an error if a packet is longer than permitted. size is the length so far.
func (m *messages) checkSize(size uint64) error {
	const (
		overhead = 8        // bytes for each byte of a packet sent in many fragments
		control  = 64 << 10 // bytes of empty fragments, and of messages between fragments
	)
	if uint64(m.size) > overhead*size+control {
		return errors.New("a message consists of too many fragments without content")
	}
	if size > uint64(m.max) {
		return fmt.Errorf("a packet of at least %d bytes exceeds the limit; raise it with -max-packet", size)
	}
	return nil
}

// begin begins a message. A large buffer of the message before is not kept: the connection may be silent.
func (m *messages) begin() {
	m.raw.Reset()
	if m.raw.Cap() > maxKept {
		m.raw = bytes.Buffer{}
	}
	m.size, m.left = 0, false
}

// hold changes the number of counted bytes to n, if they fit.
func (m *messages) hold(n int64) bool {
	if !m.bound.add(n - m.held) {
		return false
	}
	m.held = n
	return true
}

// end returns the message just read. packet is nil if there is none.
func (m *messages) end(packet []byte, length int64) message {
	one := message{raw: m.raw.Bytes(), packet: packet, size: m.size, length: length, held: m.held}
	if m.left && packet != nil {
		one.packet, one.left = nil, true
	}
	m.held = 0
	return one
}

// readBytes reads n more bytes into raw and returns them.
func (m *messages) readBytes(n int64) ([]byte, error) {
	start := m.raw.Len()
	_, err := io.CopyN(&m.raw, m.r, n)
	n = int64(m.raw.Len() - start)
	m.size += n
	m.left = m.left || !m.hold(m.held+n)
	if err == io.EOF && m.size > 0 {
		err = io.ErrUnexpectedEOF
	}
	return m.raw.Bytes()[start:], err
}

// readPacket reads n more bytes of a packet, in parts: bytes received count, not bytes declared. Bytes that do
// not fit are left out.
func (m *messages) readPacket(n int64) ([]byte, error) {
	start := m.raw.Len()
	for n > 0 && !m.left {
		part := min(n, shell.BufferSize)
		if _, err := m.readBytes(part); err != nil {
			return nil, err
		}
		n -= part
	}
	if !m.left {
		return m.raw.Bytes()[start:], nil
	}
	if m.whole {
		return nil, errFull
	}
	m.raw, m.packet = bytes.Buffer{}, nil
	m.hold(0)
	skipped, err := io.CopyN(io.Discard, m.r, n)
	m.size += skipped
	return []byte{}, checked.NoEOF(err)
}

// lengthPrefixed reads a packet after its length.
func (m *messages) lengthPrefixed() (message, error) {
	m.begin()
	head, err := m.readBytes(4)
	if err != nil {
		return message{}, err
	}
	size := m.order.Uint32(head)
	if err := m.checkSize(uint64(size)); err != nil {
		return message{}, err
	}
	packet, err := m.readPacket(int64(size))
	if err != nil {
		return message{}, err
	}
	return m.end(packet, int64(size)), nil
}

// readValues lets m read values without lengths.
func (m *messages) readValues(o gdwire.DecoderOptions) {
	o.Strict = false
	o.Limits.Bytes = m.max
	m.values = gdwire.NewDecoder(io.TeeReader(m.r, held{m}), &o)
	m.next = m.value
}

// held writes the bytes of values, and counts them.
type held struct{ *messages }

func (h held) Write(b []byte) (int, error) {
	if !h.hold(h.held + int64(len(b))) {
		return 0, errFull
	}
	return h.raw.Write(b)
}

// value reads a value without a length. raw contains the bytes after it that were read, too.
func (m *messages) value() (message, error) {
	m.raw.Next(int(m.size))
	if m.raw.Len() == 0 && m.raw.Cap() > maxKept {
		m.raw = bytes.Buffer{}
	}
	start := m.values.InputOffset()
	err := m.values.SkipValue()
	if err != nil {
		return message{}, err
	}
	m.size = m.values.InputOffset() - start
	m.held -= m.size
	value := m.raw.Bytes()[:m.size:m.size]
	return message{raw: value, packet: value, size: m.size, length: m.size, held: m.size}, nil
}

// webSocketHead reads the head of the HTTP request or response at the start of a WebSocket.
func (m *messages) webSocketHead() (message, error) {
	m.begin()
	for endOfHead(m.raw.Bytes()[max(m.raw.Len()-3, 0):]) < 0 {
		if m.raw.Len() > maxHTTP {
			return message{}, errors.New("this is not a WebSocket")
		}
		if _, err := m.readBytes(1); err != nil {
			return message{}, err
		}
	}
	head := strings.ToLower(m.raw.String())
	line, _, _ := strings.Cut(head, "\n")
	if strings.HasPrefix(line, "http") && !strings.Contains(line, " 101") || !strings.Contains(head, "websocket") {
		return message{}, errors.New("this is HTTP, but not a WebSocket")
	}
	m.next = m.webSocket
	return m.end(nil, 0), nil
}

// The first two bytes of a WebSocket frame.
const (
	wsFinal, wsCompressed          = 0x80, 0x40
	wsMasked, wsLen16, wsLen64     = 0x80, 126, 127
	wsContinued, wsBinary, wsClose = 0, 2, 8
)

// webSocket reads a WebSocket message, or a control frame. A control frame inside a message is a part of this
// message, or with whole a message of its own, not waiting for the rest.
func (m *messages) webSocket() (message, error) {
	if !m.begun {
		m.begin()
		m.packet, m.length = nil, 0
	}
	for {
		start, held := m.raw.Len(), m.held
		first, payload, n, err := m.frame()
		if err != nil {
			return message{}, err
		}
		switch op := first & 0x0f; {
		case first&wsCompressed != 0:
			return message{}, errors.New("WebSocket messages are compressed, which is not supported")
		case op >= wsClose && m.begun && m.whole:
			control := slices.Clone(m.raw.Bytes()[start:])
			m.raw.Truncate(start)
			m.size -= int64(len(control))
			m.hold(held)
			return message{raw: control, size: int64(len(control))}, nil
		case op >= wsClose && m.begun:
			continue
		case op >= wsClose:
			return m.end(nil, 0), nil
		case op != wsContinued:
			m.binary = op == wsBinary
		}
		if m.length += n; !m.left {
			m.packet = append(m.packet, payload...)
		}
		if !m.whole {
			m.raw.Reset()
		}
		if m.begun = first&wsFinal == 0; m.begun {
			continue
		}
		packet := m.packet
		switch m.packet = nil; {
		case !m.binary:
			packet = nil
		case packet == nil:
			packet = []byte{}
		}
		return m.end(packet, m.length), nil
	}
}

// encode returns a message of a packet. Messages of a WebSocket are masked if they come from a client.
func (m *messages) encode(packet []byte, masked bool) []byte {
	if m.values != nil {
		return packet
	}
	if m.order != nil {
		b := make([]byte, 4, 4+len(packet))
		m.order.PutUint32(b, uint32(len(packet)))
		return append(b, packet...)
	}
	b, mask := []byte{wsFinal | wsBinary}, byte(0)
	if masked {
		mask = wsMasked
	}
	switch n := len(packet); {
	case n < wsLen16:
		b = append(b, mask|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, mask|wsLen16), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, mask|wsLen64), uint64(n))
	}
	if !masked {
		return append(b, packet...)
	}
	key := binary.LittleEndian.AppendUint32(nil, rand.Uint32())
	b = append(b, key...)
	for i, c := range packet {
		b = append(b, c^key[i&3])
	}
	return b
}

// frame reads one WebSocket frame and returns the first byte, the payload unless left out, and the length of
// the payload.
func (m *messages) frame() (first byte, payload []byte, length int64, err error) {
	b, err := m.readBytes(2)
	if err != nil {
		return 0, nil, 0, err
	}
	first, second := b[0], b[1]
	n := uint64(second &^ wsMasked)
	switch n {
	case wsLen16:
		if b, err = m.readBytes(2); err == nil {
			n = uint64(binary.BigEndian.Uint16(b))
		}
	case wsLen64:
		if b, err = m.readBytes(8); err == nil {
			n = binary.BigEndian.Uint64(b)
		}
	}
	var mask []byte
	if err == nil && second&wsMasked != 0 {
		b, err = m.readBytes(4)
		mask = slices.Clone(b)
	}
	if err == nil {
		err = m.checkSize(uint64(m.length) + min(n, math.MaxInt64))
	}
	if err == nil {
		payload, err = m.readPacket(int64(n))
	}
	if mask == nil || err != nil {
		return first, payload, int64(n), err
	}
	payload = slices.Clone(payload)
	for i := range payload {
		payload[i] ^= mask[i&3]
	}
	return first, payload, int64(n), nil
}
