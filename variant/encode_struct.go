package variant

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
)

// A fieldEncoder encodes a field of a struct with the plan of its type.
type fieldEncoder struct {
	name string
	key  internal.Key // the name
	fieldLocation
	plan *plan[encodeFunc]
	*field
}

// A structEncoder writes a struct.
type structEncoder struct {
	typ    reflect.Type
	fields []*fieldEncoder
	info   *structFields
	embed  pairsFunc // of a map that collects unknown keys
	varies bool      // fields can be omitted, or pairs added
}

// makeStructEncoder returns the function that encodes a t, a struct, as a Dictionary, or as an
// Array if it is positional.
func (b encodePlanner) makeStructEncoder(t reflect.Type) (encodeFunc, error) {
	info, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	c := &structEncoder{typ: t, info: info, varies: info.embed != nil}
	for i := range info.all {
		f := &info.all[i]
		plan, err := b.fieldPlan(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.goName, err)
		}
		if len(f.index) > 1 {
			plan = b.embeddedPlan(t, f, plan)
		}
		c.fields = append(c.fields, &fieldEncoder{f.name, export.NewKey(f.name), locationOf(t, f), plan, f})
		c.varies = c.varies || f.omitZero || throughPointer(t, f.index)
	}
	if info.embed != nil && info.embed.typ.Kind() == reflect.Map {
		elem, err := b.plan(info.embed.typ.Elem(), 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", info.embed.goName, err)
		}
		c.embed = makeSortedPairsEncoder(elem, valueFunc(reflect.Value.String), func(s *encoder, _ reflect.Value, key string) error {
			if err := c.checkUnknown(s, key); err != nil {
				return err
			}
			return s.e.WriteString(key)
		})
	}
	if info.array {
		return c.encodeArray, nil
	}
	return c.makeDictEncoder(), nil
}

// throughPointer reports whether a field is in a struct embedded as a pointer.
func throughPointer(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// fieldOf returns the field of v at index, and false if a nil pointer is embedded on the
// way to it.
func fieldOf(v reflect.Value, index []int) (reflect.Value, bool) {
	for _, i := range index[:len(index)-1] {
		v = v.Field(i)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
	}
	return v.Field(index[len(index)-1]), true
}

// omits reports whether the field of v is omitted.
func (f *fieldEncoder) omits(v reflect.Value) bool {
	v, ok := fieldOf(v, f.index)
	switch {
	case !ok:
		return true
	case !f.omitZero:
		return false
	case f.isZero != nil:
		return f.isZero(v)
	}
	return v.IsZero()
}

// makeDictEncoder returns the function that writes a struct as a Dictionary. A method value
// would add a call for each struct.
func (c *structEncoder) makeDictEncoder() encodeFunc {
	return func(s *encoder, x variable) error {
		if s.depth++; s.depth > maxDepth {
			return s.fail(c.typ, depthError())
		}
		var err error
		if c.varies {
			err = c.encodeVarying(s, valueOf(x, c.typ))
		} else {
			err = encodePairs(s, x, c.fields, 0)
		}
		if err != nil {
			return err
		}
		s.depth--
		return s.e.End()
	}
}

// encodePairs writes the start of a Dictionary with the given fields of x and more pairs, and
// the fields.
func encodePairs(s *encoder, x variable, fields []*fieldEncoder, more int) error {
	if err := s.e.BeginDict(len(fields) + more); err != nil {
		return err
	}
	for _, f := range fields {
		if !export.WriteKey(s.e, &f.key) {
			if err := s.e.WriteString(f.name); err != nil {
				return err
			}
		}
		if err := f.plan.do(s, fieldAt(x, f.fieldLocation)); err != nil {
			return s.withField(err, f.field)
		}
	}
	return nil
}

// encodeVarying writes the start and the pairs of a struct with fields that are omitted, or
// with a field that collects unknown keys.
func (c *structEncoder) encodeVarying(s *encoder, v reflect.Value) error {
	// Call omits once for each field: IsZero could return another result later.
	var few [32]*fieldEncoder
	fields := few[:0]
	for _, f := range c.fields {
		if !f.omits(v) {
			fields = append(fields, f)
		}
	}
	var unknown reflect.Value
	collects := c.info.embed != nil
	if collects {
		unknown, collects = fieldOf(v, c.info.embed.index) // false if it is in a nil pointer
	}
	if !collects {
		return encodePairs(s, variableOf(v), fields, 0)
	}
	var n int
	if unknown.Kind() == reflect.Map {
		n = unknown.Len()
	} else {
		n = unknown.Interface().(*Dictionary).Len()
	}
	if err := encodePairs(s, variableOf(v), fields, n); err != nil {
		return err
	}
	if err := c.encodeEmbed(s, unknown); err != nil {
		return s.withField(err, c.info.embed)
	}
	return nil
}

// embeddedPlan returns the plan for a field of the struct t from a struct it embeds. It takes the
// whole t as its variable, because a pointer can be on the way to the field.
func (b encodePlanner) embeddedPlan(t reflect.Type, f *field, of *plan[encodeFunc]) *plan[encodeFunc] {
	return &plan[encodeFunc]{do: reflected(t, func(s *encoder, v reflect.Value) error {
		v, _ = fieldOf(v, f.index)
		return of.do(s, variableOf(v))
	})}
}

// encodeArray writes a positional struct as an Array. Fields of structs that are embedded as nil
// pointers are nil, so that the others keep their indexes.
func (c *structEncoder) encodeArray(s *encoder, x variable) error {
	if s.depth++; s.depth > maxDepth {
		return s.fail(c.typ, depthError())
	}
	if err := s.e.BeginArray(len(c.fields)); err != nil {
		return err
	}
	v := valueOf(x, c.typ)
	for _, f := range c.fields {
		if _, ok := fieldOf(v, f.index); !ok {
			if err := s.e.WriteNil(); err != nil {
				return err
			}
		} else if err := f.plan.do(s, fieldAt(x, f.fieldLocation)); err != nil {
			return s.withField(err, f.field)
		}
	}
	s.depth--
	return s.e.End()
}

// encodeEmbed writes the pairs of a field that collects unknown keys.
func (c *structEncoder) encodeEmbed(s *encoder, v reflect.Value) error {
	if v.Kind() == reflect.Map {
		return c.embed(s, v)
	}
	for k, value := range v.Interface().(*Dictionary).All() {
		text, ok := hashable(k)
		if name, isText := text.(string); ok && isText {
			if err := c.checkUnknown(s, name); err != nil {
				return err
			}
		}
		if err := s.anyKey(k); err != nil {
			return err
		}
		if err := s.any(value); err != nil {
			return err
		}
	}
	return nil
}

// checkUnknown returns an error if a collected key is the name of a field.
func (c *structEncoder) checkUnknown(s *encoder, name string) error {
	if i, ok := c.info.byName[name]; ok {
		return s.fail(c.info.embed.typ, fmt.Errorf("%w %s, the name of %s", ErrDuplicateKey, quoted(name), c.fields[i].goName))
	}
	return nil
}

// encodeMarshaler calls the MarshalVariant of v and checks that it wrote exactly one value.
func encodeMarshaler(s *encoder, v reflect.Value) error {
	before := s.position()
	err := v.Addr().Interface().(Marshaler).MarshalVariant(s.e)
	if err == nil {
		err = s.e.Err()
	}
	if err != nil {
		var known *gdwire.Error
		if errors.As(err, &known) || s.e.Err() == err {
			return err
		}
		return s.fail(v.Type(), err)
	}
	if s.e == s.bytesEncoder && s.e.OutputOffset() != int64(len(s.e.Bytes())-s.before) {
		return s.fail(v.Type(), errors.New("MarshalVariant must not reset the Encoder"))
	}
	if !before.isOneValueBefore(s.position()) {
		return s.fail(v.Type(), fmt.Errorf("%w: MarshalVariant must write exactly one value", gdwire.ErrCount))
	}
	return nil
}

// A position is the position of an Encoder or Decoder: its offset and depth, and the kind and
// index of the innermost open container.
type position struct {
	offset, index int64
	depth         int
	kind          gdwire.Kind
}

// position returns the position of s.e.
func (s *encoder) position() position {
	p := position{offset: s.e.OutputOffset(), depth: s.e.Depth()}
	p.kind, p.index, _ = s.e.StackIndex(p.depth)
	return p
}

// isOneValueBefore reports whether exactly one value is between p and q. A value must be next at
// p. Inside a pair or property, the index does not change: it counts pairs.
func (p position) isOneValueBefore(q position) bool {
	step := int64(1)
	if p.kind == gdwire.KindDictStart || p.kind == gdwire.KindObjectStart {
		step = 0
	}
	return q.depth == p.depth && q.offset > p.offset && q.index == p.index+step
}

// makeTextMarshalerEncoder returns a function that writes the text of a TextMarshaler as the
// type wire.
func makeTextMarshalerEncoder(wire gdwire.Type) func(*encoder, reflect.Value) error {
	return func(s *encoder, v reflect.Value) error {
		text, err := marshalText(s, v)
		if err != nil {
			return err
		}
		return s.textAs(wire, text)
	}
}
