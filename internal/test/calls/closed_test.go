package calls

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// After Release or Close every call returns ErrClosed, and a zero Decoder or Encoder says that it was never Reset.
func TestClosed(t *testing.T) {
	seven := []byte{2, 0, 0, 0, 7, 0, 0, 0}
	none := []any{gdwire.Kind(0), int64(-1), int64(-1)}
	for state, open := range map[string]func(d *gdwire.Decoder){
		"zero":              func(*gdwire.Decoder) {},
		"zero and released": (*gdwire.Decoder).Release,
		"released": func(d *gdwire.Decoder) {
			d.Reset(plain([]byte{28, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0}))
			require.NoError(t, errors.Join(errOf(d.ReadToken()), errOf(d.ReadToken())))
			d.Release()
		},
		"failed and released": func(d *gdwire.Decoder) {
			d.Reset(plain([]byte{99, 0, 0, 0}))
			require.Error(t, d.SkipValue())
			d.Release()
		},
	} {
		for i := range Reads {
			op, d := &Reads[i], new(gdwire.Decoder)
			if slices.Contains([]string{"Reset", "Release", "the bytes of an earlier token", "Payload", "7 bytes of the payload", "100 bytes of the payload", "WrapError"}, op.name) {
				continue
			}
			open(d)
			for range 2 {
				c := NewCaller(t, d, byte(gdwire.TypePlane), 4)
				require.Equal(t, closedError(state), op.Run(c), "%s: %s", state, op.name)
			}
			require.Zero(t, d.PeekKind())
			require.Zero(t, d.Depth())
			require.Zero(t, d.InputOffset())
			require.Empty(t, d.UnreadBuffer())
			require.Equal(t, "$", string(d.AppendPath(nil)))
			kind, index, count := d.StackIndex(0)
			require.Equal(t, none, []any{kind, index, count})
			d.ResetBytes(seven)
			require.EqualValues(t, 7, testenv.Must(d.ReadInt())(t), op.name)
		}
	}
	for state, open := range map[string]func(e *gdwire.Encoder){
		"zero":            func(*gdwire.Encoder) {},
		"zero and closed": func(e *gdwire.Encoder) { e.Close() },
		"closed": func(e *gdwire.Encoder) {
			e.Reset(io.Discard)
			require.NoError(t, e.BeginArray(gdwire.Unknown))
			e.Close()
		},
	} {
		for i := range Writes {
			op, e := &Writes[i], new(gdwire.Encoder)
			if op.name == copying {
				continue // its Decoder may fail first
			}
			open(e)
			want := closedError(state)
			for range 2 {
				require.Equal(t, want, op.call(&recorder{e: e}, &arguments{}), "%s: %s", state, op.name)
			}
			require.Equal(t, []error{want, want, want}, []error{e.Err(), e.ClearError(), e.Fail(io.EOF)})
			require.Zero(t, e.Depth())
			require.Zero(t, e.OutputOffset())
			require.Equal(t, "$", string(e.AppendPath(nil)))
			kind, index, count := e.StackIndex(0)
			require.Equal(t, none, []any{kind, index, count})
			var b bytes.Buffer
			e.Reset(&b)
			require.NoError(t, e.WriteInt(7))
			require.Equal(t, seven, b.Bytes())
			e.Close()
		}
	}
}

// closedError returns the error of all calls in a state.
func closedError(state string) error {
	if state == "zero" {
		return new(gdwire.Decoder).ReadNil()
	}
	return gdwire.ErrClosed
}

func errOf[V any](_ V, err error) error { return err }

// Where no value is next, a typed read is an error that consumes nothing.
func TestTypedReadsMisplaced(t *testing.T) {
	texts := []string{"ReadString", "ReadKey or ReadString", "ReadText", "export.ReadPackedString or ReadString", "AppendString"}
	for _, test := range []struct {
		name, packet string
		tokens       int
		want         error
		next         gdwire.Kind
		fits         []string // calls that read what is next
	}{
		{"End", "<Array> 01000000 <Nil>", 2, gdwire.ErrCount, gdwire.KindEnd, nil},
		{"End of a Dictionary", "<Dictionary> 00000000", 1, gdwire.ErrCount, gdwire.KindEnd, nil},
		{"End of a PackedStringArray", "<PackedStringArray> 00000000", 1, gdwire.ErrCount, gdwire.KindEnd, nil},
		{"End of a NodePath", "<NodePath> 00000080 00000000 00000000", 1, gdwire.ErrCount, gdwire.KindEnd, texts[4:]},
		{"property", "<Object> 04000000 4e6f6465 01000000 01000000 61000000 <Nil>", 1, gdwire.ErrType, gdwire.KindProperty, nil},
		{"name", "<NodePath> 01000080 00000000 00000000 01000000 6e000000", 1, gdwire.ErrType, gdwire.KindStringChunk, texts},
		{"packed string", "<PackedStringArray> 01000000 02000000 6e000000", 1, gdwire.ErrType, gdwire.KindStringChunk, texts},
		{"packed data", "<PackedFloat32Array> 01000000" + model.F32(1), 1, gdwire.ErrType, gdwire.KindChunk, nil},
		{"inside a String", "<String> 28000000" + " 61616161616161616161616161616161616161616161616161616161616161616161616161616161", 1, gdwire.ErrType, gdwire.KindStringChunk, texts[4:]},
	} {
		packet := model.Build(t, gdwire.Godot4, test.packet)
		for i := range Reads {
			op := &Reads[i]
			if op.fits == nil || slices.Contains(test.fits, op.name) {
				continue
			}
			for _, memory := range []bool{false, true} {
				d := gdwire.NewDecoder(&fuzz.FlakyReader{R: plain(packet)}, &gdwire.DecoderOptions{AllowObjects: true, MaxChunk: 16})
				if memory { // with enough bytes for the fast path
					d.ResetBytes(append(slices.Clone(packet), make([]byte, 64)...))
				}
				c := NewCaller(t, d, byte(gdwire.TypePlane), 4)
				for range test.tokens {
					require.NoError(t, c.retry(func() error { return errOf(d.ReadToken()) }))
				}
				if err := op.Run(c); op.name != "ReadText" {
					require.ErrorIs(t, err, test.want, "%s: %s", test.name, op.name)
				}
				require.Equal(t, test.next, c.retryKind())
				if test.next != gdwire.KindEnd {
					require.ErrorIs(t, d.ReadEnd(), gdwire.ErrCount)
				}
				require.NoError(t, c.retry(func() error { return d.SkipTo(0) }))
				d.Release()
			}
		}
	}
	d := gdwire.NewDecoder(plain(nil), nil)
	defer d.Release()
	require.ErrorIs(t, d.ReadEnd(), gdwire.ErrCall)
	require.Equal(t, io.EOF, d.ReadNil())
}

// A typed read needs no byte after the value, wherever it is, and only the header of a value of another type.
func TestTypedReadsDoNotWait(t *testing.T) {
	var out bytes.Buffer
	for i, in := range fuzz.Seeds() {
		if in.Seed.Has(fuzz.Limits) || i%testenv.Cases(3, 1) > 0 {
			continue
		}
		o := in.Seed.Options()
		e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{Format: o.Format, DoubleReals: o.DoubleReals, AllowInvalidUTF8: o.AllowInvalidUTF8})
		for place := range 4 { // at the top level, as an element, a key and a value
			out.Reset()
			e.Reset(&out)
			tokens := []int{0, 1, 2, 3}[place]
			switch place {
			case 1:
				e.BeginArray(2)
			case 2, 3:
				e.BeginDict(1)
				if place == 3 {
					e.WriteInt(5)
				}
			}
			start := e.OutputOffset()
			if e.WriteRaw(in.Packet) != nil {
				break
			}
			end := e.OutputOffset()
			e.WriteInt(1)
			e.Flush()
			requireNoWaiting(t, out.Bytes(), int(start), int(end), tokens, o)
		}
		e.Close()
	}
}

// requireNoWaiting makes typed reads at the value from start to end of b, after some tokens.
func requireNoWaiting(t *testing.T, b []byte, start, end, tokens int, o gdwire.DecoderOptions) {
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	before := func(p io.Reader) gdwire.Kind {
		d.Reset(p)
		for range tokens {
			_, _ = d.ReadToken()
		}
		return d.PeekKind()
	}
	k := before(bytes.NewReader(b))
	for i := range Reads {
		op := &Reads[i]
		if op.value == nil {
			continue
		}
		sent := end
		if k == 0 || !slices.Contains(op.fits, k) {
			sent = min(start+4, end)
		}
		for _, step := range []int{1, 1 << 20} {
			p := testenv.NewPeer(b[:sent:sent], step)
			before(p)
			if err := op.Run(NewCaller(t, d)); k != 0 && (p.Waits() || errors.Is(err, testenv.ErrWaits)) {
				t.Fatalf("%s of %v: %v", op.name, k, err)
			}
		}
	}
}
