package explain

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// A place is a part of a gap that can be a field, or a text after its length.
type place struct {
	at, to, gap int
	form        Form
	rule        rule
	isText      bool // the game's own
	letters     bool // a number in a text
	again       bool // one more size of a body after its length
	plain       float64
	bits        float64 // the price alone
	price       float64 // as part of its pattern
	pattern     *pattern
	was         []byte // of a wrong field: what is right
}

// A pattern is a field at the same place in several gaps.
type pattern struct {
	n      int // places
	bytes  []byte
	varies bool
	often  bool // the pattern is paid once
	each   bool // most records have the field
}

// A patternKey identifies a pattern. anchor is the offset of the field from the start or end of the gap.
type patternKey struct {
	form   Form
	kind   spanKind
	arg    int
	sum    *sum
	bits   float64
	anchor int
}

type gapSpan struct{ from, to int }

// A blob is a file of another format in a gap. Without a size, it may end elsewhere.
type blob struct {
	gapSpan
	sized bool
}

// An explainer explains the gaps between bodies.
type explainer struct {
	*digests
	gapsKnown map[gapSpan]*known
	options   *Options
	format    gdwire.Format
	bodies    []*body
	hasCut    bool // a body is damaged
	gaps      []gapSpan
	blobs     map[int][]blob // by the gap
	learnt    []int          // gaps that are searched
	places    []place
	byGap     map[int][]*place
	ends      filter // of the bodies
	inner     map[int][]byte
	chosen    map[int]*set // the best places of gaps
	inDigest  map[int]bool // offsets
	rulesAt   gapSpan      // the place of rules
	rules     []rule
	head      int // bytes at the start of the first gap searched for fields
	lost      int // bytes that the only value lacks, as its length says
}

// A span is what a field is of, relative to the gap with the field.
type span struct {
	kind  spanKind
	arg   int     // see spanKind
	size  float64 // the price for a size, or 0
	sum   float64 // the price for a checksum, or 0
	fixed bool    // the same for each field in the gap
}

type spanKind uint8

// The kinds of spans.
const (
	next            spanKind = iota // the next body; the size and arg
	nextFramed                      // with its length
	nextContent                     // the content of its stream
	nextRecord                      // a size: the next body, and as many bytes as are between bodies, but for arg
	previous                        // the same of the body before
	previousFramed                  //
	previousContent                 //
	previousFrom                    // and arg bytes before it
	previousRecord                  // from the start of the record with the body before to the field
	file                            // all bytes, without the field
	count                           // the number of bodies
	bodies                          // from the first body to the end of the last
	offset                          // not a span: where body arg starts
	offsetAfter                     // where body arg ends, and the record after it begins
	fromFirst                       // from the first body to body arg: an offset from the start of the records
	tabled                          // body arg, in a table before all bodies
	rest                            // from the field to the end of the next body, and arg bytes more
	restItself                      // with the field
	restAfter                       // after arg bytes more, of a checksum
	restAndGap                      // and the bytes up to the body after it
	nextFrom                        // the next body and arg bytes before it
	toEnd                           // from the field to the end of the file
	toEndAfter                      // after arg bytes more, of a checksum
	before                          // from the start of the file to the field, or arg bytes before it
	beforeFirst                     // from the first body to the field
	toLast                          // from the field to the end of the last body, if bytes follow it
	gapAndNext                      // from the start of the gap to the end of the next body, without the field
	group                           // several bodies: from the field, or after a checksum, to the end of a body that is not the next
)

// spans are the spans with prices.
var spans = []span{
	{next, 0, 2, 2, true}, {next, -4, 9, 0, true}, {next, 4, 9, 0, true}, {nextFramed, 0, 2, 3, true}, {nextContent, 0, 2, 2, true}, {nextRecord, 0, 6, 0, true}, {nextRecord, 4, 7, 0, true}, {nextRecord, 5, 9, 0, true}, {nextRecord, 6, 9, 0, true}, {nextRecord, 8, 8, 0, true}, {nextRecord, 12, 8, 0, true},
	{previous, 0, 5, 4, true}, {previous, -4, 12, 0, true}, {previous, 4, 12, 0, true}, {previousFramed, 0, 5, 5, true}, {previousContent, 0, 5, 4, true},
	{count, 0, 4, 0, true}, {bodies, 0, 5, 0, true}, {file, 0, 5, 5, true},
	{rest, 0, 3, 3, false}, {rest, 4, 8, 0, false}, {rest, 16, 9, 0, false}, {rest, 32, 9, 0, false}, {restItself, 0, 5, 0, false}, {restAndGap, 0, 6, 0, false},
	{restAfter, 4, 7, 0, false}, {restAfter, 8, 7, 0, false}, {restAfter, 16, 7, 0, false}, {restAfter, 20, 7, 0, false}, {restAfter, 32, 7, 0, false},
	{toEndAfter, 4, 6, 0, false}, {toEndAfter, 16, 7, 0, false}, {toEndAfter, 20, 7, 0, false}, {toEndAfter, 32, 7, 0, false},
	{toEnd, 0, 4, 3, false}, {before, 0, 4, 3, false}, {beforeFirst, 0, 5, 4, false}, {gapAndNext, 0, 7, 6, false},
	{toLast, 0, 6, 5, false}, {previousFrom, 2, 0, 6, true}, {previousFrom, 4, 0, 6, true}, {previousFrom, 8, 0, 6, true}, {previousRecord, 0, 0, 6, false},
}

// isPrevious reports whether the span is of the body before the gap, and isNext of that after the gap.
func (k spanKind) isPrevious() bool { return k >= previous && k <= previousRecord }

func (k spanKind) isNext() bool {
	return k < previous || k >= rest && k <= toEndAfter || k == gapAndNext
}

// isOffset reports whether the span is an offset.
func (k spanKind) isOffset() bool { return k == offset || k == offsetAfter }

// isTabled reports whether the span is of any body.
func (k spanKind) isTabled() bool { return k >= offset && k <= tabled }

// A rule is a Rule with offsets.
type rule struct {
	span
	sum      *sum // nil for a size
	from, to int
	body     int // whose content it is, or -1
}

func (r *rule) isZeroed() bool { return r.sum != nil && (r.kind == file || r.kind == gapAndNext) }

// rule returns the rule of a span for a field from p to q in gap g.
func (e *explainer) rule(s *span, g, p, q int) (r rule, ok bool) {
	r = rule{span: *s, body: -1}
	n := len(e.bodies)
	isEdge := n > 1 && (g == 0 || g == n)
	which := g
	if !s.kind.isNext() {
		which--
	}
	if s.kind.isNext() && g == n || s.kind.isPrevious() && g == 0 {
		return r, false
	}
	var c *body
	if which >= 0 {
		c = e.bodies[which]
		r.from, r.to = c.at, c.to
	}
	switch s.kind {
	case next, previous:
	case nextRecord:
		r.from = c.from
		return r, e.between() > r.arg
	case nextFramed, previousFramed:
		r.from = c.from
		if start := c.at - lengthSize; c.from == c.at && start >= e.gaps[which].from { // a stream
			if b, n := e.b[start:c.at], uint64(c.to-c.at); lengths[0].read(b) == n || lengths[1].read(b) == n {
				r.from = start
			}
		}
		return r, r.from < c.at
	case nextContent, previousContent:
		r.body = which
		return r, c.stream != nil
	case previousFrom:
		r.from = c.from - s.arg
		return r, r.from >= e.gaps[g-1].from
	case file:
		r.from, r.to = 0, len(e.b)
	case count:
		return r, isEdge
	case bodies:
		r.from, r.to = e.bodies[0].from, e.bodies[n-1].to
		return r, isEdge
	case offset:
		r.from, r.to = e.bodies[s.arg].from, len(e.b)
	case offsetAfter:
		r.from, r.to = e.bodies[s.arg].to, len(e.b)
	case fromFirst:
		r.from, r.to = e.bodies[0].from, e.bodies[s.arg].from
	case tabled:
		r.from, r.to = e.bodies[s.arg].at, e.bodies[s.arg].to
	case rest:
		r.from = q
		return r, q < c.from
	case restItself:
		r.from = p
	case group: // known by the number alone
		return r, false
	case restAfter:
		r.from = q + r.arg
		return r, r.from < c.from
	case nextFrom:
		r.from = c.from - r.arg
		return r, r.from > q
	case restAndGap:
		r.from, r.to = q, e.gaps[g+1].to
		return r, r.to > c.to && q < c.from
	case toEnd:
		r.from, r.to = q, len(e.b)
		return r, r.from < r.to
	case toEndAfter:
		r.from, r.to = q+r.arg, len(e.b)
		return r, r.from < c.from
	case before:
		r.from, r.to = 0, p-r.arg
		return r, r.to > 0
	case beforeFirst:
		r.from, r.to = e.bodies[0].at, p
		return r, g > 0
	case toLast:
		r.from, r.to = q, e.bodies[n-1].to
		return r, n > 1 && g == 0 && r.to < len(e.b)
	case previousRecord:
		r.from, r.to = e.bodies[g-1].from-(e.between()-(q-e.gaps[g].from)), p
		return r, r.from >= e.gaps[g-1].from && r.from < e.bodies[g-1].from
	case gapAndNext:
		r.from = e.gaps[g].from
		return r, g > 0 || p > 0
	}
	return r, true
}

// between returns the size of the first gap between bodies: of what is before and after the body of a record.
func (e *explainer) between() int {
	if len(e.bodies) < 2 {
		return 0
	}
	return e.gaps[1].to - e.gaps[1].from
}

// add returns what a size counts more than the bytes of its rule.
func (e *explainer) add(r *rule) int {
	switch {
	case r.sum != nil:
		return 0
	case r.kind == nextRecord:
		return e.between() - r.arg
	case r.kind == next || r.kind == previous || r.kind == rest:
		return r.arg
	}
	return 0
}

// asSize returns the size of the rule, and reports whether it can be one in gap g.
func (e *explainer) asSize(r *rule, g int) (int, bool) {
	isLast := g == len(e.bodies)
	switch r.kind {
	case count:
		return len(e.bodies), true
	case offset, offsetAfter:
		return r.from, true
	case nextContent, previousContent:
		return len(e.content(r.body)), true
	case file:
		return r.to - r.from + e.lost, g == 0 || isLast
	case before, beforeFirst:
		return r.to - r.from, isLast
	case toEnd, toEndAfter:
		return r.to - r.from + e.lost, g < len(e.bodies)-1 || !isLast && e.bodies[g].to < len(e.b)
	}
	return r.to - r.from + e.add(r) + e.lost, true
}

// sizeBits returns the price of the rule for a size in gap g that ends at q.
func (e *explainer) sizeBits(r *rule, g, q int) float64 {
	bits := r.size
	if r.kind.isTabled() {
		bits += math.Log2(float64(len(e.bodies)))
	}
	if e.isFramed(r, g) || r.kind == gapAndNext && g == 0 { // which is where the second body starts
		bits += sameSize
	}
	if g < len(e.bodies) && q == e.bodies[g].at {
		bits -= atBody
	}
	return bits
}

// isFramed reports whether the rule in gap g is of a body after its length.
func (e *explainer) isFramed(r *rule, g int) bool {
	which := g
	if r.kind.isPrevious() {
		which--
	}
	if which < 0 || which >= len(e.bodies) {
		return false
	}
	c := e.bodies[which]
	isBody := r.kind < file && r.kind != nextContent && r.kind != previousContent || r.from == c.at && r.to == c.to
	return isBody && c.length.Width > 0
}

// last returns the number of bodies up to the end of a rule.
func (e *explainer) last(r *rule) int {
	n, _ := slices.BinarySearchFunc(e.bodies, r.to+1, func(c *body, to int) int { return c.to - to })
	return n
}

func (e *explainer) content(i int) []byte {
	if e.inner[i] == nil {
		e.inner[i] = e.bodies[i].stream.Inner.Bytes()
	}
	return e.inner[i]
}

// digest returns the checksum of a rule for the field from p to q, or nil.
func (e *explainer) digest(r *rule, p, q int) []byte {
	switch {
	case r.body >= 0:
		return e.digests.of(digestKey{sum: r.sum, from: -1, to: e.bodies[r.body].at}, e.content(r.body))
	case r.isZeroed():
		if p < r.from || q > r.to {
			return nil
		}
		if len(e.b) > mostZeroed {
			e.unhashed = true
			return nil
		}
		if e.zeroed == nil {
			e.zeroed = bytes.Clone(e.b)
		}
		defer copy(e.zeroed[p:q], e.b[p:q])
		clear(e.zeroed[p:q])
		return e.digests.of(digestKey{r.sum, r.from, r.to, [2]int{p, q}}, e.zeroed[r.from:r.to])
	case r.from < 0 || r.to > len(e.b) || r.from >= r.to:
		return nil
	}
	return e.digests.of(digestKey{sum: r.sum, from: r.from, to: r.to}, e.b[r.from:r.to])
}

const (
	maxGap  = 512 // bytes at each end of a gap searched for fields
	offsets = 64  // bodies whose offsets are searched

	mostZeroed = 8 << 20 // bytes of a file with a checksum in it
	mostPascal = 255     // bytes of a text after its length
)

// findTable sets how much of the first gap is searched: more if there is a table of offsets, such as that of regions.
func (e *explainer) findTable() {
	const most, perWord = 8 << 10, 10 // bytes and instructions
	e.head = maxGap
	known := map[uint32]bool{}
	for _, c := range e.bodies[:min(len(e.bodies), offsets)] {
		known[uint32(c.from)], known[uint32(c.to)] = true, true
	}
	g := e.gaps[0]
	for p := g.from + maxGap; p+4 <= min(g.to, g.from+most) && len(e.bodies) > 1 && e.take(perWord); p += 4 {
		if v := binary.LittleEndian.Uint32(e.b[p:]); v > 0 && known[v] {
			e.head = p + 4 - g.from
		}
	}
}

// start returns how much is searched at the start of a gap.
func (e *explainer) start(gap int) int {
	if gap == 0 {
		return e.head
	}
	return maxGap
}

// positions calls visit for each offset of a gap to search, which are not those in a blob or of zeros.
func (e *explainer) positions(gap int, visit func(p int)) {
	const perPosition = 1000 // instructions
	g, blobs := e.gaps[gap], e.blobs[gap]
	for p := g.from; p < g.to; p++ {
		if p == g.from+e.start(gap) && g.to-p > maxGap {
			p = g.to - maxGap
		}
		if p+8 <= g.to && binary.LittleEndian.Uint64(e.b[p:]) == 0 {
			continue
		} else if !e.take(perPosition) {
			break
		}
		for len(blobs) > 0 && (p >= blobs[0].to || !blobs[0].sized) {
			blobs = blobs[1:]
		}
		if len(blobs) > 0 && p >= blobs[0].from {
			p = blobs[0].to - 1
			continue
		}
		visit(p)
	}
}

// A fileFormat is the format of a blob.
type fileFormat struct {
	name, signature string
	before          int                // bytes before the signature
	end             func(b []byte) int // where a blob ends that b begins with, or 0; nil if that is not known
}

// files are other formats that games keep in saves.
var files = []fileFormat{
	{"PNG image", "\x89PNG\r\n\x1a\n", 0, after("IEND\xaeB`\x82")}, {"JPEG image", "\xff\xd8\xff", 0, after("\xff\xd9")},
	{"WebP image", "WEBPVP8", 8, func(b []byte) int { return 8 + int(binary.LittleEndian.Uint32(b[4:])) }}, {"Ogg sound", "OggS\x00", 0, nil},
	{"stream of Zstandard", "\x28\xb5\x2f\xfd", 0, zstdEnd}, {"stream of gzip", "\x1f\x8b\x08", 0, nil},
}

// after returns a function that returns where the last of some bytes ends.
func after(last string) func([]byte) int {
	return func(b []byte) int {
		if i := bytes.LastIndex(b, []byte(last)); i >= 0 {
			return i + len(last)
		}
		return 0
	}
}

// blobName returns the name of the format of a blob.
func blobName(b []byte) string {
	i := slices.IndexFunc(files, func(f fileFormat) bool { return bytes.HasPrefix(b[min(len(b), f.before):], []byte(f.signature)) })
	return files[max(i, 0)].name
}

// findBlobs finds the blobs in a gap, each after at most few bytes. A blob ends where the size before it says.
func (e *explainer) findBlobs(gap int) {
	const few, least = 256, 16
	for at, g := e.gaps[gap].from, e.gaps[gap]; g.to-at >= 2*least; {
		x, head := blob{gapSpan: gapSpan{g.to, g.to}}, e.b[at:min(g.to, at+few)]
		var of fileFormat
		for _, f := range files {
			if i := bytes.Index(head, []byte(f.signature)); i >= f.before && at+i-f.before < x.from {
				x.from, of = at+i-f.before, f
			}
		}
		if x.from == g.to {
			return
		}
		for i := range lengths {
			l := &lengths[i]
			if from := x.from - l.Width; l.Width >= lengthSize && from >= at && !x.sized {
				if n := l.read(e.b[from:x.from]); n >= least && n <= uint64(g.to-x.from) {
					x.to, x.sized = x.from+int(n), true
				}
			}
		}
		if !x.sized && of.end != nil {
			if n := of.end(e.b[x.from:g.to]); n >= least && n < g.to-x.from {
				x.to = x.from + n
			}
		}
		e.blobs[gap] = append(e.blobs[gap], x)
		at = x.to
	}
}

// sizes adds the places in a gap that are equal to a size, count or offset.
func (e *explainer) sizes(g int) {
	sp, most := e.gaps[g], len(e.b)+e.lost
	var known [len(drifts)]map[int][]*span // by their sizes for an empty field at the start of the gap
	var likely [len(drifts)]filter
	for k := range known {
		known[k] = map[int][]*span{}
	}
	add := func(s *span) {
		k := s.kind.drift()
		r, ok := e.rule(s, g, sp.from, sp.from)
		if !ok && k == 0 {
			return
		}
		if n, ok := e.asSize(&r, g); ok {
			known[k][n] = append(known[k][n], s)
			likely[k].add(n)
			if k == 0 { // others are no more than the file, but for a checksum that is not there
				most = max(most, n)
			}
		}
	}
	for i := range spans {
		if spans[i].size > 0 {
			add(&spans[i])
		}
	}
	if g == 0 || g == len(e.bodies) {
		for k, c := range e.bodies[:min(len(e.bodies), offsets)] {
			kinds := []spanKind{offset}
			if len(e.bodies) > 1 && c.to < e.gaps[k+1].to {
				kinds = append(kinds, offsetAfter)
			}
			if k > 0 {
				kinds = append(kinds, fromFirst)
			}
			if g == 0 {
				kinds = append(kinds, tabled)
			}
			for _, kind := range kinds {
				add(&span{kind: kind, arg: k, size: 9})
			}
		}
	}
	addAll := func(p, q int, form Form, formBits float64, v int, drifts []drift) {
		for k, d := range drifts {
			n := v - d.byStart*(p-sp.from) - d.byEnd*(q-sp.from)
			if !likely[k].has(n) {
				continue
			}
			for _, s := range known[k][n] {
				if r, ok := e.rule(s, g, p, q); ok {
					e.addSize(g, p, q, form, formBits, uint64(v), r)
				}
			}
		}
	}
	digits := sp.from // where the latest decimal number ends
	e.positions(g, func(p int) {
		if p >= digits {
			var v int
			if digits, v = decimal(e.b[:sp.to], p); v > 0 {
				addAll(p, digits, Form{Width: digits - p, Text: 'd'}, decimalPrice, v, drifts[:1])
			}
		}
		for i := range lengths {
			l := &lengths[i]
			q := p + l.Width
			if q > sp.to {
				continue
			}
			v := l.read(e.b[p:q])
			if v == 0 || v > uint64(most) {
				continue
			}
			addAll(p, q, l.Form, l.size, int(v), drifts[:])
			if l.Width >= lengthSize {
				e.groups(g, p, q, l.Form, l.size, v)
			}
		}
	})
}

// A filter tells of most numbers that they are not in a set.
type filter [1 << 10]bool

func (f *filter) add(n int)      { f[n&(len(f)-1)] = true }
func (f *filter) has(n int) bool { return f[n&(len(f)-1)] }

// A drift is how much larger a size is for each byte that the field starts or ends further.
type drift struct{ byStart, byEnd int }

var drifts = [...]drift{{0, 0}, {1, 0}, {-1, 0}, {0, -1}}

// drift returns the index of the drift of spans of a kind.
func (k spanKind) drift() int {
	switch k {
	case before, beforeFirst:
		return 1
	case restItself:
		return 2
	case rest, restAfter, restAndGap, toEnd, toEndAfter, toLast:
		return 3
	}
	return 0
}

// groups adds the number v from p to q as the size of several bodies, and a checksum of these after it.
func (e *explainer) groups(g, p, q int, form Form, formBits float64, v uint64) {
	const bits = 7 // and where the group ends
	if g+1 >= len(e.bodies) || int(v) < e.bodies[g+1].to-q-groupSums[len(groupSums)-1] {
		return
	}
	others := e.bodies[g+1:]
	for _, skip := range groupSums {
		from := q + skip
		to := from + int(v)
		if !e.ends.has(to) {
			continue
		}
		k, ok := slices.BinarySearchFunc(others, to, func(c *body, to int) int { return c.to - to })
		if !ok || from > e.bodies[g].from {
			continue
		}
		s := span{kind: group, arg: skip, size: bits + math.Log2(float64(len(others)))}
		isSize := skip == 0
		for _, sum := range sums {
			r := rule{span: s, sum: sum, from: from, to: to, body: -1}
			for _, form := range forms[sum.size] {
				if form.Width != skip {
					continue
				}
				if d := e.digest(&r, q, from); d != nil && form.isDigest(d, e.b[q:from]) {
					e.places = append(e.places, place{at: q, to: from, gap: g, form: form, rule: r, plain: sum.plain(form, d), bits: fieldPrice + sum.bits + bits})
					isSize = true
				}
			}
		}
		if isSize {
			e.addSize(g, p, q, form, formBits, v, rule{span: s, from: from, to: others[k].to, body: -1})
		}
	}
}

// groupSums are the sizes of checksums between the size of several bodies and these.
var groupSums = []int{0, 4, 16, 20, 32}

// addSize adds a place equal to a size.
func (e *explainer) addSize(g, p, q int, form Form, formBits float64, v uint64, r rule) {
	const free = 16 // bytes of a gap that cost nothing to name a place in them
	sp := e.gaps[g]
	x := place{at: p, to: q, gap: g, form: form, rule: r, again: e.isFramed(&r, g)}
	if form.Text != 0 {
		x.plain = min(letter*float64(form.Width), number(v)+4)
		x.bits = fieldPrice + formBits + e.sizeBits(&r, g, 0)
	} else {
		x.plain = plainNumber(v, form.Width)
		x.bits = fieldPrice + formBits + max(0, math.Log2(float64(sp.to-sp.from)/free)) + e.sizeBits(&r, g, q)
		if w := min(form.Width, 4); (p-sp.from)%w != 0 && (sp.to-p)%w != 0 {
			x.bits += misaligned
		}
		if x.letters = e.isInText(p, q, sp); x.letters {
			x.plain = min(x.plain, letter*float64(form.Width))
			x.bits += inText
		}
	}
	if e.lost > 0 { // the size is that before the cut
		x.was, _ = form.number(v - uint64(e.lost))
	}
	e.places = append(e.places, x)
}

// isInText reports whether a number in a gap is letters of a text, two with others around or in a magic, or begins with letters of one that is too
// short without these.
func (e *explainer) isInText(p, q int, sp gapSpan) bool {
	const others = 4
	from, to := p, p
	for from > sp.from && isText(e.b[from-1:from]) {
		from--
	}
	for to < sp.to && isText(e.b[to:to+1]) {
		to++
	}
	if to < q {
		return q-p > 1 && from < p && p-from < letterRun && to-p >= letterRun-1
	}
	return q-p >= letterRun || to-from >= q-p+others || to-from >= others && isMagic(e.b[from:to])
}

// decimal returns where the digits at p end, and their number if there are as many as games write of a size, or 0.
func decimal(b []byte, p int) (end, v int) {
	const least, most = 2, 10
	for end = p; end < len(b) && end-p < most && b[end] >= '0' && b[end] <= '9'; end++ {
		v = v*10 + int(b[end]-'0')
	}
	if end-p < least || b[p] == '0' || end < len(b) && b[end] >= '0' && b[end] <= '9' {
		v = 0
	}
	return end, v
}

// pascalSize returns the size of the text after its length at the start of b, or 0 if there is none.
func pascalSize(b []byte, length Form) int {
	n := length.read(b[:length.Width])
	if n > mostPascal || int(n) > len(b)-length.Width || !isText(b[length.Width:][:n]) {
		return 0
	}
	return int(n)
}

// isLikely reports whether a checksum of a large file can be here: before or after a body and at most a few numbers or a line break, or if
// it is quick to compute, also texts.
func (e *explainer) isLikely(g, p, q int, s *sum) bool {
	const large, few = 8 << 10, 24
	sp := e.gaps[g]
	isHigh := func(c byte) bool { return c >= utf8.RuneSelf }
	isNear := func(from, to int) bool {
		b := e.b[from:to]
		return len(b) <= few && (len(b)%4 == 0 || len(bytes.Trim(b, "\r\n")) == 0 || s.class() <= quick && !slices.ContainsFunc(b, isHigh))
	}
	return len(e.b) < large || isNear(q, sp.to) || isNear(sp.from, p)
}

// A fixedSum is the checksum of a span that is the same for the whole gap.
type fixedSum struct {
	rule
	digest []byte
}

// key returns the key of the pattern of a place.
func (e *explainer) key(p *place) patternKey {
	key := patternKey{p.form, p.rule.kind, p.rule.arg, p.rule.sum, p.bits, e.anchor(p.rule.kind, p.gap, p.at)}
	if p.letters { // by chance
		key.bits -= inText
	}
	if p.rule.kind.isTabled() {
		key.arg, key.anchor = 0, key.anchor&3
	}
	return key
}

// anchor returns the offset of p in a gap of a pattern.
func (e *explainer) anchor(kind spanKind, gap, p int) int {
	if gap == len(e.bodies) || kind.isPrevious() {
		return p - e.gaps[gap].from
	}
	return p - e.gaps[gap].to
}

// at returns the place of the pattern of p in gap g, if it is in the gap.
func (e *explainer) at(p *place, g int) (q place, ok bool) {
	sp := e.gaps[g]
	q = *p
	q.gap = g
	q.at = e.anchor(p.rule.kind, p.gap, p.at)
	if p.rule.kind.isPrevious() {
		q.at += sp.from
	} else {
		q.at += sp.to
	}
	q.to = q.at + p.to - p.at
	if q.at < sp.from || q.to > sp.to || slices.Contains(e.options.Keep, q.at) {
		return q, false
	}
	q.rule, ok = e.rule(&p.rule.span, g, q.at, q.to)
	q.rule.sum = p.rule.sum
	return q, ok
}

// want returns the bytes of a place.
func (e *explainer) want(p *place) []byte {
	if p.rule.sum != nil {
		e.needed = true
		defer func() { e.needed = false }()
		if d := e.digest(&p.rule, p.at, p.to); d != nil {
			return p.form.digest(d)
		}
		return nil
	}
	n, _ := e.asSize(&p.rule, p.gap)
	b, _ := p.form.number(uint64(n))
	return b
}

// A spot is bytes of a gap that can be a checksum.
type spot struct {
	at, to int
	form   Form
	random bool
}

// A known is what the bytes of a gap can be in any row.
type known struct {
	spots   [len(forms)][]spot // by the size of the checksum
	texts   []*place           // after their lengths, which are the game's own and end where these say
	windows map[gapSpan]*window
}

var widths = [...]int{8, 4, 2, 1}

// A window is a part of a gap: the prices of its bytes as the game's own, by the ends of numbers and their widths, and the price of all.
type window struct {
	own  [][len(widths)]float64
	cost float64
}
