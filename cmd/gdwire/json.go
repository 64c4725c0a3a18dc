package main

import (
	"io"

	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
)

// newJSONPrinter shows each value as a line of JSON, which ends early after an error.
func newJSONPrinter(s *stdio, o *options) printer {
	jo := o.json
	jo.EscapeForTerminal = true
	return printer{show: func(p *save.Packet) error {
		err := p.Err
		if err == nil {
			if err = gdjson.ToJSON(s.out, p.Decoder, jo); p.Index > 0 && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			err = p.Finish(err)
		}
		if _, failed := io.WriteString(s.out, "\n"); failed != nil {
			return failed
		}
		return err
	}}
}
