// Package structs contains the command that prints Go types for saved games.
package structs

import (
	"bytes"
	"fmt"
	"go/token"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/variant"
)

// From values to shapes, and from these to declarations of Go types.

// The Go types of values of several types, Arrays and Dictionaries. goRecord is for Dictionaries that can be structs,
// goRecords for Arrays of these, and goEmpty for empty Arrays, of either kind.
var (
	goAny        = reflect.TypeFor[any]()
	goArray      = reflect.TypeFor[*variant.Array]()
	goDictionary = reflect.TypeFor[*variant.Dictionary]()
	goRecord     = reflect.TypeFor[struct{}]()
	goRecords    = reflect.TypeFor[[]struct{}]()
	goEmpty      = reflect.TypeFor[[0]struct{}]()
)

// goValues contains a value of the Go type for each other type.
var goValues = [...]any{
	gdwire.TypeBool: false, gdwire.TypeInt: int64(0), gdwire.TypeFloat: 0.0,
	gdwire.TypeString: "", gdwire.TypeStringName: variant.StringName(""), gdwire.TypeNodePath: variant.NodePath(""),
	gdwire.TypeVector2: variant.Vector2{}, gdwire.TypeVector3: variant.Vector3{}, gdwire.TypeVector4: variant.Vector4{},
	gdwire.TypeVector2i: variant.Vector2i{}, gdwire.TypeVector3i: variant.Vector3i{}, gdwire.TypeVector4i: variant.Vector4i{},
	gdwire.TypeRect2: variant.Rect2{}, gdwire.TypeRect2i: variant.Rect2i{}, gdwire.TypeTransform2D: variant.Transform2D{},
	gdwire.TypePlane: variant.Plane{}, gdwire.TypeQuaternion: variant.Quaternion{}, gdwire.TypeAABB: variant.AABB{},
	gdwire.TypeBasis: variant.Basis{}, gdwire.TypeTransform3D: variant.Transform3D{}, gdwire.TypeProjection: variant.Projection{},
	gdwire.TypeColor: variant.Color{}, gdwire.TypeRID: variant.RID(0), gdwire.TypeObject: variant.ObjectID(0),
	gdwire.TypeCallable: variant.Callable{}, gdwire.TypeSignal: variant.Signal{}, gdwire.TypePackedByteArray: []byte{},
	gdwire.TypePackedInt32Array: []int32{}, gdwire.TypePackedInt64Array: []int64{}, gdwire.TypePackedFloat32Array: []float32{},
	gdwire.TypePackedFloat64Array: []float64{}, gdwire.TypePackedStringArray: []string{}, gdwire.TypePackedVector2Array: []variant.Vector2{},
	gdwire.TypePackedVector3Array: []variant.Vector3{}, gdwire.TypePackedColorArray: []variant.Color{}, gdwire.TypePackedVector4Array: []variant.Vector4{},
	gdwire.TypeImage: variant.Image{}, gdwire.TypeInputEvent: variant.InputEvent{},
}

// goTypeOf returns the Go type of the value starting with t, except for containers, and reports whether the value is zero.
func goTypeOf(d *gdwire.Decoder, t gdwire.Token) (typ reflect.Type, isZero bool) {
	typ = reflect.TypeOf(goValues[t.Type()])
	switch t.Kind() {
	case gdwire.KindNil:
		return goAny, true
	case gdwire.KindPackedStart: // an empty slice is not nil
		return typ, false
	case gdwire.KindNodePathStart:
		names, subnames, absolute := t.NodePath()
		if names > 0 {
			t, _ = d.ReadToken() // in old formats, the name is the whole path; an error stays
		}
		return typ, names <= 1 && subnames == 0 && !absolute && t.Len() <= 0
	}
	isZero = !t.Bool() && t.Int() == 0 && math.Float64bits(t.Float()) == 0 && t.ID() == 0
	return typ, isZero && t.Len() == 0 && len(bytes.Trim(t.Bytes(), "\x00")) == 0
}

// A shape describes the values at one path in several saves.
type shape struct {
	types   []reflect.Type // of the values
	hasNil  bool           // one of the values is null
	hasZero bool           // one of the values is the zero value of its type
	isTop   bool           // the values are inside no others
	items   *shape         // the elements of Arrays

	isData     bool              // the Dictionaries are data, and no records
	containers int               // the number of Dictionaries
	fields     map[string]*shape // the values of text keys
	ordered    []*shape          // the fields, as found
	other      *shape            // the values of all other keys, or nil
	previous   *shape            // the latest field, or other

	// Of a field:
	name     string
	count    int      // containers with a value
	latest   int      // the number of the last container with a value
	after    []*shape // the fields directly before this field
	isBarred bool     // the key cannot be that of a field of a struct
}

// The maximum number of fields: of a Dictionary at the top, where others stay keys, and of other Dictionaries, which are data
// if they contain more. They bound the time for hostile saves.
const (
	maxTopFields = 1024
	maxFields    = 64
)

// A saves contains the shapes of several saves. Each save can contain several values.
type saves struct {
	count  int
	values []*shape
}

// maxPositions is the maximum number of values of a file. More are packets or a log.
const maxPositions = 16

// add adds the values of a save, and returns their number.
func (all *saves) add(in *open.Input, r io.Reader) (n int, err error) {
	for p := range in.Packets(r) {
		if n == len(all.values) {
			all.values = append(all.values, &shape{isTop: true})
		}
		err := p.Err
		if err == nil {
			_, _, err = all.values[n].read(p.Decoder)
			err = p.Finish(err)
		}
		if err != nil {
			return n, shell.Prefixed(in.Name, err)
		}
		if n++; n > maxPositions {
			return n, fmt.Errorf("%s contains more than %d values, which would each need a type: if they are packets, write one of them to a file of its own", in.Name, maxPositions)
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("%s is empty", in.Name)
	}
	all.count++
	return n, nil
}

// read adds the next value, returns its Go type, and reports whether the value is zero.
func (s *shape) read(d *gdwire.Decoder) (typ reflect.Type, isZero bool, err error) {
	depth := d.Depth()
	t, err := d.ReadToken()
	if err != nil {
		return nil, false, err
	}
	switch t.Kind() {
	case gdwire.KindArrayStart:
		typ, err = s.readArray(d, t)
	case gdwire.KindDictStart:
		typ = goRecord
		isZero, err = s.readDictionary(d, t)
	case gdwire.KindObjectStart:
		typ = goAny
	default:
		typ, isZero = goTypeOf(d, t)
	}
	if !slices.Contains(s.types, typ) {
		s.types = append(s.types, typ)
	}
	s.hasNil, s.hasZero = s.hasNil || t.Kind() == gdwire.KindNil, s.hasZero || isZero
	if err == nil && (d.Depth() > depth || t.Kind() == gdwire.KindStringChunk && !t.Last()) {
		err = d.SkipTo(depth)
	}
	return typ, isZero, err
}

// isTyped reports whether an Array or Dictionary has declared types.
func isTyped(t gdwire.Token) bool {
	return len(t.Bytes()) > 0
}

// readArray adds the elements of an Array. If all are records, the type is a slice.
func (s *shape) readArray(d *gdwire.Decoder, t gdwire.Token) (typ reflect.Type, err error) {
	switch {
	case isTyped(t):
		return goArray, nil
	case t.Len() == 0:
		return goEmpty, nil
	case s.items == nil:
		s.items = new(shape)
	}
	for range t.Len() {
		elem, _, err := s.items.read(d)
		if err != nil {
			return nil, err
		}
		if elem != goRecord {
			return goArray, nil
		}
	}
	return goRecords, nil
}

// readDictionary adds the pairs of a Dictionary, unless they are data.
func (s *shape) readDictionary(d *gdwire.Decoder, t gdwire.Token) (isZero bool, err error) {
	s.isData = s.isData || isTyped(t)
	s.containers++
	isZero = true
	for range t.Len() {
		if s.isData {
			return false, nil
		}
		if _, err := d.ReadToken(); err != nil { // DictKey
			return false, err
		}
		depth := d.Depth()
		key, err := d.ReadToken()
		if err != nil {
			return false, err
		}
		in := s.in(key)
		if !key.Last() {
			if err := d.SkipTo(depth); err != nil {
				return false, err
			}
		}
		_, zero, err := in.read(d)
		if err != nil {
			return false, err
		}
		isZero = isZero && zero
	}
	return isZero, nil
}

// in returns the shape of the values of a key, and counts the latest container. In a Dictionary that is not at the top,
// keys that are no names make data of it.
func (s *shape) in(key gdwire.Token) *shape {
	isText := (key.Type() == gdwire.TypeString || key.Type() == gdwire.TypeStringName) && key.Last()
	f := s.fields[string(key.Bytes())]
	switch known := isText && f != nil; {
	case known:
	case !s.isTop && (key.Type() != gdwire.TypeString || !isText || !wire.IsName(key.Bytes()) || len(s.fields) == maxFields):
		s.isData = true
		return new(shape)
	case isText && len(key.Bytes()) > 0 && utf8.Valid(key.Bytes()) && len(s.fields) < maxTopFields:
		f = s.newField(string(key.Bytes()))
	case s.other == nil:
		s.other = &shape{isBarred: true}
		fallthrough
	default:
		f = s.other
	}
	f.isBarred = f.isBarred || key.Type() != gdwire.TypeString // a field takes a StringName, and writes a String
	if f.latest == s.containers {                              // twice in the container
		return f
	}
	if p := s.previous; p != nil && p.latest == s.containers && !slices.Contains(f.after, p) {
		f.after = append(f.after, p)
	}
	f.latest, s.previous = s.containers, f
	f.count++
	return f
}

// newField adds a field.
func (s *shape) newField(name string) *shape {
	if s.fields == nil {
		s.fields = map[string]*shape{}
	}
	f := &shape{name: name}
	s.fields[name] = f
	s.ordered = append(s.ordered, f)
	return f
}

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
