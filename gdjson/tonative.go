package gdjson

import (
	"strconv"

	"github.com/gdwire/gdwire"
)

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
