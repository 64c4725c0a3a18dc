package text

import (
	"encoding/hex"
	"fmt"
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

// changes are the operators of a number that changes the old one.
var changes = []string{"+=", "-=", "*=", "/="}

// isNumber reports whether v is an int or a float.
func (v *Value) isNumber() bool { return v.Type == gdwire.TypeInt || v.Type == gdwire.TypeFloat }

// change parses the number of a change, or any other value if change is empty.
func (s *scanner) change(change string) Value {
	start := s.pos
	v := s.operand()
	if v.Change = change; change != "" && !v.isNumber() {
		s.pos = start
		s.errorf("%s= takes a number and not %s", change, s.rest())
	}
	return v
}

// Result returns the value in place of old: v itself, or old changed by v. As in GDScript, an int divided by an int is an int.
func (v *Value) Result(old *Value) (Value, error) {
	result := *old
	n, isInt := v.Fit(gdwire.TypeInt)
	isInt = isInt && old.Type == gdwire.TypeInt
	x, fits := old.Fit(gdwire.TypeFloat)
	y, ok := v.Fit(gdwire.TypeFloat)
	switch {
	case v.Change == "":
		return *v, nil
	case !old.isNumber():
		return *v, fmt.Errorf("%s= changes a number, and not %v, of type %v", v.Change, old, old.Type)
	case ok && v.Change == "/" && y.Numbers[0] == 0:
		return *v, fmt.Errorf("%v / %v is a division by zero", old, v)
	case isInt:
		exact := true
		if result.Int, exact = changeInt(v.Change, old.Int, n.Int); !exact {
			return *v, fmt.Errorf("%v %s %v is out of range", old, v.Change, v)
		}
		return result, nil
	}
	if ok = ok && fits; ok {
		z := changeFloat(v.Change, x.Numbers[0], y.Numbers[0])
		if near := math.Round(z); old.Type == gdwire.TypeInt && math.Abs(z-near) <= math.Abs(z)*0x1p-50 { // 100 * 1.1
			z = near
		}
		result = Value{Type: gdwire.TypeFloat, Single: old.Single, Numbers: []float64{z}}
		result, ok = result.Fit(old.Type)
	}
	if !ok {
		return *v, fmt.Errorf("%v %s %v is no %v", old, v.Change, v, old.Type)
	}
	return result, nil
}

// changeInt returns x changed by y, which is not 0 for a division, and reports whether the result is in range.
func changeInt(change string, x, y int64) (z int64, inRange bool) {
	switch change {
	case "-":
		return x - y, (x-y < x) == (y > 0)
	case "*":
		return x * y, y == 0 || x*y/y == x && (y != -1 || x != math.MinInt64)
	case "/":
		return x / y, y != -1 || x != math.MinInt64
	}
	return x + y, (x+y > x) == (y > 0)
}

func changeFloat(change string, x, y float64) float64 {
	switch change {
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	}
	return x + y
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
	case v.Type == gdwire.TypePackedByteArray && s.accept("(["):
		s.pos -= len("[")
		v = s.items(Value{Type: gdwire.TypeArray})
		s.close(")")
		v, ok = v.Fit(gdwire.TypePackedByteArray)
		if !ok {
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
	if _, ok := signatures[v.Type]; !ok {
		return v, false
	}
	if n, _ := v.Type.Components(); n == 0 {
		return s.arguments(v), true
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
	isText := v.Type == gdwire.TypeColor && n == len(v.signature()) && s.isQuote()
	name := s.text[start:][:wire.NameLen(s.text[start:])]
	part, integers := types[name].Components()
	// The axes of a Basis are its columns, and its numbers the rows.
	isAxis := v.Type == gdwire.TypeBasis || v.Type == gdwire.TypeTransform3D && part == 3 && n > 3
	isWhole := part == len(v.signature()) && !s.isNext("Color.") // and could be in itself again and again
	switch {
	case isText:
		*v = s.color(s.quoted())
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
	v, ok := colorOf(code)
	if !ok {
		s.errorf(`want a color, such as "#ff8000" or "orange", and not %s`, strconv.Quote(code))
	}
	return v
}

// colorOf returns the Color of a code of 3, 4, 6 or 8 hexadecimal digits, with or without #, or of a name, as the engine reads them.
func colorOf(code string) (Value, bool) {
	digits := strings.TrimPrefix(code, "#")
	if known, ok := colors[strings.NewReplacer("_", "", "-", "", " ", "", "'", "", ".", "").Replace(strings.ToLower(code))]; ok {
		digits = known
	}
	if len(digits) == 3 || len(digits) == 4 {
		var twice []byte
		for _, c := range []byte(digits) {
			twice = append(twice, c, c)
		}
		digits = string(twice)
	}
	v := Value{Type: gdwire.TypeColor, Numbers: []float64{0, 0, 0, 1}, Single: true}
	b, err := hex.DecodeString(digits)
	for i := range min(len(b), 4) {
		v.Numbers[i] = float64(float32(b[i]) / 255)
	}
	return v, err == nil && (len(b) == 3 || len(b) == 4)
}

// constant parses the name of a constant of a type: Color.RED, Vector2.UP.
func (s *scanner) constant(t gdwire.Type) Value {
	name := strings.ToUpper(s.take(wire.NameLen(s.text[s.pos:])))
	if t == gdwire.TypeColor {
		return s.color(name)
	}
	n, _ := t.Components()
	numbers, ok := constants[n][name]
	if !ok || !strings.HasPrefix(t.String(), "Vector") {
		s.errorf("%v has no constant %s", t, name)
	}
	return Value{Type: t, Numbers: slices.Clone(numbers)}
}

// constants contains the constants of vectors by the number of components.
var constants = map[int]map[string][]float64{
	2: {"ZERO": {0, 0}, "ONE": {1, 1}, "LEFT": {-1, 0}, "RIGHT": {1, 0}, "UP": {0, -1}, "DOWN": {0, 1}},
	3: {
		"ZERO": {0, 0, 0}, "ONE": {1, 1, 1}, "LEFT": {-1, 0, 0}, "RIGHT": {1, 0, 0}, "UP": {0, 1, 0}, "DOWN": {0, -1, 0},
		"FORWARD": {0, 0, -1}, "BACK": {0, 0, 1},
	},
	4: {"ZERO": {0, 0, 0, 0}, "ONE": {1, 1, 1, 1}},
}

// colors contains the codes of Godot 4's colors by name, in small letters.
var colors = func() map[string]string {
	all := map[string]string{}
	words := strings.Fields(`
aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque ffe4c4 black 000000
blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a burlywood deb887 cadetblue 5f9ea0 chartreuse 7fff00 chocolate
d2691e coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c cyan 00ffff darkblue 00008b darkcyan 008b8b darkgoldenrod
b8860b darkgray a9a9a9 darkgreen 006400 darkkhaki bdb76b darkmagenta 8b008b darkolivegreen 556b2f darkorange ff8c00 darkorchid
9932cc darkred 8b0000 darksalmon e9967a darkseagreen 8fbc8f darkslateblue 483d8b darkslategray 2f4f4f darkturquoise 00ced1
darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff dimgray 696969 dodgerblue 1e90ff firebrick b22222 floralwhite fffaf0
forestgreen 228b22 fuchsia ff00ff gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 goldenrod daa520 gray bebebe green 00ff00
greenyellow adff2f honeydew f0fff0 hotpink ff69b4 indianred cd5c5c indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa
lavenderblush fff0f5 lawngreen 7cfc00 lemonchiffon fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff lightgoldenrod fafad2
lightgray d3d3d3 lightgreen 90ee90 lightpink ffb6c1 lightsalmon ffa07a lightseagreen 20b2aa lightskyblue 87cefa lightslategray
778899 lightsteelblue b0c4de lightyellow ffffe0 lime 00ff00 limegreen 32cd32 linen faf0e6 magenta ff00ff maroon b03060
mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3 mediumpurple 9370db mediumseagreen 3cb371 mediumslateblue 7b68ee
mediumspringgreen 00fa9a mediumturquoise 48d1cc mediumvioletred c71585 midnightblue 191970 mintcream f5fffa mistyrose ffe4e1
moccasin ffe4b5 navajowhite ffdead navyblue 000080 oldlace fdf5e6 olive 808000 olivedrab 6b8e23 orange ffa500 orangered ff4500
orchid da70d6 palegoldenrod eee8aa palegreen 98fb98 paleturquoise afeeee palevioletred db7093 papayawhip ffefd5 peachpuff ffdab9
peru cd853f pink ffc0cb plum dda0dd powderblue b0e0e6 purple a020f0 rebeccapurple 663399 red ff0000 rosybrown bc8f8f royalblue
4169e1 saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57 seashell fff5ee sienna a0522d silver c0c0c0 skyblue
87ceeb slateblue 6a5acd slategray 708090 snow fffafa springgreen 00ff7f steelblue 4682b4 tan d2b48c teal 008080 thistle d8bfd8
tomato ff6347 transparent ffffff00 turquoise 40e0d0 violet ee82ee webgray 808080 webgreen 008000 webmaroon 800000 webpurple 800080
wheat f5deb3 white ffffff whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32`)
	for i := 0; i < len(words); i += 2 {
		all[words[i]] = words[i+1]
	}
	return all
}()

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
