// Package view serves a page that shows a saved game, or the packets of live connections, beside
// their bytes. Nothing can be changed with it: it answers GET requests only.
package view

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed page
var pages embed.FS

// A Server serves the page.
type Server struct {
	// File is the file that is shown, or nil.
	File *Source
	// Live holds the live packets that are shown, or is nil.
	Live *Live
	// Command is the file's name in the commands that the page offers to copy.
	Command string

	token    string
	host     string
	searches chan struct{}
}

// maxSearches is the number of searches at the same time.
const maxSearches = 4

// Listen listens on a free port of the loopback address.
func (s *Server) Listen() (net.Listener, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.token, s.host = rand.Text(), ln.Addr().String()
	s.searches = make(chan struct{}, maxSearches)
	return ln, nil
}

// URL returns the address of the page, which is a secret: who knows it can read the file.
func (s *Server) URL() string { return "http://" + s.host + "/" + s.token + "/" }

// Serve serves the page on the Listener of Listen until ctx is done.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	h := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = h.Close() })()
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

// An answer answers a request below the token.
type answer func(s *Server, w http.ResponseWriter, r *http.Request) error

var answers = map[string]answer{
	"info": (*Server).info, "children": (*Server).children, "value": (*Server).value,
	"picture": (*Server).picture, "search": (*Server).search, "live": (*Server).live,
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	token, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	known := subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
	switch {
	case r.Method != http.MethodGet:
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	case !known || !found || !s.fromHere(r, rest == ""):
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	if do, ok := answers[rest]; ok {
		if err := do(s, w, r); err != nil {
			writeJSON(w, map[string]*fault{"error": faultOf(err)})
		}
		return
	}
	if rest == "" {
		rest = "index.html"
	}
	b, err := pages.ReadFile(path.Join("page", path.Base(rest)))
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

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // an error says that the browser closed the connection
}

// info describes the content that is shown.
func (s *Server) info(w http.ResponseWriter, _ *http.Request) error {
	about := map[string]any{"live": s.Live != nil}
	if f := s.File; f != nil {
		about["file"] = map[string]any{
			"name": f.Name, "command": s.Command, "size": f.size, "format": f.Format.String(),
			"frame": f.Frame.String(), "container": f.Container,
		}
	}
	writeJSON(w, about)
	return nil
}

// arguments holds the arguments of a request for a value.
type arguments struct {
	source         *Source
	at, end, index int64
	width          int64
}

// arguments returns the arguments of a request. packet is the number of a live packet; without
// it, the request is about the file.
func (s *Server) arguments(r *http.Request) (a arguments, err error) {
	q := r.URL.Query()
	a.source = s.File
	if n, ok := q["packet"]; ok && s.Live != nil {
		number, _ := strconv.ParseInt(n[0], 10, 64)
		if a.source = s.Live.packet(number); a.source == nil {
			return a, errors.New("the packet is no longer kept")
		}
	}
	if a.source == nil {
		return a, errors.New("there is no file")
	}
	for name, to := range map[string]*int64{"at": &a.at, "end": &a.end, "index": &a.index, "width": &a.width} {
		if *to, err = number(q, name); err != nil {
			return a, err
		}
	}
	if a.at < root || a.at > a.source.size || a.index < 0 || a.width < 0 {
		return a, errors.New("there is no such value")
	}
	return a, nil
}

// number returns an argument of a request, or 0 if it is missing.
func number(q url.Values, name string) (int64, error) {
	text := q.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a number", name)
	}
	return n, nil
}

func (s *Server) children(w http.ResponseWriter, r *http.Request) error {
	a, err := s.arguments(r)
	if err != nil {
		return err
	}
	l, err := a.source.children(r.Context().Done(), a.at, a.end, a.index)
	if err == nil {
		writeJSON(w, l)
	}
	return err
}

func (s *Server) value(w http.ResponseWriter, r *http.Request) error {
	a, err := s.arguments(r)
	if err != nil {
		return err
	}
	if a.at == root {
		return errors.New("there is no such value")
	}
	d, err := a.source.detail(r.Context().Done(), a.at, a.end, a.width)
	if err == nil {
		writeJSON(w, d)
	}
	return err
}

func (s *Server) picture(w http.ResponseWriter, r *http.Request) error {
	a, err := s.arguments(r)
	if err != nil {
		return err
	}
	content, mediaType, err := a.source.picture(r.Context().Done(), max(a.at, 0), a.source.size)
	if err != nil || mediaType == "" {
		http.Error(w, "no picture", http.StatusNotFound)
		return nil
	}
	w.Header().Set("Content-Type", mediaType)
	_, _ = w.Write(content)
	return nil
}

// search answers with a line of JSON for each hit and for the progress.
func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	a, err := s.arguments(r)
	if err != nil {
		return err
	}
	q, err := newQuery(r.URL.Query().Get("q"), r.URL.Query().Get("kind") == "number")
	if err != nil {
		return err
	}
	select {
	case s.searches <- struct{}{}:
		defer func() { <-s.searches }()
	default:
		return fmt.Errorf("%d searches are running", maxSearches)
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	flush := http.NewResponseController(w)
	err = a.source.search(r.Context(), q, func(p progress) error {
		if err := lines.Encode(p); err != nil {
			return err
		}
		return flush.Flush()
	})
	if err != nil && r.Context().Err() == nil {
		_ = lines.Encode(progress{Done: true, Error: faultOf(err)})
	}
	return nil
}

// live answers with packets as soon as there are some.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	if s.Live == nil {
		return errors.New("there are no live packets")
	}
	from, err := number(r.URL.Query(), "from")
	if err != nil {
		return err
	}
	packets, oldest, missed := s.Live.after(r.Context(), from)
	writeJSON(w, map[string]any{"packets": packets, "oldest": oldest, "missed": missed})
	return nil
}
