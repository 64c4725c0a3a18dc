package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// TestMain is the program under test, if PROGRAM names what it does wrong, or else the tests.
func TestMain(m *testing.M) {
	mode, ok := os.LookupEnv("PROGRAM")
	if !ok {
		os.Exit(m.Run())
	}
	program := &config{encoder: os.Getenv("ENCODER") != "", strict: mode == "strict"}
	_ = program.format.UnmarshalText([]byte(os.Getenv("FORMAT")))
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, maxAnswer)
	for n := 1; in.Scan(); n++ {
		answer := own(program, in.Text())
		switch {
		case in.Text() == "can" && mode == "can":
			answer = []byte(`{"can":["prefixes"]}`)
		case in.Text() == "can" && mode == "unknown ability":
			answer = []byte(`{"can":["fly"]}`)
		case strings.HasSuffix(in.Text(), " prefix"):
			answer = []byte(`{"more":true}`)
		case mode == "crash" && n%10 == 0:
			fmt.Fprintln(os.Stderr, "segmentation fault")
			os.Exit(3)
		case mode == "hang" && n == 3:
			time.Sleep(time.Hour)
		case mode == "refuse":
			answer = []byte(`{"error":"no"}`)
		case mode == "nil":
			answer = []byte(`{"t":"Nil"}`)
		case mode == "empty":
			answer = nil
		}
		fmt.Printf("%s\n", answer)
		if mode == "twice" {
			fmt.Printf("%s\n", answer)
		}
	}
	if mode == "status" {
		os.Exit(4)
	}
	os.Exit(0)
}

// own returns the answer of package gdwire to a line.
func own(c *config, line string) []byte {
	var answer []byte
	var err error
	if c.encoder {
		answer, err = tagged.Encode([]byte(line), &gdwire.EncoderOptions{Format: c.format})
		answer = hex.AppendEncode(nil, answer)
	} else {
		digits, allowed, _ := strings.Cut(line, " ")
		var p []byte
		if p, err = hex.DecodeString(digits); err == nil {
			answer, err = decode(p, &gdwire.DecoderOptions{Format: c.format, AllowObjects: allowed != "", Strict: c.strict})
		}
	}
	if err != nil {
		answer, _ = json.Marshal(map[string]string{"error": err.Error()}) // strings are never an error
	}
	return answer
}

// run measures the test's own binary, which does something wrong.
func run(t *testing.T, mode string, args ...string) (status int, out, errs string) {
	t.Helper()
	t.Setenv("PROGRAM", mode)
	t.Setenv("FORMAT", "godot2")
	args = append([]string{"-format", "godot2", "-skip", "l*"}, args...) // the long lines take seconds
	var stdout, stderr bytes.Buffer
	status = conform(append(args, "--", os.Args[0]), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

// sample returns the formats of tests that take seconds for all of them.
func sample() []gdwire.Format {
	if testenv.Full() {
		return gdwire.Formats()
	}
	return []gdwire.Format{gdwire.Godot2}
}

// TestReaders: the readers of the specification are right about every vector.
func TestReaders(t *testing.T) {
	if !testenv.Full() {
		t.Skip("skipped without GDWIRE_FULL: it takes seconds for a format")
	}
	for _, reader := range []string{"python3 ../reader.py", "node ../reader.mjs"} {
		words := strings.Fields(reader)
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("%s is skipped: %v", reader, err)
			continue
		}
		for _, f := range gdwire.Formats() {
			t.Run(words[0]+" "+f.String(), func(t *testing.T) {
				t.Parallel()
				var out, errs bytes.Buffer
				status := conform(append([]string{"-timeout", "1m", "-format", f.String(), "--"}, append(words, f.String())...), &out, &errs)
				require.Equal(t, statusRight, status, "%s%s", &out, &errs)
			})
		}
	}
	for _, name := range []string{"godot4", "manual3"} { // only the first has components of 64 bits
		t.Run("alone "+name, func(t *testing.T) {
			t.Parallel()
			text, err := exec.Command("python3", "../reader.py", name, "../vectors", "python3", "../reader.py", name).CombinedOutput()
			if errors.Is(err, exec.ErrNotFound) {
				t.Skip("no python3")
			}
			require.NoError(t, err, "%s", text)
			require.Contains(t, string(text), " 0 wrong\n")
		})
	}
}

// TestRight: a program with right answers, a strict one, and one that knows prefixes.
func TestRight(t *testing.T) {
	status, out, errs := run(t, "right")
	require.Equal(t, statusRight, status, out+errs)
	require.Regexp(t, `(?m)^godot2 +valid +invalid\ncore +\d+/\d+ +\d+/\d+\n`, out)
	require.NotContains(t, out, "restarts")

	status, out, errs = run(t, "strict", "-strict")
	require.Equal(t, statusRight, status, out+errs)
	require.Regexp(t, `(?m)^strict +- +\d+/\d+$`, out)
	status, out, _ = run(t, "right", "-strict")
	require.Equal(t, statusWrong, status)
	require.Regexp(t, `(?m)^strict +- +0/\d+$`, out)

	status, out, errs = run(t, "can")
	require.Equal(t, statusRight, status, out+errs)
	require.Regexp(t, `(?m)^prefixes +\d\d+/\d\d+ +-$`, out)
}

// TestCrash: a program that crashes at every tenth line misses a tenth, and is started again.
func TestCrash(t *testing.T) {
	status, out, errs := run(t, "crash", "-json")
	require.Equal(t, statusWrong, status, errs)
	var r report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	all := suite.Sum(r.Levels)
	total := all.Valid.Of + all.Invalid.Of
	require.InDelta(t, total/10, len(r.Faults), 2)
	require.Equal(t, len(r.Faults), r.Restarts)
	require.Equal(t, total-len(r.Faults), all.Valid.Right+all.Invalid.Right)
	require.Equal(t, `exit status 3: "segmentation fault"`, r.Faults[0].Text)
	require.NotEmpty(t, r.Faults[0].Line)
}

// TestHang: a program that hangs at its third line misses it.
func TestHang(t *testing.T) {
	skip := "p*,g3-*,g2-000*,g2-001*,g2-002*,g2-003[0-4]"
	status, out, errs := run(t, "hang", "-timeout", "1s", "-json", "-skip", skip)
	require.Equal(t, statusWrong, status, errs)
	var r report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.NotEmpty(t, r.Faults)
	require.Contains(t, r.Faults[0].Text, "nothing for 1s")
	require.Equal(t, len(r.Faults), r.Restarts)
	require.Greater(t, r.Skipped, 100)
}

// TestScores: a program that refuses everything, and one that accepts everything, score nothing in a column.
func TestScores(t *testing.T) {
	status, out, _ := run(t, "refuse")
	require.Equal(t, statusWrong, status)
	require.Regexp(t, `(?m)^all +0/\d+ +(\d+)/(\d+)$`, out)
	require.Regexp(t, `(?m)^kind +wrong +vectors +for example\n.*refused: "no"$`, out)
	status, out, _ = run(t, "nil")
	require.Equal(t, statusWrong, status)
	require.Regexp(t, `(?m)^all +\d+/\d+ +0/\d+$`, out)
	status, out, _ = run(t, "empty", "-v")
	require.Equal(t, statusWrong, status)
	require.Regexp(t, `(?m)^all +0/\d+ +0/\d+$`, out)
	require.Regexp(t, `(?m)^g3-0001 no value: ""\n  00000000$`, out)

	t.Setenv("ENCODER", "1")
	status, out, errs := run(t, "right", "-encoder")
	require.Equal(t, statusRight, status, out+errs)
	status, out, _ = run(t, "refuse", "-encoder")
	require.Equal(t, statusWrong, status)
	require.Regexp(t, `(?m)^all +0/\d+ +\d+/\d+$`, out)
}

// TestFailures: what cannot be measured has no score.
func TestFailures(t *testing.T) {
	for _, c := range []struct{ mode, fault string }{
		{"twice", "more answers than lines"},
		{"status", "after the last answer: exit status 4"},
		{"unknown ability", `can "fly"`},
	} {
		status, out, errs := run(t, c.mode)
		require.Equal(t, statusFailed, status, c.mode)
		require.Contains(t, errs, c.fault)
		require.Empty(t, out)
	}
	for _, c := range []struct{ args, fault string }{
		{"-- ./no-such-program", "no-such-program"},
		{"-- true", "true answers nothing: no answer"},
		{"-timeout 0s -- true", "-timeout is not more than 0"},
		{"-format godot5", "unknown format"},
		{"cat", "the program to measure follows --"},
		{"", "the program to measure follows --"},
		{"-strict -encoder -- true", "-strict is for readers"},
		{"-skip Z1 -- true", "-skip Z1: no vector of godot4"},
		{"-h", "usage: conform"},
	} {
		var out, errs bytes.Buffer
		require.Equal(t, statusFailed, conform(strings.Fields(c.args), &out, &errs), c.args)
		require.Contains(t, errs.String(), c.fault, c.args)
		require.Empty(t, out.String())
	}
}

// TestSkipConform: rules, ids and types are left out.
func TestSkipConform(t *testing.T) {
	c := &config{format: gdwire.Godot4}
	all := testenv.Must(exercisesOf(c))(t)
	c.skip = []string{"T7", "g4-0048", "Projection"}
	kept, skipped := testenv.Must2(without(all, c))(t)
	require.GreaterOrEqual(t, skipped, len(c.skip))
	require.Len(t, kept, len(all)-skipped)
	for _, e := range kept {
		names := append(append([]string{e.ID}, e.Rules...), e.types()...)
		for _, name := range c.skip {
			require.NotContains(t, names, name)
		}
	}
}

// TestAnswers: each exercise of an encoder has wrong answers, and each answer that is none is wrong.
func TestAnswers(t *testing.T) {
	for _, f := range sample() {
		for _, e := range testenv.Must(exercisesOf(&config{format: f, encoder: true}))(t) {
			for _, answer := range []string{"", "x", "00", "ffffffff", `{"t":"Nil"}`} {
				require.NotEmpty(t, e.judge([]byte(answer)), "%s %s", e.ID, answer)
			}
			if e.Valid {
				require.NotEmpty(t, e.judge([]byte(`{"error":""}`)), e.ID)
			}
		}
	}
	for _, c := range []struct{ answer, fault string }{
		{`{"error":"a\u001bb"}`, `refused: "a\x1bb"`}, {`{"t":"bool"}`, "read "}, {"\x1b", `no value: "\x1b"`}, {"", "no value"}, {`{"t":"Nil"} {}`, "no value"}, {"22", "no value"},
		{`{"t":"Nil"}`, ""},
	} {
		got := judgeRead([]byte(c.answer), "valid", []byte(`{"t":"Nil"}`))
		require.True(t, strings.HasPrefix(got, c.fault) && (got == "") == (c.fault == ""), got)
	}
	require.Empty(t, judgeRead([]byte(strings.Repeat("{", 20000)), "differs", nil), "a value of more levels than package json reads")
	require.NotEmpty(t, judgeRead([]byte("x"), "differs", nil))
}

// TestExtras: files and native JSON have right answers and wrong ones.
func TestExtras(t *testing.T) {
	c := &config{format: gdwire.Godot4, files: filepath.Join("..", "..")}
	all := testenv.Must(extraExercises(c, []string{"files", "native_json", "prefixes"}))(t)
	seen := map[string]int{}
	for _, e := range all {
		seen[e.Level]++
		require.NotEmpty(t, e.judge([]byte("ff")), e.ID)
	}
	require.Greater(t, seen[files], 60)
	for _, f := range testenv.Must(suite.Files())(t) {
		for _, e := range all {
			if e.ID == f.ID && strings.Contains(e.Line, " edit=") {
				require.Equal(t, f.Edited != nil, e.judge([]byte(hex.EncodeToString(f.Edited))) == "" && e.Valid, f.ID)
				require.Equal(t, f.Edited == nil, e.judge([]byte(`{"error":""}`)) == "", f.ID)
			}
		}
	}
	require.Greater(t, seen[native], 100)
	require.Greater(t, seen[prefixes], 1000)
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`"f:0.1"`, `"f:0.10000000000000001"`, true}, {`"f:1e-20"`, `"f:0.0"`, true}, {`"f:0.1"`, `"f:0.2"`, false}, {`"s:a"`, `"s:b"`, false}, {`"f:nan"`, `"f:nan"`, true},
		{`{"a":[1,2]}`, `{"a":[1,2.0]}`, true}, {`{"a":1}`, `{"b":1}`, false}, {`[1]`, `[1,2]`, false}, {`null`, `null`, true}, {`null`, `1`, false}, {`"f:x"`, `"f:1"`, false},
	} {
		require.Equal(t, c.same, sameNative([]byte(c.a), []byte(c.b)), "%s %s", c.a, c.b)
	}
	c.files = t.TempDir()
	_, err := extraExercises(c, []string{"files"})
	require.ErrorContains(t, err, "-files names the directory")
}

// TestSame: the comparisons in Python and JavaScript are those of the runner. The first text of a
// case is the value of a vector, the second an answer.
func TestSame(t *testing.T) {
	dict := func(pairs string) string { return `{"t":"Dictionary","v":[` + pairs + `]}` }
	const one, two, name = `[{"t":"String","v":"a"},{"t":"int","v":"1"}]`, `[{"t":"String","v":"a"},{"t":"int","v":"2"}]`, `[{"t":"StringName","v":"a"},{"t":"int","v":"2"}]`
	cases := []struct {
		want, got string
		same      bool
	}{
		{`{"t":"int","v":"5"}`, `{"v":"5","t":"int"}`, true},
		{`{"t":"int","v":"5"}`, `{"t":"int","v":"6"}`, false},
		{`{"t":"int","v":"5"}`, `{"t":"float","v":5.0}`, false},
		{`{"t":"float","v":1.0}`, `{"t":"float","v":1}`, true},
		{`{"t":"float","v":-0.0}`, `{"t":"float","v":"-0.0"}`, true},
		{`{"t":"float","v":-0.0}`, `{"t":"float","v":0.0}`, false},
		{`{"t":"float","v":"NaN"}`, `{"t":"float","v":"NaN"}`, true},
		{`{"t":"bool","v":true}`, `{"t":"bool","v":1}`, false},
		{`{"t":"PackedInt32Array","v":[5]}`, `{"t":"PackedInt32Array","v":["5"]}`, false},
		{`{"t":"RID","v":"0"}`, `{"t":"RID"}`, true},
		{`{"t":"Array","v":[]}`, `{"t":"Array","v":[],"type":null}`, true},
		{`{"t":"Array","v":[{"t":"Nil"}]}`, `{"t":"Array","v":[]}`, false},
		{`{"t":"String","v":"\ufeffa\u0000b"}`, `{"t":"String","v":"a"}`, true},
		{`{"t":"String","v":"a"}`, `{"t":"String","v":"a\u0000b"}`, false},
		{`{"t":"ObjectID","v":"0"}`, `{"t":"Nil"}`, true},
		{`{"t":"ObjectID","v":"5"}`, `{"t":"Nil"}`, false},
		{`{"t":"Object","class":"","properties":[]}`, `{"t":"Nil"}`, true},
		{`{"t":"Array","v":[],"type":{"script":"res://a"}}`, `{"t":"Array","v":[],"type":{"class":"EncodedObjectAsID"}}`, true},
		{`{"t":"Array","v":[],"type":{"builtin":"int"}}`, `{"t":"Array","v":[],"type":{"class":"EncodedObjectAsID"}}`, false},
		{dict(one + "," + two), dict(two), true},
		{dict(one + "," + two), dict(one), false},
		{dict(one + "," + name), dict(two), true},
		{dict(one), dict(one + "," + two), false},
		{dict(one), dict(two), false},
		{dict(`[` + dict(one) + `,{"t":"Nil"}],[` + dict(one) + `,{"t":"Nil"}]`), dict(`[` + dict(one) + `,{"t":"Nil"}]`), true},
		{dict(`[{"t":"ObjectID","v":"5"},{"t":"Nil"}],[{"t":"ObjectID","v":"5"},{"t":"Nil"}]`), dict(`[{"t":"ObjectID","v":"5"},{"t":"Nil"}]`), false},
	}
	var lines strings.Builder
	want := ""
	for _, c := range cases {
		fmt.Fprintf(&lines, "[%s,%s]\n", c.want, c.got)
		want += fmt.Sprintln(c.same)
		require.Equal(t, c.same, compare([]byte(c.got), []byte(c.want)) == "", "%s %s", c.want, c.got)
	}
	for _, program := range [][]string{
		{"python3", "-c", "import sys, json; sys.path.insert(0, '..'); import reader\nfor l in sys.stdin: print(str(reader.same(*json.loads(l))).lower())"},
		{"node", "--input-type=module", "-e", `import { same } from "../reader.mjs"; import { readFileSync } from "node:fs";
			for (const l of readFileSync(0, "utf8").trim().split("\n")) console.log(same(...JSON.parse(l)));`},
	} {
		if _, err := exec.LookPath(program[0]); err != nil {
			t.Logf("%s is skipped: %v", program[0], err)
			continue
		}
		c := exec.Command(program[0], program[1:]...)
		c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		c.Stdin = strings.NewReader(lines.String())
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want, string(out), program[0])
	}
}

// TestResults: results.md counts the lines that there are.
func TestResults(t *testing.T) {
	page := testenv.Must(os.ReadFile("../results.md"))(t)
	for _, f := range sample() {
		valid, invalid := 0, 0
		for _, e := range testenv.Must(exercisesOf(&config{format: f}))(t) {
			switch {
			case e.Any:
			case e.Valid:
				valid++
			default:
				invalid++
			}
		}
		row := fmt.Sprintf("| %v | %d/%d | %d/%d |", f, valid, valid, invalid, invalid)
		require.Regexp(t, `(?m)^\| \[reader\.py\].* `+regexp.QuoteMeta(row), string(page), "go -C lab run ./measure results writes the page")
	}
}

// FuzzAnswers: no answer panics or prints what a terminal obeys.
func FuzzAnswers(f *testing.F) {
	read := testenv.Must(exercisesOf(&config{format: gdwire.Godot3}))(f)
	write, err := exercisesOf(&config{format: gdwire.Godot3, encoder: true})
	require.NoError(f, err)
	f.Add([]byte(`{"t":"Nil"}`), uint16(0))
	f.Add([]byte(`{"error":"x"}`), uint16(1))
	f.Add([]byte("0b00000000000000"), uint16(2))
	f.Fuzz(func(t *testing.T, answer []byte, n uint16) {
		for _, all := range [][]exercise{read, write} {
			text := all[int(n)%len(all)].judge(answer)
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("%q is not printable", text)
			}
		}
	})
}
