package gdwire

import "math"

// maxText is the maximum length of a string in bytes: engines read lengths as int32, and
// the length of a packed string includes a NUL.
const maxText = math.MaxInt32 - 1

// WriteString writes a String, or the next name of a NodePath, or the next string of a
// PackedStringArray. Engines drop a leading U+FEFF, and the text after a NUL.
func (e *Encoder) WriteString(s string) error { return writeText(e, TypeString, s) }

// WriteStringName writes a StringName.
func (e *Encoder) WriteStringName(s string) error { return writeText(e, TypeStringName, s) }

// writeText writes a whole string or name. On the fast path, a short text with its padding
// is one word. The fast path contains no calls, so that variables stay in registers, which
// saves 30 % of its instructions.
func writeText[S string | []byte](e *Encoder, t Type, s S) error {
	n, left, size := e.n, e.left, len(s)
	if size > 8 || left == 0 {
		return writeLongText(e, t, s)
	}
	var word uint64 // short(s)
	if size >= 4 {
		word = uint64(load32(s)) | uint64(load32(s[size-4:]))<<(8*(size-4)&63)
	} else if size > 0 {
		word = uint64(s[0]) | uint64(s[size/2])<<(size/2*8&63) | uint64(s[size-1])<<((size-1)*8&63)
	}
	if word&notASCII != 0 {
		return writeLongText(e, t, s)
	}
	// nameNUL is 0 for values. The sum also hides the range of size from the compiler, which
	// would store the bytes of a small constant one by one: 5 % of the time of a document.
	length := uint32(size) + e.nameNUL
	if n <= e.valueLim {
		header := uint32(stringHeader)
		if t != TypeString {
			form := &e.forms[t&63][0]
			if form.shape != shapeText {
				return writeTextSlow(e, t, s)
			}
			header = form.header
		}
		b := (*[fastSize]byte)(e.buf[n : n+fastSize : n+fastSize])
		le.PutUint32(b[:], header)
		le.PutUint32(b[4:], length)
		le.PutUint64(b[8:], word)
		e.n, e.left = n+8+int(padded(length)), left-1
		return nil
	}
	if n <= e.nameLim {
		b := (*[fastSize]byte)(e.buf[n : n+fastSize : n+fastSize])
		le.PutUint32(b[:], length)
		le.PutUint64(b[4:], word)
		le.PutUint32(b[12:], 0)
		e.n, e.left = n+4+int(padded(length)), left-1
		return nil
	}
	return writeTextSlow(e, t, s)
}

// writeLongText is writeText for text of more than eight bytes, or that is not ASCII.
func writeLongText[S string | []byte](e *Encoder, t Type, s S) error {
	n := len(s)
	if 8 < n && n <= 16 && e.left > 0 && e.writeTwoWords(t, n, load64(s), load64(s[n-8:])) {
		return nil
	}
	if e.n > e.valueLim-n || e.left == 0 || n > maxText {
		return writeTextSlow(e, t, s)
	}
	form := &e.forms[t&63][0]
	if form.shape != shapeText || !e.options.AllowInvalidUTF8 && !valid(s) {
		return writeTextSlow(e, t, s)
	}
	b := e.buf[e.n:]
	le.PutUint64(b, uint64(form.header)|uint64(n)<<32)
	le.PutUint32(b[8+n&^3:], 0) // the padding
	copy(b[8:], s)
	e.take(8 + int(padded(uint32(n))))
	return nil
}

// writeTwoWords writes a text of 9 to 16 bytes, of which first and last have the first and
// last eight, on the fast path. It returns false if it has written nothing. It saves 3 % of
// the time of a document with few such texts.
func (e *Encoder) writeTwoWords(t Type, size int, first, last uint64) bool {
	const most = fastSize + 8
	if (first|last)&notASCII != 0 {
		return false
	}
	n, length := e.n, uint32(size)+e.nameNUL
	last >>= uint(8*(16-size)) & 63
	if n <= e.valueLim-8 {
		if form := &e.forms[t&63][0]; form.shape == shapeText {
			b := (*[most]byte)(e.buf[n : n+most : n+most])
			le.PutUint32(b[:], form.header)
			le.PutUint32(b[4:], length)
			le.PutUint64(b[8:], first)
			le.PutUint64(b[16:], last)
			e.take(8 + int(padded(length)))
			return true
		}
	} else if n <= e.nameLim-8 {
		b := (*[most]byte)(e.buf[n : n+most : n+most])
		le.PutUint32(b[:], length)
		le.PutUint64(b[4:], first)
		le.PutUint64(b[12:], last)
		le.PutUint32(b[20:], 0)
		e.take(4 + int(padded(length)))
		return true
	}
	return false
}

func writeTextSlow[S string | []byte](e *Encoder, t Type, s S) error {
	head, nul, err := e.beginText(t)
	if err != nil {
		return err
	}
	if len(s) > maxText {
		return e.fail(wrapf(ErrRange, "string of %d bytes is too long", len(s)))
	}
	if !e.options.AllowInvalidUTF8 && !valid(s) {
		return e.fail(ErrUTF8)
	}
	var b [8]byte
	n := uint32(len(s)) + nul
	if err := emit(e, head.append(b[:0], n), s, zeros[:int(nul)+padding(n)]); err != nil {
		return err
	}
	return e.completed()
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
	if err := e.ready(); err != nil {
		return head, 0, err
	}
	if e.want() == wantName {
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
	var head [8]byte
	le.PutUint32(head[:], forms[0].header)
	le.PutUint32(head[4:], uint32(len(name)))
	var b [12]byte
	tail := le.AppendUint64(b[:padding(uint32(len(name)))], object)
	if err := emit(e, head[:], name, tail); err != nil {
		return err
	}
	return e.completed()
}

// checkName returns an error if name is too long for a name or is not UTF-8.
func checkName[S string | []byte](e *Encoder, name S) error {
	if len(name) > maxName {
		return e.fail(wrapf(ErrRange, "name of %d bytes is too long", len(name)))
	}
	if !e.options.AllowInvalidUTF8 && !valid(name) {
		return e.fail(ErrUTF8)
	}
	return nil
}

// BeginString begins a String or StringName, or the next string of a NodePath or
// PackedStringArray, with n bytes of text; n can be [Unknown]. Write the text with Write,
// then call End.
func (e *Encoder) BeginString(t Type, n int64) error {
	head, nul, err := e.beginText(t)
	if err != nil {
		return err
	}
	f := frame{kind: KindStringChunk, typ: head.typ, names: nul}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	var b [8]byte
	return startLong(e, &f, head.append(b[:0], f.count+nul), "", nil)
}
