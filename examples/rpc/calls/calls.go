// Package calls lets the clients of a Godot game call functions in Go, and Go call methods
// of the game that carry @rpc. The game uses gdwire_multiplayer.gd; ../README.md describes
// the packets. It is written to be copied.
package calls

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// version is the first number that the server sends.
const version = 1

// The targets of a call: a peer by its id, or one of these. A negative target is everyone
// but the peer with this id.
const (
	everyone = 0
	server   = 1
)

const (
	maxMemory  = 1 << 20 // of the arguments of one call, in bytes
	maxQueued  = 1024    // packets that wait for a peer to read them
	maxInvalid = 10      // invalid packets in a row, after which a client is disconnected
)

// Calls has the functions that clients can call, and the clients. Functions are registered
// before the first client connects.
type Calls struct {
	// Join and Leave, if set, are called when a client has connected and disconnected.
	// Join is called before any function.
	Join, Leave func(p *Peer)

	functions map[string]*function // by path, a zero byte, and method

	mu    sync.RWMutex
	peers map[int]*Peer
}

// Func registers f as the function that clients call as method of the node at path, which is
// relative to the root of the scene tree. The parameters of f are a *Peer, the caller, and
// those of the method. An error of f is treated as a mistake of the caller:
//
//	c.Func("Main", "move", func(p *calls.Peer, pos variant.Vector2, seq int) error { … })
//
// Func panics if f cannot be called, or if there is such a function already.
func (c *Calls) Func(path, method string, f any) {
	fn := c.add(path, method)
	if fn.caller != nil {
		panic(fmt.Sprintf("calls: %s.%s: a function is registered already", path, method))
	}
	fn.caller = newCaller(path, method, f)
}

// Relay allows clients to call the method on each other: packets with this path and method
// are forwarded to their target. Their arguments are not checked.
func (c *Calls) Relay(path, method string) { c.add(path, method).relay = true }

// A function is what a path and a method select.
type function struct {
	path, method string
	caller       *caller // nil if clients can call it on each other only
	relay        bool
}

func (c *Calls) add(path, method string) *function {
	if path == "" || method == "" || strings.Contains(path+method, "\x00") {
		panic(fmt.Sprintf("calls: %q, %q: not a path and a method", path, method))
	}
	if c.functions == nil {
		c.functions = map[string]*function{}
	}
	key := path + "\x00" + method
	if c.functions[key] == nil {
		c.functions[key] = &function{path: path, method: method}
	}
	return c.functions[key]
}

// All calls the method on every client. The call is encoded once. Clients that do not read
// fast enough are disconnected.
func (c *Calls) All(path, method string, arguments ...any) error {
	packet, err := encode(path, method, arguments, server)
	if err == nil {
		c.send(packet, everyone, nil)
	}
	return err
}

// encode returns a packet with a call.
func encode(path, method string, arguments any, from int) ([]byte, error) {
	return variant.Marshal([]any{path, method, arguments, from})
}

// send queues a packet for the target of a call, without from.
func (c *Calls) send(packet []byte, target int, from *Peer) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if target > server {
		if p := c.peers[target]; p != nil && p != from {
			p.queue(packet)
		}
		return
	}
	for _, p := range c.peers {
		if p != from && p.ID != -target {
			p.queue(packet)
		}
	}
}

// A Peer is a connected client.
type Peer struct {
	ID int // from 2, as the game sees it

	conn    *stream.Conn
	out     chan []byte // packets that wait to be written
	key     []byte      // of the latest function
	closing sync.Once
}

// Call calls the method on p.
func (p *Peer) Call(path, method string, arguments ...any) error {
	packet, err := encode(path, method, arguments, server)
	if err == nil {
		p.queue(packet)
	}
	return err
}

// queue appends a packet to those that wait for p, which is disconnected if there are too
// many. It does not wait.
func (p *Peer) queue(packet []byte) {
	select {
	case p.out <- packet:
	default:
		p.Close("too slow")
	}
}

// Close disconnects p, for a reason that its game can show. It does not wait.
func (p *Peer) Close(reason string) {
	p.closing.Do(func() {
		go func() { _ = p.conn.CloseWithCode(stream.ClosePolicyViolation, reason) }()
	})
}

// Handle serves one client. It is the Handler of a [stream.Server].
func (c *Calls) Handle(ctx context.Context, conn *stream.Conn) error {
	p, err := c.join(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var writing sync.WaitGroup
	writing.Go(func() { p.write(ctx) })
	defer func() {
		c.leave(p)
		cancel()
		writing.Wait()
	}()
	if c.Join != nil {
		c.Join(p)
	}
	if c.Leave != nil {
		defer c.Leave(p)
	}
	return c.receive(p)
}

// write writes the packets that wait until ctx is done.
func (p *Peer) write(ctx context.Context) {
	for {
		select {
		case packet := <-p.out:
			if p.conn.WriteRaw(packet) != nil {
				_ = p.conn.Close() // ends Next
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// receive handles the packets of p until its connection ends.
func (c *Calls) receive(p *Peer) error {
	invalid := 0
	for {
		d, err := p.conn.Next()
		if err == nil {
			if err = c.dispatch(p, d); err == nil {
				invalid = 0
				continue
			}
		} else if !stream.Skippable(err) {
			return err
		}
		if invalid++; invalid == maxInvalid {
			_ = p.conn.CloseWithCode(stream.ClosePolicyViolation, "too many invalid calls")
			return fmt.Errorf("peer %d: %w", p.ID, err)
		}
	}
}

// join adds a client and sends it its id and the ids of the others, and its id to them.
func (c *Calls) join(conn *stream.Conn) (*Peer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &Peer{conn: conn, out: make(chan []byte, maxQueued+len(c.peers))}
	if c.peers == nil {
		c.peers = map[int]*Peer{}
	}
	for p.ID <= server || c.peers[p.ID] != nil {
		p.ID = int(rand.Int32())
	}
	hello, err := variant.Marshal([]int{version, p.ID})
	if err != nil {
		return nil, err
	}
	p.queue(hello)
	for id, other := range c.peers {
		if err := errors.Join(p.announce(id, true), other.announce(p.ID, true)); err != nil {
			return nil, err
		}
	}
	c.peers[p.ID] = p
	return p, nil
}

// leave removes p and tells the others.
func (c *Calls) leave(p *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.peers, p.ID)
	for _, other := range c.peers {
		_ = other.announce(p.ID, false) // an int and a bool can be encoded
	}
}

// announce tells p that a client has joined or left.
func (p *Peer) announce(id int, joined bool) error {
	packet, err := variant.Marshal([]any{id, joined})
	if err == nil {
		p.queue(packet)
	}
	return err
}

var (
	errCall      = errors.New("not a path, a method, arguments and a peer")
	errUnknown   = errors.New("no such function")
	errArguments = errors.New("wrong number of arguments")
	errTarget    = errors.New("clients may not call each other with this function")
)

// dispatch reads a call of p and calls or forwards it.
func (c *Calls) dispatch(p *Peer, d *gdwire.Decoder) error {
	f, err := c.function(p, d)
	if err != nil {
		return err
	}
	if f.relay {
		return c.forward(p, d, f)
	}
	arguments, err := f.caller.decode(d)
	if err != nil {
		return err
	}
	target, err := readTarget(d)
	if err != nil {
		return err
	}
	if !includesServer(target) {
		return d.WrapError(errTarget)
	}
	return f.caller.call(p, arguments)
}

// forward reads a call that clients can make on each other, and sends it to its target.
func (c *Calls) forward(p *Peer, d *gdwire.Decoder, f *function) error {
	var arguments variant.Raw
	if err := variant.UnmarshalDecode(d, &arguments, variant.Options{MaxMemory: maxMemory}); err != nil {
		return err
	}
	target, err := readTarget(d)
	if err != nil {
		return err
	}
	if target != server {
		packet, err := encode(f.path, f.method, arguments, p.ID)
		if err != nil {
			return err
		}
		c.send(packet, target, p)
	}
	if f.caller == nil || !includesServer(target) {
		return nil
	}
	inner := gdwire.NewDecoder(nil, nil)
	defer inner.Release()
	inner.ResetBytes(arguments.Data)
	decoded, err := f.caller.decode(inner)
	if err != nil {
		return err
	}
	return f.caller.call(p, decoded)
}

// function reads the path and method of a call.
func (c *Calls) function(p *Peer, d *gdwire.Decoder) (*function, error) {
	n, err := d.ReadArray()
	if err != nil {
		return nil, err
	}
	if n != 4 {
		return nil, d.WrapError(errCall)
	}
	if p.key, err = d.AppendString(p.key[:0]); err != nil {
		return nil, err
	}
	if p.key, err = d.AppendString(append(p.key, 0)); err != nil {
		return nil, err
	}
	f := c.functions[string(p.key)]
	if f == nil {
		return nil, d.WrapError(fmt.Errorf("%w: %.100q", errUnknown, p.key))
	}
	return f, nil
}

// readTarget reads the target of a call, its last element.
func readTarget(d *gdwire.Decoder) (int, error) {
	target, err := gdwire.ReadInteger[int32](d)
	if err != nil {
		return 0, err
	}
	return int(target), d.ReadEnd()
}

// includesServer reports whether a call with this target is one of the server's functions.
func includesServer(target int) bool { return target <= server && target != -server }
