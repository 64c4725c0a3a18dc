package gdwire

import (
	"bytes"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Text can be written in any pieces.
func TestTextInPieces(t *testing.T) {
	const text = longText + "\uFFFD, which is no error"
	for size := range 20 {
		for _, n := range []int64{int64(len(text)), Unknown} {
			got := encoded(t, nil, func(e *Encoder) {
				require.NoError(t, e.BeginString(TypeString, n))
				written, err := io.CopyBuffer(e, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, size+1))
				require.NoError(t, err)
				require.EqualValues(t, len(text), written)
				require.NoError(t, e.End())
			})
			require.Equal(t, str(text), got)
		}
	}
}

// Invalid text that two Writes split in any way is found as early as possible.
func TestInvalidTextInPieces(t *testing.T) {
	for _, bad := range []string{"\xff", "\x80", "\xc0\x80", "\xe2\x28\xa1", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xf0\x9f\x98"} {
		text := "é" + bad + "xy"
		for i := range len(text) + 1 {
			for j := i; j <= len(text); j++ {
				e := NewEncoder(io.Discard, nil)
				require.NoError(t, e.BeginString(TypeString, Unknown))
				var err error
				for _, p := range []string{text[:i], text[i:j], text[j:]} {
					if err == nil {
						_, err = e.Write([]byte(p))
					}
				}
				if err == nil {
					err = e.End()
				}
				require.ErrorIs(t, err, ErrUTF8, "%q split at %d and %d", text, i, j)
				e.Release()
			}
		}
	}
}

// One invalid byte is found at every position.
func TestInvalidTextAtEveryByte(t *testing.T) {
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
	for n := range 40 {
		for i := range n {
			text := []byte(strings.Repeat("x", n))
			text[i] = 0x80
			require.ErrorIs(t, e.WriteString(string(text)), ErrUTF8, "%q", text)
			require.ErrorIs(t, e.WriteToken(chunkOf(TypeString, n, string(text), true)), ErrUTF8, "%q", text)
			require.ErrorIs(t, e.WriteRaw(str(string(text))), ErrUTF8, "%q", text)
		}
	}
}

// Texts of every size have the same encoding as values, as names, and as packed strings.
func TestTextOfEverySize(t *testing.T) {
	for size := range 40 {
		text := strings.Repeat("0123456789", 4)[:size]
		for nul := range 2 {
			content := text + strings.Repeat("\x00", nul)
			content = string(le.AppendUint32(nil, uint32(len(content)))) + content + string(zeros[:padding(uint32(len(content)))])
			head := []uint32{22, 2 | 1<<31, 0, 0}
			if nul == 1 {
				head = []uint32{34, 2}
			}
			var want []byte
			for _, x := range head {
				want = le.AppendUint32(want, x)
			}
			want = append(want, content+content...)
			want = append(append([]byte{28, 0, 0, 0, 3, 0, 0, 0}, want...), want...)
			want = append(want, str(text)...)
			got := encoded(t, nil, func(e *Encoder) {
				require.NoError(t, e.BeginArray(3))
				for range 2 {
					if nul == 0 {
						require.NoError(t, e.BeginNodePath(2, 0, false))
					} else {
						require.NoError(t, e.BeginPacked(TypePackedStringArray, 2))
					}
					require.NoError(t, e.WriteString(text))
					require.NoError(t, e.WriteString(text))
					require.NoError(t, e.End())
				}
				require.NoError(t, e.WriteString(text))
				require.NoError(t, e.End())
			})
			require.Equal(t, want, got, "%q", text)
		}
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
		e.Release()
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
