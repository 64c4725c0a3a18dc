package fileaccess_test

import (
	"bytes"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

func TestNewCompressedWriterRefuses(t *testing.T) {
	for _, mode := range []fileaccess.Mode{fileaccess.Brotli, 5, math.MaxUint32} {
		_, err := fileaccess.NewCompressedWriter(io.Discard, mode, 0)
		isAt(t, err, fileaccess.ErrMode, 0)
	}
	for _, blockSize := range []int{-1, 1<<30 + 1} {
		_, err := fileaccess.NewCompressedWriter(io.Discard, fileaccess.Zstd, blockSize)
		isAt(t, err, fileaccess.ErrLimit, 0)
	}
}

// Files are not much larger than those of the engines.
func TestCompressedWriterSize(t *testing.T) {
	for _, v := range vectors(t) {
		if v.info.Container == fileaccess.Compressed {
			got := len(file(t, v.info, nil, v.content))
			require.LessOrEqual(t, got, len(v.data)*5/4+8, v.name)
			require.GreaterOrEqual(t, got, len(v.data)*4/5, v.name) // an empty block takes some bytes, too
		}
	}
}

// The maximum content of a file is 4 GiB - 1 bytes.
func TestCompressedWriterTooLong(t *testing.T) {
	w, err := fileaccess.NewCompressedWriter(io.Discard, fileaccess.Zstd, 0)
	require.NoError(t, err)
	w.Skip(math.MaxUint32 - 10)
	_, err = w.Write(make([]byte, 10))
	require.NoError(t, err)
	n, err := w.Write(make([]byte, 1))
	require.Zero(t, n)
	isAt(t, err, fileaccess.ErrLimit, math.MaxUint32)
	require.EqualError(t, err, "fileaccess: offset 4294967295: content of 4294967296 bytes exceeds limit Size (4294967295)")
	require.Equal(t, err, w.Close())
	_, again := w.Write(nil)
	require.Equal(t, err, again)
}

// The encoders reuse their state for each block.
func TestCompressedWriterMemory(t *testing.T) {
	if testenv.Race {
		t.Skip("skipped: the race detector empties pools")
	}
	content := pattern(1 << 20)
	for _, mode := range modes {
		var b bytes.Buffer
		b.Grow(1 << 20)
		require.Less(t, testing.AllocsPerRun(3, func() {
			b.Reset()
			w, err := fileaccess.NewCompressedWriter(&b, mode, 0)
			require.NoError(t, err)
			_, err = w.Write(content)
			require.NoError(t, err)
			require.NoError(t, w.Close())
		}), 80.0, mode) // of 257 blocks
	}
}
