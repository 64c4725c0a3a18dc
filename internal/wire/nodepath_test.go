package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
