package edit

import (
	"fmt"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/reals"
	"github.com/gdwire/gdwire/internal/text"
)

// A Value is a new value of Go.
type Value struct {
	// Encode returns its encoding.
	Encode func(gdwire.EncoderOptions) ([]byte, error)
	// Exact reports whether it keeps its type, whatever the type of the old value is.
	Exact bool
}

// An operand is a new value: of a text, of Go, or a copy of one in the content. If it is encoded, a
// container is stored without content.
type operand struct {
	oldValue
	exact    bool   // it keeps its type, even in a container of a declared type
	encoding splice // without a place; empty for the value of a text
	format   gdwire.Format
	narrow   *Value // encodes it again if the packet does not contain math types of 64 bits, or nil
	failed   error  // the format of the content does not know it, unless it is converted
}

// A TypeError reports a new value of another type than the old value.
type TypeError struct {
	Path     string
	Old, New string // the types
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("%s is of type %s and not %s", e.Path, e.Old, e.New)
}

// Unwrap returns gdwire.ErrType.
func (e *TypeError) Unwrap() error { return gdwire.ErrType }

// isEncoded reports whether v has an encoding.
func (v *operand) isEncoded() bool { return v.encoding.bytes != nil || v.encoding.size > 0 }

// isType reports whether v is a type, such as Array[int], and not a value.
func (v *operand) isType() bool { return v.Form == text.Declared && !v.isEncoded() }

// operand returns the new value of a target.
func (e *editor) operand(p *text.Node) (operand, error) {
	switch {
	case e.source != nil:
		return *e.source, nil
	case e.values != nil:
		return e.marshal(e.values[p.Number()])
	}
	v, err := text.ParseValue(p.Text)
	return operand{oldValue: oldValue{Value: v}, exact: v.Exact}, err
}

// decoder returns a Decoder of a value that Go has encoded with math types of 64 bits.
func (v *operand) decoder() *gdwire.Decoder {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{
		Format: v.format, AllowObjects: true, AllowInvalidUTF8: true, DoubleReals: true, Limits: gdwire.NoLimits,
	})
	d.ResetBytes(v.encoding.bytes)
	return d
}

// marshal returns a value of Go, with math types of 64 bits, which lose nothing.
func (e *editor) marshal(value *Value) (v operand, err error) {
	o := e.content.Encoder
	o.DoubleReals = true
	v.exact = value.Exact
	if v.encoding.bytes, err = value.Encode(o); err != nil {
		o.Format, v.failed = gdwire.Godot4, reason(err) // which knows a Vector2i for a Vector2
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

// fit makes v a value of the type of the old one, or returns a TypeError. A value that replaces null, and
// one whose type is meant, takes only the declared type of its container; if it cannot, verify refuses
// the edit.
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
		err = &TypeError{p.String(), typeOf(&old.Value), typeOf(&v.Value)}
	}
	return err
}

// fitElem makes v a value of a declared type, if it can be one.
func (e *editor) fitElem(v *operand, elem gdwire.Elem) error {
	if v.exact || elem.Type == 0 || v.Type == elem.Type {
		return nil
	}
	_, err := e.convert(v, func(v *text.Value) (text.Value, bool) { return v.FitElem(elem) })
	return err
}

// convert makes v what fit returns for it, and reports whether that is a value.
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

// typeOf returns the name of the type of a value, with declared types.
func typeOf(v *text.Value) string {
	if v.Type == gdwire.TypeObject {
		return v.Type.String()
	}
	if v.Key == (gdwire.Elem{}) && v.Elem == (gdwire.Elem{}) {
		return v.Type.String()
	}
	return text.Value{Type: v.Type, Form: text.Declared, Key: v.Key, Elem: v.Elem}.String()
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

// newValue returns the new value of a target that contains no containers: an element of a packed array,
// a component, or a key.
func (e *editor) newValue(p *text.Node) (text.Value, error) {
	v, err := e.operand(p)
	if err == nil && (v.cut || v.Form != text.Whole) {
		err = fmt.Errorf("%v cannot contain %v", p, &v.oldValue)
	}
	v.Exact = v.Exact || v.exact && e.source == nil
	return v.Value, err
}
