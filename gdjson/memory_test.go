package gdjson_test

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
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
			if testing.Short() {
				size = quick
			}
			for _, plain := range []bool{false, true} {
				src := &sparse{head: u32(u32(nil, c.id), uint32(size/c.unit)), n: size}
				if c.id == 4 {
					src.fill = 'x'
				}
				d := gdwire.NewDecoder(src, &gdwire.DecoderOptions{Limits: none})
				var out counter
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				require.NoError(t, gdjson.ToJSON(&out, d, gdjson.Options{Plain: plain}))
				runtime.ReadMemStats(&after)
				d.Release()
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
				want := size / c.unit * c.text
				if plain && c.text2 > 0 {
					want = size / 3 * c.text2
				}
				require.InDelta(t, want, int64(out), 64)
			}
		})
	}
}

// TestFromJSONMemory: memory is proportional to the number of bytes read, which
// MaxBuffered bounds, for any text.
func TestFromJSONMemory(t *testing.T) {
	const most = 1 << 20
	for _, c := range []struct{ name, head, element string }{
		{"one string", `["s:`, `x`},
		{"escapes", `["s:`, `\\`},
		{"surrogates", `["s:`, `\ud83d\ude00`},
		{"numbers", `[`, `1,`},
		{"one number", `[`, `1`},
		{"arrays", `[`, `[],`},
		{"nested arrays", `[`, `[`},
		{"nested objects", `[`, `{"args":`},
		{"objects", `[`, `{"type":"RID"},`},
		{"members", `{`, `"type":1,`},
		{"white space", ``, ` `},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{most, math.MaxInt} { // cut off, or too long
				e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{MaxBuffered: most})
				src := &repeated{head: c.head, text: c.element, n: n}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := gdjson.FromJSON(e, src)
				runtime.ReadMemStats(&after)
				require.Equal(t, n > most, errors.Is(err, gdwire.ErrLimit), err)
				var fault *gdjson.Error
				require.ErrorAs(t, err, &fault)
				require.LessOrEqual(t, src.at, 2*most)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40*most))
				e.Release()
			}
		})
	}
}

// repeated returns a Reader of head, then text repeated, n bytes in all.
type repeated struct {
	head string
	text string
	n    int
	at   int
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
	if i == 0 {
		return 0, io.EOF
	}
	return i, nil
}
