package stream

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"slices"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/base/options"
)

// Packets, and the Reader of packets.

// lengthSize is the size in bytes of a packet's length.
const lengthSize = 4

// maxPooled is the largest capacity of a packet's buffer kept in the pool.
const maxPooled = 64 << 10

const (
	// bufferSize is the size of a large read buffer. A packet that fits is read whole and decoded
	// in place; a longer packet is decoded while arriving.
	bufferSize = 16 << 10
	// smallSize is the size of the buffer for waiting. Most packets of games fit, so they need one
	// Read and no large buffer.
	smallSize = 256
)

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// A packet is a packet in memory: space for its length, then its content. Write appends to the
// content.
type packet struct {
	buf []byte
	out packetWriter
}

var packets = sync.Pool{New: func() any { return new(packet) }}

// newPacket returns a packet without content from the pool.
func newPacket() *packet {
	p := packets.Get().(*packet)
	p.buf = append(p.buf[:0], make([]byte, lengthSize)...)
	return p
}

// release returns p to the pool.
func (p *packet) release() {
	if cap(p.buf) > maxPooled {
		p.buf = nil
	}
	p.out = packetWriter{}
	packets.Put(p)
}

func (p *packet) Write(b []byte) (int, error) {
	p.buf = append(p.buf, b...)
	return len(b), nil
}

// readFrom reads r to its end into p, and calls arrived with the number of bytes read so far.
func (p *packet) readFrom(r io.Reader, arrived func(int) error) error {
	for {
		p.buf = slices.Grow(p.buf, smallSize)
		n, err := checked.Read(r, p.buf[len(p.buf):cap(p.buf)])
		p.buf = p.buf[:len(p.buf)+n]
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = arrived(len(p.content()))
		}
		if err != nil {
			return err
		}
	}
}

// content returns the bytes after the length.
func (p *packet) content() []byte { return p.buf[lengthSize:] }

// A packetWriter passes the content of a packet, up to max bytes, on to dst. After an error, Write
// writes nothing.
type packetWriter struct {
	dst       io.Writer
	size, max int64
	err       error
}

func (w *packetWriter) Write(b []byte) (n int, err error) {
	if w.err == nil {
		w.err = checkSize(w.size+int64(len(b)), w.max)
	}
	if w.err == nil {
		n, w.err = checked.Write(w.dst, b)
		w.size += int64(n)
	}
	return n, w.err
}

// encode returns a packet with the value written by write. The caller releases the packet.
func (c *config) encode(write func(*gdwire.Encoder) error) (*packet, error) {
	p := newPacket()
	p.out = packetWriter{dst: p, max: c.MaxPacket}
	if err := c.encodeTo(&p.out, write); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// encodeTo writes the output of write to w and returns an error unless the output is exactly one
// value.
func (c *config) encodeTo(w *packetWriter, write func(*gdwire.Encoder) error) error {
	e := c.encoders.Get().(*gdwire.Encoder)
	e.Reset(w)
	err := write(e)
	_, last, _ := e.StackIndex(0)
	// Also if write ignored them: an error of w, and the error of an Encoder closed by write.
	err = cmp.Or(err, w.err, e.Err())
	err = cmp.Or(err, e.Close())
	c.encoders.Put(e) // not after a panic of write
	if err != nil {
		return err
	}
	if last > 0 {
		return valueCount(last + 1)
	}
	if w.size == 0 {
		return valueCount(0)
	}
	return nil
}

// A Reader reads length-prefixed packets, as put_var, store_var, PacketPeerStream and the remote
// debugger write them. A Reader must not be used by several goroutines at the same time.
//
// A [gdwire.Error] or a [PacketTooLongError] concerns one packet, and Next continues with the next
// packet; see [Skippable]. Errors of the io.Reader are returned unchanged and lose no data: after a
// temporary error, such as a timeout, the call can be repeated. A stream ending inside a packet or
// a length is an [io.ErrUnexpectedEOF], not wrapped.
//
// A Reader reads ahead, but never waits for more bytes than needed, and holds no read buffer while
// waiting for a packet.
type Reader struct {
	src    io.Reader
	dec    *gdwire.Decoder
	found  *bool // whether dec found an error: see export.Found
	config *config

	// The read buffer: buf[r:w] is read ahead. buf is small until more bytes arrive than fit, then
	// large until all of them are consumed.
	buf   []byte
	r, w  int
	small [smallSize]byte
	large *[bufferSize]byte
	in    int64 // bytes read from src
	err   error // returned by src together with bytes; reported after these
	// arrived, if set, is called when bytes of a packet longer than bufferSize arrived, before they are
	// read, with their number and the number of bytes missing, and with 0 and 0 when the packet is not
	// read any further. Its error is that of the bytes after these.
	arrived func(held, missing int64) error

	// The latest packet.
	lengthOffset int64 // offset of its length
	offset, size int64
	remaining    int64 // its bytes not yet consumed
	state        packetState

	packets, invalid int64 // number of packets
}

// export contains the calls of package gdwire for this module.
var export = gdwire.Internal.Export(&internal.AllowInternalUse)

// packetState is the progress with the latest packet.
type packetState uint8

const (
	stateDone packetState = iota // returned as a whole, or invalid
	stateNew                     // its length was read
	stateRaw                     // NextRaw returned a part
	stateOpen                    // Next returned its Decoder
)

// NewReader returns a Reader of the packets in r. A nil o selects the zero Options.
func NewReader(r io.Reader, o *Options) *Reader {
	return newReader(r, newConfig(o))
}

func newReader(r io.Reader, c *config) *Reader {
	p := &Reader{src: r, dec: gdwire.NewDecoder(nil, &c.Decoder), config: c}
	p.found = export.Found(p.dec)
	p.buf = p.small[:]
	p.dec.Release()
	return p
}

// Next returns a Decoder of the next packet, after skipping the unread bytes of the latest packet.
// The Decoder returns io.EOF after the packet's first value. The Reader owns the Decoder. The
// Decoder must not be Reset or Released and is valid, like its tokens, until the next call of Next
// or NextRaw.
//
// Next returns io.EOF after the last packet, a [gdwire.Error] for an empty packet, and a
// [PacketTooLongError] for a packet longer than Options.MaxPacket.
//
// A packet of up to 16 KiB is buffered completely when Next returns. The Decoder reads a longer
// packet as needed, and then also returns errors of the stream.
func (r *Reader) Next() (*gdwire.Decoder, error) {
	r.countInvalid()
	if r.size > bufferSize {
		r.dec.Release() // its buffer is not needed while waiting
	}
	err := r.begin()
	switch {
	case err != nil:
	case r.size > bufferSize:
		err = r.hold()
	case r.size > int64(r.w-r.r):
		err = checked.NoEOF(r.fill(int(r.size)))
	}
	if err != nil {
		r.dec.Release()
		return nil, err
	}
	r.state = stateOpen
	if r.size > bufferSize {
		r.dec.ResetN((*packetReader)(r), r.size)
		return r.dec, nil
	}
	n := int(r.size)
	r.dec.ResetBytes(r.buf[r.r : r.r+n : r.r+n])
	r.r += n
	r.remaining = 0
	return r.dec, nil
}

// NextRaw appends the bytes of the next packet to dst without decoding them. dst grows as they
// arrive. NextRaw returns the errors of Next. After an error of the stream the result contains the
// bytes received so far; to continue, call NextRaw again with this result.
func (r *Reader) NextRaw(dst []byte) ([]byte, error) {
	r.countInvalid()
	if r.state == stateOpen {
		r.dec.Release()
	}
	if r.state != stateRaw {
		if err := r.begin(); err != nil {
			return dst, err
		}
	}
	r.state = stateRaw
	for r.remaining > 0 {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, int(min(r.remaining, int64(max(len(dst), bufferSize)))))
		}
		n, err := (*packetReader)(r).Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if err != nil {
			return dst, err
		}
	}
	r.state = stateDone
	return dst, nil
}

// PacketOffset returns the offset in the stream of the latest packet's first byte after its length,
// also after an error of Next for this packet. The Offset of a [gdwire.Error] counts from there. If
// the stream ended inside a length, PacketOffset returns the offset of this length.
func (r *Reader) PacketOffset() int64 { return r.offset }

// PacketSize returns the latest packet's length in bytes, as declared by the sender.
func (r *Reader) PacketSize() int64 { return r.size }

// Trailing returns the number of bytes after the value in the latest packet, once the value is read
// to the end, and 0 before. Engines ignore such bytes.
func (r *Reader) Trailing() int64 {
	if r.state != stateOpen {
		return 0
	}
	return trailing(r.dec, r.size)
}

// trailing returns the number of bytes after d's value in a packet of size bytes.
func trailing(d *gdwire.Decoder, size int64) int64 {
	if n := d.InputOffset(); n > 0 && d.Depth() == 0 {
		return max(size-n, 0)
	}
	return 0
}

// CompleteOffset returns the offset in the stream of the end of the packets before the latest
// packet: after io.EOF and io.ErrUnexpectedEOF, the number of bytes in complete packets, valid or
// not.
func (r *Reader) CompleteOffset() int64 { return r.lengthOffset }

// InputOffset returns the number of bytes read from the io.Reader, including bytes read ahead.
func (r *Reader) InputOffset() int64 { return r.in }

// pos returns the offset of buf[r].
func (r *Reader) pos() int64 { return r.in - int64(r.w-r.r) }

// begin skips the rest of the latest packet and reads the length of the next packet, unless an
// interrupted earlier call did so.
func (r *Reader) begin() error {
	if r.state == stateNew {
		return nil
	}
	r.state = stateDone
	if r.remaining > 0 {
		if r.arrived != nil {
			_ = r.arrived(0, 0)
		}
		if err := r.skip(); err != nil {
			return checked.NoEOF(err)
		}
	}
	r.lengthOffset = r.pos()
	if r.w-r.r < lengthSize {
		if err := r.readLength(); err != nil {
			return err
		}
	}
	size := binary.LittleEndian.Uint32(r.buf[r.r:])
	if r.config.BigEndianLength { // not an interface of both orders: -2 % of packets
		size = bits.ReverseBytes32(size)
	}
	r.size = int64(size)
	r.r += lengthSize
	r.offset, r.remaining = r.lengthOffset+lengthSize, r.size
	r.packets++
	if r.size > r.config.MaxPacket {
		r.invalid++
		return &PacketTooLongError{Size: r.size, Max: r.config.MaxPacket, Offset: r.offset}
	}
	if r.size == 0 {
		r.invalid++
		return emptyPacket()
	}
	r.state = stateNew
	return nil
}

// readLength reads until the length of the next packet is in the read buffer, after replacing an
// empty large read buffer by the small buffer, because waiting can take long.
func (r *Reader) readLength() error {
	r.offset, r.size = r.lengthOffset, 0
	if r.r == r.w && r.large != nil {
		r.buf = r.small[:]
		r.r, r.w = 0, 0
		buffers.Put(r.large)
		r.large = nil
	}
	err := r.fill(lengthSize)
	if r.r < r.w { // the stream must not end inside a length
		err = checked.NoEOF(err)
	}
	return err
}

// idle reports whether the latest packet is consumed and no byte of the next packet is
// buffered.
func (r *Reader) idle() bool { return r.remaining == 0 && r.r == r.w }

// begun reports whether bytes of the next packet have arrived, or whether the latest
// call was interrupted inside a packet.
func (r *Reader) begun() bool {
	return r.state == stateNew || r.state == stateRaw || int64(r.w-r.r) > r.remaining
}

// countInvalid counts the latest packet if its Decoder found an error, also an error that does not
// stay, such as a value that does not fit the Go type. A mistake in the program does not count.
func (r *Reader) countInvalid() {
	if *r.found {
		r.countError()
	}
}

// countFailed counts the latest packet if err, of a handler, is about its content. The Decoder is not
// used, because another goroutine may still read from the Decoder.
func (r *Reader) countFailed(err error) {
	if value, ok := errors.AsType[*gdwire.Error](err); ok && r.state == stateOpen && !errors.Is(value, gdwire.ErrCall) {
		r.invalid++
		r.found = new(bool) // countInvalid does not count the packet again
	}
}

// countError counts the latest packet if the error of its Decoder is about the content.
func (r *Reader) countError() {
	if err, ok := export.LastError(r.dec).(*gdwire.Error); ok && r.state == stateOpen && !errors.Is(err, gdwire.ErrCall) {
		r.invalid++
	}
}

// skip consumes the rest of the packet. Seeking would not find the end of the stream.
func (r *Reader) skip() error {
	for r.remaining > 0 {
		if r.r == r.w {
			if r.remaining > smallSize {
				r.enlarge()
			}
			if err := r.fill(1); err != nil {
				return err
			}
		}
		n := min(int64(r.w-r.r), r.remaining)
		r.r += int(n)
		r.remaining -= n
	}
	return nil
}

// fill reads until n bytes are in buf[r:w], at most bufferSize. After an error, the bytes read so
// far stay.
func (r *Reader) fill(n int) error {
	if r.r == r.w {
		r.r, r.w = 0, 0
	}
	if n > smallSize || r.w == smallSize { // a Read filled the small buffer: more bytes follow
		r.enlarge()
	}
	if r.r+n > len(r.buf) {
		r.w = copy(r.buf, r.buf[r.r:r.w])
		r.r = 0
	}
	for r.w-r.r < n {
		m, err := r.read(r.buf[r.w:])
		r.w += m
		if err != nil {
			return err
		}
	}
	return nil
}

// enlarge replaces the small read buffer by a large read buffer.
func (r *Reader) enlarge() {
	if r.large != nil {
		return
	}
	r.large = buffers.Get().(*[bufferSize]byte)
	copy(r.large[:], r.buf[:r.w])
	r.buf = r.large[:]
}

// read reads from src and returns bytes or an error, never both: an error with bytes is kept for
// the next call.
func (r *Reader) read(p []byte) (int, error) {
	if err := r.err; err != nil {
		r.err = nil
		return 0, err
	}
	n, err := checked.Read(r.src, p)
	if n > 0 {
		r.in += int64(n)
		r.err, err = err, nil
	}
	return n, err
}

// hold calls arrived for a long packet, after bytes arrived.
func (r *Reader) hold() error {
	if r.arrived == nil || r.size <= bufferSize {
		return nil
	}
	missing := max(r.remaining-int64(r.w-r.r), 0)
	return r.arrived(r.size-missing, missing)
}

// A packetReader is a Reader, seen as an io.Reader of the rest of its latest packet.
type packetReader Reader

func (c *packetReader) Read(p []byte) (int, error) {
	r := (*Reader)(c)
	p = p[:min(int64(len(p)), r.remaining)]
	if r.r == r.w && r.remaining >= bufferSize { // into p, without a copy
		n, err := r.read(p)
		r.remaining -= int64(n)
		if err == nil {
			if late := r.hold(); late != nil {
				r.err = late // after these bytes
			}
		}
		return n, checked.NoEOF(err)
	}
	if r.r == r.w { // also read later packets
		r.enlarge()
		err := r.fill(1)
		if err == nil {
			err = r.hold() // before the bytes are used; after an error, the next call returns them
		}
		if err != nil {
			return 0, checked.NoEOF(err)
		}
	}
	n := copy(p, r.buf[r.r:r.w])
	r.r += n
	r.remaining -= int64(n)
	return n, nil
}

// ScanComplete reads r to the end and returns the number of bytes at the start that are complete
// packets. If other bytes follow, from a packet written in part, ScanComplete returns
// [io.ErrUnexpectedEOF]. The packets are not decoded.
//
// To append to a file, truncate the file to this number of bytes, and write from there. Lengths in the
// other byte order look like an incomplete packet as well.
func ScanComplete(r io.Reader, opts ...Options) (whole int64, err error) {
	p := NewReader(r, options.Merge(opts))
	for err == nil || Skippable(err) {
		_, err = p.Next()
	}
	if err == io.EOF {
		err = nil
	}
	return p.CompleteOffset(), err
}
