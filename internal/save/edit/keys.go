package edit

import (
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

// keys finds keys that engines take for one, of which a Dictionary would keep only the last: a
// String and a StringName with the same text, 0.0 and -0.0.
type keys struct {
	edited map[*text.Node]map[string][]*text.Node // by Dictionary and kin, the targets that get a new key
	taken  map[*text.Node][]takenKey              // by target, the keys of its Dictionary that are kin of its own
	final  map[*text.Node]map[string]*text.Node   // by Dictionary and new key, as it is written, the targets
}

// A takenKey is a key that stays.
type takenKey struct{ text, step string }

func newKeys() keys {
	return keys{map[*text.Node]map[string][]*text.Node{}, map[*text.Node][]takenKey{}, map[*text.Node]map[string]*text.Node{}}
}

// leave forgets a Dictionary.
func (k *keys) leave(p *text.Node) {
	for _, targets := range k.edited[p] {
		for _, t := range targets {
			delete(k.taken, t)
		}
	}
	delete(k.edited, p)
	delete(k.final, p)
}

// keyText returns a text that is equal for keys that engines take for one.
func keyText(key *text.Value) string {
	k := *key
	if k.Type == gdwire.TypeStringName {
		k.Type = gdwire.TypeString
	}
	k.Single = false
	k.Numbers = slices.Clone(k.Numbers)
	for i := range k.Numbers {
		k.Numbers[i] += 0 // -0.0 + 0 is 0.0
	}
	return k.String()
}

// kin returns a text that is equal for all keys that can become the same key, when one takes the type of
// another, or is rounded to 32 bits.
func kin(key *text.Value) string {
	k := *key
	if k.Type == gdwire.TypeInt {
		k.Type, k.Numbers = gdwire.TypeFloat, []float64{float64(k.Int)}
	}
	k.Numbers = slices.Clone(k.Numbers)
	for i, x := range k.Numbers {
		k.Numbers[i] = text.Round32(x) + 0
	}
	switch {
	case k.Type == gdwire.TypeStringName || k.Type == gdwire.TypeNodePath:
		k.Type = gdwire.TypeString
	case len(k.Numbers) > 0:
		return fmt.Sprint(k.Numbers)
	}
	return k.String()
}

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
		return fmt.Errorf("engines take the keys of %v and %v for one", other, t)
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

// checkPairs returns an error for a Dictionary or Object in v that contains a key twice.
func checkPairs(v *text.Value) error {
	seen := map[string]bool{}
	for i := range v.Items {
		item := &v.Items[i]
		if err := checkPairs(item); err != nil {
			return err
		}
		if v.Type != gdwire.TypeDictionary && v.Type != gdwire.TypeObject || i%2 == 1 {
			continue
		}
		value := keyText(item)
		if seen[value] {
			return fmt.Errorf("the key %v is there twice, of which engines keep the last", item)
		}
		seen[value] = true
	}
	return nil
}
