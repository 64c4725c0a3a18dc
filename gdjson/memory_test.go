package gdjson_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// A sparse is a Reader of head, then n bytes of fill.
type sparse struct {
	head []byte
	n    int64
	fill byte
}

func (r *sparse) Read(p []byte) (int, error) {
	if n := copy(p, r.head); n > 0 {
		r.head = r.head[n:]
		return n, nil
	}
	if r.n == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), r.n)]
	for i := range p {
		p[i] = r.fill
	}
	r.n -= int64(len(p))
	return len(p), nil
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// TestToJSONMemory: memory does not grow with the size of a string or packed array,
// nor with the number of elements.
func TestToJSONMemory(t *testing.T) {
	const large, quick = 1 << 30, 8 << 20
	u32 := binary.LittleEndian.AppendUint32
	none := gdwire.Limits{Elements: -1, Values: -1, StringBytes: -1, PackedBytes: -1}
	for _, c := range []struct {
		name  string
		id    uint32
		size  int64
		unit  int64 // bytes of an element
		text  int64 // bytes of an element in native JSON, with a comma
		text2 int64 // bytes of 3 bytes of elements in plain JSON
	}{
		{"String", 4, large, 1, 1, 3},
		{"PackedByteArray", 29, large / 8, 1, 2, 4},
		{"PackedInt64Array", 31, large, 8, 2, 0},
		{"Array of nil", 28, large / 8, 4, 5, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			size := c.size
			if !testenv.Full() {
				size = quick
			}
			for _, plain := range []bool{false, true} {
				src := &sparse{head: u32(u32(nil, c.id), uint32(size/c.unit)), n: size}
				if c.id == 4 {
					src.fill = 'x'
				}
				d := gdwire.NewDecoder(src, &gdwire.DecoderOptions{Limits: none})
				var out counter
				allocated := testenv.Allocated(func() { require.NoError(t, gdjson.ToJSON(&out, d, gdjson.Options{Plain: plain})) })
				d.Release()
				require.Less(t, allocated, uint64(1<<20))
				want := size / c.unit * c.text
				if plain && c.text2 > 0 {
					want = size / 3 * c.text2
				}
				require.InDelta(t, want, int64(out), 64)
			}
		})
	}
}

// TestFromJSONMemory: FromJSON needs at most nine times MaxBuffered bytes at any moment,
// for any text, whether it is cut off, complete or too long.
func TestFromJSONMemory(t *testing.T) {
	if testenv.Race {
		t.Skip("skipped: the race detector needs memory of its own")
	}
	most := testenv.Cases(1<<19, 8<<20)
	for _, c := range []struct {
		name, head, element, tail string
		o                         gdjson.Options
	}{
		{name: "one string", head: `"s:`, element: `x`, tail: `"`},
		{name: "escapes", head: `"s:`, element: `\\`, tail: `"`},
		{name: "surrogates", head: `"s:`, element: `\ud83d\ude00`, tail: `"`},
		{name: "control characters", head: `"s:`, element: "\x01", tail: `"`},
		{name: "vertical tabs", head: `"s:`, element: `\v`, tail: `"`},
		{name: "control characters among others", head: `["s:`, element: "xxxxxxx\x01", tail: `"]`},
		{name: "numbers", head: `[`, element: `1,`, tail: `1]`},
		{name: "one number", head: `{"type":"PackedFloat64Array","args":[`, element: `1`, tail: `e-9999999]}`},
		{name: "bytes", head: `{"args":[`, element: `1,`, tail: `1],"type":"PackedByteArray"}`},
		{name: "arrays", head: `[`, element: `[],`, tail: `[]]`},
		{name: "nested arrays", head: `[`, element: `[`},
		{name: "nested objects", head: `[`, element: `{"args":`},
		{name: "objects", head: `[`, element: `{"type":"RID"},`, tail: `{"type":"RID"}]`},
		{name: "members", head: `{`, element: `"type":1,`},
		{name: "brackets in a string", head: `"s:`, element: `[`, tail: `"`},
		{name: "white space", element: ` `, tail: `null`},
		{name: "plain members", head: `{`, element: `"":0,`, tail: `"":0}`, o: gdjson.Options{Plain: true}},
		{name: "plain objects", head: `[`, element: `{"":0},`, tail: `{}]`, o: gdjson.Options{Plain: true}},
		{name: "lenient zeros", head: `[`, element: `007,`, tail: `1,]`, o: gdjson.Options{Lenient: true, Plain: true}},
		{name: "lenient number", head: `[`, element: `0`, tail: `.]`, o: gdjson.Options{Lenient: true, Plain: true}},
		{name: "lenient commas", head: `[`, element: `[0,],`, tail: `]`, o: gdjson.Options{Lenient: true, Plain: true}},
		{name: "lenient white space", element: "\x01", tail: `null`, o: gdjson.Options{Lenient: true}},
		{name: "lenient strings", head: `{"type":"PackedStringArray","args":[`, element: "{\"\x01\":0},", tail: `{}]}`, o: gdjson.Options{Lenient: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{most / 2, most, math.MaxInt} { // complete, cut off, or too long
				src := &repeated{head: c.head, text: c.element, n: n}
				if n < most {
					src.tail = c.tail
				}
				e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{MaxBuffered: int64(most)})
				var err error
				peak := peakOf(func() { err = gdjson.FromJSON(e, src, c.o) })
				e.Close()
				require.LessOrEqual(t, src.at, 2*most)
				require.LessOrEqual(t, peak, int64(9*most))
				if n < most && err == nil {
					continue
				}
				var fault *gdjson.Error
				require.ErrorAs(t, err, &fault)
				require.Equal(t, n > most, errors.Is(err, gdwire.ErrLimit), err)
			}
		})
	}
}

// TestFromJSONManyNames: objects with names that all differ.
func TestFromJSONManyNames(t *testing.T) {
	if testenv.Race {
		t.Skip("skipped: the race detector needs memory of its own")
	}
	most := testenv.Cases(1<<20, 8<<20)
	text := []byte(`{"":0`)
	for i := 0; len(text) < most-20; i++ {
		text = fmt.Appendf(text, `,"%x":0`, i)
	}
	e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{MaxBuffered: int64(most)})
	defer e.Close()
	for _, end := range []string{`}`, `,"0":0}`} {
		var err error
		src := io.MultiReader(bytes.NewReader(text), strings.NewReader(end))
		peak := peakOf(func() { err = gdjson.FromJSON(e, src, gdjson.Options{Plain: true}) })
		require.LessOrEqual(t, peak, int64(9*most))
		require.Equal(t, end != `}`, err != nil, err)
	}
}

// TestFromJSONBufferMemory: in addition to a bytes.Buffer, the index of its objects is held, and
// the names of open objects.
func TestFromJSONBufferMemory(t *testing.T) {
	if testenv.Race {
		t.Skip("skipped: the race detector needs memory of its own")
	}
	const element = `{"a":0,"b":1},`
	text := bytes.NewBufferString("[" + strings.Repeat(element, 1<<17) + "0]")
	size := int64(text.Len())
	e := gdwire.NewEncoder(io.Discard, nil)
	defer e.Close()
	var err error
	peak := peakOf(func() { err = gdjson.FromJSON(e, text, gdjson.Options{Plain: true}) })
	require.NoError(t, err)
	require.LessOrEqual(t, peak, size*5/4)
}

// peakOf returns the most memory that objects on the heap have, while do runs, more than
// before, as the garbage collector finds it.
func peakOf(do func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	runtime.GC() // empties pools
	live := func() int64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	before := live()
	var peak atomic.Int64
	var done atomic.Bool
	stopped := make(chan struct{})
	// Each collection runs the finalizer of the latest mark.
	var mark func()
	mark = func() {
		runtime.SetFinalizer(new([16]byte), func(*[16]byte) {
			peak.Store(max(peak.Load(), live()-before))
			if done.Load() {
				close(stopped)
			} else {
				mark()
			}
		})
	}
	mark()
	do()
	done.Store(true)
	runtime.GC()
	<-stopped
	return peak.Load()
}

// A repeated is a Reader of head, then text repeated, n bytes in all, then the rest of the
// latest text and tail.
type repeated struct {
	head, text string
	n, at      int
	tail       string
}

func (r *repeated) Read(p []byte) (int, error) {
	i := 0
	for ; i < len(p) && r.at < r.n; i++ {
		if r.at < len(r.head) {
			p[i] = r.head[r.at]
		} else {
			p[i] = r.text[(r.at-len(r.head))%len(r.text)]
		}
		r.at++
	}
	if i == 0 && r.tail != "" {
		if n := (r.n - len(r.head)) % len(r.text); n > 0 {
			r.tail = r.text[n:] + r.tail
			r.n = len(r.head)
		}
		i = copy(p, r.tail)
		r.tail = r.tail[i:]
	}
	if i == 0 {
		return 0, io.EOF
	}
	return i, nil
}

// ToJSON needs no byte after the value, at the top level and in a list.
func TestToJSONDoesNotWait(t *testing.T) {
	values := []any{nil, true, 5, 0.5, "text", variant.StringName("n"), variant.NodePath("/a:b"), variant.RID(1), variant.ObjectID(1), variant.Vector3{}, variant.Color{}, variant.Basis{},
		variant.Signal{Name: "s"}, variant.Callable{}, &variant.Object{Class: "Node"}, []any{}, []any{1, "a"}, map[string]int{}, map[string]any{"a": []any{1}}, []byte{1, 2}, []int32{1}, []float64{1}, []string{"a"}, []variant.Vector2{{}}}
	for _, v := range values {
		packet := gdwiretest.Encode(t, v)
		for _, head := range [][]byte{nil, {28, 0, 0, 0, 2, 0, 0, 0}} {
			for _, plain := range []bool{false, true} {
				for _, step := range []int{1, 1 << 20} {
					p := testenv.NewPeer(append(head[:len(head):len(head)], packet...), step)
					d := gdwire.NewDecoder(p, &gdwire.DecoderOptions{AllowObjects: true})
					if head != nil {
						must(d.ReadArray())(t)
					}
					err := gdjson.ToJSON(io.Discard, d, gdjson.Options{Plain: plain})
					require.False(t, p.Waits() || errors.Is(err, testenv.ErrWaits), "%#v: %v", v, err)
				}
			}
		}
	}
}
