package gdwire

import (
	"bytes"
	"math"

	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// A NodePath completely in the buffer becomes text at once, without a frame and without tokens for its
// names, for ReadNodePath, AppendString and package variant.

// readShortNodePath is [export.ReadNodePath]. -19 % of Unmarshal into structs.
func (d *Decoder) readShortNodePath(to *internal.NodePathText) []byte {
	p := &d.fastPath
	form, b := p.fastForm()
	if form == nil || form.shape != shapeNodePath {
		return nil
	}
	if text := p.shortNodePath(to, b); text != nil {
		return text
	}
	return p.longNodePath(to, b)
}

// shortNodePath consumes the NodePath starting with b and returns its text, in the memory of to, if it
// consists of 1 to 11 names and sub-names of one to eight ASCII characters, at least one of them a
// name. Otherwise it returns nil, and longNodePath can read the NodePath. Without calls, the variables
// stay in registers: -14 % of typed reads of known shape, and -12 % of Unmarshal into structs.
func (p *fastPath) shortNodePath(to *internal.NodePathText, b *[fastSize]byte) []byte {
	const ones = 0x0101010101010101
	names := le.Uint32(b[4:]) - newNodePathBit
	total := uint64(names) + uint64(le.Uint32(b[8:]))
	// 11 names of 8 bytes with their separators are 99 bytes, within the mask of at.
	if names == 0 || total > 11 || le.Uint32(b[12:]) > nodePathAbsolute ||
		int64(total) > p.maxCount || p.values+total > uint64(p.bounds[limitValues]) {
		return nil
	}
	buf, text, r, n, bits := p.fastValues, to[:], p.r+fastSize, uint(0), uint64(0)
	for separator := byte('/'); ; separator = ':' {
		for ; names > 0; names-- {
			r &= math.MaxInt
			if r > len(buf)-fastSize {
				return nil
			}
			b := (*[fastSize]byte)(buf[r:])
			size, word, at := le.Uint32(b[:]), le.Uint64(b[4:]), n&127
			if size-1 >= 8 {
				return nil
			}
			text[at] = separator
			le.PutUint64(text[at+1:], word) // the next name overwrites the bytes after this one
			bits |= word
			// Subtracting 1 sets the highest bit of a byte of 0, the result where word contains
			// the separator.
			bits |= (word ^ ones*'/') - ones
			bits |= (word ^ ones*':') - ones
			n = at + 1 + uint(size)
			r += (int(size) + 7) &^ 3
		}
		if names = le.Uint32(b[8:]); names == 0 || separator == ':' {
			break
		}
	}
	if bits&wire.NotASCII != 0 { // perhaps in a byte after a name
		return nil
	}
	p.values += uint64(le.Uint32(b[4:]) - newNodePathBit + le.Uint32(b[8:]))
	_ = p.consumeValue(r - p.r)
	if le.Uint32(b[12:]) != nodePathAbsolute {
		return text[1 : n&127] // without the first separator
	}
	return text[:n&127]
}

// longNodePath does the same for any NodePath with a text of at most nodePathText bytes. It
// returns nil if a name is empty or contains a separator: the names could then not be found again
// in the text.
func (p *fastPath) longNodePath(to *internal.NodePathText, b *[fastSize]byte) []byte {
	total, ok := p.nodePathCount(b)
	if !ok {
		return nil
	}
	buf, r, text, names := p.fastValues, p.r+fastSize, to[:0], le.Uint32(b[4:])&^newNodePathBit
	if le.Uint32(b[12:]) == nodePathAbsolute {
		text = append(text, '/')
	}
	for i := range total {
		if i >= names {
			text = append(text, ':')
		} else if i > 0 {
			text = append(text, '/')
		}
		if r > len(buf)-fastSize {
			return nil
		}
		size := int(le.Uint32(buf[r:]))
		r += 4
		if size <= 0 || size > min(p.maxWhole, nodePathText-len(text), len(buf)-r) {
			return nil
		}
		name := buf[r : r+size]
		if bytes.IndexByte(name, ':') >= 0 || i < names && bytes.IndexByte(name, '/') >= 0 {
			return nil
		}
		text = append(text, name...)
		r += int(wire.Padded(uint32(size)))
	}
	if r > len(buf) || !wire.Valid(text) { // separators are ASCII, so each name is also valid
		return nil
	}
	p.values += uint64(total)
	_ = p.consumeValue(r - p.r)
	return text
}

// nodePathText is the maximum size of the text. The mask 127 changes no index within it.
const nodePathText = 100
