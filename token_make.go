package gdwire

import (
	"math"

	"github.com/gdwire/gdwire/internal/wire"
)

// The functions below return tokens for an Encoder. They copy payloads, so the tokens stay valid.
// They return no errors: what cannot be encoded is an error of WriteToken, whose format decides.

// Nil returns the token of a nil.
func Nil() Token { return newToken(KindNil, TypeNil, 0, 0) }

// Bool returns the token of a bool.
func Bool(v bool) Token {
	return newToken(KindBool, TypeBool, tokenFlags(wire.Int32), uint64(bit(v)))
}

// bit returns 1 for true: as the encoding of a bool, or as an index of forms.
func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

// Int32 returns the token of an int that is encoded in 32 bits.
func Int32(v int32) Token {
	return newToken(KindInt32, TypeInt, tokenFlags(wire.Int32), uint64(uint32(v)))
}

// Int64 returns the token of an int that is encoded in 64 bits, if the format supports that.
func Int64(v int64) Token { return newToken(KindInt64, TypeInt, tokenFlags(wire.Int64), uint64(v)) }

// Float32 returns the token of a float that is encoded in 32 bits.
func Float32(v float32) Token {
	return newToken(KindFloat32, TypeFloat, tokenFlags(wire.Float32), uint64(math.Float32bits(v)))
}

// Float64 returns the token of a float that is encoded in 64 bits, if the format supports that.
func Float64(v float64) Token {
	return newToken(KindFloat64, TypeFloat, tokenFlags(wire.Float64), math.Float64bits(v))
}

// Vector returns the token of a value of math type t, with components in encoded order: a
// Basis is encoded by rows. It rounds them to 32 bits, as engines do. If t is not a math
// type with as many components, or a component is out of range, Vector returns the zero
// Token, which WriteToken refuses.
func Vector(t Type, components ...float64) Token {
	if !layouts[t].isMath() || int(layouts[t].n) != len(components) {
		return Token{}
	}
	u, p := layouts[t].units[0], make([]byte, 0, 4*len(components))
	for _, x := range components {
		bits, ok := math.Float32bits(float32(x)), !wire.Overflows(x)
		if u == wire.Int32 {
			bits, ok = uint32(int32(x)), float64(int32(x)) == x
		}
		if !ok {
			return Token{}
		}
		p = le.AppendUint32(p, bits)
	}
	return newToken(Kind(t), t, tokenFlags(u), 0).withPayload(p)
}

// String returns the token of a String in one chunk.
func String(s string) Token { return textToken(TypeString, s) }

// StringName returns the token of a StringName in one chunk.
func StringName(s string) Token { return textToken(TypeStringName, s) }

func textToken(t Type, s string) Token {
	if len(s) > math.MaxInt32 { // the first chunk of a string that no Encoder writes: ErrRange
		return newToken(KindStringChunk, t, 0, uint64(len(s)))
	}
	return newToken(KindStringChunk, t, flagLast, uint64(len(s))).withPayload([]byte(s))
}

// ObjectID returns the token of an object as its instance id; 0 is null.
func ObjectID(id uint64) Token {
	return newToken(KindObjectID, TypeObject, tokenFlags(wire.Int64), id)
}

// ArrayStart returns the token that starts an Array of n elements. n can be [Unknown].
// elem is the declared type of the elements, or the zero Elem.
func ArrayStart(n int, elem Elem) Token {
	return startToken(KindArrayStart, TypeArray, n, elem)
}

// DictStart returns the token that starts a Dictionary of n pairs. n can be [Unknown].
// key and value are the declared types, or zero Elems.
func DictStart(n int, key, value Elem) Token {
	return startToken(KindDictStart, TypeDictionary, n, key, value)
}

func startToken(k Kind, t Type, n int, elems ...Elem) Token {
	var flags tokenFlags
	var p []byte
	for i, e := range elems {
		flags |= tokenFlags(e.kind()) << (elemShift + 2*i)
		p = appendElem(p, e)
	}
	if n == Unknown {
		flags |= flagUnknown
	}
	return newToken(k, t, flags, uint64(n)).withPayload(p)
}

// DictKey returns the token that precedes a key.
func DictKey() Token { return newToken(KindDictKey, TypeDictionary, 0, 0) }

// End returns the token that ends the innermost container.
func End() Token { return newToken(KindEnd, 0, 0, 0) }
