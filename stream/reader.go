package stream

import (
	"encoding/binary"
	"io"
	"slices"

	"github.com/gdwire/gdwire"
)

// bufferSize is what a Reader keeps. A packet that fits is read whole and decoded
// where it lies, a larger one is decoded as it comes.
const bufferSize = 16 << 10

// maxEmptyReads is how often an io.Reader may return nothing in a row.
const maxEmptyReads = 100

// A Reader reads packets that stand behind their length, as put_var, store_var,
// PacketPeerStream and the remote debugger write them. One goroutine may use it
// at a time.
//
// A [gdwire.Error] and a [PacketError] spoil one packet, and Next goes on to the
// one after it; see [Skippable]. The errors of the io.Reader are handed on as they
// are, and nothing is lost by them: if they are temporary, such as a timeout, the
// call can be made again. A stream that ends inside a packet or a length is a bare
// [io.ErrUnexpectedEOF], which no packet's own error ever is.
//
// It reads ahead, but never waits for more than it needs.
type Reader struct {
	src     io.Reader
	dec     *gdwire.Decoder
	options Options
	order   binary.ByteOrder
	// deadline, if it is set, is called before a wait: for the first byte of a
	// packet, if idle, or for more of one.
	deadline func(idle bool) error

	buf  []byte // buf[r:w] is read, and no packet's yet
	r, w int
	in   int64 // bytes that src gave
	err  error // came with bytes; due when more are wanted

	// The latest packet.
	whole        int64 // where its length stands
	offset, size int64
	left         int64 // bytes of it that stand in buf[r:] and the stream
	state        packetState
}

// packetState is what has been done with a packet's bytes.
type packetState uint8

const (
	stateDone packetState = iota // handed out or spoilt
	stateNew                     // its length is read
	stateRaw                     // NextRaw has begun with it
	stateOpen                    // its Decoder is handed out
)

// NewReader returns a Reader of the packets in r. Options of nil are defaults.
func NewReader(r io.Reader, o *Options) *Reader {
	s := o.settle()
	p := &Reader{src: r, dec: gdwire.NewDecoder(nil, &s.Decoder), options: s, order: binary.LittleEndian}
	if s.BigEndianLength {
		p.order = binary.BigEndian
	}
	p.dec.Release()
	return p
}

// Next returns a Decoder of the next packet: of its one value, behind which there
// is io.EOF, whatever else is in the packet. It belongs to the Reader, and it and
// its tokens are void at the next Next or NextRaw, which drop what was left unread;
// do not Reset or Release it.
//
// After the last packet Next returns io.EOF. For an empty packet it returns a
// [gdwire.Error], for one that is too long a [PacketError].
//
// Packets of up to 16 KiB are there as a whole when Next returns. Of larger ones
// the Decoder reads what it needs when it needs it: its errors can be those of the
// stream.
func (r *Reader) Next() (*gdwire.Decoder, error) {
	if r.size > bufferSize {
		r.dec.Release() // whose window is not needed while the next one is waited for
	}
	err := r.begin()
	if err == nil && r.size <= bufferSize {
		err = cut(r.fill(int(r.size)))
	}
	if err != nil {
		r.dec.Release()
		return nil, err
	}
	if r.size > bufferSize {
		r.state = stateOpen
		r.dec.ResetN((*body)(r), r.size)
		return r.dec, nil
	}
	n := int(r.size)
	r.dec.ResetBytes(r.buf[r.r : r.r+n : r.r+n])
	r.r += n
	r.left = 0
	r.state = stateOpen
	return r.dec, nil
}

// NextRaw appends the bytes of the next packet to dst, as they are. dst grows as
// they arrive, never from the length. It returns the errors that Next does; what
// an error of the stream interrupts has been appended up to there, and a call with
// what was returned goes on.
func (r *Reader) NextRaw(dst []byte) ([]byte, error) {
	r.dec.Release()
	if r.state == stateRaw {
		if err := r.wait(false); err != nil {
			return dst, err
		}
	} else if err := r.begin(); err != nil {
		return dst, err
	}
	r.state = stateRaw
	for r.left > 0 {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, int(min(r.left, int64(max(len(dst), bufferSize)))))
		}
		n, err := (*body)(r).Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if err != nil {
			return dst, err
		}
	}
	r.state = stateDone
	return dst, nil
}

// PacketOffset returns where in the stream the latest packet's first byte stands,
// behind its length; also of one that Next returned an error for. The offset in a
// [gdwire.Error] counts from there. If the stream ended before the packet's length
// was whole, it is where that begins.
func (r *Reader) PacketOffset() int64 { return r.offset }

// PacketSize returns the latest packet's length in bytes: what its sender says
// it is.
func (r *Reader) PacketSize() int64 { return r.size }

// Trailing returns how many bytes stand in the packet behind its value, once that
// has been read to its end.
func (r *Reader) Trailing() int64 {
	if r.state != stateOpen {
		return 0
	}
	return trailing(r.dec, r.size)
}

func trailing(d *gdwire.Decoder, size int64) int64 {
	if n := d.InputOffset(); n > 0 && d.Depth() == 0 {
		return max(size-n, 0)
	}
	return 0
}

// Whole returns where in the stream the packets before the latest one end. After
// io.EOF and io.ErrUnexpectedEOF that is how much of it is whole packets, be they
// good or spoilt.
func (r *Reader) Whole() int64 { return r.whole }

// InputOffset returns how many bytes have come from the io.Reader, those read
// ahead included. After io.EOF and io.ErrUnexpectedEOF that is all there were.
func (r *Reader) InputOffset() int64 { return r.in }

// pos is the offset of buf[r].
func (r *Reader) pos() int64 { return r.in - int64(r.w-r.r) }

// begin drops what is left of a packet and reads the next one's length, unless a
// call before did that and was interrupted.
func (r *Reader) begin() error {
	if r.buf == nil {
		r.buf = make([]byte, bufferSize)
	}
	if r.left > 0 {
		if err := r.wait(false); err != nil {
			return err
		}
	}
	if r.state == stateNew {
		return nil
	}
	r.state = stateDone
	if err := r.drop(); err != nil {
		return cut(err)
	}
	r.whole, r.offset, r.size = r.pos(), r.pos(), 0
	if err := r.wait(r.r == r.w); err != nil {
		return err
	}
	if r.r == r.w {
		if err := r.fill(1); err != nil {
			return err
		}
		if err := r.wait(false); err != nil {
			return err
		}
	}
	if err := r.fill(lengthSize); err != nil {
		return cut(err)
	}
	r.size = int64(r.order.Uint32(r.buf[r.r:]))
	r.r += lengthSize
	r.offset, r.left = r.offset+lengthSize, r.size
	if r.size > r.options.MaxPacket {
		return &PacketError{Size: r.size, Max: r.options.MaxPacket, Offset: r.offset}
	}
	if r.size == 0 {
		return emptyPacket()
	}
	r.state = stateNew
	return nil
}

func (r *Reader) wait(idle bool) error {
	if r.deadline == nil {
		return nil
	}
	return r.deadline(idle)
}

// drop reads over what is left of the packet. It does not seek: that would find
// no end.
func (r *Reader) drop() error {
	for r.left > 0 {
		if r.r == r.w {
			if err := r.fill(1); err != nil {
				return err
			}
		}
		n := min(int64(r.w-r.r), r.left)
		r.r += int(n)
		r.left -= n
	}
	return nil
}

// fill reads until n bytes are in buf[r:w], at most bufferSize. Whatever it
// returns, what it has read stays.
func (r *Reader) fill(n int) error {
	if r.r == r.w || r.r+n > len(r.buf) {
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

// read is src's Read, which is not trusted: it returns bytes or an error. An error
// that came with bytes is kept for the next call.
func (r *Reader) read(p []byte) (int, error) {
	if err := r.err; err != nil {
		r.err = nil
		return 0, err
	}
	for range maxEmptyReads {
		n, err := r.src.Read(p)
		if n < 0 || n > len(p) {
			return 0, errBadRead
		}
		if n > 0 {
			r.in += int64(n)
			r.err = err
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

// body is a Reader as the io.Reader of what is left of its packet. Nobody asks it
// for more than that.
type body Reader

func (b *body) Read(p []byte) (int, error) {
	r := (*Reader)(b)
	p = p[:min(int64(len(p)), r.left)]
	n := copy(p, r.buf[r.r:r.w])
	r.r += n
	if n == 0 {
		var err error
		if n, err = r.read(p); err != nil {
			return 0, cut(err)
		}
	}
	r.left -= int64(n)
	return n, nil
}

// cut is what an error is inside a packet.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
