package page

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/text"
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
func (l *Live) after(ctx context.Context, number int64, c *edit.Place) (lines []packetLine, oldest, missed int64) {
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
			lines = append(lines, packetLine{p, shown, c != nil && c.IsIn(p.source().content())})
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

// A hit is a value or key found by a search.
type hit struct {
	Way    way    `json:"way"`
	Path   string `json:"path"`             // of the value, also of a hit in its key
	Packet *int64 `json:"packet,omitempty"` // the number of the live packet

	Text string `json:"text"` // the value, or the part of a long text around the hit
}

// progress is a line of the answer to a search.
type progress struct {
	Hit   *hit   `json:"hit,omitempty"`
	At    int64  `json:"at"` // up to which offset the source was searched
	Done  bool   `json:"done,omitempty"`
	Error *fault `json:"error,omitempty"`
}

const (
	maxHits     = 500
	maxQuery    = 200      // characters
	reportEvery = 16 << 20 // bytes
)

// errFull ends a search with maxHits.
var errFull = errors.New("there are too many hits")

// A query is the text or number to search for.
type query struct {
	text   []byte  // in lower case
	number float64 // or this number
	isText bool
}

// newQuery returns the query for text or, if number is set, for the number in text.
func newQuery(text string, number bool) (*query, error) {
	if n := utf8.RuneCountInString(text); n == 0 || n > maxQuery {
		return nil, fmt.Errorf("the text has %d characters, not 1 to %d", n, maxQuery)
	}
	if number {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return &query{number: x}, nil
	}
	return &query{text: lower(nil, []byte(text)), isText: true}, nil
}

// lower appends text in lower case, rune by rune: a text and its parts agree.
func lower(dst, text []byte) []byte {
	for len(text) > 0 {
		if c := text[0]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst, text = append(dst, c), text[1:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		dst, text = utf8.AppendRune(dst, unicode.ToLower(r)), text[n:]
	}
	return dst
}

// A search reads all values of a source.
type search struct {
	s      *Source
	q      *query
	report func(progress) error
	d      *decoder
	packet int64
	base   int64 // offset of the Decoder's input
	hits   int
	latest way // of the latest hit
	rows   *tracer
	told   int64
	tail   []byte // the end of the latest chunk in lower case
	reals  []float64
}

// search calls report for each hit and now and then for the progress. The error of a value ends the search.
func (s *Source) search(ctx context.Context, q *query, report func(progress) error) error {
	x := &search{s: s, q: q, report: report, d: s.decoder(ctx.Done()), rows: s.tracer(ctx.Done())}
	defer x.d.Release()
	defer x.rows.release()
	if err := s.Check(); err != nil {
		return err
	}
	for at := int64(0); at < s.Size && x.hits < maxHits; x.packet++ {
		value, end, err := s.packet(at)
		if err == nil {
			x.base = value
			s.reset(x.d, value, end)
			err = x.value(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case err == errFull:
		case err != nil && (s.Frame == save.Bare || end == at): // nothing can follow
			return report(progress{At: at, Done: true, Error: faultOf(offset(err, value))})
		case err != nil: // the next packet can be good
			if err := report(progress{At: at, Error: faultOf(offset(err, value))}); err != nil {
				return err
			}
		}
		if at = end; s.Frame == save.Bare {
			at = value + x.d.InputOffset()
		}
	}
	return report(progress{At: s.Size, Done: true})
}

// search searches all kept packets.
func (l *Live) search(ctx context.Context, q *query, report func(progress) error) {
	l.mu.Lock()
	from, to, hits := l.next-l.kept, l.next, 0
	l.mu.Unlock()
	for n := from; n < to && hits < maxHits && ctx.Err() == nil; n++ {
		s := l.packet(n)
		if s == nil {
			continue
		}
		_ = s.search(ctx, q, func(p progress) error { // an error of a packet is in the list of packets
			if p.Hit == nil {
				return nil
			}
			hits++
			p.Hit.Packet = &n
			return report(progress{Hit: p.Hit})
		})
	}
	_ = report(progress{Done: true})
}

// value searches the next value.
func (x *search) value(ctx context.Context) error {
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		t, err := x.d.ReadToken()
		if err != nil {
			if err == io.EOF && n > 0 {
				return nil
			}
			return err
		}
		if err := x.token(t); err != nil {
			return err
		}
		if at := x.base + x.d.InputOffset(); at-x.told > reportEvery {
			x.told = at
			if err := x.report(progress{At: at}); err != nil {
				return err
			}
		}
		if x.d.Depth() == 0 {
			return nil
		}
	}
}

// token searches a token, and after the start of a packed array the elements.
func (x *search) token(t gdwire.Token) error {
	if x.q.isText {
		switch t.Kind() {
		case gdwire.KindStringChunk:
			return x.text(t.Bytes(), t.Last())
		case gdwire.KindProperty, gdwire.KindObjectStart, gdwire.KindSignal:
			return x.text([]byte(t.Text()), true)
		case gdwire.KindPackedStart:
			if t.Type() != gdwire.TypePackedStringArray {
				return x.d.SkipTo(x.d.Depth() - 1)
			}
		}
		return nil
	}
	switch t.Kind() {
	case gdwire.KindInt32, gdwire.KindInt64:
		return x.foundIf(float64(t.Int()) == x.q.number)
	case gdwire.KindFloat32, gdwire.KindFloat64:
		return x.foundIf(x.equal(t.Float(), t.Width()))
	case gdwire.KindPackedStart:
		if elementWidth(t) == 0 {
			return x.d.SkipTo(x.d.Depth() - 1)
		}
		return x.packed()
	}
	x.reals = t.AppendComponents(x.reals[:0])
	for _, r := range x.reals {
		if x.equal(r, t.Width()) {
			return x.found("")
		}
	}
	return nil
}

// equal reports whether a number of width bits is the number of the query.
func (x *search) equal(got float64, width int) bool {
	want := x.q.number
	if width == 32 {
		want = float64(float32(want))
	}
	return got == want || math.IsNaN(got) && math.IsNaN(want)
}

// packed searches the elements of a packed array of numbers.
func (x *search) packed() error {
	for found := false; ; {
		t, err := x.d.ReadToken()
		if err != nil {
			return err
		}
		if t.Kind() == gdwire.KindEnd {
			return x.foundIf(found)
		}
		size := len(t.Bytes()) / int(max(t.Len(), 1))
		for b := t.Bytes(); len(b) > 0 && !found; b = b[size:] {
			v := text.Element(t, b[:size], x.reals[:0])
			found = v.Type == gdwire.TypeInt && float64(v.Int) == x.q.number ||
				slices.ContainsFunc(v.Numbers, func(r float64) bool { return x.equal(r, t.Width()) })
		}
	}
}

func (x *search) foundIf(ok bool) error {
	if !ok {
		return nil
	}
	return x.found("")
}

// text searches a chunk of text.
func (x *search) text(chunk []byte, last bool) error {
	before := len(x.tail)
	x.tail = lower(x.tail, chunk)
	at := bytes.Index(x.tail, x.q.text)
	found := at >= 0
	around := ""
	if found && (!last || len(chunk) > maxPreview) && len(x.tail) == before+len(chunk) {
		around = excerpt(chunk, at-before)
	}
	keep := min(len(x.q.text)-1, len(x.tail))
	if last || found {
		keep = 0
	}
	x.tail = append(x.tail[:0], x.tail[len(x.tail)-keep:]...)
	if !found {
		return nil
	}
	if err := x.found(around); err != nil || last {
		return err
	}
	return x.d.SkipTo(x.d.Depth() - 1) // one hit for a string
}

// excerpt returns the part of a long text including offset at.
func excerpt(b []byte, at int) string {
	from := max(at-maxPreview/4, 0)
	for from > 0 && from < len(b) && !utf8.RuneStart(b[from]) {
		from--
	}
	return "…" + string(wire.AppendText(nil, cutText(b[from:]))) + "…"
}

// found reports the value of the latest token, or of its pair if the token is a key. around is the
// text around the hit in a long text, or "".
func (x *search) found(around string) error {
	w := way{x.packet}
	for i := 1; i <= x.d.Depth(); i++ {
		kind, index, _ := x.d.StackIndex(i)
		if kind == gdwire.KindNodePathStart || kind == gdwire.KindStringChunk || index < 0 {
			break // the page shows these as one value
		}
		w = append(w, index)
	}
	if slices.Equal(w, x.latest) { // also its key
		return nil
	}
	x.latest = w
	path, row, _ := x.rows.row(w) // a damaged value is shown as far as it is whole
	h := &hit{Way: w, Path: cmp.Or(path, string(x.d.AppendPath(nil))), Text: cmp.Or(around, row.Text)}
	x.hits++
	if err := x.report(progress{Hit: h, At: x.base + x.d.InputOffset()}); err != nil {
		return err
	}
	if x.hits == maxHits {
		return errFull
	}
	return nil
}
