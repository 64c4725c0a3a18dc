//go:build unix || windows

package main

import (
	"net"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gdwire": main})
}

// TestSessions runs whole sessions as a user would, with the files of engines in
// $SAVES.
func TestSessions(t *testing.T) {
	saves, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "sessions"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAVES", saves)
			return nil
		},
		Condition: func(name string) (bool, error) { // what testscript does not know
			return name == "nohup" && signal.Ignored(syscall.SIGHUP), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"samebytes": sameBytes, "reach": reach},
	})
}

// sameBytes checks that two files are equal, without showing them.
func sameBytes(ts *testscript.TestScript, not bool, args []string) {
	a, b := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if (a == b) == not {
		ts.Fatalf("%s and %s: equal is %v", args[0], args[1], a == b)
	}
}

// reach waits until a program listens on a Unix socket.
func reach(ts *testscript.TestScript, not bool, args []string) {
	for {
		conn, err := net.Dial("unix", ts.MkAbs(args[0]))
		if err == nil {
			ts.Check(conn.Close())
			return
		}
		time.Sleep(time.Millisecond)
	}
}
