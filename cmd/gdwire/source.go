package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
)

// open opens the input of the given name and recognizes it.
func (s *stdio) open(name string, o *options) (*save.Source, error) {
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
func (s *stdio) openContainer(name string, o *options) (*save.Source, error) {
	in, err := s.openFile(name, true)
	if err != nil {
		return nil, err
	}
	source, err := in.Source(&save.SourceOptions{Container: s.containerOptions(in, o), Skip: o.skip, KeepHeader: s.edits, Whole: s.edits})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	o.container = &source.Container
	return source, nil
}

// pipeWait is the time after which the user is told that a pipe is not written to. Tests change it.
var pipeWait = time.Second

// noteWaiting says that the command waits for the writer of a pipe, unless stop is called before pipeWait.
func (s *stdio) noteWaiting(name string) (stop func()) {
	info, err := os.Stat(name)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return func() {}
	}
	noted := make(chan struct{})
	wait := time.AfterFunc(pipeWait, func() {
		defer close(noted)
		s.logf("%s is a pipe; waiting for a program that writes to it", name)
	})
	return func() {
		if !wait.Stop() {
			<-noted
		}
	}
}

// known tells which of format and frame flags have chosen.
func (o *options) known() save.Known {
	return save.Known{Format: o.given["format"], Frame: o.given["frame"]}
}

// recognize finds the format and frame of the input, unless flags give both.
func (s *stdio) recognize(in *save.Source, o *options) error {
	if !in.Live {
		o.raiseLimits(in.Size)
	}
	known := o.known()
	if known.Format && known.Frame {
		return nil
	}
	r, err := in.Recognize(&o.Reading, known)
	if err != nil {
		return err
	}
	return s.decide(in, o, r)
}

// decide accepts what was recognized, or returns an error that says why it is not good enough.
func (s *stdio) decide(in *save.Source, o *options, r *save.Recognition) error {
	const choose = "; to read it anyway, choose -format and -frame"
	switch why := r.Unknown(); {
	case why == nil:
	case r.IsEmpty():
		if !o.nonEmpty {
			s.infof(o, "%s is empty", in.Name)
		}
		o.Decoder.Format = cmp.Or(o.Decoder.Format, gdwire.Godot4)
		return nil
	case len(r.Readings) > 1:
		return choiceError{fmt.Errorf("%s %w; choose one:%s", in.Name, why, readings(r, o))}
	case r.IsJSON():
		return fmt.Errorf("%s %w; gdwire encode makes values of JSON%s", in.Name, why, choose)
	case r.Header > 0:
		return fmt.Errorf("%s %w; commands that only read skip them with -skip %d", in.Name, why, r.Header)
	default:
		return fmt.Errorf("%s %w%s", in.Name, why, choose)
	}
	o.recognized = true
	o.Filled = true // engines write no bytes after a value, so the file is damaged
	how := r.How()
	what := fmt.Sprintf("%s%v, %s%s", how, r.Readings[0].Format, frameText(o.Frame), containerText(o.container))
	s.damaged = s.damaged || r.IsDamaged()
	if how != "" && o.writes {
		return choiceError{fmt.Errorf("%s is %s; to write it, confirm this with %v", in.Name, what, r.Readings[0])}
	}
	if _, ok := terminal(s.errs); ok || how != "" {
		s.infof(o, "%s is %s", in.Name, what)
	}
	return nil
}

// readings returns a line for each reading, with the first line that flat shows.
func readings(r *save.Recognition, o *options) string {
	var b strings.Builder
	for _, reading := range r.Readings {
		one := *o
		one.Decoder.Format, one.Frame, one.Candidates = reading.Format, reading.Frame, nil
		fmt.Fprintf(&b, "\n  %v: %s", reading, firstLine(r.Head, &one))
	}
	return b.String()
}

// containerOptions returns the options for the container of an input. The size of a regular file bounds memory.
func (s *stdio) containerOptions(in *save.Input, o *options) fileaccess.Options {
	fo := fileaccess.Options{AskKey: func(fileaccess.Info) (*fileaccess.Key, error) { return s.key(in.Name, o) }}
	if fo.Limits.Size = o.maxContent; !in.Live && fo.Limits.Size == 0 {
		fo.Limits.Size = -1
	}
	return fo
}

// prefixed adds the name of the file to an error.
func prefixed(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

// openFile opens the file of the given name, or standard input. If it is a save, the output of
// a command that edits may replace it.
func (s *stdio) openFile(name string, saved bool) (*save.Input, error) {
	if save.IsStdin(name) {
		s.inputRead = true
		if f, ok := s.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			s.logf("reading from the terminal; end with Ctrl-D, or Ctrl-Z and Enter on Windows")
		}
	}
	stop := s.noteWaiting(name)
	in, err := save.Open(name, s.in)
	stop()
	if err != nil {
		return nil, err
	}
	if err := s.checkOutput(in, saved); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// frameText describes a frame.
func frameText(f save.Frame) string {
	if f == save.Bare {
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
