package gdwire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestOptions(t *testing.T) {
	require.Equal(t, gdwire.Godot4, new(gdwire.Encoder).Options().Format)
	require.Equal(t, gdwire.Godot4, new(gdwire.Decoder).Options().Format)

	eo := gdwire.EncoderOptions{Format: gdwire.Godot3, Buffered: -1}
	require.Equal(t, eo, gdwire.NewEncoder(nil, &eo).Options())
	do := gdwire.DecoderOptions{Format: gdwire.Godot3, WindowSize: 5, Limits: gdwire.Limits{Depth: 3}}
	d := gdwire.NewDecoder(nil, &do)
	require.Equal(t, do, d.Options())
	d.Release()
	require.Equal(t, do, d.Options())
}
