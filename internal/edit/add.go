package edit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/paths"
)

// addTo adds the targets in p to its value, and returns how many.
func (e *editor) addTo(p *paths.Place, c *paths.Container) (n int64, err error) {
	var targets []*paths.Place
	p.Inner(func(t *paths.Place) bool {
		if t.IsTarget() && (e.op == Add || t.Hits == 0) {
			targets = append(targets, t)
		}
		return true
	})
	slices.SortFunc(targets, func(a, b *paths.Place) int { return cmp.Compare(a.Number(), b.Number()) })
	for _, t := range targets {
		var added bool
		switch c.Kind {
		case gdwire.KindArrayStart, gdwire.KindPackedStart:
			added, err = e.addElement(t, c)
		case gdwire.KindDictStart:
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

// addElement adds an element to an Array or packed array. It returns false if the array has
// no such position.
func (e *editor) addElement(t *paths.Place, c *paths.Container) (bool, error) {
	at, ok := e.positions[t]
	step := t.Step()
	if step.Op == paths.End || step.Op == paths.Child && step.Key.Type == gdwire.TypeInt && step.Key.Int == c.Len {
		at, ok = c.End, true
	}
	if !ok {
		return false, nil
	}
	var s splice
	var text string
	if c.Kind == gdwire.KindPackedStart {
		v, err := e.newValue(t)
		if err != nil {
			return false, err
		}
		part := paths.Part{In: c.Type, Bits: c.Bits, Value: paths.Value{Type: c.Type.Element()}}
		if s.bytes, v, err = e.encodePart(t, &part, v); err != nil {
			return false, err
		}
		text = v.String()
	} else {
		var err error
		if s, text, err = e.addedValue(t, c.Elem); err != nil {
			return false, err
		}
	}
	s.start, s.end = at, at
	e.splice(s)
	e.changed(t, text, "")
	return true, nil
}

// addedValue returns a splice with the new value of a target, which is of a declared type,
// and its text.
func (e *editor) addedValue(t *paths.Place, elem gdwire.Elem) (splice, string, error) {
	if e.source != nil {
		s, err := e.sourceSplice()
		return s, e.source.String(), err
	}
	v, err := paths.ParseValue(t.Text)
	if err != nil {
		return splice{}, "", err
	}
	if v.Form == paths.Declared {
		return splice{}, "", fmt.Errorf("%v is a type and not a value", &v)
	}
	if fit, ok := v.FitElem(elem); ok && !v.Exact {
		v = fit
	}
	b, err := e.encode(&v)
	if err != nil {
		return splice{}, "", fmt.Errorf("%v: %w", t, reason(err))
	}
	return splice{bytes: b}, v.String(), nil
}

// addPair adds a pair to a Dictionary.
func (e *editor) addPair(t *paths.Place, c *paths.Container) error {
	step := t.Step()
	switch {
	case t.Hits > 0:
		return fmt.Errorf("there is a value at %v; set changes it", t)
	case step.Op != paths.Child:
		return fmt.Errorf("%v is not a key that can be added to a Dictionary", t)
	}
	key := step.Key
	if fit, ok := key.FitElem(c.Key); ok {
		key = fit
	}
	b, err := e.encode(&key)
	if err != nil {
		return fmt.Errorf("%v: %w", t, reason(err))
	}
	s, text, err := e.addedValue(t, c.Elem)
	if err != nil {
		return err
	}
	e.splice(splice{start: c.End, end: c.End, bytes: b})
	s.start, s.end = c.End, c.End
	e.splice(s)
	e.changed(t, text, "")
	return nil
}
