package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/stream"
)

// A stdio holds the standard streams of a command, their properties, and the output file that
// can replace standard output.
type stdio struct {
	in      io.Reader
	out     *bufio.Writer
	errs    io.Writer
	outFile *os.File // the regular file that out writes to, for writers that seek; or nil

	inputRead bool // in is the input of the command
	damaged   bool // an input is damaged, which was reported

	output    *outputFile // of -o, or nil
	edits     bool        // the output is an edited save, which can replace the input
	compares  bool        // see command
	replaces  bool        // output replaces the input
	unchanged bool        // output is the same as the input, which stays

	notes []string // messages for the end

	isTerminal bool // out is a terminal
	width      int  // columns of out
	colors     palette
	warn       *color.Color // for errs
	bar        *progressbar.ProgressBar
}

// A palette holds the colors of the output.
type palette struct {
	plain, dim, bold, good, bad, text, data, open *color.Color
}

const (
	plainWidth  = 120      // columns if out is not a terminal
	outBuffer   = 64 << 10 // bytes
	largeInput  = 64 << 20 // minimum size in bytes for a progress bar
	barInterval = time.Second / 10
)

func newStdio(in io.Reader, out, errs io.Writer) *stdio {
	s := &stdio{in: in, out: bufio.NewWriterSize(out, outBuffer), errs: errs, width: plainWidth}
	if f, ok := terminal(out); ok {
		s.isTerminal = true
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			s.width = w
		}
	}
	s.colors = newPalette(out)
	s.warn = pen(errs, color.FgRed)
	return s
}

func newPalette(out io.Writer) palette {
	return palette{
		plain: pen(out), dim: pen(out, color.Faint), bold: pen(out, color.Bold),
		good: pen(out, color.FgGreen), bad: pen(out, color.FgRed),
		text: pen(out, color.FgGreen), data: pen(out, color.FgYellow), open: pen(out, color.FgCyan),
	}
}

// terminal returns w as a file if it is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// pen returns a color for text that is written to w. It is active if w is a terminal and
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

// report writes an error to errs, with the flag that raises the limit in it.
func (s *stdio) report(err error) {
	text := err.Error()
	if !strings.HasPrefix(text, "gdwire") {
		text = "gdwire: " + text
	}
	s.clear()
	fmt.Fprintln(s.errs, s.warn.Sprint(printable(text)+flagFor(err)))
}

// flagFor returns a hint at the flag for the limit in an error, or "".
func flagFor(err error) string {
	name := ""
	var limit *gdwire.LimitError
	var file *fileaccess.LimitError
	var packet *stream.PacketTooLongError
	switch {
	case errors.As(err, &limit):
		name = limit.Name
	case errors.As(err, &file):
		name = file.Name
	case errors.As(err, &packet):
		name = "MaxPacket"
	}
	for _, l := range limits {
		if l.limit == name {
			return "; raise it with -" + l.name
		}
	}
	return ""
}

// logf writes a message to errs.
func (s *stdio) logf(format string, args ...any) {
	s.clear()
	fmt.Fprintln(s.errs, "gdwire: "+printable(fmt.Sprintf(format, args...)))
}

// noteAtEnd stores a message that is written to errs if the command succeeds.
func (s *stdio) noteAtEnd(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// showNotes writes the messages of noteAtEnd. If nobody reads them, the command still succeeds.
func (s *stdio) showNotes() {
	if len(s.notes) > 0 {
		ignoreClosedPipe()
	}
	for _, note := range s.notes {
		s.logf("%s", note)
	}
}

// infof writes a message to errs, unless -q is given.
func (s *stdio) infof(o *options, format string, args ...any) {
	if !o.quiet {
		s.logf(format, args...)
	}
}

// printable returns text with escape sequences for all characters that can control a
// terminal, except for newlines.
func printable(text string) string {
	plain := func(r rune) bool { return r == '\n' || r != utf8.RuneError && strconv.IsPrint(r) }
	if strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		quoted := strconv.Quote(text[i : i+size])
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// progress returns a Reader of r, a file of the given size, that shows a progress bar if
// the file is large.
func (s *stdio) progress(r io.Reader, size int64) io.Reader {
	if _, ok := terminal(s.errs); !ok || size < largeInput {
		return r
	}
	s.bar = progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(s.errs),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(barInterval),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)
	b := progressbar.NewReader(r, s.bar)
	return &b
}

// clear removes the progress bar.
func (s *stdio) clear() {
	if s.bar != nil {
		_ = s.bar.Clear()
	}
}

// untilEnded returns a context that ends with a signal that ends programs. A hangup that is ignored, as
// after nohup, stays so.
func untilEnded() (context.Context, context.CancelFunc) {
	endings := []os.Signal{os.Interrupt, terminated}
	if !signal.Ignored(hangup) {
		endings = append(endings, hangup)
	}
	return signal.NotifyContext(context.Background(), endings...)
}
