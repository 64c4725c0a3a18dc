package variant

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/internal/values/reals"
)

// The calls that decode and encode: of bytes, of Decoders and Encoders, and of packets.

// Unmarshal decodes data, which must be exactly one value, into the variable pointed to by v. For
// a value followed by other bytes, use [UnmarshalFirst]; for the content of a file with lengths,
// package savefile. Afterwards, the variable refers to no part of data. Memory already in the
// variable is filled again and must not overlap data.
//
// After an error, the variable holds the parts decoded before, or the whole value if the error is
// about bytes after the value. An any holds the parts of a container.
func Unmarshal(data []byte, v any, opts ...Options) error {
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, optionsOf(opts))
	err := s.unmarshal(v)
	if err == nil {
		err = s.atEnd(data)
	}
	if err != nil {
		return explain(err, data)
	}
	return nil
}

// UnmarshalFirst decodes the first of several consecutive values in memory, at the start of
// data, as [Unmarshal] does. It returns the bytes after the value, or data after an error.
func UnmarshalFirst(data []byte, v any, opts ...Options) (rest []byte, err error) {
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, optionsOf(opts))
	if err := s.unmarshal(v); err != nil {
		return data, explain(err, data)
	}
	return data[s.d.InputOffset():], nil
}

// UnmarshalRead decodes the content of r up to io.EOF, which must be exactly one value, into the variable pointed
// to by v. To read the next value of a connection, use [UnmarshalDecode]: UnmarshalRead does not return while a
// connection stays open. If r is empty, the error is io.EOF.
//
// Options.Decoder.OneValue has no effect. After an error of the content, UnmarshalRead reads up to
// 1 MiB of r, if r can be a file with lengths, for the text of the error.
func UnmarshalRead(r io.Reader, v any, opts ...Options) error {
	o := *optionsOf(opts)
	o.Decoder.OneValue = false // true would hide the bytes after the value
	var g wire.Guess
	r = io.TeeReader(checked.Reader{R: r}, &g)
	d := gdwire.NewDecoder(r, &o.Decoder)
	defer d.Release()
	err := UnmarshalDecode(d, v, o)
	if err == nil {
		err = atEOF(d)
	}
	if at, ok := err.(*gdwire.Error); ok {
		return withHint(at, &g, readOn(r, &g))
	}
	return err
}

// UnmarshalDecode decodes the next value of d, also inside a container, into the variable
// pointed to by v, with the options of d. At the end of the input, the error is io.EOF.
//
// Where no value is next, UnmarshalDecode returns an error and consumes nothing:
// [gdwire.ErrCount] at an End, and [gdwire.ErrType] at the name of a property or inside a packed
// array. Nothing is consumed either if the value itself is of the wrong type or out of range.
// After other errors, such as for an element of an Array or packed array, d can be inside the
// value; use [gdwire.Decoder.SkipTo] to continue after the value. UnmarshalDecode cannot be
// repeated after an error of the Reader.
func UnmarshalDecode(d *gdwire.Decoder, v any, opts ...Options) error {
	s := getDecoder() // not released if a method panics
	s.reset(d, optionsOf(opts))
	err := s.unmarshal(v)
	s.release()
	return err
}

// Unmarshal decodes r into the variable pointed to by v, as the function Unmarshal does.
// [Options].Decoder.Format has no effect: r.Format applies.
func (r Raw) Unmarshal(v any, opts ...Options) error {
	o := *optionsOf(opts)
	o.Decoder.Format = r.Format
	return Unmarshal(r.data(), v, o)
}

// DoubleReals reports whether r contains a math type, or an array of vectors, with components of 64
// bits, as engines of double precision write them. An any does not keep this width: encode the
// value with the same Encoder.DoubleReals, because otherwise components are rounded to 32 bits.
//
//	var r variant.Raw
//	err := variant.Unmarshal(data, &r)
//	…
//	err = r.Unmarshal(&v)
//	…
//	o := gdwire.EncoderOptions{DoubleReals: r.DoubleReals()}
//	data, err = variant.Marshal(v, variant.Options{Encoder: o})
//
// DoubleReals reads r up to the first such value, or up to an error, and returns false in the
// formats of manuals: their encoding does not tell.
func (r Raw) DoubleReals() bool {
	d := r.decoder(gdwire.EncoderOptions{AllowInvalidUTF8: true})
	defer d.Release()
	w, _ := reals.Read(d)
	return w == reals.Double
}

// unmarshal reads the next value into the variable pointed to by v.
func (s *decoder) unmarshal(v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("variant: Unmarshal into %T, which is not a pointer to a variable", v)
	}
	if s.d.Depth() > 0 { // otherwise a value is next, or the end of the input
		if _, err := s.d.PeekType(); err != nil {
			return err
		}
	}
	if v, ok := v.(*any); ok {
		x, err := s.any()
		if err == nil || isContainer(x) {
			*v = x
		}
		return err
	}
	x := p.Elem()
	plan, err := s.recent.of(&decodePlans, x.Type())
	if err != nil {
		return err
	}
	s.argument = x
	return plan.do(s, variableOf(x))
}

// Validate returns nil if data is one complete value and nothing else, and otherwise an error
// with the offset and path of the first fault. The checks are those of Unmarshal into an any,
// with the limits of [Options].Decoder but without MaxMemory; nothing is allocated.
func Validate(data []byte, opts ...Options) error {
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, optionsOf(opts))
	export.WatchNodePaths(s.d)
	err := s.d.SkipValue()
	if !export.OnlyPlainNodePaths(s.d) {
		s.d.ResetBytes(data)
		err = s.skipChecked()
	}
	switch err {
	case nil:
		return s.atEnd(data)
	case io.EOF:
		return noValueError()
	}
	return err
}

// skipChecked skips the next value as SkipValue does, but a NodePath that cannot become text is an
// error, as in nodePathText.
func (s *decoder) skipChecked() error {
	for {
		t, err := s.d.ReadToken()
		if err == nil {
			switch t.Kind() {
			case gdwire.KindNodePathStart:
				err = s.checkNames(t)
			case gdwire.KindPackedStart:
				err = s.d.SkipTo(s.d.Depth() - 1)
			}
		}
		if err != nil || s.d.Depth() == 0 {
			return err
		}
	}
}

// checkNames reads the names of the NodePath starting with t.
func (s *decoder) checkNames(t gdwire.Token) error {
	names, n := namesOf(t)
	for range n {
		offset := s.d.InputOffset()
		start, ok := s.scratch[:0], true // the start of the name, for the error
		for last := false; !last; {
			chunk, err := s.d.ReadToken()
			if err != nil {
				return err
			}
			_, err = names.Next(chunk.Bytes(), chunk.Last())
			ok = ok && err == nil
			start = append(start, chunk.Bytes()[:min(len(chunk.Bytes()), quotedBytes-len(start))]...)
			last = chunk.Last()
		}
		if s.scratch = start; !ok {
			return &gdwire.Error{Offset: offset, Path: string(s.d.AppendPath(nil)), Err: nameError(start)}
		}
	}
	return nil
}

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

// Elements iterates over the elements of the next value, an Array or a packed array accepted by
// [Unmarshal] into a []T, and decodes them one at a time, in memory independent of their number.
// Options.MaxMemory applies to each element. If a T cannot hold an element, the error is yielded,
// and the loop continues with the next element. An error of the input is yielded and ends the loop.
//
// For arrays of many elements, raise [gdwire.Limits].Elements and Values of d.
//
// Leaving the loop reads nothing; the next call on d skips the remaining elements, as
// with [gdwire.Decoder.Elements].
func Elements[T any](d *gdwire.Decoder, opts ...Options) iter.Seq2[T, error] {
	o := optionsOf(opts)
	return func(yield func(T, error) bool) {
		var none T
		plan, err := decodePlans.of(reflect.TypeFor[T]())
		if err != nil {
			yield(none, err)
			return
		}
		s := getDecoder()
		defer s.release()
		s.reset(d, o)
		var elem [1]T // reused, because a variable for each element would be allocated
		list := reflect.ValueOf(&elem).Elem()
		read, target := plan.do, variableOf(list.Index(0))
		typ, _ := d.PeekType() // d.Elements yields the same error
		if t := typ.Element(); t != 0 && t != gdwire.TypeString {
			bulk := bulkFuncs(reflect.TypeFor[T]())[typ]
			if bulk == nil {
				yield(none, s.nilOrTypeError(reflect.ValueOf(new([]T)).Elem(), nil))
				return
			}
			start := packedStart{typ: typ, width: 64, first: -1} // or 32, and 64 can hold both
			read = func(s *decoder, _ variable) error {
				start.first++
				return bulk(s, list, start)
			}
		}
		for _, err := range d.Elements() {
			if err != nil {
				yield(none, err)
				return
			}
			s.begin(o)
			elem[0] = none
			err := read(s, target)
			if !yield(elem[0], err) || err != nil && !isTypeError(err) {
				return
			}
		}
	}
}

// Entries iterates over the pairs of the next value, a Dictionary, and decodes them one at a
// time. The rules of [Elements] apply. Pairs are yielded in order, including those with
// equal keys.
func Entries[K, V any](d *gdwire.Decoder, opts ...Options) iter.Seq2[Entry[K, V], error] {
	o := optionsOf(opts)
	return func(yield func(Entry[K, V], error) bool) {
		var none Entry[K, V]
		key, err := decodePlans.ofKey(planKey{typ: reflect.TypeFor[K](), isKey: true})
		if err != nil {
			yield(none, err)
			return
		}
		value, err := decodePlans.of(reflect.TypeFor[V]())
		if err != nil {
			yield(none, err)
			return
		}
		s := getDecoder()
		defer s.release()
		s.reset(d, o)
		var e Entry[K, V]
		keyTarget, valueTarget := variableOf(reflect.ValueOf(&e.Key).Elem()), variableOf(reflect.ValueOf(&e.Value).Elem())
		for _, err := range d.Pairs() {
			if err != nil {
				yield(none, err)
				return
			}
			s.begin(o)
			e = none
			err := key.do(s, keyTarget)
			if err == nil {
				err = value.do(s, valueTarget)
			}
			if !yield(e, err) || err != nil && !isTypeError(err) {
				return
			}
		}
	}
}

// Receive decodes the next packet of r, such as a *stream.Conn or *stream.Reader, into the
// variable pointed to by v. The packet must be exactly one value. An error accepted by
// stream.Skippable concerns this packet only. Without another packet, Receive returns the error
// of Next, such as io.EOF.
func Receive(r interface {
	Next() (*gdwire.Decoder, error)
}, v any, opts ...Options) error {
	d, err := r.Next()
	if err != nil {
		return err
	}
	err = UnmarshalDecode(d, v, opts...)
	if err == io.EOF { // a packet without a value is not the end of the stream
		return noValueError()
	}
	if n := export.BytesLeft(d); err == nil && n > 0 {
		return d.WrapError(fmt.Errorf("%d bytes after the value", n))
	}
	return err
}

// Send writes a packet with the encoding of v to w, such as a *stream.Conn or *stream.Writer. If v
// cannot be encoded, or is too long for w, nothing is written and the next packet can be.
func Send(w interface {
	WritePacket(write func(*gdwire.Encoder) error) error
}, v any) error {
	return w.WritePacket(func(e *gdwire.Encoder) error { return MarshalEncode(e, v) })
}
