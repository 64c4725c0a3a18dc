package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// The documents and the plot show the figures of figuresFile.
func TestPublished(t *testing.T) {
	r := testenv.Must(readReport(figuresFile))(t)
	files := testenv.Must(r.files())(t)
	for name, want := range files {
		if name == plotFile && runtime.GOARCH != "amd64" {
			continue // other processors round in other places
		}
		got := testenv.Must(os.ReadFile(name))(t)
		require.True(t, bytes.Equal(want, got), "%s does not show %s: run \"go run . publish -render\"", name, figuresFile)
	}
	if git("rev-parse", "--is-shallow-repository") == "false" {
		require.NoError(t, exec.Command("git", "merge-base", "--is-ancestor", r.Commit, "HEAD").Run(), "%s is of a commit that is not before this one: %s", figuresFile, r.Commit)
	}
}

// madeUp returns a report of all that is published, and the median or count of each group and contender: no two
// are the same, and all have four digits.
func madeUp() (r *report, number map[[2]string]float64) {
	number = map[[2]string]float64{}
	n := 1000.0
	next := func(c [2]string) float64 {
		if number[c] == 0 {
			n *= 1.013
			number[c] = must(strconv.ParseFloat(fmt.Sprintf("%.4g", n), 64))
		}
		return number[c]
	}
	r = &report{
		Commit: "abc1234", Machine: machine{Go: "go1", OS: "os", Arch: "arch", CPU: "CPU", Cores: 3}, Peers: []string{"a.b/peer/v2 v2.1.0", "a.b/c v1.0.0"},
		Layouts: 3, Times: published(false), Instructions: published(true),
	}
	for group, contenders := range r.Times {
		for name, m := range contenders {
			x := next([2]string{group, name})
			*m = measurement{Bytes: 64, Rounds: []float64{x, x / 2, 2 * x}}
		}
	}
	for group, contenders := range r.Instructions {
		for name, m := range contenders {
			m.Rounds = []float64{next([2]string{group, name})}
		}
	}
	return r, number
}

// shown returns the cells of the table after a heading, by their jobs and columns.
func shown(t *testing.T, document, title string) map[[2]string]string {
	_, section, ok := strings.Cut(document, "# "+title+"\n")
	require.True(t, ok, title)
	section, _, _ = strings.Cut(section, "\n#")
	all := map[[2]string]string{}
	var columns []string
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		fields := strings.Split(strings.Trim(line, "|\n"), "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if columns == nil {
			columns = fields
			continue
		}
		for i, text := range fields[1:] {
			all[[2]string{fields[0], columns[i+1]}] = text
		}
	}
	return all
}

// What is published is what was measured, after it was written to a file and read again.
func TestPublishMadeUp(t *testing.T) {
	r, number := madeUp()
	dir := t.TempDir()
	for _, p := range pages {
		b := testenv.Must(os.ReadFile(p.file))(t)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "lab", "bench"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "lab", "bench", p.file), b, 0o600))
	}
	t.Chdir(filepath.Join(dir, "lab", "bench"))
	files := testenv.Must(r.files())(t)
	require.NoError(t, os.WriteFile(figuresFile, files[figuresFile], 0o600))

	require.NoError(t, publish([]string{"-render"}, io.Discard, io.Discard))
	for name, want := range files {
		require.True(t, bytes.Equal(want, testenv.Must(os.ReadFile(name))(t)), name)
	}
	require.NotContains(t, string(files[plotFile]), "NaN")

	cells := 0
	for _, p := range pages {
		text := string(files[p.file])
		for _, table := range p.tables {
			unit := duration
			if table.instructions {
				unit = instructions
			}
			got := shown(t, text, table.title)
			for _, r := range table.rows {
				ours := number[[2]string{r.group, r.names[0]}]
				for j, name := range r.names {
					if name == "" {
						continue
					}
					cells++
					n := number[[2]string{r.group, name}]
					want, text := unit(n/max(1, r.per)), got[[2]string{r.job, table.columns[j]}]
					if !table.alone && j > 0 {
						want += fmt.Sprintf(" (× %.2g)", n/ours)
					}
					require.Equal(t, want, strings.Trim(text, "*"), "%s: %s, %s", table.title, r.job, table.columns[j])
				}
			}
		}
	}
	require.Greater(t, cells, 200)
	require.Contains(t, string(files["../../README.md"]), "at commit abc1234")
	run := shown(t, string(files["README.md"]), "The run")
	require.Equal(t, "peer v2.1.0, c v1.0.0", run[[2]string{"peers", ""}])
	require.Equal(t, "abc1234", run[[2]string{"commit", ""}])
	require.Contains(t, run[[2]string{"the medians of the builds differ by", ""}], "300 % at most")
}

func TestInstructions(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 73.4: "73", 9999.4: "9999", 9999.6: "10.0 k", 123456: "123.5 k", 1234567: "1.23 M", 1.2e8: "120 M"} {
		require.Equal(t, want, instructions(n))
	}
}

func TestReplaceTable(t *testing.T) {
	const old = "# a\n\nText.\n\n| x |\n|---|\n| 1 |\n\n| kept |\n\n# b\n\nText.\n"
	got := testenv.Must(replaceTable(old, "a", "| new |\n"))(t)
	require.Equal(t, "# a\n\nText.\n\n| new |\n\n| kept |\n\n# b\n\nText.\n", got)
	for _, c := range []struct{ text, title, table string }{
		{old, "b", "| new |\n"},       // no table
		{old, "c", "| new |\n"},       // no heading
		{old + old, "a", "| new |\n"}, // two of them
		{old, "a", ""},                // nothing measured
	} {
		_, err := replaceTable(c.text, c.title, c.table)
		require.ErrorContains(t, err, c.title)
	}
}

// Figures are those of a commit.
func TestPublishCommit(t *testing.T) {
	t.Chdir(t.TempDir())
	o := new(publication)
	require.EqualError(t, testenv.Try(func() { o.commit() }), "no commit of Git")
	for _, args := range [][]string{
		{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		out, err := exec.Command("git", args...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	clean := o.commit()
	require.Len(t, clean, 7)
	require.NoError(t, os.WriteFile("change", nil, 0o600))
	require.ErrorContains(t, testenv.Try(func() { o.commit() }), "?? change")
	o.dry = true
	require.Equal(t, clean, o.commit())
}
