package variant

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/gdwire/gdwire"
)

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
	if err := w.value(v); err != nil {
		return nil, err
	}
	return w.out.Bytes(), nil
}

// A jsonWriter writes a tree as JSON. A call of json.Marshal for each container would copy
// content again at each level of nesting.
type jsonWriter struct {
	out   bytes.Buffer
	e     *json.Encoder // for values other than the containers of a tree
	depth int
}

// value writes v.
func (w *jsonWriter) value(v any) error {
	switch v := normal(v).(type) {
	case nil:
		return w.other(nil)
	case string:
		return w.text(v)
	case int64:
		w.out.Write(strconv.AppendInt(w.out.AvailableBuffer(), v, 10))
		return nil
	case *Dictionary:
		return w.dictionary(v)
	case *Array:
		return w.array(v)
	case []any:
		if v != nil {
			return w.array(&Array{Values: v})
		}
	case *Object:
		return w.object(v)
	case map[string]any:
		if v != nil {
			return w.goMap(v)
		}
	case Raw:
		return w.raw(v)
	}
	return w.other(v)
}

// text writes s, without encoding/json if nothing is escaped: -40 % of MarshalJSON, with ints.
func (w *jsonWriter) text(s string) error {
	if !isPlain(s) {
		return w.other(s)
	}
	w.out.WriteByte('"')
	w.out.WriteString(s)
	w.out.WriteByte('"')
	return nil
}

// other writes v by encoding/json.
func (w *jsonWriter) other(v any) error {
	err := w.e.Encode(v)
	w.out.Truncate(max(w.out.Len()-len("\n"), 0))
	return err
}

// raw writes the value in r.
func (w *jsonWriter) raw(r Raw) error {
	var v any
	o := gdwire.DecoderOptions{AllowObjects: true, AllowInvalidUTF8: true, Limits: gdwire.NoLimits}
	if err := r.Unmarshal(&v, Options{Decoder: o, MaxMemory: -1}); err != nil {
		return err
	}
	return w.value(v)
}

// container writes a container, with the members written by a call. Containers inside
// themselves are nested too deep.
func (w *jsonWriter) container(brackets string, members func() error) error {
	if w.depth++; w.depth > maxDepth {
		return depthError()
	}
	w.out.WriteByte(brackets[0])
	err := members()
	w.out.WriteByte(brackets[1])
	w.depth--
	return err
}

// member writes the name and value of member i of an object.
func (w *jsonWriter) member(i int, name string, value any) error {
	w.comma(i)
	if err := w.text(name); err != nil {
		return err
	}
	w.out.WriteByte(':')
	return w.value(value)
}

// comma writes the comma before element or member i.
func (w *jsonWriter) comma(i int) {
	if i > 0 {
		w.out.WriteByte(',')
	}
}

func (w *jsonWriter) dictionary(d *Dictionary) error {
	return w.container("{}", func() error {
		i := 0
		for key, value := range d.All() {
			if err := w.member(i, jsonName(key), value); err != nil {
				return err
			}
			i++
		}
		return nil
	})
}

// jsonName returns the name of a member for a key.
func jsonName(key any) string {
	if v := reflect.ValueOf(key); v.Kind() == reflect.String {
		return v.String()
	}
	return textOf(key)
}

func (w *jsonWriter) array(a *Array) error {
	return w.container("[]", func() error {
		for i, x := range a.Values {
			w.comma(i)
			if err := w.value(x); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *jsonWriter) object(o *Object) error {
	return w.container("{}", func() error {
		err := w.member(0, "class", o.Class)
		for i := range o.Properties {
			if err == nil {
				err = w.member(i+1, o.Properties[i].Name, o.Properties[i].Value)
			}
		}
		return err
	})
}

func (w *jsonWriter) goMap(m map[string]any) error {
	return w.container("{}", func() error {
		for i, name := range slices.Sorted(maps.Keys(m)) {
			if err := w.member(i, name, m[name]); err != nil {
				return err
			}
		}
		return nil
	})
}
