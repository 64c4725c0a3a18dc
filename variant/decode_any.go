package variant

import (
	"bytes"
	"reflect"

	"github.com/gdwire/gdwire"
)

// Decoders of any, and of types with methods of their own.

// any returns the next value in the Go type for an any, by the table in doc.go. For single
// numbers, memoryLeft decreases without a check: the next charge finds the limit exceeded.
func (s *decoder) any() (any, error) {
	t, err := s.token()
	if err != nil {
		return nil, err
	}
	return s.anyFrom(t)
}

// anyFrom reads the value starting with t. With an error, a container contains the parts decoded
// before the error; any other value is of no use.
func (s *decoder) anyFrom(t gdwire.Token) (any, error) {
	switch t.Kind() {
	case gdwire.KindNil:
		return nil, nil
	case gdwire.KindBool:
		return t.Bool(), nil
	case gdwire.KindInt32, gdwire.KindInt64:
		s.memoryLeft -= boxSize
		return s.boxes.int(t.Int()), nil
	case gdwire.KindFloat32, gdwire.KindFloat64:
		s.memoryLeft -= boxSize
		return s.boxes.float(t.Float()), nil
	case gdwire.KindStringChunk:
		s.memoryLeft -= boxSize
		text, err := s.text(t, anyType)
		if t.Type() == gdwire.TypeStringName {
			return StringName(text), err
		}
		return s.boxes.text(text), err
	case gdwire.KindArrayStart:
		return s.anyArray(t)
	case gdwire.KindDictStart:
		return s.anyDictionary(t)
	case gdwire.KindVector2:
		v := t.AppendComponents(s.reals[:0])
		return Vector2{v[0], v[1]}, s.charge(anyType, 16)
	case gdwire.KindVector3:
		v := t.AppendComponents(s.reals[:0])
		return Vector3{v[0], v[1], v[2]}, s.charge(anyType, 24)
	case gdwire.KindColor:
		v := t.AppendComponents(s.reals[:0])
		return Color{float32(v[0]), float32(v[1]), float32(v[2]), float32(v[3])}, s.charge(anyType, 16)
	case gdwire.KindPackedStart:
		return s.anyPacked(t)
	}
	if err := s.charge(anyType, 64); err != nil {
		return nil, err
	}
	switch t.Kind() {
	case gdwire.KindNodePathStart:
		text, err := s.nodePathText(t, anyType)
		return NodePath(text), err
	case gdwire.KindRID:
		return RID(t.ID()), nil
	case gdwire.KindObjectID:
		return ObjectID(t.ID()), nil
	case gdwire.KindSignal:
		return Signal{t.Text(), ObjectID(t.ID())}, s.charge(anyType, int64(len(t.Bytes())))
	case gdwire.KindCallable:
		return Callable{}, nil
	case gdwire.KindObjectStart:
		return s.anyObject(t)
	case gdwire.KindImageStart:
		return s.readImage(t)
	case gdwire.KindInputEvent:
		return s.readInputEvent(t)
	}
	return s.anyMath(t)
}

// anyMath returns t as the math type of this package.
func (s *decoder) anyMath(t gdwire.Token) (any, error) {
	m := ownTypes().math[t.Type()]
	if err := s.charge(m.typ, int64(m.typ.Size())); err != nil {
		return nil, err
	}
	v := reflect.New(m.typ).Elem()
	m.store(variableOf(v), t.AppendComponents(s.reals[:0]))
	return v.Interface(), nil
}

// anyArray reads the Array starting with t.
func (s *decoder) anyArray(t gdwire.Token) (any, error) {
	a := &Array{}
	return a, s.fillArray(a, t)
}

// fillArray reads the elements of the Array starting with t.
func (s *decoder) fillArray(a *Array, t gdwire.Token) error {
	if err := s.charge(anyType, 64); err != nil {
		return err
	}
	if err := s.enter(anyType); err != nil {
		return err
	}
	if *a = (Array{}); len(t.Bytes()) > 0 {
		a.Elem = t.Elem()
	}
	n := countOf(t)
	for i := range n {
		if i == cap(a.Values) {
			grown := s.grow(i, n, boxSize)
			if err := s.charge(anyType, int64(grown-i)*boxSize); err != nil {
				return err
			}
			a.Values = append(make([]any, 0, grown), a.Values...)
		}
		t, err := s.d.ReadToken()
		if err != nil {
			return err
		}
		x, err := s.anyFrom(t)
		if err == nil || isContainer(x) {
			a.Values = append(a.Values, x)
		}
		if err != nil {
			return err
		}
	}
	return s.leave()
}

// anyDictionary reads the Dictionary starting with t.
func (s *decoder) anyDictionary(t gdwire.Token) (any, error) {
	d := &Dictionary{}
	return d, s.fillDictionary(d, t)
}

// fillDictionary reads the pairs of the Dictionary starting with t.
func (s *decoder) fillDictionary(d *Dictionary, t gdwire.Token) error {
	if err := s.charge(anyType, dictionarySize); err != nil {
		return err
	}
	if err := s.enter(anyType); err != nil {
		return err
	}
	if *d = (Dictionary{}); len(t.Bytes()) > 0 {
		d.Key, d.Value = t.KeyElem(), t.Elem()
	}
	n := countOf(t)
	known := s.knownAt(s.depth)
	for i := range n {
		if i == cap(d.entries) {
			grown := s.grow(i, n, entrySize)
			size := int64(entrySize)
			if grown > fewEntries {
				size += indexSize
			}
			if err := s.charge(anyType, int64(grown-i)*size); err != nil {
				return err
			}
			d.entries = append(make([]Entry[any, any], 0, grown), d.entries...)
		}
		at := len(d.entries)
		key, isKnown, err := s.nextKey(known, at)
		if err != nil {
			return err
		}
		t, err := s.d.ReadToken()
		if err != nil {
			return err
		}
		value, err := s.anyFrom(t)
		if err != nil {
			if isContainer(value) {
				d.setDecoded(key, value)
			}
			return err
		}
		if isKnown {
			d.entries = append(d.entries, Entry[any, any]{key, value})
		} else if d.setDecoded(key, value); len(d.entries) > at {
			known = known.learn(at, key)
		}
	}
	if known != nil {
		known.misses = 0
	}
	return s.leave()
}

// knownAt returns the knownKeys at a depth, or nil if there are none.
func (s *decoder) knownAt(depth int) *knownKeys {
	if depth >= maxKnownDepth {
		return nil
	}
	return &s.known[depth]
}

// nextKey reads key i of a Dictionary and reports whether known contains the key, as all keys before.
func (s *decoder) nextKey(known *knownKeys, i int) (key any, isKnown bool, err error) {
	if known == nil || i >= len(known.keys) {
		key, err = s.anyKey()
		return key, false, err
	}
	next := &known.keys[i]
	if export.ReadKey(s.d, &next.encoded) {
		return next.key, true, s.charge(anyType, boxSize+int64(next.encoded.Len))
	}
	key, err = s.anyKey()
	return key, next.key != nil && next.key == key, err
}

// anyKey returns the next key in the Go type for an any.
func (s *decoder) anyKey() (any, error) {
	t, err := s.token()
	if err != nil {
		return nil, err
	}
	if t.Last() && t.Type() == gdwire.TypeString {
		if b := t.Bytes(); len(b) > 0 {
			return s.keys.intern(b), s.charge(anyType, boxSize+int64(len(b)))
		}
	}
	return s.anyFrom(t)
}

// anyPacked returns a packed array as a slice.
func (s *decoder) anyPacked(t gdwire.Token) (any, error) {
	switch t.Type() {
	case gdwire.TypePackedByteArray:
		return packedSlice[byte](s, t, readBulk[byte])
	case gdwire.TypePackedInt32Array:
		return packedSlice[int32](s, t, readBulk[int32])
	case gdwire.TypePackedInt64Array:
		return packedSlice[int64](s, t, readBulk[int64])
	case gdwire.TypePackedFloat32Array:
		return packedSlice[float32](s, t, readBulk[float32])
	case gdwire.TypePackedFloat64Array:
		return packedSlice[float64](s, t, readBulk[float64])
	case gdwire.TypePackedStringArray:
		var all []string
		if err := s.charge(stringType, 2*boxSize); err != nil {
			return nil, err
		}
		err := s.strings(&all, countOf(t))
		return all, err
	}
	switch t.Type() {
	case gdwire.TypePackedVector2Array:
		return packedSlice[Vector2](s, t, readBulk[[2]float64])
	case gdwire.TypePackedVector3Array:
		return packedSlice[Vector3](s, t, readBulk[[3]float64])
	case gdwire.TypePackedVector4Array:
		return packedSlice[Vector4](s, t, readBulk[[4]float64])
	}
	return packedSlice[Color](s, t, readBulk[[4]float32])
}

// packedSlice returns a packed array as a []T.
func packedSlice[T any](s *decoder, t gdwire.Token, read bulkFunc) (any, error) {
	var all []T
	v := reflect.ValueOf(&all).Elem()
	if err := s.charge(v.Type(), 2*boxSize); err != nil {
		return nil, err
	}
	err := read(s, v, packedStartOf(t))
	return all, err
}

// anyObject reads the object starting with t. A null object is nil.
func (s *decoder) anyObject(t gdwire.Token) (any, error) {
	if len(t.Bytes()) == 0 { // null
		return nil, s.d.ReadEnd()
	}
	o := &Object{}
	return o, s.fillObject(o, t)
}

// fillObject reads the properties of the object starting with t.
func (s *decoder) fillObject(o *Object, t gdwire.Token) error {
	if err := s.enter(anyType); err != nil {
		return err
	}
	*o = Object{Class: t.Text()}
	n := countOf(t)
	for i := range n {
		if i == cap(o.Properties) {
			grown := s.grow(i, n, entrySize)
			if err := s.charge(anyType, int64(grown-i)*entrySize); err != nil {
				return err
			}
			o.Properties = append(make([]Property, 0, grown), o.Properties...)
		}
		name, err := s.d.ReadToken()
		if err != nil {
			return err
		}
		if err := s.charge(anyType, int64(len(name.Bytes()))); err != nil {
			return err
		}
		p := Property{Name: name.Text()}
		p.Value, err = s.any()
		if err == nil || isContainer(p.Value) {
			o.Properties = append(o.Properties, p)
		}
		if err != nil {
			return err
		}
	}
	return s.leave()
}

// readImage reads the Image starting with t.
func (s *decoder) readImage(t gdwire.Token) (v Image, err error) {
	v.Format, v.Mipmaps, v.Width, v.Height = t.Image()
	if err := s.charge(anyType, t.Len()); err != nil {
		return v, err
	}
	v.Data, err = s.payload(countOf(t))
	return v, err
}

// readInputEvent returns the InputEvent t.
func (s *decoder) readInputEvent(t gdwire.Token) (v InputEvent, err error) {
	v.Type, v.Device = t.Event()
	v.Data = bytes.Clone(t.Bytes())
	return v, s.charge(anyType, int64(len(v.Data)))
}

// The methods below decode the types of this package. A nil makes the variable zero, and a value
// of another type is an error, with two exceptions: a StringName or NodePath takes text of any
// type, and a Raw takes any value.

func (s *decoder) stringName(v *StringName) error {
	text, err := s.readText(variableOf(reflect.ValueOf(v).Elem()), reflect.TypeFor[StringName]())
	if err == nil {
		*v = StringName(text)
	}
	return err
}

func (s *decoder) nodePath(v *NodePath) error {
	text, err := s.readNodePath(variableOf(reflect.ValueOf(v).Elem()), reflect.TypeFor[NodePath]())
	if err == nil {
		*v = NodePath(text)
	}
	return err
}

func (s *decoder) rid(v *RID) error {
	id, err := s.d.ReadRID()
	if err != nil {
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), err)
	}
	*v = RID(id)
	return nil
}

func (s *decoder) objectID(v *ObjectID) error {
	id, err := s.d.ReadObjectID()
	if err != nil {
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), err)
	}
	*v = ObjectID(id)
	return nil
}

func (s *decoder) callable(v *Callable) error {
	if err := s.d.ReadCallable(); err != nil {
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), err)
	}
	return nil
}

func (s *decoder) signal(v *Signal) error {
	name, id, err := s.d.ReadSignal()
	if err != nil {
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), err)
	}
	*v = Signal{name, ObjectID(id)}
	return s.charge(reflect.TypeFor[Signal](), int64(len(name)))
}

// readStart reads the first token of a value of type t, for v. It returns false after an error,
// and after making v zero for a nil.
func (s *decoder) readStart(v reflect.Value, t gdwire.Type) (tok gdwire.Token, ok bool, err error) {
	switch next, err := s.d.PeekType(); {
	case err != nil:
		return tok, false, err
	case next != t:
		return tok, false, s.nilOrTypeError(v, nil)
	}
	tok, err = s.token()
	return tok, err == nil, err
}

func (s *decoder) array(v *Array) error {
	t, ok, err := s.readStart(reflect.ValueOf(v).Elem(), gdwire.TypeArray)
	if !ok {
		return err
	}
	return s.fillArray(v, t)
}

func (s *decoder) dictionary(v *Dictionary) error {
	t, ok, err := s.readStart(reflect.ValueOf(v).Elem(), gdwire.TypeDictionary)
	if !ok {
		return err
	}
	return s.fillDictionary(v, t)
}

func (s *decoder) object(v *Object) error {
	if s.d.PeekKind() == gdwire.KindObjectID {
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), nil)
	}
	t, ok, err := s.readStart(reflect.ValueOf(v).Elem(), gdwire.TypeObject)
	switch {
	case !ok:
		return err
	case t.Kind() != gdwire.KindObjectStart: // a key
		return s.fail(gdwire.TypeObject, reflect.TypeFor[Object](), gdwire.ErrType)
	}
	return s.fillObject(v, t)
}

func (s *decoder) image(v *Image) error {
	t, ok, err := s.readStart(reflect.ValueOf(v).Elem(), gdwire.TypeImage)
	if !ok {
		return err
	}
	*v, err = s.readImage(t)
	return err
}

func (s *decoder) inputEvent(v *InputEvent) error {
	t, ok, err := s.readStart(reflect.ValueOf(v).Elem(), gdwire.TypeInputEvent)
	if !ok {
		return err
	}
	*v, err = s.readInputEvent(t)
	return err
}

// raw copies the next value into v, in the format of the Decoder. MaxMemory limits the copy; the
// Decoder checks all other limits.
func (s *decoder) raw(v *Raw) error {
	if kind, _, _ := s.d.StackIndex(s.d.Depth()); kind == gdwire.KindPackedStart { // no value, but a string without a header is next
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), nil)
	}
	if s.rawCopier == nil {
		c, o := &rawCopier{s: s}, s.d.Options()
		c.e = gdwire.NewEncoder(c, &gdwire.EncoderOptions{
			Format: o.Format, Depth: -1, AllowInvalidUTF8: true, DoubleReals: o.DoubleReals,
		})
		s.rawCopier = c
	}
	c := s.rawCopier
	c.e.Reset(c)
	c.b = nil                                 // the previous Raw keeps its bytes
	if s.d.PeekKind() == gdwire.KindDictKey { // CopyValue would copy the token, too
		if _, err := s.d.ReadToken(); err != nil {
			return err
		}
	}
	if err := gdwire.CopyValue(c.e, s.d); err != nil {
		return err
	}
	if err := c.e.Flush(); err != nil {
		return err
	}
	*v = Raw{Format: c.e.Options().Format, Data: c.b}
	return nil
}
