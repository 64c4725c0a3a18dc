package gdwire

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The largest count of a format is accepted, and no larger one.
func TestLargestCounts(t *testing.T) {
	inStrings := func(n int64) step {
		return func(e *Encoder) error {
			return errors.Join(e.BeginPacked(TypePackedStringArray, 1), e.BeginString(TypeString, n))
		}
	}
	container := func(k Kind, typ Type) func(n int64) step {
		return func(n int64) step { return token(newToken(k, typ, 0, uint64(n))) }
	}
	for _, c := range []struct {
		name            string
		begin           func(n int64) step
		engines, manual int64
	}{
		{"elements", container(KindArrayStart, TypeArray), math.MaxInt32, math.MaxInt32},
		{"pairs", container(KindDictStart, TypeDictionary), math.MaxInt32, math.MaxInt32},
		{"names and sub-names", func(n int64) step {
			return token(newToken(KindNodePathStart, TypeNodePath, 0, uint64(n-1)<<32|1))
		}, math.MaxInt32, math.MaxUint32},
		{"names", func(n int64) step {
			return token(newToken(KindNodePathStart, TypeNodePath, 0, uint64(n)))
		}, math.MaxInt32, math.MaxInt32},
		{"bytes of a string", func(n int64) step { return text(TypeString, n) }, math.MaxInt32, math.MaxUint32},
		{"bytes of a packed string", inStrings, math.MaxInt32 - 1, math.MaxUint32},
		{"numbers", func(n int64) step { return packedOf(TypePackedInt32Array, n) }, math.MaxInt32, math.MaxUint32},
		{"packed strings", func(n int64) step { return packedOf(TypePackedStringArray, n) }, math.MaxInt32, math.MaxUint32},
	} {
		t.Run(c.name, func(t *testing.T) {
			for f, most := range map[*Format]int64{Godot4: c.engines, Godot2: c.engines, Manual4: c.manual, Manual30: c.manual} {
				e := NewEncoder(io.Discard, &EncoderOptions{Format: f})
				require.NoError(t, c.begin(most)(e), "%d %s in %v", most, c.name, f)
				e.Reset(io.Discard)
				require.ErrorIs(t, c.begin(most+1)(e), ErrRange, "%d %s in %v", most+1, c.name, f)
				e.Release()
			}
		})
	}
}

func TestValueCallErrors(t *testing.T) {
	reals := func(typ Type, c ...float64) step {
		return func(e *Encoder) error { return e.WriteReals(typ, c...) }
	}
	testCallErrors(t, []callError{
		{name: "float in Godot 2", format: Godot2, call: func(e *Encoder) error { return e.WriteToken(Float64(0.1)) }, is: ErrRange, text: "offset 0, $: float 0.1 does not fit 32 bits"},
		{name: "int in Godot 2", format: Godot2, call: func(e *Encoder) error { return e.WriteInt(1 << 40) }, is: ErrRange, text: "offset 0, $: int 1099511627776 does not fit 32 bits"},
		{name: "object id in Godot 2", format: Godot2, call: func(e *Encoder) error { return e.WriteObjectID(5) }, is: ErrRange, text: "offset 0, $: godot2 has no object ids"},
		{name: "component too large", call: reals(TypeVector2, 1, 1e300), is: ErrRange, text: "offset 0, $: 1e+300 does not fit 32 bits"},
		{name: "reals of a type without them", call: reals(TypeVector2i, 1, 2), is: ErrType, text: "offset 0, $: Vector2i has no such components"},
		{name: "too few components", call: reals(TypeVector3, 1, 2), is: ErrCount, text: "offset 0, $: Vector3 has 3 components, not 2"},
		{name: "short InputEvent", format: Godot2, call: func(e *Encoder) error { return e.WriteInputEvent(1, 0, make([]byte, 5)) }, is: ErrRange, text: "offset 0, $: InputEvent of type 1 needs more than 5 bytes"},
	})
}

// A Type that is none has the same error on the fast path as at the top level: no table is
// indexed modulo its size.
func TestEveryType(t *testing.T) {
	reals, ints := make([]float64, 16), make([]int32, 16)
	calls := map[string]func(e *Encoder, typ Type, n int) error{
		"WriteReals":      func(e *Encoder, typ Type, n int) error { return e.WriteReals(typ, reals[:n]...) },
		"WriteInts":       func(e *Encoder, typ Type, n int) error { return e.WriteInts(typ, ints[:n]...) },
		"BeginPacked":     func(e *Encoder, typ Type, n int) error { return e.BeginPacked(typ, int64(n)) },
		"BeginString":     func(e *Encoder, typ Type, n int) error { return e.BeginString(typ, int64(n)) },
		"BeginTypedArray": func(e *Encoder, typ Type, n int) error { return e.BeginTypedArray(n, Elem{Type: typ}) },
		"BeginTypedDict":  func(e *Encoder, typ Type, n int) error { return e.BeginTypedDict(n, Elem{Type: typ}, Elem{Type: typ}) },
		"ArrayStart":      func(e *Encoder, typ Type, n int) error { return e.WriteToken(ArrayStart(n, Elem{Type: typ})) },
		"DictStart": func(e *Encoder, typ Type, n int) error {
			return e.WriteToken(DictStart(n, Elem{Type: typ}, Elem{Type: typ}))
		},
	}
	for name, call := range calls {
		for _, f := range Formats() {
			top, inArray := NewEncoder(io.Discard, &EncoderOptions{Format: f}), NewEncoder(io.Discard, &EncoderOptions{Format: f})
			for i := 0; i < 256*17; i += stride() {
				typ, n := Type(i/17), i%17
				top.Reset(io.Discard)
				inArray.Reset(io.Discard)
				require.NoError(t, inArray.BeginArray(1))
				want, got := call(top, typ, n), call(inArray, typ, n)
				if want == nil && got == nil && typ < numTypes {
					continue
				}
				require.EqualError(t, got, strings.Replace(fmt.Sprint(want), "offset 0, $:", "offset 8, $[0]:", 1), "%s of %v, %d", name, typ, n)
			}
			top.Release()
			inArray.Release()
		}
	}
}
