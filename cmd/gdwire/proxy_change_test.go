//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

// Packets: an attack, one whose damage is no number, a chat, and others.
var (
	attack  = wire(27, 2, 4, "kind", 4, "attack", 4, "damage", 2, 5)
	strange = wire(27, 1, 4, "damage", 4, "much")
	chat    = wire(27, 1, 4, "chat", 4, "hello")
	move    = wire(28, 2, 4, "move", 2, 7)
	stay    = wire(28, 2, 4, "stay", 2, 7)
	changed = wire(27, 2, 4, "kind", 4, "attack", 4, "damage", 2, 100)
)

// changes are flags that change attacks, and drop chats and moves.
var changes = []string{"-set", "damage = 100", "-drop-if", "chat", "-drop-if", `[0] = "move"`}

// -set changes the packets that have a value of its type, and -drop-if drops packets. What arrived is recorded.
func TestProxyChanges(t *testing.T) {
	for name, frame := range map[string]func(...[]byte) []byte{"u32": framed, "u32be": framedBig} {
		t.Run(name, func(t *testing.T) {
			prefix := filepath.Join(t.TempDir(), "game")
			p := startProxy(t, serve(t, echo), append(changes, "-record", prefix, "-frame", name, "-format", "godot4")...)
			sent := frame(attack, chat, strange, wire(99), move, stay, wire(2, 5))
			require.Equal(t, frame(changed, strange, wire(99), stay, wire(2, 5)), p.exchange(t, sent))
			r := p.end(t, 1)
			for _, want := range []string{
				`#1 -> 60 {"kind":"attack","damage":100}`, `#1 <- 60 {"kind":"attack","damage":100}`, `#1 -> 36 dropped: {"chat":"hello"}`, `#1 -> 28 dropped: ["move",7]`,
			} {
				require.Contains(t, r.out, want)
			}
			require.Contains(t, r.err, `#1: -> -set "damage = 100": $.damage is of type String and not int; such packets are forwarded without it`)
			require.Contains(t, r.err, "1 packets were changed by -set, and 2 dropped by -drop-if")
			require.Equal(t, sent, must(os.ReadFile(prefix+"-1-client.bin"))(t))
			require.Equal(t, 5, bytes.Count(must(os.ReadFile(prefix+".index.jsonl"))(t), []byte(`"->"`)))
		})
	}
}

// With -skip, a type byte is shown before the value, and kept before one that is changed. A second value is kept after it.
func TestProxySkip(t *testing.T) {
	typed := func(value []byte) []byte { return append([]byte{7}, value...) }
	compressed := must(fileaccess.Compress(nil, attack, fileaccess.Zstd))(t)
	sent := [][]byte{typed(attack), typed(stay), {7}, typed(compressed), typed(append(bytes.Clone(attack), stay...))}
	for name, frame := range map[string]func(...[]byte) []byte{"u32": framed, "u32be": framedBig} {
		for _, flags := range [][]string{nil, {"-frame", name, "-format", "godot4"}} {
			p := startProxy(t, serve(t, echo), append(flags, "-skip", "1", "-set", "damage = 100")...)
			got := p.exchange(t, frame(sent...))
			require.True(t, bytes.HasPrefix(got, frame(typed(changed), typed(stay), []byte{7})), "%x", got)
			r := p.end(t, 1)
			for _, want := range []string{
				`#1 -> 61 0x07 {"kind":"attack","damage":100}`, `#1 <- 61 0x07 {"kind":"attack","damage":100}`, `#1 -> 29 0x07 ["stay",7]`,
				`#1 -> 1 0x07 invalid: empty packet`, `zstd 0x07 {"kind":"attack","damage":100}`, `0x07 {"kind":"attack","damage":100}, 28 bytes follow: ["stay",7]`,
			} {
				require.Contains(t, r.out, want)
			}
		}
	}
	p := startProxy(t, serve(t, echo)) // without -skip, it is proposed once
	p.exchange(t, framed(typed(attack), typed(stay), typed(stay), typed(stay)))
	r := p.end(t, 1)
	require.Equal(t, 1, strings.Count(r.err, "the values of several packets begin at byte 1: -skip 1 shows them"))
	p = startProxy(t, udpServer(t, func(packet []byte, reply func([]byte)) { reply(packet) }))
	conn := p.dialUDP(t)
	for range 3 {
		must(conn.Write(typed(stay)))(t)
	}
	for !strings.Contains(p.line(t), "begin at byte 1: -skip 1 shows them") {
	}
	interrupt(t)
	p.wait(t)
	p = startProxy(t, udpServer(t, func(packet []byte, reply func([]byte)) { reply(packet) }), "-skip", "1", "-json", "-n", "2")
	must(p.dialUDP(t).Write(typed(stay)))(t)
	require.Contains(t, p.wait(t).out, `"direction":"<-","size":29,"skipped":"07","value":["s:stay","i:7"]}`)
}

// A changed message of a WebSocket is one frame, masked if it is the client's. Control frames inside stay, and other messages
// stay as they are.
func TestProxyChangesWebSocket(t *testing.T) {
	ping := webSocketMessage(true, 9, []byte("p"))
	parts := webSocketMessage(true, 2, attack[:10], attack[10:])
	parts = append(append(bytes.Clone(parts[:16]), ping...), parts[16:]...)
	other := webSocketMessage(true, 2, stay[:5], stay[5:])
	sent := bytes.Join([][]byte{[]byte(upgradeRequest), parts, webSocketMessage(true, 2, chat), other}, nil)
	var got []byte
	ended := make(chan struct{})
	p := startProxy(t, serve(t, func(conn net.Conn) {
		defer close(ended)
		_, _ = conn.Write(append([]byte(upgradeResponse), webSocketMessage(false, 2, attack)...))
		got, _ = io.ReadAll(conn)
	}), append(changes, "-json")...)
	back := p.exchange(t, sent)
	require.Equal(t, append([]byte(upgradeResponse), webSocketMessage(false, 2, changed)...), back)
	<-ended
	got, ok := bytes.CutPrefix(got, append([]byte(upgradeRequest), ping...))
	require.True(t, ok)
	require.Equal(t, []byte{0x82, 0x80 | byte(len(changed))}, got[:2])
	for i := range changed {
		require.Equal(t, changed[i], got[6+i]^got[2+i&3])
	}
	require.Equal(t, other, got[6+len(changed):])
	require.Contains(t, p.end(t, 1).out, `"dropped":true,"value":{"type":"Dictionary","args":["s:chat","s:hello"]}}`)
}

// -set and -drop-if look into packets that a script compressed. A packet is written again in its mode.
func TestProxyChangesCompressed(t *testing.T) {
	for mode := fileaccess.FastLZ; mode <= fileaccess.Gzip; mode++ {
		t.Run(mode.String(), func(t *testing.T) {
			compressed := func(value []byte) []byte {
				return must(fileaccess.Compress(nil, value, mode))(t)
			}
			var got []byte
			ended := make(chan struct{})
			p := startProxy(t, serve(t, func(conn net.Conn) {
				defer close(ended)
				got, _ = io.ReadAll(conn)
			}), append(changes, "-frame", "u32", "-format", "godot4")...)
			sent := [][]byte{compressed(attack), compressed(chat), compressed(strange), compressed(move), compressed(stay), attack}
			p.exchange(t, framed(sent...))
			<-ended
			require.Equal(t, framed(compressed(changed), sent[2], sent[4], changed), got)
			r := p.end(t, 1)
			require.Contains(t, r.out, fmt.Sprintf(`#1 -> %d %v {"kind":"attack","damage":100}`, len(compressed(changed)), mode))
			require.Contains(t, r.out, fmt.Sprintf(`#1 -> %d %v dropped: {"chat":"hello"}`, len(compressed(chat)), mode))
			require.Contains(t, r.err, "2 packets were changed by -set, and 2 dropped by -drop-if")
		})
	}
}

func TestProxyChangesUDP(t *testing.T) {
	p := startProxy(t, udpServer(t, func(packet []byte, reply func([]byte)) { reply(packet) }), changes...)
	conn := p.dialUDP(t)
	for _, packet := range [][]byte{chat, attack} {
		must(conn.Write(packet))(t)
	}
	buf := make([]byte, 100)
	require.Equal(t, changed, buf[:must(conn.Read(buf))(t)])
	interrupt(t)
	require.Contains(t, p.wait(t).err, "1 packets were changed by -set, and 1 dropped by -drop-if")
}

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
			require.Equal(t, sent, must(os.ReadFile(prefix+"-1-client.bin"))(t))
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
