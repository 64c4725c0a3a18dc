// Package shape contains the command that compares the shapes of saved games: the types of their values, by path.
package shape

import (
	"maps"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/internal/wire"
)

// A Shape describes the values at one path in several saves.
type Shape struct {
	Types     []string          `json:"types"`               // their types, in order; Nil is that of null
	Sometimes bool              `json:"sometimes,omitempty"` // some of the containers that could contain a value do not
	Fields    map[string]*Shape `json:"fields,omitempty"`    // the values of Dictionaries with names as keys, and of Objects
	Keys      []string          `json:"keys,omitempty"`      // the types of the keys of Dictionaries that are data
	Items     *Shape            `json:"items,omitempty"`     // the elements of Arrays, and the values of Dictionaries that are data

	// While a value is read:
	containers int // Dictionaries and Objects at the path
	count      int // in how many of the containers there is a value
	latest     int // the last of these
}

// The bounds of a shape, which keep the time for hostile saves in proportion to their size.
const (
	maxFields     = 64  // names that are keys of a Dictionary; more are data
	maxProperties = 256 // names where there are Objects, too
	maxTypes      = 64  // types with their classes and declared types; of more these are left out
)

// The names of types.
const objectStart = "Object(" // a serialized object, before its class

var (
	nilType  = gdwire.TypeNil.String()
	dictType = gdwire.TypeDictionary.String()
	textType = gdwire.TypeString.String()
)

// hasFields reports whether some of the values are Dictionaries with names as keys, or Objects.
func (s *Shape) hasFields() bool {
	return s.Keys == nil && (slices.Contains(s.Types, dictType) || s.hasObject())
}

// hasObject reports whether some of the values are serialized objects.
func (s *Shape) hasObject() bool {
	return slices.ContainsFunc(s.Types, func(t string) bool { return strings.HasPrefix(t, objectStart) })
}

// union returns the sorted elements of both, of which a is sorted.
func union(a, b []string) []string {
	if slices.Equal(a, b) {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// merge adds the values of another shape at the same path, of which s can use parts.
func (s *Shape) merge(o *Shape) {
	if s.Keys != nil && o.hasFields() {
		o.becomeData()
	} else if o.Keys != nil && s.hasFields() {
		s.becomeData()
	}
	if s.hasFields() && o.hasFields() {
		for name, f := range s.Fields {
			f.Sometimes = f.Sometimes || o.Fields[name] == nil
		}
		for name, f := range o.Fields {
			f.Sometimes = f.Sometimes || s.Fields[name] == nil
		}
	}
	for name, f := range o.Fields {
		s.field(name, f)
	}
	s.Types, s.Sometimes = boundTypes(union(s.Types, o.Types)), s.Sometimes || o.Sometimes
	if s.Keys != nil || o.Keys != nil {
		s.Keys = append([]string{}, union(s.Keys, o.Keys)...)
	}
	s.item(o.Items)
	s.containers, s.count = s.containers+o.containers, s.count+o.count
	s.bound()
}

// bound makes data of too many names.
func (s *Shape) bound() {
	if n := len(s.Fields); n > maxProperties || n > maxFields && !s.hasObject() {
		s.becomeData()
	}
}

// boundTypes leaves out classes and declared types if there are too many types, or if others were left out.
func boundTypes(types []string) []string {
	for _, start := range []string{objectStart, "Array[", "Dictionary["} {
		other := start + text.Ellipsis
		if len(types) <= maxTypes && !slices.Contains(types, other) {
			continue
		}
		for i, t := range types {
			if strings.HasPrefix(t, start) {
				types[i] = other
			}
		}
		types = union(nil, types)
	}
	return types
}

// field adds values with a name.
func (s *Shape) field(name string, f *Shape) {
	if s.Fields == nil {
		s.Fields = map[string]*Shape{}
	}
	if have := s.Fields[name]; have != nil {
		have.merge(f)
		return
	}
	s.Fields[name] = f
}

// item adds elements, or values of data.
func (s *Shape) item(o *Shape) {
	switch {
	case o == nil:
	case s.Items == nil:
		s.Items = o
	default:
		s.Items.merge(o)
	}
}

// becomeData makes data of the values with names, unless they are.
func (s *Shape) becomeData() {
	if s.Keys != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Fields)) {
		f := s.Fields[name]
		f.Sometimes = false
		s.item(f)
	}
	s.Keys = []string{}
	if len(s.Fields) > 0 {
		s.Keys = append(s.Keys, textType)
	}
	s.Fields = nil
}

// clone returns a copy that shares nothing with s.
func (s *Shape) clone() *Shape {
	if s == nil {
		return nil
	}
	c := &Shape{Types: slices.Clone(s.Types), Sometimes: s.Sometimes, Keys: slices.Clone(s.Keys), Items: s.Items.clone()}
	for name, f := range s.Fields {
		c.field(name, f.clone())
	}
	return c
}

// read returns the shape of the next value.
func read(d *gdwire.Decoder) (*Shape, error) {
	s := new(Shape)
	err := s.read(d)
	s.finish()
	return s, err
}

// read adds the next value.
func (s *Shape) read(d *gdwire.Decoder) error {
	depth := d.Depth()
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	if name := typeName(t); !slices.Contains(s.Types, name) {
		s.Types = boundTypes(union(s.Types, []string{name}))
	}
	switch t.Kind() {
	case gdwire.KindArrayStart:
		for n := t.Len(); n > 0 && err == nil; n-- {
			err = s.items().read(d)
		}
	case gdwire.KindDictStart:
		err = s.readDictionary(d, t)
	case gdwire.KindObjectStart:
		err = s.readObject(d, t.Len())
	default:
		return d.SkipTo(depth)
	}
	if err == nil {
		_, err = d.ReadToken() // End
	}
	return err
}

// typeName returns the type of the value that starts with t, with its declared types or its class.
func typeName(t gdwire.Token) string {
	switch t.Kind() {
	case gdwire.KindArrayStart, gdwire.KindDictStart:
		if t.KeyElem() != (gdwire.Elem{}) || t.Elem() != (gdwire.Elem{}) {
			return text.Value{Type: t.Type(), Form: text.Declared, Key: t.KeyElem(), Elem: t.Elem()}.String()
		}
	case gdwire.KindObjectStart:
		return text.FromToken(t, nil).String()
	}
	return t.Type().String()
}

// readDictionary adds the pairs of a Dictionary. Unless all keys are names, and they are few, it is data.
func (s *Shape) readDictionary(d *gdwire.Decoder, t gdwire.Token) error {
	n := t.Len()
	if n > maxFields || t.KeyElem() != (gdwire.Elem{}) || t.Elem() != (gdwire.Elem{}) {
		s.becomeData()
	}
	s.containers++
	for range n {
		if _, err := d.ReadToken(); err != nil { // DictKey
			return err
		}
		depth := d.Depth()
		key, err := d.ReadToken()
		if err != nil {
			return err
		}
		typ := key.Type()
		if typ == gdwire.TypeStringName {
			typ = gdwire.TypeString // engines take one for the other
		}
		if isName := typ == gdwire.TypeString && key.Last() && wire.IsName(key.Bytes()); !isName {
			s.becomeData()
		}
		in := s.in(key.Bytes(), typ)
		if err := d.SkipTo(depth); err != nil {
			return err
		}
		if err := in.read(d); err != nil {
			return err
		}
	}
	s.bound()
	return nil
}

// readObject adds n properties.
func (s *Shape) readObject(d *gdwire.Decoder, n int64) error {
	s.containers++
	for range n {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := s.in(name.Bytes(), gdwire.TypeString).read(d); err != nil {
			return err
		}
		s.bound()
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
		f = new(Shape)
		s.field(string(name), f)
	}
	if f.latest != s.containers { // not twice in it
		f.latest = s.containers
		f.count++
	}
	return f
}

// items returns the shape of elements, or of values of data.
func (s *Shape) items() *Shape {
	if s.Items == nil {
		s.Items = new(Shape)
	}
	return s.Items
}

// finish marks the values that some containers do not contain.
func (s *Shape) finish() {
	for _, f := range s.Fields {
		f.Sometimes = f.Sometimes || f.count < s.containers
		f.finish()
	}
	if s.Items != nil {
		s.Items.finish()
	}
}
