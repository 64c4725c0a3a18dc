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
