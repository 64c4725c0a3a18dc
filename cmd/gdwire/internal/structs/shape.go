// Package structs contains the command that prints Go types for saved games.
package structs

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
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
