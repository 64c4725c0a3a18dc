package gdscript

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/variant"
)

// export contains the calls of package variant for this module.
var export = variant.Internal.Export(&internal.AllowInternalUse)

// A shape describes the content of a variable or an element.
type shape struct {
	typ       string // in GDScript
	zero      string // an expression of the zero value of Go
	accepts   string // the required Variant type of a value, or "" for any
	like      string // the arguments of the script's _as for values of other types, or ""
	class     *class // of an object
	pointer   *shape // of a value that can be null
	key, elem *shape // of an Array or Dictionary with checked elements
	length    string // of an array of Go, or ""
	max       int    // the maximum length, or 0
	size      string // a format of the length
	orNumber  bool   // a text whose Go type is read from numbers, too
	holdsAny  bool   // values of any type, also objects
	isMath    bool   // a math type
}

// anything is the shape of a variable for any value, and object that of one for an Object of the engine.
var (
	anything = &shape{typ: "Variant", zero: "null", holdsAny: true}
	object   = &shape{typ: "Variant", zero: "null"}
)

// isPlain reports whether a variable contains the value to send.
func (s *shape) isPlain() bool {
	return s == nil || s.class == nil && !s.holdsAny && s.pointer.isPlain() && s.key.isPlain() && s.elem.isPlain()
}

// canBeNull reports whether null is a value of the variable.
func (s *shape) canBeNull() bool { return s.zero == "null" }

// notNull returns the shape of values other than null.
func (s *shape) notNull() *shape {
	if s.pointer != nil {
		return s.pointer
	}
	return s
}

// A class is a class of the script, for a struct.
type class struct {
	name    string
	of      reflect.Type
	wire    gdwire.Type // Dictionary or Array
	fields  []*field
	isUnion bool   // a message is one of the fields
	sources uint64 // see sourcesOf
}

// nameVariables names the variables of c. Local variables begin with _, and classes of the engine and the game with a capital
// letter; such keys, and those taken, get a _ at the end. Keys that are names come first: which they are does not depend on
// the order of the keys.
func (c *class) nameVariables(used names) {
	taken, fields := maps.Clone(used), slices.SortedFunc(slices.Values(c.fields), func(a, b *field) int { return strings.Compare(a.Key, b.Key) })
	for _, exact := range []bool{true, false} {
		for _, f := range fields {
			if name := identifier(f.Key); isIdentifier(f.Key) == exact {
				if first, _ := utf8.DecodeRuneInString(name); first == '_' || unicode.IsUpper(first) || unicode.IsTitle(first) {
					name += "_"
				}
				f.name = taken.free(name)
			}
		}
	}
}

// path returns an expression of the path of field i.
func (c *class) path(i int) string {
	switch key := c.fields[i].Key; {
	case c.wire == gdwire.TypeArray:
		return fmt.Sprintf(`"[%d]"`, i)
	case isIdentifier(key):
		return quote("." + key)
	default:
		return quote("[" + quote(key) + "]")
	}
}

// ofNull returns an expression of the error for a null in the place of the class: it has no keys.
func (c *class) ofNull() string {
	i := slices.IndexFunc(c.fields, func(f *field) bool { return f.Required })
	if i < 0 {
		return `""`
	}
	return c.path(i) + ` + ": is missing"`
}

// A field is a variable of a class.
type field struct {
	internal.Field
	*shape
	name string
}

// annotation returns annotations against warnings of the variable.
func (f *field) annotation() string {
	all := ""
	if engineFunctions[f.name] {
		all = `@warning_ignore("shadowed_global_identifier", "shadowed_variable_base_class") `
	}
	if strings.ContainsFunc(f.name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		all += `@warning_ignore("confusable_identifier") `
	}
	return all
}

// A planner finds the classes of a script. Adding the fields of a class can add more classes.
type planner struct {
	options Options
	used    names                   // of the script
	types   map[string]reflect.Type // by their names in the script
	classes []*class
	enums   []string
	zeros   []string                // functions that return long arrays
	named   map[reflect.Type]*shape // objects of classes, and integers
	outer   []reflect.Type          // whose elements are being planned
	docs    map[string]string       // see comments
	sources names                   // the paths of the packages of messages
}

// doc returns the comment of a name in the package of t as one of the script, after indent.
func (p *planner) doc(t reflect.Type, name, indent string) string {
	text := p.docs[name]
	if text == "" || !p.sources[t.PkgPath()] {
		return ""
	}
	escape := strings.NewReplacer("[", "[lb]", "\n\n", "\n"+indent+"##\n"+indent+"## ", "\n", "\n"+indent+"## ")
	return indent + "## " + escape.Replace(strings.TrimSpace(text)) + "\n"
}

// addFields adds the fields of a class.
func (p *planner) addFields(c *class) error {
	all, isUnion, err := export.Fields(c.of)
	if c.isUnion = isUnion; err != nil {
		return err
	}
	for _, f := range all {
		_, name, _ := strings.Cut(f.GoName, ".")
		s, err := p.shape(f.Type, f.As, strings.TrimPrefix(c.name, p.options.Prefix)+name)
		if err != nil {
			return fmt.Errorf("%s: %w", f.GoName, err)
		}
		if f.Embed && s.pointer != nil {
			s = s.pointer // a Dictionary is never null in a script
		}
		if f.Max > 0 {
			s.max = f.Max // s is of this field alone
		}
		c.fields = append(c.fields, &field{f, s, ""})
	}
	return nil
}

// className returns the name of the class or enum for a type. name is for a type without a name.
func (p *planner) className(t reflect.Type, name string) (string, error) {
	given, ok := p.options.Names[t]
	switch {
	case ok && (!isIdentifier(given) || given[0] == '_' || isReserved(given)):
		return "", fmt.Errorf("the name %q for %v is no name for a class", given, t)
	case ok:
		name = given
	default:
		if t.Name() != "" {
			name = typeName(t)
		}
		first, size := utf8.DecodeRuneInString(name)
		name = p.options.Prefix + string(unicode.ToUpper(first)) + name[size:]
		for isReserved(name) {
			name += "_"
		}
	}
	if other := p.types[name]; other != nil {
		return "", fmt.Errorf("%v and %v are both %s in the script: give one a name in Options.Names", other, t, name)
	}
	p.types[name], p.used[name] = t, true
	return name, nil
}

// shape returns the shape of a t with type=as in its tag. name is for a struct type without a name.
func (p *planner) shape(t reflect.Type, as, name string) (s *shape, err error) {
	switch {
	case t == reflect.TypeFor[variant.ObjectID](), t == reflect.TypeFor[variant.Object]():
		return object, nil
	case isVariant(t), slices.Contains(p.outer, t): // GDScript has no recursive containers
		return anything, nil
	case t.Kind() == reflect.Pointer:
		if s, err = p.shape(t.Elem(), as, name); err != nil || s.canBeNull() {
			return s, err
		}
		pointer := &shape{typ: "Variant", zero: "null", pointer: s}
		if s.class != nil {
			pointer.typ = s.typ
		}
		return pointer, nil
	}
	typ, text, err := encodedAs(t, as)
	if err != nil {
		return nil, err
	}
	s = &shape{typ: typ.String(), zero: zeroOf(typ), accepts: typ.String(), size: "%s.size()"}
	s.convert(t, typ)
	isArray := typ == gdwire.TypeArray
	switch k := t.Kind(); {
	case typ == gdwire.TypeString, typ == gdwire.TypeStringName:
		if s.zero = quote(text); typ == gdwire.TypeStringName {
			s.zero = "&" + s.zero
		}
		if s.orNumber = takes(t, 0); s.orNumber {
			s.typ = "Variant"
		}
	case typ == gdwire.TypeInt:
		s, err = p.integer(t, s)
	case t == reflect.TypeFor[variant.Array](), t == reflect.TypeFor[variant.Dictionary]():
		s.holdsAny = true
	case k == reflect.Struct && (isArray || typ == gdwire.TypeDictionary):
		s, err = p.object(t, typ, name)
	case k == reflect.Map:
		err = p.addElements(s, t, as, name, t.Key(), t.Elem())
	case isArray && (k == reflect.Slice || k == reflect.Array):
		if err = p.addElements(s, t, as, name, t.Elem()); err != nil {
			return nil, err
		}
		if s.elem.isMath && s.like != "" {
			s.like = "[" + s.elem.zero + s.like[1:]
		}
		if k == reflect.Array {
			s.length, s.zero = strconv.Itoa(t.Len()), p.zeroList(s.typ, s.elem.zero, t.Len())
		}
	case k == reflect.Array && typ.Element() != 0:
		s.length, s.zero = strconv.Itoa(t.Len()), p.zeroList(s.typ, zeroOf(typ.Element()), t.Len())
	}
	return s, err
}

// convert sets how values of other types become those of s, for a t encoded as typ, and how long they are.
func (s *shape) convert(t reflect.Type, typ gdwire.Type) {
	n, _ := typ.Components()
	k, isList := t.Kind(), typ.Element() != 0
	switch s.isMath = n > 0; {
	case typ == gdwire.TypeString, typ == gdwire.TypeStringName, typ == gdwire.TypeNodePath:
		s.like, s.size = s.zero, "str(%s).to_utf8_buffer().size()"
	case typ == gdwire.TypeInt, typ == gdwire.TypeFloat:
		s.like = s.zero
	case s.isMath, isList, typ == gdwire.TypeArray:
		if bits := sourcesOf(t); bits&(bits-1) != 0 { // not of its own type alone
			s.like = fmt.Sprintf("%s, %#x", s.zero, bits)
			if isList && (k == reflect.Slice || k == reflect.Array) && sourcesOf(t.Elem()) > 0 {
				s.like += fmt.Sprintf(", %#x", sourcesOf(t.Elem()))
			}
		}
	}
}

// zeroList returns an expression of a list with n times the same element: the call of a function if it is long.
func (p *planner) zeroList(typ, elem string, n int) string {
	list, empty, fill := "["+repeat(elem, min(n, 16))+"]", "[]", fmt.Sprintf("for _i: int in %d: _a.append(%s)", n, elem)
	if strings.HasPrefix(typ, "Packed") {
		list, empty, fill = typ+"("+list+")", typ+"()", fmt.Sprintf("if _a.resize(%d) == OK: _a.fill(%s)", n, elem)
	}
	if n > 16 {
		list = fmt.Sprintf("_zeros%d()", len(p.zeros)+1)
		p.zeros = append(p.zeros, fmt.Sprintf("\n\tstatic func %s -> %s:\n\t\tvar _a: %[2]s = %s\n\t\t%s\n\t\treturn _a\n", list, typ, empty, fill))
	}
	return list
}

// repeat returns n times the same expression.
func repeat(x string, n int) string { return strings.TrimPrefix(strings.Repeat(", "+x, n), ", ") }

func quote(text string) string { return `"` + string(wire.AppendText(nil, text)) + `"` }

// addElements adds the shapes of the elements, or of the keys and values, of an Array or Dictionary for a t. GDScript
// does not nest declared types.
func (p *planner) addElements(s *shape, t reflect.Type, as, name string, types ...reflect.Type) (err error) {
	p.outer = append(p.outer, t)
	defer func() { p.outer = p.outer[:len(p.outer)-1] }()
	_, declared, _ := strings.Cut(strings.TrimSuffix(as, "]"), "[")
	var all []string
	for _, t := range types {
		as, declared, _ = strings.Cut(declared, ", ")
		s.key = s.elem
		if s.elem, err = p.shape(t, as, name); err != nil {
			return err
		}
		if len(types) > len(all)+1 && s.elem.orNumber { // a key is text only
			key := *s.elem
			key.orNumber, key.typ, s.elem = false, key.accepts, &key
		}
		typ, _, _ := strings.Cut(s.elem.typ, "[")
		all = append(all, typ)
	}
	if slices.ContainsFunc(all, func(typ string) bool { return typ != "Variant" }) {
		s.typ += "[" + strings.Join(all, ", ") + "]"
	}
	return nil
}

// object returns the shape of an object of the class for the struct type t.
func (p *planner) object(t reflect.Type, wire gdwire.Type, name string) (*shape, error) {
	if p.named[t] == nil {
		name, err := p.className(t, name)
		if err != nil {
			return nil, err
		}
		c := &class{name: name, of: t, wire: wire, sources: sourcesOf(t)}
		p.classes = append(p.classes, c)
		p.named[t] = &shape{typ: c.name, zero: c.name + ".new()", class: c}
	}
	return p.named[t], nil
}

// The values of integers that can be in an enum. A text for more than enumShare of them is a default, such as Unknown.
const (
	enumFirst, enumLast = -128, 255
	enumShare           = 16
)

// integer returns the shape of an integer type t: s, or the shape of an enum if the method String returns names
// for some values, and not for all.
func (p *planner) integer(t reflect.Type, s *shape) (_ *shape, err error) {
	if p.named[t] != nil || !t.Implements(reflect.TypeFor[fmt.Stringer]()) {
		return cmp.Or(p.named[t], s), nil
	}
	p.named[t] = s
	var order, values []string
	byName, used, last := map[string][]int{}, names{}, 0
	for n := enumFirst; n <= enumLast; n++ {
		v := reflect.ValueOf(n).Convert(t) // another number if n does not fit
		if v.Convert(reflect.TypeFor[int]()).Int() != int64(n) || v.CanUint() && n < 0 {
			continue
		}
		last = n
		if name := strings.ToUpper(export.SnakeCase(fmt.Sprint(v))); isIdentifier(name) {
			order, byName[name] = append(order, name), append(byName[name], n)
		}
	}
	zero := "_zero()"
	for _, name := range order {
		if same := byName[name]; 0 < len(same) && len(same) <= enumShare {
			delete(byName, name)
			name = used.free(name)
			values = append(values, fmt.Sprintf("%s = %d", name, same[0]))
			if same[0] == 0 {
				zero = "." + name
			}
		}
	}
	if values == nil || len(values) >= last { // an id for logs, also if negative ones have no names
		return s, nil
	}
	if s.typ, err = p.className(t, ""); err != nil {
		return nil, err
	}
	if s.zero = zero; zero[0] == '.' {
		s.zero = s.typ + zero
	}
	p.enums = append(p.enums, fmt.Sprintf("%senum %s {%s}", p.doc(t, t.Name(), ""), s.typ, strings.Join(values, ", ")))
	return s, nil
}

// takes reports whether Unmarshal reads a t from the value v.
func takes(t reflect.Type, v any) bool {
	b, err := variant.Marshal(v)
	return err == nil && variant.Unmarshal(b, reflect.New(t).Interface()) == nil
}

// sources contains a value of each math type, and an empty slice of each type that is encoded as another list.
var sources = []any{
	variant.Vector2{}, variant.Vector2i{}, variant.Rect2{}, variant.Rect2i{}, variant.Vector3{}, variant.Vector3i{}, variant.Transform2D{},
	variant.Vector4{}, variant.Vector4i{}, variant.Plane{}, variant.Quaternion{}, variant.AABB{}, variant.Basis{}, variant.Transform3D{},
	variant.Projection{}, variant.Color{}, []any{}, []byte{}, []int32{}, []int64{}, []float32{}, []float64{}, []string{}, []variant.Vector2{},
	[]variant.Vector3{}, []variant.Color{}, []variant.Vector4{},
}

// sourcesOf returns a bit for the id, in Godot 4, of each list and math type from which Unmarshal reads a t.
func sourcesOf(t reflect.Type) (bits uint64) {
	for _, v := range sources {
		if list := reflect.TypeOf(v); t.Kind() == reflect.Array && list.Kind() == reflect.Slice {
			v = reflect.MakeSlice(list, t.Len(), t.Len()).Interface()
		}
		if b, err := variant.Marshal(v); err == nil && takes(t, v) {
			bits |= 1 << b[0]
		}
	}
	return bits
}

// isVariant reports whether a t can be a value of any type.
func isVariant(t reflect.Type) bool {
	return t == reflect.TypeFor[variant.Raw]() || t.Kind() == reflect.Interface || reflect.PointerTo(t).Implements(reflect.TypeFor[variant.Marshaler]())
}

// encodedAs returns the type, and the text, that Marshal writes for a zero t with type=as in its tag.
func encodedAs(t reflect.Type, as string) (typ gdwire.Type, text string, err error) {
	f := reflect.StructField{Name: "X", Type: t}
	if as != "" {
		f.Tag = reflect.StructTag("gd:" + strconv.Quote(",type="+as))
	}
	b, err := variant.Marshal(reflect.Zero(reflect.StructOf([]reflect.StructField{f})).Interface())
	if err != nil {
		return 0, "", err
	}
	d := gdwire.NewDecoder(nil, nil)
	defer d.Release()
	d.ResetBytes(b)
	if _, err = d.ReadDict(); err == nil {
		_, err = d.ReadString() // the key
	}
	if err == nil {
		typ, err = d.PeekType()
	}
	text, _ = d.ReadString() // or "" for other types
	return typ, text, err
}

// zeros contains expressions of the zero value of Go, for types where GDScript's constructor without
// arguments is missing or gives another value.
var zeros = map[gdwire.Type]string{
	gdwire.TypeBool: "false", gdwire.TypeInt: "0", gdwire.TypeFloat: "0.0", gdwire.TypeString: `""`,
	gdwire.TypeArray: "[]", gdwire.TypeDictionary: "{}",
	gdwire.TypeColor:       "Color(0, 0, 0, 0)",
	gdwire.TypeQuaternion:  "Quaternion(0, 0, 0, 0)",
	gdwire.TypeBasis:       "Basis(" + repeat("Vector3()", 3) + ")",
	gdwire.TypeTransform2D: "Transform2D(" + repeat("Vector2()", 3) + ")",
	gdwire.TypeTransform3D: "Transform3D(" + repeat("Vector3()", 4) + ")",
	gdwire.TypeProjection:  "Projection(" + repeat("Vector4()", 4) + ")",
}

func zeroOf(t gdwire.Type) string { return cmp.Or(zeros[t], t.String()+"()") }
