package gdjson

import "bufio"

// SplitValues returns a [bufio.SplitFunc] for one [bufio.Scanner], which splits text into JSON
// values, such as lines of JSON. It ends values where FromJSON with the same Options does and checks
// nothing else: a token that is not JSON is an error of FromJSON. White space surrounds tokens and
// may be missing after a string, array or object.
//
// Scanner.Buffer sets the maximum length of a value.
func SplitValues(opts ...Options) bufio.SplitFunc {
	s := splitter{control: whiteSpace(optionsOf(opts).Lenient)}
	return s.split
}

// A splitter finds the end of a value, of which it has seen a part.
type splitter struct {
	control byte // characters below are white space
	seen    int  // bytes of the value before which it does not end
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

// end returns the length of the value that b starts with, or 0 if b contains only a part of it.
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
// end in b, the length of the part that need not be seen again.
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
