package gdjson

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

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
		return saturate(f)
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
