//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gdwire/gdwire/variant"
)

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
