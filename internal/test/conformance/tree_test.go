package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

func must2[V, W any](v V, w W, err error) func(testing.TB) (V, W) { return testenv.Must2(v, w, err) }

// Git keeps every version of every file, so an executable that was added by mistake stays in each clone.
func TestTrackedFiles(t *testing.T) {
	const root, most = "../../..", 2 << 20
	out, err := exec.Command("git", "-C", root, "ls-files", "-s", "-z").Output()
	if err != nil {
		t.Skip("no checkout of Git")
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	require.Greater(t, len(files), 500)
	for _, line := range files {
		mode, name, _ := strings.Cut(line, " ")
		_, name, _ = strings.Cut(name, "\t")
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, not yet committed
		}
		require.NoError(t, err)
		require.LessOrEqual(t, len(data), most, "%s is larger than 2 MiB", name)
		if mode == "100755" {
			require.True(t, strings.HasPrefix(string(data), "#!"), "%s is executable and no script", name)
		}
		for _, magic := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe"} {
			require.False(t, strings.HasPrefix(string(data), magic), "%s is a program", name)
		}
	}
}
