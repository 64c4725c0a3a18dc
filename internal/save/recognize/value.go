package recognize

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"math"
	"slices"

	"github.com/gdwire/gdwire"
)

// A value is the result of reading a value.
type value struct {
	size  int   // bytes read
	err   error // io.ErrUnexpectedEOF if the value does not end in these bytes
	least int64 // then the minimum size of the value
	exact bool  // least is the size of the value
}

// value reads the value at the start of b, and counts the evidence for it.
func (t *trial) value(b []byte) value {
	d := t.decoder
	d.Reset(bytes.NewReader(b))
	t.values++
	r := valueReader{content: &t.content, Decoder: d}
	for at := int64(0); ; at = d.InputOffset() {
		token, err := d.ReadToken()
		switch {
		case err == nil:
		case errors.Is(err, io.ErrUnexpectedEOF):
			if at == 0 && len(b) > minPacket { // a long text
				t.bits += headerBits
			}
			v := value{size: len(b), err: io.ErrUnexpectedEOF}
			v.least, v.exact = r.least(int64(len(b)))
			return v
		default:
			return value{size: int(d.InputOffset()), err: err}
		}
		r.token(token)
		if !t.strict && r.hasHeader && !PlainHeader(b[at:]) {
			t.bits -= headerBits + oddHeader
		}
		if t.hash != nil {
			add(t.hash, token)
		}
		if d.Depth() == 0 {
			return value{size: int(d.InputOffset())}
		}
	}
}

// A valueReader counts the evidence for a value, token by token.
type valueReader struct {
	*content
	*gdwire.Decoder
	keys NullKeys

	hasHeader bool  // the latest token starts with the header of a value
	inText    bool  // the rest of a text follows
	dataEnd   int64 // the offset of the end of the latest packed array or long text, at least
	dataExact bool  // and at most
}

// token counts the latest token.
func (r *valueReader) token(t gdwire.Token) {
	k, isKey, nulls := t.Kind(), r.keys.isKey, r.nulls
	r.keys.isKey, r.hasHeader, r.nulls = k == gdwire.KindDictKey, true, 0
	bits := float64(headerBits)
	switch k {
	case gdwire.KindDictKey, gdwire.KindEnd:
		r.hasHeader = false
		return
	case gdwire.KindNil:
		bits = smallBits
		if r.Depth() == 0 {
			r.nulls = nulls + 1
		} else if isKey {
			bits = 0
			r.nullKeys = max(r.nullKeys, r.keys.note(r.Depth(), 1))
		}
	case gdwire.KindDictStart:
		r.keys.note(r.Depth(), 0)
	case gdwire.KindProperty, gdwire.KindSignal: // names have no header
		r.hasHeader, bits = false, smallBits-unlikelyText(t)
	case gdwire.KindStringChunk:
		bits = r.text(t) - unlikelyText(t)
	case gdwire.KindObjectStart:
		bits -= unlikelyText(t)
	case gdwire.KindPackedStart:
		r.packed(t)
	case gdwire.KindChunk:
		r.hasHeader, bits = false, -unlikelyChunk(t)
	case gdwire.KindFloat32, gdwire.KindFloat64:
		bits -= unlikely(t.Float(), t.Width())
	default:
		if t.Components() > 0 {
			bits -= unlikelyComponents(t)
		}
	}
	r.bits += bits
}

// text returns the evidence in the header of a text with the chunk t. Names, and texts in packed arrays, are
// written without a header.
func (r *valueReader) text(t gdwire.Token) float64 {
	first := !r.inText
	r.inText = !t.Last()
	if first && r.inText {
		r.dataEnd, r.dataExact = (r.InputOffset()-int64(len(t.Bytes()))+t.Len()+3)&^3, true
	}
	r.hasHeader = first && (t.Type() == gdwire.TypeString || t.Type() == gdwire.TypeStringName)
	switch {
	case r.hasHeader:
		return headerBits
	case first:
		return smallBits
	}
	return 0
}

// packed notes the end of a packed array.
func (r *valueReader) packed(t gdwire.Token) {
	n, _ := t.Type().Element().Components()
	bytes := int64(max(n, 1) * t.Width() / 8)
	if r.dataExact = bytes > 0; !r.dataExact { // texts with lengths
		bytes = lengthSize
	}
	r.dataEnd = (r.InputOffset() + t.Len()*bytes + 3) &^ 3
}

// least returns the minimum size of an incomplete value after n bytes were read, and whether this is the exact size.
func (r *valueReader) least(n int64) (least int64, exact bool) {
	least = r.InputOffset()
	for i := range r.Depth() {
		switch kind, index, count := r.StackIndex(i + 1); kind {
		case gdwire.KindDictStart, gdwire.KindObjectStart:
			least += 2 * minPacket * (count - 1 - index)
		case gdwire.KindArrayStart:
			least += minPacket * (count - 1 - index)
		}
	}
	if r.dataEnd > n {
		return least - r.InputOffset() + r.dataEnd, r.dataExact && r.Depth() <= 1
	}
	return max(least, n), false
}

// add adds a token to a hash.
func add(h *maphash.Hash, t gdwire.Token) {
	var head [18]byte
	head[0], head[1] = byte(t.Kind()), byte(t.Type())
	number := uint64(t.Int())
	if k := t.Kind(); k == gdwire.KindFloat32 || k == gdwire.KindFloat64 {
		number = math.Float64bits(t.Float())
	}
	binary.LittleEndian.PutUint64(head[2:], number)
	binary.LittleEndian.PutUint64(head[10:], uint64(t.Len())^t.ID())
	_, _ = h.Write(head[:])
	_, _ = h.Write(t.Bytes())
}

// unlikelyText returns the evidence against a text, because of control characters.
func unlikelyText(t gdwire.Token) float64 {
	switch b := t.Bytes(); {
	case !slices.ContainsFunc(b, isControl):
		return 0
	case bytes.IndexByte(b, 0) >= 0:
		return hasNUL
	}
	return improbable
}

// isControl reports whether c is a control character other than line breaks and tabs.
func isControl(c byte) bool {
	return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f
}

const (
	tiny, huge = 1e-12, 1e15 // smaller and larger numbers are improbable
)

// unlikely returns the evidence against a number of 32 or 64 bits. Bytes read as a wrong type give very small and
// very large numbers, and small integers give denormal numbers.
func unlikely(x float64, bits int) float64 {
	smallest := 0x1p-126 // with a full mantissa
	if bits == 64 {
		smallest = 0x1p-1022
	}
	switch a := math.Abs(x); {
	case a > 0 && a < smallest:
		return denormal
	case a < tiny && a > 0 || a > huge && !math.IsInf(a, 1): // NaN is neither
		return improbable
	}
	return 0
}

// unlikelyComponents returns the evidence against a math type, from the most unlikely of its numbers.
func unlikelyComponents(t gdwire.Token) (bits float64) {
	if _, integers := t.Type().Components(); integers {
		return 0
	}
	var all [16]float64
	for _, x := range t.AppendComponents(all[:0]) {
		bits = max(bits, unlikely(x, t.Width()))
	}
	return bits
}

// unlikelyChunk is unlikelyComponents for a chunk of a packed array.
func unlikelyChunk(t gdwire.Token) (bits float64) {
	b := t.Bytes()
	switch t.Type() {
	case gdwire.TypePackedByteArray, gdwire.TypePackedInt32Array, gdwire.TypePackedInt64Array, gdwire.TypeImage:
		return 0
	}
	if t.Width() == 64 {
		for ; len(b) >= 8; b = b[8:] {
			bits = max(bits, unlikely(math.Float64frombits(binary.LittleEndian.Uint64(b)), 64))
		}
		return bits
	}
	for ; len(b) >= 4; b = b[4:] {
		bits = max(bits, unlikely(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 32))
	}
	return bits
}

// NullKeys finds Dictionaries with the key null twice. Zeros in place of the end of a file are read as
// nulls, and no engine writes a key twice. The zero value is ready for use.
type NullKeys struct {
	found []int // by depth, the keys null in the Dictionary there
	isKey bool  // the next token starts a key
}

// Twice reports whether t, the latest token of d, is the second key null of a Dictionary.
func (n *NullKeys) Twice(d *gdwire.Decoder, t gdwire.Token) bool {
	k, isKey := t.Kind(), n.isKey
	n.isKey = k == gdwire.KindDictKey
	switch {
	case k == gdwire.KindDictStart:
		n.note(d.Depth(), 0)
	case isKey && k == gdwire.KindNil:
		return n.note(d.Depth(), 1) == 2
	}
	return false
}

// note adds keys null to those of the Dictionary at a depth, starting a Dictionary if keys is 0, and returns their
// number, at most 2.
func (n *NullKeys) note(depth, keys int) int {
	for len(n.found) <= depth {
		n.found = append(n.found, 0)
	}
	n.found[depth] = min((n.found[depth]+1)*keys, 2)
	return n.found[depth]
}

// NullsFollow reports whether the nulls at the end of several values without lengths can be zeros in
// place of the end of a file: all values after the first are null, or more than one is.
func NullsFollow(values, nulls int) bool {
	return values > 1 && (nulls >= values-1 || nulls > 1)
}
