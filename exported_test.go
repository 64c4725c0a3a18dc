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

// Every exported name is used in a test or an example.
func TestExported(t *testing.T) {
	for _, dir := range []string{".", "stream", "variant", "fileaccess", "gdjson", "gdwiretest"} {
		exported, used := map[string]bool{}, map[string]bool{}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			if strings.HasSuffix(name, "_test.go") {
				mentions(f, used)
			} else {
				exports(f, exported)
			}
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
