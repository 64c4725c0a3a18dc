// Package model is what tests compare the codec with: a reference decoder, written for simplicity alone, the vectors of
// engines, and packets that the codec reads and writes again.
package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

var le = binary.LittleEndian

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

	Rule   func(string) // called with the number of each rule of spec/SPEC.md that the packet shows, if not nil
	Cause  string       // the rule that the packet breaks, after an error
	depth  int
	packed bool // the string is of a PackedStringArray of an engine
	widths int  // bits 0 and 1: math types of 32 bits and of 64 bits were read
	forms  int  // bits 0 and 1: ids of objects and serialized objects were read
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

// Complete returns an error if a format has a type that TypeNames does not list, or lists one that
// the format does not have.
func Complete() error {
	for _, f := range gdwire.Formats() {
		for _, t := range gdwire.Types() {
			if slices.Contains(TypeNames[f.String()], t.String()) != f.Has(t) {
				return fmt.Errorf(`%v has %v: %v, and TypeNames of internal/test/model says otherwise: see "To add a type" in CONTRIBUTING.md`, f, t, f.Has(t))
			}
		}
	}
	return nil
}

// RealComponents contains the number of components of each type of reals.
var RealComponents = map[string]int{
	"Vector2": 2, "Rect2": 4, "Vector3": 3, "Transform2D": 6, "Vector4": 4, "Plane": 4, "Quaternion": 4, "AABB": 6,
	"Basis": 9, "Transform3D": 12, "Projection": 16, "Color": 4,
	"PackedVector2Array": 2, "PackedVector3Array": 3, "PackedVector4Array": 4, "PackedColorArray": 4,
}

// IntComponents contains the number of components of each type of ints.
var IntComponents = map[string]int{"Vector2i": 2, "Rect2i": 4, "Vector3i": 3, "Vector4i": 4}

// A refusal is the error of a reference on invalid input.
type refusal struct {
	error
	rule string
}

// DecodeReference decodes the value at the start of p and returns its size.
func DecodeReference(p []byte, format string, objects, double bool) (v tagged.Value, size int, err error) {
	r := Reference{Format: format, Objects: objects, Double: double, P: p}
	v, err = r.Decode()
	return v, r.Pos, err
}

// Decode decodes the value at Pos.
func (r *Reference) Decode() (v tagged.Value, err error) {
	r.types = TypeNames[r.Format]
	if r.Valid == nil {
		r.Valid = utf8.Valid
	}
	err = checked.Try(func() {
		v = r.value()
		r.shows(r.Pos < len(r.P), "B5")
	})
	if why, ok := errors.AsType[refusal](err); ok {
		err, r.Cause = why.error, why.rule
	}
	return v, err
}

func refuse(rule, format string, args ...any) {
	checked.Check(refusal{fmt.Errorf(format, args...), rule})
}

// shows notes rules if the packet shows them.
func (r *Reference) shows(so bool, rules ...string) {
	for _, rule := range rules {
		if so && rule != "" && r.Rule != nil {
			r.Rule(rule)
		}
	}
}

func (r *Reference) is(formats ...string) bool {
	return slices.Contains(formats, r.Format)
}

func (r *Reference) engine() bool { return r.is("godot4", "godot3", "godot2") }

func (r *Reference) take(n uint64) []byte { return r.takeBy("B4", n) }

// takeBy returns n bytes, or refuses the packet because of a rule.
func (r *Reference) takeBy(rule string, n uint64) []byte {
	if n > uint64(len(r.P)-r.Pos) {
		refuse(rule, "%d bytes where %d are left", n, len(r.P)-r.Pos)
	}
	b := r.P[r.Pos : r.Pos+int(n)]
	r.Pos += int(n)
	return b
}

func (r *Reference) u32() uint32 { return le.Uint32(r.take(4)) }
func (r *Reference) u64() uint64 { return le.Uint64(r.take(8)) }
func (r *Reference) i32() uint64 { return uint64(int64(int32(r.u32()))) }
func (r *Reference) f32() uint64 { return tagged.Widened(r.u32()) }

// numbers reads n numbers.
func numbers(n uint64, read func() uint64) (all []uint64) {
	for ; n > 0; n-- {
		all = append(all, read())
	}
	return all
}

// pad skips the padding after n bytes. Where it may be missing, a part of it may.
func (r *Reference) pad(n uint32, mayMiss bool) { r.padBy("T4", n, mayMiss) }

// padBy skips padding, or refuses the packet because of a rule.
func (r *Reference) padBy(rule string, n uint32, mayMiss bool) {
	missing := (4 - n%4) % 4
	if left := uint32(len(r.P) - r.Pos); mayMiss && left < missing {
		r.Missing = int(missing - left)
		missing = left
		r.shows(!r.is("godot2"), "P2")
		r.shows(r.is("godot2"), "G4")
	}
	for _, b := range r.takeBy(rule, uint64(missing)) {
		r.shows(b != 0, "T3")
	}
}

// text reads a string, starting with its length.
func (r *Reference) text(mayMiss bool) string {
	n := r.u32()
	b := r.takeBy("T2", uint64(n))
	until, _, nul := bytes.Cut(b, []byte{0})
	if !r.Valid(b) {
		if r.Valid(until) {
			refuse("T7", "text after a NUL is no UTF-8")
		}
		refuse("T5", "text is no UTF-8")
	}
	r.shows(nul && (len(until) < len(b)-1 || !r.packed), "T6")
	r.shows(bytes.HasPrefix(b, []byte("\ufeff")), "T8")
	r.pad(n, mayMiss)
	return string(b)
}

func (r *Reference) value() tagged.Value {
	r.Starts = append(r.Starts, int64(r.Pos))
	if r.depth > 0 && r.Pos == len(r.P) {
		refuse("C4", "no element at the end")
	}
	r.depth++
	defer func() { r.depth-- }()
	header := r.u32()
	id, flags := header, uint32(0)
	switch r.Format {
	case "godot4", "godot3":
		id, flags = header&0xFF, header>>16
	case "manual4":
		id, flags = header&0xFFFF, header>>16
	}
	if id >= uint32(len(r.types)) {
		refuse("B2", "type %d", id)
	}
	v := tagged.Value{Type: r.types[id]}
	wide := flags&1 != 0
	r.shows(true, typeRules[v.Type])
	r.showsHeader(v.Type, header)
	switch v.Type {
	case "Nil", "Callable":
	case "bool":
		n := r.u32()
		if n != 0 {
			v.Bits = 1
		}
		r.shows(n > 1, "S3")
	case "int":
		if v.Wide = r.is("manual3") || wide; v.Wide {
			v.Bits = r.u64()
			r.shows(wide, "S5")
			r.shows(wide && int64(v.Bits) == int64(int32(v.Bits)), "S6")
		} else {
			v.Bits = r.i32()
		}
	case "float":
		if v.Wide = wide; v.Wide {
			v.Bits = r.u64()
			x := math.Float64frombits(v.Bits)
			r.shows(true, "S8")
			r.shows(x != x, "S10")
			r.shows(float64(float32(x)) == x, "S9")
		} else {
			v.Bits = r.f32()
			x := math.Float64frombits(v.Bits)
			r.shows(x != x && r.is("godot4", "godot3"), "S10")
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
		r.shows(v.Elem.Kind > 0, "C6")
		for n := r.containerCount(); n > 0; n-- {
			v.Items = append(v.Items, r.value())
		}
		r.shows(tagged.HasWrongTypes(&tagged.Value{Type: v.Type, Elem: v.Elem, Items: v.Items}), "C10")
	case "Dictionary":
		r.TypedDict = r.TypedDict || flags&15 != 0
		v.Key = r.declared(flags & 3)
		v.Elem = r.declared(flags >> 2 & 3)
		r.shows(v.Key.Kind > 0 || v.Elem.Kind > 0, "C7")
		for n := r.containerCount(); n > 0; n-- {
			v.Items = append(v.Items, r.value())
			v.Items = append(v.Items, r.value())
		}
		r.shows(tagged.HasWrongTypes(&tagged.Value{Type: v.Type, Key: v.Key, Elem: v.Elem, Items: v.Items}), "C10")
		r.shows(equalKeys(&v), "C5")
	case "PackedByteArray":
		n := r.u32()
		v.Data = append(v.Data, r.takeBy("P7", uint64(n))...)
		if r.engine() {
			r.pad(n, true)
		} else {
			r.padBy("A9", n, false)
		}
	case "PackedInt32Array":
		v.Numbers = numbers(r.count(4), r.i32)
	case "PackedInt64Array", "PackedFloat64Array":
		v.Wide = true
		v.Numbers = numbers(r.count(8), r.u64)
	case "PackedFloat32Array":
		v.Numbers = numbers(r.count(4), r.f32)
	case "PackedStringArray":
		n := r.u32()
		if r.engine() && int32(n) < 0 {
			n = 0
			r.shows(true, "P6")
		}
		r.shows(!r.engine(), "A6")
		for ; n > 0; n-- {
			if r.Pos == len(r.P) {
				refuse("P7", "no string at the end")
			}
			r.packed = r.engine()
			s := r.text(false)
			r.packed = false
			if r.engine() {
				r.shows(strings.Count(s, "\x00") != 1 || !strings.HasSuffix(s, "\x00"), "P5")
				s = strings.TrimSuffix(s, "\x00")
			}
			v.Names = append(v.Names, s)
		}
	case "Image":
		v.Numbers = numbers(4, func() uint64 { return uint64(r.u32()) })
		n := r.u32()
		v.Data = append(v.Data, r.takeBy("P7", uint64(n))...)
		r.pad(n, true)
	case "InputEvent":
		r.inputEvent(&v)
	default:
		if n := IntComponents[v.Type]; n > 0 {
			v.Numbers = numbers(uint64(n), r.i32)
		} else {
			r.reals(&v, wide)
		}
	}
	return v
}

// reals reads the components of a math type or the elements of a packed array.
func (r *Reference) reals(v *tagged.Value, wide bool) {
	color := v.Type == "Color" || v.Type == "PackedColorArray"
	switch {
	case r.is("godot4"):
		v.Wide = wide && !color
	case !r.engine():
		v.Wide = r.Double
		r.shows(r.Double, "A4")
	}
	r.shows(v.Wide && r.is("godot4"), "M2")
	if r.is("godot4") && !color {
		r.widths |= map[bool]int{false: 1, true: 2}[v.Wide]
		r.shows(r.widths == 3, "M5")
	}
	size := uint64(4)
	if v.Wide {
		size = 8
	}
	n := uint64(RealComponents[v.Type])
	if strings.HasPrefix(v.Type, "Packed") {
		n *= r.count(n * size)
	}
	read := r.f32
	if v.Wide {
		read = r.u64
	}
	v.Numbers = numbers(n, read)
}

// count reads the count of a packed array. The elements must follow.
func (r *Reference) count(size uint64) uint64 {
	n := uint64(r.u32())
	if n*size > uint64(len(r.P)-r.Pos) {
		refuse("P7", "%d elements in %d bytes", n, len(r.P)-r.Pos)
	}
	return n
}

func (r *Reference) declared(kind uint32) tagged.Declared {
	if !r.is("godot4") {
		kind = 0
	}
	switch kind {
	case 0:
	case 1:
		id := r.u32()
		if id >= uint32(len(r.types)) {
			refuse("C8", "elements of type %d", id)
		}
		if id != 0 {
			return tagged.Declared{Kind: 1, Name: r.types[id]}
		}
		r.shows(true, "C9")
	default:
		name := r.text(false)
		r.shows(kind == 3 && r.Objects, "C12")
		if name == "" {
			r.shows(true, "C9")
			return tagged.Declared{Kind: 1, Name: "Object"}
		}
		return tagged.Declared{Kind: int(kind), Name: name}
	}
	return tagged.Declared{}
}

func (r *Reference) nodePath(v *tagged.Value) {
	first := r.u32()
	if first < 1<<31 {
		if r.is("godot4", "godot3") {
			refuse("N4", "NodePath in its old form")
		}
		r.shows(true, "N9")
		b := r.takeBy("T2", uint64(first))
		if !r.Valid(b) {
			refuse("T5", "path is no UTF-8")
		}
		r.pad(first, false)
		v.Names = []string{string(b)}
		return
	}
	names, subnames, flags := uint64(first-1<<31), uint64(r.u32()), r.u32()
	v.Absolute = flags&1 != 0
	r.shows(v.Absolute, "N2")
	if r.engine() && flags&2 != 0 {
		subnames++
		r.shows(r.is("godot2"), "G3")
		r.shows(!r.is("godot2"), "N3")
	}
	r.shows(flags > 3 || flags > 1 && !r.engine(), "N7")
	r.shows(flags&2 != 0 && !r.engine(), "A8")
	if !r.engine() && names+subnames > 1<<32-1 {
		refuse("A7", "%d names", names+subnames)
	}
	if total := names + subnames; r.engine() && total > 1<<32-1 { // engines add them in 32 bits
		total -= 1 << 32
		names = min(names, total)
		subnames = total - names
		r.shows(true, "N5")
	}
	for ; names > 0; names-- {
		v.Names = append(v.Names, r.name())
	}
	for ; subnames > 0; subnames-- {
		v.Subnames = append(v.Subnames, r.name())
	}
}

// name reads a name of a NodePath. Engines leave memory content in its padding.
func (r *Reference) name() string {
	if r.Pos == len(r.P) {
		refuse("N8", "no name at the end")
	}
	noted := r.Rule
	r.Rule = func(rule string) {
		if rule == "T3" {
			rule = "N6"
		}
		if noted != nil {
			noted(rule)
		}
	}
	s := r.text(false)
	r.Rule = noted
	return s
}

// containerCount reads the count of an Array or Dictionary.
func (r *Reference) containerCount() uint32 {
	n := r.u32()
	r.shows(n>>31 != 0 && r.is("godot2"), "G2")
	r.shows(n>>31 != 0 && !r.is("godot2"), "C3")
	return n & 0x7FFFFFFF
}

func (r *Reference) object(v *tagged.Value, id bool) {
	v.Type = "ObjectID"
	if !r.is("godot4", "godot3", "manual4") {
		r.shows(true, "O7")
		return
	}
	if id {
		v.Bits = r.u64()
		r.shows(true, "O1")
		r.form(1)
		r.shows(v.Bits == 0, "O6")
		return
	}
	v.Type = "Object"
	if !r.Objects && !r.is("manual4") {
		refuse("O3", "serialized object")
	}
	if v.Text = r.text(false); v.Text == "" {
		r.shows(true, "O4")
		r.shows(!r.Objects, "A10")
		return
	}
	if !r.Objects {
		refuse("O3", "serialized object")
	}
	r.shows(true, "O2")
	r.form(2)
	n := r.u32()
	if r.engine() && int32(n) < 0 {
		n = 0
		r.shows(true, "O5")
	}
	for ; n > 0; n-- {
		if r.Pos == len(r.P) {
			refuse("O8", "no property at the end")
		}
		v.Names = append(v.Names, r.text(false))
		v.Items = append(v.Items, r.value())
	}
}

// form notes a form of objects.
func (r *Reference) form(bit int) {
	r.forms |= bit
	r.shows(r.forms == 3, "O9")
}

func (r *Reference) inputEvent(v *tagged.Value) {
	event, device, length := r.u32(), r.u32(), r.u32()
	if length < 12 {
		refuse("G7", "InputEvent of %d bytes", length)
	}
	data := r.takeBy("G7", uint64(length-12))
	n := map[uint32]int{1: 8, 3: 4, 4: 8, 5: 4, 6: 4}[event]
	if event == 4 && len(data) == 4 {
		n = 4
	}
	r.shows(len(data) > n, "G8")
	if len(data) < n {
		refuse("G7", "InputEvent %d of %d bytes", event, length)
	}
	v.Numbers, v.Data = []uint64{uint64(event), uint64(device)}, append(v.Data, data[:n]...)
}

// Compare decodes p with a Decoder and with the reference. It reports whether both
// accept p, and returns an error if they disagree on that, on the value or on the size.
func Compare(p []byte, o gdwire.DecoderOptions) (accepted bool, err error) {
	want, wantSize, rejected := DecodeReference(p, o.Format.String(), o.AllowObjects, o.DoubleReals)
	o.Limits = gdwire.NoLimits
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

// typeRules contains for each type the rule of spec/SPEC.md that describes its bytes.
var typeRules = func() map[string]string {
	m := map[string]string{}
	for rule, types := range map[string]string{
		"S1": "Nil", "S2": "bool", "S4": "int", "S7": "float", "T1": "String", "T9": "StringName",
		"M1": "Vector2 Rect2 Vector3 Vector4 Plane Quaternion AABB Transform2D", "M3": "Color", "M4": "Vector2i Rect2i Vector3i Vector4i",
		"M6": "Basis Transform3D Projection", "N1": "NodePath", "R1": "RID", "R2": "Callable", "R3": "Signal",
		"C1": "Array", "C2": "Dictionary", "P1": "PackedByteArray",
		"P3": "PackedInt32Array PackedInt64Array PackedFloat32Array PackedFloat64Array PackedVector2Array PackedVector3Array PackedVector4Array PackedColorArray",
		"P4": "PackedStringArray", "G5": "Image", "G6": "InputEvent",
	} {
		for _, typ := range strings.Fields(types) {
			m[typ] = rule
		}
	}
	return m
}()

// flagsOf contains the flags that a header of a type can have in Godot 4.
func flagsOf(typ string) uint32 {
	switch {
	case typ == "int", typ == "float", typ == "Object", RealComponents[typ] > 0 && !strings.Contains(typ, "Color"):
		return 1
	case typ == "Array":
		return 3
	case typ == "Dictionary":
		return 15
	}
	return 0
}

// showsHeader notes the rules on the parts of a header that are not the type.
func (r *Reference) showsHeader(typ string, header uint32) {
	known := flagsOf(typ)
	if !r.is("godot4") && typ != "int" && typ != "float" && typ != "Object" {
		known = 0
	}
	flags := header >> 16
	r.shows(r.is("godot4", "godot3", "manual4") && flags&^known != 0, "B3")
	r.shows(r.is("godot4", "godot3") && header>>8&0xFF != 0, "B1")
	r.shows(r.is("godot2"), "G1")
	r.shows(r.is("manual4"), "A1")
	r.shows(r.is("manual3"), "A2")
	r.shows(r.is("manual30"), "A3")
	r.shows(r.is("manual4", "manual3", "manual30") && (typ == "Basis" || typ == "Transform3D"), "A5")
}

// equalKeys reports whether two keys of a Dictionary are the same.
func equalKeys(v *tagged.Value) bool {
	for i := 0; i < len(v.Items); i += 2 {
		for j := range i / 2 {
			if reflect.DeepEqual(v.Items[i], v.Items[2*j]) {
				return true
			}
		}
	}
	return false
}
