//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/traffic"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/fileaccess"
)

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
	get := servePage(t, &view.Server{Live: live, Recording: "game.index.jsonl"})
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
	get := servePage(t, &view.Server{Live: live})
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
