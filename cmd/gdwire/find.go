package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// findCheck takes the text or number from the operands.
func findCheck(o *options) error {
	o.find, o.operands = o.operands[0], o.operands[1:]
	if o.find == "" {
		return fmt.Errorf("find takes a text or number that is not empty")
	}
	return nil
}

// findValues shows the values that contain a text or a number, and the keys.
func findValues(s *stdio, o *options) error {
	in, err := s.open(o.file(), o)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	w := newFinder(s, o)
	quiet := newStdio(nil, &lineWriter{line: w.search}, io.Discard)
	flat := newFlatPrinter(quiet, o)
	err = s.showPackets(o.Packets(in), printer{damage: func() error { return checkEnd(in, o) }, show: func(p *save.Packet) error {
		err := flat.show(p)
		if failed := quiet.out.Flush(); failed != nil {
			return outputError{failed}
		}
		return err
	}}, in.Live)
	if err == nil && !w.found {
		err = fmt.Errorf("%s contains no %s", in.Name, strconv.Quote(o.find))
	}
	return err
}

// A finder shows the lines of flat that contain what is wanted.
type finder struct {
	*stdio
	options *options
	text    string  // in lower case
	number  float64 // if it is one
	isFloat bool
	last    []text.Step // the path of the previous line
	found   bool
}

func newFinder(s *stdio, o *options) *finder {
	f := &finder{stdio: s, options: o, text: strings.ToLower(o.find)}
	v, err := text.ParseValue(o.find)
	switch {
	case err != nil:
	case v.Type == gdwire.TypeInt:
		f.number, f.isFloat = float64(v.Int), true
	case v.Type == gdwire.TypeFloat:
		f.number, f.isFloat = v.Numbers[0], true
	}
	return f
}

// search shows a line of flat, and the containers that begin with it, if they contain what is wanted.
func (f *finder) search(line string) error {
	path, value := splitLine(line)
	p, err := text.Parse(path)
	if err != nil {
		return f.show(line)
	}
	same := 0
	for same < min(len(p.Steps), len(f.last)) && string(p.Steps[same].Append(nil)) == string(f.last[same].Append(nil)) {
		same++
	}
	f.last = p.Steps
	for i := same; i < len(p.Steps)-1; i++ {
		if f.matchesKey(&p.Steps[i]) {
			whole := text.Path{Packet: p.Packet, Steps: p.Steps[:i+1]}
			if err := f.show(whole.String() + ": a key"); err != nil {
				return err
			}
		}
	}
	v, err := text.ParseValue(value)
	if err == nil && f.matches(&v) || len(p.Steps) > 0 && f.matchesKey(&p.Steps[len(p.Steps)-1]) {
		return f.show(line)
	}
	return nil
}

// show shows a line.
func (f *finder) show(line string) error {
	f.found = true
	if f.options.several {
		line = printable(f.options.file()) + ": " + line
	}
	_, err := fmt.Fprintln(f.out, line)
	return err
}

// matchesKey reports whether the key of a step contains what is wanted. Indexes are no keys.
func (f *finder) matchesKey(s *text.Step) bool {
	return s.Op == text.Child && s.Key.Type != gdwire.TypeInt && f.matches(&s.Key)
}

// matches reports whether a value contains what is wanted.
func (f *finder) matches(v *text.Value) bool {
	switch {
	case v.Type == gdwire.TypeInt:
		return f.isFloat && float64(v.Int) == f.number
	case slices.Contains(v.Numbers, f.number) && f.isFloat:
		return true
	case v.Type == gdwire.TypePackedByteArray || v.Type == gdwire.TypeImage || v.Form != text.Whole:
		return false
	}
	return strings.Contains(strings.ToLower(v.Text), f.text) || strings.EqualFold(v.String(), f.text)
}
