package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

// keepPart keeps the output up to an error.
func (s *Stdio) keepPart(f *outfile.File, name string, bytes int64) error {
	err := f.KeepAs(name)
	if err == nil {
		s.Logf("the first %s bytes are in %s", humanize.Comma(bytes), name)
	}
	return err
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

// Backup copies the file of the given name to name.bak beside it, or to name.2.bak and so on if name.bak
// exists, and returns the name of the copy. No file is replaced.
func Backup(name string) (string, error) {
	in, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }()
	stat, err := in.Stat()
	if err != nil {
		return "", err
	}
	for i := 1; i <= maxBackups; i++ {
		backup := name + ".bak"
		if i > 1 {
			backup = fmt.Sprintf("%s.%d.bak", name, i)
		}
		out, err := os.OpenFile(backup, os.O_WRONLY|os.O_CREATE|os.O_EXCL, stat.Mode().Perm())
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("no backup can be made, and nothing was saved: %w", err)
		}
		_, err = io.Copy(out, in)
		if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
			return "", errors.Join(err, os.Remove(backup))
		}
		return backup, nil
	}
	return "", fmt.Errorf("there are %d backups of %s already", maxBackups, name)
}
