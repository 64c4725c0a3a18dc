package edit

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	mathbits "math/bits"
	"slices"
	"unicode"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
)

// A CorrectedError reports damage that is corrected, so that nothing else is lost.
type CorrectedError struct {
	Err    *gdwire.Error // the first
	Others []string      // other corrections that explain the rest about as well
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
	if end == c.Size {
		if fixed, corrected := Correct(c, whole, bad); fixed != nil {
			return fixed, corrected
		}
	}
	var all []splice
	if broken != nil {
		var zeros int64
		if all, zeros, bad = salvaged(&short, broken, bad); zeros > 0 { // the value is that before zeros
			return Repair(c, min((zeros+3)&^3, end-1))
		}
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

// Canonical returns a content that engines write, with a CorrectedError, in place of one that can be read although none writes it so.
// Otherwise it returns c and the error of the first value that no engine writes, or nil.
func Canonical(c *save.Content) (*save.Content, error) {
	strict, index := c.Repaired(c.ReaderAt, c.Size), int64(0)
	strict.Decoder.Strict, strict.Decoder.AllowObjects = true, true
	bad := strict.Packets(save.Every, func(p *save.Packet) (bool, error) {
		index = p.Index
		return true, p.Finish(nil)
	})
	if fixed, corrected := Correct(c, index, bad); fixed != nil {
		return fixed, corrected
	}
	return c, bad
}

// Correct returns a content of which all can be read up to the end of the packet with the index, or up to the end of all packets
// after lengths, because the bytes in error are corrected: bytes of texts that are no UTF-8 become question marks, or one type, count
// or length becomes the most probable one. Otherwise Correct returns nil, also if it is not known what else would be lost.
func Correct(c *save.Content, index int64, bad error) (*save.Content, error) {
	e := &CorrectedError{}
	if c.Size > save.MaxHeld || !errors.As(bad, &e.Err) || e.Err.Offset > c.Size {
		return nil, nil
	}
	b := make([]byte, c.Size)
	if _, err := c.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, nil
	}
	x := &corrector{Content: c.Repaired(bytes.NewReader(b), c.Size), b: b, index: index}
	x.Decoder.AllowObjects, x.Decoder.Strict = true, true
	isFixed := x.question(bad, e)
	for _, x.index = range []int64{index, 0} { // what a wrong count leaves of the first value are values, too
		if isFixed = isFixed || x.mean(e); c.Frame != save.Bare {
			break
		}
	}
	if x.Decoder.Strict = c.Decoder.Strict; !isFixed && !x.question(bad, e) {
		return nil, nil
	}
	x.Decoder = c.Decoder
	return x.Content, e
}

// A corrector corrects a damaged packet.
type corrector struct {
	*save.Content
	b       []byte // of the content
	index   int64  // of the packet, which ends at end
	end     int64
	d       *gdwire.Decoder
	items   []item // of the packet, up to the first that cannot be read
	missing int64  // values that the counts promise more than there are, or math.MaxInt64 if the item at broken cannot be read
	broken  int64
	left    int64 // bytes that may still be read
}

// A meaning is how the packet can be read strictly, up to its end, with other bytes in one place.
type meaning struct {
	value   int64 // the offset of the value
	at      int64 // of the bytes to correct:
	fix     []byte
	what    string      // says what they are then
	of      gdwire.Type // of the value
	isCount bool
	end     int64   // the offset after the value
	price   float64 // in bits
	bits    float64 // of it, for the value
}

// question replaces bytes of texts that are no UTF-8 by question marks, and reports whether all can be read then.
func (x *corrector) question(bad error, e *CorrectedError) bool {
	const most = 16 // bytes
	n, was := 0, bytes.Clone(x.b)
	for at := e.Err; errors.Is(bad, gdwire.ErrUTF8) && errors.As(bad, &at) && n < most; n++ {
		x.b[at.Offset] = '?'
		bad = x.read(nil)
	}
	if bad != nil {
		copy(x.b, was)
		return false
	}
	e.now = fmt.Sprintf("bytes of the text that are question marks now: %d", n)
	return true
}

// mean gives the packet its most probable meaning, unless something is lost in another one that is about as probable.
func (x *corrector) mean(e *CorrectedError) bool {
	all := x.meanings()
	if len(all) == 0 {
		return false
	}
	const large, noise = 64, 9.25 // bytes, and bits of a byte that is no value
	best := all[0]
	if size := best.end - best.value; size >= large && best.bits > noise*float64(size) {
		return false
	}
	now, others := best.what+" now", []string(nil)
	for _, m := range all[1:] {
		isSame := m.at == best.at && m.end == best.end
		also := ", or "
		switch {
		case m.price > best.price+explain.Doubt, isSame && m.of == best.of && !m.isCount:
			continue
		case !isSame && !(m.isCount && best.isCount):
			return false
		case isSame:
			also, m.what = ", and may have been ", m.of.String()
		}
		if len(others) > 0 {
			also = " or "
		}
		now, others = now+also+m.what, append(others, m.what)
	}
	e.now, e.Others = now, others
	x.put(best.at, best.fix)
	return true
}

// read reads the packets up to that with the index, or all after lengths.
func (x *corrector) read(m *meaning) error {
	return cmp.Or(x.CheckLengths(), x.Packets(save.Every, func(p *save.Packet) (bool, error) {
		if x.Frame == save.Bare && p.Index > x.index {
			return false, errors.New("another value")
		}
		if m != nil && p.Index == x.index {
			m.read(p)
		}
		return true, p.Finish(nil)
	}))
}

// An item is a value of the packet, or a container before the values in it.
type item struct {
	at      int64
	pending int64 // values that the counts before promise, with the item

	count  int64 // the offset of the count of a container, or 0
	each   int64 // the values for each of these
	n      int64 // the values that the count promises
	isMuch bool  // the count is more than what follows, and promises none
	isRow  bool  // a packed array

	isKnown bool // the type is one
}

// walk calls see for the items from an offset on, until see returns false. It returns where they end, or the first that cannot be read,
// and how many values the counts promise more than there are.
func (x *corrector) walk(at, pending int64, see func(item) bool) (end, missing int64) {
	for at < x.end && x.left > 0 {
		b, v := x.b[at:x.end], item{at: at, pending: pending, isKnown: true}
		x.d.ResetBytes(b)
		switch t, _ := x.d.PeekType(); t {
		case gdwire.TypeArray, gdwire.TypeDictionary:
			if v.each = 1; t == gdwire.TypeDictionary {
				v.each = 2
			}
			if v.count = at + lengthSize; len(b) < 2*lengthSize {
				return at, pending
			} else if b[2] > 0 { // declared types
				if _, err := x.d.ReadToken(); err != nil {
					return at, pending
				}
				v.count = at + x.d.InputOffset() - lengthSize
			}
			end = v.count + lengthSize
			if v.n = v.each * int64(binary.LittleEndian.Uint32(x.b[v.count:])); v.n > (x.end-end)/lengthSize {
				v.n, v.isMuch = 0, true
			}
		default:
			if x.d.SkipValue() != nil {
				return at, pending
			}
			end, v.isRow = at+x.d.InputOffset(), t.Element() != 0
		}
		if !see(v) {
			break
		}
		x.left -= end - at
		at, pending = end, pending+v.n-1
	}
	return at, pending
}

// meanings returns the meanings of the packet, the cheapest first.
func (x *corrector) meanings() (all []meaning) {
	const few, most = 8, 256 << 20 // items before one that cannot be read, and bytes read
	const proof = 1 << 30          // bits of a checksum that agrees, more than any price
	x.left, x.d, x.items = most, gdwire.NewDecoder(nil, &x.Decoder), nil
	defer x.d.Release()
	start, isTold := int64(0), x.IsTold()
	_ = x.Packets(func(i int64) bool { return i == x.index }, func(p *save.Packet) (bool, error) {
		start, x.end = p.Offset, p.Limit()
		return false, nil
	})
	nulls, isMuch := 0, false
	end, missing := x.walk(start, 1, func(v item) bool {
		isMuch = isMuch || v.isMuch
		if x.items = append(x.items, v); x.b[v.at] > 0 {
			nulls = 0
		}
		nulls++
		return nulls < zeroed
	})
	if nulls == zeroed {
		return nil
	}
	var some []meaning
	mayBeCut := !isTold && (isMuch || missing >= 0)
	if x.missing = missing; end < x.end {
		x.missing, x.broken = math.MaxInt64, end
		x.d.ResetBytes(x.b[end:x.end])
		_, err := x.d.PeekType()
		broken := item{at: end, pending: missing, isKnown: !errors.Is(err, gdwire.ErrType)}
		isCut := !isTold && errors.Is(x.d.SkipValue(), io.ErrUnexpectedEOF)
		if some = x.sizes(broken); !isCut {
			for _, v := range x.items[max(len(x.items)-few, 0):] {
				some = slices.Concat(some, x.sizes(v), x.types(v))
			}
			some = append(some, x.types(broken)...)
		}
	} else if some = x.counts(mayBeCut); !mayBeCut {
		for _, v := range x.items {
			if some = append(some, x.types(v)...); v.isRow {
				some = append(some, x.sizes(v)...)
			}
		}
	}
	for _, m := range some[:min(len(some), max(few, int(most/x.Size)))] {
		m.price = x.changed(&m)
		was := x.put(m.at, m.fix)
		if x.read(&m) == nil && m.of != gdwire.TypeObject {
			if x.IsProved() {
				m.price -= proof
			}
			m.what = cmp.Or(m.what, fmt.Sprintf("the type is %v", m.of))
			all = append(all, m)
		}
		x.put(m.at, was)
	}
	slices.SortStableFunc(all, func(a, b meaning) int { return cmp.Compare(a.price, b.price) })
	return all
}

// put writes bytes and returns those before.
func (x *corrector) put(at int64, b []byte) (was []byte) {
	was = bytes.Clone(x.b[at:][:len(b)])
	copy(x.b[at:], b)
	return was
}

// changed returns the price of the damage that a meaning corrects.
func (x *corrector) changed(m *meaning) (bits float64) {
	const perByte, perBit = 6, 2
	for i, now := range m.fix {
		if n := mathbits.OnesCount8(x.b[m.at+int64(i)] ^ now); n > 0 {
			bits += perByte + perBit*float64(min(n, 2))
		}
	}
	return bits
}

// counts returns the meanings with another count of a container, by which the counts promise as many values as there are. A count of
// a content that may be cut is only corrected if it is more by far than what follows.
func (x *corrector) counts(mayBeCut bool) (all []meaning) {
	const far = 1 << 16
	open := 0 // items before the end of the value by its counts
	for open < len(x.items) && x.items[open].pending > 0 {
		open++
	}
	fewest := int64(math.MaxInt64) // values pending at one of the items after
	for i := len(x.items) - 1; i >= 0; i-- {
		v := x.items[i]
		if n := v.n - x.missing; v.each > 0 && (x.missing != 0 || v.isMuch) && i < open && n >= 0 && n%v.each == 0 && fewest > x.missing {
			was, now := binary.LittleEndian.Uint32(x.b[v.count:]), uint32(n/v.each)
			if was^now >= far || !mayBeCut {
				all = append(all, meaning{value: v.at, at: v.count, fix: binary.LittleEndian.AppendUint32(nil, now), isCount: true,
					what: fmt.Sprintf("the count at offset %d is %d", v.count, now)})
			}
		}
		fewest = min(fewest, v.pending)
	}
	slices.SortStableFunc(all, func(a, b meaning) int { return cmp.Compare(x.changed(&a), x.changed(&b)) })
	return all
}

// types returns the meanings with another type of the item, or other bits after its type, as engines write them.
func (x *corrector) types(v item) (all []meaning) {
	const ids = 40
	add := func(fix ...byte) {
		if m := (meaning{value: v.at, at: v.at, fix: fix}); x.fits(v, &m) {
			all = append(all, m)
		}
	}
	for id := byte(0); id < ids; id++ {
		add(id)
	}
	if b := x.b[v.at:x.end]; len(b) >= lengthSize {
		for _, flags := range []byte{b[2], 0, 1} {
			add(b[0], 0, flags, 0)
		}
	}
	return all
}

// sizes returns the meanings with another length of a text or count of a packed array.
func (x *corrector) sizes(v item) (all []meaning) {
	const head = 2 * lengthSize
	b, at := x.b[v.at:x.end], v.at+lengthSize
	if len(b) < head {
		return nil
	}
	was := x.put(at, make([]byte, lengthSize)) // a count can be refused
	x.d.ResetBytes(b)
	t, err := x.d.ReadToken()
	x.put(at, was)
	add := func(n int, what string) {
		m := meaning{value: v.at, at: at, fix: binary.LittleEndian.AppendUint32(nil, uint32(n)), what: fmt.Sprintf(what, v.at, n)}
		if x.fits(v, &m) {
			all = append(all, m)
		}
	}
	switch n, _ := t.Type().Element().Components(); {
	case err != nil:
	case t.Kind() == gdwire.KindStringChunk:
		for less := range 2 { // the text ends at a NUL in its padding, or at the header after it
			if n := bytes.IndexByte(b[head:], 0) - less; n >= 0 && !bytes.ContainsFunc(b[head:][:n], unicode.IsControl) {
				add(n, "the text at offset %d has %d bytes")
			}
		}
	case t.Kind() == gdwire.KindPackedStart:
		size := t.Width() / 8 * max(n, 1)
		for n, end := 0, head; end <= len(b) && x.left > 0; n++ {
			if after := b[min((end+3)&^3, len(b)):]; len(after) == 0 || recognize.PlainHeader(after) {
				add(n, "the array at offset %d has %d elements")
			}
			if size == 0 { // texts
				if end+lengthSize > len(b) {
					break
				}
				text := int64(binary.LittleEndian.Uint32(b[end:]))
				if text > int64(len(b)) { // and perhaps more than an int of 32 bits
					break
				}
				end += lengthSize + int(text+3)&^3
			}
			end += size
			x.left-- // many arrays can be before few headers
		}
	}
	return all
}

// fits reports whether the items from one on that a meaning changes end with the packet, and are as many as the counts promise: those
// from one of the other items on are as they were. In a content that may be cut, an item must follow one of a known type.
func (x *corrector) fits(v item, m *meaning) bool {
	const perTry = 64
	if x.left -= perTry; bytes.HasPrefix(x.b[m.at:], m.fix) {
		return false
	}
	was, same, isProved := x.put(m.at, m.fix), 0, false
	end, missing := x.walk(v.at, v.pending, func(w item) (goOn bool) {
		isProved = isProved || w.at > x.broken && x.b[w.at] > 0 // zeros prove nothing
		i, isSame := slices.BinarySearchFunc(x.items, w.at, func(x item, at int64) int { return cmp.Compare(x.at, at) })
		if isSame && w.at > v.at {
			same = i
		}
		return same == 0
	})
	x.put(m.at, was)
	if same > 0 && x.missing < math.MaxInt64 {
		end, missing = x.end, missing-x.items[same].pending+x.missing
	}
	return end == x.end && missing == 0 && (isProved || !v.isKnown || x.IsTold())
}

// read prices the tokens of a packet.
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
		if m.price += explain.Price(t); name != "" && cmp.Or(types[name], t.Type()) != t.Type() {
			m.price += change
		}
		if at >= m.value {
			if m.end == 0 {
				m.bits += explain.Price(t)
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

// zeroed is the number of nulls, one after another, that are zeros in place of other values.
const zeroed = 16

// salvageChunk makes chunks small, because a cut chunk is lost completely.
const salvageChunk = 16

// salvaged returns the splices for turning a damaged packet into its longest valid start, or nil if no
// part is valid, and the error at its end: bad, or that of a text that no engine writes before. The last splice ends the content.
// If zeros in place of others were read before the error, salvaged returns their offset instead.
func salvaged(c *save.Content, p *save.Packet, bad error) (all []splice, zeros int64, err error) {
	o := c.Decoder
	o.MaxChunk, o.OneValue = salvageChunk, true
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	c.Place(d, p)
	var s salvage
	var keys recognize.NullKeys
	nulls := 0 // before the error
	for t, err := range d.Tokens() {
		if err == nil && t.Kind() == gdwire.KindStringChunk && bytes.IndexByte(t.Bytes(), 0) >= 0 {
			bad = d.WrapError(save.ErrNUL)
			break
		}
		if err != nil {
			break
		}
		isTwice := keys.Next(d, t) > 1
		switch {
		case isTwice:
			nulls = zeroed
		case t.Kind() == gdwire.KindNil:
			nulls++
		case t.IsValue():
			nulls = 0
		}
		if s.token(t, d.InputOffset()); isTwice {
			break
		}
	}
	if nulls >= zeroed {
		if zeros, err = save.ZerosAtEnd(c, d.InputOffset()); err == nil && zeros > p.Offset {
			return nil, zeros, bad
		}
	}
	return s.splices(p, c.Frame), 0, bad
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
