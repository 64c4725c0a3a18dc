//go:build !purego

package variant

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/wire"
)

// A block writes a struct, or a slice of structs, in Godot4. It consists of steps, which put values and
// keys into the buffer of the Encoder without calls: -40 % of Marshal of structs.
//
// The steps of a struct within another follow those before it. Only a slice of structs is a level.
//
// The Encoder knows nothing of the containers in a block until something else than a step writes: see
// leaveBlock. A step puts its whole value and the key after it, or nothing. What it cannot put, such as
// an invalid value or one without room, is left to the plan. So the plans make all errors and flushes.
type block struct {
	state  atomic.Int32
	fields []*fieldEncoder   // of a struct
	plan   *plan[encodeFunc] // of the struct, or of the elements of the slice
	isList bool
	isMade bool    // steps were made or are being made
	size   uintptr // of an element
	first  blockStep
}

const (
	// blockRoom is the number of bytes in the buffer that a step without a call needs, with its key.
	blockRoom = 160
	// blockKey is the size of the longest key of a step.
	blockKey = 8 + internal.MaxKey
	// blockLevels is the number of levels. Slices of structs in the last begin another block.
	blockLevels = 16
	// blockDicts is the number of Dictionaries that can be nested in a level.
	blockDicts = 7
	// blockSteps is the number of steps from which on other structs are not a part of a block.
	blockSteps = 500

	// Instructions that a step saves, and that steps take which leave the block: the first, which opens containers,
	// one after others, and one after another such step.
	stepSaves  = 60
	firstTakes = 340
	againTakes = 125
	otherTakes = 15
)

type blockCode uint8

const (
	putDict blockCode = iota // the start of a Dictionary
	putBool
	putInt8
	putInt16
	putInt32
	putInt64
	putUint8
	putUint16
	putUint32
	putFloat32
	putFloat64
	putFloats // two to four, in 32 bits
	putText
	putList
	putKey // a key that no step before it puts
	putEnd // of a level
	// Steps with calls: see putCalling.
	putLongKey
	putNodePath
	putTexts
	putReals32
	putReals64
	putInts
	// A step that leaves the block.
	putOther
)

// A blockStep puts a value, and the key after it if that is short and in the same Dictionary.
type blockStep struct {
	code   blockCode
	key, n uint8  // the size of after, and the number of components
	head   uint64 // the header of the value
	fieldLocation
	after [blockKey]byte
	next  *blockStep
	cold  *coldStep
}

// A coldStep contains what few values need.
type coldStep struct {
	plan  *plan[encodeFunc] // of the value, or nil for a key
	field *field            // the field of the value, or nil
	key   *fieldEncoder     // the field whose key the step is, or whose key follows it in dict, or nil
	dict  *blockDict        // the innermost Dictionary around the value, or nil
	left  uint64            // the values that are still to come in dict, with this one
	end   int               // of a struct, the number of steps up to its end
	then  *blockStep        // after the whole value
	elem  *block            // of a slice of structs, or nil
	size  uintptr           // of its elements
}

// A blockDict is a Dictionary in a block.
type blockDict struct {
	count uint32
	depth int        // from 1
	outer *blockDict // the Dictionary around it, or nil
	left  uint64     // the values that are still to come in outer, with this one
	field *field     // the field whose value it is, or nil
}

// A blockLevel is a slice of structs whose elements are being put.
type blockLevel struct {
	step  *blockStep
	x     variable // the struct around the slice
	left  int      // the elements that are still to come, with the current one
	count uint32
	depth int32 // of the Encoder in the Array, if that is open, otherwise 0
}

// A blockRun is the state of a block that is being put. It is a local variable, so that the pool
// of encoders keeps no addresses of values.
type blockRun struct {
	b      []byte // the window of the Encoder
	step   *blockStep
	x      variable // the struct whose fields are being put, or the element
	level  int
	most   int       // the number of levels within Depth and maxDepth
	base   int       // the depth of the Encoder around the block
	depth  int       // that of the encoder
	open   blockOpen // the Dictionary that is open in the Encoder
	levels [blockLevels]blockLevel
}

// A blockOpen tells which Dictionary is open in the Encoder: that of the latest step that left the block.
type blockOpen struct {
	dict  *blockDict
	level int // the number of levels around it
	left  int // that of the innermost of these, or 0
}

var le = binary.LittleEndian

// addBlock returns the block of the struct with the plan for key. It belongs to the plan.
func (b encodePlanner) addBlock(key planKey, fields []*fieldEncoder) *block {
	p := b.pending[key]
	k := &block{fields: fields, plan: p}
	p.block = k
	return k
}

// addListBlock returns the block of the slice with the plan for key, whose elements have the plan elem, or
// noBlock if the elements are no structs. It belongs to the plan.
func (b encodePlanner) addListBlock(key planKey, elem *plan[encodeFunc]) *block {
	if t := key.typ; t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Struct {
		return noBlock
	}
	k := &block{plan: elem, isList: true, size: key.typ.Elem().Size()}
	b.pending[key].block = k
	return k
}

// blockOf returns the block of a plan, or nil.
func blockOf(p *plan[encodeFunc]) *block {
	k, _ := p.block.(*block)
	return k
}

// noBlock is off.
var noBlock = func() *block {
	k := new(block)
	k.state.Store(blockOff)
	return k
}()

var blockMutex sync.Mutex // held while steps are made

// isOn makes the steps of a new block, and reports whether the block takes less time than the plan.
func (k *block) isOn() bool {
	if state := k.state.Load(); state != blockNew {
		return state == blockOn
	}
	blockMutex.Lock()
	defer blockMutex.Unlock()
	return k.makeSteps()
}

// makeSteps makes the steps, unless they are being made, and reports whether the block is not off.
func (k *block) makeSteps() bool {
	if state := k.state.Load(); state != blockNew || k.isMade {
		return state != blockOff
	}
	k.isMade = true
	var b blockBuilder
	elem := blockOf(k.plan)
	switch {
	case !k.isList:
		b.dict(k.fields, fieldLocation{}, coldStep{plan: k.plan})
	case elem != nil && elem.makeSteps():
		b.add(blockStep{code: putList, head: blockHead(gdwire.TypeArray)}, coldStep{elem: elem, size: k.size})
	default:
		b.saved = -1
	}
	b.add(blockStep{code: putEnd}, coldStep{})
	for i := range b.steps[1:] {
		p := &b.steps[i]
		p.next = &b.steps[i+1]
		p.cold.then = &b.steps[max(i+1, p.cold.end)]
	}
	k.first = b.steps[0]
	state := blockOn
	if b.saved < 0 {
		state = blockOff
	}
	k.state.Store(state)
	return state == blockOn
}

// blockHead returns the header of a value of type t in 32 bits, or of a container.
func blockHead(t gdwire.Type) uint64 { return uint64(export.Header(t)) }

// A blockBuilder makes the steps of a block.
type blockBuilder struct {
	steps  []blockStep
	leaves bool // one of them leaves the block
	saved  int  // instructions
}

// add adds a step.
func (b *blockBuilder) add(p blockStep, c coldStep) {
	n := len(b.steps)
	switch {
	case p.code == putKey || p.code == putEnd:
	case p.code != putOther:
		b.saved += stepSaves
	case !b.leaves:
		b.leaves = true
		b.saved -= firstTakes
	case b.steps[n-1].code != putOther || b.steps[n-1].cold.dict != c.dict:
		b.saved -= againTakes
	default:
		b.saved -= otherTakes
	}
	p.cold = &c
	b.steps = append(b.steps, p)
}

// dict adds the steps of the fields of a struct at a location. c describes the struct as a value.
func (b *blockBuilder) dict(fields []*fieldEncoder, at fieldLocation, c coldStep) {
	n := len(fields)
	d := &blockDict{count: uint32(n), depth: 1, outer: c.dict, left: c.left, field: c.field}
	if d.outer != nil {
		d.depth += d.outer.depth
	}
	start := len(b.steps)
	b.add(blockStep{code: putDict, head: blockHead(gdwire.TypeDictionary) | uint64(n)<<32, fieldLocation: at}, c)
	for i, f := range fields {
		left := uint64(2 * (n - i))
		b.key(f, coldStep{key: f, dict: d, left: left}, i == 0)
		b.value(f, at, coldStep{plan: f.plan, field: f.field, dict: d, left: left - 1})
	}
	b.steps[start].cold.end = len(b.steps)
}

// key adds the key of f: to the step before it if possible, and otherwise as a step that c describes.
func (b *blockBuilder) key(f *fieldEncoder, c coldStep, isFirst bool) {
	p := &b.steps[len(b.steps)-1]
	isNear := p.cold.dict == c.dict && p.code != putList && p.code != putDict && p.code != putLongKey
	switch {
	case f.key.Size == 0:
		b.add(blockStep{code: putLongKey, head: blockHead(gdwire.TypeString)}, c)
		return
	case isNear:
		p.cold.key = f
	case !isFirst:
		b.add(blockStep{code: putKey}, c)
		p = &b.steps[len(b.steps)-1]
	}
	p.key = uint8(f.key.Size)
	le.PutUint64(p.after[:], f.key.Head)
	le.PutUint64(p.after[8:], f.key.First)
	le.PutUint64(p.after[16:], f.key.Last)
}

// value adds the steps of f, a field of the struct at a location. c describes it.
func (b *blockBuilder) value(f *fieldEncoder, at fieldLocation, c coldStep) {
	p := blockStep{code: putOther, fieldLocation: fieldLocation{at.offset + f.offset}}
	k := blockOf(f.plan)
	switch {
	case k == nil:
		p.setCode(f)
	case k.isList:
		if elem := blockOf(k.plan); elem != nil && elem.makeSteps() {
			p.code, p.head = putList, blockHead(gdwire.TypeArray)
			c.elem, c.size = elem, k.size
		}
	case c.dict.depth < blockDicts && len(b.steps) < blockSteps:
		before := *b
		if b.dict(k.fields, p.fieldLocation, c); b.saved >= before.saved-firstTakes {
			return
		}
		*b = before
	}
	b.add(p, c)
}

// setCode sets how the value of f is put, unless only its plan can write it.
func (p *blockStep) setCode(f *fieldEncoder) {
	t, wire, own := f.typ, f.wire, ownTypes[f.typ]
	if own != nil && wire == 0 {
		wire = own.typ
	}
	if len(f.index) > 1 || f.isTyped() || own == nil && hasMethods(t) {
		return
	}
	x, ok := blockKinds[t.Kind()]
	switch kind := t.Kind(); {
	case kind == reflect.Array || kind == reflect.Struct:
		m, isMath := componentsOf(t)
		all := mathTypesOf(m)
		if wire == 0 && kind == reflect.Array && len(all) == 1 {
			wire = all[0]
		}
		ok = isMath && m.order == nil && slices.Contains(all, wire)
		x.typ, p.n = wire, uint8(m.n)
		switch {
		case m.leaf == reflect.Int32:
			x.code = putInts
		case m.leaf == reflect.Float64:
			x.code = putReals64
		case m.n <= 4:
			x.code = putFloats
		default:
			x.code = putReals32
		}
	case kind == reflect.String && wire == gdwire.TypeNodePath:
		x.code, x.typ = putNodePath, wire
	case kind == reflect.String && wire == gdwire.TypeStringName:
		x.typ = wire
	case kind == reflect.Slice:
		e := t.Elem()
		ok = e.Kind() == reflect.String && ownTypes[e] == nil && !hasMethods(e)
		x.code, x.typ = putTexts, gdwire.TypePackedStringArray
	}
	if ok && (wire == 0 || wire == x.typ) {
		p.code, p.head = x.code, blockHead(x.typ)
	}
}

// blockKinds contains how numbers and texts are put.
var blockKinds = map[reflect.Kind]struct {
	code blockCode
	typ  gdwire.Type
}{
	reflect.Bool: {putBool, gdwire.TypeBool},
	reflect.Int8: {putInt8, gdwire.TypeInt}, reflect.Int16: {putInt16, gdwire.TypeInt},
	reflect.Int32: {putInt32, gdwire.TypeInt}, reflect.Int64: {putInt64, gdwire.TypeInt},
	reflect.Int:   {[2]blockCode{putInt32, putInt64}[math.MaxInt>>62], gdwire.TypeInt},
	reflect.Uint8: {putUint8, gdwire.TypeInt}, reflect.Uint16: {putUint16, gdwire.TypeInt}, reflect.Uint32: {putUint32, gdwire.TypeInt},
	reflect.Float32: {putFloat32, gdwire.TypeFloat}, reflect.Float64: {putFloat64, gdwire.TypeFloat},
	reflect.String: {putText, gdwire.TypeString},
}

// suits reports whether a value may be written with the block.
func (k *block) suits(s *encoder) bool { return k.state.Load() < s.blocks }

// putBlock writes x with the block k. It returns false if it wrote nothing.
func (s *encoder) putBlock(k *block, x variable) (ok bool, err error) {
	if !k.isOn() {
		return false, nil
	}
	b, n, depth := export.Window(s.e)
	// A level, or the outermost struct, is at most blockDicts Dictionaries in an Array.
	most := min(min(depth, maxDepth-s.depth)/(blockDicts+1)-1, blockLevels)
	if n > len(b)-blockRoom || most < 0 {
		return false, nil
	}
	if k.isList {
		// The first step must not leave the block, whose plan would begin it again.
		if size, _ := lenCap(x); most < 1 || size > math.MaxInt32 || !k.first.cold.elem.isOn() {
			return false, nil
		}
	}
	r := blockRun{b: b, step: &k.first, x: x, most: most, base: s.e.Depth(), depth: s.depth}
	for {
		n = r.putSteps(n)
		if r.step.code == putEnd {
			export.Rewind(s.e, r.base)
			return true, export.Put(s.e, n)
		}
		if end := r.putCalling(n); end > 0 {
			n = end
			continue
		}
		if n, err = s.leaveBlock(&r, n); err != nil {
			return true, err
		}
	}
}

// putSteps puts values up to one that needs a call, or the end of the block, and returns the position
// after them. It makes no calls, so that all of its variables are in registers.
func (r *blockRun) putSteps(n int) int {
	b, x, p := r.b, r.x, r.step
	var number int64
	var w *[blockRoom]byte
next:
	v := fieldAt(x, p.fieldLocation)
	n &= math.MaxInt
	if n > len(b)-blockRoom {
		if p.code == putEnd {
			goto end
		}
		goto stop
	}
	w = (*[blockRoom]byte)(b[n:])
	switch p.code {
	case putDict:
		number = 0
	case putBool:
		number = 0
		if boolIn(v) {
			number = 1
		}
	case putInt8:
		number = intIn[int8](v)
	case putInt16:
		number = intIn[int16](v)
	case putInt32:
		number = intIn[int32](v)
	case putUint8:
		number = int64(*pointer[uint8](v))
	case putUint16:
		number = int64(*pointer[uint16](v))
	case putUint32:
		if number = int64(*pointer[uint32](v)); number > math.MaxInt32 {
			goto wide
		}
	case putInt64:
		if number = intIn[int64](v); number != int64(int32(number)) {
			goto wide
		}
	case putFloat32:
		x := *pointer[float32](v)
		if number = int64(math.Float32bits(x)); x != x { // in 64 bits, as WriteFloat
			number = int64(math.Float64bits(float64(x)))
			goto wide
		}
	case putFloat64:
		x := *pointer[float64](v)
		f := float32(x)
		if number = int64(math.Float32bits(f)); float64(f) != x {
			number = int64(math.Float64bits(x))
			goto wide
		}
	case putFloats:
		const infinite = 0xFF << 23
		le.PutUint32(w[:], uint32(p.head))
		one := *pointer[uint32](v)
		le.PutUint32(w[4:], one)
		two := *pointer[uint32](elemAt(v, 1, 4))
		le.PutUint32(w[8:], two)
		carry := (one&infinite + 1<<23) | (two&infinite + 1<<23) // as wire.NarrowFloats
		size := 12
		if p.n > 2 {
			one = *pointer[uint32](elemAt(v, 2, 4))
			le.PutUint32(w[12:], one)
			carry |= one&infinite + 1<<23
			size = 16
			if p.n > 3 {
				one = *pointer[uint32](elemAt(v, 3, 4))
				le.PutUint32(w[16:], one)
				carry |= one&infinite + 1<<23
				size = 20
			}
		}
		if carry>>31 != 0 { // an infinity or NaN, which the plan makes quiet
			goto stop
		}
		*(*[blockKey]byte)(w[size&31:]) = p.after
		n += size + int(p.key)
		p = p.next
		goto next
	case putText:
		text := textIn(v)
		size := len(text)
		if size > 64 {
			goto stop
		}
		// Each word is stored before the next is loaded, which needs few registers. not has the highest bits
		// of bytes set as by wire.NotPlain8.
		k, not := size&127, uint64(0)
		le.PutUint32(w[8+k&^3:], 0)
		switch {
		case size > 16:
			a := wire.Load64(text)
			le.PutUint64(w[8:], a)
			not = wire.NotPlain8(a)
			a = wire.Load64(text[8:])
			le.PutUint64(w[16:], a)
			not |= wire.NotPlain8(a)
			if size > 32 {
				a = wire.Load64(text[16:])
				le.PutUint64(w[24:], a)
				not |= wire.NotPlain8(a)
				a = wire.Load64(text[24:])
				le.PutUint64(w[32:], a)
				not |= wire.NotPlain8(a)
				a = wire.Load64(text[size-32:])
				le.PutUint64(w[(k-24)&127:], a)
				not |= wire.NotPlain8(a)
				a = wire.Load64(text[size-24:])
				le.PutUint64(w[(k-16)&127:], a)
				not |= wire.NotPlain8(a)
			}
			a = wire.Load64(text[size-16:])
			le.PutUint64(w[(k-8)&127:], a)
			not |= wire.NotPlain8(a)
			a = wire.Load64(text[size-8:])
			le.PutUint64(w[k:], a)
			not |= wire.NotPlain8(a)
		case size > 8:
			a := wire.Load64(text)
			le.PutUint64(w[8:], a)
			not = wire.NotPlain8(a)
			a = wire.Load64(text[size-8:])
			le.PutUint64(w[k:], a)
			not |= wire.NotPlain8(a)
		case size >= 4:
			a, d := wire.Load32(text), wire.Load32(text[size-4:])
			le.PutUint32(w[8:], a)
			le.PutUint32(w[4+k:], d)
			not = uint64(a | (a - 0x01010101) | d | (d - 0x01010101))
		case size > 0:
			a, c, d := text[0], text[size>>1], text[size-1]
			w[8], w[8+k>>1], w[7+k] = a, c, d
			not = uint64(a | (a - 1) | c | (c - 1) | d | (d - 1))
		}
		if not&wire.NotASCII != 0 {
			goto stop
		}
		le.PutUint64(w[:], p.head|uint64(size)<<32)
		size = (8 + size + 3) &^ 3
		*(*[blockKey]byte)(w[size&127:]) = p.after
		n += size + int(p.key)
		p = p.next
		goto next
	case putList:
		if size, _ := lenCap(v); size > 0 {
			c, level := p.cold, r.level
			if level >= r.most || size > math.MaxInt32 {
				goto stop
			}
			if c.elem.state.Load() != blockOn {
				goto stop
			}
			r.level = level + 1
			l := &r.levels[level&(blockLevels-1)]
			l.step, l.x, l.left, l.count, l.depth = p, x, size, uint32(size), 0
			le.PutUint64(w[:], p.head|uint64(size)<<32)
			n += 8
			x, p = sliceData(v), &c.elem.first
			goto next
		}
		number = 0
	case putKey:
		*(*[blockKey]byte)(w[:]) = p.after
		n += int(p.key)
		p = p.next
		goto next
	case putEnd:
		goto end
	default:
		goto stop
	}
	le.PutUint64(w[:], p.head|uint64(number)<<32)
	*(*[blockKey]byte)(w[8:]) = p.after
	n += 8 + int(p.key)
	p = p.next
	goto next
wide:
	le.PutUint32(w[:], uint32(p.head)|1<<16)
	le.PutUint64(w[4:], uint64(number))
	*(*[blockKey]byte)(w[12:]) = p.after
	n += 12 + int(p.key)
	p = p.next
	goto next
end:
	if r.level > 0 {
		l := &r.levels[(r.level-1)&(blockLevels-1)]
		c := l.step.cold
		if l.left--; l.left > 0 {
			x, p = elemAt(x, 1, c.size), &c.elem.first
			goto next
		}
		r.level--
		x, p = l.x, l.step.next
		goto next
	}
stop:
	r.x, r.step = x, p
	return n
}

// putCalling puts the value of a step that needs calls, and the key after it, and returns the position
// after them, or 0 if only the plan can write the value.
func (r *blockRun) putCalling(n int) int {
	p, b := r.step, r.b
	if n > len(b)-blockRoom {
		return 0
	}
	v := fieldAt(r.x, p.fieldLocation)
	end := 0
	switch w := b[n:]; p.code {
	case putText:
		end = putBlockText(w, p.head, textIn(v))
	case putLongKey:
		end = putBlockText(w, p.head, p.cold.key.name)
	case putNodePath:
		end = putBlockPath(w, p.head, textIn(v))
	case putTexts:
		end = putBlockTexts(w, p.head, *pointer[[]string](v))
	case putFloats, putReals32:
		end = putBlockReals[float32](w, p, v)
	case putReals64:
		end = putBlockReals[float64](w, p, v)
	case putInts:
		numbers, _ := numbersIn[int32](v, int(p.n))
		le.PutUint32(w, uint32(p.head))
		for i, x := range numbers {
			le.PutUint32(w[4+4*i:], uint32(x))
		}
		end = 4 + 4*len(numbers)
	}
	if end == 0 || n+end > len(b)-blockKey {
		return 0
	}
	*(*[blockKey]byte)(b[n+end:]) = p.after
	r.step = p.next
	return n + end + int(p.key)
}

// putBlockText puts a text that putSteps does not, because it is long or not ASCII, into w.
func putBlockText(w []byte, head uint64, text string) (end int) {
	size := len(text)
	if size > len(w)-blockRoom || size > math.MaxInt32-1 || !wire.ValidText(text) {
		return 0
	}
	le.PutUint64(w, head|uint64(size)<<32)
	end = (8 + size + 3) &^ 3
	le.PutUint32(w[end-4:], 0) // the padding, of which the text overwrites a part
	copy(w[8:], text)
	return end
}

// putBlockPath puts a NodePath into w.
func putBlockPath(w []byte, head uint64, text string) (end int) {
	if len(w) < 16+wire.ShortNames {
		return 0
	}
	names, subnames, size, ok := wire.PutNames((*[wire.ShortNames]byte)(w[16:]), text)
	if !ok {
		return 0
	}
	absolute := uint64(0)
	if text != "" && text[0] == '/' {
		absolute = 1
	}
	le.PutUint64(w, head|uint64(names|1<<31)<<32)
	le.PutUint64(w[8:], uint64(subnames)|absolute<<32)
	return 16 + size
}

// putBlockTexts puts a PackedStringArray into w. Engines write a NUL after each string.
func putBlockTexts(w []byte, head uint64, texts []string) (end int) {
	if len(texts) > math.MaxInt32 {
		return 0
	}
	le.PutUint64(w, head|uint64(len(texts))<<32)
	end = 8
	for _, text := range texts {
		size := len(text)
		if end > len(w)-blockRoom-size || size > math.MaxInt32-1 || !wire.ValidText(text) {
			return 0
		}
		le.PutUint32(w[end:], uint32(size+1))
		end += 4
		le.PutUint32(w[end+size&^3:], 0) // the NUL and the padding
		copy(w[end:], text)
		end += (size + 4) &^ 3
	}
	return end
}

// putBlockReals puts a value of a math type into w.
func putBlockReals[T float32 | float64](w []byte, p *blockStep, v variable) (end int) {
	numbers, _ := numbersIn[T](v, int(p.n))
	le.PutUint32(w, uint32(p.head))
	if !wire.NarrowFloats((*[16 * 4]byte)(w[4:]), numbers) {
		return 0
	}
	return 4 + 4*len(numbers)
}

// leaveBlock opens the containers around the current step in the Encoder, where the plans write its value and the
// key after it. Values in the same Dictionary follow if they have no other way.
func (s *encoder) leaveBlock(r *blockRun, n int) (int, error) {
	p := r.step
	s.openContainers(r, n)
	s.depth = r.depth + s.e.Depth() - r.base
	for {
		c := p.cold
		if c.plan != nil {
			if err := c.plan.do(s, fieldAt(r.x, p.fieldLocation)); err != nil {
				return 0, r.withField(s, err, c.field)
			}
		}
		if c.key != nil && !export.WriteKey(s.e, &c.key.key) {
			if err := s.e.WriteString(c.key.name); err != nil {
				return 0, r.withField(s, err, c.dict.field)
			}
		}
		p = c.then
		r.b, n, _ = export.Window(s.e)
		if p.cold.dict != c.dict || c.dict == nil || p.code != putOther && n <= len(r.b)-blockRoom {
			break
		}
	}
	r.step, s.depth = p, r.depth
	return n, nil
}

// openContainers opens the containers around the current step in the Encoder. Those that are open since an earlier
// step remain.
func (s *encoder) openContainers(r *blockRun, n int) {
	from, depth := 0, r.base // the levels that are open, and their depth
	for from < r.level && r.levels[from].depth > 0 {
		depth = int(r.levels[from].depth)
		from++
	}
	c := r.step.cold
	open := blockOpen{dict: c.dict, level: r.level}
	if r.level > 0 {
		open.left = r.levels[r.level-1].left
	}
	if from == r.level && r.open == open {
		export.Sync(s.e, n, c.left)
		return
	}
	r.open = open
	if export.Rewind(s.e, depth); from > 0 {
		export.Sync(s.e, n, uint64(r.levels[from-1].left))
	}
	for ; from < r.level; from++ {
		l := &r.levels[from]
		s.openDicts(l.step.cold.dict, l.step.cold.left, n)
		export.Open(s.e, n, gdwire.TypeArray, l.count, uint64(l.left))
		l.depth = int32(s.e.Depth())
	}
	s.openDicts(c.dict, c.left, n)
}

// openDicts opens the Dictionary d, and those around it. left is the number of values that are still to come in d.
func (s *encoder) openDicts(d *blockDict, left uint64, n int) {
	if d != nil {
		s.openDicts(d.outer, d.left, n)
		export.Open(s.e, n, gdwire.TypeDictionary, d.count, left)
	}
}

// withField returns err, an error in the field f, or, if that is nil, in that of the innermost level.
func (r *blockRun) withField(s *encoder, err error, f *field) error {
	if f == nil && r.level > 0 {
		f = r.levels[r.level-1].step.cold.field
	}
	if f == nil {
		return err
	}
	return s.withField(err, f)
}
