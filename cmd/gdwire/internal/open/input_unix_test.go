//go:build unix

package open

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// TestNamedPipe: the user learns that the command waits for the writer of a pipe.
func TestNamedPipe(t *testing.T) {
	old := pipeWait
	pipeWait = 0
	defer func() { pipeWait = old }()
	save := testenv.Must(os.ReadFile("../../../../testdata/godot4.7-dev/put_var.bin"))(t)
	name := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	errs, stderr := io.Pipe()
	done := make(chan error)
	go func() {
		done <- (&Flags{}).ShowFile(shell.NewStdio(nil, io.Discard, stderr), name, NewCheckPrinter(false))
	}()
	line := testenv.Must(bufio.NewReader(errs).ReadString('\n'))(t)
	require.Equal(t, "gdwire: "+name+" is a pipe; waiting for a program that writes to it\n", line)
	require.NoError(t, os.WriteFile(name, save, 0o600))
	require.NoError(t, <-done)
}
