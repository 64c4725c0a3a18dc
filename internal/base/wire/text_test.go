package wire

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

func TestShort(t *testing.T) {
	const text = "abcdefghijkl"
	for size := range len(text) {
		var want [8]byte
		copy(want[:], text[:size])
		require.Equal(t, le.Uint64(want[:]), Short(text[:size]), "%d bytes", size)
		require.Equal(t, le.Uint64(want[:]), Short([]byte(text[:size])), "%d bytes", size)
	}
}

func TestShortText(t *testing.T) {
	for _, c := range []struct {
		name string
		n    uint32
		word string
		size int  // of the length, the text and its padding; 0 for the slow path
		zero bool // padding
	}{
		{"empty", 0, "abcdefgh", 0, false},
		{"one byte", 1, "a\x00\x00\x00\xff\xff\xff\xff", 8, true},
		{"one byte with other padding", 1, "abc\x00efgh", 8, false},
		{"one byte with padding beyond ASCII", 1, "a\x00\x80\x00efgh", 0, false},
		{"three bytes", 3, "abc\x00efgh", 8, true},
		{"four bytes", 4, "abcd\xff\xff\xff\xff", 8, true},
		{"five bytes", 5, "abcde\x00\x00\x00", 12, true},
		{"five bytes with other padding", 5, "abcde\x00\x01\x00", 12, false},
		{"seven bytes", 7, "abcdefg\x00", 12, true},
		{"eight bytes", 8, "abcdefgh", 12, true},
		{"eight bytes with a rune", 8, "abcdef\xc3\xa9", 0, false},
		{"nine bytes", 9, "abcdefgh", 0, false},
		{"the largest length", 1<<32 - 1, "abcdefgh", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			word := Load64(c.word)
			require.Equal(t, c.size, ShortText(c.n, word))
			if c.size > 0 {
				require.Equal(t, c.zero, PlainText(word, c.n))
				require.Equal(t, c.zero, PlainLetters(word, c.n))
				require.False(t, PlainLetters(word&^0xFF, c.n))
				require.False(t, PlainLetters(word&^(0xFF<<(8*(c.n-1))), c.n))
			}
		})
	}
}

func TestWholeRunes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []int // for most from 0
	}{
		{"ASCII", "abc", []int{0, 1, 2, 3}},
		{"two bytes", "aé", []int{0, 1, 1, 3}},
		{"three bytes", "a€", []int{0, 1, 1, 1, 4}},
		{"four bytes", "a\U0001F600b", []int{0, 1, 1, 1, 1, 5, 6}},
		{"not the start of a rune", "\x80\x80\x80\x80\x80", []int{0, 1, 2, 3, 4, 5}},
		{"invalid after its first byte", "\xe2a", []int{0, 0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for most, want := range c.want {
				require.Equal(t, want, WholeRunes([]byte(c.text), most), "at most %d", most)
			}
		})
	}
}

func TestPadding(t *testing.T) {
	for n, want := range []int{0, 3, 2, 1, 0, 3, 2, 1, 0} {
		require.Equal(t, want, Padding(uint32(n)))
		require.EqualValues(t, n+want, Padded(uint32(n)))
	}
	require.EqualValues(t, uint64(1)<<32, Padded(1<<32-1))
}

func TestSteps(t *testing.T) {
	dst := AppendIndex([]byte("$"), 3)
	dst = AppendKeyAt(dst, 1<<40)
	dst = AppendValueAt(dst, 0)
	require.Equal(t, "$[3].key(1099511627776).value(0)", string(dst))
}

func TestNameLen(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "_": 1, "aZ_09": 5, "9": 0, "a b": 1, "a.b": 1, "é": 0, "aé": 1, "@": 0, "a[": 1, "a`": 1, "z{": 1, "A/": 1, "Z:": 1,
	} {
		require.Equal(t, want, NameLen(text), "%q", text)
		require.Equal(t, want, NameLen([]byte(text)), "%q", text)
		require.Equal(t, want > 0 && want == len(text), IsName(text), "%q", text)
	}
}

func TestPutNames(t *testing.T) {
	for _, c := range []struct {
		text            string
		names, subnames []string
		ok              bool
	}{
		{"", nil, nil, true},
		{"/", nil, nil, true},
		{":", nil, nil, true},
		{"a", []string{"a"}, nil, true},
		{"/a//b/", []string{"a", "b"}, nil, true},
		{"a/b:c:d", []string{"a", "b"}, []string{"c", "d"}, true},
		{"a:b/c:", []string{"a"}, []string{"b/c"}, true},
		{"eight123/sixteen_letters1/more_than_sixteen", []string{"eight123", "sixteen_letters1", "more_than_sixteen"}, nil, true},
		{strings.Repeat("a/", 32), strings.Split(strings.Repeat("a", 32), ""), nil, true},
		{strings.Repeat("a", 64), []string{strings.Repeat("a", 64)}, nil, true},
		{strings.Repeat("a", 65), nil, nil, false},
		{"a::b", nil, nil, false},
		{"é", nil, nil, false},
		{"twelve bytes/é", nil, nil, false},
	} {
		t.Run(c.text, func(t *testing.T) {
			var b [ShortNames]byte
			for i := range b {
				b[i] = 0xFF // so that padding is not left out
			}
			names, subnames, size, ok := PutNames(&b, c.text)
			require.Equal(t, c.ok, ok)
			if !ok {
				return
			}
			var want []byte
			for _, name := range append(c.names, c.subnames...) {
				want = le.AppendUint32(want, uint32(len(name)))
				want = append(want, name...)
				want = append(want, Zeros(Padding(uint32(len(name))))...)
			}
			require.Equal(t, []int{len(c.names), len(c.subnames)}, []int{int(names), int(subnames)})
			require.Equal(t, want, append([]byte(nil), b[:size]...))
		})
	}
}

// requireValid checks that each function accepts what package utf8 accepts, ValidText but for NULs.
func requireValid(t *testing.T, text string) {
	t.Helper()
	want, n := utf8.ValidString(text), len(text)
	ok := Valid(text) == want && Valid([]byte(text)) == want
	switch {
	case n > 0 && n <= 8:
		ok = ok && ValidShort(Load64(text+"\xff\x80\xe0\xc3\x9f\xed\xf4"), uint32(n)) == want
	case n > 8 && n <= 32:
		ok = ok && IsASCII([]byte(text)) == !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
	}
	isText := want && !strings.Contains(text, "\x00")
	ok = ok && ValidText(text) == isText && ValidText([]byte(text)) == isText
	if n <= 8 {
		w := Short(text)
		ok = ok && (NotPlain(w, n)&NotASCII == 0 || ValidShortText(w, uint32(n))) == isText
		isRare := func(r rune) bool { return 0x800 <= r && r < 0x1000 || 0xD000 <= r && r < 0xE000 || r >= 0x10000 }
		ok = ok && (NotSimple(w) == 0) == (want && !strings.ContainsFunc(text, isRare))
	}
	if !ok {
		require.FailNow(t, "other than package utf8", "%q: %v", text, want)
	}
}

func TestValidText(t *testing.T) {
	for size := range 80 {
		for _, part := range []string{"", "é", "€", "\U0001F600", "\x80", "\xff", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\x00", "\x01", "\x7f", "\x00\x01"} {
			for at := range max(size-len(part), 0) + 1 {
				text := strings.Repeat("x", at) + part + strings.Repeat("x", max(size-at-len(part), 0))
				requireValid(t, text)
				invalid := len(text)
				if !utf8.ValidString(text) {
					invalid = at
				}
				require.Equal(t, invalid, InvalidAt([]byte(text)), "%q", text)
			}
		}
	}
}

// Every pair of bytes, alone and after others, with each kind of bytes that can follow.
func TestValidBytes(t *testing.T) {
	for first := range 256 {
		for second := range 256 {
			if (first+second)%testenv.Cases(3, 1) > 0 {
				continue
			}
			for _, after := range []string{"", "\x80", "\xbf\x80", "a", "\xc2"} {
				part := string([]byte{byte(first), byte(second)}) + after
				for _, text := range []string{part, "é" + part, "abcde" + part, part + part, "語語" + part + "語語語", strings.Repeat("é", 20) + part} {
					requireValid(t, text)
				}
			}
		}
	}
}

// Random texts of runes of all sizes, whole and damaged.
func TestValidRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	runes := []rune{'a', 0, 1, 0x7F, 0x80, 'é', 0x7FF, 0x800, 0xFFF, 0x1000, '語', 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, utf8.MaxRune}
	for range testenv.Cases(20_000, 50_000) {
		var b []byte
		kinds := 1 + r.IntN(len(runes))
		for range r.IntN(60) {
			b = utf8.AppendRune(b, runes[(kinds+r.IntN(kinds))%len(runes)])
		}
		requireValid(t, string(b))
		for range r.IntN(3) {
			if len(b) > 0 {
				b[r.IntN(len(b))] = byte(r.IntN(256))
			}
		}
		requireValid(t, string(b))
		requireValid(t, string(b[:r.IntN(len(b)+1)]))
	}
}
