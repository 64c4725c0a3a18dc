//go:build !purego && !go1.28

package variant

import (
	"math"
	"reflect"
	"unsafe"
)

// This file contains all unsafe code of the package; portable.go replaces it. Interfaces as two words are more than package
// unsafe promises. Go releases that no test has run with therefore use portable.go.

// A variable is the address of a Go variable to decode into or to encode. The plan knows
// the type. With a reflect.Value instead, decoding and encoding structs take 50 % longer.
type variable = unsafe.Pointer

// variableOf returns v, an addressable value, as a variable.
func variableOf(v reflect.Value) variable { return unsafe.Pointer(v.UnsafeAddr()) }

// variableIn returns the value in v as a variable that must not be written, if the type is larger
// than a pointer.
func variableIn(v any) (variable, bool) { return (*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1], true }

// A typeID is equal for equal types, and compared without a call.
type typeID = unsafe.Pointer

// idOf returns the typeID of t, the pointer in the interface.
func idOf(t reflect.Type) typeID { return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1] }

// valueOf returns x, a variable of type t, as a reflect.Value, for errors and other rare cases: see
// variableType.
func valueOf(x variable, t reflect.Type) reflect.Value { return reflect.NewAt(t, x).Elem() }

// A variableType makes reflect.Values of the variables of a type, by a nil pointer to the type.
// valueOf makes reflect look up the pointer type in a map, unless the program contains this type: 38 % of
// the instructions of MarshalEncode of pointers, and 5 % of Unmarshal of structs with small slices.
type variableType struct{ null any }

// variableTypeOf returns t for value.
func variableTypeOf(t reflect.Type) variableType {
	return variableType{reflect.Zero(reflect.PointerTo(t)).Interface()}
}

// pointer returns x, a variable of type t, as a pointer in an interface.
func (t variableType) pointer(x variable) any { return withData(t.null, x) }

// value returns x, a variable of type t, as a reflect.Value.
func (t variableType) value(x variable) reflect.Value {
	return reflect.ValueOf(t.pointer(x)).Elem()
}

// pointer returns a pointer to x, a variable of the underlying type T.
func pointer[T any](x variable) *T { return (*T)(x) }

// boolIn, intIn, floatIn and textIn return the value of x, a variable of a bool, number or
// string kind.
func boolIn(x variable) bool                                       { return *pointer[bool](x) }
func intIn[T int | int8 | int16 | int32 | int64](x variable) int64 { return int64(*pointer[T](x)) }
func floatIn[T float32 | float64](x variable) float64              { return float64(*pointer[T](x)) }
func textIn(x variable) string                                     { return *pointer[string](x) }

// set assigns v to x, a variable of the kind of T.
func set[T any](x variable, v T) { *(*T)(x) = v }

// A fieldLocation contains the offset of a field in its struct, for fieldAt. For a field reached
// through a pointer, the location is zero, because the plan takes the whole struct.
type fieldLocation struct{ offset uintptr }

// locationOf returns the location of the field at index in the struct t, not reached through a pointer.
func locationOf(t reflect.Type, index []int) (l fieldLocation) {
	for _, i := range index {
		f := t.Field(i)
		l.offset, t = l.offset+f.Offset, f.Type
	}
	return l
}

// fieldAt returns the field at p of the struct x.
func fieldAt(x variable, p fieldLocation) variable { return unsafe.Add(x, p.offset) }

// elemAt returns element i, of the given size, of the array x, or of the slice with elements x.
func elemAt(x variable, i int, size uintptr) variable { return unsafe.Add(x, uintptr(i)*size) }

// sliceData returns the elements of the slice x, for elemAt.
func sliceData(x variable) variable { return unsafe.Pointer(unsafe.SliceData(*pointer[[]struct{}](x))) }

// lenCap returns the length and the capacity of the slice x.
func lenCap(x variable) (n, most int) {
	return len(*pointer[[]struct{}](x)), cap(*pointer[[]struct{}](x))
}

// setLen sets the length of the slice x, up to its capacity.
func setLen(x variable, n int) { *pointer[[]struct{}](x) = (*pointer[[]struct{}](x))[:n] }

// variableAt returns x as a variable.
func variableAt[T any](x *T) variable { return unsafe.Pointer(x) }

// isPortable reports whether viewOf can return false. As a constant, it keeps the code for that out of programs.
const isPortable = false

// viewOf returns the elements of v, a slice or an array with an address, as a []T. The caller
// must have checked that an element and a T have the same memory layout: as many numbers of the
// same kind. Packed arrays of a program's own vector types are therefore read and written at the
// speed of memory.
func viewOf[T any](v reflect.Value) ([]T, bool) {
	if v.Kind() == reflect.Slice {
		return unsafe.Slice((*T)(v.UnsafePointer()), v.Cap())[:v.Len()], true
	}
	return unsafe.Slice((*T)(unsafe.Pointer(v.UnsafeAddr())), v.Len()), true
}

// setView makes v, a slice with an address, refer to the elements of all. A T must have the
// memory layout of an element of v.
func setView[T any](v reflect.Value, all []T) {
	*(*[]T)(unsafe.Pointer(v.UnsafeAddr())) = all
}

// numbersIn returns the n numbers of x, a number, array or struct consisting of them.
func numbersIn[T float32 | float64 | int32](x variable, n int) ([]T, bool) {
	return unsafe.Slice((*T)(x), n), true
}

// Texts of up to maxSharedText bytes share blocks of textBlockSize bytes: see newText.
const (
	maxSharedText = 32
	textBlockSize = 128
)

// textBlocks contains the memory of short texts.
type textBlocks struct {
	textBlock     *[textBlockSize]byte // the latest block
	textBlockLeft int                  // the unused bytes at its end
}

// newText returns b as a string. Short texts share blocks of memory: -8 % of Unmarshal into
// structs. Blocks are small, because a text keeps all of its block in memory.
func (s *textBlocks) newText(b []byte) string {
	n := len(b)
	if uint(n-1) >= maxSharedText {
		return string(b)
	}
	if n > s.textBlockLeft {
		s.textBlock, s.textBlockLeft = new([textBlockSize]byte), textBlockSize
	}
	left := s.textBlockLeft
	s.textBlockLeft = left - n
	text := unsafe.Add(unsafe.Pointer(s.textBlock), textBlockSize-left)
	if n <= 8 && left >= 8 && cap(b) >= 8 {
		*(*[8]byte)(text) = [8]byte(b[:8]) // without a call
	} else {
		copy(unsafe.Slice((*byte)(text), n), b)
	}
	return unsafe.String((*byte)(text), n)
}

// boxes puts numbers and short texts into interfaces, with variables allocated in blocks: -11 % of
// a tree into any, with two thirds of the allocations. Blocks are small, because an interface keeps
// all of its block in memory. No block refers to larger memory.
type boxes struct {
	numbers []int64  // the unused variables of a block
	texts   []string // the unused variables of another
}

// numbersInBlock and textsInBlock are the sizes of blocks, of 64 bytes.
const (
	numbersInBlock = 8
	textsInBlock   = 4
)

// int returns x as an any. For the smallest numbers, Go needs no memory.
func (b *boxes) int(x int64) any {
	if uint64(x) < 256 {
		return x
	}
	return withData(int64(0), b.number(x))
}

// float returns x as an any.
func (b *boxes) float(x float64) any {
	bits := math.Float64bits(x)
	if bits == 0 {
		return float64(0)
	}
	return withData(float64(0), b.number(int64(bits)))
}

// number returns the address of a new variable with these 64 bits.
func (b *boxes) number(bits int64) unsafe.Pointer {
	if len(b.numbers) == 0 {
		b.numbers = new([numbersInBlock]int64)[:]
	}
	p := &b.numbers[0]
	*p, b.numbers = bits, b.numbers[1:]
	return unsafe.Pointer(p)
}

// text returns x as an any. A long text gets a variable of its own, an empty text needs none.
func (b *boxes) text(x string) any {
	if uint(len(x)-1) >= maxSharedText {
		return x
	}
	if len(b.texts) == 0 {
		b.texts = new([textsInBlock]string)[:]
	}
	p := &b.texts[0]
	*p, b.texts = x, b.texts[1:]
	return withData("", unsafe.Pointer(p))
}

// withData returns an interface of the type of v with the value at p. The value must never be written again.
func withData(v any, p unsafe.Pointer) any {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1] = p
	return v
}
