// Package view serves the page of a saved game, or of the packets of live connections, to the user's browser.
package view

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/values/save"
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

// Open opens the page in the user's browser. Other users see the arguments of a process, so the
// browser gets the name of a file, readable by the user only, that leads to the page. remove
// removes the file.
func (s *Server) Open() (remove func(), err error) {
	f, err := os.CreateTemp("", "gdwire-*.html") // readable by the user only
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.Remove(f.Name()) }
	_, err = fmt.Fprintf(f, "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"+
		"<meta http-equiv=\"refresh\" content=\"0; url=%[1]s\"><a href=\"%[1]s\">gdwire</a>\n", html.EscapeString(s.URL()))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = browser(f.Name()).Start()
	}
	if err != nil {
		remove()
		return nil, err
	}
	return remove, nil
}

// browser returns the command to open a file in the user's browser.
func browser(file string) *exec.Cmd {
	switch runtime.GOOS {
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", file)
	case "darwin":
		return exec.Command("open", file)
	}
	return exec.Command("xdg-open", file)
}

// New returns the function defining the flags of view. The command opens recordings by openRecording.
func New(openRecording func(index string, o *open.Flags) (*page.Live, error)) func(f *shell.Flags) shell.Action {
	return func(f *shell.Flags) shell.Action {
		v := &viewer{openRecording: openRecording}
		v.open.Held = true
		v.open.ValueFlags(f, true)
		v.open.FileFlags(f)
		v.open.SkipFlag(f)
		f.QuietFlag()
		v.noOpen = NoOpenFlag(f)
		f.BoolVar(&v.readOnly, "read-only", false, "edit nothing in the page")
		return shell.Action{Run: func(s *shell.Stdio) error { return v.run(s, f.Operands) }}
	}
}

// NoOpenFlag defines -no-open.
func NoOpenFlag(f *shell.Flags) *bool {
	return f.Bool("no-open", false, "print the address of the page instead of opening a browser")
}

// A viewer shows files or a recording in a page.
type viewer struct {
	open          open.Flags
	noOpen        *bool
	readOnly      bool
	openRecording func(index string, o *open.Flags) (*page.Live, error)
}

// run shows a file, or a newer file compared with an older one, in a page until interrupted.
func (v *viewer) run(s *shell.Stdio, names []string) error {
	if len(names) == 0 {
		names = []string{""}
	}
	if len(names) == 1 && strings.HasSuffix(names[0], record.IndexName("")) {
		live, err := v.openRecording(names[0], &v.open)
		if err != nil {
			return err
		}
		return v.show(s, &page.Page{Live: live, Recording: filepath.Base(names[0])})
	}
	var files []*page.Source // the newest last
	for _, name := range names {
		file, err := v.source(s, name)
		if err != nil {
			return err
		}
		files = append(files, file)
		v.open.Keys.Use(file.Stack.Key()) // probably also the key of the second file
	}
	latest, name := files[len(files)-1], names[len(names)-1]
	p := &page.Page{File: latest, Command: save.DisplayName(name)}
	p.Save = func(file *page.Source, c *save.Content, backup bool) (page.Saved, error) {
		return v.save(file, c, backup)
	}
	if len(files) > 1 {
		p.Before = files[0]
		if p.Before.Name == latest.Name {
			p.Before.Name = names[0] // with its folder
		}
	}
	if latest.Path != "" {
		p.Reopen = func() (*page.Source, error) { return v.source(s, name) }
		p.Keep, p.Derive = &v.open.Keep, &v.open.Derive
	}
	return v.show(s, p)
}

// show shows a page until interrupted.
func (v *viewer) show(s *shell.Stdio, p *page.Page) error {
	ctx, end := shell.UntilEnded()
	defer end()
	serve, err := (&Server{Page: p}).Show(*v.noOpen, s.Logf)
	if err != nil {
		return err
	}
	err = serve(ctx)
	for _, edit := range p.Unsaved() {
		s.Logf("not saved: %s %s", edit.Op, shell.Cut(edit.Line, shell.PlainWidth))
	}
	return err
}

// source opens a file for a page.
func (v *viewer) source(s *shell.Stdio, name string) (*page.Source, error) {
	in, err := v.open.Open(s, name)
	if err != nil {
		return nil, err
	}
	file, err := v.sourceOf(in)
	if err != nil || file.Data != nil { // or the page reads the file as long as it is shown
		_ = in.Close()
	}
	return file, err
}

// sourceOf returns the content of an input for a page.
func (v *viewer) sourceOf(in *open.Input) (*page.Source, error) {
	stat, failed := os.Stat(in.Name) // before reading, to notice a later change
	file, err := page.NewSource(in.Stack)
	if err != nil {
		return nil, err
	}
	if failed == nil && stat.Mode().IsRegular() {
		file.Path, file.Stat = in.Name, stat
	}
	file.Name = filepath.Base(in.Name)
	switch {
	case v.readOnly:
		file.ReadOnly = errors.New("the page is read-only, as -read-only says")
	case file.Path == "":
		file.ReadOnly = errors.New("only a file can be edited")
	case v.open.Skip > 0:
		file.ReadOnly = errors.New("a file with a header, which -skip skips, is not edited")
	case in.Unsure != nil:
		file.ReadOnly = in.Unsure
	case file.ReadOnly == nil:
		file.ReadOnly = shell.CheckWritable(file.Path, file.Stat)
	default:
		file.ReadOnly = in.Explain(file.ReadOnly)
	}
	return file, nil
}

// save replaces a file by one with another content, in the same container.
func (v *viewer) save(file *page.Source, c *save.Content, backup bool) (saved page.Saved, err error) {
	if backup {
		if saved.Backup, err = shell.Backup(file.Path); err != nil {
			return saved, err
		}
	}
	saved.Stat, err = shell.Replace(file.Path, file.Stat, func(out *os.File) error { return file.Stack.Write(out, c.CopyTo) })
	if err != nil && backup { // the file is unchanged
		_ = os.Remove(saved.Backup)
		saved.Backup = ""
	}
	return saved, err
}

// Show opens the page in the browser, or with noOpen prints its address, and returns a function to serve
// the page until ctx is done.
func (s *Server) Show(noOpen bool, logf func(format string, args ...any)) (serve func(ctx context.Context) error, err error) {
	ln, err := s.Listen()
	if err != nil {
		return nil, err
	}
	remove := func() {}
	if noOpen {
		logf("%s", s.URL())
	} else if remove, err = s.Open(); err == nil {
		logf("the page is open in the browser; Ctrl-C ends it")
	} else {
		remove = func() {}
		logf("no browser was opened (%v): %s", err, s.URL())
	}
	return func(ctx context.Context) error {
		defer remove()
		return s.Serve(ctx, ln)
	}, nil
}
