package open

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// A Printer shows packets in one form.
type Printer struct {
	// Show reads and shows the value of a packet, and returns the error of the
	// packet, shell.ErrBad after showing this error, or an OutputError.
	Show func(*save.Packet) error
	// Damage, if not nil, returns an error of the whole input.
	Damage func() error

	// end, if not nil, shows a summary after the last packet. damage is an error of the whole input.
	end func(damage error)
	// zeros, if not nil, contains the notes of Show, and zeros at the end of the input are damage.
	zeros *save.Zeros
	// checks says that a wrong checksum around values is an error.
	checks bool
}

// A NewPrinter is the constructor of a Printer of the packets of an input.
type NewPrinter func(s *shell.Stdio, in *Input) Printer

// Counting returns a Printer that also counts packets.
func (p Printer) Counting(n *int64) Printer {
	show := p.Show
	p.Show = func(one *save.Packet) error {
		*n++
		return show(one)
	}
	return p
}

// An OutputError is an error of the output and not of the packet, and ends the command.
type OutputError struct{ Err error }

func (e OutputError) Error() string { return e.Err.Error() }

// An omission reports values left out of the output.
type omission struct {
	packet, values int64
}

func (o *omission) Error() string {
	return fmt.Sprintf("%s: values left out because of their long paths: %d; get shows them", text.AppendPacket(nil, o.packet), o.values)
}

// maxEmpty is the maximum number of successive packets without a value in a file, such as zeros at
// the end.
const maxEmpty = 1000

// Show shows packets and reports their errors. Packets of a live source are shown before
// Show waits for the next.
func Show(s *shell.Stdio, packets iter.Seq[*save.Packet], v Printer, live bool) error {
	var bad error
	empty := 0
	for p := range packets {
		if empty++; p.Size > 0 || !p.Framed() || live {
			empty = 0
		}
		if empty > maxEmpty {
			bad = shell.ErrBad
			s.Report(fmt.Errorf("more than %d packets without a value from offset %d on; the rest is not shown", maxEmpty, p.Offset-maxEmpty*lengthSize))
			break
		}
		err := v.Show(p)
		if failed, ok := err.(OutputError); ok {
			return failed.Err
		}
		if err != nil || live {
			if failed := s.Out.Flush(); failed != nil {
				return failed // not an error of the packet
			}
		}
		if err == nil {
			continue
		}
		bad = shell.ErrBad
		if err != shell.ErrBad {
			s.Report(err)
		}
		if o := (*omission)(nil); !p.Framed() && !errors.As(err, &o) {
			break // the start of the next value is unknown
		}
	}
	var damage error
	if v.Damage != nil {
		damage = v.Damage()
	}
	s.Clear()
	if v.end != nil {
		v.end(damage)
	}
	return cmp.Or(damage, bad)
}

// NewJSONPrinter returns the constructor of a Printer showing each value as a line of JSON, cut short after an error.
func NewJSONPrinter(o gdjson.Options) NewPrinter {
	o.EscapeForTerminal = true
	return func(s *shell.Stdio, _ *Input) Printer {
		return Printer{Show: func(p *save.Packet) error { return showJSON(s, p, o) }}
	}
}

func showJSON(s *shell.Stdio, p *save.Packet, o gdjson.Options) error {
	err := p.Err
	if err == nil {
		if err = gdjson.ToJSON(s.Out, p.Decoder, o); p.Index > 0 && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		err = p.Finish(err)
	}
	if _, failed := io.WriteString(s.Out, "\n"); failed != nil {
		return failed
	}
	return err
}
