// Package text parses and prints the lines of gdwire flat, get and set:
//
//	$.player.hp = 10
//	$2.grid[Vector2i(1, 2)] = "wall"
//	$["metadata/x"].value(3)[0] = PackedByteArray("89504e47")
//
// A line is a path, " = " and a value. A path starts with $ and the number of the packet, omitted
// for packet 0. A step is a String key or property (.name), any other key or an index ([…]), the
// key or value of a pair by its number (.key(3), .value(3)), or the end of an array ([+]), where
// an element can be added. Values are written as in GDScript. Paths are also read as in jq:. is
// the whole value, and .[0] and [] are [0] and [*].
//
// A printed line parses to the same path and value, and contains printable
// characters only.
package text

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// A Path is the location of a value in the input.
type Path struct {
	Packet int64
	Steps  []Step
	// Cut reports whether the path ended in "…", like long paths in errors.
	Cut bool
}

// A Step leads from a container to a value inside.
type Step struct {
	Op    Op
	Key   Value // of Child: the key, property or index
	Index int64 // of KeyAt and ValueAt: the number of the pair

	text string // the parsed text
}

// An Op is a kind of step.
type Op uint8

// The kinds of steps.
const (
	Child   Op = iota // .name or [key]
	KeyAt             // .key(n)
	ValueAt           // .value(n)
	End               // [+], after the last element
	All               // [*], each value in the container
)

// keyHint tells how to write a key that is no name.
const keyHint = `; keys other than names are written ["…"]`

// Parse parses a path. The $ is optional.
func Parse(text string) (Path, error) {
	s := scanner{text: text}
	p := s.path()
	if !s.atEnd() {
		s.errorf("unexpected %s%s", s.rest(), keyHint)
	}
	return p, s.failed()
}

// ParseLine parses a path, = and a value.
func ParseLine(line string) (Path, Value, error) {
	p, v, _, err := parseLine(line, nil)
	return p, v, err
}

// CutLine parses a line and returns the text of the value, for ParseValue, also with the error of this text. The steps of the
// Path use the memory of steps if there is enough, so that many lines need little memory.
func CutLine(line string, steps []Step) (Path, string, error) {
	p, _, text, err := parseLine(line, steps)
	return p, text, err
}

func parseLine(line string, steps []Step) (p Path, v Value, text string, err error) {
	s := scanner{text: line, steps: steps}
	p, change := s.start()
	if s.err != nil {
		return p, v, "", s.err
	}
	text = s.text[s.pos:]
	if change != "" {
		text = change + "=" + text
	}
	v = s.change(change)
	return p, v, text, s.failed()
}

// start parses a line up to the value.
func (s *scanner) start() (p Path, change string) {
	p = s.path()
	s.space()
	start := s.pos
	if !s.accept("=") && !s.accept("+=") && !s.accept("-=") {
		hint := ""
		if !s.atEnd() {
			hint = keyHint
		}
		s.errorf("want = and a value%s", hint)
	}
	change = strings.TrimSuffix(s.text[start:s.pos], "=")
	s.space()
	return p, change
}

// PairLine returns the line that adds a pair to the Dictionary or Object at a path, from a pair as people type it:
// key = value or key: value. The key is the end of a path from a . or [ on, or a value such as 9, "a" or
// Vector2i(1, 2), or text without quotes if nothing in the text could mean another key.
func PairLine(path, typed string) (string, error) {
	s := scanner{text: strings.TrimSpace(typed)}
	steps := ""
	if s.isNext(".") || s.isNext("[") {
		if p := s.path(); len(p.Steps) == 0 {
			s.errorf("want a key")
		}
		steps = s.text[:s.pos]
	} else if key := (Step{Key: s.pairKey()}); s.err == nil {
		steps = string(key.Append(nil))
	}
	s.space()
	change := s.separator()
	if change == "" {
		s.errorf("want = and a value")
	}
	s.space()
	return path + steps + " " + strings.Replace(change, ":", "=", 1) + " " + s.text[s.pos:], s.failed()
}

// separator skips what separates a typed key from its value, and returns it, or "" if nothing does.
func (s *scanner) separator() string {
	for _, text := range []string{"=", ":", "+=", "-="} {
		if s.accept(text) {
			return text
		}
	}
	return ""
}

// pairKey parses the typed key of a pair.
func (s *scanner) pairKey() Value {
	value := *s
	v := value.value()
	value.space()
	if after := value; value.err == nil && v.isPathKey() && (after.atEnd() || after.separator() != "") {
		*s = value
		return v
	}
	rest := s.text[s.pos:]
	if n := strings.IndexAny(rest, "=:"); n >= 0 {
		isChange := rest[n] == '='
		if rest = rest[:n]; isChange {
			rest = strings.TrimRight(rest, "+-")
		}
	}
	word := strings.TrimSpace(rest)
	if word == "" || strings.IndexByte("0123456789+-", word[0]) >= 0 || strings.ContainsFunc(word, isSyntax) {
		if s.err = value.err; s.err == nil {
			s.errorf("want a key and not %s; text is in quotes", s.rest())
		}
		return v
	}
	s.take(len(rest))
	return Value{Type: gdwire.TypeString, Text: word}
}

// isSyntax reports whether a character means something in a value or path, or is not printable, so that a key with
// the character needs quotes.
func isSyntax(r rune) bool {
	return strings.ContainsRune("\"'`()[]{}&^\\,.$", r) || !unicode.IsPrint(r)
}

// ParseValue parses the value of a line.
func ParseValue(text string) (Value, error) {
	s := scanner{text: text}
	for _, change := range []string{"+", "-"} {
		if s.accept(change + "=") {
			return s.change(change), s.failed()
		}
	}
	return s.operand(), s.failed()
}

// String returns the path as text.
func (p Path) String() string {
	b := AppendPacket(nil, p.Packet)
	for i := range p.Steps {
		b = p.Steps[i].Append(b)
	}
	if p.Cut {
		b = append(b, Ellipsis...)
	}
	return string(b)
}

// The text of a step with Op End, and of one with Op All.
const (
	appendStep = "[+]"
	everyStep  = "[*]"
)

// Ellipsis is the end of a cut path or key.
const Ellipsis = "…"

// AppendPacket appends the path of packet n: $, or $2.
func AppendPacket(dst []byte, n int64) []byte {
	dst = append(dst, '$')
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(dst, n, 10)
}

// Append appends the step as text.
func (s *Step) Append(dst []byte) []byte {
	switch s.Op {
	case KeyAt:
		return AppendKeyAt(dst, s.Index)
	case ValueAt:
		return AppendValueAt(dst, s.Index)
	case End:
		return append(dst, appendStep...)
	case All:
		return append(dst, everyStep...)
	}
	if s.Key.Type == gdwire.TypeString && wire.IsName(s.Key.Text) {
		return append(append(dst, '.'), s.Key.Text...)
	}
	dst = append(dst, '[')
	dst = s.Key.Append(dst)
	return append(dst, ']')
}

// AppendIndex appends the step to element n of an array: [3].
func AppendIndex(dst []byte, n int64) []byte { return wire.AppendIndex(dst, n) }

// AppendKeyAt appends the step to the key of pair n: .key(3).
func AppendKeyAt(dst []byte, n int64) []byte { return wire.AppendKeyAt(dst, n) }

// AppendValueAt appends the step to the value of pair n: .value(3).
func AppendValueAt(dst []byte, n int64) []byte { return wire.AppendValueAt(dst, n) }

// maxSteps, the maximum number of steps of a path, bounds the recursion of a Walker. It is more
// than flat ever prints.
const maxSteps = 1 << 15

// path parses a path at the start of the text.
func (s *scanner) path() Path {
	p := Path{Steps: s.steps[:0]}
	if s.isRoot() {
		s.pos++
		return p
	}
	first := true // the dot before the first name is optional
	if s.accept("$") {
		first = false
		if n := s.digits(); n != "" {
			var err error
			if p.Packet, err = strconv.ParseInt(n, 10, 64); err != nil {
				s.errorf("packet %s is out of range", n)
				return p
			}
		}
	}
	for ; ; first = false {
		var step Step
		if s.isNext(".[") { // as in jq
			s.pos++
		}
		start := s.pos
		switch {
		case s.accept(appendStep):
			step.Op = End
		case s.accept(everyStep), s.accept("[]"): // the second as in jq
			step.Op = All
		case s.accept("["):
			step.Key = s.key()
		case s.accept(".key("):
			step.Op = KeyAt
			step.Index = s.index()
		case s.accept(".value("):
			step.Op = ValueAt
			step.Index = s.index()
		case s.accept("."):
			step.Key = s.name()
		case first && wire.NameLen(s.text) > 0:
			step.Key = s.name()
		case s.accept(Ellipsis):
			p.Cut = true
			return p
		case first && !s.atEnd():
			s.errorf("want $, a name or [%s", keyHint)
		default:
			return p
		}
		if len(p.Steps) == maxSteps {
			s.errorf("a path has at most %d steps", maxSteps)
		}
		if s.err != nil {
			return p
		}
		step.text = s.text[start:s.pos]
		p.Steps = append(p.Steps, step)
	}
}

// isRoot reports whether the path is a dot alone, as in jq the path of the whole value.
func (s *scanner) isRoot() bool {
	rest := s.text[s.pos:]
	return rest == "." || strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ".=")
}

// name parses the name after a dot.
func (s *scanner) name() Value {
	n := wire.NameLen(s.text[s.pos:])
	if n == 0 {
		s.errorf(`want a name; an index is written [0], and other keys ["…"]`)
	}
	return Value{Type: gdwire.TypeString, Text: s.take(n)}
}

// index parses the number of a pair and the parenthesis after it.
func (s *scanner) index() int64 {
	n, err := strconv.ParseInt(s.digits(), 10, 64)
	if err != nil {
		s.errorf("want the number of a pair")
	}
	s.want(")", ")")
	return n
}

// key parses a key and the bracket after it.
func (s *scanner) key() Value {
	s.space()
	start := s.pos
	v := s.value()
	if s.err == nil && !v.isPathKey() {
		s.pos = start
		s.errorf("%s is not a key; .key(n) and .value(n) are the n-th pair", s.rest())
	}
	s.close("]")
	return v
}
