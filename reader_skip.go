package gdwire

// An extent is the sequence of tokens that SkipValue, CopyValue or Tokens cover. It ends
// with the first token after which isOver reports true.
type extent struct {
	open int  // it ends when fewer than this number of containers are open; 0 for no extent
	data bool // it also ends after the packed data of the container at depth open
}

// rest returns the extent of the next value, or of the rest of a string or packed array
// that has been read in part.
func (d *Decoder) rest() extent {
	switch d.want() {
	case wantText:
		return extent{open: d.depth}
	case wantChunk:
		return extent{open: d.depth, data: true}
	default:
		return extent{open: d.depth + 1}
	}
}

// isOver reports whether the tokens of x have been read, after at least one of them.
func (d *Decoder) isOver(x extent) bool {
	return d.depth < x.open || x.data && d.left == 0
}

// SkipValue skips the next value. It returns the same errors as reading the value. If a
// DictKey is next, SkipValue skips that token and the key; if a Property is next, it skips
// the name; and inside a string or packed data it skips the remaining chunks. If an End is
// next, it returns [ErrCount].
//
// After an error of the Reader, if Depth is as before the call, SkipValue can be repeated:
// nothing has been consumed, or whole chunks. If Depth is larger, call SkipTo with the Depth
// before the call.
func (d *Decoder) SkipValue() error {
	if err := d.start(); err != nil {
		return err
	}
	w := d.want()
	if w == wantEnd {
		return d.WrapError(wrapf(ErrCount, "SkipValue at an End"))
	}
	x := d.rest()
	if err := d.skipFirst(w); err != nil {
		return err
	}
	return d.readTo(x)
}

// skipFirst reads the first token of a value or name, or the next chunk.
func (d *Decoder) skipFirst(w want) error {
	if w != wantDictKey {
		_, err := d.next()
		return err
	}
	_, err := d.value()
	return err
}

// SkipTo skips tokens until Depth is at most depth. It returns the same errors as reading
// them. It can be called after any token, and again after an error of the Reader.
func (d *Decoder) SkipTo(depth int) error {
	if err := d.start(); err != nil {
		return err
	}
	return d.readTo(extent{open: max(depth, 0) + 1})
}

// leaveLoop skips the rest of a container that a Fields or Elements loop has left.
func (d *Decoder) leaveLoop() error {
	if d.leave == 0 {
		return nil
	}
	if d.err != nil {
		return d.failed()
	}
	depth := d.leave
	d.leave, d.payload.active = 0, false
	d.drop()
	d.updateFastPath()
	err := d.readTo(extent{open: depth})
	if err != nil {
		d.leave = depth
		d.updateFastPath()
	}
	return err
}

// readTo reads up to the end of x.
func (d *Decoder) readTo(x extent) error {
	for {
		if d.skipFast(x.open); d.isOver(x) {
			break
		}
		if _, err := d.next(); err != nil {
			d.drop()
			return err
		}
	}
	d.drop()
	return nil
}

// skipFast skips values on the fast path, without creating tokens, while at least open
// containers are open.
func (d *Decoder) skipFast(open int) {
	for d.depth >= open {
		switch {
		case d.left == 0 && (d.fastValues != nil || d.fastNames != nil): // not after packed data, whose End may be beyond x
			d.readEnd()
		case d.fastValues != nil:
			d.skipNumbers()
			if d.left > 0 && !d.skipOther() {
				return
			}
		case d.fastNames != nil:
			d.skipNames()
			if d.left > 0 {
				return
			}
		default:
			return
		}
	}
}

// skipNumbers skips numbers, math types and short strings. It contains no calls, so that
// its variables stay in registers.
func (d *Decoder) skipNumbers() {
	win, r, left, forms, pairs := d.fastValues, d.r, d.left, d.forms, d.pairs
	last, key := r, -1
	for r <= len(win)-fastSize && left > 0 {
		b := (*[fastSize]byte)(win[r:])
		h := le.Uint32(b[:])
		form := &forms[formIndex(h)]
		if h != form.header {
			break
		}
		size := 4 + int(form.size)
		if form.shape == shapeText {
			text := shortText(le.Uint32(b[4:]), le.Uint64(b[8:]))
			if text == 0 {
				break
			}
			size = 4 + text
		} else if form.shape > shapeMath || size > len(win)-r {
			break
		}
		if ^left&pairs != 0 {
			key = r
		}
		last = r
		left--
		r += size
	}
	if key >= 0 {
		d.setKey(d.base + uint64(key))
	}
	if left < d.left {
		d.passEmpty(r, d.base+uint64(last))
	}
	d.setLeft(left)
}

// skipOther skips a longer string, packed data or the last value in the buffer, or opens a
// container. It returns false if the slow path must handle the next value.
func (d *Decoder) skipOther() bool {
	form, b := d.fastForm()
	if form == nil {
		var last [fastSize]byte
		if form = d.lastForm(&last); form == nil {
			return false
		}
		d.takeLast(form, &last)
		d.drop()
		return true
	}
	n := le.Uint32(b[4:])
	switch form.shape {
	case shapeText:
		if !d.wholeText(d.r+8, n) {
			return false
		}
		d.take(8 + int(padded(n)))
		return true
	case shapePacked:
		data, ok := d.wholePacked(form, n)
		if ok {
			d.takePacked(data)
			d.markEmpty(d.pos()) // the token of its End
		}
		return ok
	case shapeNodePath:
		names, ok := d.nodePathCount(b)
		return ok && d.skipNamed(16, names) || d.openNodePath(b)
	case shapePackedStrings:
		return d.countFits(n, uint64(n)) && d.skipNamed(8, n) || d.openFast(form, n)
	case shapeArray, shapeDict:
		return d.openFast(form, n)
	}
	return false
}

// skipNamed skips a NodePath or PackedStringArray whose n names or strings follow a head of
// this size. It returns false, and skips nothing, if the slow path must handle one of them.
// Without it, SkipValue takes 19 % more instructions.
func (d *Decoder) skipNamed(head int, n uint32) bool {
	win, r := d.fastValues, d.r+head
	for range n {
		if r > len(win)-fastSize {
			return false
		}
		b := (*[fastSize]byte)(win[r:])
		n := le.Uint32(b[:])
		size := shortText(n, le.Uint64(b[4:]))
		if size == 0 {
			if !d.wholeText(r+4, n) {
				return false
			}
			size = 4 + int(padded(n))
		}
		r += size
	}
	d.values += uint64(n)
	d.take(r - d.r)
	d.markEmpty(d.pos()) // the token of its End
	return true
}

// skipNames skips names or packed strings.
func (d *Decoder) skipNames() {
	names, r, left := d.fastNames, d.r, d.left
	last := d.tokenPos()
	for r <= len(names)-fastSize && left > 0 {
		b := (*[fastSize]byte)(names[r:])
		n := le.Uint32(b[:])
		size := shortText(n, le.Uint64(b[4:]))
		if size == 0 {
			if !d.wholeText(r+4, n) {
				break
			}
			size = 4 + int(padded(n))
		}
		last = d.base + uint64(r)
		left--
		r += size
	}
	d.passEmpty(r, last)
	d.setLeft(left)
}

// passFast goes over at most `most` bytes of the values of the innermost container
// that an Encoder would write as they are: no containers, no bools but 0 and 1,
// padding of zeros. Without it, CopyValue takes 212 % more instructions.
func (d *Decoder) passFast(most int) {
	win, r, left := d.fastValues, d.r, d.left
	win = win[:min(len(win), r+most)]
	last := d.tokenPos()
	for r <= len(win)-fastSize && left > 0 {
		b := (*[fastSize]byte)(win[r:])
		h, n := le.Uint32(b[:]), le.Uint32(b[4:])
		form := &d.forms[formIndex(h)]
		if h != form.header || form.shape > shapeText || n > 1 && form.kind == KindBool {
			break
		}
		size := 4 + int(form.size)
		if form.shape == shapeText {
			size = 8 + int(padded(n))
			if n-1 >= 8 || !plainText(le.Uint64(b[8:]), n) {
				if !d.wholeText(r+8, n) || size > len(win)-r || n&3 != 0 && le.Uint32(win[r+size-4:])>>(8*(n&3)) != 0 {
					break
				}
			}
		}
		if size > len(win)-r {
			break
		}
		last = d.base + uint64(r)
		if ^left&d.pairs != 0 {
			d.setKey(last)
		}
		left--
		r += size
	}
	d.passEmpty(r, last)
	d.setLeft(left)
}
