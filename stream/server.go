package stream

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"runtime/debug"
	"sync"
	"time"
)

// ErrServerClosed is returned by the methods of a [Server] after Shutdown or Close,
// and by [Conn.Next] after Shutdown.
var ErrServerClosed = errors.New("gdwire/stream: server closed")

// A Server accepts connections and calls Handler for each, in the manner of
// net/http. Its fields must not be changed once it is in use.
//
// One Server can serve several listeners, and connections of messages through
// ServeConn.
type Server struct {
	// Handler handles one connection, which is closed when Handler returns. It runs in
	// its own goroutine. ctx is done when the Conn or the Server is closed.
	//
	// Its error is logged unless it is or wraps io.EOF, net.ErrClosed or
	// ErrServerClosed. A panic is logged, too, and ends only this connection.
	Handler func(ctx context.Context, c *Conn) error
	// Options configures the connections that Serve accepts.
	Options Options
	// MaxConns is the maximum number of simultaneous connections. Further ones are
	// closed at once. 0 means no limit.
	MaxConns int
	// ErrorLog is the log of errors. nil selects the standard logger of package log.
	ErrorLog *log.Logger

	mu        sync.Mutex
	config    *config
	conns     map[*Conn]struct{}
	listeners map[net.Listener]struct{}
	closing   chan struct{} // closed by Shutdown and Close
	done      chan struct{} // closed when conns and listeners are empty after that
}

// ListenAndServe listens on the TCP address addr and calls Serve.
func (s *Server) ListenAndServe(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return s.Serve(ln)
}

// Serve accepts connections from ln and calls Handler for each. It returns the error
// of ln that is not temporary, or [ErrServerClosed], and closes ln. After a temporary
// error, such as too many open files, it waits for 5 ms, and up to a second if there
// are more.
func (s *Server) Serve(ln net.Listener) error {
	defer func() { _ = ln.Close() }()
	if !s.addListener(ln) {
		return ErrServerClosed
	}
	defer s.remove(func() { delete(s.listeners, ln) })
	var delay time.Duration
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			delay = 0
			if c := serverConn(context.Background(), conn, s.config); s.addConn(c) {
				go s.handle(c)
			} else {
				_ = c.Close()
			}
		case s.isClosing():
			return ErrServerClosed
		case !temporary(err):
			return err
		default:
			delay = min(max(2*delay, 5*time.Millisecond), time.Second)
			s.logf("gdwire/stream: %v; retrying in %v", err, delay)
			select {
			case <-time.After(delay):
			case <-s.closing:
			}
		}
	}
}

// temporary reports whether err says so of itself, as net's errors do.
func temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// ServeConn calls Handler for c, for example a Conn of [NewMessageConn], and closes c
// when it returns. The handler's context derives from the one c was made with. After Shutdown and Close,
// and beyond MaxConns, ServeConn closes c at once.
func (s *Server) ServeConn(c *Conn) {
	if !s.addConn(c) {
		_ = c.Close()
		return
	}
	s.handle(c)
}

// handle serves a connection that was added.
func (s *Server) handle(c *Conn) {
	defer s.remove(func() { delete(s.conns, c) })
	defer func() { _ = c.Close() }()
	defer func() {
		if v := recover(); v != nil {
			s.logf("gdwire/stream: panic serving %v: %v\n%s", c.conn.RemoteAddr(), v, debug.Stack())
		}
	}()
	err := s.Handler(c.ctx, c)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, ErrServerClosed) {
		return
	}
	s.logf("gdwire/stream: %v: %v", c.conn.RemoteAddr(), err)
}

// Shutdown closes the listeners, makes [Conn.Next] of every connection return
// [ErrServerClosed] where it would wait for another packet, and waits until all
// handlers have returned, or ctx is done, whose error it then returns. Handlers can
// still write, for example to say goodbye.
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
		}
	})
	return nil
}

// close ends accepting, then calls also with s locked.
func (s *Server) close(also func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	if !s.isClosing() {
		close(s.closing)
		s.checkDone()
	}
	for ln := range s.listeners {
		_ = ln.Close()
	}
	also()
}

// init makes a zero Server ready. s is locked.
func (s *Server) init() {
	if s.conns != nil {
		return
	}
	s.config = newConfig(&s.Options)
	s.conns, s.listeners = map[*Conn]struct{}{}, map[net.Listener]struct{}{}
	s.closing, s.done = make(chan struct{}), make(chan struct{})
}

func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// addListener reports whether ln may be served.
func (s *Server) addListener(ln net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	if s.isClosing() {
		return false
	}
	s.listeners[ln] = struct{}{}
	return true
}

// addConn reports whether c may be served.
func (s *Server) addConn(c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	if s.isClosing() || s.MaxConns > 0 && len(s.conns) >= s.MaxConns {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

// remove calls f, which removes a connection or listener.
func (s *Server) remove(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	if s.isClosing() {
		s.checkDone()
	}
}

// checkDone closes done if nothing is served. s is locked and closing.
func (s *Server) checkDone() {
	if len(s.conns) > 0 || len(s.listeners) > 0 {
		return
	}
	select {
	case <-s.done:
	default:
		close(s.done)
	}
}

func (s *Server) logf(format string, args ...any) {
	if s.ErrorLog != nil {
		s.ErrorLog.Printf(format, args...)
	} else {
		log.Printf(format, args...)
	}
}
