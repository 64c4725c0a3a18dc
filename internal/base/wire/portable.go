//go:build purego || !(386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package wire

import "reflect"

// memory reports false, so that elements are converted one by one: see unsafe.go.
func memory[T Element]([]T) ([]byte, bool) { return nil, false }

// eachUnnamed calls f with the numbers in s as slices of an unnamed type. i is the
// index in s of the first number's element.
func eachUnnamed[T Element](s []T, f func(i int, numbers any)) {
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

// unnamedArray returns the array v as a slice of its memory.
func unnamedArray(v reflect.Value) any {
	return v.Slice(0, v.Len()).Interface()
}

// String returns b as a string.
func String(b []byte) string { return string(b) }
