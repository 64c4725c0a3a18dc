package tagged

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// Append appends the next value of d as JSON. After an error, the appended bytes are undefined.
func Append(dst []byte, d *gdwire.Decoder) ([]byte, error) {
	v, err := (&Reader{Decoder: d}).Value()
	if err != nil {
		return dst, err
	}
	b, err := json.Marshal(&v)
	return append(dst, b...), err
}

// Encode returns the packet of the value in text, or an error for an invalid value: a wrong number of
// components, invalid numbers or numbers out of range, unknown types, and text other than Unicode.
func Encode(text []byte, o *gdwire.EncoderOptions) ([]byte, error) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, o)
	err := try(func() {
		var v Value
		check(checkUnicode(text))
		check(json.Unmarshal(text, &v))
		check((&Writer{Encoder: e}).Value(&v))
	})
	return b.Bytes(), cmp.Or(err, e.Close())
}

// checkUnicode returns an error for JSON with invalid UTF-8 or lone surrogates, because package json
// replaces them by U+FFFD.
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

// A printed is a value in the form for package json. Fields of other types are nil.
type printed struct {
	T          string   `json:"t"`
	Type       elem     `json:"type,omitempty"`
	KeyType    elem     `json:"key_type,omitempty"`
	ValueType  elem     `json:"value_type,omitempty"`
	Name       *string  `json:"name,omitempty"`
	Object     string   `json:"object,omitempty"`
	Event      *uint64  `json:"event,omitempty"`
	Device     *uint64  `json:"device,omitempty"`
	Format     *uint64  `json:"format,omitempty"`
	Mipmaps    *uint64  `json:"mipmaps,omitempty"`
	Width      *uint64  `json:"width,omitempty"`
	Height     *uint64  `json:"height,omitempty"`
	Absolute   *bool    `json:"absolute,omitempty"`
	Names      []string `json:"names,omitzero"`
	Subnames   []string `json:"subnames,omitzero"`
	Class      *string  `json:"class,omitempty"`
	Properties [][2]any `json:"properties,omitzero"`
	V          any      `json:"v,omitempty"`
}

// An elem is a declared type: the kind and the name.
type elem map[string]string

func (d Declared) printed() elem {
	if d.Kind == 0 {
		return nil
	}
	return elem{[]string{1: "builtin", 2: "class", 3: "script"}[d.Kind]: d.Name}
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (v *Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.printed()) }

func (v *Value) printed() *printed {
	p, n := &printed{T: v.Type}, v.Numbers
	switch v.Type {
	case "Nil", "Callable":
	case "bool":
		p.V = v.Bits != 0
	case "int", "RID", "ObjectID":
		p.V = decimal(v.Bits)
	case "float":
		p.V = shortest(v.Bits)
	case "String", "StringName":
		p.V = v.Text
	case "NodePath":
		p.Absolute, p.Names, p.Subnames = &v.Absolute, append([]string{}, v.Names...), append([]string{}, v.Subnames...)
	case "Signal":
		p.Name, p.Object = &v.Text, decimal(v.Bits)
	case "Object":
		p.Class, p.Properties = &v.Text, make([][2]any, len(v.Names))
		for i, name := range v.Names {
			p.Properties[i] = [2]any{name, v.Items[i].printed()}
		}
	case "Dictionary":
		pairs := make([][2]*printed, len(v.Items)/2)
		for i := range v.Items {
			pairs[i/2][i%2] = v.Items[i].printed()
		}
		p.KeyType, p.ValueType, p.V = v.Key.printed(), v.Elem.printed(), pairs
	case "Array":
		p.Type, p.V = v.Elem.printed(), AsNumbers(v.Items, func(item Value) *printed { return item.printed() })
	case "PackedStringArray":
		p.V = append([]string{}, v.Names...)
	case "PackedByteArray", "Image", "InputEvent":
		switch p.V = hex.EncodeToString(v.Data); v.Type {
		case "Image":
			p.Format, p.Mipmaps, p.Width, p.Height = &n[0], &n[1], &n[2], &n[3]
		case "InputEvent":
			p.Event, p.Device = &n[0], &n[1]
		}
	case "PackedInt64Array":
		p.V = AsNumbers(n, decimal)
	default:
		if p.V = AsNumbers(n, shortest); isInts(v.Type) {
			p.V = AsNumbers(n, ToInt32)
		}
	}
	return p
}

func decimal(bits uint64) string { return strconv.FormatInt(int64(bits), 10) }

// shortest returns a number as the shortest decimal of the same value, never as an integer, or as a string.
func shortest(bits uint64) any {
	x := math.Float64frombits(bits)
	switch text := strconv.FormatFloat(x, 'g', -1, 64); {
	case x != x:
		return "NaN"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(text, "+") + "inity"
	case strings.ContainsAny(text, ".e"):
		return json.Number(text)
	default:
		return json.Number(text + ".0")
	}
}

// UnmarshalJSON decodes a value in the form of spec/vectors.
func (v *Value) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return try(func() { *v = valueOf(x) })
}

// valueOf returns the value in parsed JSON.
func valueOf(x any) Value {
	members := as[map[string]any](x)
	v := Value{Type: member[string](members, "t")}
	content := func() any { return taken(members, "v") }
	switch v.Type {
	case "Nil", "Callable":
	case "bool":
		if as[bool](content()) {
			v.Bits = 1
		}
	case "int":
		v.Bits = integer(content())
	case "float":
		v.Bits = float(content())
	case "String", "StringName":
		v.Text = as[string](content())
	case "RID", "ObjectID":
		v.Bits = id(members, "v")
	case "Signal":
		v.Text, v.Bits = member[string](members, "name"), id(members, "object")
	case "NodePath":
		v.Absolute = member[bool](members, "absolute")
		v.Names, v.Subnames = list(member[[]any](members, "names"), as[string]), list(member[[]any](members, "subnames"), as[string])
	case "Object":
		v.Text = member[string](members, "class")
		for _, x := range member[[]any](members, "properties") {
			p := pair(x)
			v.Names, v.Items = append(v.Names, as[string](p[0])), append(v.Items, valueOf(p[1]))
		}
	case "Dictionary":
		v.Key, v.Elem = declared(members, "key_type"), declared(members, "value_type")
		for _, x := range as[[]any](content()) {
			v.Items = append(v.Items, list(pair(x), valueOf)...)
		}
	case "Array":
		v.Elem, v.Items = declared(members, "type"), list(as[[]any](content()), valueOf)
	case "PackedByteArray", "Image", "InputEvent":
		text := as[string](content())
		if v.Data = append(v.Data, checked(hex.DecodeString(text))...); hex.EncodeToString(v.Data) != text {
			check(errors.New("hexadecimal in upper case"))
		}
		for _, name := range map[string][]string{"Image": {"format", "mipmaps", "width", "height"}, "InputEvent": {"event", "device"}}[v.Type] {
			n := cmp.Or(member[json.Number](members, name), "0")
			v.Numbers = append(v.Numbers, checked(strconv.ParseUint(string(n), 10, 32)))
		}
	case "PackedStringArray":
		v.Names = list(as[[]any](content()), as[string])
	default:
		of := float
		switch {
		case TypeByName[v.Type] == 0:
			check(fmt.Errorf("unknown type %q", v.Type))
		case v.Type == "PackedInt64Array":
			of = integer
		case isInts(v.Type):
			of = int32Of
		}
		v.Wide = v.Type == "PackedInt64Array" || v.Type == "PackedFloat64Array"
		if v.Numbers = list(as[[]any](content()), of); len(v.Numbers)%perElement(v.Type) != 0 {
			check(fmt.Errorf("%d numbers are no whole elements of %s", len(v.Numbers), v.Type))
		}
	}
	for name, x := range members {
		if x != nil {
			check(fmt.Errorf("a %s with a member %q", v.Type, name))
		}
	}
	return v
}

// as returns x as a T, or fails.
func as[T any](x any) T {
	is, ok := x.(T)
	if !ok {
		check(fmt.Errorf("%v is no %T", x, is))
	}
	return is
}

// taken takes a member, or nil if missing.
func taken(members map[string]any, name string) any {
	x := members[name]
	delete(members, name)
	return x
}

// member takes a member, or zero if missing.
func member[T any](members map[string]any, name string) (x T) {
	if found := taken(members, name); found != nil {
		x = as[T](found)
	}
	return x
}

// id takes the number in a member, or 0 if missing.
func id(members map[string]any, name string) uint64 {
	return integer(cmp.Or(taken(members, name), any("0")))
}

// list returns the elements of a list.
func list[T any](elements []any, element func(any) T) (all []T) {
	for _, x := range elements {
		all = append(all, element(x))
	}
	return all
}

// pair returns a key and its value, or the name and value of a property.
func pair(x any) []any {
	all := as[[]any](x)
	if len(all) != 2 {
		check(errors.New("a pair has two values"))
	}
	return all
}

// declared returns the declared type in a member, or no type for an empty one. An empty class or script is Object.
func declared(members map[string]any, name string) Declared {
	d := member[map[string]any](members, name)
	isObject := d["class"] != nil || d["script"] != nil
	script, class, builtin := member[string](d, "script"), member[string](d, "class"), member[string](d, "builtin")
	switch _, known := TypeByName[builtin]; {
	case script != "":
		return Declared{3, script}
	case class != "":
		return Declared{2, class}
	case isObject:
		return Declared{1, "Object"}
	case builtin == "":
		return Declared{}
	case !known:
		check(fmt.Errorf("unknown type %q", builtin))
	}
	return Declared{1, builtin}
}

// integer returns the number in a string.
func integer(x any) uint64 {
	s := as[string](x)
	n := uint64(checked(strconv.ParseInt(s, 10, 64)))
	if decimal(n) != s {
		check(fmt.Errorf("%s is not the shortest text of a number", s))
	}
	return n
}

// int32Of returns an integer.
func int32Of(x any) uint64 {
	n := checked(as[json.Number](x).Float64())
	if n != float64(int32(n)) {
		check(fmt.Errorf("%v is no integer of 32 bits", n))
	}
	return uint64(int64(n))
}

// float returns the bits of a number, or of a string for a number that JSON does not have.
func float(x any) uint64 {
	text, ok := x.(string)
	if !ok {
		text = string(as[json.Number](x))
	} else if !slices.Contains([]string{"NaN", "Infinity", "-Infinity", "-0.0"}, text) {
		check(fmt.Errorf("%q is no number", text))
	}
	return math.Float64bits(checked(strconv.ParseFloat(text, 64)))
}
