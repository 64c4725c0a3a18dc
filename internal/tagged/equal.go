package tagged

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Equal reports whether an answer is the value want. The order of members is free, a member
// of null is equal to a missing member, an id of "0" to a missing id, and the string "-0.0" to the
// number, because some JSON libraries cannot write -0.0. A reader may treat text, equal keys, null
// objects and declared classes as engines do: rules T6, T8, C5, O4 and O6 of SPEC.md and its section 10. Equal returns an error if a text is not JSON.
func Equal(answer, want []byte) (bool, error) {
	x, err := parse(answer)
	if err != nil {
		return false, err
	}
	y, err := parse(want)
	if err != nil {
		return false, err
	}
	return equal(x, y) || equal(x, merged(y, merge4)) || equal(x, merged(y, merge3)), nil
}

func parse(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && (equalMembers(a, b) || a["t"] == "Nil" && isNull(b) || a["class"] == "EncodedObjectAsID" && isClass(b))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case json.Number:
		b, ok := number(b)
		return ok && equalNumbers(string(a), b)
	}
	if b, ok := b.(json.Number); ok {
		return equal(b, a)
	}
	if a, ok := a.(string); ok {
		b, ok := b.(string)
		return ok && (a == b || a == asEngines(b))
	}
	return a == b
}

// isNull reports whether a value is a null object.
func isNull(v map[string]any) bool {
	return v["t"] == "Object" && v["class"] == "" || v["t"] == "ObjectID" && cmp.Or(v["v"], any("0")) == "0"
}

// isClass reports whether a value is a declared class, replaced by engines where objects are not allowed.
func isClass(v map[string]any) bool {
	return v["t"] == nil && (v["class"] != nil || v["script"] != nil || v["builtin"] == "Object")
}

// asEngines returns the part of a text kept by engines: up to a NUL, without a byte order mark.
func asEngines(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return strings.TrimPrefix(s, "\ufeff")
}

// number returns the text of a number, or of the string "-0.0".
func number(v any) (string, bool) {
	if n, ok := v.(json.Number); ok {
		return string(n), true
	}
	return "-0.0", v == "-0.0"
}

// equalMembers reports whether a and b contain the same members. Each is compared once: comparing in
// both directions would double the time with each level.
func equalMembers(a, b map[string]any) bool {
	id := a["t"] == "RID" || a["t"] == "ObjectID"
	same := func(name string) bool {
		x, y := a[name], b[name]
		if id && name == "v" {
			x, y = cmp.Or(x, any("0")), cmp.Or(y, any("0"))
		}
		return equal(x, y)
	}
	for name := range a {
		if !same(name) {
			return false
		}
	}
	for name, y := range b {
		if _, ok := a[name]; !ok && y != nil && !same(name) {
			return false
		}
	}
	return true
}

// equalNumbers compares numbers as float64, and their signs.
func equalNumbers(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, failed := strconv.ParseFloat(b, 64)
	return err == nil && failed == nil && math.Float64bits(x) == math.Float64bits(y)
}

// The types of keys that Godot 4 and 3 keep apart even if the contents are equal.
var (
	merge4 = []any{"Object", "ObjectID"}
	merge3 = []any{"Object", "ObjectID", "Dictionary", "RID"}
)

// merged returns v with equal keys as engines keep them: in the place of the first, with the value of
// the last.
func merged(v any, distinct []any) any {
	return mapped(v, func(v any) any {
		if m, ok := v.(map[string]any); ok && m["t"] == "Dictionary" {
			if pairs, ok := m["v"].([]any); ok {
				m["v"] = mergedPairs(pairs, distinct)
			}
		}
		return v
	})
}

func mergedPairs(pairs, distinct []any) (all []any) {
	places := map[string]int{}
	for _, pair := range pairs {
		pair, ok := pair.([]any)
		if !ok || len(pair) != 2 {
			return pairs
		}
		key, ok := keyText(pair[0], distinct)
		if i, found := places[key]; ok && found {
			all[i] = []any{all[i].([]any)[0], pair[1]}
			continue
		}
		places[key] = len(all)
		all = append(all, pair)
	}
	return all
}

// keyText returns a text shared by equal keys, or false if no other key equals this one.
func keyText(key any, distinct []any) (text string, ok bool) {
	ok = true
	b, err := json.Marshal(mapped(key, func(v any) any {
		switch x := v.(type) {
		case map[string]any:
			ok = ok && !slices.Contains(distinct, x["t"])
			if x["t"] == "StringName" {
				x["t"] = "String"
			}
		case string:
			return asEngines(x)
		case json.Number:
			if f, err := x.Float64(); err == nil && f == 0 {
				return json.Number("0")
			}
		}
		return v
	}))
	return string(b), ok && err == nil
}

// mapped returns a copy of v with each value replaced by f, the inner ones first.
func mapped(v any, f func(any) any) any {
	switch x := v.(type) {
	case []any:
		all := make([]any, len(x))
		for i := range x {
			all[i] = mapped(x[i], f)
		}
		v = all
	case map[string]any:
		all := map[string]any{}
		for name := range x {
			all[name] = mapped(x[name], f)
		}
		v = all
	}
	return f(v)
}
