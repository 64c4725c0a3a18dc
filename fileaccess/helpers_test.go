package fileaccess_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

func must2[V, W any](v V, w W, err error) func(testing.TB) (V, W) { return testenv.Must2(v, w, err) }

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

// A vector is a file that an engine wrote, with its content.
type vector struct {
	name    string // engine/file
	data    []byte
	key     *fileaccess.Key
	content []byte
	info    fileaccess.Info
}

func (v *vector) options() *fileaccess.Options { return &fileaccess.Options{Key: v.key} }

// modes contains the modes that engines write.
var modes = []fileaccess.Mode{fileaccess.FastLZ, fileaccess.Deflate, fileaccess.Zstd, fileaccess.Gzip}

// pattern returns the content of n bytes in the vectors compressed_MODE_N.
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
	for engine, layout := range map[string]fileaccess.Layout{"godot3.2.3": fileaccess.LayoutGodot3, "godot4.6": fileaccess.LayoutGodot4} {
		save := must(os.ReadFile(filepath.Join(root, engine, "save_plain")))(tb)
		first := 4 + int(binary.LittleEndian.Uint32(save)) // bytes of the first value and its length
		names := must(filepath.Glob(filepath.Join(root, engine, "*")))(tb)
		require.Len(tb, names, 41)
		for _, name := range names {
			v := vector{name: engine + "/" + filepath.Base(name), data: must(os.ReadFile(name))(tb), content: save}
			parts := strings.Split(filepath.Base(name), "_")
			switch kind := parts[1]; kind {
			case "plain":
				v.info.Size = -1
				all = append(all, v)
				continue
			case "encrypted":
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
					v.content = pattern(must(strconv.Atoi(parts[2]))(tb))
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

// Readers that return their bytes in different pieces.
var deliveries = map[string]func(b []byte) io.Reader{
	"bytes":       func(b []byte) io.Reader { return bytes.NewReader(b) },
	"no seeking":  func(b []byte) io.Reader { return io.MultiReader(bytes.NewReader(b)) },
	"single byte": func(b []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(b)) },
	"empty reads": func(b []byte) io.Reader { return &hesitant{r: bytes.NewReader(b)} },
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

// gcpf returns a compressed file with the given compressed blocks.
func gcpf(mode fileaccess.Mode, blockSize, total uint32, blocks ...[]byte) []byte {
	b := []byte("GCPF")
	for _, v := range []uint32{uint32(mode), blockSize, total} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for _, block := range blocks {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(block)))
	}
	for _, block := range blocks {
		b = append(b, block...)
	}
	return append(b, "GCPF"...)
}

// make returns the file with content that NewWriter writes with info and key.
func file(tb testing.TB, info fileaccess.Info, key *fileaccess.Key, content []byte) []byte {
	var b bytes.Buffer
	w := must(fileaccess.NewWriter(&b, info, key))(tb)
	require.NoError(tb, errOf(w.Write(content)))
	require.NoError(tb, w.Close())
	return b.Bytes()
}

func compressedInfo(mode fileaccess.Mode) fileaccess.Info {
	return fileaccess.Info{Container: fileaccess.Compressed, Mode: mode}
}

func encryptedInfo(layout fileaccess.Layout) fileaccess.Info {
	return fileaccess.Info{Container: fileaccess.Encrypted, Layout: layout}
}

// put returns a copy of b with the 32 bits at offset replaced.
func put(b []byte, offset int, v uint32) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint32(b[offset:], v)
	return b
}

// put64 is put for 64 bits.
func put64(b []byte, offset int, v uint64) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint64(b[offset:], v)
	return b
}

// A hesitant Reader returns nothing and one byte in turn.
type hesitant struct {
	r     io.Reader
	ready bool
}

func (h *hesitant) Read(p []byte) (int, error) {
	h.ready = !h.ready
	if !h.ready || len(p) == 0 {
		return 0, nil
	}
	return h.r.Read(p[:1])
}

// noSeek hides all methods but Read.
func noSeek(r io.Reader) io.Reader { return struct{ io.Reader }{r} }

// readAll reads a whole file. It returns the content before an error together with the
// error.
func readAll(r io.Reader, o *fileaccess.Options) (b []byte, info fileaccess.Info, err error) {
	in, err := fileaccess.NewReader(r, o)
	if err != nil {
		return nil, info, err
	}
	b, err = io.ReadAll(in)
	if err != nil {
		// The error stays.
		n, again := in.Read(make([]byte, 1))
		if n != 0 || again != err {
			panic("another error")
		}
	}
	return b, in.Info(), err
}

// isAt requires an Error with the given offset that is target.
func isAt(tb testing.TB, err, target error, offset int64, about ...any) {
	tb.Helper()
	require.ErrorIs(tb, err, target, about...)
	var e *fileaccess.Error
	require.True(tb, errors.As(err, &e), about...)
	require.Equal(tb, offset, e.Offset, about...)
	require.Equal(tb, e.Err, e.Unwrap())
}

// allocated returns the number of bytes that f allocates, the least of three measurements.
func allocated(f func()) uint64 {
	least := ^uint64(0)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

var bothLayouts = []fileaccess.Layout{fileaccess.LayoutGodot3, fileaccess.LayoutGodot4}

var (
	right = fileaccess.PasswordKey("hunter2")
	wrong = fileaccess.PasswordKey("hunter3")
)

// contents returns contents of sizes at the boundaries of blocks, and of different
// compressibility.
func contents() map[string][]byte {
	all := map[string][]byte{}
	random := rand.NewChaCha8([32]byte{1})
	for _, n := range []int{0, 1, 15, 16, 17, 99, 100, 4095, 4096, 4097, 8192, 10000, 70000} {
		all[fmt.Sprintf("pattern_%d", n)] = pattern(n)
		all[fmt.Sprintf("zeros_%d", n)] = make([]byte, n)
		b := make([]byte, n)
		random.Read(b)
		all[fmt.Sprintf("random_%d", n)] = b
	}
	return all
}

// A room accepts a limited number of bytes.
type room int

func (r *room) Write(p []byte) (int, error) {
	n := min(len(p), int(*r))
	*r -= room(n)
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

// A disk is a file in memory whose call with the number fail, from 1 on, has a fault: "error", "half" with an error after half
// of the bytes, or "short" without an error. With "append", all calls of WriteAt fail.
type disk struct {
	b           []byte
	pos         int64
	fault       string
	calls, fail int
}

var errDisk = errors.New("disk")

// do calls do with p, or the part before a fault.
func (d *disk) do(p []byte, do func(p []byte) int) (int, error) {
	if d.calls++; d.calls != d.fail {
		return do(p), nil
	}
	switch d.fault {
	case "error":
		return 0, errDisk
	case "short":
		return do(p[:len(p)/2]), nil
	}
	return do(p[:len(p)/2]), errDisk
}

func (d *disk) writeAt(p []byte, at int64) int {
	d.b = append(d.b, make([]byte, max(0, int(at)+len(p)-len(d.b)))...)
	return copy(d.b[at:], p)
}

func (d *disk) Write(p []byte) (int, error) {
	n, err := d.do(p, func(p []byte) int { return d.writeAt(p, d.pos) })
	d.pos += int64(n)
	return n, err
}

func (d *disk) WriteAt(p []byte, at int64) (int, error) {
	if d.fault == "append" {
		return 0, errDisk
	}
	return d.do(p, func(p []byte) int { return d.writeAt(p, at) })
}

func (d *disk) ReadAt(p []byte, at int64) (int, error) {
	return d.do(p, func(p []byte) int { return copy(p, d.b[at:]) })
}

func (d *disk) Seek(offset int64, whence int) (int64, error) {
	_, err := d.do(nil, func([]byte) int { return 0 })
	if err != nil {
		return 0, err
	}
	d.pos = offset + map[int]int64{io.SeekStart: 0, io.SeekCurrent: d.pos}[whence]
	return d.pos, nil
}

// An own file has the methods of an *os.File, but a Write and a Read of its own, which change and count the bytes.
type ownFile struct {
	*os.File
	in      *bufio.Reader
	n, read int
}

func (o *ownFile) Write(p []byte) (int, error) {
	o.n += len(p)
	return o.File.Write(xor(p))
}

func (o *ownFile) Read(p []byte) (int, error) {
	if o.in == nil {
		o.in = bufio.NewReader(o.File)
	}
	n, err := o.in.Read(p)
	o.read += n
	copy(p, xor(p[:n]))
	return n, err
}

func xor(p []byte) []byte {
	p = bytes.Clone(p)
	for i := range p {
		p[i] ^= 0x55
	}
	return p
}
