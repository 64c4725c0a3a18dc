//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/stretchr/testify/require"
)

// echo sends everything back, and ends when its peer does.
func echo(conn net.Conn) {
	_, _ = io.Copy(conn, conn)
	_ = conn.(*net.TCPConn).CloseWrite()
}

func TestProxy(t *testing.T) {
	p := startProxy(t, serve(t, echo))
	packets := framed(wire(2, 5), wire(28, 2, 4, "move\x1b", 5, float32(1), float32(2.5)), wire(28, 1, 99), wire(27, 1, 4, "a", 1, 1),
		wire(2, 5, 99), wire(4, strings.Repeat("x", 200), 4, "two\x1b", 2, 7))
	require.Equal(t, packets, p.exchange(t, packets))
	r := p.end(t, 1)
	require.Zero(t, r.status)
	var ways [2][]string
	line := regexp.MustCompile(`^\d\d:\d\d:\d\d\.\d{3} #1 (->|<-) (\d+ .*)$`)
	for _, l := range strings.Split(strings.TrimSuffix(r.out, "\n"), "\n") {
		m := line.FindStringSubmatch(l)
		require.NotNil(t, m, l)
		i := map[string]int{"->": 0, "<-": 1}[m[1]]
		ways[i] = append(ways[i], m[2])
	}
	want := []string{`8 5`, `36 ["move\u001b",[1.0,2.5]]`, `12 invalid: offset 8, $[0]: `, `28 {"a":true}`, `12 5, 4 bytes follow`, `228 "xxx`}
	for _, way := range ways {
		require.Len(t, way, len(want))
		for i := range want {
			require.True(t, strings.HasPrefix(way[i], want[i]), way[i])
		}
		require.Regexp(t, `x…, 20 bytes follow: "two\\u001b"$`, way[len(want)-1])
	}
	require.Contains(t, r.err, fmt.Sprintf("1 connections; from clients 6 packets, %d bytes; from the server 6 packets, %[1]d bytes; 2 invalid", len(packets)))
}

// TestProxyUnknown forwards bytes that are no packets, unchanged and at once.
func TestProxyUnknown(t *testing.T) {
	p := startProxy(t, serve(t, echo))
	b := []byte("SSH-2.0-OpenSSH_9.6 and more of this")
	require.Equal(t, b, p.exchange(t, b))
	r := p.end(t, 1)
	require.Empty(t, r.out)
	require.Contains(t, r.err, "#1: -> no packets of Godot were recognized")
	require.Contains(t, r.err, "what follows is only forwarded")
}

// Values without lengths are named, and with -frame none shown, changed, recorded and sent again. What is no value is only forwarded.
func TestProxyValues(t *testing.T) {
	sent := append(append(wire(4, "test"), wire(27, 1, 4, "damage", 2, 5)...), wire(2, 7)...)
	p := startProxy(t, serve(t, echo))
	require.Equal(t, sent, p.exchange(t, sent))
	require.Contains(t, p.end(t, 1).err, "#1: -> a whole value (String \"test\") without the length that put_var writes; -frame none shows such values; what follows is only forwarded\n")

	prefix := filepath.Join(t.TempDir(), "values")
	bad := append(bytes.Clone(sent), wire(200, 1)...)
	p = startProxy(t, serve(t, echo), "-frame", "none")
	require.Equal(t, bad, p.exchange(t, bad))
	r := p.end(t, 1)
	require.Contains(t, r.err, "#1: -> offset 52, $: unknown godot4 type id 200; what follows is only forwarded\n")
	require.Contains(t, r.err, "from clients 3 packets, 60 bytes; from the server 3 packets, 60 bytes; 0 invalid")
	for _, want := range []string{"-> 12 \"test\"\n", "<- 32 {\"damage\":5}\n", "<- 8 7\n"} {
		require.Contains(t, r.out, want)
	}

	p = startProxy(t, serve(t, echo), "-frame", "none", "-set", "damage = 6", "-record", prefix)
	require.Equal(t, append(append(wire(4, "test"), wire(27, 1, 4, "damage", 2, 6)...), wire(2, 7)...), p.exchange(t, sent))
	require.Contains(t, p.end(t, 1).err, "1 packets were changed by -set")
	r = runWith(nil, "replay", "-frame", "none", prefix, serve(t, func(conn net.Conn) {
		_, _ = io.CopyN(io.Discard, conn, int64(len(sent)))
		_, _ = conn.Write(must(os.ReadFile(prefix + "-1-server.bin"))(t))
	}))
	require.Zero(t, r.status, r.out)
	require.Contains(t, r.out, "1 connections: 3 packets sent, 3 answers, 0 differ\n")
}

func TestProxyJSON(t *testing.T) {
	p := startProxy(t, serve(t, echo), "-json", "-n", "2", "-format", "godot4", "-frame", "u32")
	conn := p.dial(t)
	must(conn.Write(framed(wire(2, 5, 4, "two"))))(t)
	r := p.wait(t)
	require.Zero(t, r.status)
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	require.Len(t, lines, 2)
	for _, l := range lines {
		var v struct {
			Time       time.Time
			Connection int
			Direction  string
			Size       int
			Value      string
			Trailing   int
			Next       string
		}
		require.NoError(t, json.Unmarshal([]byte(l), &v), l)
		require.Equal(t, "i:5", v.Value)
		require.Equal(t, 20, v.Size)
		require.Equal(t, 12, v.Trailing)
		require.Equal(t, "s:two", v.Next)
	}
}

// TestProxyDropsInvalid forwards valid packets only, and records all bytes.
func TestProxyDropsInvalid(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "traffic")
	p := startProxy(t, serve(t, echo), "-drop-invalid", "-record", prefix, "-format", "godot4", "-frame", "u32")
	sent := framed(wire(2, 5), wire(99), wire(24, "Node", 0), nil, wire(4, "two"))
	require.Equal(t, framed(wire(2, 5), wire(4, "two")), p.exchange(t, sent))
	r := p.end(t, 1)
	require.Contains(t, r.err, "from clients 5 packets, 60 bytes; from the server 2 packets, 28 bytes; 3 invalid")
	for name, want := range map[string][]byte{"client": sent, "server": framed(wire(2, 5), wire(4, "two"))} {
		require.Equal(t, want, must(os.ReadFile(prefix+"-1-"+name+".bin"))(t))
	}
	shown := runWith(nil, "json", "-frame", "u32", prefix+"-1-server.bin")
	require.Equal(t, "\"i:5\"\n\"s:two\"\n", shown.out)
}

func TestProxyNoServer(t *testing.T) {
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	ln.Close()
	p := startProxy(t, ln.Addr().String())
	conn := p.dial(t)
	require.Error(t, errOf(conn.Read(make([]byte, 1))))
	require.Contains(t, p.line(t), "refused")
	interrupt(t)
	require.Zero(t, p.wait(t).status)
}

// TestProxyEngine watches a Godot 3 that talks to a server, records it, and reads
// the record.
func TestProxyEngine(t *testing.T) {
	engine, err := exec.LookPath("godot3-server")
	if err != nil {
		t.Skip("skipped: godot3-server is not installed, so no engine was asked")
	}
	for _, args := range [][]string{nil, {"-drop-invalid", "-objects"}} {
		prefix := filepath.Join(t.TempDir(), "game")
		p := startProxy(t, serve(t, echo), append(args, "-record", prefix, "-max-packet", "none")...)
		_, port := must2(net.SplitHostPort(p.addr))(t)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		home := t.TempDir()
		require.NoError(t, os.CopyFS(home, os.DirFS("../../stream/testdata/godot3")))
		c := exec.CommandContext(ctx, engine, "--no-window", "--path", home, "-s", "echo.gd")
		c.Env = append(os.Environ(), "PORT="+port, "MODE=put_var", "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), " 0 differ")
		r := p.end(t, 1)
		require.NotContains(t, r.err, "only forwarded")
		require.NotContains(t, r.err, "closed\n#1")
		require.Contains(t, r.err, " 0 invalid")
		var checked bytes.Buffer
		require.Zero(t, run([]string{"check", "-objects", prefix + "-1-client.bin"}, nil, &checked, &checked), checked.String())
		require.Contains(t, checked.String(), "format  godot3, frame u32, plain")
	}
}

// TestProxyBlocked: with an output that nobody reads, packets are forwarded, and a signal
// ends the proxy.
func TestProxyBlocked(t *testing.T) {
	p := startProcess(t, serve(t, echo), "gdwire")
	packets := bytes.Repeat(framed(wire(4, "a packet that is shown")), 20_000)
	require.Equal(t, packets, p.exchange(t, packets))
	require.NoError(t, p.command.Process.Signal(os.Interrupt))
	require.NoError(t, p.stop())
}

// TestProxyReset: a reset is forwarded as a reset.
func TestProxyReset(t *testing.T) {
	got := make(chan error, 1)
	p := startProxy(t, serve(t, func(conn net.Conn) {
		_, _ = conn.Write([]byte("hello"))
		_, err := io.Copy(io.Discard, conn)
		got <- err
	}))
	conn := p.dial(t)
	must(conn.Read(make([]byte, 1)))(t)
	require.NoError(t, conn.(*net.TCPConn).SetLinger(0))
	require.NoError(t, conn.Close())
	require.ErrorIs(t, <-got, syscall.ECONNRESET)
	p.end(t, 1)
}

// TestProxyMemory: 30 connections that send faster than their packets can be shown take less than 100 MB.
func TestProxyMemory(t *testing.T) {
	const conns = 30
	size := 20 << 20
	if !testenv.Full() {
		size /= 20
	}
	var sent []byte
	for i := 0; len(sent) < size; i++ {
		sent = append(sent, framed(wire(28, 2, 2, i, 29, i%5000, make([]byte, (i%5000+3)&^3)))...)
	}
	received := make(chan bool, conns)
	server := serve(t, func(conn net.Conn) {
		b, err := io.ReadAll(conn)
		received <- err == nil && bytes.Equal(sent, b)
	})
	c, peak := measured(t, "proxy", "-frame", "u32", "-format", "godot4", "127.0.0.1:0", server)
	p := startCommand(t, c)
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		go io.Copy(io.Discard, p.out)
		_, _ = io.Copy(io.Discard, p.errs)
	}()
	for range conns {
		conn := p.dial(t)
		go func() {
			_, _ = conn.Write(sent)
			_ = conn.(*net.TCPConn).CloseWrite()
		}()
	}
	for range conns {
		require.True(t, <-received)
	}
	require.NoError(t, c.Process.Signal(os.Interrupt))
	<-reading
	require.NoError(t, p.stop())
	t.Logf("%d KiB", peak())
	require.Less(t, peak(), 97_000)
}

// TestListenBlocked: a signal ends listen while its output is blocked.
func TestListenBlocked(t *testing.T) {
	p := startCommand(t, exec.Command("gdwire", "listen", "-as", "json", "0"))
	_, err := p.dial(t).Write(framed(wire(4, string(make([]byte, 1<<20)))))
	require.NoError(t, err)
	for line := ""; line != "connection 1, packet 0\n"; {
		line, err = p.errs.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, p.command.Process.Signal(os.Interrupt))
	require.NoError(t, p.stop())
}

// TestProxyDescriptors: at the limit of file descriptors the proxy says so and waits.
func TestProxyDescriptors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: how many descriptors a program needs is known for Linux only")
	}
	p := startProcess(t, serve(t, echo), "sh", "-c", `ulimit -n 20; exec gdwire "$@"`, "sh")
	var open []net.Conn
	for waiting := false; !waiting; {
		open = append(open, must(net.Dial("tcp", p.addr))(t))
		require.Less(t, len(open), 20)
		waiting = strings.Contains(must(p.errs.ReadString('\n'))(t), "too many open files; waiting")
	}
	for _, conn := range open {
		conn.Close()
	}
	go io.Copy(io.Discard, p.errs)
	packet := framed(wire(2, 5))
	require.Equal(t, packet, p.exchange(t, packet))
	require.NoError(t, p.command.Process.Signal(os.Interrupt))
	require.NoError(t, p.stop())
}

// A proxyProcess is a proxy in a process of its own, whose output nobody reads.
type proxyProcess struct {
	proxying
	command *exec.Cmd
	out     io.ReadCloser
}

// startProcess starts a proxy by a command line.
func startProcess(t *testing.T, target string, command ...string) *proxyProcess {
	args := append(command[1:], "proxy", "-frame", "u32", "-format", "godot4", "127.0.0.1:0", target)
	return startCommand(t, exec.Command(command[0], args...))
}

// startCommand starts a command that listens.
func startCommand(t *testing.T, command *exec.Cmd) *proxyProcess {
	p := &proxyProcess{command: command}
	out := must(p.command.StdoutPipe())(t)
	errs := must(p.command.StderrPipe())(t)
	require.NoError(t, p.command.Start())
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	p.out, p.errs = out, bufio.NewReader(errs)
	line := must(p.errs.ReadString('\n'))(t)
	_, rest, ok := strings.Cut(line, "listening on ")
	require.True(t, ok, line)
	p.addr = strings.Fields(rest)[0]
	return p
}

// stop waits for the end of the process. An exit status is not an error.
func (p *proxyProcess) stop() error {
	state, err := p.command.Process.Wait()
	_ = p.out.Close()
	p.command.ProcessState = state
	if err == nil && !state.Exited() {
		err = errors.New(state.String())
	}
	return err
}

// TestRecordFull: when no more can be recorded, proxy says so once and forwards all packets, and listen shows them. Both count
// right, and the exit status is 1.
func TestRecordFull(t *testing.T) {
	packets := framed(wire(4, "first"), wire(4, strings.Repeat("x", 40_000)), wire(4, "last"))
	for name, args := range map[string][]string{"proxy": {"127.0.0.1:0", serve(t, echo)}, "listen": {"-n", "3", "-as", "json", "127.0.0.1:0"}} {
		prefix := filepath.Join(t.TempDir(), "traffic")
		p := startCommand(t, exec.Command("sh", append([]string{"-c", `ulimit -f 20; exec gdwire "$@"`, "sh", name, "-record", prefix}, args...)...))
		conn := must(net.Dial("tcp", p.addr))(t).(*net.TCPConn)
		must(conn.Write(packets))(t)
		require.NoError(t, conn.CloseWrite())
		got, told, lines := must(io.ReadAll(conn))(t), "", 3
		if name == "proxy" {
			require.True(t, bytes.Equal(packets, got))
			for !strings.HasSuffix(told, "closed\n") {
				told += must(p.errs.ReadString('\n'))(t)
			}
			require.NoError(t, p.command.Process.Signal(os.Interrupt))
			lines = 6
		}
		told += string(must(io.ReadAll(p.errs))(t))
		out := must(io.ReadAll(p.out))(t)
		require.Equal(t, lines, bytes.Count(out, []byte("\n")), "%s: %s", name, out)
		require.Equal(t, 1, strings.Count(told, "file too large; what follows is not recorded"), told)
		if name == "proxy" {
			require.Contains(t, told, "from clients 3 packets, 40048 bytes; from the server 3 packets, 40048 bytes; 0 invalid")
		}
		require.NoError(t, p.stop())
		require.Equal(t, statusBad, p.command.ProcessState.ExitCode())
	}
}

// TestRecordTwice never overwrites a recording.
func TestRecordTwice(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "traffic")
	file := prefix + "-1-client.bin"
	require.NoError(t, os.WriteFile(file, []byte("first"), 0o600))
	for _, args := range [][]string{{"proxy", "127.0.0.1:0", "127.0.0.1:1"}, {"listen", "127.0.0.1:0"}} {
		r := runWith(nil, append(args, "-record", prefix)...)
		require.Equal(t, statusBad, r.status)
		require.Contains(t, r.err, "traffic-1-client.bin is an earlier recording: choose another PREFIX for -record")
	}
	require.Equal(t, "first", string(must(os.ReadFile(file))(t)))
}

// TestProxyCompressed shows packets that scripts compressed as their values with the mode. They are valid, and
// are forwarded as they are.
func TestProxyCompressed(t *testing.T) {
	value := wire(27, 1, 4, "hp", 2, 10)
	packets := [][]byte{wire(2, 5)}
	for mode := fileaccess.FastLZ; mode <= fileaccess.Gzip; mode++ {
		for _, content := range [][]byte{value, wire(2, 7)} { // FastLZ fills the second one up
			packets = append(packets, must(fileaccess.Compress(nil, content, mode))(t))
		}
	}
	packets = append(packets, must(fileaccess.Compress(nil, make([]byte, 16<<20), fileaccess.Zstd))(t))
	prefix := filepath.Join(t.TempDir(), "traffic")
	p := startProxy(t, serve(t, echo), "-json", "-drop-invalid", "-record", prefix, "-format", "godot4", "-frame", "u32")
	require.Equal(t, framed(packets[:len(packets)-1]...), p.exchange(t, framed(packets...)))
	r := p.end(t, 1)
	require.Contains(t, r.err, "from clients 10 packets")
	require.Contains(t, r.err, "1 invalid")
	for mode := fileaccess.FastLZ; mode <= fileaccess.Gzip; mode++ {
		require.Equal(t, 2, strings.Count(r.out, `"compressed":"`+mode.String()+`","value":{"type":"Dictionary","args":["s:hp","i:10"]}`), r.out)
		require.Equal(t, 2, strings.Count(r.out, `"compressed":"`+mode.String()+`","value":"i:7"`), r.out)
	}
	require.Equal(t, 2, strings.Count(r.out, `"size":8,"value":"i:5"`), r.out)
	p = startProxy(t, serve(t, echo), "-format", "godot4", "-frame", "u32")
	p.exchange(t, framed(packets...))
	r = p.end(t, 1)
	require.Contains(t, r.out, ` #1 -> 16 fastlz 7`)
	require.Regexp(t, `#1 <- [0-9]+ zstd \{"hp": ?10\}`, r.out)
	require.Regexp(t, `#1 -> [0-9]+ invalid: offset 0, \$: compressed with zstd: the decompressed size exceeds the limit of 8388608`, r.out)
}

// A wayward is a client that writes in pieces and stops at a random byte: it ends its side, closes, resets the
// connection, or stops reading.
type wayward struct {
	sent   []byte
	pieces []int // their ends in sent
	end    string
	got    []byte
	err    error
}

var waywardEnds = []string{"ends", "closes", "resets", "reads nothing"}

// newWayward returns a client of packets, a WebSocket, or something else, some of which are cut.
func newWayward(random *rand.Rand) *wayward {
	w := &wayward{end: waywardEnds[random.IntN(len(waywardEnds))]}
	switch random.IntN(5) {
	case 0:
		w.sent = []byte(upgradeRequest)
		for range random.IntN(5) {
			w.sent = append(w.sent, webSocketMessage(true, byte(1+random.IntN(3)), wire(2, random.Int()), nil, make([]byte, random.IntN(300)))...)
		}
	case 1:
		w.sent = []byte(lineFeeds(upgradeRequest) + strings.Repeat("\x00\x80", random.IntN(100)))
	case 2:
		w.sent = make([]byte, random.IntN(200))
		for i := range w.sent {
			w.sent[i] = byte(random.Uint32())
		}
	default:
		for range random.IntN(20) {
			w.sent = append(w.sent, framed(wire(28, 2, 2, random.Int(), 4, strings.Repeat("x", random.IntN(200))), wire(random.IntN(100)))...)
		}
	}
	if random.IntN(2) == 0 {
		w.sent = w.sent[:random.IntN(len(w.sent)+1)]
	}
	for range random.IntN(6) {
		w.pieces = append(w.pieces, random.IntN(len(w.sent)+1))
	}
	w.pieces = append(w.pieces, len(w.sent))
	slices.Sort(w.pieces)
	return w
}

// run talks to a server that sends everything back.
func (w *wayward) run(addr string) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		w.err = err
		return
	}
	defer conn.Close()
	tcp := conn.(*net.TCPConn)
	var reading sync.WaitGroup
	if w.end != "reads nothing" {
		reading.Go(func() { w.got, _ = io.ReadAll(conn) })
	}
	from := 0
	for _, to := range w.pieces {
		if _, w.err = conn.Write(w.sent[from:to]); w.err != nil {
			break
		}
		from = to
	}
	switch w.end {
	case "ends", "reads nothing":
		w.err = errors.Join(w.err, tcp.CloseWrite())
	case "resets":
		w.err = errors.Join(w.err, tcp.SetLinger(0), conn.Close())
	case "closes":
		_ = conn.Close()
	}
	reading.Wait()
}

// Clients that end at any byte and in any way get what they sent, in order, and spoil nothing for others. A page
// that is open beside them, and requests that stop, change nothing. Afterwards nothing is left.
func TestProxyWaywardClients(t *testing.T) {
	clients, rounds := 30, 4
	if testenv.Full() {
		clients, rounds = 200, 20
	}
	server := serve(t, echo)
	watch := make(chan os.Signal, 1)
	signal.Notify(watch, os.Interrupt) // a goroutine that stays
	signal.Stop(watch)
	noneLeft := testenv.NoGoroutines(t)
	for round := range rounds {
		random := rand.New(rand.NewPCG(uint64(round), 7))
		ends := make(chan struct{})
		p := startProxy(t, server, "-view", "-no-open")
		page := pageOf(t, p.line(t))
		var pages sync.WaitGroup
		for range 3 {
			pages.Go(func() {
				for {
					select {
					case <-ends:
						return
					default:
						request, _ := http.NewRequest(http.MethodGet, page+"live?from=0", nil)
						if r, err := http.DefaultClient.Do(request); err == nil {
							_ = r.Body.Close() // often before its end
						}
					}
				}
			})
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(page, "http://"), "/")
		half := must(net.Dial("tcp", host))(t)
		defer half.Close()
		_, err := io.WriteString(half, "GET /") // and no more
		require.NoError(t, err)
		all := make([]*wayward, clients)
		var running sync.WaitGroup
		for i := range all {
			all[i] = newWayward(random)
			running.Go(func() { all[i].run(p.addr) })
		}
		running.Wait()
		close(ends)
		pages.Wait()
		r := p.end(t, clients)
		require.Zero(t, r.status, r.err)
		for i, w := range all {
			require.True(t, bytes.HasPrefix(w.sent, w.got), "round %d, client %d, which %s: sent %q, got %q", round, i, w.end, w.sent, w.got)
			if w.end == "ends" {
				require.NoError(t, w.err)
				require.True(t, bytes.Equal(w.sent, w.got), "round %d, client %d: sent %q, got %q", round, i, w.sent, w.got)
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
	noneLeft()
}

// The file that leads the browser to the page is removed before the proxy ends.
func TestProxyRemovesPage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: the program that opens a browser is known for Linux only")
	}
	programs, files := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(programs, "xdg-open"), []byte("#!/bin/sh\n"), 0o700))
	t.Setenv("PATH", programs)
	t.Setenv("TMPDIR", files)
	for range 20 {
		p := startProxy(t, serve(t, echo), "-view", "-n", "1")
		require.Contains(t, p.line(t), "the page is open in the browser")
		must(p.dial(t).Write(framed(wire(2, 5))))(t)
		require.Zero(t, p.wait(t).status)
		require.Empty(t, must(os.ReadDir(files))(t))
	}
}

// interrupt sends the signal of Ctrl-C.
func interrupt(t *testing.T) {
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
}

// A listening is a run of listen.
type listening struct {
	addr   string
	errs   *bufio.Reader
	done   chan struct{}
	result result // after done
}

func (l *listening) line(t *testing.T) string {
	line, err := l.errs.ReadString('\n')
	require.NoError(t, err, line)
	return strings.TrimSuffix(line, "\n")
}

// wait waits for the end of the run and returns its result.
func (l *listening) wait(t *testing.T) result {
	b := must(io.ReadAll(l.errs))(t)
	<-l.done
	l.result.err = string(b)
	return l.result
}

func (l *listening) dial(t *testing.T) net.Conn {
	conn := must(net.Dial("tcp", l.addr))(t)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// serve runs a server that handles each connection.
func serve(t *testing.T, handle func(net.Conn)) (addr string) {
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return ln.Addr().String()
}

func startProxy(t *testing.T, target string, args ...string) *proxying {
	r, w := io.Pipe()
	p := &proxying{listening{done: make(chan struct{})}, make(chan string, 1000)}
	go func() {
		defer close(p.lines)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			p.lines <- lines.Text()
		}
	}()
	var out bytes.Buffer
	go func() {
		defer close(p.done)
		p.result.status = run(append(append([]string{"proxy"}, args...), "127.0.0.1:0", target), nil, &out, w)
		p.result.out = out.String()
		w.Close()
	}()
	line := p.line(t)
	_, rest, ok := strings.Cut(line, "listening on ")
	require.True(t, ok, line)
	p.addr, _, _ = strings.Cut(rest, " ")
	return p
}

// A proxying is a run of proxy.
type proxying struct {
	listening
	lines chan string // of its standard error
}

// line returns the next line of its standard error.
func (p *proxying) line(t *testing.T) string {
	line, ok := <-p.lines
	require.True(t, ok)
	return line
}

// wait waits for its end and returns its result.
func (p *proxying) wait(t *testing.T) result {
	for line := range p.lines {
		p.result.err += line + "\n"
	}
	<-p.done
	return p.result
}

// exchange sends bytes, ends, and returns all that comes back.
func (p *proxying) exchange(t *testing.T, b []byte) []byte {
	conn := p.dial(t).(*net.TCPConn)
	must(conn.Write(b))(t)
	require.NoError(t, conn.CloseWrite())
	return must(io.ReadAll(conn))(t)
}

// end interrupts the proxy when its connections are closed, and returns its
// result.
func (p *proxying) end(t *testing.T, connections int) result {
	var told strings.Builder
	for closed := 0; closed < connections; {
		line := p.line(t)
		told.WriteString(line + "\n")
		if strings.HasSuffix(line, ": closed") {
			closed++
		}
	}
	interrupt(t)
	r := p.wait(t)
	r.err = told.String() + r.err
	return r
}
