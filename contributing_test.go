package gdwire_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// CONTRIBUTING.md names each source file of the root package, each internal package and
// each direct dependency, and no test that does not exist.
func TestContributing(t *testing.T) {
	b, err := os.ReadFile("CONTRIBUTING.md")
	require.NoError(t, err)
	text := string(b)
	named := map[string]bool{} // words of the first column of tables
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(text, -1) {
		for word := range strings.SplitSeq(row[1], ", ") {
			named[word] = true
		}
	}

	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var tests strings.Builder
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			require.True(t, named[name], "%s is not in the table of files", name)
			delete(named, name)
		}
	}
	for name := range named {
		require.False(t, strings.HasSuffix(name, ".go"), "there is no %s", name)
	}

	folders, err := os.ReadDir("internal")
	require.NoError(t, err)
	for _, folder := range folders {
		require.True(t, named[folder.Name()], "internal/%s is not in the table of packages", folder.Name())
	}

	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1) {
		require.True(t, named[m[1]], "%s is not in the table of dependencies", m[1])
	}

	require.NoError(t, filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			var b []byte
			b, err = os.ReadFile(path)
			tests.Write(b)
		}
		return err
	}))
	for _, name := range regexp.MustCompile(`\b(Test|Fuzz)[A-Z]\w+`).FindAllString(text, -1) {
		require.True(t, strings.Contains(tests.String(), "func "+name+"("), "there is no %s", name)
	}
}
