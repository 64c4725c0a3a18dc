package gdwire

import "math"

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
	if flags&^flagAbsolute == 0 && e.straight(16) {
		if top := e.startStraight(TypeNodePath, 0, names+subnames); top != nil {
			b := (*[12]byte)(e.buf[e.n-4 : e.n+8 : e.n+8])
			le.PutUint32(b[:], uint32(names)|newPathBit)
			le.PutUint32(b[4:], uint32(subnames))
			le.PutUint32(b[8:], uint32(flags/flagAbsolute)*pathAbsolute)
			e.n += 8
			top.names, top.flags = uint32(names), flags
			return nil
		}
	}
	format := e.options.Format
	f := frame{kind: KindNodePathStart, typ: TypeNodePath, names: uint32(names), flags: flags}
	if names > math.MaxInt32 { // bit 31 of it says which form the path has
		return e.fail(because(ErrRange, "NodePath of %d names", names))
	}
	if err := e.declare(names+subnames, &f); err != nil {
		return err
	}
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
	b, err := e.room(n)
	if err != nil {
		return err
	}
	le.PutUint32(b, row[0].header)
	if n > 4 {
		le.PutUint32(b[4:], uint32(names)|newPathBit)
		le.PutUint32(b[8:], uint32(subnames))
		le.PutUint32(b[12:], bits)
	}
	return e.start(b, &f)
}

// startStraight opens what has n elements behind header and count, if that takes
// the straight road; else it returns nil.
func (e *Encoder) startStraight(t Type, wide int, n int64) *frame {
	if uint64(n) > math.MaxInt32 || !e.straight(8) {
		return nil
	}
	form := &e.rows[t&63][wide&1]
	if form.typ != t {
		return nil
	}
	b := (*[8]byte)(e.buf[e.n : e.n+8 : e.n+8])
	le.PutUint32(b[:], form.header)
	le.PutUint32(b[4:], uint32(n))
	e.n += 8
	return e.push(form.kind, t, uint32(n))
}

// start writes the head b of f and opens it. An Unknown count is the head's last
// four bytes.
func (e *Encoder) start(b []byte, f *frame) error {
	return startLong(e, f, b, "", nil)
}

// startLong is start for a head of several pieces.
func startLong[S string | []byte](e *Encoder, f *frame, head []byte, body S, tail []byte) error {
	op := opOpen
	if f.has(flagUnknown) {
		op = opOpenUnknown
	}
	if err := emit(e, op, head, body, tail); err != nil {
		return err
	}
	e.open(f)
	return nil
}

// BeginArray begins an Array of n elements, or [Unknown].
func (e *Encoder) BeginArray(n int) error {
	var head [4]byte
	return e.putContainer(int64(n), 0, head[:], frame{kind: KindArrayStart, typ: TypeArray})
}

// BeginTypedArray begins an Array whose elements are declared to be elem; others
// are refused.
func (e *Encoder) BeginTypedArray(n int, elem Elem) error {
	return e.beginContainer(KindArrayStart, TypeArray, int64(n), elem, Elem{})
}

// BeginDict begins a Dictionary of n pairs, or [Unknown]. Each is two values:
// key, value.
func (e *Encoder) BeginDict(n int) error {
	var head [4]byte
	return e.putContainer(int64(n), 0, head[:], frame{kind: KindDictStart, typ: TypeDictionary})
}

// BeginTypedDict begins a Dictionary whose keys and values are declared to be
// key and value. Other keys are refused; values engines do not check.
func (e *Encoder) BeginTypedDict(n int, key, value Elem) error {
	return e.beginContainer(KindDictStart, TypeDictionary, int64(n), key, value)
}

func (e *Encoder) beginContainer(kind Kind, t Type, n int64, elems ...Elem) error {
	if err := e.ready(); err != nil {
		return err
	}
	flags := uint32(0)
	for i, elem := range elems {
		if err := e.checkElem(elem); err != nil {
			return err
		}
		flags |= uint32(elem.kind()) << (2 * i)
	}
	f := frame{kind: kind, typ: t, elem: elems[0].typ()}
	var b [containerHead]byte
	head := b[:4]
	for _, elem := range elems {
		head = appendElem(head, elem)
	}
	return e.putContainer(n, flags, head, f)
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

// containerHead is the size of a header and the declared types that take no
// allocation.
const containerHead = 128

// putContainer begins an Array or Dictionary. flags are bits 16 and up of its
// header, for which head has four bytes of room before the declared types.
func (e *Encoder) putContainer(n int64, flags uint32, head []byte, f frame) error {
	if flags == 0 && f.flags == 0 && e.startStraight(f.typ, 0, n) != nil {
		return nil
	}
	row, err := e.begin(f.typ)
	if err != nil {
		return err
	}
	if flags&^uint32(row[0].flags) != 0 {
		return e.fail(because(ErrType, "%v has no typed containers", e.options.Format))
	}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	count := f.count
	if f.has(flagShared) && e.options.Format.shared {
		count |= sharedBit
	}
	var tail [4]byte
	le.PutUint32(head, row[0].header|flags<<16)
	le.PutUint32(tail[:], count)
	return startLong(e, &f, head, "", tail[:])
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
	if err := checkName(e, class); err != nil {
		return err
	}
	var head [8]byte
	le.PutUint32(head[:], row[0].header)
	le.PutUint32(head[4:], uint32(len(class)))
	var b [8]byte
	tail := b[:padding(uint32(len(class)))]
	if len(class) > 0 {
		tail = le.AppendUint32(tail, f.count)
	}
	return startLong(e, &f, head[:], class, tail)
}

// WriteProperty writes the name of an object's next property; its value follows.
func (e *Encoder) WriteProperty(name string) error { return writeProperty(e, name) }

func writeProperty[S string | []byte](e *Encoder, name S) error {
	if err := e.ready(); err != nil {
		return err
	}
	if e.top.want != wantProperty {
		return e.misplaced(KindProperty)
	}
	if err := checkName(e, name); err != nil {
		return err
	}
	var head [4]byte
	le.PutUint32(head[:], uint32(len(name)))
	if err := emit(e, opValue, head[:], name, zeros[:padding(uint32(len(name)))]); err != nil {
		return err
	}
	e.step()
	return nil
}
