package variant

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// UnmarshalDecode into any Go type needs no byte after the value, also if the value does not
// fit, and only the header of a value of another type.
func TestUnmarshalDecodeDoesNotWait(t *testing.T) {
	heads := map[string][]byte{"top level": nil, "element": {28, 0, 0, 0, 2, 0, 0, 0}, "value": append([]byte{27, 0, 0, 0, 2, 0, 0, 0}, encoded(t, "key", nil)...)}
	for place, head := range heads {
		for _, value := range goValues() {
			packet := encoded(t, value, &Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}})
			for _, v := range goVariables() {
				for _, step := range []int{1, 1 << 20} {
					p := testenv.NewPeer(append(head[:len(head):len(head)], packet...), step)
					d := gdwire.NewDecoder(p, &gdwire.DecoderOptions{AllowObjects: true})
					for d.InputOffset() < int64(len(head)) {
						if _, err := d.ReadToken(); err != nil {
							t.Fatal(err)
						}
					}
					err := UnmarshalDecode(d, v)
					if p.Waits() || errors.Is(err, testenv.ErrWaits) {
						t.Fatalf("%s: %#v into %T: %v", place, value, v, err)
					}
					if d.InputOffset() > int64(len(head)) || !errors.Is(err, gdwire.ErrType) {
						continue
					}
					// Not read, so the header is enough.
					p = testenv.NewPeer(packet[:4], step)
					d.Reset(p)
					if err := UnmarshalDecode(d, v); p.Waits() || !errors.Is(err, gdwire.ErrType) {
						t.Fatalf("header of %#v into %T: %v", value, v, err)
					}
				}
			}
		}
	}
}

// Loops and methods that are left or fail need no byte after what they have read.
func TestLoopsDoNotWait(t *testing.T) {
	list := encoded(t, array(1, "a", dict("to", "x"), 4), nil)
	pairs := encoded(t, dict("a", 1, "b", "c", "d", 4), nil)
	upTo := func(b []byte, missing ...any) []byte {
		n := len(b)
		for _, v := range missing {
			n -= len(encoded(t, v, nil))
		}
		return b[:n]
	}
	for _, c := range []struct {
		name string
		sent []byte
		call func(d *gdwire.Decoder) error
	}{
		{"Elements, an element", upTo(list, "a", dict("to", "x"), 4), func(d *gdwire.Decoder) error { return nth(1, Elements[int](d)) }},
		{"Elements, an element of another type", upTo(list, dict("to", "x"), 4), func(d *gdwire.Decoder) error { return nth(2, Elements[int](d)) }},
		{"Elements, a method's error", upTo(list, 4), func(d *gdwire.Decoder) error { return nth(3, Elements[failsAfter](d)) }},
		{"Elements, all", list, func(d *gdwire.Decoder) error { return nth(5, Elements[any](d)) }},
		{"Entries, a pair", upTo(pairs, "b", "c", "d", 4), func(d *gdwire.Decoder) error { return nth(1, Entries[string, int](d)) }},
		{"Entries, a value of another type", upTo(pairs, "d", 4), func(d *gdwire.Decoder) error { return nth(2, Entries[string, int](d)) }},
		{"Entries, all", pairs, func(d *gdwire.Decoder) error { return nth(4, Entries[any, Raw](d)) }},
		{"method's error at the top level", encoded(t, 5, nil), func(d *gdwire.Decoder) error { return UnmarshalDecode(d, &failsAfter{}) }},
		{"method's error before the value is read", encoded(t, 5, nil), func(d *gdwire.Decoder) error { return UnmarshalDecode(d, &fails{}) }},
		{"method that reads nothing", encoded(t, 5, nil), func(d *gdwire.Decoder) error { return UnmarshalDecode(d, &readsNone{}) }},
		{"method that leaves a loop", upTo(list, dict("to", "x"), 4), func(d *gdwire.Decoder) error { return UnmarshalDecode(d, &failsInLoop{}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []int{1, 1 << 20} {
				p := testenv.NewPeer(c.sent, step)
				d := gdwire.NewDecoder(p, nil)
				defer d.Release()
				if err := c.call(d); p.Waits() || errors.Is(err, testenv.ErrWaits) || errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
			}
		})
	}
}

// nth returns the error of iteration n of a loop, and leaves the loop.
func nth[T any](n int, loop iter.Seq2[T, error]) error {
	i := 0
	for _, err := range loop {
		if i++; i == n {
			return err
		}
	}
	return nil
}

// failsAfter reads a value and fails.
type failsAfter struct{}

func (*failsAfter) UnmarshalVariant(d *gdwire.Decoder) error {
	return errors.Join(d.SkipValue(), errOwn)
}

// failsInLoop fails after the second element.
type failsInLoop struct{}

func (*failsInLoop) UnmarshalVariant(d *gdwire.Decoder) error {
	for i, err := range d.Elements() {
		if err == nil {
			err = d.SkipValue()
		}
		if err != nil || i == 1 {
			return fmt.Errorf("element: %w", errors.Join(err, errOwn))
		}
	}
	return nil
}
