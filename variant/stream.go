package variant

import (
	"fmt"
	"io"
	"iter"
	"reflect"

	"github.com/gdwire/gdwire"
)

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
