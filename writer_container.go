package gdwire

import (
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// A container is begun in this order: begin checks that it may be next, setDeclared checks its
// count, writeStart writes its head, and open pushes its frame. Its End takes no bytes, except for
// the NUL and padding of strings and bytes, but sets an Unknown count.
//
// On the fast path, beginCounted and beginNodePath do all of this at once: -17 % and -10 % of encode.
//
// Data of strings, packed arrays and Images follows the head, in any number of calls. Each checks
// all of its data before writing a part. Only Write can end inside an element or a rune. Then
// partial and rune hold its start for the next Write, and other calls are invalid.
//
// The order here: beginning and ending, Arrays and Dictionaries, objects, strings, NodePaths, packed
// arrays and Images, and the data.

// beginCounted begins an untyped container or PackedStringArray of n elements or pairs. All formats
// have these types. The slow path handles Unknown (negative) counts, counts out of range, and a
// stack without another frame, to be enlarged by push.
func (e *Encoder) beginCounted(t Type, n int64) error {
	stack, depth := e.stack, e.depth&math.MaxInt
	values, at := e.fastValues, e.n&math.MaxInt
	if at > len(values)-8 || e.remaining == 0 || uint64(n) > math.MaxInt32 || depth > len(stack)-2 {
		return e.beginForm(t, n, 0)
	}
	form := &e.forms[t&63][0]
	le.PutUint64(values[at:], uint64(form.header)|uint64(n)<<32)
	e.advance(8)
	// In a container of pairs, keys and values are counted.
	frames, pairs := (*[2]frame)(stack[depth:]), uint64(form.pairs)
	frames[1].init(&form.content, uint32(n))
	e.enter(&frames[0], pairs, uint64(n)*(1+pairs))
	if form.shape == shapePackedStrings {
		e.setFast(0, len(values), e.format.nul(TypePackedStringArray))
	} else if depth >= e.maxDepth { // may be empty, but begin returns an error for any value inside
		e.setFast(0, 0, 0)
	}
	return nil
}

// beginForm begins an untyped container, PackedStringArray or packed array of n elements or pairs.
// A packed array takes the wide form if wide is 1.
func (e *Encoder) beginForm(t Type, n int64, wide int) error {
	forms, err := e.begin(t)
	if err != nil {
		return err
	}
	form := &forms[wide&1]
	f := frame{content: form.content}
	if err := f.setDeclared(n, e.format); err != nil {
		return e.fail(err)
	}
	if e.limit-e.n >= 8 { // without the checks for pieces: -9 % of WritePacked
		le.PutUint64(e.buf[e.n:], uint64(form.header)|uint64(f.count)<<32)
		e.advance(8)
		e.open(&f)
		return nil
	}
	var b [8]byte
	return writeStart(e, &f, appendWords(b[:0], form.header, f.count), "", nil)
}

// End ends the innermost container, string or packed array begun by a Begin call or a
// Start token.
func (e *Encoder) End() error {
	// Where the fast path is on, an End writes no bytes. In an untyped container, End does not flush,
	// and the fast path may write the next values. -10 % of encode.
	stack, around := e.stack, (e.depth-1)&math.MaxInt // at the top level, a number above all lengths
	if e.remaining == 0 && around < len(stack) && stack[around].isUntyped() {
		switch {
		case len(e.fastValues) > 0: // an Array or Dictionary
			e.leave(&stack[around])
			return nil
		case len(e.fastNames) > 0: // a NodePath or PackedStringArray
			e.leave(&stack[around])
			e.setFast(len(e.fastNames), 0, 0)
			return nil
		}
	}
	if err := e.Err(); err != nil {
		return err
	}
	f := e.top()
	if e.remaining > 0 { // too early, or after any number of values of an Unknown count
		switch w := e.want(); {
		case w == wantTop:
			return e.fail(wrapf(ErrCall, "End without a matching Begin"))
		case w == wantKey || w == wantValue || w == wantField:
			return e.fail(wrapf(ErrMisplacedKey, "End after a key without a value"))
		case !f.has(flagUnknown):
			return e.fail(wrapf(ErrCount, "End after %d of the declared %d", e.done(), f.count))
		case e.rune.Len() > 0:
			return e.fail(wrapf(ErrUTF8, "End inside a rune"))
		case e.partial > 0:
			return e.fail(wrapf(ErrCount, "End inside an element"))
		}
	}
	return e.closeFrame(nil, f.nul())
}

// closeFrame closes the innermost frame, for a string after writing text, nul NULs and
// padding. Whatever can be an error of the call is checked before anything is changed.
func (e *Encoder) closeFrame(text []byte, nul uint32) error {
	f := e.top()
	// The End of most values takes no bytes and sets no count: -9 % of WritePacked.
	if f.kind == KindStringChunk || f.unit == wire.Byte || f.has(flagUnknown) {
		n := e.done() + int64(len(text))
		if n > f.maxCount(e.format) {
			return e.fail(wrapf(ErrRange, "count of %d is out of range", n))
		}
		tail := 0
		switch {
		case f.kind == KindStringChunk:
			n += int64(nul)
			tail = int(nul) + wire.Padding(uint32(n))
		case f.unit == wire.Byte:
			tail = wire.Padding(uint32(n))
		}
		if f.has(flagUnknown) {
			// Checked before setCount, because an invalid call changes nothing. setCount is first, so
			// that the bytes need not be kept any longer and can make room for the tail.
			if err := e.checkKept(int64(len(text) + tail)); err != nil {
				return e.fail(err)
			}
			e.setCount(uint32(n))
		}
		if err := appendPieces(&e.sink, nil, text, wire.Zeros(tail)); err != nil {
			return e.fail(err)
		}
	}
	e.pop()
	e.updateFastPath()
	return e.endValues(0) // push counted the value
}

// BeginArray begins an Array of n elements; n can be [Unknown]. Write the elements, then
// call End.
//
// An Array of Unknown count, such as the rows of a database cursor, is kept in memory from its count to its End, with
// everything inside. A call that would make the Array longer than [EncoderOptions].MaxBuffered, by default 8 MiB,
// returns a [LimitError]. Bytes before the Array are written as usual. To write more rows than fit into memory, count
// them first. The same applies to every container, string and packed array of Unknown count.
func (e *Encoder) BeginArray(n int) error { return e.beginCounted(TypeArray, int64(n)) }

// BeginTypedArray begins an Array of n elements with declared type elem; n can be [Unknown].
// Elements of other types are [ErrType].
func (e *Encoder) BeginTypedArray(n int, elem Elem) error {
	return e.beginTyped(KindArrayStart, TypeArray, int64(n), elem, Elem{})
}

// BeginDict begins a Dictionary of n pairs; n can be [Unknown]. Write the key and the value
// of each pair, then call End.
func (e *Encoder) BeginDict(n int) error { return e.beginCounted(TypeDictionary, int64(n)) }

// BeginTypedDict begins a Dictionary of n pairs with declared types key and value; n can be
// [Unknown]. Keys of other types are [ErrType]. Values are not checked, as in engines.
func (e *Encoder) BeginTypedDict(n int, key, value Elem) error {
	return e.beginTyped(KindDictStart, TypeDictionary, int64(n), key, value)
}

// containerHead is the largest size of a header and declared types without an
// allocation.
const containerHead = 128

// beginTyped begins an Array or Dictionary with declared types of elements, or of keys and values.
// The types are checked before the position of the call, since no position makes them valid.
func (e *Encoder) beginTyped(kind Kind, t Type, n int64, elems ...Elem) error {
	if err := e.Err(); err != nil {
		return err
	}
	flags := uint32(0) // two bits with the containerKind of each
	var b [containerHead]byte
	head := b[:4] // for the header, found by begin
	for i, elem := range elems {
		switch name := elem.String(); {
		case elem.kind() == containerBuiltin && (elem.Type == TypeNil || !e.format.has(elem.Type)):
			// Type id 0 declares nothing, so there are no arrays of nil.
			return e.fail(wrapf(ErrType, "%v has no containers of %v", e.format, elem.Type))
		case len(name) > maxName/2: // so that the size of two fits an int of 32 bits
			return e.fail(wrapf(ErrRange, "name of %d bytes is too long", len(name)))
		default:
			if err := checkText(e, name); err != nil {
				return err
			}
		}
		flags |= uint32(elem.kind()) << (2 * i)
		head = appendElem(head, elem)
	}
	// Only the first: the values of a Dictionary are not checked, as in engines.
	return e.beginContainer(n, flags, head, frame{content: content{kind: kind, typ: t, elem: elems[0].typ()}})
}

// beginContainer begins an Array or Dictionary. flags are bits 16 to 31 of the header. head
// starts with four bytes for the header, and then the declared types. beginContainer fills in and
// copies this memory of the caller.
func (e *Encoder) beginContainer(n int64, flags uint32, head []byte, f frame) error {
	forms, err := e.begin(f.typ)
	if err != nil {
		return err
	}
	if flags&^uint32(forms[0].headerFlags) != 0 {
		return e.fail(wrapf(ErrType, "%v has no typed containers", e.format))
	}
	if err := f.setDeclared(n, e.format); err != nil {
		return e.fail(err)
	}
	// Only tokens have flagShared: a copy in the same format keeps bit 31.
	count := f.count
	if f.has(flagShared) && e.format.shared {
		count |= sharedBit
	}
	var tail [4]byte
	le.PutUint32(head, forms[0].header|flags<<16)
	le.PutUint32(tail[:], count)
	return writeStart(e, &f, head, "", tail[:])
}

// BeginObject begins a serialized object of n properties; n can be [Unknown]. Call
// WriteProperty and write the value of each property, then call End. A reader must allow
// objects. An object with an empty class is null, without properties.
func (e *Encoder) BeginObject(class string, n int) error { return beginObject(e, class, int64(n)) }

func beginObject[S string | []byte](e *Encoder, class S, count int64) error {
	forms, err := e.begin(TypeObject)
	if err != nil {
		return err
	}
	if forms[0].shape != shapeObject {
		return e.fail(wrapf(ErrType, "%v has no serialized objects", e.format))
	}
	f := frame{content: forms[0].content}
	if len(class) == 0 && count != 0 { // nor is Unknown allowed: null is written without a count
		return e.fail(wrapf(ErrCount, "properties of an object without a class"))
	}
	if err := f.setDeclared(count, e.format); err != nil {
		return e.fail(err)
	}
	if err := checkName(e, class); err != nil {
		return err
	}
	var b, end [8]byte
	tail := end[:wire.Padding(uint32(len(class)))]
	if len(class) > 0 { // null ends with its empty name
		tail = le.AppendUint32(tail, f.count)
	}
	return writeStart(e, &f, appendWords(b[:0], forms[0].header, uint32(len(class))), class, tail)
}

// WriteProperty writes the name of the next property of an object. Write its value next.
func (e *Encoder) WriteProperty(name string) error { return writeProperty(e, name) }

func writeProperty[S string | []byte](e *Encoder, name S) error {
	if err := e.Err(); err != nil {
		return err
	}
	if e.want() != wantProperty {
		return e.fail(e.unexpected(KindProperty))
	}
	if err := checkName(e, name); err != nil {
		return err
	}
	var b [4]byte
	return writeValue(e, appendWords(b[:0], uint32(len(name))), name, wire.Zeros(wire.Padding(uint32(len(name)))))
}

// BeginString begins a String or StringName, or the next string of a NodePath or
// PackedStringArray, with n bytes of text; n can be [Unknown]. Write the text with Write,
// then call End.
func (e *Encoder) BeginString(t Type, n int64) error { return writeTextSlow(e, t, n, "", false) }

// BeginNodePath begins a NodePath with the given numbers of names and sub-names. Write each
// with WriteString, then call End.
func (e *Encoder) BeginNodePath(names, subnames int, absolute bool) error {
	return e.beginNodePath(int64(names), int64(subnames), tokenFlags(bit(absolute))*flagAbsolute)
}

func (e *Encoder) beginNodePath(names, subnames int64, flags tokenFlags) error {
	stack, depth := e.stack, e.depth&math.MaxInt
	// The last test also fails for negative numbers. The sum of admitted numbers is a valid count.
	if e.fast(fastSize) && depth <= len(stack)-2 && flags&^flagAbsolute == 0 && uint64(names|subnames) <= math.MaxInt32/2 {
		form, b := &e.forms[TypeNodePath][0], e.free()
		putNodePath(b[:], form.header, uint32(names), uint32(subnames), uint32(flags/flagAbsolute)*nodePathAbsolute)
		e.advance(fastSize)
		frames := (*[2]frame)(stack[depth:])
		frames[1].init(&form.content, uint32(names+subnames))
		frames[1].setNames(uint32(names), flags)
		e.enter(&frames[0], 0, uint64(names+subnames))
		e.setFast(0, len(e.fastValues), 0)
		return nil
	}
	forms, err := e.begin(TypeNodePath)
	if err != nil {
		return err
	}
	format := e.format
	f := frame{content: forms[0].content, names: uint32(names), count: uint32(names + subnames)}
	f.flags = flags
	// Bit 31 of the number of names selects the form.
	if names < 0 || names > math.MaxInt32 || subnames < 0 || subnames > f.maxCount(format)-names {
		return e.fail(wrapf(ErrRange, "NodePath of %d names and %d sub-names", names, subnames))
	}
	// Where the format does not keep bit 1, its sub-name is counted with the others.
	bits := uint32(flags&flagAbsolute/flagAbsolute) * nodePathAbsolute
	if flags&flagProperty != 0 && format.keepProperty && subnames > 0 {
		bits |= nodePathProperty
		subnames-- // the bit counts the last sub-name
	}
	var head [16]byte
	putNodePath(head[:], forms[0].header, uint32(names), uint32(subnames), bits)
	if flags&flagOldNodePath == 0 {
		return writeStart(e, &f, head[:], "", nil)
	}
	// The path before Godot 3 is a single name: its string follows the header.
	if !format.oldNodePath {
		return e.fail(wrapf(ErrType, "%v has no NodePath of one string", format))
	}
	return writeStart(e, &f, head[:4], "", nil)
}

// BeginPacked begins a packed array of type t with n elements; n can be [Unknown]. Write
// numbers, vectors and colors with WritePacked or Write, and the strings of a
// PackedStringArray with WriteString, then call End.
func (e *Encoder) BeginPacked(t Type, n int64) error {
	if t == TypePackedStringArray {
		return e.beginCounted(t, n)
	}
	if layouts[t].shape == shapePacked {
		return e.beginForm(t, n, e.double)
	}
	if _, err := e.begin(t); err != nil { // before the type, as for all values
		return err
	}
	return e.fail(wrapf(ErrCall, "%v is not a packed array type", t))
}

// writePacked writes a packed array of count elements of a unit, encoded in data, or returns false if the slow path
// must: -22 % of map[string][]int64.
func (e *Encoder) writePacked(t Type, u wire.Unit, count int, data []byte) bool {
	form := &e.forms[t&63][e.double&1]
	if form.shape != shapePacked || form.unit != u || !e.fast(fastSize+len(data)) {
		return false
	}
	b := e.fastValues[e.n&math.MaxInt:]
	le.PutUint64(b, uint64(form.header)|uint64(count)<<32)
	le.PutUint32(b[8+len(data)&^3:], 0) // the padding, before the data overwrites a part of it
	copy(b[8:], data)
	e.put(8 + int(wire.Padded(uint32(len(data)))))
	return true
}

// BeginImage begins an Image of Godot 2 with n bytes of data; n can be [Unknown]. Write the
// data with Write, then call End.
func (e *Encoder) BeginImage(format, mipmaps, width, height uint32, n int64) error {
	forms, err := e.begin(TypeImage)
	if err != nil {
		return err
	}
	f := frame{content: forms[0].content}
	if err := f.setDeclared(n, e.format); err != nil {
		return e.fail(err)
	}
	var b [24]byte
	return writeStart(e, &f, appendWords(b[:0], forms[0].header, format, mipmaps, width, height, f.count), "", nil)
}

// Write writes bytes of the string, packed array or image begun by BeginString,
// BeginPacked or BeginImage. Runes and elements can be split between calls. With an error
// of the Writer, Write returns the number of bytes of p written or buffered.
func (e *Encoder) Write(p []byte) (int, error) {
	if err := e.Err(); err != nil {
		return 0, err
	}
	f := e.top()
	switch w := e.want(); {
	case w == wantEnd && (f.kind == KindStringChunk || f.size > 0): // all declared elements or bytes are written
		if len(p) == 0 {
			return 0, nil
		}
		return 0, e.fail(wrapf(ErrCount, "%d bytes after the declared %d × %d", len(p), f.count, max(f.size, 1)))
	case w != wantText && w != wantChunk:
		return 0, e.fail(e.unexpected("Write"))
	}
	// The bytes of an incomplete element or rune at the end of p are also written, but only whole
	// elements are counted.
	n, part, r := uint64(len(p)), 0, e.rune
	if size := int(f.size); size > 0 {
		part = (e.partial + len(p)) % size
		n = uint64((e.partial + len(p)) / size)
		if n > e.remaining || n == e.remaining && part > 0 {
			return 0, e.fail(wrapf(ErrCount, "%d bytes after %d of the declared %d elements", len(p), e.done(), f.count))
		}
	} else if n > e.remaining {
		return 0, e.fail(wrapf(ErrCount, "%d bytes after %d of the declared %d", len(p), e.done(), f.count))
	} else if !e.options.AllowInvalidUTF8 {
		// A rune may be split at the end of p, but not at the end of the string.
		var ok bool
		if r, ok = r.Next(p); !ok || r.Len() > 0 && n == e.remaining {
			return 0, e.fail(ErrUTF8)
		}
		if wire.ContainsNUL(p) {
			return 0, e.fail(errNUL)
		}
	}
	before := e.OutputOffset() // includes buffered bytes, so a flush does not change it
	if err := e.writeBytes(p, n); err != nil {
		return int(e.OutputOffset() - before), err
	}
	e.partial, e.rune = part, r
	return len(p), nil
}

// WritePacked writes elements of the packed array begun by BeginPacked. T must have the number
// of components of the elements. Floats are widened or rounded; a finite number that becomes
// infinite is [ErrRange]. Integers are only widened. Other conversions are [ErrCall].
func WritePacked[T Packable](e *Encoder, src []T) error {
	if err := e.Err(); err != nil {
		return err
	}
	f := e.top()
	if e.remaining == 0 && f.size > 0 && len(src) == 0 { // as in Write
		return nil
	}
	if f.kind != KindPackedStart || f.size == 0 || e.remaining == 0 {
		return e.fail(e.unexpected("WritePacked"))
	}
	u, n := wire.UnitOf[T]()
	if n != int(layouts[f.typ].n) || !u.ConvertsTo(f.unit) {
		return e.fail(wrapf(ErrCall, "got elements of %d × %v, want %d × %v", n, u, layouts[f.typ].n, f.unit))
	}
	if err := e.checkElements(len(src)); err != nil {
		return err
	}
	// The memory of src is its encoding on most machines, if no unit changes. The Writer can get
	// this memory without a copy, and must not keep it, as package io says.
	if p, ok := wire.AsBytes(src, u == f.unit); ok {
		return e.writeBytes(p, uint64(len(src)))
	}
	if u = f.unit; u == wire.Float32 && wire.AnyOverflows(src) { // all of src, before the first is written
		return e.fail(wrapf(ErrRange, "element does not fit 32 bits"))
	}
	return e.writeElements(len(src), func(b []byte, i, n int) { wire.Encode(b, src[i:i+n], u) })
}

// checkElements returns an error if n elements are more than the packed array still needs, or
// after Write left an element incomplete.
func (e *Encoder) checkElements(n int) error {
	if uint64(n) > e.remaining || e.partial > 0 {
		return e.fail(wrapf(ErrCount, "%d elements after %d of the declared %d", n, e.done(), e.top().count))
	}
	return nil
}

// writeElements writes n elements of packed data. encode puts m of them, from element i on, into b.
func (e *Encoder) writeElements(n int, encode func(b []byte, i, m int)) error {
	if err := e.appendElements(n, int(e.top().size), encode); err != nil {
		return e.fail(err)
	}
	e.follow()
	return e.endValues(uint64(n))
}

// A token may come from a Decoder of another format, or from input accepted only by a lenient Decoder.
// Each case below passes the values that this format can express to a typed call, so that both write
// the same and return the same errors, and checks only values impossible in typed calls.

// WriteToken writes a token in the format of e. The token comes from a Decoder of any
// format, or from a function such as [ArrayStart]. An int, float or component is widened or
// narrowed if the format knows only one width, or is [ErrRange] if its value would change. An
// RID gets the id 0, or loses its id.
//
// Parts accepted only by a lenient Decoder are written as engines write them: bools,
// padding, flags, bit 31 of a count in other formats than Godot 2, and surplus bytes of an
// InputEvent.
func (e *Encoder) WriteToken(t Token) error {
	switch k := t.Kind(); k {
	case KindNil, KindCallable, KindRID, KindFloat32:
		return e.writeWord(t.Type(), 4, t.bits)
	case KindBool:
		return e.WriteBool(t.Bool())
	case KindInt32: // extended, for a format where all ints have 64 bits
		return e.writeWord(TypeInt, 4, uint64(int32(t.bits)))
	case KindInt64, KindFloat64:
		return e.writeWord(t.Type(), 8, t.bits)
	case KindObjectID:
		return e.WriteObjectID(t.bits)
	case KindSignal:
		return writeSignal(e, t.Bytes(), t.bits)
	case KindStringChunk:
		// A whole string: the fast path is off inside strings. -8 % of copying texts token by token.
		if t.Last() && len(e.fastValues)+len(e.fastNames) > 0 {
			return writeText(e, t.Type(), t.Bytes())
		}
		return e.writeTextChunk(t)
	case KindNodePathStart:
		names, subnames, _ := t.NodePath()
		flags := t.flags() & (flagAbsolute | flagProperty | flagOldNodePath) // flagOffset is the token's
		return e.beginNodePath(names, subnames, flags)
	case KindObjectStart:
		return beginObject(e, t.Bytes(), t.declaredCount())
	case KindProperty:
		return writeProperty(e, t.Bytes())
	case KindArrayStart, KindDictStart:
		return e.writeContainerStart(t)
	case KindDictKey: // Typed calls do not need it: a key is allowed with or without it, but not after two.
		if e.Err() != nil || e.want() != wantDictKey {
			return e.fail(wrapf(ErrMisplacedKey, "DictKey where no key is expected"))
		}
		e.markKey()
		return nil
	case KindPackedStart: // of a Decoder, so the type is a packed array
		if t.Type() == TypePackedStringArray {
			return e.beginCounted(TypePackedStringArray, t.declaredCount())
		}
		return e.beginForm(t.Type(), t.declaredCount(), t.wide())
	case KindImageStart:
		f, m, w, h := t.Image()
		return e.BeginImage(f, m, w, h, t.declaredCount())
	case KindChunk:
		return e.writeDataChunk(t)
	case KindInputEvent:
		event, device := t.Event()
		return e.WriteInputEvent(event, device, t.Bytes())
	case KindEnd:
		return e.End()
	}
	if t.Components() == 0 {
		return e.fail(wrapf(ErrCall, "not a token"))
	}
	return e.writeMath(t)
}

// writeContainerStart writes an ArrayStart or DictStart, with zeros as padding in declared types,
// because a lenient Decoder accepts any padding.
func (e *Encoder) writeContainerStart(t Token) error {
	f := frame{content: content{kind: t.Kind(), typ: t.Type(), flags: t.flags() & flagShared}}
	if t.payloadLen() == 0 && f.flags == 0 { // no declared types, as most
		return e.beginCounted(f.typ, t.declaredCount())
	}
	var b [containerHead]byte
	head := append(b[:4], t.Bytes()...) // a copy, because the payload belongs to the Decoder
	declared := head[4:]
	for i, k := range [...]containerKind{t.elemKind(), t.valueKind()} {
		if k == containerUntyped {
			continue
		}
		typ, name, n := declaredElem(declared, k)
		if typ <= TypeNil {
			return e.fail(wrapf(ErrType, "container of an unknown type"))
		}
		if err := checkText(e, name); err != nil {
			return err
		}
		if i == 0 { // as in beginTyped
			f.elem = typ
		}
		clear(declared[n-wire.Padding(uint32(len(name))) : n])
		declared = declared[n:]
	}
	return e.beginContainer(t.declaredCount(), uint32(t.elemKind())|uint32(t.valueKind())<<2, head, f)
}

// writeMath writes a math type and converts its components to the width of the format.
func (e *Encoder) writeMath(t Token) error {
	form, b, err := e.beginMath(t.Type(), t.wide(), t.Components(), layouts[t.Type()].units[0])
	if err != nil {
		return err
	}
	if form.unit == t.unit() { // always, except between engines of single and double precision
		copy(b[4:], t.Bytes())
	} else if _, ok := wire.ConvertReals(b[4:4], t.Bytes(), t.unit(), form.unit); !ok {
		return e.fail(wrapf(ErrRange, "%s does not fit 32 bits", t.String()))
	}
	return e.writeBytes(b, 1)
}

// writeTextChunk writes the only, the first or a later chunk of a string. Len of chunks of a
// packed string includes a NUL that may be missing in the last chunk, see flagNUL: the Encoder
// declares the count without the NUL, and the last chunk shows whether the declared count is
// right.
func (e *Encoder) writeTextChunk(t Token) error {
	if err := e.Err(); err != nil {
		return err
	}
	text := t.Bytes()
	switch inside := e.top().kind == KindStringChunk; {
	case !inside && t.Last():
		return writeText(e, t.Type(), text)
	case !inside && t.has(flagNUL):
		return writeTextSlow(e, t.Type(), t.declaredCount()-1, text, false)
	case !inside:
		return writeTextSlow(e, t.Type(), t.declaredCount(), text, false)
	}
	f, remaining := e.top(), e.remaining
	nul := f.nul() // 1 if the Encoder adds a NUL
	if t.Last() && t.has(flagNUL) && uint64(len(text)) == remaining+1 {
		if nul == 0 {
			return e.fail(wrapf(ErrCount, "packed string without a NUL in %v", e.format))
		}
		remaining, nul = remaining+1, 0 // the counted NUL is missing
	}
	// The last chunk can be too short only in a string begun by BeginString with Unknown.
	if n := uint64(len(text)); n > remaining || t.Last() && n < remaining && !f.has(flagUnknown) {
		return e.fail(wrapf(ErrCount, "chunk of %d bytes where %d are left", n, remaining))
	}
	// Chunks have whole runes, but a Write before this call may have left a part of a rune.
	if e.rune.Len() > 0 {
		return e.fail(ErrUTF8)
	}
	if err := checkText(e, text); err != nil {
		return err
	}
	if t.Last() {
		return e.closeFrame(text, nul)
	}
	return e.writeBytes(text, uint64(len(text)))
}

// writeDataChunk writes a chunk of packed data and converts its elements to the width of the
// format, after checking all of them.
func (e *Encoder) writeDataChunk(t Token) error {
	p, from, n := t.Bytes(), t.unit(), int(t.Len())
	if err := e.Err(); err != nil {
		return err
	}
	if e.want() != wantChunk {
		return e.fail(e.unexpected(KindChunk))
	}
	// Arrays of integers have the same width in all formats, so only floats are converted.
	f, to := e.top(), e.top().unit
	if layouts[f.typ].n != layouts[t.Type()].n || from != to && (from < wire.Float32 || to < wire.Float32) {
		return e.fail(wrapf(ErrCall, "chunk of a %v in a %v", t.Type(), f.typ))
	}
	if err := e.checkElements(n); err != nil {
		return err
	}
	if from == to {
		return e.writeBytes(p, uint64(n))
	}
	if from == wire.Float64 {
		for b := p; len(b) > 0; b = b[8:] {
			if bits := le.Uint64(b); !wire.FitsFloat32(bits) {
				return e.fail(wrapf(ErrRange, "%v does not fit 32 bits", math.Float64frombits(bits)))
			}
		}
	}
	size := int(layouts[f.typ].n) * from.Size()
	return e.writeElements(n, func(b []byte, i, m int) {
		wire.ConvertReals(b[:0], p[i*size:(i+m)*size], from, to)
	})
}

// WriteRaw writes a value already encoded in the format of e, such as a value of another
// packet. WriteRaw first decodes the value without limits, as a lenient Decoder does. If
// value is not exactly one valid value, the error is an [Error] with offset and path inside
// value. A nil or empty value is [ErrCount]: the encoding of nil is four bytes.
func (e *Encoder) WriteRaw(value []byte) error {
	if err := e.Err(); err != nil {
		return err
	}
	if e.raw == nil {
		e.raw = new(Decoder)
	}
	// Without limits, because the value is in memory already, but with the Encoder's limit of depth.
	// The Decoder reads value in place, and Release drops the slice.
	d := e.raw
	d.setOptions(&DecoderOptions{
		Format: e.options.Format, AllowObjects: true, AllowInvalidUTF8: e.options.AllowInvalidUTF8, DoubleReals: e.options.DoubleReals,
		Limits:       NoLimits,
		wholePadding: true,
	})
	d.ResetBytes(value)
	defer d.Release()
	t, err := d.ReadToken()
	if err == io.EOF {
		return e.fail(wrapf(ErrCount, "empty raw value"))
	}
	if err != nil {
		return e.stop(err, false) // the Decoder's Error, with the offset and path inside value
	}
	if _, err := e.begin(t.Type()); err != nil {
		return err
	}
	for d.Depth() > 0 { // not SkipTo, because it does not know the depth around the value
		if d.Depth() > e.maxDepth-e.depth && d.want() <= lastValue { // before a value, as begin
			return e.fail(&LimitError{Name: limitTable[limitDepth].name, Got: int64(e.depth + d.Depth()), Max: int64(e.maxDepth)})
		}
		if _, err := d.readSlow(); err != nil {
			return e.stop(err, false)
		}
	}
	if n := len(value) - int(d.InputOffset()); n > 0 {
		return e.fail(wrapf(ErrCount, "%d bytes after the raw value", n))
	}
	return writeValue(e, nil, value, nil)
}
