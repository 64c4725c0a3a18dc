package gdwire

import (
	"strconv"

	"github.com/gdwire/gdwire/internal/wire"
)

// maxPath is the maximum length of a path in bytes, and maxKey the maximum length of a key in it.
// The sender chooses keys and depth, and errors are often logged.
const (
	maxPath = 200
	maxKey  = 32
)

// A pathKey is a key, or the name of a property, in a path.
type pathKey struct {
	typ  Type   // String for a property; 0 for a key that is not shown in paths
	data []byte // text, or payload of a value of fixed size; maxKey+1 bytes if the text is to be cut
}

// appendPath appends the path of the latest token, or of the next one if next is set. key
// returns the latest key of frame i. If key is nil, pairs are shown by their index.
func (s *state) appendPath(dst []byte, next bool, key func(i int) pathKey) []byte {
	start := len(dst)
	dst = append(dst, '$')
	for i := 1; i <= s.depth && len(dst)-start < maxPath; i++ {
		index, l := s.locate(i, next && i == s.depth) // outer frames have begun their value in both cases
		switch l {
		case atElement:
			dst = append(dst, '[')
			dst = strconv.AppendInt(dst, index, 10)
			dst = append(dst, ']')
		case atKey:
			dst = appendCall(dst, ".key(", index)
		case atValue:
			var k pathKey
			if key != nil {
				k = key(i)
			}
			if with, ok := k.append(dst); ok {
				dst = with
			} else {
				dst = appendCall(dst, ".value(", index)
			}
		}
	}
	if path := dst[start:]; len(path) > maxPath {
		dst = dst[:start+wire.WholeRunes(path, maxPath)]
	}
	return dst
}

func appendCall(dst []byte, name string, index int64) []byte {
	dst = append(dst, name...)
	dst = strconv.AppendInt(dst, index, 10)
	return append(dst, ')')
}

// append appends the step to the value of k: .name for a String that is an identifier,
// otherwise the key in brackets. It returns false for a key that is not shown in paths.
func (k pathKey) append(dst []byte) ([]byte, bool) {
	if k.typ == 0 {
		return dst, false
	}
	if k.typ == TypeString && isIdentifier(k.data) {
		return append(append(dst, '.'), k.data...), true
	}
	dst = append(dst, '[')
	switch k.typ {
	case TypeNil:
		dst = append(dst, "null"...)
	case TypeBool:
		dst = strconv.AppendBool(dst, le.Uint32(k.data) != 0)
	case TypeString:
		dst = wire.AppendQuoted(dst, k.data, maxKey)
	case TypeStringName:
		dst = wire.AppendQuoted(append(dst, '&'), k.data, maxKey)
	case TypeInt, TypeFloat: // the size tells the width
		dst = wire.AppendNumber(dst, k.data, layouts[k.typ].units[len(k.data)/8])
	default:
		l := &layouts[k.typ]
		u := l.units[0]
		if len(k.data) > int(l.n)*u.Size() {
			u = l.units[1]
		}
		dst = append(append(dst, l.name...), '(')
		for i := 0; i < len(k.data); i += u.Size() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = wire.AppendNumber(dst, k.data[i:], u)
		}
		dst = append(dst, ')')
	}
	return append(dst, ']'), true
}

// isIdentifier reports whether a key needs no quotes: it consists of letters, underscores
// and digits, does not start with a digit, and was not cut.
func isIdentifier(b []byte) bool {
	for i, c := range b {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return len(b) > 0 && len(b) <= maxKey
}

// A savedKey has a copy of a pathKey whose bytes have left the buffer. It has no slice, so that the
// saved keys of all depths are one allocation.
type savedKey struct {
	data [maxKey + 1]byte
	n    uint8
	typ  Type
}

// saveKeys saves the keys that start before pos, because these bytes are about to leave the buffer.
// It stops at the first frame whose key has left the buffer before, because the keys of outer
// frames start earlier.
func (d *Decoder) saveKeys(pos uint64) {
	for i := d.depth; i > 0; i-- {
		f := d.frame(i)
		if f.keyPos < d.base {
			return
		}
		if f.keyPos >= pos || f.pairs == 0 { // without pairs, keyPos is where the container starts
			continue
		}
		r := d.getCold()
		if len(r.saved) <= i {
			r.saved = append(make([]savedKey, 0, len(d.stack)), r.saved...)[:len(d.stack)]
		}
		k, s := d.key(i), &r.saved[i]
		s.n, s.typ = uint8(copy(s.data[:], k.data)), k.typ
	}
}

// key returns the latest key or property of frame i. It decodes the key again where it is in the
// buffer: reading a key stores only its position.
func (d *Decoder) key(i int) pathKey {
	f := d.frame(i)
	if f.keyPos < d.base {
		s := &d.cold.saved[i]
		return pathKey{s.typ, s.data[:s.n]}
	}
	b := d.buf[f.keyPos-d.base : d.end]
	typ := TypeString
	if f.kind == KindDictStart { // a property is a name without a header
		form := d.forms.lookup(le.Uint32(b))
		if form == nil {
			return pathKey{}
		}
		b = b[4:]
		switch {
		case form.shape == shapeText:
			typ = form.typ
		case form.shape == shapeMath && form.size <= maxKey || form.kind == KindNil || form.kind == KindBool ||
			form.typ == TypeInt || form.typ == TypeFloat:
			return pathKey{form.typ, b[:min(int(form.size), len(b))]}
		default:
			return pathKey{}
		}
	}
	n := le.Uint32(b)
	b = b[4:]
	return pathKey{typ, b[:min(uint64(n), uint64(len(b)), maxKey+1)]}
}
