package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/gdwire/gdwire/internal/save"
)

// A printer shows packets in one form.
type printer struct {
	// show reads the value of a packet and shows it. It returns the error of the
	// packet, errBad if it showed that error itself, or an outputError.
	show func(*save.Packet) error
	// end shows a summary after the last packet, if it is not nil. damage is an error of the whole input.
	end func(damage error)
	// zeros, if it is not nil, contains what show has noted. Zeros at the end of the input are damage then.
	zeros *zeros
	// damage returns an error of the whole input, if it is not nil.
	damage func() error
}

// counting returns a printer that also counts packets.
func (p printer) counting(n *int64) printer {
	show := p.show
	p.show = func(one *save.Packet) error {
		*n++
		return show(one)
	}
	return p
}

// An outputError is an error of the output, and not of the packet. It ends the command.
type outputError struct{ error }

// showCommand returns the subcommand that shows the packets of a file.
func showCommand(newPrinter func(*stdio, *options) printer) func(*stdio, *options) error {
	return func(s *stdio, o *options) error { return s.showFile(o.file(), o, newPrinter) }
}

// showFile shows the packets of the file of the given name.
func (s *stdio) showFile(name string, o *options, newPrinter func(*stdio, *options) printer) error {
	in, err := s.open(name, o)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	v := newPrinter(s, o)
	var r io.Reader = in
	if quiet := v.end != nil; quiet || !s.isTerminal {
		r = s.progress(r, in.Size)
	}
	v.damage = func() error { return checkEnd(in, o) }
	if v.zeros != nil && o.recognized {
		tail := &tailReader{r: r}
		v.damage = func() error { return tail.zeros(v.zeros, o, in) }
		r = tail
	}
	return s.showPackets(o.Packets(r), v, in.Live)
}

// A tailReader finds the zeros at the end of what it reads.
type tailReader struct {
	r    io.Reader
	n    int64
	from int64 // the offset of the zeros
}

func (t *tailReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if used := len(bytes.TrimRight(p[:n], "\x00")); used > 0 {
		t.from = t.n + int64(used)
	}
	t.n += int64(n)
	return n, err
}

// zeros returns an error if values are what zeros are read as. It reads what follows an invalid value.
func (t *tailReader) zeros(z *zeros, o *options, in *save.Source) error {
	if !in.Live {
		_, _ = io.Copy(io.Discard, t)
	}
	if t.n-t.from < minZeros {
		return nil
	}
	return zerosError(z.End(t.from, o.Framed()), in.Name)
}

// maxEmpty is the maximum number of packets without a value that follow each other in a file, as zeros at
// its end do.
const maxEmpty = 1000

// lengthSize is the size in bytes of the length of a packet.
const lengthSize = 4

// showPackets shows packets and reports their errors. It shows each packet of a live source before
// it waits for the next.
func (s *stdio) showPackets(packets iter.Seq[*save.Packet], v printer, live bool) error {
	var bad error
	empty := 0
	for p := range packets {
		if empty++; p.Size > 0 || !p.Framed() || live {
			empty = 0
		}
		if empty > maxEmpty {
			bad = errBad
			s.report(fmt.Errorf("more than %d packets without a value from offset %d on; the rest is not shown", maxEmpty, p.Offset-maxEmpty*lengthSize))
			break
		}
		err := v.show(p)
		if failed, ok := err.(outputError); ok {
			return failed.error
		}
		if err != nil || live {
			if failed := s.out.Flush(); failed != nil {
				return failed // not an error of the packet
			}
		}
		if err == nil {
			continue
		}
		bad = errBad
		if err != errBad {
			s.report(err)
		}
		if o := (*omission)(nil); !p.Framed() && !errors.As(err, &o) {
			break // the start of the next value is not known
		}
	}
	var damage error
	if v.damage != nil {
		damage = v.damage()
	}
	s.clear()
	if v.end != nil {
		v.end(damage)
	}
	return cmp.Or(damage, bad)
}
