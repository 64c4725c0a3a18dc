package paths

import (
	"math"

	"github.com/gdwire/gdwire"
)

// textTypes contains the types of text.
var textTypes = map[gdwire.Type]bool{gdwire.TypeString: true, gdwire.TypeStringName: true, gdwire.TypeNodePath: true}

// Fit returns the value as a value of type t: a number as another kind of number that
// equals it, text as another kind of text, and a list as a packed array. It returns false
// if there is no such value.
func (v *Value) Fit(t gdwire.Type) (Value, bool) {
	fit := *v
	fit.Type = t
	from, to := numberKinds[v.Type], numberKinds[t]
	switch {
	case v.Type == t || textTypes[v.Type] && textTypes[t] && v.Type == gdwire.TypeString:
		return fit, true
	case v.Type == gdwire.TypeInt && t == gdwire.TypeFloat:
		x := float64(v.Int)
		fit.Numbers = []float64{x}
		return fit, x < math.MaxInt64 && int64(x) == v.Int
	case v.Type == gdwire.TypeFloat && t == gdwire.TypeInt:
		fit.Int, fit.Numbers = int64(v.Numbers[0]), nil
		return fit, isInteger(v.Numbers[0], 63)
	case from != 0 && from == to:
		_, integers := t.Components()
		for _, x := range v.Numbers {
			if integers && !isInteger(x, 31) {
				return fit, false
			}
		}
		return fit, true
	case v.Type == gdwire.TypeArray && v.Elem == (gdwire.Elem{}) && t.Element() != 0:
		return v.fitElements(fit, t.Element())
	}
	return *v, false
}

// FitElem returns the value as a value of a declared type, as Fit does.
func (v *Value) FitElem(e gdwire.Elem) (Value, bool) {
	if e.Type == 0 || e.Type == gdwire.TypeObject && v.Type == gdwire.TypeNil {
		return *v, true
	}
	return v.Fit(e.Type)
}

// FitLike returns the value as a value with the type and the declared types of old, as Fit does.
func (v *Value) FitLike(old *Value) (Value, bool) {
	untyped := v.Key == (gdwire.Elem{}) && v.Elem == (gdwire.Elem{})
	switch {
	case v.Type == gdwire.TypeArray && old.Type == gdwire.TypeArray && untyped:
		v.Elem = old.Elem
		return v.fitElements(*v, old.Elem.Type)
	case v.Type == gdwire.TypeDictionary && old.Type == gdwire.TypeDictionary && untyped:
		v.Key, v.Elem = old.Key, old.Elem
		return v.fitPairs(*v)
	}
	return v.Fit(old.Type)
}

func (v *Value) fitElements(fit Value, t gdwire.Type) (Value, bool) {
	fit.Items = nil
	for i := range v.Items {
		item, ok := v.Items[i].FitElem(gdwire.Elem{Type: t})
		if !ok {
			return *v, false
		}
		fit.Items = append(fit.Items, item)
	}
	return fit, true
}

func (v *Value) fitPairs(fit Value) (Value, bool) {
	fit.Items = nil
	for i := range v.Items {
		item, ok := v.Items[i].FitElem([]gdwire.Elem{v.Key, v.Elem}[i%2])
		if !ok {
			return *v, false
		}
		fit.Items = append(fit.Items, item)
	}
	return fit, true
}

// numberKinds numbers the math types that have an integer counterpart.
var numberKinds = map[gdwire.Type]int{
	gdwire.TypeVector2: 1, gdwire.TypeVector2i: 1, gdwire.TypeVector3: 2, gdwire.TypeVector3i: 2,
	gdwire.TypeVector4: 3, gdwire.TypeVector4i: 3, gdwire.TypeRect2: 4, gdwire.TypeRect2i: 4,
}

// isInteger reports whether x is an integer of the given number of bits and a sign.
func isInteger(x float64, bits int) bool {
	limit := math.Ldexp(1, bits)
	return x == math.Trunc(x) && x >= -limit && x < limit
}
