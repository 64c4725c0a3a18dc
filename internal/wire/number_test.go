package wire

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// NarrowFloats accepts a part of what PutFloat accepts, and puts the same.
func TestPutFloats(t *testing.T) {
	for _, c := range []struct {
		x              float64
		finite, narrow bool // in 32 bits; accepted by PutFloat
	}{
		{0, true, true},
		{-1.5, true, true},
		{0.1, true, true},
		{math.MaxFloat32, true, true},
		{2 * math.MaxFloat32, false, false},
		{-math.MaxFloat64, false, false},
		{math.Inf(-1), false, true},
		{math.NaN(), false, true},
	} {
		var all [16 * 4]byte
		b := make([]byte, 8)
		require.Equal(t, c.finite, NarrowFloats(&all, []float64{1, c.x, 2}), "%v", c.x)
		require.Equal(t, c.narrow, PutFloat(b, c.x, Float32), "%v", c.x)
		require.Equal(t, all[4:8], b[:4], "%v", c.x)
		require.True(t, PutFloat(b, c.x, Float64))
		require.Equal(t, math.Float64bits(c.x), le.Uint64(b), "%v", c.x)
	}
}
