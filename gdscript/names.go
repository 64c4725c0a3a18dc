package gdscript

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// names contains the names taken in a script or class.
type names map[string]bool

// reserved contains the names that a variable cannot take: keywords, types, names of every object, and functions of
// the script.
var reserved = func() names {
	all := names{}
	for _, t := range gdwire.Types() {
		all[t.String()] = true
	}
	for name := range strings.FieldsSeq(`if elif else for while match when break continue pass return class class_name extends
		is in as self super signal func static const enum var breakpoint preload await yield assert void and or not true false
		null namespace trait abstract PI TAU INF NAN Variant script script_changed property_list_changed new
		read to_variant from_variant`) {
		all[name] = true
	}
	return all
}()

// identifier matches the names of GDScript. Letters are not only those of ASCII.
var identifier = regexp.MustCompile(`^[\pL_][\pL\p{Nd}_]*$`)

// variable returns the name of the variable for a key. Local variables begin with _, and classes with a
// capital letter.
func (n names) variable(key string) (string, error) {
	if !identifier.MatchString(key) {
		return "", fmt.Errorf("the key %q is no name in GDScript", key)
	}
	if first, _ := utf8.DecodeRuneInString(key); first == '_' || unicode.IsUpper(first) {
		key += "_"
	}
	return n.free(key), nil
}

// class returns the name of the class for a Go type, perhaps with type arguments.
func (n names) class(name string) string {
	name = regexp.MustCompile(`[^\pL\p{Nd}_]+`).ReplaceAllString(name, "_")
	first, size := utf8.DecodeRuneInString(name)
	return n.free(string(unicode.ToUpper(first)) + name[size:])
}

// free takes name, after adding a _ to the end for as long as the name is reserved or taken.
func (n names) free(name string) string {
	for n[name] || reserved[name] {
		name += "_"
	}
	n[name] = true
	return name
}
