package edit

import (
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/paths"
)

// keys finds keys that engines take for one, of which a Dictionary would keep only the last: a
// String and a StringName with the same text, 0.0 and -0.0.
type keys struct {
	edited map[*paths.Node]map[string]*paths.Node // by Dictionary and key, the target with this new key
	taken  map[*paths.Node]string                 // by target, another key of its Dictionary that is the same
	set    map[*paths.Node]bool                   // keys that were replaced
}

func newKeys() keys {
	return keys{map[*paths.Node]map[string]*paths.Node{}, map[*paths.Node]string{}, map[*paths.Node]bool{}}
}

// keyText returns a text that is equal for keys that engines take for one.
func keyText(key *paths.Value) string {
	k := *key
	if k.Type == gdwire.TypeStringName {
		k.Type = gdwire.TypeString
	}
	k.Numbers = slices.Clone(k.Numbers)
	for i := range k.Numbers {
		k.Numbers[i] += 0 // -0.0 + 0 is 0.0
	}
	return k.String()
}

// newKeys returns the targets in p that get a new key, by this key.
func (e *editor) newKeys(p *paths.Node) (map[string]*paths.Node, error) {
	if all, ok := e.keys.edited[p]; ok {
		return all, nil
	}
	var all map[string]*paths.Node
	for t := range p.Inner {
		step := t.Step()
		key := step.Key
		switch {
		case !t.IsTarget():
			continue
		case step.Op == paths.KeyAt && (e.op == Set || e.values != nil):
			var err error
			if key, err = e.newValue(t); err != nil {
				return nil, err
			}
		case step.Op != paths.Child || e.op == Set:
			continue
		}
		text := keyText(&key)
		if other := all[text]; other != nil {
			return nil, fmt.Errorf("engines take the keys of %v and %v for one", other, t)
		}
		if all == nil {
			all = map[string]*paths.Node{}
		}
		all[text] = t
	}
	e.keys.edited[p] = all
	return all, nil
}

// key is called for each key of the Dictionary or Object at p, which stays.
func (e *editor) key(p *paths.Node, key *paths.Step) *paths.Node {
	all, err := e.newKeys(p)
	if err == nil && len(all) > 0 { // leave returns the error
		if t := all[keyText(&key.Key)]; t != nil {
			e.keys.taken[t] = string(key.Append(nil))
		}
	}
	return nil
}

// checkKey returns an error if another key of the Dictionary at p is that of the target t.
func (e *editor) checkKey(p, t *paths.Node) error {
	if other := e.keys.taken[t]; other != "" {
		return fmt.Errorf("engines take the new key at %v for that of %v%s", t, p, other)
	}
	return nil
}

// checkKeys returns an error if a key of the Dictionary at p was replaced by another key of it.
func (e *editor) checkKeys(p *paths.Node) error {
	all, err := e.newKeys(p)
	for _, t := range all {
		if err == nil && e.keys.set[t] {
			err = e.checkKey(p, t)
		}
	}
	return err
}

// checkPairs returns an error for a Dictionary or Object in v that contains a key twice.
func checkPairs(v *paths.Value) error {
	seen := map[string]bool{}
	for i := range v.Items {
		item := &v.Items[i]
		if err := checkPairs(item); err != nil {
			return err
		}
		if v.Type != gdwire.TypeDictionary && v.Type != gdwire.TypeObject || i%2 == 1 {
			continue
		}
		text := keyText(item)
		if seen[text] {
			return fmt.Errorf("the key %v is there twice, of which engines keep the last", item)
		}
		seen[text] = true
	}
	return nil
}
