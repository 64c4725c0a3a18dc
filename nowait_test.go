package gdwire

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/silent"
)

// A typed read needs no byte after the value, wherever it is, and only the header of a value
// of another type.
func TestTypedReadsDoNotWait(t *testing.T) {
	e := NewEncoder(nil, nil)
	defer e.Release()
	d := NewDecoder(nil, &DecoderOptions{AllowObjects: true})
	defer d.Release()
	for i := range typedValues {
		v := &typedValues[i]
		for _, place := range typedPlaces {
			e.ResetBytes(nil)
			place.before(e)
			start := e.OutputOffset()
			v.write(e)
			end := e.OutputOffset()
			place.after(e)
			if e.Close() != nil {
				continue // Godot4 does not have it
			}
			for _, call := range typedReads {
				for _, step := range []int{1, 1 << 20} {
					sent := end
					if errors.Is(call.want(v), ErrType) {
						sent = start + 4
					}
					p := silent.New(e.Bytes()[:sent:sent], step)
					d.Reset(p)
					readTo(t, d, place.tokens)
					if _, err := call.read(d); p.Waits() || errors.Is(err, silent.ErrWaits) {
						t.Fatalf("%s of %s as %s: %v", call.name, v.name, place.name, err)
					}
				}
			}
		}
	}
}

// Other calls need no byte after what they return or skip.
func TestCallsDoNotWait(t *testing.T) {
	list := bytesOf(idArray, 3, integer(1), str("text"), bytesOf(idArray, 1, idNil))
	dict := bytesOf(idDict, 2, str("a"), integer(1), str("b"), integer(2))
	text := str(longText)
	bytes4 := bytesOf(idBytes, 4, []byte{1, 2, 3, 4})
	peek := func(want Kind) func(d *Decoder) error {
		return func(d *Decoder) error {
			if k := d.PeekKind(); k != want {
				return errors.New(k.String())
			}
			return nil
		}
	}
	for _, c := range []struct {
		name   string
		sent   []byte
		tokens int // read before
		call   func(d *Decoder) error
	}{
		{"ReadToken of a Start", list[:8], 0, func(d *Decoder) error { _, err := d.ReadToken(); return err }},
		{"ReadToken of an End", list[:8+8], 1, func(d *Decoder) error { return readTokens(d, 1) }},
		{"ReadToken of a DictKey", dict[:8], 1, func(d *Decoder) error { return readTokens(d, 1) }},
		{"ReadToken of all", list, 0, func(d *Decoder) error { return readTokens(d, 7) }},
		{"PeekKind", list[:4], 0, peek(KindArrayStart)},
		{"PeekKind of a DictKey", dict[:8], 1, peek(KindDictKey)},
		{"PeekKind of an End", list, 6, peek(KindEnd)},
		{"PeekType", list[:4], 0, func(d *Decoder) error { _, err := d.PeekType(); return err }},
		{"PeekType of a key", dict[:12], 1, func(d *Decoder) error { _, err := d.PeekType(); return err }},
		{"PeekType at an End", list, 6, func(d *Decoder) error { _, err := d.PeekType(); return is(err, ErrCount) }},
		{"ReadEnd", list, 6, func(d *Decoder) error { return d.ReadEnd() }},
		{"SkipValue", list, 0, (*Decoder).SkipValue},
		{"SkipValue of an element", list[:16], 1, (*Decoder).SkipValue},
		{"SkipValue at an End", list, 6, func(d *Decoder) error { return is(d.SkipValue(), ErrCount) }},
		{"SkipTo", list, 5, func(d *Decoder) error { return d.SkipTo(1) }},
		{"SkipTo, nothing", list[:8], 1, func(d *Decoder) error { return d.SkipTo(1) }},
		{"CopyValue", list, 0, func(d *Decoder) error { return CopyValue(NewEncoder(io.Discard, nil), d) }},
		{"Tokens", list[:16], 1, func(d *Decoder) error { return last(d.Tokens(), -1) }},
		{"Elements, the first", list[:16], 0, func(d *Decoder) error {
			for _, err := range d.Elements() {
				if err == nil {
					_, err = d.ReadInt()
				}
				return err
			}
			return nil
		}},
		{"Elements, all", list, 0, func(d *Decoder) error { return last(d.Elements(), -1) }},
		{"Elements, left", list[:8], 0, func(d *Decoder) error { return last(d.Elements(), 1) }},
		{"Fields, the first key", dict[:20], 0, func(d *Decoder) error { return last(d.Fields(), 1) }},
		{"Fields, all", dict, 0, func(d *Decoder) error { return last(d.Fields(), -1) }},
		{"Pairs, left", dict[:8], 0, func(d *Decoder) error { return last(d.Pairs(), 1) }},
		{"Pairs, all", dict, 0, func(d *Decoder) error { return last(d.Pairs(), -1) }},
		{"WrapError after a loop is left", list[:8], 0, func(d *Decoder) error {
			err := last(d.Elements(), 1)
			d.WrapError(err)
			d.AppendPath(nil)
			d.Err()
			d.LastError()
			d.StackIndex(1)
			d.UnreadBuffer()
			return err
		}},
		{"AppendString of a chunk", text, 1, func(d *Decoder) error { _, err := d.AppendString(nil); return err }},
		{"ReadPacked", bytes4, 1, func(d *Decoder) error { _, err := ReadPacked(d, make([]byte, 4)); return err }},
		{"ReadPacked of a part", bytesOf(idInts, 3, 1, 2), 1, func(d *Decoder) error { _, err := ReadPacked(d, make([]int32, 2)); return err }},
		{"AppendPacked after PackedStart", bytes4, 1, func(d *Decoder) error { _, err := AppendPacked[byte](d, nil); return err }},
		{"Payload", bytes4, 1, func(d *Decoder) error { _, err := io.Copy(io.Discard, d.Payload()); return err }},
		{"Payload of what was sent", bytesOf(idInts, 3, 1, 2), 1, func(d *Decoder) error { _, err := d.Payload().Read(make([]byte, 100)); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []int{1, 1 << 20} {
				p := silent.New(bytes.Clone(c.sent), step)
				d := NewDecoder(p, &DecoderOptions{MaxChunk: 16})
				defer d.Release()
				readTo(t, d, c.tokens)
				require.NoError(t, c.call(d))
				require.False(t, p.Waits())
			}
		})
	}
}

// is returns nil if err is want.
func is(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return errors.Join(errors.New("another error"), err)
}

func readTokens(d *Decoder, n int) (err error) {
	for range n {
		if err == nil {
			_, err = d.ReadToken()
		}
	}
	return err
}

// last leaves the loop after n iterations and returns the last error.
func last[T any](loop iter.Seq2[T, error], n int) (err error) {
	for _, err = range loop {
		if n--; n == 0 {
			return err
		}
	}
	return err
}
