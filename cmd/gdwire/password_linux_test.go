package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
)

// openPTY opens a pseudo-terminal.
func openPTY(t *testing.T) (user, terminal *os.File) {
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	const unlock, number = 0x40045431, 0x80045430
	var n uint32
	for _, request := range []uintptr{unlock, number} {
		_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, user.Fd(), request, uintptr(unsafe.Pointer(&n)))
		require.Zero(t, failed)
	}
	terminal, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() {
		user.Close()
		terminal.Close()
	})
	return user, terminal
}

// TestPrompt types at the prompt for a password. Afterwards the terminal shows what is
// typed, and there is no temporary file.
func TestPrompt(t *testing.T) {
	folder := t.TempDir()
	sealed := must(filepath.Abs(testdata("containers", "godot4.6/save_encrypted_pass_hunter2")))(t)
	for name, c := range map[string]struct {
		typed  string
		status int
		says   string
	}{
		"password":       {"hunter2\r", statusGood, ""},
		"corrected":      {"hunter3\x7f2\r", statusGood, ""},
		"wrong password": {"hunter3\r", statusBad, "wrong password"},
		"Ctrl-C":         {"hun\x03", statusUsage, "no password was given"},
		"Ctrl-D":         {"\x04", statusUsage, "no password was given"},
	} {
		t.Run(name, func(t *testing.T) {
			user, terminal := openPTY(t)
			out := filepath.Join(folder, "out")
			command := exec.CommandContext(t.Context(), "gdwire", "recode", "-to", "plain", sealed, "-o", out)
			command.Stdin, command.Stderr = terminal, terminal
			command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			require.NoError(t, command.Start())
			var shown bytes.Buffer
			part := make([]byte, 100)
			for !strings.Contains(shown.String(), "hunter2: ") {
				n := must(user.Read(part))(t)
				shown.Write(part[:n])
			}
			must(user.WriteString(c.typed))(t)
			_ = command.Wait()
			require.Equal(t, c.status, command.ProcessState.ExitCode())
			if c.says != "" {
				for !strings.Contains(shown.String(), c.says) {
					n := must(user.Read(part))(t)
					shown.Write(part[:n])
				}
			}
			require.NotContains(t, shown.String(), "hunter3")
			stty := exec.CommandContext(t.Context(), "stty", "-a")
			stty.Stdin = terminal
			modes := must(stty.Output())(t)
			require.Contains(t, string(modes), " echo ")
			require.Contains(t, string(modes), " icanon ")
			_, err := os.Stat(out)
			require.Equal(t, c.status == statusGood, err == nil)
			_ = os.Remove(out)
			entries := must(os.ReadDir(folder))(t)
			require.Empty(t, entries)
		})
	}
}

// TestProgress: the first line of a progress bar shows no rate of a moment, and output removes the bar.
func TestProgress(t *testing.T) {
	user, terminal := openPTY(t)
	var out bytes.Buffer
	s := shell.NewStdio(nil, &out, terminal)
	r := s.ProgressOf(1 << 30)(endless(1 << 30))
	must(io.CopyN(io.Discard, r, 1<<20))(t)
	_, err := s.Out.WriteString("a hit\n")
	require.NoError(t, err)
	require.Empty(t, out.String())
	must(io.CopyN(io.Discard, r, 1))(t)
	require.Equal(t, "a hit\n", out.String())
	s.Logf("the end")
	var shown bytes.Buffer
	for part := make([]byte, 100); !strings.Contains(shown.String(), "the end"); {
		n := must(user.Read(part))(t)
		shown.Write(part[:n])
	}
	for _, unit := range []string{"GB/s", "TB/s", "PB/s"} {
		require.NotContains(t, shown.String(), unit)
	}
}
