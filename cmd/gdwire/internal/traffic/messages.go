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
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/stream"
)

// A message is the unit that proxy forwards or drops with -drop-invalid.
type message struct {
	raw    []byte // all its bytes; valid until the next message is read
	packet []byte // the encoded value, or nil if the message contains none
	valid  bool

	control   []byte // frames of a WebSocket inside, which are no part of the message
	forwarded []byte // what is forwarded in place of raw
	dropped   bool   // it is not forwarded, because of -drop-if
}

// messages reads the messages of one direction of a connection.
type messages struct {
	r     io.Reader
	max   int64
	order binary.ByteOrder // of the lengths, or nil for WebSocket
	next  func() (message, error)
	raw   bytes.Buffer
}

// again returns a reader of messages of the same kind.
func (m *messages) again(r io.Reader) *messages {
	n := &messages{r: r, max: m.max, order: m.order}
	n.next = n.lengthPrefixed
	if m.order == nil {
		n.next = n.webSocketHead
	}
	return n
}

// A framing says how the messages of one direction of a connection are found, and how their packets are read.
type framing struct {
	save.Reading
	known     save.Known // chosen by flags
	webSocket bool       // -frame ws
}

// newFraming returns the framing that flags choose.
func newFraming(o *open.Flags) framing { return framing{Reading: o.Reading(-1), known: o.Known()} }

// newMessages returns a reader of the messages in r. It recognizes the frame and the format that
// flags have not chosen, and calls note if they are not those of most connections.
func newMessages(r io.Reader, o *framing, note func(string)) (*messages, error) {
	m := &messages{r: r, max: cmp.Or(o.MaxPacket, stream.DefaultMaxPacket)}
	if m.max < 0 {
		m.max = 1<<32 - 1
	}
	if o.known.Format && o.known.Frame && o.Framed() && !o.webSocket {
		m.order, m.next = o.Frame.Order(), m.lengthPrefixed
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
	r, ok, err := o.RecognizePackets(m.r, o.known)
	if err == nil && !ok {
		err = errors.New("no packets of Godot were recognized; -format and -frame say how they are written (ENet and other protocols over UDP are not supported)")
	}
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

// checkSize returns an error if a packet is longer than permitted. size is its length so far.
func (m *messages) checkSize(size uint64) error {
	const (
		overhead = 8        // bytes for each byte of a packet that is sent in many fragments
		control  = 64 << 10 // bytes of empty fragments, and of messages between fragments
	)
	if uint64(m.raw.Len()) > overhead*size+control {
		return errors.New("a message consists of too many fragments without content")
	}
	if size > uint64(m.max) {
		return fmt.Errorf("a packet of at least %d bytes exceeds the limit; raise it with -max-packet", size)
	}
	return nil
}

// readBytes reads n more bytes into raw and returns them.
func (m *messages) readBytes(n int64) ([]byte, error) {
	start := m.raw.Len()
	_, err := io.CopyN(&m.raw, m.r, n)
	if err == io.EOF && m.raw.Len() > 0 {
		err = io.ErrUnexpectedEOF
	}
	return m.raw.Bytes()[start:], err
}

// lengthPrefixed reads a packet after its length.
func (m *messages) lengthPrefixed() (message, error) {
	m.raw.Reset()
	head, err := m.readBytes(4)
	if err != nil {
		return message{}, err
	}
	size := m.order.Uint32(head)
	if err := m.checkSize(uint64(size)); err != nil {
		return message{}, err
	}
	if _, err = m.readBytes(int64(size)); err != nil {
		return message{}, err
	}
	return message{raw: m.raw.Bytes(), packet: m.raw.Bytes()[4:]}, nil
}

// webSocketHead reads the head of the HTTP request or response that starts a
// WebSocket.
func (m *messages) webSocketHead() (message, error) {
	m.raw.Reset()
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
		return message{raw: m.raw.Bytes()}, errors.New("this is HTTP, but not a WebSocket")
	}
	m.next = m.webSocket
	return message{raw: m.raw.Bytes()}, nil
}

// The first two bytes of a WebSocket frame.
const (
	wsFinal, wsCompressed          = 0x80, 0x40
	wsMasked, wsLen16, wsLen64     = 0x80, 126, 127
	wsContinued, wsBinary, wsClose = 0, 2, 8
)

// webSocket reads a WebSocket message, or a control frame between messages.
func (m *messages) webSocket() (message, error) {
	m.raw.Reset()
	var packet, control []byte
	binaryMessage := false
	for {
		start := m.raw.Len()
		first, payload, err := m.frame(len(packet))
		if err != nil {
			return message{}, err
		}
		switch op := first & 0x0f; {
		case first&wsCompressed != 0:
			return message{}, errors.New("WebSocket messages are compressed, which is not supported")
		case op >= wsClose:
			if packet == nil {
				return message{raw: m.raw.Bytes()}, nil
			}
			control = append(control, m.raw.Bytes()[start:]...)
			continue // a control frame inside a message is forwarded with it
		case op != wsContinued:
			binaryMessage = op == wsBinary
		}
		packet = append(packet, payload...)
		if packet == nil {
			packet = []byte{}
		}
		if first&wsFinal == 0 {
			continue
		}
		if !binaryMessage {
			packet = nil
		}
		return message{raw: m.raw.Bytes(), packet: packet, control: control}, nil
	}
}

// encode returns a message with another packet in place of its own. Messages of a WebSocket are masked if they
// come from a client.
func (m *messages) encode(one *message, packet []byte, masked bool) []byte {
	if m.order != nil {
		b := make([]byte, 4, 4+len(packet))
		m.order.PutUint32(b, uint32(len(packet)))
		return append(b, packet...)
	}
	b, mask := append(one.control, wsFinal|wsBinary), byte(0)
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

// frame reads one WebSocket frame and returns its first byte and its payload. size is the
// length of the message so far.
func (m *messages) frame(size int) (first byte, payload []byte, err error) {
	b, err := m.readBytes(2)
	if err != nil {
		return 0, nil, err
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
		err = m.checkSize(uint64(size) + min(n, math.MaxInt64))
	}
	if err == nil {
		payload, err = m.readBytes(int64(n))
	}
	if mask == nil || err != nil {
		return first, payload, err
	}
	payload = slices.Clone(payload)
	for i := range payload {
		payload[i] ^= mask[i&3]
	}
	return first, payload, nil
}
