package view

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"time"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// A row is a line of the tree: a value in its container.
type row struct {
	Index int64  `json:"index"`
	Step  string `json:"step"`          // the step from the container
	Key   string `json:"key,omitempty"` // the start of a key that is not in Step
	At    int64  `json:"at"`            // the offset of the header, or of an element without a header
	End   int64  `json:"end"`           // of the packet
	Type  string `json:"type"`
	Text  string `json:"text"`            // the value, or the start of a long one
	Count int64  `json:"count"`           // of the children, or 0
	To    int64  `json:"to,omitempty"`    // the offset after the value, if known
	Width int64  `json:"width,omitempty"` // of an element of a packed array, without header, in bytes
	Color string `json:"color,omitempty"` // of a Color, as #rrggbbaa
	Error *fault `json:"error,omitempty"`
	verdict

	Picture bool `json:"picture,omitempty"` // a PNG, JPEG or WebP of at most maxThumbnail bytes
}

// A fault is an error and its offset.
type fault struct {
	At   int64  `json:"at"` // or -1
	Text string `json:"text"`
}

// faultOf returns the fault of an error, or nil for nil.
func faultOf(err error) *fault {
	if err == nil {
		return nil
	}
	f := &fault{At: -1, Text: err.Error()}
	if e, ok := err.(*gdwire.Error); ok {
		f.At, f.Text = e.Offset, fmt.Sprintf("offset %d: %v", e.Offset, e.Err)
	}
	return f
}

// A listing is a part of the children of a container.
type listing struct {
	Count int64  `json:"count"` // of all children, or -1 if not known yet
	Rows  []row  `json:"rows"`
	Next  int64  `json:"next"` // the index of the first child not listed, or -1 after the last
	Error *fault `json:"error,omitempty"`
}

const (
	maxRows  = 200
	workTime = 2 * time.Second // for one answer
	// maxChild is the size in bytes of the largest child after which an answer goes on. The
	// rows up to a larger child are shown before its end is found.
	maxChild = 16 << 20
)

// children lists the children of the container at an offset, from an index on.
func (s *Source) children(done <-chan struct{}, at, end, from int64) (*listing, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	r := s.reader(done)
	defer r.release()
	r.d.until = time.Now().Add(workTime)
	if end <= 0 || end > s.Size {
		end = s.Size
	}
	c, err := r.open(at, end)
	if err != nil {
		return nil, err
	}
	l := &listing{Count: c.count, Next: -1, Rows: []row{}}
	i, at, err := r.seek(c, from)
	if err == nil && i < from && at < c.end { // that took too long: the page repeats the request
		l.Next = from
		return l, nil
	}
	for err == nil && (c.count < 0 || i < c.count) && (c.count >= 0 || at < c.end) {
		if len(l.Rows) == maxRows || len(l.Rows) > 0 && r.d.spent() {
			l.Next = i
			return l, nil
		}
		l.Rows = append(l.Rows, r.row(c, i, at))
		last := &l.Rows[len(l.Rows)-1]
		if last.Error != nil && (c.kind != 0 || s.Frame == save.Bare) {
			return l, nil // the next child cannot be found
		}
		i++
		if c.width > 0 || c.count < 0 || i < c.count {
			end := min(c.end, at+maxChild)
			if at, err = r.next(c, i-1, at, end); err != nil {
				if end < c.end { // the next request finds the end of the child, or the error
					l.Next = i
				} else { // in the child; the next child cannot be found
					last.Error = faultOf(err)
				}
				return l, nil
			}
			last.To = at
		} else if to, err := r.after(c, at, min(c.end, at+maxOdd)); err == nil { // the last one, if small
			last.To = to
		}
		last.Odd = r.odd(last)
	}
	l.Error = faultOf(err)
	if c.count < 0 {
		l.Count = i
	}
	return l, nil
}

// row returns the row of child i of c, at an offset.
func (r *reader) row(c *container, i, at int64) row {
	w := row{Index: i, At: at, End: c.end}
	err := r.step(c, &w)
	if err == nil {
		err = r.value(c, &w)
	}
	w.Error = faultOf(err)
	return w
}

// value describes a value at which step arrived.
func (r *reader) value(c *container, w *row) error {
	if c.kind == gdwire.KindPackedStart {
		return r.element(c, w)
	}
	r.s.reset(r.rows, w.At, w.End)
	t, err := r.rows.ReadToken()
	if err != nil {
		return offset(err, w.At)
	}
	r.describe(w, t)
	r.judge(c, w, t)
	p := text.Printer{Decoder: r.rows.Decoder, Brief: true, Most: maxPreview}
	err = p.Value(t, 0)
	if w.Text = string(p.Buf); len(p.Buf) > maxPreview {
		w.Text = string(cutText(p.Buf)) + text.Ellipsis
		return nil
	}
	return offset(err, w.At)
}

// maxPreview is the size in bytes of the text of a row.
const maxPreview = 160

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

// step sets the step to a child and moves w from the key, name or length to the value.
func (r *reader) step(c *container, w *row) error {
	switch c.kind {
	case 0:
		w.Step = string(text.AppendPacket(nil, w.Index))
		value, end, err := r.s.packet(w.At)
		if err != nil {
			return err
		}
		w.At, w.End = value, end
	case gdwire.KindArrayStart, gdwire.KindPackedStart:
		w.Step = string(text.AppendIndex(nil, w.Index))
	case gdwire.KindObjectStart:
		name, value, err := r.s.name(w.At)
		if err != nil {
			return err
		}
		step := text.Step{Key: text.Value{Type: gdwire.TypeString, Text: string(name)}}
		w.Step, w.At = string(step.Append(nil)), value
	case gdwire.KindDictStart:
		return r.key(c, w)
	}
	return nil
}

// describe sets the fields of w known from the first token of the value.
func (r *reader) describe(w *row, t gdwire.Token) {
	w.Type = typeText(t)
	switch t.Kind() {
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
		w.Count = t.Len()
	case gdwire.KindPackedStart:
		if elementWidth(t) > 0 || t.Type() == gdwire.TypePackedStringArray {
			w.Count = t.Len()
		}
		w.Picture = t.Type() == gdwire.TypePackedByteArray && t.Len() <= maxThumbnail && r.isPicture(w.At+r.rows.InputOffset())
	case gdwire.KindColor:
		w.Color = htmlColor(t.AppendComponents(nil))
	}
}

// maxThumbnail is the size in bytes of the largest picture shown in a row.
const maxThumbnail = 1 << 20

// isPicture reports whether the bytes at an offset are those of a picture.
func (r *reader) isPicture(at int64) bool {
	head, err := r.s.Bytes(at, 12)
	return err == nil && pictureType(head) != ""
}

// pictureType returns the media type of a picture for browsers, by the first bytes, or "". SVG
// is left out, because it can contain scripts.
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

// htmlColor returns a color as #rrggbbaa.
func htmlColor(c []float64) string {
	b := []byte("#")
	for _, x := range c[:4] {
		n := byte(0) // also for NaN
		if x > 0 {
			n = byte(math.Round(min(1, x) * 255))
		}
		b = fmt.Appendf(b, "%02x", n)
	}
	return string(b)
}

// key reads the key of a pair and moves w to the value.
func (r *reader) key(c *container, w *row) error {
	r.s.reset(r.rows, w.At, w.End)
	t, err := r.rows.ReadToken()
	if err != nil {
		return offset(err, w.At)
	}
	r.judgeType(c, w, t, "the key")
	step, ok, err := text.KeyStep(r.rows.Decoder, t, r.numbers[:0], func(*text.NodePathReader, []byte) error { return nil })
	if err == nil {
		err = r.rows.SkipTo(0)
	}
	if err != nil {
		return offset(err, w.At)
	}
	if ok {
		w.Step = string(step.Append(nil))
	} else {
		w.Step = string(text.AppendValueAt(nil, w.Index))
	}
	key := w.At
	if w.At += r.rows.InputOffset(); ok {
		return nil
	}
	r.s.reset(r.rows, key, w.End)
	p := text.Printer{Decoder: r.rows.Decoder, Brief: true, Most: maxKey}
	if err := p.Next(0); err != nil && err != text.ErrLong {
		return offset(err, key)
	}
	w.Key = string(cutText(p.Buf[:min(len(p.Buf), maxKey)]))
	if len(p.Buf) > maxKey {
		w.Key += text.Ellipsis
	}
	return nil
}

// maxKey is the size in bytes of the shown start of a key.
const maxKey = 60

// element describes an element of a packed array, stored without a header.
func (r *reader) element(c *container, w *row) error {
	if c.width == 0 {
		name, end, err := r.s.name(w.At)
		if err != nil {
			return err
		}
		w.Type, w.Width = gdwire.TypeString.String(), end-w.At
		if n := len(name); n > 0 && name[n-1] == 0 {
			name = name[:n-1]
		}
		w.Text = string(text.AppendQuoted(nil, cutText(name)))
		return nil
	}
	b, err := r.s.Bytes(w.At, int(c.width))
	if err == nil && int64(len(b)) < c.width {
		err = &gdwire.Error{Offset: w.At, Path: "$", Err: io.ErrUnexpectedEOF}
	}
	if err != nil {
		return err
	}
	v := text.Element(c.start, b, nil)
	w.Type, w.Width = v.Type.String(), c.width
	if v.Type == gdwire.TypeColor {
		w.Color = htmlColor(v.Numbers)
	}
	w.Text = v.String()
	return nil
}
