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

// NotFound returns the error for a place at which a walk has found no value.
func (n *Nearest) NotFound(p *Place) error {
	missing := p // the first place on the path that is not there
	for missing.parent != nil && missing.parent.Hits == 0 {
		missing = missing.parent
	}
	near, ok := n.best[missing]
	switch {
	case !ok:
		return fmt.Errorf("there is no %v", p)
	case missing == p && isName(near.name):
		return fmt.Errorf("there is no %v; did you mean %s?", p, near.name)
	}
	step := Step{Key: Value{Type: gdwire.TypeString, Text: near.name}}
	return fmt.Errorf("there is no %v; did you mean %s?", p, step.Append([]byte(missing.parent.String())))
}

// A Nearest finds the keys that are most similar to those of paths without a value. Its Key
// is that of a Walker.
type Nearest struct {
	best  map[*Place]near
	names map[*Place]string
}

type near struct {
	name     string
	distance int
}

// The limits of what a Nearest looks at.
const (
	nearPlaces = 2  // places in a container
	nearKey    = 40 // bytes of a key
	nearest    = 3  // edits of a character
)

// Key compares a key with those of the places in p.
func (n *Nearest) Key(p *Place, key *Step) *Place {
	text := key.Key.Text
	if len(p.inner) > nearPlaces || text == "" || len(text) > nearKey {
		return nil
	}
	for _, c := range p.inner {
		name := n.name(c)
		if c.Hits > 0 || name == "" {
			continue
		}
		most := allowed(name)
		if have, ok := n.best[c]; ok {
			most = have.distance - 1
		}
		if d := distance(name, text, most); d <= most {
			n.best[c] = near{text, d}
		}
	}
	return nil
}

// name returns the key of a place, or "" for those that are compared with no other.
func (n *Nearest) name(p *Place) string {
	name, ok := n.names[p]
	if ok {
		return name
	}
	if n.names == nil {
		n.names, n.best = map[*Place]string{}, map[*Place]near{}
	}
	if step := p.Step(); step.Op == Child && len(step.Key.Text) <= nearKey {
		name = step.Key.Text
	}
	n.names[p] = name
	return name
}

// Similar reports whether a is likely to be b with a mistake.
func Similar(a, b string) bool { return distance(a, b, allowed(a)) <= allowed(a) }

// allowed returns the number of mistakes in a similar name.
func allowed(name string) int { return min(nearest, len(name)/3) }

// distance returns the number of characters to insert, delete or replace that makes a of b,
// or a larger number than most if it is larger. Case is ignored.
func distance(a, b string, most int) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if most < 0 || len(x)-len(y) > most || len(y)-len(x) > most {
		return most + 1
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			replaced := diagonal
			if x[i] != y[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(y)]
}

// HasCut reports whether a key of the paths ends in "…", as long keys in errors do.
func (t *Tree) HasCut() bool { return len(t.cut) > 0 }

// Resolve replaces each key that ends in "…" by the only key that it can stand for, unless
// there is such a key itself. walk reads all packets with paths. If lenient is set, the
// first of several keys is taken, and those before an error.
func (t *Tree) Resolve(lenient bool, walk func(*Walker) error) error {
	for t.HasCut() {
		fits := map[*Place][]string{}
		key := func(p *Place, key *Step) *Place {
			for _, c := range t.cut[p] {
				if text := c.Step().Key.Text; text == key.Key.Text {
					fits[c] = append([]string{text}, fits[c]...)
				} else if strings.HasPrefix(key.Key.Text, strings.TrimSuffix(text, ellipsis)) && len(fits[c]) < 2 {
					fits[c] = append(fits[c], key.Key.Text)
				}
			}
			return nil
		}
		err := walk(&Walker{Key: key})
		if err == nil || lenient {
			err = t.resolve(fits, lenient)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// resolve gives the places with a cut key that have been reached their keys. The others
// are in some of these.
func (t *Tree) resolve(fits map[*Place][]string, lenient bool) error {
	var reached []*Place
	for p := range t.cut {
		if p.Hits > 0 {
			reached = append(reached, p)
		}
	}
	if len(reached) == 0 {
		t.cut = nil // nothing is found there
	}
	for _, p := range reached {
		for _, c := range t.cut[p] {
			keys := fits[c]
			switch {
			case len(keys) == 0 || keys[0] == c.Step().Key.Text:
				continue
			case len(keys) > 1 && !lenient:
				return fmt.Errorf("several keys fit %v: %q and %q", c, keys[0], keys[1])
			}
			step := Step{Key: Value{Type: gdwire.TypeString, Text: keys[0]}}
			text := string(step.Append(nil))
			if p.inner[text] != nil {
				return fmt.Errorf("%v is there twice, as %s and %s", p.inner[text], c.step, text)
			}
			delete(p.inner, c.step)
			c.step = text
			p.inner[text] = c
		}
		delete(t.cut, p)
	}
	for _, root := range t.roots {
		root.forget()
	}
	return nil
}

// forget makes all places in p as they were before a walk.
func (p *Place) forget() {
	p.Hits = 0
	for _, c := range p.inner {
		c.forget()
	}
}
