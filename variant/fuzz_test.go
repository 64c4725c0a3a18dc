package variant

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
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
			if b, err := Marshal(randomValue(random, 4), *fuzzOptions(format)); err == nil {
				f.Add(b, byte(i))
			}
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

// FuzzValues encodes random values and decodes them again.
func FuzzValues(f *testing.F) {
	for i := range uint64(50) {
		f.Add(i)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		o := fuzzOptions(gdwire.Godot4)
		o.MaxMemory = 0
		v := randomValue(random, 6)
		b := must(Marshal(v, *o))(t)
		var got any
		require.NoError(t, Unmarshal(b, &got, *o))
		require.True(t, equalKeys(v, got) || reflect.DeepEqual(v, got) || hasObject(v), "%#v\n%#v", v, got)
		require.True(t, bytes.Equal(b, must(Marshal(got, *o))(t)))
		requireStable(t, b, func() any { return new(zoo) }, o)
	})
}

// hasObject reports whether v contains an Object, which is equal only to itself.
func hasObject(v any) bool {
	switch v := v.(type) {
	case *Object:
		return true
	case *Array:
		for _, x := range v.Values {
			if hasObject(x) {
				return true
			}
		}
	case *Dictionary:
		for k, x := range v.All() {
			if hasObject(k) || hasObject(x) {
				return true
			}
		}
	}
	return false
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
			d.Set(f.name, randomValue(random, 3))
		case f.typ == reflect.TypeFor[level]():
			d.Set(f.name, "level 3")
		case f.typ != reflect.TypeFor[Raw]() && f.typ != reflect.TypeFor[*Object]():
			d.Set(f.name, reflect.New(f.typ).Interface())
		}
	}
	return d
}

// randomValue returns a value of a type that Unmarshal stores in an any.
func randomValue(random *rand.Rand, depth int) any {
	n := random.IntN(33)
	if depth == 0 {
		n = random.IntN(29)
	}
	x := func() float64 { return randomFloat(random) }
	text := func() string { return []string{"", "a", "hp", "Zoë", "x/y", "name"}[random.IntN(6)] }
	switch n {
	case 0:
		return nil
	case 1:
		return random.IntN(2) == 0
	case 2, 3:
		return int64(random.Uint64()) >> random.IntN(64)
	case 4:
		return x()
	case 5, 6:
		return text()
	case 7:
		return StringName(text())
	case 8:
		return NodePath("/root/" + strconv.Itoa(random.IntN(5)) + ":x")
	case 9:
		return Vector2{x(), x()}
	case 10:
		return Vector2i{random.Int32(), -random.Int32()}
	case 11:
		return Vector3{x(), x(), x()}
	case 12:
		return Color{float32(x()), 1, 0, 1}
	case 13:
		return Transform3D{Basis: Basis{X: Vector3{x(), x(), x()}, Z: Vector3{Y: x()}}, Origin: Vector3{Z: x()}}
	case 14:
		return Plane{Vector3{x(), 1, 2}, x()}
	case 15:
		return Projection{Y: Vector4{W: x()}}
	case 16:
		return Rect2i{Size: Vector2i{X: random.Int32()}}
	case 17:
		return RID(random.Uint64())
	case 18:
		return ObjectID(random.Uint64())
	case 19:
		return Signal{text(), ObjectID(random.Uint64())}
	case 20:
		return Callable{}
	case 21:
		return []byte(text() + text())
	case 22:
		return []int32{random.Int32(), 5}
	case 23:
		return []int64{random.Int64()}
	case 24:
		return []float32{float32(x())}
	case 25:
		return []float64{x(), x()}
	case 26:
		return []string{text(), text()}
	case 27:
		return []Vector3{{x(), x(), x()}}
	case 28:
		return []Color{}
	case 29:
		return &Object{Class: "Node" + text(), Properties: []Property{{text(), randomValue(random, depth-1)}}}
	case 30:
		a := &Array{Values: make([]any, random.IntN(5))}
		for i := range a.Values {
			a.Values[i] = randomValue(random, depth-1)
		}
		return a
	case 31:
		return &Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}, Values: []any{int64(1), int64(random.Int32())}}
	default:
		d := &Dictionary{}
		for range random.IntN(14) {
			d.Set(randomValue(random, depth-1), randomValue(random, depth-1))
		}
		return d
	}
}

func randomFloat(random *rand.Rand) float64 {
	switch random.IntN(8) {
	case 0:
		return math.NaN()
	case 1:
		return math.Inf(random.IntN(3) - 1)
	case 2:
		return math.Copysign(0, -1)
	case 3:
		return float64(random.IntN(100))
	}
	return random.NormFloat64()
}
