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
	Error      *fault    `json:"error,omitempty"`

	raw     []byte
	options *gdwire.DecoderOptions
}

// A packetLine is a line of the list of packets.
type packetLine struct {
	Packet
	Text string `json:"text"`
}

// A TextFunc returns the text of a packet in the list.
type TextFunc func(raw []byte, options gdwire.DecoderOptions) string

// Live keeps the latest packets of live connections.
type Live struct {
	text TextFunc

	mu      sync.Mutex
	ring    []Packet // the oldest is at first
	block   []byte   // with the latest packets: few large blocks take less time than many small ones
	first   int
	bytes   int
	next    int64                  // the number of the next packet
	missed  int64                  // packets of Miss
	options *gdwire.DecoderOptions // of the latest packet
	added   chan struct{}          // closed when a packet is added; nil if nobody waits
}

// NewLive returns a Live without packets. It calls text for packets that a page asks for only,
// so that adding them takes little time.
func NewLive(text TextFunc) *Live { return &Live{text: text} }

// blockSize is the size in bytes of the blocks that packets share.
const blockSize = 64 << 10

// Add adds a copy of a packet that was received completely: raw is one value, and err why it is
// invalid, or nil. It does not wait.
func (l *Live) Add(connection int64, toServer bool, raw []byte, options gdwire.DecoderOptions, err error) {
	p := Packet{Time: time.Now(), Connection: connection, ToServer: toServer, Size: len(raw)}
	if err != nil {
		p.Error = faultOf(err)
	}
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
	p.raw = l.block[len(l.block)-len(raw) : len(l.block) : len(l.block)]
	p.Number, p.options = l.next, l.options
	l.next++
	l.ring = append(l.ring, p)
	l.bytes += len(raw)
	for len(l.ring)-l.first > livePackets || l.bytes > liveBytes && len(l.ring)-l.first > 1 {
		l.bytes -= l.ring[l.first].Size
		l.ring[l.first] = Packet{}
		l.first++
	}
	if l.first > livePackets {
		l.ring = append([]Packet(nil), l.ring[l.first:]...)
		l.first = 0
	}
	if l.added != nil {
		close(l.added)
		l.added = nil
	}
}

// Miss counts a packet that is not added because there is no time to show it.
func (l *Live) Miss() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed++
}

// packet returns the content of the packet with a number, or nil if it is no longer kept.
func (l *Live) packet(number int64) *Source {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := number - (l.next - int64(len(l.ring)-l.first))
	if i < 0 || number >= l.next {
		return nil
	}
	p := l.ring[l.first+int(i)]
	s := NewSource(p.raw)
	s.Format, s.Frame, s.Options = p.options.Format, recognize.Bare, *p.options
	return s
}

const (
	maxBatch = 500
	longPoll = 20 * time.Second
)

// after returns up to maxBatch packets from a number on, and waits for the first of them until
// ctx is done or for some time. It returns the number of the oldest packet that is kept, and how
// many were missed.
func (l *Live) after(ctx context.Context, number int64) (lines []packetLine, oldest, missed int64) {
	ctx, cancel := context.WithTimeout(ctx, longPoll)
	defer cancel()
	for {
		l.mu.Lock()
		kept := l.ring[l.first:]
		oldest, missed = l.next-int64(len(kept)), l.missed
		kept = kept[min(max(number-oldest, 0), int64(len(kept))):]
		packets := append([]Packet(nil), kept[:min(len(kept), maxBatch)]...)
		if l.added == nil {
			l.added = make(chan struct{})
		}
		added := l.added
		l.mu.Unlock()
		for _, p := range packets {
			lines = append(lines, packetLine{p, l.text(p.raw, *p.options)})
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
