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
	typ         reflect.Type
	vars        variableType // typ
	tag         *tag         // with declared types, or nil
	keys        mapKeys
	elem        *plan[encodeFunc]
	list        reflect.Type // of pairs
	size        uintptr      // of a pair
	key, value  fieldLocation
	frequentMap      // or zero
	reuses      bool // the memory of pairs: no method can keep its address
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
	pair := reflect.StructOf([]reflect.StructField{{Name: "Key", Type: t.Key()}, {Name: "Value", Type: t.Elem()}})
	c := &mapEncoder{
		typ: t, vars: variableTypeOf(t), keys: keys, elem: elem,
		list: reflect.SliceOf(pair), size: pair.Size(), key: locationOf(pair, []int{0}), value: locationOf(pair, []int{1}),
		frequentMap: frequentMaps[[2]reflect.Type{t.Key(), t.Elem()}],
	}
	c.reuses = c.newPairs != nil && hasNoMethods(t.Key()) && hasNoMethods(t.Elem())
	if c.newPairs == nil && keys.word == nil && keys.text == nil {
		c.keys.text = func(_ *encoder, x variable) (string, error) { return textIn(x), nil }
	}
	return c
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
	vars, isOwn := variableTypeOf(t), ownTypes[t] != nil
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
	if c.newPairs == nil {
		return c.reflectedPairs(m)
	}
	if p = s.pairs[c.slot]; p != nil && c.reuses {
		s.pairs[c.slot] = p.next
	} else {
		p = &mapPairs{copiedPairs: c.newPairs()}
	}
	p.pairs, n = p.fill(m)
	return p, n
}

// reflectedPairs returns the pairs of any map, and their number, with three times as many instructions.
func (c *mapEncoder) reflectedPairs(x variable) (p *mapPairs, n int) {
	m := c.vars.value(x)
	most := m.Len()
	list := reflect.MakeSlice(c.list, most, most)
	for pairs := m.MapRange(); n < most && pairs.Next(); n++ {
		pair := list.Index(n)
		pair.Field(0).SetIterKey(pairs)
		pair.Field(1).SetIterValue(pairs)
	}
	return &mapPairs{pairs: dataOf(list)}, n
}

// maxSorted is the largest number of pairs in memory kept for the next map.
const maxSorted = 1 << 11

// giveBack keeps the memory of n pairs for the next map.
func (c *mapEncoder) giveBack(s *encoder, p *mapPairs, n int) {
	if c.reuses && n <= maxSorted {
		p.empty()
		p.texts, p.next = nil, s.pairs[c.slot]
		s.pairs[c.slot] = p
	}
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
		pair := elemAt(p.pairs, at, c.size)
		key := fieldAt(pair, c.key)
		var err error
		switch {
		case write == nil:
			err = s.e.WriteString(textIn(key))
		case p.texts == nil:
			err = write(s, key, "")
		default:
			err = write(s, key, p.texts[at].Key)
		}
		if err != nil {
			return err
		}
		if err := c.elem.do(s, fieldAt(pair, c.value)); err != nil {
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
		p.texts = make([]Entry[string, struct{}], n)
		text = func(i int) string { return p.texts[i].Key }
		for i := range p.texts {
			var textErr error
			if p.texts[i].Key, textErr = c.keys.text(s, c.keyAt(p, i)); textErr != nil && (err == nil || textErr.Error() < err.Error()) {
				err = textErr
			}
		}
		if err != nil {
			return 0, s.refuse(err) // in place of the error of the last key
		}
		c.setWords(order, dataIn(&p.texts), reflect.TypeFor[Entry[string, struct{}]]().Size(), true)
	default:
		if n <= fewSorted {
			c.setWords(order, p.pairs, c.size, false) // few texts rarely begin with the same bytes
			if sortFew(order) {
				return n, nil
			}
		}
		c.setWords(order, p.pairs, c.size, true)
	}
	return sortKeys(order, text), nil
}

// keyAt returns the key at an index of p.
func (c *mapEncoder) keyAt(p *mapPairs, i int) variable {
	return fieldAt(elemAt(p.pairs, i, c.size), c.key)
}

// pairsOf are the copiedPairs of maps with keys of type K and values of type V.
type pairsOf[K comparable, V any] struct{ all []Entry[K, V] }

func (p *pairsOf[K, V]) fill(x variable) (pairs variable, n int) {
	m := *pointer[map[K]V](x)
	all := slices.Grow(p.all, len(m))
	for k, v := range m {
		all = append(all, Entry[K, V]{k, v})
	}
	p.all = all
	return dataIn(&p.all), len(all)
}

func (p *pairsOf[K, V]) empty() {
	clear(p.all)
	p.all = p.all[:0]
}

// A frequentMap makes the pairsOf of a frequent type of maps, which are filled without reflection.
type frequentMap struct {
	slot     int // in encoder.pairs
	newPairs func() copiedPairs
}

// frequentMaps contains the frequentMaps by the types of keys and values.
var frequentMaps = func() map[[2]reflect.Type]frequentMap {
	all := map[[2]reflect.Type]frequentMap{}
	addKeys[string](all)
	addKeys[StringName](all)
	addKeys[int](all)
	addKeys[int32](all)
	addKeys[int64](all)
	addTexts[string](all)
	addTexts[StringName](all)
	return all
}()

// addKeys adds the maps with keys of type K and scalars or any.
func addKeys[K comparable](all map[[2]reflect.Type]frequentMap) {
	addMap[K, bool](all)
	addMap[K, int](all)
	addMap[K, int64](all)
	addMap[K, float64](all)
	addMap[K, string](all)
	addMap[K, any](all)
}

// addTexts adds the maps with texts of type K and lists or trees.
func addTexts[K ~string](all map[[2]reflect.Type]frequentMap) {
	addMap[K, []byte](all)
	addMap[K, []int64](all)
	addMap[K, []string](all)
	addMap[K, []any](all)
	addMap[K, map[string]any](all)
}

func addMap[K comparable, V any](all map[[2]reflect.Type]frequentMap) {
	all[[2]reflect.Type{reflect.TypeFor[K](), reflect.TypeFor[V]()}] = frequentMap{len(all), func() copiedPairs { return &pairsOf[K, V]{} }}
}

// duplicateError makes the Encoder fail with the error for keys encoded as the key at an index of p. Of different names
// of these keys, the error contains the first: maps have no order.
func (c *mapEncoder) duplicateError(s *encoder, p *mapPairs, at int) error {
	name := keyName(valueOf(c.keyAt(p, at), c.typ.Key()))
	for i := range p.texts {
		if p.texts[i].Key == p.texts[at].Key {
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

// setWords sets order to the order of pairs of this size, with texts as keys. The words are eight bytes of each key, after the
// common prefix of all keys if cut is set: -14 % of the instructions for a map of 1000 entries, -29 % of the time.
func (c *mapEncoder) setWords(order []sortedKey, pairs variable, size uintptr, cut bool) {
	common := 0
	if cut {
		first := textIn(fieldAt(elemAt(pairs, 0, size), c.key))
		common = len(first)
		for i := range order {
			common = commonPrefix(first, textIn(fieldAt(elemAt(pairs, i, size), c.key)), common)
		}
	}
	for i := range order {
		order[i] = sortedKey{wordOf(textIn(fieldAt(elemAt(pairs, i, size), c.key))[common:]), i}
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

// A textMap decodes maps with keys of type string and values of one frequent type without methods. The
// results are the same as of mapDecoder.decode, with a quarter to half of the instructions.
type textMap interface {
	// decoder returns a function equivalent to m.decode.
	decoder(m *mapDecoder) func(s *decoder, v reflect.Value, n int) error
	// collector returns a function equivalent to c.collectInMap.
	collector(c *structDecoder) collectFunc
}

// textMaps contains the textMaps, by the type of their values.
var textMaps map[reflect.Type]textMap

func init() { // the functions refer to plans
	textCollector = func(c *structDecoder) collectFunc {
		if m := textMapFor(c.info.embed.typ); m != nil {
			return m.collector(c)
		}
		return nil
	}
	textMaps = map[reflect.Type]textMap{
		anyType:                    &textMapOf[any]{slot: 0},
		reflect.TypeFor[bool]():    &textMapOf[bool]{slot: 1},
		reflect.TypeFor[int]():     &textMapOf[int]{slot: 2},
		reflect.TypeFor[int32]():   &textMapOf[int32]{slot: 3},
		reflect.TypeFor[int64]():   &textMapOf[int64]{slot: 4},
		reflect.TypeFor[float32](): &textMapOf[float32]{slot: 5},
		reflect.TypeFor[float64](): &textMapOf[float64]{slot: 6},
		stringType:                 &textMapOf[string]{slot: 7},
		reflect.TypeFor[[]byte]():  &textMapOf[[]byte]{slot: 8},
	}
}

// textMapFor returns the textMap for t, a map, or nil if there is none.
func textMapFor(t reflect.Type) textMap {
	if t.Key() != stringType {
		return nil
	}
	return textMaps[t.Elem()]
}

// A textMapOf is the textMap for values of type T.
type textMapOf[T any] struct {
	slot int // in decoder.values
}

func (c *textMapOf[T]) decoder(m *mapDecoder) func(s *decoder, v reflect.Value, n int) error {
	return func(s *decoder, v reflect.Value, n int) error {
		if v.Len() > 0 {
			return m.decode(s, v, n) // compares with the earlier keys
		}
		room, err := m.makeMap(s, v, n)
		if err != nil {
			return err
		}
		filter := s.takeFilter(n)
		to := *pointer[map[string]T](variableOf(v))
		pair, zero := new(Entry[string, T]), *new(T)
		variables := reflect.ValueOf(pair).Elem()
		key, value := variableOf(variables.Field(0)), variableOf(variables.Field(1))
		for i := range n {
			if err := m.key(s, key); err != nil {
				return err
			}
			if i >= room {
				if room, err = m.chargeEntries(s, i, room); err != nil {
					return err
				}
			}
			if filter == nil || filter.add(pair.Key) {
				if _, again := to[pair.Key]; again {
					return m.duplicateError(s, pair.Key)
				}
			}
			if err := m.elem.do(s, value); err != nil {
				return err
			}
			to[pair.Key] = pair.Value
			pair.Value = zero // its memory is now the map's
		}
		s.putFilter(filter)
		return nil
	}
}

func (c *textMapOf[T]) collector(d *structDecoder) collectFunc {
	return func(s *decoder, x variable, key string, seen map[string]struct{}) error {
		m := pointer[map[string]T](x)
		value, _ := s.values[c.slot].(*mapValue[T])
		if s.values[c.slot] = nil; value == nil { // at first, or in a value
			value = new(mapValue[T])
			value.at = variableOf(reflect.ValueOf(&value.v).Elem())
		}
		var had bool
		value.v, had = (*m)[key]
		if err := d.chargePair(s, *m == nil, key, len(*m), had, seen); err != nil {
			return err
		}
		if err := d.embed.do(s, value.at); err != nil {
			return err
		}
		if *m == nil {
			*m = map[string]T{}
		}
		(*m)[key] = value.v
		var zero T
		value.v = zero
		s.values[c.slot] = value
		return nil
	}
}

// A mapValue is a variable for a value of a map.
type mapValue[T any] struct {
	v  T
	at variable // v
}

// makeMapDecoder returns the function to decode a t, a map, from a Dictionary of at most this many pairs unless most is 0.
func (b decodePlanner) makeMapDecoder(t reflect.Type, most int) (decodeFunc, error) {
	m, err := b.newMapDecoder(t, most)
	if err != nil {
		return nil, err
	}
	if text := textMapFor(t); text != nil {
		return m.reading(text.decoder(m)), nil
	}
	return m.reading(m.decode), nil
}
