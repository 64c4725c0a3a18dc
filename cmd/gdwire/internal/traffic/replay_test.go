package traffic

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLatencies(t *testing.T) {
	var l latencies
	for i := range 1000 {
		l.add(time.Duration(i+1) * time.Millisecond)
	}
	for share, want := range map[float64]float64{0.5: 500, 0.9: 900, 0.99: 990} {
		got := l.quantile(share).Seconds() * 1000
		require.GreaterOrEqual(t, got, want)
		require.LessOrEqual(t, got, 1.25*want)
	}
	require.Equal(t, time.Second, l.max)
}
