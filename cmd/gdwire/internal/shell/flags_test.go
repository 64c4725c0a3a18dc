package shell

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

func TestCompleteAddress(t *testing.T) {
	for addr, want := range map[string]string{
		"7777": "127.0.0.1:7777", ":7777": "127.0.0.1:7777", "0.0.0.0:7": "0.0.0.0:7", "[::1]:7": "[::1]:7", "unix:a": "unix:a", "unix:///tmp/a:7": "unix:///tmp/a:7",
	} {
		t.Run(addr, func(t *testing.T) {
			got := addr
			require.NoError(t, CompleteAddress(&got))
			require.Equal(t, want, got)
		})
	}
	for bad, want := range map[string]string{"a:b:c": "too many colons", "unix:": "unix:PATH", "unix://": "unix:PATH"} {
		require.ErrorContains(t, CompleteAddress(&bad), want)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "5000": 5000, "10K": 10 << 10, "10KiB": 10 << 10, "16MiB": 16 << 20, "16M": 16 << 20, "2G": 2 << 30, "1TB": 1 << 40, "none": -1, "-1": -1,
	} {
		t.Run(text, func(t *testing.T) {
			n := testenv.Must(parseSize(text))(t)
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
