package text

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
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
func (s *scanner) operand() (v Value, err error) {
	for _, p := range prefixes {
		if s.accept(p.text) {
			v, err = s.exact(p.typ)
			v.Exact = true
			break
		}
	}
	if start := s.pos; !v.Exact && err == nil {
		v, err = s.value()
		if e := (*SyntaxError)(nil); errors.As(err, &e) && strings.HasSuffix(e.Reason, textHint) {
			e.Reason = strings.TrimSuffix(e.Reason, textHint)
			if after, ok := strings.CutPrefix(s.text[start:], "="); ok {
				e.Reason += "; with one =: " + strings.TrimSpace(s.text[:start]) + " " + strings.TrimSpace(after)
			} else {
				e.Reason += "; text is in quotes: " + s.text[:start] + string(AppendQuoted(nil, s.text[start:]))
			}
		}
	}
	if s.space(); err == nil && !s.atEnd() {
		err = s.errorf("unexpected %s", s.rest())
	}
	return v, err
}

// change parses a value to add or subtract, or any other value if change is empty.
func (s *scanner) change(change string) (Value, error) {
	start := s.pos
	v, err := s.operand()
	if v.Change = change; err == nil && change != "" && v.Type != gdwire.TypeInt && v.Type != gdwire.TypeFloat {
		s.pos = start
		err = s.errorf("%s= takes a number and not %s", change, s.rest())
	}
	return v, err
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
func (s *scanner) exact(t gdwire.Type) (Value, error) {
	if quoted := !s.atEnd() && (s.text[s.pos] == '"' || s.text[s.pos] == '\''); textTypes[t] && !quoted {
		return textOf(s.take(len(s.text)-s.pos), t), nil
	}
	start := s.pos
	v, err := s.value()
	if err != nil {
		return v, err
	}
	fit, ok := v.Fit(t)
	if !ok {
		s.pos = start
		return v, s.errorf("want a value of type %v and not %s", t, s.rest())
	}
	return fit, nil
}

// value parses a value.
func (s *scanner) value() (Value, error) {
	if s.atEnd() {
		return Value{}, s.errorf("want a value")
	}
	switch c := s.text[s.pos]; {
	case c == '"' || c == '\'':
		return s.textValue(gdwire.TypeString)
	case s.accept("&"):
		return s.textValue(gdwire.TypeStringName)
	case s.accept("^"):
		return s.textValue(gdwire.TypeNodePath)
	case c == '[':
		return s.items(Value{Type: gdwire.TypeArray})
	case c == '{':
		return s.items(Value{Type: gdwire.TypeDictionary})
	}
	if text, float := s.number(); float {
		x, err := parseFloat(text)
		if err != nil {
			return Value{}, s.errorf("%s is out of range", text)
		}
		return Value{Type: gdwire.TypeFloat, Numbers: []float64{x}}, nil
	} else if text != "" {
		n, err := parseInt(text, 64)
		if err != nil {
			return Value{}, s.errorf("%s is out of range", text)
		}
		return Value{Type: gdwire.TypeInt, Int: n}, nil
	}
	start := s.pos
	name := s.take(wire.NameLen(s.text[s.pos:]))
	if v, ok := words[strings.ToLower(name)]; ok {
		return v, nil
	}
	v, err := s.named(name)
	if err == errNoSuchType {
		s.pos = start
		err = s.errorf("want a value and not %s"+textHint, s.rest())
	}
	return v, err
}

func (s *scanner) textValue(t gdwire.Type) (Value, error) {
	text, err := s.quoted()
	return textOf(text, t), err
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
func (s *scanner) items(v Value) (Value, error) {
	if s.depth > MaxNesting { // containers, and a packed array in them
		return v, s.errorf("more than %d values in each other", MaxNesting)
	}
	s.depth++
	defer func() { s.depth-- }()
	end := "]"
	if s.take(1) == "{" {
		end = "}"
	}
	for s.space(); !s.accept(end); s.space() {
		if len(v.Items) > 0 {
			if !s.accept(",") {
				return v, s.errorf("want , or %s", end)
			}
			s.space()
		}
		item, err := s.value()
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
		if end == "]" {
			continue
		}
		if s.space(); !s.accept(":") {
			return v, s.errorf("want : and the value of the key")
		}
		s.space()
		if item, err = s.value(); err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
	}
	if v.Items == nil {
		v.Form = Empty
	} else {
		v.Form = Whole
	}
	return v, nil
}

// call parses the content of a container in parentheses after its type, if there is one.
func (s *scanner) call(v Value) (Value, error) {
	start := s.pos
	if !s.accept("(") {
		return v, nil
	}
	open := byte('[')
	if v.Type == gdwire.TypeDictionary {
		open = '{'
	}
	if s.space(); s.atEnd() || s.text[s.pos] != open {
		s.pos = start
		return v, nil
	}
	v, err := s.items(v)
	if err != nil {
		return v, err
	}
	if s.space(); !s.accept(")") {
		return v, s.errorf("want )")
	}
	return v, nil
}

type constError string

func (e constError) Error() string { return string(e) }

const errNoSuchType = constError("no such type")

// named parses the value after the name of a type.
func (s *scanner) named(name string) (Value, error) {
	if name == objectID {
		return s.arguments(Value{Type: gdwire.TypeObject})
	}
	v := Value{Type: types[name]}
	switch {
	case v.Type == gdwire.TypeObject:
		return s.object(v)
	case v.Type == gdwire.TypeArray, v.Type == gdwire.TypeDictionary:
		return s.typed(v)
	case v.Type.Element() != 0 && v.Type != gdwire.TypePackedByteArray:
		if v.Form = Declared; s.accept("()") {
			v.Form = Empty
			return v, nil
		}
		return s.call(v)
	}
	if _, ok := signatures[v.Type]; !ok {
		return v, errNoSuchType
	}
	return s.arguments(v)
}

// object parses the class of an Object and the properties, if they follow.
func (s *scanner) object(v Value) (Value, error) {
	v.Form = Declared
	err := s.sequence(func() (err error) {
		if v.Text, err = s.quoted(); err != nil {
			return err
		}
		if s.space(); !s.accept(",") {
			return nil
		}
		if s.space(); s.atEnd() || s.text[s.pos] != '{' {
			return s.errorf("want { and the properties")
		}
		if v, err = s.items(v); err != nil {
			return err
		}
		for i := 0; i < len(v.Items); i += 2 {
			if name := &v.Items[i]; name.Type != gdwire.TypeString {
				return s.errorf(`a property has a name, such as "name", and not %v`, name)
			}
		}
		return nil
	}, "(", ")")
	return v, err
}

// sequence parses before, then calls parse, then parses after.
func (s *scanner) sequence(parse func() error, before, after string) error {
	if !s.accept(before) {
		return s.errorf("want %s", before)
	}
	s.space()
	if err := parse(); err != nil {
		return err
	}
	if s.space(); !s.accept(after) {
		return s.errorf("want %s", after)
	}
	return nil
}

// arguments parses the arguments of a call.
func (s *scanner) arguments(v Value) (Value, error) {
	if v.Type == gdwire.TypeRID && s.accept("()") {
		v.NoID = true
		return v, nil
	}
	err := s.sequence(func() error {
		for i, arg := range v.signature() {
			if i > 0 {
				if s.space(); !s.accept(",") {
					return s.errorf("%s has %d arguments", v.Type, len(v.signature()))
				}
				s.space()
			}
			if err := s.argument(&v, arg); err != nil {
				return err
			}
		}
		return nil
	}, "(", ")")
	return v, err
}

func (s *scanner) argument(v *Value, arg rune) (err error) {
	switch arg {
	case 's':
		v.Text, err = s.quoted()
		return err
	case 'x':
		return s.hex(v)
	}
	text, float := s.number()
	switch {
	case text == "":
		return s.errorf("want a number")
	case arg == 'r':
		var x float64
		x, err = parseFloat(text)
		v.Numbers = append(v.Numbers, x)
	case float:
		return s.errorf("%s is not an integer", text)
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
		return s.errorf("%s is out of range", text)
	}
	return nil
}

// hex parses bytes as hexadecimal digits in quotes.
func (s *scanner) hex(v *Value) error {
	start := s.pos
	text, err := s.quoted()
	if err != nil {
		return err
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		s.pos = start
		return s.errorf("want bytes as hexadecimal digits")
	}
	v.Text = string(b)
	return nil
}

// typed parses the declared types of an Array or Dictionary, and whether it is empty.
func (s *scanner) typed(v Value) (Value, error) {
	v.Form = Declared
	empty := "([])"
	err := s.sequence(func() (err error) {
		if v.Type == gdwire.TypeDictionary {
			empty = "({})"
			if v.Key, err = s.elem(); err != nil {
				return err
			}
			if s.space(); !s.accept(",") {
				return s.errorf("want the types of keys and values")
			}
			s.space()
		}
		v.Elem, err = s.elem()
		return err
	}, "[", "]")
	if err == nil && v.Key == (gdwire.Elem{}) && v.Elem == (gdwire.Elem{}) {
		return v, s.errorf("without types it is written %s", empty[1:3])
	}
	if err != nil {
		return v, err
	}
	return s.call(v)
}

// elem parses a declared type.
func (s *scanner) elem() (gdwire.Elem, error) {
	n := wire.NameLen(s.text[s.pos:])
	if n == 0 {
		class := s.accept("&")
		name, err := s.quoted()
		switch {
		case err != nil:
			return gdwire.Elem{}, err
		case name == "":
			return gdwire.Elem{}, s.errorf("want the name of a class or script")
		case class:
			return gdwire.Elem{Type: gdwire.TypeObject, Class: name}, nil
		}
		return gdwire.Elem{Type: gdwire.TypeObject, Script: name}, nil
	}
	name := s.take(n)
	switch t := types[name]; {
	case name == variant:
		return gdwire.Elem{}, nil
	case t == gdwire.TypeNil || t != 0 && !gdwire.Godot4.Has(t):
		return gdwire.Elem{}, s.errorf("nothing is declared to be %s", name)
	case t != 0:
		return gdwire.Elem{Type: t}, nil
	}
	return gdwire.Elem{Type: gdwire.TypeObject, Class: name}, nil
}
