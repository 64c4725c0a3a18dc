package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

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

func TestInputFails(t *testing.T) {
	in := io.MultiReader(bytes.NewReader(wire(2, 5, 4)), &failingReader{})
	for _, framing := range []string{"none", "u32"} {
		t.Run(framing, func(t *testing.T) {
			var out, errs bytes.Buffer
			require.Equal(t, statusBad, run(fixed([]string{"json", "-frame", framing}), in, &out, &errs))
			require.Equal(t, "gdwire: cable cut\n", errs.String())
		})
	}
}

func TestOutputFails(t *testing.T) {
	value := wire(0x1d, 400_000, make([]byte, 400_000))
	two := append(value[:len(value):len(value)], value...)
	for _, args := range []string{"tokens", "json", "check -json", "recode", "check"} {
		for _, left := range []int{0, 10, 100_000} {
			for _, framing := range []string{"none", "u32"} {
				in := two
				if framing == "u32" {
					in = framed(value, value)
				}
				t.Run(fmt.Sprint(args, " ", framing, " ", left), func(t *testing.T) {
					args := append(strings.Fields(args), "-frame", framing)
					var errs bytes.Buffer
					status := run(fixed(args), bytes.NewReader(in), &failing{left, errors.New("disk full")}, &errs)
					if left == 100_000 && errs.Len() == 0 {
						require.Zero(t, status) // it was enough
						return
					}
					require.Equal(t, statusBad, status)
					require.Equal(t, "gdwire: disk full\n", errs.String())

					errs.Reset()
					status = run(fixed(args), bytes.NewReader(in), &failing{left, syscall.EPIPE}, &errs)
					require.Equal(t, statusBad, status)
					require.Empty(t, errs.String(), "a closed pipe is no news")
				})
			}
		}
	}
}

// eachWrapped calls f with a sample of the vectors, as a bare value and as two packets, in
// no container, compressed and encrypted.
func eachWrapped(t *testing.T, key *fileaccess.Key, f func(name string, content []byte)) {
	infos := []fileaccess.Info{
		{Container: fileaccess.Compressed, Mode: fileaccess.Zstd},
		{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot4},
		{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot3},
	}
	step := testenv.Cases(60, 9)
	for folder := range engines {
		for i, v := range vectors(t, folder) {
			if i%step > 0 {
				continue
			}
			b := []byte(v.Hex)
			for frame, content := range map[string][]byte{"none": b, "u32": framed(b, b), "u32be": framedBig(b, b)} {
				name := strings.Join([]string{folder, v.Name, frame}, " ")
				f(name, content)
				for _, info := range infos {
					var w bytes.Buffer
					c := must(fileaccess.NewWriter(&w, info, key))(t)
					must(c.Write(content))(t)
					require.NoError(t, c.Close())
					f(name+open.ContainerText(&info), w.Bytes())
				}
			}
		}
	}
}

// TestPipes: of a pipe that delivers single bytes, commands print what they print of the
// file. A bare value that begins like a packet can be recognized as one, because a pipe is
// recognized after its first packet; then they say that this is only probable.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	file, password := filepath.Join(dir, "file"), filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(password, []byte("hunter2"), 0o600))
	runs, unsure := 0, 0
	eachWrapped(t, fileaccess.PasswordKey("hunter2"), func(name string, content []byte) {
		require.NoError(t, os.WriteFile(file, content, 0o600))
		for _, command := range []string{"json", "tokens", "flat", "check -json"} {
			args := append(strings.Fields(command), "-password-file", password)
			var want, wantErrs, got, gotErrs bytes.Buffer
			wantStatus := run(append(args, file), nil, &want, &wantErrs)
			gotStatus := run(args, iotest.OneByteReader(bytes.NewReader(content)), &got, &gotErrs)
			if runs++; got.String() == want.String() && gotStatus == wantStatus {
				continue
			}
			require.Regexp(t, "standard input is probably", gotErrs.String(), "%s of %s: status %d, not %d\n%s", command, name, gotStatus, wantStatus, wantErrs.String())
			t.Logf("%s of %s: %s", command, name, gotErrs.String())
			unsure++
		}
	})
	t.Log(runs, "runs,", unsure, "different but not sure")
	require.LessOrEqual(t, unsure, runs/200)
}
