package gdwire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is read can be written again, byte for byte.
func TestTokensGoBothWays(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(plain(s.packet), s.options(0))
		defer d.Release()
		all := tokens(t, d)
		got := encoded(t, &EncoderOptions{Format: s.format}, func(e *Encoder) {
			for _, tok := range all {
				require.NoError(t, e.WriteToken(tok))
			}
		})
		require.Equal(t, s.packet, got)
	})
}
