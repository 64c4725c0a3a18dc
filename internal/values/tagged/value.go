// Package tagged holds whole values in memory, with all details of a packet. Values are read and written
// by the calls of package gdwire, and as JSON with every type, in the form of the vectors of spec/vectors and
// spec/conform.
package tagged

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
)

// Values in memory, read and written by the calls of package gdwire.

var le = binary.LittleEndian

// A Value is a whole Variant in memory, for comparisons, with bits instead of numbers
// so that no NaN is changed.
type Value struct {
	Type     string   // the name in Godot 4; an object is ObjectID or Object
	Wide     bool     // numbers take 64 bits on the wire
	Bits     uint64   // a bool, an int, a float's bits as a float64; an id
	Text     string   // a string, a Signal's name, an Object's class
	Data     []byte   // of a PackedByteArray, Image or InputEvent
	Numbers  []uint64 // of math and packed types as int64 or float64; the header of an Image or InputEvent
	Absolute bool
	Names    []string // of a NodePath, an Object's properties, the strings of a PackedStringArray
	Subnames []string
	Key      Declared // of a Dictionary
	Elem     Declared
	Items    []Value // elements; key, value, key, value; the values of properties
}

// Declared is the element type of a typed container.
type Declared struct {
	Kind int // 1 built-in, 2 class, 3 script
	Name string
}

// TypeByName contains all types.
var TypeByName = func() map[string]gdwire.Type {
	m := map[string]gdwire.Type{}
	for _, t := range gdwire.Types() {
		m[t.String()] = t
	}
	return m
}()

// Plain returns v without the details of its encoding.
func (v Value) Plain() Value { return v.changed(func(v *Value) { v.Wide = false }) }

// changed returns a copy of v with each value changed by change.
func (v Value) changed(change func(*Value)) Value {
	change(&v)
	items := v.Items
	v.Items = nil
	for _, item := range items {
		v.Items = append(v.Items, item.changed(change))
	}
	return v
}

// AnyNaN returns v with all NaNs replaced by the same NaN.
func (v Value) AnyNaN() Value {
	one := func(bits uint64) uint64 {
		if x := math.Float64frombits(bits); x != x {
			return math.Float64bits(math.NaN())
		}
		return bits
	}
	return v.changed(func(v *Value) {
		if v.Type == "float" {
			v.Bits = one(v.Bits)
		}
		if !isInts(v.Type) && v.Numbers != nil {
			v.Numbers = AsNumbers(v.Numbers, one)
		}
	})
}

// Holds reports whether f holds for v or an inner value.
func (v *Value) Holds(f func(*Value) bool) bool {
	return f(v) || slices.ContainsFunc(v.Items, func(item Value) bool { return item.Holds(f) })
}

// Path returns a NodePath as engines print it.
func (v *Value) Path() string {
	s := strings.Join(v.Names, "/")
	if v.Absolute {
		s = "/" + s
	}
	for _, name := range v.Subnames {
		s += ":" + name
	}
	return s
}

// DeclaredType returns the declared type of item i.
func (v *Value) DeclaredType(i int) string {
	d := v.Elem
	if v.Type == "Dictionary" {
		if d = v.Key; i%2 == 1 {
			return ""
		}
	}
	if d.Kind > 1 {
		return "Object"
	}
	return d.Name
}

// ChangeTexts changes the strings of v.
func (v *Value) ChangeTexts(change func(string) string) bool {
	changed := false
	do := func(s *string) {
		if t := change(*s); t != *s {
			*s, changed = t, true
		}
	}
	do(&v.Text)
	for _, names := range [][]string{v.Names, v.Subnames} {
		for i := range names {
			do(&names[i])
		}
	}
	return changed
}

// HasNUL reports whether a text of v contains a NUL.
func HasNUL(v *Value) bool {
	all := slices.Concat([]string{v.Text, v.Key.Name, v.Elem.Name}, v.Names, v.Subnames)
	return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "\x00") })
}

// HasWrongTypes reports whether an element or key is of another type than declared.
func HasWrongTypes(v *Value) bool {
	for i := range v.Items {
		item, must := &v.Items[i], v.DeclaredType(i)
		if must != "" && item.Type != must && (must != "Object" || item.Type != "ObjectID" && item.Type != "Nil") {
			return true
		}
	}
	return false
}

// FloatBits returns the value of a Float32 as the bits of a float64. Token.Float may
// quiet a signaling NaN, so the bits of a NaN are taken from the encoded token.
func FloatBits(t gdwire.Token) uint64 {
	if x := t.Float(); x == x {
		return math.Float64bits(x)
	}
	var b bytes.Buffer
	if err := gdwire.NewEncoder(&b, nil).WriteToken(t); err != nil {
		panic(err)
	}
	return Widened(le.Uint32(b.Bytes()[4:]))
}

// Widened converts the bits of a float32 to the bits of a float64. A NaN keeps its
// sign and payload.
func Widened(bits uint32) uint64 {
	if x := math.Float32frombits(bits); x == x {
		return math.Float64bits(float64(x))
	}
	return uint64(bits>>31)<<63 | 0x7FF<<52 | uint64(bits&(1<<23-1))<<29
}

// isInts reports whether the numbers of a type are integers.
func isInts(typ string) bool {
	return strings.HasSuffix(typ, "i") || strings.HasPrefix(typ, "PackedInt")
}

// Numbers reads the components of a math type or the elements of a packed array.
func Numbers(typ string, b []byte, wide bool) (all []uint64) {
	size := 4
	if wide {
		size = 8
	}
	for ; len(b) >= size; b = b[size:] {
		switch {
		case wide:
			all = append(all, le.Uint64(b))
		case isInts(typ):
			all = append(all, uint64(int64(int32(le.Uint32(b)))))
		default:
			all = append(all, Widened(le.Uint32(b)))
		}
	}
	return all
}

// ToInt32 converts an element of Value.Numbers, for AsNumbers.
func ToInt32(bits uint64) int32 { return int32(bits) }

// Narrowed converts the bits of a float64 to the bits of a float32, as the inverse of Widened.
func Narrowed(bits uint64) uint32 {
	if x := math.Float64frombits(bits); x == x {
		return math.Float32bits(float32(x))
	}
	return uint32(bits>>63)<<31 | 0xFF<<23 | uint32(bits>>29)&(1<<23-1)
}

// AsNumbers converts numbers, such as the elements of Value.Numbers.
func AsNumbers[F, T any](from []F, as func(F) T) []T {
	all := make([]T, len(from))
	for i, x := range from {
		all[i] = as(x)
	}
	return all
}

// Grouped converts groups of n floats.
func Grouped[T any](bits []uint64, n int, group func([]float64) T) (all []T) {
	x := AsNumbers(bits, math.Float64frombits)
	for ; len(x) > 0; x = x[n:] {
		all = append(all, group(x))
	}
	return all
}

// A Reader builds values.
type Reader struct {
	*gdwire.Decoder
	Temporary error // calls are repeated after this error
}

// Value reads the next value, token by token.
func (r *Reader) Value() (v Value, err error) {
	err = checked.Try(func() { v = r.value() })
	return v, err
}

// token reads a token, again after temporary errors.
func (r *Reader) token() gdwire.Token {
	t, err := r.ReadToken()
	for err != nil && err == r.Temporary {
		t, err = r.ReadToken()
	}
	checked.Check(err)
	return t
}

func (r *Reader) value() Value {
	t := r.token()
	v := Value{Type: t.Type().String()}
	switch k := t.Kind(); k {
	case gdwire.KindNil, gdwire.KindCallable:
	case gdwire.KindBool:
		if t.Bool() {
			v.Bits = 1
		}
	case gdwire.KindInt32, gdwire.KindInt64:
		v.Bits, v.Wide = uint64(t.Int()), k == gdwire.KindInt64
	case gdwire.KindFloat32:
		v.Bits = FloatBits(t)
	case gdwire.KindFloat64:
		v.Bits, v.Wide = math.Float64bits(t.Float()), true
	case gdwire.KindRID:
		v.Bits = t.ID()
	case gdwire.KindObjectID:
		v.Type, v.Bits = "ObjectID", t.ID()
	case gdwire.KindSignal:
		v.Text, v.Bits = t.Text(), t.ID()
	case gdwire.KindInputEvent:
		event, device := t.Event()
		v.Numbers, v.Data = []uint64{uint64(event), uint64(device)}, bytes.Clone(t.Bytes())
	case gdwire.KindStringChunk:
		v.Text = r.joined(t)
	case gdwire.KindNodePathStart:
		r.path(&v, t)
	case gdwire.KindObjectStart:
		v.Text = t.Text()
		for range t.Len() {
			v.Names = append(v.Names, r.expect(gdwire.KindProperty).Text())
			v.Items = append(v.Items, r.value())
		}
		r.expect(gdwire.KindEnd)
	case gdwire.KindDictStart:
		v.Key, v.Elem = declaredBy(t.KeyElem()), declaredBy(t.Elem())
		for range t.Len() {
			r.expect(gdwire.KindDictKey)
			key := r.value()
			v.Items = append(v.Items, key, r.value())
		}
		r.expect(gdwire.KindEnd)
	case gdwire.KindArrayStart:
		v.Elem = declaredBy(t.Elem())
		for range t.Len() {
			v.Items = append(v.Items, r.value())
		}
		r.expect(gdwire.KindEnd)
	case gdwire.KindPackedStart:
		r.packed(&v, t)
	case gdwire.KindImageStart:
		format, mipmaps, width, height := t.Image()
		v.Numbers = []uint64{uint64(format), uint64(mipmaps), uint64(width), uint64(height)}
		v.Data = r.chunks(t.Len())
	default:
		if t.Components() == 0 {
			checked.Check(fmt.Errorf("%v where a value starts", t))
		}
		v.Wide = t.Width() == 64
		v.Numbers = Numbers(v.Type, t.Bytes(), v.Wide)
	}
	return v
}

func (r *Reader) path(v *Value, t gdwire.Token) {
	names, subnames, absolute := t.NodePath()
	if t.Len() != names+subnames {
		checked.Check(fmt.Errorf("%v has %d names", t, t.Len()))
	}
	v.Absolute = absolute
	all := r.strings(names + subnames)
	v.Names, v.Subnames = append([]string(nil), all[:names]...), append([]string(nil), all[names:]...)
}

func (r *Reader) packed(v *Value, t gdwire.Token) {
	n := t.Len()
	v.Wide = t.Width() == 64
	switch {
	case v.Type == "PackedStringArray":
		v.Names = r.strings(n)
	case v.Type == "PackedByteArray":
		v.Data = r.chunks(n)
	default:
		v.Numbers = Numbers(v.Type, r.chunks(n), v.Wide)
	}
}

// strings reads n strings and the End after them.
func (r *Reader) strings(n int64) (all []string) {
	for range n {
		all = append(all, r.joined(r.expect(gdwire.KindStringChunk)))
	}
	r.expect(gdwire.KindEnd)
	return all
}

// Joined reads the rest of the string starting with t.
func (r *Reader) Joined(t gdwire.Token) (s string, err error) {
	err = checked.Try(func() { s = r.joined(t) })
	return s, err
}

func (r *Reader) joined(t gdwire.Token) string {
	text := bytes.Clone(t.Bytes())
	for !t.Last() {
		t = r.expect(gdwire.KindStringChunk)
		text = append(text, t.Bytes()...)
	}
	return string(text)
}

// chunks reads n elements and the End after them.
func (r *Reader) chunks(n int64) (data []byte) {
	for n > 0 {
		t := r.expect(gdwire.KindChunk)
		data = append(data, t.Bytes()...)
		n -= t.Len()
	}
	r.expect(gdwire.KindEnd)
	return data
}

func (r *Reader) expect(k gdwire.Kind) gdwire.Token {
	t := r.token()
	if t.Kind() != k {
		checked.Check(fmt.Errorf("%v where %v should be", t, k))
	}
	return t
}

func declaredBy(e gdwire.Elem) Declared {
	switch {
	case e.Script != "":
		return Declared{3, e.Script}
	case e.Class != "":
		return Declared{2, e.Class}
	case e.Type != 0:
		return Declared{1, e.Type.String()}
	}
	return Declared{}
}

func (d Declared) elem() gdwire.Elem {
	switch d.Kind {
	case 3:
		return gdwire.Elem{Type: gdwire.TypeObject, Script: d.Name}
	case 2:
		return gdwire.Elem{Type: gdwire.TypeObject, Class: d.Name}
	case 1:
		return gdwire.Elem{Type: TypeByName[d.Name]}
	}
	return gdwire.Elem{}
}

// Write writes v by typed calls, and a NaN in 32 bits where a format knows no others.
func (v *Value) Write(e *gdwire.Encoder) error { return checked.Try(func() { v.write(e) }) }

// container writes a container. begin is the error of the Begin call.
func container(e *gdwire.Encoder, begin error, write func()) {
	checked.Check(begin)
	write()
	checked.Check(e.End())
}

func (v *Value) write(e *gdwire.Encoder) {
	typ, n := TypeByName[v.Type], v.Numbers
	items := func() {
		for i := range v.Items {
			v.Items[i].write(e)
		}
	}
	switch v.Type {
	case "Nil":
		checked.Check(e.WriteNil())
	case "bool":
		checked.Check(e.WriteBool(v.Bits != 0))
	case "int":
		checked.Check(e.WriteInt(int64(v.Bits)))
	case "float":
		x := math.Float64frombits(v.Bits)
		err := e.WriteFloat(x)
		if err != nil && x != x {
			_ = e.ClearError() // the error of WriteFloat
			err = e.WriteToken(gdwire.Float32(float32(x)))
		}
		checked.Check(err)
	case "String":
		checked.Check(e.WriteString(v.Text))
	case "StringName":
		checked.Check(e.WriteStringName(v.Text))
	case "RID":
		checked.Check(e.WriteRID(v.Bits))
	case "ObjectID":
		checked.Check(e.WriteObjectID(v.Bits))
	case "Callable":
		checked.Check(e.WriteCallable())
	case "Signal":
		checked.Check(e.WriteSignal(v.Text, v.Bits))
	case "InputEvent":
		checked.Check(e.WriteInputEvent(uint32(n[0]), uint32(n[1]), v.Data))
	case "Image":
		begin := e.BeginImage(uint32(n[0]), uint32(n[1]), uint32(n[2]), uint32(n[3]), int64(len(v.Data)))
		container(e, begin, func() { checked.Must(e.Write(v.Data)) })
	case "NodePath":
		container(e, e.BeginNodePath(len(v.Names), len(v.Subnames), v.Absolute), func() {
			for _, name := range slices.Concat(v.Names, v.Subnames) {
				checked.Check(e.WriteString(name))
			}
		})
	case "Object":
		container(e, e.BeginObject(v.Text, len(v.Names)), func() {
			for i, name := range v.Names {
				checked.Check(e.WriteProperty(name))
				v.Items[i].write(e)
			}
		})
	case "Dictionary":
		container(e, e.BeginTypedDict(len(v.Items)/2, v.Key.elem(), v.Elem.elem()), items)
	case "Array":
		container(e, e.BeginTypedArray(len(v.Items), v.Elem.elem()), items)
	case "PackedStringArray":
		container(e, e.BeginPacked(typ, int64(len(v.Names))), func() {
			for _, s := range v.Names {
				checked.Check(e.WriteString(s))
			}
		})
	default:
		switch {
		case strings.HasPrefix(v.Type, "Packed"):
			container(e, e.BeginPacked(typ, int64(len(v.Data)+len(n)/perElement(v.Type))), func() { checked.Check(v.writePacked(e)) })
		case isInts(v.Type):
			checked.Check(gdwire.WriteComponents(e, typ, AsNumbers(n, ToInt32)))
		default:
			checked.Check(gdwire.WriteComponents(e, typ, AsNumbers(n, math.Float64frombits)))
		}
	}
}

// perElement returns the number of components of an element of a packed array.
func perElement(typ string) int {
	switch typ {
	case "PackedVector2Array":
		return 2
	case "PackedVector3Array":
		return 3
	case "PackedColorArray", "PackedVector4Array":
		return 4
	}
	return 1
}

// writePacked writes the elements of a packed array.
func (v *Value) writePacked(e *gdwire.Encoder) error {
	n := v.Numbers
	switch v.Type {
	case "PackedByteArray":
		return gdwire.WritePacked(e, v.Data)
	case "PackedInt32Array":
		return gdwire.WritePacked(e, AsNumbers(n, ToInt32))
	case "PackedInt64Array":
		return gdwire.WritePacked(e, AsNumbers(n, func(b uint64) int64 { return int64(b) }))
	case "PackedFloat32Array", "PackedFloat64Array":
		return gdwire.WritePacked(e, AsNumbers(n, math.Float64frombits))
	case "PackedVector2Array":
		return gdwire.WritePacked(e, Grouped(n, 2, func(x []float64) [2]float64 { return [2]float64(x) }))
	case "PackedVector3Array":
		return gdwire.WritePacked(e, Grouped(n, 3, func(x []float64) [3]float64 { return [3]float64(x) }))
	}
	return gdwire.WritePacked(e, Grouped(n, 4, func(x []float64) [4]float64 { return [4]float64(x) }))
}

// Encoding returns packed elements in wire order.
func (v *Value) Encoding() []byte {
	b := append([]byte(nil), v.Data...)
	for _, bits := range v.Numbers {
		switch {
		case v.Wide:
			b = le.AppendUint64(b, bits)
		case isInts(v.Type):
			b = le.AppendUint32(b, uint32(bits))
		default:
			b = le.AppendUint32(b, Narrowed(bits))
		}
	}
	return b
}
