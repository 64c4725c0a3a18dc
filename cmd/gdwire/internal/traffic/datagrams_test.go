package traffic

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// A datagram of a client, by the number of its port.
type sentDatagram struct {
	port int
	b    []byte
}

// fakeClients is the socket to the clients.
type fakeClients struct {
	in     chan sentDatagram
	out    chan sentDatagram
	closed chan struct{}
}

func (f *fakeClients) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	select {
	case d := <-f.in:
		return copy(b, d.b), netip.AddrPortFrom(netip.IPv6Loopback(), uint16(d.port)), nil
	case <-f.closed:
		return 0, netip.AddrPort{}, net.ErrClosed
	}
}

func (f *fakeClients) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	f.out <- sentDatagram{int(to.Port()), append([]byte(nil), b...)}
	return len(b), nil
}

func (f *fakeClients) Close() error {
	close(f.closed)
	return nil
}

// A udpTest is a proxy between clients and servers that are channels and pipes, in simulated time.
type udpTest struct {
	*fakeClients
	servers []net.Conn // the other side of each client's socket
	errs    strings.Builder
}

// send sends a datagram of a client, and waits until it is forwarded or refused.
func (u *udpTest) send(port int) {
	u.in <- sentDatagram{port, cmdtest.Wire(2, port)}
	synctest.Wait()
}

// testUDP runs a test with a proxy, and returns what it told.
func testUDP(t *testing.T, run func(*udpTest)) string {
	u := &udpTest{}
	synctest.Test(t, func(t *testing.T) {
		u.fakeClients = &fakeClients{make(chan sentDatagram), make(chan sentDatagram, 10), make(chan struct{})}
		s := shell.NewStdio(nil, io.Discard, &u.errs)
		ctx, end := context.WithCancel(t.Context())
		p := &proxyServer{Stdio: s, options: &proxyFlags{}, end: end, remaining: -1}
		p.lines.maxBytes, p.lines.flush, p.lines.fail = maxWaiting, s.Out.Flush, p.stop
		p.lines.start()
		ended := make(chan error)
		go func() {
			_, err := newDatagramProxy(p, u, func() (net.Conn, error) {
				server, socket := net.Pipe()
				u.servers = append(u.servers, server)
				go func() { _, _ = io.Copy(io.Discard, server) }()
				return socket, nil
			}).run(ctx)
			ended <- err
		}()
		run(u)
		end()
		require.NoError(t, <-ended)
		p.lines.close()
		<-p.lines.done
	})
	return u.errs.String()
}

// A client of UDP is forgotten after two minutes in which neither it nor the server sent anything.
func TestDatagramSilence(t *testing.T) {
	told := testUDP(t, func(u *udpTest) {
		const nearly = silence - time.Second
		u.send(1)
		time.Sleep(nearly)
		u.send(1)
		time.Sleep(nearly)
		testenv.Must(u.servers[0].Write(cmdtest.Wire(2, 5)))(t)
		require.Equal(t, sentDatagram{1, cmdtest.Wire(2, 5)}, <-u.out)
		time.Sleep(nearly)
		synctest.Wait()
		u.send(1)
		require.Len(t, u.servers, 1)
		time.Sleep(silence)
		synctest.Wait()
		_, err := u.servers[0].Write(cmdtest.Wire(2, 5))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		u.send(1)
		require.Len(t, u.servers, 2)
	})
	require.Contains(t, told, "#1: closed\ngdwire: #2: from [::1]:1\n")
}

// Each of 256 clients has a socket to the server. Others are refused, which is told once, until one is silent.
func TestDatagramLimit(t *testing.T) {
	told := testUDP(t, func(u *udpTest) {
		for port := range maxClients {
			u.send(1 + port)
		}
		time.Sleep(silence / 2)
		for range 2 {
			u.send(1000)
		}
		require.Len(t, u.servers, maxClients)
		for port := range maxClients - 1 {
			u.send(1 + port)
		}
		time.Sleep(silence / 2) // the last client was silent
		synctest.Wait()
		u.send(1000)
		require.Len(t, u.servers, maxClients+1)
		u.send(2000)
		require.Len(t, u.servers, maxClients+1)
	})
	require.Equal(t, 1, strings.Count(told, "more than 256 clients at the same time: others wait until one is silent for 2m0s"))
	require.Contains(t, told, fmt.Sprintf("#%d: closed\n", maxClients))
	require.Contains(t, told, fmt.Sprintf("#%d: from [::1]:1000\n", maxClients+1))
}
