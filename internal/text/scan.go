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
	Quoted string // the line with the value in quotes, if the value may be text without quotes
}

func (e *SyntaxError) Error() string {
	const most = 60 // bytes of the text
	text := e.Text
	if len(text) > most {
		text = text[:most] + Ellipsis
	}
	hint := ""
	if e.Quoted != "" {
		hint = "; text is in quotes: " + e.Quoted
	}
	return fmt.Sprintf("%q, column %d: %s%s", text, e.Column, e.Reason, hint)
}

// A scanner parses text from the start. The results of methods mean nothing after an error.
type scanner struct {
	text  string
	pos   int
	err   *SyntaxError // the first one
	depth int          // of containers around the next value
	steps []Step       // memory for the steps of a path
}

// errorf sets the error, at the next byte, unless there is one.
func (s *scanner) errorf(format string, args ...any) {
	if s.err == nil {
		s.err = &SyntaxError{Text: s.text, Column: s.pos + 1, Reason: fmt.Sprintf(format, args...)}
	}
}

// failed returns the error, or nil.
func (s *scanner) failed() error {
	if s.err == nil {
		return nil
	}
	return s.err
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

// isNext reports whether word is next.
func (s *scanner) isNext(word string) bool { return strings.HasPrefix(s.text[s.pos:], word) }

// isQuote reports whether a quote is next.
func (s *scanner) isQuote() bool { return s.isNext(`"`) || s.isNext("'") }

// take returns the next n bytes.
func (s *scanner) take(n int) string {
	s.pos += n
	return s.text[s.pos-n : s.pos]
}

// accept skips word if it is next.
func (s *scanner) accept(word string) bool {
	ok := s.isNext(word)
	if ok {
		s.pos += len(word)
	}
	return ok
}

// want skips word, or sets an error asking for what.
func (s *scanner) want(word, what string) {
	if !s.accept(word) {
		s.errorf("want %s", what)
	}
}

// open skips a bracket and the space after it.
func (s *scanner) open(bracket string) {
	s.want(bracket, bracket)
	s.space()
}

// close skips space and the bracket after it.
func (s *scanner) close(bracket string) {
	s.space()
	s.want(bracket, bracket)
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
func (s *scanner) quoted() string {
	start := s.pos
	if !s.isQuote() {
		s.errorf("want a string")
		return ""
	}
	quote := s.take(1)[0]
	if end := strings.IndexByte(s.text[s.pos:], quote); end >= 0 && !strings.Contains(s.text[s.pos:s.pos+end], `\`) {
		text := s.take(end)
		s.pos++
		return text
	}
	var b []byte
	for !s.atEnd() && s.err == nil {
		switch c := s.text[s.pos]; c {
		case quote:
			s.pos++
			return string(b)
		case '\\':
			b = s.escape(b)
		default:
			b = append(b, c)
			s.pos++
		}
	}
	s.pos = start
	s.errorf("the string does not end")
	return ""
}

// escapes contains the characters for escape sequences of one letter.
var escapes = map[byte]byte{
	'"': '"', '\'': '\'', '\\': '\\', 'n': '\n', 'r': '\r', 't': '\t', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v',
}

// escape parses an escape sequence and appends the character.
func (s *scanner) escape(dst []byte) []byte {
	rest := s.text[s.pos+1:]
	if rest == "" {
		s.errorf("the string does not end")
		return dst
	}
	if c, ok := escapes[rest[0]]; ok {
		s.pos += 2
		return append(dst, c)
	}
	n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[rest[0]]
	if n == 0 || len(rest) < 1+n {
		s.errorf(`want an escape: \" \\ \n \r \t \xNN \uNNNN or \UNNNNNNNN`)
		return dst
	}
	x, err := strconv.ParseUint(rest[1:1+n], 16, 32)
	if low, ok := strings.CutPrefix(rest[1+n:], `\u`); ok && rest[0] == 'u' && len(low) >= n { // as engines write characters beyond U+FFFF
		y, _ := strconv.ParseUint(low[:n], 16, 32)
		if r := utf16.DecodeRune(rune(x), rune(y)); r != utf8.RuneError {
			s.pos += 2 * (2 + n)
			return utf8.AppendRune(dst, r)
		}
	}
	if err != nil || n > 2 && !utf8.ValidRune(rune(x)) {
		s.errorf("%s is not a character", strconv.Quote(rest[:1+n]))
		return dst
	}
	s.pos += 2 + n
	if n == 2 {
		return append(dst, byte(x))
	}
	return utf8.AppendRune(dst, rune(x))
}

// AppendQuoted appends s in double quotes.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	dst = wire.AppendText(dst, s)
	return append(dst, '"')
}
