// Package view serves the page of a saved game, or of the packets of live connections, to the user's browser.
package view

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"net"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
)

//go:embed page/*.html page/*.css page/*.js page/*.svg
var files embed.FS

// A Server serves a page.
type Server struct {
	*page.Page

	token string
	host  string
}

// Listen listens on a free port of the loopback address.
func (s *Server) Listen() (net.Listener, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.token, s.host = rand.Text(), ln.Addr().String()
	if s.Reopen != nil {
		s.Watch = s.waitForChange
	}
	s.Start()
	return ln, nil
}

// URL returns the secret address of the page: who knows it can read and edit the file.
func (s *Server) URL() string { return "http://" + s.host + "/" + s.token + "/" }

// Serve serves the page on the Listener of Listen until ctx is done.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	h := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = h.Close() })()
	defer s.End()
	err := h.Serve(ln)
	if err == http.ErrServerClosed {
		return nil
	}
	return err
}

// headers contains the headers of every answer. With these, the page runs its own script only,
// and no other page can read an answer or show it in a frame.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	token, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	known := subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
	isEdit := rest == "edit"
	switch {
	case isEdit != (r.Method == http.MethodPost) || !isEdit && r.Method != http.MethodGet:
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	case !known || !found || !s.fromHere(r, rest == "") || isEdit && !s.fromPage(r):
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	if s.Answer(&page.Request{Context: r.Context(), Name: rest, Query: r.URL.Query(), Body: r.Body, Output: output{w}}) {
		return
	}
	if rest == "" {
		rest = "index.html"
	}
	b, err := files.ReadFile(path.Join("page", path.Base(rest)))
	if err != nil || path.Base(rest) != rest {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(rest)])
	_, _ = w.Write(b)
}

var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// fromHere reports whether a request comes from the page itself, or opens the page. The page may
// be opened from another origin, as by the file of Open.
func (s *Server) fromHere(r *http.Request, page bool) bool {
	if r.Host != s.host {
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+s.host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return page && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// fromPage reports whether a request to edit comes from the page: the headers say so, as browsers send them, and
// name a type that a browser would not send for another page without asking first.
func (s *Server) fromPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return r.Header.Get("Origin") == "http://"+s.host && (site == "" || site == "same-origin") &&
		r.Header.Get("Content-Type") == "application/json"
}

// An output is a response as the Output of an answer.
type output struct{ http.ResponseWriter }

func (o output) SetType(mediaType string) { o.Header().Set("Content-Type", mediaType) }
func (o output) Flush() error             { return http.NewResponseController(o.ResponseWriter).Flush() }

// watchEvery is the time between two looks at the file while a page waits for a change.
const watchEvery = 300 * time.Millisecond

// waitForChange is the Watch of a page. A file still being written is read when size and time stay the same.
func (s *Server) waitForChange(ctx context.Context, after int, fault bool) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var seen os.FileInfo // of the change at the latest look
	missing := false     // at the latest look
	for {
		if s.Version() > after {
			return nil
		}
		file := s.OnDisk()
		info, err := os.Stat(file.Path)
		switch {
		case err != nil && missing: // and not only between the removal and a new file
			return err
		case err != nil:
		case same(info, file.Stat):
			if fault {
				return nil
			}
		case seen != nil && same(info, seen):
			return s.Reread(file)
		default:
			seen = info
		}
		missing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// same reports whether a file is the same and was not written in between.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
