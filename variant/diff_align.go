package variant

import "slices"

// The bounds of the work for each Array.
const (
	maxDiffering = 1000 // differing elements, of aligned Arrays
	maxCells     = 4096 // pairs of elements between two equal ones, compared by likeness
	maxLikeness  = 64   // elements or pairs of each, compared then
)

// A match is an element of the old Array and its successor in the new one.
type match struct{ a, b int }

// all returns the digests of values.
func (d *digester) all(values []any) []uint64 {
	sums := make([]uint64, len(values))
	for i, v := range values {
		sums[i] = d.digest(v)
	}
	return sums
}

// align returns the matches of elements of a and b, in order. The other elements were removed or
// added. x and y are the digests of a and b.
func (d *digester) align(a, b []any, x, y []uint64) (all []match) {
	start := 0
	for start < len(x) && start < len(y) && x[start] == y[start] {
		all = append(all, match{start, start})
		start++
	}
	end := 0
	for end < min(len(x), len(y))-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	from, to := match{start, start}, match{len(x) - end, len(y) - end}
	equal, ok := longestCommon(x[from.a:to.a], y[from.b:to.b])
	if ok {
		for _, m := range equal {
			m = match{m.a + start, m.b + start}
			all = append(d.alike(all, a, b, from, m), m)
			from = match{m.a + 1, m.b + 1}
		}
		all = d.alike(all, a, b, from, to)
	} else {
		all = byIndex(all, from, to)
	}
	for end > 0 {
		all = append(all, match{len(x) - end, len(y) - end})
		end--
	}
	return all
}

// byIndex matches the elements between from and to by their index.
func byIndex(all []match, from, to match) []match {
	for i := range min(to.a-from.a, to.b-from.b) {
		all = append(all, match{from.a + i, from.b + i})
	}
	return all
}

// longestCommon returns the longest common subsequence of x and y by the algorithm of Myers, or
// false if more elements differ than maxDiffering.
func longestCommon(x, y []uint64) (equal []match, ok bool) {
	// reach[d] contains, for each diagonal k = i-j from -d to d in steps of 2, the largest i
	// reached by d removed or added elements.
	var reach [][]int32
	for d := 0; d <= 2*maxDiffering; d++ { // a differing element is removed and added
		row := make([]int32, d+1)
		for k := -d; k <= d; k += 2 {
			i := 0
			if d > 0 {
				i, _ = before(reach[d-1], d, k)
			}
			for i < len(x) && i-k < len(y) && x[i] == y[i-k] {
				i++
			}
			row[(k+d)/2] = int32(i)
			if i >= len(x) && i-k >= len(y) {
				return back(append(reach, row), k), true
			}
		}
		reach = append(reach, row)
	}
	return nil, false
}

// before returns the largest i on diagonal k after d removed or added elements, before equal
// elements follow, and the previous diagonal of the way there. row is reach[d-1].
func before(row []int32, d, k int) (i, from int) {
	at := func(k int) int { return int(row[(k+d-1)/2]) }
	if k == -d || k < d && at(k-1) < at(k+1) {
		return at(k + 1), k + 1 // an element of y was added
	}
	return at(k-1) + 1, k - 1 // an element of x was removed
}

// back returns the equal elements on the way to the end of diagonal k, followed backwards.
func back(reach [][]int32, k int) (equal []match) {
	for d := len(reach) - 1; d >= 0; d-- {
		start, from := 0, 0
		if d > 0 {
			start, from = before(reach[d-1], d, k)
		}
		for i := int(reach[d][(k+d)/2]); i > start; i-- {
			equal = append(equal, match{i - 1, i - 1 - k})
		}
		k = from
	}
	slices.Reverse(equal)
	return equal
}

// alike matches the elements between from and to, none of them equal, so that the matched
// elements are alike in as many parts as possible.
func (d *digester) alike(all []match, a, b []any, from, to match) []match {
	n, m := to.a-from.a, to.b-from.b
	if n <= 0 || m <= 0 || n == 1 && m == 1 || n*m > maxCells {
		return byIndex(all, from, to)
	}
	x, y := d.parts(a[from.a:to.a]), d.parts(b[from.b:to.b])
	pair := func(i, j int) int { return 1 + likeness(x[i], y[j]) }
	// best[i][j] is the largest number of parts alike in matches from i and j on.
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+pair(i, j))
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch best[i][j] {
		case best[i+1][j+1] + pair(i, j):
			all = append(all, match{from.a + i, from.b + j})
			i, j = i+1, j+1
		case best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return all
}

// parts returns digests of the first elements, pairs or properties of each value.
func (d *digester) parts(values []any) [][]uint64 {
	all := make([][]uint64, len(values))
	for i, v := range values {
		switch v := normal(v).(type) {
		case *Array:
			all[i] = d.all(v.Values[:min(len(v.Values), maxLikeness)])
		case *Dictionary:
			for key, value := range v.All() {
				if len(all[i]) == maxLikeness {
					break
				}
				all[i] = append(all[i], d.mix(d.digest(key), d.digest(value)))
			}
		case *Object:
			for _, p := range v.Properties[:min(len(v.Properties), maxLikeness)] {
				all[i] = append(all[i], d.mix(d.digest(p.Name), d.digest(p.Value)))
			}
		}
	}
	return all
}

// likeness returns how many parts are equal at the same index.
func likeness(x, y []uint64) (n int) {
	for i := range min(len(x), len(y)) {
		if x[i] == y[i] {
			n++
		}
	}
	return n
}
