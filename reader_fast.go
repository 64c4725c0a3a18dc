package gdwire

import (
	"bytes"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
)

// The fast path reads values and names that are completely in the buffer, unless their header
// declares types. It returns no errors: each read either consumes a whole value, name or start, or
// returns nil, false or 0 and consumes nothing. The caller then turns to the slow path to find the
// error or wait for more bytes. The slow path must accept all values of the fast path, with the
// same tokens: TestBufferSizesAgree and FuzzDecode compare them.
//
// The order here: the state of all reads, ReadToken, texts, math types, starts of containers,
// packed arrays, Ends and switching the path on and off. reader_skip.go goes over values, and
// nodepath.go reads whole NodePaths.

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
	p.configured = p.format != unknownFormat
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

// lastForm returns the form of the next value if it is a number, math type or short string, and
// the buffer ends in fewer than fastSize bytes, as at the end of a packet, and nil if the value is
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

// startStrict switches the fast path on with Strict: for the next values of the innermost container, if
// the container is untyped and checkAhead accepts them. So these values are recognized twice; the slow
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

// checkAhead returns the end in buf of the next values in the innermost container encoded as engines
// do: numbers, math types, texts, and starts of untyped Arrays and Dictionaries.
func (p *fastPath) checkAhead() int {
	var around [32]uint64 // the numbers of values to come in the containers around
	depth, r, remaining := 0, p.r, p.remaining
	for most := r + checkedAhead; r < most; {
		form, b := p.forms.formAt(p.buf[:p.limit], r)
		if form == nil || remaining == 0 {
			break
		}
		remaining--
		if form.shape == shapeArray || form.shape == shapeDict {
			n := uint64(le.Uint32(b[4:]))
			if depth == len(around) || n >= sharedBit {
				break
			}
			around[depth] = remaining
			depth++
			remaining = n << form.pairs
			r += 8
		} else if size := p.checkedSize(form, b, r); size > 0 {
			r += size
		} else {
			break
		}
		for remaining == 0 && depth > 0 {
			depth--
			remaining = around[depth]
		}
	}
	return r
}

// checkedSize returns the size of a value at r if it is a number, math type or text encoded as engines do,
// and otherwise 0.
func (p *fastPath) checkedSize(form *form, b *[fastSize]byte, r int) int {
	size := 4 + int(form.size)
	switch form.shape {
	case shapeText:
		n := le.Uint32(b[4:])
		size = 8 + int(wire.Padded(n))
		if n-1 < 8 && wire.PlainText(le.Uint64(b[8:]), n) && !wire.HasNUL(le.Uint64(b[8:]), n) {
			return size // as most are: -20 % of the time of check -strict
		}
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
	default:
		return 0
	}
	return size
}
