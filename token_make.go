package gdwire

import "math"

// The functions below make tokens for an Encoder. Those with a payload copy it.

// Nil makes a nil.
func Nil() Token { return newToken(KindNil, TypeNil, 0, 0) }

// Bool makes a bool.
func Bool(v bool) Token {
	if v {
		return newToken(KindBool, TypeBool, tokenFlags(unitInt32), 1)
	}
	return newToken(KindBool, TypeBool, tokenFlags(unitInt32), 0)
}

// Int32 makes an int that is written in 32 bits.
func Int32(v int32) Token {
	return newToken(KindInt32, TypeInt, tokenFlags(unitInt32), uint64(uint32(v)))
}

// Int64 makes an int that is written in 64 bits where the format has such.
func Int64(v int64) Token { return newToken(KindInt64, TypeInt, tokenFlags(unitInt64), uint64(v)) }

// Float32 makes a float that is written in 32 bits.
func Float32(v float32) Token {
	return newToken(KindFloat32, TypeFloat, tokenFlags(unitFloat32), uint64(math.Float32bits(v)))
}

// Float64 makes a float that is written in 64 bits where the format has such.
func Float64(v float64) Token {
	return newToken(KindFloat64, TypeFloat, tokenFlags(unitFloat64), math.Float64bits(v))
}

// String makes the one chunk of a String.
func String(s string) Token { return textToken(TypeString, s) }

// StringName makes the one chunk of a StringName.
func StringName(s string) Token { return textToken(TypeStringName, s) }

func textToken(t Type, s string) Token {
	return newToken(KindStringChunk, t, flagLast, uint64(len(s))).withPayload([]byte(s))
}

// ObjectID makes an object as its instance id; 0 is null.
func ObjectID(id uint64) Token {
	return newToken(KindObjectID, TypeObject, tokenFlags(unitInt64), id)
}

// ArrayStart makes the start of an Array of n elements or [Unknown], declared to
// be elem; the zero Elem declares nothing.
func ArrayStart(n int, elem Elem) Token {
	return startToken(KindArrayStart, TypeArray, n, elem)
}

// DictStart makes the start of a Dictionary of n pairs or [Unknown], declared to
// be key and value.
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

// DictKey makes the marker in front of a key.
func DictKey() Token { return newToken(KindDictKey, TypeDictionary, 0, 0) }

// End makes the end of what is open.
func End() Token { return newToken(KindEnd, 0, 0, 0) }
