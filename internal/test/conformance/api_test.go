package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
)

// A listedPackage is what `go list` prints about a package.
type listedPackage struct {
	ImportPath, Name, Export string
	Standard, DepOnly        bool
	Imports, Deps            []string
}

// isPublic reports whether programs import p, a package of this module, to use it. Those of examples
// are there to be copied.
func (p *listedPackage) isPublic() bool {
	return !p.DepOnly && p.Name != "main" && !strings.Contains(p.ImportPath+"/", "/internal/") && !strings.Contains(p.ImportPath, "/examples/")
}

// listPackages returns the packages of this module and all that they import, by path.
func listPackages(t *testing.T) map[string]*listedPackage {
	t.Helper()
	return must(packagesOnce())(t)
}

var packagesOnce = sync.OnceValues(func() (map[string]*listedPackage, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,Standard,DepOnly,Imports,Deps", "./...")
	cmd.Dir = "../../.."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	all := map[string]*listedPackage{}
	for d := json.NewDecoder(bytes.NewReader(out)); err == nil && d.More(); {
		p := new(listedPackage)
		err = d.Decode(p)
		all[p.ImportPath] = p
	}
	return all, err
})

// Only tests import the packages of internal/test.
func TestTestPackages(t *testing.T) {
	for path, p := range listPackages(t) {
		for _, imported := range p.Imports {
			if strings.Contains(imported, "/internal/test/") {
				require.Contains(t, path, "/internal/test/", "%s imports %s", path, imported)
			}
		}
	}
}

// A program that forwards packets without decoding them needs package stream alone: package variant
// would make it a third larger.
func TestForwarderImports(t *testing.T) {
	const module = "github.com/gdwire/gdwire"
	imported := listPackages(t)[module+"/stream"].Deps
	require.Contains(t, imported, module)
	for _, path := range []string{"/variant", "/gdjson", "/fileaccess", "/savefile"} {
		require.NotContains(t, imported, module+path)
	}
}

// The API is what api/next.txt lists, and CHANGELOG.md mentions what differs from the latest release. With
// GDWIRE_WRITE_API=1, the test rewrites the list.
func TestAPI(t *testing.T) {
	next := strings.Join(listAPI(t), "")
	t.Chdir(filepath.Join("..", "..", ".."))
	name := filepath.Join("api", "next.txt")
	if os.Getenv("GDWIRE_WRITE_API") != "" {
		require.NoError(t, os.WriteFile(name, []byte(next), 0o666))
	}
	require.Empty(t, differences(string(must(os.ReadFile(name))(t)), next), "api/next.txt is old: see CONTRIBUTING.md")

	releases := must(filepath.Glob(filepath.Join("api", "v*.txt")))(t)
	if len(releases) == 0 {
		return // everything is new
	}
	latest := must(os.ReadFile(slices.MaxFunc(releases, compareReleases)))(t)
	changelog := must(os.ReadFile("CHANGELOG.md"))(t)
	require.Empty(t, unmentioned(string(latest), next, string(changelog)), "not in the section Unreleased of CHANGELOG.md")
}

// mentionedType matches a type in the text of another: the path of its package and its name.
var mentionedType = regexp.MustCompile(`(\w[\w./-]*)\.(\w+)`)

// listAPI returns the exported declarations of public packages, one in a line, which begins with the name. Methods are those
// of embedded types, too. The types they mention are exported by public packages or the standard library, so that users see them
// and requirements can change; gdwire.Internal is for this module.
func listAPI(t *testing.T) (lines []string) {
	t.Helper()
	all := listPackages(t)
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(all[path].Export)
	})
	for path, p := range all {
		if !p.isPublic() {
			continue
		}
		pkg := must(from.Import(path))(t)
		add := func(name, kind string, typ types.Type) {
			text := mentionedType.ReplaceAllStringFunc(textOf(typ), func(mention string) string {
				parts := mentionedType.FindStringSubmatch(mention)
				if from := all[parts[1]]; !token.IsExported(parts[2]) || !from.Standard && !from.isPublic() {
					t.Errorf("%s.%s mentions %s", pkg.Name(), name, mention)
				}
				return mention[strings.LastIndex(mention, "/")+1:]
			})
			lines = append(lines, fmt.Sprintf("%s.%s %s %s\n", pkg.Name(), name, kind, text))
		}
		for _, name := range pkg.Scope().Names() {
			object := pkg.Scope().Lookup(name)
			if !object.Exported() || name == "Internal" {
				continue
			}
			switch o := object.(type) {
			case *types.TypeName:
				listType(add, o)
			case *types.Const:
				add(name, "const "+o.Val().ExactString(), o.Type())
			case *types.Var:
				add(name, "var", o.Type())
			default:
				add(name, "is", o.Type())
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// listType lists a type with its fields and methods by add.
func listType(add func(name, kind string, typ types.Type), o *types.TypeName) {
	if alias, ok := o.Type().(*types.Alias); ok {
		add(o.Name(), "alias of", alias.Rhs())
		return
	}
	add(o.Name(), "type", o.Type())
	pointer, values := types.NewMethodSet(types.NewPointer(o.Type())), types.NewMethodSet(o.Type())
	for m := range pointer.Methods() {
		receiver := o.Name()
		if values.Lookup(o.Pkg(), m.Obj().Name()) == nil {
			receiver = "*" + receiver
		}
		if m.Obj().Exported() {
			add(o.Name()+"."+m.Obj().Name(), "method of "+receiver, m.Type())
		}
	}
	if _, ok := o.Type().Underlying().(*types.Struct); !ok {
		add(o.Name(), "is", o.Type().Underlying())
	}
	listFields(add, o.Name(), o.Type())
}

// listFields lists the fields of a struct, and those of the types it embeds without their names.
func listFields(add func(name, kind string, typ types.Type), name string, typ types.Type) {
	s, ok := typ.Underlying().(*types.Struct)
	for i := 0; ok && i < s.NumFields(); i++ {
		switch f := s.Field(i); {
		case f.Exported():
			add(name+"."+f.Name(), "field", f.Type())
		case f.Embedded():
			listFields(add, name, f.Type())
		}
	}
}

// textOf returns the text of a type; that of a function has no names of parameters.
func textOf(typ types.Type) string {
	f, ok := typ.(*types.Signature)
	if !ok {
		return types.TypeString(typ, nil)
	}
	text := "func"
	for p := range f.TypeParams().TypeParams() {
		text += fmt.Sprintf("[%s %s]", p, p.Constraint())
	}
	for i, tuple := range []*types.Tuple{f.Params(), f.Results()} {
		var all []string
		for v := range tuple.Variables() {
			all = append(all, v.Type().String())
		}
		if i == 0 && f.Variadic() {
			all[len(all)-1] = "..." + strings.TrimPrefix(all[len(all)-1], "[]")
		}
		text += " (" + strings.Join(all, ", ") + ")"
	}
	return text
}

// differences returns the lines that only one of two lists contains.
func differences(a, b string) (lines []string) {
	for line := range strings.Lines(a + b) {
		if !strings.Contains("\n"+a, "\n"+line) || !strings.Contains("\n"+b, "\n"+line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// unmentioned returns the names whose lines differ in two lists and that are not between backquotes in the section Unreleased of
// a changelog. Names of a package or type that is only in one list are covered by the name of the package or type.
func unmentioned(release, next, changelog string) (names []string) {
	_, section, _ := strings.Cut(changelog, "\n## Unreleased\n")
	section, _, _ = strings.Cut(section, "\n## ")
	quoted := strings.Join(regexp.MustCompile("`[^`\n]*`").FindAllString(section, -1), " ")
	for _, line := range differences(release, next) {
		name, _, _ := strings.Cut(line, " ")
		parts := strings.Split(name, ".")
		outer := 1 // names from the package on
		for outer < len(parts) && hasName(release, parts[:outer]) && hasName(next, parts[:outer]) {
			outer++
		}
		if !regexp.MustCompile(`\b` + parts[outer-1] + `\b`).MatchString(quoted) {
			names = append(names, strings.Join(parts[:outer], "."))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// hasName reports whether a list contains a package, type or other name, or names within it.
func hasName(list string, parts []string) bool {
	return regexp.MustCompile(`(?m)^` + strings.Join(parts, `\.`) + `\b`).MatchString(list)
}

// compareReleases compares the versions in the names of two lists.
func compareReleases(a, b string) int {
	number := func(name string) string { return "go" + strings.TrimSuffix(filepath.Base(name)[1:], ".txt") }
	return version.Compare(number(a), number(b))
}

// The check of CHANGELOG.md finds what differs, and a new or removed package or type by its own name alone.
func TestUnmentioned(t *testing.T) {
	const release = "gdwire.Old func(int)\ngdwire.Same func()\ngdwire.T type gdwire.T\ngdwire.T.Close method func() error\n"
	next := strings.NewReplacer("Old", "New", "Close method func() error", "Close method func()").Replace(release) +
		"gdwire.T.Field field int\ngdwire.U type gdwire.U\ngdwire.U.F field int\nsave.Open func()\n"
	for _, c := range []struct{ changelog, want string }{
		{"", "gdwire.New gdwire.Old gdwire.T.Close gdwire.T.Field gdwire.U save"},
		{"Old, New", "gdwire.New gdwire.Old gdwire.T.Close gdwire.T.Field gdwire.U save"},
		{"`Old`, `gdwire.New`, `T.Closed`", "gdwire.T.Close gdwire.T.Field gdwire.U save"},
		{"`Old`, `New`, `T.Close`, `Field`, `U`, package `save`", ""},
		{"`Old`, `New`, `Field`, `Close` and\n`F`, `Open`", "gdwire.U save"},
		{"\n## v0.9.0\n\n`Old`, `New`, `Close`, `Field`, `U`, `save`", "gdwire.New gdwire.Old gdwire.T.Close gdwire.T.Field gdwire.U save"},
	} {
		got := unmentioned(release, next, "# Changelog\n\n## Unreleased\n\n"+c.changelog+"\n")
		require.Equal(t, strings.Fields(c.want), append([]string{}, got...), c.changelog)
	}
	require.Empty(t, unmentioned(release, release, ""))
	require.Positive(t, compareReleases("api/v0.10.txt", "api/v0.9.txt"))
	require.Positive(t, compareReleases("api/v1.0.txt", "api/v0.10.txt"))
}

// Constructors take a pointer to options, nil for the defaults. All other calls take ...Options, which they merge.
func TestOptionsParameters(t *testing.T) {
	function := regexp.MustCompile(`^(\w+)\.\S+ (?:is|method .*) func(.*)\((.*)\)$`) // package, parameters, results
	options := regexp.MustCompile(`[( ](\*|\.\.\.|)(\w+\.\w*Options)[,)]`)
	merged := map[string]bool{}
	for _, line := range listAPI(t) {
		f := function.FindStringSubmatch(strings.TrimSpace(line))
		if f == nil {
			continue
		}
		want := "..."
		if strings.Contains(", "+f[3], ", *"+f[1]+".") {
			want = "*"
		}
		for _, o := range options.FindAllStringSubmatch(f[2], -1) {
			require.Equal(t, want, o[1], line)
			merged[o[2]] = merged[o[2]] || want == "..."
		}
	}
	want := map[string]bool{"gdwire.DecoderOptions": false, "gdwire.EncoderOptions": false, "fileaccess.Options": false,
		"gdjson.Options": true, "savefile.Options": true, "stream.Options": true, "variant.Options": true}
	require.Equal(t, want, merged, "add a type that calls merge to TestMerge of internal/base/options, and here")
}

// gdwire and fileaccess have a LimitError each, and one ErrLimit.
func TestErrLimit(t *testing.T) {
	for _, err := range []error{&gdwire.LimitError{}, &fileaccess.LimitError{}} {
		require.ErrorIs(t, err, gdwire.ErrLimit)
		require.ErrorIs(t, err, fileaccess.ErrLimit)
		require.NotErrorIs(t, err, gdwire.ErrType)
	}
}
