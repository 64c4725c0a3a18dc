package view

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
)

// A Source is the content of a file, or one live packet.
type Source struct {
	*save.Store
	Name      string
	Path      string      // of the file, to notice changes, or "" if it cannot change
	Stat      os.FileInfo // of the file at Path, before reading
	Format    gdwire.Format
	Frame     save.Frame
	Container string // how the file is compressed or encrypted, or ""
	Options   gdwire.DecoderOptions
	ReadOnly  string // why the file cannot be edited, or ""

	stack *save.Stack // the opened file, or nil of a packet
	mu    sync.Mutex
	marks map[int64]*marks // of containers, by offset
}

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
	o.Limits = gdwire.Limits{Elements: -1, Values: -1, StringBytes: -1, PackedBytes: -1, NameBytes: 1 << 20}
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
		b, err := s.Bytes(at, 4)
		if err == nil && len(b) < 4 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return at, err
		}
		return at + 4 + (int64(binary.LittleEndian.Uint32(b))+3)&^3, nil
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

// packet returns the offset of the value in the packet with the length at an offset, and the
// end of the packet. If the length cannot be read, both are the offset of the length.
func (s *Source) packet(at int64) (value, end int64, err error) {
	if s.Frame == save.Bare {
		return at, s.Size, nil
	}
	b, err := s.Bytes(at, 4)
	if err != nil {
		return at, at, err
	}
	if len(b) < 4 {
		return at, at, &gdwire.Error{Offset: at, Path: "$", Err: io.ErrUnexpectedEOF}
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if s.Frame == save.U32BE {
		n = int64(binary.BigEndian.Uint32(b))
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
	b, err := s.Bytes(at, 4+maxName)
	if err == nil && len(b) < 4 {
		err = &gdwire.Error{Offset: at, Path: "$", Err: io.ErrUnexpectedEOF}
	}
	if err != nil {
		return nil, at, err
	}
	n := int64(binary.LittleEndian.Uint32(b))
	return b[4:min(int64(len(b)), 4+n)], at + 4 + (n+3)&^3, nil
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
