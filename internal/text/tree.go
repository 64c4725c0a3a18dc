package text

import (
	"fmt"
	"strings"

	"github.com/gdwire/gdwire"
)

// A Tree contains paths of several packets. One walk over a packet finds all paths of the
// packet. Paths with the same start share their Nodes.
type Tree struct {
	Targets []*Node // in the order of Add

	roots map[int64]*Node
	vague map[*Node]*vague // by parent
	cut   bool             // a key ends in "…"
	reals bool             // a key contains real numbers
	free  []Node           // memory for nodes
	buf   []byte
}

// A Node is a location in a Tree: of a packet, or of a value reached by a step from the parent.
type Node struct {
	// Text is the argument text of Add.
	Text string
	// Hits is the number of values found here by a walk.
	Hits int32

	target int32 // the number in Targets, from 1; 0 on the way to targets
	parent *Node
	step   string           // of the path
	keys   bool             // a node in this node has a container as its key
	inner  *Node            // the latest node added to this node
	next   *Node            // the node added to the parent before
	index  map[string]*Node // the nodes in this node by step, if there are more than maxUnindexed
}

// maxUnindexed is the maximum number of nodes in a node searched without an index.
const maxUnindexed = 8

// Add adds a path, or returns an error for a path added before, unless the path ends in [+].
func (t *Tree) Add(p Path, text string) (*Node, error) {
	at := t.root(p.Packet)
	for i := range p.Steps {
		at = t.addChild(at, &p.Steps[i])
	}
	if at.target > 0 {
		return nil, fmt.Errorf("%v occurs twice", at)
	}
	t.Targets = append(t.Targets, at)
	at.Text, at.target = text, int32(len(t.Targets))
	return at, nil
}

// Root returns the node of a packet, or nil if there is no path in the packet.
func (t *Tree) Root(packet int64) *Node { return t.roots[packet] }

// Packets returns the number of packets with paths.
func (t *Tree) Packets() int { return len(t.roots) }

func (t *Tree) root(packet int64) *Node {
	p := t.roots[packet]
	if p == nil {
		if t.roots == nil {
			t.roots = map[int64]*Node{}
		}
		p = t.newNode()
		p.step = string(AppendPacket(nil, packet))
		t.roots[packet] = p
	}
	return p
}

// newNode returns memory for a node, allocated in blocks because there can be a million nodes.
func (t *Tree) newNode() *Node {
	if len(t.free) == 0 {
		t.free = make([]Node, min(1+len(t.Targets), 512))
	}
	p := &t.free[0]
	t.free = t.free[1:]
	return p
}

// addChild returns the node reached from p by a step, and adds it if there is none.
func (t *Tree) addChild(p *Node, s *Step) *Node {
	t.buf = s.Append(t.buf[:0])
	if s.Op == End { // each [+] adds an element, and needs a node of its own
		t.buf = fmt.Append(t.buf, len(t.Targets))
	}
	if c := p.child(t.buf); c != nil {
		return c
	}
	c := t.newNode()
	c.parent, c.step = p, s.text
	if s.text != string(t.buf) {
		c.step = string(t.buf)
	}
	p.add(c)
	p.keys = p.keys || s.Op == Child && s.Key.isContainerKey()
	t.note(p, c, s)
	return c
}

// child returns the node reached from p by a step, or nil if there is none.
func (p *Node) child(step []byte) *Node {
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

// add adds a node to p.
func (p *Node) add(c *Node) {
	c.next, p.inner = p.inner, c
	if p.index != nil {
		p.index[c.step] = c
		return
	}
	n := 0
	for range p.Inner {
		n++
	}
	if n > maxUnindexed {
		p.index = map[string]*Node{}
		for c := range p.Inner {
			p.index[c.step] = c
		}
	}
}

// rename gives a node in p another step.
func (p *Node) rename(c *Node, step string) {
	if p.index != nil {
		delete(p.index, c.step)
		p.index[step] = c
	}
	c.step = step
}

// IsTarget reports whether the path of the node was added, and not only longer paths.
func (p *Node) IsTarget() bool { return p.target > 0 }

// Number returns the index of the node in Targets.
func (p *Node) Number() int { return int(p.target) - 1 }

// HasInner reports whether there are nodes in p.
func (p *Node) HasInner() bool { return p.inner != nil }

// Parent returns the node of the container, or nil for the node of a packet.
func (p *Node) Parent() *Node { return p.parent }

// Inner iterates over the nodes in p, in no order.
func (p *Node) Inner(yield func(*Node) bool) {
	for c := p.inner; c != nil; c = c.next {
		if !yield(c) {
			return
		}
	}
}

// Step returns the last step of the path.
func (p *Node) Step() Step {
	if strings.HasPrefix(p.step, appendStep) {
		return Step{Op: End}
	}
	parsed, err := Parse(p.step)
	if err != nil || len(parsed.Steps) != 1 { // the node of a packet
		return Step{}
	}
	return parsed.Steps[0]
}

// String returns the path.
func (p *Node) String() string {
	if p == nil {
		return ""
	}
	step := p.step
	if strings.HasPrefix(step, appendStep) {
		step = appendStep
	}
	return p.parent.String() + step
}

// Reset makes t the same as before all walks.
func (t *Tree) Reset() {
	for _, root := range t.roots {
		root.resetHits()
	}
}

// resetHits makes p and all nodes inside the same as before a walk.
func (p *Node) resetHits() {
	p.Hits = 0
	for c := range p.Inner {
		c.resetHits()
	}
}

// vague contains the nodes in a node with a key that can mean another key than the one printed as their step.
type vague struct {
	cut   []*Node            // text ending in "…"
	reals map[string][]*Node // real numbers, by their text when they are rounded to 32 bits
}

// note notes the node of a step, if the key can mean another one.
func (t *Tree) note(p, c *Node, s *Step) {
	isCut := s.Key.Type == gdwire.TypeString && strings.HasSuffix(s.Key.Text, Ellipsis)
	isReal := s.Key.hasReals()
	if s.Op != Child || !isCut && !isReal {
		return
	}
	if t.vague == nil {
		t.vague = map[*Node]*vague{}
	}
	v := t.vague[p]
	if v == nil {
		v = &vague{reals: map[string][]*Node{}}
		t.vague[p] = v
	}
	if isReal {
		t.reals = true
		rounded := s.Key.rounded()
		v.reals[rounded] = append(v.reals[rounded], c)
	} else {
		t.cut = true
		v.cut = append(v.cut, c)
	}
}

// hasReals reports whether v is of a math type with real components.
func (v *Value) hasReals() bool {
	n, integers := v.Type.Components()
	return n > 0 && !integers
}

// rounded returns the text of a key with numbers rounded to 32 bits.
func (v *Value) rounded() string {
	key := *v
	key.Single, key.Numbers = false, nil
	for _, x := range v.Numbers {
		key.Numbers = append(key.Numbers, Round32(x)+0) // -0.0 + 0 is 0.0
	}
	return key.String()
}
