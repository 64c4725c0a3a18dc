package fileaccess_test

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// Every file of an engine is read, from Readers that return it in any pieces.
func TestFileAccessVectors(t *testing.T) {
	for _, v := range vectors(t) {
		for delivery, reader := range deliveries {
			t.Run(v.name+"/"+delivery, func(t *testing.T) {
				r := must(fileaccess.NewReader(reader(v.data), v.options()))(t)
				require.Equal(t, v.info, r.Info())
				require.NoError(t, iotest.TestReader(r, v.content))
			})
		}
	}
}

// A file that is shorter than the magic number, or begins with other bytes, is plain.
func TestFileAccessPlain(t *testing.T) {
	for _, content := range []string{"", "G", "GC", "GCP", "GDE", "gcpf", "GCPE", "GDEF", "RSRC", "four", "more than four"} {
		t.Run(fmt.Sprintf("%q", content), func(t *testing.T) {
			got, info := must2(readAll(bytes.NewReader([]byte(content)), nil))(t)
			require.Equal(t, content, string(got))
			require.Equal(t, fileaccess.Info{Size: -1}, info)
		})
	}
}

// TestDetect: what engines and Writers write is detected, in all modes but FastLZ.
func TestDetect(t *testing.T) {
	for _, v := range vectors(t) {
		require.Equal(t, v.info.Container, fileaccess.Detect(v.data).Container, v.name)
	}
	for _, v := range compressedVectors(t) {
		require.Equal(t, v.Mode != "fastlz", fileaccess.Detect(v.Compressed).Container == fileaccess.Raw, v.ID)
	}
	for mode := fileaccess.FastLZ; !strings.HasPrefix(mode.String(), "mode "); mode++ {
		packed, err := fileaccess.Compress(nil, pattern(100), mode)
		if mode == fileaccess.Brotli {
			require.ErrorIs(t, err, fileaccess.ErrMode)
			continue
		}
		require.NoError(t, err)
		want := fileaccess.Info{Container: fileaccess.Raw, Mode: mode, Size: -1}
		if mode == fileaccess.FastLZ {
			want = fileaccess.Info{Size: -1}
		}
		require.Equal(t, want, fileaccess.Detect(packed[:4]), "a new mode needs a signature: see CONTRIBUTING")
		require.Equal(t, fileaccess.Info{Size: -1}, fileaccess.Detect(packed[:1]))
		require.Contains(t, modes, mode)
	}
}

func TestContainerString(t *testing.T) {
	require.Equal(t, "plain compressed encrypted", fileaccess.Plain.String()+" "+fileaccess.Compressed.String()+" "+fileaccess.Encrypted.String())
	require.Equal(t, "godot4 godot3", fileaccess.LayoutGodot4.String()+" "+fileaccess.LayoutGodot3.String())
}

// A file truncated at any byte is io.ErrUnexpectedEOF at its end. A prefix of the content is
// returned before that, and nothing of an encrypted file.
func TestFileAccessCut(t *testing.T) {
	for _, v := range vectors(t) {
		if v.info.Container == fileaccess.Plain {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			for n := range v.data {
				if !testenv.Full() && n%3 > 0 {
					continue
				}
				for delivery, r := range map[string]io.Reader{
					"seeking": bytes.NewReader(v.data[:n]),
					"stream":  noSeek(bytes.NewReader(v.data[:n])),
				} {
					got, _, err := readAll(r, v.options())
					if n < 4 {
						require.NoError(t, err)
						require.Equal(t, v.data[:n], got)
						continue
					}
					isAt(t, err, io.ErrUnexpectedEOF, int64(n), delivery)
					require.True(t, bytes.HasPrefix(v.content, got))
					if v.info.Container == fileaccess.Encrypted {
						require.Empty(t, got)
					}
				}
			}
		})
	}
}

// A changed byte is an error inside the file, or without effect on content with a checksum, or
// results in other content of the declared length.
func TestAltered(t *testing.T) {
	for _, v := range vectors(t) {
		if v.info.Container == fileaccess.Plain {
			continue
		}
		checked := v.info.Container == fileaccess.Encrypted || v.info.Mode == fileaccess.Deflate || v.info.Mode == fileaccess.Gzip
		t.Run(v.name, func(t *testing.T) {
			failed := 0
			for i := range v.data {
				for n, bits := range []byte{1, 0x80, 0xff} {
					if !testenv.Full() && n != i%6 {
						continue
					}
					data := bytes.Clone(v.data)
					data[i] ^= bits
					got, info, err := readAll(bytes.NewReader(data), v.options())
					var e *fileaccess.Error
					switch {
					case i < 4:
						require.NoError(t, err, "plain")
						require.Equal(t, data, got)
					case errors.As(err, &e):
						failed++
						require.GreaterOrEqual(t, e.Offset, int64(4))
						require.LessOrEqual(t, e.Offset, int64(len(data)))
					default:
						require.NoError(t, err)
						require.Equal(t, info.Size, int64(len(got)))
						if checked {
							require.Equal(t, v.content, got, "byte %d", i)
						}
					}
				}
			}
			require.NotZero(t, failed)
		})
	}
}

// Nothing after a container is read, which can be inside another.
func TestNothingBeyond(t *testing.T) {
	for _, v := range vectors(t) {
		if v.info.Container == fileaccess.Plain {
			continue
		}
		for _, hide := range []func(io.Reader) io.Reader{noSeek, func(r io.Reader) io.Reader { return r }} {
			r := bytes.NewReader(append(bytes.Clone(v.data), "next"...))
			got, _ := must2(readAll(hide(r), v.options()))(t)
			require.Equal(t, v.content, got)
			require.Equal(t, "next", string(must(io.ReadAll(r))(t)), v.name)
		}
	}
}

// One container is opened, and not the containers inside it.
func TestNested(t *testing.T) {
	inner := file(t, compressedInfo(fileaccess.Zstd), nil, pattern(5000))
	outer := file(t, encryptedInfo(fileaccess.LayoutGodot4), rawKey(), inner)
	r := must(fileaccess.NewReader(bytes.NewReader(outer), &fileaccess.Options{Key: rawKey()}))(t)
	require.Equal(t, fileaccess.Encrypted, r.Info().Container)
	got, info := must2(readAll(r, nil))(t)
	require.Equal(t, fileaccess.Compressed, info.Container)
	require.Equal(t, pattern(5000), got)
}

// Errors of the Reader at any byte are returned unchanged.
func TestReaderFails(t *testing.T) {
	failure := errors.New("failure")
	for _, v := range vectors(t) {
		for n := 0; n < len(v.data); n += 1 + n/20 {
			r := io.MultiReader(bytes.NewReader(v.data[:n]), iotest.ErrReader(failure))
			_, _, err := readAll(r, v.options())
			require.Equal(t, failure, err, v.name)
		}
	}
	for _, mode := range modes {
		packed := must(fileaccess.Compress(nil, contents()["random_70000"], mode))(t)
		for _, n := range []int{0, 1, 100, 40_000} {
			_, _, err := readAll(io.MultiReader(bytes.NewReader(packed[:n]), iotest.ErrReader(failure)), raw(mode))
			require.Equal(t, failure, err, "%v %d", mode, n)
		}
	}
}

// An error of a plain file's Reader stays, as those of the other files.
func TestPlainReaderFails(t *testing.T) {
	r, err := fileaccess.NewReader(iotest.TimeoutReader(strings.NewReader("plain text")), nil) // the second Read fails
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.Equal(t, iotest.ErrTimeout, err)
	require.Equal(t, "plai", string(got))
	n, err := r.Read(make([]byte, 10))
	require.Equal(t, iotest.ErrTimeout, err)
	require.Zero(t, n)
}

// Several Readers can be used at the same time, and leave no goroutine running.
func TestManyAtOnce(t *testing.T) {
	all := vectors(t)
	noneLeft := testenv.NoGoroutines(t)
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for _, v := range all {
				if got, _, err := readAll(bytes.NewReader(v.data), v.options()); err != nil || !bytes.Equal(got, v.content) {
					t.Errorf("%s: %v", v.name, err)
				}
				abandoned, err := fileaccess.NewReader(bytes.NewReader(v.data), v.options())
				if err != nil {
					t.Error(v.name, err)
				}
				abandoned.Read(make([]byte, 1))
			}
		})
	}
	running.Wait()
	noneLeft()
}

// The Info of a file can be used to write a file with the same Info and content.
func TestNewWriter(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.name, func(t *testing.T) {
			var b bytes.Buffer
			w := must(fileaccess.NewWriter(&b, v.info, v.key))(t)
			must(io.Copy(w, iotest.OneByteReader(bytes.NewReader(v.content))))(t)
			require.NoError(t, w.Close())
			r := must(fileaccess.NewReader(&b, v.options()))(t)
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
			w := must(fileaccess.NewWriter(&b, info, right))(t)
			require.NoError(t, w.Close())
			require.NoError(t, w.Close())
			size := b.Len()
			require.Equal(t, fileaccess.ErrClosed, errOf(w.Write([]byte("more"))))
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

var errFull = errors.New("no space left")

// TestContainerWriterFaults: beside a device of which any call fails, or writes less without an error, a Writer returns the error and
// keeps it, or the file is whole.
func TestContainerWriterFaults(t *testing.T) {
	content := make([]byte, 5<<19)
	rand.NewChaCha8([32]byte{}).Read(content)
	infos := map[string]fileaccess.Info{"plain": {}, "godot3": encryptedInfo(fileaccess.LayoutGodot3), "godot4": encryptedInfo(fileaccess.LayoutGodot4)}
	infos["compressed"] = fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd, BlockSize: 1 << 19}
	for _, mode := range modes {
		infos["raw-"+mode.String()] = fileaccess.Info{Container: fileaccess.Raw, Mode: mode}
	}
	infos["base64"] = fileaccess.Info{Base64: fileaccess.Base64{Text: true, Line: 64, End: "\n"}}
	write := func(d *disk, info fileaccess.Info, isFile bool) error {
		content := content
		if info.Container != fileaccess.Compressed {
			content = content[:100_000]
		}
		w := must(fileaccess.NewWriter(d, info, right))(t)
		if isFile {
			fileaccess.SetFile(w, d)
		}
		_, err := w.Write(content)
		if err = cmp.Or(err, w.Close()); err == nil {
			o := &fileaccess.Options{Key: right, Raw: info.Container == fileaccess.Raw, Mode: info.Mode, Base64: info.Base64.Text}
			got, _ := must2(readAll(bytes.NewReader(d.b[len("head"):]), o))(t)
			require.True(t, bytes.Equal(content, got), "another content, and no error")
			return nil
		}
		require.Equal(t, err, w.Close(), "the error stays")
		n, again := w.Write(content)
		require.Equal(t, err, again)
		require.Zero(t, n)
		return err
	}
	for name, info := range infos {
		for fault, want := range map[string]error{"error": errDisk, "half": errDisk, "short": io.ErrShortWrite} {
			canSeek := info.Container == fileaccess.Compressed || info.Container == fileaccess.Encrypted
			if canSeek {
				require.NoError(t, write(&disk{b: []byte("headGCPF"), pos: 4, fault: "append"}, info, true))
			}
			for _, isFile := range []bool{false, true} {
				if isFile && (!canSeek || fault == "short") { // which an *os.File never is
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%v", name, fault, isFile), func(t *testing.T) {
					failed := 0
					for n := 1; ; n++ {
						d := &disk{b: []byte("head"), pos: 4, fault: fault, fail: n}
						err := write(d, info, isFile)
						if d.calls < n {
							require.NoError(t, err)
							break
						}
						if err != nil {
							failed++
							require.Equal(t, want, err)
						} else {
							require.True(t, isFile, "call %d", n) // written in order
						}
					}
					require.NotZero(t, failed)
				})
			}
		}
	}
}

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
	f := must(os.Open("../testdata/compressed/godot4.7-dev.jsonl"))(tb)
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
			packed := must(fileaccess.Compress([]byte("before"), content, mode))(t)
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
	got, _ := must2(readAll(bytes.NewReader(level2), raw(fileaccess.FastLZ)))(t)
	require.Equal(t, all["far"], got)
}

// The limit accepts content of its size and refuses longer content.
func TestDecompressLimit(t *testing.T) {
	for _, mode := range modes {
		for _, n := range []int{16, 1000, 1 << 20, 3 << 20} {
			packed, err := fileaccess.Compress(nil, make([]byte, n), mode)
			require.NoError(t, err)
			got := must(fileaccess.Decompress(nil, packed, mode, int64(n)))(t)
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
			must(w.Write(zeros))(t)
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
		good := must(fileaccess.Compress(nil, contents()["random_4095"], mode))(t)
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
		require.ErrorIs(t, errOf(fileaccess.Decompress(nil, []byte("content"), mode, 0)), fileaccess.ErrMode)
		require.ErrorIs(t, errOf(fileaccess.NewWriter(io.Discard, fileaccess.Info{Container: fileaccess.Raw, Mode: mode}, nil)), fileaccess.ErrMode)
	}
}

// A stream of any size is written and read in the same memory.
func TestRawMemory(t *testing.T) {
	size := testenv.Cases(16<<20, 1<<27)
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
			require.EqualValues(t, size, must(io.Copy(io.Discard, must(fileaccess.NewReader(bufio.NewReader(in), o))(t)))(t))
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
			require.Equal(t, "abcd", string(must(fileaccess.Decompress(nil, frame, fileaccess.Zstd, -1))(t)))
		}
	}
}

// Each limit accepts a value equal to it and refuses a greater one.
func TestFileAccessLimits(t *testing.T) {
	data := file(t, compressedInfo(fileaccess.Zstd), nil, pattern(10_000))
	for _, tt := range []struct {
		name       string
		at, beyond fileaccess.Limits
		want       string
	}{
		{
			"Size", fileaccess.Limits{Size: 10_000}, fileaccess.Limits{Size: 9999},
			"fileaccess: offset 12: content of 10000 bytes exceeds limit Size (9999)",
		},
		{
			"BlockSize", fileaccess.Limits{BlockSize: 4096}, fileaccess.Limits{BlockSize: 4095},
			"fileaccess: offset 8: block of 4096 bytes exceeds limit BlockSize (4095)",
		},
		{
			"Blocks", fileaccess.Limits{Blocks: 3}, fileaccess.Limits{Blocks: 2},
			"fileaccess: offset 12: file of 3 blocks exceeds limit Blocks (2)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must2(readAll(bytes.NewReader(data), &fileaccess.Options{Limits: tt.at}))(t)
			_, _, err := readAll(bytes.NewReader(data), &fileaccess.Options{Limits: tt.beyond})
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, fileaccess.ErrLimit)
			require.NotErrorIs(t, err, fileaccess.ErrDamaged)
		})
	}
	// The largest file of an engine, in blocks of 4096 bytes, is within Blocks.
	_, err := fileaccess.NewReader(bytes.NewReader(put(data, totalAt, 1<<32-1)), &fileaccess.Options{Limits: fileaccess.Limits{Size: -1}})
	require.NotErrorIs(t, err, fileaccess.ErrLimit)
	require.Equal(t, "7 exceeds limit Other (3)", (&fileaccess.LimitError{Name: "Other", Got: 7, Max: 3}).Error())
}

// The messages of limits and FastLZ are tested with their sources.
func TestFileAccessErrors(t *testing.T) {
	read := func(data []byte) error {
		_, _, err := readAll(bytes.NewReader(data), &fileaccess.Options{Key: wrong})
		return err
	}
	compressed := func(mode fileaccess.Mode) error {
		_, err := fileaccess.NewCompressedWriter(io.Discard, mode, 0)
		return err
	}
	encrypted := func(layout fileaccess.Layout) error {
		_, err := fileaccess.NewEncryptedWriter(io.Discard, layout, right)
		return err
	}
	good := file(t, compressedInfo(fileaccess.Gzip), nil, pattern(100))
	end := len(good) - 4
	member := gzipMember(pattern(100))
	for _, c := range []struct {
		name   string
		err    error
		is     error
		offset int64
		text   string
	}{
		{"mode", read(put(good, modeAt, 4)), fileaccess.ErrMode, modeAt, "fileaccess: offset 4: unsupported compression mode: brotli"},
		{"block size", read(put(good, blockSizeAt, 0)), fileaccess.ErrDamaged, blockSizeAt, "fileaccess: offset 8: damaged file: block size 0"},
		{"ratio", read(gcpf(fileaccess.Gzip, 1<<20, 1<<20-1, member[:20])), fileaccess.ErrDamaged, sizesAt + 4, "fileaccess: offset 20: damaged file: block 0: 1048575 bytes cannot be compressed to 20"},
		{"more content", read(gcpf(fileaccess.Gzip, 4096, 99, member)), fileaccess.ErrDamaged, sizesAt + 4, "fileaccess: offset 20: damaged file: block 0: more content than declared"},
		{"less content", read(gcpf(fileaccess.Gzip, 4096, 101, member)), fileaccess.ErrDamaged, sizesAt + 4, "fileaccess: offset 20: damaged file: block 0: less content than declared"},
		{"bytes after the content", read(gcpf(fileaccess.Gzip, 4096, 100, append(member[:len(member):len(member)], 0))), fileaccess.ErrDamaged, sizesAt + 4, "fileaccess: offset 20: damaged file: block 0: bytes after the compressed content"},
		{"end", read(append(good[:end:end], "GCPE"...)), fileaccess.ErrDamaged, int64(end), fmt.Sprintf("fileaccess: offset %d: damaged file: no GCPF after the last block", end)},
		{"truncated", read(good[:10]), io.ErrUnexpectedEOF, 10, "fileaccess: offset 10: unexpected EOF"},
		{"password", read(file(t, encryptedInfo(fileaccess.LayoutGodot4), right, pattern(100))), fileaccess.ErrPassword, 4, "fileaccess: wrong password or damaged file"},
		{"writer's mode", compressed(5), fileaccess.ErrMode, 0, "fileaccess: offset 0: unsupported compression mode: mode 5"},
		{"writer's layout", encrypted(2), fileaccess.ErrLayout, 0, "fileaccess: offset 0: unknown layout: 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.EqualError(t, c.err, c.text)
			isAt(t, c.err, c.is, c.offset)
			for _, other := range []error{fileaccess.ErrDamaged, fileaccess.ErrPassword, fileaccess.ErrMode, fileaccess.ErrLayout, fileaccess.ErrLimit} {
				require.Equal(t, other == c.is, errors.Is(c.err, other), other)
			}
		})
	}
}

// Errors that have no position.
func TestErrorsOfCalls(t *testing.T) {
	require.EqualError(t, fileaccess.ErrNoKey, "fileaccess: an encrypted file needs a password or key")
	require.EqualError(t, fileaccess.ErrClosed, "fileaccess: write after Close")
}
