package explain

import (
	"math"
	"slices"
)

// The cheapest explanation of the bytes between bodies.

// schedule returns the cheapest explanation of a gap by places, and what it saves against the game's own bytes.
func (e *explainer) schedule(g int, all []*place, not func(*place) bool, changed []*place) (set []*place, saving float64) {
	for _, sp := range e.windows(g) {
		var some []*place
		for _, p := range all {
			if p.at >= sp.from && p.to <= sp.to {
				some = append(some, p)
			}
		}
		w := e.plain[sp.from]
		if w == nil {
			w = &plainWindow{own: e.known(g).own(e.b, sp)}
			w.cost = w.cheapest(sp, some, func(p *place) bool { return !p.isText }, 0)[sp.to-sp.from].cost
			e.plain[sp.from] = w
		}
		const perByte = 150 // instructions
		from := 0           // before it, all is as it was
		if w.best != nil {
			i := slices.IndexFunc(some, func(p *place) bool { return not != nil && not(p) || slices.Contains(changed, p) })
			if from = sp.to - sp.from + 1; i >= 0 {
				from = some[i].to - sp.from
			}
		}
		e.take(perByte * (sp.to - sp.from - from))
		ends := w.cheapest(sp, some, not, from)
		if w.best == nil {
			w.best = ends
		}
		n := len(set)
		for p := sp.to; p > sp.from; {
			last := &ends[p-sp.from]
			if p -= last.size; last.place != nil && !last.place.isText {
				set = append(set, last.place)
			}
		}
		slices.Reverse(set[n:])
		saving += w.cost - ends[sp.to-sp.from].cost
	}
	return set, saving
}

// windows returns the parts of a gap that can contain places.
func (e *explainer) windows(g int) []gapSpan {
	const longest = mostPascal + 8 // place
	if from, to := e.gaps[g].from, e.gaps[g].to; to-from > e.start(g)+maxGap+2*longest {
		return []gapSpan{{from, from + e.start(g) + longest}, {to - maxGap - longest, to}}
	}
	return e.gaps[g : g+1]
}

// cheapest returns the endings for all offsets of a part of a gap, those before from as they were. all is in the order of ends.
func (w *plainWindow) cheapest(sp gapSpan, all []*place, not func(*place) bool, from int) []ending {
	const rounding = 1e-9
	ends := make([]ending, sp.to-sp.from+1)
	copy(ends, w.best[:min(from, len(w.best))])
	for len(all) > 0 && all[0].to < sp.from+from {
		all = all[1:]
	}
	for i := max(from, 1); i < len(ends); i++ {
		end := &ends[i]
		end.cost = math.Inf(1)
		for k, width := range widths {
			if width <= i && ends[i-width].cost+w.own[i][k] < end.cost-rounding {
				*end = ending{ends[i-width].cost + w.own[i][k], width, nil}
			}
		}
		for ; len(all) > 0 && all[0].to == sp.from+i; all = all[1:] {
			p := all[0]
			if not != nil && not(p) {
				continue
			}
			if c := ends[p.at-sp.from].cost + p.price; c < end.cost {
				*end = ending{c, p.to - p.at, p}
			}
		}
	}
	return ends
}
