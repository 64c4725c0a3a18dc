package conformance

import (
	"bytes"
	"encoding/json"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

func must2[V, W any](v V, w W, err error) func(testing.TB) (V, W) { return testenv.Must2(v, w, err) }

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

// Git keeps every version of every file, so an executable that was added by mistake stays in each clone.
func TestTrackedFiles(t *testing.T) {
	const root, most = "../../..", 2 << 20
	out, err := exec.Command("git", "-C", root, "ls-files", "-s", "-z").Output()
	if err != nil {
		t.Skip("no checkout of Git")
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	require.Greater(t, len(files), 500)
	for _, line := range files {
		mode, name, _ := strings.Cut(line, " ")
		_, name, _ = strings.Cut(name, "\t")
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, not yet committed
		}
		require.NoError(t, err)
		require.LessOrEqual(t, len(data), most, "%s is larger than 2 MiB", name)
		if mode == "100755" {
			require.True(t, strings.HasPrefix(string(data), "#!"), "%s is executable and no script", name)
		}
		for _, magic := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe"} {
			require.False(t, strings.HasPrefix(string(data), magic), "%s is a program", name)
		}
	}
}

// Workflows run only actions and images that can't change, with the rights that they name.
func TestWorkflowsPinned(t *testing.T) {
	t.Chdir("../../..")
	files := must(filepath.Glob(".github/workflows/*.yml"))(t)
	require.NotEmpty(t, files)
	uses, pinned := regexp.MustCompile(`\buses: .*`), regexp.MustCompile(`^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, name := range files {
		b := must(os.ReadFile(name))(t)
		lines := uses.FindAllString(string(b), -1)
		require.NotEmpty(t, lines, name)
		for _, line := range lines {
			assert.Regexp(t, pinned, line, name)
		}
		assert.Equal(t, len(lines), strings.Count(string(b), "\n      - uses:"), name)
		assert.Regexp(t, `(?m)^permissions:( \{\}|\n  contents: read)\n[^ ]`, string(b), "%s: rights of all jobs", name)
		assert.Equal(t, strings.Count(string(b), "actions/checkout@"), strings.Count(string(b), "persist-credentials: false"), name)
	}
	require.Regexp(t, `(?m)^FROM \S+@sha256:[0-9a-f]{64}$`, string(must(os.ReadFile(".ci/Dockerfile"))(t)))
}

// A weight is how much code there is of a role. Lines are those with a token that is no comment, of files that no program
// wrote.
type weight struct {
	Lines int `json:"lines"`
	Files int `json:"files"`
}

// roles contains the folders of each role. Tests are a role of their own, everything else is public.
var roles = []struct {
	name    string
	folders []string
}{
	{"laboratory", []string{"lab", "internal/test", "internal/values/suite", "internal/values/tagged", "spec", ".ci"}},
	{"examples", []string{"examples"}},
	{"command", []string{"cmd"}},
	{"internal", []string{"internal"}},
}

// TestCodeBudget: no role has more code than .ci/budget.json allows, by more than 1 %. GDWIRE_WRITE_BUDGET=1 rewrites it; the
// message of the commit says why.
func TestCodeBudget(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	got := map[string]weight{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		lines := codeLines
		switch filepath.Ext(path) {
		case ".go":
		case ".js", ".css", ".html":
			lines = textLines
			if !strings.Contains(filepath.ToSlash(path), "view/page/") {
				return nil
			}
		default:
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil || bytes.Contains(src[:min(len(src), 2000)], []byte("DO NOT EDIT")) {
			return err
		}
		name, err := filepath.Rel(root, path)
		role := roleOf(filepath.ToSlash(name))
		w := got[role]
		got[role] = weight{w.Lines + lines(src), w.Files + 1}
		return err
	}))
	file := filepath.Join(root, ".ci", "budget.json")
	if os.Getenv("GDWIRE_WRITE_BUDGET") != "" {
		require.NoError(t, os.WriteFile(file, append(must(json.MarshalIndent(got, "", "\t"))(t), '\n'), 0o644))
	}
	b := must(os.ReadFile(file))(t)
	var allowed map[string]weight
	require.NoError(t, json.Unmarshal(b, &allowed))
	require.Len(t, allowed, len(got))
	for role, w := range got {
		const why = "%s; if it must be, GDWIRE_WRITE_BUDGET=1 go test -run TestCodeBudget ./internal/test/conformance, and the message of the commit says why"
		require.LessOrEqual(t, w.Lines*100, allowed[role].Lines*101, "lines of "+why, role)
		require.LessOrEqual(t, w.Files*100, allowed[role].Files*101, "files of "+why, role)
	}
}

// roleOf returns the role of a file.
func roleOf(name string) string {
	switch {
	case strings.HasSuffix(name, "_test.go"):
		return "tests"
	case !strings.HasSuffix(name, ".go"):
		return "page"
	}
	for _, r := range roles {
		for _, folder := range r.folders {
			if strings.HasPrefix(name, folder+"/") {
				return r.name
			}
		}
	}
	return "public"
}

// codeLines returns the number of lines with a token that is no comment.
func codeLines(src []byte) int {
	file := token.NewFileSet().AddFile("", 1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	n, last := 0, 0
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue
		}
		from := file.Line(pos)
		to := from + strings.Count(text, "\n")
		n += max(0, to-max(from, last+1)+1)
		last = max(last, to)
	}
}

// textLines returns the number of lines that are not blank.
func textLines(src []byte) (n int) {
	for line := range bytes.Lines(src) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}

func TestCodeLines(t *testing.T) {
	for src, want := range map[string]int{
		"": 0, "package a\n": 1, "// A\npackage a\n\n/* b\nc */ var x = 1 // d\n": 2, "package a\n\nconst s = `1\n2\n3`; var (\n)\n": 5,
	} {
		require.Equal(t, want, codeLines([]byte(src)), src)
	}
}
