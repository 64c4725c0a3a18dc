package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/input"
	"github.com/gdwire/gdwire/internal/recognize"
)

// open opens the input of the given name and recognizes it.
func (s *stdio) open(name string, o *options) (*input.Source, error) {
	in, err := s.openContainer(name, o)
	if err != nil {
		return nil, err
	}
	if err := s.recognize(in, o); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// openContainer opens the input of the given name, and its container if it is compressed or
// encrypted.
func (s *stdio) openContainer(name string, o *options) (*input.Source, error) {
	in, err := s.openFile(name, true)
	if err != nil {
		return nil, err
	}
	fo := fileaccess.Options{AskKey: func(fileaccess.Info) (*fileaccess.Key, error) { return s.key(in.Name, o) }}
	if fo.Limits.Size = o.maxContent; !in.Live && fo.Limits.Size == 0 {
		fo.Limits.Size = -1
	}
	in.Whole = s.edits
	err = in.Skip(o.skip, s.edits)
	if err == nil {
		err = in.OpenContainer(&fo)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	o.container = &in.Container
	return in, nil
}

// prefixed adds the name of the file to an error.
func prefixed(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

// openFile opens the file of the given name, or standard input. If it is a save, the output of
// a command that edits may replace it.
func (s *stdio) openFile(name string, save bool) (*input.Source, error) {
	if input.IsStdin(name) {
		s.inputRead = true
		if f, ok := s.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			s.logf("reading from the terminal; end with Ctrl-D, or Ctrl-Z and Enter on Windows")
		}
	}
	in, err := input.Open(name, s.in)
	if err != nil {
		return nil, err
	}
	if err := s.checkOutput(in, save); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// recognize finds the format and frame of the input, unless flags give both.
func (s *stdio) recognize(in *input.Source, o *options) error {
	if !in.Live {
		o.raiseLimits(in.Size)
	}
	if o.given["format"] && o.given["frame"] {
		return nil
	}
	ri := recognize.Input{Decoder: o.Decoder}
	if o.given["format"] {
		ri.Formats = []gdwire.Format{o.Decoder.Format}
	}
	if o.given["frame"] {
		ri.Frames = []recognize.Frame{o.Frame}
	}
	r, err := in.Recognize(&ri)
	if err != nil {
		return err
	}
	return s.decide(in, o, &ri, r)
}

// decide sets the format and frame as in the best reading, or returns an error that says why no
// reading is good enough.
func (s *stdio) decide(in *input.Source, o *options, ri *recognize.Input, r recognize.Result) error {
	const choose = "to read it anyway, choose -format and -frame"
	switch r.Certainty {
	case recognize.Empty:
		if !o.nonEmpty {
			s.infof(o, "%s is empty", in.Name)
		}
		o.Decoder.Format = cmp.Or(o.Decoder.Format, gdwire.Godot4)
		return nil
	case recognize.Foreign:
		return fmt.Errorf("%s is %s, not values of Godot; %s", in.Name, r.Name, choose)
	case recognize.Unknown:
		return fmt.Errorf("%s was not recognized as values of Godot; %s", in.Name, choose)
	case recognize.Ambiguous:
		return choiceError{s.ambiguous(in, o, ri, r)}
	}
	reading := r.Readings[0]
	o.Decoder.Format, o.Frame, o.recognized = reading.Format, reading.Frame, true
	o.Filled = true // engines write no bytes after a value, so the file is damaged
	if len(r.Readings) > 1 && o.Framed() && int64(len(ri.Head)) != in.Size {
		for _, other := range r.Readings {
			o.Candidates = append(o.Candidates, other.Format)
		}
	}
	how := map[recognize.Certainty]string{
		recognize.Probably: "probably ", recognize.CutShort: "cut short, probably ", recognize.Damaged: "damaged, probably ",
	}[r.Certainty]
	if whole := int64(len(ri.Head)) == ri.Size; whole && len(r.Readings) > 1 && r.Certainty == recognize.Probably {
		how = "" // all readings have the same values, and nothing can follow, as it could in a pipe
	}
	what := fmt.Sprintf("%s%v, %s%s", how, reading.Format, frameText(reading.Frame), containerText(o.container))
	if how != "" && o.writes {
		return choiceError{fmt.Errorf("%s is %s; to write it, confirm this with %v", in.Name, what, reading)}
	}
	if _, ok := terminal(s.errs); ok || how != "" {
		s.infof(o, "%s is %s", in.Name, what)
	}
	return nil
}

// frameText describes a frame.
func frameText(f recognize.Frame) string {
	if f == recognize.Bare {
		return "values without length (-frame none)"
	}
	return "packets with length (-frame " + f.String() + ")"
}

// containerText describes a container, after a comma.
func containerText(info *fileaccess.Info) string {
	switch info.Container {
	case fileaccess.Compressed:
		return ", compressed with " + info.Mode.String()
	case fileaccess.Encrypted:
		return ", encrypted as by " + info.Layout.String()
	}
	return ""
}

// ambiguous returns an error that shows each reading.
func (s *stdio) ambiguous(in *input.Source, o *options, ri *recognize.Input, r recognize.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s can be read in %d ways; choose one:", in.Name, len(r.Readings))
	for _, reading := range r.Readings {
		o := *o
		o.Decoder.Format, o.Frame, o.Candidates = reading.Format, reading.Frame, nil
		fmt.Fprintf(&b, "\n  %v: %s", reading, firstLine(ri.Head, &o))
	}
	return errors.New(b.String())
}

// firstLine returns the first line that flat shows.
func firstLine(head []byte, o *options) string {
	var out bytes.Buffer
	s := newStdio(nil, &out, io.Discard)
	v := newFlatPrinter(s, o)
	for p := range o.Packets(bytes.NewReader(head)) {
		_ = v.show(p) // an invalid value is shown up to its error
		break
	}
	_ = s.out.Flush()
	line, _, _ := strings.Cut(out.String(), "\n")
	const most = 100
	return cut(line, most)
}
