package gdwire

import (
	"math"

	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// Package variant knows the names of a struct's fields before it reads or writes a value. newKey
// prepares a name as its encoded words, and readKey and writeKey compare and copy these words.
// They succeed only on the fast path; where they return false, package variant makes the usual
// call.

// newKey returns the words of a text of 1 to MaxKey ASCII characters without a NUL. For another text it returns a
// Key never found by readKey and never written by writeKey.
func newKey(text string) internal.Key {
	var b [keyBytes]byte
	n := copy(b[8:], text)
	first, last := le.Uint64(b[8:]), le.Uint64(b[16:])
	// writeKey checks nothing: ASCII without a NUL needs no check.
	if n == 0 || n < len(text) || (first|last)&wire.NotASCII != 0 || wire.ContainsNUL(text) {
		return internal.Key{First: 1} // masked bytes, all 0, are not equal to it
	}
	return internal.Key{
		Len: n, Size: 8 + int(wire.Padded(uint32(n))), Head: stringHeader | uint64(n)<<32,
		First: first, Last: last, Mask: 1<<(8*n) - 1, LastMask: 1<<(8*max(n-8, 0)) - 1, // 0 - 1 of eight bytes and more
	}
}

// readKey consumes the next value or key of d if it is the String k and completely in the
// buffer. The buffer must contain keyBytes, because the compared words may contain bytes
// of the next value. It cannot panic and so needs no frame: -1 % of Unmarshal into
// structs.
func (d *Decoder) readKey(k *internal.Key) bool {
	values, r := d.fastValues, d.r&math.MaxInt
	if r > len(values)-keyBytes || d.remaining == 0 {
		return false
	}
	b := (*[keyBytes]byte)(values[r:])
	if le.Uint64(b[:]) != k.Head || le.Uint64(b[8:])&k.Mask != k.First { // padding can be any bytes
		return false
	}
	// Up to eight bytes are always within the limits, see noFastPath.
	if k.LastMask != 0 && (le.Uint64(b[16:])&k.LastMask != k.Last || k.Len > d.maxWhole) {
		return false
	}
	pos := d.base + uint64(r)
	d.countAt(pos)
	d.passEmpty(r+k.Size, pos)
	return true
}

// writeKey writes the String k to e if the fast path is on and keyBytes are free. It stores all
// words of the longest key; the next value overwrites those unused by k. Like readKey, writeKey
// needs no frame.
func (e *Encoder) writeKey(k *internal.Key) bool {
	values, n, size := e.fastValues, e.n&math.MaxInt, k.Size
	if n > len(values)-keyBytes || e.remaining == 0 || size == 0 {
		return false
	}
	b := (*[keyBytes]byte)(values[n:]) // zeros after the text are its padding; the rest is free
	le.PutUint64(b[:], k.Head)
	le.PutUint64(b[8:], k.First)
	le.PutUint64(b[16:], k.Last)
	e.put(size)
	return true
}
