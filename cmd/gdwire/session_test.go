//go:build unix || windows

package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gdwire": measuredMain})
}

// TestSessions runs whole sessions as a user would, with the files of engines in
// $SAVES.
func TestSessions(t *testing.T) {
	saves := must(filepath.Abs(filepath.Join("..", "..", "testdata")))(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "sessions"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAVES", saves)
			return nil
		},
		Condition: func(name string) (bool, error) { // what testscript does not know
			return name == "nohup" && signal.Ignored(syscall.SIGHUP), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"samebytes": sameBytes, "reach": reach, "browse": browse, "fetch": fetchPage},
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

// browse waits until a file of a command's messages contains the address of a page, which fetch uses then.
func browse(ts *testscript.TestScript, not bool, args []string) {
	for {
		b, _ := os.ReadFile(ts.MkAbs(args[0])) // it may not be there yet
		if _, rest, ok := strings.Cut(string(b), "http://"); ok {
			if address, _, whole := strings.Cut(rest, "\n"); whole {
				ts.Setenv("PAGE", "http://"+address)
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// fetchPage prints what a page answers to a request as its script sends it, of GET or, with a body, of POST. Arguments
// before the address, such as Origin=http://example.com, replace headers.
func fetchPage(ts *testscript.TestScript, not bool, args []string) {
	headers := map[string]string{}
	for strings.Contains(args[0], "=") && !strings.Contains(args[0], "?") {
		name, value, _ := strings.Cut(args[0], "=")
		headers[name], args = value, args[1:]
	}
	base, err := url.Parse(ts.Getenv("PAGE"))
	ts.Check(err)
	path, query, _ := strings.Cut(args[0], "?")
	at := base.ResolveReference(&url.URL{Path: path, RawQuery: strings.ReplaceAll(query, " ", "%20")})
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, at.String(), nil)
	ts.Check(err)
	if len(args) > 1 {
		r.Method, r.Body = http.MethodPost, io.NopCloser(strings.NewReader(args[1]))
		headers["Content-Type"] = cmp.Or(headers["Content-Type"], "application/json")
		if _, ok := headers["Origin"]; !ok {
			headers["Origin"] = "http://" + base.Host
		}
	}
	for name, value := range headers {
		if name == "Host" {
			r.Host = value
		} else if value != "" {
			r.Header.Set(name, value)
		}
	}
	answer, err := http.DefaultClient.Do(r)
	ts.Check(err)
	_, err = io.Copy(ts.Stdout(), answer.Body)
	ts.Check(errors.Join(err, answer.Body.Close()))
	if (answer.StatusCode == http.StatusOK) == not {
		ts.Fatalf("%s: %s", at, answer.Status)
	}
}
