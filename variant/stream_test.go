package variant

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

func newDecoderOf(b []byte) *gdwire.Decoder {
	d := gdwire.NewDecoder(nil, nil)
	d.ResetBytes(b)
	return d
}

func TestElementsErrors(t *testing.T) {
	collect := func(d *gdwire.Decoder) (errs []error) {
		for _, err := range Elements[[]int](d, Options{MaxMemory: 1000}) {
			errs = append(errs, err)
		}
		return errs
	}
	errs := collect(newDecoderOf(encoded(t, 5, nil)))
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], gdwire.ErrType)

	errs = collect(newDecoderOf(encoded(t, array(array(), make([]int32, 1000), array(1)), nil)))
	require.Len(t, errs, 3)
	require.ErrorIs(t, errs[1], gdwire.ErrLimit)
	require.NoError(t, errs[2])

	var raws []string // a Raw that is too large leaves nothing for the next
	for v, err := range Elements[Raw](newDecoderOf(encoded(t, array(make([]byte, 50_000), 5), nil)), Options{MaxMemory: 1000}) {
		raws = append(raws, fmt.Sprintf("%v %x", errors.Is(err, gdwire.ErrLimit), string(v.Data)))
	}
	require.Equal(t, []string{"true ", "false 0200000005000000"}, raws)

	b := encoded(t, array(array(1), array(2)), nil)
	errs = collect(newDecoderOf(b[:len(b)-4]))
	require.Len(t, errs, 2, "an error of the input comes once")
	require.ErrorIs(t, errs[1], io.ErrUnexpectedEOF)

	for _, err := range Elements[chan int](newDecoderOf(b)) {
		require.EqualError(t, err, "variant: chan int has no Variant type")
	}

	// After the loop is left, the next call skips the rest.
	d := newDecoderOf(append(encoded(t, array(1, 2, array(3), 4), nil), encoded(t, "next", nil)...))
	for range Elements[any](d) {
		break
	}
	var next string
	require.NoError(t, UnmarshalDecode(d, &next))
	require.Equal(t, "next", next)
}

func TestEntriesErrors(t *testing.T) {
	b := encoded(t, dict(1, 2, 3, 4), nil)
	for _, err := range Entries[int, chan int](newDecoderOf(b)) {
		require.EqualError(t, err, "variant: chan int has no Variant type")
	}
	for _, err := range Entries[[]int, int](newDecoderOf(b)) {
		require.EqualError(t, err, "variant: []int cannot be a key")
	}
	for _, err := range Entries[Image, int](newDecoderOf(b)) {
		require.EqualError(t, err, "variant: variant.Image cannot be a key")
	}
	for _, err := range Entries[Dictionary, int](newDecoderOf(b)) {
		require.EqualError(t, err, "variant: variant.Dictionary cannot be a key")
	}
	for _, err := range Entries[Array, int](newDecoderOf(b)) {
		require.EqualError(t, err, "variant: variant.Array cannot be a key")
	}
	for e, err := range Entries[Raw, int](newDecoderOf(b)) {
		require.EqualError(t, err, "variant: variant.Raw cannot be a key")
		require.Zero(t, e)
	}
	for _, err := range Entries[int, int](newDecoderOf(encoded(t, 1, nil))) {
		require.ErrorIs(t, err, gdwire.ErrType)
	}
	for cut := 8; cut < len(b); cut++ {
		d := gdwire.NewDecoder(bytes.NewReader(b[:cut]), nil)
		var errs []error
		for _, err := range Entries[int, int](d) {
			errs = append(errs, err)
		}
		require.ErrorIs(t, errs[len(errs)-1], io.ErrUnexpectedEOF)
		require.LessOrEqual(t, len(errs), 2)
	}
}

// A repeater is a Reader of head, then of a piece n times.
type repeater struct {
	head, piece, rest []byte
	n                 int
}

func (r *repeater) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.rest) == 0 {
			switch {
			case r.head != nil:
				r.rest, r.head = r.head, nil
			case r.n > 0:
				r.rest = r.piece
				r.n--
			case n > 0:
				return n, nil
			default:
				return 0, io.EOF
			}
		}
		m := copy(p[n:], r.rest)
		n, r.rest = n+m, r.rest[m:]
	}
	return n, nil
}

// grown returns the growth of the heap since the first call, after a garbage collection.
func heapMeter() func() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	start := int64(m.HeapAlloc)
	return func() int64 {
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) - start
	}
}

// A million records of 1 KiB need the memory of one.
func TestStreamsInConstantMemory(t *testing.T) {
	n := testenv.Cases(50_000, 1_000_000)
	type record struct {
		ID   int
		Data []byte
	}
	noLimit := &gdwire.DecoderOptions{Limits: gdwire.Limits{Elements: -1, Values: -1}}
	piece := encoded(t, record{5, make([]byte, 1000)}, nil)
	check := func(read func(d *gdwire.Decoder, each func(record))) func(head []byte, piece []byte) {
		return func(head, piece []byte) {
			count, grown := 0, heapMeter()
			d := gdwire.NewDecoder(&repeater{head: head, piece: piece, n: n}, noLimit)
			defer d.Release()
			read(d, func(r record) {
				if count++; count%(n/10) == 0 {
					assert.Less(t, grown(), int64(64<<10)+int64(len(piece)))
				}
				if r.ID != 5 {
					t.Fatal(r.ID)
				}
			})
			require.Equal(t, n, count)
		}
	}
	count := []byte{byte(n), byte(n >> 8), byte(n >> 16), 0}
	elements := check(func(d *gdwire.Decoder, each func(record)) {
		for r, err := range Elements[record](d) {
			require.NoError(t, err)
			each(r)
		}
	})
	elements(append([]byte{28, 0, 0, 0}, count...), piece)
	entries := check(func(d *gdwire.Decoder, each func(record)) {
		for e, err := range Entries[int, record](d) {
			require.NoError(t, err)
			each(e.Value)
		}
	})
	entries(append([]byte{27, 0, 0, 0}, count...), append(encoded(t, 3, nil), piece...))
}

// Unknown keys of any size are skipped in constant memory.
func TestUnknownInConstantMemory(t *testing.T) {
	size := testenv.Cases(1<<24, 1<<30)
	head := []byte{27, 0, 0, 0, 2, 0, 0, 0}
	head = append(head, encoded(t, "huge", nil)...)
	head = append(head, 4, 0, 0, 0, byte(size), byte(size>>8), byte(size>>16), byte(size>>24))
	tail := append(encoded(t, "name", nil), encoded(t, "Ada", nil)...)
	r := io.MultiReader(&repeater{head: head, piece: []byte(strings.Repeat("x", 1<<16)), n: size >> 16}, bytes.NewReader(tail))
	grown := heapMeter()
	d := gdwire.NewDecoder(r, &gdwire.DecoderOptions{Limits: gdwire.Limits{StringBytes: -1}})
	defer d.Release()
	var v simple
	require.NoError(t, UnmarshalDecode(d, &v))
	require.Equal(t, "Ada", v.Name)
	require.Less(t, grown(), int64(64<<10))
}

// A name that is longer than the read buffer is limited, or whole.
func TestChargesOfLongName(t *testing.T) {
	path := NodePath(strings.Repeat("n", 50_000))
	b := encoded(t, path, nil)
	enough := 0
	for memory := len(path) - 3; memory < len(path)+3; memory++ {
		var got NodePath
		err := UnmarshalRead(bytes.NewReader(b), &got, Options{MaxMemory: int64(memory)})
		if err != nil {
			require.ErrorIs(t, err, gdwire.ErrLimit)
			continue
		}
		require.Equal(t, path, got)
		enough++
	}
	require.Equal(t, 3, enough)
}

// The least MaxMemory with which a value is decoded into an any.
func TestCharges(t *testing.T) {
	for _, c := range []struct {
		wire any
		want int
	}{
		{nil, 0}, {5, 0}, {1.5, 0}, // of a number alone, the next charge would be too large
		{"text", 20}, {StringName("text"), 20}, {NodePath("a/b"), 66}, {Signal{"s", 1}, 65},
		{Vector2{}, 16}, {Vector3{}, 24}, {Color{}, 16}, {Vector4{}, 96}, {Transform3D{}, 160},
		{RID(5), 64}, {ObjectID(3), 64}, {Callable{}, 64},
		{[]byte{1, 2}, 34}, {[]int32{1}, 36}, {[]float64{1}, 40}, {[]Vector2{{}}, 48}, {[]Color{{}}, 48},
		{[]string{}, 32}, {[]string{"a"}, 49}, {[]string{"a", "bc"}, 67},
		{array(), 64}, {array(nil), 80}, {array(nil, nil, nil), 112}, {array(1, nil, nil, "text"), 64 + 4*16 + 16 + 20},
		{dict(), 112}, {dict("k", nil), 161}, {dict("k", nil, "l", nil), 210}, {dict(1, 2, "k", nil), 112 + 2*32 + 2*16 + 17},
		{&Object{Class: "A", Properties: []Property{{"p", nil}}}, 97},
	} {
		t.Run(fmt.Sprintf("%T %v", c.wire, c.wire), func(t *testing.T) {
			b := encoded(t, c.wire, nil)
			least := sort.Search(1<<12, func(memory int) bool {
				var v any
				return Unmarshal(b, &v, Options{MaxMemory: int64(max(memory, 1)), Decoder: gdwire.DecoderOptions{AllowObjects: true}}) == nil
			})
			require.Equal(t, c.want, least)
		})
	}
}

// Several goroutines can use a type for the first time at the same time.
func TestFirstUseAtOnce(t *testing.T) {
	type fresh struct {
		A    int
		Next *fresh
		Map  map[string]fresh
		Rest *Dictionary `gd:",embed"`
	}
	b := encoded(t, dict("a", 1, "next", dict("a", 2), "map", dict("x", dict("a", 3)), "z", 5), nil)
	errs := make(chan error)
	for range 8 {
		go func() {
			var v fresh
			err := Unmarshal(b, &v)
			again, marshalErr := Marshal(v)
			if len(again) == 0 {
				marshalErr = errors.Join(marshalErr, errors.New("nothing"))
			}
			errs <- errors.Join(err, marshalErr)
		}()
	}
	for range 8 {
		require.NoError(t, <-errs)
	}
}

// Leaving the loop reads nothing, wherever it is left.
func TestElementsOfPackedArraysLeft(t *testing.T) {
	for _, v := range []any{[]byte{1, 2, 3, 4, 5}, []int32{1, 2, 3, 4, 5}, []int64{1, 2, 3, 4, 5}} {
		b := encoded(t, v, nil)
		size := (len(b) - 8) / 5
		for n := 1; n <= 4; n++ {
			d := gdwire.NewDecoder(testenv.NewPeer(b[:8+n*size], 1), nil)
			require.NoError(t, nth(n, Elements[int](d)))
			require.EqualValues(t, 8+n*size, d.InputOffset())
			require.Equal(t, 0, d.Depth())
		}
	}
}
