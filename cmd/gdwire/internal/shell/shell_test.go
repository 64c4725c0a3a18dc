package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
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

// TestPasswordFiles reads passwords and keys as editors and shells write them.
func TestPasswordFiles(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "a\n": "a", "a\r\n": "a", "a\n\n": "a\n", " a ": " a ", "\ufeffa\n": "a", "": "", "a\r": "a", "ä": "ä",
		"\xff\xfea\x00\r\x00\n\x00": "a", "\xfe\xff\x00a\x00\xe4": "aä", "\xff\xfe\x3d\xd8\x00\xde\n\x00": "\U0001F600",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			got := testenv.Must(readPassword(strings.NewReader(text)))(t)
			require.Equal(t, fileaccess.PasswordKey(want), got)
		})
	}
	file := filepath.Join(t.TempDir(), "key")
	for text, ok := range map[string]bool{
		strings.Repeat("k", 32): true, strings.Repeat("0f", 32): true, strings.Repeat("0f", 32) + "\r\n": true,
		strings.Repeat("k", 31): false, strings.Repeat("0g", 32): false, "": false,
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			_, err := readKey(file)
			require.Equal(t, ok, err == nil, text)
		})
	}
}
