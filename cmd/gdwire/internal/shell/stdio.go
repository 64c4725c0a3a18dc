package shell

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/fatih/color"
	"github.com/gdwire/gdwire/internal/values/save/outfile"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/mattn/go-runewidth"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Printable returns text with escape sequences for all characters able to control a
// terminal, except for newlines.
func Printable(text string) string {
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

// Cut cuts text to width columns.
func Cut(text string, width int) string {
	if len(text) <= width {
		return text
	}
	return runewidth.Truncate(text, width, "…")
}

// DecodeText returns a Reader of text without its byte order mark. Text in UTF-16, as
// written by PowerShell, becomes UTF-8.
func DecodeText(r io.Reader) io.Reader {
	return transform.NewReader(r, unicode.BOMOverride(encoding.Nop.NewDecoder()))
}

// A LineWriter calls a function for each line written.
type LineWriter struct {
	Line  func(line string) error
	Most  int          // maximum bytes kept of a line, or 0 for all
	Sum   maphash.Hash // of all bytes of the line
	start []byte       // of the next line
}

func (w *LineWriter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		part, rest, whole := bytes.Cut(b, []byte("\n"))
		_, _ = w.Sum.Write(part)
		if w.Most > 0 {
			part = part[:min(len(part), w.Most-len(w.start))]
		}
		w.start = append(w.start, part...)
		if b = rest; whole {
			err := w.Line(string(w.start))
			w.start = w.start[:0]
			w.Sum.Reset()
			if err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// The exit statuses.
const (
	StatusGood    = 0
	StatusBad     = 1 // bad input, or a file that cannot be opened, read or written
	StatusUsage   = 2 // an invalid command line, or a missing flag or password
	StatusMissing = 3 // of get: there is no value at the path, and nothing else is wrong
)

// ErrBad reports invalid input after the details were shown.
var ErrBad = errors.New("bad input")

// A usageError reports an invalid command line.
type usageError struct {
	error
	print func(io.Writer) error // prints the usage
}

// A ChoiceError reports a lack of flags or a password to go on.
type ChoiceError struct{ error }

// Choicef returns a ChoiceError.
func Choicef(format string, args ...any) error { return ChoiceError{fmt.Errorf(format, args...)} }

// A PartError is the error of an input after its first bytes were written.
type PartError struct {
	Err   error
	Bytes int64
}

func (e *PartError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *PartError) Unwrap() error { return e.Err }

// Prefixed adds the name of the file to an error.
func Prefixed(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

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
	DryRun    bool // -n: only what would change is shown

	IsTerminal bool // Out is a terminal
	Width      int  // columns of Out
	Colors     Palette

	output    *outfile.File // of -o, or nil
	compares  bool          // see Command
	gets      bool          // see Command
	missing   bool          // each bad file only contains no value at the path
	replaces  bool          // output replaces the input
	quiet     bool          // -q
	backup    bool          // -backup
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

// ToPipe reports whether the output goes to standard output, and is the result.
func (s *Stdio) ToPipe() bool { return s.output == nil && !s.DryRun }

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
		return s.commit(f, name)
	case errors.As(err, &part) && !f.Direct():
		failed := f.KeepAs(name + ".part")
		if failed == nil {
			s.Logf("the first %s bytes are in %s.part", humanize.Comma(part.Bytes), name)
		}
		return errors.Join(err, failed)
	}
	f.Abandon()
	return err
}

// commit replaces the file of the given name, if there is one after -backup kept it.
func (s *Stdio) commit(f *outfile.File, name string) error {
	info, err := os.Stat(name)
	if !s.backup || err != nil || !info.Mode().IsRegular() {
		return f.Commit()
	}
	backup, err := Backup(name)
	if err != nil {
		f.Abandon()
		return err
	}
	if err := f.Commit(); err != nil {
		return errors.Join(err, os.Remove(backup))
	}
	s.Infof("%s is the file before: gdwire undo %s goes back to it", backup, text.Operand(name))
	return nil
}

// A TempFile is a temporary file, created when needed.
type TempFile struct{ *os.File }

// Create creates the file, unless created before.
func (t *TempFile) Create() (err error) {
	if t.File == nil {
		if t.File, err = os.CreateTemp("", "gdwire-*"); err == nil {
			_ = os.Remove(t.Name()) // the open file remains, except on Windows, where Close removes it
		}
	}
	return err
}

// Close removes the file.
func (t *TempFile) Close() {
	if t.File != nil {
		_ = t.File.Close()
		_ = os.Remove(t.Name())
	}
}

// WriteFile replaces the file of the given name, besides the output.
func (s *Stdio) WriteFile(name string, b []byte) error {
	return s.runTo(name, func() error {
		_, err := s.Out.Write(b)
		return err
	})
}

// ReplacedBy returns an error if the output replaces an input, given by the path and info of its file,
// unless the input is a save and the output an edited save.
func (s *Stdio) ReplacedBy(name, path string, info os.FileInfo, save bool) error {
	if info == nil || s.output == nil || !s.output.Read(path, info) {
		return nil
	}
	if s.replaces = save && s.Edits; s.replaces {
		return nil
	}
	return fmt.Errorf("%s is the input, which -o would replace with something else: choose another file", name)
}

// Keep notes that the output equals the input, and reports whether the output would replace the input. If so,
// the input stays.
func (s *Stdio) Keep() bool {
	s.Unchanged = s.replaces
	return s.Unchanged
}

// Replace replaces the file of the given name after write succeeds, and returns the information of the new file.
// opened is the information of the old file at the time of reading. Later changes of the file are an error.
func Replace(name string, opened os.FileInfo, write func(*os.File) error) (os.FileInfo, error) {
	out, err := outfile.Create(name, outfile.IgnoreSignals)
	if err != nil {
		return nil, err
	}
	if !out.Read(name, opened) {
		err = &os.PathError{Op: "replace", Path: name, Err: outfile.ErrChanged}
	} else {
		err = write(out.File)
	}
	stat, failed := out.Stat()
	if err = errors.Join(err, failed); err != nil {
		out.Abandon()
		return nil, err
	}
	return stat, out.Commit()
}

// CheckWritable returns an error if a file is read-only, because Replace would not replace it.
func CheckWritable(name string, info os.FileInfo) error { return outfile.CheckWritable(name, info) }

// maxBackups is the maximum number of backups of a file.
const maxBackups = 100

// The ends of the names of a file before an edit, and of a file before undo.
const (
	backupEnd = ".bak"
	undoneEnd = ".undone"
)

// copyName returns the name of copy i of a file: name.bak, name.2.bak.
func copyName(name string, i int, end string) string {
	if i > 1 {
		name = fmt.Sprint(name, ".", i)
	}
	return name + end
}

// newest returns the number of the newest backup of a file, or 0 if there is none.
func newest(name string) (i int) {
	for i = maxBackups; i > 0; i-- {
		if _, err := os.Lstat(copyName(name, i, backupEnd)); err == nil {
			break
		}
	}
	return i
}

// Backup copies the file of the given name to name.bak beside it, or to name.2.bak and so on after other backups, and returns
// the name of the copy. No file is replaced.
func Backup(name string) (string, error) {
	i := newest(name) + 1
	if i > maxBackups {
		return "", fmt.Errorf("there are %d backups of %s already", maxBackups, name)
	}
	backup := copyName(name, i, backupEnd)
	if err := copyFile(name, backup, os.O_EXCL); err != nil {
		return "", fmt.Errorf("no backup can be made, and nothing was saved: %w", err)
	}
	return backup, nil
}

// copyFile copies a file to a new one, which is opened with a flag, too.
func copyFile(name, to string, flag int) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	stat, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|flag, stat.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}
