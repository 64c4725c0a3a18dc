//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

// startListening runs listen on a free port. The caller can read its errors.
func startListening(t *testing.T, args ...string) *listening {
	r, w := io.Pipe()
	l := &listening{errs: bufio.NewReader(r), done: make(chan struct{})}
	var out bytes.Buffer
	go func() {
		defer close(l.done)
		l.result.status = run(append(append([]string{"listen"}, args...), "127.0.0.1:0"), nil, &out, w)
		l.result.out = out.String()
		w.Close()
	}()
	line := l.line(t)
	l.addr = strings.TrimPrefix(line, "listening on ")
	require.NotEqual(t, l.addr, line)
	return l
}

func TestListenJSON(t *testing.T) {
	l := startListening(t, "-o", "json", "-n", "3")
	conn := l.dial(t)
	require.Equal(t, "connection 1: from "+conn.LocalAddr().String(), l.line(t))
	must(conn.Write(framed(wire(2, 5, 4, "more"), wire(4, "two", 99), wire(0), wire(0))))(t)
	got := l.wait(t)
	require.Equal(t, result{statusGood, "\"i:5\"\n\"s:two\"\nnull\n", "connection 1, packet 0\nconnection 1, packet 0: 12 bytes follow: \"more\"\n" +
		"connection 1, packet 1\nconnection 1, packet 1: 4 bytes follow\nconnection 1, packet 2\n"}, got)
	require.Error(t, errOf(conn.Read(make([]byte, 1))), "the connection is closed")
}

// A type byte before a value is passed over with -skip, and shown.
func TestListenSkip(t *testing.T) {
	compressed := must(fileaccess.Compress(nil, wire(4, "a text of some length"), fileaccess.Zstd))(t)
	for form, want := range map[string]result{
		"json": {statusGood, "\"i:5\"\n\"s:a text of some length\"\n\n", "connection 1, packet 0, after 0x09\nconnection 1, packet 0: 4 bytes follow: null\n" +
			"connection 1, packet 1, compressed with zstd, after 0x09\n" + "connection 1, packet 2, after 0x09\n"},
		"check": {statusBad, `{"connection":1,"index":0,"offset":5,"ok":true,"bytes":8,"skipped":"09","trailing":4}`, ""},
	} {
		l := startListening(t, "-as", form, "-n", "3", "-skip", "1")
		conn := l.dial(t)
		l.line(t)
		must(conn.Write(framed(append([]byte{9}, wire(2, 5, 0)...), append([]byte{9}, compressed...), []byte{9})))(t)
		got := l.wait(t)
		require.Contains(t, got.out, want.out)
		require.Contains(t, got.err, want.err)
	}
	l := startListening(t, "-as", "json", "-n", "5")
	value := append([]byte{9}, wire(2, 5)...)
	must(l.dial(t).Write(framed(value, value, value, value, wire(0))))(t)
	require.Equal(t, 1, strings.Count(l.wait(t).err, "begin at byte 1: -skip 1 shows them"))
}

// Packets that a script compressed are shown as their values.
func TestListenCompressed(t *testing.T) {
	packet := must(fileaccess.Compress(nil, wire(27, 1, 4, "hp", 2, 10), fileaccess.FastLZ))(t)
	bomb := must(fileaccess.Compress(nil, make([]byte, 16<<20), fileaccess.Zstd))(t)
	l := startListening(t, "-as", "json", "-n", "3")
	conn := l.dial(t)
	l.line(t)
	must(conn.Write(framed(packet, bomb, wire(2, 5))))(t)
	got := l.wait(t)
	require.Equal(t, `{"type":"Dictionary","args":["s:hp","i:10"]}`+"\n\n"+`"i:5"`+"\n", got.out)
	require.Contains(t, got.err, "connection 1, packet 0, compressed with fastlz\nconnection 1, packet 1\n")
	require.Contains(t, got.err, "compressed with zstd: the decompressed size exceeds the limit of 8388608 bytes; raise it with -max-packet\n")
}

// A value without its length is named in place of the errors that its bytes make as packets.
func TestListenUnprefixed(t *testing.T) {
	l := startListening(t, "-as", "json", "-n", "2")
	conn := l.dial(t)
	must(conn.Write(wire(4, "test")))(t)
	l.line(t)
	require.Equal(t, "connection 1, packet 0", l.line(t))
	require.Equal(t, "gdwire: a whole value (String \"test\") without the length that put_var writes", l.line(t))
	require.Error(t, errOf(conn.Read(make([]byte, 1))), "the connection is closed")
	must(l.dial(t).Write(framed(wire(2, 5))))(t)
	got := l.wait(t)
	require.Equal(t, "\n\"i:5\"\n", got.out)
	require.NotContains(t, got.err, "connection 1")
}

func TestListenTokens(t *testing.T) {
	l := startListening(t, "-n", "1", "-frame", "u32be", "-format", "godot3")
	must(l.dial(t).Write(framedBig(wire(19, 1, 2, 7))))(t)
	got := l.wait(t)
	require.Equal(t, statusGood, got.status)
	require.Contains(t, got.out, "ArrayStart")
	require.Contains(t, got.out, "Int32  7")
}

// TestListenCheck connects valid and hostile clients at the same time.
func TestListenCheck(t *testing.T) {
	const good, packets, bad = 8, 50, 8
	l := startListening(t, "-o", "check", "-n", "1000000", "-max-packet", "1000")
	go func() { _, _ = io.Copy(io.Discard, l.errs) }()
	var clients sync.WaitGroup
	for range good {
		conn := l.dial(t).(*net.TCPConn)
		clients.Go(func() {
			for range packets {
				if _, err := conn.Write(framed(wire(4, "good"))); err != nil {
					t.Error(err)
				}
			}
			_ = conn.CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
		})
	}
	for i := range bad {
		conn := l.dial(t).(*net.TCPConn)
		clients.Go(func() {
			// Each sends two invalid packets, and then half of a length.
			b := [][]byte{
				framed(nil, make([]byte, 2000)),
				framed(wire(200), wire(2)),
				framed(wire(28, 0x7FFFFFFF), bytes.Repeat([]byte{200}, 999)),
				framed(wire(4, 100), []byte{1, 2, 3}),
			}[i%4]
			_, _ = conn.Write(append(b, 1, 2))
			_ = conn.CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
		})
	}
	clients.Wait()
	interrupt(t)
	<-l.done
	require.Equal(t, statusGood, l.result.status)
	next, goods := map[int64]int64{}, 0
	for line := range strings.Lines(l.result.out) {
		var v struct {
			Connection, Index int64
			OK                bool
		}
		require.NoError(t, json.Unmarshal([]byte(line), &v), line)
		require.Equal(t, next[v.Connection], v.Index)
		next[v.Connection]++
		if v.OK {
			goods++
		}
	}
	require.Equal(t, good*packets, goods)
	require.Len(t, next, good+bad)
	require.Equal(t, good*packets+3*bad, strings.Count(l.result.out, "\n"))
}

func TestListenInterrupt(t *testing.T) {
	l := startListening(t, "-o", "json")
	conn := l.dial(t)
	l.line(t)
	must(conn.Write([]byte{8, 0, 0}))(t)
	interrupt(t)
	require.Equal(t, result{status: statusGood}, l.wait(t))
	require.Error(t, errOf(conn.Read(make([]byte, 1))))
}

func TestListenBad(t *testing.T) {
	l := startListening(t, "-n", "1", "-o", "json")
	must(l.dial(t).Write(framed(wire(200))))(t)
	got := l.wait(t)
	require.Equal(t, statusBad, got.status)
	require.Contains(t, got.err, "type id")
}

// TestListenTimeouts connects clients that are too slow.
func TestListenTimeouts(t *testing.T) {
	l := startListening(t, "-read-timeout", "20ms", "-idle-timeout", "20ms", "-o", "json")
	l.dial(t)
	l.line(t)
	require.Contains(t, l.line(t), "timeout")
	conn := l.dial(t)
	must(conn.Write([]byte{8, 0, 0, 0, 2}))(t)
	l.line(t)
	require.Contains(t, l.line(t), "timeout")
	require.Error(t, errOf(conn.Read(make([]byte, 1))))
	interrupt(t)
	require.Equal(t, result{status: statusGood}, l.wait(t))
}

// TestListenMany: packets of new connections are shown although many are open that sent nothing, a part of a packet, or the length of
// a long one.
func TestListenMany(t *testing.T) {
	l := startListening(t, "-o", "check", "-n", "20")
	go func() { _, _ = io.Copy(io.Discard, l.errs) }()
	for i := range 300 {
		must(l.dial(t).Write([][]byte{nil, {8}, {0, 0, 128, 0}, wire(8<<20, 28)}[i%4]))(t)
	}
	for range 20 {
		must(l.dial(t).Write(framed(wire(2, 5))))(t)
	}
	<-l.done
	require.Equal(t, statusGood, l.result.status)
	require.Equal(t, 20, strings.Count(l.result.out, "\"ok\":true"))
}

func TestListenUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"-frame", "none", "7777"}, {"-n", "-1", "7777"}, {"a:b:c"}, {"-o", "xml", "7777"}, {"1", "2"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			got := runWith(nil, append([]string{"listen"}, args...)...)
			require.Equal(t, statusUsage, got.status, args)
			require.Contains(t, got.err, "Usage: gdwire listen [flags] ADDR")
		})
	}
	taken := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	require.Equal(t, statusBad, runWith(nil, "listen", taken.Addr().String()).status)
}

// A fullDisk accepts no bytes.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestListenOutputFails(t *testing.T) {
	r, w := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- run([]string{"listen", "-o", "json", "127.0.0.1:0"}, nil, fullDisk{}, w)
		w.Close()
	}()
	errs := bufio.NewReader(r)
	conn := must(net.Dial("tcp", strings.TrimSpace(strings.TrimPrefix(must(errs.ReadString('\n'))(t), "listening on "))))(t)
	defer conn.Close()
	must(conn.Write(framed(wire(0))))(t)
	require.Contains(t, string(must(io.ReadAll(errs))(t)), syscall.ENOSPC.Error())
	require.Equal(t, statusBad, <-status)
}

// TestListenEngine listens to the debugger protocol of an engine.
func TestListenEngine(t *testing.T) {
	engine, err := exec.LookPath("godot3-server")
	if err != nil {
		t.Skip("skipped: godot3-server is not installed, so no engine was asked")
	}
	l := startListening(t, "-format", "godot3", "-strict", "-o", "json")
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for line, err := l.errs.ReadString('\n'); err == nil; line, err = l.errs.ReadString('\n') {
			if line == "connection 1: closed\n" {
				closed <- struct{}{}
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	home := t.TempDir() // the engine writes its logs in the folder of its scripts
	require.NoError(t, os.CopyFS(home, os.DirFS("../../stream/testdata/godot3")))
	c := exec.CommandContext(ctx, engine, "--no-window", "--path", home, "-s", "debug.gd", "--remote-debug", l.addr)
	c.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	<-closed
	interrupt(t)
	<-l.done
	require.Equal(t, statusGood, l.result.status)
	for line := range strings.Lines(l.result.out) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	for i := range 5 {
		require.Contains(t, l.result.out, "line "+string(rune('0'+i))+" of the script")
	}
}
