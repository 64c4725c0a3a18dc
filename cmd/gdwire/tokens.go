package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fatih/color"
	"github.com/mattn/go-runewidth"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/input"
	"github.com/gdwire/gdwire/internal/paths"
)

// newTokenPrinter returns a printer that shows each token as a line: offset, nesting, kind and
// content.
func newTokenPrinter(s *stdio, _ *options) printer {
	v := &tokenPrinter{stdio: s}
	for k := range v.kinds {
		v.kinds[k], v.contents[k] = s.colors.plain, s.colors.data
	}
	for k, c := range map[gdwire.Kind]*color.Color{
		gdwire.KindDictStart: s.colors.open, gdwire.KindArrayStart: s.colors.open, gdwire.KindObjectStart: s.colors.open,
		gdwire.KindPackedStart: s.colors.open, gdwire.KindNodePathStart: s.colors.open, gdwire.KindImageStart: s.colors.open,
		gdwire.KindDictKey: s.colors.dim, gdwire.KindEnd: s.colors.dim,
	} {
		v.kinds[k], v.contents[k] = c, c
	}
	v.contents[gdwire.KindStringChunk], v.contents[gdwire.KindProperty] = s.colors.text, s.colors.text
	return printer{show: v.show}
}

type tokenPrinter struct {
	*stdio
	kinds, contents [256]*color.Color
}

// show shows the tokens of a packet.
func (v *tokenPrinter) show(p *input.Packet) error {
	if p.Framed() {
		head := fmt.Sprintf("packet %d, offset %d, %d bytes", p.Index, p.Offset, p.Size)
		if _, err := fmt.Fprintln(v.out, v.colors.bold.Sprint(head)); err != nil {
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

// line shows a token that starts at an offset, inside depth containers.
func (v *tokenPrinter) line(at int64, depth int, t gdwire.Token) error {
	offset := fmt.Sprintf("%8d", at)
	kind := t.Kind().String()
	most := v.width / 8
	space := strings.Repeat("  ", min(depth, most))
	if depth > most { // too deep to show
		space += fmt.Sprintf("[%d] ", depth)
	}
	left := v.width - len(offset) - 2 - len(space) - len(kind) - 2
	text := cut(content(t, max(left, 1)), max(left, 1))
	line := v.colors.dim.Sprint(offset) + "  " + space + v.kinds[t.Kind()].Sprint(kind)
	if text != "" {
		line += "  " + v.contents[t.Kind()].Sprint(text)
	}
	_, err := fmt.Fprintln(v.out, line)
	return err
}

// content describes the content of a token. It may cut long content after width columns.
func content(t gdwire.Token, width int) string {
	switch t.Kind() {
	case gdwire.KindStringChunk:
		s := fmt.Sprint(t.Type(), " ")
		if n := int64(len(t.Bytes())); n != t.Len() {
			s += fmt.Sprintf("%d of %d bytes ", n, t.Len())
		}
		return s + quote(t.Bytes(), width)
	case gdwire.KindProperty:
		return quote(t.Bytes(), width)
	case gdwire.KindChunk:
		s := fmt.Appendf(nil, "%v %d:", t.Type(), t.Len())
		size := len(t.Bytes()) / int(max(t.Len(), 1))
		for b := t.Bytes(); len(b) > 0 && len(s) <= width; b = b[size:] {
			v := paths.Element(t, b[:size], nil)
			s = v.Append(append(s, ' '))
		}
		return string(s)
	}
	return strings.TrimLeft(strings.TrimPrefix(t.String(), t.Kind().String()), " ")
}

// quote quotes s. It may cut a long s after width columns.
func quote(s []byte, width int) string {
	const column = 4 // maximum number of bytes in a column
	if most := column * width; len(s) > most {
		return strings.TrimSuffix(strconv.Quote(string(s[:most])), `"`) + "…"
	}
	return strconv.Quote(string(s))
}

// cut cuts s to width columns.
func cut(s string, width int) string {
	if len(s) <= width {
		return s
	}
	return runewidth.Truncate(s, width, "…")
}
