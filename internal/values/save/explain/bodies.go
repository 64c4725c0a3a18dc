package explain

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
)

// A finder finds the bodies in bytes.
type finder struct {
	*reader
	*unpacker
	explain func(content []byte, format gdwire.Format, depth int) *Parse
	b       []byte
	format  gdwire.Format
	depth   int
	found   []body
	at      int         // up to which all is searched
	more    int         // bytes that follow
	latest  []weighedAt // by the last bits of the offset
	ends    []uint64    // a bit for each offset where a body ends
	known   [][2]int    // values of another format that save much
	digits  int         // where the last base64 text ends
	shapes  []shape     // of the bodies of a record, in turn
	again   int         // candidates after which these are learnt again
	sure    [][2]int    // records that save much
	general bool        // no records are read by their pattern
	array   bool        // the bytes are those of an array, and not of a file, whose compression is known before
	deep    int         // where a stream ends that is not explained, as a too deep one: no values are in its bytes
}

const (
	inside    = 16 // bytes of a sure body that are searched
	maxDepth  = 3
	fewBodies = 2000 // more are chained once
	maxLine   = 1 << 10
	maxLength = 1 << 31
	maxCut    = 1 << 16 // bytes that a small file can lack
	maxTold   = 80      // bytes before a stream of FastLZ that can contain its size
	maxAfter  = 72      // bytes after one of unknown size
)

// signatures are the savings of a stream without errors: its first bytes, checksum and size.
var signatures = map[fileaccess.Mode]float64{fileaccess.Zstd: 33, fileaccess.Gzip: 65, fileaccess.Deflate: 40, fileaccess.FastLZ: 33}

const md5Saving = 128 // of an encrypted file, whose content has an MD5

// damagedAt adds the value at p that is damaged in the middle, up to the end or for each length before it.
func (f *finder) damagedAt(p int, w weighed) {
	c := body{from: p, at: p, to: len(f.b), kind: Cut, read: w.read, saving: w.saving - cutPrice, text: w.text}
	if p == 0 {
		c.saving += wholeFile
	}
	f.found = append(f.found, c)
	f.allFramed(&c, &w, lengths)
}

// A weighedAt is the weight of the value at an offset.
type weighedAt struct {
	weighed
	after int // the offset and 1
}

// weigh returns the weight of the value at p. The latest are known.
func (f *finder) weigh(p int) weighed {
	const most = 1 << 12
	if f.latest == nil {
		f.latest = make([]weighedAt, min(len(f.b), most))
	}
	x := &f.latest[p%len(f.latest)]
	if x.after != p+1 {
		*x = weighedAt{f.reader.value(f.b[p:]), p + 1}
	}
	return x.weighed
}

const maxLost = 64 // bytes at the start of a value

// isContainer reports whether b begins with the header of an Array or Dictionary that is not empty, of a few elements for the bytes.
func (f *finder) isContainer(b []byte) bool {
	if len(b) < containerSize || !f.isContainerType(b) {
		return false
	}
	count := binary.LittleEndian.Uint32(b[4:])
	return count > 0 && count <= uint32(len(b)/4)
}

// isContainerType reports whether b begins with the type of an Array or Dictionary.
func (f *finder) isContainerType(b []byte) bool {
	if !isHeader(b) {
		return false
	}
	t := f.typeOf(b)
	return t == gdwire.TypeArray || t == gdwire.TypeDictionary
}

// next returns the first offset from p on at which a body can begin, by its first bytes.
func (f *finder) next(p int) int {
	b := f.b
	for last := len(b) - minBase64; p < last; p++ {
		switch c := b[p]; {
		case c >= 64 && !isDigit(c):
		case c == 0 && (b[p+1] != 0 || b[p+3] != 0 || !f.mayBeNull(p)):
		case c > 0 && c < 64 && b[p+1] != 0 && b[p+2] != 0 && b[p+4] != 0 && !signs[b[p+1]] && !signs[c] && (p < f.digits || !isDigit(c)):
		case c >= 64 && !signs[c] && (p < f.digits || !isDigit(b[p+1]) || !isDigit(b[p+minBase64-1])):
		default:
			if f.mayBegin(p) {
				return p
			}
		}
	}
	for p+4 <= len(b) && !f.mayBegin(p) {
		p++
	}
	return p
}

// signs contains the first bytes of streams.
var signs = [256]bool{'x': true, 'G': true, '(': true, 0x1f: true}

// isBase64 reports whether base64 text that was not searched can begin at p.
func (f *finder) isBase64(p int) bool {
	return p >= f.digits && p+minBase64 <= len(f.b) && isDigit(f.b[p]) && isDigit(f.b[p+1]) && isDigit(f.b[p+minBase64-1])
}

// mayBegin reports whether a body can begin at p, by its first bytes.
func (f *finder) mayBegin(p int) bool {
	b := f.b[p:]
	if b[0] == 0 {
		return isHeader(b) && f.mayBeNull(p)
	}
	return isHeader(b) || isStream(b) || copiesHeader(b) || f.isBase64(p)
}

// noteEnds notes where the bodies from the n-th on end.
func (f *finder) noteEnds(n int) {
	for i := n; i < len(f.found); i++ {
		f.ends[f.found[i].to/64] |= 1 << (f.found[i].to % 64)
	}
}

// isEnd reports whether a body ends at p.
func (f *finder) isEnd(p int) bool { return f.ends[p/64]>>(p%64)&1 > 0 }

// mayBeNull reports whether a null at p follows a body, which is not one more of many nulls, or a number that can be its length.
func (f *finder) mayBeNull(p int) bool {
	const most = 8 * nullSize
	return f.isEnd(p) && (p < most || !isZero(f.b[p-most:p])) || p >= 4 && (f.b[p-4] == 4 || f.b[p-1] == 4)
}

// candidates adds the bodies that begin at p.
func (f *finder) candidates(p int) {
	n := len(f.found)
	if p >= f.digits && isDigit(f.b[p]) {
		f.digits = f.base64(p)
	}
	f.stream(p)
	f.fastlz(p)
	f.value(p)
	f.noteEnds(n)
	const start, perBody = 150, 400 // instructions
	f.take(start + perBody*(len(f.found)-n))
}

// value adds the value at p, with lengths before it.
func (f *finder) value(p int) {
	b := f.b[p:]
	if !isHeader(b) {
		return
	}
	const perHeader = 950 // instructions
	f.take(perHeader)
	chained := f.isEnd(p)
	if b[0] == 0 && !f.mayBeNull(p) {
		return
	}
	w := f.weigh(p)
	isShort := w.cut && w.saving < minCut
	if w.cut && (!isShort || f.isContainer(b)) {
		f.damagedAt(p, w)
		if !isShort && w.size < len(b) { // and others follow
			f.found = append(f.found, body{from: p, at: p, to: p + w.size, kind: Cut, saving: w.saving - cutPrice, text: w.text})
		}
		return
	}
	if w.size == 0 || isShort && w.size < len(b) {
		return
	}
	c := body{from: p, at: p, to: p + w.size, kind: Value, saving: w.saving, bytes: w.bytes && !w.cut, text: w.text}
	if isShort { // only a length tells that it is cut
		c.kind = Cut
		most := f.longest(b)
		for i := range lengths[:2] {
			l := &lengths[i]
			if p < l.Width {
				continue
			}
			if n := l.read(f.b[p-l.Width : p]); n%4 == 0 && n > uint64(w.size) && n <= uint64(most) {
				f.framed(&c, &w, l.Form, l.bits)
			}
		}
		return
	}
	switch {
	case b[0] == 0:
		c.saving = zeroWord - nullBare
	case w.size <= 8 || w.size == 12 && b[2] > 0: // or two numbers of 16 bits, and 64 bits more
		c.saving = min(c.saving-wordBare, wordMost)
	}
	switch isRest := w.size == len(b) && !w.cut; {
	case isRest && p == 0:
		c.saving += wholeFile
	case isRest && p == lengthSize && isText(f.b[:p]):
		c.saving += afterMagic
	}
	if c.saving >= 4 || chained {
		f.found = append(f.found, c)
	}
	f.allFramed(&c, &w, lengths)
}

// allFramed adds the value at c.at after each length.
func (f *finder) allFramed(c *body, w *weighed, lengths []lengthForm) {
	for i := range lengths {
		if l := &lengths[i]; c.at >= l.Width {
			f.framed(c, w, l.Form, l.bits)
		}
	}
}

// longest returns the most bytes that a cut value at the start of b had: of a type without a text or elements, few.
func (f *finder) longest(b []byte) int {
	const header, component = 4, 8
	t := f.typeOf(b)
	n, _ := t.Components()
	switch t {
	case gdwire.TypeNil, gdwire.TypeBool, gdwire.TypeInt, gdwire.TypeFloat:
		n = 1
	}
	if n > 0 {
		return header + n*component
	}
	return max(maxCut, 16*len(f.b))
}

// framed adds the value at c.at after a length.
func (f *finder) framed(was *body, w *weighed, length Form, price float64) {
	v := length.read(f.b[was.at-length.Width : was.at])
	delta := int64(v) - int64(w.size)
	if isRight := delta == 0 || delta == int64(length.Width); !isRight && !w.cut && (length.Width != 4 || w.saving <= minCut) {
		return // most are none
	}
	c := *was
	c.from, c.length, c.add, c.wrong, c.frame = c.at-length.Width, length, 0, false, price
	c.saving = w.saving
	switch {
	case w.cut:
		if length.Width != 4 || v <= uint64(w.read) || v > maxLength {
			return
		}
		c.saving -= cutPrice
		rest := uint64(len(f.b) - c.at)
		switch c.to = len(f.b); {
		case v > rest:
			c.frame += beyondPrice + beyondBits*log(v/(rest+uint64(f.more)))
		case v == rest:
			c.saving += wholeFile
		default:
			c.to = c.at + int(v)
		}
	case delta == 0:
	case length.Width == 4 && delta >= 2*nullSize && w.saving > minCut && v <= uint64(len(f.b)-c.at) && f.isLeft(c.at+w.size, c.at+int(v)):
		c.kind, c.to, c.read = Cut, c.at+int(v), w.size-nullSize
	case delta == int64(length.Width):
		c.add = length.Width
		c.frame += selfPrice
	case length.Width == 4 && delta > -1<<20 && delta < 1<<20 && w.saving > minCut:
		c.frame += wrongPrice + 2*math.Log2(math.Abs(float64(delta))+1)
		c.wrong = true
	default:
		return
	}
	if c.saving += plainNumber(v, length.Width) - c.frame; c.saving > 0 || (w.cut || f.isEnd(c.from)) && c.saving > -cutPrice { // a length like others costs less
		f.found = append(f.found, c)
	}
}

// isLeft reports whether the bytes after a value can be what is left of it after damage: zeros after those at its end, or a few
// values, as behind a wrong count.
func (f *finder) isLeft(from, to int) bool {
	const most, perStep = 4 << 10, 40 // bytes and instructions
	if isZero(f.b[from-nullSize : to]) {
		return true
	}
	if to-from > most {
		return false
	}
	for ; from < to; f.take(perStep) {
		w := f.weigh(from)
		if w.size == 0 || w.cut {
			return false
		}
		from += w.size
	}
	return from == to
}

// content adds a stream whose content is explained.
func (f *finder) content(c body, s *Stream, content []byte, saving float64) {
	if f.depth >= maxDepth || len(content) < 4 {
		return
	}
	if first := &f.b[0]; c.at >= f.counted[first] { // once, whatever streams overlap; a small file of much content is searched, too
		f.counted[first] = c.to
		f.contents += int64(len(content))
	}
	if s.Inner = f.inner(content); s.Inner == nil {
		return
	}
	c.kind, c.stream, c.saving = Packed, s, saving+s.Inner.Saving
	if c.saving >= Enough {
		f.found = append(f.found, c)
	}
}

// inner explains a content: quickly if it is one value. If values are most of it, it is in no other format.
func (f *finder) inner(content []byte) *Parse {
	w := f.reader.value(content)
	isWhole := w.size == len(content) && !w.cut
	switch {
	case isWhole && !w.bytes && w.saving > sureSaving:
		f.whole[&content[0]] = true
		return &Parse{Format: f.format, Parts: []Part{{Kind: Value, Bytes: content}}, Saving: w.saving + wholeFile}
	case !isWhole && f.whole[&content[0]]:
		return nil
	}
	p := f.explain(content, f.format, f.depth+1)
	if p != nil && p.Saving > sureSaving && 2*p.Around() < len(content) {
		f.whole[&content[0]] = true
	}
	return p
}

// stream adds the stream with a signature at p.
func (f *finder) stream(p int) {
	if s, ok := f.unpacker.stream(f.b[p:]); ok {
		n, saving := len(f.found), signatures[s.Info.Mode]
		if s.key != nil {
			saving = md5Saving
		}
		if f.content(body{from: p, at: p, to: p + len(s.Packed)}, &Stream{Info: s.Info, key: s.key, latest: new(packed)}, s.Content, saving); n == len(f.found) {
			f.deep = p + len(s.Packed)
		}
		return
	}
	b := f.b[p:]
	if !f.noteDamage(p, b) || b[0] != '(' {
		return
	}
	n := zstdEnd(b)
	if n == 0 || n > len(b) { // cut, if no other follows
		n = len(b)
		if bytes.Contains(b[4:], b[:4]) {
			n = 0
		}
	}
	f.deep = p + n // the texts in it are no values
}

// noteDamage notes that a stream at the start of b, at p or in text there, is cut or damaged, and reports whether it is. Only what can be
// read of a stream of zlib tells that it is one.
func (f *finder) noteDamage(p int, b []byte) bool {
	s, ok := f.unpacker.stream(b)
	if ok || s.err == nil || f.depth > 0 || f.array {
		return false
	}
	isSure := s.Info.Mode == fileaccess.Zstd || s.Info.Mode == fileaccess.Gzip && b[3] == 0
	for skip := 0; skip <= lengthSize && skip < len(s.Content); skip += lengthSize {
		isSure = isSure || f.reader.value(s.Content[skip:]).saving >= Enough
	}
	if isSure && !slices.ContainsFunc(f.unpacker.damaged, func(e *StreamError) bool { return e.Offset == p }) {
		f.unpacker.damaged = append(f.unpacker.damaged, &StreamError{p, s.Info.Mode, s.err})
	}
	return isSure
}

// encodings are the forms of base64 text.
var encodings = []*base64.Encoding{base64.StdEncoding.Strict(), base64.URLEncoding.Strict(), base64.RawURLEncoding.Strict()}

// base64 adds the base64 text at p, and returns its end.
func (f *finder) base64(p int) int {
	end := p
	for end < len(f.b) && isDigit(f.b[end]) {
		end++
	}
	padded := end
	for padded < len(f.b) && padded < end+2 && f.b[padded] == '=' {
		padded++
	}
	const perDigit = 10 // instructions
	if f.take(perDigit * (end - p)); end-p < minBase64 || f.isWrapped(p, end) || f.isTorn(p) {
		return end
	}
	isNumber := func(at int) bool { return at+1 < len(f.b) && f.b[at+1] == 0 } // of which the first byte is a digit
	if padded == end && (end-p)%4 == 1 && isNumber(end-1) {
		end, padded = end-1, end-1
	}
	const most = 4 // other letters before
	for skip := 0; skip < most && end-p-skip >= minBase64; skip++ {
		for _, e := range encodings {
			to := padded
			if e == encodings[2] {
				to = end
			} else if (to-p-skip)%4 != 0 {
				continue
			}
			if to < len(f.b) && (f.b[to] == '=' || isDigit(f.b[to])) && !isNumber(to) {
				continue // the text is damaged
			}
			content := f.unpacker.text(e, f.b[p+skip:to])
			if content == nil {
				continue
			}
			f.noteDamage(p+skip, content)
			s := &Stream{encoding: e}
			s.Info.Base64.Text = true
			n := len(f.found)
			f.content(body{from: p + skip, at: p + skip, to: to}, s, content, -base64Price)
			switch {
			case len(f.found) == n:
			case !slices.ContainsFunc(s.Inner.Parts, func(x Part) bool { return x.Kind == Own || x.Kind == Cut }):
				return end // with other letters before, it is nothing
			case f.continues(to):
				f.found = f.found[:n] // a line of a longer text
			}
			break
		}
	}
	return end
}

// continues reports whether a line of base64 follows the line that ends at to.
func (f *finder) continues(to int) bool {
	next := bytes.TrimPrefix(f.b[to:], []byte("\r"))
	return len(next) > minBase64 && next[0] == '\n' && isBase64(next[1:minBase64])
}

// isTorn reports whether one other byte is between base64 text and more of it, which alone contains no values: the text is damaged.
func (f *finder) isTorn(p int) bool {
	const long = 200 // digits, more than those of a checksum
	return p > long && f.b[p-1] != '\n' && isBase64(f.b[p-1-long:p-1]) && !f.isEnd(p-1)
}

// isWrapped reports whether the line from p to end continues base64 text of a line before it, which alone contains no values.
func (f *finder) isWrapped(p, end int) bool {
	if p == 0 || f.b[p-1] != '\n' {
		return false
	}
	before := bytes.TrimSuffix(f.b[:p-1], []byte("\r"))
	line := before[bytes.LastIndexByte(before[max(0, len(before)-maxLine):], '\n')+1+max(0, len(before)-maxLine):]
	return !f.isEnd(len(before)) && len(line) >= max(minBase64, end-p) && len(line)%4 == 0 && isBase64(line)
}

// fastlz adds the stream of FastLZ at p, with its possible ends.
func (f *finder) fastlz(p int) {
	const header = 8 // bits of evidence that a value follows a byte or number
	b := f.b[p:]
	if !copiesHeader(b) || f.depth >= maxDepth {
		return
	}
	run := int(b[0] & 31)
	for _, skip := range []int{1, 5} {
		if w := f.weigh(p + skip); !w.cut && w.size > run+2-skip && w.saving > header {
			return
		}
	}
	content, operations, values := f.unpackFastLZ(b)
	if isLevel2 := b[0] >= 1<<5; len(values) == 0 || isLevel2 && len(content) < FastLZLevel2 {
		return
	}
	told, likely := f.told(p, max(len(b), len(content)))
	isTold := func(n int) bool { return likely.has(n) && slices.Contains(told, n) }
	type end struct {
		operation
		bits float64
	}
	var all []end
	for _, o := range operations {
		in, out := o.in, o.out
		e := out
		for out == fastlzFilled && e > 0 && values[e] == 0 && content[e-1] == 0 {
			e--
		}
		bits := values[e]
		switch {
		case bits == 0:
			continue
		case isTold(in) || isTold(e):
			bits += toldPrice
		case in == out+1 || in == len(b) && p == 0 && f.depth == 0 && !f.array: // one copy, as of any byte before a value
			continue
		case !slices.Contains(trailers, len(b)-in) && (p == 0 || len(b)-in > maxAfter):
			if !repeats(b, in) {
				continue // the stream may be cut
			}
			bits -= untoldPrice
		}
		if in == len(b) {
			bits += fastlzPrice
		}
		all = append(all, end{operation{in, e}, bits})
	}
	slices.SortStableFunc(all, func(a, b end) int { return int(math.Copysign(1, b.bits-a.bits)) })
	const most = 4
	for _, e := range all[:min(len(all), most)] {
		f.content(body{from: p, at: p, to: p + e.in}, &Stream{Info: raw(fileaccess.FastLZ)}, content[:e.out:e.out], fastlzPrice)
	}
}

// told returns the numbers up to most before a stream that can be its size, and a filter of these.
func (f *finder) told(p, most int) (told []int, likely filter) {
	f.take(20000) // instructions
	for at := max(0, p-maxTold); at < p; at++ {
		for _, l := range lengths[:6] {
			if at+l.Width <= p {
				if n := l.read(f.b[at : at+l.Width]); n <= uint64(most+maxTold) {
					told = append(told, int(n), int(n)-(p-at), int(n)-(p-at-l.Width))
				}
			}
		}
	}
	for _, n := range told {
		likely.add(n)
	}
	return told, likely
}

// trailers are the sizes of checksums after a stream.
var trailers = []int{0, 4, 8, 16, 20, 32, 40, 64}

// repeats reports whether another stream like that at the start of b begins soon after an offset.
func repeats(b []byte, in int) bool {
	const header = 5
	after := b[in:min(len(b), in+maxAfter+header)]
	return bytes.Contains(after, b[1:header])
}

// fastlzFilled is the size up to which engines fill a content with zeros.
const fastlzFilled = 16

// valueEnds returns the savings of the values in a content, alone or after lengths, or of a stream, up to each end of one, and
// reports whether there are more if the content goes on.
func (f *finder) valueEnds(content []byte) (ends map[int]float64, more bool) {
	const perEnd = 500 // instructions
	ends = map[int]float64{}
	if isStream(content) {
		s := f.unpacker.read(content)
		if s.Packed == nil {
			return ends, true
		}
		ends[len(s.Packed)] = signatures[s.Info.Mode]
	}
	for _, skip := range []int{0, lengthSize} {
		total, at := 0.0, 0
		for at+skip+4 <= len(content) {
			w := f.reader.value(content[at+skip:])
			if w.size == 0 || w.cut || skip > 0 && int(binary.LittleEndian.Uint32(content[at:])) != w.size {
				more = more || w.cut && w.size == len(content)-at-skip
				break
			}
			at += skip + w.size
			total += w.saving
			f.take(perEnd)
			ends[at] = max(ends[at], total)
		}
		more = more || at+skip+4 > len(content)
	}
	return ends, more
}

// unpackFastLZ returns the content of the stream of FastLZ at the start of b, as far as it can be values, with its operations, and
// the ends of the values.
func (f *finder) unpackFastLZ(b []byte) (content []byte, operations []operation, values map[int]float64) {
	const head, step = 1 << 6, 8  // bytes
	const start, perByte = 300, 6 // instructions
	for most, more := head, true; more; most *= step {
		content, operations = fastlz(b, min(most, int(f.left()/perByte)+1))
		if !f.take(start + perByte*len(content)) {
			return nil, nil, nil
		}
		values, more = f.valueEnds(content)
		more = more && len(content) >= most
	}
	return content, operations, values
}

// copiesHeader reports whether a stream of FastLZ at the start of b copies the header of a value, perhaps after a
// length, or of a stream.
func copiesHeader(b []byte) bool {
	if len(b) < 9 || b[0] >= 2<<5 {
		return false
	}
	run := int(b[0]&31) + 1
	return run >= 4 && isHeader(b[1:]) && b[1] > 0 || run >= 8 && isHeader(b[5:]) && b[5] > 0 && b[4] == 0 || run >= 8 && isStream(b[1:])
}
