package shell

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
)

// checkFiles returns an error if several files would be written to one, or standard input in place.
func (c *Command) checkFiles(f *Flags) error {
	switch {
	case f.InPlace && f.Given("o"):
		return errors.New("-i replaces each FILE, and -o names another: choose one")
	case f.InPlace && (len(f.Operands) == 0 || slices.ContainsFunc(f.Operands, isStdin)):
		return errors.New("-i needs the names of files")
	case !f.InPlace && c.Edits && len(f.Operands) > 1:
		return errors.New("several files are edited in place: use -i")
	}
	return nil
}

// isStdin reports whether the name of a file means standard input.
func isStdin(name string) bool { return name == "" || name == "-" }

// runFiles runs a command for each file, and goes on with the next file after an error.
func (s *Stdio) runFiles(f *Flags, run func(s *Stdio, name string) error) error {
	if len(f.Operands) <= 1 && !f.InPlace {
		if s.Edits && sameFile(f.File(), f.Output) {
			if err := checkRegular(f.Output); err != nil {
				return err
			}
		}
		return s.runTo(f.Output, func() error { return run(s, f.File()) })
	}
	one := func(name string) error {
		if !f.InPlace {
			return run(s, name)
		}
		if err := checkRegular(name); err != nil {
			return err
		}
		return s.runTo(name, func() error { return run(s, name) })
	}
	if len(f.Operands) == 1 {
		return one(f.Operands[0])
	}
	s.Several = true
	return s.runTo(f.Output, func() error { return s.runAll(f, one) })
}

// sameFile reports whether two names lead to the same file.
func sameFile(a, b string) bool {
	one, errA := os.Stat(a)
	other, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(one, other)
}

// checkRegular returns an error if the file of the given name cannot be replaced, such as a pipe: opening a pipe
// to write waits for a reader.
func checkRegular(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("%s is no regular file", name)
	}
	return nil
}

// A tally counts the files of a command by result.
type tally struct{ good, unchanged, bad int }

// runAll runs a command for each of several files, shows a line for each edited file, and the
// totals.
func (s *Stdio) runAll(f *Flags, run func(name string) error) error {
	s.countFiles(len(f.Operands))
	var all tally
	for _, name := range f.Operands {
		s.notes, s.replaces, s.Unchanged, s.Damaged = nil, false, false, false
		err := run(name)
		if err == nil && s.Damaged {
			err = ErrBad
		}
		switch {
		case err != nil:
			all.bad++
			if err != ErrBad {
				s.Report(named(name, err))
			}
		case s.Unchanged:
			all.unchanged++
		default:
			all.good++
		}
		s.showFileNotes(name)
		if s.counts {
			_ = s.bar.Add(1)
		}
	}
	s.Clear()
	s.bar, s.counts, s.notes = nil, false, nil
	s.Infof("%s", all.text(f.InPlace))
	if all.bad > 0 {
		return ErrBad
	}
	return nil
}

// text describes the tally.
func (t *tally) text(inPlace bool) string {
	text := fmt.Sprintf("%s files: %s good", humanize.Comma(int64(t.good+t.unchanged+t.bad)), humanize.Comma(int64(t.good)))
	if inPlace {
		text += fmt.Sprintf(", %s unchanged", humanize.Comma(int64(t.unchanged)))
	}
	return text + fmt.Sprintf(", %s bad", humanize.Comma(int64(t.bad)))
}

// showFileNotes shows the notes of one of several files in a line.
func (s *Stdio) showFileNotes(name string) {
	switch n := len(s.notes); n {
	case 0:
	case 1:
		s.Logf("%s: %s", name, s.notes[0])
	default:
		s.Logf("%s: %s, and %s more changes", name, s.notes[0], humanize.Comma(int64(n-1)))
	}
}

// manyFiles is the minimum number of files for a progress bar.
const manyFiles = 20

// countFiles shows a progress bar for n files, unless lines are shown in the same terminal.
func (s *Stdio) countFiles(n int) {
	if !s.MessagesShown() || s.IsTerminal || n < manyFiles {
		return
	}
	s.counts = true
	s.bar = progressbar.NewOptions(n, progressbar.OptionSetWriter(s.Errs), progressbar.OptionThrottle(barInterval),
		progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionFullWidth())
}
