package variant

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/gdwire/gdwire"
)

// Marshal returns the encoding of v.
func Marshal(v any, opts ...Options) ([]byte, error) {
	s := getEncoder()
	defer s.release()
	x := variableIn(v)
	plan, err := s.recent.of(&encodePlans, x.Type())
	if err != nil {
		return nil, err
	}
	s.onBytes(only(opts), s.takeBuffer(plan))
	if err := s.top(plan, x); err != nil {
		return nil, err
	}
	return s.result(plan, s.e.Bytes()), nil
}

// takeBuffer returns memory for a result that is encoded with a plan. It is no longer the
// encoder's: result decides whether it goes to the caller or back.
func (s *encoder) takeBuffer(plan *plan[encodeFunc]) []byte {
	if plan.large.Load() > 0 {
		// Swap, so that of many small values that follow a large one only one pays.
		if n := int(plan.large.Swap(0)); n > 0 {
			return make([]byte, 0, n+n/16)
		}
	}
	buf := s.buf
	s.buf = nil
	return buf
}

// result returns b, which was encoded with a plan. A small result is a copy, and its
// memory is kept for the next one. The memory of a large result is given away, unless much of
// it is unused: Marshal allocates as much for the next value of the same type, once.
func (s *encoder) result(plan *plan[encodeFunc], b []byte) []byte {
	if n := len(b); n > maxKept {
		plan.large.Store(int64(n))
		if cap(b) <= n+n/8 {
			return b
		}
	}
	if cap(b) <= 2*maxKept {
		s.buf = b[:0]
	}
	return append([]byte(nil), b...) // which, unlike make, need not be cleared
}

// MarshalEncode writes v to e as the next value. It uses the options of e.
//
// If an error occurs after a part of v has been written, the error stays in e, because
// the value cannot be completed. An error of the Writer stays, too: unlike a call on e,
// MarshalEncode cannot be repeated.
func MarshalEncode(e *gdwire.Encoder, v any) error {
	if err := e.Err(); err != nil {
		return err // also for a Marshaler that ignores it and goes on to another value
	}
	s := getEncoder()
	defer s.release()
	x := variableIn(v)
	plan, err := s.recent.of(&encodePlans, x.Type())
	if err != nil {
		return err
	}
	s.on(e)
	return s.top(plan, x)
}

// encoder is an Encoder and the state of one call of Marshal or MarshalEncode.
type encoder struct {
	e       *gdwire.Encoder
	options gdwire.EncoderOptions // of e
	format  *gdwire.Format        // of e
	depth   int
	recent  recent[encodeFunc]
	reals   [maxComponents]float64
	ints    [maxComponents]int32

	own        *gdwire.Encoder // for Marshal
	ownOptions gdwire.EncoderOptions
	buf        []byte // its memory, for small results
}

// maxKept is the size of the largest result whose memory is used again.
const maxKept = 64 << 10

var encoderPool = sync.Pool{New: func() any { return &encoder{buf: make([]byte, 0, 512)} }}

func getEncoder() *encoder { return encoderPool.Get().(*encoder) }

// on lets s write to e.
func (s *encoder) on(e *gdwire.Encoder) {
	s.e, s.options, s.depth = e, e.Options(), e.Depth()
	s.format = s.options.Format
}

// onBytes lets s write to buf.
func (s *encoder) onBytes(o *Options, buf []byte) {
	if s.own == nil || s.ownOptions != o.Encoder {
		s.own, s.ownOptions = gdwire.NewEncoder(nil, &o.Encoder), o.Encoder
	}
	s.own.ResetBytes(buf)
	s.on(s.own)
}

// release returns s to the pool.
func (s *encoder) release() {
	if s.e == s.own && s.own != nil {
		s.own.Release()
	}
	s.e = nil
	encoderPool.Put(s)
}

// variableIn returns v, the argument of Marshal or MarshalEncode, or the variable that it
// points to, which, unlike v, need not be copied to have an address.
func variableIn(v any) reflect.Value {
	r := reflect.ValueOf(v)
	if !r.IsValid() {
		return reflect.ValueOf(new(any)).Elem() // nil
	}
	if r.Kind() == reflect.Pointer && r.Elem().IsValid() && r.Elem().Kind() != reflect.Pointer {
		return r.Elem()
	}
	return r
}

// top writes x, which variableIn has returned.
func (s *encoder) top(plan *plan[encodeFunc], x reflect.Value) error {
	err := s.nested(plan.do, addressable(x))
	if err != nil {
		var known *gdwire.Error
		if failed := s.e.Fail(err); errors.As(err, &known) || errors.Is(failed, gdwire.ErrReleased) {
			return failed
		}
	}
	return err
}

// fail sets an error with a TypeError for the next value.
func (s *encoder) fail(t reflect.Type, err error) error {
	return s.e.Fail(&TypeError{Go: t, Err: err})
}

// inField adds the Go type and field to an error of the Encoder.
func (s *encoder) inField(err error, f *field) error {
	var at *gdwire.Error
	if !errors.As(err, &at) {
		return err // an error of the Writer
	}
	var t *TypeError
	if errors.As(err, &t) {
		return inField(err, f.goName)
	}
	return &gdwire.Error{Offset: at.Offset, Path: at.Path, Err: &TypeError{Go: f.typ, Field: f.goName, Err: at.Err}}
}

// An encodeFunc writes x, a variable of the plan's type.
type encodeFunc func(s *encoder, x variable) error

var encodePlans plans[encodeFunc]

func init() {
	encodePlans.make = func(r *planner[encodeFunc], key planKey) (encodeFunc, error) {
		return encodePlanner{r}.build(key)
	}
}

// An encodePlanner builds the plans for encoding.
type encodePlanner struct{ *planner[encodeFunc] }

// build returns the function that encodes a Go type. It depends on the methods of the
// type, on whether it is a type of this package, or on its kind, in this order.
func (b encodePlanner) build(key planKey) (encodeFunc, error) {
	t, wire := key.typ, key.wire
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		p := reflect.PointerTo(t)
		own := ownTypes[t]
		switch {
		case p.Implements(marshalerType) && wire == 0 && !key.isKey:
			return reflected(t, encodeMarshaler), nil
		case own != nil && (wire == 0 || wire == own.typ):
			return own.encode, nil
		case own != nil && own.math == nil && t.Kind() != reflect.String:
			return nil, misfit(t, wire)
		case own == nil && p.Implements(textMarshalerType) && isText(wire):
			return reflected(t, encodeText(wire)), nil
		}
	}
	isList := t.Kind() == reflect.Slice || t.Kind() == reflect.Array
	if wire != 0 && t.Kind() != reflect.Pointer && !(isList && wire == gdwire.TypeArray) {
		return b.typed(t, wire)
	}
	switch t.Kind() {
	case reflect.Bool:
		return encodeBool, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return encodeInteger(t), nil
	case reflect.Float32:
		return encodeFloat[float32], nil
	case reflect.Float64:
		return encodeFloat[float64], nil
	case reflect.String:
		return encodeString, nil
	case reflect.Interface:
		return encodeInterface(t, key.isKey), nil
	case reflect.Pointer:
		return b.pointer(key)
	case reflect.Slice, reflect.Array:
		return b.list(t, wire)
	case reflect.Map:
		return b.dict(t)
	case reflect.Struct:
		return b.record(t)
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

// typed is build for a tag with type=.
func (b encodePlanner) typed(t reflect.Type, wire gdwire.Type) (encodeFunc, error) {
	k := t.Kind()
	switch wire {
	case gdwire.TypeBool:
		if k == reflect.Bool {
			return encodeBool, nil
		}
	case gdwire.TypeInt, gdwire.TypeFloat:
		return encodeNumber(t, wire)
	case gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath:
		if k == reflect.String {
			return encodeTextAs(wire), nil
		}
	case gdwire.TypeDictionary:
		if k == reflect.Map {
			return b.dict(t)
		}
		if k == reflect.Struct {
			return b.record(t)
		}
	default:
		if k == reflect.Slice || k == reflect.Array {
			if p, ok := packedTypes[wire]; ok {
				return b.packed(t, p)
			}
		}
		if m, ok := componentsOf(t); ok && k != reflect.Float32 && k != reflect.Float64 && k != reflect.Int32 {
			for _, fits := range mathTypesOf(m) {
				if fits == wire {
					return encodeMath(m, wire), nil
				}
			}
		}
	}
	return nil, misfit(t, wire)
}

func misfit(t reflect.Type, wire gdwire.Type) error {
	return fmt.Errorf("type=%v does not fit Go %v", wire, t)
}

func encodeBool(s *encoder, x variable) error { return s.e.WriteBool(boolIn(x)) }

// encodeInteger is build for an integer of any kind.
func encodeInteger(t reflect.Type) encodeFunc {
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

// encodeNumber writes a number as an int or float. A number that changes by the
// conversion is an error.
func encodeNumber(t reflect.Type, wire gdwire.Type) (encodeFunc, error) {
	isFloat := wire == gdwire.TypeFloat
	switch zero := reflect.Zero(t); {
	case isFloat && t.Kind() == reflect.Float32:
		return encodeFloat[float32], nil
	case isFloat && t.Kind() == reflect.Float64:
		return encodeFloat[float64], nil
	case !isFloat && (zero.CanInt() || zero.CanUint()):
		return encodeInteger(t), nil
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
	return nil, misfit(t, wire)
}

// encodeTextAs writes a Go string as a String, StringName or NodePath.
func encodeTextAs(wire gdwire.Type) encodeFunc {
	return func(s *encoder, x variable) error { return s.textAs(wire, textIn(x)) }
}

func (s *encoder) textAs(wire gdwire.Type, text string) error {
	switch {
	case wire == gdwire.TypeNodePath:
		return s.e.WriteNodePath(text)
	case wire == gdwire.TypeStringName && s.format.Has(wire):
		return s.e.WriteStringName(text)
	}
	return s.e.WriteString(text)
}

// pointer is build for a pointer. It writes nil for a nil pointer.
func (b encodePlanner) pointer(key planKey) (encodeFunc, error) {
	t := key.typ
	if err := checkPointer(t); err != nil {
		return nil, err
	}
	key.typ = t.Elem()
	elem, err := b.planOf(key)
	return reflected(t, func(s *encoder, v reflect.Value) error {
		if v.IsNil() {
			return s.e.WriteNil()
		}
		return s.nested(elem.do, v.Elem())
	}), err
}

// nested writes v inside another value, and returns an error if v is nested too deeply.
func (s *encoder) nested(encode encodeFunc, v reflect.Value) error {
	if s.depth++; s.depth > maxDepth {
		return s.fail(v.Type(), depthError())
	}
	err := encode(s, variableOf(v))
	s.depth--
	return err
}

// encodeInterface is build for an interface.
func encodeInterface(t reflect.Type, isKey bool) encodeFunc {
	return reflected(t, func(s *encoder, v reflect.Value) error {
		if v.IsNil() {
			return s.e.WriteNil()
		}
		if s.depth++; s.depth > maxDepth {
			return s.fail(t, depthError())
		}
		err := s.any(v.Elem().Interface(), isKey)
		s.depth--
		return err
	})
}

// any writes a value of any type. The types that Unmarshal creates need no plan.
func (s *encoder) any(v any, isKey bool) error {
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
	case *Dictionary:
		if v != nil {
			return s.deeper(v, func() error { return s.dictionary(v) })
		}
		return s.e.WriteNil()
	case *Array:
		if v != nil {
			return s.deeper(v, func() error { return s.array(v) })
		}
		return s.e.WriteNil()
	}
	r := reflect.ValueOf(v)
	plan, err := encodePlans.ofKey(planKey{typ: r.Type(), isKey: isKey})
	if err != nil {
		return s.e.Fail(err)
	}
	return s.nested(plan.do, addressable(r))
}

// deeper calls write for the content of v, and returns an error if it is nested too
// deeply.
func (s *encoder) deeper(v any, write func() error) error {
	if s.depth++; s.depth > maxDepth {
		return s.fail(reflect.TypeOf(v), depthError())
	}
	err := write()
	s.depth--
	return err
}
