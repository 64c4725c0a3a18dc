package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/paths"
)

// A place is a node in the tree of the paths of all edits.
type place struct {
	path   string
	edit   *edit // nil if the place only contains places of edits
	inner  map[string]*place
	cut    []*place // those of inner that have a cut key
	prefix string   // the start of a cut key
	hits   int      // the number of values found at this path
}

// An edit is a path for get, or a path and its new value for set.
type edit struct {
	path  paths.Path
	value paths.Value
}

// places returns the tree of the edits of a packet.
func places(edits []edit, packet int64) (*place, error) {
	root := &place{path: string(paths.AppendPacket(nil, packet))}
	for i := range edits {
		e := &edits[i]
		if e.path.Packet != packet {
			continue
		}
		p := root
		for j := range e.path.Steps {
			p = p.child(&e.path.Steps[j])
		}
		if p.edit != nil {
			return nil, fmt.Errorf("%s is set twice", p.path)
		}
		p.edit = e
	}
	return root, nil
}

// child returns the place that a step leads to.
func (p *place) child(s *paths.Step) *place {
	key := string(s.Append(nil))
	if p.inner == nil {
		p.inner = map[string]*place{}
	}
	c := p.inner[key]
	if c == nil {
		c = &place{path: p.path + key}
		p.inner[key] = c
		if before, ok := strings.CutSuffix(s.Key.Text, "…"); ok && s.Op == paths.Child {
			c.prefix = before
			p.cut = append(p.cut, c)
		}
	}
	return c
}

// missing returns the first place that was not found.
func (p *place) missing() *place {
	if p.edit != nil && p.hits == 0 {
		return p
	}
	for _, c := range p.inner {
		if m := c.missing(); m != nil {
			return m
		}
	}
	return nil
}

// A walker reads a value, calls functions for the places of edits, and skips all
// other values.
type walker struct {
	*gdwire.Decoder
	// found is called when the value at a place of an edit is next. It reads the
	// value, or returns true so that the walker reads the value for places in it.
	found func(p *place) (goOn bool, err error)
	// element is called for an element of a packed array at a place of an edit.
	// b is the element, t the Chunk with it, and offset its offset.
	element func(p *place, t gdwire.Token, b []byte, offset int64) error
	key     []byte
	numbers [16]float64
}

// value reads the next value, which is at p.
func (w *walker) value(p *place) error {
	p.hits++
	if p.edit != nil {
		if goOn, err := w.found(p); !goOn || err != nil {
			return err
		}
	}
	if len(p.inner) == 0 {
		return w.SkipValue()
	}
	depth := w.Depth()
	t, err := w.ReadToken()
	if err != nil {
		return err
	}
	switch t.Kind() {
	case gdwire.KindArrayStart:
		err = w.array(p, t.Len())
	case gdwire.KindDictStart:
		err = w.dict(p, t.Len())
	case gdwire.KindObjectStart:
		err = w.object(p, t.Len())
	case gdwire.KindPackedStart:
		err = w.packed(p)
	}
	if err != nil {
		return err
	}
	return w.SkipTo(depth)
}

// array reads n elements.
func (w *walker) array(p *place, n int64) error {
	for i := range n {
		w.key = paths.AppendIndex(w.key[:0], i)
		if err := w.next(p.inner[string(w.key)]); err != nil {
			return err
		}
	}
	return nil
}

// next reads the next value, or skips it if p is nil.
func (w *walker) next(p *place) error {
	if p == nil {
		return w.SkipValue()
	}
	return w.value(p)
}

// dict reads n pairs.
func (w *walker) dict(p *place, n int64) error {
	for i := range n {
		if _, err := w.ReadToken(); err != nil { // DictKey
			return err
		}
		w.key = paths.AppendKeyAt(w.key[:0], i)
		key := p.inner[string(w.key)]
		w.key = paths.AppendValueAt(w.key[:0], i)
		value := p.inner[string(w.key)]
		if key != nil {
			if err := w.value(key); err != nil {
				return err
			}
		} else if byKey, err := w.byKey(p); err != nil {
			return err
		} else if value == nil {
			value = byKey
		}
		if err := w.next(value); err != nil {
			return err
		}
	}
	return nil
}

// byKey reads a key and returns the place of its value, or nil if there is none.
func (w *walker) byKey(p *place) (*place, error) {
	depth := w.Depth()
	t, err := w.ReadToken()
	if err != nil {
		return nil, err
	}
	step, ok, err := paths.KeyStep(w.Decoder, t, w.numbers[:0], func(*paths.NodePathReader, []byte) error { return w.SkipTo(depth) })
	if err != nil || !ok {
		return nil, err
	}
	return w.place(p, &step), nil
}

// place returns the place that a step leads to, or nil if there is none. A String in a
// path also matches a StringName.
func (w *walker) place(p *place, step *paths.Step) *place {
	w.key = step.Append(w.key[:0])
	c := p.inner[string(w.key)]
	if c == nil && step.Key.Type == gdwire.TypeStringName {
		step.Key.Type = gdwire.TypeString
		w.key = step.Append(w.key[:0])
		c = p.inner[string(w.key)]
	}
	if c == nil && step.Key.Type == gdwire.TypeString {
		for _, cut := range p.cut {
			if cut.hits == 0 && strings.HasPrefix(step.Key.Text, cut.prefix) {
				return cut
			}
		}
	}
	return c
}

// object reads n properties.
func (w *walker) object(p *place, n int64) error {
	for range n {
		t, err := w.ReadToken()
		if err != nil {
			return err
		}
		step := paths.Step{Key: paths.FromToken(t, nil)}
		if err := w.next(w.place(p, &step)); err != nil {
			return err
		}
	}
	return nil
}

// packed reads the elements of a packed array.
func (w *walker) packed(p *place) error {
	for i := int64(0); ; {
		offset := w.InputOffset()
		t, err := w.ReadToken()
		if err != nil || t.Kind() == gdwire.KindEnd {
			return err
		}
		if t.Kind() == gdwire.KindStringChunk {
			w.key = paths.AppendIndex(w.key[:0], i)
			i++
			if c := p.inner[string(w.key)]; c != nil {
				c.hits++
				if err := w.element(c, t, nil, offset); err != nil {
					return err
				}
			}
			for !t.Last() {
				if t, err = w.ReadToken(); err != nil {
					return err
				}
			}
			continue
		}
		size := int64(len(t.Bytes())) / max(t.Len(), 1)
		for j := range t.Len() {
			w.key = paths.AppendIndex(w.key[:0], i)
			i++
			c := p.inner[string(w.key)]
			if c == nil {
				continue
			}
			c.hits++
			if err := w.element(c, t, t.Bytes()[j*size:(j+1)*size], offset+j*size); err != nil {
				return err
			}
		}
	}
}

// errFound ends a walk when the only place has been found.
var errFound = errors.New("found")

// notFound returns the error for a place without a value.
func notFound(p *place) error { return fmt.Errorf("there is no %s", printable(p.path)) }

// readLines reads edits for set, in the form of the lines of flat.
func readLines(r io.Reader) ([]edit, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for i, line := range strings.Split(strings.TrimPrefix(string(b), "\ufeff"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		p, v, err := paths.ParseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		edits = append(edits, edit{p, v})
	}
	return edits, nil
}
