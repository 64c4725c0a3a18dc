package variant

import (
	"bufio"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/values/text"
)

// A fieldDecoder decodes a field of a struct with the plan of its type.
type fieldDecoder struct {
	key internal.Key // the name
	fieldLocation
	do   decodeFunc
	i    int                          // the index in structDecoder.fields
	next *fieldDecoder                // the next field, or nil
	then atomic.Pointer[fieldDecoder] // the field that probably follows in a Dictionary: see find
	*field
}

// A structDecoder reads a struct.
type structDecoder struct {
	typ    reflect.Type
	vars   variableType // typ
	decode decodeFunc
	first  *fieldDecoder // or nil
	fields []*fieldDecoder
	info   *structFields
	embed  *mapDecoder // of an embedded map
	math   *components // or nil, for structs without a math type

	// The field collecting unknown keys: its type, and the function returning the field.
	embedVars variableType
	place     func(s *decoder, x variable) (variable, error)
}

// makeStructDecoder returns the function decoding a t, a struct, from a Dictionary, or from an
// Array if it is positional, or from a math type with the same number of components.
func (b decodePlanner) makeStructDecoder(t reflect.Type) (decodeFunc, error) {
	info, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	c := &structDecoder{typ: t, vars: variableTypeOf(t), info: info}
	for i := range info.all {
		f := &info.all[i]
		plan, err := b.planOf(planKey{typ: f.typ, wire: f.wire, max: f.max})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.goName, err)
		}
		var at fieldLocation
		if throughPointer(t, f.index) {
			plan = b.embeddedPlan(t, f, plan)
		} else {
			at = locationOf(t, f.index)
		}
		c.add(&fieldDecoder{key: export.NewKey(f.name), fieldLocation: at, do: doOf(plan), field: f})
	}
	if info.embed != nil && info.embed.typ.Kind() == reflect.Map {
		if c.embed, err = b.newMapDecoder(info.embed.typ, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", info.embed.goName, err)
		}
	}
	if info.embed != nil {
		c.place, c.embedVars = c.placeOf(info.embed.index), variableTypeOf(info.embed.typ)
	}
	if m, ok := componentsOf(t); ok {
		c.math = &m
	}
	c.decode = c.makeDecoder()
	return c.decode, nil
}

// doOf returns the function of a plan. For a plan still being built, the result calls the later function.
func doOf(p *plan[decodeFunc]) decodeFunc {
	if p.do != nil {
		return p.do
	}
	return func(s *decoder, x variable) error { return p.do(s, x) }
}

// add adds a field.
func (c *structDecoder) add(f *fieldDecoder) {
	f.i = len(c.fields)
	if f.i == 0 {
		c.first = f
	} else {
		c.fields[f.i-1].next = f
		c.fields[f.i-1].then.Store(f)
	}
	c.fields = append(c.fields, f)
}

// makeDecoder returns the function reading a struct. The keys of a Dictionary are usually in the order
// of the fields: each is compared with the next field, and readKeyOrRest is called for a key that
// differs. Against a loop for keys in any order, that is -26 % of Unmarshal into structs; ReadKey
// alone is -18 %. As calls keep nothing in registers, a loop following pointers from field to field is
// -1 % against one over a slice. A method value would add a call for each struct. See
// makeScalarDecoder for noinline.
//
//go:noinline
func (c *structDecoder) makeDecoder() decodeFunc {
	return func(s *decoder, x variable) error {
		if c.info.array || s.peekFirst { // otherwise ReadDict finds out, in a single step
			if isDict, err := c.decodeUnlessDict(s, x); !isDict {
				return err
			}
		}
		n, err := s.d.ReadDict()
		if err != nil {
			return c.retry(s, x, err)
		}
		if err := s.enter(c.typ); err != nil {
			return err
		}
		var end *fieldDecoder
		if n < len(c.fields) {
			end = c.fields[n]
		}
		for f := c.first; f != end; f = f.next {
			if !export.ReadKey(s.d, &f.key) {
				if isNext, err := c.readKeyOrRest(s, x, n, f.i); !isNext {
					return err
				}
			}
			if err := f.do(s, fieldAt(x, f.fieldLocation)); err != nil {
				return withField(err, f.goName)
			}
		}
		if n > len(c.fields) {
			_, err := c.readKeyOrRest(s, x, n, len(c.fields))
			return err
		}
		if n < c.info.required {
			return c.missing(s, gdwire.TypeDictionary, n)
		}
		return s.leave()
	}
}

// retry reads a struct again after ReadDict returned err. From now on, the type of the next value is
// checked first.
func (c *structDecoder) retry(s *decoder, x variable, err error) error {
	if s.peekFirst {
		return err
	}
	s.peekFirst = true
	return c.decode(s, x)
}

// decodeUnlessDict reports whether a Dictionary is next, for decode to read, and decodes a
// value of any other type itself.
func (c *structDecoder) decodeUnlessDict(s *decoder, x variable) (isDict bool, err error) {
	t, err := s.d.PeekType()
	switch {
	case err != nil:
		return false, err
	case t == gdwire.TypeDictionary && !c.info.array:
		return true, nil
	case t == gdwire.TypeArray && c.info.array:
		n, err := s.d.ReadArray()
		if err != nil {
			return false, err
		}
		return false, c.decodeArray(s, x, n)
	case c.math != nil && c.math.fits(t):
		return false, s.readComponents(x, c.math, t)
	}
	err = s.nilOrTypeError(c.vars.value(x), nil)
	if err == nil && c.info.required > 0 {
		i := slices.IndexFunc(c.fields, func(f *fieldDecoder) bool { return f.required })
		err = c.missingError(s, gdwire.TypeNil, i)
	}
	return false, err
}

// seenFields is the set of fields already read.
type seenFields struct {
	first uint64              // the first 64 fields
	rest  []uint64            // the others
	keys  map[string]struct{} // those collected in a map with entries before; otherwise nil
	pairs int                 // those collected
	embed variable            // the field collecting pairs, after the first
}

// newSeen returns a set of the first n fields.
func (c *structDecoder) newSeen(n int) (f seenFields) {
	if n := (len(c.fields) - 1) / 64; n > 0 {
		f.rest = make([]uint64, n)
	}
	f.first = 1<<min(n, 64) - 1
	for i := 64; i < n; i++ {
		f.add(i)
	}
	return f
}

func (f *seenFields) has(i int) bool {
	if i < 64 {
		return f.first&(1<<i) != 0
	}
	return f.rest[i/64-1]&(1<<(i%64)) != 0
}

func (f *seenFields) add(i int) {
	if i < 64 {
		f.first |= 1 << i
	} else {
		f.rest[i/64-1] |= 1 << (i % 64)
	}
}

// A structKey is a key in a Dictionary for a struct.
type structKey struct {
	text   []byte
	isText bool // otherwise the key was not read
	isName bool // a StringName, if the struct collects unknown keys in a Dictionary
}

// readKey reads the next key if it is text.
func (c *structDecoder) readKey(s *decoder) (k structKey, err error) {
	if c.info.embed != nil && c.embed == nil {
		t, err := s.d.PeekType()
		if err != nil {
			return k, err
		}
		k.isName = t == gdwire.TypeStringName
	}
	k.text, k.isText, err = export.ReadText(s.d)
	if err == bufio.ErrBufferFull {
		k.text, err = s.longText(c.typ)
		k.isText = err == nil
	}
	return k, err
}

// readKeyOrRest reads the next of n keys after decode read a pair for each of the first next
// fields. It returns true if the key belongs to the next field. Otherwise it also
// reads all other pairs, in any order, and the End.
func (c *structDecoder) readKeyOrRest(s *decoder, x variable, n, next int) (isNext bool, err error) {
	key, err := c.readKey(s)
	if err != nil {
		return false, err
	}
	if key.isText && next < len(c.fields) && string(key.text) == c.fields[next].name {
		return true, nil
	}
	return false, c.decodeRest(s, x, n-next, next, key)
}

// decodeRest reads the last n pairs, in any order, and the End, after decode read a pair for each of
// the first next fields. key is the key of the first of the n pairs.
func (c *structDecoder) decodeRest(s *decoder, x variable, n, next int, key structKey) (err error) {
	seen, unknown := c.newSeen(next), ""
	var last *fieldDecoder // of the latest key that is a name, or nil
	if next > 0 {
		last = c.fields[next-1]
	}
	f := c.find(s, key, last)
	for left := n; ; {
		switch {
		case f == nil:
			if last == nil && c.info.union && key.isText && unknown == "" {
				unknown = string(key.text[:min(len(key.text), quotedBytes+1)])
			}
			err = c.decodeUnknown(s, x, key, &seen)
		case seen.has(f.i):
			err = s.fail(gdwire.TypeDictionary, c.typ, fmt.Errorf("%w %s", ErrDuplicateKey, quoted(f.name)))
		default:
			seen.add(f.i)
			last, err = f, f.decode(s, x)
		}
		if err != nil {
			return err
		}
		if left--; left == 0 {
			if err = c.leave(s, &seen); err == nil && last == nil && unknown != "" {
				err = s.fail(gdwire.TypeDictionary, c.typ, &unknownKeyError{unknown, c.info})
			}
			return err
		}
		if f = last.follower(); f == nil || !export.ReadKey(s.d, &f.key) {
			if key, err = c.readKey(s); err != nil {
				return err
			}
			f = c.find(s, key, last)
		}
	}
}

// leave reads the End of a Dictionary, and returns an error if a required field was not seen.
func (c *structDecoder) leave(s *decoder, seen *seenFields) error {
	for i := range c.info.required {
		if c.fields[i].required && !seen.has(i) {
			return c.missing(s, gdwire.TypeDictionary, i)
		}
	}
	return s.leave()
}

// missing reads the End of a Dictionary or Array, and returns the error for the first required field
// from index i, with the path of the missing key or element.
func (c *structDecoder) missing(s *decoder, t gdwire.Type, i int) error {
	for !c.fields[i].required {
		i++
	}
	if err := s.leave(); err != nil {
		return err
	}
	return c.missingError(s, t, i)
}

// missingError returns the error for the latest value, without field i.
func (c *structDecoder) missingError(s *decoder, t gdwire.Type, i int) error {
	f := c.fields[i]
	err := s.fail(t, c.typ, fmt.Errorf("%w %s", ErrMissingKey, quoted(f.name)))
	if at, ok := err.(*gdwire.Error); ok {
		if c.info.array {
			at.Path += fmt.Sprintf("[%d]", i)
		} else {
			step := text.Step{Key: text.Value{Type: gdwire.TypeString, Text: f.name}}
			at.Path = string(step.Append([]byte(at.Path)))
		}
	}
	return withField(err, f.goName)
}

// follower returns the field that probably follows f, or nil.
func (f *fieldDecoder) follower() *fieldDecoder {
	if f == nil {
		return nil
	}
	return f.then.Load()
}

// guessesKept is the number of names found without a guess before find learns another. Goroutines that read other orders
// of the same keys then rarely write to the memory that all of them read.
const guessesKept = 8

// find returns the field whose name is key, or nil if there is none, and learns which field follows last: a Dictionary in
// another order than the fields takes half of the instructions.
func (c *structDecoder) find(s *decoder, key structKey, last *fieldDecoder) *fieldDecoder {
	if f := last.follower(); f != nil && key.isText && string(key.text) == f.name {
		return f
	}
	if !key.isText || c.info.bits&nameBit(key.text) == 0 {
		return nil
	}
	i, ok := c.info.byName[string(key.text)]
	if !ok {
		return nil
	}
	if s.guessed++; last != nil && s.guessed%guessesKept == 0 {
		last.then.Store(c.fields[i])
	}
	return c.fields[i]
}

// decode reads the value of the field of the struct x.
func (f *fieldDecoder) decode(s *decoder, x variable) error {
	if err := f.do(s, fieldAt(x, f.fieldLocation)); err != nil {
		return withField(err, f.goName)
	}
	return nil
}

// embeddedPlan returns the plan for a field of the struct t inside an embedded pointer. The
// variable of the plan is the whole t.
func (b decodePlanner) embeddedPlan(t reflect.Type, f *field, of *plan[decodeFunc]) *plan[decodeFunc] {
	return &plan[decodeFunc]{do: reflected(t, func(s *decoder, v reflect.Value) error {
		v, err := s.allocField(v, f.index)
		if err != nil {
			return err
		}
		return of.do(s, variableOf(v))
	})}
}

// allocField returns the field of v at index, and allocates structs embedded as nil pointers.
func (s *decoder) allocField(v reflect.Value, index []int) (reflect.Value, error) {
	for _, i := range index[:len(index)-1] {
		v = v.Field(i)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if err := s.charge(v.Type(), int64(v.Type().Elem().Size())); err != nil {
					return v, err
				}
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
	}
	return v.Field(index[len(index)-1]), nil
}

// clearUnread makes the unread fields zero.
func (c *structDecoder) clearUnread(v reflect.Value, seen *seenFields) {
	for i := range c.fields {
		if !seen.has(i) {
			if f, ok := fieldOf(v, c.fields[i].index); ok {
				f.SetZero()
			}
		}
	}
}

// decodeUnknown collects or skips a pair with a key that names no field, or returns an error,
// as the struct and the Options say. A text key was read before; any other key is next.
func (c *structDecoder) decodeUnknown(s *decoder, x variable, key structKey, seen *seenFields) error {
	switch {
	case c.info.embed != nil:
		if err := c.collect(s, x, key, seen); err != nil {
			return withField(err, c.info.embed.goName)
		}
		return nil
	case s.rejectUnknown && key.isText:
		name := string(key.text[:min(len(key.text), quotedBytes+1)]) // quoted cuts the rest
		return s.fail(gdwire.TypeDictionary, c.typ, &unknownKeyError{name, c.info})
	case s.rejectUnknown:
		t, err := s.token()
		if err != nil {
			return err
		}
		return s.fail(gdwire.TypeDictionary, c.typ, fmt.Errorf("%w of type %v", ErrUnknownKey, t.Type()))
	case !key.isText:
		if err := s.d.SkipValue(); err != nil {
			return err
		}
	}
	return s.d.SkipValue()
}

// An unknownKeyError is an ErrUnknownKey with a name. A similar field is looked for when the error is
// printed: hostile input can cause many errors.
type unknownKeyError struct {
	name string // cut for quoted
	info *structFields
}

func (e *unknownKeyError) Error() string {
	s := fmt.Sprintf("%v %s", ErrUnknownKey, quoted(e.name))
	if similar := text.MostSimilar(e.name, e.info.names()); similar != "" {
		s += fmt.Sprintf("; did you mean %s?", quoted(similar))
	}
	return s
}

func (e *unknownKeyError) Unwrap() error { return ErrUnknownKey }

// placeOf returns the function for the field at index, allocating embedded pointers on the way.
func (c *structDecoder) placeOf(index []int) func(s *decoder, x variable) (variable, error) {
	if throughPointer(c.typ, index) {
		return func(s *decoder, x variable) (_ variable, err error) {
			f, err := s.allocField(c.vars.value(x), index)
			if err != nil {
				return x, err
			}
			return variableOf(f), nil
		}
	}
	at := locationOf(c.typ, index)
	return func(_ *decoder, x variable) (variable, error) { return fieldAt(x, at), nil }
}

// collect reads the value of an unknown key, and adds the pair to the field collecting such pairs.
func (c *structDecoder) collect(s *decoder, x variable, key structKey, seen *seenFields) (err error) {
	if seen.pairs++; seen.pairs == 1 {
		if seen.embed, err = c.place(s, x); err != nil {
			return err
		}
		if c.embed != nil && c.embedVars.value(seen.embed).Len() > 0 {
			seen.keys = map[string]struct{}{}
		}
	}
	t := c.info.embed.typ
	if c.embed != nil && key.isText {
		if err := s.charge(t, int64(len(key.text))); err != nil {
			return err
		}
		return c.collectInMap(s, seen.embed, s.keys.text(key.text), seen.keys)
	}
	var k any
	switch {
	case !key.isText:
		k, err = s.anyKey()
	case key.isName:
		k, err = StringName(key.text), s.charge(t, int64(len(key.text)))
	default:
		k, err = string(key.text), s.charge(t, int64(len(key.text)))
	}
	if err != nil {
		return err
	}
	if path, ok := k.(NodePath); ok && c.embed != nil {
		return c.collectInMap(s, seen.embed, string(path), seen.keys)
	}
	if c.embed != nil {
		return s.fail(gdwire.TypeDictionary, t, fmt.Errorf("%w: key of Go type %T", gdwire.ErrType, k))
	}
	if err := s.charge(t, entrySize+indexSize); err != nil {
		return err
	}
	value, err := s.any()
	if err != nil && !isContainer(value) {
		return err
	}
	f := c.embedVars.value(seen.embed)
	if f.IsNil() {
		f.Set(reflect.ValueOf(&Dictionary{}))
	}
	f.Interface().(*Dictionary).setDecoded(k, value)
	return err
}

// collectInMap reads the value of an unknown key, and adds the pair to the map x. For a key already in the map, the value is read
// into a copy of the existing value. seen is seenFields.keys.
func (c *structDecoder) collectInMap(s *decoder, x variable, text string, seen map[string]struct{}) error {
	m, v := c.embed, c.embedVars.value(x)
	p := m.takePair(s)
	set(p.keyAt, text)
	var had bool
	if m.get != nil {
		had = m.get(x, p.keyAt, p.valueAt)
	} else if old := v.MapIndex(p.key); old.IsValid() {
		had = true
		p.value.Set(old)
	}
	if v.IsNil() {
		if err := s.charge(m.typ, mapHeader); err != nil {
			return err
		}
	}
	if seen != nil {
		_, had = seen[text]
		seen[text] = struct{}{}
	}
	if had {
		return m.duplicateError(s, text)
	}
	if err := s.charge(m.typ, m.sizes.added(v.Len())+m.sizes.value); err != nil {
		return err
	}
	if err := m.elem.do(s, p.valueAt); err != nil {
		return err
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(m.typ))
	}
	if m.set != nil {
		m.set(x, p.keyAt, p.valueAt)
	} else {
		v.SetMapIndex(p.key, p.value)
	}
	m.putPair(s, p)
	return nil
}

// decodeArray reads a positional struct from n elements.
func (c *structDecoder) decodeArray(s *decoder, x variable, n int) error {
	if err := s.enter(c.typ); err != nil {
		return err
	}
	seen := c.newSeen(0)
	for i := range n {
		var err error
		switch {
		case i < len(c.fields):
			seen.add(i)
			err = c.fields[i].decode(s, x)
		case s.rejectUnknown:
			t, tokenErr := s.token()
			if err = tokenErr; err == nil {
				err = s.fail(t.Type(), c.typ, ErrUnknownKey)
			}
		default:
			err = s.d.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	c.clearUnread(c.vars.value(x), &seen)
	if n < c.info.required {
		return c.missing(s, gdwire.TypeArray, n)
	}
	return s.leave()
}
