package wire

import (
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
