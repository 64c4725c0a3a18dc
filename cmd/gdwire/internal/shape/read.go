package shape

import (
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/internal/wire"
)

// read returns the shape of the next value.
func read(d *gdwire.Decoder) (*Shape, error) {
	depth := d.Depth()
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	s := &Shape{Types: []string{typeName(t)}}
	switch t.Kind() {
	case gdwire.KindArrayStart:
		err = s.readArray(d, t.Len())
	case gdwire.KindDictStart:
		err = s.readDictionary(d, t)
	case gdwire.KindObjectStart:
		err = s.readObject(d, t.Len())
	default:
		return s, d.SkipTo(depth)
	}
	if err == nil {
		_, err = d.ReadToken() // End
	}
	return s, err
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

// readArray reads n elements.
func (s *Shape) readArray(d *gdwire.Decoder, n int64) error {
	for range n {
		one, err := read(d)
		if err != nil {
			return err
		}
		s.item(one)
	}
	return nil
}

// readDictionary reads the pairs of a Dictionary. Unless all keys are names, and they are few, it is data.
func (s *Shape) readDictionary(d *gdwire.Decoder, t gdwire.Token) error {
	n := t.Len()
	if n > maxFields || t.KeyElem() != (gdwire.Elem{}) || t.Elem() != (gdwire.Elem{}) {
		s.Keys = []string{}
	}
	for range n {
		if _, err := d.ReadToken(); err != nil { // DictKey
			return err
		}
		depth := d.Depth()
		key, err := d.ReadToken()
		if err != nil {
			return err
		}
		typ, name := key.Type(), key.Text()
		if typ == gdwire.TypeStringName {
			typ = gdwire.TypeString // engines take one for the other
		}
		if isName := typ == gdwire.TypeString && key.Last() && wire.IsName(name); !isName && s.Keys == nil {
			s.becomeData()
		}
		if err := d.SkipTo(depth); err != nil {
			return err
		}
		one, err := read(d)
		if err != nil {
			return err
		}
		if s.Keys == nil {
			s.field(name, one)
			continue
		}
		if k := typ.String(); !slices.Contains(s.Keys, k) {
			s.Keys = union(s.Keys, []string{k})
		}
		s.item(one)
	}
	return nil
}

// readObject reads n properties.
func (s *Shape) readObject(d *gdwire.Decoder, n int64) error {
	for range n {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.Text()
		one, err := read(d)
		if err != nil {
			return err
		}
		s.field(key, one)
		s.bound()
	}
	return nil
}
