package main

import (
	"io"
	"iter"
)

// A view shows packets in some way.
type view struct {
	// show reads a packet's value and shows it. It returns the packet's error;
	// errBad if that has been shown, too.
	show func(*packet) error
	// end shows a summary after the last packet. nil: none.
	end func()
}

// show makes a subcommand of a view: it shows the packets of a file.
func show(newView func(*screen, *options) view) func(*screen, *options) error {
	return func(s *screen, o *options) error { return s.showFile(o.file(), o, newView) }
}

// showFile shows the packets of the file of that name.
func (s *screen) showFile(name string, o *options, newView func(*screen, *options) view) error {
	in, err := s.open(name, o)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	v := newView(s, o)
	var r io.Reader = in
	if quiet := v.end != nil; quiet || !s.terminal {
		r = s.progress(r, in.size)
	}
	return s.show(packets(r, o), v, in.live)
}

// show shows packets and reports their errors. If they are live, each is shown
// before the next is waited for.
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
			break // nothing tells where the next value begins
		}
	}
	s.clear()
	if v.end != nil {
		v.end()
	}
	return bad
}
