package page

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/text"
)

// A Source is the content of a file, or one live packet.
type Source struct {
	*save.Store
	Name      string
	Path      string      // of the file, to notice changes, or "" if it cannot change
	Stat      fs.FileInfo // of the file at Path, before reading
	Format    gdwire.Format
	Frame     save.Frame
	Container string // how the file is compressed or encrypted, or ""
	Options   gdwire.DecoderOptions
	ReadOnly  error // why the file cannot be edited, or nil

	Stack *save.Stack // the opened file, or nil of a packet
	mu    sync.Mutex
	marks map[int64]*marks // of containers, by offset
}

// NewSource returns the content of an opened save: in memory, or if larger than save.MaxVersion bytes in its file.
func NewSource(st *save.Stack) (*Source, error) {
	store, err := st.Store(save.MaxVersion)
	if err != nil {
		return nil, err
	}
	s := &Source{Store: store, Stack: st, Format: st.Decoder.Format, Frame: st.Frame, Options: st.Decoder}
	s.Container = save.ContainerText(st.Container())
	if s.ReadOnly = st.Guess(); s.ReadOnly == nil && !st.IsKnown() {
		s.ReadOnly = s.content().CheckZeros(false)
	}
	if s.ReadOnly == nil {
		s.ReadOnly = st.CheckWhole()
	}
	return s, s.unpack()
}

// content returns the content of s for edits.
func (s *Source) content() *save.Content {
	r := save.Reading{Decoder: s.Options, Frame: s.Frame}
	r.Decoder.Format = s.Format
	c := save.NewContent(s.ReaderAt(), s.Size, &r)
	if s.Stack != nil {
		c = s.Stack.ContentOf(s.ReaderAt(), s.Size)
	}
	c.Decoder.OneValue = false
	return c
}

// unpack puts the values of packets compressed by a script in place of these. The file is not edited then,
// because its values are at other offsets.
func (s *Source) unpack() error {
	if s.Data == nil {
		return nil
	}
	data, packets, err := s.content().Unpacked(save.MaxVersion)
	if err != nil || packets == 0 {
		return err
	}
	s.Store = save.InMemory(data)
	s.Container += fmt.Sprintf(", compressed packets: %d", packets)
	s.ReadOnly = cmp.Or(s.ReadOnly, errors.New("a file of packets that are compressed is not edited"))
	return nil
}

// Limits are the limits of values whose memory the size of a file bounds.
var Limits = gdwire.Limits{Elements: -1, Values: -1, StringBytes: -1, PackedBytes: -1, NameBytes: 1 << 20}

// A decoder reads values of a Source for a request. Reads of a file fail once the request is
// done, so that no large value is read for a client that left.
type decoder struct {
	*gdwire.Decoder
	done  <-chan struct{}
	until time.Time // when the answer must be sent, or zero
}

// decoder returns a decoder of the source's values for a request.
func (s *Source) decoder(done <-chan struct{}) *decoder {
	o := s.Options
	o.Format, o.AllowObjects, o.Strict, o.OneValue = s.Format, true, false, false
	o.Limits = Limits
	return &decoder{Decoder: gdwire.NewDecoder(nil, &o), done: done}
}

// spent reports whether work takes too long for one answer.
func (d *decoder) spent() bool {
	select {
	case <-d.done:
		return true
	default:
		return !d.until.IsZero() && time.Now().After(d.until)
	}
}

// reset makes d read the values from at on, up to end.
func (s *Source) reset(d *decoder, at, end int64) {
	end = min(max(end, at), s.Size)
	if s.Data != nil {
		d.ResetBytes(s.Data[min(at, end):end])
		return
	}
	d.ResetN(&requested{io.NewSectionReader(s.File, at, end-at), d.done}, end-at)
}

// A reader reads containers and their rows for a request. Both have decoders of their own: reading rows
// does not invalidate the first token of a container.
type reader struct {
	s       *Source
	d       *decoder // of containers
	rows    *decoder
	numbers [16]float64
}

func (s *Source) reader(done <-chan struct{}) *reader {
	return &reader{s: s, d: s.decoder(done), rows: s.decoder(done)}
}

func (r *reader) release() {
	r.d.Release()
	r.rows.Release()
}

var errDone = errors.New("the request is done")

// A requested Reader reads until a request is done.
type requested struct {
	io.Reader
	done <-chan struct{}
}

func (r *requested) Read(p []byte) (int, error) {
	select {
	case <-r.done:
		return 0, errDone
	default:
		return r.Reader.Read(p)
	}
}

// A container is a value with children to list.
type container struct {
	at    int64
	kind  gdwire.Kind // 0 for the whole source, with packets as children
	start gdwire.Token
	elem  gdwire.Type // the declared type of an Array's elements or a Dictionary's keys
	count int64       // of children, or -1 if not known
	first int64       // offset of the first child
	end   int64       // of the packet; children do not read the next packet
	width int64       // bytes of an element of a packed array of numbers
}

// root is the container of the packets.
const root = -1

// open returns the container at an offset.
func (r *reader) open(at, end int64) (*container, error) {
	if at == root {
		return &container{at: root, count: -1, end: r.s.Size}, nil
	}
	r.s.reset(r.d, at, end)
	t, err := r.d.ReadToken()
	if err != nil {
		return nil, offset(err, at)
	}
	c := &container{at: at, kind: t.Kind(), start: t, count: t.Len(), first: at + r.d.InputOffset(), end: end}
	switch t.Kind() {
	case gdwire.KindArrayStart:
		c.elem = t.Elem().Type
		return c, nil
	case gdwire.KindDictStart:
		c.elem = t.KeyElem().Type
		return c, nil
	case gdwire.KindObjectStart:
		return c, nil
	case gdwire.KindPackedStart:
		if c.width = elementWidth(t); c.width > 0 || t.Type() == gdwire.TypePackedStringArray {
			return c, nil
		}
	}
	return nil, fmt.Errorf("the %v at offset %d has no children", t.Type(), at)
}

// elementWidth returns the size of the elements of a packed array shown as children, or 0. A
// PackedByteArray is shown as bytes.
func elementWidth(t gdwire.Token) int64 {
	if t.Type() == gdwire.TypePackedByteArray {
		return 0
	}
	n, _ := t.Type().Element().Components()
	return int64(max(n, 1) * t.Width() / 8)
}

// marks holds the offsets of some of a container's children, so that a child is found
// without reading all children before it.
type marks struct {
	index, at []int64
}

const (
	markEvery = 256     // children, or
	markBytes = 1 << 20 // bytes
	maxMarks  = 1 << 16 // of a container
)

// marksOf returns the marks of a container.
func (s *Source) marksOf(c *container) *marks {
	m := s.marks[c.at]
	if m == nil {
		if s.marks == nil {
			s.marks = map[int64]*marks{}
		}
		m = &marks{[]int64{0}, []int64{c.first}}
		s.marks[c.at] = m
	}
	return m
}

// mark adds a mark of c if the latest mark is far away.
func (s *Source) mark(c *container, index, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.marksOf(c)
	last := len(m.index) - 1
	if index > m.index[last] && len(m.index) < maxMarks && (index-m.index[last] >= markEvery || at-m.at[last] >= markBytes) {
		m.index, m.at = append(m.index, index), append(m.at, at)
	}
}

// nearest returns the latest mark of c up to an index or offset, as by selects.
func (s *Source) nearest(c *container, by func(*marks) []int64, most int64) (index, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.marksOf(c)
	after, _ := slices.BinarySearch(by(m), most+1)
	i := max(after-1, 0)
	return m.index[i], m.at[i]
}

// seek returns the offset of child i of c. When r.d is spent, seek stops early and returns the child reached.
func (r *reader) seek(c *container, i int64) (index, at int64, err error) {
	if c.width > 0 {
		return i, c.first + i*c.width, nil
	}
	index, at = r.s.nearest(c, func(m *marks) []int64 { return m.index }, i)
	for index < i && at < c.end {
		if at, err = r.next(c, index, at, c.end); err != nil {
			return index, at, err
		}
		if index++; index&63 == 0 && r.d.spent() {
			break
		}
	}
	return index, at, nil
}

// next returns the offset after child i of c, which is at an offset, and marks it. No byte after end is read.
func (r *reader) next(c *container, i, at, end int64) (int64, error) {
	if c.width > 0 {
		return at + c.width, nil
	}
	to, err := r.after(c, at, end)
	if err == nil {
		r.s.mark(c, i+1, to)
	}
	return to, err
}

// after returns the offset after the child of c at an offset, and reads no byte after end.
func (r *reader) after(c *container, at, end int64) (int64, error) {
	s, values := r.s, 1
	switch {
	case c.kind == 0 && s.Frame != save.Bare:
		_, end, err := s.packet(at)
		return end, err
	case c.kind == gdwire.KindPackedStart:
		n, err := s.length(at, binary.LittleEndian)
		if err != nil {
			return at, err
		}
		return at + 4 + (n+3)&^3, nil
	case c.kind == gdwire.KindDictStart:
		values = 2
	case c.kind == gdwire.KindObjectStart:
		_, value, err := s.name(at)
		if err != nil {
			return at, err
		}
		at = value
	}
	s.reset(r.d, at, end)
	for range values {
		if err := r.d.SkipValue(); err != nil {
			return at, offset(err, at)
		}
	}
	return at + r.d.InputOffset(), nil
}

// length returns the number of 32 bits at an offset.
func (s *Source) length(at int64, order binary.ByteOrder) (int64, error) {
	b, err := s.Bytes(at, 4)
	if err == nil && len(b) < 4 {
		err = &gdwire.Error{Offset: at, Path: "$", Err: io.ErrUnexpectedEOF}
	}
	if err != nil {
		return 0, err
	}
	return int64(order.Uint32(b)), nil
}

// packet returns the offset of the value in the packet with the length at an offset, and the
// end of the packet. If the length cannot be read, both are the offset of the length.
func (s *Source) packet(at int64) (value, end int64, err error) {
	if s.Frame == save.Bare {
		return at, s.Size, nil
	}
	n, err := s.length(at, s.Frame.Order())
	if err != nil {
		return at, at, err
	}
	if end = at + 4 + n; end > s.Size {
		return at + 4, s.Size, &gdwire.Error{Offset: s.Size, Path: "$", Err: io.ErrUnexpectedEOF}
	}
	return at + 4, end, nil
}

// maxName is the largest size in bytes of a property's name to show.
const maxName = 1 << 10

// name returns the name of the property at an offset, and the offset of its value.
func (s *Source) name(at int64) (name []byte, value int64, err error) {
	n, err := s.length(at, binary.LittleEndian)
	if err == nil {
		name, err = s.Bytes(at+4, int(min(n, maxName)))
	}
	return name, at + 4 + (n+3)&^3, err
}

// offset adds at to the offset of an error.
func offset(err error, at int64) error {
	if err == io.EOF {
		err = &gdwire.Error{Path: "$", Err: io.ErrUnexpectedEOF}
	}
	if e, ok := errors.AsType[*gdwire.Error](err); ok {
		return &gdwire.Error{Offset: at + e.Offset, Path: e.Path, Err: e.Err}
	}
	return err
}

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

// upTo returns an end in the source, which is the source's for 0, or an error if the file has changed.
func (s *Source) upTo(end int64) (int64, error) {
	if end <= 0 {
		end = s.Size
	}
	return min(end, s.Size), s.Check()
}

// children lists the children of the container at an offset, from an index on.
func (s *Source) children(done <-chan struct{}, at, end, from int64) (*listing, error) {
	end, err := s.upTo(end)
	if err != nil {
		return nil, err
	}
	r := s.reader(done)
	defer r.release()
	r.d.until = time.Now().Add(workTime)
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
		w.Picture = t.Type() == gdwire.TypePackedByteArray && t.Len() <= maxThumbnail && r.s.isPicture(w.At+r.rows.InputOffset())
	case gdwire.KindColor:
		w.Color = htmlColor(t.AppendComponents(nil))
	}
}

// maxThumbnail is the size in bytes of the largest picture shown in a row.
const maxThumbnail = 1 << 20

// isPicture reports whether the bytes at an offset are those of a picture.
func (s *Source) isPicture(at int64) bool {
	head, err := s.Bytes(at, 12)
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
