package shell

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire/internal/save/outfile"
)

// runTo runs a command with output to the file of the given name, or to standard output if the
// name is empty. The file is replaced after success.
func (s *Stdio) runTo(name string, run func() error) error {
	if name == "" || name == "-" {
		return run()
	}
	f, err := outfile.Create(name, outfile.EndOnSignal)
	if err != nil {
		return err
	}
	stdout, isTerminal, width, colors := s.Out, s.IsTerminal, s.Width, s.Colors
	s.Out, s.IsTerminal, s.Width = bufio.NewWriterSize(f, BufferSize), false, PlainWidth
	s.output = f
	if !f.Direct() {
		s.OutFile = f.File
	}
	s.Colors = newPalette(f)
	err = run()
	if failed := s.Out.Flush(); err == nil || failed != nil && !errors.Is(err, failed) { // ReadFrom also keeps errors of input
		err = failed
	}
	s.Out, s.output, s.OutFile, s.IsTerminal, s.Width, s.Colors = stdout, nil, nil, isTerminal, width, colors
	var part *PartError
	switch {
	case err == nil && s.Unchanged:
		f.Abandon()
		return nil
	case err == nil:
		return f.Commit()
	case errors.As(err, &part) && !f.Direct():
		return errors.Join(err, s.keepPart(f, name+".part", part.Bytes))
	}
	f.Abandon()
	return err
}

// WriteFile replaces the file of the given name, besides the output.
func (s *Stdio) WriteFile(name string, b []byte) error {
	return s.runTo(name, func() error {
		_, err := s.Out.Write(b)
		return err
	})
}

// keepPart keeps the output up to an error.
func (s *Stdio) keepPart(f *outfile.File, name string, bytes int64) error {
	err := f.KeepAs(name)
	if err == nil {
		s.Logf("the first %s bytes are in %s", humanize.Comma(bytes), name)
	}
	return err
}

// ReplacedBy returns an error if an input, whose file has a path and info, is the file that the output
// replaces, unless it is a save that is replaced with an edited save.
func (s *Stdio) ReplacedBy(name, path string, info os.FileInfo, save bool) error {
	if info == nil || s.output == nil || !s.output.Read(path, info) {
		return nil
	}
	if s.replaces = save && s.Edits; s.replaces {
		return nil
	}
	return fmt.Errorf("%s is the input, which -o would replace with something else: choose another file", name)
}

// Keep notes that the output is the same as the input, and reports whether it would replace the input, which
// then stays as it is.
func (s *Stdio) Keep() bool {
	s.Unchanged = s.replaces
	return s.Unchanged
}
