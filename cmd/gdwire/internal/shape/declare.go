package shape

import (
	"bytes"
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strings"

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

// noStruct is the type of Dictionaries that could be structs.
func noStruct() *goType {
	return &goType{typ: goDictionary, why: "no struct gives back the same bytes"}
}

// newGoType returns the Go type of the values of a shape. If required is set, keys in all containers are required. Keys
// missing in some are omitted if zero.
func newGoType(s *Shape, required bool) *goType {
	types := s.goTypes
	if slices.Contains(types, goRecords) || slices.Contains(types, goArray) {
		types = slices.DeleteFunc(types, func(t reflect.Type) bool { return t == goEmpty })
	}
	switch {
	case len(types) > 1:
		return anyType("values of other types, too")
	case types[0] == goRecords:
		elem := newGoType(s.Items, required)
		return &goType{typ: reflect.SliceOf(elem.typ), elem: elem, hasSlice: true}
	case types[0] == goEmpty:
		return &goType{typ: goArray}
	case types[0] != goRecord:
		return &goType{typ: types[0]}
	case s.Keys != nil:
		return &goType{typ: goDictionary}
	}
	g, all := &goType{}, []reflect.StructField{}
	used := map[string]bool{"Rest": true}
	for _, one := range s.inOrder() {
		in, option := newGoType(one, required), ""
		switch {
		case one.count == s.containers && required:
			option = ",required"
		case one.count == s.containers:
		case in.typ == goAny && slices.Contains(one.Types, nilName):
			return noStruct()
		default:
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
	if g.fields == nil {
		return noStruct()
	}
	g.typ = reflect.StructOf(append(all, reflect.StructField{Name: "Rest", Type: goDictionary, Tag: restTag}))
	return g
}

// inOrder returns the fields of records in an order common to all records, or nil if there is none.
func (s *Shape) inOrder() (all []*Shape) {
	isAdded := map[*Shape]bool{} // false for fields waiting for the fields before them
	var add func(fields []*Shape) bool
	add = func(fields []*Shape) bool {
		for _, f := range fields {
			added, known := isAdded[f]
			if added {
				continue
			}
			if isAdded[f] = false; known || !add(f.after) {
				return false
			}
			isAdded[f] = true
			all = append(all, f)
		}
		return true
	}
	if !add(s.ordered) {
		return nil
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
	for part := range strings.SplitSeq(key, "_") {
		if part == "id" || part == "hp" || part == "mp" {
			part = strings.ToUpper(part)
		} else if part != "" {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	name := b.String()
	if name == "" || !token.IsExported(name) {
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
	return reflect.StructTag(fmt.Sprintf("gd:%q", key+option))
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

// rootName returns the name of the type of a value, and declares a struct, or the elements of a slice of structs,
// by the given name.
func (p *structPrinter) rootName(w *bytes.Buffer, name string, g *goType) string {
	switch {
	case g.elem != nil:
		return "[]" + p.rootName(w, name, g.elem)
	case g.fields != nil:
		p.declare(w, name, g)
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
