package view

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

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
	if err := s.Check(); err != nil {
		return nil, err
	}
	if end <= 0 || end > s.Size {
		end = s.Size
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
			size = t.Len()
			head, err := s.Bytes(pos(), 12)
			v.Picture = err == nil && pictureType(head) != ""
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
	b, err := s.Bytes(at, 4)
	if err != nil || len(b) < 4 {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(b))
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
		b, err := s.Bytes(at, 4)
		if err != nil || len(b) < 4 {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(b))
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
	if err := s.Check(); err != nil {
		return "", err
	}
	if end <= 0 || end > s.Size {
		end = s.Size
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
	err := p.Next(0)
	if err != nil && end > at+maxEditedText {
		err = tooLong
	}
	return string(p.Buf), offset(err, at)
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
