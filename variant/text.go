package variant

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

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
