package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"

	"github.com/gdwire/gdwire/internal/save"
)

// inPlaceFlag defines -i.
func inPlaceFlag(fs *flag.FlagSet, o *options) {
	fs.BoolVar(&o.inPlace, "i", false, "replace each FILE, one after the other; in place of -o")
}

// checkFiles returns an error if several files would be written to one, or standard input in place.
func (o *options) checkFiles(c *command) error {
	switch {
	case o.inPlace && o.given["o"]:
		return errors.New("-i replaces each FILE, and -o names another: choose one")
	case o.inPlace && (len(o.operands) == 0 || slices.ContainsFunc(o.operands, save.IsStdin)):
		return errors.New("-i needs the names of files")
	case !o.inPlace && c.edits && len(o.operands) > 1:
		return errors.New("several files are edited in place: use -i")
	}
	return nil
}

// runFiles runs the subcommand for each file. After an error it goes on with the next file.
func (c *command) runFiles(s *stdio, o *options) error {
	names := o.operands
	if len(names) <= 1 && !o.inPlace {
		return s.runTo(o.output, func() error { return c.run(s, o) })
	}
	one := func(o *options) error {
		if !o.inPlace {
			return c.run(s, o)
		}
		return s.runTo(o.file(), func() error { return c.run(s, o) })
	}
	if len(names) == 1 {
		return one(o)
	}
	return s.runTo(o.output, func() error { return s.runAll(names, o, one) })
}

// A tally counts the files of a command by result.
type tally struct{ good, unchanged, bad int }

// runAll runs a command for each of several files, shows a line for each that was edited, and the
// sum of all.
func (s *stdio) runAll(names []string, o *options, run func(*options) error) error {
	s.countFiles(len(names))
	if o.edit.exact {
		var err error
		if o.edit.input, err = io.ReadAll(s.in); err != nil {
			return err
		}
	}
	var all tally
	for _, name := range names {
		one := *o
		one.operands, one.several = []string{name}, true
		s.notes, s.replaces, s.unchanged, s.damaged = nil, false, false, false
		err := run(&one)
		if err == nil && s.damaged {
			err = errBad
		}
		if one.passwordFile != "" || one.keyFile != "" {
			o.key = one.key // standard input is read once
		}
		switch {
		case err != nil:
			all.bad++
			if err != errBad {
				s.report(namedError(name, err))
			}
		case s.unchanged:
			all.unchanged++
		default:
			all.good++
		}
		s.showFileNotes(name)
		if s.bar != nil {
			_ = s.bar.Add(1)
		}
	}
	s.clear()
	s.bar, s.notes = nil, nil
	s.infof(o, "%s", all.text(o))
	if all.bad > 0 {
		return errBad
	}
	return nil
}

// text describes the tally.
func (t *tally) text(o *options) string {
	text := fmt.Sprintf("%s files: %s good", humanize.Comma(int64(t.good+t.unchanged+t.bad)), humanize.Comma(int64(t.good)))
	if o.inPlace {
		text += fmt.Sprintf(", %s unchanged", humanize.Comma(int64(t.unchanged)))
	}
	return text + fmt.Sprintf(", %s bad", humanize.Comma(int64(t.bad)))
}

// namedError returns err with the name of its file, unless its text contains the name.
func namedError(name string, err error) error {
	if strings.Contains(err.Error(), name) {
		return err
	}
	return prefixed(name, err)
}

// showFileNotes shows the notes of one of several files in a line.
func (s *stdio) showFileNotes(name string) {
	switch n := len(s.notes); n {
	case 0:
	case 1:
		s.logf("%s: %s", name, s.notes[0])
	default:
		s.logf("%s: %s, and %s more changes", name, s.notes[0], humanize.Comma(int64(n-1)))
	}
}

// manyFiles is the number of files that is worth a progress bar.
const manyFiles = 20

// countFiles shows a progress bar for n files, unless lines are shown in the same terminal.
func (s *stdio) countFiles(n int) {
	if _, ok := terminal(s.errs); !ok || s.isTerminal || n < manyFiles {
		return
	}
	s.bar = progressbar.NewOptions(n, progressbar.OptionSetWriter(s.errs), progressbar.OptionThrottle(barInterval),
		progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionFullWidth())
}
