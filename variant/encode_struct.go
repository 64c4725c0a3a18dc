package variant

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
)

// Encoders of any, pointers and structs.

// anyMaps encodes the maps of trees.
var anyMaps *mapEncoder

func init() { // any refers to anyMaps
	anyMaps = newMapEncoder(reflect.TypeFor[map[string]any](), mapKeys{}, &plan[encodeFunc]{do: encodeAny})
}

// encodeAny writes a value of any type.
func encodeAny(s *encoder, x variable) error { return s.any(*pointer[any](x)) }

// any writes a value of any type. The most frequent types in an any need no lookup of a plan.
func (s *encoder) any(v any) error {
	switch v := v.(type) {
	case nil:
		return s.e.WriteNil()
	case bool:
		return s.e.WriteBool(v)
	case int64:
		return s.e.WriteInt(v)
	case int:
		return s.e.WriteInt(int64(v))
	case float64:
		return s.e.WriteFloat(v)
	case string:
		return s.e.WriteString(v)
	}
	return s.planned(v, false)
}

// anyKey writes a key of any type.
func (s *encoder) anyKey(k any) error {
	switch k.(type) {
	case nil, bool, int64, int, float64, string:
		return s.any(k)
	}
	return s.planned(k, true)
}

// planned writes a value or key, directly if it is of a type found in trees, or else with a plan.
func (s *encoder) planned(v any, isKey bool) error {
	if ok, err := s.tree(v); ok {
		return err
	}
	plans := &s.values
	if isKey {
		plans = &s.keys
	}
	plan, err := plans.of(&encodePlans, reflect.TypeOf(v))
	if err != nil {
		return s.refuse(err)
	}
	return s.encodeIn(plan, v, reflect.ValueOf(v))
}

// tree writes v, without a plan or an addressable copy, and returns true if v is of a type found
// in the trees of an any. Otherwise it writes nothing.
func (s *encoder) tree(v any) (ok bool, err error) {
	switch v := normal(v).(type) {
	case nil:
		return true, s.e.WriteNil()
	case *Dictionary:
		return true, s.dictionary(v)
	case *Array:
		return true, s.array(v)
	case *Object:
		return true, s.object(v)
	case map[string]any:
		s.anyMap = v
		return true, anyMaps.encode(s, variableAt(&s.anyMap))
	case []any:
		return true, s.list(v)
	}
	return false, nil
}

// list writes v as an Array.
func (s *encoder) list(v []any) error {
	if err := s.e.BeginArray(len(v)); err != nil {
		return err
	}
	if err := s.enter(reflect.TypeFor[[]any]()); err != nil {
		return err
	}
	for _, x := range v {
		if err := s.any(x); err != nil {
			return err
		}
	}
	return s.leave()
}

func (s *encoder) array(v *Array) error {
	if err := s.enter(reflect.TypeFor[*Array]()); err != nil {
		return err
	}
	if err := s.e.BeginTypedArray(len(v.Values), v.Elem); err != nil {
		return err
	}
	for _, x := range v.Values {
		if err := s.any(x); err != nil {
			return err
		}
	}
	return s.leave()
}

func (s *encoder) dictionary(v *Dictionary) error {
	if err := s.enter(reflect.TypeFor[*Dictionary]()); err != nil {
		return err
	}
	if err := s.e.BeginTypedDict(v.Len(), v.Key, v.Value); err != nil {
		return err
	}
	for k, x := range v.All() {
		if err := s.anyKey(k); err != nil {
			return err
		}
		if err := s.any(x); err != nil {
			return err
		}
	}
	return s.leave()
}

func (s *encoder) object(v *Object) error {
	if err := s.e.BeginObject(v.Class, len(v.Properties)); err != nil {
		return err
	}
	if err := s.enter(reflect.TypeFor[Object]()); err != nil {
		return err
	}
	for i := range v.Properties {
		p := &v.Properties[i]
		if err := s.e.WriteProperty(p.Name); err != nil {
			return err
		}
		if err := s.any(p.Value); err != nil {
			return err
		}
	}
	return s.leave()
}

// makePointerEncoder returns the function encoding a pointer as the value pointed to, or as nil.
func (b encodePlanner) makePointerEncoder(key planKey) (encodeFunc, error) {
	t := key.typ
	if err := checkPointer(t); err != nil {
		return nil, err
	}
	key.typ = t.Elem()
	elem, err := b.planOf(key)
	return pointerEncoder(t, elem), err
}

// pointerEncoder returns the function encoding a t, a pointer to a value with a plan.
func pointerEncoder(t reflect.Type, elem *plan[encodeFunc]) encodeFunc {
	counts := pointerCounts(t)
	return reflected(t, func(s *encoder, v reflect.Value) error {
		switch {
		case v.IsNil():
			return s.e.WriteNil()
		case counts:
			return s.encodeNested(elem.do, v.Elem())
		}
		return elem.do(s, variableOf(v.Elem()))
	})
}

// makeInterfaceEncoder returns the function encoding a t, an interface, as the value inside.
func makeInterfaceEncoder(t reflect.Type, isKey bool) encodeFunc {
	write := (*encoder).any
	if isKey {
		write = (*encoder).anyKey
	}
	if t.NumMethod() == 0 {
		return func(s *encoder, x variable) error { return write(s, *pointer[any](x)) }
	}
	return reflected(t, func(s *encoder, v reflect.Value) error {
		if v.IsNil() {
			return s.e.WriteNil()
		}
		return write(s, v.Elem().Interface())
	})
}

// encodeMarshaler calls the MarshalVariant of v and checks that exactly one value was written.
func encodeMarshaler(s *encoder, v reflect.Value) error {
	before := s.position()
	err := v.Addr().Interface().(Marshaler).MarshalVariant(s.e)
	if err == nil {
		err = s.e.Err()
	}
	if err != nil {
		if errors.As(err, new(*gdwire.Error)) || s.e.Err() == err {
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

// encoder returns a function writing the text as a type.
func (m *textMethod) encoder(typ gdwire.Type) encodeFunc {
	return func(s *encoder, x variable) error {
		t := s.methodText
		if s.methodText = (methodText{}); !t.isNext {
			t.text, t.err = m.text(s, x)
		}
		if t.err != nil {
			return s.fail(m.typ, t.err)
		}
		return s.textAs(typ, t.text)
	}
}

// A structEncoder writes a struct.
type structEncoder struct {
	typ    reflect.Type
	vars   variableType // typ
	fields []*fieldEncoder
	info   *structFields
	omits  bool // fields can be omitted

	// Of a field for unknown keys:
	embed       *mapEncoder   // of a map
	unknown     fieldLocation // outside embedded pointers
	isInPointer bool
}

// makeStructEncoder returns the function to encode the struct type of key as a Dictionary, or a positional
// struct as an Array.
func (b encodePlanner) makeStructEncoder(key planKey) (encodeFunc, error) {
	t := key.typ
	info, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	c := &structEncoder{typ: t, vars: variableTypeOf(t), info: info}
	for i := range info.all {
		f := &info.all[i]
		plan, err := b.fieldPlan(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.goName, err)
		}
		var at fieldLocation
		if throughPointer(t, f.index) {
			plan = b.embeddedPlan(t, f, plan)
		} else {
			at = locationOf(t, f.index)
		}
		e := &fieldEncoder{f.name, export.NewKey(f.name), at, plan, omitsOf(t, f), f}
		c.fields = append(c.fields, e)
		c.omits = c.omits || e.omits != nil
	}
	if info.embed != nil {
		if c.isInPointer = throughPointer(t, info.embed.index); !c.isInPointer {
			c.unknown = locationOf(t, info.embed.index)
		}
	}
	if info.embed != nil && info.embed.typ.Kind() == reflect.Map {
		elem, err := b.plan(info.embed.typ.Elem(), 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", info.embed.goName, err)
		}
		keys, err := b.keysOf(info.embed.typ.Key(), gdwire.Elem{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", info.embed.goName, err)
		}
		if info.embed.typ.Key() != reflect.TypeFor[NodePath]() { // which names no field
			keys.check = c.checkUnknownIn
		}
		c.embed = newMapEncoder(info.embed.typ, keys, elem)
	}
	if info.array {
		return c.encodeArray, nil
	}
	if !c.omits && info.embed == nil {
		b.pending[key].parts = c.fields
	}
	return c.makeDictEncoder(), nil
}

// omitsOf returns the function that reports whether a field of the struct t is omitted, or nil for a field never omitted.
func omitsOf(t reflect.Type, f *field) func(x variable) bool {
	isZero, vars := f.isZero, variableTypeOf(f.typ)
	if isZero == nil {
		isZero = reflect.Value.IsZero
	}
	switch {
	case throughPointer(t, f.index):
		vars = variableTypeOf(t)
		return func(x variable) bool {
			v, ok := fieldOf(vars.value(x), f.index)
			return !ok || f.omitZero && isZero(v)
		}
	case !f.omitZero:
		return nil
	case f.isZero == nil && zeroTests[f.typ.Kind()] != nil:
		return zeroTests[f.typ.Kind()]
	}
	return func(x variable) bool { return isZero(vars.value(x)) }
}

// zeroTests contains equivalents of reflect.Value.IsZero for frequent kinds: -25 % of structs with omitzero.
var zeroTests = map[reflect.Kind]func(variable) bool{
	reflect.Bool:    func(x variable) bool { return !boolIn(x) },
	reflect.Int:     func(x variable) bool { return intIn[int](x) == 0 },
	reflect.Int32:   func(x variable) bool { return intIn[int32](x) == 0 },
	reflect.Int64:   func(x variable) bool { return intIn[int64](x) == 0 },
	reflect.Float32: func(x variable) bool { return floatIn[float32](x) == 0 },
	reflect.Float64: func(x variable) bool { return floatIn[float64](x) == 0 },
	reflect.String:  func(x variable) bool { return textIn(x) == "" },
}

// makeDictEncoder returns the function to write a struct as a Dictionary. A method value
// would add a call for each struct. See makeScalarDecoder for noinline.
//
//go:noinline
func (c *structEncoder) makeDictEncoder() encodeFunc {
	return func(s *encoder, x variable) error {
		if err := s.enter(c.typ); err != nil {
			return err
		}
		var err error
		switch {
		case c.omits:
			err = c.encodeOmitting(s, x)
		case c.info.embed != nil:
			err = c.encodeCollected(s, x, c.fields)
		default:
			err = encodePairs(s, x, c.fields, 0)
		}
		if err != nil {
			return err
		}
		return s.leave()
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

// encodeOmitting writes the start and the pairs of a struct with omitted fields.
func (c *structEncoder) encodeOmitting(s *encoder, x variable) error {
	// Call omits once for each field: IsZero could return another result later.
	var few [32]*fieldEncoder
	fields := few[:0]
	for _, f := range c.fields {
		if f.omits == nil || !f.omits(fieldAt(x, f.fieldLocation)) {
			fields = append(fields, f)
		}
	}
	return c.encodeCollected(s, x, fields)
}

// encodeCollected writes the start of a struct, some of its fields, and the pairs of a field for unknown keys, if
// there is one.
func (c *structEncoder) encodeCollected(s *encoder, x variable, fields []*fieldEncoder) (err error) {
	if c.info.embed == nil {
		return encodePairs(s, x, fields, 0)
	}
	unknown := fieldAt(x, c.unknown)
	if c.isInPointer {
		v, ok := fieldOf(c.vars.value(x), c.info.embed.index)
		if !ok {
			return encodePairs(s, x, fields, 0)
		}
		unknown = variableOf(v)
	}
	if c.embed == nil {
		d := *pointer[*Dictionary](unknown)
		if err := encodePairs(s, x, fields, d.Len()); err != nil {
			return err
		}
		err = c.encodeEmbed(s, d)
	} else {
		p, n := c.embed.take(s, unknown)
		if err := encodePairs(s, x, fields, n); err != nil {
			return err
		}
		err = c.embed.write(s, p, n)
		c.embed.giveBack(s, p, n)
	}
	if err != nil {
		return s.withField(err, c.info.embed)
	}
	return nil
}

// embeddedPlan returns the plan for a field of the struct t reached through a pointer. The plan takes
// the whole t as its variable.
func (b encodePlanner) embeddedPlan(t reflect.Type, f *field, of *plan[encodeFunc]) *plan[encodeFunc] {
	return &plan[encodeFunc]{do: reflected(t, func(s *encoder, v reflect.Value) error {
		v, _ = fieldOf(v, f.index)
		return of.do(s, variableOf(v))
	})}
}

// encodeArray writes a positional struct as an Array. Fields of structs embedded as nil
// pointers are nil, so that the others keep their indexes.
func (c *structEncoder) encodeArray(s *encoder, x variable) error {
	if err := s.enter(c.typ); err != nil {
		return err
	}
	if err := s.e.BeginArray(len(c.fields)); err != nil {
		return err
	}
	v := c.vars.value(x)
	for _, f := range c.fields {
		if _, ok := fieldOf(v, f.index); !ok {
			if err := s.e.WriteNil(); err != nil {
				return err
			}
		} else if err := f.plan.do(s, fieldAt(x, f.fieldLocation)); err != nil {
			return s.withField(err, f.field)
		}
	}
	return s.leave()
}

// encodeEmbed writes the pairs of a Dictionary with unknown keys.
func (c *structEncoder) encodeEmbed(s *encoder, d *Dictionary) error {
	for k, value := range d.All() {
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

// checkUnknownIn returns an error if the name of a field is a key of a collected map.
func (c *structEncoder) checkUnknownIn(s *encoder, m *mapEncoder, p *mapPairs, order []sortedKey) error {
	for _, k := range order {
		if err := c.checkUnknown(s, textIn(m.keyAt(p, k.at))); err != nil {
			return err
		}
	}
	return nil
}

// checkUnknown returns an error if a collected key is the name of a field.
func (c *structEncoder) checkUnknown(s *encoder, name string) error {
	if c.info.bits&nameBit(name) == 0 {
		return nil
	}
	if i, ok := c.info.byName[name]; ok {
		return s.fail(c.info.embed.typ, fmt.Errorf("%w %s, the name of %s", ErrDuplicateKey, quoted(name), c.fields[i].goName))
	}
	return nil
}

// fieldPlan returns the plan of a field. A plan with declared types is for the field alone.
func (b encodePlanner) fieldPlan(f *field) (*plan[encodeFunc], error) {
	if !f.isTyped() {
		return b.plan(f.typ, f.wire)
	}
	do, err := b.makeTypedEncoder(f.typ, &f.tag)
	return &plan[encodeFunc]{do: do}, err
}

// makeTypedEncoder returns the function to encode a t as an Array or Dictionary with the declared
// types of a tag.
func (b encodePlanner) makeTypedEncoder(t reflect.Type, tag *tag) (encodeFunc, error) {
	k := t.Kind()
	switch isOwn := ownTypeOf(t) != nil || reflect.PointerTo(t).Implements(marshalerType); {
	case isOwn:
	case k == reflect.Pointer:
		if err := checkPointer(t); err != nil {
			return nil, err
		}
		do, err := b.makeTypedEncoder(t.Elem(), tag)
		return pointerEncoder(t, &plan[encodeFunc]{do: do}), err
	case tag.wire == gdwire.TypeArray && (k == reflect.Slice || k == reflect.Array):
		return b.makeTypedListEncoder(t, tag.elem)
	case tag.wire == gdwire.TypeDictionary && k == reflect.Map:
		return b.makeMapEncoder(t, tag)
	}
	return nil, tag.error(t)
}
