// Package save opens saved games and recorded traffic, in files or pipes, plain, compressed or
// encrypted, and reads the values in them: an Input is opened as a Stack of layers around values, and
// a Stack becomes a Content that can be read several times. Both contain Packets.
package save

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
)

// A Frame is the form of the length before each packet, if any.
type Frame = recognize.Frame

// The frames.
const (
	Bare  = recognize.Bare  // no lengths
	U32   = recognize.U32   // 32 bits, little-endian
	U32BE = recognize.U32BE // 32 bits, big-endian
)

// A Reading describes how values are read.
type Reading struct {
	Decoder    gdwire.DecoderOptions
	Frame      Frame
	MaxPacket  int64               // maximum length of a packet in bytes, as in stream.Options
	Filled     bool                // bytes after the value of a packet are an error
	Candidates []gdwire.Format     // formats in which the first packets have the same values
	Rivals     []recognize.Reading // other readings that fit about equally well

	// MaxUnpacked is the maximum size in bytes of a compressed packet and of its content, with the default of MaxPacket.
	MaxUnpacked int64

	// Skip is the number of bytes of the game's own, such as a type, before the value of each packet of Unpack,
	// WholePackets and RecognizePackets.
	Skip int64

	undecided int // packets that did not decide between the Candidates
}

// As returns o with the format and frame of another reading.
func (o *Reading) As(r recognize.Reading) Reading {
	as := *o
	as.Decoder.Format, as.Frame, as.Candidates, as.Rivals = r.Format, r.Frame, nil, nil
	return as
}

// Framed reports whether packets are length-prefixed.
func (o *Reading) Framed() bool { return o.Frame != recognize.Bare }

// Encoder returns the options for re-encoding values.
func (o *Reading) Encoder() gdwire.EncoderOptions {
	return gdwire.EncoderOptions{
		Format: o.Decoder.Format, AllowInvalidUTF8: o.Decoder.AllowInvalidUTF8, DoubleReals: o.Decoder.DoubleReals,
		Depth: -1, // the Decoder limits the depth
	}
}

// A Packet is one value of the input: a length-prefixed packet, or one of several consecutive
// values.
type Packet struct {
	*gdwire.Decoder           // reads the value; invalid after the last token
	Index           int64     // its number in the input, or in its connection
	Connection      int64     // the number of its connection, or 0
	Offset          int64     // of its first byte in the input
	End             int64     // the offset of the end of its value, or of the first invalid byte
	Size            int64     // its length, if length-prefixed
	Err             error     // set at the start, or after the tokens of a length-prefixed packet
	Packed          *Unpacked // of a packet compressed by a script, read from its content, or nil
	Raw             []byte    // of WholePackets: the packet, until the next is read
	Skipped         []byte    // its start, skipped because of Reading.Skip

	Base    int64    // offset of the Decoder's input in the input
	Frames  Frames   // of a stream of length-prefixed packets, or nil
	content *Content // containing the packet, or nil
	odd     int64    // the sum of the lengths of InputEvents modulo 4
}

// Frames is a stream of length-prefixed packets, at one of them.
type Frames interface {
	// Finish is Packet.Finish for the packet.
	Finish(p *Packet, err error) error
}

// Framed reports whether the packet is length-prefixed.
func (p *Packet) Framed() bool {
	return p.Frames != nil || p.content != nil && p.content.Frame != Bare
}

// Limit returns the offset of the end of the packet of a Content, or of the Content if the Content ends
// before or the packet is without a length.
func (p *Packet) Limit() int64 {
	if !p.Framed() {
		return p.content.Size
	}
	return min(p.Offset+p.Size, p.content.Size)
}

// AllTokens iterates over the tokens of the packet's value, up to an error. The offset of the error
// is relative to the start of the input.
func (p *Packet) AllTokens(yield func(gdwire.Token, error) bool) {
	err := p.Err
	if err == nil {
		var t gdwire.Token
		at := p.InputOffset()
		for t, err = range p.Tokens() {
			if t.Kind() == gdwire.KindInputEvent {
				p.odd += (p.InputOffset() - at) & 3
			}
			at = p.InputOffset()
			if err == nil && !yield(t, nil) {
				return
			}
		}
		err = p.Finish(err)
	}
	if err != nil {
		yield(gdwire.Token{}, err)
	}
}

// Finish returns the error of a packet after its value was read up to err. A truncated length-prefixed packet
// is invalid even if its value is complete. For a packet in a Content, Finish reads the rest of the value,
// and returns an error if bytes follow the value.
func (p *Packet) Finish(err error) error {
	if p.content != nil && err == nil {
		err = p.readRest()
	}
	if p.Frames != nil {
		return p.Frames.Finish(p, err)
	}
	p.End = p.ReadOffset()
	return err
}

// readRest reads the rest of the value of a packet in a Content.
func (p *Packet) readRest() error {
	var err error
	if p.InputOffset() == p.Offset {
		if err = p.SkipValue(); err == io.EOF { // a packet without a value
			err = ErrorIn(p.Index, p.Offset, errEmpty)
		}
	} else if err = p.SkipTo(0); err == io.EOF {
		err = nil
	}
	if n := p.Limit() - p.InputOffset(); err == nil && p.Framed() && n > 0 {
		err = ErrorIn(p.Index, p.InputOffset(), fmt.Errorf("%d bytes after the value", n))
	}
	return err
}

// ValueSize returns the size of a valid value in bytes, including missing padding. InputEvents can have any length and
// are not padded. For a compressed packet, ValueSize returns the size of the packet.
func (p *Packet) ValueSize() int64 {
	if p.Packed != nil {
		return p.Size
	}
	n := p.End - p.Offset - p.odd
	return (n+3)&^3 + p.odd
}

// ReadOffset returns the offset up to which the input was read, or in a compressed packet, the content of the
// packet.
func (p *Packet) ReadOffset() int64 { return p.Base + p.InputOffset() }

// Trailing returns the number of bytes after the value in its packet.
func (p *Packet) Trailing() int64 {
	if !p.Framed() {
		return 0
	}
	return p.Offset + p.Size - p.End
}

// FromStart makes the offset of an error relative to the start of the input. In a compressed packet, the error gets
// the offset of the packet.
func (p *Packet) FromStart(err error) error {
	if p.Packed != nil && err != nil && p.Packed.Err == nil {
		return &gdwire.Error{Offset: p.Offset, Path: "$", Err: packedError(p.Packed.Mode, err)}
	}
	if e := (*gdwire.Error)(nil); p.Base > 0 && errors.As(err, &e) {
		return &gdwire.Error{Offset: p.Base + e.Offset, Path: e.Path, Err: e.Err}
	}
	return err
}

// Values iterates over the values of d, up to the first invalid value, and releases d.
func Values(d *gdwire.Decoder) iter.Seq[*Packet] {
	return func(yield func(*Packet) bool) {
		defer d.Release()
		for i := int64(0); ; i++ {
			p := &Packet{Decoder: d, Index: i, Offset: d.InputOffset(), End: d.InputOffset()}
			if d.PeekKind() == 0 {
				if _, p.Err = d.ReadToken(); p.Err == io.EOF {
					return
				}
			}
			if !yield(p) {
				return
			}
		}
	}
}

// NewDecoder returns a Decoder of single packets.
func (o *Reading) NewDecoder() *gdwire.Decoder {
	one := o.Decoder
	one.OneValue = true
	return gdwire.NewDecoder(nil, &one)
}

// maxUndecided is the maximum number of packets read in all candidate formats.
const maxUndecided = 1 << 12

// DecideFormat reports whether the packet decides between the candidate formats, and then sets
// Decoder.Format. If too many packets do not decide, the first candidate remains.
func (o *Reading) DecideFormat(packet []byte) bool {
	if o.sameInAll(packet) {
		return false
	}
	if o.undecided++; o.undecided > maxUndecided {
		o.Candidates = nil // the Decoder uses the first candidate
		return false
	}
	r := recognize.Recognize(&recognize.Input{
		Head: packet, Size: int64(len(packet)), Decoder: o.Decoder,
		Formats: o.Candidates, Frames: []recognize.Frame{recognize.Bare},
	})
	if r.Certainty < recognize.Probably || len(r.Readings) != 1 {
		return false
	}
	o.Decoder.Format, o.Candidates = r.Readings[0].Format, nil
	return true
}

// sameInAll reports whether a packet is a null, bool, number, String or Vector2 in all candidate
// formats. Godot 2 knows no flag for numbers of 64 bits.
func (o *Reading) sameInAll(packet []byte) bool {
	const vector2, wide = 5, 1
	return len(packet) >= 4 && packet[0] <= vector2 && packet[1] == 0 && packet[3] == 0 &&
		(packet[2] == 0 || packet[2] == wide && !slices.Contains(o.Candidates, gdwire.Godot2))
}

// An Unpacked is a packet, perhaps compressed by a script, and its value.
type Unpacked struct {
	Skipped    []byte // the bytes at the start of the packet skipped because of Reading.Skip
	Value      []byte // the content of a packet both compressed and valid, and otherwise the rest of the packet
	Compressed bool
	Mode       fileaccess.Mode // of a compressed packet
	Trailing   int             // bytes at the end of Value after the value
	Err        error           // why the packet is invalid, or nil
}

// ModeName returns the name of the mode of a compressed packet, and otherwise "".
func (u *Unpacked) ModeName() string {
	if !u.Compressed {
		return ""
	}
	return u.Mode.String()
}

// Pack returns the packet with another value, compressed in the same mode as before, if any.
func (u *Unpacked) Pack(value []byte) []byte {
	if u.Compressed {
		value, _ = fileaccess.Compress(nil, value, u.Mode) // engines write the mode
	}
	if u.Skipped != nil {
		value = slices.Concat(u.Skipped, value)
	}
	return value
}

// Unpack returns the value in a packet, or the packet itself if invalid. If Candidates are left, the packet can
// decide between them, and is read in the first format in which the packet is valid.
func (o *Reading) Unpack(packet []byte) Unpacked {
	if o.Skip == 0 {
		return o.unpackInAny(packet)
	}
	skipped := o.Skipped(packet)
	u := o.unpackInAny(packet[len(skipped):])
	u.Skipped = skipped
	return u
}

// Skipped returns the bytes at the start of a packet skipped because of Skip.
func (o *Reading) Skipped(packet []byte) []byte { return packet[:min(o.Skip, int64(len(packet)))] }

// BeginsAt reports whether the bytes of a packet from n to the end are a value as engines write it.
func (o *Reading) BeginsAt(packet []byte, n int) bool {
	return n < len(packet) && slices.ContainsFunc(append(o.Candidates[:len(o.Candidates):len(o.Candidates)], o.Decoder.Format), func(format gdwire.Format) bool {
		as := *o
		as.Decoder.Format = format
		return as.isWritten(packet[n:])
	})
}

// AreValues reports whether all of a packet is values as engines write them.
func (o *Reading) AreValues(packet []byte) bool {
	strict := o.Decoder
	strict.Strict = true
	for len(packet) > 0 { // each alone, or a strict Decoder would refuse the bytes after it
		n, err := Skip(strict, Block(packet), 0, int64(len(packet)))
		if err != nil {
			return false
		}
		packet = packet[n:]
	}
	return true
}

// unpackInAny is Unpack for a packet beginning with its value.
func (o *Reading) unpackInAny(packet []byte) Unpacked {
	u := o.unpack(packet)
	if o.Candidates == nil {
		return u
	}
	as := *o
	for i := 0; u.Err != nil && i < len(o.Candidates); i++ {
		as.Decoder.Format = o.Candidates[i]
		if other := as.unpack(packet); other.Err == nil {
			u = other
		}
	}
	if o.DecideFormat(u.Value) {
		return o.unpack(packet)
	}
	return u
}

// Second returns the bytes after the value in a packet if they begin with another value, and otherwise nil.
func (o *Reading) Second(u *Unpacked) []byte {
	rest := u.Value[len(u.Value)-u.Trailing:]
	if _, err := o.validate(rest); err != nil {
		return nil
	}
	return rest
}

// unpack returns the value in a packet, in the format of the Decoder. No compressed content begins with a header as
// engines write it. Any other bytes can be a stream of FastLZ, and to a lenient Decoder most streams are a value with
// other bytes after it. A packet is compressed if its content is a value as engines write it, or large: neither happens
// by chance.
func (o *Reading) unpack(packet []byte) Unpacked {
	u := Unpacked{Value: packet}
	if MayBePacked(packet) {
		content, mode, err := o.decompress(packet)
		if mode != fileaccess.FastLZ || isTooLarge(err) || err == nil && o.isWritten(content) {
			u = Unpacked{Value: content, Compressed: true, Mode: mode, Err: err}
		}
	}
	if u.Err == nil {
		u.Trailing, u.Err = o.validate(u.Value)
	}
	if u.Compressed && u.Err != nil {
		if isTooLarge(u.Err) {
			u.Err = fmt.Errorf("the decompressed size exceeds the limit of %d bytes; raise it with -max-packet", o.UnpackLimit())
		}
		u.Value, u.Trailing, u.Err = packet, 0, &gdwire.Error{Path: "$", Err: packedError(u.Mode, u.Err)}
	}
	return u
}

// MayBePacked reports whether a packet begins with a header that no engine writes, as compressed packets do.
func MayBePacked(packet []byte) bool { return !recognize.PlainHeader(packet) }

// packedError returns an error in the content of a packet compressed in a mode.
func packedError(mode fileaccess.Mode, err error) error {
	return fmt.Errorf("compressed with %v: %w", mode, err)
}

// isTooLarge reports whether err is about a content exceeding its limit.
func isTooLarge(err error) bool { return errors.As(err, new(*fileaccess.LimitError)) }

// UnpackLimit returns the maximum size in bytes of the content of a compressed packet.
func (o *Reading) UnpackLimit() int64 { return cmp.Or(o.MaxUnpacked, checked.MaxPacket) }

// isWritten reports whether a packet is a value as engines write it, and nothing else, even a value that is not
// allowed.
func (o *Reading) isWritten(packet []byte) bool {
	strict := *o
	strict.Decoder.Strict = true
	_, err := strict.validate(packet)
	return err == nil || errors.Is(err, gdwire.ErrObject) || errors.Is(err, gdwire.ErrLimit)
}

// validate returns the number of bytes after the value in a packet, or why the packet is invalid.
func (o *Reading) validate(packet []byte) (trailing int, err error) {
	if len(packet) == 0 {
		return 0, errors.New("empty packet")
	}
	d := o.NewDecoder()
	defer d.Release()
	d.ResetBytes(packet)
	if err = d.SkipValue(); err != nil {
		return 0, err
	}
	trailing = len(packet) - int(d.InputOffset())
	if _, err = d.ReadToken(); err != nil && err != io.EOF { // with -strict, bytes after the value are an error
		return 0, err
	}
	return trailing, nil
}

// modeOf returns the mode in which a packet is perhaps compressed. sure is false for FastLZ, because FastLZ writes
// no signature.
func modeOf(packet []byte) (mode fileaccess.Mode, sure bool) {
	info := detect(packet, func() io.Reader { return bytes.NewReader(packet) })
	if mode, sure = info.Mode, info.Container == fileaccess.Raw; !sure {
		mode = fileaccess.FastLZ
	}
	return mode, sure
}

// errNotFilled is the error of a stream of FastLZ not written by engines.
var errNotFilled = errors.New("less content than engines compress with FastLZ")

// decompress returns the content of a packet from PackedByteArray.compress, without zeros added before FastLZ, and
// the mode.
func (o *Reading) decompress(packet []byte) (content []byte, mode fileaccess.Mode, err error) {
	mode, _ = modeOf(packet)
	if content, err = fileaccess.Decompress(nil, packet, mode, o.UnpackLimit()); err != nil {
		return nil, mode, err
	}
	if mode == fileaccess.FastLZ && len(content) < fastlzFilled {
		return nil, mode, errNotFilled
	}
	if mode == fileaccess.FastLZ && len(content) == fastlzFilled {
		content = content[:valueEnd(content, []gdwire.Format{o.Decoder.Format}, []Frame{Bare})]
	}
	return content, mode, nil
}

// decompressHead returns the start of the content of a packet compressed by a script, or of the start of such a packet
// if cut is set. ok is false if the packet is not compressed.
func decompressHead(packet []byte, cut bool) (c recognize.Decompressed, ok bool) {
	mode, sure := modeOf(packet)
	if level := packet[0] >> 5; !sure && level > 1 { // of FastLZ
		return c, false
	}
	c = recognize.Decompressed{Zeros: mode == fileaccess.FastLZ, Sure: sure}
	r, err := fileaccess.NewReader(bytes.NewReader(packet), &fileaccess.Options{Raw: true, Mode: mode, Limits: fileaccess.Limits{Size: -1}})
	if err == nil {
		c.Content, err = io.ReadAll(io.LimitReader(r, recognize.HeadSize+1))
	}
	if len(c.Content) > recognize.HeadSize {
		c.Content, c.Cut = c.Content[:recognize.HeadSize], true
	} else if errors.Is(err, io.ErrUnexpectedEOF) && cut {
		c.Cut, err = true, nil
	}
	c.Zeros = c.Zeros && len(c.Content) == fastlzFilled
	return c, err == nil
}
