package main

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
	"github.com/stretchr/testify/require"
)

// endless is a Reader of n bytes of text.
func endless(n int64) io.Reader { return io.LimitReader(letters{}, n) }

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	return copy(p, block), nil
}

var block = strings.Repeat("x", 1<<16)

// TestCommandMemory: values and packets can be larger than memory.
func TestCommandMemory(t *testing.T) {
	size := testenv.Cases(4<<20, 64<<20)
	values := map[string][]byte{
		"packed": wire(29, size),
		"string": wire(4, size),
	}
	const frame = " -frame u32 -max-packet -1"
	for command, most := range map[string]uint64{
		"json": 1 << 20, "check": 1 << 20, "check -json": 1 << 20, "recode": 1 << 20, "recode -to u32": 2 << 20, "flat": 1 << 20, "get [0]": 1 << 20, "get $": 1 << 20,
		"json" + frame: 1 << 20, "flat" + frame: 1 << 20, "get $" + frame: 1 << 20, "check" + frame: 1 << 20, "check -json" + frame: 1 << 20,
		"tokens": uint64(size / 4), "tokens" + frame: uint64(size / 4), // all lines together; none is kept
	} {
		if testenv.Race {
			most *= 2 // a sync.Pool drops buffers at random then
		}
		for name, head := range values {
			if strings.HasSuffix(command, frame) {
				head = append(wire(len(head)+size), head...)
			}
			t.Run(command+" "+name, func(t *testing.T) {
				in := io.MultiReader(bytes.NewReader(head), endless(int64(size)))
				args := append(strings.Fields(command), "-max-string", "-1")
				var status int
				allocated := testenv.Allocated(func() { status = run(fixed(args), in, io.Discard, io.Discard) })
				if command == "get [0]" && name == "string" {
					require.Equal(t, statusMissing, status, "a String has no elements")
				} else {
					require.Zero(t, status)
				}
				require.Less(t, allocated, most)
			})
		}
	}
}

// TestLossyMemory: a conversion to Godot 3 keeps no text or packed array in memory.
func TestLossyMemory(t *testing.T) {
	size := 4 << 20
	for name, head := range map[string][]byte{"StringName": wire(21, size), "PackedInt64Array": wire(31, size/8), "PackedVector4Array": wire(38, size/16)} {
		t.Run(name, func(t *testing.T) {
			in := io.MultiReader(bytes.NewReader(head), endless(int64(size)))
			args := strings.Fields("recode -format godot4 -frame none -to godot3 -lossy -max-string -1 -max-elements -1")
			allocated := testenv.Allocated(func() { require.Zero(t, run(args, in, io.Discard, io.Discard)) })
			require.Less(t, allocated, uint64(2<<20))
		})
	}
}

// TestMemoryLarge runs commands as processes of their own over 4 GiB, which are
// generated, or 40 MiB in the quick tests, and looks at the most memory that they had.
func TestMemoryLarge(t *testing.T) {
	size := int64(4<<30) - 1<<20
	if !testenv.Full() || strconv.IntSize == 32 {
		size = 40 << 20
	}
	elements := int(size / (1 << 20))
	for _, args := range []string{"flat", "json", "check", "check -json", "get [" + strconv.Itoa(elements-1) + "]", "recode -to u32 -o /dev/null", "recode"} {
		t.Run(args, func(t *testing.T) {
			if strings.Contains(args, "u32") { // a packet is in memory unless its file can seek
				args = strings.Replace(args, "/dev/null", filepath.Join(t.TempDir(), "out"), 1)
				elements := elements / 8 // of disk space
				require.Less(t, peak(t, args, array(elements)), maxPeak)
				return
			}
			elements := elements
			if args == "json" { // which takes longest
				elements /= 8
			}
			require.Less(t, peak(t, args, array(elements)), maxPeak)
		})
	}
}

// TestMemoryCompressed is the same for a compressed file, of which engines write
// blocks of 4 KiB.
func TestMemoryCompressed(t *testing.T) {
	elements := 1023
	if !testenv.Full() || strconv.IntSize == 32 {
		elements = 40
	}
	b := compressed(t, elements)
	for _, args := range []string{"unwrap -max-content none", "check -max-content none", "flat -max-content none"} {
		t.Run(args, func(t *testing.T) {
			require.Less(t, peak(t, args, slices.Values([][]byte{b})), maxPeak)
		})
	}
}

// compressed returns a compressed file of array.
func compressed(t *testing.T, elements int) []byte {
	var file bytes.Buffer
	w := must(fileaccess.NewCompressedWriter(&file, fileaccess.Zstd, 0))(t)
	for b := range array(elements) {
		must(w.Write(b))(t)
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

// TestMemoryFile: commands that read a file several times hold no more of it.
func TestMemoryFile(t *testing.T) {
	const records, size = 8 << 10, 8 << 10
	const fileSize = records * size >> 10 // in KiB
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data)
	file := wire(27, 1, 4, "list", 28, records)
	for i := range records {
		file = append(append(file, wire(27, 2, 4, "id", 2, i+1, 4, "data", 29, size)...), data...)
	}
	name := filepath.Join(t.TempDir(), "save")
	require.NoError(t, os.WriteFile(name, file, 0o600))
	changed := name + ".changed"
	require.NoError(t, os.WriteFile(changed, bytes.Replace(file, wire(4, "id", 2, records/2), wire(4, "id", 2, 0), 1), 0o600))
	password, out := filepath.Join(t.TempDir(), "password"), filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.WriteFile(password, []byte("hunter2"), 0o600))
	for _, args := range []string{"struct", "diff " + name, "diff -max-memory 30M " + changed, "recode -to zstd", "recode -to zstd -o " + out, "recode -to encrypted -password-file " + password} {
		t.Run(strings.Fields(args)[0], func(t *testing.T) {
			c, peak := measured(t, append(strings.Fields(args), "-q", name)...)
			_ = c.Run()
			require.Equal(t, strings.Contains(args, changed), c.ProcessState.ExitCode() == statusBad)
			require.Less(t, peak(), fileSize/2)
		})
	}
}

// TestMemoryCut: a large save that is cut is not searched for what a game writes around values.
func TestMemoryCut(t *testing.T) {
	const size = 40_000_000
	name := filepath.Join(t.TempDir(), "save")
	one := wire(27, 1, 4, "name", 4, "Ada Lovelace")
	whole := append(wire(28, size/len(one)), bytes.Repeat(one, size/len(one))...)
	require.NoError(t, os.WriteFile(name, framed(whole)[:size-33], 0o600))
	c, peak := measured(t, "check", "-q", name)
	require.Error(t, c.Run())
	require.Less(t, peak(), maxPeak)
}

// TestMemoryEncode: encode holds its text and the value, and while it reads the text, half of it
// twice.
func TestMemoryEncode(t *testing.T) {
	text := "[" + strings.Repeat(`{"name":"some text","position":[1.5,2.5],"id":1},`, 16<<20/50) + "null]"
	c, peak := measured(t, "encode", "-q", "-plain")
	c.Stdin = strings.NewReader(text)
	out := must(c.StdoutPipe())(t)
	require.NoError(t, c.Start())
	value := must(io.Copy(io.Discard, out))(t)
	require.NoError(t, c.Wait())
	require.Less(t, peak(), (3*len(text)/2+int(value))>>10+maxPeak)
}

// maxPeak is the most memory that a command may have, in KiB.
const maxPeak = 24 << 10

// array returns the bytes of an Array of PackedByteArrays of 1 MiB each.
func array(elements int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		more := yield(wire(28, elements))
		element := append(wire(29, 1<<20), make([]byte, 1<<20)...)
		for i := 0; i < elements && more; i++ {
			more = yield(element)
		}
	}
}

// peak runs the command with pieces of input and returns the most memory that it had, in KiB.
func peak(t *testing.T, args string, pieces iter.Seq[[]byte]) int {
	words := strings.Fields(args)
	if words[0] != "unwrap" {
		words = append(words, "-format", "godot4", "-frame", "none")
	}
	return peakOf(t, words, pieces)
}

// peakOf returns the peak memory of a command without additional flags.
func peakOf(t *testing.T, words []string, pieces iter.Seq[[]byte]) int {
	c, peak := measured(t, words...)
	in := must(c.StdinPipe())(t)
	var errs bytes.Buffer
	c.Stderr = &errs
	require.NoError(t, c.Start())
	for b := range pieces {
		if _, err := in.Write(b); err != nil {
			break // it saw enough
		}
	}
	require.NoError(t, in.Close())
	require.NoError(t, c.Wait(), errs.String())
	return peak()
}

// memoryVariable names the file to which a process writes the most memory that it had, in KiB.
const memoryVariable = "GDWIRE_MEMORY"

// measuredMain is main for the processes of tests.
func measuredMain() {
	status := program.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if name := os.Getenv(memoryVariable); name != "" {
		_ = os.WriteFile(name, fmt.Append(nil, testenv.Peak()), 0o600)
	}
	os.Exit(status)
}

// measured returns a process of the command, and after its end, the most memory that it had, in KiB.
func measured(t *testing.T, args ...string) (c *exec.Cmd, peak func() int) {
	if testenv.Race {
		t.Skip("skipped: the race detector needs memory of its own")
	}
	name := filepath.Join(t.TempDir(), "memory")
	c = exec.CommandContext(t.Context(), "gdwire", args...)
	c.Env = append(os.Environ(), memoryVariable+"="+name, testenv.PeakLimit)
	return c, func() (kib int) {
		must(fmt.Sscan(string(must(os.ReadFile(name))(t)), &kib))(t)
		return kib
	}
}

// recognized opens a file, or the same bytes as a pipe, and returns it with everything
// that was recognized.
func recognized(t *testing.T, name string, pipe bool, key *fileaccess.Key) (*open.Input, error) {
	var out, errs bytes.Buffer
	f := must(os.Open(name))(t)
	defer f.Close()
	s := shell.NewStdio(struct{ *os.File }{f}, &out, &errs)
	var o open.Flags
	o.Keys.Use(key)
	if pipe {
		name = "-"
	}
	in, err := o.Open(s, name)
	if err == nil {
		in.Close()
	}
	return in, err
}

// TestWrapped recognizes vectors of engines in every container, from files and
// pipes.
func TestWrapped(t *testing.T) {
	key := fileaccess.PasswordKey("hunter2")
	var infos []fileaccess.Info
	for m := fileaccess.FastLZ; m <= fileaccess.Gzip; m++ {
		infos = append(infos, fileaccess.Info{Container: fileaccess.Compressed, Mode: m})
	}
	infos = append(infos, fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot4}, fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot3})
	file := filepath.Join(t.TempDir(), "file")
	files := 0
	for folder, format := range engines {
		for i, v := range vectors(t, folder) {
			if !testenv.Full() && i%25 > 0 {
				continue
			}
			b := []byte(v.Hex)
			for _, frame := range open.Frames {
				content := map[save.Frame][]byte{save.Bare: b, save.U32: framed(b), save.U32BE: framedBig(b)}[frame]
				want := recognize.Recognize(&recognize.Input{Head: content[:min(len(content), recognize.HeadSize)], Size: int64(len(content)), At: bytes.NewReader(content)})
				for _, info := range infos {
					var w bytes.Buffer
					c := must(fileaccess.NewWriter(&w, info, key))(t)
					must(c.Write(content))(t)
					require.NoError(t, c.Close())
					require.NoError(t, os.WriteFile(file, w.Bytes(), 0o600))
					for _, pipe := range []bool{false, true} {
						o, err := recognized(t, file, pipe, key)
						files++
						if want.Certainty <= recognize.Ambiguous {
							require.Error(t, err)
							continue
						}
						require.NoError(t, err)
						require.Equal(t, info.Container, o.Container().Container)
						require.Equal(t, want.Readings[0].Frame, o.Frame)
						require.True(t, want.Readings[0].Format == o.Decoder.Format, "%s %v", v.Name, info)
						if want.Certainty == recognize.Sure {
							require.Equal(t, frame, o.Frame)
							var f gdwire.Format
							require.NoError(t, f.UnmarshalText([]byte(format)))
							require.Contains(t, want.Readings, recognize.Reading{Format: f, Frame: frame})
						}
					}
				}
			}
		}
	}
	t.Log(files, "files")
}

// TestSaveFiles recognizes the files that engines wrote by FileAccess.
func TestSaveFiles(t *testing.T) {
	for folder, format := range map[string]gdwire.Format{"godot3.2.3": gdwire.Godot3, "godot4.6": gdwire.Godot4} {
		names := must(filepath.Glob(testdata("containers", folder) + "/save_*"))(t)
		require.Len(t, names, 7)
		for _, name := range names {
			key := fileaccess.PasswordKey("hunter2")
			if strings.Contains(name, "key") {
				for i := range key {
					key[i] = byte(i)
				}
			}
			for _, pipe := range []bool{false, true} {
				o := must(recognized(t, name, pipe, key))(t)
				require.True(t, format == o.Decoder.Format, name)
				require.Equal(t, save.U32, o.Frame)
			}
		}
	}
}

// TestUndecided: packets that read the same in two formats leave it open which
// one the input is in, until one of them tells.
func TestUndecided(t *testing.T) {
	same := [][]byte{wire(2, 5), wire(4, "a")}
	for range 2000 { // more than the head of a pipe
		same = append(same, wire(2, 7))
	}
	for format, dict := range map[string][]byte{"godot3": wire(18, 1, 4, "a", 2, 1), "godot4": wire(27, 1, 4, "a", 2, 1)} {
		t.Run(format, func(t *testing.T) {
			in := framed(append(same[:len(same):len(same)], dict, wire(2, 6))...)
			var out, errs bytes.Buffer
			require.Zero(t, run([]string{"check", "-json"}, bytes.NewReader(in), &out, &errs), errs.String())
			out.Reset()
			require.Zero(t, run([]string{"json"}, bytes.NewReader(in), &out, &errs), errs.String())
			require.True(t, strings.HasSuffix(out.String(), "\"i:7\"\n{\"type\":\"Dictionary\",\"args\":[\"s:a\",\"i:1\"]}\n\"i:6\"\n"))
			require.Empty(t, errs.String())
		})
	}
}

// TestDamagedSave flips each bit of a save. check reports an error, or the format of the save.
func TestDamagedSave(t *testing.T) {
	id := func(n int) []byte { return wire(27, 1, 4, "id", 2, n) }
	save := framed(slices.Concat(wire(27, 3, 4, "name", 4, "Ada", 4, "hp", 2, 10, 4, "items", 28, 3), id(1), id(2), id(3)))
	good := 0
	for bit := 0; bit < 8*len(save); bit += testenv.Cases(3, 1) {
		save[bit/8] ^= 1 << (bit % 8)
		r := checkBytes(save)
		if r.status == statusGood {
			good++
			if !strings.Contains(strings.Replace(r.out, "(perhaps ", "(", 1), "after a header of 4 bytes (size at 0") { // a size of itself, too
				require.Contains(t, r.out, "format  godot4, frame u32", "bit %d: %s", bit, r.err)
			}
		}
		save[bit/8] ^= 1 << (bit % 8)
	}
	t.Log(good, "of", 8*len(save), "are still valid")
}

// checkBytes runs check without flags.
func checkBytes(b []byte) result {
	var out, errs bytes.Buffer
	status := run([]string{"check"}, bytes.NewReader(b), &out, &errs)
	return result{status, out.String(), errs.String()}
}

// TestTrailingBytes: bytes after the value of a recognized packet are damage. With flags
// they are accepted, as by engines.
func TestTrailingBytes(t *testing.T) {
	save := framed(wire(27, 1, 4, "hp", 2, 10), wire(27, 1, 4, "hp", 2, 10, 0), wire(2, 5))
	r := checkBytes(save)
	require.Equal(t, statusBad, r.status)
	require.Contains(t, r.err, "standard input is damaged, probably godot4, packets with length (-frame u32)")
	require.Contains(t, r.out, "packets  2 good, 1 bad")
	require.Contains(t, r.out, "offset 64, $: 4 bytes follow the value in its packet")
	r = runWith(save, "check", "-frame", "u32")
	require.Equal(t, statusGood, r.status)
	require.Contains(t, r.out, "4 after values")
}

// TestManySmallPackets: a file of small packets needs little memory, also if none of them
// decides on the format.
func TestManySmallPackets(t *testing.T) {
	blocks := testenv.Cases(300, 3000)
	for name, packet := range map[string][]byte{
		"int": wire(2, 5), "float": wire(0x10003, 0.1), "Color or Plane": wire(14, float32(1), float32(2), float32(3), float32(4)),
	} {
		t.Run(name, func(t *testing.T) {
			block := bytes.Repeat(framed(packet), 1000)
			require.Less(t, peakOf(t, []string{"check"}, func(yield func([]byte) bool) {
				more := yield(bytes.Repeat(framed(wire(2, 5)), 1000)) // which is recognized
				for i := 0; i < blocks && more; i++ {
					more = yield(block)
				}
			}), maxPeak)
		})
	}
}

// TestUndecidedFloats: any number of floats leaves the format open.
func TestUndecidedFloats(t *testing.T) {
	in := append(bytes.Repeat(framed(wire(0x10003, 0.1)), 3<<12), framed(wire(18, 1, 4, "a", 2, 1))...)
	r := checkBytes(in)
	require.Equal(t, statusGood, r.status, r.err)
	require.Contains(t, r.out, "format  godot3")
}

// A file of FastLZ is recognized by its values also if flags tell how these are read. A pipe with such flags is not waited for.
func TestFastLZWithFlags(t *testing.T) {
	packed := must(fileaccess.Compress(nil, wire(27, 1, 4, "hp", 2, 10), fileaccess.FastLZ))(t)
	name := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.WriteFile(name, packed, 0o600))
	flags := []string{"-format", "godot4", "-frame", "none"}
	r := runWith(nil, append([]string{"get", "hp", name}, flags...)...)
	require.Equal(t, result{statusGood, "10\n", ""}, r)
	r = runWith(nil, append([]string{"set", "hp = 11", name, "-o", name}, flags...)...)
	require.Zero(t, r.status, r.err)
	now := must(os.ReadFile(name))(t)
	require.Equal(t, must(fileaccess.Compress(nil, wire(27, 1, 4, "hp", 2, 11), fileaccess.FastLZ))(t), now)
	require.Equal(t, result{statusGood, "10\n", ""}, runWith(packed, append([]string{"get", "hp", "-compressed", "fastlz"}, flags...)...))
}
