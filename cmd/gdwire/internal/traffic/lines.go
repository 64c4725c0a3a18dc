package traffic

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"sync"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
)

// plainText returns the first width columns, or more, of a valid packet as plain JSON.
func plainText(packet []byte, o *save.Reading, width int) string {
	const column = 4 // maximum number of bytes in a column
	short := &shortWriter{remaining: column * width}
	d := o.NewDecoder()
	defer d.Release()
	d.ResetBytes(packet)
	_ = gdjson.ToJSON(short, d, gdjson.Options{Plain: true, EscapeForTerminal: true}) // the only error is the cut
	return short.String()
}

// following returns text about any bytes after the value in a packet, with the value at their start, of width
// columns or more.
func following(u *save.Unpacked, o *save.Reading, width int) string {
	if u.Err != nil || u.Trailing == 0 {
		return ""
	}
	text := fmt.Sprintf("%d bytes follow", u.Trailing)
	if next := o.Second(u); next != nil {
		text += ": " + plainText(next, o, width)
	}
	return text
}

// A headReader keeps the first bytes that it reads.
type headReader struct {
	io.Reader
	head []byte
	done bool // no more are kept
}

// maxHead is the maximum number of bytes kept.
const maxHead = 4 << 10

func (h *headReader) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if !h.done {
		h.head = append(h.head, b[:min(n, maxHead-len(h.head))]...)
	}
	return n, err
}

// forget frees the bytes.
func (h *headReader) forget() { h.head, h.done = nil, true }

// unprefixed returns an error that names the first value if the bytes are values without lengths, of which the last can be cut
// only if not all bytes were kept.
func (h *headReader) unprefixed(o *save.Reading) error {
	formats := []gdwire.Format{o.Decoder.Format}
	if o.Decoder.Format == 0 {
		formats = []gdwire.Format{gdwire.Godot4, gdwire.Godot3}
	}
	for _, format := range formats {
		as := save.Reading{Decoder: o.Decoder}
		as.Decoder.Format, as.Decoder.Strict = format, true
		d := gdwire.NewDecoder(nil, &as.Decoder)
		defer d.Release()
		d.ResetBytes(h.head)
		first, err := d.ReadToken()
		for rest := h.head; err == nil && len(rest) > 0; rest = rest[d.InputOffset():] {
			d.ResetBytes(rest) // for each value, or a strict Decoder would refuse the bytes after it
			if err = d.SkipValue(); err != nil && len(rest) < len(h.head) && len(h.head) == maxHead && errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
				break
			}
		}
		if err == nil && first.Kind() != gdwire.KindNil {
			return fmt.Errorf("a whole value (%v %s) without the length that put_var writes", first.Type(), shell.Cut(plainText(h.head, &as, viewColumns/2), viewColumns/2))
		}
	}
	return nil
}

// A skipFinder finds the -skip that makes values of otherwise invalid packets.
type skipFinder struct {
	row int    // packets one after the other, and
	fit uint64 // bit N: all of them are values from byte N
}

// find adds a packet and returns a -skip for several packets, or 0.
func (f *skipFinder) find(packet []byte, u *save.Unpacked, o *save.Reading) int {
	const enough = 3
	switch {
	case o.Skip > 0, len(packet) == 0, u.Trailing > 0 && o.AreValues(packet): // these tell nothing
		return 0
	case u.Err == nil && u.Trailing == 0:
		*f = skipFinder{}
		return 0
	}
	fit := uint64(0)
	for _, n := range save.Skips {
		if o.BeginsAt(packet, n) && packet[n] != 0 { // null is no evidence
			fit |= 1 << n
		}
	}
	if f.row == 0 || f.fit&fit == 0 {
		*f = skipFinder{fit: ^uint64(0)}
	}
	f.fit &= fit
	if f.row++; f.fit == 0 {
		f.row = 0
	}
	if f.row < enough {
		return 0
	}
	return bits.TrailingZeros64(f.fit)
}

// A skipProposal proposes a -skip, once.
type skipProposal struct{ sync.Once }

// propose proposes a -skip other than 0.
func (p *skipProposal) propose(n int, logf func(format string, args ...any)) {
	if n > 0 {
		p.Do(func() { logf("the values of several packets begin at byte %d: -skip %[1]d shows them", n) })
	}
}

// A shortWriter accepts a limited number of bytes.
type shortWriter struct {
	strings.Builder
	remaining int
}

func (w *shortWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.remaining)
	w.remaining -= n
	_, _ = w.Builder.Write(p[:n])
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// viewColumns is the number of columns of a packet in a page.
const viewColumns = 160

// newLive returns the list of packets for a page.
func newLive(o save.Reading) *view.Live {
	return view.NewLive(func(packet []byte, decoder gdwire.DecoderOptions) string {
		one := o
		one.Decoder = decoder
		return shell.Cut(plainText(packet, &one, viewColumns), viewColumns)
	})
}

// A line is a piece of output.
type line struct {
	w    io.Writer
	text string
}

// lines writes lines in a goroutine, so that add does not wait for a slow output, and counts
// packets that cannot be shown in time.
type lines struct {
	maxBytes   int // maximum of waiting bytes
	flush      func() error
	fail       func(error)                     // called with the first error of the output
	missedLine func(missed, bytes string) line // returns the line about the packets missed
	done       chan struct{}                   // closed after the last line
	wake       chan struct{}

	mu      sync.Mutex
	waiting []line
	size    int    // of waiting
	missed  int64  // packets since the last note
	bytes   uint64 // of them
	closed  bool
}

// start starts the goroutine.
func (l *lines) start() {
	l.done, l.wake = make(chan struct{}), make(chan struct{}, 1)
	go l.run()
}

// add adds a line about a packet of size bytes.
func (l *lines) add(w io.Writer, text string, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.maxBytes
	if l.missed > 0 {
		most /= 2 // wait for more room, or every second line would say that lines were missed
	}
	if l.size > 0 && l.size+len(text) > most {
		l.count(size)
		return
	}
	l.noteMissed()
	l.push(line{w, text})
}

// miss counts a packet that cannot wait to be shown.
func (l *lines) miss(size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(size)
}

// count counts a packet not shown. l is locked.
func (l *lines) count(size int) {
	l.missed++
	l.bytes += uint64(size)
}

// noteMissed adds a line about the packets missed. l is locked.
func (l *lines) noteMissed() {
	if l.missed > 0 {
		l.push(l.missedLine(humanize.Comma(l.missed), humanize.Bytes(l.bytes)))
		l.missed, l.bytes = 0, 0
	}
}

// push adds a line. l is locked.
func (l *lines) push(one line) {
	l.waiting = append(l.waiting, one)
	l.size += len(one.text)
	l.signal()
}

// signal wakes run.
func (l *lines) signal() {
	select {
	case l.wake <- struct{}{}:
	default: // the previous signal is still pending
	}
}

// close ends the output after all lines.
func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteMissed()
	l.closed = true
	l.signal()
}

// run writes lines until close.
func (l *lines) run() {
	defer close(l.done)
	failed := false
	for range l.wake {
		l.mu.Lock()
		all, closed := l.waiting, l.closed
		l.waiting = nil
		l.mu.Unlock()
		if err := l.write(all); err != nil && !failed {
			failed = true
			l.fail(err)
		}
		if closed {
			return
		}
	}
}

// write writes lines. A line counts as waiting until it is written.
func (l *lines) write(all []line) (err error) {
	for _, one := range all {
		_, failed := io.WriteString(one.w, one.text)
		err = cmp.Or(err, failed)
		l.mu.Lock()
		l.size -= len(one.text)
		l.mu.Unlock()
	}
	return cmp.Or(err, l.flush())
}
