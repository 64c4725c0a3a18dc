package fileaccess_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/stretchr/testify/require"
)

// A vector is a file that an engine wrote, with its content.
type vector struct {
	name    string // engine/file
	data    []byte
	key     *fileaccess.Key
	content []byte
	info    fileaccess.Info
}

func (v *vector) options() *fileaccess.Options { return &fileaccess.Options{Key: v.key} }

// modes are those that engines write.
var modes = []fileaccess.Mode{fileaccess.FastLZ, fileaccess.Deflate, fileaccess.Zstd, fileaccess.Gzip}

// pattern is the content of n bytes in the vectors compressed_MODE_N.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i/100)
	}
	return b
}

// rawKey is 00 01 … 1f.
func rawKey() *fileaccess.Key {
	k := new(fileaccess.Key)
	for i := range k {
		k[i] = byte(i)
	}
	return k
}

// vectors returns all files of testdata/containers.
func vectors(tb testing.TB) (all []vector) {
	const root = "../testdata/containers"
	for engine, layout := range map[string]fileaccess.Layout{"godot3.2.3": fileaccess.Godot3, "godot4.6": fileaccess.Godot4} {
		save, err := os.ReadFile(filepath.Join(root, engine, "save_plain"))
		require.NoError(tb, err)
		first := 4 + int(binary.LittleEndian.Uint32(save)) // bytes of the first value and its length
		names, err := filepath.Glob(filepath.Join(root, engine, "*"))
		require.NoError(tb, err)
		require.Len(tb, names, 41)
		for _, name := range names {
			data, err := os.ReadFile(name)
			require.NoError(tb, err)
			v := vector{name: engine + "/" + filepath.Base(name), data: data, content: save}
			parts := strings.Split(filepath.Base(name), "_")
			switch kind := parts[1]; {
			case kind == "plain":
				v.info.Size = -1
				all = append(all, v)
				continue
			case kind == "encrypted":
				v.info = fileaccess.Info{Container: fileaccess.Encrypted, Layout: layout, Verified: true}
				switch {
				case parts[2] == "key":
					v.key, v.content = rawKey(), save[:first]
				case parts[3] == "umlaut":
					v.key, v.content = fileaccess.PasswordKey("pässwörd"), []byte("exactly16bytes..")
				default:
					v.key = fileaccess.PasswordKey("hunter2")
				}
				if parts[0] == "empty" {
					v.content = []byte{}
				}
			default:
				v.info = fileaccess.Info{Container: fileaccess.Compressed, Mode: modeNamed(tb, kind), BlockSize: 4096}
				if parts[0] == "compressed" {
					n, err := strconv.Atoi(parts[2])
					require.NoError(tb, err)
					v.content = pattern(n)
				}
			}
			v.info.Size = int64(len(v.content))
			all = append(all, v)
		}
	}
	return all
}

func modeNamed(tb testing.TB, name string) fileaccess.Mode {
	for _, m := range modes {
		if m.String() == name {
			return m
		}
	}
	require.Fail(tb, "no mode", name)
	return 0
}

// Readers that give what they have in different pieces.
var deliveries = map[string]func(b []byte) io.Reader{
	"bytes":       func(b []byte) io.Reader { return bytes.NewReader(b) },
	"no seeking":  func(b []byte) io.Reader { return io.MultiReader(bytes.NewReader(b)) },
	"single byte": func(b []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(b)) },
	"data and EOF": func(b []byte) io.Reader {
		return iotest.DataErrReader(bytes.NewReader(b))
	},
	"pipe": func(b []byte) io.Reader {
		r, w := io.Pipe()
		go func() {
			_, err := io.Copy(w, iotest.HalfReader(bytes.NewReader(b)))
			w.CloseWithError(err)
		}()
		return r
	},
}

func TestVectors(t *testing.T) {
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
