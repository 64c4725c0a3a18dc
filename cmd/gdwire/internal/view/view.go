// Package view serves a page showing a saved game, or the packets of live connections, beside
// their bytes. The values of a saved game can be edited there.
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
	"sync"
	"time"

	"github.com/gdwire/gdwire/internal/values/save"
)

//go:embed page
var pages embed.FS

// A Server serves the page.
type Server struct {
	// File is the file shown, or nil.
	File *Source
	// Before is compared with File, such as an older save, or is nil.
	Before *Source
	// Reopen opens the file again after a change, or is nil if File cannot change, as a pipe.
	Reopen func() (*Source, error)
	// Compare compares two Sources, or is nil if there is no file.
	Compare CompareFunc
	// Edit and Save edit the file. They are nil if nothing can be edited.
	Edit EditFunc
	Save SaveFunc
	// Ask returns questions about edits, or is nil.
	Ask AskFunc
	// Live holds the live packets shown, or is nil.
	Live *Live
	// Recording is the name of the recording of the packets in Live, or "".
	Recording string
	// Command is the file's name in the commands that the page offers to copy.
	Command string

	token    string
	host     string
	searches chan struct{}
	versions versions
	session  session
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
	s.versions.set(s.Before, s.File)
	if s.File != nil {
		s.session.history = newHistory(s.File)
	}
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
	defer s.end()
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

// An answer answers a request below the token: with a value as JSON, or if the value is nil by what it wrote.
type answer func(s *Server, w http.ResponseWriter, r *http.Request) (any, error)

var answers = map[string]answer{
	"info": (*Server).info, "live": (*Server).live, "watch": (*Server).watch, "changes": (*Server).changes, "search": (*Server).search,
	"children": about(func(a *arguments) (any, error) { return a.source.children(a.done(), a.at, a.end, a.index) }),
	"value":    about(func(a *arguments) (any, error) { return a.source.detail(a.done(), a.at, a.end, a.width) }),
	"text": about(func(a *arguments) (any, error) {
		text, err := a.source.whole(a.done(), a.at, a.end, a.width)
		return map[string]string{"text": text}, err
	}),
	"picture": about((*arguments).picture), "way": about((*arguments).way), "sizes": about((*arguments).sizes),
}

// about returns the answer to a request about a version of the file or a live packet.
func about(do func(*arguments) (any, error)) answer {
	return func(s *Server, w http.ResponseWriter, r *http.Request) (any, error) {
		a, err := s.arguments(w, r)
		if err != nil {
			return nil, err
		}
		return do(a)
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	token, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	known := subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
	isEdit := r.Method == http.MethodPost && rest == "edit"
	switch {
	case r.Method != http.MethodGet && !isEdit:
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	case !known || !found || !s.fromHere(r, rest == "") || isEdit && !s.fromPage(r):
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	do, ok := answers[rest]
	if isEdit {
		do, ok = (*Server).edit, true
	}
	if ok {
		v, err := do(s, w, r)
		if err != nil {
			v = map[string]*fault{"error": faultOf(err)}
		}
		if v != nil {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v) // an error means a connection closed by the browser
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

// fromPage reports whether a request to edit comes from the page: the headers say so, as browsers send them, and
// name a type that a browser would not send for another page without asking first.
func (s *Server) fromPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return r.Header.Get("Origin") == "http://"+s.host && (site == "" || site == "same-origin") &&
		r.Header.Get("Content-Type") == "application/json"
}

// info describes the content shown.
func (s *Server) info(http.ResponseWriter, *http.Request) (any, error) {
	about := map[string]any{"live": s.Live != nil, "recording": s.Recording}
	if f, version := s.versions.latest(); f != nil {
		file := map[string]any{
			"name": f.Name, "command": s.Command, "size": f.Size, "format": f.Format.String(),
			"frame": f.Frame.String(), "container": f.Container,
			"version": version, "changes": s.Reopen != nil, "edits": s.aboutEdits(),
		}
		switch name, changed := s.versions.since(); {
		case name != "":
			file["before"] = name
		case !changed.IsZero():
			file["changed"] = changed
		}
		about["file"] = file
	}
	return about, nil
}

// arguments holds the arguments of a request for a value.
type arguments struct {
	*http.Request
	w              http.ResponseWriter
	source         *Source
	at, end, index int64
	width          int64
}

func (a *arguments) done() <-chan struct{} { return a.Context().Done() }

// arguments returns the arguments of a request. packet is the number of a live packet; without
// it, the request is about a version of the file, or the latest.
func (s *Server) arguments(w http.ResponseWriter, r *http.Request) (a *arguments, err error) {
	a = &arguments{Request: r, w: w}
	q := r.URL.Query()
	a.source, _ = s.versions.latest()
	if q.Has("version") {
		version, _ := strconv.Atoi(q.Get("version"))
		if a.source = s.versions.get(version); a.source == nil {
			return a, save.ErrFileChanged
		}
	}
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
	if a.at < root || a.at > a.source.Size || a.index < 0 || a.width < 0 {
		return a, errNoValue
	}
	return a, nil
}

// number returns an argument of a request, or 0 if missing.
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

func (a *arguments) picture() (any, error) {
	content, mediaType, err := a.source.picture(a.done(), max(a.at, 0), a.source.Size)
	if err != nil || mediaType == "" {
		http.Error(a.w, "no picture", http.StatusNotFound)
		return nil, nil
	}
	a.w.Header().Set("Content-Type", mediaType)
	_, _ = a.w.Write(content)
	return nil, nil
}

// search answers with a line of JSON for each hit and for the progress: in the file, in a packet, or in
// all kept packets.
func (s *Server) search(w http.ResponseWriter, r *http.Request) (any, error) {
	query := r.URL.Query()
	q, err := newQuery(query.Get("q"), query.Get("kind") == "number")
	if err != nil {
		return nil, err
	}
	select {
	case s.searches <- struct{}{}:
		defer func() { <-s.searches }()
	default:
		return nil, fmt.Errorf("%d searches are running", maxSearches)
	}
	if query.Has("packets") && s.Live != nil {
		s.Live.search(r.Context(), q, lines[progress](w))
		return nil, nil
	}
	a, err := s.arguments(w, r)
	if err != nil {
		return nil, err
	}
	send := lines[progress](w)
	if err := a.source.search(r.Context(), q, send); err != nil && r.Context().Err() == nil {
		_ = send(progress{Done: true, Error: faultOf(err)})
	}
	return nil, nil
}

// lines returns a function answering with one more line of JSON.
func lines[T any](w http.ResponseWriter) func(T) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	to, flush := json.NewEncoder(w), http.NewResponseController(w)
	return func(v T) error {
		if err := to.Encode(v); err != nil {
			return err
		}
		return flush.Flush()
	}
}

// way answers with the way to a path or to an offset.
func (a *arguments) way() (any, error) {
	var to way
	var err error
	missing := ""
	if path := a.URL.Query().Get("path"); path != "" {
		to, missing, err = a.source.wayTo(a.done(), path)
	} else {
		to, err = a.source.wayAt(a.done(), a.at)
	}
	return map[string]any{"way": to, "missing": missing}, err
}

// sizes answers with lines of JSON: the progress, and at the end the largest children.
func (a *arguments) sizes() (any, error) {
	send := lines[sizes](a.w)
	if err := a.source.sizes(a.Context(), a.at, a.end, send); err != nil && a.Context().Err() == nil {
		_ = send(sizes{Done: true, Error: faultOf(err)})
	}
	return nil, nil
}

// live answers with packets as soon as there are some.
func (s *Server) live(_ http.ResponseWriter, r *http.Request) (any, error) {
	if s.Live == nil {
		return nil, errors.New("there are no live packets")
	}
	from, err := number(r.URL.Query(), "from")
	if err != nil {
		return nil, err
	}
	var c *condition
	if where := r.URL.Query().Get("where"); where != "" {
		c, _ = newCondition(where) // a condition still being typed holds for none
	}
	packets, oldest, missed := s.Live.after(r.Context(), from, c)
	return map[string]any{"packets": packets, "oldest": oldest, "missed": missed}, nil
}

// versions holds the latest version shown and the one before, by number. Each edit makes a new version, and
// so does a change of the file.
type versions struct {
	mu      sync.Mutex
	number  int        // of the latest
	shown   [2]*Source // the latest last; pages without the latest ask for the other
	file    *Source    // as read or saved
	before  *Source    // to compare with: another file, or the same before the change
	changed time.Time  // when file was read or saved, if not the first
}

func (v *versions) set(before, file *Source) {
	v.number, v.shown, v.file, v.before = 1, [2]*Source{nil, file}, file, before
}

// latest returns the latest version and its number, or nil.
func (v *versions) latest() (*Source, int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shown[1], v.number
}

// onDisk returns the file without unsaved edits, or nil.
func (v *versions) onDisk() *Source {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.file
}

// get returns the version with a number, or nil if it is no longer kept.
func (v *versions) get(number int) *Source {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := number - v.number + 1; i == 0 || i == 1 {
		return v.shown[i]
	}
	return nil
}

// compared returns the latest version, and the version to compare it with: the file, if there are unsaved
// edits. before is nil if there is none.
func (v *versions) compared() (before, after *Source) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shown[1] != v.file {
		return v.file, v.shown[1]
	}
	return v.before, v.file
}

// since returns the name of the other file to compare with, or else the time at which the same
// file changed. Both are zero if there is nothing to compare with.
func (v *versions) since() (name string, changed time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.changed.IsZero() && v.before != nil {
		name = v.before.Name
	}
	return name, v.changed
}

// show shows the file with other edits.
func (v *versions) show(shown *Source) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.number, v.shown = v.number+1, [2]*Source{v.shown[1], shown}
}

// replace notes a change of the file, and shows the file or, with edits, another Source.
func (v *versions) replace(file, shown *Source) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.before, v.file, v.changed = v.file, file, time.Now()
	v.number, v.shown = v.number+1, [2]*Source{v.shown[1], shown}
}

// A Change is a difference between two Sources.
type Change struct {
	Path string `json:"path"`           // in the newer Source, or in the older if the value is gone
	At   string `json:"at,omitempty"`   // the place in the newer Source, if not Path
	From string `json:"from,omitempty"` // the path in the older Source, if not Path
	Old  string `json:"old"`            // as text, perhaps cut; "" if the value was added
	New  string `json:"new"`            // "" if the value is gone
}

// A CompareFunc calls yield for each difference between two Sources, until yield returns false. note
// says how they were compared, if not element by element.
type CompareFunc func(ctx context.Context, before, after *Source, yield func(Change) bool) (note string, err error)
