package edit

import (
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

// newKeys returns the targets in p that get a new key, by its kin.
func (e *editor) newKeys(p *text.Node) (map[string][]*text.Node, error) {
	if all, ok := e.keys.edited[p]; ok {
		return all, nil
	}
	var all map[string][]*text.Node
	for t := range p.Inner {
		step := t.Step()
		key := step.Key
		switch {
		case !t.IsTarget():
			continue
		case step.Op == text.KeyAt && e.op != Add:
			v, err := e.operand(t)
			if err != nil {
				return nil, err
			}
			key = v.Value
		case step.Op != text.Child || e.op == Set:
			continue
		}
		if all == nil {
			all = map[string][]*text.Node{}
		}
		value := kin(&key)
		all[value] = append(all[value], t)
	}
	e.keys.edited[p] = all
	return all, nil
}

// key is called for each key of the Dictionary or Object at p, which stays.
func (e *editor) key(p *text.Node, key *text.Step) *text.Node {
	all, err := e.newKeys(p)
	if err != nil || len(all) == 0 { // checkKeys returns the error
		return nil
	}
	for _, t := range all[kin(&key.Key)] {
		taken := takenKey{text: keyText(&key.Key)}
		if !slices.ContainsFunc(e.keys.taken[t], func(k takenKey) bool { return k.text == taken.text }) {
			taken.step = string(key.Append(nil))
			e.keys.taken[t] = append(e.keys.taken[t], taken)
		}
	}
	return nil
}

// newKey notes the key that a target gets, as it is written.
func (e *editor) newKey(t *text.Node, key *text.Value) error {
	k := *key
	if hasReals(key) {
		double, err := e.isDouble()
		if err != nil {
			return err
		}
		if !double {
			k.Numbers = slices.Clone(k.Numbers)
			for i, x := range k.Numbers {
				k.Numbers[i] = text.Round32(x)
			}
		}
	}
	p, name := t.Parent(), keyText(&k)
	if e.keys.final[p] == nil {
		e.keys.final[p] = map[string]*text.Node{}
	}
	if other := e.keys.final[p][name]; other != nil {
		return fmt.Errorf("engines treat the keys of %v and %v as equal", other, t)
	}
	e.keys.final[p][name] = t
	return nil
}

// checkKeys returns an error if a new key of the Dictionary or Object at p is another key of it.
func (e *editor) checkKeys(p *text.Node, c *text.Container) error {
	if e.op == Delete || c.Kind != gdwire.KindDictStart && c.Kind != gdwire.KindObjectStart {
		return nil
	}
	_, err := e.newKeys(p)
	for value, t := range e.keys.final[p] {
		for _, k := range e.keys.taken[t] {
			if err == nil && k.text == value {
				err = fmt.Errorf("engines take the new key at %v for that of %v%s", t, p, k.step)
			}
		}
	}
	return err
}
