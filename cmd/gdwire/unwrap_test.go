package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
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
	t.Run("text", func(t *testing.T) {
		const text = "{\"a\": 1, \"b\": [1, 2, 3]}\n"
		var zstd, gcpf, base64 bytes.Buffer
		for info, out := range map[fileaccess.Info]*bytes.Buffer{
			{Container: fileaccess.Raw, Mode: fileaccess.Zstd}: &zstd, {Container: fileaccess.Compressed, Mode: fileaccess.Gzip}: &gcpf,
			{Container: fileaccess.Raw, Mode: fileaccess.Gzip, Base64: fileaccess.Base64{Text: true, End: " \n"}}: &base64,
		} {
			w := must(fileaccess.NewWriter(out, info, nil))(t)
			_, err := io.WriteString(w, text)
			require.NoError(t, errors.Join(err, w.Close()))
		}
		for name, in := range map[string]*bytes.Buffer{"zstd-compressed text": &zstd, "gzip-compressed text": &gcpf, "base64 of gzip-compressed text": &base64} {
			packed := filepath.Join(t.TempDir(), "packed")
			require.NoError(t, os.WriteFile(packed, in.Bytes(), 0o600))
			r := runWith(nil, "find", "a", packed)
			require.Contains(t, r.err, "packed is "+name+", perhaps JSON; gdwire unwrap writes it\n")
			r = runWith(nil, "unwrap", packed)
			require.Zero(t, r.status, r.err)
			require.Equal(t, text, r.out)
		}
	})
	t.Run("base64 after a byte order mark", func(t *testing.T) {
		packed := filepath.Join(t.TempDir(), "packed")
		require.NoError(t, os.WriteFile(packed, []byte("\ufeffGwAAAAEAAAAEAAAAAgAAAGhwAAACAAAABQAAAA=="), 0o600))
		r := runWith(nil, "find", "hp", packed)
		require.Contains(t, r.err, "packed is perhaps base64 text after other bytes, not values of Godot; -skip 3 skips them")
		r = runWith(nil, "find", "-skip", "3", "hp", packed)
		require.Contains(t, r.out, "hp = 5")
	})
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
