package text

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// words contains the values written as a word, in any case.
var words = map[string]Value{
	"null":  {Type: gdwire.TypeNil},
	"true":  {Type: gdwire.TypeBool, Int: 1},
	"false": {Type: gdwire.TypeBool},
}

// prefixes contains the prefixes of values written with their type, as in Godot's JSON.
var prefixes = []struct {
	text string
	typ  gdwire.Type
}{
	{"i:", gdwire.TypeInt}, {"f:", gdwire.TypeFloat}, {"b:", gdwire.TypeBool},
	{"s:", gdwire.TypeString}, {"sn:", gdwire.TypeStringName}, {"np:", gdwire.TypeNodePath},
}

// operand parses the value at the end of a line.
func (s *scanner) operand() (v Value) {
	for _, p := range prefixes {
		if s.accept(p.text) {
			v = s.exact(p.typ)
			v.Exact = true
			break
		}
	}
	if start := s.pos; !v.Exact {
		v = s.value()
		if e := s.err; e != nil && e.Column == start+1 && strings.HasSuffix(e.Reason, textHint) { // not in a container
			e.Reason = strings.TrimSuffix(e.Reason, textHint)
			if after, ok := strings.CutPrefix(s.text[start:], "="); ok {
				e.Reason += "; with one =: " + Operand(strings.TrimSpace(s.text[:start])+" "+strings.TrimSpace(after))
			} else {
				e.Quoted = s.text[:start] + string(AppendQuoted(nil, s.text[start:]))
			}
		} else if e != nil {
			if e.Quoted = inQuotes(s.text, start); e.Quoted != "" {
				e.Reason = strings.TrimSuffix(e.Reason, textHint)
			}
		}
	}
	if s.space(); !s.atEnd() {
		s.errorf("unexpected %s", s.rest())
	}
	return v
}

// inQuotes returns a line with those words in a container, from start on, in quotes that are no values, as a shell takes their quotes,
// or "" if this is not all that is wrong.
func inQuotes(line string, start int) string {
	for {
		s := scanner{text: line, pos: start}
		if s.value(); s.err == nil && s.atEnd() {
			return line
		} else if s.err == nil {
			return ""
		}
		at := s.err.Column - 1
		n := strings.IndexAny(line[at:], ",]}")
		if n <= 0 || !strings.HasSuffix(s.err.Reason, textHint) {
			return ""
		}
		line = line[:at] + string(AppendQuoted(nil, line[at:at+n])) + line[at+n:]
	}
}

// change parses the value of a change, or any other value if change is empty.
func (s *scanner) change(change string) Value {
	v := s.operand()
	v.Change = change
	return v
}

// textHint ends the error for a word that is no value.
const textHint = `; text is written "…"`

// exact parses the value after a prefix. Text is in quotes or goes to the end of the line.
func (s *scanner) exact(t gdwire.Type) Value {
	if textTypes[t] && !s.isQuote() {
		return textOf(s.take(len(s.text)-s.pos), t)
	}
	start := s.pos
	v := s.value()
	if s.err != nil {
		return v
	}
	fit, ok := v.Fit(t)
	if !ok {
		s.pos = start
		s.errorf("want a value of type %v and not %s", t, s.rest())
	}
	return fit
}

// value parses a value.
func (s *scanner) value() Value {
	switch {
	case s.atEnd():
		s.errorf("want a value")
		return Value{}
	case s.isQuote():
		return textOf(s.quoted(), gdwire.TypeString)
	case s.accept("&"):
		return textOf(s.quoted(), gdwire.TypeStringName)
	case s.accept("^"):
		return textOf(s.quoted(), gdwire.TypeNodePath)
	case s.isNext("["):
		return s.items(Value{Type: gdwire.TypeArray})
	case s.isNext("("):
		v := s.items(Value{Type: gdwire.TypeArray, Bare: true})
		if len(v.Items) == 1 { // as in GDScript
			return v.Items[0]
		}
		return v
	case s.isNext("#"):
		return s.color(s.take(1 + len(s.text[s.pos+1:]) - len(strings.TrimLeft(s.text[s.pos+1:], hexa))))
	case s.isNext("{"):
		return s.items(Value{Type: gdwire.TypeDictionary})
	}
	if text, float := s.number(); text != "" {
		v := Value{Type: gdwire.TypeInt}
		var err error
		if float {
			v = Value{Type: gdwire.TypeFloat, Numbers: make([]float64, 1)}
			v.Numbers[0], err = parseFloat(text)
		} else {
			v.Int, err = parseInt(text, 64)
		}
		if err != nil {
			s.errorf("%s is out of range", text)
		}
		return v
	}
	start := s.pos
	name := s.take(wire.NameLen(s.text[s.pos:]))
	if v, ok := words[strings.ToLower(name)]; ok {
		return v
	}
	v, ok := s.named(name)
	if !ok {
		s.pos = start
		s.errorf("want a value and not %s"+textHint, s.rest())
	}
	return v
}

// parseFloat parses a number of this grammar. A number that rounds to infinity is out of
// range.
func parseFloat(text string) (float64, error) {
	if text == "nan" {
		return nan, nil
	}
	if strings.ContainsAny(text, "xb") {
		n, err := parseInt(text, 64)
		return float64(n), err
	}
	return strconv.ParseFloat(text, 64)
}

// parseInt parses a decimal number, a hexadecimal one after 0x, or a binary one after 0b.
func parseInt(text string, bits int) (int64, error) {
	base := 10
	if strings.ContainsAny(text, "xb") {
		base = 0
	}
	return strconv.ParseInt(text, base, bits)
}

// items parses the content of a container in brackets or braces.
func (s *scanner) items(v Value) Value {
	if s.depth > MaxNesting { // containers, and a packed array in them
		s.errorf("more than %d values in each other", MaxNesting)
		return v
	}
	s.depth++
	end := map[string]string{"[": "]", "{": "}", "(": ")"}[s.take(1)]
	for s.space(); s.err == nil && !s.accept(end); s.space() {
		if len(v.Items) > 0 {
			s.want(",", ", or "+end)
			if s.space(); s.accept(end) { // as in GDScript
				break
			}
		}
		if end == "}" {
			v.Items = append(v.Items, s.pairOf())
			s.space()
		}
		v.Items = append(v.Items, s.value())
	}
	s.depth--
	if v.Form = Whole; v.Items == nil {
		v.Form = Empty
	}
	return v
}

// pairOf parses the key of a pair in braces, and the : or = after it. As in GDScript, a name before = is text, and so is one before :
// that is no value, as a shell leaves {"id": 4} without its quotes.
func (s *scanner) pairOf() Value {
	number, named := *s, *s
	digits, _ := number.number() // nan
	name := named.take(wire.NameLen(s.text[s.pos:]))
	named.space()
	_, isWord := words[strings.ToLower(name)]
	if name != "" && (named.accept("=") || digits == "" && !isWord && named.accept(":")) {
		*s = named
		return Value{Type: gdwire.TypeString, Text: name}
	}
	key := s.value()
	s.space()
	s.want(":", ": and the value of the key")
	return key
}

// call parses the content of a container in parentheses after its type, if there is one.
func (s *scanner) call(v Value) Value {
	start, bracket := s.pos, "["
	if v.Type == gdwire.TypeDictionary {
		bracket = "{"
	}
	if !s.accept("(") {
		return v
	}
	if s.space(); !s.isNext(bracket) {
		s.pos = start
		return v
	}
	v = s.items(v)
	s.close(")")
	return v
}

// named parses the value after the name of a type, and reports whether there is such a type.
func (s *scanner) named(name string) (_ Value, ok bool) {
	if name == objectID {
		return s.arguments(Value{Type: gdwire.TypeObject}), true
	}
	if start := s.pos; strings.HasPrefix(name, gdwire.TypeColor.String()) {
		call := name
		if s.accept(".") {
			call += "." + s.take(wire.NameLen(s.text[s.pos:]))
		}
		if of := colorCalls[call]; of != nil && s.isNext("(") {
			return s.colorCall(of), true
		}
		s.pos = start
	}
	v := Value{Type: types()[name]}
	switch {
	case v.Type == gdwire.TypeObject:
		return s.object(v), true
	case v.Type == gdwire.TypeArray, v.Type == gdwire.TypeDictionary:
		return s.call(s.declared(v)), true
	case v.Type == gdwire.TypePackedByteArray && s.isNext("(["):
		list := s.call(Value{Type: gdwire.TypeArray})
		if v, ok = list.Fit(v.Type); !ok {
			s.errorf("want numbers from 0 to 255")
		}
		return v, true
	case v.Type.Element() != 0 && v.Type != gdwire.TypePackedByteArray:
		if v.Form = Declared; s.accept("()") {
			v.Form = Empty
			return v, true
		}
		return s.call(v), true
	}
	if _, ok := signatures()[v.Type]; !ok {
		return v, false
	}
	if n, _ := v.Type.Components(); n == 0 {
		return s.arguments(v), true
	}
	if v.Type == gdwire.TypeColor && !s.accept(".html") { // Color.html("#f00") is Color("#f00"), and Color.hex(0xff0000ff) Color(0xff0000ff)
		s.accept(".hex")
	}
	if s.accept(".") {
		return s.constant(v.Type), true
	}
	return s.components(v), true
}

// object parses the class of an Object and, if they follow, the properties.
func (s *scanner) object(v Value) Value {
	v.Form = Declared
	s.open("(")
	v.Text = s.quoted()
	if s.space(); s.accept(",") {
		if s.space(); s.isNext("{") {
			v = s.items(v)
		} else {
			s.errorf("want { and the properties")
		}
	}
	for i := 0; i < len(v.Items) && s.err == nil; i += 2 {
		if name := &v.Items[i]; name.Type != gdwire.TypeString {
			s.errorf(`a property has a name, such as "name", and not %v`, name)
		}
	}
	s.close(")")
	return v
}

// arguments parses the arguments of a call.
func (s *scanner) arguments(v Value) Value {
	if v.Type == gdwire.TypeRID && s.accept("()") {
		v.NoID = true
		return v
	}
	s.open("(")
	for i, arg := range v.signature() {
		if i > 0 {
			if s.space(); !s.accept(",") {
				s.errorf("%s has %d arguments", v.Type, len(v.signature()))
			}
			s.space()
		}
		s.argument(&v, arg)
	}
	s.close(")")
	return v
}

func (s *scanner) argument(v *Value, arg rune) {
	switch arg {
	case 's':
		v.Text = textOf(s.quoted(), v.Type).Text
		return
	case 'x':
		v.Text = s.hex()
		return
	}
	var err error
	text, float := s.number()
	switch {
	case text == "":
		s.errorf("want a number")
	case arg == 'r':
		var x float64
		x, err = parseFloat(text)
		v.Numbers = append(v.Numbers, x)
	case float:
		s.errorf("%s is not an integer", text)
	case arg == 'd':
		v.Int, err = parseInt(text, 64)
	case arg == 'u':
		var x uint64
		x, err = strconv.ParseUint(text, 10, 32)
		v.Numbers = append(v.Numbers, float64(x))
	default:
		var x int64
		x, err = parseInt(text, 32)
		v.Numbers = append(v.Numbers, float64(x))
	}
	if err != nil {
		s.errorf("%s is out of range", text)
	}
}

// components parses the components of a math type: as numbers, or several as a value, as in Rect2(Vector2(1, 2), Vector2(3, 4)).
// A Color can be written with the code or name of another one, and without alpha.
func (s *scanner) components(v Value) Value {
	const alpha = 3
	s.open("(")
	numbers := v.signature()
	for s.err == nil && len(v.Numbers) < len(numbers) {
		if len(v.Numbers) > 0 {
			if s.space(); v.Type == gdwire.TypeColor && len(v.Numbers) == alpha && s.isNext(")") {
				v.Numbers = append(v.Numbers, 1)
				break
			}
			if !s.accept(",") {
				s.errorf("%s has %d arguments", v.Type, len(numbers))
			}
			s.space()
		}
		s.component(&v, rune(numbers[0]), len(numbers)-len(v.Numbers))
	}
	if s.space(); v.Type == gdwire.TypeColor && len(v.Numbers) > alpha && v.Single && s.accept(",") { // Color("red", 0.5)
		v.Numbers = v.Numbers[:alpha]
		s.space()
		s.argument(&v, 'r')
	}
	s.close(")")
	return v
}

// component parses the next component of v, or all those that the next value has, at most n.
func (s *scanner) component(v *Value, kind rune, n int) {
	start := s.pos
	isFirst := v.Type == gdwire.TypeColor && n == len(v.signature())
	after := *s
	code, _ := after.number()
	name := s.text[start:][:wire.NameLen(s.text[start:])]
	part, integers := types()[name].Components()
	// The axes of a Basis are its columns, and its numbers the rows.
	isAxis := v.Type == gdwire.TypeBasis || v.Type == gdwire.TypeTransform3D && part == 3 && n > 3
	isWhole := part == len(v.signature()) && !s.isNext("Color.") // and could be in itself again and again
	switch {
	case isFirst && s.isQuote():
		*v = s.color(s.quoted())
	case isFirst && strings.HasPrefix(code, "0x") && len(code) == len("0xff8000ff"):
		*s, *v = after, s.color(code[len("0x"):])
	case part == 0 || part > n || isAxis || isWhole || integers != (kind == 'i'):
		s.argument(v, kind)
	default:
		inner := s.value()
		v.Numbers = append(v.Numbers, inner.Numbers...)
		v.Single = v.Type == gdwire.TypeColor && inner.Single
	}
}

// color returns the Color of a code, such as #ff0000, or of a name.
func (s *scanner) color(code string) Value {
	v, ok := ColorOf(code)
	if !ok {
		s.errorf(`want a color, such as "#ff8000" or "orange", and not %s`, strconv.Quote(code))
	}
	return v
}

// colorCalls contains functions of GDScript that return a Color, as what they make of their arguments.
var colorCalls = map[string]func([]float64){
	"Color8": from8Bits, "Color.from_rgba8": from8Bits,
	"Color.from_hsv": func(v []float64) {
		hue, saturation, value := v[0], v[1], v[2]
		for i, n := range []float64{5, 3, 1} {
			k := math.Mod(n+hue*6, 6)
			v[i] = value * (1 - saturation*max(0, min(k, 4-k, 1)))
		}
	},
}

func from8Bits(v []float64) {
	for i := range v {
		v[i] /= 255
	}
}

// colorCall parses the arguments of a function that returns a Color.
func (s *scanner) colorCall(of func([]float64)) Value {
	list := s.items(Value{Type: gdwire.TypeArray, Bare: true})
	v, ok := list.components(gdwire.TypeColor)
	if !ok {
		s.errorf("want the 3 or 4 numbers of a Color")
		return v
	}
	of(v.Numbers[:len(list.Items)]) // without the alpha that is missing
	for i, x := range v.Numbers {
		v.Numbers[i] = float64(float32(x))
	}
	v.Single = true
	return v
}

// constant parses the name of a constant of a type: Color.RED, Vector2.UP.
func (s *scanner) constant(t gdwire.Type) Value {
	name := s.take(wire.NameLen(s.text[s.pos:]))
	if t == gdwire.TypeColor && !strings.Contains("_"+name+"_", "__") {
		return s.color(name)
	}
	n, _ := t.Components()
	numbers, ok := constants[n][strings.ToUpper(name)]
	if !ok || !isVector(t) {
		s.errorf("%v has no constant %s", t, name)
	}
	return Value{Type: t, Numbers: slices.Clone(numbers)}
}

// hex parses bytes as hexadecimal digits in quotes.
func (s *scanner) hex() string {
	start := s.pos
	b, err := hex.DecodeString(s.quoted())
	if err != nil {
		s.pos = start
		s.errorf("want bytes as hexadecimal digits")
	}
	return string(b)
}

// ParseDeclared parses the type of an Array or Dictionary with declared types: Array[int].
func ParseDeclared(text string) (Value, error) {
	s := scanner{text: text}
	v := Value{Type: types()[s.take(wire.NameLen(text))]}
	if v.Type != gdwire.TypeArray && v.Type != gdwire.TypeDictionary {
		s.pos = 0
		s.errorf("no type")
	}
	v = s.declared(v)
	if !s.atEnd() {
		s.errorf("unexpected %s", s.rest())
	}
	return v, s.failed()
}

// declared parses the declared types of an Array or Dictionary.
func (s *scanner) declared(v Value) Value {
	v.Form = Declared
	empty := "[]"
	s.open("[")
	if v.Type == gdwire.TypeDictionary {
		empty = "{}"
		v.Key = s.elem()
		s.space()
		s.want(",", "the types of keys and values")
		s.space()
	}
	v.Elem = s.elem()
	s.close("]")
	if v.Key == (gdwire.Elem{}) && v.Elem == (gdwire.Elem{}) {
		s.errorf("without types it is written %s", empty)
	}
	return v
}

// elem parses a declared type.
func (s *scanner) elem() gdwire.Elem {
	n := wire.NameLen(s.text[s.pos:])
	if n == 0 {
		class := s.accept("&")
		name := s.quoted()
		if name == "" {
			s.errorf("want the name of a class or script")
		}
		if class {
			return gdwire.Elem{Type: gdwire.TypeObject, Class: name}
		}
		return gdwire.Elem{Type: gdwire.TypeObject, Script: name}
	}
	name := s.take(n)
	switch t := types()[name]; {
	case name == variant:
		return gdwire.Elem{}
	case t == gdwire.TypeNil || t != 0 && !gdwire.Godot4.Has(t):
		s.errorf("nothing is declared to be %s", name)
		return gdwire.Elem{}
	case t != 0:
		return gdwire.Elem{Type: t}
	}
	return gdwire.Elem{Type: gdwire.TypeObject, Class: name}
}
