package gdwire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// The largest count of a format is accepted, and no larger one.
func TestLargestCounts(t *testing.T) {
	inStrings := func(n int64) step {
		return func(e *Encoder) error {
			return errors.Join(e.BeginPacked(TypePackedStringArray, 1), e.BeginString(TypeString, n))
		}
	}
	container := func(k Kind, typ Type) func(n int64) step {
		return func(n int64) step { return token(newToken(k, typ, 0, uint64(n))) }
	}
	for _, c := range []struct {
		name            string
		begin           func(n int64) step
		engines, manual int64
	}{
		{"elements", container(KindArrayStart, TypeArray), math.MaxInt32, math.MaxInt32},
		{"pairs", container(KindDictStart, TypeDictionary), math.MaxInt32, math.MaxInt32},
		{"names and sub-names", func(n int64) step {
			return token(newToken(KindNodePathStart, TypeNodePath, 0, uint64(n-1)<<32|1))
		}, math.MaxInt32, math.MaxUint32},
		{"names", func(n int64) step {
			return token(newToken(KindNodePathStart, TypeNodePath, 0, uint64(n)))
		}, math.MaxInt32, math.MaxInt32},
		{"bytes of a string", func(n int64) step { return text(TypeString, n) }, math.MaxInt32, math.MaxUint32},
		{"bytes of a packed string", inStrings, math.MaxInt32 - 1, math.MaxUint32},
		{"numbers", func(n int64) step { return packedOf(TypePackedInt32Array, n) }, math.MaxInt32, math.MaxUint32},
		{"packed strings", func(n int64) step { return packedOf(TypePackedStringArray, n) }, math.MaxInt32, math.MaxUint32},
	} {
		t.Run(c.name, func(t *testing.T) {
			for f, most := range map[Format]int64{Godot4: c.engines, Godot2: c.engines, Manual4: c.manual, Manual30: c.manual} {
				e := NewEncoder(io.Discard, &EncoderOptions{Format: f})
				require.NoError(t, c.begin(most)(e), "%d %s in %v", most, c.name, f)
				e.Reset(io.Discard)
				require.ErrorIs(t, c.begin(most+1)(e), ErrRange, "%d %s in %v", most+1, c.name, f)
				e.Close()
			}
		})
	}
}

// textWriters contains every call that writes text, where it may be called.
var textWriters = []struct {
	name   string
	before []step
	write  func(e *Encoder, text string) error
}{
	{"String", nil, (*Encoder).WriteString},
	{"String in an Array", []step{array(9)}, (*Encoder).WriteString},
	{"String in a typed Array", []step{typedArray(9, Elem{Type: TypeString})}, (*Encoder).WriteString},
	{"key", []step{dict(9)}, (*Encoder).WriteString},
	{"prepared key", []step{dict(9)}, keyTo},
	{"StringName", nil, (*Encoder).WriteStringName},
	{"StringName in an Array", []step{array(9)}, (*Encoder).WriteStringName},
	{"NodePath", nil, (*Encoder).WriteNodePath},
	{"NodePath in an Array", []step{array(9)}, (*Encoder).WriteNodePath},
	{"NodePath of names", []step{array(9)}, func(e *Encoder, text string) error { return e.WriteNodePath("/root/" + text + "/a:" + text) }},
	{"name of a NodePath", []step{array(9), path(3, 0)}, (*Encoder).WriteString},
	{"sub-name of a NodePath", []step{array(9), path(0, 3)}, (*Encoder).WriteString},
	{"packed string", []step{packedOf(TypePackedStringArray, 9)}, (*Encoder).WriteString},
	{"packed string in an Array", []step{array(9), packedOf(TypePackedStringArray, 9)}, (*Encoder).WriteString},
	{"signal", nil, func(e *Encoder, text string) error { return e.WriteSignal(text, 7) }},
	{"object", nil, func(e *Encoder, text string) error { return e.BeginObject(text, 0) }},
	{"property", []step{func(e *Encoder) error { return e.BeginObject("A", 9) }}, (*Encoder).WriteProperty},
	{"declared class", nil, func(e *Encoder, text string) error { return e.BeginTypedArray(0, Elem{Class: text}) }},
	{"declared script", nil, func(e *Encoder, text string) error {
		return e.BeginTypedDict(0, Elem{Type: TypeInt}, Elem{Script: text})
	}},
	{"token", nil, writeTextToken},
	{"token in an Array", []step{array(9)}, writeTextToken},
	{"token of a packed string", []step{packedOf(TypePackedStringArray, 9)}, writeTextToken},
	{"first chunk", nil, func(e *Encoder, text string) error {
		return e.WriteToken(chunkOf(TypeString, len(text)+1, text, false))
	}},
	{"last chunk", []step{text(TypeString, Unknown)}, func(e *Encoder, text string) error {
		return e.WriteToken(chunkOf(TypeString, len(text), text, true))
	}},
	{"token of an Array", nil, func(e *Encoder, text string) error { return e.WriteToken(ArrayStart(0, Elem{Class: text})) }},
	{"Write", []step{text(TypeString, Unknown)}, func(e *Encoder, text string) error {
		_, err := e.Write([]byte(text))
		return err
	}},
	{"Write after a part of a rune", []step{text(TypeString, Unknown), write("\xe2\x82")}, func(e *Encoder, text string) error {
		_, err := e.Write([]byte("\xac" + text))
		return err
	}},
}

func writeTextToken(e *Encoder, text string) error {
	return e.WriteToken(chunkOf(TypeString, len(text), text, true))
}

// A NUL, after which engines read no more, is an error of every call that writes text: at every byte of
// texts of every length, in ASCII and other text. AllowInvalidUTF8 writes it.
func TestNULInText(t *testing.T) {
	var b bytes.Buffer
	strict, lenient := NewEncoder(&b, nil), NewEncoder(&b, &EncoderOptions{AllowInvalidUTF8: true})
	for _, c := range textWriters {
		for n := 1; n < 80; n += 1 + n/20 {
			for i := 0; i < n; i += 1 + i/10 {
				for _, filler := range []string{"x", "é", "\x7f", "日"} {
					plain := strings.Repeat(filler, n)
					text := plain[:i*len(filler)] + "\x00" + plain[(i+1)*len(filler):]
					begin := func(e *Encoder) {
						e.Reset(&b)
						for _, call := range c.before {
							require.NoError(t, call(e))
						}
					}
					begin(strict)
					before := strict.OutputOffset()
					err := c.write(strict, text)
					if err == nil || err.(*Error).Err.Error() != "NUL in text" {
						require.FailNow(t, "no error", "%s %q: %v", c.name, text, err)
					}
					require.ErrorIs(t, err, ErrUTF8)
					require.Equal(t, before, strict.OutputOffset(), c.name)
					require.Equal(t, err, strict.ClearError())
					require.NoError(t, c.write(strict, plain), c.name)
					begin(lenient)
					require.NoError(t, c.write(lenient, text), c.name)
				}
			}
		}
	}
}

func TestTextCallErrors(t *testing.T) {
	if strconv.IntSize == 32 || testenv.Race {
		t.Skip("skipped: needs 64 bits, and the race detector checks the pointer")
	}
	var b byte
	long := unsafe.String(&b, 1<<31-1) // its bytes are never read
	e := newEncoder(t, io.Discard, nil)
	for _, m := range []misuse{
		{"$: string of 2147483647 bytes is too long", func(e *Encoder) error { return e.WriteString(long) }, ErrRange},
		{"$: name of 2147483647 bytes is too long", func(e *Encoder) error { return e.WriteSignal(long, 0) }, ErrRange},
		{"$: name of 2147483647 bytes is too long", typedArray(0, Elem{Class: long}), ErrRange},
	} {
		m.fails(t, e)
	}
}

// WriteNodePath has the result of NodePath(text) in Godot 3.2.3 and in the official 4.6. Text
// that both call invalid is ErrRange.
func TestWriteNodePathAsEngines(t *testing.T) {
	for text, want := range nodePathsOfGodot3 {
		var b bytes.Buffer
		e := NewEncoder(&b, &EncoderOptions{Format: Godot3})
		err := e.WriteNodePath(text)
		if want == "" {
			require.ErrorIs(t, err, ErrRange, text)
			require.Empty(t, b.Bytes(), text)
		} else {
			require.NoError(t, err, text)
			require.Equal(t, want, hex.EncodeToString(b.Bytes()), text)
		}
		e.Close()
	}
}

// nodePathsOfGodot3 are packets as var2bytes(NodePath(text)) made them, with zeros
// for the content of memory that it leaves as padding. Of an invalid path it
// prints an error and makes an empty one.
var nodePathsOfGodot3 = map[string]string{
	"":            "0f000000000000800000000000000000",
	"/":           "0f000000000000800000000001000000",
	":":           "0f000000000000800000000000000000",
	"::":          "",
	"a":           "0f0000000100008000000000000000000100000061000000",
	"/a":          "0f0000000100008000000000010000000100000061000000",
	"a/":          "0f0000000100008000000000000000000100000061000000",
	"/a/":         "0f0000000100008000000000010000000100000061000000",
	"a//b":        "0f00000002000080000000000000000001000000610000000100000062000000",
	"//a":         "0f0000000100008000000000010000000100000061000000",
	"a//":         "0f0000000100008000000000000000000100000061000000",
	"//":          "0f000000000000800000000001000000",
	"///":         "0f000000000000800000000001000000",
	"a:":          "0f0000000100008000000000000000000100000061000000",
	":a":          "0f0000000000008001000000000000000100000061000000",
	"a:b":         "0f00000001000080010000000000000001000000610000000100000062000000",
	"a:b:":        "0f00000001000080010000000000000001000000610000000100000062000000",
	"a:b:c":       "0f000000010000800200000000000000010000006100000001000000620000000100000063000000",
	"a::b":        "",
	"::a":         "",
	"a::":         "",
	"a:b::":       "",
	"a:b::c":      "",
	":a:b":        "0f00000000000080020000000000000001000000610000000100000062000000",
	":a:":         "0f0000000000008001000000000000000100000061000000",
	"a/:b":        "0f00000001000080010000000000000001000000610000000100000062000000",
	"/:a":         "0f0000000000008001000000010000000100000061000000",
	"/:":          "0f000000000000800000000001000000",
	"/a:b":        "0f00000001000080010000000100000001000000610000000100000062000000",
	"a/b:c/d":     "0f0000000200008001000000000000000100000061000000010000006200000003000000632f6400",
	"a:/b":        "0f0000000100008001000000000000000100000061000000020000002f620000",
	"a:b/":        "0f000000010000800100000000000000010000006100000002000000622f0000",
	"a: :b":       "0f000000010000800200000000000000010000006100000001000000200000000100000062000000",
	" a ":         "0f0000000100008000000000000000000300000020612000",
	".":           "0f000000010000800000000000000000010000002e000000",
	"..":          "0f000000010000800000000000000000020000002e2e0000",
	"../a":        "0f000000020000800000000000000000020000002e2e00000100000061000000",
	"./a:b":       "0f000000020000800100000000000000010000002e00000001000000610000000100000062000000",
	"/root/..":    "0f00000002000080000000000100000004000000726f6f74020000002e2e0000",
	"a/../b":      "0f0000000300008000000000000000000100000061000000020000002e2e00000100000062000000",
	"a:/":         "0f0000000100008001000000000000000100000061000000010000002f000000",
	":/":          "0f000000000000800100000000000000010000002f000000",
	"/a/:":        "0f0000000100008000000000010000000100000061000000",
	"a/::b":       "",
	"é/ü:ö":       "0f00000002000080010000000000000002000000c3a9000002000000c3bc000002000000c3b60000",
	"@a@1/b":      "0f00000002000080000000000000000004000000406140310100000062000000",
	"%a/b":        "0f00000002000080000000000000000002000000256100000100000062000000",
	"a b/c d:e f": "0f000000020000800100000000000000030000006120620003000000632064000300000065206600",
	"a:b/c:d":     "0f000000010000800200000000000000010000006100000003000000622f63000100000064000000",
	"a\\b":        "0f00000001000080000000000000000003000000615c6200",
	":::":         "",
	"a:::b":       "",
	"/::":         "",
	"//:":         "0f000000000000800000000001000000",
	"a//:b":       "0f00000001000080010000000000000001000000610000000100000062000000",
	"a//b//c:d":   "0f0000000300008001000000000000000100000061000000010000006200000001000000630000000100000064000000",
	"x:::":        "",
	":a::":        "",
	"/a/b/":       "0f00000002000080000000000100000001000000610000000100000062000000",
	"/a//b:c":     "0f000000020000800100000001000000010000006100000001000000620000000100000063000000",
}
