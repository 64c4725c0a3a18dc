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
	keys   int    // bytes of d.keys that the loops around this one use
	done   bool   // there is nothing to skip
}

func (d *Decoder) newLoop() loop {
	return loop{d: d, origin: d.origin, depth: d.Depth(), keys: len(d.keys)}
}

// exit leaves the rest of the container to the next call on the Decoder.
func (l *loop) exit() {
	d := l.d
	if d.origin != l.origin {
		return
	}
	d.keys = d.keys[:l.keys]
	if !l.done && (d.leave == 0 || d.leave > l.depth) {
		d.leave, d.skip = l.depth, 0
	}
}

// finish skips the rest of the value that the container was at: the one with left
// values after it, or with the key at mark.
func (l *loop) finish(left uint32, mark uint64) error {
	d := l.d
	if d.depth < l.depth || d.frame(l.depth).mark != mark {
		return l.readPast()
	}
	f := d.frame(l.depth)
	if d.depth == l.depth && f.left == left+1 {
		return d.SkipValue()
	}
	if f.left != left {
		return l.readPast()
	}
	return d.SkipTo(l.depth)
}

func (l *loop) readPast() error {
	return l.d.reject(because(ErrCount, "the loop's body read more than the value"))
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
	for left := uint32(n); left > 0; left-- {
		key, ok, err := l.key()
		if err == nil && ok {
			mark := d.frame(l.depth).mark
			if !yield(key, nil) || d.origin != l.origin {
				return
			}
			err = l.finish(left-1, mark)
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
	if _, err := d.next(); err != nil { // DictKey
		return nil, false, err
	}
	t, err := d.next()
	if err != nil {
		return nil, false, err
	}
	if t.Kind() != KindStringChunk || t.Len() > d.bounds[limitName] {
		if err := d.SkipTo(l.depth); err != nil {
			return nil, false, err
		}
		return nil, false, d.SkipValue()
	}
	d.keys = append(d.keys[:l.keys], t.Bytes()...)
	if !t.Last() {
		d.beginBulk()
		d.used(d.bulk.left)
		if d.keys, err = d.appendText(d.keys); err != nil {
			return nil, false, err
		}
	}
	return d.keys[l.keys:len(d.keys):len(d.keys)], true, nil
}

func (d *Decoder) eachElement(yield func(int, error) bool) {
	n, err := d.readElements()
	if err != nil {
		yield(0, err)
		return
	}
	l := d.newLoop()
	defer l.exit()
	mark := d.top.mark
	for left := n; left > 0; left-- {
		if !yield(int(n-left), nil) || d.origin != l.origin {
			return
		}
		if err := l.finish(left-1, mark); err != nil {
			l.done = true
			yield(0, err)
			return
		}
	}
	if err := l.end(); err != nil {
		yield(0, err)
	}
}

// readElements reads the start of an Array or PackedStringArray.
func (d *Decoder) readElements() (n uint32, err error) {
	t, err := d.readType(TypeArray, TypePackedStringArray)
	return uint32(t.Len()), err
}
