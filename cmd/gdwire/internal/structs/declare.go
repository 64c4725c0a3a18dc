package structs

import (
	"bytes"
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdwire/gdwire/internal/wire"
	"github.com/gdwire/gdwire/variant"
)

// A goType is the Go type of values.
type goType struct {
	typ      reflect.Type
	fields   []*goField // of a struct
	elem     *goType    // of a slice of structs
	hasSlice bool       // the type is or contains a slice of structs
	why      string     // why the type is an any or a Dictionary
}

// A goField is a field of a struct.
type goField struct {
	reflect.StructField
	key string
	*goType
}

// anyType returns the type of values without a common type.
func anyType(why string) *goType { return &goType{typ: goAny, why: why} }

// newGoType returns the Go type of the values of a shape. If required is set, keys in all containers are required. Keys
// missing in some are omitted if zero.
func newGoType(s *shape, required bool) *goType {
	types := s.types
	if slices.Contains(types, goRecords) || slices.Contains(types, goArray) {
		types = slices.DeleteFunc(types, func(t reflect.Type) bool { return t == goEmpty })
	}
	switch {
	case len(types) > 1:
		return anyType("values of other types, too")
	case types[0] == goRecords:
		elem := newGoType(s.items, required)
		return &goType{typ: reflect.SliceOf(elem.typ), elem: elem, hasSlice: true}
	case types[0] == goEmpty:
		return &goType{typ: goArray}
	case types[0] != goRecord:
		return &goType{typ: types[0]}
	case s.isData:
		return &goType{typ: goDictionary}
	}
	return newStruct(s, required)
}

// newStruct returns the type of records: a struct of the keys that can be fields, and for all others a Dictionary. Of a record
// that is not at the top, and contains no such key, it is the Dictionary alone.
func newStruct(s *shape, required bool) *goType {
	types := map[*shape]*goType{}
	for _, one := range s.ordered {
		in := newGoType(one, required)
		types[one] = in
		one.isBarred = one.isBarred || one.count < s.containers && in.typ == goAny && one.hasNil // null is zero, too
	}
	g, all := &goType{fields: []*goField{}}, []reflect.StructField{}
	used := map[string]bool{"Rest": true}
	for _, one := range s.inOrder() {
		in, option := types[one], ""
		switch {
		case one.count == s.containers && required:
			option = ",required"
		case one.count < s.containers:
			option = ",omitzero"
			if one.hasZero && in.typ != goAny && in.typ != goDictionary {
				in = anyType("zero in some saves, and missing in others")
			}
		}
		f := &goField{key: one.name, goType: in}
		f.Name, f.Type = goName(one.name, used), in.typ
		f.Tag = tagOf(f.Name, one.name, option)
		all = append(all, f.StructField)
		g.fields, g.hasSlice = append(g.fields, f), g.hasSlice || in.hasSlice
	}
	switch {
	case len(all) > 0 || s.isTop:
		g.typ = reflect.StructOf(append(all, reflect.StructField{Name: "Rest", Type: goDictionary, Tag: restTag}))
		return g
	case len(s.ordered) > 0:
		return &goType{typ: goDictionary, why: "no struct gives back the same bytes"}
	}
	return &goType{typ: goDictionary}
}

// inOrder returns the fields that a struct can have, in an order common to all records: in each record, only such fields are
// before one of them.
func (s *shape) inOrder() (all []*shape) {
	isAdded := map[*shape]bool{} // false also for fields waiting for the fields before them
	var add func(f *shape) bool
	add = func(f *shape) bool {
		added, known := isAdded[f]
		if known {
			return added
		}
		isAdded[f] = false
		ok := !f.isBarred
		for _, before := range f.after {
			ok = add(before) && ok
		}
		if ok {
			isAdded[f] = true
			all = append(all, f)
		}
		return ok
	}
	for _, f := range s.ordered {
		add(f)
	}
	return all
}

// field returns the type of the field of a key, or any.
func (g *goType) field(key string) *goType {
	for _, f := range g.fields {
		if f.key == key {
			return f.goType
		}
	}
	return anyType("")
}

// goName returns an unused name of a field for a key.
func goName(key string, used map[string]bool) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(key, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if part == "id" || part == "hp" || part == "mp" {
			part = strings.ToUpper(part)
		}
		first, n := utf8.DecodeRuneInString(part)
		b.WriteRune(unicode.ToUpper(first))
		b.WriteString(part[n:])
	}
	name := b.String()
	if !token.IsExported(name) {
		name = "X" + name
	}
	for used[name] {
		name += "_"
	}
	used[name] = true
	return name
}

// restTag is the tag of the field for unknown keys.
const restTag = `gd:",embed"`

// tagOf returns the tag of a field, with the key unless the name implies it.
func tagOf(name, key, option string) reflect.StructTag {
	one := reflect.New(reflect.StructOf([]reflect.StructField{{Name: name, Type: reflect.TypeFor[bool]()}}))
	var tree any
	if data, err := variant.Marshal(one.Interface()); err == nil && variant.Unmarshal(data, &tree) == nil {
		if _, ok := tree.(*variant.Dictionary).Get(key); ok {
			key = ""
		}
	}
	if key+option == "" {
		return ""
	}
	if key != "" && !wire.IsName(key) {
		key = quoted(key)
	}
	return reflect.StructTag(fmt.Sprintf("gd:%q", key+option))
}

// quoted returns a key in the single quotes of a tag. The tag is printed in backquotes, and contains none.
func quoted(key string) string {
	var b strings.Builder
	for _, r := range key {
		switch one := strconv.Quote(string(r)); r {
		case '\'':
			b.WriteString(`\'`)
		case '"':
			b.WriteByte('"')
		case '`':
			b.WriteString(`\x60`)
		default:
			b.WriteString(one[1 : len(one)-1])
		}
	}
	return "'" + b.String() + "'"
}

// A structPrinter prints declarations of types.
type structPrinter struct{ used map[string]bool }

// declare prints the declaration of a struct, followed by the declarations for its fields.
func (p *structPrinter) declare(w *bytes.Buffer, name string, g *goType) {
	p.used[name] = true
	var inner bytes.Buffer
	fmt.Fprintf(w, "\ntype %s struct {\n", name)
	for _, f := range g.fields {
		text := ""
		if f.Tag != "" {
			text = " `" + string(f.Tag) + "`"
		}
		if f.why != "" {
			text += " // " + f.why
		}
		fmt.Fprintf(w, "\t%s %s%s\n", f.Name, p.typeName(&inner, f.Name, f.goType), text)
	}
	fmt.Fprintf(w, "\tRest *variant.Dictionary `%s`\n}\n", restTag)
	w.Write(inner.Bytes())
}

// rootName returns the name of the type of a value, and declares a struct, a Dictionary, or the elements of a slice of these, by
// the given name.
func (p *structPrinter) rootName(w *bytes.Buffer, name string, g *goType) string {
	switch {
	case g.elem != nil:
		return "[]" + p.rootName(w, name, g.elem)
	case g.fields != nil:
		p.declare(w, name, g)
		return name
	case g.typ == goDictionary:
		fmt.Fprintf(w, "\ntype %s = *variant.Dictionary\n", name)
		return name
	}
	return p.typeName(w, name, g)
}

// typeName returns the name of the type of a field, and declares structs.
func (p *structPrinter) typeName(w *bytes.Buffer, name string, g *goType) string {
	switch {
	case g.elem != nil:
		return "[]" + p.typeName(w, strings.TrimSuffix(name, "s"), g.elem)
	case g.fields == nil:
		return strings.NewReplacer("interface {}", "any", "uint8", "byte").Replace(g.typ.String())
	}
	for p.used[name] || name == "variant" {
		name += "_"
	}
	p.declare(w, name, g)
	return name
}
