// Package hook contains functions of package gdwire for the other packages of this module. They
// are fast in special cases and too special for a public API. Package gdwire sets them, except for
// StandardJSON.
//
// Those that are called for each field are of type any, as this package cannot name the types of
// gdwire. Package variant asserts the types of the functions once. If each call asserted the type of
// the Decoder instead, Unmarshal into structs would take 2 % more instructions.
package hook

// ReadNodePath is a func(d *gdwire.Decoder, buf *NodePathText) (text []byte). It reads the next value
// of d as a NodePath and returns its text, such as "/root/Player:position", in the memory of buf.
//
// It consumes nothing and returns nil if the next value is not a NodePath, if the names
// cannot be found again in the text because one is empty or contains a separator, or if the
// NodePath is not completely in the read buffer yet or its text is longer than 100 bytes. Then
// AppendString appends the text of any NodePath, and ReadToken returns its names.
var ReadNodePath any

// ReadFloats is a func(d *gdwire.Decoder, t gdwire.Type, c []float32) bool. It reads a value of math
// type t into c, as ReadComponents does. It consumes nothing and returns false if another value is
// next, or if the fast path cannot read it.
var ReadFloats any

// StartStrings is a func(d *gdwire.Decoder) (n int, ok bool). It reads the start of a
// PackedStringArray of n strings. It consumes nothing and returns false if another value is next, or
// if the fast path cannot read it.
var StartStrings any

// ReadPackedString is a func(d *gdwire.Decoder) (text []byte). It reads the next string of a
// PackedStringArray, as ReadText does. It consumes nothing and returns nil if the fast path cannot
// read it.
var ReadPackedString any

// SkippedNodePath reports whether d, a *gdwire.Decoder, may have skipped a NodePath since the last
// call of SkippedNodePath for d. Validate checks the names of NodePaths only in data that contain
// one, because SkipValue takes a third of the time of a loop over tokens.
var SkippedNodePath func(d any) bool

// BytesLeft returns the number of bytes between the position of d, a *gdwire.Decoder, and the end of
// the input that ResetN or ResetBytes gave it, or 0 if it does not know the end.
var BytesLeft func(d any) int64

// NodePathText is memory for the text of ReadNodePath, after which it can write eight bytes more.
type NodePathText [128 + 8]byte

// A Key is a text that plans read and write often, encoded as a String: comparing and copying
// words is -8 % of Marshal and -18 % of Unmarshal into structs.
type Key struct {
	Len, Size         int    // of the text and of its encoding; 0 if it is empty, too long or not ASCII
	Head, First, Last uint64 // the header and length, and the text with zeros after it
	Mask, LastMask    uint64 // the bits of First and Last that are text
}

// MaxKey is the length of the longest text of a Key.
const MaxKey = 16

// NewKey returns the Key of a text.
var NewKey func(text string) Key

// ReadKey is a func(d *gdwire.Decoder, k *Key) bool. It consumes the next value or key of d and
// returns true if it is the String k. Otherwise it consumes nothing and returns false. It can return
// false for k, too, for example if k is not completely in the read buffer yet.
var ReadKey any

// WriteKey is a func(e *gdwire.Encoder, k *Key) bool. It writes the String k to e. It writes nothing
// and returns false if that is not possible without an error or a flush.
var WriteKey any

// Found returns a variable of d, a *gdwire.Decoder, that is true if d found an error since Reset,
// which LastError returns. Reading it for each packet instead of calling LastError is -5 % of Next.
var Found func(d any) *bool

// Forget closes e, a *gdwire.Encoder, and makes it forget the slice of ResetBytes, which a pool of
// Encoders would keep in memory. Bytes returns nil then.
var Forget func(e any)

// Refuse makes err the error of e, a *gdwire.Encoder, as Encoder.Fail does, but ClearError clears
// it. It is for calls that have written nothing.
var Refuse func(e any, err error) error

// Place makes the offsets of d, a *gdwire.Decoder, start at offset, and its paths at the value of
// this number, such as $2, until Reset. It is for a value in a file, and is called before its first
// token was read.
var Place func(d any, offset, value int64)

// StandardJSON returns a copy of text in which as many bytes of JSON replace each deviation from
// JSON in text that engines write or, if lenient is set, read. All offsets remain. Characters of
// strings and digits can differ. Package gdjson sets it.
var StandardJSON func(text []byte, lenient bool) []byte
