package gdwire

import "unicode/utf8"

// BeginPacked begins a packed array of type t with n elements; n can be [Unknown]. Write
// numbers, vectors and colors with WritePacked or Write, and the strings of a
// PackedStringArray with WriteString, then call End.
func (e *Encoder) BeginPacked(t Type, n int64) error { return e.beginPacked(t, n, -1) }

// beginPacked is BeginPacked for components of 32 bits, or of 64 bits if wide is 1. If wide
// is -1, the options decide.
func (e *Encoder) beginPacked(t Type, n int64, wide int) error {
	// All formats have this type. With the general case it would take 3 % more of the time
	// of a document.
	if t == TypePackedStringArray && e.beginFast(t, 0, n) != nil {
		e.fastNames(e.packedNUL())
		return nil
	}
	forms, err := e.begin(t)
	if err != nil {
		return err
	}
	if s := forms[0].shape; s != shapePacked && s != shapePackedStrings {
		return e.fail(wrapf(ErrType, "%v is not a packed array type", t))
	}
	if wide < 0 {
		wide = e.realWidth(forms)
	}
	form := &forms[wide]
	if f := e.beginFast(t, wide, n); f != nil {
		f.unit, f.size = form.unit, form.size
		e.valueLim = -1 // as setFast
		return nil
	}
	f := frame{kind: KindPackedStart, typ: t, unit: form.unit, size: form.size}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	b, err := e.room(8)
	if err != nil {
		return err
	}
	le.PutUint32(b, form.header)
	le.PutUint32(b[4:], f.count)
	return e.start(b, &f)
}

// BeginImage begins an Image of Godot 2 with n bytes of data; n can be [Unknown]. Write the
// data with Write, then call End.
func (e *Encoder) BeginImage(format, mipmaps, width, height uint32, n int64) error {
	forms, err := e.begin(TypeImage)
	if err != nil {
		return err
	}
	f := frame{kind: KindImageStart, typ: TypeImage, unit: unitByte, size: 1}
	if err := e.declare(n, &f); err != nil {
		return err
	}
	b, err := e.room(24)
	if err != nil {
		return err
	}
	for i, v := range [...]uint32{forms[0].header, format, mipmaps, width, height, f.count} {
		le.PutUint32(b[4*i:], v)
	}
	return e.start(b, &f)
}

// Write writes bytes of the string, packed array or image that BeginString, BeginPacked or
// BeginImage has begun. Runes and elements can be split between calls. With an
// error of the Writer it returns the number of bytes of p that were written or buffered.
func (e *Encoder) Write(p []byte) (int, error) {
	if err := e.ready(); err != nil {
		return 0, err
	}
	f := e.top()
	switch w := e.want(); {
	case w == wantEnd && f.isData() && len(p) == 0:
		return 0, nil
	case w == wantEnd && f.isData():
		return 0, e.fail(wrapf(ErrCount, "%d bytes after the declared %d × %d", len(p), f.count, max(f.size, 1)))
	case w != wantText && w != wantChunk:
		return 0, e.misplaced("Write")
	}
	if err := e.fits(p); err != nil {
		return 0, err
	}
	before := e.OutputOffset()
	if err := emit(e, nil, p, nil); err != nil {
		return int(e.OutputOffset() - before), err
	}
	e.took(p)
	return len(p), nil
}

// isData reports whether Write can write the content of f.
func (f *frame) isData() bool { return f.kind == KindStringChunk || f.size > 0 }

// fits returns an error if p can't be the next bytes of a string or packed data.
func (e *Encoder) fits(p []byte) error {
	f := e.top()
	if f.size > 0 {
		if e.elements(p) > e.left {
			return e.fail(wrapf(ErrCount, "%d bytes after %d of the declared %d elements", len(p), e.done(), f.count))
		}
		return nil
	}
	if uint64(len(p)) > e.left {
		return e.fail(wrapf(ErrCount, "%d bytes after %d of the declared %d", len(p), e.done(), f.count))
	}
	if e.options.AllowInvalidUTF8 {
		return nil
	}
	text := p
	if e.partial > 0 {
		b := e.rune
		n := e.partial + copy(b[e.partial:], p)
		if !utf8.FullRune(b[:n]) {
			text = nil
		} else if r, size := utf8.DecodeRune(b[:n]); r == utf8.RuneError && size == 1 {
			return e.fail(ErrUTF8)
		} else {
			text = p[size-e.partial:]
		}
	}
	n := wholeRunes(text, len(text))
	split := n < len(text) || text == nil && len(p) > 0
	if !utf8.Valid(text[:n]) || split && uint64(len(p)) == e.left {
		return e.fail(ErrUTF8)
	}
	return nil
}

// elements returns the number of elements that p completes or begins.
func (e *Encoder) elements(p []byte) uint64 {
	size := uint64(e.top().size)
	return (uint64(e.partial) + uint64(len(p)) + size - 1) / size
}

// took counts p, a part of a string or of packed data that has been written.
func (e *Encoder) took(p []byte) {
	if size := int(e.top().size); size > 0 {
		whole := len(p) / size
		if e.partial += len(p) % size; e.partial >= size {
			e.partial -= size
			whole++
		}
		e.left -= uint64(whole)
		return
	}
	e.left -= uint64(len(p))
	if e.options.AllowInvalidUTF8 {
		return
	}
	var tail [2 * utf8.UTFMax]byte
	n := copy(tail[:], e.rune[:e.partial])
	n += copy(tail[n:], p[max(0, len(p)-utf8.UTFMax):])
	whole := wholeRunes(tail[:n], n)
	e.partial = copy(e.rune[:], tail[whole:n])
}

// WritePacked writes elements of the packed array that BeginPacked has begun. T must have
// the number of components of the elements. Floats are widened or rounded; a finite one that
// becomes infinite is [ErrRange]. Integers are only widened. Other conversions are
// [ErrType].
func WritePacked[T Packable](e *Encoder, src []T) error {
	if err := e.ready(); err != nil {
		return err
	}
	f := e.top()
	if e.left == 0 && f.size > 0 && len(src) == 0 {
		return nil
	}
	if f.kind != KindPackedStart || f.size == 0 || e.left == 0 {
		return e.misplaced("WritePacked")
	}
	u, n := unitOf[T]()
	if n != int(layouts[f.typ].n) || !u.convertsTo(f.unit) {
		return e.fail(wrapf(ErrType, "got elements of %d × %v, want %d × %v", n, u, layouts[f.typ].n, f.unit))
	}
	if uint64(len(src)) > e.left || e.partial > 0 {
		return e.fail(wrapf(ErrCount, "%d elements after %d of the declared %d", len(src), e.done(), f.count))
	}
	if p, ok := asBytes(src, u == f.unit); ok {
		if err := emit(e, nil, p, nil); err != nil {
			return err
		}
	} else if err := convert(e, src); err != nil {
		return err
	}
	e.left -= uint64(len(src))
	return nil
}

// convert writes src as elements of the innermost packed array.
func convert[T Packable](e *Encoder, src []T) error {
	f := e.top()
	if f.unit == unitFloat32 && anyOverflows(src) {
		return e.fail(wrapf(ErrRange, "element does not fit 32 bits"))
	}
	u := f.unit
	return e.inPieces(len(src), int(f.size), func(b []byte, i, n int) {
		encodePacked(b, src[i:i+n], u)
	})
}

// inPieces writes n elements of size bytes. put encodes those from i to i+m into b.
func (e *Encoder) inPieces(n, size int, put func(b []byte, i, m int)) error {
	if e.held > 0 {
		total := int64(n) * int64(size)
		if err := e.grow(total); err != nil {
			return err
		}
		put(e.buf[e.n:], 0, n)
		e.n += int(total)
		return nil
	}
	for i := 0; i < n; {
		m := min((len(e.buf)-e.n)/size, n-i)
		if m > 0 {
			put(e.buf[e.n:], i, m)
			e.n += m * size
		} else { // The next element is split by the end of the buffer.
			m = 1
			put(e.spare[:], i, m)
			if err := pour(e, e.spare[:size]); err != nil {
				return err
			}
		}
		i += m
	}
	return nil
}
