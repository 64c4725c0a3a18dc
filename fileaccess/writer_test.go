package fileaccess_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

// The Info of a file can be used to write a file with the same Info and content.
func TestNewWriter(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.name, func(t *testing.T) {
			var b bytes.Buffer
			w, err := fileaccess.NewWriter(&b, v.info, v.key)
			require.NoError(t, err)
			_, err = io.Copy(w, iotest.OneByteReader(bytes.NewReader(v.content)))
			require.NoError(t, err)
			require.NoError(t, w.Close())
			r, err := fileaccess.NewReader(&b, v.options())
			require.NoError(t, err)
			require.Equal(t, v.info, r.Info())
			require.NoError(t, iotest.TestReader(r, v.content))
		})
	}
}

// A closed file accepts no more bytes, and can be closed again.
func TestWriteAfterClose(t *testing.T) {
	for name, info := range map[string]fileaccess.Info{"plain": {}, "compressed": compressedInfo(fileaccess.FastLZ), "encrypted": encryptedInfo(fileaccess.LayoutGodot3)} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w, err := fileaccess.NewWriter(&b, info, right)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			require.NoError(t, w.Close())
			size := b.Len()
			_, err = w.Write([]byte("more"))
			require.Equal(t, fileaccess.ErrClosed, err)
			require.NoError(t, w.Close())
			require.Equal(t, size, b.Len())
		})
	}
}

func TestNewWriterRefuses(t *testing.T) {
	w, err := fileaccess.NewWriter(io.Discard, encryptedInfo(fileaccess.LayoutGodot4), nil)
	require.ErrorIs(t, err, fileaccess.ErrNoKey)
	require.True(t, w == nil)
	w, err = fileaccess.NewWriter(io.Discard, compressedInfo(fileaccess.Brotli), nil)
	require.ErrorIs(t, err, fileaccess.ErrMode)
	require.True(t, w == nil)
	w, err = fileaccess.NewWriter(io.Discard, fileaccess.Info{Container: 4}, right)
	require.ErrorIs(t, err, fileaccess.ErrContainer)
	require.True(t, w == nil)
}

// The error of a plain file's Writer stays, as those of the other files.
func TestPlainWriterFails(t *testing.T) {
	w, err := fileaccess.NewWriter(ptr(room(5)), fileaccess.Info{}, nil)
	require.NoError(t, err)
	n, err := w.Write(make([]byte, 10))
	require.Equal(t, errFull, err)
	require.LessOrEqual(t, n, 5)
	_, err = w.Write(nil)
	require.Equal(t, errFull, err)
	require.Equal(t, errFull, w.Close())
	require.Equal(t, errFull, w.Close())
	w, err = fileaccess.NewWriter(shortWriter{}, fileaccess.Info{}, nil)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 10))
	require.Equal(t, io.ErrShortWrite, err)
}

var errFull = errors.New("no space left")

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) / 2, nil }

// If the Writer fails at any byte, Close returns the error, also when it is called again.
func TestWriterFails(t *testing.T) {
	content := pattern(10_000)
	for name, info := range map[string]fileaccess.Info{"compressed": compressedInfo(fileaccess.Zstd), "encrypted": encryptedInfo(fileaccess.LayoutGodot4)} {
		t.Run(name, func(t *testing.T) {
			whole := len(file(t, info, right, content))
			for n := 0; n < whole; n += 1 + n/10 {
				w, err := fileaccess.NewWriter(ptr(room(n)), info, right)
				require.NoError(t, err)
				_, err = w.Write(content)
				require.NoError(t, err)
				require.Equal(t, errFull, w.Close())
				require.Equal(t, errFull, w.Close())
				_, err = w.Write(content)
				require.Equal(t, errFull, err)
			}
			w, err := fileaccess.NewWriter(shortWriter{}, info, right)
			require.NoError(t, err)
			_, err = w.Write(content)
			require.NoError(t, err)
			require.Equal(t, io.ErrShortWrite, w.Close())
		})
	}
}

func ptr[T any](v T) *T { return &v }
