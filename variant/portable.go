//go:build purego

package variant

import "reflect"

// viewOf returns the elements of v as a []T if that is its type: see unsafe.go.
func viewOf[T any](v reflect.Value) ([]T, bool) {
	if v.Type() == reflect.TypeFor[[]T]() {
		return v.Interface().([]T), true
	}
	return nil, false
}

// setView sets the slice v to all, which viewOf has returned.
func setView[T any](v reflect.Value, all []T) { v.Set(reflect.ValueOf(all)) }

// numbersIn reports false: see unsafe.go.
func numbersIn[T float32 | float64 | int32](reflect.Value, int) ([]T, bool) { return nil, false }
