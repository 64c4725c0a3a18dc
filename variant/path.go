package variant

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/paths"
)

// ErrNotFound is returned by [Get] and [Set] if no value is at the path.
var ErrNotFound = errors.New("not found")

// Get returns the value at a path in v, a tree as [Unmarshal] stores it in an any. The path has
// the syntax of [gdwire.Error].Path and of the command gdwire, with or without $ at its start:
//
//	player.inventory[7].stats.hp      keys of Dictionaries, properties, and an index
//	grid[Vector2i(1, 2)]              a key of another type
//	pos.x, transform.origin.y         a component of a math type
//	d.value(3), d.key(3)              the fourth pair of a Dictionary
//
// A name is the key of a String or StringName. Get also looks into maps with string keys, and
// slices. The value is not copied: if it is a pointer, map or slice, v contains the same.
func Get(v any, path string) (any, error) {
	steps, err := parsePath(path)
	for i := 0; err == nil && i < len(steps); i++ {
		var ok bool
		if v, ok = child(v, &steps[i]); !ok {
			err = notFound(steps[:i+1])
		}
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Set replaces the value at a path in *v: see [Get]. If only the last step of the path leads to
// nothing, and that is a key of a Dictionary or map, Set adds it.
func Set(v *any, path string, value any) error {
	steps, err := parsePath(path)
	if err != nil {
		return err
	}
	changed, n := replace(*v, steps, value)
	if n > 0 {
		return notFound(steps[:len(steps)-n+1])
	}
	*v = changed
	return nil
}

func parsePath(text string) ([]paths.Step, error) {
	p, err := paths.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("variant: %w", err)
	case p.Packet != 0 || p.Cut:
		return nil, fmt.Errorf("variant: %s is not the path of a value", text)
	}
	return p.Steps, nil
}

// notFound returns the error for a path whose last step leads to nothing.
func notFound(steps []paths.Step) error {
	return fmt.Errorf("variant: %v: %w", paths.Path{Steps: steps}, ErrNotFound)
}

// replace returns v with another value at the end of steps. If a step leads to nothing, it
// returns the number of steps from there.
func replace(v any, steps []paths.Step, value any) (changed any, missing int) {
	if len(steps) == 0 {
		return value, 0
	}
	if old, ok := child(v, &steps[0]); ok {
		if value, missing = replace(old, steps[1:], value); missing > 0 {
			return nil, missing
		}
	} else if len(steps) > 1 {
		return nil, len(steps)
	}
	if changed, ok := withChild(v, &steps[0], value); ok {
		return changed, 0
	}
	return nil, len(steps)
}

// child returns the value to which a step leads from v.
func child(v any, step *paths.Step) (any, bool) {
	switch v := v.(type) {
	case *Dictionary:
		if step.Op == paths.Child {
			key, ok := stepKey(&step.Key)
			if !ok {
				return nil, false
			}
			return v.Get(key)
		}
		i := int64(0)
		for key, value := range v.All() {
			if i == step.Index {
				if step.Op == paths.KeyAt {
					return key, true
				}
				return value, true
			}
			i++
		}
		return nil, false
	case *Array:
		return child(v.Values, step)
	case *Object:
		for _, p := range v.Properties {
			if step.Op == paths.Child && isText(step.Key.Type) && p.Name == step.Key.Text {
				return p.Value, true
			}
		}
		return nil, false
	}
	place := elementAt(reflect.ValueOf(v), step)
	if !place.IsValid() {
		return nil, false
	}
	return place.Interface(), true
}

// withChild returns v with another value where the step leads. Where v is a pointer, map or
// slice, it is changed in place.
func withChild(v any, step *paths.Step, value any) (any, bool) {
	switch v := v.(type) {
	case *Dictionary:
		key, ok := stepKey(&step.Key)
		if ok = ok && step.Op == paths.Child; ok {
			v.Set(key, value)
		}
		return v, ok
	case *Array:
		_, ok := withChild(v.Values, step, value)
		return v, ok
	case *Object:
		for i, p := range v.Properties {
			if step.Op == paths.Child && isText(step.Key.Type) && p.Name == step.Key.Text {
				v.Properties[i].Value = value
				return v, true
			}
		}
		return v, false
	}
	old := reflect.ValueOf(v)
	if !old.IsValid() {
		return v, false
	}
	x := reflect.ValueOf(&value).Elem().Elem()
	if old.Kind() == reflect.Map {
		if step.Op != paths.Child || old.Type().Key().Kind() != reflect.String || !isText(step.Key.Type) || old.IsNil() {
			return v, false
		}
		if x, ok := converted(x, old.Type().Elem()); ok {
			old.SetMapIndex(reflect.ValueOf(step.Key.Text).Convert(old.Type().Key()), x)
			return v, true
		}
		return v, false
	}
	if old.Kind() == reflect.Struct { // not addressable in an any
		old = addressable(old)
	}
	place := elementAt(old, step)
	if !place.IsValid() || !place.CanSet() {
		return v, false
	}
	x, ok := converted(x, place.Type())
	if ok {
		place.Set(x)
	}
	return old.Interface(), ok
}

// converted returns x as a t. A number can become another kind of number, if that holds it.
func converted(x reflect.Value, t reflect.Type) (reflect.Value, bool) {
	switch {
	case !x.IsValid():
		return reflect.Zero(t), t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer
	case x.Type().AssignableTo(t):
		return x, true
	case isNumber(x.Type()) && isNumber(t):
		y := x.Convert(t)
		if y.Convert(x.Type()).Equal(x) || t.Kind() == reflect.Float32 && x.CanFloat() {
			return y, true
		}
	}
	return x, false
}

// isNumber reports whether t is an integer or float kind.
func isNumber(t reflect.Type) bool {
	k := t.Kind()
	return k >= reflect.Int && k <= reflect.Float64 && k != reflect.Uintptr
}

// elementAt returns the element of a map or slice, or the component of a math type, to which a
// step leads, or the zero Value.
func elementAt(v reflect.Value, step *paths.Step) (place reflect.Value) {
	if !v.IsValid() || step.Op != paths.Child {
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
		if isText(step.Key.Type) && ownTypes[v.Type()] != nil {
			place = v.FieldByNameFunc(func(name string) bool { return strings.ToLower(name) == step.Key.Text })
		}
	}
	return place
}

// stepKey returns the key of a step as Unmarshal stores it in an any.
func stepKey(k *paths.Value) (any, bool) {
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
	// Math types and ids: written and read again, the key is what Unmarshal stores.
	var key any
	e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{DoubleReals: true})
	e.ResetBytes(nil)
	if k.Write(e, true) != nil || Unmarshal(e.Bytes(), &key) != nil {
		return nil, false
	}
	return key, true
}
