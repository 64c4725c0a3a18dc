//go:build !purego && !go1.28

package variant

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// A block writes a struct in Godot4, by steps that put values and keys into the buffer of the Encoder without
// calls: -40 % of Marshal of structs. The step of an inner struct, or of a slice of structs, begins a level for
// the block of the inner struct.
//
// The Encoder knows nothing of the containers in a block until something other than a step writes: see
// leaveBlock. A step puts its whole value and the key after it, or nothing. Other values, such as an
// invalid value or one without room, are left to the plan. So the plans make all errors and flushes.
type block struct {
	fields []*fieldEncoder
	plan   *plan[encodeFunc] // of the struct
	isMade bool              // steps were made or are being made
	saves  int               // instructions, against the plan
	first  blockStep
}

const (
	// blockRoom is the number of bytes in the buffer needed by a step without a call, with its key.
	blockRoom = 160
	// blockKey is the size of the longest key of a step.
	blockKey = 8 + internal.MaxKey
	// blockLevels is the number of levels. Structs in the last begin another block.
	blockLevels = 16

	// Instructions saved by a step, and taken by steps with plans to write the values: by the first, which opens
	// containers, and by each after the first. Counted for structs of 0 to 12 ints and 1 to 3 any.
	stepSaves  = 60
	firstTakes = 325
	otherTakes = 25
)

type blockCode uint8

const (
	putDict  blockCode = iota // the start of a struct
	putUint8                  // or a bool
	putInt8
	putInt16
	putInt32
	putInt64
	putUint16
	putUint32
	putFloat32
	putFloat64
	putFloats // two to four, in 32 bits
	putText
	putStruct
	putList // a slice of structs
	putKey  // a key not put by the step before
	putEnd  // of a struct
	// Steps with calls: see putCalling.
	putLongKey
	putNodePath
	putMethod
	putTexts
	putReals32
	putReals64
	putInts
	// A step with a plan to write its value.
	putOther
)

// A blockStep puts a value, and the key after it if short and in the same struct.
type blockStep struct {
	code   blockCode
	key, n uint8  // the size of after, and the number of components
	head   uint64 // the header of the value
	fieldLocation
	after [blockKey]byte
	next  *blockStep
	cold  *coldStep
}

// A coldStep contains the fields needed for few values.
type coldStep struct {
	plan  *plan[encodeFunc] // of the value, or nil for a key
	field *field            // the field of the value, or nil
	key   *fieldEncoder     // the field of the key in the step or after its value, or nil
	left  uint64            // the remaining keys and values of the struct, with this one
	then  *blockStep        // after the value: for the start of a struct, its end
	elem  *block            // of a struct, or of the structs in a slice, or nil
	size  uintptr           // of an element
	text  *textMethod
}

// A blockLevel is a struct, or a slice of structs, being put.
type blockLevel struct {
	step *blockStep
	x    variable // the struct around it
	left int32    // the remaining structs, with the current one
	open int32    // left of the struct open in the Encoder, or 0
}

// A blockRun is the state of a block being put, in a local variable so that the pool of encoders
// keeps no addresses of values.
type blockRun struct {
	b      []byte // the window of the Encoder
	step   *blockStep
	x      variable // the struct being put
	level  int
	most   int    // the number of levels within Depth and maxDepth
	base   int    // the depth of the Encoder around the block
	depth  int    // the depth of the encoder
	text   string // of the latest method
	textAt int    // the position for text in b, or -1
	levels [blockLevels]blockLevel
}

var le = binary.LittleEndian

func init() { // without this file, there are no blocks
	encodePlans.finish = func(r *planner[encodeFunc]) { encodePlanner{r}.makeBlocks() }
}

// makeBlocks makes the steps of all new plans, and lets the plans of structs and slices use the blocks with
// fewer instructions.
func (b encodePlanner) makeBlocks() {
	for key, p := range b.pending {
		b.stepOf(key, p)
	}
	for _, p := range b.pending {
		if step := p.step.(*blockStep); step.cold.elem != nil {
			step.next = &blockStep{code: putEnd}
			step.cold.plan = &plan[encodeFunc]{do: p.do}
			if step.cold.elem.makeSteps() {
				p.do = step.encoder()
			}
		}
	}
}

// stepOf returns the step for the value of the plan p for key, at offset 0.
func (b encodePlanner) stepOf(key planKey, p *plan[encodeFunc]) *blockStep {
	if p.step == nil {
		p.step = b.makeStep(key, p)
	}
	return p.step.(*blockStep)
}

// makeStep makes the step of a new plan.
func (b encodePlanner) makeStep(key planKey, p *plan[encodeFunc]) *blockStep {
	switch parts := p.parts.(type) {
	case []*fieldEncoder:
		return &blockStep{code: putStruct, cold: &coldStep{elem: &block{fields: parts, plan: p}}}
	case *plan[encodeFunc]:
		if t := key.typ.Elem(); key.typ.Kind() == reflect.Slice && t.Kind() == reflect.Struct {
			if elem := b.stepOf(planKey{typ: t}, parts); elem.code == putStruct {
				return &blockStep{code: putList, head: blockHead(gdwire.TypeArray), cold: &coldStep{elem: elem.cold.elem, size: t.Size()}}
			}
		}
	}
	return plainStep(key)
}

// encoder returns the function to write a struct, or a slice of structs. See makeScalarDecoder for
// noinline.
//
//go:noinline
func (p *blockStep) encoder() encodeFunc {
	return func(s *encoder, x variable) error {
		if s.blocks {
			if ok, err := s.putBlock(p, x); ok {
				return err
			}
		}
		return p.cold.plan.do(s, x)
	}
}

// blockHead returns the header of a value of type t in 32 bits, or of a container.
func blockHead(t gdwire.Type) uint64 { return uint64(export.Header(t)) }

// makeSteps makes the steps, unless they are being made, and reports whether the block saves instructions.
func (k *block) makeSteps() bool {
	if k.isMade {
		return k.saves >= 0
	}
	k.isMade = true
	n := len(k.fields)
	steps := make([]blockStep, 0, 2*n+2)
	saves := 0
	add := func(p blockStep, c coldStep) {
		switch isOther := p.code == putOther; {
		case !isOther && p.code != putKey && p.code != putEnd:
			saves += stepSaves
		case isOther && steps[len(steps)-1].code != putOther:
			saves -= firstTakes
		case isOther:
			saves -= otherTakes
		}
		p.cold = &c
		steps = append(steps, p)
	}
	add(blockStep{code: putDict, head: blockHead(gdwire.TypeDictionary) | uint64(n)<<32}, coldStep{plan: k.plan})
	for i, f := range k.fields {
		left := uint64(2 * (n - i))
		switch p := &steps[len(steps)-1]; {
		case f.key.Size == 0:
			add(blockStep{code: putLongKey, head: blockHead(gdwire.TypeString)}, coldStep{key: f, left: left})
		case p.code == putStruct || p.code == putList || p.code == putLongKey:
			add(blockStep{code: putKey}, coldStep{key: f, left: left})
			steps[len(steps)-1].setKey(f)
		default:
			if p.setKey(f); i > 0 {
				p.cold.key = f
			}
		}
		p, ok := f.plan.step.(*blockStep)
		if !ok || p.cold.elem != nil && !p.cold.elem.makeSteps() {
			p = otherStep
		}
		step, c := *p, *p.cold
		step.fieldLocation, c.plan, c.field, c.left = f.fieldLocation, f.plan, f.field, left-1
		add(step, c)
	}
	add(blockStep{code: putEnd}, coldStep{})
	for i := range steps[1:] {
		steps[i].next, steps[i].cold.then = &steps[i+1], &steps[i+1]
	}
	k.first, k.saves = steps[0], saves
	k.first.cold.then = &steps[len(steps)-1]
	return saves >= 0
}

// setKey sets the key after the value.
func (p *blockStep) setKey(f *fieldEncoder) {
	p.key = uint8(f.key.Size)
	le.PutUint64(p.after[:], f.key.Head)
	le.PutUint64(p.after[8:], f.key.First)
	le.PutUint64(p.after[16:], f.key.Last)
}

var otherStep = &blockStep{code: putOther, cold: &coldStep{}}

// plainStep returns the step for a value of the type of key, without inner structs.
func plainStep(key planKey) *blockStep {
	t, wire, own := key.typ, key.wire, ownTypeOf(key.typ)
	if own != nil && wire == 0 {
		wire = own.typ
	}
	p := &blockStep{cold: &coldStep{}}
	if own == nil && hasMethods(t) {
		if m := reflect.PointerTo(t); m.Implements(marshalerType) || !m.Implements(textMarshalerType) || wire != 0 && wire != gdwire.TypeString {
			return otherStep
		}
		p.code, p.head, p.cold.text = putMethod, blockHead(gdwire.TypeString), newTextMethod(t)
		return p
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
		ok = e.Kind() == reflect.String && ownTypeOf(e) == nil && !hasMethods(e)
		x.code, x.typ = putTexts, gdwire.TypePackedStringArray
	}
	if !ok || wire != 0 && wire != x.typ {
		return otherStep
	}
	p.code, p.head = x.code, blockHead(x.typ)
	return p
}

// blockKinds contains the codes and types of numbers and texts.
var blockKinds = map[reflect.Kind]struct {
	code blockCode
	typ  gdwire.Type
}{
	reflect.Bool: {putUint8, gdwire.TypeBool},
	reflect.Int8: {putInt8, gdwire.TypeInt}, reflect.Int16: {putInt16, gdwire.TypeInt},
	reflect.Int32: {putInt32, gdwire.TypeInt}, reflect.Int64: {putInt64, gdwire.TypeInt},
	reflect.Int:   {[2]blockCode{putInt32, putInt64}[math.MaxInt>>62], gdwire.TypeInt},
	reflect.Uint8: {putUint8, gdwire.TypeInt}, reflect.Uint16: {putUint16, gdwire.TypeInt}, reflect.Uint32: {putUint32, gdwire.TypeInt},
	reflect.Float32: {putFloat32, gdwire.TypeFloat}, reflect.Float64: {putFloat64, gdwire.TypeFloat},
	reflect.String: {putText, gdwire.TypeString},
}

// putBlock puts x, a struct or a slice of structs, by the step p, and returns false if nothing was written.
func (s *encoder) putBlock(p *blockStep, x variable) (ok bool, err error) {
	b, n, depth := export.Window(s.e)
	var r blockRun // a literal would be copied: 90 instructions
	r.b, r.step, r.x, r.textAt = b, p, x, -1
	// A level is at most a Dictionary in an Array.
	r.most, r.base, r.depth = min(min(depth, maxDepth-s.depth)/2, blockLevels), s.e.Depth(), s.depth
	for {
		n = r.putSteps(n)
		if r.step.code == putEnd {
			export.Rewind(s.e, r.base)
			return true, export.Put(s.e, n)
		}
		if r.step == p {
			return false, nil // the plan would begin the block again
		}
		if p := r.step; p.code == putMethod && n != r.textAt && n <= len(r.b)-blockRoom {
			if r.text, err = p.cold.text.text(s, fieldAt(r.x, p.fieldLocation)); err == nil {
				r.textAt = n // putSteps puts it
				continue
			}
			s.methodText = methodText{r.text, err, true}
		} else if end := r.putCalling(s, n); end > 0 {
			n = end
			continue
		}
		if n, err = s.leaveBlock(&r, n); err != nil {
			return true, err
		}
	}
}

// putSteps puts values up to one that needs a call, or the end of the block, and returns the position
// after them. Without calls, all variables are in registers: with texts in a separate function, not inlined by the
// compiler, Marshal of structs takes 2 to 12 % more instructions.
func (r *blockRun) putSteps(n int) int {
	b, x, p := r.b, r.x, r.step
	var number int64
	var text string
	var w *[blockRoom]byte
	var size, k int
	var not uint64
next: // the value of p, in x
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
		le.PutUint32(w[:], uint32(p.head))
		size = 4 + 4*int(p.n)
		carry := putReals(w, v, 0) | putReals(w, v, int(p.n)-2)
		if carry&(1<<63|1<<31) != 0 { // an infinity or NaN: the plan makes NaN quiet
			goto stop
		}
		goto after
	case putText:
		text = textIn(v)
		goto text
	case putMethod:
		if text = r.text; n != r.textAt {
			goto stop
		}
		goto text
	case putStruct:
		if r.level >= r.most {
			goto stop
		}
		r.enter(p, x, 1)
		x, p = v, &p.cold.elem.first
		goto next
	case putList:
		count, _ := lenCap(v)
		if r.level >= r.most || count > math.MaxInt32 {
			goto stop
		}
		le.PutUint64(w[:], p.head|uint64(count)<<32)
		n += 8
		if count == 0 {
			p = p.next
			goto next
		}
		r.enter(p, x, int32(count))
		x, p = sliceData(v), &p.cold.elem.first
		goto next
	case putKey:
		size = 0
		goto after
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
text: // short and ASCII, or none of its bytes count
	size = len(text)
	if size > 64 {
		goto stop
	}
	// Each word is stored before the next is loaded, to need few registers. In not, the highest bits of bytes
	// are set as by wire.NotPlain8.
	k, not = size&127, 0
	le.PutUint32(w[8+k&^3:], 0)
	switch {
	case size > 16:
		not = putWord(w, 8, wire.Load64(text)) | putWord(w, 16, wire.Load64(text[8:]))
		if size > 32 {
			not |= putWord(w, 24, wire.Load64(text[16:])) | putWord(w, 32, wire.Load64(text[24:]))
			not |= putWord(w, k-24, wire.Load64(text[size-32:])) | putWord(w, k-16, wire.Load64(text[size-24:]))
		}
		not |= putWord(w, k-8, wire.Load64(text[size-16:])) | putWord(w, k, wire.Load64(text[size-8:]))
	case size > 8:
		not = putWord(w, 8, wire.Load64(text)) | putWord(w, k, wire.Load64(text[size-8:]))
	case size >= 4:
		not = uint64(putHalf(w, 8, wire.Load32(text)) | putHalf(w, 4+k, wire.Load32(text[size-4:])))
	case size > 0:
		not = putBytes(w, k, text)
	}
	if not&wire.NotASCII != 0 {
		goto stop
	}
	le.PutUint64(w[:], p.head|uint64(size)<<32)
	size = (8 + size + 3) & 124
	*(*[blockKey]byte)(w[size:]) = p.after
	n += size + int(p.key)
	p = p.next
	goto next
wide: // the 64 bits of number
	le.PutUint32(w[:], uint32(p.head)|1<<16)
	le.PutUint64(w[4:], uint64(number))
	size = 12
after: // size bytes: the key of the next value
	*(*[blockKey]byte)(w[size&127:]) = p.after
	n += size + int(p.key)
	p = p.next
	goto next
end: // of a struct: the next element of its list, or what follows
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
stop: // p needs a call, or there is no room, or nothing is left
	r.x, r.step = x, p
	return n
}

// putWord puts the first eight bytes of a text, word, at i, and returns them as wire.NotPlain8.
func putWord(w *[blockRoom]byte, i int, word uint64) uint64 {
	le.PutUint64(w[i&127:], word)
	return wire.NotPlain8(word)
}

// putHalf puts four bytes of a text as putWord does eight.
func putHalf(w *[blockRoom]byte, i int, half uint32) uint32 {
	le.PutUint32(w[i&127:], half)
	return half | (half - 0x01010101)
}

// putBytes puts a text of 1 to 3 bytes, size.
func putBytes(w *[blockRoom]byte, size int, text string) uint64 {
	a, c, d := text[0], text[size>>1], text[size-1]
	w[8], w[8+size>>1], w[7+size] = a, c, d
	return uint64(a | (a - 1) | c | (c - 1) | d | (d - 1))
}

// putReals puts components i and i+1, from 0, of a math type with components of 32 bits, and returns a carry in bit 31 or
// 63 for an infinity or NaN.
func putReals(w *[blockRoom]byte, v variable, i int) uint64 {
	c := pointer[[2]uint32](elemAt(v, i, 4))
	both := uint64(c[0]) | uint64(c[1])<<32
	le.PutUint64(w[(4+4*i)&127:], both)
	return both&(0xFF<<55|0xFF<<23) + (1<<55 | 1<<23)
}

// enter begins a level for count structs.
func (r *blockRun) enter(p *blockStep, x variable, count int32) {
	l := &r.levels[r.level&(blockLevels-1)]
	l.step, l.x, l.left, l.open = p, x, count, 0
	r.level++
}

// putCalling puts the value of a step that needs calls, and the key after it, and returns the position
// after them, or 0 if only the plan can write the value.
func (r *blockRun) putCalling(s *encoder, n int) int {
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
	case putMethod:
		if end = putBlockText(w, p.head, r.text); end == 0 {
			s.methodText = methodText{r.text, nil, true}
		}
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

// putBlockText puts a text too long for putSteps, or not ASCII, into w.
func putBlockText(w []byte, head uint64, text string) (end int) {
	size := len(text)
	if size > len(w)-blockRoom || size > math.MaxInt32-1 || !wire.ValidText(text) {
		return 0
	}
	le.PutUint64(w, head|uint64(size)<<32)
	end = (8 + size + 3) &^ 3
	le.PutUint32(w[end-4:], 0) // the padding, partly overwritten by the text
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

// leaveBlock opens the containers around the current step in the Encoder, and writes its value by the plan, and
// the key after it. Values of the same struct follow as long as only plans can write them.
func (s *encoder) leaveBlock(r *blockRun, n int) (int, error) {
	r.open(s.e, n)
	r.textAt, s.depth = -1, r.depth+s.e.Depth()-r.base
	for p := r.step; ; {
		c := p.cold
		if c.plan != nil {
			if err := c.plan.do(s, fieldAt(r.x, p.fieldLocation)); err != nil {
				return 0, r.withField(s, err, c.field)
			}
		}
		if c.key != nil && !export.WriteKey(s.e, &c.key.key) {
			if err := s.e.WriteString(c.key.name); err != nil {
				return 0, r.withField(s, err, nil)
			}
		}
		p = c.then
		r.b, n, _ = export.Window(s.e)
		if p.code == putEnd || p.code != putOther && n <= len(r.b)-blockRoom {
			r.step, s.depth = p, r.depth
			return n, nil
		}
	}
}

// open opens the containers around the current step in e. Containers opened by an earlier step remain.
func (r *blockRun) open(e *gdwire.Encoder, n int) {
	i, depth := 0, r.base
	for ; i < r.level && r.levels[i].open == r.levels[i].left; i++ {
		depth += int(r.levels[i].step.code-putStruct) + 1
	}
	if export.Rewind(e, depth); i > 0 {
		export.Sync(e, n, r.stepIn(i-1).cold.left)
	}
	for ; i < r.level; i++ {
		l, p := &r.levels[i], r.stepIn(i)
		if l.step.code == putList {
			size, _ := lenCap(fieldAt(l.x, l.step.fieldLocation))
			export.Open(e, n, gdwire.TypeArray, uint32(size), uint64(l.left))
		}
		if p.code != putDict { // the plan of putDict writes the whole struct
			export.Open(e, n, gdwire.TypeDictionary, uint32(len(l.step.cold.elem.fields)), p.cold.left)
			l.open = l.left
		}
	}
}

// stepIn returns the current step in level i.
func (r *blockRun) stepIn(i int) *blockStep {
	if i+1 < r.level {
		return r.levels[i+1].step
	}
	return r.step
}

// withField returns err, an error in the field f or, if f is nil, in the field of the innermost level.
func (r *blockRun) withField(s *encoder, err error, f *field) error {
	if f == nil {
		f = r.levels[r.level-1].step.cold.field
	}
	if f == nil {
		return err
	}
	return s.withField(err, f)
}
