package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// A chunk that fills the read buffer is returned at once. A partial element waits
// for its remaining bytes only.
func TestChunksArriveWithTheirBytes(t *testing.T) {
	o := &DecoderOptions{MaxChunk: 16}
	text := strings.Repeat("0123456789abcdef", 3)
	r, give := pipe(t)
	d := newDecoder(t, r, o)
	give(bytesOf(idString, len(text), []byte(text[:16])))
	require.Equal(t, text[:16], readTo(t, d, 1).Text())
	give([]byte(text[16:32]))
	require.Equal(t, text[16:32], readTo(t, d, 1).Text())
	give([]byte(text[32:]))
	require.Equal(t, text[32:], readTo(t, d, 1).Text())

	give(bytesOf(idVectors3, 3))
	require.Equal(t, KindPackedStart, readTo(t, d, 1).Kind())
	for range 3 {
		give(reals(3))
		require.Equal(t, reals(3), readTo(t, d, 1).Bytes())
	}
	require.Equal(t, KindEnd, readTo(t, d, 1).Kind())
}

func TestStringThatFitsIsOneChunk(t *testing.T) {
	for _, size := range []int{16, 17, 50, 1000, DefaultMaxChunk} {
		for _, n := range []int{0, 1, size - 1, size, size + 1, 2 * size, 2*size + 1} {
			text := strings.Repeat("x", n)
			for name, packet := range map[string][]byte{
				"String":            str(text),
				"PackedStringArray": bytesOf(idStrings, 1, text+"\x00"),
				"NodePath":          bytesOf(idPath, newPath(1), 0, 0, text),
			} {
				t.Run(fmt.Sprintf("%s of %d bytes, buffer of %d", name, n, size), func(t *testing.T) {
					d := NewDecoder(iotest.OneByteReader(bytes.NewReader(packet)), &DecoderOptions{MaxChunk: size})
					if name != "String" {
						readTo(t, d, 1)
					}
					var chunks []int
					for last := false; !last; {
						tok := readTo(t, d, 1)
						require.Equal(t, KindStringChunk, tok.Kind())
						last = tok.Last()
						chunks = append(chunks, len(tok.Bytes()))
						if n <= size {
							require.EqualValues(t, n, tok.Len())
						}
					}
					want := []int{n}
					switch {
					case n == 2*size+1:
						want = []int{size, size, 1}
					case n > size:
						want = []int{size, n - size}
					}
					require.Equal(t, want, chunks, "%s of %d with MaxChunk %d", name, n, size)
					d.Release()
				})
			}
		}
	}
}

// Runes of two, three and four bytes cross every possible chunk border.
func TestChunksNeverSplitARune(t *testing.T) {
	const size = 16
	for _, r := range []string{"é", "€", "😀"} {
		for lead := range 2 * size {
			text := strings.Repeat("x", lead) + strings.Repeat(r, 12)
			for _, packet := range [][]byte{str(text), bytesOf(idStrings, 1, text+"\x00"), bytesOf(idPath, newPath(0), 1, 0, text)} {
				d := NewDecoder(plain(packet), &DecoderOptions{MaxChunk: size})
				var got []byte
				for tok, err := range d.Tokens() {
					require.NoError(t, err)
					if tok.Kind() != KindStringChunk {
						continue
					}
					require.True(t, utf8.Valid(tok.Bytes()), "%q", tok.Bytes())
					if !tok.Last() {
						require.Greater(t, len(tok.Bytes()), size-utf8.UTFMax, "chunks are as long as MaxChunk lets them")
					}
					got = append(got, tok.Bytes()...)
				}
				require.Equal(t, text, string(got))
				d.Release()
			}
		}
	}
}

// Invalid UTF-8 is reported at its byte wherever chunks end. With AllowInvalidUTF8 chunks
// may end anywhere.
func TestInvalidTextAtEveryBorder(t *testing.T) {
	for _, bad := range []string{"\xff", "\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80"} {
		for lead := range 40 {
			text := strings.Repeat("x", lead) + bad + strings.Repeat("y", 10)
			for _, size := range []int{16, 64} {
				d := NewDecoder(plain(str(text)), &DecoderOptions{MaxChunk: size})
				var err error
				for err == nil {
					_, err = d.ReadToken()
				}
				requireError(t, err, 8+lead, "$", ErrUTF8)
				d.Release()

				d = NewDecoder(plain(str(text)), &DecoderOptions{MaxChunk: size, AllowInvalidUTF8: true})
				readTo(t, d, 1)
				require.Equal(t, text, string(must(d.AppendString(nil))(t)))
				d.Release()
			}
		}
	}
}

// An invalid byte is found at every position of a short text.
func TestInvalidShortText(t *testing.T) {
	for where, p := range shortTexts {
		for n := 1; n <= 12; n++ {
			for bad := range n {
				for _, c := range []byte{'a', 0} {
					text := bytes.Repeat([]byte{c}, n)
					text[bad] = 0xFF
					packet := append(bytes.Clone(p.head), bytesOf(string(text)+p.nul, make([]byte, 32))...)
					d := NewDecoder(nil, nil)
					eachReader(d, packet, func(name string) {
						readTo(t, d, p.before)
						_, err := d.ReadToken()
						require.ErrorIs(t, err, ErrUTF8, "%s, %q, %s", where, text, name)
						var e *Error
						require.ErrorAs(t, err, &e)
						require.EqualValues(t, len(p.head)+4+bad, e.Offset)
					})
					eachReader(d, packet, func(name string) {
						readTo(t, d, p.before)
						require.ErrorIs(t, d.SkipTo(0), ErrUTF8, "%s, %q, %s", where, text, name)
					})
					d.Release()
				}
			}
		}
	}
}

// A NUL inside a packed string is text, also at the end of a chunk.
func TestNULsAtTheEndOfChunks(t *testing.T) {
	for at := range 40 {
		text := []byte(strings.Repeat("x", 40))
		text[at] = 0
		d := NewDecoder(plain(bytesOf(idStrings, 1, string(text)+"\x00")), &DecoderOptions{MaxChunk: 16})
		readTo(t, d, 1)
		var got []byte
		for last := false; !last; {
			tok := readTo(t, d, 1)
			got, last = append(got, tok.Bytes()...), tok.Last()
		}
		require.Equal(t, text, got)
		require.Equal(t, KindEnd, readTo(t, d, 1).Kind())
		d.Release()
	}
}

// Truncated text with invalid UTF-8 is the same error for every size of the read
// buffer.
func TestTruncatedInvalidText(t *testing.T) {
	i := 0
	for where, p := range shortTexts {
		for n := 14; n < 22; n++ {
			for bad := range n + 1 { // n: all are valid
				for _, c := range []byte{0, 0xFF} {
					text := []byte(strings.Repeat("x", n))
					if bad < n {
						text[bad] = c
					}
					packet := append(bytes.Clone(p.head), bytesOf(string(text)+p.nul)...)
					for cut := len(p.head) + 4; cut <= len(packet); cut++ {
						if i++; i%stride() > 0 {
							continue
						}
						for _, o := range []DecoderOptions{{}, {Strict: true}, {AllowInvalidUTF8: true}} {
							for _, o.MaxChunk = range []int{16, 64} {
								d := NewDecoder(plain(packet[:cut]), &o)
								err := readAll(d)
								at, want := cut, io.ErrUnexpectedEOF
								switch fault := len(p.head) + 4 + bad; {
								case cut <= fault || bad == n:
								case c == 0 && o.Strict:
									at, want = fault, ErrStrict
								case c != 0 && !o.AllowInvalidUTF8:
									at, want = fault, ErrUTF8
								}
								var e *Error
								require.ErrorAs(t, err, &e)
								require.ErrorIs(t, err, want, "%s, %q, cut at %d, %v", where, text, cut, o)
								require.EqualValues(t, at, e.Offset, "%s, %q, cut at %d, %v", where, text, cut, o)
								d.Release()
							}
						}
					}
				}
			}
		}
	}
}

func TestOffsetsOfInvalidText(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string
		offset int
	}{
		{"second byte", "a\xff", 9},
		{"after a replacement character", "\uFFFD\xff", 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDecoder(t, plain(str(c.text)), nil)
			requireError(t, readAll(d), c.offset, "$", ErrUTF8)
		})
	}
}

// AppendString joins a NodePath as engines print it, wherever its Reader fails.
func TestAppendStringOfNodePaths(t *testing.T) {
	long := strings.Repeat("long", 20)
	for want, packet := range map[string][]byte{
		"":                  bytesOf(idPath, newPath(0), 0, 0),
		"/":                 bytesOf(idPath, newPath(0), 0, nodePathAbsolute),
		"a":                 bytesOf(idPath, newPath(1), 0, 0, "a"),
		"/a":                bytesOf(idPath, newPath(1), 0, nodePathAbsolute, "a"),
		"a/b/c":             bytesOf(idPath, newPath(3), 0, 0, "a", "b", "c"),
		"/root/a:b:c":       bytesOf(idPath, newPath(2), 2, nodePathAbsolute, "root", "a", "b", "c"),
		":b":                bytesOf(idPath, newPath(0), 1, 0, "b"),
		"/:b":               bytesOf(idPath, newPath(0), 1, nodePathAbsolute, "b"),
		long + "/a:" + long: bytesOf(idPath, newPath(2), 1, 0, long, "a", long),
	} {
		t.Run(fmt.Sprintf("%q", want), func(t *testing.T) {
			for at := 16; at < len(packet); at++ {
				d := NewDecoder(&faultyReader{b: append(bytes.Clone(packet), integer(7)...), at: at}, &DecoderOptions{MaxChunk: 16})
				readTo(t, d, 1)
				var got []byte
				var err error
				if at > 16 || len(packet) > 16 {
					got, err = d.AppendString(got)
					require.Equal(t, errTemporary, err, "%s at %d", want, at)
				}
				got = must(d.AppendString(got))(t)
				require.Equal(t, want, string(got), "at %d", at)
				require.ErrorContains(t, d.WrapError(io.EOF), "offset 0, $:")
				require.EqualValues(t, 7, readTo(t, d, 1).Int())
				d.Release()
			}
			d := NewDecoder(plain(packet), nil)
			readTo(t, d, 1)
			require.Equal(t, want, string(must(d.AppendString(nil))(t)))
			d.Release()
		})
	}
}

// An error inside a NodePath stays for all calls.
func TestInvalidNodePath(t *testing.T) {
	d := newDecoder(t, plain(bytesOf(idPath, newPath(2), 0, 0, "ok", "\xff")), nil)
	readTo(t, d, 1)
	got, err := d.AppendString(nil)
	requireError(t, err, 28, "$[1]", ErrUTF8)
	require.Equal(t, "ok", string(got))
	_, again := d.AppendString(nil)
	require.Equal(t, err, again)
	_, again = d.ReadToken()
	require.Equal(t, err, again)
}

// The two counts of a NodePath can overflow their sum: engines add them in 32
// bits, the manuals do not say.
func TestNodePathCountOverflow(t *testing.T) {
	packet := bytesOf(15, newPath(1<<31-1), uint32(math.MaxUint32), 0)
	d := newDecoder(t, plain(packet), &DecoderOptions{Format: Manual4, Limits: NoLimits})
	requireError(t, readAll(d), 4, "$", ErrRange)

	d.Reset(plain(bytesOf(15, newPath(1<<31-1), uint32(1<<31), 0)))
	require.Equal(t, int64(math.MaxUint32), readTo(t, d, 1).Len(), "just counted")
}

func TestNodePathErrors(t *testing.T) {
	huge := bytesOf(idPath, newPath(1<<31-1), uint32(math.MaxUint32), 0)
	godot3 := bytesOf(15, newPath(1<<31-1), uint32(math.MaxUint32), 0)
	testInputErrors(t, []inputError{
		{name: "one string in Godot 4", packet: bytesOf(idPath, 5), is: ErrType,
			text: "offset 4, $: NodePath in one string, which godot4 does not have"},
		{name: "one string", packet: bytesOf(16, "a"), options: DecoderOptions{Format: Godot2, Strict: true}, is: ErrStrict,
			text: "offset 4, $: not canonical: NodePath as one string"},
		{name: "sum of the counts in an engine", packet: huge, options: DecoderOptions{Strict: true}, is: ErrStrict,
			text: "offset 4, $: not canonical: NodePath of 6442450942 names"},
		{name: "sum of the counts", packet: godot3, options: DecoderOptions{Format: Manual4, Limits: NoLimits}, is: ErrRange,
			text: "offset 4, $: NodePath of 6442450942 names"},
	})
}

// The type of DictKey, Property and End is that of their container.
func TestTypesOfMarkers(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := newDecoder(t, plain(s.packet), s.options(0))
		var open []Type
		for _, tok := range tokens(t, d) {
			switch tok.Kind() {
			case KindArrayStart, KindDictStart, KindObjectStart, KindNodePathStart, KindPackedStart, KindImageStart:
				open = append(open, tok.Type())
			case KindDictKey, KindProperty:
				require.Equal(t, open[len(open)-1], tok.Type())
			case KindEnd:
				require.Equal(t, open[len(open)-1], tok.Type())
				open = open[:len(open)-1]
			}
		}
	})
}

func TestContainerErrors(t *testing.T) {
	strict := DecoderOptions{Strict: true, AllowObjects: true}
	testInputErrors(t, []inputError{
		{name: "unknown type of elements", packet: bytesOf(idArray|typedBy, 77, 0), is: ErrType,
			text: "offset 4, $: elements of unknown godot4 type id 77"},
		{name: "no padding", packet: bytesOf(idString, 5, []byte("hello")), is: io.ErrUnexpectedEOF,
			text: "offset 13, $: String of 5 bytes: 3 of 3 bytes of padding are missing"},
		{name: "cut padding", packet: bytesOf(idArray, 1, idString, 5, []byte("hello\x00")), is: io.ErrUnexpectedEOF,
			text: "offset 22, $[0]: String of 5 bytes: 2 of 3 bytes of padding are missing"},
		{name: "shared bit", packet: bytesOf(idArray, shared(1), idNil), options: strict, is: ErrStrict,
			text: "offset 4, $: not canonical: shared bit of a count"},
		{name: "type id 0", packet: bytesOf(idArray|typedBy, 0, 0), options: strict, is: ErrStrict,
			text: "offset 4, $: not canonical: elements of type id 0"},
		{name: "no name of a class", packet: bytesOf(idArray|typedBy*2, "", 0), options: strict, is: ErrStrict,
			text: "offset 4, $: not canonical: elements of a class without a name"},
		{name: "no class", packet: bytesOf(idObject, ""), options: strict, is: ErrStrict,
			text: "offset 0, $: not canonical: object without a class"},
		{name: "negative count", packet: bytesOf(idObject, "A", shared(0)), options: strict, is: ErrStrict,
			text: "offset 12, $: not canonical: negative count"},
	})
}

// Names of classes and scripts are returned as strings, which allocates.
func TestNamesAllocate(t *testing.T) {
	packet := bytesOf(idArray|typedBy*2, "Node", 1, idObject, "Sprite2D", 1, "name", idSignal, "pressed", uint64(1))
	d := newDecoder(t, nil, &DecoderOptions{AllowObjects: true})
	for _, reset := range readers(packet) {
		requireNoAllocs(t, func() {
			reset(d)
			for range 7 {
				_, err := d.ReadToken()
				check(err)
			}
		})
	}
	reset := readers(packet)["ResetBytes"]
	require.EqualValues(t, 1, testing.AllocsPerRun(20, func() {
		reset(d)
		tok, _ := d.ReadToken()
		tok.Elem()
	}))
	builtin := bytesOf(idDict|typedBy|valuesBy, idInt, idString, 0)
	requireNoAllocs(t, func() {
		d.ResetBytes(builtin)
		tok, _ := d.ReadToken()
		if tok.Elem() != (Elem{Type: TypeString}) || tok.KeyElem() != (Elem{Type: TypeInt}) {
			panic("wrong types")
		}
	})
}
