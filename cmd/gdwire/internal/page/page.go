// Package page answers what a page of the browser asks about a saved game, or about the packets of live connections: the
// values, and their bytes. The values of a saved game can be edited. The package knows no files of a system and no
// HTTP: package view serves the page, and gdwire-web answers inside the browser.
package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
)

// A Page is what is shown. The fields are set before Start.
type Page struct {
	// File is the file shown, or nil.
	File *Source
	// Before is compared with File, such as an older save, or is nil.
	Before *Source
	// Reopen opens the file again after a change, or is nil if File cannot change, as a pipe.
	Reopen func() (*Source, error)
	// Watch returns when there is a version after the given one, or with the error of reading one, or after a fault also when
	// the file is the same as before; and when ctx is done. Watch is nil if nobody watches the file.
	Watch func(ctx context.Context, version int, fault bool) error
	// Keep and Derive are the offsets of the numbers around the values that Reopen keeps, or writes anew, or nil.
	Keep, Derive *[]int64
	// Save replaces the file, or is nil if nothing can be edited.
	Save SaveFunc
	// Live holds the live packets shown, or is nil.
	Live *Live
	// Recording is the name of the recording of the packets in Live, or "".
	Recording string
	// Command is the file's name in the commands that the page offers to copy.
	Command string

	searches chan struct{}
	versions versions
	session  session
}

// maxSearches is the number of searches at the same time.
const maxSearches = 4

// Start prepares the page for requests.
func (s *Page) Start() {
	s.searches = make(chan struct{}, maxSearches)
	s.versions.set(s.Before, s.File)
	if s.File != nil {
		s.session.history = newHistory(s.File)
	}
}

// Version returns the number of the latest version. Each edit makes a new version, and so does a change of the file.
func (s *Page) Version() int {
	_, version := s.versions.latest()
	return version
}

// OnDisk returns the file without unsaved edits, or nil.
func (s *Page) OnDisk() *Source { return s.versions.onDisk() }

// A Request is a request of the page.
type Request struct {
	Context context.Context // done when nobody waits for the answer
	Name    string
	Query   url.Values
	Body    io.Reader
	Output  Output
}

// An Output is where the answer to a Request is written.
type Output interface {
	io.Writer
	// SetType sets the media type, before the first Write.
	SetType(mediaType string)
	// Flush sends what was written.
	Flush() error
}

// An answer answers a request: with a value as JSON, or if the value is nil by what it wrote.
type answer func(s *Page, r *Request) (any, error)

var answers = map[string]answer{
	"info": (*Page).info, "live": (*Page).live, "watch": (*Page).watch, "changes": (*Page).changes, "search": (*Page).search, "edit": (*Page).edit,
	"children": about(func(a *arguments) (any, error) { return a.source.children(a.done(), a.at, a.end, a.index) }),
	"value":    about(func(a *arguments) (any, error) { return a.source.detail(a.done(), a.at, a.end, a.width) }),
	"text": about(func(a *arguments) (any, error) {
		literal, err := a.source.whole(a.done(), a.at, a.end, a.width)
		return wholeText(literal), err
	}),
	"picture": about((*arguments).picture), "way": about((*arguments).way), "sizes": about((*arguments).sizes),
}

// about returns the answer to a request about a version of the file or a live packet.
func about(do func(*arguments) (any, error)) answer {
	return func(s *Page, r *Request) (any, error) {
		a, err := s.arguments(r)
		if err != nil {
			return nil, err
		}
		return do(a)
	}
}

// Answer answers a request, or returns false if there is no such request.
func (s *Page) Answer(r *Request) bool {
	do, ok := answers[r.Name]
	if !ok {
		return false
	}
	v, err := do(s, r)
	if err != nil {
		v = map[string]*fault{"error": faultOf(err)}
	}
	if v != nil {
		r.Output.SetType("application/json")
		_ = json.NewEncoder(r.Output).Encode(v) // an error means a connection closed by the browser
	}
	return true
}

// info describes the content shown.
func (s *Page) info(*Request) (any, error) {
	about := map[string]any{"live": s.Live != nil, "recording": s.Recording}
	if f, version := s.versions.latest(); f != nil {
		file := map[string]any{
			"name": f.Name, "command": s.Command, "size": f.Size, "format": f.Format.String(),
			"frame": f.Frame.String(), "container": f.Container,
			"version": version, "changes": s.Watch != nil, "edits": s.aboutEdits(),
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
	*Request
	source         *Source
	at, end, index int64
	width          int64
}

func (a *arguments) done() <-chan struct{} { return a.Context.Done() }

// arguments returns the arguments of a request. packet is the number of a live packet; without
// it, the request is about a version of the file, or the latest.
func (s *Page) arguments(r *Request) (a *arguments, err error) {
	a = &arguments{Request: r}
	q := r.Query
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

var errNoPicture = errors.New("no picture")

func (a *arguments) picture() (any, error) {
	content, mediaType, err := a.source.picture(a.done(), max(a.at, 0), a.source.Size)
	if err != nil || mediaType == "" {
		return nil, errNoPicture
	}
	a.Output.SetType(mediaType)
	_, _ = a.Output.Write(content)
	return nil, nil
}

// search answers with a line of JSON for each hit and for the progress: in the file, in a packet, or in
// all kept packets.
func (s *Page) search(r *Request) (any, error) {
	query := r.Query
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
		s.Live.search(r.Context, q, lines[progress](r))
		return nil, nil
	}
	a, err := s.arguments(r)
	if err != nil {
		return nil, err
	}
	send := lines[progress](r)
	if err := a.source.search(r.Context, q, send); err != nil && r.Context.Err() == nil {
		_ = send(progress{Done: true, Error: faultOf(err)})
	}
	return nil, nil
}

// lines returns a function answering with one more line of JSON.
func lines[T any](r *Request) func(T) error {
	r.Output.SetType("application/x-ndjson")
	to := json.NewEncoder(r.Output)
	return func(v T) error {
		if err := to.Encode(v); err != nil {
			return err
		}
		return r.Output.Flush()
	}
}

// way answers with the way to a path or to an offset.
func (a *arguments) way() (any, error) {
	var to way
	var err error
	missing := ""
	if path := a.Query.Get("path"); path != "" {
		to, missing, err = a.source.wayTo(a.done(), path)
	} else {
		to, err = a.source.wayAt(a.done(), a.at)
	}
	return map[string]any{"way": to, "missing": missing}, err
}

// sizes answers with lines of JSON: the progress, and at the end the largest children.
func (a *arguments) sizes() (any, error) {
	send := lines[sizes](a.Request)
	if err := a.source.sizes(a.Context, a.at, a.end, send); err != nil && a.Context.Err() == nil {
		_ = send(sizes{Done: true, Error: faultOf(err)})
	}
	return nil, nil
}

// live answers with packets as soon as there are some.
func (s *Page) live(r *Request) (any, error) {
	if s.Live == nil {
		return nil, errors.New("there are no live packets")
	}
	from, err := number(r.Query, "from")
	if err != nil {
		return nil, err
	}
	var c *edit.Place
	if where, err := edit.ParsePlace(r.Query.Get("where")); err == nil { // a condition still being typed holds for none
		c = &where
	}
	packets, oldest, missed := s.Live.after(r.Context, from, c)
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
