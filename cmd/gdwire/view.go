package main

import (
	"io"
	"iter"
)

// A view is what a subcommand makes of packets.
type view struct {
	// show reads a packet's value and shows it. The error is what is wrong with
	// the packet; errBad if that has been shown, too.
	show func(*packet) error
	// end shows what comes behind the last packet. nil: nothing.
	end func()
}

// show makes a subcommand of a view: it shows the packets of a file.
func show(newView func(*screen, *options) view) func(*screen, *options) error {
	return func(s *screen, o *options) error {
		v := newView(s, o)
		f, size, err := open(o.operand, s.in)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		var r io.Reader = f
		if quiet := v.end != nil; quiet || !s.terminal {
			r = s.progress(f, size)
		}
		return s.show(packets(r, o), v, size < 0)
	}
}

// show shows packets and reports what is wrong with them. If they are live, each
// is shown before the next is waited for.
func (s *screen) show(packets iter.Seq[*packet], v view, live bool) error {
	var bad error
	for p := range packets {
		err := v.show(p)
		if err != nil || live {
			if failed := s.out.Flush(); failed != nil {
				return failed // it is not the packet's fault
			}
		}
		if err == nil {
			continue
		}
		bad = errBad
		if err != errBad {
			s.report(err)
		}
		if !p.framed() {
			break // nobody knows where the next value begins
		}
	}
	s.clear()
	if v.end != nil {
		v.end()
	}
	return bad
}
