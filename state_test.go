package gdwire

import (
	"fmt"
	"io"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The stack for a value of the default Depth is kept for the next value, a larger
// one is not.
func TestStackAfterDeepValues(t *testing.T) {
	d := NewDecoder(nil, &DecoderOptions{Limits: Limits{Depth: -1}})
	for _, c := range []struct{ depth, kept int }{{10, 16}, {1024, 2048}, {10, 2048}, {2048, 0}} {
		t.Run(fmt.Sprintf("depth %d, kept %d", c.depth, c.kept), func(t *testing.T) {
			d.Reset(plain(nested(c.depth)))
			require.NoError(t, d.SkipValue())
			d.Release()
			require.Len(t, d.stack, c.kept, "after a value of depth %d", c.depth)
		})
	}
}

// Decoder and Encoder describe open containers alike.
func TestStackIndex(t *testing.T) {
	d := NewDecoder(plain(document), &DecoderOptions{AllowObjects: true})
	defer d.Release()
	e := NewEncoder(io.Discard, nil)
	defer e.Close()
	stack := func(s interface {
		Depth() int
		StackIndex(i int) (kind Kind, index, count int64)
	}) (all []string) {
		for i := 1; i <= s.Depth(); i++ {
			kind, index, count := s.StackIndex(i)
			all = append(all, fmt.Sprintf("%v %d/%d", kind, index, count))
		}
		return all
	}
	want := map[int][]string{
		0:  nil,
		1:  {"DictStart -1/9"},
		2:  {"DictStart 0/9"},
		7:  {"DictStart 0/9", "DictStart 0/1", "ArrayStart -1/2"},
		9:  {"DictStart 0/9", "DictStart 0/1", "ArrayStart 1/2"},
		10: {"DictStart 0/9", "DictStart 0/1"},
		12: {"DictStart 1/9"},
		31: {"DictStart 4/9", "NodePathStart 0/2"},
		34: {"DictStart 4/9", "PackedStart -1/2"},
		35: {"DictStart 4/9", "PackedStart 0/2"},
		41: {"DictStart 5/9", "ObjectStart 0/2"},
		57: {"DictStart 7/9", "PackedStart -1/1"},
	}
	for i := range documentPaths {
		if w, ok := want[i]; ok {
			require.Equal(t, w, stack(d), "after %d tokens", i)
		}
		require.Equal(t, stack(d), stack(e), "after %d tokens", i)
		require.NoError(t, e.WriteToken(readTo(t, d, 1)))
	}

	require.NoError(t, e.BeginArray(Unknown))
	require.NoError(t, e.BeginString(TypeString, 10))
	e.Write([]byte("abc"))
	require.Equal(t, []string{"ArrayStart 0/-1", "StringChunk -1/10"}, stack(e))
}

// A Token of four words is passed in registers. The documentation states 32 bytes
// for a frame.
func TestSizes(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) == 8 {
		require.EqualValues(t, 32, unsafe.Sizeof(Token{}))
	}
	require.LessOrEqual(t, unsafe.Sizeof(frame{}), uintptr(32))
	require.LessOrEqual(t, unsafe.Sizeof(Decoder{}), uintptr(576)) // a size class of Go's allocator
}

// The container of a loop that was left is not open, for Depth and StackIndex alike.
func TestStackIndexOfLeftLoops(t *testing.T) {
	d := NewDecoder(plain(bytesOf(idArray, 2, idArray, 2, integer(1), integer(2), idNil)), nil)
	defer d.Release()
	readTo(t, d, 1)
	for range d.Elements() {
		readTo(t, d, 1)
		break
	}
	require.Equal(t, 1, d.Depth())
	kind, index, count := d.StackIndex(1)
	require.Equal(t, []any{KindArrayStart, int64(0), int64(2)}, []any{kind, index, count})
	kind, index, count = d.StackIndex(2)
	require.Equal(t, []any{Kind(0), int64(-1), int64(-1)}, []any{kind, index, count})
}

func TestStackIndexOutOfRange(t *testing.T) {
	d := NewDecoder(plain(bytesOf(idArray, 1, idArray, 1, idNil, idNil)), nil)
	defer d.Release()
	none := func(level int) {
		kind, index, count := d.StackIndex(level)
		require.Equal(t, []any{Kind(0), int64(-1), int64(-1)}, []any{kind, index, count}, level)
	}
	for range 7 {
		none(-1)
		none(d.Depth() + 1)
		none(math.MaxInt)
		d.ReadToken()
	}
	_, index, _ := d.StackIndex(0)
	require.EqualValues(t, 1, index, "the second value")
}
