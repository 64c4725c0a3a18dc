package gdwire

import "bytes"

// ReadText reads the next key or value, a String or StringName, or the next string of a
// PackedStringArray or NodePath, and returns its text without copying it. The text is valid
// until the next call on the Decoder. If the next value has another type, or a text that
// does not fit the read buffer, ReadText consumes nothing and returns false; ReadToken or a
// typed read can then read the value.
//
// It is for programs that compare texts without a copy, and for loops over keys of any
// type.
func (d *Decoder) ReadText() (text []byte, ok bool, err error) {
	// As shortString and take, but with fewer steps.
	win, r, left := d.win, d.r, d.left
	if r <= len(win)-fastSize && left > 0 {
		b := (*[fastSize]byte)(win[r:])
		if le.Uint32(b[:]) == stringHeader {
			n := le.Uint32(b[4:])
			if size := shortText(n, le.Uint64(b[8:])); size > 0 {
				pos := d.base + uint64(r)
				if ^left&d.pairs != 0 {
					d.keyPos = pos
				}
				d.r, d.left, d.token = r+4+size, left-1, 2*pos+1
				return b[8:][:n], true, nil
			}
		}
	}
	if text, ok := d.fastName(); ok {
		return text, true, nil
	}
	return d.readTextSlow()
}

// readTextSlow is ReadText for longer texts, and on the slow path.
func (d *Decoder) readTextSlow() (text []byte, ok bool, err error) {
	if text, ok := d.fastString(); ok {
		return text, true, nil
	}
	if err := d.start(); err != nil {
		return nil, false, err
	}
	at, nul, read := 0, uint32(0), d.next
	if d.want() == wantName {
		nul = d.nul(d.top().typ)
	} else {
		form, err := d.peekTyped()
		if err != nil || form.shape != shapeText {
			return nil, false, err
		}
		if err := d.checkHeader(le.Uint32(d.buf[d.r:]), form); err != nil { // as in value, before waiting for more bytes
			return nil, false, err
		}
		at, read = 4, d.value
	}
	b, err := d.peek(at + 4)
	if err != nil || uint64(le.Uint32(b[at:])) > uint64(d.size)+uint64(nul) {
		return nil, false, err
	}
	t, err := read()
	if err != nil {
		return nil, false, err
	}
	text = t.Bytes()
	d.token |= 1 // no bulk read may continue this text
	return text, true, nil
}

// ReadNodePathText reads the next value, a NodePath, and returns its text, such as
// "/root/Player:position", without allocating memory. The text is valid until the next call
// on the Decoder.
//
// ReadNodePathText consumes nothing and returns false if the next value is not a NodePath, if
// the names cannot be found again in the text because one is empty or contains a separator,
// or if the NodePath is not completely in the read buffer yet or has more than 100 bytes of
// text. Then ReadNodePath returns the text of any NodePath, and ReadToken its names.
func (d *Decoder) ReadNodePathText() (text []byte, ok bool) {
	form, b := d.fastForm()
	if form == nil || form.shape != shapeNodePath {
		return nil, false
	}
	total, ok := d.nodePathCount(b)
	if !ok {
		return nil, false
	}
	rare := d.getRare()
	if rare.nodePath == nil {
		rare.nodePath = new(nodePathBuffer)
	}
	dst, n := rare.nodePath, uint(0)
	if le.Uint32(b[12:]) == nodePathAbsolute {
		dst[0], n = '/', 1
	}
	names := le.Uint32(b[4:]) &^ newNodePathBit
	win, r, separator := d.win, d.r+16, byte('/')
	for i := range total {
		if r > len(win)-fastSize {
			return nil, false
		}
		b := (*[fastSize]byte)(win[r:])
		size, word := le.Uint32(b[:]), le.Uint64(b[4:])
		if i >= names {
			separator = ':'
		}
		if n > nodePathText {
			return nil, false
		}
		if i > 0 || names == 0 {
			dst[n] = separator
			n++
		}
		encoded := shortText(size, word)
		if encoded > 0 {
			unused := (64 - 8*size) & 63
			word = word << unused >> unused
			if equalBytes(word, ':') != 0 || i < names && equalBytes(word, '/') != 0 {
				return nil, false
			}
			le.PutUint64(dst[n:], word)
		} else {
			if size-1 >= nodePathText || !d.wholeText(r+4, size) {
				return nil, false
			}
			name := win[r+4 : r+4+int(size)]
			if bytes.IndexByte(name, ':') >= 0 || i < names && bytes.IndexByte(name, '/') >= 0 {
				return nil, false
			}
			copy(dst[n:], name)
			encoded = 4 + int(padded(size))
		}
		n += uint(size)
		r += encoded
	}
	if n > nodePathText {
		return nil, false
	}
	d.values += uint64(total)
	d.take(r - d.r)
	return dst[:n:n], true
}

// nodePathText is the maximum size of text that ReadNodePathText returns.
const nodePathText = 100

// A nodePathBuffer has the result of ReadNodePathText. In addition to a text, it holds the
// name that makes the text too long.
type nodePathBuffer [2*nodePathText + 8]byte

// equalBytes returns a word with the highest bit set in each byte in which word, which is
// ASCII, has c.
func equalBytes(word uint64, c byte) uint64 {
	const ones = 0x0101010101010101
	return ^((word ^ ones*uint64(c)) + 0x7F*ones) & (0x80 * ones)
}
