// Package variantmodel is a second implementation of package variant, slow and obvious: it
// reads a value into a tree, knows no plans, no reused memory and no fast paths, and looks at
// each Go type anew. Its tests compare variant with it for random types.
//
// It covers types without methods and without limits, and values without Objects.
package variantmodel

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// An Error is the path of a value that does not fit, and why.
type Error struct {
	Path  string
	Cause error
}

func (e *Error) Error() string { return e.Path + ": " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// errTypes is the error for a Go type without an encoding.
var errTypes = errors.New("invalid Go type")

// A field is a field of a struct or of a struct embedded in it.
type field struct {
	name     string
	index    []int
	typ      reflect.Type
	omitZero bool
	required bool
	as       declared
}

// A declared is the type= of a tag: a type, with declared types of its keys and elements.
type declared struct {
	wire      gdwire.Type
	key, elem gdwire.Type
}

// fieldsOf returns the fields of a struct, and whether it is positional.
func fieldsOf(t reflect.Type) (all []field, positional bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("gd"), ",")
		if f.Name == "_" || isIgnored(f) {
			positional = positional || f.Name == "_"
			continue
		}
		if f.Anonymous {
			inner, _ := fieldsOf(f.Type)
			for _, x := range inner {
				x.index = slices.Concat([]int{i}, x.index)
				all = append(all, x)
			}
			continue
		}
		x := field{name: name, index: []int{i}, typ: f.Type}
		options, as, _ := strings.Cut(options, "type=")
		x.omitZero = strings.Contains(options, "omitzero")
		x.required = strings.Contains(options, "required")
		x.as = parseDeclared(as)
		all = append(all, x)
	}
	return all, positional
}

// parseDeclared returns the type= that a text names: int, Array[int] or Dictionary[String, int].
func parseDeclared(text string) declared {
	typed := func(name string) gdwire.Type {
		for _, t := range gdwire.Types() {
			if t.String() == name {
				return t
			}
		}
		return 0
	}
	container, inner, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	key, elem, isDict := strings.Cut(inner, ", ")
	if !isDict {
		key, elem = "", inner
	}
	return declared{typed(container), typed(key), typed(elem)}
}

func isIgnored(f reflect.StructField) bool { return f.Tag.Get("gd") == "-" }

// A shape describes a Go type that can be a math type: numbers of one kind.
type shape struct {
	n    int
	leaf reflect.Kind
}

func shapeOf(t reflect.Type) shape {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Int32:
		return shape{1, t.Kind()}
	case reflect.Array:
		s := shapeOf(t.Elem())
		if s.n *= t.Len(); ownTypes[t.Elem()] != 0 {
			return shape{} // a list of vectors is no larger vector
		}
		return s
	case reflect.Struct:
		var s shape
		for i := range t.NumField() {
			f := shapeOf(t.Field(i).Type)
			if f.n == 0 || !t.Field(i).IsExported() || isIgnored(t.Field(i)) || i > 0 && f.leaf != s.leaf {
				return shape{}
			}
			s = shape{s.n + f.n, f.leaf}
		}
		return s
	}
	return shape{}
}

// components contains the number of components of the math types, negative for integers.
var components = map[gdwire.Type]int{
	gdwire.TypeVector2: 2, gdwire.TypeVector2i: -2, gdwire.TypeRect2: 4, gdwire.TypeRect2i: -4, gdwire.TypeVector3: 3, gdwire.TypeVector3i: -3,
	gdwire.TypeTransform2D: 6, gdwire.TypeVector4: 4, gdwire.TypeVector4i: -4, gdwire.TypePlane: 4, gdwire.TypeQuaternion: 4, gdwire.TypeAABB: 6,
	gdwire.TypeBasis: 9, gdwire.TypeTransform3D: 12, gdwire.TypeProjection: 16, gdwire.TypeColor: 4,
}

// fits reports whether a shape contains the components of a math type.
func (s shape) fits(t gdwire.Type) bool {
	n := components[t]
	return n != 0 && (s.leaf == reflect.Int32 && n == -s.n || s.leaf != reflect.Int32 && n == s.n)
}

// mathTypes returns the math types that a shape fits.
func (s shape) mathTypes() (all []gdwire.Type) {
	for _, t := range gdwire.Types() {
		if s.fits(t) {
			all = append(all, t)
		}
	}
	return all
}

// ownTypes contains the types of package variant that the model knows.
var ownTypes = func() map[reflect.Type]gdwire.Type {
	m := map[reflect.Type]gdwire.Type{
		reflect.TypeFor[variant.StringName](): gdwire.TypeStringName, reflect.TypeFor[variant.NodePath](): gdwire.TypeNodePath,
		reflect.TypeFor[variant.RID](): gdwire.TypeRID,
	}
	for typ, t := range mathTypes {
		m[t] = typ
	}
	return m
}()

// flatten returns the numbers in v, in the order of the encoding.
func flatten(v reflect.Value) (c []float64) {
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			c = append(c, flatten(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c = append(c, flatten(v.Field(i))...)
		}
	case reflect.Int32:
		return []float64{float64(v.Int())}
	default:
		return []float64{v.Float()}
	}
	if v.Type() == reflect.TypeFor[variant.Basis]() { // by rows
		return []float64{c[0], c[3], c[6], c[1], c[4], c[7], c[2], c[5], c[8]}
	}
	return c
}

// unflatten sets the numbers in v from the start of c, in the order of the encoding, and returns
// the rest of c.
func unflatten(v reflect.Value, c []float64) []float64 {
	if v.Type() == reflect.TypeFor[variant.Basis]() { // by rows
		c = append([]float64{c[0], c[3], c[6], c[1], c[4], c[7], c[2], c[5], c[8]}, c[9:]...)
	}
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			c = unflatten(v.Index(i), c)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c = unflatten(v.Field(i), c)
		}
	case reflect.Int32:
		v.SetInt(int64(c[0]))
		return c[1:]
	default:
		v.SetFloat(c[0])
		return c[1:]
	}
	return c
}

func overflows32(x float64) bool { return math.IsInf(float64(float32(x)), 0) && !math.IsInf(x, 0) }
