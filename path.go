package gdwire

import "strconv"

// maxPath is the maximum length of a path in bytes, and maxKey that of a key in it.
const (
	maxPath = 200
	maxKey  = 32
)

// appendPath appends the path of the latest token, or of the next one if next is set.
// keyText returns the start of the latest key or property name of frame i, and false
// if that is not a string.
func (s *state) appendPath(dst []byte, next bool, keyText func(i int) ([]byte, bool)) []byte {
	start := len(dst)
	dst = append(dst, '$')
	for i := 1; i <= s.depth && len(dst)-start < maxPath; i++ {
		index, l := s.locate(i, next && i == s.depth)
		switch l {
		case atElement:
			dst = append(dst, '[')
			dst = strconv.AppendInt(dst, index, 10)
			dst = append(dst, ']')
		case atKey:
			dst = appendCall(dst, ".key(", index)
		case atValue:
			key, ok := keyText(i)
			if !ok {
				dst = appendCall(dst, ".value(", index)
				break
			}
			dst = append(dst, '[')
			dst = strconv.AppendQuote(dst, string(cutKey(key)))
			dst = append(dst, ']')
		}
	}
	return dst[:min(len(dst), start+maxPath)]
}

func appendCall(dst []byte, name string, index int64) []byte {
	dst = append(dst, name...)
	dst = strconv.AppendInt(dst, index, 10)
	return append(dst, ')')
}

// cutKey returns the first maxKey bytes of a key, without cutting a rune.
func cutKey(b []byte) []byte {
	if len(b) <= maxKey {
		return b
	}
	return b[:wholeRunes(b, maxKey)]
}
