package stream

import (
	"context"
)

// Shutdown closes the listeners, makes [Conn.Next] of every connection return
// [ErrServerClosed] after a packet whose first byte arrived before, if the rest of it arrives
// within DrainTimeout, and waits until all handlers have returned. If ctx is done before, Shutdown returns the error of
// ctx. Handlers can still write, for example to say goodbye. Handlers that do not call Next
// learn of Shutdown by [Conn.CloseRead]. Connections that are still in their TLS
// handshake are closed.
func (s *Server) Shutdown(ctx context.Context) error {
	s.close(func() {
		for c := range s.conns {
			c.drain()
		}
	})
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes the listeners and connections and cancels the handlers' contexts, with
// the cause [ErrServerClosed]. It does not wait for the handlers to return.
func (s *Server) Close() error {
	s.close(func() {
		for c := range s.conns {
			c.cancel(ErrServerClosed)
			c.hurry()
		}
	})
	return nil
}

// close stops accepting, then calls also with s locked.
func (s *Server) close(also func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	if !s.isClosing() {
		close(s.closing)
		s.checkDone()
	}
	for ln := range s.listeners {
		_ = (*ln).Close()
	}
	also()
}
