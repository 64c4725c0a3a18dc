package explain

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// The sweep of all bytes for bodies, the pattern of records, and what is damaged between and in bodies.

// bodies finds all candidates.
func (f *finder) bodies() []body {
	f.ends = make([]uint64, len(f.b)/64+1)
	const perByte = 30  // instructions
	sure, until := 0, 0 // of a sure body
	for p := 0; f.ended == nil; p++ {
		if p < until && p > sure+inside {
			p = until
		}
		for f.isKnown(p) {
			p = max(p, f.known[0][1])
			f.known = f.known[1:]
		}
		next := f.next(p)
		if f.take(perByte * (next - p)); next+4 > len(f.b) {
			break
		} else if next > p {
			p = next - 1
			continue
		}
		if p < f.deep {
			continue
		}
		f.at = p
		n := len(f.found)
		f.candidates(p)
		if n == len(f.found) {
			continue
		}
		if f.learn(); len(f.shapes) > 0 {
			if end := f.follow(n, p); end > p {
				p = end - 1
				continue
			}
		}
		for i := n; i < len(f.found); i++ {
			c := &f.found[i]
			if p < until && c.length.Width > 0 && c.kind == Value && !c.wrong { // the number of a record can be the header of a Dictionary of the records after it
				until = 0
			}
			if c.isSure(sureSaving) && c.end() > until {
				sure, until = c.at, c.end()
			}
		}
	}
	if f.ended != nil {
		return nil
	}
	f.at = len(f.b)
	f.broken()
	f.untyped()
	f.sort()
	f.weighInside()
	return f.found
}

// sort sorts the candidates by where they begin, those of the same offset as they were found. Most are in order.
func (f *finder) sort() {
	const perBody = 500 // instructions
	found := f.found
	if slices.IsSortedFunc(found, func(a, b body) int { return a.at - b.at }) || !f.take(perBody*len(found)) {
		return
	}
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int { return cmp.Or(found[i].at-found[k].at, i-k) })
	f.found = make([]body, len(found))
	for i, k := range order {
		f.found[i] = found[k]
	}
}

// weighInside adds what explains the bytes in values: other bodies in their bytes, and after damage, the values that follow it.
func (f *finder) weighInside() {
	left := max(8*fewBodies, len(f.found)+fewBodies)
	chained := func(i, from, to int, damaged bool) (row []*body, saving float64) {
		n, _ := slices.BinarySearchFunc(f.found[i:], to, func(x body, to int) int { return x.at - to })
		if left -= n; left > 0 && f.ended == nil {
			row, saving = f.chain(f.byEnd(f.found[i:i+n]), from, to, damaged, func(x *body) bool {
				return x.from < from || x.to > to || damaged && (x.kind != Value || x.length.Width > 0)
			})
		}
		return row, max(0, saving)
	}
	var last *body
	for i := range f.found {
		c := &f.found[i]
		if c.bytes && len(f.found) < fewBodies {
			_, c.inside = chained(i, c.at+1, c.end(), false)
		}
		switch {
		case c.read == 0:
			continue
		case last != nil && c.at == last.at && c.to == last.to && c.read == last.read:
			c.inside, c.text = last.inside, last.text
		default:
			row, saving := chained(i, c.end(), c.to, true)
			c.inside += saving
			c.text = c.text || slices.ContainsFunc(row, func(x *body) bool { return x.text })
		}
		last = c
	}
	for i := range f.found {
		f.found[i].saving += f.found[i].inside
	}
}

// untyped adds the Arrays and Dictionaries whose type is damaged, before their first value.
func (f *finder) untyped() {
	n := len(f.found)
	for i := range n {
		c := &f.found[i]
		p := c.at - containerSize
		if c.kind != Value || c.length.Width > 0 || p < 0 || f.isEnd(c.at) || f.isContainer(f.b[p:]) {
			continue
		}
		count := binary.LittleEndian.Uint32(f.b[p+4:])
		if int(count) == c.to-c.at { // a length
			continue
		}
		for at := max(lengthSize, c.at-maxLost); at < p; at++ { // a length fits
			if lengths[0].read(f.b[at-lengthSize:at]) == uint64(len(f.b)-at) {
				lost := c.at - at
				f.framed(&body{at: at, to: len(f.b), kind: Cut, read: lost}, &weighed{size: lost, read: lost, saving: -2 * typeWrong, cut: true}, lengths[0].Form, lengths[0].bits)
			}
		}
		if f.isContainerType(f.b[p:]) || isAlmostHeader(f.b[p:]) && count > 0 && count <= uint32(len(f.b)-p)/containerSize {
			f.damagedAt(p, weighed{size: containerSize, read: containerSize, saving: -typeWrong, cut: true})
		}
	}
}

// learn learns the pattern from the latest candidates.
func (f *finder) learn() {
	const most, every = 16 * mostLearnt, 4 * mostLearnt // candidates
	if f.general || len(f.found) < f.again {
		return
	}
	f.again = len(f.found) + max(every, len(f.found))
	latest := f.found[max(0, len(f.found)-most):]
	row, _ := f.chain(f.byEnd(latest), 0, 0, false, func(c *body) bool { return c.kind == Cut })
	row = row[max(0, len(row)-mostLearnt-1):]
	if len(row) <= mostLearnt {
		return
	}
	shapes := make([]shape, mostLearnt)
	for i := range shapes {
		shapes[i] = row[i+1].shape(row[i].to)
	}
	for n := 1; n <= mostShapes; n++ {
		if slices.Equal(shapes[n:], shapes[:len(shapes)-n]) {
			f.shapes = shapes[:n]
			return
		}
	}
	for _, s := range shapes[:mostLearnt/2] { // others are damaged
		same := 0
		for _, x := range shapes {
			if x == s {
				same++
			}
		}
		if same >= leastLearnt {
			f.shapes = []shape{s}
			return
		}
	}
}

// follow adds the bodies after those from the n-th candidate on, as far as they follow the pattern, and returns where the last
// of them ends, or p if there are none.
func (f *finder) follow(n, p int) int {
	shapes := f.shapes
	for i := n; i < len(f.found); i++ {
		for k, s := range shapes {
			c := f.found[i]
			if got := c.shape(c.from - s.gap); c.wrong || got != s {
				continue
			}
			if end := f.run(c.to, k+1); end > c.to {
				return end
			}
		}
	}
	return p
}

// run adds the bodies after an offset that follow the pattern from the k-th shape on, and returns where the last of them ends.
func (f *finder) run(end, k int) int {
	from, saving := end, 0.0
	for f.ended == nil {
		s := &f.shapes[k%len(f.shapes)]
		at := end + s.gap + s.length.Width
		if at+4 > len(f.b) || f.isKnown(at) {
			break
		}
		n, digits := len(f.found), f.digits
		switch {
		case s.kind != Value:
			f.candidates(at)
		case s.length.Width > 0:
			f.packet(at, s.length)
		default:
			f.value(at)
		}
		f.noteEnds(n)
		i := slices.IndexFunc(f.found[n:], func(c body) bool { return !c.wrong && c.shape(end) == *s })
		if i < 0 {
			f.found, f.digits = f.found[:n], digits
			break
		}
		end = f.found[n+i].to
		saving += f.found[n+i].saving
		k++
	}
	if saving > muchSaving {
		f.sure = append(f.sure, [2]int{from, end})
	}
	return end
}

// packet adds the value at p after a length.
func (f *finder) packet(p int, length Form) {
	w := f.weigh(p)
	if w.cut || w.size == 0 {
		return
	}
	i := slices.IndexFunc(lengths, func(l lengthForm) bool { return l.Form == length })
	f.framed(&body{at: p, to: p + w.size, kind: Value, bytes: w.bytes, text: w.text}, &w, length, lengths[i].bits)
}

// isKnown reports whether p is in values of another format that save much.
func (f *finder) isKnown(p int) bool { return len(f.known) > 0 && p > f.known[0][0]+inside }

// broken adds damaged packets between others: values that cannot be read after lengths that fit, and wrong lengths.
func (f *finder) broken() {
	for i := range lengths[:2] {
		l := &lengths[i]
		starts, ends := []int{len(f.b)}, []int{0} // of packets
		for k := range f.found {
			if c := &f.found[k]; c.length == l.Form && !c.wrong && c.kind != Cut {
				starts, ends = append(starts, c.from), append(ends, c.to)
			}
		}
		slices.Sort(starts)
		var gaps [][2]int // where a gap begins, and the next start
		for _, p := range ends {
			if k, ok := slices.BinarySearch(starts, p); !ok && len(ends) > 1 {
				gaps = append(gaps, [2]int{p, k})
			}
		}
		const few, most = 8, 4 // records, and gaps for each that follows another
		if len(gaps) > few && len(gaps) > most*(len(ends)-len(gaps)) {
			continue // records begin with bytes of the game's own
		}
		for _, g := range gaps {
			f.damaged(g[0], starts[g[1]:], l.Form, l.bits)
		}
	}
}

// damaged adds the damaged packet at p before others: up to where its length says, where its value ends, or the next packet.
func (f *finder) damaged(p int, starts []int, length Form, frame float64) {
	if p+8 > len(f.b) {
		return
	}
	v := length.read(f.b[p : p+4])
	c := body{from: p, at: p + 4, to: starts[0], kind: Cut, length: length, frame: frame, bytes: true}
	isStart := func(at int) bool { _, ok := slices.BinarySearch(starts, at); return ok }
	told := int(min(uint64(c.at)+v, math.MaxInt32))
	fits := v%4 == 0 && isStart(told)
	w := f.reader.value(f.b[c.at:])
	switch {
	case fits:
		c.to = told
	case !w.cut && isStart(c.at+w.size):
		c.to = c.at + w.size
	}
	isEdge := p == 0 || c.to == len(f.b)
	const least = 12 // bytes: a null after its length can be any two numbers
	if c.to < p+least || isEdge && (c.to-p)%4 != 0 {
		return
	}
	if w.size > c.to-c.at {
		w = f.reader.value(f.b[c.at:c.to])
	}
	c.saving = w.saving + plainNumber(v, 4) - frame
	isWhole := !w.cut && w.size == c.to-c.at
	switch {
	case w.size == 0 && !isAlmostHeader(f.b[c.at:]), fits && isWhole, isEdge && !fits && c.to == len(f.b):
		return
	case fits:
		c.saving -= brokenPrice
	case isWhole:
		c.kind, c.wrong = Value, true
	}
	if !fits {
		c.saving -= wrongBits(v, uint64(c.to-c.at))
	}
	if n := c.to - c.from; !fits && !isWhole && n > smallGap { // as much as the game's own, and what is in it saves as much
		c.saving -= gaps()(n)
	}
	if !fits && isEdge {
		c.saving -= edgePrice
	}
	f.found = append(f.found, c)
}
