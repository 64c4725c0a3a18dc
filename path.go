package gdwire

import (
	"strconv"

	"github.com/gdwire/gdwire/internal/wire"
)

// maxPath is the maximum length of a path in bytes, and maxKey that of a key in a path. The
// sender chooses keys and depth, and errors are often logged.
const (
	maxPath = 200
	maxKey  = 32
)

// appendPath appends the path of the latest token, or of the next one if next is set. key
// returns the type of the latest key of frame i and its bytes, see slowPath.key. An Encoder passes
// noKey.
func (s *state) appendPath(dst []byte, next bool, key func(i int) (Type, []byte)) []byte {
	start := len(dst)
	dst = append(dst, '$')
	// Each step is at least three bytes long, so the cost of an error does not grow with the depth.
	for i := 1; i <= s.depth && len(dst)-start < maxPath; i++ {
		index, l := s.locate(i, next && i == s.depth) // outer frames have begun their value in both cases
		switch l {
		case atElement:
			dst = wire.AppendIndex(dst, index)
		case atKey:
			dst = wire.AppendKeyAt(dst, index)
		case atValue:
			if typ, data := key(i); typ != 0 {
				dst = appendKey(dst, typ, data)
			} else {
				dst = wire.AppendValueAt(dst, index)
			}
		}
	}
	if path := dst[start:]; len(path) > maxPath {
		dst = dst[:start+wire.WholeRunes(path, maxPath)]
	}
	return dst
}

// noKey returns no key, so that a path contains the index of each pair.
func noKey(int) (Type, []byte) { return 0, nil }

// appendKey appends the step to the value of a key: .name for a String without need of quotes,
// otherwise the key in brackets. data is the text of the key, or the payload of a key of fixed
// size. Text of more than maxKey bytes is cut.
func appendKey(dst []byte, typ Type, data []byte) []byte {
	if typ == TypeString && len(data) <= maxKey && wire.IsName(data) {
		return append(append(dst, '.'), data...)
	}
	dst = append(dst, '[')
	switch l := &layouts[typ]; typ {
	case TypeNil:
		dst = append(dst, "null"...)
	case TypeBool:
		dst = strconv.AppendBool(dst, le.Uint32(data) != 0)
	case TypeString:
		dst = wire.AppendQuoted(dst, data, maxKey)
	case TypeStringName:
		dst = wire.AppendQuoted(append(dst, '&'), data, maxKey)
	case TypeInt, TypeFloat: // 7 and 1.5 need no name of their type, unlike Vector2i(1, 2)
		dst = wire.AppendNumber(dst, data, l.unitOf(data))
	default:
		u := l.unitOf(data)
		dst = append(append(dst, l.name...), '(')
		for i := 0; i < len(data); i += u.Size() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = wire.AppendNumber(dst, data[i:], u)
		}
		dst = append(dst, ')')
	}
	return append(dst, ']')
}

// unitOf returns the unit of a number or math type from its size: 4 or 8 bytes for each component.
func (l *layout) unitOf(data []byte) wire.Unit { return l.units[len(data)/int(l.n)/8] }
