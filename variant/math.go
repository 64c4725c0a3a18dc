package variant

import (
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
)

// An ownType describes a Go type of this package corresponding to a Variant type. Unlike the
// types of programs, own types are encoded and decoded without regard to their kind.
type ownType struct {
	typ  gdwire.Type
	math *components // nil unless a math type
}

// An ownTable contains the types of this package, listed in coders.go.
type ownTable struct {
	types map[reflect.Type]*ownType
	math  map[gdwire.Type]*components // of the math types among them
}

// ownTypes returns the types of this package. They are made when first used, and not in the 0.1 ms before main.
var ownTypes func() *ownTable

// ownTypeOf returns the ownType for t, or nil if there is none.
func ownTypeOf(t reflect.Type) *ownType { return ownTypes().types[t] }

// addressable returns v, or an addressable copy.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

// components describes a Go type for math types: a number, or an array or struct of floats of
// one kind or of int32, also nested. An array of math types of this package is a list of them,
// and numbers with methods are values of their own.
type components struct {
	typ  reflect.Type
	n    int
	leaf reflect.Kind // Float32, Float64 or Int32
	// order contains the index in the Go type of each encoded component, or is nil if the order is the same.
	order []int
}

// componentsOf returns the components of t, and false if t cannot hold a math type. Methods of t
// itself do not matter.
func componentsOf(t reflect.Type) (c components, ok bool) {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Int32:
		return components{typ: t, n: 1, leaf: t.Kind()}, true
	case reflect.Array:
		inner, ok := innerComponents(t.Elem())
		if !ok || ownTypeOf(t.Elem()) != nil || t.Len() == 0 || t.Len() > maxComponents/inner.n {
			return c, false
		}
		for range t.Len() {
			c.add(&inner)
		}
		c.typ = t
		return c, true
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			inner, ok := innerComponents(f.Type)
			if !ok || !f.IsExported() || f.Tag.Get("gd") == ignoredTag || i > 0 && inner.leaf != c.leaf || c.n+inner.n > maxComponents {
				return c, false
			}
			c.add(&inner)
		}
		if c.typ = t; t == reflect.TypeFor[Basis]() {
			c.order = basisOrder
		}
		return c, c.n > 0
	}
	return c, false
}

// innerComponents returns the components of t, the type of an element or field.
func innerComponents(t reflect.Type) (c components, ok bool) {
	if hasMethods(t) {
		return c, false
	}
	return componentsOf(t)
}

// add appends the components of an element or field. Only a Basis and types containing a Basis have an order.
func (m *components) add(inner *components) {
	if m.order != nil || inner.order != nil {
		order := make([]int, m.n+inner.n)
		for i := range order {
			if i < m.n {
				order[i] = m.at(i)
			} else {
				order[i] = m.n + inner.at(i-m.n)
			}
		}
		m.order = order
	}
	m.n, m.leaf = m.n+inner.n, inner.leaf
}

// maxComponents is the number of components of a Projection.
const maxComponents = 16

// load copies the components of x to c, in encoded order. Only numbersIn, which needs package
// unsafe, finds numbers without reflection.
func (m *components) load(x variable, c []float64) {
	switch m.leaf {
	case reflect.Float32:
		if numbers, ok := numbersIn[float32](x, m.n); ok {
			loadNumbers(m, c, numbers)
			return
		}
	case reflect.Float64:
		if numbers, ok := numbersIn[float64](x, m.n); ok {
			loadNumbers(m, c, numbers)
			return
		}
	case reflect.Int32:
		if numbers, ok := numbersIn[int32](x, m.n); ok {
			loadNumbers(m, c, numbers)
			return
		}
	}
	var flat [maxComponents]float64
	appendComponents(valueOf(x, m.typ), flat[:0:m.n])
	for i := range m.n {
		c[i] = flat[m.at(i)]
	}
}

// loadNumbers copies the components in numbers, in the order of the Go type, to c.
func loadNumbers[T float32 | float64 | int32](m *components, c []float64, numbers []T) {
	if m.order == nil {
		c = c[:len(numbers)]
		for i, x := range numbers {
			c[i] = float64(x)
		}
		return
	}
	for i, from := range m.order {
		c[i] = float64(numbers[from])
	}
}

// storeNumbers copies c, in encoded order, to numbers.
func storeNumbers[T float32 | float64](m *components, numbers []T, c []float64) {
	if m.order == nil {
		numbers = numbers[:len(c)]
		for i, x := range c {
			numbers[i] = T(x)
		}
		return
	}
	for i, to := range m.order {
		numbers[to] = T(c[i])
	}
}

// appendComponents appends the components of v to c, in the order of the Go type.
func appendComponents(v reflect.Value, c []float64) []float64 {
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			c = appendComponents(v.Index(i), c)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c = appendComponents(v.Field(i), c)
		}
	case reflect.Int32:
		c = append(c, float64(v.Int()))
	default:
		c = append(c, v.Float())
	}
	return c
}

// store sets the components of x from c, in encoded order.
func (m *components) store(x variable, c []float64) {
	switch m.leaf {
	case reflect.Float32:
		if numbers, ok := numbersIn[float32](x, m.n); ok {
			storeNumbers(m, numbers, c)
			return
		}
	case reflect.Float64:
		if numbers, ok := numbersIn[float64](x, m.n); ok {
			storeNumbers(m, numbers, c)
			return
		}
	}
	var flat [maxComponents]float64
	for i := range m.n {
		flat[m.at(i)] = c[i]
	}
	setComponents(valueOf(x, m.typ), flat[:m.n])
}

// setComponents sets the components of v from the start of c and returns the rest of c.
func setComponents(v reflect.Value, c []float64) []float64 {
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			c = setComponents(v.Index(i), c)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c = setComponents(v.Field(i), c)
		}
	case reflect.Int32:
		v.SetInt(int64(c[0]))
		c = c[1:]
	default:
		v.SetFloat(c[0])
		c = c[1:]
	}
	return c
}

// at returns the index in the Go type of the component encoded as number i.
func (m *components) at(i int) int {
	if m.order == nil {
		return i
	}
	return m.order[i]
}

// fits reports whether m consists of as many components as the math type t, of the same kind.
func (m *components) fits(t gdwire.Type) bool {
	n, ints := t.Components()
	return n == m.n && ints == (m.leaf == reflect.Int32)
}

// mathTypesOf returns the math types that m fits. An array is encoded as a math type without a tag if
// there is only one.
func mathTypesOf(m components) []gdwire.Type {
	return slices.DeleteFunc(gdwire.Types(), func(t gdwire.Type) bool { return !m.fits(t) })
}

// basisOrder gives the order of an encoded Basis: by rows. The fields of the Go type are the
// axes, the columns of the matrix.
var basisOrder = []int{0, 3, 6, 1, 4, 7, 2, 5, 8}

// setPackable sets dst from src. One of them is a Packable and the other an element with
// the same number of components.
func setPackable(dst, src reflect.Value, m *components) {
	switch {
	case dst.CanInt():
		dst.SetInt(src.Int())
	case dst.CanUint():
		dst.SetUint(src.Uint())
	default:
		var flat [maxComponents]float64
		appendComponents(src, flat[:0])
		setComponents(dst, flat[:max(m.n, 1)])
	}
}

// packedComponents returns the components of t as an element of a packed array of floats or
// vectors, and false if t is none. A float is a number, and no array or struct of one.
func packedComponents(t reflect.Type) (components, bool) {
	m, ok := innerComponents(t)
	return m, ok && m.leaf != reflect.Int32 && (m.n > 1 || m.leaf == t.Kind())
}
