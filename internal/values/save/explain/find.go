package explain

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
)

// The search: options, the rows that can be the cheapest, and the choice among them.

// Options configures Find.
type Options struct {
	Formats      []gdwire.Format                                // nil for Godot 4 and 3
	Keep, Derive []int                                          // offsets of numbers that are no fields, and of those that are
	AskKey       func(fileaccess.Info) (*fileaccess.Key, error) // for the key of an encrypted file, or nil
	Locked       error                                          // set by Find: an encrypted file or a stream that cannot be read
	Ended        *BoundError                                    // set by Find, if a bound ended the search
	More         int                                            // bytes that follow, and can be of a value that is cut
	Shared       *Budget                                        // for all calls of Find, or nil for one of the size of the input

	general bool // in tests: records are not read by their pattern, and there is no bound
	array   bool // the bytes are those of an array, and not of a file, whose compression is known before
}

// Find returns the cheapest explanation of b, or nil if b contains no values, or is too large a search. The parse
// shares memory with b. The work is bounded by the size of b.
func Find(b []byte, o *Options) *Parse {
	s := newSearch(o, len(b))
	p := s.find(b, s.Formats, 0)
	if o != nil {
		if o.Ended, o.Locked = s.ended, s.locked; o.Locked == nil && len(s.damaged) > 0 {
			o.Locked = fmt.Errorf("is damaged: %w", s.damaged[0])
		}
	}
	if p != nil {
		p.dropCut(&s.Options)
		p.correct()
		if right, err := p.corrected(); err != nil { // sums are of the right length, perhaps
			if q := (&search{Options: s.Options, unpacker: newUnpacker(s.Budget)}).find(right, s.Formats, 0); q != nil && !q.IsDamaged() && len(q.Values()) == 1 {
				q.Rivals, q.Err, p = nil, err, q
			}
		}
		p.lacksStream(s.damaged)
	}
	return p
}

func newSearch(o *Options, size int) *search {
	s := &search{unpacker: newUnpacker(&Budget{input: int64(size)})}
	if o != nil {
		if s.Options = *o; o.Shared != nil {
			s.Budget = o.Shared
		}
		if o.general {
			s.used = math.MinInt64 / 2
		}
		s.ask = o.AskKey
	}
	if s.Formats == nil {
		s.Formats = []gdwire.Format{gdwire.Godot4, gdwire.Godot3}
	}
	return s
}

// An Opener finds the values in PackedByteArrays. All arrays share one budget.
type Opener struct{ Budget }

// Open returns the explanation of the bytes of a PackedByteArray, or nil if they contain no whole values for sure. The values are
// in the format of the value around them.
func (o *Opener) Open(b []byte, format gdwire.Format) *Parse {
	const least = 8 // bytes
	if len(b) < least {
		return nil
	}
	o.input += int64(len(b))
	r := newReader(format, &o.Budget)
	w := r.value(b)
	r.d.Release()
	if w.size == len(b) && !w.cut && w.saving >= Enough { // whatever is in the value
		return &Parse{Format: format, Parts: []Part{{Kind: Value, Bytes: b}}, Saving: w.saving}
	}
	s := &search{Options: Options{array: true}, unpacker: newUnpacker(&o.Budget)}
	p := s.find(b, []gdwire.Format{format}, 0)
	if o.ended != nil || p == nil || !p.Sure() || p.IsDamaged() {
		return nil
	}
	if p.dropCut(&s.Options); p.Err != nil {
		return nil
	}
	return p
}

// A search finds explanations within a budget.
type search struct {
	Options
	*unpacker
}

// find returns the cheapest explanation of b, or nil.
func (s *search) find(b []byte, formats []gdwire.Format, depth int) *Parse {
	const start = 10000 // instructions
	s.take(start * len(formats))
	rows := s.rows(b, formats, depth)
	if s.ended != nil || len(rows) == 0 {
		return nil // a part of a search finds parts of a file
	}
	const most, few = 5, 3 // rows, and of many bodies
	var all []choice
	e := explainer{digests: &digests{b: b, Budget: s.Budget, known: map[digestKey][]byte{}}, options: &s.Options, gapsKnown: map[gapSpan]*known{}}
	for i, r := range rows[:min(len(rows), most)] {
		if i >= few && len(r.bodies) > mostLearnt {
			break
		}
		proved := r.isProved(len(b))
		if r.saving < enoughBodies && depth == 0 || !proved && (len(r.bodies) > mostUnproved || depth > 0) {
			continue
		}
		all = append(all, e.explain(r, all, proved)...)
	}
	if s.ended != nil {
		s.ended.Offset = len(b)
		return nil
	}
	slices.SortStableFunc(all, func(a, b choice) int { return cmp.Compare(b.saving, a.saving) })
	for _, at := range s.Derive {
		if some := slices.DeleteFunc(slices.Clone(all), func(c choice) bool { return !c.isField(at) }); len(some) > 0 && depth == 0 {
			all = some
		}
	}
	if len(all) == 0 || all[0].saving < Enough && (depth == 0 || all[0].saving < enoughInside) {
		return nil
	}
	first := all[0].parse()
	same := map[*explainer]bool{all[0].of: true}
	for i := range all[1:] {
		c := &all[i+1]
		less := first.Saving - c.saving
		isSame, known := same[c.of]
		if less >= max(c.margin, Doubt) {
			continue
		}
		if !known {
			isSame = slices.Equal(first.leaves(""), c.parse().leaves(""))
			same[c.of] = isSame
		}
		switch {
		case less < Margin, isSame && less < c.margin:
			p := c.parse()
			p.isOther = !isSame
			first.Rivals = append(first.Rivals, p)
		case less < Doubt && !isSame:
			first.doubtful = true
		}
	}
	if _, secret := first.Secret(); secret == 0 && (e.unhashed || first.isQuoted()) {
		first.unsearched = first.odd(s.Keep)
	}
	for i, at := range first.starts() { // and in streams
		if i < len(first.Parts) && first.Parts[i].Kind == Packed && slices.Contains(s.Keep, at) {
			first.Parts[i].Stream.Inner.Rivals, first.Parts[i].Stream.Inner.unsearched = nil, nil
		} else if i < len(first.Parts) && first.Parts[i].Kind == Packed && first.unsearched == nil {
			if in := first.Parts[i].Stream.Inner.unsearched; in != nil {
				first.unsearched = in.at(at)
			}
		}
	}
	return first
}

const mostUnproved = 16 // bodies

// inside is find for a content of a stream.
func (s *search) inside(content []byte, format gdwire.Format, depth int) *Parse {
	return s.find(content, []gdwire.Format{format}, depth)
}

// rows returns the best rows of candidates, the best first.
func (s *search) rows(b []byte, formats []gdwire.Format, depth int) (all []row) {
	best, at := 0.0, 0
	add := func(r row) {
		if len(r.bodies) > 0 && r.saving > best-near && !slices.ContainsFunc(all, r.isSame) {
			all = append(all, r)
			best = max(best, r.saving)
		}
	}
	var known [][2]int
	for _, format := range s.order(b, formats) {
		r := newReader(format, s.unpacker.Budget)
		f := &finder{unpacker: s.unpacker, explain: s.inside, reader: r, b: b, format: format, depth: depth, known: known, general: s.general, array: s.array}
		if depth == 0 {
			f.more = s.More
		}
		found := f.bodies()
		known = sureSpans(known, f.sure, found)
		r.d.Release()
		if at = f.at; s.ended != nil {
			break
		}
		found = slices.DeleteFunc(found, func(c body) bool { return c.length.Width > 0 && slices.Contains(s.Keep, c.from) && depth == 0 })
		order := s.byEnd(found)
		bodies, saving := s.chain(order, 0, len(b), false, nil)
		if saving < best-near {
			continue
		}
		add(row{format, bodies, saving})
		if len(found) > fewBodies {
			continue
		}
		without := func(not func(*body) bool) {
			if slices.ContainsFunc(bodies, not) && s.ended == nil {
				others, saving := s.chain(order, 0, len(b), false, not)
				add(row{format, others, saving})
			}
		}
		const weak = 20
		without(func(c *body) bool { return c.kind == Value && c.length.Width == 0 && c.saving < weak })
		if others, saving := s.chain(order, 0, len(b), false, (*body).isDamaged); isWholeAt(others, bodies) { // and no values in damage
			add(row{format, others, saving})
		}
		const most = 6
		for k, c := range bodies {
			if k < most || k == len(bodies)-1 {
				without(func(x *body) bool { return x == c })
			}
		}
	}
	if s.ended != nil && depth == 0 {
		s.ended.Offset = at
	}
	all = slices.DeleteFunc(all, func(r row) bool { return r.saving <= best-near })
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(b.weight(), a.weight()) })
	return all
}

// order returns the formats, first the one in which the first values save clearly more: what is sure in it is not searched in the
// others, in which each number and text of a Dictionary is a value.
func (s *search) order(b []byte, formats []gdwire.Format) []gdwire.Format {
	if len(formats) < 2 {
		return formats
	}
	best, most := 0, 0.0
	for i, format := range formats {
		r := newReader(format, s.unpacker.Budget)
		if saving := s.first(r, b); i == 0 || saving > most+Enough {
			best, most = i, saving
		}
		r.d.Release()
	}
	return slices.Concat(formats[best:best+1], formats[:best], formats[best+1:])
}

// first returns what the values at the start of b save, each less than a piece of a value does, and those in streams and base64 text there.
func (s *search) first(r *reader, b []byte) (saving float64) {
	const few, most, line = 1 << 10, 500_000, 64 // bytes, instructions and digits
	window := b[:min(len(b), few)]
	for p, next, from := 0, 0, s.used; p+4 <= len(window) && s.used-from < most; p++ {
		digits := p
		for digits < len(window) && isDigit(window[digits]) {
			digits++
		}
		if stream, ok := s.stream(b[p:]); ok {
			return saving + s.first(r, stream.Content)
		} else if digits-p >= line {
			for _, e := range encodings[:2] {
				content, _ := e.AppendDecode(nil, window[p:digits-(digits-p)%4])
				saving += s.first(r, content)
			}
			p = digits - 1
		} else if w := r.start(b[p:], len(window)-p); p >= next && w.saving > 0 && w.read > 0 { // up to where it is cut
			switch saving += max(0, w.saving-rowPrice); {
			case w.bytes: // in which others can be
			case w.saving < rowPrice: // by chance: a stream can begin in it
				next = p + w.read
			default:
				p += w.read - 1
			}
		}
	}
	return saving
}

// sureSpans adds the spans of values, and of records, that save so much that they are of no other format.
func sureSpans(known, records [][2]int, found []body) [][2]int {
	known = slices.Concat(known, records)
	for i := range found {
		if c := &found[i]; c.kind != Packed && c.isSure(muchSaving) {
			known = append(known, [2]int{c.at, c.to})
		}
	}
	slices.SortFunc(known, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], b[1]-a[1]) })
	end := 0
	return slices.DeleteFunc(known, func(x [2]int) bool {
		inside := x[1] <= end
		end = max(end, x[1])
		return inside
	})
}

// isWholeAt reports whether bodies are where others are cut.
func isWholeAt(bodies, others []*body) bool {
	for _, c := range others {
		in := func(x *body) bool { return x.at <= c.at && c.at < x.to }
		if c.kind == Cut && !slices.ContainsFunc(bodies, in) {
			return false
		}
	}
	return true
}

// weight returns by how much the row is to be explained before others: fields can speak against damage.
func (r *row) weight() float64 {
	if slices.ContainsFunc(r.bodies, (*body).isDamaged) {
		return r.saving - cutPrice
	}
	return r.saving
}

// isSame reports whether two rows are of the same bodies.
func (r *row) isSame(other row) bool { return slices.Equal(r.bodies, other.bodies) }

// isProved reports whether the bodies cannot be parts of a table of small numbers: they contain text or streams, or are
// most of the bytes.
func (r *row) isProved(size int) bool {
	own := size
	for _, c := range r.bodies {
		if c.text || c.kind == Packed {
			return true
		}
		if c.kind == Value {
			own -= c.to - c.from
		}
	}
	return own <= 16+size/16
}

// A choice is an explanation of the gaps between the bodies of a row. Most are too dear to be made a Parse.
type choice struct {
	of *explainer
	set
}

// parse returns the parse of the choice.
func (c *choice) parse() *Parse {
	return c.of.build(&Parse{Format: c.of.format, Saving: c.saving}, c.places)
}

// isField reports whether a field begins at an offset.
func (c *choice) isField(at int) bool {
	return slices.ContainsFunc(c.places, func(p *place) bool { return p.at == at }) ||
		slices.ContainsFunc(c.of.bodies, func(x *body) bool { return x.from == at && x.length.Width > 0 })
}

// explain, of a new explainer, returns the cheapest explanations of the gaps between the bodies of a row, if they can be rivals of others; if the row is
// not proved, those with a checksum.
func (e explainer) explain(r row, others []choice, proved bool) (all []choice) {
	best := math.Inf(-1)
	for i := range others {
		best = max(best, others[i].saving)
	}
	e.format, e.bodies, e.byGap, e.blobs, e.inner = r.format, r.bodies, map[int][]*place{}, map[int][]blob{}, map[int][]byte{}
	e.chosen, e.inDigest = map[int]*set{}, map[int]bool{}
	at := 0
	for _, c := range r.bodies {
		e.gaps = append(e.gaps, gapSpan{at, c.from})
		at = c.to
		e.ends.add(at)
		e.hasCut = e.hasCut || c.kind == Cut
	}
	e.gaps = append(e.gaps, gapSpan{at, len(e.b)})
	for g := range e.gaps {
		e.findBlobs(g)
	}
	if c := r.bodies[0]; len(r.bodies) == 1 && c.kind == Cut && c.length.Width > 0 && c.to == len(e.b) {
		e.lost = max(0, int(min(c.length.read(e.b[c.from:c.at]), maxLength))-c.add-(c.to-c.at))
	}
	e.learn()
	e.findTable()
	for _, g := range e.learnt {
		e.sizes(g)
	}
	e.checksums()
	e.group()
	for _, s := range e.choose() {
		e.extend(&s)
		s.saving += r.saving
		if (proved || s.hasSum()) && (s.saving > best-max(s.margin, Doubt) || len(e.options.Derive) > 0) {
			best = max(best, s.saving)
			all = append(all, choice{&e, s})
		}
	}
	return all
}

// group finds the patterns, and sets the prices of places.
func (e *explainer) group() {
	patterns := map[patternKey]*pattern{}
	e.places = slices.DeleteFunc(e.places, func(p place) bool { return slices.Contains(e.options.Keep, p.at) })
	for i := range e.places {
		p := &e.places[i]
		b := e.b[p.at:p.to]
		key := e.key(p)
		c := patterns[key]
		if c == nil {
			c = &pattern{bytes: b}
			patterns[key] = c
		}
		c.n++
		c.varies = c.varies || !bytes.Equal(c.bytes, b)
		p.pattern = c
	}
	for _, g := range e.learnt {
		e.byGap[g] = append(e.byGap[g], e.known(g).texts...)
	}
	e.places = slices.DeleteFunc(e.places, e.isChance)
	for i := range e.places {
		p := &e.places[i]
		c := p.pattern
		isTabled := p.rule.kind.isTabled() // in a table of at least three
		c.often = c.n > 1 && (c.varies || p.rule.sum != nil) && (c.n > 2 || !isTabled)
		c.each = !isTabled && (c.often || c.n > 2 && 2*c.n > len(e.learnt))
		if p.price = p.bits; c.often {
			p.price = p.bits/float64(c.n) + againBits
		}
		if slices.Contains(e.options.Derive, p.at) {
			p.price -= sureSaving
		}
		if p.price < p.plain+Doubt {
			e.byGap[p.gap] = append(e.byGap[p.gap], p)
		}
	}
	for _, all := range e.byGap {
		slices.SortStableFunc(all, func(a, b *place) int { return a.to - b.to })
	}
}

// isChance reports whether the place is equal to a size by chance: it is a byte, and not of each record, or one offset without a
// table, or most of the other gaps of its size have another number in its place.
func (e *explainer) isChance(p place) bool {
	const least, most = 2, 4 // gaps, and one of so many by chance
	isRecord := func(g int) bool { return g > 0 && g < len(e.bodies) }
	switch {
	case p.rule.sum != nil || slices.Contains(e.options.Derive, p.at):
		return false
	case p.form.Width == 1 && (p.pattern.n == 1 || p.rule.kind.isTabled()), p.pattern.n == 1 && (p.rule.kind == offsetAfter || p.rule.kind == fromFirst):
		return true
	case !isRecord(p.gap) || p.pattern.n > 1 && p.pattern.n*most > len(e.learnt):
		return false
	}
	size, same := e.gaps[p.gap].to-e.gaps[p.gap].from, 0
	for _, g := range e.learnt {
		if isRecord(g) && e.gaps[g].to-e.gaps[g].from == size {
			same++
		}
	}
	return same >= least && (p.pattern.n == 1 || same >= p.pattern.n*most)
}

// A set is a choice of places.
type set struct {
	places []*place
	saving float64
	margin float64 // up to which the set is a rival
}

// best returns the places with the most saving together, without those in not. changed are places whose price has changed.
func (e *explainer) best(not func(*place) bool, changed []*place) (out set) {
	for _, g := range e.learnt {
		all := e.byGap[g]
		if len(all) == 0 {
			continue
		}
		one, known := e.chosen[g], e.chosen[g] != nil
		if !known || not != nil && slices.ContainsFunc(all, not) || slices.ContainsFunc(changed, func(p *place) bool { return p.gap == g }) {
			one = &set{}
			one.places, one.saving = e.schedule(g, all, not)
		}
		if !known {
			e.chosen[g] = one
		}
		out.places, out.saving = append(out.places, one.places...), out.saving+one.saving
	}
	const perPlace = 200 // instructions
	e.take(perPlace * len(out.places))
	type sized struct {
		gap, from, to int
		count         bool
	}
	used, sizes := map[*pattern]bool{}, map[sized]bool{}
	for _, p := range out.places { // a pattern is paid once
		if p.rule.sum == nil && p.rule.body < 0 && !p.rule.kind.isOffset() {
			size := sized{p.gap, p.rule.from, p.rule.to, p.rule.kind == count}
			if p.plain < smallPrice && p.pattern.n == 1 {
				size.from, size.to = e.last(&p.rule), -1
			}
			if sizes[size] && !p.again {
				out.saving -= sameSize
			}
			sizes[size] = true
		}
		out.saving += p.price
		if p.pattern.often && used[p.pattern] {
			out.saving -= againBits
		} else {
			out.saving -= p.bits
		}
		used[p.pattern] = true
	}
	return out
}

// choose returns the best set of places, and other sets within Doubt: without some of these places, and with others.
func (e *explainer) choose() []set {
	const most, forced = 32, 1000
	best := e.best(nil, nil)
	all := []set{best}
	tried := map[*pattern]bool{}
	for _, p := range best.places {
		if tried[p.pattern] || len(tried) == most {
			continue
		}
		tried[p.pattern] = true
		for _, not := range []func(*place) bool{
			func(q *place) bool { return q.pattern == p.pattern },
			func(q *place) bool { return q.gap == p.gap && q.at < p.to && p.at < q.to || q.pattern == p.pattern },
		} {
			all = append(all, e.best(not, nil))
			if all[len(all)-1].saving <= best.saving-max(doubtfulSize, Doubt*float64(len(e.gaps))) {
				break // still less without others, too
			}
		}
	}
	byPattern := map[*pattern][]*place{}
	var others []*pattern
	for _, g := range e.learnt {
		for _, p := range e.byGap[g] {
			if p.isText || tried[p.pattern] {
				continue
			}
			if byPattern[p.pattern] == nil {
				others = append(others, p.pattern)
			}
			byPattern[p.pattern] = append(byPattern[p.pattern], p)
		}
	}
	for _, c := range others[:min(len(others), 2*most)] {
		for _, p := range byPattern[c] {
			p.price -= forced
		}
		all = append(all, e.best(nil, byPattern[c]))
		for _, p := range byPattern[c] {
			p.price += forced
		}
	}
	slices.SortStableFunc(all, func(a, b set) int { return cmp.Compare(b.saving, a.saving) })
	for i := range all {
		all[i].margin = all[i].doubt(all[0].places)
	}
	highest := all[0].saving
	all = slices.DeleteFunc(all, func(s set) bool { return s.saving <= highest-s.margin })
	return slices.CompactFunc(all, func(a, b set) bool { return slices.Equal(a.places, b.places) })
}

// hasSum reports whether there is a checksum. A sum of bytes is too small to prove anything.
func (s *set) hasSum() bool {
	return slices.ContainsFunc(s.places, func(p *place) bool { return p.rule.sum != nil && p.rule.sum != plainSum })
}

// doubt returns the margin of the set beside the chosen places. It is larger for a size where there is none of these, because a
// number stays if it is no size, and most for sizes of the same bytes that overlap in part, as u16 and big-endian u32 do: they are
// equal in each of several records until one has more digits.
func (s *set) doubt(chosen []*place) (margin float64) {
	margin = Margin
	for _, p := range s.places {
		isFree := !slices.Contains(chosen, p) && !p.pattern.often
		for _, q := range chosen {
			if p.overlaps(q) {
				isFree = false
			}
			if p.at == q.at && p.to == q.to && p.rule.sum == nil && p.rule != q.rule && p.pattern.often { // as the sizes of contents that are as large as the records
				margin = max(margin, Doubt)
			}
			if p.overlaps(q) && (p.at < q.at) == (p.to < q.to) && p.at != q.at && p.to != q.to && p.rule == q.rule && p.pattern.n > 1 && p.pattern.often == q.pattern.often {
				margin = max(margin, Doubt*float64(p.pattern.n))
			}
		}
		if p.rule.sum == nil && isFree {
			margin = max(margin, doubtfulSize)
		}
	}
	return margin
}

// patterns returns one place for each pattern in the gaps before one, the most frequent pattern first.
func patterns(s *set, last int) (all []*place) {
	n := map[*pattern]int{}
	for _, p := range s.places {
		if p.pattern.each && p.gap < last && p.form.Text != 'd' {
			if n[p.pattern]++; n[p.pattern] == 1 {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *place) int { return n[b.pattern] - n[a.pattern] })
	return all
}

// learn chooses the gaps that are searched: those of the first records, the last one, and some that are larger or smaller than
// those of the first records.
func (e *explainer) learn() {
	sizes, others := map[int]bool{}, 0
	for g, sp := range e.gaps {
		switch size := sp.to - sp.from; {
		case e.options.general, g == len(e.gaps)-1:
		case g < mostLearnt:
			sizes[size] = true
		case sizes[size] || others == mostLearnt:
			continue
		default:
			others++
		}
		e.learnt = append(e.learnt, g)
	}
}

// extend adds the fields of the patterns in the gaps that were not searched, and the wrong checksums of single records, if those of the
// others are right.
func (e *explainer) extend(s *set) {
	const least, most = 4, 4 // records, and one wrong in so many
	n := len(e.bodies)
	for _, p := range patterns(s, n) {
		var right, wrong []*place
		learnt := e.learnt
		for g := range e.gaps {
			isLearnt := g == learnt[0]
			if isLearnt && len(learnt) > 1 {
				learnt = learnt[1:]
			}
			q, ok := e.at(p, g)
			if !ok || isLearnt && p.rule.sum == nil || s.has(g, &q) {
				continue
			}
			switch want := e.want(&q); {
			case string(want) == string(e.b[q.at:q.to]):
				right = append(right, &q)
				s.saving += max(q.plain-againBits, 0)
			case p.rule.sum != nil && want != nil:
				q.was = want
				wrong = append(wrong, &q)
			}
		}
		if s.places = append(s.places, right...); n >= least && len(wrong)*most <= n {
			s.places = append(s.places, wrong...)
		}
		slices.SortStableFunc(s.places, func(a, b *place) int { return a.gap - b.gap })
	}
}

// overlaps reports whether two places contain the same bytes.
func (p *place) overlaps(q *place) bool { return p.at < q.to && q.at < p.to }

// has reports whether a place in a gap is at the bytes of another. The places are in the order of their gaps.
func (s *set) has(gap int, p *place) bool {
	i, _ := slices.BinarySearchFunc(s.places, gap, func(x *place, gap int) int { return x.gap - gap })
	for ; i < len(s.places) && s.places[i].gap == gap; i++ {
		if p.overlaps(s.places[i]) {
			return true
		}
	}
	return false
}

// build returns the parts of a parse.
func (e *explainer) build(p *Parse, fields []*place) *Parse {
	cuts, k := []int{0}, 0
	for g, sp := range e.gaps {
		for ; k < len(fields) && fields[k].gap == g; k++ {
			cuts = append(cuts, fields[k].at, fields[k].to)
		}
		if cuts = append(cuts, sp.to); g < len(e.bodies) {
			cuts = append(cuts, e.bodies[g].at, e.bodies[g].to)
		}
		for _, x := range e.blobs[g] {
			cuts = append(cuts, x.from, x.to)
		}
	}
	slices.Sort(cuts)
	for _, f := range fields {
		for _, at := range []int{min(f.rule.from, len(e.b)), min(f.rule.to, len(e.b))} {
			if i, ok := slices.BinarySearch(cuts, at); !ok { // most are at bodies
				cuts = slices.Insert(cuts, i, at)
			}
		}
	}
	cuts = slices.Compact(cuts)
	index := func(at int) int {
		i, _ := slices.BinarySearch(cuts, at)
		return i
	}
	const perPart = 100 // instructions
	e.take(perPart * len(cuts))
	p.Parts = make([]Part, len(cuts)-1)
	for i := range p.Parts {
		p.Parts[i].Bytes = e.b[cuts[i]:cuts[i+1]:cuts[i+1]]
	}
	for _, all := range e.blobs {
		for _, x := range all {
			for i := index(x.from); i < index(x.to); i++ {
				p.Parts[i].Kind = Blob
			}
		}
	}
	for _, c := range e.bodies {
		i := index(c.at)
		p.Parts[i].Kind, p.Parts[i].Stream = c.kind, c.stream
		if c.length.Width > 0 {
			f := &Field{Form: c.length, Each: len(e.bodies) > 1, Rule: Rule{From: i, To: i + 1, Add: c.add}}
			if right, _ := c.length.number(uint64(c.to - c.at + c.add)); !bytes.Equal(right, p.Parts[i-1].Bytes) {
				f.Wrong, f.right = true, right
			}
			p.Parts[i-1].Kind, p.Parts[i-1].Field = Fact, f
		}
	}
	for _, f := range fields {
		part := &p.Parts[index(f.at)]
		r := &f.rule
		x := Rule{Sum: r.sum, From: index(r.from), To: index(r.to), Content: r.body >= 0, Count: r.kind == count, Start: r.kind.isOffset(), Zeroed: r.isZeroed(), Add: e.add(r)}
		if x.Content {
			x.From = index(e.bodies[r.body].at)
		}
		part.Kind, part.Field = Fact, &Field{Form: f.form, Rule: x, Wrong: f.was != nil, Each: f.pattern.each, right: f.was, After: r.kind.isPrevious()}
	}
	return p
}
