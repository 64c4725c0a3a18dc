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

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/go-json-experiment/json/jsontext"
)

// Values as JSON, and what makes two of them equal.

// Append appends the next value of d as JSON. After an error, the appended bytes are undefined.
func Append(dst []byte, d *gdwire.Decoder) ([]byte, error) {
	v, err := (&Reader{Decoder: d}).Value()
	if err != nil {
		return dst, err
	}
	b, err := json.Marshal(&v)
	return append(dst, b...), err
}

// Encode returns the packet of the value in text, in which ids of 0 and objects without a class are nil, as programs write
// them. It returns an error for an invalid value: a wrong number of
// components, invalid numbers or numbers out of range, unknown types, and text other than Unicode.
func Encode(text []byte, o *gdwire.EncoderOptions) ([]byte, error) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, o)
	err := checked.Try(func() {
		var v Value
		if !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) { // package json replaces what is no Unicode
			checked.Check(errors.New("invalid JSON, or text that is no Unicode"))
		}
		checked.Check(json.Unmarshal(text, &v))
		v = v.changed(func(v *Value) {
			if v.Type == "ObjectID" && v.Bits == 0 || v.Type == "Object" && v.Text == "" && len(v.Names) == 0 {
				v.Type = "Nil"
			}
		})
		checked.Check(v.Write(e))
	})
	return b.Bytes(), cmp.Or(err, e.Close())
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
	return checked.Try(func() { *v = valueOf(x) })
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
		if v.Data = append(v.Data, checked.Must(hex.DecodeString(text))...); hex.EncodeToString(v.Data) != text {
			checked.Check(errors.New("hexadecimal in upper case"))
		}
		for _, name := range map[string][]string{"Image": {"format", "mipmaps", "width", "height"}, "InputEvent": {"event", "device"}}[v.Type] {
			n := cmp.Or(member[json.Number](members, name), "0")
			v.Numbers = append(v.Numbers, checked.Must(strconv.ParseUint(string(n), 10, 32)))
		}
	case "PackedStringArray":
		v.Names = list(as[[]any](content()), as[string])
	default:
		of := float
		switch {
		case TypeByName[v.Type] == 0:
			checked.Check(fmt.Errorf("unknown type %q", v.Type))
		case v.Type == "PackedInt64Array":
			of = integer
		case isInts(v.Type):
			of = int32Of
		}
		v.Wide = v.Type == "PackedInt64Array" || v.Type == "PackedFloat64Array"
		if v.Numbers = list(as[[]any](content()), of); len(v.Numbers)%perElement(v.Type) != 0 {
			checked.Check(fmt.Errorf("%d numbers are no whole elements of %s", len(v.Numbers), v.Type))
		}
	}
	for name, x := range members {
		if x != nil {
			checked.Check(fmt.Errorf("a %s with a member %q", v.Type, name))
		}
	}
	return v
}

// as returns x as a T, or fails.
func as[T any](x any) T {
	is, ok := x.(T)
	if !ok {
		checked.Check(fmt.Errorf("%v is no %T", x, is))
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
		checked.Check(errors.New("a pair has two values"))
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
		checked.Check(fmt.Errorf("unknown type %q", builtin))
	}
	return Declared{1, builtin}
}

// integer returns the number in a string.
func integer(x any) uint64 {
	s := as[string](x)
	n := uint64(checked.Must(strconv.ParseInt(s, 10, 64)))
	if decimal(n) != s {
		checked.Check(fmt.Errorf("%s is not the shortest text of a number", s))
	}
	return n
}

// int32Of returns an integer.
func int32Of(x any) uint64 {
	n := checked.Must(as[json.Number](x).Float64())
	if n != float64(int32(n)) {
		checked.Check(fmt.Errorf("%v is no integer of 32 bits", n))
	}
	return uint64(int64(n))
}

// float returns the bits of a number, or of a string for a number that JSON does not have.
func float(x any) uint64 {
	text, ok := x.(string)
	if !ok {
		text = string(as[json.Number](x))
	} else if !slices.Contains([]string{"NaN", "Infinity", "-Infinity", "-0.0"}, text) {
		checked.Check(fmt.Errorf("%q is no number", text))
	}
	return math.Float64bits(checked.Must(strconv.ParseFloat(text, 64)))
}

// Equal reports whether an answer is the value want. The order of members is free, a member
// of null is equal to a missing member, an id of "0" to a missing id, and the string "-0.0" to the
// number, because some JSON libraries cannot write -0.0. A reader may treat text, equal keys, null
// objects and declared classes as engines do: rules T6, T8, C5, O4 and O6 of SPEC.md and its section 10. Equal returns an error if a
// text is no value.
func Equal(answer, want []byte) (bool, error) {
	var x, y Value
	if err := cmp.Or(x.UnmarshalJSON(answer), y.UnmarshalJSON(want)); err != nil {
		return false, err
	}
	return equal(x, y) || equal(x, merged(y, merge4)) || equal(x, merged(y, merge3)), nil
}

func equal(a, b Value) bool {
	if a.Type == "Nil" && (b.Type == "Object" && b.Text == "" || b.Type == "ObjectID" && b.Bits == 0) {
		return true
	}
	return a.Type == b.Type && a.Bits == b.Bits && a.Absolute == b.Absolute && bytes.Equal(a.Data, b.Data) && slices.Equal(a.Numbers, b.Numbers) &&
		equalText(a.Text, b.Text) && slices.EqualFunc(a.Names, b.Names, equalText) && slices.EqualFunc(a.Subnames, b.Subnames, equalText) &&
		equalType(a.Key, b.Key) && equalType(a.Elem, b.Elem) && slices.EqualFunc(a.Items, b.Items, equal)
}

func equalText(a, b string) bool { return a == b || a == asEngines(b) }

// equalType compares declared types. Engines replace a class where objects are not allowed.
func equalType(a, b Declared) bool {
	replaced := a == Declared{2, "EncodedObjectAsID"} && (b.Kind > 1 || b.Name == "Object")
	return replaced || a.Kind == b.Kind && equalText(a.Name, b.Name)
}

// asEngines returns the part of a text kept by engines: up to a NUL, without a byte order mark.
func asEngines(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return strings.TrimPrefix(s, "\ufeff")
}

// The types of keys that Godot 4 and 3 keep apart even if the contents are equal.
var (
	merge4 = []string{"Object", "ObjectID"}
	merge3 = []string{"Object", "ObjectID", "Dictionary", "RID"}
)

// merged returns v with equal keys as engines keep them: in the place of the first, with the value of
// the last.
func merged(v Value, distinct []string) Value {
	v.Items = AsNumbers(v.Items, func(item Value) Value { return merged(item, distinct) })
	if v.Type != "Dictionary" {
		return v
	}
	pairs, places := v.Items, map[string]int{}
	v.Items = nil
	for ; len(pairs) > 0; pairs = pairs[2:] {
		key, shared := keyText(pairs[0], distinct)
		if i, found := places[key]; found && shared {
			v.Items[i+1] = pairs[1]
			continue
		}
		places[key] = len(v.Items)
		v.Items = append(v.Items, pairs[:2]...)
	}
	return v
}

// keyText returns a text shared by equal keys, or false if no other key equals this one.
func keyText(key Value, distinct []string) (text string, shared bool) {
	positive := func(bits uint64) uint64 {
		if math.Float64frombits(bits) == 0 {
			return 0
		}
		return bits
	}
	like := key.changed(func(v *Value) {
		switch {
		case v.Type == "StringName":
			v.Type = "String"
		case v.Type == "float":
			v.Bits = positive(v.Bits)
		case !isInts(v.Type):
			v.Numbers = AsNumbers(v.Numbers, positive)
		}
		v.Text, v.Names, v.Subnames = asEngines(v.Text), AsNumbers(v.Names, asEngines), AsNumbers(v.Subnames, asEngines)
	})
	b, err := json.Marshal(&like)
	return string(b), err == nil && !key.Holds(func(v *Value) bool { return slices.Contains(distinct, v.Type) })
}
