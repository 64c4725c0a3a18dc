package gdwire

import (
	"iter"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
)

// A loop reads one key or index, calls its body, and then checks how much the body read. The body can
// call any method of the Decoder: nothing, half of its value, another loop, skips, even Reset.
// Therefore the loop trusts no state from before the body, except positions, because they never
// repeat. finished is the usual case, a body that read its value; skipUnread handles the others.

// Fields reads the next value, a Dictionary, and iterates over its keys that are Strings
// or StringNames. The loop's body reads the value. Fields skips any part of the value
// that the body did not read, and skips pairs with a key of another type or longer than
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
// The key is a copy and valid until the next iteration. An error ends the loop:
// [ErrType] if the next value is of another type, without consuming anything, and
// [ErrCount] if the body read more than the value.
//
// Leaving the loop reads nothing. The next call on the Decoder first skips the rest of the
// Dictionary and returns any error there.
func (d *Decoder) Fields() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		l := loop{d: d}
		l.fields(yield)
	}
}

// Elements reads the next value, an Array or packed array, and iterates over the indices
// of its elements. The loop's body reads the element: a number, vector or color of a packed
// array with [ReadPacked], into a slice of length 1. The rules of [Decoder.Fields] apply. A packed
// array of more elements than an int of 32 bits can count is [ErrRange] on machines with such ints.
func (d *Decoder) Elements() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		l := loop{d: d}
		l.elements(yield)
	}
}

// Pairs reads the next value, a Dictionary, and iterates over the indices of its pairs.
// The loop's body reads the key, of any type, and the value. The rules of
// [Decoder.Fields] apply; Pairs skips any part of the key and the value that the body did
// not read.
func (d *Decoder) Pairs() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		l := loop{d: d}
		l.pairs(yield)
	}
}

// A loop is the state of an active Fields, Elements or Pairs loop.
type loop struct {
	d      *Decoder
	origin uint64 // d.origin at its start, to detect a Reset
	depth  int    // of the container
	keys   int    // the number of bytes in cold.keys used by outer loops; after them, Fields copies its keys
	done   bool   // the rest is not to be skipped: its End was read, or an error ended the loop

	// remaining and keyPos of the frame around the container. They identify the container:
	// keyPos is the position of a container or key, and never repeats; remaining tells its
	// values apart.
	remaining, keyPos uint64

	short *[8]byte // of Fields: the bytes of cold.keys for a short key; a longer one follows them
}

// start begins the loop over the container opened by the latest call on the Decoder.
func (l *loop) start() {
	d := l.d
	around := &d.stack[d.depth-1]
	l.origin, l.depth, l.keys, l.remaining, l.keyPos = d.origin, d.depth, len(d.getCold().keys), around.remaining, around.keyPos
}

// isOpen reports whether the container is still open. The body can have closed it and opened
// another of the same depth, but with another keyPos or remaining in the frame around.
func (l *loop) isOpen() bool {
	if l.d.depth < l.depth {
		return false
	}
	around := &l.d.stack[l.depth-1] // never the innermost frame
	return around.remaining == l.remaining && around.keyPos == l.keyPos
}

// exit makes the next call on the Decoder skip the rest of the container, but reads nothing
// itself: a program leaving a loop because of a bad field must not wait for a slow sender.
func (l *loop) exit() {
	d := l.d
	if d.origin != l.origin { // Reset or Release have discarded the container, and the keys
		return
	}
	d.cold.keys = d.cold.keys[:l.keys]
	if !l.done && l.isOpen() && (d.abandoned == 0 || int(d.abandoned) > l.depth) { // iter.Pull can end the outer loop first
		d.abandon(l.depth)
		d.stopFast() // so that the next call comes to look
	}
}

// finished reports whether the body read exactly its values, so that this number of values
// remain. keyPos is d.keyPos before the body, different in every other container, so the depth
// need not be compared. A DictKey is not counted, so only marked shows whether the body read the
// next one.
func (l *loop) finished(remaining, keyPos uint64) bool {
	d := l.d
	return d.remaining == remaining && d.keyPos == keyPos && d.marked != d.remaining && d.err == nil && d.abandoned == 0
}

// skipUnread skips those of its values that the body did not read, until this number of values
// remain.
func (l *loop) skipUnread(remaining uint64) error {
	d := l.d
	if d.err != nil { // ignored by the body
		return d.earlier()
	}
	if !l.isOpen() || d.abandoned > 0 && int(d.abandoned) <= l.depth { // or iter.Pull ended the loop around
		return l.readPast()
	}
	// The body left a part of its own value open. A container opened after the value is not closed:
	// the body has read too much.
	if d.depth > l.depth && d.stack[l.depth].remaining >= remaining {
		if err := d.SkipTo(l.depth); err != nil {
			return err
		}
	}
	// The body did not read the value, or neither the key nor the value of Pairs.
	for d.depth == l.depth && d.remaining > remaining {
		if err := l.skip(); err != nil {
			return err
		}
	}
	if d.depth > l.depth || d.remaining != remaining || d.atKey() && d.marked == remaining {
		return l.readPast()
	}
	return nil
}

// skip skips a value or an element of packed data. SkipValue would skip all of the packed data.
func (l *loop) skip() error {
	if l.d.want() != wantChunk {
		return l.d.SkipValue()
	}
	ahead, err := l.d.look()
	if err == nil {
		ahead.takeChunk(1)
		err = l.d.failure()
	}
	return err
}

func (l *loop) readPast() error {
	return l.d.errorAt(0, wrapf(ErrCount, "the loop's body has read past its value"))
}

// end returns err, or reads the End of the container. After an error the loop skips nothing, so
// that the caller can repeat the interrupted step, or leave the container with SkipTo.
func (l *loop) end(err error) error {
	l.done = true
	if err == nil {
		err = l.d.ReadEnd()
	}
	return err
}

// fields is the iterator of Fields, apart so that Fields is inlined.
func (l *loop) fields(yield func([]byte, error) bool) {
	d := l.d
	n, err := d.ReadDict()
	if err != nil {
		yield(nil, err)
		return
	}
	l.start()
	d.cold.keys = le.AppendUint64(d.cold.keys, 0) // after the keys of outer loops
	l.short = (*[8]byte)(d.cold.keys[l.keys:])
	defer l.exit()
	for remaining := 2*uint64(n) - 2; n > 0 && err == nil; n, remaining = n-1, remaining-2 {
		var key []byte
		var ok bool
		if key, ok, err = l.nextKey(); ok {
			keyPos := d.keyPos
			if !yield(key, nil) || d.origin != l.origin { // left, or the body called Reset
				return
			}
			if !l.finished(remaining, keyPos) {
				err = l.skipUnread(remaining)
			}
		}
	}
	if err := l.end(err); err != nil {
		yield(nil, err)
	}
}

// elements is the iterator of Elements.
func (l *loop) elements(yield func(int, error) bool) {
	d := l.d
	if form, b := d.fastForm(); form != nil && (form.shape == shapeArray || form.shape == shapePackedStrings) {
		if n := le.Uint32(b[4:]); d.openFast(form, n) {
			l.each(int(n), nil, 1, yield)
			return
		}
	}
	t, err := d.readElements()
	l.each(int(t.Len()), err, 1, yield)
}

// readElements reads the start of an Array or packed array.
func (d *Decoder) readElements() (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	l.expect(TypeArray, func(f *form) bool { return f.typ == TypeArray || f.kind == KindPackedStart })
	l.checkIndices()
	return d.result(l.value())
}

// checkIndices checks, after expect, that an int can count the numbers of a packed array. An int of
// 32 bits cannot count more than 2^31 - 1. The checks of value come first, and so do its errors.
func (l *lookahead) checkIndices() {
	if math.MaxInt >= math.MaxUint32 || l.failed() || l.form.shape != shapePacked {
		return
	}
	l.checkHeader()
	length := *l // a copy, so that value finds the count unread
	n := uint64(length.uint32())
	if length.checkBytes(limitPacked, l.at, n*uint64(l.form.size)); n > math.MaxInt && !l.failed() {
		l.misfit(l.at, wrapf(ErrRange, "%d elements do not fit int", n))
	}
}

// pairs is the iterator of Pairs.
func (l *loop) pairs(yield func(int, error) bool) {
	n, err := l.d.ReadDict()
	l.each(n, err, 2, yield)
}

// each iterates over n elements, or pairs, of the container opened by the latest call, unless
// this call returned err. values is the number of values for the loop's body.
func (l *loop) each(n int, err error, values uint64, yield func(int, error) bool) {
	if err != nil {
		yield(0, err)
		return
	}
	d := l.d
	l.start()
	defer l.exit()
	keyPos, packed := d.keyPos, d.want() == wantChunk
	for i := 0; i < n && err == nil; i++ {
		if packed {
			d.payload.setElements(d.mark, d.top().units())
			d.drop()
		}
		if !yield(i, nil) || d.origin != l.origin {
			return
		}
		if remaining := values * uint64(n-i-1); !l.finished(remaining, keyPos) {
			err = l.skipUnread(remaining)
		}
	}
	if err := l.end(err); err != nil {
		yield(0, err)
	}
}

// nextKey reads the next key and returns a copy, because the body may read more into the buffer
// while using the key. If the key is not a string or is too long, nextKey skips the pair and
// returns false. The switch, as in ReadText, is -34 % of Fields.
func (l *loop) nextKey() (key []byte, ok bool, err error) {
	d, short := l.d, l.short
	if d.hasFast(d.remaining) && d.bounds[limitName] >= 8 {
		b := d.peekFast()
		switch m := le.Uint32(b[4:]) - 1; {
		case le.Uint32(b[:]) != stringHeader:
		case m < 4 && le.Uint32(b[8:])&(wire.NotASCII>>32) == 0:
			*short = [8]byte(b[8:]) // with the bytes after the text, cut off again
			return short[: m+1 : m+1], true, d.consumeValue(12)
		case m < 8 && le.Uint64(b[8:])&wire.NotASCII == 0:
			*short = [8]byte(b[8:])
			return short[: m+1 : m+1], true, d.consumeValue(16)
		}
	}
	text := d.fastText()
	if text == nil {
		return l.slowKey()
	}
	if int64(len(text)) > d.bounds[limitName] {
		return nil, false, d.SkipValue() // the value; fastText consumed the key
	}
	return l.keepKey(append(d.cold.keys[:l.keys+len(short)], text...)), true, nil
}

// keepKey sets cold.keys and returns the longer key at its end.
func (l *loop) keepKey(keys []byte) []byte {
	l.d.cold.keys = keys
	return keys[l.keys+len(l.short) : len(keys) : len(keys)] // an append to the key must not write to cold.keys
}

// slowKey reads the next key for nextKey, on the slow path, without its unencoded DictKey. The
// first token holds the length of the whole text, so the text of a key that is too long is
// skipped and not kept.
func (l *loop) slowKey() (key []byte, ok bool, err error) {
	d := l.d
	ahead, err := d.look()
	if err != nil {
		return nil, false, err
	}
	t, err := d.result(ahead.value())
	if err != nil {
		return nil, false, err
	}
	if ahead.form.shape != shapeText || t.Len() > d.bounds[limitName] {
		if err := d.SkipTo(l.depth); err != nil {
			return nil, false, err
		}
		return nil, false, d.SkipValue()
	}
	keys := d.cold.keys[:l.keys+len(l.short)]
	if d.want() != wantText { // all of the text is in the token
		keys = append(keys, t.Bytes()...)
		d.drop() // no bulk read of the loop's body may continue the key
	} else { // MaxChunk is less than Limits.NameBytes
		b := bulk{d}
		b.start()
		if keys, err = b.appendText(keys); err == nil {
			b.end()
		}
	}
	return l.keepKey(keys), err == nil, err
}
