//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadOnlyFolder: a file in a folder where nothing can be created stays as it was. Root
// could create one, so the command then runs as another user.
func TestReadOnlyFolder(t *testing.T) {
	folder := t.TempDir()
	old := must(os.ReadFile(testdata("godot4.7-dev", "put_var.bin")))(t)
	b := must(os.ReadFile(must(os.Executable())(t)))(t)
	command := filepath.Join(folder, "gdwire") // which the other user can reach
	require.NoError(t, os.WriteFile(command, b, 0o755))
	file := filepath.Join(folder, "file")
	require.NoError(t, os.WriteFile(file, old, 0o644))
	require.NoError(t, os.Chmod(filepath.Dir(folder), 0o755))
	require.NoError(t, os.Chmod(folder, 0o555))
	defer func() { require.NoError(t, os.Chmod(folder, 0o755)) }()

	for _, args := range []string{"recode FILE -o FILE", "recode FILE -o FILE.new", "json FILE -o FILE", "set -q $1=5 FILE -o FILE"} {
		t.Run(args, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), command, strings.Fields(strings.ReplaceAll(args, "FILE", file))...)
			c.Dir = folder
			if os.Getuid() == 0 {
				const nobody = 65534
				c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			}
			out, err := c.CombinedOutput()
			require.Error(t, err)
			require.Equal(t, statusBad, c.ProcessState.ExitCode(), "%s", out)
			require.Contains(t, string(out), "permission denied")
			require.Equal(t, old, must(os.ReadFile(file))(t))
			require.Len(t, must(os.ReadDir(folder))(t), 2, "a temporary file is left")
		})
	}
}

// TestClosedErrors: a command whose messages nobody reads finishes its work, and leaves no
// temporary file.
func TestClosedErrors(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	require.NoError(t, os.WriteFile(file, wire(27, 1, 4, "hp", 2, 10), 0o600))
	r, w := must2(os.Pipe())(t)
	require.NoError(t, r.Close())
	defer w.Close()
	c := exec.CommandContext(t.Context(), "gdwire", "set", "hp = 99", file, "-o", file)
	c.Stderr = w
	require.NoError(t, c.Run())
	require.Equal(t, wire(27, 1, 4, "hp", 2, 99), must(os.ReadFile(file))(t))
	require.Len(t, must(os.ReadDir(folder))(t), 1, "a temporary file is left")
}

// TestSpool: packets of any size follow each other in a pipe, each after its length. Without a file for the large ones, the command
// ends before their first byte.
func TestSpool(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	var in, want []byte
	for _, n := range []int{1, 256<<10 - 13, 256<<10 - 12, 256<<10 - 11, 600 << 10, 300 << 10, 5} {
		v := append(wire(4, n), strings.Repeat("x", (n+3)&^3)...)
		copy(v[8+n:], "\x00\x00\x00")
		in, want = append(in, v...), append(want, framed(v)...)
	}
	args := strings.Fields("recode -format godot4 -frame none -to u32")
	var out, errs bytes.Buffer
	require.Zero(t, run(args, bytes.NewReader(in), &out, &errs), &errs)
	require.True(t, bytes.Equal(want, out.Bytes()))
	require.Empty(t, must(os.ReadDir(folder))(t))

	t.Setenv("TMPDIR", filepath.Join(folder, "missing"))
	out.Reset()
	require.Equal(t, statusBad, run(strings.Fields("recode -format godot4 -frame u32"), bytes.NewReader(want[16:]), &out, &errs))
	require.Contains(t, errs.String(), "no such file or directory")
	require.True(t, bytes.HasPrefix(want[16:], out.Bytes()), "no packet is left out")
	require.Less(t, out.Len(), 3<<18)
}
