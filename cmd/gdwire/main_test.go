package main

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/savefile"
	"github.com/stretchr/testify/require"
)

func TestUsage(t *testing.T) {
	for _, args := range []string{
		"", "frobnicate", "json -format godot5", "json -frame u64", "json -frame", "json -json", "json -n 3",
		"json -max-depth x", "json -max-depth -2", "json -max-depth 1.5K", "json -max-bytes 9999999999G", "json -max-bytes 99999999999999999999", "tokens a b", "get", "get [ FILE", "set", "set $.a FILE", "recode -to x", "recode -to godot4,godot3", "recode -to u32 -to none", "recode -to zstd,zstd", "unwrap -format godot4", "unwrap -max-depth 3", "unwrap -q", "encode -skip 3", "encode -strict", "replay -skip 3 x 1", "proxy -password-file x 1 2", "version -q", "check -max-content", "proxy 1", "proxy -frame none -skip 1 1 2", "encode -plain -like x", "version x",
	} {
		t.Run(args, func(t *testing.T) {
			r := runWith(nil, strings.Fields(args)...)
			require.Equal(t, statusUsage, r.status)
			require.Empty(t, r.out)
			require.Contains(t, r.err, "Usage: gdwire ")
		})
	}
	for _, args := range []string{"help", "help help", "-h", "--help", "tokens -h", "json -help", "check --help", "recode -strict -h"} {
		t.Run(args, func(t *testing.T) {
			r := runWith(nil, strings.Fields(args)...)
			require.Equal(t, statusGood, r.status)
			require.Contains(t, r.out, "Usage: gdwire ")
			require.Empty(t, r.err)
		})
	}
	t.Run("limits are in the help of limits only", func(t *testing.T) {
		for _, group := range program.Groups {
			for _, c := range group.Commands {
				help := runWith(nil, c.Name, "-h").out
				require.Equal(t, c.Name == "diff", strings.Contains(help, "  -max-"), c.Name) // -max-memory is how it works
				require.Equal(t, c.Edits, strings.Contains(help, "it can be the input"), c.Name)
			}
		}
		require.Equal(t, 9, strings.Count(runWith(nil, "help", "limits").out, "  -max-"))
		require.Contains(t, runWith(nil, "json", "-h").out, "gdwire help limits lists flags for limits.")
		require.NotContains(t, runWith(nil, "version", "-h").out, "limits")
	})
	t.Run("all flags are described", func(t *testing.T) {
		help := runWith(nil, "json", "-h").out + runWith(nil, "help", "limits").out
		for _, name := range strings.Fields(`format frame objects strict any-utf8 double
			max-depth max-elements max-values max-string max-name max-packed max-bytes max-packet max-content`) {
			require.Contains(t, help, "  -"+name+" ")
		}
		require.NotContains(t, help, "`")
	})
}

// The package comment, which pkg.go.dev shows, contains the table of commands that the help shows, and the exit
// status of all that compare.
func TestDocumentedCommands(t *testing.T) {
	comment := must(parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ParseComments))(t).Doc.Text()
	usage := runWith(nil, "help").out
	_, table, _ := strings.Cut(usage, "\n\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.SplitSeq(table, "\n") {
		require.Contains(t, comment, "\n\t"+line+"\n")
	}
	compare := 0
	for _, group := range program.Groups {
		for _, c := range group.Commands {
			require.Regexp(t, `(?m)^(`+group.Heading+`)? +`+c.Name+` +[A-Z]`, table)
			if c.Compares {
				compare++
				require.Regexp(t, `\b`+c.Name+`\b[^.]*\bdiffer\b`, comment)
			}
		}
	}
	require.Equal(t, 1, compare)
}

// wordsOf splits a command line as a shell does, as far as the examples need it.
func wordsOf(t *testing.T, line string) (words []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " ") {
		var word string
		if quote := line[:1]; quote == "'" || quote == `"` {
			var ok bool
			word, line, ok = strings.Cut(line[1:], quote)
			require.True(t, ok, line)
			words = append(words, word)
			continue
		}
		word, line, _ = strings.Cut(line, " ")
		if strings.ContainsAny(word, "[;|&<>$") {
			t.Fatalf("%s needs quotes", word)
		}
		if files, err := filepath.Glob(word); err == nil && strings.Contains(word, "*") {
			words = append(words, files...)
			continue
		}
		words = append(words, word)
	}
	return words
}

// exampleFiles writes the files of the examples into the current folder.
func exampleFiles(t *testing.T) {
	item := func(id int, name string) map[string]any { return map[string]any{"id": id, "name": name} }
	player := map[string]any{"name": "Ada", "hp": 87, "gold": 10, "portrait": []byte("\x89PNG"), "items": []any{item(1, "sword"), item(2, "bow")}, "quest": "rats"}
	save := map[string]any{"player": player, "version": 4}
	packet := gdwiretest.Encode(t, save)
	key := fileaccess.PasswordKey("hunter2")
	packed := fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}
	for name, info := range map[string]savefile.Info{
		"save.bin": {Lengths: savefile.LittleEndian}, "old.bin": {Lengths: savefile.LittleEndian}, "saves/1.bin": {Lengths: savefile.LittleEndian}, "saves/2.bin": {Lengths: savefile.LittleEndian},
		"game.save": {Lengths: savefile.LittleEndian, Container: packed}, "old.save": {Format: gdwire.Godot3, Lengths: savefile.LittleEndian},
		"secret.save":          {Lengths: savefile.LittleEndian, Container: fileaccess.Info{Container: fileaccess.Encrypted}, Key: key},
		"traffic-1-client.bin": {Lengths: savefile.LittleEndian},
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, must(savefile.New(info, save))(t).Save(name))
	}
	for name, b := range map[string][]byte{
		"password.txt": []byte("hunter2\n"), "packet.bin": packet, "damaged.save": framed(packet, packet)[:len(packet)+60],
		"edited.json": []byte("{}"), "settings.cfg": []byte("[a]\nb=1\n"), "save.bin.bak": packet, "save.bin.2.undone": packet,
		"level.json": []byte(`{"level": 3}`), "game.json": []byte(runWith(nil, "json", "-format", "godot4", "-frame", "u32", "save.bin").out),
	} {
		require.NoError(t, os.WriteFile(name, b, 0o600))
	}
}

// TestExamples runs the examples in the help of each command. Of commands that wait for connections, or for the
// user, the command line is checked.
func TestExamples(t *testing.T) {
	waits := map[string]bool{"view": true, "listen": true, "proxy": true, "replay": true}
	for _, group := range program.Groups {
		for _, c := range group.Commands {
			if c.Name != "version" && c.Name != "repair" { // which have no flags but -o
				require.GreaterOrEqual(t, strings.Count(c.Examples, "\n"), 2, c.Name)
			}
			for line := range strings.SplitSeq(c.Examples[1:], "\n") {
				t.Run(line, func(t *testing.T) {
					t.Chdir(t.TempDir())
					exampleFiles(t)
					args := wordsOf(t, line)
					require.Equal(t, []string{"gdwire", c.Name}, args[:2])
					require.Contains(t, runWith(nil, c.Name, "-h").out, "\n    "+line+"\n")
					require.NoError(t, program.Check(args[1:]))
					if waits[c.Name] {
						return
					}
					var out, errs bytes.Buffer
					require.Zero(t, run(args[1:], nil, &out, &errs), "%v", &errs)
				})
			}
		}
	}
	require.ErrorContains(t, program.Check([]string{"falt"}), "did you mean gdwire flat?")
}

// TestWords: names of commands that other programs have run the command that is meant, or are answered in three lines, by a command that
// there is.
func TestWords(t *testing.T) {
	named := map[string]bool{}
	for _, group := range program.Groups {
		for _, c := range group.Commands {
			named[c.Name] = true
		}
	}
	for _, w := range words {
		for name := range strings.FieldsSeq(w.Names) {
			require.False(t, named[name], name)
			r := runWith(nil, name, "save.bin")
			require.NotZero(t, r.status)
			if w.Command != "" {
				require.Contains(t, r.err, "gdwire: "+name+" is gdwire "+w.Command+" save.bin\n")
				continue
			}
			require.Equal(t, statusUsage, r.status)
			require.Equal(t, 3, strings.Count(r.err, "\n"), r.err)
			require.Contains(t, r.err, w.Answer)
		}
		require.True(t, slices.ContainsFunc(strings.Fields(w.Command+w.Answer), func(word string) bool { return named[word] }), w)
	}
}

func TestCommandFiles(t *testing.T) {
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
		{name: "empty recode", args: "recode", status: statusBad, err: "the input is empty; nothing was written"},
	})
}

// TestLimitFlags: an error of a limit names the flag that raises it, also of one of containers, and a regular
// file needs none.
func TestLimitFlags(t *testing.T) {
	r := runWith(framed(wire(4, "abc")), "json", "-frame", "u32", "-max-packet", "5")
	require.Contains(t, r.err, "; raise it with -max-packet\n")
	var compressed bytes.Buffer
	w := must(fileaccess.NewCompressedWriter(&compressed, fileaccess.Zstd, 0))(t)
	must(w.Write(framed(wire(4, "abc"))))(t)
	require.NoError(t, w.Close())
	r = runWith(compressed.Bytes(), "json", "-max-content", "5")
	require.Contains(t, r.err, "; raise it with -max-content\n")

	file := filepath.Join(t.TempDir(), "large")
	large := framed(wire(29, 9<<20, make([]byte, 9<<20))) // beyond 8 MiB
	require.NoError(t, os.WriteFile(file, large, 0o600))
	require.Equal(t, statusGood, runWith(nil, "check", "-frame", "u32", file).status)
	require.Equal(t, statusBad, runWith(large, "check", "-frame", "u32").status)
}

// TestFlagOrder tests flags after operands, and operands that look like flags.
func TestFlagOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "-five")
	require.NoError(t, os.WriteFile(file, wire(2, 5), 0o600))
	t.Chdir(filepath.Dir(file))
	runCases(t, []testCase{
		{name: "after", args: "get $ ./-five -plain", out: "5\n"},
		{name: "between", args: "get -plain $ -indent ./-five", out: "5\n"},
		{name: "after --", args: "get -plain -- $ -five", out: "5\n"},
	})
}

func TestCommandLimits(t *testing.T) {
	object := wire(24, "Resource", 1, "name", 4, "x")
	nested := wire(28, 1, 28, 1, 28, 1, 0)
	for _, c := range []struct {
		name, flags string
		in          []byte
		bad, good   string // flags beside
		err         string
	}{
		{"depth", "", nested, "-max-depth 2", "-max-depth 3", "Depth (2)"},
		{"elements", "", wire(28, 2, 0, 0), "-max-elements 1", "-max-elements 2", "Elements (1)"},
		{"values", "", nested, "-max-values 3", "-max-values 4", "Values (3)"},
		{"string", "", wire(4, "abcde"), "-max-string 4", "-max-string 5", "StringBytes (4)"},
		{"name", "", wire(26, "abcde", uint64(0)), "-max-name 4", "-max-name 5", "NameBytes (4)"},
		{"packed", "", wire(30, 2, 1, 2), "-max-packed 7", "-max-packed 8", "PackedBytes (7)"},
		{"bytes", "", wire(30, 2, 1, 2), "-max-bytes 15", "-max-bytes 16", "Bytes (15)"},
		{"objects", "", object, "", "-objects", "serialized objects"},
		{"strict", "", wire(1, 2), "-strict", "", "bool of 2"},
		{"utf8", "", wire(4, "\xff"), "", "-any-utf8", "invalid UTF-8"},
		{"format", "", wire(38, 0), "-format godot3", "-format godot4", "unknown godot3 type id 38"},
		{"double", "-format manual3", wire(5, 1.0, 1.0), "", "-double", "header has flags"},
	} {
		t.Run(c.name, func(t *testing.T) {
			commands := []string{"check", "check -json", "json -objects=false", "flat -objects=false", "tokens -objects=false", "recode"}
			if c.name == "utf8" { // JSON is UTF-8
				commands = slices.DeleteFunc(commands, func(s string) bool { return strings.HasPrefix(s, "json") })
			}
			for _, command := range commands {
				run := func(flags string) result {
					return runWith(c.in, strings.Fields(command+" "+c.flags+" "+flags)...)
				}
				r := run(c.bad)
				require.Equal(t, statusBad, r.status, command)
				require.Contains(t, r.out+r.err, c.err)
				if flag, _, _ := strings.Cut(c.bad, " "); strings.HasPrefix(flag, "-max") && !strings.HasPrefix(command, "check") {
					require.Contains(t, r.out+r.err, "; raise it with "+flag, command)
				}
				r = run(c.good)
				require.Equal(t, statusGood, r.status, r.err)
			}
		})
	}
	t.Run("defaults and none", func(t *testing.T) {
		long := wire(26, strings.Repeat("x", 1025), uint64(0))
		require.Equal(t, statusBad, runWith(long, "check").status)
		require.Equal(t, statusBad, runWith(long, "check", "-max-name", "0").status)
		require.Equal(t, statusGood, runWith(long, "check", "-max-name", "-1").status)

		large := framed(wire(29, 8<<20, make([]byte, 8<<20)))
		require.Equal(t, statusBad, runWith(large, "check", "-frame", "u32").status)
		require.Equal(t, statusBad, runWith(large, "check", "-frame", "u32", "-max-packet", "0").status)
		require.Equal(t, statusGood, runWith(large, "check", "-frame", "u32", "-max-packet", "-1").status)
	})
}

// Each path that completes a word is one that get finds.
func TestCompletedPaths(t *testing.T) {
	several := framed(wire(2, 1), wire(28, 1, 2, 5), wire(27, 5, 4, "hp", 2, 7, 4, "1", 2, 3, 2, 1, 2, 2, 4, "a b", 28, 1, 2, 5, 5, float32(1), float32(2), 0), wire(24, "Node", 1, "name", 4, "x"))
	files := map[string][]byte{"several": several, "scalar": wire(2, 5), "array": wire(28, 2, 0, 28, 1, 0)}
	for _, folder := range []string{"godot4.3", "godot4.6", "godot4.7-dev", "godot3.2.3"} {
		for _, name := range must(filepath.Glob(testdata(folder, "*.bin")))(t) {
			if b, err := os.ReadFile(name); err == nil && len(b) < 1<<16 {
				files[filepath.Join(folder, filepath.Base(name))] = b
			}
		}
	}
	file := filepath.Join(t.TempDir(), "save")
	random := rand.New(rand.NewPCG(1, 2))
	for name, b := range files {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, b, 0o600))
			for _, word := range []string{"", "$", "$1", "1", "["} {
				for range 4 {
					fits := open.CompletePath(file, word)
					if len(fits) == 0 {
						break
					}
					for _, fit := range fits[:min(len(fits), 10)] {
						require.True(t, strings.HasPrefix(fit, word), "%q, %q", word, fit)
						var errs bytes.Buffer
						require.Zero(t, run([]string{"get", fit, file}, nil, io.Discard, &errs), "%q: %v", fit, &errs)
					}
					word = fits[random.IntN(len(fits))]
					if random.IntN(2) == 0 {
						word = word[:len(word)-random.IntN(2)]
					}
				}
			}
		})
	}
}

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

func must2[V, W any](v V, w W, err error) func(testing.TB) (V, W) { return testenv.Must2(v, w, err) }

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

// engines contains the format of each folder of testdata.
var engines = map[string]string{
	"godot3.2.3": "godot3", "godot4.3": "godot4", "godot4.7-dev": "godot4", "godot4.7-dev-double": "godot4",
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

type failingReader struct{}

func (*failingReader) Read([]byte) (int, error) { return 0, errors.New("cable cut") }

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

// A result is the exit status and the output of a run.
type result struct {
	status   int
	out, err string
}

// The exit statuses, and packets.
const (
	statusGood, statusBad, statusUsage, statusMissing = shell.StatusGood, shell.StatusBad, shell.StatusUsage, shell.StatusMissing
	upgradeRequest, upgradeResponse                   = cmdtest.UpgradeRequest, cmdtest.UpgradeResponse
)

var (
	wire, framed, framedBig = cmdtest.Wire, cmdtest.Framed, cmdtest.FramedBig
	webSocketMessage        = cmdtest.WebSocketMessage
	lineFeeds               = cmdtest.LineFeeds
)

// run runs the command and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return program.Run(args, stdin, stdout, stderr)
}

func runCases(t *testing.T, cases []testCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

func runWith(stdin []byte, args ...string) result {
	var out, errs bytes.Buffer
	status := run(fixed(args), bytes.NewReader(stdin), &out, &errs)
	return result{status, out.String(), errs.String()}
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

func testdata(folder, file string) string { return filepath.Join("..", "..", "testdata", folder, file) }

// vectors returns the values that the engine of a folder wrote.
func vectors(t testing.TB, folder string) []suite.Value {
	all := must(suite.ValuesOf(strings.TrimPrefix(folder, "godot")))(t)
	require.NotEmpty(t, all)
	return all
}

// sample is vectors, or a quarter of them in the quick tests.
func sample(t *testing.T, folder string) (some []suite.Value) {
	all := vectors(t, folder)
	if testenv.Full() {
		return all
	}
	for i := 0; i < len(all); i += 4 {
		some = append(some, all[i])
	}
	return some
}

// rooms contains, for some packages, the folders of the packages that import them. All other packages of the command
// and package savefile do without.
var rooms = map[string]string{
	"internal/values/save/edit":      "internal/saves internal/traffic internal/page",
	"internal/values/save/outfile":   "internal/shell",
	"internal/values/save/recognize": "",
	"net":                            "internal/shell internal/traffic internal/record internal/view",
}

// TestRooms: the command and package savefile open, recognize and write containers by one package, save; three packages
// of the command know how values are edited, one how files are replaced, and shell knows no values.
func TestRooms(t *testing.T) {
	folders := must(filepath.Glob("internal/*"))(t)
	used := map[string]bool{}
	for _, folder := range append(folders, ".", "../../savefile") {
		for _, name := range must(filepath.Glob(filepath.Join(folder, "*.go")))(t) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f := must(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
			for _, i := range f.Imports {
				path := strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), "github.com/gdwire/gdwire/")
				if room, ok := rooms[path]; ok && folder != "../../savefile" {
					require.Contains(t, strings.Fields(room), folder, "%s imports %s", name, path)
					used[path+folder] = true
				}
				if folder == "internal/shell" {
					require.NotContains(t, []string{"github.com/gdwire/gdwire", "gdjson", "stream", "variant", "internal/values/save"}, path, name)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					text := types.ExprString(s)
					require.NotContains(t, []string{"fileaccess.NewReader", "fileaccess.NewWriter", "recognize.Recognize"}, text, name)
				}
				return true
			})
		}
	}
	for path, room := range rooms {
		for _, folder := range strings.Fields(room) {
			require.True(t, used[path+folder], "%s imports %s no longer", folder, path)
		}
	}
}
