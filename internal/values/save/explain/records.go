package explain

import (
	"slices"

	"github.com/gdwire/gdwire"
)

const (
	mostLearnt  = 64 // records whose pattern is learnt; the others are read by it
	leastLearnt = 24 // of these, if the others are damaged
	mostShapes  = 4  // bodies of a record

	containerSize = 8 // of the header of an Array or Dictionary
)

// A body is a candidate: a value, perhaps after its length, or a stream.
type body struct {
	from, at, to int // from is the start of the length
	kind         Kind
	length       Form
	add          int  // the length counts so many bytes more
	wrong        bool // the length does not fit
	stream       *Stream
	saving       float64
	frame        float64 // of it, for the kind of length
	inside       float64 // saved by what explains the bytes in it
	read         int     // of a value that is damaged in the middle: the bytes before the damage
	bytes        bool    // contains bytes or a text that can contain values
	text         bool    // contains text
}

// A row is a choice of bodies.
type row struct {
	format gdwire.Format
	bodies []*body
	saving float64
}

// A link is the best row of candidates that ends with one of them.
type link struct {
	total float64
	prev  int // or -1
	gap   int // before it, or -1
	rows  int // values without lengths that follow another
}

// end returns where the bytes end that are read as the value.
func (c *body) end() int {
	if c.read > 0 {
		return c.at + c.read
	}
	return c.to
}

// isSure reports whether nothing else begins in the body: the body saves so much, or is a large value, and contains no bytes that can
// contain values.
func (c *body) isSure(least float64) bool {
	const large = 1 << 10
	if c.kind == Value && c.to-c.at >= large {
		least = near
	}
	return c.saving > least && !c.bytes
}

// isDamaged reports whether the body is damage.
func (c *body) isDamaged() bool { return c.wrong || c.kind == Cut }

// byEnd returns the candidates in the order of where they end.
func (b *Budget) byEnd(found []body) []*body {
	const perBody = 200 // instructions
	b.take(perBody * len(found))
	order := make([]*body, len(found))
	for i := range found {
		order[i] = &found[i]
	}
	slices.SortStableFunc(order, func(a, b *body) int { return a.to - b.to })
	return order
}

// chain returns the candidates with the highest saving together from an offset to another, and this saving, without the candidates
// in not. They are in the order of byEnd. Inside a value, values without lengths follow each other.
func (b *Budget) chain(order []*body, from, to int, inside bool, not func(*body) bool) ([]*body, float64) {
	const last = 24 // candidates that are tried as the previous one, beside the best before these
	if not != nil {
		order = slices.DeleteFunc(slices.Clone(order), not)
	}
	ends := make([]int, len(order))
	links := make([]link, len(order))
	best := make([]int, len(order)) // the best of the first
	end, total, looks, tries, cost := -1, 0.0, 0, 0, costs{gaps(), rowPrice}
	if inside {
		cost.row = 0
	}
	for i, c := range order {
		ends[i] = c.to
		links[i] = link{c.saving, -1, -1, 0}
		if c.from > from {
			links[i].total -= cost.gap(c.from - from)
		}
		n, _ := slices.BinarySearch(ends[:i], c.from+1)
		first := max(0, n-last)
		if n > 0 { // those before first cannot be the best
			l := links[i]
			l.try(c, order[n-1], &links[n-1], n-1, &cost)
			tries++
			least := l.total - c.saving - c.frame
			for k := n - 1; k > first; k-- {
				if links[best[k-1]].total < least {
					first = k
					break
				}
			}
		}
		looks += n - first
		for k := first; k < n; k++ {
			if links[k].total+c.saving+c.frame > links[i].total {
				tries++
				links[i].try(c, order[k], &links[k], k, &cost)
			}
		}
		if first > 0 {
			k := best[first-1]
			links[i].try(c, order[k], &links[k], k, &cost)
		}
		best[i] = i
		if i > 0 && links[best[i-1]].total > links[i].total {
			best[i] = best[i-1]
		}
		t := links[i].total
		if t > total && c.to < to {
			t -= cost.gap(to - c.to)
		}
		if t > total {
			end, total = i, t
		}
	}
	const perCandidate, perLook, perTry = 300, 15, 100 // instructions
	b.take(perCandidate*len(order) + perLook*looks + perTry*tries)
	var row []*body
	for i := end; i >= 0; i = links[i].prev {
		row = append(row, order[i])
	}
	slices.Reverse(row)
	return row, total
}

// costs are the prices of what is between bodies.
type costs struct {
	gap func(size int) float64
	row float64
}

// try makes x, the k-th candidate, the one before c if that saves more.
func (l *link) try(c, x *body, before *link, k int, cost *costs) {
	t := before.total + c.saving
	if t+c.frame <= l.total {
		return
	}
	g := c.from - x.to
	if before.gap == g && g > 0 {
		t -= sameGap
	} else {
		t -= cost.gap(g)
	}
	if (c.kind == Packed) != (x.kind == Packed) || c.length != x.length {
		t -= switchPrice
		if c.kind == Value && c.length.Width == 0 {
			t -= switchPrice
		}
		if x.to-x.at == 4 {
			t -= afterNull
		}
	}
	rows := before.rows
	if g == 0 && c.kind == Value && x.kind == Value && c.length.Width+x.length.Width == 0 && min(c.saving, x.saving) < strong {
		if rows < paidRows {
			t -= cost.row
		}
		rows++
	}
	if c.wrong && x.wrong {
		t -= wrongTwice
	}
	if c.length.Width > 0 && c.length == x.length && c.add == x.add && c.frame > sameLength && !c.wrong {
		t += c.frame - sameLength
	}
	if t > l.total {
		*l = link{t, k, g, rows}
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
