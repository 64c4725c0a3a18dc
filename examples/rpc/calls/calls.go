// Package calls lets the clients of a Godot game call functions in Go, and Go call methods
// of the game marked @rpc. The game uses gdwire_multiplayer.gd; ../README.md describes
// the packets. The package is written to be copied.
//
// Calls are decoded with the default limits and options of package gdwire: the Decoder of the
// server's [stream.Options] does not apply.
package calls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// version is the first number sent by the server.
const version = 2

// IdleTimeout is the time after which a silent client counts as gone, for the Options of the
// [stream.Server]. A client sends a heartbeat every 10 seconds, and notices by missing answers that the
// server is gone.
const IdleTimeout = 30 * time.Second

// heartbeat is a packet of an empty Array. Encoding it cannot fail.
var heartbeat, _ = variant.Marshal([]any{})

// The targets of a call: a peer by its id, or one of these. A negative target is everyone
// but the peer with this id.
const (
	everyone = 0
	server   = 1
)

// MaxPacket is the maximum length in bytes of a sent packet, for the Options of the
// [stream.Server]. Clients can send packets of half the length, because a function or a Relay sends
// on to others more than the caller sent.
const MaxPacket = 64 << 10

const (
	maxReceived = MaxPacket / 2
	maxMemory   = 1 << 20 // of the arguments of one call, in bytes
	maxQueued   = 4 << 20 // bytes of packets waiting for a peer to read them
	maxInvalid  = 10      // invalid packets in a row to disconnect a client
)

// Calls contains the functions that clients can call, and the clients. Functions are
// registered before the first client connects.
type Calls struct {
	// Join and Leave, if set, are called after a client connected and disconnected.
	// Join is called before any function. Between many calls, Join should call p.Wait.
	Join, Leave func(p *Peer)

	functions map[string]*function // by path, a zero byte, and method

	mu    sync.RWMutex
	peers map[int]*Peer
	room  stream.Room // all peers
}

// A function is selected by a path and a method.
type function struct {
	path, method string
	value        reflect.Value // invalid if clients can only call each other
	arguments    reflect.Type  // a positional struct of its parameters but the *Peer
	relay        bool
}

// Func registers f for clients to call as method of the node at path, relative to the root
// of the scene tree. The parameters of f are a *Peer, the caller, and the parameters of
// the method. An error of f is treated as a mistake of the caller:
//
//	c.Func("Main", "move", func(p *calls.Peer, pos variant.Vector2, seq int) error { … })
//
// Func panics if f cannot be called, or if a function is registered already.
func (c *Calls) Func(path, method string, f any) {
	fn := c.add(path, method)
	fail := func(format string, args ...any) {
		panic(fmt.Sprintf("calls: %s.%s: %s", path, method, fmt.Sprintf(format, args...)))
	}
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		fail("%T is not a function", f)
	}
	t := v.Type()
	switch {
	case fn.value.IsValid():
		fail("a function is registered already")
	case t.NumIn() == 0 || t.In(0) != reflect.TypeFor[*Peer]():
		fail("the first parameter of %v is not a *Peer", t)
	case t.IsVariadic():
		fail("%v is variadic", t)
	case t.NumOut() != 1 || t.Out(0) != reflect.TypeFor[error]():
		fail("%v does not return an error", t)
	}
	fields := []reflect.StructField{{Name: "_", PkgPath: "calls", Type: reflect.TypeFor[struct{}](), Tag: `gd:",array"`}}
	for i := 1; i < t.NumIn(); i++ {
		if err := variant.Unmarshal(make([]byte, 4), reflect.New(t.In(i)).Interface()); err != nil { // a nil
			fail("parameter %d: %v", i, err)
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("A%d", i), Type: t.In(i)})
	}
	fn.value, fn.arguments = v, reflect.StructOf(fields)
}

// Relay allows clients to call the method on each other: packets with this path and method
// are forwarded to their target. Their arguments are not checked.
func (c *Calls) Relay(path, method string) { c.add(path, method).relay = true }

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

// All calls the method on every client. The call is encoded once. A call longer than MaxPacket is an
// error, and sent to nobody. Clients that do not read fast enough are disconnected.
func (c *Calls) All(path, method string, arguments ...any) error {
	return c.call(path, method, arguments, server, everyone)
}

// call queues a call for its target.
func (c *Calls) call(path, method string, arguments any, from, target int) error {
	packet, err := encode([]any{path, method, arguments, from})
	if err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if from == server && target == everyone {
		return c.room.WriteRaw(packet)
	}
	for id, p := range c.peers {
		if id != from && (target <= server && id != -target || id == target) {
			p.queue(packet)
		}
	}
	return nil
}

// A Peer is a connected client.
type Peer struct {
	ID int // from 2, as the game sees it

	member  *stream.Member
	packet  []byte // the latest packet of the client
	key     []byte // of the latest function
	closing sync.Once
}

// Call calls the method on p. A call longer than MaxPacket is an error.
func (p *Peer) Call(path, method string, arguments ...any) error {
	return p.send([]any{path, method, arguments, server})
}

// Wait waits until the calls of p so far are written, or p is disconnected. Too many waiting calls
// would disconnect p. Callers should not hold a lock needed by others.
func (p *Peer) Wait() { _ = p.member.Flush() }

// encode returns a packet.
func encode(v any) ([]byte, error) {
	packet, err := variant.Marshal(v)
	if err == nil && len(packet) > MaxPacket {
		err = fmt.Errorf("%d bytes: %w", len(packet), errLong)
	}
	return packet, err
}

// send queues a packet.
func (p *Peer) send(v any) error {
	packet, err := encode(v)
	if err == nil {
		p.queue(packet)
	}
	return err
}

// queue appends a packet to the packets waiting for p, and returns at once. If there are too
// many, p is disconnected.
func (p *Peer) queue(packet []byte) {
	_ = p.member.WriteRaw(packet) // Handle returns the error, too
}

// Close disconnects p for a reason to show in the game, and returns at once.
func (p *Peer) Close(reason string) {
	p.closing.Do(func() {
		go func() { _ = p.member.Conn().CloseWithCode(stream.ClosePolicyViolation, reason) }()
	})
}

// Handle serves one client, as the Handler of a [stream.Server].
func (c *Calls) Handle(_ context.Context, conn *stream.Conn) error {
	p, err := c.join(conn)
	defer c.leave(p)
	if err != nil {
		return err
	}
	if c.Join != nil {
		c.Join(p)
	}
	if c.Leave != nil {
		defer c.Leave(p)
	}
	return c.receive(p)
}

// join adds a client, sends all ids to the client, and the client's id to the others.
func (c *Calls) join(conn *stream.Conn) (*Peer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.peers == nil {
		c.peers, c.room.MaxQueue = map[int]*Peer{}, maxQueued
	}
	p := &Peer{member: c.room.Join(conn)}
	for p.ID <= server || c.peers[p.ID] != nil {
		p.ID = int(rand.Int32())
	}
	err := p.send([]int{version, p.ID})
	for id, other := range c.peers {
		err = errors.Join(err, p.send([]any{id, true}), other.send([]any{p.ID, true}))
	}
	c.peers[p.ID] = p
	return p, err
}

// leave removes p and tells the others.
func (c *Calls) leave(p *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.member.Leave()
	delete(c.peers, p.ID)
	for _, other := range c.peers {
		_ = other.send([]any{p.ID, false}) // an int and a bool can be encoded
	}
}

// receive handles the packets of p until its connection ends.
func (c *Calls) receive(p *Peer) error {
	conn, d := p.member.Conn(), gdwire.NewDecoder(nil, nil)
	defer d.Release()
	for invalid := 0; ; {
		var err error
		if p.packet, err = conn.NextRaw(p.packet[:0]); err == nil {
			switch {
			case len(p.packet) > maxReceived:
				err = errLong
			case bytes.Equal(p.packet, heartbeat):
				p.queue(heartbeat)
			default:
				err = c.dispatch(p, d, p.packet)
			}
		} else if !stream.Skippable(err) {
			return err
		}
		if err == nil {
			invalid = 0
		} else if invalid++; invalid == maxInvalid {
			_ = conn.CloseWithCode(stream.ClosePolicyViolation, "too many invalid calls")
			return fmt.Errorf("peer %d: %w", p.ID, err)
		}
	}
}

var (
	errLong      = errors.New("packet is too long")
	errCall      = errors.New("not a path, a method, arguments and a peer")
	errUnknown   = errors.New("no such function")
	errArguments = errors.New("wrong number of arguments")
	errTarget    = errors.New("clients may not call each other with this function")
)

// dispatch reads a call of p, and forwards it, or calls its function, or does both.
func (c *Calls) dispatch(p *Peer, d *gdwire.Decoder, packet []byte) error {
	d.ResetBytes(packet)
	f, err := c.function(p, d)
	if err != nil {
		return err
	}
	start := d.InputOffset()
	n, err := d.ReadArray()
	if err == nil {
		err = d.SkipTo(1)
	}
	if err != nil {
		return err
	}
	arguments := packet[start:d.InputOffset()]
	target, err := gdwire.ReadInteger[int32](d)
	if err == nil {
		err = d.ReadEnd()
	}
	if err != nil {
		return err
	}
	if f.relay && target != server {
		err = c.call(f.path, f.method, variant.Raw{Data: arguments}, p.ID, int(target))
	} else if target > server || target == -server {
		err = d.WrapError(errTarget)
	}
	if err != nil || !f.value.IsValid() || target > server || target == -server {
		return err
	}
	if n != f.arguments.NumField()-1 {
		return d.WrapError(fmt.Errorf("%d arguments: %w", n, errArguments))
	}
	return f.call(p, arguments)
}

// function reads the path and method of a call.
func (c *Calls) function(p *Peer, d *gdwire.Decoder) (*function, error) {
	n, err := d.ReadArray()
	if err == nil && n != 4 {
		err = d.WrapError(errCall)
	}
	if err == nil {
		p.key, err = d.AppendString(p.key[:0])
	}
	if err == nil {
		p.key, err = d.AppendString(append(p.key, 0))
	}
	f := c.functions[string(p.key)]
	if err == nil && f == nil {
		err = d.WrapError(fmt.Errorf("%w: %.100q", errUnknown, p.key))
	}
	return f, err
}

// call calls the function for p. The arguments are allocated together, within one limit of
// memory, and are the function's to keep.
func (f *function) call(p *Peer, encoded []byte) error {
	arguments := reflect.New(f.arguments)
	if err := variant.Unmarshal(encoded, arguments.Interface(), variant.Options{MaxMemory: maxMemory}); err != nil {
		return fmt.Errorf("arguments of %s.%s: %w", f.path, f.method, err) // with an offset and path in the arguments
	}
	in := make([]reflect.Value, 1, 8)
	in[0] = reflect.ValueOf(p)
	for i := 1; i < f.arguments.NumField(); i++ {
		in = append(in, arguments.Elem().Field(i))
	}
	err, _ := f.value.Call(in)[0].Interface().(error)
	return err
}
