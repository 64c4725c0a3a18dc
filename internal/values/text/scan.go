package text

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
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
		hint = "; text is in quotes: " + Operand(e.Quoted)
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

// The digits of numbers.
const (
	bits    = "01"
	decimal = "0123456789"
	hexa    = decimal + "abcdefABCDEF"
)

// digits skips the next digits, of a set, and returns them. A _ can be between two of them.
func (s *scanner) digits(set string) string {
	start := s.pos
	for !s.atEnd() {
		next := s.text[s.pos:]
		if next[0] == '_' && s.pos > start && len(next) > 1 {
			next = next[1:]
		}
		if strings.IndexByte(set, next[0]) < 0 {
			break
		}
		s.pos = len(s.text) - len(next) + 1
	}
	return s.text[start:s.pos]
}

// number returns the next number, without _, and reports whether it is a float: with a point, an exponent, inf or nan. The
// text is empty if no number is next.
func (s *scanner) number() (text string, float bool) {
	start := s.pos
	float = s.skipNumber()
	return strings.ToLower(strings.ReplaceAll(s.text[start:s.pos], "_", "")), float
}

// skipNumber skips the next number, if there is one, and reports whether it is a float.
func (s *scanner) skipNumber() (float bool) {
	start := s.pos
	if s.word("nan") {
		return true
	}
	s.accept("-")
	if s.word("inf") {
		return true
	}
	for _, radix := range []struct{ prefix, digits string }{{"0x", hexa}, {"0X", hexa}, {"0b", bits}} {
		if before := s.pos; s.accept(radix.prefix) {
			if s.digits(radix.digits) != "" {
				return false
			}
			s.pos = before
		}
	}
	all := s.digits(decimal)
	if s.accept(".") {
		all += s.digits(decimal)
		float = true
	}
	if all == "" {
		s.pos = start
		return false
	}
	if mark := s.pos; s.accept("e") || s.accept("E") {
		if !s.accept("+") {
			s.accept("-")
		}
		if s.digits(decimal) == "" {
			s.pos = mark
		} else {
			float = true
		}
	}
	return float
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
	'"': '"', '\'': '\'', '\\': '\\', '/': '/', 'n': '\n', 'r': '\r', 't': '\t', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v',
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

// Operand returns an operand of a command as it is typed in a shell: in single quotes, unless it is the same without.
func Operand(s string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./:+-", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// AppendQuoted appends s in double quotes.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	dst = wire.AppendText(dst, s)
	return append(dst, '"')
}

// A Value is the value in a line, or a key in a path.
type Value struct {
	Type gdwire.Type
	Form Form
	// Int is an int, 1 for true, the id of an RID, Object or Signal.
	Int int64
	// NoID reports whether an RID is without an id, as in formats other than Godot4.
	NoID bool
	// Numbers are a float, the components of a math type, or the leading
	// numbers of an Image or InputEvent.
	Numbers []float64
	// Single reports whether Numbers had 32 bits, and are printed with
	// fewer digits.
	Single bool
	// Short reports whether those Numbers that 32 bits can hold are printed as if they had 32.
	Short bool
	// Text is the text of a string or NodePath, the bytes of a PackedByteArray,
	// Image or InputEvent, the name of a Signal or of an Object's class.
	Text string
	// Key and Elem are the declared types of a Dictionary's keys, and of its
	// values or an Array's elements.
	Key, Elem gdwire.Elem
	// Items are the elements of a whole Array or packed array, or the keys of a Dictionary, or names
	// of an Object's properties, and the values, in turn. Parsed values contain them; FromToken returns containers
	// without items.
	Items []Value
	// Change is "+", "-", "*" or "/" if the old value is changed by the value, a number.
	Change string
	// Bare reports whether the value is numbers in parentheses, (7, 8), of which the old value tells the type: a vector, a
	// Color or another math type. Type is TypeArray until then.
	Bare bool
	// Exact reports whether the value was written with its type, such as i:2.
	Exact bool
}

// changes are the operators of a value that changes the old one.
var changes = []string{"+=", "-=", "*=", "/="}

// A Form tells whether a Value is complete.
type Form uint8

// The forms of values.
const (
	Whole    Form = iota // a complete value
	Empty                // an empty container: [], {}, Array[int]([]), PackedInt32Array(), Object("Node", {})
	Declared             // a container's type without its content: Array[int], PackedInt32Array, Object("Node")
)

// signatures lists the arguments of values written as a call, one letter for each: r and i are real
// and integer components, u is a 32-bit number, d a 64-bit id, s a string, and x bytes in hexadecimal.
var signatures = sync.OnceValue(func() map[gdwire.Type]string {
	all := map[gdwire.Type]string{
		gdwire.TypeRID: "d", gdwire.TypeObject: "d", gdwire.TypeCallable: "", gdwire.TypeSignal: "sd",
		gdwire.TypeStringName: "s", gdwire.TypeNodePath: "s", gdwire.TypePackedByteArray: "x", gdwire.TypeImage: "uuuux", gdwire.TypeInputEvent: "uux",
	}
	for _, t := range gdwire.Types() {
		if n, integers := t.Components(); integers {
			all[t] = strings.Repeat("i", n)
		} else if n > 0 {
			all[t] = strings.Repeat("r", n)
		}
	}
	return all
})

const (
	objectID = "ObjectID" // an Object as its id; a serialized one is Object("Class", {…})
	variant  = "Variant"  // any type, in the declaration of a Dictionary
)

// types contains the types by name, and by the other names of Godot 3.
var types = sync.OnceValue(func() map[string]gdwire.Type {
	m := map[string]gdwire.Type{
		"Quat": gdwire.TypeQuaternion, "Transform": gdwire.TypeTransform3D,
		"PoolByteArray": gdwire.TypePackedByteArray, "PoolIntArray": gdwire.TypePackedInt32Array, "PoolRealArray": gdwire.TypePackedFloat32Array,
		"PoolStringArray": gdwire.TypePackedStringArray, "PoolColorArray": gdwire.TypePackedColorArray,
		"PoolVector2Array": gdwire.TypePackedVector2Array, "PoolVector3Array": gdwire.TypePackedVector3Array,
	}
	for _, t := range gdwire.Types() {
		m[t.String()] = t
	}
	return m
})

// IsKey reports whether the value can be written between brackets: is no container, packed
// array, Signal or Callable.
func (v *Value) IsKey() bool {
	if v.Form != Whole {
		return false
	}
	switch v.Type {
	case gdwire.TypeNil, gdwire.TypeBool, gdwire.TypeInt, gdwire.TypeFloat,
		gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath:
		return true
	case gdwire.TypeObject:
		return v.Items == nil // an id
	case gdwire.TypeRID:
		return !v.NoID
	}
	n, _ := v.Type.Components()
	return n > 0
}

// isContainerKey reports whether the value is an Array, a Dictionary or a packed array with its content. Paths are
// printed with the number of such a key, and read with the key, too.
func (v *Value) isContainerKey() bool {
	isContainer := v.Type == gdwire.TypeArray || v.Type == gdwire.TypeDictionary || v.Type.Element() != 0 && v.Type != gdwire.TypeImage
	return isContainer && v.Form != Declared && !v.Bare
}

// isPathKey reports whether the value can be between brackets in a path that is read.
func (v *Value) isPathKey() bool { return v.IsKey() || v.isContainerKey() }

// String returns the value as text.
func (v Value) String() string { return string(v.Append(nil)) }

// Append appends the value as text.
func (v *Value) Append(dst []byte) []byte {
	if v.Form != Whole {
		return v.appendContainer(dst)
	}
	if v.Items != nil {
		return v.appendItems(dst)
	}
	switch v.Type {
	case gdwire.TypeNil:
		return append(dst, "null"...)
	case gdwire.TypeBool:
		return strconv.AppendBool(dst, v.Int != 0)
	case gdwire.TypeInt:
		return strconv.AppendInt(dst, v.Int, 10)
	case gdwire.TypeFloat:
		return v.appendReal(dst, v.Numbers[0])
	case gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath:
		return AppendQuoted(append(dst, Prefix(v.Type)...), v.Text)
	case gdwire.TypeObject:
		dst = append(dst, objectID...)
	default:
		dst = append(dst, v.Type.String()...)
	}
	return v.appendArguments(dst)
}

// Prefix returns the character before the quotes of a type of text.
func Prefix(t gdwire.Type) string {
	switch t {
	case gdwire.TypeStringName:
		return "&"
	case gdwire.TypeNodePath:
		return "^"
	}
	return ""
}

func (v *Value) signature() string {
	if v.NoID {
		return ""
	}
	return signatures()[v.Type]
}

func (v *Value) appendArguments(dst []byte) []byte {
	dst = append(dst, '(')
	for i, arg := range v.signature() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		switch arg {
		case 'r':
			dst = v.appendReal(dst, v.Numbers[i])
		case 'i', 'u':
			dst = strconv.AppendInt(dst, int64(v.Numbers[i]), 10)
		case 'd':
			dst = strconv.AppendInt(dst, v.Int, 10)
		case 's':
			dst = AppendQuoted(dst, v.Text)
		case 'x':
			dst = append(dst, '"')
			dst = hex.AppendEncode(dst, []byte(v.Text))
			dst = append(dst, '"')
		}
	}
	return append(dst, ')')
}

func (v *Value) appendReal(dst []byte, x float64) []byte {
	if v.Single || v.Short && float64(float32(x)) == x {
		return AppendFloat32(dst, float32(x))
	}
	return AppendFloat(dst, x)
}

// AppendFloat appends nan, inf, -inf, or the shortest decimal that reads back as x, with a
// point or an exponent.
func AppendFloat(dst []byte, x float64) []byte { return appendFloat(dst, x, 64) }

// AppendFloat32 appends nan, inf, -inf, or the shortest decimal that rounds to x, as AppendFloat
// does.
func AppendFloat32(dst []byte, x float32) []byte { return appendFloat(dst, float64(x), 32) }

func appendFloat(dst []byte, x float64, bits int) []byte {
	if dst, ok := wire.AppendNonFinite(dst, x); ok {
		return dst
	}
	return wire.AppendFloat(dst, x, bits)
}

// appendContainer appends an empty container or a declaration.
func (v *Value) appendContainer(dst []byte) []byte {
	switch {
	case v.Form == Declared && v.isDeclared():
		return v.appendDeclared(dst)
	case v.Type.Element() != 0:
		return append(v.appendDeclared(dst), "()"...)
	}
	return v.AppendEnd(v.AppendStart(dst))
}

// appendItems appends a container with its content.
func (v *Value) appendItems(dst []byte) []byte {
	dst = v.AppendStart(dst)
	for i := range v.Items {
		if v.hasPairs() && i%2 == 1 {
			dst = append(dst, AfterKey...)
		} else {
			dst = AppendSeparator(dst, int64(i))
		}
		dst = v.Items[i].Append(dst)
	}
	return v.AppendEnd(dst)
}

// AfterKey is the text between a key or the name of a property and its value.
const AfterKey = ": "

// AppendSeparator appends the text before item or pair i of a container.
func AppendSeparator(dst []byte, i int64) []byte {
	if i > 0 {
		dst = append(dst, ", "...)
	}
	return dst
}

// hasPairs reports whether Items are keys or names, and values, in turn.
func (v *Value) hasPairs() bool {
	return v.Type == gdwire.TypeDictionary || v.Type == gdwire.TypeObject
}

// isDeclared reports whether a type is written before the items of a container.
func (v *Value) isDeclared() bool {
	return v.Type != gdwire.TypeArray && v.Type != gdwire.TypeDictionary || v.Key != (gdwire.Elem{}) || v.Elem != (gdwire.Elem{})
}

// appendDeclared appends the type of a container: Array[int] or Object("Node").
func (v *Value) appendDeclared(dst []byte) []byte {
	dst = append(dst, v.Type.String()...)
	switch v.Type {
	case gdwire.TypeObject:
		return append(AppendQuoted(append(dst, '('), v.Text), ')')
	case gdwire.TypeArray:
		return append(appendElem(append(dst, '['), v.Elem), ']')
	case gdwire.TypeDictionary:
		dst = appendElem(append(dst, '['), v.Key)
		return append(appendElem(append(dst, ", "...), v.Elem), ']')
	}
	return dst
}

// AppendStart appends the text before the items of a container: [ or Array[int]([.
func (v *Value) AppendStart(dst []byte) []byte {
	switch {
	case v.Type == gdwire.TypeObject:
		dst = v.appendDeclared(dst)
		dst = append(dst[:len(dst)-1], ", "...)
	case v.isDeclared():
		dst = append(v.appendDeclared(dst), '(')
	}
	switch {
	case v.hasPairs():
		return append(dst, '{')
	case v.Bare:
		return append(dst, '(')
	}
	return append(dst, '[')
}

// AppendEnd appends the text after the items of a container: ] or ]).
func (v *Value) AppendEnd(dst []byte) []byte {
	switch {
	case v.hasPairs():
		dst = append(dst, '}')
	case v.Bare:
		dst = append(dst, ')')
	default:
		dst = append(dst, ']')
	}
	if v.isDeclared() {
		dst = append(dst, ')')
	}
	return dst
}

// appendElem appends a declared type: int, a class's name or a script's path.
func appendElem(dst []byte, e gdwire.Elem) []byte {
	switch name := e.String(); {
	case e == (gdwire.Elem{}):
		return append(dst, variant...)
	case e.Script != "":
		return AppendQuoted(dst, name)
	case e.Class != "" && (!wire.IsName(name) || name == variant || types()[name] != 0):
		return AppendQuoted(append(dst, '&'), name)
	default:
		return append(dst, name...)
	}
}
