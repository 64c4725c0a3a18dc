package variant

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/text"
)

// ErrNotFound is returned by [Get] and [Set] if no value is at the path.
var ErrNotFound = errors.New("not found")

// Get returns the value at a path in v, a tree in the form stored by [Unmarshal] in an any. The path follows the
// syntax of [gdwire.Error].Path and of the command gdwire, with or without $ at the start:
//
//	player.inventory[7].stats.hp      keys of Dictionaries, properties, and an index
//	grid[Vector2i(1, 2)]              a key of another type
//	pos.x, transform.origin.y         a component of a math type
//	d.value(3), d.key(3)              the fourth pair of a Dictionary, or property of an Object
//
// A name is the key of a String or StringName. Texts of keys are written as [Dictionary.String]
// prints them, or as %q of package fmt does, so that Sprintf makes a path:
//
//	fmt.Sprintf("players[%q].hp", name)
//	fmt.Sprintf("grid[%v]", variant.Vector2i{X: 1, Y: 2})
//
// A float key needs a point; %v of 2.0 prints none.
//
// Get also looks into maps with string keys, and slices. The value is not copied: v contains the same pointer,
// map or slice.
func Get(v any, path string) (any, error) {
	steps, err := parsePath(path)
	for i := 0; err == nil && i < len(steps); i++ {
		var ok bool
		if v, ok = child(v, &steps[i]); !ok {
			err = pathError(steps[:i+1], ErrNotFound)
		}
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Set replaces the value at a path in *v: see [Get]. If only the last step of the path leads to
// nothing, and is a key of a Dictionary or map, Set adds the key. If the Go type of the place,
// such as a component of a math type, cannot hold the value, Set returns an error wrapping
// [gdwire.ErrType] or [gdwire.ErrRange].
func Set(v *any, path string, value any) error {
	steps, err := parsePath(path)
	if err != nil {
		return err
	}
	changed, left, err := replace(*v, steps, value)
	if err != nil {
		return pathError(steps[:len(steps)-left+1], err)
	}
	*v = changed
	return nil
}

func parsePath(path string) ([]text.Step, error) {
	p, err := text.Parse(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("variant: %w", err)
	case p.Packet != 0 || p.Cut:
		return nil, fmt.Errorf("variant: %s is not the path of a value", path)
	}
	return p.Steps, nil
}

// pathError returns the error for a path with a failing last step.
func pathError(steps []text.Step, err error) error {
	return fmt.Errorf("variant: %v: %w", text.Path{Steps: steps}, err)
}

// replace returns v with another value at the end of steps. After an error, left is the number
// of steps from the failing step on.
func replace(v any, steps []text.Step, value any) (changed any, left int, err error) {
	if len(steps) == 0 {
		return value, 0, nil
	}
	if old, ok := child(v, &steps[0]); ok {
		if value, left, err = replace(old, steps[1:], value); err != nil {
			return nil, left, err
		}
	} else if len(steps) > 1 {
		return nil, len(steps), ErrNotFound
	}
	changed, err = withChild(v, &steps[0], value)
	return changed, len(steps), err
}

// child returns the value, or the key, reached from v by a step.
func child(v any, step *text.Step) (any, bool) {
	var key any
	var value *any
	switch v := normal(v).(type) {
	case *Dictionary:
		key, value = v.place(step)
	case *Array:
		return child(v.Values, step)
	case *Object:
		key, value = v.place(step)
	default:
		if x := elementAt(reflect.ValueOf(v), step); x.IsValid() {
			return x.Interface(), true
		}
	}
	switch {
	case value == nil:
		return nil, false
	case step.Op == text.KeyAt:
		return key, true
	}
	return *value, true
}

// place returns the key and the place of the value of the pair reached by a step, or nil.
func (d *Dictionary) place(step *text.Step) (key any, value *any) {
	i := -1
	switch step.Op {
	case text.Child:
		if key, ok := d.stepKey(&step.Key); ok {
			i = d.find(key)
		}
	case text.KeyAt, text.ValueAt:
		i = d.entryAt(step.Index)
	}
	if i < 0 {
		return nil, nil
	}
	return d.entries[i].Key, &d.entries[i].Value
}

// entryAt returns the index of the entry of pair n, or -1 if there is none.
func (d *Dictionary) entryAt(n int64) int {
	if n >= int64(d.Len()) {
		return -1
	}
	at := int(n)
	if d.at().deleted == 0 {
		return at
	}
	for i := range d.entries {
		if isDeleted(d.entries[i].Key) {
			at++
		} else if i == at {
			break
		}
	}
	return at
}

// place returns the name and the place of the value of the property reached by a step, or nil.
func (o *Object) place(step *text.Step) (name any, value *any) {
	i := -1
	switch {
	case step.Op == text.KeyAt || step.Op == text.ValueAt:
		i = int(min(step.Index, int64(len(o.Properties))))
	case step.Op == text.Child && isText(step.Key.Type):
		i = slices.IndexFunc(o.Properties, func(p Property) bool { return p.Name == step.Key.Text })
	}
	if i < 0 || i == len(o.Properties) {
		return nil, nil
	}
	return o.Properties[i].Name, &o.Properties[i].Value
}

// withChild returns v with another value at the end of the step. A pointer, map or slice v is
// changed in place.
func withChild(v any, step *text.Step, value any) (any, error) {
	in := normal(v)
	switch c := in.(type) {
	case *Dictionary:
		if !c.setChild(step, value) {
			return nil, ErrNotFound
		}
	case *Array:
		if _, err := withChild(c.Values, step, value); err != nil {
			return nil, err
		}
	case *Object:
		_, old := c.place(step)
		if old == nil || step.Op == text.KeyAt {
			return nil, ErrNotFound
		}
		*old = value
	default:
		return withElement(reflect.ValueOf(v), step, reflect.ValueOf(&value).Elem().Elem())
	}
	if reflect.TypeOf(v).Kind() == reflect.Struct { // a container by value
		return reflect.ValueOf(in).Elem().Interface(), nil
	}
	return v, nil
}

// setChild sets the value reached by a step, or adds the key of the step. It returns false for a step to no value.
func (d *Dictionary) setChild(step *text.Step, value any) bool {
	switch step.Op {
	case text.ValueAt:
		if i := d.entryAt(step.Index); i >= 0 {
			d.entries[i].Value = value
			return true
		}
	case text.Child:
		if key, ok := d.stepKey(&step.Key); ok {
			d.Set(key, value)
			return true
		}
	}
	return false
}

// withElement is withChild for a map, slice or math type.
func withElement(old reflect.Value, step *text.Step, x reflect.Value) (any, error) {
	if !old.IsValid() {
		return nil, ErrNotFound
	}
	if old.Kind() == reflect.Map {
		if step.Op != text.Child || old.Type().Key().Kind() != reflect.String || !isText(step.Key.Type) || old.IsNil() {
			return nil, ErrNotFound
		}
		x, err := converted(x, old.Type().Elem())
		if err == nil {
			old.SetMapIndex(reflect.ValueOf(step.Key.Text).Convert(old.Type().Key()), x)
		}
		return old.Interface(), err
	}
	if old.Kind() == reflect.Struct { // not addressable in an any
		old = addressable(old)
	}
	place := elementAt(old, step)
	if !place.IsValid() || !place.CanSet() {
		return nil, ErrNotFound
	}
	x, err := converted(x, place.Type())
	if err == nil {
		place.Set(x)
	}
	return old.Interface(), err
}

// converted returns x as a t. A number can become another kind of number if nothing is lost; a
// float is rounded to a float32.
func converted(x reflect.Value, t reflect.Type) (reflect.Value, error) {
	switch {
	case !x.IsValid():
		if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
			return reflect.Zero(t), nil
		}
		return x, export.Wrapf(gdwire.ErrType, "nil into Go %v", t)
	case x.Type().AssignableTo(t):
		return x, nil
	case isNumber(x.Type()) && isNumber(t):
		y := x.Convert(t)
		rounded := t.Kind() == reflect.Float32 && x.CanFloat() && !reflect.Zero(t).OverflowFloat(x.Float())
		if !rounded && !y.Convert(x.Type()).Equal(x) {
			return x, rangeError(x, t)
		}
		return y, nil
	}
	return x, export.Wrapf(gdwire.ErrType, "Go %v into Go %v", x.Type(), t)
}

// isNumber reports whether t is an integer or float kind.
func isNumber(t reflect.Type) bool {
	k := t.Kind()
	return k >= reflect.Int && k <= reflect.Float64 && k != reflect.Uintptr
}

// elementAt returns the element of a map or slice, or the component of a math type, reached by
// a step, or the zero Value.
func elementAt(v reflect.Value, step *text.Step) (place reflect.Value) {
	if !v.IsValid() || step.Op != text.Child {
		return place
	}
	switch v.Kind() {
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String && isText(step.Key.Type) {
			place = v.MapIndex(reflect.ValueOf(step.Key.Text).Convert(v.Type().Key()))
		}
	case reflect.Slice:
		if i := step.Key.Int; step.Key.Type == gdwire.TypeInt && i >= 0 && i < int64(v.Len()) {
			place = v.Index(int(i))
		}
	case reflect.Struct:
		if own := ownTypeOf(v.Type()); isText(step.Key.Type) && own != nil && own.math != nil {
			is := func(name string) bool { return strings.ToLower(name) == step.Key.Text }
			if place = v.FieldByNameFunc(is); !place.IsValid() && v.Type() == reflect.TypeFor[Plane]() {
				place = v.FieldByName("Normal").FieldByNameFunc(is) // plane.x is plane.normal.x, as in GDScript
			}
		}
	}
	return place
}

// stepKey returns the key of a step: the key with exactly these numbers, or else the first key in d meant by them.
func (d *Dictionary) stepKey(k *text.Value) (any, bool) {
	key, ok := stepKey(k)
	if n, integers := k.Type.Components(); n == 0 || integers || !ok || d.find(key) >= 0 {
		return key, ok
	}
	var written, numbers [maxComponents]float64
	m := ownTypeOf(reflect.TypeOf(key)).math
	m.load(variableOf(addressable(reflect.ValueOf(key))), written[:m.n])
	for other := range d.All() {
		if reflect.TypeOf(other) != m.typ {
			continue
		}
		m.load(variableOf(addressable(reflect.ValueOf(other))), numbers[:m.n])
		i := 0
		for i < m.n && text.Means(written[i], numbers[i]) {
			i++
		}
		if i == m.n {
			return other, true
		}
	}
	return key, true
}

// stepKey returns the key of a step in the Go type stored by Unmarshal in an any.
func stepKey(k *text.Value) (any, bool) {
	switch k.Type {
	case gdwire.TypeNil:
		return nil, true
	case gdwire.TypeBool:
		return k.Int != 0, true
	case gdwire.TypeInt:
		return k.Int, true
	case gdwire.TypeFloat:
		return k.Numbers[0], true
	case gdwire.TypeString:
		return k.Text, true
	case gdwire.TypeStringName:
		return StringName(k.Text), true
	case gdwire.TypeNodePath:
		return NodePath(k.Text), true
	}
	// Math types and ids: the key is written, and read again by Unmarshal.
	var key any
	e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{DoubleReals: true})
	defer func() { _ = e.Close() }()
	e.ResetBytes(nil)
	if k.Write(e, true) != nil || Unmarshal(e.Bytes(), &key) != nil {
		return nil, false
	}
	return key, true
}
