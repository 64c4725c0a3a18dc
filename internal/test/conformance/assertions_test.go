package conformance

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// assertions contains each interface to which a package asserts a value, and why a method found by promotion does no harm there: a
// type that embeds an *os.File, for example, has its WriteAt, which goes around a Write of the type's own.
var assertions = map[string]string{
	"cmd/gdwire/internal/shell: interface{IsBoolFlag() bool}":              "a flag of the command, as package flag asks it",
	"cmd/gdwire/internal/traffic: interface{CloseWrite() error}":           "a connection of the command",
	"cmd/gdwire/internal/traffic: interface{SetLinger(seconds int) error}": "a connection of the command",
	"fileaccess: encoder":                           "from a pool of encoders",
	"fileaccess: interface{Len() int}":              "bounds a buffer",
	"fileaccess: zlib.Resetter":                     "a Reader of zlib",
	"internal/values/save/explain: zlib.Resetter":   "a Reader of zlib",
	"internal/values/save: io.Seeker":               "finds the offset in an error",
	"stream: halfCloser":                            "ends writing where all of a packet is written, as net/http does; Close is called as well",
	"stream: handshaker":                            "the handshake that Read would do",
	"stream: interface{NetConn() net.Conn}":         "the deadline, the half close and the discarded input are those of the connection under TLS; Close is called as well",
	"stream: interface{Truncate(size int64) error}": "named by the doc of WriteThrough",
	"stream: io.WriteSeeker":                        "named by the doc of WriteThrough, which no other call needs",
	"stream: net.Conn":                              "from a context, under a key of the package",
	"stream: pinger":                                "named by the doc of MessageConn",
	"variant: Marshaler":                            "a promoted method encodes the whole value, as with encoding/json",
	"variant: Unmarshaler":                          "the same",
	"variant: encoding.TextAppender":                "the same",
	"variant: encoding.TextMarshaler":               "the same",
	"variant: encoding.TextUnmarshaler":             "the same",
	"variant: isZeroer":                             "the same",
}

// TestAssertions: each assertion to an interface, and each case of a type switch that is one, was decided.
func TestAssertions(t *testing.T) {
	all := listPackages(t)
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(all[path].Export)
	})
	found := map[string]bool{}
	for _, dir := range packages(t) {
		var files []*ast.File
		own := map[string]ast.Expr{} // types of the package
		for _, name := range must(filepath.Glob(filepath.Join("..", "..", "..", dir, "*.go")))(t) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f := must(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
			files = append(files, f)
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.TypeSpec); ok {
					own[s.Name.Name] = s.Type
				}
				return true
			})
		}
		for _, f := range files {
			note := func(x ast.Expr) {
				isInterface := false
				switch x := x.(type) {
				case *ast.InterfaceType:
					isInterface = len(x.Methods.List) > 0
				case *ast.Ident:
					_, isInterface = own[x.Name].(*ast.InterfaceType)
					isInterface = isInterface || x.Name == "error"
				case *ast.SelectorExpr:
					pkg := must(from.Import(importOf(f, x.X.(*ast.Ident).Name)))(t)
					isInterface = types.IsInterface(pkg.Scope().Lookup(x.Sel.Name).Type())
				}
				if isInterface {
					found[dir+": "+types.ExprString(x)] = true
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeAssertExpr:
					note(n.Type)
				case *ast.TypeSwitchStmt:
					for _, c := range n.Body.List {
						for _, x := range c.(*ast.CaseClause).List {
							note(x)
						}
					}
				}
				return true
			})
		}
	}
	for row := range found {
		require.Contains(t, assertions, row)
	}
	for row := range assertions {
		require.Contains(t, found, row, "is asserted no longer")
	}
}

// importOf returns the path of the package that a file knows by a name.
func importOf(f *ast.File, name string) string {
	for _, i := range f.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		if i.Name != nil && i.Name.Name == name || i.Name == nil && (p == name || strings.HasSuffix(p, "/"+name)) {
			return p
		}
	}
	return name
}
