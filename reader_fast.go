package gdwire

import (
	"bytes"
	"math"

	"github.com/gdwire/gdwire/internal/hook"
	"github.com/gdwire/gdwire/internal/wire"
)

// The fast path reads values and names that are completely in the buffer and have a header without
// flags of declared types. It returns no errors: each function that reads either consumes a whole
// value, name or start, or returns nil, false or 0 and consumes nothing. The caller then turns to
// the slow path, which finds the error or waits for more bytes. What it accepts must be
// accepted by the slow path with the same tokens: TestBufferSizesAgree and FuzzDecode compare
// them.
//
// The order here: what all reads share, ReadToken, texts, math types, starts of containers,
// NodePaths, packed arrays, Ends and switching the path on and off, skipping, copying.

// A fastPath has the bytes and the nesting of a Decoder, and what it needs to recognize values: the
// tables of the format and the limits. It is the wall between the two paths. Its methods
// never read from the Reader and know no errors, bulk reads or loops; a Decoder, which knows
// them, switches it off where it must handle them first.
type fastPath struct {
	window
	state

	values uint64 // declared so far in the top-level value, including itself

	// Derived from the options by configure.
	format     *Format
	forms      *formTable
	noFastPath bool  // there is no fast path: with Strict, or where chunks can be shorter than smallestChunk
	maxWhole   int   // the maximum length of a string in one chunk and within Limits
	maxChunk   int   // the maximum length of a chunk
	maxCount   int64 // the maximum count that the fast path reads: below bit 31 and within Limits
	maxDepth   int
	bounds     bounds
}

// configure derives the fields for the options of a Decoder.
func (p *fastPath) configure(o *DecoderOptions) {
	p.format = o.Format
	p.forms = &o.Format.forms[bit(o.DoubleReals)]
	p.bounds = o.Limits.bounds()
	p.maxChunk = min(max(o.MaxChunk, smallestChunk), largestChunk)
	p.maxDepth = int(min(p.bounds[limitDepth], mostFrames))
	p.maxWhole = int(min(int64(p.maxChunk), p.bounds[limitString]))
	p.maxCount = min(p.bounds[limitElements], sharedBit-1)
	p.noFastPath = o.Strict || p.maxWhole < smallestChunk
}

// limitValue sets the limits of a top-level value that starts at pos(). The sum for Limits.Values
// starts at 1, for the value itself.
func (p *fastPath) limitValue() {
	p.startValue(uint64(p.bounds[limitBytes]))
	p.values = 1
}

// setValues sets the number of declared values, for the slow path.
func (p *fastPath) setValues(n uint64) { p.values = n }

// fastSize is the number of bytes that the fast path loads for a value: a header and a
// number, or a header, a length and up to eight bytes of text. Values in fewer bytes, at the end of
// the buffer, are for lastForm or the slow path.
const fastSize = 16

const (
	// stringHeader is the header of a String in every format.
	stringHeader = 4
	// stringHead is the head of its form.
	stringHead = uint64(KindStringChunk) | uint64(TypeString)<<8 | uint64(flagLast|2<<offsetShift)<<16
)

// take consumes the next value, of size bytes, on the fast path. It returns nil, the error of
// typed reads. The compiler marks the start of inlined code by an instruction, unless the
// line of the call has another. So both calls are on one line, and typed reads call take in the
// line in which they return: -2 % of typed reads of known shape.
func (p *fastPath) take(size int) error {
	p.passEmpty(p.r+size, p.countAt(p.base+uint64(p.r)))
	return nil
}

// fastForm returns the form of the next value and its first bytes. It returns nil if the
// fast path cannot read the value: if it is near the end of the buffer, or has a header with flags of
// declared types or of no meaning, which the slow path explains.
func (p *fastPath) fastForm() (f *form, b *[fastSize]byte) {
	if p.remaining > 0 {
		f, b = p.forms.formAt(p.fastValues, p.r&math.MaxInt)
	}
	return
}

// formAt returns the form of the value at r in buf and its first bytes, or nil.
func (table *formTable) formAt(buf []byte, r int) (f *form, b *[fastSize]byte) {
	if r <= len(buf)-fastSize {
		b = (*[fastSize]byte)(buf[r:])
		if form, ok := table.find(le.Uint32(b[:])); ok {
			f = form
		}
	}
	return
}

// lastForm returns the form of the next value if it is a number, math type or short string, and
// the buffer ends in fewer than fastSize bytes, as at the end of a packet. It copies these bytes
// to b, because loads of fastSize bytes would be beyond the buffer. It returns nil if the value is
// incomplete. Without it, typed reads of a packet of 100 bytes take 22 to 62 % more instructions,
// by the type of its last value.
func (p *fastPath) lastForm(b *[fastSize]byte) *form {
	buf, r := p.fastValues, p.r
	n := len(buf) - r
	if n < 4 || n >= fastSize || p.remaining == 0 {
		return nil
	}
	copy(b[:], buf[r:])
	h := le.Uint32(b[:])
	form := &p.forms.byHeader[formIndex(h)]
	size := 4 + int(form.size)
	switch form.shape {
	case shapeWord, shapeMath:
	case shapeText:
		text := wire.ShortText(le.Uint32(b[4:]), le.Uint64(b[8:]))
		if text == 0 {
			return nil
		}
		size = 4 + text
	default:
		return nil
	}
	if h != form.header || size > n {
		return nil
	}
	return form
}

// takeLast consumes the value that lastForm has found and returns its token.
func (p *fastPath) takeLast(form *form, b *[fastSize]byte) Token {
	t := Token{head: form.head}
	switch n := le.Uint32(b[4:]); form.shape {
	case shapeWord:
		t.bits = le.Uint64(b[4:]) & form.mask
		_ = p.take(4 + int(form.size))
		return t
	case shapeText:
		t.head |= uint64(n) << 32
		t.bits = uint64(n)
		_ = p.take(8 + int(wire.Padded(n)))
	default:
		_ = p.take(4 + int(form.size))
	}
	p.keep() // take has marked the token as empty
	t.src, t.pos = &p.tokenSource, p.mark
	return t
}

// fastString consumes the next value, a String or StringName, or the next name or packed
// string, and returns its text in the buffer. It returns false if the fast path cannot read
// it.
func (p *fastPath) fastString() (text []byte, ok bool) {
	form, b := p.fastForm()
	if form == nil {
		return p.fastLastString()
	}
	if form.shape != shapeText {
		return nil, false
	}
	return p.fastStringOf(le.Uint32(b[4:]))
}

// fastLastString reads for fastString a name, a packed string, or a text in the last bytes of the
// buffer.
func (p *fastPath) fastLastString() (text []byte, ok bool) {
	if p.fastValues == nil {
		return p.fastName()
	}
	var b [fastSize]byte
	if form := p.lastForm(&b); form == nil || form.shape != shapeText {
		return nil, false
	}
	return p.fastStringOf(le.Uint32(b[4:]))
}

// fastStringOf consumes the next value, a String or StringName of n bytes, for fastString. It
// returns false if the text is not whole, see wholeText.
func (p *fastPath) fastStringOf(n uint32) (text []byte, ok bool) {
	i := p.r + 8
	if !p.wholeText(i, n) {
		return nil, false
	}
	_ = p.take(8 + int(wire.Padded(n)))
	return p.buf[i : i+int(n)], true
}

// fastName consumes the next name or packed string and returns its text in the buffer, without
// the NUL that engines write. It returns false if the fast path cannot read it.
func (p *fastPath) fastName() (text []byte, ok bool) {
	names, r, left := p.fastNames, p.r&math.MaxInt, p.remaining
	if r > len(names)-fastSize || left == 0 {
		return nil, false
	}
	b := (*[fastSize]byte)(names[r:])
	n := le.Uint32(b[:])
	size := wire.ShortText(n, le.Uint64(b[4:]))
	if size == 0 {
		return p.fastLongName(n)
	}
	p.setRemaining(left - 1)
	p.passEmpty(r+size, p.base+uint64(r))
	// The last byte of the text, because n is at least 1. Some programs write no NUL after it, and in
	// formats without one nameNUL is 0: then a NUL is text.
	if b[(n+3)&15] == 0 {
		n -= p.nameNUL
	}
	return b[4:][:n], true
}

// fastLongName does the same for a name of n bytes that is not short ASCII.
func (p *fastPath) fastLongName(n uint32) (text []byte, ok bool) {
	i := p.r + 4
	if !p.wholeText(i, n) {
		return nil, false
	}
	text = p.fastNames[i : i+int(n)]
	p.setRemaining(p.remaining - 1)
	p.passEmpty(i+int(wire.Padded(n)), p.pos())
	if n > 0 && text[n-1] == 0 {
		text = text[:n-p.nameNUL]
	}
	return text, true
}

// fastMath returns the bytes and form of the next value, of math type t. It consumes nothing, and
// returns nil if the fast path cannot read the value.
func (p *fastPath) fastMath(t Type) ([]byte, *form) {
	form, _ := p.fastForm()
	if form == nil {
		var last [fastSize]byte
		form = p.lastForm(&last)
	}
	if form == nil || form.typ != t {
		return nil, nil
	}
	from := p.r + 4
	to := from + int(form.size)
	if to > len(p.fastValues) {
		return nil, nil
	}
	return p.fastValues[from:to], form
}

// fastFloats reads the next value, of math type t with components of 32 bits, into c, without
// finding the form: -1 % of typed reads. It returns false if the fast path cannot read the value.
func fastFloats[F float32 | float64](p *fastPath, t Type, c []F) bool {
	if !p.hasFast(p.remaining) { // also if there are no forms, before Reset
		return false
	}
	from, size := p.r+4, 4*len(c)
	if size != int(p.forms.floats[t]) || p.forms.byType[t&63][0].header != le.Uint32(p.peekFast()[:]) || size > len(p.fastValues)-from {
		return false
	}
	b := p.fastValues[from:]
	_ = p.take(4 + size)
	for i := range c {
		c[i] = F(math.Float32frombits(le.Uint32(wire.Nth(b, i, 4))))
	}
	return true
}

// wholeText reports whether the n bytes of text at buf[i:] are one chunk, within the
// limits, valid, and buffered together with their padding. The length comes first: after it, n and its
// padding fit an int. Text that is not UTF-8 goes to the slow path even where it is allowed, so that
// the fast path need not know the option.
func (p *fastPath) wholeText(i int, n uint32) bool {
	return int64(n) <= int64(p.maxWhole) && p.limit-i >= int(wire.Padded(n)) && wire.ValidBytes(p.buf[i:i+int(n)])
}

// countFits reports whether a count of n elements or pairs, after the header at r, is within
// the limits. As checkCount on the slow path, it takes at least four bytes for each value, so a
// count that the rest of the input cannot hold opens no container.
func (p *fastPath) countFits(n uint32, values uint64) bool {
	return int64(n) <= p.maxCount &&
		p.values+values <= uint64(p.bounds[limitValues]) && p.pos()+8+4*values <= p.valueEnd
}

// openFast consumes the start of an Array, Dictionary or PackedStringArray of n elements
// or pairs. It returns false if the slow path must handle it, and makes no calls: -4 % of
// typed reads against push, which can grow the stack.
func (p *fastPath) openFast(form *form, n uint32) bool {
	pos, pairs, stack, depth := p.pos(), uint64(form.pairs&1), p.stack, p.depth
	values := uint64(n) << pairs
	// Without room for another frame, push grows the stack on the slow path. At maxDepth, the container
	// itself is allowed and no value in it, which the slow path finds at the first.
	if !p.countFits(n, values) || depth < 0 || depth >= len(stack)-1 || depth >= p.maxDepth {
		return false
	}
	p.values += values
	p.enter(&stack[depth], pairs, values, pos)
	stack[depth+1].init(&form.content, n)
	p.passEmpty(p.r+8, pos)
	if form.shape == shapePackedStrings {
		p.readNamesFast(p.format.nul(form.typ))
	}
	return true
}

// startTop switches the fast path on at the top level, for one value, if that is an Array, Dictionary
// or packed array, and off otherwise. It returns the form of the value, or nil. Without it, tokens of
// a packet of 64 bytes take 61 % more instructions, and packets found and checked 60 %.
func (p *fastPath) startTop() *form {
	p.readValuesFast()
	if buf, r := p.fastValues, p.r&math.MaxInt; r <= len(buf)-fastSize && !p.noFastPath {
		form, ok := p.forms.find(le.Uint32((*[fastSize]byte)(buf[r:])[:]))
		if ok && (form.shape == shapeArray || form.shape == shapeDict || form.shape == shapePacked) {
			return form
		}
	}
	p.stopFast()
	return nil
}

// nodePathCount returns the number of names and sub-names of the NodePath that starts with
// b. It returns false if the slow path must handle it.
func (p *fastPath) nodePathCount(b *[fastSize]byte) (uint32, bool) {
	names, subnames, bits := le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	n := uint64(names&^newNodePathBit) + uint64(subnames)
	// The old form in one string has no counts here, a property adds a name, and the sum of counts
	// beyond 31 bits is what engines compute in 32: all of these are for the slow path.
	ok := names >= newNodePathBit && bits <= nodePathAbsolute && n <= math.MaxInt32 && int64(n) <= p.bounds[limitElements] &&
		p.values+n <= uint64(p.bounds[limitValues]) && p.pos()+16+4*n <= p.valueEnd
	return uint32(n), ok
}

// openNodePath consumes the start of the NodePath that starts with b, and opens it. It returns
// false if the slow path must handle it.
func (p *fastPath) openNodePath(form *form, b *[fastSize]byte) bool {
	n, ok := p.nodePathCount(b)
	if !ok {
		return false
	}
	pos := p.pos()
	p.values += uint64(n)
	f := p.push(&form.content, n, pos)
	f.setNames(le.Uint32(b[4:])&^newNodePathBit, tokenFlags(le.Uint32(b[12:]))*flagAbsolute)
	p.pass(p.r+16, pos)
	p.readNamesFast(0) // at any depth, which is checked for values only
	return true
}

func init() { hook.ReadNodePath = fastNodePath }

// fastNodePath is [hook.ReadNodePath]. -15 % of Unmarshal into structs.
func fastNodePath(x any, to *hook.NodePathText) []byte {
	p := &x.(*Decoder).fastPath
	form, b := p.fastForm()
	if form == nil || form.shape != shapeNodePath {
		return nil
	}
	if text := p.shortNodePath(to, b); text != nil {
		return text
	}
	return p.longNodePath(to, b)
}

// shortNodePath consumes the NodePath that starts with b and returns its text, in the memory of to.
// It returns nil, and longNodePath can read the NodePath, unless it has a name, and at most 11 names
// and sub-names, of one to eight ASCII characters. As it calls nothing, its variables stay in
// registers: -14 % of typed reads of known shape, and -12 % of Unmarshal.
func (p *fastPath) shortNodePath(to *hook.NodePathText, b *[fastSize]byte) []byte {
	const ones = 0x0101010101010101
	names := le.Uint32(b[4:]) - newNodePathBit
	total := uint64(names) + uint64(le.Uint32(b[8:]))
	// 11 names of 8 bytes with their separators are 99 bytes, within the mask of at.
	if names == 0 || total > 11 || le.Uint32(b[12:]) > nodePathAbsolute ||
		int64(total) > p.maxCount || p.values+total > uint64(p.bounds[limitValues]) {
		return nil
	}
	buf, text, r, n, bits := p.fastValues, to[:], p.r+fastSize, uint(0), uint64(0)
	for separator := byte('/'); ; separator = ':' {
		for ; names > 0; names-- {
			r &= math.MaxInt
			if r > len(buf)-fastSize {
				return nil
			}
			b := (*[fastSize]byte)(buf[r:])
			size, word, at := le.Uint32(b[:]), le.Uint64(b[4:]), n&127
			if size-1 >= 8 {
				return nil
			}
			text[at] = separator
			le.PutUint64(text[at+1:], word) // the next name overwrites what follows this one
			bits |= word
			// Subtracting 1 sets the highest bit of a byte that is 0, as it is where word has the separator.
			bits |= (word ^ ones*'/') - ones
			bits |= (word ^ ones*':') - ones
			n = at + 1 + uint(size)
			r += (int(size) + 7) &^ 3
		}
		if names = le.Uint32(b[8:]); names == 0 || separator == ':' {
			break
		}
	}
	if bits&wire.NotASCII != 0 { // perhaps in a byte after a name
		return nil
	}
	p.values += uint64(le.Uint32(b[4:]) - newNodePathBit + le.Uint32(b[8:]))
	_ = p.take(r - p.r)
	if le.Uint32(b[12:]) != nodePathAbsolute {
		return text[1 : n&127] // without the first separator
	}
	return text[:n&127]
}

// longNodePath does the same for any NodePath whose text has up to nodePathText bytes. It returns nil
// if a name is empty or has a separator: the names could then not be found again in the text.
func (p *fastPath) longNodePath(to *hook.NodePathText, b *[fastSize]byte) []byte {
	total, ok := p.nodePathCount(b)
	if !ok {
		return nil
	}
	buf, r, text, names := p.fastValues, p.r+fastSize, to[:0], le.Uint32(b[4:])&^newNodePathBit
	if le.Uint32(b[12:]) == nodePathAbsolute {
		text = append(text, '/')
	}
	for i := range total {
		if i >= names {
			text = append(text, ':')
		} else if i > 0 {
			text = append(text, '/')
		}
		if r > len(buf)-fastSize {
			return nil
		}
		size := int(le.Uint32(buf[r:]))
		r += 4
		if size <= 0 || size > min(p.maxWhole, nodePathText-len(text), len(buf)-r) {
			return nil
		}
		name := buf[r : r+size]
		if bytes.IndexByte(name, ':') >= 0 || i < names && bytes.IndexByte(name, '/') >= 0 {
			return nil
		}
		text = append(text, name...)
		r += int(wire.Padded(uint32(size)))
	}
	if r > len(buf) || !wire.ValidBytes(text) { // separators are ASCII, so each name is valid, too
		return nil
	}
	p.values += uint64(total)
	_ = p.take(r - p.r)
	return text
}

// nodePathText is the maximum size of the text. The mask 127 changes no index in it.
const nodePathText = 100

// wholePacked returns the number of bytes of the n elements of the packed array that is next.
// It returns false if they exceed a limit or are not completely in the buffer, on the fast
// path.
func (p *fastPath) wholePacked(form *form, n uint32) (data int, ok bool) {
	// size can exceed 32 bits. Only bytes are padded; the size of other elements is a multiple of 4.
	size, left := uint64(n)*uint64(form.size), uint64(len(p.fastValues)-p.r)
	if int64(size) > p.bounds[limitPacked] || 8+(size+3)&^3 > left {
		return 0, false
	}
	return int(size), true
}

// openPacked consumes the start of a packed array of n numbers: -11 % of ReadPacked of 4 KiB. It
// returns false if not all of them are buffered, so that the slow path must handle it.
func (p *fastPath) openPacked(form *form, n uint32) bool {
	if _, ok := p.wholePacked(form, n); !ok {
		return false
	}
	pos := p.pos()
	p.push(&form.content, n, pos)
	p.pass(p.r+8, pos)
	p.stopFast()
	return true
}

// takePacked consumes a packed array with this many bytes of elements, and its End.
func (p *fastPath) takePacked(data int) {
	_ = p.take(8 + (data+3)&^3)
	if p.depth == 0 { // where ResetBytes has switched it on: the next value sets its own limits
		p.stopFast()
	}
}

// readDictKey returns the DictKey before a key.
func (p *fastPath) readDictKey() Token {
	p.markKey()
	p.markEmpty(p.base + uint64(p.r)) // not pos: see take
	return Token{head: uint64(KindDictKey) | uint64(TypeDictionary)<<8}
}

// readEnd closes the innermost container and returns its End. It is called on the slow path, too, where
// the fast path is off in one container and may go on in the container around.
func (p *fastPath) readEnd() Token {
	t := Token{head: uint64(KindEnd) | uint64(p.top().typ)<<8}
	p.markEmpty(p.pos())
	switch k := p.pop().kind; {
	case k != KindArrayStart && k != KindDictStart: // k is the container around, 0 at the top level
		p.startFast()
	case p.fastNames != nil: // the End of names or packed strings
		p.readValuesFast()
	case p.fastValues == nil:
		p.startFast()
	}
	return t
}

// startFast switches the fast path on if it can read the values or names of the innermost
// container, and off otherwise. The caller knows that no error, bulk read or container that a loop
// has left is to be handled first, see updateFastPath; only the fast path itself enters and leaves
// names without other tests.
func (p *fastPath) startFast() {
	p.stopFast()
	if p.depth == 0 || p.depth > p.maxDepth || p.noFastPath { // checkHeader and Strict have errors
		return
	}
	switch f := p.top(); {
	case f.kind == KindArrayStart, f.kind == KindDictStart:
		p.readValuesFast()
	case f.kind == KindNodePathStart, f.kind == KindPackedStart && f.typ == TypePackedStringArray:
		p.readNamesFast(p.format.nul(f.typ))
	}
}

// skipFast skips values on the fast path, without creating tokens, while at least open
// containers are open. It returns where the slow path must read a token; readTo then calls
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
			return // after packed data, too, whose End may be beyond them
		}
	}
}

// skipValues skips values of Arrays and Dictionaries on the fast path, while at least open
// containers are open. It returns false where it cannot read the next value. Of the keys and
// tokens that it skips, only the positions of the last are kept: paths need them if an error
// follows.
//
// This loop and those of skipNames, passFast and passNames are judged by time, not by
// instructions: see "Speed" in CONTRIBUTING.md. Each position depends on the size of the value
// before. A size that is added waits for its load; a constant that is added in a branch does not,
// because branches are predicted. Adding the size of short texts takes 1.6 % more instructions,
// but 35 % more time of SkipValue: that is why this function has more branches than others.
func (p *fastPath) skipValues(open int) bool {
	buf, r, left, sizes := p.fastValues, p.r, p.remaining, &p.forms.sizes
	last, before, end := -1, -1, len(buf)-4 // last and before are the positions of the last two values in buf
	for {
	loop:
		for left > 0 { // its variables stay in registers, because it contains no calls
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
				// As wire.ShortText, for up to 16 bytes: -32 % of packets. After the text, its padding and
				// the next header are ASCII, too; otherSize measures all other texts.
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
			left--
		}
		p.setPos(r)
		if left == 0 { // as readEnd
			p.markEmpty(p.pos())
			if k := p.pop().kind; k != KindArrayStart && k != KindDictStart {
				p.startFast()
			}
			if p.depth < open || p.fastValues == nil {
				return true
			}
			left, last, before = p.remaining, -1, -1
			continue
		}
		form, b := p.forms.formAt(buf, r)
		if form == nil || form.shape != shapeArray && form.shape != shapeDict {
			if size := p.otherSize(form, b); size > 0 {
				before, last, r = last, r, r+size
				left--
				continue
			}
			form = nil
		}
		p.skipped(left, last, before) // openFast and the slow path continue from there
		if form == nil || !p.openFast(form, le.Uint32(b[4:])) {
			return false
		}
		r, left, last, before = p.r, p.remaining, -1, -1
	}
}

// skipped sets what the skipping of values has changed. The last two values of the innermost
// container were at last and before in the buffer, or at -1.
func (p *fastPath) skipped(left uint64, last, before int) {
	if last < 0 {
		return
	}
	pos := p.base + uint64(last)
	if form, _ := p.forms.find(le.Uint32(p.fastValues[last:])); form.shape > shapeText {
		pos = p.pos() // of its End
	}
	if left&1 != 0 { // the latest value is a key
		before = last
	}
	if p.pairs != 0 && before >= 0 { // if only a value was skipped, its key is set already
		p.setKey(p.base + uint64(before))
	}
	p.markEmpty(pos)
	p.setRemaining(left)
}

// otherSize returns the size of the next value: a longer string, a NodePath, a packed array, or a
// String in the last bytes of the buffer. It returns 0 if the slow path must handle the value.
func (p *fastPath) otherSize(form *form, b *[fastSize]byte) int {
	if form == nil {
		b := p.fastValues[p.r:]
		if len(b) < 8 || le.Uint32(b) != stringHeader || !p.wholeText(p.r+8, le.Uint32(b[4:])) {
			return 0
		}
		return 8 + int(wire.Padded(le.Uint32(b[4:])))
	}
	n := le.Uint32(b[4:])
	if p.depth == 0 { // a packed array; skipping ends after it: see SkipValue
		if data, ok := p.wholePacked(form, n); ok {
			p.takePacked(data)
			p.markEmpty(p.pos()) // the token of its End
		}
		return 0
	}
	switch form.shape {
	case shapeText:
		if p.wholeText(p.r+8, n) {
			return 8 + int(wire.Padded(n))
		}
	case shapePacked:
		if data, ok := p.wholePacked(form, n); ok {
			return 8 + (data+3)&^3
		}
	case shapeNodePath:
		if names, ok := p.nodePathCount(b); ok {
			return p.namesSize(16, names)
		}
	case shapePackedStrings:
		if p.countFits(n, uint64(n)) {
			return p.namesSize(8, n)
		}
	}
	return 0
}

// namesSize returns the size of a NodePath or PackedStringArray whose n names or strings follow
// a head of this size, or 0 if the slow path must handle one of them. Without it, SkipValue takes
// 138 % more instructions.
func (p *fastPath) namesSize(head int, n uint32) int {
	buf, r := p.fastValues, p.r+head
	for range n {
		if r > len(buf)-fastSize {
			return 0
		}
		b := (*[fastSize]byte)(buf[r:])
		n := le.Uint32(b[:])
		size := wire.ShortText(n, le.Uint64(b[4:]))
		if size == 0 {
			if !p.wholeText(r+4, n) {
				return 0
			}
			size = 4 + int(wire.Padded(n))
		}
		r += size
	}
	p.values += uint64(n) // as opening it would do
	return r - p.r
}

// skipNames skips names or packed strings, of a container that has been opened before. It is judged
// by time, as skipValues.
func (p *fastPath) skipNames() {
	names, r, left := p.fastNames, p.r, p.remaining
	last := p.tokenPos()
	for r <= len(names)-fastSize && left > 0 {
		b := (*[fastSize]byte)(names[r:])
		n := le.Uint32(b[:])
		size := wire.ShortText(n, le.Uint64(b[4:]))
		if size == 0 {
			if !p.wholeText(r+4, n) {
				break
			}
			size = 4 + int(wire.Padded(n))
		}
		last = p.base + uint64(r)
		left--
		r += size
	}
	p.passEmpty(r, last)
	p.setRemaining(left)
}

// passFast goes over at most `most` bytes of the values of the innermost container
// that an Encoder would write as they are: no containers, no bools but 0 and 1,
// padding of zeros. Without it, CopyValue takes 264 % more instructions. It is judged by time: see
// skipValues. Adding the size of short texts, in place of two branches, takes 7 to 15 % more time of
// CopyValue.
func (p *fastPath) passFast(most int) {
	buf, r, left := p.fastValues, p.r, p.remaining
	buf = buf[:min(len(buf), r+most)] // no more than the Encoder has room for
	last := p.tokenPos()
loop:
	for r <= len(buf)-fastSize && left > 0 {
		b := (*[fastSize]byte)(buf[r:])
		n := le.Uint32(b[4:])
		form, ok := p.forms.find(le.Uint32(b[:]))
		// An Encoder writes bools as 0 or 1, whatever number a lenient Decoder has read as true.
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
			// Of other text, the last word has one to three bytes of padding above those of the text.
			next += 8 + int(wire.Padded(n))
			if !p.wholeText(r+8, n) || next > len(buf) || n&3 != 0 && le.Uint32(buf[next-4:])>>(8*(n&3)) != 0 {
				break loop
			}
		}
		if next > len(buf) {
			break
		}
		last = p.base + uint64(r)
		if ^left&p.pairs != 0 {
			p.setKey(last)
		}
		left--
		r = next
	}
	p.passEmpty(r, last)
	p.setRemaining(left)
}

// passNames goes over at most `most` bytes of names or packed strings that an Encoder would write
// as they are. Without it, CopyValue takes 79 % more instructions. It is judged by time, as
// skipValues.
func (p *fastPath) passNames(most int) {
	names, r, left := p.fastNames, p.r, p.remaining
	names = names[:min(len(names), r+most)]
	last := p.tokenPos()
	for r <= len(names)-fastSize && left > 0 {
		b := (*[fastSize]byte)(names[r:])
		n := le.Uint32(b[:])
		size := 4 + int(wire.Padded(n))
		if n-1 >= 8 || !wire.PlainText(le.Uint64(b[4:]), n) {
			if !p.wholeText(r+4, n) || size > len(names)-r || n&3 != 0 && le.Uint32(names[r+size-4:])>>(8*(n&3)) != 0 {
				break
			}
		}
		if p.nameNUL > 0 && (n == 0 || names[r+3+int(n)] != 0) { // WriteToken adds the NUL
			break
		}
		last = p.base + uint64(r)
		left--
		r += size
	}
	p.passEmpty(r, last)
	p.setRemaining(left)
}
