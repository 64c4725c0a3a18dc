package gdwire

import "math"

// sharedBit is bit 31 of an array's or dictionary's count.
const sharedBit = 1 << 31

// container reads the start of an Array or Dictionary: the declared types, if the flags
// have any, and the count.
func (d *Decoder) container(form *form, flags uint32) (Token, error) {
	if flags == 0 {
		return d.counted(form, 4)
	}
	declared, err := d.declarations(flags)
	if err != nil {
		return Token{}, err
	}
	t, err := d.counted(form, declared.end)
	if err != nil {
		return Token{}, err
	}
	t.head |= uint64(declared.flags) << 16
	if size := declared.to - declared.from; size > 0 {
		t = t.at(&d.tokenSource, declared.from, size)
	}
	d.top().elem = declared.elem
	return t, nil
}

// counted reads the count of an Array or Dictionary, at offset at.
func (d *Decoder) counted(form *form, at int) (Token, error) {
	b, err := d.peek(at + 4)
	if err != nil {
		return Token{}, err
	}
	n, shared := le.Uint32(b[at:]), uint64(0)
	if n&sharedBit != 0 {
		if d.options.Format.shared {
			shared = uint64(flagShared) << 16
		} else if d.options.Strict {
			return Token{}, d.strict(at, "shared bit of a count")
		}
		n &^= sharedBit
	}
	values := uint64(1)
	if form.shape == shapeDict {
		values = 2
	}
	if err := d.checkCount(at, uint64(n), values, 4*values); err != nil {
		return Token{}, err
	}
	d.open(at+4, form.kind, form.typ, n)
	return Token{head: form.head | shared, bits: uint64(n)}, nil
}

// declarations has the declared types of an Array or Dictionary.
type declarations struct {
	flags    tokenFlags
	elem     Type // the type of elements or keys, or 0
	from, to int  // the offsets of their encoding, from the start of the header
	end      int  // the offset of the count
}

// declarations reads the declared types that the flags require.
func (d *Decoder) declarations(flags uint32) (declarations, error) {
	p := declarations{from: 4, to: 4, end: 4}
	for i, shift := range [...]int{elemShift, valueShift} {
		k := containerKind(flags >> (2 * i) & 3)
		end, t, err := d.declaration(p.end, k)
		if err != nil {
			return p, err
		}
		p.end = end
		switch {
		case t != 0:
			p.flags |= tokenFlags(k) << shift
			p.to = end
			if i == 0 {
				p.elem = t
			}
		case i == 0: // type id 0 declares nothing, so the payload begins after it
			p.from, p.to = end, end
		}
	}
	return p, nil
}

// declaration reads a declared type at offset at. It returns the offset of its end and the
// type that elements must have, or 0 for any.
func (d *Decoder) declaration(at int, k containerKind) (int, Type, error) {
	switch k {
	case containerUntyped:
		return at, 0, nil
	case containerBuiltin:
		b, err := d.peek(at + 4)
		if err != nil {
			return 0, 0, err
		}
		id := le.Uint32(b[at:])
		t := d.options.Format.typeOf(id)
		if t == 0 {
			return 0, 0, d.fail(at, wrapf(ErrType, "elements of unknown %v type id %d", d.options.Format, id))
		}
		if t == TypeNil {
			if d.options.Strict {
				return 0, 0, d.strict(at, "elements of type id 0")
			}
			t = 0
		}
		return at + 4, t, nil
	default:
		n, end, err := d.name(at)
		if err == nil && n == 0 && d.options.Strict {
			err = d.strict(at, "elements of a class without a name")
		}
		return end, TypeObject, err
	}
}

// object reads the start of a serialized object.
func (d *Decoder) object() (Token, error) {
	f := d.options.Format
	if !d.options.AllowObjects && !f.nullObject {
		return Token{}, d.fail(0, ErrObject)
	}
	n, end, err := d.name(4)
	if err != nil {
		return Token{}, err
	}
	if n > 0 && !d.options.AllowObjects {
		return Token{}, d.fail(0, ErrObject)
	}
	if n == 0 && d.options.Strict && !f.nullObject {
		return Token{}, d.strict(0, "object without a class")
	}
	count := uint32(0)
	if n > 0 { // an object with an empty class name is null and has no count
		b, err := d.peek(end + 4)
		if err != nil {
			return Token{}, err
		}
		if count, err = d.sign(end, le.Uint32(b[end:])); err != nil {
			return Token{}, err
		}
		if err := d.checkCount(end, uint64(count), 2, 8); err != nil {
			return Token{}, err
		}
		end += 4
	}
	d.open(end, KindObjectStart, TypeObject, count)
	return newToken(KindObjectStart, TypeObject, 0, uint64(count)).at(&d.tokenSource, 8, n), nil
}

// sign returns the count n, or 0 if n is negative and engines read that as 0.
func (d *Decoder) sign(at int, n uint32) (uint32, error) {
	if n <= math.MaxInt32 || !d.options.Format.engine {
		return n, nil
	}
	if d.options.Strict {
		return 0, d.strict(at, "negative count")
	}
	return 0, nil
}

// property reads a property's name.
func (d *Decoder) property() (Token, error) {
	n, end, err := d.name(0)
	if err != nil {
		return Token{}, err
	}
	d.advance(end)
	return newToken(KindProperty, TypeObject, 0, 0).at(&d.tokenSource, 4, n), nil
}
