package view

import (
	"errors"
	"sort"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

// A way is the indexes leading to a value: of the packet, of the child inside, and so on.
type way []int64

var errNoValue = errors.New("there is no such value")

// A child is a child of a container in the input. In a Dictionary and an Object it starts with the key
// or name.
type child struct{ index, at, end int64 }

// each calls yield for the children of c from start on, until yield returns false.
func (s *Source) each(d *decoder, c *container, start child, yield func(child) (bool, error)) error {
	for n := start; (c.count < 0 || n.index < c.count) && n.at < c.end; {
		end := n.at + c.width
		if c.width == 0 {
			var err error
			if end, err = s.after(d, c, n.at, c.end); err != nil {
				return err
			}
			s.mu.Lock()
			s.marksOf(c).add(n.index+1, end)
			s.mu.Unlock()
		}
		n.end = end
		if more, err := yield(n); !more || err != nil {
			return err
		}
		n = child{index: n.index + 1, at: end}
	}
	return nil
}

// wayTo returns the way to the value at a path, and the steps at the end of the path without a line
// in the tree: missing keys, or the component of a math type.
func (s *Source) wayTo(done <-chan struct{}, path string) (w way, missing string, err error) {
	p, err := text.Parse(path)
	if err != nil {
		return nil, "", err
	}
	d, reader := s.decoder(done), s.decoder(done)
	defer d.Release()
	defer reader.Release()
	r := rowReader{s: s, d: reader}
	at := row{At: root, End: s.Size}
	for i, step := range append([]text.Step{{Op: text.ValueAt, Index: p.Packet}}, p.Steps...) {
		c, err := s.open(d, at.At, at.End)
		if err == nil {
			at, err = s.find(d, &r, c, step)
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
func (s *Source) find(d *decoder, r *rowReader, c *container, step text.Step) (row, error) {
	want := int64(-1)
	switch {
	case step.Op == text.End:
		return row{}, errNoValue
	case step.Op != text.Child:
		want = step.Index
	case c.kind == gdwire.KindArrayStart || c.kind == gdwire.KindPackedStart:
		want = step.Key.Int
	}
	if want >= 0 {
		index, at, err := s.seek(d, c, want, &budget{done: d.done})
		if err != nil || index < want || at >= c.end || c.count >= 0 && want >= c.count {
			return row{}, errors.Join(err, errNoValue)
		}
		return r.row(c, index, at), nil
	}
	value, found := string(step.Append(nil)), row{}
	err := s.each(d, c, child{at: c.first}, func(n child) (bool, error) {
		w := row{Index: n.index, At: n.at, End: c.end}
		if err := r.step(c, &w); err != nil {
			return false, err
		}
		if w.Step != value {
			return true, nil
		}
		found = r.row(c, n.index, n.at)
		return false, nil
	})
	if err == nil && found.Step == "" {
		err = errNoValue
	}
	return found, err
}

// wayAt returns the way to the innermost value with an offset inside its bytes, key and length excluded.
func (s *Source) wayAt(done <-chan struct{}, offset int64) (way, error) {
	d, reader := s.decoder(done), s.decoder(done)
	defer d.Release()
	defer reader.Release()
	c, err := s.open(d, root, s.Size)
	if err != nil {
		return nil, err
	}
	r := rowReader{s: s, d: reader}
	var w way
	for {
		found := row{Index: -1}
		err := s.each(d, c, s.markUpTo(c, offset), func(n child) (bool, error) {
			if offset < n.end {
				found = r.row(c, n.index, n.at)
			}
			return offset >= n.end, nil
		})
		if err != nil && found.Index < 0 && w == nil {
			return nil, err
		}
		if found.Index < 0 { // in the header of the container
			return w, nil
		}
		w = append(w, found.Index)
		if found.Count == 0 || found.Error != nil || offset < found.At {
			return w, nil
		}
		if c, err = s.open(d, found.At, found.End); err != nil || offset < c.first {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.marksOf(c)
	i := max(sort.Search(len(m.at), func(i int) bool { return m.at[i] > offset })-1, 0)
	return child{index: m.index[i], at: m.at[i]}
}

// A tracer finds the rows at the end of ways. It keeps the containers of the latest way, because
// consecutive ways often share them.
type tracer struct {
	rowReader
	opener *decoder
	latest []traced
}

// A traced is a step of a way: a container, the row of the child inside, and the path of the child.
type traced struct {
	in    *container
	child row
	path  string
}

func (s *Source) tracer(done <-chan struct{}) *tracer {
	return &tracer{rowReader: rowReader{s: s, d: s.decoder(done)}, opener: s.decoder(done)}
}

func (t *tracer) release() {
	t.d.Release()
	t.opener.Release()
}

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
	if to.in, err = t.s.open(t.opener, from.child.At, from.child.End); err != nil {
		return to, err
	}
	i, at, err := t.s.seek(t.opener, to.in, index, &budget{done: t.opener.done})
	if err == nil && i < index {
		err = errNoValue
	}
	if err != nil {
		return to, err
	}
	to.child = row{Index: index, At: at, End: to.in.end}
	err = t.rowReader.step(to.in, &to.child)
	to.path = from.path + to.child.Step
	return to, err
}
