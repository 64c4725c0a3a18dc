package gdwire

import (
	"bytes"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
)

// How the fast path goes over values without tokens: skipFast for SkipValue, SkipTo and the ends of
// loops, and passFast and passNames for CopyValue, to copy their bytes. Their loops carry a load, the
// size of the text just read, so they are judged by time, not by instructions.

// skipFast skips values on the fast path, without creating tokens, while at least open
// containers are open. It returns where the slow path must read a token; lookahead.skip then calls
// skipFast again.
func (p *fastPath) skipFast(open int) {
	for p.depth >= open {
		switch {
		case p.fastValues != nil:
			if !p.skipValues(open) {
				return
			}
		case p.fastNames != nil:
			if p.skipNames(); p.remaining > 0 {
				return
			}
			p.readEnd()
		default:
			return // also after packed data, because the End may be beyond fastValues
		}
	}
}

// skipValues skips values of Arrays and Dictionaries on the fast path, while at least open
// containers are open. It returns false where it cannot read the next value. Of the skipped
// keys and tokens, only the positions of the last are kept: paths need them if an error
// follows.
//
// This loop and those of skipNames, passFast and passNames are judged by time, not by
// instructions: see "Speed" in CONTRIBUTING.md. Each position depends on the size of the value
// before. Adding a size waits for its load; adding a constant in a branch does not, because
// branches are predicted. Adding the size of short texts takes 1.6 % more instructions, but 35 %
// more time of SkipValue, so this function branches more than others.
func (p *fastPath) skipValues(open int) bool {
	buf, r, remaining, sizes := p.fastValues, p.r, p.remaining, &p.forms.sizes
	last, before, end := -1, -1, len(buf)-4 // last and before are the positions of the last two values in buf
	for {
	loop:
		for remaining > 0 { // without calls, so that its variables stay in registers
			r &= math.MaxInt
			if r > end {
				break
			}
			next := r
			if h := le.Uint32(buf[r : r+4]); h != stringHeader { // of buf[r:], it would cost a check of bounds below
				if next += sizes.of(h); next == r || next > len(buf) {
					break
				}
			} else if r > len(buf)-keyBytes {
				break
			} else {
				b := (*[keyBytes]byte)(buf[r:])
				// As wire.ShortText, for up to 16 bytes: -34 % of packets. After the text, its padding and
				// the next header are also ASCII; otherSize measures all other texts.
				switch m := le.Uint32(b[4:]) - 1; {
				case m < 4 && le.Uint32(b[8:])&(wire.NotASCII>>32) == 0:
					next += 12
				case m < 8 && le.Uint64(b[8:])&wire.NotASCII == 0:
					next += 16
				case m < 12 && (le.Uint64(b[8:])|le.Uint64(b[12:]))&wire.NotASCII == 0:
					next += 20
				case m < 16 && (le.Uint64(b[8:])|le.Uint64(b[16:]))&wire.NotASCII == 0:
					next += 24
				default:
					break loop
				}
			}
			before, last, r = last, r, next
			remaining--
		}
		p.setPos(r)
		if remaining == 0 { // as readEnd
			p.markEmpty(p.pos())
			if k := p.pop().kind; k != KindArrayStart && k != KindDictStart {
				p.startFast()
			}
			if p.depth < open || p.fastValues == nil {
				return true
			}
			remaining, last, before = p.remaining, -1, -1
			continue
		}
		form, b := p.forms.formAt(buf, r)
		if form == nil || form.shape != shapeArray && form.shape != shapeDict {
			if size := p.otherSize(form, b); size > 0 {
				before, last, r = last, r, r+size
				remaining--
				continue
			}
			form = nil
		}
		p.skipped(remaining, last, before) // openFast and the slow path continue from there
		if form == nil || !p.openFast(form, le.Uint32(b[4:])) {
			return false
		}
		r, remaining, last, before = p.r, p.remaining, -1, -1
	}
}

// measure is export.Measure, but returns the largest header instead of wide.
func (table *formTable) measure(b []byte, count uint64) (size int64, rest uint64, header uint32) {
	for ; count > 0 && size <= int64(len(b)-8); count-- {
		head := le.Uint64(b[size:])
		h, n := uint32(head), int64(head>>32)
		if h == stringHeader {
			size += 8 + (n+3)&^3
			continue
		}
		header = max(header, h)
		if next := table.sizes.of(h); next > 0 {
			size += int64(next)
			continue
		}
		switch form, ok := table.find(h); {
		case !ok:
			return size, count, header
		case form.shape == shapeText:
			size += 8 + (n+3)&^3
		case form.shape == shapePacked:
			size += 8 + (n*int64(form.size)+3)&^3
		case form.shape == shapeArray, form.shape == shapeDict:
			size += 8
			count += uint64(n&math.MaxInt32) << (form.pairs & 1)
		default:
			end := form.measureNames(b, size)
			if end == 0 {
				return size, count, header
			}
			size = end
		}
	}
	return size, count, header
}

// measureNames returns the end of the NodePath or PackedStringArray at an offset of b, or 0 for another value or one
// without its end in b.
func (f *form) measureNames(b []byte, at int64) (end int64) {
	n := le.Uint32(b[at+4:])
	switch end = at + 8; {
	case f.shape == shapeNodePath && at <= int64(len(b)-16) && n >= newNodePathBit && le.Uint32(b[at+12:]) <= nodePathAbsolute:
		n, end = n&^newNodePathBit+le.Uint32(b[at+8:]), at+16
	case f.shape != shapePackedStrings:
		return 0
	}
	for ; n > 0; n-- {
		if end > int64(len(b)-4) {
			return 0
		}
		end += 4 + int64(wire.Padded(le.Uint32(b[end:])))
	}
	return end
}

// skipped sets the state after skipped values. The last two values of the innermost container were at
// last and before in the buffer, or at -1.
func (p *fastPath) skipped(remaining uint64, last, before int) {
	if last < 0 {
		return
	}
	pos := p.base + uint64(last)
	if form, _ := p.forms.find(le.Uint32(p.fastValues[last:])); form.shape > shapeText {
		pos = p.pos() // of its End
	}
	if remaining&1 != 0 { // the latest value is a key
		before = last
	}
	if p.pairs != 0 && before >= 0 { // if only a value was skipped, its key is set already
		p.setKey(p.base + uint64(before))
	}
	p.markEmpty(pos)
	p.setRemaining(remaining)
}

// otherSize returns the size of the next value: a longer string, a NodePath, a packed array, or a
// String in the last bytes of the buffer, or 0 if the slow path must handle the value.
func (p *fastPath) otherSize(form *form, b *[fastSize]byte) int {
	if form == nil {
		b := p.fastValues[p.r:]
		if len(b) < 8 || le.Uint32(b) != stringHeader || p.textAt(p.r+8, le.Uint32(b[4:])) == nil {
			return 0
		}
		return 8 + int(wire.Padded(le.Uint32(b[4:])))
	}
	n := le.Uint32(b[4:])
	if p.depth == 0 { // a packed array; skipping ends after it: see SkipValue
		if data, ok := p.wholePacked(form, n); ok {
			p.consumePacked(data)
			p.markEmpty(p.pos()) // the token of its End
		}
		return 0
	}
	switch form.shape {
	case shapeText:
		if p.textAt(p.r+8, n) != nil {
			return 8 + int(wire.Padded(n))
		}
	case shapePacked:
		if data, ok := p.wholePacked(form, n); ok {
			return 8 + (data+3)&^3
		}
	case shapeNodePath:
		if names, ok := p.nodePathCount(b); ok {
			size := p.namesSize(16, names, 1)
			if p.plainPaths && size > 16 {
				p.plainPaths = !hasSeparator(p.fastValues[p.r+16 : p.r+size])
			}
			return size
		}
	case shapePackedStrings:
		if p.countFits(n, uint64(n)) {
			return p.namesSize(8, n, 0)
		}
	}
	return 0
}

// hasSeparator reports whether names with their lengths contain a separator of the text of a NodePath, or a length with
// the byte of one.
func hasSeparator(names []byte) bool {
	return bytes.IndexByte(names, '/') >= 0 || bytes.IndexByte(names, ':') >= 0
}

// namesSize returns the size of a NodePath or PackedStringArray with n names or strings after a head of this
// size, or 0 if the slow path must handle one of them, such as one of fewer bytes than least. Without
// namesSize, SkipValue takes 138 % more instructions.
func (p *fastPath) namesSize(head int, n, least uint32) int {
	buf, r := p.fastValues, p.r+head
	for range n {
		if r > len(buf)-fastSize {
			return 0
		}
		b := (*[fastSize]byte)(buf[r:])
		n := le.Uint32(b[:])
		size := wire.ShortText(n, le.Uint64(b[4:]))
		if size == 0 {
			if n < least || p.textAt(r+4, n) == nil {
				return 0
			}
			size = 4 + int(wire.Padded(n))
		}
		r += size
	}
	p.values += uint64(n) // as opening it would do
	return r - p.r
}

// skipNames skips names or packed strings of an open container, judged by time, as
// skipValues.
func (p *fastPath) skipNames() {
	names, r, remaining := p.fastNames, p.r, p.remaining
	last := p.tokenPos()
	for r <= len(names)-fastSize && remaining > 0 {
		b := (*[fastSize]byte)(names[r:])
		n := le.Uint32(b[:])
		size := wire.ShortText(n, le.Uint64(b[4:]))
		if size == 0 {
			if p.textAt(r+4, n) == nil {
				break
			}
			size = 4 + int(wire.Padded(n))
		}
		last = p.base + uint64(r)
		remaining--
		r += size
	}
	p.passEmpty(r, last)
	p.setRemaining(remaining)
}

// passFast goes over at most `most` bytes of the values of the innermost container that an Encoder
// would write as they are: no containers, no bools but 0 and 1, padding of zeros. Without passFast,
// CopyValue takes 264 % more instructions. It is judged by time: see skipValues. Adding the size of
// short texts, in place of two branches, takes 7 to 15 % more time of CopyValue.
func (p *fastPath) passFast(most int) {
	buf, r, remaining := p.fastValues, p.r, p.remaining
	buf = buf[:min(len(buf), r+most)] // no more than there is room for in the Encoder
	last := p.tokenPos()
loop:
	for r <= len(buf)-fastSize && remaining > 0 {
		b := (*[fastSize]byte)(buf[r:])
		n := le.Uint32(b[4:])
		form, ok := p.forms.find(le.Uint32(b[:]))
		// An Encoder writes bools as 0 or 1, whatever number a lenient Decoder read as true.
		if !ok || form.shape > shapeText || n > 1 && form.kind == KindBool {
			break
		}
		next := r
		switch {
		case form.shape != shapeText:
			next += 4 + int(form.size)
		case n-1 < 4 && wire.PlainText(le.Uint64(b[8:]), n): // at once, with the padding
			next += 12
		case n-1 < 8 && wire.PlainText(le.Uint64(b[8:]), n):
			next += 16
		default:
			// Of other text, the last word contains one to three bytes of padding above those of
			// the text.
			next += 8 + int(wire.Padded(n))
			if p.textAt(r+8, n) == nil || next > len(buf) || n&3 != 0 && le.Uint32(buf[next-4:])>>(8*(n&3)) != 0 {
				break loop
			}
		}
		if next > len(buf) {
			break
		}
		last = p.base + uint64(r)
		if ^remaining&p.pairs != 0 {
			p.setKey(last)
		}
		remaining--
		r = next
	}
	p.passEmpty(r, last)
	p.setRemaining(remaining)
}

// passNames goes over at most `most` bytes of names or packed strings that an Encoder would write
// as they are. Without passNames, CopyValue takes 79 % more instructions. It is judged by time,
// as skipValues.
func (p *fastPath) passNames(most int) {
	names, r, remaining := p.fastNames, p.r, p.remaining
	names = names[:min(len(names), r+most)]
	last := p.tokenPos()
	for r <= len(names)-fastSize && remaining > 0 {
		b := (*[fastSize]byte)(names[r:])
		n := le.Uint32(b[:])
		size := 4 + int(wire.Padded(n))
		if n-1 >= 8 || !wire.PlainText(le.Uint64(b[4:]), n) {
			if p.textAt(r+4, n) == nil || size > len(names)-r || n&3 != 0 && le.Uint32(names[r+size-4:])>>(8*(n&3)) != 0 {
				break
			}
		}
		if p.nameNUL > 0 && (n == 0 || names[r+3+int(n)] != 0) { // WriteToken adds the NUL
			break
		}
		last = p.base + uint64(r)
		remaining--
		r += size
	}
	p.passEmpty(r, last)
	p.setRemaining(remaining)
}
