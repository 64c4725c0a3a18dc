package stream_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
)

// pipeConns returns both ends of a connection within the program.
func pipeConns(t testing.TB, o *stream.Options) (server, client *stream.Conn) {
	a, b := net.Pipe()
	server, client = stream.NewConn(context.Background(), a, o), stream.NewConn(context.Background(), b, nil)
	t.Cleanup(func() { _, _ = server.Close(), client.Close() })
	return server, client
}

// receiveInt returns the int in the next packet.
func receiveInt(c *stream.Conn) (int64, error) {
	d, err := c.Next()
	if err != nil {
		return 0, err
	}
	return d.ReadInt()
}

func requireInts(t testing.TB, c *stream.Conn, want ...int64) {
	t.Helper()
	for _, n := range want {
		require.Equal(t, n, must(receiveInt(c))(t))
	}
}

// Packets to all, to one and to the others arrive in the order in which they were sent.
func TestRoomOrder(t *testing.T) {
	defer testenv.NoGoroutines(t)()
	var room stream.Room
	require.Zero(t, room.Len())
	require.NoError(t, room.WritePacket(number(1)), "nobody is there")
	var members []*stream.Member
	var clients []*stream.Conn
	for range 3 {
		server, client := pipeConns(t, nil)
		m := room.Join(server)
		require.Equal(t, server, m.Conn())
		members, clients = append(members, m), append(clients, client)
		require.Equal(t, len(members), room.Len())
	}
	require.Equal(t, members, slices.Collect(room.Members()))
	for m := range room.Members() {
		require.Equal(t, members[0], m)
		break
	}

	packet := encoded(t, number(1))
	require.NoError(t, room.WriteRaw(packet))
	clear(packet) // is not kept
	require.NoError(t, room.WritePacket(number(2)))
	require.NoError(t, members[0].WritePacket(number(3)))
	require.NoError(t, members[0].Others().WritePacket(number(4)))
	require.NoError(t, members[1].Others().WriteRaw(encoded(t, number(5))))
	members[2].Leave()
	members[2].Leave()
	require.Equal(t, members[:2], slices.Collect(room.Members()))
	require.NoError(t, members[2].Others().WritePacket(number(6)))
	require.NoError(t, room.WritePacket(number(7)))
	require.NoError(t, members[2].WriteRaw(encoded(t, number(8))))
	requireInts(t, clients[0], 1, 2, 3, 5, 6, 7)
	requireInts(t, clients[1], 1, 2, 4, 6, 7)
	requireInts(t, clients[2], 1, 2, 4, 5, 8)
	for _, m := range members {
		require.NoError(t, m.Flush())
		m.Leave()
		require.NoError(t, m.Conn().Close())
	}
	require.Zero(t, room.Len())
	require.NoError(t, members[0].Flush(), "nothing was sent")
	require.NoError(t, members[0].WritePacket(number(9)), "the connection is found to be closed later")
	require.Equal(t, net.ErrClosed, members[0].Flush())
	require.Equal(t, net.ErrClosed, members[0].WritePacket(number(9)))
}

// A packet that cannot be sent is an error, and nobody receives it.
func TestRoomErrors(t *testing.T) {
	own := errors.New("own")
	var room stream.Room
	large := make([]byte, 101)
	require.ErrorContains(t, room.WriteRaw(nil), "packet of 0 values")
	require.NoError(t, room.WriteRaw(large), "nobody is there")
	require.Equal(t, own, room.WritePacket(func(*gdwire.Encoder) error { return own }))
	server, client := pipeConns(t, &stream.Options{Format: gdwire.Godot3, MaxPacket: 1000})
	m := room.Join(server)
	smaller, _ := pipeConns(t, &stream.Options{MaxPacket: 100})
	room.Join(smaller).Leave()
	for name, w := range map[string]interface {
		WritePacket(func(*gdwire.Encoder) error) error
		WriteRaw([]byte) error
	}{"Room": &room, "Member": m, "Others": m.Others()} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, own, w.WritePacket(func(*gdwire.Encoder) error { return own }))
			require.ErrorIs(t, w.WritePacket(func(*gdwire.Encoder) error { return nil }), gdwire.ErrCount)
			require.ErrorIs(t, w.WriteRaw(nil), gdwire.ErrCount)
			require.ErrorIs(t, w.WritePacket(func(e *gdwire.Encoder) error { return e.WriteStringName("a") }), gdwire.ErrType, "Godot 3 has none")
			require.Equal(t, &stream.PacketTooLongError{Size: 101, Max: 100}, w.WriteRaw(large))
			require.Equal(t, &stream.PacketTooLongError{Size: 208, Max: 100}, w.WritePacket(str(strings.Repeat("x", 200))))
		})
	}
	require.NoError(t, m.WritePacket(number(1)))
	requireInts(t, client, 1)
}

// One of 500 members does not read: it is dropped, and no other waits for it, in a bubble whose time does
// not pass.
func TestRoomSlowMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count, packets, fits = 500, 40, 20
		room := stream.Room{MaxQueue: fits * (64 + 8)} // packets of 8 bytes
		dropped := make(chan error, count)
		s := &stream.Server{Handler: func(_ context.Context, c *stream.Conn) error {
			m := room.Join(c)
			defer m.Leave()
			_, err := c.Next()
			dropped <- err
			return err
		}}
		clients := make([]*stream.Conn, count)
		for i := range clients {
			server, client := net.Pipe()
			go s.ServeConn(stream.NewConn(t.Context(), server, nil))
			clients[i] = stream.NewConn(t.Context(), client, nil)
		}
		synctest.Wait()
		begin := time.Now()
		for n := range int64(packets) {
			require.NoError(t, room.WritePacket(number(n)))
			for _, c := range clients[1:] {
				requireInts(t, c, n)
			}
			synctest.Wait()
			require.Equal(t, n >= fits, len(dropped) == 1, n)
			require.Equal(t, count, room.Len()+len(dropped))
		}
		require.Zero(t, time.Since(begin))
		require.Equal(t, stream.ErrSlow, <-dropped)
		requireEnd(t, clients[0])
		require.NoError(t, s.Close())
		for range count - 1 {
			require.Equal(t, stream.ErrServerClosed, <-dropped)
		}
		synctest.Wait()
		require.Zero(t, room.Len())
		require.EqualValues(t, 1, s.Stats().TooSlow)
		require.EqualValues(t, 1, s.Stats().Failed)
	})
}

// requireEnd reads packets of c up to the end.
func requireEnd(t testing.TB, c *stream.Conn) {
	t.Helper()
	for {
		_, err := c.Next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return
		}
	}
}

// Why a member is dropped is the error of its handler, of its calls, and in the close frame.
func TestRoomDropped(t *testing.T) {
	for name, c := range map[string]struct {
		timeout time.Duration
		drop    func(s *fakeSocket, m, other *stream.Member) error
		want    error
		code    closeCode
		reason  string
	}{
		"slow for the room": {0, func(_ *fakeSocket, _, other *stream.Member) error {
			return other.Others().WriteRaw(make([]byte, 1000))
		}, stream.ErrSlow, 1013, "too slow"},
		"slow for a member": {0, func(_ *fakeSocket, m, _ *stream.Member) error {
			return m.WriteRaw(make([]byte, 1000))
		}, stream.ErrSlow, 1013, "too slow"},
		"timeout": {time.Second, func(*fakeSocket, *stream.Member, *stream.Member) error {
			time.Sleep(time.Second)
			return nil
		}, stream.ErrBroken, 1008, "timeout"},
		"lost": {0, func(s *fakeSocket, _, _ *stream.Member) error { return s.end() }, net.ErrClosed, 1000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				room := stream.Room{MaxQueue: 1000}
				s := newSocket()
				conn := messageConn(s.conn(t.Context()), s, &stream.Options{WriteTimeout: c.timeout})
				other, client := pipeConns(t, nil)
				m := room.Join(conn)
				sender := room.Join(other)
				require.NoError(t, m.WriteRaw(make([]byte, 2000)), "longer than MaxQueue, alone in its queue")
				synctest.Wait()
				flushed := make(chan error)
				go func() { flushed <- m.Flush() }()
				synctest.Wait()
				_ = c.drop(s, m, sender)
				require.ErrorIs(t, <-flushed, c.want)
				_, err := conn.Next()
				require.ErrorIs(t, err, c.want)
				require.False(t, stream.Skippable(err))
				require.Equal(t, err, m.WriteRaw([]byte{0}))
				require.Equal(t, err, m.Flush())
				synctest.Wait()
				require.Equal(t, 1, room.Len())
				require.Equal(t, c.code, <-s.closed)
				require.Equal(t, c.reason, s.reason.Load())
				require.NoError(t, sender.WritePacket(number(1)))
				requireInts(t, client, 1)
			})
		})
	}
}

// A MessageConn that panics ends its connection alone.
func TestRoomPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var room stream.Room
		var log bytes.Buffer
		s := &stream.Server{Logger: newLog(&log), Handler: func(_ context.Context, c *stream.Conn) error {
			room.Join(c)
			_, err := c.Next()
			return err
		}}
		_, b := channelPipe()
		go s.ServeMessages(t.Context(), panickingConn{b})
		synctest.Wait()
		require.NoError(t, room.WritePacket(number(1)))
		synctest.Wait()
		require.Zero(t, room.Len())
		require.EqualValues(t, 1, s.Stats().Panics)
		require.Contains(t, log.String(), "of a MessageConn")
	})
}

type panickingConn struct{ *channelConn }

func (panickingConn) WriteMessage(context.Context, []byte) error { panic("of a MessageConn") }

// Members join, send, leave, stop reading and vanish at random. Each receives a part of the packets, in one
// order, from its join to its leave or its end.
func TestRoomChaos(t *testing.T) {
	defer testenv.NoGoroutines(t)()
	const senders = 4
	sends := testenv.Cases(2000, 100_000)
	room := stream.Room{MaxQueue: 64 << 10}
	server, client := pipeConns(t, nil)
	witness := room.Join(server) // gets all packets
	var order []int64
	var all sync.WaitGroup
	all.Go(func() {
		for len(order) < senders*sends {
			n, err := receiveInt(client)
			if !assert.NoError(t, err) {
				return
			}
			order = append(order, n)
		}
	})

	var playing sync.WaitGroup
	var mu sync.Mutex
	var parts [][]int64
	var sent atomic.Int64
	for i := range senders {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		playing.Go(func() {
			for sent := sent.Load; sent() < int64(senders*sends); {
				server, client := pipeConns(t, nil)
				m := room.Join(server)
				read := make(chan struct{})
				stop, vanish := r.IntN(500), r.IntN(4)
				go func() {
					defer close(read)
					var part []int64
					for range stop {
						n, err := receiveInt(client)
						if err != nil {
							break
						}
						part = append(part, n)
					}
					mu.Lock()
					defer mu.Unlock()
					parts = append(parts, part)
				}()
				for range r.IntN(20) {
					runtime.Gosched()
				}
				if vanish > 0 {
					m.Leave()
				}
				if vanish > 1 {
					_ = client.Close()
				}
				if vanish > 2 {
					<-read
				}
				_ = server.Close()
				<-read
			}
		})
	}
	for i := range int64(senders) {
		all.Go(func() {
			for n := range int64(sends) {
				sent.Add(1)
				if !assert.NoError(t, room.WritePacket(number(n*senders+i))) {
					return
				}
				if n%100 == 0 {
					assert.NoError(t, witness.Flush())
				}
			}
		})
	}
	all.Wait()
	playing.Wait()
	require.Len(t, order, senders*sends)
	next, position := [senders]int64{}, map[int64]int{}
	for i, n := range order {
		require.Equal(t, next[n%senders], n/senders, "the packets of one sender are in its order")
		next[n%senders]++
		position[n] = i
	}
	received := 0
	for _, part := range parts {
		if len(part) > 0 {
			begin := position[part[0]]
			require.Equal(t, order[begin:begin+len(part)], part)
			received += len(part)
		}
	}
	require.NotZero(t, received)
	t.Logf("%d members, %d packets received", len(parts), received)
	require.NoError(t, witness.Conn().Close())
	require.NoError(t, client.Close())
	require.NoError(t, room.WritePacket(number(0))) // finds the members that vanished and have not left
	require.Error(t, witness.Flush())
	require.EventuallyWithT(t, func(t *assert.CollectT) { assert.Zero(t, room.Len()) }, time.Minute, time.Millisecond)
}

// Queues take the memory that the doc of Room tells: of small packets to one member each, MaxQueue for each
// member; of packets to all, MaxQueue for all.
func TestRoomMemory(t *testing.T) {
	const count, limit = 50, 256 << 10
	allocated := func() int64 { // without what is free between
		heapInUse()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, size := range []int{1, 100, 10_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			measure := func(queued int64, fill func(room *stream.Room, members []*stream.Member)) {
				room := stream.Room{MaxQueue: limit}
				var members []*stream.Member
				for range count {
					server, _ := pipeConns(t, nil) // nobody reads
					m := room.Join(server)
					members = append(members, m)
				}
				before := allocated()
				fill(&room, members)
				require.Equal(t, count, room.Len())
				require.Less(t, allocated()-before, queued+1<<20) // and the packets that are being written
				require.NoError(t, room.WriteRaw(make([]byte, size)), "one more than fits")
				require.Zero(t, room.Len())
			}
			fits := limit / (size + 64)
			measure(count*limit, func(_ *stream.Room, members []*stream.Member) {
				for _, m := range members {
					for range fits {
						require.NoError(t, m.WriteRaw(make([]byte, size)))
					}
				}
			})
			measure(limit+count*64*int64(fits), func(room *stream.Room, _ []*stream.Member) {
				for range fits {
					require.NoError(t, room.WriteRaw(make([]byte, size)))
				}
			})
		})
	}
}

// A zero Room holds DefaultMaxQueue for a member.
func TestRoomDefault(t *testing.T) {
	var room stream.Room
	server, _ := pipeConns(t, nil) // nobody reads
	m, packet := room.Join(server), make([]byte, 16<<10)
	for range stream.DefaultMaxQueue / (len(packet) + 64) {
		require.NoError(t, m.WriteRaw(packet))
	}
	require.Equal(t, stream.ErrSlow, m.WriteRaw(packet))
	require.Zero(t, room.Len())
}

// A framedSocket writes messages with their lengths.
type framedSocket struct {
	stream.MessageConn
	net.Conn
}

func (framedSocket) SetReadLimit(int64) {}

func (s framedSocket) WriteMessage(_ context.Context, message []byte) error {
	_, err := s.Write(framed(binary.LittleEndian, message))
	return err
}

func (s framedSocket) Close(int, string) error { return s.Conn.Close() }
func (s framedSocket) CloseNow() error         { return s.Conn.Close() }

// What waits in a queue is written with one Write. With BufferWrites, packets are held back neither in the Room nor in the
// connection.
func TestRoomOneWrite(t *testing.T) {
	for i, o := range []*stream.Options{nil, {BufferWrites: true}, {BigEndianLength: true}, nil} {
		synctest.Test(t, func(t *testing.T) {
			var room stream.Room
			a, b := net.Pipe()
			server := stream.NewConn(t.Context(), a, o)
			if i == 3 { // messages
				ln := &fakeListener{conns: make(chan net.Conn, 1)}
				ln.conns <- a
				a, err := stream.WebSocketListener(ln).Accept()
				require.NoError(t, err)
				server = stream.NewMessageConn(stream.WithNetConn(t.Context(), a), framedSocket{Conn: a}, o)
			}
			m := room.Join(server)
			packets := [][]byte{make([]byte, 8), make([]byte, 3000), {1}, make([]byte, 14_000), make([]byte, 9000)}
			writes := []int{1, 2, 1, 1} // packets in each
			for _, p := range packets {
				require.NoError(t, room.WriteRaw(p))
				synctest.Wait()
			}
			for _, n := range writes {
				order := binary.AppendByteOrder(binary.LittleEndian)
				if o != nil && o.BigEndianLength {
					order = binary.BigEndian
				}
				got, want := make([]byte, 1<<20), framed(order, packets[:n]...)
				k, err := b.Read(got) // of one Write
				require.NoError(t, err)
				require.True(t, bytes.Equal(want, got[:k]), "%d bytes, not %d", k, len(want))
				packets = packets[n:]
			}
			require.NoError(t, m.Flush())
			require.False(t, stream.HoldsBuffer(server))
			require.NoError(t, server.Close())
		})
	}
}

// A listener reads as much of what a member receives as it is told.
type listener struct {
	member *stream.Member
	tell   chan int // bytes
	got    []byte   // with lengths
	want   []byte   // that were sent, with lengths
	sent   []int    // the lengths of the packets
	round  [][]byte
	before int // bytes of got before this round
	slack  int64
}

// joined joins a room, over messages or a net.Pipe.
func joined(ctx context.Context, room *stream.Room, o *stream.Options, messages bool) *listener {
	l := &listener{tell: make(chan int, 100)}
	var next func(n int) ([]byte, error)
	if messages {
		server, client := channelPipe()
		client.SetReadLimit(1 << 30)
		l.member = room.Join(stream.NewMessageConn(ctx, server, o))
		next = func(int) ([]byte, error) {
			r, err := client.NextMessage(ctx)
			if err != nil {
				return nil, err
			}
			b, err := io.ReadAll(r)
			return framed(binary.LittleEndian, b), err
		}
	} else {
		server, client := net.Pipe()
		l.member = room.Join(stream.NewConn(ctx, server, o))
		next = func(n int) ([]byte, error) {
			b := make([]byte, min(n, 64<<10))
			n, err := client.Read(b)
			return b[:n], err
		}
	}
	go func() {
		for n := range l.tell {
			for n > 0 {
				b, err := next(n)
				if err != nil {
					break
				}
				l.got, n = append(l.got, b...), n-len(b)
			}
		}
	}()
	return l
}

// exceeds reports whether packets of these lengths that are not among the first read bytes, and the next one, count more than
// most.
func exceeds(sent []int, read, next int, most int64) bool {
	unread := 0
	for _, n := range sent {
		if read -= 4 + n; read < 0 {
			unread += n + 64
		}
	}
	return unread > 0 && int64(unread+next+64) > most
}

// Members that read at random receive the packets that were sent, in their order, or are dropped when their queues are full.
func TestRoomQueues(t *testing.T) {
	seeds := uint64(20)
	if testenv.Full() {
		seeds = 500
	}
	var survived, dropped int
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			room := stream.Room{MaxQueue: []int64{300, 5000, 100_000, 1 << 20, 1 << 40}[r.IntN(5)]}
			o := &stream.Options{BufferWrites: room.MaxQueue == 1<<40} // then nobody is dropped, which waits for a Write
			var live []*listener
			for i := range 6 {
				l := joined(t.Context(), &room, o, i%3 == 2)
				if live = append(live, l); i%3 < 2 {
					l.slack = min(16<<10, room.MaxQueue/8)
				}
			}
			for range 10 {
				for i, l := range live {
					if l.round, l.before = nil, len(l.got); i > 0 && r.IntN(3) > 0 {
						l.tell <- r.IntN([]int{200, 20_000, 1 << 20}[r.IntN(3)])
					}
				}
				for range r.IntN(20) {
					p := make([]byte, 1+r.IntN([]int{40, 40, 40, 1000, 1000, 20_000, 100_000}[r.IntN(7)]))
					p[0], p[len(p)-1] = byte(r.Uint32()), byte(r.Uint32())
					one := live[r.IntN(len(live))]
					to := r.IntN(3)
					err := []func([]byte) error{room.WriteRaw, one.member.WriteRaw, one.member.Others().WriteRaw}[to](p)
					require.True(t, err == nil || to == 1 && err == stream.ErrSlow, "%v", err)
					for _, l := range live {
						if to == 0 || (to == 1) == (l == one) {
							l.round = append(l.round, bytes.Clone(p))
						}
					}
					clear(p) // is not kept
				}
				synctest.Wait()
				members := slices.Collect(room.Members())
				live = slices.DeleteFunc(live, func(l *listener) bool {
					may, must := false, false
					for _, p := range l.round {
						must = must || exceeds(l.sent, len(l.got), len(p), room.MaxQueue)
						may = may || exceeds(l.sent, l.before, len(p), room.MaxQueue-l.slack)
						l.sent, l.want = append(l.sent, len(p)), append(l.want, framed(binary.LittleEndian, p)...)
					}
					isDropped := !slices.Contains(members, l.member)
					require.True(t, isDropped && may || !isDropped && !must, "%v %v %v", isDropped, may, must)
					require.True(t, bytes.HasPrefix(l.want[l.before:], l.got[l.before:]))
					if isDropped {
						dropped++
						require.Equal(t, stream.ErrSlow, l.member.WriteRaw([]byte{0}))
						close(l.tell)
					}
					return isDropped
				})
				if len(live) == 0 {
					return
				}
			}
			for _, l := range live {
				survived++
				l.tell <- math.MaxInt
				require.NoError(t, l.member.Flush())
				synctest.Wait()
				require.True(t, bytes.Equal(l.want, l.got))
				require.EqualValues(t, len(l.sent), l.member.Conn().Stats().PacketsOut)
				require.NoError(t, l.member.Conn().Close())
				close(l.tell)
			}
		})
	}
	require.Greater(t, survived, int(seeds))
	require.Greater(t, dropped, int(seeds))
	t.Logf("%d members survived, %d were dropped", survived, dropped)
}

// Sending to members that are not slow allocates the packet once, and what their goroutines need.
func TestRoomAllocations(t *testing.T) {
	var room stream.Room
	var members []*stream.Member
	var clients []*stream.Conn
	for range 10 {
		server, client := pipeConns(t, nil)
		members, clients = append(members, room.Join(server)), append(clients, client)
	}
	packet, buf := encoded(t, str(strings.Repeat("x", 5000))), make([]byte, 0, 6000)
	allocations := testing.AllocsPerRun(100, func() {
		_ = room.WriteRaw(packet)
		for i, c := range clients {
			if _, err := c.NextRaw(buf); err != nil {
				panic(err)
			}
			_ = members[i].Flush()
		}
	})
	require.LessOrEqual(t, allocations, 1+3*float64(len(clients)))
}

// The example of a chat survives what a client sends.
func TestRoomExampleInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &chat{names: map[*stream.Member]string{}}
		s := &stream.Server{Handler: h.handle, Logger: quiet()}
		connect := func(first []byte) (net.Conn, *stream.Conn) {
			server, client := net.Pipe()
			go s.ServeConn(stream.NewConn(t.Context(), server, nil))
			go func() { _, _ = client.Write(framed(binary.LittleEndian, first)) }()
			return client, stream.NewConn(t.Context(), client, nil)
		}
		_, ada := connect(encoded(t, str("Ada")))
		packets := mixed(t)
		for _, first := range packets {
			raw, c := connect(first)
			go func() { _, _ = io.Copy(io.Discard, raw) }()
			go func() {
				for _, p := range packets {
					_ = c.WriteRaw(p)
				}
				_, _ = raw.Write([]byte{200, 0, 0, 0, 1}) // a packet that ends
				_ = raw.Close()
			}()
		}
		go func() {
			for {
				if _, err := ada.Next(); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		require.Equal(t, 1, h.room.Len())
		require.Len(t, h.names, 1)
		require.EqualValues(t, 1, s.Stats().Conns)
		require.NoError(t, ada.Close())
	})
}

// A latestModel is a member with messages that reads when it is told, and its queue.
type latestModel struct {
	*listener
	queue []struct {
		key    any
		packet []byte
	} // the first is being written
	read []byte
}

// send queues a packet, and puts it in the place of one of the same key.
func (m *latestModel) send(key any, packet []byte) {
	for i := range m.queue {
		if i > 0 && key != nil && m.queue[i].key == key {
			m.queue[i].packet = packet
			return
		}
	}
	m.queue = append(m.queue, struct {
		key    any
		packet []byte
	}{key, packet})
}

// receive reads up to n packets and returns them.
func (m *latestModel) receive(t *testing.T, n int) (packets [][]byte) {
	n = min(n, len(m.queue))
	before := len(m.got)
	m.tell <- 12 * n
	synctest.Wait()
	for _, e := range m.queue[:n] {
		packets = append(packets, e.packet)
		m.read = append(m.read, framed(binary.LittleEndian, e.packet)...)
	}
	m.queue = m.queue[n:]
	require.Equal(t, m.read[before:], m.got[before:])
	return packets
}

// Packets of Latest replace those that wait, for all members, the others and one; all others keep their order.
func TestRoomLatest(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 9))
			var room stream.Room
			members := []*latestModel{{listener: joined(t.Context(), &room, nil, true)}, {listener: joined(t.Context(), &room, nil, true)}}
			for n := range uint64(2000) {
				packet := binary.LittleEndian.AppendUint64(nil, n)
				one := members[r.IntN(2)]
				var key any
				if r.IntN(3) > 0 {
					key = r.IntN(1 << r.IntN(10))
				}
				to := r.IntN(3)
				switch {
				case key != nil:
					require.NoError(t, []func(any) stream.Latest{room.Latest, one.member.Latest, one.member.Others().Latest}[to](key).WriteRaw(packet))
				default:
					require.NoError(t, []func([]byte) error{room.WriteRaw, one.member.WriteRaw, one.member.Others().WriteRaw}[to](packet))
				}
				synctest.Wait()
				for _, m := range members {
					if to == 0 || (to == 1) == (m == one) {
						m.send(key, packet)
					}
				}
				if r.IntN(20) == 0 {
					one.receive(t, r.IntN(100))
				}
			}
			for _, m := range members {
				m.receive(t, len(m.queue))
				require.NoError(t, m.member.Flush())
				require.NoError(t, m.member.Conn().Close())
				close(m.tell)
			}
		})
	}
}

// A member that reads a tenth of 100 players' positions is not dropped: within eleven rounds it receives each, as it was in
// the latest round.
func TestRoomLatestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const players = 100
		room := stream.Room{MaxQueue: 20_000}
		m := &latestModel{listener: joined(t.Context(), &room, nil, true)}
		var seen map[uint32]bool
		for round := range uint32(200) {
			for player := range uint32(players) {
				packet := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, player), round)
				require.NoError(t, room.Latest(player).WriteRaw(packet))
				synctest.Wait()
				m.send(player, packet)
			}
			if round%11 == 0 { // one player's is being written, and waits again
				require.True(t, round < 11 || len(seen) == players, "%d in eleven rounds", len(seen))
				seen = map[uint32]bool{}
			}
			for i, p := range m.receive(t, players/10) {
				age := round - binary.LittleEndian.Uint32(p[4:])
				require.LessOrEqual(t, age, uint32(1), "%d", i) // of the one that was being written
				require.True(t, age == 0 || i == 0)
				seen[binary.LittleEndian.Uint32(p)] = true
			}
		}
		require.Equal(t, 1, room.Len())
		require.NoError(t, m.member.Conn().Close())
		close(m.tell)
	})
}

// Keys count: a member is dropped when too many wait, and a packet that grows counts, too.
func TestRoomLatestBound(t *testing.T) {
	for name, c := range map[string]struct {
		size func(n int) int
		key  func(n int) any
		want int
	}{
		"packets": {func(int) int { return 36 }, func(int) any { return nil }, 100},
		"keys":    {func(int) int { return 36 }, func(n int) any { return n }, 61},
		"growing": {func(n int) int { return max(1, 100*n) }, func(int) any { return 1 }, 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				room := stream.Room{MaxQueue: 10_000}
				m := joined(t.Context(), &room, nil, true)
				sent := 0
				for ; room.Len() > 0; sent++ {
					require.NoError(t, room.Latest(c.key(sent)).WriteRaw(make([]byte, c.size(sent))))
					synctest.Wait()
				}
				require.InDelta(t, c.want, sent, 1)
				require.Equal(t, stream.ErrSlow, m.member.WriteRaw([]byte{1}))
				close(m.tell)
			})
		})
	}
}
