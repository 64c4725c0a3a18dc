package variant

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// makeSliceDecoder returns the function decoding a t, a slice, from an Array or a packed array. Of more than most elements, unless
// that is 0, the function reads none.
func (b decodePlanner) makeSliceDecoder(t reflect.Type, most int) (decodeFunc, error) {
	elem, err := b.plan(t.Elem(), 0)
	if err != nil {
		return nil, err
	}
	l := newListDecoder(t, elem, most)
	packed := l.packedDecoders()
	if t.Elem() == stringType && most == 0 {
		packed[gdwire.TypePackedStringArray] = func(s *decoder, x variable, t packedStart) error {
			return s.strings(pointer[[]string](x), t.n)
		}
		return l.makeStringsFirstDecoder(l.makeDecoder(packed)), nil
	}
	return l.makeDecoder(packed), nil
}

// makeStringsFirstDecoder returns a function reading a PackedStringArray into a slice of strings, on
// the fast path, or calling other: -4 % of Unmarshal into structs. See makeScalarDecoder for noinline.
//
//go:noinline
func (l *listDecoder) makeStringsFirstDecoder(other decodeFunc) decodeFunc {
	return func(s *decoder, x variable) error {
		n, ok := export.StartStrings(s.d)
		if !ok {
			return other(s, x)
		}
		if _, most := lenCap(x); most > 0 {
			l.reuse(s, x, most)
		}
		return s.strings(pointer[[]string](x), n)
	}
}

// makeDecoder returns the function decoding a slice with the functions for packed arrays.
func (l *listDecoder) makeDecoder(packed *packedFuncs) decodeFunc {
	return func(s *decoder, x variable) error {
		typ, err := s.d.PeekType()
		var start packedStart
		switch {
		case err != nil:
			return err
		case typ == gdwire.TypeArray:
			start.n, err = s.d.ReadArray()
		case packed[typ] == nil:
			return s.nilOrTypeError(l.vars.value(x), nil)
		default:
			var isWhole bool
			if start, isWhole = l.wholePacked(s, typ); isWhole {
				break
			}
			var tok gdwire.Token
			tok, err = s.token()
			start = packedStartOf(tok)
		}
		switch {
		case err != nil:
			return err
		case l.max > 0 && start.n > l.max:
			return s.failLength(typ, l.typ, start.n, l.max)
		}
		if _, most := lenCap(x); most > 0 {
			l.reuse(s, x, most)
		}
		if typ == gdwire.TypeArray {
			return l.decode(s, x, start.n)
		}
		return packed[typ](s, x, start)
	}
}

// wholePacked returns the packedStart of the next value, a packed array of type typ, without reading its start, if AppendPacked
// appends the elements in one step and no error is possible: -30 % of structs with small packed arrays.
func (l *listDecoder) wholePacked(s *decoder, typ gdwire.Type) (start packedStart, ok bool) {
	if l.unit == wire.None {
		return start, false
	}
	n, ok := export.PackedLen(s.d, l.unit)
	return packedStart{typ: typ, n: n}, ok && uint64(n) <= uint64(s.memoryLeft)/uint64(l.size)
}

// A listDecoder reads the elements of a slice or array.
type listDecoder struct {
	typ      reflect.Type
	vars     variableType // typ
	elem     *plan[decodeFunc]
	size     uintptr   // of an element
	keepsOld bool      // see keepsOld
	max      int       // of max=, or 0
	unit     wire.Unit // of packed arrays for wholePacked, or none
}

// newListDecoder returns a listDecoder for t, a slice or array, with the plan of its elements, and of at most this many unless most is 0.
func newListDecoder(t reflect.Type, elem *plan[decodeFunc], most int) *listDecoder {
	l := &listDecoder{typ: t, vars: variableTypeOf(t), elem: elem, size: t.Elem().Size(), keepsOld: keepsOld(t.Elem()), max: most}
	if t.Kind() != reflect.Slice || most > 0 {
		return l
	}
	if _, isUnsafe := viewOf[byte](reflect.Zero(t)); isUnsafe {
		leaf := t.Elem().Kind()
		if m, ok := packedComponents(t.Elem()); ok {
			leaf = m.leaf
		}
		l.unit = map[reflect.Kind]wire.Unit{
			reflect.Uint8: wire.Byte, reflect.Int32: wire.Int32, reflect.Int64: wire.Int64, reflect.Float32: wire.Float32, reflect.Float64: wire.Float64,
		}[leaf]
	}
	return l
}

// decode reads the n elements and the End of an Array or PackedStringArray into the slice or array
// x. An array is n elements long.
func (l *listDecoder) decode(s *decoder, x variable, n int) error {
	if err := s.enter(l.typ); err != nil {
		return err
	}
	read := l.readSlice
	if l.typ.Kind() == reflect.Array {
		read = l.readArray
	}
	if err := read(s, x, n); err != nil {
		return err
	}
	return s.leave()
}

// reuse makes x, a slice with a capacity of n, nil if the memory overlaps a variable or another
// slice filled by this call. Otherwise the next value can be read into the memory of x. Slices
// in elements of lists are nil already, so few slices have memory.
func (l *listDecoder) reuse(s *decoder, x variable, n int) {
	v := l.vars.value(x)
	m := memoryAt(v, uintptr(n)*l.size)
	if all := s.reusedMemory(); len(all) >= maxReused || slices.ContainsFunc(all, m.overlaps) {
		v.SetZero()
		return
	}
	s.reused = append(s.reused, m)
}

// keepsOld reports whether decoding can leave parts of the old value in a variable of type t.
// Elements of such types are made zero first, and the memory in them is not reused: other
// elements, or copies kept by the program, can refer to the same memory.
func keepsOld(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	switch t.Kind() {
	case reflect.Array, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice, reflect.Struct:
		return ownTypeOf(t) == nil || p.Implements(unmarshalerType)
	}
	return p.Implements(unmarshalerType) || p.Implements(textUnmarshalerType)
}

// clearedAtOnce is the number of old elements made zero by readSlice with one call.
const clearedAtOnce = 64

// readSlice reads n elements into the slice x. After an error, x contains the elements before it.
func (l *listDecoder) readSlice(s *decoder, x variable, n int) error {
	_, old := lenCap(x) // elements before this index can have values
	if n == 0 && old == 0 {
		l.vars.value(x).Set(reflect.MakeSlice(l.typ, 0, 0))
	}
	have := min(n, old)
	setLen(x, have)
	clean := 0 // old elements before this index are zero
	if !l.keepsOld {
		clean = -1
	}
	all, size, read := sliceData(x), l.size, l.elem.do
	for i := range n {
		if i == have {
			if err := s.growSlice(l.vars.value(x), n); err != nil {
				return err
			}
			have, _ = lenCap(x)
			all, clean = sliceData(x), -1
		}
		if i == clean {
			clean = min(i+clearedAtOnce, have)
			l.vars.value(x).Slice(i, clean).Clear()
		}
		if err := read(s, elemAt(all, i, size)); err != nil {
			setLen(x, i)
			return err
		}
	}
	return nil
}

// readArray reads the n elements of the array x.
func (l *listDecoder) readArray(s *decoder, x variable, n int) error {
	l.vars.value(x).SetZero()
	for i := range n {
		if err := l.elem.do(s, elemAt(x, i, l.size)); err != nil {
			return err
		}
	}
	return nil
}

// strings reads the n elements and the End of a PackedStringArray into all, as readSlice does, but
// without a call of a decodeFunc for each string. The fast path here is -2 % of Unmarshal into structs.
func (s *decoder) strings(all *[]string, n int) error {
	to := (*all)[:cap(*all)]
	if to == nil {
		to = []string{}
	}
	for i := range n {
		if i == len(to) {
			size := s.grow(i, n, boxSize)
			if err := s.charge(stringType, int64(size-i)*boxSize); err != nil {
				*all = to
				return err
			}
			to = append(make([]string, 0, size), to...)[:size]
		}
		var err error
		if b := export.ReadPackedString(s.d); b == nil {
			var none variable // for nil, never a packed string
			to[i], err = s.readText(none, stringType)
		} else if err = s.charge(stringType, int64(len(b))); err == nil {
			to[i] = s.newText(b)
		}
		if err != nil {
			*all = to[:i]
			return err
		}
	}
	*all = to[:n]
	return s.d.ReadEnd()
}

// growSlice makes the full slice v longer: to at most n elements.
func (s *decoder) growSlice(v reflect.Value, n int) error {
	t := v.Type()
	size := int64(t.Elem().Size())
	old := v.Len()
	grown := s.grow(old, n, size)
	if err := s.charge(t, int64(grown-old)*size); err != nil {
		return err
	}
	v.Grow(grown - old)
	if err := s.charge(t, max(int64(v.Cap()-grown), 0)*size); err != nil { // the runtime rounds the capacity up
		return err
	}
	v.SetLen(min(v.Cap(), n))
	return nil
}

// makeArrayDecoder returns the function decoding a t, a Go array, from a math type with the
// same number of components, or from an Array or packed array with the same number of elements.
func (b decodePlanner) makeArrayDecoder(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	elem, err := b.plan(t.Elem(), 0)
	if err != nil {
		return nil, err
	}
	l := newListDecoder(t, elem, 0)
	packed := l.packedDecoders()
	m, isMath := componentsOf(t)
	decode := func(s *decoder, x variable) error {
		typ, err := s.d.PeekType()
		switch {
		case err != nil:
			return err
		case isMath && m.fits(typ): // floats go into floats, integers into integers
			return s.readComponents(x, &m, typ)
		case typ != gdwire.TypeArray && packed[typ] == nil:
			return s.nilOrTypeError(valueOf(x, t), nil)
		}
		tok, err := s.token()
		switch {
		case err != nil:
			return err
		case tok.Len() != int64(t.Len()):
			return s.fail(typ, t, fmt.Errorf("%w: %d elements", gdwire.ErrCount, tok.Len()))
		case typ != gdwire.TypeArray:
			return packed[typ](s, x, packedStartOf(tok))
		}
		return l.decode(s, x, t.Len())
	}
	if isMath {
		if typ := m.expectedType(wire); typ != 0 {
			return m.makeMathFirstDecoder(typ, decode), nil
		}
	}
	return decode, nil
}

// makeMathFirstDecoder returns a function reading a value of the math type typ, or calling other if
// the next value is of another type. After the first such value, other is called at once: an error
// for each value takes longer. The fast path for float32 comes first: -4 % of Unmarshal into structs.
// See makeScalarDecoder for noinline.
//
//go:noinline
func (m *components) makeMathFirstDecoder(typ gdwire.Type, other decodeFunc) decodeFunc {
	n, inOrder := m.n, m.leaf == reflect.Float32 && m.order == nil
	return func(s *decoder, x variable) error {
		if inOrder {
			if numbers, ok := numbersIn[float32](x, n); ok && export.ReadFloats(s.d, typ, numbers) {
				return nil
			}
		}
		if s.peekFirst {
			return other(s, x)
		}
		err := s.readComponents(x, m, typ)
		if err != nil && errors.Is(err, gdwire.ErrType) {
			s.peekFirst = true
			return other(s, x)
		}
		return err
	}
}

// expectedType returns the math type from which m is probably decoded: the type= of a tag, or
// the only type with these components, or 0 if there is none.
func (m *components) expectedType(wire gdwire.Type) gdwire.Type {
	all := mathTypesOf(*m)
	if len(all) == 1 || slices.Contains(all, wire) {
		return all[max(slices.Index(all, wire), 0)]
	}
	return 0
}

// readComponents reads the math type typ, of as many components, into x.
func (s *decoder) readComponents(x variable, m *components, typ gdwire.Type) error {
	err := s.readNumbers(x, m, typ)
	if err != nil && errors.Is(err, gdwire.ErrRange) {
		return s.nilOrTypeError(valueOf(x, m.typ), err)
	}
	return err
}

// readNumbers reads the math type typ into x with a typed read, and returns its error unchanged.
// Without package unsafe, and for a Basis, the components are copied.
func (s *decoder) readNumbers(x variable, m *components, typ gdwire.Type) error {
	switch {
	case m.order != nil:
	case m.leaf == reflect.Float32:
		if numbers, ok := numbersIn[float32](x, m.n); ok {
			return gdwire.ReadComponents(s.d, typ, numbers)
		}
	case m.leaf == reflect.Float64:
		if numbers, ok := numbersIn[float64](x, m.n); ok {
			return gdwire.ReadComponents(s.d, typ, numbers)
		}
	default:
		if numbers, ok := numbersIn[int32](x, m.n); ok {
			return gdwire.ReadComponents(s.d, typ, numbers)
		}
	}
	c := s.reals[:m.n]
	switch m.leaf {
	case reflect.Int32:
		if err := gdwire.ReadComponents(s.d, typ, s.ints[:m.n]); err != nil {
			return err
		}
		for i := range c {
			c[i] = float64(s.ints[i])
		}
	case reflect.Float32:
		if err := gdwire.ReadComponents(s.d, typ, s.reals32[:m.n]); err != nil {
			return err
		}
		for i := range c {
			c[i] = float64(s.reals32[i])
		}
	default:
		if err := gdwire.ReadComponents(s.d, typ, c); err != nil {
			return err
		}
	}
	m.store(x, c)
	return nil
}

// A packedStart describes the packed array being read.
type packedStart struct {
	typ   gdwire.Type
	width int // in bits, of a component
	n     int
	first int64 // the index of the first element to read
}

// packedStartOf returns the packedStart for t, the first token of a packed array.
func packedStartOf(t gdwire.Token) packedStart {
	return packedStart{t.Type(), t.Width(), countOf(t), 0}
}

// A bulkFunc reads packed numbers into v: all elements and the End into a slice, or as many
// elements as fit into an array, without the End.
type bulkFunc func(s *decoder, v reflect.Value, t packedStart) error

// packedFuncs contains the functions reading all elements and the End of a packed array into a
// list, by the types accepted by the list.
type packedFuncs [gdwire.TypeInputEvent + 1]func(s *decoder, x variable, t packedStart) error

// packedDecoders returns the packedFuncs of the list.
func (l *listDecoder) packedDecoders() *packedFuncs {
	var all packedFuncs
	for typ, bulk := range bulkFuncs(l.typ.Elem()) {
		all[typ] = func(s *decoder, x variable, t packedStart) error {
			err := bulk(s, l.vars.value(x), t)
			if err == nil && l.typ.Kind() == reflect.Array {
				err = s.d.ReadEnd()
			}
			return err
		}
	}
	all[gdwire.TypePackedStringArray] = func(s *decoder, x variable, t packedStart) error { return l.decode(s, x, t.n) }
	return &all
}

// bulkFuncs returns the functions for reading packed arrays into lists of t, except
// PackedStringArrays: any list can be read from these.
func bulkFuncs(t reflect.Type) map[gdwire.Type]bulkFunc {
	if own := ownTypeOf(t); own != nil && own.math == nil || hasMethods(t) {
		return nil // an int is no RID
	}
	if zero := reflect.Zero(t); zero.CanInt() || zero.CanUint() {
		all := map[gdwire.Type]bulkFunc{
			gdwire.TypePackedByteArray: readIntegers, gdwire.TypePackedInt32Array: readIntegers, gdwire.TypePackedInt64Array: readIntegers,
		}
		switch t.Kind() {
		case reflect.Uint8:
			all[gdwire.TypePackedByteArray] = readBulk[byte]
		case reflect.Int32:
			all[gdwire.TypePackedInt32Array] = readBulk[int32]
		case reflect.Int64:
			for typ := range all {
				all[typ] = readBulk[int64]
			}
		}
		return all
	}
	m, ok := packedComponents(t)
	if !ok || m.n > 4 {
		return nil
	}
	double := [...]bulkFunc{1: readBulk[float64], 2: readBulk[[2]float64], 3: readBulk[[3]float64], 4: readBulk[[4]float64]}[m.n]
	if m.leaf == reflect.Float32 {
		double = [...]bulkFunc{
			1: readFloat32s[float32, float64], 2: readFloat32s[[2]float32, [2]float64],
			3: readFloat32s[[3]float32, [3]float64], 4: readFloat32s[[4]float32, [4]float64],
		}[m.n]
	}
	all := map[gdwire.Type]bulkFunc{}
	for _, typ := range [...][]gdwire.Type{
		1: {gdwire.TypePackedFloat32Array, gdwire.TypePackedFloat64Array},
		2: {gdwire.TypePackedVector2Array},
		3: {gdwire.TypePackedVector3Array},
		4: {gdwire.TypePackedVector4Array, gdwire.TypePackedColorArray},
	}[m.n] {
		all[typ] = double
	}
	return all
}

// readFloat32s reads a packed array as a bulkFunc does, into a v with elements in the memory layout
// of an S, of float32. A D consists of as many float64. If the packed array's components have 64
// bits, a finite component beyond the range of float32 is an error.
func readFloat32s[S, D gdwire.Packable](s *decoder, v reflect.Value, t packedStart) error {
	if t.width != 64 {
		return readBulk[S](s, v, t)
	}
	if v.Kind() == reflect.Slice {
		if err := s.chargePacked(v, t.n); err != nil {
			return err
		}
	}
	m, _ := componentsOf(v.Type().Elem())
	return readBatches(s, v, t, func(dst reflect.Value, src *D) error {
		for _, x := range appendComponents(reflect.ValueOf(src).Elem(), s.reals[:0]) {
			if math.IsInf(float64(float32(x)), 0) && !math.IsInf(x, 0) {
				return rangeError(x, reflect.TypeFor[float32]())
			}
		}
		setPackable(dst, reflect.ValueOf(src).Elem(), &m)
		return nil
	})
}

// chargePacked charges the memory by which the slice v grows to hold n elements.
func (s *decoder) chargePacked(v reflect.Value, n int) error {
	return s.charge(v.Type(), int64(max(n-v.Cap(), 0))*int64(v.Type().Elem().Size()))
}

// readBulk reads a packed array as a bulkFunc does, into a v with the memory layout of a []T.
func readBulk[T gdwire.Packable](s *decoder, v reflect.Value, t packedStart) error {
	all, ok := viewOf[T](v)
	if v.Kind() == reflect.Slice {
		if err := s.chargePacked(v, t.n); err != nil {
			return err
		}
		if isPortable && !ok {
			return readOneByOne[T](s, v, t)
		}
		all, err := gdwire.AppendPacked(s.d, all[:0])
		if all == nil {
			all = []T{}
		}
		setView(v, all)
		return s.bulkError(v, t, err)
	}
	if isPortable && !ok {
		return readOneByOne[T](s, v, t)
	}
	_, err := gdwire.ReadPacked(s.d, all)
	return s.bulkError(v, t, err)
}

// bulkError converts an ErrType to a TypeError.
func (s *decoder) bulkError(v reflect.Value, t packedStart, err error) error {
	if errors.Is(err, gdwire.ErrType) {
		return s.fail(t.typ, v.Type(), gdwire.ErrType)
	}
	return err
}

// readOneByOne reads a packed array as a bulkFunc does, setting the components of each element by
// reflection, without package unsafe.
func readOneByOne[T gdwire.Packable](s *decoder, v reflect.Value, t packedStart) error {
	m, _ := componentsOf(v.Type().Elem())
	return readBatches(s, v, t, func(dst reflect.Value, src *T) error {
		setPackable(dst, reflect.ValueOf(src).Elem(), &m)
		return nil
	})
}

// readIntegers reads a packed array as a bulkFunc does, into a v of integers of another kind
// than in the packed array. An integer out of range is an error.
func readIntegers(s *decoder, v reflect.Value, t packedStart) error {
	if v.Kind() == reflect.Slice {
		if err := s.chargePacked(v, t.n); err != nil {
			return err
		}
	}
	return readBatches(s, v, t, func(dst reflect.Value, src *int64) error {
		switch {
		case dst.CanInt() && !dst.OverflowInt(*src):
			dst.SetInt(*src)
		case dst.CanUint() && *src >= 0 && !dst.OverflowUint(uint64(*src)):
			dst.SetUint(uint64(*src))
		default:
			return rangeError(*src, dst.Type())
		}
		return nil
	})
}

// batch is the number of elements read or written at once, if each is converted.
const batch = 64

// readBatches reads a packed array into v as a bulkFunc does. Elements are read in batches, and
// each is stored by set. An error of set is the reason why the element does not fit.
func readBatches[T gdwire.Packable](s *decoder, v reflect.Value, t packedStart, set func(dst reflect.Value, src *T) error) error {
	var some [batch]T
	read := func(most int) (int, error) { return gdwire.ReadPacked(s.d, some[:most]) }
	return s.setEach(v, t, read, func(dst reflect.Value, k int) error { return set(dst, &some[k]) })
}

// setEach does the same: read reads a batch, and set stores one element of it.
func (s *decoder) setEach(v reflect.Value, t packedStart, read func(most int) (int, error), set func(dst reflect.Value, k int) error) error {
	isSlice := v.Kind() == reflect.Slice
	if isSlice {
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		v.SetLen(0)
	}
	for i := 0; isSlice || i < v.Len(); {
		most := batch
		if !isSlice {
			most = min(most, v.Len()-i)
		}
		before := s.d.InputOffset()
		n, err := read(most)
		for k := range n {
			if isSlice {
				if i == v.Cap() { // to no more than is charged
					grown := reflect.MakeSlice(v.Type(), i, s.grow(i, t.n, int64(v.Type().Elem().Size())))
					reflect.Copy(grown, v)
					v.Set(grown)
				}
				v.SetLen(i + 1)
			}
			if err := set(v.Index(i), k); err != nil {
				if isSlice {
					v.SetLen(i)
				}
				return s.failElement(t, v.Type().Elem(), before, k, i, err)
			}
			i++
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return s.bulkError(v, t, err)
		}
	}
	return nil
}

// failElement returns the error for element i of the packed array t, the k-th after offset.
func (s *decoder) failElement(t packedStart, g reflect.Type, offset int64, k, i int, reason error) error {
	elem := t.typ.Element()
	components, _ := elem.Components() // 0 for numbers
	err := s.fail(elem, g, reason)
	if at, ok := err.(*gdwire.Error); ok {
		at.Offset = offset + int64(k)*int64(max(components, 1)*t.width/8)
		at.Path += fmt.Sprintf("[%d]", t.first+int64(i))
	}
	return err
}

// makeMathDecoder returns the function decoding a type of this package with components m, from
// the math type typ.
func makeMathDecoder(m components, typ gdwire.Type) decodeFunc {
	return func(s *decoder, x variable) error {
		if s.peekFirst && s.decodeNil(valueOf(x, m.typ)) {
			return nil
		}
		if err := s.readNumbers(x, &m, typ); err != nil {
			return s.nilOrTypeError(valueOf(x, m.typ), err)
		}
		return nil
	}
}
