package fileaccess_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/checked"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/stretchr/testify/require"
)

// Every file of an engine is read, from Readers that return it in any pieces.
func TestFileAccessVectors(t *testing.T) {
	for _, v := range vectors(t) {
		for delivery, reader := range deliveries {
			t.Run(v.name+"/"+delivery, func(t *testing.T) {
				r, err := fileaccess.NewReader(reader(v.data), v.options())
				require.NoError(t, err)
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
			got, info, err := readAll(bytes.NewReader([]byte(content)), nil)
			require.NoError(t, err)
			require.Equal(t, content, string(got))
			require.Equal(t, fileaccess.Info{Size: -1}, info)
		})
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
				if !full() && n%3 > 0 {
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
					if !full() && n != i%6 {
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
			got, _, err := readAll(hide(r), v.options())
			require.NoError(t, err)
			require.Equal(t, v.content, got)
			rest, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, "next", string(rest), v.name)
		}
	}
}

// One container is opened, and not the containers inside it.
func TestNested(t *testing.T) {
	inner := file(t, compressedInfo(fileaccess.Zstd), nil, pattern(5000))
	outer := file(t, encryptedInfo(fileaccess.LayoutGodot4), rawKey(), inner)
	r, err := fileaccess.NewReader(bytes.NewReader(outer), &fileaccess.Options{Key: rawKey()})
	require.NoError(t, err)
	require.Equal(t, fileaccess.Encrypted, r.Info().Container)
	got, info, err := readAll(r, nil)
	require.NoError(t, err)
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

type badReader int

func (r badReader) Read([]byte) (int, error) { return int(r), nil }

func TestReaderMisbehaves(t *testing.T) {
	_, err := fileaccess.NewReader(badReader(-1), nil)
	require.ErrorIs(t, err, checked.ErrRead)
	_, err = fileaccess.NewReader(badReader(1000), nil)
	require.ErrorIs(t, err, checked.ErrRead)
	_, err = fileaccess.NewReader(badReader(0), nil)
	require.ErrorIs(t, err, io.ErrNoProgress)
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
