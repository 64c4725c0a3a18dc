//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
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
