package guard

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuardMemory(t *testing.T) {
	m := New(t, 10)
	b := m.Put([]byte("abc"))
	require.Equal(t, "abc", string(b))
	require.Panics(t, func() { _ = string(b[:4]) })
	require.Empty(t, m.Put(nil))
}
