package traffic

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/base/address"
)

// Recordings: their packets for a page, and the command replay.

// A recordedFile is the file of one direction of a connection.
type recordedFile struct {
	*os.File
	framing framing
	next    func() (message, error)
	offset  int64 // after the latest message
}

// OpenRecording returns the packets of a recording, in the order of forwarding. A page shows the
// latest of them.
func OpenRecording(index string, o *open.Flags) (live *page.Live, err error) {
	f, err := os.Open(index)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	prefix := strings.TrimSuffix(index, record.IndexName(""))
	files := map[string]*recordedFile{}
	defer func() {
		for _, r := range files {
			_ = r.Close()
		}
	}()
	live = newLive(o.Reading(-1))
	for p, err := range record.ReadIndex(f) {
		if err != nil {
			return nil, shell.Prefixed(index, err)
		}
		name := record.FileName(prefix, p.Connection, p.Direction)
		r := files[name]
		if r == nil {
			if r, err = openRecorded(name, o); err != nil {
				return nil, err
			}
			files[name] = r
		}
		packet, err := r.packet(p)
		if err != nil {
			return nil, shell.Prefixed(name, err)
		}
		at := time.Unix(0, 0).UTC().Add(p.Time)
		u := r.framing.Unpack(packet)
		live.Add(at, p.Connection, p.Direction == record.FromClient, &u, r.framing.Decoder)
	}
	return live, nil
}

func openRecorded(name string, o *open.Flags) (*recordedFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r := &recordedFile{File: f, framing: newFraming(o)}
	r.framing.Decoder.AllowObjects = true
	m, err := newMessages(f, &r.framing, func(string) {})
	if err != nil {
		return nil, errors.Join(shell.Prefixed(name, err), f.Close())
	}
	r.next = m.next
	return r, nil
}

// packet returns a packet of the index, after the packets of earlier calls.
func (r *recordedFile) packet(p record.Packet) ([]byte, error) {
	for r.offset <= p.Offset {
		m, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		at := r.offset
		r.offset += m.size
		if at == p.Offset && m.packet != nil {
			return m.packet, nil
		}
	}
	return nil, fmt.Errorf("there is no packet at offset %d, as the index says", p.Offset)
}

// Replay defines the flags of replay.
func Replay(f *shell.Flags) shell.Action {
	r := &replayFlags{}
	r.open.ValueFlags(f, false)
	r.open.LimitFlags(f)
	r.open.Decoder.AllowObjects = true
	f.Float64Var(&r.speed, "speed", 1, "send at `X` times the recorded speed; 0 is as fast as possible")
	f.DurationVar(&r.timeout, "timeout", 10*time.Second, "wait at most `TIME` for each answer, and for the end of a connection")
	return shell.Action{
		Check: func() error { return r.check(&f.Operands[1]) },
		Run:   func(s *shell.Stdio) error { return r.run(s, f.Operands[0], f.Operands[1]) },
	}
}

// The replayFlags are the flags of replay.
type replayFlags struct {
	open    open.Flags
	speed   float64
	timeout time.Duration
}

func (o *replayFlags) check(addr *string) error {
	switch {
	case o.speed < 0 || math.IsInf(o.speed, 0) || math.IsNaN(o.speed):
		return errors.New("-speed is not a number from 0 on")
	case o.timeout <= 0:
		return errors.New("-timeout is not more than 0")
	}
	return shell.CompleteAddress(addr)
}

// maxDiffering is the number of differences shown.
const maxDiffering = 20

// A replayer sends a recording to a server and compares the answers with the recorded ones.
type replayer struct {
	*shell.Stdio
	options *replayFlags
	prefix  string
	addr    string // of the server
	start   time.Time

	close []io.Closer
	sent  atomic.Int64 // packets
	count atomic.Int64 // answers

	mu     sync.Mutex
	times  [2][]time.Duration // of answers: as recorded, and now
	differ int64
	failed int64 // connections without a server
}

// run sends a recording again.
func (o *replayFlags) run(s *shell.Stdio, prefix, addr string) error {
	ctx, stop := shell.UntilEnded()
	defer stop()
	p := &replayer{Stdio: s, options: o, prefix: prefix, addr: addr}
	connections, timed, err := record.Connections(p.prefix)
	if err != nil {
		return err
	}
	if !timed {
		s.Logf("there is no %s: the packets of each file are sent in their order, without times", record.IndexName(p.prefix))
	}
	defer func() {
		for _, f := range p.close {
			_ = f.Close()
		}
	}()
	var sessions []*replayed
	for _, c := range connections {
		first, err := p.open(c, timed)
		if err != nil {
			return err
		}
		sessions = append(sessions, first)
	}
	p.start = time.Now()
	var all sync.WaitGroup
	for _, one := range sessions {
		all.Go(func() { one.run(ctx) })
	}
	all.Wait()
	p.summary(len(sessions))
	if p.differ+p.failed > 0 && ctx.Err() == nil {
		return shell.ErrBad
	}
	return ctx.Err()
}

// summary shows the numbers of packets and answers, and the times of the answers.
func (p *replayer) summary(connections int) {
	fmt.Fprintf(p.Out, "%d connections: %d packets sent, %d answers, %d differ\n", connections, p.sent.Load(), p.count.Load(), p.differ)
	if p.failed > 0 {
		fmt.Fprintf(p.Out, "%d connections were not made\n", p.failed)
	}
	for i, name := range []string{"recorded", "now"} {
		if all := p.times[i]; len(all) > 0 {
			slices.Sort(all)
			fmt.Fprintf(p.Out, "answers %s after: half of them %v, 90 %% %v, 99 %% %v, all %v\n", name, quantile(all, 0.5), quantile(all, 0.9), quantile(all, 0.99), quantile(all, 1))
		}
	}
}

// A replayed is one connection of a recording.
type replayed struct {
	*replayer
	number  int64
	framing framing              // with the recognized format
	kind    *messages            // reads messages like those of the server
	files   [2]*io.SectionReader // the recorded bytes of the client, and of the server or nil
	packets []record.Packet      // of the client
	answers []record.Packet      // of the server, if there is an index
}

// open opens the files of a connection, and recognizes their format.
func (p *replayer) open(c *record.Connection, timed bool) (*replayed, error) {
	s := &replayed{replayer: p, number: c.Number, framing: newFraming(&p.options.open), packets: c.Packets[record.FromClient], answers: c.Packets[record.FromServer]}
	for way := range s.files {
		f, err := os.Open(record.FileName(p.prefix, c.Number, record.Direction(way)))
		if errors.Is(err, fs.ErrNotExist) && way == int(record.FromServer) { // of listen
			continue
		}
		if err != nil {
			return nil, err
		}
		p.close = append(p.close, f)
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		s.files[way] = io.NewSectionReader(f, 0, info.Size())
	}
	for _, packet := range append(s.packets, s.answers...) {
		if file := s.files[packet.Direction]; file == nil || packet.Offset+packet.Length > file.Size() {
			return nil, fmt.Errorf("%s: a packet ends at %d, after the end of the file of connection %d", record.IndexName(p.prefix), packet.Offset+packet.Length, c.Number)
		}
	}
	for way, f := range s.files {
		if f == nil {
			continue
		}
		m, err := newMessages(f, &s.framing, func(string) {})
		if err == io.EOF { // nothing was sent
			continue
		}
		if err != nil {
			return nil, shell.Prefixed(record.FileName(p.prefix, c.Number, record.Direction(way)), err)
		}
		s.kind = m
		if way == 0 && !timed {
			if s.packets, err = allPackets(m); err != nil {
				return nil, shell.Prefixed(record.FileName(p.prefix, c.Number, record.FromClient), err)
			}
		}
	}
	return s, nil
}

// allPackets returns the packets of a file without an index.
func allPackets(m *messages) (all []record.Packet, err error) {
	for at := int64(0); ; {
		next, err := m.next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		n := next.size
		if next.packet != nil {
			all = append(all, record.Packet{Offset: at, Length: n})
		}
		at += n
	}
}

// run sends the packets of the connection and compares the answers.
func (s *replayed) run(ctx context.Context) {
	if s.kind == nil || len(s.packets) > 0 && !s.wait(ctx, s.packets[0].Time) {
		return
	}
	conn, err := address.Dial(ctx, s.addr)
	if err != nil {
		s.fails(err)
		return
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	var sent atomic.Int64 // when the latest packet was sent, in nanoseconds since the start
	sending := make(chan error, 1)
	go func() { sending <- s.send(ctx, conn, &sent) }()
	arrived := s.kind.again(conn)
	if s.files[record.FromServer] != nil {
		err = s.compare(conn, arrived, &sent)
	}
	if err == nil {
		err = s.finish(conn, arrived, sending)
	} else {
		_ = conn.Close()
		err = cmp.Or(err, <-sending)
	}
	if err != nil && ctx.Err() == nil {
		s.differs(": %v", err)
	}
}

// moreTime is the time to wait for more answers than were recorded.
const moreTime = 200 * time.Millisecond

// finish reads answers until the server has taken all packets, and returns the error of sending
// them. A connection closed while bytes arrive is reset, and the server loses unread packets.
func (s *replayed) finish(conn net.Conn, arrived *messages, sending <-chan error) error {
	type result struct {
		packets int64
		err     error
	}
	reading := make(chan result, 1)
	err := conn.SetReadDeadline(time.Time{}) // until all packets are sent
	go func() {
		n, end := rest(arrived, conn)
		reading <- result{n, end}
	}()
	err = cmp.Or(<-sending, err)
	compares, wait := s.files[record.FromServer] != nil, s.options.timeout
	if compares {
		wait = moreTime
	}
	if c, ok := conn.(interface{ CloseWrite() error }); ok && err == nil {
		err = c.CloseWrite()
	}
	if err == nil {
		err = conn.SetReadDeadline(time.Now().Add(wait))
	}
	if err != nil {
		_ = conn.Close()
	}
	more := <-reading
	silent := errors.Is(more.err, os.ErrDeadlineExceeded)
	if !compares {
		s.count.Add(more.packets)
	} else if more.packets > 0 && err == nil {
		s.differs(": %d more answers than recorded", more.packets)
	}
	switch {
	case err != nil:
		more.err = err
	case more.err == nil || silent && compares:
		return nil
	case silent:
		return fmt.Errorf("the server has not closed the connection after %v: perhaps it has not taken all packets", wait)
	}
	return fmt.Errorf("the server has not taken all packets: %w", more.err)
}

// rest reads all arriving bytes and returns the number of packets.
func rest(arrived *messages, conn net.Conn) (packets int64, err error) {
	for ; ; packets++ {
		if _, err = arrived.nextPacket(); err != nil {
			break
		}
	}
	if failed := (*net.OpError)(nil); errors.As(err, &failed) {
		return packets, err
	}
	_, err = io.Copy(io.Discard, conn) // no packets of this kind, or the end
	return packets, err
}

// wait waits until a recorded time, or returns false if ctx is done.
func (s *replayed) wait(ctx context.Context, at time.Duration) bool {
	wait := time.Until(s.due(at))
	if wait <= 0 || s.options.speed == 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// due returns the time for a packet recorded at a time.
func (s *replayed) due(at time.Duration) time.Time {
	if s.options.speed == 0 {
		return time.Now()
	}
	return s.start.Add(time.Duration(float64(at) / s.options.speed))
}

// send sends the packets of the client, at their times.
func (s *replayed) send(ctx context.Context, conn net.Conn, sent *atomic.Int64) error {
	for i, p := range s.packets {
		if !s.wait(ctx, p.Time) {
			return ctx.Err()
		}
		if i == 0 && s.kind.isWebSocket() { // with the handshake
			p.Offset, p.Length = 0, p.Offset+p.Length
		}
		if err := conn.SetWriteDeadline(time.Now().Add(s.options.timeout)); err != nil {
			return err
		}
		if _, err := io.Copy(conn, io.NewSectionReader(s.files[0], p.Offset, p.Length)); err != nil {
			return err
		}
		sent.Store(int64(time.Since(s.start)))
		s.sent.Add(1)
	}
	return nil
}

// compare compares the packets received with the recorded packets of the server.
func (s *replayed) compare(conn net.Conn, arrived *messages, sent *atomic.Int64) error {
	recorded := s.kind.again(io.NewSectionReader(s.files[1], 0, s.files[1].Size()))
	asked := 0
	for n := 0; ; n++ {
		want, err := recorded.nextPacket()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return shell.Prefixed(record.FileName(s.prefix, s.number, record.FromServer), err)
		}
		deadline := time.Now()
		if n < len(s.answers) {
			deadline = s.due(s.answers[n].Time)
		}
		if err := conn.SetReadDeadline(deadline.Add(s.options.timeout)); err != nil {
			return err
		}
		got, err := arrived.nextPacket()
		if err != nil {
			return fmt.Errorf("no answer %d, recorded %s: %w", n, s.text(want), err)
		}
		s.count.Add(1)
		s.note(1, time.Since(s.start)-time.Duration(sent.Load()))
		if n < len(s.answers) {
			for asked < len(s.packets) && s.packets[asked].Time <= s.answers[n].Time {
				asked++
			}
			if asked > 0 {
				s.note(0, s.answers[n].Time-s.packets[asked-1].Time)
			}
		}
		if !bytes.Equal(got, want) {
			s.differs(", answer %d: recorded %s, got %s", n, s.text(want), s.text(got))
		}
	}
}

// text returns the start of a packet as text.
func (s *replayed) text(packet []byte) string {
	u := s.framing.Unpack(packet)
	text := shell.Cut(plainText(u.Value, &s.framing.Reading, viewColumns/2), viewColumns/2)
	if u.Compressed {
		text = u.ModeName() + " " + text
	}
	return text
}

// differs counts a difference, and shows it after the number of the connection, unless many were shown.
func (s *replayed) differs(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.differ++
	if s.differ <= maxDiffering {
		fmt.Fprintf(s.Out, "#%d%s\n", s.number, shell.Printable(fmt.Sprintf(format, args...)))
	} else if s.differ == maxDiffering+1 {
		fmt.Fprintln(s.Out, "…")
	}
}

// note notes the time of an answer, as recorded (0) or now (1).
func (s *replayed) note(when int, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[when] = append(s.times[when], max(d, 0))
}

// fails counts a connection that the server did not accept, and reports the first of these.
func (s *replayed) fails(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed++; s.failed == 1 {
		s.Logf("#%d: %v", s.number, err)
	}
}

// quantile returns the time within which a share of the answers, sorted by their times, came.
func quantile(all []time.Duration, share float64) time.Duration {
	return all[int(math.Ceil(share*float64(len(all))))-1].Round(time.Microsecond)
}
