package gdjson

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

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
		r.end(at, n)
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
