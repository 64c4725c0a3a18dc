package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire/internal/save"
)

// runTo runs a command with output to the file of the given name, or to standard output if the
// name is empty. The file is replaced after success.
func (s *stdio) runTo(name string, run func() error) error {
	if name == "" || name == "-" {
		return run()
	}
	f, err := createOutput(name)
	if err != nil {
		return err
	}
	stdout, isTerminal, width, colors := s.out, s.isTerminal, s.width, s.colors
	s.out, s.isTerminal, s.width = bufio.NewWriterSize(f, outBuffer), false, plainWidth
	s.output = f
	if !f.Direct() {
		s.outFile = f.File
	}
	s.colors = newPalette(f)
	err = run()
	if failed := s.out.Flush(); err == nil || failed != nil && !errors.Is(err, failed) { // ReadFrom keeps errors of input, too
		err = failed
	}
	s.out, s.output, s.outFile, s.isTerminal, s.width, s.colors = stdout, nil, nil, isTerminal, width, colors
	var part *partError
	switch {
	case err == nil && s.unchanged:
		f.Abandon()
		return nil
	case err == nil:
		return f.Commit()
	case errors.As(err, &part) && !f.Direct():
		return errors.Join(err, s.keepPart(f, name+".part", part.bytes))
	}
	f.Abandon()
	return err
}

// A partError is the error of an input after its first bytes were written.
type partError struct {
	error
	bytes int64
}

func (e *partError) Unwrap() error { return e.error }

// keepPart keeps the output up to an error.
func (s *stdio) keepPart(f *outputFile, name string, bytes int64) error {
	err := f.KeepAs(name)
	if err == nil {
		s.logf("the first %s bytes are in %s", humanize.Comma(bytes), name)
	}
	return err
}

// checkOutput returns an error if an input is the file that the output replaces, unless it
// is a save that is replaced with an edited save.
func (s *stdio) checkOutput(in *save.Input, saved bool) error {
	if in.Info == nil || s.output == nil {
		return nil
	}
	if !s.output.Read(in.Path, in.Info) {
		return nil
	}
	if s.replaces = saved && s.edits; s.replaces {
		return nil
	}
	return fmt.Errorf("%s is the input, which -o would replace with something else: choose another file", in.Name)
}
