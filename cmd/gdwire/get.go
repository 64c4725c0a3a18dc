package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/paths"
)

func getFlags(fs *flag.FlagSet, o *options) {
	jsonFlags(fs, o)
	fs.BoolVar(&o.raw, "raw", false, "write the bytes of a string, packed array or image as they are")
}

// getCheck parses the path.
func getCheck(o *options) (err error) {
	o.path, err = paths.Parse(o.operands[0])
	o.operands = o.operands[1:]
	return err
}

// get shows the value at a path. It skips everything before the value and reads nothing
// after it.
func get(s *screen, o *options) error {
	in, err := s.open(o.file(), o)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	edits := []edit{{path: o.path}}
	root, err := places(edits, o.path.Packet)
	if err != nil {
		return err
	}
	for p := range packets(in, o) {
		if p.index < o.path.Packet {
			if err := p.skip(); err != nil {
				return err
			}
			continue
		}
		if p.err != nil {
			return p.err
		}
		switch err := find(s, o, p, root); err {
		case errFound:
			return nil
		case nil:
			return notFound(root.missing())
		default:
			return p.fromStart(err)
		}
	}
	return notFound(root.missing())
}

// skip reads a packet other than the one in the path.
func (p *packet) skip() error {
	if p.framed() {
		return nil // the next one skips it
	}
	if p.err != nil {
		return p.err
	}
	return p.SkipValue()
}

// find shows the value at the place in a packet and returns errFound.
func find(s *screen, o *options, p *packet, root *place) error {
	w := &walker{Decoder: p.Decoder}
	w.found = func(*place) (bool, error) {
		if o.raw {
			return false, found(writePayload(s.out, p))
		}
		return false, showJSON(s, o, p.Decoder)
	}
	w.element = func(_ *place, t gdwire.Token, b []byte, _ int64) error {
		return showElement(s, o, w, t, b)
	}
	return w.value(root)
}

// found returns errFound, unless there is another error.
func found(err error) error {
	if err == nil {
		err = errFound
	}
	return err
}

// showJSON shows the next value as JSON and returns errFound.
func showJSON(s *screen, o *options, d *gdwire.Decoder) error {
	jo := o.json
	jo.EscapeForTerminal = true
	if err := gdjson.ToJSON(s.out, d, jo); err != nil {
		return err
	}
	if err := s.out.WriteByte('\n'); err != nil {
		return err
	}
	return errFound
}

// showElement shows an element of a packed array as a value and returns errFound.
func showElement(s *screen, o *options, w *walker, t gdwire.Token, b []byte) error {
	var v paths.Value
	if t.Kind() == gdwire.KindStringChunk {
		text, err := w.AppendString(nil)
		if err != nil {
			return err
		}
		if o.raw {
			_, err = s.out.Write(text)
			return found(err)
		}
		v = paths.Value{Type: gdwire.TypeString, Text: string(text)}
	} else {
		if o.raw {
			_, err := s.out.Write(b)
			return found(err)
		}
		v = element(t, b, w.numbers[:0])
	}
	double := t.Width() == 64
	var value bytes.Buffer
	e := gdwire.NewEncoder(&value, &gdwire.EncoderOptions{DoubleReals: double, AllowInvalidUTF8: true})
	if err := v.Write(e, double); err != nil {
		return err
	}
	return showJSON(s, o, gdwire.NewDecoder(&value, &gdwire.DecoderOptions{AllowInvalidUTF8: o.decoder.AllowInvalidUTF8}))
}

// writePayload writes the content of the next value, a string, packed array or image.
func writePayload(w io.Writer, p *packet) error {
	t, err := p.ReadToken()
	if err != nil {
		return err
	}
	switch t.Kind() {
	case gdwire.KindStringChunk, gdwire.KindImageStart:
	case gdwire.KindPackedStart:
		if t.Type() == gdwire.TypePackedStringArray {
			return fmt.Errorf("-raw does not write a %v; add [n] to the path for one of its strings", t.Type())
		}
	default:
		return fmt.Errorf("-raw writes strings, packed arrays and images, not a %v", t.Type())
	}
	_, err = io.Copy(w, p.Payload())
	return err
}
