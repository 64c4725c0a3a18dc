// Package tagged reads and writes values as JSON that keeps every type, as the vectors of
// spec/vectors and spec/conform have them.
package tagged

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
)

// Append appends the next value of d. After an error, what is appended is undefined.
func Append(dst []byte, d *gdwire.Decoder) ([]byte, error) {
	p := printer{dst, d}
	err := p.value()
	return p.b, err
}

// A printer appends values to b.
type printer struct {
	b []byte
	d *gdwire.Decoder
}

func (p *printer) value() error {
	t, err := p.d.ReadToken()
	if err != nil {
		return err
	}
	name := t.Type().String()
	if t.Kind() == gdwire.KindObjectID {
		name = "ObjectID"
	}
	p.add(`{"t":`)
	p.text([]byte(name))
	if err := p.content(t); err != nil {
		return err
	}
	p.add("}")
	return nil
}

func (p *printer) add(s string) { p.b = append(p.b, s...) }

// text appends a string.
func (p *printer) text(s []byte) {
	b, err := json.Marshal(string(s))
	if err == nil { // always
		p.b = append(p.b, b...)
	}
}

// content appends the fields of a value after its type.
func (p *printer) content(t gdwire.Token) error {
	switch k := t.Kind(); k {
	case gdwire.KindNil, gdwire.KindCallable:
		return nil
	case gdwire.KindBool:
		p.add(`,"v":` + strconv.FormatBool(t.Bool()))
	case gdwire.KindInt32, gdwire.KindInt64:
		p.add(`,"v":"` + strconv.FormatInt(t.Int(), 10) + `"`)
	case gdwire.KindRID, gdwire.KindObjectID:
		p.add(`,"v":"` + strconv.FormatInt(int64(t.ID()), 10) + `"`)
	case gdwire.KindFloat32, gdwire.KindFloat64:
		p.add(`,"v":`)
		p.float(t.Float())
	case gdwire.KindSignal:
		p.add(`,"name":`)
		p.text(t.Bytes())
		p.add(`,"object":"` + strconv.FormatInt(int64(t.ID()), 10) + `"`)
	case gdwire.KindInputEvent:
		event, device := t.Event()
		p.fields([]string{"event", "device"}, event, device)
		p.add(`,"v":"` + hex.EncodeToString(t.Bytes()) + `"`)
	case gdwire.KindStringChunk:
		p.add(`,"v":`)
		return p.chunks(t)
	case gdwire.KindNodePathStart:
		return p.nodePath(t)
	case gdwire.KindObjectStart:
		return p.object(t)
	case gdwire.KindDictStart:
		return p.dict(t)
	case gdwire.KindArrayStart:
		p.elem("type", t.Elem())
		p.add(`,"v":`)
		return p.list(t.Len(), p.value)
	case gdwire.KindPackedStart:
		return p.packed(t)
	case gdwire.KindImageStart:
		format, mipmaps, width, height := t.Image()
		p.fields([]string{"format", "mipmaps", "width", "height"}, format, mipmaps, width, height)
		return p.bytes()
	default:
		p.add(`,"v":[`)
		var numbers [16]float64
		for i, x := range t.AppendComponents(numbers[:0]) {
			p.comma(int64(i))
			p.number(x, strings.HasSuffix(t.Type().String(), "i"))
		}
		p.add("]")
	}
	return nil
}

// fields appends numbers with their names.
func (p *printer) fields(names []string, numbers ...uint32) {
	for i, n := range numbers {
		p.add(`,"` + names[i] + `":` + strconv.FormatUint(uint64(n), 10))
	}
}

func (p *printer) comma(i int64) {
	if i > 0 {
		p.add(",")
	}
}

// number appends a component.
func (p *printer) number(x float64, integer bool) {
	if integer {
		p.b = strconv.AppendInt(p.b, int64(x), 10)
	} else {
		p.float(x)
	}
}

// float appends the shortest decimal that is read as x, never as an integer.
func (p *printer) float(x float64) {
	switch {
	case x != x:
		p.add(`"NaN"`)
	case math.IsInf(x, 0):
		p.add(map[bool]string{true: `"Infinity"`, false: `"-Infinity"`}[x > 0])
	default:
		text := strconv.FormatFloat(x, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		p.add(text)
	}
}

// chunks appends the string that begins with t.
func (p *printer) chunks(t gdwire.Token) error {
	text := append([]byte(nil), t.Bytes()...)
	for !t.Last() {
		var err error
		if t, err = p.d.ReadToken(); err != nil {
			return err
		}
		text = append(text, t.Bytes()...)
	}
	p.text(text)
	return nil
}

// list appends n elements by one call of f each, and reads the End unless a container is empty of
// values to read.
func (p *printer) list(n int64, f func() error) error {
	if err := p.elements(n, f); err != nil {
		return err
	}
	return p.d.ReadEnd()
}

// elements appends n elements by one call of f each.
func (p *printer) elements(n int64, f func() error) error {
	p.add("[")
	for i := range n {
		p.comma(i)
		if err := f(); err != nil {
			return err
		}
	}
	p.add("]")
	return nil
}

// string appends a string of a NodePath or PackedStringArray.
func (p *printer) string() error {
	t, err := p.d.ReadToken()
	if err != nil {
		return err
	}
	return p.chunks(t)
}

func (p *printer) nodePath(t gdwire.Token) error {
	names, subnames, absolute := t.NodePath()
	p.add(`,"absolute":` + strconv.FormatBool(absolute) + `,"names":`)
	if err := p.elements(names, p.string); err != nil {
		return err
	}
	p.add(`,"subnames":`)
	return p.list(subnames, p.string)
}

func (p *printer) object(t gdwire.Token) error {
	p.add(`,"class":`)
	p.text(t.Bytes())
	p.add(`,"properties":`)
	return p.list(t.Len(), func() error {
		t, err := p.d.ReadToken()
		if err != nil {
			return err
		}
		p.add("[")
		p.text(t.Bytes())
		p.add(",")
		defer p.add("]")
		return p.value()
	})
}

func (p *printer) dict(t gdwire.Token) error {
	p.elem("key_type", t.KeyElem())
	p.elem("value_type", t.Elem())
	p.add(`,"v":`)
	return p.list(t.Len(), func() error {
		if _, err := p.d.ReadToken(); err != nil { // the DictKey
			return err
		}
		return p.elements(2, p.value)
	})
}

// elem appends a declared type unless there is none.
func (p *printer) elem(field string, e gdwire.Elem) {
	kind, name := "builtin", e.Type.String()
	switch {
	case e.Type == 0:
		return
	case e.Script != "":
		kind, name = "script", e.Script
	case e.Class != "":
		kind, name = "class", e.Class
	}
	p.add(`,"` + field + `":{"` + kind + `":`)
	p.text([]byte(name))
	p.add("}")
}

// bytes appends the bytes of a PackedByteArray or Image.
func (p *printer) bytes() error {
	data, err := io.ReadAll(p.d.Payload())
	p.add(`,"v":"` + hex.EncodeToString(data) + `"`)
	return err
}

func (p *printer) packed(t gdwire.Token) error {
	switch typ := t.Type(); typ {
	case gdwire.TypePackedByteArray:
		return p.bytes()
	case gdwire.TypePackedStringArray:
		p.add(`,"v":`)
		return p.list(t.Len(), p.string)
	case gdwire.TypePackedInt32Array, gdwire.TypePackedInt64Array:
		return numbers(p, func(x int64) {
			text := strconv.FormatInt(x, 10)
			if typ == gdwire.TypePackedInt64Array {
				text = `"` + text + `"`
			}
			p.add(text)
		})
	case gdwire.TypePackedVector2Array:
		return numbers(p, func(x [2]float64) { p.vector(x[:]) })
	case gdwire.TypePackedVector3Array:
		return numbers(p, func(x [3]float64) { p.vector(x[:]) })
	case gdwire.TypePackedVector4Array, gdwire.TypePackedColorArray:
		return numbers(p, func(x [4]float64) { p.vector(x[:]) })
	case gdwire.TypePackedFloat32Array, gdwire.TypePackedFloat64Array:
		return numbers(p, p.float)
	default:
		return errors.New("unknown packed type " + typ.String())
	}
}

// numbers appends the elements of a packed array.
func numbers[T gdwire.Packable](p *printer, add func(T)) error {
	all, err := gdwire.AppendPacked[T](p.d, nil)
	if err != nil {
		return err
	}
	p.add(`,"v":[`)
	for i, x := range all {
		p.comma(int64(i))
		add(x)
	}
	p.add("]")
	return nil
}

func (p *printer) vector(x []float64) {
	for i, x := range x {
		p.comma(int64(i))
		p.float(x)
	}
}
