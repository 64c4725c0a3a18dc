package savefile

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
)

// engineCommand returns the command that runs a script of testdata in an engine, which reads files.txt of
// the folder: Godot 3.2.3, if Debian's godot3-server is installed, and a build of Godot 4, if
// GDWIRE_GODOT4 names a program that runs a script as the main scene. The test is skipped without the
// engine.
func engineCommand(ctx context.Context, t *testing.T, f gdwire.Format, folder string) *exec.Cmd {
	if f == gdwire.Godot4 {
		path := os.Getenv("GDWIRE_GODOT4")
		if path == "" {
			t.Skip("skipped: no GDWIRE_GODOT4, so no engine was asked")
		}
		return exec.CommandContext(ctx, path, "testdata/read4.gd", folder)
	}
	path, err := exec.LookPath("godot3-server")
	if err != nil {
		t.Skip("skipped: godot3-server is not installed, so no engine was asked")
	}
	script := must(filepath.Abs("testdata/read3.gd"))(t)
	c := exec.CommandContext(ctx, path, "--no-window", "--path", folder, "-s", script)
	c.Env = append(os.Environ(), "HOME="+folder, "XDG_DATA_HOME="+folder, "XDG_CONFIG_HOME="+folder, "XDG_CACHE_HOME="+folder)
	return c
}

// engineLine tells the scripts how to open a file whose content has a size.
func engineLine(name string, i Info, size int64) string {
	container, mode := "plain", 0
	switch i.Container.Container {
	case fileaccess.Compressed:
		container, mode = "compressed", int(i.Container.Mode)
	case fileaccess.Raw:
		container, mode = "raw", int(i.Container.Mode)
	case fileaccess.Encrypted:
		container = "encrypted"
	}
	if i.Container.Base64.Text {
		container = "base64"
	}
	return fmt.Sprintln(name, container, mode, map[Lengths]string{NoLengths: "none", LittleEndian: "little", BigEndian: "big"}[i.Lengths], size)
}

// TestSaveEngine lets engines read files of all kinds that were written, edited, converted from the other
// kinds, and repaired. Their first value is the one that was written.
func TestSaveEngine(t *testing.T) {
	for _, format := range []gdwire.Format{gdwire.Godot3, gdwire.Godot4} {
		t.Run(format.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			folder := t.TempDir()
			command := engineCommand(ctx, t, format, folder)
			var list strings.Builder
			want := map[string]string{}
			put := func(what string, i int, f *File) {
				name := fmt.Sprint(what, i)
				b := written(t, f)
				again := must(read(b, given(f.Info)))(t)
				list.WriteString(engineLine(name, f.Info, again.content.Size))
				require.NoError(t, f.Save(filepath.Join(folder, name)))
				want[name] = firstValue(t, b, f.Info)
			}
			m := &maker{Rand: rand.New(rand.NewPCG(13, 14))}
			for i, kind := range kinds {
				saved := m.save(kind.Lengths)
				b, _ := file(t, kind, saved...)
				f := must(read(b, given(kind)))(t)
				if kind.Format == format {
					put("written", i, f)
					require.NoError(t, f.Edit(Set("hp", 1234), Set("name", "a longer Name"), Set("added", []any{1, "b"}), Delete("version")))
					put("edited", i, f)
				}
				to := kinds[(i+len(kinds)/2)%len(kinds)] // of the other format
				if to.Lengths == NoLengths && len(saved) > 1 {
					to.Lengths = LittleEndian
				}
				f.Info = to
				if to.Format == format {
					put("converted", i, f)
				}
				if kind.Format == format && kind.Container == (fileaccess.Info{}) {
					o := given(kind)
					o.Repair = true
					f := must(read(b[:len(b)-9], o))(t)
					require.NotNil(t, f.Info.Damage)
					put("repaired", i, f)
				}
			}
			require.NoError(t, os.WriteFile(filepath.Join(folder, "files.txt"), []byte(list.String()), 0o600))

			got := engineValues(t, command, format)
			require.Len(t, want, 33*3+3)
			require.Equal(t, want, got)
		})
	}
}

// engineValues runs an engine on files.txt and returns the first values that it read, by the names of the files.
func engineValues(t *testing.T, command *exec.Cmd, format gdwire.Format) map[string]string {
	t.Helper()
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "FAILED")
	require.NotContains(t, string(out), "SCRIPT ERROR")
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "GOT" {
			b := must(hex.DecodeString(words[2]))(t)
			got[words[1]] = firstValue(t, b, Info{Format: format, Lengths: NoLengths})
		}
	}
	return got
}

// TestConvertEngine lets Godot 3 read values of Godot 4 that were converted with Lossy.
func TestConvertEngine(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	folder := t.TempDir()
	command := engineCommand(ctx, t, gdwire.Godot3, folder)
	var list strings.Builder
	want := map[string]string{}
	put := func(value, becomes any, double bool) {
		f := must(New(Info{DoubleReals: double}, value))(t)
		f.Info.Format = gdwire.Godot3
		lost := 0
		f.Lossy = func(Loss) { lost++ }
		name := fmt.Sprint(len(want))
		require.NoError(t, f.Save(filepath.Join(folder, name)))
		require.Positive(t, lost)
		list.WriteString(engineLine(name, f.Info, 0))
		b := must(variant.Marshal(becomes, variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}))(t)
		want[name] = hex.EncodeToString(b)
	}
	for i, c := range slices.Concat(conversions, doubles) {
		if c.lost != "" {
			put([]any{c.value, 1}, []any{c.want, 1}, i >= len(conversions)) // the value after it shows where it ends
		}
	}
	var keys variant.Dictionary
	for i, k := range []any{variant.Vector2{X: 1}, variant.Vector2i{X: 1}, variant.Callable{}, variant.Signal{}, variant.StringName("k")} {
		keys.Set(k, i)
	}
	var last variant.Dictionary // of equal keys
	last.Set(variant.Vector2{X: 1}, 1)
	last.Set(nil, 3)
	last.Set("k", 4)
	put(&keys, &last, false)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "files.txt"), []byte(list.String()), 0o600))
	require.Equal(t, want, engineValues(t, command, gdwire.Godot3))
}

// firstValue returns the encoding of the first value in a file, in hexadecimal digits. Its padding is
// zeros, which engines do not always write.
func firstValue(t *testing.T, b []byte, i Info) string {
	t.Helper()
	f := must(read(b, given(i)))(t)
	var v any
	require.NoError(t, f.Get("$", &v))
	return hex.EncodeToString(gdwiretest.Encode(t, v, variant.Options{Encoder: gdwire.EncoderOptions{Format: i.Format}}))
}
