package fileaccess_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/stretchr/testify/require"
)

// With the same IV the files are those of the engines, byte for byte.
func TestEncryptedWriterLikeEngines(t *testing.T) {
	for _, v := range vectors(t) {
		if v.key == nil {
			continue
		}
		var b bytes.Buffer
		w, err := fileaccess.NewEncryptedWriter(&b, v.info.Layout, v.key)
		require.NoError(t, err)
		if v.info.Layout == fileaccess.LayoutGodot4 {
			w.SetIV(v.key, v.data[28:44])
		}
		_, err = io.Copy(w, iotest.OneByteReader(bytes.NewReader(v.content)))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.Equal(t, v.data, b.Bytes(), v.name)
	}
}

func TestNewEncryptedWriterRefuses(t *testing.T) {
	_, err := fileaccess.NewEncryptedWriter(io.Discard, fileaccess.LayoutGodot4, nil)
	require.Equal(t, fileaccess.ErrNoKey, err)
	_, err = fileaccess.NewEncryptedWriter(io.Discard, 2, right)
	isAt(t, err, fileaccess.ErrLayout, 0)
}

// No two files have the same IV.
func TestRandomIV(t *testing.T) {
	first := file(t, encryptedInfo(fileaccess.LayoutGodot4), right, pattern(10))
	second := file(t, encryptedInfo(fileaccess.LayoutGodot4), right, pattern(10))
	require.NotEqual(t, first[28:44], second[28:44])
}

// A file is written from its current position without keeping the content; Close writes
// the header. Other Writers get the same bytes at Close.
func TestEncryptedWriterInto(t *testing.T) {
	open := func(flags int) func(t *testing.T) *os.File {
		return func(t *testing.T) *os.File {
			path := filepath.Join(t.TempDir(), "save")
			require.NoError(t, os.WriteFile(path, []byte("before"), 0o600))
			f, err := os.OpenFile(path, os.O_RDWR|flags, 0)
			require.NoError(t, err)
			_, err = f.Seek(0, io.SeekEnd)
			require.NoError(t, err)
			return f
		}
	}
	for name, tt := range map[string]struct {
		open func(t *testing.T) *os.File
		kept bool // until Close
	}{
		"file":      {open(0), false},
		"appending": {open(os.O_APPEND), true}, // the header could not be written later
	} {
		for _, layout := range bothLayouts {
			for _, n := range []int{0, 1, 16, 16<<10 - 1, 16 << 10, 16<<10 + 1, 100_000} {
				t.Run(name, func(t *testing.T) {
					f := tt.open(t)
					defer f.Close()
					w, err := fileaccess.NewEncryptedWriter(f, layout, right)
					require.NoError(t, err)
					_, err = w.Write(pattern(n))
					require.NoError(t, err)
					size, err := f.Seek(0, io.SeekEnd)
					require.NoError(t, err)
					require.Equal(t, tt.kept || n < 16<<10, size == int64(len("before")))
					got, err := os.ReadFile(f.Name())
					require.NoError(t, err)
					require.NotContains(t, string(got), "GDEC")

					require.NoError(t, w.Close())
					_, err = f.WriteString("after")
					require.NoError(t, err)
					_, err = f.Seek(int64(len("before")), io.SeekStart)
					require.NoError(t, err)
					content, _, err := readAll(f, &fileaccess.Options{Key: right})
					require.NoError(t, err)
					require.Equal(t, pattern(n), content)
					rest, err := io.ReadAll(f)
					require.NoError(t, err)
					require.Equal(t, "after", string(rest))
				})
			}
		}
	}
}

func TestEncryptedWriterIntoPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	done := make(chan error, 1)
	go func() {
		e, err := fileaccess.NewEncryptedWriter(w, fileaccess.LayoutGodot3, right)
		if err == nil {
			_, err = e.Write(pattern(100_000))
			err = errors.Join(err, e.Close(), w.Close())
		}
		done <- err
	}()
	got, info, err := readAll(r, &fileaccess.Options{Key: right})
	require.NoError(t, err)
	require.NoError(t, <-done)
	require.True(t, info.Verified)
	require.Equal(t, pattern(100_000), got)
}

// The memory for writing a file does not depend on the content.
func TestEncryptedWriterMemory(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "save"))
	require.NoError(t, err)
	defer f.Close()
	content := pattern(4 << 20)
	for _, layout := range bothLayouts {
		require.Less(t, allocated(func() {
			w, err := fileaccess.NewEncryptedWriter(f, layout, right)
			require.NoError(t, err)
			_, err = w.Write(content)
			require.NoError(t, err)
			require.NoError(t, w.Close())
		}), uint64(64<<10))
	}
}

// A disk is a file in memory whose nth call fails.
type disk struct {
	b           []byte
	pos         int64
	calls, fail int
}

var errDisk = errors.New("disk")

func (d *disk) failed() bool {
	d.calls++
	return d.calls == d.fail
}

func (d *disk) Write(p []byte) (int, error) {
	if d.failed() {
		return 0, errDisk
	}
	d.b = append(d.b[:d.pos], p...)
	d.pos += int64(len(p))
	return len(p), nil
}

func (d *disk) WriteAt(p []byte, at int64) (int, error) {
	if d.failed() {
		return 0, errDisk
	}
	d.b = append(d.b, make([]byte, max(0, int(at)+len(p)-len(d.b)))...)
	return copy(d.b[at:], p), nil
}

func (d *disk) Seek(offset int64, whence int) (int64, error) {
	if d.failed() {
		return 0, errDisk
	}
	if whence == io.SeekStart {
		d.pos = offset
	}
	return d.pos, nil
}

// An error of any call is returned and stays, unless the content can be kept until Close.
func TestEncryptedWriterFails(t *testing.T) {
	const calls = 3 + 3 + 1 + 1 // position, blank header, move; three chunks; the rest; the header
	for fail := 1; fail <= calls+1; fail++ {
		d := &disk{fail: fail}
		w, err := fileaccess.NewEncryptedWriter(d, fileaccess.LayoutGodot4, right)
		require.NoError(t, err)
		_, err = w.Write(pattern(3*16<<10 + 1))
		if err != nil {
			require.Equal(t, errDisk, w.Close(), fail)
			_, err = w.Write(nil)
		} else {
			err = w.Close()
		}
		if fail <= 2 || fail > calls {
			require.NoError(t, err, fail)
			got, _, err := readAll(bytes.NewReader(d.b), &fileaccess.Options{Key: right})
			require.NoError(t, err)
			require.Equal(t, pattern(3*16<<10+1), got)
			continue
		}
		require.Equal(t, errDisk, err, fail)
		require.Equal(t, errDisk, w.Close())
	}
}
