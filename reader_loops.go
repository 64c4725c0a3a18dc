package gdwire

import "iter"

// Fields reads the next value, a Dictionary, and iterates over its keys that are Strings
// or StringNames. The loop's body reads the value. Fields skips any part of the value
// that the body has not read, and skips pairs whose key has another type or is longer than
// Limits.NameBytes.
//
//	for key, err := range d.Fields() {
//		if err != nil {
//			return err
//		}
//		switch string(key) {
//		case "name":
//			p.Name, err = d.ReadString()
//		case "hp":
//			p.HP, err = gdwire.ReadInteger[int](d)
//		}
//		if err != nil {
//			return err
//		}
//	}
//
// The key is a copy and valid until the next iteration. An error ends the loop. It is
// [ErrType] if the next value has another type, which consumes nothing, and [ErrCount] if
// the body has read more than the value.
//
// Leaving the loop reads nothing. The next call on the Decoder first skips the rest of the
// Dictionary and returns an error in it.
func (d *Decoder) Fields() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) { d.eachField(yield) }
}

// Elements reads the next value, an Array or packed array, and iterates over the indices
// of its elements. The loop's body reads the element: a number, vector or color of a packed
// array with [ReadPacked], into a slice of length 1. The rules of [Decoder.Fields] apply.
func (d *Decoder) Elements() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) { d.eachElement(yield) }
}

// A loop is the state of an active Fields or Elements loop.
type loop struct {
	d      *Decoder
	origin uint64 // d.origin at its start, to detect a Reset
	depth  int    // of the container
	keys   int    // the number of bytes in cold.keys that outer loops use
	done   bool   // there is nothing to skip

	// remaining and keyPos of the frame around the container. They identify it: keyPos is the
	// position of a container or key, which never repeats, and remaining tells its values apart.
	left, keyPos uint64
}

// newLoop returns a loop over the container that the latest call has opened.
func (d *Decoder) newLoop() loop {
	around := &d.stack[d.depth-1]
	return loop{d: d, origin: d.origin, depth: d.depth, keys: len(d.getCold().keys), left: around.remaining, keyPos: around.keyPos}
}

// isOpen reports whether the container is still open, and not another one of the same depth.
func (l *loop) isOpen() bool {
	if l.d.depth < l.depth {
		return false
	}
	around := &l.d.stack[l.depth-1] // never the innermost frame
	return around.remaining == l.left && around.keyPos == l.keyPos
}

// exit makes the next call on the Decoder skip the rest of the container.
func (l *loop) exit() {
	d := l.d
	if d.origin != l.origin {
		return
	}
	d.cold.keys = d.cold.keys[:l.keys]
	if !l.done && l.isOpen() && (d.abandoned == 0 || d.abandoned > l.depth) { // iter.Pull can end the outer loop first
		d.abandoned = l.depth
		d.updateFastPath()
	}
}

// finished reports whether the body has read exactly one value. left is d.remaining before the
// value, and keyPos is d.keyPos, which differs in every other container.
func (l *loop) finished(left, keyPos uint64) bool {
	d := l.d
	return d.remaining == left-1 && d.keyPos == keyPos && d.marked != d.remaining && d.err == nil
}

// finish skips the rest of a value that the body has not read, or only in part. left is d.remaining
// before the value.
func (l *loop) finish(left uint64) error {
	d := l.d
	if d.err != nil { // the body has ignored it
		return d.failed()
	}
	if !l.isOpen() {
		return l.readPast()
	}
	switch {
	case d.depth > l.depth && d.stack[l.depth].remaining == left-1:
		return d.SkipTo(l.depth)
	case d.depth > l.depth:
	case d.remaining == left && d.want() == wantChunk:
		_, err := d.takeChunk(1)
		return err
	case d.remaining == left:
		return d.SkipValue()
	case d.remaining == left-1 && !(d.atKey() && d.marked == d.remaining):
		return nil
	}
	return l.readPast()
}

func (l *loop) readPast() error {
	return l.d.errorAt(0, wrapf(ErrCount, "the loop's body has read past its value"))
}

// end reads the End of the container.
func (l *loop) end() error {
	err := l.d.ReadEnd()
	l.done = true
	return err
}

func (d *Decoder) eachField(yield func([]byte, error) bool) {
	n, err := d.ReadDict()
	if err != nil {
		yield(nil, err)
		return
	}
	l := d.newLoop()
	defer l.exit()
	for left := 2*uint64(n) - 1; n > 0; n, left = n-1, left-2 {
		key, ok, err := l.key()
		if ok {
			keyPos := d.keyPos
			if !yield(key, nil) || d.origin != l.origin {
				return
			}
			if !l.finished(left, keyPos) {
				err = l.finish(left)
			}
		}
		if err != nil {
			l.done = true
			yield(nil, err)
			return
		}
	}
	if err := l.end(); err != nil {
		yield(nil, err)
	}
}

// key reads the next key and returns a copy. If the key is not a string or is too long, it
// skips the pair and returns false. shortString is -23 % of Fields.
func (l *loop) key() (key []byte, ok bool, err error) {
	d := l.d
	keys := d.cold.keys[:l.keys]
	if b, size := d.shortString(d.remaining); size > 0 && d.bounds[limitName] >= 8 {
		keys = le.AppendUint64(keys, le.Uint64(b[8:]))[:l.keys+int(le.Uint32(b[4:]))]
		_ = d.take(4 + size)
	} else {
		text, ok := d.fastString()
		if !ok {
			return l.slowKey()
		}
		if int64(len(text)) > d.bounds[limitName] {
			return nil, false, d.SkipValue()
		}
		keys = append(keys, text...)
	}
	d.cold.keys = keys
	return keys[l.keys:len(keys):len(keys)], true, nil
}

func (l *loop) slowKey() (key []byte, ok bool, err error) {
	d := l.d
	if err := d.start(); err != nil {
		return nil, false, err
	}
	t, err := d.value()
	if err != nil {
		return nil, false, err
	}
	if t.Kind() != KindStringChunk || t.Len() > d.bounds[limitName] {
		if err := d.SkipTo(l.depth); err != nil {
			return nil, false, err
		}
		return nil, false, d.SkipValue()
	}
	d.startPayload()
	keys, err := d.appendPayload(d.cold.keys[:l.keys])
	d.cold.keys = keys
	if err != nil {
		return nil, false, err
	}
	d.endPayload()
	return keys[l.keys:len(keys):len(keys)], true, nil
}

// readElements reads the start of an Array or packed array and returns the number of its
// elements.
func (d *Decoder) readElements() (int, error) {
	if form, b := d.fastForm(); form != nil && (form.shape == shapeArray || form.shape == shapePackedStrings) {
		if n := le.Uint32(b[4:]); d.openFast(form, n) {
			return int(n), nil
		}
	}
	form, err := d.peekTyped()
	if err != nil {
		return 0, err
	}
	if form.typ != TypeArray && form.kind != KindPackedStart {
		return 0, d.mismatch(form, TypeArray)
	}
	t, err := d.value()
	return int(t.Len()), err
}

func (d *Decoder) eachElement(yield func(int, error) bool) {
	n, err := d.readElements()
	if err != nil {
		yield(0, err)
		return
	}
	l := d.newLoop()
	defer l.exit()
	keyPos, numbers := d.keyPos, d.want() == wantChunk
	for i := range n {
		if numbers {
			d.startElement()
		}
		if !yield(i, nil) || d.origin != l.origin {
			return
		}
		if l.finished(uint64(n-i), keyPos) {
			continue
		}
		if err := l.finish(uint64(n - i)); err != nil {
			l.done = true
			yield(0, err)
			return
		}
	}
	if err := l.end(); err != nil {
		yield(0, err)
	}
}

// startElement lets ReadPacked read the next element of packed numbers, whatever the loop's body
// has called before.
func (d *Decoder) startElement() {
	f := d.top()
	d.payload = payload{token: d.mark, kind: KindPackedStart, active: true, elem: units{f.unit, layouts[f.typ].n}}
	d.drop()
}

// Pairs reads the next value, a Dictionary, and iterates over the indices of its pairs.
// The loop's body reads the key, which can have any type, and the value. The rules of
// [Decoder.Fields] apply; Pairs skips any part of the key and the value that the body has
// not read.
func (d *Decoder) Pairs() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) { d.eachPair(yield) }
}

func (d *Decoder) eachPair(yield func(int, error) bool) {
	n, err := d.ReadDict()
	if err != nil {
		yield(0, err)
		return
	}
	l := d.newLoop()
	defer l.exit()
	for i := range n {
		if !yield(i, nil) || d.origin != l.origin {
			return
		}
		if err := l.finishPair(2*uint64(n-i) - 2); err != nil {
			l.done = true
			yield(0, err)
			return
		}
	}
	if err := l.end(); err != nil {
		yield(0, err)
	}
}

// finishPair skips the rest of a pair, after which left values of the Dictionary remain.
func (l *loop) finishPair(left uint64) error {
	d := l.d
	if d.err != nil { // the body has ignored it
		return d.failed()
	}
	if !l.isOpen() {
		return l.readPast()
	}
	if d.depth > l.depth {
		if err := d.SkipTo(l.depth); err != nil {
			return err
		}
	}
	for d.remaining > left {
		if err := d.SkipValue(); err != nil {
			return err
		}
	}
	if d.remaining != left || d.marked == left { // never noMark, because left is even
		return l.readPast()
	}
	return nil
}
