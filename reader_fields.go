package gdwire

import "iter"

// Fields reads the Dictionary that comes next and ranges over its keys that are
// Strings or StringNames. The loop's body reads the value. It may leave any part
// of it unread: that is skipped, as are keys of other types and keys longer than
// Limits.NameBytes with their values.
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
// The key is a copy, valid until the next iteration. An error ends the loop: if
// another type comes next, [ErrType], and nothing is consumed; if the body read
// more than the value, [ErrCount].
//
// Leaving the loop reads nothing. The next call on the Decoder skips the rest of
// the Dictionary first and returns the errors of that.
func (d *Decoder) Fields() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) { d.eachField(yield) }
}

// Elements reads the Array or PackedStringArray that comes next and ranges over
// the indices of its elements. The loop's body reads the element, under the rules
// of [Decoder.Fields].
func (d *Decoder) Elements() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) { d.eachElement(yield) }
}

// A loop is a Fields or Elements loop that is under way.
type loop struct {
	d      *Decoder
	origin uint64 // of the input, to notice a Reset
	depth  int    // of the container
	keys   int    // bytes of rare.keys that the loops around this one use
	done   bool   // there is nothing to skip
}

func (d *Decoder) newLoop() loop {
	return loop{d: d, origin: d.origin, depth: d.depth, keys: len(d.getRare().keys)}
}

// exit leaves the rest of the container to the next call on the Decoder.
func (l *loop) exit() {
	d := l.d
	if d.origin != l.origin {
		return
	}
	d.rare.keys = d.rare.keys[:l.keys]
	if !l.done && (d.leave == 0 || d.leave > l.depth) {
		d.leave, d.skip = l.depth, extent{}
		d.setWin()
	}
}

// finish skips the rest of the value before which left values of the container
// were to come, after the key at keyPos if it has keys.
func (l *loop) finish(left, keyPos uint64) error {
	d := l.d
	if d.err != nil { // and the body has not returned it
		return d.failed()
	}
	if d.depth == l.depth && d.keyPos == keyPos {
		switch {
		case d.left == left:
			return d.SkipValue()
		case d.left == left-1 && !(d.atKey() && d.marked == d.left):
			return nil
		}
		return l.readPast()
	}
	if d.depth < l.depth {
		return l.readPast()
	}
	if f := d.frame(l.depth); f.keyPos != keyPos || f.left != left-1 {
		return l.readPast()
	}
	return d.SkipTo(l.depth)
}

func (l *loop) readPast() error {
	return l.d.errorAt(0, wrapf(ErrCount, "the loop's body has read past its value"))
}

// end reads the container's End.
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
		if err == nil && ok {
			keyPos := d.keyPos
			if !yield(key, nil) || d.origin != l.origin {
				return
			}
			err = l.finish(left, keyPos)
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

// key reads the next key and returns a copy. It reports false for one that is no
// string or too long, which it skips with its value.
func (l *loop) key() (key []byte, ok bool, err error) {
	d := l.d
	text, ok := d.fastString()
	if !ok {
		return l.slowKey()
	}
	if int64(len(text)) > d.bounds[limitName] {
		return nil, false, d.SkipValue()
	}
	keys := append(d.rare.keys[:l.keys], text...)
	d.rare.keys = keys
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
	keys, err := d.appendPayload(d.rare.keys[:l.keys])
	d.rare.keys = keys
	if err != nil {
		return nil, false, err
	}
	d.endPayload()
	return keys[l.keys:len(keys):len(keys)], true, nil
}

func (d *Decoder) eachElement(yield func(int, error) bool) {
	t, err := d.readType(TypeArray, TypePackedStringArray)
	if err != nil {
		yield(0, err)
		return
	}
	l := d.newLoop()
	defer l.exit()
	n, keyPos := int(t.Len()), d.keyPos
	for i := range n {
		if !yield(i, nil) || d.origin != l.origin {
			return
		}
		if err := l.finish(uint64(n-i), keyPos); err != nil {
			l.done = true
			yield(0, err)
			return
		}
	}
	if err := l.end(); err != nil {
		yield(0, err)
	}
}
