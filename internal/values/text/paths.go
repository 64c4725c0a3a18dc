// Package text parses and prints the lines of gdwire flat, get and set:
//
//	$.player.hp = 10
//	$2.grid[Vector2i(1, 2)] = "wall"
//	$["metadata/x"].value(3)[0] = PackedByteArray("89504e47")
//
// A line is a path, " = " and a value. A path starts with $ and the number of the packet, omitted
// for packet 0. A step is a String key or property (.name), any other key or an index ([…]), the
// key or value of a pair by its number (.key(3), .value(3)), the value in the bytes of a PackedByteArray
// (.value(), or .value()$2 for the third of several), or the end of an array ([+]), where an element can
// be added. A path leads to several values by each value in a container ([*]), elements 1 and 2 of an
// array ([1:3]), or each packet ($*). Values are written as in GDScript. Paths are also read as in jq:
// . is the whole value, .[0] and .0 are [0], and [] is [*].
//
// A printed line parses to the same path and value, and contains printable
// characters only.
package text

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// A Path is the location of a value in the input.
type Path struct {
	Packet int64 // or AllPackets
	Steps  []Step
	// Cut reports whether the path ended in "…", like long paths in errors.
	Cut bool
	// Bare reports whether an index or int key is a number without brackets, as in items.3.
	Bare bool
}

// AllPackets is the Packet of a path in each packet: $*.
const AllPackets = -1

// IsSeveral reports whether the path can lead to several values.
func (p *Path) IsSeveral() bool {
	return p.Packet == AllPackets || slices.ContainsFunc(p.Steps, Step.IsSeveral)
}

// IsSeveral reports whether the step can lead to several values.
func (s Step) IsSeveral() bool { return s.Op == All || s.Op == Range }

// HasEmpty reports whether a step is written [], which is each value in jq, and another element in other languages.
func (p *Path) HasEmpty() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.text == "[]" })
}

// Contains reports whether another path leads to a value at p, or into one. Of p, a range counts from the start.
func (p *Path) Contains(other *Path) bool {
	if p.Packet != other.Packet && p.Packet != AllPackets || len(p.Steps) > len(other.Steps) {
		return false
	}
	for i := range p.Steps {
		s, o := &p.Steps[i], other.Steps[i]
		index := o.Key.Int
		switch {
		case s.Op == All, s.Op == Range && o.Key.Type == gdwire.TypeInt && s.Index <= index && index < s.After:
			continue
		case s.Op == Child && s.Key.Type == gdwire.TypeString && o.Key.Type == gdwire.TypeStringName:
			o.Key.Type = gdwire.TypeString
		}
		if string(s.Append(nil)) != string(o.Append(nil)) {
			return false
		}
	}
	return true
}

// resembles reports whether the steps are the same, text in small or large letters.
func (s *Step) resembles(o *Step) bool {
	return s.Key.Text != "" && strings.EqualFold(s.Key.Text, o.Key.Text) || string(s.Append(nil)) == string(o.Append(nil))
}

// Within returns the path found, followed by the steps of p after the first n, if it has these n in their order. Elements of arrays
// are [*] where p has no step to them.
func (p *Path) Within(found Path, n int) (Path, bool) {
	i := 0
	for j := range found.Steps {
		s := &found.Steps[j]
		isIndex := s.Op == Child && s.Key.Type == gdwire.TypeInt
		switch {
		case i < n && p.Steps[i].resembles(s):
			i++
		case i < n && isIndex && p.Steps[i].IsSeveral():
			*s = p.Steps[i]
			i++
		case isIndex:
			*s = Step{Op: All}
		}
	}
	found.Steps = append(found.Steps, p.Steps[n:]...)
	return found, i == n
}

// Renumbered returns the path with its packet as the first step, or the other way around, for people who take one for the other.
func (p *Path) Renumbered() (Path, bool) {
	switch {
	case p.Packet > 0:
		return Path{Steps: append([]Step{{Key: Value{Type: gdwire.TypeInt, Int: p.Packet}}}, p.Steps...)}, true
	case len(p.Steps) > 0 && p.Steps[0].Op == Child && p.Steps[0].Key.Int > 0:
		return Path{Packet: p.Steps[0].Key.Int, Steps: p.Steps[1:]}, true
	}
	return *p, false
}

// A Step leads from a container to a value inside.
type Step struct {
	Op    Op
	Key   Value // of Child: the key, property or index
	Index int64 // of KeyAt and ValueAt: the number of the pair; of Inside: the number of the value; of Range: the first element
	After int64 // of Range: the element after the last

	text string // the parsed text
}

// An Op is a kind of step.
type Op uint8

// The kinds of steps.
const (
	Child   Op = iota // .name or [key]
	KeyAt             // .key(n)
	ValueAt           // .value(n)
	Inside            // .value(), a value in the bytes of a PackedByteArray
	End               // [+], after the last element
	All               // [*], each value in the container
	Range             // [a:b], elements a to b-1; a and b can be negative, or missing
)

// keyHint tells how to write a key that is no name.
const keyHint = `; keys other than names are written ["…"]`

// pathHint tells how to write a typed text that is no path, and what follows it: with names between other signs, or with keys in brackets.
func pathHint(typed, after string) string {
	path := ""
	for key := range strings.SplitSeq(signs.Replace(strings.TrimPrefix(typed, "$.")), ".") {
		s := scanner{text: "." + key}
		isKey := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" _-", r) }
		if s.path(); s.err == nil && s.atEnd() && key != "" {
			path += s.text
		} else if trimmed := strings.TrimFunc(key, isKey); key != "" && trimmed == "" {
			path += `["` + key + `"]`
		} else {
			return keyHint
		}
	}
	return ": " + Operand(strings.TrimPrefix(path, ".")+after) + keyHint
}

// signs are what other languages write between names, and around indexes.
var signs = strings.NewReplacer("->", ".", "::", ".", "/", ".", "(", "[", ")", "]", "{", "[", "}", "]")

// Parse parses a path. The $ is optional.
func Parse(text string) (Path, error) {
	s := scanner{text: text}
	p := s.path()
	if !s.atEnd() {
		s.errorf("unexpected %s%s", s.rest(), pathHint(text, ""))
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

// start parses a line up to the value. As in GDScript, the value can be the path and a change: hp = hp * 2.
func (s *scanner) start() (p Path, change string) {
	p = s.path()
	path := s.text[:s.pos]
	s.space()
	start := s.pos
	if s.separator() == "" {
		hint := ""
		if value, isValue := strings.CutPrefix(s.text[start:], ":"); (isValue || start > len(path)) && !strings.Contains(value, "=") && value != "" {
			op := "= "
			if n := len(value) - len(strings.TrimLeft(value, "+*/")); n > 0 {
				op = value[:n] + op
				value = value[n:]
			}
			hint = ": " + Operand(path+" "+op+strings.TrimSpace(value))
		} else if array, call := strings.CutSuffix(path, ".append"); call && s.isNext("(") {
			hint = ": gdwire add " + Operand(array+"[+] = "+strings.TrimSuffix(s.text[s.pos+1:], ")"))
		} else if op := s.text[start:]; op == "++" || op == "--" {
			hint = ": " + Operand(path+" "+op[:1]+"= 1")
		} else if i := strings.IndexByte(op, '='); 0 < i && i < 3 && strings.Trim(op[:i], "|&^%<>*") == "" {
			hint = "; +=, -=, *= and /= change one"
		} else if !s.atEnd() {
			typed, _, _ := strings.Cut(s.text, "=")
			typed = strings.TrimRight(typed, "+-*/ ")
			hint = pathHint(typed, s.text[len(typed):])
		}
		s.errorf("want = and a value%s", hint)
	}
	change = strings.TrimSuffix(s.text[start:s.pos], "=")
	s.space()
	if again := *s; change == "" && again.accept(path) {
		again.space()
		if op := again.take(min(1, len(again.text)-again.pos)); slices.Contains(changes, op+"=") {
			again.space()
			*s, change = again, op
		}
	}
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
	change := ":"
	if !s.accept(change) {
		change = s.separator()
	}
	if change == "" {
		s.errorf("want = and a value")
	}
	s.space()
	return path + steps + " " + strings.Replace(change, ":", "=", 1) + " " + s.text[s.pos:], s.failed()
}

// separator skips what separates a path from its value, and returns it, or "" if nothing does.
func (s *scanner) separator() string {
	for _, text := range append(changes, "=") {
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
	if after := value; value.err == nil && v.isPathKey() && (after.atEnd() || after.isNext(":") || after.separator() != "") {
		*s = value
		return v
	}
	rest := s.text[s.pos:]
	if n := strings.IndexAny(rest, "=:"); n >= 0 {
		isChange := rest[n] == '='
		if rest = rest[:n]; isChange {
			rest = strings.TrimRight(rest, "+-*/")
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
	for _, change := range changes {
		if s.accept(change) {
			return s.change(change[:1]), s.failed()
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

// insideStep is the text of a step with Op Inside to the first value.
const insideStep = ".value()"

// AppendInside appends the step to value n in the bytes of a PackedByteArray: .value(), or .value()$2.
func AppendInside(dst []byte, n int64) []byte {
	if dst = append(dst, insideStep...); n == 0 {
		return dst
	}
	return AppendPacket(dst, n)
}

// Ellipsis is the end of a cut path or key.
const Ellipsis = "…"

// AppendPacket appends the path of packet n: $, $2, or $* for AllPackets.
func AppendPacket(dst []byte, n int64) []byte {
	dst = append(dst, '$')
	switch n {
	case 0:
		return dst
	case AllPackets:
		return append(dst, '*')
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
	case Inside:
		return AppendInside(dst, s.Index)
	case End:
		return append(dst, appendStep...)
	case All:
		return append(dst, everyStep...)
	case Range:
		dst = append(strconv.AppendInt(append(dst, '['), s.Index, 10), ':')
		if s.After != math.MaxInt64 {
			dst = strconv.AppendInt(dst, s.After, 10)
		}
		return append(dst, ']')
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
	if s.isNext("$*") {
		first, p.Packet = false, AllPackets
		s.take(2)
	} else if s.isNext("$") {
		first, p.Packet = false, s.packet()
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
		case s.accept(everyStep), s.accept("[]"), s.accept(".*"): // the others as in jq and JSONPath
			step.Op = All
		case s.accept("["):
			step = s.key()
		case s.accept(".key("):
			step.Op = KeyAt
			step.Index = s.index()
		case s.accept(insideStep):
			step.Op, step.Index = Inside, s.packet()
		case s.accept(".value("):
			step.Op = ValueAt
			step.Index = s.index()
		case s.accept("."), first && (wire.NameLen(s.text) > 0 || s.isQuote() || s.text != "" && '0' <= s.text[0] && s.text[0] <= '9'):
			step.Key = s.name()
			p.Bare = p.Bare || step.Key.Type == gdwire.TypeInt
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

// packet parses $ and the number of a packet, which are 0 if omitted.
func (s *scanner) packet() int64 {
	n := ""
	if s.accept("$") {
		n = s.digits(decimal)
	}
	if n == "" {
		return 0
	}
	i, err := strconv.ParseInt(n, 10, 64)
	if err != nil {
		s.errorf("packet %s is out of range", n)
	}
	return i
}

// In returns the range among n elements.
func (s *Step) In(n int64) (first, after int64) {
	clip := func(i int64) int64 {
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	if s.Op == All {
		return 0, n
	}
	return clip(s.Index), clip(s.After)
}

// isRoot reports whether the path is a dot alone, as in jq the path of the whole value.
func (s *scanner) isRoot() bool {
	rest := s.text[s.pos:]
	return rest == "." || strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ".=")
}

// name parses the name after a dot, or a text in quotes, as in jq, or the number of an element.
func (s *scanner) name() Value {
	if s.isQuote() {
		return Value{Type: gdwire.TypeString, Text: s.quoted()}
	}
	n := wire.NameLen(s.text[s.pos:])
	if n == 0 {
		at := s.text[:max(s.pos-1, 0)]
		i, err := parseInt(strings.ReplaceAll(s.digits(decimal), "_", ""), 64)
		if err != nil {
			s.errorf(`want a name; an index is written %s[0], and other keys ["…"]`, at)
		}
		return Value{Type: gdwire.TypeInt, Int: i}
	}
	return Value{Type: gdwire.TypeString, Text: s.take(n)}
}

// index parses the number of a pair and the parenthesis after it.
func (s *scanner) index() int64 {
	n, err := strconv.ParseInt(s.digits(decimal), 10, 64)
	if err != nil {
		s.errorf("want the number of a pair")
	}
	s.want(")", ")")
	return n
}

// key parses a key, or a range of elements, [a:b], and the bracket after it.
func (s *scanner) key() Step {
	s.space()
	start, v := s.pos, Value{Type: gdwire.TypeInt}
	if !s.isNext(":") {
		v = s.value()
	}
	if n := wire.NameLen(s.text[start:]); s.err != nil && s.err.Column == start+1 && n > 0 && s.text[start+n:] != "" && s.text[start+n] == ']' {
		s.err, s.pos = nil, start // a shell takes the quotes of ["name"]
		v = Value{Type: gdwire.TypeString, Text: s.take(n)}
	}
	if s.space(); v.Type == gdwire.TypeInt && s.accept(":") {
		return s.elements(v.Int)
	}
	if s.err == nil && !v.isPathKey() {
		s.pos = start
		if v.Bare {
			s.errorf("nothing tells the type of %v: write it, such as Vector2%[1]v or Vector2i%[1]v", v)
		}
		s.errorf("%s is not a key; .key(n) and .value(n) are the n-th pair", s.rest())
	} else if end := strings.IndexByte(s.text[s.pos:], ']'); end > 0 && s.isNext(",") {
		s.errorf("want ]; an element of an element is [%s][%s]", s.text[start:s.pos], strings.TrimSpace(s.text[s.pos+1:s.pos+end]))
	}
	if first, last := int64(0), int64(0); !s.isNext("]") {
		if index, after, ok := strings.Cut(s.text[start:], "."); ok && strings.Trim(index, decimal) == "" && wire.NameLen(after) > 0 {
			s.errorf("want ]: %s", Operand(s.text[:start]+index+"]."+after))
		}
		if n, _ := fmt.Sscanf(s.text[start:], "%d..%d", &first, &last); n == 2 {
			s.errorf("want ]; elements %d to %d are [%d:%d]", first, last, first, last+1)
		}
	}
	s.close("]")
	return Step{Key: v}
}

// elements parses the end of a range of elements and the bracket after it.
func (s *scanner) elements(first int64) Step {
	step := Step{Op: Range, Index: first, After: math.MaxInt64}
	s.space()
	if n, isFloat := s.number(); isFloat {
		s.errorf("want an index and not %s", n)
	} else if n != "" {
		step.After, _ = parseInt(n, 64) // the nearest
	}
	s.close("]")
	return step
}

// FromToken returns the value of a token, with numbers appended to numbers. A container becomes
// its declared types and whether it is empty; a NodePath, PackedByteArray or Image becomes a
// value without content.
func FromToken(t gdwire.Token, numbers []float64) Value {
	v := Value{Type: t.Type(), Numbers: numbers}
	switch t.Kind() {
	case gdwire.KindBool:
		if t.Bool() {
			v.Int = 1
		}
	case gdwire.KindInt32, gdwire.KindInt64:
		v.Int = t.Int()
	case gdwire.KindFloat32, gdwire.KindFloat64:
		v.Numbers = append(v.Numbers, t.Float())
	case gdwire.KindStringChunk:
		v.Text = t.Text()
	case gdwire.KindProperty:
		v.Type, v.Text = gdwire.TypeString, t.Text()
	case gdwire.KindRID:
		v.Int, v.NoID = int64(t.ID()), t.Width() == 0
	case gdwire.KindObjectID:
		v.Int = int64(t.ID())
	case gdwire.KindSignal:
		v.Int, v.Text = int64(t.ID()), t.Text()
	case gdwire.KindImageStart:
		format, mipmaps, width, height := t.Image()
		v.Numbers = append(v.Numbers, float64(format), float64(mipmaps), float64(width), float64(height))
	case gdwire.KindInputEvent:
		event, device := t.Event()
		v.Numbers = append(v.Numbers, float64(event), float64(device))
		v.Text = t.Text()
	case gdwire.KindObjectStart:
		v.Form, v.Text = Declared, t.Text()
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindPackedStart:
		v.Key, v.Elem = t.KeyElem(), t.Elem()
		switch {
		case t.Type() == gdwire.TypePackedByteArray:
		case t.Len() == 0:
			v.Form = Empty
		default:
			v.Form = Declared
		}
	default:
		v.Numbers = t.AppendComponents(v.Numbers)
		v.Single = t.Width() == 32
	}
	return v
}

// Write writes a value of Form Whole or Empty, with numbers rounded to 32 bits unless double is
// set. double must equal the Encoder's DoubleReals.
func (v *Value) Write(e *gdwire.Encoder, double bool) error {
	if v.Items != nil || v.Form == Empty {
		return v.writeItems(e, double)
	}
	switch v.Type {
	case gdwire.TypeNil:
		return e.WriteNil()
	case gdwire.TypeBool:
		return e.WriteBool(v.Int != 0)
	case gdwire.TypeInt:
		return e.WriteInt(v.Int)
	case gdwire.TypeFloat:
		return e.WriteFloat(v.Numbers[0])
	case gdwire.TypeString:
		return e.WriteString(v.Text)
	case gdwire.TypeStringName:
		return e.WriteStringName(v.Text)
	case gdwire.TypeNodePath:
		return e.WriteNodePath(v.Text)
	case gdwire.TypeRID:
		return e.WriteRID(uint64(v.Int))
	case gdwire.TypeObject:
		return e.WriteObjectID(uint64(v.Int))
	case gdwire.TypeCallable:
		return e.WriteCallable()
	case gdwire.TypeSignal:
		return e.WriteSignal(v.Text, uint64(v.Int))
	case gdwire.TypeImage:
		n := v.Numbers
		_ = e.BeginImage(uint32(n[0]), uint32(n[1]), uint32(n[2]), uint32(n[3]), int64(len(v.Text)))
		return v.writeText(e)
	case gdwire.TypeInputEvent:
		return e.WriteInputEvent(uint32(v.Numbers[0]), uint32(v.Numbers[1]), []byte(v.Text))
	}
	switch n, integers := v.Type.Components(); {
	case n == 0: // packed
		_ = e.BeginPacked(v.Type, int64(len(v.Text)))
		return v.writeText(e)
	case integers:
		c := make([]int32, n)
		for i, x := range v.Numbers {
			c[i] = int32(x)
		}
		return gdwire.WriteComponents(e, v.Type, c)
	}
	c := make([]float64, len(v.Numbers))
	for i, x := range v.Numbers {
		c[i] = x
		if !double {
			c[i] = Round32(x)
		}
	}
	return gdwire.WriteComponents(e, v.Type, c)
}

// writeItems writes a container and its content.
func (v *Value) writeItems(e *gdwire.Encoder, double bool) (err error) {
	switch v.Type {
	case gdwire.TypeArray:
		if v.Bare {
			return fmt.Errorf("nothing tells the type of %v: write it, such as Vector2(7, 8)", v)
		}
		err = e.BeginTypedArray(len(v.Items), v.Elem)
	case gdwire.TypeDictionary:
		err = e.BeginTypedDict(len(v.Items)/2, v.Key, v.Elem)
	case gdwire.TypeObject:
		err = e.BeginObject(v.Text, len(v.Items)/2)
	default:
		return v.writePacked(e, double)
	}
	for i := range v.Items {
		switch {
		case err != nil:
		case v.Type == gdwire.TypeObject && i%2 == 0:
			err = e.WriteProperty(v.Items[i].Text)
		default:
			err = v.Items[i].Write(e, double)
		}
	}
	if err == nil {
		err = e.End()
	}
	return err
}

// writePacked writes a packed array.
func (v *Value) writePacked(e *gdwire.Encoder, double bool) error {
	err := e.BeginPacked(v.Type, int64(len(v.Items)))
	part := Part{In: v.Type, Bits: elementBits(v.Type, double)}
	for i := range v.Items {
		if err != nil {
			break
		}
		if v.Type == gdwire.TypePackedStringArray {
			err = e.WriteString(v.Items[i].Text)
			continue
		}
		var b []byte
		if b, err = part.Append(nil, &v.Items[i]); err == nil {
			_, err = e.Write(b)
		}
	}
	if err == nil {
		err = e.End()
	}
	return err
}

// elementBits returns the number of bits of each number of a packed array.
func elementBits(packed gdwire.Type, double bool) int {
	if n, _ := packed.Element().Components(); n > 0 && double && packed != gdwire.TypePackedColorArray {
		return 64
	}
	return packed.ElementWidth()
}

// Round32 rounds x to 32 bits, unless x is too large.
func Round32(x float64) float64 {
	if r := float64(float32(x)); !math.IsInf(r, 0) {
		return r
	}
	return x
}

// writeText writes the bytes of a PackedByteArray or Image, and the End. It returns the error of the call
// before, which all calls return.
func (v *Value) writeText(e *gdwire.Encoder) error {
	if v.Text != "" {
		_, _ = e.Write([]byte(v.Text))
	}
	return e.End()
}

// MaxKey is the maximum length of a key in a path, in bytes. Pairs with a longer key are
// .key(n) and .value(n).
const MaxKey = 1 << 10

// KeyStep reads the key starting with t and returns the step to the value. For a key that
// cannot be part of a path, it calls long, for a NodePath with its reader and the text
// read so far, and returns false.
func KeyStep(d *gdwire.Decoder, t gdwire.Token, numbers []float64, long func(r *NodePathReader, text []byte) error) (Step, bool, error) {
	switch t.Kind() {
	case gdwire.KindStringChunk:
		if !t.Last() || len(t.Bytes()) > MaxKey {
			return Step{}, false, long(nil, nil)
		}
	case gdwire.KindNodePathStart:
		r := NewNodePathReader(d, t)
		text, whole, err := r.Short()
		if err != nil {
			return Step{}, false, err
		}
		if !whole || r.ambiguous {
			return Step{}, false, long(r, text)
		}
		return Step{Key: Value{Type: gdwire.TypeNodePath, Text: string(text)}}, true, nil
	}
	key := FromToken(t, numbers)
	if !key.IsKey() || slices.ContainsFunc(key.Numbers, otherNaN) {
		return Step{}, false, long(nil, nil)
	}
	return Step{Key: key}, true, nil
}

// nan is the NaN of engines' constant NAN, and of nan in paths and values.
var nan = math.Float64frombits(0x7FF8 << 48)

// otherNaN reports whether x is a NaN with other bits than nan. Both are printed the same.
func otherNaN(x float64) bool { return x != x && math.Float64bits(x) != math.Float64bits(nan) }

// A NodePathReader reads the names of a NodePath and their separators.
type NodePathReader struct {
	d         *gdwire.Decoder
	names     wire.NodePathNames
	started   bool // something was read
	ended     bool // the End was read
	ambiguous bool // the text of another NodePath is the same
}

// NewNodePathReader returns a reader of the NodePath starting with the latest token.
func NewNodePathReader(d *gdwire.Decoder, start gdwire.Token) *NodePathReader {
	names, _, absolute := start.NodePath()
	return &NodePathReader{d: d, names: wire.NamesOf(names, absolute, false)} // one string is as ambiguous
}

// Short reads up to MaxKey bytes and reports whether these are the whole NodePath.
func (r *NodePathReader) Short() (text []byte, whole bool, err error) {
	for len(text) <= MaxKey {
		separator, t, err := r.Next()
		text = append(text, separator...)
		if err != nil || t.Kind() == gdwire.KindEnd {
			return text, true, err
		}
		text = append(text, t.Bytes()...)
	}
	return text, false, nil
}

// Next returns the next chunk of a name with the separator before it, or reads the End, and
// returns the End again in later calls.
func (r *NodePathReader) Next() (separator string, t gdwire.Token, err error) {
	if r.ended {
		return "", gdwire.End(), nil
	}
	t, err = r.d.ReadToken()
	if err != nil {
		return "", t, err
	}
	if !r.started {
		r.started, separator = true, r.names.Start()
	}
	if t.Kind() == gdwire.KindEnd {
		r.ended = true
		return separator, t, nil
	}
	next, wrong := r.names.Next(t.Bytes(), t.Last())
	r.ambiguous = r.ambiguous || wrong != nil
	if next != 0 {
		separator += string(rune(next))
	}
	return separator, t, nil
}
