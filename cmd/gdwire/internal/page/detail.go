package page

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/text"
)

// A verdict says whether engines accept and write a readable value.
type verdict struct {
	Refused string `json:"refused,omitempty"` // why engines refuse or drop the value
	Since   string `json:"since,omitempty"`   // the first release to accept the value, if not the first of its format
	Odd     string `json:"odd,omitempty"`     // why no engine writes the value like this
}

// judge fills Refused and Since for a child of c starting with t. Only Dictionaries have keys of a
// declared type, and engines do not check the types of their values.
func (r *reader) judge(c *container, w *row, t gdwire.Token) {
	switch t.Kind() {
	case gdwire.KindObjectStart:
		w.Refused = "engines refuse a serialized object unless they are told to allow objects, as by get_var(true)"
	case gdwire.KindArrayStart:
		if t.Elem() != (gdwire.Elem{}) {
			w.Since = "4.3"
		}
	case gdwire.KindDictStart:
		if t.Elem() != (gdwire.Elem{}) || t.KeyElem() != (gdwire.Elem{}) {
			w.Since = "4.4"
		}
	case gdwire.KindPackedStart:
		if t.Type() == gdwire.TypePackedVector4Array {
			w.Since = "4.3"
		}
	}
	switch {
	case c.kind == gdwire.KindArrayStart:
		r.judgeType(c, w, t, "the element")
	case c.kind == gdwire.KindObjectStart && w.Step == ".script" && r.s.Format == gdwire.Godot4 && !isScript(t):
		w.Refused = "engines since 4.3 refuse a script that is not the path of an existing one"
	}
}

// judgeType fills Refused if an element or key is of another type than declared by the container.
func (r *reader) judgeType(c *container, w *row, t gdwire.Token, what string) {
	null := t.Kind() == gdwire.KindNil && c.elem == gdwire.TypeObject
	if c.elem != 0 && t.Type() != c.elem && !null {
		w.Refused = fmt.Sprintf("the type of %s is not %v, as declared: engines convert or drop it", what, c.elem)
	}
}

// isScript reports whether t can be the script of a serialized object.
func isScript(t gdwire.Token) bool {
	path := t.Kind() == gdwire.KindStringChunk && strings.HasPrefix(string(t.Bytes()), "res://")
	return path || t.Kind() == gdwire.KindNil
}

// maxOdd is the size in bytes of the largest value checked by odd.
const maxOdd = 64 << 10

// odd returns why no engine writes the value of a row like this, or "".
func (r *reader) odd(w *row) string {
	if w.Error != nil || w.To == 0 || w.To-w.At > maxOdd || w.Width > 0 {
		return ""
	}
	b, err := r.s.Bytes(w.At, int(w.To-w.At))
	if err != nil {
		return ""
	}
	o := r.s.Options
	o.Format, o.AllowObjects, o.Strict = r.s.Format, true, true
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(b)
	e, ok := errors.AsType[*gdwire.Error](d.SkipValue())
	if !ok {
		return ""
	}
	why := strings.TrimPrefix(e.Err.Error(), gdwire.ErrStrict.Error()+": ")
	if e.Offset > 0 {
		why += fmt.Sprintf(", at offset %d", w.At+e.Offset)
	}
	return why
}

// typeText returns the type of a value, with the declared types of a container: Array[int].
func typeText(t gdwire.Token) string {
	v := text.Value{Type: t.Type(), Form: text.Declared, Key: t.KeyElem(), Elem: t.Elem()}
	if v.Key == (gdwire.Elem{}) && v.Elem == (gdwire.Elem{}) {
		return t.Type().String()
	}
	return string(cutText(v.Append(nil)))
}

// A detail describes a value beside its bytes.
type detail struct {
	Type    string `json:"type"`
	At      int64  `json:"at"`
	Size    int64  `json:"size"`  // with padding, or -1 if finding the end takes too long
	From    int64  `json:"from"`  // the offset of the first byte in Bytes
	Bytes   string `json:"bytes"` // base64
	Parts   []part `json:"parts"`
	Picture bool   `json:"picture"` // the content is a PNG, JPEG or WebP
	Color   string `json:"color,omitempty"`
	Text    string `json:"text"` // the beginning of a text
	Error   *fault `json:"error,omitempty"`
}

// A part is a range of a value's bytes.
type part struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Kind string `json:"kind"` // header, count, content, padding
	Name string `json:"name"`
}

// The kinds of parts, with a color each.
const (
	partHeader  = "header"
	partCount   = "count"
	partContent = "content"
	partPadding = "padding"
)

const (
	hexBefore = 32      // bytes shown before a value
	hexBytes  = 2 << 10 // bytes shown of a value, and after a short value
	textBytes = 64 << 10
)

// detail describes the value at an offset. width is the size of an element of a packed array,
// stored without a header, or 0.
func (s *Source) detail(done <-chan struct{}, at, end, width int64) (*detail, error) {
	if at == root {
		return nil, errNoValue
	}
	end, err := s.upTo(end)
	if err != nil {
		return nil, err
	}
	v := &detail{At: at, Size: -1, From: max(at-hexBefore, 0), Parts: []part{}}
	b, err := s.Bytes(v.From, hexBefore+hexBytes)
	if err != nil {
		return nil, err
	}
	v.Bytes = base64.StdEncoding.EncodeToString(b)
	if width > 0 {
		v.Size = width
		v.part(at, at+width, partContent, "element")
		return v, nil
	}
	if err := s.describe(v, end, done); err != nil {
		v.Error = faultOf(err)
	}
	return v, nil
}

func (v *detail) part(from, to int64, kind, name string) {
	if to > from {
		v.Parts = append(v.Parts, part{from, to, kind, name})
	}
}

// describe finds the parts of a value, and its end.
func (s *Source) describe(v *detail, end int64, done <-chan struct{}) error {
	d := s.decoder(done)
	defer d.Release()
	d.until = time.Now().Add(workTime)
	s.reset(d, v.At, end)
	pos := func() int64 { return v.At + d.InputOffset() }
	v.part(v.At, min(v.At+4, end), partHeader, "header: type and flags")
	t, err := d.ReadToken()
	if err != nil {
		return offset(err, v.At)
	}
	v.Type = typeText(t)
	body := v.At + 4
	switch t.Kind() {
	case gdwire.KindStringChunk:
		v.part(body, body+4, partCount, "length in bytes")
		if err := s.text(v, body); err != nil {
			return err
		}
	case gdwire.KindNodePathStart:
		v.part(body, pos(), partCount, "numbers of names and sub-names, flags")
		if err := s.names(v, d, t, end); err != nil {
			return err
		}
	case gdwire.KindArrayStart, gdwire.KindDictStart:
		v.part(body, pos()-4, partContent, "declared type")
		v.part(pos()-4, pos(), partCount, "number of elements or pairs")
	case gdwire.KindObjectStart:
		v.part(body, body+4, partCount, "length of the class name")
		v.part(body+4, pos()-4, partContent, "class name and padding")
		v.part(pos()-4, pos(), partCount, "number of properties")
	case gdwire.KindPackedStart:
		v.part(body, pos(), partCount, "number of elements")
		size := t.Len() * elementWidth(t)
		if t.Type() == gdwire.TypePackedByteArray {
			size, v.Picture = t.Len(), s.isPicture(pos())
		}
		if size > 0 {
			v.part(pos(), pos()+size, partContent, "elements")
			v.part(pos()+size, pos()+(size+3)&^3, partPadding, "padding")
		}
	case gdwire.KindImageStart:
		v.part(body, pos(), partCount, "format, mipmaps, width, height, length")
		v.part(pos(), pos()+t.Len(), partContent, "pixels")
	case gdwire.KindSignal:
		v.part(body, body+4, partCount, "length of the name")
		v.part(body+4, pos()-8, partContent, "name and padding")
		v.part(pos()-8, pos(), partContent, "object id")
	default:
		v.part(body, pos(), partContent, "content")
		if t.Kind() == gdwire.KindColor {
			v.Color = htmlColor(t.AppendComponents(nil))
		}
	}
	return s.skipRest(v, d)
}

// skipRest skips the rest of the value to find its size.
func (s *Source) skipRest(v *detail, d *decoder) error {
	if s.Data != nil {
		if err := d.SkipTo(0); err != nil {
			return offset(err, v.At)
		}
	}
	for d.Depth() > 0 {
		for range 1000 {
			if d.Depth() == 0 {
				break
			}
			if _, err := d.ReadToken(); err != nil {
				return offset(err, v.At)
			}
		}
		if d.spent() {
			return nil
		}
	}
	v.Size = d.InputOffset()
	return nil
}

// text adds the parts of a string with the length at an offset.
func (s *Source) text(v *detail, at int64) error {
	n, err := s.length(at, binary.LittleEndian)
	if err != nil {
		return err
	}
	v.part(at+4, at+4+n, partContent, "text")
	v.part(at+4+n, at+4+(n+3)&^3, partPadding, "padding")
	content, err := s.Bytes(at+4, int(min(n, textBytes)))
	v.Text = string(bytes.ToValidUTF8(content, []byte("�")))
	return err
}

// names adds the parts of the names of a NodePath.
func (s *Source) names(v *detail, d *decoder, start gdwire.Token, end int64) error {
	at := v.At + d.InputOffset()
	names, subnames, _ := start.NodePath()
	for i := int64(0); i < min(names+subnames, 64) && at+4 <= end; i++ {
		n, err := s.length(at, binary.LittleEndian)
		if err != nil {
			return err
		}
		v.part(at, at+4, partCount, "length of a name")
		v.part(at+4, at+4+n, partContent, "name")
		v.part(at+4+n, at+4+(n+3)&^3, partPadding, "padding")
		at += 4 + (n+3)&^3
	}
	return nil
}

// maxEditedText is the size in bytes of the largest value shown by the page as whole text, to edit or copy it.
const maxEditedText = 1 << 20

// whole returns the value at an offset as text for set. width is the size of a string in a packed array, or 0.
func (s *Source) whole(done <-chan struct{}, at, end, width int64) (string, error) {
	if at == root {
		return "", errNoValue
	}
	end, err := s.upTo(end)
	if err != nil {
		return "", err
	}
	tooLong := fmt.Errorf("the value is too long: more than %d bytes", maxEditedText)
	if width > maxEditedText {
		return "", tooLong
	}
	if width > 0 {
		b, err := s.Bytes(at, int(width))
		if err == nil && len(b) < lengthSize {
			err = errNoValue
		}
		if err != nil {
			return "", err
		}
		b = b[lengthSize:][:min(int64(len(b))-lengthSize, int64(binary.LittleEndian.Uint32(b)))]
		return string(text.AppendQuoted(nil, bytes.TrimSuffix(b, []byte{0}))), nil
	}
	d := s.decoder(done)
	defer d.Release()
	s.reset(d, at, min(end, at+maxEditedText))
	p := text.Printer{Decoder: d.Decoder}
	err = p.Next(0)
	if err != nil && end > at+maxEditedText {
		err = tooLong
	}
	return string(p.Buf), offset(err, at)
}

// wholeText returns a value as set takes it and, if it is text that a field of several lines can contain, as it is.
func wholeText(literal string) map[string]string {
	all := map[string]string{"text": literal}
	v, err := text.ParseValue(literal)
	isText := v.Type == gdwire.TypeString || v.Type == gdwire.TypeStringName || v.Type == gdwire.TypeNodePath
	isOdd := func(r rune) bool { return r == utf8.RuneError || !unicode.IsGraphic(r) && r != '\n' && r != '\t' }
	if err == nil && isText && strings.IndexFunc(v.Text, isOdd) < 0 {
		all["raw"] = v.Text
	}
	return all
}

// lengthSize is the size in bytes of a length.
const lengthSize = 4

// maxPicture is the size in bytes of the largest picture shown.
const maxPicture = 32 << 20

// picture returns the content of the PackedByteArray at an offset, and its media type, or "".
func (s *Source) picture(done <-chan struct{}, at, end int64) (content []byte, mediaType string, err error) {
	if err := s.Check(); err != nil {
		return nil, "", err
	}
	d := s.decoder(done)
	defer d.Release()
	s.reset(d, at, end)
	t, err := d.ReadToken()
	if err != nil || t.Type() != gdwire.TypePackedByteArray || t.Len() > maxPicture {
		return nil, "", err
	}
	n := t.Len()
	content, err = s.Bytes(at+d.InputOffset(), int(n))
	if err == nil && int64(len(content)) < n {
		err = io.ErrUnexpectedEOF
	}
	return content, pictureType(content), err
}

// A sized is a child of a container with its size in bytes, key included.
type sized struct {
	Index int64  `json:"index"`
	Step  string `json:"step"`
	Type  string `json:"type"`
	Count int64  `json:"count"`
	Bytes int64  `json:"bytes"`

	at int64
}

// sizes is a line of the answer: the sizes of the children of a container.
type sizes struct {
	Largest []sized `json:"largest,omitempty"` // the largest first
	Count   int64   `json:"count"`             // of all children
	Bytes   int64   `json:"bytes"`             // of all children
	Done    bool    `json:"done,omitempty"`
	Error   *fault  `json:"error,omitempty"`
}

// maxSizes is the number of children listed.
const maxSizes = 100

// keepLargest sorts children by size, the largest first, and drops those after maxSizes.
func keepLargest(all []sized) []sized {
	slices.SortStableFunc(all, func(a, b sized) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return all[:min(len(all), maxSizes)]
}

// sizes measures the children of the container at an offset, in one pass, and calls report now and
// then for the progress.
func (s *Source) sizes(ctx context.Context, at, end int64, report func(sizes) error) error {
	end, err := s.upTo(end)
	if err != nil {
		return err
	}
	r := s.reader(ctx.Done())
	defer r.release()
	c, err := r.open(at, end)
	if err != nil {
		return err
	}
	all, told := sizes{}, time.Now()
	var largest []sized
	for n, err := range r.each(c, child{at: c.first}) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			all.Error = faultOf(err)
			break
		}
		x := sized{Index: n.index, Bytes: n.end - n.at, at: n.at}
		all.Count, all.Bytes = all.Count+1, all.Bytes+x.Bytes
		if largest = append(largest, x); len(largest) == 16*maxSizes { // now and then, as each sort takes time
			largest = keepLargest(largest)
		}
		if all.Count&1023 == 0 && time.Since(told) > workTime/4 {
			told = time.Now()
			if err := report(all); err != nil {
				return err
			}
		}
	}
	all.Done, all.Largest = true, keepLargest(largest)
	for i := range all.Largest {
		x := &all.Largest[i]
		w := r.row(c, x.Index, x.at)
		x.Step, x.Type, x.Count = w.Step, w.Type, w.Count
	}
	return report(all)
}
