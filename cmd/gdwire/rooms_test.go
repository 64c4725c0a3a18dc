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

// rooms contains, for some packages, the folders of the packages that import them. All other packages of the command
// and package savefile do without.
var rooms = map[string]string{
	"internal/save/edit":      "internal/saves internal/traffic",
	"internal/save/outfile":   "internal/shell",
	"internal/save/recognize": "",
	"net":                     "internal/shell internal/traffic internal/record internal/view",
}

// TestRooms: the command and package savefile open, recognize and write containers by one package, save; two packages
// of the command know how values are edited, one how files are replaced, and shell knows no values.
func TestRooms(t *testing.T) {
	folders := must(filepath.Glob("internal/*"))(t)
	used := map[string]bool{}
	for _, folder := range append(folders, ".", "../../savefile") {
		for _, name := range must(filepath.Glob(filepath.Join(folder, "*.go")))(t) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f := must(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
			for _, i := range f.Imports {
				path := strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), "github.com/gdwire/gdwire/")
				if room, ok := rooms[path]; ok && folder != "../../savefile" {
					require.Contains(t, strings.Fields(room), folder, "%s imports %s", name, path)
					used[path+folder] = true
				}
				if folder == "internal/shell" {
					require.NotContains(t, []string{"github.com/gdwire/gdwire", "gdjson", "stream", "variant", "internal/save"}, path, name)
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
	for path, room := range rooms {
		for _, folder := range strings.Fields(room) {
			require.True(t, used[path+folder], "%s imports %s no longer", folder, path)
		}
	}
}
