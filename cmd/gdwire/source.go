package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/recognize"
)

// A source is an opened input: the content of a file or of its container.
type source struct {
	io.Reader
	name string
	file io.Closer
	info os.FileInfo // of a regular file, or nil
	size int64       // of the content, or -1 if it is not known
	live bool        // a pipe or terminal, which can send more at any time

	header []byte // the bytes before the content, of -skip, if the command writes a save
}

func (in *source) Close() error { return in.file.Close() }

// open opens the input of the given name and recognizes it.
func (s *screen) open(name string, o *options) (*source, error) {
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
func (s *screen) openContainer(name string, o *options) (*source, error) {
	in, err := s.openFile(name, true)
	if err != nil {
		return nil, err
	}
	if err := s.skip(in, o.skip); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	fo := fileaccess.Options{AskKey: func(fileaccess.Info) (*fileaccess.Key, error) { return s.key(in.name, o) }}
	if fo.Limits.Size = o.maxContent; !in.live && fo.Limits.Size == 0 {
		fo.Limits.Size = -1
	}
	r, err := fileaccess.NewReader(in.Reader, &fo)
	if err != nil {
		return nil, errors.Join(named(in.name, err), in.Close())
	}
	info := r.Info()
	o.container = &info
	if info.Container != fileaccess.Plain {
		in.size = info.Size
	}
	in.Reader = &namedReader{r, in.name}
	return in, nil
}

// A namedReader reads the content of a container. Its errors have the name of the file.
type namedReader struct {
	io.Reader
	name string
}

func (c *namedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	return n, named(c.name, err)
}

// named adds the name of the file to an error of a container.
func named(name string, err error) error {
	if isContainerError(err) {
		return prefixed(name, err)
	}
	return err
}

// isContainerError reports whether err is about a compressed or encrypted file, such as one
// that is cut.
func isContainerError(err error) bool {
	var e *fileaccess.Error
	return errors.As(err, &e)
}

// skip skips the first n bytes, which recode writes again.
func (s *screen) skip(in *source, n int64) error {
	var header bytes.Buffer
	kept := io.Discard
	if s.edits {
		kept = &header
	}
	skipped, err := io.CopyN(kept, in.Reader, n)
	if err == io.EOF {
		err = fmt.Errorf("%s has %d bytes, so -skip %d leaves nothing", in.name, skipped, n)
	}
	in.header, in.size = header.Bytes(), max(in.size-n, -1)
	return err
}

// prefixed adds the name of the file to an error.
func prefixed(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

// inputName returns the name of an input in messages.
func inputName(operand string) string {
	if operand == "" || operand == "-" {
		return "standard input"
	}
	return operand
}

// openFile opens the file of the given name, or standard input. The output may replace it if
// it is a save.
func (s *screen) openFile(name string, save bool) (*source, error) {
	in := &source{name: inputName(name), Reader: s.in, file: io.NopCloser(nil), size: -1, live: true}
	f, ok := s.in.(*os.File)
	if name == "" || name == "-" {
		s.inputRead = true
		if ok && term.IsTerminal(int(f.Fd())) {
			s.say("reading from the terminal; end with Ctrl-D, or Ctrl-Z and Enter on Windows")
		}
	} else {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, err
		}
		in.Reader, in.file, ok = f, f, true
	}
	if !ok {
		return in, nil
	}
	i, err := f.Stat()
	switch {
	case err != nil:
	case i.IsDir():
		return nil, errors.Join(fmt.Errorf("%s is a folder", name), in.Close())
	case i.Mode().IsRegular():
		in.info, in.size, in.live = i, i.Size(), false
	}
	if err := s.checkOutput(in, save); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// recognize finds the format and frame of the input, unless flags give both.
func (s *screen) recognize(in *source, o *options) error {
	if !in.live {
		o.forFile(in.size)
	}
	if o.given["format"] && o.given["frame"] {
		return nil
	}
	ri := recognize.Input{Size: in.size, Decoder: o.decoder}
	if o.given["format"] {
		ri.Formats = []*gdwire.Format{o.decoder.Format}
	}
	if o.given["frame"] {
		ri.Frames = []recognize.Frame{o.frame}
	}
	if f, ok := in.file.(*os.File); ok && !in.live && o.container.Container == fileaccess.Plain {
		ri.At = io.NewSectionReader(f, o.skip, in.size)
	}
	err := recognize.ReadHead(in.Reader, &ri, in.live)
	switch {
	case isContainerError(err) && len(ri.Head) > 0: // read what there is, and then this error
		ri.Size = int64(len(ri.Head))
	case err != nil:
		return err
	}
	in.Reader = io.MultiReader(bytes.NewReader(ri.Head), in.Reader)
	return s.decide(in, o, &ri, recognize.Recognize(&ri))
}

// decide sets format and frame to the recognized ones, or returns an error.
func (s *screen) decide(in *source, o *options, ri *recognize.Input, r recognize.Result) error {
	const choose = "to read it anyway, choose -format and -frame"
	switch r.Certainty {
	case recognize.Empty:
		if !o.nonEmpty {
			s.note(o, "%s is empty", in.name)
		}
		if o.decoder.Format == nil {
			o.decoder.Format = gdwire.Godot4
		}
		return nil
	case recognize.Foreign:
		return fmt.Errorf("%s is %s, not values of Godot; %s", in.name, r.Name, choose)
	case recognize.Unknown:
		return fmt.Errorf("%s was not recognized as values of Godot; %s", in.name, choose)
	case recognize.Ambiguous:
		return choiceError{s.ambiguous(in, o, ri, r)}
	}
	reading := r.Readings[0]
	o.decoder.Format, o.frame, o.recognized = reading.Format, reading.Frame, true
	o.filled = true // engines write no bytes after a value, so the file is damaged
	if len(r.Readings) > 1 && o.framed() && int64(len(ri.Head)) != in.size {
		for _, other := range r.Readings {
			o.candidates = append(o.candidates, other.Format)
		}
	}
	how := map[recognize.Certainty]string{
		recognize.Probably: "probably ", recognize.CutShort: "cut short, probably ", recognize.Damaged: "damaged, probably ",
	}[r.Certainty]
	if whole := int64(len(ri.Head)) == ri.Size; whole && len(r.Readings) > 1 && r.Certainty == recognize.Probably {
		how = "" // the values are the same; of a pipe they may be the start of another value
	}
	what := fmt.Sprintf("%s%v, %s%s", how, reading.Format, frameText(reading.Frame), containerText(o.container))
	if how != "" && o.writes {
		return choiceError{fmt.Errorf("%s is %s; to write it, confirm this with %v", in.name, what, reading)}
	}
	if _, ok := terminal(s.errs); ok || how != "" {
		s.note(o, "%s is %s", in.name, what)
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
func (s *screen) ambiguous(in *source, o *options, ri *recognize.Input, r recognize.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s can be read in %d ways; choose one:", in.name, len(r.Readings))
	for _, reading := range r.Readings {
		o := *o
		o.decoder.Format, o.frame, o.candidates = reading.Format, reading.Frame, nil
		fmt.Fprintf(&b, "\n  %v: %s", reading, firstLine(ri.Head, &o))
	}
	return errors.New(b.String())
}

// firstLine returns the first line that flat shows.
func firstLine(head []byte, o *options) string {
	var out bytes.Buffer
	s := newScreen(nil, &out, io.Discard)
	v := newFlatPrinter(s, o)
	for p := range packets(bytes.NewReader(head), o) {
		_ = v.show(p) // an invalid value is shown up to its error
		break
	}
	_ = s.out.Flush()
	line, _, _ := strings.Cut(out.String(), "\n")
	const most = 100
	return cut(line, most)
}
