package stream

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A handshaker is a connection that begins with a handshake, such as a *tls.Conn.
type handshaker interface {
	HandshakeContext(context.Context) error
}

// A handshake is the handshake of a connection. The first call that reads or writes
// performs it, within a timeout.
type handshake struct {
	conn    handshaker
	timeout time.Duration
	done    atomic.Bool

	mu  sync.Mutex
	err atomic.Pointer[error] // of later calls, written with mu locked
}

// do performs the handshake unless it is done. Other goroutines wait for it.
func (h *handshake) do(l *lifetime) error {
	if h == nil || h.done.Load() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.failed(); err != nil || h.done.Load() {
		return err
	}
	ctx, cancel := l.ctx, context.CancelFunc(func() {})
	if h.timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, h.timeout, os.ErrDeadlineExceeded)
	}
	defer cancel()
	err := h.conn.HandshakeContext(ctx)
	if err == nil {
		h.done.Store(true)
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	later := stickyError(err)
	h.err.Store(&later)
	return err
}

// failed returns the error of calls after the handshake failed, or nil. It waits for nobody.
func (h *handshake) failed() error {
	if h == nil {
		return nil
	}
	if err := h.err.Load(); err != nil {
		return *err
	}
	return nil
}

// isPending reports whether the handshake is not completed.
func (h *handshake) isPending() bool { return h != nil && !h.done.Load() }

// ServeTLS accepts TLS connections from ln and calls Handler for each, as [Server.Serve] does.
// It reads the certificate and its key from files, unless both names are empty and TLSConfig contains
// a certificate, GetCertificate or GetConfigForClient.
func (s *Server) ServeTLS(ln net.Listener, certFile, keyFile string) error {
	config := s.TLSConfig.Clone()
	if config == nil {
		config = new(tls.Config)
	}
	known := len(config.Certificates) > 0 || config.GetCertificate != nil || config.GetConfigForClient != nil
	if !known || certFile != "" || keyFile != "" {
		cert, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			_ = ln.Close()
			return err
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return s.Serve(tls.NewListener(ln, config))
}

// ListenAndServeTLS listens on the TCP address addr and calls ServeTLS.
func (s *Server) ListenAndServeTLS(addr, certFile, keyFile string) error {
	return s.listen(addr, func(ln net.Listener) error { return s.ServeTLS(ln, certFile, keyFile) })
}
