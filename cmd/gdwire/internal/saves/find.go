package saves

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// Find defines the flags of find.
func Find(f *shell.Flags) shell.Action {
	var o open.Flags
	o.ReadFlags(f, true)
	f.OutputFlag()
	var wanted string
	return shell.Action{
		Check: func() error {
			wanted, f.Operands = f.Operands[0], f.Operands[1:]
			if wanted == "" {
				return fmt.Errorf("find takes a text or number that is not empty")
			}
			return nil
		},
		File: func(s *shell.Stdio, name string) error { return find(s, &o, name, wanted) },
	}
}

// find shows the values that contain a text or a number, and the keys.
func find(s *shell.Stdio, o *open.Flags, name, wanted string) error {
	in, err := o.Open(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	w := newFinder(s, name, wanted)
	quiet := shell.Capture(&shell.LineWriter{Line: w.search})
	flat := open.NewFlatPrinter(quiet, in)
	err = open.Show(s, in.Packets(in), open.Printer{Damage: in.CheckEnd, Show: func(p *save.Packet) error {
		err := flat.Show(p)
		if failed := quiet.Out.Flush(); failed != nil {
			return open.OutputError{Err: failed}
		}
		return err
	}}, in.Live)
	if err == nil && !w.found {
		err = fmt.Errorf("%s contains no %s", in.Name, strconv.Quote(wanted))
	}
	return err
}

// A finder shows the lines of flat that contain a text or number.
type finder struct {
	*shell.Stdio
	name    string  // of the file
	text    string  // in lower case
	number  float64 // if it is one
	isFloat bool
	last    []text.Step // the path of the previous line
	found   bool
}

func newFinder(s *shell.Stdio, name, wanted string) *finder {
	f := &finder{Stdio: s, name: name, text: strings.ToLower(wanted)}
	v, err := text.ParseValue(wanted)
	switch {
	case err != nil:
	case v.Type == gdwire.TypeInt:
		f.number, f.isFloat = float64(v.Int), true
	case v.Type == gdwire.TypeFloat:
		f.number, f.isFloat = v.Numbers[0], true
	}
	return f
}

// search shows a line of flat, and the containers that begin with it, if they contain the text or number.
func (f *finder) search(line string) error {
	path, value := open.SplitLine(line)
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
	if f.Several {
		line = shell.Printable(f.name) + ": " + line
	}
	_, err := fmt.Fprintln(f.Out, line)
	return err
}

// matchesKey reports whether the key of a step contains the text or number. Indexes are no keys.
func (f *finder) matchesKey(s *text.Step) bool {
	return s.Op == text.Child && s.Key.Type != gdwire.TypeInt && f.matches(&s.Key)
}

// matches reports whether a value contains the text or number.
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
