package gdwire

import (
	"bytes"
	"math"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// The fast path reads values and names that are completely in the buffer, unless their header
// declares types. It returns no errors: each read either consumes a whole value, name or start, or
// returns nil, false or 0 and consumes nothing. The caller then turns to the slow path to find the
// error or wait for more bytes. The slow path must accept all values of the fast path, with the
// same tokens: TestBufferSizesAgree and FuzzDecode compare them.
//
// The order here: the state of all reads, ReadToken, texts, math types, starts of containers,
// packed arrays, Ends, switching the path on and off, and going over values. nodepath.go reads
// whole NodePaths.

// A fastPath holds the bytes and the nesting of a Decoder, and, to recognize values,
// the tables of the format and the limits. It is the wall between the two paths. Its methods never
// read from the Reader and know no errors, bulk reads or loops; the Decoder switches the fast path
// off to handle these first.
type fastPath struct {
	window
	state

	values     uint64     // declared so far in the top-level value, including itself
	checked    uint64     // with Strict, the position up to which startStrict checked values
	strictSeen strictSeen // in the top-level value
	plainPaths bool       // for Validate: all skipped NodePaths can become text

	// Derived from the options by configure.
	noFastPath bool // there is no fast path: with Strict, or where chunks can be shorter than smallestChunk
	strict     bool // with Strict, there is the fast path of startStrict
	configured bool // not if the format is unknown: then each reset configures, and leaves an error
	format     *formatData
	forms      *formTable
	maxWhole   int   // the maximum length of a string in one chunk and within Limits
	maxChunk   int   // the maximum length of a chunk
	maxCount   int64 // the maximum count for the fast path: below bit 31 and within Limits
	maxDepth   int
	bounds     bounds
}

// configure derives the fields for the options of a Decoder.
func (p *fastPath) configure(o *DecoderOptions) {
	p.format = o.Format.data()
	p.configured = p.format != &unknownFormat
	p.forms = &p.format.forms[bit(o.DoubleReals)]
	p.bounds = o.Limits.bounds()
	p.maxChunk = min(max(o.MaxChunk, smallestChunk), largestChunk)
	p.maxDepth = int(min(p.bounds[limitDepth], mostFrames))
	p.maxWhole = int(min(int64(p.maxChunk), p.bounds[limitString]))
	p.maxCount = min(p.bounds[limitElements], sharedBit-1)
	p.noFastPath = o.Strict || p.maxWhole < smallestChunk
	p.strict = o.Strict && p.maxWhole >= smallestChunk
}

// limitValue sets the limits of a top-level value at pos(). The sum for Limits.Values starts at
// 1, for the value itself. No alternatives of Strict were seen.
func (p *fastPath) limitValue() {
	p.startValue(uint64(p.bounds[limitBytes]))
	p.values, p.strictSeen = 1, 0
}

// setValues sets the number of declared values, for the slow path.
func (p *fastPath) setValues(n uint64) { p.values = n }

// consumeValue consumes the next value, of size bytes, on the fast path, and returns nil, the error
// of typed reads. The compiler marks the start of inlined code by an instruction, unless the line of
// the call contains another. So both calls are on one line, and typed reads call consumeValue in
// their return statement: -0.7 % of typed reads of known shape.
func (p *fastPath) consumeValue(size int) error {
	p.passEmpty(p.r+size, p.countAt(p.base+uint64(p.r)))
	return nil
}

// fastForm returns the form of the next value and its first bytes, or nil if the fast path
// cannot read the value: near the end of the buffer, or if the header contains flags of
// declared types or of no meaning, for the slow path to explain.
func (p *fastPath) fastForm() (f *form, b *[fastSize]byte) {
	if p.remaining > 0 {
		f, b = p.forms.formAt(p.fastValues, p.r&math.MaxInt)
	}
	return
}

// lastForm returns the form of the next value if it is a number, math type, short string or start of a
// container, and the buffer ends in fewer than fastSize bytes, as at the end of a packet, and nil if the value is
// incomplete. It copies these bytes to b, because loads of fastSize bytes would be beyond the
// buffer. Without lastForm, typed reads of a packet of 100 bytes take 22 to 62 % more
// instructions, by the type of the last value.
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
	case shapeArray, shapeDict:
		size = 8
	default:
		return nil
	}
	if h != form.header || size > n {
		return nil
	}
	return form
}

// takeLast consumes the value found by lastForm and returns its token.
func (p *fastPath) takeLast(form *form, b *[fastSize]byte) Token {
	t := Token{head: form.head}
	switch n := le.Uint32(b[4:]); form.shape {
	case shapeWord:
		t.bits = le.Uint64(b[4:]) & form.mask
		_ = p.consumeValue(4 + int(form.size))
		return t
	case shapeText:
		t.head |= uint64(n) << 32
		t.bits = uint64(n)
		_ = p.consumeValue(8 + int(wire.Padded(n)))
	default:
		_ = p.consumeValue(4 + int(form.size))
	}
	p.keepPayload() // consumeValue marked the token as empty
	t.src, t.pos = &p.tokenSource, p.mark
	return t
}

// fastText consumes the next value, a String or StringName, or the next name or packed string, and
// returns its text in the buffer, or nil if the fast path cannot read it.
func (p *fastPath) fastText() []byte {
	form, b := p.fastForm()
	if form == nil {
		return p.fastLastText()
	}
	n := le.Uint32(b[4:])
	if form.shape != shapeText {
		return nil
	}
	text := p.textAt(p.r+8, n)
	if text != nil {
		_ = p.consumeValue(8 + int(wire.Padded(n)))
	}
	return text
}

// fastLastText reads for fastText a name, a packed string, or a short text in the last bytes of the
// buffer.
func (p *fastPath) fastLastText() []byte {
	if p.fastValues == nil {
		return p.fastName()
	}
	var b [fastSize]byte
	if form := p.lastForm(&b); form == nil || form.shape != shapeText {
		return nil
	}
	n, from := le.Uint32(b[4:]), p.r+8
	_ = p.consumeValue(8 + int(wire.Padded(n)))
	return p.buf[from : from+int(n)]
}

// fastName consumes the next name or packed string and returns its text in the buffer, without
// the NUL written by engines, or nil if the fast path cannot read it.
func (p *fastPath) fastName() []byte {
	names, r, remaining := p.fastNames, p.r&math.MaxInt, p.remaining
	if r > len(names)-fastSize || remaining == 0 {
		return nil
	}
	b := (*[fastSize]byte)(names[r:])
	n := le.Uint32(b[:])
	size := wire.ShortText(n, le.Uint64(b[4:]))
	if size == 0 {
		return p.fastLongName(n)
	}
	p.setRemaining(remaining - 1)
	p.passEmpty(r+size, p.base+uint64(r))
	// The last byte of the text, because n is at least 1. Some programs write no NUL after the text,
	// and in formats without one nameNUL is 0: then a NUL is text.
	if b[(n+3)&15] == 0 {
		n -= p.nameNUL
	}
	return b[4:][:n]
}

// fastLongName is fastName for a name of n bytes other than short ASCII. In fastName, its calls take
// 1.3 % of tokens and 1.9 % of typed reads of known shape.
func (p *fastPath) fastLongName(n uint32) []byte {
	i := p.r + 4
	text := p.textAt(i, n)
	if text == nil {
		return nil
	}
	p.setRemaining(p.remaining - 1)
	p.passEmpty(i+int(wire.Padded(n)), p.pos())
	if n > 0 && text[n-1] == 0 {
		text = text[:n-p.nameNUL]
	}
	return text
}

// fastMath returns the bytes and form of the next value, of math type t, without consuming it, or
// nil if the fast path cannot read the value.
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

// fastFloats consumes the next value, of math type t with n components of 32 bits, and returns their
// bytes, without finding the form, or nil if the fast path cannot read the value. Without
// fastFloats, typed reads take 8 to 10 % more instructions, and Unmarshal into structs 16 %.
func (p *fastPath) fastFloats(t Type, n int) []byte {
	if !p.hasFast(p.remaining) { // also if there are no forms, before Reset
		return nil
	}
	from, size := p.r+4, 4*n
	if size != int(p.forms.floats[t]) || p.forms.byType[t&63][0].header != le.Uint32(p.peekFast()[:]) || size > len(p.fastValues)-from {
		return nil
	}
	b := p.fastValues[from:]
	_ = p.consumeValue(4 + size)
	return b
}

// textAt returns the n bytes of text at buf[i:] if they are one chunk, within the limits, valid,
// and buffered together with their padding. Otherwise it returns nil. The length comes first: once
// checked, n and its padding fit an int. Invalid UTF-8 goes to the slow path even where allowed, so that
// the fast path need not know the option.
func (p *fastPath) textAt(i int, n uint32) []byte {
	if int64(n) > int64(p.maxWhole) || p.limit-i < int(wire.Padded(n)) {
		return nil
	}
	text := p.buf[i : i+int(n)]
	switch {
	case n-1 < 8 && p.limit-i >= 8:
		if !wire.ValidShort(le.Uint64(text[:8]), n) {
			return nil
		}
	case n-9 < 24 && wire.IsASCII(text):
	case !wire.Valid(text):
		return nil
	}
	return text
}

// countFits reports whether a count of n elements or pairs, after the header at r, is within
// the limits. As checkCount on the slow path, it takes at least four bytes for each value, so a
// count too large for the rest of the input opens no container.
func (p *fastPath) countFits(n uint32, values uint64) bool {
	return int64(n) <= p.maxCount &&
		p.values+values <= uint64(p.bounds[limitValues]) && p.pos()+8+4*values <= p.valueEnd
}

// openFast consumes the start of an Array, Dictionary or PackedStringArray of n elements or pairs, or
// returns false if only the slow path can. Without calls: -3 % of tokens and -4 % of typed reads of
// known shape against push, which can grow the stack.
func (p *fastPath) openFast(form *form, n uint32) bool {
	pos, pairs, stack, depth := p.pos(), uint64(form.pairs&1), p.stack, p.depth
	values := uint64(n) << pairs
	// Without room for another frame, push grows the stack on the slow path. At maxDepth, the container
	// itself is allowed but no value in it; the slow path finds this at the first.
	if !p.countFits(n, values) || depth < 0 || depth >= len(stack)-1 || depth >= p.maxDepth {
		return false
	}
	p.values += values
	p.enterAt(&stack[depth], pairs, values, pos)
	stack[depth+1].init(&form.content, n)
	p.passEmpty(p.r+8, pos)
	if form.shape == shapePackedStrings {
		p.readNamesFast(p.format.nul(form.typ))
	}
	return true
}

// startTop switches the fast path on at the top level, for one value, if this is an Array, Dictionary
// or packed array, and off otherwise. It returns the form of the value, or nil. Without startTop,
// tokens of a packet of 64 bytes take 61 % more instructions, and packets found and checked 60 %.
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

// nodePathCount returns the number of names and sub-names of the NodePath starting with b,
// or false if the slow path must handle it.
func (p *fastPath) nodePathCount(b *[fastSize]byte) (uint32, bool) {
	names, subnames, bits := le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	n := uint64(names&^newNodePathBit) + uint64(subnames)
	// The old form in one string is without counts, a property adds a name, and the sum of counts
	// beyond 31 bits is computed in 32 by engines: all of these are for the slow path.
	ok := names >= newNodePathBit && bits <= nodePathAbsolute && n <= math.MaxInt32 && int64(n) <= p.bounds[limitElements] &&
		p.values+n <= uint64(p.bounds[limitValues]) && p.pos()+16+4*n <= p.valueEnd
	return uint32(n), ok
}

// openNodePath consumes the start b of a NodePath and opens the NodePath, or returns false if
// only the slow path can.
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
	p.readNamesFast(0) // at any depth: depth is checked only for values
	return true
}

// wholePacked returns the number of bytes of the n elements of the next value, a packed
// array, or false if they exceed a limit or are not completely in the buffer, on the fast
// path.
func (p *fastPath) wholePacked(form *form, n uint32) (data int, ok bool) {
	// size can exceed 32 bits. Only bytes are padded; the size of other elements is a multiple of 4.
	size, remaining := uint64(n)*uint64(form.size), uint64(len(p.fastValues)-p.r)
	if int64(size) > p.bounds[limitPacked] || 8+(size+3)&^3 > remaining {
		return 0, false
	}
	return int(size), true
}

// openPacked consumes the start of a packed array of n numbers: -21 % of ReadPacked of 4 KiB from a
// Reader, -34 % in memory. If not all of them are buffered, openPacked returns false and leaves the
// array to the slow path.
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

// packedLen returns the number of elements of the next value, if it is a packed array of this unit that is buffered.
func (p *fastPath) packedLen(u wire.Unit) (n int, ok bool) {
	form, b := p.fastForm()
	if form == nil || form.shape != shapePacked || form.unit != u {
		return 0, false
	}
	_, ok = p.wholePacked(form, le.Uint32(b[4:]))
	return int(le.Uint32(b[4:])), ok
}

// consumePacked consumes a packed array with this many bytes of elements, and its End.
func (p *fastPath) consumePacked(data int) {
	_ = p.consumeValue(8 + (data+3)&^3)
	if p.depth == 0 { // after ResetBytes switched the fast path on: the next value sets its own limits
		p.stopFast()
	}
}

// readDictKey returns the DictKey before a key.
func (p *fastPath) readDictKey() Token {
	p.markKey()
	p.markEmpty(p.base + uint64(p.r)) // not pos: see consumeValue
	return Token{head: uint64(KindDictKey) | uint64(TypeDictionary)<<8}
}

// readEnd closes the innermost container and returns its End. The slow path also calls
// readEnd: the fast path may be off in one container and go on in the container around.
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
// container, and off otherwise. The caller knows that no error, bulk read or abandoned container
// is to be handled first, see updateFastPath; only the fast path itself enters and leaves names
// without other tests.
func (p *fastPath) startFast() {
	p.stopFast()
	if p.depth == 0 || p.depth > p.maxDepth || p.noFastPath { // checkHeader and Strict make errors
		if p.strict && p.depth > 0 && p.depth <= p.maxDepth {
			p.startStrict()
		}
		return
	}
	switch f := p.top(); {
	case f.kind == KindArrayStart, f.kind == KindDictStart:
		p.readValuesFast()
	case f.kind == KindNodePathStart, f.kind == KindPackedStart && f.typ == TypePackedStringArray:
		p.readNamesFast(p.format.nul(f.typ))
	}
}

// checkedAhead is the number of bytes examined by checkAhead. A caller can need few of them.
const checkedAhead = 1 << 12

// startStrict switches the fast path on with Strict: for the next values, if the innermost container is
// untyped and checkAhead accepts them. So these values are recognized twice; the slow
// path reads all others and makes the errors. No byte is checked twice, so calls that switch the path
// off and on cost little.
func (p *fastPath) startStrict() {
	if !p.top().isUntyped() {
		return
	}
	if p.checked <= p.pos() {
		p.checked = p.base + uint64(p.checkAhead())
	}
	p.readValuesTo(int(p.checked - p.base))
}

// checkAhead returns the end in buf of the next values in the innermost container, and after its End in the untyped ones
// around, encoded as engines do: numbers, math types, texts, packed arrays of numbers, and starts of untyped Arrays and
// Dictionaries.
func (p *fastPath) checkAhead() int {
	r, depth, remaining, buf := p.r, p.depth, p.remaining, p.buf[:p.limit]
	for most := r + checkedAhead; r < most; remaining-- {
		for remaining == 0 {
			depth--
			around := &p.stack[depth]
			if !around.isUntyped() { // or the top level
				return r
			}
			remaining = around.remaining
		}
		form, b := p.forms.formAt(buf, r&math.MaxInt)
		if form == nil {
			break
		}
		switch n, word := le.Uint32(b[4:]), le.Uint64(b[8:]); {
		case form.shape == shapeText && n-1 < 8 && wire.PlainLetters(word, n): // as most are: -20 % of the time of check -strict
			r += 8 + int(wire.Padded(n))
		case form.shape == shapeArray || form.shape == shapeDict:
			if n >= sharedBit {
				return r
			}
			r += 8
			remaining += uint64(n) << (form.pairs & 1)
		default:
			size := p.checkedSize(form, b, r)
			if size == 0 {
				return r
			}
			r += size
		}
	}
	return r
}

// checkedSize returns the size of a value at r if it is a number, math type, text or packed array of numbers encoded as
// engines do, and otherwise 0.
func (p *fastPath) checkedSize(form *form, b *[fastSize]byte, r int) int {
	size := 4 + int(form.size)
	switch form.shape {
	case shapeText:
		n := le.Uint32(b[4:])
		size = 8 + int(wire.Padded(n))
		text := p.textAt(r+8, n)
		if text == nil || bytes.IndexByte(text, 0) >= 0 || n&3 != 0 && le.Uint32(p.buf[r+size-4:])>>(8*(n&3)) != 0 {
			return 0
		}
	case shapeWord, shapeMath:
		seen := p.strictSeen
		if r+size > p.limit || seen.both(p.format, form.typ, form.header) ||
			form.shape == shapeWord && p.format.canonicalNumber(form, le.Uint64(b[4:])&form.mask) != nil {
			return 0
		}
		p.strictSeen = seen
	case shapePacked: // structs of small arrays in half of the instructions
		n, seen := uint64(le.Uint32(b[4:])), p.strictSeen
		data := n * uint64(form.size)
		if n >= sharedBit || 8+(data+3)&^3 > uint64(p.limit-r) || seen.both(p.format, form.typ, form.header) {
			return 0
		}
		size = 8 + int(data+3)&^3
		if data&3 != 0 && le.Uint32(p.buf[r+size-4:])>>(8*(data&3)) != 0 {
			return 0
		}
		p.strictSeen = seen
	default:
		return 0
	}
	return size
}

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

// skipFastValue skips the next value for SkipValue, if all of it can be read on the fast path: -22 % of packets. It returns
// false where the slow path must go on, perhaps in the value.
func (p *fastPath) skipFastValue() bool {
	form, b := p.fastForm()
	if form == nil {
		return false
	}
	depth, size := p.depth, 4+int(form.size)
	switch form.shape {
	case shapeArray, shapeDict:
		if !p.openFast(form, le.Uint32(b[4:])) {
			return false
		}
		p.skipFast(depth + 1)
		return p.depth == depth
	case shapeWord, shapeMath:
	default:
		size = p.otherSize(form, b)
	}
	if size == 0 || size > len(p.fastValues)-p.r {
		return false
	}
	_ = p.consumeValue(size)
	if form.shape > shapeText {
		p.markEmpty(p.pos()) // of its End
	}
	if depth == 0 {
		p.stopFast()
	}
	return true
}

// measure is export.Measure.
func (table *formTable) measure(b []byte, count int64) (size, rest int64, wide bool) {
	for end := int64(len(b) - 8); size <= end; count-- {
		if size, count = table.measureSmall(b, int(size), count); size > end {
			break
		}
		next, isWide := table.measureLarge(b, size)
		if next == 0 {
			break
		}
		size, wide = next, wide || isWide
	}
	return size, count, wide
}

// measureSmall measures from an offset of b up to a value for measureLarge. It calls nothing, so that its variables stay in
// registers: 0.7 of the instructions. Only containers make the sequence longer, so only they check that it has not ended.
func (table *formTable) measureSmall(b []byte, r int, count int64) (size, rest int64) {
	for end := len(b) - 8; ; count-- {
		if r &= math.MaxInt; r > end {
			return int64(r), count
		}
		head := le.Uint64(b[r : r+8])
		h, n := uint32(head), head>>32
		if h == stringHeader && (math.MaxInt > math.MaxUint32 || n < sharedBit/2) {
			r += int((n + 11) &^ 3)
			continue
		}
		step := 0
		if h < numForms/2 { // without flags, as most are: -7 % of Open
			step = int(table.steps[h])
		} else if h&^formBits == 0 {
			step = int(table.steps[h&(numForms/2-1)|numForms/2])
		}
		switch {
		case uint(step-1) < stepArray-1:
			r += step
		case step < stepArray, count <= 0:
			return int64(r), count
		default:
			r += 8
			count += int64(n&math.MaxInt32) * int64(step-stepArray+1)
		}
	}
}

// measureLarge returns the end of the value at an offset of b, and whether its components have 64 bits. The end is 0 if the
// value is of another kind than text, packed arrays, math types and NodePaths, or a list of names that does not end in b.
func (table *formTable) measureLarge(b []byte, at int64) (end int64, wide bool) {
	head := le.Uint64(b[at:])
	form, ok := table.find(uint32(head))
	n := int64(head >> 32)
	switch wide = form.header >= wideFlag<<16; {
	case !ok:
		return 0, false
	case form.shape == shapeMath:
		return at + 4 + int64(form.size), wide
	case form.shape == shapeText:
		return at + 8 + (n+3)&^3, false
	case form.shape == shapePacked:
		return at + 8 + (n*int64(form.size)+3)&^3, wide
	}
	return form.measureNames(b, at), false
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
