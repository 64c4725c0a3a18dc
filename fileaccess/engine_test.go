package fileaccess_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
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
	_, err := w.Write(content)
	require.NoError(tb, err)
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
		b := must(os.ReadFile(filepath.Join(home, name)))(t)
		return b
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
			if !full() && !strings.HasSuffix(r.name, "_0") && r.key == nil {
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
	save := must(os.ReadFile("../testdata/containers/godot3.2.3/save_plain"))(t)
	put("fastlz_save", recipes()[0].make(t, save))
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
	got := must(io.ReadAll(r))(t)
	require.Equal(t, far, got)
}
