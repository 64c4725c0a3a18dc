package open

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fatih/color"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// NewTokenPrinter returns a Printer showing each token as a line: offset, nesting, kind and
// content.
func NewTokenPrinter(s *shell.Stdio, _ *Input) Printer {
	return Printer{Show: newTokenPrinter(s).show}
}

// newTokenPrinter returns a tokenPrinter with the colors of s.
func newTokenPrinter(s *shell.Stdio) *tokenPrinter {
	v := &tokenPrinter{Stdio: s, offset: paintOf(s.Colors.Dim)}
	plain, data, text := paintOf(s.Colors.Plain), paintOf(s.Colors.Data), paintOf(s.Colors.Text)
	for k := range v.kinds {
		v.kinds[k], v.contents[k] = plain, data
	}
	for k, c := range map[gdwire.Kind]*color.Color{
		gdwire.KindDictStart: s.Colors.Open, gdwire.KindArrayStart: s.Colors.Open, gdwire.KindObjectStart: s.Colors.Open,
		gdwire.KindPackedStart: s.Colors.Open, gdwire.KindNodePathStart: s.Colors.Open, gdwire.KindImageStart: s.Colors.Open,
		gdwire.KindDictKey: s.Colors.Dim, gdwire.KindEnd: s.Colors.Dim,
	} {
		p := paintOf(c)
		v.kinds[k], v.contents[k] = p, p
	}
	v.contents[gdwire.KindStringChunk], v.contents[gdwire.KindProperty] = text, text
	return v
}

// A tokenPrinter appends the parts of a line to one buffer. Package fmt would take several
// times as long, because most tokens are small and each takes a line.
type tokenPrinter struct {
	shares bool // counts can have the shared bit of Godot 2
	*shell.Stdio
	offset          paint
	kinds, contents [256]paint
	buf             []byte
	numbers         [16]float64
}

// A paint is the escape sequences before and after text of a color.
type paint struct{ before, after string }

func paintOf(c *color.Color) paint {
	const text = "text"
	before, after, _ := strings.Cut(c.Sprint(text), text)
	return paint{before, after}
}

// show shows the tokens of a packet.
func (v *tokenPrinter) show(p *save.Packet) error {
	v.shares = p.Options().Format == gdwire.Godot2
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
	b := append(v.buf[:0], v.offset.before...)
	painted := len(b) // bytes of escape sequences, without columns
	b = appendOffset(b, at)
	b = append(b, v.offset.after...)
	painted += len(v.offset.after)
	b = append(b, "  "...)

	most := v.Width / 8
	for range min(depth, most) {
		b = append(b, "  "...)
	}
	if depth > most { // too deep to show
		b = strconv.AppendInt(append(b, '['), int64(depth), 10)
		b = append(b, "] "...)
	}
	kind := t.Kind().String()
	remaining := max(v.Width-(len(b)-painted)-len(kind)-2, 1)
	b = append(b, v.kinds[t.Kind()].before...)
	b = append(b, kind...)
	b = append(b, v.kinds[t.Kind()].after...)

	end := len(b)
	b = append(b, "  "...)
	b = append(b, v.contents[t.Kind()].before...)
	start := len(b)
	if b = v.appendContent(b, t, remaining); len(b) > start {
		b = appendCut(b[:start], b[start:], remaining)
		b = append(b, v.contents[t.Kind()].after...)
	} else {
		b = b[:end]
	}
	v.buf = append(b, '\n')
	_, err := v.Out.Write(v.buf)
	return err
}

// appendOffset appends an offset in at least eight columns.
func appendOffset(dst []byte, at int64) []byte {
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], at, 10)
	for range 8 - len(text) {
		dst = append(dst, ' ')
	}
	return append(dst, text...)
}

// appendContent appends the content of a token, possibly cut after width columns.
func (v *tokenPrinter) appendContent(dst []byte, t gdwire.Token, width int) []byte {
	switch t.Kind() {
	case gdwire.KindNil, gdwire.KindCallable, gdwire.KindDictKey, gdwire.KindEnd:
		return dst
	case gdwire.KindBool:
		return strconv.AppendBool(dst, t.Bool())
	case gdwire.KindInt32, gdwire.KindInt64:
		return strconv.AppendInt(dst, t.Int(), 10)
	case gdwire.KindFloat32, gdwire.KindFloat64:
		return appendReal(dst, t.Float())
	case gdwire.KindStringChunk:
		dst = append(append(dst, t.Type().String()...), ' ')
		if n := int64(len(t.Bytes())); n != t.Len() {
			dst = append(strconv.AppendInt(dst, n, 10), " of "...)
			dst = append(strconv.AppendInt(dst, t.Len(), 10), " bytes "...)
		}
		return appendQuoted(dst, t.Bytes(), width)
	case gdwire.KindProperty:
		return appendQuoted(dst, t.Bytes(), width)
	case gdwire.KindPackedStart:
		dst = append(append(dst, t.Type().String()...), ' ')
		return strconv.AppendInt(dst, t.Len(), 10)
	case gdwire.KindChunk:
		return v.appendElements(dst, t, width)
	case gdwire.KindArrayStart, gdwire.KindDictStart:
		if len(t.Bytes()) == 0 && !v.shares { // no declared types: without an allocation
			return strconv.AppendInt(dst, t.Len(), 10)
		}
	}
	if t.Components() > 0 {
		return v.appendReals(dst, t)
	}
	return append(dst, strings.TrimLeft(strings.TrimPrefix(t.String(), t.Kind().String()), " ")...)
}

// appendElements appends elements of a packed array, up to a width.
func (v *tokenPrinter) appendElements(dst []byte, t gdwire.Token, width int) []byte {
	start := len(dst)
	dst = append(append(dst, t.Type().String()...), ' ')
	dst = append(strconv.AppendInt(dst, t.Len(), 10), ':')
	size := len(t.Bytes()) / int(max(t.Len(), 1))
	for b := t.Bytes(); len(b) > 0 && len(dst)-start <= width; b = b[size:] {
		value := text.Element(t, b[:size], v.numbers[:0])
		dst = value.Append(append(dst, ' '))
	}
	return dst
}

// appendReals appends the components of a math type.
func (v *tokenPrinter) appendReals(dst []byte, t gdwire.Token) []byte {
	before := byte('[')
	for _, x := range t.AppendComponents(v.numbers[:0]) {
		dst = appendReal(append(dst, before), x)
		before = ' '
	}
	return append(dst, ']')
}

// appendReal appends x as in Token.String.
func appendReal(dst []byte, x float64) []byte { return strconv.AppendFloat(dst, x, 'g', -1, 64) }

// appendQuoted appends s in double quotes, possibly cut after width columns.
func appendQuoted(dst, s []byte, width int) []byte {
	const column = 4 // maximum number of bytes in a column
	whole := len(s) <= column*width
	if !whole {
		s = s[:column*width]
	}
	if plainLen(s) == len(s) { // strconv takes many times as long
		dst = append(append(append(dst, '"'), s...), '"')
	} else {
		dst = strconv.AppendQuote(dst, string(s))
	}
	if whole {
		return dst
	}
	return append(dst[:len(dst)-1], "…"...)
}

// plainLen returns the length of the printable ASCII at the start of s, up to a quote or a
// backslash.
func plainLen(s []byte) int {
	for i, c := range s {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

// appendCut appends s, cut to width columns. s may be the bytes after dst.
func appendCut(dst, s []byte, width int) []byte {
	if len(s) <= width {
		return append(dst, s...)
	}
	return append(dst, shell.Cut(string(s), width)...)
}
