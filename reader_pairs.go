package gdwire

import "iter"

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
	for d.left > left {
		if err := d.SkipValue(); err != nil {
			return err
		}
	}
	if d.left != left || d.marked == left { // never noMark, because left is even
		return l.readPast()
	}
	return nil
}
