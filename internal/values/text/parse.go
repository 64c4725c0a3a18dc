package text

import (
	"encoding/hex"
	"fmt"
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
				e.Reason += "; with one =: " + strings.TrimSpace(s.text[:start]) + " " + strings.TrimSpace(after)
			} else {
				e.Quoted = s.text[:start] + string(AppendQuoted(nil, s.text[start:]))
			}
		}
	}
	if s.space(); !s.atEnd() {
		s.errorf("unexpected %s", s.rest())
	}
	return v
}

// change parses a value to add or subtract, or any other value if change is empty.
func (s *scanner) change(change string) Value {
	start := s.pos
	v := s.operand()
	if v.Change = change; change != "" && v.Type != gdwire.TypeInt && v.Type != gdwire.TypeFloat {
		s.pos = start
		s.errorf("%s= takes a number and not %s", change, s.rest())
	}
	return v
}

// Result returns the value in place of old: v itself, or the sum or difference.
func (v *Value) Result(old *Value) (Value, error) {
	if v.Change == "" {
		return *v, nil
	}
	sum := *old
	fit, ok := v.Fit(old.Type)
	switch {
	case !ok || old.Type != gdwire.TypeInt && old.Type != gdwire.TypeFloat:
		return *v, fmt.Errorf("%v cannot be added to %v, of type %v", v, old, old.Type)
	case old.Type == gdwire.TypeFloat && v.Change == "-":
		sum.Numbers = []float64{old.Numbers[0] - fit.Numbers[0]}
	case old.Type == gdwire.TypeFloat:
		sum.Numbers = []float64{old.Numbers[0] + fit.Numbers[0]}
	case v.Change == "-":
		sum.Int = old.Int - fit.Int
		ok = (sum.Int < old.Int) == (fit.Int > 0)
	default:
		sum.Int = old.Int + fit.Int
		ok = (sum.Int > old.Int) == (fit.Int > 0)
	}
	if !ok {
		return *v, fmt.Errorf("%v %s %v is out of range", old, v.Change, v)
	}
	return sum, nil
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
	return strconv.ParseFloat(text, 64)
}

// parseInt parses a decimal number, or a hexadecimal one after 0x.
func parseInt(text string, bits int) (int64, error) {
	base := 10
	if sign, digits, ok := strings.Cut(strings.ToLower(text), "0x"); ok {
		text, base = sign+digits, 16
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
	end := "]"
	if s.take(1) == "{" {
		end = "}"
	}
	for s.space(); s.err == nil && !s.accept(end); s.space() {
		if len(v.Items) > 0 {
			s.want(",", ", or "+end)
			s.space()
		}
		v.Items = append(v.Items, s.value())
		if end == "}" {
			s.space()
			s.want(":", ": and the value of the key")
			s.space()
			v.Items = append(v.Items, s.value())
		}
	}
	s.depth--
	if v.Form = Whole; v.Items == nil {
		v.Form = Empty
	}
	return v
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
	v := Value{Type: types[name]}
	switch {
	case v.Type == gdwire.TypeObject:
		return s.object(v), true
	case v.Type == gdwire.TypeArray, v.Type == gdwire.TypeDictionary:
		return s.typed(v), true
	case v.Type.Element() != 0 && v.Type != gdwire.TypePackedByteArray:
		if v.Form = Declared; s.accept("()") {
			v.Form = Empty
			return v, true
		}
		return s.call(v), true
	}
	if _, ok := signatures[v.Type]; !ok {
		return v, false
	}
	return s.arguments(v), true
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
		v.Text = s.quoted()
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

// typed parses the declared types of an Array or Dictionary, and whether it is empty.
func (s *scanner) typed(v Value) Value {
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
	return s.call(v)
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
	switch t := types[name]; {
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
