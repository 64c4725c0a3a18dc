package gdjson

import (
	"errors"
	"math"
	"strconv"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// math writes a math type.
func (r *reader) math(o *object) error {
	s := &shapes[o.typ]
	n, err := r.enterArray(o, memberArgs)
	if err != nil {
		return err
	}
	if n != s.n {
		return r.failf(o.at[memberArgs].pos, gdwire.ErrCount, "%d args instead of %d in a %v", n, s.n, o.typ)
	}
	if s.unit == unitInt32 {
		c := r.batch.ints[:n]
		if err := fill(r, c, (*reader).intArg); err != nil {
			return err
		}
		return r.wrote(o.offset, gdwire.WriteComponents(r.e, o.typ, c))
	}
	args, c := r.batch.reals[:n], r.batch.reals[n:2*n]
	if err := fill(r, args, (*reader).realArg); err != nil {
		return err
	}
	for i, x := range args {
		if s.wire != nil {
			i = s.wire[i]
		}
		c[i] = x
	}
	err = gdwire.WriteComponents(r.e, o.typ, c)
	if errors.Is(err, gdwire.ErrRange) {
		err = r.tooLarge(o, 0, err, args, func() error {
			overflow(c)
			return gdwire.WriteComponents(r.e, o.typ, c)
		})
	}
	return r.wrote(o.offset, err)
}

// packed writes a packed array.
func (r *reader) packed(o *object) error {
	s := &shapes[o.typ]
	n, err := r.enterArray(o, memberArgs)
	if err != nil {
		return err
	}
	if n%s.n != 0 {
		return r.failf(o.at[memberArgs].pos, gdwire.ErrCount, "%d args, not a multiple of %d, in a %v", n, s.n, o.typ)
	}
	if err := r.wrote(o.offset, r.e.BeginPacked(o.typ, int64(n/s.n))); err != nil {
		return err
	}
	b := &r.batch
	switch {
	case s.unit == unitText:
		err = r.packedStrings(n)
	case s.unit == unitByte:
		err = packedNumbers(r, o, b.bytes[:], n, (*reader).byteArg)
	case s.unit == unitInt32:
		err = packedNumbers(r, o, b.ints[:], n, (*reader).intArg)
	case s.unit == unitInt64:
		err = packedNumbers(r, o, b.longs[:], n, (*reader).longArg)
	case s.n == 1:
		err = packedNumbers(r, o, b.reals[:], n, (*reader).realArg)
	case s.n == 2:
		err = packedVectors(r, o, b.vectors2[:], n/2)
	case s.n == 3:
		err = packedVectors(r, o, b.vectors3[:], n/3)
	default:
		err = packedVectors(r, o, b.vectors4[:], n/4)
	}
	if err != nil {
		return err
	}
	return r.wrote(o.offset, r.e.End())
}

// packedStrings writes n strings. A lenient reader writes the text of other values.
func (r *reader) packedStrings(n int) error {
	for range n {
		at := r.at.pos
		var s []byte
		switch {
		case r.peek() == '"':
			s = r.string()
		case r.o.Lenient:
			s = r.stringOf()
		default:
			return r.failf(at, gdwire.ErrType, "element of a PackedStringArray is not a string")
		}
		if err := r.wrote(at, r.e.WriteString(wire.String(s))); err != nil {
			return err
		}
		r.separate()
	}
	return nil
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
func fill[T any](r *reader, dst []T, read func(*reader) (T, error)) (err error) {
	for i := range dst {
		if dst[i], err = read(r); err != nil {
			return err
		}
		r.separate()
	}
	return nil
}

// packedNumbers writes n elements, up to len(batch) at a time.
func packedNumbers[T byte | int32 | int64 | float64](r *reader, o *object, batch []T, n int, read func(*reader) (T, error)) error {
	for done := 0; done < n; {
		b := batch[:min(n-done, len(batch))]
		if err := fill(r, b, read); err != nil {
			return err
		}
		err := gdwire.WritePacked(r.e, b)
		if reals, ok := any(b).([]float64); ok && errors.Is(err, gdwire.ErrRange) {
			err = r.tooLarge(o, done, err, reals, func() error {
				overflow(reals)
				return gdwire.WritePacked(r.e, b)
			})
		}
		if err != nil {
			return r.wrote(o.offset, err)
		}
		done += len(b)
	}
	return nil
}

// packedVectors writes n vectors, up to len(batch) at a time.
func packedVectors[V [2]float64 | [3]float64 | [4]float64](r *reader, o *object, batch []V, n int) (err error) {
	for done := 0; done < n; {
		b := batch[:min(n-done, len(batch))]
		for i := range b {
			for j := range len(b[i]) {
				if b[i][j], err = r.realArg(); err != nil {
					return err
				}
				r.separate()
			}
		}
		err := gdwire.WritePacked(r.e, b)
		if errors.Is(err, gdwire.ErrRange) {
			var reals []float64
			for i := range b {
				for j := range len(b[i]) {
					reals = append(reals, b[i][j])
				}
			}
			err = r.tooLarge(o, done*len(b[0]), err, reals, func() error {
				for i := range b {
					for j := range len(b[i]) {
						b[i][j] = overflowed(b[i][j])
					}
				}
				return gdwire.WritePacked(r.e, b)
			})
		}
		if err != nil {
			return r.wrote(o.offset, err)
		}
		done += len(b)
	}
	return nil
}

// tooLarge handles the Encoder's error for a number in args that does not fit in 32 bits. first is
// the index of args[0] in its object. A lenient reader calls again to replace such numbers with
// infinity, as the engine does. Otherwise tooLarge finds the number and adds its offset to the
// error.
func (r *reader) tooLarge(o *object, first int, err error, args []float64, again func() error) error {
	if r.o.Lenient {
		_ = r.e.ClearError() // err
		return again()
	}
	for i, x := range args {
		if overflowed(x) != x && x == x {
			first += i
			break
		}
	}
	r.at = o.at[memberArgs]
	r.enter()
	for range first {
		r.skip()
		r.separate()
	}
	return r.errorAt(r.at.pos, err)
}

// overflow replaces elements of c too large for a float32 with infinity.
func overflow(c []float64) {
	for i, x := range c {
		c[i] = overflowed(x)
	}
}

// overflowed returns x, or infinity if x is too large for a float32.
func overflowed(x float64) float64 {
	if f := float64(float32(x)); math.IsInf(f, 0) {
		return f
	}
	return x
}

// realArg reads the next element of args as a float.
func (r *reader) realArg() (float64, error) {
	at := r.at.pos
	switch r.peek() {
	case 'n':
		r.literal()
		return math.Float64frombits(nan64Bits), nil
	case '"':
		b := r.string()
		if x, ok := parseNaN(b); ok {
			return x, nil
		}
		if r.o.Lenient {
			return lenientFloat(b), nil
		}
		return 0, r.failf(at, gdwire.ErrType, "string %s is not a number", quoted(b))
	case '{', '[', 't', 'f':
		x, err := r.noNumber()
		return float64(x), err
	}
	x, err := parseReal(r.literal())
	if err != nil && !r.o.Lenient {
		return 0, r.errorAt(at, err)
	}
	return x, nil
}

// longArg reads the next element of args, a number or a string of digits, as an
// integer of 64 bits.
func (r *reader) longArg() (int64, error) {
	at := r.at.pos
	switch r.peek() {
	case '"':
		b := r.string()
		if x, err := parseInt(b); err == nil || !r.o.Lenient {
			return x, r.located(at, err)
		}
		return lenientInt(b), nil
	case '{', '[', 't', 'f', 'n':
		return r.noNumber()
	}
	b := r.literal()
	x, err := parseInt(b)
	if err != nil && r.o.Lenient {
		f, _ := strconv.ParseFloat(string(b), 64)
		return saturate(f), nil
	}
	return x, r.located(at, err)
}

// located returns err with the offset of a value, or nil.
func (r *reader) located(offset int, err error) error {
	if err == nil {
		return nil
	}
	return r.errorAt(offset, err)
}

// noNumber reads a value other than a number. The engine reads true as 1 and others as 0; so does a
// lenient reader.
func (r *reader) noNumber() (int64, error) {
	at, c := r.at.pos, r.peek()
	if !r.o.Lenient {
		return 0, r.failf(at, gdwire.ErrType, "arg is not a number")
	}
	r.skip()
	if c == 't' {
		return 1, nil
	}
	return 0, nil
}

// intArg reads the next element of args as an int32. A lenient reader wraps larger
// numbers around, as the engine does. byteArg does the same for a byte.
func (r *reader) intArg() (int32, error) {
	at := r.at.pos
	x, err := r.longArg()
	if err == nil && x != int64(int32(x)) && !r.o.Lenient {
		err = r.failf(at, gdwire.ErrRange, "%d does not fit 32 bits", x)
	}
	return int32(x), err
}

func (r *reader) byteArg() (byte, error) {
	at := r.at.pos
	x, err := r.longArg()
	if err == nil && x != int64(byte(x)) && !r.o.Lenient {
		err = r.failf(at, gdwire.ErrRange, "%d does not fit a byte", x)
	}
	return byte(x), err
}
