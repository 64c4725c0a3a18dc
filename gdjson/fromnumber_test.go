package gdjson

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// TestParseShort compares parseShort with strconv.
func TestParseShort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"0", "-0", "0.0", "-0.0", "999999999999999", "1000000000000000", "0.000000000000001", "0.00000000000001", "123456789012345.6", "1e5", "-1.5E3"}
	for range 100_000 {
		x := float64(r.Int64N(1<<r.IntN(60)+1)) / math.Pow10(r.IntN(17)) * float64(1-2*r.IntN(2))
		texts = append(texts, strconv.FormatFloat(x, 'f', -1, 64))
	}
	short := 0
	for _, s := range texts {
		want := testenv.Must(strconv.ParseFloat(s, 64))(t)
		if x, ok := parseShort([]byte(s)); ok {
			short++
			require.Equal(t, math.Float64bits(want), math.Float64bits(x), s)
		}
		got, err := parseReal([]byte(s))
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), s)
	}
	require.Greater(t, short, 50_000)
}
