package edit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/reals"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/internal/wire"
)

// An oldValue is a value in the input. Its text may be cut, and a container is stored without
// content.
type oldValue struct {
	text.Value
	count int64 // of elements
	cut   bool
}

// The number of bytes kept of an old text.
const (
	maxShown  = 200
	maxCopied = 1 << 20 // into a packed array or as a component
)

// read reads the next value of d. Its text is cut after n bytes, or more.
func read(d *gdwire.Decoder, n int) (oldValue, error) {
	n = max(n, maxShown)
	depth := d.Depth()
	t, err := d.ReadToken()
	if err != nil {
		return oldValue{}, err
	}
	o := oldValue{Value: text.FromToken(t, nil), count: t.Len()}
	var content []byte
	add := func(b []byte) {
		o.cut = o.cut || len(content)+len(b) > n
		content = append(content, b[:min(len(b), n-len(content))]...)
	}
	switch t.Kind() {
	case gdwire.KindStringChunk:
		add([]byte(o.Text))
		for ; err == nil && !t.Last(); add(t.Bytes()) {
			t, err = d.ReadToken()
		}
		o.Text = string(content)
	case gdwire.KindNodePathStart:
		r := text.NewNodePathReader(d, t)
		for err == nil && t.Kind() != gdwire.KindEnd {
			var separator string
			separator, t, err = r.Next()
			add([]byte(separator))
			add(t.Bytes())
		}
		o.Text = string(content)
	case gdwire.KindPackedStart, gdwire.KindImageStart:
		if o.Type != gdwire.TypePackedByteArray && o.Type != gdwire.TypeImage {
			break
		}
		for err == nil && t.Kind() != gdwire.KindEnd {
			if t, err = d.ReadToken(); t.Kind() == gdwire.KindChunk {
				add(t.Bytes())
			}
		}
		o.Text = string(content)
	}
	return o, cmp.Or(err, d.SkipTo(depth))
}

// String describes the value.
func (o *oldValue) String() string {
	switch {
	case o.Form == text.Declared && o.Type == gdwire.TypeObject:
		return o.Value.String()
	case o.Form == text.Declared:
		return fmt.Sprintf("%v of %d", o.Type, o.count)
	case o.cut || len(o.Text) > maxShown:
		v := o.Value
		v.Text = v.Text[:min(len(v.Text), maxShown)]
		return v.String() + "…"
	}
	return o.Value.String()
}

// such returns a value as an example of its type, or "" for null and a container.
func (o *oldValue) such() string {
	const most = 40 // bytes of a text
	v := o.Value
	switch {
	case v.Type == gdwire.TypeNil || v.Form != text.Whole:
		return ""
	case v.Type == gdwire.TypeBool:
		return "true or false"
	case len(v.Text) > most:
		v.Text = strings.ToValidUTF8(v.Text[:most], "")
	}
	return v.String()
}

// hasReals reports whether v contains a math type or packed array with the width of the engine's
// reals.
func hasReals(v *text.Value) bool {
	return reals.Differ(v.Type) || slices.ContainsFunc(v.Items, func(v text.Value) bool { return hasReals(&v) })
}

// hasObjects reports whether v contains a serialized object.
func hasObjects(v *text.Value) bool {
	return v.Type == gdwire.TypeObject && (v.Form != text.Whole || v.Items != nil) ||
		slices.ContainsFunc(v.Items, func(v text.Value) bool { return hasObjects(&v) })
}

// typeOf returns the name of the type of a value, with declared types.
func typeOf(v *text.Value) string {
	if v.Type == gdwire.TypeObject || v.Key == (gdwire.Elem{}) && v.Elem == (gdwire.Elem{}) {
		return v.Type.String()
	}
	return text.Value{Type: v.Type, Form: text.Declared, Key: v.Key, Elem: v.Elem}.String()
}

// keyText returns a text that is equal for keys treated as equal by engines.
func keyText(key *text.Value) string {
	k := *key
	if k.Type == gdwire.TypeStringName {
		k.Type = gdwire.TypeString
	}
	k.Single = false
	k.Numbers = slices.Clone(k.Numbers)
	for i := range k.Numbers {
		k.Numbers[i] += 0 // -0.0 + 0 is 0.0
	}
	return k.String()
}

// kin returns a text that is equal for all keys that can become the same key, by taking the type of
// another or by being rounded to 32 bits.
func kin(key *text.Value) string {
	k := *key
	if k.Type == gdwire.TypeInt {
		k.Type, k.Numbers = gdwire.TypeFloat, []float64{float64(k.Int)}
	}
	k.Numbers = slices.Clone(k.Numbers)
	for i, x := range k.Numbers {
		k.Numbers[i] = text.Round32(x) + 0
	}
	switch {
	case k.Type == gdwire.TypeString || k.Type == gdwire.TypeStringName || k.Type == gdwire.TypeNodePath:
		k.Type, k.Text = gdwire.TypeString, wire.CleanNodePath(k.Text)
	case len(k.Numbers) > 0:
		return fmt.Sprint(k.Numbers)
	}
	return k.String()
}

// checkPairs returns an error for a Dictionary or Object in v that contains a key twice.
func checkPairs(v *text.Value) error {
	seen := map[string]bool{}
	for i := range v.Items {
		item := &v.Items[i]
		if err := checkPairs(item); err != nil {
			return err
		}
		if v.Type != gdwire.TypeDictionary && v.Type != gdwire.TypeObject || i%2 == 1 {
			continue
		}
		value := keyText(item)
		if seen[value] {
			return fmt.Errorf("the key %v occurs twice; engines keep the last value", item)
		}
		seen[value] = true
	}
	return nil
}
