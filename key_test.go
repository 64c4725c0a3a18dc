package gdwire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal"
)

// keyTexts are texts around the lengths that a Key can have.
func keyTexts() (all []string) {
	for n := range internal.MaxKey + 3 {
		all = append(all, strings.Repeat("x", n), "Zoë"[min(n, 2):]+strings.Repeat("y", n))
	}
	return append(all, "\x00", "a\x00b", "position", "max_health")
}

func keyTo(e *Encoder, text string) error {
	k := newKey(text)
	if e.writeKey(&k) {
		return nil
	}
	return e.WriteString(text)
}

// writeTexts writes the texts as keys and values of all containers, after 4*before bytes.
func writeTexts(e *Encoder, before int, write func(*Encoder, string) error) error {
	texts := keyTexts()
	e.BeginArray(before + 1 + 4*len(texts))
	for range before {
		e.WriteNil()
	}
	e.BeginDict(len(texts))
	for _, s := range texts {
		_ = write(e, s)
		_ = write(e, s)
	}
	e.End()
	for _, s := range texts {
		e.BeginDict(Unknown)
		e.WriteToken(DictKey())
		_ = write(e, s)
		if e.WriteStringName(s) != nil { // before Godot 4
			_ = e.ClearError()
			_ = write(e, s)
		}
		e.End()
		_ = write(e, s)
		e.BeginPacked(TypePackedStringArray, 1)
		_ = write(e, s)
		e.End()
		e.BeginNodePath(1, 0, false)
		_ = write(e, s)
		e.End()
	}
	return e.End()
}

// WriteKey writes what WriteString writes, in every format and wherever the buffer ends.
func TestWriteKey(t *testing.T) {
	for _, f := range Formats() {
		for before := range 40 {
			before := 3000 + before
			var texts, keys bytes.Buffer
			for to, write := range map[*bytes.Buffer]func(*Encoder, string) error{&texts: (*Encoder).WriteString, &keys: keyTo} {
				e := NewEncoder(to, &EncoderOptions{Format: f, AllowInvalidUTF8: true})
				require.NoError(t, writeTexts(e, before, write))
				require.NoError(t, e.Close())
				require.Greater(t, to.Len(), 16<<10)
			}
			require.Equal(t, texts.Bytes(), keys.Bytes(), "%v, %d", f, before)
		}
	}
	k := newKey("position")
	require.False(t, NewEncoder(io.Discard, nil).writeKey(&k), "at the top level, the slow path writes it")
}

// ReadKey consumes the texts that are equal to it and nothing else, and leaves the Decoder as
// ReadText does.
func TestReadKey(t *testing.T) {
	hits := 0
	for _, f := range Formats() {
		packet := encoded(t, &EncoderOptions{Format: f, AllowInvalidUTF8: true}, func(e *Encoder) { require.NoError(t, writeTexts(e, 0, (*Encoder).WriteString)) })
		for name, o := range map[string]*DecoderOptions{
			"": {Format: f}, "Strict": {Format: f, Strict: true}, "MaxChunk": {Format: f, MaxChunk: 24},
			"StringBytes 7": {Format: f, Limits: limitsOf("StringBytes", 7)}, "StringBytes 10": {Format: f, Limits: limitsOf("StringBytes", 10)},
		} {
			for _, r := range []func() io.Reader{
				func() io.Reader { return bytes.NewReader(packet) },
				func() io.Reader { return iotest.OneByteReader(bytes.NewReader(packet)) },
			} {
				hits += compareKeys(t, name, NewDecoder(r(), o), NewDecoder(r(), o))
			}
		}
	}
	require.Greater(t, hits, 1000)
}

// compareKeys reads the same texts by ReadText from a and by ReadKey from b, and returns how many
// ReadKey read.
func compareKeys(t *testing.T, name string, a, b *Decoder) (hits int) {
	defer a.Release()
	defer b.Release()
	for {
		if k := a.PeekKind(); k != KindStringChunk && k != KindDictKey {
			x, errA := a.ReadToken()
			y, errB := b.ReadToken()
			require.Equal(t, x.Kind(), y.Kind(), name)
			require.Equal(t, errA, errB, name)
			if errA != nil {
				return hits
			}
			continue
		}
		offset := a.InputOffset()
		text, ok, errA := export{}.ReadText(a)
		want := string(text)
		for _, other := range []string{want + "x", want + "\x00", "x" + want, strings.ToUpper(want) + "_", "", "other"} {
			k := newKey(other)
			require.False(t, b.readKey(&k), "%s: %q as %q", name, want, other)
			require.Equal(t, offset, b.InputOffset(), name)
		}
		k := newKey(want)
		if ok && b.readKey(&k) {
			hits++
		} else {
			text, okB, errB := export{}.ReadText(b)
			require.Equal(t, ok, okB, name)
			require.Equal(t, want, string(text), name)
			require.Equal(t, errA, errB, name)
		}
		require.Equal(t, a.InputOffset(), b.InputOffset(), name)
		require.Equal(t, string(a.AppendPath(nil)), string(b.AppendPath(nil)), name)
		require.Equal(t, a.Depth(), b.Depth(), name)
		if errA != nil && errA != bufio.ErrBufferFull {
			return hits
		}
		if !ok { // a longer text
			require.Equal(t, a.SkipValue(), b.SkipValue(), name)
		}
	}
}

// A Key of a text without words is equal to no bytes, although the sender chooses them.
func TestKeyWithoutWords(t *testing.T) {
	for _, first := range []byte{0, 4, 0xFF} {
		for _, text := range []string{"", "longer than sixteen bytes", "Zoë"} {
			d := new(Decoder)
			d.ResetBytes(bytesOf(idArray, 2, bytes.Repeat([]byte{first}, keyBytes), integer(1)))
			must(d.ReadArray())(t)
			k := newKey(text)
			require.False(t, d.readKey(&k), "%q from bytes of %#x", text, first)
			require.EqualValues(t, 8, d.InputOffset())
		}
	}
}

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
	d := newDecoder(t, plain(document), &DecoderOptions{AllowObjects: true})
	e := newEncoder(t, io.Discard, nil)
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

func TestStackIndexOutOfRange(t *testing.T) {
	d := newDecoder(t, plain(bytesOf(idArray, 1, idArray, 1, idNil, idNil)), nil)
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
