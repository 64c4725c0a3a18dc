package explain

import "slices"

const (
	mostLearnt = 64 // records whose pattern is learnt; the others are read by it
	mostShapes = 4  // bodies of a record
)

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
		n, _ := slices.BinarySearchFunc(order[max(0, i-last):i], c.from+1, func(x *body, at int) int { return x.to - at })
		if n += max(0, i-last); n == i-last {
			n, _ = slices.BinarySearchFunc(order[:i], c.from+1, func(x *body, at int) int { return x.to - at })
		}
		first := max(0, n-last)
		if n > 0 { // those before first cannot be the best
			l := links[i]
			l.try(c, order[n-1], &links[n-1], n-1)
			least := l.total - c.saving - c.frame
			for k := n - 1; k > first; k-- {
				if links[best[k-1]].total < least {
					first = k
					break
				}
			}
		}
		for k := first; k < n; k++ {
			links[i].try(c, order[k], &links[k], k)
		}
		if first > 0 {
			k := best[first-1]
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
	if (c.kind == Packed) != (x.kind == Packed) || c.length != x.length {
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

// A shape is where a body of a record is, and how.
type shape struct {
	gap      int // after the body before it
	kind     Kind
	length   Form
	add      int
	encoding bool
}

// shape returns the shape of a body after one that ends at an offset.
func (c *body) shape(end int) shape {
	return shape{c.from - end, c.kind, c.length, c.add, c.stream != nil && c.stream.encoding != nil}
}

// A pattern of records is the shapes of their bodies, in turn.
type recordPattern struct {
	shapes []shape
	again  int // candidates after which it is learnt again
}

// learn learns the pattern from the latest candidates.
func (f *finder) learn() {
	const most, every = 16 * mostLearnt, 4 * mostLearnt // candidates
	if f.general || len(f.found) < f.records.again {
		return
	}
	f.records.again = len(f.found) + max(every, len(f.found)/8)
	latest := f.found[max(0, len(f.found)-most):]
	row, _ := chain(latest, 0, func(c *body) bool { return c.kind == Cut })
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
			f.records.shapes = shapes[:n]
			return
		}
	}
}

// follow adds the bodies after those from the n-th candidate on, as far as they follow the pattern, and returns where the last
// of them ends, or p if there are none.
func (f *finder) follow(n, p int) int {
	shapes := f.records.shapes
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
		s := &f.records.shapes[k%len(f.records.shapes)]
		at := end + s.gap + s.length.Width
		if at+4 > len(f.b) || f.isKnown(at) {
			break
		}
		n, digits := len(f.found), f.digits
		f.candidates(at)
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
