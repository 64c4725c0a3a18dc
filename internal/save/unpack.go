package save

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save/recognize"
	"github.com/gdwire/gdwire/stream"
)

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
	skipped := o.skipped(packet)
	u := o.unpackInAny(packet[len(skipped):])
	u.Skipped = skipped
	return u
}

// skipped returns the bytes at the start of a packet skipped because of Skip.
func (o *Reading) skipped(packet []byte) []byte { return packet[:min(o.Skip, int64(len(packet)))] }

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
	d := gdwire.NewDecoder(nil, &strict)
	defer d.Release()
	for len(packet) > 0 {
		d.ResetBytes(packet) // for each value, or a strict Decoder would refuse the bytes after it
		if d.SkipValue() != nil {
			return false
		}
		packet = packet[d.InputOffset():]
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
	plain := Unpacked{Value: packet}
	if recognize.PlainHeader(packet) {
		plain.Trailing, plain.Err = o.validate(packet)
		return plain
	}
	content, mode, err := o.decompress(packet)
	if mode == fileaccess.FastLZ && !isTooLarge(err) && (err != nil || !o.isWritten(content)) {
		plain.Trailing, plain.Err = o.validate(packet)
		return plain
	}
	trailing := 0
	if err == nil {
		trailing, err = o.validate(content)
	}
	if isTooLarge(err) {
		err = fmt.Errorf("the decompressed size exceeds the limit of %d bytes; raise it with -max-packet", o.maxUnpacked())
	}
	if err != nil {
		return Unpacked{Value: packet, Compressed: true, Mode: mode, Err: &gdwire.Error{Path: "$", Err: packedError(mode, err)}}
	}
	return Unpacked{Value: content, Compressed: true, Mode: mode, Trailing: trailing}
}

// packedError returns an error in the content of a packet compressed in a mode.
func packedError(mode fileaccess.Mode, err error) error {
	return fmt.Errorf("compressed with %v: %w", mode, err)
}

// isTooLarge reports whether err is about a content exceeding its limit.
func isTooLarge(err error) bool { return errors.As(err, new(*fileaccess.LimitError)) }

// maxUnpacked returns the maximum size in bytes of the content of a compressed packet.
func (o *Reading) maxUnpacked() int64 { return cmp.Or(o.MaxUnpacked, stream.DefaultMaxPacket) }

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
	if mode, sure = rawMode(bufio.NewReaderSize(bytes.NewReader(packet), sniffBytes)); !sure {
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
	if content, err = fileaccess.Decompress(nil, packet, mode, o.maxUnpacked()); err != nil {
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
