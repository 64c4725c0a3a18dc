package view

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

// source returns a Source of a value in Godot 4's format.
func source(t testing.TB, v any) *page.Source {
	return &page.Source{Store: save.InMemory(gdwiretest.Encode(t, v)), Name: "save.bin", Format: gdwire.Godot4, Frame: save.Bare}
}

// start serves a page, and returns a function that requests a part of it.
func start(t testing.TB, s *Server) (get func(what string, header ...string) (*http.Response, string)) {
	ln := must(s.Listen())(t)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
	})
	return func(what string, header ...string) (*http.Response, string) {
		at := what
		if !strings.HasPrefix(what, "http") {
			at = s.URL() + what
		}
		r := must(http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil))(t)
		for i := 0; i < len(header); i += 2 {
			switch header[i] {
			case "Host":
				r.Host = header[i+1]
			case "Method":
				r.Method = header[i+1]
			default:
				r.Header.Set(header[i], header[i+1])
			}
		}
		answer := must(http.DefaultClient.Do(r))(t)
		defer func() { _ = answer.Body.Close() }()
		return answer, string(must(io.ReadAll(answer.Body))(t))
	}
}

func TestPageServer(t *testing.T) {
	s := &Server{Page: &page.Page{File: source(t, "text"), Command: "save.bin", Live: page.NewLive(nil)}}
	get := start(t, s)

	answer, body := get("")
	require.Equal(t, 200, answer.StatusCode)
	require.Contains(t, body, "<title>gdwire view</title>")
	for name, value := range headers {
		require.Equal(t, value, answer.Header.Get(name))
	}
	for _, name := range []string{"page.js", "page.css"} {
		answer, _ = get(name)
		require.Equal(t, types[filepath.Ext(name)], answer.Header.Get("Content-Type"))
	}
	answer, body = get("info")
	require.Equal(t, "application/json", answer.Header.Get("Content-Type"))
	require.Contains(t, body, `"name":"save.bin"`)
	_, body = get("search?at=0&q=tex")
	require.Equal(t, 2, strings.Count(body, "\n"))
	for _, header := range [][]string{
		{"Host", "evil.example"}, {"Host", "localhost:80"}, {"Origin", "http://evil.example"}, {"Origin", "null"},
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"},
	} {
		answer, _ = get("", header...)
		require.Equal(t, 404, answer.StatusCode, header)
		answer, _ = get("info", header...)
		require.Equal(t, 404, answer.StatusCode, header)
	}
	opens := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	answer, _ = get("", opens...)
	require.Equal(t, 200, answer.StatusCode, "the file that opens the page")
	answer, _ = get("info", opens...)
	require.Equal(t, 404, answer.StatusCode)
	for _, method := range []string{"POST", "PUT", "DELETE", "HEAD", "OPTIONS"} {
		answer, _ = get("info", "Method", method)
		require.Equal(t, 405, answer.StatusCode, method)
	}
	at := must(url.Parse(s.URL()))(t)
	require.Len(t, strings.Trim(at.Path, "/"), 26)
	for _, name := range []string{"/", "/info", "/" + strings.Repeat("A", 26) + "/info", at.Path + "../info", at.Path + "page/page.js", at.Path + "..%2fview.go", at.Path + "x"} {
		answer, _ = get("http://" + at.Host + name)
		require.Equal(t, 404, answer.StatusCode, name)
	}
}

// A pipeListener accepts connections from a channel.
type pipeListener struct {
	net.Listener
	conns chan net.Conn
}

func (l *pipeListener) Accept() (net.Conn, error) {
	if c, ok := <-l.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l *pipeListener) Close() error { return nil }

// The page keeps no connection of a client that sends no request, and takes no endless one.
func TestServeLimits(t *testing.T) {
	const request = "GET / HTTP/1.1\r\nHost: x\r\n"
	for name, c := range map[string]struct {
		send, answer string
		open         time.Duration // after the answer, or 0 if package http decides that
	}{
		"a part of a request": {request, "", 10 * time.Second},
		"a request":           {request + "\r\n", "HTTP/1.1 404", time.Minute},
		"a long request":      {request + "X: " + strings.Repeat("x", 15<<10) + "\r\n\r\n", "HTTP/1.1 404", time.Minute},
		"an endless request":  {request + "X: " + strings.Repeat("x", 32<<10) + "\r\n\r\n", "HTTP/1.1 431", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				ln := &pipeListener{conns: make(chan net.Conn, 1)}
				served := make(chan error, 1)
				go func() { served <- (&Server{Page: new(page.Page)}).Serve(ctx, ln) }()
				client, server := net.Pipe()
				ln.conns <- server
				go func() { _, _ = io.WriteString(client, c.send) }()
				start := time.Now()
				answer := must(io.ReadAll(client))(t)
				require.True(t, strings.HasPrefix(string(answer), c.answer), "%.100s", answer)
				require.Contains(t, []time.Duration{0, time.Since(start)}, c.open)
				require.NoError(t, client.Close())
				cancel()
				synctest.Wait() // until the server is closed
				close(ln.conns)
				require.NoError(t, <-served)
			})
		})
	}
}

// The browser gets the name of a file that only the user can read, and not the address.
func TestOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("another command opens the browser")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\n"), 0o700))
	t.Setenv("PATH", dir)
	t.Setenv("TMPDIR", dir)
	s := &Server{Page: &page.Page{File: source(t, 5)}}
	start(t, s)
	remove := must(s.Open())(t)
	names := must(filepath.Glob(filepath.Join(dir, "gdwire-*.html")))(t)
	require.Len(t, names, 1)
	require.Equal(t, []string{"xdg-open", names[0]}, browser(names[0]).Args)
	require.Equal(t, os.FileMode(0o600), must(os.Stat(names[0]))(t).Mode())
	require.Contains(t, string(must(os.ReadFile(names[0]))(t)), "url="+s.URL())
	remove()
	require.NoFileExists(t, names[0])

	t.Setenv("PATH", t.TempDir())
	_, err := s.Open()
	require.Error(t, err)
	names = must(filepath.Glob(filepath.Join(dir, "gdwire-*.html")))(t)
	require.Empty(t, names)
}

// A file that is written again becomes the next version, once it stays the same, and the one before it
// can still be read.
func TestVersions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "save.bin")
	many := func(n int) []any { return slices.Repeat([]any{n}, 6000) }
	open := func() (*page.Source, error) {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		b, err := os.ReadFile(name)
		s := source(t, nil)
		s.Store, s.Path, s.Stat = save.InMemory(b), name, info
		return s, err
	}
	require.NoError(t, os.WriteFile(name, gdwiretest.Encode(t, many(1)), 0o600))
	first := must(open())(t)
	s := &Server{Page: &page.Page{File: first, Reopen: open}}
	get := start(t, s)
	_, body := get("changes")
	require.Contains(t, body, "there is nothing to compare with")

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, s.waitForChange(ctx, 1, false))
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded, "nothing has changed")
		require.NoError(t, os.WriteFile(name, gdwiretest.Encode(t, many(2)), 0o600))
		require.NoError(t, os.Chtimes(name, time.Time{}, time.Unix(1000, 0)))
		require.NoError(t, s.waitForChange(t.Context(), 1, false))
		require.NoError(t, os.Rename(name, name+".away"))
		require.NoError(t, os.WriteFile(name+".other", nil, 0o600))
		require.NoError(t, s.waitForChange(t.Context(), 1, false), "another request has seen it")
		require.ErrorIs(t, s.waitForChange(t.Context(), 2, false), os.ErrNotExist, "a file that has gone is told")
		require.NoError(t, os.Rename(name+".away", name))
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, s.waitForChange(ctx, 2, true))
		require.NoError(t, ctx.Err(), "so is one that is back")
	})
	_, body = get("info")
	require.Contains(t, body, `"version":2`)
	_, body = get("children?at=-1")
	require.Contains(t, body, `"text":"[2, `)
	_, body = get("children?at=-1&version=1")
	require.Contains(t, body, `"text":"[1, `)
	_, body = get("children?at=-1&version=0")
	require.Contains(t, body, "the file has changed")
	_, body = get("changes")
	require.True(t, strings.HasPrefix(body, `{"change":{"path":"$[0]","old":"1","new":"2"}}`+"\n"))
	require.True(t, strings.HasSuffix(body, "\n"+`{"done":true,"more":true}`+"\n"))
	require.Equal(t, 5001, strings.Count(body, "\n"))
	_, body = get("watch?version=1")
	require.Contains(t, body, `"version":2`)
	_, body = get("way?path=$")
	require.JSONEq(t, `{"way":[0],"missing":""}`, body)
	_, body = get("way?at=3&version=2")
	require.JSONEq(t, `{"way":[0],"missing":""}`, body)
	_, body = get("sizes?at=-1")
	require.Contains(t, body, `"done":true`)
}

// Only the page edits: with the token, and the Host and Origin of the page.
func TestPageEditRefusals(t *testing.T) {
	const body = `{"op": "set", "at": "$.hp", "text": "1", "version": 1}`
	write := func(*page.Source, *save.Content, bool) (page.Saved, error) { return page.Saved{}, nil }
	s := &Server{Page: &page.Page{File: source(t, map[string]any{"hp": 5}), Save: write}}
	get := start(t, s)
	post := func(what string, header ...string) int {
		if !strings.HasPrefix(what, "http") {
			what = s.URL() + what
		}
		r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, what, strings.NewReader(body)))(t)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "http://"+r.Host)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		for i := 0; i < len(header); i += 2 {
			if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
				r.Host = header[i+1]
			}
			if header[i+1] == "" {
				r.Header.Del(header[i])
			}
		}
		answer := must(http.DefaultClient.Do(r))(t)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	for _, header := range [][]string{
		{"Origin", ""}, {"Origin", "null"}, {"Origin", "http://evil.example"}, {"Origin", "https://" + s.host}, {"Origin", "http://localhost:80"},
		{"Host", "evil.example"}, {"Host", "localhost:80"}, {"Host", "evil.example", "Origin", "http://evil.example"},
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "none"},
		{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"},
		{"Content-Type", ""}, {"Content-Type", "text/plain"}, {"Content-Type", "application/x-www-form-urlencoded"}, {"Content-Type", "multipart/form-data"},
	} {
		require.Equal(t, http.StatusNotFound, post("edit", header...), header)
	}
	for what, want := range map[string]int{
		"info": 405, "children": 405, "": 405, "edit/": 405, "../edit": 405,
		"http://" + s.host + "/edit": 405, "http://" + s.host + "/" + strings.Repeat("A", 26) + "/edit": 404,
	} {
		require.Equal(t, want, post(what), what)
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		answer, _ := get("edit?op=set&line=$.hp+%3D+1&version=1", "Method", method, "Origin", "http://"+s.host, "Content-Type", "application/json")
		require.Contains(t, []int{404, 405}, answer.StatusCode, method)
	}
	require.Equal(t, 1, s.Version())
	require.Equal(t, http.StatusOK, post("edit"))
	require.Equal(t, 2, s.Version())

}
