package gdwire

import (
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
)

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
		return e.writeFloat(0, t.bits, wire.Float32)
	case KindFloat64:
		return e.writeFloat(1, t.bits, wire.Float64)
	case KindObjectID:
		return e.WriteObjectID(t.bits)
	case KindSignal:
		return writeSignal(e, t.Bytes(), t.bits)
	case KindStringChunk:
		if t.Last() && len(e.fastValues) > 0 { // a whole string: the fast path is off inside strings
			return writeText(e, t.Type(), t.Bytes())
		}
		return e.writeTextChunk(t)
	case KindNodePathStart:
		names, subnames, absolute := t.NodePath()
		flags := t.flags() & (flagAbsolute | flagProperty | flagOldNodePath)
		if flags&^flagAbsolute != 0 || names|subnames > math.MaxInt32 { // more than an int of 32 bits holds
			return e.beginNodePath(names, subnames, flags)
		}
		return e.BeginNodePath(int(names), int(subnames), absolute)
	case KindObjectStart:
		return beginObject(e, t.Bytes(), t.count())
	case KindProperty:
		return writeProperty(e, t.Bytes())
	case KindArrayStart, KindDictStart:
		return e.writeContainerStart(t)
	case KindDictKey:
		return e.writeDictKey()
	case KindPackedStart:
		wide := 0
		if t.unit() == wire.Float64 {
			wide = 1
		}
		return e.beginPacked(t.Type(), t.count(), wide)
	case KindImageStart:
		f, m, w, h := t.Image()
		return e.BeginImage(f, m, w, h, t.count())
	case KindChunk:
		return e.writeDataChunk(t)
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

// writeContainerStart writes an ArrayStart or DictStart. It clears the padding in declared types,
// because a lenient Decoder accepts any padding.
func (e *Encoder) writeContainerStart(t Token) error {
	f := frame{content: content{kind: t.Kind(), typ: t.Type(), flags: t.flags() & flagShared}}
	if t.payloadLen() == 0 && f.flags == 0 { // no declared types, as most
		return e.beginCounted(f.typ, t.count())
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
		if !e.options.AllowInvalidUTF8 && !wire.ValidBytes(name) {
			return e.fail(ErrUTF8)
		}
		if i == 0 {
			f.elem = typ
		}
		clear(declared[n-wire.Padding(uint32(len(name))) : n])
		declared = declared[n:]
	}
	return e.beginContainer(t.count(), uint32(t.elemKind())|uint32(t.valueKind())<<2, head, f)
}

// writeDictKey writes a DictKey, which has no bytes. Typed calls do not need it: a key is allowed
// with or without it, but not after two of them.
func (e *Encoder) writeDictKey() error {
	if e.pairs > 0 && e.remaining&1 == 0 && e.remaining > 0 && e.marked != e.remaining && len(e.fastValues) > 0 {
		e.markKey()
		return nil
	}
	if err := e.Err(); err != nil {
		return err
	}
	if e.want() != wantDictKey {
		return e.fail(wrapf(ErrMisplacedKey, "DictKey where no key is expected"))
	}
	e.markKey()
	return nil
}

// writeMath writes a math type and converts its components to the width of the format.
func (e *Encoder) writeMath(t Token) error {
	forms, err := e.begin(t.Type())
	if err != nil {
		return err
	}
	wide := 0
	if t.unit() == wire.Float64 {
		wide = 1
	}
	form := &forms[wide]
	b := e.spare[:4+int(form.size)]
	le.PutUint32(b, form.header)
	if form.unit == t.unit() {
		copy(b[4:], t.Bytes())
	} else if _, ok := wire.ConvertReals(b[4:4], t.Bytes(), t.unit(), form.unit); !ok {
		return e.fail(wrapf(ErrRange, "%v does not fit 32 bits", t))
	}
	return e.writeShort(b)
}

// writeTextChunk writes the only, the first or a later chunk of a string.
func (e *Encoder) writeTextChunk(t Token) error {
	if err := e.Err(); err != nil {
		return err
	}
	switch {
	case e.top().kind == KindStringChunk:
		return e.writeNextText(t)
	case t.Last():
		return writeText(e, t.Type(), t.Bytes())
	case t.has(flagNUL): // which the last chunk may lack, but engines always write
		return e.beginString(t.Type(), t.count()-1, t.Bytes())
	default:
		return e.beginString(t.Type(), t.count(), t.Bytes())
	}
}

// writeNextText writes a chunk after the first. Len of chunks of a packed string includes a NUL that
// may be missing in the last chunk, see flagNUL; beginString has been called without it, and here
// the last chunk shows whether the declared count is right.
func (e *Encoder) writeNextText(t Token) error {
	f, text := e.top(), t.Bytes()
	left, nul := e.remaining, f.names // f.names is 1 if the Encoder adds a NUL
	if t.Last() && t.has(flagNUL) && nul == 1 && uint64(len(text)) == left+1 {
		left, nul = left+1, 0 // the counted NUL is missing
	}
	if t.Last() && t.has(flagNUL) && nul == 0 && uint64(len(text)) == left+1 {
		return e.fail(wrapf(ErrCount, "packed string without a NUL in %v", e.options.Format))
	}
	if n := uint64(len(text)); n > left || t.Last() && n < left && !f.has(flagUnknown) {
		return e.fail(wrapf(ErrCount, "chunk of %d bytes where %d are left", n, left))
	}
	if e.rune.Len() > 0 || !e.options.AllowInvalidUTF8 && !wire.Valid(text) {
		return e.fail(ErrUTF8)
	}
	if t.Last() {
		return e.finish(text, nul)
	}
	if err := writePieces(e, nil, text, nil); err != nil {
		return err
	}
	e.count(uint64(len(text)))
	return nil
}

// writeDataChunk writes a chunk of packed data and converts its elements to the width of the
// format.
func (e *Encoder) writeDataChunk(t Token) error {
	p := t.Bytes()
	if err := e.Err(); err != nil {
		return err
	}
	if e.want() != wantChunk {
		return e.unexpected(KindChunk)
	}
	f, from := e.top(), t.unit()
	if layouts[f.typ].n != layouts[t.Type()].n || from != f.unit && (from < wire.Float32 || f.unit < wire.Float32) {
		return e.fail(wrapf(ErrType, "chunk of a %v in a %v", t.Type(), f.typ))
	}
	n := t.Len()
	if uint64(n) > e.remaining || e.partial > 0 {
		return e.fail(wrapf(ErrCount, "%d elements after %d of the declared %d", n, e.done(), f.count))
	}
	var err error
	if from == f.unit {
		err = writePieces(e, nil, p, nil)
	} else {
		err = e.convertChunk(p, from)
	}
	if err == nil {
		e.count(uint64(n))
	}
	return err
}

// convertChunk writes the elements in p, components of the unit from, in the unit of the container.
// It checks all of them before it writes the first.
func (e *Encoder) convertChunk(p []byte, from wire.Unit) error {
	to := e.top().unit
	if from == wire.Float64 {
		for b := p; len(b) > 0; b = b[8:] {
			if bits := le.Uint64(b); !wire.FitsFloat32(bits) {
				return e.fail(wrapf(ErrRange, "%v does not fit 32 bits", math.Float64frombits(bits)))
			}
		}
	}
	return e.writeElements(len(p)/from.Size(), to.Size(), func(b []byte, i, n int) {
		wire.ConvertReals(b[:0], p[i*from.Size():(i+n)*from.Size()], from, to)
	})
}

// WriteRaw writes a value that is already encoded in the format of e, such as one from
// another packet. WriteRaw first decodes it without limits, as a lenient Decoder does. If
// value is not exactly one valid value, the error is an [Error] with offset and path inside
// value.
func (e *Encoder) WriteRaw(value []byte) error {
	if err := e.Err(); err != nil {
		return err
	}
	if e.raw == nil {
		e.raw = new(Decoder)
	}
	d := e.raw
	d.options = DecoderOptions{
		Format: e.options.Format, AllowObjects: true, AllowInvalidUTF8: e.options.AllowInvalidUTF8, DoubleReals: e.options.DoubleReals,
		Limits:       Limits{Depth: -1, Elements: -1, Values: -1, StringBytes: -1, NameBytes: -1, PackedBytes: -1, Bytes: -1},
		wholePadding: true,
	}
	d.ResetBytes(value)
	defer d.Release()
	t, err := d.ReadToken()
	if err == io.EOF {
		return e.fail(wrapf(ErrCount, "empty raw value"))
	}
	if err != nil {
		return e.setError(err) // the Decoder's Error, with the offset and path inside value
	}
	if _, err := e.begin(t.Type()); err != nil {
		return err
	}
	for d.Depth() > 0 { // not SkipTo, which does not know the depth around the value
		if d.Depth() > e.maxDepth-e.depth && d.want() <= lastValue {
			return e.fail(&LimitError{Name: limitTable[limitDepth].name, Got: int64(e.depth + d.Depth()), Max: int64(e.maxDepth)})
		}
		if _, err := d.next(); err != nil {
			return e.setError(err)
		}
	}
	if n := len(value) - int(d.InputOffset()); n > 0 {
		return e.fail(wrapf(ErrCount, "%d bytes after the raw value", n))
	}
	return writeValue(e, nil, value, nil)
}
