package fileaccess_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

func TestFastLZDecode(t *testing.T) {
	const level2 = 1 << 5
	long := append([]byte{1, 'a', 'b', 7 << 5}, 255, 1) // a, b and 7+2+255 bytes that repeat them
	for _, tt := range []struct {
		name string
		in   []byte
		room int
		want string
		err  string
	}{
		{"a literal", []byte{0, 'a'}, 1, "a", ""},
		{"literals", []byte{2, 'a', 'b', 'c', 1, 'd', 'e'}, 5, "abcde", ""},
		{"a run", []byte{0, 'a', 3 << 5, 0}, 10, "aaaaaa", ""},
		{"a match", []byte{3, 'a', 'b', 'c', 'd', 1 << 5, 3, 0, 'e'}, 10, "abcdabce", ""},
		{"an overlapping match", []byte{2, 'a', 'b', 'c', 6 << 5, 2}, 11, "abcabcabcab", ""},
		{"a long match", []byte{0, 'a', 7 << 5, 1, 0}, 11, "aaaaaaaaaaa", ""},
		{"the longest match", long, 266, string(bytes.Repeat([]byte("ab"), 133)), ""},
		{"level 2, a longer match", []byte{level2, 'a', 7 << 5, 255, 0, 0}, 265, string(bytes.Repeat([]byte("a"), 265)), ""},
		{"level 2, a match", []byte{level2 | 1, 'a', 'b', 1 << 5, 1}, 5, "ababa", ""},
		{"less than there is room for", []byte{0, 'a'}, 5, "a", ""},

		{"nothing", nil, 5, "", "fastlz: operation without its bytes"},
		{"level 3", []byte{2 << 5, 'a'}, 5, "", "fastlz: unknown level"},
		{"level 8", []byte{7 << 5, 'a'}, 5, "", "fastlz: unknown level"},
		{"no literal", []byte{0}, 5, "", "fastlz: operation without its bytes"},
		{"a literal too few", []byte{1, 'a'}, 5, "", "fastlz: operation without its bytes"},
		{"a literal too many", []byte{1, 'a', 'b'}, 1, "", "more content than declared"},
		{"no distance", []byte{0, 'a', 1 << 5}, 5, "a", "fastlz: operation without its bytes"},
		{"no length", []byte{0, 'a', 7 << 5}, 50, "a", "fastlz: operation without its bytes"},
		{"length without distance", []byte{0, 'a', 7 << 5, 1}, 50, "a", "fastlz: operation without its bytes"},
		{"level 2, no second length", []byte{level2, 'a', 7 << 5, 255}, 50, "a", "fastlz: operation without its bytes"},
		{"level 2, a far distance cut", []byte{level2, 'a', 1<<5 | 31, 255, 0}, 50, "a", "fastlz: operation without its bytes"},
		{"level 2, far before the start", []byte{level2, 'a', 1<<5 | 31, 255, 0, 0}, 50, "a", "fastlz: match before the start"},
		{"before the start", []byte{0, 'a', 1 << 5, 1}, 50, "a", "fastlz: match before the start"},
		{"a match too long", []byte{0, 'a', 1 << 5, 0}, 3, "a", "more content than declared"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dst := make([]byte, tt.room)
			n, err := fileaccess.FastLZDecode(dst, tt.in)
			require.Equal(t, tt.want, string(dst[:n]))
			if tt.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, tt.err)
			}
		})
	}
}

// Data compressed by FastLZ is decoded again. The encoder of level 1 is the package's, and
// that of level 2 is the test's.
func TestFastLZ(t *testing.T) {
	for name, content := range contents() {
		if len(content) < 16 {
			continue
		}
		packed := fileaccess.FastLZEncode(content)
		require.Zero(t, packed[0]>>5, "level 1")
		require.LessOrEqual(t, len(packed), len(content)+(len(content)+31)/32, name)
		checkFastLZ(t, packed, content)
		checkFastLZ(t, encodeLevel2(content, rand.New(rand.NewPCG(1, 2))), content)
	}
	// Long matches are split so that their last part is a match, too.
	for n := 257; n < 900; n++ {
		packed := fileaccess.FastLZEncode(make([]byte, n))
		checkFastLZ(t, packed, make([]byte, n))
		require.True(t, bytes.HasSuffix(packed, []byte{4, 0, 0, 0, 0, 0}), "newer engines need literals at the end")
	}
	// No byte is decoded to more bytes than FastLZRatio.
	zeros := make([]byte, 1<<20)
	require.Greater(t, fileaccess.FastLZRatio*len(encodeLevel2(zeros, nil)), len(zeros))
	require.Greater(t, fileaccess.FastLZRatio*len(fileaccess.FastLZEncode(zeros)), len(zeros))
}

func checkFastLZ(tb testing.TB, packed, content []byte) {
	got := make([]byte, len(content)+1)
	require.True(tb, bytes.Equal(content, got[:must(fileaccess.FastLZDecode(got, packed))(tb)]))
	// A destination that is too small is an error, and nothing is written after its end.
	if len(content) > 0 {
		require.Error(tb, errOf(fileaccess.FastLZDecode(got[:len(content)-1:len(content)-1], packed)))
	}
}

// encodeLevel2 is a simple encoder that uses every operation of level 2. It uses the matches
// that it finds always, or at random.
func encodeLevel2(src []byte, random *rand.Rand) []byte {
	const nearest, farthest = 1<<13 - 1, 1<<13 - 1 + 1<<16 - 1
	seen := map[[3]byte]int{}
	out := []byte{}
	literals := 0
	flush := func(i int) {
		for literals > 0 {
			n := min(literals, 32)
			out = append(append(out, byte(n-1)), src[i-literals:i-literals+n]...)
			literals -= n
		}
	}
	for i := 0; i < len(src); {
		var at, length int
		if i+3 <= len(src) {
			key := [3]byte(src[i:])
			var ok bool
			if at, ok = seen[key]; ok && i-at-1 <= farthest && (random == nil || random.IntN(8) > 0) {
				for i+length < len(src) && src[at+length] == src[i+length] {
					length++
				}
			}
			seen[key] = i
		}
		if length < 3 {
			literals++
			i++
			continue
		}
		flush(i)
		distance := i - at - 1
		near := min(distance, nearest)
		out = append(out, byte(min(length-2, 7))<<5|byte(near>>8))
		if rest := length - 9; rest >= 0 {
			for ; rest >= 255; rest -= 255 {
				out = append(out, 255)
			}
			out = append(out, byte(rest))
		}
		out = append(out, byte(near))
		if near == nearest {
			out = append(out, byte((distance-near)>>8), byte(distance-near))
		}
		i += length
	}
	flush(len(src))
	out[0] |= 1 << 5
	return out
}

func TestModeString(t *testing.T) {
	for mode, name := range map[fileaccess.Mode]string{
		fileaccess.FastLZ: "fastlz", fileaccess.Deflate: "deflate", fileaccess.Zstd: "zstd", fileaccess.Gzip: "gzip",
		fileaccess.Brotli: "brotli", 5: "mode 5", math.MaxUint32: "mode 4294967295",
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, name, mode.String())
		})
	}
}
