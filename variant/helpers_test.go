package variant

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

// Types as in programs.
type (
	myBool   bool
	myInt    int16
	myUint   uint8
	myFloat  float32
	myString string
	vec2     [2]float32
	vec3     [3]float64
	vec4     [4]float32
	ivec2    [2]int32
	point    struct{ X, Y, Z float32 }

	simple struct {
		Name  string
		MaxHP int
	}
	Base struct {
		ID    int
		Title string
	}
	Shared struct{ Note string }
	player struct {
		Base
		*Shared
		Name    string  `gd:"name"`
		HP      int32   `gd:",omitzero"`
		Color   vec4    `gd:"tint,type=Color"`
		Speed   float64 `gd:",omitzero"`
		Hidden  string  `gd:"-"`
		Friends []player
		Best    *player `gd:",omitzero"`
		Class   string  `gd:",type=StringName"`
		Weird   int     `gd:"'a,b'"`
	}
	row struct {
		_    struct{} `gd:",array"`
		X, Y int
		Name string
	}
	extra struct {
		Known int
		Rest  *Dictionary `gd:",embed"`
	}
	extraMap struct {
		Known int
		Rest  map[string]int `gd:",embed"`
	}
	node struct {
		Value int
		Left  *node `gd:",omitzero"`
		Right *node `gd:",omitzero"`
		Nodes map[string]node
	}
	box[T any] struct{ Value T }

	// level is encoded as text if there is a name for it, and otherwise as a number.
	level int
	// noText has no text.
	noText int
	// celsius encodes and decodes itself.
	celsius struct{ degrees float64 }
)

func (l level) MarshalText() ([]byte, error) {
	if l < 0 {
		return nil, errors.New("level below zero")
	}
	return []byte("level " + strconv.Itoa(int(l))), nil
}

func (l *level) UnmarshalText(b []byte) error {
	text, ok := strings.CutPrefix(string(b), "level ")
	n, err := strconv.Atoi(text)
	if *l = level(n); !ok || n < 0 {
		return errors.New("no level")
	}
	return err
}

func (x noText) MarshalText() ([]byte, error) { return nil, fmt.Errorf("no text %d", int(x)) }

func (c *celsius) MarshalVariant(e *gdwire.Encoder) error {
	return errors.Join(e.BeginDict(1), e.WriteString("celsius"), e.WriteFloat(c.degrees), e.End())
}

func (c *celsius) UnmarshalVariant(d *gdwire.Decoder) error {
	for key, err := range d.Fields() {
		if err != nil {
			return err
		}
		if string(key) == "celsius" {
			if c.degrees, err = d.ReadFloat(); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	_ Marshaler   = (*celsius)(nil)
	_ Unmarshaler = (*celsius)(nil)
)

func dict(pairs ...any) *Dictionary {
	d := &Dictionary{}
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], pairs[i+1])
	}
	return d
}

func array(values ...any) *Array { return &Array{Values: values} }

func ptr[T any](v T) *T { return &v }

// godot3 selects the format of Godot 3.
var godot3 = &Options{
	Decoder: gdwire.DecoderOptions{Format: gdwire.Godot3},
	Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3},
}

var godot2 = &Options{
	Decoder: gdwire.DecoderOptions{Format: gdwire.Godot2},
	Encoder: gdwire.EncoderOptions{Format: gdwire.Godot2},
}

// requireSame fails unless two values are equal, also with NaN and indexes of Dictionaries in them.
func requireSame(t testing.TB, want, got any) {
	t.Helper()
	if x, ok := want.(float64); ok && x != x {
		require.True(t, math.IsNaN(got.(float64)))
		return
	}
	w, err := Marshal(want)
	if err == nil {
		require.Equal(t, w, must(Marshal(got))(t), "%#v", got)
	}
	require.Equal(t, reflect.TypeOf(want), reflect.TypeOf(got))
	require.True(t, reflect.DeepEqual(want, got), "%#v\n%#v", want, got)
}

func encoded(t testing.TB, v any, o *Options) []byte {
	return must(Marshal(v, *cmp.Or(o, &defaultOptions)))(t)
}

// requireMarshals checks that all calls encode v as Marshal does or return its error, and returns the
// encoding.
func requireMarshals(t testing.TB, v any, o *Options) ([]byte, error) {
	o = cmp.Or(o, &defaultOptions)
	want, wantErr := Marshal(v, *o)
	for _, dst := range [][]byte{nil, {}, {7}, make([]byte, 5, 6), append(make([]byte, 0, 1<<10), "before"...)} {
		before := string(dst)
		got, err := MarshalAppend(dst, v, *o)
		require.Equal(t, wantErr, err, "%T after %d bytes", v, len(before))
		if err != nil {
			require.Equal(t, before, string(got), "%T", v)
		} else {
			require.Equal(t, before+string(want), string(got), "%T", v)
		}
	}
	var w bytes.Buffer
	err := MarshalWrite(&w, v, *o)
	if wantErr == nil {
		require.NoError(t, err, "%T", v)
		require.Equal(t, want, w.Bytes(), "%T", v)
		return want, nil
	}
	var got, at *gdwire.Error // an Encoder does not know the keys of the path
	if errors.As(wantErr, &at) {
		require.ErrorAs(t, err, &got, "%T", v)
		require.Equal(t, at.Offset, got.Offset, "%T: %v", v, err)
		require.Equal(t, at.Err.Error(), got.Err.Error(), "%T", v)
	} else {
		require.EqualError(t, err, wantErr.Error(), "%T", v)
	}
	return want, wantErr
}

// A oneByteReader returns one byte at a time.
type oneByteReader struct{ b []byte }

func (r *oneByteReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	p[0], r.b = r.b[0], r.b[1:]
	return 1, nil
}

type stringer struct{ Text string }

func (s *stringer) String() string { return s.Text }

type badStringer struct{ C chan int }

func (*badStringer) String() string { return "" }

var errDisk = errors.New("disk full")

// fuzzOptions reads and writes a format with little memory.
func fuzzOptions(f gdwire.Format) *Options {
	return &Options{
		Decoder:   gdwire.DecoderOptions{Format: f, AllowObjects: true},
		Encoder:   gdwire.EncoderOptions{Format: f, DoubleReals: f == gdwire.Godot4},
		MaxMemory: 1 << 20,
	}
}

// A zoo is a struct with fields of all kinds.
type zoo struct {
	Shared
	*Base
	Bool    bool
	I8      int8
	U16     uint16
	I64     int64 `gd:",omitzero"`
	F32     float32
	F64     float64
	Text    string
	Name    StringName
	Path    NodePath
	Level   level
	Addr    netip.Addr
	Ptr     **int
	Vec     vec3
	Point   point      `gd:",type=Vector3"`
	Tint    [4]float64 `gd:",type=Color"`
	Box     AABB
	Basis   Basis
	Bytes   []byte
	Ints    []int
	Longs   []int64
	Words   []int32
	Floats  []myFloat
	Points  []point `gd:",type=PackedVector3Array"`
	Vecs    []vec2
	Colors  []Color
	Strings []string
	Fixed   [3]int
	Digest  [4]byte
	Zoos    []zoo
	ByName  map[string]zoo
	ByCell  map[ivec2]any
	ByAny   map[any]string
	ByLevel map[level]int
	ByFloat map[float64]bool
	Any     any
	Dict    *Dictionary
	Array   Array
	Object  *Object
	Signal  Signal
	RID     RID
	ID      ObjectID
	Raw     Raw
	Row     row
	Self    celsius
	Rest    *Dictionary `gd:",embed"`
}

// A goType is a value of a Go type.
type goType struct {
	name    string
	value   any
	wire    any // the value decoded into an any
	options *Options
}

// testGoTypes encodes each value, and decodes it into an any and into its own type.
func testGoTypes(t *testing.T, all []goType) {
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			o := &Options{}
			if c.options != nil {
				*o = *c.options
			}
			o.Decoder.AllowObjects = true
			b := must(requireMarshals(t, c.value, o))(t)
			var got any
			require.NoError(t, Unmarshal(b, &got, *o))
			requireSame(t, c.wire, got)
			if c.value == nil {
				return
			}
			again := reflect.New(reflect.TypeOf(c.value))
			require.NoError(t, Unmarshal(b, again.Interface(), *o))
			requireSame(t, c.value, again.Elem().Interface())
			// The same inside an interface, with a pointer, and into used memory.
			boxed := must(Marshal(&[]any{c.value}, *o))(t)
			list := reflect.New(reflect.SliceOf(again.Type()))
			for range 2 {
				require.NoError(t, Unmarshal(boxed, list.Interface(), *o))
				if v := list.Elem().Index(0); !v.IsNil() {
					requireSame(t, c.value, v.Elem().Interface())
				}
			}
		})
	}
}

// An intoCase is a value that is decoded into another type than the one that is encoded in
// this way.
type intoCase struct {
	name string
	wire any
	want any
}

// testInto decodes each value twice into the same variable, and byte by byte.
func testInto(t *testing.T, all []intoCase) {
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			b := encoded(t, c.wire, nil)
			p := reflect.New(reflect.TypeOf(c.want))
			for range 2 { // the second time into the result of the first
				require.NoError(t, Unmarshal(b, p.Interface()))
				require.Equal(t, c.want, p.Elem().Interface())
			}
			d := gdwire.NewDecoder(&oneByteReader{b}, &gdwire.DecoderOptions{MaxChunk: 16})
			defer d.Release()
			p = reflect.New(reflect.TypeOf(c.want))
			require.NoError(t, UnmarshalDecode(d, p.Interface()))
			require.Equal(t, c.want, p.Elem().Interface())
			require.Zero(t, d.Depth())
			require.Equal(t, io.EOF, UnmarshalDecode(d, p.Interface()))
		})
	}
}

// A typeError is a value that the type of into cannot hold. With reject, unknown keys are
// errors.
type typeError struct {
	name   string
	wire   any
	into   any
	err    string // "" for none
	is     error
	reject bool
}

func testTypeErrors(t *testing.T, all []typeError) {
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			b := encoded(t, c.wire, nil)
			err := Unmarshal(b, c.into, Options{RejectUnknown: c.reject})
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "gdwire: "+c.err)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			var at *gdwire.Error
			require.ErrorAs(t, err, &at)
			var typeError *TypeError
			require.ErrorAs(t, err, &typeError)
			require.NotNil(t, typeError.Go)
			require.ErrorIs(t, err, typeError.Unwrap())
		})
	}
}

// tagged returns a struct whose only field is A, a V with the tag of this package: v, or zero.
func tagged[V any](tag string, v ...V) any {
	field := reflect.StructField{Name: "A", Type: reflect.TypeFor[V](), Tag: reflect.StructTag("gd:" + strconv.Quote(tag))}
	s := reflect.New(reflect.StructOf([]reflect.StructField{field})).Elem()
	for _, v := range v {
		s.Field(0).Set(reflect.ValueOf(&v).Elem())
	}
	return s.Interface()
}
