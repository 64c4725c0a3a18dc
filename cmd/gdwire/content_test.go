package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShell: one file of the command knows how saves are recognized, edited and replaced.
func TestShell(t *testing.T) {
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	found := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range f.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			for _, wall := range []string{"edit", "outfile", "recognize"} {
				if path == "github.com/gdwire/gdwire/internal/"+wall {
					require.Equal(t, "content.go", name, "%s imports %s", name, path)
					found++
				}
			}
		}
	}
	require.Equal(t, 3, found)
}
