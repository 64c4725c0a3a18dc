package model

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// A Reference decodes whole packets recursively and as simply as possible. It is
// written from the description of the formats alone and shares nothing with the
// Decoder, so that they do not make the same mistakes.
type Reference struct {
	Format  string
	types   []string
	Objects bool // serialized objects are allowed
	Double  bool // DoubleReals
	Valid   func([]byte) bool
	P       []byte
	Pos     int

	Starts    []int64 // the offset of each value, in the order of the packet
	Missing   int     // bytes of padding at the end
	TypedDict bool    // a Dictionary's header had flags
}

// TypeNames lists the types of each format in the order of their ids.
var TypeNames = map[string][]string{
	"godot4": strings.Fields(`Nil bool int float String Vector2 Vector2i Rect2 Rect2i Vector3 Vector3i Transform2D
		Vector4 Vector4i Plane Quaternion AABB Basis Transform3D Projection Color StringName NodePath RID Object Callable Signal
		Dictionary Array PackedByteArray PackedInt32Array PackedInt64Array PackedFloat32Array PackedFloat64Array
		PackedStringArray PackedVector2Array PackedVector3Array PackedColorArray PackedVector4Array`),
	"godot3": strings.Fields(`Nil bool int float String Vector2 Rect2 Vector3 Transform2D Plane Quaternion AABB Basis
		Transform3D Color NodePath RID Object Dictionary Array PackedByteArray PackedInt32Array PackedFloat32Array
		PackedStringArray PackedVector2Array PackedVector3Array PackedColorArray`),
	"godot2": strings.Fields(`Nil bool int float String Vector2 Rect2 Vector3 Transform2D Plane Quaternion AABB Basis
		Transform3D Color Image NodePath RID Object InputEvent Dictionary Array PackedByteArray PackedInt32Array
		PackedFloat32Array PackedStringArray PackedVector2Array PackedVector3Array PackedColorArray`),
	"manual4": strings.Fields(`Nil bool int float String Vector2 Rect2 Vector3 Transform2D Plane Quaternion AABB Basis
		Transform3D Color NodePath RID Object Dictionary Array PackedByteArray PackedInt32Array PackedInt64Array
		PackedFloat32Array PackedFloat64Array PackedStringArray PackedVector2Array PackedVector3Array PackedColorArray`),
}

func init() {
	TypeNames["manual3"] = TypeNames["godot3"]
	TypeNames["manual30"] = TypeNames["godot3"]
}

// RealComponents contains the number of components of each type of reals.
var RealComponents = map[string]int{
	"Vector2": 2, "Rect2": 4, "Vector3": 3, "Transform2D": 6, "Vector4": 4, "Plane": 4, "Quaternion": 4, "AABB": 6,
	"Basis": 9, "Transform3D": 12, "Projection": 16, "Color": 4,
	"PackedVector2Array": 2, "PackedVector3Array": 3, "PackedVector4Array": 4, "PackedColorArray": 4,
}

// IntComponents contains the number of components of each type of ints.
var IntComponents = map[string]int{"Vector2i": 2, "Rect2i": 4, "Vector3i": 3, "Vector4i": 4}

// A refusal is a panic of a reference on invalid input.
type refusal string

// DecodeReference decodes the value at the start of p and returns its size.
func DecodeReference(p []byte, format string, objects, double bool) (v Value, size int, err error) {
	r := Reference{Format: format, Objects: objects, Double: double, P: p}
	v, err = r.Decode()
	return v, r.Pos, err
}

// Decode decodes the value at Pos.
func (r *Reference) Decode() (v Value, err error) {
	r.types = TypeNames[r.Format]
	if r.Valid == nil {
		r.Valid = utf8.Valid
	}
	defer func() {
		if x := recover(); x != nil {
			why, ok := x.(refusal)
			if !ok {
				panic(x)
			}
			v, err = Value{}, errors.New(string(why))
		}
	}()
	return r.value(), nil
}

func refuse(format string, args ...any) { panic(refusal(fmt.Sprintf(format, args...))) }

func (r *Reference) is(formats ...string) bool {
	for _, f := range formats {
		if f == r.Format {
			return true
		}
	}
	return false
}

func (r *Reference) engine() bool { return r.is("godot4", "godot3", "godot2") }

func (r *Reference) take(n uint64) []byte {
	if n > uint64(len(r.P)-r.Pos) {
		refuse("%d bytes where %d are left", n, len(r.P)-r.Pos)
	}
	b := r.P[r.Pos : r.Pos+int(n)]
	r.Pos += int(n)
	return b
}

func (r *Reference) u32() uint32 { return le.Uint32(r.take(4)) }
func (r *Reference) u64() uint64 { return le.Uint64(r.take(8)) }

// pad skips the padding after n bytes. Where it may be missing, a part of it may.
func (r *Reference) pad(n uint32, mayMiss bool) {
	missing := (4 - n%4) % 4
	if left := uint32(len(r.P) - r.Pos); mayMiss && left < missing {
		r.Missing = int(missing - left)
		missing = left
	}
	r.take(uint64(missing))
}

// text reads a string, starting with its length.
func (r *Reference) text(mayMiss bool) string {
	n := r.u32()
	b := r.take(uint64(n))
	if !r.Valid(b) {
		refuse("text is no UTF-8")
	}
	r.pad(n, mayMiss)
	return string(b)
}

func (r *Reference) value() Value {
	r.Starts = append(r.Starts, int64(r.Pos))
	header := r.u32()
	id, flags := header, uint32(0)
	switch r.Format {
	case "godot4", "godot3":
		id, flags = header&0xFF, header>>16
	case "manual4":
		id, flags = header&0xFFFF, header>>16
	}
	if id >= uint32(len(r.types)) {
		refuse("type %d", id)
	}
	v := Value{Type: r.types[id]}
	wide := flags&1 != 0
	switch v.Type {
	case "Nil", "Callable":
	case "bool":
		if r.u32() != 0 {
			v.Bits = 1
		}
	case "int":
		if v.Wide = r.is("manual3") || wide; v.Wide {
			v.Bits = r.u64()
		} else {
			v.Bits = uint64(int64(int32(r.u32())))
		}
	case "float":
		if v.Wide = wide; v.Wide {
			v.Bits = r.u64()
		} else {
			v.Bits = Widened(r.u32())
		}
	case "String":
		v.Text = r.text(r.is("godot2"))
	case "StringName":
		v.Text = r.text(false)
	case "NodePath":
		r.nodePath(&v)
	case "RID":
		if r.is("godot4") {
			v.Bits = r.u64()
		}
	case "Signal":
		v.Text = r.text(false)
		v.Bits = r.u64()
	case "Object":
		r.object(&v, wide)
	case "Array":
		v.Elem = r.declared(flags & 3)
		for n := r.u32() & 0x7FFFFFFF; n > 0; n-- {
			v.Items = append(v.Items, r.value())
		}
	case "Dictionary":
		r.TypedDict = r.TypedDict || flags&15 != 0
		v.Key = r.declared(flags & 3)
		v.Elem = r.declared(flags >> 2 & 3)
		for n := r.u32() & 0x7FFFFFFF; n > 0; n-- {
			v.Items = append(v.Items, r.value())
			v.Items = append(v.Items, r.value())
		}
	case "PackedByteArray":
		n := r.u32()
		v.Data = append(v.Data, r.take(uint64(n))...)
		r.pad(n, r.engine())
	case "PackedInt32Array":
		for n := r.count(4); n > 0; n-- {
			v.Numbers = append(v.Numbers, uint64(int64(int32(r.u32()))))
		}
	case "PackedInt64Array":
		v.Wide = true
		for n := r.count(8); n > 0; n-- {
			v.Numbers = append(v.Numbers, r.u64())
		}
	case "PackedFloat32Array":
		for n := r.count(4); n > 0; n-- {
			v.Numbers = append(v.Numbers, Widened(r.u32()))
		}
	case "PackedFloat64Array":
		v.Wide = true
		for n := r.count(8); n > 0; n-- {
			v.Numbers = append(v.Numbers, r.u64())
		}
	case "PackedStringArray":
		n := r.u32()
		if r.engine() && int32(n) < 0 {
			n = 0
		}
		for ; n > 0; n-- {
			s := r.text(false)
			if r.engine() {
				s = strings.TrimSuffix(s, "\x00")
			}
			v.Names = append(v.Names, s)
		}
	case "Image":
		for range 4 {
			v.Numbers = append(v.Numbers, uint64(r.u32()))
		}
		n := r.u32()
		v.Data = append(v.Data, r.take(uint64(n))...)
		r.pad(n, true)
	case "InputEvent":
		r.inputEvent(&v)
	default:
		if n := IntComponents[v.Type]; n > 0 {
			for range n {
				v.Numbers = append(v.Numbers, uint64(int64(int32(r.u32()))))
			}
			return v
		}
		r.reals(&v, wide)
	}
	return v
}

// reals reads the components of a math type or the elements of a packed array.
func (r *Reference) reals(v *Value, wide bool) {
	color := v.Type == "Color" || v.Type == "PackedColorArray"
	switch {
	case r.is("godot4"):
		v.Wide = wide && !color
	case !r.engine():
		v.Wide = r.Double
	}
	size := uint64(4)
	if v.Wide {
		size = 8
	}
	n := uint64(RealComponents[v.Type])
	if strings.HasPrefix(v.Type, "Packed") {
		n *= r.count(n * size)
	}
	for ; n > 0; n-- {
		if v.Wide {
			v.Numbers = append(v.Numbers, r.u64())
		} else {
			v.Numbers = append(v.Numbers, Widened(r.u32()))
		}
	}
}

// count reads the count of a packed array. The elements must follow.
func (r *Reference) count(size uint64) uint64 {
	n := uint64(r.u32())
	if n*size > uint64(len(r.P)-r.Pos) {
		refuse("%d elements in %d bytes", n, len(r.P)-r.Pos)
	}
	return n
}

func (r *Reference) declared(kind uint32) Declared {
	if !r.is("godot4") {
		return Declared{}
	}
	switch kind {
	case 0:
		return Declared{}
	case 1:
		id := r.u32()
		if id >= uint32(len(r.types)) {
			refuse("elements of type %d", id)
		}
		if id == 0 {
			return Declared{}
		}
		return Declared{1, r.types[id]}
	default:
		name := r.text(false)
		if name == "" {
			return Declared{1, "Object"}
		}
		return Declared{int(kind), name}
	}
}

func (r *Reference) nodePath(v *Value) {
	first := r.u32()
	if first < 1<<31 {
		if r.is("godot4", "godot3") {
			refuse("NodePath in its old form")
		}
		b := r.take(uint64(first))
		if !r.Valid(b) {
			refuse("path is no UTF-8")
		}
		r.pad(first, false)
		v.Names = []string{string(b)}
		return
	}
	names, subnames, flags := uint64(first-1<<31), uint64(r.u32()), r.u32()
	v.Absolute = flags&1 != 0
	if r.engine() && flags&2 != 0 {
		subnames++
	}
	if total := names + subnames; r.engine() && total > 1<<32-1 { // engines add them in 32 bits
		total -= 1 << 32
		names = min(names, total)
		subnames = total - names
	}
	for ; names > 0; names-- {
		v.Names = append(v.Names, r.text(false))
	}
	for ; subnames > 0; subnames-- {
		v.Subnames = append(v.Subnames, r.text(false))
	}
}

func (r *Reference) object(v *Value, id bool) {
	v.Type = "ObjectID"
	if !r.is("godot4", "godot3", "manual4") {
		return
	}
	if id {
		v.Bits = r.u64()
		return
	}
	v.Type = "Object"
	if !r.Objects && !r.is("manual4") {
		refuse("serialized object")
	}
	if v.Text = r.text(false); v.Text == "" {
		return
	}
	if !r.Objects {
		refuse("serialized object")
	}
	n := r.u32()
	if r.engine() && int32(n) < 0 {
		n = 0
	}
	for ; n > 0; n-- {
		v.Names = append(v.Names, r.text(false))
		v.Items = append(v.Items, r.value())
	}
}

func (r *Reference) inputEvent(v *Value) {
	event, device, length := r.u32(), r.u32(), r.u32()
	if length < 12 {
		refuse("InputEvent of %d bytes", length)
	}
	data := r.take(uint64(length - 12))
	n := map[uint32]int{1: 8, 3: 4, 4: 8, 5: 4, 6: 4}[event]
	if event == 4 && len(data) == 4 {
		n = 4
	}
	if len(data) < n {
		refuse("InputEvent %d of %d bytes", event, length)
	}
	v.Numbers, v.Data = []uint64{uint64(event), uint64(device)}, append(v.Data, data[:n]...)
}

// Compare decodes p with a Decoder and with the reference. It reports whether both
// accept p, and returns an error if they disagree on that, on the value or on the size.
func Compare(p []byte, o gdwire.DecoderOptions) (accepted bool, err error) {
	want, wantSize, rejected := DecodeReference(p, o.Format.String(), o.AllowObjects, o.DoubleReals)
	o.Limits = NoLimits
	got, size, err := Decode(p, o)
	switch {
	case rejected != nil && err != nil:
		return false, nil
	case rejected != nil:
		return false, fmt.Errorf("%v, %x: accepted, but the reference says: %w", o.Format, p, rejected)
	case err != nil:
		return false, fmt.Errorf("%v, %x: %w, but the reference accepts it", o.Format, p, err)
	case int64(wantSize) != size || !reflect.DeepEqual(want, got):
		return false, fmt.Errorf("%v, %x: %+v in %d bytes, want %+v in %d", o.Format, p, got, size, want, wantSize)
	}
	return true, nil
}
