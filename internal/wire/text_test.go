package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
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
				require.False(t, HasNUL(word, c.n))
				require.True(t, HasNUL(word&^0xFF, c.n))
				require.True(t, HasNUL(word&^(0xFF<<(8*(c.n-1))), c.n))
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
