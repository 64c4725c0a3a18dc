package model

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// UnmarshalJSON reads a value in the form of spec/vectors.
func (v *Value) UnmarshalJSON(b []byte) error {
	var in struct {
		T                   string
		V                   json.RawMessage
		Type                *jsonDeclared
		KeyType             *jsonDeclared `json:"key_type"`
		ValueType           *jsonDeclared `json:"value_type"`
		Absolute            bool
		Names, Subnames     []string
		Name, Object, Class string
		Properties          [][2]json.RawMessage

		Format, Mipmaps, Width, Height, Event, Device uint64
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*v = Value{Type: in.T, Absolute: in.Absolute, Wide: in.T == "PackedInt64Array" || in.T == "PackedFloat64Array"}
	var err error
	switch in.T {
	case "Nil", "Callable":
	case "bool":
		v.Bits = map[string]uint64{"true": 1}[string(in.V)]
	case "int", "RID", "ObjectID":
		if in.V != nil {
			v.Bits, err = jsonNumber(in.V, true)
		}
	case "float":
		v.Bits, err = jsonNumber(in.V, false)
	case "String", "StringName":
		err = json.Unmarshal(in.V, &v.Text)
	case "NodePath":
		v.Names, v.Subnames = append(v.Names, in.Names...), append(v.Subnames, in.Subnames...)
	case "Signal":
		v.Text = in.Name
		id, e := strconv.ParseInt(in.Object, 10, 64)
		v.Bits, err = uint64(id), e
	case "Object":
		v.Text = in.Class
		for _, p := range in.Properties {
			var name string
			var item Value
			err = errors.Join(err, json.Unmarshal(p[0], &name), json.Unmarshal(p[1], &item))
			v.Names, v.Items = append(v.Names, name), append(v.Items, item)
		}
	case "Dictionary":
		v.Key, v.Elem = in.KeyType.declared(), in.ValueType.declared()
		var pairs [][2]Value
		err = json.Unmarshal(in.V, &pairs)
		for _, p := range pairs {
			v.Items = append(v.Items, p[0], p[1])
		}
	case "Array":
		v.Elem = in.Type.declared()
		var items []Value
		err = json.Unmarshal(in.V, &items)
		v.Items = append(v.Items, items...)
	case "PackedByteArray", "Image", "InputEvent":
		v.Numbers = map[string][]uint64{"Image": {in.Format, in.Mipmaps, in.Width, in.Height}, "InputEvent": {in.Event, in.Device}}[in.T]
		var text string
		err = json.Unmarshal(in.V, &text)
		data, e := hex.DecodeString(text)
		v.Data, err = append(v.Data, data...), errors.Join(err, e)
	case "PackedStringArray":
		var all []string
		err = json.Unmarshal(in.V, &all)
		v.Names = append(v.Names, all...)
	default:
		var all []json.RawMessage
		err = json.Unmarshal(in.V, &all)
		for _, x := range all {
			bits, e := jsonNumber(x, isInts(in.T))
			v.Numbers, err = append(v.Numbers, bits), errors.Join(err, e)
		}
	}
	return err
}

type jsonDeclared struct{ Builtin, Class, Script string }

func (d *jsonDeclared) declared() Declared {
	switch {
	case d == nil:
		return Declared{}
	case d.Script != "":
		return Declared{3, d.Script}
	case d.Class != "":
		return Declared{2, d.Class}
	default:
		return Declared{1, d.Builtin}
	}
}

// jsonNumber reads a number, which may be quoted, as int64 or float64.
func jsonNumber(b json.RawMessage, integer bool) (uint64, error) {
	text := strings.Trim(string(b), `"`)
	if integer {
		n, err := strconv.ParseInt(text, 10, 64)
		return uint64(n), err
	}
	x, err := strconv.ParseFloat(text, 64)
	return math.Float64bits(x), err
}
