package interop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// All tests share a browser and a folder with programs that they build.
var (
	browser  *Browser
	programs string
)

func TestMain(m *testing.M) {
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	code := func() int {
		defer cancel()
		begin := time.Now()
		b, err := Open(ctx)
		if errors.Is(err, ErrUnavailable) {
			fmt.Println("skipped:", err)
			return 0
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer b.Close()
		browser = b
		if programs, err = os.MkdirTemp("", "gdwire-interop"); err != nil {
			fmt.Println(err)
			return 1
		}
		defer func() { _ = os.RemoveAll(programs) }()
		fmt.Println("browser started in", time.Since(begin).Round(time.Millisecond))
		return m.Run()
	}()
	os.Exit(code)
}

// scripts returns the files of a program: testdata/name as main.gd, and link.gd.
func scripts(t *testing.T, name string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for packed, name := range map[string]string{"main.gd": name, "link.gd": "link.gd"} {
		files[packed] = string(must(os.ReadFile(filepath.Join("testdata", name)))(t))
	}
	return files
}

func TestRun(t *testing.T) {
	begin := time.Now()
	out, err := browser.Run(t.Context(), Program{Files: scripts(t, "hello.gd"), Args: []string{"a b", `"c"`},
		Socket: func(ctx context.Context, ws *websocket.Conn) error {
			for _, text := range []string{"", "hello"} {
				if err := ws.Write(ctx, websocket.MessageBinary, []byte(text)); err != nil {
					return err
				}
				if _, b, err := ws.Read(ctx); err != nil || string(b) != text {
					return fmt.Errorf("read %q: %w", b, err)
				}
			}
			return nil
		}})
	require.NoError(t, err, "%+v", out)
	t.Log(time.Since(begin).Round(time.Millisecond), out.Lines)
	require.Contains(t, out.Lines[len(out.Lines)-2], "4.6-stable (official)")
	require.Equal(t, `["a b", "\"c\""]`, out.Lines[len(out.Lines)-1])
	require.Contains(t, fmt.Sprint(out.Errors), "an error")
}

// TestRunFails tests programs that fail.
func TestRunFails(t *testing.T) {
	out, err := browser.Run(t.Context(), Program{Files: scripts(t, "hello.gd"), Args: []string{"quit"}})
	require.ErrorContains(t, err, "exit code 3")
	require.ErrorContains(t, err, "an error")
	require.NotEmpty(t, out.Lines)

	own := errors.New("own")
	_, err = browser.Run(t.Context(), Program{Files: scripts(t, "hello.gd"), Args: []string{"x"},
		Socket: func(context.Context, *websocket.Conn) error { return own }})
	require.ErrorIs(t, err, own)

	ctx, cancel := context.WithCancel(t.Context())
	_, err = browser.Run(ctx, Program{Files: scripts(t, "hello.gd"), Args: []string{"x"},
		Socket: func(ctx context.Context, ws *websocket.Conn) error {
			cancel()
			_, _, err := ws.Read(ctx)
			return err
		}})
	require.Equal(t, context.Canceled, err)
}
