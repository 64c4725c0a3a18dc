package main

import (
	"bufio"
	"fmt"

	"github.com/gdwire/gdwire/internal/outfile"
)

// to runs a command with output to the file of the given name, or to standard output if
// the name is empty. The file is replaced after success.
func (s *screen) to(name string, run func() error) error {
	if name == "" || name == "-" {
		return run()
	}
	f, err := outfile.Create(name)
	if err != nil {
		return err
	}
	stdout, terminal, width, paint := s.out, s.terminal, s.width, s.paint
	s.out, s.terminal, s.width = bufio.NewWriterSize(f, outBuffer), false, plainWidth
	s.output = f
	if !f.Direct() {
		s.file = f.File
	}
	s.paint = newPalette(f)
	err = run()
	if err == nil {
		err = s.out.Flush()
	}
	s.out, s.output, s.file, s.terminal, s.width, s.paint = stdout, nil, nil, terminal, width, paint
	if err != nil {
		f.Abandon()
		return err
	}
	return f.Commit()
}

// checkOutput returns an error if an input is the file that the output replaces, unless it
// is a save that is replaced with an edited one.
func (s *screen) checkOutput(in *source, save bool) error {
	if in.info == nil || s.output == nil || !s.output.Read(in.info) || save && s.edits {
		return nil
	}
	return fmt.Errorf("%s is the input, which -o would replace with something else: choose another file", in.name)
}
