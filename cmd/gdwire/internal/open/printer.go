package open

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/fatih/color"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/text"
)

// Printers of values: all, by leaves, or by tokens.

// A Printer shows packets in one form.
type Printer struct {
	// Show reads and shows the value of a packet, and returns the error of the
	// packet, shell.ErrBad after showing this error, or an OutputError.
	Show func(*save.Packet) error
	// Damage, if not nil, returns an error of the whole input.
	Damage func() error

	// end, if not nil, shows a summary after the last packet. damage is an error of the whole input.
	end func(damage error)
	// zeros, if not nil, contains the notes of Show, and zeros at the end of the input are damage.
	zeros *save.Zeros
	// checks says that a wrong checksum around values is an error.
	checks bool
}

// A NewPrinter is the constructor of a Printer of the packets of an input.
type NewPrinter func(s *shell.Stdio, in *Input) Printer

// Counting returns a Printer that also counts packets.
func (p Printer) Counting(n *int64) Printer {
	show := p.Show
	p.Show = func(one *save.Packet) error {
		*n++
		return show(one)
	}
	return p
}

// An OutputError is an error of the output and not of the packet, and ends the command.
type OutputError struct{ Err error }

func (e OutputError) Error() string { return e.Err.Error() }

// An omission reports values left out of the output.
type omission struct {
	packet, values int64
}

func (o *omission) Error() string {
	return fmt.Sprintf("%s: values left out because of their long paths: %d; get shows them", text.AppendPacket(nil, o.packet), o.values)
}

// maxEmpty is the maximum number of successive packets without a value in a file, such as zeros at
// the end.
const maxEmpty = 1000

// Show shows packets and reports their errors. Packets of a live source are shown before
// Show waits for the next.
func Show(s *shell.Stdio, packets iter.Seq[*save.Packet], v Printer, live bool) error {
	var bad error
	empty := 0
	for p := range packets {
		if empty++; p.Size > 0 || !p.Framed() || live {
			empty = 0
		}
		if empty > maxEmpty {
			bad = shell.ErrBad
			s.Report(fmt.Errorf("more than %d packets without a value from offset %d on; the rest is not shown", maxEmpty, p.Offset-maxEmpty*lengthSize))
			break
		}
		err := v.Show(p)
		if failed, ok := err.(OutputError); ok {
			return failed.Err
		}
		if err != nil || live {
			if failed := s.Out.Flush(); failed != nil {
				return failed // not an error of the packet
			}
		}
		if err == nil {
			continue
		}
		bad = shell.ErrBad
		if err != shell.ErrBad {
			s.Report(err)
		}
		if o := (*omission)(nil); !p.Framed() && !errors.As(err, &o) {
			break // the start of the next value is unknown
		}
	}
	var damage error
	if v.Damage != nil {
		damage = v.Damage()
	}
	s.Clear()
	if v.end != nil {
		v.end(damage)
	}
	return cmp.Or(damage, bad)
}

// NewJSONPrinter returns the constructor of a Printer showing each value as a line of JSON, cut short after an error.
func NewJSONPrinter(o gdjson.Options) NewPrinter {
	o.EscapeForTerminal = true
	return func(s *shell.Stdio, _ *Input) Printer {
		return Printer{Show: func(p *save.Packet) error { return showJSON(s, p, o) }}
	}
}

func showJSON(s *shell.Stdio, p *save.Packet, o gdjson.Options) error {
	err := p.Err
	if err == nil {
		if err = gdjson.ToJSON(s.Out, p.Decoder, o); p.Index > 0 && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		err = p.Finish(err)
	}
	if _, failed := io.WriteString(s.Out, "\n"); failed != nil {
		return failed
	}
	return err
}

// A LeafReader reads the values of packets leaf by leaf and calls the functions below with Path as the path of a leaf.
// A leaf is a value without inner values, or an empty, typed or packed container, or an object. The reader holds
// only the path and one token in memory.
type LeafReader struct {
	Path []byte       // of the current value
	Line text.Printer // of the current leaf
	// Leaf shows a leaf, or the declaration of a container with values. AppendLeaf appends its text to Line.
	Leaf func() error
	// Elements says that the elements of all packed arrays are leaves, and not only Strings.
	Elements bool
	// Skip, if not nil, reports whether to leave out the bytes at Path, a PackedByteArray or Image.
	Skip func() bool
	// Open, if not nil, is called for a container that is no leaf, before its values.
	Open func() error

	*save.Packet
	key     text.Step // of the value at Path
	hasKey  bool
	long    int64 // the sum of the lengths of all long paths of leaves
	omitted int64 // the number of omitted values of the packet
	numbers [16]float64

	// Of a leaf: the first token, or an element without tokens, or a NodePath of which before was read.
	first   gdwire.Token
	element text.Value
	path    *text.NodePathReader
	before  []byte
}

// AppendLeaf reads the leaf, and appends its text to Line.
func (v *LeafReader) AppendLeaf() error {
	switch {
	case v.path != nil:
		return v.Line.NodePath(v.path, v.before)
	case v.element.Type != 0:
		v.Line.Buf = v.element.Append(v.Line.Buf)
		return nil
	}
	return v.Line.Leaf(v.first)
}

// The lengths of paths, in bytes. Without a limit, each value in a container with a long
// path would repeat the path, and the output would grow with the square of the input.
const (
	MaxPath = 64 << 10 // of any path

	shortPath = 256      // of a path shown in any case
	longPaths = 64 << 20 // of all paths longer than shortPath together, and
	longPerIn = 16       // so much more for each byte of the input
)

// Key returns the step to the value at Path if the step is a key or the name of a property, or nil. The step is valid
// until the next value is read.
func (v *LeafReader) Key() *text.Step {
	if v.hasKey {
		return &v.key
	}
	return nil
}

// Read reads the leaves of a packet.
func (v *LeafReader) Read(p *save.Packet) error {
	v.Packet, v.Line.Decoder = p, p.Decoder
	v.Path = text.AppendPacket(v.Path[:0], p.Index)
	v.omitted, v.hasKey = 0, false
	err := p.Err
	if err == nil {
		err = p.Finish(v.value())
	}
	if err == nil && v.omitted > 0 {
		err = &omission{p.Index, v.omitted}
	}
	return err
}

// omit reports whether the path is too long for its value to be shown, and counts values
// left out.
func (v *LeafReader) omit() bool {
	n := len(v.Path)
	if n > MaxPath || n > shortPath && v.long > longPaths+longPerIn*v.ReadOffset() {
		v.omitted++
		return true
	}
	return false
}

// value reads the next value.
func (v *LeafReader) value() error {
	if v.omit() {
		return v.SkipValue()
	}
	t, err := v.ReadToken()
	if err != nil {
		return err
	}
	return v.token(t)
}

// token reads the value starting with t.
func (v *LeafReader) token(t gdwire.Token) error {
	switch t.Kind() {
	case gdwire.KindArrayStart:
		return v.array(t)
	case gdwire.KindDictStart:
		return v.dictionary(t)
	case gdwire.KindObjectStart:
		return v.object(t)
	case gdwire.KindPackedStart:
		if t.Type() != gdwire.TypePackedByteArray {
			return v.packed(t)
		}
	}
	return v.leaf(t)
}

// leaf calls Leaf.
func (v *LeafReader) leaf(t gdwire.Token) error {
	v.count()
	isBytes := t.Kind() == gdwire.KindImageStart || t.Kind() == gdwire.KindPackedStart && t.Type() == gdwire.TypePackedByteArray
	if isBytes && v.Skip != nil && v.Skip() {
		return v.SkipTo(v.Depth() - 1)
	}
	v.first = t
	return v.Leaf()
}

// count adds to the sum of long paths.
func (v *LeafReader) count() {
	if len(v.Path) > shortPath {
		v.long += int64(len(v.Path))
	}
}

// start calls Leaf for an empty or declared container, and otherwise Open.
func (v *LeafReader) start(t gdwire.Token) error {
	switch {
	case t.Len() == 0 || t.KeyElem() != (gdwire.Elem{}) || t.Elem() != (gdwire.Elem{}):
		return v.leaf(t)
	case v.Open != nil:
		return v.Open()
	}
	return nil
}

// inside reads the next value, at the path extended by step.
func (v *LeafReader) inside(step func(dst []byte) []byte) error {
	v.hasKey = false
	n := len(v.Path)
	v.Path = step(v.Path)
	err := v.value()
	v.Path = v.Path[:n]
	return err
}

// child reads the next value, at the path extended by a key.
func (v *LeafReader) child(step *text.Step) error {
	v.key, v.hasKey = *step, true
	n := len(v.Path)
	v.Path = step.Append(v.Path)
	err := v.value()
	v.Path = v.Path[:n]
	return err
}

// array reads the elements of an Array.
func (v *LeafReader) array(t gdwire.Token) error {
	n := t.Len()
	if err := v.start(t); err != nil {
		return err
	}
	for i := range n {
		if err := v.inside(func(dst []byte) []byte { return text.AppendIndex(dst, i) }); err != nil {
			return err
		}
	}
	return v.end()
}

// end reads the End of a container.
func (v *LeafReader) end() error {
	_, err := v.ReadToken()
	return err
}

// object reads the properties of an Object.
func (v *LeafReader) object(t gdwire.Token) error {
	n := t.Len()
	if err := v.leaf(t); err != nil {
		return err
	}
	for range n {
		name, err := v.ReadToken()
		if err != nil {
			return err
		}
		if err := v.child(&text.Step{Key: text.FromToken(name, nil)}); err != nil {
			return err
		}
	}
	return v.end()
}

// dictionary reads the pairs of a Dictionary.
func (v *LeafReader) dictionary(t gdwire.Token) error {
	n := t.Len()
	if err := v.start(t); err != nil {
		return err
	}
	for i := range n {
		if _, err := v.ReadToken(); err != nil { // DictKey
			return err
		}
		if err := v.pair(i); err != nil {
			return err
		}
	}
	return v.end()
}

// pair reads pair i of a Dictionary. A key that cannot be part of a path is a value at a path of its own.
func (v *LeafReader) pair(i int64) error {
	t, err := v.ReadToken()
	if err != nil {
		return err
	}
	step, ok, err := text.KeyStep(v.Decoder, t, v.numbers[:0], func(r *text.NodePathReader, value []byte) error {
		return v.longKey(i, t, r, value)
	})
	if err != nil {
		return err
	}
	if !ok {
		return v.inside(func(dst []byte) []byte { return text.AppendValueAt(dst, i) })
	}
	return v.child(&step)
}

// longKey reads a key starting with t. start is the part already read.
func (v *LeafReader) longKey(i int64, t gdwire.Token, r *text.NodePathReader, start []byte) error {
	v.hasKey = false
	n := len(v.Path)
	v.Path = text.AppendKeyAt(v.Path, i)
	defer func() { v.Path = v.Path[:n] }()
	if r != nil {
		v.count()
		v.path, v.before = r, start
		defer func() { v.path = nil }()
		return v.Leaf()
	}
	return v.token(t)
}

// packed reads a packed array.
func (v *LeafReader) packed(t gdwire.Token) error {
	base, depth, isText := len(v.Path), v.Depth()-1, t.Type() == gdwire.TypePackedStringArray
	if err := v.leaf(t); err != nil {
		return err
	}
	if !v.Elements && !isText {
		return v.SkipTo(depth)
	}
	v.hasKey = false
	defer func() { v.Path, v.element = v.Path[:base], text.Value{} }()
	for i := int64(0); ; {
		if v.Path = v.Path[:base]; v.omit() {
			return v.SkipTo(depth)
		}
		t, err := v.ReadToken()
		switch {
		case err != nil:
			return err
		case t.Kind() == gdwire.KindEnd:
			return nil
		case t.Kind() == gdwire.KindStringChunk:
			v.Path = text.AppendIndex(v.Path, i)
			if err := v.leaf(t); err != nil {
				return err
			}
			i++
			continue
		}
		size := int(int64(len(t.Bytes())) / max(t.Len(), 1))
		for b := t.Bytes(); len(b) > 0; b = b[size:] {
			if v.Path = text.AppendIndex(v.Path[:base], i); v.omit() {
				return v.SkipTo(depth)
			}
			v.element = text.Element(t, b[:size], v.numbers[:0])
			v.count()
			if err := v.Leaf(); err != nil {
				return err
			}
			i++
		}
	}
}

// NewFlatPrinter returns a Printer showing a line for each leaf: path = value.
func NewFlatPrinter(s *shell.Stdio, _ *Input) Printer {
	v := &LeafReader{Elements: true}
	flush := func() error {
		_, err := s.Out.Write(v.Line.Buf)
		v.Line.Buf = v.Line.Buf[:0]
		return err
	}
	v.Line.Flush = flush
	v.Leaf = func() error {
		v.Line.Buf = append(append(v.Line.Buf[:0], v.Path...), " = "...)
		err := v.AppendLeaf()
		v.Line.Buf = append(v.Line.Buf, '\n')
		return cmp.Or(flush(), err)
	}
	return Printer{Show: v.Read}
}

// NewTokenPrinter returns a Printer showing each token as a line: offset, nesting, kind and
// content.
func NewTokenPrinter(s *shell.Stdio, _ *Input) Printer {
	return Printer{Show: newTokenPrinter(s).show}
}

// newTokenPrinter returns a tokenPrinter with the colors of s.
func newTokenPrinter(s *shell.Stdio) *tokenPrinter {
	c := &s.Colors
	v := &tokenPrinter{Stdio: s, offset: paintOf(c.Dim)}
	for k := range v.kinds {
		v.kinds[k], v.contents[k] = paintOf(c.Plain), paintOf(c.Data)
	}
	for k, one := range map[gdwire.Kind]*color.Color{
		gdwire.KindDictStart: c.Open, gdwire.KindArrayStart: c.Open, gdwire.KindObjectStart: c.Open, gdwire.KindPackedStart: c.Open,
		gdwire.KindNodePathStart: c.Open, gdwire.KindImageStart: c.Open, gdwire.KindDictKey: c.Dim, gdwire.KindEnd: c.Dim,
	} {
		v.kinds[k], v.contents[k] = paintOf(one), paintOf(one)
	}
	v.contents[gdwire.KindStringChunk], v.contents[gdwire.KindProperty] = paintOf(c.Text), paintOf(c.Text)
	return v
}

// A tokenPrinter shows each token as a line.
type tokenPrinter struct {
	*shell.Stdio
	offset          paint
	kinds, contents [256]paint
	numbers         [16]float64
}

// A paint is the escape sequences before and after text of a color. Sprint of a color takes several times as long as a line.
type paint struct{ before, after string }

func paintOf(c *color.Color) paint {
	const text = "text"
	before, after, _ := strings.Cut(c.Sprint(text), text)
	return paint{before, after}
}

func (p *paint) on(text string) string { return p.before + text + p.after }

// show shows the tokens of a packet.
func (v *tokenPrinter) show(p *save.Packet) error {
	if p.Framed() {
		head := fmt.Sprintf("packet %d, offset %d, %d bytes", p.Index, p.Offset, p.Size)
		if p.Packed != nil && p.Err == nil {
			head += fmt.Sprintf(", compressed with %v: offsets in its %d bytes", p.Packed.Mode, len(p.Packed.Value))
		}
		if _, err := fmt.Fprintln(v.Out, v.Colors.Bold.Sprint(head)); err != nil {
			return err
		}
	}
	at, depth, text := p.ReadOffset(), p.Depth(), false
	for t, err := range p.AllTokens {
		if err != nil {
			return err
		}
		if t.Kind() == gdwire.KindEnd || text {
			depth-- // show an End like its Start token, and a chunk like the first
		}
		if err := v.line(at, depth, t); err != nil {
			return err
		}
		at, depth, text = p.ReadOffset(), p.Depth(), t.Kind() == gdwire.KindStringChunk && !t.Last()
	}
	return nil
}

// line shows a token starting at an offset, inside depth containers.
func (v *tokenPrinter) line(at int64, depth int, t gdwire.Token) error {
	most := v.Width / 8
	offset, indent, kind := fmt.Sprintf("%8d", at), strings.Repeat("  ", min(depth, most)), t.Kind().String()
	if depth > most { // too deep to show
		indent += fmt.Sprintf("[%d] ", depth)
	}
	line := v.offset.on(offset) + "  " + indent + v.kinds[t.Kind()].on(kind)
	width := max(v.Width-len(offset)-2-len(indent)-len(kind)-2, 1)
	if content := shell.Cut(v.content(t, width), width); content != "" {
		line += "  " + v.contents[t.Kind()].on(content)
	}
	_, err := v.Out.WriteString(line + "\n")
	return err
}

// content returns the content of a token, possibly cut after width columns.
func (v *tokenPrinter) content(t gdwire.Token, width int) string {
	switch t.Kind() {
	case gdwire.KindStringChunk:
		part := ""
		if n := int64(len(t.Bytes())); n != t.Len() {
			part = fmt.Sprintf("%d of %d bytes ", n, t.Len())
		}
		return t.Type().String() + " " + part + quoted(t.Bytes(), width)
	case gdwire.KindProperty:
		return quoted(t.Bytes(), width)
	case gdwire.KindChunk:
		return string(v.elements(t, width))
	}
	return strings.TrimLeft(strings.TrimPrefix(t.String(), t.Kind().String()), " ")
}

// elements returns elements of a packed array as text, up to a width.
func (v *tokenPrinter) elements(t gdwire.Token, width int) []byte {
	line := fmt.Appendf(nil, "%v %d:", t.Type(), t.Len())
	size := len(t.Bytes()) / int(max(t.Len(), 1))
	for b := t.Bytes(); len(b) > 0 && len(line) <= width; b = b[size:] {
		value := text.Element(t, b[:size], v.numbers[:0])
		line = value.Append(append(line, ' '))
	}
	return line
}

// quoted returns s in double quotes, possibly cut after width columns.
func quoted(s []byte, width int) string {
	const column = 4 // maximum number of bytes in a column
	if len(s) <= column*width {
		return strconv.Quote(string(s))
	}
	text := strconv.Quote(string(s[:column*width]))
	return text[:len(text)-1] + "…"
}
