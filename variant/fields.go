package variant

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/values/text"
)

// The fields of structs, and what package gdscript asks about them.

// structFields contains the encoded fields of a struct.
type structFields struct {
	all    []field
	byName map[string]int // index in all, also of old names
	bits   uint64         // nameBit of all names: -12 % of Marshal of structs with embed
	array  bool           // the struct is positional
	union  bool           // all fields are pointers to structs with omitzero: one of them is a message
	embed  *field         // collects unknown keys, or nil
	// required is the index in all after the last field with the option required, or 0 if there is none.
	required int
}

// names iterates over the names of the fields.
func (s *structFields) names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range s.all {
			if !yield(s.all[i].name) {
				return
			}
		}
	}
}

// A field is an encoded field of a struct.
type field struct {
	tag
	index  []int  // for reflect.Value.FieldByIndex
	goName string // such as "Player.HP"
	typ    reflect.Type
	// isZero calls the method IsZero of the type for omitzero, or is nil if there is no such
	// method.
	isZero func(reflect.Value) bool
}

// A tag is a parsed gd tag.
type tag struct {
	name     string
	omitZero bool
	required bool
	embed    bool
	array    bool
	was      []string    // the old names of was=
	max      int         // the maximum length of max=, or 0
	wire     gdwire.Type // the type of type=, or 0
	// key and elem are the declared types in type=, such as Array[int].
	key, elem gdwire.Elem
}

// isTyped reports whether type= declares types.
func (t *tag) isTyped() bool { return t.key != gdwire.Elem{} || t.elem != gdwire.Elem{} }

// typeText returns the text of type=.
func (t *tag) typeText() string {
	if !t.isTyped() {
		return t.wire.String()
	}
	return text.Value{Type: t.wire, Form: text.Declared, Key: t.key, Elem: t.elem}.String()
}

// parseTag parses the value of a gd tag: a name, possibly empty or in single quotes, and options.
func parseTag(s string) (t tag, err error) {
	if strings.HasPrefix(s, "'") {
		if t.name, s, err = cutQuoted(s); err != nil {
			return t, err
		}
	} else {
		end := strings.IndexByte(s, ',')
		if end < 0 {
			end = len(s)
		}
		t.name, s = s[:end], s[end:]
	}
	if s == "" {
		return t, nil
	}
	if s[0] != ',' {
		return t, fmt.Errorf("tag has %q after the name", s)
	}
	for more := true; more; {
		var option string
		option, s, more = cutOption(s[1:])
		name, value, _ := strings.Cut(option, "=")
		switch {
		case option == "omitzero":
			t.omitZero = true
		case option == "required":
			t.required = true
		case option == "embed":
			t.embed = true
		case option == "array":
			t.array = true
		case name == "was" && value != "":
			t.was = append(t.was, value)
		case name == "max":
			if t.max, err = strconv.Atoi(value); err != nil || t.max < 1 {
				return t, fmt.Errorf("tag has the invalid option %q", option)
			}
		case name == "type":
			if err := t.parseType(value); err != nil {
				return t, err
			}
		default:
			return t, fmt.Errorf("tag has unknown option %q", option)
		}
	}
	return t, nil
}

// cutOption returns the option at the start of s and the rest of s from the comma after it, if there
// is one. A comma in brackets belongs to a type.
func cutOption(s string) (option, rest string, more bool) {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case depth > 0 && (c == '"' || c == '\''):
			quote = c
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			return s[:i], s[i:], true
		}
	}
	return s, "", false
}

// parseType parses the text of type=: the name of a type, or a container with declared types in the
// syntax of the command gdwire.
func (t *tag) parseType(name string) error {
	if t.wire = typeNamed(name); t.wire != 0 {
		return nil
	}
	if !strings.Contains(name, "[") {
		return fmt.Errorf("tag has unknown type %q", name)
	}
	v, err := text.ParseDeclared(name)
	if err != nil {
		return fmt.Errorf("tag has unknown type %w", err)
	}
	t.wire, t.key, t.elem = v.Type, v.Key, v.Elem
	return nil
}

// cutQuoted returns the name in single quotes at the start of s, with the escape sequences of
// Go, and the rest of s.
func cutQuoted(s string) (name, rest string, err error) {
	quoted := []byte{'"'}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'':
			if name, err = strconv.Unquote(string(append(quoted, '"'))); err != nil {
				return "", "", fmt.Errorf("tag has the invalid name %s", s[:i+1])
			}
			return name, s[i+1:], nil
		case c == '\\' && i+1 < len(s):
			if i++; s[i] != '\'' {
				quoted = append(quoted, '\\')
			}
			quoted = append(quoted, s[i])
		case c == '"':
			quoted = append(quoted, `\"`...)
		default:
			quoted = append(quoted, c)
		}
	}
	return "", "", fmt.Errorf("tag %q has no closing quote", s)
}

// typeNamed returns the type with the given name, or 0 if there is none.
func typeNamed(name string) gdwire.Type {
	for _, t := range gdwire.Types() {
		if t.String() == name {
			return t
		}
	}
	return 0
}

// fieldsOf returns the encoded fields of a struct type, in the order of their declaration. If
// fields have the same name, fieldsOf selects the field in the fewest embedded structs, as Go
// does, and therefore visits embedded structs level by level.
func fieldsOf(t reflect.Type) (*structFields, error) {
	s := &structFields{byName: map[string]int{}}
	level := []embedded{{typ: t}}
	seen := map[reflect.Type]bool{}
	for len(level) > 0 {
		var next []embedded
		first := len(s.all)
		for _, e := range level {
			seen[e.typ] = true
		}
		for _, e := range level {
			n, isLost := e.typ.NumField(), true
			for i := range n {
				f := e.typ.Field(i)
				inner, err := s.add(e, f, first)
				if err != nil {
					return nil, fmt.Errorf("%v.%s: %w", e.typ, f.Name, err)
				}
				if inner.typ != nil && !seen[inner.typ] {
					next = append(next, inner)
				}
				_, isTagged := f.Tag.Lookup("gd")
				isLost = isLost && !isTagged && !f.IsExported() && inner.typ == nil
			}
			if isLost && n > 0 {
				return nil, fmt.Errorf("%v has no exported fields: give it methods, or the field that holds it the tag `gd:\"-\"`", e.typ)
			}
		}
		level = next
	}
	if s.array && s.embed != nil {
		return nil, fmt.Errorf("%s: embed in a positional struct", s.embed.goName)
	}
	for i := range s.all { // most are in order: slices.SortFunc would add 40 KB to programs
		for ; i > 0 && slices.Compare(s.all[i].index, s.all[i-1].index) < 0; i-- {
			s.all[i], s.all[i-1] = s.all[i-1], s.all[i]
		}
	}
	s.union = len(s.all) > 0 && s.embed == nil && !s.array
	for i := range s.all {
		f := &s.all[i]
		s.byName[f.name] = i
		s.bits |= nameBit(f.name)
		for _, name := range f.was { // read as the field, and never written
			if _, ok := s.byName[name]; ok {
				return nil, fmt.Errorf("%s: was=%s is the name of another field", f.goName, name)
			}
			s.byName[name] = i
			s.bits |= nameBit(name)
		}
		if f.required {
			s.required = i + 1
		}
		s.union = s.union && f.omitZero && f.typ.Kind() == reflect.Pointer && f.typ.Elem().Kind() == reflect.Struct && !isValueType(f.typ.Elem())
	}
	return s, nil
}

// nameBit returns the bit for a name in structFields.bits. A name without its bit set names no field.
func nameBit[S string | []byte](name S) uint64 {
	n := uint(len(name))
	if n == 0 {
		return 1
	}
	return 1 << ((n + 5*uint(name[0]) + 3*uint(name[n-1])) & 63)
}

// An embedded is a struct visited by fieldsOf: the struct itself, or an embedded struct. Its
// fields count as fields of the outer struct.
type embedded struct {
	typ   reflect.Type
	index []int
}

// add adds field f of e to s. If f is an embedded struct, add returns f instead. The
// fields in s.all from index first are at the same depth as f.
func (s *structFields) add(e embedded, f reflect.StructField, first int) (inner embedded, err error) {
	text, tagged := f.Tag.Lookup("gd")
	if text == ignoredTag {
		return inner, nil
	}
	t, err := parseTag(text)
	if err != nil {
		return inner, err
	}
	index := slices.Concat(e.index, f.Index)
	switch {
	case f.Name == "_":
		if t.array {
			if len(index) > 1 {
				return inner, fmt.Errorf("option array in an embedded struct")
			}
			s.array = true
		}
		return inner, nil
	case t.array:
		return inner, fmt.Errorf("option array on a field that is not named _")
	case f.Anonymous && t.name == "" && !t.embed:
		return s.inline(f, index, t)
	case !f.IsExported():
		if tagged {
			return inner, fmt.Errorf("tag on a field that is not exported")
		}
		return inner, nil
	}
	if t.name == "" {
		t.name = snakeCase(f.Name)
	}
	added := field{tag: t, index: index, goName: typeName(e.typ) + "." + f.Name, typ: f.Type}
	if t.embed {
		return inner, s.setEmbed(added)
	}
	if t.omitZero && t.required {
		return inner, fmt.Errorf("required together with omitzero")
	}
	if k := f.Type.Kind(); t.max > 0 && (k != reflect.String && k != reflect.Slice && k != reflect.Map || hasMethods(f.Type)) {
		return inner, fmt.Errorf("max=%d on %v, no string, slice or map without methods", t.max, f.Type)
	}
	if t.omitZero {
		added.isZero = isZeroMethod(f.Type)
	}
	if i, ok := s.byName[t.name]; ok {
		if i >= first {
			return inner, fmt.Errorf("%s has the same name %q", s.all[i].goName, t.name)
		}
		return inner, nil // hidden by a field at a lower depth
	}
	s.byName[t.name] = len(s.all)
	s.all = append(s.all, added)
	return inner, nil
}

// inline checks and returns an embedded struct.
func (s *structFields) inline(f reflect.StructField, index []int, t tag) (embedded, error) {
	typ := f.Type
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
		if !f.IsExported() {
			return embedded{}, fmt.Errorf("embedded pointer to a struct that is not exported")
		}
	}
	if typ.Kind() != reflect.Struct || isValueType(typ) {
		if !f.IsExported() {
			return embedded{}, nil
		}
		return embedded{}, fmt.Errorf("embedded %v needs a name in its tag", typ)
	}
	if t.omitZero || t.required || t.wire != 0 || t.max > 0 || t.was != nil {
		return embedded{}, fmt.Errorf("options on an embedded struct without a name")
	}
	return embedded{typ, index}, nil
}

// isValueType reports whether a struct type is encoded as one value, and not as a
// Dictionary of its fields.
func isValueType(t reflect.Type) bool {
	return ownTypeOf(t) != nil || hasMethods(t)
}

// setEmbed makes f the field for unknown keys.
func (s *structFields) setEmbed(f field) error {
	isMap := f.typ.Kind() == reflect.Map && f.typ.Key().Kind() == reflect.String && !hasMethods(f.typ.Key())
	switch {
	case !isMap && f.typ != reflect.TypeFor[*Dictionary]():
		return fmt.Errorf("embed on %v, neither *Dictionary nor a map of string keys", f.typ)
	case f.omitZero || f.required || f.wire != 0 || f.max > 0 || f.was != nil:
		return fmt.Errorf("embed together with another option")
	case s.embed != nil:
		return fmt.Errorf("%s has embed, too", s.embed.goName)
	}
	s.embed = &f
	return nil
}

// isZeroMethod returns a function that calls the IsZero method of t, or nil if there is none. A nil
// pointer or interface is zero, because the method could panic.
func isZeroMethod(t reflect.Type) func(reflect.Value) bool {
	type isZeroer interface{ IsZero() bool }
	switch p := reflect.TypeFor[isZeroer](); {
	case t.Kind() == reflect.Interface && t.Implements(p):
		return func(v reflect.Value) bool {
			return v.IsNil() || v.Elem().Kind() == reflect.Pointer && v.Elem().IsNil() || v.Interface().(isZeroer).IsZero()
		}
	case t.Kind() == reflect.Interface:
		return nil
	case t.Kind() == reflect.Pointer && t.Implements(p):
		return func(v reflect.Value) bool { return v.IsNil() || v.Interface().(isZeroer).IsZero() }
	case reflect.PointerTo(t).Implements(p):
		return func(v reflect.Value) bool { return v.Addr().Interface().(isZeroer).IsZero() }
	}
	return nil
}

// typeName returns a struct type's name without its package.
func typeName(t reflect.Type) string {
	if t.Name() == "" {
		return "struct"
	}
	return t.Name()
}

// throughPointer reports whether a field is in a struct embedded as a pointer.
func throughPointer(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// fieldOf returns the field of v at index, and false if a nil pointer is embedded on the
// way to it.
func fieldOf(v reflect.Value, index []int) (reflect.Value, bool) {
	for _, i := range index[:len(index)-1] {
		v = v.Field(i)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
	}
	return v.Field(index[len(index)-1]), true
}

// tagError returns the error for a type= in a tag that does not fit t.
func tagError(t reflect.Type, wire gdwire.Type) error {
	return (&tag{wire: wire}).error(t)
}

// error returns the error for a type= that does not fit the Go type g.
func (t *tag) error(g reflect.Type) error {
	return fmt.Errorf("type=%s does not fit Go %v", t.typeText(), g)
}

// Internal is for the other packages of this module, and no part of the API: methods can change at any time.
var Internal exporter

type exporter struct{}

// Export returns the calls for package gdscript, and panics as Export of [gdwire.Internal] does.
func (exporter) Export(p *internal.NotForPublicUse) exported {
	_ = gdwire.Internal.Export(p)
	return exported{}
}

type exported struct{}

// Fields returns the fields of a struct type, and whether a value is one of them. The field with the option embed is the last.
func (exported) Fields(t reflect.Type) (all []internal.Field, isUnion bool, err error) {
	s, err := fieldsOf(t)
	if err != nil {
		return nil, false, err
	}
	if s.embed != nil {
		s.all = append(s.all, *s.embed)
	}
	for _, f := range s.all {
		as := ""
		if f.wire != 0 {
			as = f.typeText()
		}
		all = append(all, internal.Field{Key: f.name, GoName: f.goName, As: as, Type: f.typ, OmitZero: f.omitZero, Required: f.required, Embed: f.embed, Was: f.was, Max: f.max})
	}
	return all, s.union, nil
}

// SnakeCase returns the key of a field with this name.
func (exported) SnakeCase(name string) string { return snakeCase(name) }
