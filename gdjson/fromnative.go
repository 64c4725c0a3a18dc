package gdjson

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// How a reader converts native JSON: the args of a value, then values of every type.

// math writes a math type.
func (r *reader) math(o *object) {
	s := &shapes[o.typ]
	n := r.enterArray(o, memberArgs)
	if n != s.n {
		r.failf(o.at[memberArgs].pos, gdwire.ErrCount, "%d args instead of %d in a %v", n, s.n, o.typ)
		return
	}
	if s.unit == unitInt32 {
		c := r.batch.ints[:n]
		fill(r, c, (*reader).intArg)
		r.wrote(o.offset, gdwire.WriteComponents(r.e, o.typ, c))
		return
	}
	args, c := r.batch.reals[:n], r.batch.reals[n:2*n]
	fill(r, args, (*reader).realArg)
	r.reals(o, 0, args, func() error {
		copy(c, args)
		for i, at := range s.wire {
			c[at] = args[i]
		}
		return gdwire.WriteComponents(r.e, o.typ, c)
	})
}

// packed writes a packed array.
func (r *reader) packed(o *object) {
	s, b := &shapes[o.typ], &r.batch
	n := r.enterArray(o, memberArgs)
	if n%s.n != 0 {
		r.failf(o.at[memberArgs].pos, gdwire.ErrCount, "%d args, not a multiple of %d, in a %v", n, s.n, o.typ)
		return
	}
	r.wrote(o.offset, r.e.BeginPacked(o.typ, int64(n/s.n)))
	switch s.unit {
	case unitText:
		r.packedStrings(n)
	case unitByte:
		packedInts(r, o, b.bytes[:], n, (*reader).byteArg)
	case unitInt32:
		packedInts(r, o, b.ints[:], n, (*reader).intArg)
	case unitInt64:
		packedInts(r, o, b.longs[:], n, (*reader).longArg)
	default:
		r.packedReals(o, s.n, n)
	}
	r.wrote(o.offset, r.e.End())
}

// packedStrings writes n strings. A lenient reader writes the text of other values.
func (r *reader) packedStrings(n int) {
	for i := 0; i < n && r.err == nil; i++ {
		at := r.at.pos
		var s []byte
		switch {
		case r.peek() == '"':
			s = r.string()
		case r.o.Lenient:
			s = r.stringOf()
		default:
			r.failf(at, gdwire.ErrType, "element of a PackedStringArray is not a string")
		}
		r.wrote(at, r.e.WriteString(wire.String(s)))
		r.separate()
	}
}

// stringOf reads a value other than a string and returns the String that the engine makes of the
// value, or the JSON of an object or array.
func (r *reader) stringOf() []byte {
	at := r.at.pos
	r.skip()
	s := r.text.json[at:r.at.pos]
	switch s[0] {
	case 'n':
		return []byte("<null>")
	case '{', '[', 't', 'f':
		return s
	}
	_, s = standardNumber(nil, s)
	x, _ := parseReal(s)
	return appendText(nil, x, 64)
}

// fill reads len(dst) args into dst.
func fill[T any](r *reader, dst []T, read func(*reader) T) {
	for i := 0; i < len(dst) && r.err == nil; i++ {
		dst[i] = read(r)
		r.separate()
	}
}

// packedInts writes n integers, up to len(batch) at a time.
func packedInts[T byte | int32 | int64](r *reader, o *object, batch []T, n int, read func(*reader) T) {
	for done := 0; done < n && r.err == nil; done += len(batch) {
		b := batch[:min(n-done, len(batch))]
		fill(r, b, read)
		r.wrote(o.offset, gdwire.WritePacked(r.e, b))
	}
}

// packedReals writes n reals, so many in each element, as many at a time as the batch holds.
func (r *reader) packedReals(o *object, elem, n int) {
	b := &r.batch
	most := len(b.reals) / elem * elem
	for done := 0; done < n && r.err == nil; done += most {
		args := b.reals[:min(n-done, most)]
		fill(r, args, (*reader).realArg)
		r.reals(o, done, args, func() error {
			switch elem {
			case 1:
				return gdwire.WritePacked(r.e, args)
			case 2:
				return writeVectors(r.e, args, b.vectors2[:])
			case 3:
				return writeVectors(r.e, args, b.vectors3[:])
			}
			return writeVectors(r.e, args, b.vectors4[:])
		})
	}
}

// writeVectors writes reals as vectors.
func writeVectors[V [2]float64 | [3]float64 | [4]float64](e *gdwire.Encoder, reals []float64, batch []V) error {
	n := len(batch[0])
	batch = batch[:len(reals)/n]
	for i := range batch {
		for j := range n {
			batch[i][j] = reals[n*i+j]
		}
	}
	return gdwire.WritePacked(e, batch)
}

// reals calls write to write args, with the first at the given index in its object. A lenient reader
// replaces numbers too large for 32 bits with infinity, as the engine does, and calls write again.
// Otherwise the error is at the number.
func (r *reader) reals(o *object, first int, args []float64, write func() error) {
	err := write()
	if errors.Is(err, gdwire.ErrRange) && r.o.Lenient {
		_ = r.e.ClearError() // err
		for i, x := range args {
			args[i] = overflowed(x)
		}
		err = write()
	} else if errors.Is(err, gdwire.ErrRange) {
		r.at = o.at[memberArgs]
		r.enter()
		for range first + slices.IndexFunc(args, func(x float64) bool { return overflowed(x) != x && x == x }) {
			r.skip()
			r.separate()
		}
		r.wrote(r.at.pos, err)
	}
	r.wrote(o.offset, err)
}

// overflowed returns x, or infinity if x is too large for a float32.
func overflowed(x float64) float64 {
	if f := float64(float32(x)); math.IsInf(f, 0) {
		return f
	}
	return x
}

// realArg reads the next element of args as a float.
func (r *reader) realArg() float64 {
	at := r.at.pos
	switch r.peek() {
	case 'n':
		r.literal()
		return math.Float64frombits(nan64Bits)
	case '"':
		b := r.string()
		x, ok := parseNaN(b)
		if !ok && r.o.Lenient {
			return lenientFloat(b)
		}
		if !ok {
			r.failf(at, gdwire.ErrType, "string %s is not a number", quoted(b))
		}
		return x
	case '{', '[', 't', 'f':
		return float64(r.noNumber())
	}
	x, err := parseReal(r.literal())
	if !r.o.Lenient {
		r.fail(at, err)
	}
	return x
}

// longArg reads the next element of args, a number or a string of digits, as an
// integer of 64 bits.
func (r *reader) longArg() int64 {
	at, c := r.at.pos, r.peek()
	var b []byte
	switch c {
	case '"':
		b = r.string()
	case '{', '[', 't', 'f', 'n':
		return r.noNumber()
	default:
		b = r.literal()
	}
	x, err := parseInt(b)
	switch {
	case err == nil:
	case !r.o.Lenient:
		r.fail(at, err)
	case c == '"':
		return lenientInt(b)
	default:
		f, _ := strconv.ParseFloat(string(b), 64)
		switch { // the nearest integer
		case f >= 1<<63:
			return math.MaxInt64
		case f < -1<<63:
			return math.MinInt64
		}
		return int64(f)
	}
	return x
}

// noNumber reads a value other than a number. The engine reads true as 1 and others as 0; so does a
// lenient reader.
func (r *reader) noNumber() int64 {
	at, c := r.at.pos, r.peek()
	if !r.o.Lenient {
		r.failf(at, gdwire.ErrType, "arg is not a number")
	}
	r.skip()
	if c == 't' {
		return 1
	}
	return 0
}

// shortArg reads the next element of args as an integer of fewer bits. A lenient reader wraps larger
// numbers around, as the engine does.
func shortArg[T byte | int32 | uint32](r *reader, size string) T {
	at := r.at.pos
	x := r.longArg()
	if int64(T(x)) != x && !r.o.Lenient {
		r.failf(at, gdwire.ErrRange, "%d does not fit %s", x, size)
	}
	return T(x)
}

func (r *reader) intArg() int32 { return shortArg[int32](r, "32 bits") }

func (r *reader) byteArg() byte { return shortArg[byte](r, "a byte") }

func (r *reader) wordArg() uint32 { return shortArg[uint32](r, "unsigned 32 bits") }

// native converts the next value. A lenient reader writes null in place of an
// invalid value.
func (r *reader) native() {
	if !r.o.Lenient {
		r.nativeValue()
		return
	}
	before, offset := r.at, r.e.OutputOffset()
	r.nativeValue()
	if r.e.Err() != refused || r.e.OutputOffset() != offset {
		return
	}
	_ = r.e.ClearError()
	r.err = nil
	r.at = before
	r.skip()
	r.wrote(before.pos, r.e.WriteNil())
}

// nativeValue converts the next value and does not replace an invalid value by null.
func (r *reader) nativeValue() {
	switch at := r.at.pos; r.peek() {
	case 'n', 't', 'f':
		r.scalar()
	case '"':
		r.nativeString()
	case '[':
		n := r.enter()
		r.wrote(at, r.e.BeginArray(int(n.count)))
		r.values(at, int(n.count))
		r.leave(n)
	case '{':
		r.nativeObject()
	default:
		r.failf(at, gdwire.ErrType, "number %s without \"i:\" or \"f:\" in native JSON", cut(r.literal(), 40))
	}
}

// nativeString converts a string with a prefix.
func (r *reader) nativeString() {
	at := r.at.pos
	s := r.string()
	var prefix, content []byte
	switch {
	case len(s) > 1 && s[1] == ':':
		prefix, content = s[:1], s[2:]
	case len(s) > 2 && s[2] == ':':
		prefix, content = s[:2], s[3:]
	}
	switch string(prefix) {
	case "s":
		r.wrote(at, r.e.WriteString(wire.String(content)))
	case "sn":
		r.wrote(at, r.e.WriteStringName(wire.String(content)))
	case "np":
		err := r.e.WriteNodePath(wire.String(content))
		if r.o.Lenient && errors.Is(err, gdwire.ErrRange) { // two colons in a row
			_ = r.e.ClearError() // err
			err = r.e.WriteNodePath("")
		}
		r.wrote(at, err)
	case "i":
		x, err := r.intText(content)
		r.fail(at, err)
		r.wrote(at, r.e.WriteInt(x))
	case "f":
		x, err := r.floatText(content)
		r.fail(at, err)
		r.wrote(at, r.e.WriteFloat(x))
	default:
		r.failf(at, gdwire.ErrType, "string %s without a prefix in native JSON", quoted(s))
	}
}

// intText parses the text after "i:", and floatText the text after "f:".
func (r *reader) intText(b []byte) (int64, error) {
	if r.o.Lenient {
		return lenientInt(b), nil
	}
	return parseDigits(b, b)
}

func (r *reader) floatText(b []byte) (float64, error) {
	x, err := parseFloat(b)
	if err != nil && r.o.Lenient {
		return lenientFloat(b), nil
	}
	return x, err
}

// values converts the next n elements and writes the End of their container. The container begins
// at offset.
func (r *reader) values(offset, n int) {
	for i := 0; i < n && r.err == nil; i++ {
		r.native()
		r.separate()
	}
	r.wrote(offset, r.e.End())
}

// forms contains a form for every type written as an object, by name.
var forms = map[string]form{}

func init() { // methods of a reader refer to it
	args, data := setOf(memberArgs), setOf(memberData)
	add := func(t gdwire.Type, name string, convert func(*reader, *object), required, optional memberSet) {
		forms[name] = form{name, t, convert, required, optional}
	}
	for i, s := range shapes {
		switch t := gdwire.Type(i); {
		case s.math:
			add(t, t.String(), (*reader).math, args, 0)
		case s.unit != unitNone:
			add(t, t.String(), (*reader).packed, args, 0)
		}
	}
	add(gdwire.TypeArray, "Array", (*reader).array, args, setOf(memberElemType))
	add(gdwire.TypeDictionary, "Dictionary", (*reader).dictionary, args, setOf(memberKeyType, memberValueType))
	add(gdwire.TypeRID, "RID", (*reader).id, 0, setOf(memberID))
	add(gdwire.TypeObject, "ObjectID", (*reader).id, setOf(memberID), 0)
	add(gdwire.TypeCallable, "Callable", (*reader).callable, 0, 0)
	add(gdwire.TypeSignal, "Signal", (*reader).signal, 0, setOf(memberName, memberObject))
	add(gdwire.TypeImage, "Image", (*reader).image, data|setOf(memberFormat, memberMipmaps, memberWidth, memberHeight), 0)
	add(gdwire.TypeInputEvent, "InputEvent", (*reader).inputEvent, data|setOf(memberEvent, memberDevice), 0)
}

// nativeObject converts an object. Its members can have any order.
func (r *reader) nativeObject() {
	if r.open == len(r.objects) {
		r.objects = append(r.objects, new(object))
	}
	o := r.objects[r.open]
	*o = object{offset: r.at.pos}
	r.open++
	n := r.text.nodes[r.at.node]
	r.readMembers(&o.members)
	if r.err == nil {
		r.readForm(o)
	}
	if r.err == nil {
		o.convert(r, o)
	}
	r.leave(n)
	r.open--
}

// readForm finds the form of an object by the member "type" and checks that the object contains the
// right members.
func (r *reader) readForm(o *object) {
	if !o.has(memberType) {
		r.failf(o.offset, gdwire.ErrType, "object without \"type\" in native JSON")
		return
	}
	name := r.stringMember(o, memberType)
	switch {
	case o.has(memberProps):
		o.form = form{convert: (*reader).serialized, required: setOf(memberProps)}
	case string(name) == r.latest.name: // saves most map lookups
		o.form = r.latest
	default:
		o.form = forms[string(name)]
		r.latest = o.form
	}
	switch missing, extra := o.required&^o.set, o.set&^(o.required|o.optional|setOf(memberType)); {
	case o.convert == nil:
		r.failf(o.offset, gdwire.ErrType, "unknown type %s", quoted(name))
	case missing != 0:
		r.failf(o.offset, gdwire.ErrMisplacedKey, "%s without member %q", quoted(name), missing.first())
	case extra != 0 && !r.o.Lenient:
		r.failf(o.offset, gdwire.ErrMisplacedKey, "%s with member %q", quoted(name), extra.first())
	}
}

// readMembers finds the members of the next value, an object.
func (r *reader) readMembers(m *members) {
	n := r.enter()
	for range n.count {
		at := r.at.pos
		name := r.name()
		i, ok := memberOf(name)
		switch {
		case !ok && !r.o.Lenient:
			r.failf(at, gdwire.ErrMisplacedKey, "unknown member %s in native JSON", quoted(name))
			return
		case ok && m.has(i) && !r.o.Lenient:
			r.failf(at, gdwire.ErrMisplacedKey, "duplicate member %s", quoted(name))
			return
		case ok:
			m.set |= 1 << i
			m.at[i] = r.at
		}
		r.skip()
		r.separate()
	}
}

// stringMember reads a member that must be a string.
func (r *reader) stringMember(o *object, m member) []byte {
	r.at = o.at[m]
	return r.memberText(m)
}

// memberText reads a string that is, or is in, a member.
func (r *reader) memberText(m member) []byte {
	if r.peek() != '"' {
		r.failf(r.at.pos, gdwire.ErrType, "%q is not a string", memberNames[m])
		return nil
	}
	return r.string()
}

// enterPairs moves to the first element of a member that must be an array of keys and values, in
// turn, and returns the number of pairs.
func (r *reader) enterPairs(o *object, m member) int {
	n := r.enterArray(o, m)
	if n%2 != 0 {
		r.failf(o.at[m].pos, gdwire.ErrCount, "odd number of values, %d, in %q", n, memberNames[m])
	}
	return n / 2
}

// array converts an Array.
func (r *reader) array(o *object) {
	elem := r.elem(o, memberElemType)
	n := r.enterArray(o, memberArgs)
	r.wrote(o.offset, r.e.BeginTypedArray(n, elem))
	r.values(o.offset, n)
}

// dictionary converts a Dictionary.
func (r *reader) dictionary(o *object) {
	key, value := r.elem(o, memberKeyType), r.elem(o, memberValueType)
	n := r.enterPairs(o, memberArgs)
	if key == (gdwire.Elem{}) && value == key { // fast path: nearly all dictionaries are untyped
		r.wrote(o.offset, r.e.BeginDict(n))
	} else {
		r.wrote(o.offset, r.e.BeginTypedDict(n, key, value))
	}
	r.values(o.offset, 2*n)
}

// elem reads a member with a declared type. The value is a string as from declaredText, or an
// object with the only member "builtin", "class" or "script".
func (r *reader) elem(o *object, m member) gdwire.Elem {
	if !o.has(m) {
		return gdwire.Elem{}
	}
	r.at = o.at[m]
	kind := ""
	if r.peek() == '{' && r.text.nodes[r.at.node].count == 1 {
		r.enter()
		kind = string(r.name())
	}
	at := r.at.pos
	text := string(r.memberText(m))
	switch {
	case kind == "builtin" && types[text] != 0, kind == "" && isBuiltin(text):
		return gdwire.Elem{Type: types[text]}
	case kind == "script", kind == "" && isScript(text):
		return gdwire.Elem{Type: gdwire.TypeObject, Script: text}
	case kind == "class", kind == "" && text != "":
		return gdwire.Elem{Type: gdwire.TypeObject, Class: text}
	}
	r.failf(at, gdwire.ErrType, "%q has unknown type %s", memberNames[m], quoted([]byte(text)))
	return gdwire.Elem{}
}

// serialized writes a serialized object.
func (r *reader) serialized(o *object) {
	class := string(r.stringMember(o, memberType))
	if !r.o.AllowObjects {
		r.failf(o.offset, gdwire.ErrObject, "serialized object of class %s, which is not allowed", quoted([]byte(class)))
		return
	}
	count := r.enterPairs(o, memberProps)
	r.wrote(o.offset, r.e.BeginObject(class, count))
	for i := 0; i < count && r.err == nil; i++ {
		at := r.at.pos
		if r.peek() != '"' {
			r.failf(at, gdwire.ErrType, "property name is not a string")
			return
		}
		r.wrote(at, r.e.WriteProperty(wire.String(r.string())))
		r.separate()
		r.native()
		r.separate()
	}
	r.wrote(o.offset, r.e.End())
}

// idMember reads a member with an id, or returns 0 if the member is missing.
func (r *reader) idMember(o *object, m member) uint64 {
	if !o.has(m) {
		return 0
	}
	r.at = o.at[m]
	return uint64(r.longArg())
}

func (r *reader) id(o *object) {
	write := r.e.WriteObjectID
	if o.typ == gdwire.TypeRID {
		write = r.e.WriteRID
	}
	r.wrote(o.offset, write(r.idMember(o, memberID)))
}

func (r *reader) callable(o *object) { r.wrote(o.offset, r.e.WriteCallable()) }

func (r *reader) signal(o *object) {
	object := r.idMember(o, memberObject)
	name := ""
	if r.at = o.at[memberName]; o.has(memberName) && (r.peek() == '"' || !r.o.Lenient) {
		name = string(r.memberText(memberName))
	}
	r.wrote(o.offset, r.e.WriteSignal(name, object))
}

// words reads members with unsigned numbers of 32 bits.
func (r *reader) words(o *object, all ...member) (words [4]uint32) {
	for i, m := range all {
		r.at = o.at[m]
		words[i] = r.wordArg()
	}
	return words
}

func (r *reader) image(o *object) {
	w := r.words(o, memberFormat, memberMipmaps, memberWidth, memberHeight)
	n := r.enterArray(o, memberData)
	r.wrote(o.offset, r.e.BeginImage(w[0], w[1], w[2], w[3], int64(n)))
	for b := r.batch.bytes[:]; n > 0 && r.err == nil; n -= len(b) {
		b = b[:min(n, len(b))]
		fill(r, b, (*reader).byteArg)
		_, err := r.e.Write(b)
		r.wrote(o.offset, err)
	}
	r.wrote(o.offset, r.e.End())
}

func (r *reader) inputEvent(o *object) {
	w := r.words(o, memberEvent, memberDevice)
	data := make([]byte, r.enterArray(o, memberData)) // so many elements are in the text already
	fill(r, data, (*reader).byteArg)
	r.wrote(o.offset, r.e.WriteInputEvent(w[0], w[1], data))
}
