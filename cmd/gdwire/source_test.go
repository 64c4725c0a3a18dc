package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/recognize"
	"github.com/gdwire/gdwire/fileaccess"
)

// recognized opens a file, or the same bytes as a pipe, and returns the options
// with everything recognized in them.
func recognized(t *testing.T, name string, pipe bool, key *fileaccess.Key) (*options, error) {
	var out, errs bytes.Buffer
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	s := newScreen(struct{ *os.File }{f}, &out, &errs)
	o := newOptions()
	o.key = key
	if pipe {
		name = "-"
	}
	in, err := s.open(name, o)
	if err == nil {
		in.Close()
	}
	return o, err
}

// TestWrapped recognizes vectors of engines in every container, from files and
// pipes.
func TestWrapped(t *testing.T) {
	key := fileaccess.PasswordKey("hunter2")
	var infos []fileaccess.Info
	for m := fileaccess.FastLZ; m <= fileaccess.Gzip; m++ {
		infos = append(infos, fileaccess.Info{Container: fileaccess.Compressed, Mode: m})
	}
	infos = append(infos, fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.Godot4}, fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.Godot3})
	file := filepath.Join(t.TempDir(), "file")
	files := 0
	for folder, format := range engines {
		for i, v := range vectors(t, folder) {
			if testing.Short() && i%10 > 0 {
				continue
			}
			b := v.bytes(t)
			for _, frame := range frames {
				content := map[recognize.Frame][]byte{recognize.Bare: b, recognize.U32: framed(b), recognize.U32BE: framedBig(b)}[frame]
				want := recognize.Recognize(&recognize.Input{Head: content[:min(len(content), recognize.HeadSize)], Size: int64(len(content)), At: bytes.NewReader(content)})
				for _, info := range infos {
					var w bytes.Buffer
					c, err := fileaccess.NewWriter(&w, info, key)
					require.NoError(t, err)
					_, err = c.Write(content)
					require.NoError(t, err)
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
						require.Equal(t, info.Container, o.container.Container)
						require.Equal(t, want.Readings[0].Frame, o.frame)
						require.True(t, want.Readings[0].Format == o.decoder.Format, "%s %v", v.Name, info)
						if want.Certainty == recognize.Sure {
							require.Equal(t, frame, o.frame)
							require.Contains(t, want.Readings, recognize.Reading{Format: gdwire.FormatByName(format), Frame: frame})
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
	for folder, format := range map[string]*gdwire.Format{"godot3.2.3": gdwire.Godot3, "godot4.6": gdwire.Godot4} {
		names, err := filepath.Glob(testdata("containers", folder) + "/save_*")
		require.NoError(t, err)
		require.Len(t, names, 7)
		for _, name := range names {
			key := fileaccess.PasswordKey("hunter2")
			if strings.Contains(name, "key") {
				for i := range key {
					key[i] = byte(i)
				}
			}
			for _, pipe := range []bool{false, true} {
				o, err := recognized(t, name, pipe, key)
				require.NoError(t, err)
				require.True(t, format == o.decoder.Format, name)
				require.Equal(t, recognize.U32, o.frame)
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

// TestPasswordFiles reads passwords and keys as editors and shells write them.
func TestPasswordFiles(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "a\n": "a", "a\r\n": "a", "a\n\n": "a\n", " a ": " a ", "\ufeffa\n": "a", "": "", "a\r": "a",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			require.Equal(t, want, string(trimPassword([]byte(text))), "%q", text)
		})
	}
	file := filepath.Join(t.TempDir(), "key")
	for text, ok := range map[string]bool{
		strings.Repeat("k", 32): true, strings.Repeat("0f", 32): true, strings.Repeat("0f", 32) + "\r\n": true,
		strings.Repeat("k", 31): false, strings.Repeat("0g", 32): false, "": false,
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			_, err := readKey(file)
			require.Equal(t, ok, err == nil, text)
		})
	}
}

// TestNoControlCharacters: no output of any command holds a character that a
// terminal obeys.
func TestNoControlCharacters(t *testing.T) {
	const evil = "\x1b[31m\x07\x7f\u009b2J\u202e\u2066\r"
	file := filepath.Join(t.TempDir(), "evil")
	value := wire(27, 4, 4, evil, 4, evil, 21, evil, 22, uint32(0x80000001), 0, 0, evil, 4, "m", 34, 1, evil+"\x00", 4, "s", 26, evil, uint64(0))
	require.NoError(t, os.WriteFile(file, framed(value, wire(27, 1, 4, evil, 99), wire(0x2001c, evil, 1, 99), wire(24, evil, 1, evil, 99)), 0o600))
	for _, args := range []string{
		"tokens", "json", "json -plain", "json -indent", "flat", "check", "check -json", "get $", "get m[0]", "get nothing", "set m[0]=1", "set m[0]='x'", "recode -to godot3",
		"encode -like FILE", "unwrap", "json -frame u64",
	} {
		t.Run(args, func(t *testing.T) {
			words := strings.Fields(strings.Replace(args, "FILE", file, 1))
			words = append(words, "-format", "godot4", "-objects")
			if !strings.Contains(args, "-frame") {
				words = append(words, "-frame", "u32")
			}
			if words[0] != "encode" {
				words = append(words, file)
			}
			if words[0] == "set" || words[0] == "recode" {
				words = append(words, "-o", file+".out")
			}
			r := runWith(nil, words...)
			for _, c := range "\x1b\x07\x7f\u009b\u202e\u2066\r" {
				require.NotContains(t, r.out+r.err, string(c))
			}
		})
	}
	r := runWith(nil, "json", "no\x1bfile")
	require.Contains(t, r.err, `no\x1bfile`)
}
