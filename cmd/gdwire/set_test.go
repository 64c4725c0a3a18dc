package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/stretchr/testify/require"
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
					f(name+save.ContainerText(info), w.Bytes())
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

// setWith runs set with a file of these bytes.
func setWith(t testing.TB, b []byte, lines string, args ...string) result {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, b, 0o600))
	return runWith([]byte(lines), append(append([]string{"set"}, args...), file)...)
}

func TestCommandSet(t *testing.T) {
	flags := []string{"-format", "godot4", "-frame", "none", "-objects"}
	value := wire(27, 2, 4, "hp", 2, 10, 4, "name", 4, "Ada")
	for _, c := range []struct {
		name, line string
		in, out    []byte
		err        string
	}{
		{"int", "hp = 11", value, wire(27, 2, 4, "hp", 2, 11, 4, "name", 4, "Ada"), "$.hp: 11, was 10"},
		{"other type", "$.name = Vector2(1, 2.5)", value, wire(27, 2, 4, "hp", 2, 10, 4, "name", 5, float32(1), float32(2.5)), `was "Ada"`},
		{"the same", "hp = 10", value, value, "nothing changed: "},
		{"empty containers", "hp = Array[int]([])", value, wire(27, 2, 4, "hp", 0x1001c, 2, 0, 4, "name", 4, "Ada"), "was 10"},
		{"several", "hp = 1\n\n$.name = &\"x\"\r\n", value, wire(27, 2, 4, "hp", 2, 1, 4, "name", 21, "x"), "was"},
		{"property", "name = null", wire(24, "Node", 1, "name", 4, "x"), wire(24, "Node", 1, "name", 0), `was "x"`},
		{"serialized object", `hp = Object("Node", {"name": "a", "b": [1]})`, value, wire(27, 2, 4, "hp", 24, "Node", 2, "name", 4, "a", "b", 28, 1, 2, 1, 4, "name", 4, "Ada"), `$.hp: Object("Node", {"name": "a", "b": [1]}), was 10`},
		{"serialized object without properties", `hp = Object("Node", {})`, value, wire(27, 2, 4, "hp", 24, "Node", 0, 4, "name", 4, "Ada"), `$.hp: Object("Node", {}), was 10`},
		{"padding of a NodePath is kept", "[0] = 6", wire(28, 2, 2, 5, 22, uint32(0x80000001), 0, 0, 1, []byte("aXYZ")), wire(28, 2, 2, 6, 22, uint32(0x80000001), 0, 0, 1, []byte("aXYZ")), "was 5"},

		{"not there", "mp = 1", value, nil, "there is no $.mp"},
		{"no packet", "$3 = 1", value, nil, "there is no $3"},
		{"equal keys", "a = 1", wire(27, 2, 4, "a", 0, 21, "a", 0), nil, "there are 2 values at $.a; .value(n) is the value of the n-th pair"},
		{"twice", "hp = 1\n.hp = 2", value, nil, "$.hp occurs twice"},
		{"a value and one in it", "$ = 1\n$.hp = 2", value, nil, "both $ and a value in it are edited"},
		{"wrong element", "[0] = 1.5", wire(30, 1, 120), nil, "$[0] is of type int, as all in a PackedInt32Array, and not float; write a value such as 120\n"},
		{"number for text", "[0] = 5", wire(34, 1, "a\x00"), nil, "$[0] is of type String, as all in a PackedStringArray, and not int; text is in quotes: '$[0] = \"5\"'\n"},
		{"not a line", "hp", value, nil, `line 1: "hp", column 3: want = and a value`},
		{"bad input", "hp = 1", wire(27, 2, 4, "hp", 2, 10, 99), nil, "offset 28"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := setWith(t, c.in, c.line, flags...)
			require.Contains(t, r.err, c.err)
			if c.out == nil {
				require.Equal(t, statusBad, r.status)
				require.Empty(t, r.out)
				return
			}
			require.Zero(t, r.status, r.err)
			require.Equal(t, hex.EncodeToString(c.out), hex.EncodeToString([]byte(r.out)))
			require.Equal(t, c.err == "", r.err == "")
		})
	}
	for _, object := range []string{`Object("Node", {})`, `[{"a": Object("Node", {"b": 1})}]`} {
		r := setWith(t, value, "hp = "+object, flags[:4]...)
		require.Equal(t, statusBad, r.status)
		require.Contains(t, r.err, "$.hp: serialized objects are not allowed")
	}
}

// TestSkipHeader: commands that write keep the header that -skip passes over, in a compressed file or before one.
func TestSkipHeader(t *testing.T) {
	const header = "\x06\x00\x00\x00MYGAME\x01\x00\x00\x00"
	long := strings.Repeat("a long text ", 5)
	before := framed(wire(27, 2, 4, "hp", 2, 10, 4, "text", 4, long))
	zstd := fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}
	pack := func(info fileaccess.Info, b []byte) []byte {
		var out bytes.Buffer
		w := must(fileaccess.NewWriter(&out, info, nil))(t)
		must(w.Write(b))(t)
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	for _, c := range []struct {
		args  []string
		after []byte
	}{
		{[]string{"set", "hp = 11"}, framed(wire(27, 2, 4, "hp", 2, 11, 4, "text", 4, long))},
		{[]string{"add", "mp = 1"}, framed(wire(27, 3, 4, "hp", 2, 10, 4, "text", 4, long, 4, "mp", 2, 1))},
		{[]string{"delete", "hp"}, framed(wire(27, 1, 4, "text", 4, long))},
		{[]string{"copy", "hp", "mp"}, framed(wire(27, 3, 4, "hp", 2, 10, 4, "text", 4, long, 4, "mp", 2, 10))},
		{[]string{"recode", "-to", "godot3"}, framed(wire(18, 2, 4, "hp", 2, 10, 4, "text", 4, long))},
	} {
		args := append([]string{"-q", "-skip", "14"}, c.args[1:]...)
		for _, info := range []fileaccess.Info{{}, zstd, {Container: fileaccess.Raw, Mode: fileaccess.Zstd}} {
			for _, inside := range []bool{true, false} {
				in, want := pack(info, append([]byte(header), before...)), pack(info, append([]byte(header), c.after...))
				if !inside {
					in, want = append([]byte(header), pack(info, before)...), append([]byte(header), pack(info, c.after)...)
				}
				name := filepath.Join(t.TempDir(), "save")
				require.NoError(t, os.WriteFile(name, in, 0o600))
				var out, errs bytes.Buffer
				require.Zero(t, run(append(append([]string{c.args[0]}, args...), name), nil, &out, &errs), "%v %v: %s", c.args, info, &errs)
				require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(out.Bytes()), "%v %v", c.args, info)
			}
		}
	}
}

// FuzzSet: setting all lines of flat changes no byte.
func FuzzSet(f *testing.F) {
	most := testenv.Cases(60, 300)
	for folder := range engines {
		for i, v := range vectors(f, folder) {
			if len(v.Hex) < most && (i%3 == 0 || testenv.Full()) {
				f.Add([]byte(v.Hex))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if content, err := fileaccess.Decompress(nil, b, fileaccess.FastLZ, 1<<20); err == nil && len(content) >= 16 {
			return // perhaps a file that a script compressed
		}
		flags := []string{"-format", "godot4", "-frame", "none", "-objects", "-any-utf8"}
		lines := runWith(b, append([]string{"flat"}, flags...)...)
		if lines.status != statusGood {
			return
		}
		r := setWith(t, b, lines.out, append(flags, "-q")...)
		for _, allowed := range []string{"values at", "occurs twice", "a value in it are edited"} { // equal keys
			if strings.Contains(r.err, allowed) {
				return
			}
		}
		if r.status != statusGood || r.out != string(b) || r.err != "" {
			t.Fatalf("%x\n%s\nbecame %x\n%s", b, lines.out, r.out, r.err)
		}
		if lines.out != "" && !strings.Contains(lines.out, text.Ellipsis) { // a NodePath or key can contain it, too
			requireSetKeeps(t, b, "$", append(flags, "-q")...)
		}
	})
}

// requireSetKeeps checks that set with what get prints of a path changes no byte.
func requireSetKeeps(t *testing.T, b []byte, path string, flags ...string) {
	file := filepath.Join(t.TempDir(), "value")
	require.NoError(t, os.WriteFile(file, b, 0o600))
	got := runWith(nil, append([]string{"get", path, file}, flags...)...)
	require.Zero(t, got.status, "%x: %s", b, got.err)
	r := runWith(nil, append([]string{"set", path + " = " + strings.TrimSuffix(got.out, "\n"), file}, flags...)...)
	require.Zero(t, r.status, "%x: %s: %s: %s", b, path, got.out, r.err)
	require.Equal(t, hex.EncodeToString(b), hex.EncodeToString([]byte(r.out)), "%s = %s", path, got.out)
}

// TestSetWhatGetPrints: what get prints is that value for set, of all values that engines wrote, and of random saves.
func TestSetWhatGetPrints(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for folder, format := range engines {
		flags := []string{"-format", format, "-frame", "u32", "-objects"}
		for _, v := range sample(t, folder) {
			b := framed([]byte(v.Hex))
			requireSetKeeps(t, b, "$", flags...)
			lines := strings.Split(strings.TrimSuffix(runWith(b, append([]string{"flat"}, flags...)...).out, "\n"), "\n")
			p, _ := must2(text.ParseLine(lines[random.IntN(len(lines))]))(t)
			p.Steps = p.Steps[:random.IntN(len(p.Steps)+1)]
			if v.Name != "dict_equal_keys" {
				requireSetKeeps(t, b, p.String(), flags...)
			}
		}
	}
	saves := testenv.Cases(100, 3000)
	for range saves {
		requireSetKeeps(t, gdwiretest.Encode(t, randomSave(random, 3)), "$", "-format", "godot4", "-frame", "none")
	}
	for name, b := range map[string][]byte{
		"the padding of a NodePath": wire(28, 2, 2, 5, 22, uint32(0x80000001), 0, 0, 1, []byte("aXYZ")),
		"64 bits that 32 can hold":  wire(28, 2, 0x10002, int64(5), 0x10003, 0.5),
		"a header with other bits":  wire(0x30303018, "", 0),
		"equal keys":                wire(27, 3, 4, "a", 0, 21, "a", 0, 4, "a", 2, 7),
		"text that is native JSON":  wire(28, 2, 4, "i:87", 27, 2, 4, "type", 4, "int", 4, "args", 28, 0),
		"NaN":                       wire(28, 1, 0x10003, uint64(0x7ff8000000000123)),
	} {
		t.Run(name, func(t *testing.T) { requireSetKeeps(t, b, "$", "-format", "godot4", "-frame", "none", "-objects") })
	}
}

// TestEditZeroedEnds: a file whose first 64 KiB are good and whose end became zeros is edited only where
// flags say what it is.
func TestEditZeroedEnds(t *testing.T) {
	value := wire(28, 30_000)
	for range 30_000 {
		value = append(value, wire(2, 7)...)
	}
	value = append(value, make([]byte, 80)...)
	file := filepath.Join(t.TempDir(), "save")
	require.NoError(t, os.WriteFile(file, value, 0o600))
	for _, args := range [][]string{{"set", "$[0] = 8"}, {"add", "$[0] = 8"}, {"delete", "$[0]"}, {"copy", "$[0]", "$[1]"}} {
		r := runWith(nil, append(args, file)...)
		require.Equal(t, statusBad, r.status, r.err)
		require.Contains(t, r.err, "save is damaged: zeros from offset")
		require.Empty(t, r.out)
		if args[0] == "set" {
			r = runWith(nil, append(args, "-format", "godot4", "-frame", "none", file)...)
			require.Zero(t, r.status, r.err)
			require.Len(t, r.out, len(value))
		}
	}
}
