package text

import (
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// A Nearest finds the key in the input most similar to a key of a path without a value. The
// method Key is the Key of a Walker over a Tree with this path alone.
type Nearest struct {
	best  map[*Node]near
	names map[*Node]string
}

type near struct {
	step     string
	distance int
	end      *Node // of the path, up to which the key has its text; or nil
	unsure   bool  // another key has it, too
}

// The limits of the keys and mistakes considered by a Nearest.
const (
	nearKey = 40 // bytes of a key
	nearest = 3  // edits of a character
)

// Key compares a key with the keys of the nodes in p, and returns nil, so that the Walker goes
// on as without a Nearest.
func (n *Nearest) Key(p *Node, key *Step) *Node {
	if len(key.Key.Text) > nearKey {
		return nil
	}
	for c := range p.Inner {
		if c.Hits > 0 && !strings.Contains(key.Key.Text, ".") { // with dots it can have the text of more steps
			continue
		}
		name, isText := n.keyOf(c), key.Key.Text != "" && c.Step().Key.Text != ""
		if name == "" || !isText && c.Step().Key.Type == key.Key.Type {
			continue
		}
		text, step := look(&key.Key), stepTo(key)
		if step == c.step {
			continue
		}
		have, ok := n.best[c]
		if end := c.spelled(text); end != nil {
			if have.end == nil {
				have = near{step, -1, end, false}
			}
			have.unsure = have.unsure || have.step != step
			n.best[c] = have
			continue
		} else if c.Hits > 0 {
			continue
		}
		most := -1
		if ok {
			most = have.distance - 1
		} else if isText {
			most = allowed(name)
		}
		if d := distance(name, text, most); d <= most {
			n.best[c] = near{step: step, distance: d}
		}
	}
	return nil
}

// keyOf returns the key of a node, or "" for a key not compared with others.
func (n *Nearest) keyOf(p *Node) string {
	name, ok := n.names[p]
	if ok {
		return name
	}
	if n.names == nil {
		n.names, n.best = map[*Node]string{}, map[*Node]near{}
	}
	if step := p.Step(); step.Op == Child && len(step.Key.Text) <= nearKey {
		name = look(&step.Key)
	}
	n.names[p] = name
	return name
}

// look returns how a key looks without quotes and the name of its type.
func look(key *Value) string {
	if key.Text != "" {
		return key.Text
	}
	if len(key.Numbers) == 0 {
		return key.String()
	}
	numbers := strings.ReplaceAll(strings.Trim(fmt.Sprint(key.Numbers), "[]"), " ", ", ")
	if len(key.Numbers) > 1 {
		return "(" + numbers + ")"
	}
	return numbers
}

// stepTo returns a key as a step, a StringName as the String that finds it.
func stepTo(key *Step) string {
	k := *key
	if k.Key.Type == gdwire.TypeStringName {
		k.Key.Type = gdwire.TypeString
	}
	return string(k.Append(nil))
}

// spelled returns the node up to which the keys from p on, with dots between them, are the text, or nil.
func (p *Node) spelled(text string) *Node {
	step := p.Step()
	rest, ok := strings.CutPrefix(text, look(&step.Key))
	switch {
	case !ok || step.Op != Child:
		return nil
	case rest == "":
		return p
	}
	rest, ok = strings.CutPrefix(rest, ".")
	for c := range p.Inner {
		if end := c.spelled(rest); ok && end != nil {
			return end
		}
	}
	return nil
}

// SimilarColor returns the name of a color most likely meant by a text, or "".
func SimilarColor(name string) string { return MostSimilar(name, maps.Keys(colors())) }

// MostSimilar returns the name most likely meant by a, or "" if none is similar. Names of more than 40
// bytes are ignored.
func MostSimilar(a string, names iter.Seq[string]) (similar string) {
	if len(a) > nearKey {
		return ""
	}
	most := allowed(a)
	for name := range names {
		if len(name) > nearKey {
			continue
		}
		if d := distance(a, name, most); d <= most {
			similar, most = name, d-1
		}
	}
	return similar
}

// Similar reports whether a is likely to be b with a mistake.
func Similar(a, b string) bool { return distance(a, b, allowed(a)) <= allowed(a) }

// allowed returns the number of mistakes in a similar name.
func allowed(name string) int { return min(nearest, len(name)/3) }

// distance returns the number of characters to insert, delete, replace or exchange with the next one
// to make a of b, or any number above most if there are more. Case is ignored.
func distance(a, b string, most int) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if most < 0 || len(x)-len(y) > most || len(y)-len(x) > most {
		return most + 1
	}
	older, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		older, last, row = last, row, older
		row[0] = i + 1
		for j := range y {
			replaced := last[j]
			if x[i] != y[j] {
				replaced++
			}
			row[j+1] = min(replaced, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(y)]
}

// A NotFoundError reports a path without a value.
type NotFoundError struct {
	Path    string
	Similar string // the path with the most similar key, which the text names, or ""
	Meant   string // the path with the only key of the same text, of another type or with dots in it, or ""
	Value   string // the text of the target

	text string
}

func (e *NotFoundError) Error() string { return e.text }

// Target returns the path and the text of the target.
func (e *NotFoundError) Target() (path, value string) { return e.Path, e.Value }

// NotFound returns the NotFoundError for a node at which a walk found no value.
func (n *Nearest) NotFound(p *Node) *NotFoundError {
	missing := p // the first node on the path without a value
	for missing.parent != nil && missing.parent.Hits == 0 {
		missing = missing.parent
	}
	text := fmt.Sprintf("there is no %v", p)
	near, ok := n.best[missing]
	meant, isOne := "", true
	for q := missing; q.parent != nil; q = q.parent {
		if other := n.best[q]; other.end != nil {
			isOne = isOne && meant == "" && !other.unsure
			meant = q.parent.String() + other.step + strings.TrimPrefix(p.String(), other.end.String())
		}
	}
	if !isOne {
		meant = ""
	}
	whole := ""
	if ok {
		whole = missing.parent.String() + near.step + strings.TrimPrefix(p.String(), missing.String())
		similar, isName := strings.CutPrefix(near.step, ".")
		if missing != p || !isName {
			similar = missing.parent.String() + near.step
		}
		text += "; did you mean " + Operand(similar) + "?"
	}
	return &NotFoundError{p.String(), whole, meant, p.Text, text}
}

// Means reports whether a number in the text of a key means the component x of a key: is x, or x
// with the digits of 32 bits. Keys of 32 bits are printed with these digits. Package variant does
// not know the bits of a key, and prints these digits wherever 32 bits hold x.
func Means(written, x float64) bool {
	return written == x || Round32(written) == x || written != written && x != x
}

// means reports whether v, the key of a path, means a key of the input.
func (v *Value) means(key *Value) bool {
	for i, x := range key.Numbers {
		if !Means(v.Numbers[i], x) {
			return false
		}
	}
	return v.Type == key.Type
}

// HasCut reports whether a key of the paths ends in "…", as long keys in errors do.
func (t *Tree) HasCut() bool { return t.cut }

// HasReals reports whether a key of the paths contains real numbers, for ResolveReals.
func (t *Tree) HasReals() bool { return t.reals }

// Resolve replaces each key ending in "…" by the first key it can abbreviate, and each key with real
// numbers by the first key it means, unless the input contains the key itself. walk reads all packets
// with paths; after an error, only the keys before the error are known.
func (t *Tree) Resolve(walk func(*Walker) error) {
	for len(t.vague) > 0 {
		fits := map[*Node]string{}
		key := func(p *Node, key *Step) *Node {
			if v := t.vague[p]; v != nil {
				v.fit(key, fits)
			}
			return nil
		}
		_ = walk(&Walker{Key: key})
		t.resolve(fits)
	}
}

// ResolveReals is Resolve for keys with real numbers only.
func (t *Tree) ResolveReals(walk func(*Walker) error) {
	for p, v := range t.vague {
		if v.cut = nil; len(v.reals) == 0 {
			delete(t.vague, p)
		}
	}
	t.cut = false
	t.Resolve(walk)
}

// fit adds the step of a key for each node meaning this key.
func (v *vague) fit(key *Step, fits map[*Node]string) {
	for _, c := range v.cut {
		text := c.Step().Key.Text
		if first := fits[c] == "" && strings.HasPrefix(key.Key.Text, strings.TrimSuffix(text, Ellipsis)); first || text == key.Key.Text {
			name := Step{Key: Value{Type: gdwire.TypeString, Text: key.Key.Text}}
			fits[c] = string(name.Append(nil))
		}
	}
	if len(v.reals) == 0 || !key.Key.hasReals() {
		return
	}
	step := string(key.Append(nil))
	for _, c := range v.reals[key.Key.rounded()] {
		written := c.Step().Key
		if first := fits[c] == "" && written.means(&key.Key); first || c.step == step {
			fits[c] = step
		}
	}
}

// all yields each node of v.
func (v *vague) all(yield func(*Node)) {
	for _, c := range v.cut {
		yield(c)
	}
	for _, nodes := range v.reals {
		for _, c := range nodes {
			yield(c)
		}
	}
}

// resolve sets the keys of the nodes in containers reached by a walk. The other nodes are in these
// nodes, where another walk can reach them.
func (t *Tree) resolve(fits map[*Node]string) {
	var reached []*Node
	for p := range t.vague {
		if p.Hits > 0 {
			reached = append(reached, p)
		}
	}
	if len(reached) == 0 {
		t.vague = nil // nothing is found there
	}
	for _, p := range reached {
		t.vague[p].all(func(c *Node) {
			if step := fits[c]; step != "" && step != c.step {
				p.rename(c, step)
			}
		})
		delete(t.vague, p)
	}
	if len(t.vague) == 0 {
		t.cut, t.reals = false, false
	}
	t.Reset()
}

// textTypes contains the types of text.
var textTypes = map[gdwire.Type]bool{gdwire.TypeString: true, gdwire.TypeStringName: true, gdwire.TypeNodePath: true}

// lists contains the types with a list of elements.
var lists = sync.OnceValue(func() (all []gdwire.Type) {
	all = append(all, gdwire.TypeArray)
	for _, t := range gdwire.Types() {
		if t.Element() != 0 && t != gdwire.TypeImage {
			all = append(all, t)
		}
	}
	return all
})

// conversions contains, by type, the types of values converted by an edit to this type if nothing is lost.
// Each type takes its own values, a null is replaced by a value of any type, and all else is refused.
var conversions = sync.OnceValue(func() map[gdwire.Type][]gdwire.Type {
	all := map[gdwire.Type][]gdwire.Type{
		gdwire.TypeInt:        {gdwire.TypeFloat},
		gdwire.TypeFloat:      {gdwire.TypeInt},
		gdwire.TypeStringName: {gdwire.TypeString},
		gdwire.TypeNodePath:   {gdwire.TypeString},
		gdwire.TypeVector2:    {gdwire.TypeVector2i},
		gdwire.TypeVector2i:   {gdwire.TypeVector2},
		gdwire.TypeVector3:    {gdwire.TypeVector3i},
		gdwire.TypeVector3i:   {gdwire.TypeVector3},
		gdwire.TypeVector4:    {gdwire.TypeVector4i},
		gdwire.TypeVector4i:   {gdwire.TypeVector4},
		gdwire.TypeRect2:      {gdwire.TypeRect2i},
		gdwire.TypeRect2i:     {gdwire.TypeRect2},
		gdwire.TypeObject:     {gdwire.TypeNil},
	}
	for _, t := range lists() {
		all[t] = lists()
	}
	for _, t := range gdwire.Types() {
		if n, _ := t.Components(); n > 0 {
			all[t] = append(all[t], gdwire.TypeArray) // of its numbers
		}
	}
	all[gdwire.TypeColor] = append(all[gdwire.TypeColor], gdwire.TypeString) // its code or name
	return all
})

// Fit returns the value as a value of type t, or false if values of another type are not converted to t,
// or something would be lost.
func (v *Value) Fit(t gdwire.Type) (Value, bool) {
	if v.Type == t && !v.Bare {
		return *v, true
	}
	return v.convert(&Value{Type: t})
}

// FitElem returns the value as a value of a declared type, as Fit does.
func (v *Value) FitElem(e gdwire.Elem) (Value, bool) {
	if e.Type == 0 {
		return *v, true
	}
	return v.Fit(e.Type)
}

// FitLike returns the value as a value with the type and the declared types of old, as Fit does.
func (v *Value) FitLike(old *Value) (Value, bool) {
	if v.IsLike(old) {
		return *v, true
	}
	return v.convert(old)
}

// IsLike reports whether the type and the declared types are those of old.
func (v *Value) IsLike(old *Value) bool {
	return v.Type == old.Type && v.Key == old.Key && v.Elem == old.Elem && !v.Bare
}

// convert returns the value as a value of another type, or with other declared types.
func (v *Value) convert(to *Value) (Value, bool) {
	fit := *v
	fit.Type = to.Type
	n, integers := to.Type.Components()
	switch from := v.Type; {
	case v.Form == Declared: // the items are not known
		return *v, false
	case from == gdwire.TypeDictionary && to.Type == from:
		fit.Key, fit.Elem = to.Key, to.Elem
		return fit.fitItems(v.Items, to.Key, to.Elem)
	case !slices.Contains(conversions()[to.Type], from):
		return *v, false
	case to.Type == gdwire.TypeObject: // no Object
		return *v, true
	case from == gdwire.TypeInt:
		x := float64(v.Int)
		fit.Int, fit.Numbers = 0, []float64{x}
		return fit, x < math.MaxInt64 && int64(x) == v.Int
	case from == gdwire.TypeFloat:
		fit.Int, fit.Numbers = int64(v.Numbers[0]), nil
		return fit, isInteger(v.Numbers[0], 63)
	case n > 0 && from == gdwire.TypeArray:
		return v.components(to.Type)
	case to.Type == gdwire.TypeColor:
		color, ok := ColorOf(v.Text)
		return color, ok
	case v.Bare:
		return *v, false
	case from == gdwire.TypeString:
		fit.Text = textOf(v.Text, to.Type).Text
		return fit, true
	case slices.Contains(lists(), from):
		return v.list(to)
	}
	fit.Single = false // the digits of an integer
	return fit, !integers || areIntegers(fit.Numbers)
}

// areIntegers reports whether all numbers are integers of 32 bits.
func areIntegers(all []float64) bool {
	return !slices.ContainsFunc(all, func(x float64) bool { return !isInteger(x, 31) })
}

// components returns an Array of numbers as a value of a math type. A Color can lack alpha.
func (v *Value) components(t gdwire.Type) (Value, bool) {
	fit := Value{Type: t, Exact: v.Exact, Change: v.Change}
	for i := range v.Items {
		x, ok := v.Items[i].Fit(gdwire.TypeFloat)
		if !ok {
			return *v, false
		}
		fit.Numbers = append(fit.Numbers, x.Numbers[0])
	}
	n, integers := t.Components()
	if t == gdwire.TypeColor && len(fit.Numbers) == n-1 {
		fit.Numbers = append(fit.Numbers, 1)
	}
	return fit, len(fit.Numbers) == n && (!integers || areIntegers(fit.Numbers))
}

// list returns a list as another one.
func (v *Value) list(to *Value) (Value, bool) {
	items := v.Items
	if v.Type == gdwire.TypePackedByteArray && items == nil {
		for _, b := range []byte(v.Text) {
			items = append(items, Value{Type: gdwire.TypeInt, Int: int64(b)})
		}
	}
	list := Value{Type: to.Type, Elem: to.Elem, Change: v.Change, Exact: v.Exact}
	elem := to.Elem
	if t := to.Type.Element(); t != 0 {
		elem = gdwire.Elem{Type: t}
	}
	list, ok := list.fitItems(items, elem, elem)
	if !ok || to.Type != gdwire.TypePackedByteArray {
		return list, ok
	}
	var b []byte
	for i := range list.Items {
		n := list.Items[i].Int
		if n != int64(byte(n)) {
			return *v, false
		}
		b = append(b, byte(n))
	}
	list.Form, list.Items, list.Text = Whole, nil, string(b)
	return list, true
}

// fitItems returns the container with items of declared types: of keys and values in turn, or of elements.
func (v Value) fitItems(items []Value, even, odd gdwire.Elem) (Value, bool) {
	v.Form, v.Items = Whole, nil
	for i := range items {
		item, ok := items[i].FitElem([]gdwire.Elem{even, odd}[i%2])
		if !ok {
			return v, false
		}
		v.Items = append(v.Items, item)
	}
	if v.Items == nil {
		v.Form = Empty
	}
	return v, true
}

// isNumber reports whether v is an int or a float.
func (v *Value) isNumber() bool { return v.Type == gdwire.TypeInt || v.Type == gdwire.TypeFloat }

// Result returns old changed by v. As in GDScript, text is appended, and a vector or Color changed by component.
func (v *Value) Result(old *Value) (Value, error) {
	result, t := *old, old.Type
	by, fits := v.Fit(t)
	_, integers := t.Components()
	switch {
	case v.isNumber() && old.isNumber():
		return v.number(old)
	case fits && v.Change == "+" && (t == gdwire.TypeString || t == gdwire.TypeStringName):
		result.Text += by.Text
		return result, nil
	case !isVector(t) && t != gdwire.TypeColor:
		fits = false
	case v.isNumber() && (v.Change == "*" || v.Change == "/"):
		factor, _ := v.Fit(gdwire.TypeFloat)
		by.Numbers, fits = slices.Repeat(factor.Numbers, len(old.Numbers)), true
	}
	if !fits {
		return *v, &SyntaxError{Text: v.Change + "=" + v.String(), Column: 1, Reason: v.Change + "= " + v.String() + " does not change it"}
	}
	result.Numbers = nil
	for i, x := range old.Numbers {
		z := changed(v.Change, x, by.Numbers[i])
		if integers && by.Type != gdwire.TypeFloat { // as ints
			z = math.Trunc(z)
		}
		result.Numbers = append(result.Numbers, z)
	}
	if v.Change == "/" && slices.Contains(by.Numbers, 0) || integers && !areIntegers(result.Numbers) {
		return *v, fmt.Errorf("%v %s %v is no %v", old, v.Change, v, t)
	}
	return result, nil
}

// isVector reports whether t is one of the vectors.
func isVector(t gdwire.Type) bool { return strings.HasPrefix(t.String(), "Vector") }

// number returns a number changed by v, another one. An int divided by an int is an int.
func (v *Value) number(old *Value) (Value, error) {
	result := *old
	n, isInt := v.Fit(gdwire.TypeInt)
	isInt = isInt && old.Type == gdwire.TypeInt
	x, fits := old.Fit(gdwire.TypeFloat)
	y, ok := v.Fit(gdwire.TypeFloat)
	switch {
	case ok && v.Change == "/" && y.Numbers[0] == 0:
		return *v, fmt.Errorf("%v / %v is a division by zero", old, v)
	case isInt:
		result.Int = changed(v.Change, old.Int, n.Int)
		if z := changed(v.Change, float64(old.Int), float64(n.Int)); math.Abs(z-float64(result.Int)) > 1<<62 { // off by 1<<64
			return *v, fmt.Errorf("%v %s %v is out of range", old, v.Change, v)
		}
		return result, nil
	}
	if ok = ok && fits; ok {
		z := changed(v.Change, x.Numbers[0], y.Numbers[0])
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

// changed returns x changed by y.
func changed[T int64 | float64](change string, x, y T) T {
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

// Loose returns a value of a type from text that is no value but must mean one of the type: a Color by its name or code, the
// components of a math type without parentheses, or words, also in a container, as a shell makes them of "words".
func (e *SyntaxError) Loose(t gdwire.Type) (Value, bool) {
	typed := e.Text
	v, err := ParseValue(e.Quoted)
	if isText := t == gdwire.TypeString || t == gdwire.TypeStringName; err == nil && isText == (v.Type == gdwire.TypeString) {
		if isText {
			v.Type = t
		}
		return v, true
	}
	if v, ok := ColorOf(typed); ok && t == gdwire.TypeColor {
		return v, true
	}
	change := typed[:min(2, len(typed))]
	if !slices.Contains(changes, change) {
		change = ""
	}
	v, err = ParseValue(change + "(" + typed[len(change):] + ")")
	if err != nil || !v.Bare {
		return v, false
	}
	return v.components(t)
}

// ColorOf returns the Color of a code of 3, 4, 6 or 8 hexadecimal digits, with or without #, or of a name, as the engine reads them.
func ColorOf(code string) (Value, bool) {
	digits := strings.TrimPrefix(code, "#")
	if known, ok := colors()[strings.NewReplacer("_", "", "-", "", " ", "", "'", "", ".", "").Replace(strings.ToLower(code))]; ok {
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
var colors = sync.OnceValue(func() map[string]string {
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
})

// textOf returns a value of a type of text, with the text as read back after writing.
func textOf(text string, t gdwire.Type) Value {
	if t == gdwire.TypeNodePath {
		text = wire.CleanNodePath(text)
	}
	return Value{Type: t, Text: text}
}

// isInteger reports whether x is an integer of the given number of bits and a sign.
func isInteger(x float64, bits int) bool {
	limit := math.Ldexp(1, bits)
	return x == math.Trunc(x) && x >= -limit && x < limit
}
