package gdwire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal"
)

// Only the packages of this module name AllowInternalUse. Others can call Export with nil alone.
func TestInternal(t *testing.T) {
	require.NotPanics(t, func() { Internal.Export(&internal.AllowInternalUse) })
	require.Panics(t, func() { Internal.Export(nil) })
	require.Panics(t, func() { Internal.Export(new(internal.NotForPublicUse)) })
}
