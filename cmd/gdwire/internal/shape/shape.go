// Package shape contains the commands that infer the shape of saved games, the types of values by path. Shapes are
// compared, or printed as Go types.
package shape

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

// A Shape describes the values at one path in several saves.
type Shape struct {
	Types     []string          `json:"types"`               // sorted; Nil for null
	Sometimes bool              `json:"sometimes,omitempty"` // some of the containers lack a value
	Fields    map[string]*Shape `json:"fields,omitempty"`    // the values of Dictionaries with names as keys, and of Objects
	Keys      []string          `json:"keys,omitempty"`      // the types of the keys of Dictionaries used as data
	Items     *Shape            `json:"items,omitempty"`     // the elements of Arrays, and the values of Dictionaries used as data

	// While values are read:
	containers int // Dictionaries and Objects at the path
	count      int // containers with a value
	latest     int // the number of the last container with a value

	// For Go types:
	goTypes  []reflect.Type // of the values
	hasZero  bool           // one of the values is the zero value of its type
	name     string         // in the containers
	after    []*Shape       // the fields directly before this field
	ordered  []*Shape       // the Fields, as found
	previous *Shape         // the latest field
}

// The bounds of a shape, to keep the time for hostile saves in proportion to their size.
const (
	maxFields     = 64  // names as keys of a Dictionary, or of all if there are no Objects; more are data
	maxProperties = 256 // names known while values are read
	maxTypes      = 64  // types with classes and declared types; among more, these are left out
)

// The names of types.
const objectStart = "Object(" // a serialized object, before the class

var (
	nilName  = gdwire.TypeNil.String()
	dictName = gdwire.TypeDictionary.String()
	textName = gdwire.TypeString.String()
)

// hasFields reports whether some of the values are Dictionaries with names as keys, or Objects.
func (s *Shape) hasFields() bool {
	return s.Keys == nil && (slices.Contains(s.Types, dictName) || s.hasObject())
}

// hasObject reports whether some of the values are serialized objects.
func (s *Shape) hasObject() bool {
	return slices.ContainsFunc(s.Types, func(t string) bool { return strings.HasPrefix(t, objectStart) })
}

// union returns the sorted elements of both. a is sorted.
func union(a, b []string) []string {
	if slices.Equal(a, b) {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// merge adds the values of another shape at the same path. s can keep parts of o.
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
	s.bound(maxProperties)
}

// bound makes data of more than most names.
func (s *Shape) bound(most int) {
	if len(s.Fields) > most {
		s.becomeData()
	}
}

// boundTypes leaves out classes and declared types if there are too many types, or if some were left out before.
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

// becomeData makes data of the values with names, unless they are data already.
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
		s.Keys = append(s.Keys, textName)
	}
	s.Fields, s.ordered = nil, nil
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

// finish marks the values missing in some containers, and makes data of too many names.
func (s *Shape) finish() {
	if !s.hasObject() {
		s.bound(maxFields)
	}
	for _, f := range s.Fields {
		f.Sometimes = f.Sometimes || f.count < s.containers
		f.finish()
	}
	if s.Items != nil {
		s.Items.finish()
	}
}
