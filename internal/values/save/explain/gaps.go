package explain

import (
	"encoding/binary"
	"math"
	"slices"
)

// The cheapest explanation of the bytes between bodies.

// known returns what is known of a gap.
func (e *explainer) known(g int) *known {
	sp := e.gaps[g]
	all := e.gapsKnown[sp]
	if all != nil {
		return all
	}
	all = &known{windows: map[gapSpan]*window{}}
	e.gapsKnown[sp] = all
	e.positions(g, func(p int) {
		hexRun := 0
		for p+hexRun < sp.to && hexRun <= 64 && isHex(e.b[p+hexRun]) {
			hexRun++
		}
		afterHex := p > sp.from && isHex(e.b[p-1])
		const around = 4
		isInText := p >= sp.from+around && p+2*around <= sp.to && isWritten(e.b[p-around:p+2*around]) || p == 0 && sp.to > around && isMagic(e.b[:around])
		for size, forms := range forms {
			if len(forms) == 0 || p+size > sp.to {
				continue
			}
			bytes, random := e.b[p:p+size], false
			isNumber := !isInText
			if isNumber {
				random = isRandom(bytes)
				isNumber = random || size == plainSum.size && plainSum.isLikely(bytes)
			}
			for _, form := range forms {
				q := p + form.Width
				switch {
				case q > sp.to:
				case form.Text != 0 && (hexRun < form.Width || hexRun > form.Width && afterHex):
				case form.Text == 0 && (!isNumber || form.Width > size && binary.LittleEndian.Uint32(e.b[p+size:]) != 0):
				default:
					all.spots[size] = append(all.spots[size], spot{p, q, form, random || form.Text != 0})
				}
			}
		}
		for i := range lengths {
			l := &lengths[i]
			if q := p + l.Width; q <= sp.to {
				if n := pascalSize(e.b[p:sp.to], l.Form); n > 0 {
					bits := fieldPrice + l.bits + pascalBits*float64(n)
					all.texts = append(all.texts, &place{at: p, to: q + n, isText: true, bits: bits, price: bits})
				}
			}
		}
	})
	slices.SortStableFunc(all.texts, func(a, b *place) int { return a.to - b.to })
	return all
}

// An ending is the price of the bytes up to an offset of a gap, and the last part of these: a place, or bytes of the game's own.
type ending struct {
	cost  float64
	size  int
	place *place
}

// window returns a part of the gap.
func (x *known) window(b []byte, sp gapSpan) *window {
	w := x.windows[sp]
	if w != nil {
		return w
	}
	w = &window{own: make([][len(widths)]float64, sp.to-sp.from+1)}
	x.windows[sp] = w
	for i := range w.own {
		for k, width := range widths {
			if w.own[i][k] = math.Inf(1); width <= i {
				w.own[i][k] = own(b, sp.from+i-width, width)
			}
		}
	}
	w.cost = w.cheapest(sp, within(x.texts, sp), nil)[sp.to-sp.from].cost
	return w
}

// schedule returns the cheapest explanation of a gap by places, and what it saves against the game's own bytes.
func (e *explainer) schedule(g int, all []*place, not func(*place) bool) (set []*place, saving float64) {
	for _, sp := range e.windows(g) {
		w, some := e.known(g).window(e.b, sp), within(all, sp)
		const perByte = 150 // instructions
		e.take(perByte * (sp.to - sp.from))
		ends := w.cheapest(sp, some, not)
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

// within returns the places in a part of a gap.
func within(all []*place, sp gapSpan) (some []*place) {
	for _, p := range all {
		if p.at >= sp.from && p.to <= sp.to {
			some = append(some, p)
		}
	}
	return some
}

// windows returns the parts of a gap that can contain places.
func (e *explainer) windows(g int) []gapSpan {
	const longest = mostPascal + 8 // place
	if from, to := e.gaps[g].from, e.gaps[g].to; to-from > e.start(g)+maxGap+2*longest {
		return []gapSpan{{from, from + e.start(g) + longest}, {to - maxGap - longest, to}}
	}
	return e.gaps[g : g+1]
}

// cheapest returns the endings for all offsets of a part of a gap. all is in the order of ends.
func (w *window) cheapest(sp gapSpan, all []*place, not func(*place) bool) []ending {
	const rounding = 1e-9
	ends := make([]ending, sp.to-sp.from+1)
	for i := 1; i < len(ends); i++ {
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
