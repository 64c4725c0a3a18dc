package conformance

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// walls contains, for packages, types and who writes their fields: the methods of types and the
// functions of files. Fields with a row of their own are exceptions; "all" is an assignment of the
// whole value.
var walls = map[string]map[string]string{
	".": {
		// The bytes and the nesting of a Decoder, and what the fast path derives from the options.
		"tokenSource": "tokenSource window",
		"window":      "window",
		"input":       "input input.go",
		"state":       "state",
		"frame":       "frame state",
		"fastPath":    "fastPath",

		"fastPath.plainPaths": "fastPath lookahead internal.go", // of a Decoder that Validate watches

		// The calls of a Decoder.
		"Decoder":          "reader.go",
		"slowPath":         "slowPath",
		"slowPath.options": "slowPath reader_slow.go", // their address
		"pending":          "pending",

		// The calls of an Encoder.
		"Encoder":         "writer.go",
		"Encoder.accepts": "copy.go",
		"Encoder.copies":  "copy.go",
		"Encoder.partial": "writer_container.go writer.go", // reset
		"Encoder.rune":    "writer_container.go writer.go", // reset
		"Encoder.raw":     "writer_container.go",

		// The bytes and the nesting of an Encoder.
		"sink":            "writer_buffer.go",
		"sink.n":          "writer_buffer.go fastWriter", // put
		"state.remaining": "state fastWriter",            // put
		"fastWriter":      "fastWriter",
		"sink.spare":      "writer_buffer.go writer_typed.go", // memory for one call: a local array would be allocated

		// The formats, which do not change: only their addresses are taken elsewhere.
		"formTable":       "format.go",
		"formTable.sizes": "format.go reader_fast.go",
		"form":            "format.go",
		"content":         "format.go frame state", // of frames, too

		// Private state of files.
		"lookahead":     "lookahead",
		"loop":          "reader_typed.go",
		"payload":       "window.go reader_bulk.go",
		"fault":         "lookahead slowPath",
		"payloadReader": "reader_bulk.go",
		"cold.all":      "reader.go", // reset
		"cold.err":      "reader.go",
		"cold.value":    "reader.go",
		"cold.keys":     "reader_typed.go",
		"savedKey":      "input.go",
	},
}

// barred contains names that the methods of a type do not mention. They return no error but nil.
var barred = map[string]string{
	"fastPath": "fetch fail misfit readFault errorAt failure",
}

// backUp holds, for each package with a reading order in order.md, the arrows between files
// that run back up, and why. An arrow runs from the file that uses a name to the file that declares
// it, and back up if order.md lists the second after the first.
var backUp = map[string]map[string]string{
	".": {
		"reader.go → reader_bulk.go": "a Decoder holds the Reader that Payload returns, so that it is allocated once",
	},
	"cmd/gdwire/internal/page": {
		"source.go → detail.go": "a row of the page contains what engines make of its value",
		"page.go → edits.go":    "a Page contains the edits of its file, and one table all that the page asks for",
	},
	"variant": {
		"dictionary.go → marshal.go": "keys of types that Unmarshal never stores are equal if their encodings are",
	},
}

// manyBackUp is how many arrows may run back up in a package without a reading order, in the order that has the
// fewest.
const manyBackUp = 3

// TestWalls: only the functions in the table write the fields of its types. It logs the number of
// files that write each field.
//
// A write is an assignment, ++, --, or taking the address, which slicing an array does. The
// address of a value whose type is in the table is none, because a write through it is seen. A
// local variable is not shared. Methods of other packages that change a field are not seen.
func TestWalls(t *testing.T) {
	for dir := range walls {
		t.Run(dir, func(t *testing.T) { requireWalls(t, parsePackage(t, dir)) })
	}
}

// TestNoNetwork: programs that import these packages link no network. What compares for the command and its page, and what
// answers the page, links no JSON of Godot, no processes and no files and flags of the command: it runs in a browser, too.
func TestNoNetwork(t *testing.T) {
	const module, command = "github.com/gdwire/gdwire", "cmd/gdwire/internal/"
	for _, name := range []string{"", "variant", "fileaccess", "gdjson", "savefile", "internal/values/compare", command + "page", "cmd/gdwire/web"} {
		list := exec.Command("go", "list", "-deps", path.Join(module, name))
		if strings.HasSuffix(name, "web") {
			list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		}
		out, err := list.Output()
		require.NoError(t, err)
		barred := []string{"net", "crypto/tls", "os/exec"}
		if strings.Contains(name, "internal") || strings.HasSuffix(name, "web") {
			barred = append(barred, module+"/gdjson", path.Join(module, command, "shell"), path.Join(module, command, "open"))
		}
		for _, p := range barred {
			require.NotContains(t, strings.Fields(string(out)), p, name)
		}
	}
}

func requireWalls(t *testing.T, p *parsedPackage) {
	files := map[string]map[string]map[string]bool{} // that write a field, by type and field
	used := map[string]bool{}                        // row and writer
	for _, w := range p.writes() {
		if files[w.typ] == nil {
			files[w.typ] = map[string]map[string]bool{}
		}
		if files[w.typ][w.field] == nil {
			files[w.typ][w.field] = map[string]bool{}
		}
		files[w.typ][w.field][w.file] = true
		row := w.typ + "." + w.field
		if _, ok := p.walls[row]; !ok {
			row = w.typ
		}
		allowed := strings.Fields(p.walls[row])
		if i := slices.IndexFunc(allowed, func(a string) bool { return a == w.receiver || a == w.file }); i >= 0 {
			used[row+" "+allowed[i]] = true
		} else if p.isWall[w.typ] {
			t.Errorf("%s writes %s.%s; only %s may", w.at, w.typ, w.field, p.walls[row])
		}
	}
	for row, writers := range p.walls {
		for _, writer := range strings.Fields(writers) {
			if !used[row+" "+writer] {
				t.Errorf("%s: %s writes it no longer", row, writer)
			}
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(files)) {
		line := typ + ":"
		for _, field := range slices.Sorted(maps.Keys(files[typ])) {
			line += fmt.Sprintf(" %s %d", field, len(files[typ][field]))
			if len(files[typ][field]) > 1 {
				line += fmt.Sprint(slices.Sorted(maps.Keys(files[typ][field])))
			}
		}
		t.Log(line)
	}
}

// Each file of a package uses files that are listed before it. It logs the number of arrows, of
// those that run back up, and of pairs of files that use each other.
func TestArrows(t *testing.T) {
	orders := readingOrders(t)
	for name := range backUp {
		require.Contains(t, orders, name)
	}
	for _, name := range packages(t) {
		t.Run(name, func(t *testing.T) {
			p := parsePackage(t, name)
			arrows := p.arrows()
			order, ok := orders[name]
			if ok {
				require.ElementsMatch(t, order, p.files, "the reading order in order.md")
			} else {
				order = bestOrder(p.files, arrows)
			}
			back, pairs := map[string]bool{}, 0
			for arrow, names := range arrows {
				runsBack := slices.Index(order, arrow[0]) < slices.Index(order, arrow[1])
				if runsBack && arrows[[2]string{arrow[1], arrow[0]}] != nil {
					pairs++
				}
				if !runsBack {
					continue
				}
				line := arrow[0] + " → " + arrow[1]
				back[line] = true
				if ok && backUp[name][line] == "" {
					t.Errorf("%s, which is listed after it: %s", line, slices.Sorted(maps.Keys(names)))
				}
			}
			for line := range backUp[name] {
				require.True(t, back[line], "%s is gone", line)
			}
			t.Logf("%d arrows, %d back up, %d pairs", len(arrows), len(back), pairs)
			if !ok && len(back) > manyBackUp {
				t.Errorf("%d arrows run back up, more than %d, in the order %s: %s",
					len(back), manyBackUp, order, slices.Sorted(maps.Keys(back)))
			}
		})
	}
}

// readingOrders returns the files in the tables of order.md, by package.
func readingOrders(t *testing.T) map[string][]string {
	page := must(os.ReadFile("order.md"))(t)
	orders := map[string][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\w+\.go) \|`).FindAllSubmatch(page, -1) {
		orders["."] = append(orders["."], string(row[1]))
	}
	for _, row := range regexp.MustCompile(`(?m)^\| ([\w/]+) \| (\w+\.go(?:, \w+\.go)*) \|`).FindAllSubmatch(page, -1) {
		orders[string(row[1])] = strings.Split(string(row[2]), ", ")
	}
	return orders
}

// packages returns the folders of the module's packages that are no tests.
func packages(t *testing.T) (dirs []string) {
	top := filepath.Join("..", "..", "..")
	require.NoError(t, filepath.WalkDir(top, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		dir, err := filepath.Rel(top, name)
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		_, err = os.Stat(filepath.Join(name, "go.mod"))
		if module := err == nil && dir != "."; module || dir == "internal/test" || d.Name() == "testdata" || len(dir) > 1 && dir[0] == '.' {
			return filepath.SkipDir
		}
		if sources, err := filepath.Glob(filepath.Join(name, "*.go")); err != nil || len(sources) > 0 {
			dirs = append(dirs, dir)
			return err
		}
		return nil
	}))
	return dirs
}

// bestOrder returns an order of files in which few arrows run back up: the best of many random ones,
// each improved by moves of one file.
func bestOrder(files []string, arrows map[[2]string]map[string]bool) (best []string) {
	uses := func(a, b string) int { return min(len(arrows[[2]string{a, b}]), 1) }
	random := rand.New(rand.NewPCG(1, 2))
	fewest := len(arrows) + 1
	for range 100 {
		order := slices.Clone(files)
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for moved := true; moved; {
			moved = false
			for i, file := range order {
				gain, most, to := 0, 0, i
				for j := i + 1; j < len(order); j++ { // after the files that it uses
					gain += uses(file, order[j]) - uses(order[j], file)
					if gain > most {
						most, to = gain, j
					}
				}
				gain = 0
				for j := i - 1; j >= 0; j-- { // before the files that use it
					gain += uses(order[j], file) - uses(file, order[j])
					if gain > most {
						most, to = gain, j
					}
				}
				if to != i {
					order = slices.Insert(slices.Delete(order, i, i+1), to, file)
					moved = true
				}
			}
		}
		back := 0
		for i, file := range order {
			for _, after := range order[i:] {
				back += uses(file, after)
			}
		}
		if back < fewest {
			fewest, best = back, slices.Clone(order)
		}
	}
	return best
}

// The fast path knows no Reader and no errors.
func TestFastPathHasNoErrors(t *testing.T) {
	p := parsePackage(t, ".")
	seen := map[string]bool{}
	for _, f := range p.functions {
		names, ok := barred[receiver(f)]
		if !ok {
			continue
		}
		seen[receiver(f)] = true
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && slices.Contains(strings.Fields(names), id.Name) {
				t.Errorf("%s: %s mentions %s", p.at(id), f.Name.Name, id.Name)
			}
			return true
		})
		results := f.Type.Results
		if results == nil || types.ExprString(results.List[len(results.List)-1].Type) != "error" {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok && (len(r.Results) == 0 || types.ExprString(r.Results[len(r.Results)-1]) != "nil") {
				t.Errorf("%s: %s returns an error other than nil", p.at(r), f.Name.Name)
			}
			_, ok := n.(*ast.FuncLit)
			return !ok
		})
	}
	for typ := range barred {
		require.True(t, seen[typ], "there is no %s", typ)
	}
}

// What the fast path is made of, and the tables, know no Reader and no Writer: their files do not
// import io.
func TestFilesWithoutIO(t *testing.T) {
	for _, name := range []string{"window.go", "state.go", "reader_fast.go", "nodepath.go", "key.go", "type.go", "format.go", "token.go"} {
		f := must(parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "..", name), nil, parser.ImportsOnly))(t)
		for _, imported := range f.Imports {
			require.NotEqual(t, `"io"`, imported.Path.Value, name)
		}
	}
}

// A parsedPackage is the syntax of a package and the types that it declares itself.
type parsedPackage struct {
	t         *testing.T
	set       *token.FileSet
	files     []string // their names
	functions []*ast.FuncDecl
	info      types.Info
	scope     *types.Scope
	walls     map[string]string
	isWall    map[string]bool // types in walls
	isField   map[string]bool // and the names of their fields
}

// parsePackage parses the files of a folder that are built for Linux, without tests.
func parsePackage(t *testing.T, dir string) *parsedPackage {
	t.Helper()
	p := &parsedPackage{t: t, set: token.NewFileSet(), walls: walls[dir], isWall: map[string]bool{}, isField: map[string]bool{}, info: types.Info{
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Types:      map[ast.Expr]types.TypeAndValue{},
		Uses:       map[*ast.Ident]types.Object{},
		Defs:       map[*ast.Ident]types.Object{},
	}}
	system := build.Default
	system.GOOS, system.GOARCH = "linux", "amd64"
	dir = filepath.Join("..", "..", "..", dir)
	names := must(filepath.Glob(filepath.Join(dir, "*.go")))(t)
	var files []*ast.File
	for _, name := range names {
		name = filepath.Base(name)
		if ok, err := system.MatchFile(dir, name); !ok || strings.HasSuffix(name, "_test.go") {
			require.NoError(t, err)
			continue
		}
		f := must(parser.ParseFile(p.set, filepath.Join(dir, name), nil, parser.SkipObjectResolution))(t)
		files, p.files = append(files, f), append(p.files, name)
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				p.functions = append(p.functions, f)
			}
		}
	}
	// What other packages declare stays unknown, which takes a twentieth of the time.
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := config.Check(filepath.Base(dir), p.set, files, &p.info)
	p.scope = pkg.Scope()
	for row := range p.walls {
		name, _, _ := strings.Cut(row, ".")
		p.isWall[name] = true
		object := p.scope.Lookup(name)
		require.NotNil(t, object, "there is no type %s", name)
		s := object.Type().Underlying().(*types.Struct)
		for i := range s.NumFields() {
			p.isField[s.Field(i).Name()] = true
		}
	}
	return p
}

// arrows returns the names that files use of other files, by both files.
func (p *parsedPackage) arrows() map[[2]string]map[string]bool {
	arrows := map[[2]string]map[string]bool{}
	for id, object := range p.info.Uses {
		if object.Pkg() == nil || object.Pkg().Scope() != p.scope || !object.Pos().IsValid() {
			continue
		}
		arrow := [2]string{p.file(id.Pos()), p.file(object.Pos())}
		if arrow[0] == arrow[1] {
			continue
		}
		if arrows[arrow] == nil {
			arrows[arrow] = map[string]bool{}
		}
		arrows[arrow][object.Name()] = true
	}
	return arrows
}

// noImports returns packages without declarations.
type noImports struct{}

func (noImports) Import(p string) (*types.Package, error) {
	pkg := types.NewPackage(p, path.Base(p))
	pkg.MarkComplete()
	return pkg, nil
}

// file returns the name of the file of a position.
func (p *parsedPackage) file(at token.Pos) string { return filepath.Base(p.set.Position(at).Filename) }

// at returns the file and line of n.
func (p *parsedPackage) at(n ast.Node) string {
	at := p.set.Position(n.Pos())
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}

// A write is a place where a field changes.
type write struct {
	typ, field string
	file, at   string
	receiver   string // of the function, or ""
}

// writes returns all writes of fields of the package's types.
func (p *parsedPackage) writes() (all []write) {
	for _, f := range p.functions {
		add := func(x ast.Expr, address bool) {
			if typ, field := p.field(x, address); typ != "" {
				at := p.at(x)
				file, _, _ := strings.Cut(at, ":")
				all = append(all, write{typ, field, file, at, receiver(f)})
			}
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, x := range n.Lhs {
					add(x, false)
				}
			case *ast.IncDecStmt:
				add(n.X, false)
			case *ast.RangeStmt:
				add(n.Key, false)
				add(n.Value, false)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					add(n.X, true)
				}
			case *ast.SliceExpr:
				if p.isArray(n.X) {
					add(n.X, true)
				}
			}
			return true
		})
	}
	return all
}

// field returns the field that a write of x changes, or "": its type and name, or "all" if it is
// the whole value. Within a value whose type is not in walls, it is the field around that.
func (p *parsedPackage) field(x ast.Expr, address bool) (typ, field string) {
	steps, local := p.steps(x)
	if local {
		return "", ""
	}
	if named := nameOf(p.info.TypeOf(x)); p.isWall[named] {
		if address {
			return "", ""
		}
		return named, "all"
	}
	for _, s := range slices.Backward(steps) {
		if typ == "" || p.isWall[s[0]] {
			typ, field = s[0], s[1]
		}
		if p.isWall[s[0]] {
			break
		}
	}
	return typ, field
}

// steps returns the types and names of the fields in which x is, the outermost first, up to a
// pointer or slice, and whether it is in a local variable.
func (p *parsedPackage) steps(x ast.Expr) (steps [][2]string, local bool) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return p.steps(x.X)
	case *ast.Ident:
		v, ok := p.info.ObjectOf(x).(*types.Var)
		return nil, ok && v.Parent() != p.scope
	case *ast.IndexExpr:
		if p.isArray(x.X) {
			return p.steps(x.X)
		}
	case *ast.SelectorExpr:
		s := p.info.Selections[x]
		if s == nil {
			if p.isField[x.Sel.Name] && !p.isPackage(x.X) {
				p.t.Errorf("%s: field %s of an unknown type", p.at(x), x.Sel.Name)
			}
			return nil, false
		}
		if s.Kind() != types.FieldVal {
			return nil, false
		}
		steps, local = p.steps(x.X)
		t := s.Recv()
		for _, i := range s.Index() {
			if pointer, ok := t.Underlying().(*types.Pointer); ok {
				t, steps, local = pointer.Elem(), nil, false
			}
			f := t.Underlying().(*types.Struct).Field(i)
			steps = append(steps, [2]string{nameOf(t), f.Name()})
			t = f.Type()
		}
	}
	return steps, local
}

func (p *parsedPackage) isArray(x ast.Expr) bool {
	t := p.info.TypeOf(x)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

func (p *parsedPackage) isPackage(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	if ok {
		_, ok = p.info.Uses[id].(*types.PkgName)
	}
	return ok
}

// nameOf returns the name of a type, or of the elements of an array, or "".
func nameOf(t types.Type) string {
	for a, ok := t.(*types.Array); ok; a, ok = t.(*types.Array) {
		t = a.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// receiver returns the name of the type of which f is a method, or "".
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	return strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
}
