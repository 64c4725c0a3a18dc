package shell

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gdwire/gdwire/internal/save/outfile"
)

// Replace replaces the file of the given name after write succeeds, and returns the information of the new file.
// opened is that of the old file when it was read: if the file has changed since, that is an error.
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

// CheckWritable returns an error if Replace would not replace a file because it is read-only.
func CheckWritable(name string, info os.FileInfo) error { return outfile.CheckWritable(name, info) }

// maxBackups is the number of backups of a file that Backup looks for.
const maxBackups = 100

// Backup copies the file of the given name to name.bak beside it, or to name.2.bak and so on if there is
// such a file, and returns the name of the copy. No file is replaced.
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
