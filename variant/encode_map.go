package variant

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// A pairsFunc writes the pairs of a map, sorted by keys. Two keys that are encoded as
// the same value are an error.
type pairsFunc func(s *encoder, m reflect.Value) error

// makeReflectedMapEncoder returns the function of makeMapEncoder for any map.
func (b encodePlanner) makeReflectedMapEncoder(t reflect.Type) (encodeFunc, error) {
	return b.makeTypedMapEncoder(t, &tag{})
}

// makeTypedMapEncoder returns the function that encodes a t, a map, as a Dictionary with the declared
// types of a tag.
func (b encodePlanner) makeTypedMapEncoder(t reflect.Type, tag *tag) (encodeFunc, error) {
	elem, err := b.declaredPlan(t.Elem(), tag.elem, false)
	if err != nil {
		return nil, err
	}
	pairs, err := b.makePairsEncoder(t, tag.key, elem)
	isTyped, key, value := tag.isTyped(), tag.key, tag.elem
	return reflected(t, func(s *encoder, v reflect.Value) error {
		if err := s.enter(t); err != nil {
			return err
		}
		var err error
		if isTyped && s.declaresTypes() {
			err = s.e.BeginTypedDict(v.Len(), key, value)
		} else {
			err = s.e.BeginDict(v.Len())
		}
		if err != nil {
			return err
		}
		if err := pairs(s, v); err != nil {
			return err
		}
		return s.leave()
	}), err
}

// makePairsEncoder returns the function that writes the pairs of an m, a map whose keys are declared or not. Numbers and text are sorted by value, other keys by their encoding.
func (b encodePlanner) makePairsEncoder(m reflect.Type, declared gdwire.Elem, elem *plan[encodeFunc]) (pairsFunc, error) {
	t := m.Key()
	if err := checkKey(t, textMarshalerType); err != nil {
		return nil, err
	}
	key, err := b.declaredPlan(t, declared, true)
	if err != nil {
		return nil, err
	}
	keys := mapKeys{write: func(s *encoder, x variable, _ string) error { return key.do(s, x) }}
	switch zero := reflect.Zero(t); {
	case t.Kind() != reflect.Interface && ownTypes[t] == nil && reflect.PointerTo(t).Implements(textMarshalerType) && isText(declared.Type):
		keys.text = newTextMethod(t).key
		keys.write = func(s *encoder, _ variable, text string) error { return s.textAs(declared.Type, text) }
	case t == reflect.TypeFor[NodePath](), t.Kind() == reflect.String && declared.Type == gdwire.TypeNodePath:
		keys.text = func(_ *encoder, v reflect.Value) (string, error) { return wire.CleanNodePath(v.String()), nil }
	case t.Kind() == reflect.String:
		keys.text = stringKey
	case ownTypes[t] == nil && zero.CanInt():
		keys.word = func(v reflect.Value) uint64 { return uint64(v.Int()) ^ 1<<63 }
	case ownTypes[t] == nil && zero.CanUint():
		keys.word = reflect.Value.Uint
	case zero.CanFloat():
		keys.word = floatWord
	default:
		keys.text, keys.write = encodedKey(key), writeEncoded
		if t.Kind() == reflect.Interface {
			keys.check = checkDistinct
		}
	}
	return makeSortedPairsEncoder(m, elem, keys), nil
}

// mapKeys sorts and writes the keys of a map: numbers by word, and others by text. Both return what is equal for keys
// that are encoded as the same value, and only for these.
type mapKeys struct {
	word  func(key reflect.Value) uint64
	text  func(s *encoder, key reflect.Value) (string, error)
	write func(s *encoder, key variable, text string) error
	check func(s *encoder, keys reflect.Value) error // of all keys, or nil
}

// stringKey is the text of a string kind.
func stringKey(_ *encoder, key reflect.Value) (string, error) { return key.String(), nil }

// floatWord is the word of a float. NaNs are equal, and come first.
func floatWord(key reflect.Value) uint64 {
	switch x := math.Float64bits(key.Float()); {
	case key.Float() != key.Float():
		return 0
	case x>>63 != 0:
		return ^x
	default:
		return x | 1<<63
	}
}

// makeSortedPairsEncoder returns a function that writes the pairs of a t, a map.
func makeSortedPairsEncoder(t reflect.Type, elem *plan[encodeFunc], by mapKeys) pairsFunc {
	keyList, list, keySize, size := reflect.SliceOf(t.Key()), reflect.SliceOf(t.Elem()), t.Key().Size(), t.Elem().Size()
	return func(s *encoder, m reflect.Value) error {
		n := m.Len()
		if n == 0 {
			return nil
		}
		keys, values := reflect.MakeSlice(keyList, n, n), reflect.MakeSlice(list, n, n)
		order := make([]sortedKey, n, 2*n) // with room for sortMany
		var texts []string
		if by.text != nil {
			texts = make([]string, n)
		}
		pairs := m.MapRange()
		for i := range order {
			if !pairs.Next() {
				return s.fail(m.Type(), gdwire.ErrCount) // another goroutine changed the map
			}
			key := keys.Index(i)
			key.SetIterKey(pairs)
			values.Index(i).SetIterValue(pairs)
			order[i].at = i
			if by.text == nil {
				order[i].word = by.word(key)
				continue
			}
			var err error
			if texts[i], err = by.text(s, key); err != nil {
				return err
			}
		}
		if by.text != nil {
			common := len(texts[0])
			for _, text := range texts {
				common = commonPrefix(texts[0], text, common)
			}
			for i, text := range texts {
				order[i].word = wordOf(text[common:])
			}
		}
		textOf := func(i int) string {
			if texts == nil {
				return ""
			}
			return texts[i]
		}
		if i := sortKeys(order, textOf); i >= 0 {
			return s.duplicateError(keys.Index(i))
		}
		if by.check != nil {
			if err := by.check(s, keys); err != nil {
				return err
			}
		}
		firstKey, first := dataOf(keys), dataOf(values)
		for _, k := range order {
			if err := by.write(s, elemAt(firstKey, k.at, keySize), textOf(k.at)); err != nil {
				return err
			}
			if err := elem.do(s, elemAt(first, k.at, size)); err != nil {
				return err
			}
		}
		return nil
	}
}

// duplicateError makes the Encoder fail with the error for a key that equals another key.
func (s *encoder) duplicateError(key reflect.Value) error {
	typ := key.Type()
	isReference := func() bool { return key.Kind() == reflect.Pointer || key.Kind() == reflect.Interface }
	for isReference() && !key.IsNil() && !key.Type().Implements(reflect.TypeFor[fmt.Stringer]()) { // not its address
		key = key.Elem()
	}
	return s.fail(typ, fmt.Errorf("%w %s", ErrDuplicateKey, quoted(fmt.Sprint(key))))
}

// checkDistinct returns an error if two keys in interfaces are equal but encoded as different
// bytes, such as a string and a StringName with the same text.
func checkDistinct(s *encoder, keys reflect.Value) error {
	seen := make(map[any]struct{}, keys.Len())
	for i := range keys.Len() {
		k, ok := hashable(keys.Index(i).Interface())
		if _, again := seen[k]; ok && again {
			return s.duplicateError(keys.Index(i))
		}
		if ok {
			seen[k] = struct{}{}
		}
	}
	return nil
}

// encodedKey returns a text for mapKeys: the encoding of a key. writeEncoded then writes it. A key can contain maps whose keys contain maps: to
// encode each key twice would take time exponential in their nesting.
func encodedKey(plan *plan[encodeFunc]) func(*encoder, reflect.Value) (string, error) {
	return func(s *encoder, key reflect.Value) (string, error) {
		inner := getEncoder()
		defer inner.release()
		inner.resetBytes(&Options{Encoder: s.e.Options()}, inner.buf[:0])
		inner.depth = s.depth
		err := plan.do(inner, variableOf(key))
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

// writeEncoded writes a key that encodedKey encoded.
func writeEncoded(s *encoder, _ variable, encoded string) error {
	return s.e.WriteRaw([]byte(encoded))
}

// A sortedKey is the key of the pair at an index, with the word by which most keys are compared.
type sortedKey struct {
	word uint64
	at   int
}

// fewSorted and manySorted are the numbers of keys up to which sortFew, and from which sortMany, takes the least time.
const (
	fewSorted  = 12
	manySorted = 200
)

// sortKeys sorts keys by their words, and keys with equal words by their texts. It returns the index of a key that
// equals another, or -1.
func sortKeys(order []sortedKey, text func(i int) string) (twice int) {
	switch n := len(order); {
	case n >= manySorted:
		sortMany(order)
	case n > fewSorted:
		slices.SortFunc(order, func(a, b sortedKey) int { return cmp.Compare(a.word, b.word) })
	case sortFew(order):
		return -1
	}
	twice = -1
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
				twice = same[j+1].at
			}
		}
	}
	return twice
}

// sortFew sorts few keys by their words, by insertion. It returns false if two words are equal. -11 % of
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

// commonPrefix returns the number of bytes, up to most, with which both a and b begin.
func commonPrefix(a, b string, most int) int {
	n := min(most, len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// wordOf returns the first eight bytes of a text, or a shorter text with zeros after it. Texts with
// different words are in the order of the words.
func wordOf(text string) (word uint64) {
	if len(text) >= 8 {
		return uint64(text[7]) | uint64(text[6])<<8 | uint64(text[5])<<16 | uint64(text[4])<<24 |
			uint64(text[3])<<32 | uint64(text[2])<<40 | uint64(text[1])<<48 | uint64(text[0])<<56
	}
	switch n := len(text); {
	case n >= 4: // four bytes, and the last four without those that the first four contain
		first := uint32(text[3]) | uint32(text[2])<<8 | uint32(text[1])<<16 | uint32(text[0])<<24
		last := uint32(text[n-1]) | uint32(text[n-2])<<8 | uint32(text[n-3])<<16 | uint32(text[n-4])<<24
		return uint64(first)<<32 | uint64(last<<(8*uint(8-n)))
	case n > 0: // the first, the middle and the last byte, of which some are the same
		return uint64(text[0])<<56 | uint64(text[n/2])<<(56-8*uint(n/2)) | uint64(text[n-1])<<(56-8*uint(n-1))
	}
	return 0
}
