package stream_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
)

// These tests talk to a running Godot 3, Debian's godot3-server.

// engine runs a script of testdata/godot3 to its end and returns its output.
// It fails the test if the script does.
func engine(t *testing.T, script string, env []string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("godot3-server")
	if err != nil {
		t.Skip("skipped: godot3-server is not installed, so no engine was asked")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	home := t.TempDir() // the engine writes logs into its folder
	require.NoError(t, os.CopyFS(home, os.DirFS("testdata/godot3")))
	args = append([]string{"--no-window", "--path", home, "-s", script}, args...)
	c := exec.CommandContext(ctx, path, args...)
	c.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	c.Env = append(c.Env, env...)
	out, err := c.CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("FAILED")) || bytes.Contains(out, []byte("SCRIPT ERROR")) {
		t.Errorf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func TestEngineEcho(t *testing.T) {
	for _, mode := range []string{"put_var", "big_endian", "packet_stream"} {
		for _, objects := range []string{"", "yes"} {
			if !testenv.Full() && (objects != "") != (mode == "big_endian") {
				continue
			}
			t.Run(mode+"/objects="+objects, func(t *testing.T) {
				t.Parallel()
				o := &stream.Options{
					Format:          gdwire.Godot3,
					BigEndianLength: mode == "big_endian",
					Decoder:         gdwire.DecoderOptions{AllowObjects: objects != "", Strict: true},
					ReadTimeout:     time.Minute,
					WriteTimeout:    time.Minute,
				}
				port := serve(t, o, func(c *stream.Conn) error { return echo(c, true) })
				t.Log(summary(engine(t, "echo.gd", []string{"PORT=" + port, "MODE=" + mode, "OBJECTS=" + objects})))
			})
		}
	}
}

// summary returns the last line that the script printed.
func summary(out string) string {
	return regexp.MustCompile(`\d+ values, \d+ differ`).FindString(out)
}

func TestEngineUDP(t *testing.T) {
	t.Parallel()
	pc := must(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	c := stream.NewPacketConn(t.Context(), pc, &stream.Options{Format: gdwire.Godot3, Decoder: gdwire.DecoderOptions{Strict: true}})
	var served sync.WaitGroup
	defer served.Wait()
	defer c.Close()
	served.Go(func() {
		for {
			d, err := c.Next()
			from := c.From()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				err = c.To(from).WritePacket(func(e *gdwire.Encoder) error { return gdwire.CopyValue(e, d) })
			}
			if !assert.NoError(t, err) {
				return
			}
		}
	})
	_, port, _ := net.SplitHostPort(pc.LocalAddr().String())
	t.Log(summary(engine(t, "echo.gd", []string{"PORT=" + port, "MODE=udp"})))
}

// TestEngineFile rewrites a file of values that the engine stored, and lets the engine compare.
func TestEngineFile(t *testing.T) {
	for _, big := range []string{"", "yes"} {
		t.Run("big_endian="+big, func(t *testing.T) {
			t.Parallel()
			o := &stream.Options{Format: gdwire.Godot3, BigEndianLength: big != "", Decoder: gdwire.DecoderOptions{Strict: true}}
			name := filepath.Join(t.TempDir(), "values")
			env := []string{"FILE=" + name, "BIG_ENDIAN=" + big}
			engine(t, "file.gd", append(env, "MODE=write"))

			old := must(os.Open(name))(t)
			defer old.Close()
			require.Equal(t, must(old.Stat())(t).Size(), must(stream.ScanComplete(old, *o))(t))
			must(old.Seek(0, io.SeekStart))(t)

			require.NoError(t, os.Remove(name))
			f := must(os.Create(name))(t)
			defer f.Close()
			r, w := stream.NewReader(old, o), stream.NewWriter(f, o)
			n := 0
			for ; ; n++ {
				d, err := r.Next()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				copied := func(e *gdwire.Encoder) error { return gdwire.CopyValue(e, d) }
				if n%2 == 0 {
					err = w.WritePacket(copied)
				} else {
					err = w.WriteThrough(copied)
				}
				require.NoError(t, err)
				require.Zero(t, r.Trailing())
			}
			engine(t, "file.gd", append(env, "MODE=compare"))
			t.Log(n, "values")
		})
	}
}

// TestEngineDebugger takes the place of the editor in --remote-debug.
func TestEngineDebugger(t *testing.T) {
	t.Parallel()
	printed := make(chan string, 1)
	port := serve(t, &stream.Options{Format: gdwire.Godot3, Decoder: gdwire.DecoderOptions{Strict: true}}, func(c *stream.Conn) error {
		var text []byte
		defer func() { printed <- string(text) }()
		for n := 0; ; n++ {
			d, err := c.Next()
			if err == io.EOF {
				t.Log(n, "packets")
				return nil
			}
			if err != nil {
				return err
			}
			for tok, err := range d.Tokens() {
				if err != nil {
					return err
				}
				if tok.Kind() == gdwire.KindStringChunk {
					text = append(append(text, tok.Bytes()...), '\n')
				}
			}
		}
	})
	engine(t, "debug.gd", nil, "--remote-debug", "127.0.0.1:"+port)
	text := <-printed
	for i := range 5 {
		assert.Contains(t, text, fmt.Sprintf("line %d of the script", i))
	}
}

// TestGodot3Server runs testdata/server and its client, on another port.
func TestGodot3Server(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "server")
	out, err := exec.Command("go", "build", "-ldflags", "-X main.addr=127.0.0.1:0", "-o", binary, "./testdata/server").CombinedOutput()
	require.NoError(t, err, "%s", out)
	server := exec.CommandContext(t.Context(), binary)
	stderr := must(server.StderrPipe())(t)
	require.NoError(t, server.Start())
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	line := must(bufio.NewReader(stderr).ReadString('\n'))(t)
	addr := strings.TrimSpace(line[strings.LastIndex(line, " ")+1:])

	conn := must(net.Dial("tcp", addr))(t)
	c := stream.NewConn(t.Context(), conn, &stream.Options{Format: gdwire.Godot3, IdleTimeout: time.Minute})
	defer c.Close()
	require.NoError(t, c.WriteRaw([]byte("garbage!")))
	require.NoError(t, c.WritePacket(func(e *gdwire.Encoder) error { return e.WriteInt(5) }))
	d := must(c.Next())(t)
	_, _ = d.ReadToken()
	require.Equal(t, "you sent", must(d.ReadToken())(t).Text())

	script := must(os.ReadFile("testdata/server/client.gd"))(t)
	require.Contains(t, string(script), `"127.0.0.1", 7777`)
	copied := filepath.Join(t.TempDir(), "client.gd")
	_, port, _ := net.SplitHostPort(addr)
	require.NoError(t, os.WriteFile(copied, bytes.Replace(script, []byte("7777"), []byte(port), 1), 0o600))
	require.Contains(t, engine(t, copied, nil), "[you sent, {at:(1, 2.5), name:Ada}]")
}
