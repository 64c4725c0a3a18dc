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
	"github.com/gdwire/gdwire/internal/values/leaves"
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
		if !p.Framed() && !errors.As(err, new(*leaves.OmissionError)) {
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

// NewFlatPrinter returns a Printer showing a line for each leaf: path = value.
func NewFlatPrinter(s *shell.Stdio, _ *Input) Printer {
	v := &leaves.Reader{Elements: true}
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

// A tokenPrinter shows each token as a line, appended to memory of its own: most tokens are small.
type tokenPrinter struct {
	*shell.Stdio
	offset          paint
	kinds, contents [256]paint
	buf, content    []byte
	numbers         [16]float64
}

// A paint is the escape sequences before and after text of a color. Sprint of a color takes several times as long as a line.
type paint struct{ before, after string }

func paintOf(c *color.Color) paint {
	const text = "text"
	before, after, _ := strings.Cut(c.Sprint(text), text)
	return paint{before, after}
}

func (p *paint) append(dst, text []byte) []byte {
	return append(append(append(dst, p.before...), text...), p.after...)
}

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
	const columns = "        "
	most, kind := v.Width/8, t.Kind()
	v.content = append(v.content[:0], columns...)
	v.content = strconv.AppendInt(v.content, at, 10)
	offset := v.content[min(len(v.content)-len(columns), len(columns)):]
	width := v.Width - len(offset) - 2
	b := append(v.offset.append(v.buf[:0], offset), "  "...)
	indent := len(b)
	for range min(depth, most) {
		b = append(b, "  "...)
	}
	if depth > most { // too deep to show
		b = fmt.Appendf(b, "[%d] ", depth)
	}
	name := kind.String()
	width = max(width-(len(b)-indent)-len(name)-2, 1)
	b = v.kinds[kind].append(b, append(v.content[:0], name...))
	if v.content = v.appendContent(v.content[:0], t, width); len(v.content) > width {
		v.content = append(v.content[:0], shell.Cut(string(v.content), width)...)
	}
	if len(v.content) > 0 {
		b = v.contents[kind].append(append(b, "  "...), v.content)
	}
	v.buf = append(b, '\n')
	_, err := v.Out.Write(v.buf)
	return err
}

// appendContent appends the content of a token, possibly cut after width columns.
func (v *tokenPrinter) appendContent(dst []byte, t gdwire.Token, width int) []byte {
	switch t.Kind() {
	case gdwire.KindStringChunk:
		dst = append(append(dst, t.Type().String()...), ' ')
		if n := int64(len(t.Bytes())); n != t.Len() {
			dst = fmt.Appendf(dst, "%d of %d bytes ", n, t.Len())
		}
		return appendQuoted(dst, t.Bytes(), width)
	case gdwire.KindProperty:
		return appendQuoted(dst, t.Bytes(), width)
	case gdwire.KindChunk:
		return v.appendElements(dst, t, width)
	case gdwire.KindDictKey, gdwire.KindEnd:
		return dst
	}
	return append(dst, strings.TrimLeft(strings.TrimPrefix(t.String(), t.Kind().String()), " ")...)
}

// appendElements appends elements of a packed array, up to a width.
func (v *tokenPrinter) appendElements(dst []byte, t gdwire.Token, width int) []byte {
	dst = fmt.Appendf(dst, "%v %d:", t.Type(), t.Len())
	size := len(t.Bytes()) / int(max(t.Len(), 1))
	for b := t.Bytes(); len(b) > 0 && len(dst) <= width; b = b[size:] {
		value := text.Element(t, b[:size], v.numbers[:0])
		dst = value.Append(append(dst, ' '))
	}
	return dst
}

// appendQuoted appends s in double quotes, possibly cut after width columns.
func appendQuoted(dst, s []byte, width int) []byte {
	const column = 4 // maximum number of bytes in a column
	if len(s) <= column*width {
		return strconv.AppendQuote(dst, string(s))
	}
	dst = strconv.AppendQuote(dst, string(s[:column*width]))
	return append(dst[:len(dst)-1], text.Ellipsis...)
}
