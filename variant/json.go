package variant

import (
	"bytes"
	"cmp"
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
