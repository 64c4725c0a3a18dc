package tagged

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// Write writes the value in text to e. It returns an error for text that is no value: a wrong number of
// components, numbers that do not fit or are no numbers, unknown types, and text that is not Unicode.
func Write(e *gdwire.Encoder, text []byte) error {
	if err := checkUnicode(text); err != nil {
		return err
	}
	v, err := parse(text)
	if err != nil {
		return err
	}
	return write(e, v)
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

// typesByName contains all types.
var typesByName = func() map[string]gdwire.Type {
	all := map[string]gdwire.Type{}
	for _, t := range gdwire.Types() {
		all[t.String()] = t
	}
	return all
}()

func write(e *gdwire.Encoder, x any) error {
	members, ok := x.(map[string]any)
	if !ok {
		return fmt.Errorf("%v is no value", x)
	}
	v := &value{members: members}
	v.t = member[string](v, "t")
	if v.t == "ObjectID" {
		return v.objectID(e)
	}
	t, ok := typesByName[v.t]
	if !ok {
		return fmt.Errorf("unknown type %q", v.t)
	}
	err := v.write(e, t)
	return cmp.Or(err, v.err)
}

// A value is one value in the form of parse.
type value struct {
	members map[string]any
	t       string
	err     error // the first of a member
}

// as returns x as a T, or notes that it is none.
func as[T any](v *value, x any) T {
	is, ok := x.(T)
	if !ok {
		v.note(fmt.Errorf("%s: %T is no %T", v.t, x, is))
	}
	return is
}

// member returns a member, which is zero if it is missing.
func member[T any](v *value, name string) (x T) {
	if found := v.members[name]; found != nil {
		x = as[T](v, found)
	}
	return x
}

// content returns the required member v.
func content[T any](v *value) T { return as[T](v, v.members["v"]) }

// list returns the elements of a list.
func list[T any](elements []any, element func(any) T) []T {
	all := make([]T, len(elements))
	for i, x := range elements {
		all[i] = element(x)
	}
	return all
}

// texts returns the strings in a list.
func (v *value) texts(elements []any) []string {
	return list(elements, func(x any) string { return as[string](v, x) })
}

// elem returns the declared type in a member, or no type for an empty one. An empty class or script is Object.
func (v *value) elem(name string) gdwire.Elem {
	d := member[map[string]any](v, name)
	text := func(name string) string {
		if d[name] == nil {
			return ""
		}
		return as[string](v, d[name])
	}
	switch {
	case d["class"] != nil || d["script"] != nil:
		return gdwire.Elem{Type: gdwire.TypeObject, Class: text("class"), Script: text("script")}
	case d["builtin"] == nil:
		return gdwire.Elem{}
	}
	t, ok := typesByName[text("builtin")]
	if !ok {
		v.note(fmt.Errorf("unknown type %q", d["builtin"]))
	}
	return gdwire.Elem{Type: t}
}

// id returns the number in a member, which is 0 if it is missing.
func (v *value) id(name string) uint64 {
	if _, ok := v.members[name]; !ok {
		return 0
	}
	return uint64(v.number(v.members[name]))
}

// number returns the number in a string.
func (v *value) number(x any) int64 {
	s := as[string](v, x)
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil && s[0] == '+' {
		err = errors.New("a number with a plus sign")
	}
	v.note(err)
	return n
}

// int32 returns an integer.
func (v *value) int32(x any) int32 {
	n, err := strconv.ParseInt(string(as[json.Number](v, x)), 10, 32)
	v.note(err)
	return int32(n)
}

// uint32 returns the integer in a member, which is 0 if it is missing.
func (v *value) uint32(name string) uint32 {
	n, err := strconv.ParseUint(string(cmp.Or(member[json.Number](v, name), "0")), 10, 32)
	v.note(err)
	return uint32(n)
}

func (v *value) note(err error) {
	if v.err == nil {
		v.err = err
	}
}

// float64 returns a number, which can be "NaN" and the like.
func (v *value) float64(x any) float64 {
	text, ok := x.(string)
	if !ok {
		text = string(as[json.Number](v, x))
	}
	n, err := strconv.ParseFloat(text, 64)
	v.note(err)
	return n
}

func (v *value) floats() []float64 { return list(content[[]any](v), v.float64) }

func (v *value) bytes() []byte {
	b, err := hex.DecodeString(content[string](v))
	v.note(err)
	return b
}

func (v *value) write(e *gdwire.Encoder, t gdwire.Type) error {
	switch t {
	case gdwire.TypeNil:
		return e.WriteNil()
	case gdwire.TypeBool:
		return e.WriteBool(content[bool](v))
	case gdwire.TypeInt:
		return e.WriteInt(v.number(v.members["v"]))
	case gdwire.TypeFloat:
		return v.float(e, v.float64(v.members["v"]))
	case gdwire.TypeString:
		return e.WriteString(content[string](v))
	case gdwire.TypeStringName:
		return e.WriteStringName(content[string](v))
	case gdwire.TypeRID:
		return e.WriteRID(v.id("v"))
	case gdwire.TypeCallable:
		return e.WriteCallable()
	case gdwire.TypeSignal:
		return e.WriteSignal(member[string](v, "name"), v.id("object"))
	case gdwire.TypeInputEvent:
		return e.WriteInputEvent(v.uint32("event"), v.uint32("device"), v.bytes())
	case gdwire.TypeImage:
		data := v.bytes()
		if err := e.BeginImage(v.uint32("format"), v.uint32("mipmaps"), v.uint32("width"), v.uint32("height"), int64(len(data))); err != nil {
			return err
		}
		_, err := e.Write(data)
		return cmp.Or(err, e.End())
	case gdwire.TypeNodePath:
		names, subnames := v.texts(member[[]any](v, "names")), v.texts(member[[]any](v, "subnames"))
		return writeStrings(e, e.BeginNodePath(len(names), len(subnames), member[bool](v, "absolute")), append(names, subnames...))
	case gdwire.TypeObject:
		return v.object(e)
	case gdwire.TypeArray:
		elements := content[[]any](v)
		return cmp.Or(writeAll(e, e.BeginTypedArray(len(elements), v.elem("type")), elements), e.End())
	case gdwire.TypeDictionary:
		pairs := content[[]any](v)
		err := e.BeginTypedDict(len(pairs), v.elem("key_type"), v.elem("value_type"))
		for _, x := range pairs {
			pair := as[[]any](v, x)
			if len(pair) != 2 {
				return errors.New("a pair is [key, value]")
			}
			err = writeAll(e, err, pair)
		}
		return cmp.Or(err, e.End())
	}
	switch n, integers := t.Components(); {
	case n > 0 && integers:
		return gdwire.WriteComponents(e, t, list(content[[]any](v), v.int32))
	case n > 0:
		return gdwire.WriteComponents(e, t, v.floats())
	}
	return v.packed(e, t)
}

// float writes a float, and a NaN in 32 bits where a format knows no others.
func (v *value) float(e *gdwire.Encoder, x float64) error {
	err := e.WriteFloat(x)
	if err != nil && x != x {
		_ = e.ClearError() // that of WriteFloat
		return e.WriteToken(gdwire.Float32(float32(x)))
	}
	return err
}

// writeAll writes values unless there is an error.
func writeAll(e *gdwire.Encoder, err error, all []any) error {
	for _, x := range all {
		if err == nil {
			err = write(e, x)
		}
	}
	return err
}

// writeStrings writes strings and the End of their container.
func writeStrings(e *gdwire.Encoder, err error, all []string) error {
	for _, s := range all {
		if err == nil {
			err = e.WriteString(s)
		}
	}
	return cmp.Or(err, e.End())
}

// objectID writes an id, and nil for id 0.
func (v *value) objectID(e *gdwire.Encoder) error {
	id := v.id("v")
	if id == 0 {
		return cmp.Or(v.err, e.WriteNil())
	}
	return cmp.Or(v.err, e.WriteObjectID(id))
}

func (v *value) object(e *gdwire.Encoder) error {
	class, properties := member[string](v, "class"), member[[]any](v, "properties")
	if class == "" && len(properties) == 0 {
		return e.WriteNil()
	}
	err := e.BeginObject(class, len(properties))
	for _, x := range properties {
		p := as[[]any](v, x)
		if len(p) != 2 {
			return errors.New("a property is [name, value]")
		}
		if err == nil {
			err = e.WriteProperty(as[string](v, p[0]))
		}
		err = writeAll(e, err, p[1:])
	}
	return cmp.Or(err, e.End())
}

func (v *value) packed(e *gdwire.Encoder, t gdwire.Type) error {
	begin := func(n int) error { return e.BeginPacked(t, int64(n)) }
	switch t {
	case gdwire.TypePackedStringArray:
		all := v.texts(content[[]any](v))
		return writeStrings(e, begin(len(all)), all)
	case gdwire.TypePackedByteArray:
		return writePacked(e, v.bytes(), begin)
	case gdwire.TypePackedInt32Array:
		return writePacked(e, list(content[[]any](v), v.int32), begin)
	case gdwire.TypePackedInt64Array:
		return writePacked(e, list(content[[]any](v), v.number), begin)
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
		v.note(fmt.Errorf("%d numbers are no whole elements of %s", len(x), v.t))
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
