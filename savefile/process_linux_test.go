package savefile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// The processes that tests start are the test itself, with one of these jobs and a file.
const jobVariable = "GDWIRE_SAVEFILE_JOB"

var jobs = map[string]func(name string) error{"edit": editJob, "save": saveJob}

func init() {
	if jobs[os.Getenv(jobVariable)] != nil {
		runtime.LockOSThread() // the thread that a test follows makes all calls of the system
	}
}

func TestMain(m *testing.M) {
	if job := jobs[os.Getenv(jobVariable)]; job != nil {
		if err := job(os.Args[1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(testenv.Peak())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// command returns the command of a job.
func command(t *testing.T, job, file string) *exec.Cmd {
	t.Helper()
	self := must(os.Executable())(t)
	c := exec.CommandContext(t.Context(), self, file)
	c.Env = append(os.Environ(), jobVariable+"="+job, testenv.PeakLimit)
	return c
}

// editJob makes all calls on a large file: an Array of a PackedByteArray and two ints.
func editJob(name string) error {
	o := given(Info{}.withDefaults())
	o.Container = fileaccess.Options{Key: password, Limits: fileaccess.Limits{Size: -1}}
	o.Decoder.Limits.PackedBytes = -1
	f, err := Open(name, o)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var n int
	if err := f.Get("[1]", &n); err != nil || n != 5 {
		return fmt.Errorf("%d, %w", n, err)
	}
	if err := f.Edit(Set("[1]", n+1), Set("[+]", "text"), Set("[0][7]", 200)); err != nil {
		return err
	}
	return f.Save(name)
}

// TestLargeFiles: Get, Edit and Save of a file take 24 MiB, whatever its size is.
func TestLargeFiles(t *testing.T) {
	if testenv.Race {
		t.Skip("skipped: the race detector needs memory of its own")
	}
	size := int64(64 << 20)
	if testenv.Full() && strconv.IntSize > 32 {
		size = 1 << 28
	}
	for name, info := range map[string]Info{
		"plain":     {},
		"encrypted": {Container: fileaccess.Info{Container: fileaccess.Encrypted}, Key: password},
		"zstd":      {Container: fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd, BlockSize: 64 << 10}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file")
			size := size
			if name == "encrypted" { // which takes longest
				size /= 4
			}
			writeLarge(t, file, info, size)
			out, err := command(t, "edit", file).CombinedOutput()
			require.NoError(t, err, "%s", out)
			kib := must(strconv.Atoi(strings.TrimSpace(string(out))))(t)
			t.Logf("%d KiB for %d MiB", kib, size>>20)
			require.Less(t, kib, 24<<10)
		})
	}
}

// writeLarge writes a large file for editJob. A plain file is mostly a hole.
func writeLarge(t *testing.T, name string, info Info, size int64) {
	t.Helper()
	n := byte(size >> 24)
	head := []byte{0, 0, 0, 0, 28, 0, 0, 0, 3, 0, 0, 0, 29, 0, 0, 0, 0, 0, 0, n}
	tail := []byte{2, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 6, 0, 0, 0}
	head[0], head[3] = byte(len(head)-4+len(tail)), n
	f := must(os.Create(name))(t)
	defer func() { require.NoError(t, f.Close()) }()
	if info.Container.Container == fileaccess.Plain {
		must(f.Write(head))(t)
		must(f.WriteAt(tail, int64(len(head))+size))(t)
		return
	}
	w := must(fileaccess.NewWriter(f, info.Container, info.Key))(t)
	must(w.Write(head))(t)
	block := make([]byte, 1<<20)
	for range size >> 20 {
		must(w.Write(block))(t)
	}
	must(w.Write(tail))(t)
	require.NoError(t, w.Close())
}

// saveJob changes a small file.
func saveJob(name string) error {
	f, err := Open(name, nil)
	if err != nil {
		return err
	}
	if err := f.Edit(Set("hp", 2)); err != nil {
		return err
	}
	return f.Save(name)
}

// newSave writes a save with the int hp, and returns its bytes.
func newSave(t *testing.T, name string, hp int) []byte {
	t.Helper()
	b, _ := file(t, Info{}, map[string]any{"hp": hp, "text": strings.Repeat("x", 200_000)})
	require.NoError(t, os.WriteFile(name, b, 0o600))
	return b
}

// TestKilled ends a program before and after each call of the system by which Save can change files. The
// file is the old or the new one.
func TestKilled(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	changed := newSave(t, name, 2)
	old := newSave(t, name, 1)
	kills, done := 0, false
	for ; !done; kills++ {
		require.NoError(t, os.WriteFile(name, old, 0o600))
		done = runKilled(t, command(t, "save", name), kills)
		b := must(os.ReadFile(name))(t)
		if done {
			require.True(t, bytes.Equal(b, changed))
		} else {
			require.True(t, bytes.Equal(b, old) || bytes.Equal(b, changed), "after %d", kills)
		}
	}
	t.Logf("killed %d times", kills-1)
	require.Greater(t, kills, 10)
	require.Len(t, must(os.ReadDir(filepath.Dir(name)))(t), 1, "the last save removed what the killed ones left")
}

// TestSaveNamedPipe: Open does not wait for the writer of a named pipe.
func TestSaveNamedPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	require.EqualError(t, errOf(Open(name, nil)), "open "+name+": not a regular file")
}
