package gdscript

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/wire"
	"github.com/gdwire/gdwire/variant"
)

// export contains the calls of package variant for this module.
var export = variant.Internal.Export(&internal.AllowInternalUse)

// A shape describes the content of a variable or an element.
type shape struct {
	typ       string // in GDScript
	zero      string // an expression of the zero value of Go
	accepts   string // the required Variant type of a value, or "" for any
	class     *class // of an object
	pointer   *shape // of a value that can be null
	key, elem *shape // of an Array or Dictionary with checked elements
	length    string // of an array of Go, or ""
	holdsAny  bool   // values of any type, also objects
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
	name   string
	of     reflect.Type
	wire   string // Dictionary or Array
	fields []field
}

// path returns an expression of the path of field i.
func (c *class) path(i int) string {
	if c.wire == "Array" {
		return fmt.Sprintf(`"[%d]"`, i)
	}
	return strconv.Quote("." + c.fields[i].Key)
}

// A field is a variable of a class.
type field struct {
	internal.Field
	*shape
	name string
}

// A planner finds the classes of a script. Adding the fields of a class can add more classes.
type planner struct {
	used    names
	classes []*class
	enums   []string
	named   map[reflect.Type]*shape // objects of classes, and integers
	outer   []reflect.Type          // whose elements are being planned
}

// addFields adds the fields of a class.
func (p *planner) addFields(c *class) error {
	all, err := export.Fields(c.of)
	if err != nil {
		return err
	}
	used := names{}
	for _, f := range all {
		_, name, _ := strings.Cut(f.GoName, ".")
		s, err := p.shape(f.Type, f.As, c.name+name)
		if err == nil {
			name, err = used.variable(f.Key)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.GoName, err)
		}
		if f.Embed && s.pointer != nil {
			s = s.pointer // a Dictionary is never null in a script
		}
		c.fields = append(c.fields, field{f, s, name})
	}
	return nil
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
	typ, text, err := firstToken(t, as)
	if err != nil {
		return nil, err
	}
	s = &shape{typ: typ.String(), zero: zeroOf(typ), accepts: typ.String()}
	isArray := typ == gdwire.TypeArray
	switch k := t.Kind(); {
	case typ == gdwire.TypeString:
		s.zero = quote(text)
	case typ == gdwire.TypeStringName:
		s.zero = "&" + quote(text)
	case typ == gdwire.TypeInt:
		s = p.integer(t, s)
	case t == reflect.TypeFor[variant.Array](), t == reflect.TypeFor[variant.Dictionary]():
		s.holdsAny = true
	case k == reflect.Struct && (isArray || typ == gdwire.TypeDictionary):
		s = p.object(t, s.typ, name)
	case k == reflect.Map:
		err = p.addElements(s, t, as, name, t.Key(), t.Elem())
	case isArray && (k == reflect.Slice || k == reflect.Array):
		if err = p.addElements(s, t, as, name, t.Elem()); err == nil && k == reflect.Array {
			s.length, s.zero = strconv.Itoa(t.Len()), "["+repeat(s.elem.zero, t.Len())+"]"
		}
	case k == reflect.Array && typ.Element() != 0:
		s.length, s.zero = strconv.Itoa(t.Len()), s.typ+"(["+repeat(zeroOf(typ.Element()), t.Len())+"])"
	}
	return s, err
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
		typ, _, _ := strings.Cut(s.elem.typ, "[")
		all = append(all, typ)
	}
	if slices.ContainsFunc(all, func(typ string) bool { return typ != "Variant" }) {
		s.typ += "[" + strings.Join(all, ", ") + "]"
	}
	return nil
}

// object returns the shape of an object of the class for the struct type t.
func (p *planner) object(t reflect.Type, wire, name string) *shape {
	if p.named[t] == nil {
		c := &class{name: p.used.class(cmp.Or(t.Name(), name)), of: t, wire: wire}
		p.classes = append(p.classes, c)
		p.named[t] = &shape{typ: c.name, zero: c.name + ".new()", class: c}
	}
	return p.named[t]
}

// integer returns the shape of an integer type t: s, or the shape of an enum if the method String returns
// names for values from 0 to 255.
func (p *planner) integer(t reflect.Type, s *shape) *shape {
	if p.named[t] != nil || !t.Implements(reflect.TypeFor[fmt.Stringer]()) {
		return cmp.Or(p.named[t], s)
	}
	var values []string
	used := names{}
	for n := range 256 {
		v := reflect.ValueOf(n).Convert(t) // another number if n does not fit
		name := strings.ToUpper(export.SnakeCase(fmt.Sprint(v)))
		if v.Convert(reflect.TypeFor[int]()).Int() == int64(n) && identifier.MatchString(name) && !used[name] {
			values = append(values, fmt.Sprintf("%s = %d", used.free(name), n))
		}
	}
	if p.named[t] = s; values != nil {
		s.typ = p.used.class(t.Name())
		s.zero = "(0 as " + s.typ + ")"
		if zero, ok := strings.CutSuffix(values[0], " = 0"); ok {
			s.zero = s.typ + "." + zero
		}
		p.enums = append(p.enums, fmt.Sprintf("enum %s {%s}", s.typ, strings.Join(values, ", ")))
	}
	return s
}

// isVariant reports whether a t can be a value of any type.
func isVariant(t reflect.Type) bool {
	return t == reflect.TypeFor[variant.Raw]() || t.Kind() == reflect.Interface || reflect.PointerTo(t).Implements(reflect.TypeFor[variant.Marshaler]())
}

// firstToken returns the type, and the text, that Marshal writes for a zero t with type=as in its tag.
func firstToken(t reflect.Type, as string) (typ gdwire.Type, text string, err error) {
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
	var tok gdwire.Token
	for range 4 { // the starts of the Dictionary and pair, the key, and the value
		if tok, err = d.ReadToken(); err != nil {
			return 0, "", err
		}
	}
	if tok.Kind() == gdwire.KindStringChunk {
		text = tok.Text()
	}
	return tok.Type(), text, nil
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
