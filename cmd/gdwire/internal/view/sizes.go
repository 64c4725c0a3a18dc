package view

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// A sized is a child of a container with its size in bytes, key included.
type sized struct {
	Index int64  `json:"index"`
	Step  string `json:"step"`
	Type  string `json:"type"`
	Count int64  `json:"count"`
	Bytes int64  `json:"bytes"`

	at int64
}

// sizes is a line of the answer: the sizes of the children of a container.
type sizes struct {
	Largest []sized `json:"largest,omitempty"` // the largest first
	Count   int64   `json:"count"`             // of all children
	Bytes   int64   `json:"bytes"`             // of all children
	Done    bool    `json:"done,omitempty"`
	Error   *fault  `json:"error,omitempty"`
}

// maxSizes is the number of children listed.
const maxSizes = 100

// keepLargest sorts children by size, the largest first, and drops those after maxSizes.
func keepLargest(all []sized) []sized {
	slices.SortStableFunc(all, func(a, b sized) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return all[:min(len(all), maxSizes)]
}

// sizes measures the children of the container at an offset, in one pass, and calls report now and
// then for the progress.
func (s *Source) sizes(ctx context.Context, at, end int64, report func(sizes) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	r := s.reader(ctx.Done())
	defer r.release()
	if end <= 0 || end > s.Size {
		end = s.Size
	}
	c, err := r.open(at, end)
	if err != nil {
		return err
	}
	all, told := sizes{}, time.Now()
	var largest []sized
	for n, err := range r.each(c, child{at: c.first}) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			all.Error = faultOf(err)
			break
		}
		x := sized{Index: n.index, Bytes: n.end - n.at, at: n.at}
		all.Count, all.Bytes = all.Count+1, all.Bytes+x.Bytes
		if largest = append(largest, x); len(largest) == 16*maxSizes { // now and then, as each sort takes time
			largest = keepLargest(largest)
		}
		if all.Count&1023 == 0 && time.Since(told) > workTime/4 {
			told = time.Now()
			if err := report(all); err != nil {
				return err
			}
		}
	}
	all.Done, all.Largest = true, keepLargest(largest)
	for i := range all.Largest {
		x := &all.Largest[i]
		w := r.row(c, x.Index, x.at)
		x.Step, x.Type, x.Count = w.Step, w.Type, w.Count
	}
	return report(all)
}
