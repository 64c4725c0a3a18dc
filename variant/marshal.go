package variant

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"reflect"

	"github.com/gdwire/gdwire"
)

// Marshal returns the encoding of v. The path of an error contains keys. [MarshalEncode] does
// not keep its output, and numbers the keys in paths: .value(3).
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

// MarshalAppend appends the encoding of v to dst, and returns dst after an error. Any part of the capacity of dst
// can be overwritten, also after the encoding, so the memory of v must not overlap dst.
func MarshalAppend(dst []byte, v any, opts ...Options) ([]byte, error) {
	s := getEncoder()
	defer s.release()
	x := indirect(v)
	plan, err := s.recent.of(&encodePlans, x.Type())
	if err != nil {
		return dst, err
	}
	s.resetBytes(optionsOf(opts), dst)
	if err := s.marshal(plan, v, x); err != nil {
		return dst, s.withKeys(err)
	}
	return s.e.Bytes(), nil
}

// MarshalWrite writes the encoding of v to w, through a buffer of at most 16 KiB: after an
// error, the beginning of a value can have been written.
func MarshalWrite(w io.Writer, v any, opts ...Options) error {
	e := gdwire.NewEncoder(w, &optionsOf(opts).Encoder)
	return cmp.Or(MarshalEncode(e, v), e.Close())
}

// MarshalEncode writes v to e as the next value, with the options of e.
//
// If an error occurs after a part of v was written, the error stays in e, because the value cannot
// be completed. Otherwise [gdwire.Encoder.ClearError] clears the error. An error of the Writer
// stays, too: unlike a call on e, MarshalEncode cannot be repeated.
func MarshalEncode(e *gdwire.Encoder, v any) error {
	if err := e.Err(); err != nil {
		return err // also if a Marshaler ignored the error and calls MarshalEncode for another value
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

// takeBuffer returns memory for a result encoded with a plan. The encoder no longer owns the
// memory: result hands it to the caller or back to the encoder.
func (s *encoder) takeBuffer(plan *plan[encodeFunc]) []byte {
	if plan.sizeHint.Load() > 0 {
		// Swap, so that of many small values after a large value only the first pays.
		if n := int(plan.sizeHint.Swap(0)); n > 0 {
			return make([]byte, 0, n+n/16)
		}
	}
	buf := s.buf
	s.buf = nil
	if buf == nil {
		buf = make([]byte, 0, leastBuffer)
	}
	return buf
}

// result returns b, a result encoded with a plan. A small result is copied, and the encoder keeps
// the memory of b for the next call. The caller gets the memory of a large result, unless much of
// it is unused. For the next value of the same type, Marshal then allocates as much at once.
func (s *encoder) result(plan *plan[encodeFunc], b []byte) []byte {
	if n := len(b); n > maxKept {
		plan.sizeHint.Store(int64(n))
		if cap(b) <= n+n/8 {
			return b
		}
	}
	switch {
	case cap(b) > 2*maxKept:
	case cap(b) < len(b)+leastBuffer/2: // so that a result like this one leaves room for any step of a block
		s.buf = make([]byte, 0, 2*cap(b))
	default:
		s.buf = b[:0]
	}
	return append([]byte(nil), b...) // unlike make, append does not clear the memory first
}

// indirect returns v, the argument of Marshal or MarshalEncode, or the variable of a pointer v:
// a variable is addressable, and v would have to be copied first.
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

// marshal writes v with the plan of x, the result of indirect for v.
func (s *encoder) marshal(plan *plan[encodeFunc], v any, x reflect.Value) error {
	before := s.e.OutputOffset()
	ok, err := s.tree(v)
	switch {
	case ok:
	case s.depth > maxDepth: // of the Encoder: Marshalers that call each other
		err = s.depthError(x.Type())
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
		if failed := fail(err); errors.As(err, new(*gdwire.Error)) || errors.Is(failed, gdwire.ErrClosed) {
			return failed
		}
	}
	return err
}

// withKeys returns err, an error of Marshal, with keys in the path. An Encoder does not know the
// keys, but a Decoder of the bytes written before the error arrives at the same place.
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
	for i := 1; same && i <= d.Depth(); i++ { // not after a count to be set at the end
		kind, index, _ := d.StackIndex(i)
		k, at, _ := s.e.StackIndex(i)
		same = kind == k && (index == at || i == d.Depth()) // of the innermost, the Decoder has seen the DictKey
	}
	if !same {
		return e
	}
	return &gdwire.Error{Offset: e.Offset, Path: end.Path, Err: e.Err}
}
