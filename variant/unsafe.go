//go:build !purego

package variant

import (
	"reflect"
	"unsafe"
)

// viewOf returns the elements of v, a slice or an array with an address, as a []T.
// The caller knows that they lie in memory as those of a []T do: as many numbers of
// the same kind. Packed arrays of a program's own vector types are so read and
// written at the speed of memory.
//
// Everything unsafe in this package is in this file; portable.go replaces it.
func viewOf[T any](v reflect.Value) ([]T, bool) {
	if v.Kind() == reflect.Slice {
		return unsafe.Slice((*T)(v.UnsafePointer()), v.Cap())[:v.Len()], true
	}
	return unsafe.Slice((*T)(unsafe.Pointer(v.UnsafeAddr())), v.Len()), true
}

// setView makes the slice v, which has an address, the slice all.
func setView[T any](v reflect.Value, all []T) {
	*(*[]T)(unsafe.Pointer(v.UnsafeAddr())) = all
}

// numbersIn returns the n numbers that v, an array or struct with an address, is
// made of.
func numbersIn[T float32 | float64 | int32](v reflect.Value, n int) ([]T, bool) {
	return unsafe.Slice((*T)(unsafe.Pointer(v.UnsafeAddr())), n), true
}
