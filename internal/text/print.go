package text

import (
	"cmp"
	"encoding/hex"
	"errors"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// MaxNesting is the maximum number of printed and parsed containers in each other.
const MaxNesting = 1024

// A Printer reads values and appends their text to Buf.
type Printer struct {
	*gdwire.Decoder
	Buf []byte
	// Flush, if not nil, empties Buf between the chunks of long text and the items of long containers.
	Flush func() error
	// Indent, if not empty, begins a line for each pair of a Dictionary or Object, and for each element of an
	// Array with a container as its first element, once for each container around the line.
	Indent string
	// Short prints components of math types as Value.Short does.
	Short bool
	// Brief prints keys and names of text without quotes, and Arrays, Dictionaries and Objects without their types.
	Brief bool
	// Most, if not 0, is the size of Buf in bytes after which printing ends with ErrLong. Buf is then longer.
	Most int

	numbers [16]float64
}

// ErrLong is the error of a Printer with more text than Most.
var ErrLong = errors.New("the text is too long")

// Next appends the next value, inside depth containers.
func (p *Printer) Next(depth int) error {
	t, err := p.ReadToken()
	if err != nil {
		return err
	}
	return p.Value(t, depth)
}

// Value appends the value starting with t, the latest token, as Next does.
func (p *Printer) Value(t gdwire.Token, depth int) error {
	switch t.Kind() {
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
		return p.container(t, depth)
	case gdwire.KindPackedStart:
		if t.Type() != gdwire.TypePackedByteArray {
			return p.packed(t)
		}
	}
	return p.Leaf(t)
}

// container appends the container starting with t, in one line.
func (p *Printer) container(t gdwire.Token, depth int) error {
	if depth == MaxNesting {
		p.Buf = append(p.Buf, Ellipsis...)
		return p.SkipTo(p.Depth() - 1)
	}
	v := FromToken(t, nil)
	if p.Brief {
		v.Key, v.Elem = gdwire.Elem{}, gdwire.Elem{}
		if v.Type == gdwire.TypeObject {
			p.Buf = append(wire.AppendText(p.Buf, v.Text), ' ')
			v.Type = gdwire.TypeDictionary
		}
	}
	p.Buf = v.AppendStart(p.Buf)
	lines := p.Indent != "" && t.Len() > 0 && (v.hasPairs() || isContainer(p.PeekKind()))
	for i := range t.Len() {
		if lines {
			p.newLine(i, depth+1)
		} else {
			p.Buf = AppendSeparator(p.Buf, i)
		}
		if err := p.flushLong(); err != nil {
			return err
		}
		if v.hasPairs() {
			if err := p.key(depth); err != nil {
				return err
			}
			p.Buf = append(p.Buf, AfterKey...)
		}
		if err := p.Next(depth + 1); err != nil {
			return err
		}
	}
	if lines {
		p.newLine(0, depth)
	}
	p.Buf = v.AppendEnd(p.Buf)
	_, err := p.ReadToken() // End
	return err
}

// key appends the next key or name of a container.
func (p *Printer) key(depth int) error {
	t, err := p.ReadToken() // Property or DictKey
	if err == nil && p.Brief && t.Kind() == gdwire.KindDictKey && p.PeekKind() == gdwire.KindStringChunk {
		t, err = p.ReadToken()
	}
	switch {
	case err != nil:
		return err
	case t.Kind() == gdwire.KindDictKey:
		return p.Next(depth + 1)
	case !p.Brief:
		p.Buf = AppendQuoted(p.Buf, t.Bytes())
	case t.Kind() == gdwire.KindProperty:
		p.Buf = wire.AppendText(p.Buf, t.Bytes())
	default:
		if err = p.chunks(t); err == nil {
			p.Buf = p.Buf[:len(p.Buf)-1] // the quote
		}
	}
	return err
}

// isContainer reports whether a value with a first token of kind k is an Array, Dictionary or Object.
func isContainer(k gdwire.Kind) bool {
	return k == gdwire.KindArrayStart || k == gdwire.KindDictStart || k == gdwire.KindObjectStart
}

// newLine begins the line of item i of a container, at a depth.
func (p *Printer) newLine(i int64, depth int) {
	if i > 0 {
		p.Buf = append(p.Buf, ',')
	}
	p.Buf = append(p.Buf, '\n')
	for range depth {
		p.Buf = append(p.Buf, p.Indent...)
	}
}

// packed appends the packed array starting with t, in one line.
func (p *Printer) packed(t gdwire.Token) error {
	v := FromToken(t, nil)
	if v.Form == Empty {
		p.Buf = v.Append(p.Buf)
		return p.SkipTo(p.Depth() - 1)
	}
	p.Buf = v.AppendStart(p.Buf)
	for i := int64(0); ; {
		t, err := p.ReadToken()
		switch {
		case err != nil:
			return err
		case t.Kind() == gdwire.KindEnd:
			p.Buf = v.AppendEnd(p.Buf)
			return nil
		case t.Kind() == gdwire.KindStringChunk:
			p.Buf = AppendSeparator(p.Buf, i)
			if err := cmp.Or(p.Leaf(t), p.flushLong()); err != nil {
				return err
			}
			i++
			continue
		}
		size := int(int64(len(t.Bytes())) / max(t.Len(), 1))
		for b := p.cut(t.Bytes(), size); len(b) > 0; b = b[size:] {
			item := Element(t, b[:size], p.numbers[:0])
			item.Short = p.Short && t.Type().Element() > gdwire.TypeString
			p.Buf = item.Append(AppendSeparator(p.Buf, i))
			i++
		}
		if err := p.flushLong(); err != nil {
			return err
		}
	}
}

// Leaf appends the value starting with t, without other values inside, or the type of a container.
func (p *Printer) Leaf(t gdwire.Token) error {
	switch t.Kind() {
	case gdwire.KindStringChunk:
		p.Buf = append(append(p.Buf, Prefix(t.Type())...), '"')
		return p.chunks(t)
	case gdwire.KindNodePathStart:
		return p.NodePath(NewNodePathReader(p.Decoder, t), nil)
	case gdwire.KindImageStart:
		return p.bytes(t)
	case gdwire.KindPackedStart:
		if t.Type() == gdwire.TypePackedByteArray {
			return p.bytes(t)
		}
	}
	v := FromToken(t, p.numbers[:0])
	v.Short = p.Short && t.Components() > 0
	p.Buf = v.Append(p.Buf)
	return nil
}

// flush calls Flush.
func (p *Printer) flush() error {
	switch {
	case p.Most > 0 && len(p.Buf) > p.Most:
		return ErrLong
	case p.Flush == nil:
		return nil
	}
	return p.Flush()
}

// cut returns the part of a long text or packed array after which Buf is longer than Most, or all of it. A rune is cut
// only after Most.
func (p *Printer) cut(b []byte, size int) []byte {
	if p.Most > 0 {
		b = b[:min(len(b), (p.Most+utf8.UTFMax)*size)]
	}
	return b
}

// longBuf is the number of bytes after which Buf is flushed between items.
const longBuf = 4 << 10

// flushLong calls Flush if Buf is long.
func (p *Printer) flushLong() error {
	if len(p.Buf) < longBuf && p.Most == 0 {
		return nil
	}
	return p.flush()
}

// chunks appends the text starting with chunk t, and a quote.
func (p *Printer) chunks(t gdwire.Token) error {
	for {
		p.Buf = wire.AppendText(p.Buf, p.cut(t.Bytes(), 1))
		if t.Last() {
			p.Buf = append(p.Buf, '"')
			return nil
		}
		if err := p.flush(); err != nil {
			return err
		}
		var err error
		if t, err = p.ReadToken(); err != nil {
			return err
		}
	}
}

// NodePath appends a NodePath. text is the part already read.
func (p *Printer) NodePath(r *NodePathReader, text []byte) error {
	p.Buf = wire.AppendText(append(append(p.Buf, Prefix(gdwire.TypeNodePath)...), '"'), text)
	return p.pieces(r.Next, wire.AppendText[[]byte], `"`)
}

// bytes appends a PackedByteArray or Image in hexadecimal.
func (p *Printer) bytes(t gdwire.Token) error {
	const end = `")`
	v := FromToken(t, p.numbers[:0])
	p.Buf = v.Append(p.Buf)
	p.Buf = p.Buf[:len(p.Buf)-len(end)]
	next := func() (string, gdwire.Token, error) {
		t, err := p.ReadToken()
		return "", t, err
	}
	return p.pieces(next, hex.AppendEncode, end)
}

// pieces appends pieces and the separators before them up to an End, in place of which it appends end.
func (p *Printer) pieces(next func() (string, gdwire.Token, error), add func(dst, piece []byte) []byte, end string) error {
	for {
		separator, t, err := next()
		p.Buf = append(p.Buf, separator...)
		if err != nil {
			return err
		}
		if t.Kind() == gdwire.KindEnd {
			p.Buf = append(p.Buf, end...)
			return nil
		}
		p.Buf = add(p.Buf, p.cut(t.Bytes(), 1))
		if err := p.flush(); err != nil {
			return err
		}
	}
}
