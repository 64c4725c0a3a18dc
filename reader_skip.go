package gdwire

import "math"

// SkipValue reads on to the end of the next value, finding the same errors as if
// it were read. At a DictKey that is the marker and the key; at a Property the
// name; of what ReadToken gives in several chunks what is left of it. Where an
// End is next it is [ErrCount].
//
// If a read error interrupts it, the next SkipValue goes on to the same end.
func (d *Decoder) SkipValue() error {
	if err := d.leaveLoop(); err != nil {
		return err
	}
	if d.err != nil { // what was interrupted before still is
		d.live, d.bulk.kind = 0, 0
		return d.failed()
	}
	d.unsent = unsent{}
	if d.skip == 0 {
		switch depth := d.Depth(); d.current().want {
		case wantEnd:
			d.live, d.bulk.kind = 0, 0
			return d.WrapError(because(ErrCount, "SkipValue where an End is next"))
		case wantChunk:
			for d.top.want == wantChunk {
				if _, err := d.next(); err != nil {
					return err
				}
			}
			return nil
		case wantText:
			d.skip = depth
		default:
			t, err := d.next()
			if err == nil && t.Kind() == KindDictKey {
				_, err = d.next()
			}
			if err != nil {
				return err
			}
			d.skip = depth + 1
		}
	}
	if err := d.readTo(d.skip); err != nil {
		return err
	}
	d.skip = 0
	return nil
}

// SkipTo reads on until Depth is depth or less, finding the same errors as if
// all were read. It can be called right after any token, and again after a read
// error.
func (d *Decoder) SkipTo(depth int) error {
	if err := d.leaveLoop(); err != nil {
		return err
	}
	d.live, d.bulk.kind, d.skip = 0, 0, 0
	if err := d.ready(); err != nil {
		return err
	}
	return d.readTo(max(depth, 0) + 1)
}

// leaveLoop skips the rest of the container that a Fields or Elements loop has
// left.
func (d *Decoder) leaveLoop() error {
	if d.leave == 0 {
		return nil
	}
	d.live, d.bulk.kind, d.skip = 0, 0, 0
	if err := d.readTo(d.leave); err != nil {
		return err
	}
	d.leave = 0
	return nil
}

// readTo reads on until less than depth is open.
func (d *Decoder) readTo(depth int) error {
	for d.depth >= depth {
		if d.skim(math.MaxInt32, depth); d.depth < depth {
			break
		}
		if _, err := d.next(); err != nil {
			return err
		}
	}
	return nil
}

// skim goes over what takes the straight road, most bytes at most: values with the
// very header that engines write, whole in the window, of fixed size or short and
// ASCII. These an Encoder would write as they stand. No token is made of them. It
// stays in the innermost frame, or goes on behind its End where depth or more is
// open.
func (d *Decoder) skim(most, depth int) {
	if d.depth > d.maxDepth || d.err != nil {
		return
	}
	d.live, d.bulk.kind = 0, 0
	f, r, at := d.top, d.r, d.at
loop:
	for end := r + min(d.lim-r, most); end-r >= straightSize; {
		b := (*[straightSize]byte)(d.buf[r : r+straightSize : r+straightSize])
		head, text := le.Uint64(b[:]), le.Uint64(b[8:])
		h, n := uint32(head), uint32(head>>32)
		var size int
		switch w := f.want; {
		case w-wantElem <= wantDictKey-wantElem:
			form := &d.rows[h&63][h>>16&1]
			switch {
			case h != form.header:
				break loop
			case form.shape == shapeText:
				if n-1 >= d.short || !plainText(text, n) {
					break loop
				}
				size = 8 + int(padded(n))
			default:
				size = 4 + int(form.size)
				if form.shape > shapeMaths || n > 1 && form.kind == KindBool || size > end-r {
					break loop
				}
			}
		case w == wantName:
			if h-1 >= d.short || !plainText(head>>32|text<<32, h) {
				break loop
			}
			size = 4 + int(padded(h))
		case w == wantEnd && d.depth >= depth:
			at = d.base + uint64(r)
			if d.pop(); d.depth < depth {
				break loop
			}
			f = d.top
			continue
		default:
			break loop
		}
		at = d.base + uint64(r)
		if f.want == wantDictKey {
			f.mark = at
		}
		r += size
		d.step()
	}
	d.r, d.at = r, at
}
