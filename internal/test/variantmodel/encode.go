package variantmodel

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// Encode writes v, a variable with an optional type= in its tag, to e. Check returns
// whether v's type can be encoded.
func Encode(e *gdwire.Encoder, v reflect.Value, as declared) error {
	return testenv.Try(func() { testenv.Check(encode(e, v, as)) })
}

// encode is Encode, but for the errors of values in v, at which it ends.
func encode(e *gdwire.Encoder, v reflect.Value, as declared) error {
	t, wire := v.Type(), as.wire
	if k := t.Kind(); k == reflect.Pointer || k == reflect.Interface {
		if v.IsNil() {
			return e.WriteNil()
		}
		if k == reflect.Interface {
			as = declared{} // the value's own type
		}
		return encode(e, v.Elem(), as)
	}
	switch x := v.Interface().(type) {
	case variant.Array:
		testenv.Check(e.BeginTypedArray(len(x.Values), x.Elem))
		for i := range x.Values {
			testenv.Check(encode(e, reflect.ValueOf(&x.Values[i]).Elem(), declared{}))
		}
		return e.End()
	case variant.Dictionary:
		testenv.Check(e.BeginTypedDict(x.Len(), x.Key, x.Value))
		for k, value := range x.All() {
			testenv.Check(encode(e, reflect.ValueOf(&k).Elem(), declared{}))
			testenv.Check(encode(e, reflect.ValueOf(&value).Elem(), declared{}))
		}
		return e.End()
	}
	if typ, ok := ownTypes[t]; ok && wire == 0 {
		wire = typ
	}
	switch wire {
	case gdwire.TypeString:
		return e.WriteString(v.String())
	case gdwire.TypeStringName:
		return e.WriteStringName(v.String())
	case gdwire.TypeNodePath:
		return e.WriteNodePath(v.String())
	case gdwire.TypeRID:
		return e.WriteRID(v.Uint())
	case gdwire.TypeInt, gdwire.TypeFloat:
		return encodeNumber(e, v, wire)
	}
	if components[wire] != 0 {
		return encodeMath(e, v, wire)
	}
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return e.WriteBool(v.Bool())
	case k == reflect.String:
		return e.WriteString(v.String())
	case v.CanInt() || v.CanUint():
		return encodeNumber(e, v, gdwire.TypeInt)
	case v.CanFloat():
		return e.WriteFloat(v.Float())
	case k == reflect.Slice || k == reflect.Array:
		return encodeList(e, v, as)
	case k == reflect.Map:
		return encodeMap(e, v, as)
	}
	return encodeStruct(e, v)
}

func encodeNumber(e *gdwire.Encoder, v reflect.Value, wire gdwire.Type) error {
	outOfRange := func() error { return e.Fail(gdwire.ErrRange) }
	switch {
	case v.CanFloat() && wire == gdwire.TypeFloat:
		return e.WriteFloat(v.Float())
	case v.CanFloat():
		if x, ok := exactInt(v.Float()); ok {
			return e.WriteInt(x)
		}
		return outOfRange()
	case v.CanInt() && wire == gdwire.TypeInt:
		return e.WriteInt(v.Int())
	case v.CanInt():
		if x, ok := exactInt(float64(v.Int())); ok && x == v.Int() {
			return e.WriteFloat(float64(v.Int()))
		}
		return outOfRange()
	case v.Uint() > 1<<63-1 && wire == gdwire.TypeInt:
		return outOfRange()
	case wire == gdwire.TypeInt:
		return e.WriteInt(int64(v.Uint()))
	}
	if x := float64(v.Uint()); x < 1<<64 && uint64(x) == v.Uint() {
		return e.WriteFloat(x)
	}
	return outOfRange()
}

// exactInt returns x as an int64 and reports whether they are equal.
func exactInt(x float64) (int64, bool) {
	if x >= -1<<63 && x < 1<<63 && float64(int64(x)) == x {
		return int64(x), true
	}
	return 0, false
}

func encodeMath(e *gdwire.Encoder, v reflect.Value, wire gdwire.Type) error {
	c := flatten(v)
	if components[wire] > 0 {
		return gdwire.WriteComponents(e, wire, c)
	}
	var ints []int32
	for _, x := range c {
		ints = append(ints, int32(x))
	}
	return gdwire.WriteComponents(e, wire, ints)
}

// packedOf returns the packed array for elements of type t, or 0.
func packedOf(t reflect.Type) gdwire.Type {
	if own := ownTypes[t]; own != 0 {
		for packed, vector := range vectorsOf {
			if vector == own {
				return packed
			}
		}
		return 0
	}
	switch t.Kind() {
	case reflect.Uint8:
		return gdwire.TypePackedByteArray
	case reflect.Int32:
		return gdwire.TypePackedInt32Array
	case reflect.Int64:
		return gdwire.TypePackedInt64Array
	case reflect.Float32:
		return gdwire.TypePackedFloat32Array
	case reflect.Float64:
		return gdwire.TypePackedFloat64Array
	case reflect.String:
		return gdwire.TypePackedStringArray
	case reflect.Array:
		if k := t.Elem().Kind(); k == reflect.Float32 || k == reflect.Float64 {
			return map[int]gdwire.Type{2: gdwire.TypePackedVector2Array, 3: gdwire.TypePackedVector3Array, 4: gdwire.TypePackedVector4Array}[t.Len()]
		}
	}
	return 0
}

func encodeList(e *gdwire.Encoder, v reflect.Value, as declared) error {
	t, wire := v.Type(), as.wire
	if t.Kind() == reflect.Array && wire == 0 {
		if all := shapeOf(t).mathTypes(); len(all) == 1 {
			return encodeMath(e, v, all[0])
		}
	}
	packed := packedOf(t.Elem())
	if packed == 0 || wire == gdwire.TypeArray {
		testenv.Check(e.BeginTypedArray(v.Len(), gdwire.Elem{Type: as.elem}))
		for i := range v.Len() {
			testenv.Check(encode(e, v.Index(i), declared{wire: as.elem}))
		}
		return e.End()
	}
	testenv.Check(e.BeginPacked(packed, int64(v.Len())))
	for i := range v.Len() {
		testenv.Check(encodeElement(e, v.Index(i), packed))
	}
	return e.End()
}

func encodeElement(e *gdwire.Encoder, v reflect.Value, packed gdwire.Type) error {
	switch packed {
	case gdwire.TypePackedStringArray:
		return e.WriteString(v.String())
	case gdwire.TypePackedByteArray:
		return gdwire.WritePacked(e, []byte{byte(v.Uint())})
	case gdwire.TypePackedInt32Array:
		return gdwire.WritePacked(e, []int32{int32(v.Int())})
	case gdwire.TypePackedInt64Array:
		return gdwire.WritePacked(e, []int64{v.Int()})
	}
	switch c := flatten(v); len(c) {
	case 1:
		return gdwire.WritePacked(e, c)
	case 2:
		return gdwire.WritePacked(e, [][2]float64{[2]float64(c)})
	case 3:
		return gdwire.WritePacked(e, [][3]float64{[3]float64(c)})
	default:
		return gdwire.WritePacked(e, [][4]float64{[4]float64(c)})
	}
}

func encodeMap(e *gdwire.Encoder, v reflect.Value, as declared) error {
	testenv.Check(e.BeginTypedDict(v.Len(), gdwire.Elem{Type: as.key}, gdwire.Elem{Type: as.elem}))
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch {
		case a.Kind() == reflect.String:
			return cmp.Compare(a.String(), b.String())
		case ownTypes[a.Type()] == 0 && a.CanInt():
			return cmp.Compare(a.Int(), b.Int())
		case ownTypes[a.Type()] == 0 && a.CanUint():
			return cmp.Compare(a.Uint(), b.Uint())
		case a.CanFloat():
			return cmp.Compare(a.Float(), b.Float())
		}
		return bytes.Compare(encoded(a), encoded(b))
	})
	for _, k := range keys {
		testenv.Check(encode(e, k, declared{wire: as.key}))
		testenv.Check(encode(e, v.MapIndex(k), declared{wire: as.elem}))
	}
	return e.End()
}

func encoded(v reflect.Value) []byte {
	e := gdwire.NewEncoder(nil, nil)
	e.ResetBytes(nil)
	if err := Encode(e, v, declared{}); err != nil {
		return nil
	}
	return e.Bytes()
}

func encodeStruct(e *gdwire.Encoder, v reflect.Value) error {
	all, positional := fieldsOf(v.Type())
	all = slices.DeleteFunc(all, func(f field) bool { return !positional && f.omitZero && v.FieldByIndex(f.index).IsZero() })
	begin := e.BeginDict
	if positional {
		begin = e.BeginArray
	}
	testenv.Check(begin(len(all)))
	for _, f := range all {
		if !positional {
			testenv.Check(e.WriteString(f.name))
		}
		testenv.Check(encode(e, v.FieldByIndex(f.index), f.as))
	}
	return e.End()
}

// Check returns an error if a type cannot be encoded: an array of numbers with several
// math types and no type= in its tag.
func Check(t reflect.Type, as declared) error {
	wire := as.wire
	if ownTypes[t] != 0 || t == reflect.TypeFor[variant.Dictionary]() {
		return nil
	}
	switch t.Kind() {
	case reflect.Array:
		if all := shapeOf(t).mathTypes(); wire == 0 && len(all) > 0 {
			if len(all) > 1 {
				return errTypes
			}
			return nil
		}
		if components[wire] != 0 {
			return nil
		}
		fallthrough
	case reflect.Slice:
		if packedOf(t.Elem()) != 0 && wire == 0 { // not encoded as an Array in this format
			return nil
		}
		return Check(t.Elem(), declared{wire: as.elem})
	case reflect.Pointer:
		return Check(t.Elem(), as)
	case reflect.Map:
		return cmp.Or(Check(t.Key(), declared{wire: as.key}), Check(t.Elem(), declared{wire: as.elem}))
	case reflect.Struct:
		all, _ := fieldsOf(t)
		for _, f := range all {
			if err := Check(f.typ, f.as); err != nil {
				return err
			}
		}
	}
	return nil
}
