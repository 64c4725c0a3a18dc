package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
)

// requireReference compares the Decoder with the reference on a packet.
func requireReference(t testing.TB, p []byte, o gdwire.DecoderOptions) bool {
	t.Helper()
	accepted := must(model.Compare(p, o))(t)
	return accepted
}

func TestReferenceReadsVectors(t *testing.T) {
	forVectors(t, func(t *testing.T, e *model.Engine, v *model.Vector) {
		got, size := must2(model.DecodeReference(v.Hex, e.Format.String(), v.FullObjects, false))(t)
		require.Equal(t, len(v.Hex), size)
		require.Equal(t, v.Value.Plain().AnyNaN(), got.Plain().AnyNaN())
	})
}

func TestReferenceOnVerdicts(t *testing.T) {
	require.NoError(t, model.Complete())
	accepted, rejected := 0, 0
	for i := range model.Singles {
		for _, v := range model.Singles[i].Verdicts(t) {
			for _, objects := range []bool{false, true} {
				if requireReference(t, v.Hex, gdwire.DecoderOptions{Format: model.Singles[i].Format, AllowObjects: objects}) {
					accepted++
				} else {
					rejected++
				}
			}
		}
	}
	require.NotZero(t, accepted)
	require.NotZero(t, rejected)
}
