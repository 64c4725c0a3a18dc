package paths

import (
	"fmt"
	"strings"

	"github.com/gdwire/gdwire"
)

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
			text := step.Append(nil)
			if other := p.child(text); other != nil {
				return fmt.Errorf("%v is there twice, as %s and %s", other, c.step, text)
			}
			p.rename(c, string(text))
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
	for c := range p.Inner {
		c.forget()
	}
}
