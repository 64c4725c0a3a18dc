package gdwire_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every exported name is used in a test or an example; those of the root package also in the
// tests and the model of its formats.
func TestExported(t *testing.T) {
	parse := func(dir string, tests bool, add func(f *ast.File, names map[string]bool), names map[string]bool) {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") == tests {
				f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
				require.NoError(t, err)
				add(f, names)
			}
		}
	}
	for _, dir := range []string{".", "stream", "variant", "fileaccess", "gdjson", "gdwiretest"} {
		exported, used := map[string]bool{}, map[string]bool{}
		parse(dir, false, exports, exported)
		parse(dir, true, mentions, used)
		if dir == "." {
			parse("internal/conformance", true, mentions, used)
			parse("internal/model", false, mentions, used)
		}
		require.NotEmpty(t, exported)
		for name := range exported {
			assert.True(t, used[name], "%s: no test or example uses %s", dir, name)
		}
	}
}

// exports adds the names that f exports: types, functions, values, methods,
// fields.
func exports(f *ast.File, names map[string]bool) {
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names[id.Name] = true
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || exportedReceiver(d.Recv) {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					add(s.Names...)
				case *ast.TypeSpec:
					add(s.Name)
					if st, ok := s.Type.(*ast.StructType); ok && s.Name.IsExported() {
						for _, field := range st.Fields.List {
							add(field.Names...)
						}
					}
				}
			}
		}
	}
}

func exportedReceiver(recv *ast.FieldList) bool {
	t := recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	id, ok := t.(*ast.Ident)
	return ok && id.IsExported()
}

// mentions adds the names that f uses.
func mentions(f *ast.File, names map[string]bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			names[n.Sel.Name] = true
		case *ast.Ident:
			names[n.Name] = true
		}
		return true
	})
}
