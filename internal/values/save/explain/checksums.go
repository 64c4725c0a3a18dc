package explain

import (
	"math"
	"slices"
)

// The search for checksums between bodies.

// checksums adds the checksums: in the gaps of the first records and the last gap all, and in others those like these.
func (e *explainer) checksums() {
	const searched = 4
	n := len(e.places)
	for class := digest; class <= least; class++ {
		for _, fixed := range []bool{true, false} {
			for _, g := range e.learnt {
				if g < searched || g == len(e.bodies) {
					e.sums(g, class, fixed)
				}
			}
		}
	}
	seen := map[patternKey]bool{}
	first := slices.DeleteFunc(slices.Clone(e.places[n:]), func(p place) bool {
		key := e.key(&p)
		was := seen[key]
		seen[key] = true
		return was || p.gap == len(e.bodies)
	})
	for _, g := range e.learnt {
		if g >= searched && g < len(e.bodies) {
			for i := range first {
				if q, ok := e.at(&first[i], g); ok && string(e.want(&q)) == string(e.b[q.at:q.to]) {
					e.places = append(e.places, q)
				}
			}
		}
	}
}

// sums adds the places in a gap that are equal to a checksum of a class, numbers in bytes that are no digest; with fixed set, of
// spans that are the same for the whole gap, which need few hashes.
func (e *explainer) sums(g int, class sumClass, fixed bool) {
	const perSpot = 10 // instructions
	for _, s := range sums {
		if s.class() != class {
			continue
		}
		spots := e.known(g).spots[s.size]
		if len(spots) == 0 || !e.take(perSpot*len(spots)) {
			continue
		}
		var digests []fixedSum
		if fixed {
			digests = e.fixedSums(g, s)
		}
		for i := range spots {
			x := &spots[i]
			if !x.random && s != plainSum || e.inDigest[x.at] || e.inDigest[x.to-1] {
				continue
			}
			n := len(e.places)
			for i := range digests {
				e.addSum(&digests[i].rule, digests[i].digest, g, x.at, x.to, x.form)
			}
			if !fixed {
				e.movingSums(g, x, s)
			}
			for k := x.at + 1; len(e.places) > n && class == digest && k < x.to-1; k++ { // others at the same bytes are rivals
				e.inDigest[k] = true
			}
		}
	}
}

// movingSums adds the spot if it is a checksum of a span that depends on where the field is.
func (e *explainer) movingSums(g int, x *spot, s *sum) {
	const perRule = 60 // instructions
	if e.unhashed && e.mostHashed()-e.hashed < 2*int64(len(e.b)) {
		return
	}
	rules := e.movingRules(g, x.at, x.to, s)
	e.take(perRule * len(rules))
	for i := range rules {
		rules[i].sum = s
		e.addSum(&rules[i], e.digest(&rules[i], x.at, x.to), g, x.at, x.to, x.form)
	}
}

// movingRules returns the rules of the spans that depend on where a field is, for a checksum from p to q.
func (e *explainer) movingRules(g, p, q int, sum *sum) []rule {
	const most, small = 48, 64 << 10
	if e.rulesAt == (gapSpan{p, q}) {
		return e.rules
	}
	e.rulesAt, e.rules = gapSpan{p, q}, e.rules[:0]
	add := func(s *span) {
		if r, ok := e.rule(s, g, p, q); ok {
			e.rules = append(e.rules, r)
		}
	}
	for i := 0; i < len(spans) && e.isLikely(g, p, q, sum); i++ {
		if s := &spans[i]; s.sum > 0 && !s.isFixedSum() && !e.isBroken(s.kind, g) {
			add(s)
		}
	}
	if g < len(e.bodies) && len(e.b) < small && !e.isBroken(nextFrom, g) {
		before := e.bodies[g].from - q
		for n := before - 1; n > 0 && before < most; n-- { // from any offset after it
			add(&span{kind: nextFrom, arg: n, sum: 6 + math.Log2(float64(before))})
		}
	}
	const name = 8 // bytes, as of "sha256="
	if sp := e.gaps[g]; g == len(e.bodies) && !e.isBroken(before, g) {
		for n := 1; n <= min(name, p-sp.from) && isWritten(e.b[p-n:p]); n++ { // up to a line break or name before it
			if c := e.b[p-n]; n == p-sp.from || c == '\n' || c == '\r' {
				add(&span{kind: before, arg: n, sum: 7})
			}
		}
	}
	return e.rules
}

// isFixedSum reports whether the checksums of the span are fixedSums.
func (s *span) isFixedSum() bool { return s.fixed && s.kind != file }

// isBroken reports whether a span of a field in a gap contains a value with damage, of which no checksum is right.
func (e *explainer) isBroken(kind spanKind, gap int) bool {
	isCut := func(i int) bool { return i >= 0 && i < len(e.bodies) && e.bodies[i].kind == Cut }
	switch {
	case kind.isNext():
		return isCut(gap)
	case kind.isPrevious():
		return isCut(gap - 1)
	}
	return e.hasCut && (kind != before || gap > 0)
}

// fixedSums returns the checksums of a kind in a gap.
func (e *explainer) fixedSums(g int, s *sum) (all []fixedSum) {
	for i := range spans {
		if of := &spans[i]; of.sum > 0 && of.isFixedSum() && !e.isBroken(of.kind, g) {
			if r, ok := e.rule(of, g, e.gaps[g].from, e.gaps[g].from); ok {
				r.sum = s
				all = append(all, fixedSum{r, e.digest(&r, 0, 0)})
			}
		}
	}
	return all
}

// addSum adds the place if it is the digest of a rule.
func (e *explainer) addSum(r *rule, d []byte, g, p, q int, form Form) {
	const few = 64 // bytes between a body and a sum of bytes: one of more numbers is equal by chance
	if d == nil || !form.isDigest(d, e.b[p:q]) || r.sum == plainSum && min(p-e.gaps[g].from, e.gaps[g].to-q) > few {
		return
	}
	bits := fieldPrice + r.sum.bits + r.span.sum
	if form.Big && form.Width <= mostDigest {
		bits += bigSum
	}
	e.places = append(e.places, place{at: p, to: q, gap: g, form: form, rule: *r, plain: r.sum.plain(form, d), bits: bits})
}
