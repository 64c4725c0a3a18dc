package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

func TestRecode(t *testing.T) {
	five, bad := wire(2, 5), wire(28, 2, 2, 1, 99)
	lenient := wire(0xff01, 7) // a bool that engines read, and write otherwise
	runCases(t, []testCase{
		{name: "values", args: "recode", in: append(lenient, five...), out: string(wire(1, 1, 2, 5))},
		{name: "stops unfinished", args: "recode", in: append(wire(2, 5), bad...), out: string(append(wire(2, 5), bad[:16]...)),
			status: statusBad, err: "gdwire: offset 24, $[1]: unknown godot4 type id"},
		{name: "frames", args: "recode -frame u32", in: framed(lenient, bad, nil, five, five), out: string(framed(wire(1, 1), five, five)),
			status: statusBad, err: "offset 32, $[1]: unknown godot4 type id 99\ngdwire: offset 40, $: empty packet: unexpected EOF\n"},
		{name: "bytes after a value", args: "recode -frame u32", in: framed(five, wire(2, 5, 0), five), out: string(framed(five, five)),
			status: statusBad, err: "gdwire: offset 24, $: 4 bytes follow the value in its packet"},
		{name: "header", args: "recode -skip 5", in: append([]byte("SAVE1"), lenient...), out: "SAVE1" + string(wire(1, 1))},
		{name: "header, frames", args: "recode -skip 5 -frame u32 -to u32be", in: append([]byte("SAVE1"), framed(five, five)...), out: "SAVE1" + string(framedBig(five, five))},
		{name: "header only", args: "recode -skip 5", in: []byte("SAVE1"), out: "SAVE1", status: statusBad, err: "the input is empty"},
		{name: "no header", args: "recode -skip 5", in: []byte("SAVE"), status: statusBad, err: "standard input has 4 bytes, and 5 are to be skipped"},
		{name: "strict frames", args: "recode -frame u32 -strict", in: framed(wire(2, 5, 0), five), out: string(framed(five)), status: statusBad, err: "offset 12, $: not canonical"},
		{name: "big-endian", args: "recode -frame u32be", in: framedBig(lenient, five), out: string(framedBig(wire(1, 1), five))},
		{name: "frame too long", args: "recode -frame u32 -max-packet 8", in: framed(five, bad, five), out: string(framed(five, five)), status: statusBad, err: "exceeds"},
		{name: "frame cut", args: "recode -frame u32", in: framed(five, five)[:22], out: string(framed(five)), status: statusBad, err: "offset 22, $: the packet is cut: 2 of its 8 bytes are missing: unexpected EOF"},
		{name: "frame grows", args: "recode -frame u32 -max-packet 9", in: framed(wire(29, 1, []byte{7})), out: string(framed(wire(29, 1, []byte{7, 0, 0, 0})))},
		{name: "frames to another format", args: "recode -format godot4 -frame u32 -to godot3", in: framed(five, bad, wire(21, "a"), five), out: string(framed(five, five)),
			status: statusBad, err: "offset 32, $[1]: unknown godot4 type id 99\ngdwire: offset 40, $2: godot3 has no StringName; it would become a String; -lossy writes that\n"},
		{name: "lossy frames", args: "recode -format godot4 -frame u32 -to godot3 -lossy", in: framed(five, bad, wire(21, "a"), five), out: string(framed(five, wire(4, "a"), five)),
			status: statusBad, err: "offset 32, $[1]: unknown godot4 type id 99\ngdwire: $2: StringName became a String\n"},
		{name: "lossy and quiet", args: "recode -format godot4 -frame none -to godot3 -lossy -q", in: wire(21, "a"), out: string(wire(4, "a"))},
		{name: "not of Godot 4", args: "recode -format godot2 -to godot4 -lossy", in: wire(15, 0, 0, 0, 0, 0), status: statusBad, err: "gdwire: offset 0, $: godot4 has no Image\n"},
		{name: "any UTF-8", args: "recode -any-utf8", in: wire(4, "\xff\xc3"), out: string(wire(4, "\xff\xc3"))},
		{name: "objects", args: "recode -objects", in: wire(24, "Resource", 1, "a", 0), out: string(wire(24, "Resource", 1, "a", 0))},
		{name: "godot2", args: "recode -format godot2",
			in:  wire(15, 3, 1, 2, 1, 5, []byte{1, 2, 3, 4, 5, 0, 0, 0}, 19, 1, 2, 20, 1<<25, 65, 17, 21, uint32(0x80000000), 16, uint32(0x80000001), 0, 3, "a", "p"),
			out: string(wire(15, 3, 1, 2, 1, 5, []byte{1, 2, 3, 4, 5, 0, 0, 0}, 19, 1, 2, 20, 1<<25, 65, 17, 21, uint32(0x80000000), 16, uint32(0x80000001), 0, 3, "a", "p"))},
		{name: "double", args: "recode -format manual3 -double", in: wire(5, 0.1, math.Pi, 2, int64(1)), out: string(wire(5, 0.1, math.Pi, 2, int64(1)))},
		{name: "manual4", args: "recode -format manual4", in: wire(15, "/a:b", 17, "", 0x10002, int64(1)<<40), out: string(wire(15, "/a:b", 17, "", 0x10002, int64(1)<<40))},
	})
}

// TestRecodeVectors: vectors of engines are written byte for byte as they were.
func TestRecodeVectors(t *testing.T) {
	for folder, format := range engines {
		for _, v := range vectors(t, folder) {
			b := []byte(v.Hex)
			flags := []string{"-format", format, "-objects"}
			r := runWith(b, append([]string{"recode"}, flags...)...)
			require.Zero(t, r.status, "%s %s: %s", folder, v.Name, r.err)
			written := []byte(r.out)
			shown := runWith(b, append([]string{"tokens"}, flags...)...)
			if (folder == "godot3.2.3" || folder == "godot4.3") && strings.Contains(shown.out, "NodePathStart") {
				// They leave memory content in the padding of NodePaths.
				require.Equal(t, shown.out, runWith(written, append([]string{"tokens"}, flags...)...).out)
			} else {
				require.True(t, bytes.Equal(b, written), "%s %s", folder, v.Name)
			}

			if format == "godot4" { // Godot 3 has a counterpart of each value
				r = runWith(b, append([]string{"recode", "-to", "godot3", "-lossy"}, flags...)...)
				require.Zero(t, r.status, "%s %s: %s", folder, v.Name, r.err)
				r = runWith([]byte(r.out), "check", "-q", "-strict", "-objects", "-format", "godot3", "-frame", "none")
				require.Zero(t, r.status, "%s %s: %s", folder, v.Name, r.err)
			}

			r = runWith(framed(b, b), append([]string{"recode", "-frame", "u32"}, flags...)...)
			require.Zero(t, r.status, r.err)
			require.True(t, bytes.Equal(framed(written, written), []byte(r.out)), "%s %s", folder, v.Name)
		}
	}
}

// TestRecodeFiles: files that engines wrote are written as they did.
func TestRecodeFiles(t *testing.T) {
	for _, c := range []struct{ folder, file, flags string }{
		{"godot3.2.3", "put_var.bin", "-format godot3 -frame u32"},
		{"godot3.2.3", "store_var.bin", "-format godot3 -frame u32"},
		{"godot4.3", "put_var.bin", "-frame u32"},
		{"godot4.7-dev", "put_var.bin", "-frame u32"},
		{"godot4.7-dev", "store_var.bin", "-frame u32"},
		{"godot4.7-dev", "save_game_large.bin", ""},
	} {
		file := testdata(c.folder, c.file)
		b := must(os.ReadFile(file))(t)
		r := runWith(nil, strings.Fields("recode -strict "+c.flags+" "+file)...)
		require.Zero(t, r.status, r.err)
		require.True(t, bytes.Equal(b, []byte(r.out)), file)
	}
}

func TestUnwrap(t *testing.T) {
	plain := wire(27, 1, 4, "hp", 2, 10)
	file := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(file, plain, 0o600))
	for _, container := range []string{"zstd", "fastlz", "deflate", "gzip", "raw-zstd", "raw-fastlz", "raw-deflate", "raw-gzip"} {
		t.Run(container, func(t *testing.T) {
			packed := filepath.Join(t.TempDir(), "packed")
			r := runWith(nil, "recode", "-frame", "none", "-format", "godot4", "-to", container, file, "-o", packed)
			require.Zero(t, r.status, r.err)
			r = runWith(nil, "unwrap", packed)
			require.Zero(t, r.status, r.err)
			require.Equal(t, string(plain), r.out)
		})
	}
	t.Run("text", func(t *testing.T) {
		const text = "{\"a\": 1, \"b\": [1, 2, 3]}\n"
		var zstd, gcpf, base64 bytes.Buffer
		for info, out := range map[fileaccess.Info]*bytes.Buffer{
			{Container: fileaccess.Raw, Mode: fileaccess.Zstd}: &zstd, {Container: fileaccess.Compressed, Mode: fileaccess.Gzip}: &gcpf,
			{Container: fileaccess.Raw, Mode: fileaccess.Gzip, Base64: fileaccess.Base64{Text: true, End: " \n"}}: &base64,
		} {
			w := must(fileaccess.NewWriter(out, info, nil))(t)
			require.NoError(t, errors.Join(errOf(io.WriteString(w, text)), w.Close()))
		}
		for name, in := range map[string]*bytes.Buffer{"zstd-compressed text": &zstd, "gzip-compressed text": &gcpf, "base64 of gzip-compressed text": &base64} {
			packed := filepath.Join(t.TempDir(), "packed")
			require.NoError(t, os.WriteFile(packed, in.Bytes(), 0o600))
			r := runWith(nil, "find", "a", packed)
			require.Contains(t, r.err, "packed is "+name+", perhaps JSON; gdwire unwrap writes it\n")
			r = runWith(nil, "unwrap", packed)
			require.Zero(t, r.status, r.err)
			require.Equal(t, text, r.out)
		}
	})
	t.Run("base64 after a byte order mark", func(t *testing.T) {
		packed := filepath.Join(t.TempDir(), "packed")
		require.NoError(t, os.WriteFile(packed, []byte("\ufeffGwAAAAEAAAAEAAAAAgAAAGhwAAACAAAABQAAAA=="), 0o600))
		r := runWith(nil, "find", "hp", packed)
		require.Contains(t, r.out, "hp = 5", r.err)
		r = runWith(nil, "find", "-skip", "3", "hp", packed)
		require.Contains(t, r.out, "hp = 5")
	})
	t.Run("neither compressed nor encrypted", func(t *testing.T) {
		r := runWith(nil, "unwrap", file)
		require.Equal(t, statusBad, r.status)
		require.Empty(t, r.out)
		require.Contains(t, r.err, "plain is neither compressed nor encrypted as by Godot")
	})
}

func TestVersion(t *testing.T) {
	r := runWith(nil, "version")
	require.Zero(t, r.status, r.err)
	require.True(t, strings.HasPrefix(r.out, "gdwire "), r.out)
	require.Len(t, strings.Fields(r.out), 2)
}

func TestCommandEncode(t *testing.T) {
	runCases(t, []testCase{
		{name: "native", args: "encode -q", in: []byte(`{"args":["s:a","i:5"],"type":"Dictionary"}`), out: string(wire(27, 1, 4, "a", 2, 5))},
		{name: "plain", args: "encode -q -plain", in: []byte(`{"a":5}`), out: string(wire(27, 1, 4, "a", 2, 5))},
		{name: "lenient", args: "encode -q -lenient", in: []byte(`"i:5.7"`), out: string(wire(2, 5))},
		{name: "control characters in strings, as engines write them", args: "encode -q", in: []byte("\"s:\\v\x01\x1f\""), out: string(wire(4, "\v\x01\x1f"))},
		{name: "numbers that engines read", args: "encode -q -lenient -plain", in: []byte(`[01,-.5,1.,]`), out: string(wire(28, 3, 2, 1, 3, float32(-.5), 2, 1))},
		{name: "numbers that engines read, in args", args: "encode -q -lenient", in: []byte(`{"args":[01,-.5,],"type":"Vector2",}`), out: string(wire(5, float32(1), float32(-.5)))},
		{name: "control characters between values", args: "encode -q -lenient -plain -frame none", in: []byte("\x01 1\v02\f"), out: string(wire(2, 1, 2, 2))},
		{name: "one number, not two", args: "encode -q -plain -frame none", in: []byte(`01`), status: statusBad, err: "offset 1"},
		{name: "one number, lenient", args: "encode -q -plain -lenient", in: []byte(`01`), out: string(wire(2, 1))},
		{name: "a comma between values", args: "encode -q -plain -frame none", in: []byte(`"a", "b"`), status: statusBad, err: "offset 3"},
		{name: "values without space", args: "encode -q -plain -frame none", in: []byte(`"a"[]{}"b"`), out: string(wire(4, "a", 28, 0, 27, 0, 4, "b"))},
		{name: "the offset in a later value", args: "encode -q -frame none", in: []byte(" \"i:5\"\n  [\"i:x\"]"), status: statusBad, err: "standard input: gdjson: offset 10, \"/0\": "},
		{name: "white space after the values", args: "encode -q", in: []byte(" null \n\t "), out: string(wire(0))},
		{name: "not lenient", args: "encode -q", in: []byte(`"i:5.7"`), status: statusBad, err: "5.7"},
		{name: "several, with lengths", args: "encode -frame u32", in: []byte("\"i:5\"\n\"i:6\"\n"), out: string(framed(wire(2, 5), wire(2, 6)))},
		{name: "several, without", args: "encode -frame none", in: []byte("\"i:5\"\n\"i:6\"\n"), out: string(wire(2, 5, 2, 6))},
		{name: "several, not said how", args: "encode", in: []byte(`"i:5" "i:6"`), status: statusUsage, err: "the input has 2 values; with -frame u32"},
		{name: "format", args: "encode -q -format godot3", in: []byte(`[null]`), out: string(wire(19, 1, 0))},
		{name: "parts of the output", args: "encode -to godot3,u32be", in: []byte(`[null]`), out: string(framedBig(wire(19, 1, 0)))},
		{name: "a note for get_var", args: "encode", in: []byte(`null`), out: string(wire(0)), err: "this is what bytes_to_var reads; get_var needs -frame u32"},
		{name: "serialized objects", args: "encode -q", in: []byte(`{"type":"Node","props":[]}`), status: statusBad, err: "object"},
		{name: "serialized objects, allowed", args: "encode -q -objects", in: []byte(`{"type":"Node","props":[]}`), out: string(wire(24, "Node", 0))},
		{name: "empty", args: "encode", status: statusBad, err: "the input is empty; nothing was written"},
		{name: "not JSON", args: "encode", in: []byte(`"i:5" {"a"`), status: statusBad, err: "standard input: "},
		{name: "byte order mark and CRLF", args: "encode -q", in: []byte("\ufeff\"s:x\"\r\n"), out: string(wire(4, "x"))},
		{name: "UTF-16", args: "encode -q", in: []byte("\xfe\xff\x00\"\x00s\x00:\x00\xe9\x00\""), out: string(wire(4, "é"))},
	})
}

// TestEncodeLike keeps everything but the values of a file, and refuses a file of which
// JSON would lose a part.
func TestEncodeLike(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	double := framed(wire(27, 2, 4, "a", 0x10005, 0.1, 2.0, 4, "b", 2, 1))
	for _, c := range []struct {
		name   string
		like   []byte
		in     string
		flags  []string
		out    []byte
		status int
		err    string
	}{
		{"width of math types", double, `{"type":"Dictionary","args":["s:a",{"type":"Vector2","args":[0.1,3.0]},"s:b","i:1"]}`, nil,
			framed(wire(27, 2, 4, "a", 0x10005, 0.1, 3.0, 4, "b", 2, 1)), statusGood, "$.a: Vector2(0.1, 3.0), was Vector2(0.1, 2.0)"},
		{"added and removed", double, `{"type":"Dictionary","args":["s:a",{"type":"Vector2","args":[0.1,2.0]},"s:c","i:1"]}`, nil,
			framed(wire(27, 2, 4, "a", 0x10005, 0.1, 2.0, 4, "c", 2, 1)), statusGood, "gdwire: $.c: 1, was not there\ngdwire: $.b: was 1, is not there\n"},
		{"nothing changed", framed(wire(2, math.MaxInt32), wire(4, "some text to be sure")), "\"i:2147483647\"\n\"s:some text to be sure\"", nil,
			framed(wire(2, math.MaxInt32), wire(4, "some text to be sure")), statusGood, "no value changed"},
		{"another number of values", double, `"i:1" "i:2"`, nil, nil, statusBad, "has 1, the input 2"},
		{"invalid packets", framed(wire(2, 5), wire(99), wire(4, "some text to be sure")), `"i:5" null "s:x"`, []string{"-format", "godot4", "-frame", "u32"}, nil, statusBad, "offset 16, $1: "},
		{"bytes after values, confirmed", framed(wire(27, 1, 4, "some text to be sure", 2, 5, 0, 0)), `null`, []string{"-format", "godot4", "-frame", "u32"}, nil, statusBad, "8 bytes follow the value of packet 0, which JSON would lose"},
		{"bytes after values", framed(wire(27, 2, 4, "some text to be sure", 2, 5, 4, "b", 2, 6, 0, 0)), `null`, nil, nil, statusUsage, "confirm this with"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, c.like, 0o600))
			r := runWith([]byte(c.in), append([]string{"encode", "-like", file}, c.flags...)...)
			require.Equal(t, c.status, r.status, r.err)
			require.Contains(t, r.err, c.err)
			require.Equal(t, string(c.out), r.out)
		})
	}
}
