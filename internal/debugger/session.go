package debugger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// ErrEnded is wrapped by the errors of requests after the session ended: the game closed the
// connection, the connection failed, or Close was called.
var ErrEnded = errors.New("session: the game is no longer connected")

// A Session is the connection to a running game. All methods can be called by several goroutines
// at the same time.
type Session struct {
	conn   *stream.Conn
	reader messageReader
	known  chan struct{} // closed when protocol is known
	done   chan struct{} // closed when the session ended

	sending sync.Mutex // held while a command is registered and sent: replies come in this order

	mu       sync.Mutex
	protocol Protocol
	waiters  []*waiter
	stops    []*Stop
	changed  chan struct{} // closed when stops changes
	queue    queue
	inspect  string // the command known to this version of Godot 4, or ""
	err      error  // why the session ended
}

// A waiter waits for the reply to a command.
type waiter struct {
	// take reports whether a message belongs to the reply, and whether it is the last.
	take  func(*Message) (taken, last bool)
	stack bool // the game answers only while it is stopped, and then always
	done  chan struct{}
}

// Accept waits for a game to connect to ln, and returns a Session with it. The options are those of
// the connection, and their Decoder those of values. Without a WriteTimeout, commands have 10
// seconds each.
func Accept(ctx context.Context, ln net.Listener, o *stream.Options) (*Session, error) {
	type deadline interface{ SetDeadline(time.Time) error }
	if l, ok := ln.(deadline); ok {
		defer context.AfterFunc(ctx, func() { _ = l.SetDeadline(time.Unix(1, 0)) })()
	}
	conn, err := ln.Accept()
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	var own stream.Options
	if o != nil {
		own = *o
	}
	own.WriteTimeout = cmp.Or(own.WriteTimeout, 10*time.Second)
	return New(stream.NewConn(context.Background(), conn, &own), variant.Options{Decoder: own.Decoder}), nil
}

// New returns a Session with the game at the other end of a connection. The Session owns the connection,
// and reads until the game or Close closes it. Options.WriteTimeout of the connection limits the time
// for sending a command. The options of values are those in opts; their format has no effect.
func New(conn *stream.Conn, opts ...variant.Options) *Session {
	s := &Session{conn: conn, known: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{})}
	s.queue.wake = make(chan struct{}, 1)
	s.reader = messageReader{conn: conn, invalid: func(err error) { s.push(nil, err) }}
	if len(opts) > 0 {
		s.reader.options = opts[0]
		s.reader.options.Decoder.Format = gdwire.Godot4
	}
	go s.run()
	return s
}

// Close ends the session. The game continues without a debugger.
func (s *Session) Close() error { return s.conn.Close() }

// Done returns a channel closed at the end of the session.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns nil while the session goes on, or if the game ended, the connection was lost or Close
// was called, and otherwise the error that ended the session.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// run reads messages until the connection ends.
func (s *Session) run() {
	for {
		m, err := s.reader.read()
		if err != nil {
			s.end(err)
			return
		}
		s.dispatch(m)
	}
}

// end ends the session.
func (s *Session) end(err error) {
	_ = s.conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	var lost *net.OpError // of a game that ended without reading the latest command
	if err != io.EOF && !errors.Is(err, net.ErrClosed) && (!errors.As(err, &lost) || lost.Timeout()) {
		s.err = err
	}
	close(s.done)
}

// dispatch passes a message to the request waiting for it, and to Events.
func (s *Session) dispatch(m *Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.protocol == 0 {
		s.protocol = m.Protocol
		close(s.known)
	}
	s.note(m)
	for i, w := range s.waiters {
		taken, last := w.take(m)
		if last {
			s.waiters = slices.Delete(s.waiters, i, i+1)
			close(w.done)
		}
		if taken {
			break
		}
	}
	s.queue.push(m, nil)
}

// push passes a message or an error to Events.
func (s *Session) push(m *Message, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.push(m, err)
}

// Protocol waits for the first message of the game and returns its protocol.
func (s *Session) Protocol(ctx context.Context) (Protocol, error) {
	if err := s.wait(ctx, s.known); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.protocol, nil
}

// wait waits until c is closed, the session ends or ctx is done.
func (s *Session) wait(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	default: // c comes first
	}
	select {
	case <-c:
		return nil
	case <-s.done:
		if err := s.Err(); err != nil {
			return fmt.Errorf("%w: %w", ErrEnded, err)
		}
		return ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Send sends a command to the main thread of the game. The commands are in
// core/debugger/remote_debugger.cpp and scene/debugger/scene_debugger.cpp of Godot 4, and in
// core/script_debugger_remote.cpp of Godot 3.
func (s *Session) Send(ctx context.Context, command string, args ...any) error {
	return s.send(ctx, nil, mainThread, command, args)
}

// Request sends a command to the main thread of the game and returns the next message called reply.
func (s *Session) Request(ctx context.Context, reply, command string, args ...any) (*Message, error) {
	var got *Message
	err := s.ask(ctx, &waiter{take: one(reply, &got)}, mainThread, command, args...)
	return got, err
}

// one returns the take of a waiter for the next message of a name, in got.
func one(name string, got **Message) func(*Message) (taken, last bool) {
	return func(m *Message) (taken, last bool) {
		if m.Name != name {
			return false, false
		}
		*got = m
		return true, true
	}
}

// ask sends a command and waits until w took the last message of the reply.
func (s *Session) ask(ctx context.Context, w *waiter, thread int64, command string, args ...any) error {
	w.done = make(chan struct{})
	if err := s.send(ctx, w, thread, command, args); err != nil {
		return err
	}
	err := s.wait(ctx, w.done)
	if err != nil && !w.stack { // of the stack a late reply comes for certain, and is not of a later request
		s.remove(w)
	}
	return err
}

// remove removes a waiter.
func (s *Session) remove(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiters = slices.DeleteFunc(s.waiters, func(other *waiter) bool { return w == other })
}

// send sends a command. The reply goes to w, unless w is nil.
func (s *Session) send(ctx context.Context, w *waiter, thread int64, command string, args []any) error {
	p, err := s.Protocol(ctx)
	if err != nil {
		return err
	}
	packet, err := p.encode(command, thread, args)
	if err != nil {
		return err
	}
	s.sending.Lock()
	defer s.sending.Unlock()
	if w != nil {
		s.mu.Lock()
		s.waiters = append(s.waiters, w)
		s.mu.Unlock()
	}
	err = s.conn.WriteRaw(packet)
	if err != nil && w != nil {
		s.remove(w)
	}
	if err != nil && !stream.Skippable(err) {
		err = fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return err
}

// Events iterates over all messages of the game, replies to requests included, from the first one
// on, until the session ends or ctx is done. It yields an error instead of a message for an invalid
// packet, for messages dropped because 16 MiB of them waited ([MissedError]), and at the end for
// the error of Err.
//
// Each message is yielded once, also if there are several loops.
func (s *Session) Events(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		for {
			ended := isClosed(s.done) // before pop: nothing is added later
			for e, ok := s.pop(); ok; e, ok = s.pop() {
				if !yield(e.message, e.err) {
					return
				}
			}
			if ended {
				if err := s.Err(); err != nil {
					yield(nil, err)
				}
				return
			}
			select {
			case <-s.queue.wake:
			case <-s.done:
			case <-ctx.Done():
				return
			}
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// pop returns the first waiting event, and removes it.
func (s *Session) pop() (event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.pop()
}

// A MissedError reports messages dropped by Events.
type MissedError struct{ Messages int }

func (e *MissedError) Error() string {
	return fmt.Sprintf("session: %d messages came faster than they were read, and are missing here", e.Messages)
}

// A queue holds the messages waiting for Events.
type queue struct {
	events []event
	size   int64 // memory of events in bytes
	wake   chan struct{}
}

// An event is a message or an error.
type event struct {
	message *Message
	err     error
	size    int64
}

const (
	maxQueued = 16 << 20 // bytes of waiting messages
	eventSize = 512      // memory of an event besides the message
)

// push adds a message or an error, or counts it if too many wait.
func (q *queue) push(m *Message, err error) {
	e := event{m, err, eventSize}
	if m != nil {
		e.size += m.size()
	}
	if q.size > 0 && q.size+e.size > maxQueued {
		if last, ok := q.events[len(q.events)-1].err.(*MissedError); ok {
			last.Messages++
			return
		}
		e = event{nil, &MissedError{1}, eventSize}
	}
	q.events = append(q.events, e)
	q.size += e.size
	select {
	case q.wake <- struct{}{}:
	default: // the previous signal is still pending
	}
}

// pop returns the first event and removes it.
func (q *queue) pop() (e event, ok bool) {
	if len(q.events) == 0 {
		return event{}, false
	}
	e = q.events[0]
	q.events[0] = event{}
	q.events = q.events[1:]
	q.size -= e.size
	return e, true
}
