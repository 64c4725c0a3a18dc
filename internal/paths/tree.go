package paths

import (
	"fmt"
	"strings"

	"github.com/gdwire/gdwire"
)

// A Tree has paths of several packets, so that one walk over a packet finds all of its
// paths. Paths with the same start share their Places.
type Tree struct {
	Targets []*Place // in the order of Add

	roots map[int64]*Place
	cut   map[*Place][]*Place // by parent, the places whose key ends in "…"
	free  []Place             // memory for places
	buf   []byte
}

// A Place is a node of a Tree.
type Place struct {
	// Text is the text that Add was called with.
	Text string
	// Hits is the number of values that a walk has found here.
	Hits int32

	target int32 // its number in Targets, from 1; 0 if it only leads to targets
	parent *Place
	step   string            // of its path
	inner  *Place            // the latest place in this one
	next   *Place            // the one before it in the same place
	index  map[string]*Place // the places in this one by step, if there are more than a few
}

// maxList is the maximum number of places that are searched one after another.
const maxList = 8

// Add adds a path. It returns an error for a path that has been added before, unless it
// ends in [+].
func (t *Tree) Add(p Path, text string) (*Place, error) {
	at := t.root(p.Packet)
	for i := range p.Steps {
		at = t.child(at, &p.Steps[i])
	}
	if at.target > 0 {
		return nil, fmt.Errorf("%v is there twice", at)
	}
	t.Targets = append(t.Targets, at)
	at.Text, at.target = text, int32(len(t.Targets))
	return at, nil
}

// Root returns the place of a packet, or nil if there is no path in it.
func (t *Tree) Root(packet int64) *Place { return t.roots[packet] }

// Packets returns the number of packets with paths.
func (t *Tree) Packets() int { return len(t.roots) }

func (t *Tree) root(packet int64) *Place {
	p := t.roots[packet]
	if p == nil {
		if t.roots == nil {
			t.roots = map[int64]*Place{}
		}
		p = t.newPlace()
		p.step = string(AppendPacket(nil, packet))
		t.roots[packet] = p
	}
	return p
}

// newPlace returns memory for a place. There can be a million of them.
func (t *Tree) newPlace() *Place {
	if len(t.free) == 0 {
		t.free = make([]Place, min(1+len(t.Targets), 512))
	}
	p := &t.free[0]
	t.free = t.free[1:]
	return p
}

// child returns the place that a step leads to.
func (t *Tree) child(p *Place, s *Step) *Place {
	t.buf = s.Append(t.buf[:0])
	if s.Op == End { // one place for each
		t.buf = fmt.Append(t.buf, len(t.Targets))
	}
	if c := p.child(t.buf); c != nil {
		return c
	}
	c := t.newPlace()
	c.parent, c.step = p, s.text
	if s.text != string(t.buf) {
		c.step = string(t.buf)
	}
	p.add(c)
	if s.Op == Child && s.Key.Type == gdwire.TypeString && strings.HasSuffix(s.Key.Text, ellipsis) {
		if t.cut == nil {
			t.cut = map[*Place][]*Place{}
		}
		t.cut[p] = append(t.cut[p], c)
	}
	return c
}

// child returns the place that a step leads to, or nil.
func (p *Place) child(step []byte) *Place {
	if p.index != nil {
		return p.index[string(step)]
	}
	for c := p.inner; c != nil; c = c.next {
		if c.step == string(step) {
			return c
		}
	}
	return nil
}

// add adds a place to those in p.
func (p *Place) add(c *Place) {
	c.next, p.inner = p.inner, c
	if p.index != nil {
		p.index[c.step] = c
		return
	}
	n := 0
	for range p.Inner {
		n++
	}
	if n > maxList {
		p.index = map[string]*Place{}
		for c := range p.Inner {
			p.index[c.step] = c
		}
	}
}

// rename gives a place in p another step.
func (p *Place) rename(c *Place, step string) {
	if p.index != nil {
		delete(p.index, c.step)
		p.index[step] = c
	}
	c.step = step
}

// IsTarget reports whether the path of the place was added, and not only paths in it.
func (p *Place) IsTarget() bool { return p.target > 0 }

// Number returns the number of the place in Targets.
func (p *Place) Number() int { return int(p.target) - 1 }

// HasInner reports whether there are places in this one.
func (p *Place) HasInner() bool { return p.inner != nil }

// Parent returns the place of the container, or nil for that of a packet.
func (p *Place) Parent() *Place { return p.parent }

// Inner iterates over the places in this one, in no order.
func (p *Place) Inner(yield func(*Place) bool) {
	for c := p.inner; c != nil; c = c.next {
		if !yield(c) {
			return
		}
	}
}

// Step returns the last step of the path.
func (p *Place) Step() Step {
	if strings.HasPrefix(p.step, appendStep) {
		return Step{Op: End}
	}
	parsed, err := Parse(p.step)
	if err != nil || len(parsed.Steps) != 1 { // the place of a packet
		return Step{}
	}
	return parsed.Steps[0]
}

// String returns the path.
func (p *Place) String() string {
	if p == nil {
		return ""
	}
	step := p.step
	if strings.HasPrefix(step, appendStep) {
		step = appendStep
	}
	return p.parent.String() + step
}

// Missing returns the first target at which no value was found, or nil.
func (t *Tree) Missing() *Place {
	for _, p := range t.Targets {
		if p.Hits == 0 {
			return p
		}
	}
	return nil
}
