package variant

import (
	"bytes"
	"container/list"
	"database/sql"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"log/slog"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unique"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

func TestGoTypes(t *testing.T) {
	small, nan := float64(float32(0.1)), math.NaN()
	testGoTypes(t, []goType{
		{name: "nil", value: nil, wire: nil},
		{name: "nil pointer", value: (*int)(nil), wire: nil},
		{name: "bool", value: true, wire: true},
		{name: "named bool", value: myBool(true), wire: true},
		{name: "int", value: -5, wire: int64(-5)},
		{name: "int8", value: int8(-128), wire: int64(-128)},
		{name: "int16", value: myInt(300), wire: int64(300)},
		{name: "int32", value: int32(math.MinInt32), wire: int64(math.MinInt32)},
		{name: "int64", value: int64(math.MaxInt64), wire: int64(math.MaxInt64)},
		{name: "uint", value: uint(7), wire: int64(7)},
		{name: "uint8", value: myUint(255), wire: int64(255)},
		{name: "uint16", value: uint16(65535), wire: int64(65535)},
		{name: "uint32", value: uint32(math.MaxUint32), wire: int64(math.MaxUint32)},
		{name: "uint64", value: uint64(math.MaxInt64), wire: int64(math.MaxInt64)},
		{name: "uintptr", value: uintptr(9), wire: int64(9)},
		{name: "float32", value: myFloat(0.1), wire: small},
		{name: "float64", value: 0.1, wire: 0.1},
		{name: "NaN", value: nan, wire: nan},
		{name: "string", value: "Zoë", wire: "Zoë"},
		{name: "empty string", value: "", wire: ""},
		{name: "named string", value: myString("x"), wire: "x"},

		{name: "[2]float32", value: vec2{1, 2}, wire: Vector2{1, 2}},
		{name: "[3]float64", value: vec3{1, 2, 3}, wire: Vector3{1, 2, 3}},
		{name: "[2]int32", value: ivec2{1, 2}, wire: Vector2i{1, 2}},
		{name: "[3]int32", value: [3]int32{1, 2, 3}, wire: Vector3i{1, 2, 3}},
		{name: "[9]float32", value: [9]float32{1, 2, 3, 4, 5, 6, 7, 8, 9},
			wire: Basis{X: Vector3{1, 4, 7}, Y: Vector3{2, 5, 8}, Z: Vector3{3, 6, 9}}},
		{name: "[3][3]float32", value: [3][3]float32{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}},
			wire: Basis{X: Vector3{1, 4, 7}, Y: Vector3{2, 5, 8}, Z: Vector3{3, 6, 9}}},
		{name: "[12]float64", value: [12]float64{11: 5}, wire: Transform3D{Origin: Vector3{Z: 5}}},
		{name: "[16]float64", value: [16]float64{15: 5}, wire: Projection{W: Vector4{W: 5}}},
		{name: "struct of floats", value: point{1, 2, 3}, wire: dict("x", 1.0, "y", 2.0, "z", 3.0)},

		{name: "struct", value: simple{"a", 3}, wire: dict("name", "a", "max_hp", int64(3))},
		{name: "all tags", value: player{Base: Base{ID: 1}, Name: "Ada", Color: vec4{1, 1, 1, 1}, Friends: []player{}},
			wire: dict("id", int64(1), "title", "", "name", "Ada", "tint", Color{1, 1, 1, 1}, "friends", array(),
				"class", StringName(""), "a,b", int64(0))},
		{name: "embedded pointer", value: player{Shared: &Shared{"x"}, HP: 5, Speed: 1, Friends: []player{}, Best: &player{Friends: []player{}}},
			wire: dict("id", int64(0), "title", "", "note", "x", "name", "", "hp", int64(5), "tint", Color{}, "speed", 1.0, "friends", array(),
				"best", dict("id", int64(0), "title", "", "name", "", "tint", Color{}, "friends", array(), "class", StringName(""), "a,b", int64(0)),
				"class", StringName(""), "a,b", int64(0))},
		{name: "positional", value: row{X: 1, Y: 2, Name: "n"}, wire: array(int64(1), int64(2), "n")},
		{name: "unknown keys", value: extra{1, dict("z", int64(1), int64(2), "two")}, wire: dict("known", int64(1), "z", int64(1), int64(2), "two")},
		{name: "unknown keys in a map", value: extraMap{1, map[string]int{"z": 1, "y": 2}}, wire: dict("known", int64(1), "y", int64(2), "z", int64(1))},
		{name: "recursive", value: node{1, &node{Value: 2, Nodes: map[string]node{}}, nil, map[string]node{"a": {Nodes: map[string]node{}}}},
			wire: dict("value", int64(1), "left", dict("value", int64(2), "nodes", dict()), "nodes", dict("a", dict("value", int64(0), "nodes", dict())))},
		{name: "generic", value: box[[]int]{[]int{1}}, wire: dict("value", array(int64(1)))},
		{name: "generic any", value: box[any]{1.5}, wire: dict("value", 1.5)},
		{name: "pointers", value: ptr(ptr(3)), wire: int64(3)},
		{name: "Marshaler", value: celsius{20}, wire: dict("celsius", 20.0)},
		{name: "Marshalers", value: map[string]celsius{"a": {20}}, wire: dict("a", dict("celsius", 20.0))},
		{name: "text", value: level(3), wire: "level 3"},
		{name: "texts", value: []level{3}, wire: array("level 3")},
		{name: "time", value: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), wire: "2026-01-02T03:04:05Z"},

		{name: "[]int64 in Godot 3", value: []int64{1, 1 << 40}, wire: array(int64(1), int64(1<<40)), options: godot3},
		{name: "[]float64 in Godot 3", value: []float64{0.1}, wire: array(0.1), options: godot3},
	})
}

// textWithFunc and textWithField are decoded from text only: the kind of textWithFunc cannot be
// decoded, nor can the type of a field.
type (
	textWithFunc  struct{ F func() }
	textWithField struct{ Inner withFunc }
	withFunc      struct {
		Next *withFunc
		F    func()
	}
)

func (*textWithFunc) UnmarshalText([]byte) error  { return nil }
func (*textWithField) UnmarshalText([]byte) error { return nil }

// orderOfType is set to a number in processes that TestOrderOfTypes starts.
const orderOfType = "GDWIRE_ORDER_OF_TYPE"

// TestOrderOfTypes uses random types, many of them invalid in one direction or everywhere: each as
// the first type of a process, without plans, after the others, and in reverse. The results are
// the same.
func TestOrderOfTypes(t *testing.T) {
	const n = 500
	r := randomTypes{rand.New(rand.NewPCG(5, 0))}
	types := make([]reflect.Type, n)
	for i := range types {
		types[i] = r.typ(2)
	}
	if i, err := strconv.Atoi(os.Getenv(orderOfType)); err == nil {
		fmt.Print(useType(types[i]))
		os.Exit(0)
	}
	fresh := make([]string, n)
	invalid := 0
	for i, typ := range types {
		resetPlans()
		fresh[i] = useType(typ)
		require.NotContains(t, fresh[i], "panic", "%v", typ)
		if strings.Contains(fresh[i], "variant: ") {
			invalid++
		}
	}
	require.Greater(t, invalid, n/10, "types that are errors")
	require.Less(t, invalid, n*9/10, "types that are errors")
	step := testenv.Cases(25, 1)
	for i := 0; i < n; i += step {
		process := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestOrderOfTypes$")
		process.Env = append(os.Environ(), fmt.Sprint(orderOfType, "=", i))
		out, err := process.Output()
		if errors.Is(err, syscall.ENOEXEC) {
			break // an emulator runs the tests
		}
		require.NoError(t, err)
		require.Equal(t, fresh[i], string(out), "%v in a process of its own", types[i])
	}
	resetPlans()
	defer resetPlans()
	for i, typ := range types {
		require.Equal(t, fresh[i], useType(typ), "%v after %d others", typ, i)
	}
	resetPlans()
	for i, typ := range slices.Backward(types) {
		require.Equal(t, fresh[i], useType(typ), "%v in reverse", typ)
	}
}

// randomTypes makes random types from leaves of which some are invalid.
type randomTypes struct{ *rand.Rand }

var leafTypes = []reflect.Type{
	reflect.TypeFor[int](), reflect.TypeFor[int32](), reflect.TypeFor[byte](), reflect.TypeFor[string](), reflect.TypeFor[any](), reflect.TypeFor[float64](),
	reflect.TypeFor[[4]float64](), reflect.TypeFor[[4]float64](), reflect.TypeFor[[6]float32](), reflect.TypeFor[[3]float32](),
	reflect.TypeFor[Vector3](), reflect.TypeFor[StringName](), reflect.TypeFor[Raw](), reflect.TypeFor[level](), reflect.TypeFor[celsius](),
	reflect.TypeFor[point](), reflect.TypeFor[player](), reflect.TypeFor[node](), reflect.TypeFor[row](), reflect.TypeFor[extra](),
	reflect.TypeFor[withFunc](), reflect.TypeFor[textWithFunc](), reflect.TypeFor[textWithField](), reflect.TypeFor[textOfAll](), reflect.TypeFor[textOfAll]().Elem(),
}

// textOfAll is decoded from text only, because of a type in it, after others.
type textOfAll []struct {
	Node  node
	Level map[level]player
	Texts []textWithFunc
	Next  textOfAll
	Inner withFunc
}

func (*textOfAll) UnmarshalText([]byte) error { return nil }

func (r randomTypes) typ(depth int) reflect.Type {
	kind := r.IntN(9)
	if depth == 0 {
		kind = 0
	}
	switch kind {
	case 0, 1:
		return leafTypes[r.IntN(len(leafTypes))]
	case 2, 3:
		return reflect.SliceOf(r.typ(depth - 1))
	case 4:
		return reflect.ArrayOf(r.IntN(4), r.typ(depth-1))
	case 5:
		keys := []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[level](), reflect.TypeFor[any](), reflect.TypeFor[[4]float64](), reflect.TypeFor[[2]int32]()}
		return reflect.MapOf(keys[r.IntN(len(keys))], r.typ(depth-1))
	case 6:
		return reflect.PointerTo(r.typ(depth - 1))
	}
	fields := make([]reflect.StructField, r.IntN(4))
	for i := range fields {
		fields[i] = reflect.StructField{Name: string(rune('A' + i)), Type: r.typ(depth - 1)}
		fields[i].Tag = reflect.StructTag([]string{"", "", `gd:",omitzero"`, `gd:",type=Array"`, `gd:",type=Color"`, `gd:"-"`}[r.IntN(6)])
	}
	return reflect.StructOf(fields)
}

// useType returns what Marshal and Unmarshal do with a type, as text.
func useType(t reflect.Type) string {
	var all []string
	use := func(name string, do func() (any, error)) {
		defer func() {
			if p := recover(); p != nil {
				all = append(all, fmt.Sprintf("%s: panic %v", name, p))
			}
		}()
		x, err := do()
		all = append(all, fmt.Sprintf("%s: %v %v", name, x, err))
	}
	v := reflect.New(t)
	fillOne(v.Elem(), 5)
	var inputs [][]byte
	for _, o := range []*Options{{}, godot3} {
		use("Marshal", func() (any, error) {
			b, err := Marshal(v.Interface(), *o)
			inputs = append(inputs, b)
			return b, err
		})
	}
	for _, x := range []any{nil, "x", "level 1", 1, []float64{1}, array("x"), dict("a", "x"), Vector3{1, 2, 3}} {
		b, err := Marshal(x)
		if inputs = append(inputs, b); err != nil {
			panic(err)
		}
	}
	for _, b := range inputs {
		use("Unmarshal", func() (any, error) {
			v := reflect.New(t)
			err := Unmarshal(b, v.Interface())
			b, _ := Marshal(v.Interface())
			return b, err
		})
	}
	return strings.Join(all, "\n")
}

// fillOne sets v, so that each slice and map in it contains an element.
func fillOne(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	switch t := v.Type(); t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		fillOne(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
		fillOne(v.Index(0), depth-1)
	case reflect.Array:
		for i := range v.Len() {
			fillOne(v.Index(i), depth-1)
		}
	case reflect.Map:
		key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		fillOne(elem, depth-1)
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(key, elem)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fillOne(v.Field(i), depth-1)
			}
		}
	}
}

// resetPlans drops all plans, as in a new process.
func resetPlans() {
	encodePlans.all.Clear()
	decodePlans.all.Clear()
	for _, p := range []*sync.Pool{&encoderPool, &decoderPool} {
		*p = sync.Pool{New: p.New}
	}
}

type (
	stamped struct {
		time.Time
		Name string
	}
	textual interface {
		encoding.TextMarshaler
		encoding.TextUnmarshaler
	}
	// alone and declaring lose nothing by the methods of what they embed.
	alone struct {
		time.Time
		_ int
		X int `gd:"-"`
	}
	declaring struct {
		time.Time
		Name string
	}
)

func (d declaring) MarshalText() ([]byte, error) { return []byte(d.Name), nil }
func (d *declaring) UnmarshalText(b []byte) error {
	d.Name = string(b)
	return nil
}

func TestTypesWithoutVariant(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any // a pointer, for Unmarshal as well
		err   string
	}{
		{"embedded map", &struct {
			Rest map[string]chan int `gd:",embed"`
		}{}, "struct.Rest: chan int has no Variant type"},
		{"map", &map[int]chan int{}, "chan int has no Variant type"},
		{"slice", &[]chan int{}, "chan int has no Variant type"},
		{"array", &[2]chan int{}, "chan int has no Variant type"},
		{"interface", ptr[fmt.Stringer](&badStringer{}), "no Variant type"},
		{"key", &map[*Array]int{}, "cannot be a key"},
		{"no exported fields", &atomic.Int64{}, "atomic.Int64 has no exported fields"},
		{"error", ptr(errors.New("x")), "errors.errorString has no exported fields"},
		{"field without exported fields", &struct{ B []*bytes.Buffer }{}, "struct.B: bytes.Buffer has no exported fields"},
		{"embedded struct without exported fields", &struct {
			sync.Mutex
			Name string
		}{}, "sync.Mutex has no exported fields"},
		{"method of an embedded type", &struct {
			time.Time
			Name string
		}{}, "Text of the embedded time.Time leaves out Name"},
		{"named", &stamped{}, "Text of the embedded time.Time leaves out Name"},
		{"in an embedded struct", &struct{ Stamped stamped }{}, "Text of the embedded time.Time leaves out Name"},
		{"ignored", &struct {
			time.Time `gd:"-"`
			Name      string
		}{}, "leaves out Name"},
		{"Marshaler", &struct {
			X int
			celsius
		}{}, "Variant of the embedded variant.celsius leaves out X"},
		{"embedded pointer with methods", &struct{ *time.Time }{}, "Text of the embedded *time.Time panics if that is nil"},
		{"embedded interface with methods", &struct{ textual }{}, "Text of the embedded variant.textual panics if that is nil"},
		{"key with embedded methods", &map[stamped]int{}, "leaves out Name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Marshal(c.value)
			require.ErrorContains(t, err, c.err)
			require.ErrorContains(t, Unmarshal(encoded(t, dict(), nil), c.value), c.err)
		})
	}
}

// wholes contains pointers to values of types that come back equal, or that are errors because nothing of them would.
var wholes = []any{
	ptr(7), ptr("x"), ptr(true), ptr(1.5), &[]byte{1}, &point{1, 2, 3}, &row{X: 1, Y: 2, Name: "n"}, &Vector3{1, 2, 3}, ptr(level(3)), &celsius{20}, ptr[any]("x"),
	ptr(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), ptr(time.Hour), ptr(netip.MustParseAddr("::1")), ptr(netip.MustParsePrefix("10.0.0.0/8")), ptr(net.IPv6loopback),
	big.NewInt(7), big.NewRat(1, 3), &sql.NullString{String: "x", Valid: true}, &image.Rectangle{Max: image.Pt(1, 2)}, &color.RGBA{R: 1}, ptr(slog.LevelWarn),
	&url.Values{"a": {"b"}}, ptr(json.Number("5")), &mail.Address{Name: "a", Address: "b"}, &declaring{Name: "x"}, &alone{Time: time.Unix(5, 0).UTC()},
	&player{Shared: &Shared{"x"}, Friends: []player{}}, &url.URL{Host: "x", User: url.User("a")}, new(big.Float).SetPrec(64).SetInt64(math.MaxInt64), new(atomic.Int64), ptr(errors.New("x")), bytes.NewBufferString("x"),
	&sync.Mutex{}, list.New(), &stamped{Name: "x"}, &struct{ *time.Time }{}, ptr(reflect.ValueOf(1)), ptr(unique.Make(1)), &struct {
		sync.Mutex
		Name string
	}{Name: "x"}, ptr[any](errors.New("x")),
}

// whole returns a random value that is not zero, with parts of any type.
func whole(r *rand.Rand, depth int) reflect.Value {
	kind := r.IntN(9)
	if depth == 0 {
		kind = 0
	}
	inner := func() reflect.Value { return whole(r, depth-1) }
	var v reflect.Value
	switch kind {
	case 0, 1:
		return reflect.ValueOf(wholes[r.IntN(len(wholes))]).Elem()
	case 2:
		x := inner()
		v = reflect.New(reflect.SliceOf(x.Type())).Elem()
		v.Set(reflect.Append(v, x))
	case 3:
		x := inner()
		v = reflect.New(reflect.ArrayOf(1, x.Type())).Elem()
		v.Index(0).Set(x)
	case 4:
		x := inner()
		v = reflect.New(reflect.MapOf(stringType, x.Type())).Elem()
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), x)
	case 5:
		x := inner()
		v = reflect.New(x.Addr().Type()).Elem()
		v.Set(x.Addr())
	default:
		fields, values := make([]reflect.StructField, 1+r.IntN(3)), make([]reflect.Value, 3)
		for i := range fields {
			x := inner()
			f := reflect.StructField{Name: fmt.Sprint("F", r.Uint64()), Type: x.Type()} // which hides no other
			switch x.Kind() {
			case reflect.Struct:
				f.Anonymous = r.IntN(3) == 0 && reflect.PointerTo(x.Type()).NumMethod() == 0
			default:
				f.Tag = []reflect.StructTag{"", `gd:",omitzero"`}[r.IntN(2)]
			}
			if values[i] = x; !f.Anonymous && r.IntN(4) == 0 {
				f.Name, f.PkgPath, f.Tag, values[i] = strings.ToLower(f.Name), "x", "", reflect.Value{}
			}
			fields[i] = f
		}
		v = reflect.New(reflect.StructOf(fields)).Elem()
		for i, x := range values {
			if x.IsValid() {
				v.Field(i).Set(x)
			}
		}
	}
	return v
}

// TestWhole: what Marshal accepts comes back equal, or the first use of its type is an error.
func TestWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 0))
	equal, refused := 0, 0
	for range 2000 {
		v := whole(r, 3)
		b, err := Marshal(v.Addr().Interface())
		got := reflect.New(v.Type())
		if err == nil {
			err = Unmarshal(b, got.Interface())
		}
		if err != nil {
			refused++
			require.Regexp(t, "no exported fields|panics if|leaves out|needs a name|option array in an embedded struct", err, "%v", v.Type())
			continue
		}
		equal++
		require.Equal(t, v.Interface(), got.Elem().Interface())
	}
	require.Greater(t, equal, 500)
	require.Greater(t, refused, 500)
}
