package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
)

func TestPaths(t *testing.T) {
	d := newDecoder(t, plain(document), &DecoderOptions{AllowObjects: true})
	require.Equal(t, "$", string(d.AppendPath(nil)), "before any token")
	var got []string
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		got = append(got, fmt.Sprintf("%v %s", tok.Kind(), d.AppendPath(nil)))
		// WrapError returns the same path.
		var e *Error
		require.ErrorAs(t, d.WrapError(io.ErrNoProgress), &e)
		require.Equal(t, string(d.AppendPath(nil)), e.Path)
	}
	require.Equal(t, documentPaths, got)
	require.Equal(t, "prefix$", string(d.AppendPath([]byte("prefix"))))
}

// A later value of a file has its number in the path, which is cut after as many bytes as any other, at a
// whole character.
func TestLongPathsOfLaterValues(t *testing.T) {
	for _, letter := range []string{"a", "é", "語"} {
		for size := range 40 { // of the innermost key, so that the path ends at each place around the limit
			packet, keys := []byte(nil), 0
			for ; keys < 7; keys++ {
				packet = append(packet, bytesOf(idDict, 1, str(strings.Repeat("k", 24)))...)
			}
			packet = append(packet, bytesOf(idDict, 1, str("k"+strings.Repeat(letter, size)), integer(7))...)
			path := func(value int64) string {
				d := NewDecoder(plain(packet), nil)
				defer d.Release()
				d.place(0, value)
				readTo(t, d, 3*keys+4)
				require.Equal(t, "prefix"+string(d.AppendPath(nil)), string(d.AppendPath([]byte("prefix"))))
				var e *Error
				require.ErrorAs(t, d.WrapError(io.ErrNoProgress), &e)
				require.Equal(t, string(d.AppendPath(nil)), e.Path)
				return e.Path
			}
			first := path(0)
			for _, value := range []int64{1, 23, 1<<63 - 1} {
				want := []byte(fmt.Sprint("$", value, first[1:]))
				if len(want) > maxPath {
					want = want[:wire.WholeRunes(want, maxPath)]
				}
				require.Equal(t, string(want), path(value))
			}
		}
	}
}

// The path in an error is that of the missing token.
func TestErrorPaths(t *testing.T) {
	whole := newDecoder(t, plain(document), &DecoderOptions{AllowObjects: true})
	cut := newDecoder(t, nil, &DecoderOptions{AllowObjects: true})
	for i := range documentPaths {
		start := whole.InputOffset()
		tok := readTo(t, whole, 1)
		if k := tok.Kind(); k == KindDictKey || k == KindEnd {
			continue // these have no bytes
		}
		cut.Reset(plain(document[:start+1]))
		readTo(t, cut, i)
		_, err := cut.ReadToken()
		kind, path, _ := strings.Cut(documentPaths[i], " ")
		require.Equal(t, tok.Kind().String(), kind)
		if kind == "Property" { // its name is not known yet
			_, index, _ := whole.StackIndex(whole.Depth())
			path = fmt.Sprintf("%s.key(%d)", path[:strings.LastIndexByte(path, '.')], index)
		}
		requireError(t, err, int(start)+1, path, io.ErrUnexpectedEOF)
	}
}

// Paths have keys that are no longer in the read buffer, at any depth and after
// every way of reading.
func TestPathsOfKeysOutsideTheBuffer(t *testing.T) {
	const depth = 6
	filler := strings.Repeat("filler", 100)
	var b []byte
	path := "$"
	for i := range depth {
		key := fmt.Sprintf("key %d of %s", i, longText)
		switch i % 3 {
		case 0:
			b = append(b, bytesOf(idDict, 2, str("filler"), str(filler), str(key))...)
		case 1:
			b = append(b, bytesOf(idObject, "Node", 2, "filler", idFloats, 100, reals(100), key)...)
		default:
			b = append(b, bytesOf(idArray, 2, str(filler))...)
			path += "[1]"
			continue
		}
		path += fmt.Sprintf(`["%s…"]`, key[:wire.WholeRunes([]byte(key), maxKey)])
	}
	if len(path) > maxPath {
		path = path[:wire.WholeRunes([]byte(path), maxPath)]
	}
	b = append(b, bytesOf(idArray, 3, idFloats, 1000, reals(1000), str(filler+filler), 255)...)
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
		t.Run(name, func(t *testing.T) {
			for _, maxChunk := range []int{smallestChunk, 64, DefaultMaxChunk} {
				d := NewDecoder(&slowReader{b}, &DecoderOptions{MaxChunk: maxChunk, AllowObjects: true})
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
				require.Equal(t, path, string(d.AppendPath(nil)), "maxChunk %d", maxChunk)
				require.NoError(t, skip(d))
				require.NoError(t, skip(d))
				err := skip(d)
				var e *Error
				require.ErrorAs(t, err, &e)
				require.ErrorIs(t, err, ErrType)
				require.Equal(t, (path + "[2]")[:min(len(path)+3, maxPath)], e.Path, "maxChunk %d", maxChunk)
				d.Release()
			}
		})
	}
}

func TestLongPathsAreCut(t *testing.T) {
	const depth = 500
	d := newDecoder(t, plain(append(bytes.Repeat(bytesOf(idArray, 1), depth), bytesOf(idNil)...)), nil)
	readTo(t, d, depth+1)
	require.Equal(t, "$"+strings.Repeat("[0]", depth)[:maxPath-1], string(d.AppendPath(nil)))
	require.Len(t, d.AppendPath([]byte("prefix")), len("prefix")+maxPath)
	dst := make([]byte, 1, 2*maxPath)
	require.Same(t, &dst[0], &d.AppendPath(dst)[0], "dst has room")

	// A key that 32 bytes would cut inside a rune is cut before it.
	key := strings.Repeat("x", 31) + "€"
	d.Reset(plain(bytesOf(idDict, 1, str(key), idNil)))
	readTo(t, d, 4)
	require.Equal(t, `$["`+key[:31]+`…"]`, string(d.AppendPath(nil)))

	key = strings.Repeat("x", 29) + "€"
	d.Reset(plain(bytesOf(idDict, 1, str(key), idNil)))
	readTo(t, d, 4)
	require.Equal(t, `$["`+key+`"]`, string(d.AppendPath(nil)))

	// A key of 32 bytes is not cut.
	d = NewDecoder(plain(bytesOf(idDict, 1, str(key[:29]+"xx\xc3"), idNil)), &DecoderOptions{AllowInvalidUTF8: true})
	defer d.Release()
	readTo(t, d, 4)
	require.Equal(t, `$["`+key[:29]+`xx\xc3"]`, string(d.AppendPath(nil)))
}

// Paths of an Encoder are those of a Decoder, without keys.
func TestEncoderPaths(t *testing.T) {
	d := newDecoder(t, plain(document), &DecoderOptions{AllowObjects: true})
	e := newEncoder(t, io.Discard, nil)
	for i, line := range documentPaths {
		require.NoError(t, e.WriteToken(readTo(t, d, 1)))
		_, path, _ := strings.Cut(line, " ")
		got := string(e.AppendPath(nil))
		if key := regexp.MustCompile(`\.[a-z]+\b[^(]|\.[a-z]+$|\[&?"|^\$\[5]`); key.MatchString(path) {
			require.Contains(t, got, ".value(", "token %d: %s", i, got)
		} else {
			require.Equal(t, path, got, "token %d", i)
		}
	}
}

// Paths have the right keys after the read buffer was refilled many times, at any
// depth.
func TestPathsAfterManyRefills(t *testing.T) {
	long := strings.Repeat("x", 700)
	packet := bytesOf(idDict, 1, str("top"))
	for i := range 40 {
		packet = append(packet, bytesOf(idDict, 2, str(fmt.Sprint(i)), str(long), str("k"))...)
	}
	packet = append(packet, bytesOf(idNil)...)
	o := DecoderOptions{MaxChunk: 16}
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

// A path is UTF-8 wherever it is cut.
func TestPathsAreUTF8(t *testing.T) {
	for n := range 20 {
		key := strings.Repeat("x", n) + "éé"
		var b []byte
		for range 20 {
			b = append(b, bytesOf(idDict, 1, str(key))...)
		}
		d := NewDecoder(plain(append(b, bytesOf(99)...)), nil)
		_, err := d.ReadToken()
		for err == nil {
			_, err = d.ReadToken()
		}
		var e *Error
		require.ErrorAs(t, err, &e)
		require.True(t, utf8.ValidString(e.Path), e.Path)
		require.LessOrEqual(t, len(e.Path), maxPath)
		d.Release()
	}
}

// Keys that are not strings are in paths, too.
func TestPathsOfKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		key  []byte
		path string
	}{
		{"name", str("name"), "$.name"},
		{"name with an underscore", str("_x9"), "$._x9"},
		{"digit first", str("9x"), `$["9x"]`},
		{"empty", str(""), `$[""]`},
		{"space", str("a b"), `$["a b"]`},
		{"escapes", str("a\"\\\n\r\t\a\u009b\u202e\U000e0001é"), `$["a\"\\\n\r\t\u0007\u009b\u202e\udb40\udc01é"]`},
		{"StringName", bytesOf(idName, "speed"), `$[&"speed"]`},
		{"null", bytesOf(idNil), "$[null]"},
		{"bool", bytesOf(idBool, 1), "$[true]"},
		{"int", integer(7), "$[7]"},
		{"negative int", bytesOf(idInt, uint32(math.MaxUint32)), "$[-1]"},
		{"large int", bytesOf(idInt|bit16, uint64(1<<40)), "$[1099511627776]"},
		{"float", bytesOf(idFloat, float32(1)), "$[1.0]"},
		{"large float", bytesOf(idFloat|bit16, 1e300), "$[1e+300]"},
		{"infinity", bytesOf(idFloat, float32(math.Inf(-1))), "$[-inf]"},
		{"NaN", bytesOf(idFloat|bit16, math.NaN()), "$[nan]"},
		{"Vector2i", bytesOf(6, 1, uint32(math.MaxUint32)), "$[Vector2i(1, -1)]"},
		{"Vector2", bytesOf(idVector2, float32(0.5), float32(2)), "$[Vector2(0.5, 2.0)]"},
		{"wide Vector3", bytesOf(idVector3|bit16, 0.5, 2.0, 1e20), "$[Vector3(0.5, 2.0, 1e+20)]"},
		{"wide Rect2, of 32 bytes", bytesOf(7|bit16, 0.5, 1.5, 2.5, 3.5), "$[Rect2(0.5, 1.5, 2.5, 3.5)]"},
		{"Transform3D", bytesOf(idTransform, reals(12)), "$.value(0)"},
		{"Array", bytesOf(idArray, 0), "$.value(0)"},
		{"RID", bytesOf(idRID, uint64(1)), "$.value(0)"},
		{"long", str(strings.Repeat("x", 33)), `$["` + strings.Repeat("x", 32) + `…"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, far := range []bool{false, true} { // the key left the buffer
				b := append(bytesOf(idDict, 1), c.key...)
				if far {
					b = append(b, bytesOf(idArray, 2, str(strings.Repeat("y", 500)))...)
				}
				d := NewDecoder(&slowReader{append(b, bytesOf(99)...)}, &DecoderOptions{MaxChunk: 16})
				_, err := d.ReadToken()
				for err == nil {
					_, err = d.ReadToken()
				}
				var e *Error
				require.ErrorAs(t, err, &e)
				want := c.path
				if far {
					want += "[1]"
				}
				require.Equal(t, want, e.Path)
				d.Release()
			}
		})
	}
}
