package view

import (
	"context"
	"sync"
	"time"
)

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
