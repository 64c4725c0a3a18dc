package fileaccess_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// The offsets of a header's fields.
const (
	modeAt      = 4
	blockSizeAt = 8
	totalAt     = 12
	sizesAt     = 16
)

var unlimited = &fileaccess.Options{Limits: fileaccess.Limits{Size: -1, BlockSize: -1, Blocks: -1}}

// False numbers in a header are an error at their field or at the first contradiction, and
// need no memory.
func TestCompressedLies(t *testing.T) {
	for _, mode := range modes {
		content := pattern(10000)
		good := file(t, compressedInfo(mode), nil, content) // three blocks
		size := func(i int) uint32 { return uint32(good[sizesAt+4*i]) | uint32(good[sizesAt+4*i+1])<<8 }
		only := int64(sizesAt + 4)
		first := int64(sizesAt + 3*4)
		second := first + int64(size(0))
		end := int64(len(good))
		for _, tt := range []struct {
			name   string
			data   []byte
			o      *fileaccess.Options
			err    error
			offset int64
		}{
			{"brotli", put(good, modeAt, 4), nil, fileaccess.ErrMode, modeAt},
			{"unknown mode", put(good, modeAt, math.MaxUint32), nil, fileaccess.ErrMode, modeAt},
			{"no block size", put(good, blockSizeAt, 0), nil, fileaccess.ErrDamaged, blockSizeAt},
			{"huge block size", put(good, blockSizeAt, math.MaxUint32), nil, fileaccess.ErrLimit, blockSizeAt},
			{"huge block size, no limits", put(good, blockSizeAt, math.MaxUint32), unlimited, fileaccess.ErrLimit, blockSizeAt},
			{"block size 1 GiB, no limits", put(put(good, blockSizeAt, 1<<30), totalAt, 1<<30-1), unlimited, fileaccess.ErrDamaged, only},
			{"large block size", put(put(good, blockSizeAt, 1<<20), totalAt, 1<<20-1), nil, fileaccess.ErrDamaged, only},
			{"smaller block size", put(good, blockSizeAt, 4095), nil, fileaccess.ErrDamaged, first},
			{"larger block size", put(good, blockSizeAt, 4097), nil, fileaccess.ErrDamaged, first},
			{"huge total", put(good, totalAt, math.MaxUint32), nil, fileaccess.ErrLimit, totalAt},
			{"huge total, no limits", put(good, totalAt, math.MaxUint32), unlimited, io.ErrUnexpectedEOF, end},
			{"many blocks", put(put(good, blockSizeAt, 1), totalAt, 1<<20), nil, fileaccess.ErrLimit, totalAt},
			{"most blocks, no limits", put(put(good, blockSizeAt, 1), totalAt, math.MaxUint32), unlimited, fileaccess.ErrLimit, totalAt},
			{"1<<28 blocks, no limits", put(put(good, blockSizeAt, 1), totalAt, 1<<28-1), unlimited, io.ErrUnexpectedEOF, end},
			{"larger total", put(good, totalAt, 10001), nil, fileaccess.ErrDamaged, second + int64(size(1))},
			{"smaller total", put(good, totalAt, 9999), nil, fileaccess.ErrDamaged, second + int64(size(1))},
			{"huge compressed size", put(good, sizesAt+4, math.MaxUint32), nil, fileaccess.ErrLimit, sizesAt + 4},
			{"large compressed size", put(good, sizesAt+4, 1<<20), nil, io.ErrUnexpectedEOF, end},
			{"large compressed size, no limits", put(good, sizesAt+4, 1<<30), unlimited, io.ErrUnexpectedEOF, end},
			{"no compressed size", put(good, sizesAt, 0), nil, fileaccess.ErrDamaged, first},
			{"larger compressed size", put(good, sizesAt, size(0)+1), nil, fileaccess.ErrDamaged, first},
			{"smaller compressed size", put(good, sizesAt, size(0)-1), nil, fileaccess.ErrDamaged, first},
			{"no magic at the end", append(good[:end-4:end-4], "GCPE"...), nil, fileaccess.ErrDamaged, end - 4},
		} {
			t.Run(mode.String()+"/"+tt.name, func(t *testing.T) {
				var err error
				got := allocated(func() { _, _, err = readAll(noSeek(bytes.NewReader(tt.data)), tt.o) })
				isAt(t, err, tt.err, tt.offset, "%v", err)
				most := uint64(256 << 10)
				if tt.offset == only && tt.o == nil {
					most += 1 << 20 // which a block may have by the limit, and a zstd frame can hold
				}
				require.Less(t, got, most)
			})
		}
	}
}

// A block with more content than declared is an error, and needs no more memory than the
// declared size.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 1<<20)
	block := func(mode fileaccess.Mode) []byte {
		info := compressedInfo(mode)
		info.BlockSize = len(zeros) + 1
		f := file(t, info, nil, zeros)
		return f[sizesAt+4 : len(f)-4]
	}
	frame := func(header ...byte) []byte { return append([]byte{0x28, 0xb5, 0x2f, 0xfd}, header...) }
	rle := []byte{0x03 | 4096<<3&0xff, 4096 >> 5 & 0xff, 4096 >> 13, 'x'} // the last block: x, 4096 times
	for name, data := range map[string][]byte{
		"fastlz":               gcpf(fileaccess.FastLZ, 4096, 4095, block(fileaccess.FastLZ)),
		"deflate":              gcpf(fileaccess.Deflate, 4096, 4095, block(fileaccess.Deflate)),
		"zstd":                 gcpf(fileaccess.Zstd, 4096, 4095, block(fileaccess.Zstd)),
		"gzip":                 gcpf(fileaccess.Gzip, 4096, 4095, block(fileaccess.Gzip)),
		"two frames":           gcpf(fileaccess.Zstd, 4096, 4095, bytes.Repeat(zstdFrame(pattern(4095)), 2)),
		"two members":          gcpf(fileaccess.Gzip, 4096, 4095, bytes.Repeat(gzipMember(pattern(4095)), 2)),
		"two short members":    gcpf(fileaccess.Gzip, 8192, 8190, bytes.Repeat(gzipMember(pattern(4095)), 2)),
		"zstd content 1 << 62": gcpf(fileaccess.Zstd, 4096, 4095, frame(0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40)),
		"zstd window 3.75 TiB": gcpf(fileaccess.Zstd, 4096, 4095, append(frame(0, 0xff), rle...)),
		"zstd window 128 MiB":  gcpf(fileaccess.Zstd, 4096, 4095, append(frame(0, 17<<3), rle...)),
		"zstd content unknown": gcpf(fileaccess.Zstd, 4096, 4095, append(frame(0, 2<<3), rle...)),
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			got := allocated(func() { _, _, err = readAll(noSeek(bytes.NewReader(data)), nil) })
			require.ErrorIs(t, err, fileaccess.ErrDamaged)
			require.Less(t, got, uint64(512<<10), "%v", err)
		})
	}
	// A frame like the last one is valid if 4096 bytes are declared.
	data := gcpf(fileaccess.Zstd, 4096, 4096, append(frame(0, 2<<3), rle...), zstdFrame(nil))
	got, _ := must2(readAll(bytes.NewReader(data), nil))(t)
	require.Equal(t, bytes.Repeat([]byte("x"), 4096), got)
}

func gzipMember(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(content)
	w.Close()
	return b.Bytes()
}

func zstdFrame(content []byte) []byte {
	e, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true))
	if err != nil {
		panic(err)
	}
	return e.EncodeAll(content, nil)
}

// Blocks of other sizes than engines write, and compressed blocks larger than one read.
func TestBlockSizes(t *testing.T) {
	random := contents()["random_70000"]
	for _, mode := range modes {
		for _, blockSize := range []int{1, 15, 16, 17, 1000, 65536, 70000, 70001, 1 << 20} {
			info := compressedInfo(mode)
			info.BlockSize = blockSize
			content := random
			switch blockSize {
			case 1:
				content = content[:1000]
			case 1 << 20: // the largest by default, compressed to more
				content = make([]byte, blockSize)
				_, _ = rand.NewChaCha8([32]byte{}).Read(content)
			}
			got, read := must2(readAll(noSeek(bytes.NewReader(file(t, info, nil, content))), nil))(t)
			require.Equal(t, content, got)
			require.Equal(t, blockSize, read.BlockSize)
		}
	}
}

// Memory and the number of allocations do not depend on the number of blocks.
func TestCompressedMemory(t *testing.T) {
	if testenv.Race {
		t.Skip("skipped: the race detector empties pools")
	}
	buf := make([]byte, 32<<10)
	for _, mode := range modes {
		read := func(data []byte) {
			r, err := fileaccess.NewReader(noSeek(bytes.NewReader(data)), nil)
			if err == nil {
				for err == nil {
					_, err = r.Read(buf)
				}
			}
			if err != io.EOF {
				panic(err)
			}
		}
		small := file(t, compressedInfo(mode), nil, pattern(2<<20))
		large := file(t, compressedInfo(mode), nil, pattern(4<<20))
		require.InDelta(t, testing.AllocsPerRun(3, func() { read(small) }), testing.AllocsPerRun(3, func() { read(large) }), 5, mode)
		bytes := allocated(func() { read(large) })
		require.Less(t, bytes, uint64(128<<10), mode)
	}
}

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
	w := must(fileaccess.NewCompressedWriter(io.Discard, fileaccess.Zstd, 0))(t)
	w.Skip(math.MaxUint32 - 10)
	must(w.Write(make([]byte, 10)))(t)
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
			w := must(fileaccess.NewCompressedWriter(&b, mode, 0))(t)
			must(w.Write(content))(t)
			require.NoError(t, w.Close())
		}), 80.0, mode) // of 257 blocks
	}
}

// setAppend sets os.O_APPEND in a file that is open, where tests can do that.
var setAppend func(t *testing.T, f *os.File)

// TestPieces: content of several MiB, which Writers keep or write to a file before its header, is complete in the file, which starts
// after what it contains. Only a file that can be read takes memory for one piece, and a Write of its own sees all bytes.
func TestPieces(t *testing.T) {
	const piece = 1 << 20
	content := make([]byte, 8*piece+5)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	infos := []fileaccess.Info{encryptedInfo(fileaccess.LayoutGodot4)}
	for _, blockSize := range []int{0, piece / 3, piece - piece/8} {
		infos = append(infos, fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd, BlockSize: blockSize})
	}
	for name, flags := range map[string]int{
		"": 0, "file": os.O_RDWR, "not read": os.O_WRONLY, "append": os.O_RDWR | os.O_APPEND, "append later": os.O_RDWR, "own": os.O_RDWR,
	} {
		for _, info := range infos {
			var memory bytes.Buffer
			var out io.Writer = &memory
			path := filepath.Join(t.TempDir(), "file")
			if name != "" {
				require.NoError(t, os.WriteFile(path, []byte("head"), 0o600))
				f := testenv.Must(os.OpenFile(path, flags, 0))(t)
				defer f.Close()
				testenv.Must(f.Seek(4, io.SeekStart))(t)
				out = f
				if name == "append later" && setAppend != nil {
					setAppend(t, f)
				}
			}
			own, isOwn := &ownFile{}, name == "own"
			if isOwn {
				own.File = out.(*os.File)
				out = own
			}
			size := testenv.Allocated(func() {
				w := testenv.Must(fileaccess.NewWriter(out, info, right))(t)
				testenv.Must(w.Write(content))(t)
				require.NoError(t, w.Close())
			})
			if name == "file" && !testenv.Race {
				require.Less(t, size, uint64(len(content)*3/2))
			}
			testenv.Must(out.Write([]byte("tail")))(t)
			if name != "" {
				b := testenv.Must(os.ReadFile(path))(t)
				require.Equal(t, "head", string(b[:4]), name)
				if b = b[4:]; isOwn {
					require.Len(t, b, own.n)
					b = xor(b)
				}
				_, _ = memory.Write(b)
			}
			got := testenv.Must(io.ReadAll(testenv.Must(fileaccess.NewReader(&memory, &fileaccess.Options{Key: right}))(t)))(t)
			require.True(t, bytes.Equal(content, got), "%s %v %d", name, info, info.BlockSize)
			require.Equal(t, "tail", memory.String(), name)
			if isOwn { // which is not read twice
				testenv.Must(own.File.Seek(4, io.SeekStart))(t)
				r := testenv.Must(fileaccess.NewReader(own, &fileaccess.Options{Key: right, MaxBuffered: 1}))(t)
				require.True(t, bytes.Equal(content, testenv.Must(io.ReadAll(r))(t)))
				require.Equal(t, own.n-len("tail"), own.read)
			}
		}
	}
}

// TestCutBlock: the content of a block is read up to a cut.
func TestCutBlock(t *testing.T) {
	var content []byte
	for i := range 60_000 {
		content = fmt.Appendf(content, "%d %x ", i*i, i*7919)
	}
	for _, mode := range modes {
		for _, blockSize := range []int{4096, len(content), 2 * len(content)} {
			var b bytes.Buffer
			w := must(fileaccess.NewCompressedWriter(&b, mode, blockSize))(t)
			must(w.Write(content))(t)
			require.NoError(t, w.Close())
			name := fmt.Sprint(mode, blockSize)
			for _, room := range []int{1 << 10, len(content)} { // decoded into rest, and directly
				r := must(fileaccess.NewReader(bytes.NewReader(b.Bytes()[:b.Len()/2]), unlimited))(t)
				var got bytes.Buffer
				_, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{r}, make([]byte, room))
				isAt(t, err, io.ErrUnexpectedEOF, int64(b.Len()/2), name)
				require.True(t, bytes.HasPrefix(content, got.Bytes()), name)
				require.Greater(t, 3*got.Len(), len(content), name)
			}
			if mode != fileaccess.FastLZ { // zeros can be read as a content
				continue
			}
			damaged := b.Bytes()
			clear(damaged[len(damaged)/2:])
			got, err := io.ReadAll(must(fileaccess.NewReader(bytes.NewReader(damaged), unlimited))(t))
			require.ErrorIs(t, err, fileaccess.ErrDamaged, name)
			require.True(t, bytes.HasPrefix(content, got), name)
			require.Greater(t, 3*len(got), len(content), name)
		}
	}
}
