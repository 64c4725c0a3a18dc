package view

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

// A verdict says whether engines accept and write a readable value.
type verdict struct {
	Refused string `json:"refused,omitempty"` // why engines refuse or drop the value
	Since   string `json:"since,omitempty"`   // the first release to accept the value, if not the first of its format
	Odd     string `json:"odd,omitempty"`     // why no engine writes the value like this
}

// judge fills Refused and Since for a child of c starting with t. Only Dictionaries have keys of a
// declared type, and engines do not check the types of their values.
func (r *reader) judge(c *container, w *row, t gdwire.Token) {
	switch t.Kind() {
	case gdwire.KindObjectStart:
		w.Refused = "engines refuse a serialized object unless they are told to allow objects, as by get_var(true)"
	case gdwire.KindArrayStart:
		if t.Elem() != (gdwire.Elem{}) {
			w.Since = "4.3"
		}
	case gdwire.KindDictStart:
		if t.Elem() != (gdwire.Elem{}) || t.KeyElem() != (gdwire.Elem{}) {
			w.Since = "4.4"
		}
	case gdwire.KindPackedStart:
		if t.Type() == gdwire.TypePackedVector4Array {
			w.Since = "4.3"
		}
	}
	switch {
	case c.kind == gdwire.KindArrayStart:
		r.judgeType(c, w, t, "the element")
	case c.kind == gdwire.KindObjectStart && w.Step == ".script" && r.s.Format == gdwire.Godot4 && !isScript(t):
		w.Refused = "engines since 4.3 refuse a script that is not the path of an existing one"
	}
}

// judgeType fills Refused if an element or key is of another type than declared by the container.
func (r *reader) judgeType(c *container, w *row, t gdwire.Token, what string) {
	null := t.Kind() == gdwire.KindNil && c.elem == gdwire.TypeObject
	if c.elem != 0 && t.Type() != c.elem && !null {
		w.Refused = fmt.Sprintf("the type of %s is not %v, as declared: engines convert or drop it", what, c.elem)
	}
}

// isScript reports whether t can be the script of a serialized object.
func isScript(t gdwire.Token) bool {
	path := t.Kind() == gdwire.KindStringChunk && strings.HasPrefix(string(t.Bytes()), "res://")
	return path || t.Kind() == gdwire.KindNil
}

// maxOdd is the size in bytes of the largest value checked by odd.
const maxOdd = 64 << 10

// odd returns why no engine writes the value of a row like this, or "".
func (r *reader) odd(w *row) string {
	if w.Error != nil || w.To == 0 || w.To-w.At > maxOdd || w.Width > 0 {
		return ""
	}
	b, err := r.s.Bytes(w.At, int(w.To-w.At))
	if err != nil {
		return ""
	}
	o := r.s.Options
	o.Format, o.AllowObjects, o.Strict = r.s.Format, true, true
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(b)
	e, ok := errors.AsType[*gdwire.Error](d.SkipValue())
	if !ok {
		return ""
	}
	why := strings.TrimPrefix(e.Err.Error(), gdwire.ErrStrict.Error()+": ")
	if e.Offset > 0 {
		why += fmt.Sprintf(", at offset %d", w.At+e.Offset)
	}
	return why
}

// typeText returns the type of a value, with the declared types of a container: Array[int].
func typeText(t gdwire.Token) string {
	v := text.Value{Type: t.Type(), Form: text.Declared, Key: t.KeyElem(), Elem: t.Elem()}
	if v.Key == (gdwire.Elem{}) && v.Elem == (gdwire.Elem{}) {
		return t.Type().String()
	}
	return string(cutText(v.Append(nil)))
}
