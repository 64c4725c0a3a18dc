package variant

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/gdwire/gdwire"
)

// unmarshalText reads text and calls the UnmarshalText of v.
func (s *decoder) unmarshalText(v reflect.Value) error {
	text, err := s.readText(variableOf(v), v.Type())
	if err != nil {
		return err
	}
	to := v.Addr().Interface()
	if err = to.(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err == nil {
		return nil
	}
	if _, isTime := to.(*time.Time); isTime && len(text) > dateLen && strings.IndexByte("T ", text[dateLen]) >= 0 {
		// As Time.get_datetime_string_from_system of engines returns it: without a zone, read as UTC. time.Parse would add 80 KB to programs.
		asUTC := text[:dateLen] + "T" + text[dateLen+1:] + "Z"
		if to.(encoding.TextUnmarshaler).UnmarshalText([]byte(asUTC)) == nil {
			return nil
		}
	}
	return s.fail(gdwire.TypeString, v.Type(), err)
}

// dateLen is the length of the date in a time in RFC 3339.
const dateLen = len(time.DateOnly)

// decodeUnmarshaler calls the UnmarshalVariant of v and checks that exactly one value was read.
func decodeUnmarshaler(s *decoder, v reflect.Value) error {
	typ, err := s.d.PeekType()
	if err != nil {
		return err
	}
	before := s.position()
	if s.d.PeekKind() == gdwire.KindDictKey {
		before.index++ // the key of the next pair
	}
	if err := v.Addr().Interface().(Unmarshaler).UnmarshalVariant(s.d); err != nil {
		return s.methodError(v, typ, before, err)
	}
	if !before.isOneValueBefore(s.position()) {
		return s.failMethod(before, typ, v.Type(), fmt.Errorf("%w: UnmarshalVariant must read exactly one value", gdwire.ErrCount))
	}
	return nil
}

// methodError returns the error for v after the method returned err. Nothing is read here, because
// the sender may have sent no more than the method read.
func (s *decoder) methodError(v reflect.Value, typ gdwire.Type, before position, err error) error {
	last := export.LastError(s.d)
	if last == nil || !errors.Is(err, last) {
		return s.failMethod(before, typ, v.Type(), err)
	}
	at, ok := errors.AsType[*gdwire.Error](last)
	if !ok || s.d.Err() != nil || isTypeError(err) {
		return err // of the Reader or the input, or about a value in v
	}
	if err == last {
		at.Err = &TypeError{Go: v.Type(), Err: at.Err}
		return at
	}
	return &gdwire.Error{Offset: at.Offset, Path: at.Path, Err: &TypeError{Go: v.Type(), Err: err}}
}

// failMethod returns an Error with a TypeError for a method called when a value of type t was
// next, at the position before. If the method read exactly one value, or nothing, the error is at
// the value, otherwise at the latest token.
func (s *decoder) failMethod(before position, t gdwire.Type, g reflect.Type, reason error) error {
	after := s.position()
	err := s.d.WrapError(nil)
	if after.offset == before.offset {
		err = s.d.ReadEnd() // an error at the value, which is not an End
	}
	at, ok := errors.AsType[*gdwire.Error](err)
	if !ok {
		return err
	}
	if before.isOneValueBefore(after) {
		at.Offset = before.offset
	}
	at.Err = &TypeError{Type: t, Go: g, Err: reason}
	return at
}

// position returns the position of s.d.
func (s *decoder) position() position {
	p := position{offset: s.d.InputOffset(), depth: s.d.Depth()}
	p.kind, p.index, _ = s.d.StackIndex(p.depth)
	return p
}

// makePointerDecoder returns the function decoding a t, a pointer. A nil makes the pointer nil. Other
// values are decoded into the variable of the pointer, or into a new variable for a nil pointer.
func (b decodePlanner) makePointerDecoder(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	if err := checkPointer(t); err != nil {
		return nil, err
	}
	elem, err := b.plan(t.Elem(), wire)
	size, counts := allocatedOf(t.Elem()), pointerCounts(t)
	return reflected(t, func(s *decoder, v reflect.Value) error {
		typ, err := s.d.PeekType()
		switch {
		case err != nil:
			return err
		case typ == gdwire.TypeNil:
			v.SetZero()
			return s.d.ReadNil()
		}
		if !v.IsNil() {
			s.follow(v, t.Elem().Size())
		}
		if v.IsNil() {
			if err := s.charge(t, size); err != nil {
				return err
			}
			v.Set(reflect.New(t.Elem()))
		}
		if !counts {
			return elem.do(s, variableOf(v.Elem()))
		}
		if err := s.enter(t); err != nil {
			return err
		}
		err = elem.do(s, variableOf(v.Elem()))
		s.depth--
		return err
	}), err
}

// decodeAny reads the next value into x, an empty interface.
func decodeAny(s *decoder, x variable) error {
	v, err := s.any()
	if err == nil || isContainer(v) {
		*pointer[any](x) = v
	}
	return err
}

// decodeInterface decodes into the variable of the pointer in an interface with methods.
// Without a pointer, the type to decode into is unknown: an error. Interfaces in elements, made
// zero first, hold none.
func decodeInterface(s *decoder, v reflect.Value) error {
	if p := v.Elem(); v.IsNil() || p.Kind() != reflect.Pointer || p.IsNil() {
		return s.nilOrTypeError(v, nil)
	}
	plan, err := decodePlans.of(v.Elem().Type())
	if err != nil {
		return err
	}
	p := reflect.New(v.Elem().Type()).Elem()
	p.Set(v.Elem())
	if err := plan.do(s, variableOf(p)); err != nil {
		return err
	}
	if p.IsNil() {
		v.SetZero()
	}
	return nil
}
