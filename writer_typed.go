package gdwire

import (
	"math"
	"math/bits"
	"strings"

	"github.com/gdwire/gdwire/internal/wire"
)

// Each call tries the fast path first. There it may store more bytes than the value has, because
// it has checked that fastSize bytes are free and the next value overwrites them. The slow path
// starts with begin, checks the value, and only then writes.

// WriteNil writes nil.
func (e *Encoder) WriteNil() error { return e.writeWord(TypeNil, 0, 0) }

// WriteBool writes a bool.
func (e *Encoder) WriteBool(v bool) error {
	word := uint64(0)
	if v {
		word = 1
	}
	if b, ok := e.fast(); ok {
		le.PutUint32(b[:], e.forms[TypeBool][0].header)
		le.PutUint32(b[4:], uint32(word))
		e.advance(8)
		e.count(1)
		return nil
	}
	return e.writeWord(TypeBool, 0, word)
}

// WriteInt writes an int in the fewest bits, as engines do. If the format has only ints of
// 32 bits, a larger int is [ErrRange]. To write a small int in 64 bits, pass [Int64] to
// WriteToken.
func (e *Encoder) WriteInt(v int64) error {
	if values, n := e.fastValues, e.n&math.MaxInt; n <= len(values)-fastSize && e.remaining > 0 {
		b, forms := (*[fastSize]byte)(values[n:]), &e.forms[TypeInt]
		if v == int64(int32(v)) {
			le.PutUint32(b[:], forms[0].header)
			le.PutUint64(b[4:], uint64(v))
			e.advance(4 + int(forms[0].size)) // 8 in Manual3, whose ints all have 64 bits
			e.count(1)
			return nil
		}
		if forms[1].size == 8 { // the format has ints of 64 bits
			le.PutUint32(b[:], forms[1].header)
			le.PutUint64(b[4:], uint64(v))
			e.advance(12)
			e.count(1)
			return nil
		}
	}
	if v != int64(int32(v)) {
		return e.writeWord(TypeInt, 1, uint64(v))
	}
	return e.writeWord(TypeInt, 0, uint64(v))
}

// WriteFloat writes a float in the fewest bits, as engines do: in 32 bits if v is a float32,
// and in 64 bits if it is another number or a NaN. If the format has only floats of 32 bits,
// a number that is not a float32 is [ErrRange]. To write any float in 64 bits, pass
// [Float64] to WriteToken.
func (e *Encoder) WriteFloat(v float64) error {
	f := float32(v)
	if float64(f) != v {
		return e.writeFloat(1, math.Float64bits(v), wire.Float64)
	}
	if b, ok := e.fast(); ok { // All formats have floats of 32 bits.
		le.PutUint32(b[:], e.forms[TypeFloat][0].header)
		le.PutUint32(b[4:], math.Float32bits(f))
		e.advance(8)
		e.count(1)
		return nil
	}
	return e.writeFloat(0, uint64(math.Float32bits(f)), wire.Float32)
}

// WriteRID writes an RID. Formats before Godot 4 do not encode its id.
func (e *Encoder) WriteRID(id uint64) error { return e.writeWord(TypeRID, 0, id) }

// WriteObjectID writes an object as its instance id; 0 is null. In formats without ids,
// other ids are [ErrRange].
func (e *Encoder) WriteObjectID(id uint64) error { return e.writeWord(TypeObject, 1, id) }

// WriteCallable writes a Callable, which is encoded without content.
func (e *Encoder) WriteCallable() error { return e.writeWord(TypeCallable, 0, 0) }

// writeFloat writes a float from its bits in unit u.
func (e *Encoder) writeFloat(wide int, bits uint64, u wire.Unit) error {
	if values, n := e.fastValues, e.n&math.MaxInt; n <= len(values)-fastSize && e.remaining > 0 {
		if form := &e.forms[TypeFloat][wide&1]; form.unit == u {
			form.put((*[fastSize]byte)(values[n:]), bits)
			e.advance(4 + int(form.size))
			e.count(1)
			return nil
		}
	}
	forms, err := e.begin(TypeFloat)
	if err != nil {
		return err
	}
	form := &forms[wide]
	if form.unit != u { // No format has floats of 64 bits only.
		narrow, ok := wire.NarrowFloat(bits)
		if !ok {
			return e.fail(wrapf(ErrRange, "float %v does not fit 32 bits", math.Float64frombits(bits)))
		}
		bits = uint64(narrow)
	}
	return e.writeForm(form, bits)
}

// writeWord writes a value of at most 64 bits.
func (e *Encoder) writeWord(t Type, wide int, bits uint64) error {
	if b, ok := e.fast(); ok {
		form := &e.forms[t&63][wide&1]
		// A form without content, of size 0, fits only 0: the slow path knows for which types the
		// number may be lost. A type that the format does not have is no shapeWord.
		fits := form.size == 8 || form.size == 4 && int64(bits) == int64(int32(bits)) || bits == 0
		if fits && form.shape == shapeWord {
			form.put(b, bits)
			e.endFast(4 + int(form.size))
			return nil
		}
	}
	forms, err := e.begin(t)
	if err != nil {
		return err
	}
	form := &forms[wide]
	switch {
	case form.size == 4 && int64(bits) != int64(int32(bits)):
		return e.fail(wrapf(ErrRange, "int %d does not fit 32 bits", int64(bits)))
	case form.size == 0 && t == TypeObject && bits != 0: // but the id of an RID is lost, as documented
		return e.fail(wrapf(ErrRange, "%v has no object ids", e.options.Format))
	}
	return e.writeForm(form, bits)
}

// put puts a header and a word into b; the size of the word is f.size.
func (f *form) put(b *[fastSize]byte, word uint64) {
	le.PutUint32(b[:], f.header)
	le.PutUint64(b[4:], word)
}

// writeForm writes a header and a word on the slow path.
func (e *Encoder) writeForm(form *form, word uint64) error {
	var b [fastSize]byte
	form.put(&b, word)
	return e.writeShort(b[:4+form.size])
}

// realWidth returns the width that WriteReals and BeginPacked choose.
func (e *Encoder) realWidth(forms *[2]form) int {
	if e.options.DoubleReals && forms[0].headerFlags&wideFlag != 0 {
		return 1
	}
	return 0
}

// WriteReals writes a value of math type t from its components in encoded order: a Basis is
// encoded by rows. It rounds them to 32 bits, as engines do, or writes 64 bits if
// [EncoderOptions].DoubleReals is set and the type has these. A finite component that becomes
// infinite is [ErrRange].
func (e *Encoder) WriteReals(t Type, c ...float64) error {
	values, n := e.fastValues, e.n&math.MaxInt
	if n <= len(values)-realsSize && e.remaining > 0 && !e.options.DoubleReals {
		form := &e.forms[t&63][0]
		if form.typ == t && form.shape == shapeMath && form.unit == wire.Float32 && int(form.size) == 4*len(c) {
			b := (*[realsSize]byte)(values[n:])
			if putReals(b, c) { // otherwise the slow path finds out whether that is an error
				le.PutUint32(b[:], form.header)
				e.advance(4 + 4*len(c))
				e.count(1)
				return nil
			}
		}
	}
	form, b, err := e.beginMath(t, len(c), wire.Float32)
	if err != nil {
		return err
	}
	for i, x := range c {
		switch {
		case form.unit == wire.Float64:
			le.PutUint64(b[4+8*i:], math.Float64bits(x))
		case wire.Overflows(x):
			return e.fail(wrapf(ErrRange, "%v does not fit 32 bits", x))
		default:
			le.PutUint32(b[4+4*i:], math.Float32bits(float32(x)))
		}
	}
	return e.writeShort(b)
}

// realsSize is the size of the longest value of 32-bit components, a Projection, with its
// header.
const realsSize = 4 + 16*4

// putReals puts c, at most 16 components, into b after a header, in 32 bits, and reports
// whether all are finite and fit. It tests them together after the loop. The mask saves the checks
// of bounds.
func putReals(b *[realsSize]byte, c []float64) bool {
	const infinite = 0xFF << 23
	carry := uint32(0) // bit 31 is the carry out of the exponent of an infinity or NaN
	for i, x := range c {
		bits := math.Float32bits(float32(x))
		carry |= bits&infinite + 1<<23
		le.PutUint32(b[4+4*(i&15):], bits)
	}
	return carry>>31 == 0
}

// WriteInts writes a value of type t, an integer vector or Rect2i, from its components.
func (e *Encoder) WriteInts(t Type, c ...int32) error {
	_, b, err := e.beginMath(t, len(c), wire.Int32)
	if err != nil {
		return err
	}
	for i, x := range c {
		le.PutUint32(b[4+4*i:], uint32(x))
	}
	return e.writeShort(b)
}

// beginMath checks that a value of math type t with n components of the narrow unit u may be
// next. It returns the bytes for the value, which start with the header.
func (e *Encoder) beginMath(t Type, n int, u wire.Unit) (*form, []byte, error) {
	forms, err := e.begin(t)
	if err != nil {
		return nil, nil, err
	}
	if l := &layouts[t]; !l.isMath() || l.units[0] != u {
		return nil, nil, e.fail(wrapf(ErrType, "%v has no such components", t))
	} else if n != int(l.n) {
		return nil, nil, e.fail(wrapf(ErrCount, "%v has %d components, not %d", t, l.n, n))
	}
	form := &forms[e.realWidth(forms)]
	b := e.spare[:4+int(form.size)] // in the Encoder, because a local array would be allocated
	le.PutUint32(b, form.header)
	return form, b, nil
}

// WriteInputEvent writes an InputEvent of Godot 2. data has the fields after the device. If
// data is longer than the type requires, the surplus is not written; if it is shorter, the
// error is [ErrRange].
func (e *Encoder) WriteInputEvent(event, device uint32, data []byte) error {
	forms, err := e.begin(TypeInputEvent)
	if err != nil {
		return err
	}
	n := eventSize(event, uint32(min(len(data), math.MaxInt32)))
	if len(data) < n {
		return e.fail(wrapf(ErrRange, "InputEvent of type %d needs more than %d bytes", event, len(data)))
	}
	var b [4 + eventHead]byte
	head := appendWords(b[:0], forms[0].header, event, device, uint32(eventHead+n))
	return writeValue(e, head, data[:n], nil)
}

// maxText is the maximum length of a string in bytes: engines read lengths as int32, and
// the length of a packed string includes a NUL.
const maxText = math.MaxInt32 - 1

// shortText is the size of the longest text that WriteString writes as one word.
const shortText = 8

// WriteString writes a String, or the next name of a NodePath, or the next string of a
// PackedStringArray. Engines drop a leading U+FEFF, and the text after a NUL.
func (e *Encoder) WriteString(s string) error {
	// Most texts are short and ASCII: with its padding, such a text is one word.
	n, size := e.n&math.MaxInt, len(s)
	var word uint64 // wire.Short(s), with a branch for each range of sizes
	switch {
	case e.remaining == 0:
		return writeText(e, TypeString, s)
	case 4 <= size && size <= shortText:
		word = uint64(wire.Load32(s)) | uint64(wire.Load32(s[size-4:]))<<(8*(size-4)&63)
	case size > shortText:
		return writeText(e, TypeString, s)
	case size >= 2:
		word = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[size-1])<<(8*(size-1)&63)
	case size == 1:
		word = uint64(s[0])
	}
	if word&wire.NotASCII != 0 {
		return writeText(e, TypeString, s)
	}
	if values := e.fastValues; n <= len(values)-fastSize {
		b := (*[fastSize]byte)(values[n:])
		le.PutUint32(b[:], stringHeader)
		le.PutUint32(b[4:], uint32(size))
		le.PutUint64(b[8:], word)
		e.advanceTo(n + (8+size+3)&^3)
		e.count(1)
		return nil
	}
	if names := e.fastNames; n <= len(names)-fastSize {
		length := size + int(e.nameNUL)
		b := (*[fastSize]byte)(names[n:])
		le.PutUint32(b[:], uint32(length))
		le.PutUint64(b[4:], word)
		le.PutUint32(b[12:], 0) // the NUL after eight characters, and its padding
		e.advanceTo(n + (4+length+3)&^3)
		e.count(1)
		return nil
	}
	return writeText(e, TypeString, s)
}

// WriteStringName writes a StringName.
func (e *Encoder) WriteStringName(s string) error { return writeText(e, TypeStringName, s) }

// writeText writes a whole string or name of type t. Up to 16 bytes, two words that overlap have
// all of it.
func writeText[S string | []byte](e *Encoder, t Type, s S) error {
	n := len(s)
	if n <= 16 && e.remaining > 0 {
		var first, last uint64
		if n > 8 {
			first, last = wire.Load64(s), wire.Load64(s[n-8:])
		} else {
			first = wire.Short(s)
		}
		if e.writeTwoWords(t, n, first, last) {
			return nil
		}
	}
	if e.n > len(e.fastValues)-fastSize-n || e.remaining == 0 || n > maxText {
		return writeTextSlow(e, t, s)
	}
	form := &e.forms[t&63][0]
	if form.shape != shapeText || !e.options.AllowInvalidUTF8 && !wire.Valid(s) {
		return writeTextSlow(e, t, s)
	}
	b := e.buf[e.n:]
	le.PutUint64(b, uint64(form.header)|uint64(n)<<32)
	le.PutUint32(b[8+n&^3:], 0) // the padding, before the text, which overwrites a part of the word
	copy(b[8:], s)
	e.endFast(8 + int(wire.Padded(uint32(n))))
	return nil
}

// writeTwoWords writes a text of at most 16 bytes on the fast path. first has the first eight,
// last the last eight if there are more. It returns false if it has written nothing. -3 % of
// encode, which has few such texts.
func (e *Encoder) writeTwoWords(t Type, size int, first, last uint64) bool {
	const most = fastSize + 8
	if (first|last)&wire.NotASCII != 0 {
		return false
	}
	n, length := e.n&math.MaxInt, uint32(size)+e.nameNUL // nameNUL is 0 outside of names
	last >>= uint(8*(16-size)) & 63                      // without the bytes that first has, too
	if values := e.fastValues; n <= len(values)-most {
		if form := &e.forms[t&63][0]; form.shape == shapeText {
			b := (*[most]byte)(values[n:])
			le.PutUint32(b[:], form.header)
			le.PutUint32(b[4:], length)
			le.PutUint64(b[8:], first)
			le.PutUint64(b[16:], last)
			e.endFast(8 + int(wire.Padded(length)))
			return true
		}
	} else if names := e.fastNames; n <= len(names)-most {
		b := (*[most]byte)(names[n:])
		le.PutUint32(b[:], length)
		le.PutUint64(b[4:], first)
		le.PutUint64(b[12:], last)
		le.PutUint32(b[20:], 0)
		e.endFast(4 + int(wire.Padded(length)))
		return true
	}
	return false
}

// writeTextSlow writes a whole string or name on the slow path. It checks the position before the
// text, so that the error of a misplaced call does not depend on the text.
func writeTextSlow[S string | []byte](e *Encoder, t Type, s S) error {
	head, nul, err := e.beginText(t)
	if err != nil {
		return err
	}
	if len(s) > maxText {
		return e.fail(wrapf(ErrRange, "string of %d bytes is too long", len(s)))
	}
	if !e.options.AllowInvalidUTF8 && !wire.Valid(s) {
		return e.fail(ErrUTF8)
	}
	var b [8]byte
	n := uint32(len(s)) + nul
	return writeValue(e, head.append(b[:0], n), s, wire.Zeros(int(nul)+wire.Padding(n)))
}

// A textHead describes the bytes before the text of a string: a header, except in a NodePath
// or PackedStringArray, and the length.
type textHead struct {
	typ      Type // of the value that the text is part of
	header   uint32
	noHeader bool
}

// append appends the head of a string of n bytes.
func (h textHead) append(b []byte, n uint32) []byte {
	if !h.noHeader {
		b = le.AppendUint32(b, h.header)
	}
	return le.AppendUint32(b, n)
}

// beginText checks that a string may be next. It returns the head of the string and the
// number of NULs at its end.
func (e *Encoder) beginText(t Type) (head textHead, nul uint32, err error) {
	if err := e.Err(); err != nil {
		return head, 0, err
	}
	if e.want() == wantName { // t does not matter: names have no header
		return textHead{typ: e.top().typ, noHeader: true}, e.nameNUL, nil
	}
	forms, err := e.begin(t)
	if err != nil {
		return head, 0, err
	}
	if forms[0].shape != shapeText {
		return head, 0, e.fail(wrapf(ErrType, "%v is not a string type", t))
	}
	return textHead{typ: t, header: forms[0].header}, 0, nil
}

// WriteSignal writes a Signal: its name and the instance id of its object.
func (e *Encoder) WriteSignal(name string, object uint64) error {
	return writeSignal(e, name, object)
}

func writeSignal[S string | []byte](e *Encoder, name S, object uint64) error {
	forms, err := e.begin(TypeSignal)
	if err != nil {
		return err
	}
	if err := checkName(e, name); err != nil {
		return err
	}
	var b [8]byte
	var end [12]byte
	head := appendWords(b[:0], forms[0].header, uint32(len(name)))
	return writeValue(e, head, name, le.AppendUint64(end[:wire.Padding(uint32(len(name)))], object))
}

// writeName writes the length of a name, the name and its padding.
func writeName[S string | []byte](e *Encoder, name S) error {
	var b [4]byte
	return writePieces(e, appendWords(b[:0], uint32(len(name))), name, wire.Zeros(wire.Padding(uint32(len(name)))))
}

// appendWords appends numbers of 32 bits.
func appendWords(b []byte, words ...uint32) []byte {
	for _, w := range words {
		b = le.AppendUint32(b, w)
	}
	return b
}

// checkName returns an error if name is too long for a name or is not UTF-8.
func checkName[S string | []byte](e *Encoder, name S) error {
	if len(name) > maxName {
		return e.fail(wrapf(ErrRange, "name of %d bytes is too long", len(name)))
	}
	if !e.options.AllowInvalidUTF8 && !wire.Valid(name) {
		return e.fail(ErrUTF8)
	}
	return nil
}

// WriteNodePath writes a NodePath from its text, such as "/root/Player:position:x". As
// engines do, it omits empty names and a colon at the end. Two colons in a row, which
// engines call invalid, are [ErrRange].
func (e *Encoder) WriteNodePath(nodePath string) error {
	if e.writeShortNodePath(nodePath) {
		return nil
	}
	forms, err := e.begin(TypeNodePath)
	if err != nil {
		return err
	}
	if err := checkName(e, nodePath); err != nil {
		return err
	}
	// The counts precede the names, so the text is split twice: first to count and to check, so
	// that an invalid NodePath writes nothing, and then to write.
	names, subnames, _ := strings.Cut(nodePath, ":")
	parts := [...]struct{ text, separator string }{{names, "/"}, {subnames, ":"}}
	size, counts := int64(16), [2]uint32{}
	for i, part := range parts {
		for rest := part.text; rest != ""; {
			var name string
			if name, rest, _ = strings.Cut(rest, part.separator); name != "" {
				size += 4 + int64(wire.Padded(uint32(len(name))))
				counts[i]++
			} else if i == 1 {
				return e.fail(wrapf(ErrRange, "NodePath with two colons in a row"))
			}
		}
	}
	if size > maxName {
		return e.fail(wrapf(ErrRange, "NodePath of %d bytes is too long", size))
	}
	if err := e.reserve(size); err != nil { // so that it is written in full or not at all
		return e.fail(err)
	}
	flags := uint32(0)
	if strings.HasPrefix(names, "/") {
		flags = nodePathAbsolute
	}
	var head [16]byte
	putNodePath(head[:], forms[0].header, counts[0], counts[1], flags)
	if err := writePieces(e, head[:], "", nil); err != nil {
		return err
	}
	for _, part := range parts {
		for rest := part.text; rest != ""; {
			var name string
			if name, rest, _ = strings.Cut(rest, part.separator); name != "" {
				if err := writeName(e, name); err != nil {
					return err
				}
			}
		}
	}
	return e.endValue()
}

// shortNodePath is the size of the longest text that writeShortNodePath writes.
const shortNodePath = 64

// writeShortNodePath writes a NodePath on the fast path, in one pass over its text, eight
// bytes at a time. It returns false if it has written nothing: WriteNodePath then handles
// rare texts and errors. -35 % of Marshal.
func (e *Encoder) writeShortNodePath(text string) bool {
	// Names of one byte have the longest encoding.
	const most = fastSize + 4*(shortNodePath+1)
	values, n := e.fastValues, e.n&math.MaxInt
	if len(text) > shortNodePath || n > len(values)-(most+8) || e.remaining == 0 {
		return false
	}
	b := (*[most + 8]byte)(values[n:])
	from, flags := 0, uint32(0)
	if text != "" && text[0] == '/' {
		from, flags = 1, nodePathAbsolute
	}
	var source [shortNodePath + 8]byte // the text, followed by zeros
	copy(source[:], text)
	var counts [2]uint32 // of names and sub-names
	part, size := 0, fastSize
	for from < len(text) { // from is after a separator
		to := size + 4
		var word, colons, ends uint64
		for {
			word = le.Uint64(source[from : from+8 : from+8])
			if word&wire.NotASCII != 0 {
				return false
			}
			colons = wire.EqualBytes(word, ':')
			ends = colons
			if part == 0 {
				ends |= wire.EqualBytes(word, '/')
			}
			if ends != 0 || len(text)-from <= 8 {
				break
			}
			le.PutUint64(b[to:to+8:to+8], word) // eight bytes of a longer name
			from, to = from+8, to+8
		}
		end := ends & -ends      // the highest bit of the separator
		rest := len(text) - from // the bytes of the name in word
		if end != 0 {
			rest = bits.TrailingZeros64(end) / 8
			word &= end>>7 - 1 // zeros in place of the separator and of what follows it: the padding
		}
		le.PutUint64(b[to:to+8:to+8], word)
		from += rest + 1
		if length := to + rest - size - 4; length > 0 {
			le.PutUint32(b[size:size+4:size+4], uint32(length))
			size += 4 + int(wire.Padded(uint32(length)))
			counts[part&1]++
		} else if part == 1 { // two colons in a row
			return false
		}
		if colons&end != 0 { // sub-names follow
			part = 1
		}
	}
	putNodePath(b[:], e.forms[TypeNodePath][0].header, counts[0], counts[1], flags)
	e.endFast(size)
	return true
}

// putNodePath puts the head of a NodePath into b.
func putNodePath(b []byte, header, names, subnames, flags uint32) {
	le.PutUint32(b, header)
	le.PutUint32(b[4:], names|newNodePathBit)
	le.PutUint32(b[8:], subnames)
	le.PutUint32(b[12:], flags)
}
