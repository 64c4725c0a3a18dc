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
	step   string // of its path
	inner  map[string]*Place
}

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
		p = &Place{step: string(AppendPacket(nil, packet))}
		t.roots[packet] = p
	}
	return p
}

// child returns the place that a step leads to.
func (t *Tree) child(p *Place, s *Step) *Place {
	t.buf = s.Append(t.buf[:0])
	if s.Op == End { // one place for each
		t.buf = fmt.Append(t.buf, len(p.inner))
	}
	if c := p.inner[string(t.buf)]; c != nil {
		return c
	}
	c := &Place{parent: p, step: s.text}
	if s.text != string(t.buf) {
		c.step = string(t.buf)
	}
	if p.inner == nil {
		p.inner = map[string]*Place{}
	}
	p.inner[c.step] = c
	if s.Op == Child && s.Key.Type == gdwire.TypeString && strings.HasSuffix(s.Key.Text, ellipsis) {
		if t.cut == nil {
			t.cut = map[*Place][]*Place{}
		}
		t.cut[p] = append(t.cut[p], c)
	}
	return c
}

// IsTarget reports whether the path of the place was added, and not only paths in it.
func (p *Place) IsTarget() bool { return p.target > 0 }

// Number returns the number of the place in Targets.
func (p *Place) Number() int { return int(p.target) - 1 }

// HasInner reports whether there are places in this one.
func (p *Place) HasInner() bool { return len(p.inner) > 0 }

// Parent returns the place of the container, or nil for that of a packet.
func (p *Place) Parent() *Place { return p.parent }

// Inner iterates over the places in this one, in no order.
func (p *Place) Inner(yield func(*Place) bool) {
	for _, c := range p.inner {
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
