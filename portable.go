//go:build purego || !(386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package gdwire

import "reflect"

// memory has no answer here: see unsafe.go.
func memory[T Packable]([]T) ([]byte, bool) { return nil, false }

// eachUnnamed calls f with the numbers that s consists of, as a slice of an unnamed
// type, and the index of the element that they begin with.
func eachUnnamed[T Packable](s []T, f func(i int, numbers any)) {
	for i := range s {
		v := reflect.ValueOf(&s[i]).Elem()
		if v.Kind() == reflect.Array {
			f(i, unnamedArray(v))
			continue
		}
		number := reflect.MakeSlice(unnamedSlices[v.Kind()], 1, 1)
		number.Index(0).Set(v.Convert(number.Type().Elem()))
		f(i, number.Interface())
		v.Set(number.Index(0).Convert(v.Type()))
	}
}

var unnamedSlices = map[reflect.Kind]reflect.Type{
	reflect.Uint8: reflect.TypeFor[[]byte](), reflect.Int32: reflect.TypeFor[[]int32](), reflect.Int64: reflect.TypeFor[[]int64](),
	reflect.Float32: reflect.TypeFor[[]float32](), reflect.Float64: reflect.TypeFor[[]float64](),
}

// unnamedArray returns the elements of an array as a slice of the same memory.
func unnamedArray(v reflect.Value) any {
	return v.Slice(0, v.Len()).Interface()
}
