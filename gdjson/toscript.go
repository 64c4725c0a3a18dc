package gdjson

import (
	"strconv"

	"github.com/gdwire/gdwire"
)

// scriptKey appends a token of a key: the content of a String or StringName, and
// the GDScript text of any other value.
func (w *writer) scriptKey(t gdwire.Token) {
	typ := t.Type()
	if len(w.frames) > w.outer || t.Kind() != gdwire.KindStringChunk || typ != gdwire.TypeString && typ != gdwire.TypeStringName {
		w.script(t)
		return
	}
	w.chunk(t, "", "")
}

// script appends a token as GDScript text, escaped as part of a JSON string.
func (w *writer) script(t gdwire.Token) {
	switch t.Kind() {
	case gdwire.KindNil:
		w.start("null")
	case gdwire.KindBool:
		w.start(strconv.FormatBool(t.Bool()))
	case gdwire.KindInt32, gdwire.KindInt64:
		w.decimal(t.Int())
	case gdwire.KindFloat32, gdwire.KindFloat64:
		w.element()
		w.buf = appendText(w.buf, t.Float(), 64)
	case gdwire.KindStringChunk:
		w.scriptText(t)
	case gdwire.KindNodePathStart:
		w.nodePathStart(t, `^\"`, `\"`)
	case gdwire.KindDictStart:
		w.open("{", frame{end: "}", pairs: true, colon: true})
	case gdwire.KindDictKey:
	case gdwire.KindArrayStart:
		w.open("[", frame{end: "]"})
	case gdwire.KindChunk:
		w.numbers(t.Bytes(), shapes[t.Type()].unit, t.Width(), 1)
	case gdwire.KindEnd:
		w.end()
	case gdwire.KindProperty:
		w.element()
		w.scriptQuote(t.Bytes())
	default:
		w.scriptCall(t)
	}
}

func (w *writer) scriptText(t gdwire.Token) {
	if t.Type() == gdwire.TypeNodePath {
		w.nodePathName(t)
		return
	}
	if !w.inText {
		w.element()
		if t.Type() == gdwire.TypeStringName {
			w.add("&")
		}
		w.add(`\"`)
	}
	w.escapedTwice(t.Bytes())
	if w.inText = !t.Last(); !w.inText {
		w.add(`\"`)
	}
}

func (w *writer) scriptQuote(s []byte) {
	w.add(`\"`)
	w.escapedTwice(s)
	w.add(`\"`)
}

// escapedTwice appends the content of a GDScript string inside a JSON string.
func (w *writer) escapedTwice(s []byte) {
	buf := w.buf
	w.buf = w.scratch[:0]
	w.escaped(s)
	w.buf, w.scratch = buf, w.buf
	w.escaped(w.scratch)
}

// scriptCall appends a token as a constructor call in GDScript, such as Vector2(1.0, 2.0).
func (w *writer) scriptCall(t gdwire.Token) {
	w.open(t.Type().String(), frame{end: ")"})
	w.add("(")
	switch t.Kind() {
	case gdwire.KindPackedStart, gdwire.KindImageStart:
		return
	case gdwire.KindObjectStart:
		w.element()
		w.scriptQuote(t.Bytes())
		w.frames[len(w.frames)-1] = frame{end: ")", started: true, pairs: true, colon: true}
		return
	case gdwire.KindSignal:
		w.element()
		w.scriptQuote(t.Bytes())
	case gdwire.KindInputEvent:
		w.numbers(t.Bytes(), unitByte, 8, 1)
	}
	if id := t.ID(); id != 0 {
		w.decimal(int64(id))
	}
	if t.Components() > 0 {
		w.components(t, nil)
	}
	w.end()
}
