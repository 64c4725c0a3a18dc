package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// TestProxied lets 30 players of 3 addresses connect through nginx and HAProxy, as README.md configures them: 10 of each address
// are served, whatever addresses they send, and an 11th is not.
func TestProxied(t *testing.T) {
	if err := exec.Command("ip", "route", "get", "127.0.0.4").Run(); err != nil {
		t.Skip("skipped: other addresses of this machine are needed, as Linux has them")
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, proxy := range []struct{ name, config, before, after string }{
		{"nginx", "nginx.conf", "daemon off;\npid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n", "}\n"},
		{"haproxy", "haproxy.cfg", "global\n    maxconn 100\n", ""},
	} {
		t.Run(proxy.name, func(t *testing.T) {
			program, err := exec.LookPath(proxy.name)
			if err != nil {
				t.Skip("skipped: this test needs " + proxy.name)
			}
			s := &stream.Server{Handler: handle, MaxConnsPerAddr: 10, Logger: slog.New(slog.DiscardHandler)}
			web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx := stream.WithForwardedFor(r.Context(), r.Header.Values("X-Forwarded-For"), netip.MustParsePrefix("127.0.0.1/32"))
				if ws, err := websocket.Accept(w, r, nil); err == nil {
					s.ServeMessages(ctx, stream.WebSocket(ws, websocket.CloseStatus))
				}
			}))
			web.Config.ConnContext = stream.WithNetConn
			web.Start()
			defer web.Close()
			free, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			through := free.Addr().String()
			require.NoError(t, free.Close())

			lines := regexp.MustCompile("(?s)```" + proxy.name + "\n(.*?)```").FindSubmatch(readme)
			config := strings.NewReplacer("127.0.0.1:7778", web.Listener.Addr().String(), "127.0.0.1:8080", through).Replace(string(lines[1]))
			dir := t.TempDir()
			file := filepath.Join(dir, proxy.config)
			require.NoError(t, os.WriteFile(file, []byte(proxy.before+config+proxy.after), 0o600))
			args := map[string][]string{"nginx": {"-p", dir, "-e", "stderr", "-c", file}, "haproxy": {"-db", "-f", file}}[proxy.name]
			run := exec.CommandContext(t.Context(), program, args...)
			var said strings.Builder
			run.Stderr = &said
			run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
			require.NoError(t, run.Start())
			defer func() { _ = run.Cancel(); _ = run.Wait() }()

			connect := func(addr, from string) error {
				dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
				client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
				o := &websocket.DialOptions{HTTPClient: client, HTTPHeader: http.Header{"X-Forwarded-For": {"192.0.2.1", "127.0.0.1"}}}
				ws, _, err := websocket.Dial(t.Context(), "ws://"+addr, o)
				if err != nil {
					return err
				}
				c := stream.NewMessageConn(context.Background(), stream.WebSocket(ws, websocket.CloseStatus), nil)
				t.Cleanup(func() { _ = c.Close() })
				m := message{Name: from}
				if err := variant.Send(c, m); err != nil {
					return err
				}
				return variant.Receive(c, &m)
			}
			require.Eventually(t, func() bool {
				c, err := net.Dial("tcp", through)
				if err == nil {
					_ = c.Close()
				}
				return err == nil
			}, time.Minute, 10*time.Millisecond)
			counts := func() map[string]int {
				n := map[string]int{}
				for c := range s.Conns() {
					host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
					n[host]++
				}
				return n
			}
			want := map[string]int{}
			for player := range 30 {
				from := fmt.Sprintf("127.0.0.%d", 2+player%3)
				require.NoError(t, connect(through, from), said.String())
				want[from]++
			}
			require.Equal(t, want, counts())
			require.Error(t, connect(through, "127.0.0.2"), "the 11th of this address")
			require.NoError(t, connect(through, "127.0.0.5"))
			require.NoError(t, connect(web.Listener.Addr().String(), "127.0.0.6"), "around the proxy, with a header of its own")
			require.Equal(t, map[string]int{"127.0.0.2": 10, "127.0.0.3": 10, "127.0.0.4": 10, "127.0.0.5": 1, "127.0.0.6": 1}, counts())
			require.NoError(t, s.Close())
		})
	}
}
