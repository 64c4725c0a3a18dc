package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// document has every kind of place a token can be in.
var document = wire(idDict, 9,
	str("player"), idDict, 1, str("inventory"), idArray, 2, idNil, str("sword"),
	integer(5), integer(6),
	idArray, 1, integer(7), idArray, 1, integer(8),
	idDict, 1, str("k"), idNil, str("of a dictionary"),
	idPath, newPath(1), 1, 0, "a", "b", idStrings, 2, "p\x00", "q\x00",
	str("object"), idObject, "Node", 2, "name", str("Ada"), "next", idArray, 1, idNil,
	idName, "string name", idPath, newPath(1), 1, pathAbsolute, "x", "y",
	str("a key of more than thirty-two bytes"), idInts, 1, 7,
	str("\"quoted\"\n"), str(""),
)

var documentPaths = []string{
	`DictStart $`,
	`DictKey $.key(0)`,
	`StringChunk $.key(0)`,
	`DictStart $["player"]`,
	`DictKey $["player"].key(0)`,
	`StringChunk $["player"].key(0)`,
	`ArrayStart $["player"]["inventory"]`,
	`Nil $["player"]["inventory"][0]`,
	`StringChunk $["player"]["inventory"][1]`,
	`End $["player"]["inventory"]`,
	`End $["player"]`,
	`DictKey $.key(1)`,
	`Int32 $.key(1)`,
	`Int32 $.value(1)`,
	`DictKey $.key(2)`,
	`ArrayStart $.key(2)`,
	`Int32 $.key(2)[0]`,
	`End $.key(2)`,
	`ArrayStart $.value(2)`,
	`Int32 $.value(2)[0]`,
	`End $.value(2)`,
	`DictKey $.key(3)`,
	`DictStart $.key(3)`,
	`DictKey $.key(3).key(0)`,
	`StringChunk $.key(3).key(0)`,
	`Nil $.key(3)["k"]`,
	`End $.key(3)`,
	`StringChunk $.value(3)`,
	`DictKey $.key(4)`,
	`NodePathStart $.key(4)`,
	`StringChunk $.key(4)[0]`,
	`StringChunk $.key(4)[1]`,
	`End $.key(4)`,
	`PackedStart $.value(4)`,
	`StringChunk $.value(4)[0]`,
	`StringChunk $.value(4)[1]`,
	`End $.value(4)`,
	`DictKey $.key(5)`,
	`StringChunk $.key(5)`,
	`ObjectStart $["object"]`,
	`Property $["object"]["name"]`,
	`StringChunk $["object"]["name"]`,
	`Property $["object"]["next"]`,
	`ArrayStart $["object"]["next"]`,
	`Nil $["object"]["next"][0]`,
	`End $["object"]["next"]`,
	`End $["object"]`,
	`DictKey $.key(6)`,
	`StringChunk $.key(6)`,
	`NodePathStart $["string name"]`,
	`StringChunk $["string name"][0]`,
	`StringChunk $["string name"][1]`,
	`End $["string name"]`,
	`DictKey $.key(7)`,
	`StringChunk $.key(7)`,
	`PackedStart $["a key of more than thirty-two by"]`,
	`Chunk $["a key of more than thirty-two by"]`,
	`End $["a key of more than thirty-two by"]`,
	`DictKey $.key(8)`,
	`StringChunk $.key(8)`,
	`StringChunk $["\"quoted\"\n"]`,
	`End $`,
}

func TestPaths(t *testing.T) {
	d := NewDecoder(plain(document), &DecoderOptions{AllowObjects: true})
	defer d.Release()
	require.Equal(t, "$", string(d.AppendPath(nil)), "before any token")
	var got []string
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		got = append(got, fmt.Sprintf("%v %s", tok.Kind(), d.AppendPath(nil)))
		// The caller's own objection stands in the same place.
		var e *Error
		require.ErrorAs(t, d.WrapError(io.ErrNoProgress), &e)
		require.Equal(t, string(d.AppendPath(nil)), e.Path)
	}
	require.Equal(t, documentPaths, got)
	require.Equal(t, "prefix$", string(d.AppendPath([]byte("prefix"))))
}

// The path in an error is that of the token that did not come.
func TestErrorPaths(t *testing.T) {
	whole := NewDecoder(plain(document), &DecoderOptions{AllowObjects: true})
	defer whole.Release()
	cut := NewDecoder(nil, &DecoderOptions{AllowObjects: true})
	defer cut.Release()
	for i := range documentPaths {
		start := whole.InputOffset()
		tok := readTo(t, whole, 1)
		if k := tok.Kind(); k == KindDictKey || k == KindEnd {
			continue // these have no bytes to miss
		}
		cut.Reset(plain(document[:start+1]))
		readTo(t, cut, i)
		_, err := cut.ReadToken()
		kind, path, _ := strings.Cut(documentPaths[i], " ")
		require.Equal(t, tok.Kind().String(), kind)
		if kind == "Property" { // whose name is not known yet
			_, index, _ := whole.StackIndex(whole.Depth())
			path = fmt.Sprintf("%s.key(%d)", path[:strings.LastIndexByte(path, '[')], index)
		}
		requireError(t, err, int(start)+1, path, io.ErrUnexpectedEOF)
	}
}

// Keys are remembered when the window has moved on, at any depth, by every way
// of reading.
func TestPathsOfKeysThatLeftTheWindow(t *testing.T) {
	const depth = 6
	filler := strings.Repeat("filler", 100)
	var b []byte
	path := "$"
	for i := range depth {
		key := fmt.Sprintf("key %d of %s", i, longText)
		switch i % 3 {
		case 0:
			b = append(b, wire(idDict, 2, str("filler"), str(filler), str(key))...)
		case 1:
			b = append(b, wire(idObject, "Node", 2, "filler", idFloats, 100, reals(100), key)...)
		default:
			b = append(b, wire(idArray, 2, str(filler))...)
			path += "[1]"
			continue
		}
		path += fmt.Sprintf("[%q]", cutKey([]byte(key)))
	}
	if len(path) > maxPath {
		path = path[:maxPath]
	}
	b = append(b, wire(idArray, 3, idFloats, 1000, reals(1000), str(filler+filler), 255)...)
	for _, window := range []int{minWindow, 64, DefaultWindowSize} {
		for name, skip := range map[string]func(d *Decoder) error{
			"ReadToken": func(d *Decoder) (err error) {
				for _, err = range d.Tokens() {
				}
				return err
			},
			"SkipValue": (*Decoder).SkipValue,
			"bulk reads": func(d *Decoder) error {
				tok, err := d.ReadToken()
				if err != nil {
					return err
				}
				if tok.Kind() == KindPackedStart {
					_, err = io.ReadAll(struct{ io.Reader }{d.Payload()})
				} else {
					_, err = d.AppendString(nil)
				}
				return err
			},
			"ReadPacked": func(d *Decoder) error {
				tok, err := d.ReadToken()
				if err != nil {
					return err
				}
				if tok.Kind() == KindPackedStart {
					_, err = AppendPacked(d, []float32(nil))
				} else {
					_, err = io.Copy(io.Discard, d.Payload())
				}
				return err
			},
		} {
			d := NewDecoder(&slowReader{b}, &DecoderOptions{WindowSize: window, AllowObjects: true})
			for i := range depth {
				readTo(t, d, 1)
				if i%3 != 2 {
					readTo(t, d, 1) // DictKey or Property
				}
				if i%3 == 0 {
					require.NoError(t, skip(d))
				}
				require.NoError(t, skip(d))
				if i%3 != 2 {
					readTo(t, d, 1)
				}
				if i%3 == 0 {
					require.NoError(t, skip(d))
				}
			}
			readTo(t, d, 1)
			require.Equal(t, path, string(d.AppendPath(nil)), "%s, window %d", name, window)
			require.NoError(t, skip(d))
			require.NoError(t, skip(d))
			err := skip(d)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, ErrType)
			require.Equal(t, (path + "[2]")[:min(len(path)+3, maxPath)], e.Path, "%s, window %d", name, window)
			d.Release()
		}
	}
}

func TestLongPathsAreCut(t *testing.T) {
	const depth = 500
	d := NewDecoder(plain(append(bytes.Repeat(wire(idArray, 1), depth), wire(idNil)...)), nil)
	defer d.Release()
	readTo(t, d, depth+1)
	require.Equal(t, "$"+strings.Repeat("[0]", depth)[:maxPath-1], string(d.AppendPath(nil)))
	require.Len(t, d.AppendPath([]byte("prefix")), len("prefix")+maxPath)
	dst := make([]byte, 1, 2*maxPath)
	require.Same(t, &dst[0], &d.AppendPath(dst)[0], "nobody asks how deep it is to cut it")

	// Where 32 bytes would end inside a rune the key ends before it.
	key := strings.Repeat("x", 31) + "€"
	d.Reset(plain(wire(idDict, 1, str(key), idNil)))
	readTo(t, d, 4)
	require.Equal(t, `$["`+key[:31]+`"]`, string(d.AppendPath(nil)))

	key = strings.Repeat("x", 29) + "€"
	d.Reset(plain(wire(idDict, 1, str(key), idNil)))
	readTo(t, d, 4)
	require.Equal(t, `$["`+key+`"]`, string(d.AppendPath(nil)))

	// One of 32 bytes is not cut, whatever it ends in.
	d = NewDecoder(plain(wire(idDict, 1, str(key[:29]+"xx\xc3"), idNil)), &DecoderOptions{AnyUTF8: true})
	defer d.Release()
	readTo(t, d, 4)
	require.Equal(t, `$["`+key[:29]+`xx\xc3"]`, string(d.AppendPath(nil)))
}

// The stack that a value of the default Depth needs stays for the next one, a
// larger one does not.
func TestStackAfterDeepValues(t *testing.T) {
	d := NewDecoder(nil, &DecoderOptions{Limits: Limits{Depth: -1}})
	for _, c := range []struct{ depth, kept int }{{10, 16}, {1024, 2048}, {10, 2048}, {2048, 16}} {
		d.Reset(plain(nested(c.depth)))
		require.NoError(t, d.SkipValue())
		d.Release()
		require.Len(t, d.stack, c.kept, "after a value of depth %d", c.depth)
	}
}

// Decoder and Encoder tell alike what is open.
func TestStackIndex(t *testing.T) {
	d := NewDecoder(plain(document), &DecoderOptions{AllowObjects: true})
	defer d.Release()
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
	stack := func(s *state) (all []string) {
		for i := range s.Depth() + 1 {
			kind, index, count := s.StackIndex(i)
			all = append(all, fmt.Sprintf("%v %d/%d", kind, index, count))
		}
		return all
	}
	want := map[int][]string{
		0:  {"Kind(0) -1/-1"},
		1:  {"Kind(0) -1/-1", "DictStart -1/9"},
		2:  {"Kind(0) -1/-1", "DictStart 0/9"},
		7:  {"Kind(0) -1/-1", "DictStart 0/9", "DictStart 0/1", "ArrayStart -1/2"},
		9:  {"Kind(0) -1/-1", "DictStart 0/9", "DictStart 0/1", "ArrayStart 1/2"},
		10: {"Kind(0) -1/-1", "DictStart 0/9", "DictStart 0/1"},
		12: {"Kind(0) -1/-1", "DictStart 1/9"},
		31: {"Kind(0) -1/-1", "DictStart 4/9", "NodePathStart 0/2"},
		34: {"Kind(0) -1/-1", "DictStart 4/9", "PackedStart -1/2"},
		35: {"Kind(0) -1/-1", "DictStart 4/9", "PackedStart 0/2"},
		41: {"Kind(0) -1/-1", "DictStart 5/9", "ObjectStart 0/2"},
		57: {"Kind(0) -1/-1", "DictStart 7/9", "PackedStart -1/1"},
	}
	for i := range documentPaths {
		if w, ok := want[i]; ok {
			require.Equal(t, w, stack(&d.state), "after %d tokens", i)
		}
		require.Equal(t, stack(&d.state), stack(&e.state), "after %d tokens", i)
		require.NoError(t, e.WriteToken(readTo(t, d, 1)))
	}

	require.NoError(t, e.BeginArray(Unknown))
	require.NoError(t, e.BeginString(TypeString, 10))
	e.Write([]byte("abc"))
	require.Equal(t, []string{"Kind(0) -1/-1", "ArrayStart 0/-1", "StringChunk -1/10"}, stack(&e.state))
}

// An Encoder's paths are a Decoder's, but that it does not know keys.
func TestEncoderPaths(t *testing.T) {
	d := NewDecoder(plain(document), &DecoderOptions{AllowObjects: true})
	defer d.Release()
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
	for i, line := range documentPaths {
		require.NoError(t, e.WriteToken(readTo(t, d, 1)))
		_, path, _ := strings.Cut(line, " ")
		got := string(e.AppendPath(nil))
		if strings.Contains(path, `"`) {
			require.Equal(t, strings.Count(path, `["`), strings.Count(got, ".value("), "token %d: %s", i, got)
		} else {
			require.Equal(t, path, got, "token %d", i)
		}
	}
}

// Keys are known however often the window has moved on since, and however deep.
func TestPathsOfKeysLongGone(t *testing.T) {
	long := strings.Repeat("x", 700)
	packet := wire(idDict, 1, str("top"))
	for i := range 40 {
		packet = append(packet, wire(idDict, 2, str(fmt.Sprint(i)), str(long), str("k"))...)
	}
	packet = append(packet, wire(idNil)...)
	o := DecoderOptions{WindowSize: 16}
	d, whole := NewDecoder(plain(packet), &o), NewDecoder(nil, &o)
	defer d.Release()
	whole.ResetBytes(packet)
	for {
		_, err := d.ReadToken()
		_, again := whole.ReadToken()
		if err != nil {
			require.Equal(t, again.Error(), err.Error())
			return
		}
		require.Equal(t, string(whole.AppendPath(nil)), string(d.AppendPath(nil)))
	}
}
