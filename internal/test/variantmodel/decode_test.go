package variantmodel

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/variant"
)

// A node is a decoded value.
type node struct {
	path    string
	typ     gdwire.Type
	scalar  any       // bool, int64, float64, uint64 or string
	numbers []float64 // of a math type
	items   []*node   // elements, also of packed arrays; keys and values in turn
	packed  any       // a packed array as a slice
	elem    gdwire.Elem
	key     gdwire.Elem
}

// parse reads the next value of d.
func parse(d *gdwire.Decoder) *node {
	t := checked.Must(d.ReadToken())
	if t.Kind() == gdwire.KindDictKey {
		t = checked.Must(d.ReadToken())
	}
	at, _ := errors.AsType[*gdwire.Error](d.WrapError(errTypes))
	n := &node{path: at.Path, typ: t.Type()}
	switch t.Kind() {
	case gdwire.KindNil:
	case gdwire.KindBool:
		n.scalar = t.Bool()
	case gdwire.KindInt32, gdwire.KindInt64:
		n.scalar = t.Int()
	case gdwire.KindFloat32, gdwire.KindFloat64:
		n.scalar = t.Float()
	case gdwire.KindRID:
		n.scalar = t.ID()
	case gdwire.KindStringChunk:
		n.scalar = t.Text() // short texts only
	case gdwire.KindNodePathStart:
		n.nodePath(d, t)
	case gdwire.KindPackedStart:
		n.readPacked(d)
	case gdwire.KindArrayStart, gdwire.KindDictStart:
		count := int(t.Len())
		if n.elem = t.Elem(); t.Kind() == gdwire.KindDictStart {
			n.key = t.KeyElem()
			count *= 2
		}
		for range count {
			n.items = append(n.items, parse(d))
		}
		checked.Check(d.ReadEnd())
	default:
		n.numbers = t.AppendComponents(nil)
	}
	return n
}

func (n *node) nodePath(d *gdwire.Decoder, t gdwire.Token) {
	names, subnames, absolute := t.NodePath()
	text := ""
	if absolute {
		text = "/"
	}
	for i := range names + subnames {
		name := checked.Must(d.ReadToken())
		switch {
		case i >= names:
			text += ":"
		case i > 0:
			text += "/"
		}
		text += name.Text()
	}
	n.scalar = text
	checked.Check(d.ReadEnd())
}

func (n *node) readPacked(d *gdwire.Decoder) {
	switch n.typ {
	case gdwire.TypePackedStringArray:
		all := []string{}
		for d.PeekKind() != gdwire.KindEnd {
			x := parse(d)
			all = append(all, x.scalar.(string))
			n.items = append(n.items, &node{path: x.path, typ: gdwire.TypeString, scalar: x.scalar})
		}
		n.packed = all
		checked.Check(d.ReadEnd())
	case gdwire.TypePackedByteArray:
		readNumbers(d, n, func(x byte) (any, []float64) { return int64(x), nil })
	case gdwire.TypePackedInt32Array:
		readNumbers(d, n, func(x int32) (any, []float64) { return int64(x), nil })
	case gdwire.TypePackedInt64Array:
		readNumbers(d, n, func(x int64) (any, []float64) { return x, nil })
	case gdwire.TypePackedFloat32Array:
		readNumbers(d, n, func(x float32) (any, []float64) { return float64(x), nil })
	case gdwire.TypePackedFloat64Array:
		readNumbers(d, n, func(x float64) (any, []float64) { return x, nil })
	case gdwire.TypePackedVector2Array:
		readNumbers(d, n, func(x [2]float64) (any, []float64) { return nil, x[:] })
	case gdwire.TypePackedVector3Array:
		readNumbers(d, n, func(x [3]float64) (any, []float64) { return nil, x[:] })
	default:
		readNumbers(d, n, func(x [4]float64) (any, []float64) { return nil, x[:] })
	}
}

func readNumbers[T gdwire.Packable](d *gdwire.Decoder, n *node, split func(T) (any, []float64)) {
	all := checked.Must(gdwire.AppendPacked(d, []T{}))
	for i := range all {
		x := &node{path: fmt.Sprintf("%s[%d]", n.path, i), typ: n.typ}
		x.scalar, x.numbers = split(all[i])
		n.items = append(n.items, x)
	}
	n.packed = all
}

// Decode reads the next value of d into v.
func Decode(d *gdwire.Decoder, v reflect.Value) error {
	return checked.Try(func() { parse(d).decodeInto(v) })
}

func (n *node) fail(cause error) { checked.Check(&Error{n.path, cause}) }

// require fails unless the value is of one of the types.
func (n *node) require(types ...gdwire.Type) {
	if !slices.Contains(types, n.typ) {
		n.fail(gdwire.ErrType)
	}
}

// decodeInto sets v to the value.
func (n *node) decodeInto(v reflect.Value) {
	if n.typ == gdwire.TypeNil {
		v.SetZero()
		if v.Kind() == reflect.Struct && ownTypes[v.Type()] == 0 {
			all, positional := fieldsOf(v.Type())
			n.missing(all, positional, func(int) bool { return false })
		}
		return
	}
	t := v.Type()
	typ := ownTypes[t]
	switch k := t.Kind(); {
	case typ == gdwire.TypeRID:
		n.require(typ)
		v.SetUint(n.scalar.(uint64))
	case components[typ] != 0:
		n.require(typ)
		n.setMath(v)
	case k == reflect.Interface:
		v.Set(reflect.ValueOf(n.any()))
	case k == reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(t.Elem()))
		}
		n.decodeInto(v.Elem())
	case k == reflect.Bool:
		n.require(gdwire.TypeBool)
		v.SetBool(n.scalar.(bool))
	case k == reflect.String:
		n.require(gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath)
		v.SetString(n.scalar.(string))
	case v.CanInt() || v.CanUint() || v.CanFloat():
		n.require(gdwire.TypeInt, gdwire.TypeFloat)
		n.setNumber(v)
	case k == reflect.Slice || k == reflect.Array:
		n.setSlice(v)
	case k == reflect.Map:
		n.setMap(v)
	default:
		n.setStruct(v)
	}
}

// setNumber sets v, of a number kind, to a number that it can hold.
func (n *node) setNumber(v reflect.Value) {
	x, isInt := n.scalar.(int64)
	f, _ := n.scalar.(float64)
	if v.CanFloat() {
		if isInt {
			f = float64(x)
			if v.Kind() == reflect.Float32 {
				f = float64(float32(f))
			}
			if back, ok := exactInt(f); !ok || back != x {
				n.fail(gdwire.ErrRange)
			}
		}
		if v.Kind() == reflect.Float32 && overflows32(f) {
			n.fail(gdwire.ErrRange)
		}
		v.SetFloat(f)
		return
	}
	if !isInt && v.CanUint() && f >= 0 && f < 1<<64 && math.Trunc(f) == f && !v.OverflowUint(uint64(f)) {
		v.SetUint(uint64(f))
		return
	}
	if !isInt {
		if x, isInt = exactInt(f); !isInt {
			n.fail(gdwire.ErrRange)
		}
	}
	switch {
	case v.CanInt() && !v.OverflowInt(x):
		v.SetInt(x)
	case v.CanUint() && x >= 0 && !v.OverflowUint(uint64(x)):
		v.SetUint(uint64(x))
	default:
		n.fail(gdwire.ErrRange)
	}
}

// setMath sets v to the components of a math type.
func (n *node) setMath(v reflect.Value) {
	if shapeOf(v.Type()).leaf == reflect.Float32 && slices.ContainsFunc(n.numbers, overflows32) {
		n.fail(gdwire.ErrRange)
	}
	unflatten(v, n.numbers)
}

// setSlice sets a slice or array.
func (n *node) setSlice(v reflect.Value) {
	t := v.Type()
	s := shapeOf(t.Elem())
	isSlice := t.Kind() == reflect.Slice
	if !isSlice && shapeOf(t).fits(n.typ) {
		n.setMath(v)
		return
	}
	switch n.typ {
	case gdwire.TypeArray, gdwire.TypePackedStringArray:
	case gdwire.TypePackedByteArray, gdwire.TypePackedInt32Array, gdwire.TypePackedInt64Array:
		if zero := reflect.Zero(t.Elem()); !zero.CanInt() && !zero.CanUint() || ownTypes[t.Elem()] != 0 {
			n.fail(gdwire.ErrType)
		}
	case gdwire.TypePackedFloat32Array, gdwire.TypePackedFloat64Array:
		if k := t.Elem().Kind(); k != reflect.Float32 && k != reflect.Float64 {
			n.fail(gdwire.ErrType)
		}
	case gdwire.TypePackedVector2Array, gdwire.TypePackedVector3Array, gdwire.TypePackedVector4Array, gdwire.TypePackedColorArray:
		if s.n != components[vectorsOf[n.typ]] || s.leaf == reflect.Int32 {
			n.fail(gdwire.ErrType)
		}
	default:
		n.fail(gdwire.ErrType)
	}
	if isSlice {
		v.Set(reflect.MakeSlice(t, len(n.items), len(n.items)))
	} else if len(n.items) != t.Len() {
		n.fail(gdwire.ErrCount)
	}
	for i, x := range n.items {
		v.Index(i).SetZero() // also in an array that is used again
		switch {
		case n.typ == gdwire.TypeArray || n.typ == gdwire.TypePackedStringArray:
			x.decodeInto(v.Index(i))
		case x.numbers != nil:
			x.setMath(v.Index(i))
		case shapeOf(t.Elem()).n == 1 && s.leaf != reflect.Int32:
			x.numbers = []float64{x.scalar.(float64)}
			x.setMath(v.Index(i))
		default:
			x.setNumber(v.Index(i))
		}
	}
}

// setMap sets a map.
func (n *node) setMap(v reflect.Value) {
	n.require(gdwire.TypeDictionary)
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	seen := reflect.MakeMap(v.Type())
	for i := 0; i < len(n.items); i += 2 {
		k, x := n.items[i], reflect.New(v.Type().Elem()).Elem()
		key := reflect.New(v.Type().Key()).Elem()
		k.decodeInto(key)
		if key.Kind() == reflect.Interface && !key.IsNil() && (!key.Elem().Comparable() || key.Elem().Kind() == reflect.Pointer) {
			k.fail(gdwire.ErrType)
		}
		if isIn(seen, key) {
			k.fail(variant.ErrDuplicateKey)
		}
		if old := v.MapIndex(key); old.IsValid() {
			x.Set(old)
		}
		seen.SetMapIndex(key, x)
		n.items[i+1].decodeInto(x)
		v.SetMapIndex(key, x)
	}
}

// isIn reports whether a map contains a key, or a key of another type of text with the same
// text.
func isIn(m, key reflect.Value) bool {
	if m.MapIndex(key).IsValid() {
		return true
	}
	if key.Kind() == reflect.Interface {
		switch text := key.Interface().(type) {
		case string:
			return m.MapIndex(reflect.ValueOf(variant.StringName(text))).IsValid()
		case variant.StringName:
			return m.MapIndex(reflect.ValueOf(string(text))).IsValid()
		}
	}
	return false
}

// setStruct sets a struct.
func (n *node) setStruct(v reflect.Value) {
	all, positional := fieldsOf(v.Type())
	switch {
	case n.typ == gdwire.TypeArray && positional:
		for i, f := range all {
			if i < len(n.items) {
				n.items[i].decodeInto(v.FieldByIndex(f.index))
			} else {
				v.FieldByIndex(f.index).SetZero()
			}
		}
		n.missing(all, true, func(i int) bool { return i < len(n.items) })
		return
	case n.typ == gdwire.TypeDictionary && !positional:
	case shapeOf(v.Type()).fits(n.typ):
		n.setMath(v)
		return
	default:
		n.fail(gdwire.ErrType)
	}
	seen, keys := map[string]bool{}, 0
	for i := 0; i < len(n.items); i += 2 {
		k := n.items[i]
		if k.typ != gdwire.TypeString && k.typ != gdwire.TypeStringName {
			continue
		}
		name := k.scalar.(string)
		keys++
		for _, f := range all {
			if f.name != name {
				continue
			}
			if seen[name] {
				k.fail(variant.ErrDuplicateKey)
			}
			seen[name] = true
			n.items[i+1].decodeInto(v.FieldByIndex(f.index))
		}
	}
	n.missing(all, false, func(i int) bool { return seen[all[i].name] })
	if keys > 0 && len(seen) == 0 && isUnion(all) {
		n.fail(variant.ErrUnknownKey)
	}
}

// isUnion reports whether all fields are pointers to structs with omitzero: one of them is a message.
func isUnion(all []field) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(f field) bool {
		return !f.omitZero || f.typ.Kind() != reflect.Pointer || f.typ.Elem().Kind() != reflect.Struct || ownTypes[f.typ.Elem()] != 0
	})
}

// missing fails for the first required field that the value does not have.
func (n *node) missing(all []field, positional bool, has func(i int) bool) {
	for i, f := range all {
		step := "." + f.name
		switch {
		case !f.required || has(i):
			continue
		case positional:
			step = fmt.Sprintf("[%d]", i)
		case strings.Contains(f.name, " "):
			step = fmt.Sprintf("[%q]", f.name)
		}
		checked.Check(&Error{n.path + step, variant.ErrMissingKey})
	}
}

// any returns the value as in an any.
func (n *node) any() any {
	switch n.typ {
	case gdwire.TypeNil:
		return nil
	case gdwire.TypeStringName:
		return variant.StringName(n.scalar.(string))
	case gdwire.TypeNodePath:
		return variant.NodePath(n.scalar.(string))
	case gdwire.TypeRID:
		return variant.RID(n.scalar.(uint64))
	case gdwire.TypeArray:
		a := &variant.Array{Elem: n.elem}
		for _, x := range n.items {
			a.Values = append(a.Values, x.any())
		}
		return a
	case gdwire.TypeDictionary:
		d := &variant.Dictionary{Key: n.key, Value: n.elem}
		for i := 0; i < len(n.items); i += 2 {
			d.Set(n.items[i].any(), n.items[i+1].any())
		}
		return d
	}
	if vector := vectorsOf[n.typ]; vector != 0 {
		all := reflect.MakeSlice(reflect.SliceOf(mathTypes[vector]), len(n.items), len(n.items))
		for i, x := range n.items {
			unflatten(all.Index(i), x.numbers)
		}
		return all.Interface()
	}
	if n.packed != nil {
		return n.packed
	}
	if n.numbers != nil {
		v := reflect.New(mathTypes[n.typ]).Elem()
		unflatten(v, n.numbers)
		return v.Interface()
	}
	return n.scalar
}

// vectorsOf contains the types of elements of packed arrays of vectors.
var vectorsOf = map[gdwire.Type]gdwire.Type{
	gdwire.TypePackedVector2Array: gdwire.TypeVector2, gdwire.TypePackedVector3Array: gdwire.TypeVector3,
	gdwire.TypePackedVector4Array: gdwire.TypeVector4, gdwire.TypePackedColorArray: gdwire.TypeColor,
}

// mathTypes contains the types of math types in an any.
var mathTypes = map[gdwire.Type]reflect.Type{
	gdwire.TypeVector2: reflect.TypeFor[variant.Vector2](), gdwire.TypeVector2i: reflect.TypeFor[variant.Vector2i](),
	gdwire.TypeRect2: reflect.TypeFor[variant.Rect2](), gdwire.TypeRect2i: reflect.TypeFor[variant.Rect2i](),
	gdwire.TypeVector3: reflect.TypeFor[variant.Vector3](), gdwire.TypeVector3i: reflect.TypeFor[variant.Vector3i](),
	gdwire.TypeTransform2D: reflect.TypeFor[variant.Transform2D](), gdwire.TypeVector4: reflect.TypeFor[variant.Vector4](),
	gdwire.TypeVector4i: reflect.TypeFor[variant.Vector4i](), gdwire.TypePlane: reflect.TypeFor[variant.Plane](),
	gdwire.TypeQuaternion: reflect.TypeFor[variant.Quaternion](), gdwire.TypeAABB: reflect.TypeFor[variant.AABB](),
	gdwire.TypeBasis: reflect.TypeFor[variant.Basis](), gdwire.TypeTransform3D: reflect.TypeFor[variant.Transform3D](),
	gdwire.TypeProjection: reflect.TypeFor[variant.Projection](), gdwire.TypeColor: reflect.TypeFor[variant.Color](),
}
