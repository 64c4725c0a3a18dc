package gdjson

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/base/options"
	"github.com/go-json-experiment/json/jsontext"
)

// From the bytes of JSON to a text: options, errors, numbers, the ends of values, and the text itself.

// Options configures [ToJSON] and [FromJSON]. The zero value, like none, selects native JSON,
// written on one line and read exactly. Several are merged: a nonzero field replaces the same field
// of earlier Options.
type Options struct {
	// Plain selects plain JSON instead of native JSON.
	Plain bool
	// Lenient makes FromJSON accept everything accepted by the engine's JSON.to_native. The package
	// documentation lists the differences.
	Lenient bool
	// AllowObjects permits FromJSON to write serialized objects. An engine that reads them creates
	// objects of the classes and scripts they name.
	AllowObjects bool
	// Indent, if not empty, makes ToJSON write each element, pair and property
	// on its own line, indented by one Indent for each level. The numbers of a
	// vector or packed array stay on one line.
	Indent string
	// EscapeForTerminal makes ToJSON write control characters of a terminal as \uXXXX: DEL, the C1
	// controls and the controls of bidirectional text. The C0 controls are always escaped.
	EscapeForTerminal bool
}

// export contains the calls of package gdwire for this module.
var export = gdwire.Internal.Export(&internal.AllowInternalUse)

var defaultOptions Options

// optionsOf returns the merged Options of the variadic arguments of a function, or the zero value
// if there are none. The caller must not change the result.
func optionsOf(opts []Options) *Options { return options.Of(opts, &defaultOptions) }

// An Error describes invalid JSON and its position.
type Error struct {
	// Offset is the offset in bytes of the invalid JSON value, counted from the first byte read by
	// FromJSON. For text that is not JSON, Offset is the offset of the first invalid byte.
	Offset int64
	// Pointer is the location of the invalid JSON value. For text that is not JSON, Pointer is the
	// location of the innermost value around the error. The location is a JSON pointer (RFC 6901),
	// such as /args/0.
	Pointer string
	// Err is the cause: a wrapped error of gdwire such as [gdwire.ErrRange], a
	// [gdwire.LimitError], a [gdwire.Error] of the Encoder,
	// io.ErrUnexpectedEOF, or the error of package jsontext.
	Err error
}

func (e *Error) Error() string {
	cause := e.Err
	if g, ok := cause.(*gdwire.Error); ok {
		cause = g.Err
	}
	return fmt.Sprintf("gdjson: offset %d, %q: %v", e.Offset, cut([]byte(e.Pointer), 200), cause)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// cut returns b, shortened to at most n bytes and an ellipsis.
func cut(b []byte, n int) string {
	if len(b) <= n {
		return string(b)
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "…"
}

// quoted returns b for a message: quoted, and cut after 40 bytes.
func quoted(b []byte) string { return fmt.Sprintf("%q", cut(b, 40)) }

// parseReal parses a JSON number as the nearest float64. 1e99999 is infinity. For any other number
// that is too large, parseReal returns infinity and an error.
func parseReal(b []byte) (float64, error) {
	if x, ok := parseShort(b); ok {
		return x, nil
	}
	x, err := strconv.ParseFloat(string(b), 64)
	if err == nil || isInfinity(b) {
		return x, nil
	}
	return x, export.Wrapf(gdwire.ErrRange, "%s does not fit a float", cut(b, 40))
}

// tens contains the powers of ten, all exact, by which parseShort divides.
var tens = [16]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseShort parses a JSON number of at most 15 digits and without an exponent, in a
// third of strconv's time. Most numbers are such. The result is the nearest float64,
// because parseShort divides once, and both operands are exact.
func parseShort(b []byte) (float64, bool) {
	digits := bytes.TrimPrefix(b, minus)
	if len(digits) > 16 {
		return 0, false
	}
	x, point := uint64(0), len(digits)
	for i, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			x = 10*x + uint64(c-'0')
		case c == '.':
			point = i + 1
		default:
			return 0, false
		}
	}
	if x >= 1e15 {
		return 0, false
	}
	y := float64(x) / tens[len(digits)-point]
	if len(digits) < len(b) {
		y = -y
	}
	return y, true
}

var minus = []byte("-")

// isInfinity reports whether b is 1e99999 or -1e99999, in any spelling used by tools.
func isInfinity(b []byte) bool {
	b = bytes.Replace(bytes.TrimPrefix(b, minus), []byte("+"), nil, 1)
	return bytes.EqualFold(b, []byte("1e99999"))
}

// parseInt parses an integer. Zeros after a decimal point are accepted, because the
// engine's JSON.stringify writes them after every number that JSON.parse read.
func parseInt(b []byte) (int64, error) {
	digits := b
	if i := bytes.IndexByte(b, '.'); i > 0 && len(bytes.Trim(b[i+1:], "0")) == 0 {
		digits = b[:i]
	}
	return parseDigits(digits, b)
}

// parseDigits parses the integer in b, of the given digits and sign.
func parseDigits(digits, b []byte) (int64, error) {
	if !isInteger(digits) {
		return 0, export.Wrapf(gdwire.ErrType, "%s is not an integer", quoted(b))
	}
	x, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0, export.Wrapf(gdwire.ErrRange, "%s does not fit 64 bits", cut(b, 40))
	}
	return x, nil
}

// isInteger reports whether b consists of digits, optionally after a minus sign.
func isInteger(b []byte) bool {
	b = bytes.TrimPrefix(b, minus)
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// parseFloat parses the text after "f:".
func parseFloat(b []byte) (float64, error) {
	switch string(b) {
	case "inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	}
	if x, ok := parseNaN(b); ok {
		return x, nil
	}
	x, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err != nil && x == 0, len(bytes.Trim(b, "0123456789.-+eE")) > 0:
		return 0, export.Wrapf(gdwire.ErrType, "%s is not a float", quoted(b))
	case err != nil:
		return x, export.Wrapf(gdwire.ErrRange, "%s does not fit a float", cut(b, 40))
	}
	return x, nil
}

// parseNaN parses a NaN as appendNaN writes it.
func parseNaN(b []byte) (float64, bool) {
	bits := uint64(nan64Bits)
	if bytes.HasPrefix(b, []byte("-")) {
		b = b[1:]
		bits |= signBit
	}
	payload, ok := bytes.CutPrefix(b, []byte("nan"))
	if !ok {
		return 0, false
	}
	if len(payload) > 0 {
		digits, ok := bytes.CutPrefix(payload, []byte(":0x"))
		x, err := strconv.ParseUint(string(digits), 16, 64)
		if !ok || err != nil || x == 0 || x > nanBits {
			return 0, false
		}
		bits = bits&signBit | 0x7FF<<52 | x
	}
	return math.Float64frombits(bits), true
}

// The functions below parse numbers as the engine does. The engine accepts any text.

// lenientInt parses the digits before the first point and ignores other characters:
// "0x10" is 10. Larger numbers become the largest or smallest int64, except that
// 9223372036854775808 and 9223372036854775809 wrap around.
func lenientInt(b []byte) int64 {
	if i := bytes.IndexByte(b, '.'); i >= 0 {
		b = b[:i]
	}
	x, sign := int64(0), int64(1)
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9' && x > math.MaxInt64/10:
			if sign < 0 {
				return math.MinInt64
			}
			return math.MaxInt64
		case '0' <= c && c <= '9':
			x = 10*x + int64(c-'0')
		case c == '-' && x == 0:
			sign = -sign
		}
	}
	return sign * x
}

// lenientFloat parses the number at the start of b. Without a number, lenientFloat returns 0, or -0
// after a minus sign.
func lenientFloat(b []byte) float64 {
	b = bytes.TrimLeft(b, " \t\n")
	unsigned := bytes.TrimPrefix(b, minus)
	if len(unsigned) == len(b) {
		unsigned = bytes.TrimPrefix(b, []byte("+"))
	}
	x, _ := strconv.ParseFloat(string(unsigned[:floatLen(unsigned)]), 64)
	if bytes.HasPrefix(b, minus) {
		return -x
	}
	return x
}

// floatLen returns the length of the decimal, without a sign, at the start of b.
func floatLen(b []byte) int {
	end := digits(b, 0)
	if end < len(b) && b[end] == '.' {
		if fraction := digits(b, end+1); fraction > 1 {
			end = fraction
		}
	}
	if end == 0 || end == len(b) || b[end]|0x20 != 'e' {
		return end
	}
	exponent := end + 1
	if exponent < len(b) && (b[exponent] == '+' || b[exponent] == '-') {
		exponent++
	}
	if last := digits(b, exponent); last > exponent {
		return last
	}
	return end
}

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

// read reads src to the end: one value in no more than most bytes. If unique is set, the members of
// an object must have different names. If lenient is set, the text may deviate from JSON in the
// ways accepted by the engine.
func (t *text) read(src io.Reader, most int64, unique, lenient bool) error {
	t.lenient = lenient
	if err := t.readAll(src, min(most, maxText)); err != nil {
		return err
	}
	// Each node but the innermost ones takes at least three bytes. With one allocation, no
	// old and new array exist at the same time.
	nodes := min(len(t.json)/3+maxDepth, bytes.Count(t.json, []byte("{"))+bytes.Count(t.json, []byte("[")))
	t.nodes = slices.Grow(t.nodes[:0], nodes)
	if !t.scan() {
		return t.syntaxError()
	}
	if unique {
		return t.checkNames()
	}
	return nil
}

func limitError(got, most int64) error {
	return &Error{Offset: most, Err: &gdwire.LimitError{Name: "MaxBuffered", Got: got, Max: most}}
}

// readAll reads src to the end, or returns an error as soon as more than most bytes were read. The
// bytes of a bytes.Buffer are not copied.
func (t *text) readAll(src io.Reader, most int64) error {
	if b, ok := src.(*bytes.Buffer); ok {
		t.json = b.Next(b.Len())
		if int64(len(t.json)) > most {
			return limitError(most+1, most)
		}
		return nil
	}
	b := t.own[:0]
	for {
		b = slices.Grow(b, 512)
		n, err := checked.Read(src, b[len(b):min(int64(cap(b)), most+1)])
		b = b[:len(b)+n]
		t.own, t.json = b, b
		switch {
		case int64(len(b)) > most:
			return limitError(int64(len(b)), most)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// syntaxError returns the error for text not accepted by scan. jsontext finds the error in a copy
// from standardJSON, with the engine's deviations from JSON replaced by as many bytes of JSON.
func (t *text) syntaxError() error {
	d := jsontext.NewDecoder(bytes.NewBuffer(standardJSON(t.json, t.lenient)), jsontext.AllowDuplicateNames(true))
	_, err := d.ReadValue()
	switch err {
	case io.EOF:
		return &Error{Offset: int64(len(t.json)), Err: io.ErrUnexpectedEOF}
	case nil:
		end := d.InputOffset()
		if _, err = d.ReadToken(); err == nil {
			return &Error{Offset: end, Err: errSecondValue}
		}
		if err == io.EOF {
			return &Error{Err: errInvalid}
		}
	}
	var s *jsontext.SyntacticError
	if !errors.As(err, &s) {
		return &Error{Err: err}
	}
	cause := s.Err
	if i := s.ByteOffset; i < int64(len(t.json)) {
		if r, n := utf8.DecodeRune(t.json[i:]); r == utf8.RuneError && n == 1 {
			cause = gdwire.ErrUTF8
		}
	}
	return &Error{Offset: s.ByteOffset, Pointer: t.restoreNames(s.JSONPointer, s.ByteOffset), Err: cause}
}

// restoreNames returns p, from jsontext for an error at offset, with the names of the text, because
// jsontext read a copy with bytes replaced by standardJSON.
func (t *text) restoreNames(p jsontext.Pointer, offset int64) string {
	var scratch, b []byte
	open := t.walk(int(offset), nil, nil)
	for token := range p.Tokens() {
		if len(open) > 0 && open[0].name > 0 {
			b = appendToken(b, t.nameAt(uint32(open[0].name), &scratch))
		} else {
			b = appendToken(b, []byte(token))
		}
		open = open[min(1, len(open)):]
	}
	return string(b)
}

// appendToken appends a token of a JSON pointer.
func appendToken(dst, token []byte) []byte {
	return append(append(dst, '/'), pointerEscapes.Replace(string(token))...)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

var (
	errSecondValue = export.Wrapf(gdwire.ErrCount, "text after the value")
	errInvalid     = errors.New("invalid JSON") // never returned while scan and jsontext agree
)

// A namedMember is a member of an object, for comparing its name with the others.
type namedMember struct {
	hash uint64 // of the name
	name uint32 // offset of the name
}

// checkNames returns an error if two members of an object have the same name. Only the members of
// open objects are held.
func (t *text) checkNames() error {
	var all []namedMember
	var scratch []byte
	seed := maphash.MakeSeed()
	first := uint32(math.MaxUint32)
	t.walk(len(t.json), func(l *level) {
		hash := maphash.Bytes(seed, t.nameAt(uint32(l.name), &scratch))
		all = append(all, namedMember{hash, uint32(l.name)})
	}, func(l *level) {
		if l.object {
			from := len(all) - (l.index + 1)
			first = min(first, t.duplicate(all[from:]))
			all = all[:from]
		}
	})
	if first == math.MaxUint32 {
		return nil
	}
	err := export.Wrapf(jsontext.ErrDuplicateName, "duplicate member %s", quoted(t.nameAt(first, &scratch)))
	return &Error{Offset: int64(first), Pointer: t.pointer(int64(first)), Err: err}
}

// duplicate returns the least offset of a name equal to the name of an earlier member of an object,
// or math.MaxUint32. Sorting the members by hash makes equal names neighbors.
func (t *text) duplicate(members []namedMember) uint32 {
	var scratch [2][]byte
	slices.SortFunc(members, func(x, y namedMember) int {
		if x.hash != y.hash {
			return cmp.Compare(x.hash, y.hash)
		}
		return cmp.Or(bytes.Compare(t.nameAt(x.name, &scratch[0]), t.nameAt(y.name, &scratch[1])), cmp.Compare(x.name, y.name))
	})
	first := uint32(math.MaxUint32)
	for i := 1; i < len(members); i++ {
		x, y := &members[i-1], &members[i]
		if x.hash == y.hash && bytes.Equal(t.nameAt(x.name, &scratch[0]), t.nameAt(y.name, &scratch[1])) {
			first = min(first, y.name)
		}
	}
	return first
}

// nameAt returns the content of the string at offset i, in scratch if escaped.
func (t *text) nameAt(i uint32, scratch *[]byte) []byte {
	end, escaped := stringEnd(t.json, int(i))
	content := t.json[i+1 : end-1]
	if !escaped {
		return content
	}
	*scratch = appendUnquoted((*scratch)[:0], content)
	return *scratch
}

// discard drops the memory of a large text and of a bytes.Buffer, and keeps less memory for the
// next text.
func (t *text) discard() {
	const most = 4 << 20
	t.json = nil
	if cap(t.own) > most {
		t.own = nil
	}
	if cap(t.nodes) > most/16 {
		t.nodes = nil
	}
}

// pointer returns the JSON pointer of the value or name at offset.
func (t *text) pointer(offset int64) string {
	var scratch, b []byte
	for _, l := range t.walk(int(offset), nil, nil) {
		switch {
		case l.name > 0:
			b = appendToken(b, t.nameAt(uint32(l.name), &scratch))
		case l.index >= 0:
			b = strconv.AppendInt(append(b, '/'), int64(l.index), 10)
		}
	}
	return string(b)
}

// A level is an open object or array of walk.
type level struct {
	object   bool
	wantName bool // the next string is a name
	name     int  // offset of the latest name, 0 before the first
	index    int  // of the latest element or member, -1 before the first
}

// walk walks through the names and values that begin up to offset end, and returns the objects and
// arrays that are open at end. Unless nil, named is called at every name, and closed at the end of
// every object and array.
func (t *text) walk(end int, named, closed func(*level)) (open []level) {
	for i := 0; ; {
		if i = skipSpace(t.json, i); i > end || i == len(t.json) {
			return open
		}
		var last *level
		if len(open) > 0 {
			last = &open[len(open)-1]
		}
		switch c := t.json[i]; {
		case c == ',' || c == ':':
			i++
			continue
		case (c == ']' || c == '}') && last != nil:
			if closed != nil {
				closed(last)
			}
			open = open[:len(open)-1]
			i++
			continue
		case c == '"' && last != nil && last.wantName:
			after, ok := scanString(t.json, i)
			if !ok {
				return open
			}
			last.wantName, last.name = false, i
			last.index++
			if named != nil {
				named(last)
			}
			i = after
			continue
		}
		// A value begins.
		if last != nil && last.object {
			last.wantName = true
		} else if last != nil {
			last.index++
		}
		after, ok := i+1, true
		switch c := t.json[i]; c {
		case '{', '[':
			open = append(open, level{object: c == '{', wantName: c == '{', index: -1})
		case '"':
			after, ok = scanString(t.json, i)
		default:
			after = literalEnd(t.json, i)
		}
		if !ok || after == i {
			return open
		}
		i = after
	}
}
