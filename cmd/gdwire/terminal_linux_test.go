package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/test/testenv"
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
				shown.Write(part[:must(user.Read(part))(t)])
			}
			must(user.WriteString(c.typed))(t)
			_ = command.Wait()
			require.Equal(t, c.status, command.ProcessState.ExitCode())
			if c.says != "" {
				for !strings.Contains(shown.String(), c.says) {
					shown.Write(part[:must(user.Read(part))(t)])
				}
			}
			require.NotContains(t, shown.String(), "hunter3")
			stty := exec.CommandContext(t.Context(), "stty", "-a")
			stty.Stdin = terminal
			modes := must(stty.Output())(t)
			require.Contains(t, string(modes), " echo ")
			require.Contains(t, string(modes), " icanon ")
			require.Equal(t, c.status == statusGood, errOf(os.Stat(out)) == nil)
			_ = os.Remove(out)
			require.Empty(t, must(os.ReadDir(folder))(t))
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
	must(s.Out.WriteString("a hit\n"))(t)
	require.Empty(t, out.String())
	must(io.CopyN(io.Discard, r, 1))(t)
	require.Equal(t, "a hit\n", out.String())
	s.Logf("the end")
	var shown bytes.Buffer
	for part := make([]byte, 100); !strings.Contains(shown.String(), "the end"); {
		shown.Write(part[:must(user.Read(part))(t)])
	}
	for _, unit := range []string{"GB/s", "TB/s", "PB/s"} {
		require.NotContains(t, shown.String(), unit)
	}
}

// runProcess runs the command as a process of its own. It returns the output, without its
// first skip bytes, and the most memory that the process had, in KiB.
func runProcess(t *testing.T, stdin string, skip int, args ...string) (out []byte, most int) {
	c, peak := measured(t, args...)
	var errs bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(stdin), &errs
	pipe := must(c.StdoutPipe())(t)
	require.NoError(t, c.Start())
	require.NoError(t, errOf(io.CopyN(io.Discard, pipe, int64(skip))), "%.1000s", &errs)
	out = must(io.ReadAll(pipe))(t)
	require.NoError(t, c.Wait(), "%.1000s", &errs)
	return out, peak()
}

// lastOutput is more than what the process wrote and nobody read.
const lastOutput = 160 << 10

// A file is edited in pieces, however large it is.
func TestEditLarge(t *testing.T) {
	size := 1 << 29
	if !testenv.Full() || strconv.IntSize == 32 {
		size = 48 << 20
	}
	file := filepath.Join(t.TempDir(), "large")
	head := wire(size+32, 28, 3, 29, size)
	tail := wire(2, 5, 2, 6)
	f := must(os.Create(file))(t)
	must(f.Write(head))(t)
	_, err := f.WriteAt(tail, int64(len(head)+size)) // the array is a hole
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for _, args := range [][]string{
		{"set", "[1] = 7", "[2] = s:text"}, {"delete", "[1]"}, {"add", "[+] = 8"}, {"copy", "[0][5]", "[0][7]"}, {"copy", "[0]", "[+]"},
	} {
		t.Run(args[0], func(t *testing.T) {
			args := append(args, file, "-format", "godot4", "-frame", "u32")
			_, most := runProcess(t, "", size-lastOutput, args...)
			require.Less(t, most, maxPeak)
		})
	}
}

// The lines of flat for each value of a save need memory by their number, and time.
func TestSetManyLines(t *testing.T) {
	n, most := 1_000_000, 512<<10
	if !testenv.Full() {
		n, most = n/20, most/10
	}
	packets, edited := make([][]byte, n), make([][]byte, n)
	dicts := make([][]byte, n/2)
	var lines, packetLines, dictLines strings.Builder
	for i := range n {
		packets[i], edited[i] = wire(2, i), wire(2, i+1)
		fmt.Fprintf(&lines, "$[%d] = %d\n", i, i)
		if i < n/10 {
			fmt.Fprintf(&packetLines, "$%d = %d\n", i, i+1)
		}
		if i < n/2 {
			dicts[i] = wire(27, 2, 4, "a", 2, i, 4, "b", 2, i)
			fmt.Fprintf(&dictLines, "$[%d].a = %d\n$[%d].b = %d\n", i, i, i, i)
		}
	}
	arrayOfDicts := append(wire(28, n/2), bytes.Join(dicts, nil)...)
	array := append(wire(28, n), bytes.Join(packets, nil)...)
	for _, c := range []struct {
		name     string
		in, want []byte
		lines    string
	}{
		{"values", framed(array), framed(array), lines.String()},
		{"pairs", framed(arrayOfDicts), framed(arrayOfDicts), dictLines.String()},
		{"packets", framed(packets[:n/10]...), framed(edited[:n/10]...), packetLines.String()},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(file, c.in, 0o600))
			out, got := runProcess(t, c.lines, len(c.want)-lastOutput, "set", file, "-q", "-format", "godot4", "-frame", "u32")
			require.Less(t, got, most)
			require.True(t, bytes.HasSuffix(c.want, out))
		})
	}
}

// TestEditOnTerminal edits files on a terminal, where no bytes are to be seen: they are replaced, and those before kept for undo.
func TestEditOnTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	_, terminal := openPTY(t)
	run := func(says string, args ...string) {
		var stderr bytes.Buffer
		command := exec.CommandContext(t.Context(), "gdwire", args...)
		command.Stdin, command.Stdout, command.Stderr = strings.NewReader(`{"gold": 5}`), terminal, &stderr
		_ = command.Run()
		require.Contains(t, stderr.String(), says)
	}
	run("", "encode", "-plain", "-o", "a")
	old := must(os.ReadFile("a"))(t)
	require.NoError(t, os.WriteFile("b", old, 0o600))

	run("a.bak is the file before: gdwire undo a goes back to it", "set", "gold = 7", "a")
	require.Equal(t, old, must(os.ReadFile("a.bak"))(t))
	run("2 files", "delete", "gold", "a", "b")
	run("a is what a.2.bak was", "undo", "a", "b")
	require.Equal(t, old, must(os.ReadFile("b"))(t))
	run("", "set", "-n", "gold = 8", "b")
	run("there is no $.gold.x", "set", "gold.x = 8", "b")
	run("nothing was saved: use -i, or -o FILE", "set", "gold = 8", "-")
	run("", "set", "gold = 8", "b", "-o", "c")
	require.Equal(t, old, must(os.ReadFile("b"))(t))
	require.NoFileExists(t, "b.bak", "undo took it")
	run("c.bak is the file before: gdwire undo c goes back to it", "set", "gold = 9", "b", "-o", "c")
	run("", "encode", "-plain", "-o", "c")
	require.FileExists(t, "c.2.bak")
	run("", "set", "gold = 9", "b", "-o", "b")
	require.NoFileExists(t, "b.bak", "the input was named")
}

// TestShowOnTerminal: get shows the values of all packets to people, and unwrap text.
func TestShowOnTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	user, terminal := openPTY(t)
	require.NoError(t, os.WriteFile("two", framed(wire(27, 1, 4, "gold", 2, 5), wire(27, 1, 4, "gold", 2, 6)), 0o600))
	require.NoError(t, os.WriteFile("text", []byte("[player]\n"), 0o600))
	for _, c := range []struct{ line, says string }{
		{"get gold two", "with those of other packets, as get '$*.gold'"}, {"get $.gold two", ""},
		{"recode -to raw-zstd two -o packed", ""}, {"unwrap packed", "not for a terminal"},
		{"wrap -like packed text -o packed.cfg", ""}, {"unwrap packed.cfg", ""},
	} {
		command := exec.CommandContext(t.Context(), "gdwire", strings.Fields(c.line)...)
		var stderr bytes.Buffer
		command.Stdout, command.Stderr = terminal, &stderr
		_ = command.Run()
		require.Contains(t, stderr.String(), c.says, c.line)
	}
	shown := make([]byte, len("5\r\n6\r\n5\r\n[player]\r\n"))
	must(io.ReadFull(user, shown))(t)
	require.Equal(t, "5\r\n6\r\n5\r\n[player]\r\n", string(shown))
}
