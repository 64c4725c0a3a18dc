package fileaccess_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
)

// randomValue returns a value that a script could compress. Some are longer than the 64 KiB from which engines use
// level 2 of FastLZ.
func randomValue(r *rand.Rand, depth int) any {
	n := r.IntN(1 + 20*depth)
	if r.IntN(200) == 0 {
		n = 10_000
	}
	text := func() string { return strings.Repeat(string(rune(r.IntN(0x500)+0x20)), r.IntN(9)) + "x" }
	switch kind := r.IntN(11); {
	case kind == 9 && depth > 0:
		d := &variant.Dictionary{}
		for range min(n, 30) {
			d.Set(text(), randomValue(r, depth-1))
		}
		return d
	case kind == 10 && depth > 0:
		var all []any
		for range min(n, 30) {
			all = append(all, randomValue(r, depth-1))
		}
		return all
	case kind == 0:
		return nil
	case kind == 1:
		return r.IntN(2) == 0
	case kind == 2:
		return r.Int64() >> r.IntN(64)
	case kind == 3:
		return r.NormFloat64()
	case kind == 4:
		return variant.Vector3{X: float64(r.Float32()), Y: float64(r.IntN(9))}
	case kind == 5:
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32() >> r.IntN(32))
		}
		return b
	case kind == 6:
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i * r.IntN(3))
		}
		return all
	case kind == 7:
		return strings.Repeat(text(), 1+n)
	}
	return text()
}

// A running Godot 4 decompresses what Compress returns, and Decompress what the engine returns.
func TestCompressEngine(t *testing.T) {
	path := os.Getenv("GDWIRE_GODOT4")
	if path == "" {
		t.Skip("skipped: no GDWIRE_GODOT4, so no engine was asked")
	}
	values := 200
	if full() {
		values = 2000
	}
	r := rand.New(rand.NewPCG(49, 1))
	folder := t.TempDir()
	var packets [][]byte
	var list strings.Builder
	for range values {
		packet := gdwiretest.Encode(t, randomValue(r, 3))
		packets = append(packets, packet)
		list.WriteString(base64.StdEncoding.EncodeToString(packet))
		for _, mode := range modes {
			stream := must(fileaccess.Compress(nil, packet, mode))(t)
			if r.IntN(2) == 0 {
				stream = file(t, fileaccess.Info{Container: fileaccess.Raw, Mode: mode}, nil, packet)
			}
			list.WriteString(" " + base64.StdEncoding.EncodeToString(stream))
		}
		list.WriteString("\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "values.txt"), []byte(list.String()), 0o600))

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "testdata/godot4/compress.gd", folder).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "FAILED")
	require.NotContains(t, string(out), "SCRIPT ERROR")
	require.Contains(t, string(out), "DONE")

	answer := must(os.ReadFile(filepath.Join(folder, "engine.txt")))(t)
	lines := strings.Split(strings.TrimSpace(string(answer)), "\n")
	require.Len(t, lines, values)
	level2 := 0
	for i, line := range lines {
		for m, text := range strings.Fields(line) {
			stream := must(base64.StdEncoding.DecodeString(text))(t)
			got, err := fileaccess.Decompress(nil, stream, modes[m], 0)
			require.NoError(t, err)
			require.True(t, isFilled(modes[m], packets[i], got), "%v", modes[m])
			got, _ = must2(readAll(bytes.NewReader(stream), raw(modes[m])))(t)
			require.True(t, isFilled(modes[m], packets[i], got), "%v", modes[m])
			if modes[m] == fileaccess.FastLZ {
				level2 += int(stream[0] >> 5)
			}
		}
	}
	require.Positive(t, level2, "some streams have level 2")
	t.Logf("%d values in %d modes, %d of level 2: 0 differ", values, len(modes), level2)
}
