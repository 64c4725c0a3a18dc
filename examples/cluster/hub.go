package main

import (
	"context"
	"encoding/binary"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire/stream"
	"github.com/nats-io/nats.go"
)

// Subjects of NATS, beside one for each room.
const (
	aliveSubject = "process.alive" // the number of a process, every beat
	goneSubject  = "process.gone"  // the number of an ending process
	hearSubject  = "process.hear"  // the name of a room, for all processes to answer in the room
)

const (
	beat        = time.Second      // how often a process reports itself and its rooms as alive
	deadAfter   = 3 * beat         // the time until a silent process is dead
	forgetAfter = time.Minute      // the time until a silent room of another process is forgotten
	joinTimeout = 10 * time.Second // the time for a client to wait for its id
)

// A hub contains the rooms with members of this process, and knows the other processes.
type hub struct {
	id    uint64 // the random number of this process
	nc    *nats.Conn
	ready atomic.Bool

	mu     sync.Mutex
	rooms  map[string]*room
	alive  map[uint64]time.Time // when each process was heard last, including this one
	latest time.Time            // beat
}

func newHub() *hub {
	return &hub{id: rand.Uint64(), rooms: map[string]*room{}, alive: map[uint64]time.Time{}}
}

// connect connects h to NATS. While the connection is lost, packets are refused and not kept, because old packets
// are useless to a game.
func (h *hub) connect() (err error) {
	h.nc, err = nats.Connect(*servers,
		nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.RetryOnFailedConnect(true),
		nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
			if !nc.IsClosed() { // by this process
				h.missed("connection to NATS lost", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { h.missed("packets lost", err) }),
		nats.ReconnectHandler(func(*nats.Conn) { log.Print("connected to NATS again") }))
	if err == nil && !h.nc.IsConnected() {
		log.Print("waiting for a NATS server, as of -nats")
	}
	return err
}

// close ends the connection to NATS after sending everything.
func (h *hub) close() {
	_ = h.nc.Publish(goneSubject, h.number())
	_ = h.nc.FlushTimeout(time.Second)
	h.nc.Close()
}

// start waits until NATS is up, and for other processes if there can be any, or until ctx is done.
func (h *hub) start(ctx context.Context) error {
	for subject, handler := range map[string]func(data []byte){
		aliveSubject: h.heard, goneSubject: h.gone, hearSubject: h.answer,
	} {
		if _, err := h.nc.Subscribe(subject, func(msg *nats.Msg) { handler(msg.Data) }); err != nil {
			return err
		}
	}
	known, changed := 0, time.Now() // how many processes are alive, and since when
	for ; ctx.Err() == nil; time.Sleep(beat / 20) {
		_ = h.nc.Publish(aliveSubject, h.number()) // an error until NATS is up
		if n := h.processes(); n != known {
			known, changed = n, time.Now()
		}
		wait := *alone
		if known > 1 {
			wait = beat // for the answers of others
		}
		if known > 0 && time.Since(changed) >= wait {
			break
		}
	}
	if known == 1 {
		log.Print("no other process answers: this one serves alone, until they do")
	}
	go func() {
		for ; !h.nc.IsClosed(); time.Sleep(beat) {
			h.beat()
		}
	}()
	return nil
}

// number returns the number of this process as bytes.
func (h *hub) number() []byte { return binary.LittleEndian.AppendUint64(nil, h.id) }

// processes returns the number of living processes.
func (h *hub) processes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.alive)
}

// heard notes that a process is alive.
func (h *hub) heard(number []byte) {
	if len(number) != 8 {
		return // of another program
	}
	id := binary.LittleEndian.Uint64(number)
	h.mu.Lock()
	_, known := h.alive[id]
	h.alive[id] = time.Now()
	h.mu.Unlock()
	if !known && id != h.id {
		log.Printf("process %016x is here", id)
		_ = h.nc.Publish(aliveSubject, h.number()) // at once, so that the new process knows this one
	}
}

// gone notes that a process ended.
func (h *hub) gone(number []byte) {
	if len(number) == 8 {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.alive, binary.LittleEndian.Uint64(number))
	}
}

// answer tells the room of this name in another process that this process hears the room.
func (h *hub) answer(name []byte) {
	h.mu.Lock()
	r := h.rooms[string(name)]
	h.mu.Unlock()
	if r == nil {
		r = &room{name: string(name)} // number 0: no room
	}
	_ = r.send(h.nc, h.number()) // asked again if the answer does not arrive
}

// beat tells the other processes that this one and its rooms are alive, and asks again for answers
// to the waiting rooms.
func (h *hub) beat() {
	_ = h.nc.Publish(aliveSubject, h.number())
	h.mu.Lock()
	now, paused := time.Now(), time.Since(h.latest) > 2*beat // this process: the others had no chance
	h.latest = now
	maps.DeleteFunc(h.alive, func(id uint64, at time.Time) bool {
		if paused {
			h.alive[id] = now
			return false
		}
		dead := now.Sub(at) > deadAfter
		if dead {
			log.Printf("process %016x does not answer", id)
		}
		return dead
	})
	alive := maps.Clone(h.alive)
	rooms := slices.Collect(maps.Values(h.rooms))
	h.mu.Unlock()
	for _, r := range rooms {
		if r.beat(h.id, alive) {
			_ = r.send(h.nc, h.number())
		} else {
			_ = h.nc.Publish(hearSubject, []byte(r.name))
		}
	}
}

// ServeHTTP answers whether clients should be sent to this process.
func (h *hub) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if !h.ready.Load() || !h.nc.IsConnected() {
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}

// missed ends all rooms of this process, because packets were lost.
func (h *hub) missed(what string, err error) {
	h.mu.Lock()
	rooms := slices.Collect(maps.Values(h.rooms))
	h.mu.Unlock()
	log.Printf("%s: %v: the clients of %d rooms have to connect again", what, err, len(rooms))
	for _, r := range rooms {
		h.end(r)
	}
}

// end tells the members of a room that packets were lost: they connect again, to another room of the
// same name.
func (h *hub) end(r *room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(r)
	r.close()
}

// remove removes a room. h is locked.
func (h *hub) remove(r *room) {
	if h.rooms[r.name] == r {
		delete(h.rooms, r.name)
		_ = r.sub.Unsubscribe()
	}
}

// names matches the names of rooms. A name becomes a part of a subject.
var names = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// handle is the Handler of the server.
func (h *hub) handle(ctx context.Context, c *stream.Conn) error {
	late := time.AfterFunc(joinTimeout, func() { _ = c.CloseWithCode(stream.ClosePolicyViolation, "no name of a room") })
	d, err := c.Next() // the Server has no IdleTimeout, because members may only listen
	late.Stop()
	if err != nil {
		return err
	}
	name, err := d.ReadString()
	if err != nil {
		return err
	}
	if !names.MatchString(name) {
		return c.CloseWithCode(stream.ClosePolicyViolation, "no name of a room")
	}
	m, err := newMember(c)
	if err != nil {
		return err
	}
	r, err := h.join(name, m)
	if err != nil {
		return err
	}
	defer h.leave(r, m)
	select {
	case <-r.heard:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(joinTimeout):
		return c.CloseWithCode(stream.CloseTryAgainLater, "no answer of the other processes")
	}
	for {
		m.packet, err = c.NextRaw(m.packet[:len(m.prefix)])
		if err == nil && len(m.packet) <= maxPacket {
			err = r.send(h.nc, m.packet)
		}
		if err != nil && !stream.Skippable(err) {
			return err
		}
	}
}

// join adds a member to a room, subscribing this process to the room before the first member.
func (h *hub) join(name string, m *member) (*room, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.rooms[name]
	if r == nil {
		r = newRoom(name, h.id, h.alive)
		var err error
		r.sub, err = h.nc.Subscribe(r.subject(), func(msg *nats.Msg) {
			if !r.deliver(msg.Data) {
				h.end(r)
			}
		})
		if err != nil {
			return nil, err
		}
		h.rooms[name] = r
		_ = h.nc.Publish(hearSubject, []byte(name)) // and every beat until all have answered
	}
	r.add(m)
	return r, nil
}

// leave removes a member from its room, and the room after its last member.
func (h *hub) leave(r *room, m *member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.leave(m) == 0 {
		h.remove(r)
	}
}
