package shape

import (
	"bytes"
	"math"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/internal/wire"
	"github.com/gdwire/gdwire/variant"
)

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

// read adds the next value, returns its Go type, and reports whether the value is zero.
func (s *Shape) read(d *gdwire.Decoder) (typ reflect.Type, isZero bool, err error) {
	depth := d.Depth()
	t, err := d.ReadToken()
	if err != nil {
		return nil, false, err
	}
	if name := typeName(t); !slices.Contains(s.Types, name) {
		s.Types = boundTypes(union(s.Types, []string{name}))
	}
	switch t.Kind() {
	case gdwire.KindArrayStart:
		typ, err = s.readArray(d, t)
	case gdwire.KindDictStart:
		typ, isZero, err = s.readDictionary(d, t)
	case gdwire.KindObjectStart:
		typ, err = goAny, s.readObject(d, t.Len())
	default:
		typ, isZero = goTypeOf(d, t)
	}
	if !slices.Contains(s.goTypes, typ) {
		s.goTypes = append(s.goTypes, typ)
	}
	s.hasZero = s.hasZero || isZero
	if err == nil && (d.Depth() > depth || t.Kind() == gdwire.KindStringChunk && !t.Last()) {
		err = d.SkipTo(depth)
	}
	return typ, isZero, err
}

// typeName returns the type of the value starting with t, with declared types or the class.
func typeName(t gdwire.Token) string {
	switch t.Kind() {
	case gdwire.KindArrayStart, gdwire.KindDictStart:
		if isTyped(t) {
			return text.Value{Type: t.Type(), Form: text.Declared, Key: t.KeyElem(), Elem: t.Elem()}.String()
		}
	case gdwire.KindObjectStart:
		return text.FromToken(t, nil).String()
	}
	return t.Type().String()
}

// isTyped reports whether an Array or Dictionary has declared types.
func isTyped(t gdwire.Token) bool {
	return len(t.Bytes()) > 0
}

// readArray adds the elements of an Array. If all are records, the type is a slice.
func (s *Shape) readArray(d *gdwire.Decoder, t gdwire.Token) (typ reflect.Type, err error) {
	switch {
	case isTyped(t):
		typ = goArray
	case t.Len() == 0:
		typ = goEmpty
	default:
		typ = goRecords
	}
	for range t.Len() {
		elem, _, err := s.items().read(d)
		if err != nil {
			return nil, err
		}
		if elem != goRecord {
			typ = goArray
		}
	}
	return typ, nil
}

// readDictionary adds the pairs of a Dictionary. Unless all keys are names, and few, the Dictionary is data. A nonempty
// Dictionary of names without a StringName is a record.
func (s *Shape) readDictionary(d *gdwire.Decoder, t gdwire.Token) (typ reflect.Type, isZero bool, err error) {
	n, typ, isZero := t.Len(), goRecord, true
	if n > maxFields || isTyped(t) {
		s.becomeData()
	}
	if n == 0 || n > maxFields || isTyped(t) {
		typ = goDictionary
	}
	s.containers++
	for range n {
		if _, err := d.ReadToken(); err != nil { // DictKey
			return nil, false, err
		}
		depth := d.Depth()
		key, err := d.ReadToken()
		if err != nil {
			return nil, false, err
		}
		keyType := key.Type()
		if keyType == gdwire.TypeStringName {
			keyType, typ = gdwire.TypeString, goDictionary // engines take one for the other
		}
		if isName := keyType == gdwire.TypeString && key.Last() && wire.IsName(key.Bytes()); !isName {
			typ = goDictionary
			s.becomeData()
		}
		in := s.in(key.Bytes(), keyType)
		if !key.Last() {
			if err := d.SkipTo(depth); err != nil {
				return nil, false, err
			}
		}
		_, zero, err := in.read(d)
		if err != nil {
			return nil, false, err
		}
		isZero = isZero && zero
	}
	s.bound(maxProperties)
	return typ, isZero && typ == goRecord, nil
}

// readObject adds n properties.
func (s *Shape) readObject(d *gdwire.Decoder, n int64) error {
	s.containers++
	for range n {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if _, _, err := s.in(name.Bytes(), gdwire.TypeString).read(d); err != nil {
			return err
		}
		s.bound(maxProperties)
	}
	return nil
}

// in returns the shape of the values with a name, or of all values of data, and counts the latest container.
func (s *Shape) in(name []byte, key gdwire.Type) *Shape {
	if s.Keys != nil {
		if k := key.String(); !slices.Contains(s.Keys, k) {
			s.Keys = union(s.Keys, []string{k})
		}
		return s.items()
	}
	f := s.Fields[string(name)]
	if f == nil {
		f = &Shape{name: string(name)}
		s.field(f.name, f)
		s.ordered = append(s.ordered, f)
	}
	if f.latest == s.containers { // twice in the container
		return f
	}
	if p := s.previous; p != nil && p.latest == s.containers && !slices.Contains(f.after, p) {
		f.after = append(f.after, p)
	}
	f.latest, s.previous = s.containers, f
	f.count++
	return f
}

// items returns the shape of elements, or of values of data.
func (s *Shape) items() *Shape {
	if s.Items == nil {
		s.Items = new(Shape)
	}
	return s.Items
}
