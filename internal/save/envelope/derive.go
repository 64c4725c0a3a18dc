package envelope

import (
	"bytes"
	"math"
	"math/bits"
	"slices"
)

// derive finds the fields: first the fields of each record, and then, in the rest of header and trailer, the fields
// of all.
func (f *finder) derive(e *Envelope) {
	if len(e.Bodies) > 1 {
		d := newDeriver(f, e, true)
		d.run()
	}
	d := newDeriver(f, e, false)
	d.run()
	slices.SortStableFunc(e.Fields, func(a, b Field) int { return e.pos(a.At) - e.pos(b.At) })
}

// A deriver finds the fields of each record, or of the header and trailer.
type deriver struct {
	*finder
	e       *Envelope
	each    bool
	n       int // records with fields to compare
	first   int // the record searched for fields
	last    int // the body before the trailer
	before  int // possible bytes of fields before the first body
	after   int // bytes after the last body, likewise
	between int // bytes between records; gaps before and after are the same bytes
	own     int // bytes of the first record before its body, for fields of all
	tail    int // bytes of the last record after its body, likewise
	found   []Field
	summed  []Span         // with a checksum
	texts   map[int][]bool // of gaps
	digests map[hashed][]byte
}

// A hashed is the input of a digest, with the location of a field that counts as zeros.
type hashed struct {
	sum   Sum
	of    Span
	zeros Mark
	width int
}

func newDeriver(f *finder, e *Envelope, each bool) *deriver {
	n := len(e.Bodies)
	d := &deriver{finder: f, e: e, each: each, n: 1, last: n - 1, before: len(e.Gaps[0]), after: len(e.Gaps[n]), texts: map[int][]bool{}, digests: map[hashed][]byte{}}
	if each {
		d.n, d.last, d.between = n, 0, maxHeader
		for _, g := range e.Gaps[1:n] {
			d.between = min(d.between, len(g))
		}
		d.before, d.after = min(d.before, d.between), min(d.after, d.between)
	} else if n > 1 {
		d.own, d.tail = e.edges()
	}
	return d
}

// run adds the fields with the most evidence together to the envelope.
func (d *deriver) run() {
	d.places()
	isSum := func(f Field) bool { return f.Sum != Size }
	for _, f := range d.found {
		if isSum(f) && !f.Of.Content && !d.each && !f.At.End && !f.Of.Zeroed && !slices.Contains(d.summed, f.Of) {
			d.summed = append(d.summed, f.Of)
		}
	}
	if len(d.summed) > 0 { // games write the size of such a span, too
		d.found = nil
		d.places()
	}
	if d.n > fewRecords && !slices.ContainsFunc(d.found, isSum) { // the checksum of the first record can be wrong
		sizes := d.found
		d.first, d.found, d.digests = 1, nil, map[hashed][]byte{}
		d.places()
		d.found = append(sizes, slices.DeleteFunc(d.found, func(f Field) bool { return f.Sum == Size })...)
	}
	set := d.best()
	for i := range set {
		f := &set[i]
		if f.Sum == Size && !d.each {
			f.Doubtful = d.isDoubtful(set, i) || d.isRivalled(set, f)
		}
		d.e.Bits += f.bits
		d.e.Fields = append(d.e.Fields, *f)
	}
}

const (
	fewRecords = 3 // with at most so many, a wrong checksum is none
	mostWrong  = 4 // records for each wrong one
	wrongBits  = 8
)

// wrong returns the records with a wrong checksum, and reports whether enough records are right.
func (d *deriver) wrong(right func(record int) bool) (wrong []int, ok bool) {
	for i := range d.n {
		if right(i) {
			continue
		}
		if wrong = append(wrong, i); d.n <= fewRecords || len(wrong)*mostWrong > min(d.n, i+learnt) {
			return nil, false
		}
	}
	return wrong, true
}

// places finds all possible fields.
func (d *deriver) places() {
	for at := -d.before; at < -d.own; at++ {
		d.place(Mark{0, false, at}, -d.own-at)
	}
	for at := d.tail; at < d.after; at++ {
		d.place(Mark{d.last, true, at}, d.after-at)
	}
}

// isDoubtful reports whether a number can be something else. A number next to another field is a field, too, unless
// both are the same small number, because one of them can be a version.
func (d *deriver) isDoubtful(set []Field, i int) bool {
	const small, least = 1 << 8, 1 << 7
	f := &set[i]
	value := func(f *Field) uint64 { return number(d.bytes(f.At, f.Width, 0), f.Big) }
	v := value(f)
	if slices.ContainsFunc(append(slices.Clone(set), d.e.Fields...), func(g Field) bool {
		otherOrder := g.Big != f.Big && min(g.Width, f.Width) > 1 && g.bits > f.bits && !f.Of.Count
		return g.Sum == Size && (f.Width == 2 && g.Width > 2 || otherOrder)
	}) {
		return true // a game writes all sizes alike
	}
	if slices.ContainsFunc(d.found, func(g Field) bool {
		return g.Of.Count && !f.Of.Count && f.overlaps(&g)
	}) {
		return true // the field contains a part of the number of records
	}
	beside := false
	first := d.before+f.At.Offset == 0 && !f.At.End
	for k := range set {
		g := &set[k]
		before, after := g.At.Offset+g.Width == f.At.Offset, f.At.Offset+f.Width == g.At.Offset
		switch {
		case k == i || g.At.End != f.At.End:
		case g.Sum == Size && value(g) == v && v < small && !f.Of.Count:
			if f.At.End == (g.At.Offset < f.At.Offset) { // the number at the body is the size
				return true
			}
		case after && first && f.Of.Content && g.Sum == Size && v < least:
			return true // a version, and the size of a value of store_var
		case (before || after) && !g.Doubtful:
			beside = true
		}
	}
	return f.Doubtful && (!beside || v < least || f.Width == 1)
}

// isRivalled reports whether other numbers, partly in the bytes of f, are about as probable as f.
func (d *deriver) isRivalled(set []Field, f *Field) bool {
	const asWell = 4 // bits
	total := func(set []Field) (bits float64) {
		for i := range set {
			bits += set[i].bits
		}
		return bits
	}
	others := *d
	others.found = slices.DeleteFunc(slices.Clone(d.found), func(g Field) bool { return g.At == f.At && g.Width == f.Width })
	other := others.best()
	return total(other) >= total(set)-asWell && slices.ContainsFunc(other, func(g Field) bool {
		return g.overlaps(f) && (g.At.Offset < f.At.Offset || g.At.Offset+g.Width > f.At.Offset+f.Width)
	})
}

// overlaps reports whether fields of a header or trailer share bytes.
func (f *Field) overlaps(g *Field) bool {
	return f.At.End == g.At.End && f.At.Offset < g.At.Offset+g.Width && g.At.Offset < f.At.Offset+f.Width
}

// edges returns how many of the bytes between records are before a body, and how many after a body.
func (e *Envelope) edges() (before, after int) {
	n := len(e.Bodies)
	between := maxHeader
	for _, g := range e.Gaps[1:n] {
		between = min(between, len(g))
	}
	after = e.split(e.Gaps[1:n+1], between, min(between, len(e.Gaps[n])))
	return min(between-after, len(e.Gaps[0])), after
}

// split returns how many of the bytes between records are after a body, at most most: fields, and bytes equal in all of
// some gaps, unless the first record contains them before its body.
func (e *Envelope) split(gaps [][]byte, between, most int) int {
	head, like := e.Gaps[0], gaps[0]
	before, after := 0, min(max(between-len(head), 0), most)
	for i := range e.Fields {
		if f := &e.Fields[i]; f.Each && f.At.End {
			after = max(after, f.At.Offset+f.Width)
		} else if f.Each {
			before = max(before, -f.At.Offset)
		}
	}
	end := after
	for end < min(between-before, most) && !slices.ContainsFunc(gaps, func(g []byte) bool { return g[end] != like[end] }) {
		end++
	}
	if end == len(gaps[len(gaps)-1]) {
		return end // nothing else is after the last body
	}
	own, k := end, end
	for ; k > after && head[len(head)-between+k-1] == like[k-1]; k-- {
		if like[k-1] != 0 {
			own = k - 1
		}
	}
	if k > after {
		return own
	}
	return after
}

// place finds the fields at a mark, of up to most bytes.
func (d *deriver) place(at Mark, most int) {
	for _, w := range widths {
		if w <= most {
			for _, big := range orders[:min(w, 2)] {
				d.number(Field{At: at, Width: w, Big: big, Each: d.each})
			}
		}
	}
	var spans []Span
	for sum := CRC32; sum <= SHA256; sum++ {
		for form := Raw; form <= Upper; form++ {
			w := sums[sum].size
			if form != Raw {
				w *= 2
			}
			if w > most || !mayBeDigest(d.bytes(at, w, d.first), form) {
				continue
			}
			if spans == nil {
				spans = d.spans(at)
			}
			d.sum(Field{At: at, Width: w, Big: true, Sum: sum, Form: form, Each: d.each}, spans)
			if sums[sum].size == 4 {
				d.sum(Field{At: at, Width: w, Sum: sum, Form: form, Each: d.each}, spans)
			}
		}
	}
}

// bytes returns w bytes at a mark of a record.
func (d *deriver) bytes(at Mark, w, record int) []byte { return d.e.whole[d.e.pos(at.of(record)):][:w] }

// isText reports whether bytes are part of a text in the gap, or of its length.
func (d *deriver) isText(at Mark, w int) bool {
	gap, offset := d.gap(at)
	i := at.Body
	if at.End {
		i++
	}
	in, known := d.texts[i]
	if !known {
		in = texts(gap)
		d.texts[i] = in
	}
	return in[offset] || in[offset+w-1]
}

// gap returns the gap of a mark, and the offset in it.
func (d *deriver) gap(at Mark) ([]byte, int) {
	if at.End {
		return d.e.Gaps[at.Body+1], at.Offset
	}
	g := d.e.Gaps[at.Body]
	return g, len(g) + at.Offset
}

// number finds the span with the size given by a number.
func (d *deriver) number(f Field) {
	v := number(d.bytes(f.At, f.Width, 0), f.Big)
	if v < minValue || v > math.MaxInt32 {
		if !d.each && len(d.e.Bodies) > 1 && v == uint64(len(d.e.Bodies)) && f.Width > 1 && !f.At.End && !d.isText(f.At, f.Width) {
			f.Of.Count, f.bits = true, d.weigh(&f, v)
			d.found = append(d.found, f)
		}
		return
	}
	varies := false
	for _, of := range d.sizes(&f) {
		f.Of = of
		if uint64(d.e.size(&f, 0)) != v {
			continue
		}
		ok := true
		for i := 1; i < d.n && ok; i++ {
			got := number(d.bytes(f.At, f.Width, i), f.Big)
			varies = varies || got != v
			ok = got == uint64(d.e.size(&f, i))
		}
		if !ok || !varies && d.isText(f.At, f.Width) {
			continue
		}
		switch f.bits = d.weigh(&f, v); {
		case varies:
			f.bits += 4 * float64(min(d.n, 8))
		case f.Width == 1 && f.At.Offset != -1: // a constant
			continue
		}
		const sure = 6
		isPalindrome := f.Width == 2 && v>>8 == v&0xff // of either byte order
		if f.Doubtful = f.bits < sure || !varies && (f.Width == 1 || isPalindrome || d.isEither(&f, v)); f.Doubtful {
			f.bits = 0.5
		}
		d.found = append(d.found, f)
		return
	}
}

// isEither reports whether a number is the size both of the content of a body and of other bytes, because the two can
// change differently.
func (d *deriver) isEither(f *Field, v uint64) bool {
	b := &d.e.Bodies[0]
	if b.Info.IsPlain() || !d.each && len(d.e.Bodies) > 1 || uint64(len(b.Content)) != v {
		return false
	}
	return slices.ContainsFunc(d.sizes(f), func(of Span) bool {
		other := Field{At: f.At, Of: of}
		return !of.Content && !of.Count && uint64(d.e.size(&other, 0)) == v
	})
}

// sizes returns the spans that a number can be the size of: a body or all bodies, its content, the bytes after the
// number or beginning with the number, and the file.
func (d *deriver) sizes(f *Field) (all []Span) {
	e, start, end := d.e, Mark{}, Mark{d.last, true, 0}
	all = append(all, d.summed...)
	here, next := f.At, f.At
	next.Offset += f.Width
	all = append(all, Span{From: start, To: end})
	if d.n > 1 || len(e.Bodies) == 1 {
		all = append(all, Span{Content: true})
	}
	fileStart, fileEnd := Mark{Offset: -len(e.Gaps[0])}, Mark{d.last, true, d.after}
	if !d.each {
		if d.own+d.tail > 0 {
			all = append(all, Span{From: Mark{Offset: -d.own}, To: Mark{d.last, true, d.tail}})
		}
		if len(e.Bodies) > 1 && !f.At.End {
			all = append(all, Span{Count: true})
		}
		all = append(all, Span{From: fileStart, To: fileEnd}, Span{From: start, To: fileEnd}, Span{From: fileStart, To: end})
	}
	if f.At.End {
		return append(all, Span{From: start, To: here}, Span{From: fileStart, To: here}, Span{From: start, To: next}, Span{From: here, To: end})
	}
	all = append(all, Span{From: next, To: end}, Span{From: here, To: end})
	if f.At.Offset+f.Width <= -lengthSize { // of a value of store_var
		all = append(all, Span{From: Mark{Offset: -lengthSize}, To: end})
	}
	if !d.each {
		return append(all, Span{From: next, To: fileEnd}, Span{From: here, To: fileEnd})
	}
	for k := range d.after + 1 { // of the whole record
		all = append(all, Span{From: next, To: Mark{0, true, k}}, Span{From: here, To: Mark{0, true, k}})
	}
	for k := range d.before + 1 {
		all = append(all, Span{From: Mark{Offset: -k}, To: Mark{0, true, max(d.between-k, 0)}})
		all = append(all, Span{From: Mark{Offset: -k}, To: end})
	}
	return all
}

// weigh returns the evidence of a number equal to a size: of the number itself, less the chance to find this number
// anywhere. Zeros at its end say little.
func (d *deriver) weigh(f *Field, v uint64) float64 {
	const facts, aligned, zero, bigEndian, odd, self = 8, 3, 3, 3, 4, 4
	gap, offset := d.gap(f.At)
	own := math.Log2(float64(v) + 1)
	weight := own + zero*(float64(f.Width)-math.Ceil(own/8)) - math.Log2(float64(len(gap)*facts))
	weight -= float64(max(bits.TrailingZeros64(v)-2, 0))
	if f.Big {
		weight -= bigEndian
	}
	switch right := f.At.Offset+f.Width == 0 || f.At.Offset == 0; {
	case right, offset == 0, offset%4 == 0 && f.At.Offset%4 == 0:
		weight += 2 * aligned
	case offset%4 == 0 || f.At.Offset%4 == 0:
		weight += aligned
	case offset%2 != 0 && f.At.Offset%2 != 0:
		weight -= odd
	}
	if f.Of.From == f.At {
		weight -= self
	}
	return weight
}

// sum finds the span covered by a checksum.
func (d *deriver) sum(f Field, spans []Span) {
	want := d.bytes(f.At, f.Width, d.first)
	for _, of := range spans {
		f.Of = of
		const short = 16 // the Adler-32 of fewer bytes is a small number
		if !f.Of.Content && !f.Of.Zeroed && d.e.covers(&f, &f) || f.Sum == Adler32 && d.e.span(&f) < short {
			continue
		}
		if !bytes.Equal(f.Form.write(d.digest(&f), f.Big), want) {
			continue
		}
		var ok bool
		f.wrong, ok = d.wrong(func(i int) bool {
			d.left -= int64(len(d.e.Bodies[i].Content)) / hashCost
			return bytes.Equal(f.Form.write(d.e.digest(&f, i), f.Big), d.bytes(f.At, f.Width, i))
		})
		if ok {
			const places = 10 // bits
			f.bits = 8*float64(sums[f.Sum].size) - places - wrongBits*float64(min(len(f.wrong), 1))
			d.found = append(d.found, f)
			return
		}
	}
}

// digest is Envelope.digest for one record, kept because the same spans recur at other locations.
func (d *deriver) digest(f *Field) []byte {
	key := hashed{sum: f.Sum, of: f.Of}
	if f.Of.Zeroed {
		key.zeros, key.width = f.At, f.Width
	}
	got, known := d.digests[key]
	if !known && d.left > 0 {
		got = d.e.digest(f, d.first)
		d.digests[key] = got
		d.left -= int64(d.e.span(f)) / hashCost
	}
	if got == nil {
		return make([]byte, sums[f.Sum].size)
	}
	return got
}

// span returns the number of bytes covered by a checksum in the first record.
func (e *Envelope) span(f *Field) int {
	if f.Of.Content {
		return len(e.Bodies[0].Content)
	}
	return e.pos(f.Of.To) - e.pos(f.Of.From)
}

// spans returns the spans that a checksum can cover.
func (d *deriver) spans(at Mark) (all []Span) {
	e, start, end := d.e, Mark{}, Mark{d.last, true, 0}
	all = append(all, Span{From: start, To: end})
	if d.n > 1 || len(e.Bodies) == 1 {
		all = append(all, Span{Content: true})
	}
	ends := []Mark{end}
	switch {
	case at.End:
		ends = append(ends, at) // with the bytes before the checksum
	case !d.each && d.after > 0:
		ends = append(ends, Mark{d.last, true, d.after})
	case d.each:
		for k := range min(d.after, manyUnknown) {
			ends = append(ends, Mark{0, true, k + 1})
		}
	}
	const near = 32 // a span begins anywhere in so many bytes before a body, or at an aligned offset
	for _, to := range ends {
		for k := -d.before; k <= 0; k++ {
			isStart := at.End && slices.Contains(trailers, d.between-at.Offset+k) // of a record, up to its checksum
			if (k >= -near || k%4 == 0 || (k+d.before)%4 == 0 || isStart) && (at.End || at.Offset < k) {
				all = append(all, Span{From: Mark{Offset: k}, To: to})
			}
		}
	}
	if !d.each {
		file := Span{From: Mark{Offset: -d.before}, To: Mark{d.last, true, d.after}, Zeroed: true}
		if d.before+d.after < manyUnknown || at.Offset%4 == 0 {
			all = append(all, file)
		}
		if !at.End { // of the header before the checksum
			all = append(all, Span{From: file.From, To: at})
		}
	}
	return all
}

// mayBeDigest reports whether bytes look like a digest in a form.
func mayBeDigest(b []byte, form Form) bool {
	const few, many = 8, 16 // different digits, and bytes of a long digest
	if form != Raw {
		other := "ABCDEF"
		if form == Upper {
			other = "abcdef"
		}
		return !slices.ContainsFunc(b, func(c byte) bool { return !isHex(c) || bytes.IndexByte([]byte(other), c) >= 0 }) && len(b) >= few
	}
	if len(b) < many {
		return bytes.Count(b, []byte{0}) < len(b)-1
	}
	var seen [256]bool
	n := 0
	for _, c := range b {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n >= few && bytes.Count(b, []byte{0}) < len(b)/4
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// texts reports which bytes of a gap are of a name at the start or end of the gap, or of a text after its length, as of
// store_pascal_string.
func texts(gap []byte) []bool {
	const least, aligned = 3, 4
	in := make([]bool, len(gap))
	const word = 4 // letters of a name at the start or end; the next bytes can begin with a letter, too
	isLetter := func(c byte) bool { return isDigit(c) || c == '_' || c == '!' }
	name, end := 0, len(gap)
	for name < len(gap) && isLetter(gap[name]) {
		name++
	}
	for end > 0 && isLetter(gap[end-1]) {
		end--
	}
	for _, digest := range []int{64, 40, 32} { // in hexadecimal: a number can precede the digest
		if start := len(gap) - digest; start > end && start < end+word && !slices.ContainsFunc(gap[start:], func(c byte) bool { return !isHex(c) }) {
			end = start
		}
	}
	for i := range gap {
		in[i] = i < name/word*word || end > 0 && i >= end && len(gap)-end >= word
	}
	for at, after := 0, 0; at+lengthSize < len(gap); at++ {
		n := int(min(number(gap[at:][:lengthSize], false), maxHeader))
		if n < least || n > len(gap)-at-lengthSize || !isPrintable(gap[at+lengthSize:][:n]) {
			continue
		}
		if end := at + lengthSize + n; at != after && at%aligned != 0 && (n == least || at > lengthSize || end < len(gap) && isPrintable(gap[end:][:1])) {
			continue // chance, in other bytes
		}
		known := lengthSize + n
		if n == least {
			known-- // also the start of a number
		}
		for i := range known {
			in[at+i] = true
		}
		after = at + lengthSize + n
		at = after - 1
	}
	return in
}

func isPrintable(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c > '~' })
}

// best returns the fields with the most evidence together that do not overlap. Bytes between records are after one
// record and before the next.
func (d *deriver) best() (set []Field) {
	size := d.before + d.after
	place := func(f *Field) int {
		switch {
		case !d.each:
			return d.before + f.At.Offset
		case f.At.End:
			return f.At.Offset
		}
		return d.between + f.At.Offset
	}
	if d.each {
		size = d.between
	}
	best, chosen, ends := make([]float64, size+1), make([]*Field, size+1), make([][]*Field, size+1)
	for i := range d.found {
		f := &d.found[i]
		ends[place(f)+f.Width] = append(ends[place(f)+f.Width], f)
	}
	for end := 1; end <= size; end++ {
		best[end] = best[end-1]
		for _, f := range ends[end] {
			if at := place(f); best[at]+f.bits > best[end] {
				best[end], chosen[end] = best[at]+f.bits, f
			}
		}
	}
	for end := size; end > 0; {
		f := chosen[end]
		if f == nil {
			end--
			continue
		}
		set = append(set, *f)
		end = place(f)
	}
	return set
}
