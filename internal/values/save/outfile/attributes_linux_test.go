package outfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// TestAttributes: a file that replaces another keeps its extended attributes and access list.
func TestAttributes(t *testing.T) {
	// An access list: the owner and user 65534 read and write, all others nothing; the group's bits are
	// the mask.
	list := []byte{2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 254, 255, 0, 0, 4, 0, 0, 0, 255, 255, 255, 255,
		16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255}
	for name, value := range map[string][]byte{"user.note": []byte("text"), accessList: list} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			if err := syscall.Setxattr(file, name, value, 0); err != nil {
				t.Skip("skipped: the file system refuses attributes: ", err)
			}
			old := testenv.Must(os.Stat(file))(t)
			f := testenv.Must(Create(file, IgnoreSignals))(t)
			require.NoError(t, f.Commit())
			got := make([]byte, 200)
			n := testenv.Must(syscall.Getxattr(file, name, got))(t)
			require.Equal(t, value, got[:n])
			now := testenv.Must(os.Stat(file))(t)
			require.Equal(t, old.Mode(), now.Mode())
		})
	}
}
