package saves

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
			err := checkOrder(f, nil)
			wanted, f.Operands = f.Operands[0], f.Operands[1:]
			if wanted == "" {
				return fmt.Errorf("find takes a text or number that is not empty")
			}
			return err
		},
		File: func(s *shell.Stdio, name string) error {
			return withFileHint(find(s, &o, name, wanted), name, wanted)
		},
	}
}

// find shows the values and keys that contain a text or a number.
func find(s *shell.Stdio, o *open.Flags, name, wanted string) error {
	in, err := o.Open(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	f := newFinder(s, name, wanted)
	r := s.ProgressOf(in.Size)(in.Reader())
	err = open.Show(s, in.Packets(r), open.Printer{Damage: in.CheckEnd, Show: f.read}, in.Live())
	if err == nil && !f.found {
		err = fmt.Errorf("%s contains no %s", in.Name, strconv.Quote(wanted))
	}
	return err
}

// A finder shows, as flat does, the leaves with a text or number in the value or key, and the containers with the text or
// number in the key.
type finder struct {
	open.LeafReader
	s    *shell.Stdio
	name string // of the file

	lower   []byte      // the text in lower case
	value   *text.Value // the text as a value, or nil
	number  float64
	isFloat bool // the value is a number

	line    text.Printer
	lowered []byte // memory for text in lower case
	numbers [16]float64
	found   bool
}

func newFinder(s *shell.Stdio, name, wanted string) *finder {
	f := &finder{s: s, name: name, lower: []byte(strings.ToLower(wanted))}
	if v, err := text.ParseValue(wanted); err == nil {
		f.value = &v
		switch v.Type {
		case gdwire.TypeInt:
			f.number, f.isFloat = float64(v.Int), true
		case gdwire.TypeFloat:
			f.number, f.isFloat = v.Numbers[0], true
		}
	}
	f.Leaf, f.Open, f.NodePath = f.leaf, f.container, f.nodePath
	if f.value != nil && f.value.Type != gdwire.TypeString {
		f.Element = f.element
	}
	return f
}

// read shows the matching values of a packet.
func (f *finder) read(p *save.Packet) error {
	f.line.Decoder = p.Decoder
	return f.Read(p)
}

// startLine begins a line with the path.
func (f *finder) startLine() {
	f.found = true
	f.line.Buf = f.line.Buf[:0]
	if f.s.Several {
		f.line.Buf = append(append(f.line.Buf, shell.Printable(f.name)...), ": "...)
	}
	f.line.Buf = append(f.line.Buf, f.Path...)
}

// endLine shows the line, and returns err or the error of the output.
func (f *finder) endLine(err error) error {
	f.line.Buf = append(f.line.Buf, '\n')
	if _, failed := f.s.Out.Write(f.line.Buf); failed != nil {
		return open.OutputError{Err: failed}
	}
	return err
}

// afterPath is the text between a path and its value.
const afterPath = " = "

// container shows a container without a line in flat if the key contains the text or number.
func (f *finder) container() error {
	if !f.matchesKey() {
		return nil
	}
	f.startLine()
	f.line.Buf = append(f.line.Buf, ": a key"...)
	return f.endLine(nil)
}

// leaf shows the leaf starting with t if the key or value contains the text or number.
func (f *finder) leaf(t gdwire.Token) error {
	switch t.Kind() {
	case gdwire.KindStringChunk:
		return f.text(t)
	case gdwire.KindNodePathStart:
		return f.nodePath(text.NewNodePathReader(f.Decoder, t), nil)
	}
	v := text.FromToken(t, f.numbers[:0])
	if f.matchesKey() || f.matches(&v) {
		f.startLine()
		f.line.Buf = append(f.line.Buf, afterPath...)
		return f.endLine(f.line.Leaf(t))
	}
	switch {
	case t.Kind() == gdwire.KindImageStart, t.Kind() == gdwire.KindPackedStart && t.Type() == gdwire.TypePackedByteArray:
		return f.SkipTo(f.Depth() - 1)
	}
	return nil
}

// element shows an element of a packed array if the element is, or contains, the number or value.
func (f *finder) element(v *text.Value) error {
	if !f.matches(v) {
		return nil
	}
	f.startLine()
	f.line.Buf = v.Append(append(f.line.Buf, afterPath...))
	return f.endLine(nil)
}

// text shows the string starting with t if the key or string contains the text, even across chunks.
func (f *finder) text(t gdwire.Token) error {
	content, typ := t.Bytes(), cmp.Or(t.Type().Element(), t.Type()) // of an element of a PackedStringArray, String
	if !t.Last() {
		content = append([]byte(nil), content...)
		for !t.Last() {
			var err error
			if t, err = f.ReadToken(); err != nil {
				return err
			}
			content = append(content, t.Bytes()...)
		}
	}
	if !f.matchesKey() && !f.matchesText(typ, content) {
		return nil
	}
	f.startLine()
	f.line.Buf = append(append(f.line.Buf, afterPath...), text.Prefix(typ)...)
	f.line.Buf = text.AppendQuoted(f.line.Buf, content)
	return f.endLine(nil)
}

// nodePath shows a NodePath if the key or path contains the text. start is the part already read.
func (f *finder) nodePath(r *text.NodePathReader, start []byte) error {
	found := f.found
	f.startLine()
	f.line.Buf = append(f.line.Buf, afterPath...)
	before := len(f.line.Buf)
	if err := f.line.NodePath(r, start); err != nil {
		return err
	}
	v, err := text.ParseValue(string(f.line.Buf[before:]))
	if err != nil || !f.matchesKey() && !f.matchesText(v.Type, []byte(v.Text)) {
		f.found = found
		return err
	}
	return f.endLine(nil)
}

// matchesKey reports whether the key at the path contains the text or number. Indexes are no keys.
func (f *finder) matchesKey() bool {
	key := f.Key()
	switch {
	case key == nil || key.Op != text.Child || key.Key.Type == gdwire.TypeInt:
		return false
	case key.Key.Type == gdwire.TypeString || key.Key.Type == gdwire.TypeStringName || key.Key.Type == gdwire.TypeNodePath:
		return f.matchesText(key.Key.Type, []byte(key.Key.Text))
	}
	return f.matches(&key.Key)
}

// matches reports whether a value other than text is, or contains, the text or number.
func (f *finder) matches(v *text.Value) bool {
	switch {
	case v.Type == gdwire.TypeInt:
		return f.isFloat && float64(v.Int) == f.number
	case f.isFloat && slices.ContainsFunc(v.Numbers, func(x float64) bool { return f.is(x, v.Single) }):
		return true
	case v.Type == gdwire.TypePackedByteArray || v.Type == gdwire.TypeImage || v.Form != text.Whole:
		return false
	case v.Text != "" && f.contains([]byte(v.Text)):
		return true
	}
	return f.value != nil && f.value.Type == v.Type && strings.EqualFold(v.String(), f.value.String())
}

// is reports whether x is the number. If single is set, x was encoded in 32 bits. Any NaN is nan.
func (f *finder) is(x float64, single bool) bool {
	return x == f.number || math.IsNaN(x) && math.IsNaN(f.number) || single && text.Means(f.number, x)
}

// matchesText reports whether text of a type contains the text, or is the value.
func (f *finder) matchesText(t gdwire.Type, content []byte) bool {
	return f.contains(content) || f.value != nil && f.value.Type == t && strings.EqualFold(string(content), f.value.Text)
}

// contains reports whether the content contains the text, in lower or upper case.
func (f *finder) contains(content []byte) bool {
	f.lowered = f.lowered[:0]
	for _, c := range content {
		if c >= utf8.RuneSelf {
			return bytes.Contains(bytes.ToLower(content), f.lower)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		f.lowered = append(f.lowered, c)
	}
	return bytes.Contains(f.lowered, f.lower)
}
