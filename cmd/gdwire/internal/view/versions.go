package view

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"
)

// versions holds the latest version of the file and the one before it, by number. Number 0 is what the
// command was told to compare with, and can be missing.
type versions struct {
	mu      sync.Mutex
	number  int // of the latest
	kept    [2]*Source
	changed time.Time // when the latest was read, if it is not the first
}

func (v *versions) set(before, file *Source) { v.number, v.kept = 1, [2]*Source{before, file} }

// latest returns the latest version and its number, or nil.
func (v *versions) latest() (*Source, int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.kept[1], v.number
}

// get returns the version with a number, or nil if it is no longer kept.
func (v *versions) get(number int) *Source {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := number - v.number + 1; i == 0 || i == 1 {
		return v.kept[i]
	}
	return nil
}

// before returns what the latest version is compared with: the name of another file, or else the time
// at which the same file changed. Both are zero if there is nothing.
func (v *versions) before() (name string, changed time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.changed.IsZero() && v.kept[0] != nil {
		name = v.kept[0].Name
	}
	return name, v.changed
}

// add adds a version after the one with a number, unless another request did.
func (v *versions) add(after int, file *Source) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if after == v.number {
		v.number, v.kept, v.changed = v.number+1, [2]*Source{v.kept[1], file}, time.Now()
	}
}

// watchEvery is the time between two looks at the file while a page waits for a change.
const watchEvery = 300 * time.Millisecond

// watch answers when the file has changed after a version, or after longPoll. A file that is being
// written is read when its size and time stay the same.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) error {
	if s.Reopen == nil {
		return errors.New("there is no file that can change")
	}
	after, err := number(r.URL.Query(), "version")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), longPoll)
	defer cancel()
	err = s.waitForChange(ctx, int(after))
	_, version := s.versions.latest()
	writeJSON(w, map[string]any{"version": version, "fault": faultOf(err)})
	return nil
}

// waitForChange returns when there is a version after the given one, or the error of reading it.
func (s *Server) waitForChange(ctx context.Context, after int) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var seen os.FileInfo // of the change at the latest look
	missing := false     // at the latest look
	for {
		file, version := s.versions.latest()
		if version > after {
			return nil
		}
		info, err := os.Stat(file.Path)
		switch {
		case err != nil && missing: // and not only between its removal and a new one
			return err
		case err != nil:
		case same(info, file.Stat):
		case seen != nil && same(info, seen):
			next, err := s.Reopen()
			if err != nil {
				return err
			}
			s.versions.add(version, next)
			return nil
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

// A Change is a difference between two Sources.
type Change struct {
	Path string `json:"path"`         // in the newer Source, or in the older if the value is gone
	At   string `json:"at,omitempty"` // where in the newer Source it was, if that is not Path
	Old  string `json:"old"`          // as text, perhaps cut; "" if the value was added
	New  string `json:"new"`          // "" if it is gone
}

// A CompareFunc calls yield for each difference between two Sources, until it returns false. note says
// how they were compared, if that is not element by element.
type CompareFunc func(ctx context.Context, before, after *Source, yield func(Change) bool) (note string, err error)

// maxChanges is the number of changes that the page lists.
const maxChanges = 5000

// errOverwritten says that nothing remains of the version before.
var errOverwritten = errors.New("what has changed is unknown: files above 64 MiB are read in place, and this one was written over; " +
	"keep a copy, and compare by gdwire view OLD NEW")

// changes answers with the changes from the version before the latest.
func (s *Server) changes(w http.ResponseWriter, r *http.Request) error {
	after, version := s.versions.latest()
	before := s.versions.get(version - 1)
	if after == nil || before == nil || s.Compare == nil {
		return errors.New("there is nothing to compare with")
	}
	if before.Check() != nil { // its bytes are those of the new version
		return errOverwritten
	}
	list, more := []Change{}, false
	note, err := s.Compare(r.Context(), before, after, func(c Change) bool {
		if more = len(list) == maxChanges; !more {
			list = append(list, c)
		}
		return !more
	})
	writeJSON(w, map[string]any{"changes": list, "more": more, "note": note, "fault": faultOf(err)})
	return nil
}
