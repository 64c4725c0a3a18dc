package saves

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// PrintLosses prints what -lossy does.
func PrintLosses(w io.Writer) {
	fmt.Fprintf(w, "Values that the format of the output does not have are an error. With -lossy, Godot 3 gets:\n\n")
	for _, c := range save.Counterparts {
		fmt.Fprintf(w, "  %s\t%s\n", c.Value, c.Becomes)
	}
	fmt.Fprint(w, `
Reals of 64 bits in vectors are rounded to 32, and integers of more than 24 bits where they become reals. At the
end, each kind of loss is shown with its number and the path of the first. Of two keys that become equal, Godot 3 reads the
last.

`)
}

// A loss is a kind of loss.
type loss struct {
	value, becomes string
	path           string // of the first value
	count          int64
}

// A converter writes packets in the format of the output.
type converter struct {
	save.Converter
	packet *save.Packet
	losses []*loss // in the order of the first of each kind
}

// newConverter returns a converter, which collects losses if lossy is set.
func newConverter(lossy bool) *converter {
	c := new(converter)
	if lossy {
		c.Lost = c.add
	}
	return c
}

// add counts a loss.
func (c *converter) add(d *gdwire.Decoder, value, becomes string) {
	for _, l := range c.losses { // at most a few dozens
		if l.value == value && l.becomes == becomes {
			l.count++
			return
		}
	}
	c.losses = append(c.losses, &loss{value, becomes, c.path(string(d.AppendPath(nil))), 1})
}

// note shows the losses when the output is complete, or now if it has become invalid on the way.
func (c *converter) note(s *shell.Stdio, err error) {
	show := s.NoteAtEnd
	if err != nil {
		show = s.Logf
	}
	if s.IsQuiet() {
		return
	}
	for _, l := range c.losses {
		what := l.value + " became " + l.becomes
		if l.count == 1 {
			show("%s: %s", l.path, what)
		} else {
			show("%s: %s, and %s more", l.path, what, humanize.Comma(l.count-1))
		}
	}
}

// recode re-encodes the value of a packet.
func (c *converter) recode(e *gdwire.Encoder, p *save.Packet) error {
	if p.Err != nil {
		return p.Err
	}
	c.packet = p
	err := c.Copy(e, p.Decoder)
	if at := (*gdwire.Error)(nil); errors.As(err, new(*save.ConvertError)) && errors.As(p.FromStart(err), &at) {
		p.Err = &gdwire.Error{Offset: at.Offset, Path: c.path(at.Path), Err: at.Err}
		return p.Err
	}
	return p.Finish(err)
}

// path returns a path of the Decoder as one in the file: $2.hp in packet 2.
func (c *converter) path(path string) string {
	return string(text.AppendPacket(nil, c.packet.Index)) + strings.TrimPrefix(path, "$")
}
