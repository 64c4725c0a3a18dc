package text

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// A Part is a value without a header of its own: an element of a packed array, a
// component of a math type, or several such as the position of a Rect2.
type Part struct {
	In     gdwire.Type // the type of the packed array or value around the value
	Value  Value
	Bits   int   // of each number; 0 for a String
	Offset int64 // of the first byte
	Size   int64 // in bytes
}

// A component is a part of a math type, by its name in GDScript.
type component struct {
	name  string
	first int // the first number
	typ   gdwire.Type
}

// numbers returns a component of type t for each name: the first number, the second, and so on.
func numbers(t gdwire.Type, names ...string) (all []component) {
	for i, name := range names {
		all = append(all, component{name, i, t})
	}
	return all
}

// components contains the components with consecutive numbers in the encoding.
var components = map[gdwire.Type][]component{
	gdwire.TypeVector2:     numbers(gdwire.TypeFloat, "x", "y"),
	gdwire.TypeVector2i:    numbers(gdwire.TypeInt, "x", "y"),
	gdwire.TypeVector3:     numbers(gdwire.TypeFloat, "x", "y", "z"),
	gdwire.TypeVector3i:    numbers(gdwire.TypeInt, "x", "y", "z"),
	gdwire.TypeVector4:     numbers(gdwire.TypeFloat, "x", "y", "z", "w"),
	gdwire.TypeVector4i:    numbers(gdwire.TypeInt, "x", "y", "z", "w"),
	gdwire.TypeQuaternion:  numbers(gdwire.TypeFloat, "x", "y", "z", "w"),
	gdwire.TypeColor:       numbers(gdwire.TypeFloat, "r", "g", "b", "a"),
	gdwire.TypePlane:       append(numbers(gdwire.TypeFloat, "x", "y", "z", "d"), component{"normal", 0, gdwire.TypeVector3}),
	gdwire.TypeRect2:       {{"position", 0, gdwire.TypeVector2}, {"size", 2, gdwire.TypeVector2}},
	gdwire.TypeRect2i:      {{"position", 0, gdwire.TypeVector2i}, {"size", 2, gdwire.TypeVector2i}},
	gdwire.TypeAABB:        {{"position", 0, gdwire.TypeVector3}, {"size", 3, gdwire.TypeVector3}},
	gdwire.TypeTransform2D: {{"x", 0, gdwire.TypeVector2}, {"y", 2, gdwire.TypeVector2}, {"origin", 4, gdwire.TypeVector2}},
	gdwire.TypeTransform3D: {{"basis", 0, gdwire.TypeBasis}, {"origin", 9, gdwire.TypeVector3}},
	gdwire.TypeProjection: {
		{"x", 0, gdwire.TypeVector4}, {"y", 4, gdwire.TypeVector4}, {"z", 8, gdwire.TypeVector4}, {"w", 12, gdwire.TypeVector4},
	},
}

// ComponentNames returns the names of the components of a math type.
func ComponentNames(t gdwire.Type) (names []string) {
	for _, c := range components[t] {
		names = append(names, c.name)
	}
	return names
}

// Component returns the component with this name, or false if there is none.
func (p *Part) Component(name string) (Part, bool) {
	for _, c := range components[p.Value.Type] {
		if c.name != name {
			continue
		}
		n, _ := c.typ.Components()
		n = max(n, 1)
		of := p.Value.Numbers[c.first : c.first+n : c.first+n]
		part := Part{
			In: p.Value.Type, Bits: p.Bits, Value: Value{Type: c.typ, Numbers: of, Single: p.Value.Single},
			Offset: p.Offset + int64(c.first*p.Bits/8), Size: int64(n * p.Bits / 8),
		}
		if c.typ == gdwire.TypeInt {
			part.Value.Int, part.Value.Numbers = int64(of[0]), nil
		}
		return part, true
	}
	return Part{}, false
}

// mathPart returns the components of a math type as a part. end is the offset after the last byte.
func mathPart(t gdwire.Token, end int64) Part {
	v := FromToken(t, nil)
	bits := t.Width()
	size := int64(len(v.Numbers) * bits / 8)
	return Part{In: v.Type, Value: v, Bits: bits, Offset: end - size, Size: size}
}

// Element returns an element of a packed array, with numbers appended to numbers. b is the
// encoding, and t the Chunk, of the element.
func Element(t gdwire.Token, b []byte, numbers []float64) Value {
	v := Value{Type: t.Type().Element()}
	switch t.Type() {
	case gdwire.TypePackedByteArray, gdwire.TypeImage:
		v.Type, v.Int = gdwire.TypeInt, int64(b[0])
		return v
	case gdwire.TypePackedInt32Array:
		v.Int = int64(int32(binary.LittleEndian.Uint32(b)))
		return v
	case gdwire.TypePackedInt64Array:
		v.Int = int64(binary.LittleEndian.Uint64(b))
		return v
	}
	if v.Single = t.Width() == 32; v.Single {
		for ; len(b) >= 4; b = b[4:] {
			numbers = append(numbers, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	} else {
		for ; len(b) >= 8; b = b[8:] {
			numbers = append(numbers, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	}
	v.Numbers = numbers
	return v
}

// Append appends the encoding of v, a value of the part's type.
func (p *Part) Append(dst []byte, v *Value) ([]byte, error) {
	order, tooLarge := binary.LittleEndian, false
	switch {
	case v.Type == gdwire.TypeInt && p.Bits == 8:
		tooLarge = v.Int>>8 != 0
		dst = append(dst, byte(v.Int))
	case v.Type == gdwire.TypeInt && p.Bits == 32:
		tooLarge = v.Int != int64(int32(v.Int))
		dst = order.AppendUint32(dst, uint32(v.Int))
	case v.Type == gdwire.TypeInt:
		dst = order.AppendUint64(dst, uint64(v.Int))
	}
	_, integers := v.Type.Components()
	for _, x := range v.Numbers {
		switch {
		case integers:
			dst = order.AppendUint32(dst, uint32(int32(x)))
		case p.Bits == 64:
			dst = order.AppendUint64(dst, math.Float64bits(x))
		default:
			tooLarge = tooLarge || math.IsInf(float64(float32(x)), 0) && !math.IsInf(x, 0)
			dst = order.AppendUint32(dst, math.Float32bits(float32(x)))
		}
	}
	if tooLarge {
		return dst, fmt.Errorf("%v does not fit a %v", v, p.In)
	}
	return dst, nil
}

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
	// Brief prints keys and names of text without quotes, unless they are a number, and Arrays, Dictionaries and Objects without their types.
	Brief bool
	// Bytes, if not nil, is called with each part of the bytes of a PackedByteArray or Image.
	Bytes func(b []byte)
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
		start := len(p.Buf)
		if err = p.chunks(t); err == nil {
			p.Buf = p.Buf[:len(p.Buf)-1] // the quote
		}
		s := scanner{text: string(p.Buf[start:])}
		if s.skipNumber(); s.pos > 0 && s.atEnd() { // not the key 1
			p.Buf = AppendQuoted(p.Buf[:start], s.text)
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
		if p.Bytes != nil && t.Kind() == gdwire.KindChunk {
			p.Bytes(t.Bytes())
		}
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

// Read reads the next value with its content.
func Read(d *gdwire.Decoder) (Value, error) {
	t, err := d.ReadToken()
	if err != nil {
		return Value{}, err
	}
	v := FromToken(t, nil)
	switch t.Kind() {
	case gdwire.KindStringChunk, gdwire.KindNodePathStart:
		v.Text, err = text(d)
	case gdwire.KindPackedStart, gdwire.KindImageStart:
		err = v.readPacked(d)
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
		err = v.readItems(d, t.Len())
	}
	return v, err
}

// text returns the text beginning with the latest token.
func text(d *gdwire.Decoder) (string, error) {
	b, err := d.AppendString(nil)
	return string(b), err
}

// readPacked reads the elements of a packed array, or the bytes of an Image.
func (v *Value) readPacked(d *gdwire.Decoder) error {
	var b []byte
	for {
		t, err := d.ReadToken()
		switch {
		case err != nil:
			return err
		case t.Kind() == gdwire.KindEnd:
			v.finish(b)
			return nil
		case t.Kind() == gdwire.KindStringChunk:
			s, err := text(d)
			if err != nil {
				return err
			}
			v.Items = append(v.Items, Value{Type: gdwire.TypeString, Text: s})
		case v.Type == gdwire.TypePackedByteArray || v.Type == gdwire.TypeImage:
			b = append(b, t.Bytes()...)
		default:
			size := int(int64(len(t.Bytes())) / max(t.Len(), 1))
			for b := t.Bytes(); len(b) > 0; b = b[size:] {
				v.Items = append(v.Items, Element(t, b[:size], nil))
			}
		}
	}
}

// readItems reads the content of a container of n elements, pairs or properties.
func (v *Value) readItems(d *gdwire.Decoder, n int64) error {
	for range n {
		switch v.Type {
		case gdwire.TypeDictionary:
			if _, err := d.ReadToken(); err != nil { // DictKey
				return err
			}
			key, err := Read(d)
			if err != nil {
				return err
			}
			v.Items = append(v.Items, key)
		case gdwire.TypeObject:
			t, err := d.ReadToken()
			if err != nil {
				return err
			}
			v.Items = append(v.Items, FromToken(t, nil))
		}
		item, err := Read(d)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, item)
	}
	v.finish(nil)
	_, err := d.ReadToken() // End
	return err
}

// finish sets the form of a container, and the bytes of a PackedByteArray or Image.
func (v *Value) finish(b []byte) {
	switch {
	case v.Type == gdwire.TypePackedByteArray || v.Type == gdwire.TypeImage:
		v.Text = string(b)
	case v.Items == nil:
		v.Form = Empty
	default:
		v.Form = Whole
	}
}
