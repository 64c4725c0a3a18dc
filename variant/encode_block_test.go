//go:build !purego && !go1.28

package variant

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// The types of fields, for random structs. Other structs, and slices of structs, are added.
var blockFields = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[int](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
	reflect.TypeFor[uint](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[string](),
	reflect.TypeFor[StringName](), reflect.TypeFor[NodePath](), reflect.TypeFor[[]string](), reflect.TypeFor[[]blockText](),
	reflect.TypeFor[[2]float32](), reflect.TypeFor[[3]float32](), reflect.TypeFor[[3]float64](), reflect.TypeFor[[12]float32](),
	reflect.TypeFor[Vector2](), reflect.TypeFor[Vector2i](), reflect.TypeFor[Rect2i](), reflect.TypeFor[Color](), reflect.TypeFor[Basis](),
	reflect.TypeFor[Transform3D](), reflect.TypeFor[Projection](), reflect.TypeFor[any](), reflect.TypeFor[*int64](), reflect.TypeFor[[]byte](),
	reflect.TypeFor[[]float32](), reflect.TypeFor[map[string]int64](), reflect.TypeFor[[]any](), reflect.TypeFor[blockMarshaler](),
	reflect.TypeFor[[]blockMarshaler](), reflect.TypeFor[blockText](), reflect.TypeFor[*blockTree](), reflect.TypeFor[[]blockTree](),
	reflect.TypeFor[[]*blockTree](), reflect.TypeFor[blockTree](), reflect.TypeFor[blockTags](), reflect.TypeFor[[]Vector3](), reflect.TypeFor[RID](),
	reflect.TypeFor[time.Time](), reflect.TypeFor[struct{}](), reflect.TypeFor[[]struct{}](), reflect.TypeFor[blockOmits](), reflect.TypeFor[[]blockArray](),
}

type blockMarshaler struct{ X int64 }

func (m blockMarshaler) MarshalVariant(e *gdwire.Encoder) error {
	if m.X%50 == 7 {
		return errors.New("seven")
	}
	return MarshalEncode(e, struct{ Inner []blockTree }{make([]blockTree, m.X&1)})
}

type blockText string

// blockCalls counts the calls of MarshalText.
var blockCalls int

func (t blockText) MarshalText() ([]byte, error) {
	if blockCalls++; strings.HasPrefix(string(t), "x") {
		return nil, errors.New("x")
	}
	return []byte("text " + t), nil
}

// A blockTree contains itself.
type blockTree struct {
	V    int64
	Name string
	Next []blockTree
	Last bool `gd:"a key that is longer than those in a step"`
}

// blockTags contains what a tag changes.
type blockTags struct {
	Path  string     `gd:",type=NodePath"`
	Name  string     `gd:",type=StringName"`
	Color [4]float32 `gd:",type=Color"`
	Rect  [4]float64 `gd:",type=Rect2"`
	Whole float64    `gd:",type=int"`
	Real  int32      `gd:",type=float"`
	List  []int64    `gd:",type=Array[int]"`
	Array []blockOne `gd:",type=Array"`
	Dict  blockOne   `gd:",type=Dictionary"`
	Point struct {   // which has the components of a Vector3
		V Vector3 `gd:",omitzero"`
	}
	Key uint8 `gd:"ключ"`
	blockEmbedded
}

type (
	blockOne      struct{ A uint32 }
	blockEmbedded struct{ Embedded, Second float32 }
	blockOmits    struct {
		A int64 `gd:",omitzero"`
		T []blockTree
	}
	blockArray struct {
		_ struct{} `gd:",array"`
		T []blockTree
		B bool
	}
	// blockDeep contains more Dictionaries than a level.
	blockDeep struct {
		A struct {
			B struct {
				C struct {
					D struct {
						E struct {
							F struct{ G struct{ H blockTree } }
						}
					}
				}
			}
		}
	}
)

// randomBlockType returns a random struct.
func randomBlockType(r *rand.Rand, depth int) reflect.Type {
	fields := make([]reflect.StructField, r.IntN(9))
	for i := range fields {
		t := blockFields[r.IntN(len(blockFields))]
		if depth > 0 {
			switch r.IntN(6) {
			case 0:
				t = randomBlockType(r, depth-1)
			case 1:
				t = reflect.SliceOf(randomBlockType(r, depth-1))
			}
		}
		name := fmt.Sprint("F", i)
		tag := strings.Repeat("k", r.IntN(20)) + fmt.Sprint(i)
		fields[i] = reflect.StructField{Name: name, Type: t, Tag: reflect.StructTag(`gd:"` + tag + `"`)}
	}
	return reflect.StructOf(fields)
}

var (
	blockFloats = []float64{
		0, math.Copysign(0, -1), 1.5, -0.1, 1e300, math.MaxFloat32, math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1),
		math.NaN(), math.Float64frombits(0x7FF4000000000001), math.Float64frombits(0xFFF8000000000000),
	}
	blockFloats32 = []uint32{0, 0x80000000, 0x3FC00000, 0x7F7FFFFF, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FA00001, 0xFFC00001}
	blockTexts    = []string{"", "a", "bc", "def", "\x00", "a\x00", "ab\x00cdefg", "\x80", "ab\x80", "é", "語", "xé語y", "bad\xff", "\x80\x80\x80\x80\x80"}
	blockPaths    = []string{"", "/", "/root/World", "a/b:c:d", "a//b", "x:y::z", "a/:", "héllo/w", strings.Repeat("ab/", 30), "a\x00/b", "a\xff"}
)

// A blockFiller fills variables with random values. Some cannot be encoded if faults is set.
type blockFiller struct {
	*rand.Rand
	faults bool
}

func (r blockFiller) text() string {
	n := r.IntN(len(blockTexts) + 20)
	if n < len(blockTexts) {
		text := blockTexts[n]
		if r.faults || !strings.ContainsAny(text, "\x00") && strings.ToValidUTF8(text, "") == text {
			return text
		}
	}
	b := make([]byte, r.IntN(90))
	for i := range b {
		b[i] = byte(1 + r.IntN(127))
	}
	switch text := string(b); r.IntN(12) {
	case 0:
		return text + "é語" + text
	case 1:
		return strings.Repeat(text, r.IntN(40))
	case 2:
		if r.faults && len(b) > 0 {
			b[r.IntN(len(b))] = "\x00\x80\xff"[r.IntN(3)]
			return string(b)
		}
		return text
	default:
		return text
	}
}

// fill sets v, which is addressable.
func (r blockFiller) fill(v reflect.Value, depth int) {
	switch t := v.Type(); t.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x := r.Uint64() >> r.IntN(64)
		if !r.faults {
			x >>= 1
		}
		v.SetUint(x)
	case reflect.Float32:
		*(v.Addr().Convert(reflect.TypeFor[*float32]()).Interface().(*float32)) = math.Float32frombits(blockFloats32[r.IntN(len(blockFloats32))])
	case reflect.Float64:
		x := blockFloats[r.IntN(len(blockFloats))]
		if !r.faults && x == 1e300 { // does not fit the components of a math type
			x = 2.5
		}
		v.SetFloat(x)
	case reflect.String:
		if t == reflect.TypeFor[NodePath]() {
			path := blockPaths[r.IntN(len(blockPaths))]
			if !r.faults && (path == "x:y::z" || (strings.ContainsRune(path, 0) || !utf8.ValidString(path))) {
				path = "a/b"
			}
			v.SetString(path)
			return
		}
		v.SetString(r.text())
	case reflect.Slice:
		if depth > 0 {
			n := r.IntN(4)
			v.Set(reflect.MakeSlice(t, n, n))
			for i := range n {
				r.fill(v.Index(i), depth-1)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			r.fill(v.Index(i), depth)
		}
	case reflect.Map:
		if depth > 0 {
			v.Set(reflect.ValueOf(map[string]int64{"b": 1, "a" + strings.Repeat("c", r.IntN(30)): 2}))
		}
	case reflect.Pointer:
		if depth > 0 && r.IntN(2) == 0 {
			v.Set(reflect.New(t.Elem()))
			r.fill(v.Elem(), depth-1)
		}
	case reflect.Interface:
		if depth > 0 {
			x := reflect.New([]reflect.Type{reflect.TypeFor[blockTree](), reflect.TypeFor[[]blockTags](), reflect.TypeFor[float32](), reflect.TypeFor[string](), reflect.TypeFor[map[string]int64]()}[r.IntN(5)]).Elem()
			r.fill(x, depth-1)
			v.Set(x)
		}
	case reflect.Struct:
		if t == reflect.TypeFor[blockTags]() {
			defer func() {
				p := v.Addr().Interface().(*blockTags)
				if p.Whole = 3; r.faults && r.IntN(4) == 0 {
					p.Whole = 0.5
				}
				if p.Path = "a/b:c"; r.faults && r.IntN(4) == 0 {
					p.Path = "a:b::c"
				}
			}()
		}
		for i := range t.NumField() {
			if f := v.Field(i); f.CanSet() || t.Field(i).Anonymous {
				if !f.CanSet() { // embedded, and not exported
					continue
				}
				r.fill(f, depth)
			}
		}
	default:
		panic(t)
	}
}

// setBlocks switches all blocks on or off.
func setBlocks(on bool) {
	for _, x := range encodePlans.all.Range {
		p := x.(*plan[encodeFunc])
		switch step, _ := p.step.(*blockStep); {
		case step == nil || step.cold.elem == nil:
		case on:
			p.do = step.encoder()
		default:
			p.do = step.cold.plan.do
		}
	}
}

// blockBuffer is the size of the buffer of the latest Encoder.
var blockBuffer int

// newBlockEncoder returns an Encoder. It is never closed, so that the pool loses buffers of other sizes.
func newBlockEncoder(w *blockWriter, o *gdwire.EncoderOptions) *gdwire.Encoder {
	e := gdwire.NewEncoder(w, o)
	blockBuffer = cap(e.Bytes())
	return e
}

// requireSameBlocks calls run without blocks and with them, and requires the same result.
func requireSameBlocks(t *testing.T, name any, run func() string) {
	t.Helper()
	var want, got string
	for same := false; !same; {
		blockCalls = 0
		setBlocks(false)
		want = run() + fmt.Sprint(" calls: ", blockCalls)
		blockCalls = 0
		size := blockBuffer
		setBlocks(true)
		got = run() + fmt.Sprint(" calls: ", blockCalls)
		same = blockBuffer == size // otherwise the Writer gets other pieces
	}
	if got != want {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		from := max(0, i-40)
		t.Fatalf("%v: differs at %d of %d and %d:\n%q\n%q", name, i, len(got), len(want), got[from:min(len(got), i+300)], want[from:min(len(want), i+300)])
	}
}

// describeError returns all of an error.
func describeError(err error) string {
	var typed *TypeError
	var at *gdwire.Error
	text := fmt.Sprintf("%T %v", err, err)
	if errors.As(err, &at) {
		text += fmt.Sprintf(" at %d %s", at.Offset, at.Path)
	}
	if errors.As(err, &typed) {
		text += fmt.Sprintf(" of %v %v %q %v", typed.Type, typed.Go, typed.Field, typed.Err)
	}
	return text
}

// A blockWriter fails after some bytes, and keeps what each call wrote.
type blockWriter struct {
	left int
	bytes.Buffer
}

func (w *blockWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	w.Buffer.Write(p[:n])
	fmt.Fprint(&w.Buffer, "|")
	if n < len(p) {
		return n, errDisk
	}
	return n, nil
}

// blockResult calls MarshalEncode for v on an Encoder after begin, and returns all that can be seen of it.
func blockResult(e *gdwire.Encoder, w *blockWriter, v any, begin func()) string {
	begin()
	err := MarshalEncode(e, v)
	text := describeError(err)
	text += fmt.Sprintf("\n%d %s", e.OutputOffset(), e.AppendPath(nil))
	for i := range e.Depth() + 1 {
		kind, index, count := e.StackIndex(i)
		text += fmt.Sprintf(" %v %d %d", kind, index, count)
	}
	text += "\n" + describeError(e.ClearError())
	text += "\n" + describeError(MarshalEncode(e, 5))
	for e.Depth() > 0 && err == nil {
		if err = e.End(); err != nil {
			text += "\n" + describeError(err)
		}
	}
	return text + "\n" + describeError(e.Flush()) + "\n" + w.String()
}

// limitless is a number of bytes after which a blockWriter never fails.
const limitless = 1 << 30

func TestBlocksRandom(t *testing.T) {
	r := blockFiller{Rand: rand.New(rand.NewPCG(1, 2))}
	types, values := testenv.Cases(60, 200), testenv.Cases(12, 40)
	failed := 0
	for i := range types {
		typ := randomBlockType(r.Rand, 2)
		switch i % 10 {
		case 0:
			typ = reflect.TypeFor[blockTags]()
		case 1:
			typ = reflect.TypeFor[blockDeep]()
		case 2:
			typ = reflect.SliceOf(typ)
		}
		for j := range values {
			r.faults = j%2 == 0
			v := reflect.New(typ)
			r.fill(v.Elem(), 3)
			x := v.Interface()
			if j%3 == 0 {
				x = []any{v.Elem().Interface(), x}
			}
			var o gdwire.EncoderOptions
			switch r.IntN(8) {
			case 0:
				o.Depth = 1 + r.IntN(20)
			case 1:
				o.AllowInvalidUTF8 = true
			case 2:
				o.DoubleReals = true
			case 3:
				o.Format = gdwire.Godot3
			case 4:
				o.MaxBuffered = 1 + r.Int64N(3000)
			}
			_, err := Marshal(x, Options{Encoder: o})
			if err != nil {
				failed++
			}
			requireSameBlocks(t, typ, func() string {
				b, err := Marshal(x, Options{Encoder: o})
				return fmt.Sprintf("%x %s", b, describeError(err))
			})
			pad, left, count := strings.Repeat("p", r.IntN(17000)), limitless, 3
			if r.IntN(3) == 0 {
				left = r.IntN(40000)
			}
			if r.IntN(3) == 0 {
				count = gdwire.Unknown
			}
			requireSameBlocks(t, typ, func() string {
				w := &blockWriter{left: left}
				e := newBlockEncoder(w, &o)
				return blockResult(e, w, x, func() {
					_ = e.BeginArray(count)
					_ = e.WriteString(pad)
				})
			})
		}
	}
	require.Greater(t, failed, types)
}

// blockValues contains a value for each kind of step, and what makes it unusual.
func blockValues() []any {
	small := blockTree{V: 1, Name: "name", Next: []blockTree{{V: 1 << 40, Name: strings.Repeat("n", 70)}, {Next: []blockTree{{}, {Name: "é"}}}}}
	return []any{
		&struct {
			A bool
			B int64
			C []string
			D Vector3
			E [2]float32
			F NodePath
			G any
			H []byte
			I struct {
				J struct{ K, L string }
				M *int64
			}
			N int32
		}{A: true, B: 1 << 50, C: []string{"a", strings.Repeat("b", 40), ""}, F: "/root/a:b", G: 0.1, H: []byte{1, 2, 3}, N: 7},
		&small,
		[]blockTree{small, small, {}},
		&blockTags{Path: "a/b", Name: "x", Whole: 2, Array: []blockOne{{1}, {1 << 31}}},
		&blockDeep{},
		&struct {
			A NodePath // of the longest names for its length
			B int64
		}{NodePath(strings.Repeat("a/", 32)), 1},
		&struct{ A, B, C any }{small, []blockTree{small}, nil},
		&struct {
			A blockMarshaler
			B []blockTree
			F float32
			G float64
		}{blockMarshaler{1}, []blockTree{small, small}, float32(math.Inf(1)), 0.1},
	}
}

// Windows of every size at each step: in memory of the caller, in the buffer, and with MaxBuffered.
func TestBlocksWindows(t *testing.T) {
	step := testenv.Cases(23, 1)
	for i, v := range blockValues() {
		b := must(Marshal(v))(t)
		for room := i % step; room < len(b)+2*blockRoom; room += step {
			requireSameBlocks(t, room, func() string {
				dst := make([]byte, 0, room)
				b, err := MarshalAppend(dst, v)
				return fmt.Sprintf("%x %v %s", b, cap(b) == cap(dst), describeError(err))
			})
			requireSameBlocks(t, room, func() string {
				w := &blockWriter{left: limitless}
				e := newBlockEncoder(w, nil)
				return blockResult(e, w, v, func() {
					_ = e.BeginArray(3)
					_ = e.WriteString(strings.Repeat("p", blockBuffer-16-room))
				})
			})
			requireSameBlocks(t, room, func() string {
				w := &blockWriter{left: limitless}
				e := newBlockEncoder(w, &gdwire.EncoderOptions{MaxBuffered: int64(room) + 1})
				return blockResult(e, w, v, func() { _ = e.BeginArray(gdwire.Unknown) })
			})
		}
	}
}
