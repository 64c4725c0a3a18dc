package save

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/values/reals"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
	"github.com/gdwire/gdwire/internal/values/text"
)

// A Content is a content that can be read several times: packets after their lengths, or values one after another,
// which are packets without a length.
type Content struct {
	io.ReaderAt
	Size    int64
	Frame   Frame
	Decoder gdwire.DecoderOptions
	Encoder gdwire.EncoderOptions // DoubleReals is for a content without math types to tell the width

	rivals []*Content   // other readings that fit about equally well
	narrow bool         // there are no real components of 64 bits, but perhaps others
	from   int64        // length-prefixed packets that end before are skipped
	origin *Content     // before all edits, or nil if there were none
	width  *reals.Width // of the first packet with real components, if known
	around *explain.Parse

	check func(*Content) error // returns why the content must not be edited, or nil; nil if it may be edited
}

// NewContent returns the content of size bytes of r, as read by o.
func NewContent(r io.ReaderAt, size int64, o *Reading) *Content {
	c := &Content{ReaderAt: r, Size: size, Frame: o.Frame, Decoder: o.Decoder, Encoder: o.Encoder()}
	for _, rival := range o.Rivals {
		as := o.As(rival)
		c.rivals = append(c.rivals, NewContent(r, size, &as))
	}
	return c
}

// NewPacket returns a content of one packet, without its length. If o.Format is 0, the format is Godot
// 4.
func NewPacket(packet []byte, o gdwire.DecoderOptions) *Content {
	o.Format = cmp.Or(o.Format, gdwire.Godot4)
	return NewContent(Block(packet), int64(len(packet)), &Reading{Decoder: o})
}

// errEmpty is the error of a packet that is too short for a value.
var errEmpty = errors.New("a length without a value")

// Every accepts all packets.
func Every(int64) bool { return true }

// CheckLengths returns an error if the lengths do not end at the end of the content, or if a length
// is not followed by a value.
func (c *Content) CheckLengths() error {
	if c.Frame == Bare {
		return nil
	}
	index, end := int64(0), int64(0)
	for p, err := range c.extents {
		switch {
		case err != nil:
			return err
		case p.end > c.Size:
			return ErrorIn(p.index, c.Size, io.ErrUnexpectedEOF)
		case p.end-p.start < minPacket:
			return ErrorIn(p.index, p.start-lengthSize, errEmpty)
		}
		index, end = p.index+1, p.end
	}
	if end < c.Size {
		return ErrorIn(index, c.Size, io.ErrUnexpectedEOF)
	}
	return nil
}

// checkValues returns an error if the content contains anything else than whole values.
func (c *Content) checkValues() error {
	all := *c
	all.Decoder.AllowObjects = true
	end := int64(0) // of the values so far
	err := cmp.Or(c.CheckLengths(), all.Packets(Every, func(p *Packet) (bool, error) {
		err := p.Finish(nil)
		if err == nil {
			end = p.End
		}
		return true, err
	}))
	if err != nil && end > 0 && c.Frame == Bare {
		return fmt.Errorf("values end at offset %d, and something else follows: %w", end, err)
	}
	return err
}

// ErrorIn returns an error in a packet.
func ErrorIn(index, offset int64, err error) error {
	return &gdwire.Error{Offset: offset, Path: string(text.AppendPacket(nil, index)), Err: err}
}

// IsDamage reports whether an error is about the content, and not about reading the content.
func IsDamage(err error) bool { return errors.As(err, new(*gdwire.Error)) }

// Repaired returns a content like c, of size bytes of r.
func (c *Content) Repaired(r io.ReaderAt, size int64) *Content {
	repaired := *c
	repaired.ReaderAt, repaired.Size, repaired.rivals = r, size, nil
	for _, rival := range c.rivals {
		repaired.rivals = append(repaired.rivals, rival.Repaired(r, size))
	}
	return &repaired
}

// Edited returns c with size bytes of r in place of its own, and without other readings.
func (c *Content) Edited(r io.ReaderAt, size int64) *Content {
	edited := *c
	edited.ReaderAt, edited.Size, edited.origin, edited.rivals = r, size, cmp.Or(c.origin, c), nil
	return &edited
}

// RealsOf returns the width of the real components in a packet.
func (c *Content) RealsOf(p *Packet) (reals.Width, error) {
	o := c.Decoder
	o.OneValue, o.AllowObjects = true, true
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	c.Place(d, p)
	return reals.Read(d)
}

// OtherReals returns the width of the real components in other packets, as the content was before all
// edits, because an edit can have deleted the last of these packets.
func (c *Content) OtherReals() reals.Width {
	first := cmp.Or(c.origin, c)
	if first.width == nil {
		w := first.Reals(first.Size)
		if w == reals.Unknown && c.Encoder.DoubleReals {
			w = reals.Double
		}
		first.width = &w
	}
	return *first.width
}

// Reals returns the width of the real components in the first packet that starts in the first most bytes and
// contains some. Reals reads no further than a packet with an error.
func (c *Content) Reals(most int64) (w reals.Width) {
	objects := *c
	objects.Decoder.AllowObjects = true
	objects.Size = min(c.Size, most)
	_ = objects.Packets(Every, func(p *Packet) (bool, error) {
		var err error
		if w, err = reals.Read(p.Decoder); err != nil || w != reals.Unknown {
			return false, err
		}
		return true, nil
	})
	return w
}

// parse returns the parse of a file with the content, or nil if there is none, as writing the file tells.
func (c *Content) parse() *explain.Parse {
	if c.around == nil {
		return nil
	}
	content := make([]byte, c.Size)
	if _, err := c.ReadAt(content, 0); err != nil && err != io.EOF {
		return nil
	}
	p, err := c.around.WithContent(content)
	if err != nil {
		return nil
	}
	return p
}

// IsProved reports whether a checksum agrees with the content that agreed with none before.
func (c *Content) IsProved() bool {
	p := c.parse()
	if p == nil {
		return false
	} else if _, n := p.Secret(); n == 0 {
		return false
	}
	p = explain.Find(p.Bytes(), &explain.Options{Formats: []gdwire.Format{c.Decoder.Format}})
	if p == nil {
		return false
	}
	_, n := p.Secret()
	return n == 0
}

// IsTold reports whether lengths or a size in the file say where the content ends: it is not cut.
func (c *Content) IsTold() bool {
	if c.around != nil {
		return c.around.IsTold()
	}
	return c.Frame != Bare
}

// Streams returns the contents and bytes of the streams around the value of a packet, from the innermost.
func (c *Content) Streams(packet int64) [][]byte {
	if p := c.parse(); p != nil {
		return p.Streams(int(packet))
	}
	return nil
}

// IsDouble reports whether Reals(most) is reals.Double, or for a content with real components at the start, whether these
// are. The content is read token by token only if it is large or some of its bytes can be the header of a value with 64
// bits.
func (c *Content) IsDouble(most int64) bool {
	const head = 2 << 10
	if c.Decoder.Format != gdwire.Godot4 || c.narrow || c.Size <= MaxHeld && !c.mayBeDouble() {
		return c.Encoder.DoubleReals
	}
	w := c.Reals(head)
	if w == reals.Unknown {
		w = c.Reals(most)
	}
	return w == reals.Double
}

// mayBeDouble reports whether four bytes anywhere are the header of a math type or packed array of 64 bits.
func (c *Content) mayBeDouble() bool {
	const flag, size = 2, 4 // of the header
	block := make([]byte, min(windowSize, c.Size))
	for at := int64(0); at < c.Size; at += windowSize - size + 1 {
		n, err := c.ReadAt(block, at)
		if err != nil && err != io.EOF {
			return true
		}
		for i := flag; i < n-1; i++ {
			next := bytes.IndexByte(block[i:n-1], 1)
			if next < 0 {
				break
			}
			i += next
			t := gdwire.Type(block[i-flag]) + 1 // of Godot 4
			if block[i-1] == 0 && block[i+1] == 0 && gdwire.Godot4.Has(t) && reals.Differ(t) {
				return true
			}
		}
	}
	return false
}

// Packets calls yield for each wanted packet, until yield returns false or an error. The Decoder is
// at the start of the packet, for yield to read.
func (c *Content) Packets(wanted func(index int64) bool, yield func(*Packet) (bool, error)) error {
	if c.Frame == Bare {
		return c.values(wanted, yield)
	}
	do := c.Decoder
	do.OneValue = true
	d := gdwire.NewDecoder(nil, &do)
	defer d.Release()
	for at, err := range c.extents {
		if err != nil {
			return err
		}
		if !wanted(at.index) || at.end <= c.from && at.end-at.start >= minPacket {
			continue
		}
		p := &Packet{Decoder: d, Index: at.index, Offset: at.start, Size: at.end - at.start, content: c}
		if at.odd {
			if err := c.checkPacked(p); err != nil {
				return err
			}
		}
		c.Place(d, p)
		if goOn, err := yield(p); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// checkPacked returns an error if a packet is compressed. The error is no damage.
func (c *Content) checkPacked(p *Packet) error {
	u, err := c.unpack(p.Offset, p.Offset+p.Size)
	if err == nil && u.Compressed {
		err = fmt.Errorf("packet %d is compressed with %v as by a script: such packets can be shown and recoded, and not edited", p.Index, u.Mode)
	}
	return err
}

// unpack returns the value in an odd packet, or none if the packet is cut or too large.
func (c *Content) unpack(start, end int64) (u Unpacked, err error) {
	o := Reading{Decoder: c.Decoder}
	if end > c.Size || end-start > o.UnpackLimit() {
		return u, nil
	}
	packet := make([]byte, end-start)
	if _, err := c.ReadAt(packet, start); err != nil && err != io.EOF {
		return u, err
	}
	return o.Unpack(packet), nil
}

// Unpacked returns the content with packets compressed by a script replaced by their values, and the number of these
// packets. If there is none, or the result would exceed most bytes, Unpacked returns 0.
func (c *Content) Unpacked(most int64) (data []byte, packets int, err error) {
	if c.Frame == Bare {
		return nil, 0, nil
	}
	done := int64(0) // the content up to done is in all
	var all bytes.Buffer
	add := func(end int64) error {
		_, err := io.Copy(&all, io.NewSectionReader(c, done, end-done))
		return err
	}
	for p, err := range c.extents {
		var u Unpacked
		if err == nil && p.odd {
			u, err = c.unpack(p.start, p.end)
		}
		if err == nil && u.Compressed && u.Err == nil {
			err = add(p.start - lengthSize)
			all.Write(c.Frame.Order().AppendUint32(nil, uint32(len(u.Value))))
			all.Write(u.Value)
			packets, done = packets+1, p.end
		}
		if err != nil || int64(all.Len()) > most {
			return nil, 0, err
		}
	}
	if err = add(c.Size); packets == 0 || int64(all.Len()) > most {
		return nil, 0, nil
	}
	return all.Bytes(), packets, err
}

// An extent is the location of a packet, without its length.
type extent struct {
	index, start, end int64
	odd               bool // no engine writes such a header
}

// extents iterates over the packets, by their lengths. The last one can end after the end of the content. Without lengths, all is one.
func (c *Content) extents(yield func(extent, error) bool) {
	p := extent{end: c.Size}
	if c.Frame == Bare {
		_ = yield(p, nil)
		return
	}
	w, order := newWindow(c.ReaderAt, c.Size), c.Frame.Order()
	for at := int64(0); c.Size-at >= lengthSize; p.index++ {
		b, err := w.bytes(at, int(min(lengthSize+minPacket, c.Size-at)))
		if err == nil {
			p.start = at + lengthSize
			p.end = p.start + int64(order.Uint32(b))
			p.odd = p.end-p.start >= minPacket && !recognize.PlainHeader(b[lengthSize:])
			at = p.end
		}
		if !yield(p, err) || err != nil {
			return
		}
	}
}

// Place makes d read a packet. Offsets are in the content, and paths start with the number of the
// packet.
func (c *Content) Place(d *gdwire.Decoder, p *Packet) {
	ResetAt(d, c.ReaderAt, p.Offset, p.Limit())
	export.Place(d, p.Offset, p.Index)
}

// values calls yield for each value.
func (c *Content) values(wanted func(index int64) bool, yield func(*Packet) (bool, error)) error {
	d := gdwire.NewDecoder(nil, &c.Decoder)
	defer d.Release()
	ResetAt(d, c.ReaderAt, 0, c.Size)
	for i := int64(0); d.InputOffset() < c.Size; i++ {
		export.Place(d, 0, i)
		if !wanted(i) {
			if err := d.SkipValue(); err != nil {
				return err
			}
		} else if goOn, err := yield(&Packet{Decoder: d, Index: i, Offset: d.InputOffset(), content: c}); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// A window keeps the latest bytes of a ReaderAt in memory.
type window struct {
	r     io.ReaderAt
	size  int64
	start int64
	buf   []byte
}

// newWindow returns a window of size bytes of r, with all those of a Block.
func newWindow(r io.ReaderAt, size int64) *window {
	w := &window{r: r, size: size}
	if b, ok := r.(Block); ok && int64(len(b)) >= size {
		w.buf = b[:size]
	}
	return w
}

// bytes returns n bytes at an offset. They are valid until the next call.
func (w *window) bytes(at int64, n int) ([]byte, error) {
	if at < w.start || at+int64(n) > w.start+int64(len(w.buf)) {
		if w.buf == nil {
			w.buf = make([]byte, windowSize)
		}
		w.buf = w.buf[:min(int64(cap(w.buf)), w.size-at)]
		w.start = at
		if read, err := w.r.ReadAt(w.buf, at); read < len(w.buf) {
			w.buf = w.buf[:0]
			return nil, checked.NoEOF(err)
		}
	}
	return w.buf[at-w.start:][:n], nil
}

const windowSize = 32 << 10

// An AmbiguousError reports output that would differ between several readings of the input fitting about equally
// well.
type AmbiguousError struct{ Readings []recognize.Reading }

func (e *AmbiguousError) Error() string {
	var flags []string
	for _, r := range e.Readings {
		flags = append(flags, r.String())
	}
	return fmt.Sprintf("can be read in %d ways, in which this would write other bytes; choose one: %s", len(flags), strings.Join(flags, " or "))
}

// maxReadings is the maximum number of readings for which output is made.
const maxReadings = 4

// Agree returns an AmbiguousError unless write writes the same bytes, or returns an error, for all readings of the
// content that fit about equally well. Agree returns the error of the first reading, c. If there is no other, write is
// not called.
func (c *Content) Agree(write func(as *Content, w io.Writer) error) error {
	if len(c.rivals) == 0 {
		return nil
	}
	e := &AmbiguousError{}
	var first error
	var want []byte
	same := len(c.rivals) < maxReadings
	for _, as := range append([]*Content{c}, c.rivals...) {
		e.Readings = append(e.Readings, as.Reading())
		if !same {
			continue
		}
		sum := sha256.New()
		err := write(as, sum)
		if as == c {
			first, want = err, sum.Sum(nil)
		}
		same = (err == nil) == (first == nil) && (err != nil || bytes.Equal(sum.Sum(nil), want))
	}
	if same {
		return first
	}
	return e
}

// Reading returns how the content is read.
func (c *Content) Reading() recognize.Reading {
	return recognize.Reading{Format: c.Decoder.Format, Frame: c.Frame}
}

// Edit returns the content returned by edit for c, if edit makes the same bytes of all readings of the content that
// fit about equally well. The result can be read in these ways, too.
func (c *Content) Edit(edit func(*Content) (*Content, error)) (*Content, error) {
	if c.check != nil {
		if err := c.check(c); err != nil {
			return nil, err
		}
		c.check = nil
	}
	edited, err := edit(c)
	if len(c.rivals) == 0 {
		return edited, err
	}
	var rivals []*Content
	err = c.Agree(func(as *Content, w io.Writer) error {
		next, err := edited, err
		if as != c {
			next, err = edit(as)
			rivals = append(rivals, next)
		}
		if err == nil {
			_, err = io.Copy(w, io.NewSectionReader(next, 0, next.Size))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	edited.rivals = rivals
	return edited, nil
}

// A Store is a content for several goroutines to read at any offset and time: in memory, or in its file.
type Store struct {
	Size int64
	Data []byte      // the whole content, or nil
	File io.ReaderAt // if Data is nil

	changed func() error // returns an error once the file changed
}

// CopyTo writes the content.
func (c *Content) CopyTo(w io.Writer) error {
	_, err := io.Copy(w, io.NewSectionReader(c, 0, c.Size))
	return err
}

// InMemory returns a Store of bytes in memory.
func InMemory(data []byte) *Store { return &Store{Size: int64(len(data)), Data: data} }

// Edited returns the Store of an edited content that reads from s. A content of up to most bytes is read into
// memory.
func (s *Store) Edited(c *Content, most int64) (*Store, error) {
	if c.Size > most {
		return &Store{Size: c.Size, File: c, changed: s.changed}, nil
	}
	data := make([]byte, c.Size)
	if _, err := io.ReadFull(io.NewSectionReader(c, 0, c.Size), data); err != nil {
		return nil, err
	}
	return InMemory(data), nil
}

// ErrFileChanged is the error of a Store after a change of its file.
var ErrFileChanged = errors.New("the file has changed")

// Check returns ErrFileChanged once the file of the Store changed.
func (s *Store) Check() error {
	if s.Data != nil || s.changed == nil {
		return nil
	}
	return s.changed()
}

// ReaderAt returns a reader of the content.
func (s *Store) ReaderAt() io.ReaderAt {
	if s.Data != nil {
		return Block(s.Data)
	}
	return s.File
}

// Bytes returns up to n bytes from an offset on. They must not be changed.
func (s *Store) Bytes(at int64, n int) ([]byte, error) {
	if at < 0 || at > s.Size {
		return nil, fmt.Errorf("there is no offset %d", at)
	}
	n = int(min(int64(n), s.Size-at))
	if s.Data != nil {
		return s.Data[at : at+int64(n)], nil
	}
	b := make([]byte, n)
	_, err := s.File.ReadAt(b, at)
	return b, checked.NoEOF(err)
}
