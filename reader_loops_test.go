package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func fieldsOptions(maxChunk int) *DecoderOptions {
	return &DecoderOptions{MaxChunk: maxChunk, Limits: Limits{NameBytes: 150}}
}

func eachSlowReader(d *Decoder, b []byte, f func(name string)) {
	eachReader(d, b, f)
	d.Reset(&slowReader{b})
	f("byte by byte")
}

// Keys of at most eight bytes are read differently from longer ones.
func TestFieldsNameBytes(t *testing.T) {
	packet := bytesOf(idDict, 3, str("four"), integer(1), str("eleven"), integer(2), str("and more than eight"), integer(3))
	for _, row := range []struct {
		limit int64
		keys  []string
	}{
		{3, nil},
		{4, []string{"four"}},
		{7, []string{"four", "eleven"}},
		{18, []string{"four", "eleven"}},
		{19, []string{"four", "eleven", "and more than eight"}},
		{-1, []string{"four", "eleven", "and more than eight"}},
	} {
		d := NewDecoder(nil, &DecoderOptions{Limits: Limits{NameBytes: row.limit}})
		eachSlowReader(d, packet, func(name string) {
			t.Run(fmt.Sprintf("%d/%s", row.limit, name), func(t *testing.T) {
				var keys []string
				for key, err := range d.Fields() {
					require.NoError(t, err)
					keys = append(keys, string(key))
				}
				require.Equal(t, row.keys, keys)
			})
		})
		d.Release()
	}
}

// A loopKind ranges over a container, calls the body for each part of it, and returns the
// error, which is the last that it yields.
type loopKind struct {
	name   string
	packet []byte // of a container whose parts end in a container
	each   func(d *Decoder, body func()) error
}

var loopKinds = []loopKind{
	{"Fields", bytesOf(idDict, 2, str("a"), idArray, 1, integer(1), str("b"), idArray, 1, integer(2)), eachOfFields},
	{"Fields with other keys", bytesOf(idDict, 3, idArray, 1, str("skipped"), integer(1), str(longText), idArray, 1, integer(2), idArray, 0, idArray, 0), eachOfFields},
	{"Elements", bytesOf(idArray, 3, idArray, 1, integer(1), idArray, 1, integer(2), idArray, 1, integer(3)), func(d *Decoder, body func()) error {
		var all []error
		for _, err := range d.Elements() {
			if all = append(all, err); err == nil {
				body()
			}
		}
		return onlyLast(all)
	}},
	{"Pairs", bytesOf(idDict, 2, str("a"), idArray, 1, integer(1), str("b"), idArray, 1, integer(2)), func(d *Decoder, body func()) error {
		var all []error
		for _, err := range d.Pairs() {
			if all = append(all, err); err == nil {
				body()
			}
		}
		return onlyLast(all)
	}},
}

func eachOfFields(d *Decoder, body func()) error {
	var all []error
	for _, err := range d.Fields() {
		if all = append(all, err); err == nil {
			body()
		}
	}
	return onlyLast(all)
}

// onlyLast returns the last error, if those before it are nil.
func onlyLast(all []error) error {
	for i, err := range all {
		if err != nil && i < len(all)-1 {
			return fmt.Errorf("%d iterations after %w", len(all)-1-i, err)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// An error of the Reader is returned once: to the body, or as the last of the loop.
func TestLoopsEndWithAnError(t *testing.T) {
	read := func(d *Decoder) error { _, err := d.ReadToken(); return err }
	peek := func(d *Decoder) error { d.PeekKind(); return d.err } // which stays until the body ends
	for _, l := range loopKinds {
		for name, calls := range map[string][]func(d *Decoder) error{
			"nothing":        nil,
			"a token":        {read},
			"two tokens":     {read, read},
			"three tokens":   {read, read, read},
			"a value":        {(*Decoder).SkipValue},
			"a kind":         {peek},
			"value and kind": {(*Decoder).SkipValue, peek},
			"token and kind": {read, peek},
		} {
			t.Run(l.name+"/"+name, func(t *testing.T) {
				for at := range l.packet {
					d := NewDecoder(&faultyReader{b: l.packet, at: at}, &DecoderOptions{MaxChunk: 16})
					errs, pending := 0, false
					err := l.each(d, func() {
						require.False(t, pending, "the loop goes on, failing at %d", at)
						for _, call := range calls {
							if call(d) == errTemporary {
								errs++
							}
						}
						if pending = d.err != nil; pending {
							errs-- // the loop returns it again
						}
					})
					if err == errTemporary {
						errs++
					} else {
						require.NoError(t, err, "failing at %d", at)
					}
					require.Equal(t, 1, errs, "failing at %d", at)
					d.Release()
				}
			})
		}
	}
}

// A Reset in the body ends any loop.
func TestLoopsReset(t *testing.T) {
	for _, l := range loopKinds {
		t.Run(l.name, func(t *testing.T) {
			d := newDecoder(t, nil, nil)
			d.ResetBytes(l.packet)
			n := 0
			require.NoError(t, l.each(d, func() { n++; d.ResetBytes(bytesOf(idArray, 1, integer(7))) }))
			require.Equal(t, 1, n)
			require.Equal(t, KindArrayStart, readTo(t, d, 1).Kind())
		})
	}
}

// A body that reads more than its part is an error.
func TestLoopsReadPast(t *testing.T) {
	for _, l := range loopKinds {
		t.Run(l.name, func(t *testing.T) {
			for name, more := range map[string]func(d *Decoder) error{
				"a value": (*Decoder).SkipValue,
				"a token": func(d *Decoder) error { _, err := d.ReadToken(); return err },
			} {
				d := NewDecoder(plain(l.packet), nil)
				n := 0
				err := l.each(d, func() {
					n++
					require.NoError(t, d.SkipValue())
					if l.name == "Pairs" {
						require.NoError(t, d.SkipValue())
					}
					require.NoError(t, more(d))
				})
				require.ErrorIs(t, err, ErrCount, name)
				require.Equal(t, 1, n, name)
				d.Release()
			}
		})
	}
}

// With iter.Pull, the outer loop can be left before the inner one: the rest of both is
// skipped.
func TestOuterLoopLeftFirst(t *testing.T) {
	packet := bytesOf(idArray, 2, idArray, 2, idArray, 2, integer(1), integer(2), integer(3), integer(7))
	d := newDecoder(t, plain(packet), nil)
	readTo(t, d, 1)
	nextOuter, stopOuter := iter.Pull2(d.Elements())
	nextOuter()
	nextInner, stopInner := iter.Pull2(d.Elements())
	nextInner()
	stopOuter()
	stopInner()
	require.EqualValues(t, 7, readTo(t, d, 1).Int())
}

// A loop whose outer loop was left gives an error, and no key or element of another value.
func TestLoopsEndWithTheOuterLoop(t *testing.T) {
	field := func(x any) []byte { return bytesOf(str("a"), x) }
	for name, c := range map[string]struct {
		packet []byte
		loop   func(d *Decoder, yield func(error))
	}{
		"Fields": {bytesOf(idArray, 1, idDict, 2, field(integer(1)), field(integer(2)), str("the next value")), func(d *Decoder, yield func(error)) {
			for _, err := range d.Fields() {
				yield(err)
			}
		}},
		"Elements": {bytesOf(idArray, 1, idArray, 2, integer(1), integer(2), integer(7)), func(d *Decoder, yield func(error)) {
			for _, err := range d.Elements() {
				yield(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDecoder(t, plain(c.packet), nil)
			next, stop := iter.Pull2(d.Elements())
			next()
			var errs []error
			c.loop(d, func(err error) {
				if errs = append(errs, err); err == nil {
					must(d.ReadInt())(t)
					stop()
				}
			})
			require.Len(t, errs, 2)
			require.NoError(t, errs[0])
			require.ErrorIs(t, errs[1], ErrCount)
			require.NoError(t, d.SkipValue(), "the next value")
			require.Equal(t, io.EOF, errOf(d.ReadToken()))
		})
	}
}

// Leaving a loop does not wait for the sender.
func TestFieldsLeftDoNotWait(t *testing.T) {
	r, give := pipe(t)
	d := newDecoder(t, r, nil)
	give(bytesOf(idArray, 2, idDict, 2, str("hp"), str("wrong")))
	must(d.ReadArray())(t)
	read := func() error {
		for _, err := range d.Fields() {
			if err != nil {
				return err
			}
			if _, err := d.ReadInt(); err != nil {
				return err
			}
		}
		return nil
	}
	require.ErrorIs(t, read(), ErrType)
	give(bytesOf(str("rest"), idNil, integer(7)))
	require.EqualValues(t, 7, must(d.ReadInt())(t))
}

// A read error ends a loop inside the container.
// After a read error, the loop is still in its Dictionary: the next call reads inside it.
func TestFieldsReadErrorStaysInside(t *testing.T) {
	packet := bytesOf(idDict, 2, str("a"), integer(1), str("b"), integer(2))
	d := newDecoder(t, &faultyReader{b: packet, at: 8 + 12 + 4}, nil)
	for _, err := range d.Fields() {
		if err != nil {
			require.Equal(t, errTemporary, err)
			break
		}
	}
	require.EqualValues(t, 1, must(d.ReadInt())(t))
	require.Equal(t, 1, d.Depth())
}

func TestFieldsReadError(t *testing.T) {
	packet := bytesOf(idDict, 2, str("a"), integer(1), str("b"), integer(2), str("after"))
	for at := range len(packet) - len(str("after")) {
		d := NewDecoder(&faultyReader{b: packet, at: at}, nil)
		var last error
		for _, err := range d.Fields() {
			last = err
		}
		require.Equal(t, errTemporary, last, at)
		if d.Depth() > 0 {
			require.NoError(t, d.SkipTo(0))
		} else if d.InputOffset() == 0 {
			require.NoError(t, d.SkipValue())
		}
		s, err := d.ReadString()
		require.NoError(t, err, at)
		require.Equal(t, "after", s)
		d.Release()
	}
}

// An error of the Reader in the rest of a container that a loop left is returned once by the next
// call, whichever it is; the same call then finds the value after the container.
func TestFieldsLeftInterrupted(t *testing.T) {
	rest := bytesOf(integer(1), str("b"), str("longer than eight bytes"))
	packet := bytesOf(idArray, 2, idDict, 2, str("a"), rest, integer(7))
	value := func(d *Decoder) error { return nil }
	for _, c := range []struct {
		name string
		call func(d *Decoder) error
		next func(d *Decoder) error // checks the position after it
	}{
		{"ReadToken", func(d *Decoder) error { _, err := d.ReadToken(); return err }, value},
		{"ReadInt", func(d *Decoder) error { _, err := d.ReadInt(); return err }, value},
		{"SkipValue", (*Decoder).SkipValue, value},
		{"SkipTo", func(d *Decoder) error { return d.SkipTo(1) }, (*Decoder).SkipValue},
		{"CopyValue", copyToNowhere, value},
		{"Tokens", func(d *Decoder) (err error) {
			for _, err = range d.Tokens() {
			}
			return err
		}, value},
		{"PeekKind", func(d *Decoder) error {
			if d.PeekKind() == KindInt32 {
				return nil
			}
			_, err := d.ReadToken()
			return err
		}, (*Decoder).SkipValue},
		{"ReadPacked", func(d *Decoder) error {
			_, err := ReadPacked(d, make([]byte, 1))
			if errors.Is(err, ErrType) { // there is none
				return nil
			}
			return err
		}, (*Decoder).SkipValue},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := len(packet) - 8 - len(rest)
			for at := start; at < len(packet)-8; at++ {
				d := NewDecoder(&faultyReader{b: packet, at: at}, nil)
				readTo(t, d, 1)
				for range d.Fields() {
					break
				}
				require.Equal(t, errTemporary, c.call(d), "failing at %d", at)
				require.NoError(t, c.call(d), "failing at %d", at)
				require.NoError(t, c.next(d))
				require.EqualValues(t, len(packet), d.InputOffset(), "failing at %d", at)
				d.Release()
			}
		})
	}
}

// An error that PeekKind met in the body is returned by the call after the loop, and so is one that
// stays.
func TestFieldsLeftAfterAnError(t *testing.T) {
	packet := bytesOf(idArray, 2, idDict, 1, str("a"), integer(1), integer(7))
	invalid := bytesOf(idArray, 2, idDict, 1, str("a"), 99)
	for name, call := range map[string]func(d *Decoder) error{
		"ReadToken": func(d *Decoder) error { _, err := d.ReadToken(); return err },
		"SkipValue": (*Decoder).SkipValue,
		"Tokens": func(d *Decoder) (err error) {
			for _, err = range d.Tokens() {
			}
			return err
		},
		"ReadPacked": func(d *Decoder) error { _, err := ReadPacked(d, make([]byte, 1)); return err },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDecoder(t, &faultyReader{b: packet, at: 28}, nil)
			readTo(t, d, 1)
			for range d.Fields() {
				require.Zero(t, d.PeekKind())
				break
			}
			require.Equal(t, errTemporary, call(d))
			require.EqualValues(t, 7, readTo(t, d, 1).Int())

			d.ResetBytes(invalid)
			readTo(t, d, 1)
			var fault error
			for range d.Fields() {
				fault = d.SkipValue()
				break
			}
			requireError(t, fault, 28, "$[0].a", ErrType)
			require.Same(t, fault, call(d))
		})
	}
}

func TestFieldsErrors(t *testing.T) {
	next := bytesOf(idDict, 2, str("a"), integer(1), idArray, 1, integer(3), integer(2)) // whose second key is an Array
	testInputErrors(t, []inputError{
		{name: "body that begins the next pair", packet: next, is: ErrCount, text: "offset 36, $.key(1)[0]: the loop's body has read past its value",
			read: func(d *Decoder) (err error) {
				for _, err = range d.Pairs() {
					if err == nil {
						err = errors.Join(d.SkipValue(), d.SkipValue())
						require.NoError(t, err)
						must(d.ReadArray())(t)
					}
				}
				return err
			}},
		{name: "body that reads past its value", packet: bytesOf(idDict, 2, str("a"), integer(1), str("b"), integer(2)), is: ErrCount, text: "offset 40, $.b: the loop's body has read past its value",
			read: func(d *Decoder) (err error) {
				for _, err = range d.Fields() {
					if err == nil {
						readTo(t, d, 3)
					}
				}
				return err
			}},
	})
}

// A loop that is left after its body read past its container skips no part of another container,
// however similar that is.
func TestLoopsLeftAfterReadingPast(t *testing.T) {
	inner := bytesOf(idDict, 2, str("a"), integer(1), str("b"), integer(2))
	list := bytesOf(idArray, 2, integer(3), integer(4))
	for _, c := range []struct {
		name  string
		value []byte
		each  func(d *Decoder, body func())
	}{
		{"Fields", inner, func(d *Decoder, body func()) {
			for range d.Fields() {
				body()
				break
			}
		}},
		{"Pairs", inner, func(d *Decoder, body func()) {
			for range d.Pairs() {
				body()
				break
			}
		}},
		{"Elements", list, func(d *Decoder, body func()) {
			for range d.Elements() {
				body()
				break
			}
		}},
	} {
		packet := bytesOf(idArray, 4, idArray, 1, c.value, idArray, 1, c.value, c.value, integer(7))
		for depth := range 3 {
			for tokens := range 8 {
				t.Run(fmt.Sprint(c.name, " ", depth, " ", tokens), func(t *testing.T) {
					d, other := NewDecoder(plain(packet), nil), NewDecoder(plain(packet), nil)
					defer d.Release()
					defer other.Release()
					readTo(t, d, 2)
					c.each(d, func() {
						require.NoError(t, d.SkipTo(depth))
						readTo(t, other, 3)
						require.NoError(t, other.SkipTo(depth))
						for range tokens {
							got, err := d.ReadToken()
							want, wantErr := other.ReadToken()
							require.Equal(t, wantErr, err)
							require.Equal(t, want.Kind(), got.Kind())
						}
					})
					for err := error(nil); err == nil; {
						var got, want Token
						var wantErr error
						got, err = d.ReadToken()
						want, wantErr = other.ReadToken()
						require.Equal(t, wantErr, err)
						require.Equal(t, want.Kind(), got.Kind())
						require.Equal(t, other.InputOffset(), d.InputOffset())
					}
				})
			}
		}
	}
}

// readElement reads one element of a packed array of numbers.
func readElement(t *testing.T, d *Decoder) float64 {
	var b [1]byte
	if n, err := ReadPacked(d, b[:]); err == nil {
		require.Equal(t, 1, n)
		return float64(b[0])
	}
	var f [1]float64
	require.Equal(t, 1, must(ReadPacked(d, f[:]))(t))
	return f[0]
}

// A loop over packed numbers that is left reads nothing. Reading more than one element in its
// body is an error.
func TestElementsOfPackedNumbersLeft(t *testing.T) {
	packet := bytesOf(idFloats, 7, reals(7), str("next"))
	for n := range 7 {
		for _, read := range []int{0, 1, 2, 7} {
			d := NewDecoder(nil, nil)
			eachSlowReader(d, packet, func(reader string) {
				t.Run(fmt.Sprintf("%d/%d/%s", n, read, reader), func(t *testing.T) {
					var failed error
					for i, err := range d.Elements() {
						if failed = err; err != nil || i > n {
							break
						}
						if i == n {
							_, _ = ReadPacked(d, make([]float32, read))
						}
					}
					if read <= 1 {
						require.NoError(t, failed)
					} else {
						require.ErrorIs(t, failed, ErrCount)
						require.NoError(t, d.SkipTo(0))
					}
					require.Equal(t, "next", must(d.ReadString())(t))
				})
			})
			d.Release()
		}
	}
}

// pairs is a Dictionary of three pairs, and a string after it.
func pairs(t *testing.T) []byte {
	return encoded(t, nil, func(e *Encoder) {
		require.NoError(t, e.BeginDict(3))
		for i := range 3 {
			require.NoError(t, e.BeginArray(1))
			require.NoError(t, e.WriteString("key"))
			require.NoError(t, e.End())
			require.NoError(t, e.BeginDict(1))
			require.NoError(t, e.WriteInt(int64(i)))
			require.NoError(t, e.WriteString("value"))
			require.NoError(t, e.End())
		}
		require.NoError(t, e.End())
		require.NoError(t, e.WriteString("next"))
	})
}

func TestPairsReadPast(t *testing.T) {
	for n := 3; n <= 6; n++ {
		d := NewDecoder(bytes.NewReader(pairs(t)), nil)
		var last error
		for _, err := range d.Pairs() {
			if last = err; err != nil {
				break
			}
			for range n {
				require.NoError(t, d.SkipValue())
			}
		}
		require.ErrorIs(t, last, ErrCount)
		d.Release()
	}
	d := newDecoder(t, bytes.NewReader(append(pairs(t), pairs(t)...)), nil)
	var last error
	for _, err := range d.Pairs() {
		if last = err; err != nil {
			break
		}
		require.NoError(t, d.SkipTo(0))
		must(d.ReadString())(t)
		_, err = d.ReadDict() // another of the same depth
		require.NoError(t, err)
	}
	require.ErrorIs(t, last, ErrCount)
}

// An int of 32 bits cannot count 2^31 elements. Nothing is consumed then, so another call can read them.
func TestElementsBeyondInt(t *testing.T) {
	packet := bytesOf(idArray, 1, idBytes, uint32(1<<31), []byte("abcd"))
	d := newDecoder(t, plain(packet), &DecoderOptions{Limits: Limits{PackedBytes: -1}})
	readTo(t, d, 1)
	for i, err := range d.Elements() {
		if math.MaxInt < math.MaxUint32 {
			requireError(t, err, 12, "$[0]", ErrRange)
			require.EqualValues(t, 8, d.InputOffset())
			return
		}
		require.NoError(t, err)
		require.EqualValues(t, "abcd"[i], readElement(t, d))
		if i == 3 {
			return
		}
	}
	t.Fatal("the loop ended")
}
