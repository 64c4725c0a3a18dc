package wire

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEventSize(t *testing.T) {
	for event, want := range []int{0, 8, 0, 4, 8, 4, 4, 0, 0, 0} {
		require.Equal(t, want, EventSize(uint32(event), 100), "type %d", event)
	}
	require.Zero(t, EventSize(math.MaxUint32, 100))
	require.Equal(t, 4, EventSize(joystickMotion, 4), "the axis alone")
	require.Equal(t, 8, EventSize(joystickMotion, 5))
}
