package fileaccess_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
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
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// A recipe creates a file. Its name begins with the mode in which read.gd opens it.
type recipe struct {
	name  string
	write func(w io.Writer) (io.WriteCloser, error)
	key   *fileaccess.Key
}

// recipes returns recipes for files that Godot 3 reads.
func recipes() (all []recipe) {
	for _, mode := range modes {
		for _, blockSize := range []int{0, 1, 15, 100, 65536, 1 << 18} {
			all = append(all, recipe{
				name:  fmt.Sprintf("%v_%d", mode, blockSize),
				write: func(w io.Writer) (io.WriteCloser, error) { return fileaccess.NewCompressedWriter(w, mode, blockSize) },
			})
		}
	}
	for name, key := range map[string]*fileaccess.Key{"password": fileaccess.PasswordKey("pässwörd"), "key": rawKey()} {
		all = append(all, recipe{
			name: name,
			write: func(w io.Writer) (io.WriteCloser, error) {
				return fileaccess.NewEncryptedWriter(w, fileaccess.LayoutGodot3, key)
			},
			key: key,
		})
	}
	return all
}

// make writes content by the recipe r.
func (r *recipe) make(tb testing.TB, content []byte) []byte {
	var b bytes.Buffer
	w := must(r.write(&b))(tb)
	require.NoError(tb, errOf(w.Write(content)))
	require.NoError(tb, w.Close())
	return b.Bytes()
}

// A running Godot 3 reads files of this package, and this package reads its files.
func TestFileAccessEngine(t *testing.T) {
	engine, err := exec.LookPath("godot3-server")
	if err != nil {
		t.Skip("skipped: godot3-server is not installed, so no engine was asked")
	}
	home := t.TempDir()
	require.NoError(t, os.CopyFS(home, os.DirFS("testdata/godot3")))
	put := func(name string, b []byte) { require.NoError(t, os.WriteFile(filepath.Join(home, name), b, 0o600)) }
	get := func(name string) []byte {
		return must(os.ReadFile(filepath.Join(home, name)))(t)
	}

	var names []string
	type made struct {
		recipe
		content []byte
	}
	files := map[string]made{}
	for _, r := range recipes() {
		for name, content := range contents() {
			if strings.HasSuffix(r.name, "_1") && len(content) > 5000 {
				continue // a block for each byte
			}
			if !testenv.Full() && !strings.HasSuffix(r.name, "_0") && r.key == nil {
				continue
			}
			name = r.name + "_" + name
			names = append(names, name)
			files[name] = made{r, content}
			put(name, r.make(t, content))
			put(name+".plain", content)
		}
	}
	for _, v := range vectors(t) { // Godot 3 opens compressed files of Godot 4
		if name, ok := strings.CutPrefix(v.name, "godot4.6/compressed_"); ok {
			names = append(names, name)
			files[name] = made{content: v.content}
			put(name, v.data)
			put(name+".plain", v.content)
		}
	}
	put("godot4", file(t, encryptedInfo(fileaccess.LayoutGodot4), fileaccess.PasswordKey("pässwörd"), pattern(100)))
	put("files.txt", []byte(strings.Join(names, "\n")))
	put("fastlz_save", recipes()[0].make(t, must(os.ReadFile("../testdata/containers/godot3.2.3/save_plain"))(t)))
	far := append(pattern(3000), contents()["random_70000"][:57000]...) // FastLZ looks back 73 KiB
	far = append(append(far, far...), make([]byte, 5000)...)
	put("level2.plain", far)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, engine, "--no-window", "--path", home, "-s", "read.gd")
	c.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "FAILED")
	require.NotContains(t, string(out), "SCRIPT ERROR")
	require.Contains(t, string(out), "godot4 refused")
	require.Contains(t, string(out), "values: {hp:100, items:[{id:1, n:3}, {id:2, n:1}], name:Ada")
	require.Contains(t, string(out), fmt.Sprintf("%d files compared", len(names)))

	for name, f := range files {
		r, err := fileaccess.NewReader(bytes.NewReader(get(name+".engine")), &fileaccess.Options{Key: f.key})
		require.NoError(t, err, name)
		got, err := io.ReadAll(r)
		require.NoError(t, err, name)
		require.Equal(t, f.content, got, name)
	}
	level2 := get("level2")
	require.Equal(t, byte(1), level2[0]>>5)
	require.Less(t, len(level2), len(far)*2/3, "matches far away")
	r := must(fileaccess.NewReader(bytes.NewReader(gcpf(fileaccess.FastLZ, 1<<18, uint32(len(far)), level2)), nil))(t)
	require.Equal(t, far, must(io.ReadAll(r))(t))
}

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
	values := testenv.Cases(200, 2000)
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

	lines := strings.Split(strings.TrimSpace(string(must(os.ReadFile(filepath.Join(folder, "engine.txt")))(t))), "\n")
	require.Len(t, lines, values)
	level2 := 0
	for i, line := range lines {
		for m, text := range strings.Fields(line) {
			stream := must(base64.StdEncoding.DecodeString(text))(t)
			got := must(fileaccess.Decompress(nil, stream, modes[m], 0))(t)
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
