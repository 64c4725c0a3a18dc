package conformance

import (
	"bytes"
	"go/ast"
	"go/build/constraint"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// The README's programs are in files that are compiled and tested. It names all formats, and quotes
// an error.
func TestREADME(t *testing.T) {
	t.Chdir("../../..")
	readme := string(must(os.ReadFile("README.md"))(t))
	sources := sourcesOf(t, "examples/save/main.go", "stream/example_hello_test.go")
	programs := regexp.MustCompile("(?s)```go\n(.*?)```\n").FindAllStringSubmatch(readme, -1)
	require.NotEmpty(t, programs)
	for _, program := range programs {
		require.True(t, strings.Contains(sources, "\n"+program[1]), "no source contains this program of the README:\n%s", program[1])
	}

	for _, f := range gdwire.Formats() {
		require.Contains(t, readme, "`"+f.String()+"`")
	}
	require.Contains(t, readme, (&gdwire.Error{Offset: 34, Path: `$.player.inventory[3]`,
		Err: &gdwire.LimitError{Name: "StringBytes", Got: 4294967295, Max: 16 << 20}}).Error())
}

// sourcesOf returns the text of files, in which an Example is a main function.
func sourcesOf(t *testing.T, names ...string) string {
	var sources strings.Builder
	for _, name := range names {
		sources.Write(regexp.MustCompile(`func Example\w*\(\)`).ReplaceAll(must(os.ReadFile(name))(t), []byte("func main()")))
	}
	return sources.String()
}

// The page of each public package shows a program after its first paragraph. All programs of the
// page are in the package's examples, whole or as part of a function.
func TestDocumentedPrograms(t *testing.T) {
	t.Chdir("../../..")
	packages := 0
	require.NoError(t, filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); name == "internal" || name == "testdata" || name == "examples" || len(name) > 1 && name[0] == '.' {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && dir != "." {
			return filepath.SkipDir // another module
		}
		page, name := packagePage(t, dir)
		if name == "" {
			return nil
		}
		packages++
		blocks := new(comment.Parser).Parse(page).Content
		require.Greater(t, len(blocks), 1, dir)
		require.IsType(t, &comment.Code{}, blocks[1], "%s: a program follows the first paragraph", dir)
		if name == "main" {
			return nil // a command line
		}
		require.True(t, isProgram(blocks[1].(*comment.Code).Text), "%s: the first program", dir)
		sources := sourcesOf(t, must(filepath.Glob(filepath.Join(dir, "example*_test.go")))(t)...)
		for _, block := range blocks {
			code, ok := block.(*comment.Code)
			if !ok || !isProgram(code.Text) {
				continue
			}
			inFunction := regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(code.Text, "\t$1")
			require.True(t, strings.Contains(sources, "\n"+code.Text) || strings.Contains(sources, "\n"+inFunction),
				"no example of %s contains this program of its page:\n%s", dir, code.Text)
		}
		return nil
	}))
	require.GreaterOrEqual(t, packages, 10)
}

// packagePage returns the package comment of the files in a directory, and the name of the
// package, or "" if there is none.
func packagePage(t *testing.T, dir string) (page, name string) {
	for _, file := range must(filepath.Glob(filepath.Join(dir, "*.go")))(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f := must(parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments))(t)
		page, name = page+f.Doc.Text(), f.Name.Name
	}
	return page, name
}

// isProgram reports whether a text is Go, and not a table: declarations, or statements with a call.
func isProgram(text string) bool {
	for _, source := range []string{text, "func _() {\n" + text + "\n}"} {
		if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+source, 0); err == nil {
			return strings.Contains(text, "(")
		}
	}
	return false
}

// The tables of formats in the package page name all formats and count the types of each.
func TestTablesOfFormats(t *testing.T) {
	page := must(os.ReadFile("../../../doc.go"))(t)
	named := map[string]bool{}
	for _, table := range regexp.MustCompile(`(?m)^//\t +((?:(?:Godot|Manual)\d+ *)+)\n(?://\t.*\n)*?//\ttypes (.*)$`).FindAllSubmatch(page, -1) {
		counts := strings.Fields(string(table[2]))
		for i, name := range strings.Fields(string(table[1])) {
			named[strings.ToLower(name)] = true
			f, n := formatNamed(t, strings.ToLower(name)), 0
			for _, typ := range gdwire.Types() {
				if f.Has(typ) {
					n++
				}
			}
			require.Greater(t, len(counts), i, table)
			require.Equal(t, strconv.Itoa(n), counts[i], "the number of types of %v in doc.go", f)
		}
	}
	for _, f := range gdwire.Formats() {
		require.True(t, named[f.String()], "%v is in no table", f)
	}
}

// TestREADMEOutput runs the README's programs and compares what they print.
func TestREADMEOutput(t *testing.T) {
	t.Chdir("../../..")
	if !testenv.Full() {
		t.Skip("skipped: builds programs")
	}
	run := func(stdin []byte, program ...string) []byte {
		c := exec.CommandContext(t.Context(), "go", append([]string{"run"}, program...)...)
		c.Stdin = bytes.NewReader(stdin)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, err := c.Output()
		require.NoError(t, err, "%s: %s", program, &stderr)
		return out
	}

	tokens := run(run(nil, "./examples/write"), "./examples/read")
	require.Equal(t, string(must(os.ReadFile("examples/read/output.txt"))(t)), string(tokens))

	save := must(os.ReadFile("testdata/godot4.7-dev/save_game_large.bin"))(t)
	name := filepath.Join(t.TempDir(), "save")
	require.NoError(t, os.WriteFile(name, save, 0o600))
	run(nil, "./examples/save", name)
	healed := must(os.ReadFile(name))(t)
	require.Len(t, healed, len(save))
	changed := 0
	for i := range save {
		if save[i] != healed[i] {
			changed++
		}
	}
	require.Equal(t, 2, changed, "bytes of the one number that the program sets")

	// The commands, and the bytes that they leave: those that the program leaves.
	readme := must(os.ReadFile("README.md"))(t)
	require.NoError(t, os.WriteFile(name, save, 0o600))
	commands := 0
	for _, block := range regexp.MustCompile("(?s)```\n(\\$ gdwire.*?)```\n").FindAllStringSubmatch(string(readme), -1) {
		for part := range strings.SplitSeq(strings.TrimPrefix(block[1], "$ gdwire "), "\n$ gdwire ") {
			line, want, _ := strings.Cut(strings.TrimSuffix(part, "\n"), "\n")
			var args []string
			for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
				args = append(args, strings.ReplaceAll(strings.Trim(word, "'"), "save.bin", name))
			}
			out, err := exec.CommandContext(t.Context(), "go", append([]string{"run", "./cmd/gdwire"}, args...)...).CombinedOutput()
			require.NoError(t, err, "%s: %s", line, out)
			require.Equal(t, want, strings.TrimSpace(string(out)), line)
			commands++
		}
	}
	require.Equal(t, 2, commands)
	require.Equal(t, healed, must(os.ReadFile(name))(t))
}

// The programs in examples end by themselves, without a panic, for any value at any place of
// their input.
func TestExampleProgramsWithHostileInput(t *testing.T) {
	if !testenv.Full() {
		t.Skip("skipped: builds programs")
	}
	item := map[string]any{"id": 7, "name": "item_7", "weight": 0.5, "pos": variant.Vector3{X: 1}, "tags": []string{"a"},
		"parent": variant.NodePath("/root"), "stats": map[string]int{"hp": 1, "mp": 2}}
	save := gdwiretest.Encode(t, map[string]any{"version": 1, "player": map[string]any{"name": "Ada", "inventory": []any{item}}})
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir, "../../../examples/...").CombinedOutput()
	require.NoError(t, err, string(out))
	programs := must(os.ReadDir(dir))(t)
	require.NotEmpty(t, programs)
	i := 0
	model.Replace(t, save, func(packet []byte) {
		if i++; i%7 != 0 {
			return
		}
		program := programs[i/7%len(programs)].Name() // each sees others
		file := filepath.Join(dir, "file")            // of the programs that read a file and not standard input
		require.NoError(t, os.WriteFile(file, packet, 0o600))
		cmd := exec.Command(filepath.Join(dir, program), file)
		cmd.Stdin = bytes.NewReader(packet)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil {
			require.ErrorAs(t, err, &exit, "%s of %x", program, packet)
			require.Equal(t, 1, exit.ExitCode(), "%s of %x: %s", program, packet, out)
		}
		require.NotContains(t, string(out), "panic:", "%s of %x", program, packet)
	})
}

// CONTRIBUTING.md names each internal package and each direct dependency, and no test that does not exist.
func TestContributing(t *testing.T) {
	t.Chdir("../../..")
	text := string(must(os.ReadFile("CONTRIBUTING.md"))(t))
	named := map[string]bool{} // words of the first column of tables
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(text, -1) {
		for word := range strings.SplitSeq(row[1], ", ") {
			named[word] = true
		}
	}

	var tests strings.Builder
	for _, folders := range []string{"internal/base/*", "internal/values/*", "internal/values/save/*", "internal/test/*"} {
		paths := must(filepath.Glob(folders))(t)
		dir := strings.TrimPrefix(strings.TrimSuffix(folders, "*"), "internal/")
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				name := strings.TrimPrefix(dir, "test/") + filepath.Base(path)
				require.True(t, named[name], "%s is not in the table of packages", path)
			}
		}
	}

	mod := must(os.ReadFile("go.mod"))(t)
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

// No two packages have a test of the same name, other than TestMain.
func TestNamesOfTests(t *testing.T) {
	packages := map[string]string{}
	require.NoError(t, filepath.WalkDir("../../..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		dir := filepath.Dir(path)
		for _, f := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(b, -1) {
			name := string(f[1])
			if other, ok := packages[name]; ok && other != dir && name != "TestMain" {
				t.Errorf("%s is in %s and %s: tell the package in one of the names", name, other, dir)
			}
			packages[name] = dir
		}
		return err
	}))
}

// The files to which documents link exist.
func TestLinks(t *testing.T) {
	t.Chdir("../../..")
	code := regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	link := regexp.MustCompile(`\]\(([^):#\s]+)[)#]`)
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(must(os.ReadFile(path))(t)), ""), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1])))
			assert.NoError(t, err, path)
		}
		return nil
	}))
}

// Every exported name is used in a test or an example; those of the root package also in the
// tests and the model of its formats.
func TestExported(t *testing.T) {
	t.Chdir("../../..")
	parse := func(dir string, tests bool, add func(f *ast.File, names map[string]bool), names map[string]bool) {
		for _, name := range must(filepath.Glob(filepath.Join(dir, "*.go")))(t) {
			if strings.HasSuffix(name, "_test.go") == tests {
				add(must(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t), names)
			}
		}
	}
	for _, dir := range []string{".", "stream", "variant", "fileaccess", "gdjson", "gdscript", "gdwiretest", "savefile"} {
		exported, used := map[string]bool{}, map[string]bool{}
		parse(dir, false, exports, exported)
		parse(dir, true, mentions, used)
		if dir == "." {
			parse("internal/test/conformance", true, mentions, used)
			parse("internal/test/calls", false, mentions, used)
			parse("internal/test/model", false, mentions, used)
			parse("internal/values/tagged", false, mentions, used)
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

// Only files named unsafe.go import unsafe, the tag purego excludes them, and SECURITY.md contains
// a row for the package of each.
func TestUnsafe(t *testing.T) {
	t.Chdir("../../..")
	_, table, found := strings.Cut(string(must(os.ReadFile("SECURITY.md"))(t)), "| package | what it does with `unsafe` |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	_, latest, found := strings.Cut(string(must(os.ReadFile(".ci/run"))(t)), "next_go=go1.")
	require.True(t, found)
	next := must(strconv.Atoi(latest[:strings.IndexByte(latest, '.')]))(t)
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
		f := must(parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments))(t)
		for _, i := range f.Imports {
			if i.Path.Value != `"unsafe"` {
				continue
			}
			assert.Equal(t, "unsafe.go", filepath.Base(path))
			x, err := constraint.Parse(f.Comments[0].List[0].Text)
			require.NoError(t, err, path)
			assert.False(t, x.Eval(func(string) bool { return true }), "%s is built with purego", path)
			if strings.HasPrefix(path, "variant") {
				assert.True(t, x.Eval(func(tag string) bool { return tag == "go1."+strconv.Itoa(next) }), "%s and the latest Go", path)
				assert.False(t, x.Eval(func(tag string) bool { return tag == "go1."+strconv.Itoa(next+1) }), "%s and a Go that was not tested", path)
			}
			packages = append(packages, filepath.ToSlash(filepath.Join("gdwire", filepath.Dir(path))))
		}
		return nil
	}))
	assert.ElementsMatch(t, documented, packages)
}

// SECURITY.md contains the rows of the table.
func TestSECURITYAttacks(t *testing.T) {
	t.Chdir("../../..")
	_, section, _ := strings.Cut(string(must(os.ReadFile("SECURITY.md"))(t)), "\n## Attacks, measured\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := 0
	for _, a := range allAttacks() {
		if a.Row != "" {
			rows++
			require.Contains(t, section, a.Cells())
			require.Contains(t, section, "| "+a.Others+" |")
		}
	}
	require.Equal(t, rows+2, strings.Count(section, "\n|"))
}
