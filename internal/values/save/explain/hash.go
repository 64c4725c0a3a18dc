package explain

import (
	"encoding/binary"
	"math"

	"github.com/gdwire/gdwire"
)

// hash() of Godot 4: MurmurHash3 of 32 bits for most types.

const murmurSeed = 0x7f07c65

// murmur returns hash() of a PackedByteArray.
func murmur(b []byte) uint32 {
	h, size := uint32(murmurSeed), uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		h = murmurMix(h, binary.LittleEndian.Uint32(b))
	}
	if len(b) > 0 {
		var last [4]byte
		copy(last[:], b)
		h ^= murmurWord(binary.LittleEndian.Uint32(last[:]))
	}
	return murmurEnd(h ^ size)
}

func be32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func murmurWord(k uint32) uint32 {
	k *= 0xcc9e2d51
	return (k<<15 | k>>17) * 0x1b873593
}

func murmurMix(h, k uint32) uint32 {
	h ^= murmurWord(k)
	return (h<<13|h>>19)*5 + 0xe6546b64
}

func murmurEnd(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// murmurWords returns the hash of words without their size. Both zeros of a float have one hash.
func murmurWords(b []byte) uint32 {
	h := uint32(murmurSeed)
	for ; len(b) >= 4; b = b[4:] {
		if k := binary.LittleEndian.Uint32(b); k == 1<<31 {
			h = murmurMix(h, 0)
		} else {
			h = murmurMix(h, k)
		}
	}
	return h
}

// valueHash returns hash() of the only value in b, or nil for any other bytes, and for values with a NodePath or an Object.
func valueHash(b []byte) []byte {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: gdwire.Godot4, Limits: gdwire.NoLimits})
	defer d.Release()
	d.ResetBytes(b)
	if h, ok := nextHash(d); ok && int(d.InputOffset()) == len(b) {
		return be32(h)
	}
	return nil
}

// nextHash returns hash() of the next value.
func nextHash(d *gdwire.Decoder) (h uint32, ok bool) {
	t, err := d.ReadToken()
	switch t.Kind() {
	case gdwire.KindNil, gdwire.KindBool:
		return map[bool]uint32{true: 1}[t.Bool()], true
	case gdwire.KindInt32, gdwire.KindInt64:
		v := uint64(t.Int())
		v = ^v + v<<18
		v = (v ^ v>>31) * 21
		v ^= v >> 11
		v += v << 6
		return uint32(v ^ v>>22), true
	case gdwire.KindFloat32, gdwire.KindFloat64:
		return murmurWords(binary.LittleEndian.AppendUint64(nil, math.Float64bits(t.Float()))), true
	case gdwire.KindStringChunk:
		h = 5381
		for _, r := range t.Text() {
			h = h*33 + uint32(r)
		}
		return h, t.Last()
	case gdwire.KindArrayStart:
		return elementsHash(d, t.Type(), []byte{28, 0, 0, 0})
	case gdwire.KindDictStart:
		return elementsHash(d, t.Type(), []byte{27, 0, 0, 0})
	case gdwire.KindPackedStart:
		return elementsHash(d, t.Type(), nil)
	}
	return murmurEnd(murmurWords(t.Bytes())), err == nil && t.Components() > 0
}

// elementsHash returns hash() of the Array, Dictionary or packed array that has begun: of its type, and its bytes or the hashes of its
// elements.
func elementsHash(d *gdwire.Decoder, t gdwire.Type, all []byte) (uint32, bool) {
	for d.PeekKind() != gdwire.KindEnd {
		if k := d.PeekKind(); k == gdwire.KindChunk || k == gdwire.KindDictKey {
			c, _ := d.ReadToken()
			all = append(all, c.Bytes()...)
		} else if h, ok := nextHash(d); ok {
			all = binary.LittleEndian.AppendUint32(all, h)
		} else {
			return 0, false
		}
	}
	_, err := d.ReadToken()
	switch {
	case len(all) == 0: // a number of 64 bits
		return murmurWords(make([]byte, 8)), err == nil
	case t == gdwire.TypePackedByteArray, t == gdwire.TypePackedInt32Array, t == gdwire.TypePackedInt64Array:
		return murmur(all), err == nil
	}
	return murmurEnd(murmurWords(all)), err == nil
}
