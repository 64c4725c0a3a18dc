package gdwire

import "math"

// WriteToken writes a token in the format of e. The token comes from a Decoder of any
// format, or from a function such as [ArrayStart]. An int, float or component is widened or
// narrowed if the format has only one width, and is [ErrRange] if its value would change. An
// RID gets the id 0, or loses its id.
//
// Parts that only a lenient Decoder accepts are written as engines write them: bools,
// padding, flags, bit 31 of a count in other formats than Godot 2, and surplus bytes of an
// InputEvent.
func (e *Encoder) WriteToken(t Token) error {
	switch k := t.Kind(); k {
	case KindNil, KindCallable, KindRID:
		return e.writeWord(t.Type(), 0, t.bits)
	case KindBool:
		return e.WriteBool(t.Bool())
	case KindInt32:
		return e.writeWord(TypeInt, 0, uint64(int64(int32(t.bits))))
	case KindInt64:
		return e.writeWord(TypeInt, 1, t.bits)
	case KindFloat32:
		return e.writeFloat(0, t.bits, unitFloat32)
	case KindFloat64:
		return e.writeFloat(1, t.bits, unitFloat64)
	case KindObjectID:
		return e.WriteObjectID(t.bits)
	case KindSignal:
		return writeSignal(e, t.Bytes(), t.bits)
	case KindStringChunk:
		if t.Last() && e.valueLim >= 0 {
			return writeText(e, t.Type(), t.Bytes())
		}
		return e.writeChunk(t)
	case KindNodePathStart:
		names, subnames, _ := t.NodePath()
		return e.beginNodePath(names, subnames, t.flags()&(flagAbsolute|flagProperty|flagOldNodePath))
	case KindObjectStart:
		return beginObject(e, t.Bytes(), t.count())
	case KindProperty:
		return writeProperty(e, t.Bytes())
	case KindArrayStart, KindDictStart:
		return e.writeStart(t)
	case KindDictKey:
		return e.writeDictKey()
	case KindPackedStart:
		wide := 0
		if t.unit() == unitFloat64 {
			wide = 1
		}
		return e.beginPacked(t.Type(), t.count(), wide)
	case KindImageStart:
		f, m, w, h := t.Image()
		return e.BeginImage(f, m, w, h, t.count())
	case KindChunk:
		return e.writeElements(t)
	case KindInputEvent:
		event, device := t.Event()
		return e.WriteInputEvent(event, device, t.Bytes())
	case KindEnd:
		return e.End()
	}
	if t.Components() == 0 {
		return e.fail(wrapf(ErrType, "not a token"))
	}
	return e.writeMath(t)
}

// count returns the declared count of a Start token, which can be Unknown.
func (t Token) count() int64 {
	if t.has(flagUnknown) {
		return Unknown
	}
	return int64(t.bits)
}

// writeMath writes a math type and converts its components to the width of the format.
func (e *Encoder) writeMath(t Token) error {
	forms, err := e.begin(t.Type())
	if err != nil {
		return err
	}
	wide := 0
	if t.unit() == unitFloat64 {
		wide = 1
	}
	form := &forms[wide]
	b, err := e.room(4 + int(form.size))
	if err != nil {
		return err
	}
	le.PutUint32(b, form.header)
	if form.unit == t.unit() {
		copy(b[4:], t.Bytes())
	} else if _, ok := convertReals(b[4:4], t.Bytes(), t.unit(), form.unit); !ok {
		return e.fail(wrapf(ErrRange, "%v does not fit 32 bits", t))
	}
	return e.value(b)
}

// writeChunk writes the only, the first or a later chunk of a string.
func (e *Encoder) writeChunk(t Token) error {
	if err := e.ready(); err != nil {
		return err
	}
	switch {
	case e.top().kind == KindStringChunk:
		return e.writeNextChunk(t)
	case t.Last():
		return writeText(e, t.Type(), t.Bytes())
	default:
		return e.writeFirstChunk(t)
	}
}

func (e *Encoder) writeFirstChunk(t Token) error {
	head, nul, err := e.beginText(t.Type())
	if err != nil {
		return err
	}
	text, n := t.Bytes(), t.count()
	f := frame{kind: KindStringChunk, typ: head.typ, names: nul}
	if t.has(flagNUL) {
		n-- // the NUL, which the last chunk may lack, but engines always write
	}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	if uint64(len(text)) > uint64(f.count) {
		return e.fail(wrapf(ErrCount, "chunk of %d bytes in a string of %d", len(text), n))
	}
	if !e.options.AllowInvalidUTF8 && !valid(text) {
		return e.fail(ErrUTF8)
	}
	var b [8]byte
	if err := startLong(e, &f, head.append(b[:0], f.count+nul), text, nil); err != nil {
		return err
	}
	e.took(text)
	return nil
}

func (e *Encoder) writeNextChunk(t Token) error {
	f, text := e.top(), t.Bytes()
	left, nul := e.left, f.names
	if t.Last() && t.has(flagNUL) && nul == 1 && uint64(len(text)) == left+1 {
		left, nul = left+1, 0 // the counted NUL is missing
	}
	if t.Last() && t.has(flagNUL) && nul == 0 && uint64(len(text)) == left+1 {
		return e.fail(wrapf(ErrCount, "packed string without a NUL in %v", e.options.Format))
	}
	if n := uint64(len(text)); n > left || t.Last() && n < left && !f.has(flagUnknown) {
		return e.fail(wrapf(ErrCount, "chunk of %d bytes where %d are left", n, left))
	}
	if e.partial > 0 || !e.options.AllowInvalidUTF8 && !valid(text) {
		return e.fail(ErrUTF8)
	}
	if t.Last() {
		return e.finish(text, nul)
	}
	if err := emit(e, nil, text, nil); err != nil {
		return err
	}
	e.took(text)
	return nil
}

// writeElements writes a chunk of packed data and converts its elements to the width of the
// format.
func (e *Encoder) writeElements(t Token) error {
	p := t.Bytes()
	if err := e.ready(); err != nil {
		return err
	}
	if e.want() != wantChunk {
		return e.misplaced(KindChunk)
	}
	f, from := e.top(), t.unit()
	if layouts[f.typ].n != layouts[t.Type()].n || from != f.unit && (from < unitFloat32 || f.unit < unitFloat32) {
		return e.fail(wrapf(ErrType, "chunk of a %v in a %v", t.Type(), f.typ))
	}
	n := t.Len()
	if uint64(n) > e.left || e.partial > 0 {
		return e.fail(wrapf(ErrCount, "%d elements after %d of the declared %d", n, e.done(), f.count))
	}
	var err error
	if from == f.unit {
		err = emit(e, nil, p, nil)
	} else {
		err = e.convertChunk(p, from)
	}
	if err == nil {
		e.left -= uint64(n)
	}
	return err
}

func (e *Encoder) convertChunk(p []byte, from unit) error {
	to := e.top().unit
	if from == unitFloat64 {
		for b := p; len(b) > 0; b = b[8:] {
			if bits := le.Uint64(b); !fitsFloat32(bits) {
				return e.fail(wrapf(ErrRange, "%v does not fit 32 bits", math.Float64frombits(bits)))
			}
		}
	}
	return e.inPieces(len(p)/from.size(), to.size(), func(b []byte, i, n int) {
		convertReals(b[:0], p[i*from.size():(i+n)*from.size()], from, to)
	})
}
