package stream_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

func packetConn(ctx context.Context, t *testing.T, o *stream.Options) (*stream.PacketConn, net.Addr) {
	pc := must(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	c := stream.NewPacketConn(ctx, pc, o)
	t.Cleanup(func() { c.Close() })
	return c, pc.LocalAddr()
}

// A datagram that Receive reads is one value, and From is its sender also after an error.
func TestPacketConnReceive(t *testing.T) {
	a, toA := packetConn(t.Context(), t, &stream.Options{IdleTimeout: long})
	b, toB := packetConn(t.Context(), t, nil)
	require.Nil(t, a.From())
	value := encoded(t, number(7))
	for want, datagram := range map[string][]byte{"": value, "4 bytes after the value": append(value, 1, 2, 3, 4), "unknown": {99, 0, 0, 0}} {
		require.NoError(t, b.To(toA).WriteRaw(datagram))
		var n int
		err := variant.Receive(a, &n)
		if want == "" {
			require.NoError(t, err)
			require.Equal(t, 7, n)
		} else {
			require.ErrorContains(t, err, want)
			require.True(t, stream.Skippable(err))
		}
		require.Equal(t, toB.String(), a.From().String())
	}
	require.NoError(t, a.Close())
	require.Equal(t, net.ErrClosed, variant.Receive(a, new(int)))
	require.Nil(t, a.From())
}

// The example that answers datagrams survives what peers send, and answers others.
func TestPacketConnExampleInvalid(t *testing.T) {
	server, toServer := packetConn(t.Context(), t, &stream.Options{MaxPacket: mixedMax})
	ended := make(chan error)
	go func() { ended <- pong(server) }()
	hostile := must(net.Dial("udp", toServer.String()))(t)
	defer hostile.Close()
	client, _ := packetConn(t.Context(), t, &stream.Options{IdleTimeout: long})
	packets := mixed(t)
	for _, text := range []string{"a\x00b", strings.Repeat("x", mixedMax-8)} { // to which there is no answer
		packets = append(packets, gdwiretest.Encode(t, text, variant.Options{Encoder: gdwire.EncoderOptions{AllowInvalidUTF8: true}}))
	}
	packets = append(packets, encoded(t, str("bye")))
	for i, packet := range packets {
		_, _ = hostile.Write(packet) // some systems send no long ones
		if i == len(packets)-1 {
			require.NoError(t, hostile.Close()) // so that an answer does not arrive, which can be the error of the next call
		}
		for range 2 {
			var text string
			require.NoError(t, variant.Send(client.To(toServer), "ping"))
			require.NoError(t, variant.Receive(client, &text), i)
			require.Equal(t, "pingpong", text)
		}
	}
	require.NoError(t, server.Close())
	require.Equal(t, net.ErrClosed, <-ended)
}

func TestPacketConn(t *testing.T) {
	a, toA := packetConn(t.Context(), t, &stream.Options{IdleTimeout: long, MaxPacket: 1000})
	b, toB := packetConn(t.Context(), t, &stream.Options{WriteTimeout: long})
	raw := must(net.Dial("udp", toA.String()))(t)
	defer raw.Close()
	good := func(want int64, trailing int64) {
		d, err := a.Next()
		from := a.From()
		require.NoError(t, err)
		require.NotNil(t, from)
		require.Len(t, d.UnreadBuffer(), int(8+trailing))
		require.Equal(t, want, must(d.ReadToken())(t).Int())
		require.Equal(t, trailing, a.Trailing())
	}
	bad := func(check func(err error)) {
		_, err := a.Next()
		from := a.From()
		require.Equal(t, raw.LocalAddr().String(), from.String())
		check(err)
		require.True(t, stream.Skippable(err))
		require.Zero(t, a.Trailing())
	}

	require.NoError(t, b.To(toA).WritePacket(number(1)))
	good(1, 0)
	must(raw.Write(nil))(t)
	bad(func(err error) {
		var e *gdwire.Error
		require.ErrorAs(t, err, &e)
	})
	must(raw.Write(make([]byte, 1001)))(t)
	bad(func(err error) { requireTooLong(t, err, 1001, 1000) })
	must(raw.Write([]byte{2, 0, 0, 0, 5, 0, 0, 0, 9, 9, 9}))(t)
	good(5, 3)
	must(raw.Write([]byte{28, 0, 0, 0, 255, 255, 255, 127}))(t)
	require.True(t, stream.Skippable(must(a.Next())(t).SkipValue()))
	require.NoError(t, b.To(toA).WriteRaw(encoded(t, number(7))))
	good(7, 0)

	// The largest of UDP.
	require.NoError(t, a.To(toB).WriteRaw(encoded(t, number(8))))
	text := strings.Repeat("x", 65_507-8)
	require.NoError(t, b.To(toB).WritePacket(str(text[:65_496])))
	for _, want := range []int{4, 65_496} {
		d := must(b.Next())(t)
		if want == 4 {
			require.NoError(t, d.SkipValue())
			continue
		}
		must(d.ReadToken())(t)
		require.Len(t, must(d.AppendString(nil))(t), want)
	}

	require.ErrorIs(t, a.To(toB).WriteRaw(nil), gdwire.ErrCount)
	require.Equal(t, &stream.PacketTooLongError{Size: 1001, Max: 1000}, a.To(toB).WriteRaw(make([]byte, 1001)))
	require.Equal(t, &stream.PacketTooLongError{Size: 1008, Max: 1000}, a.To(toB).WritePacket(str(text[:1000])))
	require.ErrorIs(t, a.To(toB).WritePacket(func(*gdwire.Encoder) error { return nil }), gdwire.ErrCount)
}

func TestPacketConnEnds(t *testing.T) {
	c, to := packetConn(t.Context(), t, &stream.Options{IdleTimeout: short, WriteTimeout: long})
	require.ErrorIs(t, errOf(c.Next()), os.ErrDeadlineExceeded)
	require.NoError(t, c.To(to).WritePacket(number(1)))
	must(c.Next())(t)
	require.NoError(t, c.Close())
	_, err := c.Next()
	require.Equal(t, net.ErrClosed, err)
	require.Equal(t, net.ErrClosed, c.To(to).WritePacket(number(1)))

	own := errors.New("own")
	ctx, cancel := context.WithCancelCause(t.Context())
	c, _ = packetConn(ctx, t, nil)
	ended := make(chan error)
	go func() {
		_, err := c.Next()
		ended <- err
	}()
	cancel(own)
	require.Equal(t, own, <-ended)
}

// A longConn returns datagrams that are longer than UDP's.
type longConn struct{ net.PacketConn }

func (longConn) ReadFrom(p []byte) (int, net.Addr, error) {
	return len(p), &net.UDPAddr{}, nil
}

func TestLongDatagram(t *testing.T) {
	c := stream.NewPacketConn(t.Context(), longConn{must(net.ListenPacket("udp", "127.0.0.1:0"))(t)}, nil)
	defer c.Close()
	_, err := c.Next()
	requireTooLong(t, err, 65_537, 65_536)
}

// requireTooLong requires the error of a datagram that is too long.
func requireTooLong(t *testing.T, err error, size, most int64) {
	t.Helper()
	require.Equal(t, &stream.PacketTooLongError{Size: size, Max: most}, err)
	require.True(t, stream.Skippable(err))
}

// A refusing conn fails to read and write, with an error of the system.
type refusing struct {
	net.PacketConn
	err error
}

func (r refusing) ReadFrom([]byte) (int, net.Addr, error) { return 0, nil, r.opError("read") }
func (r refusing) WriteTo([]byte, net.Addr) (int, error)  { return 0, r.opError("write") }
func (r refusing) opError(op string) error                { return &net.OpError{Op: op, Net: "udp", Err: r.err} }

// TestPeerErrors distinguishes errors that concern one peer from those that concern all.
func TestPeerErrors(t *testing.T) {
	for _, c := range []struct {
		err         error
		read, write bool // skippable
	}{
		{syscall.ECONNREFUSED, true, true},
		{syscall.ECONNRESET, true, true},
		{syscall.EHOSTUNREACH, true, true},
		{syscall.EINVAL, false, true},
		{syscall.EMSGSIZE, false, true},
		{syscall.EPERM, false, true},
		{os.ErrDeadlineExceeded, false, false},
		{net.ErrClosed, false, false},
		{net.ErrWriteToConnected, false, false},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			pc := must(net.ListenPacket("udp", "127.0.0.1:0"))(t)
			conn := stream.NewPacketConn(t.Context(), refusing{pc, c.err}, nil)
			defer conn.Close()
			_, err := conn.Next()
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.read, stream.Skippable(err), "%v", err)
			for _, err := range []error{conn.To(pc.LocalAddr()).WritePacket(number(1)), conn.To(pc.LocalAddr()).WriteRaw([]byte{0, 0, 0, 0})} {
				require.ErrorIs(t, err, c.err)
				require.Equal(t, c.write, stream.Skippable(err), "%v", err)
			}
		})
	}
}

// TestUnanswerable answers peers that cannot be answered, then one that can.
func TestUnanswerable(t *testing.T) {
	a, to := packetConn(t.Context(), t, nil)
	port0 := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	for name, err := range map[string]error{
		"port 0":       a.To(port0).WritePacket(number(1)),
		"65,508 bytes": a.To(to).WriteRaw(make([]byte, 65_508)),
		"65,536 bytes": a.To(to).WriteRaw(make([]byte, 65_536)),
	} {
		var peer *stream.PeerError
		require.ErrorAs(t, err, &peer, name)
		require.NotNil(t, peer.Addr, name)
		require.Equal(t, peer.Err, peer.Unwrap(), name)
		require.ErrorContains(t, err, "gdwire/stream: datagram to 127.0.0.1:", name)
		require.True(t, stream.Skippable(err), name)
	}
	require.NoError(t, a.To(to).WritePacket(number(7)))
	require.EqualValues(t, 7, must(must(a.Next())(t).ReadInt())(t))
}
