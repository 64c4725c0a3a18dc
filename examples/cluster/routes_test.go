package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.sign("authority", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign writes the files of a certificate, NAME.pem and NAME-key.pem, which the authority signs, or the
// certificate itself if there is no authority yet.
func (a *authority) sign(name string, cert *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	cert.SerialNumber, cert.NotAfter = big.NewInt(1), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = cert, key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, signer)
	require.NoError(a.t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	for file, block := range map[string]*pem.Block{
		name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + "-key.pem": {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		require.NoError(a.t, os.WriteFile(filepath.Join(a.dir, file), pem.EncodeToMemory(block), 0o600))
	}
	cert, err = x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return cert, key
}

// flags returns the flags of a process on this machine, which trusts an authority.
func (a *authority) flags(trusted *authority) []string {
	a.sign("process", &x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return []string{
		"-route-cert", filepath.Join(a.dir, "process.pem"), "-route-key", filepath.Join(a.dir, "process-key.pem"),
		"-route-ca", filepath.Join(trusted.dir, "authority.pem"),
	}
}

// TestRouteSecrets starts three processes, of which one has another password or certificate than the
// others: they have no route to it, and it has none to them.
func TestRouteSecrets(t *testing.T) {
	t.Parallel()
	ours, theirs := newAuthority(t), newAuthority(t)
	password := func(text string) []string { return []string{"-route-user", "rooms", "-route-password", text} }
	for _, c := range []struct {
		name        string
		good, wrong []string
	}{
		{"password", password("secret"), password("guessed")},
		{"no password", password("secret"), nil},
		{"certificate", ours.flags(ours), theirs.flags(ours)},
		{"no TLS", ours.flags(ours), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			first := startJoined(t, nil, c.good...)
			wrong := startProcess(t, append(c.wrong, "-join", first.routes)...)
			second := startJoined(t, first, c.good...)
			wrong.printedAddr("routes")
			wrong.serving() // alone
			a, b, stranger := first.connect("a"), second.connect("a"), wrong.connect("a")
			a.echo(1)
			b.expect(a.id, 1)
			b.echo(2)
			a.expect(b.id, 2)
			stranger.echo(3)
			a.echo(4) // which has not heard the stranger's
			b.expect(a.id, 4)
			stranger.echo(5)
			require.Zero(t, wrong.count("routes"))
		})
	}
}

// A link carries connections to the routes of a process, unless it is cut.
type link struct {
	t    *testing.T
	addr string // of its own

	mu     sync.Mutex
	routes string       // the address of the process; "" if it has not started
	ln     net.Listener // nil if the link is cut
	conns  []net.Conn
}

func newLink(t *testing.T) *link {
	l := &link{t: t, addr: "127.0.0.1:0"}
	l.restore()
	t.Cleanup(l.cut)
	return l
}

// restore ends a cut.
func (l *link) restore() {
	require.Eventually(l.t, func() bool { // another program can use the port
		ln, err := net.Listen("tcp", l.addr)
		if err != nil {
			return false
		}
		l.addr = ln.Addr().String()
		l.mu.Lock()
		l.ln = ln
		l.mu.Unlock()
		go l.accept(ln)
		return true
	}, patience, time.Millisecond)
}

// cut closes the connections, and refuses others.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.ln.Close()
	l.ln = nil
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

// setRoutes sets the address of the process.
func (l *link) setRoutes(addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.routes = addr
}

func (l *link) accept(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		l.carry(ln, conn)
	}
}

// carry carries what is sent over a connection, or closes it.
func (l *link) carry(ln net.Listener, conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	route, err := net.Dial("tcp", l.routes)
	if err != nil {
		_ = conn.Close()
		return
	}
	if l.ln != ln { // it was cut meanwhile
		_, _ = conn.Close(), route.Close()
		return
	}
	l.conns = append(l.conns, conn, route)
	for _, ends := range [][2]net.Conn{{conn, route}, {route, conn}} {
		go func() {
			_, _ = io.Copy(ends[0], ends[1])
			_ = ends[0].Close()
		}()
	}
}

// TestClusterCut cuts the routes between two processes that know each other from a third, which has ended, for
// longer than NATS tries to connect by itself. A member who has missed a packet is told when they are
// connected again, and joins the other, who stayed.
func TestClusterCut(t *testing.T) {
	t.Parallel()
	first := startJoined(t, nil)
	links := []*link{newLink(t), newLink(t)}
	processes := make([]*process, 2)
	for i, l := range links {
		processes[i] = startProcess(t, "-join", first.routes, "-advertise", l.addr)
		l.setRoutes(processes[i].printedAddr("routes"))
		processes[i].serving()
	}
	for _, p := range processes {
		p.know(3)
	}
	a, b := processes[0].connect("a"), processes[1].connect("a")
	a.echo(1)
	b.expect(a.id, 1)
	require.NoError(t, first.Process.Kill())
	for _, l := range links {
		l.cut()
	}
	tick := time.NewTicker(time.Second / 10)
	defer tick.Stop()
	for n := range 40 {
		<-tick.C
		a.echo(n)
	}
	for _, l := range links {
		l.restore()
	}
	b.expectEnd()
	b = processes[1].connect("a")
	b.echo(3)
	a.expect(b.id, 3)
}
