package saves

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/variant"
)

// Struct defines the flags of struct.
func Struct(f *shell.Flags) shell.Action {
	p := &typeMaker{open: open.Flags{NonEmpty: true}}
	p.open.ReadFlags(f, true)
	f.OutputFlag()
	f.StringVar(&p.goPackage, "package", "main", "`NAME` of the package")
	f.StringVar(&p.goType, "type", "Save", "`NAME` of the type")
	f.BoolVar(&p.required, "required", false, "require keys that all files have: decoding another save without one is an error")
	return shell.Action{Check: p.check, Run: func(s *shell.Stdio) error { return p.run(s, f.Operands) }}
}

// A typeMaker prints Go types for saves.
type typeMaker struct {
	open              open.Flags
	goPackage, goType string
	required          bool // -required
}

func (p *typeMaker) check() error {
	if !token.IsIdentifier(p.goPackage) || !token.IsExported(p.goType) || !token.IsIdentifier(p.goType) {
		return errors.New("-package and -type take names of Go, and a type begins with a capital letter")
	}
	return nil
}

// maxFields is the maximum number of keys of a Dictionary that becomes a struct. More are data.
const maxFields = 64

// maxPositions is the maximum number of values of a file that get types. More are packets or a log.
const maxPositions = 16

// A position is one of the values that each save contains.
type position struct {
	values []any // one of each save
	shape  *shape
}

// run prints Go types for saves. Their types are proved: every save is decoded into them and
// encoded again, and a field that does not give the same bytes becomes an any.
func (p *typeMaker) run(s *shell.Stdio, names []string) error {
	var all []*position
	for i, name := range names {
		values, err := p.values(s, name)
		if err != nil {
			return err
		}
		if i == 0 {
			all = make([]*position, len(values))
		}
		if len(values) != len(all) {
			return fmt.Errorf("%s and %s contain %d and %d values: print types for saves with the same number of values",
				names[0], name, len(all), len(values))
		}
		for i, v := range values {
			if all[i] == nil {
				all[i] = &position{shape: shapeOf(v)}
			} else {
				all[i].shape = all[i].shape.merge(shapeOf(v))
			}
			all[i].values = append(all[i].values, v)
		}
	}
	could := hasStruct(all)
	for _, one := range all {
		if p.required {
			one.shape.require()
		}
		if err := one.shape.prove(one.values); err != nil {
			return err
		}
	}
	switch {
	case !could:
		return errors.New("the saves contain no Dictionary with names as keys, which could be a struct")
	case !hasStruct(all):
		return errors.New("no struct encodes these saves as the same bytes: a key is null in one and missing in another, or the order of keys differs")
	}
	return p.print(s.Out, len(names), all)
}

// hasStruct reports whether the type of a position declares a struct.
func hasStruct(all []*position) bool {
	return slices.ContainsFunc(all, func(p *position) bool { return p.shape.fields != nil || p.shape.elem != nil })
}

// values returns the values of a file as trees.
func (p *typeMaker) values(s *shell.Stdio, name string) (all []any, err error) {
	in, err := p.open.Open(s, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	if err := in.CheckEnd(); err != nil {
		return nil, err
	}
	kept := true
	for p := range in.Packets(in) {
		var v any
		var raw variant.Raw
		if err = p.Err; err == nil {
			err = p.Finish(variant.UnmarshalDecode(p.Decoder, &raw))
		}
		if err == nil {
			err = raw.Unmarshal(&v, variant.Options{Decoder: in.Decoder})
		}
		if err != nil {
			return nil, shell.Prefixed(in.Name, err)
		}
		if all = append(all, v); len(all) > maxPositions {
			return nil, fmt.Errorf("%s contains more than %d values, which would each need a type: if they are packets, write one of them to a file of its own", in.Name, maxPositions)
		}
		eo := gdwire.EncoderOptions{Format: raw.Format, DoubleReals: raw.DoubleReals(), AllowInvalidUTF8: true, Depth: -1}
		data, err := variant.Marshal(v, variant.Options{Encoder: eo})
		kept = kept && err == nil && bytes.Equal(data, raw.Data)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s is empty", in.Name)
	}
	if !kept {
		s.Infof("%s contains bytes that no Go value keeps, such as a key twice; its values are kept", in.Name)
	}
	return all, nil
}

// A shape is the Go type of values.
type shape struct {
	typ    reflect.Type // if it is neither a struct nor a slice of structs
	fields []*field     // of a struct
	elem   *shape       // of a slice
	empty  bool         // of an Array without elements, which fits any slice
	why    string       // why it is an any
}

// A field is a field of a struct.
type field struct {
	key, name string
	tag       string // options of the tag
	*shape
}

var anyType = reflect.TypeFor[any]()

// anyShape returns the shape of values without a common type.
func anyShape(why string) *shape { return &shape{typ: anyType, why: why} }

// shapeOf returns the shape of a tree.
func shapeOf(v any) *shape {
	switch v := v.(type) {
	case nil, *variant.Object:
		return anyShape("")
	case *variant.Array:
		return arrayShape(v)
	case *variant.Dictionary:
		return structShape(v)
	default:
		return &shape{typ: reflect.TypeOf(v)}
	}
}

// arrayShape returns a slice of structs for an Array of Dictionaries, and otherwise an Array.
func arrayShape(a *variant.Array) *shape {
	var elem *shape
	for i, v := range a.Values {
		if one := shapeOf(v); i == 0 {
			elem = one
		} else {
			elem = elem.merge(one)
		}
		if elem.fields == nil {
			break
		}
	}
	if elem == nil || elem.fields == nil || a.Elem != (gdwire.Elem{}) {
		return &shape{typ: reflect.TypeFor[*variant.Array](), empty: len(a.Values) == 0 && a.Elem == gdwire.Elem{}}
	}
	return &shape{elem: elem}
}

// structShape returns a struct for a Dictionary with names as keys, and otherwise a Dictionary.
func structShape(d *variant.Dictionary) *shape {
	s := &shape{fields: []*field{}}
	used := map[string]bool{"Rest": true}
	for key, v := range d.All() {
		name, ok := key.(string)
		if !ok || !isName(name) || d.Len() > maxFields || d.Key != (gdwire.Elem{}) || d.Value != (gdwire.Elem{}) {
			return &shape{typ: reflect.TypeFor[*variant.Dictionary]()}
		}
		f := &field{key: name, name: goName(name, used), shape: shapeOf(v)}
		s.fields = append(s.fields, f)
	}
	if len(s.fields) == 0 {
		return &shape{typ: reflect.TypeFor[*variant.Dictionary]()}
	}
	return s
}

// isName reports whether a key is a name in paths, as variables of a game are.
func isName(key string) bool {
	step := text.Step{Key: text.Value{Type: gdwire.TypeString, Text: key}}
	return step.Append(nil)[0] == '.'
}

// goName returns the name of a field for a key, other than those that are used.
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

// merge returns the shape of values of both shapes.
func (s *shape) merge(other *shape) *shape {
	switch {
	case s.fields != nil && other.fields != nil:
		return s.mergeFields(other)
	case s.elem != nil && other.elem != nil:
		if elem := s.elem.merge(other.elem); elem.fields != nil {
			return &shape{elem: elem}
		}
	case s.elem != nil && other.empty:
		return s
	case s.empty && other.elem != nil:
		return other
	case s.typ != nil && s.typ == other.typ:
		return &shape{typ: s.typ, empty: s.empty && other.empty, why: s.why}
	}
	return anyShape("values of other types, too")
}

// mergeFields merges two structs. Fields that one of them lacks are omitted if they are zero.
func (s *shape) mergeFields(other *shape) *shape {
	merged := &shape{}
	used := map[string]bool{"Rest": true}
	at := 0
	add := func(f *field, shape *shape, optional bool) {
		one := &field{key: f.key, name: goName(f.key, used), tag: f.tag, shape: shape}
		if optional {
			one.tag = ",omitzero"
		}
		merged.fields = append(merged.fields, one)
	}
	for _, f := range s.fields {
		i := slices.IndexFunc(other.fields, func(o *field) bool { return o.key == f.key })
		for ; at < i; at++ { // fields of the other before it
			if o := other.fields[at]; s.field(o.key) == nil {
				add(o, o.shape, true)
			}
		}
		if i < 0 {
			add(f, f.shape, true)
			continue
		}
		at = max(at, i+1)
		o := other.fields[i]
		add(f, f.merge(o.shape), f.tag != "" || o.tag != "")
	}
	for _, o := range other.fields[at:] {
		if s.field(o.key) == nil {
			add(o, o.shape, true)
		}
	}
	return merged
}

// field returns the field of a key, or nil.
func (s *shape) field(key string) *field {
	i := slices.IndexFunc(s.fields, func(f *field) bool { return f.key == key })
	if i < 0 {
		return nil
	}
	return s.fields[i]
}

// require marks the fields whose keys are in all values. It is called after the last merge, because a
// field with a tag is one that some values lack there.
func (s *shape) require() {
	if s.elem != nil {
		s.elem.require()
	}
	for _, f := range s.fields {
		if f.tag == "" {
			f.tag = ",required"
		}
		f.require()
	}
}

// goType returns the Go type, for the proof.
func (s *shape) goType() reflect.Type {
	switch {
	case s.typ != nil:
		return s.typ
	case s.elem != nil:
		return reflect.SliceOf(s.elem.goType())
	}
	var all []reflect.StructField
	for _, f := range s.fields {
		all = append(all, reflect.StructField{Name: f.name, Type: f.goType(), Tag: reflect.StructTag(f.goTag())})
	}
	rest := reflect.StructField{Name: "Rest", Type: reflect.TypeFor[*variant.Dictionary](), Tag: restTag}
	return reflect.StructOf(append(all, rest))
}

// restTag is the tag of the field for unknown keys.
const restTag = `gd:",embed"`

// goTag returns the tag of a field, with its key if the name does not give it.
func (f *field) goTag() string {
	key := f.key
	one := reflect.New(reflect.StructOf([]reflect.StructField{{Name: f.name, Type: reflect.TypeFor[bool]()}}))
	var tree any
	if data, err := variant.Marshal(one.Interface()); err == nil && variant.Unmarshal(data, &tree) == nil {
		if _, ok := tree.(*variant.Dictionary).Get(key); ok {
			key = ""
		}
	}
	if key+f.tag == "" {
		return ""
	}
	return fmt.Sprintf("gd:%q", key+f.tag)
}

// prove decodes and encodes all saves, and replaces shapes that do not give the same bytes.
func (s *shape) prove(saves []any) error {
	for {
		var blamed bool
		for _, v := range saves {
			same, err := s.proveOne(v)
			if err != nil {
				return err
			}
			blamed = blamed || !same
		}
		if !blamed {
			return nil
		}
	}
}

// proveOne reports whether a save is the same after decoding and encoding. Otherwise it replaces the
// shape of a value in it.
func (s *shape) proveOne(v any) (bool, error) {
	want, err := variant.Marshal(v, treeOptions)
	if err != nil {
		return false, err
	}
	variable := reflect.New(s.goType())
	o := treeOptions
	o.Decoder.AllowObjects, o.Decoder.AllowInvalidUTF8 = true, true
	var again any
	if err = variant.Unmarshal(want, variable.Interface(), o); err == nil {
		var got []byte
		if got, err = variant.Marshal(variable.Interface(), treeOptions); err == nil {
			if bytes.Equal(got, want) {
				return true, nil
			}
			err = variant.Unmarshal(got, &again, o)
		}
	}
	if err != nil {
		return false, fmt.Errorf("no type fits: %w", err)
	}
	if !s.blame(v, again) {
		return false, errors.New("no type encodes the same bytes")
	}
	return false, nil
}

// blame replaces the shape of the deepest value in v that has become another one.
func (s *shape) blame(v, again any) bool {
	a, err := variant.Marshal(v, treeOptions)
	b, failed := variant.Marshal(again, treeOptions)
	if err == nil && failed == nil && bytes.Equal(a, b) {
		return false
	}
	if d, ok := v.(*variant.Dictionary); ok && s.fields != nil {
		if e, ok := again.(*variant.Dictionary); ok {
			for _, f := range s.fields {
				x, was := d.Get(f.key)
				y, is := e.Get(f.key)
				if was && !is && f.typ == anyType { // null, which omitzero omits
					break
				}
				if was && !is { // a zero that was omitted
					f.shape = anyShape("zero in some saves, and missing in others")
					return true
				}
				if was && f.blame(x, y) {
					return true
				}
			}
		}
	}
	if x, ok := v.(*variant.Array); ok && s.elem != nil {
		if y, ok := again.(*variant.Array); ok && len(x.Values) == len(y.Values) {
			for i := range x.Values {
				if s.elem.blame(x.Values[i], y.Values[i]) {
					return true
				}
			}
		}
	}
	switch {
	case s.typ == anyType:
		return false
	case s.fields != nil:
		*s = shape{typ: reflect.TypeFor[*variant.Dictionary](), why: "no struct gives back the same bytes"}
	default:
		*s = *anyShape("no other type gives back the same bytes")
	}
	return true
}

// print prints the types of the positions. If there are several, each type has the number of its value in
// its name, and a comment shows how they are read.
func (p *typeMaker) print(w io.Writer, saves int, all []*position) error {
	t := &structPrinter{used: map[string]bool{}}
	names := []string{p.goType}
	if len(all) > 1 {
		names = nil
		for i := range all {
			names = append(names, p.goType+strconv.Itoa(i+1))
		}
	}
	for _, name := range names {
		t.used[name] = true
	}
	var body, use bytes.Buffer
	var pointers []string
	for i, one := range all {
		text := t.rootName(&body, names[i], one.shape)
		fmt.Fprintf(&use, "//\tvar v%d %s\n", i+1, text)
		pointers = append(pointers, fmt.Sprint("&v", i+1))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Made by gdwire struct. Unmarshal and Marshal gave back %d of %[1]d saves byte by byte.\n", saves)
	if len(all) > 1 || all[0].shape.elem != nil {
		fmt.Fprintf(&b, "//\n// To read a save, a File of package savefile:\n//\n%s//\terr := file.Unmarshal(%s)\n", &use, strings.Join(pointers, ", "))
	}
	fmt.Fprintf(&b, "\npackage %s\n\nimport \"github.com/gdwire/gdwire/variant\"\n", p.goPackage)
	b.Write(body.Bytes())
	source, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(source)
	return err
}

// A structPrinter prints declarations of types.
type structPrinter struct{ used map[string]bool }

// declare prints the declaration of a struct, and after it those of its fields.
func (p *structPrinter) declare(w *bytes.Buffer, name string, s *shape) {
	p.used[name] = true
	var inner bytes.Buffer
	fmt.Fprintf(w, "\ntype %s struct {\n", name)
	for _, f := range s.fields {
		text := ""
		if tag := f.goTag(); tag != "" {
			text = " `" + tag + "`"
		}
		if f.why != "" {
			text += " // " + f.why
		}
		fmt.Fprintf(w, "\t%s %s%s\n", f.name, p.typeName(&inner, f.name, f.shape), text)
	}
	fmt.Fprintf(w, "\tRest *variant.Dictionary `%s`\n}\n", restTag)
	w.Write(inner.Bytes())
}

// rootName returns the name of the type of a value, and declares it by the given name if it is a struct, or a
// slice of structs.
func (p *structPrinter) rootName(w *bytes.Buffer, name string, s *shape) string {
	switch {
	case s.elem != nil:
		return "[]" + p.rootName(w, name, s.elem)
	case s.fields != nil:
		p.declare(w, name, s)
		return name
	}
	return p.typeName(w, name, s)
}

// typeName returns the name of the type of a field, and declares it if it is a struct.
func (p *structPrinter) typeName(w *bytes.Buffer, name string, s *shape) string {
	switch {
	case s.elem != nil:
		return "[]" + p.typeName(w, strings.TrimSuffix(name, "s"), s.elem)
	case s.fields == nil:
		return strings.NewReplacer("interface {}", "any", "uint8", "byte").Replace(s.typ.String())
	}
	for p.used[name] || name == "variant" {
		name += "_"
	}
	p.declare(w, name, s)
	return name
}
