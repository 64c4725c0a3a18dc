package fileaccess_test

import (
	"bytes"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

func TestPasswordKey(t *testing.T) {
	require.Equal(t, "2ab96390c7dbe3439de74d0c9b0b1767", string(right[:]))
}

// With a wrong key, no byte is returned if the content is verified first; otherwise the
// end is an error instead of io.EOF.
func TestWrongPassword(t *testing.T) {
	for _, v := range vectors(t) {
		if v.key == nil || len(v.content) == 0 {
			continue
		}
		md5At := int64(4)
		if v.info.Layout == fileaccess.LayoutGodot3 {
			md5At = 8
		}
		for delivery, reader := range deliveries {
			_, err := fileaccess.NewReader(reader(v.data), &fileaccess.Options{Key: wrong})
			isAt(t, err, fileaccess.ErrPassword, md5At, delivery)
		}
	}
	for _, layout := range bothLayouts {
		data := file(t, encryptedInfo(layout), right, pattern(100_000))
		for _, tt := range []struct {
			name     string
			r        io.Reader
			buffered int64
			read     int64 // the least that is read before the error, which is then Read's
		}{
			{"seeking", bytes.NewReader(data), 1, 0},
			{"within the limit", noSeek(bytes.NewReader(data)), 100_000, 0},
			{"no limit", noSeek(bytes.NewReader(data)), -1, 0},
			{"default", noSeek(bytes.NewReader(data)), 0, 0},
			{"over the limit", noSeek(bytes.NewReader(data)), 99_999, 1},
		} {
			t.Run(layout.String()+"/"+tt.name, func(t *testing.T) {
				r, err := fileaccess.NewReader(tt.r, &fileaccess.Options{Key: wrong, MaxBuffered: tt.buffered})
				if tt.read == 0 {
					require.ErrorIs(t, err, fileaccess.ErrPassword)
					require.Nil(t, r)
					return
				}
				require.NoError(t, err)
				require.False(t, r.Info().Verified)
				n, err := io.Copy(io.Discard, r)
				require.ErrorIs(t, err, fileaccess.ErrPassword)
				require.EqualValues(t, 100_000, n)
			})
		}
	}
}

// The MD5 of an empty content is the same under any key.
func TestWrongPasswordEmpty(t *testing.T) {
	for _, layout := range bothLayouts {
		got, _ := must2(readAll(bytes.NewReader(file(t, encryptedInfo(layout), right, nil)), &fileaccess.Options{Key: wrong}))(t)
		require.Empty(t, got)
	}
}

func TestAskKey(t *testing.T) {
	refused := errors.New("refused")
	asked := []fileaccess.Info{}
	answer := func(k *fileaccess.Key, err error) *fileaccess.Options {
		return &fileaccess.Options{AskKey: func(info fileaccess.Info) (*fileaccess.Key, error) {
			asked = append(asked, info)
			return k, err
		}}
	}
	data := file(t, encryptedInfo(fileaccess.LayoutGodot3), right, pattern(100))
	for _, tt := range []struct {
		name string
		o    *fileaccess.Options
		want error
	}{
		{"right key", answer(right, nil), nil},
		{"wrong key", answer(wrong, nil), fileaccess.ErrPassword},
		{"no key", answer(nil, nil), fileaccess.ErrNoKey},
		{"own error", answer(right, refused), refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readAll(bytes.NewReader(data), tt.o)
			require.ErrorIs(t, err, tt.want)
		})
	}
	require.Len(t, asked, 4)
	require.Equal(t, fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot3, Size: 100}, asked[0])

	require.Equal(t, fileaccess.ErrNoKey, errOf(fileaccess.NewReader(bytes.NewReader(data), nil)))
	for name, data := range map[string][]byte{"compressed": file(t, compressedInfo(fileaccess.Zstd), nil, pattern(100)), "plain": pattern(100)} {
		t.Run(name, func(t *testing.T) {
			must2(readAll(bytes.NewReader(data), answer(nil, refused)))(t)
		})
	}
}

// The layout is recognized by the version number of Godot 3, or by the file's size if an MD5
// begins with the same bytes.
func TestLayoutDetected(t *testing.T) {
	three := file(t, encryptedInfo(fileaccess.LayoutGodot3), right, pattern(100))
	four := file(t, encryptedInfo(fileaccess.LayoutGodot4), right, pattern(100))
	like := put(four, 4, 1)
	for _, tt := range []struct {
		name string
		r    io.Reader
		want fileaccess.Layout
		size int64
	}{
		{"godot3", bytes.NewReader(three), fileaccess.LayoutGodot3, 100},
		{"godot3, stream", noSeek(bytes.NewReader(three)), fileaccess.LayoutGodot3, 100},
		{"godot3, cut", bytes.NewReader(three[:100]), fileaccess.LayoutGodot3, 100},
		{"godot3, more after it", bytes.NewReader(append(three[:len(three):len(three)], "more"...)), fileaccess.LayoutGodot3, 100},
		{"godot4", bytes.NewReader(four), fileaccess.LayoutGodot4, 100},
		{"godot4, stream", noSeek(bytes.NewReader(four)), fileaccess.LayoutGodot4, 100},
		{"godot4, an MD5 like Godot 3's version", bytes.NewReader(like), fileaccess.LayoutGodot4, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got fileaccess.Info
			fileaccess.NewReader(tt.r, &fileaccess.Options{AskKey: func(info fileaccess.Info) (*fileaccess.Key, error) {
				got = info
				return right, nil
			}})
			require.Equal(t, fileaccess.Info{Container: fileaccess.Encrypted, Layout: tt.want, Size: tt.size}, got)
		})
	}
}

// False lengths are an error and need no memory, with seekable and other Readers.
func TestEncryptedLies(t *testing.T) {
	for layout, lengthAt := range map[fileaccess.Layout]int{fileaccess.LayoutGodot3: 24, fileaccess.LayoutGodot4: 20} {
		good := file(t, encryptedInfo(layout), right, pattern(1000))
		end := int64(len(good))
		md5At := int64(lengthAt - md5.Size)
		for _, tt := range []struct {
			name   string
			length uint64
			limit  int64
			err    error
			offset int64
		}{
			{"most", math.MaxUint64, 0, fileaccess.ErrLimit, int64(lengthAt)},
			{"most, no limit", math.MaxUint64, -1, fileaccess.ErrLimit, int64(lengthAt)},
			{"negative, no limit", 1 << 63, -1, fileaccess.ErrLimit, int64(lengthAt)},
			{"1 << 62, no limit", 1 << 62, -1, io.ErrUnexpectedEOF, end},
			{"over the default limit", 256<<20 + 1, 0, fileaccess.ErrLimit, int64(lengthAt)},
			{"at the default limit", 256 << 20, 0, io.ErrUnexpectedEOF, end},
			{"over a limit", 1000, 999, fileaccess.ErrLimit, int64(lengthAt)},
			{"one block more", 1009, 0, io.ErrUnexpectedEOF, end},
			{"one more", 1001, 0, fileaccess.ErrPassword, md5At},
			{"one less", 999, 0, fileaccess.ErrPassword, md5At},
			{"none", 0, 0, fileaccess.ErrPassword, md5At},
		} {
			for name, hide := range map[string]func(io.Reader) io.Reader{"stream": noSeek, "seeking": func(r io.Reader) io.Reader { return r }} {
				for _, buffered := range []int64{0, 1, -1} {
					t.Run(layout.String()+"/"+tt.name+"/"+name, func(t *testing.T) {
						o := &fileaccess.Options{Key: right, Limits: fileaccess.Limits{Size: tt.limit}, MaxBuffered: buffered}
						data := put64(good, lengthAt, tt.length)
						var err error
						got := allocated(func() { _, _, err = readAll(hide(bytes.NewReader(data)), o) })
						isAt(t, err, tt.err, tt.offset)
						require.Less(t, got, uint64(64<<10))
					})
				}
			}
		}
	}
}

// Content larger than the limit is read twice from a file, so that all bytes are verified
// without keeping them.
func TestVerifiedByReadingTwice(t *testing.T) {
	for _, layout := range bothLayouts {
		content := pattern(3 << 20)
		path := filepath.Join(t.TempDir(), "save")
		before := []byte("before")
		require.NoError(t, os.WriteFile(path, append(before, file(t, encryptedInfo(layout), right, content)...), 0o600))
		f := must(os.Open(path))(t)
		defer f.Close()
		o := &fileaccess.Options{Key: right, MaxBuffered: 1 << 20}
		got := allocated(func() {
			must(f.Seek(int64(len(before)), io.SeekStart))(t)
			r := must(fileaccess.NewReader(f, o))(t)
			require.True(t, r.Info().Verified)
			sum := md5.New()
			must(io.Copy(sum, r))(t)
			want := md5.Sum(content)
			require.Equal(t, want[:], sum.Sum(nil))
		})
		require.Less(t, got, uint64(256<<10))
	}
}

// A change of a file after its verification is an error at its end.
func TestChangedAfterVerifying(t *testing.T) {
	data := file(t, encryptedInfo(fileaccess.LayoutGodot4), right, pattern(100_000))
	r := must(fileaccess.NewReader(bytes.NewReader(data), &fileaccess.Options{Key: right, MaxBuffered: 1}))(t)
	data[50_000] ^= 1
	_, err := io.ReadAll(r)
	isAt(t, err, fileaccess.ErrPassword, 4)
}

// A file truncated after its verification is an error at its new end.
func TestCutAfterVerifying(t *testing.T) {
	data := file(t, encryptedInfo(fileaccess.LayoutGodot3), right, pattern(100_000))
	in := bytes.NewReader(append([]byte("before"), data...))
	must(in.Seek(6, io.SeekStart))(t)
	r := must(fileaccess.NewReader(in, &fileaccess.Options{Key: right, MaxBuffered: 1}))(t)
	in.Reset(data[:50_000])
	must(in.Seek(32, io.SeekStart))(t)
	_, err := io.ReadAll(r)
	isAt(t, err, io.ErrUnexpectedEOF, 50_000)
}

// A seeker returns an error from its nth call.
type seeker struct {
	*bytes.Reader
	calls, fail int
}

func (s *seeker) Seek(offset int64, whence int) (int64, error) {
	s.calls++
	if s.calls == s.fail {
		return 0, errSeek
	}
	return s.Reader.Seek(offset, whence)
}

var errSeek = errors.New("cannot seek")

// The method Seek of a pipe fails, so it is read as a stream. A failure after the position changed
// is an error.
func TestSeekFails(t *testing.T) {
	content := pattern(100_000)
	data := file(t, encryptedInfo(fileaccess.LayoutGodot3), right, content)
	for fail, want := range map[int]error{1: nil, 2: nil, 3: errSeek, 4: nil, 5: errSeek, 6: nil} {
		t.Run(fmt.Sprintf("seek %d", fail), func(t *testing.T) {
			s := &seeker{Reader: bytes.NewReader(data), fail: fail}
			r, err := fileaccess.NewSeekReader(s, &fileaccess.Options{Key: right, MaxBuffered: 1})
			require.Equal(t, want, err, fail)
			if want == nil {
				require.Equal(t, content, must(io.ReadAll(r))(t))
				require.Equal(t, fail == 6 || fail < 3, r.Info().Verified, fail)
			}
		})
	}
}

// The padding of the last block is ignored, as in engines.
func TestPaddingIgnored(t *testing.T) {
	data := file(t, encryptedInfo(fileaccess.LayoutGodot4), right, pattern(17))
	data[len(data)-1] ^= 1
	got, _ := must2(readAll(bytes.NewReader(data), &fileaccess.Options{Key: right}))(t)
	require.Equal(t, pattern(17), got)
}

// With the same IV the files are those of the engines, byte for byte.
func TestEncryptedWriterLikeEngines(t *testing.T) {
	for _, v := range vectors(t) {
		if v.key == nil {
			continue
		}
		var b bytes.Buffer
		w := must(fileaccess.NewEncryptedWriter(&b, v.info.Layout, v.key))(t)
		if v.info.Layout == fileaccess.LayoutGodot4 {
			w.SetIV(v.key, v.data[28:44])
		}
		must(io.Copy(w, iotest.OneByteReader(bytes.NewReader(v.content))))(t)
		require.NoError(t, w.Close())
		require.Equal(t, v.data, b.Bytes(), v.name)
	}
}

func TestNewEncryptedWriterRefuses(t *testing.T) {
	require.Equal(t, fileaccess.ErrNoKey, errOf(fileaccess.NewEncryptedWriter(io.Discard, fileaccess.LayoutGodot4, nil)))
	_, err := fileaccess.NewEncryptedWriter(io.Discard, 2, right)
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
			f := must(os.OpenFile(path, os.O_RDWR|flags, 0))(t)
			must(f.Seek(0, io.SeekEnd))(t)
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
					w := must(fileaccess.NewEncryptedWriter(f, layout, right))(t)
					must(w.Write(pattern(n)))(t)
					require.Equal(t, tt.kept || n < 16<<10, must(f.Seek(0, io.SeekEnd))(t) == int64(len("before")))
					require.NotContains(t, string(must(os.ReadFile(f.Name()))(t)), "GDEC")

					require.NoError(t, w.Close())
					must(f.WriteString("after"))(t)
					must(f.Seek(int64(len("before")), io.SeekStart))(t)
					content, _ := must2(readAll(f, &fileaccess.Options{Key: right}))(t)
					require.Equal(t, pattern(n), content)
					require.Equal(t, "after", string(must(io.ReadAll(f))(t)))
				})
			}
		}
	}
}

func TestEncryptedWriterIntoPipe(t *testing.T) {
	r, w := must2(os.Pipe())(t)
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
	got, info := must2(readAll(r, &fileaccess.Options{Key: right}))(t)
	require.NoError(t, <-done)
	require.True(t, info.Verified)
	require.Equal(t, pattern(100_000), got)
}

// The memory for writing a file does not depend on the content.
func TestEncryptedWriterMemory(t *testing.T) {
	f := must(os.Create(filepath.Join(t.TempDir(), "save")))(t)
	defer f.Close()
	content := pattern(4 << 20)
	for _, layout := range bothLayouts {
		require.Less(t, allocated(func() {
			w := must(fileaccess.NewEncryptedWriter(f, layout, right))(t)
			must(w.Write(content))(t)
			require.NoError(t, w.Close())
		}), uint64(64<<10))
	}
}
