package gdwire

import "math"

// WriteNil writes nil.
func (e *Encoder) WriteNil() error { return e.writeWord(TypeNil, 0, 0) }

// WriteBool writes a bool.
func (e *Encoder) WriteBool(v bool) error {
	if v {
		return e.writeWord(TypeBool, 0, 1)
	}
	return e.writeWord(TypeBool, 0, 0)
}

// WriteInt writes an int in the fewest bits, as engines do. If the format has only ints of
// 32 bits, a larger int is [ErrRange]. To write a small int in 64 bits, pass [Int64] to
// WriteToken.
func (e *Encoder) WriteInt(v int64) error {
	wide := 0
	if v != int64(int32(v)) {
		wide = 1
	}
	if b := e.fast(); b != nil {
		if form := &e.forms[TypeInt][wide]; int(form.size) >= 4+4*wide {
			form.put(b, uint64(v))
			e.take(4 + int(form.size))
			return nil
		}
	}
	return e.writeWord(TypeInt, wide, uint64(v))
}

// WriteFloat writes a float in the fewest bits, as engines do: in 32 bits if v is a float32,
// and in 64 bits if it is another number or a NaN. If the format has only floats of 32 bits,
// a number that is not a float32 is [ErrRange]. To write any float in 64 bits, pass
// [Float64] to WriteToken.
func (e *Encoder) WriteFloat(v float64) error {
	if f := float32(v); float64(f) == v {
		return e.writeFloat(0, uint64(math.Float32bits(f)), unitFloat32)
	}
	return e.writeFloat(1, math.Float64bits(v), unitFloat64)
}

// WriteRID writes an RID. Formats before Godot 4 do not encode its id.
func (e *Encoder) WriteRID(id uint64) error { return e.writeWord(TypeRID, 0, id) }

// WriteObjectID writes an object as its instance id; 0 is null. In formats without ids,
// other ids are [ErrRange].
func (e *Encoder) WriteObjectID(id uint64) error { return e.writeWord(TypeObject, 1, id) }

// WriteCallable writes a Callable, which is encoded without content.
func (e *Encoder) WriteCallable() error { return e.writeWord(TypeCallable, 0, 0) }

// writeFloat writes a float from its bits in unit u.
func (e *Encoder) writeFloat(wide int, bits uint64, u unit) error {
	if b := e.fast(); b != nil {
		if form := &e.forms[TypeFloat][wide&1]; form.unit == u {
			form.put(b, bits)
			e.take(4 + int(form.size))
			return nil
		}
	}
	forms, err := e.begin(TypeFloat)
	if err != nil {
		return err
	}
	form := &forms[wide]
	if form.unit != u { // No format has floats of 64 bits only.
		narrow, ok := narrowFloat(bits)
		if !ok {
			return e.fail(wrapf(ErrRange, "float %v does not fit 32 bits", math.Float64frombits(bits)))
		}
		bits = uint64(narrow)
	}
	return e.writeForm(form, bits)
}

// writeWord writes a value of at most 64 bits.
func (e *Encoder) writeWord(t Type, wide int, bits uint64) error {
	if b := e.fast(); b != nil {
		form := &e.forms[t&63][wide&1]
		fits := form.size == 8 || form.size == 4 && int64(bits) == int64(int32(bits)) || bits == 0
		if fits && form.shape == shapeWord {
			form.put(b, bits)
			e.take(4 + int(form.size))
			return nil
		}
	}
	forms, err := e.begin(t)
	if err != nil {
		return err
	}
	form := &forms[wide]
	switch {
	case form.size == 4 && int64(bits) != int64(int32(bits)):
		return e.fail(wrapf(ErrRange, "int %d does not fit 32 bits", int64(bits)))
	case form.size == 0 && t == TypeObject && bits != 0:
		return e.fail(wrapf(ErrRange, "%v has no object ids", e.options.Format))
	}
	return e.writeForm(form, bits)
}

// put puts a header and a word into b; the size of the word is f.size.
func (f *form) put(b *[fastSize]byte, word uint64) {
	le.PutUint32(b[:], f.header)
	le.PutUint64(b[4:], word)
}

// writeForm writes a header and a word on the slow path.
func (e *Encoder) writeForm(form *form, word uint64) error {
	b, err := e.room(4 + int(form.size))
	if err != nil {
		return err
	}
	var all [fastSize]byte
	form.put(&all, word)
	copy(b, all[:])
	return e.value(b)
}

// value writes a whole value or name encoded into b, which room returned.
func (e *Encoder) value(b []byte) error {
	if err := e.commit(b); err != nil {
		return err
	}
	return e.completed()
}

// realWidth returns the width that WriteReals and BeginPacked choose.
func (e *Encoder) realWidth(forms *[2]form) int {
	if e.options.DoubleReals && forms[0].flags&wideFlag != 0 {
		return 1
	}
	return 0
}

// WriteReals writes a value of math type t from its components in encoded order: a Basis is
// encoded by rows. It rounds them to 32 bits, as engines do, or writes 64 bits if
// [EncoderOptions].DoubleReals is set and the type has these. A finite component that becomes
// infinite is [ErrRange].
func (e *Encoder) WriteReals(t Type, c ...float64) error {
	if n, size := e.n, 4*len(c); n <= e.valueLim-size && e.left > 0 && !e.options.DoubleReals {
		form := &e.forms[t&63][0]
		if form.typ == t && form.shape == shapeMath && form.unit == unitFloat32 && int(form.size) == size {
			b := e.buf[n : n+4+size : n+4+size]
			if putReals(b, c) {
				le.PutUint32(b, form.header)
				e.take(4 + size)
				return nil
			}
		}
	}
	form, b, err := e.beginMath(t, len(c), unitFloat32)
	if err != nil {
		return err
	}
	for i, x := range c {
		switch {
		case form.unit == unitFloat64:
			le.PutUint64(b[4+8*i:], math.Float64bits(x))
		case overflows(x):
			return e.fail(wrapf(ErrRange, "%v does not fit 32 bits", x))
		default:
			le.PutUint32(b[4+4*i:], math.Float32bits(float32(x)))
		}
	}
	return e.value(b)
}

// putReals puts c into b after a header, in 32 bits, and reports whether all are finite.
func putReals(b []byte, c []float64) bool {
	const infinite = 0xFF << 23
	for i, x := range c {
		bits := math.Float32bits(float32(x))
		if bits&infinite == infinite {
			return false
		}
		le.PutUint32(nth(b, i+1, 4), bits)
	}
	return true
}

// WriteInts writes a value of type t, an integer vector or Rect2i, from its components.
func (e *Encoder) WriteInts(t Type, c ...int32) error {
	_, b, err := e.beginMath(t, len(c), unitInt32)
	if err != nil {
		return err
	}
	for i, x := range c {
		le.PutUint32(b[4+4*i:], uint32(x))
	}
	return e.value(b)
}

// beginMath is begin for a math type with n components and the narrow unit u. It returns the
// bytes for the value and has put the header there.
func (e *Encoder) beginMath(t Type, n int, u unit) (*form, []byte, error) {
	forms, err := e.begin(t)
	if err != nil {
		return nil, nil, err
	}
	if l := &layouts[t]; !l.isMath() || l.units[0] != u {
		return nil, nil, e.fail(wrapf(ErrType, "%v has no such components", t))
	} else if n != int(l.n) {
		return nil, nil, e.fail(wrapf(ErrCount, "%v has %d components, not %d", t, l.n, n))
	}
	form := &forms[e.realWidth(forms)]
	b, err := e.room(4 + int(form.size))
	if err != nil {
		return nil, nil, err
	}
	le.PutUint32(b, form.header)
	return form, b, nil
}

// WriteInputEvent writes an InputEvent of Godot 2. data has the fields after the device. If
// data is longer than the type requires, the surplus is not written; if it is shorter, the
// error is [ErrRange].
func (e *Encoder) WriteInputEvent(event, device uint32, data []byte) error {
	forms, err := e.begin(TypeInputEvent)
	if err != nil {
		return err
	}
	n := eventSize(event, uint32(min(len(data), math.MaxInt32)))
	if len(data) < n {
		return e.fail(wrapf(ErrRange, "InputEvent of type %d needs more than %d bytes", event, len(data)))
	}
	b, err := e.room(4 + eventHead + n)
	if err != nil {
		return err
	}
	for i, v := range [...]uint32{forms[0].header, event, device, uint32(eventHead + n)} {
		le.PutUint32(b[4*i:], v)
	}
	copy(b[4+eventHead:], data[:n])
	return e.value(b)
}
