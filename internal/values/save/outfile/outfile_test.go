package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFolderError: the error names the file and its folder, and says what to do if that is not allowed.
func TestFolderError(t *testing.T) {
	target := filepath.Join("saves", "save.dat")
	err := folderError(target, &os.PathError{Op: "open", Path: "saves/.save.dat", Err: fs.ErrPermission})
	require.EqualError(t, err, target+" cannot be written: no file can be created in its folder saves: permission denied; write to another folder")
	require.ErrorIs(t, err, fs.ErrPermission)
	full := errors.New("disk full")
	err = folderError(target, &os.PathError{Op: "open", Path: "saves/.save.dat", Err: full})
	require.EqualError(t, err, target+" cannot be written: no file can be created in its folder saves: disk full")
	require.Equal(t, full, folderError(target, full))
}
