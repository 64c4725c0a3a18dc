package tagged

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// Write writes the value in text to e. It returns an error for what is no value: a wrong number of
// components, numbers that do not fit or are no numbers, unknown types, and text that is not Unicode.
func Write(e *gdwire.Encoder, text []byte) error {
	if err := checkUnicode(text); err != nil {
		return err
	}
	return write(e, text)
}

// checkUnicode returns an error for JSON with invalid UTF-8 or lone surrogates, which package json
// replaces by U+FFFD.
func checkUnicode(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("invalid UTF-8")
	}
	high := false // the last character was the first half of a pair
	for len(text) > 0 {
		size, r := 1, rune(0)
		if text[0] == '\\' && len(text) > 1 {
			size = 2
			if text[1] == 'u' && len(text) >= 6 {
				n, _ := strconv.ParseUint(string(text[2:6]), 16, 16) // package json finds errors
				size, r = 6, rune(n)
			}
		}
		low := r >= 0xDC00 && r < 0xE000
		if low != high {
			return errors.New("lone surrogate")
		}
		high = r >= 0xD800 && r < 0xDC00
		text = text[size:]
	}
	return nil
}

func write(e *gdwire.Encoder, text []byte) error {
	var v value
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if v.T == "ObjectID" {
		return v.objectID(e)
	}
	for _, t := range gdwire.Types() {
		if t.String() == v.T {
			err := v.write(e, t)
			return cmp.Or(err, v.err)
		}
	}
	return fmt.Errorf("unknown type %q", v.T)
}

// A value is one value, whose elements are not decoded yet.
type value struct {
	T         string
	V         json.RawMessage
	Type      declared
	KeyType   declared `json:"key_type"`
	ValueType declared `json:"value_type"`

	Absolute        bool
	Names, Subnames []string
	Name, Class     string
	Object          json.RawMessage
	Properties      [][]json.RawMessage

	Format, Mipmaps, Width, Height, Event, Device uint32

	err error // of V
}

type declared struct{ Builtin, Class, Script *string }

// elem returns the declared type, which is no type if d has no member. An empty class or script is Object.
func (v *value) elem(d declared) gdwire.Elem {
	name := func(s *string) string { return *cmp.Or(s, new(string)) }
	switch {
	case d.Class != nil || d.Script != nil:
		return gdwire.Elem{Type: gdwire.TypeObject, Class: name(d.Class), Script: name(d.Script)}
	case d.Builtin == nil:
		return gdwire.Elem{}
	}
	for _, t := range gdwire.Types() {
		if t.String() == *d.Builtin {
			return gdwire.Elem{Type: t}
		}
	}
	v.note(fmt.Errorf("unknown type %q", *d.Builtin))
	return gdwire.Elem{}
}

// decode decodes V, or notes the error.
func decode[T any](v *value, text json.RawMessage) (x T) {
	if err := json.Unmarshal(text, &x); err != nil && v.err == nil {
		v.err = fmt.Errorf("%s: %w", v.T, err)
	}
	return x
}

// id decodes a number in a string, which is 0 if it is missing.
func (v *value) id(text json.RawMessage) int64 {
	if len(text) == 0 {
		return 0
	}
	return v.number(text)
}

// number decodes a number in a string.
func (v *value) number(text json.RawMessage) int64 {
	s := decode[string](v, text)
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil && s[0] == '+' {
		err = errors.New("a number with a plus sign")
	}
	v.note(err)
	return n
}

func (v *value) note(err error) {
	if v.err == nil {
		v.err = err
	}
}

// A float is a number, or "NaN" and the like.
type float float64

func (f *float) UnmarshalJSON(text []byte) error {
	x, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*f = float(x)
	return err
}

func (v *value) floats() []float64 {
	all := decode[[]float](v, v.V)
	numbers := make([]float64, len(all))
	for i, x := range all {
		numbers[i] = float64(x)
	}
	return numbers
}

func (v *value) bytes() []byte {
	b, err := hex.DecodeString(decode[string](v, v.V))
	v.note(err)
	return b
}

func (v *value) write(e *gdwire.Encoder, t gdwire.Type) error {
	switch t {
	case gdwire.TypeNil:
		return e.WriteNil()
	case gdwire.TypeBool:
		return e.WriteBool(decode[bool](v, v.V))
	case gdwire.TypeInt:
		return e.WriteInt(v.number(v.V))
	case gdwire.TypeFloat:
		return v.float(e, float64(decode[float](v, v.V)))
	case gdwire.TypeString:
		return e.WriteString(decode[string](v, v.V))
	case gdwire.TypeStringName:
		return e.WriteStringName(decode[string](v, v.V))
	case gdwire.TypeRID:
		return e.WriteRID(uint64(v.id(v.V)))
	case gdwire.TypeCallable:
		return e.WriteCallable()
	case gdwire.TypeSignal:
		return e.WriteSignal(v.Name, uint64(v.id(v.Object)))
	case gdwire.TypeInputEvent:
		return e.WriteInputEvent(v.Event, v.Device, v.bytes())
	case gdwire.TypeImage:
		data := v.bytes()
		if err := e.BeginImage(v.Format, v.Mipmaps, v.Width, v.Height, int64(len(data))); err != nil {
			return err
		}
		_, err := e.Write(data)
		return cmp.Or(err, e.End())
	case gdwire.TypeNodePath:
		return v.list(e, e.BeginNodePath(len(v.Names), len(v.Subnames), v.Absolute), append(v.Names, v.Subnames...))
	case gdwire.TypeObject:
		return v.object(e)
	case gdwire.TypeArray:
		elements := decode[[]json.RawMessage](v, v.V)
		return cmp.Or(writeAll(e, e.BeginTypedArray(len(elements), v.elem(v.Type)), elements), e.End())
	case gdwire.TypeDictionary:
		pairs := decode[[][]json.RawMessage](v, v.V)
		err := e.BeginTypedDict(len(pairs), v.elem(v.KeyType), v.elem(v.ValueType))
		for _, pair := range pairs {
			err = writeAll(e, err, pair)
		}
		return cmp.Or(err, e.End())
	}
	switch n, integers := t.Components(); {
	case n > 0 && integers:
		return gdwire.WriteComponents(e, t, decode[[]int32](v, v.V))
	case n > 0:
		return gdwire.WriteComponents(e, t, v.floats())
	}
	return v.packed(e, t)
}

// float writes a float, and a NaN in 32 bits where a format has no others.
func (v *value) float(e *gdwire.Encoder, x float64) error {
	err := e.WriteFloat(x)
	if err != nil && x != x {
		_ = e.ClearError() // that of WriteFloat
		return e.WriteToken(gdwire.Float32(float32(x)))
	}
	return err
}

// writeAll writes values unless there is an error.
func writeAll(e *gdwire.Encoder, err error, all []json.RawMessage) error {
	for _, text := range all {
		if err == nil {
			err = write(e, text)
		}
	}
	return err
}

// list writes strings and the End of their container.
func (v *value) list(e *gdwire.Encoder, err error, all []string) error {
	for _, s := range all {
		if err == nil {
			err = e.WriteString(s)
		}
	}
	return cmp.Or(err, e.End())
}

// objectID writes an id, and nil for id 0.
func (v *value) objectID(e *gdwire.Encoder) error {
	id := v.id(v.V)
	if id == 0 {
		return cmp.Or(v.err, e.WriteNil())
	}
	return cmp.Or(v.err, e.WriteObjectID(uint64(id)))
}

func (v *value) object(e *gdwire.Encoder) error {
	if v.Class == "" && len(v.Properties) == 0 {
		return e.WriteNil()
	}
	err := e.BeginObject(v.Class, len(v.Properties))
	for _, p := range v.Properties {
		if len(p) != 2 {
			return errors.New("a property is [name, value]")
		}
		if err == nil {
			err = e.WriteProperty(decode[string](v, p[0]))
		}
		err = writeAll(e, err, p[1:])
	}
	return cmp.Or(err, e.End())
}

func (v *value) packed(e *gdwire.Encoder, t gdwire.Type) error {
	begin := func(n int) error { return e.BeginPacked(t, int64(n)) }
	switch t {
	case gdwire.TypePackedStringArray:
		all := decode[[]string](v, v.V)
		return v.list(e, begin(len(all)), all)
	case gdwire.TypePackedByteArray:
		return writePacked(e, v.bytes(), begin)
	case gdwire.TypePackedInt32Array:
		return writePacked(e, decode[[]int32](v, v.V), begin)
	case gdwire.TypePackedInt64Array:
		var all []int64
		for _, text := range decode[[]json.RawMessage](v, v.V) {
			all = append(all, v.number(text))
		}
		return writePacked(e, all, begin)
	case gdwire.TypePackedVector2Array:
		return writePacked(e, groups(v, 2, func(x []float64) [2]float64 { return [2]float64(x) }), begin)
	case gdwire.TypePackedVector3Array:
		return writePacked(e, groups(v, 3, func(x []float64) [3]float64 { return [3]float64(x) }), begin)
	case gdwire.TypePackedVector4Array, gdwire.TypePackedColorArray:
		return writePacked(e, groups(v, 4, func(x []float64) [4]float64 { return [4]float64(x) }), begin)
	}
	return writePacked(e, v.floats(), begin)
}

// groups returns the numbers of v in groups of n.
func groups[T any](v *value, n int, group func([]float64) T) (all []T) {
	x := v.floats()
	if len(x)%n != 0 {
		v.note(fmt.Errorf("%d numbers are no whole elements of %s", len(x), v.T))
	}
	for ; len(x) >= n; x = x[n:] {
		all = append(all, group(x))
	}
	return all
}

func writePacked[T gdwire.Packable](e *gdwire.Encoder, all []T, begin func(int) error) error {
	if err := begin(len(all)); err != nil {
		return err
	}
	return cmp.Or(gdwire.WritePacked(e, all), e.End())
}

// Encode returns the packet of the value in text.
func Encode(text []byte, o *gdwire.EncoderOptions) ([]byte, error) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, o)
	err := cmp.Or(Write(e, text), e.Close())
	return b.Bytes(), err
}
