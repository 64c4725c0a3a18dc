// Package outfile writes files that replace others only after success.
package outfile

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrChanged is returned by Commit if the file to be replaced is no longer the file read before.
var ErrChanged = errors.New("the file has changed since it was opened")

// Signals selects the effect of a signal while a file is written.
type Signals bool

// The ways to handle signals.
const (
	IgnoreSignals Signals = false // they are the program's
	EndOnSignal   Signals = true  // for a command
)

// A File is the new content of a file, written to another file in the same folder. Commit renames
// this file to the name of the old file, so the old file is unchanged after an error, a signal or
// on a full disk. Devices and pipes are written directly.
type File struct {
	*os.File
	target  string         // the file to replace, or "" to write directly
	old     os.FileInfo    // of target, when the File was created
	read    os.FileInfo    // of target, when its content was read
	unlock  func()         // ends the lock by which other programs know that the new file is being written
	signals chan os.Signal // with EndOnSignal
}

// Create returns a File that replaces the file of the given name. Create follows symbolic links. The
// file need not exist. An existing file must be writable. The new file keeps the owner, permissions
// and, on Linux, access lists and extended attributes, as far as the system permits; otherwise
// nobody gets more rights than before. Of several hard links, the other names keep the old file.
//
// On Unix, Create removes new files of the same name that were never completed, as after kill -9.
//
// With EndOnSignal, a signal that ends the program first removes the unfinished file, and signals of
// failed writes no longer end the program.
func Create(name string, signals Signals) (*File, error) {
	if name == "" { // Commit would take this for a device
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}
	old, missing := os.Stat(name) // old is nil if the file is missing
	if missing == nil && !old.Mode().IsRegular() {
		// The links of /dev/stdout and /dev/fd lead to pipes without a name.
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &File{File: f}, err
	}
	target, err := followLinks(name)
	if err == nil && old != nil {
		err = CheckWritable(target, old)
	}
	if err != nil {
		return nil, err
	}
	f := &File{target: target, old: old}
	folder, base := filepath.Split(target)
	prefix := "." + base + "."
	beside := folder + prefix + rand.Text()[:randomLength] + newSuffix
	if signals == EndOnSignal {
		f.removeOnSignal(beside)
	}
	removeLeft(folder, prefix)
	if err := f.create(beside); err != nil {
		f.release()
		return nil, folderError(target, err)
	}
	return f, nil
}

// create creates and locks the new file: for other programs, a new file without a lock is one that was left.
func (f *File) create(name string) (err error) {
	const most = 100
	for range most {
		if f.File, err = createLike(name, f.target, f.old); err != nil {
			return err
		}
		f.unlock = lock(name)
		if _, err = os.Lstat(name); err == nil { // not removed before it was locked
			return nil
		}
		f.unlock()
		_ = f.Close()
	}
	return err
}

// The name of a new file: "." and the name of the target, ".", random letters and digits, and newSuffix.
const (
	randomLength = 8
	newSuffix    = ".tmp"
)

// removeLeft removes new files that no program writes anymore.
func removeLeft(folder, prefix string) {
	entries, _ := os.ReadDir(cmp.Or(folder, "."))
	for _, e := range entries {
		random, isNew := strings.CutPrefix(e.Name(), prefix)
		random, isTemporary := strings.CutSuffix(random, newSuffix)
		if !isNew || !isTemporary || len(random) != randomLength || !e.Type().IsRegular() {
			continue
		}
		unlock, ok := tryLock(folder + e.Name())
		if ok {
			_ = os.Remove(folder + e.Name())
		}
		unlock()
	}
}

// followLinks returns the name of the file to which symbolic links lead. The file need not
// exist. Names are not cleaned: after a link to a folder, ".." is the parent of that folder.
func followLinks(name string) (string, error) {
	const most = 40
	for range most {
		link, err := os.Readlink(name)
		if err != nil {
			return name, nil
		}
		if !filepath.IsAbs(link) {
			folder, _ := filepath.Split(name)
			link = folder + link
		}
		name = link
	}
	return "", &os.PathError{Op: "open", Path: name, Err: errors.New("too many symbolic links")}
}

// CheckWritable returns an error if the old file is read-only, as Create does.
func CheckWritable(name string, old os.FileInfo) error {
	const read, write = 0o444, 0o222
	switch mode := old.Mode().Perm(); { // root could read and write the file
	case mode&(read|write) == 0:
		return &os.PathError{Op: "replace", Path: name, Err: errors.New("the file cannot be read or written")}
	case mode&write == 0:
		return &os.PathError{Op: "replace", Path: name, Err: errors.New("the file is read-only")}
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err == nil {
		err = f.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// createLike creates a file with the owner, permissions and attributes of the target, if old is not
// nil.
func createLike(name, target string, old os.FileInfo) (*os.File, error) {
	mode := os.FileMode(0o666)
	if old != nil {
		mode = 0o600 // until its owner is known
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err == nil && old != nil {
		mode = old.Mode().Perm()
		if !keepOwner(name, old) { // another group: its members get the rights of everybody
			mode &= 0o707 | mode&0o007<<3
		}
		if !keepAttributes(name, target) { // the group's permissions are the mask of an access list
			mode &= 0o700
		}
		_ = os.Chmod(name, mode)
	}
	return f, err
}

// folderError explains why no file can be created in the folder of the target.
func folderError(target string, err error) error {
	var failed *os.PathError
	if !errors.As(err, &failed) {
		return err
	}
	folder := filepath.Dir(target)
	text := "%s cannot be written: no file can be created in its folder %s: %w"
	if errors.Is(err, fs.ErrPermission) {
		text += "; write to another folder"
	}
	return fmt.Errorf(text, target, folder, failed.Err)
}

// removeOnSignal removes the unfinished file before a signal ends the program.
func (f *File) removeOnSignal(name string) {
	f.signals = make(chan os.Signal, 1)
	for _, s := range endings {
		if !signal.Ignored(s) { // as after nohup
			signal.Notify(f.signals, s)
		}
	}
	written := make(chan os.Signal, 1) // not read: Write also returns an error
	for _, s := range writeFailures {
		signal.Notify(written, s)
	}
	go func() {
		_, ended := <-f.signals
		signal.Stop(written)
		if ended {
			_ = os.Remove(name)
			os.Exit(1)
		}
	}()
}

// release unlocks the new file and stops handling signals.
func (f *File) release() {
	if f.unlock != nil {
		f.unlock()
	}
	if f.signals != nil {
		signal.Stop(f.signals)
		close(f.signals)
	}
}

// Direct reports whether f is written directly.
func (f *File) Direct() bool { return f.target == "" }

// Read reports whether an opened file is the file that f replaces. The new content is then made
// from the old content, and Commit returns ErrChanged if the old content changed after the first
// call. The name is the name by which the file was opened, or "" if not known.
func (f *File) Read(name string, opened os.FileInfo) bool {
	if f.Direct() {
		return false
	}
	now, err := os.Stat(f.target)
	same := err == nil && os.SameFile(now, opened) || f.old != nil && os.SameFile(f.old, opened)
	if !same && !f.hasName(name) { // the file can have been replaced since it was opened
		return false
	}
	if f.read == nil {
		f.read = opened
	}
	return true
}

// hasName reports whether a name leads to the file to replace.
func (f *File) hasName(name string) bool {
	other, err := followLinks(name)
	if name == "" || err != nil {
		return false
	}
	a, errA := os.Stat(filepath.Dir(f.target))
	b, errB := os.Stat(filepath.Dir(other))
	return errA == nil && errB == nil && os.SameFile(a, b) && filepath.Base(f.target) == filepath.Base(other)
}

// Abandon removes the new file.
func (f *File) Abandon() {
	_ = f.Close()
	if !f.Direct() {
		_ = os.Remove(f.Name())
	}
	f.release()
}

// KeepAs keeps the new file under another name and leaves the old file unchanged. A file of the
// other name must not exist.
func (f *File) KeepAs(name string) error {
	return f.end(f.Close(), func() error {
		if _, err := os.Lstat(name); err == nil {
			return &os.PathError{Op: "create", Path: name, Err: os.ErrExist}
		}
		return os.Rename(f.Name(), name)
	})
}

// Commit replaces the old file with the new file.
func (f *File) Commit() error {
	if f.Direct() {
		return f.Close()
	}
	return f.end(errors.Join(f.Sync(), f.Close()), func() error {
		err := f.replace()
		if err == nil {
			syncFolder(filepath.Dir(f.target))
		}
		return err
	})
}

// end calls rename for the closed new file, and removes the file after an error.
func (f *File) end(err error, rename func() error) error {
	defer f.release()
	if err == nil {
		err = rename()
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// replace renames the new file. If several programs edit a file at the same time, only one of the
// programs that read the same content succeeds. The contents are not compared.
func (f *File) replace() error {
	if f.read != nil {
		defer lock(f.target)()
		now, err := os.Stat(f.target)
		if err != nil || !os.SameFile(now, f.read) || now.Size() != f.read.Size() || !now.ModTime().Equal(f.read.ModTime()) {
			return &os.PathError{Op: "replace", Path: f.target, Err: ErrChanged}
		}
	}
	return os.Rename(f.Name(), f.target)
}

// Absolute returns a name for the same file from any working folder. The name is not cleaned: after a
// link to a folder, ".." is the parent of that folder.
func Absolute(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if runtime.GOOS == "windows" { // Windows cleans names itself
		if full, err := filepath.Abs(name); err == nil {
			return full
		}
		return name
	}
	folder, err := os.Getwd()
	if err != nil {
		return name
	}
	return folder + "/" + name
}
