package gdjson_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

// TestFromJSONBatches tests packed arrays that are longer than one batch, also with
// an error in a later batch.
func TestFromJSONBatches(t *testing.T) {
	const n = 1000
	reals, vectors := make([]float32, n), make([][3]float32, n)
	for i := range n {
		reals[i], vectors[i] = float32(i), [3]float32{float32(i), 0.5, -1}
	}
	for name, write := range map[string]func(*gdwire.Encoder){
		"numbers": packed(gdwire.TypePackedFloat32Array, reals), "vectors": packed(gdwire.TypePackedVector3Array, vectors),
	} {
		t.Run(name, func(t *testing.T) {
			want := encode(t, nil, write)
			text := must(toJSON(want, nil, nil))(t)
			got := must(fromJSON(text, nil, nil))(t)
			require.True(t, bytes.Equal(want, got))

			_, err := fromJSON(strings.Replace(text, "900.0", "1e39", 1), nil, nil)
			require.ErrorIs(t, err, gdwire.ErrRange)
			var fault *gdjson.Error
			require.ErrorAs(t, err, &fault)
			require.Equal(t, "1e39", strings.Replace(text, "900.0", "1e39", 1)[fault.Offset:][:4])
			_, err = fromJSON(strings.Replace(text, "900.0", "{}", 1), nil, nil)
			require.ErrorIs(t, err, gdwire.ErrType)
		})
	}
}
