package open

import (
	"io"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
)

// NewJSONPrinter returns the constructor of a Printer that shows each value as a line of JSON, which ends early after an error.
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
