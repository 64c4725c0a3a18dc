package gdwire

import (
	"bytes"
	"io"
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
func (d *Decoder) take(size int) error {
	d.passEmpty(d.r+size, d.countAt(d.base+uint64(d.r)))
	return nil
}

// fastForm returns the form of the next value and its first bytes. It returns nil if the
// fast path cannot read the value.
func (d *Decoder) fastForm() (f *form, b *[fastSize]byte) {
	if d.remaining > 0 {
		f, b = d.forms.formAt(d.fastValues, d.r&math.MaxInt)
	}
	return
}

// formAt returns the form of the value at r in win and its first bytes, or nil.
func (table *formTable) formAt(win []byte, r int) (f *form, b *[fastSize]byte) {
	if r <= len(win)-fastSize {
		b = (*[fastSize]byte)(win[r:])
		if form, ok := table.find(le.Uint32(b[:])); ok {
			f = form
		}
	}
	return
}

// readText reads a String or StringName of n bytes, which is not short ASCII, for ReadToken. head is
// the head of its token.
func (d *Decoder) readText(head uint64, n uint32) (Token, error) {
	if !d.wholeText(d.r+8, n) {
		return d.readSlow()
	}
	d.count(1)
	d.pass(d.r+8+int(wire.Padded(n)), d.pos())
	return Token{head: head | uint64(n)<<32, bits: uint64(n), src: &d.tokenSource, pos: d.mark}, nil
}

// readStart reads the Start token of a NodePath or packed array for ReadToken, and passes all other
// values to the slow path.
func (d *Decoder) readStart(form *form, b *[fastSize]byte) (Token, error) {
	switch form.shape {
	case shapeNodePath:
		if d.openNodePath(form, b) {
			f := d.top()
			return newToken(KindNodePathStart, TypeNodePath, f.flags, uint64(f.names)|uint64(f.count-f.names)<<32), nil
		}
	case shapePacked:
		if n := le.Uint32(b[4:]); d.openPacked(form, n) {
			return Token{head: form.head, bits: uint64(n)}, nil
		}
	}
	return d.readSlow()
}

// readName reads a token for ReadToken where fewer than fastSize bytes of fastValues are left: a
// name or packed string, the last values of the buffer, an End, or whatever the slow path reads.
func (d *Decoder) readName() (Token, error) {
	// An End needs no bytes, so it is returned even where the fast path is off.
	if d.remaining == 0 && d.depth > 0 && d.abandoned == 0 && d.err == nil {
		d.payload.active = false
		return d.readEnd(), nil
	}
	switch {
	case d.fastValues != nil:
		return d.readLast()
	case d.fastNames == nil:
		if d.pos() == d.inputEnd && d.depth == 0 && d.atTop() { // the end of a packet: -5 % of the tokens of 64 bytes
			d.drop()
			return Token{}, io.EOF
		}
		return d.readSlow()
	}
	text, ok := d.fastName()
	if !ok {
		return d.readSlow()
	}
	d.keep() // fastName has marked the token as empty, for typed reads
	const head = uint64(KindStringChunk) | uint64(flagLast|1<<offsetShift)<<16
	n := uint64(len(text))
	return Token{head: head | uint64(d.top().typ)<<8 | n<<32, bits: n, src: &d.tokenSource, pos: d.mark}, nil
}

// atTop reports whether a top-level value is next, and start has nothing to do before it.
func (d *Decoder) atTop() bool {
	return d.remaining > 0 && d.err == nil && d.srcErr == nil && d.abandoned == 0 && !d.payload.active
}

// readLast reads a token for ReadToken in the last bytes of the buffer.
func (d *Decoder) readLast() (Token, error) {
	if d.atKey() && d.marked != d.remaining {
		return d.readDictKey(), nil
	}
	var b [fastSize]byte
	if form := d.lastForm(&b); form != nil {
		return d.takeLast(form, &b), nil
	}
	return d.readSlow()
}

// lastForm returns the form of the next value if it is a number, math type or short string, and
// the buffer ends in fewer than fastSize bytes, as at the end of a packet. It copies these bytes
// to b, because loads of fastSize bytes would be beyond the buffer. It returns nil if the value is
// incomplete. Without it, typed reads of a packet of 100 bytes take 22 to 62 % more instructions,
// by the type of its last value.
func (d *Decoder) lastForm(b *[fastSize]byte) *form {
	win, r := d.fastValues, d.r
	n := len(win) - r
	if n < 4 || n >= fastSize || d.remaining == 0 {
		return nil
	}
	copy(b[:], win[r:])
	h := le.Uint32(b[:])
	form := &d.forms.byHeader[formIndex(h)]
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
func (d *Decoder) takeLast(form *form, b *[fastSize]byte) Token {
	t := Token{head: form.head}
	switch n := le.Uint32(b[4:]); form.shape {
	case shapeWord:
		t.bits = le.Uint64(b[4:]) & form.mask
		_ = d.take(4 + int(form.size))
		return t
	case shapeText:
		t.head |= uint64(n) << 32
		t.bits = uint64(n)
		_ = d.take(8 + int(wire.Padded(n)))
	default:
		_ = d.take(4 + int(form.size))
	}
	d.keep()
	t.src, t.pos = &d.tokenSource, d.mark
	return t
}

// fastString consumes the next value, a String or StringName, or the next name or packed
// string, and returns its text in the buffer. It returns false if the fast path cannot read
// it.
func (d *Decoder) fastString() (text []byte, ok bool) {
	form, b := d.fastForm()
	if form == nil {
		return d.fastLastString()
	}
	if form.shape != shapeText {
		return nil, false
	}
	return d.fastStringOf(le.Uint32(b[4:]))
}

// fastLastString reads for fastString a name, a packed string, or a text in the last bytes of the
// buffer.
func (d *Decoder) fastLastString() (text []byte, ok bool) {
	if d.fastValues == nil {
		return d.fastName()
	}
	var b [fastSize]byte
	if form := d.lastForm(&b); form == nil || form.shape != shapeText {
		return nil, false
	}
	return d.fastStringOf(le.Uint32(b[4:]))
}

// fastStringOf consumes the next value, a String or StringName of n bytes, for fastString. It
// returns false if the text is not whole, see wholeText.
func (d *Decoder) fastStringOf(n uint32) (text []byte, ok bool) {
	i := d.r + 8
	if !d.wholeText(i, n) {
		return nil, false
	}
	_ = d.take(8 + int(wire.Padded(n)))
	return d.buf[i : i+int(n)], true
}

// fastName consumes the next name or packed string and returns its text in the buffer, without
// the NUL that engines write. It returns false if the fast path cannot read it.
func (d *Decoder) fastName() (text []byte, ok bool) {
	names, r, left := d.fastNames, d.r&math.MaxInt, d.remaining
	if r > len(names)-fastSize || left == 0 {
		return nil, false
	}
	b := (*[fastSize]byte)(names[r:])
	n := le.Uint32(b[:])
	size := wire.ShortText(n, le.Uint64(b[4:]))
	if size == 0 {
		return d.fastLongName(n)
	}
	d.setRemaining(left - 1)
	d.passEmpty(r+size, d.base+uint64(r))
	if b[(n+3)&15] == 0 {
		n -= d.nameNUL
	}
	return b[4:][:n], true
}

// fastLongName does the same for a name of n bytes that is not short ASCII.
func (d *Decoder) fastLongName(n uint32) (text []byte, ok bool) {
	i := d.r + 4
	if !d.wholeText(i, n) {
		return nil, false
	}
	text = d.fastNames[i : i+int(n)]
	d.setRemaining(d.remaining - 1)
	d.passEmpty(i+int(wire.Padded(n)), d.pos())
	if n > 0 && text[n-1] == 0 {
		text = text[:n-d.nameNUL]
	}
	return text, true
}

// fastMath consumes the next value of math type t with n components, and returns its bytes
// and unit. It returns wire.None if the fast path cannot read the value.
func (d *Decoder) fastMath(t Type, n int) ([]byte, wire.Unit) {
	form, _ := d.fastForm()
	if form == nil {
		var last [fastSize]byte
		form = d.lastForm(&last)
	}
	if form == nil || form.typ != t || form.shape != shapeMath {
		return nil, wire.None
	}
	from, size := d.r+4, int(form.size)
	if size != n*form.unit.Size() || from+size > len(d.fastValues) {
		return nil, wire.None
	}
	_ = d.take(4 + size)
	return d.buf[from : from+size], form.unit
}

// fastFloats reads the next value, of math type t with components of 32 bits, into c, without
// finding the form: -1 % of typed reads. It returns false if the fast path cannot read the value.
func fastFloats[F float32 | float64](d *Decoder, t Type, c []F) bool {
	form := &d.forms.byType[t&63][0]
	if !d.hasFast(d.remaining) || form.header != le.Uint32(d.peekFast()[:]) || form.unit != wire.Float32 || form.shape != shapeMath {
		return false
	}
	from, size := d.r+4, 4*len(c)
	if size != int(form.size) || size > len(d.fastValues)-from {
		return false
	}
	b := d.fastValues[from:]
	_ = d.take(4 + size)
	for i := range c {
		c[i] = F(math.Float32frombits(le.Uint32(wire.Nth(b, i, 4))))
	}
	return true
}

// wholeText reports whether the n bytes of text at buf[i:] are one chunk, within the
// limits, valid, and buffered together with their padding.
func (d *Decoder) wholeText(i int, n uint32) bool {
	return int64(n) <= int64(d.maxWhole) && d.limit-i >= int(wire.Padded(n)) && wire.ValidBytes(d.buf[i:i+int(n)])
}

// countFits reports whether a count of n elements or pairs, after the header at r, is within
// the limits. As checkCount on the slow path, it takes at least four bytes for each value, so a
// count that the rest of the input cannot hold opens no container.
func (d *Decoder) countFits(n uint32, values uint64) bool {
	return int64(n) <= d.maxCount &&
		d.values+values <= uint64(d.bounds[limitValues]) && d.pos()+8+4*values <= d.valueEnd
}

// openFast consumes the start of an Array, Dictionary or PackedStringArray of n elements
// or pairs. It returns false if the slow path must handle it, and makes no calls: -4 % of
// typed reads against push, which can grow the stack.
func (d *Decoder) openFast(form *form, n uint32) bool {
	pos, pairs, stack, depth := d.pos(), uint64(form.pairs&1), d.stack, d.depth
	values := uint64(n) << pairs
	if !d.countFits(n, values) || depth < 0 || depth >= len(stack)-1 || depth >= d.maxDepth {
		return false
	}
	d.values += values
	d.enter(&stack[depth], pairs, values, pos)
	stack[depth+1].init(&form.content, n)
	d.passEmpty(d.r+8, pos)
	if form.shape == shapePackedStrings {
		d.readNamesFast(d.options.Format.nul(form.typ))
	}
	return true
}

// topForm returns the form of the next top-level value if the fast path may open it: an
// Array, Dictionary or packed array, after which updateFastPath decides again. Without it, tokens of a
// packet of 64 bytes take 61 % more instructions, and packets found and checked 60 %.
func (d *Decoder) topForm() *form {
	win, r := d.buf[:d.limit], d.r&math.MaxInt
	if r > len(win)-fastSize || d.noFastPath {
		return nil
	}
	form, ok := d.forms.find(le.Uint32((*[fastSize]byte)(win[r:])[:]))
	if !ok || form.shape != shapeArray && form.shape != shapeDict && form.shape != shapePacked {
		return nil
	}
	return form
}

// nodePathCount returns the number of names and sub-names of the NodePath that starts with
// b. It returns false if the slow path must handle it.
func (d *Decoder) nodePathCount(b *[fastSize]byte) (uint32, bool) {
	names, subnames, bits := le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	n := uint64(names&^newNodePathBit) + uint64(subnames)
	ok := names >= newNodePathBit && bits <= nodePathAbsolute && n <= math.MaxInt32 && int64(n) <= d.bounds[limitElements] &&
		d.values+n <= uint64(d.bounds[limitValues]) && d.pos()+16+4*n <= d.valueEnd
	return uint32(n), ok
}

// openNodePath consumes the start of the NodePath that starts with b, and opens it. It returns
// false if the slow path must handle it.
func (d *Decoder) openNodePath(form *form, b *[fastSize]byte) bool {
	n, ok := d.nodePathCount(b)
	if !ok {
		return false
	}
	pos := d.pos()
	d.values += uint64(n)
	f := d.push(&form.content, n, pos)
	f.setNames(le.Uint32(b[4:])&^newNodePathBit, tokenFlags(le.Uint32(b[12:]))*flagAbsolute)
	d.pass(d.r+16, pos)
	d.payload = payload{token: d.mark, kind: KindNodePathStart}
	d.readNamesFast(0) // at any depth, which is checked for values only
	return true
}

func init() { hook.ReadNodePath = fastNodePath }

// fastNodePath is [hook.ReadNodePath]. -15 % of Unmarshal into structs.
func fastNodePath(x any, to *hook.NodePathText) []byte {
	d := x.(*Decoder)
	form, b := d.fastForm()
	if form == nil || form.shape != shapeNodePath {
		return nil
	}
	if text := d.shortNodePath(to, b); text != nil {
		return text
	}
	return d.longNodePath(to, b)
}

// shortNodePath consumes the NodePath that starts with b and returns its text, in the memory of to.
// It returns nil, and longNodePath can read the NodePath, unless it has a name, and at most 11 names
// and sub-names, of one to eight ASCII characters. As it calls nothing, its variables stay in
// registers: -14 % of typed reads of known shape, and -12 % of Unmarshal.
func (d *Decoder) shortNodePath(to *hook.NodePathText, b *[fastSize]byte) []byte {
	const ones = 0x0101010101010101
	names := le.Uint32(b[4:]) - newNodePathBit
	total := uint64(names) + uint64(le.Uint32(b[8:]))
	if names == 0 || total > 11 || le.Uint32(b[12:]) > nodePathAbsolute ||
		int64(total) > d.maxCount || d.values+total > uint64(d.bounds[limitValues]) {
		return nil
	}
	win, text, r, n, bits := d.fastValues, to[:], d.r+fastSize, uint(0), uint64(0)
	for separator := byte('/'); ; separator = ':' {
		for ; names > 0; names-- {
			r &= math.MaxInt
			if r > len(win)-fastSize {
				return nil
			}
			b := (*[fastSize]byte)(win[r:])
			size, word, at := le.Uint32(b[:]), le.Uint64(b[4:]), n&127
			if size-1 >= 8 {
				return nil
			}
			text[at] = separator
			le.PutUint64(text[at+1:], word)
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
	d.values += uint64(le.Uint32(b[4:]) - newNodePathBit + le.Uint32(b[8:]))
	_ = d.take(r - d.r)
	if le.Uint32(b[12:]) != nodePathAbsolute {
		return text[1 : n&127] // without the first separator
	}
	return text[:n&127]
}

// longNodePath is shortNodePath for all NodePaths whose text has up to nodePathText bytes. It returns
// nil if a name is empty or has a separator: the names could then not be found again in the text.
func (d *Decoder) longNodePath(to *hook.NodePathText, b *[fastSize]byte) []byte {
	total, ok := d.nodePathCount(b)
	if !ok {
		return nil
	}
	win, r, text, names := d.fastValues, d.r+fastSize, to[:0], le.Uint32(b[4:])&^newNodePathBit
	if le.Uint32(b[12:]) == nodePathAbsolute {
		text = append(text, '/')
	}
	for i := range total {
		if i >= names {
			text = append(text, ':')
		} else if i > 0 {
			text = append(text, '/')
		}
		if r > len(win)-fastSize {
			return nil
		}
		size := int(le.Uint32(win[r:]))
		r += 4
		if size <= 0 || size > min(d.maxWhole, nodePathText-len(text), len(win)-r) {
			return nil
		}
		name := win[r : r+size]
		if bytes.IndexByte(name, ':') >= 0 || i < names && bytes.IndexByte(name, '/') >= 0 {
			return nil
		}
		text = append(text, name...)
		r += int(wire.Padded(uint32(size)))
	}
	if r > len(win) || !wire.ValidBytes(text) { // separators are ASCII, so each name is valid, too
		return nil
	}
	d.values += uint64(total)
	_ = d.take(r - d.r)
	return text
}

// nodePathText is the maximum size of the text. The mask 127 changes no index in it.
const nodePathText = 100

// wholePacked returns the number of bytes of the n elements of the packed array that is next.
// It returns false if they exceed a limit or are not completely in the buffer, on the fast
// path.
func (d *Decoder) wholePacked(form *form, n uint32) (data int, ok bool) {
	size, left := uint64(n)*uint64(form.size), uint64(len(d.fastValues)-d.r) // size can exceed 32 bits
	if int64(size) > d.bounds[limitPacked] || 8+(size+3)&^3 > left {
		return 0, false
	}
	return int(size), true
}

// openPacked consumes the start of a packed array of n numbers: -11 % of ReadPacked of 4 KiB. It
// returns false if not all of them are buffered, so that the slow path must handle it.
func (d *Decoder) openPacked(form *form, n uint32) bool {
	if _, ok := d.wholePacked(form, n); !ok {
		return false
	}
	pos := d.pos()
	d.push(&form.content, n, pos)
	d.pass(d.r+8, pos)
	d.payload = payload{token: d.mark, kind: KindPackedStart}
	d.stopFast()
	return true
}

// takePacked consumes a packed array with this many bytes of elements, and its End.
func (d *Decoder) takePacked(data int) {
	_ = d.take(8 + (data+3)&^3)
	if d.depth == 0 { // where ResetBytes has switched it on: the next value sets its own limits
		d.stopFast()
	}
}

// readDictKey returns the DictKey before a key.
func (d *Decoder) readDictKey() Token {
	d.markKey()
	d.markEmpty(d.base + uint64(d.r)) // not pos: see take
	return Token{head: uint64(KindDictKey) | uint64(TypeDictionary)<<8}
}

// readEnd closes the innermost container and returns its End.
func (d *Decoder) readEnd() Token {
	t := Token{head: uint64(KindEnd) | uint64(d.top().typ)<<8}
	d.markEmpty(d.pos())
	switch k := d.pop().kind; {
	case k != KindArrayStart && k != KindDictStart: // k is the container around, 0 at the top level
		d.updateFastPath()
	case d.fastNames != nil: // the End of names or packed strings
		d.readValuesFast()
	case d.fastValues == nil:
		d.updateFastPath()
	}
	return t
}

// updateFastPath switches the fast path on or off. It must be called after any change of the
// state that it tests; only the fast path itself enters and leaves names without
// other tests. The fast path is on inside Arrays, Dictionaries, NodePaths and
// PackedStringArrays, and where topForm finds an Array or Dictionary at the top level.
func (d *Decoder) updateFastPath() {
	d.stopFast()
	if d.depth == 0 {
		return
	}
	f := d.top()
	inNames := f.kind == KindNodePathStart || f.kind == KindPackedStart && f.typ == TypePackedStringArray
	if !inNames && f.kind != KindArrayStart && f.kind != KindDictStart {
		return
	}
	// What only the slow path handles: start, checkHeader and Strict.
	if d.depth > d.maxDepth || d.err != nil || d.abandoned > 0 || d.payload.active || d.noFastPath {
		return
	}
	if inNames {
		d.readNamesFast(d.options.Format.nul(f.typ))
	} else {
		d.readValuesFast()
	}
}

// skipFast skips values on the fast path, without creating tokens, while at least open
// containers are open. It returns where the slow path must read a token; readTo then calls
// skipFast again.
func (d *Decoder) skipFast(open int) {
	for d.depth >= open {
		switch {
		case d.fastValues != nil:
			if !d.skipValues(open) {
				return
			}
		case d.fastNames != nil:
			if d.skipNames(); d.remaining > 0 {
				return
			}
			d.readEnd()
		default:
			return // after packed data, too, whose End may be beyond them
		}
	}
}

// skipValues skips values of Arrays and Dictionaries on the fast path, while at least open
// containers are open. It returns false where it cannot read the next value. Of the keys and
// tokens that it skips, only the positions of the last are kept: paths need them if an error
// follows.
func (d *Decoder) skipValues(open int) bool {
	win, r, left, sizes := d.fastValues, d.r, d.remaining, &d.forms.sizes
	last, before, end := -1, -1, len(win)-4 // last and before are the positions of the last two values in win
	for {
	loop: // its variables stay in registers, because it contains no calls
		for left > 0 {
			r &= math.MaxInt
			if r > end {
				break
			}
			next := r
			if h := le.Uint32(win[r : r+4]); h != stringHeader { // of win[r:], it would cost a check of bounds below
				if next += sizes.of(h); next == r || next > len(win) {
					break
				}
			} else if r > len(win)-keyBytes {
				break
			} else {
				b := (*[keyBytes]byte)(win[r:])
				switch m := le.Uint32(b[4:]) - 1; { // as wire.ShortText, with one test of the size
				case m < 4 && le.Uint32(b[8:])&(wire.NotASCII>>32) == 0:
					next += 12
				case m < 8 && le.Uint64(b[8:])&wire.NotASCII == 0:
					next += 16
				case m < 12 && (le.Uint64(b[8:])|le.Uint64(b[12:]))&wire.NotASCII == 0: // up to 16 bytes: -32 % of packets
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
		d.r = r
		if left == 0 { // as readEnd
			d.markEmpty(d.pos())
			if k := d.pop().kind; k != KindArrayStart && k != KindDictStart {
				d.updateFastPath()
			}
			if d.depth < open || d.fastValues == nil {
				return true
			}
			left, last, before = d.remaining, -1, -1
			continue
		}
		form, b := d.forms.formAt(win, r)
		if form == nil || form.shape != shapeArray && form.shape != shapeDict {
			if size := d.otherSize(form, b); size > 0 {
				before, last, r = last, r, r+size
				left--
				continue
			}
			form = nil
		}
		d.skipped(left, last, before)
		if form == nil || !d.openFast(form, le.Uint32(b[4:])) {
			return false
		}
		r, left, last, before = d.r, d.remaining, -1, -1
	}
}

// skipped sets what the skipping of values has changed. The last two values of the innermost
// container were at last and before in the buffer, or at -1.
func (d *Decoder) skipped(left uint64, last, before int) {
	if last < 0 {
		return
	}
	pos := d.base + uint64(last)
	if form, _ := d.forms.find(le.Uint32(d.fastValues[last:])); form.shape > shapeText {
		pos = d.pos() // of its End
	}
	if left&1 != 0 { // the latest value is a key
		before = last
	}
	if d.pairs != 0 && before >= 0 { // if only a value was skipped, its key is set already
		d.setKey(d.base + uint64(before))
	}
	d.markEmpty(pos)
	d.setRemaining(left)
}

// otherSize returns the size of the next value: a longer string, a NodePath, a packed array, or a
// String in the last bytes of the buffer. It returns 0 if the slow path must handle the value.
func (d *Decoder) otherSize(form *form, b *[fastSize]byte) int {
	if form == nil {
		b := d.fastValues[d.r:]
		if len(b) < 8 || le.Uint32(b) != stringHeader || !d.wholeText(d.r+8, le.Uint32(b[4:])) {
			return 0
		}
		return 8 + int(wire.Padded(le.Uint32(b[4:])))
	}
	n := le.Uint32(b[4:])
	if d.depth == 0 { // a packed array; skipping ends after it: see SkipValue
		if data, ok := d.wholePacked(form, n); ok {
			d.takePacked(data)
			d.markEmpty(d.pos()) // the token of its End
		}
		return 0
	}
	switch form.shape {
	case shapeText:
		if d.wholeText(d.r+8, n) {
			return 8 + int(wire.Padded(n))
		}
	case shapePacked:
		if data, ok := d.wholePacked(form, n); ok {
			return 8 + (data+3)&^3
		}
	case shapeNodePath:
		if names, ok := d.nodePathCount(b); ok {
			return d.namesSize(16, names)
		}
	case shapePackedStrings:
		if d.countFits(n, uint64(n)) {
			return d.namesSize(8, n)
		}
	}
	return 0
}

// namesSize returns the size of a NodePath or PackedStringArray whose n names or strings follow
// a head of this size, or 0 if the slow path must handle one of them. Without it, SkipValue takes
// 138 % more instructions.
func (d *Decoder) namesSize(head int, n uint32) int {
	win, r := d.fastValues, d.r+head
	for range n {
		if r > len(win)-fastSize {
			return 0
		}
		b := (*[fastSize]byte)(win[r:])
		n := le.Uint32(b[:])
		size := wire.ShortText(n, le.Uint64(b[4:]))
		if size == 0 {
			if !d.wholeText(r+4, n) {
				return 0
			}
			size = 4 + int(wire.Padded(n))
		}
		r += size
	}
	d.values += uint64(n) // as opening it would do
	return r - d.r
}

// skipNames skips names or packed strings, of a container that has been opened before.
func (d *Decoder) skipNames() {
	names, r, left := d.fastNames, d.r, d.remaining
	last := d.tokenPos()
	for r <= len(names)-fastSize && left > 0 {
		b := (*[fastSize]byte)(names[r:])
		n := le.Uint32(b[:])
		size := wire.ShortText(n, le.Uint64(b[4:]))
		if size == 0 {
			if !d.wholeText(r+4, n) {
				break
			}
			size = 4 + int(wire.Padded(n))
		}
		last = d.base + uint64(r)
		left--
		r += size
	}
	d.passEmpty(r, last)
	d.setRemaining(left)
}

// passFast goes over at most `most` bytes of the values of the innermost container
// that an Encoder would write as they are: no containers, no bools but 0 and 1,
// padding of zeros. Without it, CopyValue takes 264 % more instructions.
func (d *Decoder) passFast(most int) {
	win, r, left := d.fastValues, d.r, d.remaining
	win = win[:min(len(win), r+most)] // no more than the Encoder has room for
	last := d.tokenPos()
	for r <= len(win)-fastSize && left > 0 {
		b := (*[fastSize]byte)(win[r:])
		n := le.Uint32(b[4:])
		form, ok := d.forms.find(le.Uint32(b[:]))
		if !ok || form.shape > shapeText || n > 1 && form.kind == KindBool {
			break
		}
		size := 4 + int(form.size)
		if form.shape == shapeText {
			size = 8 + int(wire.Padded(n))
			if n-1 >= 8 || !wire.PlainText(le.Uint64(b[8:]), n) {
				if !d.wholeText(r+8, n) || size > len(win)-r || n&3 != 0 && le.Uint32(win[r+size-4:])>>(8*(n&3)) != 0 {
					break
				}
			}
		}
		if size > len(win)-r {
			break
		}
		last = d.base + uint64(r)
		if ^left&d.pairs != 0 {
			d.setKey(last)
		}
		left--
		r += size
	}
	d.passEmpty(r, last)
	d.setRemaining(left)
}

// passNames goes over at most `most` bytes of names or packed strings that an Encoder would write
// as they are. Without it, CopyValue takes 79 % more instructions.
func (d *Decoder) passNames(most int) {
	names, r, left := d.fastNames, d.r, d.remaining
	names = names[:min(len(names), r+most)]
	last := d.tokenPos()
	for r <= len(names)-fastSize && left > 0 {
		b := (*[fastSize]byte)(names[r:])
		n := le.Uint32(b[:])
		size := 4 + int(wire.Padded(n))
		if n-1 >= 8 || !wire.PlainText(le.Uint64(b[4:]), n) {
			if !d.wholeText(r+4, n) || size > len(names)-r || n&3 != 0 && le.Uint32(names[r+size-4:])>>(8*(n&3)) != 0 {
				break
			}
		}
		if d.nameNUL > 0 && (n == 0 || names[r+3+int(n)] != 0) { // WriteToken adds the NUL
			break
		}
		last = d.base + uint64(r)
		left--
		r += size
	}
	d.passEmpty(r, last)
	d.setRemaining(left)
}
