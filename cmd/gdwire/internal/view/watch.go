package view

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"
)

// watchEvery is the time between two looks at the file while a page waits for a change.
const watchEvery = 300 * time.Millisecond

// watch answers when the file changed after a version, or after longPoll; after a fault, also when the file is
// the same again. A file still being written is read when size and time stay the same.
func (s *Server) watch(_ http.ResponseWriter, r *http.Request) (any, error) {
	if s.Reopen == nil {
		return nil, errors.New("there is no file that can change")
	}
	after, err := number(r.URL.Query(), "version")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), longPoll)
	defer cancel()
	err = s.waitForChange(ctx, int(after), r.URL.Query().Has("fault"))
	_, version := s.versions.latest()
	return map[string]any{"version": version, "fault": faultOf(err)}, nil
}

// waitForChange returns when there is a version after the given one, or the error of reading one, or when the
// file is the same as before a fault.
func (s *Server) waitForChange(ctx context.Context, after int, fault bool) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var seen os.FileInfo // of the change at the latest look
	missing := false     // at the latest look
	for {
		if _, version := s.versions.latest(); version > after {
			return nil
		}
		file := s.versions.onDisk()
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
			return s.reopen(file)
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

// reopen reads the file again, unless another request did.
func (s *Server) reopen(file *Source) error {
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

// same reports whether a file is the same and was not written in between.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// maxChanges is the number of changes listed by the page.
const maxChanges = 5000

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
func (s *Server) changes(w http.ResponseWriter, r *http.Request) (any, error) {
	before, after := s.versions.compared()
	if after == nil || before == nil || s.Compare == nil {
		return nil, errors.New("there is nothing to compare with")
	}
	if before.Check() != nil { // its bytes are those of the new version
		return nil, errOverwritten
	}
	compare := s.Compare
	if made := s.made(); after.Data == nil && len(made) > 0 { // comparing takes long
		compare = func(_ context.Context, _, _ *Source, yield func(Change) bool) (string, error) {
			for _, c := range made {
				if !yield(c) {
					break
				}
			}
			return "in the order in which they were made", nil
		}
	}
	n, last, send := 0, comparison{Done: true}, lines[comparison](w)
	note, err := compare(r.Context(), before, after, func(c Change) bool {
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
