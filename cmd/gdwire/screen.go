package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A screen is where a command reads and writes.
type screen struct {
	in   io.Reader
	out  *bufio.Writer
	errs io.Writer

	terminal bool // out is one
	width    int  // of out's lines
	paint    palette
	warn     *color.Color // for errs
	bar      *progressbar.ProgressBar
}

// A palette has the colours for what is shown.
type palette struct {
	plain, dim, bold, good, bad, text, data, open *color.Color
}

const (
	plainWidth  = 120      // of lines that no terminal shows
	outBuffer   = 64 << 10 // bytes
	largeInput  = 64 << 20 // bytes from which on a progress bar is worth it
	barInterval = time.Second / 10
)

func newScreen(in io.Reader, out, errs io.Writer) *screen {
	s := &screen{in: in, out: bufio.NewWriterSize(out, outBuffer), errs: errs, width: plainWidth}
	if f, ok := terminal(out); ok {
		s.terminal = true
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			s.width = w
		}
	}
	s.paint = palette{
		plain: pen(out), dim: pen(out, color.Faint), bold: pen(out, color.Bold),
		good: pen(out, color.FgGreen), bad: pen(out, color.FgRed),
		text: pen(out, color.FgGreen), data: pen(out, color.FgYellow), open: pen(out, color.FgCyan),
	}
	s.warn = pen(errs, color.FgRed)
	return s
}

// terminal returns w as a file if it is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// pen returns a colour that shows only where w is a terminal, and NO_COLOR does
// not forbid it.
func pen(w io.Writer, a ...color.Attribute) *color.Color {
	c := color.New(a...)
	if _, ok := terminal(w); ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		c.EnableColor()
	} else {
		c.DisableColor()
	}
	return c
}

// report says what is wrong.
func (s *screen) report(err error) {
	text := err.Error()
	if !strings.HasPrefix(text, "gdwire") {
		text = "gdwire: " + text
	}
	s.clear()
	fmt.Fprintln(s.errs, s.warn.Sprint(text))
}

// progress shows how much has been read of r, a file of that size, where that
// takes long enough to be seen.
func (s *screen) progress(r io.Reader, size int64) io.Reader {
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

// clear takes the progress bar away.
func (s *screen) clear() {
	if s.bar != nil {
		_ = s.bar.Clear()
	}
}
