package gdwire

import (
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
)

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
		return e.fail(wrapf(ErrRange, "%v does not fit 32 bits", t))
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
