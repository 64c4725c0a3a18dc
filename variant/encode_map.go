package variant

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// Encoders of maps, and how text keys are sorted.

// A mapEncoder writes maps of a type as Dictionaries with sorted keys. Two keys encoded as the same value are an error.
type mapEncoder struct {
	typ                reflect.Type
	vars               variableType // typ
	tag                *tag         // with declared types, or nil
	keys               mapKeys
	elem               *plan[encodeFunc]
	keySize, valueSize uintptr
	mapAccess               // or zero
	slot               int  // in encoder.pairs
	reuses             bool // the memory of pairs: no method can keep its address
}

// makeMapEncoder returns the function to encode a t, a map, as a Dictionary with the declared types of a tag.
func (b encodePlanner) makeMapEncoder(t reflect.Type, tag *tag) (encodeFunc, error) {
	elem, err := b.declaredPlan(t.Elem(), tag.elem, false)
	if err != nil {
		return nil, err
	}
	keys, err := b.keysOf(t.Key(), tag.key)
	if err != nil {
		return nil, err
	}
	c := newMapEncoder(t, keys, elem)
	if tag.isTyped() {
		c.tag = tag
	}
	return c.encode, nil
}

// newMapEncoder returns the mapEncoder of a t, a map, without declared types.
func newMapEncoder(t reflect.Type, keys mapKeys, elem *plan[encodeFunc]) *mapEncoder {
	return &mapEncoder{
		typ: t, vars: variableTypeOf(t), keys: keys, elem: elem, keySize: t.Key().Size(), valueSize: t.Elem().Size(),
		mapAccess: accessTo(t), slot: int(mapTypes.Add(1)), reuses: hasNoMethods(t.Key()) && hasNoMethods(t.Elem()),
	}
}

// mapKeys sorts and writes the keys of a map: numbers by word, others by text, and strings without either. Words and texts are
// equal exactly for keys encoded as the same value.
type mapKeys struct {
	word  func(key variable) uint64
	text  func(s *encoder, key variable) (string, error)
	write func(s *encoder, key variable, text string) error // or nil, for Strings
	// check returns an error for the first invalid key in an order, or is nil.
	check func(s *encoder, c *mapEncoder, p *mapPairs, order []sortedKey) error
}

// keysOf returns the mapKeys of a t with the given declared type, or none. Numbers and text are sorted by value, other keys by their
// encoding.
func (b encodePlanner) keysOf(t reflect.Type, declared gdwire.Elem) (keys mapKeys, err error) {
	if err := checkKey(t, textMarshalerType); err != nil {
		return keys, err
	}
	key, err := b.declaredPlan(t, declared, true)
	if err != nil {
		return keys, err
	}
	vars, isOwn := variableTypeOf(t), ownTypeOf(t) != nil
	m, isMath := componentsOf(t)
	keys.write = func(s *encoder, x variable, _ string) error { return key.do(s, x) }
	switch zero := reflect.Zero(t); {
	case t.Kind() != reflect.Interface && !isOwn && reflect.PointerTo(t).Implements(textMarshalerType) && isText(declared.Type):
		keys.text = newTextMethod(t).key
		keys.write = func(s *encoder, _ variable, text string) error { return s.textAs(declared.Type, text) }
	case t == reflect.TypeFor[NodePath](), t.Kind() == reflect.String && declared.Type == gdwire.TypeNodePath:
		keys.text = func(_ *encoder, x variable) (string, error) { return wire.CleanNodePath(textIn(x)), nil }
	case t.Kind() == reflect.String:
		if !isOwn && declared.Type == 0 {
			keys.write = nil
		}
	case !isOwn && zero.CanInt():
		keys.word = integers[t.Kind()].word
	case !isOwn && zero.CanUint():
		keys.word = func(x variable) uint64 { return vars.value(x).Uint() }
	case zero.CanFloat():
		keys.word = func(x variable) uint64 { return floatWord(vars.value(x).Float()) }
	case isMath && m.n == 2 && m.leaf == reflect.Int32: // the cells of a tile map
		keys.word = func(x variable) uint64 {
			var c [2]float64
			m.load(x, c[:])
			return bits.ReverseBytes64(uint64(uint32(int32(c[0]))) | uint64(uint32(int32(c[1])))<<32) // in the order of the encodings
		}
	case isMath: // to encode a key again takes less time than to check its encoding
		keys.text = encodedKey(key)
	default:
		keys.text, keys.write = encodedKey(key), writeEncoded
	}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Array, reflect.Struct, reflect.Interface:
		keys.check = checkKeys
	}
	return keys, nil
}

// floatWord is the word of a float. NaNs are equal, and come first.
func floatWord(key float64) uint64 {
	switch x := math.Float64bits(key); {
	case key != key:
		return 0
	case x>>63 != 0:
		return ^x
	default:
		return x | 1<<63
	}
}

// encode writes m as a Dictionary.
func (c *mapEncoder) encode(s *encoder, m variable) error {
	if err := s.enter(c.typ); err != nil {
		return err
	}
	p, n := c.take(s, m)
	var err error
	if c.tag != nil && s.declaresTypes() {
		err = s.e.BeginTypedDict(n, c.tag.key, c.tag.elem)
	} else {
		err = s.e.BeginDict(n)
	}
	if err == nil {
		err = c.write(s, p, n)
	}
	c.giveBack(s, p, n)
	if err != nil {
		return err
	}
	return s.leave()
}

// take returns the pairs of m, and their number. Maps in m take other memory.
func (c *mapEncoder) take(s *encoder, m variable) (p *mapPairs, n int) {
	if c.slot >= len(s.pairs) {
		s.pairs = append(s.pairs, make([]*mapPairs, c.slot+1-len(s.pairs))...)
	}
	if p = s.pairs[c.slot]; p != nil {
		s.pairs[c.slot] = p.next
	} else {
		p = &mapPairs{keyList: newSlice(c.typ.Key()), valueList: newSlice(c.typ.Elem())}
		p.keysAt, p.valuesAt = variableOf(p.keyList), variableOf(p.valueList)
	}
	if c.pairs != nil {
		c.pairs(m, p.keysAt, p.valuesAt)
	} else {
		p.copy(c.vars.value(m))
	}
	n, _ = lenCap(p.keysAt)
	p.keys, p.values = sliceData(p.keysAt), sliceData(p.valuesAt)
	return p, n
}

// copy does for any map what mapAccess.pairs does for a frequent one.
func (p *mapPairs) copy(m reflect.Value) {
	n := m.Len()
	for _, list := range [...]reflect.Value{p.keyList, p.valueList} {
		list.SetLen(0)
		list.Grow(n)
		list.SetLen(n)
	}
	i := 0
	for pairs := m.MapRange(); i < n && pairs.Next(); i++ {
		p.keyList.Index(i).SetIterKey(pairs)
		p.valueList.Index(i).SetIterValue(pairs)
	}
}

// newSlice returns a variable for a slice of t.
func newSlice(t reflect.Type) reflect.Value { return reflect.New(reflect.SliceOf(t)).Elem() }

// maxSorted is the size in bytes of the largest keys and values whose memory is kept for the next map.
const maxSorted = 64 << 10

// giveBack keeps the memory of n pairs for the next map.
func (c *mapEncoder) giveBack(s *encoder, p *mapPairs, n int) {
	if c.reuses && uintptr(n)*(c.keySize+c.valueSize) <= maxSorted {
		p.keyList.Clear()
		p.valueList.Clear()
	} else {
		p.keyList.SetZero()
		p.valueList.SetZero()
		p.order = nil
	}
	p.texts, p.next = nil, s.pairs[c.slot]
	s.pairs[c.slot] = p
}

// write writes the n pairs in p.
func (c *mapEncoder) write(s *encoder, p *mapPairs, n int) error {
	if n == 0 {
		return nil
	}
	twice, err := c.sort(s, p, n)
	if err != nil {
		return err
	}
	if c.keys.check != nil {
		if err := c.keys.check(s, c, p, p.order[:twice]); err != nil {
			return err
		}
	}
	if twice < n {
		return c.duplicateError(s, p, p.order[twice].at)
	}
	write := c.keys.write
	for i := range p.order {
		at := p.order[i].at
		key := c.keyAt(p, at)
		var err error
		switch {
		case write == nil:
			err = s.e.WriteString(textIn(key))
		case p.texts == nil:
			err = write(s, key, "")
		default:
			err = write(s, key, p.texts[at])
		}
		if err != nil {
			return err
		}
		if err := c.elem.do(s, elemAt(p.values, at, c.valueSize)); err != nil {
			return err
		}
	}
	return nil
}

// sort sets the order of the n pairs in p. It returns the index in this order of the first key encoded as the one before,
// or n. Of several keys without an encoding, the error has the least text: they have no order.
func (c *mapEncoder) sort(s *encoder, p *mapPairs, n int) (twice int, err error) {
	order := slices.Grow(p.order[:0], 2*n)[:n] // with room for sortMany
	p.order = order
	text := func(i int) string { return textIn(c.keyAt(p, i)) }
	switch {
	case n == 1 && c.keys.text == nil:
		order[0] = sortedKey{}
		return n, nil
	case c.keys.word != nil:
		text = func(int) string { return "" }
		for i := range order {
			order[i] = sortedKey{c.keys.word(c.keyAt(p, i)), i}
		}
	case c.keys.text != nil:
		p.texts = make([]string, n)
		text = func(i int) string { return p.texts[i] }
		for i := range p.texts {
			var textErr error
			if p.texts[i], textErr = c.keys.text(s, c.keyAt(p, i)); textErr != nil && (err == nil || textErr.Error() < err.Error()) {
				err = textErr
			}
		}
		if err != nil {
			return 0, s.refuse(err) // in place of the error of the last key
		}
		setWords(order, sliceData(variableAt(&p.texts)), stringType.Size(), true)
	default:
		if n <= fewSorted {
			setWords(order, p.keys, c.keySize, false) // few texts rarely begin with the same bytes
			if sortFew(order) {
				return n, nil
			}
		}
		setWords(order, p.keys, c.keySize, true)
	}
	return sortKeys(order, text), nil
}

// keyAt returns the key at an index of p.
func (c *mapEncoder) keyAt(p *mapPairs, i int) variable {
	return elemAt(p.keys, i, c.keySize)
}

// duplicateError makes the Encoder fail with the error for keys encoded as the key at an index of p. Of different names
// of these keys, the error contains the first: maps have no order.
func (c *mapEncoder) duplicateError(s *encoder, p *mapPairs, at int) error {
	name := keyName(valueOf(c.keyAt(p, at), c.typ.Key()))
	for i := range p.texts {
		if p.texts[i] == p.texts[at] {
			name = min(name, keyName(valueOf(c.keyAt(p, i), c.typ.Key())))
		}
	}
	return s.fail(c.typ.Key(), fmt.Errorf("%w %s", ErrDuplicateKey, quoted(name)))
}

// keyName returns the text of a key in an error. It is not the address of a pointer.
func keyName(key reflect.Value) string {
	isReference := func() bool { return key.Kind() == reflect.Pointer || key.Kind() == reflect.Interface }
	for isReference() && !key.IsNil() && !key.Type().Implements(reflect.TypeFor[fmt.Stringer]()) {
		key = key.Elem()
	}
	return fmt.Sprint(key)
}

// checkKeys returns an error for a key that Unmarshal would refuse: a NaN, found by no map, or a key in an interface that equals
// another but is encoded as different bytes, such as a string and a StringName with the same text.
func checkKeys(s *encoder, c *mapEncoder, p *mapPairs, order []sortedKey) error {
	if c.keys.word != nil {
		order = order[:1] // NaNs come first
	}
	t := c.typ.Key()
	var seen map[any]struct{}
	if t.Kind() == reflect.Interface {
		seen = make(map[any]struct{}, len(order))
	}
	for _, next := range order {
		key := valueOf(c.keyAt(p, next.at), t)
		if holdsNaN(key) {
			return s.fail(t, nanError())
		}
		if seen == nil {
			continue
		}
		k, ok := hashable(key.Interface())
		if _, again := seen[k]; ok && again {
			return c.duplicateError(s, p, next.at)
		}
		if ok {
			seen[k] = struct{}{}
		}
	}
	return nil
}

// encodedKey returns a text for mapKeys: the encoding of a key, for writeEncoded. Keys can contain maps with keys that
// contain maps: encoding each key twice would take time exponential in the nesting.
func encodedKey(plan *plan[encodeFunc]) func(*encoder, variable) (string, error) {
	return func(s *encoder, key variable) (string, error) {
		inner := getEncoder()
		defer inner.release()
		inner.resetBytes(&Options{Encoder: s.e.Options()}, inner.buf[:0])
		inner.depth = s.depth
		err := plan.do(inner, key)
		b := inner.e.Bytes()
		if cap(b) <= 2*maxKept {
			inner.buf = b[:0]
		}
		if err != nil {
			if at, ok := err.(*gdwire.Error); ok {
				err = at.Err // the offset and path of the map replace those in the key
			}
			return "", s.refuse(err)
		}
		return string(b), nil
	}
}

// writeEncoded writes a key encoded by encodedKey.
func writeEncoded(s *encoder, _ variable, encoded string) error {
	return s.e.WriteRaw([]byte(encoded))
}

// sortFew takes the least time for up to fewSorted keys, and sortMany for manySorted keys or more.
const (
	fewSorted  = 12
	manySorted = 200
)

// setWords sets order to the order of texts, elements of this size. The words are eight bytes of each key, after the
// common prefix of all keys if cut is set: -14 % of the instructions for a map of 1000 entries, -29 % of the time.
func setWords(order []sortedKey, texts variable, size uintptr, cut bool) {
	common := 0
	if cut {
		first := textIn(elemAt(texts, 0, size))
		common = len(first)
		for i := range order {
			common = commonPrefix(first, textIn(elemAt(texts, i, size)), common)
		}
	}
	for i := range order {
		order[i] = sortedKey{wordOf(textIn(elemAt(texts, i, size))[common:]), i}
	}
}

// sortKeys sorts keys by their words, and keys with equal words by their texts. It returns the index in order of the first key
// equal to the one before, or the number of keys.
func sortKeys(order []sortedKey, text func(i int) string) (twice int) {
	switch n := len(order); {
	case n >= manySorted:
		sortMany(order)
	case n > fewSorted:
		slices.SortFunc(order, func(a, b sortedKey) int { return cmp.Compare(a.word, b.word) })
	case sortFew(order):
		return n
	}
	twice = len(order)
	for first, i := 0, 1; i < len(order); i++ {
		if order[i].word != order[first].word {
			first = i
			continue
		}
		for i+1 < len(order) && order[i+1].word == order[first].word {
			i++
		}
		same := order[first : i+1]
		slices.SortFunc(same, func(a, b sortedKey) int { return strings.Compare(text(a.at), text(b.at)) })
		for j := range same[1:] {
			if text(same[j].at) == text(same[j+1].at) {
				twice = min(twice, first+j+1)
			}
		}
	}
	return twice
}

// sortFew sorts few keys by their words, by insertion, and reports whether all words are distinct: -11 % of
// a tree of small maps.
func sortFew(order []sortedKey) (distinct bool) {
	distinct = true
	for i, next := range order {
		for ; i > 0; i-- {
			last := order[i-1]
			if last.word <= next.word {
				distinct = distinct && last.word < next.word
				break
			}
			order[i] = last
		}
		order[i] = next
	}
	return distinct
}

// sortMany sorts many keys by their words, byte by byte from the last, in the memory after them. -15 % of a map of
// 1000 entries.
func sortMany(order []sortedKey) {
	n := len(order)
	from, to := order, slices.Grow(order, n)[n:2*n]
	differ := uint64(0)
	for _, k := range order {
		differ |= k.word ^ order[0].word
	}
	for shift := 0; shift < 64; shift += 8 {
		if byte(differ>>shift) == 0 {
			continue
		}
		var next [256]int // the index of the next key with each byte
		for _, k := range from {
			next[byte(k.word>>shift)]++
		}
		sum := 0
		for i, n := range next {
			next[i], sum = sum, sum+n
		}
		for _, k := range from {
			at := &next[byte(k.word>>shift)]
			to[*at] = k
			*at++
		}
		from, to = to, from
	}
	copy(order, from)
}

// commonPrefix returns the length of the common prefix of a and b, up to most.
func commonPrefix(a, b string, most int) int {
	n := min(most, len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
