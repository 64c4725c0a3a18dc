package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire encodes its parts: an int as 32 bits, a string as length, text and padding, and other
// numbers and bytes unchanged.
func wire(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = binary.LittleEndian.AppendUint32(b, uint32(p))
		case string:
			b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
			b = append(b, p...)
			for len(b)%4 != 0 {
				b = append(b, 0)
			}
		default:
			var w bytes.Buffer
			if err := binary.Write(&w, binary.LittleEndian, p); err != nil {
				panic(err)
			}
			b = append(b, w.Bytes()...)
		}
	}
	return b
}

// framed returns the packets, each with its length.
func framed(packets ...[]byte) []byte {
	var b []byte
	for _, p := range packets {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

// framedBig is framed with lengths in big-endian.
func framedBig(packets ...[]byte) []byte {
	var b []byte
	for _, p := range packets {
		b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

// A result is the exit status and the output of a run.
type result struct {
	status   int
	out, err string
}

func runWith(stdin []byte, args ...string) result {
	var out, errs bytes.Buffer
	status := run(fixed(args), bytes.NewReader(stdin), &out, &errs)
	return result{status, out.String(), errs.String()}
}

// fixed adds the flags for Godot 4 and values without length, so that nothing is
// recognized.
func fixed(args []string) []string {
	if len(args) == 0 || !slices.Contains([]string{"tokens", "json", "flat", "get", "check", "recode"}, args[0]) {
		return args
	}
	var flags []string
	if !slices.Contains(args, "-format") {
		flags = append(flags, "-format", "godot4")
	}
	if !slices.Contains(args, "-frame") {
		flags = append(flags, "-frame", "none")
	}
	return slices.Insert(slices.Clone(args), 1, flags...)
}

// A testCase is a run and its expected result. Standard error contains err; it is
// empty if err is.
type testCase struct {
	name   string
	args   string
	in     []byte
	status int
	out    string
	err    string
}

func (c *testCase) run(t *testing.T) {
	t.Helper()
	r := runWith(c.in, strings.Fields(c.args)...)
	require.Equal(t, c.out, r.out, r.err)
	require.Equal(t, c.status, r.status, r.err)
	if c.err == "" {
		require.Empty(t, r.err)
	}
	require.Contains(t, r.err, c.err)
}

func runCases(t *testing.T, cases []testCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

// A vector is a line of vectors.jsonl.
type vector struct {
	Name        string
	Hex         string
	Value       struct{ T string }
	NativeJSON  *string `json:"native_json"`
	FullObjects bool    `json:"full_objects"`
}

func (v *vector) bytes(t *testing.T) []byte {
	b, err := hex.DecodeString(v.Hex)
	require.NoError(t, err)
	return b
}

// engines has the format of each folder of testdata.
var engines = map[string]string{
	"godot3.2.3": "godot3", "godot4.3": "godot4", "godot4.7-dev": "godot4", "godot4.7-dev-double": "godot4",
}

func testdata(folder, file string) string { return filepath.Join("..", "..", "testdata", folder, file) }

func vectors(t *testing.T, folder string) (all []vector) {
	f, err := os.Open(testdata(folder, "vectors.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var v vector
		err := d.Decode(&v)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		all = append(all, v)
	}
	require.NotEmpty(t, all)
	return all
}

func TestUsage(t *testing.T) {
	for _, args := range []string{
		"", "frobnicate", "json -format godot5", "json -frame u64", "json -frame", "json -json", "json -n 3",
		"json -max-depth x", "json -max-depth -2", "json -max-depth 1.5K", "json -max-bytes 9999999999G", "json -max-bytes 99999999999999999999", "json a b", "get", "get [ FILE", "set", "set $.a FILE", "recode -to x", "proxy 1", "proxy -frame none 1 2", "encode -plain -like x", "version x",
	} {
		t.Run(args, func(t *testing.T) {
			r := runWith(nil, strings.Fields(args)...)
			require.Equal(t, statusUsage, r.status)
			require.Empty(t, r.out)
			require.Contains(t, r.err, "Usage: gdwire ")
		})
	}
	for _, args := range []string{"help", "-h", "--help", "tokens -h", "json -help", "check --help", "recode -strict -h"} {
		t.Run(args, func(t *testing.T) {
			r := runWith(nil, strings.Fields(args)...)
			require.Equal(t, statusGood, r.status)
			require.Contains(t, r.out, "Usage: gdwire ")
			require.Empty(t, r.err)
		})
	}
	t.Run("all flags are described", func(t *testing.T) {
		help := runWith(nil, "json", "-h").out
		for _, name := range strings.Fields(`format frame objects strict any-utf8 double
			max-depth max-elements max-values max-string max-name max-packed max-bytes max-packet max-content`) {
			require.Contains(t, help, "  -"+name+" ")
		}
		require.NotContains(t, help, "`")
	})
}

func TestFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "five")
	require.NoError(t, os.WriteFile(file, wire(2, 5), 0o600))
	runCases(t, []testCase{
		{name: "file", args: "json " + file, out: "\"i:5\"\n"},
		{name: "standard input", args: "json", in: wire(2, 6), out: "\"i:6\"\n"},
		{name: "standard input by name", args: "json -", in: wire(2, 6), out: "\"i:6\"\n"},
		{name: "no file", args: "json " + file + "x", status: statusBad, err: "five"},
		{name: "empty", args: "json"},
		{name: "empty frames", args: "json -frame u32"},
		{name: "empty tokens", args: "tokens"},
		{name: "empty recode", args: "recode"},
	})
}

// failing is a file that accepts a number of bytes and then fails.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if n < len(p) {
		return n, f.err
	}
	return n, nil
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

type failingReader struct{}

func (*failingReader) Read([]byte) (int, error) { return 0, errors.New("cable cut") }

// TestPlain: without a terminal, the output has no escape sequences for any input.
func TestPlain(t *testing.T) {
	in := framed(wire(4, "\x1b[31mred\x07"), wire(27, 1, 4, "\x1b]0;title\x07", 99), wire(2, 7), wire(28, 1),
		wire(0x2001c, "\x1b[2J\n", 0), wire(26, "\x1b", uint64(0)), wire(0x6001b, "\x07", 2, 0), wire(22, uint32(0x80000001), 0, 0, "\x1b"))
	for _, command := range []string{"tokens", "json", "check", "check -json"} {
		t.Run(command, func(t *testing.T) {
			r := runWith(in, append(strings.Fields(command), "-frame", "u32")...)
			require.Equal(t, statusBad, r.status)
			require.NotContains(t, r.out+r.err, "\x1b")
			require.NotContains(t, r.out+r.err, "\x07")
		})
	}
}

// TestLive: a packet is shown before the next one arrives.
func TestLive(t *testing.T) {
	for _, command := range []string{"tokens", "json", "check -json"} {
		t.Run(command, func(t *testing.T) {
			in, feed := io.Pipe()
			shown, out := io.Pipe()
			done := make(chan int)
			go func() {
				done <- run(fixed(append(strings.Fields(command), "-frame", "u32")), in, out, io.Discard)
				out.Close()
			}()
			line := make([]byte, 200)
			large := wire(34, 1, "x\x00", make([]byte, 40_000)) // bytes follow its value
			for _, packet := range [][]byte{wire(2, 5), large, wire(2, 5)} {
				_, err := feed.Write(framed(packet))
				require.NoError(t, err)
				_, err = shown.Read(line)
				require.NoError(t, err)
			}
			feed.Close()
			go io.Copy(io.Discard, shown)
			require.Zero(t, <-done)
		})
	}
}

// TestVerdicts: all views agree on the valid packets, and show a line for each.
func TestVerdicts(t *testing.T) {
	for _, folder := range []string{"godot3.2.3", "godot4.3", "godot4.7-dev"} {
		var packets [][]byte
		text, err := os.ReadFile(testdata(folder, "verdicts.jsonl"))
		require.NoError(t, err)
		for line := range bytes.Lines(text) {
			var v vector
			require.NoError(t, json.Unmarshal(line, &v))
			packets = append(packets, v.bytes(t))
		}
		for _, flags := range []string{"", "-strict", "-objects", "-any-utf8"} {
			view := func(command string) []string {
				args := strings.Fields(command + " -frame u32 -format " + engines[folder] + " " + flags)
				r := runWith(framed(packets...), args...)
				require.Equal(t, statusBad, r.status)
				return strings.SplitAfter(strings.TrimSuffix(r.out, "\n"), "\n")
			}
			checked, shown := view("check -json"), view("json")
			require.Len(t, checked, len(packets))
			require.Len(t, shown, len(packets))
			tokens := strings.Join(view("tokens"), "")
			require.Equal(t, len(packets), strings.Count(tokens, "packet "))
			good, noJSON := 0, 0
			for i, line := range checked {
				var v struct{ OK bool }
				require.NoError(t, json.Unmarshal([]byte(line), &v))
				if v.OK {
					good++
					if flags == "-any-utf8" {
						continue // JSON is UTF-8
					}
					if !json.Valid([]byte(shown[i])) { // a NodePath that cannot be read back from its text
						require.Contains(t, shown[i], `"np:`)
						noJSON++
					}
				}
			}
			require.Greater(t, good, 50)
			require.Less(t, noJSON, 5)
		}
	}
}
