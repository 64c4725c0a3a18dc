//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/stretchr/testify/require"
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

// udpServer answers datagrams, and returns its address.
func udpServer(t *testing.T, answer func(packet []byte, reply func([]byte))) string {
	conn := must(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			answer(bytes.Clone(buf[:n]), func(b []byte) { _, _ = conn.WriteTo(b, from) })
		}
	}()
	return "udp:" + conn.LocalAddr().String()
}

// dialUDP returns a socket to the proxy.
func (p *proxying) dialUDP(t *testing.T) net.Conn {
	addr, ok := strings.CutPrefix(p.addr, "udp:")
	require.True(t, ok)
	conn := must(net.Dial("udp", addr))(t)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// Datagrams of two clients are forwarded, shown and recorded. What is no value is forwarded, too.
func TestProxyUDP(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "game")
	echo := udpServer(t, func(packet []byte, reply func([]byte)) { reply(packet) })
	p := startProxy(t, echo, "-record", prefix, "-n", "8")
	first, second := p.dialUDP(t), p.dialUDP(t)
	buf := make([]byte, 100)
	for _, c := range []struct {
		conn net.Conn
		sent []byte
	}{
		{second, []byte("ENet or so")},
		{first, wire(2, 5)}, {second, wire(4, "two")}, {first, wire(28, 1, 99)},
		{first, wire(28, 2, 4, "move", 5, float32(1), float32(2.5))},
	} {
		must(c.conn.Write(c.sent))(t)
		if c.conn == first && len(c.sent) > 20 {
			break // its answer ends the proxy
		}
		require.Equal(t, c.sent, buf[:must(c.conn.Read(buf))(t)])
	}
	r := p.wait(t)
	require.Zero(t, r.status, r.err)
	for _, want := range []string{"#2 -> 8 5\n", "#2 <- 8 5\n", "#1 -> 12 \"two\"\n", "#2 -> 12 invalid: ", "#2 <- 32 [\"move\",[1.0,2.5]]\n"} {
		require.Contains(t, r.out, want)
	}
	require.Contains(t, r.err, "#1: -> no packets of Godot were recognized, so datagrams are only forwarded until one is")
	require.Contains(t, r.err, "2 connections; from clients 4 packets, 74 bytes; from the server 4 packets, 74 bytes; 2 invalid")
	shown := runWith(nil, "json", "-frame", "u32", prefix+"-1-client.bin")
	require.Contains(t, shown.out, "\"s:two\"\n", shown.err)
	shown = runWith(nil, "check", "-frame", "u32", prefix+"-2-server.bin")
	require.Contains(t, shown.out, "2 good, 1 bad", shown.err)
}

// Godot 4 talks to a server over UDP, through a proxy.
func TestProxyUDPEngine(t *testing.T) {
	engine := os.Getenv("GDWIRE_GODOT4")
	if engine == "" {
		t.Skip("skipped: no GDWIRE_GODOT4, so no engine was asked")
	}
	server := udpServer(t, func(packet []byte, reply func([]byte)) { reply(packet) })
	p := startProxy(t, server)
	_, port := must2(net.SplitHostPort(strings.TrimPrefix(p.addr, "udp:")))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, engine, "testdata/udp/main4.gd", port).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "same: 3\n")
	interrupt(t)
	r := p.wait(t)
	require.Contains(t, r.out, "#1 <- 40 {\"hp\":[1,2,3]}\n")
}

// certificateOf writes the certificate of a server into a file, which the proxy's environment names.
func certificateOf(t *testing.T, s *httptest.Server) (env string) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: certificates come from the environment on Linux only")
	}
	name := filepath.Join(t.TempDir(), "cert.pem")
	require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	return "SSL_CERT_FILE=" + name
}

// throughTLS sends bytes through a proxy to a target behind TLS, and returns what comes back, and the lines of the proxy until the
// connection is closed.
func throughTLS(t *testing.T, env, target string, sent []byte) (got []byte, told string) {
	command := exec.Command("gdwire", "proxy", "127.0.0.1:0", target)
	command.Env = append(os.Environ(), env)
	p := startCommand(t, command)
	got = p.exchange(t, sent)
	for !strings.Contains(told, "closed\n") && !strings.Contains(told, "certificate") {
		told += must(p.errs.ReadString('\n'))(t)
	}
	go io.Copy(io.Discard, p.errs)
	require.NoError(t, p.command.Process.Signal(os.Interrupt))
	require.NoError(t, p.stop())
	return got, told
}

// A target behind TLS is reached only if its certificate is valid.
func TestProxyTLS(t *testing.T) {
	s := httptest.NewTLSServer(nil) // of which the certificate is used
	defer s.Close()
	env := certificateOf(t, s)
	ln := must(tls.Listen("tcp", "127.0.0.1:0", s.TLS.Clone()))(t)
	defer ln.Close()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	packets := framed(wire(2, 5), wire(4, "two"))
	got, _ := throughTLS(t, env, "tls:"+ln.Addr().String(), packets)
	require.Equal(t, packets, got)
	got, told := throughTLS(t, "SSL_CERT_FILE=/dev/null", "tls:"+ln.Addr().String(), packets)
	require.Empty(t, got)
	require.Contains(t, told, "#1: tls: failed to verify certificate")
}

// The request of a client goes to a server wss://HOST/PATH as one for this host and path.
func TestProxyWSS(t *testing.T) {
	message := webSocketMessage(true, 2, wire(2, 5))
	requests := make(chan string, 10)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Host + r.RequestURI
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, upgradeResponse)
		_, _ = io.CopyN(conn, bufio.NewReader(rw), int64(len(message)))
	}))
	defer s.Close()
	host := s.Listener.Addr().String()
	got, _ := throughTLS(t, certificateOf(t, s), "wss://"+host+"/game?room=1", append([]byte(upgradeRequest), message...))
	require.Equal(t, upgradeResponse+string(message), string(got))
	require.Equal(t, host+"/game?room=1", <-requests)
}

// TestReadOnlyFolder: a file in a folder where nothing can be created stays as it was. Root
// could create one, so the command then runs as another user.
func TestReadOnlyFolder(t *testing.T) {
	folder := t.TempDir()
	old := must(os.ReadFile(testdata("godot4.7-dev", "put_var.bin")))(t)
	b := must(os.ReadFile(must(os.Executable())(t)))(t)
	command := filepath.Join(folder, "gdwire") // which the other user can reach
	require.NoError(t, os.WriteFile(command, b, 0o755))
	file := filepath.Join(folder, "file")
	require.NoError(t, os.WriteFile(file, old, 0o644))
	require.NoError(t, os.Chmod(filepath.Dir(folder), 0o755))
	require.NoError(t, os.Chmod(folder, 0o555))
	defer func() { require.NoError(t, os.Chmod(folder, 0o755)) }()

	for _, args := range []string{"recode FILE -o FILE", "recode FILE -o FILE.new", "json FILE -o FILE", "set -q $1=5 FILE -o FILE"} {
		t.Run(args, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), command, strings.Fields(strings.ReplaceAll(args, "FILE", file))...)
			c.Dir = folder
			if os.Getuid() == 0 {
				const nobody = 65534
				c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			}
			out, err := c.CombinedOutput()
			require.Error(t, err)
			require.Equal(t, statusBad, c.ProcessState.ExitCode(), "%s", out)
			require.Contains(t, string(out), "permission denied")
			require.Equal(t, old, must(os.ReadFile(file))(t))
			require.Len(t, must(os.ReadDir(folder))(t), 2, "a temporary file is left")
		})
	}
}

// TestClosedErrors: a command whose messages nobody reads finishes its work, and leaves no
// temporary file.
func TestClosedErrors(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	require.NoError(t, os.WriteFile(file, wire(27, 1, 4, "hp", 2, 10), 0o600))
	r, w := must2(os.Pipe())(t)
	require.NoError(t, r.Close())
	defer w.Close()
	c := exec.CommandContext(t.Context(), "gdwire", "set", "hp = 99", file, "-o", file)
	c.Stderr = w
	require.NoError(t, c.Run())
	require.Equal(t, wire(27, 1, 4, "hp", 2, 99), must(os.ReadFile(file))(t))
	require.Len(t, must(os.ReadDir(folder))(t), 1, "a temporary file is left")
}

// TestSpool: packets of any size follow each other in a pipe, each after its length. Without a file for the large ones, the command
// ends before their first byte.
func TestSpool(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	var in, want []byte
	for _, n := range []int{1, 256<<10 - 13, 256<<10 - 12, 256<<10 - 11, 600 << 10, 300 << 10, 5} {
		v := append(wire(4, n), strings.Repeat("x", (n+3)&^3)...)
		copy(v[8+n:], "\x00\x00\x00")
		in, want = append(in, v...), append(want, framed(v)...)
	}
	args := strings.Fields("recode -format godot4 -frame none -to u32")
	var out, errs bytes.Buffer
	require.Zero(t, run(args, bytes.NewReader(in), &out, &errs), &errs)
	require.True(t, bytes.Equal(want, out.Bytes()))
	require.Empty(t, must(os.ReadDir(folder))(t))

	t.Setenv("TMPDIR", filepath.Join(folder, "missing"))
	out.Reset()
	require.Equal(t, statusBad, run(strings.Fields("recode -format godot4 -frame u32"), bytes.NewReader(want[16:]), &out, &errs))
	require.Contains(t, errs.String(), "no such file or directory")
	require.True(t, bytes.HasPrefix(want[16:], out.Bytes()), "no packet is left out")
	require.Less(t, out.Len(), 3<<18)
}
