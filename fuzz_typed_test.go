package gdwire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/fuzz"
	"github.com/stretchr/testify/require"
)

// FuzzTypedReads reads packets by tokens and by typed calls: they agree on the
// values and on the first error, and a read of another type changes nothing.
func FuzzTypedReads(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		s := fuzz.Seed(n)
		o := s.Options()
		d := gdwire.NewDecoder(bytes.NewReader(p), &o)
		defer d.Release()
		want, fault := walkTokens(d)
		for name, r := range map[string]io.Reader{"Reader": bytes.NewReader(p), "bytes": iotest.OneByteReader(bytes.NewReader(p))} {
			d.Reset(r)
			w := typedWalk{d: d, wrong: s.Choose(2) == 0}
			got, err := w.walk()
			require.Equal(t, want, got, name)
			require.Equal(t, errorText(fault), errorText(err), name)
		}
	})
}

// walkTokens returns the values of all tokens.
func walkTokens(d *gdwire.Decoder) (all []string, err error) {
	var text []byte
	for {
		t, err := d.ReadToken()
		if err == nil && (t.Kind() == gdwire.KindStringChunk || t.Kind() == gdwire.KindNodePathStart) {
			text, err = d.AppendString(text[:0])
			if err == nil {
				all = append(all, fmt.Sprintf("%q", text))
			}
		} else if err == nil {
			all = append(all, describe(t))
		}
		if err != nil {
			return all, err
		}
	}
}

func describe(t gdwire.Token) string {
	switch t.Kind() {
	case gdwire.KindInt32, gdwire.KindInt64:
		return fmt.Sprint("int ", t.Int())
	case gdwire.KindFloat32, gdwire.KindFloat64:
		return fmt.Sprint("float ", t.Float())
	case gdwire.KindArrayStart, gdwire.KindDictStart:
		return fmt.Sprintf("%v%d", t.Type(), t.Len())
	}
	return t.String()
}

type typedWalk struct {
	d     *gdwire.Decoder
	wrong bool // other types are tried first
	all   []string
}

func (w *typedWalk) add(a ...any) { w.all = append(w.all, fmt.Sprint(a...)) }

func (w *typedWalk) walk() ([]string, error) {
	for {
		if err := w.value(); err != nil {
			return w.all, err
		}
	}
}

// value reads a value, by tokens where there is no typed call.
func (w *typedWalk) value() error {
	d := w.d
	if w.wrong {
		before, kind := d.InputOffset(), d.PeekKind()
		if kind != 0 && kind != gdwire.KindSignal && kind != gdwire.KindDictKey {
			var e *gdwire.Error
			if _, _, err := d.ReadSignal(); !errors.As(err, &e) || d.InputOffset() != before || d.PeekKind() != kind {
				return fmt.Errorf("ReadSignal at %v: %w", kind, err)
			}
		}
	}
	switch k := d.PeekKind(); k {
	case gdwire.KindBool:
		x, err := d.ReadBool()
		return w.done(err, "Bool ", x)
	case gdwire.KindNil:
		return w.done(d.ReadNil(), "Nil")
	case gdwire.KindInt32, gdwire.KindInt64:
		x, err := d.ReadInt()
		return w.done(err, "int ", x)
	case gdwire.KindFloat32, gdwire.KindFloat64:
		x, err := d.ReadFloat()
		return w.done(err, "float ", x)
	case gdwire.KindStringChunk:
		x, err := d.ReadString()
		return w.done(err, fmt.Sprintf("%q", x))
	case gdwire.KindNodePathStart:
		x, err := d.ReadNodePath()
		return w.done(err, fmt.Sprintf("%q", x))
	case gdwire.KindVector3:
		x := make([]float64, 3)
		err := d.ReadReals(gdwire.TypeVector3, x)
		return w.done(err, "Vector3 ", x)
	case gdwire.KindVector2i:
		x := make([]int32, 2)
		err := d.ReadInts(gdwire.TypeVector2i, x)
		return w.done(err, "Vector2i ", []float64{float64(x[0]), float64(x[1])})
	case gdwire.KindArrayStart:
		n, err := d.ReadArray()
		return w.done(err, "Array", n)
	case gdwire.KindDictStart:
		n, err := d.ReadDict()
		return w.done(err, "Dictionary", n)
	case gdwire.KindEnd:
		depth := d.Depth()
		kind, _, _ := d.StackIndex(depth)
		err := d.ReadEnd()
		if err == nil && d.Depth() != depth-1 {
			return fmt.Errorf("ReadEnd of %v at depth %d", kind, depth)
		}
		return w.done(err, "End")
	default:
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		return w.done(nil, describe(t))
	}
}

func (w *typedWalk) done(err error, a ...any) error {
	if err == nil {
		w.add(a...)
	}
	return err
}
