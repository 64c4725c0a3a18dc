package variant

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// into returns a variable of each type that fuzzing decodes into.
var into = []func() any{
	func() any { return new(any) },
	func() any { return new(zoo) },
	func() any { return new([]zoo) },
	func() any { return new(map[string]*zoo) },
	func() any { return new(map[any]any) },
	func() any { return new([]any) },
	func() any { return new(map[float32][]Raw) },
	func() any { return new(extraMap) },
	func() any { return new(Raw) },
	func() any { return new([3][3]float32) },
	func() any { return new([]uint16) },
	func() any { return new(row) },
	func() any { return new(Object) },
}

// FuzzUnmarshal decodes any bytes into several types. Accepted values are encoded and
// decoded again without a change.
func FuzzUnmarshal(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range gdwire.Formats() {
		format := gdwire.Formats()[i]
		for range 20 {
			if b, err := Marshal(randomZoo(random), *fuzzOptions(format)); err == nil {
				f.Add(b, byte(i))
			}
			f.Add(encoded(f, randomTree(random, format, 4), fuzzOptions(format)), byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, format byte) {
		for _, most := range []int{0, 16} { // with short chunks, names of fields are longer than one
			o := fuzzOptions(gdwire.Formats()[int(format)%len(gdwire.Formats())])
			o.Decoder.MaxChunk = most
			requireValidated(t, b, o)
			for _, variable := range into {
				requireStable(t, b, variable, o)
			}
		}
	})
}

// requireValidated checks that Validate accepts b if Unmarshal into an any does, and otherwise
// finds the same place.
func requireValidated(t testing.TB, b []byte, o *Options) {
	unlimited := *o
	unlimited.MaxMemory = -1
	got, want := Validate(b, unlimited), Unmarshal(b, new(any), unlimited)
	require.Equal(t, want == nil, got == nil, "%v, %v", want, got)
	var gotAt, wantAt *gdwire.Error
	if errors.As(want, &wantAt) {
		require.ErrorAs(t, got, &gotAt)
		require.Equal(t, wantAt.Offset, gotAt.Offset, "%v, %v", want, got)
		require.Equal(t, wantAt.Path, gotAt.Path, "%v, %v", want, got)
	}
}

// requireStable decodes the value at the start of b into a result of variable, encodes it and decodes
// it again.
func requireStable(t testing.TB, b []byte, variable func() any, o *Options) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v := variable()
	rest, err := UnmarshalFirst(b, v, *o)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20+100*len(b)))
	if err != nil {
		var at *gdwire.Error
		require.ErrorAs(t, err, &at, "%T", v)
		return
	}
	require.Equal(t, len(rest) == 0, Unmarshal(b, variable(), *o) == nil, "%T: exactly one value", v)
	once, err := Marshal(v, *o)
	if errors.Is(err, gdwire.ErrType) || errors.Is(err, gdwire.ErrRange) || errors.Is(err, gdwire.ErrUTF8) {
		// A typed container with elements of other types; text that is not a NodePath.
		return
	}
	require.NoError(t, err, "%T %+v", v, v)
	again := variable()
	o.MaxMemory = -1 // values that were nil may be there now
	require.NoError(t, Unmarshal(once, again, *o), "%T %+v", v, v)
	o.MaxMemory = 1 << 20
	twice := must(Marshal(again, *o))(t)
	require.True(t, bytes.Equal(once, twice), "%T\n%x\n%x", v, once, twice)
}

// FuzzValues decodes random trees, and encodes them to the same bytes.
func FuzzValues(f *testing.F) {
	for i := range uint64(50) {
		f.Add(i)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, format := range gdwire.Formats() {
			o := fuzzOptions(format)
			b := encoded(t, randomTree(rand.New(rand.NewPCG(seed, 1)), format, 5), o)
			require.True(t, bytes.Equal(b, encoded(t, readAs(t, b, o), o)))
			requireStable(t, b, func() any { return new(zoo) }, o)
		}
	})
}

// randomZoo returns a Dictionary with the keys of a zoo, mostly with values that fit.
func randomZoo(random *rand.Rand) any {
	info, err := fieldsOf(reflect.TypeFor[zoo]())
	if err != nil {
		panic(err)
	}
	d := &Dictionary{}
	for _, f := range info.all {
		switch {
		case random.IntN(4) == 0:
		case f.typ.Kind() == reflect.Interface || random.IntN(40) == 0:
			d.Set(f.name, randomTree(random, gdwire.Godot4, 3))
		case f.typ == reflect.TypeFor[level]():
			d.Set(f.name, "level 3")
		case f.typ != reflect.TypeFor[Raw]() && f.typ != reflect.TypeFor[*Object]():
			d.Set(f.name, reflect.New(f.typ).Interface())
		}
	}
	return d
}
