package gdscript

import (
	"cmp"
	_ "embed" // engine.txt
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// Options configures a script. If Write gets several, a field that is not zero replaces that of earlier Options.
type Options struct {
	// Prefix begins the names of classes and enums, such as "Net" for NetPlayer, but not of those in Names. It is for a
	// game that has a class_name or an autoload of the name of a Go type.
	Prefix string
	// Names contains the names of the classes and enums for Go types, such as for two types of one name.
	Names map[reflect.Type]string
	// Source is the folder of the Go package of the messages, such as "." in a line of go generate. The comments of types and
	// fields there are in the script, too.
	Source string
}

// merge replaces the fields that are not zero in later Options.
func (o *Options) merge(later Options) {
	o.Prefix, o.Source = cmp.Or(later.Prefix, o.Prefix), cmp.Or(later.Source, o.Source)
	if later.Names != nil {
		o.Names = later.Names
	}
}

// names contains the names taken in a script or class.
type names map[string]bool

func namesOf(text string) names {
	all := names{}
	for name := range strings.FieldsSeq(text) {
		all[name] = true
	}
	return all
}

// engine.txt contains a line of the classes of Godot 4.6 and 4.7, without those that begin with Editor, and a line of the functions
// and methods that variables hide with a warning.
//
//go:embed engine.txt
var engineText string

var engineNames = strings.Split(engineText, "\n")

var engineClasses, engineFunctions = namesOf(engineNames[0]), namesOf(engineNames[1])

// reserved contains the names that neither a class nor a variable can take: keywords, types, names of every object,
// and functions of the script.
var reserved = func() names {
	all := namesOf(`if elif else for while match when break continue pass return class class_name extends
		is in as self super signal func static const enum var breakpoint preload await yield assert void and or not true false
		null namespace trait abstract PI TAU INF NAN Variant script script_changed property_list_changed new
		read to_variant from_variant`)
	for _, t := range gdwire.Types() {
		all[t.String()] = true
	}
	return all
}()

// isReserved reports whether a class cannot have the name.
func isReserved(name string) bool {
	return reserved[name] || engineClasses[name] || strings.HasPrefix(name, "Editor")
}

// The runes that Godot does not take in names, or not as the first, although package unicode has them in the categories
// of letters. Runes that only Godot knows, from a later version of Unicode, are not used.
const (
	notInNames    = "\u037a\u2e2f\u309b\u309c\ufc5e\ufc5f\ufc60\ufc61\ufc62\ufc63\ufdfa\ufdfb\ufe70\ufe72\ufe74\ufe76\ufe78\ufe7a\ufe7c\ufe7e"
	notFirstRunes = notInNames + "\u0e33\u0eb3\uff9e\uff9f"
)

// startsName and isInName report whether a name can begin with, or contain, r.
func startsName(r rune) bool {
	return r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start) && !strings.ContainsRune(notFirstRunes, r)
}

func isInName(r rune) bool {
	return r == '_' || !strings.ContainsRune(notInNames, r) &&
		unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
}

// identifier returns text as a name, with a _ in place of each other rune, and before the first if it cannot be the first.
func identifier(text string) string {
	name := strings.Map(func(r rune) rune {
		if isInName(r) {
			return r
		}
		return '_'
	}, text)
	if first, _ := utf8.DecodeRuneInString(name); !startsName(first) {
		name = "_" + name
	}
	return name
}

// isIdentifier reports whether text is a name.
func isIdentifier(text string) bool { return utf8.ValidString(text) && identifier(text) == text }

// free takes name, after adding a _ to the end for as long as the name is reserved or taken.
func (n names) free(name string) string {
	for n[name] || reserved[name] {
		name += "_"
	}
	n[name] = true
	return name
}

// packagePath matches the path of a package in the name of a type with type arguments, and the number of a type in a function.
var packagePath = regexp.MustCompile(`[^\[\],*{}() ;]*[./]|·\d+`)

// typeName returns the name for a Go type with a name: PairOf_string_Item for pairOf[string,[]example.com/game.Item].
func typeName(t reflect.Type) string {
	name := identifier(packagePath.ReplaceAllString(t.Name(), ""))
	return strings.Trim(regexp.MustCompile(`_+`).ReplaceAllString(name, "_"), "_")
}

// comments returns the comments of types and fields in a folder, by names such as Player and Player.HP.
func comments(folder string) (map[string]string, error) {
	all := map[string]string{}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err == nil && names == nil {
		err = fmt.Errorf("the folder %q of Options.Source contains no Go files", folder)
	}
	for _, name := range names {
		f, failed := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if failed != nil {
			return nil, failed
		}
		var single *ast.CommentGroup // of a declaration of one type
		var of string
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return false
			case *ast.GenDecl:
				if single = n.Doc; n.Lparen.IsValid() {
					single = nil
				}
			case *ast.TypeSpec:
				of = n.Name.Name
				all[of] = cmp.Or(n.Doc.Text(), single.Text(), n.Comment.Text())
			case *ast.Field: // without those of a struct in it
				for _, id := range n.Names {
					all[of+"."+id.Name] = cmp.Or(n.Doc.Text(), n.Comment.Text())
				}
				return false
			}
			return true
		})
	}
	return all, err
}
