package stream_test

import (
	"crypto/tls"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
)

// tlsPipe returns a Conn over TLS, after its handshake, and the client.
func tlsPipe(t *testing.T, o *stream.Options) (*stream.Conn, net.Conn) {
	certFile, keyFile, trust := certificate(t)
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	require.NoError(t, err)
	ours, theirs := net.Pipe()
	c := stream.NewConn(t.Context(), tls.Server(ours, &tls.Config{Certificates: []tls.Certificate{cert}}), o)
	trust.InsecureSkipVerify = true // the time of the test is not that of the certificate
	client := tls.Client(theirs, trust)
	shaken := make(chan error)
	go func() { shaken <- client.Handshake() }()
	go func() { _, _ = c.Next() }()
	require.NoError(t, <-shaken)
	return c, client
}

// TestTLSWriteTimeout lets a client not read. A tls.Conn cannot write after a timeout, so the first
// one is final, also if no byte was written.
func TestTLSWriteTimeout(t *testing.T) {
	for name, buffer := range map[string]bool{"at once": false, "held": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, client := tlsPipe(t, &stream.Options{WriteTimeout: time.Second, BufferWrites: buffer})
				synctest.Wait()
				require.ErrorIs(t, c.WritePacket(number(1)), os.ErrDeadlineExceeded)
				for range 3 {
					for _, err := range []error{c.WritePacket(number(1)), c.WriteRaw([]byte{0, 0, 0, 0}), c.Flush()} {
						require.ErrorIs(t, err, stream.ErrBroken)
						require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
					}
				}
				_ = client.(*tls.Conn).NetConn().Close()
				_ = c.Close()
			})
		})
	}
}
