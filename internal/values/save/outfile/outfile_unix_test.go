//go:build unix

package outfile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// add writes a line to a file as a program would that edits it: it reads all of it, and
// replaces it with more.
func add(name, line string) error {
	f, err := Create(name, IgnoreSignals)
	if err != nil {
		return err
	}
	in, err := os.Open(name)
	if err != nil {
		f.Abandon()
		return err
	}
	info, err := in.Stat()
	if err == nil {
		f.Read(name, info)
		_, err = f.ReadFrom(in)
	}
	_ = in.Close()
	if err == nil {
		_, err = f.WriteString(line)
	}
	if err != nil {
		f.Abandon()
		return err
	}
	return f.Commit()
}

// TestSeveralWriters: of programs that edit a file at the same time, each succeeds and its
// edit stays, or it reports that the file changed.
func TestSeveralWriters(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "file")
	require.NoError(t, os.WriteFile(name, nil, 0o600))
	var all sync.WaitGroup
	var mu sync.Mutex
	done := map[string]bool{}
	for i := range 20 {
		all.Go(func() {
			line := fmt.Sprintln("edit", i)
			err := add(name, line)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done[line] = true
			} else if !os.IsNotExist(err) {
				require.ErrorIs(t, err, ErrChanged)
			}
		})
	}
	all.Wait()
	require.NotEmpty(t, done)
	b := testenv.Must(os.ReadFile(name))(t)
	for line := range done {
		require.Contains(t, string(b), line)
	}
	requireAlone(t, name)
}

// requireAlone: there is only this file in its folder.
func requireAlone(t *testing.T, name string) {
	t.Helper()
	entries := testenv.Must(os.ReadDir(filepath.Dir(name)))(t)
	require.Len(t, entries, 1)
	require.Equal(t, filepath.Base(name), entries[0].Name())
}

// TestChanged: a file that was read is replaced only if it is still the same.
func TestChanged(t *testing.T) {
	for name, change := range map[string]func(name string) error{
		"none":     func(string) error { return nil },
		"written":  func(name string) error { return os.WriteFile(name, []byte("longer than before"), 0o600) },
		"replaced": func(name string) error { return add(name, "") },
		"removed":  os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
			info := testenv.Must(os.Stat(file))(t)
			f := testenv.Must(Create(file, IgnoreSignals))(t)
			require.True(t, f.Read(file, info))
			testenv.Must(f.WriteString("new"))(t)
			require.NoError(t, change(file))
			if again, err := os.Stat(file); err == nil { // read again, from the start
				require.True(t, f.Read(file, again))
			}
			was, _ := os.ReadFile(file)
			err := f.Commit()
			if name == "none" {
				require.NoError(t, err)
				was = []byte("new")
			} else {
				require.ErrorIs(t, err, ErrChanged)
			}
			got, _ := os.ReadFile(file)
			require.Equal(t, string(was), string(got))
			if name != "removed" {
				requireAlone(t, file)
			}
		})
	}
}

// TestOutFileRead tells the file that is replaced from others.
func TestOutFileRead(t *testing.T) {
	folder := t.TempDir()
	a, b, c := filepath.Join(folder, "a"), filepath.Join(folder, "b"), filepath.Join(folder, "c")
	require.NoError(t, os.WriteFile(a, nil, 0o600))
	require.NoError(t, os.WriteFile(b, nil, 0o600))
	require.NoError(t, os.Link(a, c))
	f := testenv.Must(Create(a, IgnoreSignals))(t)
	defer f.Abandon()
	for name, want := range map[string]bool{a: true, b: false, c: true} {
		info := testenv.Must(os.Stat(name))(t)
		require.Equal(t, want, f.Read(name, info), name)
		require.Equal(t, want, f.Read("", info), name)
	}
}

// TestReadReplaced: a file that was replaced after it was opened is known by its name, also
// through a link.
func TestReadReplaced(t *testing.T) {
	folder := t.TempDir()
	file, link, linked := filepath.Join(folder, "file"), filepath.Join(folder, "link"), filepath.Join(folder, "folder")
	require.NoError(t, os.Symlink("file", link))
	require.NoError(t, os.Symlink(".", linked))
	for _, name := range []string{file, link, linked + "/link", folder + "/./file"} {
		require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
		require.NoError(t, add(file, "1"))
		f := testenv.Must(Create(link, IgnoreSignals))(t)
		require.NoError(t, add(file, "2"))
		in, err := os.Open(name) // which keeps its inode from being used again
		require.NoError(t, err)
		info := testenv.Must(in.Stat())(t)
		require.NoError(t, add(file, "3"))
		require.True(t, f.Read(name, info), name)
		require.ErrorIs(t, f.Commit(), ErrChanged)
		require.NoError(t, in.Close())
		b := testenv.Must(os.ReadFile(file))(t)
		require.Equal(t, "old123", string(b))
	}
}

// TestReplace keeps the permissions of the old file, and replaces nothing after Abandon.
func TestReplace(t *testing.T) {
	for _, mode := range []os.FileMode{0o600, 0o640, 0o666, 0o777, 0o200} {
		t.Run(mode.String(), func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(name, []byte("old"), 0o600))
			require.NoError(t, os.Chmod(name, mode))
			for _, commit := range []bool{false, true} {
				f := testenv.Must(Create(name, IgnoreSignals))(t)
				require.False(t, f.Direct())
				testenv.Must(f.WriteString("new"))(t)
				want := "old"
				if commit {
					want = "new"
					require.NoError(t, f.Commit())
				} else {
					f.Abandon()
				}
				info := testenv.Must(os.Stat(name))(t)
				require.Equal(t, mode, info.Mode().Perm())
				requireAlone(t, name)
				if mode&0o400 != 0 {
					b := testenv.Must(os.ReadFile(name))(t)
					require.Equal(t, want, string(b))
				}
			}
		})
	}
}

// TestLeft: the next writer of a file removes new files that a killed program left, and nothing else.
func TestLeft(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "file")
	first := testenv.Must(Create(name, IgnoreSignals))(t) // is being written
	stay := []string{".file.ABCDEFG.tmp", ".file.tmp", ".file.ABCDEFGH", ".file2.ABCDEFGH.tmp", "file.ABCDEFGH.tmp", filepath.Base(first.Name())}
	for _, name := range append(stay, ".file.ABCDEFGH.tmp", ".file.HGFEDCBA.tmp") {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(folder, ".file.AAAAAAAA.tmp"), 0o700))
	second := testenv.Must(Create(name, IgnoreSignals))(t)
	stay = append(stay, ".file.AAAAAAAA.tmp", filepath.Base(second.Name()))
	got := []string{}
	for _, e := range testenv.Must(os.ReadDir(folder))(t) {
		got = append(got, e.Name())
	}
	require.ElementsMatch(t, stay, got)
	require.NoError(t, second.Commit())
	require.NoError(t, first.Commit())
	require.NoError(t, add(name, "more"))
}

// TestNoName: without a name nothing is created.
func TestNoName(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := Create("", IgnoreSignals)
	require.ErrorIs(t, err, os.ErrNotExist)
	entries := testenv.Must(os.ReadDir("."))(t)
	require.Empty(t, entries)
}

// TestSignalBetweenFiles: a signal after a file was replaced ends the program as if there had been none.
func TestSignalBetweenFiles(t *testing.T) {
	if name := os.Getenv("GDWIRE_SIGNAL_AFTER"); name != "" {
		f := testenv.Must(Create(name, EndOnSignal))(t)
		require.NoError(t, f.Commit())
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
		select {}
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSignalBetweenFiles$")
	c.Env = append(os.Environ(), "GDWIRE_SIGNAL_AFTER="+filepath.Join(t.TempDir(), "file"))
	out, err := c.CombinedOutput()
	var ended *exec.ExitError
	require.ErrorAs(t, err, &ended)
	require.Equal(t, syscall.SIGTERM, ended.Sys().(syscall.WaitStatus).Signal(), "%s", out)
}

// TestCheckWritable: a file that nobody may write is not replaced, also by root.
func TestCheckWritable(t *testing.T) {
	for mode, want := range map[os.FileMode]string{0o444: "the file is read-only", 0o500: "the file is read-only", 0o000: "the file cannot be read or written"} {
		name := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(name, nil, 0o600))
		require.NoError(t, os.Chmod(name, mode))
		_, err := Create(name, IgnoreSignals)
		require.EqualError(t, err, "replace "+name+": "+want)
		requireAlone(t, name)
	}
}
