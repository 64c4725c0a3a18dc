package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
)

// A listedPackage is what `go list` prints about a package.
type listedPackage struct {
	ImportPath, Name, Export string
	Standard, DepOnly        bool
	Imports                  []string
}

// isPublic reports whether programs import p, a package of this module, to use it. Those of examples
// are there to be copied.
func (p *listedPackage) isPublic() bool {
	return !p.DepOnly && p.Name != "main" && !strings.Contains(p.ImportPath+"/", "/internal/") && !strings.Contains(p.ImportPath, "/examples/")
}

// listPackages returns the packages of this module and all that they import, by path.
func listPackages(t *testing.T) map[string]*listedPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,Standard,DepOnly,Imports", "./...")
	cmd.Dir = "../../.."
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, &stderr)
	all := map[string]*listedPackage{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := new(listedPackage)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all[p.ImportPath] = p
	}
}

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
	all, seen := listPackages(t), map[string]bool{}
	var walk func(path string)
	walk = func(path string) {
		if seen[path] || all[path] == nil {
			return
		}
		seen[path] = true
		for _, imported := range all[path].Imports {
			walk(imported)
		}
	}
	walk(module + "/stream")
	require.True(t, seen[module])
	for _, path := range []string{"/variant", "/gdjson", "/fileaccess", "/savefile"} {
		require.False(t, seen[module+path], path)
	}
}

// The exported names of public packages mention no type of an internal package or of another
// module, so that users see what the types are and requirements can change. gdwire.Internal is for
// this module.
func TestExportedSignatures(t *testing.T) {
	all, public := publicPackages(t)
	for _, pkg := range public {
		for _, name := range pkg.Scope().Names() {
			if object := pkg.Scope().Lookup(name); object.Exported() && name != "Internal" {
				s := signature{all: all, pkg: pkg, seen: map[types.Type]bool{}}
				s.declaration(object)
				for _, foreign := range s.foreign {
					t.Errorf("%s.%s mentions %s", pkg.Name(), name, foreign)
				}
			}
		}
	}
}

// Constructors take a pointer to options, nil for the defaults. All other calls take ...Options,
// which they merge.
func TestOptionsParameters(t *testing.T) {
	_, public := publicPackages(t)
	merged := map[string]bool{}
	for _, pkg := range public {
		for _, f := range exportedFuncs(pkg) {
			constructs := false
			for v := range f.Signature().Results().Variables() {
				p, ok := v.Type().(*types.Pointer)
				constructs = constructs || ok && isOf(p.Elem(), pkg)
			}
			for v := range f.Signature().Params().Variables() {
				var form, name string
				switch p := v.Type().(type) {
				case *types.Pointer:
					form, name = "pointer", optionsName(p.Elem())
				case *types.Slice:
					form, name = "variadic", optionsName(p.Elem())
				default:
					form, name = "value", optionsName(p)
				}
				if name == "" {
					continue
				}
				want := map[bool]string{true: "pointer", false: "variadic"}[constructs]
				require.Equal(t, want, form, "%s.%s", pkg.Name(), f.Name())
				if form == "variadic" {
					merged[name] = true
				}
			}
		}
	}
	require.Equal(t, map[string]bool{"gdjson.Options": true, "savefile.Options": true, "stream.Options": true, "variant.Options": true}, merged,
		"add a type to TestMerge of internal/options, and here")
}

// exportedFuncs returns the exported functions and methods of a package.
func exportedFuncs(pkg *types.Package) (all []*types.Func) {
	for _, name := range pkg.Scope().Names() {
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			all = append(all, o)
		case *types.TypeName:
			for m := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
				all = append(all, m.Obj().(*types.Func))
			}
		}
	}
	return slices.DeleteFunc(all, func(f *types.Func) bool { return !f.Exported() })
}

// isOf reports whether t is a type that pkg declares.
func isOf(t types.Type, pkg *types.Package) bool {
	n, ok := t.(*types.Named)
	return ok && n.Obj().Pkg() == pkg
}

// optionsName returns the package and name of t if it is options, otherwise "".
func optionsName(t types.Type) string {
	if n, ok := t.(*types.Named); ok && strings.HasSuffix(n.Obj().Name(), "Options") {
		return n.Obj().Pkg().Name() + "." + n.Obj().Name()
	}
	return ""
}

// publicPackages returns what listPackages does, and the exported declarations of packages that
// programs can import, by path.
func publicPackages(t *testing.T) (all map[string]*listedPackage, public map[string]*types.Package) {
	t.Helper()
	all, public = listPackages(t), map[string]*types.Package{}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(all[path].Export)
	})
	for path, p := range all {
		if p.isPublic() {
			pkg, err := from.Import(path)
			require.NoError(t, err)
			public[path] = pkg
		}
	}
	require.Greater(t, len(public), 5)
	return all, public
}

// A signature is what users see of a declaration of pkg.
type signature struct {
	all     map[string]*listedPackage
	pkg     *types.Package
	seen    map[types.Type]bool
	foreign []string // types that are neither of a public package nor of the standard library
}

// declaration walks over what an object is declared as.
func (s *signature) declaration(object types.Object) {
	t := object.Type()
	if _, ok := object.(*types.TypeName); !ok {
		s.walk(t)
	} else if alias, ok := t.(*types.Alias); ok {
		s.walk(alias.Rhs())
	} else {
		s.named(t.(*types.Named))
	}
}

// named walks over the definition and the methods of a type.
func (s *signature) named(t *types.Named) {
	s.walk(t.Underlying())
	for p := range t.TypeParams().TypeParams() {
		s.walk(p.Constraint())
	}
	for m := range t.Methods() {
		if m.Exported() {
			s.walk(m.Type())
		}
	}
}

// walk collects the foreign types that t mentions where users see them.
func (s *signature) walk(t types.Type) {
	if s.seen[t] {
		return
	}
	s.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		s.mention(t.Obj())
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			s.walk(arg)
		}
		s.mention(t.Obj())
	case *types.Map:
		s.walk(t.Key())
		s.walk(t.Elem())
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			s.walk(p.Constraint())
		}
		for _, list := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range list.Variables() {
				s.walk(v.Type())
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				s.walk(f.Type())
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				s.walk(m.Type())
			}
		}
		for e := range t.EmbeddedTypes() {
			s.walk(e)
		}
	case *types.Union:
		for term := range t.Terms() {
			s.walk(term.Type())
		}
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		s.walk(t.Elem())
	}
}

// mention collects a type that is foreign. What is not exported, such as an embedded type, is
// walked as a part of what mentions it.
func (s *signature) mention(object *types.TypeName) {
	switch pkg := object.Pkg(); {
	case pkg == nil: // error, any
	case pkg == s.pkg && !object.Exported():
		s.declaration(object)
	case !s.all[pkg.Path()].Standard && !s.all[pkg.Path()].isPublic():
		s.foreign = append(s.foreign, fmt.Sprint(pkg.Path(), ".", object.Name()))
	}
}

// gdwire and fileaccess have a LimitError each, and one ErrLimit.
func TestErrLimit(t *testing.T) {
	for _, err := range []error{&gdwire.LimitError{}, &fileaccess.LimitError{}} {
		require.ErrorIs(t, err, gdwire.ErrLimit)
		require.ErrorIs(t, err, fileaccess.ErrLimit)
		require.NotErrorIs(t, err, gdwire.ErrType)
	}
}
