package envelope

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// TestForeignFiles finds nothing in the files of the machine.
func TestForeignFiles(t *testing.T) {
	most := testenv.Cases(500, 10_000)
	found, read := 0, 0
	for _, root := range []string{"/usr/lib", "/usr/share", "/usr/local", "/etc"} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/gdwire/") {
				return nil
			}
			if read++; read%(len(root)) != 0 && !testenv.Full() {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil || len(b) > 1<<20 {
				return nil
			}
			if e := Find(b, &Options{}); e != nil {
				found++
				t.Errorf("%s: %s", path, e)
			}
			if read > most {
				return fs.SkipAll
			}
			return nil
		})
		most += most
	}
	require.Zero(t, found)
	t.Log(read)
}
