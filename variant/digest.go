package variant

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"reflect"

	"github.com/gdwire/gdwire"
)

// A digester computes digests: numbers that are equal for equal values and, but for a chance of one
// in 2^64, differ for others. Nobody can choose values with equal digests, because the seed is random.
//
// Values are equal if their Go types are the same and their contents are equal: floats with the same
// bits, the same text, equal elements in the same order, equal pairs or properties in any order. If
// several keys of a container are equal, the values of each number are compared: the first ones, the
// second ones and so on. Declared types and classes are part of the content. An empty slice equals a
// nil slice. Values of types never stored by Unmarshal in an any are equal if encoded as the same
// bytes. Values without an encoding, and containers inside themselves or inside more than maxDepth
// others, equal only themselves.
type digester struct {
	seed    maphash.Seed
	digests map[any]uint64 // of *Array, *Dictionary and *Object
	depth   int            // of the containers around a value
	buf     []byte         // of numbers
	unequal uint64         // the number of values not even equal to themselves
}

func newDigester() digester {
	return digester{seed: maphash.MakeSeed(), digests: map[any]uint64{}}
}

// digest returns the digest of a value.
func (d *digester) digest(v any) uint64 {
	switch v := normal(v).(type) {
	case int64:
		return d.mix(uint64(gdwire.TypeInt), uint64(v))
	case float64:
		return d.mix(uint64(gdwire.TypeFloat), math.Float64bits(v))
	case string:
		return d.mix(uint64(gdwire.TypeString), maphash.String(d.seed, v))
	case StringName:
		return d.mix(uint64(gdwire.TypeStringName), maphash.String(d.seed, string(v)))
	case *Array, *Dictionary, *Object:
		sum, ok := d.digests[v]
		if !ok {
			sum = maphash.Comparable(d.seed, v)
			d.digests[v] = sum // of a container inside itself
			if d.depth++; d.depth <= maxDepth {
				sum = d.content(v)
			}
			d.depth--
			d.digests[v] = sum
		}
		return sum
	case nil: // not below: the portable maphash panics for a nil interface
		return d.mix(uint64(gdwire.TypeNil), 0)
	default:
		return d.mix(maphash.Comparable(d.seed, reflect.TypeOf(v)), d.leaf(v))
	}
}

// content returns the digest of a container.
func (d *digester) content(v any) (sum uint64) {
	switch v := v.(type) {
	case *Array:
		sum = d.mix(uint64(gdwire.TypeArray), maphash.Comparable(d.seed, v.Elem))
		for _, value := range v.Values {
			sum = d.mix(sum, d.digest(value))
		}
	case *Dictionary:
		var keys repeated
		for key, value := range v.All() {
			sum += d.member(keys.key(key, d.digest(key)), value)
		}
		sum = d.mix(sum, d.mix(uint64(gdwire.TypeDictionary), maphash.Comparable(d.seed, [...]gdwire.Elem{v.Key, v.Value})))
	case *Object:
		var names repeated
		for i := range v.Properties {
			p := &v.Properties[i]
			sum += d.member(names.name(d.digest(p.Name)), p.Value)
		}
		sum = d.mix(sum, d.mix(uint64(gdwire.TypeObject), maphash.String(d.seed, v.Class)))
	}
	return sum
}

// A memberID tells the pairs of a Dictionary, or the properties of an Object, apart.
type memberID struct {
	key    uint64 // the digest of the key
	number int    // of members with an equal key before this one
}

// member returns the digest of a pair or property.
func (d *digester) member(id memberID, value any) uint64 {
	return d.mix(id.key+uint64(id.number), d.digest(value))
}

// A repeated counts the equal keys of a container.
type repeated struct{ seen map[uint64]int }

// key returns the memberID of a key of a Dictionary. Hashable keys are not counted: all of them differ.
func (r *repeated) key(key any, digest uint64) memberID {
	if _, ok := hashable(key); ok {
		return memberID{key: digest}
	}
	return r.name(digest)
}

// name returns the memberID of the name of a property.
func (r *repeated) name(digest uint64) memberID {
	if r.seen == nil {
		r.seen = map[uint64]int{}
	}
	number := r.seen[digest]
	r.seen[digest]++
	return memberID{digest, number}
}

// leaf returns the digest of a value without other values inside, apart from its type.
func (d *digester) leaf(v any) uint64 {
	switch v := v.(type) {
	case nil, Callable:
		return 0
	case NodePath:
		return maphash.String(d.seed, string(v))
	case Signal:
		return d.mix(maphash.String(d.seed, v.Name), uint64(v.Object))
	case []byte:
		return maphash.Bytes(d.seed, v)
	case []string:
		sum := uint64(0)
		for _, text := range v {
			sum = d.mix(sum, maphash.String(d.seed, text))
		}
		return sum
	case Color:
		return d.color(v)
	case []Color:
		sum := uint64(0)
		for _, c := range v {
			sum = d.mix(sum, d.color(c))
		}
		return sum
	case Image:
		return d.mix(maphash.Bytes(d.seed, v.Data), maphash.Comparable(d.seed, [...]uint32{v.Format, v.Mipmaps, v.Width, v.Height}))
	case InputEvent:
		return d.mix(maphash.Bytes(d.seed, v.Data), maphash.Comparable(d.seed, [...]uint32{v.Type, v.Device}))
	case bool, RID, ObjectID, Vector2, Vector2i, Vector3, Vector3i, Vector4, Vector4i, Rect2, Rect2i, Plane, Quaternion, AABB,
		Transform2D, Basis, Transform3D, Projection, []int32, []int64, []float32, []float64, []Vector2, []Vector3, []Vector4:
		d.buf, _ = binary.Append(d.buf[:0], binary.LittleEndian, v) // of fixed size
		return maphash.Bytes(d.seed, d.buf)
	}
	return d.other(v)
}

// color returns the digest of a Color. Package binary would make signaling NaNs quiet.
func (d *digester) color(c Color) uint64 {
	return maphash.Comparable(d.seed, [...]uint32{math.Float32bits(c.R), math.Float32bits(c.G), math.Float32bits(c.B), math.Float32bits(c.A)})
}

// other returns the digest of a value of a type never stored by Unmarshal in an any.
func (d *digester) other(v any) uint64 {
	if data, err := Marshal(v, contentOptions); err == nil {
		return maphash.Bytes(d.seed, data)
	}
	if reflect.ValueOf(v).Comparable() {
		return maphash.Comparable(d.seed, v)
	}
	d.unequal++
	return d.mix(d.unequal, 0)
}

// mix returns the digest of two digests.
func (d *digester) mix(x, y uint64) uint64 { return maphash.Comparable(d.seed, [...]uint64{x, y}) }
