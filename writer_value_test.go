package gdwire

import (
	"errors"
	"io"
	"math"
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
		{name: "float in Godot 2", format: Godot2, call: func(e *Encoder) error { return e.WriteFloat64(0.1) }, is: ErrRange, text: "offset 0, $: float 0.1 does not fit 32 bits"},
		{name: "int in Godot 2", format: Godot2, call: func(e *Encoder) error { return e.WriteInt(1 << 40) }, is: ErrRange, text: "offset 0, $: int 1099511627776 does not fit 32 bits"},
		{name: "object id in Godot 2", format: Godot2, call: func(e *Encoder) error { return e.WriteObjectID(5) }, is: ErrRange, text: "offset 0, $: godot2 has no object ids"},
		{name: "component too large", call: reals(TypeVector2, 1, 1e300), is: ErrRange, text: "offset 0, $: 1e+300 does not fit 32 bits"},
		{name: "reals of a type without them", call: reals(TypeVector2i, 1, 2), is: ErrType, text: "offset 0, $: Vector2i has no such components"},
		{name: "too few components", call: reals(TypeVector3, 1, 2), is: ErrCount, text: "offset 0, $: Vector3 has 3 components, not 2"},
		{name: "short InputEvent", format: Godot2, call: func(e *Encoder) error { return e.WriteInputEvent(1, 0, make([]byte, 5)) }, is: ErrRange, text: "offset 0, $: InputEvent of type 1 needs more than 5 bytes"},
	})
}
