package gdwire

import "math"

// begin checks that a value of type t may be next and returns its forms.
func (e *Encoder) begin(t Type) (*[2]form, error) {
	if e.n <= e.valueLim && e.left > 0 {
		if forms := &e.forms[t&63]; forms[0].typ == t {
			return forms, nil
		}
	}
	if err := e.ready(); err != nil {
		return nil, err
	}
	if w := e.want(); w > lastValue && w != wantDictKey {
		return nil, e.misplaced(t)
	}
	if !e.options.Format.Has(t) {
		return nil, e.fail(wrapf(ErrType, "%v has no %v", e.options.Format, t))
	}
	if e.depth > e.maxDepth {
		return nil, e.fail(&LimitError{Name: limitTable[limitDepth].name, Got: int64(e.depth), Max: int64(e.maxDepth)})
	}
	if elem := e.declared(); elem != e.accepts && !e.admits(t) {
		return nil, e.fail(wrapf(ErrType, "%v in a container of %v", t, elem))
	}
	return &e.forms[t], nil
}

// misplaced returns the error of a call that is not allowed at the current position.
func (e *Encoder) misplaced(what any) error {
	if err := e.ready(); err != nil {
		return err
	}
	f := e.top()
	switch e.want() {
	case wantEnd:
		return e.fail(wrapf(ErrCount, "%v after the declared %d %s", what, f.count, f.holds()))
	case wantProperty:
		return e.fail(wrapf(ErrMisplacedKey, "%v where a property name is expected", what))
	case wantName:
		return e.fail(wrapf(ErrType, "%v where a string of a %v is expected", what, f.typ))
	case wantText, wantChunk:
		return e.fail(wrapf(ErrIncomplete, "%v inside a %v", what, f.typ))
	default:
		return e.fail(wrapf(ErrMisplacedKey, "%v where a value is expected", what))
	}
}

// beginFast opens an untyped container or packed array of n elements or pairs on the fast
// path. It returns nil if the slow path must handle it.
func (e *Encoder) beginFast(t Type, wide int, n int64) *frame {
	b := e.fast()
	if b == nil || uint64(n) > math.MaxInt32 {
		return nil
	}
	form := &e.forms[t&63][wide&1]
	le.PutUint32(b[:], form.header)
	le.PutUint32(b[4:], uint32(n))
	e.n += 8
	f := e.push(form.kind, t, uint32(n), 0)
	if e.depth > e.maxDepth {
		e.valueLim = -1 // as setFast
	}
	return f
}

// start writes the head b of a container, which room returned, and opens it with frame f. An
// Unknown count is the last four bytes of b.
func (e *Encoder) start(b []byte, f *frame) error {
	err := e.commit(b)
	if err == nil {
		e.open(f)
	}
	return err
}

// startLong is start for a head of several pieces.
func startLong[S string | []byte](e *Encoder, f *frame, head []byte, body S, tail []byte) error {
	err := emit(e, head, body, tail)
	if err == nil {
		e.open(f)
	}
	return err
}

// open pushes f. If its count is Unknown, the placeholder is the four bytes before e.n.
func (e *Encoder) open(f *frame) {
	top := e.push(f.kind, f.typ, f.count, 0)
	top.names, top.elem, top.unit, top.size, top.flags = f.names, f.elem, f.unit, f.size, f.flags
	if !f.has(flagUnknown) {
		e.setFast()
		return
	}
	e.countUnknown()
	e.counts = append(e.counts, e.n-4)
	if e.held++; e.held == 1 {
		e.hold = e.n - 4
	}
	e.setLim()
}

// declare sets the count of f to n, or returns an error if n is out of range. Engines read
// counts as int32.
func (e *Encoder) declare(n int64, f *frame) error {
	if n == Unknown {
		f.flags |= flagUnknown
		return nil
	}
	if n < 0 || n > e.maxCount(f) {
		return e.fail(wrapf(ErrRange, "count of %d is out of range", n))
	}
	f.count = uint32(n)
	return nil
}

// maxCount returns the largest count of f.
func (e *Encoder) maxCount(f *frame) int64 {
	most := int64(math.MaxInt32)
	if !e.options.Format.engine && f.kind != KindArrayStart && f.kind != KindDictStart {
		most = math.MaxUint32
	}
	if f.kind == KindStringChunk {
		most -= int64(f.names)
	}
	return most
}

// End ends the innermost container, string or packed array that a Begin call or a Start
// token has begun.
func (e *Encoder) End() error {
	if e.left == 0 && e.depth > 1 && (e.valueLim >= 0 || e.nameLim >= 0) { // End has no bytes.
		e.pop()
		f := &e.stack[e.depth]
		if f.elem != 0 || f.kind != KindArrayStart && f.kind != KindDictStart {
			e.setFast()
		} else if e.valueLim < 0 {
			e.valueLim, e.nameLim, e.nameNUL = e.nameLim, -1, 0 // as setFast
		}
		return nil
	}
	if err := e.ready(); err != nil {
		return err
	}
	f := e.frame(e.depth)
	switch w := e.want(); {
	case w == wantTop:
		return e.fail(wrapf(ErrIncomplete, "End without a matching Begin"))
	case w == wantKey || w == wantValue || w == wantField:
		return e.fail(wrapf(ErrMisplacedKey, "End after a key without a value"))
	case w != wantEnd && !f.has(flagUnknown):
		return e.fail(wrapf(ErrCount, "End after %d of the declared %d", e.done(), f.count))
	case e.partial > 0 && f.kind == KindStringChunk:
		return e.fail(wrapf(ErrUTF8, "End inside a rune"))
	case e.partial > 0:
		return e.fail(wrapf(ErrCount, "End inside an element"))
	}
	return e.finish(nil, f.names)
}

// done returns the number of elements, pairs, names or bytes of the innermost frame that
// have been written.
func (e *Encoder) done() int64 { return e.frame(e.depth).done() >> e.pairs }

// finish closes the innermost frame. For a string it first writes text, nul NULs and
// padding.
func (e *Encoder) finish(text []byte, nul uint32) error {
	f, n := e.top(), e.done()+int64(len(text))
	if n > e.maxCount(f) {
		return e.fail(wrapf(ErrRange, "count of %d is out of range", n))
	}
	tail := 0
	switch {
	case f.kind == KindStringChunk:
		n += int64(nul)
		tail = int(nul) + padding(uint32(n))
	case f.unit == unitByte:
		tail = padding(uint32(n))
	}
	if f.has(flagUnknown) {
		if err := e.checkHeld(int64(len(text) + tail)); err != nil {
			return err
		}
		last := len(e.counts) - 1
		le.PutUint32(e.buf[e.counts[last]:], uint32(n))
		e.counts = e.counts[:last]
		e.held--
		e.setLim()
	}
	if len(text)+tail > 0 { // not for the End of most values
		if err := emit(e, nil, text, zeros[:tail]); err != nil {
			return err
		}
	}
	e.pop()
	e.setFast()
	if e.depth == 0 {
		return e.flush()
	}
	return nil
}

// BeginArray begins an Array of n elements; n can be [Unknown]. Write the elements, then
// call End.
func (e *Encoder) BeginArray(n int) error {
	if e.beginFast(TypeArray, 0, int64(n)) != nil {
		return nil
	}
	var head [4]byte
	return e.beginContainer(int64(n), 0, head[:], frame{kind: KindArrayStart, typ: TypeArray})
}

// BeginTypedArray is BeginArray for an Array with declared type elem. Elements of other
// types are [ErrType].
func (e *Encoder) BeginTypedArray(n int, elem Elem) error {
	return e.beginTyped(KindArrayStart, TypeArray, int64(n), elem, Elem{})
}

// BeginDict begins a Dictionary of n pairs; n can be [Unknown]. Write the key and the value
// of each pair, then call End.
func (e *Encoder) BeginDict(n int) error {
	if e.beginFast(TypeDictionary, 0, int64(n)) != nil {
		return nil
	}
	var head [4]byte
	return e.beginContainer(int64(n), 0, head[:], frame{kind: KindDictStart, typ: TypeDictionary})
}

// BeginTypedDict is BeginDict for a Dictionary with declared types key and value. Keys of
// other types are [ErrType]. Values are not checked, as in engines.
func (e *Encoder) BeginTypedDict(n int, key, value Elem) error {
	return e.beginTyped(KindDictStart, TypeDictionary, int64(n), key, value)
}

// containerHead is the size of a header and declared types up to which no memory is
// allocated.
const containerHead = 128

func (e *Encoder) beginTyped(kind Kind, t Type, n int64, elems ...Elem) error {
	if err := e.ready(); err != nil {
		return err
	}
	flags := uint32(0)
	var b [containerHead]byte
	head := b[:4]
	for i, elem := range elems {
		if err := e.checkElem(elem); err != nil {
			return err
		}
		flags |= uint32(elem.kind()) << (2 * i)
		head = appendElem(head, elem)
	}
	return e.beginContainer(n, flags, head, frame{kind: kind, typ: t, elem: elems[0].typ()})
}

// checkElem returns an error if the format can't declare elem.
func (e *Encoder) checkElem(elem Elem) error {
	switch k := elem.kind(); {
	case k == containerUntyped:
		return nil
	case k == containerBuiltin && (elem.Type == TypeNil || !e.options.Format.Has(elem.Type)):
		return e.fail(wrapf(ErrType, "%v has no containers of %v", e.options.Format, elem.Type))
	case len(elem.String()) > maxName/2: // so that the size of two fits an int of 32 bits
		return e.fail(wrapf(ErrRange, "name of %d bytes is too long", len(elem.String())))
	case !e.options.AllowInvalidUTF8 && !valid(elem.String()):
		return e.fail(ErrUTF8)
	}
	return nil
}

// beginContainer begins an Array or Dictionary. flags are bits 16 to 31 of the header. head
// has four bytes for the header, and then the declared types.
func (e *Encoder) beginContainer(n int64, flags uint32, head []byte, f frame) error {
	forms, err := e.begin(f.typ)
	if err != nil {
		return err
	}
	if flags&^uint32(forms[0].flags) != 0 {
		return e.fail(wrapf(ErrType, "%v has no typed containers", e.options.Format))
	}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	count := f.count
	if f.has(flagShared) && e.options.Format.shared {
		count |= sharedBit
	}
	var tail [4]byte
	le.PutUint32(head, forms[0].header|flags<<16)
	le.PutUint32(tail[:], count)
	return startLong(e, &f, head, "", tail[:])
}

// writeStart writes an ArrayStart or DictStart. It clears the padding in declared types,
// because a lenient Decoder accepts any padding.
func (e *Encoder) writeStart(t Token) error {
	f := frame{kind: t.Kind(), typ: t.Type(), flags: t.flags() & flagShared}
	if t.payloadLen() == 0 && f.flags == 0 && !t.has(flagUnknown) && e.beginFast(f.typ, 0, int64(t.bits)) != nil {
		return nil
	}
	var b [containerHead]byte
	head := append(b[:4], t.Bytes()...)
	declared := head[4:]
	for i, k := range [...]containerKind{t.elemKind(), t.valueKind()} {
		if k == containerUntyped {
			continue
		}
		typ, name, n := declaredElem(declared, k)
		if typ <= TypeNil {
			return e.fail(wrapf(ErrType, "container of an unknown type"))
		}
		if !e.options.AllowInvalidUTF8 && !validText(name) {
			return e.fail(ErrUTF8)
		}
		if i == 0 {
			f.elem = typ
		}
		clear(declared[n-padding(uint32(len(name))) : n])
		declared = declared[n:]
	}
	return e.beginContainer(t.count(), uint32(t.elemKind())|uint32(t.valueKind())<<2, head, f)
}

// writeDictKey writes a DictKey, which has no bytes. Typed calls do not need it.
func (e *Encoder) writeDictKey() error {
	if e.pairs > 0 && e.left&1 == 0 && e.left > 0 && e.marked != e.left && e.valueLim >= 0 {
		e.markKey()
		return nil
	}
	if err := e.ready(); err != nil {
		return err
	}
	if e.want() != wantDictKey {
		return e.fail(wrapf(ErrMisplacedKey, "DictKey where no key is expected"))
	}
	e.markKey()
	return nil
}

// BeginObject begins a serialized object of n properties; n can be [Unknown]. Call
// WriteProperty and write the value of each property, then call End. A reader must allow
// objects. An object with an empty class is null and has no properties.
func (e *Encoder) BeginObject(class string, n int) error { return beginObject(e, class, int64(n)) }

func beginObject[S string | []byte](e *Encoder, class S, count int64) error {
	forms, err := e.begin(TypeObject)
	if err != nil {
		return err
	}
	if !e.options.Format.ids {
		return e.fail(wrapf(ErrType, "%v has no serialized objects", e.options.Format))
	}
	f := frame{kind: KindObjectStart, typ: TypeObject}
	if len(class) == 0 && count != 0 {
		return e.fail(wrapf(ErrCount, "properties of an object without a class"))
	}
	if err := e.declare(count, &f); err != nil {
		return err
	}
	if err := checkName(e, class); err != nil {
		return err
	}
	var head [8]byte
	le.PutUint32(head[:], forms[0].header)
	le.PutUint32(head[4:], uint32(len(class)))
	var b [8]byte
	tail := b[:padding(uint32(len(class)))]
	if len(class) > 0 {
		tail = le.AppendUint32(tail, f.count)
	}
	return startLong(e, &f, head[:], class, tail)
}

// WriteProperty writes the name of the next property of an object. Write its value next.
func (e *Encoder) WriteProperty(name string) error { return writeProperty(e, name) }

func writeProperty[S string | []byte](e *Encoder, name S) error {
	if err := e.ready(); err != nil {
		return err
	}
	if e.want() != wantProperty {
		return e.misplaced(KindProperty)
	}
	if err := checkName(e, name); err != nil {
		return err
	}
	var head [4]byte
	le.PutUint32(head[:], uint32(len(name)))
	if err := emit(e, head[:], name, zeros[:padding(uint32(len(name)))]); err != nil {
		return err
	}
	return e.completed()
}
