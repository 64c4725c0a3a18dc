package gdwire_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/stretchr/testify/require"
)

// TestWriteShortNodePath writes NodePaths at the top level and in an Array, where short ones
// take the fast path. The bytes must be the same.
func TestWriteShortNodePath(t *testing.T) {
	texts := []string{""}
	for from := 0; len(texts) < 5000; from++ {
		for _, c := range []string{"a", "/", ":", "longer name", "é", "\xff"} {
			texts = append(texts, texts[from]+c)
		}
	}
	for n := 50; n < 80; n++ {
		for _, part := range []string{"a", "a/", "abcd/", "eight888/", "nine99999:", "/"} {
			texts = append(texts, strings.Repeat(part, n)[:n])
		}
	}
	var top, inArray bytes.Buffer
	for _, text := range texts {
		top.Reset()
		inArray.Reset()
		e := gdwire.NewEncoder(&top, nil)
		wantErr := e.WriteNodePath(text)
		e.Release()

		e = gdwire.NewEncoder(&inArray, nil)
		require.NoError(t, e.BeginArray(1))
		err := e.WriteNodePath(text)
		if wantErr != nil {
			require.EqualError(t, err, strings.Replace(wantErr.Error(), "offset 0, $:", "offset 8, $[0]:", 1), "%q", text)
			continue
		}
		require.NoError(t, err, "%q", text)
		require.NoError(t, e.End())
		require.Equal(t, top.String(), inArray.String()[8:], "%q", text)
		e.Release()
	}
}
