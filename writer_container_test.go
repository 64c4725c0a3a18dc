package gdwire

import (
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A container of Unknown count that no engine could read is not written.
func TestUnknownCountsAreLimited(t *testing.T) {
	for name, begin := range map[string]step{
		"Array":            array(Unknown),
		"Dictionary":       dict(Unknown),
		"String":           text(TypeString, Unknown),
		"PackedInt32Array": packedOf(TypePackedInt32Array, Unknown),
	} {
		t.Run(name, func(t *testing.T) {
			e := NewEncoder(io.Discard, nil)
			require.NoError(t, begin(e))
			e.remaining -= (math.MaxInt32 + 1) << e.pairs // as after so many values
			require.ErrorIs(t, e.End(), ErrRange)
			require.ErrorIs(t, e.ClearError(), ErrRange)
			e.remaining += 1 << e.pairs
			require.NoError(t, e.End())
		})
	}
}
