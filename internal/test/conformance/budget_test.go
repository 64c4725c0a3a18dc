package conformance

import (
	"bytes"
	"encoding/json"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	{"laboratory", []string{"lab", "internal/test", "internal/suite", "internal/tagged", "spec", ".ci"}},
	{"examples", []string{"examples"}},
	{"command", []string{"cmd", "internal/debugger"}},
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
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil || bytes.Contains(src[:min(len(src), 2000)], []byte("DO NOT EDIT")) {
			return err
		}
		name, err := filepath.Rel(root, path)
		role := roleOf(filepath.ToSlash(name))
		w := got[role]
		got[role] = weight{w.Lines + codeLines(src), w.Files + 1}
		return err
	}))
	file := filepath.Join(root, ".ci", "budget.json")
	if os.Getenv("GDWIRE_WRITE_BUDGET") != "" {
		b := must(json.MarshalIndent(got, "", "\t"))(t)
		require.NoError(t, os.WriteFile(file, append(b, '\n'), 0o644))
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
	if strings.HasSuffix(name, "_test.go") {
		return "tests"
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

func TestCodeLines(t *testing.T) {
	for src, want := range map[string]int{
		"": 0, "package a\n": 1, "// A\npackage a\n\n/* b\nc */ var x = 1 // d\n": 2, "package a\n\nconst s = `1\n2\n3`; var (\n)\n": 5,
	} {
		require.Equal(t, want, codeLines([]byte(src)), src)
	}
}
