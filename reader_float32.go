package gdwire

import "math"

// ReadFloat32 is [Decoder.ReadFloat] for a float32. It rounds floats. It returns [ErrRange]
// for an int that a float32 does not represent exactly, and for a finite float beyond the
// range of float32.
func (d *Decoder) ReadFloat32() (float32, error) {
	if form, b := d.fastForm(); form != nil && form.kind == KindFloat32 {
		d.take(8)
		return math.Float32frombits(le.Uint32(b[4:])), nil
	}
	t, size, err := d.peekNumber(TypeFloat)
	if err != nil {
		return 0, err
	}
	x := float32(t.Float())
	exact := x < 1<<63 && int64(x) == t.Int() // int64(1<<63) depends on the processor
	if t.Type() == TypeInt && !exact || !fitsReal32(t.Float()) {
		return 0, d.errorAt(0, wrapf(ErrRange, "%v %v does not fit float32", t.Type(), t.number()))
	}
	return x, d.readNumber(size)
}

// fitsReal32 reports whether x does not become infinite as a float32, or is infinite.
func fitsReal32(x float64) bool {
	return !math.IsInf(float64(float32(x)), 0) || math.IsInf(x, 0)
}

// ReadReals32 is [Decoder.ReadReals] for float32. It rounds components of 64 bits, and returns
// [ErrRange] for a finite component beyond the range of float32.
func (d *Decoder) ReadReals32(t Type, c []float32) error {
	if form, _ := d.fastForm(); form != nil && form.typ == t && form.unit == unitFloat32 && form.shape == shapeMath {
		from, size := d.r+4, int(form.size)
		if size == 4*len(c) && size <= len(d.fastValues)-from {
			b := d.fastValues[from : from+size : from+size]
			d.take(4 + size)
			for i := range c {
				c[i] = math.Float32frombits(le.Uint32(nth(b, i, 4)))
			}
			return nil
		}
	}
	if err := d.checkMath(t, len(c), unitFloat32); err != nil {
		return err
	}
	form, err := d.peekTyped()
	if err != nil {
		return err
	}
	if form.typ != t {
		return d.mismatch(form, t)
	}
	if err := d.checkHeader(le.Uint32(d.buf[d.r:]), form); err != nil { // as in value, before waiting for more bytes
		return err
	}
	b, err := d.peek(4 + int(form.size))
	if err != nil {
		return err
	}
	for i := range c {
		if x := component(b[4+i*form.unit.size():], form.unit); !fitsReal32(x) {
			return d.errorAt(0, wrapf(ErrRange, "component %v does not fit float32", x))
		}
	}
	tok, err := d.value()
	if err != nil {
		return err
	}
	for i := range c {
		c[i] = float32(tok.Real(i))
	}
	d.drop()
	return nil
}
