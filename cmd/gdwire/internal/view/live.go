package view

import (
	"context"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// The limits of the latest packets kept by a Live.
const (
	livePackets = 20_000
	liveBytes   = 32 << 20
)

// A Packet is a live packet.
type Packet struct {
	Number     int64     `json:"number"`
	Time       time.Time `json:"time"`
	Connection int64     `json:"connection"`
	ToServer   bool      `json:"toServer"`
	Size       int       `json:"size"`
	Compressed string    `json:"compressed,omitempty"` // the mode of compression by a script
	Error      *fault    `json:"error,omitempty"`

	raw     []byte
	options *gdwire.DecoderOptions
}

// A packetLine is a line of the list of packets.
type packetLine struct {
	Packet
	Text  string `json:"text"`
	Match bool   `json:"match"` // the condition of the request holds
}

// A condition holds for packets with a value at a path.
type condition struct {
	path  string
	value text.Value
}

// newCondition parses path = value.
func newCondition(line string) (*condition, error) {
	p, value, err := text.ParseLine(line)
	if err != nil {
		return nil, err
	}
	return &condition{p.String(), value}, nil
}

// holds reports whether the value at the path in a packet equals the value of the condition, with the
// type in the packet.
func (c *condition) holds(s *Source) bool {
	w, missing, err := s.wayTo(nil, c.path)
	if err != nil || missing != "" {
		return false
	}
	t := s.tracer(nil)
	defer t.release()
	_, found, err := t.row(w)
	if err != nil {
		return false
	}
	got, err := text.ParseValue(found.Text)
	if err != nil { // a container
		return false
	}
	want, ok := c.value.FitLike(&got)
	return ok && want.String() == got.String()
}

// A TextFunc returns the text of a packet in the list.
type TextFunc func(raw []byte, options gdwire.DecoderOptions) string

// Live keeps the latest packets of live connections.
type Live struct {
	text TextFunc

	mu      sync.Mutex
	ring    []Packet // the packet with number n is at n modulo livePackets
	block   []byte   // with the latest packets: few large blocks take less time than many small ones
	next    int64    // the number of the next packet
	kept    int64    // the number of kept packets before next
	bytes   int
	missed  int64                  // packets of Miss
	options *gdwire.DecoderOptions // of the latest packet
	added   chan struct{}          // closed when a packet is added; nil if nobody waits
}

// NewLive returns a Live without packets. Adding packets takes little time, because text is called
// only for packets requested by a page.
func NewLive(text TextFunc) *Live {
	return &Live{text: text, ring: make([]Packet, livePackets)}
}

// blockSize is the size in bytes of the blocks shared by packets.
const blockSize = 64 << 10

// Add adds a copy of the value in a packet received completely at a time, without waiting.
func (l *Live) Add(at time.Time, connection int64, toServer bool, u *save.Unpacked, options gdwire.DecoderOptions) {
	raw := u.Value
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.options == nil || *l.options != options {
		o := options // the parameter would be allocated for every packet
		l.options = &o
	}
	if cap(l.block)-len(l.block) < len(raw) {
		l.block = make([]byte, 0, max(blockSize, len(raw)))
	}
	l.block = append(l.block, raw...)
	l.bytes += len(raw)
	for l.kept == livePackets || l.bytes > liveBytes && l.kept > 0 {
		oldest := l.at(l.next - l.kept)
		l.kept--
		l.bytes -= oldest.Size
		*oldest = Packet{}
	}
	p := l.at(l.next)
	p.Number, p.Time, p.Connection, p.ToServer, p.Size = l.next, at, connection, toServer, len(raw)
	p.raw = l.block[len(l.block)-len(raw) : len(l.block) : len(l.block)]
	p.options, p.Compressed = l.options, u.ModeName()
	if u.Err != nil {
		p.Error = faultOf(u.Err)
	}
	l.next++
	l.kept++
	if l.added != nil {
		close(l.added)
		l.added = nil
	}
}

// at returns the memory for the packet with a number.
func (l *Live) at(number int64) *Packet { return &l.ring[number%livePackets] }

// Miss counts a packet not added because there is no time to show it.
func (l *Live) Miss() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed++
}

// packet returns the content of the packet with a number, or nil if it is no longer kept.
func (l *Live) packet(number int64) *Source {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number < l.next-l.kept || number >= l.next {
		return nil
	}
	return l.at(number).source()
}

// keptPackets returns the range of the kept packets.
func (l *Live) keptPackets() (from, to int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next - l.kept, l.next
}

func (p *Packet) source() *Source {
	s := &Source{Store: save.InMemory(p.raw)}
	s.Format, s.Frame, s.Options = p.options.Format, save.Bare, *p.options
	return s
}

const (
	maxBatch = 500
	longPoll = 20 * time.Second
)

// after returns up to maxBatch packets from a number on, the number of the oldest packet kept, and how
// many packets were missed. It waits for the first packet until ctx is done, for at most longPoll.
func (l *Live) after(ctx context.Context, number int64, c *condition) (lines []packetLine, oldest, missed int64) {
	ctx, cancel := context.WithTimeout(ctx, longPoll)
	defer cancel()
	for {
		l.mu.Lock()
		oldest, missed = l.next-l.kept, l.missed
		var packets []Packet
		for n := max(number, oldest); n < l.next && len(packets) < maxBatch; n++ {
			packets = append(packets, *l.at(n))
		}
		if l.added == nil {
			l.added = make(chan struct{})
		}
		added := l.added
		l.mu.Unlock()
		for _, p := range packets {
			shown := l.text(p.raw, *p.options)
			if p.Compressed != "" {
				shown = p.Compressed + " " + shown
			}
			lines = append(lines, packetLine{p, shown, c != nil && c.holds(p.source())})
		}
		if len(lines) > 0 {
			return lines, oldest, missed
		}
		select {
		case <-added:
		case <-ctx.Done():
			return []packetLine{}, oldest, missed
		}
	}
}
