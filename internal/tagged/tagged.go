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
	v, err := reader{d}.value()
	if err != nil {
		return dst, err
	}
	b, err := json.Marshal(v)
	return append(dst, b...), err
}

// A printed is a value as package json prints it. What a type does not have is nil.
type printed struct {
	T          string   `json:"t"`
	Type       elem     `json:"type,omitempty"`
	KeyType    elem     `json:"key_type,omitempty"`
	ValueType  elem     `json:"value_type,omitempty"`
	Name       *string  `json:"name,omitempty"`
	Object     string   `json:"object,omitempty"`
	Event      *uint32  `json:"event,omitempty"`
	Device     *uint32  `json:"device,omitempty"`
	Format     *uint32  `json:"format,omitempty"`
	Mipmaps    *uint32  `json:"mipmaps,omitempty"`
	Width      *uint32  `json:"width,omitempty"`
	Height     *uint32  `json:"height,omitempty"`
	Absolute   *bool    `json:"absolute,omitempty"`
	Names      []string `json:"names,omitzero"`
	Subnames   []string `json:"subnames,omitzero"`
	Class      *string  `json:"class,omitempty"`
	Properties [][2]any `json:"properties,omitzero"`
	V          any      `json:"v,omitempty"`
}

// An elem is a declared type: its kind and its name.
type elem map[string]string

func elemOf(e gdwire.Elem) elem {
	switch {
	case e.Type == 0:
		return nil
	case e.Script != "":
		return elem{"script": e.Script}
	case e.Class != "":
		return elem{"class": e.Class}
	}
	return elem{"builtin": e.Type.String()}
}

// A reader reads values.
type reader struct{ *gdwire.Decoder }

func (r reader) value() (v *printed, err error) {
	t, err := r.ReadToken()
	if err != nil {
		return nil, err
	}
	v = &printed{T: t.Type().String()}
	switch k := t.Kind(); k {
	case gdwire.KindNil, gdwire.KindCallable:
	case gdwire.KindBool:
		v.V = t.Bool()
	case gdwire.KindInt32, gdwire.KindInt64:
		v.V = strconv.FormatInt(t.Int(), 10)
	case gdwire.KindRID:
		v.V = strconv.FormatInt(int64(t.ID()), 10)
	case gdwire.KindObjectID:
		v.T, v.V = "ObjectID", strconv.FormatInt(int64(t.ID()), 10)
	case gdwire.KindFloat32, gdwire.KindFloat64:
		v.V = numbers(nil, t.Float())[0]
	case gdwire.KindSignal:
		v.Name, v.Object = new(t.Text()), strconv.FormatInt(int64(t.ID()), 10)
	case gdwire.KindInputEvent:
		event, device := t.Event()
		v.Event, v.Device, v.V = &event, &device, hex.EncodeToString(t.Bytes())
	case gdwire.KindStringChunk:
		v.V, err = r.chunks(t)
	case gdwire.KindNodePathStart:
		names, subnames, absolute := t.NodePath()
		v.Absolute = &absolute
		if v.Names, err = read(r, names+subnames, r.string); err == nil {
			v.Names, v.Subnames = v.Names[:names], v.Names[names:]
		}
	case gdwire.KindObjectStart:
		v.Class = new(t.Text())
		v.Properties, err = read(r, t.Len(), func() (p [2]any, err error) {
			t, err := r.ReadToken()
			if err == nil {
				p[0] = t.Text()
				p[1], err = r.value()
			}
			return p, err
		})
	case gdwire.KindDictStart:
		v.KeyType, v.ValueType = elemOf(t.KeyElem()), elemOf(t.Elem())
		v.V, err = read(r, t.Len(), func() (pair [2]any, err error) {
			_, err = r.ReadToken() // the DictKey
			for i := range pair {
				if err == nil {
					pair[i], err = r.value()
				}
			}
			return pair, err
		})
	case gdwire.KindArrayStart:
		v.Type = elemOf(t.Elem())
		v.V, err = read(r, t.Len(), r.value)
	case gdwire.KindPackedStart:
		v.V, err = r.packed(t)
	case gdwire.KindImageStart:
		format, mipmaps, width, height := t.Image()
		v.Format, v.Mipmaps, v.Width, v.Height = &format, &mipmaps, &width, &height
		v.V, err = r.bytes()
	default:
		x := t.AppendComponents(nil)
		if v.V = numbers(nil, x...); strings.HasSuffix(v.T, "i") {
			v.V = x // integers
		}
	}
	return v, err
}

// numbers appends each number as the shortest decimal that is read as it, never as an integer, or as a string.
func numbers(all []any, x ...float64) []any {
	for _, x := range x {
		switch text := strconv.FormatFloat(x, 'g', -1, 64); {
		case x != x:
			all = append(all, "NaN")
		case math.IsInf(x, 0):
			all = append(all, strings.TrimPrefix(text, "+")+"inity")
		case strings.ContainsAny(text, ".e"):
			all = append(all, json.Number(text))
		default:
			all = append(all, json.Number(text+".0"))
		}
	}
	return all
}

// chunks returns the string that begins with t.
func (r reader) chunks(t gdwire.Token) (string, error) {
	text := append([]byte(nil), t.Bytes()...)
	for !t.Last() {
		var err error
		if t, err = r.ReadToken(); err != nil {
			return "", err
		}
		text = append(text, t.Bytes()...)
	}
	return string(text), nil
}

// string returns a string of a NodePath or PackedStringArray.
func (r reader) string() (string, error) {
	t, err := r.ReadToken()
	if err != nil {
		return "", err
	}
	return r.chunks(t)
}

// read returns n elements by one call of f each, and reads the End.
func read[T any](r reader, n int64, f func() (T, error)) ([]T, error) {
	all := []T{}
	for range n {
		x, err := f()
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, r.ReadEnd()
}

// bytes returns the bytes of a PackedByteArray or Image.
func (r reader) bytes() (string, error) {
	data, err := io.ReadAll(r.Payload())
	return hex.EncodeToString(data), err
}

func (r reader) packed(t gdwire.Token) (any, error) {
	switch typ := t.Type(); typ {
	case gdwire.TypePackedByteArray:
		return r.bytes()
	case gdwire.TypePackedStringArray:
		return read(r, t.Len(), r.string)
	case gdwire.TypePackedInt32Array:
		return gdwire.AppendPacked(r.Decoder, []int32{})
	case gdwire.TypePackedInt64Array:
		return elements(r, func(all []any, x int64) []any { return append(all, strconv.FormatInt(x, 10)) })
	case gdwire.TypePackedVector2Array:
		return elements(r, func(all []any, x [2]float64) []any { return numbers(all, x[:]...) })
	case gdwire.TypePackedVector3Array:
		return elements(r, func(all []any, x [3]float64) []any { return numbers(all, x[:]...) })
	case gdwire.TypePackedVector4Array, gdwire.TypePackedColorArray:
		return elements(r, func(all []any, x [4]float64) []any { return numbers(all, x[:]...) })
	case gdwire.TypePackedFloat32Array, gdwire.TypePackedFloat64Array:
		return elements(r, func(all []any, x float64) []any { return numbers(all, x) })
	default:
		return nil, errors.New("unknown packed type " + typ.String())
	}
}

// elements returns the elements of a packed array, which add appends.
func elements[T gdwire.Packable](r reader, add func([]any, T) []any) ([]any, error) {
	elements, err := gdwire.AppendPacked[T](r.Decoder, nil)
	all := []any{}
	for _, x := range elements {
		all = add(all, x)
	}
	return all, err
}
