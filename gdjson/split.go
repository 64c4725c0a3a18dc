package gdjson

import "bufio"

// SplitValues returns a [bufio.SplitFunc] for one [bufio.Scanner], to split text into JSON values,
// such as lines of JSON. Values end where they end for FromJSON with the same Options. Nothing else
// is checked: a token that is not JSON is an error of FromJSON. White space surrounds tokens and
// may be missing after a string, array or object.
//
// Scanner.Buffer sets the maximum length of a value.
func SplitValues(opts ...Options) bufio.SplitFunc {
	s := splitter{control: whiteSpace(optionsOf(opts).Lenient)}
	return s.split
}

// A splitter finds the end of a partly seen value.
type splitter struct {
	control byte // characters below are white space
	seen    int  // bytes at the start of the value known not to contain its end
	depth   int  // open objects and arrays
	quoted  bool // the next byte is in a string
}

// split is a bufio.SplitFunc.
func (s *splitter) split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	start := 0
	if s.seen == 0 {
		start = space(data, 0, s.control)
	}
	value := data[start:]
	n := s.end(value)
	if n == 0 {
		if !atEOF || len(value) == 0 {
			return start, nil, nil
		}
		n = len(value)
	}
	*s = splitter{control: s.control}
	return start + n, value[:n], nil
}

// end returns the length of the value at the start of b, or 0 if b contains only a part of the
// value.
func (s *splitter) end(b []byte) int {
	for s.seen < len(b) {
		if s.quoted {
			n, ended := stringPart(b[s.seen:])
			s.seen += n
			if s.quoted = !ended; s.quoted {
				return 0
			}
			if s.depth == 0 {
				return s.seen
			}
			continue
		}
		c := b[s.seen]
		inside, first := s.depth > 0, s.seen == 0
		if c <= ' ' && !inside && !first { // after a number, or after text that is no value
			return s.seen
		}
		s.seen++
		switch c {
		case '"':
			s.quoted = inside || first
		case '{', '[':
			if inside || first {
				s.depth++
			}
		case '}', ']':
			if s.depth == 1 {
				return s.seen
			}
			s.depth = max(s.depth-1, 0)
		}
	}
	return 0
}

// stringPart returns the length of the rest of a string at the start of b, or if the string does not
// end in b, the length of the part not needed again.
func stringPart(b []byte) (n int, ended bool) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1, true
		case '\\':
			if i++; i == len(b) {
				return i - 1, false
			}
		}
	}
	return len(b), false
}
