package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInputFails(t *testing.T) {
	in := io.MultiReader(bytes.NewReader(wire(2, 5, 4)), &failingReader{})
	for _, framing := range []string{"none", "u32"} {
		t.Run(framing, func(t *testing.T) {
			var out, errs bytes.Buffer
			require.Equal(t, statusBad, run(fixed([]string{"json", "-frame", framing}), in, &out, &errs))
			require.Equal(t, "gdwire: cable cut\n", errs.String())
		})
	}
}
