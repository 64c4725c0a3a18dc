package traffic

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/address"
)

// A target is the server of a proxy.
type target struct {
	text   string // as named by the user
	addr   string // for package address, or HOST:PORT of UDP
	udp    bool
	secure bool     // over TLS
	url    *url.URL // of a WebSocket, or nil if clients name it
}

// The schemes of targets besides those of package address.
const (
	udpScheme = "udp:"
	tlsScheme = "tls:"
)

// parseTarget returns the target HOST:PORT, unix:PATH, tls:HOST:PORT, udp:HOST:PORT, ws://HOST/PATH or
// wss://HOST/PATH.
func parseTarget(text string) (t target, err error) {
	t.text = text
	if scheme, _, ok := strings.Cut(text, "://"); ok && scheme != "unix" {
		if t.url, err = url.Parse(text); err != nil {
			return t, err
		}
		port := map[string]string{"ws": "80", "wss": "443"}[t.url.Scheme]
		if port == "" || t.url.Hostname() == "" || t.url.User != nil {
			return t, fmt.Errorf("%q is no target: want HOST:PORT, unix:PATH, tls:HOST:PORT, udp:HOST:PORT, ws://HOST/PATH or wss://HOST/PATH", text)
		}
		t.secure = t.url.Scheme == "wss"
		t.addr = net.JoinHostPort(t.url.Hostname(), cmp.Or(t.url.Port(), port))
		return t, nil
	}
	t.addr = text
	if rest, ok := strings.CutPrefix(text, udpScheme); ok {
		t.addr, t.udp = rest, true
	} else if rest, ok := strings.CutPrefix(text, tlsScheme); ok {
		t.addr, t.secure = rest, true
		if strings.HasPrefix(rest, "unix:") {
			return t, errors.New("tls: needs HOST:PORT, whose certificate is verified")
		}
	}
	return t, shell.CompleteAddress(&t.addr)
}

// handshakeTime is the time to connect over TLS.
const handshakeTime = 10 * time.Second

// dial connects to the target. Over TLS, the server's certificate must be one for the host.
func (t *target) dial(ctx context.Context) (net.Conn, error) {
	if !t.secure {
		return address.Dial(ctx, t.addr)
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	d := &tls.Dialer{Config: &tls.Config{}}
	if t.url != nil {
		d.Config.NextProtos = []string{"http/1.1"} // for the start of a WebSocket
	}
	return d.DialContext(ctx, "tcp", t.addr)
}

// listenAddress returns the address at which a proxy for the target listens, completed.
func (t *target) listenAddress(addr string) (string, error) {
	addr, udp := strings.CutPrefix(addr, udpScheme)
	switch network, _ := address.Split(addr); {
	case udp && !t.udp:
		return "", errors.New("only a target udp:HOST:PORT can be reached over UDP")
	case t.udp && network == "unix":
		return "", errors.New("a target of UDP is reached over UDP: LISTEN is a port or HOST:PORT")
	case strings.HasPrefix(addr, tlsScheme) || strings.Contains(addr, "://") && network != "unix":
		return "", errors.New("the proxy listens without TLS, for WebSockets too: LISTEN is a port, HOST:PORT or unix:PATH")
	}
	err := shell.CompleteAddress(&addr)
	return addr, err
}
