package traffic

import (
	"fmt"
	"io"
	"math/bits"
	"strings"
	"sync"

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
	_ = gdjson.ToJSON(short, d, gdjson.Options{Plain: true, EscapeForTerminal: true}) // the only error is that it was cut
	return short.String()
}

// following returns text about the bytes that follow the value in a packet, if any do, with the value that they begin
// with, of width columns or more.
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

// A skipFinder finds the -skip with which packets that are invalid without are values.
type skipFinder struct {
	row int    // packets one after the other, and
	fit uint64 // bit N: all of them are values from byte N
}

// find adds a packet and returns a -skip that fits several packets, or 0.
func (f *skipFinder) find(packet []byte, u *save.Unpacked, o *save.Reading) int {
	const enough = 3
	switch {
	case o.Skip > 0, len(packet) == 0, u.Trailing > 0 && o.AreValues(packet): // which tell nothing
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

// propose proposes a -skip if it is not 0.
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
