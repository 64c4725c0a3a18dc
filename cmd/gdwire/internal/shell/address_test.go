package shell

import (
	"testing"

	"github.com/stretchr/testify/require"
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
