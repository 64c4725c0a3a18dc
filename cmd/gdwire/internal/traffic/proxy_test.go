package traffic

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/base/quota"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/stream"
	"github.com/stretchr/testify/require"
)

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

type temporaryError struct{ error }

func (temporaryError) Temporary() bool { return true }

// TestCommandServerLog shows an error once, until a connection is accepted.
func TestCommandServerLog(t *testing.T) {
	var got []string
	log := &serverLog{logf: func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }}
	l := slog.New(log)
	for range 3 {
		l.Error("gdwire/stream: accept failed", "error", errors.New("too many open files"), "retry", time.Second)
	}
	log.reset()
	l.Error("gdwire/stream: accept failed", "error", errors.New("too many open files"), "retry", time.Second)
	l.Error("gdwire/stream: connection failed", "remote", "1.2.3.4:5", "error", errors.New("panic: nil"))
	busy := "accept failed: too many open files; waiting"
	require.Equal(t, []string{busy, busy, "connection failed, remote 1.2.3.4:5: panic: nil"}, got)
}

// TestRetry waits as long as errors are temporary, and tells the first of them.
func TestRetry(t *testing.T) {
	busy, broken := temporaryError{errors.New("busy")}, errors.New("broken")
	for _, want := range []error{nil, broken} {
		var told []error
		tries := 0
		n, err := retry(t.Context(), func(err error) { told = append(told, err) }, func() (int, error) {
			if tries++; tries < 4 {
				return 0, busy
			}
			return 7, want
		})
		require.Equal(t, want, err)
		require.Equal(t, 7, n)
		require.Equal(t, []error{busy}, told)
	}
	ctx, end := context.WithCancel(t.Context())
	require.Equal(t, busy, errOf(retry(ctx, func(error) { end() }, func() (int, error) { return 0, busy })))
}

// TestTurns reads packets of one connection after 32 others have sent something. A short one waits for nobody, and a long one only
// if the others hold too many bytes, until they end.
func TestTurns(t *testing.T) {
	short, long := cmdtest.Framed(cmdtest.Wire(2, 5)), cmdtest.Framed(cmdtest.Wire(4, strings.Repeat("x", 40_000)))
	for name, c := range map[string]struct {
		sent  []byte
		waits bool
	}{
		"silent":              {sent: nil},
		"silent after packet": {sent: short},
		"silent after long":   {sent: long},
		"silent after empty":  {sent: cmdtest.Framed(nil)},
		"one byte":            {sent: short[:1]},
		"inside a packet":     {sent: short[:6]},
		"declared":            {sent: cmdtest.Wire(1 << 20)},
		"inside the second":   {sent: append(long[:len(long):len(long)], long[:6]...)},
		"inside a long one":   {sent: long[:30_000], waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				held := quota.New(64 << 10)
				dial := func(got *atomic.Int64) net.Conn {
					ours, theirs := net.Pipe()
					go func() {
						conn := newTurnConn(ours, held)
						c := stream.NewConn(t.Context(), conn, &stream.Options{MaxPacket: 1 << 20, ReadTimeout: -1})
						packets := conn.start(t.Context(), c)
						defer func() { _ = c.Close() }()
						defer conn.stop()
						for {
							b, err := packets.NextRaw(nil)
							if err != nil && !stream.Skippable(err) {
								return
							}
							got.Add(int64(len(b)))
						}
					}()
					return theirs
				}
				var others, last atomic.Int64
				var first []net.Conn
				for range 32 {
					conn := dial(&others)
					defer conn.Close()
					first = append(first, conn)
					go func() { _, _ = conn.Write(c.sent) }()
				}
				synctest.Wait()
				conn := dial(&last)
				defer conn.Close()
				testenv.Must(conn.Write(short))(t)
				synctest.Wait()
				require.EqualValues(t, len(short)-4, last.Load())
				go func() { _, _ = conn.Write(long) }()
				synctest.Wait()
				if c.waits {
					require.EqualValues(t, len(short)-4, last.Load())
					for _, one := range first {
						require.NoError(t, one.Close())
					}
					synctest.Wait()
				}
				require.EqualValues(t, len(short)+len(long)-8, last.Load())
			})
		})
	}
}

// A testProxy forwards to nobody.
type testProxy struct {
	*proxyServer
	out, errs bytes.Buffer
}

func newTestProxy(o *proxyFlags) *testProxy {
	p := &testProxy{}
	s := shell.NewStdio(nil, &p.out, &p.errs)
	p.proxyServer = &proxyServer{Stdio: s, options: o, end: func() {}, remaining: -1}
	p.framing.known = save.Known{Format: true, Frame: true}
	p.framing.Decoder.Format, p.framing.Frame, p.framing.webSocket = gdwire.Godot4, save.U32, o.webSocket
	p.start()
	return p
}

// direction returns one of the directions, from a connection.
func (p *testProxy) direction(from net.Conn, to io.WriteCloser) *direction {
	return &direction{proxyServer: p.proxyServer, number: 1, way: 1, from: from, input: from, to: &endingConn{WriteCloser: to}}
}

// An endingConn writes to a WriteCloser, which CloseWrite closes.
type endingConn struct {
	net.Conn
	io.WriteCloser
}

func (c *endingConn) Write(b []byte) (int, error) { return c.WriteCloser.Write(b) }
func (c *endingConn) Close() error                { return nil }
func (c *endingConn) CloseWrite() error           { return c.WriteCloser.Close() }

// The end of a stream is forwarded before its packets are shown.
func TestProxyEndFirst(t *testing.T) {
	p := newTestProxy(&proxyFlags{})
	client, from := net.Pipe()
	server, to := io.Pipe()
	var forwarding sync.WaitGroup
	p.lines.mu.Lock() // nothing is shown
	forwarding.Go(func() { p.direction(from, to).forward(t.Context()) })
	sent := cmdtest.Framed(cmdtest.Wire(2, 5), cmdtest.Wire(4, "two"))
	go func() {
		_, _ = client.Write(sent)
		_ = client.Close()
	}()
	require.Equal(t, sent, testenv.Must(io.ReadAll(server))(t))
	p.lines.mu.Unlock()
	forwarding.Wait()
	p.lines.close()
	<-p.lines.done
	require.Equal(t, 2, strings.Count(p.out.String(), "\n"), &p.out)
	require.Zero(t, p.held.used.Load())
}

// 40 connections that each begin a large packet take no more than the bound together. They are forwarded, and shown if
// they fit; with a filter, which needs whole packets, those that do not fit are closed.
func TestProxyBound(t *testing.T) {
	const conns, size = 40, 1 << 20
	packet := cmdtest.Framed(cmdtest.Wire(29, size, make([]byte, size)))
	messages := append([]byte(cmdtest.UpgradeResponse), cmdtest.WebSocketMessage(false, 2, packet[4:size/2], packet[size/2:])...)
	for name, c := range map[string]struct {
		options proxyFlags
		sent    []byte
	}{
		"packets":  {sent: packet},
		"messages": {sent: messages, options: proxyFlags{webSocket: true}},
		"filter":   {sent: packet, options: proxyFlags{dropInvalid: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newTestProxy(&c.options)
				var forwarding sync.WaitGroup
				var got [conns]bytes.Buffer
				var clients [conns]net.Conn
				for i := range clients {
					var from net.Conn
					clients[i], from = net.Pipe()
					forwarding.Go(func() { p.direction(from, writeCloser{&got[i]}).forward(t.Context()) })
				}
				for i := range clients {
					go func() { _, _ = clients[i].Write(c.sent[:len(c.sent)-1]) }()
				}
				synctest.Wait()
				require.LessOrEqual(t, p.held.used.Load(), p.held.max)
				require.Greater(t, p.held.used.Load(), p.held.max-2*size)
				for i := range clients {
					go func() {
						_, _ = clients[i].Write(c.sent[len(c.sent)-1:])
						_ = clients[i].Close()
					}()
				}
				forwarding.Wait()
				require.Zero(t, p.held.used.Load())
				p.lines.close()
				<-p.lines.done
				shown := strings.Count(p.out.String(), "\n")
				require.Positive(t, shown)
				require.Less(t, shown, conns)
				if c.options.dropInvalid {
					require.Equal(t, conns-shown, strings.Count(p.errs.String(), errFull.Error()+"; the connection is closed\n"))
					return
				}
				for i := range got {
					require.True(t, bytes.Equal(c.sent, got[i].Bytes()))
				}
				require.EqualValues(t, conns, p.packets[1])
				require.Regexp(t, "gdwire: … [0-9]+ packets \\([0-9.]+ MB\\) not shown\n", p.errs.String())
			})
		})
	}
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

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
		require.ErrorIs(t, errOf(u.servers[0].Write(cmdtest.Wire(2, 5))), io.ErrClosedPipe)
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

func TestQuantile(t *testing.T) {
	var all []time.Duration
	for i := range 1000 {
		all = append(all, time.Duration(i+1)*time.Millisecond)
	}
	for share, want := range map[float64]time.Duration{0.5: 500, 0.9: 900, 0.99: 990, 1: 1000} {
		require.Equal(t, want*time.Millisecond, quantile(all, share))
	}
}

func TestTarget(t *testing.T) {
	for text, want := range map[string]target{
		"7":                              {addr: "127.0.0.1:7"},
		"game.example.com:7":             {addr: "game.example.com:7"},
		"unix:game.sock":                 {addr: "unix:game.sock"},
		"unix:///tmp/game":               {addr: "unix:///tmp/game"},
		"tls:game.example.com:7":         {addr: "game.example.com:7", secure: true},
		"udp:7":                          {addr: "127.0.0.1:7", udp: true},
		"wss://game.example.com":         {addr: "game.example.com:443", secure: true},
		"ws://game.example.com:90/a?b=1": {addr: "game.example.com:90"},
		"ws://[::1]/":                    {addr: "[::1]:80"},
	} {
		got, err := parseTarget(text)
		require.NoError(t, err, text)
		require.Equal(t, strings.HasPrefix(text, "ws"), got.url != nil)
		want.text, want.url = text, got.url
		require.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"http://game.example.com": "is no target", "wss://": "is no target", "ws://a:b@c": "is no target", "ws://a:b:c": "invalid port",
		"a:b:c": "too many colons", "tls:unix:a": "needs HOST:PORT", "unix:": "unix:PATH",
	} {
		require.ErrorContains(t, errOf(parseTarget(text)), want)
	}
}

func TestListenAddress(t *testing.T) {
	for _, c := range []struct{ target, listen, want, fault string }{
		{"7", "8", "127.0.0.1:8", ""},
		{"7", "unix:a", "unix:a", ""},
		{"udp:7", "8", "127.0.0.1:8", ""},
		{"udp:7", "udp:0.0.0.0:8", "0.0.0.0:8", ""},
		{"7", "udp:8", "", "only a target udp"},
		{"udp:7", "unix:a", "", "over UDP"},
		{"7", "tls:a:8", "", "without TLS"},
		{"wss://a", "ws://a:8", "", "without TLS"},
		{"7", "a:b:c", "", "too many colons"},
	} {
		at := testenv.Must(parseTarget(c.target))(t)
		got, err := at.listenAddress(c.listen)
		if c.fault == "" {
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		} else {
			require.ErrorContains(t, err, c.fault)
		}
	}
}

// The request of a client names the server in place of the proxy, and a path of the server's URL takes the place of its own.
func TestAddressTo(t *testing.T) {
	request := strings.Replace(cmdtest.UpgradeRequest, "\r\n", "\r\nORIGIN: http://127.0.0.1:8060\r\nhost: 127.0.0.1:7000\r\n", 1)
	for text, want := range map[string][3]string{
		"ws://game.example.com":           {"", "Host: game.example.com", "Origin: http://game.example.com"},
		"wss://game.example.com:90/a?b=1": {"GET /a?b=1 HTTP/1.1", "Host: game.example.com:90", "Origin: https://game.example.com:90"},
	} {
		u := testenv.Must(url.Parse(text))(t)
		for _, ending := range []string{"\r\n", "\n"} {
			sent := strings.ReplaceAll(request, "\r\n", ending)
			got := testenv.Must(io.ReadAll(&handshakeReader{r: strings.NewReader(sent + "rest\r\nHost: x"), url: u}))(t)
			lines, as := strings.Split(string(got), ending), strings.Split(sent+"rest\r\nHost: x", ending)
			if want[0] != "" {
				as[0] = want[0]
			}
			as[1], as[2] = want[2], want[1]
			for i := 3; i < len(as); i++ {
				if strings.HasPrefix(as[i], "Host: ") && i < len(as)-2 {
					as[i] = want[1]
				}
			}
			require.Equal(t, as, lines)
		}
	}
}

// repeated is a Reader of the same bytes for ever.
type repeated struct {
	bytes []byte
	next  int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for ; n < len(p); n++ {
		p[n] = r.bytes[r.next]
		r.next = (r.next + 1) % len(r.bytes)
	}
	return n, nil
}

// Fragments without content take little memory; those of a byte each are a packet.
func TestFragments(t *testing.T) {
	empty := func(op byte) []byte { return []byte{op, 0} }
	for name, fragment := range map[string][]byte{"fragments": empty(wsContinued), "pings": empty(0x89)} {
		m := &messages{r: io.MultiReader(strings.NewReader("\x02\x01x"), &repeated{bytes: fragment}), max: 8 << 20}
		require.ErrorContains(t, errOf(m.webSocket()), "too many fragments", name)
		require.Less(t, m.raw.Len(), 1<<17)
	}
	packet := bytes.Repeat([]byte{7}, 1<<20)
	var parts [][]byte
	for i := range packet {
		parts = append(parts, packet[i:i+1])
	}
	m := &messages{r: bytes.NewReader(cmdtest.WebSocketMessage(true, 2, parts...)), max: 1 << 20}
	require.True(t, bytes.Equal(packet, testenv.Must(m.webSocket())(t).packet))
}

// With whole messages, a control frame inside a message does not wait for the rest: a Close is the last frame.
func TestControlFrames(t *testing.T) {
	first, last := "\x02\x03one", "\x80\x03two"
	ping, end := "\x89\x02hi", "\x88\x02\x03\xe8"
	for name, c := range map[string]struct {
		sent string
		want []string
		end  error
	}{
		"ping":  {first + ping + last + ping, []string{ping, first + last, ping}, io.EOF},
		"pings": {first + ping + ping + last, []string{ping, ping, first + last}, io.EOF},
		"close": {first + end, []string{end}, io.ErrUnexpectedEOF},
	} {
		m := &messages{r: strings.NewReader(c.sent), max: 1 << 20, whole: true, bound: &bound{max: 1 << 20}}
		size := 0
		for _, want := range c.want {
			got, err := m.webSocket()
			require.NoError(t, err, name)
			require.Equal(t, want, string(got.raw), name)
			require.EqualValues(t, len(want), got.size)
			require.Equal(t, want == first+last, got.packet != nil, name)
			size += len(want)
			m.bound.add(-got.held)
		}
		require.Equal(t, c.end, errOf(m.webSocket()), name)
		m.hold(0)
		require.Zero(t, m.bound.used.Load(), name)
	}
}

// A message with another packet in its place is read as this packet.
func TestEncodeMessage(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 127, 1<<16 - 1, 1 << 16, 1 << 17} {
		packet := bytes.Repeat([]byte{1, 2, 3, 0x8a, 5}, n/5+1)[:n]
		for _, order := range []binary.ByteOrder{nil, binary.LittleEndian, binary.BigEndian} {
			for _, masked := range []bool{false, true} {
				m := &messages{max: 1 << 20, order: order}
				b := m.encode(packet, masked)
				r := m.again(bytes.NewReader(b))
				if order == nil {
					r.next = r.webSocket
					require.Equal(t, masked, b[1]&wsMasked > 0)
				}
				require.True(t, bytes.Equal(packet, testenv.Must(r.nextPacket())(t)))
				require.Equal(t, io.EOF, errOf(r.next()))
			}
		}
	}
}

// A -skip is proposed if several packets in a row are values from there, and none from their start.
func TestSkipFinder(t *testing.T) {
	value := []byte("\x04\x00\x00\x00\x03\x00\x00\x00abc\x00")
	after := func(n int) []byte { return append(bytes.Repeat([]byte{0xf3}, n), value...) }
	two := append(bytes.Clone(value), value...)
	null := []byte("\xf3\x00\x00\x00\x00")
	for name, c := range map[string]struct {
		packets [][]byte
		want    int
	}{
		"one byte":    {[][]byte{after(1), after(1), after(1)}, 1},
		"two":         {[][]byte{value, after(2), after(2), after(2)}, 2},
		"four":        {[][]byte{after(4), after(4), after(4)}, 4},
		"five":        {[][]byte{after(5), after(5), after(5)}, 5},
		"other":       {[][]byte{after(2), after(1), after(1), after(1)}, 1},
		"two values":  {[][]byte{after(1), two, after(1), two, after(1)}, 1},
		"small types": {[][]byte{append([]byte{0}, value...), append([]byte{2}, value...), append([]byte{27}, value...)}, 1},
		"numbers":     {[][]byte{append([]byte{1, 0, 0, 0}, value...), append([]byte{5, 0, 0, 0}, value...), append([]byte{1, 0, 0, 0}, value...)}, 4},
		"too few":     {[][]byte{after(1), after(1)}, 0},
		"interrupted": {[][]byte{after(1), after(1), value, after(1)}, 0},
		"changing":    {[][]byte{after(1), after(2), after(1), after(2)}, 0},
		"three bytes": {[][]byte{after(3), after(3), after(3)}, 0},
		"null":        {[][]byte{null, null, null}, 0},
		"foreign":     {[][]byte{[]byte("GET /"), nil, []byte("more"), []byte("\xff")}, 0},
	} {
		var f skipFinder
		o, got := save.Reading{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}}, 0
		for _, packet := range c.packets {
			u := o.Unpack(packet)
			got = f.find(packet, &u, &o)
		}
		require.Equal(t, c.want, got, name)
	}
}

// TestCommandLines counts the lines that cannot be shown in time, and shows all others in their
// order.
func TestCommandLines(t *testing.T) {
	var out bytes.Buffer
	r, w := io.Pipe()
	l := &lines{maxBytes: 60, flush: func() error { return nil }, fail: func(err error) { require.NoError(t, err) }}
	l.missedLine = func(missed, bytes string) line { return line{w, "missed " + missed + ", " + bytes + "\n"} }
	l.start()
	for i := range 1000 { // nobody reads
		l.add(w, "line "+strings.Repeat("x", i%3)+"\n", 10)
	}
	l.miss(70)
	l.close()
	testenv.Must(io.CopyN(&out, r, 6))(t)
	go func() {
		<-l.done
		w.Close()
	}()
	require.NoError(t, errOf(io.Copy(&out, r)))
	shown := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Equal(t, []string{"line ", "line x", "line xx", "line ", "line x", "line xx", "line ", "line x", "missed 993, 10 kB"}, shown)
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(b []byte) (int, error) { return w(b) }

// TestLinesFail reports the first error of the output, once, and shows other output.
func TestLinesFail(t *testing.T) {
	var errs bytes.Buffer
	bad := writerFunc(func([]byte) (int, error) { return 0, errors.New("disk full") })
	var failed []error
	l := &lines{maxBytes: 60, flush: func() error { return nil }, fail: func(err error) { failed = append(failed, err) }}
	l.start()
	l.add(bad, "a", 0)
	l.add(&errs, "b", 0)
	l.add(bad, "c", 0)
	l.close()
	<-l.done
	require.Len(t, failed, 1)
	require.Equal(t, "b", errs.String())
}

// Extensions are taken out of the handshake, in any pieces, and everything else stays.
func TestHandshakeExtensions(t *testing.T) {
	const extensions = "sec-websocket-Extensions: permessage-deflate; client_max_window_bits,\r\n\tx\r\n"
	request := strings.Replace(cmdtest.UpgradeRequest, "Sec-WebSocket-Key", extensions+"Sec-WebSocket-Key", 1)
	message := string(cmdtest.WebSocketMessage(true, 2, cmdtest.Wire(2, 5)))
	for _, c := range []struct{ name, sent, want string }{
		{"one", request + message, cmdtest.UpgradeRequest + message},
		{"none", cmdtest.UpgradeRequest + message, cmdtest.UpgradeRequest + message},
		{"line feeds", cmdtest.LineFeeds(request) + message, cmdtest.LineFeeds(cmdtest.UpgradeRequest) + message},
		{"line feeds at last", strings.TrimSuffix(request, "\r\n") + "\n" + message, strings.TrimSuffix(cmdtest.UpgradeRequest, "\r\n") + "\n" + message},
		{"cut", request[:100], request[:100]},
		{"no WebSocket", "GETS " + request, "GETS " + request},
		{"too long", "GET /" + strings.Repeat("x", maxHTTP) + request, "GET /" + strings.Repeat("x", maxHTTP) + request},
		{"short", "GE", "GE"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.sent), iotest.OneByteReader(strings.NewReader(c.sent)), iotest.DataErrReader(strings.NewReader(c.sent))} {
				removed := 0
				require.Equal(t, c.want, string(testenv.Must(io.ReadAll(&handshakeReader{r: r, removed: func() { removed++ }}))(t)))
				require.Equal(t, c.sent != c.want, removed == 1)
			}
		})
	}
}

// A request is passed on when its head has ended, by whichever line ends.
func TestHandshakeEnds(t *testing.T) {
	for _, request := range []string{cmdtest.UpgradeRequest, cmdtest.LineFeeds(cmdtest.UpgradeRequest)} {
		rest := strings.NewReader("rest")
		h := &handshakeReader{r: io.MultiReader(strings.NewReader(request), rest)}
		got := make([]byte, len(request))
		testenv.Must(io.ReadFull(h, got))(t)
		require.Equal(t, request, string(got))
		require.Equal(t, len("rest"), rest.Len())
	}
}
