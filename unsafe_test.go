package gdwire_test

import (
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only files named unsafe.go import unsafe, the tag purego excludes them, and SECURITY.md
// has a row for the package of each.
func TestUnsafe(t *testing.T) {
	security, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(security), "| package | what it does with `unsafe` |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	documented, packages := []string{}, []string{}
	for _, line := range strings.Split(table, "\n")[1:] {
		documented = append(documented, strings.Split(line, "`")[1])
	}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir // another module
			}
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		require.NoError(t, err)
		for _, i := range f.Imports {
			if i.Path.Value != `"unsafe"` {
				continue
			}
			assert.Equal(t, "unsafe.go", filepath.Base(path))
			x, err := constraint.Parse(f.Comments[0].List[0].Text)
			require.NoError(t, err, path)
			assert.False(t, x.Eval(func(string) bool { return true }), "%s is built with purego", path)
			packages = append(packages, filepath.ToSlash(filepath.Join("gdwire", filepath.Dir(path))))
		}
		return nil
	}))
	assert.ElementsMatch(t, documented, packages)
}
