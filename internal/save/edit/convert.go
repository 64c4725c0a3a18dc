package edit

import (
	"fmt"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/reals"
	"github.com/gdwire/gdwire/internal/text"
)

// ofTexts returns the values of the texts of the targets.
func ofTexts(_ *editor, p *text.Node) (operand, error) {
	v, err := text.ParseValue(p.Text)
	return operand{oldValue: oldValue{Value: v}, exact: v.Exact}, err
}

// ofGo returns values of Go, by the numbers of the targets.
func ofGo(values []*Value) source {
	return func(e *editor, p *text.Node) (operand, error) { return e.marshal(values[p.Number()]) }
}

// ofCopy returns v for each target.
func ofCopy(v operand) source {
	v.copied = true
	return func(*editor, *text.Node) (operand, error) { return v, nil }
}

// operand returns the new value of a target.
func (e *editor) operand(p *text.Node) (operand, error) { return e.source(e, p) }

// marshal returns a value of Go, with math types of 64 bits, so that nothing is lost.
func (e *editor) marshal(value *Value) (v operand, err error) {
	o := e.content.Encoder
	o.DoubleReals = true
	v.exact = value.Exact
	if v.encoding.bytes, err = value.Encode(o); err != nil {
		o.Format, v.failed = gdwire.Godot4, reason(err) // for a Vector2i in place of a Vector2
		if v.encoding.bytes, err = value.Encode(o); err != nil {
			return v, v.failed
		}
	}
	v.format = o.Format
	d := v.decoder()
	defer d.Release()
	w, err := reals.Read(d)
	if err != nil {
		return v, err
	}
	if w == reals.Double {
		v.narrow = value
	}
	d.ResetBytes(v.encoding.bytes)
	v.oldValue, err = read(d, maxCopied)
	return v, err
}

// newValue returns the new value of a target that contains no containers: an element of a packed array,
// a component, or a key.
func (e *editor) newValue(p *text.Node) (text.Value, error) {
	v, err := e.operand(p)
	if err == nil && (v.cut || v.Form != text.Whole) {
		err = fmt.Errorf("%v cannot contain %v", p, &v.oldValue)
	}
	v.Exact = v.Exact || v.exact && !v.copied
	return v.Value, err
}

// fit makes v a value of the type of the old value, or returns a TypeError. A value that replaces null,
// or keeps its own type on purpose, takes only the declared type of its container; verify refuses a value
// that cannot.
func (e *editor) fit(p *text.Node, v *operand, old *oldValue, elem gdwire.Elem) error {
	switch {
	case v.exact:
		return nil
	case e.exact || old.Type == gdwire.TypeNil:
		return e.fitElem(v, elem)
	case v.IsLike(&old.Value):
		return nil
	}
	ok, err := e.convert(v, func(v *text.Value) (text.Value, bool) { return v.FitLike(&old.Value) })
	if err == nil && !ok {
		err = &TypeError{p.String(), typeOf(&old.Value), typeOf(&v.Value), old.such(), p.Text}
	}
	return err
}

// fitElem makes v a value of a declared type, if possible.
func (e *editor) fitElem(v *operand, elem gdwire.Elem) error {
	_, err := e.fitsElem(v, elem)
	return err
}

// fitsElem is fitElem, and reports whether engines take v for a value of the type, or whether v keeps another on purpose.
func (e *editor) fitsElem(v *operand, elem gdwire.Elem) (bool, error) {
	if v.exact || elem.Type == 0 || v.Type == elem.Type {
		return true, nil
	}
	return e.convert(v, func(v *text.Value) (text.Value, bool) { return v.FitElem(elem) })
}

// convert replaces v by the result of fit, and reports whether there is one.
func (e *editor) convert(v *operand, fit func(*text.Value) (text.Value, bool)) (bool, error) {
	whole := v.Value
	if v.isEncoded() && (v.cut || v.Form == text.Declared) {
		d := v.decoder()
		defer d.Release()
		var err error
		if whole, err = text.Read(d); err != nil {
			return false, err
		}
	}
	fitted, ok := fit(&whole)
	if ok {
		*v = operand{oldValue: oldValue{Value: fitted}, exact: v.exact}
	}
	return ok, nil
}

// encoded returns a splice, without a place, with the encoding of v.
func (e *editor) encoded(v *operand) (splice, error) {
	if !v.isEncoded() {
		b, err := e.encode(&v.Value)
		return splice{bytes: b}, err
	}
	if v.failed != nil {
		return splice{}, v.failed
	}
	if v.narrow != nil {
		double, err := e.isDouble()
		if err == nil && !double {
			o := e.content.Encoder
			o.DoubleReals = false
			v.encoding.bytes, err = v.narrow.Encode(o)
		}
		if err != nil {
			return splice{}, err
		}
	}
	return v.encoding, nil
}

// encodePart returns the bytes of v that replace a part, and v as a value of the part's type.
func (e *editor) encodePart(p *text.Node, part *text.Part, v text.Value) ([]byte, text.Value, error) {
	want := part.Value.Type
	fit, ok := v.Fit(want)
	if !ok || fit.Form != text.Whole || v.Exact && v.Type != want {
		return nil, v, fmt.Errorf("%v is in a %v: %v is not of type %v", p, part.In, &v, want)
	}
	var b []byte
	var err error
	if want == gdwire.TypeString {
		b, err = e.write(&text.Value{Type: part.In, Items: []text.Value{fit}}, false)
		b = b[min(len(b), packedHeader):]
	} else {
		b, err = part.Append(nil, &fit)
	}
	if err != nil {
		return nil, v, fmt.Errorf("%v: %w", p, reason(err))
	}
	return b, fit, nil
}
