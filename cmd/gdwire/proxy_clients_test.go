//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

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
