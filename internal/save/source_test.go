package save

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save/recognize"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

// save is a length-prefixed Dictionary of Godot 4.
const save = "\x1c\x00\x00\x00\x1b\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00hp\x00\x00\x02\x00\x00\x00\x0a\x00\x00\x00"

// zstd returns content in a compressed file.
func zstd(t *testing.T, content string) string {
	var b bytes.Buffer
	w := must(fileaccess.NewWriter(&b, fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}, nil))(t)
	must(io.WriteString(w, content))(t)
	require.NoError(t, w.Close())
	return b.String()
}

// open opens content after a header of 8 bytes: as a file, as a file that is standard input
// and was read up to the header, or as a pipe.
func open(t *testing.T, how, content string) *Source {
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte("read\x00HEADER01"+content), 0o600))
	f, err := os.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	var in *Input
	switch how {
	case "file":
		require.NoError(t, os.WriteFile(name, []byte("HEADER01"+content), 0o600))
		in, err = Open(name, nil)
	case "standard input":
		must(f.Seek(5, io.SeekStart))(t)
		in, err = Open("-", f)
	case "pipe":
		in, err = Open("", strings.NewReader("HEADER01"+content))
	}
	require.NoError(t, err)
	t.Cleanup(func() { in.Close() })
	source := must(in.Source(&SourceOptions{Skip: 8, KeepHeader: true}))(t)
	require.Equal(t, "HEADER01", string(source.Header))
	return source
}

// Each kind of input is recognized, and its content can be read several times.
func TestSource(t *testing.T) {
	packets := strings.Repeat(save, 5000)
	for _, how := range []string{"file", "standard input", "pipe"} {
		for container, data := range map[string]string{"plain": packets, "zstd": zstd(t, packets)} {
			t.Run(how+" "+container, func(t *testing.T) {
				in := open(t, how, data)
				require.Equal(t, how == "pipe", in.Live)
				if how == "pipe" && container == "plain" {
					require.EqualValues(t, -1, in.Size)
				} else {
					require.EqualValues(t, len(packets), in.Size)
				}
				store := must(in.Store(10))(t)
				require.Equal(t, how == "file" && container == "plain", store.Data == nil)
				requireStored(t, packets, store)
				in = open(t, how, data)
				var o Reading
				r := must(in.Recognize(&o, Known{}))(t)
				require.Equal(t, recognize.Sure, r.Certainty)
				require.Equal(t, []recognize.Reading{{Format: gdwire.Godot4, Frame: recognize.U32}}, r.Readings[:1])
				require.Equal(t, U32, o.Frame)
				c := must(in.Content(&o))(t)
				require.EqualValues(t, len(packets), c.Size)
				for range 2 {
					got := must(io.ReadAll(io.NewSectionReader(c, 0, c.Size)))(t)
					require.True(t, packets == string(got))
				}
				require.NoError(t, in.Close())
			})
		}
	}
}

// requireStored: any bytes of a Store can be read.
func requireStored(t *testing.T, want string, s *Store) {
	t.Helper()
	require.EqualValues(t, len(want), s.Size)
	all := must(io.ReadAll(io.NewSectionReader(s.ReaderAt(), 0, s.Size)))(t)
	require.True(t, want == string(all))
	b := must(s.Bytes(4, 8))(t)
	require.Equal(t, want[4:12], string(b))
	b = must(s.Bytes(s.Size-3, 8))(t)
	require.Equal(t, want[len(want)-3:], string(b))
	for _, at := range []int64{-1, s.Size + 1} {
		require.EqualError(t, errOf(s.Bytes(at, 1)), fmt.Sprint("there is no offset ", at))
	}
	require.NoError(t, s.Check())
}

// TestStoreChanged: a Store in its file notices a change of the file, and one in memory does not change.
func TestStoreChanged(t *testing.T) {
	for _, most := range []int64{0, 100} {
		name := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(name, []byte(save), 0o600))
		in := must(Open(name, nil))(t)
		t.Cleanup(func() { _ = in.Close() })
		source := must(in.Source(&SourceOptions{}))(t)
		s := must(source.Store(most))(t)
		require.NoError(t, os.Truncate(name, 8))
		if most > 0 {
			requireStored(t, save, s)
			continue
		}
		require.ErrorIs(t, s.Check(), ErrFileChanged)
		require.ErrorIs(t, errOf(s.Bytes(4, 8)), io.ErrUnexpectedEOF)
	}
}

func TestSourceErrors(t *testing.T) {
	require.ErrorIs(t, errOf(Open(filepath.Join(t.TempDir(), "missing"), nil)), os.ErrNotExist)
	dir := t.TempDir()
	require.EqualError(t, errOf(Open(dir, nil)), dir+" is a folder")

	in := must(Open("", strings.NewReader("12345")))(t)
	require.EqualError(t, errOf(in.Source(&SourceOptions{Skip: 8})), "standard input has 5 bytes, and 8 are to be skipped")

	cable := errors.New("cable cut")
	in = must(Open("", io.MultiReader(strings.NewReader(save[:10]), &failing{cable})))(t)
	s := must(in.Source(&SourceOptions{}))(t)
	require.Equal(t, cable, errOf(s.Recognize(&Reading{}, Known{})))

	// What is left of a cut container is recognized and read, and then its error.
	cut := zstd(t, strings.Repeat(save, 10_000))
	in = must(Open("", strings.NewReader(cut[:len(cut)-10])))(t)
	s = must(in.Source(&SourceOptions{}))(t)
	must(s.Recognize(&Reading{}, Known{}))(t)
	got, err := s.ReadAll()
	require.True(t, IsContainerError(err))
	require.ErrorContains(t, err, "standard input: fileaccess: offset")
	require.True(t, bytes.HasPrefix(got, []byte(save+save)))

	in, err = Open("", strings.NewReader("GDEC")) // without a key
	require.NoError(t, err)
	require.ErrorContains(t, errOf(in.Source(&SourceOptions{})), "standard input: ")
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// TestIsDouble: the header of a component of 64 bits is found at each offset, also after the head by which values are recognized.
func TestIsDouble(t *testing.T) {
	for n := windowSize - 72; n < windowSize+8; n += 4 {
		for i := range 4 {
			double, head := i&1 > 0, i>>1*recognize.HeadSize
			var b bytes.Buffer
			e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{DoubleReals: double})
			require.NoError(t, e.BeginArray(4))
			require.NoError(t, e.WriteString(strings.Repeat("b", head)))
			require.NoError(t, e.WriteString(strings.Repeat("a", n)))
			require.NoError(t, e.WriteNodePath("a/b:c"))
			require.NoError(t, gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, 2}))
			require.NoError(t, e.End())
			require.NoError(t, e.Close())
			s, err := At(bytes.NewReader(b.Bytes()), int64(b.Len())).Source(&SourceOptions{})
			require.NoError(t, err)
			var o Reading
			must(s.Recognize(&o, Known{}))(t)
			require.False(t, o.narrow && (double || head == 0), n)
			c := must(s.Content(&o))(t)
			require.Equal(t, double, c.IsDouble(MaxHeld), n)
		}
	}
}
