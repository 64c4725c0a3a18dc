package explain

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/gdwire/gdwire"
)

// Options configures Find.
type Options struct {
	Formats      []gdwire.Format // nil for Godot 4 and 3
	Keep, Derive []int           // offsets of numbers that are no fields, and of those that are
}

// Find returns the cheapest explanation of b, or nil if b contains no values, or is too large a search. The parse
// shares memory with b. The work is bounded by the size of b.
func Find(b []byte, o *Options) *Parse {
	s := newSearch(o, len(b))
	p := s.find(b, s.Formats, 0)
	if p != nil {
		p.dropCut(&s.Options)
		p.correct()
	}
	return p
}

func newSearch(o *Options, size int) *search {
	const fixed, perByte = 16 << 20, 8
	s := &search{left: fixed + perByte*size}
	if o != nil {
		s.Options = *o
	}
	if s.Formats == nil {
		s.Formats = []gdwire.Format{gdwire.Godot4, gdwire.Godot3}
	}
	return s
}

// A link is the best row of candidates that ends with one of them.
type link struct {
	total float64
	prev  int // or -1
	gap   int // before it, or -1
}

// chain returns the candidates with the highest saving together, and this saving, without the candidates in not.
func chain(found []body, size int, not func(*body) bool) ([]*body, float64) {
	const last = 24 // candidates that are tried as the previous one, beside the best before these
	order := make([]*body, 0, len(found))
	for i := range found {
		if not == nil || !not(&found[i]) {
			order = append(order, &found[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *body) int { return a.to - b.to })
	links := make([]link, len(order))
	best := make([]int, len(order)) // the best of the first
	end, total := -1, 0.0
	for i, c := range order {
		links[i] = link{c.saving - gap(c.from), -1, -1}
		if c.from == 0 {
			links[i].total = c.saving
		}
		n, _ := slices.BinarySearchFunc(order[:i], c.from+1, func(x *body, at int) int { return x.to - at })
		for k := max(0, n-last); k < n; k++ {
			links[i].try(c, order[k], &links[k], k)
		}
		if n > last {
			k := best[n-last-1]
			links[i].try(c, order[k], &links[k], k)
		}
		best[i] = i
		if i > 0 && links[best[i-1]].total > links[i].total {
			best[i] = best[i-1]
		}
		t := links[i].total
		if c.to < size {
			t -= gap(size - c.to)
		}
		if t > total {
			end, total = i, t
		}
	}
	var row []*body
	for i := end; i >= 0; i = links[i].prev {
		row = append(row, order[i])
	}
	slices.Reverse(row)
	return row, total
}

// try makes x, the k-th candidate, the one before c if that saves more.
func (l *link) try(c, x *body, before *link, k int) {
	g := c.from - x.to
	t := before.total + c.saving
	if before.gap == g && g > 0 {
		t -= sameGap
	} else {
		t -= gap(g)
	}
	if c.kind != x.kind || c.length != x.length {
		t -= switchPrice
		if c.kind == Value && c.length.Width == 0 {
			t -= switchPrice
		}
	}
	if c.length.Width > 0 && c.length == x.length && c.add == x.add && c.frame > sameLength && !c.wrong {
		t += c.frame - sameLength
	}
	if t > l.total {
		*l = link{t, k, g}
	}
}

// A search finds explanations within a budget, which streams in streams share.
type search struct {
	Options
	left int // bytes that may be read or decompressed
}

// find returns the cheapest explanation of b, or nil.
func (s *search) find(b []byte, formats []gdwire.Format, depth int) *Parse {
	rows := s.rows(b, formats, depth)
	if s.left <= 0 || len(rows) == 0 {
		return nil // a part of a search finds parts of a file
	}
	const most = 8
	var parses []*Parse
	seen := map[uint64]bool{}
	sums := digests{b: b, left: min(fixedHashed, 4096*len(b)) + hashes*len(b), known: map[digestKey][]byte{}}
	for _, r := range rows[:min(len(rows), most)] {
		if r.saving <= rows[0].saving-near || r.saving < enoughBodies && depth == 0 {
			break
		}
		key := r.key()
		proved := r.isProved(len(b))
		if seen[key] || !proved && len(r.bodies) > mostUnproved {
			continue
		}
		seen[key] = true
		for _, p := range explain(&sums, &s.Options, r) {
			if proved || p.hasSum() {
				parses = append(parses, p)
			}
		}
	}
	slices.SortStableFunc(parses, func(a, b *Parse) int { return cmp.Compare(b.Saving, a.Saving) })
	parses = s.chosen(parses, depth)
	if len(parses) == 0 || parses[0].Saving < Enough && (depth == 0 || parses[0].Saving < enoughInside) {
		return nil
	}
	first := parses[0]
	for _, p := range parses[1:] {
		switch same := slices.Equal(first.leaves(""), p.leaves("")); {
		case p.Saving > first.Saving-Margin, same && p.Saving > first.Saving-p.margin:
			first.Rivals = append(first.Rivals, p)
		case p.Saving > first.Saving-Doubt && !same:
			first.doubtful = true
		}
	}
	if _, secret := first.Secret(); sums.ended && secret == 0 {
		first.unsearched = first.odd(s.Keep)
	}
	return first
}

const (
	near         = 40 // bits: rows within these are explained
	mostUnproved = 16 // bodies

	hashes      = 24 // the number of times that all bytes may be hashed, and
	fixedHashed = 4 << 20
)

// inside is find for a content of a stream.
func (s *search) inside(content []byte, format gdwire.Format, depth int) *Parse {
	return s.find(content, []gdwire.Format{format}, depth)
}

// rows returns the best rows of candidates, the best first.
func (s *search) rows(b []byte, formats []gdwire.Format, depth int) (all []row) {
	best := 0.0
	add := func(r row) {
		if len(r.bodies) > 0 && r.saving > best-near {
			all = append(all, r)
			best = max(best, r.saving)
		}
	}
	var known [][2]int
	for _, format := range formats {
		r := newReader(format)
		f := &finder{left: &s.left, explain: s.inside, reader: r, b: b, format: format, depth: depth, known: known}
		found := f.bodies()
		known = sureSpans(known, found)
		s.left -= r.read
		r.d.Release()
		if s.left <= 0 {
			return nil
		}
		found = slices.DeleteFunc(found, func(c body) bool { return c.length.Width > 0 && slices.Contains(s.Keep, c.from) && depth == 0 })
		bodies, saving := chain(found, len(b), nil)
		if saving < best-near {
			continue
		}
		add(row{format, bodies, saving})
		if len(found) > fewBodies {
			continue
		}
		other := func(not func(*body) bool) {
			bodies, saving := chain(found, len(b), not)
			add(row{format, bodies, saving})
		}
		const weak = 20
		other(func(c *body) bool { return c.kind == Value && c.length.Width == 0 && c.saving < weak })
		const most = 6
		for k, c := range bodies {
			if k < most || k == len(bodies)-1 {
				other(func(x *body) bool { return x == c })
			}
		}
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(b.saving, a.saving) })
	return all
}

// sureSpans adds the spans of values that save so much that they are of no other format.
func sureSpans(known [][2]int, found []body) [][2]int {
	const much = 1000
	for i := range found {
		if c := &found[i]; c.kind == Value && c.saving > much && !c.bytes && (len(known) == 0 || c.at >= known[len(known)-1][1]) {
			known = append(known, [2]int{c.at, c.to})
		}
	}
	return known
}

// chosen drops the explanations that Options.Keep and Derive exclude.
func (s *search) chosen(parses []*Parse, depth int) []*Parse {
	if depth > 0 {
		return parses
	}
	without := func(at int, field bool) []*Parse {
		return slices.DeleteFunc(slices.Clone(parses), func(p *Parse) bool { return p.isField(at) == field })
	}
	for _, at := range s.Keep {
		parses = without(at, true)
	}
	for _, at := range s.Derive {
		if some := without(at, false); len(some) > 0 {
			parses = some
		}
	}
	return parses
}

var seed = maphash.MakeSeed()

// key identifies the row.
func (r *row) key() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, c := range r.bodies {
		fmt.Fprint(&h, r.format, c.from, c.at, c.to, c.kind, c.wrong, " ")
	}
	return h.Sum64()
}

// isProved reports whether the bodies cannot be parts of a table of small numbers: they contain text or streams, or are
// most of the bytes.
func (r *row) isProved(size int) bool {
	own := size
	for _, c := range r.bodies {
		if c.text || c.kind == Packed {
			return true
		}
		own -= c.to - c.from
	}
	return own <= 16+size/16
}
