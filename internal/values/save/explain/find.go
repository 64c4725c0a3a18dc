package explain

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/gdwire/gdwire"
)

// Options configures Find.
type Options struct {
	Formats      []gdwire.Format // nil for Godot 4 and 3
	Keep, Derive []int           // offsets of numbers that are no fields, and of those that are
	Ended        *BoundError     // set by Find, if a bound ended the search

	general bool // in tests: records are not read by their pattern
}

// Find returns the cheapest explanation of b, or nil if b contains no values, or is too large a search. The parse
// shares memory with b. The work is bounded by the size of b.
func Find(b []byte, o *Options) *Parse {
	s := newSearch(o, len(b))
	p := s.find(b, s.Formats, 0)
	if o != nil {
		o.Ended = s.ended
	}
	if p != nil {
		p.dropCut(&s.Options)
		p.correct()
	}
	return p
}

func newSearch(o *Options, size int) *search {
	s := &search{unpacker: newUnpacker(newBudget(size))}
	if o != nil {
		s.Options = *o
	}
	if s.Formats == nil {
		s.Formats = []gdwire.Format{gdwire.Godot4, gdwire.Godot3}
	}
	return s
}

// A search finds explanations within a budget.
type search struct {
	Options
	*unpacker
}

// find returns the cheapest explanation of b, or nil.
func (s *search) find(b []byte, formats []gdwire.Format, depth int) *Parse {
	rows := s.rows(b, formats, depth)
	if s.ended != nil || len(rows) == 0 {
		return nil // a part of a search finds parts of a file
	}
	const most = 8
	var parses []*Parse
	seen := map[uint64]bool{}
	sums := digests{b: b, budget: newBudget(len(b)), known: map[digestKey][]byte{}}
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
		switch same := first.isSame(p); {
		case p.Saving > first.Saving-Margin, same && p.Saving > first.Saving-p.margin:
			first.Rivals = append(first.Rivals, p)
		case p.Saving > first.Saving-Doubt && !same:
			first.doubtful = true
		}
	}
	if _, secret := first.Secret(); secret == 0 && (sums.ended != nil || first.isQuoted()) {
		first.unsearched = first.odd(s.Keep)
	}
	for i, at := range first.starts() { // and in streams
		if i < len(first.Parts) && first.Parts[i].Kind == Packed && first.unsearched == nil && !slices.Contains(s.Keep, at) {
			if in := first.Parts[i].Stream.Inner.unsearched; in != nil {
				first.unsearched = &DoubtError{Offset: at, Was: in.Was, First: in.First, Second: in.Second}
			}
		}
	}
	return first
}

const (
	near         = 40 // bits: rows within these are explained
	mostUnproved = 16 // bodies
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
		r := newReader(format, s.budget)
		f := &finder{unpacker: s.unpacker, explain: s.inside, reader: r, b: b, format: format, depth: depth, known: known, general: s.general}
		found := f.bodies()
		known = sureSpans(known, f.sure, found)
		r.d.Release()
		if s.ended != nil {
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

// sureSpans adds the spans of values, and of records, that save so much that they are of no other format.
func sureSpans(known, records [][2]int, found []body) [][2]int {
	known = slices.Concat(known, records)
	for i := range found {
		if c := &found[i]; c.kind != Packed && c.saving > muchSaving && !c.bytes {
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
		maphash.WriteComparable(&h, [5]int{int(r.format), c.from, c.at, c.to, int(c.kind)})
		maphash.WriteComparable(&h, c.wrong)
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
		if c.kind == Value {
			own -= c.to - c.from
		}
	}
	return own <= 16+size/16
}
