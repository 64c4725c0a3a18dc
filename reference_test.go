package gdwire_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/stretchr/testify/require"
)

// A reference decodes whole packets recursively and as simply as possible. It is
// written from the description of the formats alone and shares nothing with the
// Decoder, so that they do not make the same mistakes.
type reference struct {
	format  string
	types   []string
	objects bool // serialized ones are allowed
	double  bool // DoubleReals
	valid   func([]byte) bool
	p       []byte
	pos     int

	starts    []int64 // the offset of each value, in the order of the packet
	missing   int     // bytes of padding at the end
	typedDict bool    // a Dictionary's header had flags
}

// referenceTypes has the types of each format in the order of their ids.
var referenceTypes = map[string][]string{
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
	referenceTypes["manual3"] = referenceTypes["godot3"]
	referenceTypes["manual30"] = referenceTypes["godot3"]
}

// referenceReals has the number of components of each type of reals.
var referenceReals = map[string]int{
	"Vector2": 2, "Rect2": 4, "Vector3": 3, "Transform2D": 6, "Vector4": 4, "Plane": 4, "Quaternion": 4, "AABB": 6,
	"Basis": 9, "Transform3D": 12, "Projection": 16, "Color": 4,
	"PackedVector2Array": 2, "PackedVector3Array": 3, "PackedVector4Array": 4, "PackedColorArray": 4,
}

var referenceInts = map[string]int{"Vector2i": 2, "Rect2i": 4, "Vector3i": 3, "Vector4i": 4}

// A refusal is a panic of a reference on invalid input.
type refusal string

// decodeReference decodes the value at the start of p and returns its size.
func decodeReference(p []byte, format string, objects, double bool) (v value, size int, err error) {
	r := reference{format: format, objects: objects, double: double, p: p}
	v, err = r.decode()
	return v, r.pos, err
}

func (r *reference) decode() (v value, err error) {
	r.types = referenceTypes[r.format]
	if r.valid == nil {
		r.valid = utf8.Valid
	}
	defer func() {
		if x := recover(); x != nil {
			why, ok := x.(refusal)
			if !ok {
				panic(x)
			}
			v, err = value{}, errors.New(string(why))
		}
	}()
	return r.value(), nil
}

func refuse(format string, args ...any) { panic(refusal(fmt.Sprintf(format, args...))) }

func (r *reference) is(formats ...string) bool {
	for _, f := range formats {
		if f == r.format {
			return true
		}
	}
	return false
}

func (r *reference) engine() bool { return r.is("godot4", "godot3", "godot2") }

func (r *reference) take(n uint64) []byte {
	if n > uint64(len(r.p)-r.pos) {
		refuse("%d bytes where %d are left", n, len(r.p)-r.pos)
	}
	b := r.p[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

func (r *reference) u32() uint32 { return le.Uint32(r.take(4)) }
func (r *reference) u64() uint64 { return le.Uint64(r.take(8)) }

// pad skips the padding after n bytes. Where it may be missing, a part of it may.
func (r *reference) pad(n uint32, mayMiss bool) {
	missing := (4 - n%4) % 4
	if left := uint32(len(r.p) - r.pos); mayMiss && left < missing {
		r.missing = int(missing - left)
		missing = left
	}
	r.take(uint64(missing))
}

// text reads a string, starting with its length.
func (r *reference) text(mayMiss bool) string {
	n := r.u32()
	b := r.take(uint64(n))
	if !r.valid(b) {
		refuse("text is no UTF-8")
	}
	r.pad(n, mayMiss)
	return string(b)
}

func (r *reference) value() value {
	r.starts = append(r.starts, int64(r.pos))
	header := r.u32()
	id, flags := header, uint32(0)
	switch r.format {
	case "godot4", "godot3":
		id, flags = header&0xFF, header>>16
	case "manual4":
		id, flags = header&0xFFFF, header>>16
	}
	if id >= uint32(len(r.types)) {
		refuse("type %d", id)
	}
	v := value{Type: r.types[id]}
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
			v.Bits = widened(r.u32())
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
		r.typedDict = r.typedDict || flags&15 != 0
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
			v.Numbers = append(v.Numbers, widened(r.u32()))
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
		if n := referenceInts[v.Type]; n > 0 {
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
func (r *reference) reals(v *value, wide bool) {
	color := v.Type == "Color" || v.Type == "PackedColorArray"
	switch {
	case r.is("godot4"):
		v.Wide = wide && !color
	case !r.engine():
		v.Wide = r.double
	}
	size := uint64(4)
	if v.Wide {
		size = 8
	}
	n := uint64(referenceReals[v.Type])
	if strings.HasPrefix(v.Type, "Packed") {
		n *= r.count(n * size)
	}
	for ; n > 0; n-- {
		if v.Wide {
			v.Numbers = append(v.Numbers, r.u64())
		} else {
			v.Numbers = append(v.Numbers, widened(r.u32()))
		}
	}
}

// count reads the count of a packed array whose elements have to follow.
func (r *reference) count(size uint64) uint64 {
	n := uint64(r.u32())
	if n*size > uint64(len(r.p)-r.pos) {
		refuse("%d elements in %d bytes", n, len(r.p)-r.pos)
	}
	return n
}

func (r *reference) declared(kind uint32) declared {
	if !r.is("godot4") {
		return declared{}
	}
	switch kind {
	case 0:
		return declared{}
	case 1:
		id := r.u32()
		if id >= uint32(len(r.types)) {
			refuse("elements of type %d", id)
		}
		if id == 0 {
			return declared{}
		}
		return declared{1, r.types[id]}
	default:
		name := r.text(false)
		if name == "" {
			return declared{1, "Object"}
		}
		return declared{int(kind), name}
	}
}

func (r *reference) nodePath(v *value) {
	first := r.u32()
	if first < 1<<31 {
		if r.is("godot4", "godot3") {
			refuse("NodePath in its old form")
		}
		b := r.take(uint64(first))
		if !r.valid(b) {
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

func (r *reference) object(v *value, id bool) {
	v.Type = "ObjectID"
	if !r.is("godot4", "godot3", "manual4") {
		return
	}
	if id {
		v.Bits = r.u64()
		return
	}
	v.Type = "Object"
	if !r.objects && !r.is("manual4") {
		refuse("serialized object")
	}
	if v.Text = r.text(false); v.Text == "" {
		return
	}
	if !r.objects {
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

func (r *reference) inputEvent(v *value) {
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

// requireReference compares the Decoder with the reference on a packet: whether
// it is accepted, the value and its size.
func requireReference(t testing.TB, p []byte, o gdwire.DecoderOptions) bool {
	want, wantSize, rejected := decodeReference(p, o.Format.String(), o.AllowObjects, o.DoubleReals)
	o.Limits = noLimits
	got, size, err := decodeBytes(p, o)
	if rejected != nil {
		require.Error(t, err, "%v, %x: the reference says %v", o.Format, p, rejected)
		return false
	}
	require.NoError(t, err, "%v, %x", o.Format, p)
	require.Equal(t, want, got, "%v, %x", o.Format, p)
	require.EqualValues(t, wantSize, size, "%v, %x", o.Format, p)
	return true
}

func TestReferenceReadsVectors(t *testing.T) {
	forVectors(t, func(t *testing.T, e *engine, v *vector) {
		got, size, err := decodeReference(v.Hex, e.format.String(), v.FullObjects, false)
		require.NoError(t, err)
		require.Equal(t, len(v.Hex), size)
		require.Equal(t, v.Value.plain().anyNaN(), got.plain().anyNaN())
	})
}

func TestReferenceOnVerdicts(t *testing.T) {
	accepted, rejected := 0, 0
	for i := range singles {
		for _, v := range singles[i].verdicts(t) {
			for _, objects := range []bool{false, true} {
				if requireReference(t, v.Hex, gdwire.DecoderOptions{Format: singles[i].format, AllowObjects: objects}) {
					accepted++
				} else {
					rejected++
				}
			}
		}
	}
	require.NotZero(t, accepted)
	require.NotZero(t, rejected)
}

// Every format reads slightly damaged vectors of every engine.
func TestReferenceOnMutations(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	accepted := map[*gdwire.Format]int{}
	for i := range engines {
		for _, v := range engines[i].vectors(t) {
			for range 8 {
				p := mutated(random, v.Hex)
				f := engines[i].format
				if random.IntN(3) == 0 {
					all := gdwire.Formats()
					f = all[random.IntN(len(all))]
				}
				o := gdwire.DecoderOptions{Format: f, AllowObjects: random.IntN(4) > 0, DoubleReals: random.IntN(4) == 0}
				if requireReference(t, p, o) {
					accepted[f]++
				}
				requireTypedReference(t, p, o, random.Uint64())
			}
		}
	}
	for _, f := range gdwire.Formats() {
		require.NotZero(t, accepted[f], f)
	}
}

// interesting has words at the edges of ranges.
var interesting = []uint32{0, 1, 2, 3, 4, 0xFF, 0x100, 0x10000, 0x50000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF}

// mutated returns p with one to three things changed.
func mutated(random *rand.Rand, p []byte) []byte {
	p = append([]byte(nil), p...)
	for range 1 + random.IntN(3) {
		word := 0
		if len(p) >= 4 {
			word = random.IntN(len(p)/4) * 4
		}
		switch random.IntN(6) {
		case 0: // truncated
			p = p[:random.IntN(len(p)+1)]
		case 1: // one bit
			if len(p) > 0 {
				p[random.IntN(len(p))] ^= 1 << random.IntN(8)
			}
		case 2: // one byte
			if len(p) > 0 {
				p[random.IntN(len(p))] = byte(random.Uint32())
			}
		case 3: // one word
			if len(p) >= 4 {
				le.PutUint32(p[word:], interesting[random.IntN(len(interesting))])
			}
		case 4: // a header
			if len(p) >= 4 {
				le.PutUint32(p[word:], uint32(random.IntN(41))|uint32(random.IntN(16))<<16)
			}
		case 5: // more of it
			p = append(p, p[word:]...)
		}
	}
	return p
}
