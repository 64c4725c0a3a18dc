package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnwrap(t *testing.T) {
	plain := wire(27, 1, 4, "hp", 2, 10)
	file := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(file, plain, 0o600))
	for _, container := range []string{"zstd", "fastlz", "deflate", "gzip", "raw-zstd", "raw-fastlz", "raw-deflate", "raw-gzip"} {
		t.Run(container, func(t *testing.T) {
			packed := filepath.Join(t.TempDir(), "packed")
			r := runWith(nil, "recode", "-frame", "none", "-format", "godot4", "-to", container, file, "-o", packed)
			require.Zero(t, r.status, r.err)
			r = runWith(nil, "unwrap", packed)
			require.Zero(t, r.status, r.err)
			require.Equal(t, string(plain), r.out)
		})
	}
	t.Run("neither compressed nor encrypted", func(t *testing.T) {
		r := runWith(nil, "unwrap", file)
		require.Equal(t, statusBad, r.status)
		require.Empty(t, r.out)
		require.Contains(t, r.err, "plain is neither compressed nor encrypted as by Godot")
	})
}

func TestVersion(t *testing.T) {
	r := runWith(nil, "version")
	require.Zero(t, r.status, r.err)
	require.True(t, strings.HasPrefix(r.out, "gdwire "), r.out)
	require.Len(t, strings.Fields(r.out), 2)
}
