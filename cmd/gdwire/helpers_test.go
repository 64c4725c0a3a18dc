package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

func must2[V, W any](v V, w W, err error) func(testing.TB) (V, W) { return testenv.Must2(v, w, err) }

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

// engines contains the format of each folder of testdata.
var engines = map[string]string{
	"godot3.2.3": "godot3", "godot4.3": "godot4", "godot4.7-dev": "godot4", "godot4.7-dev-double": "godot4",
}

// failing is a file that accepts a number of bytes and then fails.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if n < len(p) {
		return n, f.err
	}
	return n, nil
}

type failingReader struct{}

func (*failingReader) Read([]byte) (int, error) { return 0, errors.New("cable cut") }

// fixed adds the flags for Godot 4 and values without length, so that nothing is
// recognized.
func fixed(args []string) []string {
	if len(args) == 0 || !slices.Contains([]string{"tokens", "json", "flat", "get", "check", "recode"}, args[0]) {
		return args
	}
	var flags []string
	if !slices.Contains(args, "-format") {
		flags = append(flags, "-format", "godot4")
	}
	if !slices.Contains(args, "-frame") {
		flags = append(flags, "-frame", "none")
	}
	return slices.Insert(slices.Clone(args), 1, flags...)
}

// A result is the exit status and the output of a run.
type result struct {
	status   int
	out, err string
}

// The exit statuses, and packets.
const (
	statusGood, statusBad, statusUsage = shell.StatusGood, shell.StatusBad, shell.StatusUsage
	upgradeRequest, upgradeResponse    = cmdtest.UpgradeRequest, cmdtest.UpgradeResponse
)

var (
	wire, framed, framedBig = cmdtest.Wire, cmdtest.Framed, cmdtest.FramedBig
	webSocketMessage        = cmdtest.WebSocketMessage
	lineFeeds               = cmdtest.LineFeeds
)

// run runs the command and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return program.Run(args, stdin, stdout, stderr)
}

func runCases(t *testing.T, cases []testCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

func runWith(stdin []byte, args ...string) result {
	var out, errs bytes.Buffer
	status := run(fixed(args), bytes.NewReader(stdin), &out, &errs)
	return result{status, out.String(), errs.String()}
}

// A testCase is a run and its expected result. Standard error contains err; it is
// empty if err is.
type testCase struct {
	name   string
	args   string
	in     []byte
	status int
	out    string
	err    string
}

func (c *testCase) run(t *testing.T) {
	t.Helper()
	r := runWith(c.in, strings.Fields(c.args)...)
	require.Equal(t, c.out, r.out, r.err)
	require.Equal(t, c.status, r.status, r.err)
	if c.err == "" {
		require.Empty(t, r.err)
	}
	require.Contains(t, r.err, c.err)
}

func testdata(folder, file string) string { return filepath.Join("..", "..", "testdata", folder, file) }

// vectors returns the values that the engine of a folder wrote.
func vectors(t testing.TB, folder string) []suite.Value {
	all := must(suite.ValuesOf(strings.TrimPrefix(folder, "godot")))(t)
	require.NotEmpty(t, all)
	return all
}

// sample is vectors, or a quarter of them in the quick tests.
func sample(t *testing.T, folder string) (some []suite.Value) {
	all := vectors(t, folder)
	if testenv.Full() {
		return all
	}
	for i := 0; i < len(all); i += 4 {
		some = append(some, all[i])
	}
	return some
}
