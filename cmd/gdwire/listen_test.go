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
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/traffic"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/stretchr/testify/require"
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

// recorded records a conversation with an echo server, and returns its prefix.
func recorded(t *testing.T, args ...string) (prefix string, sent []byte) {
	prefix = filepath.Join(t.TempDir(), "game")
	p := startProxy(t, serve(t, echo), append(args, "-record", prefix)...)
	sent = framed(wire(2, 5), wire(28, 2, 4, "move", 5, float32(1), float32(2.5)), wire(4, "three"))
	require.Equal(t, sent, p.exchange(t, sent))
	p.end(t, 1)
	return prefix, sent
}

func TestReplay(t *testing.T) {
	prefix, sent := recorded(t)
	all, timed := must2(record.Connections(prefix))(t)
	require.True(t, timed)
	for _, packets := range all[0].Packets {
		require.Len(t, packets, 3)
		end := int64(0)
		for _, p := range packets {
			require.Equal(t, end, p.Offset)
			end += p.Length
		}
		require.EqualValues(t, len(sent), end)
	}
	var index bytes.Buffer // with times that a test can know
	for i := range 3 {
		for way, packets := range all[0].Packets {
			p := packets[i]
			fmt.Fprintf(&index, `{"time":%d,"connection":1,"direction":%q,"offset":%d,"length":%d}`+"\n", (2*i+way)*1e6, record.Direction(way), p.Offset, p.Length)
		}
	}
	require.NoError(t, os.WriteFile(record.IndexName(prefix), index.Bytes(), 0o600))
	for _, speed := range []string{"1", "0", "1000"} {
		r := runWith(nil, "replay", "-speed", speed, prefix, serve(t, echo))
		require.Zero(t, r.status, r.err)
		require.Regexp(t, `^1 connections: 3 packets sent, 3 answers, 0 differ
answers recorded after: half of them 1ms, 90 % 1ms, 99 % 1ms, all 1ms
answers now after: half of them \S+, 90 % \S+, 99 % \S+, all \S+
$`, r.out)
	}

	// A server that answers otherwise.
	other := serve(t, func(conn net.Conn) {
		b := make([]byte, len(sent))
		_, _ = io.ReadFull(conn, b)
		_, _ = conn.Write(bytes.Replace(b, []byte("three"), []byte("3ree!"), 1))
		_, _ = conn.Write(framed(wire(2, 6)))
	})
	r := runWith(nil, "replay", prefix, other)
	require.Equal(t, statusBad, r.status)
	require.Contains(t, r.out, "#1, answer 2: recorded \"three\", got \"3ree!\"\n")
	require.Contains(t, r.out, "#1: 1 more answers than recorded\n")
	require.Contains(t, r.out, "3 packets sent, 3 answers, 2 differ\n")

	silent := serve(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	r = runWith(nil, "replay", "-timeout", "50ms", prefix, silent)
	require.Equal(t, statusBad, r.status)
	require.Contains(t, r.out, "#1: no answer 0, recorded 5: ")
	require.Contains(t, r.out, "i/o timeout")

	nobody := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	require.NoError(t, nobody.Close())
	r = runWith(nil, "replay", prefix, nobody.Addr().String())
	require.Equal(t, statusBad, r.status)
	require.Equal(t, "1 connections: 0 packets sent, 0 answers, 0 differ\n1 connections were not made\n", r.out)
	require.Regexp(t, "^gdwire: #1: dial tcp .*: connection refused\n$", r.err)

	require.NoError(t, os.Remove(record.IndexName(prefix)))
	r = runWith(nil, "replay", prefix, serve(t, echo))
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.err, "index.jsonl: the packets of each file are sent in their order, without times")
	require.Regexp(t, regexp.MustCompile(`1 connections: 3 packets sent, 3 answers, 0 differ\nanswers now`), r.out)
}

// The handshake of a WebSocket is sent again, too.
func TestReplayWebSocket(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "ws")
	answer := append([]byte(upgradeResponse), webSocketMessage(false, 2, wire(18, 1, 4, "hp", 2, 5))...)
	var got []byte
	done := make(chan struct{}, 2)
	server := serve(t, func(conn net.Conn) {
		_, _ = conn.Write(answer)
		got, _ = io.ReadAll(conn)
		done <- struct{}{}
	})
	p := startProxy(t, server, "-record", prefix)
	sent := append([]byte(upgradeRequest), webSocketMessage(true, 2, wire(2, 5))...)
	sent = append(sent, webSocketMessage(true, 9, []byte("ping"))...)
	sent = append(sent, webSocketMessage(true, 2, wire(2, 6))...)
	require.Equal(t, answer, p.exchange(t, sent))
	p.end(t, 1)
	<-done
	r := runWith(nil, "replay", prefix, server)
	require.Zero(t, r.status, r.err+r.out)
	require.Contains(t, r.out, "2 packets sent, 1 answers, 0 differ")
	<-done
	require.Equal(t, bytes.Replace(sent, webSocketMessage(true, 9, []byte("ping")), nil, 1), got)
}

// listen records what it receives in the same way.
func TestListenRecord(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "in")
	l := startListening(t, "-record", prefix, "-n", "2")
	sent := framed(wire(2, 5), wire(4, "two"))
	conn := l.dial(t)
	must(conn.Write(sent))(t)
	l.wait(t)
	require.Equal(t, sent, must(os.ReadFile(record.FileName(prefix, 1, record.FromClient)))(t))
	all, _ := must2(record.Connections(prefix))(t)
	require.Len(t, all[0].Packets[0], 2)
	require.Equal(t, []int64{12, 16}, []int64{all[0].Packets[0][1].Offset, all[0].Packets[0][1].Length})
	r := runWith(nil, "replay", prefix, serve(t, echo))
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "2 packets sent, 2 answers, 0 differ", "there are no answers to compare with")
}

// A server takes all packets before replay ends, or replay says that it did not.
func TestReplayTaken(t *testing.T) {
	const packets = 3000
	prefix := filepath.Join(t.TempDir(), "in")
	l := startListening(t, "-record", prefix, "-n", strconv.Itoa(packets))
	var sent []byte
	for i := range packets {
		sent = append(sent, framed(wire(28, 2, 2, i, 4, strings.Repeat("x", 100)))...)
	}
	must(l.dial(t).Write(sent))(t)
	l.wait(t)

	took := make(chan int, 1)
	answering := serve(t, func(conn net.Conn) { // in small steps, and after each it could be too late
		n, b := 0, make([]byte, 100)
		for {
			k, err := conn.Read(b)
			if n += k; err != nil {
				took <- n
				return
			}
			_, _ = conn.Write(b[:k])
		}
	})
	r := runWith(nil, "replay", "-speed", "0", prefix, answering)
	require.Equal(t, len(sent), <-took)
	require.Zero(t, r.status, r.err+r.out)
	require.Contains(t, r.out, "3000 packets sent, 3000 answers, 0 differ")

	silent := serve(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	r = runWith(nil, "replay", "-speed", "0", prefix, silent)
	require.Zero(t, r.status, r.err+r.out)
	require.Contains(t, r.out, "3000 packets sent, 0 answers, 0 differ")

	ending := serve(t, func(conn net.Conn) { _, _ = io.ReadFull(conn, make([]byte, 1000)) })
	r = runWith(nil, "replay", "-speed", "0", prefix, ending)
	require.Equal(t, statusBad, r.status, r.out)
	require.Contains(t, r.out, "1 differ\n")

	release := make(chan struct{})
	defer close(release)
	waiting := serve(t, func(conn net.Conn) { <-release })
	r = runWith(nil, "replay", "-speed", "0", "-timeout", "50ms", prefix, waiting)
	require.Equal(t, statusBad, r.status, r.out)
	require.Contains(t, r.out, "1 differ\n")
}

// A recording opens in the list of packets, in the order of its index.
func TestOpenRecording(t *testing.T) {
	prefix, _ := recorded(t)
	live := must(traffic.OpenRecording(record.IndexName(prefix), &open.Flags{}))(t)
	get := servePage(t, &view.Server{Page: &page.Page{Live: live, Recording: "game.index.jsonl"}})
	require.JSONEq(t, `{"live":true,"recording":"game.index.jsonl"}`, string(get("info")))
	var list struct {
		Packets []struct {
			Time       time.Time
			Connection int
			ToServer   bool
			Text       string
		}
	}
	require.NoError(t, json.Unmarshal(get("live?from=0"), &list))
	require.Len(t, list.Packets, 6)
	texts := map[bool][]string{}
	for i, p := range list.Packets {
		texts[p.ToServer] = append(texts[p.ToServer], p.Text)
		require.Equal(t, 1970, p.Time.Year())
		if i > 0 && p.ToServer == list.Packets[i-1].ToServer {
			require.False(t, p.Time.Before(list.Packets[i-1].Time))
		}
	}
	want := []string{"5", `["move",[1.0,2.5]]`, `"three"`}
	require.Equal(t, map[bool][]string{true: want, false: want}, texts)

	require.NoError(t, os.Truncate(record.FileName(prefix, 1, record.FromServer), 5))
	_, err := traffic.OpenRecording(record.IndexName(prefix), &open.Flags{})
	require.ErrorContains(t, err, "game-1-server.bin")
	require.Contains(t, runWith(nil, "view", "-no-open", record.IndexName(prefix)).err, "game-1-server.bin")
}

// A recording of packets that a script compressed opens in the page, and differences of replay are shown, as their values
// with the modes.
func TestRecordingCompressed(t *testing.T) {
	value := wire(27, 1, 4, "hp", 2, 10)
	var packets [][]byte
	for mode := fileaccess.FastLZ; mode <= fileaccess.Gzip; mode++ {
		packets = append(packets, must(fileaccess.Compress(nil, value, mode))(t))
	}
	prefix := filepath.Join(t.TempDir(), "game")
	p := startProxy(t, serve(t, echo), "-record", prefix)
	require.Equal(t, framed(packets...), p.exchange(t, framed(packets...)))
	p.end(t, 1)

	client := record.FileName(prefix, 1, record.FromClient)
	told := client + ": 4 of 4 packets are compressed as by a script: 1 with fastlz, 1 with deflate, 1 with zstd, 1 with gzip\n"
	for command, want := range map[string]string{
		"json -plain": strings.Repeat(`{"hp":10}`+"\n", 4), "flat": "$.hp = 10\n$1.hp = 10\n$2.hp = 10\n$3.hp = 10\n",
		"find hp": "$.hp = 10\n$1.hp = 10\n$2.hp = 10\n$3.hp = 10\n", "get $1.hp": "10\n",
		"tokens": "packet 0, offset 4, 29 bytes, compressed with fastlz: offsets in its 28 bytes\n       0  DictStart  1\n",
		"check":  " packets  4 good, 0 bad\n", "check -json": `{"index":0,"offset":4,"ok":true,"bytes":29,"compressed":"fastlz","trailing":0,`,
	} {
		var out, errs bytes.Buffer
		r := result{status: run(append(strings.Fields(command), client), nil, &out, &errs)}
		r.out, r.err = out.String(), errs.String()
		require.Zero(t, r.status, "%s: %s", command, r.err)
		require.Contains(t, r.out, want, command)
		if command == "get $1.hp" {
			told := "gdwire: packet 1 is compressed with deflate\n"
			require.Equal(t, told, r.err)
			continue
		}
		require.Equal(t, "gdwire: "+told, r.err, command)
	}
	again := filepath.Join(t.TempDir(), "again")
	r := runWith(nil, "recode", "-q", "-frame", "u32", "-to", "u32be", client, "-o", again)
	require.Zero(t, r.status, r.err)
	b, err := os.ReadFile(again)
	require.NoError(t, err)
	require.Equal(t, framedBig(packets...), b)
	r = runWith(nil, "set", "$1.hp = 11", client, "-o", again)
	require.Zero(t, r.status, r.err)
	var out bytes.Buffer
	require.Zero(t, run([]string{"get", "$1.hp", again}, nil, &out, io.Discard))
	require.Equal(t, "11\n", out.String())

	live := must(traffic.OpenRecording(record.IndexName(prefix), &open.Flags{}))(t)
	get := servePage(t, &view.Server{Page: &page.Page{Live: live}})
	var list struct {
		Packets []struct {
			ToServer         bool
			Text, Compressed string
		}
	}
	require.NoError(t, json.Unmarshal(get("live?from=0"), &list))
	shown := map[string]int{}
	for _, p := range list.Packets {
		require.Equal(t, p.Compressed+` {"hp":10}`, p.Text)
		shown[p.Compressed]++
	}
	require.Equal(t, map[string]int{"fastlz": 2, "deflate": 2, "zstd": 2, "gzip": 2}, shown)

	page := viewOf(t, client)
	answer := must(http.Get(page.url + "children?at=-1"))(t)
	b, err = io.ReadAll(answer.Body)
	require.NoError(t, errors.Join(err, answer.Body.Close()))
	require.Equal(t, 4, strings.Count(string(b), `"text":"{hp: 10}"`), "%s", b)
	require.Equal(t, "a file of packets that are compressed is not edited", page.edit(t, "set $.hp = 11"))
	page.end(t)

	server := serve(t, func(conn net.Conn) {
		_, _ = conn.Write(framed(packets[0], packets[1], wire(2, 7), packets[2]))
		_, _ = io.Copy(io.Discard, conn)
	})
	r = runWith(nil, "replay", "-speed", "0", prefix, server)
	require.Equal(t, statusBad, r.status)
	require.Contains(t, r.out, "#1, answer 2: recorded zstd {\"hp\":10}, got 7\n")
	require.Contains(t, r.out, "#1, answer 3: recorded gzip {\"hp\":10}, got zstd {\"hp\":10}\n")
	require.Contains(t, r.out, "2 differ\n")
}

// servePage serves a page and returns a function that asks it.
func servePage(t *testing.T, page *view.Server) (get func(what string) []byte) {
	ln := must(page.Listen())(t)
	go func() { _ = page.Serve(t.Context(), ln) }()
	return func(what string) []byte {
		answer := must(http.Get(page.URL() + what))(t)
		defer answer.Body.Close()
		return must(io.ReadAll(answer.Body))(t)
	}
}

func TestReplayMistakes(t *testing.T) {
	prefix, _ := recorded(t)
	for _, c := range []struct {
		args []string
		err  string
	}{
		{[]string{"-speed", "-1", prefix, "1"}, "-speed is not a number from 0 on"},
		{[]string{"-timeout", "0s", prefix, "1"}, "-timeout is not more than 0"},
		{[]string{prefix + "x", "1"}, "no such file"},
	} {
		r := runWith(nil, append([]string{"replay"}, c.args...)...)
		require.NotZero(t, r.status)
		require.Contains(t, r.err, c.err)
	}
	index := must(os.ReadFile(record.IndexName(prefix)))(t)
	require.NoError(t, os.WriteFile(record.IndexName(prefix), bytes.Replace(index, []byte(`"length":12`), []byte(`"length":12345`), 1), 0o600))
	r := runWith(nil, "replay", prefix, "1")
	require.Equal(t, statusBad, r.status)
	require.Contains(t, r.err, "after the end of the file of connection 1")
	require.NoError(t, os.WriteFile(record.IndexName(prefix), []byte("{}\n"), 0o600))
	r = runWith(nil, "replay", prefix, "1")
	require.Contains(t, r.err, "line 1 of the index")
}
