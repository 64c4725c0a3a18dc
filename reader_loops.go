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
	return func(yield func(int, error) bool) {
		n, err := d.readElements()
		d.each(n, err, 1, yield)
	}
}

// A loop is the state of an active Fields, Elements or Pairs loop.
type loop struct {
	d      *Decoder
	origin uint64 // d.origin at its start, to detect a Reset
	depth  int    // of the container
	keys   int    // the number of bytes in cold.keys that outer loops use
	done   bool   // the rest is not to be skipped

	// remaining and keyPos of the frame around the container. They identify it: keyPos is the
	// position of a container or key, which never repeats, and remaining tells its values apart.
	left, keyPos uint64
}

// newLoop returns a loop over the container that the latest call on d has opened.
func newLoop(d *Decoder) loop {
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

// finished reports whether the body has read exactly what it should: left values remain. keyPos is
// d.keyPos before the body, which differs in every other container.
func (l *loop) finished(left, keyPos uint64) bool {
	d := l.d
	return d.remaining == left && d.keyPos == keyPos && d.marked != d.remaining && d.err == nil
}

// finish skips what the body has not read of its values. After it, left values remain.
func (l *loop) finish(left uint64) error {
	d := l.d
	if d.err != nil { // the body has ignored it
		return d.failed()
	}
	if !l.isOpen() {
		return l.readPast()
	}
	if d.depth > l.depth && d.stack[l.depth].remaining >= left {
		if err := d.SkipTo(l.depth); err != nil {
			return err
		}
	}
	for d.depth == l.depth && d.remaining > left {
		if err := l.skip(); err != nil {
			return err
		}
	}
	if d.depth > l.depth || d.remaining != left || d.atKey() && d.marked == left {
		return l.readPast()
	}
	return nil
}

// skip skips a value or an element of packed data.
func (l *loop) skip() error {
	if l.d.want() == wantChunk {
		ahead := lookahead{d: l.d}
		ahead.takeChunk(1)
		return ahead.err
	}
	return l.d.SkipValue()
}

func (l *loop) readPast() error {
	return l.d.errorAt(0, wrapf(ErrCount, "the loop's body has read past its value"))
}

// end returns err, or reads the End of the container.
func (l *loop) end(err error) error {
	l.done = true
	if err == nil {
		err = l.d.ReadEnd()
	}
	return err
}

func (d *Decoder) eachField(yield func([]byte, error) bool) {
	n, err := d.ReadDict()
	if err != nil {
		yield(nil, err)
		return
	}
	l := newLoop(d)
	defer l.exit()
	for left := 2*uint64(n) - 2; n > 0 && err == nil; n, left = n-1, left-2 {
		var key []byte
		var ok bool
		if key, ok, err = l.key(); ok {
			keyPos := d.keyPos
			if !yield(key, nil) || d.origin != l.origin {
				return
			}
			if !l.finished(left, keyPos) {
				err = l.finish(left)
			}
		}
	}
	if err := l.end(err); err != nil {
		yield(nil, err)
	}
}

// each iterates over n elements, or pairs, of the container that the latest call has opened, unless
// it returned err. values is the number of values that the loop's body reads.
func (d *Decoder) each(n int, err error, values uint64, yield func(int, error) bool) {
	if err != nil {
		yield(0, err)
		return
	}
	l := newLoop(d)
	defer l.exit()
	keyPos, packed := d.keyPos, d.want() == wantChunk
	for i := 0; i < n && err == nil; i++ {
		if packed { // ReadPacked reads the next element, whatever the body has called before
			d.payload = payload{token: d.mark, kind: KindPackedStart, active: true, elem: d.top().units()}
			d.drop()
		}
		if !yield(i, nil) || d.origin != l.origin {
			return
		}
		if left := values * uint64(n-i-1); !l.finished(left, keyPos) {
			err = l.finish(left)
		}
	}
	if err := l.end(err); err != nil {
		yield(0, err)
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
	b := bulk{d}
	b.start()
	keys, err := b.appendText(d.cold.keys[:l.keys])
	d.cold.keys = keys
	if err != nil {
		return nil, false, err
	}
	b.end()
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
	t, err := d.readTyped(TypeArray, func(f *form) bool { return f.typ == TypeArray || f.kind == KindPackedStart })
	return int(t.Len()), err
}

// Pairs reads the next value, a Dictionary, and iterates over the indices of its pairs.
// The loop's body reads the key, which can have any type, and the value. The rules of
// [Decoder.Fields] apply; Pairs skips any part of the key and the value that the body has
// not read.
func (d *Decoder) Pairs() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		n, err := d.ReadDict()
		d.each(n, err, 2, yield)
	}
}
