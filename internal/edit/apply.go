package edit

import (
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/paths"
)

// A Request is one of several edits: Put or Delete.
type Request struct {
	Op    Op
	Path  paths.Path
	Value *Value // of Put
}

// A Value is a new value.
type Value struct {
	// Encode returns its encoding.
	Encode func(gdwire.EncoderOptions) ([]byte, error)
	// Exact reports whether a number or text keeps its type instead of taking that of the old value.
	Exact bool
}

// Apply returns the content after edits in their order. It reads the content once for as many of
// them as do not depend on each other.
func (c *Content) Apply(all []Request) (*Content, error) {
	for len(all) > 0 {
		n := independent(all)
		next, err := c.applyAll(all[:n])
		if err != nil {
			return nil, err
		}
		c, all = next, all[n:]
	}
	return c, nil
}

// independent returns the number of requests at the start of all that can be made at once: the result,
// if there is one, is the same as if they were made one after the other.
func independent(all []Request) int {
	for i := range all {
		if all[i].Op != all[0].Op || !all[i].isIndependent() {
			return max(i, 1)
		}
	}
	return len(all)
}

// isIndependent reports whether the path leads to the same value after other independent requests of
// the same kind. Deleting an element moves those after it; a pair can have several paths by its
// number, and if its key is a StringName.
func (r *Request) isIndependent() bool {
	for i := range r.Path.Steps {
		s := &r.Path.Steps[i]
		if s.Op == paths.KeyAt || s.Op == paths.ValueAt || s.Key.Type == gdwire.TypeStringName {
			return false
		}
		if last := i == len(r.Path.Steps)-1; last && r.Op == Delete && s.Key.Type == gdwire.TypeInt {
			return false
		}
	}
	return true
}

// applyAll makes independent requests at once. If that fails, because one is in the value of
// another or for any other reason, it makes those of the first half before the others.
func (c *Content) applyAll(all []Request) (*Content, error) {
	next, err := c.applyOnce(all)
	if err == nil || len(all) == 1 {
		return next, err
	}
	half := len(all) / 2
	if c, err = c.applyAll(all[:half]); err != nil {
		return nil, err
	}
	return c.applyAll(all[half:])
}

// applyOnce makes requests of the same kind in one walk.
func (c *Content) applyOnce(all []Request) (*Content, error) {
	var tree paths.Tree
	e := &editor{Plan: Plan{content: c}, op: all[0].Op}
	for i := range all {
		if _, err := tree.Add(all[i].Path, ""); err != nil {
			return nil, err
		}
		if e.op == Put {
			e.values = append(e.values, all[i].Value)
		}
	}
	if err := e.run(&tree); err != nil {
		return nil, err
	}
	return e.Content(), nil
}

// A goValue is an encoded Value.
type goValue struct {
	oldValue
	bytes []byte
}

// fits reports whether a value takes the type of another: a number, text or bool that is not exact.
func (v *Value) fits(n *goValue) bool { return !v.Exact && !n.cut && plain[n.Type] != "" }

// marshal returns the new value of a target.
func (e *editor) marshal(p *paths.Node) (n goValue, err error) {
	o := e.content.Encoder
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{
		Format: o.Format, AllowObjects: true, AllowInvalidUTF8: true, DoubleReals: o.DoubleReals,
		Limits: gdwire.NoLimits,
	})
	defer d.Release()
	value := e.values[p.Number()]
	if n.bytes, err = value.Encode(o); err != nil || o.DoubleReals {
		return n, err
	}
	d.ResetBytes(n.bytes)
	reals, err := containsReals(d)
	if err != nil {
		return n, err
	}
	if reals {
		if o.DoubleReals, err = e.packetIsDouble(); err != nil {
			return n, err
		}
		if o.DoubleReals {
			if n.bytes, err = value.Encode(o); err != nil {
				return n, err
			}
		}
	}
	d.ResetBytes(n.bytes)
	n.oldValue, err = read(d, maxCopied)
	return n, err
}

// containsReals reports whether the next value contains a math type, or an array of them.
func containsReals(d *gdwire.Decoder) (bool, error) {
	for t, err := range d.Tokens() {
		if err != nil {
			return false, err
		}
		n, _ := t.Type().Element().Components()
		if n > 0 || t.Components() > 0 {
			return true, nil
		}
	}
	return false, nil
}

// setValue replaces the next value by a Value.
func (e *editor) setValue(p *paths.Node) error {
	start, elem := e.InputOffset(), e.Elem()
	n, err := e.marshal(p)
	if err != nil {
		return err
	}
	was, err := read(e.Decoder, len(n.Text))
	if err != nil {
		return err
	}
	if e.values[p.Number()].fits(&n) {
		v := n.Value
		if fit, ok := v.FitElem(elem); ok {
			v = fit
		}
		if v, err = was.fit(p, v, true); err != nil {
			return err
		}
		if was.is(&v) {
			return nil
		}
		if n.bytes, err = e.encode(&v); err != nil {
			return err
		}
	}
	e.splice(splice{start: start, end: e.InputOffset(), bytes: n.bytes})
	e.noteKey(p)
	return nil
}

// addedGoValue is addedValue for a Value.
func (e *editor) addedGoValue(t *paths.Node, elem gdwire.Elem) (splice, string, error) {
	n, err := e.marshal(t)
	if err != nil {
		return splice{}, "", err
	}
	if e.values[t.Number()].fits(&n) {
		if fit, ok := n.FitElem(elem); ok && fit.Type != n.Type {
			n.bytes, err = e.encode(&fit)
		}
	}
	return splice{bytes: n.bytes}, n.String(), err
}
