package edit

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/explain"
)

// A CorrectedError reports damage that is corrected, so that nothing else is lost.
type CorrectedError struct {
	Err    *gdwire.Error // the first
	Others []gdwire.Type // which the corrected value may have had as well
	now    string
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
		all, bad = salvaged(&short, broken, bad)
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
// after lengths, because the bytes in error are corrected: one type that is none or one length of a text becomes the most probable
// one, or bytes of texts that are no UTF-8 become question marks. Otherwise correct returns nil, also if it is not known what else
// would be lost.
func correct(c *save.Content, index int64, bad error) (*save.Content, error) {
	const most = 16 // bytes corrected
	var first *gdwire.Error
	if c.Size > save.MaxHeld || !errors.As(bad, &first) || first.Offset > c.Size {
		return nil, nil
	}
	b := make([]byte, c.Size)
	if _, err := c.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, nil
	}
	fixed := c.Repaired(bytes.NewReader(b), c.Size)
	fixed.Decoder.AllowObjects = true
	read := func(m *meaning) error {
		return cmp.Or(fixed.CheckLengths(), fixed.Packets(save.Every, func(p *save.Packet) (bool, error) {
			if c.Frame == save.Bare && p.Index > index {
				return false, errors.New("another value")
			}
			if m != nil && p.Index == index {
				m.read(p)
			}
			return true, p.Finish(nil)
		}))
	}
	e := &CorrectedError{Err: first}
	if all := meanings(fixed, b, index, first, read); len(all) > 0 {
		best := all[0]
		e.now = fmt.Sprintf("the type is %v now", best.of)
		if len(best.fix) == lengthSize {
			e.now = fmt.Sprintf("the text at offset %d has %d bytes now", best.value, binary.LittleEndian.Uint32(best.fix))
		}
		for _, m := range all[1:] {
			if m.price > best.price+explain.Doubt {
				break
			} else if m.at != best.at || m.end != best.end {
				return nil, nil
			}
			e.now += fmt.Sprintf("%s %v", [...]string{", and may have been", " or"}[min(len(e.Others), 1)], m.of)
			e.Others = append(e.Others, m.of)
		}
		copy(b[best.at:], best.fix)
		bad = nil
	} else if errors.Is(bad, gdwire.ErrUTF8) {
		fixed.Decoder.Strict = c.Decoder.Strict
		n := 0
		for at := first; errors.Is(bad, gdwire.ErrUTF8) && errors.As(bad, &at) && n < most; n++ {
			b[at.Offset] = '?'
			bad = read(nil)
		}
		e.now = fmt.Sprintf("bytes of the text that are question marks now: %d", n)
	}
	if bad != nil {
		return nil, nil
	}
	fixed.Decoder = c.Decoder
	return fixed, e
}

// A meaning is how the bytes from a damaged value on can be read strictly, up to their end.
type meaning struct {
	value int64  // the offset of the value
	at    int64  // of the bytes to correct:
	fix   []byte // the type, or the length of a text
	of    gdwire.Type
	end   int64   // the offset after the value
	price float64 // in bits
}

// meanings returns the meanings of the value with the first error in the packet with the index of c, which are the bytes b, the
// cheapest first. read reads all of c.
func meanings(c *save.Content, b []byte, index int64, first *gdwire.Error, read func(*meaning) error) (all []meaning) {
	const types, head = 40, 8 // their ids; the bytes of the header and the length of a text
	const proof = 1 << 30     // bits of a checksum that agrees, more than any price
	c.Decoder.Strict = true
	add := func(m meaning) {
		was := bytes.Clone(b[m.at:][:len(m.fix)])
		if copy(b[m.at:], m.fix); read(&m) == nil {
			if c.IsProved() {
				m.price -= proof
			}
			all = append(all, m)
		}
		copy(b[m.at:], was)
	}
	for id := byte(0); errors.Is(first, gdwire.ErrType) && first.Offset < c.Size && id < types; id++ {
		add(meaning{value: first.Offset, at: first.Offset, fix: []byte{id}})
	}
	at := int64(-1) // the first text that no engine writes, or the last one before the error
	_ = c.Packets(func(i int64) bool { return i == index }, func(p *save.Packet) (bool, error) {
		start := p.Offset
		for t, err := range p.Tokens() {
			if start+head < c.Size && b[start] == byte(gdwire.TypeString)-1 && (err != nil || t.Kind() == gdwire.KindStringChunk) {
				at = start
			}
			if err != nil || at == start && bytes.IndexByte(t.Bytes(), 0) >= 0 {
				break
			}
			start = p.InputOffset()
		}
		return false, nil
	})
	for less := int64(0); at >= 0 && less < 2; less++ { // the text ends at a NUL in its padding, or at the header after it
		n := int64(bytes.IndexByte(b[at+head:], 0)) - less
		if n >= 0 && at+head+(n+3)&^3 < c.Size && !bytes.ContainsFunc(b[at+head:][:n], unicode.IsControl) {
			add(meaning{value: at, at: at + lengthSize, fix: binary.LittleEndian.AppendUint32(nil, uint32(n))})
		}
	}
	slices.SortStableFunc(all, func(x, y meaning) int { return cmp.Compare(x.price, y.price) })
	return all
}

// read prices the tokens of a packet from the value on.
func (m *meaning) read(p *save.Packet) {
	const change = 12 // of a key of another type than the key before, or a value of another type than with the same key before
	types := map[string]gdwire.Type{}
	name, depth, before, at := "", 0, p.Depth(), p.Offset // name is "key", or "." and the key
	for t, err := range p.Tokens() {
		if err != nil {
			return // as Finish tells
		} else if t.Kind() == gdwire.KindDictKey {
			name = "key"
			continue
		}
		if at >= m.value {
			if m.price += explain.Price(t); name != "" && cmp.Or(types[name], t.Type()) != t.Type() {
				m.price += change
			}
			if m.of == 0 {
				m.of, depth = t.Type(), before
			}
			if m.end == 0 && p.Depth() == depth {
				m.end = p.InputOffset()
			}
		}
		types[name] = t.Type()
		if name == "key" && t.Last() {
			name = "." + t.Text()
		} else {
			name = ""
		}
		before, at = p.Depth(), p.InputOffset()
	}
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
// part is valid, and the error at its end: bad, or that of a text that no engine writes before. The last splice ends the content.
func salvaged(c *save.Content, p *save.Packet, bad error) ([]splice, error) {
	o := c.Decoder
	o.MaxChunk, o.OneValue = salvageChunk, true
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	c.Place(d, p)
	var s salvage
	for t, err := range d.Tokens() {
		if err == nil && t.Kind() == gdwire.KindStringChunk && bytes.IndexByte(t.Bytes(), 0) >= 0 {
			bad = d.WrapError(save.ErrNUL)
			break
		}
		if err != nil {
			break
		}
		s.token(t, d.InputOffset())
	}
	return s.splices(p, c.Frame), bad
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
