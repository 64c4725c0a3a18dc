package gdwire

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

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
