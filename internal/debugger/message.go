package debugger

import (
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// A Protocol is how messages are put into packets.
type Protocol uint8

// The protocols.
const (
	Godot3  Protocol = 1 + iota // a message is its name, a number n, and n values, each a packet
	Godot40                     // 4.0 and 4.1: a message is [name, data]
	Godot42                     // 4.2 and later: a message is [name, thread, data]
)

func (p Protocol) String() string {
	switch p {
	case Godot3:
		return "Godot 3"
	case Godot40:
		return "Godot 4.0"
	case Godot42:
		return "Godot 4.2"
	}
	return fmt.Sprintf("Protocol(%d)", uint8(p))
}

// A Message is a message of the game.
type Message struct {
	Protocol Protocol
	Name     string
	Thread   int64 // of the game, with Godot42. 1 is the main thread
	Data     []variant.Raw

	options *variant.Options // of Scan
}

// mainThread is the id of the main thread.
const mainThread = 1

// Scan decodes the first values of the message into the variables pointed to by vars, by the rules
// of [variant.Unmarshal], or returns an error if there are fewer values.
func (m *Message) Scan(vars ...any) error {
	c := cursor{m: m}
	for _, v := range vars {
		c.scan(v)
	}
	return c.err
}

// A cursor decodes the values of a message one after another. After an error it decodes nothing.
type cursor struct {
	m   *Message
	i   int
	err error
}

// inside returns a cursor over the elements of the next value, an Array.
func (c *cursor) inside() *cursor {
	m := *c.m
	m.Data = next[[]variant.Raw](c)
	return &cursor{m: &m, err: c.err}
}

// raw returns the next value.
func (c *cursor) raw() (r variant.Raw) {
	if c.err == nil && c.i >= len(c.m.Data) {
		c.err = fmt.Errorf("session: message %q ends after %d values", c.m.Name, len(c.m.Data))
	}
	if c.err == nil {
		r = c.m.Data[c.i]
		c.i++
	}
	return r
}

// scan decodes the next value into the variable pointed to by v.
func (c *cursor) scan(v any) {
	r := c.raw()
	if c.err != nil {
		return
	}
	if err := r.Unmarshal(v, *c.m.options); err != nil {
		c.err = fmt.Errorf("session: message %q, value %d: %w", c.m.Name, c.i-1, err)
	}
}

// next returns the next value as a T, or its zero value after an error.
func next[T any](c *cursor) (v T) {
	c.scan(&v)
	return v
}

// id returns the next value, an int, as the id of an object. Ids of reference-counted objects are
// negative as an int.
func (c *cursor) id() variant.ObjectID { return variant.ObjectID(next[int64](c)) }

// maxMessage is the maximum size in bytes of a message of Godot 3.
const maxMessage = 64 << 20

// rawSize is the memory of a value besides its bytes.
const rawSize = 32

// A messageReader reads the messages of a game.
type messageReader struct {
	conn    *stream.Conn
	options variant.Options
	invalid func(error) // is called with errors of single packets; the reader goes on afterwards
}

// read returns the next message.
func (r *messageReader) read() (*Message, error) {
	for {
		packet, err := r.conn.NextRaw(nil)
		var m *Message
		if err == nil {
			m, err = r.parse(packet)
		}
		if err == nil || !stream.Skippable(err) {
			return m, err
		}
		r.invalid(err)
	}
}

// parse returns the message starting with packet.
func (r *messageReader) parse(packet []byte) (*Message, error) {
	if packet[0] == typeString {
		return r.readValues(packet)
	}
	parts, err := r.split(packet)
	if err != nil {
		return nil, err
	}
	m := &Message{Protocol: Godot42, options: &r.options}
	switch len(parts) {
	case 0, 1:
		return nil, invalidPacket("an Array of %d values is no message", len(parts))
	case 2:
		m.Protocol, m.Thread = Godot40, mainThread
	default:
		err = parts[1].Unmarshal(&m.Thread)
	}
	if err == nil {
		err = parts[0].Unmarshal(&m.Name)
	}
	if err == nil {
		m.Data, err = r.split(parts[min(len(parts)-1, 2)].Data)
	}
	return m, err
}

// typeString is the first byte of a String, in all formats.
const typeString = 4

// invalidPacket returns an error for a packet that is no message.
func invalidPacket(format string, args ...any) error {
	return &gdwire.Error{Path: "$", Err: fmt.Errorf("session: "+format, args...)}
}

// split returns the elements of an Array of Godot 4. They share the memory of the Array.
func (r *messageReader) split(array []byte) (parts []variant.Raw, err error) {
	d := gdwire.NewDecoder(nil, &r.options.Decoder)
	defer d.Release()
	d.ResetBytes(array)
	for _, err := range d.Elements() {
		start := d.InputOffset()
		if err == nil {
			err = d.SkipValue()
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, variant.Raw{Format: gdwire.Godot4, Data: array[start:d.InputOffset()]})
	}
	return parts, nil
}

// errNoMessage reports packets of Godot 3 that are no message: the start of the next one is
// not known.
var errNoMessage = errors.New("session: the packets are not messages of a debugger")

// readValues returns a message of Godot 3 after its first packet, the name. The values are not
// decoded, so that an invalid one concerns nobody else.
func (r *messageReader) readValues(packet []byte) (*Message, error) {
	m := &Message{Protocol: Godot3, Thread: mainThread, options: &r.options}
	if err := godot3Value(packet).Unmarshal(&m.Name); err != nil {
		return nil, fmt.Errorf("%w: %v", errNoMessage, err)
	}
	packet, err := r.conn.NextRaw(nil)
	if err != nil {
		return nil, within(err)
	}
	var count int64
	if err := godot3Value(packet).Unmarshal(&count); err != nil {
		return nil, fmt.Errorf("%w: %v", errNoMessage, err)
	}
	size := int64(0)
	for range count {
		packet, err := r.conn.NextRaw(nil)
		if err != nil {
			return nil, within(err)
		}
		if size += int64(len(packet)) + rawSize; size > maxMessage {
			return nil, fmt.Errorf("session: message %.100q exceeds %d bytes", m.Name, maxMessage)
		}
		m.Data = append(m.Data, godot3Value(packet))
	}
	return m, nil
}

// within returns err, an error inside a message of Godot 3. The error is about more than a
// packet: the rest of the message would be taken for the next one.
func within(err error) error {
	switch {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case stream.Skippable(err):
		return fmt.Errorf("%w: %v", errNoMessage, err)
	}
	return err
}

func godot3Value(packet []byte) variant.Raw {
	return variant.Raw{Format: gdwire.Godot3, Data: packet}
}

// encode returns the packet of a command.
func (p Protocol) encode(command string, thread int64, args []any) ([]byte, error) {
	o := variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot4}}
	var v []any
	switch p {
	case Godot3:
		o.Encoder.Format = gdwire.Godot3
		v = append([]any{command}, args...)
	case Godot40:
		v = []any{command, array(args)}
	default:
		v = []any{command, thread, array(args)}
	}
	return variant.Marshal(v, o)
}

// array returns values as an Array, empty and not nil if there are none.
func array(args []any) []any { return append([]any{}, args...) }

// size returns the memory of a message in bytes.
func (m *Message) size() int64 {
	n := int64(len(m.Name)) + rawSize
	for _, r := range m.Data {
		n += int64(len(r.Data)) + rawSize
	}
	return n
}
