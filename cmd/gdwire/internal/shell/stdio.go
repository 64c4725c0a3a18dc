package shell

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/fatih/color"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/gdwire/gdwire/internal/save/outfile"
)

// A Stdio contains the standard streams of a command, their properties, and the output file
// replacing standard output, if any.
type Stdio struct {
	In      io.Reader
	Out     *bufio.Writer
	Errs    io.Writer
	OutFile *os.File // the regular file Out writes to, for writers that seek; or nil

	InputRead bool // In is the input of the command
	Several   bool // the file is one of several
	Damaged   bool // an input is damaged, and this was reported
	Edits     bool // the output is an edited save and can replace the input
	Unchanged bool // the output equals the input, and the input stays

	IsTerminal bool // Out is a terminal
	Width      int  // columns of Out
	Colors     Palette

	output    *outfile.File // of -o, or nil
	compares  bool          // see Command
	replaces  bool          // output replaces the input
	quiet     bool          // -q
	notes     []string      // messages for the end
	errorText func(error) string
	warn      *color.Color // for Errs
	bar       *progressbar.ProgressBar
	counts    bool // bar counts files
}

// A Palette contains the colors of the output.
type Palette struct {
	Plain, Dim, Bold, Good, Bad, Text, Data, Open *color.Color
}

const (
	// PlainWidth is the number of columns of an output to anything but a terminal.
	PlainWidth = 120
	// BufferSize is the size in bytes of the buffer of an output.
	BufferSize  = 64 << 10
	largeInput  = 64 << 20 // minimum size in bytes for a progress bar
	barInterval = time.Second / 10
)

// NewStdio returns the standard streams of a command.
func NewStdio(in io.Reader, out, errs io.Writer) *Stdio {
	s := &Stdio{In: in, Out: bufio.NewWriterSize(out, BufferSize), Errs: errs, Width: PlainWidth}
	if f, ok := terminal(out); ok {
		s.IsTerminal = true
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			s.Width = w
		}
	}
	s.Colors = newPalette(out)
	s.warn = pen(errs, color.FgRed)
	return s
}

// Capture returns a Stdio with output to w and without messages.
func Capture(w io.Writer) *Stdio {
	s := NewStdio(nil, w, io.Discard)
	s.quiet = true
	return s
}

func newPalette(out io.Writer) Palette {
	return Palette{
		Plain: pen(out), Dim: pen(out, color.Faint), Bold: pen(out, color.Bold),
		Good: pen(out, color.FgGreen), Bad: pen(out, color.FgRed),
		Text: pen(out, color.FgGreen), Data: pen(out, color.FgYellow), Open: pen(out, color.FgCyan),
	}
}

// terminal returns w as a file if it is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// pen returns a color for text written to w, active if w is a terminal and
// NO_COLOR is not set, or if CLICOLOR_FORCE is set.
func pen(w io.Writer, a ...color.Attribute) *color.Color {
	c := color.New(a...)
	_, shows := terminal(w)
	shows = shows && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if force := os.Getenv("CLICOLOR_FORCE"); shows || force != "" && force != "0" {
		c.EnableColor()
	} else {
		c.DisableColor()
	}
	return c
}

// Report writes an error to Errs, with the flag to raise an exceeded limit.
func (s *Stdio) Report(err error) {
	text := Printable(err.Error())
	if s.errorText != nil {
		text = s.errorText(err)
	}
	if !strings.HasPrefix(text, "gdwire") {
		text = "gdwire: " + text
	}
	s.Clear()
	fmt.Fprintln(s.Errs, s.warn.Sprint(text))
}

// Logf writes a message to Errs.
func (s *Stdio) Logf(format string, args ...any) {
	s.Clear()
	fmt.Fprintln(s.Errs, "gdwire: "+Printable(fmt.Sprintf(format, args...)))
}

// NoteAtEnd stores a message to write to Errs if the command succeeds.
func (s *Stdio) NoteAtEnd(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// showNotes writes the messages of NoteAtEnd. The command succeeds even if nobody reads them.
func (s *Stdio) showNotes() {
	if len(s.notes) > 0 {
		ignoreClosedPipe()
	}
	for _, note := range s.notes {
		s.Logf("%s", note)
	}
}

// Infof writes a message to Errs, unless -q is given.
func (s *Stdio) Infof(format string, args ...any) {
	if !s.quiet {
		s.Logf(format, args...)
	}
}

// IsQuiet reports whether -q is given.
func (s *Stdio) IsQuiet() bool { return s.quiet }

// MessagesShown reports whether messages go to a terminal.
func (s *Stdio) MessagesShown() bool {
	_, ok := terminal(s.Errs)
	return ok
}

// Progress returns a Reader of r, a file of the given size. The Reader shows a progress bar if
// the file is large.
func (s *Stdio) Progress(r io.Reader, size int64) io.Reader { return s.newBar(size)(r) }

// ProgressOf returns a function that returns Readers of files of the given size together. The Readers
// share a progress bar as of Progress, and write the output so far before they read on, to show the output at once.
func (s *Stdio) ProgressOf(size int64) func(io.Reader) io.Reader {
	bar := s.newBar(size)
	return func(r io.Reader) io.Reader { return &flushingReader{bar(r), s} }
}

// A flushingReader writes the output so far before each Read.
type flushingReader struct {
	io.Reader
	s *Stdio
}

func (r *flushingReader) Read(p []byte) (int, error) {
	if r.s.Out.Buffered() > 0 {
		r.s.Clear()
		if err := r.s.Out.Flush(); err != nil {
			return 0, err
		}
	}
	return r.Reader.Read(p)
}

// newBar shows a progress bar for size bytes, if these are many, and returns a function for Readers moving the
// bar.
func (s *Stdio) newBar(size int64) func(io.Reader) io.Reader {
	if _, ok := terminal(s.Errs); !ok || size < largeInput || s.counts {
		return func(r io.Reader) io.Reader { return r }
	}
	s.bar = progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(s.Errs),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(barInterval),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)
	s.bar.Reset() // starts the clock, for the rate in the first line
	return func(r io.Reader) io.Reader {
		b := progressbar.NewReader(r, s.bar)
		return &b
	}
}

// Clear removes the progress bar.
func (s *Stdio) Clear() {
	if s.bar != nil {
		_ = s.bar.Clear()
	}
}

// UntilEnded returns a context canceled by a signal to end the program, as systems and service managers send it. An ignored
// hangup, as after nohup, stays ignored.
func UntilEnded() (context.Context, context.CancelFunc) {
	endings := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(hangup) {
		endings = append(endings, hangup)
	}
	return signal.NotifyContext(context.Background(), endings...)
}

// grace is the time after a signal for writing the waiting output.
const grace = time.Second

// WaitOutput waits until everything is shown. If not all is shown soon after a signal, because
// the output is blocked, WaitOutput ends the program.
func WaitOutput(signals context.Context, shown <-chan struct{}) {
	select {
	case <-shown:
		return
	case <-signals.Done():
	}
	select {
	case <-shown:
	case <-time.After(grace):
		os.Exit(StatusBad)
	}
}
