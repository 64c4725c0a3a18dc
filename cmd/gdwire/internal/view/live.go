package view

import (
	"context"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/recognize"
)

// The live packets that are kept: the latest ones, within both limits.
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
	Text       string    `json:"text"` // its value as plain JSON, or the start of it
	Error      *fault    `json:"error,omitempty"`

	source *Source
}

// Live keeps the latest packets of live connections.
type Live struct {
	mu    sync.Mutex
	ring  []*Packet // the oldest is at first
	first int
	bytes int
	next  int64         // the number of the next packet
	added chan struct{} // closed when a packet is added
}

// NewLive returns a Live without packets.
func NewLive() *Live { return &Live{added: make(chan struct{})} }

// Add adds a packet that was received completely: raw is one value, which Live keeps, text the
// line that shows it, and err why it is invalid, or nil. It does not wait.
func (l *Live) Add(connection int64, toServer bool, raw []byte, text string, format *gdwire.Format, options gdwire.DecoderOptions, err error) {
	s := NewSource(raw)
	s.Format, s.Frame, s.Options = format, recognize.Bare, options
	p := &Packet{Time: time.Now(), Connection: connection, ToServer: toServer, Size: len(raw), Text: text, source: s}
	if err != nil {
		p.Error = faultOf(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p.Number = l.next
	l.next++
	l.ring = append(l.ring, p)
	l.bytes += len(raw)
	for len(l.ring)-l.first > livePackets || l.bytes > liveBytes && len(l.ring)-l.first > 1 {
		l.bytes -= l.ring[l.first].Size
		l.ring[l.first] = nil
		l.first++
	}
	if l.first > livePackets {
		l.ring = append([]*Packet(nil), l.ring[l.first:]...)
		l.first = 0
	}
	close(l.added)
	l.added = make(chan struct{})
}

// packet returns the packet with a number, or nil if it is no longer kept.
func (l *Live) packet(number int64) *Packet {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := number - (l.next - int64(len(l.ring)-l.first))
	if i < 0 || number >= l.next {
		return nil
	}
	return l.ring[l.first+int(i)]
}

const (
	maxBatch = 500
	longPoll = 20 * time.Second
)

// after returns up to maxBatch packets from a number on, and waits for the first of them until
// ctx is done or for some time. It returns the number of the oldest packet that is kept.
func (l *Live) after(ctx context.Context, number int64) (packets []*Packet, oldest int64) {
	ctx, cancel := context.WithTimeout(ctx, longPoll)
	defer cancel()
	for {
		l.mu.Lock()
		kept := l.ring[l.first:]
		oldest = l.next - int64(len(kept))
		kept = kept[min(max(number-oldest, 0), int64(len(kept))):]
		packets = append(packets, kept[:min(len(kept), maxBatch)]...)
		added := l.added
		l.mu.Unlock()
		if len(packets) > 0 {
			return packets, oldest
		}
		select {
		case <-added:
		case <-ctx.Done():
			return []*Packet{}, oldest
		}
	}
}
