//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/variant"
)

// fetch returns what a page answers.
func fetch(t *testing.T, url string) string {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(b)
}

// pageOf returns the address in a line of standard error.
func pageOf(t *testing.T, line string) string {
	url, ok := strings.CutPrefix(line, "gdwire: ")
	require.True(t, ok && strings.HasPrefix(url, "http://127.0.0.1:"), line)
	return url
}

// view shows a plain file where it is, and the content of a pipe, until it is interrupted.
func TestCommandView(t *testing.T) {
	content := framed(wire(27, 1, 4, "hp", 2, 10), wire(2, 5))
	name := filepath.Join(t.TempDir(), "save.bin")
	require.NoError(t, os.WriteFile(name, content, 0o600))
	for _, c := range []struct {
		name  string
		args  []string
		stdin io.Reader
	}{
		{"save.bin", []string{name}, nil},
		{"standard input", nil, strings.NewReader(string(content))},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w := io.Pipe()
			status := make(chan int, 1)
			go func() {
				status <- run(append([]string{"view", "-no-open", "-q"}, c.args...), c.stdin, io.Discard, w)
				w.Close()
			}()
			lines := bufio.NewScanner(r)
			require.True(t, lines.Scan())
			page := pageOf(t, lines.Text())
			require.Contains(t, fetch(t, page+"info"), `"name":"`+c.name+`"`)
			require.Contains(t, fetch(t, page+"info"), `"frame":"u32"`)
			require.Contains(t, fetch(t, page+"children?at=-1"), `{hp: 10}`)
			interrupt(t)
			require.Zero(t, <-status)
		})
	}
	r := runWith(nil, "view", "-no-open", filepath.Join(t.TempDir(), "missing"))
	require.Equal(t, statusBad, r.status)
}

// proxy -view shows the packets in a page, too.
func TestProxyView(t *testing.T) {
	p := startProxy(t, serve(t, echo), "-view", "-no-open")
	page := pageOf(t, p.line(t))
	packets := framed(wire(28, 2, 4, "move", 5, float32(1), float32(2.5)), wire(28, 1, 99))
	require.Equal(t, packets, p.exchange(t, packets))
	var shown string
	for strings.Count(shown, `"number"`) < 4 { // each answer waits for the next packet
		shown = fetch(t, page+"live?from=0")
	}
	require.Contains(t, shown, `"toServer":true,"size":32,"text":"[\"move\",[1.0,2.5]]"`)
	require.Contains(t, shown, `unknown godot4 type id 99`)
	require.Contains(t, fetch(t, page+"children?at=-1&packet=0"), `Array`)
	r := p.end(t, 1)
	require.Zero(t, r.status)
	require.Equal(t, 4, strings.Count(r.out, "#1"), "the lines stay")
}

// The page compares as diff does, and large files by position.
func TestCompareSources(t *testing.T) {
	sourcesOf := func(values ...any) (sources []*view.Source) {
		for _, value := range values {
			b, err := variant.Marshal(value)
			require.NoError(t, err)
			s := &view.Source{Store: save.InMemory(b)}
			s.Format, s.Frame = gdwire.Godot4, save.Bare
			sources = append(sources, s)
		}
		return sources
	}
	list := []any{"a", 5, "b"}
	sources := sourcesOf([]any{1, list, 2}, []any{list[:1], 2})
	compare := func() (changes []view.Change, note string) {
		note, err := compareSources(newOptions())(t.Context(), sources[0], sources[1], func(c view.Change) bool {
			changes = append(changes, c)
			return true
		})
		require.NoError(t, err)
		return changes, note
	}
	inside, _ := compare()
	require.Equal(t, []view.Change{{Path: "$[0]", Old: "1"}, {Path: "$[1][1]", At: "$[0][1]", Old: "5"}, {Path: "$[1][2]", At: "$[0][2]", Old: `"b"`}}, inside)
	sources = sourcesOf([]any{1, "a", 2}, []any{"a", 3})
	aligned, note := compare()
	require.Equal(t, []view.Change{{Path: "$[0]", Old: "1"}, {Path: "$[1]", Old: "2", New: "3"}}, aligned)
	require.Empty(t, note)

	defer func(n int64) { maxAligned = n }(maxAligned)
	maxAligned = 1
	byPosition, note := compare()
	require.Equal(t, []view.Change{{Path: "$[0]", Old: "1", New: `"a"`}, {Path: "$[1]", Old: `"a"`, New: "3"}, {Path: "$[2]", Old: "2"}}, byPosition)
	require.Equal(t, "large files are compared by position", note)

	n := 0
	_, err := compareSources(newOptions())(t.Context(), sources[0], sources[1], func(view.Change) bool { n++; return false })
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
