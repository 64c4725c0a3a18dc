package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
)

// Each path that completes a word is one that get finds.
func TestCompletedPaths(t *testing.T) {
	several := framed(wire(2, 1), wire(28, 1, 2, 5), wire(27, 5, 4, "hp", 2, 7, 4, "1", 2, 3, 2, 1, 2, 2, 4, "a b", 28, 1, 2, 5, 5, float32(1), float32(2), 0), wire(24, "Node", 1, "name", 4, "x"))
	files := map[string][]byte{"several": several, "scalar": wire(2, 5), "array": wire(28, 2, 0, 28, 1, 0)}
	for _, folder := range []string{"godot4.3", "godot4.6", "godot4.7-dev", "godot3.2.3"} {
		all := must(filepath.Glob(testdata(folder, "*.bin")))(t)
		for _, name := range all {
			if b, err := os.ReadFile(name); err == nil && len(b) < 1<<16 {
				files[filepath.Join(folder, filepath.Base(name))] = b
			}
		}
	}
	file := filepath.Join(t.TempDir(), "save")
	random := rand.New(rand.NewPCG(1, 2))
	for name, b := range files {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, b, 0o600))
			for _, word := range []string{"", "$", "$1", "1", "["} {
				for range 4 {
					fits := open.CompletePath(file, word)
					if len(fits) == 0 {
						break
					}
					for _, fit := range fits[:min(len(fits), 10)] {
						require.True(t, strings.HasPrefix(fit, word), "%q, %q", word, fit)
						var errs bytes.Buffer
						require.Zero(t, run([]string{"get", fit, file}, nil, io.Discard, &errs), "%q: %v", fit, &errs)
					}
					word = fits[random.IntN(len(fits))]
					if random.IntN(2) == 0 {
						word = word[:len(word)-random.IntN(2)]
					}
				}
			}
		})
	}
}
