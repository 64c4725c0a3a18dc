package saves

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/values/leaves"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/text"
)

// Get defines the flags of get.
func Get(f *shell.Flags) shell.Action {
	g := &get{}
	g.open.ReadFlags(f, true)
	g.json = jsonFlags(f)
	f.BoolVar(&g.native, "json", false, "Godot's native JSON, in place of text that set takes")
	g.json.EscapeForTerminal = true
	f.BoolVar(&g.raw, "raw", false, "write the bytes of a string, packed array or image as they are, and a number as text")
	f.BoolVar(&g.keys, "keys", false, "show the keys of a dictionary, or the names of an object's properties")
	f.BoolVar(&g.length, "length", false, "show the number of elements, pairs or properties, or of bytes of text")
	return shell.Action{Check: func() error { return g.check(f) }, File: g.run}
}

// A get shows the value at a path, as text for set, or as JSON.
type get struct {
	open              open.Flags
	json              *gdjson.Options
	native            bool // -json
	raw, keys, length bool
	path              text.Path
	first             bool // the path is in the first packet because it names none
}

// isJSON reports whether values are shown as JSON.
func (g *get) isJSON() bool { return g.native || g.json.Plain }

// check parses the path.
func (g *get) check(f *shell.Flags) error {
	f.Binary = g.raw
	path, err := takeFirst(f, "PATH")
	if err != nil {
		return err
	}
	g.path, err = text.Parse(path)
	g.first = !strings.HasPrefix(path, "$")
	if err != nil && isEdit(path) {
		return fmt.Errorf("get shows a value, and set changes it: %s", f.EditLine("set", []string{path}, f.File()))
	}
	if err != nil && strings.Contains(path, "|") {
		err = fmt.Errorf("%w; -keys and -length show keys and the length, and jq runs filters: gdwire json -plain FILE | jq FILTER", err)
	}
	return err
}

// run skips everything before the value, shows the value, and reads nothing after it.
func (g *get) run(s *shell.Stdio, name string) error {
	var tree text.Tree
	at, err := tree.Add(g.path, "")
	if err != nil {
		return err
	}
	in, r, err := g.openAt(s, name, &tree)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	v := &valuePrinter{get: g, Stdio: s, name: name, allowInvalid: in.Decoder.AllowInvalidUTF8}
	err = v.read(in, r, &tree)
	isList := !in.Live() && in.Framed() && in.Container().IsPlain() && g.first
	missing := (*text.NotFoundError)(nil)
	if isMissing := errors.As(err, &missing); in.Live() || err != nil && !isMissing || err == nil && !isList {
		return err
	}
	return v.end(in, at, isList, missing)
}

// read shows the value at the path of a tree, or returns a NotFoundError.
func (v *valuePrinter) read(in *open.Input, r io.Reader, tree *text.Tree) error {
	var near text.Nearest
	at, packet := tree.Targets[0], v.path.Packet
	for p := range open.Packets(&in.Reading, r) {
		isBefore := p.Index < packet || v.others && p.Index == 0
		switch {
		case isBefore && p.Framed(): // reading the next packet skips it
			continue
		case p.Err != nil:
			return p.Err
		case isBefore:
			if err := p.SkipValue(); err != nil {
				return err
			}
			continue
		case p.Packed != nil:
			v.Infof("packet %d is compressed with %v", p.Index, p.Packed.Mode)
		}
		if err := v.find(p, tree, &near); err != nil && err != text.ErrFound {
			return p.FromStart(err)
		}
		if packet != text.AllPackets {
			break
		}
	}
	if at.Hits == 0 {
		return near.NotFound(at)
	}
	return nil
}

// end returns the error of a path without a value, or says that more packets of a recording have one. If the path can only mean another,
// by a key of the same text or in other packets, end shows the values there.
func (v *valuePrinter) end(in *open.Input, at *text.Node, isList bool, missing *text.NotFoundError) error {
	c, err := in.Content()
	if err != nil {
		return err
	}
	var all text.Tree
	more, meant := int32(0), v.path
	meant.Packet = text.AllPackets
	if each, err := all.Add(meant, ""); isList && err == nil && edit.Walk(c, &all, &text.Walker{}) == nil {
		more = each.Hits - at.Hits
	}
	switch {
	case missing == nil && more > 0 && v.IsTerminal: // of people, who then ask for the others
		v.others = true
	case missing == nil && more > 0:
		v.Infof("other packets contain %s more: get %s shows each", humanize.Comma(int64(more)), text.Operand(meant.String()))
		return nil
	case missing == nil:
		return nil
	case more <= 1:
		only, err := text.Parse(edit.Meant(c, missing, v.first))
		if isOne := err == nil && len(only.Steps) > 0; isOne {
			meant = only
		} else if more == 0 {
			return fmt.Errorf("%w%s", missing, edit.Hint(c, missing, ""))
		}
	}
	var tree text.Tree
	if _, err := tree.Add(meant, ""); err != nil {
		return err
	}
	if missing != nil {
		v.Infof(onlyText, missing.Path, text.Operand(meant.String()))
	} else {
		v.Infof("with those of other packets, as get %s", text.Operand(meant.String()))
	}
	again := *v.get
	again.path, v.get = meant, &again
	edit.Resolve(c, &tree)
	return v.read(in, io.NewSectionReader(c, 0, c.Size), &tree)
}

// openAt opens the input for a path. If a key of the path ends in "…", or contains real numbers, the
// input is read twice, first to find the whole key.
func (g *get) openAt(s *shell.Stdio, name string, tree *text.Tree) (*open.Input, io.Reader, error) {
	if !tree.HasCut() && !tree.HasReals() {
		in, err := g.open.Open(s, name)
		if err != nil {
			return nil, nil, err
		}
		return in, in.Reader(), nil
	}
	in, c, err := g.open.OpenContent(s, name)
	if err != nil {
		return nil, nil, err
	}
	edit.Resolve(c, tree)
	return in, io.NewSectionReader(c, 0, c.Size), nil
}

// A valuePrinter shows the values at the path in a file.
type valuePrinter struct {
	*get
	*shell.Stdio
	name         string
	allowInvalid bool // text that is not UTF-8
	others       bool // the first packet is shown
}

// find shows the value at the path in a packet and returns ErrFound.
func (v *valuePrinter) find(p *save.Packet, tree *text.Tree, near *text.Nearest) error {
	w := &text.Walker{Decoder: p.Decoder, Key: near.Key}
	edit.Inside(w)
	several := v.path.IsSeveral()
	more := func(err error) error {
		if several && err == text.ErrFound { // other values can follow
			return nil
		}
		return err
	}
	w.Value = func(*text.Node) (bool, error) { return false, more(v.show(w.Decoder)) }
	w.Part = func(_ *text.Node, part text.Part) error { return more(v.showPart(&part)) }
	return w.Walk(tree.Root(p.Index))
}

// show shows the next value, and returns ErrFound.
func (v *valuePrinter) show(d *gdwire.Decoder) error {
	switch {
	case v.raw:
		return v.showRaw(v.payload(d))
	case v.keys:
		return found(v.showKeys(d))
	case v.length:
		return found(v.showLength(d))
	}
	return v.showValue(d)
}

// showKeys shows the keys of the next value, a line for each.
func (v *valuePrinter) showKeys(d *gdwire.Decoder) error {
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
			err = v.showOne(&text.Value{Type: gdwire.TypeString, Text: key.Text()}, false)
		} else if err == nil {
			err = v.showValue(d)
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

// showLength shows the number of elements of the next value.
func (v *valuePrinter) showLength(d *gdwire.Decoder) error {
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
	v.showName()
	_, err = fmt.Fprintln(v.Out, n)
	return err
}

// found returns ErrFound, unless there is another error.
func found(err error) error {
	if err == nil {
		err = text.ErrFound
	}
	return err
}

// showValue shows the next value as text or JSON and returns ErrFound.
func (v *valuePrinter) showValue(d *gdwire.Decoder) error {
	v.showName()
	var err error
	if v.isJSON() {
		err = gdjson.ToJSON(v.Out, d, *v.json)
	} else {
		err = v.showText(d)
	}
	if err != nil {
		return err
	}
	return found(v.Out.WriteByte('\n'))
}

// showName shows the name of the file before the value if there are several files.
func (v *valuePrinter) showName() {
	if v.Several {
		fmt.Fprintf(v.Out, "%s: ", shell.Printable(v.name))
	}
}

// showText shows the next value as text: in one line, or with -indent or in a terminal in a line for each pair.
func (v *valuePrinter) showText(d *gdwire.Decoder) error {
	p := text.Printer{Decoder: d, Indent: v.json.Indent}
	if v.IsTerminal {
		p.Indent = indent
	}
	p.Flush = func() error {
		_, err := v.Out.Write(p.Buf)
		p.Buf = p.Buf[:0]
		return err
	}
	return cmp.Or(p.Next(0), p.Flush())
}

// showPart shows a part of a value as a value of its own and returns ErrFound.
func (v *valuePrinter) showPart(part *text.Part) error {
	value := &part.Value
	switch {
	case v.keys || v.length:
		return fmt.Errorf("-keys and -length are for containers and text, and not for an element or component")
	case v.raw && (value.Type == gdwire.TypeInt || value.Type == gdwire.TypeFloat):
		return v.showRaw(strings.NewReader(value.String()), nil)
	case v.raw:
		b, err := part.Append([]byte(value.Text), value)
		return v.showRaw(bytes.NewReader(b), err)
	}
	return v.showOne(value, part.Bits == 64)
}

// showOne shows a value other than a container, with real components of 64 bits if double is set, and returns ErrFound.
func (v *valuePrinter) showOne(value *text.Value, double bool) error {
	if !v.isJSON() {
		v.showName()
		_, err := fmt.Fprintln(v.Out, value)
		return found(err)
	}
	var encoded bytes.Buffer
	e := gdwire.NewEncoder(&encoded, &gdwire.EncoderOptions{DoubleReals: double, AllowInvalidUTF8: true})
	if err := value.Write(e, double); err != nil {
		return err
	}
	return v.showValue(gdwire.NewDecoder(&encoded, &gdwire.DecoderOptions{AllowInvalidUTF8: v.allowInvalid}))
}

// showRaw writes bytes as they are, in a line for each of several files, and returns ErrFound. err is an earlier error.
func (v *valuePrinter) showRaw(r io.Reader, err error) error {
	if err != nil {
		return err
	}
	v.showName()
	_, err = io.Copy(v.Out, r)
	if err == nil && v.Several {
		err = v.Out.WriteByte('\n')
	}
	return found(err)
}

// payload returns the content of the next value, a string, packed array or image, or the text of a number.
func (v *valuePrinter) payload(d *gdwire.Decoder) (io.Reader, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case gdwire.KindStringChunk, gdwire.KindImageStart:
	case gdwire.KindBool, gdwire.KindInt32, gdwire.KindInt64, gdwire.KindFloat32, gdwire.KindFloat64:
		return strings.NewReader(text.FromToken(t, nil).String()), nil
	case gdwire.KindPackedStart:
		if t.Type() == gdwire.TypePackedStringArray {
			return nil, fmt.Errorf("-raw does not write a %v; add [n] to the path for one of its strings", t.Type())
		}
	case gdwire.KindObjectStart:
		if t.Text() == "Image" {
			return nil, fmt.Errorf("-raw writes no object; the pixels of this Image are %v.data.data", v.path)
		}
		fallthrough
	default:
		return nil, fmt.Errorf("-raw writes strings, numbers, packed arrays and images, and no %v", t.Type())
	}
	return d.Payload(), nil
}

// Find defines the flags of find.
func Find(f *shell.Flags) shell.Action {
	var o open.Flags
	o.ReadFlags(f, true)
	f.OutputFlag()
	_ = f.Bool("i", true, "ignore case, as find always does")
	var wanted string
	return shell.Action{
		Check: func() (err error) {
			if wanted, err = takeFirst(f, "TEXT"); wanted == "" {
				err = errors.New("find takes a text or number that is not empty")
			}
			return err
		},
		File: func(s *shell.Stdio, name string) error { return find(s, &o, name, wanted) },
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
	err = open.Show(s, in.Packets(r), open.Printer{Damage: in.CheckEnd, Show: f.Read}, in.Live())
	if err == nil && !f.found {
		err = fmt.Errorf("%s contains no %s", in.Name, strconv.Quote(wanted))
	}
	return err
}

// A finder shows, as flat does, the leaves with a text or number in the value or key, and the containers with the text or
// number in the key.
type finder struct {
	leaves.Reader
	s    *shell.Stdio
	name string // of the file

	lower   string      // the text in lower case
	value   *text.Value // the text as a value, or nil
	number  float64
	isFloat bool // the value is a number

	found bool
}

func newFinder(s *shell.Stdio, name, wanted string) *finder {
	f := &finder{s: s, name: name, lower: strings.ToLower(wanted)}
	if v, err := text.ParseValue(wanted); err == nil {
		f.value = &v
		switch v.Type {
		case gdwire.TypeInt:
			f.number, f.isFloat = float64(v.Int), true
		case gdwire.TypeFloat:
			f.number, f.isFloat = v.Numbers[0], true
		}
	}
	f.Leaf, f.Open = f.leaf, f.container
	f.Elements = f.value != nil && f.value.Type != gdwire.TypeString
	f.Skip = func() bool { return !f.matchesKey() }
	return f
}

// startLine begins a line with the path.
func (f *finder) startLine() {
	f.Line.Buf = f.Line.Buf[:0]
	if f.s.Several {
		f.Line.Buf = append(append(f.Line.Buf, shell.Printable(f.name)...), ": "...)
	}
	f.Line.Buf = append(f.Line.Buf, f.Path...)
}

// endLine shows the line.
func (f *finder) endLine() error {
	f.found = true
	if _, err := f.s.Out.Write(append(f.Line.Buf, '\n')); err != nil {
		return open.OutputError{Err: err}
	}
	return nil
}

// container shows a container without a line in flat if the key contains the text or number.
func (f *finder) container() error {
	if !f.matchesKey() {
		return nil
	}
	f.startLine()
	f.Line.Buf = append(f.Line.Buf, ": a key"...)
	return f.endLine()
}

// leaf shows the line of a leaf if the key or value contains the text or number.
func (f *finder) leaf() error {
	f.startLine()
	f.Line.Buf = append(f.Line.Buf, " = "...)
	before := len(f.Line.Buf)
	if err := f.AppendLeaf(); err != nil {
		return err
	}
	if !f.matchesKey() {
		if v, err := text.ParseValue(string(f.Line.Buf[before:])); err != nil || !f.matches(&v) {
			return nil
		}
	}
	return f.endLine()
}

// matchesKey reports whether the key at the path contains the text or number. Indexes are no keys.
func (f *finder) matchesKey() bool {
	key := f.Key()
	switch {
	case key == nil || key.Op != text.Child || key.Key.Type == gdwire.TypeInt:
		return false
	case key.Key.Type == gdwire.TypeString || key.Key.Type == gdwire.TypeStringName || key.Key.Type == gdwire.TypeNodePath:
		isValue := f.value != nil && f.value.Type == key.Key.Type && strings.EqualFold(key.Key.Text, f.value.Text)
		return isValue || f.contains(key.Key.Text)
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
	case v.Text != "" && f.contains(v.Text):
		return true
	}
	return f.value != nil && f.value.Type == v.Type && strings.EqualFold(v.String(), f.value.String())
}

// is reports whether x is the number. If single is set, x was encoded in 32 bits. Any NaN is nan.
func (f *finder) is(x float64, single bool) bool {
	return x == f.number || math.IsNaN(x) && math.IsNaN(f.number) || single && text.Means(f.number, x)
}

// contains reports whether the content contains the text, in lower or upper case.
func (f *finder) contains(content string) bool {
	return strings.Contains(strings.ToLower(content), f.lower)
}
