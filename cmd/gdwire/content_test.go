package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShell: the command and package savefile open, recognize and write containers by one package, input, and
// one file of the command knows how saves are edited and replaced.
func TestShell(t *testing.T) {
	found := 0
	for _, folder := range []string{".", "../../savefile"} {
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			for _, i := range f.Imports {
				path := strings.Trim(i.Path.Value, `"`)
				for _, wall := range []string{"edit", "outfile", "recognize"} {
					if folder == "." && path == "github.com/gdwire/gdwire/internal/save/"+wall {
						require.Equal(t, "content.go", name, "%s imports %s", name, path)
						found++
					}
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					text := types.ExprString(s)
					require.NotContains(t, []string{"fileaccess.NewReader", "fileaccess.NewWriter", "recognize.Recognize"}, text, name)
				}
				return true
			})
		}
	}
	require.Equal(t, 2, found)
}
