package envelope

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save/recognize"
)

// Options configures Find.
type Options struct {
	Decoder gdwire.DecoderOptions
	Formats []gdwire.Format // the candidates; nil means Godot 3 and 4
	Content bool            // the bytes are the content of a container, so all of them can be one more container
	// Keep and Derive contain offsets of doubtful numbers to keep, or to derive.
	Keep, Derive []int64
}

const (
	maxHeader = 1 << 10 // bytes before the first body
	maxGap    = 256     // bytes between bodies, and after the last
	maxDepth  = 3       // of packed bytes in packed bytes
	learnt    = 64      // number of records before the others are found by their distance

	headerBits    = 24 // of compressed bytes, and of values up to the end
	textBits      = 32 // of base64 text
	samePlace     = 20 // bits for a body after as many bytes as the previous body
	ownHeader     = 20 // bits against an envelope, for the kind of header and where it ends
	minBody       = 40 // bits for a body
	minTotal      = 60 // bits for an envelope
	minWeak       = 80 // the same, without any text, checksum or compressed stream
	oddGap        = 24 // bits against a gap of another size
	manyUnknown   = 64 // bytes of gaps beside few values
	minZeros      = 16 // zeros at the end of a file that can replace other bytes
	maxTold       = 64 // bytes before a stream searched for its size
	hashCost      = 8  // bytes hashed in the time of reading one
	budget        = 16 << 20
	budgetPerByte = 8
)

// A search is one call of Find.
type search struct {
	*Options
	scanners []*recognize.Scanner // of the formats
	left     int64                // bytes that may still be read
}

// Find returns the envelope of b with the most evidence, or nil.
func Find(b []byte, o *Options) *Envelope {
	s := newSearch(o, budget+budgetPerByte*int64(len(b)))
	defer s.close()
	e := s.find(b, 0)
	if left := bytes.TrimRight(b, "\x00"); e == nil && len(b)-len(left) >= minZeros {
		if e = s.find(left, 0); e == nil || e.Err == nil { // zeros in place of the end of records, as after a power failure
			return nil
		}
	}
	return e
}

// EndsEarly reports whether bytes follow a stream with a signature at the start of b.
func EndsEarly(b []byte) bool {
	body, ok := stream(b, budget+budgetPerByte*int64(len(b)))
	return ok && len(body.Packed) < len(b)
}

func newSearch(o *Options, budget int64) *search {
	s := &search{Options: o, left: budget}
	formats := o.Formats
	if formats == nil {
		formats = []gdwire.Format{gdwire.Godot4, gdwire.Godot3}
	}
	for _, format := range formats {
		s.scanners = append(s.scanners, recognize.NewScanner(format, o.Decoder))
	}
	return s
}

func (s *search) close() {
	for _, scanner := range s.scanners {
		scanner.Close()
	}
}

func (s *search) find(b []byte, depth int) *Envelope {
	if depth > maxDepth {
		return nil
	}
	var found *finder
	var best *Envelope
	for _, scanner := range s.scanners {
		f := &finder{search: s, b: b, depth: depth, inside: depth > 0 || s.Content, scanner: scanner}
		if e := f.find(); e != nil && (best == nil || e.Bits > best.Bits) {
			found, best = f, e
		}
		if best != nil && !found.plain {
			break // in other formats, the result is the same
		}
	}
	if best == nil {
		return nil
	}
	best.Bits -= ownHeader
	if best = found.explain(best); best == nil {
		return nil
	}
	best.choose(s.Options)
	if s.left <= 0 || !found.isProbable(best) {
		return nil
	}
	return best
}

// choose decides about doubtful numbers.
func (e *Envelope) choose(o *Options) {
	e.Fields = slices.DeleteFunc(e.Fields, func(f Field) bool { return f.Doubtful && slices.Contains(o.Keep, int64(e.pos(f.At))) })
	for i := range e.Fields {
		f := &e.Fields[i]
		f.Doubtful = f.Doubtful && !slices.Contains(o.Derive, int64(e.pos(f.At)))
	}
}

// A finder finds an envelope around values. All values that are not packed are of one format.
type finder struct {
	*search
	b       []byte
	depth   int
	inside  bool // b is a content
	lines   bool // b is text
	scanner *recognize.Scanner
	digits  int  // the end of the latest digits of base64
	strong  bool // text or a compressed stream was found
	plain   bool // a value was found outside of packed bytes
}

// find returns the bodies and the gaps around them, or nil if there are none.
func (f *finder) find() *Envelope {
	e := &Envelope{whole: f.b}
	f.lines = isText(f.b)
	last, gap := 0, -1
	for p := 0; p+minValue <= len(f.b) && p-last <= e.maxGap() && f.left > 0; {
		body, ok := f.body(p, last, gap)
		if !ok {
			if e.cut = p-last == gap && e.isRegular(gap) && f.isCut(e, f.b[p:]); e.cut {
				break
			}
			p = f.next(p)
			continue
		}
		if len(e.Bodies) > 0 {
			gap = p - last
		}
		last = e.add(last, p, body)
		if len(e.Bodies) == learnt && e.isRegular(gap) {
			last = f.follow(e, last, gap)
			break
		}
		if p = last; f.lines && p < len(f.b) {
			p = f.next(p)
		}
	}
	if len(e.Bodies) == 0 || len(f.b)-last > maxGap && !e.cut || f.left <= 0 {
		return nil
	}
	e.Gaps = append(e.Gaps, f.b[last:])
	e.merge()
	tail := e.Gaps[len(e.Bodies)]
	if e.Bodies[0].Info.Base64.Text {
		tail = bytes.Trim(tail, "\r\n")
	}
	if len(e.Bodies) == 1 && len(e.Gaps[0])+len(tail) == 0 && (!f.inside || e.Bodies[0].Info.IsPlain()) {
		return nil // there is nothing around the values, or a container opened elsewhere
	}
	return e
}

// minValue is the size of the shortest value.
const minValue = 4

// maxGap returns the maximum size of the next gap.
func (e *Envelope) maxGap() int {
	if len(e.Bodies) == 0 {
		return maxHeader
	}
	return maxGap
}

// add adds a body at p, after a gap, and returns its end.
func (e *Envelope) add(last, p int, body Body) int {
	e.Gaps = append(e.Gaps, e.whole[last:p:p])
	e.starts = append(e.starts, p)
	e.Bodies = append(e.Bodies, body)
	e.Bits += body.bits
	e.Small += body.small
	return p + len(body.Packed)
}

// isRegular reports whether all gaps between bodies have a size.
func (e *Envelope) isRegular(gap int) bool {
	return !slices.ContainsFunc(e.Gaps[1:len(e.Bodies)], func(g []byte) bool { return len(g) != gap })
}

// next returns the next offset where a body can begin.
func (f *finder) next(p int) int {
	if !f.lines {
		return p + 1
	}
	if i := bytes.IndexByte(f.b[p:], '\n'); i >= 0 {
		return p + i + 1
	}
	return len(f.b)
}

// follow adds the bodies at a constant distance, and returns the end of the last.
func (f *finder) follow(e *Envelope, last, gap int) int {
	for f.left > 0 {
		p := last + gap
		if p+minValue > len(f.b) {
			return last
		}
		n := f.scanner.Size(f.b[p:])
		body := Body{Packed: f.b[p : p+n : p+n], Content: f.b[p : p+n : p+n], bits: minBody}
		if f.left -= int64(n) / hashCost; n == 0 {
			var ok bool
			if body, ok = f.body(p, last, gap); !ok {
				e.cut = f.isCut(e, f.b[p:])
				return last
			}
		}
		last = e.add(last, p, body)
	}
	return last
}

// merge makes consecutive values one body.
func (e *Envelope) merge() {
	n := len(e.Bodies)
	packed := func(b Body) bool { return !b.Info.IsPlain() }
	if n < 2 || !e.isRegular(0) || slices.ContainsFunc(e.Bodies, packed) {
		return
	}
	end := len(e.whole) - len(e.Gaps[n])
	all := e.whole[e.starts[0]:end:end]
	e.Gaps = [][]byte{e.Gaps[0], e.Gaps[n]}
	e.Bodies, e.starts, e.merged = []Body{{Packed: all, Content: all}}, e.starts[:1], true
}

// body returns the body at p. last is the end of the previous body, and gap the distance of others or
// -1.
func (f *finder) body(p, last, gap int) (Body, bool) {
	if f.lines {
		line, _, _ := bytes.Cut(f.b[p:], []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		return f.encoded(line[:len(line):len(line)])
	}
	if body, ok := f.stream(f.b[p:]); ok {
		return body, true
	}
	if body, ok := f.fastlz(p, last); ok {
		return body, true
	}
	body, ok := f.value(p, last, gap)
	if !ok {
		return f.base64(p, last)
	}
	const surely, near, better = 100, 16, 16
	for q := p + 1; body.bits <= surely && q <= p+near && q < p+len(body.Packed); q++ {
		if next, ok := f.value(q, last, gap); ok && next.bits > body.bits+better {
			return Body{}, false // the header is chance
		}
	}
	return body, true
}

// value returns the value at p.
func (f *finder) value(p, last, gap int) (Body, bool) {
	v, read, ok := f.scanner.Value(f.b[p:])
	f.left -= int64(read)
	if !ok {
		return Body{}, false
	}
	end := p + v.Size
	length, exact := f.lengthBefore(p, last, v.Size)
	bits := v.Bits + length
	if end == len(f.b) && (gap < 0 || p-last == gap) {
		bits += headerBits
	}
	if gap > 0 && p-last == gap {
		bits += samePlace
	}
	follows := last > 0 && (p == last && gap == 0 || exact && (p-last == lengthSize || v.Bits >= headerBits))
	if v.Bits <= 0 || bits < minBody && !follows {
		return Body{}, false
	}
	f.plain, f.strong = true, f.strong || v.Text
	return Body{Packed: f.b[p:end:end], Content: f.b[p:end:end], bits: bits, small: v.Small}, true
}

// lengthBefore returns the evidence of a number before p equal to the size n of a body at p, alone or with the bytes
// between. exact reports whether 32 bits right before the body are its size.
func (f *finder) lengthBefore(p, last, n int) (best float64, exact bool) {
	const far, notRight = 48, 6
	for at := max(last, p-far); at < p; at++ {
		for _, w := range widths {
			if at+w > p || w == 1 && at+w != p {
				continue
			}
			for _, big := range orders {
				v := number(f.b[at:][:w], big)
				if v != uint64(n) && v != uint64(p-at-w+n) {
					continue
				}
				bits := min(float64(8*w), 2*math.Log2(float64(v)+1)+8) - 2
				if at+w != p {
					bits -= notRight
				}
				best = max(best, bits)
				exact = exact || w == lengthSize && at+w == p
			}
		}
	}
	return best, exact
}

// widths and orders are the widths and byte orders of numbers.
var (
	widths = []int{8, 4, 2, 1}
	orders = []bool{false, true}
)

// stream returns the body beginning with a signature at the start of b.
func (f *finder) stream(b []byte) (Body, bool) {
	body, ok := stream(b, f.left)
	f.left -= int64(len(body.Content))
	return body, ok && f.look(&body)
}

// look looks for values in the content of a body.
func (f *finder) look(body *Body) bool {
	var ok bool
	if body.bits, body.small, ok = f.values(body.Content); !ok {
		if body.Inner = f.search.find(body.Content, f.depth+1); body.Inner == nil {
			return false
		}
		body.bits, body.small = body.Inner.Bits, body.Inner.Small
	}
	body.bits += headerBits
	f.strong = true
	return body.bits >= minBody
}

// values returns the evidence for values up to the end of b, and reports whether there are any.
func (f *finder) values(b []byte) (bits, small float64, ok bool) {
	for _, order := range frames {
		for _, scanner := range f.scanners {
			total, end := f.walk(scanner, b, order, nil)
			if end == len(b) && end > 0 && total.Bits > 0 {
				return total.Bits + headerBits, total.Small, true
			}
		}
	}
	return 0, 0, false
}

// frames contains the orders of lengths before values, nil for none.
var frames = []binary.ByteOrder{nil, binary.LittleEndian, binary.BigEndian}

// walk calls visit with the end of each value at the start of b, and the evidence so far, after lengths if order is not
// nil, and returns the last.
func (f *finder) walk(scanner *recognize.Scanner, b []byte, order binary.ByteOrder, visit func(end int, bits float64)) (total recognize.Found, end int) {
	for len(b)-end >= minValue && f.left > 0 {
		v := b[end:]
		if order != nil {
			n := int64(order.Uint32(v))
			if v = v[lengthSize:]; n > int64(len(v)) {
				break
			}
			v = v[:n]
		}
		got, read, ok := scanner.Value(v)
		f.left -= int64(read)
		if !ok {
			got.Size = scanner.Size(v) // null
		}
		if got.Size == 0 || order != nil && got.Size < len(v) {
			break
		}
		total.Bits += got.Bits
		total.Small += got.Small
		if end += got.Size; order != nil {
			end += lengthSize
			total.Bits += textBits
		}
		if visit != nil {
			visit(end, total.Bits)
		}
	}
	return total, end
}

// fastlzFilled is the size to which engines fill up a shorter content with zeros before FastLZ.
const fastlzFilled = 16

// trailers contains the sizes of checksums after a stream.
var trailers = []int{0, 4, 8, 16, 20, 32, 40, 64}

// fastlz returns the stream of FastLZ at p. The stream begins without a signature, but with a copy of the first header
// in its content. The end is known from the size before the stream, or from the values in the content.
func (f *finder) fastlz(p, last int) (Body, bool) {
	b := f.b[p:]
	if !copiesHeader(b) {
		return Body{}, false
	}
	content := f.unpack(b)
	if isLevel2 := b[0] >= 1<<5; isLevel2 && len(content) < FastLZLevel2 {
		return Body{}, false
	}
	numbers := map[int]bool{}
	for at := max(last, p-maxTold); at < p; at++ {
		for _, w := range widths[:3] {
			for _, big := range orders {
				if at+w <= p {
					n := int(min(number(f.b[at:][:w], big), math.MaxInt32))
					numbers[n], numbers[n-(p-at)], numbers[n-(p-at-w)] = true, true, true
				}
			}
		}
	}
	ends := map[int]float64{} // the evidence for values up to their ends
	for _, order := range frames {
		for _, scanner := range f.scanners {
			f.walk(scanner, content, order, func(end int, bits float64) { ends[end] = max(ends[end], bits) })
		}
	}
	const told = 1 << 20 // bits
	body, best := Body{Info: raw(fileaccess.FastLZ)}, 0.0
	fastlzEnds(b, func(in, out int) bool {
		if out > len(content) || in == len(b) && p == 0 && !f.inside {
			return false
		}
		end := out
		for out == fastlzFilled && end > 0 && ends[end] == 0 && content[end-1] == 0 {
			end--
		}
		bits := ends[end]
		if in == out+1 && !numbers[in] { // one copy, as of any byte before a value
			bits = 0
		}
		switch {
		case bits == 0:
		case numbers[in] || numbers[end]:
			bits += told
		case slices.Contains(trailers, len(b)-in): // any operations repeat values
			bits += 2 * headerBits
		}
		if bits > best {
			best, body.Packed, body.Content = bits, b[:in:in], content[:end:end]
		}
		return true
	})
	if best == 0 || !f.look(&body) || body.Inner != nil {
		return Body{}, false
	}
	if best < told {
		body.bits -= headerBits // no signature
	}
	return body, body.bits >= minTotal || best >= told
}

// unpack returns the content of the stream of FastLZ at the start of b, as far as readable.
func (f *finder) unpack(b []byte) []byte {
	r, err := fileaccess.NewReader(bytes.NewReader(b), &fileaccess.Options{Raw: true, Mode: fileaccess.FastLZ, Limits: fileaccess.Limits{Size: max(f.left, 1)}})
	if err != nil {
		return nil
	}
	content, _ := io.ReadAll(r)
	f.left -= int64(len(content))
	return content
}

// copiesHeader reports whether a stream of FastLZ at the start of b copies the header of a value, perhaps after a
// length.
func copiesHeader(b []byte) bool {
	const types, levels = 40, 2 << 5
	if len(b) < 9 || b[0] >= levels {
		return false
	}
	isHeader := func(h []byte) bool { return recognize.PlainHeader(h) && h[0] > 0 && h[0] < types }
	run := int(b[0]&31) + 1
	return run >= 4 && isHeader(b[1:]) || run >= 8 && isHeader(b[5:]) && b[4] == 0
}

// base64 returns the text in base64 at p, after its length or a line break.
func (f *finder) base64(p, last int) (Body, bool) {
	if p == 0 || !isDigit(f.b[p]) {
		return Body{}, false
	}
	if f.digits <= p {
		f.digits = p
		for f.digits < len(f.b) && isDigit(f.b[f.digits]) {
			f.digits++
		}
	}
	end := f.digits
	for k := 0; k < 2 && end < len(f.b) && f.b[end] == '='; k++ {
		end++
	}
	if length, _ := f.lengthBefore(p, last, end-p); length == 0 && f.b[p-1] != '\n' {
		return Body{}, false
	}
	return f.encoded(f.b[p:end:end])
}

func isDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/'
}

// encoded returns the body in a base64 text.
func (f *finder) encoded(text []byte) (Body, bool) {
	if len(text) < 8 {
		return Body{}, false
	}
	content, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if f.left -= int64(len(text)); err != nil || len(content) < minValue {
		return Body{}, false
	}
	in := finder{search: f.search, b: content, depth: f.depth + 1, inside: true, scanner: f.scanner}
	body, ok := in.stream(content)
	if !ok || len(body.Packed) < len(content) {
		body, ok = in.fastlz(0, 0)
	}
	if !ok || len(body.Packed) < len(content) {
		body = Body{Content: content}
		ok = in.look(&body)
	}
	f.strong = f.strong || in.strong
	body.Info.Base64.Text, body.Packed = true, text
	body.bits += textBits - headerBits
	return body, ok && body.bits >= minBody
}

// isText reports whether b consists of lines.
func isText(b []byte) bool {
	for _, c := range b[:min(len(b), 4<<10)] {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return bytes.IndexByte(b, 0) < 0
}

// isProbable reports whether there is enough evidence for an envelope, and no more bytes of unknown meaning than a game
// writes. Between values, such bytes can be other values and would be hidden, unless all gaps are alike.
func (f *finder) isProbable(e *Envelope) bool {
	n := len(e.Bodies)
	all, packed, odd := 0, true, 0
	for i, g := range e.Gaps {
		all += len(g)
		packed = packed && (i == n || !e.Bodies[i].Info.IsPlain())
		if i > 1 && i < n && e.unknown(i) != e.unknown(1) {
			odd++
		}
	}
	const separator = 4
	if isEach := func(f Field) bool { return f.Each }; n == 2 && (len(e.Gaps[1]) > max(separator, len(e.Gaps[0])+len(e.Gaps[2])) || !packed && !slices.ContainsFunc(e.Fields, isEach)) {
		return false // more than the bytes before the first body and after the last, or parts of one value
	}
	if n == 1 && !packed && len(e.Gaps[0]) > manyUnknown && !e.isProved(0) && !isText(e.Gaps[0]) {
		return false // the start of a cut value
	}
	if odd > 0 && slices.ContainsFunc(e.Gaps[1:n], f.hides) {
		return false
	}
	e.Bits -= oddGap * float64(odd)
	if tail := e.Gaps[n]; e.merged && !e.IsProved() || !e.isProved(n) && !isText(tail) && (n == 1 || n == 2 && len(tail) > manyUnknown) {
		return false // the other bytes can be damage
	}
	const packet = 16 // the most bytes of unknown meaning that a game writes after the length of all
	if head := e.Gaps[0]; len(head) > packet && e.unknown(0) > packet && !e.isProved(0) {
		for _, big := range orders {
			if int(number(head[:lengthSize], big)) == len(f.b)-lengthSize {
				return false // a damaged packet
			}
		}
	}
	if f.lines && f.hasWrapped(e) {
		return false
	}
	enough := float64(minTotal)
	if !f.strong && !slices.ContainsFunc(e.Fields, func(f Field) bool { return f.Sum != Size }) {
		enough = minWeak
	}
	return e.Bits >= enough && (packed || all <= manyUnknown+4*(len(f.b)-all))
}

// hides reports whether a gap contains a value not found for lack of evidence.
func (f *finder) hides(gap []byte) bool {
	for len(gap) > minValue {
		if _, _, ok := f.scanner.Value(gap); ok {
			return true
		}
		gap = gap[1:]
	}
	return false
}

// hasWrapped reports whether the header contains lines of base64, so that the body is only the rest
// of them.
func (f *finder) hasWrapped(e *Envelope) bool {
	const short = 16
	at := 0
	known := e.explained(0, false)
	for line := range bytes.Lines(e.Gaps[0]) {
		text := bytes.TrimRight(line, "\r\n")
		if len(text) >= short && len(text)%4 == 0 && !known[at] && !slices.ContainsFunc(text, func(c byte) bool { return !isDigit(c) }) {
			return true
		}
		at += len(line)
	}
	return false
}
