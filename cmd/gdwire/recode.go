package main

import (
	"errors"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

// newRecodeView writes each packet again, as engines would. Behind a length only
// good ones are; otherwise what could be read of a bad value is.
func newRecodeView(s *screen, o *options) view {
	if o.framing.framed {
		so := o.stream()
		so.MaxPacket = -1 // what was read may grow: by the padding it lacked
		w := stream.NewWriter(s.out, so)
		return view{show: func(p *packet) error {
			return w.WritePacket(func(e *gdwire.Encoder) error { return recode(e, p) })
		}}
	}
	eo := o.encoder()
	e := gdwire.NewEncoder(s.out, &eo)
	return view{show: func(p *packet) error {
		return errors.Join(recode(e, p), e.Flush())
	}}
}

// recode writes a packet's value.
func recode(e *gdwire.Encoder, p *packet) error {
	for t, err := range p.tokens {
		if err != nil {
			return err
		}
		if err := e.WriteToken(t); err != nil {
			return p.refused(err)
		}
	}
	return nil
}

// refused lets an Encoder's error tell where in the input the token stands.
func (p *packet) refused(err error) error {
	if e := (*gdwire.Error)(nil); errors.As(err, &e) {
		return p.fromStart(p.WrapError(e.Err))
	}
	return err
}
