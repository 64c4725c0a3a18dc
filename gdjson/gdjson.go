package gdjson

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// Tokens in plain and in native JSON, and the calls of the package.

// plain converts the next value. An object becomes a Dictionary with String keys.
func (r *reader) plain() {
	at := r.at.pos
	switch c := r.peek(); c {
	case 'n', 't', 'f':
		r.scalar()
	case '"':
		r.wrote(at, r.e.WriteString(wire.String(r.string())))
	case '{', '[':
		n := r.enter()
		begin := r.e.BeginArray
		if c == '{' {
			begin = r.e.BeginDict
		}
		r.wrote(at, begin(int(n.count)))
		for i := uint32(0); i < n.count && r.err == nil; i++ {
			if c == '{' {
				key := r.at.pos
				r.wrote(key, r.e.WriteString(wire.String(r.name())))
			}
			r.plain()
			r.separate()
		}
		r.leave(n)
		r.wrote(at, r.e.End())
	default:
		r.plainNumber()
	}
}

// plainNumber converts a number: to an int if written without point and exponent and not as -0,
// otherwise to a float.
func (r *reader) plainNumber() {
	at := r.at.pos
	b := r.literal()
	if !bytes.ContainsAny(b, ".eE") && string(b) != "-0" {
		x, err := strconv.ParseInt(string(b), 10, 64)
		if err == nil {
			r.wrote(at, r.e.WriteInt(x))
			return
		}
		if !r.o.Lenient { // the engine's numbers are all floats
			r.failf(at, gdwire.ErrRange, "%s does not fit an int", cut(b, 40))
		}
	}
	x, err := parseReal(b)
	if !r.o.Lenient {
		r.fail(at, err)
	}
	r.wrote(at, r.e.WriteFloat(x))
}

// plain appends a token in plain JSON.
func (w *writer) plain(t gdwire.Token) {
	switch t.Kind() {
	case gdwire.KindNil, gdwire.KindCallable:
		w.start("null")
	case gdwire.KindBool:
		w.start(strconv.FormatBool(t.Bool()))
	case gdwire.KindInt32, gdwire.KindInt64:
		w.decimal(t.Int())
	case gdwire.KindFloat32, gdwire.KindFloat64:
		w.element()
		w.buf = appendPlain(w.buf, t.Float(), 64)
	case gdwire.KindStringChunk:
		if t.Type() == gdwire.TypeNodePath {
			w.nodePathName(t)
		} else {
			w.chunk(t, `"`, `"`)
		}
	case gdwire.KindNodePathStart:
		w.nodePathStart(t, `"`, `"`)
	case gdwire.KindDictStart:
		w.open("{", frame{end: "}", lines: true})
	case gdwire.KindDictKey:
		w.key()
	case gdwire.KindArrayStart:
		w.open("[", frame{end: "]", lines: true})
	case gdwire.KindPackedStart:
		if shapes[t.Type()].unit == unitByte {
			w.open(`"`, frame{end: `"`})
		} else {
			w.open("[", frame{end: "]", lines: t.Type() == gdwire.TypePackedStringArray})
		}
	case gdwire.KindChunk:
		if s := shapes[t.Type()]; s.unit == unitByte {
			w.bytes(t.Bytes())
		} else {
			w.numbers(t.Bytes(), s.unit, t.Width(), s.n)
		}
	case gdwire.KindImageStart, gdwire.KindInputEvent:
		w.plainGodot2(t)
	case gdwire.KindEnd:
		if shapes[t.Type()].unit == unitByte {
			w.lastBytes()
		}
		w.end()
	case gdwire.KindRID, gdwire.KindObjectID, gdwire.KindSignal, gdwire.KindObjectStart, gdwire.KindProperty:
		w.plainReference(t)
	default:
		w.open("[", frame{end: "]"})
		w.components(t, shapes[t.Type()].wire)
		w.end()
	}
}

func (w *writer) plainReference(t gdwire.Token) {
	switch t.Kind() {
	case gdwire.KindRID, gdwire.KindObjectID:
		w.decimal(int64(t.ID()))
	case gdwire.KindSignal:
		w.open("{", frame{end: "}"})
		w.name("name")
		w.text(t.Bytes())
		w.name("object")
		w.decimal(int64(t.ID()))
		w.end()
	case gdwire.KindObjectStart:
		w.open("{", frame{end: "}", lines: true})
		w.name("class")
		w.text(t.Bytes())
	default: // a property's name
		w.text(t.Bytes())
		w.add(w.colon)
		w.named = true
	}
}

func (w *writer) plainGodot2(t gdwire.Token) {
	w.open("{", frame{})
	w.godot2(t)
	w.name("data")
	w.start(`"`)
	w.frames[len(w.frames)-1].end = `"}`
	if t.Kind() == gdwire.KindInputEvent {
		w.bytes(t.Bytes())
		w.lastBytes()
		w.end()
	}
}

// bytes appends p in base64, and keeps the last one or two bytes of an incomplete group of three in
// w.base64.
func (w *writer) bytes(p []byte) {
	if len(w.base64) > 0 {
		n := min(3-len(w.base64), len(p))
		w.base64 = append(w.base64, p[:n]...)
		if p = p[n:]; len(w.base64) < 3 {
			return
		}
		w.lastBytes()
	}
	whole := len(p) / 3 * 3
	w.buf = base64.StdEncoding.AppendEncode(w.buf, p[:whole])
	w.base64 = append(w.base64, p[whole:]...)
}

// lastBytes appends the group of up to three bytes in w.base64.
func (w *writer) lastBytes() {
	w.buf = base64.StdEncoding.AppendEncode(w.buf, w.base64)
	w.base64 = w.base64[:0]
}

// key reads a dictionary's key and appends the key as the name of a member: the content of a String
// or StringName, and the GDScript text of any other value.
func (w *writer) key() {
	outer, comma, indent := w.outer, w.comma, w.indent
	w.open(`"`, frame{})
	w.outer, w.comma, w.indent = len(w.frames), ", ", ""
	if err := w.value((*writer).scriptKey); err != nil && w.err == nil {
		w.err = err
	}
	w.frames = w.frames[:len(w.frames)-1]
	w.outer, w.comma, w.indent = outer, comma, indent
	if w.err == nil {
		w.add(`"`)
		w.add(w.colon)
		w.named = true
	}
}

// native appends a token in native JSON.
func (w *writer) native(t gdwire.Token) {
	switch t.Kind() {
	case gdwire.KindNil:
		w.start("null")
	case gdwire.KindBool:
		w.start(strconv.FormatBool(t.Bool()))
	case gdwire.KindInt32, gdwire.KindInt64:
		w.start(`"i:`)
		w.buf = strconv.AppendInt(w.buf, t.Int(), 10)
		w.add(`"`)
	case gdwire.KindFloat32, gdwire.KindFloat64:
		w.start(`"f:`)
		w.buf = appendText(w.buf, t.Float(), 64)
		w.add(`"`)
	case gdwire.KindStringChunk:
		w.nativeText(t)
	case gdwire.KindNodePathStart:
		w.nodePathStart(t, `"np:`, `"`)
	case gdwire.KindDictStart:
		w.nativeDict(t)
	case gdwire.KindDictKey:
	case gdwire.KindArrayStart:
		w.nativeArray(t)
	case gdwire.KindPackedStart:
		w.openObject(t.Type().String())
		w.openList("args", frame{lines: t.Type() == gdwire.TypePackedStringArray})
	case gdwire.KindImageStart, gdwire.KindInputEvent:
		w.nativeGodot2(t)
	case gdwire.KindChunk:
		s := shapes[t.Type()]
		w.numbers(t.Bytes(), s.unit, t.Width(), 1)
	case gdwire.KindProperty:
		w.text(t.Bytes())
	case gdwire.KindEnd:
		w.end()
	case gdwire.KindRID, gdwire.KindCallable, gdwire.KindSignal, gdwire.KindObjectID, gdwire.KindObjectStart:
		w.nativeReference(t)
	default:
		w.openObject(t.Type().String())
		w.openList("args", frame{})
		w.components(t, shapes[t.Type()].wire)
		w.end()
	}
}

func (w *writer) nativeText(t gdwire.Token) {
	switch t.Type() {
	case gdwire.TypeNodePath:
		w.nodePathName(t)
	case gdwire.TypeString:
		w.chunk(t, `"s:`, `"`)
	case gdwire.TypeStringName:
		w.chunk(t, `"sn:`, `"`)
	default: // of a PackedStringArray
		w.chunk(t, `"`, `"`)
	}
}

func (w *writer) nativeDict(t gdwire.Token) {
	w.openObject("Dictionary")
	if len(t.Bytes()) > 0 {
		w.declared("key_type", t.KeyElem())
		w.declared("value_type", t.Elem())
	}
	w.openList("args", frame{lines: true, pairs: true})
}

func (w *writer) nativeArray(t gdwire.Token) {
	if len(t.Bytes()) == 0 {
		w.open("[", frame{end: "]", lines: true})
		return
	}
	w.openObject("Array")
	w.declared("elem_type", t.Elem())
	w.openList("args", frame{lines: true})
}

// declared appends a member with the declared type of elements, keys or values.
func (w *writer) declared(name string, e gdwire.Elem) {
	if e == (gdwire.Elem{}) {
		return
	}
	w.name(name)
	member, text, ok := declaredText(e)
	if ok {
		w.text([]byte(text))
		return
	}
	w.open("{", frame{end: "}"})
	w.name(member)
	w.text([]byte(text))
	w.end()
}

// nativeReference appends a RID, Callable, Signal or Object. Members for ids and
// names are additions of this package; the engine does not write them.
func (w *writer) nativeReference(t gdwire.Token) {
	if t.Kind() == gdwire.KindObjectStart {
		w.open("{", frame{end: "}"})
		w.name("type")
		w.text(t.Bytes())
		w.openList("props", frame{lines: true, pairs: true})
		return
	}
	switch t.Kind() {
	case gdwire.KindRID:
		w.openObject("RID")
		if t.Width() > 0 { // formats before Godot 4 have no id
			w.id("id", t.ID())
		}
	case gdwire.KindCallable:
		w.openObject("Callable")
	case gdwire.KindSignal:
		w.openObject("Signal")
		w.name("name")
		w.text(t.Bytes())
		w.id("object", t.ID())
	case gdwire.KindObjectID:
		w.openObject("ObjectID")
		w.id("id", t.ID())
	}
	w.end()
}

// nativeGodot2 appends an Image or InputEvent, types of Godot 2 alone. No
// engine reads them as JSON.
func (w *writer) nativeGodot2(t gdwire.Token) {
	w.openObject(t.Type().String())
	w.godot2(t)
	w.openList("data", frame{})
	if t.Kind() == gdwire.KindInputEvent {
		w.numbers(t.Bytes(), unitByte, 8, 1)
		w.end()
	}
}

// FromJSON reads one JSON value from r, up to the end of r, and writes the value to e.
//
// Counts precede content in the binary format, so FromJSON holds the text in memory,
// at most [gdwire.EncoderOptions].MaxBuffered bytes, and an index of 12 bytes for each
// object and array. Longer text is a [gdwire.LimitError]. FromJSON reads the bytes of a
// [bytes.Buffer] in place, without copying them, so nothing must write to the Buffer before
// FromJSON returns.
//
// Invalid JSON, and a value that e cannot write, is an [Error]. If FromJSON wrote nothing, e is
// unchanged and remains usable. Otherwise the error stays in e, as after [gdwire.Encoder.Fail]; an
// error of e's Writer stays, too. An error of r is returned unchanged.
func FromJSON(e *gdwire.Encoder, r io.Reader, opts ...Options) error {
	o := optionsOf(opts)
	if err := e.Err(); err != nil {
		return err
	}
	p := readers.Get().(*reader)
	defer p.release()
	p.e, p.o = e, *o
	most := e.Options().MaxBuffered
	switch {
	case most < 0:
		most = math.MaxInt64
	case most == 0:
		most = defaultMaxBuffered
	}
	// readMembers checks the names in native objects, where every member is known.
	unique := p.o.Plain && !p.o.Lenient
	if err := p.text.read(r, most, unique, p.o.Lenient); err != nil {
		return err
	}
	start := e.OutputOffset()
	p.at = cursor{pos: skipSpace(p.text.json, 0)}
	if p.o.Plain {
		p.plain()
	} else {
		p.native()
	}
	if fault, ok := p.err.(*Error); ok {
		fault.Pointer = p.text.pointer(fault.Offset)
	}
	if e.OutputOffset() == start {
		_ = e.ClearError() // p.err, if it is not nil
	} else {
		_ = e.Fail(p.err) // with the Encoder's offset and path
	}
	return p.err
}

// defaultMaxBuffered is the limit if EncoderOptions.MaxBuffered is 0.
const defaultMaxBuffered = 8 << 20

// ToJSON writes the next value of d to w as JSON, without a newline after the value. At the end of
// the input, ToJSON returns io.EOF and writes nothing.
//
// It holds one token and a few KiB of text, for values of any size. After an error of d or w, the
// output is incomplete and ToJSON cannot be resumed. For a NodePath or text that JSON cannot
// represent, the error is a [gdwire.Error] wrapping [gdwire.ErrRange] or [gdwire.ErrUTF8].
func ToJSON(w io.Writer, d *gdwire.Decoder, opts ...Options) error {
	o := optionsOf(opts)
	if err := atValue(d); err != nil {
		return err
	}
	p := getWriter(w, d, o)
	defer p.release()
	write := (*writer).native
	if p.plainJSON {
		write = (*writer).plain
	}
	err := p.value(write)
	p.flush()
	return cmp.Or(err, p.err)
}

// atValue returns an error unless a value is next in d, and consumes a DictKey token before a key.
func atValue(d *gdwire.Decoder) error {
	if depth := d.Depth(); depth > 0 {
		switch k, _, _ := d.StackIndex(depth); k {
		case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
		default:
			return d.WrapError(fmt.Errorf("%w: ToJSON inside a %v", gdwire.ErrType, k))
		}
	}
	switch k := d.PeekKind(); k {
	case gdwire.KindEnd:
		return d.WrapError(fmt.Errorf("%w: ToJSON where an End is next", gdwire.ErrCount))
	case gdwire.KindProperty:
		return d.WrapError(fmt.Errorf("%w: ToJSON where a property's name is next", gdwire.ErrType))
	case gdwire.KindDictKey:
		_, err := d.ReadToken()
		return err
	}
	return nil
}
