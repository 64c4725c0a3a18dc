package conformance

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The API is what api/next.txt lists, and CHANGELOG.md mentions what differs from the latest
// release. With GDWIRE_WRITE_API=1, the test rewrites the list.
func TestAPI(t *testing.T) {
	_, public := publicPackages(t)
	t.Chdir("../../..")
	var list apiList
	for _, path := range slices.Sorted(maps.Keys(public)) {
		if !strings.Contains(path, "/examples/") { // which are copied, and change with the engine
			list.addPackage(public[path])
		}
	}
	next := strings.Join(list.lines, "\n") + "\n"
	name := filepath.Join("api", "next.txt")
	if os.Getenv("GDWIRE_WRITE_API") != "" {
		require.NoError(t, os.WriteFile(name, []byte(next), 0o666))
	}
	listed, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Empty(t, differences(string(listed), next), "api/next.txt is old: see CONTRIBUTING.md")

	releases, err := filepath.Glob(filepath.Join("api", "v*.txt"))
	require.NoError(t, err)
	if len(releases) == 0 {
		return // everything is new
	}
	latest, err := os.ReadFile(slices.MaxFunc(releases, compareReleases))
	require.NoError(t, err)
	changelog, err := os.ReadFile("CHANGELOG.md")
	require.NoError(t, err)
	require.Empty(t, unmentioned(string(latest), next, string(changelog)), "not in the section Unreleased of CHANGELOG.md")
}

// The check of CHANGELOG.md finds what differs, and a new or removed package or type by its own
// name alone.
func TestUnmentioned(t *testing.T) {
	const release = "gdwire const Same2 T = 2\ngdwire func Old(int)\ngdwire func Same()\ngdwire method (*T) Close() error\ngdwire type T struct\n"
	next := strings.NewReplacer("Old(int)", "New(int)", "Close() error", "Close()").Replace(release) +
		"gdwire field T.Field int\ngdwire field U.F int\ngdwire type U struct\nsave func Open()\n"
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

// compareReleases compares the versions in the names of two lists.
func compareReleases(a, b string) int {
	var x, y [2]int
	for name, version := range map[string]*[2]int{a: &x, b: &y} {
		fmt.Sscanf(filepath.Base(name), "v%d.%d.txt", &version[0], &version[1])
	}
	return slices.Compare(x[:], y[:])
}

// apiLine matches a line of a list: the package, the type of a method or field, and the name.
var apiLine = regexp.MustCompile(`^(\w+) (?:method \(\*?(\w+)[^)]*\) |field (\w+)\.|\w+ )(\w+)`)

// unmentioned returns the names whose lines differ in two lists and that are not between
// backquotes in the section Unreleased of a changelog. Names of a package or type that is only in
// one list are covered by the name of the package or type.
func unmentioned(release, next, changelog string) (names []string) {
	_, section, _ := strings.Cut(changelog, "\n## Unreleased\n")
	section, _, _ = strings.Cut(section, "\n## ")
	words := map[string]bool{}
	for _, quoted := range regexp.MustCompile("`[^`\n]*`").FindAllString(section, -1) {
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(quoted, -1) {
			words[word] = true
		}
	}
	before, now := apiNames(release), apiNames(next)
	for _, line := range differences(release, next) {
		// The outermost name that only one list has, or that of the line.
		parts := nameParts(line)
		i := slices.IndexFunc(parts, func(name string) bool { return !before[name] || !now[name] })
		if i < 0 {
			i = len(parts) - 1
		}
		if name := parts[i]; !words[name[strings.LastIndex(name, ".")+1:]] {
			names = append(names, parts[i])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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

// apiNames returns the packages, types and names in a list.
func apiNames(list string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(list) {
		for _, name := range nameParts(line) {
			names[name] = true
		}
	}
	return names
}

// nameParts returns the names of a line's package, of its type if it is a method or field, and of
// what it lists: "gdwire", "gdwire.Token", "gdwire.Token.Kind".
func nameParts(line string) (names []string) {
	name := ""
	for _, part := range apiLine.FindStringSubmatch(line)[1:] {
		if part != "" {
			name = strings.TrimPrefix(name+"."+part, ".")
			names = append(names, name)
		}
	}
	return names
}

// An apiList lists the exported names and signatures of packages, one in a line.
type apiList struct {
	pkg   *types.Package
	lines []string
}

// add adds a line of the package.
func (l *apiList) add(format string, args ...any) {
	l.lines = append(l.lines, l.pkg.Name()+" "+fmt.Sprintf(format, args...))
}

// addPackage adds the lines of a package, in the order of the alphabet.
func (l *apiList) addPackage(pkg *types.Package) {
	l.pkg = pkg
	start := len(l.lines)
	for _, name := range pkg.Scope().Names() {
		if object := pkg.Scope().Lookup(name); object.Exported() {
			l.addObject(object)
		}
	}
	slices.SortFunc(l.lines[start:], cmp.Compare)
}

// addObject adds a declaration.
func (l *apiList) addObject(object types.Object) {
	switch o := object.(type) {
	case *types.Const:
		l.add("const %s %s = %s", o.Name(), l.typ(o.Type()), o.Val().ExactString())
	case *types.Var:
		l.add("var %s %s", o.Name(), l.typ(o.Type()))
	case *types.Func:
		l.add("func %s%s", o.Name(), l.signature(o.Signature()))
	case *types.TypeName:
		l.addType(o)
	}
}

// addType adds a type, its fields and its methods, those of embedded types, too.
func (l *apiList) addType(o *types.TypeName) {
	if alias, ok := o.Type().(*types.Alias); ok {
		l.add("type %s = %s", o.Name(), l.typ(alias.Rhs()))
		return
	}
	t := o.Type().(*types.Named)
	name := o.Name() + l.typeParams(t.TypeParams())
	switch u := t.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", name)
		for f := range u.Fields() {
			if f.Exported() {
				l.add("field %s.%s %s", o.Name(), f.Name(), l.typ(f.Type()))
			}
		}
	case *types.Interface:
		if u.NumMethods() == 0 {
			l.add("type %s %s", name, l.typ(u))
			return
		}
		l.add("type %s interface", name)
		for m := range u.Methods() {
			l.add("method (%s) %s%s", name, m.Name(), l.signature(m.Signature()))
		}
		return
	default:
		l.add("type %s %s", name, l.typ(u))
	}
	values := types.NewMethodSet(t)
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		receiver := "*" + name
		if values.Lookup(l.pkg, m.Obj().Name()) != nil {
			receiver = name
		}
		if m.Obj().Exported() {
			l.add("method (%s) %s%s", receiver, m.Obj().Name(), l.signature(m.Type().(*types.Signature)))
		}
	}
}

// typ returns the text of a type. Names of other packages are qualified.
func (l *apiList) typ(t types.Type) string {
	if f, ok := t.(*types.Signature); ok {
		return "func" + l.signature(f)
	}
	return types.TypeString(t, l.qualify)
}

// qualify returns the name of another package.
func (l *apiList) qualify(pkg *types.Package) string {
	if pkg == l.pkg {
		return ""
	}
	return pkg.Name()
}

// signature returns the text of a function's type, without the names of parameters.
func (l *apiList) signature(f *types.Signature) string {
	results := l.tuple(f.Results(), false)
	switch f.Results().Len() {
	case 0:
	case 1:
		results = " " + results
	default:
		results = " (" + results + ")"
	}
	return l.typeParams(f.TypeParams()) + "(" + l.tuple(f.Params(), f.Variadic()) + ")" + results
}

// tuple returns the types of parameters or results.
func (l *apiList) tuple(vars *types.Tuple, variadic bool) string {
	var all []string
	for v := range vars.Variables() {
		text := l.typ(v.Type())
		if slice, ok := v.Type().(*types.Slice); ok && variadic && len(all) == vars.Len()-1 {
			text = "..." + l.typ(slice.Elem())
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// typeParams returns the text of type parameters and their constraints, or "".
func (l *apiList) typeParams(params *types.TypeParamList) string {
	var all []string
	for p := range params.TypeParams() {
		all = append(all, p.Obj().Name()+" "+l.typ(p.Constraint()))
	}
	if all == nil {
		return ""
	}
	return "[" + strings.Join(all, ", ") + "]"
}
