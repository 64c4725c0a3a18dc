package limits

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestError(t *testing.T) {
	err := fmt.Errorf("around: %w", &Error{Name: "Depth", Got: 5, Max: 4})
	require.ErrorIs(t, err, ErrLimit)
	require.False(t, errors.Is(err, errors.New("limit exceeded")))
	require.EqualError(t, err, "around: value inside 5 containers exceeds limit Depth (4)")
	require.EqualError(t, &Error{Name: "MaxMemory", Got: 5, Max: 4}, "5 exceeds limit MaxMemory (4)")
}
