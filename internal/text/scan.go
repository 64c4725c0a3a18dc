package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gdwire/gdwire/internal/wire"
)

// A SyntaxError describes text that is not a path or line.
type SyntaxError struct {
	Text   string
	Column int // in bytes, from 1
	Reason string
}

func (e *SyntaxError) Error() string {
	const most = 60 // bytes of the text
	text := e.Text
	if len(text) > most {
		text = text[:most] + Ellipsis
	}
	return fmt.Sprintf("%q, column %d: %s", text, e.Column, e.Reason)
}

// A scanner parses text from the start.
type scanner struct {
	text  string
	pos   int
	depth int    // of containers around the next value
	steps []Step // memory for the steps of a path
}

func (s *scanner) errorf(format string, args ...any) error {
	return &SyntaxError{Text: s.text, Column: s.pos + 1, Reason: fmt.Sprintf(format, args...)}
}

func (s *scanner) atEnd() bool { return s.pos == len(s.text) }

// rest returns the start of the remaining text, for errors.
func (s *scanner) rest() string {
	if s.atEnd() {
		return "end"
	}
	text := s.text[s.pos:]
	const most = 20
	if len(text) > most {
		text = text[:most] + Ellipsis
	}
	return strconv.Quote(text)
}

// take returns the next n bytes.
func (s *scanner) take(n int) string {
	s.pos += n
	return s.text[s.pos-n : s.pos]
}

// accept skips word if it is next.
func (s *scanner) accept(word string) bool {
	if !strings.HasPrefix(s.text[s.pos:], word) {
		return false
	}
	s.pos += len(word)
	return true
}

// space skips space. A value can be in several lines, as get prints a Dictionary in a terminal.
func (s *scanner) space() {
	for !s.atEnd() && strings.IndexByte(" \t\r\n", s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// word skips a word in lower or upper case, if it is next and not the start of a longer word.
func (s *scanner) word(word string) bool {
	n := wire.NameLen(s.text[s.pos:])
	ok := n == len(word) && strings.EqualFold(s.text[s.pos:s.pos+n], word)
	if ok {
		s.pos += n
	}
	return ok
}

// hexLen returns the number of hexadecimal digits at the start of text.
func hexLen(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789abcdefABCDEF"))
}

// digits returns the next digits.
func (s *scanner) digits() string {
	start := s.pos
	for !s.atEnd() && s.text[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.text[start:s.pos]
}

// number returns the next number and reports whether it is a float: with a point, an
// exponent, inf or nan. The text is empty if no number is next.
func (s *scanner) number() (text string, float bool) {
	start := s.pos
	if s.word("nan") {
		return "nan", true
	}
	s.accept("-")
	if s.word("inf") {
		return strings.ToLower(s.text[start:s.pos]), true
	}
	if hex := s.pos; s.accept("0x") || s.accept("0X") {
		if n := hexLen(s.text[s.pos:]); n > 0 {
			s.take(n)
			return s.text[start:s.pos], false
		}
		s.pos = hex
	}
	if s.digits() == "" {
		s.pos = start
		return "", false
	}
	if s.accept(".") {
		s.digits()
		float = true
	}
	if mark := s.pos; s.accept("e") || s.accept("E") {
		if !s.accept("+") {
			s.accept("-")
		}
		if s.digits() == "" {
			s.pos = mark
		} else {
			float = true
		}
	}
	return s.text[start:s.pos], float
}

// quoted parses a string in either kind of quotes.
func (s *scanner) quoted() (string, error) {
	start := s.pos
	if s.atEnd() || s.text[s.pos] != '"' && s.text[s.pos] != '\'' {
		return "", s.errorf("want a string")
	}
	quote := s.take(1)[0]
	if end := strings.IndexByte(s.text[s.pos:], quote); end >= 0 && !strings.Contains(s.text[s.pos:s.pos+end], `\`) {
		text := s.take(end)
		s.pos++
		return text, nil
	}
	var b []byte
	for !s.atEnd() {
		switch c := s.text[s.pos]; c {
		case quote:
			s.pos++
			return string(b), nil
		case '\\':
			var err error
			if b, err = s.escape(b); err != nil {
				return "", err
			}
		default:
			b = append(b, c)
			s.pos++
		}
	}
	s.pos = start
	return "", s.errorf("the string does not end")
}

// escapes contains the characters for escape sequences of one letter.
var escapes = map[byte]byte{
	'"': '"', '\'': '\'', '\\': '\\', 'n': '\n', 'r': '\r', 't': '\t', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v',
}

// escape parses an escape sequence and appends the character.
func (s *scanner) escape(dst []byte) ([]byte, error) {
	rest := s.text[s.pos+1:]
	if rest == "" {
		return dst, s.errorf("the string does not end")
	}
	if c, ok := escapes[rest[0]]; ok {
		s.pos += 2
		return append(dst, c), nil
	}
	n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[rest[0]]
	if n == 0 || len(rest) < 1+n {
		return dst, s.errorf(`want an escape: \" \\ \n \r \t \xNN \uNNNN or \UNNNNNNNN`)
	}
	x, err := strconv.ParseUint(rest[1:1+n], 16, 32)
	if low, ok := strings.CutPrefix(rest[1+n:], `\u`); ok && rest[0] == 'u' && len(low) >= n { // as engines write characters beyond U+FFFF
		y, _ := strconv.ParseUint(low[:n], 16, 32)
		if r := utf16.DecodeRune(rune(x), rune(y)); r != utf8.RuneError {
			s.pos += 2 * (2 + n)
			return utf8.AppendRune(dst, r), nil
		}
	}
	if err != nil || n > 2 && !utf8.ValidRune(rune(x)) {
		return dst, s.errorf("%s is not a character", strconv.Quote(rest[:1+n]))
	}
	s.pos += 2 + n
	if n == 2 {
		return append(dst, byte(x)), nil
	}
	return utf8.AppendRune(dst, rune(x)), nil
}

// AppendQuoted appends s in double quotes.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	dst = wire.AppendText(dst, s)
	return append(dst, '"')
}
