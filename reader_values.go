package gdwire

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
)

// lookup returns the form for header h, or nil if the format has no such type.
func (d *Decoder) lookup(h uint32) *form {
	id := h & d.options.Format.idMask
	if form := &d.forms.byHeader[formIndex(h)]; id < numForms/2 && form.typ != 0 {
		return form
	}
	return nil
}

// formOf returns the form for header h, or an error if the format has no such type.
func (d *Decoder) formOf(h uint32) (*form, error) {
	if form := d.lookup(h); form != nil {
		return form, nil
	}
	f := d.options.Format
	if f.typeOf(h&0xFFFF) != 0 {
		return nil, d.fail(0, wrapf(ErrFlags, "header has flags: %#x, %v has none", h, f))
	}
	return nil, d.fail(0, wrapf(ErrType, "unknown %v type id %d%s", f, h&f.idMask, d.hint(h)))
}

// hint names what the input probably is, if it begins with h in place of a header. It
// looks at no other bytes, so that the text of an error does not depend on how they arrive.
func (d *Decoder) hint(h uint32) string {
	if d.pos() != d.origin {
		return ""
	}
	if hint, ok := magics[h]; ok {
		return hint
	}
	var b [4]byte
	isText := true
	for _, c := range binary.LittleEndian.AppendUint32(b[:0], h) {
		isText = isText && (c >= ' ' && c <= '~' || c == '\n' || c == '\r' || c == '\t')
	}
	switch {
	case isText:
		return "; the input is text: for JSON, see package gdjson"
	case h <= 1<<24 && h%4 == 0: // as nearly all lengths are
		return "; perhaps the input begins with its length: see package stream"
	}
	return ""
}

// magics has the first four bytes of files that are often taken for values.
var magics = map[uint32]string{
	0x46504347: "; GCPF: a compressed file, see package fileaccess",
	0x43454447: "; GDEC: an encrypted file, see package fileaccess",
	0x43525352: "; RSRC: a resource, not a value",
	0x43435352: "; RSCC: a compressed resource, not a value",
}

// value reads the first token of a value on the slow path.
func (d *Decoder) value() (Token, error) {
	b, err := d.peek(4)
	if err != nil {
		return Token{}, err
	}
	h := le.Uint32(b)
	form, err := d.formOf(h)
	if err != nil {
		return Token{}, err
	}
	if err := d.checkHeader(h, form); err != nil {
		return Token{}, err
	}
	switch form.shape {
	case shapeText:
		return d.text(form.typ, 4)
	case shapeNodePath:
		return d.nodePath()
	case shapeSignal:
		return d.signal()
	case shapeObject:
		return d.object()
	case shapeArray, shapeDict:
		return d.container(form, h>>16&uint32(form.flags))
	case shapePacked, shapePackedStrings:
		return d.packed(form)
	case shapeImage:
		return d.image()
	case shapeEvent:
		return d.event()
	}
	size := 4 + int(form.size)
	if b, err = d.peek(size); err != nil {
		return Token{}, err
	}
	t := Token{head: form.head}
	if form.shape == shapeWord {
		t.bits = wordOf(b[4:size])
		if d.options.Strict {
			if err := d.canonicalNumber(form, b[4:size]); err != nil {
				return Token{}, err
			}
		}
	}
	d.takeValue(size)
	if form.shape == shapeMath {
		t.src, t.pos = &d.tokenSource, d.mark
	}
	return t, nil
}

// checkHeader checks the depth of a value and, with Strict, its header h.
func (d *Decoder) checkHeader(h uint32, form *form) error {
	if err := d.bounds.check(limitDepth, uint64(d.depth)); err != nil {
		return d.fail(0, err)
	}
	if d.options.Strict {
		return d.canonicalHeader(h, form)
	}
	return nil
}

// wordOf returns the number in up to 8 bytes.
func wordOf(b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	return le.Uint64(word[:])
}

// checkLength returns an error if n bytes cannot follow the length field at offset at.
func (d *Decoder) checkLength(at int, n uint64) error {
	if end := d.pos() + uint64(at) + 4 + n; end > d.valueEnd {
		return d.limitError(at, 0, 0, end)
	}
	return nil
}

// checkCount returns an error if n elements, each of at least size bytes and of the given
// number of values, exceed a limit or cannot follow the count at offset at. Otherwise it
// adds the values to d.values.
func (d *Decoder) checkCount(at int, n, values, size uint64) error {
	total, end := d.values+n*values, d.pos()+uint64(at)+4+n*size
	if n > uint64(d.bounds[limitElements]) || total > uint64(d.bounds[limitValues]) || end > d.valueEnd {
		return d.limitError(at, n, total, end)
	}
	d.values = total
	return nil
}

// limitError returns the error for a count that exceeds a limit: by n elements, by the total
// number of values, or by the position end of its last byte.
func (d *Decoder) limitError(at int, n, total, end uint64) error {
	err := d.bounds.check(limitElements, n)
	if err == nil {
		err = d.bounds.check(limitValues, total)
	}
	if err == nil {
		err = d.bounds.check(limitBytes, end-d.valueStart)
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return d.fail(at, err)
}

// text reads the first chunk of a string whose length field is at offset at from r.
func (d *Decoder) text(typ Type, at int) (Token, error) {
	part, err := d.peekFirst(typ, at)
	if err != nil {
		return Token{}, err
	}
	pos := d.pos()
	d.takeFirst(typ, part)
	return d.chunkToken(typ, pos, at+4, part), nil
}

// peekFirst returns the first chunk of a string whose length field is at offset at from r.
func (d *Decoder) peekFirst(typ Type, at int) (textPart, error) {
	b, err := d.peek(at + 4)
	if err != nil {
		return textPart{}, err
	}
	n := le.Uint32(b[at:])
	from := d.r + at + 4
	if !d.options.Strict && d.wholeText(from, n) {
		part := textPart{size: at + 4 + int(wire.Padded(n)), total: n, flags: flagLast}
		if typ == TypePackedStringArray {
			n -= d.trailingNUL(d.buf[from : from+int(n)])
		}
		part.n, part.length = int(n), uint64(n)
		return part, nil
	}
	if err := d.bounds.check(limitString, uint64(n-min(n, d.nul(typ)))); err != nil {
		return textPart{}, d.fail(at, err)
	}
	if err := d.checkLength(at, uint64(n)); err != nil {
		return textPart{}, err
	}
	return d.peekText(typ, at+4, uint64(n), n)
}

// takeFirst consumes the first chunk of a string.
func (d *Decoder) takeFirst(typ Type, part textPart) {
	pos := d.pos()
	if part.flags&flagLast != 0 {
		d.countAt(pos)
	} else {
		d.push(KindStringChunk, typ, part.total, pos)
		d.count(uint64(part.n))
		d.updateFastPath()
	}
	d.consume(part.size)
}

// chunkToken returns the token for a chunk that has been consumed. The token starts at
// pos, and its text at pos+at.
func (d *Decoder) chunkToken(typ Type, pos uint64, at int, part textPart) Token {
	d.markToken(pos)
	d.payload = payload{token: d.mark, kind: KindStringChunk, pos: pos + uint64(at), left: part.n}
	return newToken(KindStringChunk, typ, part.flags, part.length).at(&d.tokenSource, at, part.n)
}

// textChunk reads the next chunk of a string as a token.
func (d *Decoder) textChunk() (Token, error) {
	typ, pos := d.top().typ, d.pos()
	part, err := d.takeText()
	if err != nil {
		return Token{}, err
	}
	return d.chunkToken(typ, pos, 0, part), nil
}

// takeText consumes the next chunk of a string.
func (d *Decoder) takeText() (textPart, error) {
	f := d.top()
	part, err := d.peekText(f.typ, 0, d.remaining, f.count)
	if err != nil {
		return part, err
	}
	d.consume(part.size)
	d.count(uint64(part.n))
	if part.flags&flagLast != 0 {
		d.pop()
		d.updateFastPath()
	}
	return part, nil
}

// trailingNUL returns 1 if text, a packed string, ends in the NUL that engines write, and
// otherwise 0.
func (d *Decoder) trailingNUL(text []byte) uint32 {
	if len(text) > 0 && text[len(text)-1] == 0 {
		return d.nul(TypePackedStringArray)
	}
	return 0
}

// nul returns 1 if engines end strings in a value of the given type with a NUL, and
// otherwise 0.
func (d *Decoder) nul(typ Type) uint32 {
	if typ == TypePackedStringArray && d.options.Format.engine {
		return 1
	}
	return 0
}

// A textPart is a chunk of a string that is completely in the buffer.
type textPart struct {
	n      int    // bytes of text
	size   int    // bytes of text, of the header and length before it, and of padding
	total  uint32 // declared length of the string
	length uint64 // Token.Len
	flags  tokenFlags
}

// peekText returns the next chunk of a string of total bytes, of which left bytes are still
// to come. at is the number of bytes before the text, 0 unless it is the first chunk.
func (d *Decoder) peekText(typ Type, at int, left uint64, total uint32) (textPart, error) {
	n, pad, flags := d.maxChunk, 0, tokenFlags(0)
	last := left <= uint64(d.maxChunk)+uint64(d.nul(typ))
	if last {
		n, pad, flags = int(left), wire.Padding(total), flagLast
	}
	b, pad, err := d.peekPadded(typ, at+n, pad)
	if err != nil {
		return textPart{}, d.cutText(typ, at, n, last, err)
	}
	text := b[at : at+n]
	if !last {
		n = wire.WholeRunes(text, n)
		text = text[:n]
	}
	if !d.options.AllowInvalidUTF8 && !wire.ValidBytes(text) {
		return textPart{}, d.badText(at, text)
	}
	if d.options.Strict {
		if err := d.canonicalText(typ, at, text, last, b[at+n:at+n+pad], total); err != nil {
			return textPart{}, err
		}
	}
	part := textPart{n: n, size: at + n + pad, total: total, length: uint64(total), flags: flags}
	if d.nul(typ) == 1 {
		if last && n > 0 && text[n-1] == 0 {
			part.n--
		}
		if uint64(total) <= uint64(d.maxChunk)+1 {
			part.length = uint64(part.n)
		} else {
			part.flags |= flagNUL
		}
	}
	return part, nil
}

// badText returns the error for text that is not UTF-8. With Strict, a NUL before the
// invalid byte is reported first, as it would be with smaller chunks.
func (d *Decoder) badText(at int, text []byte) error {
	bad := wire.InvalidAt(text)
	if d.options.Strict {
		if err := d.canonicalNUL(at, text[:bad]); err != nil {
			return err
		}
	}
	return d.fail(at+bad, ErrUTF8)
}

// cutText returns the error for a chunk of n bytes if the input or Limits.Bytes ends inside it
// or its padding. It checks the received part first, because with smaller chunks an error in
// it would be reported.
func (d *Decoder) cutText(typ Type, at, n int, last bool, err error) error {
	if d.err == nil { // an error of the Reader
		return err
	}
	text := d.buf[min(d.r+at, d.limit):min(d.r+at+n, d.limit)]
	if len(text) == n && last && d.nul(typ) == 1 && text[n-1] == 0 {
		text = text[:n-1]
	}
	text = text[:wire.WholeRunes(text, len(text))]
	if !d.options.AllowInvalidUTF8 && !wire.ValidBytes(text) {
		return d.badText(at, text)
	}
	if d.options.Strict {
		if err := d.canonicalNUL(at, text); err != nil {
			return err
		}
	}
	return err
}

// peekPadded is peek for n bytes and pad bytes of padding. It returns the number of bytes of
// padding, which can be missing at the end of the input if engines accept that. Where
// Limits.Bytes ends in the padding, it reads one byte more to learn whether the input ends.
func (d *Decoder) peekPadded(typ Type, n, pad int) ([]byte, int, error) {
	if pad > 0 && d.limit-d.r < n+pad && d.mayLackPadding(typ) {
		most := d.valueStart + uint64(d.bounds[limitBytes]) - d.pos()
		if need := int(min(uint64(n+pad), most+1)); d.end-d.r < need {
			if err := d.fetch(need); err == io.EOF && d.end-d.r >= n {
				pad = d.end - d.r - n
			} else if err != nil {
				return nil, pad, d.readError(err)
			}
		}
	}
	b, err := d.peek(n + pad)
	return b, pad, err
}

func (d *Decoder) mayLackPadding(typ Type) bool {
	return !d.options.Strict && !d.options.wholePadding && d.options.Format.mayLackPadding(typ)
}

// name waits until the name whose length field is at offset at is buffered, and checks it.
// It returns the length and the offset of the end of its padding.
func (d *Decoder) name(at int) (n, end int, err error) {
	b, err := d.peek(at + 4)
	if err != nil {
		return 0, 0, err
	}
	size := le.Uint32(b[at:])
	if err := d.bounds.check(limitName, uint64(size)); err != nil {
		return 0, 0, d.fail(at, err)
	}
	if err := d.checkLength(at, uint64(size)); err != nil {
		return 0, 0, err
	}
	from := at + 4
	if uint64(from)+wire.Padded(size) > math.MaxInt-windowBuffer { // possible with two names and ints of 32 bits
		return 0, 0, d.fail(at, wrapf(ErrRange, "name of %d bytes", size))
	}
	n, end = int(size), from+int(wire.Padded(size))
	if b, err = d.peek(end); err != nil {
		return 0, 0, err
	}
	text := b[from : from+n]
	if !d.options.AllowInvalidUTF8 && !wire.ValidBytes(text) {
		return 0, 0, d.badText(from, text)
	}
	if d.options.Strict {
		err = d.canonicalText(TypeString, from, text, true, b[from+n:end], size)
	}
	return n, end, err
}

// sharedBit is bit 31 of an array's or dictionary's count.
const sharedBit = 1 << 31

// container reads the start of an Array or Dictionary: the declared types, if the flags
// have any, and the count.
func (d *Decoder) container(form *form, flags uint32) (Token, error) {
	if flags == 0 {
		return d.counted(form, 4)
	}
	declared, err := d.declarations(flags)
	if err != nil {
		return Token{}, err
	}
	t, err := d.counted(form, declared.end)
	if err != nil {
		return Token{}, err
	}
	t.head |= uint64(declared.flags) << 16
	if size := declared.to - declared.from; size > 0 {
		t = t.at(&d.tokenSource, declared.from, size)
	}
	d.top().elem = declared.elem
	return t, nil
}

// counted reads the count of an Array or Dictionary, at offset at.
func (d *Decoder) counted(form *form, at int) (Token, error) {
	b, err := d.peek(at + 4)
	if err != nil {
		return Token{}, err
	}
	n, shared := le.Uint32(b[at:]), uint64(0)
	if n&sharedBit != 0 {
		if d.options.Format.shared {
			shared = uint64(flagShared) << 16
		} else if d.options.Strict {
			return Token{}, d.strict(at, "shared bit of a count")
		}
		n &^= sharedBit
	}
	values := uint64(1)
	if form.shape == shapeDict {
		values = 2
	}
	if err := d.checkCount(at, uint64(n), values, 4*values); err != nil {
		return Token{}, err
	}
	d.open(at+4, form.kind, form.typ, n)
	return Token{head: form.head | shared, bits: uint64(n)}, nil
}

// declarations has the declared types of an Array or Dictionary.
type declarations struct {
	flags    tokenFlags
	elem     Type // the type of elements or keys, or 0
	from, to int  // the offsets of their encoding, from the start of the header
	end      int  // the offset of the count
}

// declarations reads the declared types that the flags require.
func (d *Decoder) declarations(flags uint32) (declarations, error) {
	p := declarations{from: 4, to: 4, end: 4}
	for i, shift := range [...]int{elemShift, valueShift} {
		k := containerKind(flags >> (2 * i) & 3)
		end, t, err := d.declaration(p.end, k)
		if err != nil {
			return p, err
		}
		p.end = end
		switch {
		case t != 0:
			p.flags |= tokenFlags(k) << shift
			p.to = end
			if i == 0 {
				p.elem = t
			}
		case i == 0: // type id 0 declares nothing, so the payload begins after it
			p.from, p.to = end, end
		}
	}
	return p, nil
}

// declaration reads a declared type at offset at. It returns the offset of its end and the
// type that elements must have, or 0 for any.
func (d *Decoder) declaration(at int, k containerKind) (int, Type, error) {
	switch k {
	case containerUntyped:
		return at, 0, nil
	case containerBuiltin:
		b, err := d.peek(at + 4)
		if err != nil {
			return 0, 0, err
		}
		id := le.Uint32(b[at:])
		t := d.options.Format.typeOf(id)
		if t == 0 {
			return 0, 0, d.fail(at, wrapf(ErrType, "elements of unknown %v type id %d", d.options.Format, id))
		}
		if t == TypeNil {
			if d.options.Strict {
				return 0, 0, d.strict(at, "elements of type id 0")
			}
			t = 0
		}
		return at + 4, t, nil
	default:
		n, end, err := d.name(at)
		if err == nil && n == 0 && d.options.Strict {
			err = d.strict(at, "elements of a class without a name")
		}
		return end, TypeObject, err
	}
}

// object reads the start of a serialized object.
func (d *Decoder) object() (Token, error) {
	f := d.options.Format
	if !d.options.AllowObjects && !f.nullObject {
		return Token{}, d.fail(0, ErrObject)
	}
	n, end, err := d.name(4)
	if err != nil {
		return Token{}, err
	}
	if n > 0 && !d.options.AllowObjects {
		return Token{}, d.fail(0, ErrObject)
	}
	if n == 0 && d.options.Strict && !f.nullObject {
		return Token{}, d.strict(0, "object without a class")
	}
	count := uint32(0)
	if n > 0 { // an object with an empty class name is null and has no count
		b, err := d.peek(end + 4)
		if err != nil {
			return Token{}, err
		}
		if count, err = d.sign(end, le.Uint32(b[end:])); err != nil {
			return Token{}, err
		}
		if err := d.checkCount(end, uint64(count), 2, 8); err != nil {
			return Token{}, err
		}
		end += 4
	}
	d.open(end, KindObjectStart, TypeObject, count)
	return newToken(KindObjectStart, TypeObject, 0, uint64(count)).at(&d.tokenSource, 8, n), nil
}

// sign returns the count n, or 0 if n is negative and engines read that as 0.
func (d *Decoder) sign(at int, n uint32) (uint32, error) {
	if n <= math.MaxInt32 || !d.options.Format.engine {
		return n, nil
	}
	if d.options.Strict {
		return 0, d.strict(at, "negative count")
	}
	return 0, nil
}

// property reads a property's name.
func (d *Decoder) property() (Token, error) {
	n, end, err := d.name(0)
	if err != nil {
		return Token{}, err
	}
	d.takeValue(end)
	return newToken(KindProperty, TypeObject, 0, 0).at(&d.tokenSource, 4, n), nil
}

// Bits of a NodePath: newNodePathBit is in its first word, the others are in its flags.
const (
	newNodePathBit   = 1 << 31
	nodePathAbsolute = 1 << 0
	nodePathProperty = 1 << 1
)

// nodePath reads the start of a NodePath.
func (d *Decoder) nodePath() (Token, error) {
	b, err := d.peek(8)
	if err != nil {
		return Token{}, err
	}
	format := d.options.Format
	n := le.Uint32(b[4:])
	if n&newNodePathBit == 0 {
		if !format.oldNodePath {
			return Token{}, d.fail(4, wrapf(ErrType, "NodePath in one string, which %v does not have", format))
		}
		if format.engine && d.options.Strict {
			return Token{}, d.strict(4, "NodePath as one string")
		}
		if err := d.checkCount(4, 1, 1, 0); err != nil {
			return Token{}, err
		}
		// The string follows in the form of a name.
		d.open(4, KindNodePathStart, TypeNodePath, 1).names = 1
		d.payload.kind = KindNodePathStart
		return newToken(KindNodePathStart, TypeNodePath, flagOldNodePath, 1), nil
	}
	if b, err = d.peek(16); err != nil {
		return Token{}, err
	}
	names, subnames, bits := n&^newNodePathBit, uint64(le.Uint32(b[8:])), le.Uint32(b[12:])
	if d.options.Strict {
		if err := d.canonicalNodePath(bits); err != nil {
			return Token{}, err
		}
	}
	flags := tokenFlags(0)
	if bits&nodePathAbsolute != 0 {
		flags |= flagAbsolute
	}
	if bits&nodePathProperty != 0 && format.property {
		flags |= flagProperty
		subnames++
	}
	total := uint64(names) + subnames
	if format.engine && total > math.MaxUint32 { // engines add in 32 bits
		if d.options.Strict {
			return Token{}, d.strict(4, "NodePath of %d names", total)
		}
		total &= math.MaxUint32
		names = uint32(min(uint64(names), total))
		subnames = total - uint64(names)
	}
	err = d.checkCount(4, total, 1, 4)
	if err == nil {
		err = d.checkLength(4, 8+4*total) // after the number of sub-names and the flags
	}
	if err != nil {
		return Token{}, err
	}
	if total > math.MaxUint32 {
		return Token{}, d.fail(4, wrapf(ErrRange, "NodePath of %d names", total))
	}
	d.open(16, KindNodePathStart, TypeNodePath, uint32(total)).setNames(names, flags)
	d.payload.kind = KindNodePathStart
	return newToken(KindNodePathStart, TypeNodePath, flags, uint64(names)|subnames<<32), nil
}

// packed reads the start of a packed array.
func (d *Decoder) packed(form *form) (Token, error) {
	b, err := d.peek(8)
	if err != nil {
		return Token{}, err
	}
	n := le.Uint32(b[4:])
	if form.shape == shapePackedStrings {
		if n, err = d.sign(4, n); err == nil {
			err = d.checkCount(4, uint64(n), 1, 4)
		}
	} else {
		err = d.checkData(4, uint64(n)*uint64(form.size))
	}
	if err != nil {
		return Token{}, err
	}
	d.open(8, KindPackedStart, form.typ, n).setElements(form)
	if form.shape == shapePacked {
		d.payload.kind = KindPackedStart
	}
	return newToken(KindPackedStart, form.typ, tokenFlags(form.unit), uint64(n)), nil
}

// checkData is checkCount for n bytes of packed data.
func (d *Decoder) checkData(at int, n uint64) error {
	if err := d.bounds.check(limitPacked, n); err != nil {
		return d.fail(at, err)
	}
	return d.checkLength(at, n)
}

// chunk reads the next elements of packed data as a token.
func (d *Decoder) chunk() (Token, error) {
	pos := d.pos()
	n, err := d.takeChunk(math.MaxInt)
	if err != nil {
		return Token{}, err
	}
	f := d.top()
	d.markToken(pos)
	d.payload = payload{token: d.mark, kind: f.kind, pos: pos, left: n}
	return newToken(KindChunk, f.typ, tokenFlags(f.unit), uint64(n/int(f.size))).at(&d.tokenSource, 0, n), nil
}

// takeChunk consumes the next elements of packed data, as many as most, and the
// padding after the last element. It returns the number of bytes without padding.
func (d *Decoder) takeChunk(most int) (int, error) {
	f := d.top()
	size := int(f.size)
	n := min(max(d.maxChunk/size, 1), most)
	pad := 0
	if d.remaining <= uint64(n) {
		n = int(d.remaining)
		if f.unit == wire.Byte {
			pad = wire.Padding(f.count)
		}
	}
	b, pad, err := d.peekPadded(f.typ, n*size, pad)
	if err != nil {
		return 0, err
	}
	if d.options.Strict {
		if err := d.canonicalPadding(n*size, b[n*size:n*size+pad]); err != nil {
			return 0, err
		}
	}
	d.count(uint64(n))
	d.consume(n*size + pad)
	return n * size, nil
}

// signal reads a Signal.
func (d *Decoder) signal() (Token, error) {
	n, end, err := d.name(4)
	if err != nil {
		return Token{}, err
	}
	b, err := d.peek(end + 8)
	if err != nil {
		return Token{}, err
	}
	object := le.Uint64(b[end:])
	d.takeValue(end + 8)
	return newToken(KindSignal, TypeSignal, 0, object).at(&d.tokenSource, 8, n), nil
}

// image reads the start of an Image of Godot 2.
func (d *Decoder) image() (Token, error) {
	const at = 20 // offset of the length, after header, format, mipmaps, width and height
	b, err := d.peek(at + 4)
	if err != nil {
		return Token{}, err
	}
	n := le.Uint32(b[at:])
	if err := d.checkData(at, uint64(n)); err != nil {
		return Token{}, err
	}
	f := d.open(at+4, KindImageStart, TypeImage, n)
	f.size, f.unit = 1, wire.Byte
	d.payload.kind = KindImageStart
	return newToken(KindImageStart, TypeImage, tokenFlags(wire.Byte), uint64(n)).at(&d.tokenSource, 4, at-4), nil
}

// eventData has the number of data bytes of each type of InputEvent.
var eventData = [...]int{1: 8, 3: 4, 4: 8, 5: 4, 6: 4, 8: 0}

const (
	joystickMotion = 4
	eventHead      = 12 // type, device, length
)

// eventSize returns the number of data bytes of an event, of the rest bytes after its length
// field.
func eventSize(event, rest uint32) int {
	switch {
	case event == joystickMotion && rest == 4: // the oldest engines write only the axis
		return 4
	case event < uint32(len(eventData)):
		return eventData[event]
	}
	return 0
}

// event reads an InputEvent of Godot 2.
func (d *Decoder) event() (Token, error) {
	b, err := d.peek(4 + eventHead)
	if err != nil {
		return Token{}, err
	}
	event, device, size := le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	n := eventSize(event, size-eventHead)
	if uint64(size) < eventHead+uint64(n) {
		return Token{}, d.fail(12, wrapf(ErrRange, "InputEvent of type %d needs more than %d bytes", event, size))
	}
	if err := d.bounds.check(limitName, uint64(size-eventHead)); err != nil {
		return Token{}, d.fail(12, err)
	}
	if err := d.checkLength(12, uint64(size-eventHead)); err != nil {
		return Token{}, err
	}
	if d.options.Strict && size != eventHead+uint32(n) {
		return Token{}, d.strict(12, "InputEvent longer than its type needs")
	}
	if _, err = d.peek(4 + int(size)); err != nil {
		return Token{}, err
	}
	d.takeValue(4 + int(size))
	return newToken(KindInputEvent, TypeInputEvent, 0, uint64(event)|uint64(device)<<32).at(&d.tokenSource, 4+eventHead, n), nil
}

// strictSeen is the set of alternatives that Strict has seen in a top-level value. An
// engine uses only one of two alternatives in a value.
type strictSeen uint8

const (
	seenNarrow strictSeen = 1 << iota // math type of 32 bits
	seenWide                          // math type of 64 bits
	seenID                            // object as its id
	seenFull                          // serialized object
)

// both adds this to the set and reports whether the set contains other, too.
func (s *strictSeen) both(this, other strictSeen) bool {
	*s |= this
	return *s&other != 0
}

func (d *Decoder) strict(at int, format string, args ...any) error {
	return d.fail(at, wrapf(ErrStrict, "not canonical: "+format, args...))
}

// The functions below return an ErrStrict for input that engines accept but never
// write. Offsets are relative to the start of the token.

// canonicalHeader checks the flags of header h, the declared type of its container, and
// the alternatives in strictSeen.
func (d *Decoder) canonicalHeader(h uint32, form *form) error {
	f := d.options.Format
	if f.idMask != math.MaxUint32 && (h&0xFF00 != 0 || h>>16&^uint32(form.flags) != 0) {
		return d.strict(0, "header %#x", h)
	}
	if !d.admits(form.typ) {
		return d.strict(0, "%v in a container of %v", form.typ, d.top().elem)
	}
	wide := h>>16&1 != 0
	switch c := layouts[form.typ].class; {
	case c == classReal && f.width[c] == flagged:
		if !wide && d.strictSeen.both(seenNarrow, seenWide) || wide && d.strictSeen.both(seenWide, seenNarrow) {
			return d.strict(0, "math types of both widths")
		}
	case form.typ == TypeObject && f.ids:
		if wide && d.strictSeen.both(seenID, seenFull) || !wide && d.strictSeen.both(seenFull, seenID) {
			return d.strict(0, "both ids of objects and serialized objects")
		}
	}
	return nil
}

// canonicalNumber checks that the number in b has the fewest bits, that a bool is 0 or
// 1, and that an object's id is not 0.
func (d *Decoder) canonicalNumber(form *form, b []byte) error {
	flagged := d.options.Format.width[layouts[form.typ].class] == flagged
	switch form.kind {
	case KindBool:
		if x := le.Uint32(b); x > 1 {
			return d.strict(0, "bool of %d", x)
		}
	case KindInt64:
		if x := int64(le.Uint64(b)); flagged && x == int64(int32(x)) {
			return d.strict(0, "int %d in 64 bits", x)
		}
	case KindFloat32:
		if x := math.Float32frombits(le.Uint32(b)); flagged && x != x && d.options.Format.engine {
			return d.strict(0, "NaN in 32 bits")
		}
	case KindFloat64:
		if x := math.Float64frombits(le.Uint64(b)); flagged && x == float64(float32(x)) {
			return d.strict(0, "float %v in 64 bits", x)
		}
	case KindObjectID:
		if len(b) == 8 && le.Uint64(b) == 0 {
			return d.strict(0, "object id 0")
		}
	}
	return nil
}

// canonicalText checks that text, at offset at, contains no NUL, apart from the one at
// the end of a packed string of an engine, and that its padding is zero.
func (d *Decoder) canonicalText(typ Type, at int, text []byte, last bool, pad []byte, total uint32) error {
	ended, end := true, at+len(text)
	if last && d.nul(typ) == 1 {
		if ended = total > 0 && text[len(text)-1] == 0; ended {
			text = text[:len(text)-1]
		}
	}
	if err := d.canonicalNUL(at, text); err != nil {
		return err
	}
	if !ended {
		return d.strict(at+len(text), "packed string without a NUL")
	}
	if typ == TypeNodePath && d.options.Format.engine {
		return nil // most engine versions leave memory content in this padding
	}
	return d.canonicalPadding(end, pad)
}

// canonicalNUL checks that text contains no NUL.
func (d *Decoder) canonicalNUL(at int, text []byte) error {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return d.strict(at+i, "NUL in a string")
	}
	return nil
}

// canonicalPadding checks that padding is zero, if engines write zeros.
func (d *Decoder) canonicalPadding(at int, pad []byte) error {
	for _, c := range pad {
		if c != 0 && !d.options.Format.garbagePadding {
			return d.strict(at, "padding other than zero")
		}
	}
	return nil
}

// canonicalNodePath checks that the flags of a NodePath are among those that engines write.
func (d *Decoder) canonicalNodePath(bits uint32) error {
	known := uint32(nodePathAbsolute)
	if d.options.Format.keepProperty {
		known |= nodePathProperty
	}
	if bits&^known != 0 {
		return d.strict(12, "NodePath flags %#x", bits)
	}
	return nil
}
