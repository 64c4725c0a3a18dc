package main

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"expvar"
	"fmt"
	"log"
	"math"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// connect connects h to NATS, and returns a function to end the connection.
func (h *hub) connect() (end func(), err error) {
	if *cluster != "" {
		if err := h.dial(*cluster); err != nil {
			return nil, err
		}
		return h.close, nil
	}
	ns, token, err := startNATS()
	if err != nil {
		return nil, err
	}
	if err := h.dial("", nats.InProcessServer(ns), nats.Token(token)); err != nil {
		return nil, err
	}
	fmt.Println("routes", ns.ClusterAddr())
	expvar.Publish("routes", expvar.Func(func() any { return ns.NumRoutes() }))
	return func() { h.close(); ns.Shutdown() }, nil
}

// close ends the connection to NATS after sending everything.
func (h *hub) close() {
	_ = h.nc.Publish(goneSubject, h.number())
	_ = h.nc.FlushTimeout(time.Second)
	h.nc.Close()
}

// dial connects h to a NATS server. While the connection is lost, packets are refused and not kept,
// because old packets are useless to a game.
func (h *hub) dial(url string, o ...nats.Option) (err error) {
	h.nc, err = nats.Connect(url, append(o,
		nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.RetryOnFailedConnect(true),
		nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
			if !nc.IsClosed() { // by this process
				h.missed("connection to NATS lost", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { h.missed("packets lost", err) }),
		nats.ReconnectHandler(func(*nats.Conn) { log.Print("connected to NATS again") }))...)
	return err
}

// startNATS starts the NATS server of this process. Clients need the token.
func startNATS() (ns *server.Server, token string, err error) {
	host, port, err := net.SplitHostPort(*routes)
	if err != nil {
		return nil, "", err
	}
	// Routes need a listener for clients of NATS, too. The token keeps other processes out.
	token = rand.Text()
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, Authorization: token}
	o.Cluster.Name, o.Cluster.Host = "rooms", host
	o.Cluster.Username, o.Cluster.Password = *user, *password
	o.Cluster.ConnectRetries = math.MaxInt32 // also to processes known from others
	// A process that was paused or cut off does not receive old packets later, but learns that they are
	// lost.
	o.Cluster.WriteDeadline = *silence / 2
	o.Cluster.PingInterval, o.Cluster.MaxPingsOut = *silence/2, 2
	o.Cluster.Advertise = *public
	if o.Cluster.TLSConfig, err = routeTLS(); err != nil {
		return nil, "", err
	}
	o.Cluster.TLSTimeout = 5 // seconds
	if o.Cluster.Port, err = strconv.Atoi(port); err != nil {
		return nil, "", err
	}
	if o.Cluster.Port == 0 {
		o.Cluster.Port = server.RANDOM_PORT
	}
	for _, addr := range strings.FieldsFunc(*join, func(r rune) bool { return r == ',' }) {
		u := &url.URL{Scheme: "nats", Host: addr}
		if *user != "" {
			u.User = url.UserPassword(*user, *password)
		}
		o.Routes = append(o.Routes, u)
	}
	if ns, err = server.NewServer(o); err != nil {
		return nil, "", err
	}
	ns.SetLoggerV2(natsLog{}, false, false, false)
	ns.Start()
	if !ns.ReadyForConnections(10 * time.Second) {
		return nil, "", errors.New("NATS does not start")
	}
	return ns, token, nil
}

// natsLog logs faults: a wrong password, certificate or address.
type natsLog struct{}

func (natsLog) Fatalf(format string, v ...any) { log.Fatalf("NATS: "+format, v...) }
func (natsLog) Errorf(format string, v ...any) { log.Printf("NATS: "+format, v...) }
func (natsLog) Warnf(format string, v ...any)  { log.Printf("NATS: "+format, v...) }
func (natsLog) Noticef(string, ...any)         {}
func (natsLog) Debugf(string, ...any)          {}
func (natsLog) Tracef(string, ...any)          {}

// routeTLS returns the configuration of routes, or nil without -route-cert. Both sides show a
// certificate.
func routeTLS() (*tls.Config, error) {
	if *cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(*ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: no certificate", *ca)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: pool,
		ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}, nil
}
