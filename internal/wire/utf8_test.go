package wire

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

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
	for range 50_000 {
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
