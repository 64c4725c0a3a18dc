package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/paths"
	"github.com/gdwire/gdwire/internal/recognize"
)

// maxInMemory is the maximum size of a file for set and encode, which hold it in memory.
const maxInMemory = 1 << 30

// setCheck parses the edit on the command line, if there is one.
func setCheck(o *options) error {
	o.writes = true
	if len(o.operands) == 1 {
		if o.file() == "-" {
			return errors.New("standard input cannot be both the file and the lines")
		}
		return nil
	}
	p, v, err := paths.ParseLine(o.operands[0])
	o.edits = []edit{{p, v}}
	return err
}

// set replaces values in a file and keeps all other bytes.
func set(s *screen, o *options) error {
	if o.edits == nil {
		var err error
		if o.edits, err = readLines(s.in); err != nil {
			return err
		}
	}
	data, err := s.load(o.file(), o)
	if err != nil {
		return err
	}
	packets := map[int64]bool{}
	for _, e := range o.edits {
		packets[e.path.Packet] = true
	}
	var splices []splice
	for _, p := range split(data, o) {
		if packets[p.index] {
			delete(packets, p.index)
			more, err := s.edit(data, p, o)
			if err != nil {
				return err
			}
			splices = append(splices, more...)
		}
	}
	for missing := range packets {
		return fmt.Errorf("there is no %s", paths.AppendPacket(nil, missing))
	}
	return s.seal(o, func(w io.Writer) error { return writeSpliced(w, data, splices) })
}

// load reads all of the content of a file.
func (s *screen) load(name string, o *options) ([]byte, error) {
	in, err := s.open(name, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	if o.skip > 0 {
		return nil, choiceError{errors.New("-skip is for reading only")}
	}
	data, err := io.ReadAll(io.LimitReader(in, maxInMemory+1))
	if err == nil && len(data) > maxInMemory {
		err = fmt.Errorf("%s is larger than 1 GiB, the limit for editing in memory", in.name)
	}
	return data, err
}

// seal writes content in the same container as the input.
func (s *screen) seal(o *options, write func(io.Writer) error) error {
	if o.container == nil || o.container.Container == fileaccess.Plain {
		return write(s.out)
	}
	if o.container.Container == fileaccess.Encrypted && o.key == nil {
		if _, err := s.key("the output", o); err != nil {
			return err
		}
	}
	var out io.Writer = s.out
	if s.file != nil { // writing to a file needs constant memory
		out = s.file
	}
	w, err := fileaccess.NewWriter(out, *o.container, o.key)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(w, outBuffer)
	if err := write(buffered); err != nil {
		return err
	}
	return cmp.Or(buffered.Flush(), w.Close())
}

// A span has the offsets of a packet in the content.
type span struct {
	index      int64
	start, end int // without the length
}

// split returns the packets in data. Values without lengths are one packet.
func split(data []byte, o *options) (all []span) {
	if !o.framed() {
		return splitBare(data, o)
	}
	for at := 0; len(data)-at >= 4; {
		n := int64(lengthOrder(o.frame).Uint32(data[at:]))
		start := at + 4
		at = int(min(int64(start)+n, int64(len(data))))
		all = append(all, span{int64(len(all)), start, at})
	}
	return all
}

func splitBare(data []byte, o *options) (all []span) {
	d := gdwire.NewDecoder(bytes.NewReader(data), &o.decoder)
	defer d.Release()
	for start := 0; start < len(data); {
		err := d.SkipValue()
		end := int(d.InputOffset())
		if err != nil {
			end = len(data)
		}
		all = append(all, span{int64(len(all)), start, end})
		if err != nil {
			break
		}
		start = end
	}
	return all
}

func lengthOrder(f recognize.Frame) binary.ByteOrder {
	if f == recognize.U32BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// A splice replaces bytes of the content.
type splice struct {
	start, end int
	bytes      []byte
}

func writeSpliced(w io.Writer, data []byte, splices []splice) error {
	at := 0
	for _, s := range splices {
		if _, err := w.Write(data[at:s.start]); err != nil {
			return err
		}
		if _, err := w.Write(s.bytes); err != nil {
			return err
		}
		at = s.end
	}
	_, err := w.Write(data[at:])
	return err
}

// An editor creates the splices of one packet.
type editor struct {
	*walker
	screen  *screen
	o       *options
	packet  []byte
	offset  int  // of the packet
	double  bool // the packet has math types of 64 bits
	splices []splice
}

// edit returns the splices for the edits of a packet, including its length.
func (s *screen) edit(data []byte, p span, o *options) ([]splice, error) {
	packet := data[p.start:p.end]
	root, err := places(o.edits, p.index)
	if err != nil {
		return nil, err
	}
	do := o.decoder
	do.OneValue = o.framed()
	d := gdwire.NewDecoder(nil, &do)
	e := &editor{walker: &walker{Decoder: d}, screen: s, o: o, packet: packet, offset: p.start}
	if _, e.double, err = survey(packet, o); err != nil {
		return nil, shifted(err, p.start)
	}
	e.double = e.double || o.decoder.DoubleReals
	d.ResetBytes(packet)
	e.found, e.element = e.replace, e.replaceElement
	if err := e.value(root); err != nil {
		return nil, shifted(err, p.start)
	}
	if err := root.check(); err != nil {
		return nil, err
	}
	slices.SortFunc(e.splices, func(a, b splice) int { return a.start - b.start })
	if err := e.verify(); err != nil {
		return nil, err
	}
	return e.withLength(p)
}

// shifted makes the offset of an error relative to the start of the content.
func shifted(err error, by int) error {
	if e := (*gdwire.Error)(nil); by > 0 && errors.As(err, &e) {
		return &gdwire.Error{Offset: int64(by) + e.Offset, Path: e.Path, Err: e.Err}
	}
	return err
}

// check returns an error for a place without a value or with several values.
func (p *place) check() error {
	if m := p.missing(); m != nil {
		return notFound(m)
	}
	return p.ambiguous()
}

func (p *place) ambiguous() error {
	if p.hits > 1 {
		return fmt.Errorf("there are %d values at %s; .value(n) is the value of the n-th pair", p.hits, printable(p.path))
	}
	for _, c := range p.inner {
		if err := c.ambiguous(); err != nil {
			return err
		}
	}
	return nil
}

// replace replaces the next value with the value of the edit.
func (e *editor) replace(p *place) (goOn bool, err error) {
	start := int(e.InputOffset())
	v := &p.edit.value
	if v.Form == paths.Declared {
		return true, e.checkDeclared(p, start)
	}
	if len(p.inner) > 0 {
		return false, fmt.Errorf("both %s and a value in it are set", printable(p.path))
	}
	if err := e.SkipValue(); err != nil {
		return false, err
	}
	end := int(e.InputOffset())
	old := e.describe(e.packet[start:end])
	if old == v.String() {
		return false, nil
	}
	b, err := e.encode(v)
	if err != nil {
		return false, fmt.Errorf("%s: %w", printable(p.path), reason(err))
	}
	e.splice(p, start, end, b, old)
	return false, nil
}

// splice adds a replacement of bytes of the packet, and shows it.
func (e *editor) splice(p *place, start, end int, b []byte, old string) {
	e.splices = append(e.splices, splice{start, end, b})
	e.screen.note(e.o, "%s: %s, was %s", p.path, &p.edit.value, old)
}

// reason returns the cause of an encoding error, without offset and path.
func reason(err error) error {
	if e := (*gdwire.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// checkDeclared checks that a line such as $.a = Array[int] has the type of the existing
// value.
func (e *editor) checkDeclared(p *place, start int) error {
	d := e.decoder(e.packet[start:])
	defer d.Release()
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	have := paths.FromToken(t, nil)
	if have.Form == paths.Empty {
		have.Form = paths.Declared
	}
	if have.String() != p.edit.value.String() {
		return fmt.Errorf("%s is %v and not %v; only values and empty containers can be set", printable(p.path), &have, &p.edit.value)
	}
	return nil
}

func (e *editor) decoder(b []byte) *gdwire.Decoder {
	d := gdwire.NewDecoder(nil, &e.o.decoder)
	d.ResetBytes(b)
	return d
}

// describe returns a value as flat shows it, and the type of a container.
func (e *editor) describe(b []byte) string {
	var out bytes.Buffer
	s := newScreen(nil, &out, io.Discard)
	v := flatPrinter{screen: s, p: &packet{Decoder: e.decoder(b)}}
	t, err := v.p.ReadToken()
	if err != nil {
		return err.Error()
	}
	switch t.Kind() {
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
		value := paths.FromToken(t, nil)
		if value.Form == paths.Declared && t.Kind() != gdwire.KindObjectStart {
			return fmt.Sprintf("%v of %d", t.Type(), t.Len())
		}
		return value.String()
	}
	_ = v.token(t) // read without an error before
	_ = s.out.Flush()
	line, _, _ := strings.Cut(strings.TrimPrefix(out.String(), " = "), "\n")
	return line
}

// encode returns the bytes of a value.
func (e *editor) encode(v *paths.Value) ([]byte, error) {
	var b bytes.Buffer
	eo := e.o.encoder()
	eo.DoubleReals = e.double
	enc := gdwire.NewEncoder(&b, &eo)
	defer enc.Release()
	if err := v.Write(enc, e.double); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// replaceElement replaces an element of a packed array.
func (e *editor) replaceElement(p *place, t gdwire.Token, b []byte, offset int64) error {
	v := p.edit.value
	want := paths.ElementType(t.Type())
	if v.Type == gdwire.TypeInt && want == gdwire.TypeFloat {
		v = paths.Value{Type: want, Numbers: []float64{float64(v.Int)}}
	}
	if v.Type != want || v.Form != paths.Whole {
		return fmt.Errorf("%s is in a %v: %v is not a %v", printable(p.path), t.Type(), &v, want)
	}
	start := int(offset)
	if t.Kind() == gdwire.KindStringChunk {
		return e.replaceString(p, start)
	}
	old := element(t, b, nil)
	if old.String() == v.String() {
		return nil
	}
	enc, err := encodeElement(t, &v)
	if err != nil {
		return fmt.Errorf("%s: %w", printable(p.path), err)
	}
	e.splice(p, start, start+len(b), enc, old.String())
	return nil
}

// encodeElement returns the bytes of an element of a packed array.
func encodeElement(t gdwire.Token, v *paths.Value) (b []byte, err error) {
	tooLarge := func(ok bool) error {
		if ok {
			return nil
		}
		return fmt.Errorf("%v does not fit a %v", v, t.Type())
	}
	order := binary.LittleEndian
	switch t.Type() {
	case gdwire.TypePackedByteArray:
		return []byte{byte(v.Int)}, tooLarge(v.Int>>8 == 0)
	case gdwire.TypePackedInt32Array:
		return order.AppendUint32(nil, uint32(v.Int)), tooLarge(v.Int == int64(int32(v.Int)))
	case gdwire.TypePackedInt64Array:
		return order.AppendUint64(nil, uint64(v.Int)), nil
	}
	for _, x := range v.Numbers {
		if t.Width() == 64 {
			b = order.AppendUint64(b, math.Float64bits(x))
			continue
		}
		err = cmp.Or(err, tooLarge(!math.IsInf(float64(float32(x)), 0) || math.IsInf(x, 0)))
		b = order.AppendUint32(b, math.Float32bits(float32(x)))
	}
	return b, err
}

// replaceString replaces a string of a PackedStringArray.
func (e *editor) replaceString(p *place, start int) error {
	old, err := e.AppendString(nil)
	if err != nil {
		return err
	}
	end := int(e.InputOffset())
	text := p.edit.value.Text
	if string(old) == text {
		return nil
	}
	// Encode the string in an array, and drop the array's header and count.
	var b bytes.Buffer
	eo := e.o.encoder()
	enc := gdwire.NewEncoder(&b, &eo)
	defer enc.Release()
	err = cmp.Or(enc.BeginPacked(gdwire.TypePackedStringArray, 1), enc.WriteString(text), enc.End(), enc.Close())
	if err != nil {
		return fmt.Errorf("%s: %w", printable(p.path), reason(err))
	}
	e.splice(p, start, end, b.Bytes()[8:], string(paths.AppendQuoted(nil, old)))
	return nil
}

// verify checks the edited packet. If the packet was canonical, it must still be.
func (e *editor) verify() error {
	var b bytes.Buffer
	_ = writeSpliced(&b, e.packet, e.splices) // to memory
	strict := e.o.decoder
	strict.Strict, strict.AllowObjects, strict.OneValue = true, true, e.o.framed()
	strict.Limits = gdwire.Limits{Depth: strict.Limits.Depth, Elements: -1, Values: -1, StringBytes: -1, PackedBytes: -1}
	check := func(packet []byte) error {
		d := gdwire.NewDecoder(nil, &strict)
		defer d.Release()
		d.ResetBytes(packet)
		return d.SkipValue()
	}
	if err := check(b.Bytes()); err != nil && check(e.packet) == nil {
		return fmt.Errorf("engines would not read the edited packet: %w", err)
	}
	return nil
}

// withLength returns the splices at their offsets in the content, with one for the length.
func (e *editor) withLength(p span) (all []splice, err error) {
	size := int64(p.end - p.start)
	for _, s := range e.splices {
		size += int64(len(s.bytes) - (s.end - s.start))
		all = append(all, splice{s.start + e.offset, s.end + e.offset, s.bytes})
	}
	if !e.o.framed() || len(all) == 0 {
		return all, nil
	}
	if size > math.MaxUint32 {
		return nil, errors.New("the packet would be too long for a length of 32 bits")
	}
	length := make([]byte, 4)
	lengthOrder(e.o.frame).PutUint32(length, uint32(size))
	return slices.Insert(all, 0, splice{p.start - 4, p.start, length}), nil
}
