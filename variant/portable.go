//go:build purego || go1.28

package variant

import "reflect"

// A variable is a Go variable decoded into or encoded by a plan: see unsafe.go.
type variable = reflect.Value

// variableOf returns the addressable v as a variable.
func variableOf(v reflect.Value) variable { return v }

// variableIn returns false: see unsafe.go.
func variableIn(any) (variable, bool) { return variable{}, false }

// valueOf returns x as a reflect.Value.
func valueOf(x variable, _ reflect.Type) reflect.Value { return x }

// A typeID is equal for equal types.
type typeID = reflect.Type

// idOf returns the typeID of t.
func idOf(t reflect.Type) typeID { return t }

// A variableType makes reflect.Values of the variables of a type.
type variableType struct{}

// variableTypeOf returns t for value.
func variableTypeOf(reflect.Type) variableType { return variableType{} }

// pointer returns a pointer to x in an interface.
func (variableType) pointer(x variable) any { return x.Addr().Interface() }

// value returns x as a reflect.Value.
func (variableType) value(x variable) reflect.Value { return x }

// pointer returns a pointer to x, of underlying type T.
func pointer[T any](x variable) *T {
	p := x.Addr()
	if p, ok := p.Interface().(*T); ok {
		return p
	}
	return p.Convert(reflect.TypeFor[*T]()).Interface().(*T)
}

// boolIn, intIn, floatIn and textIn return the value of x. With pointer, encoding structs takes
// 20 % longer.
func boolIn(x variable) bool                                       { return x.Bool() }
func intIn[T int | int8 | int16 | int32 | int64](x variable) int64 { return x.Int() }
func floatIn[T float32 | float64](x variable) float64              { return x.Float() }
func textIn(x variable) string                                     { return x.String() }

// set assigns v to x, a variable of the kind of T.
func set[T any](x variable, value T) {
	switch v := any(value).(type) {
	case bool:
		x.SetBool(v)
	case int:
		x.SetInt(int64(v))
	case int64:
		x.SetInt(v)
	case float64:
		x.SetFloat(v)
	case string:
		x.SetString(v)
	default:
		*pointer[T](x) = value
	}
}

// A fieldLocation contains the index of a field in its struct, for fieldAt. For a field in an embedded
// pointer, at is nil, and the plan takes the whole struct.
type fieldLocation struct{ at []int }

// locationOf returns the location of the field at index in the struct t, outside embedded pointers.
func locationOf(_ reflect.Type, index []int) fieldLocation { return fieldLocation{index} }

// fieldAt returns the field at p of the struct x.
func fieldAt(x variable, p fieldLocation) variable { return x.FieldByIndex(p.at) }

// elemAt returns element i of the array or slice x.
func elemAt(x variable, i int, _ uintptr) variable { return x.Index(i) }

// sliceData returns the slice x, for elemAt.
func sliceData(x variable) variable { return x }

// lenCap returns the length and the capacity of the slice x.
func lenCap(x variable) (n, most int) { return x.Len(), x.Cap() }

// setLen sets the length of the slice x, up to its capacity.
func setLen(x variable, n int) { x.SetLen(n) }

// variableAt returns x as a variable.
func variableAt[T any](x *T) variable { return reflect.ValueOf(x).Elem() }

const isPortable = true // see unsafe.go

// viewOf returns the elements of v if v is a []T: see unsafe.go.
func viewOf[T any](v reflect.Value) ([]T, bool) {
	if v.Type() == reflect.TypeFor[[]T]() {
		return v.Interface().([]T), true
	}
	return nil, false
}

// setView sets the slice v to all, a result of viewOf.
func setView[T any](v reflect.Value, all []T) { v.Set(reflect.ValueOf(all)) }

// numbersIn reports false: see unsafe.go.
func numbersIn[T float32 | float64 | int32](variable, int) ([]T, bool) { return nil, false }

// boxes puts values into interfaces: see unsafe.go.
type boxes struct{}

func (boxes) int(x int64) any     { return x }
func (boxes) float(x float64) any { return x }
func (boxes) text(x string) any   { return x }

// textBlocks makes texts: see unsafe.go.
type textBlocks struct{}

func (textBlocks) newText(b []byte) string { return string(b) }
