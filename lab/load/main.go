//go:build linux

// Command load finds how many WebSocket players a server on one processor answers in time: with package stream, as
// examples/server does, and with encoding/json. It needs taskset and two processors, the second for the players.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/stream"
)

const (
	mostPlayers = 8_000
	roomSize    = 20
	rooms       = 2 * mostPlayers / roomSize
	step        = 2500 * time.Millisecond // in which a number of players is tried
	inTime      = 20 * time.Millisecond   // for 99 of 100 answers
	busy        = 0.7                     // of their processor: players that are busier measure themselves
)

// check and must panic on an error: nothing is measured then.
func check(err error) { checked.Check(err) }

func must[T any](v T, err error) T { return checked.Must(v, err) }

// most returns the largest number of players for which ok returns true, within 2 % or a room. A number fails if it fails twice,
// because the machine may have done something else.
func most(ok func(players int) bool) int {
	twice := func(n int) bool {
		first := ok(n)
		return first || ok(n)
	}
	good, bad := 0, 10*roomSize
	for bad <= mostPlayers && twice(bad) {
		good, bad = bad, 2*bad
	}
	for bad-good > max(roomSize, good/50) {
		if n := (good + bad) / 2 / roomSize * roomSize; twice(n) {
			good = n
		} else {
			bad = n
		}
	}
	return good
}

// serve serves players until stop returns, and writes the address to out.
func serve(c *contender, out io.Writer, stop func()) {
	ln := must(net.Listen("tcp", "127.0.0.1:0"))
	must(fmt.Fprintln(out, ln.Addr()))
	go func() {
		_ = (&http.Server{Handler: c.server, ReadTimeout: 10 * time.Second, ConnContext: stream.WithNetConn}).Serve(stream.WebSocketListener(ln))
	}()
	stop()
	_ = ln.Close()
}

// measure returns the largest number of players of the server of contenders[i], which is another process.
func measure(i int) int {
	server := exec.Command("taskset", "-c", "0", must(os.Executable()), strconv.Itoa(i))
	server.Env = append(os.Environ(), "GOMAXPROCS=1")
	server.Stderr = os.Stderr
	in, out := must(server.StdinPipe()), must(server.StdoutPipe())
	check(server.Start())
	c := &contenders[i]
	p := newPlayers(server.Process.Pid, must(bufio.NewReader(out).ReadString('\n')), c)
	n := most(func(n int) bool {
		a := p.try(n, step, inTime)
		fmt.Fprintf(os.Stderr, "%s, %s: %d players, late: %t, p99 %.1f ms, CPU of the server %.0f %%, of the players %.0f %%\n",
			c.game, c.codec.name, n, a.late, float64(a.p99)/1e6, 100*a.server, 100*a.players)
		if !a.late && a.players > busy {
			fmt.Fprintln(os.Stderr, "the players are too busy to measure others")
		}
		return !a.late
	})
	p.close()
	check(in.Close())
	check(server.Wait())
	return n
}

func main() {
	if len(os.Args) > 1 { // a server, until its input ends
		serve(&contenders[must(strconv.Atoi(os.Args[1]))], os.Stdout, func() { _, _ = os.Stdin.Read(make([]byte, 1)) })
		return
	}
	check(exec.Command("taskset", "-a", "-c", "-p", "1", strconv.Itoa(os.Getpid())).Run())
	fmt.Print("|  | gdwire | JSON | gdwire : JSON |\n|---|--:|--:|--:|\n")
	for i := 0; i < len(contenders); i += 2 {
		ours, other := measure(i), measure(i+1)
		fmt.Printf("| %s | **%d** | %d | %.2f |\n", contenders[i].game, ours, other, float64(ours)/float64(other))
	}
}
