package gdwire

import (
	"math"
	"strings"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// Each call tries the fast path first. The fast path may store more bytes than the value takes,
// because at least fastSize bytes are free and the next value overwrites them. The slow path
// starts with begin, checks the value, and only then writes.
//
// The fast paths exist only for speed and write the same bytes: TestRandomCalls makes the same calls
// with buffers too small for them. The gain noted at each is the share of the instructions of
// encode, the group of package bench for writing a saved game.
//
// The order here: numbers, math types, InputEvents, texts, Signals, NodePaths.

// WriteNil writes nil.
func (e *Encoder) WriteNil() error { return e.writeWord(TypeNil, 4, 0) }

// WriteBool writes a bool.
func (e *Encoder) WriteBool(v bool) error {
	word := uint64(bit(v)) // encoded as a number of 32 bits
	if e.fast(fastSize) {  // as writeWord, but with fewer tests: -1.6 % of encode
		b := e.free()
		le.PutUint32(b[:], e.forms[TypeBool][0].header)
		le.PutUint32(b[4:], uint32(word))
		e.put(8)
		return nil
	}
	return e.writeWord(TypeBool, 4, word)
}

// WriteInt writes an int in the fewest bits, as engines do. If the format knows only ints of
// 32 bits, a larger int is [ErrRange]. To write a small int in 64 bits, pass [Int64] to
// WriteToken.
func (e *Encoder) WriteInt(v int64) error {
	if e.fast(fastSize) {
		b, forms := e.free(), &e.forms[TypeInt]
		if v == int64(int32(v)) {
			le.PutUint32(b[:], forms[0].header)
			le.PutUint64(b[4:], uint64(v))
			e.put(4 + int(forms[0].size)) // 8 in Manual3, where all ints have 64 bits
			return nil
		}
		if forms[1].size == 8 { // the format knows ints of 64 bits
			le.PutUint32(b[:], forms[1].header)
			le.PutUint64(b[4:], uint64(v))
			e.put(12)
			return nil
		}
	}
	if v != int64(int32(v)) {
		return e.writeWord(TypeInt, 8, uint64(v))
	}
	return e.writeWord(TypeInt, 4, uint64(v))
}

// WriteFloat writes a float in the fewest bits, as engines do: in 32 bits if v is a float32,
// and another number or a NaN in 64 bits. If the format knows only floats of 32 bits, a number
// that is not a float32 is [ErrRange]. To write any float in 64 bits, pass [Float64] to
// WriteToken.
func (e *Encoder) WriteFloat(v float64) error {
	f := float32(v)
	if e.fast(fastSize) {
		b, forms := e.free(), &e.forms[TypeFloat]
		if float64(f) == v { // All formats have floats of 32 bits.
			le.PutUint64(b[:], uint64(forms[0].header)|uint64(math.Float32bits(f))<<32)
			e.put(8)
			return nil
		}
		if forms[1].size == 8 { // the format knows floats of 64 bits
			le.PutUint32(b[:], forms[1].header)
			le.PutUint64(b[4:], math.Float64bits(v))
			e.put(12)
			return nil
		}
	}
	if float64(f) != v {
		return e.writeWord(TypeFloat, 8, math.Float64bits(v))
	}
	return e.writeWord(TypeFloat, 4, uint64(math.Float32bits(f)))
}

// WriteRID writes an RID. Only Godot4 encodes its id.
func (e *Encoder) WriteRID(id uint64) error { return e.writeWord(TypeRID, 4, id) }

// WriteObjectID writes an object as its instance id; 0 is null. In formats without ids,
// other ids are [ErrRange].
func (e *Encoder) WriteObjectID(id uint64) error { return e.writeWord(TypeObject, 8, id) }

// WriteCallable writes a Callable, encoded without content.
func (e *Encoder) WriteCallable() error { return e.writeWord(TypeCallable, 4, 0) }

// writeWord writes a value of at most 64 bits. If size is 4, bits are for the narrow form of t and
// fit there, and an int is sign-extended to 64 bits; if size is 8, they are for the wide form.
func (e *Encoder) writeWord(t Type, size uint8, bits uint64) error {
	if e.fast(fastSize) {
		b := e.free()
		form := &e.forms[t&63][size>>3&1] // 4>>3 is 0, 8>>3 is 1
		// The slow path narrows bits if the format lacks a wide form, and knows for which types a
		// number may be lost. A type unknown to the format is no shapeWord.
		if form.shape == shapeWord && (form.size >= size || bits == 0) {
			form.put(b, bits)
			e.put(4 + int(form.size))
			return nil
		}
	}
	forms, err := e.begin(t)
	if err != nil {
		return err
	}
	form := &forms[size>>3&1]
	switch narrow := form.size == 4 && size == 8; {
	case narrow && t == TypeFloat:
		single, ok := wire.NarrowFloat(bits)
		if !ok {
			return e.fail(wrapf(ErrRange, "float %v does not fit 32 bits", math.Float64frombits(bits)))
		}
		bits = uint64(single)
	case narrow && int64(bits) != int64(int32(bits)):
		return e.fail(wrapf(ErrRange, "int %d does not fit 32 bits", int64(bits)))
	case form.size == 0 && t == TypeObject && bits != 0: // but the id of an RID is lost, as documented
		return e.fail(wrapf(ErrRange, "%v has no object ids", e.format))
	}
	form.put((*[fastSize]byte)(e.spare[:]), bits) // eight bytes; form.size of them are written
	return e.writeBytes(e.spare[:4+form.size], 1)
}

// WriteComponents writes a value of math type t from its components in encoded order: a Basis is
// encoded by rows. Floats are rounded to 32 bits, as engines do, or written in 64 bits if
// [EncoderOptions].DoubleReals is set and the type knows these. A finite component that becomes
// infinite is [ErrRange]. Integer vectors are written from int32, other types from floats.
func WriteComponents[T Component](e *Encoder, t Type, c []T) error {
	// In DoubleReals, most components have 64 bits: these are for the slow path. -14 %
	// of encode.
	if !isInt[T]() && e.fast(realsSize) && !e.options.DoubleReals {
		form := &e.forms[t&63][0]
		if form.typ == t && form.shape == shapeMath && form.unit == wire.Float32 && int(form.size) == 4*len(c) {
			b := e.freeReals()
			// Infinities and NaNs are valid, but the slow path tells them from overflowing numbers.
			if wire.NarrowFloats((*[16 * 4]byte)(b[4:]), c) {
				le.PutUint32(b[:], form.header)
				e.put(4 + 4*len(c))
				return nil
			}
		}
	}
	unit, wide := wire.Float32, e.double
	if isInt[T]() {
		unit, wide = wire.Int32, 0
	}
	form, b, err := e.beginMath(t, wide, len(c), unit)
	if err != nil {
		return err
	}
	for i, x := range c {
		if isInt[T]() {
			le.PutUint32(b[4+4*i:], uint32(int32(x)))
		} else if !wire.PutFloat(b[4+i*form.unit.Size():], float64(x), form.unit) {
			return e.fail(wrapf(ErrRange, "%v does not fit 32 bits", x))
		}
	}
	return e.writeBytes(b, 1)
}

// beginMath checks that a value of math type t with n components of the narrow unit u may be
// next. It returns the form, the wide form if wide is 1, and the bytes for the value, starting
// with the header.
func (e *Encoder) beginMath(t Type, wide, n int, u wire.Unit) (*form, []byte, error) {
	forms, err := e.begin(t)
	if err != nil {
		return nil, nil, err
	}
	// The narrow unit tells floats from ints, and is the same in all formats.
	if l := &layouts[t]; !l.isMath() || l.units[0] != u {
		return nil, nil, e.fail(wrapf(ErrCall, "%v has no such components", t))
	} else if n != int(l.n) {
		return nil, nil, e.fail(wrapf(ErrCall, "%v has %d components, not %d", t, l.n, n))
	}
	form := &forms[wide&1]
	b := e.spare[:4+int(form.size)]
	le.PutUint32(b, form.header)
	return form, b, nil
}

// WriteInputEvent writes an InputEvent of Godot 2. data contains the fields after the device.
// Longer data than the type requires is cut off; shorter data is [ErrRange].
func (e *Encoder) WriteInputEvent(event, device uint32, data []byte) error {
	forms, err := e.begin(TypeInputEvent)
	if err != nil {
		return err
	}
	// Readers derive the size from the type of the event, so longer data would be lost there.
	n := wire.EventSize(event, uint32(min(len(data), math.MaxInt32)))
	if len(data) < n {
		return e.fail(wrapf(ErrRange, "InputEvent of type %d needs more than %d bytes", event, len(data)))
	}
	var b [4 + wire.EventHead]byte
	head := appendWords(b[:0], forms[0].header, event, device, uint32(wire.EventHead+n))
	return writeValue(e, head, data[:n], nil)
}

// maxText is the maximum length of a string in bytes: engines read lengths as int32, and
// the length of a packed string includes a NUL.
const maxText = math.MaxInt32 - 1

// shortText is the size of the longest text written by WriteString as one word.
const shortText = 8

// WriteString writes a String, or the next name of a NodePath, or the next string of a
// PackedStringArray. Text with a NUL is [ErrUTF8], as all invalid text. Engines drop a leading U+FEFF.
func (e *Encoder) WriteString(s string) error {
	// Most texts are short. Such a text and its padding are one word: -31 % of encode.
	n, size := e.n&math.MaxInt, len(s)
	var word uint64 // wire.Short(s), with a branch for each range of sizes, where loads overlap
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
	if other := wire.NotPlain(word, size) & wire.NotASCII; other != 0 && other&^word|wire.NotSimple(word) != 0 { // a NUL, or rare
		return writeText(e, TypeString, s)
	}
	// At most one of the slices is not empty: the first where texts are values, the second where
	// they are names, without a header.
	if values := e.fastValues; n <= len(values)-fastSize {
		b := (*[fastSize]byte)(values[n:])
		le.PutUint64(b[:], stringHeader|uint64(size)<<32)
		le.PutUint64(b[8:], word)
		e.put((8 + size + 3) &^ 3)
		return nil
	}
	if names := e.fastNames; n <= len(names)-fastSize {
		length := size + int(e.nameNUL)
		b := (*[fastSize]byte)(names[n:])
		le.PutUint32(b[:], uint32(length))
		le.PutUint64(b[4:], word)
		le.PutUint32(b[12:], 0) // the NUL after eight characters, and its padding
		e.put((4 + length + 3) &^ 3)
		return nil
	}
	return writeText(e, TypeString, s)
}

// WriteStringName writes a StringName.
func (e *Encoder) WriteStringName(s string) error { return writeText(e, TypeStringName, s) }

// writeText writes a whole string or name of type t. Up to 16 bytes, two overlapping words
// contain the whole text, and one test shows whether it is ASCII.
func writeText[S string | []byte](e *Encoder, t Type, s S) error {
	n := len(s)
	if e.remaining == 0 { // also before Reset, when there are no forms
		return writeTextSlow(e, t, int64(n), s, true)
	}
	form := &e.forms[t&63][0]
	if form.shape != shapeText {
		return writeTextSlow(e, t, int64(n), s, true)
	}
	if n <= 16 {
		var first, last uint64
		var ok bool
		if n > 8 {
			first, last = wire.Load64(s), wire.Load64(s[n-8:])
			ok = (wire.NotPlain8(first)|wire.NotPlain8(last))&wire.NotASCII == 0
		} else {
			first = wire.Short(s)
			ok = wire.NotPlain(first, n)&wire.NotASCII == 0 || wire.ValidShortText(first, uint32(n))
		}
		if ok && e.appendTwoWords(form.header, n, first, last) {
			e.count(1)
			return nil
		}
	}
	// At most one of the slices is not empty. fastSize is enough for the header, the length, a NUL and the
	// padding.
	room := len(e.fastValues) + len(e.fastNames) - e.n
	if room < fastSize+n || n > maxText || !e.options.AllowInvalidUTF8 && !wire.ValidText(s) {
		return writeTextSlow(e, t, int64(n), s, true)
	}
	if len(e.fastNames) > 0 {
		e.put(putName(e.buf[e.n:], s, e.nameNUL))
		return nil
	}
	b := e.buf[e.n:]
	le.PutUint64(b, uint64(form.header)|uint64(n)<<32)
	le.PutUint32(b[8+n&^3:], 0) // the padding, before the text overwrites a part of the word
	copy(b[8:], s)
	e.put(8 + int(wire.Padded(uint32(n))))
	return nil
}

// writeTextSlow writes text on the slow path: a whole string or name, or the first bytes of a string of
// n bytes, with its frame. The position is checked before the text, so that the error of a misplaced
// call does not depend on the text. text is written together with the head, so that an error leaves
// neither written. A name is without a header, and its type is the NodePath's or array's: t does not
// matter.
func writeTextSlow[S string | []byte](e *Encoder, t Type, n int64, text S, whole bool) error {
	if err := e.Err(); err != nil {
		return err
	}
	var b [8]byte
	head, f := b[:0], frame{content: content{kind: KindStringChunk, typ: t}}
	if e.want() == wantName {
		f.typ, f.flags = e.top().typ, tokenFlags(e.nameNUL)*flagNUL
	} else {
		forms, err := e.begin(t)
		if err != nil {
			return err
		}
		if forms[0].shape != shapeText {
			return e.fail(wrapf(ErrCall, "%v is not a string type", t))
		}
		head = appendWords(head, forms[0].header)
	}
	switch {
	case whole && n > maxText:
		return e.fail(wrapf(ErrRange, "string of %d bytes is too long", n))
	case whole:
		f.count = uint32(n)
	default: // in pieces, the format decides: see maxCount
		if err := f.setDeclared(n, e.format); err != nil {
			return e.fail(err)
		}
		if uint64(len(text)) > uint64(f.count) {
			return e.fail(wrapf(ErrCount, "chunk of %d bytes in a string of %d", len(text), n))
		}
	}
	if err := checkText(e, text); err != nil {
		return err
	}
	length := f.count + f.nul() // with its NUL
	head = appendWords(head, length)
	if whole {
		return writeValue(e, head, text, wire.Zeros(int(f.nul())+wire.Padding(length)))
	}
	if err := writeStart(e, &f, head, text, nil); err != nil {
		return err
	}
	e.count(uint64(len(text)))
	return nil
}

// WriteSignal writes a Signal: its name and the instance id of its object.
func (e *Encoder) WriteSignal(name string, object uint64) error {
	return writeSignal(e, name, object)
}

func writeSignal[S string | []byte](e *Encoder, name S, object uint64) error {
	forms, err := e.begin(TypeSignal) // the position before the name, as for all calls
	if err != nil {
		return err
	}
	if err := checkName(e, name); err != nil {
		return err
	}
	var b [8]byte
	var end [12]byte // the padding of the name, zeros, and the id
	head := appendWords(b[:0], forms[0].header, uint32(len(name)))
	return writeValue(e, head, name, le.AppendUint64(end[:wire.Padding(uint32(len(name)))], object))
}

// appendWords appends numbers of 32 bits.
func appendWords(b []byte, words ...uint32) []byte {
	for _, w := range words {
		b = le.AppendUint32(b, w)
	}
	return b
}

// errNUL is the error of a text with a NUL, because engines of different versions see different texts
// there.
var errNUL = wrapf(ErrUTF8, "NUL in text")

// checkText fails if s is not UTF-8 or contains a NUL, unless the options or CopyValue
// allow it.
func checkText[S string | []byte](e *Encoder, s S) error {
	switch {
	case e.options.AllowInvalidUTF8 || wire.ValidText(s):
		return nil
	case !wire.Valid(s):
		return e.fail(ErrUTF8)
	case e.copies:
		return nil
	}
	return e.fail(errNUL)
}

// checkName fails if name is too long for a name or is not text.
func checkName[S string | []byte](e *Encoder, name S) error {
	if len(name) > maxName { // accepted by no Decoder
		return e.fail(wrapf(ErrRange, "name of %d bytes is too long", len(name)))
	}
	return checkText(e, name)
}

// WriteNodePath writes a NodePath from its text, such as "/root/Player:position:x". As
// engines do, it omits empty names and a colon at the end. Two colons in a row,
// invalid for engines, are [ErrRange].
func (e *Encoder) WriteNodePath(nodePath string) error {
	if e.writeNodePath(nodePath) {
		return nil
	}
	forms, err := e.begin(TypeNodePath)
	if err != nil {
		return err
	}
	// The names are UTF-8 if the text is, because the separators are ASCII.
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
	// So that a LimitError leaves nothing written. From here on, only the Writer can fail.
	if err := e.reserve(size); err != nil {
		return e.fail(err)
	}
	var head [16]byte
	putNodePath(head[:], forms[0].header, counts[0], counts[1], isAbsolute(nodePath))
	if err := e.appendShort(head[:]); err != nil {
		return e.fail(err)
	}
	for _, part := range parts {
		for rest := part.text; rest != ""; {
			var name string
			if name, rest, _ = strings.Cut(rest, part.separator); name != "" {
				n, length := uint32(len(name)), [4]byte{}
				le.PutUint32(length[:], n)
				if err := appendPieces(&e.sink, length[:], name, wire.Zeros(wire.Padding(n))); err != nil {
					return e.fail(err)
				}
			}
		}
	}
	e.follow()
	return e.endValues(1)
}
