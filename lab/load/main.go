//go:build linux

// Command load finds how many WebSocket players a server on one processor answers in time: with package stream, as
// examples/server does, and with encoding/json. It needs taskset and two processors, the second for the players.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
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

// Players are one loop over sockets, and read nothing of an answer but when its packet was sent. So they need less time
// than the server.

const (
	// tick is the time after which players send and look for answers.
	tick = 2 * time.Millisecond
	// ticks is the number of ticks after which a player sends again, 20 times a second.
	ticks = 25
	// frameHead is the size of the head of a player's frame.
	frameHead = 8
)

// players are WebSockets to one server.
type players struct {
	server  int // process
	addr    syscall.Sockaddr
	c       *contender
	at      int // offset of Sent in a packet
	all     []*player
	epoll   int
	events  []syscall.EpollEvent
	buf     []byte
	waiting int             // number of answers that have not arrived
	from    int64           // when the part of an attempt that counts begins, as in Sent
	times   []time.Duration // of the answers to packets since then
	limit   time.Duration
	slow    int // number of times beyond limit
}

type player struct {
	fd    int
	frame []byte // with a packet
	part  []byte // of a frame of the server
}

// newPlayers returns players of c without any connection.
func newPlayers(server int, addr string, c *contender) *players {
	a := must(netip.ParseAddrPort(strings.TrimSpace(addr)))
	now := time.Now().UnixNano()
	return &players{
		server: server, addr: &syscall.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}, c: c,
		at:     bytes.Index(must(c.codec.encode(message{Sent: now})), c.codec.putSent(nil, now)),
		epoll:  must(syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)),
		events: make([]syscall.EpollEvent, 1000), buf: make([]byte, 64<<10),
	}
}

func (p *players) close() {
	for _, q := range p.all {
		check(syscall.Close(q.fd))
	}
	check(syscall.Close(p.epoll))
}

// connect adds a player, whose first message from the server has arrived.
func (p *players) connect() {
	fd := must(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0))
	check(syscall.Connect(fd, p.addr))
	check(syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1))
	must(syscall.Write(fd, []byte("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")))
	for got, arrived := []byte(nil), false; !arrived; {
		n := must(syscall.Read(fd, p.buf))
		if n == 0 {
			panic("a player was refused")
		}
		got = append(got, p.buf[:n]...)
		_, first, _ := bytes.Cut(got, []byte("\r\n\r\n"))
		_, packet, _ := cut(first)
		arrived = packet != nil
	}
	check(syscall.SetNonblock(fd, true))
	check(syscall.EpollCtl(p.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(len(p.all))}))

	i := float64(len(p.all))
	packet := must(p.c.codec.encode(message{
		time.Now().UnixNano(), fmt.Sprint("player ", i), variant.Vector3{X: i + 0.345, Y: 1.75, Z: -3.219}, variant.Vector3{X: 0.251, Z: 8.034},
		variant.Quaternion{Y: 0.597, W: 0.802}, "run_forward",
	}))
	head := []byte{0x80 | p.c.codec.opcode, 0x80 | 126, 0, byte(len(packet)), 0, 0, 0, 0} // masked with zeros
	p.all = append(p.all, &player{fd: fd, frame: append(head, packet...)})
}

// cut returns the payload of the first frame in b, or nil if the frame is not complete.
func cut(b []byte) (opcode byte, payload, rest []byte) {
	if len(b) < 4 {
		return 0, nil, b
	}
	head, size := 2, int(b[1])
	if size == 126 {
		head, size = 4, int(binary.BigEndian.Uint16(b[2:]))
	}
	if len(b) < head+size {
		return 0, nil, b
	}
	return b[0] & 0xF, b[head : head+size], b[head+size:]
}

// An attempt is how players were answered.
type attempt struct {
	counted         int  // answers
	late            bool // and ended early
	p99             time.Duration
	server, players float64 // CPU time, as a part of the time
}

// try lets n players play for a time, of which the first fifth does not count, and waits until all answers have arrived. The
// attempt is late, and ends, when more than one of 100 answers took longer than limit. The time of an answer is from when its
// packet was to be sent until the players look, up to a tick too long.
func (p *players) try(n int, d, limit time.Duration) (a attempt) {
	for len(p.all) < n {
		p.connect()
	}
	p.times, p.from, p.limit, p.slow = p.times[:0], math.MaxInt64, limit, 0
	all := int(d / tick)
	allowed := n * p.c.answers * (all - all/5) / ticks / 100
	start := time.Now()
	var server, own time.Duration
	for i := 0; i < all && p.slow <= allowed; i++ {
		now := start.Add(time.Duration(i) * tick)
		time.Sleep(time.Until(now))
		if i == all/5 {
			p.from, server, own = now.UnixNano(), cpuTime(p.server), cpuTime(os.Getpid())
		}
		for j := i % ticks; j < n; j += ticks {
			q := p.all[j]
			p.c.codec.putSent(q.frame[:frameHead+p.at], now.UnixNano())
			must(syscall.Write(q.fd, q.frame))
			p.waiting += p.c.answers
		}
		p.receive()
	}
	took := float64(time.Now().UnixNano() - p.from)
	a.server, a.players = float64(cpuTime(p.server)-server)/took, float64(cpuTime(os.Getpid())-own)/took
	for end := time.Now().Add(time.Minute); p.waiting > 0; p.receive() {
		if time.Now().After(end) {
			panic(fmt.Sprint(p.waiting, " answers did not arrive"))
		}
		time.Sleep(tick)
	}
	slices.Sort(p.times)
	a.counted, a.late, a.p99 = len(p.times), p.slow > allowed, p.times[len(p.times)*99/100]
	return a
}

// receive receives what has arrived.
func (p *players) receive() {
	for _, event := range p.events[:must(syscall.EpollWait(p.epoll, p.events, 0))] {
		q := p.all[event.Fd]
		kept := copy(p.buf, q.part)
		n := must(syscall.Read(q.fd, p.buf[kept:]))
		if n == 0 {
			panic("a player was disconnected")
		}
		now := time.Now().UnixNano()
		opcode, payload, rest := cut(p.buf[:kept+n])
		for ; payload != nil; opcode, payload, rest = cut(rest) {
			if opcode == p.c.codec.opcode {
				p.answered(p.c.codec.sent(payload[p.at:]), now)
			} else { // a ping
				must(syscall.Write(q.fd, slices.Concat([]byte{0x8A, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload)))
			}
		}
		q.part = append(q.part[:0], rest...)
	}
}

// answered counts an answer.
func (p *players) answered(sent, now int64) {
	p.waiting--
	if sent < p.from {
		return
	}
	t := time.Duration(now - sent)
	p.times = append(p.times, t)
	if t > p.limit {
		p.slow++
	}
}

// cpuTime returns the CPU time of a process, of user and system.
func cpuTime(pid int) time.Duration {
	_, stat, _ := bytes.Cut(must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))), []byte(") "))
	fields := strings.Fields(string(stat))
	return time.Duration(must(strconv.Atoi(fields[11]))+must(strconv.Atoi(fields[12]))) * 10 * time.Millisecond
}

// A message is a packet of a player, and its answer.
type message struct {
	Sent               int64 // in ns since 1970
	Name               string
	Position, Velocity variant.Vector3
	Look               variant.Quaternion
	Animation          string
}

// answer makes m the answer to itself.
func (m *message) answer() { m.Name = "hello, " + m.Name }

// A contender is a way to write the server of a game. The server sends a message to a player who has come, and then answers
// packets: to the player, or to all others in the room.
type contender struct {
	game    string
	answers int // to a packet
	codec   codec
	server  http.HandlerFunc
}

// contenders contains pairs: ours, and the other.
var contenders = []contender{
	{"each packet answered", 1, inVariant, streamServer(false)},
	{"each packet answered", 1, inJSON, jsonServer(false)},
	{"in rooms of 20, each packet sent to 19", roomSize - 1, inVariant, streamServer(true)},
	{"in rooms of 20, each packet sent to 19", roomSize - 1, inJSON, jsonServer(true)},
}

// A codec encodes messages. Players encode once, and then only replace and read Sent, which always has the same size.
type codec struct {
	name    string
	opcode  byte // of a WebSocket
	encode  func(v any) ([]byte, error)
	putSent func(b []byte, sent int64) []byte // appends to b
	sent    func(b []byte) int64
}

var inVariant = codec{
	name: "gdwire", opcode: 2, encode: func(v any) ([]byte, error) { return variant.Marshal(v) },
	putSent: func(b []byte, sent int64) []byte { return binary.LittleEndian.AppendUint64(b, uint64(sent)) },
	sent:    func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) },
}

var inJSON = codec{
	name: "JSON", opcode: 1, encode: json.Marshal,
	putSent: func(b []byte, sent int64) []byte { return strconv.AppendInt(b, sent, 10) },
	sent:    func(b []byte) int64 { return must(strconv.ParseInt(string(b[:19]), 10, 64)) },
}

// accepting accepts WebSockets, and passes to serve in which room they are.
func accepting(o *websocket.AcceptOptions, serve func(ctx context.Context, ws *websocket.Conn, room int64)) http.HandlerFunc {
	var players atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		room := (players.Add(1) - 1) / roomSize
		if ws, err := websocket.Accept(w, r, o); err == nil {
			serve(r.Context(), ws, room)
		}
	}
}

// roomKey is the key of the room in the context of a handler.
type roomKey struct{}

// streamServer is the server of examples/server, with any number of players at one address.
func streamServer(inRooms bool) http.HandlerFunc {
	handler := func(ctx context.Context, c *stream.Conn) error {
		if !inRooms {
			return answer(c, c)
		}
		member := ctx.Value(roomKey{}).(*stream.Room).Join(c)
		defer member.Leave()
		return answer(c, member.Others())
	}
	s := &stream.Server{
		Handler: handler, Options: stream.Options{MaxPacket: 64 << 10}, PacketRate: 100, MaxConns: 2 * mostPlayers,
		Logger: slog.New(slog.DiscardHandler),
	}
	all := make([]stream.Room, rooms)
	o := &websocket.AcceptOptions{OriginPatterns: []string{"*"}, OnPingReceived: stream.PingReceived}
	return accepting(o, func(ctx context.Context, ws *websocket.Conn, room int64) {
		s.ServeMessages(context.WithValue(ctx, roomKey{}, &all[room]), stream.WebSocket(ws, websocket.CloseStatus))
	})
}

// answer sends a message to c, and answers packets of c to others.
func answer(c *stream.Conn, to interface {
	WritePacket(write func(*gdwire.Encoder) error) error
},
) error {
	err := variant.Send(c, message{})
	for err == nil || stream.Skippable(err) {
		var m message
		if err = variant.Receive(c, &m); err == nil {
			m.answer()
			err = variant.Send(to, m)
		}
	}
	return err
}

// jsonServer is the same server by hand, without timeouts and limits.
func jsonServer(inRooms bool) http.HandlerFunc {
	all := make([]jsonRoom, rooms)
	return accepting(nil, func(_ context.Context, ws *websocket.Conn, room int64) {
		ctx := context.Background() // costs less than one that ends
		send := func(m message) error { return wsjson.Write(ctx, ws, m) }
		if inRooms {
			r := &all[room]
			r.join(ctx, ws)
			defer r.leave(ws)
			send = func(m message) error { return r.sendOthers(ws, m) }
		}
		err := wsjson.Write(ctx, ws, message{})
		for err == nil {
			var m message
			if err = wsjson.Read(ctx, ws, &m); err == nil {
				m.answer()
				err = send(m)
			}
		}
		_ = ws.CloseNow()
	})
}

// A jsonRoom contains the queues of its members.
type jsonRoom struct {
	mu     sync.Mutex
	queues map[*websocket.Conn]chan []byte
}

// join starts a goroutine that writes the queue of ws.
func (r *jsonRoom) join(ctx context.Context, ws *websocket.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queues == nil {
		r.queues = map[*websocket.Conn]chan []byte{}
	}
	queue := make(chan []byte, 1000)
	r.queues[ws] = queue
	go func() {
		for b := range queue {
			_ = ws.Write(ctx, websocket.MessageText, b) // Read returns the error, too
		}
	}()
}

func (r *jsonRoom) leave(ws *websocket.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.queues[ws])
	delete(r.queues, ws)
}

// sendOthers encodes m once, and closes members whose queues are full.
func (r *jsonRoom) sendOthers(from *websocket.Conn, m message) error {
	b, err := json.Marshal(m)
	r.mu.Lock()
	defer r.mu.Unlock()
	for ws, queue := range r.queues {
		if ws == from {
			continue
		}
		select {
		case queue <- b:
		default:
			_ = ws.CloseNow()
		}
	}
	return err
}
