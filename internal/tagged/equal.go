package tagged

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
)

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
