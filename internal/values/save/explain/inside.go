package explain

import (
	"bytes"

	"github.com/gdwire/gdwire"
)

// Values in the bytes of values.

// An Opener finds the values in PackedByteArrays. All arrays share one budget.
type Opener struct{ search, hashes *budget }

// Open returns the explanation of the bytes of a PackedByteArray, or nil if they contain no whole values for sure. The values are
// in the format of the value around them.
func (o *Opener) Open(b []byte, format gdwire.Format) *Parse {
	const least = 8 // bytes
	if len(b) < least {
		return nil
	}
	if o.search == nil {
		o.search, o.hashes = newBudget(0), newBudget(0)
	}
	o.search.add(len(b))
	o.hashes.add(len(b))
	r := newReader(format, o.search)
	w := r.value(b)
	r.d.Release()
	if w.size == len(b) && !w.cut && w.saving >= Enough { // whatever is in the value
		return &Parse{Format: format, Parts: []Part{{Kind: Value, Bytes: b}}, Saving: w.saving}
	}
	s := &search{Options: Options{hashes: o.hashes}, unpacker: newUnpacker(o.search)}
	p := s.find(b, []gdwire.Format{format}, 0)
	if o.search.ended != nil || p == nil || !p.Sure() || p.IsDamaged() {
		return nil
	}
	if p.dropCut(&s.Options); p.Err != nil {
		return nil
	}
	return p
}

// Levels returns the bytes, and if they are one stream, its content, and so on.
func (p *Parse) Levels() (all [][]byte) {
	for {
		all = append(all, p.join())
		if len(p.Parts) != 1 || p.Parts[0].Kind != Packed {
			return all
		}
		p = p.Parts[0].Stream.Inner
	}
}

// Rehash returns the digest of the bytes in now if digest is the one of the same bytes in was, in the same form: as bytes or
// hexadecimal digits. It returns nil for any other text or bytes.
func Rehash(digest []byte, was, now [][]byte) []byte {
	for _, s := range sums {
		for _, f := range forms[s.size] {
			for i := range min(len(was), len(now)) {
				if s != plainSum && f.Width == len(digest) && bytes.Equal(f.digest(s.of(was[i])), digest) {
					return f.digest(s.of(now[i]))
				}
			}
		}
	}
	return nil
}
