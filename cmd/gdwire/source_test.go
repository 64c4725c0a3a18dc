package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/recognize"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

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
			if !strings.Contains(r.out, "after a header of 4 bytes (size at 0") { // a size of itself, too
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
