package text

import (
	"strings"

	"github.com/gdwire/gdwire"
)

// Means reports whether a number in the text of a key means the component x of a key: it is x, or x
// with the digits that 32 bits need. A key is printed with these digits if it has 32 bits, and
// package variant, which does not know how many bits a key had, prints them where 32 bits hold x.
func Means(written, x float64) bool {
	return written == x || Round32(written) == x || written != written && x != x
}

// means reports whether v, the key of a path, means a key of the input.
func (v *Value) means(key *Value) bool {
	for i, x := range key.Numbers {
		if !Means(v.Numbers[i], x) {
			return false
		}
	}
	return v.Type == key.Type
}

// HasCut reports whether a key of the paths ends in "…", as long keys in errors do.
func (t *Tree) HasCut() bool { return t.cut }

// HasReals reports whether a key of the paths contains real numbers, for ResolveReals.
func (t *Tree) HasReals() bool { return t.reals }

// Resolve replaces each key that ends in "…" by the first key that it can abbreviate, and each with real
// numbers by the first key that it means, unless there is such a key itself. walk reads all packets
// with paths; after an error, only the keys before it are known.
func (t *Tree) Resolve(walk func(*Walker) error) {
	for len(t.vague) > 0 {
		fits := map[*Node]string{}
		key := func(p *Node, key *Step) *Node {
			if v := t.vague[p]; v != nil {
				v.fit(key, fits)
			}
			return nil
		}
		_ = walk(&Walker{Key: key})
		t.resolve(fits)
	}
}

// ResolveReals is Resolve for keys with real numbers only.
func (t *Tree) ResolveReals(walk func(*Walker) error) {
	for p, v := range t.vague {
		if v.cut = nil; len(v.reals) == 0 {
			delete(t.vague, p)
		}
	}
	t.cut = false
	t.Resolve(walk)
}

// fit adds the step of a key for each node whose key means it.
func (v *vague) fit(key *Step, fits map[*Node]string) {
	for _, c := range v.cut {
		text := c.Step().Key.Text
		if first := fits[c] == "" && strings.HasPrefix(key.Key.Text, strings.TrimSuffix(text, Ellipsis)); first || text == key.Key.Text {
			name := Step{Key: Value{Type: gdwire.TypeString, Text: key.Key.Text}}
			fits[c] = string(name.Append(nil))
		}
	}
	if len(v.reals) == 0 || !key.Key.hasReals() {
		return
	}
	step := string(key.Append(nil))
	for _, c := range v.reals[key.Key.rounded()] {
		written := c.Step().Key
		if first := fits[c] == "" && written.means(&key.Key); first || c.step == step {
			fits[c] = step
		}
	}
}

// all yields each node of v.
func (v *vague) all(yield func(*Node)) {
	for _, c := range v.cut {
		yield(c)
	}
	for _, nodes := range v.reals {
		for _, c := range nodes {
			yield(c)
		}
	}
}

// resolve sets the keys of the nodes in containers that a walk reached. The other nodes are in these
// nodes, where another walk can reach them.
func (t *Tree) resolve(fits map[*Node]string) {
	var reached []*Node
	for p := range t.vague {
		if p.Hits > 0 {
			reached = append(reached, p)
		}
	}
	if len(reached) == 0 {
		t.vague = nil // nothing is found there
	}
	for _, p := range reached {
		t.vague[p].all(func(c *Node) {
			if step := fits[c]; step != "" && step != c.step {
				p.rename(c, step)
			}
		})
		delete(t.vague, p)
	}
	if len(t.vague) == 0 {
		t.cut, t.reals = false, false
	}
	t.Reset()
}
