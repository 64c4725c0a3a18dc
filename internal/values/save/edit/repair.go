package edit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/save"
)

// A CorrectedError reports damage that is corrected, so that nothing else is lost.
type CorrectedError struct {
	Err *gdwire.Error // the first
	now string
}

func (e *CorrectedError) Error() string { return fmt.Sprintf("%v; %s", e.Err, e.now) }

// Unwrap returns the error that was corrected.
func (e *CorrectedError) Unwrap() error { return e.Err }

// Repair returns the content with a CorrectedError if all of it can be read after a correction. Otherwise it returns the content
// up to its first error: complete values, and of the damaged value the longest valid start, with corrected counts. The content is
// taken to end at end. bad is the error, or nil if there is none; a content without values cannot be repaired and is nil.
func Repair(c *save.Content, end int64) (repaired *save.Content, bad error) {
	short := *c
	short.Size = end
	short.Decoder.AllowObjects = true
	good, whole := int64(0), int64(0) // the offset after the last complete value, and the number of these
	var broken *save.Packet
	bad = short.Packets(save.Every, func(p *save.Packet) (bool, error) {
		broken = p
		if err := p.Finish(nil); err != nil {
			return false, err
		}
		if p.Offset+p.Size > end {
			return false, save.ErrorIn(p.Index, end, io.ErrUnexpectedEOF)
		}
		good, broken = p.InputOffset(), nil
		whole++
		return true, nil
	})
	if (bad == nil || !save.IsDamage(bad)) && good == c.Size {
		return c, bad
	}
	if fixed, corrected := correct(c, whole, bad); fixed != nil && end == c.Size {
		return fixed, corrected
	}
	var all []splice
	if broken != nil {
		all = salvaged(&short, broken)
	}
	if all == nil {
		all = []splice{{start: good, end: c.Size}}
		if c.Frame == save.Bare {
			all[0].bytes = make([]byte, -good&3) // padding
		}
	}
	all[len(all)-1].end = c.Size
	t := newTable(c.ReaderAt, c.Size).splice(all)
	if t.size == 0 {
		return nil, bad
	}
	return c.Repaired(t, t.size), bad
}

// correct returns a content of which all can be read up to the end of the packet with the index, or up to the end of all packets
// after lengths, because the bytes in error are corrected: one type that is none becomes the most probable one, or bytes of texts
// that are no UTF-8 become question marks. Otherwise correct returns nil.
func correct(c *save.Content, index int64, bad error) (*save.Content, error) {
	const (
		most  = 16      // bytes corrected
		types = 40      // their ids
		rare  = 1 << 20 // bits, more than any evidence: types that few values have fit by chance where a value is read as several
	)
	var first *gdwire.Error
	if c.Size > save.MaxHeld || !errors.As(bad, &first) || first.Offset >= c.Size {
		return nil, nil
	}
	b := make([]byte, c.Size)
	if _, err := c.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, nil
	}
	fixed := c.Repaired(bytes.NewReader(b), c.Size)
	fixed.Decoder.AllowObjects = true
	read := func() error {
		return cmp.Or(fixed.CheckLengths(), fixed.Packets(save.Every, func(p *save.Packet) (bool, error) {
			if c.Frame == save.Bare && p.Index > index {
				return false, errors.New("another value")
			}
			return true, p.Finish(nil)
		}))
	}
	typeNow := func() gdwire.Type {
		d := gdwire.NewDecoder(nil, &fixed.Decoder)
		defer d.Release()
		d.ResetBytes(b[first.Offset:])
		t, _ := d.ReadToken()
		return t.Type()
	}
	now := ""
	switch wrong := &b[first.Offset]; {
	case errors.Is(bad, gdwire.ErrUTF8):
		n := 0
		for at := first; errors.Is(bad, gdwire.ErrUTF8) && errors.As(bad, &at) && n < most; n++ {
			b[at.Offset] = '?'
			bad = read()
		}
		now = fmt.Sprintf("bytes of the text that are question marks now: %d", n)
	case errors.Is(bad, gdwire.ErrType):
		best, evidence := *wrong, math.Inf(-1)
		for id := range byte(types) {
			*wrong = id
			if read() == nil {
				bits := fixed.Evidence(b)
				switch typeNow() {
				case gdwire.TypeNil, gdwire.TypeBool, gdwire.TypeInt, gdwire.TypeFloat, gdwire.TypeString, gdwire.TypeDictionary, gdwire.TypeArray:
				default:
					bits -= rare
				}
				if bits > evidence {
					best, evidence, bad = id, bits, nil
				}
			}
		}
		*wrong = best
		now = fmt.Sprintf("the type is %v now", typeNow())
	}
	if bad != nil {
		return nil, nil
	}
	fixed.Decoder = c.Decoder
	return fixed, &CorrectedError{first, now}
}

// A salvage finds the longest valid start of a damaged value.
type salvage struct {
	open []level
	end  int64 // the offset after a complete value, or 0
}

// A level is an open container.
type level struct {
	kind    gdwire.Kind
	countAt int64 // the offset of its count
	len     int64 // the count
	done    int64 // complete elements, pairs or properties
	end     int64 // the offset after them
	inKey   bool  // of a Dictionary: the next value is a key
}

// salvageChunk makes chunks small, because a cut chunk is lost completely.
const salvageChunk = 16

// salvaged returns the splices for turning a damaged packet into its longest valid start, or nil if no
// part is valid. The last splice ends the content.
func salvaged(c *save.Content, p *save.Packet) []splice {
	o := c.Decoder
	o.MaxChunk, o.OneValue = salvageChunk, true
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	c.Place(d, p)
	var s salvage
	for t, err := range d.Tokens() {
		if err != nil {
			break
		}
		s.token(t, d.InputOffset())
	}
	return s.splices(p, c.Frame)
}

// token follows a token that ends at an offset.
func (s *salvage) token(t gdwire.Token, at int64) {
	switch t.Kind() {
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart, gdwire.KindPackedStart,
		gdwire.KindNodePathStart, gdwire.KindImageStart:
		s.open = append(s.open, level{kind: t.Kind(), countAt: at - 4, len: t.Len(), end: at})
		return
	case gdwire.KindEnd:
		s.open = s.open[:len(s.open)-1]
	case gdwire.KindDictKey:
		s.open[len(s.open)-1].inKey = true
		return
	case gdwire.KindProperty:
		return
	case gdwire.KindStringChunk:
		if !t.Last() {
			return
		}
	case gdwire.KindChunk:
		s.add(t.Len(), at)
		return
	}
	s.add(1, at)
}

// add counts n complete values that end at an offset.
func (s *salvage) add(n, at int64) {
	if len(s.open) == 0 {
		s.end = at // bytes follow the value, or its padding is missing
		return
	}
	l := &s.open[len(s.open)-1]
	if l.inKey {
		l.inKey = false
		return
	}
	l.done += n
	l.end = at
}

// splices returns the splices that close the open containers.
func (s *salvage) splices(p *save.Packet, frame save.Frame) (all []splice) {
	for i, l := range s.open {
		if l.kind == gdwire.KindNodePathStart || l.kind == gdwire.KindImageStart { // cannot end early
			s.open = s.open[:i]
			break
		}
		if l.inKey { // the open containers inside are part of a key
			s.open = s.open[:i+1]
			break
		}
	}
	end := s.end
	if len(s.open) > 0 {
		end = s.open[len(s.open)-1].end
	}
	if end == 0 {
		return nil
	}
	padding := make([]byte, (p.Offset-end)&3)
	if frame != save.Bare {
		length := frame.Order().AppendUint32(nil, uint32(end-p.Offset)+uint32(len(padding)))
		all = append(all, splice{start: p.Offset - lengthSize, end: p.Offset, bytes: length})
	}
	for i := range s.open {
		l := &s.open[i]
		if i < len(s.open)-1 {
			l.done++ // the container inside
		}
		b := countBytes(l.len, l.done)
		all = append(all, splice{start: l.countAt, end: l.countAt + int64(len(b)), bytes: b})
	}
	return append(all, splice{start: end, bytes: padding})
}
