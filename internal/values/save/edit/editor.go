package edit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/reals"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/text"
)

// A source returns the new value of a target. All values are handled alike, whether they are from a text,
// from Go or copies.
type source func(*editor, *text.Node) (operand, error)

// An editor makes a plan.
type editor struct {
	Plan
	content *save.Content // before the edit
	edited  *table
	packets []editedPacket

	op     Op
	exact  bool
	source source  // of new values, unless op is Delete
	finds  bool    // only found is wanted
	found  operand // the value to copy

	*text.Walker
	packet    *save.Packet
	width     *reals.Width // of the packet, if known
	here      []splice
	positions map[*text.Node]int64 // at which elements are added
	removed   map[*text.Node]int64 // the number of elements removed
	now       []byte               // of the array that is read, if they change
	hits      map[*text.Node]int32 // of targets, in those of several values that were read
	opener    *explain.Opener
	keys      map[*text.Node]*newKeys // by Dictionary or Object

	to      text.Value  // of Move: the new key
	keyType gdwire.Type // of Move: of the latest key
	renamed *renamed    // in the container that is read
}

// A renamed is a pair or property that gets another key.
type renamed struct {
	at         *text.Node
	path       string
	start, end int64 // of the key
	keyType    gdwire.Type
	value      string
}

// splice adds a replacement of bytes. Those of bytes one after the other, such as of all elements of a packed array, become one.
func (e *editor) splice(s splice) {
	if n := len(e.here); n > 0 && s.size == 0 && s.start < s.end {
		if last := &e.here[n-1]; last.size == 0 && last.start < last.end && last.end == s.start {
			if !last.joined { // the bytes can be those of other splices
				last.bytes, last.joined = slices.Clone(last.bytes), true
			}
			last.bytes, last.end = append(last.bytes, s.bytes...), s.end
			return
		}
	}
	e.here = append(e.here, s)
}

// changed describes a change.
func (e *editor) changed(p *text.Node, value, was string) {
	e.add(Change{p.String(), value, was})
	if p.IsSeveral() && len(e.Also) < maxChanges {
		e.Also = append(e.Also, p.String())
	}
}

// The newKeys of a Dictionary or Object. A Dictionary would keep only the last of keys that engines treat as equal: a String and a
// StringName with the same text, 0.0 and -0.0.
type newKeys struct {
	targets  map[string]*text.Node // by the text of their new keys
	replaced map[int64]bool        // the offsets of old keys
}

// isDouble reports whether real components are written with 64 bits: as others in the packet, or in
// the content before all edits, or else as the options say.
func (e *editor) isDouble() (bool, error) {
	if e.width == nil {
		w, err := e.content.RealsOf(e.packet)
		if err != nil {
			return false, err
		}
		if w == reals.Unknown {
			w = e.content.OtherReals()
		}
		e.width = &w
	}
	return *e.width == reals.Double, nil
}

// write returns the bytes of a value, with real components of 64 bits if double is set.
func (e *editor) write(v *text.Value, double bool) ([]byte, error) {
	o := e.content.Encoder
	o.DoubleReals = double
	enc := gdwire.NewEncoder(nil, &o)
	enc.ResetBytes(make([]byte, 0, 64)) // room for a number or short text
	err := cmp.Or(v.Write(enc, double), enc.Close())
	return enc.Bytes(), err
}

// encode returns the bytes of a value.
func (e *editor) encode(v *text.Value) ([]byte, error) {
	if !e.content.Decoder.AllowObjects && hasObjects(v) {
		return nil, gdwire.ErrObject
	}
	if err := checkPairs(v); err != nil {
		return nil, err
	}
	double := e.content.Encoder.DoubleReals
	if hasReals(v) {
		var err error
		if double, err = e.isDouble(); err != nil {
			return nil, err
		}
	}
	return e.write(v, double)
}

// packedHeader is the size of the header and count of a packed array.
const packedHeader = 8

// ofTexts returns the values of the texts of the targets.
func ofTexts(_ *editor, p *text.Node) (operand, error) {
	v, err := text.ParseValue(p.Text)
	return operand{oldValue: oldValue{Value: v}, exact: v.Exact}, err
}

// ofGo returns values of Go, by the numbers of the targets.
func ofGo(values []*Value) source {
	return func(e *editor, p *text.Node) (operand, error) { return e.marshal(values[p.Number()]) }
}

// ofCopy returns v for each target.
func ofCopy(v operand) source {
	v.copied = true
	return func(*editor, *text.Node) (operand, error) { return v, nil }
}

// operand returns the new value of a target.
func (e *editor) operand(p *text.Node) (operand, error) { return e.source(e, p) }

// marshal returns a value of Go, with math types of 64 bits, so that nothing is lost.
func (e *editor) marshal(value *Value) (v operand, err error) {
	if plain := value.Plain; plain != nil {
		return operand{oldValue: oldValue{Value: *plain, cut: len(plain.Text) > maxCopied}}, nil
	}
	o := e.content.Encoder
	o.DoubleReals = true
	v.exact = value.Exact
	if v.encoding.bytes, err = value.Encode(o); err != nil {
		o.Format, v.failed = gdwire.Godot4, reason(err) // for a Vector2i in place of a Vector2
		if v.encoding.bytes, err = value.Encode(o); err != nil {
			return v, v.failed
		}
	}
	v.format = o.Format
	d := v.decoder()
	defer d.Release()
	w, err := reals.Read(d)
	if err != nil {
		return v, err
	}
	if w == reals.Double {
		v.narrow = value
	}
	d.ResetBytes(v.encoding.bytes)
	v.oldValue, err = read(d, maxCopied)
	return v, err
}

// newValue returns the new value of a target that contains no containers: an element of a packed array,
// a component, or a key.
func (e *editor) newValue(p *text.Node, v operand, err error) (text.Value, error) {
	if err == nil && (v.cut || v.Form != text.Whole) {
		err = fmt.Errorf("%v cannot contain %v", p, &v.oldValue)
	}
	v.Exact = v.Exact || v.exact && !v.copied
	return v.Value, err
}

// fit makes v a value of the type of the old value, or returns a TypeError. A value that replaces null,
// or keeps its own type on purpose, takes only the declared type of its container; verify refuses a value
// that cannot.
func (e *editor) fit(p *text.Node, v *operand, old *oldValue, elem gdwire.Elem) error {
	switch {
	case v.exact && !v.copied:
		return nil
	case e.exact || old.Type == gdwire.TypeNil:
		_, err := e.fitElem(v, elem)
		return err
	case v.IsLike(&old.Value):
		return nil
	}
	ok, err := e.convert(v, func(v *text.Value) (text.Value, bool) { return v.FitLike(&old.Value) })
	if err == nil && !ok {
		err = &TypeError{p.String(), typeOf(&old.Value), typeOf(&v.Value), old.such(), p.Text, ""}
	}
	return err
}

// fitElem makes v a value of a declared type, if possible, and reports whether engines take v for a value of the type, or whether v keeps
// another on purpose.
func (e *editor) fitElem(v *operand, elem gdwire.Elem) (bool, error) {
	if v.exact || elem.Type == 0 || v.Type == elem.Type {
		return true, nil
	}
	return e.convert(v, func(v *text.Value) (text.Value, bool) { return v.FitElem(elem) })
}

// convert replaces v by the result of fit, and reports whether there is one.
func (e *editor) convert(v *operand, fit func(*text.Value) (text.Value, bool)) (bool, error) {
	whole := v.Value
	if v.isEncoded() && (v.cut || v.Form == text.Declared) {
		if v.copied {
			return false, nil
		}
		d := v.decoder()
		defer d.Release()
		var err error
		if whole, err = text.Read(d); err != nil {
			return false, err
		}
	}
	fitted, ok := fit(&whole)
	if ok {
		*v = operand{oldValue: oldValue{Value: fitted}, exact: v.exact}
	}
	return ok, nil
}

// encoded returns a splice, without a place, with the encoding of v.
func (e *editor) encoded(v *operand) (splice, error) {
	if !v.isEncoded() {
		b, err := e.encode(&v.Value)
		return splice{bytes: b}, err
	}
	if v.failed != nil {
		return splice{}, v.failed
	}
	if v.narrow != nil {
		double, err := e.isDouble()
		if err == nil && !double {
			o := e.content.Encoder
			o.DoubleReals = false
			v.encoding.bytes, err = v.narrow.Encode(o)
		}
		if err != nil {
			return splice{}, err
		}
	}
	return v.encoding, nil
}

// encodePart returns the bytes of v that replace a part, and v as a value of the part's type.
func (e *editor) encodePart(p *text.Node, part *text.Part, v text.Value) ([]byte, text.Value, error) {
	want := part.Value.Type
	fit, ok := v.Fit(want)
	if !ok || fit.Form != text.Whole || v.Exact && v.Type != want {
		was := oldValue{Value: part.Value}
		return nil, v, &TypeError{p.String(), want.String(), typeOf(&v), was.such(), p.Text, part.In.String()}
	}
	var b []byte
	var err error
	if want == gdwire.TypeString {
		b, err = e.write(&text.Value{Type: part.In, Items: []text.Value{fit}}, false)
		b = b[min(len(b), packedHeader):]
	} else {
		b, err = part.Append(nil, &fit)
	}
	if err != nil {
		return nil, v, fmt.Errorf("%v: %w", p, reason(err))
	}
	return b, fit, nil
}

// newKey notes the new key of a target, as written.
func (e *editor) newKey(t *text.Node, key *text.Value) (*newKeys, error) {
	k := *key
	if hasReals(key) {
		double, err := e.isDouble()
		if err != nil {
			return nil, err
		}
		if !double {
			k.Numbers = slices.Clone(k.Numbers)
			for i, x := range k.Numbers {
				k.Numbers[i] = text.Round32(x)
			}
		}
	}
	all, name := e.keys[t.Parent()], keyText(&k)
	if all == nil {
		all = &newKeys{map[string]*text.Node{}, map[int64]bool{}}
		e.keys[t.Parent()] = all
	}
	if other := all.targets[name]; other != nil {
		return nil, fmt.Errorf("engines treat the keys of %v and %v as equal", other, t)
	}
	all.targets[name] = t
	return all, nil
}

// again returns a Decoder of the latest value, which starts at an offset.
func (e *editor) again(start int64) *gdwire.Decoder {
	o := e.content.Decoder
	o.Limits = gdwire.NoLimits // the value was read with limits before
	d := gdwire.NewDecoder(nil, &o)
	save.ResetAt(d, e.content.ReaderAt, start, e.InputOffset())
	return d
}

// shown describes an old value that was read from an offset on. A container with a short text is this text, to set or add it again.
func (e *editor) shown(was *oldValue, start int64) string {
	const most = 8 * maxShown // bytes of a value with a short text
	if was.Form == text.Declared && len(e.Changes) < maxChanges && e.InputOffset()-start <= most {
		p := text.Printer{Decoder: e.again(start), Most: maxShown}
		defer p.Release()
		if p.Next(0) == nil && len(p.Buf) <= maxShown {
			return string(p.Buf)
		}
	}
	return was.String()
}

// checkKeys returns an error if a new key of the Dictionary or Object at p equals another of its
// keys. It reads these again.
func (e *editor) checkKeys(p *text.Node, c *text.Container) (err error) {
	all := e.keys[p]
	if all == nil {
		return nil
	}
	delete(e.keys, p) // there can be a million Dictionaries
	var tree text.Tree
	each, _ := tree.Add(text.Path{Steps: []text.Step{{Op: text.End}}}, "")
	w := text.Walker{Decoder: e.again(c.From)}
	defer w.Release()
	w.Key = func(_ *text.Node, key *text.Step) *text.Node {
		t := all.targets[keyText(&key.Key)]
		switch {
		case err != nil || t == nil || all.replaced[c.From+w.Start()]:
		case e.op == Move:
			err = &ExistsError{Path: p.String() + string(key.Append(nil))}
		default:
			err = fmt.Errorf("engines take the new key at %v for that of %v%s", t, p, key.Append(nil))
		}
		return each
	}
	return cmp.Or(w.Walk(tree.Root(0)), err)
}

// addTo adds the targets in p to the value at p, and returns how many.
func (e *editor) addTo(p *text.Node, c *text.Container) (n int64, err error) {
	var targets []*text.Node
	for t := range p.Inner {
		if t.IsTarget() && (e.op == Add || t.Hits == 0) && !t.IsEach() {
			targets = append(targets, t)
		}
	}
	slices.SortFunc(targets, func(a, b *text.Node) int { return cmp.Compare(a.Number(), b.Number()) })
	for _, t := range targets {
		var added bool
		switch c.Kind {
		case gdwire.KindArrayStart, gdwire.KindPackedStart:
			added, err = e.addElement(t, c, n)
		case gdwire.KindDictStart, gdwire.KindObjectStart:
			added, err = true, e.addPair(t, c)
		default:
			err = fmt.Errorf("%v is of type %v, to which nothing can be added", p, c.Type)
		}
		if err != nil {
			return 0, err
		}
		if added {
			t.Hits = 1
			n++
		}
	}
	return n, nil
}

// addElement adds an element to an Array or packed array, after n others, or returns false if the
// position of the target is not in the array.
func (e *editor) addElement(t *text.Node, c *text.Container, n int64) (bool, error) {
	at, ok := e.positions[t]
	delete(e.positions, t) // [*] is several arrays
	end := c.Len
	if e.op == Put { // one after the other
		end += n
	}
	step := t.Step()
	if step.Op == text.End || step.Op == text.Child && step.Key.Type == gdwire.TypeInt && step.Key.Int == end {
		at, ok = c.End, true
	}
	if !ok {
		return false, nil
	}
	if c.Kind == gdwire.KindArrayStart {
		beside := c.Elem.Type
		if d := e.again(c.Start); c.Len > 0 {
			first, _ := d.ReadToken() // which was read before
			beside = first.Type()
			d.Release()
		}
		return true, e.addValue(t, at, c.Elem, beside)
	}
	of, err := e.added(t, c.Type.Element())
	v, err := e.newValue(t, of, err)
	if err != nil {
		return false, err
	}
	components, _ := c.Type.Element().Components()
	zero := text.Value{Type: c.Type.Element(), Numbers: make([]float64, max(components, 1))}
	part := text.Part{In: c.Type, Bits: c.Bits, Value: zero}
	b, v, err := e.encodePart(t, &part, v)
	e.splice(splice{start: at, end: at, bytes: b})
	e.changed(t, v.String(), "")
	return true, err
}

// added returns the new value of a target beside others of a type, which tells what a text means that is no value.
func (e *editor) added(t *text.Node, beside gdwire.Type) (operand, error) {
	v, err := e.operand(t)
	if wrong := (*text.SyntaxError)(nil); errors.As(err, &wrong) {
		var ok bool
		if v.Value, ok = wrong.Loose(beside); !ok {
			return v, &ValueError{t.String(), gdwire.TypeNil.String(), "", wrong}
		}
		err = nil
	}
	return v, cmp.Or(err, checkNoChange(t, &v.Value))
}

// addValue adds the new value of a target, beside others of a type and made to fit a declared type, at an offset.
func (e *editor) addValue(t *text.Node, at int64, elem gdwire.Elem, beside gdwire.Type) error {
	v, err := e.added(t, beside)
	if err == nil && v.isType() {
		err = fmt.Errorf("%v is a type and not a value", &v.Value)
	}
	fits := true
	if err == nil {
		fits, err = e.fitElem(&v, elem)
	}
	if err == nil && !fits {
		err = &TypeError{Path: t.String(), Old: elem.String(), New: typeOf(&v.Value), Text: t.Text}
	}
	if err != nil {
		return err
	}
	s, err := e.encoded(&v)
	if err != nil {
		return fmt.Errorf("%v: %w", t, reason(err))
	}
	s.start, s.end = at, at
	e.splice(s)
	e.changed(t, v.String(), "")
	return nil
}

// checkNoChange returns an error for a value that is the change of another one.
func checkNoChange(t *text.Node, v *text.Value) error {
	if v.Change == "" {
		return nil
	}
	return fmt.Errorf("there is no %v for %s= %v", t, v.Change, v)
}

// addPair adds a pair to a Dictionary, or a property to an Object.
func (e *editor) addPair(t *text.Node, c *text.Container) error {
	step := t.Step()
	switch {
	case t.Hits > 0:
		return &ExistsError{t.String(), t.Text}
	case step.Op != text.Child:
		return fmt.Errorf("%v is not a key that can be added to a %v", t, c.Type)
	}
	key := step.Key
	if fit, ok := key.FitElem(c.Key); ok && c.Kind == gdwire.KindDictStart {
		key = fit
	}
	if _, err := e.newKey(t, &key); err != nil {
		return err
	}
	b, err := e.encodeKey(&key, c)
	if err != nil {
		return fmt.Errorf("%v: %w", t, reason(err))
	}
	e.splice(splice{start: c.End, end: c.End, bytes: b})
	return e.addValue(t, c.End, c.Elem, c.Elem.Type)
}

// rename notes a pair or property with the next value, which gets another key.
func (e *editor) rename(p *text.Node) error {
	r := renamed{at: p, path: p.String(), start: e.Start(), end: e.InputOffset(), keyType: e.keyType}
	was, err := read(e.Decoder, 0)
	r.value, e.renamed = e.shown(&was, r.end), &r
	return err
}

// addName gives a pair or property of the container c the new key, of the type of the old one if possible.
func (e *editor) addName(r *renamed, c *text.Container) error {
	key, ok := e.to.Fit(r.keyType)
	if !ok || c.Kind == gdwire.KindObjectStart {
		key = e.to
	}
	if _, err := e.newKey(r.at, &key); err != nil {
		return err
	}
	b, err := e.encodeKey(&key, c)
	if err != nil {
		return fmt.Errorf("%v: %w", r.path, reason(err))
	}
	e.splice(splice{start: r.start, end: r.end, bytes: b})
	step := text.Step{Key: key}
	e.add(Change{r.at.Parent().String() + string(step.Append(nil)), r.value, ""})
	e.add(Change{r.path, "", r.value})
	return nil
}

// encodeKey returns the bytes of the key of a pair, or of the name of a property.
func (e *editor) encodeKey(key *text.Value, c *text.Container) ([]byte, error) {
	if c.Kind == gdwire.KindDictStart {
		return e.encode(key)
	}
	if key.Type != gdwire.TypeString {
		return nil, fmt.Errorf("a property has a name, and not %v", key)
	}
	const class, before, after = "Node", 16, 4 // the bytes around the name
	object := text.Value{Type: gdwire.TypeObject, Text: class, Items: []text.Value{*key, {Type: gdwire.TypeNil}}}
	b, err := e.write(&object, false)
	if err != nil {
		return nil, err
	}
	return b[before : len(b)-after], nil
}
