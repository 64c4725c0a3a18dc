package fileaccess_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

// A compressedVector is what PackedByteArray.compress of an engine returned.
type compressedVector struct {
	ID         string
	Mode       string
	Raw        string // the content in hexadecimal, or of a longer one the SHA-256 of that text
	Compressed []byte
	Size       int
}

// compressedVectors returns the vectors of testdata/compressed.
func compressedVectors(tb testing.TB) (all []compressedVector) {
	f, err := os.Open("../testdata/compressed/godot4.7-dev.jsonl")
	require.NoError(tb, err)
	defer f.Close()
	for d := json.NewDecoder(f); d.More(); {
		var v compressedVector
		require.NoError(tb, d.Decode(&v))
		all = append(all, v)
	}
	require.Len(tb, all, 60)
	return all
}

// isFilled reports whether content is want, or want filled up with zeros as FastLZ does.
func isFilled(mode fileaccess.Mode, want, content []byte) bool {
	if n := len(want); mode == fileaccess.FastLZ && 0 < n && n < 16 {
		want = append(want[:n:n], make([]byte, 16-n)...)
	}
	return bytes.Equal(want, content)
}

// raw returns the options for a stream of a mode.
func raw(mode fileaccess.Mode) *fileaccess.Options {
	return &fileaccess.Options{Raw: true, Mode: mode}
}

// What an engine compressed is decompressed, as a whole and in parts.
func TestCompressVectors(t *testing.T) {
	for _, v := range compressedVectors(t) {
		mode := modeNamed(t, v.Mode)
		content, err := fileaccess.Decompress([]byte("before"), v.Compressed, mode, 0)
		require.NoError(t, err, v.ID)
		require.Equal(t, "before", string(content[:6]))
		content = content[6:]
		require.GreaterOrEqual(t, len(content), v.Size, v.ID)
		text := hex.EncodeToString(content[:v.Size])
		if v.Size >= 4000 {
			sum := sha256.Sum256([]byte(text))
			text = hex.EncodeToString(sum[:])
		}
		require.Equal(t, v.Raw, text, v.ID)
		require.True(t, isFilled(mode, content[:v.Size], content), v.ID)

		got, info, err := readAll(deliveries["single byte"](v.Compressed), raw(mode))
		require.NoError(t, err, v.ID)
		require.Equal(t, content, got, v.ID)
		require.Equal(t, fileaccess.Info{Container: fileaccess.Raw, Mode: mode, Size: -1}, info)
	}
}

// Any content is compressed and decompressed again, as a whole and written in parts.
func TestCompress(t *testing.T) {
	all := contents()
	all["pattern_2000000"] = pattern(2_000_000) // more than Decompress keeps before it knows the size
	all["far"] = append(append(pattern(10), make([]byte, 300<<10)...), all["random_70000"]...)
	for _, mode := range modes {
		for name, content := range all {
			packed, err := fileaccess.Compress([]byte("before"), content, mode)
			require.NoError(t, err)
			require.Equal(t, "before", string(packed[:6]))
			packed = packed[6:]
			for how, packed := range map[string][]byte{
				"whole": packed, "parts": file(t, fileaccess.Info{Container: fileaccess.Raw, Mode: mode}, nil, content),
			} {
				if len(content) == 0 {
					require.Empty(t, packed)
					continue
				}
				got, err := fileaccess.Decompress(nil, packed, mode, -1)
				require.NoError(t, err)
				require.True(t, isFilled(mode, content, got), "%v %s %s", mode, name, how)
				got, _, err = readAll(noSeek(bytes.NewReader(packed)), raw(mode))
				require.NoError(t, err)
				require.True(t, isFilled(mode, content, got), "%v %s %s", mode, name, how)
			}
		}
	}
	level2 := encodeLevel2(all["far"], nil)
	got, _, err := readAll(bytes.NewReader(level2), raw(fileaccess.FastLZ))
	require.NoError(t, err)
	require.Equal(t, all["far"], got)
}

// The limit accepts content of its size and refuses longer content.
func TestDecompressLimit(t *testing.T) {
	for _, mode := range modes {
		for _, n := range []int{16, 1000, 1 << 20, 3 << 20} {
			packed, err := fileaccess.Compress(nil, make([]byte, n), mode)
			require.NoError(t, err)
			got, err := fileaccess.Decompress(nil, packed, mode, int64(n))
			require.NoError(t, err)
			require.Len(t, got, n)
			got, err = fileaccess.Decompress([]byte("before"), packed, mode, int64(n-1))
			var limit *fileaccess.LimitError
			require.ErrorAs(t, err, &limit)
			require.Equal(t, "Size", limit.Name)
			require.EqualValues(t, n-1, limit.Max)
			require.Equal(t, "before", string(got))
			got, _, err = readAll(bytes.NewReader(packed), &fileaccess.Options{Raw: true, Mode: mode, Limits: fileaccess.Limits{Size: int64(n - 1)}})
			require.ErrorIs(t, err, fileaccess.ErrLimit)
			require.Len(t, got, n-1)
		}
	}
}

// A stream of a huge content costs no memory for it, whatever its declared size.
func TestDecompressBombs(t *testing.T) {
	const size = 16 << 20
	zeros := make([]byte, 1<<20)
	for _, mode := range modes {
		var b bytes.Buffer
		w, err := fileaccess.NewWriter(&b, fileaccess.Info{Container: fileaccess.Raw, Mode: mode}, nil)
		require.NoError(t, err)
		for range size / len(zeros) {
			_, err = w.Write(zeros)
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		bomb := b.Bytes()
		got := allocated(func() { _, err = fileaccess.Decompress(nil, bomb, mode, 4<<20) })
		require.ErrorIs(t, err, fileaccess.ErrLimit)
		require.Less(t, got, uint64(12<<20), "%v", mode)

		var n int64
		got = allocated(func() { // as does a reader of any content
			r, failed := fileaccess.NewReader(bytes.NewReader(bomb), raw(mode))
			require.NoError(t, failed)
			n, err = io.Copy(io.Discard, r)
		})
		require.NoError(t, err)
		require.EqualValues(t, size, n)
		require.Less(t, got, uint64(10<<20), "%v", mode)

		var content []byte
		got = allocated(func() { content, err = fileaccess.Decompress(nil, bomb, mode, -1) })
		require.NoError(t, err)
		require.Len(t, content, size)
		require.Less(t, got, uint64(size+12<<20), "%v", mode)
	}
	frame := func(header ...byte) []byte { return append([]byte{0x28, 0xb5, 0x2f, 0xfd}, header...) }
	for name, data := range map[string][]byte{
		"content 1 << 62": frame(0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40), "window 3.75 TiB": frame(0, 0xff, 1, 0, 0), "window 128 MiB": frame(0, 17<<3, 1, 0, 0),
	} {
		var err error
		got := allocated(func() { _, err = fileaccess.Decompress(nil, data, fileaccess.Zstd, 0) })
		require.ErrorIs(t, err, fileaccess.ErrLimit, name)
		require.Less(t, got, uint64(10<<20), name)
	}
}

// What is no stream of the mode is an error with its offset.
func TestDecompressErrors(t *testing.T) {
	for _, mode := range modes {
		good, err := fileaccess.Compress(nil, contents()["random_4095"], mode)
		require.NoError(t, err)
		decompress := func(b []byte) error {
			out, err := fileaccess.Decompress([]byte("before"), b, mode, 0)
			require.Equal(t, "before", string(out))
			_, _, streamed := readAll(deliveries["single byte"](b), raw(mode))
			require.Equal(t, err == nil, streamed == nil)
			return err
		}
		isAt(t, decompress(nil), io.ErrUnexpectedEOF, 0)
		for _, n := range []int{1, 5, len(good) / 2, len(good) - 1} {
			isAt(t, decompress(good[:n]), io.ErrUnexpectedEOF, int64(n), "%v of %d bytes", mode, n)
		}
		if mode != fileaccess.FastLZ { // all of which is operations
			require.Error(t, decompress(append(good[:len(good):len(good)], 0)))
		}
		require.ErrorIs(t, decompress([]byte("\xffbytes of something else")), fileaccess.ErrDamaged, "%v", mode)
	}
}

// Modes that no engine writes are errors.
func TestCompressModes(t *testing.T) {
	for _, mode := range []fileaccess.Mode{fileaccess.Brotli, 5} {
		got, err := fileaccess.Compress([]byte("before"), []byte("content"), mode)
		require.ErrorIs(t, err, fileaccess.ErrMode)
		require.Equal(t, "before", string(got))
		_, err = fileaccess.Decompress(nil, []byte("content"), mode, 0)
		require.ErrorIs(t, err, fileaccess.ErrMode)
		_, err = fileaccess.NewWriter(io.Discard, fileaccess.Info{Container: fileaccess.Raw, Mode: mode}, nil)
		require.ErrorIs(t, err, fileaccess.ErrMode)
	}
}

// Errors of the Reader and Writer of a stream are returned unchanged.
func TestRawFaults(t *testing.T) {
	fault := errors.New("fault")
	for _, mode := range modes {
		packed, err := fileaccess.Compress(nil, contents()["random_70000"], mode)
		require.NoError(t, err)
		for _, n := range []int{0, 1, 100, 40_000} {
			_, _, err = readAll(io.MultiReader(bytes.NewReader(packed[:n]), iotest.ErrReader(fault)), raw(mode))
			require.Equal(t, fault, err, "%v %d", mode, n)
		}
		full := room(100)
		w, err := fileaccess.NewWriter(&full, fileaccess.Info{Container: fileaccess.Raw, Mode: mode}, nil)
		require.NoError(t, err)
		_, err = w.Write(contents()["random_70000"])
		if err == nil {
			err = w.Close()
		}
		require.Equal(t, errFull, err)
		require.Equal(t, errFull, w.Close())
	}
}

// A stream of any size is written and read in the same memory.
func TestRawMemory(t *testing.T) {
	size := 16 << 20
	if full() {
		size = 1 << 30
	}
	part := make([]byte, 1<<16)
	rand.NewChaCha8([32]byte{1}).Read(part[:1<<12])
	for _, mode := range modes {
		got := allocated(func() {
			in, out := io.Pipe()
			go func() {
				w, err := fileaccess.NewWriter(out, fileaccess.Info{Container: fileaccess.Raw, Mode: mode}, nil)
				for n := 0; n < size && err == nil; n += len(part) {
					_, err = w.Write(part)
				}
				if err == nil {
					err = w.Close()
				}
				out.CloseWithError(err)
			}()
			o := raw(mode)
			o.Limits.Size = -1
			r, err := fileaccess.NewReader(bufio.NewReader(in), o)
			require.NoError(t, err)
			n, err := io.Copy(io.Discard, r)
			require.NoError(t, err)
			require.EqualValues(t, size, n)
		})
		t.Logf("%v: %d bytes", mode, got)
		require.Less(t, got, uint64(14<<20), "%v", mode)
	}
}

// The window of a short content is no content of another size: the error names it.
func TestRawWindow(t *testing.T) {
	for window, c := range map[byte]struct {
		size int64
		want string
	}{
		13: {4 << 20, "a zstd window of more than 4 MiB, which needs a larger Limits.Size"},
		17: {0, "a zstd window of more than 8 MiB, which needs Limits.Size to be disabled"},
	} {
		frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, window << 3, 0x21, 0, 0, 'a', 'b', 'c', 'd'} // a last block of four bytes
		_, err := fileaccess.Decompress(nil, frame, fileaccess.Zstd, c.size)
		require.ErrorIs(t, err, fileaccess.ErrLimit)
		require.ErrorContains(t, err, c.want)
		require.NotErrorAs(t, err, new(*fileaccess.LimitError))
		if math.MaxInt == math.MaxInt64 {
			got, err := fileaccess.Decompress(nil, frame, fileaccess.Zstd, -1)
			require.NoError(t, err)
			require.Equal(t, "abcd", string(got))
		}
	}
}
