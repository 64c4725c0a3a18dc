//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
			noticed := strings.Contains(r.err, "this is HTTP, so packets are taken to be WebSocket messages")
			require.Equal(t, !slices.Contains(args, "ws"), noticed, r.err)
			recorded := must(os.ReadFile(prefix + "-1-client.bin"))(t)
			require.Equal(t, sent, recorded)
		})
	}
}

// TestProxyExtensions takes extensions out of the handshake, and says so.
func TestProxyExtensions(t *testing.T) {
	request := strings.Replace(upgradeRequest, "Sec-WebSocket-Key", "sec-websocket-Extensions: permessage-deflate; client_max_window_bits,\r\n\tx\r\nSec-WebSocket-Key", 1)
	message := string(webSocketMessage(true, 2, wire(2, 5)))
	p := startProxy(t, serve(t, echo))
	require.Equal(t, upgradeRequest+message, string(p.exchange(t, []byte(request+message))))
	r := p.end(t, 1)
	require.Contains(t, r.out, " -> 8 5\n")
	require.Contains(t, r.err, "#1: -> the extensions were taken out of the WebSocket handshake, because compressed messages cannot be shown")
}

// A request is passed on when its head has ended, by whichever line ends.
func TestProxyHeadEnds(t *testing.T) {
	sent := append([]byte(lineFeeds(upgradeRequest)), webSocketMessage(true, 2, wire(2, 5))...)
	p := startProxy(t, serve(t, echo), "-drop-invalid", "-frame", "ws")
	require.Equal(t, sent, p.exchange(t, sent))
	require.Contains(t, p.end(t, 1).out, " -> 8 5\n")
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
