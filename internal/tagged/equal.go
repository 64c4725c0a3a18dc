package tagged

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
)

// Equal reports whether two texts contain the same value. The order of members is free, a member
// that is null is equal to a missing one, an id of "0" to a missing one, and the string "-0.0" to the
// number, which not every JSON library writes. It returns an error if a text is not JSON.
func Equal(a, b []byte) (bool, error) {
	x, err := parse(a)
	if err != nil {
		return false, err
	}
	y, err := parse(b)
	return err == nil && equal(x, y), err
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
		return ok && equalMembers(a, b)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case json.Number:
		b, ok := number(b)
		return ok && equalNumbers(string(a), b)
	}
	if b, ok := b.(json.Number); ok {
		return equal(b, a)
	}
	return a == b
}

// number returns the text of a number, which the string "-0.0" is, too.
func number(v any) (string, bool) {
	if n, ok := v.(json.Number); ok {
		return string(n), true
	}
	return "-0.0", v == "-0.0"
}

// equalMembers reports whether a and b have the same members. It compares each once: comparing in
// both directions takes time that doubles with each level.
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
