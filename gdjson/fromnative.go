package gdjson

import (
	"errors"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// native converts the next value. A lenient reader writes null in place of an
// invalid value.
func (r *reader) native() error {
	if !r.o.Lenient {
		return r.nativeValue()
	}
	before, offset := r.at, r.e.OutputOffset()
	err := r.nativeValue()
	if err == nil || r.e.Err() != nil || r.e.OutputOffset() != offset {
		return err
	}
	if _, ok := err.(*Error); !ok { // an error of the Writer
		return err
	}
	r.at = before
	r.skip()
	return r.wrote(before.pos, r.e.WriteNil())
}

// nativeValue converts the next value and does not replace an invalid value by null.
func (r *reader) nativeValue() error {
	switch r.peek() {
	case 'n', 't', 'f':
		return r.scalar()
	case '"':
		return r.nativeString()
	case '[':
		return r.nativeArray()
	case '{':
		return r.nativeObject()
	}
	at := r.at.pos
	return r.failf(at, gdwire.ErrType, "number %s without \"i:\" or \"f:\" in native JSON", cut(r.literal(), 40))
}

// nativeString converts a string with a prefix.
func (r *reader) nativeString() error {
	at := r.at.pos
	s := r.string()
	var prefix, content []byte
	switch {
	case len(s) > 1 && s[1] == ':':
		prefix, content = s[:1], s[2:]
	case len(s) > 2 && s[2] == ':':
		prefix, content = s[:2], s[3:]
	}
	var err error
	switch string(prefix) {
	case "s":
		return r.wrote(at, r.e.WriteString(wire.String(content)))
	case "sn":
		return r.wrote(at, r.e.WriteStringName(wire.String(content)))
	case "np":
		err := r.e.WriteNodePath(wire.String(content))
		if r.o.Lenient && errors.Is(err, gdwire.ErrRange) { // two colons in a row
			_ = r.e.ClearError() // err
			err = r.e.WriteNodePath("")
		}
		return r.wrote(at, err)
	case "i":
		var x int64
		if x, err = r.intText(content); err == nil {
			return r.wrote(at, r.e.WriteInt(x))
		}
	case "f":
		var x float64
		if x, err = r.floatText(content); err == nil {
			return r.wrote(at, r.e.WriteFloat(x))
		}
	default:
		err = export.Wrapf(gdwire.ErrType, "string %s without a prefix in native JSON", quoted(s))
	}
	return r.errorAt(at, err)
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

// nativeArray converts an untyped Array.
func (r *reader) nativeArray() error {
	at := r.at.pos
	n := r.enter()
	if err := r.wrote(at, r.e.BeginArray(int(n.count))); err != nil {
		return err
	}
	if err := r.values(at, int(n.count)); err != nil {
		return err
	}
	r.leave(n)
	return nil
}

// values converts the next n elements and writes the End of their container. The container begins
// at offset.
func (r *reader) values(offset, n int) error {
	for range n {
		if err := r.native(); err != nil {
			return err
		}
		r.separate()
	}
	return r.wrote(offset, r.e.End())
}

// nativeObject converts an object. Its members can have any order.
func (r *reader) nativeObject() error {
	o := object{offset: r.at.pos}
	n := r.text.nodes[r.at.node]
	if err := r.readMembers(&o.members); err != nil {
		return err
	}
	if err := r.readForm(&o); err != nil {
		return err
	}
	var err error
	switch o.kind {
	case formSerialized:
		err = r.serialized(&o)
	case formMath:
		err = r.math(&o)
	case formPacked:
		err = r.packed(&o)
	case formArray:
		err = r.array(&o)
	case formDict:
		err = r.dictionary(&o)
	case formID:
		err = r.id(&o)
	case formCallable:
		err = r.wrote(o.offset, r.e.WriteCallable())
	case formSignal:
		err = r.signal(&o)
	case formImage:
		err = r.image(&o)
	case formInputEvent:
		err = r.inputEvent(&o)
	}
	if err != nil {
		return err
	}
	r.leave(n)
	return nil
}

// readForm finds the form of an object by the member "type" and checks that the object contains the
// right members.
func (r *reader) readForm(o *object) error {
	if !o.has(memberType) {
		return r.failf(o.offset, gdwire.ErrType, "object without \"type\" in native JSON")
	}
	name, err := r.stringMember(o, memberType)
	if err != nil {
		return err
	}
	switch {
	case o.has(memberProps):
		o.form = form{kind: formSerialized, required: setOf(memberProps)}
	case string(name) == r.latest.name: // saves most map lookups
		o.form = r.latest
	default:
		o.form = forms[string(name)]
		r.latest = o.form
	}
	switch missing, extra := o.required&^o.set, o.set&^(o.required|o.optional|setOf(memberType)); {
	case o.kind == formNone:
		return r.failf(o.offset, gdwire.ErrType, "unknown type %s", quoted(name))
	case missing != 0:
		return r.failf(o.offset, gdwire.ErrMisplacedKey, "%s without member %q", quoted(name), missing.first())
	case extra != 0 && !r.o.Lenient:
		return r.failf(o.offset, gdwire.ErrMisplacedKey, "%s with member %q", quoted(name), extra.first())
	}
	return nil
}

// readMembers finds the members of the next value, an object.
func (r *reader) readMembers(m *members) error {
	n := r.enter()
	for range n.count {
		at := r.at.pos
		name := r.name()
		i, ok := memberOf(name)
		switch {
		case !ok && !r.o.Lenient:
			return r.failf(at, gdwire.ErrMisplacedKey, "unknown member %s in native JSON", quoted(name))
		case ok && m.has(i) && !r.o.Lenient:
			return r.failf(at, gdwire.ErrMisplacedKey, "duplicate member %s", quoted(name))
		case ok:
			m.set |= 1 << i
			m.at[i] = r.at
		}
		r.skip()
		r.separate()
	}
	return nil
}

// stringMember reads a member that must be a string.
func (r *reader) stringMember(o *object, m member) ([]byte, error) {
	r.at = o.at[m]
	if r.peek() != '"' {
		return nil, r.failf(r.at.pos, gdwire.ErrType, "%q is not a string", memberNames[m])
	}
	return r.string(), nil
}

// enterPairs moves to the first element of a member that must be an array of keys and values, in
// turn, and returns the number of pairs.
func (r *reader) enterPairs(o *object, m member) (int, error) {
	n, err := r.enterArray(o, m)
	if err == nil && n%2 != 0 {
		err = r.failf(o.at[m].pos, gdwire.ErrCount, "odd number of values, %d, in %q", n, memberNames[m])
	}
	return n / 2, err
}

// array converts an Array.
func (r *reader) array(o *object) error {
	elem, err := r.elem(o, memberElemType)
	if err != nil {
		return err
	}
	n, err := r.enterArray(o, memberArgs)
	if err != nil {
		return err
	}
	if err := r.wrote(o.offset, r.e.BeginTypedArray(n, elem)); err != nil {
		return err
	}
	return r.values(o.offset, n)
}

// dictionary converts a Dictionary.
func (r *reader) dictionary(o *object) error {
	key, err := r.elem(o, memberKeyType)
	if err != nil {
		return err
	}
	value, err := r.elem(o, memberValueType)
	if err != nil {
		return err
	}
	n, err := r.enterPairs(o, memberArgs)
	if err != nil {
		return err
	}
	if key == (gdwire.Elem{}) && value == key { // fast path: nearly all dictionaries are untyped
		err = r.e.BeginDict(n)
	} else {
		err = r.e.BeginTypedDict(n, key, value)
	}
	if err != nil {
		return r.wrote(o.offset, err)
	}
	return r.values(o.offset, 2*n)
}

// elem reads a member with a declared type. The value is a string as from declaredText, or an
// object with the only member "builtin", "class" or "script".
func (r *reader) elem(o *object, m member) (e gdwire.Elem, err error) {
	if !o.has(m) {
		return e, nil
	}
	r.at = o.at[m]
	at := r.at.pos
	kind := ""
	if r.peek() == '{' && r.text.nodes[r.at.node].count == 1 {
		r.enter()
		kind = string(r.name())
		at = r.at.pos
	}
	if r.peek() != '"' {
		return e, r.failf(at, gdwire.ErrType, "%q is not a string", memberNames[m])
	}
	text := string(r.string())
	switch {
	case kind == "builtin" && types[text] != 0, kind == "" && isBuiltin(text):
		return gdwire.Elem{Type: types[text]}, nil
	case kind == "script", kind == "" && isScript(text):
		return gdwire.Elem{Type: gdwire.TypeObject, Script: text}, nil
	case kind == "class", kind == "" && text != "":
		return gdwire.Elem{Type: gdwire.TypeObject, Class: text}, nil
	}
	return e, r.failf(at, gdwire.ErrType, "%q has unknown type %s", memberNames[m], quoted([]byte(text)))
}

// serialized writes a serialized object.
func (r *reader) serialized(o *object) error {
	class, err := r.stringMember(o, memberType)
	if err == nil && !r.o.AllowObjects {
		err = r.failf(o.offset, gdwire.ErrObject, "serialized object of class %s, which is not allowed", quoted(class))
	}
	if err != nil {
		return err
	}
	name := string(class)
	count, err := r.enterPairs(o, memberProps)
	if err != nil {
		return err
	}
	if err := r.wrote(o.offset, r.e.BeginObject(name, count)); err != nil {
		return err
	}
	for range count {
		at := r.at.pos
		if r.peek() != '"' {
			return r.failf(at, gdwire.ErrType, "property name is not a string")
		}
		if err := r.wrote(at, r.e.WriteProperty(wire.String(r.string()))); err != nil {
			return err
		}
		r.separate()
		if err := r.native(); err != nil {
			return err
		}
		r.separate()
	}
	return r.wrote(o.offset, r.e.End())
}

// idMember reads a member with an id, or returns 0 if the member is missing.
func (r *reader) idMember(o *object, m member) (uint64, error) {
	if !o.has(m) {
		return 0, nil
	}
	r.at = o.at[m]
	x, err := r.longArg()
	return uint64(x), err
}

func (r *reader) id(o *object) error {
	id, err := r.idMember(o, memberID)
	if err != nil {
		return err
	}
	if o.typ == gdwire.TypeRID {
		return r.wrote(o.offset, r.e.WriteRID(id))
	}
	return r.wrote(o.offset, r.e.WriteObjectID(id))
}

func (r *reader) signal(o *object) error {
	object, err := r.idMember(o, memberObject)
	if err != nil {
		return err
	}
	var name []byte
	if o.has(memberName) {
		if name, err = r.stringMember(o, memberName); err != nil && !r.o.Lenient {
			return err
		}
	}
	return r.wrote(o.offset, r.e.WriteSignal(string(name), object))
}

// words reads members with unsigned numbers of 32 bits.
func (r *reader) words(o *object, all ...member) (words [4]uint32, err error) {
	for i, m := range all {
		r.at = o.at[m]
		at := r.at.pos
		x, err := r.longArg()
		if err != nil {
			return words, err
		}
		if words[i] = uint32(x); int64(words[i]) != x && !r.o.Lenient {
			return words, r.failf(at, gdwire.ErrRange, "%d does not fit unsigned 32 bits", x)
		}
	}
	return words, nil
}

func (r *reader) image(o *object) error {
	w, err := r.words(o, memberFormat, memberMipmaps, memberWidth, memberHeight)
	if err != nil {
		return err
	}
	n, err := r.enterArray(o, memberData)
	if err != nil {
		return err
	}
	if err := r.wrote(o.offset, r.e.BeginImage(w[0], w[1], w[2], w[3], int64(n))); err != nil {
		return err
	}
	for n > 0 {
		b := r.batch.bytes[:min(n, len(r.batch.bytes))]
		if err := fill(r, b, (*reader).byteArg); err != nil {
			return err
		}
		if _, err := r.e.Write(b); err != nil {
			return r.wrote(o.offset, err)
		}
		n -= len(b)
	}
	return r.wrote(o.offset, r.e.End())
}

func (r *reader) inputEvent(o *object) error {
	w, err := r.words(o, memberEvent, memberDevice)
	if err != nil {
		return err
	}
	n, err := r.enterArray(o, memberData)
	if err != nil {
		return err
	}
	data := make([]byte, n) // n elements are in the text already, so this is less than the text
	if err := fill(r, data, (*reader).byteArg); err != nil {
		return err
	}
	return r.wrote(o.offset, r.e.WriteInputEvent(w[0], w[1], data))
}
