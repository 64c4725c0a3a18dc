package variant

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
)

// grow returns the next capacity of a slice with have of n elements of size bytes. It is
// at least doubled, and never more than n. The first capacity follows the number of
// buffered bytes, so that memory grows with the bytes received.
func (s *decoder) grow(have, n int, size int64) int {
	arrived := int64(len(s.d.UnreadBuffer())) / max(size, 1)
	return min(n, max(2*have, 16, int(min(arrived, 1<<30))))
}

// slice is build for a slice, which is decoded from an Array or a packed array.
func (b decodePlanner) slice(t reflect.Type) (decodeFunc, error) {
	elem, err := b.plan(t.Elem(), 0)
	if err != nil {
		return nil, err
	}
	packed := packedInto(t, elem)
	return func(s *decoder, x variable) error {
		tok, err := s.token()
		if err != nil {
			return err
		}
		switch {
		case tok.Kind() == gdwire.KindArrayStart:
			return s.elements(x, t, int(tok.Len()), elem)
		case tok.Type() == gdwire.TypePackedStringArray && t.Elem() == stringType:
			return s.strings(at[[]string](x), int(tok.Len()))
		case tok.Kind() == gdwire.KindPackedStart:
			return packed(s, x, tok)
		}
		return s.mismatch(tok, valueOf(x, t), nil)
	}, nil
}

// elements reads the n elements and the End of an Array or PackedStringArray into x, a
// slice of type t. It reuses the slice's memory.
func (s *decoder) elements(x variable, t reflect.Type, n int, elem *plan[decodeFunc]) error {
	if err := s.deeper(t); err != nil {
		return err
	}
	replace := s.replace
	if err := s.eachElement(x, t, n, elem.do); err != nil {
		return err
	}
	s.replace = replace
	s.depth--
	return s.d.ReadEnd()
}

func (s *decoder) eachElement(x variable, t reflect.Type, n int, elem decodeFunc) error {
	size := t.Elem().Size()
	_, old := lenCap(x) // elements before this index can have values
	if n == 0 && old == 0 {
		valueOf(x, t).Set(reflect.MakeSlice(t, 0, 0))
	}
	have := min(n, old)
	setLen(x, have)
	all := elements(x)
	for i := range n {
		if i == have {
			if err := s.growSlice(valueOf(x, t), n); err != nil {
				return err
			}
			have, _ = lenCap(x)
			all = elements(x)
		}
		s.replace = i < old
		if err := elem(s, elemAt(all, i, size)); err != nil {
			setLen(x, i)
			return err
		}
	}
	return nil
}

var stringType = reflect.TypeFor[string]()

// strings is elements for a PackedStringArray and a []string.
func (s *decoder) strings(all *[]string, n int) error {
	to := (*all)[:0]
	if to == nil {
		to = []string{}
	}
	for i := range n {
		if i == cap(to) {
			grown := s.grow(i, n, boxSize)
			if err := s.charge(stringType, int64(grown-i)*boxSize); err != nil {
				return err
			}
			to = append(make([]string, 0, grown), to...)
		}
		var none variable // for nil, which is no packed string
		text, err := s.readText(none, stringType)
		if err != nil {
			*all = to
			return err
		}
		to = append(to, text)
	}
	*all = to
	return s.d.ReadEnd()
}

// growSlice adds elements to the slice v, which is full, up to n elements.
func (s *decoder) growSlice(v reflect.Value, n int) error {
	t := v.Type()
	size := int64(t.Elem().Size())
	old := v.Len()
	grown := s.grow(old, n, size)
	if err := s.charge(t, int64(grown-old)*size); err != nil {
		return err
	}
	v.Grow(grown - old)
	v.SetLen(min(v.Cap(), n))
	return s.charge(t, max(int64(v.Cap()-grown), 0)*size) // the runtime rounds the capacity up
}

// array is build for a Go array. It is decoded from a math type with the same number of
// components, or from an Array or packed array with the same number of elements.
func (b decodePlanner) array(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	elem, err := b.plan(t.Elem(), 0)
	if err != nil {
		return nil, err
	}
	packed := packedInto(t, elem)
	m, isMath := componentsOf(t)
	var usual gdwire.Type // if set, it is tried first
	if isMath {
		usual = m.usual(wire)
	}
	size := t.Elem().Size()
	return func(s *decoder, x variable) error {
		if usual != 0 && !s.careful {
			err := s.readComponents(x, &m, usual)
			if err == nil || !errors.Is(err, gdwire.ErrType) {
				return err
			}
			s.careful = true
		}
		if isMath {
			if ok, err := s.readMath(x, &m); ok || err != nil {
				return err
			}
		}
		tok, err := s.token()
		switch {
		case err != nil:
			return err
		case isMath && m.fits(mathByKind[tok.Kind()]): // a key
			m.store(x, tok.AppendReals(s.reals[:0]))
			return nil
		case tok.Kind() != gdwire.KindArrayStart && tok.Kind() != gdwire.KindPackedStart:
			return s.mismatch(tok, valueOf(x, t), nil)
		case tok.Len() != int64(t.Len()):
			return s.fail(tok.Type(), t, fmt.Errorf("%w: %d elements", gdwire.ErrCount, tok.Len()))
		case tok.Kind() == gdwire.KindPackedStart:
			return packed(s, x, tok)
		}
		if err := s.deeper(t); err != nil {
			return err
		}
		for i := range t.Len() {
			if err := elem.do(s, elemAt(x, i, size)); err != nil {
				return err
			}
		}
		s.depth--
		return s.d.ReadEnd()
	}, nil
}

// fits reports whether m can take the components of t.
func (m *components) fits(t mathType) bool {
	return t.n == m.n && t.ints == (m.leaf == reflect.Int32)
}

// readMath reads a math type whose components x can take, and reports false if
// something else comes next: floats go into floats, integers into integers.
func (s *decoder) readMath(x variable, m *components) (ok bool, err error) {
	t := mathByKind[s.d.PeekKind()]
	if !m.fits(t) {
		return false, nil
	}
	return true, s.readComponents(x, m, t.typ)
}

// usual returns the math type that m usually has: the type= of a tag, or the only type
// with its components. It returns 0 if there is none.
func (m *components) usual(wire gdwire.Type) gdwire.Type {
	all := mathTypesOf(*m)
	if len(all) == 1 || slices.Contains(all, wire) {
		return all[max(slices.Index(all, wire), 0)]
	}
	return 0
}

// mathByKind are the math types by the kind of their token.
var mathByKind = func() (all [256]mathType) {
	for _, t := range mathTypes {
		all[t.typ] = t
	}
	return all
}()

// readComponents reads the math type typ, of as many components.
func (s *decoder) readComponents(x variable, m *components, typ gdwire.Type) error {
	c := s.reals[:m.n]
	if m.leaf == reflect.Int32 {
		if err := s.d.ReadInts(typ, s.ints[:m.n]); err != nil {
			return err
		}
		for i := range c {
			c[i] = float64(s.ints[i])
		}
	} else if err := s.d.ReadReals(typ, c); err != nil {
		return err
	}
	m.store(x, c)
	return nil
}

// A bulkFunc reads the packed array that starts with t into v, a slice or an array with
// the same number of elements.
type bulkFunc func(s *decoder, v reflect.Value, t gdwire.Token) error

// packedInto returns the function that reads the packed array that starts with a token
// into a list, a slice or an array with the same number of elements.
func packedInto(list reflect.Type, elem *plan[decodeFunc]) func(*decoder, variable, gdwire.Token) error {
	t := list.Elem()
	size := t.Size()
	var bulk bulkFunc
	m, isMath := componentsOf(t)
	single := m.leaf == reflect.Float32
	switch {
	case t.Kind() == reflect.Uint8:
		bulk = readBulkOf(gdwire.TypePackedByteArray, readBulk[byte])
	case t.Kind() == reflect.Int32:
		bulk = readBulkOf(gdwire.TypePackedInt32Array, readBulk[int32])
	case t.Kind() == reflect.Int64:
		bulk = readBulk[int64]
	case reflect.Zero(t).CanInt() || reflect.Zero(t).CanUint():
		bulk = readIntegers
	case !isMath || m.leaf == reflect.Int32:
	case m.n == 1 && single:
		bulk = readBulk[float32]
	case m.n == 1:
		bulk = readBulk[float64]
	case m.n == 2 && single:
		bulk = readBulk[[2]float32]
	case m.n == 2:
		bulk = readBulk[[2]float64]
	case m.n == 3 && single:
		bulk = readBulk[[3]float32]
	case m.n == 3:
		bulk = readBulk[[3]float64]
	case m.n == 4 && single:
		bulk = readBulk[[4]float32]
	case m.n == 4:
		bulk = readBulk[[4]float64]
	}
	return func(s *decoder, x variable, t gdwire.Token) error {
		switch {
		case t.Type() == gdwire.TypePackedStringArray && list.Kind() == reflect.Slice:
			return s.elements(x, list, int(t.Len()), elem)
		case t.Type() == gdwire.TypePackedStringArray:
			for i := range list.Len() {
				if err := elem.do(s, elemAt(x, i, size)); err != nil {
					return err
				}
			}
			return s.d.ReadEnd()
		case bulk == nil:
			return s.fail(t.Type(), list, gdwire.ErrType)
		}
		return bulk(s, valueOf(x, list), t)
	}
}

// readBulkOf returns a function that reads packed arrays of one type with bulk, and
// packed arrays of other integers one by one.
func readBulkOf(typ gdwire.Type, bulk bulkFunc) bulkFunc {
	return func(s *decoder, v reflect.Value, t gdwire.Token) error {
		if t.Type() != typ {
			return readIntegers(s, v, t)
		}
		return bulk(s, v, t)
	}
}

// chargePacked charges the memory by which the slice v grows to hold n elements.
func (s *decoder) chargePacked(v reflect.Value, n int64) error {
	return s.charge(v.Type(), max(n-int64(v.Cap()), 0)*int64(v.Type().Elem().Size()))
}

// readBulk reads a packed array into v, which has the memory layout of a []T.
func readBulk[T gdwire.Packable](s *decoder, v reflect.Value, t gdwire.Token) error {
	all, ok := viewOf[T](v)
	if v.Kind() == reflect.Slice {
		if err := s.chargePacked(v, t.Len()); err != nil {
			return err
		}
		if !ok {
			return readOneByOne[T](s, v, t)
		}
		all, err := gdwire.AppendPacked(s.d, all[:0])
		if all == nil {
			all = []T{}
		}
		setView(v, all)
		return s.bulkError(v, t, err)
	}
	if !ok {
		return readOneByOne[T](s, v, t)
	}
	_, err := gdwire.ReadPacked(s.d, all)
	if err == nil {
		err = s.d.ReadEnd()
	}
	return s.bulkError(v, t, err)
}

// bulkError converts an ErrType to a TypeError.
func (s *decoder) bulkError(v reflect.Value, t gdwire.Token, err error) error {
	if errors.Is(err, gdwire.ErrType) {
		return s.fail(t.Type(), v.Type(), gdwire.ErrType)
	}
	return err
}

// readOneByOne is readBulk by reflection.
func readOneByOne[T gdwire.Packable](s *decoder, v reflect.Value, t gdwire.Token) error {
	m, _ := componentsOf(v.Type().Elem())
	return readSome(s, v, t, func(dst reflect.Value, src *T) error {
		setPackable(dst, reflect.ValueOf(src).Elem(), &m)
		return nil
	})
}

// readIntegers reads integers of another kind than v has. An integer that does not fit
// is an error.
func readIntegers(s *decoder, v reflect.Value, t gdwire.Token) error {
	if v.Kind() == reflect.Slice {
		if err := s.chargePacked(v, t.Len()); err != nil {
			return err
		}
	}
	return readSome(s, v, t, func(dst reflect.Value, src *int64) error {
		switch {
		case dst.CanInt() && !dst.OverflowInt(*src):
			dst.SetInt(*src)
		case dst.CanUint() && *src >= 0 && !dst.OverflowUint(uint64(*src)):
			dst.SetUint(uint64(*src))
		default:
			return s.fail(t.Type(), dst.Type(), gdwire.ErrRange)
		}
		return nil
	})
}

// readSome reads a packed array in batches and calls set for each element.
func readSome[T gdwire.Packable](s *decoder, v reflect.Value, t gdwire.Token, set func(dst reflect.Value, src *T) error) error {
	if v.Kind() == reflect.Slice {
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		v.SetLen(0)
	}
	var some [64]T
	for i := 0; ; {
		n, err := gdwire.ReadPacked(s.d, some[:])
		for k := range n {
			if v.Kind() == reflect.Slice {
				if i == v.Cap() {
					v.Grow(min(max(i, 16), int(t.Len())-i))
				}
				v.SetLen(i + 1)
			}
			if err := set(v.Index(i), &some[k]); err != nil {
				return err
			}
			i++
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return s.bulkError(v, t, err)
		}
	}
}

// decodeMath returns a function that reads values of the math type typ.
func decodeMath(m components, typ gdwire.Type) decodeFunc {
	return func(s *decoder, x variable) error {
		if s.careful && s.tookNil(valueOf(x, m.typ)) {
			return nil
		}
		if err := s.readComponents(x, &m, typ); err != nil {
			return s.mistyped(valueOf(x, m.typ), err)
		}
		return nil
	}
}
