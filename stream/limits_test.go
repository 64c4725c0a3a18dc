package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

// A remote is a connection from an address.
type remote struct {
	net.Conn
	addr net.Addr
}

func (r remote) RemoteAddr() net.Addr { return r.addr }

// A textAddr is an address of another type than net's.
type textAddr string

func (textAddr) Network() string  { return "tcp" }
func (a textAddr) String() string { return string(a) }

// TestMaxConnsPerAddr connects from pairs of addresses: whether they count as one.
func TestMaxConnsPerAddr(t *testing.T) {
	tcp := func(text string) net.Addr {
		return must(net.ResolveTCPAddr("tcp", text))(t)
	}
	for name, c := range map[string]struct {
		a, b net.Addr
		same bool
	}{
		"IPv4":              {tcp("10.0.0.1:1"), tcp("10.0.0.1:2"), true},
		"others":            {tcp("10.0.0.1:1"), tcp("10.0.0.2:1"), false},
		"IPv4 in IPv6":      {tcp("10.0.0.1:1"), tcp("[::ffff:10.0.0.1]:1"), true},
		"IPv6":              {tcp("[2001:db8::1]:1"), tcp("[2001:db8::ffff:ffff:ffff:ffff]:2"), true},
		"IPv6, others":      {tcp("[2001:db8::1]:1"), tcp("[2001:db8:0:1::1]:1"), false},
		"IPv6, zone":        {tcp("[2001:db8::1%1]:1"), tcp("[2001:db8::1%2]:1"), true},
		"link-local":        {tcp("[fe80::1%1]:1"), tcp("[fe80::1%1]:2"), true},
		"link-local, other": {tcp("[fe80::1%1]:1"), tcp("[fe80::2%1]:1"), false},
		"zones":             {tcp("[fe80::1%1]:1"), tcp("[fe80::1%2]:1"), false},
		"NAT64":             {tcp("[64:ff9b::10.0.0.1]:1"), tcp("[64:ff9b::10.0.0.1]:2"), true},
		"NAT64, others":     {tcp("[64:ff9b::10.0.0.1]:1"), tcp("[64:ff9b::10.0.0.2]:1"), false},
		"NAT64 and IPv4":    {tcp("[64:ff9b::10.0.0.1]:1"), tcp("10.0.0.1:1"), true},
		"text":              {tcp("10.0.0.1:1"), textAddr("10.0.0.1:2"), true},
		"no addresses":      {nil, nil, false},
		"pipes":             {textAddr("pipe"), textAddr("pipe"), false},
		"pipe and loopback": {textAddr("pipe"), tcp("127.0.0.1:1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stream.Server{MaxConnsPerAddr: 1, Handler: func(_ context.Context, c *stream.Conn) error { return next(c) }}
				ln := newFakeListener(nil)
				result := start(s, ln)
				connect := func(addr net.Addr) net.Conn {
					ours, theirs := net.Pipe()
					ln.conns <- remote{ours, addr}
					synctest.Wait()
					return theirs
				}
				first := connect(c.a)
				second := connect(c.b)
				want := stream.Stats{Conns: 2, Accepted: 2}
				if c.same {
					want = stream.Stats{Conns: 1, Accepted: 1, Refused: 1}
				}
				require.Equal(t, want, s.Stats())
				require.False(t, s.Full())
				second.Close()
				first.Close()
				synctest.Wait()
				connect(c.b) // there is room again
				require.EqualValues(t, 1, s.Stats().Conns)
				// A WebSocket from there
				if c.a != nil && c.b.String() != "pipe" {
					f := newSocket()
					s.ServeMessages(stream.WithNetConn(t.Context(), addressed{fakeConn{s: f}, c.b}), stream.WebSocket(f, closeStatus))
					require.EqualValues(t, stream.CloseTryAgainLater, <-f.closed)
					require.Equal(t, "too many connections from this address", f.reason.Load())
				}
				require.NoError(t, s.Shutdown(t.Context()))
				require.Equal(t, stream.ErrServerClosed, result())
				require.Zero(t, stream.Addrs(s))
			})
		})
	}
}

// TestForwardedFor reads the addresses of clients behind proxies, whose networks are 10.0.0.0/8 and fd00::/8.
func TestForwardedFor(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"no proxy":              {"192.0.2.1:5", []string{"203.0.113.7"}, "192.0.2.1:5"},
		"no header":             {"10.0.0.1:5", nil, "10.0.0.1:5"},
		"empty header":          {"10.0.0.1:5", []string{""}, "10.0.0.1:5"},
		"proxy":                 {"10.0.0.1:5", []string{"203.0.113.7"}, "203.0.113.7:0"},
		"port":                  {"10.0.0.1:5", []string{"203.0.113.7:9"}, "203.0.113.7:9"},
		"IPv6":                  {"[fd00::1]:5", []string{"2001:db8::7"}, "[2001:db8::7]:0"},
		"IPv6 in brackets":      {"[fd00::1]:5", []string{"[2001:db8::7]"}, "[2001:db8::7]:0"},
		"IPv6 with a port":      {"[fd00::1]:5", []string{"[2001:db8::7]:9"}, "[2001:db8::7]:9"},
		"IPv4 in IPv6":          {"[::ffff:10.0.0.1]:5", []string{"::ffff:203.0.113.7"}, "203.0.113.7:0"},
		"written by the client": {"10.0.0.1:5", []string{"127.0.0.1, 203.0.113.7"}, "203.0.113.7:0"},
		"of a proxy in a field": {"10.0.0.1:5", []string{"127.0.0.1", "203.0.113.7"}, "203.0.113.7:0"},
		"two proxies":           {"10.0.0.1:5", []string{"127.0.0.1,203.0.113.7 ,10.0.0.2"}, "203.0.113.7:0"},
		"two proxies, fields":   {"10.0.0.1:5", []string{"203.0.113.7", "10.0.0.2"}, "203.0.113.7:0"},
		"proxies alone":         {"10.0.0.1:5", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3:0"},
		"unknown":               {"10.0.0.1:5", []string{"203.0.113.7, unknown"}, "10.0.0.1:5"},
		"unknown, two proxies":  {"10.0.0.1:5", []string{"203.0.113.7, _x, 10.0.0.2"}, "10.0.0.2:0"},
		"nothing":               {"10.0.0.1:5", []string{"203.0.113.7,,"}, "10.0.0.1:5"},
		"long":                  {"10.0.0.1:5", []string{strings.Repeat(",", 1<<20)}, "10.0.0.1:5"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newSocket()
			peer := must(net.ResolveTCPAddr("tcp", c.peer))(t)
			ctx := stream.WithNetConn(t.Context(), addressed{fakeConn{s: f}, peer})
			conn := messageConn(stream.WithForwardedFor(ctx, c.forwarded, trusted...), f, nil)
			require.Equal(t, c.want, conn.RemoteAddr().String())
			require.Equal(t, c.want, conn.Stats().RemoteAddr)
			conn = messageConn(stream.WithForwardedFor(ctx, c.forwarded), f, nil)
			require.Equal(t, peer.String(), conn.RemoteAddr().String(), "no proxy is trusted")
		})
	}
	f := newSocket()
	for _, ctx := range []context.Context{t.Context(), stream.WithNetConn(t.Context(), addressed{fakeConn{s: f}, textAddr("unix")})} {
		require.Equal(t, ctx, stream.WithForwardedFor(ctx, []string{"203.0.113.7"}, trusted...))
	}
}

// An addressed connection is under a fakeSocket and has an address.
type addressed struct {
	fakeConn
	addr net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.addr }

// TestRates sends packets at a pace: how many of 200 are read, over TCP, where 4 bytes of length count, and over a WebSocket.
// MaxPacket is 116 bytes, 120 with its length.
func TestRates(t *testing.T) {
	one := encoded(t, number(1)) // 8 bytes
	for name, c := range map[string]struct {
		limits    stream.ConnLimits
		pace      time.Duration
		packet    []byte
		want, web int
	}{
		"off":               {stream.ConnLimits{}, 0, one, 200, 200},
		"at once":           {stream.ConnLimits{PacketRate: 10}, 0, one, 10, 10},
		"burst":             {stream.ConnLimits{PacketRate: 10, PacketBurst: 50}, 0, one, 50, 50},
		"small burst":       {stream.ConnLimits{PacketRate: 10, PacketBurst: 1}, 0, one, 1, 1},
		"at its rate":       {stream.ConnLimits{PacketRate: 10, PacketBurst: 1}, 100 * time.Millisecond, one, 200, 200},
		"twice its rate":    {stream.ConnLimits{PacketRate: 10, PacketBurst: 10}, 50 * time.Millisecond, one, 19, 19},
		"less than one":     {stream.ConnLimits{PacketRate: 0.5}, 2 * time.Second, one, 200, 200},
		"invalid":           {stream.ConnLimits{PacketRate: 10}, 0, []byte{200, 0, 0, 0}, 10, 10},
		"empty":             {stream.ConnLimits{PacketRate: 10}, 0, nil, 10, 10},
		"after a long time": {stream.ConnLimits{PacketRate: 10, PacketBurst: 5}, 0, one, 5, 5},

		"bytes, MaxPacket":   {stream.ConnLimits{ByteRate: 10}, 0, one, 10, 15},
		"bytes":              {stream.ConnLimits{ByteRate: 240}, 0, one, 20, 30},
		"bytes, burst":       {stream.ConnLimits{ByteRate: 10, ByteBurst: 36}, 0, one, 3, 4},
		"bytes, at its rate": {stream.ConnLimits{ByteRate: 120, ByteBurst: 12}, 100 * time.Millisecond, one, 200, 200},
		"bytes, twice":       {stream.ConnLimits{ByteRate: 120, ByteBurst: 120}, 50 * time.Millisecond, one, 19, 57},
		"packets alone":      {stream.ConnLimits{PacketRate: 5, ByteRate: 1000}, 0, one, 5, 5},
	} {
		for _, later := range []bool{false, true} { // by SetLimits
			for _, web := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, later: %v, WebSocket: %v", name, later, web), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						read := 0
						var end error
						s := &stream.Server{Options: stream.Options{MaxPacket: 116}, Logger: quiet(), Handler: func(_ context.Context, conn *stream.Conn) error {
							if later {
								conn.SetLimits(c.limits)
							}
							for end = skipOne(conn); end == nil || stream.Skippable(end); end = skipOne(conn) {
								read++
							}
							require.Equal(t, end, errOf(conn.NextRaw(nil)))
							return end
						}}
						if !later {
							s.PacketRate, s.PacketBurst, s.ByteRate, s.ByteBurst = c.limits.PacketRate, c.limits.PacketBurst, c.limits.ByteRate, c.limits.ByteBurst
						}
						v, want := visit(t.Context(), s, web), c.want
						if web {
							want = c.web
						}
						if name == "after a long time" {
							time.Sleep(time.Minute)
						}
						for range 200 {
							v.send(c.packet)
							time.Sleep(c.pace)
						}
						synctest.Wait()
						require.Equal(t, want, read)
						got := s.Stats()
						if want == 200 {
							require.Zero(t, got.TooFast+got.Failed)
						} else {
							require.Equal(t, stream.ErrPacketRate, end)
							require.EqualValues(t, []int64{1, 1}, []int64{got.TooFast, got.Failed})
							if web {
								require.EqualValues(t, stream.ClosePolicyViolation, <-v.socket.closed)
								require.Equal(t, "too many packets", v.socket.reason.Load())
							}
						}
						require.NoError(t, s.Shutdown(t.Context()))
					})
				})
			}
		}
	}
}

// TestSetLimits changes limits after the first packet, over TCP and over a WebSocket: the others are those of before, and
// those that are changed apply from the next packet on.
func TestSetLimits(t *testing.T) {
	strangers := stream.Options{MaxPacket: 12, ReadTimeout: time.Second, WriteTimeout: time.Second, IdleTimeout: time.Second}
	tooLong := func(err error) bool { return errors.As(err, new(*stream.PacketTooLongError)) }
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	stranger, player := encoded(t, number(1)), encoded(t, str(strings.Repeat("p", 100)))
	for name, c := range map[string]struct {
		limits stream.ConnLimits
		pause  time.Duration
		packet []byte
		n      int // packets that follow
		read   int // of them, are read
		end    func(error) bool
	}{
		"none":                 {stream.ConnLimits{}, 0, player, 1, 0, tooLong},
		"another":              {stream.ConnLimits{IdleTimeout: time.Minute}, 0, player, 1, 0, tooLong},
		"MaxPacket":            {stream.ConnLimits{MaxPacket: 200}, 0, player, 1, 1, nil},
		"MaxPacket, no limit":  {stream.ConnLimits{MaxPacket: -1}, 0, player, 1, 1, nil},
		"MaxPacket, lower":     {stream.ConnLimits{MaxPacket: 4}, 0, stranger, 1, 0, tooLong},
		"rate":                 {stream.ConnLimits{MaxPacket: 200}, 0, stranger, 10, 4, is(stream.ErrPacketRate)},
		"PacketRate":           {stream.ConnLimits{PacketRate: 5, PacketBurst: 7}, 0, stranger, 10, 7, is(stream.ErrPacketRate)},
		"PacketRate, no limit": {stream.ConnLimits{PacketRate: -1}, 0, stranger, 10, 10, nil},
		"idle":                 {stream.ConnLimits{PacketRate: -1}, 2 * time.Second, stranger, 1, 0, is(os.ErrDeadlineExceeded)},
		"IdleTimeout":          {stream.ConnLimits{IdleTimeout: time.Minute}, 2 * time.Second, stranger, 1, 1, nil},
		"IdleTimeout, none":    {stream.ConnLimits{IdleTimeout: -1}, time.Hour, stranger, 1, 1, nil},
	} {
		for _, web := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, WebSocket: %v", name, web), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					read := -1
					var end error
					s := &stream.Server{Options: strangers, PacketRate: 1, PacketBurst: 5, Logger: quiet(), Handler: func(_ context.Context, conn *stream.Conn) error {
						for ; end == nil; end = next(conn) {
							if read++; read == 1 {
								conn.SetLimits(c.limits)
							}
						}
						return end
					}}
					v := visit(t.Context(), s, web)
					v.send(stranger)
					synctest.Wait()
					time.Sleep(c.pause)
					for range c.n {
						v.send(c.packet)
					}
					synctest.Wait()
					require.Equal(t, 1+c.read, read)
					if web && c.limits.MaxPacket > 0 {
						require.Equal(t, c.limits.MaxPacket, v.socket.limit)
					}
					if c.end == nil {
						require.NoError(t, end)
					} else {
						require.True(t, c.end(end), "%v", end)
					}
					require.NoError(t, s.Shutdown(t.Context()))
				})
			})
		}
	}
}

// Limits apply to what is written, too.
func TestSetLimitsOfWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		c := stream.NewConn(t.Context(), ours, &stream.Options{MaxPacket: 10})
		defer c.Close()
		require.ErrorAs(t, c.WriteRaw(make([]byte, 11)), new(*stream.PacketTooLongError))
		c.SetLimits(stream.ConnLimits{MaxPacket: 20, WriteTimeout: time.Second})
		require.ErrorAs(t, c.WriteRaw(make([]byte, 21)), new(*stream.PacketTooLongError))
		begun := time.Now()
		require.ErrorIs(t, c.WriteRaw(make([]byte, 20)), os.ErrDeadlineExceeded)
		require.Equal(t, time.Second, time.Since(begun))
		c.SetLimits(stream.ConnLimits{WriteTimeout: -1})
		time.AfterFunc(time.Hour, func() { _, _ = io.Copy(io.Discard, theirs) })
		require.NoError(t, c.WriteRaw(make([]byte, 20)))
	})
}

func TestPacketErrors(t *testing.T) {
	next := func(b ...byte) error {
		d, err := stream.NewReader(bytes.NewReader(b), &stream.Options{MaxPacket: 10}).Next()
		if err == nil {
			err = d.SkipValue()
		}
		return err
	}
	w := stream.NewWriter(io.Discard, &stream.Options{MaxPacket: 10})
	for _, c := range []struct {
		name string
		err  error
		is   error
		text string
	}{
		{"long packet", next(20, 0, 0, 0), nil, "gdwire/stream: offset 4: packet of 20 bytes exceeds MaxPacket (10)"},
		{"long raw packet", w.WriteRaw(make([]byte, 11)), nil, "gdwire/stream: offset 0: packet of 11 bytes exceeds MaxPacket (10)"},
		{"empty packet", next(0, 0, 0, 0), io.ErrUnexpectedEOF, "gdwire: offset 0, $: empty packet: unexpected EOF"},
		{"no value", w.WritePacket(func(*gdwire.Encoder) error { return nil }), gdwire.ErrCount, "gdwire: offset 0, $: wrong count: packet of 0 values, not 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.EqualError(t, c.err, c.text)
			require.True(t, stream.Skippable(c.err))
			if c.is != nil {
				require.ErrorIs(t, c.err, c.is)
			} else {
				require.ErrorAs(t, c.err, new(*stream.PacketTooLongError))
			}
		})
	}
}

func TestSkippable(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"PacketTooLongError", &stream.PacketTooLongError{}, true},
		{"PeerError", fmt.Errorf("answer: %w", &stream.PeerError{Err: syscall.EINVAL}), true},
		{"Error", &gdwire.Error{Err: gdwire.ErrType}, true},
		{"wrapped Error", fmt.Errorf("player: %w", &gdwire.Error{Err: gdwire.ErrType}), true},
		{"end of the stream", io.EOF, false},
		{"inside a length", io.ErrUnexpectedEOF, false},
		{"own error", errors.New("own"), false},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, stream.Skippable(c.err)) })
	}
}
