package edit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

// newKeys returns the new keys of the Dictionary or Object at p.
func (e *editor) newKeys(p *text.Node) *newKeys {
	k := e.keys[p]
	if k != nil {
		return k
	}
	k = new(newKeys)
	e.keys[p] = k
	for t := range p.Inner {
		step := t.Step()
		key := step.Key
		switch {
		case !t.IsTarget():
			continue
		case step.Op == text.KeyAt && e.op != Add:
			v, err := e.operand(t)
			k.err = cmp.Or(k.err, err)
			key = v.Value
		case step.Op != text.Child || e.op == Set:
			continue
		}
		if k.targets == nil {
			k.targets, k.taken, k.final = map[string][]*text.Node{}, map[*text.Node][]takenKey{}, map[string]*text.Node{}
		}
		value := kin(&key)
		k.targets[value] = append(k.targets[value], t)
	}
	return k
}

// key is called for each key of the Dictionary or Object at p. The key stays.
func (e *editor) key(p *text.Node, key *text.Step) *text.Node {
	all := e.newKeys(p)
	if all.targets == nil {
		return nil
	}
	for _, t := range all.targets[kin(&key.Key)] {
		taken := takenKey{text: keyText(&key.Key)}
		if !slices.ContainsFunc(all.taken[t], func(k takenKey) bool { return k.text == taken.text }) {
			taken.step = string(key.Append(nil))
			all.taken[t] = append(all.taken[t], taken)
		}
	}
	return nil
}

// newKey notes the new key of a target, as written.
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
	all, name := e.newKeys(t.Parent()), keyText(&k)
	if all.err != nil {
		return all.err
	}
	if other := all.final[name]; other != nil {
		return fmt.Errorf("engines treat the keys of %v and %v as equal", other, t)
	}
	all.final[name] = t
	return nil
}

// checkKeys returns an error if a new key of the Dictionary or Object at p equals another of its
// keys.
func (e *editor) checkKeys(p *text.Node, c *text.Container) error {
	if e.op == Delete || c.Kind != gdwire.KindDictStart && c.Kind != gdwire.KindObjectStart {
		return nil
	}
	all := e.newKeys(p)
	err := all.err
	for value, t := range all.final {
		for _, k := range all.taken[t] {
			if err == nil && k.text == value {
				err = fmt.Errorf("engines take the new key at %v for that of %v%s", t, p, k.step)
			}
		}
	}
	return err
}

// addTo adds the targets in p to the value at p, and returns how many.
func (e *editor) addTo(p *text.Node, c *text.Container) (n int64, err error) {
	var targets []*text.Node
	for t := range p.Inner {
		if t.IsTarget() && (e.op == Add || t.Hits == 0) {
			targets = append(targets, t)
		}
	}
	slices.SortFunc(targets, func(a, b *text.Node) int { return cmp.Compare(a.Number(), b.Number()) })
	for _, t := range targets {
		var added bool
		switch c.Kind {
		case gdwire.KindArrayStart, gdwire.KindPackedStart:
			added, err = e.addElement(t, c, n)
		case gdwire.KindDictStart, gdwire.KindObjectStart:
			added, err = true, e.addPair(t, c)
		default:
			err = fmt.Errorf("%v is of type %v, to which nothing can be added", p, c.Type)
		}
		if err != nil {
			return 0, err
		}
		if added {
			t.Hits = 1
			n++
		}
	}
	return n, nil
}

// addElement adds an element to an Array or packed array, after n others, or returns false if the
// position of the target is not in the array.
func (e *editor) addElement(t *text.Node, c *text.Container, n int64) (bool, error) {
	at, ok := e.positions[t]
	end := c.Len
	if e.op == Put { // one after the other
		end += n
	}
	step := t.Step()
	if step.Op == text.End || step.Op == text.Child && step.Key.Type == gdwire.TypeInt && step.Key.Int == end {
		at, ok = c.End, true
	}
	if !ok {
		return false, nil
	}
	if c.Kind == gdwire.KindArrayStart {
		return true, e.addValue(t, at, c.Elem)
	}
	v, err := e.newValue(t)
	if err == nil {
		err = checkNoChange(t, &v)
	}
	if err != nil {
		return false, err
	}
	part := text.Part{In: c.Type, Bits: c.Bits, Value: text.Value{Type: c.Type.Element()}}
	b, v, err := e.encodePart(t, &part, v)
	e.splice(splice{start: at, end: at, bytes: b})
	e.changed(t, v.String(), "")
	return true, err
}

// addValue adds the new value of a target, made to fit a declared type, at an offset.
func (e *editor) addValue(t *text.Node, at int64, elem gdwire.Elem) error {
	v, err := e.operand(t)
	if err == nil {
		err = checkNoChange(t, &v.Value)
	}
	if err == nil && v.isType() {
		err = fmt.Errorf("%v is a type and not a value", &v.Value)
	}
	fits := true
	if err == nil {
		fits, err = e.fitsElem(&v, elem)
	}
	if err == nil && !fits {
		err = &TypeError{Path: t.String(), Old: elem.String(), New: typeOf(&v.Value), Text: t.Text}
	}
	if err != nil {
		return err
	}
	s, err := e.encoded(&v)
	if err != nil {
		return fmt.Errorf("%v: %w", t, reason(err))
	}
	s.start, s.end = at, at
	e.splice(s)
	e.changed(t, v.String(), "")
	return nil
}

// checkNoChange returns an error for a value that is the change of another one.
func checkNoChange(t *text.Node, v *text.Value) error {
	if v.Change == "" {
		return nil
	}
	return fmt.Errorf("there is no %v for %s= %v", t, v.Change, v)
}

// addPair adds a pair to a Dictionary, or a property to an Object.
func (e *editor) addPair(t *text.Node, c *text.Container) error {
	step := t.Step()
	switch {
	case t.Hits > 0:
		return &ExistsError{t.String()}
	case step.Op != text.Child:
		return fmt.Errorf("%v is not a key that can be added to a %v", t, c.Type)
	}
	key := step.Key
	if fit, ok := key.FitElem(c.Key); ok && c.Kind == gdwire.KindDictStart {
		key = fit
	}
	if err := e.newKey(t, &key); err != nil {
		return err
	}
	b, err := e.encodeKey(&key, c)
	if err != nil {
		return fmt.Errorf("%v: %w", t, reason(err))
	}
	e.splice(splice{start: c.End, end: c.End, bytes: b})
	return e.addValue(t, c.End, c.Elem)
}

// encodeKey returns the bytes of the key of a pair, or of the name of a property.
func (e *editor) encodeKey(key *text.Value, c *text.Container) ([]byte, error) {
	if c.Kind == gdwire.KindDictStart {
		return e.encode(key)
	}
	if key.Type != gdwire.TypeString {
		return nil, fmt.Errorf("a property has a name, and not %v", key)
	}
	const class, before, after = "Node", 16, 4 // the bytes around the name
	object := text.Value{Type: gdwire.TypeObject, Text: class, Items: []text.Value{*key, {Type: gdwire.TypeNil}}}
	b, err := e.write(&object, false)
	if err != nil {
		return nil, err
	}
	return b[before : len(b)-after], nil
}
