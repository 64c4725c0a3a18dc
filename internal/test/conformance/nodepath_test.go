package conformance

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/wire"
	"github.com/gdwire/gdwire/variant"
)

// All packages write the same text of a NodePath. Those that promise to find its names again return
// an error exactly if other names would be found.
func TestNodePathText(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 53))
	some := func(n int) (all []string) {
		for range random.IntN(n) {
			all = append(all, []string{"a", "root", "", "b/c", "d:e", "é", strings.Repeat("long", 30)}[random.IntN(7)])
		}
		return all
	}
	for range 2000 {
		names, subnames, absolute := some(4), some(3), random.IntN(2) == 0
		e := gdwire.NewEncoder(nil, nil)
		e.ResetBytes(nil)
		require.NoError(t, e.BeginNodePath(len(names), len(subnames), absolute))
		for _, name := range append(names, subnames...) {
			require.NoError(t, e.WriteString(name))
		}
		require.NoError(t, e.End())
		b := bytes.Clone(e.Bytes())
		require.NoError(t, e.Close())

		for _, maxChunk := range []int{0, 16} {
			d := gdwire.NewDecoder(bytes.NewReader(b), &gdwire.DecoderOptions{MaxChunk: maxChunk})
			text := must(d.ReadNodePath())(t)
			require.Equal(t, `^"`+text+`"`, variant.Raw{Data: b}.String())

			back, err := variant.Marshal(variant.NodePath(text))
			found := err == nil && bytes.Equal(back, b)
			o := variant.Options{Decoder: d.Options()}
			var path variant.NodePath
			err = variant.Unmarshal(b, &path, o)
			require.Equal(t, found, err == nil, "%q: %v", text, err)
			require.Equal(t, found, variant.Validate(b, o) == nil, "%q", text)
			var json bytes.Buffer
			d.Reset(bytes.NewReader(b))
			jsonErr := gdjson.ToJSON(&json, d)
			require.Equal(t, found, jsonErr == nil, "%q: %v", text, jsonErr)
			if found {
				require.Equal(t, variant.NodePath(text), path)
				require.Equal(t, `"np:`+text+`"`, json.String())
			} else {
				require.ErrorIs(t, err, gdwire.ErrRange)
				require.ErrorIs(t, jsonErr, gdwire.ErrRange)
			}
			d.Release()
		}
	}
}

// CleanNodePath returns the text that is read after a text was written.
func TestCleanNodePath(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 53))
	for range 5000 {
		var text strings.Builder
		for range random.IntN(8) {
			text.WriteString([]string{"a", "bc", "/", "/", ":", "é"}[random.IntN(6)])
		}
		b, err := variant.Marshal(variant.NodePath(text.String()))
		if errors.Is(err, gdwire.ErrRange) {
			continue // two colons in a row
		}
		require.NoError(t, err)
		var path variant.NodePath
		require.NoError(t, variant.Unmarshal(b, &path), "%q", text.String())
		require.Equal(t, string(path), wire.CleanNodePath(text.String()))
	}
}
