package paths

import (
	"fmt"
	"strings"

	"github.com/gdwire/gdwire"
)

// HasCut reports whether a key of the paths ends in "…", as long keys in errors do.
func (t *Tree) HasCut() bool { return len(t.cut) > 0 }

// Resolve replaces each key that ends in "…" by the only key that it can abbreviate, unless
// there is such a key itself. walk reads all packets with paths. If lenient is set, Resolve
// takes the first of several keys, and after an error the keys before it.
func (t *Tree) Resolve(lenient bool, walk func(*Walker) error) error {
	for t.HasCut() {
		fits := map[*Node][]string{}
		key := func(p *Node, key *Step) *Node {
			for _, c := range t.cut[p] {
				if text := c.Step().Key.Text; text == key.Key.Text {
					fits[c] = append([]string{text}, fits[c]...)
				} else if strings.HasPrefix(key.Key.Text, strings.TrimSuffix(text, Ellipsis)) && len(fits[c]) < 2 {
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

// resolve sets the keys of the nodes with a cut key in containers that a walk reached. The
// other nodes are in these nodes, so that another walk can reach them.
func (t *Tree) resolve(fits map[*Node][]string, lenient bool) error {
	var reached []*Node
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
			text := step.Append(nil)
			if other := p.child(text); other != nil {
				return fmt.Errorf("%v is there twice, as %s and %s", other, c.step, text)
			}
			p.rename(c, string(text))
		}
		delete(t.cut, p)
	}
	for _, root := range t.roots {
		root.resetHits()
	}
	return nil
}

// resetHits makes p and all nodes in it as they were before a walk.
func (p *Node) resetHits() {
	p.Hits = 0
	for c := range p.Inner {
		c.resetHits()
	}
}
