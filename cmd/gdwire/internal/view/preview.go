package view

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

const (
	maxPreview = 160 // bytes of a row's text
	maxNested  = 6   // containers that a row's text opens
)

// errFull ends a preview that is long enough.
var errFull = errors.New("the preview is full")

// A preview is the start of a value as text: {id: 0, name: "item_0", …}.
type preview struct {
	d       *gdwire.Decoder
	buf     []byte
	most    int // bytes in buf
	numbers []float64
}

// add appends text, or … and errFull if it does not fit.
func (p *preview) add(text []byte) error {
	if len(p.buf)+len(text) > p.most {
		p.buf = append(p.buf, cutText(text[:min(len(text), max(p.most-len(p.buf), 0))])...)
		p.buf = append(p.buf, "…"...)
		return errFull
	}
	p.buf = append(p.buf, text...)
	return nil
}

// cutText returns text, up to maxPreview bytes and not ending inside a rune.
func cutText(text []byte) []byte {
	if len(text) > maxPreview {
		text = text[:maxPreview]
	}
	for len(text) > 0 {
		if r, n := utf8.DecodeLastRune(text); r != utf8.RuneError || n != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}

// value appends the value that starts with t, inside depth others.
func (p *preview) value(t gdwire.Token, depth int) error {
	switch t.Kind() {
	case gdwire.KindStringChunk:
		return p.text(t)
	case gdwire.KindNodePathStart:
		short, whole, err := text.NewNodePathReader(p.d, t).Short()
		if err != nil {
			return err
		}
		if err = p.add(text.AppendQuoted([]byte("^"), cutText(short))); err == nil && !whole {
			err = errFull
		}
		return err
	case gdwire.KindArrayStart:
		return p.content(t, depth, "[", "]", func(int64) error { return p.next(depth) })
	case gdwire.KindDictStart:
		return p.content(t, depth, "{", "}", func(int64) error { return p.pair(depth) })
	case gdwire.KindObjectStart:
		v := text.FromToken(t, nil)
		return p.content(t, depth, v.Text+" {", "}", func(int64) error { return p.property(depth) })
	case gdwire.KindPackedStart:
		return p.packed(t)
	case gdwire.KindImageStart:
		v := text.FromToken(t, p.numbers)
		if err := p.add(v.Append(nil)); err != nil {
			return err
		}
		return p.end(p.d.Depth()-1, "")
	}
	v := text.FromToken(t, p.numbers)
	return p.add(v.Append(nil))
}

// text appends a string with the first chunk t.
func (p *preview) text(t gdwire.Token) error {
	b := t.Bytes()
	cut := cutText(b)
	value := text.AppendQuoted([]byte(text.Prefix(t.Type())), cut)
	if len(cut) < len(b) || !t.Last() {
		value = append(value[:len(value)-1], "…\""...)
		_ = p.add(value)
		return errFull
	}
	return p.add(value)
}

// content appends the content of a container.
func (p *preview) content(t gdwire.Token, depth int, start, end string, child func(i int64) error) error {
	if err := p.add([]byte(start)); err != nil {
		return err
	}
	if depth == maxNested && t.Len() > 0 {
		_ = p.add([]byte("…"))
		return errFull
	}
	for i := range t.Len() {
		if i > 0 {
			if err := p.add([]byte(", ")); err != nil {
				return err
			}
		}
		if err := child(i); err != nil {
			return err
		}
	}
	return p.end(p.d.Depth()-1, end)
}

// next appends the next value, or key without the DictKey before it.
func (p *preview) next(depth int) error {
	t, err := p.d.ReadToken()
	if err == nil && t.Kind() == gdwire.KindDictKey {
		t, err = p.d.ReadToken()
	}
	if err != nil {
		return err
	}
	return p.value(t, depth+1)
}

func (p *preview) pair(depth int) error {
	t, err := p.d.ReadToken()
	if err == nil && t.Kind() == gdwire.KindDictKey {
		t, err = p.d.ReadToken()
	}
	if err != nil {
		return err
	}
	if t.Kind() == gdwire.KindStringChunk && t.Last() && t.Len() <= maxPreview {
		err = p.add(text.AppendText(nil, t.Bytes())) // without quotes, as a name
	} else {
		err = p.value(t, depth+1)
	}
	if err == nil {
		err = p.add([]byte(": "))
	}
	if err == nil {
		err = p.next(depth)
	}
	return err
}

func (p *preview) property(depth int) error {
	t, err := p.d.ReadToken()
	if err != nil {
		return err
	}
	if err := p.add(append(text.AppendText(nil, cutText(t.Bytes())), ": "...)); err != nil {
		return err
	}
	return p.next(depth)
}

// packed appends the first elements of a packed array, or bytes in hexadecimal.
func (p *preview) packed(t gdwire.Token) error {
	n, level := t.Len(), p.d.Depth()-1
	v := text.Value{Type: t.Type(), Form: text.Declared}
	if err := p.add(append(v.Append(nil), '(')); err != nil {
		return err
	}
	kind, ok := packed[t.Type()]
	if !ok && t.Type() != gdwire.TypePackedByteArray { // strings
		for i := range n {
			if i > 0 {
				if err := p.add([]byte(", ")); err != nil {
					return err
				}
			}
			if err := p.next(maxNested); err != nil {
				return err
			}
		}
		return p.end(level, ")")
	}
	var buf [maxPreview]byte
	width := 1
	if ok {
		width = int(elementWidth(t))
	}
	got := int(min(n, int64(len(buf)/width)))
	b := buf[:got*width]
	if got > 0 {
		if _, err := io.ReadFull(p.d.Payload(), b); err != nil {
			return err
		}
	}
	if !ok {
		if err := p.add(append(hex.AppendEncode([]byte{'"'}, b), '"')); err != nil {
			return err
		}
	} else {
		element := text.Value{Type: kind.element, Single: width/kind.components == 4}
		for i := range got {
			if i > 0 {
				if err := p.add([]byte(", ")); err != nil {
					return err
				}
			}
			e := b[i*width : (i+1)*width]
			element.Numbers = p.numbers[:0]
			if kind.element == gdwire.TypeInt {
				element.Int = signed(e)
			} else {
				for w := width / kind.components; len(e) > 0; e = e[w:] {
					element.Numbers = append(element.Numbers, float(e[:w]))
				}
			}
			if err := p.add(element.Append(nil)); err != nil {
				return err
			}
		}
	}
	if int64(got) < n {
		_ = p.add([]byte("…"))
		return errFull
	}
	return p.end(level, ")")
}

// end reads the End of a container, so that level are open, and appends text.
func (p *preview) end(level int, text string) error {
	if err := p.d.SkipTo(level); err != nil {
		return err
	}
	return p.add([]byte(text))
}

// signed returns an integer of 4 or 8 bytes.
func signed(b []byte) int64 {
	if len(b) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// float returns a float of 4 or 8 bytes.
func float(b []byte) float64 {
	if len(b) == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// pictureType returns the media type of a picture that a browser shows, by its first bytes, or
// "". SVG is not among them, because it can have scripts.
func pictureType(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}
