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
