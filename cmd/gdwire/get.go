package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

func getFlags(fs *flag.FlagSet, o *options) {
	jsonFlags(fs, o)
	fs.BoolVar(&o.raw, "raw", false, "write the bytes of a string, packed array or image as they are, and a number as text")
	fs.BoolVar(&o.keys, "keys", false, "show the keys of a dictionary, or the names of an object's properties")
	fs.BoolVar(&o.length, "length", false, "show the number of elements, pairs or properties, or of bytes of text")
}

// getCheck parses the path. If the last operand is not a file, the operands may be in the wrong
// order.
func getCheck(o *options) (err error) {
	o.path, err = text.Parse(o.operands[0])
	if len(o.operands) == 2 {
		if _, noFile := os.Stat(o.operands[1]); noFile != nil && o.operands[1] != "-" {
			err = withOperandHint(o, cmp.Or(err, noFile))
			if err == noFile { // opening the file will return it
				err = nil
			}
		}
	}
	o.operands = o.operands[1:]
	return err
}

// get shows the value at a path. It skips everything before the value and reads nothing
// after it.
func get(s *stdio, o *options) error {
	var tree text.Tree
	if _, err := tree.Add(o.path, ""); err != nil {
		return err
	}
	in, closer, err := s.openAt(&tree, o)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	var near text.Nearest
	for p := range o.Packets(in) {
		if p.Index < o.path.Packet {
			if err := skip(p); err != nil {
				return err
			}
			continue
		}
		if p.Err != nil {
			return p.Err
		}
		switch err := find(s, o, p, &tree, &near); err {
		case text.ErrFound:
			return nil
		case nil:
			if tree.Targets[0].Hits > 0 {
				return nil // each [*]
			}
			return near.NotFound(tree.Targets[0])
		default:
			return p.FromStart(err)
		}
	}
	return near.NotFound(tree.Targets[0])
}

// openAt opens the input for a path. If a key of the path ends in "…", or contains real numbers, the
// input is read twice, first to find the whole key.
func (s *stdio) openAt(tree *text.Tree, o *options) (io.Reader, io.Closer, error) {
	if !tree.HasCut() && !tree.HasReals() {
		in, err := s.open(o.file(), o)
		if err != nil {
			return nil, nil, err
		}
		return in, in, nil
	}
	c, closer, err := s.openContent(o.file(), o)
	if err != nil {
		return nil, nil, err
	}
	resolve(c, tree)
	return io.NewSectionReader(c, 0, c.Size), closer, nil
}

// skip reads a packet that is not the packet in the path.
func skip(p *save.Packet) error {
	if p.Framed() {
		return nil // reading the next packet skips it
	}
	if p.Err != nil {
		return p.Err
	}
	return p.SkipValue()
}

// find shows the value at the path in a packet and returns ErrFound.
func find(s *stdio, o *options, p *save.Packet, tree *text.Tree, near *text.Nearest) error {
	w := &text.Walker{Decoder: p.Decoder, Key: near.Key}
	all := several(slices.ContainsFunc(o.path.Steps, func(s text.Step) bool { return s.Op == text.All }))
	w.Value = func(*text.Node) (bool, error) {
		return false, all.more(showValue(s, o, p))
	}
	w.Part = func(_ *text.Node, part text.Part) error { return all.more(showPart(s, o, &part)) }
	return w.Walk(tree.Root(p.Index))
}

// several reports whether a path leads to several values.
type several bool

// more returns nil in place of ErrFound if other values can follow.
func (all several) more(err error) error {
	if all && err == text.ErrFound {
		return nil
	}
	return err
}

// showValue shows the next value, and returns ErrFound.
func showValue(s *stdio, o *options, p *save.Packet) error {
	switch {
	case o.raw:
		return found(writePayload(s.out, p))
	case o.keys:
		return found(s.showKeys(o, p.Decoder))
	case o.length:
		return found(s.showLength(p.Decoder))
	}
	return showJSON(s, o, p.Decoder)
}

// showKeys shows the keys of the next value, a line of JSON for each.
func (s *stdio) showKeys(o *options, d *gdwire.Decoder) error {
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	if k := t.Kind(); k != gdwire.KindDictStart && k != gdwire.KindObjectStart {
		return fmt.Errorf("a value of type %v contains no keys", t.Type())
	}
	for range t.Len() {
		key, err := d.ReadToken()
		if err == nil && key.Kind() == gdwire.KindProperty {
			err = showJSON(s, o, gdwire.NewDecoder(bytes.NewReader(encodedText(key.Text())), nil))
		} else if err == nil {
			err = showJSON(s, o, d)
		}
		if err == text.ErrFound {
			err = d.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err = d.ReadToken() // End
	return err
}

// encodedText returns a String in the format of Godot 4.
func encodedText(text string) []byte {
	e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{AllowInvalidUTF8: true})
	defer func() { _ = e.Close() }()
	e.ResetBytes(nil)
	_ = e.WriteString(text) // into memory
	return e.Bytes()
}

// showLength shows the number of elements of the next value.
func (s *stdio) showLength(d *gdwire.Decoder) error {
	depth := d.Depth()
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	n := t.Len()
	switch t.Kind() {
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart, gdwire.KindPackedStart:
	case gdwire.KindStringChunk:
		for !t.Last() {
			if t, err = d.ReadToken(); err != nil {
				return err
			}
			n += t.Len()
		}
	default:
		return fmt.Errorf("a value of type %v has no length", t.Type())
	}
	if err := d.SkipTo(depth); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, n)
	return err
}

// found returns ErrFound, unless there is another error.
func found(err error) error {
	if err == nil {
		err = text.ErrFound
	}
	return err
}

// showJSON shows the next value as JSON and returns ErrFound.
func showJSON(s *stdio, o *options, d *gdwire.Decoder) error {
	if o.several {
		fmt.Fprintf(s.out, "%s: ", printable(o.file()))
	}
	jo := o.json
	jo.EscapeForTerminal = true
	if err := gdjson.ToJSON(s.out, d, jo); err != nil {
		return err
	}
	return found(s.out.WriteByte('\n'))
}

// showPart shows a part of a value as a value of its own and returns ErrFound.
func showPart(s *stdio, o *options, part *text.Part) error {
	v := &part.Value
	switch {
	case o.keys || o.length:
		return fmt.Errorf("-keys and -length are for containers and text, and not for an element or component")
	case o.raw && (v.Type == gdwire.TypeInt || v.Type == gdwire.TypeFloat):
		_, err := s.out.WriteString(v.String())
		return found(err)
	case o.raw:
		b, err := part.Append([]byte(v.Text), v)
		if err == nil {
			_, err = s.out.Write(b)
		}
		return found(err)
	}
	double := part.Bits == 64
	var value bytes.Buffer
	e := gdwire.NewEncoder(&value, &gdwire.EncoderOptions{DoubleReals: double, AllowInvalidUTF8: true})
	if err := v.Write(e, double); err != nil {
		return err
	}
	return showJSON(s, o, gdwire.NewDecoder(&value, &gdwire.DecoderOptions{AllowInvalidUTF8: o.Decoder.AllowInvalidUTF8}))
}

// writePayload writes the content of the next value, a string, packed array or image.
func writePayload(w io.Writer, p *save.Packet) error {
	t, err := p.ReadToken()
	if err != nil {
		return err
	}
	switch t.Kind() {
	case gdwire.KindStringChunk, gdwire.KindImageStart:
	case gdwire.KindBool, gdwire.KindInt32, gdwire.KindInt64, gdwire.KindFloat32, gdwire.KindFloat64:
		v := text.FromToken(t, nil)
		_, err := io.WriteString(w, v.String())
		return err
	case gdwire.KindPackedStart:
		if t.Type() == gdwire.TypePackedStringArray {
			return fmt.Errorf("-raw does not write a %v; add [n] to the path for one of its strings", t.Type())
		}
	default:
		return fmt.Errorf("-raw writes strings, numbers, packed arrays and images, not a %v", t.Type())
	}
	_, err = io.Copy(w, p.Payload())
	return err
}
