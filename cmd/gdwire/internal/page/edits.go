package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/text"
)

// A request is what the page requests.
type request struct {
	Op      string `json:"op"`
	At      string `json:"at"`   // the path of the value, or of a new element
	Text    string `json:"text"` // as typed: the value
	Raw     bool   `json:"raw"`  // Text is a text, without quotes
	Pair    bool   `json:"pair"` // Text is a key and a value for the Dictionary or Object at At
	Sure    bool   `json:"sure"` // the question about the edit was answered
	Keep    *int64 `json:"keep"` // the offset of a doubtful number to keep, of a save
	Derive  *int64 `json:"derive"`
	Version int    `json:"version"`
	// Then is an edit after this one: both are made, or none.
	Then *request `json:"then"`

	question string // to ask before the edit is made
	doubt    *save.DoubtError
}

// edit returns the requested edit.
func (r *request) edit() (Edit, error) {
	switch {
	case r.Op == opDelete:
		return Edit{Op: r.Op, Line: r.At}, nil
	case r.Raw:
		return Edit{Op: r.Op, Line: r.At + " = " + string(text.AppendQuoted(nil, r.Text))}, nil
	case r.Pair:
		line, err := text.PairLine(r.At, r.Text)
		if wrong := (*text.SyntaxError)(nil); errors.As(err, &wrong) { // the page shows the text
			err = errors.New(wrong.Reason)
		}
		return Edit{Op: r.Op, Line: line}, err
	}
	return Edit{Op: r.Op, Line: r.At + " = " + r.Text}, nil
}

// Saved describes a saved file.
type Saved struct {
	Stat   fs.FileInfo
	Backup string // the name of the copy of the old file, if one was made
	Note   string // where the file is, if not in the place of the old one
}

// A SaveFunc replaces the file of a Source by one with another content, unless the file has changed since the
// Source was read. With backup, the old file is copied first.
type SaveFunc func(file *Source, c *save.Content, backup bool) (Saved, error)

// A session holds the edits of the file.
type session struct {
	mu       sync.Mutex
	ended    bool   // nothing more is written
	answered string // the latest question before an edit that was made: it is asked once
	backup   string // the name of the copy of the file before the first edit was saved, or ""
	note     string // about the edits when the file changed
	history  history
}

// A history contains the edits of a file and the contents they made. Saved edits can be undone and made again, too.
type history struct {
	edits    []Edit          // those after applied were undone
	contents []*save.Content // the file before all edits, and after each of them
	changes  [][]Change      // of each edit
	applied  int             // the number of edits shown
	saved    int             // the number of edits in the file
	undone   []Edit          // also in the file, but undone and replaced by others
	waiting  []waiting       // for a version of the file allowing them
}

// A waiting is an edit not allowed by the latest version of the file.
type waiting struct {
	Edit
	why error
}

func newHistory(file *Source) history { return history{contents: []*save.Content{file.content()}} }

// isSaved reports whether the shown content is that of the file.
func (h *history) isSaved() bool { return h.applied == h.saved && len(h.undone) == 0 }

// The Op of an Edit that deletes, and of one undone after saving.
const (
	opDelete = "delete"
	opUndo   = "undo"
)

// pending returns the unsaved edits in order: the waiting ones, the undoing of saved ones, and the shown ones.
func (h *history) pending() (all []Edit) {
	for _, w := range h.waiting {
		all = append(all, w.Edit)
	}
	saved := slices.Concat(h.edits[min(h.applied, h.saved):h.saved], h.undone)
	for _, e := range slices.Backward(saved) {
		all = append(all, Edit{Op: opUndo, Line: e.Op + " " + e.Line})
	}
	return append(all, h.edits[min(h.applied, h.saved):h.applied]...)
}

// make makes an edit, in place of the undone ones. An edit without changes is none.
func (h *history) make(edit Edit) error {
	next, changes, err := applyEdit(h.contents[h.applied], edit)
	if err != nil || len(changes) == 0 {
		return err
	}
	if h.saved > h.applied {
		h.undone = slices.Concat(h.edits[h.applied:h.saved], h.undone)
		h.saved = h.applied
	}
	h.edits = append(h.edits[:h.applied:h.applied], edit)
	h.changes = append(h.changes[:h.applied:h.applied], changes)
	h.contents = append(h.contents[:h.applied+1:h.applied+1], next)
	h.applied++
	return nil
}

// edited returns a Source like s with an edited content.
func (s *Source) edited(c *save.Content) (*Source, error) {
	store, err := s.Store.Edited(c, save.MaxVersion)
	if err != nil {
		return nil, err
	}
	return &Source{
		Store: store, Name: s.Name, Path: s.Path, Stat: s.Stat, Format: s.Format, Frame: s.Frame,
		Container: s.Container, Options: s.Options, Stack: s.Stack,
	}, nil
}

// maxEdit is the size in bytes of the longest edit.
const maxEdit = 16 << 20

// deeds contains the requests of the page.
var deeds = map[string]func(*Page, *request) error{
	"set": (*Page).apply, "add": (*Page).apply, opDelete: (*Page).apply,
	opUndo: func(s *Page, _ *request) error { return s.move(-1) },
	"redo": func(s *Page, _ *request) error { return s.move(1) },
	"save": (*Page).save,
	"drop": func(s *Page, _ *request) error { return s.drop() },
}

// edit answers a request for an edit of a version, to undo or redo one, or to save all, with the new
// version, or with a question.
func (s *Page) edit(r *Request) (any, error) {
	var asked request
	if err := json.NewDecoder(io.LimitReader(r.Body, maxEdit)).Decode(&asked); err != nil {
		return nil, fmt.Errorf("the request cannot be read: %w", err)
	}
	do := deeds[asked.Op]
	if do == nil {
		return nil, fmt.Errorf("there is no %q", asked.Op)
	}
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	if err := s.readOnly(); err != nil {
		return nil, err
	}
	if _, version := s.versions.latest(); version != asked.Version {
		return nil, errors.New("this is no longer what the page shows: look at it again")
	}
	err := do(s, &asked)
	_, version := s.versions.latest()
	switch {
	case asked.question != "":
		return map[string]any{"question": asked.question}, nil
	case asked.doubt != nil:
		return map[string]any{"doubt": fault{int64(asked.doubt.Offset), asked.doubt.Error()}}, nil
	}
	return map[string]any{"version": version}, err
}

// readOnly returns why the file cannot be edited, or nil.
func (s *Page) readOnly() error {
	file := s.versions.onDisk()
	switch {
	case file == nil || s.Save == nil:
		return errors.New("there is nothing to edit")
	case s.session.ended:
		return errors.New("gdwire has ended")
	}
	return file.ReadOnly
}

// apply makes an edit, or sets the question to ask before. Undone edits cannot be made again afterwards.
func (s *Page) apply(r *request) error {
	h, before := s.session.history, s.session.history.applied
	for next := r; next != nil; next = next.Then {
		edit, err := next.edit()
		if edit.with = next != r; err == nil {
			err = h.make(edit)
		}
		if err != nil {
			return err
		}
	}
	if h.applied == before {
		return nil
	}
	asked := question(h.contents[before], h.edits[before])
	if asked != "" && !r.Sure && asked != s.session.answered {
		r.question = asked
		return nil
	}
	s.session.answered = cmp.Or(asked, s.session.answered)
	return s.show(h)
}

// move undoes an edit, or makes an undone one again, with those that were made with it.
func (s *Page) move(by int) error {
	h := s.session.history
	for {
		h.applied += by
		switch {
		case h.applied < 0:
			return errors.New("there is nothing to undo")
		case h.applied > len(h.edits):
			return errors.New("there is nothing to redo")
		case h.applied == len(h.edits) || !h.edits[h.applied].with:
			return s.show(h)
		}
	}
}

// drop forgets the waiting edits.
func (s *Page) drop() error {
	h := s.session.history
	h.waiting = nil
	return s.show(h)
}

// show shows the file after edits.
func (s *Page) show(h history) error {
	shown, err := s.shown(s.versions.onDisk(), &h)
	if err == nil {
		s.session.history, s.session.note = h, ""
		s.versions.show(shown)
	}
	return err
}

// shown returns a file after edits.
func (s *Page) shown(file *Source, h *history) (*Source, error) {
	if h.isSaved() {
		return file, nil
	}
	return file.edited(h.contents[h.applied])
}

// decide opens the file again with a doubtful number decided, and makes the unsaved edits again.
func (s *Page) decide(r *request) error {
	if r.Keep != nil {
		*s.Keep = append(*s.Keep, *r.Keep)
	}
	if r.Derive != nil {
		*s.Derive = append(*s.Derive, *r.Derive)
	}
	next, err := s.Reopen()
	if err == nil {
		err = s.changed(next)
	}
	s.session.note = ""
	return err
}

// save replaces the file by the shown content. A doubtful number around the values is to be decided before.
func (s *Page) save(r *request) error {
	if s.Keep != nil && (r.Keep != nil || r.Derive != nil) {
		if err := s.decide(r); err != nil {
			return err
		}
	}
	e, file := &s.session, s.versions.onDisk()
	h := &e.history
	if h.isSaved() {
		return errors.New("nothing has changed")
	}
	if err := file.Check(); err != nil {
		return err
	}
	saved, err := s.Save(file, h.contents[h.applied], e.backup == "")
	if s.Keep != nil && errors.As(err, &r.doubt) {
		return nil
	}
	if err != nil {
		return err
	}
	if saved.Backup != "" {
		e.backup = saved.Backup
	}
	h.saved, h.undone, e.note = h.applied, nil, saved.Note
	shown, _ := s.versions.latest()
	shown.Stat = saved.Stat
	s.versions.replace(shown, shown)
	return nil
}

// changed shows a file written by another program, and makes the unsaved edits again there. Edits not allowed
// by the file wait for another version. While there are edits, an empty, cut or damaged file is an error and
// nothing changes, because a game is still writing it.
func (s *Page) changed(file *Source) error {
	e, h := &s.session, newHistory(file)
	old := &e.history
	pending := old.pending()
	switch {
	case len(pending) == 0:
	case file.Size == 0:
		return errors.New("it is empty")
	case file.ReadOnly != nil:
		return file.ReadOnly
	}
	var err error
	for _, edit := range pending {
		switch {
		case edit.with && err != nil: // neither is made
		case edit.Op == opUndo:
			err = errSaved
		default:
			err = h.make(edit)
		}
		if save.IsDamage(err) {
			return err
		}
		if err != nil {
			h.waiting = append(h.waiting, waiting{edit, err})
		}
	}
	applied := h.applied
	for _, edit := range old.edits[old.applied:] { // undone edits
		_ = h.make(edit)
	}
	h.applied = applied
	shown, err := s.shown(file, &h)
	if err != nil {
		return err
	}
	e.history, e.note, e.backup = h, "", "" // the next save keeps what is there now
	if len(pending) > 0 {
		e.note = fmt.Sprintf("Another program has changed the file. %d of your %d edits, which are not saved yet, were made in the new one", len(pending)-len(h.waiting), len(pending))
		if len(h.waiting) > 0 {
			e.note += "; the others wait"
		}
		e.note += "."
	}
	s.versions.replace(file, shown)
	return nil
}

// errSaved is why an edit is not undone.
var errSaved = errors.New("it was saved before the file changed")

// End ends the edits, after the one in progress.
func (s *Page) End() {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	s.session.ended = true
}

// Unsaved returns the unsaved edits.
func (s *Page) Unsaved() []Edit {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	return s.session.history.pending()
}

// maxKept is the size in bytes of the unsaved edits that the page keeps, to be copied when gdwire has ended.
const maxKept = 1 << 20

// aboutEdits describes the edits for the page.
func (s *Page) aboutEdits() map[string]any {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	e, h := &s.session, &s.session.history
	waiting := []string{}
	for _, w := range h.waiting {
		waiting = append(waiting, fmt.Sprintf("%s %s (%v)", w.Op, w.Line, w.why))
	}
	pending, size := h.pending(), 0
	for _, edit := range pending {
		size += len(edit.Line)
	}
	if size > maxKept {
		pending = nil
	}
	readOnly := ""
	if err := s.readOnly(); err != nil {
		readOnly = err.Error()
	}
	return map[string]any{
		"readOnly": readOnly, "undo": h.applied, "redo": len(h.edits) - h.applied, "unsaved": !h.isSaved(),
		"backup": e.backup, "note": e.note, "waiting": waiting, "pending": pending,
	}
}

// made returns the changes of the unsaved edits, in order.
func (s *Page) made() (all []Change) {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	h := &s.session.history
	if len(h.undone) > 0 || h.saved > h.applied {
		return nil
	}
	return slices.Concat(h.changes[h.saved:h.applied]...)
}

// watch answers when the file changed after a version, or after longPoll; after a fault, also when the file is
// the same again.
func (s *Page) watch(r *Request) (any, error) {
	if s.Watch == nil {
		return nil, errors.New("there is no file that can change")
	}
	after, err := number(r.Query, "version")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context, longPoll)
	defer cancel()
	err = s.Watch(ctx, int(after), r.Query.Has("fault"))
	return map[string]any{"version": s.Version(), "fault": faultOf(err)}, nil
}

// Reread reads the file again, in place of the given one, unless another request did.
func (s *Page) Reread(file *Source) error {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	if s.versions.onDisk() != file {
		return nil
	}
	next, err := s.Reopen()
	if err != nil {
		return err
	}
	return s.changed(next)
}

const (
	maxChanges  = 5000    // listed by the page
	maxCompared = 1 << 20 // bytes of a file that is compared after each edit
)

// errOverwritten says that nothing remains of the version before.
var errOverwritten = errors.New("what has changed is unknown: files above 64 MiB are read in place, and this one was written over; " +
	"keep a copy, and compare by gdwire view OLD NEW")

// comparison is a line of the answer to a request for changes: a change, or the summary after the last.
type comparison struct {
	Change *Change `json:"change,omitempty"`
	Done   bool    `json:"done,omitempty"`
	More   bool    `json:"more,omitempty"` // than maxChanges
	Note   string  `json:"note,omitempty"`
	Error  *fault  `json:"error,omitempty"`
}

// changes answers with lines of JSON: the changes to the latest version, as they are found.
func (s *Page) changes(r *Request) (any, error) {
	before, after := s.versions.compared()
	if after == nil || before == nil {
		return nil, errors.New("there is nothing to compare with")
	}
	if before.Check() != nil { // its bytes are those of the new version
		return nil, errOverwritten
	}
	compare := compareSources
	if made := s.made(); after.Size > maxCompared && len(made) > 0 { // comparing takes long
		compare = func(_ context.Context, _, _ *Source, yield func(Change) bool) (string, error) {
			for _, c := range made {
				if !yield(c) {
					break
				}
			}
			return "in the order in which they were made", nil
		}
	}
	n, last, send := 0, comparison{Done: true}, lines[comparison](r)
	note, err := compare(r.Context, before, after, func(c Change) bool {
		if last.More = n == maxChanges; last.More {
			return false
		}
		n++
		return send(comparison{Change: &c}) == nil
	})
	last.Note, last.Error = note, faultOf(err)
	_ = send(last)
	return nil, nil
}
