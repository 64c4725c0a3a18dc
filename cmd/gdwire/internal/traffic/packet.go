package traffic

import (
	"fmt"
	"io"
	"strings"

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
