//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// TestProxyWebSocket shows binary messages as packets, and notices WebSocket by
// itself; godot3 by the first message that tells.
func TestProxyWebSocket(t *testing.T) {
	large := wire(20, 70_000, make([]byte, 70_000))
	back := append([]byte(upgradeResponse), webSocketMessage(false, 2, wire(18, 1, 4, "hp", 2, 5))...)
	server := serve(t, func(conn net.Conn) {
		_, _ = conn.Write(back)
		_, _ = io.Copy(io.Discard, conn)
	})
	sent := append([]byte(upgradeRequest), webSocketMessage(true, 2, wire(2, 5))...)
	sent = append(sent, webSocketMessage(true, 9, []byte("ping"))...)
	bad := webSocketMessage(true, 2, wire(99))
	sent = append(sent, bad...)
	sent = append(sent, webSocketMessage(true, 1, []byte("text"))...)
	dict := wire(18, 1, 4, "a", 1, 1)
	sent = append(sent, webSocketMessage(true, 2, dict[:7], dict[7:20], dict[20:])...)
	sent = append(sent, webSocketMessage(true, 2, large)...)
	for _, args := range [][]string{nil, {"-frame", "ws"}, {"-drop-invalid"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			prefix := filepath.Join(t.TempDir(), "ws")
			p := startProxy(t, server, append(args, "-record", prefix)...)
			require.Equal(t, back, p.exchange(t, sent))
			r := p.end(t, 1)
			for _, want := range []string{" -> 8 5\n", " -> 4 invalid: ", ` -> 28 {"a":true}`, " -> 70008 ", ` <- 28 {"hp":5}`} {
				require.Contains(t, r.out, want)
			}
			require.NotContains(t, r.err, "only forwarded")
			require.Contains(t, r.err, "1 invalid")
			recorded, err := os.ReadFile(prefix + "-1-client.bin")
			require.NoError(t, err)
			require.Equal(t, sent, recorded)
		})
	}
}

// message returns a WebSocket message in one frame or more.
func webSocketMessage(masked bool, opcode byte, parts ...[]byte) (b []byte) {
	for i, part := range parts {
		first := opcode
		if i > 0 {
			first = 0
		}
		if i == len(parts)-1 {
			first |= 0x80
		}
		mask := byte(0)
		if masked {
			mask = 0x80
		}
		b = append(b, first)
		switch n := len(part); {
		case n < 126:
			b = append(b, mask|byte(n))
		case n < 1<<16:
			b = binary.BigEndian.AppendUint16(append(b, mask|126), uint16(n))
		default:
			b = binary.BigEndian.AppendUint64(append(b, mask|127), uint64(n))
		}
		if !masked {
			b = append(b, part...)
			continue
		}
		key := [4]byte{1, 2, 3, byte(i)}
		b = append(b, key[:]...)
		for j, c := range part {
			b = append(b, c^key[j&3])
		}
	}
	return b
}

const (
	upgradeRequest  = "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
	upgradeResponse = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
)

// TestProxyExtensions takes extensions out of the handshake, in any pieces, and forwards
// everything else unchanged.
func TestProxyExtensions(t *testing.T) {
	const extensions = "sec-websocket-Extensions: permessage-deflate; client_max_window_bits,\r\n\tx\r\n"
	request := strings.Replace(upgradeRequest, "Sec-WebSocket-Key", extensions+"Sec-WebSocket-Key", 1)
	message := string(webSocketMessage(true, 2, wire(2, 5)))
	for _, c := range []struct{ name, sent, want string }{
		{"one", request + message, upgradeRequest + message},
		{"none", upgradeRequest + message, upgradeRequest + message},
		{"line feeds", lineFeeds(request) + message, lineFeeds(upgradeRequest) + message},
		{"line feeds at last", strings.TrimSuffix(request, "\r\n") + "\n" + message, strings.TrimSuffix(upgradeRequest, "\r\n") + "\n" + message},
		{"cut", request[:100], request[:100]},
		{"no WebSocket", "GETS " + request, "GETS " + request},
		{"too long", "GET /" + strings.Repeat("x", maxHTTP) + request, "GET /" + strings.Repeat("x", maxHTTP) + request},
		{"short", "GE", "GE"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.sent), iotest.OneByteReader(strings.NewReader(c.sent)), iotest.DataErrReader(strings.NewReader(c.sent))} {
				removed := 0
				got, err := io.ReadAll(&handshakeReader{r: r, removed: func() { removed++ }})
				require.NoError(t, err)
				require.Equal(t, c.want, string(got))
				require.Equal(t, c.sent != c.want, removed == 1)
			}
		})
	}
	p := startProxy(t, serve(t, echo))
	require.Equal(t, upgradeRequest+message, string(p.exchange(t, []byte(request+message))))
	r := p.end(t, 1)
	require.Contains(t, r.out, " -> 8 5\n")
	require.Contains(t, r.err, "#1: -> the extensions were taken out of the WebSocket handshake, because compressed messages cannot be shown")
}

// lineFeeds returns text with line feeds alone.
func lineFeeds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// A request is passed on when its head has ended, by whichever line ends.
func TestProxyHeadEnds(t *testing.T) {
	for _, request := range []string{upgradeRequest, lineFeeds(upgradeRequest)} {
		waits := errors.New("waits")
		h := &handshakeReader{r: io.MultiReader(strings.NewReader(request), iotest.ErrReader(waits))}
		got := make([]byte, len(request))
		_, err := io.ReadFull(h, got)
		require.NoError(t, err)
		require.Equal(t, request, string(got))
		require.NoError(t, h.err)
	}
	sent := append([]byte(lineFeeds(upgradeRequest)), webSocketMessage(true, 2, wire(2, 5))...)
	p := startProxy(t, serve(t, echo), "-drop-invalid", "-frame", "ws")
	require.Equal(t, sent, p.exchange(t, sent))
	require.Contains(t, p.end(t, 1).out, " -> 8 5\n")
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
		_, err := m.webSocket()
		require.ErrorContains(t, err, "too many fragments", name)
		require.Less(t, m.raw.Len(), 1<<17)
	}
	packet := bytes.Repeat([]byte{7}, 1<<20)
	var parts [][]byte
	for i := range packet {
		parts = append(parts, packet[i:i+1])
	}
	m := &messages{r: bytes.NewReader(webSocketMessage(true, 2, parts...)), max: 1 << 20}
	got, err := m.webSocket()
	require.NoError(t, err)
	require.True(t, bytes.Equal(packet, got.packet))
}

// TestProxyLargeMessage reports the size of a message, and not of its last fragment.
func TestProxyLargeMessage(t *testing.T) {
	p := startProxy(t, serve(t, echo), "-max-packet", "100")
	part := make([]byte, 40)
	sent := append([]byte(upgradeRequest), webSocketMessage(true, 2, part, part, part)...)
	require.Equal(t, sent, p.exchange(t, sent))
	require.Contains(t, p.end(t, 1).err, "-> a packet of at least 120 bytes exceeds the limit; raise it with -max-packet")
}

// TestProxyEmptyPacket says that a packet is empty.
func TestProxyEmptyPacket(t *testing.T) {
	p := startProxy(t, serve(t, echo), "-format", "godot4", "-frame", "u32")
	p.exchange(t, framed(nil))
	require.Contains(t, p.end(t, 1).out, "-> 0 invalid: empty packet\n")
}
