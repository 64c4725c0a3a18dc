package variant

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/gdwire/gdwire"
)

// Marshal returns the encoding of v. The path of an error names the keys before it; that of
// [MarshalEncode], which does not keep what it wrote, contains their numbers: .value(3).
func Marshal(v any, opts ...Options) ([]byte, error) {
	s := getEncoder()
	defer s.release()
	x := indirect(v)
	plan, err := s.recent.of(&encodePlans, x.Type())
	if err != nil {
		return nil, err
	}
	s.resetBytes(optionsOf(opts), s.takeBuffer(plan))
	if err := s.marshal(plan, v, x); err != nil {
		return nil, s.withKeys(err)
	}
	return s.result(plan, s.e.Bytes()), nil
}

// takeBuffer returns memory for a result that is encoded with a plan. The encoder no longer
// owns it: result decides whether the caller gets it or the encoder gets it back.
func (s *encoder) takeBuffer(plan *plan[encodeFunc]) []byte {
	if plan.sizeHint.Load() > 0 {
		// Swap, so that only the next of many small values after a large value pays for it.
		if n := int(plan.sizeHint.Swap(0)); n > 0 {
			return make([]byte, 0, n+n/16)
		}
	}
	buf := s.buf
	s.buf = nil
	return buf
}

// result returns the result b, which was encoded with a plan. A small result is copied, and the
// encoder keeps the memory of b for the next call. The caller gets the memory of a large
// result, unless much of it is unused. For the next value of the same type, Marshal then
// allocates as much at once.
func (s *encoder) result(plan *plan[encodeFunc], b []byte) []byte {
	if n := len(b); n > maxKept {
		plan.sizeHint.Store(int64(n))
		if cap(b) <= n+n/8 {
			return b
		}
	}
	if cap(b) <= 2*maxKept {
		s.buf = b[:0]
	}
	return append([]byte(nil), b...) // unlike make, append does not clear the memory first
}

// MarshalEncode writes v to e as the next value. It uses the options of e.
//
// If an error occurs after a part of v was written, the error stays in e, because the value cannot
// be completed. Otherwise [gdwire.Encoder.ClearError] clears it. An error of the Writer stays, too:
// unlike a call on e, MarshalEncode cannot be repeated.
func MarshalEncode(e *gdwire.Encoder, v any) error {
	if err := e.Err(); err != nil {
		return err // also if a Marshaler ignored it and calls MarshalEncode for another value
	}
	s := getEncoder()
	defer s.release()
	x := indirect(v)
	plan, err := s.recent.of(&encodePlans, x.Type())
	if err != nil {
		return err
	}
	s.reset(e)
	return s.marshal(plan, v, x)
}

// encoder holds the state of one call of Marshal or MarshalEncode, and what the pool keeps for the
// next call.
type encoder struct {
	e      *gdwire.Encoder
	format gdwire.Format // of e
	depth  int
	recent recent[encodeFunc]
	reals  [maxComponents]float64
	ints   [maxComponents]int32

	sorted [textMapSlots]any // for each textMapOf[T], a list of *sortedPairs[T] that are not in use

	bytesEncoder *gdwire.Encoder // for Marshal
	before       int             // bytes of its result that precede the value
	bytesOptions gdwire.EncoderOptions
	buf          []byte // memory for the next small result, or nil
}

// maxKept is the size in bytes of the largest result that is copied: see result.
const maxKept = 64 << 10

var encoderPool = sync.Pool{New: func() any { return &encoder{buf: make([]byte, 0, 512)} }}

func getEncoder() *encoder { return encoderPool.Get().(*encoder) }

// reset makes s write to e.
func (s *encoder) reset(e *gdwire.Encoder) {
	s.e, s.format, s.depth = e, e.Options().Format, e.Depth()
}

// resetBytes makes s append to buf, with an Encoder that the pool keeps.
func (s *encoder) resetBytes(o *Options, buf []byte) {
	if s.bytesEncoder == nil || s.bytesOptions != o.Encoder {
		s.bytesEncoder, s.bytesOptions = gdwire.NewEncoder(nil, &o.Encoder), o.Encoder
	}
	s.bytesEncoder.ResetBytes(buf)
	s.before = len(buf)
	s.reset(s.bytesEncoder)
}

// release returns s to the pool.
func (s *encoder) release() {
	if s.e == s.bytesEncoder && s.bytesEncoder != nil {
		export.Forget(s.bytesEncoder)
	}
	s.e = nil
	encoderPool.Put(s)
}

// indirect returns v, the argument of Marshal or MarshalEncode, or the variable that it points
// to, because a variable is addressable, and v would have to be copied first.
func indirect(v any) reflect.Value {
	r := reflect.ValueOf(v)
	if !r.IsValid() {
		return reflect.ValueOf(new(any)).Elem() // nil
	}
	if r.Kind() == reflect.Pointer && r.Elem().IsValid() && r.Elem().Kind() != reflect.Pointer {
		return r.Elem()
	}
	return r
}

// marshal writes v with the plan of x, which indirect returned for v.
func (s *encoder) marshal(plan *plan[encodeFunc], v any, x reflect.Value) error {
	before := s.e.OutputOffset()
	ok, err := s.tree(v)
	switch {
	case ok:
	case s.depth > maxDepth: // of the Encoder: Marshalers that call each other
		err = s.fail(x.Type(), depthError())
	case x.CanAddr():
		err = plan.do(s, variableOf(x))
	default:
		err = s.encodeIn(plan, v, x)
	}
	if err != nil {
		fail := s.e.Fail
		if s.e.OutputOffset() == before { // as after an invalid call, which writes nothing
			fail = s.refuse
		}
		var known *gdwire.Error
		if failed := fail(err); errors.As(err, &known) || errors.Is(failed, gdwire.ErrClosed) {
			return failed
		}
	}
	return err
}

// fail makes the Encoder fail with a TypeError at the next value, and returns the error. If a part
// of the value was written, marshal makes it stay.
func (s *encoder) fail(t reflect.Type, err error) error {
	return s.refuse(&TypeError{Go: t, Err: err})
}

// refuse makes err the error of the Encoder, until ClearError.
func (s *encoder) refuse(err error) error { return export.Refuse(s.e, err) }

// withField returns err, an error in field f, with the Go type and name of the field. An error
// of the Writer remains as it is.
func (s *encoder) withField(err error, f *field) error {
	var at *gdwire.Error
	if !errors.As(err, &at) {
		return err // an error of the Writer
	}
	var t *TypeError
	if errors.As(err, &t) {
		return withField(err, f.goName)
	}
	return &gdwire.Error{Offset: at.Offset, Path: at.Path, Err: &TypeError{Go: f.typ, Field: f.goName, Err: at.Err}}
}

// withKeys returns err, an error of Marshal, with the keys in its path, which an Encoder does not
// know. The bytes of the value before the error contain them, so a Decoder of these arrives at the
// same place.
func (s *encoder) withKeys(err error) error {
	e, ok := err.(*gdwire.Error)
	b := s.e.Bytes()
	if !ok || len(b) < s.before { // a Marshaler has reset the Encoder
		return err
	}
	d := gdwire.NewDecoder(bytes.NewReader(b[s.before:]), &gdwire.DecoderOptions{ // not ResetBytes, which refuses counts of more
		Format: s.format, AllowObjects: true, AllowInvalidUTF8: true, DoubleReals: s.bytesOptions.DoubleReals,
		Limits: gdwire.NoLimits,
	})
	defer d.Release()
	for err = nil; err == nil; {
		_, err = d.ReadToken()
	}
	end, ok := err.(*gdwire.Error)
	same := ok && end.Offset == e.Offset && d.Depth() == s.e.Depth()
	for i := 1; same && i <= d.Depth(); i++ { // not after a count that was to be set at the end
		kind, index, _ := d.StackIndex(i)
		k, at, _ := s.e.StackIndex(i)
		same = kind == k && (index == at || i == d.Depth()) // of the innermost, the Decoder has seen the DictKey
	}
	if !same {
		return e
	}
	return &gdwire.Error{Offset: e.Offset, Path: end.Path, Err: e.Err}
}

// An encodeFunc writes x, a variable of the plan's type.
type encodeFunc func(s *encoder, x variable) error

var encodePlans plans[encodeFunc]

func init() {
	encodePlans.build = func(r *planner[encodeFunc], key planKey) (encodeFunc, error) {
		return encodePlanner{r}.makeEncoder(key)
	}
}

// An encodePlanner builds the plans for encoding.
type encodePlanner struct{ *planner[encodeFunc] }

// makeEncoder returns the function that encodes the Go type of key. It depends on the methods
// of the type, on whether it is a type of this package, on the type= in key, or on its kind, in
// this order.
func (b encodePlanner) makeEncoder(key planKey) (encodeFunc, error) {
	t, wire := key.typ, key.wire
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		p := reflect.PointerTo(t)
		own := ownTypes[t]
		switch {
		case p.Implements(marshalerType) && wire != 0:
			return nil, tagError(t, wire) // the method chooses the type
		case p.Implements(marshalerType) && !key.isKey:
			return reflected(t, encodeMarshaler), nil
		case own != nil && (wire == 0 || wire == own.typ):
			return own.encode, nil
		case own != nil && own.math == nil && t.Kind() != reflect.String:
			return nil, tagError(t, wire)
		case own == nil && p.Implements(textMarshalerType) && isText(wire):
			return reflected(t, makeTextMarshalerEncoder(wire)), nil
		}
	}
	isList := t.Kind() == reflect.Slice || t.Kind() == reflect.Array
	if wire != 0 && t.Kind() != reflect.Pointer && !(isList && wire == gdwire.TypeArray) {
		return b.makeTaggedEncoder(t, wire)
	}
	switch t.Kind() {
	case reflect.Bool:
		return encodeBool, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return makeIntegerEncoder(t), nil
	case reflect.Float32:
		return encodeFloat[float32], nil
	case reflect.Float64:
		return encodeFloat[float64], nil
	case reflect.String:
		return encodeString, nil
	case reflect.Interface:
		return makeInterfaceEncoder(t, key.isKey), nil
	case reflect.Pointer:
		return b.makePointerEncoder(key)
	case reflect.Slice:
		return b.makeSliceEncoder(t, wire)
	case reflect.Array:
		return b.makeArrayEncoder(t, wire)
	case reflect.Map:
		return b.makeMapEncoder(t)
	case reflect.Struct:
		return b.makeStructEncoder(t)
	}
	return nil, fmt.Errorf("%v has no Variant type", t)
}

// isText reports whether text can be encoded as the given type= of a tag. 0 means that
// there is no type=.
func isText(wire gdwire.Type) bool {
	switch wire {
	case 0, gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath:
		return true
	}
	return false
}

// makeTaggedEncoder returns the function that encodes a t as the type wire, the type= of a tag.
func (b encodePlanner) makeTaggedEncoder(t reflect.Type, wire gdwire.Type) (encodeFunc, error) {
	k := t.Kind()
	switch wire {
	case gdwire.TypeBool:
		if k == reflect.Bool {
			return encodeBool, nil
		}
	case gdwire.TypeInt, gdwire.TypeFloat:
		return makeNumberEncoder(t, wire)
	case gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath:
		if k == reflect.String {
			return makeStringEncoder(wire), nil
		}
	case gdwire.TypeDictionary:
		if k == reflect.Map {
			return b.makeMapEncoder(t)
		}
		if k == reflect.Struct {
			return b.makeStructEncoder(t)
		}
	default:
		if k == reflect.Slice || k == reflect.Array {
			if p, ok := packedTypes[wire]; ok {
				return b.makePackedEncoder(t, p)
			}
		}
		if m, ok := componentsOf(t); ok && k != reflect.Float32 && k != reflect.Float64 && k != reflect.Int32 {
			for _, fits := range mathTypesOf(m) {
				if fits == wire {
					return makeMathEncoder(m, wire), nil
				}
			}
		}
	}
	return nil, tagError(t, wire)
}

// tagError returns the error for a type= in a tag that a t cannot be encoded as.
func tagError(t reflect.Type, wire gdwire.Type) error {
	return (&tag{wire: wire}).error(t)
}

// encodeBool, encodeInt, encodeUint, encodeFloat and encodeString write a bool, number or string
// kind.
func encodeBool(s *encoder, x variable) error { return s.e.WriteBool(boolIn(x)) }

// makeIntegerEncoder returns the function that encodes a t, an integer of any kind, as an int.
func makeIntegerEncoder(t reflect.Type) encodeFunc {
	switch t.Kind() {
	case reflect.Int:
		return encodeInt[int]
	case reflect.Int8:
		return encodeInt[int8]
	case reflect.Int16:
		return encodeInt[int16]
	case reflect.Int32:
		return encodeInt[int32]
	case reflect.Int64:
		return encodeInt[int64]
	}
	return reflected(t, encodeUint)
}

func encodeInt[T int | int8 | int16 | int32 | int64](s *encoder, x variable) error {
	return s.e.WriteInt(intIn[T](x))
}

func encodeUint(s *encoder, v reflect.Value) error {
	x := v.Uint()
	if x > 1<<63-1 {
		return s.fail(v.Type(), gdwire.ErrRange)
	}
	return s.e.WriteInt(int64(x))
}

func encodeFloat[T float32 | float64](s *encoder, x variable) error {
	return s.e.WriteFloat(floatIn[T](x))
}

func encodeString(s *encoder, x variable) error { return s.e.WriteString(textIn(x)) }

// makeNumberEncoder returns the function that encodes a t, a number, as the type wire, an int
// or float. A number that the conversion would change is an error.
func makeNumberEncoder(t reflect.Type, wire gdwire.Type) (encodeFunc, error) {
	isFloat := wire == gdwire.TypeFloat
	switch zero := reflect.Zero(t); {
	case isFloat && t.Kind() == reflect.Float32:
		return encodeFloat[float32], nil
	case isFloat && t.Kind() == reflect.Float64:
		return encodeFloat[float64], nil
	case !isFloat && (zero.CanInt() || zero.CanUint()):
		return makeIntegerEncoder(t), nil
	case isFloat && zero.CanInt():
		return reflected(t, func(s *encoder, v reflect.Value) error {
			x := float64(v.Int())
			if x >= 1<<63 || int64(x) != v.Int() {
				return s.fail(t, gdwire.ErrRange)
			}
			return s.e.WriteFloat(x)
		}), nil
	case isFloat && zero.CanUint():
		return reflected(t, func(s *encoder, v reflect.Value) error {
			x := float64(v.Uint())
			if x >= 1<<64 || uint64(x) != v.Uint() {
				return s.fail(t, gdwire.ErrRange)
			}
			return s.e.WriteFloat(x)
		}), nil
	case zero.CanFloat():
		return reflected(t, func(s *encoder, v reflect.Value) error {
			x := v.Float()
			if !(x >= -1<<63 && x < 1<<63) || float64(int64(x)) != x {
				return s.fail(t, gdwire.ErrRange)
			}
			return s.e.WriteInt(int64(x))
		}), nil
	}
	return nil, tagError(t, wire)
}

// makeStringEncoder returns the function that encodes a string kind as the type wire, a String,
// StringName or NodePath.
func makeStringEncoder(wire gdwire.Type) encodeFunc {
	return func(s *encoder, x variable) error { return s.textAs(wire, textIn(x)) }
}

// textAs writes text as the type wire. A StringName becomes a String in a format without it.
func (s *encoder) textAs(wire gdwire.Type, text string) error {
	switch {
	case wire == gdwire.TypeNodePath:
		return s.e.WriteNodePath(text)
	case wire == gdwire.TypeStringName && s.format.Has(wire):
		return s.e.WriteStringName(text)
	}
	return s.e.WriteString(text)
}

// makePointerEncoder returns the function that encodes a pointer as the value it points to, or
// as nil.
func (b encodePlanner) makePointerEncoder(key planKey) (encodeFunc, error) {
	t := key.typ
	if err := checkPointer(t); err != nil {
		return nil, err
	}
	key.typ = t.Elem()
	elem, err := b.planOf(key)
	return pointerEncoder(t, elem), err
}

// pointerEncoder returns the function that encodes a t, a pointer to a value with a plan.
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

// encodeNested writes v, to which a pointer leads, one level deeper than the pointer. It returns an
// error if the depth exceeds maxDepth. Each container counts its own level, for its content.
func (s *encoder) encodeNested(encode encodeFunc, v reflect.Value) error {
	if s.depth++; s.depth > maxDepth {
		return s.fail(v.Type(), depthError())
	}
	err := encode(s, variableOf(v))
	s.depth--
	return err
}

// encodeIn writes x, the value in v. It copies x, unless only plans of this
// package read it, which do not write: -25 % of the time of a small struct.
func (s *encoder) encodeIn(plan *plan[encodeFunc], v any, x reflect.Value) error {
	in, ok := variableIn(v)
	if !ok || !plan.readOnly {
		return plan.do(s, variableOf(addressable(x)))
	}
	return plan.do(s, in)
}

// isReadOnly reports whether no method can get the address of a t, or of a part of it, while it is
// encoded. A t must be larger than a pointer: smaller types can be in an interface without an address.
func isReadOnly(t reflect.Type) bool { return t.Size() > pointerSize && hasNoMethods(t) }

// hasNoMethods reports whether neither t nor a type of its fields or elements has methods, but for
// those of types of this package, which do not write.
func hasNoMethods(t reflect.Type) bool {
	switch {
	case ownTypes[t] != nil:
		return true
	case reflect.PointerTo(t).NumMethod() > 0:
		return false
	case t.Kind() == reflect.Array:
		return hasNoMethods(t.Elem())
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if !hasNoMethods(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}

// makeInterfaceEncoder returns the function that encodes a t, an interface, as the value in it.
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

// anyKey writes a key of any type.
func (s *encoder) anyKey(k any) error {
	switch k.(type) {
	case nil, bool, int64, int, float64, string:
		return s.any(k)
	}
	return s.planned(k, true)
}

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

// planned writes a value or key, of a type that trees consist of, or else with its plan.
func (s *encoder) planned(v any, isKey bool) error {
	if ok, err := s.tree(v); ok {
		return err
	}
	r := reflect.ValueOf(v)
	plan, err := encodePlans.ofKey(planKey{typ: r.Type(), isKey: isKey})
	if err != nil {
		return s.refuse(err)
	}
	return s.encodeIn(plan, v, r)
}

// tree writes v and returns true if v is of a type that trees in an any consist of. Otherwise it
// writes nothing. It needs no plan, and no addressable copy of v.
func (s *encoder) tree(v any) (ok bool, err error) {
	switch v := v.(type) {
	case *Dictionary:
		if v == nil {
			return true, s.e.WriteNil()
		}
		return true, s.dictionary(v)
	case *Array:
		if v == nil {
			return true, s.e.WriteNil()
		}
		return true, s.array(v)
	case map[string]any:
		return true, anyMaps.encode(s, v, reflect.TypeFor[map[string]any]())
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
	if s.depth++; s.depth > maxDepth {
		return s.fail(reflect.TypeFor[[]any](), depthError())
	}
	for _, x := range v {
		if err := s.any(x); err != nil {
			return err
		}
	}
	s.depth--
	return s.e.End()
}
