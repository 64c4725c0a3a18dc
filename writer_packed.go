package gdwire

import "unicode/utf8"

// BeginPacked begins a packed array of n elements or [Unknown]. Of numbers,
// vectors and colours the elements follow by WritePacked or Write, of a
// PackedStringArray by WriteString, then End.
func (e *Encoder) BeginPacked(t Type, n int64) error { return e.beginPacked(t, n, -1) }

// beginPacked: a wide of -1 lets the options choose.
func (e *Encoder) beginPacked(t Type, n int64, wide int) error {
	row, err := e.begin(t)
	if err != nil {
		return err
	}
	form := &row[0]
	if form.shape != shapePacked && form.shape != shapePackedStrings {
		return e.fail(because(ErrType, "%v is no packed array", t))
	}
	if wide < 0 {
		wide = e.realWidth(row)
	}
	form = &row[wide]
	if top := e.startStraight(t, wide, n); top != nil {
		top.unit, top.size = form.unit, form.size
		if form.shape == shapePackedStrings && n > 0 {
			top.want = wantName
		}
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

// BeginImage begins an Image of Godot 2 whose data are n bytes: by Write, then
// End.
func (e *Encoder) BeginImage(format, mipmaps, width, height uint32, n int64) error {
	row, err := e.begin(TypeImage)
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
	for i, v := range [...]uint32{row[0].header, format, mipmaps, width, height, f.count} {
		le.PutUint32(b[4*i:], v)
	}
	return e.start(b, &f)
}

// Write writes bytes of the string, packed array or image that BeginString,
// BeginPacked or BeginImage opened, in any pieces: a rune or element may go on in
// the next call. After an error of the Writer it returns how many bytes of p were
// taken, and the next call has to be a Write of the others.
func (e *Encoder) Write(p []byte) (int, error) {
	if err := e.ready(); err != nil {
		return 0, err
	}
	f := e.top
	switch {
	case f.want == wantEnd && f.isData() && len(p) == 0 && e.retry.err == nil:
		return 0, nil
	case f.want == wantEnd && f.isData():
		return 0, e.fail(because(ErrCount, "%d bytes after the %d × %d announced", len(p), f.count, max(f.size, 1)))
	case f.want != wantText && f.want != wantChunk:
		return 0, e.misplaced("Write")
	}
	if err := e.fits(p); err != nil {
		return 0, err
	}
	err := emit(e, opWrite, nil, p, nil)
	n := len(p)
	if err != nil {
		if e.err != nil {
			return 0, err
		}
		n = int(e.retry.done)
		e.retry = retry{}
		if n < len(p) {
			e.retry = retry{err: err, sum: sumCall(e, opWrite, nil, p[n:], nil)}
		}
		e.limitBuffer()
	}
	e.took(p[:n])
	return n, err
}

// isData reports whether Write may fill the frame.
func (f *frame) isData() bool { return f.kind == KindStringChunk || f.size > 0 }

// fits asks whether p may be the next bytes of a string or of packed data.
func (e *Encoder) fits(p []byte) error {
	f := e.top
	if f.want == wantChunk {
		if uint64(e.partial+len(p)) > uint64(f.left)*uint64(f.size) {
			return e.fail(because(ErrCount, "%d bytes after %d of %d elements", len(p), f.count-f.left, f.count))
		}
		return nil
	}
	if uint64(len(p)) > uint64(f.left) {
		return e.fail(because(ErrCount, "%d bytes after %d of %d", len(p), f.count-f.left, f.count))
	}
	if e.options.AnyUTF8 {
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
	if !utf8.Valid(text[:n]) || split && len(p) == int(f.left) {
		return e.fail(ErrUTF8)
	}
	return nil
}

// took notes that p has become part of a string or of packed data.
func (e *Encoder) took(p []byte) {
	f := e.top
	switch {
	case f.want == wantChunk:
		n := e.partial + len(p)
		f.left -= uint32(n / int(f.size))
		e.partial = n % int(f.size)
	case e.options.AnyUTF8:
		f.left -= uint32(len(p))
	default:
		f.left -= uint32(len(p))
		var tail [2 * utf8.UTFMax]byte
		n := copy(tail[:], e.rune[:e.partial])
		n += copy(tail[n:], p[max(0, len(p)-utf8.UTFMax):])
		whole := wholeRunes(tail[:n], n)
		e.partial = copy(e.rune[:], tail[whole:n])
	}
	if f.left == 0 {
		f.want = wantEnd
	}
}

// WritePacked writes elements of the packed array that BeginPacked began. T has
// as many components as they. Reals are widened or rounded, but one that would
// become infinite is [ErrRange]; integers are only widened.
func WritePacked[T Packable](e *Encoder, src []T) error {
	if err := e.ready(); err != nil {
		return err
	}
	f := e.top
	if f.want == wantEnd && f.size > 0 && len(src) == 0 && e.retry.err == nil {
		return nil
	}
	if f.want != wantChunk || f.kind != KindPackedStart {
		return e.misplaced("WritePacked")
	}
	u, n := unitOf[T]()
	if n != int(layouts[f.typ].n) || !u.convertsTo(f.unit) {
		return e.fail(because(ErrType, "elements of %d × %v into a %v of %v", n, u, f.typ, f.unit))
	}
	if uint64(len(src)) > uint64(f.left) || e.partial > 0 {
		return e.fail(because(ErrCount, "%d elements after %d of %d", len(src), f.count-f.left, f.count))
	}
	if p, ok := asBytes(src, f.unit); ok {
		if err := emit(e, opData, nil, p, nil); err != nil {
			return err
		}
	} else if err := convert(e, src); err != nil {
		return err
	}
	e.tookElements(len(src))
	return nil
}

func (e *Encoder) tookElements(n int) {
	f := e.top
	if f.left -= uint32(n); f.left == 0 {
		f.want = wantEnd
	}
}

// convert takes src as elements of what is open.
func convert[T Packable](e *Encoder, src []T) error {
	u := e.top.unit
	if u == unitFloat32 && anyOverflows(src) {
		return e.fail(because(ErrRange, "element in 32 bits"))
	}
	return e.inPieces(len(src), int(e.top.size), func(b []byte, i, n int) {
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
	if e.retry.err != nil {
		if err := e.checkRetry(e.sumPieces(n, size, put)); err != nil {
			return err
		}
	}
	skip := e.retry.done % int64(size)
	for i := int(e.retry.done / int64(size)); i < n; {
		m := min((len(e.buf)-e.n)/size, n-i)
		if m > 0 && skip == 0 {
			put(e.buf[e.n:], i, m)
			e.n += m * size
			e.retry.done += int64(m * size)
		} else { // The next element is split by the end of the buffer.
			m = 1
			put(e.spare[:], i, m)
			if err := pour(e, e.spare[:size], &skip); err != nil {
				e.interrupt(err, e.sumPieces(n, size, put))
				return err
			}
		}
		i += m
	}
	e.done()
	return nil
}

// sumPieces is sumCall for elements that inPieces writes.
func (e *Encoder) sumPieces(n, size int, put func(b []byte, i, m int)) uint64 {
	h := e.newSum(opData)
	var b [256]byte
	for i := 0; i < n; {
		m := min(len(b)/size, n-i)
		put(b[:], i, m)
		h.Write(b[:m*size])
		i += m
	}
	return h.Sum64()
}
