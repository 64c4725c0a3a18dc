package variant

import (
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/gdwire/gdwire"
)

// Elements decodes the Array or PackedStringArray that comes next one element at a
// time, so that any number of them needs the memory of one. An element that a T
// cannot hold is yielded with its error, and the loop goes on after it; an error of
// the input is the last thing that is yielded. Options.Memory is for each element.
//
// A Decoder reads [gdwire.Limits].Values values at most unless told otherwise.
//
// Leaving the loop reads nothing more: as with [gdwire.Decoder.Elements] the next
// call on d skips the rest first.
func Elements[T any](d *gdwire.Decoder, o *Options) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		decode, err := decodePlans.of(reflect.TypeFor[T]())
		if err != nil {
			yield(none, err)
			return
		}
		o := o.orDefault()
		s := getDecoder()
		defer s.release()
		s.on(d, o)
		for _, err := range d.Elements() {
			if err != nil {
				yield(none, err)
				return
			}
			s.begin(o)
			var v T
			err := decode(s, reflect.ValueOf(&v).Elem())
			if !yield(v, err) || err != nil && !isTypeError(err) {
				return
			}
		}
	}
}

// isTypeError reports whether an error is of one value: reading can go on after it.
func isTypeError(err error) bool {
	var t *TypeError
	return errors.As(err, &t)
}

// Entries decodes the Dictionary that comes next one pair at a time, under the
// rules of [Elements]. Pairs are yielded as they come: equal keys are not merged.
//
// Leaving the loop skips the rest of the Dictionary at once.
func Entries[K, V any](d *gdwire.Decoder, o *Options) iter.Seq2[Entry[K, V], error] {
	return func(yield func(Entry[K, V], error) bool) {
		var none Entry[K, V]
		key, err := keyPlan(reflect.TypeFor[K]())
		if err != nil {
			yield(none, err)
			return
		}
		value, err := decodePlans.of(reflect.TypeFor[V]())
		if err != nil {
			yield(none, err)
			return
		}
		o := o.orDefault()
		s := getDecoder()
		defer s.release()
		s.on(d, o)
		n, err := d.ReadDict()
		if err != nil {
			yield(none, err)
			return
		}
		depth := d.Depth()
		for range n {
			s.begin(o)
			var e Entry[K, V]
			err := key(s, reflect.ValueOf(&e.Key).Elem())
			if err == nil {
				err = value(s, reflect.ValueOf(&e.Value).Elem())
			}
			if err != nil && !isTypeError(err) {
				yield(e, err)
				return
			}
			if err != nil {
				if skipped := skipPair(d, depth); skipped != nil {
					yield(e, skipped)
					return
				}
			}
			if !yield(e, err) {
				d.SkipTo(depth - 1)
				return
			}
		}
		if err := d.ReadEnd(); err != nil {
			yield(none, err)
		}
	}
}

// skipPair skips what is left of the pair that a Dictionary is at, of which the
// first token at least has been read.
func skipPair(d *gdwire.Decoder, depth int) error {
	if err := d.SkipTo(depth); err != nil {
		return err
	}
	switch d.PeekKind() {
	case gdwire.KindDictKey, gdwire.KindEnd:
		return nil
	}
	return d.SkipValue()
}

// keyPlan returns how keys of that type are read.
func keyPlan(t reflect.Type) (decodeFunc, error) {
	r := &planner[decodeFunc]{&decodePlans, map[planKey]*plan[decodeFunc]{}}
	key, err := decodePlanner{r}.key(t)
	if err != nil {
		err = fmt.Errorf("variant: %w", err)
	}
	return key, err
}
