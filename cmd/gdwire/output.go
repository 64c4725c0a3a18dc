package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
)

// An outputFile is the output of -o FILE. It writes to a new file in the same folder, which
// replaces FILE after success, so that FILE is unchanged after an error, a signal or on a
// full disk. It writes directly to devices and pipes.
type outputFile struct {
	*os.File
	target string // FILE, or "" if it is written directly
	end    chan os.Signal
}

// to runs a command with output to the file of the given name, or to standard output if
// the name is empty.
func (s *screen) to(name string, run func() error) error {
	if name == "" || name == "-" {
		return run()
	}
	f, err := createOutput(name)
	if err != nil {
		return err
	}
	stdout, terminal, width, paint := s.out, s.terminal, s.width, s.paint
	s.out, s.terminal, s.width = bufio.NewWriterSize(f, outBuffer), false, plainWidth
	if f.target != "" {
		s.file = f.File
	}
	s.paint = newPalette(f)
	err = run()
	if err == nil {
		err = s.out.Flush()
	}
	s.out, s.file, s.terminal, s.width, s.paint = stdout, nil, terminal, width, paint
	if err != nil {
		f.abandon()
		return err
	}
	return f.commit()
}

// createOutput creates the file that replaces the one of the given name.
func createOutput(name string) (*outputFile, error) {
	target, err := followLinks(name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(target)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		return &outputFile{File: f}, err
	}
	beside := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+"."+rand.Text()[:8]+".tmp")
	f, createErr := os.OpenFile(beside, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if createErr != nil {
		return nil, createErr
	}
	if err == nil { // the file exists
		_ = os.Chmod(beside, info.Mode().Perm())
		keepOwner(beside, info)
	}
	out := &outputFile{File: f, target: target, end: make(chan os.Signal, 1)}
	signal.Notify(out.end, os.Interrupt, terminated)
	go func() {
		if _, interrupted := <-out.end; interrupted {
			_ = os.Remove(beside)
			os.Exit(statusBad)
		}
	}()
	return out, nil
}

// followLinks returns the name of the file to which symbolic links lead. The file need not
// exist.
func followLinks(name string) (string, error) {
	const most = 40
	for range most {
		link, err := os.Readlink(name)
		if err != nil {
			return name, nil
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(name), link)
		}
		name = link
	}
	return "", &os.PathError{Op: "open", Path: name, Err: errors.New("too many symbolic links")}
}

// release stops handling signals.
func (f *outputFile) release() {
	if f.end != nil {
		signal.Stop(f.end)
		close(f.end)
	}
}

// abandon removes the new file.
func (f *outputFile) abandon() {
	_ = f.Close()
	if f.target != "" {
		_ = os.Remove(f.Name())
	}
	f.release()
}

// commit replaces the old file with the new one.
func (f *outputFile) commit() error {
	if f.target == "" {
		return f.Close()
	}
	err := f.Sync()
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), f.target)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	} else {
		syncFolder(filepath.Dir(f.target))
	}
	f.release()
	return err
}
