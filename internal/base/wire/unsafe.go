//go:build !purego && (386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package wire

import "unsafe"

// memory returns the memory of s as bytes. On a little-endian machine they are the
// encoding of s, so packed arrays are read directly into the caller's slice and written
// directly from it, as fast as memory is copied.
//
// This file contains all unsafe code of the package; portable.go replaces it.
func memory[T Element](s []T) ([]byte, bool) {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T)))), true
}

// eachUnnamed calls f with the numbers in s as slices of an unnamed type. i is the
// index in s of the first number's element.
func eachUnnamed[T Element](s []T, f func(i int, numbers any)) {
	u, n := UnitOf[T]()
	p, n := unsafe.Pointer(unsafe.SliceData(s)), n*len(s)
	switch u {
	case Byte:
		f(0, unsafe.Slice((*byte)(p), n))
	case Int32:
		f(0, unsafe.Slice((*int32)(p), n))
	case Int64:
		f(0, unsafe.Slice((*int64)(p), n))
	case Float32:
		f(0, unsafe.Slice((*float32)(p), n))
	case Float64:
		f(0, unsafe.Slice((*float64)(p), n))
	}
}

// String returns b as a string without copying it. b must not change while the string is in
// use.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
