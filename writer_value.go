package gdwire

import (
	"math"
	"strings"
	"unicode/utf8"
)

// WriteNil writes nil.
func (e *Encoder) WriteNil() error { return e.writeWord(TypeNil, 0, 0) }

// WriteBool writes a bool.
func (e *Encoder) WriteBool(v bool) error {
	if v {
		return e.writeWord(TypeBool, 0, 1)
	}
	return e.writeWord(TypeBool, 0, 0)
}

// WriteInt writes an int in as few bits as engines do. In a format that has no
// int of 64 bits a larger one is [ErrRange].
func (e *Encoder) WriteInt(v int64) error {
	if v == int64(int32(v)) {
		return e.WriteInt32(int32(v))
	}
	return e.WriteInt64(v)
}

// WriteInt32 writes an int in 32 bits, where the format has such.
func (e *Encoder) WriteInt32(v int32) error { return e.writeWord(TypeInt, 0, uint64(int64(v))) }

// WriteInt64 writes an int in 64 bits, or in 32 if the format has no more and v
// fits.
func (e *Encoder) WriteInt64(v int64) error { return e.writeWord(TypeInt, 1, uint64(v)) }

// WriteFloat writes a float in as few bits as engines do: 32 where that is the
// same number, and 64 for NaN. In a format that has no float of 64 bits a number
// that is none of 32 is [ErrRange].
func (e *Encoder) WriteFloat(v float64) error {
	if f := float32(v); float64(f) == v {
		return e.WriteFloat32(f)
	}
	return e.WriteFloat64(v)
}

// WriteFloat32 writes a float in 32 bits.
func (e *Encoder) WriteFloat32(v float32) error {
	return e.writeFloat(0, uint64(math.Float32bits(v)), unitFloat32)
}

// WriteFloat64 writes a float in 64 bits, or in 32 if the format has no more and
// v is the same in these.
func (e *Encoder) WriteFloat64(v float64) error {
	return e.writeFloat(1, math.Float64bits(v), unitFloat64)
}

// WriteRID writes an RID. Formats before Godot 4 have nowhere to put the id.
func (e *Encoder) WriteRID(id uint64) error { return e.writeWord(TypeRID, 0, id) }

// WriteObjectID writes an object as its instance id; 0 is null. A format without
// ids has null alone: any other is [ErrRange].
func (e *Encoder) WriteObjectID(id uint64) error { return e.writeWord(TypeObject, 1, id) }

// WriteCallable writes an empty Callable; engines read nothing else.
func (e *Encoder) WriteCallable() error { return e.writeWord(TypeCallable, 0, 0) }

// writeFloat writes the bits of a float, which are u.
func (e *Encoder) writeFloat(wide int, bits uint64, u unit) error {
	row, err := e.begin(TypeFloat)
	if err != nil {
		return err
	}
	switch to := row.forms[wide].unit; {
	case to == u:
	case to == unitFloat64:
		bits = widenFloat(uint32(bits))
	default:
		narrow, ok := narrowFloat(bits)
		if !ok {
			return e.fail(because(ErrRange, "float %v in 32 bits", math.Float64frombits(bits)))
		}
		bits = uint64(narrow)
	}
	return e.putWord(row, wide, bits)
}

// writeWord writes a value of at most 64 bits that the table knows the size of.
func (e *Encoder) writeWord(t Type, wide int, bits uint64) error {
	row, err := e.begin(t)
	if err != nil {
		return err
	}
	switch size := row.forms[wide].size; {
	case size == 4 && t == TypeInt && int64(bits) != int64(int32(bits)):
		return e.fail(because(ErrRange, "int %d in 32 bits", int64(bits)))
	case size == 0 && t == TypeObject && bits != 0:
		return e.fail(because(ErrRange, "object id, and %v has none", e.options.Format))
	}
	return e.putWord(row, wide, bits)
}

func (e *Encoder) putWord(row *row, wide int, bits uint64) error {
	size := int(row.forms[wide].size)
	b, err := e.room(12)
	if err != nil {
		return err
	}
	le.PutUint32(b, row.header(wide))
	le.PutUint64(b[4:], bits)
	return e.value(4 + size)
}

// value takes the n bytes of a value.
func (e *Encoder) value(n int) error {
	if err := e.commit(n, e.final()); err != nil {
		return err
	}
	e.came()
	return nil
}

// realWidth is the form that WriteReals and BeginPacked choose.
func (e *Encoder) realWidth(row *row) int {
	if e.options.DoubleReals && row.flags&wideFlag != 0 && layouts[row.typ].class == classReal {
		return 1
	}
	return 0
}

// WriteReals writes a maths type from its components in wire order, such as the
// three rows of a Basis. They are rounded to 32 bits, as in an engine, where
// the wire has no more ([EncoderOptions].DoubleReals); one too large for that is
// [ErrRange].
func (e *Encoder) WriteReals(t Type, c ...float64) error {
	row, form, err := e.beginMaths(t, len(c), unitFloat32)
	if err != nil {
		return err
	}
	wide := form.unit == unitFloat64
	b, err := e.room(4 + int(form.size))
	if err != nil {
		return err
	}
	le.PutUint32(b, row.header(e.realWidth(row)))
	for i, x := range c {
		switch {
		case wide:
			le.PutUint64(b[4+8*i:], math.Float64bits(x))
		case overflows(x):
			return e.fail(because(ErrRange, "%v in 32 bits", x))
		default:
			le.PutUint32(b[4+4*i:], math.Float32bits(float32(x)))
		}
	}
	return e.value(4 + int(form.size))
}

// WriteInts writes an integer vector or Rect2i from its components.
func (e *Encoder) WriteInts(t Type, c ...int32) error {
	row, form, err := e.beginMaths(t, len(c), unitInt32)
	if err != nil {
		return err
	}
	b, err := e.room(4 + int(form.size))
	if err != nil {
		return err
	}
	le.PutUint32(b, row.header(0))
	for i, x := range c {
		le.PutUint32(b[4+4*i:], uint32(x))
	}
	return e.value(4 + int(form.size))
}

// beginMaths is begin for a maths type of n components that are u or wider.
func (e *Encoder) beginMaths(t Type, n int, u unit) (*row, *form, error) {
	row, err := e.begin(t)
	if err != nil {
		return nil, nil, err
	}
	if l := &layouts[t]; !l.maths() || l.units[0] != u {
		return nil, nil, e.fail(because(ErrType, "%v has no such components", t))
	} else if n != int(l.n) {
		return nil, nil, e.fail(because(ErrCount, "%d components, and %v has %d", n, t, l.n))
	}
	return row, &row.forms[e.realWidth(row)], nil
}

// WriteString writes a String, or the next name of a NodePath or string of a
// PackedStringArray if such is open. A leading U+FEFF and everything from a NUL
// on does not survive in the engines.
func (e *Encoder) WriteString(s string) error { return writeText(e, TypeString, s) }

// WriteStringName writes a StringName.
func (e *Encoder) WriteStringName(s string) error { return writeText(e, TypeStringName, s) }

// writeText writes a whole string.
func writeText[S string | []byte](e *Encoder, t Type, s S) error {
	head, nul, err := e.beginText(t)
	if err != nil {
		return err
	}
	if int64(len(s)) > math.MaxInt32-1 {
		return e.fail(because(ErrRange, "string of %d bytes", len(s)))
	}
	if !e.options.AnyUTF8 && !valid(s) {
		return e.fail(ErrUTF8)
	}
	n := uint32(len(s)) + nul
	tail := int(nul) + padding(n)
	total := head.size() + len(s) + tail
	if total > len(e.buf) && e.held == 0 {
		if err := emitLong(e, e.textHead(head, n), s, tail, e.final()); err != nil {
			return err
		}
		e.came()
		return nil
	}
	b, err := e.room(total)
	if err != nil {
		return err
	}
	le.PutUint32(b[total-4:], 0) // the padding, if there is some
	copy(b[head.put(b, n):], s)
	return e.value(total)
}

// A textHead is what stands in front of a string: a header, but for names and
// packed strings, and the length.
type textHead struct {
	header uint32
	bare   bool // no header
}

func (h textHead) size() int {
	if h.bare {
		return 4
	}
	return 8
}

// put puts the head of a string of n bytes into b.
func (h textHead) put(b []byte, n uint32) int {
	if h.bare {
		le.PutUint32(b, n)
		return 4
	}
	le.PutUint64(b, uint64(h.header)|uint64(n)<<32)
	return 8
}

// textHead returns the head of a string of n bytes, in memory of e's own.
func (e *Encoder) textHead(h textHead, n uint32) []byte {
	return e.scratch[:h.put(e.scratch[:], n)]
}

// beginText asks whether a string may come next and returns its head, and how
// many NULs it ends in.
func (e *Encoder) beginText(t Type) (head textHead, nul uint32, err error) {
	if e.current().want == wantName {
		if e.top.typ == TypePackedStringArray && e.options.Format.engine {
			nul = 1
		}
		return textHead{bare: true}, nul, nil
	}
	row, err := e.begin(t)
	if err != nil {
		return head, 0, err
	}
	if row.forms[0].shape != shapeText {
		return head, 0, e.fail(because(ErrType, "%v is no string", t))
	}
	return textHead{header: row.header(0)}, 0, nil
}

// WriteSignal writes a Signal: its name and the id of the object it belongs to.
func (e *Encoder) WriteSignal(name string, object uint64) error {
	return writeSignal(e, name, object)
}

func writeSignal[S string | []byte](e *Encoder, name S, object uint64) error {
	row, err := e.begin(TypeSignal)
	if err != nil {
		return err
	}
	b, n, err := putName(e, row.header(0), name, 8)
	if err != nil {
		return err
	}
	le.PutUint64(b[n:], object)
	return e.value(n + 8)
}

// putName makes room for header, a name and rest more bytes, and puts the first
// two there, n bytes.
func putName[S string | []byte](e *Encoder, header uint32, name S, rest int) (b []byte, n int, err error) {
	b, err = checkName(e, name, 8+rest)
	if err != nil {
		return nil, 0, err
	}
	le.PutUint32(b, header)
	return b, 4 + nameInto(b[4:], name), nil
}

// checkName makes room for a name and rest more bytes.
func checkName[S string | []byte](e *Encoder, name S, rest int) ([]byte, error) {
	if len(name) > maxName {
		return nil, e.fail(because(ErrRange, "name of %d bytes", len(name)))
	}
	if !e.options.AnyUTF8 && !valid(name) {
		return nil, e.fail(ErrUTF8)
	}
	return e.room(rest + len(name) + padding(uint32(len(name))))
}

// nameInto puts length, text and padding into b and returns how many bytes.
func nameInto[S string | []byte](b []byte, name S) int {
	le.PutUint32(b, uint32(len(name)))
	n := 4 + copy(b[4:], name)
	return n + copy(b[n:], zeros[:padding(uint32(len(name)))])
}

// WriteNodePath writes a path as engines write it, "/root/Player:position:x".
// Empty names between slashes and colons are left out, as engines do.
func (e *Encoder) WriteNodePath(path string) error {
	row, err := e.begin(TypeNodePath)
	if err != nil {
		return err
	}
	names, subnames, _ := strings.Cut(path, ":")
	bits := uint32(0)
	if strings.HasPrefix(names, "/") {
		bits = pathAbsolute
	}
	b, err := checkName(e, path, 16+8*len(path)) // at worst one name a byte
	if err != nil {
		return err
	}
	n, counts := 16, [2]uint32{}
	for i, part := range [...]string{names, subnames} {
		for name := range strings.SplitSeq(part, "/:"[i:i+1]) {
			if name != "" {
				n += nameInto(b[n:], name)
				counts[i]++
			}
		}
	}
	le.PutUint32(b, row.header(0))
	le.PutUint32(b[4:], counts[0]|newPathBit)
	le.PutUint32(b[8:], counts[1])
	le.PutUint32(b[12:], bits)
	return e.value(n)
}

// BeginNodePath begins a NodePath of so many names and sub-names. They follow as
// by WriteString, then End.
func (e *Encoder) BeginNodePath(names, subnames int, absolute bool) error {
	if names < 0 || subnames < 0 {
		return e.fail(because(ErrRange, "NodePath of %d and %d names", names, subnames))
	}
	flags := tokenFlags(0)
	if absolute {
		flags = flagAbsolute
	}
	return e.beginNodePath(int64(names), int64(subnames), flags)
}

func (e *Encoder) beginNodePath(names, subnames int64, flags tokenFlags) error {
	row, err := e.begin(TypeNodePath)
	if err != nil {
		return err
	}
	format := e.options.Format
	f := frame{kind: KindNodePathStart, typ: TypeNodePath, names: uint32(names), flags: flags}
	if err := e.declare(names, &frame{kind: KindNodePathStart}); err != nil {
		return err
	}
	if err := e.declare(names+subnames, &f); err != nil {
		return err
	}
	var head [16]byte
	n, bits := 16, uint32(0)
	if flags&flagAbsolute != 0 {
		bits |= pathAbsolute
	}
	if flags&flagProperty != 0 && format.keepProperty && subnames > 0 {
		bits |= pathProperty
		subnames--
	}
	if flags&flagOldPath != 0 {
		if !format.oldPath {
			return e.fail(because(ErrType, "NodePath as one string, and %v has none", format))
		}
		n = 4 // the string's length follows
	}
	le.PutUint32(head[:], row.header(0))
	le.PutUint32(head[4:], uint32(names)|newPathBit)
	le.PutUint32(head[8:], uint32(subnames))
	le.PutUint32(head[12:], bits)
	return e.start(head[:n], f)
}

// start takes the head of what f is and opens it. An Unknown count is the head's
// last four bytes.
func (e *Encoder) start(head []byte, f frame) error {
	b, err := e.room(len(head))
	if err != nil {
		return err
	}
	if err := e.commit(copy(b, head), false); err != nil {
		return err
	}
	e.open(&f, 0)
	return nil
}

// BeginArray begins an Array of n elements, or [Unknown].
func (e *Encoder) BeginArray(n int) error { return e.BeginTypedArray(n, Elem{}) }

// BeginTypedArray begins an Array whose elements are declared to be elem; others
// are refused.
func (e *Encoder) BeginTypedArray(n int, elem Elem) error {
	return e.beginContainer(KindArrayStart, TypeArray, int64(n), elem, Elem{})
}

// BeginDict begins a Dictionary of n pairs, or [Unknown]. Each is two values:
// key, value.
func (e *Encoder) BeginDict(n int) error { return e.BeginTypedDict(n, Elem{}, Elem{}) }

// BeginTypedDict begins a Dictionary whose keys and values are declared to be
// key and value. Other keys are refused; values engines do not check.
func (e *Encoder) BeginTypedDict(n int, key, value Elem) error {
	return e.beginContainer(KindDictStart, TypeDictionary, int64(n), key, value)
}

func (e *Encoder) beginContainer(kind Kind, t Type, n int64, elems ...Elem) error {
	if e.released() {
		return ErrReleased
	}
	flags := uint32(0)
	for i, elem := range elems {
		if err := e.checkElem(elem); err != nil {
			return err
		}
		flags |= uint32(elem.kind()) << (2 * i)
	}
	f := frame{kind: kind, typ: t, elem: elems[0].typ()}
	if flags == 0 {
		return e.putContainer(n, 0, nil, f)
	}
	var b [128]byte
	declared := b[:0]
	for _, elem := range elems {
		declared = appendElem(declared, elem)
	}
	return e.putContainer(n, flags, declared, f)
}

// checkElem asks whether the format can declare elem.
func (e *Encoder) checkElem(elem Elem) error {
	switch k := elem.kind(); {
	case k == containerUntyped:
		return nil
	case !e.options.Format.typed:
		return e.fail(because(ErrType, "%v has no typed containers", e.options.Format))
	case k == containerBuiltin && (elem.Type == TypeNil || !e.options.Format.Has(elem.Type)):
		return e.fail(because(ErrType, "container of %v", elem.Type))
	case len(elem.String()) > maxName:
		return e.fail(because(ErrRange, "name of %d bytes", len(elem.String())))
	case !e.options.AnyUTF8 && !valid(elem.String()):
		return e.fail(ErrUTF8)
	}
	return nil
}

// putContainer begins an Array or Dictionary with these declarations in bits 16
// and up of its header and behind it.
func (e *Encoder) putContainer(n int64, flags uint32, declared []byte, f frame) error {
	row, err := e.begin(f.typ)
	if err != nil {
		return err
	}
	if flags&^uint32(row.flags) != 0 {
		return e.fail(because(ErrType, "%v has no typed containers", e.options.Format))
	}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	b, err := e.room(8 + len(declared))
	if err != nil {
		return err
	}
	le.PutUint32(b, row.header(0)|flags<<16)
	count := f.count
	if f.has(flagShared) && e.options.Format.shared {
		count |= sharedBit
	}
	at := 4 + copy(b[4:], declared)
	le.PutUint32(b[at:], count)
	if err := e.commit(at+4, false); err != nil {
		return err
	}
	e.open(&f, 0)
	return nil
}

// BeginObject begins an object in full, of n properties or [Unknown]: for each
// WriteProperty and its value, then End. Whoever reads it has to allow objects.
// An empty class is null, and has no properties.
func (e *Encoder) BeginObject(class string, n int) error { return beginObject(e, class, int64(n)) }

func beginObject[S string | []byte](e *Encoder, class S, count int64) error {
	row, err := e.begin(TypeObject)
	if err != nil {
		return err
	}
	if !e.options.Format.ids {
		return e.fail(because(ErrType, "%v has no objects in full", e.options.Format))
	}
	f := frame{kind: KindObjectStart, typ: TypeObject}
	if len(class) == 0 && count != 0 {
		return e.fail(because(ErrCount, "properties of an object without a class"))
	}
	if err := e.declare(count, &f); err != nil {
		return err
	}
	b, n, err := putName(e, row.header(0), class, 4)
	if err != nil {
		return err
	}
	if len(class) > 0 {
		le.PutUint32(b[n:], f.count)
		n += 4
	}
	if err := e.commit(n, false); err != nil {
		return err
	}
	e.open(&f, 0)
	return nil
}

// WriteProperty writes the name of an object's next property; its value follows.
func (e *Encoder) WriteProperty(name string) error { return writeProperty(e, name) }

func writeProperty[S string | []byte](e *Encoder, name S) error {
	if e.current().want != wantProperty {
		return e.misplaced(KindProperty)
	}
	b, err := checkName(e, name, 4)
	if err != nil {
		return err
	}
	if err := e.commit(nameInto(b, name), false); err != nil {
		return err
	}
	e.step()
	return nil
}

// BeginString begins a String or StringName, or the next string of what is open,
// of n bytes or [Unknown]. Write gives its text, in any pieces, then End.
func (e *Encoder) BeginString(t Type, n int64) error {
	head, nul, err := e.beginText(t)
	if err != nil {
		return err
	}
	f := frame{kind: KindStringChunk, typ: t, names: nul}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	return e.start(e.textHead(head, f.count+nul), f)
}

// BeginPacked begins a packed array of n elements or [Unknown]. Of numbers,
// vectors and colours the elements follow by WritePacked or Write, of a
// PackedStringArray by WriteString, then End.
func (e *Encoder) BeginPacked(t Type, n int64) error { return e.beginPacked(t, n, -1) }

// beginPacked: a wide of -1 lets the options choose.
func (e *Encoder) beginPacked(t Type, n int64, wide int) error {
	row, err := e.begin(t)
	if err != nil {
		return err
	}
	form := &row.forms[0]
	if form.shape != shapePacked && form.shape != shapePackedStrings {
		return e.fail(because(ErrType, "%v is no packed array", t))
	}
	if wide < 0 {
		wide = e.realWidth(row)
	}
	form = &row.forms[wide]
	f := frame{kind: KindPackedStart, typ: t, unit: form.unit, size: form.size}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	var head [8]byte
	le.PutUint32(head[:], row.header(wide))
	le.PutUint32(head[4:], f.count)
	return e.start(head[:], f)
}

// BeginImage begins an Image of Godot 2 whose data are n bytes: by Write, then
// End.
func (e *Encoder) BeginImage(format, mipmaps, width, height uint32, n int64) error {
	row, err := e.begin(TypeImage)
	if err != nil {
		return err
	}
	f := frame{kind: KindImageStart, typ: TypeImage, unit: unitByte, size: 1}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	var head [24]byte
	for i, v := range [...]uint32{row.header(0), format, mipmaps, width, height, f.count} {
		le.PutUint32(head[4*i:], v)
	}
	return e.start(head[:], f)
}

// WriteInputEvent writes an InputEvent of Godot 2. What its type has behind the
// device is in data; more than that is left out, less is [ErrRange].
func (e *Encoder) WriteInputEvent(event, device uint32, data []byte) error {
	row, err := e.begin(TypeInputEvent)
	if err != nil {
		return err
	}
	n := eventSize(event, uint32(len(data)))
	if len(data) < n {
		return e.fail(because(ErrRange, "InputEvent of type %d with %d bytes", event, len(data)))
	}
	b, err := e.room(4 + eventHead + n)
	if err != nil {
		return err
	}
	for i, v := range [...]uint32{row.header(0), event, device, uint32(eventHead + n)} {
		le.PutUint32(b[4*i:], v)
	}
	copy(b[4+eventHead:], data[:n])
	return e.value(4 + eventHead + n)
}

// Write gives what BeginString, BeginPacked or BeginImage opened its bytes, in
// any pieces: a rune or element may go on in the next. Unlike other calls, one
// that the Writer interrupted says how much it took, and goes on behind that.
func (e *Encoder) Write(p []byte) (int, error) {
	f := e.current()
	switch {
	case e.redo.pending:
		return 0, e.fail(errInterrupted)
	case f.want == wantEnd && f.isData() && len(p) == 0:
		return 0, nil
	case f.want == wantEnd && f.isData():
		return 0, e.fail(because(ErrCount, "%d bytes after the %d × %d announced", len(p), f.count, max(f.size, 1)))
	case f.want != wantText && f.want != wantChunk:
		return 0, e.misplaced("Write")
	}
	if err := e.fits(p); err != nil {
		return 0, err
	}
	n := len(p)
	err := emit(e, nil, p, 0, false)
	if err != nil {
		n = 0
		if e.redo.pending {
			n = e.redo.taken
			e.redo.pending = false
		}
	}
	e.took(p[:n])
	return n, err
}

// isData reports whether Write may fill the frame.
func (f *frame) isData() bool { return f.kind == KindStringChunk || f.size > 0 }

// fits asks whether p may be the next bytes of a string or of packed data.
func (e *Encoder) fits(p []byte) error {
	f := e.top
	if f.want == wantChunk {
		if uint64(e.partial+len(p)) > uint64(f.left)*uint64(f.size) {
			return e.fail(because(ErrCount, "%d bytes after %d of %d elements", len(p), f.count-f.left, f.count))
		}
		return nil
	}
	if uint64(len(p)) > uint64(f.left) {
		return e.fail(because(ErrCount, "%d bytes after %d of %d", len(p), f.count-f.left, f.count))
	}
	if e.options.AnyUTF8 {
		return nil
	}
	text := p
	if e.partial > 0 {
		b := e.rune
		n := e.partial + copy(b[e.partial:], p)
		if !utf8.FullRune(b[:n]) {
			text = nil
		} else if r, size := utf8.DecodeRune(b[:n]); r == utf8.RuneError && size == 1 {
			return e.fail(ErrUTF8)
		} else {
			text = p[size-e.partial:]
		}
	}
	n := wholeRunes(text, len(text))
	split := n < len(text) || text == nil && len(p) > 0
	if !utf8.Valid(text[:n]) || split && len(p) == int(f.left) {
		return e.fail(ErrUTF8)
	}
	return nil
}

// took notes that p has become part of a string or of packed data.
func (e *Encoder) took(p []byte) {
	f := e.top
	switch {
	case f.want == wantChunk:
		n := e.partial + len(p)
		f.left -= uint32(n / int(f.size))
		e.partial = n % int(f.size)
	case e.options.AnyUTF8:
		f.left -= uint32(len(p))
	default:
		f.left -= uint32(len(p))
		var tail [2 * utf8.UTFMax]byte
		n := copy(tail[:], e.rune[:e.partial])
		n += copy(tail[n:], p[max(0, len(p)-utf8.UTFMax):])
		whole := wholeRunes(tail[:n], n)
		e.partial = copy(e.rune[:], tail[whole:n])
	}
	if f.left == 0 {
		f.want = wantEnd
	}
}

// WritePacked writes elements of the packed array that BeginPacked began. T has
// as many components as they. Reals are widened or rounded, but one that would
// become infinite is [ErrRange]; integers are only widened.
func WritePacked[T Packable](e *Encoder, src []T) error {
	f := e.current()
	if f.want == wantEnd && f.size > 0 && len(src) == 0 {
		return nil
	}
	if f.want != wantChunk || f.kind != KindPackedStart {
		return e.misplaced("WritePacked")
	}
	u, n := unitOf[T]()
	if n != int(layouts[f.typ].n) || !u.convertsTo(f.unit) {
		return e.fail(because(ErrType, "elements of %d × %v into a %v of %v", n, u, f.typ, f.unit))
	}
	if uint64(len(src)) > uint64(f.left) || e.partial > 0 {
		return e.fail(because(ErrCount, "%d elements after %d of %d", len(src), f.count-f.left, f.count))
	}
	if p, ok := asBytes(src, f.unit); ok {
		if err := emit(e, nil, p, 0, false); err != nil {
			return err
		}
	} else if err := convert(e, src); err != nil {
		return err
	}
	e.tookElements(len(src))
	return nil
}

func (e *Encoder) tookElements(n int) {
	f := e.top
	if f.left -= uint32(n); f.left == 0 {
		f.want = wantEnd
	}
}
