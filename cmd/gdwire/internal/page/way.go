package page

import (
	"errors"
	"iter"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/text"
)

// A way is the indexes leading to a value: of the packet, of the child inside, and so on.
type way []int64

var errNoValue = errors.New("there is no such value")

// A child is a child of a container in the input. In a Dictionary and an Object it starts with the key
// or name.
type child struct{ index, at, end int64 }

// each iterates over the children of c from start on, up to the first error.
func (r *reader) each(c *container, start child) iter.Seq2[child, error] {
	return func(yield func(child, error) bool) {
		for n := start; (c.count < 0 || n.index < c.count) && n.at < c.end; n.index, n.at = n.index+1, n.end {
			var err error
			if n.end, err = r.next(c, n.index, n.at, c.end); !yield(n, err) || err != nil {
				return
			}
		}
	}
}

// wayTo returns the way to the value at a path, and the steps at the end of the path without a line
// in the tree: missing keys, or the component of a math type.
func (s *Source) wayTo(done <-chan struct{}, path string) (w way, missing string, err error) {
	p, err := text.Parse(path)
	if err != nil {
		return nil, "", err
	}
	r := s.reader(done)
	defer r.release()
	at := row{At: root, End: s.Size}
	for i, step := range append([]text.Step{{Op: text.ValueAt, Index: p.Packet}}, p.Steps...) {
		c, err := r.open(at.At, at.End)
		if err == nil {
			at, err = r.find(c, step)
		}
		if err != nil && i == 0 {
			return nil, "", err
		}
		if err != nil {
			return w, text.Path{Steps: p.Steps[i-1:]}.String(), nil
		}
		w = append(w, at.Index)
	}
	return w, "", nil
}

// find returns the row of the child of c reached by a step.
func (r *reader) find(c *container, step text.Step) (row, error) {
	want := int64(-1)
	switch {
	case step.Op == text.End:
		return row{}, errNoValue
	case step.Op != text.Child:
		want = step.Index
	case c.kind == gdwire.KindArrayStart || c.kind == gdwire.KindPackedStart:
		if want = step.Key.Int; step.Key.Type != gdwire.TypeInt {
			return row{}, errNoValue
		}
	}
	if want >= 0 {
		index, at, err := r.seek(c, want)
		if err != nil || index < want || at >= c.end || c.count >= 0 && want >= c.count {
			return row{}, errors.Join(err, errNoValue)
		}
		return r.row(c, index, at), nil
	}
	value := string(step.Append(nil))
	for n, err := range r.each(c, child{at: c.first}) {
		w := row{Index: n.index, At: n.at, End: c.end}
		if err == nil {
			err = r.step(c, &w)
		}
		if err != nil {
			return row{}, err
		}
		if w.Step == value {
			return r.row(c, n.index, n.at), nil
		}
	}
	return row{}, errNoValue
}

// wayAt returns the way to the innermost value with an offset inside its bytes, key and length excluded.
func (s *Source) wayAt(done <-chan struct{}, offset int64) (way, error) {
	r := s.reader(done)
	defer r.release()
	c, err := r.open(root, s.Size)
	if err != nil {
		return nil, err
	}
	var w way
	for {
		found := row{Index: -1}
		for n, err := range r.each(c, s.markUpTo(c, offset)) {
			if err != nil && w == nil {
				return nil, err
			}
			if err == nil && offset < n.end {
				found = r.row(c, n.index, n.at)
				break
			}
		}
		if found.Index < 0 { // in the header of the container, or after an error
			return w, nil
		}
		w = append(w, found.Index)
		if found.Count == 0 || found.Error != nil || offset < found.At {
			return w, nil
		}
		if c, err = r.open(found.At, found.End); err != nil || offset < c.first {
			return w, nil
		}
	}
}

// markUpTo returns the nearest child of c known to start at or before an offset.
func (s *Source) markUpTo(c *container, offset int64) child {
	if c.width > 0 {
		i := max(offset-c.first, 0) / c.width
		return child{index: i, at: c.first + i*c.width}
	}
	index, at := s.nearest(c, func(m *marks) []int64 { return m.at }, offset)
	return child{index: index, at: at}
}

// A tracer finds the rows at the end of ways. It keeps the containers of the latest way, because
// consecutive ways often share them.
type tracer struct {
	*reader
	latest []traced
}

// A traced is a step of a way: a container, the row of the child inside, and the path of the child.
type traced struct {
	in    *container
	child row
	path  string
}

func (s *Source) tracer(done <-chan struct{}) *tracer { return &tracer{reader: s.reader(done)} }

// row returns the path and the row of the value at the end of w.
func (t *tracer) row(w way) (path string, found row, err error) {
	known := 0
	for known < min(len(t.latest), len(w)) && t.latest[known].child.Index == w[known] {
		known++
	}
	t.latest = t.latest[:known]
	last := traced{child: row{At: root, End: t.s.Size}}
	if known > 0 {
		last = t.latest[known-1]
	}
	for _, index := range w[known:] {
		if last, err = t.step(last, index); err != nil {
			return "", row{}, err
		}
		t.latest = append(t.latest, last)
	}
	found = last.child
	return last.path, found, t.value(last.in, &found)
}

// step takes one step more.
func (t *tracer) step(from traced, index int64) (to traced, err error) {
	if to.in, err = t.open(from.child.At, from.child.End); err != nil {
		return to, err
	}
	i, at, err := t.seek(to.in, index)
	if err == nil && i < index {
		err = errNoValue
	}
	if err != nil {
		return to, err
	}
	to.child = row{Index: index, At: at, End: to.in.end}
	err = t.reader.step(to.in, &to.child)
	to.path = from.path + to.child.Step
	return to, err
}
