package main

import (
	"encoding/binary"
	"log"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
	"github.com/nats-io/nats.go"
)

const (
	// maxPacket is the maximum length of a packet in bytes, with the id of its sender.
	maxPacket = 64 << 10
	// maxQueue is the maximum size in bytes of the packets waiting for a member. With more, the member
	// is dropped.
	maxQueue = 4 << 20
)

// A member is a client in a room.
type member struct {
	*stream.Member // after joining
	conn           *stream.Conn
	id             []byte // an int, encoded
	prefix         []byte // an Array of two, encoded up to the second element: the first is the id
	packet         []byte // the latest from the client, after the prefix
}

func newMember(c *stream.Conn) (*member, error) {
	id := rand.Int64()
	m := &member{conn: c}
	var err error
	if m.id, err = variant.Marshal(id); err != nil {
		return nil, err
	}
	array, err := variant.Marshal([]any{id, nil})
	m.prefix = array[:len(array)-4] // without the nil
	m.packet = append(m.packet, m.prefix...)
	return m, err
}

// A room contains the members connected to this process.
//
// Each message of a room begins with the random number of its sender's room and a count, so that the
// rooms of other processes notice lost packets: while a process was paused, a route was cut, or NATS
// was too slow. A packet follows, or the number of the sender's process in an answer to hearSubject.
// An answer is repeated every beat and does not count, but shows whether the latest packets were
// lost.
//
// A room ends after losing packets, and so do the connections of its members.
type room struct {
	name string
	sub  *nats.Subscription

	sending sync.Mutex
	number  uint64
	count   uint64 // of packets sent

	members stream.Room

	mu      sync.Mutex
	early   []*member           // waiting for r to be heard, and for their ids
	others  map[uint64]other    // by number, including this room
	waiting map[uint64]struct{} // processes without an answer yet
	heard   chan struct{}       // closed when none are waiting
}

// other describes the room of a process.
type other struct {
	count uint64 // of its packets, as far as arrived
	at    time.Time
}

const (
	headerSize = 16
	answerSize = headerSize + 8
)

// newRoom returns a room waiting for an answer of these processes.
func newRoom(name string, process uint64, alive map[uint64]time.Time) *room {
	r := &room{
		name: name, number: rand.Uint64() | 1, heard: make(chan struct{}),
		members: stream.Room{MaxQueue: maxQueue}, others: map[uint64]other{}, waiting: map[uint64]struct{}{process: {}},
	}
	for id := range alive {
		r.waiting[id] = struct{}{}
	}
	return r
}

func (r *room) subject() string { return "room." + r.name }

// send sends a packet, or the number of this process, to all processes.
func (r *room) send(nc *nats.Conn, packet []byte) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	count := r.count
	if len(packet) > answerSize-headerSize {
		count++
	}
	message := binary.LittleEndian.AppendUint64(make([]byte, 0, headerSize+len(packet)), r.number)
	message = binary.LittleEndian.AppendUint64(message, count)
	if err := nc.Publish(r.subject(), append(message, packet...)); err != nil {
		return err
	}
	r.count = count
	return nil
}

// deliver passes a packet to all members without waiting, or returns false if earlier packets were
// lost.
func (r *room) deliver(message []byte) bool {
	if len(message) < answerSize {
		return true // of another program
	}
	number, count := binary.LittleEndian.Uint64(message), binary.LittleEndian.Uint64(message[8:])
	packet := message[headerSize:]
	answer := len(message) == answerSize
	r.mu.Lock()
	defer r.mu.Unlock()
	if number != 0 {
		arrived, before := r.others[number].count, count // 0 of a new room
		if !answer {
			before--
		}
		if r.isHeard() && arrived != before {
			log.Printf("%s: packets %d to %d of a process are lost", r.name, arrived+1, before)
			return false
		}
		r.others[number] = other{count, time.Now()}
	}
	switch {
	case answer:
		delete(r.waiting, binary.LittleEndian.Uint64(packet))
		r.admit()
	case !r.isHeard():
		dropped.Add(1)
	default:
		_ = r.members.WriteRaw(packet) // an error of an empty packet, of another program
	}
	return true
}

// isHeard reports whether all processes answered.
func (r *room) isHeard() bool {
	select {
	case <-r.heard:
		return true
	default:
		return false
	}
}

// admit tells the members their ids once all processes answered. r is locked.
func (r *room) admit() {
	if len(r.waiting) > 0 || r.isHeard() {
		return
	}
	close(r.heard)
	for _, m := range r.early {
		_ = m.WriteRaw(m.id) // an error of a member who was dropped
	}
	r.early = nil
}

// beat forgets ended processes, except this one, and ended rooms of others, and reports whether r is
// heard.
func (r *room) beat(process uint64, alive map[uint64]time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.waiting, func(id uint64, _ struct{}) bool {
		_, ok := alive[id]
		return !ok && id != process
	})
	r.admit()
	maps.DeleteFunc(r.others, func(_ uint64, o other) bool { return time.Since(o.at) > forgetAfter })
	return r.isHeard()
}

// add adds a member.
func (r *room) add(m *member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.Member = r.members.Join(m.conn)
	if r.isHeard() {
		_ = m.WriteRaw(m.id) // its first packet
	} else {
		r.early = append(r.early, m)
	}
}

// leave removes a member and returns the number of others.
func (r *room) leave(m *member) int {
	m.Leave()
	return r.members.Len()
}

// close tells the members that packets were lost.
func (r *room) close() {
	for m := range r.members.Members() {
		m.Leave()
		told.Add(1)
		go func() { _ = m.Conn().CloseWithCode(stream.CloseServiceRestart, "packets were lost") }()
	}
}
