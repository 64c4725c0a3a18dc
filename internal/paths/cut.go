package paths

import (
	"strings"

	"github.com/gdwire/gdwire"
)

// HasCut reports whether a key of the paths ends in "…", as long keys in errors do.
func (t *Tree) HasCut() bool { return len(t.cut) > 0 }

// Resolve replaces each key of a tree with one path that ends in "…" by the first key that it can
// abbreviate, unless there is such a key itself. walk reads all packets with paths; after an error,
// only the keys before it are known.
func (t *Tree) Resolve(walk func(*Walker) error) {
	for t.HasCut() {
		fits := map[*Node]string{}
		key := func(p *Node, key *Step) *Node {
			for _, c := range t.cut[p] {
				text := c.Step().Key.Text
				if first := fits[c] == "" && strings.HasPrefix(key.Key.Text, strings.TrimSuffix(text, Ellipsis)); first || text == key.Key.Text {
					fits[c] = key.Key.Text
				}
			}
			return nil
		}
		_ = walk(&Walker{Key: key})
		t.resolve(fits)
	}
}

// resolve sets the keys of the nodes with a cut key in containers that a walk reached. The
// other nodes are in these nodes, so that another walk can reach them.
func (t *Tree) resolve(fits map[*Node]string) {
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
			if key := fits[c]; key != "" && key != c.Step().Key.Text {
				step := Step{Key: Value{Type: gdwire.TypeString, Text: key}}
				p.rename(c, string(step.Append(nil)))
			}
		}
		delete(t.cut, p)
	}
	for _, root := range t.roots {
		root.resetHits()
	}
}

// resetHits makes p and all nodes in it as they were before a walk.
func (p *Node) resetHits() {
	p.Hits = 0
	for c := range p.Inner {
		c.resetHits()
	}
}
