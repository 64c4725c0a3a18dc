package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/gdwire/gdwire/internal/save"
)

// An Edit is an edit that the page asks for, as the command of the same name takes it.
type Edit struct {
	Op   string `json:"op"`   // set, add or delete
	Line string `json:"line"` // path = value, or the path of what is deleted
}

// An EditFunc returns a content after an edit, and what it has changed: nothing if c contains these values
// already.
type EditFunc func(c *save.Content, e Edit) (*save.Content, []Change, error)

// Saved describes a file that was saved.
type Saved struct {
	Stat   os.FileInfo
	Backup string // the name of the copy of the old file, if one was made
}

// A SaveFunc replaces the file of a Source by one with another content, if it has not changed since it was
// read. If backup is set, it copies the file before.
type SaveFunc func(file *Source, c *save.Content, backup bool) (Saved, error)

// A session holds the edits of the file. All that can be undone or made again stays, also when it was saved.
type session struct {
	mu       sync.Mutex
	ended    bool            // nothing is written any more
	edits    []Edit          // those after applied were undone
	contents []*save.Content // the file before all edits, and after each of them
	changes  [][]Change      // of each edit
	applied  int             // the number of edits that are shown
	saved    int             // the number of edits that the file contains, or -1 if these were undone and replaced by others
	backup   string          // the name of the copy of the file before the first edit was saved, or ""
	note     string          // what has become of the edits when the file changed
}

// start forgets all edits and starts with a file.
func (e *session) start(file *Source) {
	e.edits, e.changes, e.applied, e.saved, e.note = nil, nil, 0, 0, ""
	e.contents = []*save.Content{file.content()}
}

// pending returns the edits that are shown and not saved. If some are saved and were undone, it returns false.
func (e *session) pending() ([]Edit, bool) {
	if e.saved < 0 || e.saved > e.applied {
		return nil, false
	}
	return e.edits[e.saved:e.applied], true
}

// content returns the content of s for edits.
func (s *Source) content() *save.Content {
	r := save.Reading{Decoder: s.Options, Frame: s.Frame}
	r.Decoder.Format, r.Decoder.OneValue = s.Format, false
	return &save.Content{ReaderAt: s.ReaderAt(), Size: s.Size, Order: s.Frame.Order(), Decoder: r.Decoder, Encoder: r.Encoder()}
}

// edited returns a Source like s with a content that was edited.
func (s *Source) edited(c *save.Content) (*Source, error) {
	store, err := s.Store.Edited(c, save.MaxVersion)
	if err != nil {
		return nil, err
	}
	return &Source{
		Store: store, Name: s.Name, Path: s.Path, Stat: s.Stat, Format: s.Format, Frame: s.Frame,
		Container: s.Container, Options: s.Options, info: s.info, key: s.key,
	}, nil
}

// maxEdit is the size in bytes of the longest edit.
const maxEdit = 16 << 20

// deeds contains what the page asks for.
var deeds = map[string]func(*Server, Edit) error{
	"set": (*Server).apply, "add": (*Server).apply, "delete": (*Server).apply,
	"undo": func(s *Server, _ Edit) error { return s.move(-1) },
	"redo": func(s *Server, _ Edit) error { return s.move(1) },
	"save": func(s *Server, _ Edit) error { return s.save() },
}

// edit answers a request for an edit of a version, to undo or redo one, or to save all, with the new
// version.
func (s *Server) edit(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Edit
		Version int `json:"version"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxEdit)).Decode(&asked); err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	do := deeds[asked.Op]
	if do == nil {
		return fmt.Errorf("there is no %q", asked.Op)
	}
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	if why := s.readOnly(); why != "" {
		return errors.New(why)
	}
	if _, version := s.versions.latest(); version != asked.Version {
		return errors.New("this is no longer what the page shows: look at it again")
	}
	if err := do(s, asked.Edit); err != nil {
		return err
	}
	_, version := s.versions.latest()
	writeJSON(w, map[string]any{"version": version})
	return nil
}

// readOnly returns why the file cannot be edited, or "".
func (s *Server) readOnly() string {
	file := s.versions.onDisk()
	switch {
	case file == nil || s.Edit == nil:
		return "there is nothing to edit"
	case s.session.ended:
		return "gdwire has ended"
	}
	return file.ReadOnly
}

// apply makes an edit. Those that were undone cannot be made again after that.
func (s *Server) apply(edit Edit) error {
	e := &s.session
	next, changes, err := s.Edit(e.contents[e.applied], edit)
	if err != nil || len(changes) == 0 {
		return err
	}
	shown, err := s.versions.onDisk().edited(next)
	if err != nil {
		return err
	}
	if e.saved > e.applied {
		e.saved = -1
	}
	e.edits = append(e.edits[:e.applied:e.applied], edit)
	e.changes = append(e.changes[:e.applied:e.applied], changes)
	e.contents = append(e.contents[:e.applied+1:e.applied+1], next)
	e.applied++
	e.note = ""
	s.versions.show(shown)
	return nil
}

// move undoes an edit, or makes one again that was undone.
func (s *Server) move(by int) error {
	e := &s.session
	to := e.applied + by
	switch {
	case to < 0:
		return errors.New("there is nothing to undo")
	case to > len(e.edits):
		return errors.New("there is nothing to redo")
	}
	shown := s.versions.onDisk()
	if to != e.saved {
		var err error
		if shown, err = shown.edited(e.contents[to]); err != nil {
			return err
		}
	}
	e.applied, e.note = to, ""
	s.versions.show(shown)
	return nil
}

// save replaces the file by what is shown.
func (s *Server) save() error {
	e, file := &s.session, s.versions.onDisk()
	if e.applied == e.saved {
		return errors.New("nothing has changed")
	}
	if err := file.Check(); err != nil {
		return err
	}
	saved, err := s.Save(file, e.contents[e.applied], e.backup == "")
	if saved.Backup != "" {
		e.backup = saved.Backup
	}
	if err != nil {
		return err
	}
	e.saved, e.note = e.applied, ""
	shown, _ := s.versions.latest()
	shown.Stat = saved.Stat
	s.versions.replace(shown, shown)
	return nil
}

// changed shows a file that another program has written, and makes the edits in it again that were not
// saved.
func (s *Server) changed(file *Source) error {
	e, shown := &s.session, file
	edits, ok := e.pending()
	var lost []string
	if !ok {
		lost = []string{"what was undone after it was saved"}
	}
	e.start(file)
	for _, edit := range edits {
		next, changes, err := s.again(file, edit)
		if err != nil {
			lost = append(lost, fmt.Sprintf("%s %s (%v)", edit.Op, edit.Line, err))
		} else if len(changes) > 0 {
			e.edits, e.changes, e.contents = append(e.edits, edit), append(e.changes, changes), append(e.contents, next)
			e.applied++
		}
	}
	if e.applied > 0 {
		var err error
		if shown, err = file.edited(e.contents[e.applied]); err != nil {
			return err
		}
		e.note = fmt.Sprintf("Another program has changed the file. %d of your %d edits, which are not saved yet, were made in the new one. ", e.applied, len(edits))
	}
	if len(lost) > 0 {
		e.note += "Another program has changed the file, and this could not be kept: " + strings.Join(lost, "; ")
	}
	s.versions.replace(file, shown)
	return nil
}

// again makes an edit in a file that has changed.
func (s *Server) again(file *Source, edit Edit) (*save.Content, []Change, error) {
	if file.ReadOnly != "" {
		return nil, nil, errors.New(file.ReadOnly)
	}
	return s.Edit(s.session.contents[s.session.applied], edit)
}

// end ends the edits, after one that is being made or saved.
func (s *Server) end() {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	s.session.ended = true
}

// Unsaved returns the edits that are not saved.
func (s *Server) Unsaved() []Edit {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	edits, _ := s.session.pending()
	return edits
}

// aboutEdits describes the edits for the page.
func (s *Server) aboutEdits() map[string]any {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	e := &s.session
	return map[string]any{
		"readOnly": s.readOnly(), "undo": e.applied, "redo": len(e.edits) - e.applied, "unsaved": e.applied != e.saved,
		"backup": e.backup, "note": e.note,
	}
}

// made returns the changes of the edits that are not saved, in the order in which they were made.
func (s *Server) made() (all []Change) {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	if _, ok := s.session.pending(); ok {
		for _, changes := range s.session.changes[s.session.saved:s.session.applied] {
			all = append(all, changes...)
		}
	}
	return all
}
