package shell

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "5000": 5000, "10K": 10 << 10, "10KiB": 10 << 10, "16MiB": 16 << 20, "16M": 16 << 20, "2G": 2 << 30, "1TB": 1 << 40, "none": -1, "-1": -1,
	} {
		t.Run(text, func(t *testing.T) {
			n, err := parseSize(text)
			require.NoError(t, err)
			require.Equal(t, want, n)
		})
	}
	for _, text := range []string{"", "K", "-2", "-1K", "1.5M", "1k", "x", "9223372036854775807K", "10 000"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			_, err := parseSize(text)
			require.ErrorContains(t, err, "want a number", text)
		})
	}
}
