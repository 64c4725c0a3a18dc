//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

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
