package variant

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/text"
)

// Trees as text, and as JSON.

// String returns d on one line, in the syntax of the command gdwire:
//
//	{"name": "Ada", "pos": Vector2(1.0, 2.5), "tags": Array[StringName]([&"a"]), "data": PackedByteArray("00ff")}
//
// The text is complete, of any length. A container inside more than 1,024 others or inside itself
// is printed as …, and a value without an encoding as the error, in angle brackets.
func (d *Dictionary) String() string { return textOf(d) }

// String returns a on one line, as [Dictionary.String] does: Array[int]([1, 2]).
func (a *Array) String() string { return textOf(a) }

// String returns o on one line, as [Dictionary.String] does: Object("Node", {"name": "a"}).
func (o *Object) String() string { return textOf(o) }

// String returns the value in r on one line, as [Dictionary.String] does.
func (r Raw) String() string { return textOf(r) }

// String returns v as in GDScript: Vector2(1.0, 2.5). The methods of the other math types do the
// same. A component representable as a float32 is printed with no more digits than a float32 needs.
func (v Vector2) String() string { return textOf(v) }

// String returns v as text, as [Vector2.String] does.
func (v Vector2i) String() string { return textOf(v) }

// String returns v as text, as [Vector2.String] does.
func (v Vector3) String() string { return textOf(v) }

// String returns v as text, as [Vector2.String] does.
func (v Vector3i) String() string { return textOf(v) }

// String returns v as text, as [Vector2.String] does.
func (v Vector4) String() string { return textOf(v) }

// String returns v as text, as [Vector2.String] does.
func (v Vector4i) String() string { return textOf(v) }

// String returns v as text, with four numbers: Rect2(1.0, 2.0, 3.0, 4.0).
func (v Rect2) String() string { return textOf(v) }

// String returns v as text, with four numbers, as [Rect2.String] does.
func (v Rect2i) String() string { return textOf(v) }

// String returns v as text, with four numbers, as [Rect2.String] does.
func (v Plane) String() string { return textOf(v) }

// String returns v as text, as [Vector2.String] does.
func (v Quaternion) String() string { return textOf(v) }

// String returns v as text, with six numbers, as [Rect2.String] does.
func (v AABB) String() string { return textOf(v) }

// String returns v as text, with six numbers, as [Rect2.String] does.
func (v Transform2D) String() string { return textOf(v) }

// String returns v as text, with nine numbers in encoded order: by rows.
func (v Basis) String() string { return textOf(v) }

// String returns v as text, with the numbers of [Basis.String] and three of the origin.
func (v Transform3D) String() string { return textOf(v) }

// String returns v as text, with sixteen numbers, as [Rect2.String] does.
func (v Projection) String() string { return textOf(v) }

// String returns v as text, as [Vector2.String] does.
func (v Color) String() string { return textOf(v) }

// String returns r as text: RID(5).
func (r RID) String() string { return textOf(r) }

// String returns o as text, ObjectID(5), or null.
func (o ObjectID) String() string { return textOf(o) }

// String returns s as text: Signal("hit", 5).
func (s Signal) String() string { return textOf(s) }

// String returns c as text: Callable().
func (c Callable) String() string { return textOf(c) }

// String returns i as text, with Data in hexadecimal: Image(3, 0, 2, 1, "00ff").
func (i Image) String() string { return textOf(i) }

// String returns e as text, with Data in hexadecimal: InputEvent(1, 0, "00ff").
func (e InputEvent) String() string { return textOf(e) }

// textOf returns v as printed by the command gdwire, on one line.
func textOf(v any) string {
	d := (&Raw{}).decoder(gdwire.EncoderOptions{AllowInvalidUTF8: true})
	defer d.Release()
	e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{AllowInvalidUTF8: true, DoubleReals: true, Depth: -1})
	defer func() { _ = e.Close() }()
	e.ResetBytes(nil)
	p := printer{Printer: text.Printer{Decoder: d, Short: true}, e: e}
	p.value(v)
	return string(p.Buf)
}

// A printer prints trees. Everything else is encoded, and the encoding printed; plain texts and ints are
// printed directly: see isPlain.
type printer struct {
	text.Printer
	e      *gdwire.Encoder
	around []content // of the containers around the next value
}

// content identifies the content of a container.
type content struct {
	first any // a pointer to the first element
	n     int
}

// contentOf returns the content of a container with these elements.
func contentOf[T any](all []T) content {
	if len(all) == 0 {
		return content{} // empty
	}
	return content{&all[0], len(all)}
}

// value appends v.
func (p *printer) value(v any) {
	v = normal(v)
	if s, ok := v.(string); ok && isPlain(s) {
		p.Buf = text.AppendQuoted(p.Buf, s)
		return
	}
	switch v := v.(type) {
	case int64:
		p.Buf = strconv.AppendInt(p.Buf, v, 10)
	case *Dictionary:
		p.dictionary(v)
	case *Array:
		p.array(v)
	case []any:
		p.array(&Array{Values: v})
	case *Object:
		p.object(v)
	case Raw:
		d := v.decoder(gdwire.EncoderOptions{AllowInvalidUTF8: true})
		defer d.Release()
		p.next(d)
	case Image:
		p.leaf(gdwire.TypeImage, v.Data, v.Format, v.Mipmaps, v.Width, v.Height)
	case InputEvent:
		p.leaf(gdwire.TypeInputEvent, v.Data, v.Type, v.Device)
	default:
		p.e.ResetBytes(p.e.Bytes()[:0])
		if err := MarshalEncode(p.e, v); err != nil {
			p.error(err)
			return
		}
		p.ResetBytes(p.e.Bytes())
		p.next(p.Decoder)
	}
}

// isPlain reports whether s consists of printable ASCII characters, none of them escaped.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// next appends the next value of d.
func (p *printer) next(d *gdwire.Decoder) {
	start, own := len(p.Buf), p.Decoder
	p.Decoder = d
	if err := p.Next(len(p.around)); err != nil {
		p.Buf = p.Buf[:start]
		p.error(err)
	}
	p.Decoder = own
}

// error appends err instead of a value. A value nested too deep, such as a container inside itself, is ….
func (p *printer) error(err error) {
	if errors.Is(err, gdwire.ErrLimit) {
		p.Buf = append(p.Buf, text.Ellipsis...)
		return
	}
	p.Buf = fmt.Appendf(p.Buf, "<%v>", err)
}

// leaf appends a value of numbers and bytes.
func (p *printer) leaf(t gdwire.Type, data []byte, numbers ...uint32) {
	v := text.Value{Type: t, Text: string(data)}
	for _, x := range numbers {
		v.Numbers = append(v.Numbers, float64(x))
	}
	p.Buf = v.Append(p.Buf)
}

// container appends a container, with the items appended by a call.
func (p *printer) container(v text.Value, c content, items func()) {
	if len(p.around) == text.MaxNesting || slices.Contains(p.around, c) {
		p.Buf = append(p.Buf, text.Ellipsis...)
		return
	}
	p.around = append(p.around, c)
	p.Buf = v.AppendStart(p.Buf)
	items()
	p.Buf = v.AppendEnd(p.Buf)
	p.around = p.around[:len(p.around)-1]
}

func (p *printer) dictionary(d *Dictionary) {
	v := text.Value{Type: gdwire.TypeDictionary, Key: d.Key, Elem: d.Value}
	p.container(v, contentOf(d.entries), func() {
		i := int64(0)
		for key, value := range d.All() {
			p.Buf = text.AppendSeparator(p.Buf, i)
			p.value(key)
			p.Buf = append(p.Buf, text.AfterKey...)
			p.value(value)
			i++
		}
	})
}

func (p *printer) array(a *Array) {
	p.container(text.Value{Type: gdwire.TypeArray, Elem: a.Elem}, contentOf(a.Values), func() {
		for i, x := range a.Values {
			p.Buf = text.AppendSeparator(p.Buf, int64(i))
			p.value(x)
		}
	})
}

func (p *printer) object(o *Object) {
	p.container(text.Value{Type: gdwire.TypeObject, Text: o.Class}, contentOf(o.Properties), func() {
		for i := range o.Properties {
			p.Buf = text.AppendQuoted(text.AppendSeparator(p.Buf, int64(i)), o.Properties[i].Name)
			p.Buf = append(p.Buf, text.AfterKey...)
			p.value(o.Properties[i].Value)
		}
	})
}

// MarshalJSON returns a JSON object with the pairs in order. A key of another type than text is
// named by its String, such as "Vector2i(1, 2)" or "5". Values are encoded by encoding/json: a
// Vector2 is {"X":1,"Y":2}, a []byte is base64, NaN and infinity are errors. Package gdjson writes
// the JSON of Godot, and arrays for vectors.
func (d *Dictionary) MarshalJSON() ([]byte, error) { return jsonOf(d) }

// MarshalJSON returns a JSON array, with elements as in [Dictionary.MarshalJSON].
func (a *Array) MarshalJSON() ([]byte, error) { return jsonOf(a) }

// MarshalJSON returns a JSON object: "class", then the properties in order, with values as in
// [Dictionary.MarshalJSON].
func (o *Object) MarshalJSON() ([]byte, error) { return jsonOf(o) }

// jsonOf returns the JSON of a tree.
func jsonOf(v any) ([]byte, error) {
	var w jsonWriter
	w.e = json.NewEncoder(&w.out)
	w.e.SetEscapeHTML(false) // the caller's Encoder does so if wanted
	if w.value(v); w.err != nil {
		return nil, w.err
	}
	return w.out.Bytes(), nil
}

// A jsonWriter writes a tree as JSON. A call of json.Marshal for each container would copy
// content again at each level of nesting.
type jsonWriter struct {
	out   bytes.Buffer
	e     *json.Encoder // for values other than the containers of a tree
	depth int
	err   error // the first; after it, no value is written
}

// value writes v.
func (w *jsonWriter) value(v any) {
	if w.err != nil {
		return
	}
	switch v := normal(v).(type) {
	case string:
		w.text(v)
	case int64:
		w.out.Write(strconv.AppendInt(w.out.AvailableBuffer(), v, 10))
	case *Dictionary:
		w.container("{}", func() {
			for key, value := range v.All() {
				w.member(jsonName(key), value)
			}
		})
	case *Array:
		w.array(v.Values)
	case *Object:
		w.container("{}", func() {
			w.member("class", v.Class)
			for i := range v.Properties {
				w.member(v.Properties[i].Name, v.Properties[i].Value)
			}
		})
	case []any:
		if v == nil {
			w.other(nil)
		} else {
			w.array(v)
		}
	case map[string]any:
		if v == nil {
			w.other(nil)
		} else {
			w.container("{}", func() {
				for _, name := range slices.Sorted(maps.Keys(v)) {
					w.member(name, v[name])
				}
			})
		}
	case Raw:
		var x any
		o := gdwire.DecoderOptions{AllowObjects: true, AllowInvalidUTF8: true, Limits: gdwire.NoLimits}
		w.err = v.Unmarshal(&x, Options{Decoder: o, MaxMemory: -1})
		w.value(x)
	default:
		w.other(v)
	}
}

// text writes s, without encoding/json if nothing is escaped: -40 % of MarshalJSON, with ints.
func (w *jsonWriter) text(s string) {
	if !isPlain(s) {
		w.other(s)
		return
	}
	w.out.WriteByte('"')
	w.out.WriteString(s)
	w.out.WriteByte('"')
}

// other writes v by encoding/json.
func (w *jsonWriter) other(v any) {
	if err := w.e.Encode(v); err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	w.out.Truncate(w.out.Len() - len("\n"))
}

// container writes a container, with the members written by a call. Containers inside
// themselves are nested too deep.
func (w *jsonWriter) container(brackets string, members func()) {
	if w.depth++; w.depth > maxDepth {
		w.err = depthError()
		return
	}
	w.out.WriteByte(brackets[0])
	members()
	w.out.WriteByte(brackets[1])
	w.depth--
}

func (w *jsonWriter) array(values []any) {
	w.container("[]", func() {
		for _, x := range values {
			w.comma()
			w.value(x)
		}
	})
}

// member writes the name and value of a member of an object.
func (w *jsonWriter) member(name string, value any) {
	w.comma()
	w.text(name)
	w.out.WriteByte(':')
	w.value(value)
}

// comma writes the comma before an element or member, unless it is the first.
func (w *jsonWriter) comma() {
	if b := w.out.Bytes(); b[len(b)-1] != '{' && b[len(b)-1] != '[' {
		w.out.WriteByte(',')
	}
}

// jsonName returns the name of a member for a key.
func jsonName(key any) string {
	if v := reflect.ValueOf(key); v.Kind() == reflect.String {
		return v.String()
	}
	return textOf(key)
}
