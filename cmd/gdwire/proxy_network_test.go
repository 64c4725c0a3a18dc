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
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// numberedPackets returns packets with the numbers below n.
func numberedPackets(n int) (all [][]byte) {
	for i := range n {
		all = append(all, wire(2, i))
	}
	return all
}

// Over a bad network, a stream is late and stays the same, and a line at the end says what was done to it.
func TestProxyNetwork(t *testing.T) {
	for _, filtered := range []bool{false, true} {
		args := []string{"-delay", "2ms", "-jitter", "2ms", "-rate", "50Mbit", "-seed", "7"}
		what := "pieces"
		if filtered {
			args, what = append(args, "-drop-invalid", "-format", "godot4", "-frame", "u32"), "packets"
		}
		p := startProxy(t, serve(t, echo), args...)
		packets := framed(numberedPackets(1000)...)
		require.True(t, bytes.Equal(packets, p.exchange(t, packets)))
		r := p.end(t, 1)
		require.Contains(t, r.err, "from clients 1000 packets")
		require.Regexp(t, `gdwire: network with -seed 7: [0-9,]+ `+what+` took \S+ on average, \S+ at most\n`, r.err)
	}
}

// Without -seed, a seed is chosen and told.
func TestProxySeed(t *testing.T) {
	p := startProxy(t, serve(t, echo), "-delay", "1ms")
	packet := framed(wire(2, 5))
	require.Equal(t, packet, p.exchange(t, packet))
	require.Regexp(t, `network with -seed [0-9]+: 2 pieces took`, p.end(t, 1).err)
}

// Some messages of a WebSocket are lost, the same ones again with the same seed, and neither the handshake nor control
// frames.
func TestProxyDrop(t *testing.T) {
	var sent, pings []byte
	for _, packet := range numberedPackets(200) {
		sent = append(sent, webSocketMessage(true, 2, packet)...)
		sent = append(sent, webSocketMessage(true, 9, []byte("p"))...)
		pings = append(pings, webSocketMessage(true, 9, []byte("p"))...)
	}
	run := func(share, seed string) (arrived []byte, dropped string) {
		var got []byte
		ended := make(chan struct{})
		p := startProxy(t, serve(t, func(conn net.Conn) {
			defer close(ended)
			_, _ = io.WriteString(conn, upgradeResponse)
			got, _ = io.ReadAll(conn)
		}), "-drop", share, "-frame", "ws", "-seed", seed)
		back := p.exchange(t, append([]byte(upgradeRequest), sent...))
		require.Equal(t, upgradeResponse, string(back))
		<-ended
		r := p.end(t, 1)
		require.Contains(t, r.err, "from clients 200 packets")
		_, dropped, _ = strings.Cut(r.err, "at most; ")
		arrived, ok := bytes.CutPrefix(got, []byte(upgradeRequest))
		require.True(t, ok)
		return arrived, strings.TrimSuffix(dropped, "\n")
	}
	some, dropped := run("50%", "7")
	lost := (len(sent) - len(some)) / len(webSocketMessage(true, 2, wire(2, 0)))
	require.Greater(t, lost, 50)
	require.Less(t, lost, 150)
	require.Equal(t, fmt.Sprintf("%d were dropped", lost), dropped)
	again, _ := run("50%", "7")
	require.Equal(t, some, again)
	other, _ := run("50%", "8")
	require.NotEqual(t, some, other)
	none, dropped := run("100%", "7")
	require.Equal(t, pings, none)
	require.Equal(t, "200 were dropped", dropped)
}

// -cut ends a connection that would stay, and loses what is on its way.
func TestProxyCut(t *testing.T) {
	p := startProxy(t, serve(t, echo), "-cut", "50ms", "-delay", "1h")
	conn := p.dial(t)
	must(conn.Write(framed(wire(2, 5))))(t)
	got, _ := io.ReadAll(conn)
	require.Empty(t, got)
	r := p.end(t, 1)
	require.Contains(t, r.err, "gdwire: #1: cut after 50ms\n")
	require.Contains(t, r.err, "; 1 connections were cut\n")
	require.Contains(t, r.err, "from clients 1 packets")
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

// After -cut, a client of UDP goes on from another port, as behind a router that forgot it.
func TestProxyUDPCut(t *testing.T) {
	server := must(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	defer server.Close()
	p := startProxy(t, "udp:"+server.LocalAddr().String(), "-cut", "20ms")
	conn := p.dialUDP(t)
	ports, buf := map[string]bool{}, make([]byte, 100)
	for len(ports) < 3 {
		must(conn.Write(wire(2, 5)))(t)
		require.NoError(t, server.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
		if _, from, err := server.ReadFrom(buf); err == nil {
			ports[from.String()] = true
		}
	}
	interrupt(t)
	r := p.wait(t)
	for _, want := range []string{"#1: cut after 20ms\n", "#1: closed\n", "#3: from ", " connections were cut\n"} {
		require.Contains(t, r.err, want)
	}
}

// Godot 4 talks to a server over UDP, through a proxy that delays.
func TestProxyUDPEngine(t *testing.T) {
	engine := os.Getenv("GDWIRE_GODOT4")
	if engine == "" {
		t.Skip("skipped: no GDWIRE_GODOT4, so no engine was asked")
	}
	server := udpServer(t, func(packet []byte, reply func([]byte)) { reply(packet) })
	p := startProxy(t, server, "-delay", "20ms")
	_, port := must2(net.SplitHostPort(strings.TrimPrefix(p.addr, "udp:")))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, engine, "testdata/udp/main4.gd", port).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "same: 3\n")
	interrupt(t)
	r := p.wait(t)
	require.Contains(t, r.out, "#1 <- 40 {\"hp\":[1,2,3]}\n")
	require.Regexp(t, "network with -seed [0-9]+: 6 packets took 20ms on average, 20ms at most", r.err)
}

// Datagrams are dropped and arrive twice, the same ones again with the same seed; others arrive once and in order.
func TestProxyUDPNetwork(t *testing.T) {
	const count = 150
	run := func(seed string, args ...string) (got []byte, told string) {
		ended := make(chan []byte, 1)
		var arrived []byte
		server := udpServer(t, func(packet []byte, reply func([]byte)) {
			if packet[0] == 2 {
				arrived = append(arrived, packet[4])
			} else if arrived != nil {
				ended <- arrived
				arrived = nil
			}
		})
		p := startProxy(t, server, append(args, "-seed", seed)...)
		conn := p.dialUDP(t)
		for _, packet := range numberedPackets(count) {
			must(conn.Write(packet))(t)
		}
		for len(ended) == 0 { // it can be dropped, too
			must(conn.Write(wire(1, 1)))(t)
			runtime.Gosched()
		}
		interrupt(t)
		return <-ended, p.wait(t).err
	}
	args := []string{"-drop", "20%", "-duplicate", "10%", "-delay", "1ms", "-jitter", "1ms"}
	some, told := run("7", args...)
	require.Less(t, len(some), count)
	require.IsNonDecreasing(t, some)
	require.Regexp(t, `gdwire: network with -seed 7: .* packets took .*; [\d,]+ were dropped; .*[\d,]+ arrived twice`, told)
	again, _ := run("7", args...)
	require.Equal(t, some, again)
	other, _ := run("8", args...)
	require.NotEqual(t, some, other)
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
